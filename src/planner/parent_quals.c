/*-------------------------------------------------------------------------
 *
 * parent_quals.c
 *	  Conditions on the shard that choose partitions.
 *
 * A condition is added to the same list of conditions that implies it.
 *
 * Only lists count whose conditions hold for each row that the table
 * contributes.  These are the lists on the way from the top of the join tree
 * to the table.  Below an outer join that can replace the row by NULLs, and
 * below a semijoin or antijoin, the way begins anew.
 *
 * src/planner/parent_quals.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/selfuncs.h"

#include "compat.h"
#include "planner/derive.h"
#include "planner/planner.h"
#include "planner/shard_clause.h"
#include "spanner_keys.h"
#include "spi/tree_marks.h"

/*
 * A list of conditions on the way to a table, and what else holds for the rows
 * that it is applied to.  Where the way begins anew, there is a mark: one
 * without a list.
 */
typedef struct SkQuals
{
	Node	  **quals;
	List	   *others;
} SkQuals;

static build_simple_rel_hook_type prev_build_simple_rel_hook = NULL;
static set_rel_pathlist_hook_type prev_set_rel_pathlist_hook = NULL;
static set_join_pathlist_hook_type prev_set_join_pathlist_hook = NULL;

static void sk_build_simple_rel(SK_SIMPLE_REL_ARGS);
static void sk_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
								RangeTblEntry *rte);
static void sk_set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel,
								 RelOptInfo *outerrel, RelOptInfo *innerrel,
								 JoinType jointype, JoinPathExtraData *extra);
static void add_parent_quals(PlannerInfo *root, RelOptInfo *rel);
static void correct_estimates(PlannerInfo *root, RelOptInfo *rel);
static void forget_added(RelOptInfo *joinrel, List *clauses);
static bool find_lists(Node *node, Index relid, List **lists);
static bool find_lists_in_join(JoinExpr *join, Index relid, List **lists);
static SkQuals *make_quals(Node **quals);
static List *conditions_of(Node *node);
static void add_quals(PlannerInfo *root, RangeTblEntry *rte,
					  const SkShardKey *key, List *lists);
static void add_member_quals(PlannerInfo *root, RelOptInfo *rel,
							 RangeTblEntry *rte, List *keys);
static List *security_clauses(const RangeTblEntry *rte);
static List *clauses_of_quals(const SkQuals *quals, Index level);
static List *derive_quals(PlannerInfo *root, const SkShardKey *key,
						  List *clauses, List *above);
static Expr *without_equality(PlannerInfo *root, const SkShardKey *key,
							  Expr *condition);
static bool needs_no_table(PlannerInfo *root, const SkKeyTerm *term);
static bool chooses_partitions(Expr *condition);
static bool find_constant(PlannerInfo *root, List *clauses, List *all,
						  const Var *column, List **visited,
						  SkKeyValue *result);
static bool mark_redundant(List *clauses);
static void cost_pruned_paths(PlannerInfo *root, RelOptInfo *rel);
static double share_of_scans(PlannerInfo *root, RelOptInfo *rel,
							 RelOptInfo *part, Relids outer);
static double share_left(PlannerInfo *root, RelOptInfo *rel, Relids outer);

/*
 * Estimates have to be right before others make paths, so this is to be called
 * before the hook of planner.c is set: a hook calls the one before it first.
 */
void
sk_parent_quals_init(void)
{
	prev_build_simple_rel_hook = build_simple_rel_hook;
	build_simple_rel_hook = sk_build_simple_rel;
	prev_set_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = sk_set_rel_pathlist;
	prev_set_join_pathlist_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = sk_set_join_pathlist;
}

/* A partitioned table: its partitions are chosen before paths are made. */
static void
sk_build_simple_rel(SK_SIMPLE_REL_ARGS)
{
	if (prev_build_simple_rel_hook)
		prev_build_simple_rel_hook(SK_SIMPLE_REL_PASS);

	if (sk_enable_derived_shard && rel->part_scheme)
		add_parent_quals(root, rel);
}

static void
sk_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
					RangeTblEntry *rte)
{
	if (prev_set_rel_pathlist_hook)
		prev_set_rel_pathlist_hook(root, rel, rti, rte);

	if (sk_enable_derived_shard && !IS_DUMMY_REL(rel) &&
		(rel->part_scheme || rel->reloptkind == RELOPT_OTHER_MEMBER_REL))
		correct_estimates(root, rel);
}

