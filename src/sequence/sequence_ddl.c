/*-------------------------------------------------------------------------
 *
 * sequence_ddl.c
 *	  What commands do to sequences and their kinds.
 *
 * After every command that can create a sequence:
 *
 * - a new sequence gets the kind that spanner.default_sequence_kind names,
 *	 unless it is temporary or the kind does not fit it;
 * - an identity column with such a sequence becomes a column whose default
 *	 fetches from it, since core's identity returns the plain counter;
 * - a table with a shard column gets statistics that load the library, unless
 *	 Citus sends the table, and the statistics after it;
 * - where Citus is, labels of columns and of sequences agree.
 *
 * While a dump is being restored, only the last of these happens: see
 * sk_restoring().
 *
 * The rows of a table get the values of a new serial or identity column
 * while ALTER TABLE ... ADD COLUMN runs, too early for a ddl_command_end
 * trigger.  So the command is changed before it starts: the sequence is created
 * and bound first, and the column definition becomes that of an ordinary column
 * with a default.  After the command the sequence is given to the column.
 * What was changed is recognized by the location of the default's function
 * call, which no parser sets.
 *
 * Before a command drops the extension, core's functions lose our support
 * function, and sequences their labels.  Both would keep the extension, and a
 * dump with labels could not be restored without it.  If the command fails,
 * the transaction undoes that.
 *
 * src/sequence/sequence_ddl.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/seclabel.h"
#include "commands/sequence.h"
#include "commands/tablecmds.h"
#include "commands/user.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parse_type.h"
#include "parser/parser.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/column_label.h"
#include "sequence/core_support.h"
#include "sequence/sequence_change.h"
#include "sequence/sequence_functions.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/own_objects.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"
#include "spi/tree_marks.h"

/* Foreign keys to foreign keys are followed so far. */
#define SK_MAX_REFERENCES 16

static void label_columns(Node *command, List *relations);
static void guard_sequences(Node *command);
static void follow_command(Node *command, List *relations);
static void follow_sequences(Node *command, List *relations);
static void check_altered_sequence(Oid seqid, Node *command);
static bool adopt_sequence(Oid seqid);
static void narrow_sequence(Oid seqid, Oid type);
static void refuse_narrowing(const SkSequence *seq, Oid type);
static void follow_widths(Node *command, const List *bound);
static List *list_altered(AlterTableStmt *stmt);
static void follow_table(const RangeVar *name, List *columns,
						 const List *bound);
static void warn_of_foreign_keys(Relation rel, List *columns);
static int	bits_of_ids(Oid relid, AttrNumber attnum, int depth);
static void prepare_drop(Node *command);
static bool drops_extension(Node *command);
static void check_label(const ObjectAddress *object, const char *label);
static bool is_column(const ObjectAddress *object);
static void check_change(SkSequence *seq, const char *text);
static void add_column_start(Node *command);
static bool makes_room(AlterTableStmt *stmt, Oid relid, const char *column);
static void add_column_end(Node *command, List *relations);
static void give_to_column(Oid seqid);
static bool is_added_column(AlterTableCmd *cmd);
static bool refuses_identity(Relation rel, ColumnDef *def);
static void change_column(Relation rel, ColumnDef *def);
static Constraint *find_identity(ColumnDef *def);
static Oid	serial_type(TypeName *type);
static Oid	create_bound_sequence(Relation rel, const char *column, Oid type,
								  Constraint *identity);
static RangeVar *choose_name(Relation rel, const char *column, List **options);
static FuncCall *make_nextval_call(Oid seqid);
static Oid	named_sequence(FuncCall *call);
static FuncCall *find_nextval_call(ColumnDef *def);

/*
 * sk_sequence_ddl_init
 *		Register the label provider, and for commands, also identities.
 *
 * When a command ends, columns that were added get their sequences first, then
 * what was an identity is converted again, and new sequences get the default
 * kind.  Labels of columns are copies of what comes out.
 */
void
sk_sequence_ddl_init(void)
{
	register_label_provider(SK_LABEL_PROVIDER, check_label);
	sk_on_command(NULL, NULL, label_columns);
	sk_on_command(guard_sequences, NULL, follow_command);
	sk_on_command(prepare_drop, NULL, NULL);
	sk_identity_init(sk_complete_label);
	sk_on_command(NULL, add_column_start, add_column_end);
}

