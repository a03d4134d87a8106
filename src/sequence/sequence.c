/*-------------------------------------------------------------------------
 *
 * sequence.c
 *	  What the catalogs and the disk say of a sequence, and of the columns that
 *	  store its values.
 *
 * src/sequence/sequence.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_seclabel.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/seclabel.h"
#include "commands/sequence.h"
#include "common/int.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "parser/parse_coerce.h"
#include "rewrite/rewriteHandler.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "compat.h"
#include "sequence/sequence.h"
#include "spi/command_hooks.h"
#include "spi/own_objects.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_get_internal_sequence_state);
PG_FUNCTION_INFO_V1(spanner_get_table_column_identity_state);
PG_FUNCTION_INFO_V1(spanner_describe_sequence);
PG_FUNCTION_INFO_V1(spanner_is_migration_table);

/* Columns of spanner_internal.describe_sequence() */
enum
{
	COL_KIND,
	COL_BITS,
	COL_SKIP_RANGE_MIN,
	COL_SKIP_RANGE_MAX,
	COL_GIVEN,
	COL_COUNTER,
	COL_USED,
	NUM_COLS
};

static Oid	constant_relation(Node *name, Oid schema);
static Oid	owned_sequence(Oid table, AttrNumber column);
static bool is_migration_table(const char *name);
static char *stored_label(Oid seqid);
static void read_label(SkSequence *seq, const char *text);
static List *add_column(List *columns, Oid relid, AttrNumber attnum);
static List *append_column(List *columns, Oid relid, AttrNumber attnum);
static bool has_column(List *columns, Oid relid, AttrNumber attnum);
static bool is_below(const ObjectAddress *column, List *columns);
static SkIdentity column_identity(Oid table, AttrNumber column);
static Oid	parent_with_column(Oid relid, const char *column, Oid owner);
static Node *default_expression(Oid attrdef);
static List *add_foreign_keys(List *columns, Oid relid, AttrNumber attnum);
static void read_counter(SkSequence *seq);
static bool may_see_counter(Oid seqid);
static Datum state_datum(FunctionCallInfo fcinfo, Oid seqid);
static void describe_options(Oid seqid, const SkLabel *label, Datum *values,
							 bool *nulls);
static Datum percent_used(int64 used, int64 max_counter);

/*
 * sk_sequence_check_relkind
 *		Raise an error for what is not a sequence.
 */
void
sk_sequence_check_relkind(Oid relid)
{
	char		relkind = get_rel_relkind(relid);

	if (relkind == RELKIND_SEQUENCE)
		return;
	if (relkind == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("sequence with OID %u does not exist", relid)));
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a sequence", get_rel_name(relid)),
			 errhint("Use pg_get_serial_sequence() to find the sequence of a column.")));
}

/*
 * sk_sequence_form
 *		The parameters of a sequence.
 */
FormData_pg_sequence
sk_sequence_form(Oid seqid)
{
	HeapTuple	tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(seqid));
	FormData_pg_sequence result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for sequence %u", seqid);
	result = *(Form_pg_sequence) GETSTRUCT(tuple);
	ReleaseSysCache(tuple);
	return result;
}

/*
 * sk_sequence_owner
 *		Find the column that owns a sequence, as its identity or not.
 *
 * If there is none, *table and *column stay as they are.
 */
bool
sk_sequence_owner(Oid seqid, Oid *table, int32 *column)
{
	return sequenceIsOwned(seqid, DEPENDENCY_AUTO, table, column) ||
		sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, table, column);
}

/*
 * sk_sequence_label
 *		The label by which a sequence is bound, NULL if it is not.
 *
 * One that has lost its kind may have a label that says what it has given.
 */
char *
sk_sequence_label(Oid seqid)
{
	char	   *label = stored_label(seqid);
	const char *problem;
	SkLabel    *parts = label != NULL ? sk_label_parse(label, &problem) : NULL;

	return parts != NULL && strcmp(parts->kind, SK_LOCAL_KIND) == 0 ? NULL : label;
}

/*
 * sk_sequence_identity
 *		The identity that the label of a sequence tells of.
 *
 * A label of a kind that cannot be loaded will do.
 */
SkIdentity
sk_sequence_identity(Oid seqid)
{
	const char *stored = sk_sequence_label(seqid);
	const char *problem;
	SkLabel    *label = stored != NULL ? sk_label_parse(stored, &problem) : NULL;
	const SkOption *option = label != NULL ?
		sk_label_option(label->options, "identity") : NULL;

	if (option == NULL)
		return SK_IDENTITY_NONE;
	return pg_strcasecmp(option->value, "always") == 0 ?
		SK_IDENTITY_ALWAYS : SK_IDENTITY_BY_DEFAULT;
}

