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

#include "common/int.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "sequence/arguments.h"
#include "sequence/column_label.h"
#include "sequence/sequence_change.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_sync_sequence);

/*
 * Stored values are passed by advancing the counter if that uses up no more
 * than this part of all counters.
 */
#define SK_MAX_ADVANCE 16

/* Values that are stored and not passed over. */
typedef struct SkStored
{
	int64		last_near;		/* largest counter that is near, or 0 */
	int64		far_low;		/* range of the values whose counters are */
	int64		far_high;		/* far away, or 0 */
} SkStored;

static void find_stored(const SkSequence *seq, SkStored *stored);
static int64 counter_behind(const SkSequence *seq, int64 counter);
static List *extended_skip_range(const SkSequence *seq, int64 low, int64 high);

/*
 * spanner.sync_sequence(relation regclass, column_name name) returns bigint
 *
 * Has the sequence of a column go on behind the values that the table holds,
 * and returns its next counter.  That counter can be lower than before.
 * Values that the sequence would give much later, such as small numbers that
 * were inserted by hand, join the skip range.  Only the owner of the table may
 * do it; it keeps writers out while it reads the table.
 */
Datum
spanner_sync_sequence(PG_FUNCTION_ARGS)
{
	SkSequenceChange change = {.keeps_start = true};
	SkSequence *seq;
	SkStored	stored;

	PreventCommandIfReadOnly("spanner.sync_sequence()");
	seq = sk_lock_column(fcinfo, false);
	sk_sequence_check_mappable(seq->seqid);
	sk_find_nodes(seq);

	find_stored(seq, &stored);
	if (stored.far_high > 0)
		change.options = extended_skip_range(seq, stored.far_low,
											 stored.far_high);
	change.counter = counter_behind(seq, stored.last_near);
	change.restarts = change.counter != seq->next;
	sk_change_sequence(seq, &change);
	PG_RETURN_INT64(change.counter);
}

/*
 * Look at the values of the sequence that are stored.
 *
 * The counters of other nodes of Citus are theirs.
 */
static void
find_stored(const SkSequence *seq, SkStored *stored)
{
	int64		limit = PG_INT64_MAX;
	int64		last_other = 0;
	int64		values[3];
	bool		isnull[3];
	StringInfoData query;

	if (seq->kind != NULL &&
		pg_add_s64_overflow(seq->next,
							seq->kind->options->max_counter / SK_MAX_ADVANCE,
							&limit))
		limit = PG_INT64_MAX;
	if (seq->last_of_nodes > 0)
	{
		last_other = Max(limit, seq->last_of_nodes);
		limit = SK_CITUS_RANGE;
	}

	initStringInfo(&query);
	appendStringInfo(&query,
					 "SELECT pg_catalog.max(c) FILTER (WHERE c OPERATOR(pg_catalog.<=) " INT64_FORMAT "),"
					 " pg_catalog.min(v) FILTER (WHERE c OPERATOR(pg_catalog.>) " INT64_FORMAT "),"
					 " pg_catalog.max(v) FILTER (WHERE c OPERATOR(pg_catalog.>) " INT64_FORMAT ")"
					 " FROM (SELECT v, spanner.unmap_value(v, %s::pg_catalog.regclass) AS c"
					 " FROM (%s) stored) counted"
					 " WHERE (c OPERATOR(pg_catalog.<=) " INT64_FORMAT
					 " OR c OPERATOR(pg_catalog.>) " INT64_FORMAT ")",
					 limit, limit, limit,
					 quote_literal_cstr(sk_qualified_name(seq->seqid)),
					 sk_stored_values(seq), limit, last_other);
	if (seq->kind != NULL && seq->kind->options->has_skip_range)
		appendStringInfo(&query,
						 " AND NOT (v OPERATOR(pg_catalog.>=) " INT64_FORMAT
						 " AND v OPERATOR(pg_catalog.<=) " INT64_FORMAT ")",
						 seq->kind->options->skip_range_min,
						 seq->kind->options->skip_range_max);
	sk_query_row(seq->table, query.data, 3, values, isnull);

	stored->last_near = isnull[0] ? 0 : values[0];
	stored->far_low = isnull[1] ? 0 : values[1];
	stored->far_high = isnull[2] ? 0 : values[2];
}

/*
 * The first counter behind another that START and INCREMENT lead to.  Servers
 * that share the values of a sequence do so by different ones of them.
 */
static int64
counter_behind(const SkSequence *seq, int64 counter)
{
	int64		start = seq->form.seqstart;
	int64		increment = seq->form.seqincrement;
	int64		steps;
	int64		result;

	if (counter < start)
		return start;
	steps = (counter - start) / increment + 1;
	if (pg_mul_s64_overflow(steps, increment, &result) ||
		pg_add_s64_overflow(result, start, &result))
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("Sequence %s is exhausted", get_rel_name(seq->seqid)),
				 errdetail("A value with counter %lld is stored.",
						   (long long) counter),
				 errhint("Use a new sequence with more bits.")));
	return result;
}

/*
 * A skip range over more values.  There is one range only, so it may cover
 * others as well.  It covers at most half of all values, or the sequence would
 * soon be of no use.
 */
static List *
extended_skip_range(const SkSequence *seq, int64 low, int64 high)
{
	const SkSequenceOptions *options = seq->kind->options;
	SkLabel		label = {NULL, NIL};

	if (options->has_skip_range)
	{
		low = Min(low, options->skip_range_min);
		high = Max(high, options->skip_range_max);
	}
	if (high - Max(low, 1) > options->max_counter / 2)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("values of column \"%s\" of table \"%s\" cannot be passed over",
						get_attname(seq->table, seq->column, false),
						get_rel_name(seq->table)),
				 errdetail("Values that sequence \"%s\" would give much later lie between %lld and %lld.",
						   get_rel_name(seq->seqid),
						   (long long) low, (long long) high),
				 errhint("Use a sequence of another kind, or of more bits, for this column.")));
	sk_label_set(&label, "skip_range_min", psprintf(INT64_FORMAT, low));
	sk_label_set(&label, "skip_range_max", psprintf(INT64_FORMAT, high));
	return label.options;
}
