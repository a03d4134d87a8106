/*-------------------------------------------------------------------------
 *
 * sequence_ddl.c
 *	  What commands do to sequences and their kinds.
 *
 * After every command that can create a sequence, a new one gets the default kind,
 * and the values of a bound one fit its type and the columns that store them.
 *
 * The rows of a table get the values of a new serial or identity column while
 * ALTER TABLE ... ADD COLUMN runs, too early for a ddl_command_end trigger.  So the
 * sequence is created and bound before the command starts, the column definition
 * becomes that of an ordinary column with a default, and after the command the
 * sequence is given to the column.  What was changed, and what has to follow a
 * CREATE TABLE ... LIKE, is noted in the tree (spi/tree_marks.h).
 *
 * src/sequence/sequence_ddl.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/sequence.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "parser/parse_type.h"
#include "parser/parser.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "sequence/sequence.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"
#include "spi/tree_marks.h"

static void guard_sequences(Node *command);
static void guard_alter(AlterSeqStmt *stmt);
static void follow_sequences(Node *command, List *relations);
static void follow_label(Oid seqid);
static bool is_core_identity(Oid seqid);
static void check_altered_sequence(Oid seqid, Node *command);
static bool adopt_sequence(Oid seqid);
static void complete_label(Oid seqid);
static const SkRestriction *bind_new_sequence(Oid seqid, SkIdentity identity);
static void name_setting(void *arg);
static const SkRestriction *bind_default_kind(Oid seqid, SkIdentity identity);
static const SkRestriction *overlap_restriction(const SkSequence *seq,
												const SkKind *kind);
static void narrow_sequence(Oid seqid, Oid type);
static void refuse_narrowing(const SkSequence *seq, Oid type);
static void follow_widths(Node *command, List *relations, const List *bound);
static List *list_altered(AlterTableStmt *stmt);
static void follow_table(Oid relid, List *columns, const List *bound);
static void follow_default(Oid relid, AttrNumber attnum, Node *value,
						   Oid type, int32 typmod);
static bool list_called(Node *node, List **sequences);
static bool got_default_kind(Oid seqid, Oid relid, AttrNumber attnum);
static bool holds_values(Node *value, Oid type, int32 typmod, int bits);
static bool type_holds_bits(Oid type, int32 typmod, int bits);
static void make_plain(Oid seqid, const SkRestriction *restriction);
static void warn_of_foreign_keys(Relation rel, List *columns);
static int	bits_of_ids(Oid relid, AttrNumber attnum, ObjectAddresses *visited);
static void restore_identity(Oid seqid);
static bool hands_over(Oid seqid, DefElem *option);
static bool fetches_by_default(Oid relid, AttrNumber column, Oid seqid);
static void identity_start(Node *command);
static void identity_end(Node *command, List *relations);
static bool alters_column(AlterTableCmd *cmd);
static Oid	lock_altered(AlterTableStmt *stmt);
static void restore_altered(AlterTableStmt *stmt);
static void check_partition(AlterTableCmd *cmd, Oid relid, Oid seqid);
static bool gives_up_default(AlterTableCmd *cmd, Oid relid, Oid seqid);
static void convert_altered(AlterTableStmt *stmt, List *relations);
static void prepare_like(CreateStmt *stmt);
static List *like_commands(TableLikeClause *clause);
static char *copied_options(Oid seqid, int width);
static void follow_like(List *relations);
static void add_column_start(Node *command);
static void follow_added_default(Oid relid, ColumnDef *def);
static bool names_nextval(Node *node, void *context);
static bool names_nothing(Node *node, void *context);
static bool makes_room(AlterTableStmt *stmt, Oid relid, const char *column);
static void add_column_end(Node *command, List *relations);
static void give_to_column(Oid seqid);
static bool is_added_column(Relation rel, AlterTableCmd *cmd);
static void change_column(Relation rel, ColumnDef *def);
static Constraint *find_identity(ColumnDef *def);
static Oid	serial_type(TypeName *type);
static Oid	create_bound_sequence(Relation rel, const char *column, Oid type,
								  Constraint *identity);
static RangeVar *choose_name(Relation rel, const char *column, List **options);
static Oid	added_sequence(ColumnDef *def);

/*
 * sk_sequence_ddl_init
 *		Register for commands.
 *
 * When a command ends, columns that were added get their sequences first, then
 * what was an identity is converted again, and new sequences get the default
 * kind.
 */
void
sk_sequence_ddl_init(void)
{
	sk_on_command(guard_sequences, NULL, follow_sequences);
	sk_on_command(NULL, identity_start, identity_end);
	sk_on_command(NULL, add_column_start, add_column_end);
}