static void
label_columns(Node *command, List *relations)
{
	if (IsA(command, SecLabelStmt) || sk_bindings_exist())
		sk_column_labels_command_end(command, sk_restoring());
}

/*
 * Before ALTER SEQUENCE ... AS a narrower type, the sequence gets fewer bits, or
 * the command is refused.
 */
static void
guard_sequences(Node *command)
{
	AlterSeqStmt *stmt = (AlterSeqStmt *) command;
	Oid			seqid;
	ListCell   *lc;

	if (!IsA(command, AlterSeqStmt))
		return;
	seqid = RangeVarGetRelid(stmt->sequence, NoLock, true);
	if (!OidIsValid(seqid) || get_rel_relkind(seqid) != RELKIND_SEQUENCE)
		return;
	foreach(lc, stmt->options)
	{
		DefElem    *option = lfirst(lc);

		if (strcmp(option->defname, "as") == 0)
			narrow_sequence(seqid, typenameTypeId(NULL, defGetTypeName(option)));
	}
}

/* Shard columns get their statistics, sequences their kind. */
static void
follow_command(Node *command, List *relations)
{
	if (sk_restoring() || IsA(command, CreateExtensionStmt))
		return;
	if (sk_default_sequence_kind() != NULL || sk_bindings_exist())
		follow_sequences(command, relations);
}

/* Give new sequences the default kind, and bound ones what they need. */
static void
follow_sequences(Node *command, List *relations)
{
	List	   *bound = NIL;
	ListCell   *lc;

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
			check_altered_sequence(sequence->relid, command);
			if (IsA(command, SecLabelStmt))
				sk_complete_label(sequence->relid);
			narrow_sequence(sequence->relid, InvalidOid);
		}
	}
	follow_widths(command, bound);
}

/* A bound sequence may have got an increment, or another owner. */
static void
check_altered_sequence(Oid seqid, Node *command)
{
	ListCell   *lc;

	sk_sequence_check_mappable(seqid);
	if (!IsA(command, AlterSeqStmt))
		return;
	foreach(lc, ((AlterSeqStmt *) command)->options)
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
	const SkRestriction *restriction;

	if (sk_default_sequence_kind() == NULL ||
		get_rel_persistence(seqid) == RELPERSISTENCE_TEMP ||
		sk_sequence_label(seqid) != NULL)
		return false;
	restriction = sk_bind_new_sequence(seqid, SK_IDENTITY_NONE);
	if (restriction != NULL)
		sk_report_restriction(seqid, restriction);
	return restriction == NULL;
}

/*
 * Have a bound sequence return no values that are too wide.
 *
 * "type" is what the sequence is about to get, InvalidOid if it keeps its own.
 * Raises an error if the sequence has been used, or would have no value left.
 */
static void
narrow_sequence(Oid seqid, Oid type)
{
	int			type_width = OidIsValid(type) ? sk_type_width(type) : 63;
	SkSequenceChange change = {.is_label = true};
	SkSequence *seq;
	SkLabel    *label;
	int			width;

	if (sk_sequence_label(seqid) == NULL)
		return;
	seq = sk_sequence_read(seqid);
	width = Min(type_width, seq->column_width);
	if (seq->kind == NULL || seq->kind->options->bits <= width)
		return;

	seq = sk_sequence_lock(seqid, NoLock, false);
	if (seq->used)
		refuse_narrowing(seq, type_width <= seq->column_width ? type : InvalidOid);
	label = sk_kind_parts(seq->kind);
	sk_fit_label(label, seq, width);
	if (!sk_kind_reaches_value(sk_kind_make(label, width), seq->next))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sequence \"%s\" would have no value of %d bits",
						get_rel_name(seqid), width),
				 errhint("Use a smaller skip range, or a wider type.")));
	change.label = *label;
	sk_change_sequence(seq, &change);
}

/*
 * A sequence that has been used would have to return other values than before:
 * for its new type, or InvalidOid for its narrowest column.
 */
