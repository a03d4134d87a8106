/*-------------------------------------------------------------------------
 *
 * key_sample.c
 *	  A sample of the rows of a table.
 *
 * A table with few rows is read whole.  From a larger one TABLESAMPLE SYSTEM
 * takes blocks here and there, many more than are needed for the number of
 * rows.  A hash of the row's place decides which of their rows count: rows in
 * one block were mostly inserted together, and would tell the same.  Both
 * choices are repeatable, so a picture can be drawn again.
 *
 * The query runs with the privileges of the current user, see owner_rights.c,
 * with all names qualified.
 *
 * src/advisor/key_sample.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "access/xlog.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "optimizer/plancat.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "advisor/key_sample.h"
#include "spi/owner_rights.h"

/* How many rows of a block are taken at most, on average. */
#define SK_ROWS_PER_BLOCK 10

/* How many characters of a key are shown. */
#define SK_LABEL_LENGTH 60

/* For fewer rows, all sampled blocks could be empty. */
#define SK_MIN_SAMPLE 100

#define SK_MAX_SAMPLE 10000000

static SkKeyForm key_form(Oid type);
static bool estimate_size(const SkKeyColumn *key, double *pages, double *tuples);
static double estimate_rows(Relation rel);
static char *sampling_clause(SkKeySample *sample, int sample_rows,
							 double *fraction);
static char *sample_query(SkKeySample *sample, const char *sampling,
						  bool ordered);
static void set_total(SkKeySample *sample, double fraction);
static void read_rows(SkKeySample *sample);
static char *clipped_value(HeapTuple tuple, TupleDesc desc, int column);
static void read_key(SkKeySample *sample, Datum value, SkSampledRow *row);
static int64 integer_key(Oid type, Datum value);
static double number_key(Oid type, Datum value);
static int64 first_bytes(const unsigned char *bytes);

/*
 * sk_key_sample_read
 *		Sample about "sample_rows" rows of sample->key, SK_MIN_SAMPLE at least.
 *
 * "ordered" asks for the order of insertion, by the column sample->order_by.
 */
void
sk_key_sample_read(SkKeySample *sample, int sample_rows, bool ordered)
{
	MemoryContext caller = CurrentMemoryContext;
	SkOwnerScope scope;
	double		fraction;
	char	   *sampling;
	char	   *query;

	if (sample_rows < 1 || sample_rows > SK_MAX_SAMPLE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sample_rows must be between 1 and %d", SK_MAX_SAMPLE)));
	if (ordered && sample->order_by == NULL && sample->key.partitioned)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the rows of partitioned table \"%s\" have no physical order",
						get_rel_name(sample->key.relid)),
				 errhint("Name a column that tells the order of insertion with order_by, or draw a partition.")));

	sample->form = sample->all_columns ? SK_KEY_RANK : key_form(sample->key.type);
	sampling = sampling_clause(sample, Max(sample_rows, SK_MIN_SAMPLE), &fraction);
	query = sample_query(sample, sampling, ordered);
	sk_owner_enter(&scope, sample->key.relid, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "query failed: %s", query);
	sk_owner_leave(&scope);
	MemoryContextSwitchTo(caller);
	read_rows(sample);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");

	if (sample->count == 0 && !sample->whole)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("found no rows with a key in relation \"%s\"",
						get_rel_name(sample->key.relid)),
				 errhint("Use a larger sample_rows, or VACUUM FULL a table that is almost empty.")));
	set_total(sample, fraction);
}

/*
 * sk_key_sample_rows
 *		How many rows of the table that many sampled ones stand for.
 */
double
sk_key_sample_rows(const SkKeySample *sample, int64 count)
{
	return count == 0 ? 0 :
		rint(count * (sample->total / (sample->count + sample->null_count)));
}

static SkKeyForm
key_form(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return SK_KEY_INTEGER;
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return SK_KEY_FLOAT;
		case UUIDOID:
			return SK_KEY_UUID;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NAMEOID:
		case BYTEAOID:
			return SK_KEY_BYTES;
		default:
			return SK_KEY_RANK;
	}
}

/*
 * The size of the table, or of all its partitions.  Returns whether ANALYZE or
 * the like has counted the rows.
 */