/* What must not be missed before a command, with event triggers turned off as well. */
static void
guard_sequences(Node *command)
{
	ListCell   *lc;

	if (IsA(command, AlterSeqStmt))
		guard_alter((AlterSeqStmt *) command);
	else if (IsA(command, DropStmt) &&
			 ((DropStmt *) command)->removeType == OBJECT_SEQUENCE)
		foreach(lc, ((DropStmt *) command)->objects)
			restore_identity(RangeVarGetRelid(makeRangeVarFromNameList(lfirst(lc)),
											  NoLock, true));
}

/*
 * Before ALTER SEQUENCE ... AS a narrower type, the sequence gets fewer bits, or
 * the command is refused.
 */
static void
guard_alter(AlterSeqStmt *stmt)
{
	Oid			seqid = RangeVarGetRelid(stmt->sequence, NoLock, true);
	ListCell   *lc;

	if (!OidIsValid(seqid) || get_rel_relkind(seqid) != RELKIND_SEQUENCE)
		return;
	foreach(lc, stmt->options)
	{
		DefElem    *option = lfirst_node(DefElem, lc);

		if (strcmp(option->defname, "as") == 0)
			narrow_sequence(seqid, typenameTypeId(NULL, defGetTypeName(option)));
		else if (strcmp(option->defname, "owned_by") == 0 && !hands_over(seqid, option))
			restore_identity(seqid);
	}
}

/* Give new sequences the default kind, and bound ones what they need. */
static void
follow_sequences(Node *command, List *relations)
{
	List	   *bound = NIL;
	ListCell   *lc;

	/* pg_upgrade may come to a label before the function that loads its kind */
	if (IsBinaryUpgrade || creating_extension || IsA(command, CreateExtensionStmt) ||
		(sk_default_sequence_kind(true) == NULL && !sk_bindings_exist()))
		return;
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
			if (IsA(command, SecLabelStmt))
				follow_label(sequence->relid);
			else
				check_altered_sequence(sequence->relid, command);
		}
	}
	/* after the kinds: a default can take one away again */
	if (!sk_brings_labels())
		follow_widths(command, relations, bound);
}

/*
 * Complete the label of a sequence.  One that comes from another database is
 * complete, but for the identity of a column that core has made here: core's
 * identity never has a bound sequence.
 */
static void
follow_label(Oid seqid)
{
	sk_sequence_check_mappable(seqid);
	if (!sk_restoring() || is_core_identity(seqid))
		complete_label(seqid);
	if (!sk_restoring())
		narrow_sequence(seqid, InvalidOid);
	Assert(!is_core_identity(seqid));
}

static bool
is_core_identity(Oid seqid)
{
	Oid			table;
	int32		column;

	return sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &table, &column);
}

/* A bound sequence may have got an increment, or another owner. */
static void
check_altered_sequence(Oid seqid, Node *command)
{
	ListCell   *lc;

	sk_sequence_check_mappable(seqid);
	foreach(lc, IsA(command, AlterSeqStmt) ? ((AlterSeqStmt *) command)->options : NIL)
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
	if (!sk_brings_labels())
		narrow_sequence(seqid, InvalidOid);
}

/* Give a new sequence the default kind, if there is one that fits. */
static bool
adopt_sequence(Oid seqid)
{
	const SkRestriction *restriction;
	Oid			table = InvalidOid;
	int32		column;

	if (sk_brings_labels() ||
		sk_default_sequence_kind(sk_sequence_owner(seqid, &table, &column)) == NULL ||
		get_rel_persistence(seqid) == RELPERSISTENCE_TEMP ||
		sk_sequence_label(seqid) != NULL)
		return false;
	restriction = sk_clock_restriction(seqid, table);
	if (restriction == NULL)
		restriction = bind_new_sequence(seqid, SK_IDENTITY_NONE);
	if (restriction != NULL)
		sk_report_restriction(seqid, restriction);
	return restriction == NULL;
}

/*
 * Give a sequence that has not been used the default kind, if it fits.
 *
 * "identity" is that of the column that the sequence is made for.  Returns
 * NULL, or what the sequence is left alone for.  The command need not mention
 * the kind, so the context of errors does.
 */
static const SkRestriction *
bind_new_sequence(Oid seqid, SkIdentity identity)
{
	ErrorContextCallback context = {error_context_stack, name_setting, NULL};
	const SkRestriction *restriction;

	error_context_stack = &context;
	restriction = bind_default_kind(seqid, identity);
	error_context_stack = context.previous;
	return restriction;
}

static void
name_setting(void *arg)
{
	errcontext("default kind of new sequences, from setting \"%s\"",
			   "spanner.default_sequence_kind");
}

