/*-------------------------------------------------------------------------
 *
 * sequence_change.c
 *	  The one way in which the kind, the options or the counter change.
 *
 * A caller fills in what is to change: spanner.create_sequence() and
 * spanner.alter_sequence() do, and what gives a new sequence the kind of
 * spanner.default_sequence_kind.  The rest is the same for all: the new kind is
 * put together, values that could be given twice are found, the label is
 * written, the counter is set, and the column uses the sequence as its kind
 * needs it.
 *
 * A sequence does not get bits that the columns that store its values do not
 * hold, nor those that refer to them by foreign keys.  Where its type or a
 * column becomes narrower than its values, a sequence that has not been used
 * gives values of fewer bits.  One that has been used is left alone, and the
 * command is refused.
 *
 * Some clients create a sequence with an INCREMENT of, say, 50, and make 50
 * ids of each value: those below it, or those above.  That is right for
 * values that are at least 50 apart.  Those of a plain counter are.  Whether
 * mapped ones are depends on the kind, its options and the increment: the
 * access method knows.
 *
 * src/sequence/sequence_change.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "common/int.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "port/pg_bitutils.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/column_label.h"
#include "sequence/identity.h"
#include "sequence/sequence_change.h"
#include "spi/command_hooks.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

/*
 * How many plain counters to expect of code in C, which goes on with them when
 * the sequence gets its kind.
 */
#define SK_WAITING_FETCHES 1000

/*
 * How many fetches to look ahead for close values.  Bit-reversed values come
 * closer as the counter grows; this finds those that start narrow.
 */
#define SK_FORESEEN_FETCHES 65536

static List *storing_columns(Oid seqid);
static List *add_column(List *columns, Oid relid, AttrNumber attnum);
static Oid	parent_with_column(Oid relid, const char *column);
static Node *default_expression(Oid attrdef);
static ObjectAddress *narrowest_column(List *columns, int *width);
static void fit_columns(const SkSequence *seq, SkLabel *label);
static void name_setting(void *arg);
static const SkRestriction *bind_new_sequence(Oid seqid, SkIdentity identity);
static const SkRestriction *overlap_restriction(const SkSequence *seq,
												const SkKind *kind);
static bool blocks_overlap(const SkSequence *seq, const SkKind *kind);
static void report_always(const SkSequence *seq);
static SkKind *make_kind(SkSequence *seq, const SkSequenceChange *change);
static void widen(SkSequence *seq, const SkLabel *label);
static void keep_values_unique(const SkSequence *seq, SkKind *new,
							   const SkSequenceChange *change);
static bool same_mapping(const SkKind *a, const SkKind *b);
static void keep_skip_range(const SkSequence *seq, const SkKind *new);
static int64 last_given_value(const SkSequence *seq);
static bool pass_over(const SkSequence *seq, SkKind *new, int64 last,
					  const SkSequenceChange *change);
static void refuse_skip_range(const SkSequence *seq);
static void warn_of_given_values(const SkSequence *seq, int64 last,
								 const char *hint);
static void refuse_new_mapping(const SkSequence *seq, const char *hint);
static void check_counter_has_value(const char *name, int64 counter,
									const SkSequenceOptions *options);
static void restart_counter(const SkSequence *seq,
							const SkSequenceChange *change);
static DefElem *counter_option(const char *name, int64 counter);
static void alter_core_sequence(const SkSequence *seq, List *options);
static int	references_width(SkSequence *seq);
static void check_references(SkSequence *seq, int bits);
static List *referring_columns(const SkSequence *seq);
static List *add_foreign_keys(List *columns, Oid relid, AttrNumber attnum);
static char *widening_statements(List *columns, int bits);

/*
 * sk_bind_new_sequence
 *		Give a sequence that has not been used the default kind, if it fits.
 *
 * "identity" is that of the column that the sequence is made for.  Returns
 * NULL, or what the sequence is left alone for.  The command need not mention
 * the kind, so the context of errors does.
 */
const SkRestriction *
sk_bind_new_sequence(Oid seqid, SkIdentity identity)
{
	ErrorContextCallback context = {error_context_stack, name_setting, NULL};
	const SkRestriction *restriction;

	error_context_stack = &context;
	restriction = bind_new_sequence(seqid, identity);
	error_context_stack = context.previous;
	return restriction;
}

