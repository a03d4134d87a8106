/*-------------------------------------------------------------------------
 *
 * shard_call.c
 *	  Recognizing the expressions that compute a shard.
 *
 * They are calls of shard_id(), and the forms with farm_fingerprint() that
 * Spanner's documents show.
 *
 * src/planner/shard_call.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "planner/shard_call.h"

/* The functions that hash, once they have been seen. */
typedef enum SkHash
{
	SK_SHARD_ID,
	SK_FINGERPRINT,
	SK_HASH_COUNT
} SkHash;

static Oid	known_functions[SK_HASH_COUNT];

static FuncExpr *as_call(Node *expr);
static FuncExpr *fingerprint_of(FuncExpr *call);
static void read_shard_number(FuncExpr *call, SkShardCall *result,
							  const char **problem);
static void read_modulus(FuncExpr *call, FuncExpr *fingerprint,
						 SkShardCall *result, const char **problem);
static bool is_check_of_column(Node *left, Node *right, AttrNumber *attnum,
							   FuncExpr **call);
static bool is_foreign_function(Oid funcid, void *context);
static bool is_ours(Oid funcid, SkHash hash);
static void forget_function(Datum arg, int cacheid, uint32 hashvalue);

/*
 * sk_shard_call_init
 *		Register for invalidations of functions.
 */
void
sk_shard_call_init(void)
{
	CacheRegisterSyscacheCallback(PROCOID, forget_function, (Datum) 0);
}

/*
 * sk_find_shard_call
 *		The call that an expression consists of, or NULL if it computes no shard.
 *
 * That is one of shard_id(), or one of mod() or abs() of a farm_fingerprint(),
 * also written as operators.  The result may be cast to an integer type.
 */
FuncExpr *
sk_find_shard_call(Node *expr)
{
	FuncExpr   *call = as_call(expr);

	if (call == NULL)
		return NULL;
	if (call->funcid == F_INT8_INT4 || call->funcid == F_INT2_INT4 ||
		call->funcid == F_INT4_INT8 || call->funcid == F_INT2_INT8)
		return sk_find_shard_call(linitial(call->args));
	if (is_ours(call->funcid, SK_SHARD_ID))
		return call;
	return fingerprint_of(call) != NULL ? call : NULL;
}

/* A function call, or an operator as one; else NULL. */
static FuncExpr *
as_call(Node *expr)
{
	OpExpr	   *op = (OpExpr *) expr;

	if (expr == NULL || IsA(expr, FuncExpr))
		return (FuncExpr *) expr;
	if (!IsA(expr, OpExpr))
		return NULL;
	return makeFuncExpr(get_opcode(op->opno), op->opresulttype, op->args,
						op->opcollid, op->inputcollid, COERCE_EXPLICIT_CALL);
}

/*
 * The farm_fingerprint() in [abs(]mod(farm_fingerprint(key), n)[)], or NULL.
 */
static FuncExpr *
fingerprint_of(FuncExpr *call)
{
	if (call->funcid == F_ABS_INT8 || call->funcid == F_INT8ABS)
		call = as_call(linitial(call->args));
	if (call == NULL ||
		(call->funcid != F_MOD_INT8_INT8 && call->funcid != F_INT8MOD))
		return NULL;
	call = linitial(call->args);
	return IsA(call, FuncExpr) && is_ours(call->funcid, SK_FINGERPRINT) ?
		call : NULL;
}

/*
 * sk_fingerprint_args
 *		What such a call of mod() or abs() takes the fingerprint of.
 */
List *
sk_fingerprint_args(FuncExpr *call)
{
	return fingerprint_of(call)->args;
}

/*
 * sk_read_shard_call
 *		Read such a call; false, and why, if it makes no shard key.
 */
bool
sk_read_shard_call(FuncExpr *call, SkShardCall *result, const char **problem)
{
	FuncExpr   *fingerprint = fingerprint_of(call);
	bool		has_column = false;
	ListCell   *lc;
	ListCell   *lc2;

	*problem = NULL;
	memset(result, 0, sizeof(SkShardCall));
	result->call = call;
	if (fingerprint != NULL)
		read_modulus(call, fingerprint, result, problem);
	else
		read_shard_number(call, result, problem);

	for_each_from(lc, call->args, result->first_key)
	{
		Node	   *arg = lfirst(lc);

		/* as core does before it asks whether an expression is immutable */
		if (!sk_runs_foreign_code(arg, NULL))
			arg = eval_const_expressions(NULL, arg);
		if (contain_mutable_functions(arg) && *problem == NULL)
			*problem = "a key is not immutable";
		foreach(lc2, pull_var_clause(arg, 0))
		{
			if (((Var *) lfirst(lc2))->varattno > 0)
				has_column = true;
			else if (*problem == NULL)
				*problem = "a key is a whole row or a system column";
		}
	}
	if (!has_column && *problem == NULL)
		*problem = "no key is a column";
	return *problem == NULL;
}

