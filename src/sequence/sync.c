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

#include "catalog/objectaddress.h"
#include "common/int.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"

#include "compat.h"
#include "sequence/arguments.h"
#include "sequence/column_label.h"
#include "sequence/sequence_change.h"
#include "spi/owner_rights.h"
#include "spi/relation_query.h"

PG_FUNCTION_INFO_V1(spanner_sync_sequence);

/*
 * The counter passes no more than this part of all counters, or 16 counters for
 * each stored value.
 */
#define SK_MAX_ADVANCE 16

/* To need a skip range costs as much as this part of all counters. */
#define SK_SKIP_COST 1024

/* What has the stored values passed over. */
typedef struct SkPassing
{
	int64		last;			/* counter to go on after */
	bool		skips;			/* a skip range is needed as well */
	int64		skip_min;
	int64		skip_max;
} SkPassing;

static void pass_stored_values(SkSequence *seq, List *columns, bool goes_back);
static void find_passing(const SkSequence *seq, List *columns, SkPassing *passing);
static int64 last_counter(const SkSequence *seq, List *columns, int64 limit);
static char *counted_values(const SkSequence *seq, List *columns, List **relids);
static bool may_look(List *columns);
static int64 counter_after(const SkSequence *seq, int64 counter);

/*
 * spanner.sync_sequence(relation regclass, column_name name) returns bigint
 *
 * Has the sequence of a column go on after the values that the table holds,
 * and returns its next counter.  That counter can be lower than before.
 * Values that the sequence would give much later, such as small numbers that
 * were inserted by hand, join the skip range.  Only the owner of the table may
 * do it; it keeps writers out while it reads the table.
 */
Datum
spanner_sync_sequence(PG_FUNCTION_ARGS)
{
	SkSequence *seq;
	List	   *columns;

	PreventCommandIfReadOnly("spanner.sync_sequence()");
	seq = sk_lock_column(fcinfo, false, &columns);
	sk_sequence_check_mappable(seq->seqid);
	pass_stored_values(seq, columns, true);
	PG_RETURN_INT64(seq->next);
}

/*
 * sk_sync_stored
 *		Have a bound sequence never give a stored value again.
 *
 * Its counter is set back only if it may, and then as far as values are stored.
 * Returns false where the values cannot be looked at, or where no column stores
 * them.  The caller has checked that the current user may set the sequence.
 */
bool
sk_sync_stored(Oid seqid, bool goes_back)
{
	List	   *columns = sk_storing_columns(seqid);
	SkOwnerScope scope;
	SkSequence *seq;

	if (columns == NIL || !may_look(columns))
		return false;
	sk_owner_enter(&scope, seqid);
	seq = sk_sequence_lock(seqid, NoLock, false);
	pass_stored_values(seq, columns, goes_back);
	sk_owner_leave(&scope);
	return true;
}

/* Sets seq->next to the next counter. */
static void
pass_stored_values(SkSequence *seq, List *columns, bool goes_back)
{
	SkSequenceChange change = {0};
	SkPassing	passing = {0};

	change.start = SK_START_STAYS;
	/* what others draw meanwhile could lie ahead of the counter that is found */
	Assert(sk_relation_is_locked(seq->seqid, ShareRowExclusiveLock));
	sk_find_nodes(seq);
	passing.last = seq->next - 1;
	if (seq->kind == NULL)
		passing.last = last_counter(seq, columns, seq->last_of_nodes > 0 ?
									SK_CITUS_RANGE - 1 : PG_INT64_MAX);
	else
		find_passing(seq, columns, &passing);
	/* nothing lies ahead: perhaps less has been given than the counter says */
	if (goes_back && seq->kind != NULL && passing.last < seq->next)
		passing.last = last_counter(seq, columns, seq->next - 1);

	change.counter = counter_after(seq, passing.last);
	if (!goes_back)
		change.counter = Max(change.counter, seq->next);
	Assert(goes_back || change.counter >= seq->next);
	change.restarts = change.counter != seq->next;
	if (passing.skips)
	{
		SkLabel		label = {NULL, NIL};

		sk_label_set(&label, "skip_range_min", psprintf(INT64_FORMAT, passing.skip_min));
		sk_label_set(&label, "skip_range_max", psprintf(INT64_FORMAT, passing.skip_max));
		change.options = label.options;
	}
	if (change.restarts || passing.skips)
		sk_change_sequence(seq, &change);
	seq->next = change.counter;
}

/*
 * Of the stored values that lie ahead, some are passed by moving the counter
 * past theirs, the others by a skip range.  Each counter that is left out and
 * each value in the range is lost, so the cheapest way is taken: of rows that
 * the sequence has filled, counters lie side by side; small numbers from
 * elsewhere lie side by side as values.
 *
 * There is one range only.  So it is not taken for what the counter can pass at
 * little cost, and it covers at most half of all values, or the sequence would
 * soon be of no use.  The counters of other nodes of Citus are
 * theirs.
 */