static void
refuse_narrowing(const SkSequence *seq, Oid type)
{
	const ObjectAddress *column = seq->narrowest;
	int			width = OidIsValid(type) ? sk_type_width(type) : seq->column_width;
	int			bits = seq->kind->options->bits;
	char	   *restart = psprintf("SELECT spanner.alter_sequence(%s, bits => %d, restart_counter_with => 1)",
								   quote_literal_cstr(sk_qualified_name(seq->seqid)),
								   width);

	if (OidIsValid(type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("type %s is too narrow for sequence \"%s\"",
						format_type_be(type), get_rel_name(seq->seqid)),
				 errdetail("It has been used, and gives values of %d bits.", bits),
				 errhint("If no value that it has given is in use, run %s first.",
						 restart)));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("column \"%s\" of table \"%s\" does not hold values of %d bits",
					get_attname(column->objectId, column->objectSubId, false),
					get_rel_name(column->objectId), bits),
			 errdetail("Sequence \"%s\" has been used, and gives such values; type %s holds %d bits.",
					   get_rel_name(seq->seqid),
					   format_type_be(get_atttype(column->objectId, column->objectSubId)),
					   width),
			 errhint("Use a wider type, or, if no value that it has given is in use, run %s first.",
					 restart)));
}

/*
 * Look at the columns that a command has made or altered: one can be narrower
 * than the sequence that fills it.  "bound" are sequences to which its end has
 * given a kind that fits.
 */
static void
follow_widths(Node *command, const List *bound)
{
	ListCell   *lc;

	if (IsA(command, CreateStmt) || IsA(command, CreateForeignTableStmt))
		follow_table(((CreateStmt *) command)->relation, NIL, bound);
	else if (IsA(command, AlterTableStmt))
	{
		List	   *columns = list_altered((AlterTableStmt *) command);

		if (columns != NIL)
			follow_table(((AlterTableStmt *) command)->relation, columns, bound);
	}
	else if (IsA(command, CreateSchemaStmt))
		foreach(lc, ((CreateSchemaStmt *) command)->schemaElts)
			follow_widths(lfirst(lc), bound);
}

/* The names of columns to which ALTER TABLE gives a type, a default or a key. */
static List *
list_altered(AlterTableStmt *stmt)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);

		if (cmd->subtype == AT_AlterColumnType || cmd->subtype == AT_ColumnDefault)
			result = lappend(result, makeString(cmd->name));
		else if (cmd->subtype == AT_AddColumn)
			result = lappend(result, makeString(((ColumnDef *) cmd->def)->colname));
		else if (cmd->subtype == AT_AddConstraint &&
				 ((Constraint *) cmd->def)->contype == CONSTR_FOREIGN)
			result = list_concat(result, ((Constraint *) cmd->def)->fk_attrs);
	}
	return result;
}

/* "columns" are the names of those to look at, NIL for all. */
static void
follow_table(const RangeVar *name, List *columns, const List *bound)
{
	Oid			relid = RangeVarGetRelid(name, NoLock, true);
	Relation	rel;
	TupleDesc	desc;
	List	   *sequences;
	ListCell   *lc;

	if (!OidIsValid(relid) || get_rel_relkind(relid) == RELKIND_VIEW)
		return;
	rel = relation_open(relid, AccessShareLock);
	desc = RelationGetDescr(rel);
	sequences = getOwnedSequences(relid);
	for (int i = 0; desc->constr != NULL && i < desc->constr->num_defval; i++)
		sequences = list_append_unique_oid(sequences,
										   sk_fetched_sequence(stringToNode(desc->constr->defval[i].adbin)));
	warn_of_foreign_keys(rel, columns);
	relation_close(rel, NoLock);

	foreach(lc, sequences)
	{
		if (OidIsValid(lfirst_oid(lc)) && !list_member_oid(bound, lfirst_oid(lc)))
			narrow_sequence(lfirst_oid(lc), InvalidOid);
	}
}

/* Warn of new foreign keys that do not hold the ids that they refer to. */
static void
warn_of_foreign_keys(Relation rel, List *columns)
{
	List	   *warned = NIL;
	ListCell   *lc;

	foreach(lc, copyObject(RelationGetFKeyList(rel)))
	{
		ForeignKeyCacheInfo *key = lfirst(lc);

		for (int i = 0; i < key->nkeys; i++)
		{
			char	   *name = get_attname(key->conrelid, key->conkey[i], false);
			int			width = sk_column_width(key->conrelid, key->conkey[i]);
			int			bits;

			if ((columns != NIL && !list_member(columns, makeString(name))) ||
				list_member_int(warned, key->conkey[i]))
				continue;
			bits = bits_of_ids(key->confrelid, key->confkey[i], 0);
			if (bits <= width)
				continue;
			warned = lappend_int(warned, key->conkey[i]);
			ereport(WARNING,
					(errcode(ERRCODE_WARNING),
					 errmsg("column \"%s\" of table \"%s\" does not hold the ids of table \"%s\"",
							name, RelationGetRelationName(rel),
							get_rel_name(key->confrelid)),
					 errdetail("They have %d bits, and the column holds %d.",
							   bits, width),
					 errhint("Run ALTER TABLE %s ALTER COLUMN %s TYPE %s.",
							 sk_qualified_name(key->conrelid),
							 quote_identifier(name),
							 bits > 31 ? "bigint" : "integer")));
		}
	}
}

