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
 * relation_query.c says with whose rights the query runs.
 *
 * src/advisor/key_sample.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
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
#include "spi/relation_query.h"

/* How many rows of a block are taken at most, on average. */
#define SK_ROWS_PER_BLOCK 10

/* How many characters of a key are shown. */
#define SK_LABEL_LENGTH 60

/* For fewer rows, all sampled blocks could be empty. */
#define SK_MIN_SAMPLE 100

#define SK_MAX_SAMPLE 10000000

#define SK_SAMPLE_COLUMNS 5

static SkKeyForm key_form(Oid type);
static bool estimate_size(const SkKeyColumn *key, double *pages, double *tuples);
static double estimate_rows(Relation rel);
static void run_query(SkKeySample *sample, int sample_rows, bool ordered,
					  double *fraction);
static char *add_expression(SkRelationQuery *query, Node *expression);
static void add_key(StringInfo text, SkKeySample *sample, SkRelationQuery *query,
					Oid *types);
static void add_order(StringInfo text, SkKeySample *sample, bool ordered,
					  SkRelationQuery *query, Oid *types);
static void add_sampling(StringInfo text, SkKeySample *sample, int sample_rows,
						 double *fraction);
static void set_total(SkKeySample *sample, double fraction);
static void read_rows(SkKeySample *sample, Tuplestorestate *rows,
					  TupleTableSlot *slot);
static char *clipped_value(TupleTableSlot *slot, int column);
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
	double		fraction;

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
	run_query(sample, sample_rows, ordered, &fraction);
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

/* Make the query, run it, and take its rows. */
static void
run_query(SkKeySample *sample, int sample_rows, bool ordered, double *fraction)
{
	Oid			types[SK_SAMPLE_COLUMNS];
	SkRelationQuery query = {0};
	StringInfoData text;
	Tuplestorestate *rows;
	TupleTableSlot *slot;

	initStringInfo(&text);
	add_key(&text, sample, &query, types);
	add_order(&text, sample, ordered, &query, types);
	appendStringInfo(&text, " FROM %s%s AS t", sample->key.partitioned ? "" : "ONLY ",
					 sample->key.table);
	add_sampling(&text, sample, Max(sample_rows, SK_MIN_SAMPLE), fraction);
	if (sample->key.filter != NULL)
		appendStringInfo(&text, " %s %s", sample->whole ? "WHERE" : "AND",
						 add_expression(&query, sample->key.filter));
	query.text = text.data;

	query.relids = list_make1_oid(sample->key.relid);
	query.column_count = SK_SAMPLE_COLUMNS;
	query.types = types;

	rows = sk_query_relation(&query, &slot);
	read_rows(sample, rows, slot);
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(rows);
}

/* What stands for an expression in the text of the query. */
static char *
add_expression(SkRelationQuery *query, Node *expression)
{
	query->expressions = lappend(query->expressions, expression);
	return psprintf("$%d", list_length(query->expressions));
}

/*
 * Three columns: key, its rank and dense rank.  The owner of a type can create
 * a cast from it to text that calls any function.  So only types of the server
 * are cast.
 */
static void
add_key(StringInfo text, SkKeySample *sample, SkRelationQuery *query, Oid *types)
{
	SkKeyColumn *key = &sample->key;
	bool		is_text = sample->form == SK_KEY_BYTES;
	char	   *columns = NULL;
	ListCell   *lc;

	foreach(lc, sample->all_columns ? key->columns : list_make1(key->expression))
	{
		char	   *column = add_expression(query, lfirst(lc));

		columns = columns == NULL ? column : psprintf("%s, %s", columns, column);
	}
	if (sample->form == SK_KEY_RANK)
		appendStringInfo(text, sample->all_columns ?
						 "SELECT ROW(%s), pg_catalog.rank() OVER (ORDER BY %s),"
						 " pg_catalog.dense_rank() OVER (ORDER BY %s)" :
						 "SELECT %s, pg_catalog.rank() OVER (ORDER BY %s),"
						 " pg_catalog.dense_rank() OVER (ORDER BY %s)",
						 columns, columns, columns);
	else
		appendStringInfo(text, "SELECT %s, CAST(NULL AS pg_catalog.int8),"
						 " CAST(NULL AS pg_catalog.int8)",
						 !is_text ? columns :
						 psprintf(key->type == BYTEAOID ? "pg_catalog.substring(%s, 1, %d)" :
								  "pg_catalog.left(CAST(%s AS pg_catalog.text), %d)",
								  columns, SK_KEY_BYTES_READ));
	types[0] = sample->all_columns ? RECORDOID :
		is_text && key->type != BYTEAOID ? TEXTOID : key->type;
	types[1] = types[2] = INT8OID;
}

