/*-------------------------------------------------------------------------
 *
 * nextval_support.c
 *	  How a call of spanner.nextval() is planned.
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
 * Where the values of an INSERT have to ascend, ascending.c plans it.
 *
 * src/sequence/redirect/nextval_support.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "sequence/binding.h"
#include "sequence/redirect/ascending.h"
#include "sequence/sequence_functions.h"


PG_FUNCTION_INFO_V1(spanner_nextval_support);

static Expr *simplify_nextval(PlannerInfo *root, FuncExpr *call);
static Expr *make_map_call(Const *sequence, Oid namespace);
static Expr *make_identity_call(Const *sequence, Oid namespace);

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
	{
		SupportRequestSimplify *simplify = (SupportRequestSimplify *) request;

		PG_RETURN_POINTER(simplify_nextval(simplify->root, simplify->fcall));
	}
	PG_RETURN_POINTER(NULL);
}

/* Replace a call whose sequence is known. */
static Expr *
simplify_nextval(PlannerInfo *root, FuncExpr *call)
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
	if (binding->am != NULL)
	{
		Expr	   *ascending = sk_ascending_call(root, call);

		if (ascending != NULL)
			return ascending;
	}
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
		makeFuncExpr(sk_sequence_function("map_counter", namespace, 2, types, false),
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
		makeFuncExpr(sk_sequence_function("identity_sequence", namespace, 1, types, false),
					 REGCLASSOID, list_make1(sequence),
					 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	return (Expr *)
		makeFuncExpr(sk_sequence_function("map_identity_counter", namespace, 2, types, false),
					 INT8OID, list_make2(checked, next),
					 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}
