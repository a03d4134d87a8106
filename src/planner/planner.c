/*-------------------------------------------------------------------------
 *
 * planner.c
 *	  Settings of the shard-aware planner, the hook on a table's paths, and index
 *	  paths with conditions on the shard that the query does not have.
 *
 * A row that is left out because of its shard would not have passed the clauses
 * that the scan itself enforces, so nothing else of the query need be known.
 *
 * The server's own code makes and costs these paths: it is run again on the
 * indexes that a shard key leads, while the relation seems to have the
 * additional clauses.  They stay in the index conditions of the paths, and
 * nowhere else.
 *
 * If all that a condition follows from are index conditions too, it must not be
 * counted twice: the server then sees a condition that is always true.  If one of
 * them is left to a filter, the condition on the shard is counted like any other.
 *
 * src/planner/planner.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/amapi.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_partitioned_table.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "partitioning/partbounds.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "planner/derive.h"
#include "planner/planner.h"
#include "planner/shard_clause.h"
#include "planner/shard_index.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"

/* Partitions count as reached until they have so many times the rows of a LIMIT. */
#define SK_LIMIT_RESERVE 10.0

/* The server looks at the statistics. */
#define SK_UNKNOWN_SELECTIVITY (-1.0)

/* A search of an index costs that much at least, in cpu_operator_cost. */
#define SK_SEARCH_COST 50.0

/* Conditions that hold for all rows that a scan has to return. */
typedef struct SkExtraClauses
{
	List	   *base;			/* on the scanned relation only */
	List	   *alternatives;	/* the same, each an OR */
	List	   *sources;		/* what the alternatives follow from */
	List	   *joins;			/* with values of other relations */
	bool		by_range;		/* "base" is from a range of time */
} SkExtraClauses;

/* A value that a join clause gives, and the relations that it is from. */
typedef struct SkJoinValue
{
	SkKeyValue	value;
	Relids		relids;
} SkJoinValue;

/* What the cost function needs while paths are made for a shard key. */
typedef struct SkShardCost
{
	SkColumns	columns;		/* of the shard key */
	List	   *clauses;		/* RestrictInfos of the derived conditions */
	bool		by_range;		/* do they follow from a range as well? */
	amcostestimate_function estimate;	/* the server's */
} SkShardCost;

bool		sk_enable_derived_shard = true;
SkMergePaths sk_merge_paths_hook = NULL;

static bool enable_shard_list = true;
static bool enable_shard_merge = true;

static SkShardCost *current = NULL;

static create_upper_paths_hook_type prev_create_upper_paths_hook = NULL;
static set_rel_pathlist_hook_type prev_set_rel_pathlist_hook = NULL;

static void define_settings(void);
static void forget_plans(Node *command);
static void sk_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
								RangeTblEntry *rte);
static bool is_reached(PlannerInfo *root, RelOptInfo *rel);
static void sk_create_upper_paths(PlannerInfo *root, UpperRelationKind stage,
								  RelOptInfo *input_rel, RelOptInfo *output_rel,
								  void *extra);
static Cost start_of_reached(PlannerInfo *root, AppendPath *path);
static bool gives_order(PlannerInfo *root, RelOptInfo *parent,
						ScanDirection direction);
static void add_paths(PlannerInfo *root, RelOptInfo *rel, bool may_merge);
static void derive_clauses(PlannerInfo *root, RelOptInfo *rel,
						   const SkShardKey *key, SkExtraClauses *result);
static RestrictInfo *complete_alternatives(const RestrictInfo *source,
										   List *arms, Index level);
static bool may_bound_shard(PlannerInfo *root, RelOptInfo *rel,
							const SkShardKey *key);
static List *partition_clauses(PlannerInfo *root, RelOptInfo *rel,
							   const SkShardKey *key);
static bool has_trusted_bounds(Oid partition);
static List *derive_joins(PlannerInfo *root, RelOptInfo *rel,
						  const SkColumns *columns);
static List *combine_sources(PlannerInfo *root, const SkColumns *columns,
							 List **choices, bool mix);
