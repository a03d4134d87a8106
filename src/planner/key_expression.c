/*-------------------------------------------------------------------------
 *
 * key_expression.c
 *	  Which expressions are keys, and which values they hold for.
 *
 * The rows of a table have passed the expressions of its shard key.  A value
 * of a query has not: no row need have it.  "a + 1" fails for the largest
 * integer, and the query would fail where it has no rows to find.  And the text
 * of a bytea depends on a setting that has changed since the row was stored.
 *
 * So only expressions count that give a result for every value, and always
 * the same one.  Their constants must not make them fail either, as a position
 * of 0 does: no row need have shown it.  Functions that move a moment fail near
 * the first and the last one, so they count for moments between.
 *
 * src/planner/key_expression.c
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
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "keys/time_zone.h"
#include "planner/shard_key.h"
#include "spi/own_objects.h"

/* The value can be any of the arguments. */
#define SK_ALL_ARGUMENTS (-1)

/* What a function fails for, whatever the value. */
typedef enum SkSafety
{
	SK_SAFE,
	SK_DIVIDES,					/* 0 and -1 as the second argument */
	SK_COLLATES,				/* no collation, or not a deterministic one */
	SK_AT_POSITION,				/* the same, and 0 as the third argument */
	SK_OF_LENGTH,				/* less than 0 as the third argument */
	SK_IN_FORMAT,				/* unknown formats, the second argument */
	SK_TO_ZONE,					/* unknown zones, the second argument */
	/* these fail for moments that are not usual as well */
	SK_IN_BUCKET,				/* strides that are long, or not above 0 */
	SK_OF_UNIT,					/* unknown units, the first argument */
	SK_AT_ZONE					/* unknown zones, the first argument */
} SkSafety;

/*
 * A function that takes every value as one of its arguments.  The others must
 * be constants, and such that the function does not fail: the table may have no
 * row that would show that it does.
 */
typedef struct SkSafeFunction
{
	Oid			function;
	int			argument;		/* from 0 */
	SkSafety	safety;
} SkSafeFunction;

static const SkSafeFunction safe_functions[] = {
	{F_BYTEACAT, SK_ALL_ARGUMENTS},
	{F_TEXTCAT, SK_ALL_ARGUMENTS},
	{F_LENGTH_TEXT, 0},
	{F_LOWER_TEXT, 0, SK_COLLATES},
	{F_OCTET_LENGTH_TEXT, 0},
	{F_UPPER_TEXT, 0, SK_COLLATES},
	{F_BTRIM_TEXT, 0},
	{F_LEFT, 0},
	{F_RIGHT, 0},
	{F_SPLIT_PART, 0, SK_AT_POSITION},
	{F_SUBSTR_TEXT_INT4, 0},
	{F_SUBSTR_TEXT_INT4_INT4, 0, SK_OF_LENGTH},
	{F_SUBSTRING_TEXT_INT4, 0},
	{F_SUBSTRING_TEXT_INT4_INT4, 0, SK_OF_LENGTH},
	{F_ENCODE, 0, SK_IN_FORMAT},
	{F_TEXT_BOOL, 0},
	{F_INT4AND, SK_ALL_ARGUMENTS},
	{F_INT8AND, SK_ALL_ARGUMENTS},
	{F_INT4SHR, 0},
	{F_INT8SHR, 0},
	{F_INT2DIV, 0, SK_DIVIDES},
	{F_INT4DIV, 0, SK_DIVIDES},
	{F_INT8DIV, 0, SK_DIVIDES},
	{F_INT24DIV, 0, SK_DIVIDES},
	{F_INT84DIV, 0, SK_DIVIDES},
	{F_INT4MOD, 0, SK_DIVIDES},
	{F_INT8MOD, 0, SK_DIVIDES},
	{F_MOD_INT4_INT4, 0, SK_DIVIDES},
	{F_MOD_INT8_INT8, 0, SK_DIVIDES},
	{F_DATE_TIMESTAMP, 0},
	{F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP, 1, SK_IN_BUCKET},
	{F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ, 1, SK_IN_BUCKET},
	{F_DATE_TRUNC_TEXT_TIMESTAMP, 1, SK_OF_UNIT},
	{F_TIMEZONE_TEXT_TIMESTAMP, 1, SK_AT_ZONE},
	{F_TIMEZONE_TEXT_TIMESTAMPTZ, 1, SK_AT_ZONE},
};