/*
 * The bits of a bound sequence that gives the values of a column, or of one that
 * it refers to; 0 if there is none.
 */
static int
bits_of_ids(Oid relid, AttrNumber attnum, int depth)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	Oid			seqid = sk_fetched_sequence(build_column_default(rel, attnum));
	int			result = 0;
	ListCell   *lc;

	if (!OidIsValid(seqid))
		seqid = sk_column_sequence(relid, attnum);
	if (OidIsValid(seqid))
	{
		const SkSequenceOptions *options = sk_binding_get(seqid)->options;

		result = options != NULL ? options->bits : 0;
	}
	else if (depth < SK_MAX_REFERENCES)
		foreach(lc, copyObject(RelationGetFKeyList(rel)))
	{
		ForeignKeyCacheInfo *key = lfirst(lc);

		for (int i = 0; i < key->nkeys; i++)
		{
			if (key->conkey[i] == attnum)
				result = Max(result, bits_of_ids(key->confrelid, key->confkey[i],
												 depth + 1));
		}
	}
	relation_close(rel, NoLock);
	return result;
}

/*
 * Unbind and detach if a command is about to drop the extension.  Core has
 * checked nothing of the command yet.
 */
static void
prepare_drop(Node *command)
{
	List	   *unbound = NIL;
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
			/* waits for those who fetch, as every change of a binding does */
			SkSequence *seq = sk_sequence_open(object->objectId, NoLock, true);

			if (seq == NULL)
				continue;
			unbound = sk_unbind(seq, 0, unbound);
		}
		sk_binding_set(object->objectId, NULL);
	}
	sk_report_unbound(unbound);
	sk_set_core_support(false);
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
		sk_report_unbound(sk_unbind(seq, 0, NIL));
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
	SkSequenceChange change = {.is_label = true,.label = *label};

	if (sk_restoring())
		sk_sequence_check_mappable(seq->seqid);
	else
		(void) sk_check_change(seq, &change);
}

/*
 * Change the serial and identity columns that a command adds.
 *
 * What core would refuse is left for core to refuse.
 */
static void
add_column_start(Node *command)
{
	AlterTableStmt *stmt = (AlterTableStmt *) command;
	MemoryContext old;
	Oid			relid;
	Relation	rel;
	ListCell   *lc;
	bool		adds = false;

	if (!IsA(command, AlterTableStmt) || sk_restoring() ||
		creating_extension || sk_default_sequence_kind() == NULL)
		return;
	if (stmt->objtype != OBJECT_TABLE && stmt->objtype != OBJECT_FOREIGN_TABLE)
		return;
	foreach(lc, stmt->cmds)
		adds = adds || is_added_column(lfirst(lc));
	if (!adds)
		return;

	/* the lock that the command takes, after the check that it makes */
	relid = RangeVarGetRelidExtended(stmt->relation, AccessExclusiveLock,
									 RVR_MISSING_OK,
									 RangeVarCallbackOwnsRelation, NULL);
	if (!OidIsValid(relid))
		return;

	/* what is put into the command has to live as long as it does */
	old = MemoryContextSwitchTo(GetMemoryChunkContext(stmt));
	rel = table_open(relid, NoLock);
	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);

		if (is_added_column(cmd) &&
			rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP &&
			makes_room(stmt, relid, ((ColumnDef *) cmd->def)->colname) &&
			!refuses_identity(rel, (ColumnDef *) cmd->def))
			change_column(rel, (ColumnDef *) cmd->def);
	}
	table_close(rel, NoLock);
	MemoryContextSwitchTo(old);
}

/*
 * Is there no column of that name, or does the command drop it first?  Then the
 * sequence of the old one leaves its name to the new one's, as in core, where it
 * is gone by then.
 */
