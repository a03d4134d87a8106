/*-------------------------------------------------------------------------
 *
 * sequence.c
 *	  What the catalogs and the disk say of a sequence, and of the columns that
 *	  store its values.
 *
 * Whoever changes a sequence opens it by sk_sequence_lock().  Locks are taken
 * in the order in which writers of the table take them: the table that owns
 * the sequence, what is below the table, the sequence.
 *
 * Values of a sequence are stored in the column that owns it, and in columns
 * whose default is its next value.  Anybody can write such a default, so only
 * tables of the sequence's owner count.
 *
 * src/sequence/sequence.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

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
#include "commands/seclabel.h"
#include "commands/sequence.h"
#include "common/int.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/value.h"
#include "rewrite/rewriteHandler.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/sequence.h"
#include "spi/command_hooks.h"
#include "spi/own_objects.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_get_internal_sequence_state);
PG_FUNCTION_INFO_V1(spanner_get_table_column_identity_state);
PG_FUNCTION_INFO_V1(spanner_describe_sequence);

/* Columns of spanner_internal.describe_sequence() */
enum
{
	COL_KIND,
	COL_BITS,
	COL_SKIP_RANGE_MIN,
	COL_SKIP_RANGE_MAX,
	COL_COUNTER,
	COL_USED,
	NUM_COLS
};

static List *storing_columns(Oid seqid);
static List *add_column(List *columns, Oid relid, AttrNumber attnum);
static SkIdentity column_identity(Oid table, AttrNumber column);
static Oid	parent_with_column(Oid relid, const char *column);
static Node *default_expression(Oid attrdef);
static ObjectAddress *narrowest_column(List *columns, int *width);
static List *referring_columns(const SkSequence *seq);
static List *add_foreign_keys(List *columns, Oid relid, AttrNumber attnum);
static bool sequence_state(Oid seqid, int64 *next, bool *used);
static bool may_see_counter(Oid seqid);
static Datum state_datum(FunctionCallInfo fcinfo, Oid seqid);
static void describe_options(Oid seqid, const char *label, Datum *values,
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
 */
bool
sk_sequence_owner(Oid seqid, Oid *table, int32 *column)
{
	return sequenceIsOwned(seqid, DEPENDENCY_AUTO, table, column) ||
		sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, table, column);
}

/*
 * sk_sequence_label
 *		The label of a sequence, NULL if it has none.
 */