/*
 * sk_dependents
 *		The objects of a catalog that depend on a relation, each once, by OID.
 */
List *
sk_dependents(Oid relid, Oid classid)
{
	Relation	catalog = table_open(DependRelationId, AccessShareLock);
	List	   *result = NIL;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, DependReferenceIndexId, true, NULL, 2,
							  keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend depend = (Form_pg_depend) GETSTRUCT(tuple);

		CHECK_FOR_INTERRUPTS();
		if (depend->classid == classid)
			result = list_append_unique_oid(result, depend->objid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	list_sort(result, list_oid_cmp);
	return result;
}

/*
 * sk_sequence_restriction
 *		Why the counter of a sequence cannot be mapped; NULL if it can.
 */
const SkRestriction *
sk_sequence_restriction(const FormData_pg_sequence *form)
{
	static const SkRestriction cycles = {
		"Optional clause <cycle> only support `NO CYCLE` as the value.",
		"The sequence would give its values again.",
		"Use NO CYCLE, or the sequence kind \"local\"."
	};
	static const SkRestriction descends = {
		"sequence \"%s\" counts downwards",
		"The counter of a sequence with a kind ascends from 1.",
		"Use a positive INCREMENT, or the sequence kind \"local\"."
	};
	static const SkRestriction starts_low = {
		"sequence \"%s\" has a minimum value below 1",
		"The counter of a sequence with a kind ascends from 1.",
		"Use a MINVALUE of at least 1, or the sequence kind \"local\"."
	};

	if (form->seqcycle)
		return &cycles;
	if (form->seqincrement < 1)
		return &descends;
	return form->seqmin < 1 ? &starts_low : NULL;
}

/*
 * sk_sequence_check_mappable
 *		Raise an error if the counter of a sequence cannot be mapped.
 */
void
sk_sequence_check_mappable(Oid seqid)
{
	FormData_pg_sequence form = sk_sequence_form(seqid);
	const SkRestriction *restriction = sk_sequence_restriction(&form);

	if (restriction != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(restriction->message, get_rel_name(seqid)),
				 errdetail("%s", restriction->detail),
				 errhint("%s", restriction->hint)));
}

/*
 * sk_clock_restriction
 *		Why a sequence should count plainly, though its counter can be mapped; NULL
 *		if there is no reason.
 *
 * What an extension makes in its own schema, and where tools keep their
 * migrations, the order of values is that of time.  "table" is the one that they
 * are for, InvalidOid if there is none.
 */
const SkRestriction *
sk_clock_restriction(Oid seqid, Oid table)
{
	static const SkRestriction of_extension = {
		NULL,
		"An extension owns its schema, and may expect ascending values.",
		"If they are keys like any others, give it the kind by spanner.alter_sequence()."
	};
	static const SkRestriction of_migrations = {
		NULL,
		"By its name, its table is one in which a tool keeps its migrations, in the order of their ids.",
		"If it is a table like any other, give the sequence the kind by spanner.alter_sequence()."
	};

	/* NULL as well if the table is gone */
	const char *name = get_rel_name(table);

	if (OidIsValid(getExtensionOfObject(NamespaceRelationId,
										get_rel_namespace(seqid))))
		return &of_extension;
	return name != NULL && is_migration_table(name) ? &of_migrations : NULL;
}

/* Is it the name of a table in which a tool keeps the migrations that have run? */
static bool
is_migration_table(const char *name)
{
	/* other names than those that end with one of the endings */
	static const char *const others[] = {
		"__efmigrationshistory", "adonis_schema", "alembic_version",
		"databasechangelog", "databasechangeloglock", "db_version",
		"flyway_schema_history", "goose_db_version", "pgmigrations",
		"schema_history", "schema_version", "sequelizemeta"
	};
	static const char *const endings[] = {
		"migration", "migrations", "migration_lock", "migration_locks",
		"migrations_lock", "migrations_locks"
	};
	int			length = strlen(name);

	for (int i = 0; i < lengthof(others); i++)
	{
		if (pg_strcasecmp(name, others[i]) == 0)
			return true;
	}
	for (int i = 0; i < lengthof(endings); i++)
	{
		int			start = length - (int) strlen(endings[i]);

		if (start >= 0 && pg_strcasecmp(name + start, endings[i]) == 0 &&
			(start == 0 || name[start - 1] == '_'))
			return true;
	}
	return false;
}