static void
sk_set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel,
					 RelOptInfo *outerrel, RelOptInfo *innerrel,
					 JoinType jointype, JoinPathExtraData *extra)
{
	if (prev_set_join_pathlist_hook)
		prev_set_join_pathlist_hook(root, joinrel, outerrel, innerrel,
									jointype, extra);

	if (sk_enable_derived_shard)
		forget_added(joinrel, extra->restrictlist);
}

/* Add what follows for the shard of a partitioned table to the query. */
static void
add_parent_quals(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	List	   *keys = sk_shard_keys(root, rel);
	List	   *lists = NIL;
	ListCell   *lc;

	if (keys == NIL || sk_loses_condition((Node *) root->parse->jointree, NULL))
		return;
	if (rel->reloptkind == RELOPT_OTHER_MEMBER_REL)
		add_member_quals(root, rel, rte, keys);
	else if (find_lists((Node *) root->parse->jointree, rel->relid, &lists))
	{
		foreach(lc, keys)
			add_quals(root, rte, lfirst(lc), lists);
	}
}

/*
 * Estimate the rows of a relation without the conditions that were added, when
 * its paths have been made: partitions come before their parent, and all tables
 * before joins.
 */
static void
correct_estimates(PlannerInfo *root, RelOptInfo *rel)
{
	bool		found = mark_redundant(rel->baserestrictinfo);
	double		rows = rel->rows;
	ListCell   *lc;

	Assert(rows > 0);
	if (rel->part_scheme)
	{
		rel->rows = 0;
		for (int i = 0; i < rel->nparts; i++)
			if (rel->part_rels[i] && !IS_DUMMY_REL(rel->part_rels[i]))
				rel->rows += rel->part_rels[i]->rows;
		rel->rows = found && rel->rows > 0 ? rel->rows : rows;
		rel->tuples = found ? rel->rows : rel->tuples;
		(void) mark_redundant(rel->joininfo);
		if (enable_partition_pruning && rel->reloptkind == RELOPT_BASEREL)
			cost_pruned_paths(root, rel);
	}
	else if (found && rel->fdwroutine == NULL)
	{
		set_baserel_size_estimates(root, rel);
		foreach(lc, rel->ppilist)
		{
			ParamPathInfo *info = lfirst(lc);

			info->ppi_rows = clamp_row_est(info->ppi_rows * rel->rows / rows);
		}
		foreach(lc, list_concat_copy(rel->pathlist, rel->partial_pathlist))
		{
			Path	   *path = lfirst(lc);

			path->rows = clamp_row_est(path->rows * (rel->rows / rows));
		}
	}
}

/*
 * Have a join not check conditions that were added.  "clauses" are those of the
 * join.  What chooses partitions is checked below.
 */
static void
forget_added(RelOptInfo *joinrel, List *clauses)
{
	ListCell   *lc;

	if (list_length(sk_without_added(clauses)) == list_length(clauses))
		return;
	foreach(lc, list_concat_copy(joinrel->pathlist, joinrel->partial_pathlist))
	{
		JoinPath   *path = lfirst(lc);

		if (IsA(path, NestPath) || IsA(path, MergePath) || IsA(path, HashPath))
			path->joinrestrictinfo = sk_without_added(path->joinrestrictinfo);
	}
}

/*
 * Find the lists of conditions on the way to a relation, outermost first.
 */
static bool
find_lists(Node *node, Index relid, List **lists)
{
	FromExpr   *from = (FromExpr *) node;
	List	   *below = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	if (node == NULL)
		return false;
	if (IsA(node, RangeTblRef))
		return ((RangeTblRef *) node)->rtindex == relid;
	if (IsA(node, JoinExpr))
		return find_lists_in_join((JoinExpr *) node, relid, lists);
	if (!IsA(node, FromExpr))
		return false;

	foreach(lc, from->fromlist)
	{
		if (find_lists(lfirst(lc), relid, &below))
		{
			SkQuals    *quals = make_quals(&from->quals);

			foreach(lc2, from->fromlist)
				quals->others = list_concat(quals->others,
											conditions_of(lfirst(lc2)));
			*lists = lcons(quals, below);
			return true;
		}
	}
	return false;
}

