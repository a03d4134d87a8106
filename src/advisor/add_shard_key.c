/*-------------------------------------------------------------------------
 *
 * add_shard_key.c
 *	  spanner.add_shard_key: a shard column, and the primary key with it first.
 *
 * The statements that do it are made first, and returned; then they are run
 * as the caller, through core's own front door, unless it is a dry run.
 *
 * Locking: AccessExclusiveLock on the table from the start, since all that
 * is read about it has to hold until the statements have run.  A dry run
 * takes AccessShareLock, and gives it back.
 *
 * src/advisor/add_shard_key.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "advisor/shard_table.h"
#include "compat.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_add_shard_key);

/* The arguments. */
enum
{
	ARG_RELATION,
	ARG_KEYS,
	ARG_SHARDS,
	ARG_COLUMN,
	ARG_DRY_RUN,
	ARG_TIME_BUCKET
};

static void check_arguments(FunctionCallInfo fcinfo);
static char *shard_expression(FunctionCallInfo fcinfo, SkShardTable *table,
							  List *keys);
static char *bucket_argument(FunctionCallInfo fcinfo);
static List *hashed_columns(FunctionCallInfo fcinfo, SkShardTable *table);
static List *list_statements(SkShardTable *table, const char *column,
							 const char *expression);
static List *publishable_column(SkShardTable *table, const char *column,
								const char *expression);

/*
 * spanner.add_shard_key(relation regclass, keys name[], shards integer,
 *		column_name name, dry_run boolean, time_bucket interval)
 * returns setof text
 *
 * Adds a generated column with the shard of each row, puts it in front of
 * the primary key, and returns the statements for that; with dry_run, or
 * NULL for it, only returns them.  "keys" are the columns that are hashed,
 * of the primary key, by default all of them.  With time_bucket, of times
 * among them only the bucket is hashed, so that the rows of a bucket stay in
 * one shard.  A shard column that exists is made anew.
 */
Datum
spanner_add_shard_key(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		dry_run = PG_ARGISNULL(ARG_DRY_RUN) || PG_GETARG_BOOL(ARG_DRY_RUN);
	const char *column;
	SkShardTable table;
	List	   *statements;
	ListCell   *lc;
	int			nest_level;

	check_arguments(fcinfo);
	if (!dry_run)
		PreventCommandIfReadOnly("spanner.add_shard_key()");
	column = NameStr(*PG_GETARG_NAME(ARG_COLUMN));

	/* definitions are read, and names looked for in them */
	nest_level = NewGUCNestLevel();
	(void) set_config_option("quote_all_identifiers", "off",
							 PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	sk_shard_table_open(&table, PG_GETARG_OID(ARG_RELATION), column, dry_run);
	statements = list_statements(&table, quote_identifier(column),
								 shard_expression(fcinfo, &table,
												  hashed_columns(fcinfo, &table)));
	sk_shard_table_report(&table, dry_run);
	sk_shard_table_close(&table);
	AtEOXact_GUC(true, nest_level);

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	foreach(lc, statements)
	{
		Datum		value = CStringGetTextDatum(lfirst(lc));
		bool		isnull = false;

		if (!dry_run)
			sk_run_command(lfirst(lc));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 &value, &isnull);
	}
	return (Datum) 0;
}

static void
check_arguments(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(ARG_RELATION) || PG_ARGISNULL(ARG_SHARDS) ||
		PG_ARGISNULL(ARG_COLUMN))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("arguments relation, shards and column_name must not be null"),
				 errhint("Name a table and the number of shards.")));
	if (NameStr(*PG_GETARG_NAME(ARG_COLUMN))[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("column_name must not be empty"),
				 errhint("The default is shard_id.")));
	if (PG_GETARG_INT32(ARG_SHARDS) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of shards must be greater than 0"),
				 errhint("Use spanner.suggest_shards() to find a number.")));
}

/* The columns whose values make the shard, as they are named. */
static List *
hashed_columns(FunctionCallInfo fcinfo, SkShardTable *table)
{
	List	   *result = NIL;
	Datum	   *names;
	bool	   *nulls;
	int			count;

	if (PG_ARGISNULL(ARG_KEYS))
		return table->key;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(ARG_KEYS), NAMEOID, NAMEDATALEN,
					  false, TYPALIGN_CHAR, &names, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		char	   *name = nulls[i] ? NULL : NameStr(*DatumGetName(names[i]));

		if (name == NULL || !sk_shard_table_has_key(table, name))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
					 errmsg("column \"%s\" is not in the primary key of table \"%s\"",
							name == NULL ? "null" : name, get_rel_name(table->relid)),
					 errdetail("With a shard made of other columns, the primary key would not keep its own columns unique."),
					 errhint("Name columns of the primary key.")));
		result = lappend(result, name);
	}
	if (result == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no column to compute the shard from"),
				 errhint("Name columns of the primary key.")));
	return result;
}

