/*-------------------------------------------------------------------------
 *
 * sequence_functions.c
 *	  Drawing values: spanner.nextval() and what belongs to it.
 *
 * src/sequence/sequence_functions.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "sequence/binding.h"
#include "sequence/counter.h"
#include "sequence/sequence_functions.h"

PG_FUNCTION_INFO_V1(spanner_nextval);
PG_FUNCTION_INFO_V1(spanner_map_counter);
PG_FUNCTION_INFO_V1(spanner_currval);
PG_FUNCTION_INFO_V1(spanner_lastval);
PG_FUNCTION_INFO_V1(spanner_setval);

/*
 * The sequence that this session drew from last through this file, or what
 * looks like one: see sk_set_last_value().
 */
static SkBinding *last_binding = NULL;
static SkBinding last_handed_out;

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
	last_binding = call_binding(fcinfo, seqid);
	return sk_counter_value(last_binding, counter);
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
	int64		counter = sk_counter_draw(call_binding(fcinfo, seqid));

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
	int64		counter = sk_counter_draw(sk_binding_get(seqid));

	last_binding = sk_binding_get(seqid);
	return sk_counter_value(last_binding, counter);
}

/*
 * sk_set_last_value
 *		Have currval and lastval tell a value that was drawn before others.
 *
 * Both go by the counter that was drawn last, from the sequence and from any,
 * so that they notice draws that we know nothing of.  That counter stays, and
 * the value is exchanged.
 */
void
sk_set_last_value(SkBinding *binding, int64 value)
{
	binding->last_value = value;
	last_handed_out.last_counter = last_binding->last_counter;
	last_handed_out.last_value = value;
	last_binding = &last_handed_out;
}

/*
 * sk_forget_last_value
 *		Have lastval tell core's counter, until the next draw that we know of.
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
 * last call of spanner.nextval comes as it is: that is what its caller got.
 */
Datum
spanner_currval(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	SkBinding  *binding = call_binding(fcinfo, seqid);
	int64		counter;

	counter = DatumGetInt64(DirectFunctionCall1(currval_oid,
												ObjectIdGetDatum(seqid)));
	if (binding->last_counter == counter)
		PG_RETURN_INT64(binding->last_value);
	PG_RETURN_INT64(counter);
}

/*
 * spanner.lastval() returns bigint
 *
 * The value that this session drew last from any sequence.  A counter that
 * core's nextval gave after the last call of spanner.nextval comes as it is.
 */
Datum
spanner_lastval(PG_FUNCTION_ARGS)
{
	int64		counter;

	counter = DatumGetInt64(DirectFunctionCall1(lastval, (Datum) 0));
	if (last_binding != NULL && last_binding->last_counter == counter)
		PG_RETURN_INT64(last_binding->last_value);
	PG_RETURN_INT64(counter);
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
