/*-------------------------------------------------------------------------
 *
 * spanner_keys.c
 *	  Entry point of the library: starts each room.
 *
 * Everything works without preloading.  The library is then loaded by the
 * first call of one of its functions, or by its event triggers.
 *
 * src/spanner_keys.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/varlena.h"

#include "compat.h"
#include "spanner_keys.h"

SK_MODULE_MAGIC;

/* How many letters a misspelled name differs by, at most. */
#define MAX_DISTANCE 2

static ProcessUtility_hook_type prev_ProcessUtility_hook = NULL;

void		_PG_init(void);

static void naming_utility(PlannedStmt *pstmt, const char *queryString,
						   bool readOnlyTree, ProcessUtilityContext context,
						   ParamListInfo params, QueryEnvironment *queryEnv,
						   DestReceiver *dest, QueryCompletion *qc);
static const char *named_setting(Node *command);
static void warn_of_misspelled_settings(void);
static void warn_of_misspelled_setting(struct config_generic **settings,
									   int count, const char *name);
static const char *nearest_setting(struct config_generic **settings, int count,
								   const char *name);

void
_PG_init(void)
{
	sk_allocator_init();
	sk_planner_init();
	sk_sequence_init();
	sk_spanner_ddl_init();

	/*
	 * Only our own prefix is reserved.  Clients of Spanner set parameters
	 * such as spanner.retry_aborts_internally, which must not fail here.
	 */
	MarkGUCPrefixReserved("spanner_keys");
	warn_of_misspelled_settings();
	prev_ProcessUtility_hook = ProcessUtility_hook;
	ProcessUtility_hook = naming_utility;
}

static void
naming_utility(PlannedStmt *pstmt, const char *queryString,
			   bool readOnlyTree, ProcessUtilityContext context,
			   ParamListInfo params, QueryEnvironment *queryEnv,
			   DestReceiver *dest, QueryCompletion *qc)
{
	const char *name = named_setting(pstmt->utilityStmt);

	if (name != NULL)
	{
		int			count;
		struct config_generic **settings = sk_guc_variables(&count);

		warn_of_misspelled_setting(settings, count, name);
	}

	if (prev_ProcessUtility_hook)
		prev_ProcessUtility_hook(pstmt, queryString, readOnlyTree, context,
								 params, queryEnv, dest, qc);
	else
		standard_ProcessUtility(pstmt, queryString, readOnlyTree, context,
								params, queryEnv, dest, qc);
}

/* The setting with Spanner's prefix that a command gives a value, or NULL. */
static const char *
named_setting(Node *command)
{
	VariableSetStmt *set;

	switch (nodeTag(command))
	{
		case T_VariableSetStmt:
			set = (VariableSetStmt *) command;
			break;
		case T_AlterDatabaseSetStmt:
			set = ((AlterDatabaseSetStmt *) command)->setstmt;
			break;
		case T_AlterRoleSetStmt:
			set = ((AlterRoleSetStmt *) command)->setstmt;
			break;
		case T_AlterSystemStmt:
			set = ((AlterSystemStmt *) command)->setstmt;
			break;
		default:
			return NULL;
	}
	return set->kind == VAR_SET_VALUE &&
		pg_strncasecmp(set->name, "spanner.", 8) == 0 ? set->name : NULL;
}

/*
 * Settings of an unknown name are kept for the library that defines them, so a
 * misspelled one is silent.  Of those with the prefix that is not reserved, we
 * report what looks like one of ours.
 */
static void
warn_of_misspelled_settings(void)
{
	int			count;
	struct config_generic **settings = sk_guc_variables(&count);

	/* the leader has reported them */
	if (IsParallelWorker())
		return;
	for (int i = 0; i < count; i++)
	{
		if ((settings[i]->flags & GUC_CUSTOM_PLACEHOLDER) != 0)
			warn_of_misspelled_setting(settings, count, settings[i]->name);
	}
}

/* Is "name" nearly, and not quite, one of our settings? */
static void
warn_of_misspelled_setting(struct config_generic **settings, int count,
						   const char *name)
{
	const char *meant;

	if (pg_strncasecmp(name, "spanner.", 8) != 0)
		return;
	meant = nearest_setting(settings, count, name + 8);
	if (meant != NULL && pg_strcasecmp(meant, name) != 0)
		ereport(WARNING,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("unrecognized configuration parameter \"%s\"", name),
				 errhint("Perhaps you meant \"%s\".", meant)));
}

/*
 * The one of our settings whose name, apart from the prefix, is nearly "name";
 * NULL if there is none.
 */
static const char *
nearest_setting(struct config_generic **settings, int count, const char *name)
{
	const char *result = NULL;
	int			least = MAX_DISTANCE + 1;

	for (int i = 0; i < count && least > 0; i++)
	{
		const char *dot = strchr(settings[i]->name, '.');
		int			distance;

		if (dot == NULL ||
			(settings[i]->flags & (GUC_CUSTOM_PLACEHOLDER | GUC_NO_SHOW_ALL)) != 0 ||
			(pg_strncasecmp(settings[i]->name, "spanner.", 8) != 0 &&
			 pg_strncasecmp(settings[i]->name, "spanner_keys.", 13) != 0))
			continue;
		distance = varstr_levenshtein_less_equal(dot + 1, strlen(dot + 1),
												 name, strlen(name),
												 1, 1, 1, least - 1, true);
		if (distance < least)
		{
			least = distance;
			result = settings[i]->name;
		}
	}
	return result;
}