/* The same as bind_new_sequence(), without the context of errors. */
static const SkRestriction *
bind_default_kind(Oid seqid, SkIdentity identity)
{
	static const SkRestriction no_value = {
		NULL,
		"From its START on, the default kind has no value within its MAXVALUE.",
		"Use a larger MAXVALUE or a smaller START, or the sequence kind \"local\"."
	};
	SkSequence *seq = sk_sequence_read(seqid);
	SkLabel    *label = sk_label_parse_kind(sk_default_sequence_kind(true));
	const SkRestriction *restriction = sk_sequence_restriction(&seq->form);
	SkSequenceChange change = {0};
	SkKind	   *kind;
	int			width;

	if (restriction != NULL)
		return restriction;
	/* what refers to its ids has to hold them, too */
	(void) sk_narrowest_column(sk_referring_columns(seq), &width);
	if (sk_fit_label(label, seq, width) < SK_MIN_BITS)
		return &no_value;

	kind = sk_kind_make(label, seq->width);
	if (!sk_kind_reaches_value(kind, seq->form.seqstart))
		return &no_value;
	restriction = overlap_restriction(seq, kind);
	if (restriction != NULL)
		return restriction;

	if (identity != SK_IDENTITY_NONE)
		sk_label_set(label, "identity", identity == SK_IDENTITY_ALWAYS ?
					 "always" : "by_default");
	change.label = *label;
	change.is_new = true;
	sk_change_sequence(seq, &change);
	sk_check_partitions(seq, NOTICE);
	return NULL;
}

/*
 * That values of a new sequence can be closer than its increment; NULL if they
 * cannot.
 */
static const SkRestriction *
overlap_restriction(const SkSequence *seq, const SkKind *kind)
{
	long long	increment = seq->form.seqincrement;
	SkRestriction *result;

	if (!sk_kind_overlaps(kind, &seq->form))
		return NULL;

	result = palloc0(sizeof(SkRestriction));
	result->detail = psprintf("With INCREMENT BY %lld, values of kind \"%s\" can be closer than %lld, and a client that makes a block of ids of each value would make ids twice.",
							  increment, sk_kind_parts(kind)->kind, increment);
	result->hint = "Use INCREMENT BY 1, or kind \"bit_reversed_positive\" with enough bits; for other uses of the increment, spanner.alter_sequence() or spanner.convert_column() gives the kind all the same.";
	return result;
}

/*
 * Complete the label of a sequence with what its type and column say.
 *
 * A label that a user has set holds only what the user wrote.
 */
