/*-------------------------------------------------------------------------
 *
 * ddl.c
 *	  Event triggers, and the default kind of new sequences.
 *
 * After every command that can create a sequence or a column default:
 *
 * - a new sequence gets the kind that spanner.default_sequence_kind names,
 *	 unless it is temporary or the kind does not fit it;
 * - an identity column with such a sequence becomes a column whose default
 *	 draws from it, since core's identity draws the plain counter;
 * - a column default that calls core's nextval on a bound sequence, as that
 *	 of a serial column does, is made to call spanner.nextval instead.
 *
 * Nothing of this happens while a dump is being restored, since the dump
 * says itself which sequence is of which kind.  pg_dump always turns
 * check_function_bodies off, which is how a restore is recognized.
 *
 * The triggers are there without preloading: calling one loads the library.
 * For SECURITY LABEL and the DROP commands that is all the trigger is for:
 * core looks for a label's provider, and drop_extension.c has a hook.
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
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "sequence/binding.h"
#include "sequence/default_kind.h"
#include "sequence/drop_extension.h"
#include "sequence/identity_privilege.h"
#include "sequence/label_provider.h"
#include "sequence/redirect/add_column.h"
#include "sequence/redirect/column_default.h"
#include "sequence/redirect/raw_default.h"
#include "sequence/redirect/redirect.h"
#include "sequence/redirect/redirect_utility.h"
#include "sequence/registry.h"
#include "sequence/spacing.h"
#include "spanner_keys.h"

PG_FUNCTION_INFO_V1(spanner_on_ddl_command_start);
PG_FUNCTION_INFO_V1(spanner_on_ddl_command_end);

/* A relation that the command created or altered. */
typedef struct SkChange
{
	Oid			relid;
	char		relkind;
	bool		is_new_sequence;
} SkChange;

static Node *trigger_parsetree(FunctionCallInfo fcinfo);
static List *list_changes(void);
static void check_altered_sequence(Oid seqid, Node *parsetree);
static void adopt_sequence(Oid seqid, Oid namespace);
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
	sk_binding_init();
	sk_label_provider_init();
	sk_drop_extension_init();
	sk_identity_privilege_init();
	sk_redirect_init();
	sk_redirect_utility_init();
	sk_default_kind_init();
}

/*
 * spanner.on_ddl_command_start() returns event_trigger
 */
Datum
spanner_on_ddl_command_start(PG_FUNCTION_ARGS)
{
	Node	   *parsetree = trigger_parsetree(fcinfo);
	Oid			namespace = get_func_namespace(fcinfo->flinfo->fn_oid);

	if (check_function_bodies && !creating_extension)
	{
		sk_redirect_raw_defaults(parsetree, namespace);
		if (IsA(parsetree, AlterTableStmt) &&
			sk_default_sequence_kind() != NULL)
			sk_add_column_start((AlterTableStmt *) parsetree, namespace);
	}

	if (IsA(parsetree, AlterSeqStmt))
		check_new_type((AlterSeqStmt *) parsetree);
	else
		sk_drop_extension_start(parsetree, namespace);
	PG_RETURN_VOID();
}

/*
 * spanner.on_ddl_command_end() returns event_trigger
 */
Datum
spanner_on_ddl_command_end(PG_FUNCTION_ARGS)
{
	Node	   *parsetree = trigger_parsetree(fcinfo);
	Oid			namespace = get_func_namespace(fcinfo->flinfo->fn_oid);
	List	   *changes;
	ListCell   *lc;

	if (!check_function_bodies ||
		(sk_default_sequence_kind() == NULL && !sk_bindings_exist()))
		PG_RETURN_VOID();

	if (IsA(parsetree, AlterTableStmt))
		sk_add_column_end((AlterTableStmt *) parsetree);
	changes = list_changes();
	foreach(lc, changes)
	{
		SkChange   *change = lfirst(lc);

		if (change->is_new_sequence)
			adopt_sequence(change->relid, namespace);
		else if (change->relkind == RELKIND_SEQUENCE &&
				 sk_binding_label(change->relid) != NULL)
		{
			check_altered_sequence(change->relid, parsetree);
			if (IsA(parsetree, SecLabelStmt))
				sk_use_sequence(change->relid, namespace);
		}
	}
	foreach(lc, changes)
	{
		SkChange   *change = lfirst(lc);

		if (change->relkind == RELKIND_RELATION ||
			change->relkind == RELKIND_PARTITIONED_TABLE ||
			change->relkind == RELKIND_FOREIGN_TABLE ||
			change->relkind == RELKIND_VIEW)
			sk_redirect_defaults(change->relid, namespace);
	}
	PG_RETURN_VOID();
}