static SkJoinValue *find_choice(List *choices, Relids relids);
static List *add_condition(PlannerInfo *root, List *list,
						   const SkColumns *columns);
static List *find_join_values(PlannerInfo *root, RelOptInfo *rel,
							  const Var *column, bool inside);
static bool is_member_column(PlannerInfo *root, RelOptInfo *rel,
							 EquivalenceClass *ec, EquivalenceMember *em,
							 void *arg);
static bool is_joined_on_shard(PlannerInfo *root, RelOptInfo *rel,
							   const SkShardKey *key);
static void add_derived_paths(PlannerInfo *root, RelOptInfo *rel,
							  const SkShardKey *key,
							  const SkExtraClauses *extra);
static void add_list_paths(PlannerInfo *root, RelOptInfo *rel,
						   const SkShardKey *key, bool with_joins);
static void add_index_paths(PlannerInfo *root, RelOptInfo *rel,
							const SkShardKey *key,
							const SkExtraClauses *extra);
static void create_paths(PlannerInfo *root, RelOptInfo *rel,
						 const SkShardKey *key, const SkExtraClauses *extra,
						 List *alternatives, bool with_array);
static void create_alternative_paths(PlannerInfo *root, RelOptInfo *rel,
									 const SkExtraClauses *extra);
static Path *adopt_path(PlannerInfo *root, RelOptInfo *rel, Path *path);
static List *exchange_restrictions(const SkShardKey *key, List *clauses,
								   bool with_array);
static bool is_dearer(RelOptInfo *rel, Cost cost);
static bool restricts_second_column(RelOptInfo *rel, const SkShardKey *key);
static amcostestimate_function set_cost_function(const SkShardKey *key,
												 amcostestimate_function function);
static void estimate_cost(PlannerInfo *root, IndexPath *path,
						  double loop_count, Cost *startup_cost,
						  Cost *total_cost, Selectivity *selectivity,
						  double *correlation, double *pages);
static List *derived_clauses(const IndexPath *path);
static void set_selectivity(List *clauses, double selectivity);
static Bitmapset *fixed_columns(const IndexPath *path);
static bool are_fixed(const IndexOptInfo *index, const Bitmapset *fixed,
					  bool in_front);
static void add_ordered_paths(PlannerInfo *root, RelOptInfo *rel,
							  const SkShardKey *key, RestrictInfo *shard);

void
sk_planner_init(void)
{
	define_settings();
	prev_set_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = sk_set_rel_pathlist;
	prev_create_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = sk_create_upper_paths;
	sk_on_command(forget_plans, NULL, NULL);
}

/* An imported snapshot may be older than what the plans of the session rely on. */
static void
forget_plans(Node *command)
{
	VariableSetStmt *set = (VariableSetStmt *) command;

	if (IsA(set, VariableSetStmt) && set->kind == VAR_SET_MULTI &&
		strcmp(set->name, "TRANSACTION SNAPSHOT") == 0)
		ResetPlanCache();
}

static void
sk_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
					RangeTblEntry *rte)
{
	bool		may_merge;

	if (prev_set_rel_pathlist_hook)
		prev_set_rel_pathlist_hook(root, rel, rti, rte);

	/* what has one page is read at once, unless that is not wanted */
	if (rel->indexlist == NIL || rte->rtekind != RTE_RELATION ||
		rte->tablesample != NULL || rte->inh ||
		(rel->pages <= 1 && enable_seqscan) || IS_DUMMY_REL(rel))
		return;
	may_merge = enable_shard_merge && has_useful_pathkeys(root, rel) &&
		is_reached(root, rel);
	if (may_merge || ((sk_enable_derived_shard || enable_shard_list) &&
					  (rel->baserestrictinfo != NIL || rel->joininfo != NIL ||
					   rel->has_eclass_joins)))
		add_paths(root, rel, may_merge);
}

/*
 * Will a partition be read at all?  Where the partitions themselves have the
 * order of the query, a LIMIT is likely satisfied by the first ones.  The others
 * are sorted, if they are read after all.
 */