static void
complete_label(Oid seqid)
{
	const SkSequenceChange nothing = {0};

	sk_change_sequence(sk_sequence_lock(seqid, NoLock, true), &nothing);
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

	/* somebody may have fetched before the lock was there */
	seq = sk_sequence_lock(seqid, NoLock, false);
	if (sk_kind_has_given(seq))
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
follow_widths(Node *command, List *relations, const List *bound)
{
	List	   *columns = NIL;
	ListCell   *lc;

	if (IsA(command, AlterTableStmt))
	{
		columns = list_altered((AlterTableStmt *) command);
		if (columns == NIL)
			return;
	}
	foreach(lc, relations)
	{
		SkCommandRelation *table = lfirst(lc);

		if ((table->is_new || columns != NIL) &&
			(table->relkind == RELKIND_RELATION ||
			 table->relkind == RELKIND_PARTITIONED_TABLE ||
			 table->relkind == RELKIND_FOREIGN_TABLE))
			follow_table(table->relid, columns, bound);
	}
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
follow_table(Oid relid, List *columns, const List *bound)
{
	List	   *sequences = getOwnedSequences(relid);
	Relation	rel = relation_open(relid, AccessShareLock);
	int			count = RelationGetNumberOfAttributes(rel);
	ListCell   *lc;

	warn_of_foreign_keys(rel, columns);
	relation_close(rel, NoLock);
	for (AttrNumber attnum = 1; attnum <= count; attnum++)
	{
		FormData_pg_attribute column;
		Node	   *value;

		/*
		 * what is done for one column changes sequences, and needs the table
		 * closed
		 */
		rel = relation_open(relid, NoLock);
		column = *TupleDescAttr(RelationGetDescr(rel), attnum - 1);
		/* a domain has a default for columns that have none */
		value = column.attisdropped ? NULL : build_column_default(rel, attnum);
		relation_close(rel, NoLock);
		if (value == NULL)
			continue;
		if (column.atthasdef)
			sequences = list_append_unique_oid(sequences, sk_fetched_sequence(value, InvalidOid));
		if (columns == NIL || list_member(columns, makeString(NameStr(column.attname))))
			follow_default(relid, attnum, value, column.atttypid, column.atttypmod);
	}
	/* after the defaults: what became plain needs no fewer bits */
	foreach(lc, sequences)
	{
		if (OidIsValid(lfirst_oid(lc)) && !list_member_oid(bound, lfirst_oid(lc)))
			narrow_sequence(lfirst_oid(lc), InvalidOid);
	}
}

/*
 * A new default has made sequences that got the default kind plain ones, if it
 * computes with their values, or does not store them as they are: applications
 * would get errors, or digits that repeat.
 */
static void
follow_default(Oid relid, AttrNumber attnum, Node *value, Oid type, int32 typmod)
{
	static const SkRestriction no_key = {
		NULL,
		"A default computes with its values, or stores them in a column that does not hold those of the kind.",
		"If they are keys like any others, give it the kind by spanner.alter_sequence()."
	};
	List	   *sequences = NIL;
	ListCell   *lc;

	if (sk_default_sequence_kind(true) == NULL)
		return;
	(void) list_called(value, &sequences);
	foreach(lc, sequences)
	{
		Oid			seqid = lfirst_oid(lc);
		const SkRestriction *restriction;
		SkSequence *seq;

		if (!got_default_kind(seqid, relid, attnum))
			continue;
		restriction = sk_clock_restriction(seqid, relid);
		/* most columns hold the values of any kind */
		if (restriction == NULL && holds_values(value, type, typmod, 63))
			continue;
		seq = sk_sequence_read(seqid);
		if (seq->kind == NULL || sk_kind_has_given(seq))
			continue;
		if (restriction == NULL &&
			!holds_values(value, type, typmod, seq->kind->options->bits))
		{
			/* an integer column gets values that fit */
			if (sk_fetched_sequence(value, InvalidOid) == seqid)
				narrow_sequence(seqid, getBaseType(type));
			else
				restriction = &no_key;
		}
		if (restriction != NULL)
			make_plain(seqid, restriction);
	}
}

/* The sequences that an expression fetches from. */
static bool
list_called(Node *node, List **sequences)
{
	Oid			seqid = sk_called_sequence(node, InvalidOid);

	if (OidIsValid(seqid))
		*sequences = list_append_unique_oid(*sequences, seqid);
	return expression_tree_walker(node, list_called, sequences);
}

/*
 * Has a sequence the default kind, and no other column whose key it is?  As
 * everywhere, columns of other roles do not decide about it.
 */
static bool
got_default_kind(Oid seqid, Oid relid, AttrNumber attnum)
{
	char	   *stored = sk_sequence_label(seqid);
	Oid			table;
	int32		column;

	if (stored == NULL ||
		strcmp(sk_label_parse_kind(stored)->kind,
			   sk_label_parse_kind(sk_default_sequence_kind(true))->kind) != 0 ||
		sk_relation_owner(relid) != sk_relation_owner(seqid) ||
		!object_ownercheck(RelationRelationId, seqid, GetUserId()))
		return false;
	return !sk_sequence_owner(seqid, &table, &column) ||
		(table == relid && column == attnum) ||
		!fetches_by_default(table, (AttrNumber) column, seqid);
}

/* Is an expression a call of nextval(), cast to types that hold so many bits? */
static bool
holds_values(Node *value, Oid type, int32 typmod, int bits)
{
	Node	   *argument = NULL;

	type = getBaseTypeAndTypmod(type, &typmod);
	if (!type_holds_bits(type, typmod, bits))
		return false;
	if (OidIsValid(sk_called_sequence(value, InvalidOid)))
		return true;
	if (IsA(value, RelabelType))
		argument = (Node *) ((RelabelType *) value)->arg;
	else if (IsA(value, CoerceViaIO))
		argument = (Node *) ((CoerceViaIO *) value)->arg;
	else if (IsA(value, CoerceToDomain))
		argument = (Node *) ((CoerceToDomain *) value)->arg;
	else if (IsA(value, FuncExpr) &&
			 ((FuncExpr *) value)->funcformat != COERCE_EXPLICIT_CALL)
		argument = linitial(((FuncExpr *) value)->args);
	return argument != NULL &&
		holds_values(argument, exprType(argument), exprTypmod(argument), bits);
}

static bool
type_holds_bits(Oid type, int32 typmod, int bits)
{
	/* of 2^bits - 2 */
	int			digits = (int) (bits * log10(2.0)) + 1;

	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return sk_type_width(type) >= bits;
		case FLOAT8OID:
			return bits <= DBL_MANT_DIG;
		case NUMERICOID:
			/* precision and scale, as numerictypmodin() packs them */
			return typmod < VARHDRSZ ||
				(((typmod - VARHDRSZ) >> 16) & 0xffff) -
				((((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024) >= digits;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			return typmod < VARHDRSZ || typmod - VARHDRSZ >= digits;
		default:
			return false;
	}
}

/* Take the kind of a sequence away that has not returned a value. */
static void
make_plain(Oid seqid, const SkRestriction *restriction)
{
	const SkSequenceChange change = {.label = {.kind = SK_LOCAL_KIND}};
	SkSequence *seq = sk_sequence_lock(seqid, NoLock, true);

	/* others may have changed it, or fetched, before the lock was there */
	if (seq->kind == NULL || sk_kind_has_given(seq))
		return;
	sk_change_sequence(seq, &change);
	sk_report_restriction(seqid, restriction);
}

/* Warn of new foreign keys that do not hold the ids that they refer to. */
static void
warn_of_foreign_keys(Relation rel, List *columns)
{
	List	   *warned = NIL;
	ListCell   *lc;

	/* the relation cache may drop its list while other tables are opened */
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
			bits = bits_of_ids(key->confrelid, key->confkey[i], new_object_addresses());
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
 * it refers to; 0 if there is none.  As many ways as lead to a column, it is
 * looked at once.
 */
static int
bits_of_ids(Oid relid, AttrNumber attnum, ObjectAddresses *visited)
{
	ObjectAddress column;
	Relation	rel;
	Oid			seqid;
	int			result = 0;
	int			bits;
	ListCell   *lc;

	check_stack_depth();
	ObjectAddressSubSet(column, RelationRelationId, relid, attnum);
	if (object_address_present(&column, visited))
		return 0;
	add_exact_object_address(&column, visited);
	rel = relation_open(relid, AccessShareLock);
	seqid = sk_fetched_sequence(build_column_default(rel, attnum), InvalidOid);
	if (!OidIsValid(seqid))
		seqid = sk_column_sequence(relid, attnum);
	if (OidIsValid(seqid))
	{
		const SkSequenceOptions *options = sk_binding_get(seqid)->options;

		result = options != NULL ? options->bits : 0;
	}
	else
	{
		foreach(lc, copyObject(RelationGetFKeyList(rel)))
		{
			ForeignKeyCacheInfo *key = lfirst(lc);

			for (int i = 0; i < key->nkeys; i++)
			{
				if (key->conkey[i] != attnum)
					continue;
				bits = bits_of_ids(key->confrelid, key->confkey[i], visited);
				result = Max(result, bits);
			}
		}
	}
	relation_close(rel, NoLock);
	return result;
}

/*
 * Have core refuse what it refuses for the sequence of an identity: another owner,
 * and DROP SEQUENCE, which would take the default and with it the identity.
 */
static void
restore_identity(Oid seqid)
{
	SkIdentity	identity = sk_sequence_identity(seqid);

	/*
	 * it locks the table, and core checks ownership before it locks the
	 * sequence
	 */
	if (identity != SK_IDENTITY_NONE &&
		object_ownercheck(RelationRelationId, seqid, GetUserId()))
		sk_change_identity(seqid, identity);
}

/*
 * Is OWNED BY for a column that fetches from the sequence already?  It may become
 * the identity: that is how a table hands it over to a partitioned one.
 */
static bool
hands_over(Oid seqid, DefElem *option)
{
	List	   *names = defGetQualifiedName(option);
	Oid			relid;
	AttrNumber	attnum;

	if (list_length(names) < 2)
		return false;
	relid = RangeVarGetRelid(makeRangeVarFromNameList(list_copy_head(names, list_length(names) - 1)),
							 NoLock, true);
	attnum = get_attnum(relid, strVal(llast(names)));
	/* core reports a column that does not exist */
	return attnum == InvalidAttrNumber || fetches_by_default(relid, attnum, seqid);
}

/* Does the default of a column depend on a sequence? */
static bool
fetches_by_default(Oid relid, AttrNumber column, Oid seqid)
{
	return list_member_oid(sk_dependents(seqid, AttrDefaultRelationId),
						   GetAttrDefaultOid(relid, column));
}

/* Prepare a command that may be on identity columns. */
static void
identity_start(Node *command)
{
	ListCell   *lc;

	if (IsA(command, AlterTableStmt))
		restore_altered((AlterTableStmt *) command);
	else if (IsA(command, CreateStmt))
		prepare_like((CreateStmt *) command);
	else if (IsA(command, CreateSchemaStmt))
	{
		foreach(lc, ((CreateSchemaStmt *) command)->schemaElts)
			identity_start(lfirst(lc));
	}
}

/* Complete a command that may have been on identity columns. */
static void
identity_end(Node *command, List *relations)
{
	if (IsA(command, AlterTableStmt))
		convert_altered((AlterTableStmt *) command, relations);
	else
		follow_like(relations);
}

/* The commands that core refuses or changes for an identity column. */
static bool
alters_column(AlterTableCmd *cmd)
{
	return cmd->subtype == AT_AddIdentity || cmd->subtype == AT_SetIdentity ||
		cmd->subtype == AT_DropIdentity || cmd->subtype == AT_ColumnDefault ||
		cmd->subtype == AT_DropNotNull || cmd->subtype == AT_AlterColumnType;
}

/* Take the lock that a command takes, after the check that it makes. */
static Oid
lock_altered(AlterTableStmt *stmt)
{
	return RangeVarGetRelidExtended(stmt->relation, AccessExclusiveLock,
									RVR_MISSING_OK,
									RangeVarCallbackOwnsRelation, NULL);
}

/* Give the columns that a command alters their identity back. */
static void
restore_altered(AlterTableStmt *stmt)
{
	Oid			relid = InvalidOid;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);

		if (!alters_column(cmd) || !sk_bindings_exist())
			continue;

		if (!OidIsValid(relid))
			relid = lock_altered(stmt);
		if (!OidIsValid(relid))
			return;
		/* nobody else can give or take an identity any more */
		foreach(lc2, sk_identity_columns(relid, relid))
		{
			SkIdentityColumn *column = lfirst(lc2);

			if (strcmp(column->name, cmd->name) != 0 ||
				gives_up_default(cmd, relid, column->seqid))
				continue;
			check_partition(cmd, relid, column->seqid);
			sk_change_identity(column->seqid, column->identity);
		}
	}
}

/* The identity of a table above says what a partition draws, as in core from release 17 on. */
static void
check_partition(AlterTableCmd *cmd, Oid relid, Oid seqid)
{
	Oid			owner;
	int32		attnum;

	if (cmd->subtype == AT_ColumnDefault && sk_sequence_owner(seqid, &owner, &attnum) &&
		owner != relid)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("column \"%s\" of relation \"%s\" is an identity column",
						cmd->name, get_rel_name(relid)),
				 errdetail("The identity is that of table \"%s\".", get_rel_name(owner)),
				 errhint("Detach the partition, or drop the identity of the table.")));
}

/*
 * Does a column lose its default before the sequence goes elsewhere?
 *
 * pg_dump --clean drops default, sequence and table one after the other.  It sees
 * a serial column, and is known by the search path.  When Citus makes a shard of a
 * table that was there, the table that it puts in front has a column that draws
 * already.  The shard loses its default before the other gets the sequence and the
 * identity.
 */
static bool
gives_up_default(AlterTableCmd *cmd, Oid relid, Oid seqid)
{
	ListCell   *lc;

	if (cmd->subtype != AT_ColumnDefault || cmd->def != NULL)
		return false;
	if (sk_brings_labels() && namespace_search_path[0] == '\0')
		return true;
	if (!sk_citus_exists())
		return false;
	foreach(lc, sk_dependents(seqid, AttrDefaultRelationId))
	{
		ObjectAddress column = GetAttrDefaultColumnAddress(lfirst_oid(lc));

		if (column.objectId != relid &&
			!get_rel_relispartition(column.objectId) &&
			strcmp(get_attname(column.objectId, column.objectSubId, false),
				   cmd->name) == 0)
			return true;
	}
	return false;
}

/* Convert the columns whose identity a command has left. */
static void
convert_altered(AlterTableStmt *stmt, List *relations)
{
	bool		alters = false;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, stmt->cmds)
		alters |= alters_column(lfirst(lc));
	foreach(lc, alters ? relations : NIL)
	{
		SkCommandRelation *table = lfirst(lc);

		if (table->command->type != SCT_AlterTable)
			continue;
		foreach(lc2, getOwnedSequences(table->relid))
		{
			if (is_core_identity(lfirst_oid(lc2)) &&
				sk_sequence_label(lfirst_oid(lc2)) != NULL)
				complete_label(lfirst_oid(lc2));
		}
	}
}