/*
 * sk_type_width
 *		How many value bits a type has: smallint, integer, or else bigint.
 */
int
sk_type_width(Oid type)
{
	if (type == INT2OID)
		return 15;
	return type == INT4OID ? 31 : 63;
}

/*
 * sk_column_width
 *		The same of a column, whose type may be a domain.
 */
int
sk_column_width(Oid relid, AttrNumber attnum)
{
	return sk_type_width(getBaseType(get_atttype(relid, attnum)));
}

/*
 * sk_fetched_sequence
 *		The sequence whose next value the default of an integer column is.
 *
 * "schema" is as for sk_called_sequence().  Returns InvalidOid for any other
 * expression.
 */
Oid
sk_fetched_sequence(Node *expr, Oid schema)
{
	FuncExpr   *call = (FuncExpr *) expr;

	if (expr != NULL && IsA(expr, CoerceToDomain))
		return sk_fetched_sequence((Node *) ((CoerceToDomain *) expr)->arg, schema);
	if (expr == NULL || !IsA(expr, FuncExpr))
		return InvalidOid;
	if (call->funcid == F_INT4_INT8 || call->funcid == F_INT2_INT8)
		return sk_fetched_sequence(linitial(call->args), schema);
	return sk_called_sequence(expr, schema);
}

/*
 * sk_called_sequence
 *		The sequence that a call of nextval() fetches from.
 *
 * "schema" has it if a text names it and the search path does not find it.
 * Returns InvalidOid for any other expression.
 */
Oid
sk_called_sequence(Node *expr, Oid schema)
{
	FuncExpr   *call = (FuncExpr *) expr;
	Node	   *sequence;
	Oid			result = InvalidOid;

	if (expr == NULL || !IsA(expr, FuncExpr) ||
		(call->funcid != F_NEXTVAL &&
		 !(sk_extension_exists() && call->funcid == sk_function(SK_FUNCTION_NEXTVAL))))
		return InvalidOid;
	sequence = linitial(call->args);
	if (IsA(sequence, FuncExpr) && ((FuncExpr *) sequence)->funcid == F_REGCLASS)
		result = constant_relation(linitial(((FuncExpr *) sequence)->args), schema);
	else if (IsA(sequence, Const) && !((Const *) sequence)->constisnull)
		result = DatumGetObjectId(((Const *) sequence)->constvalue);
	return get_rel_relkind(result) == RELKIND_SEQUENCE ? result : InvalidOid;
}

/*
 * The relation that a constant text names.  Databases that began with an old release
 * have such defaults, and pg_depend does not.
 */
static Oid
constant_relation(Node *name, Oid schema)
{
	while (IsA(name, RelabelType))
		name = (Node *) ((RelabelType *) name)->arg;
	if (!IsA(name, Const) || ((Const *) name)->constisnull)
		return InvalidOid;
	return sk_named_relation(TextDatumGetCString(((Const *) name)->constvalue), schema);
}

/*
 * sk_named_relation
 *		The relation that a text names, as its cast to regclass would find it.
 *
 * "schema" is as for sk_called_sequence().  Returns InvalidOid for any other text.
 */
Oid
sk_named_relation(const char *name, Oid schema)
{
	List	   *names;
	Oid			result = InvalidOid;

	if (!SplitIdentifierString(pstrdup(name), '.', &names) || names == NIL)
		return InvalidOid;
	if (list_length(names) == 3 &&
		strcmp(linitial(names), get_database_name(MyDatabaseId)) == 0)
		names = list_delete_first(names);
	if (list_length(names) > 2)
		return InvalidOid;
	if (list_length(names) == 2)
		schema = get_namespace_oid(linitial(names), true);
	else
		result = RelnameGetRelid(linitial(names));
	return OidIsValid(result) ? result : get_relname_relid(llast(names), schema);
}

/*
 * sk_column_sequence
 *		The sequence that fills a column: the one that its default fetches from,
 *		if nobody or the column itself owns it.
 *
 * Without such a default it is one that the column owns: that of its identity, or
 * one that the default uses otherwise, or any.  Returns InvalidOid if there is
 * none.
 */
