/*-------------------------------------------------------------------------
 *
 * command_hooks.c
 *	  Commands on sequences and tables: event triggers, utility hook, label
 *	  provider.
 *
 * After every command that can create a sequence:
 *
 * - a new sequence gets the kind that spanner.default_sequence_kind names,
 *	 unless it is temporary or the kind does not fit it;
 * - an identity column with such a sequence becomes a column whose default
 *	 draws from it, since core's identity draws the plain counter;
 * - a table with a shard column gets statistics that load the library, unless
 *	 Citus sends the table, and the statistics behind it;
 * - where Citus is, labels of columns and of sequences agree.
 *
 * While a dump is being restored, only the last of these happens: see
 * sk_restoring().
 *
 * The triggers work without preloading: calling one loads the library.  For
 * SECURITY LABEL that is all the trigger is for, since core looks for a
 * label's provider.  Event triggers can be turned off.  So the utility hook
 * guards what they guard as well, once the library is loaded.  For the tags
 * that can rename or move an object of the extension, loading it is enough: see
 * spi/own_objects.c.
 *
 * Before a command drops the extension, core's functions lose our support
 * function, and sequences their labels.  Both would keep the extension, and a
 * dump with labels could not be restored without it.  If the command fails,
 * the transaction undoes that.
 *
 * src/sequence/command_hooks.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "commands/extension.h"
#include "commands/seclabel.h"
#include "commands/user.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parse_type.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "planner/shard_statistics.h"
#include "sequence/binding.h"
#include "sequence/column_label.h"
#include "sequence/core_support.h"
#include "sequence/draw_privilege.h"
#include "sequence/extension.h"
#include "sequence/redirect/identity_column.h"
#include "sequence/redirect/redirect.h"
#include "sequence/sequence_change.h"
#include "sequence/sequence_functions.h"
#include "sequence/widths.h"
#include "spanner_keys.h"
#include "spi/command_relations.h"
#include "spi/own_objects.h"
#include "spi/run_command.h"

static ProcessUtility_hook_type prev_ProcessUtility_hook = NULL;

PG_FUNCTION_INFO_V1(spanner_on_ddl_command_start);
PG_FUNCTION_INFO_V1(spanner_on_ddl_command_end);

static void guarding_utility(PlannedStmt *pstmt, const char *queryString,
							 bool readOnlyTree, ProcessUtilityContext context,
							 ParamListInfo params, QueryEnvironment *queryEnv,
							 DestReceiver *dest, QueryCompletion *qc);
static bool draws_for_identity(Node *command);
static bool has_core_identity(const RangeVar *table);
static void guard_command(Node *command);
static Node *trigger_parsetree(FunctionCallInfo fcinfo);
static bool changes_columns(Node *command);
static bool keeps_columns(AlterTableCmd *cmd);
static void follow_command(Node *parsetree);
static void follow_sequences(Node *parsetree, List *relations);
static void check_altered_sequence(Oid seqid, Node *parsetree);
static bool adopt_sequence(Oid seqid);
static void narrow_values(AlterSeqStmt *stmt);
static void check_label(const ObjectAddress *object, const char *label);
static bool is_column(const ObjectAddress *object);
static void check_change(SkSequence *seq, const char *text);
static void prepare_drop(Node *command);
static bool drops_extension(Node *command);

/*
 * sk_sequence_init
 *		Start the room: access methods, label provider, hooks.
 */
void
sk_sequence_init(void)
{
	sk_builtin_kinds_init();
	sk_default_kind_init();
	sk_binding_init();
	register_label_provider(SK_LABEL_PROVIDER, check_label);
	sk_draw_privilege_init();
	sk_planner_hook_init();
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

	if (draws_for_identity(pstmt->utilityStmt))
		sk_forget_last_value();

	if (prev_ProcessUtility_hook)
		prev_ProcessUtility_hook(pstmt, queryString, readOnlyTree, context,
								 params, queryEnv, dest, qc);
	else
		standard_ProcessUtility(pstmt, queryString, readOnlyTree, context,
								params, queryEnv, dest, qc);
}

