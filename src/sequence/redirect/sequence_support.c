/*-------------------------------------------------------------------------
 *
 * sequence_support.c
 *	  How calls of sequence functions are planned.
 *
 * While the database has the extension, a call of nextval('s') is planned as
 *
 *		CASE WHEN spanner_internal.may_draw('s', 'nextval')
 *				  IS NOT DISTINCT FROM NULL
 *			 THEN spanner_internal.map_counter(next value of s, 's') END
 *
 * The next value is core's NextValueExpr, which checks no privilege.  It makes
 * the expression volatile in every test of the planner and of ALTER TABLE,
 * and is at the same time the one volatile thing that COPY admits in its fast
 * path.  What stands around it is STABLE for that reason.  No call is left in
 * it, so that nothing happens when it is simplified again.
 *
 * The sequence stays in the expression as a constant.  It is what makes a
 * cached plan depend on the sequence, and so on its binding.
 *
 * All sequences are planned so, bound or not.  A statement that is under way,
 * or waits for a lock, when a sequence gets its kind must not go on with plain
 * counters; and spanner.lastval() has to know of every draw.  Where the values
 * of an INSERT have to ascend, ascending.c has them drawn.
 *
 * A sequence that is known at run time only, and the other functions, are left
 * to our function of the same name:
 *
 *		CASE WHEN spanner_internal.may_call('currval') THEN spanner.currval(...) END
 *
 * src/sequence/redirect/sequence_support.c
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
#include "sequence/draw_privilege.h"
#include "sequence/extension.h"
#include "sequence/redirect/ascending.h"

PG_FUNCTION_INFO_V1(spanner_sequence_support);

static Expr *plan_call(PlannerInfo *root, FuncExpr *call);
static Expr *plan_draw(PlannerInfo *root, FuncExpr *call);
static Expr *plan_ours(FuncExpr *call, SkFunction function);
static bool is_constant_sequence(Node *argument);

/*
 * spanner_internal.sequence_support(internal) returns internal
 *
 * Planner support function of spanner.nextval() and of core's nextval,
 * currval, lastval and setval.
 */
Datum
spanner_sequence_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
	{
		SupportRequestSimplify *simplify = (SupportRequestSimplify *) request;

		PG_RETURN_POINTER(plan_call(simplify->root, simplify->fcall));
	}
	PG_RETURN_POINTER(NULL);
}

/* Returns NULL for a call that stays as it is. */
static Expr *
plan_call(PlannerInfo *root, FuncExpr *call)
{
	switch (call->funcid)
	{
		case F_CURRVAL:
			return plan_ours(call, SK_FUNCTION_CURRVAL);
		case F_LASTVAL:
			return plan_ours(call, SK_FUNCTION_LASTVAL);
		case F_SETVAL_REGCLASS_INT8:
			return plan_ours(call, SK_FUNCTION_SETVAL);
		case F_SETVAL_REGCLASS_INT8_BOOL:
			return plan_ours(call, SK_FUNCTION_SETVAL_CALLED);
		default:
			if (is_constant_sequence(linitial(call->args)))
				return plan_draw(root, call);
			if (call->funcid == F_NEXTVAL)
				return plan_ours(call, SK_FUNCTION_NEXTVAL);
			return NULL;
	}
}

/* A call of nextval, of core or of ours. */
static Expr *
plan_draw(PlannerInfo *root, FuncExpr *call)
{
	Const	   *sequence = linitial(call->args);
	Oid			seqid = DatumGetObjectId(sequence->constvalue);
	NextValueExpr *next;

	if (sk_binding_get(seqid)->am != NULL)
	{
		AttrNumber	column;
		int			rows = sk_ascending_rows(root);

		if (rows > 0)
			return sk_ascending_draw(call, rows);
		rows = sk_values_rows(root, sequence, &column);
		if (rows > 0)
		{
			sk_lift_draw(root->parse, column,
						 sk_ascending_draw(call, rows));
			return (Expr *) makeNullConst(INT8OID, -1, InvalidOid);
		}
	}

	next = makeNode(NextValueExpr);
	next->seqid = seqid;
	next->typeId = INT8OID;
	return sk_guard_draw(call, sk_make_call(SK_FUNCTION_MAP_COUNTER, INT8OID,
											list_make2(next, copyObject(sequence))));
}

/* A function of ours in the place of one of core. */
static Expr *
plan_ours(FuncExpr *call, SkFunction function)
{
	return sk_make_guarded(SK_FUNCTION_MAY_CALL,
						   list_make1(sk_make_oid(REGPROCEDUREOID, call->funcid)),
						   sk_make_call(function, INT8OID, call->args));
}

/* Anything but a sequence is left to the function, which reports it. */
static bool
is_constant_sequence(Node *argument)
{
	Const	   *sequence = (Const *) argument;

	return IsA(argument, Const) && !sequence->constisnull &&
		get_rel_relkind(DatumGetObjectId(sequence->constvalue)) == RELKIND_SEQUENCE;
}