/*
 * Note the commands for a table that is made LIKE others, in the alias of its
 * name (spi/tree_marks.h).  They have to live as long as the statement.
 */
static void
prepare_like(CreateStmt *stmt)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(stmt));
	List	   *commands = NIL;
	ListCell   *lc;

	foreach(lc, stmt->tableElts)
	{
		if (IsA(lfirst(lc), TableLikeClause) && sk_bindings_exist())
			commands = list_concat(commands, like_commands(lfirst(lc)));
	}
	if (commands != NIL)
	{
		stmt->relation->alias = makeNode(Alias);
		stmt->relation->alias->colnames = commands;
	}
	MemoryContextSwitchTo(old);
}

/* The commands for the columns that a LIKE clause gives a table, but for its name. */
static List *
like_commands(TableLikeClause *clause)
{
	Relation	rel = relation_openrv_extended(clause->relation,
											   AccessShareLock, true);
	List	   *result = NIL;
	ListCell   *lc;

	if (rel == NULL)
		return NIL;
	foreach(lc, sk_identity_columns(RelationGetRelid(rel), RelationGetRelid(rel)))
	{
		SkIdentityColumn *column = lfirst(lc);
		const char *name = quote_identifier(column->name);
		AttrNumber	attnum = get_attnum(RelationGetRelid(rel), column->name);

		if (clause->options & CREATE_TABLE_LIKE_DEFAULTS)
			result = lappend(result, makeString(psprintf("ALTER COLUMN %s DROP DEFAULT", name)));
		if (clause->options & CREATE_TABLE_LIKE_IDENTITY)
			result = lappend(result, makeString(psprintf("ALTER COLUMN %s ADD GENERATED %s AS IDENTITY (%s)", name,
														 column->identity == SK_IDENTITY_ALWAYS ? "ALWAYS" : "BY DEFAULT",
														 copied_options(column->seqid, sk_column_width(RelationGetRelid(rel), attnum)))));
	}
	relation_close(rel, AccessShareLock);
	return result;
}

