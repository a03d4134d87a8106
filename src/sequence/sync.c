/*-------------------------------------------------------------------------
 *
 * sync.c
 *	  Having a sequence pass over the values that a table holds.
 *
 * This is what applications mean when they set a sequence to max(id) after
 * they have inserted rows with ids of their own.
 *
 * src/sequence/sync.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "sequence/binding.h"
#include "sequence/counter.h"
#include "sequence/label.h"
#include "sequence/registry.h"
#include "sequence/sequence_column.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_sync_sequence);

/*
 * Stored values are passed by advancing the counter if that uses up no more
 * than this part of all counters.
 */
#define SK_MAX_ADVANCE 16

/* Values ahead of the counter. */
typedef struct SkAhead
{
	int64		last_near;		/* largest counter that is near, or 0 */
	int64		far_low;		/* range of the values whose counters are */
	int64		far_high;		/* far away, or 0 */
} SkAhead;

static void find_ahead(SkSequenceColumn *column, int64 next, SkAhead *ahead);
static void extend_skip_range(SkSequenceColumn *column, int64 low, int64 high);

/*
 * spanner.sync_sequence("table" regclass, "column" name) returns bigint
 *
 * Has the sequence of a column pass over every value that the table holds,
 * and returns its next counter.  Values that the sequence would give soon
 * are passed by advancing the counter.  Others, such as small numbers that
 * were inserted by hand, join the skip range.  Only the owner of the table
 * may do it; it keeps writers out while it reads the table.
 */
Datum
spanner_sync_sequence(PG_FUNCTION_ARGS)
{
	SkSequenceColumn column;
	SkAhead		ahead;
	int64		next;
	bool		used;

	PreventCommandIfReadOnly("spanner.sync_sequence()");
	sk_open_column(fcinfo, &column);
	sk_lock_column(&column);
	sk_binding_check_sequence(column.seqid);
	if (!sk_counter_state(column.seqid, &next, &used))
		PG_RETURN_NULL();

	find_ahead(&column, next, &ahead);
	if (ahead.far_high > 0)
		extend_skip_range(&column, ahead.far_low, ahead.far_high);
	if (ahead.last_near >= next)
	{
		next = ahead.last_near + 1;
		sk_run_command(psprintf("ALTER SEQUENCE %s RESTART WITH " INT64_FORMAT,
								sk_qualified_name(column.seqid), next));
	}
	PG_RETURN_INT64(next);
}

/* Look at the stored values that the sequence has not passed. */
static void
find_ahead(SkSequenceColumn *column, int64 next, SkAhead *ahead)
{
	SkBinding  *binding = sk_binding_get(column->seqid);
	int64		limit = PG_INT64_MAX;
	int64		values[3];
	bool		isnull[3];
	StringInfoData query;

	if (binding->am != NULL)
		limit = next + binding->options->max_counter / SK_MAX_ADVANCE;

	initStringInfo(&query);
	appendStringInfo(&query,
					 "SELECT pg_catalog.max(c) FILTER (WHERE c OPERATOR(pg_catalog.<=) " INT64_FORMAT "),"
					 " pg_catalog.min(v) FILTER (WHERE c OPERATOR(pg_catalog.>) " INT64_FORMAT "),"
					 " pg_catalog.max(v) FILTER (WHERE c OPERATOR(pg_catalog.>) " INT64_FORMAT ")"
					 " FROM (SELECT v, spanner.unmap_value(v, %s::pg_catalog.regclass) AS c"
					 " FROM (SELECT CAST(%s AS pg_catalog.int8) AS v FROM %s) stored) counted"
					 " WHERE c OPERATOR(pg_catalog.>=) " INT64_FORMAT,
					 limit, limit, limit,
					 quote_literal_cstr(sk_qualified_name(column->seqid)),
					 quote_identifier(column->name),
					 sk_qualified_name(column->table), next);
	if (binding->am != NULL && binding->options->has_skip_range)
		appendStringInfo(&query,
						 " AND NOT (v OPERATOR(pg_catalog.>=) " INT64_FORMAT
						 " AND v OPERATOR(pg_catalog.<=) " INT64_FORMAT ")",
						 binding->options->skip_range_min,
						 binding->options->skip_range_max);
	sk_query_row(column->table, query.data, 3, values, isnull);

	ahead->last_near = isnull[0] ? 0 : values[0];
	ahead->far_low = isnull[1] ? 0 : values[1];
	ahead->far_high = isnull[2] ? 0 : values[2];
}

/*
 * Have the sequence skip a range of values as well.  There is one range
 * only, so that it may come to cover more than the values; at most half of
 * all, or the sequence would soon be of no use.
 */
static void
extend_skip_range(SkSequenceColumn *column, int64 low, int64 high)
{
	const SkSequenceOptions *options = sk_binding_get(column->seqid)->options;
	const char *problem;
	SkLabel    *label;

	if (options->has_skip_range)
	{
		low = Min(low, options->skip_range_min);
		high = Max(high, options->skip_range_max);
	}
	if (high - low > options->max_counter / 2)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("values of column \"%s\" of table \"%s\" cannot be passed over",
						column->name, get_rel_name(column->table)),
				 errdetail("Values that sequence \"%s\" would give much later lie between %lld and %lld.",
						   get_rel_name(column->seqid),
						   (long long) low, (long long) high),
				 errhint("Use a sequence of another kind, or of more bits, for this column.")));

	label = sk_label_parse(sk_binding_label(column->seqid), &problem);
	sk_label_set(label, "skip_range_min", psprintf(INT64_FORMAT, low));
	sk_label_set(label, "skip_range_max", psprintf(INT64_FORMAT, high));
	sk_binding_set(column->seqid, sk_label_format(label->kind, label->options));
}