static bool
estimate_size(const SkKeyColumn *key, double *pages, double *tuples)
{
	List	   *parts = list_make1_oid(key->relid);
	bool		result = true;
	ListCell   *lc;

	if (key->partitioned)
		parts = find_all_inheritors(key->relid, AccessShareLock, NULL);
	*pages = *tuples = 0;
	foreach(lc, parts)
	{
		Relation	part = table_open(lfirst_oid(lc), NoLock);
		char		relkind = part->rd_rel->relkind;
		double		part_tuples;

		if (relkind == RELKIND_FOREIGN_TABLE)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("cannot sample partition \"%s\" of table \"%s\"",
							RelationGetRelationName(part),
							get_rel_name(key->relid)),
					 errdetail_relkind_not_supported(relkind),
					 errhint("Call the function for the local partitions and on the other servers, or use spanner.split_stats().")));
		if (relkind != RELKIND_PARTITIONED_TABLE)
		{
			part_tuples = estimate_rows(part);
			result = result && part->rd_rel->reltuples >= 0;
			*tuples += part_tuples;
			*pages += part_tuples > 0 ? RelationGetNumberOfBlocks(part) : 0;
		}
		table_close(part, NoLock);
	}
	return result;
}

/*
 * How many rows a table has, by its size and what ANALYZE has found.
 *
 * The planner counts a small table that has not been analyzed as one of ten
 * pages, so the result is scaled to the pages that there are.  On a standby, an
 * unlogged table has no rows, and not even a file.
 */
static double
estimate_rows(Relation rel)
{
	BlockNumber pages;
	double		rows;
	double		visible;

	if (!RelationIsPermanent(rel) && RecoveryInProgress())
		return 0;
	estimate_rel_size(rel, NULL, &pages, &rows, &visible);
	return pages == 0 ? 0 : rint(rows * RelationGetNumberOfBlocks(rel) / pages);
}

/*
 * What comes behind the table in FROM.  Sets "fraction" to the part of the rows
 * that it lets through, and sample->total.
 */
static char *
sampling_clause(SkKeySample *sample, int sample_rows, double *fraction)
{
	double		pages;
	double		tuples;
	double		share;
	double		thinning;
	StringInfoData result;

	sample->counted = estimate_size(&sample->key, &pages, &tuples);
	sample->total = tuples;
	sample->whole = tuples <= sample_rows;
	*fraction = 1;
	initStringInfo(&result);
	if (!sample->whole)
	{
		*fraction = sample_rows / tuples;
		share = Max(*fraction, sample_rows / (SK_ROWS_PER_BLOCK * pages));
		thinning = *fraction / Min(share, 1);
		if (share < 1)
			appendStringInfo(&result, " TABLESAMPLE pg_catalog.system(%.9g) REPEATABLE (0)",
							 100 * share);
		appendStringInfo(&result,
						 " WHERE (pg_catalog.hashtid(t.ctid) OPERATOR(pg_catalog.&) 2147483647)"
						 " OPERATOR(pg_catalog.<) " INT64_FORMAT,
						 (int64) (thinning * ((int64) PG_INT32_MAX + 1)));
	}
	if (sample->key.filter != NULL)
		appendStringInfo(&result, " %s (%s)", sample->whole ? "WHERE" : "AND",
						 sample->key.filter);
	return result.data;
}

/*
 * Five columns: key, its rank and dense rank, order and what that goes by.
 * The owner of a type can create a cast from it to text that calls any
 * function.  So only types of the server are cast.
 */
static char *
sample_query(SkKeySample *sample, const char *sampling, bool ordered)
{
	SkKeyColumn *key = &sample->key;
	char	   *order = "t.ctid";
	StringInfoData query;

	initStringInfo(&query);
	if (sample->all_columns)
		appendStringInfo(&query,
						 "SELECT ROW(%s), pg_catalog.rank() OVER (ORDER BY %s),"
						 " pg_catalog.dense_rank() OVER (ORDER BY %s)",
						 key->columns, key->columns, key->columns);
	else if (sample->form == SK_KEY_RANK)
		appendStringInfo(&query,
						 "SELECT %s, pg_catalog.rank() OVER (ORDER BY %s),"
						 " pg_catalog.dense_rank() OVER (ORDER BY %s)",
						 key->expression, key->expression, key->expression);
	else if (sample->form != SK_KEY_BYTES)
		appendStringInfo(&query, "SELECT %s, NULL, NULL", key->expression);
	else if (key->type == BYTEAOID)
		appendStringInfo(&query, "SELECT pg_catalog.substring(%s, 1, %d), NULL, NULL",
						 key->expression, SK_KEY_BYTES_READ);
	else
		appendStringInfo(&query,
						 "SELECT pg_catalog.left(CAST(%s AS pg_catalog.text), %d), NULL, NULL",
						 key->expression, SK_KEY_BYTES_READ);

	if (ordered && sample->order_by != NULL)
	{
		order = sk_key_column_named(key, sample->order_by);
		appendStringInfo(&query, ", pg_catalog.row_number() OVER (ORDER BY %s, t.tableoid, t.ctid), %s",
						 order, order);
	}
	else if (ordered)
		appendStringInfoString(&query,
							   ", pg_catalog.rank() OVER (ORDER BY t.ctid),"
							   " pg_catalog.split_part(pg_catalog.ltrim(CAST(t.ctid AS pg_catalog.text), '('), ',', 1)");
	else
		appendStringInfoString(&query, ", NULL, NULL");

	appendStringInfo(&query, " FROM %s%s AS t%s", key->partitioned ? "" : "ONLY ",
					 key->table, sampling);
	return query.data;
}

