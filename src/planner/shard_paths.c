/*-------------------------------------------------------------------------
 *
 * shard_paths.c
 *	  Index paths with conditions on the shard that the query does not have.
 *
 * The server's own code makes and costs these paths: it is run again on the
 * indexes that a shard key leads, while the relation seems to have the
 * additional clauses.  They stay in the index conditions of the paths, and
 * nowhere else.
 *
 * src/planner/shard_paths.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "planner/derive.h"
#include "planner/planner.h"
#include "planner/row_comparison.h"
#include "planner/shard_paths.h"

static void create_paths(PlannerInfo *root, RelOptInfo *rel,
						 const SkShardKey *key, List *base,
						 List *alternatives, bool with_array);
static List *exchange_restrictions(const SkShardKey *key, List *clauses,
								   bool with_array);
static void restore_restrictions(const SkShardKey *key, List *saved);
static void forget_join(RelOptInfo *rel, RestrictInfo *join);
static bool restricts_second_column(PlannerInfo *root, RelOptInfo *rel,
									const SkShardKey *key);
static bool mentions(PlannerInfo *root, List *clauses, RelOptInfo *rel,
					 int attnum);

/*
 * sk_add_index_paths
 *		Add the paths that use additional conditions on the shard.
 *
 * Each join condition is tried with those from the same relations, for there
 * are many ways to mix them, and none of these reads less.
 */
void
sk_add_index_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
				   const SkExtraClauses *extra)
{
	List	   *joininfo = rel->joininfo;
	bool		has_eclass_joins = rel->has_eclass_joins;
	Relids		referencers = rel->lateral_referencers;
	bool		with_array = sk_has_array(extra->base) ||
		sk_has_array(extra->joins);
	ListCell   *lc;

	if (sk_may_hide((Node *) joininfo) ||
		sk_may_hide((Node *) extra->alternatives) ||
		sk_may_take_null(rel, (Node *) extra->alternatives) ||
		(with_array && sk_may_take_null(rel, (Node *) joininfo)))
		return;

	elog(DEBUG2, "shard of \"%s\": %d conditions, %d from joins, %d alternatives",
		 get_rel_name(planner_rt_fetch(rel->relid, root)->relid),
		 list_length(extra->base), list_length(extra->joins),
		 list_length(extra->alternatives));

	foreach(lc, extra->joins)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Relids		outer = bms_difference(rinfo->clause_relids, rel->relids);

		/* what is enforced outside the index condition must not change */
		(void) get_baserel_parampathinfo(root, rel,
										 bms_union(outer,
												   rel->lateral_relids));
		rel->joininfo = lappend(list_copy(joininfo), rinfo);
		rel->lateral_referencers = bms_union(referencers,
											 bms_difference(root->all_baserels,
															rinfo->clause_relids));
		create_paths(root, rel, key, extra->base, NIL, with_array);
		forget_join(rel, rinfo);
	}
	rel->lateral_referencers = referencers;

	if (extra->base != NIL || extra->alternatives != NIL)
	{
		rel->joininfo = extra->joins == NIL ? joininfo : NIL;
		rel->has_eclass_joins = has_eclass_joins && extra->joins == NIL;
		create_paths(root, rel, key, extra->base, extra->alternatives,
					 with_array);
	}
	rel->joininfo = joininfo;
	rel->has_eclass_joins = has_eclass_joins;
}

/*
 * sk_add_list_paths
 *		Add the paths that look into every shard, one after the other.
 *
 * That pays if the second column of an index is restricted; by a join, only
 * if none fixes the shard.  The list is costed as what it is, and then
 * replaced by a call that gives it.
 */
void
sk_add_list_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
				  bool with_joins)
{
	SkExtraClauses extra = {NIL, NIL, NIL};
	List	   *joininfo = rel->joininfo;
	bool		has_eclass_joins = rel->has_eclass_joins;
	ScalarArrayOpExpr *condition;

	if (!with_joins)
	{
		rel->joininfo = NIL;
		rel->has_eclass_joins = false;
	}
	if (key->covers_rows && key->shards <= sk_max_merge_shards &&
		restricts_second_column(root, rel, key) &&
		!sk_has_shard_condition(key, rel->baserestrictinfo))
	{
		condition = (ScalarArrayOpExpr *)
			sk_shard_in(key, (Expr *) sk_all_shards_const(key));
		extra.base = list_make1(sk_make_shard_clause(root, (Expr *) condition, 0));
		sk_add_index_paths(root, rel, key, &extra);
		lsecond(condition->args) = sk_all_shards_call(key);
	}
	rel->joininfo = joininfo;
	rel->has_eclass_joins = has_eclass_joins;
}

/* An OR may need other indexes for other arms, hence all of them. */
static void
create_paths(PlannerInfo *root, RelOptInfo *rel, const SkShardKey *key,
			 List *base, List *alternatives, bool with_array)
{
	List	   *indexlist = rel->indexlist;
	List	   *baserestrictinfo = rel->baserestrictinfo;
	List	   *saved = exchange_restrictions(key, base, with_array);

	if (alternatives == NIL)
		rel->indexlist = key->indexes;
	else
		rel->baserestrictinfo = list_concat_copy(baserestrictinfo,
												 alternatives);
	create_index_paths(root, rel);
	rel->baserestrictinfo = baserestrictinfo;
	rel->indexlist = indexlist;
	restore_restrictions(key, saved);
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
			list_concat_copy(sk_unhidden_clauses(index->rel,
												 index->indrestrictinfo,
												 with_array),
							 clauses);
	}
	return saved;
}

static void
restore_restrictions(const SkShardKey *key, List *saved)
{
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, key->indexes, lc2, saved)
		((IndexOptInfo *) lfirst(lc))->indrestrictinfo = lfirst(lc2);
}

/* A parameterized scan need not check a condition that is implied. */
static void
forget_join(RelOptInfo *rel, RestrictInfo *join)
{
	ListCell   *lc;

	foreach(lc, rel->ppilist)
	{
		ParamPathInfo *info = lfirst(lc);

		info->ppi_clauses = list_delete_ptr(info->ppi_clauses, join);
	}
}

static bool
restricts_second_column(PlannerInfo *root, RelOptInfo *rel,
						const SkShardKey *key)
{
	ListCell   *lc;

	foreach(lc, key->indexes)
	{
		IndexOptInfo *index = lfirst(lc);

		if (index->nkeycolumns < 2 || sk_shard_position(key, index) != 0)
			continue;
		if (index->indexkeys[1] == 0 || rel->has_eclass_joins ||
			mentions(root, rel->baserestrictinfo, rel, index->indexkeys[1]) ||
			mentions(root, rel->joininfo, rel, index->indexkeys[1]))
			return true;
	}
	return false;
}

static bool
mentions(PlannerInfo *root, List *clauses, RelOptInfo *rel, int attnum)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Bitmapset  *attnums = NULL;

		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause,
					   rel->relid, &attnums);
		if (bms_is_member(attnum - FirstLowInvalidHeapAttributeNumber,
						  attnums))
			return true;
	}
	return false;
}
