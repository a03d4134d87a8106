/*-------------------------------------------------------------------------
 *
 * shard_statistics.c
 *	  Statistics objects that load the library in time.
 *
 * The table's owner creates and owns the object, under the rules for code that
 * runs as somebody else.  No text is parsed, and only a call of shard_id() with
 * constants and columns is stored.  Where that is not possible, nothing
 * happens: the command must not fail because of it.  ANALYZE does not fill it.
 *
 * src/planner/shard_statistics.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_statistic_ext.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "keys/canonical.h"
#include "planner/shard_key.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/own_objects.h"
#include "spi/owner_rights.h"

static bool enable_shard_statistics = true;

static void follow_command(Node *command, List *relations);
static void replace_statistics(Node *command);
static void update_statistics(Oid relid);
static List *find_statistics(Relation relation, bool ours);
static bool is_ours(Relation relation, HeapTuple tuple, List *expressions);
static void drop_statistics(List *objects);
static FuncExpr *plain_call(Relation relation, const SkShardKey *key);
static void create_statistics(Relation relation, const SkShardKey *key);

void
sk_shard_statistics_init(void)
{
	sk_on_command(NULL, replace_statistics, follow_command);
	DefineCustomBoolVariable("spanner_keys.enable_shard_statistics",
							 "Enables new tables with a shard column to get statistics that load the library.",
							 NULL,
							 &enable_shard_statistics,
							 true,
							 PGC_USERSET,
							 0,
							 NULL, NULL, NULL);
}

/*
 * When a command ends, give tables, and their partitions, statistics objects if
 * they have a shard column, and drop those of tables that have none.  Not in a
 * restore, nor where Citus sends the command: a dump, and Citus, have their own.
 */
static void
follow_command(Node *command, List *relations)
{
	List	   *tables = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	if (!(IsA(command, CreateStmt) || IsA(command, AlterTableStmt) ||
		  IsA(command, CreateStatsStmt) || IsA(command, CreateSchemaStmt)) ||
		creating_extension || sk_brings_labels() || sk_sent_by_citus())
		return;
	foreach(lc, relations)
	{
		SkCommandRelation *relation = lfirst(lc);

		if (relation->relkind == RELKIND_RELATION ||
			relation->relkind == RELKIND_PARTITIONED_TABLE)
			tables = list_append_unique_oid(tables, relation->relid);
	}
	foreach(lc, tables)
	{
		Oid			table = lfirst_oid(lc);
		List	   *tree = has_subclass(table) ?
			find_all_inheritors(table, NoLock, NULL) : list_make1_oid(table);

		foreach(lc2, tree)
			update_statistics(lfirst_oid(lc2));
	}
}

/*
 * Before CREATE STATISTICS, drop an object of ours that has the name.  Only one
 * of the same table, and if the user may do that.
 */
static void
replace_statistics(Node *command)
{
	CreateStatsStmt *stmt = (CreateStatsStmt *) command;
	RangeVar   *table;
	Oid			relid;
	Oid			object;
	Relation	relation;

	if (!IsA(command, CreateStatsStmt) || sk_sent_by_citus() ||
		stmt->defnames == NIL)
		return;
	table = linitial(stmt->relations);
	if (!IsA(table, RangeVar))
		return;
	relid = RangeVarGetRelid(table, NoLock, true);
	if (!OidIsValid(relid) ||
		!object_ownercheck(RelationRelationId, relid, GetUserId()))
		return;
	object = get_statistics_object_oid(stmt->defnames, true);
	if (!OidIsValid(object))
		return;

	/* the lock that the command takes */
	relation = try_relation_open(relid, ShareUpdateExclusiveLock);
	if (relation == NULL)
		return;
	if (list_member_oid(find_statistics(relation, true), object))
		drop_statistics(list_make1_oid(object));
	relation_close(relation, NoLock);
}

/* A partition that somebody else works on is left alone. */
static void
update_statistics(Oid relid)
{
	Relation	relation;
	List	   *keys;
	List	   *all;
	List	   *ours;

	if (!ConditionalLockRelationOid(relid, ShareUpdateExclusiveLock))
		return;
	relation = try_relation_open(relid, NoLock);
	if (relation == NULL)
		return;
	keys = sk_keys_that_hold(sk_column_keys(relid));
	all = find_statistics(relation, false);
	ours = find_statistics(relation, true);
	if (keys == NIL || list_length(all) > list_length(ours))
		drop_statistics(ours);
	else if (enable_shard_statistics && all == NIL)
		create_statistics(relation, linitial(keys));
	relation_close(relation, NoLock);
}

