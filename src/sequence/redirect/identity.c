/*-------------------------------------------------------------------------
 *
 * identity.c
 *	  Planner hook: draws that are no function calls.
 *
 * An identity column draws with core's NextValueExpr, which has no support
 * function.  So, once the library is loaded, it is mapped before the query is
 * planned: that of a bound sequence for its value, any other so that
 * spanner.lastval() knows of the draw.  A bound sequence still belongs to an
 * identity column only if its label comes from a restore.
 *
 * src/sequence/redirect/identity.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "utils/fmgroids.h"
#include "utils/plancache.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/extension.h"
#include "sequence/redirect/ascending.h"
#include "sequence/redirect/generated_always.h"
#include "sequence/redirect/identity.h"

static planner_hook_type prev_planner_hook = NULL;

static PlannedStmt *mapping_planner(SK_PLANNER_ARGS);
static bool has_identity(Node *node, void *context);
static Node *identity_mutator(Node *node, void *context);
static Node *map_identity(NextValueExpr *identity);

/*
 * sk_identity_init
 *		Install the planner hook.
 *
 * Plans that the session made before it loaded the library are made again.
 */
void
sk_identity_init(void)
{
	prev_planner_hook = planner_hook;
	planner_hook = mapping_planner;
	sk_generated_always_init();
	ResetPlanCache();
}

static PlannedStmt *
mapping_planner(SK_PLANNER_ARGS)
{
	if (sk_bindings_possible && sk_bindings_exist())
	{
		sk_check_generated_always(parse);
		sk_ascend_inserts(parse);
		if (has_identity((Node *) parse, NULL))
			parse = query_tree_mutator(parse, identity_mutator, NULL, 0);
	}

	if (prev_planner_hook)
		return prev_planner_hook(SK_PLANNER_PASS);
	return standard_planner(SK_PLANNER_PASS);
}

static bool
has_identity(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, NextValueExpr))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_identity, context, 0);
	return expression_tree_walker(node, has_identity, context);
}

static Node *
identity_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, identity_mutator,
										   context, 0);
	if (IsA(node, NextValueExpr))
		return map_identity((NextValueExpr *) node);
	return expression_tree_mutator(node, identity_mutator, context);
}

/* As in core, an identity column needs no right on the sequence. */
static Node *
map_identity(NextValueExpr *identity)
{
	NextValueExpr *counter = copyObject(identity);
	Const	   *sequence;
	Expr	   *value;

	counter->typeId = INT8OID;
	sequence = makeConst(REGCLASSOID, -1, InvalidOid, sizeof(Oid),
						 ObjectIdGetDatum(identity->seqid), false, true);
	value = (Expr *) makeFuncExpr(sk_function(SK_FUNCTION_MAP_COUNTER), INT8OID,
								  list_make2(counter, sequence),
								  InvalidOid, InvalidOid,
								  COERCE_EXPLICIT_CALL);
	if (identity->typeId == INT8OID)
		return (Node *) value;
	return (Node *) makeFuncExpr(identity->typeId == INT4OID ?
								 F_INT4_INT8 : F_INT2_INT8,
								 identity->typeId, list_make1(value),
								 InvalidOid, InvalidOid,
								 COERCE_IMPLICIT_CAST);
}
