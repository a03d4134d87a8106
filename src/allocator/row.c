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

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/varlena.h"

#include "allocator/allocator.h"

/* As many timelines are counted; pg_resetwal can leave out any number of them. */
#define SK_MAX_GAPS 100

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
	SkStamp		now = sk_stamp_now();
	SkStamp		then = row->stamp;
	bool		is_known = then.system == now.system && then.timeline != 0;
	int64		former = row->next_value;
	uint64		gap = sk_row_gap(row);
	unsigned long long skipped;
	int			gaps = is_known && then.timeline < now.timeline ?
		Min(now.timeline - then.timeline, SK_MAX_GAPS) : 1;

	if (sk_stamp_is_now(then))
		return;
	row->stamp = now;
	if (!is_known || then.timeline < row->former_timeline || then.timeline > now.timeline)
		gap = Max(gap, (uint64) row->former_gap);
	for (int i = 0; i < gaps && row->next_value <= row->max_value; i++)
	{
		uint64		left = (uint64) row->max_value - (uint64) row->next_value + 1;

		row->next_value += (int64) Min(gap, left / 10 + (left % 10 != 0));
		/* the value after the last one says that all are used up */
		Assert(row->next_value - 1 <= row->max_value);
	}
	skipped = (uint64) row->next_value - (uint64) former;
	if (skipped == 0)
		return;
	ereport(LOG,
			(errcode(ERRCODE_WARNING),
			 then.system == now.system ?
			 errmsg("new timeline %d: allocator \"%s\" skipped %llu values",
					now.timeline, row->name, skipped) :
			 errmsg("new cluster: allocator \"%s\" skipped %llu values",
					row->name, skipped)));
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
	return TextDatumGetCString(OidFunctionCall2(F_ARRAY_TO_STRING_ANYARRAY_TEXT,
												PointerGetDatum(series), CStringGetTextDatum(", ")));
}

/*
 * sk_near_name_try
 *		Take a name if it comes nearer to the one that is wanted than the last:
 *		one that differs in case only is nearest.
 */
void
sk_near_name_try(SkNearName *near, const char *name)
{
	int			length = strlen(near->wanted);
	int			limit = Min(2, length / 3);
	int			distance = 0;

	if (pg_strcasecmp(near->wanted, name) != 0)
		distance = varstr_levenshtein_less_equal(near->wanted, length, name, strlen(name),
												 1, 1, 1, limit, true);
	if (distance > limit || (near->found[0] != '\0' && distance >= near->distance))
		return;
	near->distance = distance;
	strlcpy(near->found, name, sizeof(near->found));
}