static const char *const formats[] = {"hex", "base64", "escape", NULL};
static const char *const units[] = {
	"microseconds", "milliseconds", "second", "minute", "hour", "day", "week",
	"month", "quarter", "year", "decade", "century", "millennium", NULL
};

/* What may stand around a fingerprint, from outside; the numbers are one. */
#define SK_ABSOLUTE 'a'
#define SK_REMAINDER 'm'
#define SK_SUM '+'
static const char *const known_steps[] = {"", "m", "am", "ma", "ama", "m+m", NULL};

/* What an expression that computes a shard is made of. */
typedef struct SkKeyParts
{
	SkKeyForm	form;
	FuncExpr   *call;			/* of our function */
	Node	   *modulus;		/* or NULL */
	bool		is_absolute;
	bool		is_shifted;		/* mod(mod(h, n) + n, n) */
} SkKeyParts;

static const char *const not_constant = "the number of shards is not a constant";

static bool take_apart(Node *expr, SkKeyParts *parts);
static FuncExpr *as_call(Node *expr);
static Node *skip_casts(Node *expr);
static char step_of(const FuncExpr *call);
static bool is_same_number(Node *left, Node *right);
static bool is_integer_cast(Oid function);
static bool is_constant(Node *node, int64 *value);
static const char *read_parts(const SkKeyParts *parts, SkShardKey *key);
static const char *read_modulus(const SkKeyParts *parts, SkShardKey *key);
static const char *check_keys(const SkShardKey *key);
static FuncExpr *make_call(Oid function, Node *left, Node *right);
static bool can_compute(SkShardKey *key);
static bool null_columns_walker(Node *node, void *context);
static bool runs_untrusted_code(Node *node, void *context);
static bool is_untrusted_function(Oid funcid, void *context);
static bool is_safe_expression(Node *expr, bool *usual_moments);
static bool are_safe(List *exprs, bool *usual_moments);
static bool is_safe_call(const FuncExpr *call, bool *usual_moments);
static bool are_constants_safe(SkSafety safety, List *args, Oid collation);
static bool has_known_collation(List *args, Oid collation);
static char *text_of(Node *constant);
static bool is_one_of(const char *name, const char *const *names);
static bool is_time_zone(const char *name);
static bool is_short_bucket(List *args);
static bool find_argument(Oid function, int *argument, SkSafety *safety);
static bool has_fixed_text(Oid type);

/*
 * sk_is_key_expression
 *		Does an expression compute a shard, whether or not the planner can use it?
 */
bool
sk_is_key_expression(Node *expr)
{
	SkKeyParts	parts;

	return take_apart(expr, &parts);
}

/*
 * sk_read_key_expression
 *		Read such an expression; false, and why, if it makes no shard key.
 *
 * What the planner computes is "key->call".  It is equal to the expression in
 * every row, and does not fail where the expression does.
 */
bool
sk_read_key_expression(Node *expr, SkShardKey *key, const char **problem)
{
	SkKeyParts	parts;

	memset(key, 0, sizeof(SkShardKey));
	if (!take_apart(expr, &parts))
	{
		*problem = "the expression is no known form of spanner.shard_id() or spanner.farm_fingerprint()";
		return false;
	}
	*problem = read_parts(&parts, key);
	if (*problem == NULL)
		*problem = check_keys(key);
	if (*problem != NULL)
		return false;

	/* without the sign of a fingerprint the shards begin at 0 */
	Assert(key->shards >= 0 && key->first <= 0 &&
		   (key->first == 0 || key->shards == 1 - 2 * key->first));
	key->can_derive = can_compute(key);
	return true;
}

/*
 * sk_null_columns
 *		The columns one of which is NULL where the shard is NULL.
 *
 * False if the shard can be NULL without that.  shard_id() takes a NULL.
 */
bool
sk_null_columns(const SkShardKey *key, Bitmapset **columns)
{
	*columns = NULL;
	if (key->form == SK_SHARD_ID)
		return true;
	/* these expressions give a result for every value */
	if (key->can_derive)
		(void) null_columns_walker(linitial(sk_hashed_keys(key)), columns);
	return key->can_derive;
}