/*
 * sk_report_restriction
 *		Report that a new sequence does not get the default kind.
 */
void
sk_report_restriction(Oid seqid, const SkRestriction *restriction)
{
	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg("sequence \"%s\" keeps its plain counter",
					get_rel_name(seqid)),
			 errdetail("%s", restriction->detail),
			 errhint("%s", restriction->hint)));
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
			seq->identity = sk_column_identity(seq->table, seq->column);
	}
	if (label != NULL)
	{
		SkLabel    *parts = sk_label_parse_kind(label);

		/* a label that is not complete yet */
		fit_columns(seq, parts);
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
 * Waits for those who fetch from it.  "rows" is the lock on the table that owns
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
	Oid			owner;
	int32		column;

	/*
	 * Writers lock the table before the sequence that its default uses.  The
	 * other order would deadlock with them.  Nor is a weak lock on the table
	 * made stronger later: the default of an identity column changes with the
	 * kind.
	 */
	if (!sk_sequence_owner(seqid, &table, &column))
		table = InvalidOid;
	else if (changes_kind &&
			 (sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &table, &column) ||
			  sk_sequence_identity(seqid) != SK_IDENTITY_NONE))
		rows = AccessExclusiveLock;
	if (OidIsValid(table) && rows != NoLock)
	{
		LockRelationOid(table, rows);
		(void) find_all_inheritors(table, rows, NULL);
	}
	if (changes_kind)
		sk_lock_columns(seqid);
	/* it conflicts with that of transactions that have fetched */
	LockRelationOid(seqid, ShareRowExclusiveLock);
	/* both may have changed while we waited */
	if (get_rel_relkind(seqid) != RELKIND_SEQUENCE)
		return NULL;
	if (!sk_sequence_owner(seqid, &owner, &column))
		owner = InvalidOid;
	if (owner != table)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("owner of sequence \"%s\" was changed concurrently",
						get_rel_name(seqid)),
				 errhint("Try again.")));
	return sk_sequence_read(seqid);
}

/*
 * sk_fit_label
 *		Give a label no more bits and stripes than fit.
 *
 * Neither the type nor the MAXVALUE of the sequence is exceeded, nor the columns
 * that store its values, nor "width".  Returns how many bits these allow.
 */
int
sk_fit_label(SkLabel *label, const SkSequence *seq, int width)
{
	int			limit;
	int64		bits;

	/* of a sequence that ascends; sk_sequence_restriction() is asked before */
	Assert(seq->form.seqmax >= 1);
	limit = Min(Min(width, Min(seq->width, seq->column_width)),
				pg_leftmost_one_pos64((uint64) seq->form.seqmax + 1));
	bits = Min(limit, sk_label_int64(label->options, "bits", 63));
	sk_label_set_int64(label, "bits", bits);
	if (bits >= SK_MIN_BITS &&
		sk_label_int64(label->options, "stripes", 0) >> bits > 0)
		sk_label_set(label, "stripes", NULL);
	return limit;
}

/*
 * sk_change_sequence
 *		Change a sequence that sk_sequence_lock() has opened, or a new one.
 */
void
sk_change_sequence(SkSequence *seq, const SkSequenceChange *change)
{
	SkKind	   *new = sk_check_change(seq, change);
	char	   *label = new != NULL ? sk_kind_label(new) : NULL;

	/* nobody fetches from here to the end of the transaction */
	Assert(sk_relation_is_locked(seq->seqid, ShareRowExclusiveLock));
	Assert(!change->restarts || change->counter >= 1);
	Assert(new == NULL || new->options->bits <= seq->width);
	if (new != NULL && (seq->kind == NULL || change->restarts))
		check_counter_has_value(get_rel_name(seq->seqid),
								change->restarts ? change->counter : seq->next,
								new->options);
	if (new != NULL)
		sk_report_overlap(seq, new);
	/* the label says what the column was, so it is read before it goes */
	if (new == NULL)
		sk_report_unbound(sk_unbind(seq, change->restarts ? change->counter : 0,
									NIL));
	sk_binding_set(seq->seqid, label);
	elog(DEBUG1, "sequence \"%s\" at counter %lld: label \"%s\"",
		 get_rel_name(seq->seqid), (long long) seq->next,
		 label != NULL ? label : "");
	/* the label of a column is a copy of the one that has just been written */
	sk_label_columns(seq->seqid);
	/* sessions with values in their cache fetch anew under the new label only */
	if (change->restarts)
		restart_counter(seq, change);

	/*
	 * core's identity would fetch plain counters: it goes when there is a
	 * label
	 */
	if (new != NULL && seq->identity != SK_IDENTITY_NONE)
		sk_convert_identity(seq->table, seq->column, seq->seqid);
	if (new != NULL && new->options->identity == SK_IDENTITY_ALWAYS &&
		(seq->kind == NULL || seq->kind->options->identity != SK_IDENTITY_ALWAYS))
		report_always(seq);
	seq->kind = new;
}

