/*-------------------------------------------------------------------------
 *
 * counter.c
 *	  From the counter of a core sequence to a value.
 *
 * The counter is drawn with core's nextval, which takes care of locks, WAL,
 * caching and crash recovery.  Here it is mapped by the access method, and
 * drawn again where the value falls into the skip range.
 *
 * src/sequence/counter.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/xlog.h"
#include "catalog/pg_sequence.h"
#include "commands/sequence.h"
#include "common/int.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/counter.h"
#include "sequence/draw_privilege.h"

/*
 * How many counters in a row may be passed over before the sequence counts
 * as exhausted.  This is the limit of the Spanner emulator.
 */
#define SK_MAX_ATTEMPTS 2000

static bool unskipped_value(SkBinding *binding, int64 counter, int64 *value);
static void report_no_value(SkBinding *binding, int64 counter);
static void report_exhausted(SkBinding *binding);

/*
 * sk_counter_draw
 *		Advance the core sequence and return its counter.
 *
 * Checks privileges: see draw_privilege.c.
 */
int64
sk_counter_draw(SkBinding *binding)
{
	sk_check_draw_privilege(binding->seqid, InvalidOid);
	return nextval_internal(binding->seqid, false);
}

/*
 * sk_counter_draw_again
 *		Go on where a counter has no value, or one to be passed over.
 *
 * Returns the value, and the counter that gives it in *counter.  Raises an
 * error if the counter space, or the patience, is exhausted.
 */
int64
sk_counter_draw_again(SkBinding *binding, int64 *counter)
{
	Oid			seqid = binding->seqid;
	int64		value;

	for (int attempt = 1;
		 !unskipped_value(binding, *counter, &value) ||
		 sk_is_skipped(binding->options, value); attempt++)
	{
		if (attempt >= SK_MAX_ATTEMPTS)
			report_exhausted(binding);
		CHECK_FOR_INTERRUPTS();
		*counter = sk_counter_draw(binding);
		binding = sk_binding_get(seqid);
		if (binding->am == NULL)
			return *counter;
	}
	return value;
}

/*
 * Map a counter of a bound sequence, without regard to skip ranges.  Returns
 * false if the access method passes it over.
 */
static bool
unskipped_value(SkBinding *binding, int64 counter, int64 *value)
{
	if (!sk_has_value(binding->options, counter))
		report_no_value(binding, counter);
	return binding->am->nextval(binding->options, counter, value);
}

/*
 * sk_counter_reaches_value
 *		Is there a value before the patience with the skip range ends?
 *
 * Looked at from counter "start" on.
 */
bool
sk_counter_reaches_value(const SequenceAccessMethod *am,
						 const SkSequenceOptions *options, int64 start)
{
	for (int i = 0; i < SK_MAX_ATTEMPTS && start <= options->max_counter - i; i++)
	{
		int64		value;

		if (am->nextval(options, start + i, &value) &&
			!sk_is_skipped(options, value))
			return true;
	}
	return false;
}

/*
 * sk_counter_state
 *		Read the next counter of a sequence, as far as it is known on disk.
 *
 * *used tells whether a counter has been drawn since the sequence was made
 * or restarted.  Counters that sessions hold in their caches count as drawn.
 * Returns false where there is nothing to read, on an unlogged sequence
 * during recovery.  Privileges are the caller's business.
 */
bool
sk_counter_state(Oid seqid, int64 *next, bool *used)
{
	Relation	rel;
	HeapTuple	tuple;
	Buffer		buffer;
	Page		page;
	HeapTupleData row;
	FormData_pg_sequence_data data;
	int64		increment;

	tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(seqid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for sequence %u", seqid);
	increment = ((Form_pg_sequence) GETSTRUCT(tuple))->seqincrement;
	ReleaseSysCache(tuple);

	rel = relation_open(seqid, AccessShareLock);
	if (!RelationIsPermanent(rel) && RecoveryInProgress())
	{
		relation_close(rel, AccessShareLock);
		return false;
	}
	buffer = ReadBuffer(rel, 0);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	row.t_data = (HeapTupleHeader)
		PageGetItem(page, PageGetItemId(page, FirstOffsetNumber));
	data = *(Form_pg_sequence_data) GETSTRUCT(&row);
	UnlockReleaseBuffer(buffer);
	relation_close(rel, AccessShareLock);

	*used = data.is_called;
	*next = data.last_value;
	if (data.is_called &&
		pg_add_s64_overflow(data.last_value, increment, next))
		*next = PG_INT64_MAX;
	return true;
}

static void
report_no_value(SkBinding *binding, int64 counter)
{
	if (counter < 1)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("counter %lld of sequence \"%s\" is not positive",
						(long long) counter, get_rel_name(binding->seqid)),
				 errhint("Restart the sequence with a counter of at least 1.")));
	ereport(ERROR,
			(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
			 errmsg("Sequence %s is exhausted",
					get_rel_name(binding->seqid)),
			 errdetail("The last counter that has a value of %d bits is %lld.",
					   binding->options->bits,
					   (long long) binding->options->max_counter),
			 errhint("Use a new sequence with more bits.")));
}

static void
report_exhausted(SkBinding *binding)
{
	if (!binding->options->has_skip_range)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("Sequence %s is exhausted",
						get_rel_name(binding->seqid)),
				 errdetail("Its access method passed over %d counters in a row.",
						   SK_MAX_ATTEMPTS),
				 errhint("Use a new sequence with more bits.")));
	ereport(ERROR,
			(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
			 errmsg("Sequence %s is exhausted",
					get_rel_name(binding->seqid)),
			 errdetail("%d counters in a row gave values in the skip range %lld to %lld.",
					   SK_MAX_ATTEMPTS,
					   (long long) binding->options->skip_range_min,
					   (long long) binding->options->skip_range_max),
			 errhint("Make the skip range smaller, or use a new sequence with more bits.")));
}