/*
 * How many rows there are.  The server's estimate is a guess if the table was
 * never analyzed.  That of the sample is always a bit off.
 */
static void
set_total(SkKeySample *sample, double fraction)
{
	double		read = sample->count + sample->null_count;

	if (sample->whole)
		sample->total = read;
	else if (sample->key.filter != NULL || !sample->counted)
		sample->total = rint(read / fraction);
}

/* Take the result of the query, into the current memory context. */
static void
read_rows(SkKeySample *sample)
{
	TupleDesc	desc = SPI_tuptable->tupdesc;
	uint64		processed = SPI_processed;
	bool		ranked = sample->form == SK_KEY_RANK;

	sample->rows = MemoryContextAllocHuge(CurrentMemoryContext,
										  Max(processed, 1) * sizeof(SkSampledRow));
	sample->count = 0;
	sample->null_count = 0;
	for (uint64 i = 0; i < processed; i++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[i];
		SkSampledRow *row = &sample->rows[sample->count];
		bool		isnull;
		Datum		value = SPI_getbinval(tuple, desc, 1, &isnull);

		if (isnull)
		{
			sample->null_count++;
			continue;
		}
		memset(row, 0, sizeof(SkSampledRow));
		if (ranked)
		{
			row->label = clipped_value(tuple, desc, 1);
			row->rank = DatumGetInt64(SPI_getbinval(tuple, desc, 2, &isnull));
			row->dense_rank = DatumGetInt64(SPI_getbinval(tuple, desc, 3, &isnull));
		}
		else
			read_key(sample, value, row);

		value = SPI_getbinval(tuple, desc, 4, &isnull);
		row->order = isnull ? 0 : DatumGetInt64(value);
		row->order_label = clipped_value(tuple, desc, 5);
		sample->count++;
	}
}

/* A column as text, NULL if it is NULL. */
static char *
clipped_value(HeapTuple tuple, TupleDesc desc, int column)
{
	char	   *result = SPI_getvalue(tuple, desc, column);

	if (result != NULL)
		result[pg_mbcharcliplen(result, strlen(result), SK_LABEL_LENGTH)] = '\0';
	return result;
}

static void
read_key(SkKeySample *sample, Datum value, SkSampledRow *row)
{
	switch (sample->form)
	{
		case SK_KEY_INTEGER:
			row->integer = integer_key(sample->key.type, value);
			break;
		case SK_KEY_FLOAT:
			row->number = number_key(sample->key.type, value);
			break;
		case SK_KEY_UUID:
			row->integer = first_bytes(DatumGetUUIDP(value)->data);
			break;
		default:
			{
				bytea	   *packed = DatumGetByteaPCopy(value);

				row->bytes = (unsigned char *) VARDATA(packed);
				row->length = VARSIZE(packed) - VARHDRSZ;
			}
	}
}

static int64
integer_key(Oid type, Datum value)
{
	switch (type)
	{
		case BOOLOID:
			return DatumGetBool(value);
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case OIDOID:
			return DatumGetObjectId(value);
		case DATEOID:
			{
				DateADT		date = DatumGetDateADT(value);

				return DATE_IS_NOBEGIN(date) ? PG_INT64_MIN :
					DATE_IS_NOEND(date) ? PG_INT64_MAX : date;
			}
		default:
			return DatumGetInt64(value);
	}
}

static double
number_key(Oid type, Datum value)
{
	switch (type)
	{
		case FLOAT4OID:
			return DatumGetFloat4(value);
		case FLOAT8OID:
			return DatumGetFloat8(value);
		default:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
													  value));
	}
}

/* 8 bytes as a number that is ordered as they are. */
static int64
first_bytes(const unsigned char *bytes)
{
	uint64		result = 0;

	for (int i = 0; i < 8; i++)
		result = (result << 8) | bytes[i];
	return (int64) (result ^ (UINT64CONST(1) << 63));
}