char *
sk_sequence_label(Oid seqid)
{
	ObjectAddress object;

	ObjectAddressSet(object, RelationRelationId, seqid);
	return GetSecurityLabel(&object, SK_LABEL_PROVIDER);
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
 * Returns InvalidOid for any other expression.
 */
Oid
sk_fetched_sequence(Node *expr)
{
	FuncExpr   *call = (FuncExpr *) expr;
	Const	   *sequence;

	if (expr != NULL && IsA(expr, CoerceToDomain))
		return sk_fetched_sequence((Node *) ((CoerceToDomain *) expr)->arg);
	if (expr == NULL || !IsA(expr, FuncExpr))
		return InvalidOid;
	if (call->funcid == F_INT4_INT8 || call->funcid == F_INT2_INT8)
		return sk_fetched_sequence(linitial(call->args));
	if (call->funcid != F_NEXTVAL &&
		!(sk_extension_exists() && call->funcid == sk_function(SK_FUNCTION_NEXTVAL)))
		return InvalidOid;
	sequence = linitial(call->args);
	if (!IsA(sequence, Const) || sequence->constisnull)
		return InvalidOid;
	return DatumGetObjectId(sequence->constvalue);
}

/*
 * sk_column_sequence
 *		The sequence that fills a column: one that the column owns, of an
 *		identity or not, or one that nobody owns and the default uses.
 *
 * Returns InvalidOid if there is none.
 */
Oid
sk_column_sequence(Oid table, AttrNumber column)
{
	Relation	rel;
	Oid			seqid;
	Oid			owner;
	int32		owner_column;
	ListCell   *lc;

	foreach(lc, getOwnedSequences(table))
	{
		seqid = lfirst_oid(lc);
		if (sk_sequence_owner(seqid, &owner, &owner_column) &&
			owner_column == column)
			return seqid;
	}
	rel = try_relation_open(table, AccessShareLock);
	if (rel == NULL)
		return InvalidOid;
	seqid = column > 0 && column <= RelationGetNumberOfAttributes(rel) &&
		TupleDescAttr(RelationGetDescr(rel), column - 1)->atthasdef ?
		sk_fetched_sequence(build_column_default(rel, column)) : InvalidOid;
	relation_close(rel, AccessShareLock);
	if (OidIsValid(seqid) &&
		(get_rel_relkind(seqid) != RELKIND_SEQUENCE ||
		 sk_sequence_owner(seqid, &owner, &owner_column) ||
		 sk_relation_owner(seqid) != sk_relation_owner(table)))
		return InvalidOid;
	return seqid;
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
	int32		column;

	LockRelationOid(seqid, AccessShareLock);
	sk_sequence_check_relkind(seqid);
	label = sk_sequence_label(seqid);
	seq->seqid = seqid;
	seq->form = sk_sequence_form(seqid);
	seq->width = sk_type_width(seq->form.seqtypid);
	seq->columns = storing_columns(seqid);
	seq->narrowest = narrowest_column(seq->columns, &seq->column_width);
	if (sk_sequence_owner(seqid, &seq->table, &column))
	{
		seq->column = (AttrNumber) column;
		/* it may own other sequences besides that of its identity */
		if (sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &seq->table, &column))
			seq->identity = column_identity(seq->table, seq->column);
	}
	if (label != NULL)
	{
		SkLabel    *parts = sk_label_parse_kind(label);

		/* a label that is not complete yet */
		sk_fit_columns(seq, parts);
		if (sk_sequence_am_get(parts->kind, true) == NULL)
			seq->lost_kind = parts->kind;
		else
			seq->kind = sk_kind_make(parts, seq->width);
	}
	(void) sequence_state(seqid, &seq->next, &seq->used);
	return seq;
}

/*
 * sk_references_width
 *		How many value bits the columns hold that refer to ids of a sequence.
 *
 * Those columns are read when somebody first asks.
 */
int
sk_references_width(SkSequence *seq)
{
	if (seq->reference_width == 0)
	{
		seq->references = referring_columns(seq);
		seq->narrowest_reference = narrowest_column(seq->references,
													&seq->reference_width);
	}
	return seq->reference_width;
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
	seq->is_distributed = true;
	if (seq->width < 63)
		return;
	LockRelationOid(get_relname_relid("pg_dist_node", PG_CATALOG_NAMESPACE),
					RowShareLock);
	group = sk_query_text("SELECT GREATEST((SELECT pg_catalog.max(n.groupid) FROM pg_catalog.pg_dist_node n),"
						  " (SELECT g.last_value FROM pg_catalog.pg_dist_groupid_seq g WHERE g.is_called))");
	if (group != NULL && strcmp(group, "0") != 0)
		seq->last_of_nodes = (pg_strtoint64(group) + 1) * SK_CITUS_RANGE + 1;
}

/*
 * The columns that store values of a sequence, as ObjectAddresses.  Nothing is
 * locked: what uses the sequence can come at any time, and its command is
 * followed then.
 */
static List *
storing_columns(Oid seqid)
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

		if (sk_fetched_sequence(default_expression(lfirst_oid(lc))) == seqid &&
			get_rel_relkind(column.objectId) != RELKIND_VIEW &&
			sk_relation_owner(column.objectId) == sk_relation_owner(seqid))
			result = add_column(result, column.objectId, column.objectSubId);
	}
	return result;
}

/*
 * Add a column to a list of ObjectAddresses, as that of the table that it is
 * inherited from, where it can be altered.
 */
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

/*
 * What kind of identity a column is.
 */
static SkIdentity
column_identity(Oid table, AttrNumber column)
{
	HeapTuple	tuple = SearchSysCacheAttNum(table, column);
	char		identity;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for attribute %d of relation %u",
			 column, table);
	identity = ((Form_pg_attribute) GETSTRUCT(tuple))->attidentity;
	ReleaseSysCache(tuple);

	if (identity == ATTRIBUTE_IDENTITY_ALWAYS)
		return SK_IDENTITY_ALWAYS;
	return identity == ATTRIBUTE_IDENTITY_BY_DEFAULT ?
		SK_IDENTITY_BY_DEFAULT : SK_IDENTITY_NONE;
}

