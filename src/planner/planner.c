/*-------------------------------------------------------------------------
 *
 * planner.c
 *	  Settings of the shard-aware planner, and the hook on a table's paths.
 *
 * For each shard key of a table the hook finds out what the scan of the table
 * knows of the shard, and hands it to those who make paths.
 *
 * What is known comes from clauses that the very scan enforces: restrictions of
 * the relation, and join clauses that may be pushed into it.  A row that is
 * left out because of its shard would not have passed those, so no knowledge of
 * the rest of the query is needed.  The bounds of a partition can be conditions
 * on the shard, too.
 *
 * src/planner/planner.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_partitioned_table.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "planner/derive.h"
#include "planner/planner.h"
#include "planner/shard_clause.h"
#include "spanner_keys.h"

/* With so many tables and partitions planning takes long. */
#define SK_MANY_RELATIONS 256

#define SK_MAX_PATH_MAKERS 2

bool		sk_enable_derived_shard = true;

static bool enable_shard_list = true;
static bool enable_shard_merge = true;

/* In the order of their registration. */
static SkMakePaths path_makers[SK_MAX_PATH_MAKERS];
static int	path_maker_count = 0;

static set_rel_pathlist_hook_type prev_set_rel_pathlist_hook = NULL;

/* How many ways to combine values of several relations are tried. */
#define SK_MAX_JOIN_COMBINATIONS 16

/* A value that a join clause gives, and the relations that it is from. */
typedef struct SkJoinValue
{
	SkKeyValue	value;
	Relids		relids;
} SkJoinValue;

static void define_settings(void);
static void sk_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
								RangeTblEntry *rte);
static bool may_gain(PlannerInfo *root, RelOptInfo *rel);
static void add_paths(PlannerInfo *root, RelOptInfo *rel);
static void derive_clauses(PlannerInfo *root, RelOptInfo *rel,
						   const SkShardKey *key, SkExtraClauses *result);
static List *clauses_of(List *rinfos);
static bool may_bound_shard(PlannerInfo *root, RelOptInfo *rel,
							const SkShardKey *key);
static List *partition_clauses(PlannerInfo *root, RelOptInfo *rel,
							   const SkShardKey *key);
static bool has_trusted_bounds(Oid partition);
static List *derive_joins(PlannerInfo *root, RelOptInfo *rel,
						  const SkColumns *columns);
static List *combine_one_source(PlannerInfo *root, const SkColumns *columns,
								List **choices);
static SkJoinValue *find_choice(List *choices, Relids relids);
static List *combine_sources(PlannerInfo *root, const SkColumns *columns,
							 List **choices);
static List *add_condition(PlannerInfo *root, List *list,
						   const SkColumns *columns);
static List *find_join_values(PlannerInfo *root, RelOptInfo *rel,
							  const Var *column, bool inside);
static bool is_member_column(PlannerInfo *root, RelOptInfo *rel,
							 EquivalenceClass *ec, EquivalenceMember *em,
							 void *arg);
static bool is_joined_on_shard(PlannerInfo *root, RelOptInfo *rel,
							   const SkShardKey *key);

void
sk_planner_init(void)
{
	define_settings();
	prev_set_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = sk_set_rel_pathlist;
}

/*
 * sk_add_path_maker
 *		Have a function make paths of tables with a shard key.
 *
 * To be called when the library is loaded, once for each function.
 */
void
sk_add_path_maker(SkMakePaths make)
{
	/* the server loads a library again if that has failed */
	for (int i = 0; i < path_maker_count; i++)
	{
		if (path_makers[i] == make)
			return;
	}
	Assert(path_maker_count < SK_MAX_PATH_MAKERS);
	path_makers[path_maker_count++] = make;
}

static void
sk_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
					RangeTblEntry *rte)
{
	if (prev_set_rel_pathlist_hook)
		prev_set_rel_pathlist_hook(root, rel, rti, rte);

	if (rel->indexlist != NIL && rte->rtekind == RTE_RELATION &&
		rte->tablesample == NULL && !rte->inh &&
		(sk_enable_derived_shard || enable_shard_list || enable_shard_merge) &&
		!IS_DUMMY_REL(rel) && may_gain(root, rel))
		add_paths(root, rel);
}