static bool
is_reached(PlannerInfo *root, RelOptInfo *rel)
{
	RelOptInfo *parent;
	bool		backward;
	double		rows = 0;

	if (rel->reloptkind != RELOPT_OTHER_MEMBER_REL || root->limit_tuples < 0)
		return true;
	parent = root->simple_rel_array[root->append_rel_array[rel->relid]->parent_relid];
	if (parent->part_scheme == NULL ||
		!bms_equal(root->all_baserels, parent->relids) ||
		!partitions_are_ordered(parent->boundinfo, parent->live_parts))
		return true;
	/* mostly the newest rows are asked for */
	backward = gives_order(root, parent, BackwardScanDirection);
	if (!backward && !gives_order(root, parent, ForwardScanDirection))
		return true;
	for (int i = 0; i < parent->nparts; i++)
	{
		RelOptInfo *part = parent->part_rels[backward ? parent->nparts - 1 - i : i];

		if (part == rel || rows > SK_LIMIT_RESERVE * root->limit_tuples)
			break;
		if (part != NULL && !IS_DUMMY_REL(part))
			rows += part->rows;
	}
	return rows <= SK_LIMIT_RESERVE * root->limit_tuples;
}

/*
 * A LIMIT pays for the start of what it reaches only.  The server counts all
 * partitions, and so the sorts of those that are not merged.
 */
static void
sk_create_upper_paths(PlannerInfo *root, UpperRelationKind stage,
					  RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	ListCell   *lc;

	if (prev_create_upper_paths_hook)
		prev_create_upper_paths_hook(root, stage, input_rel, output_rel, extra);

	if (stage != UPPERREL_ORDERED || !enable_shard_merge ||
		root->limit_tuples < 0 || input_rel->part_scheme == NULL)
		return;
	foreach(lc, output_rel->pathlist)
	{
		Path	   *path = lfirst(lc);
		Path	   *below = sk_below_projection(path);

		if (IsA(below, AppendPath) && below->pathkeys != NIL &&
			below->parent == input_rel)
			path->startup_cost -= below->startup_cost -
				start_of_reached(root, (AppendPath *) below);
	}
}

/*
 * sk_below_projection
 *		The path that a projection is put on, or the path itself if it is none.
 */
Path *
sk_below_projection(Path *path)
{
	return IsA(path, ProjectionPath) ? ((ProjectionPath *) path)->subpath : path;
}

/* What the start of an append in order costs, if some of it is merged. */
static Cost
start_of_reached(PlannerInfo *root, AppendPath *path)
{
	Cost		result = 0;
	double		rows = 0;
	bool		is_merged = false;
	ListCell   *lc;

	foreach(lc, path->subpaths)
	{
		Path	   *part = lfirst(lc);
		Path		sort;

		is_merged |= IsA(sk_below_projection(part), CustomPath);
		if (rows > SK_LIMIT_RESERVE * root->limit_tuples)
			break;
		rows += part->rows;
		if (!pathkeys_contained_in(path->path.pathkeys, part->pathkeys))
		{
			sk_cost_sort(&sort, root, path->path.pathkeys, part,
						 part->pathtarget->width);
			part = &sort;
		}
		result += part->startup_cost;
	}
	return is_merged ? Min(result, path->path.startup_cost) : path->path.startup_cost;
}

/* Is the order of the partitions of a table, one after the other, that of the query? */
static bool
gives_order(PlannerInfo *root, RelOptInfo *parent, ScanDirection direction)
{
	bool		is_partial;
	List	   *pathkeys = build_partition_pathkeys(root, parent, direction,
													&is_partial);

	return pathkeys_contained_in(root->query_pathkeys, pathkeys) ||
		(pathkeys != NIL && !is_partial &&
		 pathkeys_contained_in(pathkeys, root->query_pathkeys));
}

