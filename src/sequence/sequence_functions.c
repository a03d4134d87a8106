/*-------------------------------------------------------------------------
 *
 * sequence_functions.c
 *	  Drawing values: spanner.nextval() and what belongs to it.
 *
 * The counter is drawn with core's nextval, which takes care of locks, WAL,
 * caching and crash recovery.  Here the access method maps it, and the next
 * one is drawn where the value falls into the skip range.
 *
 * Whoever may not execute a function of core may not call ours of that name.
 *
 * src/sequence/sequence_functions.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "commands/sequence.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/draw_privilege.h"
#include "sequence/sequence_change.h"
#include "sequence/sequence_functions.h"
#include "spi/owner_rights.h"

/*
 * The sequence that this session drew from last through this file, or what
 * looks like one: see sk_set_last_value().
 */
static SkBinding *last_binding = NULL;
static SkBinding last_handed_out;

PG_FUNCTION_INFO_V1(spanner_nextval);
PG_FUNCTION_INFO_V1(spanner_map_counter);
PG_FUNCTION_INFO_V1(spanner_unmap_value);
PG_FUNCTION_INFO_V1(spanner_currval);
PG_FUNCTION_INFO_V1(spanner_lastval);

static inline int64 counter_value(SkBinding *binding, int64 counter);
static int64 draw_counter(SkBinding *binding, Oid called);
#ifdef USE_ASSERT_CHECKING
static bool is_value_of(const SkBinding *binding, int64 value, int64 counter);
#endif
static int64 draw_again(SkBinding *binding, int64 *counter);
static void keep_last_value(SkBinding *binding, int64 counter);
static bool gave_no_value(const SkBinding *last);
static void report_no_value(SkBinding *binding, int64 counter);
static void report_exhausted(SkBinding *binding);
static SkBinding *call_binding(FunctionCallInfo fcinfo, Oid seqid);
static inline int64 map_counter(SkBinding *binding, int64 counter);

/* The binding of a sequence, remembered from call to call. */
static SkBinding *
call_binding(FunctionCallInfo fcinfo, Oid seqid)
{
	SkBinding  *binding = fcinfo->flinfo->fn_extra;

	if (binding == NULL || binding->seqid != seqid || !binding->valid)
	{
		binding = sk_binding_get(seqid);
		fcinfo->flinfo->fn_extra = binding;
	}
	return binding;
}

/* Map a counter to its value, which lastval then returns. */
static inline int64
map_counter(SkBinding *binding, int64 counter)
{
	int64		value = counter_value(binding, counter);

	last_binding = binding;
	return value;
}

/*
 * spanner.nextval(sequence regclass) returns bigint
 *
 * The value of the next counter.  On a sequence that is not bound, the same
 * as core's nextval.
 */
Datum
spanner_nextval(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	int64		counter = draw_counter(call_binding(fcinfo, seqid),
									   fcinfo->flinfo->fn_oid);

	/* core has locked it to the end of the transaction: no binding changes */
	Assert(sk_relation_is_locked(seqid, RowExclusiveLock));
	PG_RETURN_INT64(map_counter(call_binding(fcinfo, seqid), counter));
}

/*
 * spanner_internal.map_counter(counter bigint, sequence regclass) returns bigint
 *
 * What is left of nextval() in a plan.  Not strict, since it looks at its
 * arguments faster than the executor does.
 */
Datum
spanner_map_counter(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	PG_RETURN_INT64(map_counter(call_binding(fcinfo, PG_GETARG_OID(1)),
								PG_GETARG_INT64(0)));
}

/*
 * sk_draw_value
 *		Draw a value, as spanner.nextval() does.
 */
int64
sk_draw_value(Oid seqid)
{
	int64		counter = draw_counter(sk_binding_get(seqid), InvalidOid);

	Assert(sk_relation_is_locked(seqid, RowExclusiveLock));
	return map_counter(sk_binding_get(seqid), counter);
}

/*
 * sk_set_last_value
 *		Have currval and lastval return a value that was drawn before others.
 *
 * Both compare the counter that was drawn last, from the sequence or from any,
 * so they notice draws that we know nothing of.  That counter stays, and the
 * value is replaced.  A command since the draw may have made us forget which
 * sequence was the last.
 */
void
sk_set_last_value(SkBinding *binding, int64 value)
{
	const SkBinding *last = last_binding != NULL ? last_binding : binding;

	binding->last_value = value;
	last_handed_out.last_counter = last->last_counter;
	last_handed_out.last_value = value;
	last_binding = &last_handed_out;
}

/*
 * sk_forget_last_value
 *		Have lastval return core's counter, until the next draw that we know of.
 *
 * For commands that may draw for an identity column without being planned as
 * a query.
 */
void
sk_forget_last_value(void)
{
	last_binding = NULL;
}

/*
 * spanner.currval(sequence regclass) returns bigint
 *
 * The value that this session drew last from the sequence, even if the
 * binding has changed since.  A counter that core's nextval gave after the
 * last call of spanner.nextval is returned as it is: its caller has got that.
 */