Oid
sk_column_sequence(Oid table, AttrNumber column)
{
	Relation	rel = try_relation_open(table, AccessShareLock);
	Node	   *value = NULL;
	Oid			seqid;
	Oid			owner;
	int32		owner_column;

	if (rel == NULL)
		return InvalidOid;
	if (column > 0 && column <= RelationGetNumberOfAttributes(rel) &&
		TupleDescAttr(RelationGetDescr(rel), column - 1)->atthasdef)
		value = build_column_default(rel, column);
	relation_close(rel, AccessShareLock);
	seqid = sk_fetched_sequence(value, get_rel_namespace(table));
	if (!OidIsValid(seqid))
		return owned_sequence(table, column);
	if (sk_sequence_owner(seqid, &owner, &owner_column) ?
		owner != table || owner_column != column :
		sk_relation_owner(seqid) != sk_relation_owner(table))
		return InvalidOid;
	return seqid;
}

static Oid
owned_sequence(Oid table, AttrNumber column)
{
	Oid			attrdef = GetAttrDefaultOid(table, column);
	Oid			result = InvalidOid;
	bool		used = false;
	ListCell   *lc;

	foreach(lc, getOwnedSequences(table))
	{
		Oid			seqid = lfirst_oid(lc);
		Oid			owner;
		int32		owner_column;

		if (!sk_sequence_owner(seqid, &owner, &owner_column) ||
			owner_column != column)
			continue;
		if (sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &owner, &owner_column))
			return seqid;
		if (used)
			continue;
		used = OidIsValid(attrdef) &&
			list_member_oid(sk_dependents(seqid, AttrDefaultRelationId), attrdef);
		if (used || !OidIsValid(result))
			result = seqid;
	}
	return result;
}

/*
 * sk_sequence_read
 *		Look at a sequence.
 *
 * The caller has locked or made it, or only wants to know: then it must not be
 * dropped meanwhile.
 */
SkSequence *
sk_sequence_read(Oid seqid)
{
	SkSequence *seq = palloc0(sizeof(SkSequence));
	char	   *label;
	Oid			table;
	int32		column;
	ListCell   *lc;

	LockRelationOid(seqid, AccessShareLock);
	/* who changes it has ended: what is read is of one moment */
	LockRelationOid(seqid, RowExclusiveLock);
	sk_sequence_check_relkind(seqid);
	label = stored_label(seqid);
	seq->seqid = seqid;
	seq->form = sk_sequence_form(seqid);
	seq->width = sk_type_width(seq->form.seqtypid);
	seq->stored = sk_storing_columns(seqid, false);
	foreach(lc, seq->stored)
	{
		ObjectAddress *stored = lfirst(lc);

		seq->columns = add_column(seq->columns, stored->objectId, stored->objectSubId);
	}
	seq->narrowest = sk_narrowest_column(seq->columns, &seq->column_width);
	if (sk_sequence_owner(seqid, &table, &column))
	{
		sk_sequence_fill(seq, table, (AttrNumber) column);
		seq->identity = column_identity(table, seq->column);
		/* the column may own other sequences besides that of its identity */
		if (seq->identity != SK_IDENTITY_NONE && !sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &table, &column))
			seq->identity = SK_IDENTITY_NONE;
	}
	if (label != NULL)
		read_label(seq, label);
	read_counter(seq);
	UnlockRelationOid(seqid, RowExclusiveLock);
	return seq;
}

/*
 * sk_storing_columns
 *		The columns that store values of a sequence, as ObjectAddresses: the one that
 *		owns it first, then those whose default is its next value.
 *
 * What is below such a table is read with it.  A parent that does not use the
 * sequence has values of others.
 *
 * Nothing is locked: what uses the sequence can come at any time, and its command
 * is followed then.  Views store nothing, and temporary tables nothing that stays.
 * Anybody can write such a default, so only tables of the sequence's owner count:
 * what others store must neither be read with that owner's rights nor decide about
 * the sequence.  With "reports" there is a warning for each of those.
 */
List *
sk_storing_columns(Oid seqid, bool reports)
{
	List	   *columns = NIL;
	List	   *others = NIL;
	List	   *result = NIL;
	Oid			table;
	int32		attnum;
	ListCell   *lc;

	if (sk_sequence_owner(seqid, &table, &attnum))
		columns = append_column(columns, table, attnum);
	foreach(lc, sk_dependents(seqid, AttrDefaultRelationId))
	{
		ObjectAddress column = GetAttrDefaultColumnAddress(lfirst_oid(lc));
		Oid			relid = column.objectId;

		if (sk_fetched_sequence(default_expression(lfirst_oid(lc)), InvalidOid) != seqid ||
			get_rel_relkind(relid) == RELKIND_VIEW ||
			get_rel_persistence(relid) == RELPERSISTENCE_TEMP)
			continue;
		if (sk_relation_owner(relid) == sk_relation_owner(seqid))
			columns = append_column(columns, relid, column.objectSubId);
		else
			others = append_column(others, relid, column.objectSubId);
	}
	foreach(lc, columns)
	{
		if (!is_below(lfirst(lc), columns))
			result = lappend(result, lfirst(lc));
	}
	foreach(lc, reports ? others : NIL)
	{
		ObjectAddress *column = lfirst(lc);

		if (!is_below(column, columns))
			ereport(WARNING,
					(errcode(ERRCODE_WARNING),
					 errmsg("values in column \"%s\" of table \"%s\" are not looked at",
							get_attname(column->objectId, column->objectSubId, false),
							sk_qualified_name(column->objectId)),
					 errdetail("The default of the column uses sequence \"%s\", which belongs to another role than the table.",
							   get_rel_name(seqid))));
	}
	return result;
}