/* The sequence of an identity may be wider than the column; its copy is not. */
static char *
copied_options(Oid seqid, int width)
{
	FormData_pg_sequence form = sk_sequence_form(seqid);
	int64		last = (int64) ((UINT64CONST(1) << width) - 1);

	return psprintf("INCREMENT " INT64_FORMAT " MINVALUE " INT64_FORMAT " MAXVALUE " INT64_FORMAT
					" START " INT64_FORMAT " CACHE " INT64_FORMAT " %s",
					form.seqincrement, form.seqmin, Min(form.seqmax, last),
					form.seqstart, form.seqcache, form.seqcycle ? "CYCLE" : "NO CYCLE");
}

/* Run them for the tables that were made: the server has noted a copy with each. */
static void
follow_like(List *relations)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, relations)
	{
		SkCommandRelation *table = lfirst(lc);
		CreateStmt *stmt = (CreateStmt *) table->command->parsetree;

		if (!IsA(stmt, CreateStmt) || stmt->relation->alias == NULL)
			continue;
		foreach(lc2, stmt->relation->alias->colnames)
			sk_run_command(psprintf("ALTER TABLE %s %s", sk_qualified_name(table->relid),
									strVal(lfirst(lc2))));
	}
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

	if (!IsA(command, AlterTableStmt) || sk_brings_labels() ||
		creating_extension || sk_default_sequence_kind(true) == NULL)
		return;
	if (stmt->objtype != OBJECT_TABLE && stmt->objtype != OBJECT_FOREIGN_TABLE)
		return;
	foreach(lc, stmt->cmds)
		adds = adds || ((AlterTableCmd *) lfirst(lc))->subtype == AT_AddColumn;
	if (!adds)
		return;

	relid = lock_altered(stmt);
	if (!OidIsValid(relid))
		return;

	/* what is put into the command has to live as long as it does */
	old = MemoryContextSwitchTo(GetMemoryChunkContext(stmt));
	rel = table_open(relid, NoLock);
	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);

		if (is_added_column(rel, cmd) &&
			makes_room(stmt, relid, ((ColumnDef *) cmd->def)->colname))
			change_column(rel, (ColumnDef *) cmd->def);
		else if (cmd->subtype == AT_AddColumn &&
				 get_attnum(relid, ((ColumnDef *) cmd->def)->colname) == InvalidAttrNumber)
			follow_added_default(relid, (ColumnDef *) cmd->def);
	}
	table_close(rel, NoLock);
	MemoryContextSwitchTo(old);
}

