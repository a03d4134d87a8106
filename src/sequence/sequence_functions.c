/*-------------------------------------------------------------------------
 *
 * sequence_functions.c
 *	  Drawing values: spanner.nextval() and what belongs to it.
 *
 * The counter is drawn with core's nextval, which takes care of locks, WAL,
 * caching and crash recovery.  Here the access method maps it, and the next
 * one is drawn where the value falls into the skip range.
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
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "sequence/binding.h"
#include "sequence/draw_privilege.h"
#include "sequence/sequence_functions.h"

/*
 * The sequence that this session drew from last through this file, or what
 * looks like one: see sk_set_last_value().
 */
static SkBinding *last_binding = NULL;
static SkBinding last_handed_out;

PG_FUNCTION_INFO_V1(spanner_nextval);
PG_FUNCTION_INFO_V1(spanner_map_counter);
PG_FUNCTION_INFO_V1(spanner_currval);
PG_FUNCTION_INFO_V1(spanner_lastval);
PG_FUNCTION_INFO_V1(spanner_setval);

static inline int64 counter_value(SkBinding *binding, int64 counter);
static int64 draw_counter(SkBinding *binding);
static int64 draw_again(SkBinding *binding, int64 *counter);
static bool unskipped_value(SkBinding *binding, int64 counter, int64 *value);
static void keep_last_value(SkBinding *binding, int64 counter);
static bool gave_no_value(const SkBinding *last);
static void report_no_value(SkBinding *binding, int64 counter);
static void report_exhausted(SkBinding *binding);
static SkBinding *call_binding(FunctionCallInfo fcinfo, Oid seqid);
static int64 map_drawn_counter(FunctionCallInfo fcinfo, Oid seqid,
							   int64 counter);

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

static int64
map_drawn_counter(FunctionCallInfo fcinfo, Oid seqid, int64 counter)
{
	SkBinding  *binding = call_binding(fcinfo, seqid);
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
	int64		counter = draw_counter(call_binding(fcinfo, seqid));

	PG_RETURN_INT64(map_drawn_counter(fcinfo, seqid, counter));
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
	PG_RETURN_INT64(map_drawn_counter(fcinfo, PG_GETARG_OID(1),
									  PG_GETARG_INT64(0)));
}

/*
 * sk_draw_value
 *		Draw a value, as spanner.nextval() does.
 */
int64
sk_draw_value(Oid seqid)
{
	int64		counter = draw_counter(sk_binding_get(seqid));
	SkBinding  *binding = sk_binding_get(seqid);
	int64		value = counter_value(binding, counter);

	last_binding = binding;
	return value;
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
 * spanner.setval(sequence regclass, value bigint [, is_called boolean])
 * returns bigint
 *
 * As core's setval, but leaves a bound sequence alone: what applications
 * pass is a value, most often the largest stored one, and the counter would
 * be set to nonsense.  Returns the value like core.  A restore passes a
 * counter, and sets it.
 */
Datum
spanner_setval(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);

	if (sk_restoring() || call_binding(fcinfo, seqid)->am == NULL)
	{
		if (PG_NARGS() == 2)
			return DirectFunctionCall2(setval_oid, PG_GETARG_DATUM(0),
									   PG_GETARG_DATUM(1));
		return DirectFunctionCall3(setval3_oid, PG_GETARG_DATUM(0),
								   PG_GETARG_DATUM(1), PG_GETARG_DATUM(2));
	}

	if (pg_class_aclcheck(seqid, GetUserId(), ACL_UPDATE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SEQUENCE, get_rel_name(seqid));
	if (get_rel_persistence(seqid) != RELPERSISTENCE_TEMP)
		PreventCommandIfReadOnly("setval()");
	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg("setval leaves the counter of sequence \"%s\" alone",
					get_rel_name(seqid)),
			 errdetail("Its values do not ascend, so the largest one says nothing about the next."),
			 errhint("Use spanner.sync_sequence() to pass over stored values, or spanner.alter_sequence() to restart the counter.")));
	PG_RETURN_DATUM(PG_GETARG_DATUM(1));
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

	binding->last_counter = counter;
	binding->last_value = value;
	return value;
}

/* Advance the core sequence and return its counter, if the user may. */
static int64
draw_counter(SkBinding *binding)
{
	sk_check_draw_privilege(binding->seqid, InvalidOid);
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
		keep_last_value(binding, *counter);
		if (unskipped_value(binding, *counter, &value) &&
			!sk_is_skipped(binding->options, value))
			return value;
		if (attempt >= SK_MAX_ATTEMPTS)
			report_exhausted(binding);
		CHECK_FOR_INTERRUPTS();
		*counter = draw_counter(binding);
		binding = sk_binding_get(seqid);
		if (binding->am == NULL)
			return *counter;
	}
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
