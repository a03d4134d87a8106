/*-------------------------------------------------------------------------
 *
 * shard_clause.c
 *	  Conditions on the shard, and what may be an index condition beside them.
 *
 * A condition on the shard that is added to a query takes no row away.  It has
 * a mark (spi/tree_marks.h), by which others do not count or check it.
 *
 * A B-tree of release 17 can forget a condition, such as "a = 1" in
 *
 *		shard = 3 AND (a, b) < (5, 6) AND a = 1
 *
 * When it goes on to a page, it checks the last row there.  If that is not past
 * the end, it takes the conditions that bound the scan for granted on the whole
 * page.  A row comparison that is NULL, as (5, NULL) < (5, 6) is, ends that
 * check before it comes to the next condition on the same column.  This happens
 * only with a condition on every column before.  A query may lack the one on
 * the shard; we add it.  Nothing is lost if the row comparison is left to the
 * filter.
 *
 * The same shortcut takes "a > 5" for granted on a page whose last row has a
 * NULL there, where NULLs come before the range.  A scan comes to such a page
 * only if an array of shards makes it go on from one shard to the next.  So
 * beside an array, ranges over columns that can be NULL are left to the filter.
 *
 * src/planner/shard_clause.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/sysattr.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "planner/shard_clause.h"
#include "spi/own_objects.h"
#include "spi/tree_marks.h"

static bool null_range_walker(Node *node, void *context);
static bool shares_column(const RelOptInfo *rel, const RestrictInfo *rinfo,
						  List *clauses);
static bool contains_row_comparison(Node *node, void *context);

/*
 * sk_make_clause
 *		An expression that holds, and its security level.
 */
SkClause *
sk_make_clause(Expr *expr, Index level)
{
	SkClause   *result = palloc(sizeof(SkClause));

	result->expr = expr;
	result->level = level;
	return result;
}

/*
 * sk_make_clauses
 *		The same of several, which may be RestrictInfos with levels of their own.
 *
 * Conditions that need no row are left out.
 */
List *
sk_make_clauses(List *clauses, Index level)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst(lc);

		if (!IsA(rinfo, RestrictInfo))
			result = lappend(result, sk_make_clause((Expr *) rinfo, level));
		else if (!rinfo->pseudoconstant)
			result = lappend(result, sk_make_clause(rinfo->clause, rinfo->security_level));
	}
	return result;
}

/*
 * sk_mentions
 *		Does an expression have a column of a relation?
 */
bool
sk_mentions(Node *expr, Index relid, AttrNumber attnum)
{
	Bitmapset  *attnums = NULL;

	pull_varattnos(expr, relid, &attnums);
	return bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber, attnums);
}

/*
 * sk_shard_is
 *		The condition that the shard is a value.
 */
Expr *
sk_shard_is(const SkShardKey *key, Expr *value)
{
	Oid			operator = get_opfamily_member(INTEGER_BTREE_FAM_OID,
											   exprType((Node *) key->shard),
											   exprType((Node *) value),
											   BTEqualStrategyNumber);
	OpExpr	   *result = (OpExpr *)
		make_opclause(operator, BOOLOID, false,
					  copyObject(key->shard), value, InvalidOid, InvalidOid);

	Assert(OidIsValid(operator));
	set_opfuncid(result);
	return (Expr *) result;
}

/*
 * sk_shard_in
 *		The condition that the shard is one of a list.
 */
Expr *
sk_shard_in(const SkShardKey *key, Expr *list)
{
	ScalarArrayOpExpr *result = makeNode(ScalarArrayOpExpr);
	Oid			type = get_element_type(exprType((Node *) list));

	result->opno = get_opfamily_member(INTEGER_BTREE_FAM_OID,
									   exprType((Node *) key->shard), type,
									   BTEqualStrategyNumber);
	Assert(OidIsValid(result->opno));
	result->opfuncid = get_opcode(result->opno);
	result->useOr = true;
	result->args = list_make2(copyObject(key->shard), list);
	result->location = -1;
	return (Expr *) result;
}

/*
 * sk_shard_array
 *		A list of shards as an array.
 */