/*
 * sk_read_key_check
 *		Does a clause of a CHECK constraint say that a column is a shard?
 */
bool
sk_read_key_check(Node *clause, AttrNumber *attnum, Node **expr)
{
	OpExpr	   *op = (OpExpr *) clause;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2 ||
		get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID) !=
		BTEqualStrategyNumber)
		return false;
	for (int i = 0; i < 2; i++)
	{
		Var		   *column = list_nth(op->args, i);

		*expr = list_nth(op->args, 1 - i);
		if (IsA(column, Var) && column->varattno > 0 && sk_is_key_expression(*expr))
		{
			*attnum = column->varattno;
			return true;
		}
	}
	return false;
}

/*
 * sk_hashed_keys
 *		What the shard is computed from.
 */
List *
sk_hashed_keys(const SkShardKey *key)
{
	FuncExpr   *call = key->call;

	if (key->form == SK_SHARD_ID)
		return list_copy_tail(call->args, 1);
	while (call->funcid == F_ABS_INT8 || call->funcid == F_MOD_INT8_INT8 ||
		   call->funcid == F_INT8PL)
		call = linitial_node(FuncExpr, call->args);
	return list_make1(linitial(call->args));
}

/*
 * Which of our functions an expression consists of, but for casts to integer
 * types.  These keep the number, or fail; so does abs() of a fingerprint.
 */
