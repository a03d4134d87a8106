/*-------------------------------------------------------------------------
 *
 * widths.c
 *	  Whether columns hold the values of a sequence.
 *
 * Values of a sequence are stored in the column that owns it, and in columns
 * whose default draws from it.  Where its type or one of these is narrower
 * than its values, a sequence that has not been used gives values of fewer
 * bits.  One that has been used is left alone, and the command is refused.
 *
 * Foreign keys store the values too.  A sequence does not get bits that they
 * do not hold, and who makes such a foreign key is warned.
 *
 * Anybody can write a default.  So only tables of the sequence's owner count.
 * Nothing is locked here: what draws or refers can come at any time, and its
 * command is followed then.
 *
 * src/sequence/widths.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "nodes/parsenodes.h"
#include "nodes/value.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "sequence/arguments.h"
#include "sequence/binding.h"
#include "sequence/default_kind.h"
#include "sequence/redirect/identity_column.h"
#include "sequence/sequence_change.h"
#include "sequence/widths.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

/* Foreign keys to foreign keys are followed so far. */
#define SK_MAX_REFERENCES 16

static int	width_of(Oid relid, AttrNumber attnum);
static ObjectAddress *narrowest_of(List *columns);
static List *add_column(List *columns, Oid relid, AttrNumber attnum);
static Node *default_expression(Oid attrdef);
static void refuse_bits(const ObjectAddress *column, int bits,
						const SkSequence *used);
static void refuse_type(const SkSequence *seq, Oid type);
static char *restart_statement(Oid seqid, int bits);
static List *referring_columns(const SkSequence *seq);
static List *add_foreign_keys(List *columns, Oid relid, AttrNumber attnum);
static Oid	parent_with_column(Oid relid, const char *column);
static char *widening_statements(List *columns, int bits);
static void follow_table(const RangeVar *name, List *columns, const List *bound);
static List *list_altered(AlterTableStmt *stmt);
static void warn_of_foreign_keys(Relation rel, List *columns);
static int	bits_of_ids(Oid relid, AttrNumber attnum, int depth);

/*
 * sk_narrowest_width
 *		How many value bits all of these columns hold.
 */
int
sk_narrowest_width(List *columns)
{
	ObjectAddress *narrowest = narrowest_of(columns);

	return narrowest == NULL ? 63 :
		width_of(narrowest->objectId, narrowest->objectSubId);
}

static int
width_of(Oid relid, AttrNumber attnum)
{
	return sk_type_width(getBaseType(get_atttype(relid, attnum)));
}

/* NULL if there is no column. */
static ObjectAddress *
narrowest_of(List *columns)
{
	ObjectAddress *result = NULL;
	ListCell   *lc;

	foreach(lc, columns)
	{
		ObjectAddress *column = lfirst(lc);

		if (result == NULL ||
			width_of(column->objectId, column->objectSubId) <
			width_of(result->objectId, result->objectSubId))
			result = column;
	}
	return result;
}

/*
 * sk_sequence_columns
 *		The columns that store values of a sequence, as ObjectAddresses.
 */
List *
sk_sequence_columns(Oid seqid)
{
	List	   *result = NIL;
	Oid			table;
	int32		attnum;
	ListCell   *lc;

	if (sk_sequence_owner(seqid, &table, &attnum))
		result = add_column(result, table, attnum);
	foreach(lc, sk_dependents(seqid, AttrDefaultRelationId))
	{
		ObjectAddress column = GetAttrDefaultColumnAddress(lfirst_oid(lc));

		if (sk_drawn_sequence(default_expression(lfirst_oid(lc))) == seqid &&
			get_rel_relkind(column.objectId) != RELKIND_VIEW &&
			sk_relation_owner(column.objectId) == sk_relation_owner(seqid))
			result = add_column(result, column.objectId, column.objectSubId);
	}
	return result;
}

/* A column is altered where it is not inherited. */
static List *
add_column(List *columns, Oid relid, AttrNumber attnum)
{
	char	   *name = get_attname(relid, attnum, false);
	ObjectAddress *column;
	ListCell   *lc;
	Oid			parent;

	while (OidIsValid(parent = parent_with_column(relid, name)))
		relid = parent;
	attnum = get_attnum(relid, name);
	foreach(lc, columns)
	{
		column = lfirst(lc);
		if (column->objectId == relid && column->objectSubId == attnum)
			return columns;
	}
	column = palloc(sizeof(ObjectAddress));
	ObjectAddressSubSet(*column, RelationRelationId, relid, attnum);
	return lappend(columns, column);
}