static void
add_paths(PlannerInfo *root, RelOptInfo *rel, bool may_merge)
{
	ListCell   *lc;

	foreach(lc, sk_shard_keys(root, rel))
	{
		SkShardKey *key = lfirst(lc);
		SkExtraClauses extra = {NIL};

		Assert((key->shards >= 1 || !key->covers_rows) && key->indexes != NIL);
		if (sk_enable_derived_shard)
			derive_clauses(root, rel, key, &extra);
		if (extra.base != NIL || extra.joins != NIL || extra.alternatives != NIL)
			add_derived_paths(root, rel, key, &extra);
		if (enable_shard_list && extra.base == NIL)
			add_list_paths(root, rel, key, extra.joins == NIL);
		if (may_merge)
			sk_merge_paths_hook(root, rel, key, extra.base);
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
	List	   *bounds;
	List	   *own = sk_without_added(rel->baserestrictinfo);
	bool		has_added = sk_has_shard_condition(key, rel->baserestrictinfo);
	ListCell   *lc;

	if (sk_has_shard_condition(key, own))
		return;

	sk_init_columns(&columns, key);
	sk_match_clauses(root, sk_make_clauses(own, 0), &columns);
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
		List	   *arms = NIL;

		if (rinfo->pseudoconstant || !is_orclause(rinfo->clause))
			continue;
		clause = sk_derive_alternatives(root,
										sk_make_clause(rinfo->orclause,
													   rinfo->security_level),
										&columns, bounds, &arms);
		if (clause == NULL)
			continue;
		result->sources = lappend(result->sources, rinfo);
		result->alternatives = lappend(result->alternatives,
									   complete_alternatives(rinfo, arms, clause->level));
		if (!is_orclause(clause->expr) && !has_added)
			result->base = lappend(result->base,
								   sk_make_shard_clause(root, clause->expr,
														clause->level));
	}
	if ((rel->joininfo != NIL || rel->has_eclass_joins) &&
		!is_joined_on_shard(root, rel, key))
		result->joins = derive_joins(root, rel, &columns);
}

/*
 * An OR whose arms are these lists of RestrictInfos.  Most are those of the
 * source, so that their selectivities are known.
 */
static RestrictInfo *
complete_alternatives(const RestrictInfo *source, List *arms, Index level)
{
	RestrictInfo *result = makeNode(RestrictInfo);
	List	   *clauses = NIL;
	List	   *exprs = NIL;
	ListCell   *lc;

	foreach(lc, arms)
	{
		clauses = lappend(clauses, make_andclause(lfirst(lc)));
		exprs = lappend(exprs, make_andclause(get_actual_clauses(lfirst(lc))));
	}
	*result = *source;
	/* the executor knows no OR of one arm */
	result->clause = list_length(exprs) == 1 ? linitial(exprs) : make_orclause(exprs);
	result->orclause = make_orclause(clauses);
	result->security_level = level;
	result->eval_cost.startup = -1;
	result->norm_selec = SK_REDUNDANT_SELECTIVITY;
	result->outer_selec = SK_REDUNDANT_SELECTIVITY;
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
	result = combine_sources(root, columns, choices, false);
	return result ? result : combine_sources(root, columns, choices, true);
}

/*
 * A condition for each relation that gives all values; if they may be mixed, for
 * each that gives the first column, with the first value of each other one.
 */
static List *
combine_sources(PlannerInfo *root, const SkColumns *columns, List **choices,
				bool mix)
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

			if (found == NULL && mix && choices[i] != NIL)
				found = linitial(choices[i]);
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

/*
 * Add index paths that use conditions that are derived for a shard key.
 * Planning can be nested, and an error of the inner one can be caught.
 */
static void
add_derived_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
				  const SkExtraClauses *extra)
{
	SkShardCost cost;
	SkShardCost *outer = current;
	RestrictInfo *shard = sk_one_shard(key, extra->base);

	Assert(key->indexes != NIL);
	sk_init_columns(&cost.columns, key);
	cost.clauses = list_concat_copy(extra->base, extra->joins);
	cost.by_range = extra->by_range;
	cost.estimate = set_cost_function(key, estimate_cost);
	PG_TRY();
	{
		current = &cost;
		add_index_paths(root, rel, key, extra);
		if (shard && !(enable_shard_merge && key->covers_rows && sk_is_filtered_part(rel)))
			add_ordered_paths(root, rel, key, shard);
	}
	PG_FINALLY();
	{
		current = outer;
	}
	PG_END_TRY();
	/* nobody else exchanges it while the indexes are ours */
	Assert(((IndexOptInfo *) linitial(key->indexes))->amcostestimate == estimate_cost);
	(void) set_cost_function(key, cost.estimate);
}

