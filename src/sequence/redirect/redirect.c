/*-------------------------------------------------------------------------
 *
 * redirect.c
 *	  Calls of core's sequence functions on bound sequences.
 *
 * Once the library is loaded, a query that calls nextval, currval, lastval
 * or setval of core is planned with ours in their place, and an identity
 * column draws mapped values.  All sequences are redirected, so that
 * spanner.lastval() knows of every draw; ours do what core's do for a
 * sequence that is not bound.  In a database without bound sequences nothing
 * is redirected.
 *
 * What is not planned as a query does not come here: the defaults that COPY
 * and ALTER TABLE evaluate, which ddl.c has seen to, arguments of CALL and
 * EXECUTE, which redirect_utility.c sees to, and calls from C.
 *
 * A function in SQL that calls one of core's is kept from being inlined.
 * Inlining would bring the call into a query behind our back, whereas the
 * body of a function that is not inlined is planned as a query.
 *
 * src/sequence/redirect/redirect.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/formatting.h"
#include "utils/inval.h"
#include "utils/plancache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/redirect/ascending.h"
#include "sequence/redirect/redirect.h"
#include "sequence/sequence_functions.h"

/* A function of core and what stands for it. */
typedef struct Redirection
{
	Oid			from;
	const char *name;			/* of ours */
	int			nargs;
	Oid			types[3];
	Oid			to;				/* OID of ours, once it is known */
} Redirection;

static Redirection redirections[] = {
	{F_NEXTVAL, "nextval", 1, {REGCLASSOID}, InvalidOid},
	{F_CURRVAL, "currval", 1, {REGCLASSOID}, InvalidOid},
	{F_LASTVAL, "lastval", 0, {InvalidOid}, InvalidOid},
	{F_SETVAL_REGCLASS_INT8, "setval", 2, {REGCLASSOID, INT8OID}, InvalidOid},
	{F_SETVAL_REGCLASS_INT8_BOOL, "setval", 3,
	{REGCLASSOID, INT8OID, BOOLOID}, InvalidOid},
};

/* spanner.map_counter; its argument is a counter, and stays one */
static Oid	map_counter = InvalidOid;

/* Are the OIDs above those of the extension in this database? */
static bool resolved = false;

static planner_hook_type prev_planner_hook = NULL;
static needs_fmgr_hook_type prev_needs_fmgr_hook = NULL;

static PlannedStmt *redirecting_planner(SK_PLANNER_ARGS);
static PlannedStmt *plan_query(SK_PLANNER_ARGS);
static bool must_not_inline(Oid function);
static bool calls_sequence_function(HeapTuple function);
static bool mentions_function(char *expression);
static void forget_functions(Datum arg, int cacheid, uint32 hashvalue);
static bool resolve_functions(void);
static bool redirect_walker(Node *node, void *context);
static void add_default_arguments(FuncExpr *call);
static Node *identity_mutator(Node *node, void *context);
static Node *map_identity(NextValueExpr *identity);

/*
 * sk_redirect_init
 *		Install the planner hook.
 *
 * Plans that the session made before it loaded the library are made again.
 */
void
sk_redirect_init(void)
{
	CacheRegisterSyscacheCallback(PROCOID, forget_functions, (Datum) 0);
	CacheRegisterSyscacheCallback(NAMESPACEOID, forget_functions, (Datum) 0);
	prev_planner_hook = planner_hook;
	planner_hook = redirecting_planner;
	prev_needs_fmgr_hook = needs_fmgr_hook;
	needs_fmgr_hook = must_not_inline;
	ResetPlanCache();
}

/*
 * sk_redirect_expression
 *		Redirect the calls in an expression, in place.
 *
 * For expressions in which there can be no identity column.
 */
void
sk_redirect_expression(Node *expression)
{
	bool		has_identity = false;

	if (sk_bindings_possible && sk_bindings_exist() && resolve_functions())
		(void) redirect_walker(expression, &has_identity);
}

static PlannedStmt *
redirecting_planner(SK_PLANNER_ARGS)
{
	bool		has_identity = false;

	if (!sk_bindings_possible || !sk_bindings_exist() || !resolve_functions())
		return plan_query(SK_PLANNER_PASS);

	(void) redirect_walker((Node *) parse, &has_identity);
	sk_lift_nextval(parse, redirections[0].to);
	if (has_identity)
		parse = query_tree_mutator(parse, identity_mutator, NULL, 0);
	return plan_query(SK_PLANNER_PASS);
}

static PlannedStmt *
plan_query(SK_PLANNER_ARGS)
{
	if (prev_planner_hook)
		return prev_planner_hook(SK_PLANNER_PASS);
	return standard_planner(SK_PLANNER_PASS);
}

/*
 * Asked before a function in SQL is inlined, into a query or into a default
 * that COPY evaluates, and when a function is looked up to be called.  To say
 * yes costs no more than the inlining, so a name in a comment may count as a
 * call.  Catalogs are not scanned here, since the caller may be anywhere.
 */
