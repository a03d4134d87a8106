/*-------------------------------------------------------------------------
 *
 * shard_keys_view.c
 *	  What the view spanner.shard_keys shows of an expression.
 *
 * src/planner/shard_keys_view.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "planner/shard_key.h"

/* The columns of the result. */
typedef enum ResultColumn
{
	RESULT_COLUMN_NUMBER,
	RESULT_SHARDS,
	RESULT_KEYS,
	RESULT_PROBLEM,
	RESULT_KEY_COLUMNS,
	RESULT_TIME_BUCKET,
	RESULT_DERIVABLE,
	RESULT_NULL_COLUMNS,
	RESULT_COUNT
} ResultColumn;

PG_FUNCTION_INFO_V1(spanner_read_shard_key);

static Node *find_key(List *exprs, AttrNumber *attnum);
static bool contains_call(Node *node, void *context);
static bool misses_column(Node *expr, Oid relid, bool *has_virtual);
static Datum list_keys(const SkShardKey *key, Oid relid);
static bool print_key(Node *key, Oid relid, Datum *text);
static Datum list_key_columns(const SkShardKey *key, Oid relid, Interval **bucket);
static Datum list_null_columns(const SkShardKey *key);
static bool read_bucket(Node *key, Interval **bucket);

/*
 * spanner_internal.read_shard_key(expression pg_node_tree, relation oid)
 * returns record
 *
 * Reads an expression of the catalogs: of a generated column, a CHECK
 * constraint, an index or a partition key, the latter two as lists.  Returns
 * the column that a CHECK compares, the shards, the keys as text, and why it is
 * no shard key.  The next two say how add_shard_key() makes the expression, of
 * which columns and with which bucket; NULL if it cannot.  The last two say
 * whether the planner can compute it, and which columns must not be NULL for
 * the shard not to be; NULL if it can be in any case.  All is NULL if it does
 * not look like a shard key, or is not of the relation.
 *
 * Everybody may call this, with any value of that type from the catalogs, and
 * with a relation that has been dropped since they were read.
 */
Datum
spanner_read_shard_key(PG_FUNCTION_ARGS)
{
	Node	   *expr = stringToNode(TextDatumGetCString(PG_GETARG_DATUM(0)));
	Oid			relid = PG_GETARG_OID(1);
	List	   *exprs;
	AttrNumber	attnum = 0;
	Node	   *found;
	bool		has_virtual = false;
	const char *problem = NULL;
	SkShardKey	key = {0};
	TupleDesc	desc;
	Datum		values[RESULT_COUNT] = {0};
	bool		nulls[RESULT_COUNT];
	Interval   *bucket = NULL;

	if (expr == NULL || IsA(expr, PartitionBoundSpec))
		PG_RETURN_NULL();
	exprs = IsA(expr, List) ? (List *) expr : make_ands_implicit((Expr *) expr);
	found = find_key(exprs, &attnum);
	if (found ? get_rel_name(relid) == NULL || misses_column(found, relid, &has_virtual) :
		!contains_call((Node *) exprs, NULL))
		PG_RETURN_NULL();
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	if (!sk_read_key_expression(found, &key, &problem))
		Assert(problem != NULL);
	else if (has_virtual)
		problem = "a key is a virtual generated column";
	if (found)
	{
		values[RESULT_COLUMN_NUMBER] = Int16GetDatum(attnum);
		values[RESULT_SHARDS] = Int32GetDatum(key.shards);
		values[RESULT_KEYS] = list_keys(&key, relid);
	}
	if (problem == NULL)
	{
		values[RESULT_KEY_COLUMNS] = list_key_columns(&key, relid, &bucket);
		if (values[RESULT_KEY_COLUMNS] != 0)
			values[RESULT_TIME_BUCKET] = IntervalPGetDatum(bucket);
		values[RESULT_DERIVABLE] = BoolGetDatum(key.can_derive);
		values[RESULT_NULL_COLUMNS] = list_null_columns(&key);
	}
	else
		values[RESULT_PROBLEM] = CStringGetTextDatum(problem);
	for (int i = 0; i < RESULT_COUNT; i++)
		nulls[i] = values[i] == 0;
	nulls[RESULT_DERIVABLE] = problem != NULL;
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}

static Node *
find_key(List *exprs, AttrNumber *attnum)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		Node	   *expr = lfirst(lc);

		if (sk_is_key_expression(expr) ||
			sk_read_key_check(lfirst(lc), attnum, &expr))
			return expr;
	}
	return NULL;
}

/* Is there a call of shard_id() or farm_fingerprint() somewhere? */
static bool
contains_call(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr))
	{
		char	   *name = get_func_name(((FuncExpr *) node)->funcid);

		if (name && (strcmp(name, "shard_id") == 0 ||
					 strcmp(name, "farm_fingerprint") == 0))
			return true;
	}
	return expression_tree_walker(node, contains_call, context);
}