/*
 * sk_complete_label
 *		Complete the label of a sequence with what its type and column say.
 *
 * A label that a user has set holds only what the user wrote.
 */
void
sk_complete_label(Oid seqid)
{
	const SkSequenceChange nothing = {0};

	sk_change_sequence(sk_sequence_lock(seqid, NoLock, true), &nothing);
}

/*
 * sk_check_change
 *		Raise an error if a change is impossible, and return the new kind.
 *
 * Returns NULL for a plain counter.
 */
SkKind *
sk_check_change(SkSequence *seq, const SkSequenceChange *change)
{
	SkKind	   *new = make_kind(seq, change);

	if (new != NULL)
		sk_sequence_check_mappable(seq->seqid);
	if (new != NULL && !change->is_label &&
		(seq->kind == NULL || new->options->bits > seq->kind->options->bits))
		check_references(seq, new->options->bits);
	/* what other nodes may have given counts as given */
	sk_find_nodes(seq);
	/* it comes last, as it can add a skip range to the kind that was made */
	keep_values_unique(seq, new, change);
	return new;
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
	if (sk_restoring() || !blocks_overlap(seq, kind))
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

/* Have a label without bits give no values that the columns do not hold. */
static void
fit_columns(const SkSequence *seq, SkLabel *label)
{
	if (seq->column_width < seq->width &&
		sk_label_option(label->options, "bits") == NULL)
		sk_label_set_int64(label, "bits", seq->column_width);
}

static void
name_setting(void *arg)
{
	errcontext("default kind of new sequences, from setting \"%s\"",
			   "spanner.default_sequence_kind");
}

/* The same as sk_bind_new_sequence(), without the context of errors. */
static const SkRestriction *
bind_new_sequence(Oid seqid, SkIdentity identity)
{
	static const SkRestriction no_value = {
		NULL,
		"From its START on, the default kind has no value within its MAXVALUE.",
		"Use a larger MAXVALUE or a smaller START, or the sequence kind \"local\"."
	};
	SkSequence *seq = sk_sequence_read(seqid);
	SkLabel    *label = sk_label_parse_kind(sk_default_sequence_kind());
	const SkRestriction *restriction = sk_sequence_restriction(&seq->form);
	SkSequenceChange change = {0};
	SkKind	   *kind;

	if (restriction != NULL)
		return restriction;
	if (sk_fit_label(label, seq, references_width(seq)) < SK_MIN_BITS)
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
	sk_change_sequence(seq, &change);
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

	if (!blocks_overlap(seq, kind))
		return NULL;

	result = palloc0(sizeof(SkRestriction));
	result->detail = psprintf("With INCREMENT BY %lld, values of kind \"%s\" can be closer than %lld, and a client that makes a block of ids of each value would make ids twice.",
							  increment, sk_kind_parts(kind)->kind, increment);
	result->hint = "Use INCREMENT BY 1, or kind \"bit_reversed_positive\" with enough bits; for other uses of the increment, spanner.alter_sequence() or spanner.convert_column() gives the kind all the same.";
	return result;
}

/* Can values of a sequence be closer than its increment, with this kind? */
static bool
blocks_overlap(const SkSequence *seq, const SkKind *kind)
{
	int64		increment = seq->form.seqincrement;
	int64		last;

	if (increment <= 1)
		return false;
	if (kind->am->least_distance == NULL)
		return true;

	if (pg_mul_s64_overflow(increment, SK_FORESEEN_FETCHES, &last) ||
		pg_add_s64_overflow(last, seq->form.seqstart, &last))
		last = PG_INT64_MAX;
	last = Min(last, Min(kind->options->max_counter, seq->form.seqmax));
	return kind->am->least_distance(kind->options, increment, last) < increment;
}

/*
 * Explicit values are refused by the planner hook, and nothing in a statement
 * that has one for the column loads the library.
 */
static void
report_always(const SkSequence *seq)
{
	const char *const settings[] = {
		shared_preload_libraries_string, session_preload_libraries_string,
		local_preload_libraries_string
	};

	for (int i = 0; i < lengthof(settings); i++)
	{
		if (settings[i] != NULL && strstr(settings[i], "spanner_keys") != NULL)
			return;
	}
	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg("GENERATED ALWAYS of sequence \"%s\" is kept in sessions that have loaded the library",
					get_rel_name(seq->seqid)),
			 errdetail("A session whose first statement has a value of its own for the column stores that."),
			 errhint("Set session_preload_libraries = 'spanner_keys' where that matters.")));
}