ArrayExpr *
sk_shard_array(List *shards)
{
	ArrayExpr  *result = makeNode(ArrayExpr);

	result->element_typeid = exprType(linitial(shards));
	result->array_typeid = get_array_type(result->element_typeid);
	result->elements = shards;
	result->location = -1;
	return result;
}

/*
 * sk_all_shards
 *		All shards, as a constant of type integer[], or as a call of all_shards(),
 *		which is short to read in EXPLAIN.
 */
Expr *
sk_all_shards(const SkShardKey *key, bool as_call)
{
	Oid			function = InvalidOid;
	Datum	   *list;

	if (as_call && key->form == SK_SHARD_ID)
		function = sk_callable_function(SK_FUNCTION_ALL_SHARDS);
	if (OidIsValid(function))
		return (Expr *) makeFuncExpr(function, INT4ARRAYOID,
									 list_make1(linitial(key->call->args)),
									 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);

	Assert(key->shards >= 1);
	list = palloc(key->shards * sizeof(Datum));
	for (int32 i = 0; i < key->shards; i++)
		list[i] = Int32GetDatum(key->first + i);
	return (Expr *) makeConst(INT4ARRAYOID, -1, InvalidOid, -1,
							  PointerGetDatum(construct_array(list, key->shards, INT4OID,
															  sizeof(int32), true,
															  TYPALIGN_INT)),
							  false, false);
}

/*
 * sk_has_shard_condition
 *		Does a list of RestrictInfos already fix the shard, or list shards?
 */
bool
sk_has_shard_condition(const SkShardKey *key, List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Expr	   *clause = lfirst_node(RestrictInfo, lc)->clause;
		List	   *args;
		Oid			operator;

		if (IsA(clause, OpExpr))
		{
			args = ((OpExpr *) clause)->args;
			operator = ((OpExpr *) clause)->opno;
		}
		else if (IsA(clause, ScalarArrayOpExpr))
		{
			args = ((ScalarArrayOpExpr *) clause)->args;
			operator = ((ScalarArrayOpExpr *) clause)->opno;
		}
		else
			continue;
		if (list_length(args) == 2 &&
			get_op_opfamily_strategy(operator, INTEGER_BTREE_FAM_OID) ==
			BTEqualStrategyNumber &&
			(equal(linitial(args), key->shard) ||
			 equal(lsecond(args), key->shard)))
			return true;
	}
	return false;
}

/*
 * sk_make_shard_clause
 *		Make a RestrictInfo of an implied condition.
 *
 * It takes away no row that other clauses leave, and so must not lower an
 * estimate.
 */
RestrictInfo *
sk_make_shard_clause(PlannerInfo *root, Expr *condition, Index security_level)
{
	RestrictInfo *rinfo = sk_make_scan_clause(root, condition, security_level);

	/* whoever may not see its sources must not see it */
	Assert(security_level <= root->qual_security_level);
	rinfo->norm_selec = SK_REDUNDANT_SELECTIVITY;
	rinfo->outer_selec = SK_REDUNDANT_SELECTIVITY;
	return rinfo;
}

/*
 * sk_without_added
 *		Those of some RestrictInfos that are the query's own.
 */
List *
sk_without_added(List *clauses)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (!sk_is_added(lfirst_node(RestrictInfo, lc)->clause))
			result = lappend(result, lfirst(lc));
	}
	return result;
}

/*
 * sk_index_restrictions
 *		The restrictions of a relation, wrapped where an index must not get them.
 *
 * "clauses" are all that may become index conditions, except those of joins.
 * The wrapping is an AND with one arm: it is no index condition, and still
 * tells which columns are needed.  "with_array" says that the condition on the
 * shard is an array.
 */
List *
sk_index_restrictions(RelOptInfo *rel, List *clauses, bool with_array)
{
	List	   *result = NIL;
	ListCell   *lc;

	if (!SK_BTREE_LOSES_CONDITIONS)
		return clauses;
	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (shares_column(rel, rinfo, clauses) ||
			(with_array && null_range_walker((Node *) rinfo, rel)))
		{
			RestrictInfo *wrapped = makeNode(RestrictInfo);

			*wrapped = *rinfo;
			wrapped->clause = make_andclause(list_make1(rinfo->clause));
			rinfo = wrapped;
		}
		result = lappend(result, rinfo);
	}
	return result;
}

