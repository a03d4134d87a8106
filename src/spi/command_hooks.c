/*-------------------------------------------------------------------------
 *
 * command_hooks.c
 *	  Callbacks for commands on sequences and tables, by event triggers and
 *	  utility hook, and for changes of relations.
 *
 * What a command has done only pg_event_trigger_ddl_commands() knows.  Every
 * CREATE TABLE and most of ALTER TABLE come here, so the function is called
 * without a query around it: to parse and plan one takes longer than many of
 * these commands.
 *
 * The triggers work without preloading: calling one loads the library.  For
 * SECURITY LABEL that is all the trigger is for, since core looks for a
 * label's provider.  Event triggers can be turned off.  So the utility hook
 * guards what they guard as well, once the library is loaded.  For the tags
 * that can rename or move an object of the extension, loading it is enough: see
 * own_objects.c.
 *
 * The server has ten places for relation cache callbacks, and other extensions
 * may take many.  All modules of this library share one, which is taken when the
 * first of them begins to remember something.  So a process that uses nothing of
 * the library, such as a WAL sender, takes none.
 *
 * src/spi/command_hooks.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_trigger.h"
#include "commands/event_trigger.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "spanner_keys.h"
#include "spi/command_hooks.h"

/* The result columns that count. */
enum
{
	SK_COMMAND_CLASS = 1,
	SK_COMMAND_OBJECT,
	SK_COMMAND_TAG = 4,
	SK_COMMAND_COMMAND = 9
};

/* The callbacks of one subject; each may be NULL. */
typedef struct SkCommandCallbacks
{
	SkCommandStart guard;
	SkCommandStart start;
	SkCommandEnd end;
} SkCommandCallbacks;

/* So many subjects there are at most. */
#define SK_MAX_CALLBACKS 12

static SkCommandCallbacks callbacks[SK_MAX_CALLBACKS];
static int	callback_count = 0;
static ProcessUtility_hook_type prev_ProcessUtility_hook = NULL;
static RelcacheCallbackFunction relation_callbacks[SK_MAX_CALLBACKS];
static int	relation_callback_count = 0;
static bool watches_relations = false;

/* How Citus names its sessions on other nodes. */
#define SK_CITUS_SESSION "citus_internal gpid="

PG_FUNCTION_INFO_V1(spanner_on_ddl_command);

static void guarding_utility(PlannedStmt *pstmt, const char *queryString,
							 bool readOnlyTree, ProcessUtilityContext context,
							 ParamListInfo params, QueryEnvironment *queryEnv,
							 DestReceiver *dest, QueryCompletion *qc);
static void tell_of_relation(Datum arg, Oid relid);
static void guard_command(Node *command);
static void start_command(Node *command);
static void end_command(Node *command);
static List *command_relations(void);
static SkCommandRelation *read_relation(TupleTableSlot *row);
static Oid	table_of(Oid class, Oid object);
static bool changes_columns(Node *command);
static bool keeps_columns(AlterTableCmd *cmd);

/*
 * sk_command_hooks_init
 *		Install the utility hook.
 */
void
sk_command_hooks_init(void)
{
	callback_count = 0;
	prev_ProcessUtility_hook = ProcessUtility_hook;
	ProcessUtility_hook = guarding_utility;
}

/*
 * sk_on_command
 *		Register callbacks for commands, any of which may be NULL.
 *
 * To be called when the library is loaded.  Guards and starts are called in
 * the order in which they are registered, ends in the reverse order: what
 * starts last ends first.
 */
void
sk_on_command(SkCommandStart guard, SkCommandStart start, SkCommandEnd end)
{
	SkCommandCallbacks *entry = &callbacks[callback_count++];

	Assert(callback_count <= SK_MAX_CALLBACKS);
	entry->guard = guard;
	entry->start = start;
	entry->end = end;
}

/*
 * sk_on_relation_change
 *		Register a relation cache callback, which gets 0 as its argument.
 */
void
sk_on_relation_change(RelcacheCallbackFunction callback)
{
	/* the server loads a library again if that has failed */
	for (int i = 0; i < relation_callback_count; i++)
	{
		if (relation_callbacks[i] == callback)
			return;
	}
	Assert(relation_callback_count < SK_MAX_CALLBACKS);
	relation_callbacks[relation_callback_count++] = callback;
}

/*
 * sk_watch_relations
 *		Call these callbacks from now on.
 *
 * To be called before something is remembered that a change makes wrong.
 */
void
sk_watch_relations(void)
{
	Assert(relation_callback_count >= 1);
	if (watches_relations)
		return;
	CacheRegisterRelcacheCallback(tell_of_relation, (Datum) 0);
	watches_relations = true;
}