static bool
take_apart(Node *expr, SkKeyParts *parts)
{
	FuncExpr   *call;
	char		step;
	char		steps[4] = "";
	int			depth = 0;

	memset(parts, 0, sizeof(SkKeyParts));
	while ((call = as_call(skip_casts(expr))) != NULL &&
		   (step = step_of(call)) != '\0')
	{
		if (depth == lengthof(steps) - 1)
			return false;
		steps[depth++] = step;
		if (step != SK_ABSOLUTE)
		{
			if (parts->modulus != NULL &&
				!is_same_number(parts->modulus, lsecond(call->args)))
				return false;
			parts->modulus = lsecond(call->args);
		}
		expr = linitial(call->args);
	}
	parts->call = call;
	parts->is_absolute = strchr(steps, SK_ABSOLUTE) != NULL;
	parts->is_shifted = strcmp(steps, "m+m") == 0;
	if (call == NULL)
		return false;
	if (sk_is_function(call->funcid, SK_FUNCTION_FINGERPRINT_TEXT) ||
		sk_is_function(call->funcid, SK_FUNCTION_FINGERPRINT_BYTES))
	{
		parts->form = SK_FINGERPRINT;
		return is_one_of(steps, known_steps);
	}
	if (depth > 0)
		return false;
	if (sk_is_function(call->funcid, SK_FUNCTION_SHARD_ID))
	{
		parts->form = SK_SHARD_ID;
		return true;
	}
	parts->form = SK_BIT_REVERSE;
	return sk_is_function(call->funcid, SK_FUNCTION_BIT_REVERSE) &&
		IsA(lsecond(call->args), Const) &&
		!((Const *) lsecond(call->args))->constisnull;
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

static Node *
skip_casts(Node *expr)
{
	while (expr && IsA(expr, FuncExpr) &&
		   is_integer_cast(((FuncExpr *) expr)->funcid))
		expr = linitial(((FuncExpr *) expr)->args);
	return expr;
}

/* What a call does to a number that a fingerprint may be below; else '\0'. */
static char
step_of(const FuncExpr *call)
{
	switch (call->funcid)
	{
		case F_ABS_INT8:
		case F_INT8ABS:
		case F_ABS_INT4:
		case F_INT4ABS:
			return SK_ABSOLUTE;
		case F_MOD_INT8_INT8:
		case F_INT8MOD:
		case F_MOD_INT4_INT4:
		case F_INT4MOD:
			return SK_REMAINDER;
		case F_INT8PL:
		case F_INT84PL:
		case F_INT4PL:
			return SK_SUM;
		default:
			return '\0';
	}
}

static bool
is_same_number(Node *left, Node *right)
{
	int64		a;
	int64		b;

	return is_constant(left, &a) && is_constant(right, &b) && a == b;
}

static bool
is_integer_cast(Oid function)
{
	return function == F_INT8_INT4 || function == F_INT8_INT2 ||
		function == F_INT4_INT8 || function == F_INT4_INT2 ||
		function == F_INT2_INT8 || function == F_INT2_INT4;
}

/*
 * Is a number of shards a constant?  A stored expression still has the casts of
 * a constant.  Nothing else is looked through: to evaluate it could run code of
 * the table's owner.
 */
static bool
is_constant(Node *node, int64 *value)
{
	Const	   *number = (Const *) skip_casts(node);

	if (!IsA(number, Const) || number->constisnull)
		return false;
	if (number->consttype == INT2OID)
		*value = DatumGetInt16(number->constvalue);
	else if (number->consttype == INT4OID)
		*value = DatumGetInt32(number->constvalue);
	else if (number->consttype == INT8OID)
		*value = DatumGetInt64(number->constvalue);
	else
		return false;
	return true;
}

/* Returns the problem, or NULL. */
static const char *
read_parts(const SkKeyParts *parts, SkShardKey *key)
{
	int64		n;

	key->form = parts->form;
	key->call = parts->call;
	if (parts->modulus != NULL)
		return read_modulus(parts, key);
	if (parts->form != SK_SHARD_ID)
		return NULL;
	if (parts->call->funcvariadic)
		return "the keys are passed as an array";
	if (!is_constant(linitial(parts->call->args), &n) || n < 1 || n > PG_INT32_MAX)
		return not_constant;
	key->shards = (int32) n;
	return NULL;
}

/*
 * mod() has the sign of the fingerprint.  The fingerprint -2^63 has no absolute
 * value, but its remainder has one.
 */
static const char *
read_modulus(const SkKeyParts *parts, SkShardKey *key)
{
	int64		n;
	Node	   *modulus;

	if (!is_constant(parts->modulus, &n) || n < 1 || n > PG_INT32_MAX / 2)
		return not_constant;
	modulus = (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
								 Int64GetDatum(n), false, FLOAT8PASSBYVAL);
	key->call = make_call(F_MOD_INT8_INT8, (Node *) parts->call, modulus);
	key->shards = (int32) n;
	if (parts->is_shifted)
	{
		key->call = make_call(F_INT8PL, (Node *) key->call, modulus);
		key->call = make_call(F_MOD_INT8_INT8, (Node *) key->call, modulus);
	}
	else if (parts->is_absolute)
		key->call = make_call(F_ABS_INT8, (Node *) key->call, NULL);
	else
	{
		key->first = -(int32) (n - 1);
		key->shards = (int32) (2 * n - 1);
	}
	return NULL;
}

/* A call that gives a bigint, of one or two of them. */
static FuncExpr *
make_call(Oid function, Node *left, Node *right)
{
	return makeFuncExpr(function, INT8OID,
						right ? list_make2(left, right) : list_make1(left),
						InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* Returns the problem, or NULL. */
static const char *
check_keys(const SkShardKey *key)
{
	bool		has_column = false;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, sk_hashed_keys(key))
	{
		Node	   *arg = lfirst(lc);
		Node	   *folded = sk_fold_stored(NULL, arg);

		/* as core does before it asks whether an expression is immutable */
		if (folded != NULL)
			arg = folded;
		if (contain_mutable_functions(arg))
			return "a key is not immutable";
		foreach(lc2, pull_var_clause(arg, 0))
		{
			if (((Var *) lfirst(lc2))->varattno <= 0)
				return "a key is a whole row or a system column";
			has_column = true;
		}
	}
	return has_column ? NULL : "no key is a column";
}

static bool
null_columns_walker(Node *node, void *context)
{
	Bitmapset **columns = context;
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
		*columns = bms_add_member(*columns, ((Var *) node)->varattno);
	if (IsA(node, CoalesceExpr))
	{
		foreach(lc, ((CoalesceExpr *) node)->args)
		{
			if (IsA(lfirst(lc), Const))
				return false;
		}
	}
	return expression_tree_walker(node, null_columns_walker, context);
}

/* May the planner compute the shard of values that a query has? */
static bool
can_compute(SkShardKey *key)
{
	ListCell   *lc;

	foreach(lc, sk_hashed_keys(key))
	{
		Node	   *arg = sk_fold_stored(NULL, lfirst(lc));

		/* shard_id() takes a NULL */
		if (arg == NULL ||
			(!(IsA(arg, Const) && key->form == SK_SHARD_ID) &&
			 !is_safe_expression(arg, &key->usual_moments)))
			return false;
	}
	return true;
}

/*
 * sk_fold_stored
 *		Evaluate what is constant in an expression that the catalogs hold.
 *
 * NULL if that could run code that no superuser has made: who plans a query on
 * a table, or looks at its shard key, need not trust the table's owner.  No
 * expression of the catalogs is evaluated but here.
 */
Node *
sk_fold_stored(PlannerInfo *root, Node *expr)
{
	return runs_untrusted_code(expr, NULL) ? NULL :
		eval_const_expressions(root, expr);
}

/* What could run code in a way that is not listed here is not trusted. */
static bool
runs_untrusted_code(Node *node, void *context)
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
		case T_ScalarArrayOpExpr:
		case T_ArrayExpr:
		case T_BoolExpr:
		case T_NullTest:
		case T_RelabelType:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
		case T_NullIfExpr:
		case T_BooleanTest:
			break;
		case T_CoerceViaIO:
			if (((CoerceViaIO *) node)->resulttype >= FirstNormalObjectId)
				return true;
			break;
		default:
			return true;
	}
	return check_functions_in_node(node, is_untrusted_function, NULL) ||
		expression_tree_walker(node, runs_untrusted_code, context);
}