/*
 * sk_loses_condition
 *		Can a B-tree lose a condition because of something in an expression?
 *
 * Because of a row comparison; with "rel", also because of a range over one of
 * its columns that can be NULL, which matters beside an array.
 */
bool
sk_loses_condition(Node *node, RelOptInfo *rel)
{
	return SK_BTREE_LOSES_CONDITIONS &&
		(contains_row_comparison(node, NULL) ||
		 (rel && null_range_walker(node, rel)));
}

/*
 * sk_has_array
 *		Is one of the conditions an array of values?
 */
bool
sk_has_array(List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (IsA(lfirst_node(RestrictInfo, lc)->clause, ScalarArrayOpExpr))
			return true;
	}
	return false;
}

/*
 * sk_fixes_column
 *		Does a clause say that its column is equal to a value, or to one of a list?
 */
bool
sk_fixes_column(const IndexOptInfo *index, const IndexClause *clause)
{
	ListCell   *lc;

	Assert(clause->indexcol < index->nkeycolumns);
	foreach(lc, clause->indexquals)
	{
		Expr	   *qual = lfirst_node(RestrictInfo, lc)->clause;
		Oid			operator = InvalidOid;

		if (IsA(qual, OpExpr))
			operator = ((OpExpr *) qual)->opno;
		else if (IsA(qual, ScalarArrayOpExpr))
			operator = ((ScalarArrayOpExpr *) qual)->opno;
		if (OidIsValid(operator) &&
			get_op_opfamily_strategy(operator, index->opfamily[clause->indexcol]) ==
			BTEqualStrategyNumber)
			return true;
	}
	return false;
}

static bool
null_range_walker(Node *node, void *context)
{
	RelOptInfo *rel = context;

	if (node == NULL)
		return false;
	if (IsA(node, RestrictInfo))
		node = (Node *) ((RestrictInfo *) node)->clause;
	if (IsA(node, RowCompareExpr) || IsA(node, NullTest) || IsA(node, FuncExpr) ||
		(IsA(node, OpExpr) &&
		 !op_mergejoinable(((OpExpr *) node)->opno,
						   exprType(linitial(((OpExpr *) node)->args)))))
	{
		Bitmapset  *columns = NULL;
		int			column = -1;

		pull_varattnos(node, rel->relid, &columns);
		while ((column = bms_next_member(columns, column)) >= 0)
		{
			if (sk_null_is_in_range(rel, column + FirstLowInvalidHeapAttributeNumber))
				return true;
		}
	}
	return expression_tree_walker(node, null_range_walker, context);
}

/* Is it a row comparison on a column that another condition may use as well? */
static bool
shares_column(const RelOptInfo *rel, const RestrictInfo *rinfo, List *clauses)
{
	RowCompareExpr *comparison = (RowCompareExpr *) rinfo->clause;
	Bitmapset  *columns = NULL;
	ListCell   *lc;

	if (!IsA(comparison, RowCompareExpr))
		return false;
	if (rel->joininfo != NIL || rel->has_eclass_joins)
		return true;
	/* either side can be the one that is matched to an index */
	pull_varattnos(linitial(comparison->largs), rel->relid, &columns);
	pull_varattnos(linitial(comparison->rargs), rel->relid, &columns);
	foreach(lc, clauses)
	{
		RestrictInfo *other = lfirst_node(RestrictInfo, lc);
		Bitmapset  *others = NULL;

		pull_varattnos((Node *) other->clause, rel->relid, &others);
		if (other != rinfo && bms_overlap(columns, others))
			return true;
	}
	return false;
}

static bool
contains_row_comparison(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RestrictInfo))
		node = (Node *) ((RestrictInfo *) node)->clause;
	return IsA(node, RowCompareExpr) ||
		expression_tree_walker(node, contains_row_comparison, context);
}