/*
 * Can there be a condition or an order that a path would serve?  One page is read
 * at once: of many partitions those are left alone.
 */
static bool
may_gain(PlannerInfo *root, RelOptInfo *rel)
{
	if (rel->reloptkind == RELOPT_OTHER_MEMBER_REL && rel->pages <= 1 &&
		root->simple_rel_array_size > SK_MANY_RELATIONS)
		return false;
	return rel->baserestrictinfo != NIL || has_useful_pathkeys(root, rel);
}

static void
add_paths(PlannerInfo *root, RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, sk_shard_keys(root, rel))
	{
		SkShardKey *key = lfirst(lc);
		SkExtraClauses extra = {NIL};

		Assert((key->shards >= 1 || !key->covers_rows) && key->indexes != NIL);
		if (sk_enable_derived_shard)
			derive_clauses(root, rel, key, &extra);
		extra.may_list = enable_shard_list;
		extra.may_merge = enable_shard_merge;
		for (int i = 0; i < path_maker_count; i++)
			path_makers[i] (root, rel, key, &extra);
	}
}

/*
 * Derive what can be said of the shard of the rows of a relation.  Nothing, if
 * the query itself says it.
 */
static void
derive_clauses(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
			   SkExtraClauses *result)
{
	SkColumns	columns;
	List	   *clauses;
	List	   *bounds;
	List	   *own = sk_without_added(rel->baserestrictinfo);
	bool		has_added = sk_has_shard_condition(key, rel->baserestrictinfo);
	ListCell   *lc;

	if (sk_has_shard_condition(key, own))
		return;

	sk_init_columns(&columns, key);
	clauses = clauses_of(own);
	sk_match_clauses(root, clauses, &columns);
	if (sk_all_known(&columns, &result->by_range))
	{
		if (has_added)
			return;
		result->base = add_condition(root, NIL, &columns);
		if (!result->by_range)
			return;
	}

	bounds = partition_clauses(root, rel, key);
	result->base = list_concat(result->base, bounds);
	foreach(lc, own)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		SkClause   *clause;
		SkClause   *arms;

		if (rinfo->pseudoconstant || !is_orclause(rinfo->clause))
			continue;
		clause = sk_derive_alternatives(root,
										sk_make_clause(rinfo->clause,
													   rinfo->security_level),
										&columns, bounds, &arms);
		if (clause == NULL)
			continue;
		result->sources = lappend(result->sources, rinfo);
		result->alternatives = lappend(result->alternatives,
									   sk_make_shard_clause(root, arms->expr,
															arms->level));
		if (!is_orclause(clause->expr) && !has_added)
			result->base = lappend(result->base,
								   sk_make_shard_clause(root, clause->expr,
														clause->level));
	}
	if ((rel->joininfo != NIL || rel->has_eclass_joins) &&
		!is_joined_on_shard(root, rel, key))
		result->joins = derive_joins(root, rel, &columns);
}

static List *
clauses_of(List *rinfos)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, rinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->pseudoconstant)
			result = lappend(result, sk_make_clause(rinfo->clause,
													rinfo->security_level));
	}
	return result;
}

/*
 * Can the bounds of a partition be conditions on the shard?  To put them together
 * takes long, so the partition key of the parent is looked at first.
 */
static bool
may_bound_shard(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key)
{
	AppendRelInfo *info;
	RelOptInfo *parent;
	RangeTblEntry *rte;

	if (rel->reloptkind != RELOPT_OTHER_MEMBER_REL)
		return true;
	info = root->append_rel_array[rel->relid];
	parent = root->simple_rel_array[info->parent_relid];
	rte = planner_rt_fetch(info->parent_relid, root);
	if (parent->part_scheme == NULL ||
		parent->reloptkind != RELOPT_BASEREL || get_rel_relispartition(rte->relid))
		return true;
	for (int i = 0; i < parent->part_scheme->partnatts; i++)
	{
		if (equal(adjust_appendrel_attrs(root, linitial(parent->partexprs[i]),
										 1, &info), key->shard))
			return true;
	}
	return false;
}