/*
 * Add the paths that look into every shard, one after the other.  That pays if
 * the second column of an index is restricted; not by a join if one fixes the
 * shard.  The list is costed as a constant, and then replaced by a call that
 * gives it.
 */
static void
add_list_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
			   bool with_joins)
{
	SkExtraClauses extra = {NIL};
	List	   *joininfo = rel->joininfo;
	bool		has_eclass_joins = rel->has_eclass_joins;
	ScalarArrayOpExpr *condition;

	if (!with_joins)
	{
		rel->joininfo = NIL;
		rel->has_eclass_joins = false;
	}
	if (key->covers_rows && key->shards <= sk_max_merge_shards &&
		!is_dearer(rel, key->shards * SK_SEARCH_COST * cpu_operator_cost) &&
		restricts_second_column(rel, key) &&
		!sk_has_shard_condition(key, rel->baserestrictinfo))
	{
		condition = (ScalarArrayOpExpr *)
			sk_shard_in(key, sk_all_shards(key, false));
		extra.base = list_make1(sk_make_shard_clause(root, (Expr *) condition, 0));
		add_index_paths(root, rel, key, &extra);
		lsecond(condition->args) = sk_all_shards(key, true);
	}
	rel->joininfo = joininfo;
	rel->has_eclass_joins = has_eclass_joins;
}

/*
 * Add index paths that use additional conditions on the shard.  Each join
 * condition is tried with those from the same relations, for there are many
 * ways to mix them, and none of these reads less.
 */
static void
add_index_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
				const SkExtraClauses *extra)
{
	List	   *joininfo = rel->joininfo;
	bool		has_eclass_joins = rel->has_eclass_joins;
	Relids		referencers = rel->lateral_referencers;
	bool		with_array = sk_has_array(extra->base) ||
		sk_has_array(extra->joins);
	ListCell   *lc;
	ListCell   *lc2;

	if (sk_loses_condition((Node *) extra->alternatives, rel) ||
		sk_loses_condition((Node *) joininfo, with_array ? rel : NULL))
		return;

	elog(DEBUG2, "shard of \"%s\": %d conditions, %d from joins, %d alternatives",
		 get_rel_name(planner_rt_fetch(rel->relid, root)->relid),
		 list_length(extra->base), list_length(extra->joins),
		 list_length(extra->alternatives));

	foreach(lc, extra->joins)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Relids		outer = bms_difference(rinfo->clause_relids, rel->relids);

		Assert(bms_is_subset(rel->relids, rinfo->clause_relids));
		/* what is enforced outside the index condition must not change */
		(void) get_baserel_parampathinfo(root, rel,
										 bms_union(outer,
												   rel->lateral_relids));
		rel->joininfo = lappend(list_copy(joininfo), rinfo);
		rel->lateral_referencers = bms_union(referencers,
											 bms_difference(root->all_baserels,
															rinfo->clause_relids));
		create_paths(root, rel, key, extra, NIL, with_array);

		/* a parameterized scan need not check an implied condition */
		foreach(lc2, rel->ppilist)
		{
			ParamPathInfo *info = lfirst(lc2);

			info->ppi_clauses = list_delete_ptr(info->ppi_clauses, rinfo);
		}
	}
	rel->lateral_referencers = referencers;

	if (extra->base != NIL || extra->alternatives != NIL)
	{
		rel->joininfo = extra->joins == NIL ? joininfo : NIL;
		rel->has_eclass_joins = has_eclass_joins && extra->joins == NIL;
		create_paths(root, rel, key, extra, extra->alternatives, with_array);
	}
	rel->joininfo = joininfo;
	rel->has_eclass_joins = has_eclass_joins;
}