static void
find_passing(const SkSequence *seq, List *columns, SkPassing *passing)
{
	const SkSequenceOptions *options = seq->kind->options;
	int64		skip_min = options->has_skip_range ? options->skip_range_min : PG_INT64_MAX;
	int64		skip_max = options->has_skip_range ? options->skip_range_max : 0;
	int64		others_min = seq->last_of_nodes > 0 ? SK_CITUS_RANGE : PG_INT64_MAX;
	List	   *relids;
	int64		values[4];
	bool		isnull[4];
	char	   *query;

	query = psprintf("WITH ahead AS MATERIALIZED ("
					 "SELECT v, c FROM (%s) counted"
					 " WHERE c OPERATOR(pg_catalog.>=) '" INT64_FORMAT "'"
					 " AND (c OPERATOR(pg_catalog.<=) '" INT64_FORMAT "'"
					 " OR c OPERATOR(pg_catalog.>) '" INT64_FORMAT "')),"
	/* if the counter moves past c, these values have to be skipped */
					 " ways AS ("
					 "SELECT '" INT64_FORMAT "'::pg_catalog.int8 AS c, pg_catalog.min(v) AS low, pg_catalog.max(v) AS high FROM ahead"
					 " UNION ALL "
					 "SELECT c, pg_catalog.min(v) OVER above, pg_catalog.max(v) OVER above FROM ahead"
					 " WINDOW above AS (ORDER BY c DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),"
					 " ranges AS ("
					 "SELECT c, low IS NOT NULL AS skips,"
					 " LEAST(low, '" INT64_FORMAT "') AS low, GREATEST(high, '" INT64_FORMAT "') AS high FROM ways),"
					 " judged AS ("
					 "SELECT *, c OPERATOR(pg_catalog.<=) '" INT64_FORMAT "'"
					 " AND c OPERATOR(pg_catalog.-) '" INT64_FORMAT "' OPERATOR(pg_catalog.<)"
					 " GREATEST('" INT64_FORMAT "', 16 OPERATOR(pg_catalog.*) (SELECT pg_catalog.count(*) FROM ahead))"
					 " AND (NOT skips OR high OPERATOR(pg_catalog.-) GREATEST(low, 1) OPERATOR(pg_catalog.<=) '" INT64_FORMAT "')"
					 " AS good FROM ranges)"
					 " SELECT c, CASE WHEN skips THEN low END, CASE WHEN skips THEN high END, good::pg_catalog.int4::pg_catalog.int8"
					 " FROM judged"
					 " ORDER BY good DESC, c::pg_catalog.float8 OPERATOR(pg_catalog.+)"
					 " CASE WHEN skips AND good"
					 " THEN high::pg_catalog.float8 OPERATOR(pg_catalog.-) low::pg_catalog.float8"
					 " OPERATOR(pg_catalog.+) '" INT64_FORMAT "' ELSE 0 END,"
					 " c LIMIT 1",
					 counted_values(seq, columns, &relids), seq->next,
					 others_min, seq->last_of_nodes, seq->next - 1,
					 skip_min, skip_max, others_min, seq->next,
					 options->max_counter / SK_MAX_ADVANCE, options->max_counter / 2,
					 options->max_counter / SK_SKIP_COST);
	sk_query_row(relids, query, 4, values, isnull);

	passing->last = values[0];
	passing->skips = !isnull[1];
	passing->skip_min = values[1];
	passing->skip_max = values[2];
	if (values[3] == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("values of column \"%s\" of table \"%s\" cannot be passed over",
						get_attname(seq->table, seq->column, false),
						get_rel_name(seq->table)),
				 errdetail("Values that sequence \"%s\" would give much later lie between %lld and %lld.",
						   get_rel_name(seq->seqid),
						   (long long) values[1], (long long) values[2]),
				 errhint("Use a sequence of another kind, or of more bits, for this column.")));
}

/* The last counter, up to a limit, of which the value is stored; or 0. */
static int64
last_counter(const SkSequence *seq, List *columns, int64 limit)
{
	List	   *relids;
	char	   *counted = counted_values(seq, columns, &relids);
	int64		result;
	bool		isnull;

	sk_query_row(relids,
				 psprintf("SELECT pg_catalog.max(c) FROM (%s) counted"
						  " WHERE c OPERATOR(pg_catalog.<=) '" INT64_FORMAT "'",
						  counted, limit),
				 1, &result, &isnull);
	return isnull ? 0 : result;
}

/* A query for the stored values v that are not skipped, and their counters c. */
static char *
counted_values(const SkSequence *seq, List *columns, List **relids)
{
	char	   *result = psprintf("SELECT v, spanner_internal.unmap_value(v, '%u'::pg_catalog.regclass) AS c"
								  " FROM (%s) stored",
								  seq->seqid, sk_stored_values(columns, relids));

	if (seq->kind == NULL || !seq->kind->options->has_skip_range)
		return result;
	return psprintf("%s WHERE v OPERATOR(pg_catalog.<) '" INT64_FORMAT "'"
					" OR v OPERATOR(pg_catalog.>) '" INT64_FORMAT "'", result,
					seq->kind->options->skip_range_min,
					seq->kind->options->skip_range_max);
}

/* May the current user read all values of the columns? */
static bool
may_look(List *columns)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		ObjectAddress *column = lfirst(lc);
		Oid			relid = column->objectId;

		if ((pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
			 pg_attribute_aclcheck(relid, (AttrNumber) column->objectSubId,
								   GetUserId(), ACL_SELECT) != ACLCHECK_OK) ||
			check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
			return false;
	}
	return true;
}

/*
 * The first counter after another that START and INCREMENT lead to.  Servers
 * that share the values of a sequence do so by different ones of them.
 */
static int64
counter_after(const SkSequence *seq, int64 counter)
{
	int64		start = seq->form.seqstart;
	int64		increment = seq->form.seqincrement;
	int64		steps;
	int64		result;

	Assert(increment > 0);
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