/* The call of spanner.shard_id that the column is generated as. */
static char *
shard_expression(FunctionCallInfo fcinfo, SkShardTable *table, List *keys)
{
	char	   *bucket = bucket_argument(fcinfo);
	bool		binned = false;
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	appendStringInfo(&buf, "spanner.shard_id(%d", PG_GETARG_INT32(ARG_SHARDS));
	foreach(lc, keys)
	{
		char	   *name = lfirst(lc);
		Oid			type = getBaseType(get_atttype(table->relid,
												   get_attnum(table->relid, name)));

		sk_shard_table_check_type(table, name, type);
		if (bucket != NULL && (type == TIMESTAMPTZOID || type == TIMESTAMPOID))
		{
			appendStringInfo(&buf, ", pg_catalog.date_bin(%s, %s, %s '2000-01-01 00:00:00%s')",
							 bucket, quote_identifier(name),
							 format_type_be_qualified(type),
							 type == TIMESTAMPTZOID ? "+00" : "");
			binned = true;
		}
		else
			appendStringInfo(&buf, ", %s", quote_identifier(name));
	}
	appendStringInfoChar(&buf, ')');

	if (bucket != NULL && !binned)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no timestamp to make time buckets of"),
				 errhint("Leave out time_bucket, or name a column of type timestamp in keys.")));
	return buf.data;
}

/* The width of a time bucket as a literal, NULL if there are none. */
static char *
bucket_argument(FunctionCallInfo fcinfo)
{
	Interval   *interval;

	if (PG_ARGISNULL(ARG_TIME_BUCKET))
		return NULL;

	interval = PG_GETARG_INTERVAL_P(ARG_TIME_BUCKET);
	if (interval->month != 0 || interval->day < 0 || interval->time < 0 ||
		(interval->day == 0 && interval->time == 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time_bucket must be a positive number of days, hours or the like"),
				 errdetail("Months differ in length."),
				 errhint("An example is '7 days'.")));
	return psprintf("interval %s",
					quote_literal_cstr(DatumGetCString(DirectFunctionCall1(interval_out,
																		   IntervalPGetDatum(interval)))));
}

/*
 * A plain table gets its new index while the old one is still in use, by a
 * statement that a user may as well run CONCURRENTLY.  A partitioned table
 * cannot adopt an index, and a column that is made anew takes its index along.
 */
static List *
list_statements(SkShardTable *table, const char *column,
				const char *expression)
{
	char	   *add = psprintf("ADD COLUMN %s integer NOT NULL GENERATED ALWAYS AS (%s) STORED",
							   column, expression);
	char	   *drop = psprintf("DROP CONSTRAINT %s", table->constraint);
	char	   *key = psprintf("(%s, %s)", column, table->key_list);
	List	   *result = NIL;

	if (table->has_column || table->is_partitioned)
		result = lappend(result,
						 psprintf("ALTER TABLE %s %s, %s%s, ADD CONSTRAINT %s PRIMARY KEY %s%s",
								  table->name, drop,
								  table->has_column ? psprintf("DROP COLUMN %s, ", column) : "",
								  add, table->constraint, key,
								  table->constraint_tail));
	else
	{
		char	   *index = sk_shard_table_new_index(table);

		result = lappend(result, psprintf("ALTER TABLE %s %s", table->name, add));
		result = lappend(result,
						 psprintf("CREATE UNIQUE INDEX /* CONCURRENTLY */ %s ON %s USING btree %s%s",
								  index, table->name, key, table->index_tail));
		result = lappend(result,
						 psprintf("ALTER TABLE %s %s, ADD CONSTRAINT %s PRIMARY KEY USING INDEX %s%s",
								  table->name, drop, table->constraint, index,
								  table->deferral));
	}
	if (table->is_replica_identity)
		result = lappend(result,
						 psprintf("ALTER TABLE %s REPLICA IDENTITY USING INDEX %s",
								  table->name, table->constraint));
	if (table->comment != NULL)
		result = lappend(result,
						 psprintf("COMMENT ON CONSTRAINT %s ON %s IS %s",
								  table->constraint, table->name,
								  quote_literal_cstr(table->comment)));
	return list_concat(result, publishable_column(table, column, expression));
}

/*
 * A key with a generated column is not replicated by UPDATE and DELETE.  So a
 * published table gets a plain column, with the values that were generated.
 */
static List *
publishable_column(SkShardTable *table, const char *column,
				   const char *expression)
{
	return sk_query_texts(psprintf("SELECT s FROM spanner.plain_shard_statements(%s, %s, %s) s "
								   "WHERE EXISTS (SELECT FROM pg_catalog.pg_publication p, pg_catalog.pg_get_publication_tables(p.pubname) t "
								   "WHERE t.relid OPERATOR(pg_catalog.=) %u)",
								   quote_literal_cstr(table->name),
								   quote_literal_cstr(column),
								   quote_literal_cstr(expression),
								   table->relid));
}