static bool
must_not_inline(Oid function)
{
	HeapTuple	tuple;
	bool		result = false;

	if (prev_needs_fmgr_hook && prev_needs_fmgr_hook(function))
		return true;
	if (!sk_bindings_possible)
		return false;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return false;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == SQLlanguageId)
		result = calls_sequence_function(tuple);
	ReleaseSysCache(tuple);
	return result;
}

/* Does the body of a function in SQL mention one of core's functions? */
static bool
calls_sequence_function(HeapTuple function)
{
	Datum		body;
	bool		isnull;
	char	   *source;
	bool		result = false;

	/* a body that was parsed at its creation names functions by OID */
	body = SysCacheGetAttr(PROCOID, function, Anum_pg_proc_prosqlbody, &isnull);
	if (!isnull)
		return mentions_function(TextDatumGetCString(body));

	body = SysCacheGetAttr(PROCOID, function, Anum_pg_proc_prosrc, &isnull);
	source = str_tolower(VARDATA_ANY(DatumGetTextPP(body)),
						 VARSIZE_ANY_EXHDR(DatumGetTextPP(body)),
						 C_COLLATION_OID);
	for (int i = 0; i < lengthof(redirections); i++)
		result |= strstr(source, redirections[i].name) != NULL;
	pfree(source);
	return result;
}

/* Does an expression, as catalogs store it, call one of core's functions? */
static bool
mentions_function(char *expression)
{
	bool		result = false;

	for (int i = 0; i < lengthof(redirections); i++)
	{
		char		call[32];

		snprintf(call, sizeof(call), ":funcid %u ", redirections[i].from);
		result |= strstr(expression, call) != NULL;
	}
	pfree(expression);
	return result;
}

static void
forget_functions(Datum arg, int cacheid, uint32 hashvalue)
{
	resolved = false;
}

/* Find our functions.  Returns false if the extension is not installed. */
static bool
resolve_functions(void)
{
	Oid			types[2] = {INT8OID, REGCLASSOID};
	Oid			namespace;

	if (resolved)
		return true;

	namespace = get_namespace_oid(SK_SCHEMA, true);
	if (!OidIsValid(namespace))
		return false;
	for (int i = 0; i < lengthof(redirections); i++)
	{
		Redirection *r = &redirections[i];

		r->to = sk_sequence_function(r->name, namespace, r->nargs, r->types,
									 true);
		if (!OidIsValid(r->to))
			return false;
	}
	map_counter = sk_sequence_function("map_counter", namespace, 2, types,
									   true);
	resolved = OidIsValid(map_counter);
	return resolved;
}

/*
 * Redirect function calls where they stand.  The planner owns the query, and
 * the functions have the same arguments and results.  "context" points to
 * what becomes true if there is work for identity_mutator().
 */
static bool
redirect_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, redirect_walker, context, 0);
	if (IsA(node, NextValueExpr) &&
		sk_binding_get(((NextValueExpr *) node)->seqid)->am != NULL)
		*(bool *) context = true;
	if (IsA(node, FuncExpr))
	{
		FuncExpr   *call = (FuncExpr *) node;

		if (call->funcid == map_counter)
			return false;
		if (call->funcid >= FirstNormalObjectId)
			add_default_arguments(call);
		for (int i = 0; i < lengthof(redirections); i++)
		{
			if (call->funcid == redirections[i].from)
				call->funcid = redirections[i].to;
		}
	}
	return expression_tree_walker(node, redirect_walker, context);
}

/*
 * Arguments that a call leaves out are put in by the planner, too late for
 * us.  So do it now if one of them is drawn.
 */
static void
add_default_arguments(FuncExpr *call)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));
	Datum		defaults;
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", call->funcid);
	defaults = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_proargdefaults,
							   &isnull);
	if (!isnull && mentions_function(TextDatumGetCString(defaults)))
		call->args = expand_function_arguments(call->args, false,
											   call->funcresulttype, tuple);
	ReleaseSysCache(tuple);
}

/*
 * Map what an identity column with a bound sequence draws.  As in core, it
 * needs no right on the sequence.
 */
static Node *
identity_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, identity_mutator,
										   context, 0);
	if (IsA(node, NextValueExpr) &&
		sk_binding_get(((NextValueExpr *) node)->seqid)->am != NULL)
		return map_identity((NextValueExpr *) node);
	return expression_tree_mutator(node, identity_mutator, context);
}

static Node *
map_identity(NextValueExpr *identity)
{
	NextValueExpr *counter = copyObject(identity);
	Const	   *sequence;
	Expr	   *value;

	counter->typeId = INT8OID;
	sequence = makeConst(REGCLASSOID, -1, InvalidOid, sizeof(Oid),
						 ObjectIdGetDatum(identity->seqid), false, true);
	value = (Expr *) makeFuncExpr(map_counter, INT8OID,
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
