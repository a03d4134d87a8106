/*-------------------------------------------------------------------------
 *
 * sequence.c
 *	  What the catalogs and the disk say of a sequence.
 *
 * Whoever changes a sequence opens it by sk_sequence_lock().  Locks are taken
 * in the order in which writers of the table take them: the table that owns
 * the sequence, what is below the table, the sequence.
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
#include "catalog/indexing.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/seclabel.h"
#include "commands/sequence.h"
#include "commands/trigger.h"
#include "common/int.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/column_label.h"
#include "sequence/registry.h"
#include "sequence/sequence.h"
#include "sequence/widths.h"

static LOCKMODE table_lock(Oid seqid, LOCKMODE rows, bool changes_kind);
static void check_owning_table(Oid seqid, Oid table);

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
	seq->columns = sk_sequence_columns(seqid);
	seq->column_width = sk_narrowest_width(seq->columns);
	if (sk_sequence_owner(seqid, &seq->table, &column))
	{
		seq->column = (AttrNumber) column;
		/* it may own other sequences besides that of its identity */
		if (sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &seq->table, &column))
			seq->identity = sk_column_identity(seq->table, seq->column);
	}
	if (label != NULL)
	{
		SkLabel    *parts = sk_label_parse_kind(label);

		/* a label that is not complete yet */
		sk_fit_columns(seq, parts, NIL);
		if (sk_sequence_am_find(parts->kind) == NULL)
			seq->lost_kind = parts->kind;
		else
			seq->kind = sk_kind_make(parts, seq->width);
	}
	(void) sk_sequence_state(seqid, &seq->next, &seq->used);
	return seq;
}

/*
 * sk_sequence_lock
 *		Open a sequence of the current user's for a change.
 *
 * Waits for those who draw from it.  "rows" is the lock on the table that owns
 * it, NoLock if the rows do not matter.  A change of the kind can change the
 * default of the column, which takes the lock that ALTER TABLE takes.
 */
SkSequence *
sk_sequence_lock(Oid seqid, LOCKMODE rows, bool changes_kind)
{
	SkSequence *result;

	sk_sequence_check_relkind(seqid);
	if (!object_ownercheck(RelationRelationId, seqid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_SEQUENCE,
					   get_rel_name(seqid));
	result = sk_sequence_open(seqid, rows, changes_kind);
	if (result == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("sequence with OID %u was dropped concurrently",
						seqid)));
	return result;
}

/*
 * sk_sequence_open
 *		The same, whoever owns it; NULL if it has been dropped meanwhile.
 */
SkSequence *
sk_sequence_open(Oid seqid, LOCKMODE rows, bool changes_kind)
{
	Oid			table;
	int32		column;

	/*
	 * Writers lock the table before the sequence that its default draws from.
	 * The other order would deadlock with them.  Nor is a weak lock on the
	 * table made stronger later: table_lock() knows what the change needs.
	 */
	if (sk_sequence_owner(seqid, &table, &column))
	{
		LOCKMODE	mode = table_lock(seqid, rows, changes_kind);

		if (mode != NoLock)
		{
			LockRelationOid(table, mode);
			(void) find_all_inheritors(table, mode, NULL);
		}
	}
	else
		table = InvalidOid;
	if (changes_kind)
		sk_lock_columns(seqid);
	/* it conflicts with that of transactions that have drawn */
	LockRelationOid(seqid, ShareRowExclusiveLock);
	/* both may have changed while we waited */
	if (get_rel_relkind(seqid) != RELKIND_SEQUENCE)
		return NULL;
	check_owning_table(seqid, table);
	return sk_sequence_read(seqid);
}

static LOCKMODE
table_lock(Oid seqid, LOCKMODE rows, bool changes_kind)
{
	Oid			table;
	int32		column;

	if (changes_kind &&
		(sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &table, &column) ||
		 sk_sequence_identity(seqid) != SK_IDENTITY_NONE))
		return AccessExclusiveLock;
	return rows;
}

/* Raise an error if what we have locked is not what we have looked at. */
static void
check_owning_table(Oid seqid, Oid table)
{
	Oid			owner = InvalidOid;
	int32		column;

	if (!sk_sequence_owner(seqid, &owner, &column))
		owner = InvalidOid;
	if (owner != table)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("owner of sequence \"%s\" was changed concurrently",
						get_rel_name(seqid)),
				 errhint("Try again.")));
}

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
 * sk_column_identity
 *		What kind of identity a column is.
 */
SkIdentity
sk_column_identity(Oid table, AttrNumber column)
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
 * sk_sequence_state
 *		Read the next counter of a sequence, as far as it is known on disk.
 *
 * *used tells whether the counter has moved from its start.  At a restart core
 * forgets that counters were drawn.  Counters that sessions hold in their
 * caches count as drawn.  Returns false where there is nothing to read, on an
 * unlogged sequence during recovery.  Privileges are the caller's business.
 */
bool
sk_sequence_state(Oid seqid, int64 *next, bool *used)
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

/*
 * sk_sequence_obstacle
 *		Why the counter of a sequence cannot be mapped; NULL if it can.
 */
const SkObstacle *
sk_sequence_obstacle(const FormData_pg_sequence *form)
{
	static const SkObstacle cycles = {
		"Optional clause <cycle> only support `NO CYCLE` as the value.",
		"The sequence would give its values again.",
		"Use NO CYCLE, or the sequence kind \"local\"."
	};
	static const SkObstacle descends = {
		"sequence \"%s\" counts downwards",
		"The counter of a sequence with a kind ascends from 1.",
		"Use a positive INCREMENT, or the sequence kind \"local\"."
	};
	static const SkObstacle starts_low = {
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
	const SkObstacle *obstacle = sk_sequence_obstacle(&form);

	if (obstacle != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(obstacle->message, get_rel_name(seqid)),
				 errdetail("%s", obstacle->detail),
				 errhint("%s", obstacle->hint)));
}

/*
 * sk_restoring
 *		Is a dump being restored, or a change replicated?
 *
 * Then counters are set as given, and labels say which sequence is of which
 * kind.  pg_dump always turns check_function_bodies off.  What replicates from
 * another server runs in role "replica".
 */
bool
sk_restoring(void)
{
	return !check_function_bodies ||
		SessionReplicationRole == SESSION_REPLICATION_ROLE_REPLICA;
}