static void
tell_of_relation(Datum arg, Oid relid)
{
	for (int i = 0; i < relation_callback_count; i++)
		relation_callbacks[i] (arg, relid);
}

/*
 * sk_restoring
 *		Are labels, counters and rows those of another database?
 *
 * Then they are stored as given, and need not be safe by themselves: a dump is
 * being restored, or a change is replicated.  What replicates from another server
 * runs in role "replica".  DDL does not ask this: frameworks turn foreign keys
 * off by that role, and then migrate.
 */
bool
sk_restoring(void)
{
	return !check_function_bodies ||
		SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;
}

/*
 * sk_brings_labels
 *		Does a dump make what is new, and give it its kind by a label?
 *
 * pg_dump always turns check_function_bodies off.
 */
bool
sk_brings_labels(void)
{
	return !check_function_bodies;
}

/*
 * sk_citus_exists
 *		Does this database have Citus?
 *
 * Citus has to be preloaded, so a session without its settings need not look.
 */
bool
sk_citus_exists(void)
{
	return GetConfigOption("citus.shard_count", true, false) != NULL &&
		OidIsValid(get_extension_oid(SK_CITUS, true));
}

/*
 * sk_sent_by_citus
 *		Does Citus run this session for a session on another node?
 */
bool
sk_sent_by_citus(void)
{
	return strncmp(application_name, SK_CITUS_SESSION,
				   strlen(SK_CITUS_SESSION)) == 0;
}

static void
guarding_utility(PlannedStmt *pstmt, const char *queryString,
				 bool readOnlyTree, ProcessUtilityContext context,
				 ParamListInfo params, QueryEnvironment *queryEnv,
				 DestReceiver *dest, QueryCompletion *qc)
{
	guard_command(pstmt->utilityStmt);

	if (prev_ProcessUtility_hook)
		prev_ProcessUtility_hook(pstmt, queryString, readOnlyTree, context,
								 params, queryEnv, dest, qc);
	else
		standard_ProcessUtility(pstmt, queryString, readOnlyTree, context,
								params, queryEnv, dest, qc);
}

static void
guard_command(Node *command)
{
	for (int i = 0; i < callback_count; i++)
	{
		if (callbacks[i].guard != NULL)
			callbacks[i].guard(command);
	}
}

static void
start_command(Node *command)
{
	/* the command that loads the library is past the utility hook */
	guard_command(command);
	for (int i = 0; i < callback_count && changes_columns(command); i++)
	{
		if (callbacks[i].start != NULL)
			callbacks[i].start(command);
	}
}

static void
end_command(Node *command)
{
	List	   *relations;

	if (!changes_columns(command))
		return;
	/* before the callbacks, which run commands of their own */
	relations = command_relations();
	for (int i = callback_count - 1; i >= 0; i--)
	{
		if (callbacks[i].end != NULL)
			callbacks[i].end(command, relations);
	}
}

/*
 * The relations that the command of an event trigger has created or altered, a
 * list of SkCommandRelation, in the order in which it was done.  Relations that
 * are gone are left out.
 */
static List *
command_relations(void)
{
	ExprContext *econtext = CreateStandaloneExprContext();
	ReturnSetInfo rsinfo = {.type = T_ReturnSetInfo,.econtext = econtext,
	.allowedModes = SFRM_Materialize};

	LOCAL_FCINFO(fcinfo, 0);
	FmgrInfo	function;
	List	   *result = NIL;
	TupleTableSlot *row;

	/* as the executor does for a function in FROM */
	fmgr_info(F_PG_EVENT_TRIGGER_DDL_COMMANDS, &function);
	InitFunctionCallInfoData(*fcinfo, &function, 0, InvalidOid, NULL,
							 (Node *) &rsinfo);
	(void) FunctionCallInvoke(fcinfo);
	Assert(rsinfo.returnMode == SFRM_Materialize);
	row = MakeSingleTupleTableSlot(rsinfo.setDesc, &TTSOpsMinimalTuple);
	while (tuplestore_gettupleslot(rsinfo.setResult, true, false, row))
	{
		SkCommandRelation *relation = read_relation(row);

		if (relation != NULL)
			result = lappend(result, relation);
	}
	ExecDropSingleTupleTableSlot(row);
	tuplestore_end(rsinfo.setResult);
	FreeExprContext(econtext, true);
	return result;
}

