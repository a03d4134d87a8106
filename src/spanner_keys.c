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
#include "access/xact.h"
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

bool		sk_settings_defined = false;

/* Has the session drawn, and not used the library for anything else? */
static bool only_draws = false;

/* How many settings the session had when the library was loaded. */
static int	settings_before = 0;

static ProcessUtility_hook_type prev_ProcessUtility_hook = NULL;

void		_PG_init(void);

static bool settings_can_wait(void);
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
	if (!settings_can_wait())
		sk_define_settings();
	prev_ProcessUtility_hook = ProcessUtility_hook;
	ProcessUtility_hook = naming_utility;
}

/*
 * Where each of our settings costs as much as it does in release 15, a session
 * that only draws does without them: their variables have the right values
 * unless somebody has set them.
 *
 * What is set before the library is loaded is checked when it is, but for the
 * default kind, which whoever uses it asks for by sk_default_sequence_kind().
 */
static bool
settings_can_wait(void)
{
	struct config_generic **settings = sk_guc_variables(&settings_before);

	/* without a transaction the library is preloaded */
	if (!SK_SETTINGS_ARE_SORTED || !IsTransactionState() || IsParallelWorker())
		return false;
	for (int i = 0; i < settings_before; i++)
	{
		if ((settings[i]->flags & GUC_CUSTOM_PLACEHOLDER) != 0 &&
			pg_strncasecmp(settings[i]->name, "spanner", 7) == 0 &&
			pg_strcasecmp(settings[i]->name, "spanner.default_sequence_kind") != 0)
			return false;
	}
	return true;
}

/*
 * sk_put_off_settings
 *		Note that the library was loaded for a draw.
 */
void
sk_put_off_settings(void)
{
	only_draws = true;
}

/*
 * sk_define_used_settings
 *		Define the settings before a statement that may know of them.
 *
 * That is any but the draws of a session that has not used the library for
 * anything else, as long as nobody makes a setting.
 */
void
sk_define_used_settings(void)
{
	int			count;

	(void) sk_guc_variables(&count);
	if (!only_draws || count != settings_before)
		sk_define_settings();
}

/*
 * sk_define_settings
 *		Define the settings of all rooms, unless that was done.
 */
void
sk_define_settings(void)
{
	if (sk_settings_defined)
		return;
	sk_allocator_settings();
	sk_planner_settings();
	sk_sequence_settings();
	sk_spanner_ddl_settings();
	sk_settings_defined = true;

	/*
	 * Only our own prefix is reserved.  Clients of Spanner set parameters
	 * such as spanner.retry_aborts_internally, which must not fail here.
	 */
	MarkGUCPrefixReserved("spanner_keys");
	warn_of_misspelled_settings();
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
		struct config_generic **settings;

		sk_define_settings();
		settings = sk_guc_variables(&count);
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