/*
 * sk_sequence_fill
 *		Note the column that a sequence fills.
 *
 * It need not own the sequence, and a default that names that by a text does not
 * depend on it.
 */
void
sk_sequence_fill(SkSequence *seq, Oid table, AttrNumber column)
{
	ObjectAddress filled;

	ObjectAddressSubSet(filled, RelationRelationId, table, column);
	seq->table = table;
	seq->column = column;
	if (!is_below(&filled, seq->stored))
		seq->stored = append_column(seq->stored, table, column);
	seq->columns = add_column(seq->columns, table, column);
	seq->narrowest = sk_narrowest_column(seq->columns, &seq->column_width);
}

/*
 * sk_kind_has_given
 *		May a bound sequence have given values of its kind?
 *
 * It has not if its counter is where the kind began, and was fetched from there
 * neither now nor before it went back and came again: what binds a sequence
 * leaves a counter that is not called.  Where START is says nothing: anybody can
 * move it.  A worker of Citus gets counters of its own
 * together with START, and knows no other.
 */
bool
sk_kind_has_given(const SkSequence *seq)
{
	Assert(seq->kind != NULL);
	if (sk_sent_by_citus())
		return seq->used;
	return seq->is_called || seq->next != seq->kind->options->since ||
		seq->last_of_nodes > 0;
}

/*
 * sk_narrowest_column
 *		The first of some columns that holds no more value bits than the others.
 *
 * Returns NULL if there is none.  *width gets these bits, or 63.
 */
ObjectAddress *
sk_narrowest_column(List *columns, int *width)
{
	ObjectAddress *result = NULL;
	ListCell   *lc;

	*width = 63;
	foreach(lc, columns)
	{
		ObjectAddress *column = lfirst(lc);
		int			bits = sk_column_width(column->objectId, column->objectSubId);

		if (result == NULL || bits < *width)
			result = column;
		*width = Min(*width, bits);
	}
	return result;
}

/*
 * sk_referring_columns
 *		Columns that refer to ids of a sequence, directly or through others.
 *
 * Those that are referred to come first: the list grows while it is read.
 */
List *
sk_referring_columns(const SkSequence *seq)
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

/*
 * sk_report_overlap
 *		Report if values of a bound sequence can be closer than its increment.
 *
 * Not while a dump is restored: the one who made the sequence has seen it.
 */
void
sk_report_overlap(const SkSequence *seq, const SkKind *kind)
{
	if (sk_restoring() ||
		!sk_kind_overlaps(kind, &seq->form))
		return;
	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg("values of sequence \"%s\" can be closer than its increment of %lld",
					get_rel_name(seq->seqid),
					(long long) seq->form.seqincrement),
			 errdetail("A client that makes a block of ids of each value would make ids twice."),
			 errhint("For such clients use INCREMENT BY 1, or kind \"%s\" with enough bits.",
					 "bit_reversed_positive")));
}

/*
 * sk_list_labelled
 *		The sequences and columns with a label of ours, as ObjectAddresses; or
 *		one of the sequences, if there is any.
 */