Datum
spanner_currval(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	SkBinding  *binding = call_binding(fcinfo, seqid);
	int64		counter;

	sk_check_execute(F_CURRVAL);
	counter = DatumGetInt64(DirectFunctionCall1(currval_oid,
												ObjectIdGetDatum(seqid)));
	if (binding->last_counter != counter)
		PG_RETURN_INT64(counter);
	if (gave_no_value(binding))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("currval of sequence \"%s\" is not yet defined in this session",
						get_rel_name(seqid))));
	PG_RETURN_INT64(binding->last_value);
}

/*
 * spanner.lastval() returns bigint
 *
 * The value that this session drew last from any sequence.  A counter that
 * core's nextval gave after the last call of spanner.nextval is returned as it is.
 */
Datum
spanner_lastval(PG_FUNCTION_ARGS)
{
	int64		counter;

	sk_check_execute(F_LASTVAL);
	counter = DatumGetInt64(DirectFunctionCall1(lastval, (Datum) 0));
	if (last_binding == NULL || last_binding->last_counter != counter)
		PG_RETURN_INT64(counter);
	if (gave_no_value(last_binding))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("lastval is not yet defined in this session")));
	PG_RETURN_INT64(last_binding->last_value);
}

/*
 * Map a counter that has just been drawn to the value to give out.
 *
 * Draws further counters as long as the value has to be passed over.  Runs for
 * every value.
 */
static inline int64
counter_value(SkBinding *binding, int64 counter)
{
	int64		value = counter;

	if (binding->am != NULL &&
		!(sk_has_value(binding->options, counter) &&
		  binding->am->nextval(binding->options, counter, &value) &&
		  !sk_is_skipped(binding->options, value)))
		value = draw_again(binding, &counter);

	/* different counters have different values, so that no value comes twice */
	Assert(binding->am == NULL || is_value_of(binding, value, counter));
	binding->last_counter = counter;
	binding->last_value = value;
	return value;
}

#ifdef USE_ASSERT_CHECKING
/* Is a value within the range of its bits, and does it lead back to the counter? */
static bool
is_value_of(const SkBinding *binding, int64 value, int64 counter)
{
	int64		back;

	return value >= 1 &&
		value <= (int64) ((UINT64CONST(1) << binding->options->bits) - 2) &&
		binding->am->unmap(binding->options, value, &back) && back == counter;
}
#endif

/* Advance the core sequence and return its counter, if the user may. */
static int64
draw_counter(SkBinding *binding, Oid called)
{
	sk_check_draw_privilege(binding->seqid, called);
	return nextval_internal(binding->seqid, false);
}

/*
 * Go on where a counter has no value, or one to be passed over.
 *
 * Returns the value, and the counter that gives it in *counter.  Raises an
 * error if there are no counters left, or after too many attempts.
 */
static int64
draw_again(SkBinding *binding, int64 *counter)
{
	Oid			seqid = binding->seqid;
	int64		value;

	for (int attempt = 1;; attempt++)
	{
		Assert(binding->seqid == seqid && binding->am != NULL);
		keep_last_value(binding, *counter);
		if (!sk_has_value(binding->options, *counter))
			report_no_value(binding, *counter);
		if (binding->am->nextval(binding->options, *counter, &value) &&
			!sk_is_skipped(binding->options, value))
			return value;
		if (attempt >= SK_MAX_ATTEMPTS)
			report_exhausted(binding);
		CHECK_FOR_INTERRUPTS();
		*counter = draw_counter(binding, InvalidOid);
		binding = sk_binding_get(seqid);
		if (binding->am == NULL)
			return *counter;
	}
}

/* A counter that gives no value leaves currval and lastval where they are. */
static void
keep_last_value(SkBinding *binding, int64 counter)
{
	binding->last_counter = counter;
	last_handed_out.last_value = last_binding != NULL ? last_binding->last_value : 0;
	last_handed_out.last_counter = counter;
	last_binding = &last_handed_out;
}

/* No value is 0 but that of a plain counter of 0. */
static bool
gave_no_value(const SkBinding *last)
{
	return last->last_value == 0 && last->last_counter != 0;
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
	const SkSequenceOptions *options = binding->options;

	ereport(ERROR,
			(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
			 errmsg("Sequence %s is exhausted", get_rel_name(binding->seqid)),
			 options->has_skip_range ?
			 errdetail("%d counters in a row gave values in the skip range %lld to %lld.",
					   SK_MAX_ATTEMPTS, (long long) options->skip_range_min,
					   (long long) options->skip_range_max) :
			 errdetail("Its kind passed over %d counters in a row.",
					   SK_MAX_ATTEMPTS),
			 options->has_skip_range ?
			 errhint("Make the skip range smaller, or use a new sequence with more bits.") :
			 errhint("Use a new sequence with more bits.")));
}

/*
 * spanner_internal.unmap_value(value bigint, sequence regclass) returns bigint
 *
 * The counter that gives a value, whether drawn already or not; NULL if none
 * does.  On a sequence that is not bound, a value is its own counter.
 */
Datum
spanner_unmap_value(PG_FUNCTION_ARGS)
{
	int64		value = PG_GETARG_INT64(0);
	SkBinding  *binding = sk_binding_get(PG_GETARG_OID(1));
	int64		counter;

	if (binding->am == NULL)
		PG_RETURN_INT64(value);
	if (!binding->am->unmap(binding->options, value, &counter))
		PG_RETURN_NULL();
	PG_RETURN_INT64(counter);
}