/*
 * Rows get their values before the command ends.  So what follow_default() does
 * to sequences that the default of a new column uses is done when it starts.
 */
static void
follow_added_default(Oid relid, ColumnDef *def)
{
	Oid			type;
	int32		typmod;
	ListCell   *lc;

	foreach(lc, def->constraints)
	{
		Constraint *constraint = lfirst(lc);

		if (constraint->contype != CONSTR_DEFAULT ||
			OidIsValid(serial_type(def->typeName)) ||
			!names_nextval(constraint->raw_expr, NULL))
			continue;
		typenameTypeIdAndMod(NULL, def->typeName, &type, &typmod);
		follow_default(relid, InvalidAttrNumber,
					   cookDefault(make_parsestate(NULL),
								   copyObject(constraint->raw_expr), type, typmod,
								   def->colname, '\0'),
					   type, typmod);
	}
}

/*
 * Is there a call of nextval() in a raw expression?  Others are left to core to
 * read, and so is a sequence that does not exist: what core refuses first comes
 * first.
 */
static bool
names_nextval(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncCall) &&
		strcmp(strVal(llast(((FuncCall *) node)->funcname)), "nextval") == 0)
		return !names_nothing((Node *) ((FuncCall *) node)->args, NULL);
	return raw_expression_tree_walker(node, names_nextval, context);
}