/*
 * Functions in C are a superuser's.  So are those of our extensions, and the
 * server can put the expression of one in SQL in the place of a call.
 */
static bool
is_untrusted_function(Oid funcid, void *context)
{
	HeapTuple	tuple;
	Form_pg_proc function;
	bool		result;

	if (funcid < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return true;
	function = (Form_pg_proc) GETSTRUCT(tuple);
	result = function->prolang != ClanguageId &&
		(function->prolang != SQLlanguageId ||
		 function->pronamespace != sk_own_schema(SK_INTERNAL_SCHEMA) ||
		 !sk_is_member(ProcedureRelationId, funcid));
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Does an expression give a result for every value of its columns?  It is noted
 * if that holds for usual moments only.
 */
static bool
is_safe_expression(Node *expr, bool *usual_moments)
{
	switch (nodeTag(expr))
	{
		case T_Var:
			return true;
		case T_Const:
			return !((Const *) expr)->constisnull;
		case T_RelabelType:
			return is_safe_expression((Node *) ((RelabelType *) expr)->arg,
									  usual_moments);
		case T_CoerceViaIO:
			{
				CoerceViaIO *coerce = (CoerceViaIO *) expr;

				return (coerce->resulttype == TEXTOID ||
						coerce->resulttype == VARCHAROID) &&
					has_fixed_text(exprType((Node *) coerce->arg)) &&
					is_safe_expression((Node *) coerce->arg, usual_moments);
			}
		case T_CoalesceExpr:
			return are_safe(((CoalesceExpr *) expr)->args, usual_moments);
		case T_FuncExpr:
		case T_OpExpr:
			return is_safe_call(as_call(expr), usual_moments);
		default:
			return false;
	}
}

static bool
are_safe(List *exprs, bool *usual_moments)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		if (!is_safe_expression(lfirst(lc), usual_moments))
			return false;
	}
	return true;
}

static bool
is_safe_call(const FuncExpr *call, bool *usual_moments)
{
	int			argument;
	SkSafety	safety;
	ListCell   *lc;

	if (!find_argument(call->funcid, &argument, &safety) ||
		!are_safe(call->args, usual_moments))
		return false;
	foreach(lc, call->args)
	{
		if (argument != SK_ALL_ARGUMENTS &&
			argument != foreach_current_index(lc) && !IsA(lfirst(lc), Const))
			return false;
	}
	if (safety >= SK_IN_BUCKET)
		*usual_moments = true;
	return are_constants_safe(safety, call->args, call->inputcollid);
}

