/*-------------------------------------------------------------------------
 *
 * ddl.c
 *	  Commands on sequences and tables: event triggers, utility hook.
 *
 * After every command that can create a sequence:
 *
 * - a new sequence gets the kind that spanner.default_sequence_kind names,
 *	 unless it is temporary or the kind does not fit it;
 * - an identity column with such a sequence becomes a column whose default
 *	 draws from it, since core's identity draws the plain counter;
 * - a table with a shard column gets statistics that load the library, unless
 *	 Citus sends it, and the statistics behind it;
 * - where Citus is, labels of columns and of sequences agree.
 *
 * Nothing of this but the last happens while a dump is being restored, see sk_restoring().
 *
 * The triggers are there without preloading: calling one loads the library.
 * For SECURITY LABEL that is all the trigger is for: core looks for a label's
 * provider.  Event triggers can be turned off, so what they guard is guarded
 * by the utility hook as well, once the library is loaded.
 *
 * src/sequence/ddl.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "parser/parse_type.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "planner/shard_statistics.h"
#include "sequence/binding.h"
#include "sequence/column_label.h"
#include "sequence/default_kind.h"
#include "sequence/draw_privilege.h"
#include "sequence/drop_extension.h"
#include "sequence/extension.h"
#include "sequence/label_provider.h"
#include "sequence/redirect/add_column.h"
#include "sequence/redirect/column_default.h"
#include "sequence/redirect/identity.h"
#include "sequence/redirect/identity_ddl.h"
#include "sequence/registry.h"
#include "sequence/sequence_change.h"
#include "sequence/sequence_functions.h"
#include "sequence/spacing.h"
#include "spanner_keys.h"

PG_FUNCTION_INFO_V1(spanner_on_ddl_command_start);
PG_FUNCTION_INFO_V1(spanner_on_ddl_command_end);

/* A sequence that the command created or altered. */
typedef struct SkChange
{
	Oid			relid;
	bool		is_new_sequence;
} SkChange;

static ProcessUtility_hook_type prev_ProcessUtility_hook = NULL;

static void guarding_utility(PlannedStmt *pstmt, const char *queryString,
							 bool readOnlyTree, ProcessUtilityContext context,
							 ParamListInfo params, QueryEnvironment *queryEnv,
							 DestReceiver *dest, QueryCompletion *qc);
static void guard_command(Node *command);
static Node *trigger_parsetree(FunctionCallInfo fcinfo);
static void follow_command(Node *parsetree);
static List *list_changes(void);
static void check_altered_sequence(Oid seqid, Node *parsetree);
static void adopt_sequence(Oid seqid);
static void check_new_type(AlterSeqStmt *stmt);

/*
 * sk_sequence_init
 *		Start the room: access methods, label provider, planner hook, settings.
 */
void
sk_sequence_init(void)
{
	sk_register_sequence_am(&sk_bit_reversed_positive_am);
	sk_register_sequence_am(&sk_striped_am);
	sk_extension_init();
	sk_binding_init();
	sk_label_provider_init();
	sk_draw_privilege_init();
	sk_identity_init();
	sk_default_kind_init();
	prev_ProcessUtility_hook = ProcessUtility_hook;
	ProcessUtility_hook = guarding_utility;
}

static void
guarding_utility(PlannedStmt *pstmt, const char *queryString,
				 bool readOnlyTree, ProcessUtilityContext context,
				 ParamListInfo params, QueryEnvironment *queryEnv,
				 DestReceiver *dest, QueryCompletion *qc)
{
	guard_command(pstmt->utilityStmt);

	/* they can draw for identity columns without a query */
	if (IsA(pstmt->utilityStmt, CopyStmt) ||
		IsA(pstmt->utilityStmt, AlterTableStmt))
		sk_forget_last_value();

	if (prev_ProcessUtility_hook)
		prev_ProcessUtility_hook(pstmt, queryString, readOnlyTree, context,
								 params, queryEnv, dest, qc);
	else
		standard_ProcessUtility(pstmt, queryString, readOnlyTree, context,
								params, queryEnv, dest, qc);
}

/* What must not be missed before a command; a second time does no harm. */
static void
guard_command(Node *command)
{
	if (IsA(command, AlterSeqStmt))
	{
		check_new_type((AlterSeqStmt *) command);
		if (!sk_restoring())
			sk_check_identity_owner((AlterSeqStmt *) command);
	}
	else
		sk_drop_extension_start(command);
}

/*
 * spanner_internal.on_ddl_command_start() returns event_trigger
 */
Datum
spanner_on_ddl_command_start(PG_FUNCTION_ARGS)
{
	Node	   *parsetree = trigger_parsetree(fcinfo);

	guard_command(parsetree);
	if (!sk_restoring() && sk_bindings_exist())
		sk_identity_command_start(parsetree);
	if (!sk_restoring() && !creating_extension &&
		IsA(parsetree, AlterTableStmt) && sk_default_sequence_kind() != NULL)
		sk_add_column_start((AlterTableStmt *) parsetree);
	PG_RETURN_VOID();
}