/*
 * Does an expression use a column that the relation does not have, or a virtual
 * one, which the server replaces in a query by its expression?
 */
static bool
misses_column(Node *expr, Oid relid, bool *has_virtual)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause(expr, 0))
	{
		AttrNumber	attnum = lfirst_node(Var, lc)->varattno;

		if (attnum > 0 && get_attname(relid, attnum, true) == NULL)
			return true;
		*has_virtual |= attnum > 0 && get_attgenerated(relid, attnum) == 'v';
	}
	return false;
}

/*
 * The names of columns, and the text of other keys: NULL if somebody has locked
 * the table, which printing them opens.
 */
static Datum
list_keys(const SkShardKey *key, Oid relid)
{
	List	   *args = sk_hashed_keys(key);
	int			count = list_length(args);
	Datum	   *names = palloc(Max(count, 1) * sizeof(Datum));
	bool	   *nulls = palloc0(Max(count, 1) * sizeof(bool));
	int			lower_bound = 1;
	ListCell   *lc;

	foreach(lc, args)
	{
		Node	   *arg = lfirst(lc);
		int			i = foreach_current_index(lc);

		if (IsA(arg, Var) && ((Var *) arg)->varattno > 0)
			names[i] = CStringGetTextDatum(get_attname(relid, ((Var *) arg)->varattno, false));
		else
			nulls[i] = !print_key(arg, relid, &names[i]);
	}
	return PointerGetDatum(construct_md_array(names, nulls, 1, &count, &lower_bound,
											  TEXTOID, -1, false, TYPALIGN_INT));
}

static bool
print_key(Node *key, Oid relid, Datum *text)
{
	bool		exists;

	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return false;
	exists = SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid));
	if (exists)
		*text = DirectFunctionCall2(pg_get_expr,
									CStringGetTextDatum(nodeToString(key)),
									ObjectIdGetDatum(relid));
	UnlockRelationOid(relid, AccessShareLock);
	return exists;
}

/*
 * The columns of a shard that add_shard_key() can make: each key is one, or all
 * that are times are in the same bucket.  0 for any other shard.
 */
static Datum
list_key_columns(const SkShardKey *key, Oid relid, Interval **bucket)
{
	List	   *args = sk_hashed_keys(key);
	Datum	   *names = palloc(Max(list_length(args), 1) * sizeof(Datum));
	int			plain_times = 0;
	ListCell   *lc;

	if (key->form != SK_SHARD_ID)
		return 0;
	foreach(lc, args)
	{
		Node	   *column = lfirst(lc);
		Oid			type = getBaseType(exprType(column));

		if (sk_is_bucket(column))
		{
			if (!read_bucket(column, bucket))
				return 0;
			column = lsecond(((FuncExpr *) column)->args);
		}
		else if (type == TIMESTAMPOID || type == TIMESTAMPTZOID)
			plain_times++;
		if (!IsA(column, Var) || ((Var *) column)->varattno <= 0)
			return 0;
		names[foreach_current_index(lc)] =
			DirectFunctionCall1(namein, CStringGetDatum(get_attname(relid, ((Var *) column)->varattno, false)));
	}
	if (*bucket != NULL && plain_times > 0)
		return 0;
	return PointerGetDatum(construct_array(names, list_length(args), NAMEOID, NAMEDATALEN, false,
										   TYPALIGN_CHAR));
}

static Datum
list_null_columns(const SkShardKey *key)
{
	Bitmapset  *set;
	Datum	   *list;
	int			count = 0;
	int			column = -1;

	if (!sk_null_columns(key, &set))
		return 0;
	list = palloc((bms_num_members(set) + 1) * sizeof(Datum));
	while ((column = bms_next_member(set, column)) >= 0)
		list[count++] = Int16GetDatum(column);
	return PointerGetDatum(construct_array(list, count, INT2OID, sizeof(int16), true,
										   TYPALIGN_SHORT));
}

/* Is it a bucket as shard_expression() writes them, of the same length as others? */
static bool
read_bucket(Node *key, Interval **bucket)
{
	List	   *args = ((FuncExpr *) key)->args;
	Const	   *stride = linitial_node(Const, args);
	Const	   *origin = lthird_node(Const, args);

	/* at the start of the year 2000, in UTC */
	if (DatumGetTimestamp(origin->constvalue) != 0)
		return false;
	if (*bucket == NULL)
		*bucket = DatumGetIntervalP(stride->constvalue);
	return memcmp(*bucket, DatumGetIntervalP(stride->constvalue), sizeof(Interval)) == 0;
}