/* What the bounds of a partition say of the shard of its rows. */
static List *
partition_clauses(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key)
{
	Relation	relation;
	List	   *quals = NIL;
	List	   *result = NIL;
	ListCell   *lc;

	if (!may_bound_shard(root, rel, key))
		return NIL;
	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	if (relation->rd_rel->relispartition &&
		has_trusted_bounds(RelationGetRelid(relation)))
		quals = copyObject(RelationGetPartitionQual(relation));
	table_close(relation, NoLock);
	if (quals == NIL)
		return NIL;

	ChangeVarNodes((Node *) quals, 1, rel->relid, 0);
	foreach(lc, quals)
	{
		Node	   *qual = sk_fold_stored(root, lfirst(lc));
		ListCell   *lc2;

		if (qual == NULL)
			continue;
		foreach(lc2, make_ands_implicit((Expr *) qual))
		{
			RestrictInfo *rinfo = sk_make_shard_clause(root, lfirst(lc2), 0);

			if (sk_has_shard_condition(key, list_make1(rinfo)))
				result = lappend(result, rinfo);
		}
	}
	return result;
}

/*
 * May the planner ask for the bounds of a partition?  The server evaluates what
 * is constant in the partition keys of its ancestors when it puts the bounds
 * together.  A query on the partition alone does not ask for them.
 */
static bool
has_trusted_bounds(Oid partition)
{
	bool		result = true;
	ListCell   *lc;

	foreach(lc, get_partition_ancestors(partition))
	{
		HeapTuple	tuple = SearchSysCache1(PARTRELID,
											ObjectIdGetDatum(lfirst_oid(lc)));
		bool		isnull;
		Datum		keys;

		if (!HeapTupleIsValid(tuple))
			return false;
		keys = SysCacheGetAttr(PARTRELID, tuple,
							   Anum_pg_partitioned_table_partexprs, &isnull);
		if (!isnull)
			result &= sk_fold_stored(NULL, stringToNode(TextDatumGetCString(keys))) != NULL;
		ReleaseSysCache(tuple);
	}
	return result;
}

/*
 * Derive conditions with the values that join clauses give: one for each
 * relation that gives all that are missing, whatever their order in the query.
 */
static List *
derive_joins(PlannerInfo *root, RelOptInfo *rel, const SkColumns *columns)
{
	List	  **choices = palloc0(columns->count * sizeof(List *));
	SkColumns	hoped = sk_copy_columns(columns);
	bool		found = false;
	List	   *result;

	/* as if each column had a value, until it is seen that one has none */
	for (int i = 0; i < columns->count; i++)
		if (columns->values[i].value == NULL)
			hoped.values[i].value = (Expr *) columns->columns[i];
	for (int i = 0; i < columns->count; i++)
	{
		if (columns->values[i].value)
			continue;
		choices[i] = find_join_values(root, rel, columns->columns[i],
									  columns->inside[i]);
		found |= choices[i] != NIL;
		if (choices[i] == NIL)
			hoped.values[i].value = NULL;
		if (!sk_all_known(&hoped, NULL))
			return NIL;
	}
	if (!found)
		return NIL;
	result = combine_one_source(root, columns, choices);
	return result ? result : combine_sources(root, columns, choices);
}

static List *
combine_one_source(PlannerInfo *root, const SkColumns *columns,
				   List **choices)
{
	List	   *result = NIL;
	int			first = 0;
	ListCell   *lc;

	while (choices[first] == NIL)
	{
		first++;
		Assert(first < columns->count);
	}
	foreach(lc, choices[first])
	{
		Relids		source = ((SkJoinValue *) lfirst(lc))->relids;
		SkColumns	choice;

		if (find_choice(choices[first], source) != lfirst(lc))
			continue;
		choice = sk_copy_columns(columns);
		for (int i = 0; i < columns->count; i++)
		{
			SkJoinValue *found = find_choice(choices[i], source);

			if (found)
				choice.values[i] = found->value;
		}
		result = add_condition(root, result, &choice);
	}
	return result;
}

/* The first value that some relations give. */
static SkJoinValue *
find_choice(List *choices, Relids relids)
{
	ListCell   *lc;

	foreach(lc, choices)
	{
		if (bms_equal(((SkJoinValue *) lfirst(lc))->relids, relids))
			return lfirst(lc);
	}
	return NULL;
}