List *
sk_list_labelled(bool one_sequence)
{
	Relation	catalog = table_open(SecLabelRelationId, AccessShareLock);
	List	   *result = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_seclabel_provider, BTEqualStrategyNumber,
				F_TEXTEQ, CStringGetTextDatum(SK_LABEL_PROVIDER));
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 1, &key);
	while ((!one_sequence || result == NIL) &&
		   HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		FormData_pg_seclabel *form = (FormData_pg_seclabel *) GETSTRUCT(tuple);
		ObjectAddress *object;

		if (one_sequence && form->objsubid != 0)
			continue;
		object = palloc(sizeof(ObjectAddress));
		ObjectAddressSubSet(*object, form->classoid, form->objoid,
							form->objsubid);
		result = lappend(result, object);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/*
 * sk_find_nodes
 *		Find out whether Citus has a sequence on several nodes.
 *
 * Raises an error on a worker, which must not change what it shares.  A node
 * that was removed has given counters too, and its number is not used again:
 * the sequence of these numbers knows the highest that there ever was.  A node
 * that comes waits for the lock, and then gets the label with the table.
 */
void
sk_find_nodes(SkSequence *seq)
{
	char	   *group;

	if (!sk_citus_exists() || sk_sent_by_citus())
		return;
	group = sk_query_text(psprintf("SELECT l.groupid FROM pg_catalog.pg_dist_local_group l"
								   " WHERE EXISTS (SELECT FROM pg_catalog.pg_dist_object o"
								   " WHERE o.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass"
								   " AND o.objid OPERATOR(pg_catalog.=) %u)"
								   " OR EXISTS (SELECT FROM pg_catalog.pg_dist_partition p"
								   " WHERE p.logicalrelid OPERATOR(pg_catalog.=) %u)",
								   seq->seqid, seq->table));
	if (group == NULL)
		return;
	if (strcmp(group, "0") != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("sequence \"%s\" of a distributed table cannot be changed on a worker",
						get_rel_name(seq->seqid)),
				 errhint("Connect to the coordinator of Citus and run it there.")));
	if (seq->width < 63)
		return;
	LockRelationOid(get_relname_relid("pg_dist_node", PG_CATALOG_NAMESPACE),
					RowShareLock);
	group = sk_query_text("SELECT GREATEST((SELECT pg_catalog.max(n.groupid) FROM pg_catalog.pg_dist_node n),"
						  " (SELECT g.last_value FROM pg_catalog.pg_dist_groupid_seq g WHERE g.is_called))");
	if (group != NULL && strcmp(group, "0") != 0)
		seq->last_of_nodes = (pg_strtoint64(group) + 1) * SK_CITUS_RANGE + 1;
}

static char *
stored_label(Oid seqid)
{
	ObjectAddress object;

	ObjectAddressSet(object, RelationRelationId, seqid);
	return GetSecurityLabel(&object, SK_LABEL_PROVIDER);
}

/*
 * Take the kind from a label, or what is remembered of the one before:
 * "local(former=striped, bits=63, given=1..1000)".
 */
static void
read_label(SkSequence *seq, const char *text)
{
	SkLabel    *label = sk_label_parse_kind(text);
	const SkOption *given = sk_label_option(label->options, "given");
	const SkOption *former = sk_label_option(label->options, "former");

	if (given != NULL)
		seq->given = sk_option_range(given);
	if (strcmp(label->kind, SK_LOCAL_KIND) != 0)
	{
		/* a label that is not complete yet */
		sk_fit_columns(seq, label);
		if (sk_sequence_am_get(label->kind, true) == NULL)
			seq->lost_kind = label->kind;
		else
			seq->kind = sk_kind_make(label, seq->width);
		return;
	}
	if (former == NULL)
		return;
	label->kind = pstrdup(former->value);
	sk_label_set(label, "former", NULL);
	/* nobody knows what a kind gives whose library is missing */
	if (sk_sequence_am_get(label->kind, true) == NULL)
		seq->given = sk_range(1, PG_INT64_MAX);
	else
		seq->former = sk_kind_make(label, 63);
}

/*
 * Add a column to a list of ObjectAddresses, as that of the table that it is
 * inherited from, where it can be altered.
 */
static List *
add_column(List *columns, Oid relid, AttrNumber attnum)
{
	char	   *name = get_attname(relid, attnum, false);
	Oid			owner = sk_relation_owner(relid);
	Oid			parent;

	while (OidIsValid(parent = parent_with_column(relid, name, owner)))
		relid = parent;
	return append_column(columns, relid, get_attnum(relid, name));
}

/* The same where it is, if it holds numbers: what owns a sequence may be a text. */
static List *
append_column(List *columns, Oid relid, AttrNumber attnum)
{
	ObjectAddress *column;

	if (has_column(columns, relid, attnum) ||
		TypeCategory(get_atttype(relid, attnum)) != TYPCATEGORY_NUMERIC)
		return columns;
	column = palloc(sizeof(ObjectAddress));
	ObjectAddressSubSet(*column, RelationRelationId, relid, attnum);
	return lappend(columns, column);
}

static bool
has_column(List *columns, Oid relid, AttrNumber attnum)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		ObjectAddress *column = lfirst(lc);

		if (column->objectId == relid && column->objectSubId == attnum)
			return true;
	}
	return false;
}

