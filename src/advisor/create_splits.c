/*-------------------------------------------------------------------------
 *
 * create_splits.c
 *	  Making the partitions of a table that is split by key ranges.
 *
 * Partitions on other servers are foreign tables.  The tables behind them
 * have to be made there; statements for that are part of the result, and not
 * run by us.
 *
 * src/advisor/create_splits.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "foreign/foreign.h"
#include "funcapi.h"
#include "partitioning/partdesc.h"
#include "rewrite/rewriteHandler.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/tuplestore.h"

#include "advisor/split_points.h"
#include "advisor/split_stats.h"
#include "compat.h"
#include "spi/run_command.h"

/* How many rows an INSERT sends to another server at a time. */
#define SK_BATCH_SIZE 1000

/* The arguments, and what was found out about the table. */
typedef struct SkSplits
{
	Relation	rel;
	int			count;
	char	  **servers;		/* names in turn; NULL is this server */
	int			server_count;
	bool		is_id;			/* split by an id, not by a shard id */
	int			bits;
	int			stripes;		/* 0 if there are none */
	int			shards;
	uint64		values;			/* how many values the key can have */
} SkSplits;

PG_FUNCTION_INFO_V1(spanner_create_splits);

static void read_servers(SkSplits *splits, ArrayType *names);
static void check_server(const char *name);
static void check_partition_key(Relation rel);
static void check_no_partitions(Relation rel);
static void check_no_unique_index(Relation rel);
static void find_values(SkSplits *splits, FunctionCallInfo fcinfo);
static void take_argument(Relation rel, const char *name, int value,
						  bool is_known, int *known);
pg_noreturn static void report_contradiction(Relation rel, const char *name);
static void check_shards_fit(const SkSplits *splits);
static int	shards_of_expression(PartitionKey key);
static int	shards_of_column(Relation rel);
static bool read_sequence(SkSplits *splits);
static char *partition_name(const SkSplits *splits, int split);
static char *remote_statement(const SkSplits *splits, int split);
static void append_column(StringInfo statement, Relation rel, Form_pg_attribute column);
static char *local_statement(const SkSplits *splits, int split);
static void append_bound(StringInfo statement, const SkSplits *splits, int point);
static void put_statement(ReturnSetInfo *result, const char *server, const char *statement);

/*
 * spanner.create_splits(relation regclass, splits integer, servers name[],
 *		dry_run boolean, bits integer, stripes integer, shards integer)
 * returns setof record
 *
 * Divides the keys of a partitioned table without partitions into "splits"
 * equal ranges, and returns the statements that make a partition for each:
 * those with a server are for that server, the others are run here unless
 * "dry_run".  "servers" are given partitions in turn; NULL among them, or
 * instead of them, stands for this server.
 */
Datum
spanner_create_splits(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		dry_run = PG_ARGISNULL(3) || PG_GETARG_BOOL(3);
	SkSplits	splits = {0};
	List	   *statements = NIL;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("relation and splits must not be null"),
				 errhint("Name the partitioned table and the number of partitions.")));
	splits.rel = sk_split_table_open(PG_GETARG_OID(0));
	splits.count = PG_GETARG_INT32(1);
	check_partition_key(splits.rel);
	check_no_partitions(splits.rel);
	read_servers(&splits, PG_ARGISNULL(2) ? NULL : PG_GETARG_ARRAYTYPE_P(2));
	find_values(&splits, fcinfo);

	for (int i = 0; i < splits.count; i++)
	{
		if (splits.servers[i % splits.server_count] != NULL)
			put_statement(result, splits.servers[i % splits.server_count],
						  remote_statement(&splits, i));
	}
	for (int i = 0; i < splits.count; i++)
		statements = lappend(statements, local_statement(&splits, i));
	relation_close(splits.rel, NoLock);

	foreach(lc, statements)
	{
		put_statement(result, NULL, lfirst(lc));
		if (!dry_run)
			sk_run_command(lfirst(lc));
	}
	return (Datum) 0;
}

static void
read_servers(SkSplits *splits, ArrayType *names)
{
	Datum	   *elements;
	bool	   *nulls;

	splits->server_count = 0;
	if (names != NULL)
		deconstruct_array(names, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
						  &elements, &nulls, &splits->server_count);
	if (splits->server_count == 0)
	{
		splits->server_count = 1;
		splits->servers = palloc0(sizeof(char *));
		return;
	}

	splits->servers = palloc0(splits->server_count * sizeof(char *));
	for (int i = 0; i < splits->server_count; i++)
	{
		if (nulls[i])
			continue;
		splits->servers[i] = pstrdup(NameStr(*DatumGetName(elements[i])));
		check_server(splits->servers[i]);
		check_no_unique_index(splits->rel);
	}
	if (splits->count < splits->server_count)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%d splits are not enough for %d servers",
						splits->count, splits->server_count),
				 errhint("Make as many splits as there are servers, or a multiple of that.")));
}