/* A row of the result, NULL if it is not about a relation. */
static SkCommandRelation *
read_relation(TupleTableSlot *row)
{
	SkCommandRelation *relation;
	Oid			classid;
	Oid			relid;
	char		relkind;

	slot_getallattrs(row);
	/* privileges have no object */
	if (row->tts_isnull[SK_COMMAND_CLASS - 1])
		return NULL;
	classid = DatumGetObjectId(row->tts_values[SK_COMMAND_CLASS - 1]);
	relid = DatumGetObjectId(row->tts_values[SK_COMMAND_OBJECT - 1]);
	if (classid == StatisticExtRelationId || classid == TriggerRelationId)
		relid = table_of(classid, relid);
	else if (classid != RelationRelationId)
		return NULL;
	relkind = get_rel_relkind(relid);
	if (relkind == '\0')
		return NULL;

	relation = palloc(sizeof(SkCommandRelation));
	relation->relid = relid;
	relation->relkind = relkind;
	relation->is_new = classid == RelationRelationId &&
		strncmp(TextDatumGetCString(row->tts_values[SK_COMMAND_TAG - 1]),
				"CREATE ", strlen("CREATE ")) == 0;
	relation->command = (CollectedCommand *) DatumGetPointer(row->tts_values[SK_COMMAND_COMMAND - 1]);
	return relation;
}

/* The table of a trigger, or of a statistics object, which is altered with it. */
static Oid
table_of(Oid class, Oid object)
{
	Relation	catalog = table_open(class, AccessShareLock);
	HeapTuple	tuple = get_catalog_object_by_oid(catalog, get_object_attnum_oid(class), object);

	table_close(catalog, AccessShareLock);
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	return class == TriggerRelationId ? ((Form_pg_trigger) GETSTRUCT(tuple))->tgrelid :
		((Form_pg_statistic_ext) GETSTRUCT(tuple))->stxrelid;
}

/*
 * Can a command make or label a sequence, or change a column, a constraint or
 * a partition, or make a trigger that numbers rows?  Others must cost nothing:
 * frameworks turn the triggers of every table off and on for each test.
 */
static bool
changes_columns(Node *command)
{
	ListCell   *lc;

	if (IsA(command, CreateTrigStmt))
		return strcmp(strVal(llast(((CreateTrigStmt *) command)->funcname)),
					  SK_NUMBERING) == 0;
	if (!IsA(command, AlterTableStmt))
		return true;
	foreach(lc, ((AlterTableStmt *) command)->cmds)
	{
		if (!keeps_columns(lfirst(lc)))
			return true;
	}
	return false;
}

static bool
keeps_columns(AlterTableCmd *cmd)
{
	switch (cmd->subtype)
	{
		case AT_AddConstraint:

			/*
			 * a primary key makes columns NOT NULL, a foreign key can be
			 * narrow
			 */
			return IsA(cmd->def, Constraint) &&
				((Constraint *) cmd->def)->contype == CONSTR_UNIQUE;
		case AT_ClusterOn:
		case AT_DisableRowSecurity:
		case AT_DisableRule:
		case AT_DisableTrig:
		case AT_DisableTrigAll:
		case AT_DisableTrigUser:
		case AT_DropCluster:
		case AT_EnableAlwaysRule:
		case AT_EnableAlwaysTrig:
		case AT_EnableReplicaRule:
		case AT_EnableReplicaTrig:
		case AT_EnableRowSecurity:
		case AT_EnableRule:
		case AT_EnableTrig:
		case AT_EnableTrigAll:
		case AT_EnableTrigUser:
		case AT_ForceRowSecurity:
		case AT_NoForceRowSecurity:
		case AT_ReplaceRelOptions:
		case AT_ReplicaIdentity:
		case AT_ResetOptions:
		case AT_ResetRelOptions:
		case AT_SetAccessMethod:
		case AT_SetCompression:
		case AT_SetLogged:
		case AT_SetOptions:
		case AT_SetRelOptions:
		case AT_SetStatistics:
		case AT_SetStorage:
		case AT_SetTableSpace:
		case AT_SetUnLogged:
			return true;
		default:
			return false;
	}
}

/*
 * spanner_internal.on_ddl_command() returns event_trigger
 *
 * For ddl_command_start and ddl_command_end.
 */
Datum
spanner_on_ddl_command(PG_FUNCTION_ARGS)
{
	EventTriggerData *trigger = (EventTriggerData *) fcinfo->context;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function can only be called by an event trigger")));
	if (strcmp(trigger->event, "ddl_command_start") == 0)
		start_command(trigger->parsetree);
	else if (strcmp(trigger->event, "ddl_command_end") == 0)
		end_command(trigger->parsetree);
	PG_RETURN_NULL();
}