/* Is a column inherited from one of these, whoever owns the tables in between? */
static bool
is_below(const ObjectAddress *column, List *columns)
{
	char	   *name = get_attname(column->objectId, column->objectSubId, false);
	Oid			relid = column->objectId;

	while (OidIsValid(relid = parent_with_column(relid, name, InvalidOid)))
		if (has_column(columns, relid, get_attnum(relid, name)))
			return true;
	return false;
}

/* What kind of identity a column is. */
static SkIdentity
column_identity(Oid table, AttrNumber column)
{
	HeapTuple	tuple = SearchSysCacheAttNum(table, column);
	SkIdentity	result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for attribute %d of relation %u",
			 column, table);
	result = ((Form_pg_attribute) GETSTRUCT(tuple))->attidentity;
	ReleaseSysCache(tuple);
	return result;
}

/* The first parent of a table, of one owner if that is given, that has a column of that name. */
static Oid
parent_with_column(Oid relid, const char *column, Oid owner)
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

		if (get_attnum(parent, column) != InvalidAttrNumber &&
			(!OidIsValid(owner) || sk_relation_owner(parent) == owner))
			result = parent;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/* The expression of a default, NULL if it has been dropped. */
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

/*
 * Read the next counter of a sequence, as far as it is known on disk.
 *
 * At a restart core forgets that counters were fetched.  Counters that sessions
 * hold in their caches count as fetched.  There is nothing to read of an unlogged
 * sequence during recovery.  Privileges are the caller's business.
 */
static void
read_counter(SkSequence *seq)
{
	/* a weaker lock lets a change put another file in the place of this one */
	Relation	rel = relation_open(seq->seqid, RowExclusiveLock);
	Buffer		buffer;
	Page		page;
	HeapTupleData row;
	FormData_pg_sequence_data data;

	if (!RelationIsPermanent(rel) && RecoveryInProgress())
	{
		relation_close(rel, RowExclusiveLock);
		return;
	}
	/* its only page has its only row, whatever happens to the counter */
	Assert(rel->rd_rel->relkind == RELKIND_SEQUENCE && RelationGetNumberOfBlocks(rel) == 1);
	buffer = ReadBuffer(rel, 0);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	row.t_data = (HeapTupleHeader)
		PageGetItem(page, PageGetItemId(page, FirstOffsetNumber));
	data = *(Form_pg_sequence_data) GETSTRUCT(&row);
	UnlockReleaseBuffer(buffer);
	relation_close(rel, RowExclusiveLock);

	seq->is_called = data.is_called;
	seq->used = data.is_called || data.last_value != seq->form.seqstart;
	seq->next = data.last_value;
	if (data.is_called &&
		pg_add_s64_overflow(data.last_value, seq->form.seqincrement, &seq->next))
		seq->next = PG_INT64_MAX;
}

/* May the current user see the counter of a sequence? */
static bool
may_see_counter(Oid seqid)
{
	return pg_class_aclcheck(seqid, GetUserId(),
							 ACL_SELECT | ACL_USAGE) == ACLCHECK_OK;
}

/* What there is to report of a sequence whose kind is loaded. */
static void
describe_options(Oid seqid, const SkLabel *label, Datum *values, bool *nulls)
{
	SkSequenceOptions *options = sk_kind_make(label, 63)->options;
	SkSequence	seq = {.seqid = seqid,.form = sk_sequence_form(seqid)};

	values[COL_BITS] = Int32GetDatum(options->bits);
	nulls[COL_BITS] = false;
	if (!sk_range_is_empty(options->skip_range))
	{
		values[COL_SKIP_RANGE_MIN] = Int64GetDatum(options->skip_range.min);
		values[COL_SKIP_RANGE_MAX] = Int64GetDatum(options->skip_range.max);
		nulls[COL_SKIP_RANGE_MIN] = nulls[COL_SKIP_RANGE_MAX] = false;
	}
	if (!sk_range_is_empty(options->given))
	{
		values[COL_GIVEN] = CStringGetTextDatum(psprintf(INT64_FORMAT ".." INT64_FORMAT,
														 options->given.min, options->given.max));
		nulls[COL_GIVEN] = false;
	}
	if (may_see_counter(seqid))
		read_counter(&seq);
	if (seq.next == 0)
		return;
	values[COL_USED] = percent_used(seq.next - 1, options->max_counter);
	nulls[COL_USED] = false;
	values[COL_COUNTER] = Int64GetDatum(seq.next);
	nulls[COL_COUNTER] = !seq.used;
}