/*
 * Paths with conditions as restrictions of the indexes, or of the relation: an
 * OR may need other indexes for other arms, hence all of them.  What it was
 * derived from need not be tried again.
 */
static void
create_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
			 const SkExtraClauses *extra, List *alternatives, bool with_array)
{
	List	   *indexlist = rel->indexlist;
	List	   *saved = exchange_restrictions(key, extra->base, with_array);
	ListCell   *lc;
	ListCell   *lc2;

	/* after an error nobody plans with the relation any more */
	if (alternatives != NIL)
		create_alternative_paths(root, rel, extra);
	else
	{
		rel->indexlist = key->indexes;
		create_index_paths(root, rel);
		rel->indexlist = indexlist;
	}
	Assert(list_length(key->indexes) == list_length(saved));
	forboth(lc, key->indexes, lc2, saved)
		((IndexOptInfo *) lfirst(lc))->indrestrictinfo = lfirst(lc2);
}

/*
 * A bitmap scan filters by the restrictions of its relation.  If those are what
 * the bitmap is made of, the server sees that at once: it would take longer to
 * prove that one OR implies the other than for all the rest of the planning.
 */
static void
create_alternative_paths(PlannerInfo *root, RelOptInfo *rel,
						 const SkExtraClauses *extra)
{
	RelOptInfo *scratch = makeNode(RelOptInfo);
	ListCell   *lc;

	*scratch = *rel;
	scratch->baserestrictinfo =
		list_concat(list_difference_ptr(sk_without_added(rel->baserestrictinfo),
										extra->sources), extra->alternatives);
	scratch->pathlist = NIL;
	scratch->partial_pathlist = NIL;
	create_index_paths(root, scratch);
	rel->ppilist = scratch->ppilist;
	foreach(lc, scratch->pathlist)
		add_path(rel, adopt_path(root, rel, lfirst(lc)));
	foreach(lc, scratch->partial_pathlist)
		add_partial_path(rel, adopt_path(root, rel, lfirst(lc)));
}

/* The server takes each path of a relation to have that one as its parent. */
static Path *
adopt_path(PlannerInfo *root, RelOptInfo *rel, Path *path)
{
	Path	   *result;

	if (path->parent == rel)
		return path;
	result = (Path *) create_projection_path(root, rel, path, rel->reltarget);
	Assert(((ProjectionPath *) result)->dummypp);
	result->param_info = path->param_info;
	return result;
}

/* Returns the restrictions that the indexes of the key have had. */
static List *
exchange_restrictions(const SkShardKey *key, List *clauses, bool with_array)
{
	List	   *saved = NIL;
	ListCell   *lc;

	foreach(lc, key->indexes)
	{
		IndexOptInfo *index = lfirst(lc);

		saved = lappend(saved, index->indrestrictinfo);
		index->indrestrictinfo =
			list_concat_copy(sk_index_restrictions(index->rel,
												   index->indrestrictinfo,
												   with_array),
							 clauses);
	}
	return saved;
}

/* Is there a path of all rows that costs less? */
static bool
is_dearer(RelOptInfo *rel, Cost cost)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = lfirst(lc);

		if (path->param_info == NULL && path->total_cost < cost &&
			!sk_is_disabled(path))
			return true;
	}
	return false;
}

static bool
restricts_second_column(RelOptInfo *rel, const SkShardKey *key)
{
	List	   *clauses =
		extract_actual_clauses(list_concat_copy(rel->baserestrictinfo, rel->joininfo), false);
	ListCell   *lc;

	foreach(lc, key->indexes)
	{
		IndexOptInfo *index = lfirst(lc);

		if (index->nkeycolumns < 2 || sk_shard_position(key, index) != 0)
			continue;
		if (index->indexkeys[1] == 0 || rel->has_eclass_joins ||
			sk_mentions((Node *) clauses, rel->relid, index->indexkeys[1]))
			return true;
	}
	return false;
}