static void
check_server(const char *name)
{
	ForeignServer *server = GetForeignServerByName(name, true);

	if (server == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("server \"%s\" does not exist", name),
				 errhint("Create it with CREATE SERVER ... FOREIGN DATA WRAPPER postgres_fdw.")));
	if (strcmp(GetForeignDataWrapper(server->fdwid)->fdwname, "postgres_fdw") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("server \"%s\" does not use postgres_fdw", name),
				 errhint("Create a server with FOREIGN DATA WRAPPER postgres_fdw.")));
}

static void
check_partition_key(Relation rel)
{
	PartitionKey key = RelationGetPartitionKey(rel);
	Oid			type = getBaseType(key->parttypid[0]);

	if (key->strategy != PARTITION_STRATEGY_RANGE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("table \"%s\" is not partitioned by range",
						RelationGetRelationName(rel)),
				 errhint("Create the table with PARTITION BY RANGE on its bit-reversed id or on its shard id.")));
	if (type != INT2OID && type != INT4OID && type != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot split table \"%s\" by a partition key of type %s",
						RelationGetRelationName(rel), format_type_be(type)),
				 errhint("The first column of the partition key has to be a bit-reversed id or a shard id.")));
}

static void
check_no_partitions(Relation rel)
{
	Oid			fallback = get_default_partition_oid(RelationGetRelid(rel));

	if (OidIsValid(fallback))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has a default partition",
						RelationGetRelationName(rel)),
				 errhint("Detach partition \"%s\", make the splits, and insert its rows into the table again.",
						 get_rel_name(fallback))));
	if (RelationGetPartitionDesc(rel, true)->nparts > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" already has partitions",
						RelationGetRelationName(rel)),
				 errhint("Detach them first, or create a new partitioned table and move the rows there.")));
}

/* Core refuses a foreign partition as well, but does not tell the way out. */
static void
check_no_unique_index(Relation rel)
{
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	index = relation_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_index->indisunique)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("table \"%s\" with unique index \"%s\" cannot have partitions on other servers",
							RelationGetRelationName(rel),
							RelationGetRelationName(index)),
					 errhint("Drop the constraint; the table on each server has a primary key of its own, and their ranges do not overlap.")));
		relation_close(index, NoLock);
	}
}

/* What values the key can have, as the caller says or the table shows. */
static void
find_values(SkSplits *splits, FunctionCallInfo fcinfo)
{
	PartitionKey key = RelationGetPartitionKey(splits->rel);
	bool		found = key->partattrs[0] != 0 && read_sequence(splits);

	splits->shards = key->partattrs[0] == 0 ? shards_of_expression(key) :
		shards_of_column(splits->rel);
	if (!PG_ARGISNULL(6))
	{
		if (found)
			report_contradiction(splits->rel, "shards");
		take_argument(splits->rel, "shards", PG_GETARG_INT32(6),
					  splits->shards != 0, &splits->shards);
	}
	if (splits->shards != 0 || !PG_ARGISNULL(6))
	{
		if (!PG_ARGISNULL(4) || !PG_ARGISNULL(5))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a shard id has neither bits nor stripes"),
					 errhint("Give only shards for a table that is partitioned by a shard id.")));
		sk_split_check_shards(splits->count, splits->shards);
		check_shards_fit(splits);
		splits->values = splits->shards;
		return;
	}

	splits->is_id = true;
	if (!PG_ARGISNULL(4))
		take_argument(splits->rel, "bits", PG_GETARG_INT32(4), found,
					  &splits->bits);
	if (!PG_ARGISNULL(5))
		take_argument(splits->rel, "stripes",
					  PG_GETARG_INT32(5) == 0 ? -1 : PG_GETARG_INT32(5), found,
					  &splits->stripes);
	if (!found && PG_ARGISNULL(4))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot tell what values the partition key of table \"%s\" has",
						RelationGetRelationName(splits->rel)),
				 errdetail("It is neither filled by a sequence with an access method nor computed by spanner.shard_id()."),
				 errhint("Give bits, and stripes if there are any, for an id, or shards for a shard id; spanner.convert_column() gives an ordinary sequence an access method.")));
	sk_split_check_ids(splits->count, splits->bits, splits->stripes);
	if (splits->bits >= 8 * key->parttyplen[0])
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("type %s has no values of %d bits",
						format_type_be(key->parttypid[0]), splits->bits),
				 errhint("Give at most %d bits.", 8 * key->parttyplen[0] - 1)));
	splits->values = UINT64CONST(1) << splits->bits;
}