static void
read_shard_number(FuncExpr *call, SkShardCall *result, const char **problem)
{
	Const	   *number = linitial(call->args);

	result->function = call->funcid;
	result->first_key = 1;
	if (call->funcvariadic)
		*problem = "the keys are passed as an array";
	else if (!IsA(number, Const) || number->constisnull)
		*problem = "the number of shards is not a constant";
	else
		result->shards = Max(DatumGetInt32(number->constvalue), 1);
}

/* mod() has the sign of the fingerprint. */
static void
read_modulus(FuncExpr *call, FuncExpr *fingerprint, SkShardCall *result,
			 const char **problem)
{
	FuncExpr   *mod = list_length(call->args) == 1 ?
		as_call(linitial(call->args)) : call;
	Node	   *modulus = eval_const_expressions(NULL, lsecond(mod->args));
	int64		n = 0;

	if (IsA(modulus, Const) && !((Const *) modulus)->constisnull)
		n = DatumGetInt64(((Const *) modulus)->constvalue);
	result->function = fingerprint->funcid;
	if (n < 1 || n > PG_INT32_MAX / 2)
		*problem = "the number of shards is not a constant";
	else if (mod != call)
		result->shards = (int32) n;
	else
	{
		result->first = -(int32) (n - 1);
		result->shards = (int32) (2 * n - 1);
	}
}

/*
 * sk_runs_foreign_code
 *		Can an expression run code that no superuser has made?
 *
 * The planner must not compute it then: the user of a table need not trust the
 * table's owner that far.
 */
bool
sk_runs_foreign_code(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_Var:
		case T_Const:
		case T_FuncExpr:
		case T_OpExpr:
		case T_RelabelType:
			break;
		case T_CoerceViaIO:
			if (((CoerceViaIO *) node)->resulttype >= FirstNormalObjectId)
				return true;
			break;
		default:
			return true;
	}
	return check_functions_in_node(node, is_foreign_function, NULL) ||
		expression_tree_walker(node, sk_runs_foreign_code, context);
}

/*
 * sk_read_shard_check
 *		Does a clause of a CHECK constraint say that a column is a shard id?
 */
bool
sk_read_shard_check(Node *clause, AttrNumber *attnum, FuncExpr **call)
{
	OpExpr	   *op = (OpExpr *) clause;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2 ||
		get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID) !=
		BTEqualStrategyNumber)
		return false;
	return is_check_of_column(linitial(op->args), lsecond(op->args),
							  attnum, call) ||
		is_check_of_column(lsecond(op->args), linitial(op->args),
						   attnum, call);
}

/*
 * sk_may_call
 *		May the current user call a function?  The executor checks that.
 */
bool
sk_may_call(Oid funcid)
{
	return object_aclcheck(ProcedureRelationId, funcid, GetUserId(),
						   ACL_EXECUTE) == ACLCHECK_OK;
}

static bool
is_check_of_column(Node *left, Node *right, AttrNumber *attnum,
				   FuncExpr **call)
{
	Var		   *column = (Var *) left;

	*call = sk_find_shard_call(right);
	if (*call == NULL || !IsA(column, Var) || column->varattno <= 0)
		return false;
	*attnum = column->varattno;
	return true;
}

/* Functions in C are a superuser's. */
static bool
is_foreign_function(Oid funcid, void *context)
{
	HeapTuple	tuple;
	bool		result;

	if (funcid < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return true;
	result = ((Form_pg_proc) GETSTRUCT(tuple))->prolang != ClanguageId;
	ReleaseSysCache(tuple);
	return result;
}

/* Is it this function of ours, and not another one of that name? */
static bool
is_ours(Oid funcid, SkHash hash)
{
	static const char *const names[] = {"shard_id", "farm_fingerprint"};
	HeapTuple	tuple;
	bool		result = false;

	if (funcid == known_functions[hash])
		return true;
	if (funcid < FirstNormalObjectId)
		return false;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(tuple);

		if (strcmp(NameStr(proc->proname), names[hash]) == 0)
		{
			char	   *schema = get_namespace_name(proc->pronamespace);

			result = proc->prolang == ClanguageId &&
				(hash == SK_FINGERPRINT ||
				 (proc->pronargs == 2 &&
				  proc->proargtypes.values[1] == ANYOID)) &&
				schema && strcmp(schema, "spanner") == 0;
		}
		ReleaseSysCache(tuple);
	}
	if (result)
		known_functions[hash] = funcid;
	return result;
}

/*
 * sk_sibling_function
 *		A function of the extension that the user may call; else InvalidOid.
 */
Oid
sk_sibling_function(Oid function, const char *name, int nargs,
					const Oid *argtypes)
{
	char	   *schema = get_namespace_name(get_func_namespace(function));
	Oid			result;

	if (schema == NULL)
		return InvalidOid;
	result = LookupFuncName(list_make2(makeString(schema),
									   makeString(pstrdup(name))),
							nargs, argtypes, true);
	return OidIsValid(result) && sk_may_call(result) ? result : InvalidOid;
}

static void
forget_function(Datum arg, int cacheid, uint32 hashvalue)
{
	memset(known_functions, 0, sizeof(known_functions));
}