/*
 * The options of before stay if the kind does.  The mark of an identity column
 * always stays.
 */
static SkKind *
make_kind(SkSequence *seq, const SkSequenceChange *change)
{
	SkLabel    *label = palloc0(sizeof(SkLabel));
	SkKind	   *result;
	int64		bits;
	ListCell   *lc;

	/* nobody knows what a lost kind has given */
	if (seq->lost_kind != NULL && !(change->restarts && change->label.kind != NULL))
		(void) sk_sequence_am_get(seq->lost_kind);
	if (change->label.kind != NULL ? strcmp(change->label.kind, SK_LOCAL_KIND) == 0 :
		seq->kind == NULL)
	{
		if (change->label.options != NIL || change->no_skip_range)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("sequence \"%s\" has no kind that takes options",
							get_rel_name(seq->seqid)),
					 errhint("Give kind => 'bit_reversed_positive' as well.")));
		return NULL;
	}

	label->kind = change->label.kind;
	if (!change->is_label && seq->kind != NULL &&
		(change->label.kind == NULL ||
		 pg_strcasecmp(change->label.kind, seq->kind->am->name) == 0))
		label = sk_kind_parts(seq->kind);
	if (change->no_skip_range)
	{
		sk_label_set(label, "skip_range_min", NULL);
		sk_label_set(label, "skip_range_max", NULL);
	}
	else if (!change->is_label && seq->kind != NULL && label->kind == change->label.kind &&
			 seq->kind->options->has_skip_range)
	{
		/* what another kind skipped was there before: rows, as a rule */
		sk_label_set_int64(label, "skip_range_min", seq->kind->options->skip_range_min);
		sk_label_set_int64(label, "skip_range_max", seq->kind->options->skip_range_max);
	}
	/* an option that is given twice is left to be refused */
	foreach(lc, change->label.options)
		sk_label_set(label, ((SkOption *) lfirst(lc))->name, NULL);
	label->options = list_concat(label->options, list_copy(change->label.options));
	bits = sk_label_int64(change->label.options, "bits", 0);
	if (seq->column_width < 63 && bits > seq->column_width)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of table \"%s\" does not hold values of %d bits",
						get_attname(seq->narrowest->objectId,
									seq->narrowest->objectSubId, false),
						get_rel_name(seq->narrowest->objectId), (int) Min(bits, 63)),
				 errhint("Change the column to a wider type first.")));
	fit_columns(seq, label);
	if (!change->is_label)
		widen(seq, label);

	result = sk_kind_make(label, seq->width);
	if (seq->identity != SK_IDENTITY_NONE)
		result->options->identity = seq->identity;
	else if (!change->is_label &&
			 result->options->identity == SK_IDENTITY_NONE)
		result->options->identity = sk_sequence_identity(seq->seqid);
	return result;
}

/* Bits that the column can hold need a sequence of its type. */
static void
widen(SkSequence *seq, const SkLabel *label)
{
	int64		bits = sk_label_int64(label->options, "bits", 0);

	if (bits <= seq->width || bits > 63)
		return;
	alter_core_sequence(seq, list_make1(makeDefElem("as", (Node *)
													makeTypeNameFromOid(bits > 31 ? INT8OID : INT4OID, -1), -1)));
	seq->form = sk_sequence_form(seq->seqid);
	seq->width = sk_type_width(seq->form.seqtypid);
	Assert(seq->width >= bits);
}

