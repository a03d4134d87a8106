/*-------------------------------------------------------------------------
 *
 * planner.c
 *	  Settings and hooks of the shard-aware planner.
 *
 * src/planner/planner.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/guc.h"

#include "compat.h"
#include "planner/planner.h"
#include "spanner_keys.h"

/* With so many tables and partitions planning takes long. */
#define SK_MANY_RELATIONS 256

bool		sk_enable_derived_shard = true;
bool		sk_enable_shard_list = true;
bool		sk_enable_shard_merge = true;
bool		sk_enable_shard_statistics = true;
int			sk_max_merge_shards = 4096;

static build_simple_rel_hook_type prev_build_simple_rel_hook = NULL;
static set_rel_pathlist_hook_type prev_set_rel_pathlist_hook = NULL;
static set_join_pathlist_hook_type prev_set_join_pathlist_hook = NULL;

static void define_settings(void);
static void sk_build_simple_rel(SK_SIMPLE_REL_ARGS);
static void sk_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
								RangeTblEntry *rte);
static void sk_set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel,
								 RelOptInfo *outerrel, RelOptInfo *innerrel,
								 JoinType jointype, JoinPathExtraData *extra);
static bool may_gain(PlannerInfo *root, RelOptInfo *rel);
static void add_paths(PlannerInfo *root, RelOptInfo *rel);

void
sk_planner_init(void)
{
	define_settings();
	sk_known_functions_init();
	sk_shard_key_init();
	sk_merge_init();

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
		sk_add_parent_quals(root, rel);
}

static void
sk_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
					RangeTblEntry *rte)
{
	if (prev_set_rel_pathlist_hook)
		prev_set_rel_pathlist_hook(root, rel, rti, rte);

	if (sk_enable_derived_shard && !IS_DUMMY_REL(rel) &&
		(rel->part_scheme || rel->reloptkind == RELOPT_OTHER_MEMBER_REL))
		sk_correct_estimates(root, rel);

	if (rel->indexlist != NIL && rte->rtekind == RTE_RELATION &&
		rte->tablesample == NULL && !rte->inh &&
		(sk_enable_derived_shard || sk_enable_shard_list ||
		 sk_enable_shard_merge) &&
		!IS_DUMMY_REL(rel) && may_gain(root, rel))
		add_paths(root, rel);
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
		sk_forget_added(joinrel, extra->restrictlist);
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
		SkExtraClauses extra = {NIL, NIL, NIL, NIL, false};

		Assert((key->shards >= 1 || !key->covers_rows) && key->indexes != NIL);
		if (sk_enable_derived_shard)
		{
			sk_derive_clauses(root, rel, key, &extra);
			sk_add_shard_paths(root, rel, key, &extra);
		}
		if (sk_enable_shard_list && extra.base == NIL)
			sk_add_list_paths(root, rel, key, extra.joins == NIL);
		if (sk_enable_shard_merge)
			sk_add_merge_paths(root, rel, key, extra.base);
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
							 &sk_enable_shard_list,
							 true,
							 PGC_USERSET,
							 GUC_EXPLAIN,
							 NULL, NULL, NULL);

	DefineCustomBoolVariable("spanner_keys.enable_shard_merge",
							 "Enables the planner to merge shards in the order of their keys.",
							 NULL,
							 &sk_enable_shard_merge,
							 true,
							 PGC_USERSET,
							 GUC_EXPLAIN,
							 NULL, NULL, NULL);

	DefineCustomBoolVariable("spanner_keys.enable_shard_statistics",
							 "Enables new tables with a shard column to get statistics that load the library.",
							 NULL,
							 &sk_enable_shard_statistics,
							 true,
							 PGC_USERSET,
							 0,
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