/* A join that can replace rows by NULLs, or drop them, sets a mark. */
static bool
find_lists_in_join(JoinExpr *join, Index relid, List **lists)
{
	SkQuals    *quals = make_quals(&join->quals);
	SkQuals    *mark = make_quals(NULL);
	List	   *below = NIL;
	bool		is_left = find_lists(join->larg, relid, &below);

	if (!is_left && !find_lists(join->rarg, relid, &below))
		return false;
	switch (join->jointype)
	{
		case JOIN_INNER:
			quals->others = conditions_of((Node *) join);
			*lists = lcons(quals, below);
			break;
		case JOIN_LEFT:
		case JOIN_SEMI:
		case JOIN_ANTI:
			mark->others = conditions_of(join->larg);
			*lists = is_left ? below : lcons(mark, lcons(quals, below));
			break;
		default:
			*lists = lcons(mark, below);
			break;
	}
	return true;
}

static SkQuals *
make_quals(Node **quals)
{
	SkQuals    *result = palloc0(sizeof(SkQuals));

	result->quals = quals;
	return result;
}

/* All conditions that hold for each row of a part of the join tree. */
static List *
conditions_of(Node *node)
{
	List	   *result = NIL;
	ListCell   *lc;

	if (IsA(node, FromExpr))
	{
		result = list_copy((List *) ((FromExpr *) node)->quals);
		foreach(lc, ((FromExpr *) node)->fromlist)
			result = list_concat(result, conditions_of(lfirst(lc)));
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		if (join->jointype == JOIN_INNER)
			result = list_concat(list_copy((List *) join->quals),
								 conditions_of(join->rarg));
		if (join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT ||
			join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI)
			result = list_concat(result, conditions_of(join->larg));
	}
	return result;
}

/*
 * Add what follows for one key.  The further out the list of a clause is, the
 * higher is the clause's level.  Security quals are on the table itself: 0.
 */
static void
add_quals(PlannerInfo *root, RangeTblEntry *rte, const SkShardKey *key,
		  List *lists)
{
	List	   *clauses = security_clauses(rte);
	List	   *above = NIL;
	List	   *outer = NIL;
	int			count;
	ListCell   *lc;

	/* the way begins anew behind the last mark */
	for (int i = list_length(lists) - 1; i >= 0; i--)
		if (((SkQuals *) list_nth(lists, i))->quals == NULL)
		{
			above = list_copy_head(lists, i + 1);
			lists = list_copy_tail(lists, i + 1);
			break;
		}
	count = list_length(lists);
	for (int i = 0; i < count; i++)
	{
		SkQuals    *quals = list_nth(lists, i);

		/* the query itself restricts the shard */
		if (key->attnum != 0 &&
			sk_mentions(*quals->quals, ((Var *) key->shard)->varno, key->attnum))
			return;
		clauses = list_concat(clauses, clauses_of_quals(quals, count - i));
	}
	if (count == 0)
		return;

	foreach(lc, above)
		outer = list_concat(outer, clauses_of_quals(lfirst(lc), 0));

	foreach(lc, derive_quals(root, key, clauses, outer))
	{
		SkClause   *condition = lfirst(lc);
		SkQuals    *place = list_nth(lists, count - Max(condition->level, 1));

		Assert(condition->level <= count && place->quals != NULL);
		*place->quals = (Node *) lappend((List *) *place->quals,
										 condition->expr);
	}
}

/*
 * The same for a member of a UNION ALL.  The restrictions of the whole apply to
 * it; the server adds these and the security quals of the member together.
 */
