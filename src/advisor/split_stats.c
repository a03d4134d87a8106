/*-------------------------------------------------------------------------
 *
 * split_stats.c
 *	  Tables that are split by key ranges, and how full the splits are.
 *
 * src/advisor/split_stats.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "executor/spi.h"
#include "foreign/foreign.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "partitioning/partdesc.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "advisor/key_sample.h"
#include "advisor/split_stats.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

#define STATS_COLUMNS 8

PG_FUNCTION_INFO_V1(spanner_split_stats);

static void put_partitions(ReturnSetInfo *result, Relation rel, bool exact, int *split);
static void put_partition(ReturnSetInfo *result, Relation part, bool exact, int split);
static Datum partition_range(Oid relid);
static int64 count_rows(Oid relid);

/*
 * spanner.split_stats(relation regclass, exact boolean) returns setof record
 *
 * One row for each partition, in the order of their ranges.  Rows of local
 * partitions are estimated unless "exact"; those on other servers are always
 * counted, by a query that runs there.
 */
Datum
spanner_split_stats(PG_FUNCTION_ARGS)
{
	bool		exact = !PG_ARGISNULL(1) && PG_GETARG_BOOL(1);
	int			split = 0;
	Relation	rel;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	rel = sk_split_table_open(PG_GETARG_OID(0));
	put_partitions((ReturnSetInfo *) fcinfo->resultinfo, rel, exact, &split);
	relation_close(rel, NoLock);
	return (Datum) 0;
}

/*
 * sk_split_table_open
 *		Open a partitioned table, with AccessShareLock.
 */
Relation
sk_split_table_open(Oid relid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);

	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid),
				 errhint("Name a partitioned table.")));
	if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a partitioned table",
						RelationGetRelationName(rel)),
				 errhint("Create the table with PARTITION BY RANGE on its bit-reversed id or on its shard id.")));
	sk_owner_load_partitions(rel);
	return rel;
}

/*
 * Partitions that are partitioned themselves are represented by theirs.
 *
 * No lock on them is kept, since there may be more than fit in the lock table.
 */
static void
put_partitions(ReturnSetInfo *result, Relation rel, bool exact, int *split)
{
	PartitionDesc desc = RelationGetPartitionDesc(rel, true);

	check_stack_depth();
	for (int i = 0; i < desc->nparts; i++)
	{
		Relation	part = relation_open(desc->oids[i], AccessShareLock);

		if (part->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		{
			sk_owner_load_partitions(part);
			put_partitions(result, part, exact, split);
		}
		else
			put_partition(result, part, exact, ++(*split));
		relation_close(part, AccessShareLock);
	}
}

static void
put_partition(ReturnSetInfo *result, Relation part, bool exact, int split)
{
	Oid			relid = RelationGetRelid(part);
	bool		foreign = part->rd_rel->relkind == RELKIND_FOREIGN_TABLE;
	bool		counted = foreign || exact;
	Datum		values[STATS_COLUMNS] = {0};
	bool		nulls[STATS_COLUMNS] = {false};
	double		rows;

	if (counted)
		rows = count_rows(relid);
	else
		rows = sk_key_sample_estimate(part);

	values[0] = Int32GetDatum(split);
	values[1] = ObjectIdGetDatum(relid);
	nulls[2] = !foreign;
	if (foreign)
		values[2] = DirectFunctionCall1(namein,
										CStringGetDatum(GetForeignServer(GetForeignTable(relid)->serverid)->servername));
	values[3] = partition_range(relid);
	values[4] = Int64GetDatum((int64) rows);
	values[5] = BoolGetDatum(counted);
	nulls[6] = nulls[7] = foreign;
	if (!foreign)
	{
		values[6] = DirectFunctionCall1(pg_total_relation_size, ObjectIdGetDatum(relid));
		values[7] = DirectFunctionCall1(pg_stat_get_tuples_inserted, ObjectIdGetDatum(relid));
	}
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* FOR VALUES ... as in the definition of the partition. */
static Datum
partition_range(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Datum		bound;
	Datum		result;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	bound = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relpartbound, &isnull);
	if (isnull)
		elog(ERROR, "relation %u is no partition", relid);
	result = DirectFunctionCall2(pg_get_expr, bound, ObjectIdGetDatum(relid));
	ReleaseSysCache(tuple);
	return result;
}

static int64
count_rows(Oid relid)
{
	char	   *query = psprintf("SELECT pg_catalog.count(*) FROM %s",
								 sk_qualified_name(relid));
	SkOwnerScope scope;
	int64		result;
	bool		isnull;

	sk_owner_enter(&scope, relid, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "query failed: %s", query);
	sk_owner_leave(&scope);
	result = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
										 SPI_tuptable->tupdesc, 1, &isnull));
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	return result;
}