static bool
are_constants_safe(SkSafety safety, List *args, Oid collation)
{
	int64		number = 0;

	switch (safety)
	{
		case SK_SAFE:
			return true;
		case SK_DIVIDES:
			return is_constant(lsecond(args), &number) &&
				number != 0 && number != -1;
		case SK_COLLATES:
			return has_known_collation(args, collation);
		case SK_AT_POSITION:
			return has_known_collation(args, collation) &&
				is_constant(lthird(args), &number) && number != 0;
		case SK_OF_LENGTH:
			return is_constant(lthird(args), &number) && number >= 0;
		case SK_IN_FORMAT:
			return is_one_of(text_of(lsecond(args)), formats);
		case SK_TO_ZONE:
			return is_time_zone(text_of(lsecond(args)));
		case SK_IN_BUCKET:
			return is_short_bucket(args);
		case SK_OF_UNIT:
			return is_one_of(text_of(linitial(args)), units);
		case SK_AT_ZONE:
			return is_time_zone(text_of(linitial(args)));
	}
	return false;
}

/* Columns of different collations may have none in common. */
static bool
has_known_collation(List *args, Oid collation)
{
	ListCell   *lc;

	if (OidIsValid(collation))
		return get_collation_isdeterministic(collation);
	foreach(lc, args)
	{
		if (type_is_collatable(exprType(lfirst(lc))))
			return false;
	}
	return true;
}

static char *
text_of(Node *constant)
{
	return TextDatumGetCString(castNode(Const, constant)->constvalue);
}

static bool
is_one_of(const char *name, const char *const *names)
{
	while (*names && pg_strcasecmp(name, *names) != 0)
		names++;
	return *names != NULL;
}

/* Offsets are something else to the server, but no error. */
static bool
is_time_zone(const char *name)
{
	pg_tz	   *zone;
	int			offset;

	return sk_parse_time_zone(name, &zone, &offset);
}

/* Does date_bin() with these arguments keep usual moments far from the limits? */
static bool
is_short_bucket(List *args)
{
	Interval   *stride = DatumGetIntervalP(linitial_node(Const, args)->constvalue);

	return stride->month == 0 && stride->day >= 0 && stride->time >= 0 &&
		(stride->day > 0 || stride->time > 0) &&
		stride->day + stride->time / USECS_PER_DAY < SK_MAX_BUCKET_DAYS &&
		sk_is_usual_moment(lthird(args)) &&
		!TIMESTAMP_NOT_FINITE(DatumGetTimestamp(lthird_node(Const, args)->constvalue));
}

/*
 * sk_is_bucket
 *		Is a key nothing but the bucket of time that a column is in?
 */
bool
sk_is_bucket(Node *key)
{
	FuncExpr   *call = (FuncExpr *) key;
	bool		usual_moments;

	return IsA(key, FuncExpr) &&
		(call->funcid == F_DATE_BIN_INTERVAL_TIMESTAMP_TIMESTAMP ||
		 call->funcid == F_DATE_BIN_INTERVAL_TIMESTAMPTZ_TIMESTAMPTZ) &&
		IsA(lsecond(call->args), Var) &&
		is_safe_expression(key, &usual_moments);
}

/*
 * A leakproof function fails for no value, but without a collation.  Those of
 * others could give NULL.
 */
static bool
find_argument(Oid function, int *argument, SkSafety *safety)
{
	for (int i = 0; i < lengthof(safe_functions); i++)
	{
		*argument = safe_functions[i].argument;
		*safety = safe_functions[i].safety;
		if (safe_functions[i].function == function)
			return true;
	}
	*argument = 0;
	*safety = SK_TO_ZONE;
	if (sk_is_function(function, SK_FUNCTION_TIMESTAMP_TO_STRING))
		return true;
	*safety = SK_SAFE;
	if (sk_is_function(function, SK_FUNCTION_STRING_TO_BYTES))
		return true;
	*argument = SK_ALL_ARGUMENTS;
	*safety = SK_COLLATES;
	return get_func_leakproof(function) &&
		(function < FirstNormalObjectId ||
		 sk_is_member(ProcedureRelationId, function));
}

/* Other types have a text that depends on settings. */
static bool
has_fixed_text(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID ||
		type == NUMERICOID || type == TEXTOID || type == VARCHAROID ||
		type == NAMEOID || type == BOOLOID || type == UUIDOID;
}