static Oid
parent_with_column(Oid relid, const char *column)
{
	Relation	catalog = table_open(InheritsRelationId, AccessShareLock);
	Oid			result = InvalidOid;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, InheritsRelidSeqnoIndexId, true, NULL,
							  1, &key);
	while (!OidIsValid(result) && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Oid			parent = ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent;

		if (get_attnum(parent, column) != InvalidAttrNumber)
			result = parent;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

static Node *
default_expression(Oid attrdef)
{
	Relation	catalog = table_open(AttrDefaultRelationId, AccessShareLock);
	Node	   *result = NULL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_attrdef_oid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(attrdef));
	scan = systable_beginscan(catalog, AttrDefaultOidIndexId, true, NULL, 1,
							  &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		source = heap_getattr(tuple, Anum_pg_attrdef_adbin,
										  RelationGetDescr(catalog), &isnull);

		result = stringToNode(TextDatumGetCString(source));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/*
 * sk_fit_columns
 *		Have a label give no values that the columns do not hold.
 *
 * What a user asks for among "asked", a list of SkOption, is refused.
 */
void
sk_fit_columns(const SkSequence *seq, SkLabel *label, const List *asked)
{
	int64		bits = sk_label_int64(asked, "bits", 0);

	if (seq->column_width >= seq->width && asked == NIL)
		return;
	if (seq->column_width < 63 && bits > seq->column_width)
		refuse_bits(narrowest_of(seq->columns), (int) Min(bits, 63), NULL);
	if (sk_label_option(label->options, "bits") == NULL)
		sk_label_set(label, "bits",
					 psprintf("%d", Min(seq->width, seq->column_width)));
}

/* "used" is a sequence that would have to give other values than before. */
static void
refuse_bits(const ObjectAddress *column, int bits, const SkSequence *used)
{
	Oid			type = get_atttype(column->objectId, column->objectSubId);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("column \"%s\" of table \"%s\" does not hold values of %d bits",
					get_attname(column->objectId, column->objectSubId, false),
					get_rel_name(column->objectId), bits),
			 used == NULL ? 0 :
			 errdetail("Sequence \"%s\" has been used, and gives such values; type %s holds %d bits.",
					   get_rel_name(used->seqid), format_type_be(type),
					   sk_type_width(getBaseType(type))),
			 used == NULL ?
			 errhint("Change the column to a wider type first.") :
			 errhint("Use a wider type, or, if no value that it has given is in use, run %s first.",
					 restart_statement(used->seqid,
									   sk_type_width(getBaseType(type))))));
}

static void
refuse_type(const SkSequence *seq, Oid type)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("type %s is too narrow for sequence \"%s\"",
					format_type_be(type), get_rel_name(seq->seqid)),
			 errdetail("It has been used, and gives values of %d bits.",
					   seq->kind->options->bits),
			 errhint("If no value that it has given is in use, run %s first.",
					 restart_statement(seq->seqid, sk_type_width(type)))));
}

static char *
restart_statement(Oid seqid, int bits)
{
	return psprintf("SELECT spanner.alter_sequence(%s, bits => %d, restart_counter_with => 1)",
					quote_literal_cstr(sk_qualified_name(seqid)), bits);
}

/*
 * sk_narrow_sequence
 *		Have a bound sequence give no values that are too wide.
 *
 * "type" is what the sequence is about to get, InvalidOid if it keeps its own.
 * Raises an error if the sequence has been used, or would have no value left.
 */
void
sk_narrow_sequence(Oid seqid, Oid type)
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
	if (seq->used && type_width <= seq->column_width)
		refuse_type(seq, type);
	if (seq->used)
		refuse_bits(narrowest_of(seq->columns),
					seq->kind->options->bits, seq);
	label = sk_kind_parts(seq->kind);
	sk_fit_label(label, seq, width);
	if (!sk_kind_reaches_value(sk_kind_make(label, width), seq->next))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("sequence \"%s\" would have no value of %d bits",
						get_rel_name(seqid), width),
				 errhint("Use a smaller skip range, or a wider type.")));
	change.kind = label->kind;
	change.options = label->options;
	sk_change_sequence(seq, &change);
}

/*
 * sk_references_width
 *		How many value bits the columns hold that refer to ids of a sequence.
 */
int
sk_references_width(SkSequence *seq)
{
	if (seq->reference_width == 0)
		seq->reference_width = sk_narrowest_width(referring_columns(seq));
	return seq->reference_width;
}

/*
 * sk_check_references
 *		Raise an error if columns that refer to ids of a sequence do not hold
 *		values of so many bits.
 */