/*
 * The one place that decides whether values could be given twice.
 *
 * What has been given lies between 1 and some last value.  The sequence skips
 * all of that, unless too little would be left.
 */
static void
keep_values_unique(const SkSequence *seq, SkKind *new,
				   const SkSequenceChange *change)
{
	int64		last;

	if ((seq->kind == NULL && new == NULL) ||
		(seq->kind != NULL && new != NULL &&
		 same_mapping(seq->kind, new)))
		return;
	if (!seq->used && seq->last_of_nodes == 0)
	{
		if (change->is_label && !change->no_skip_range)
			keep_skip_range(seq, new);
		return;
	}
	if (new == NULL)
		return;

	last = last_given_value(seq);
	if (sk_is_skipped(new->options, 1) && sk_is_skipped(new->options, last))
		return;
	if (change->is_label && seq->kind != NULL)
		refuse_new_mapping(seq, sk_sent_by_citus() ?
						   "Create a new sequence, and have the column of the distributed table use it." :
						   "Use spanner.alter_sequence(), which can restart the counter.");
	else if (change->is_label)
		warn_of_given_values(seq, last,
							 "Use spanner.alter_sequence(), which has them passed over.");
	else if (last < new->options->max_counter && pass_over(seq, new, last, change))
		return;
	else if (change->restarts)
		warn_of_given_values(seq, last,
							 "Use a new sequence for keys that must stay unique.");
	else
		refuse_new_mapping(seq, "Create a new sequence, or give restart_counter_with as well if repeated values do no harm.");
}

/*
 * Do two kinds map every counter to the same value?  To skip a value is not to
 * map it elsewhere.
 */
static bool
same_mapping(const SkKind *a, const SkKind *b)
{
	SkSequenceOptions a_options = *a->options;
	SkSequenceOptions b_options = *b->options;
	SkKind		a_mapping = {a->am, &a_options};
	SkKind		b_mapping = {b->am, &b_options};

	a_options.has_skip_range = b_options.has_skip_range = false;
	a_options.identity = b_options.identity = SK_IDENTITY_NONE;
	return strcmp(sk_kind_label(&a_mapping), sk_kind_label(&b_mapping)) == 0;
}

/* A label says all of a kind, so it has to name what another kind skipped. */
static void
keep_skip_range(const SkSequence *seq, const SkKind *new)
{
	const SkSequenceOptions *old = seq->kind != NULL ? seq->kind->options : NULL;

	if (old == NULL || new == NULL || !old->has_skip_range ||
		(sk_is_skipped(new->options, Max(old->skip_range_min, 1)) &&
		 sk_is_skipped(new->options, old->skip_range_max)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("label of sequence \"%s\" leaves out its skip range",
					get_rel_name(seq->seqid)),
			 errdetail("The values %lld to %lld may be stored already.",
					   (long long) old->skip_range_min,
					   (long long) old->skip_range_max),
			 errhint("Use spanner.alter_sequence(), which keeps the skip range, or give skip_range_min and skip_range_max in the label.")));
}

/* A plain counter is its own value; a kind gives any value of its bits. */
static int64
last_given_value(const SkSequence *seq)
{
	Assert(seq->used || seq->last_of_nodes > 0);
	if (seq->kind != NULL)
		return (int64) ((UINT64CONST(1) << seq->kind->options->bits) - 2);
	return Max(seq->next - 1, seq->last_of_nodes);
}

/*
 * Have a sequence skip the values that it may have given.  Returns false if
 * it would have too few values left to go on.
 */