/* Is there a string in raw arguments that names no relation?  It may be any text. */
static bool
names_nothing(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (!IsA(node, A_Const))
		return raw_expression_tree_walker(node, names_nothing, context);
	if (((A_Const *) node)->isnull || !IsA(&((A_Const *) node)->val, String))
		return false;
	return !OidIsValid(sk_named_relation(strVal(&((A_Const *) node)->val), InvalidOid));
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

	if (!IsA(command, AlterTableStmt))
		return;
	foreach(lc, ((AlterTableStmt *) command)->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);
		Oid			seqid = InvalidOid;

		if (cmd->subtype == AT_AddColumn)
			seqid = added_sequence((ColumnDef *) cmd->def);
		if (OidIsValid(seqid))
			give_to_column(seqid);
	}
}

/* The column is the one whose default uses the sequence. */
static void
give_to_column(Oid seqid)
{
	List	   *defaults = sk_dependents(seqid, AttrDefaultRelationId);
	ObjectAddress sequence;
	ObjectAddress column;

	if (defaults == NIL)
		return;
	/* partitions and children have the default as well, and got it later */
	column = GetAttrDefaultColumnAddress(linitial_oid(defaults));
	/* what ALTER SEQUENCE ... OWNED BY asks for */
	if (sk_relation_owner(column.objectId) != sk_relation_owner(seqid) ||
		get_rel_namespace(column.objectId) != get_rel_namespace(seqid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("table \"%s\" was renamed while a column was added",
						get_rel_name(column.objectId)),
				 errhint("Try again.")));
	ObjectAddressSet(sequence, RelationRelationId, seqid);
	recordDependencyOn(&sequence, &column, DEPENDENCY_AUTO);
	CommandCounterIncrement();
}

/*
 * Does a command add a serial or identity column to a table that is not
 * temporary?  Identity is not inherited, except by partitions: core refuses it.
 */
static bool
is_added_column(Relation rel, AlterTableCmd *cmd)
{
	ColumnDef  *def = (ColumnDef *) cmd->def;

	if (cmd->subtype != AT_AddColumn || def->typeName == NULL ||
		rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		return false;
	if (find_identity(def) == NULL)
		return OidIsValid(serial_type(def->typeName));
	return !OidIsValid(serial_type(def->typeName)) &&
		(rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
		 find_inheritance_children(RelationGetRelid(rel), NoLock) == NIL);
}

static void
change_column(Relation rel, ColumnDef *def)
{
	Constraint *identity = find_identity(def);
	Constraint *default_value;
	A_Const    *name;
	Oid			type;
	Oid			seqid;

	/* the rows must not get values before the sequence has its kind */
	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock, true));
	if (identity == NULL)
		type = serial_type(def->typeName);
	else
		type = typenameTypeId(NULL, def->typeName);
	if ((type != INT2OID && type != INT4OID && type != INT8OID) ||
		sk_clock_restriction(RelationGetRelid(rel), RelationGetRelid(rel)) != NULL)
		return;

	seqid = create_bound_sequence(rel, def->colname, type, identity);
	if (!OidIsValid(seqid))
		return;
	default_value = makeNode(Constraint);
	default_value->contype = CONSTR_DEFAULT;
	default_value->location = -1;
	/* as for a serial column of core, but with the OID in place of the name */
	name = makeNode(A_Const);
	name->val.sval.type = T_String;
	name->val.sval.sval = psprintf("%u", seqid);
	name->location = -1;
	default_value->raw_expr = (Node *) makeFuncCall(SystemFuncName("nextval"), list_make1(name),
													COERCE_EXPLICIT_CALL, SK_OUR_LOCATION);

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
	ObjectAddress address;

	stmt->sequence = choose_name(rel, column, &options);
	stmt->options = lcons(makeDefElem("as",
									  (Node *) makeTypeNameFromOid(type, -1),
									  -1),
						  options);
	stmt->ownerId = rel->rd_rel->relowner;
	/* no event trigger notes it: the kind is given here */
	address = DefineSequence(NULL, stmt);
	CommandCounterIncrement();

	if (bind_new_sequence(address.objectId, identity != NULL ?
						  identity->generated_when : SK_IDENTITY_NONE) != NULL)
	{
		/* core makes another one, by the same name */
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

/* The sequence whose call change_column() has put into a column, or InvalidOid. */
static Oid
added_sequence(ColumnDef *def)
{
	ListCell   *lc;

	foreach(lc, def->constraints)
	{
		FuncCall   *call = (FuncCall *) lfirst_node(Constraint, lc)->raw_expr;

		if (call != NULL && IsA(call, FuncCall) &&
			call->location == SK_OUR_LOCATION)
			return atooid(linitial_node(A_Const, call->args)->val.sval.sval);
	}
	return InvalidOid;
}