/* Two columns: the place in the order of insertion, and what that goes by. */
static void
add_order(StringInfo text, SkKeySample *sample, bool ordered,
		  SkRelationQuery *query, Oid *types)
{
	types[3] = INT8OID;
	types[4] = TEXTOID;
	if (ordered && sample->order_by != NULL)
	{
		Node	   *expression = sk_key_column_named(&sample->key, sample->order_by);
		char	   *order = add_expression(query, expression);

		appendStringInfo(text, ", pg_catalog.row_number() OVER (ORDER BY %s, t.tableoid, t.ctid), %s",
						 order, order);
		types[4] = getBaseType(exprType(expression));
	}
	else if (ordered)
		appendStringInfoString(text,
							   ", pg_catalog.rank() OVER (ORDER BY t.ctid),"
							   " pg_catalog.split_part(pg_catalog.ltrim(CAST(t.ctid AS pg_catalog.text), '('), ',', 1)");
	else
		appendStringInfoString(text, ", CAST(NULL AS pg_catalog.int8), CAST(NULL AS pg_catalog.text)");
}

/*
 * Which rows to take.  Sets "fraction" to the part of the rows that are, and
 * sample->total.
 */
static void
add_sampling(StringInfo text, SkKeySample *sample, int sample_rows,
			 double *fraction)
{
	double		pages;
	double		tuples;
	double		share;
	double		thinning;

	sample->counted = estimate_size(&sample->key, &pages, &tuples);
	sample->total = tuples;
	sample->whole = tuples <= sample_rows;
	*fraction = 1;
	if (sample->whole)
		return;
	*fraction = sample_rows / tuples;
	share = Max(*fraction, sample_rows / (SK_ROWS_PER_BLOCK * pages));
	thinning = *fraction / Min(share, 1);
	if (share < 1)
		appendStringInfo(text, " TABLESAMPLE pg_catalog.system(%.9g) REPEATABLE (0)",
						 100 * share);
	appendStringInfo(text,
					 " WHERE (pg_catalog.hashtid(t.ctid) OPERATOR(pg_catalog.&) 2147483647)"
					 " OPERATOR(pg_catalog.<) " INT64_FORMAT,
					 (int64) (thinning * ((int64) PG_INT32_MAX + 1)));
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
read_rows(SkKeySample *sample, Tuplestorestate *rows, TupleTableSlot *slot)
{
	bool		ranked = sample->form == SK_KEY_RANK;

	sample->rows = MemoryContextAllocHuge(CurrentMemoryContext,
										  Max(tuplestore_tuple_count(rows), 1) *
										  sizeof(SkSampledRow));
	sample->count = 0;
	sample->null_count = 0;
	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		SkSampledRow *row = &sample->rows[sample->count];
		bool		isnull;
		Datum		value = slot_getattr(slot, 1, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (isnull)
		{
			sample->null_count++;
			continue;
		}
		memset(row, 0, sizeof(SkSampledRow));
		if (ranked)
		{
			row->label = clipped_value(slot, 1);
			row->rank = DatumGetInt64(slot_getattr(slot, 2, &isnull));
			row->dense_rank = DatumGetInt64(slot_getattr(slot, 3, &isnull));
		}
		else
			read_key(sample, value, row);

		value = slot_getattr(slot, 4, &isnull);
		row->order = isnull ? 0 : DatumGetInt64(value);
		row->order_label = clipped_value(slot, 5);
		sample->count++;
	}
}

/* A column as text, NULL if it is NULL. */
static char *
clipped_value(TupleTableSlot *slot, int column)
{
	Oid			output;
	bool		is_varlena;
	bool		isnull;
	Datum		value = slot_getattr(slot, column, &isnull);
	char	   *result;

	if (isnull)
		return NULL;
	getTypeOutputInfo(TupleDescAttr(slot->tts_tupleDescriptor, column - 1)->atttypid,
					  &output, &is_varlena);
	result = OidOutputFunctionCall(output, value);
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