/* Take over what the table may show already, and then has to agree. */
static void
take_argument(Relation rel, const char *name, int value, bool is_known,
			  int *known)
{
	if (is_known && value != *known)
		report_contradiction(rel, name);
	*known = value;
}

static void
report_contradiction(Relation rel, const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("argument %s contradicts the partition key of table \"%s\"",
					name, RelationGetRelationName(rel)),
			 errhint("Leave it out: the values of the key are known from its default, its constraint or its expression.")));
}

/* Bounds that the key cannot have would be refused, if not by a dry run. */
static void
check_shards_fit(const SkSplits *splits)
{
	PartitionKey key = RelationGetPartitionKey(splits->rel);

	if (key->parttyplen[0] == sizeof(int16) && splits->shards - 1 > PG_INT16_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("type %s has no values for %d shards",
						format_type_be(key->parttypid[0]), splits->shards),
				 errhint("Give at most %d shards, or use a column of type integer.",
						 PG_INT16_MAX + 1)));
}

/* The first argument of spanner.shard_id(), if that is the key, or 0. */
static int
shards_of_expression(PartitionKey key)
{
	FuncExpr   *call;
	Const	   *shards;

	if (!IsA(linitial(key->partexprs), FuncExpr))
		return 0;
	call = linitial(key->partexprs);
	if (strcmp(get_func_name(call->funcid), "shard_id") != 0 ||
		strcmp(get_namespace_name(get_func_namespace(call->funcid)), "spanner") != 0)
		return 0;
	shards = linitial(call->args);
	return IsA(shards, Const) && !shards->constisnull ?
		DatumGetInt32(shards->constvalue) : 0;
}

/* How many shards a constraint says that the column has which is the key, or 0. */
static int
shards_of_column(Relation rel)
{
	static const char *const query =
	"SELECT CAST(k.shards AS pg_catalog.text) FROM spanner.shard_keys k"
	" WHERE k.schemaname OPERATOR(pg_catalog.=) %s"
	" AND k.tablename OPERATOR(pg_catalog.=) %s"
	" AND k.name OPERATOR(pg_catalog.=) %s AND k.keys IS NOT NULL";
	AttrNumber	column = RelationGetPartitionKey(rel)->partattrs[0];
	char	   *shards;

	shards = sk_query_text(psprintf(query,
									quote_literal_cstr(get_namespace_name(RelationGetNamespace(rel))),
									quote_literal_cstr(RelationGetRelationName(rel)),
									quote_literal_cstr(get_attname(RelationGetRelid(rel), column, false))));
	return shards == NULL ? 0 : pg_strtoint32(shards);
}

/* Bits and stripes of the sequence that the default of the key draws from. */
static bool
read_sequence(SkSplits *splits)
{
	static const char *const query =
	"SELECT s.bits, CASE WHEN s.kind OPERATOR(pg_catalog.=) 'striped' THEN COALESCE("
	"CAST(pg_catalog.substring(l.label, 'stripes *= *([0-9]+)') AS pg_catalog.int4),"
	" CASE WHEN s.bits OPERATOR(pg_catalog.>) 6 THEN 64 ELSE (1 OPERATOR(pg_catalog.<<) (s.bits OPERATOR(pg_catalog.-) 1)) END)"
	" ELSE 0 END"
	" FROM pg_catalog.pg_attrdef a"
	" JOIN pg_catalog.pg_depend d ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass"
	" AND d.objid OPERATOR(pg_catalog.=) a.oid"
	" AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass"
	" JOIN pg_catalog.pg_seclabel l ON l.provider OPERATOR(pg_catalog.=) 'spanner_keys'"
	" AND l.classoid OPERATOR(pg_catalog.=) d.refclassid AND l.objoid OPERATOR(pg_catalog.=) d.refobjid"
	" AND l.objsubid OPERATOR(pg_catalog.=) 0"
	" CROSS JOIN LATERAL spanner.describe_sequence(l.objoid) s"
	" WHERE a.adrelid OPERATOR(pg_catalog.=) %u::pg_catalog.oid"
	" AND a.adnum OPERATOR(pg_catalog.=) %d::pg_catalog.int2"
	" AND s.kind OPERATOR(pg_catalog.=) ANY ('{bit_reversed_positive,striped}'::pg_catalog.text[])";
	char	   *command = psprintf(query, RelationGetRelid(splits->rel),
								   RelationGetPartitionKey(splits->rel)->partattrs[0]);
	bool		found;
	bool		isnull;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(command, false, 1) != SPI_OK_SELECT)
		elog(ERROR, "query failed: %s", command);
	found = SPI_processed == 1;
	if (found)
	{
		HeapTuple	tuple = SPI_tuptable->vals[0];

		splits->bits = DatumGetInt32(SPI_getbinval(tuple, SPI_tuptable->tupdesc, 1, &isnull));
		splits->stripes = DatumGetInt32(SPI_getbinval(tuple, SPI_tuptable->tupdesc, 2, &isnull));
	}
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	return found;
}