static Node *
trigger_parsetree(FunctionCallInfo fcinfo)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function can only be called by an event trigger"),
				 errhint("The event triggers of the extension call it.")));
	return ((EventTriggerData *) fcinfo->context)->parsetree;
}

/* What the command did to relations, as a list of SkChange. */
static List *
list_changes(void)
{
	MemoryContext caller = CurrentMemoryContext;
	List	   *result = NIL;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute("SELECT k.oid, k.relkind,"
					" c.command_tag OPERATOR(pg_catalog.=) 'CREATE SEQUENCE'"
					" FROM pg_catalog.pg_event_trigger_ddl_commands() c"
					" JOIN pg_catalog.pg_class k"
					" ON k.oid OPERATOR(pg_catalog.=) c.objid"
					" WHERE c.classid OPERATOR(pg_catalog.=)"
					" 'pg_catalog.pg_class'::pg_catalog.regclass"
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
		change->relkind = DatumGetChar(SPI_getbinval(row, desc, 2, &isnull));
		change->is_new_sequence =
			DatumGetBool(SPI_getbinval(row, desc, 3, &isnull));
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

	sk_binding_check_sequence(seqid);
	if (!IsA(parsetree, AlterSeqStmt))
		return;
	foreach(lc, ((AlterSeqStmt *) parsetree)->options)
	{
		if (strcmp(lfirst_node(DefElem, lc)->defname, "increment") == 0)
		{
			SkBinding  *binding = sk_binding_get(seqid);

			sk_report_overlap(seqid, binding->am, binding->options);
		}
	}
}

/* Give a new sequence, and the identity column it may be of, the default kind. */
static void
adopt_sequence(Oid seqid, Oid namespace)
{
	SkIdentity	identity = SK_IDENTITY_NONE;
	const SkObstacle *obstacle;
	Oid			table;
	int32		column;

	if (sk_default_sequence_kind() == NULL ||
		get_rel_persistence(seqid) == RELPERSISTENCE_TEMP ||
		sk_binding_label(seqid) != NULL)
		return;

	if (sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &table, &column))
		identity = sk_column_identity(table, column);
	obstacle = sk_bind_new_sequence(seqid, identity);
	if (obstacle != NULL)
		sk_report_left_alone(seqid, obstacle);
	else if (identity != SK_IDENTITY_NONE)
		sk_convert_identity(table, column, seqid, namespace);
}

/*
 * Refuse ALTER SEQUENCE ... AS for a bound sequence: the number of bits
 * follows the type, and so would the values.
 */
static void
check_new_type(AlterSeqStmt *stmt)
{
	Oid			seqid = RangeVarGetRelid(stmt->sequence, NoLock, true);
	ListCell   *lc;

	if (!OidIsValid(seqid) || get_rel_relkind(seqid) != RELKIND_SEQUENCE ||
		sk_binding_label(seqid) == NULL)
		return;

	foreach(lc, stmt->options)
	{
		DefElem    *option = lfirst(lc);

		if (strcmp(option->defname, "as") == 0 &&
			sk_type_width(typenameTypeId(NULL, defGetTypeName(option))) !=
			sk_sequence_width(seqid))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot change the type of sequence \"%s\", which has an access method",
							get_rel_name(seqid)),
					 errdetail("Its values have as many bits as its type."),
					 errhint("Create a new sequence with spanner.create_sequence(), and set the default of the column to it.")));
	}
}