/*
 * The share of its counters that a sequence has used, as a numeric in percent.
 *
 * It has two digits after the point, and four below 1.  What has been used never
 * reads as 0, nor as 100 while a counter is left.
 */
static Datum
percent_used(int64 used, int64 max_counter)
{
	double		percent = 100.0 * (double) used / (double) max_counter;

	if (used >= max_counter)
		percent = 100;
	else if (used > 0)
		percent = Min(Max(percent, 0.0001), 99.99);
	return DirectFunctionCall3(numeric_in,
							   CStringGetDatum(psprintf("%.*f", percent > 0 && percent < 1 ? 4 : 2, percent)),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/*
 * The next counter as Spanner shows it: it is there from the first use on, and
 * a restart then sets it.
 */
static Datum
state_datum(FunctionCallInfo fcinfo, Oid seqid)
{
	SkSequence	seq = {.seqid = seqid,.form = sk_sequence_form(seqid)};

	read_counter(&seq);
	if (!seq.used)
		PG_RETURN_NULL();
	PG_RETURN_INT64(seq.next);
}

/*
 * spanner.get_internal_sequence_state(sequence text) returns bigint
 *
 * The next counter, or NULL before the first use.  The name is written as in
 * SQL, with quotes and schema where they are needed.
 */
Datum
spanner_get_internal_sequence_state(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	RangeVar   *range = sk_parse_name(name);
	Oid			seqid = RangeVarGetRelid(range, NoLock, true);

	if (!OidIsValid(seqid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("Sequence not found: %s", name),
				 errhint("Qualify the name with its schema if that is not in the search path.")));
	sk_sequence_check_relkind(seqid);
	if (!may_see_counter(seqid))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SEQUENCE, range->relname);
	return state_datum(fcinfo, seqid);
}

/*
 * spanner.get_table_column_identity_state(table_column text) returns bigint
 *
 * The same for the sequence that fills a column.  The argument is
 * '[schema.]table.column'.
 */
Datum
spanner_get_table_column_identity_state(PG_FUNCTION_ARGS)
{
	char	   *identifier = text_to_cstring(PG_GETARG_TEXT_PP(0));
	List	   *names = sk_split_name(identifier);
	RangeVar   *range;
	char	   *column;
	Oid			table;
	Oid			seqid;

	if (list_length(names) < 2 || list_length(names) > 3)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("The column identifier's format is invalid: %s. It should be either \"<schema>.<table>.<column>\" or \"<table>.<column>\".",
						identifier),
				 errhint("Quote names that contain a dot.")));
	column = strVal(llast(names));
	range = makeRangeVarFromNameList(list_truncate(names, list_length(names) - 1));
	table = RangeVarGetRelid(range, NoLock, true);
	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("Table not found for the GET_TABLE_COLUMN_IDENTITY_STATE function: %s",
						range->relname),
				 errhint("Qualify the name with its schema if that is not in the search path.")));
	seqid = sk_column_sequence(table, get_attnum(table, column));
	if (!OidIsValid(seqid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("Identity column not found in table %s: %s",
						range->relname, column)));
	if (!may_see_counter(seqid) &&
		pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, range->relname);
	return state_datum(fcinfo, seqid);
}

/*
 * spanner_internal.is_migration_table(name text) returns boolean
 */
Datum
spanner_is_migration_table(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(is_migration_table(text_to_cstring(PG_GETARG_TEXT_PP(0))));
}

/*
 * spanner_internal.describe_sequence(sequence regclass) returns record
 *
 * What the view spanner.sequences shows.  Fields that are not known are NULL:
 * all but the kind if the method's library is not loaded, the counter without
 * the right to see it, everything if the sequence is gone.
 */
Datum
spanner_describe_sequence(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	Relation	rel;
	char	   *stored;
	SkLabel    *label = NULL;
	const char *problem;
	TupleDesc	tupdesc;
	Datum		values[NUM_COLS] = {0};
	bool		nulls[NUM_COLS];

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	memset(nulls, true, sizeof(nulls));

	/* it may have been dropped since it was listed */
	rel = try_relation_open(seqid, AccessShareLock);
	if (rel == NULL)
		PG_RETURN_NULL();
	sk_sequence_check_relkind(seqid);
	stored = sk_sequence_label(seqid);
	if (stored != NULL)
		label = sk_label_parse(stored, &problem);
	if (label != NULL)
	{
		values[COL_KIND] = CStringGetTextDatum(label->kind);
		nulls[COL_KIND] = false;
		if (sk_sequence_am_get(label->kind, true) != NULL)
			describe_options(seqid, label, values, nulls);
	}
	relation_close(rel, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls)));
}
