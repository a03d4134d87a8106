/*-------------------------------------------------------------------------
 *
 * other_hooks.c
 *	  Counts the calls of hooks, as a neighbor of the library that needs them.
 *
 * It is preloaded before the library, which so has to call it.
 *
 * test/modules/other_hooks/other_hooks.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/objectaccess.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "optimizer/paths.h"
#include "optimizer/plancat.h"
#include "optimizer/planner.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/inval.h"

#include "compat.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(other_hooks_called);
PG_FUNCTION_INFO_V1(other_hooks_take_places);

void		_PG_init(void);

typedef enum Hook
{
	HOOK_SHMEM_REQUEST,
	HOOK_PLANNER,
	HOOK_SIMPLE_REL,
	HOOK_REL_PATHLIST,
	HOOK_JOIN_PATHLIST,
	HOOK_UTILITY,
	HOOK_OBJECT_ACCESS,
	HOOK_COUNT
} Hook;

static const char *const names[] = {
	"shmem_request", "planner", "simple_rel", "rel_pathlist", "join_pathlist", "utility", "object_access"
};

static int	calls[HOOK_COUNT];

static void
request_memory(void)
{
	calls[HOOK_SHMEM_REQUEST]++;
}

static PlannedStmt *
count_plan(SK_PLANNER_ARGS)
{
	calls[HOOK_PLANNER]++;
	return standard_planner(SK_PLANNER_PASS);
}

static void
count_simple_rel(SK_SIMPLE_REL_ARGS)
{
	calls[HOOK_SIMPLE_REL]++;
}

static void
count_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	calls[HOOK_REL_PATHLIST]++;
}

static void
count_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel, RelOptInfo *innerrel,
					JoinType jointype, JoinPathExtraData *extra)
{
	calls[HOOK_JOIN_PATHLIST]++;
}

static void
count_utility(PlannedStmt *pstmt, const char *queryString, bool readOnlyTree, ProcessUtilityContext context,
			  ParamListInfo params, QueryEnvironment *queryEnv, DestReceiver *dest, QueryCompletion *qc)
{
	calls[HOOK_UTILITY]++;
	standard_ProcessUtility(pstmt, queryString, readOnlyTree, context, params, queryEnv, dest, qc);
}

/* Who looks for a name may do that more often. */
static void
count_access(ObjectAccessType access, Oid classId, Oid objectId, int subId, void *arg)
{
	if (access != OAT_NAMESPACE_SEARCH)
		calls[HOOK_OBJECT_ACCESS]++;
}

void
_PG_init(void)
{
	shmem_request_hook = request_memory;
	planner_hook = count_plan;
	build_simple_rel_hook = count_simple_rel;
	set_rel_pathlist_hook = count_rel_pathlist;
	set_join_pathlist_hook = count_join_pathlist;
	ProcessUtility_hook = count_utility;
	object_access_hook = count_access;
}

/*
 * other_hooks_called() returns text
 *
 * The hooks that were called since the last call, with their counts.
 */
Datum
other_hooks_called(PG_FUNCTION_ARGS)
{
	StringInfoData result;

	initStringInfo(&result);
	for (int i = 0; i < HOOK_COUNT; i++)
	{
		if (calls[i] > 0)
			appendStringInfo(&result, "%s%s %d", result.len > 0 ? ", " : "", names[i], calls[i]);
		calls[i] = 0;
	}
	PG_RETURN_TEXT_P(cstring_to_text(result.data));
}

static void
ignore_relation(Datum arg, Oid relid)
{
}

/* Take the places for relation cache callbacks that are left; the server ends the session. */
Datum
other_hooks_take_places(PG_FUNCTION_ARGS)
{
	for (;;)
	{
		CacheRegisterRelcacheCallback(ignore_relation, (Datum) 0);
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("took a place")));
	}
}