/* Can a command draw for core's identity columns without a query? */
static bool
draws_for_identity(Node *command)
{
	ListCell   *lc;
	ListCell   *lc2;

	if (IsA(command, CopyStmt))
		return ((CopyStmt *) command)->is_from &&
			has_core_identity(((CopyStmt *) command)->relation);
	if (!IsA(command, AlterTableStmt))
		return false;
	foreach(lc, ((AlterTableStmt *) command)->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);

		if (cmd->subtype != AT_AddColumn)
			continue;
		foreach(lc2, ((ColumnDef *) cmd->def)->constraints)
		{
			if (lfirst_node(Constraint, lc2)->contype == CONSTR_IDENTITY)
				return true;
		}
	}
	return false;
}

static bool
has_core_identity(const RangeVar *table)
{
	Oid			relid = RangeVarGetRelid(table, NoLock, true);
	bool		result = false;
	HeapTuple	tuple;

	for (AttrNumber attnum = 1; !result; attnum++)
	{
		tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid),
								Int16GetDatum(attnum));
		if (!HeapTupleIsValid(tuple))
			break;
		result = ((Form_pg_attribute) GETSTRUCT(tuple))->attidentity != '\0';
		ReleaseSysCache(tuple);
	}
	return result;
}

/* What must not be missed before a command; a second time does no harm. */
static void
guard_command(Node *command)
{
	if (IsA(command, AlterSeqStmt))
	{
		narrow_values((AlterSeqStmt *) command);
		if (!sk_restoring())
			sk_check_identity_owner((AlterSeqStmt *) command);
	}
	else if (IsA(command, DropStmt) &&
			 ((DropStmt *) command)->removeType == OBJECT_SEQUENCE)
	{
		if (!sk_restoring())
			sk_check_identity_drop((DropStmt *) command);
	}
	else
	{
		sk_guard_members(command);
		prepare_drop(command);
	}
}

/*
 * spanner_internal.on_ddl_command_start() returns event_trigger
 */
Datum
spanner_on_ddl_command_start(PG_FUNCTION_ARGS)
{
	Node	   *parsetree = trigger_parsetree(fcinfo);

	guard_command(parsetree);
	if (IsA(parsetree, CreateStatsStmt) && !sk_sent_by_citus())
		sk_yield_shard_statistics((CreateStatsStmt *) parsetree);
	else if (!sk_restoring() && changes_columns(parsetree))
	{
		if (sk_bindings_exist())
			sk_identity_command_start(parsetree);
		if (!creating_extension && IsA(parsetree, AlterTableStmt) &&
			sk_default_sequence_kind() != NULL)
			sk_add_column_start((AlterTableStmt *) parsetree);
	}
	PG_RETURN_VOID();
}

/*
 * spanner_internal.on_ddl_command_end() returns event_trigger
 */
Datum
spanner_on_ddl_command_end(PG_FUNCTION_ARGS)
{
	Node	   *parsetree = trigger_parsetree(fcinfo);

	if (!changes_columns(parsetree))
		PG_RETURN_VOID();
	if (!sk_restoring() && !IsA(parsetree, CreateExtensionStmt))
		follow_command(parsetree);
	if (IsA(parsetree, SecLabelStmt) || sk_bindings_exist())
		sk_column_labels_command_end(parsetree, sk_restoring());
	PG_RETURN_VOID();
}

/*
 * Can a command make or label a sequence, or change a column, a constraint or
 * a partition?  Others must cost nothing: frameworks turn the triggers of every
 * table off and on for each test.
 */