/* No relation gives all values: some of their combinations. */
static List *
combine_sources(PlannerInfo *root, const SkColumns *columns, List **choices)
{
	List	   *result = NIL;
	int			combinations = 1;

	for (int i = 0; i < columns->count; i++)
		combinations = Min(combinations * Max(list_length(choices[i]), 1),
						   SK_MAX_JOIN_COMBINATIONS);
	for (int n = 0; n < combinations; n++)
	{
		SkColumns	choice = sk_copy_columns(columns);
		int			rest = n;

		for (int i = 0; i < columns->count; i++)
		{
			int			length = list_length(choices[i]);

			if (length == 0)
				continue;
			choice.values[i] =
				((SkJoinValue *) list_nth(choices[i], rest % length))->value;
			rest /= length;
		}
		result = add_condition(root, result, &choice);
	}
	return result;
}

static List *
add_condition(PlannerInfo *root, List *list, const SkColumns *columns)
{
	SkClause   *condition = sk_derive_condition(root, columns);

	if (condition == NULL)
		return list;
	return lappend(list, sk_make_shard_clause(root, condition->expr,
											  condition->level));
}

/* The values of other relations that a column is equal to; lists come last. */
static List *
find_join_values(PlannerInfo *root, RelOptInfo *rel, const Var *column,
				 bool inside)
{
	List	   *clauses = NIL;
	List	   *values = NIL;
	List	   *lists = NIL;
	ListCell   *lc;

	if (rel->has_eclass_joins)
		clauses = generate_implied_equalities_for_column(root, rel,
														 is_member_column,
														 unconstify(Var *, column),
														 rel->lateral_referencers);
	foreach(lc, list_concat(clauses, rel->joininfo))
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		SkKeyValue	value;
		SkJoinValue *found;

		if (!join_clause_is_movable_to(rinfo, rel) ||
			!sk_match_equality(root, rinfo->clause, (const Node *) column, &value) ||
			(inside && !sk_can_replace(root, column, &value)))
			continue;
		found = palloc(sizeof(SkJoinValue));
		found->value = value;
		found->value.level = rinfo->security_level;
		found->relids = pull_varnos(root, (Node *) value.value);
		if (value.is_array)
			lists = lappend(lists, found);
		else
			values = lappend(values, found);
	}
	return list_concat(values, lists);
}

static bool
is_member_column(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec,
				 EquivalenceMember *em, void *arg)
{
	const Var  *column = arg;
	Expr	   *expr = em->em_expr;

	while (expr && IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	return expr && IsA(expr, Var) &&
		((Var *) expr)->varno == column->varno &&
		((Var *) expr)->varattno == column->varattno;
}

/* Does the query itself join on the shard? */
static bool
is_joined_on_shard(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key)
{
	if (sk_has_shard_condition(key, rel->joininfo))
		return true;
	return key->attnum != 0 && rel->has_eclass_joins &&
		generate_implied_equalities_for_column(root, rel, is_member_column,
											   key->shard,
											   rel->lateral_referencers) != NIL;
}

static void
define_settings(void)
{
	DefineCustomBoolVariable("spanner_keys.enable_derived_shard",
							 "Enables the planner to derive the shard from the keys.",
							 NULL,
							 &sk_enable_derived_shard,
							 true,
							 PGC_USERSET,
							 GUC_EXPLAIN,
							 NULL, NULL, NULL);

	DefineCustomBoolVariable("spanner_keys.enable_shard_list",
							 "Enables the planner to look up ranges of keys in every shard.",
							 NULL,
							 &enable_shard_list,
							 true,
							 PGC_USERSET,
							 GUC_EXPLAIN,
							 NULL, NULL, NULL);

	DefineCustomBoolVariable("spanner_keys.enable_shard_merge",
							 "Enables the planner to merge shards in the order of their keys.",
							 NULL,
							 &enable_shard_merge,
							 true,
							 PGC_USERSET,
							 GUC_EXPLAIN,
							 NULL, NULL, NULL);

	DefineCustomIntVariable("spanner_keys.max_merge_shards",
							"Sets the largest number of shards that the planner merges or lists.",
							NULL,
							&sk_max_merge_shards,
							4096, 1, 65536,
							PGC_USERSET,
							GUC_EXPLAIN,
							NULL, NULL, NULL);
}