/* Returns the function that the indexes of the key have had: all are B-trees. */
static amcostestimate_function
set_cost_function(const SkShardKey *key, amcostestimate_function function)
{
	amcostestimate_function result = NULL;
	ListCell   *lc;

	foreach(lc, key->indexes)
	{
		IndexOptInfo *index = lfirst(lc);

		Assert(result == NULL || result == index->amcostestimate);
		result = index->amcostestimate;
		index->amcostestimate = function;
	}
	return result;
}

static void
estimate_cost(PlannerInfo *root, IndexPath *path, double loop_count,
			  Cost *startup_cost, Cost *total_cost, Selectivity *selectivity,
			  double *correlation, double *pages)
{
	List	   *derived = derived_clauses(path);
	Bitmapset  *fixed = fixed_columns(path);
	Cost		startup;
	Cost		total;

	/* it is called within add_derived_paths() only, for an index of the key */
	Assert(current != NULL && current->estimate != estimate_cost);
	/* the condition on the shard decides how much of the index is read */
	if (!are_fixed(path->indexinfo, fixed, true))
		set_selectivity(derived, SK_UNKNOWN_SELECTIVITY);
	current->estimate(root, path, loop_count, startup_cost, total_cost,
					  selectivity, correlation, pages);
	set_selectivity(derived, SK_REDUNDANT_SELECTIVITY);

	/* the conditions behind it decide how many rows are left */
	if (derived != NIL && !are_fixed(path->indexinfo, fixed, true) &&
		are_fixed(path->indexinfo, fixed, false))
		current->estimate(root, path, loop_count, &startup, &total,
						  selectivity, correlation, pages);
	bms_free(fixed);
}

/* Those of our clauses that are conditions of the scan. */
static List *
derived_clauses(const IndexPath *path)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if (list_member_ptr(current->clauses, clause->rinfo))
			result = lappend(result, clause->rinfo);
	}
	return result;
}

static void
set_selectivity(List *clauses, double selectivity)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		rinfo->norm_selec = rinfo->outer_selec = selectivity;
	}
}

/*
 * The positions of the index columns that are equal to something, or restricted
 * in a way that the shard follows from.
 */
static Bitmapset *
fixed_columns(const IndexPath *path)
{
	Bitmapset  *result = NULL;
	ListCell   *lc;

	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, lc);

		if (current->by_range || sk_fixes_column(path->indexinfo, clause))
			result = bms_add_member(result, clause->indexcol);
	}
	return result;
}

/*
 * Are all columns of the shard key fixed?  "in_front" asks whether no column
 * before them is free: then the scan reads only these rows.
 */
static bool
are_fixed(const IndexOptInfo *index, const Bitmapset *fixed, bool in_front)
{
	for (int i = 0; i < current->columns.count; i++)
	{
		bool		found = false;

		for (int j = 0; !found && j < index->nkeycolumns; j++)
		{
			if (bms_is_member(j, fixed))
				found = index->indexkeys[j] == current->columns.columns[i]->varattno;
			else if (in_front)
				break;
		}
		if (!found)
			return false;
	}
	return true;
}

/*
 * Add index scans of one shard that give a useful order.  "shard" is the
 * derived condition that fixes the shard.
 */
static void
add_ordered_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
				  RestrictInfo *shard)
{
	ListCell   *lc;

	if (!has_useful_pathkeys(root, rel) || rel->lateral_relids != NULL)
		return;
	foreach(lc, key->indexes)
	{
		IndexOptInfo *index = lfirst(lc);
		SkOrder		orders[2];
		int			position = sk_shard_position(key, index);
		int			count = sk_orders_in_shard(root, rel, index, position,
											   false, orders);
		bool		index_only;
		List	   *clauses;

		if (count == 0)
			continue;
		clauses = sk_index_clauses(root, rel, index, position, shard,
								   &index_only);
		for (int i = 0; i < count && clauses != NIL; i++)
			add_path(rel, (Path *)
					 create_index_path(root, index, clauses, NIL, NIL,
									   orders[i].pathkeys, orders[i].direction,
									   index_only, NULL, 1.0, false));
	}
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
