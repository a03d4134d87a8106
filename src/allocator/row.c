/*-------------------------------------------------------------------------
 *
 * row.c
 *	  An allocator by itself: its name, mode, bounds, series, and gap.
 *
 * What all files of the module use, from the table to the SQL functions.  Nothing
 * here reads or writes the table.
 *
 * src/allocator/row.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "allocator/allocator.h"

/* Without failover_gap, as many batches of the largest size are left out. */
#define SK_GAP_BATCHES 10

/* As many timelines are counted; pg_resetwal can leave out any number of them. */
#define SK_MAX_GAPS 100

#define SK_MAX_BATCH_SIZE 10000000

/* Modes as they stand in the table. */
const char *const sk_mode_names[] = {
	[SK_MODE_SYNC] = "sync",
	[SK_MODE_ON_COMMIT] = "on_commit",
	[SK_MODE_ASYNC] = "async",
	[SK_MODE_BATCH] = "batch",
	[SK_MODE_ASYNC_BATCH] = "async_batch",
	[SK_MODE_REMOTE] = "remote"
};

StaticAssertDecl(lengthof(sk_mode_names) == SK_MODE_REMOTE + 1,
				 "a mode has no name");

static void check_number(const char *column, int64 value, int64 low,
						 int64 high);

/*
 * sk_mode_from_name
 *		A mode as it stands in the table.
 */
SkMode
sk_mode_from_name(const char *name)
{
	for (int i = 0; i < lengthof(sk_mode_names); i++)
		if (strcmp(sk_mode_names[i], name) == 0)
			return i;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid allocator mode: \"%s\"", name),
			 errhint("Modes are sync, on_commit, async, batch, async_batch, remote.")));
}

/*
 * sk_allocator_name
 *		Copy a name of at most SK_MAX_ALLOCATOR_NAME bytes.  "what" is what an
 *		error calls it.
 */
void
sk_allocator_name(const char *source, const char *what, char *name)
{
	if (source[0] == '\0' || strlen(source) > SK_MAX_ALLOCATOR_NAME)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid %s: \"%s\"", what, source),
				 errhint("A name has from 1 to %d bytes.",
						 SK_MAX_ALLOCATOR_NAME)));
	strcpy(name, source);
}

/*
 * sk_row_check
 *		Raise an error if the columns do not fit together.
 */
void
sk_row_check(const SkAllocatorRow *row)
{
	bool		has_server = row->server[0] != '\0';

	if ((row->parent_id != 0) != (row->series != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" and \"%s\" of a row of table \"%s\" do not fit together",
						"parent_id", "series", "spanner.allocator"),
				 errdetail("A series has both, an allocator has none.")));
	/* its allocator has the rest */
	if (row->parent_id != 0)
		return;
	check_number("batch_size", row->batch_size, 1, SK_MAX_BATCH_SIZE);
	check_number("max_batch_size", row->max_batch_size, row->batch_size,
				 SK_MAX_BATCH_SIZE);
	check_number("low_water_mark", row->low_water_mark, -1, PG_INT32_MAX);
	check_number("failover_gap", row->failover_gap, -1, PG_INT64_MAX);
	check_number("max_value", row->max_value, row->min_value,
				 PG_INT64_MAX - 1);
	check_number("next value", row->next_value, row->min_value,
				 row->max_value + 1);
	if ((row->mode == SK_MODE_REMOTE) != has_server)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 has_server ?
				 errmsg("allocator \"%s\" cannot have a server", row->name) :
				 errmsg("allocator \"%s\" needs a server", row->name),
				 errhint("Mode \"%s\" takes values from a foreign server, all others from this one.",
						 "remote")));
}

/*
 * sk_report_exhausted
 *		Raise the error that all values have been given.
 */
void
sk_report_exhausted(const char *name, int64 max_value)
{
	ereport(ERROR,
			(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
			 errmsg("reached maximum value of allocator \"%s\" (%lld)",
					name, (long long) max_value),
			 errhint("Raise the limit with %s.",
					 "spanner.alter_allocator(name, max_value => ...)")));
}

/*
 * sk_row_skip_gap
 *		Leave out values that may have been given before a promotion or a
 *		recovery to a point in time, of which this server does not know.
 *
 * There is one gap for each timeline that has begun since the row was written.
 * Each may be that of a server that left a gap itself, gave values after it, and
 * was lost before it told anybody.
 *
 * To be called for a locked row before anything is changed that the gap
 * depends on, or that depends on it.  Modes without a pool need no gap: their
 * values are of transactions that are lost too, or not ours.
 */
void
sk_row_skip_gap(SkAllocatorRow *row)
{
	uint32		now = GetWALInsertionTimeLine();
	uint32		then = row->timeline;
	bool		is_known = row->system == (int64) GetSystemIdentifier() && then != 0;
	int64		former = row->next_value;
	int			gaps = is_known && then < now ? Min(now - then, SK_MAX_GAPS) : 1;

	if (is_known && then == now)
		return;
	sk_row_stamp(row);
	if (!sk_mode_has_pool(row->mode))
		return;
	for (int i = 0; i < gaps && row->next_value <= row->max_value; i++)
	{
		uint64		left = (uint64) row->max_value - (uint64) row->next_value + 1;
		uint64		gap = row->failover_gap >= 0 ? row->failover_gap :
			SK_GAP_BATCHES * row->max_batch_size;

		row->next_value += (int64) Min(gap, left / 10 + (left % 10 != 0));
		/* the value after the last one says that all are used up */
		Assert(row->next_value - 1 <= row->max_value);
	}
	if (row->next_value == former)
		return;
	ereport(LOG,
			(errcode(ERRCODE_WARNING),
			 errmsg("new timeline %u: allocator \"%s\" skipped %llu values",
					GetWALInsertionTimeLine(), row->name,
					(unsigned long long) row->next_value - (unsigned long long) former)));
}

/*
 * sk_series_make
 *		A series of texts.
 */
ArrayType *
sk_series_make(Datum *values, int count)
{
	ArrayType  *result = construct_array(values, count, TEXTOID, -1, false, TYPALIGN_INT);

	if (VARSIZE(result) > SK_MAX_SERIES_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("values of a series are too long"),
				 errdetail("Together they may have about %d bytes.", SK_MAX_SERIES_BYTES)));
	return result;
}

/*
 * sk_series_compare
 *		Compare series in an order that is the same for everybody; NULL, the
 *		allocator itself, comes first.
 */
int
sk_series_compare(const ArrayType *a, const ArrayType *b)
{
	Size		a_size = a == NULL ? 0 : VARSIZE(a);
	Size		b_size = b == NULL ? 0 : VARSIZE(b);

	if (a_size != b_size)
		return a_size < b_size ? -1 : 1;
	return a_size == 0 ? 0 : memcmp(a, b, a_size);
}

/*
 * sk_series_print
 *		A series for a message: its values with commas between them.
 */
char *
sk_series_print(ArrayType *series)
{
	StringInfoData result;
	Datum	   *values;
	int			count;

	initStringInfo(&result);
	deconstruct_array(series, TEXTOID, -1, false, TYPALIGN_INT, &values, NULL, &count);
	for (int i = 0; i < count; i++)
		appendStringInfo(&result, "%s%s", i > 0 ? ", " : "", TextDatumGetCString(values[i]));
	return result.data;
}

static void
check_number(const char *column, int64 value, int64 low, int64 high)
{
	if (value < low || value > high)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s %lld is out of range", column, (long long) value),
				 errhint("It must be between %lld and %lld.",
						 (long long) low, (long long) high)));
}