void
sk_check_references(SkSequence *seq, int bits)
{
	int			width = sk_references_width(seq);
	List	   *columns;
	ObjectAddress *narrowest;

	if (width >= bits)
		return;
	columns = referring_columns(seq);
	narrowest = narrowest_of(columns);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("foreign keys do not hold values of sequence \"%s\"",
					get_rel_name(seq->seqid)),
			 errdetail("Its values would have %d bits, and column \"%s\" of table \"%s\" holds %d.",
					   bits,
					   get_attname(narrowest->objectId,
								   narrowest->objectSubId, false),
					   get_rel_name(narrowest->objectId), width),
			 errhint("%s", psprintf("Give bits => %d, or run first:\n%s", width,
									widening_statements(columns, bits)))));
}

/*
 * Columns that refer to ids of a sequence, directly or through others, those
 * that are referred to first.  The list grows while it is read.
 */
static List *
referring_columns(const SkSequence *seq)
{
	List	   *columns = list_copy(seq->columns);
	int			own = list_length(columns);
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, columns)
	{
		ObjectAddress *column = lfirst(lc);
		char	   *name = get_attname(column->objectId, column->objectSubId,
									   false);

		foreach(lc2, find_all_inheritors(column->objectId, NoLock, NULL))
			columns = add_foreign_keys(columns, lfirst_oid(lc2),
									   get_attnum(lfirst_oid(lc2), name));
	}
	return list_copy_tail(columns, own);
}

/* Add the columns that refer to a column by foreign keys. */
static List *
add_foreign_keys(List *columns, Oid relid, AttrNumber attnum)
{
	ListCell   *lc;

	foreach(lc, sk_dependents(relid, ConstraintRelationId))
	{
		HeapTuple	tuple = SearchSysCache1(CONSTROID,
											ObjectIdGetDatum(lfirst_oid(lc)));
		Form_pg_constraint form;
		int			count;
		AttrNumber	referring[INDEX_MAX_KEYS];
		AttrNumber	referred[INDEX_MAX_KEYS];

		if (!HeapTupleIsValid(tuple))
			continue;
		form = (Form_pg_constraint) GETSTRUCT(tuple);
		if (form->contype == CONSTRAINT_FOREIGN && form->confrelid == relid)
		{
			DeconstructFkConstraintRow(tuple, &count, referring, referred,
									   NULL, NULL, NULL, NULL, NULL);
			for (int i = 0; i < count; i++)
			{
				if (referred[i] == attnum)
					columns = add_column(columns, form->conrelid, referring[i]);
			}
		}
		ReleaseSysCache(tuple);
	}
	return columns;
}

/* ALTER TABLE for each table that has narrow columns. */
static char *
widening_statements(List *columns, int bits)
{
	StringInfoData result;
	List	   *tables = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	initStringInfo(&result);
	foreach(lc, columns)
	{
		Oid			relid = ((ObjectAddress *) lfirst(lc))->objectId;
		const char *separator;

		if (list_member_oid(tables, relid))
			continue;
		tables = lappend_oid(tables, relid);
		separator = psprintf("%sALTER TABLE %s", result.len > 0 ? "\n" : "",
							 sk_qualified_name(relid));
		foreach(lc2, columns)
		{
			ObjectAddress *column = lfirst(lc2);

			if (column->objectId != relid ||
				width_of(relid, column->objectSubId) >= bits)
				continue;
			appendStringInfo(&result, "%s ALTER COLUMN %s TYPE %s", separator,
							 quote_identifier(get_attname(relid, column->objectSubId, false)),
							 bits > 31 ? "bigint" : "integer");
			separator = ",";
		}
		if (separator[0] == ',')
			appendStringInfoChar(&result, ';');
	}
	return result.data;
}

/*
 * sk_widths_command_end
 *		Look at the columns that a command has made or altered.
 *
 * "bound" are sequences to which its end has given a kind that fits.
 */
void
sk_widths_command_end(Node *command, const List *bound)
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
			sk_widths_command_end(lfirst(lc), bound);
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
										   sk_drawn_sequence(stringToNode(desc->constr->defval[i].adbin)));
	warn_of_foreign_keys(rel, columns);
	relation_close(rel, NoLock);

	foreach(lc, sequences)
	{
		if (OidIsValid(lfirst_oid(lc)) && !list_member_oid(bound, lfirst_oid(lc)))
			sk_narrow_sequence(lfirst_oid(lc), InvalidOid);
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
			int			width = width_of(key->conrelid, key->conkey[i]);
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
	Oid			seqid = sk_drawn_sequence(build_column_default(rel, attnum));
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