static void
add_member_quals(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte,
				 List *keys)
{
	AppendRelInfo *info = root->append_rel_array[rel->relid];
	RelOptInfo *parent = root->simple_rel_array[info->parent_relid];
	List	   *clauses = security_clauses(rte);
	ListCell   *lc;
	ListCell   *lc2;

	if (planner_rt_fetch(info->parent_relid, root)->rtekind != RTE_SUBQUERY)
		return;
	foreach(lc, parent->baserestrictinfo)
	{
		Node	   *clause = (Node *) lfirst_node(RestrictInfo, lc)->clause;

		clause = adjust_appendrel_attrs(root, clause, 1, &info);
		clauses = lappend(clauses, sk_make_clause((Expr *) clause, 0));
	}
	foreach(lc, keys)
	{
		foreach(lc2, derive_quals(root, lfirst(lc), clauses, NIL))
		{
			Expr	   *clause = ((SkClause *) lfirst(lc2))->expr;

			if (rte->securityQuals == NIL)
				rte->securityQuals = list_make1(NIL);

			/* the levels of the query's own conditions are settled by now */
			root->qual_security_level = Max(root->qual_security_level, 1);
			linitial(rte->securityQuals) =
				lappend(linitial(rte->securityQuals), clause);
		}
	}
}

static List *
security_clauses(const RangeTblEntry *rte)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, rte->securityQuals)
		result = list_concat(result, sk_make_clauses(lfirst(lc), 0));
	return result;
}

static List *
clauses_of_quals(const SkQuals *quals, Index level)
{
	List	   *result = sk_make_clauses(quals->others, level);

	if (quals->quals)
		result = list_concat(sk_make_clauses(*(List **) quals->quals, level),
							 result);
	return result;
}

/*
 * The conditions on the shard that follow from some clauses, marked.
 *
 * A column may be equal to one of another table.  Clauses from above an outer
 * join or semijoin ("above") may say more of that other column: rows of its
 * table for which they are false contribute nothing.  They say nothing of the
 * columns of this table.
 */
static List *
derive_quals(PlannerInfo *root, const SkShardKey *key, List *clauses,
			 List *above)
{
	SkColumns	columns;
	SkColumns	joined;
	List	   *all = list_concat_copy(clauses, above);
	List	   *result = NIL;
	SkClause   *condition;
	ListCell   *lc;

	sk_init_columns(&columns, key);
	joined = sk_copy_columns(&columns);
	sk_match_clauses(root, clauses, &joined);
	for (int i = 0; i < columns.count; i++)
	{
		List	   *visited = list_make1(columns.columns[i]);

		if (!find_constant(root, clauses, all, columns.columns[i], &visited,
						   &columns.values[i]) ||
			(columns.inside[i] &&
			 !sk_can_replace(root, columns.columns[i], &columns.values[i])))
			columns.values[i] = joined.values[i];

		/*
		 * the server prunes by a list of expressions, not by one that is a
		 * list
		 */
		if (columns.values[i].is_array && IsA(columns.values[i].value, ArrayExpr))
			columns.by_element[i] = true;
	}
	for (int i = 0; i < columns.term_count; i++)
		if (needs_no_table(root, &joined.terms[i]))
			columns.terms[i] = joined.terms[i];
	condition = sk_derive_condition(root, &columns);
	if (condition && chooses_partitions(condition->expr))
		result = list_make1(condition);
	else if (!sk_all_known(&columns, NULL))
	{
		foreach(lc, clauses)
		{
			SkClause   *clause = lfirst(lc);

			if (!is_orclause(clause->expr))
				continue;
			condition = sk_derive_alternatives(root, clause, &columns, NIL, NULL);
			if (condition)
				result = lappend(result, condition);
		}
	}
	foreach(lc, result)
	{
		SkClause   *added = lfirst(lc);

		added->expr = without_equality(root, key, added->expr);
		sk_mark_added(added->expr);
	}
	return result;
}

/*
 * By an equality with a value of another table, hash joins would compute the
 * shard of all rows.  An array of one element chooses partitions as well.
 */
static Expr *
without_equality(PlannerInfo *root, const SkShardKey *key, Expr *condition)
{
	Expr	   *value;

	if (!IsA(condition, OpExpr))
		return condition;
	value = lsecond(((OpExpr *) condition)->args);
	if (bms_is_empty(pull_varnos(root, (Node *) value)))
		return condition;
	return sk_shard_in(key, (Expr *) sk_shard_array(list_make1(value)));
}

/* Is what is known of a key the same for each row of other tables? */
static bool
needs_no_table(PlannerInfo *root, const SkKeyTerm *term)
{
	return bms_is_empty(pull_varnos(root, (Node *) term->value.value)) &&
		bms_is_empty(pull_varnos(root, (Node *) term->low.value)) &&
		bms_is_empty(pull_varnos(root, (Node *) term->high.value));
}