static bool
makes_room(AlterTableStmt *stmt, Oid relid, const char *column)
{
	AttrNumber	attnum = get_attnum(relid, column);
	bool		drops = false;
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);

		drops |= cmd->subtype == AT_DropColumn && strcmp(cmd->name, column) == 0;
	}
	if (attnum == InvalidAttrNumber || !drops)
		return attnum == InvalidAttrNumber;
	foreach(lc, getOwnedSequences(relid))
	{
		Oid			seqid = lfirst_oid(lc);
		Oid			table;
		int32		owner;

		if (sk_sequence_owner(seqid, &table, &owner) && owner == attnum)
			RenameRelationInternal(seqid,
								   ChooseRelationName(get_rel_name(seqid), NULL,
													  "dropped",
													  get_rel_namespace(seqid), false),
								   false, false);
	}
	CommandCounterIncrement();
	return true;
}

/* Give the sequences to the columns that were added. */
static void
add_column_end(Node *command, List *relations)
{
	ListCell   *lc;

	if (!IsA(command, AlterTableStmt) || sk_restoring())
		return;
	foreach(lc, ((AlterTableStmt *) command)->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);
		FuncCall   *call = NULL;

		if (cmd->subtype == AT_AddColumn)
			call = find_nextval_call((ColumnDef *) cmd->def);
		if (call != NULL)
			give_to_column(named_sequence(call));
	}
}

/* The column is the one whose default uses the sequence. */
static void
give_to_column(Oid seqid)
{
	List	   *defaults = sk_dependents(seqid, AttrDefaultRelationId);
	ObjectAddress sequence;
	ListCell   *lc;

	ObjectAddressSet(sequence, RelationRelationId, seqid);
	foreach(lc, defaults)
	{
		ObjectAddress column = GetAttrDefaultColumnAddress(lfirst_oid(lc));

		/* what ALTER SEQUENCE ... OWNED BY asks for */
		if (sk_relation_owner(column.objectId) != sk_relation_owner(seqid) ||
			get_rel_namespace(column.objectId) != get_rel_namespace(seqid))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("table \"%s\" was renamed while a column was added",
							get_rel_name(column.objectId)),
					 errhint("Try again.")));
		recordDependencyOn(&sequence, &column, DEPENDENCY_AUTO);
		/* partitions and children have the default as well */
		break;
	}
	CommandCounterIncrement();
}

/* Does a command add a serial or identity column? */
static bool
is_added_column(AlterTableCmd *cmd)
{
	ColumnDef  *def = (ColumnDef *) cmd->def;

	return cmd->subtype == AT_AddColumn && def->typeName != NULL &&
		(OidIsValid(serial_type(def->typeName)) != (find_identity(def) != NULL));
}

/* Identity is not inherited, except by partitions. */
static bool
refuses_identity(Relation rel, ColumnDef *def)
{
	return find_identity(def) != NULL &&
		rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE &&
		find_inheritance_children(RelationGetRelid(rel), NoLock) != NIL;
}

static void
change_column(Relation rel, ColumnDef *def)
{
	Constraint *identity = find_identity(def);
	Constraint *default_value;
	Oid			type;
	Oid			seqid;

	/* the rows must not get values before the sequence has its kind */
	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock, true));
	if (identity == NULL)
		type = serial_type(def->typeName);
	else
		type = typenameTypeId(NULL, def->typeName);
	if (type != INT2OID && type != INT4OID && type != INT8OID)
		return;

	seqid = create_bound_sequence(rel, def->colname, type, identity);
	if (!OidIsValid(seqid))
		return;
	default_value = makeNode(Constraint);
	default_value->contype = CONSTR_DEFAULT;
	default_value->location = -1;
	default_value->raw_expr = (Node *) make_nextval_call(seqid);

	if (identity == NULL)
		def->typeName = makeTypeNameFromOid(type, -1);
	else
		def->constraints = list_delete_ptr(def->constraints, identity);
	def->constraints = lappend(def->constraints, default_value);
	def->constraints = lappend(def->constraints,
							   makeNotNullConstraint(makeString(def->colname)));
}

static Constraint *
find_identity(ColumnDef *def)
{
	ListCell   *lc;

	foreach(lc, def->constraints)
	{
		Constraint *constraint = lfirst(lc);

		if (constraint->contype == CONSTR_IDENTITY)
			return constraint;
	}
	return NULL;
}