/*
 * spanner_internal.on_ddl_command_end() returns event_trigger
 */
Datum
spanner_on_ddl_command_end(PG_FUNCTION_ARGS)
{
	Node	   *parsetree = trigger_parsetree(fcinfo);

	if (!sk_restoring() && !IsA(parsetree, CreateExtensionStmt))
	{
		if (!sk_sent_by_citus())
			sk_add_shard_statistics(parsetree);
		if (sk_default_sequence_kind() != NULL || sk_bindings_exist())
			follow_command(parsetree);
	}
	sk_column_labels_command_end(parsetree);
	PG_RETURN_VOID();
}

/* Give new sequences the default kind, and bound ones what they need. */
static void
follow_command(Node *parsetree)
{
	ListCell   *lc;

	if (IsA(parsetree, AlterTableStmt))
		sk_add_column_end((AlterTableStmt *) parsetree);
	sk_identity_command_end(parsetree);
	foreach(lc, list_changes())
	{
		SkChange   *change = lfirst(lc);

		if (change->is_new_sequence)
			adopt_sequence(change->relid);
		else if (sk_sequence_label(change->relid) != NULL)
		{
			check_altered_sequence(change->relid, parsetree);
			if (IsA(parsetree, SecLabelStmt))
				sk_complete_label(change->relid);
		}
	}
}

static Node *
trigger_parsetree(FunctionCallInfo fcinfo)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function can only be called by an event trigger")));
	return ((EventTriggerData *) fcinfo->context)->parsetree;
}

/* What the command did to sequences, as a list of SkChange. */
static List *
list_changes(void)
{
	MemoryContext caller = CurrentMemoryContext;
	List	   *result = NIL;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute("SELECT k.oid,"
					" c.command_tag OPERATOR(pg_catalog.=) 'CREATE SEQUENCE'"
					" FROM pg_catalog.pg_event_trigger_ddl_commands() c"
					" JOIN pg_catalog.pg_class k"
					" ON k.oid OPERATOR(pg_catalog.=) c.objid"
					" WHERE c.classid OPERATOR(pg_catalog.=)"
					" 'pg_catalog.pg_class'::pg_catalog.regclass"
					" AND k.relkind OPERATOR(pg_catalog.=) 'S'"
					" AND NOT c.in_extension", false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not list the commands of an event trigger");

	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		MemoryContext old = MemoryContextSwitchTo(caller);
		SkChange   *change = palloc(sizeof(SkChange));
		bool		isnull;

		change->relid = DatumGetObjectId(SPI_getbinval(row, desc, 1, &isnull));
		change->is_new_sequence =
			DatumGetBool(SPI_getbinval(row, desc, 2, &isnull));
		result = lappend(result, change);
		MemoryContextSwitchTo(old);
	}
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	return result;
}

/* A bound sequence may have got an increment. */
static void
check_altered_sequence(Oid seqid, Node *parsetree)
{
	ListCell   *lc;

	sk_sequence_check_mappable(seqid);
	if (!IsA(parsetree, AlterSeqStmt))
		return;
	foreach(lc, ((AlterSeqStmt *) parsetree)->options)
	{
		if (strcmp(lfirst_node(DefElem, lc)->defname, "increment") == 0)
		{
			SkSequence *seq = sk_sequence_read(seqid);

			sk_report_overlap(seq, seq->kind);
		}
	}
}

/* Give a new sequence the default kind. */
static void
adopt_sequence(Oid seqid)
{
	const SkObstacle *obstacle;

	if (sk_default_sequence_kind() == NULL ||
		get_rel_persistence(seqid) == RELPERSISTENCE_TEMP ||
		sk_sequence_label(seqid) != NULL)
		return;
	obstacle = sk_bind_new_sequence(seqid, SK_IDENTITY_NONE);
	if (obstacle != NULL)
		sk_report_left_alone(seqid, obstacle);
}

/* Refuse ALTER SEQUENCE ... AS a type that does not hold the values. */
static void
check_new_type(AlterSeqStmt *stmt)
{
	Oid			seqid = RangeVarGetRelid(stmt->sequence, NoLock, true);
	ListCell   *lc;

	if (!OidIsValid(seqid) || get_rel_relkind(seqid) != RELKIND_SEQUENCE ||
		sk_sequence_label(seqid) == NULL)
		return;

	foreach(lc, stmt->options)
	{
		DefElem    *option = lfirst(lc);
		int			bits = sk_binding_get(seqid)->options->bits;
		Oid			type;

		if (strcmp(option->defname, "as") != 0)
			continue;
		type = typenameTypeId(NULL, defGetTypeName(option));
		if (sk_type_width(type) < bits)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("type %s is too narrow for sequence \"%s\"",
							format_type_be(type),
							get_rel_name(seqid)),
					 errdetail("Its values have %d bits.", bits),
					 errhint("Create a new sequence with fewer bits by spanner.create_sequence(), and set the default of the column to it.")));
	}
}
