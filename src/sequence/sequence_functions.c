/*-------------------------------------------------------------------------
 *
 * sequence_functions.c
 *	  Drawing values: spanner.nextval() and what belongs to it.
 *
 * spanner.nextval('s') is planned as
 *
 *		spanner.map_counter(nextval('s'), 's')
 *
 * where nextval is core's.  It is core's node that makes the expression
 * volatile in every test of the planner and of ALTER TABLE, and at the same
 * time the one volatile function that COPY admits in its fast path.  For the
 * sequence of an identity column the inner node is core's NextValueExpr,
 * behind a check of privileges that is ours:
 *
 *		spanner.map_identity_counter(spanner.identity_sequence('s'), ...)
 *
 * src/sequence/sequence_functions.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "sequence/binding.h"
#include "sequence/counter.h"
#include "sequence/sequence_functions.h"

PG_FUNCTION_INFO_V1(spanner_nextval);
PG_FUNCTION_INFO_V1(spanner_nextval_support);
PG_FUNCTION_INFO_V1(spanner_map_counter);
PG_FUNCTION_INFO_V1(spanner_map_identity_counter);
PG_FUNCTION_INFO_V1(spanner_identity_sequence);
PG_FUNCTION_INFO_V1(spanner_currval);
PG_FUNCTION_INFO_V1(spanner_lastval);

/* The sequence that this session drew from last through this file. */
static SkBinding *last_binding = NULL;

static SkBinding *call_binding(FunctionCallInfo fcinfo, Oid seqid);
static int64 map_drawn_counter(FunctionCallInfo fcinfo, Oid seqid,
							   int64 counter);
static Expr *simplify_nextval(FuncExpr *call);
static Expr *make_map_call(Const *sequence, Oid namespace);
static Expr *make_identity_call(Const *sequence, Oid namespace);

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
 * spanner.nextval(seq regclass) returns bigint
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
 * spanner.map_counter(counter bigint, seq regclass) returns bigint
 *
 * What is left of spanner.nextval() in a plan.
 */
Datum
spanner_map_counter(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(map_drawn_counter(fcinfo, PG_GETARG_OID(1),
									  PG_GETARG_INT64(0)));
}

/*
 * spanner.map_identity_counter(seq regclass, counter bigint)
 * returns bigint
 *
 * The same for the sequence of an identity column.
 */
Datum
spanner_map_identity_counter(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(map_drawn_counter(fcinfo, PG_GETARG_OID(0),
									  PG_GETARG_INT64(1)));
}

/*
 * spanner.identity_sequence(seq regclass) returns regclass
 *
 * Returns its argument, after a check that the current user may draw from
 * the sequence.
 */
Datum
spanner_identity_sequence(PG_FUNCTION_ARGS)
{
	sk_check_identity_privilege(PG_GETARG_OID(0));
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/*
 * spanner.nextval_support(internal) returns internal
 *
 * Planner support function of spanner.nextval().
 */
Datum
spanner_nextval_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
		PG_RETURN_POINTER(simplify_nextval(((SupportRequestSimplify *) request)->fcall));
	PG_RETURN_POINTER(NULL);
}

/* Replace a call whose sequence is known. */
static Expr *
simplify_nextval(FuncExpr *call)
{
	Const	   *sequence = linitial(call->args);
	Oid			namespace = get_func_namespace(call->funcid);
	Oid			seqid;
	SkBinding  *binding;

	if (!IsA(sequence, Const) || sequence->constisnull)
		return NULL;
	seqid = DatumGetObjectId(sequence->constvalue);
	if (get_rel_relkind(seqid) != RELKIND_SEQUENCE)
		return NULL;

	binding = sk_binding_get(seqid);
	if (binding->am != NULL && binding->options->identity != SK_IDENTITY_NONE)
		return make_identity_call(sequence, namespace);
	return make_map_call(sequence, namespace);
}

/* spanner.map_counter(nextval('s'), 's') */
static Expr *
make_map_call(Const *sequence, Oid namespace)
{
	Oid			types[2] = {INT8OID, REGCLASSOID};
	Expr	   *counter;

	counter = (Expr *) makeFuncExpr(F_NEXTVAL, INT8OID, list_make1(sequence),
									InvalidOid, InvalidOid,
									COERCE_EXPLICIT_CALL);
	return (Expr *)
		makeFuncExpr(sk_sequence_function("map_counter", namespace, 2, types),
					 INT8OID, list_make2(counter, copyObject(sequence)),
					 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/*
 * spanner.map_identity_counter(spanner.identity_sequence('s'), next value)
 *
 * The executor evaluates arguments from left to right, so nothing is drawn
 * for a user who may not.
 */
static Expr *
make_identity_call(Const *sequence, Oid namespace)
{
	Oid			types[2] = {REGCLASSOID, INT8OID};
	NextValueExpr *next = makeNode(NextValueExpr);
	Expr	   *checked;

	next->seqid = DatumGetObjectId(sequence->constvalue);
	next->typeId = INT8OID;
	checked = (Expr *)
		makeFuncExpr(sk_sequence_function("identity_sequence", namespace, 1, types),
					 REGCLASSOID, list_make1(sequence),
					 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	return (Expr *)
		makeFuncExpr(sk_sequence_function("map_identity_counter", namespace, 2, types),
					 INT8OID, list_make2(checked, next),
					 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/*
 * sk_sequence_function
 *		Find a function of the extension in its schema.
 *
 * Rights do not matter: the caller's expression was let in already.
 */
Oid
sk_sequence_function(const char *name, Oid namespace, int nargs,
					 const Oid *types)
{
	oidvector  *arguments = buildoidvector(types, nargs);
	Oid			result;

	result = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
							 CStringGetDatum(name),
							 PointerGetDatum(arguments),
							 ObjectIdGetDatum(namespace));
	if (!OidIsValid(result))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function \"%s\" of the extension is missing", name),
				 errhint("Run ALTER EXTENSION spanner_keys UPDATE.")));
	return result;
}

/*
 * spanner.currval(seq regclass) returns bigint
 *
 * The value that this session drew last from the sequence.
 */
Datum
spanner_currval(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	int64		counter;
	SkBinding  *binding;
	int64		value;

	counter = DatumGetInt64(DirectFunctionCall1(currval_oid,
												ObjectIdGetDatum(seqid)));
	binding = call_binding(fcinfo, seqid);

	/* what was given out stays, even if the binding has changed since */
	if (binding->last_counter == counter)
		PG_RETURN_INT64(binding->last_value);
	if (binding->am == NULL ||
		!sk_counter_unskipped_value(binding, counter, &value))
		PG_RETURN_INT64(counter);
	PG_RETURN_INT64(value);
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