/* The type of serial and its relatives, or InvalidOid. */
static Oid
serial_type(TypeName *type)
{
	const char *name;

	if (list_length(type->names) != 1 || OidIsValid(type->typeOid) ||
		type->pct_type || type->setof || type->arrayBounds != NIL)
		return InvalidOid;

	name = strVal(linitial(type->names));
	if (strcmp(name, "smallserial") == 0 || strcmp(name, "serial2") == 0)
		return INT2OID;
	if (strcmp(name, "serial") == 0 || strcmp(name, "serial4") == 0)
		return INT4OID;
	if (strcmp(name, "bigserial") == 0 || strcmp(name, "serial8") == 0)
		return INT8OID;
	return InvalidOid;
}

/*
 * Do what core does for the column, and bind the sequence.  Returns
 * InvalidOid, and leaves all to core, if the sequence is not to be bound.
 */
static Oid
create_bound_sequence(Relation rel, const char *column, Oid type,
					  Constraint *identity)
{
	CreateSeqStmt *stmt = makeNode(CreateSeqStmt);
	List	   *options = identity != NULL ? list_copy(identity->options) : NIL;
	SkIdentity	kind = SK_IDENTITY_NONE;
	ObjectAddress address;

	stmt->sequence = choose_name(rel, column, &options);
	stmt->options = lcons(makeDefElem("as",
									  (Node *) makeTypeNameFromOid(type, -1),
									  -1),
						  options);
	stmt->ownerId = rel->rd_rel->relowner;
	address = DefineSequence(NULL, stmt);
	CommandCounterIncrement();

	if (identity != NULL)
		kind = identity->generated_when == ATTRIBUTE_IDENTITY_ALWAYS ?
			SK_IDENTITY_ALWAYS : SK_IDENTITY_BY_DEFAULT;
	if (sk_bind_new_sequence(address.objectId, kind) != NULL)
	{
		performDeletion(&address, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
		CommandCounterIncrement();
		return InvalidOid;
	}
	return address.objectId;
}

/* The name that the user gave, or the one that core would choose. */
static RangeVar *
choose_name(Relation rel, const char *column, List **options)
{
	Oid			namespace = RelationGetNamespace(rel);
	RangeVar   *name = NULL;
	ListCell   *lc;

	foreach(lc, *options)
	{
		DefElem    *option = lfirst(lc);

		if (strcmp(option->defname, "sequence_name") != 0)
			continue;
		name = makeRangeVarFromNameList(castNode(List, option->arg));
		*options = foreach_delete_current(*options, lc);
	}
	if (name == NULL)
		name = makeRangeVar(NULL,
							ChooseRelationName(RelationGetRelationName(rel),
											   column, "seq", namespace,
											   false),
							-1);
	if (name->schemaname == NULL)
		name->schemaname = get_namespace_name(namespace);
	name->relpersistence = rel->rd_rel->relpersistence;
	return name;
}

/*
 * nextval('...'::regclass), as core makes it for a serial column, but with the
 * OID in place of the name
 */
static FuncCall *
make_nextval_call(Oid seqid)
{
	A_Const    *name = makeNode(A_Const);
	TypeCast   *cast = makeNode(TypeCast);

	name->val.sval.type = T_String;
	name->val.sval.sval = psprintf("%u", seqid);
	name->location = -1;
	cast->arg = (Node *) name;
	cast->typeName = makeTypeNameFromOid(REGCLASSOID, -1);
	cast->location = -1;
	return makeFuncCall(SystemFuncName("nextval"), list_make1(cast),
						COERCE_EXPLICIT_CALL, SK_OUR_LOCATION);
}

static Oid
named_sequence(FuncCall *call)
{
	A_Const    *name = castNode(A_Const, castNode(TypeCast, linitial(call->args))->arg);

	return atooid(strVal(&name->val.sval));
}

/* The call that change_column() has put into a column definition. */
static FuncCall *
find_nextval_call(ColumnDef *def)
{
	ListCell   *lc;

	foreach(lc, def->constraints)
	{
		Constraint *constraint = lfirst(lc);

		if (constraint->contype == CONSTR_DEFAULT &&
			constraint->raw_expr != NULL &&
			IsA(constraint->raw_expr, FuncCall) &&
			((FuncCall *) constraint->raw_expr)->location == SK_OUR_LOCATION)
			return (FuncCall *) constraint->raw_expr;
	}
	return NULL;
}