/* The server does not prune by an array whose elements it does not see. */
static bool
chooses_partitions(Expr *condition)
{
	Node	   *array;

	if (!IsA(condition, ScalarArrayOpExpr))
		return true;
	array = lsecond(((ScalarArrayOpExpr *) condition)->args);
	return IsA(array, Const) || IsA(array, ArrayExpr);
}

/*
 * What a column is equal to that needs no other table, directly or by way of
 * other columns.  The server finds that out only after it has pruned.
 */
static bool
find_constant(PlannerInfo *root, List *clauses, List *all, const Var *column,
			  List **visited, SkKeyValue *result)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SkClause   *clause = lfirst(lc);
		SkKeyValue	found;
		Node	   *next;

		CHECK_FOR_INTERRUPTS();
		if (!sk_match_equality(root, clause->expr, (const Node *) column, &found))
			continue;
		found.level = clause->level;
		next = (Node *) found.value;
		while (IsA(next, RelabelType))
			next = (Node *) ((RelabelType *) next)->arg;
		if (!found.is_array && IsA(next, Var))
		{
			if (list_member(*visited, next))
				continue;
			*visited = lappend(*visited, next);
			found.value = NULL;
			(void) find_constant(root, all, all, (Var *) next, visited, &found);
			found.level = Max(found.level, clause->level);
		}
		else if (!bms_is_empty(pull_varnos(root, (Node *) found.value)))
			continue;
		if (found.value && (result->value == NULL || !found.is_array))
			*result = found;
		if (result->value && !result->is_array)
			return true;
	}
	return result->value != NULL;
}

/* Have added conditions not count.  Is there one among these RestrictInfos? */
static bool
mark_redundant(List *clauses)
{
	bool		found = false;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (sk_is_added(rinfo->clause))
		{
			rinfo->norm_selec = SK_REDUNDANT_SELECTIVITY;
			rinfo->outer_selec = SK_REDUNDANT_SELECTIVITY;
			found = true;
		}
	}
	return found;
}

/*
 * With the shard of another table's row, few partitions are left when the plan
 * runs.  The server counts them all.
 */
static void
cost_pruned_paths(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, rel->pathlist)
	{
		AppendPath *path = lfirst(lc);
		double		rows = 0;
		Cost		saved = 0;

		if (!IsA(path, AppendPath) || path->path.param_info == NULL)
			continue;
		foreach(lc2, path->subpaths)
		{
			Path	   *part = lfirst(lc2);
			double		share = share_of_scans(root, rel, part->parent,
											   PATH_REQ_OUTER(&path->path));

			rows += part->rows * share;
			saved += part->total_cost * (1 - share) -
				(share < 1 ? cpu_operator_cost : 0);
		}
		path->path.rows = clamp_row_est(rows);
		path->path.total_cost -=
			Min(Max(saved, 0), path->path.total_cost - path->path.startup_cost);
	}
}

/* In which share of the scans of a table is one of its partitions left? */
static double
share_of_scans(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *part,
			   Relids outer)
{
	double		result = 1;

	while (part != rel)
	{
		Index		parent = root->append_rel_array[part->relid]->parent_relid;

		part = root->simple_rel_array[parent];
		result *= share_left(root, part, outer);
	}
	return result;
}

/*
 * Which share of its partitions does an added condition leave?  All, if they are
 * by something else, such as time: each can have rows of the shard.
 */
static double
share_left(PlannerInfo *root, RelOptInfo *rel, Relids outer)
{
	Relids		tables = bms_union(rel->relids, outer);
	ListCell   *lc;

	if (rel->part_scheme->partnatts > 1)
		return 1;
	foreach(lc, rel->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		List	   *args;

		if (!sk_is_added(rinfo->clause) || !IsA(rinfo->clause, ScalarArrayOpExpr) ||
			!chooses_partitions(rinfo->clause) ||
			!join_clause_is_movable_into(rinfo, rel->relids, tables))
			continue;
		args = ((ScalarArrayOpExpr *) rinfo->clause)->args;
		if (list_member(rel->partexprs[0], linitial(args)))
			return Min(1, estimate_array_length(root, lsecond(args)) /
					   (double) bms_num_members(rel->live_parts));
	}
	return 1;
}