/* The objects that load the library: all of them, or those made here. */
static List *
find_statistics(Relation relation, bool ours)
{
	List	   *objects = RelationGetStatExtList(relation);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, objects)
	{
		HeapTuple	tuple = SearchSysCache1(STATEXTOID,
											ObjectIdGetDatum(lfirst_oid(lc)));
		Datum		exprs;
		bool		isnull;
		ListCell   *lc2;

		if (!HeapTupleIsValid(tuple))
			continue;
		exprs = SysCacheGetAttr(STATEXTOID, tuple,
								Anum_pg_statistic_ext_stxexprs, &isnull);
		if (!isnull)
		{
			List	   *expressions = stringToNode(TextDatumGetCString(exprs));

			foreach(lc2, expressions)
			{
				if (sk_is_key_expression(lfirst(lc2)) &&
					(!ours || is_ours(relation, tuple, expressions)))
					result = list_append_unique_oid(result, lfirst_oid(lc));
			}
		}
		ReleaseSysCache(tuple);
	}
	list_free(objects);
	return result;
}

/* Nobody else makes statistics of this alone that ANALYZE does not fill. */
static bool
is_ours(Relation relation, HeapTuple tuple, List *expressions)
{
	Form_pg_statistic_ext object = (Form_pg_statistic_ext) GETSTRUCT(tuple);
	bool		isnull;
	Datum		target = SysCacheGetAttr(STATEXTOID, tuple,
										 Anum_pg_statistic_ext_stxstattarget,
										 &isnull);

	return !isnull && DatumGetInt16(target) == 0 &&
		list_length(expressions) == 1 && object->stxkeys.dim1 == 0 &&
		object->stxowner == relation->rd_rel->relowner;
}

static void
drop_statistics(List *objects)
{
	ListCell   *lc;

	foreach(lc, objects)
	{
		ObjectAddress address;

		ObjectAddressSet(address, StatisticExtRelationId, lfirst_oid(lc));
		performDeletion(&address, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
	}
}

/*
 * A call of shard_id() of the columns, or NULL if there are none that it takes.
 * There can be no statistics on virtual columns.
 */
static FuncExpr *
plain_call(Relation relation, const SkShardKey *key)
{
	TupleDesc	desc = RelationGetDescr(relation);
	Const	   *shards = makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
								   Int32GetDatum(Max(key->shards, 1)), false,
								   true);
	FuncExpr   *result = makeFuncExpr(sk_function(SK_FUNCTION_SHARD_ID),
									  INT4OID, list_make1(shards), InvalidOid,
									  InvalidOid, COERCE_EXPLICIT_CALL);
	List	   *vars = pull_var_clause((Node *) key->call, 0);
	ListCell   *lc;

	foreach(lc, vars)
	{
		Var		   *column = lfirst(lc);
		char		generated = TupleDescAttr(desc, column->varattno - 1)->attgenerated;

		if (sk_key_kind(column->vartype) != SK_KEY_UNSUPPORTED &&
			(generated == '\0' || generated == ATTRIBUTE_GENERATED_STORED))
			result->args = list_append_unique(result->args, column);
	}
	return OidIsValid(result->funcid) && list_length(result->args) > 1 ?
		result : NULL;
}

/* The server chooses the name. */
static void
create_statistics(Relation relation, const SkShardKey *key)
{
	Oid			relid = RelationGetRelid(relation);
	Oid			owner = relation->rd_rel->relowner;
	CreateStatsStmt *create = makeNode(CreateStatsStmt);
	AlterStatsStmt *alter = makeNode(AlterStatsStmt);
	StatsElem  *element = makeNode(StatsElem);
	FuncExpr   *call = plain_call(relation, key);
	SkOwnerScope scope;
	ObjectAddress address;
	HeapTuple	tuple;

	/* nobody else makes one at the same time */
	Assert(CheckRelationLockedByMe(relation, ShareUpdateExclusiveLock, true));
	if (call == NULL)
		return;
	sk_owner_enter(&scope, relid);
	if (GetUserId() == owner &&
		sk_may_create_in(RelationGetNamespace(relation), owner))
	{
		element->expr = (Node *) call;
		create->exprs = list_make1(element);
		create->transformed = true;
		address = sk_create_statistics(relid, create);
		CommandCounterIncrement();

		tuple = SearchSysCache1(STATEXTOID, ObjectIdGetDatum(address.objectId));
		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for statistics object %u",
				 address.objectId);
		alter->defnames =
			list_make2(makeString(get_namespace_name(RelationGetNamespace(relation))),
					   makeString(pstrdup(NameStr(((Form_pg_statistic_ext)
												   GETSTRUCT(tuple))->stxname))));
		ReleaseSysCache(tuple);
		sk_set_statistics_target(alter, 0);
		(void) AlterStatistics(alter);
	}
	sk_owner_exit(&scope);
}