static bool
pass_over(const SkSequence *seq, SkKind *new, int64 last,
		  const SkSequenceChange *change)
{
	SkSequenceOptions *options = new->options;
	SkSequenceOptions before = *options;

	Assert(last < options->max_counter);
	if (seq->kind == NULL)
	{
		double		waiting = (double) SK_WAITING_FETCHES *
			(double) seq->form.seqcache * (double) seq->form.seqincrement;

		if (options->has_skip_range &&
			(options->skip_range_min > 1 || options->skip_range_max < last))
			refuse_skip_range(seq);
		last += (int64) Min(waiting, (double) ((options->max_counter - last) / 16));
	}
	options->skip_range_max = options->has_skip_range ?
		Max(options->skip_range_max, last) : last;
	options->skip_range_min = 1;
	options->has_skip_range = true;
	Assert(options->skip_range_max >= last);
	if (!sk_kind_reaches_value(new, change->restarts ? change->counter : seq->next))
	{
		*options = before;
		return false;
	}
	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg("sequence \"%s\" skips the values 1 to %lld, which it may have given before",
					get_rel_name(seq->seqid),
					(long long) options->skip_range_max)));
	return true;
}

static void
refuse_skip_range(const SkSequence *seq)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("skip range does not cover the values that sequence \"%s\" has given",
					get_rel_name(seq->seqid)),
			 errdetail("It has given values up to %lld.",
					   (long long) last_given_value(seq)),
			 errhint("Give skip_range_min => 1, skip_range_max => %lld, or a wider range.",
					 (long long) last_given_value(seq))));
}

static void
warn_of_given_values(const SkSequence *seq, int64 last, const char *hint)
{
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("sequence \"%s\" may later give values that it has given before",
					get_rel_name(seq->seqid)),
			 errdetail("It has given values up to %lld.", (long long) last),
			 errhint("%s", hint)));
}

static void
refuse_new_mapping(const SkSequence *seq, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot change the kind of sequence \"%s\", which has been used",
					get_rel_name(seq->seqid)),
			 errdetail("It could give values that it has given before."),
			 errhint("%s", hint)));
}

/* Refuse a counter to begin with that is beyond the last one. */
static void
check_counter_has_value(const char *name, int64 counter,
						const SkSequenceOptions *options)
{
	if (counter > options->max_counter)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("Sequence %s is exhausted", name),
				 errdetail("The last counter that has a value of %d bits is %lld.",
						   options->bits, (long long) options->max_counter),
				 errhint("Start with a smaller counter.")));
}

/*
 * A sequence that has not been used yet also gets a new start counter, so that
 * its state stays unknown, as in Spanner.
 */
static void
restart_counter(const SkSequence *seq, const SkSequenceChange *change)
{
	List	   *options = NIL;

	Assert(change->counter >= 1);
	if (change->start == SK_START_MOVES ||
		(change->start == SK_START_IF_UNUSED && !seq->used))
		options = lappend(options, counter_option("start", change->counter));
	options = lappend(options, counter_option("restart", change->counter));
	alter_core_sequence(seq, options);
}

static DefElem *
counter_option(const char *name, int64 counter)
{
	return makeDefElem(pstrdup(name),
					   (Node *) makeFloat(psprintf(INT64_FORMAT, counter)), -1);
}

/*
 * What ALTER SEQUENCE does.  Core finds the sequence by its name, so it tells
 * us which it has found.  Citus, which refuses the command for sequences that
 * other nodes have as well, does not see it.
 */
static void
alter_core_sequence(const SkSequence *seq, List *options)
{
	AlterSeqStmt *stmt = makeNode(AlterSeqStmt);
	ObjectAddress altered;

	stmt->sequence = makeRangeVar(get_namespace_name_or_temp(get_rel_namespace(seq->seqid)),
								  get_rel_name(seq->seqid), -1);
	stmt->options = options;
	altered = AlterSequence(NULL, stmt);
	if (altered.objectId != seq->seqid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("sequence \"%s\" was renamed while it was changed",
						get_rel_name(seq->seqid)),
				 errhint("Try again.")));
	CommandCounterIncrement();
}

/* How many value bits the columns hold that refer to ids of a sequence. */
static int
references_width(SkSequence *seq)
{
	if (seq->reference_width == 0)
		(void) narrowest_column(referring_columns(seq), &seq->reference_width);
	return seq->reference_width;
}

/* Refuse bits that the columns do not hold that refer to ids of a sequence. */
static void
check_references(SkSequence *seq, int bits)
{
	int			width = references_width(seq);
	List	   *columns;
	ObjectAddress *narrowest;

	if (width >= bits)
		return;
	columns = referring_columns(seq);
	narrowest = narrowest_column(columns, &width);
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
				sk_column_width(relid, column->objectSubId) >= bits)
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