/* Name and schema as in SQL. */
static char *
partition_name(const SkSplits *splits, int split)
{
	char	   *name = makeObjectName(RelationGetRelationName(splits->rel), NULL,
									  psprintf("p%d", split));

	if (OidIsValid(get_relname_relid(name, RelationGetNamespace(splits->rel))))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", name),
				 errhint("Partitions are named like this; rename or drop the relation first.")));
	return name;
}

/* The table behind a foreign partition. */
static char *
remote_statement(const SkSplits *splits, int split)
{
	Relation	rel = splits->rel;
	PartitionKey key = RelationGetPartitionKey(rel);
	StringInfoData statement;
	const char *separator = "";

	initStringInfo(&statement);
	appendStringInfo(&statement, "CREATE TABLE %s (",
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												partition_name(splits, split)));
	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), i);

		if (column->attisdropped)
			continue;
		appendStringInfoString(&statement, separator);
		append_column(&statement, rel, column);
		separator = ", ";
	}
	if (splits->is_id && key->partattrs[0] != 0)
		appendStringInfo(&statement, ", PRIMARY KEY (%s)",
						 quote_identifier(get_attname(RelationGetRelid(rel),
													  key->partattrs[0], false)));
	appendStringInfoChar(&statement, ')');
	return statement.data;
}

/*
 * Values come from here, except those of generated columns: postgres_fdw has
 * them computed there.  It takes collations for the same on both sides.
 */
static void
append_column(StringInfo statement, Relation rel, Form_pg_attribute column)
{
	appendStringInfo(statement, "%s %s", quote_identifier(NameStr(column->attname)),
					 format_type_extended(column->atttypid, column->atttypmod,
										  FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
	if (OidIsValid(column->attcollation) &&
		column->attcollation != get_typcollation(column->atttypid))
		appendStringInfo(statement, " COLLATE %s",
						 generate_collation_name(column->attcollation));
	if (column->attgenerated != '\0')
	{
		Node	   *expression = build_column_default(rel, column->attnum);
		List	   *context = deparse_context_for(RelationGetRelationName(rel),
												  RelationGetRelid(rel));

		appendStringInfo(statement, " GENERATED ALWAYS AS (%s) %s",
						 deparse_expression(expression, context, false, false),
						 column->attgenerated == ATTRIBUTE_GENERATED_STORED ?
						 "STORED" : "VIRTUAL");
	}
	if (column->attnotnull)
		appendStringInfoString(statement, " NOT NULL");
}

static char *
local_statement(const SkSplits *splits, int split)
{
	const char *server = splits->servers[split % splits->server_count];
	char	   *schema = get_namespace_name(RelationGetNamespace(splits->rel));
	char	   *name = partition_name(splits, split);
	StringInfoData statement;

	initStringInfo(&statement);
	appendStringInfo(&statement, "CREATE %s %s PARTITION OF %s FOR VALUES FROM (",
					 server != NULL ? "FOREIGN TABLE" : "TABLE",
					 quote_qualified_identifier(schema, name),
					 sk_qualified_name(RelationGetRelid(splits->rel)));
	append_bound(&statement, splits, split);
	appendStringInfoString(&statement, ") TO (");
	append_bound(&statement, splits, split + 1);
	appendStringInfoChar(&statement, ')');
	if (server != NULL)
		appendStringInfo(&statement,
						 " SERVER %s OPTIONS (schema_name %s, table_name %s, batch_size '%d', async_capable 'true')",
						 quote_identifier(server), quote_literal_cstr(schema),
						 quote_literal_cstr(name), SK_BATCH_SIZE);
	return statement.data;
}

/* The outermost bounds are open, so that no value is without a partition. */
static void
append_bound(StringInfo statement, const SkSplits *splits, int point)
{
	PartitionKey key = RelationGetPartitionKey(splits->rel);
	bool		first = point == 0;
	bool		last = point == splits->count;

	for (int i = 0; i < key->partnatts; i++)
	{
		if (i > 0)
			appendStringInfoString(statement, ", ");
		if (last)
			appendStringInfoString(statement, "MAXVALUE");
		else if (first || i > 0)
			appendStringInfoString(statement, "MINVALUE");
		else
			appendStringInfo(statement, INT64_FORMAT,
							 sk_split_point(point, splits->count, splits->values));
	}
}

static void
put_statement(ReturnSetInfo *result, const char *server, const char *statement)
{
	Datum		values[2] = {0};
	bool		nulls[2] = {server == NULL, false};

	if (server != NULL)
		values[0] = DirectFunctionCall1(namein, CStringGetDatum(server));
	values[1] = CStringGetTextDatum(statement);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}