static bool
changes_columns(Node *command)
{
	ListCell   *lc;

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

/* Shard columns get their statistics, sequences their kind. */
static void
follow_command(Node *parsetree)
{
	bool		has_tables = (IsA(parsetree, CreateStmt) ||
							  IsA(parsetree, AlterTableStmt) ||
							  IsA(parsetree, CreateStatsStmt) ||
							  IsA(parsetree, CreateSchemaStmt)) &&
		!sk_sent_by_citus();
	bool		has_kinds = sk_default_sequence_kind() != NULL ||
		sk_bindings_exist();
	List	   *relations;

	if (!has_tables && !has_kinds)
		return;
	relations = sk_command_relations();
	if (has_tables)
		sk_update_shard_statistics(relations);
	if (has_kinds)
		follow_sequences(parsetree, relations);
}

/* Give new sequences the default kind, and bound ones what they need. */
static void
follow_sequences(Node *parsetree, List *relations)
{
	List	   *bound = NIL;
	ListCell   *lc;

	if (IsA(parsetree, AlterTableStmt))
		sk_add_column_end((AlterTableStmt *) parsetree);
	sk_identity_command_end(parsetree);
	foreach(lc, relations)
	{
		SkCommandRelation *sequence = lfirst(lc);

		/* CREATE TABLE alters a sequence that it makes */
		if (sequence->relkind != RELKIND_SEQUENCE ||
			list_member_oid(bound, sequence->relid))
			continue;
		if (sequence->is_new)
		{
			if (adopt_sequence(sequence->relid))
				bound = lappend_oid(bound, sequence->relid);
		}
		else if (sk_sequence_label(sequence->relid) != NULL)
		{
			check_altered_sequence(sequence->relid, parsetree);
			if (IsA(parsetree, SecLabelStmt))
				sk_complete_label(sequence->relid);
			sk_narrow_sequence(sequence->relid, InvalidOid);
		}
	}
	sk_widths_command_end(parsetree, bound);
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

/* A bound sequence may have got an increment, or another owner. */
static void
check_altered_sequence(Oid seqid, Node *parsetree)
{
	ListCell   *lc;

	sk_sequence_check_mappable(seqid);
	if (!IsA(parsetree, AlterSeqStmt))
		return;
	foreach(lc, ((AlterSeqStmt *) parsetree)->options)
	{
		const char *option = lfirst_node(DefElem, lc)->defname;

		if (strcmp(option, "increment") == 0)
		{
			SkSequence *seq = sk_sequence_read(seqid);

			/* of a kind that is lost nothing is known */
			if (seq->kind != NULL)
				sk_report_overlap(seq, seq->kind);
		}
		/* another column may be the identity now */
		else if (strcmp(option, "owned_by") == 0)
		{
			sk_binding_announce(seqid, sk_sequence_label(seqid));
			CommandCounterIncrement();
		}
	}
}

/* Give a new sequence the default kind, if there is one that fits. */
static bool
adopt_sequence(Oid seqid)
{
	const SkObstacle *obstacle;

	if (sk_default_sequence_kind() == NULL ||
		get_rel_persistence(seqid) == RELPERSISTENCE_TEMP ||
		sk_sequence_label(seqid) != NULL)
		return false;
	obstacle = sk_bind_new_sequence(seqid, SK_IDENTITY_NONE);
	if (obstacle != NULL)
		sk_report_left_alone(seqid, obstacle);
	return obstacle == NULL;
}

/*
 * Before ALTER SEQUENCE ... AS a narrower type, the sequence gives fewer bits, or
 * the command is refused.
 */
static void
narrow_values(AlterSeqStmt *stmt)
{
	Oid			seqid = RangeVarGetRelid(stmt->sequence, NoLock, true);
	ListCell   *lc;

	if (!OidIsValid(seqid) || get_rel_relkind(seqid) != RELKIND_SEQUENCE)
		return;
	foreach(lc, stmt->options)
	{
		DefElem    *option = lfirst(lc);

		if (strcmp(option->defname, "as") == 0)
			sk_narrow_sequence(seqid, typenameTypeId(NULL, defGetTypeName(option)));
	}
}

/* The provider's hook. */
static void
check_label(const ObjectAddress *object, const char *label)
{
	SkSequence *seq = NULL;

	if (is_column(object) && (sk_restoring() || sk_citus_exists()))
	{
		if (label != NULL && !IsBinaryUpgrade)
			(void) sk_kind_from_label(label, 63);
		if (!sk_restoring())
			sk_check_column_label(object->objectId, object->objectSubId, label);
		return;
	}
	if (object->classId != RelationRelationId || object->objectSubId != 0 ||
		get_rel_relkind(object->objectId) != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("security labels of provider \"%s\" are for sequences",
						SK_LABEL_PROVIDER),
				 errhint("Use SECURITY LABEL ON SEQUENCE.")));

	/* pg_upgrade may come to a label before the function that loads its kind */
	if (label != NULL ? !IsBinaryUpgrade : !sk_restoring())
		seq = sk_sequence_lock(object->objectId, NoLock, true);
	else
		LockRelationOid(object->objectId, ShareRowExclusiveLock);
	if (label == NULL && seq != NULL)
	{
		sk_find_nodes(seq);
		sk_report_left(sk_leave_kind(seq, 0, NIL));
	}
	sk_binding_announce(object->objectId, label);
	if (label != NULL && seq != NULL)
		check_change(seq, label);
}

static bool
is_column(const ObjectAddress *object)
{
	return object->classId == RelationRelationId && object->objectSubId > 0 &&
		get_rel_relkind(object->objectId) != RELKIND_SEQUENCE;
}

/* What is missing in the label is added when the command has ended. */
static void
check_change(SkSequence *seq, const char *text)
{
	SkLabel    *label = sk_label_parse_kind(text);
	SkSequenceChange change = {.is_label = true,.kind = label->kind,
	.options = label->options};

	if (sk_restoring())
		sk_sequence_check_mappable(seq->seqid);
	else
		(void) sk_check_change(seq, &change);
}

/*
 * Unbind and detach if a command is about to drop the extension.  Core has
 * checked nothing of the command yet.
 */
static void
prepare_drop(Node *command)
{
	List	   *left = NIL;
	ListCell   *lc;

	if (!drops_extension(command) || !sk_extension_exists())
		return;

	/* waits for those who are binding sequences, and keeps others out */
	LockDatabaseObject(ProcedureRelationId,
					   sk_function(SK_FUNCTION_SEQUENCE_SUPPORT), 0,
					   AccessExclusiveLock);
	foreach(lc, sk_list_labelled(false))
	{
		ObjectAddress *object = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		if (object->objectSubId != 0)
		{
			SetSecurityLabel(object, SK_LABEL_PROVIDER, NULL);
			continue;
		}
		/* the counter of another session's sequence cannot be read */
		if (!isOtherTempNamespace(get_rel_namespace(object->objectId)))
		{
			/* waits for those who draw, as every change of a binding does */
			SkSequence *seq = sk_sequence_open(object->objectId, NoLock, true);

			if (seq == NULL)
				continue;
			left = sk_leave_kind(seq, 0, left);
		}
		sk_binding_set(object->objectId, NULL);
	}
	sk_report_left(left);
	sk_detach_support();
}

/* Will a command, unless it fails, drop the extension? */
static bool
drops_extension(Node *command)
{
	bool		result = false;
	Oid			owner;
	ListCell   *lc;

	if (!IsA(command, DropOwnedStmt) &&
		!(IsA(command, DropStmt) &&
		  ((DropStmt *) command)->removeType == OBJECT_EXTENSION))
		return false;

	owner = sk_extension_owner(SK_EXTENSION);
	if (!OidIsValid(owner) || !has_privs_of_role(GetUserId(), owner))
		return false;
	if (IsA(command, DropOwnedStmt))
		return list_member_oid(roleSpecsToIds(((DropOwnedStmt *) command)->roles),
							   owner);
	foreach(lc, ((DropStmt *) command)->objects)
		result |= strcmp(strVal(lfirst(lc)), SK_EXTENSION) == 0;
	return result;
}