/* The first parent of a table that has a column of that name. */
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

/*
 * The first of some columns that holds no more value bits than the others, NULL
 * if there is none; *width gets these bits, or 63.
 */
static ObjectAddress *
narrowest_column(List *columns, int *width)
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

/*
 * Read the next counter of a sequence, as far as it is known on disk.
 *
 * *used tells whether the counter has moved from its start.  At a restart core
 * forgets that counters were fetched.  Counters that sessions hold in their
 * caches count as fetched.  Returns false where there is nothing to read, on an
 * unlogged sequence during recovery.  Privileges are the caller's business.
 */
static bool
sequence_state(Oid seqid, int64 *next, bool *used)
{
	FormData_pg_sequence form = sk_sequence_form(seqid);

	/* a weaker lock lets a change put another file in the place of this one */
	Relation	rel = relation_open(seqid, RowExclusiveLock);
	Buffer		buffer;
	Page		page;
	HeapTupleData row;
	FormData_pg_sequence_data data;

	if (!RelationIsPermanent(rel) && RecoveryInProgress())
	{
		relation_close(rel, RowExclusiveLock);
		return false;
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

	*used = data.is_called || data.last_value != form.seqstart;
	*next = data.last_value;
	if (data.is_called &&
		pg_add_s64_overflow(data.last_value, form.seqincrement, next))
		*next = PG_INT64_MAX;
	return true;
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
describe_options(Oid seqid, const char *label, Datum *values, bool *nulls)
{
	SkSequenceOptions *options = sk_kind_from_label(label, 63)->options;
	int64		next;
	bool		used;

	values[COL_BITS] = Int32GetDatum(options->bits);
	nulls[COL_BITS] = false;
	if (options->has_skip_range)
	{
		values[COL_SKIP_RANGE_MIN] = Int64GetDatum(options->skip_range_min);
		values[COL_SKIP_RANGE_MAX] = Int64GetDatum(options->skip_range_max);
		nulls[COL_SKIP_RANGE_MIN] = nulls[COL_SKIP_RANGE_MAX] = false;
	}
	if (!may_see_counter(seqid) || !sequence_state(seqid, &next, &used))
		return;
	values[COL_USED] = percent_used(next - 1, options->max_counter);
	nulls[COL_USED] = false;
	values[COL_COUNTER] = Int64GetDatum(next);
	nulls[COL_COUNTER] = !used;
}

/*
 * The share of its counters that a sequence has used, as a numeric in percent.
 *
 * It has two digits after the point, or as many as two digits of the share
 * need: what has been used never reads as 0.  Nor does it read as 100 while a
 * counter is left.
 */
static Datum
percent_used(int64 used, int64 max_counter)
{
	double		percent = 100.0 * (double) used / (double) max_counter;
	int			digits = 2;

	if (used >= max_counter)
		percent = 100;
	else if (percent > 99.99)
		percent = 99.99;
	else if (percent > 0)
		digits = Max(2, 1 - (int) floor(log10(percent)));
	return DirectFunctionCall3(numeric_in,
							   CStringGetDatum(psprintf("%.*f", digits, percent)),
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
	int64		counter;
	bool		used;

	if (!sequence_state(seqid, &counter, &used) || !used)
		PG_RETURN_NULL();
	PG_RETURN_INT64(counter);
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
 * The same for the sequence that a column owns.  The argument is
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
	if (rel->rd_rel->relkind != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a sequence",
						RelationGetRelationName(rel)),
				 errhint("Name a sequence; the view spanner.sequences lists them.")));
	stored = sk_sequence_label(seqid);
	if (stored != NULL)
		label = sk_label_parse(stored, &problem);
	if (label != NULL)
	{
		values[COL_KIND] = CStringGetTextDatum(label->kind);
		nulls[COL_KIND] = false;
		if (sk_sequence_am_get(label->kind, true) != NULL)
			describe_options(seqid, stored, values, nulls);
	}
	relation_close(rel, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls)));
}
