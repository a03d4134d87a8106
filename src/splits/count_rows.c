/*-------------------------------------------------------------------------
 *
 * count_rows.c
 *	  Counting the rows of a table, with the rights of its owner.
 *
 * src/splits/count_rows.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "spi/owner_rights.h"
#include "spi/relation_query.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_count_rows);

static Node *partition_constraint(Relation rel);

/*
 * spanner_internal.count_rows(relation regclass, outside boolean)
 * returns bigint
 *
 * Counts the rows of a relation, or those outside of its bounds as a
 * partition.  NULL if there is no relation.
 */
Datum
spanner_count_rows(PG_FUNCTION_ARGS)
{
	SkRelationQuery query = {0};
	Oid			type = INT8OID;
	Relation	rel;
	Tuplestorestate *rows;
	TupleTableSlot *slot;
	bool		isnull;
	int64		result;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	rel = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", PG_GETARG_OID(0))));
	query.relids = list_make1_oid(RelationGetRelid(rel));
	query.column_count = 1;
	query.types = &type;
	if (!PG_ARGISNULL(1) && PG_GETARG_BOOL(1))
		query.expressions = list_make1(partition_constraint(rel));
	query.text = psprintf("SELECT pg_catalog.count(*) FROM %s%s",
						  sk_qualified_name(RelationGetRelid(rel)),
						  query.expressions != NIL ? " WHERE $1 IS NOT TRUE" : "");

	rows = sk_query_relation(&query, &slot);
	if (!tuplestore_gettupleslot(rows, true, false, slot))
		elog(ERROR, "query returned no row: %s", query.text);
	result = DatumGetInt64(slot_getattr(slot, 1, &isnull));
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(rows);
	relation_close(rel, NoLock);
	PG_RETURN_INT64(result);
}

/*
 * The bounds of a partition.  The relation cache simplifies the partition key
 * when it is asked for it, which calls functions.
 */
static Node *
partition_constraint(Relation rel)
{
	SkOwnerScope scope;
	List	   *conditions;

	sk_check_one_owner(RelationGetRelid(rel));
	sk_owner_enter(&scope, RelationGetRelid(rel));
	conditions = RelationGetPartitionQual(rel);
	sk_owner_leave(&scope);
	if (conditions == NIL)
		return makeBoolConst(true, false);
	return (Node *) make_ands_explicit(conditions);
}
