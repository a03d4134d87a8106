/*-------------------------------------------------------------------------
 *
 * sequence_change.c
 *	  The one way in which the kind, the options or the counter change.
 *
 * A caller fills in what is to change.  The README says what is done, and in which
 * order ("How a sequence changes", "How the nodes of Citus learn of a kind").
 *
 * A sequence that loses its kind could repeat what has been given before, what the
 * skip range leaves out, and values that the kind has issued.  So its plain counter
 * goes on after these ranges.  Where one of the next values has been issued, and the
 * type has values that the kind has not, it goes on after all of the kind's.  Else
 * it goes on at one that has not been issued, and a WARNING says that it comes to
 * others later.  The counter is set in a new file of the sequence, so that a
 * rollback brings the old one back, and other sessions forget counters that they
 * have cached.  That is done by OID, and as the owner: who drops the extension need
 * not own the sequences.
 *
 * Before a command drops the extension, core's functions lose our support
 * function, and sequences their labels.  Both would keep the extension, and a
 * dump with labels could not be restored without it.  If the command fails,
 * the transaction undoes that.  What the sequences do then is reported when the
 * extension goes, since the command may still find that others depend on it.
 *
 * src/sequence/sequence_change.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_event_trigger.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "commands/seclabel.h"
#include "commands/sequence.h"
#include "commands/tablecmds.h"
#include "commands/trigger.h"
#include "commands/user.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "port/pg_bitutils.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/sequence.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/own_objects.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

/*
 * How many plain counters to expect of code in C, which goes on with them when
 * the sequence gets its kind.
 */
#define SK_WAITING_FETCHES 1000

/* So many values are looked at for one that has been given. */
#define SK_FORESEEN_VALUES 1000

/* So many sequences are named to the client; the server's log has all. */
#define SK_MAX_NAMED 100

/*
 * The first counters of a worker of Citus.  A kind reverses the number of a node
 * into the lowest 15 bits, so what other nodes have given of a worker's range
 * begins there.
 */
#define SK_NODE_COUNTERS (INT64CONST(1) << 15)

/* The first release of Citus that sends labels of columns. */
#define SK_CITUS_RELEASE "{13,1}"

/* It fires always, unless a superuser has changed that. */
#define SK_END_TRIGGER "!spanner_keys_ddl_command_end"

#define SK_COLUMNS "spanner_internal.sequence_columns() c"

/* What a command was about, of tables and sequences. */
#define SK_TOUCHED \
	"(SELECT t.objid FROM pg_catalog.pg_event_trigger_ddl_commands() t" \
	" WHERE t.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass)"

/*
 * What a sequence has to remember when SECURITY LABEL unbinds it, or leaves out what
 * its column was: that label can be set only when the command has ended.  Until
 * then it is one of this provider, so it goes with a command that fails, and each
 * sequence has its own where an event trigger labels another one.
 */
#define SK_MEMORY_PROVIDER "spanner_keys memory"

/* What to report when the extension goes. */
static List *drop_report = NIL;
static object_access_hook_type prev_object_access_hook = NULL;

static SkSequence *open_sequence(Oid seqid, LOCKMODE rows, bool changes_kind);
static void check_not_in_use(Oid relid);
static SkKind *check_change(SkSequence *seq, const SkSequenceChange *change);
static void report_always(const SkSequence *seq);
static SkKind *make_kind(SkSequence *seq, const SkSequenceChange *change);
static int64 label_int64(const List *options, const char *name, int64 otherwise);
static void widen(SkSequence *seq, const SkLabel *label);
static void keep_values_unique(const SkSequence *seq, SkKind *new,
							   const SkSequenceChange *change);
static SkRange given_counters(const SkSequence *seq,
							  const SkSequenceChange *change);
static SkKind *given_kind(const SkSequence *seq);
static int64 last_value(const SkKind *kind);
static int64 add_waiting_fetches(const SkSequence *seq, int64 last,
								 int64 max_counter);
static void refuse_label(const SkSequence *seq, SkRange given,
						 SkRange counted);
static void refuse_new_mapping(const SkSequence *seq, const char *hint);
static void restart_counter(const SkSequence *seq, int64 counter,
							bool moves_start);
static char *kind_label(const SkKind *kind);
static void check_first_values(const SkKind *kind);
static bool same_mapping(const SkKind *a, const SkKind *b);
static void set_label(Oid seqid, const char *label);
static void alter_core_sequence(const SkSequence *seq, List *options);
static char *widening_statements(List *columns, int bits);
static char *unbind(SkSequence *seq, int64 restart, List **report);
static char *memory_label(const SkKind *former, SkRange given, int64 next);
static void report_unbound(List *report);
static bool find_plain_counter(const SkSequence *seq, int64 *next);
static int64 after_range(const SkSequence *seq, int64 counter, SkRange range);
static int64 skip_issued_values(const SkSequence *seq, int64 counter);
static void set_plain_counter(const SkSequence *seq, int64 next);
static void prepare_command(Node *command);
static void lock_labelled(SecLabelStmt *stmt);
static void report_drop(ObjectAccessType access, Oid class, Oid object,
						int column, void *arg);
static bool drops_extension(Node *command);
static void check_label(const ObjectAddress *object, const char *label);
static void keep_identity(const SkSequence *seq, const SkLabel *label,
						  SkKind *kind);
static void require_end_trigger(Oid seqid);
static void check_column_label(Oid table, int32 column, const char *label);
static void lock_columns(Oid seqid);
static void remember(Oid seqid, const char *label);
static void follow_labels(Node *command, List *relations);
static void label_columns(const char *condition);
static void label_sequences(bool and_unbind);
static bool run_commands(const char *query);
static void warn_of_old_citus(void);

/*
 * sk_sequence_change_init
 *		Register the label provider, and for DROP EXTENSION and labels of columns.
 *
 * To be called before the others that change labels when a command ends: labels
 * of columns are copies of what comes out.
 */
void
sk_sequence_change_init(void)
{
	register_label_provider(SK_LABEL_PROVIDER, check_label);
	prev_object_access_hook = object_access_hook;
	object_access_hook = report_drop;
	sk_on_command(prepare_command, NULL, follow_labels);
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
	result = open_sequence(seqid, rows, changes_kind);
	if (result == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("sequence with OID %u was dropped concurrently",
						seqid)));
	return result;
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
	bits = Min(limit, label_int64(label->options, "bits", 63));
	sk_label_set_int64(label, "bits", bits);
	if (bits >= SK_MIN_BITS &&
		label_int64(label->options, "stripes", 0) >> bits > 0)
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
	SkKind	   *new = check_change(seq, change);
	char	   *label = new != NULL ? kind_label(new) : NULL;
	List	   *report = NIL;

	/* nobody fetches from here to the end of the transaction */
	Assert(sk_relation_is_locked(seq->seqid, ShareRowExclusiveLock));
	Assert(!change->restarts || change->counter >= 1);
	Assert(new == NULL || new->options->bits <= seq->width);
	if (new != NULL &&
		(seq->kind == NULL || !same_mapping(seq->kind, new)))
		sk_report_overlap(seq, new);
	/* the label says what the column was, so it is read before it goes */
	if (new == NULL)
	{
		label = unbind(seq, change->restarts ? change->counter : 0, &report);
		report_unbound(report);
	}
	set_label(seq->seqid, label);
	elog(DEBUG1, "sequence \"%s\" at counter %lld: label \"%s\"",
		 get_rel_name(seq->seqid), (long long) seq->next,
		 label != NULL ? label : "");
	/* the label of a column is a copy of the one that has just been written */
	if (sk_citus_exists() && !sk_sent_by_citus())
		label_columns(psprintf("c.seqid OPERATOR(pg_catalog.=) %u", seq->seqid));
	/* sessions with values in their cache fetch anew under the new label only */
	if (change->restarts)
		restart_counter(seq, change->counter, !change->for_rows && !seq->used);
	/* the kind has given nothing as long as the counter is not called */
	else if (new != NULL && seq->is_called && new->options->since == seq->next &&
			 seq->next <= seq->form.seqmax &&
			 (seq->kind == NULL || !same_mapping(seq->kind, new)))
		restart_counter(seq, seq->next, false);

	/*
	 * core's identity would fetch plain counters: it goes when there is a
	 * label
	 */
	if (new != NULL && seq->identity != SK_IDENTITY_NONE)
		sk_change_identity(seq->seqid, SK_IDENTITY_NONE);
	if (new != NULL && new->options->identity == SK_IDENTITY_ALWAYS &&
		(seq->kind == NULL || seq->kind->options->identity != SK_IDENTITY_ALWAYS))
		report_always(seq);
	seq->kind = new;
	seq->former = NULL;
	if (new != NULL)
		seq->given = new->options->given;
	if (change->restarts)
		seq->next = change->counter;
	seq->is_called &= !change->restarts;
}

/*
 * Open a sequence for a change, whoever owns it.  Returns NULL if it has been
 * dropped meanwhile.
 */
static SkSequence *
open_sequence(Oid seqid, LOCKMODE rows, bool changes_kind)
{
	Oid			table = InvalidOid;
	Oid			owner = InvalidOid;
	int32		column;
	List	   *tables = NIL;
	ListCell   *lc;

	/*
	 * Writers lock the table before the sequence that its default uses.  The
	 * other order would deadlock with them.  Nor is a weak lock on the table
	 * made stronger later: the default of an identity column changes with the
	 * kind.
	 */
	if (sk_sequence_owner(seqid, &table, &column) && changes_kind &&
		(sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &table, &column) ||
		 sk_sequence_identity(seqid) != SK_IDENTITY_NONE))
		rows = AccessExclusiveLock;
	if (OidIsValid(table) && rows != NoLock)
	{
		LockRelationOid(table, rows);
		tables = find_all_inheritors(table, rows, NULL);
	}
	/* a statement that runs would go on with the plan that it has */
	foreach(lc, rows == AccessExclusiveLock ? tables : NIL)
		check_not_in_use(lfirst_oid(lc));
	if (changes_kind)
		lock_columns(seqid);
	/* it conflicts with that of transactions that have fetched */
	LockRelationOid(seqid, ShareRowExclusiveLock);
	/* both may have changed while we waited */
	if (get_rel_relkind(seqid) != RELKIND_SEQUENCE)
		return NULL;
	(void) sk_sequence_owner(seqid, &owner, &column);
	if (owner != table)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("owner of sequence \"%s\" was changed concurrently",
						get_rel_name(seqid)),
				 errhint("Try again.")));
	return sk_sequence_read(seqid);
}

/* Raise core's error if a statement of this session runs on a table. */
static void
check_not_in_use(Oid relid)
{
	Relation	rel = try_relation_open(relid, NoLock);

	if (rel == NULL)
		return;
	CheckTableNotInUse(rel, "ALTER TABLE");
	relation_close(rel, NoLock);
}

/*
 * Raise an error if a change is impossible, and return the new kind.
 *
 * Returns NULL for a plain counter.
 */
static SkKind *
check_change(SkSequence *seq, const SkSequenceChange *change)
{
	SkKind	   *new = make_kind(seq, change);

	if (new != NULL)
		sk_sequence_check_mappable(seq->seqid);
	/* the kind of a new sequence fits them already */
	if (new != NULL && !change->is_label && !change->is_new &&
		(seq->kind == NULL || new->options->bits > seq->kind->options->bits))
		sk_check_references(seq, new->options->bits);
	/* what other nodes may have given counts as given */
	sk_find_nodes(seq);

	/*
	 * what Citus sends has the counters of a worker, which can give no narrow
	 * ids
	 */
	if (new != NULL && (seq->kind == NULL || change->restarts) && !sk_sent_by_citus() &&
		(change->restarts ? change->counter : seq->next) > new->options->max_counter)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("Sequence %s is exhausted", get_rel_name(seq->seqid)),
				 errdetail("The last counter that has a value of %d bits is %lld.",
						   new->options->bits, (long long) new->options->max_counter),
				 errhint("Start with a smaller counter.")));
	/* it comes last, as it adds to the kind that was made */
	if (new != NULL)
		keep_values_unique(seq, new, change);
	return new;
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
		(void) sk_sequence_am_get(seq->lost_kind, false);
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
	else if (!change->is_label && seq->kind != NULL &&
			 !sk_range_is_empty(seq->kind->options->skip_range))
	{
		/* the user's wish does not depend on the kind */
		sk_label_set_int64(label, "skip_range_min", seq->kind->options->skip_range.min);
		sk_label_set_int64(label, "skip_range_max", seq->kind->options->skip_range.max);
	}
	if (change->no_skip_range)
	{
		sk_label_set(label, "skip_range_min", NULL);
		sk_label_set(label, "skip_range_max", NULL);
	}
	/* an option that is given twice is left to be refused */
	foreach(lc, change->label.options)
		sk_label_set(label, ((SkOption *) lfirst(lc))->name, NULL);
	label->options = list_concat(label->options, list_copy(change->label.options));
	bits = label_int64(change->label.options, "bits", 0);
	if (seq->column_width < 63 && bits > seq->column_width)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of table \"%s\" does not hold values of %d bits",
						get_attname(seq->narrowest->objectId,
									seq->narrowest->objectSubId, false),
						get_rel_name(seq->narrowest->objectId), (int) Min(bits, 63)),
				 errhint("Change the column to a wider type first.")));
	sk_fit_columns(seq, label);
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

/*
 * The value of an option as a number; "otherwise" if it is not set.
 */
static int64
label_int64(const List *options, const char *name, int64 otherwise)
{
	const SkOption *option = sk_label_option(options, name);

	return option != NULL ? sk_option_int64(option) : otherwise;
}

/* Bits that the column can hold need a sequence of its type. */
static void
widen(SkSequence *seq, const SkLabel *label)
{
	int64		bits = label_int64(label->options, "bits", 0);

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
 * The new kind never gives again what may have been given.  Where too little
 * would be left, the change is refused, unless the user restarts the counter.
 */
static void
keep_values_unique(const SkSequence *seq, SkKind *new,
				   const SkSequenceChange *change)
{
	SkSequenceOptions *options = new->options;
	SkRange		counted = given_counters(seq, change);
	SkRange		given = counted;
	SkRange		range;
	SkKind	   *former = given_kind(seq);
	int64		start = change->restarts ? change->counter : seq->next;
	int64		claimed = options->since;

	/* before the first use there is nobody to wait for, and nothing to report */
	bool		is_used = seq->used || seq->kind != NULL || seq->last_of_nodes > 0;

	options->since = start;
	if (former != NULL && same_mapping(former, new))
		options->since = former->options->since;
	else if (former != NULL)
		given = sk_range_cover(counted, sk_range(1, last_value(former)));
	range = sk_range_cover(options->given, given);
	if (change->is_label && !sk_range_contains(options->given, given))
		refuse_label(seq, given, counted);
	if (change->is_label && claimed > options->since)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("kind of sequence \"%s\" did not begin at counter %lld",
						get_rel_name(seq->seqid), (long long) claimed),
				 errdetail("It may have given values since counter %lld.",
						   (long long) options->since),
				 errhint("Leave the option \"since\" out of the label.")));
	if (change->is_label)
		return;
	counted = sk_range_cover(options->given, counted);
	options->given = range;
	if (sk_range_contains(seq->given, range) && !change->for_rows)
		return;
	if (seq->kind == NULL && is_used && !change->for_rows)
		options->given.max = add_waiting_fetches(seq, range.max, options->max_counter);
	if (sk_kind_reaches_value(new, start))
	{
		if (is_used && !change->for_rows)
			ereport(NOTICE,
					(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
					 errmsg("sequence \"%s\" skips the values %lld to %lld, which it may have given before",
							get_rel_name(seq->seqid), (long long) options->given.min,
							(long long) options->given.max)));
		return;
	}
	if (change->for_rows && sk_range_contains(counted, given))
		sk_report_few_values(seq, options, range.max);
	if (!change->restarts)
		refuse_new_mapping(seq, "Create a new sequence, or use spanner.alter_sequence() with restart_counter_with if repeated values do no harm.");
	/* what plain counters have given can be skipped, perhaps */
	options->given = counted;
	if (!sk_kind_reaches_value(new, start))
		options->given = sk_range(0, 0);
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("sequence \"%s\" may later give values that it has given before",
					get_rel_name(seq->seqid)),
			 errdetail("It has given values up to %lld.", (long long) given.max),
			 errhint("Use a new sequence for keys that must stay unique.")));
}

/*
 * What a sequence may have given that no new kind changes: what its label
 * remembers, and all below a plain counter, wherever START is.
 *
 * Only the command that makes a sequence knows that it has given nothing, unless
 * an event trigger before ours has filled the table.  Of what Citus sends, the
 * coordinator knows what all nodes have given.
 */
static SkRange
given_counters(const SkSequence *seq, const SkSequenceChange *change)
{
	SkRange		all = {1, 0};

	if (seq->kind == NULL && !(change->is_new && !seq->used) && !sk_sent_by_citus())
		all.max = Max(seq->next - 1, seq->last_of_nodes);
	return sk_range_cover(seq->given, all);
}

/*
 * The kind of which a sequence may have given values: its own, or the one that
 * it had before; NULL if there is none.
 */
static SkKind *
given_kind(const SkSequence *seq)
{
	if (seq->kind == NULL)
		return seq->former;
	return sk_kind_has_given(seq) ? seq->kind : NULL;
}

/* The largest value that a kind can give. */
static int64
last_value(const SkKind *kind)
{
	return (int64) ((UINT64CONST(1) << kind->options->bits) - 2);
}

/* Code in C goes on with plain counters for a while, until it notices. */
static int64
add_waiting_fetches(const SkSequence *seq, int64 last, int64 max_counter)
{
	double		waiting = (double) SK_WAITING_FETCHES *
		(double) seq->form.seqcache * (double) seq->form.seqincrement;

	if (last >= max_counter)
		return last;
	return last + (int64) Min(waiting, (double) ((max_counter - last) / 16));
}

/*
 * A label says all of a kind, so it has to name what must not come again.
 * "counted" is that without the values of another kind.
 */
static void
refuse_label(const SkSequence *seq, SkRange given, SkRange counted)
{
	if (!sk_range_contains(counted, given))
		refuse_new_mapping(seq, sk_sent_by_citus() ?
						   "Create a new sequence, and have the column of the distributed table use it." :
						   "Use spanner.alter_sequence(), which can restart the counter.");
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("label of sequence \"%s\" leaves out values that may have been given",
					get_rel_name(seq->seqid)),
			 errdetail("The values %lld to %lld must not come again.",
					   (long long) given.min, (long long) given.max),
			 errhint("Use spanner.alter_sequence(), which has them skipped, or write given=%lld..%lld in the label.",
					 (long long) given.min, (long long) given.max)));
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

/*
 * sk_report_few_values
 *		Report that a kind would have too few values left for a column.
 *
 * The hint is about what limits them.
 */
void
sk_report_few_values(const SkSequence *seq, const SkSequenceOptions *options,
					 int64 last)
{
	int			width = Min(seq->width, seq->column_width);
	const char *hint = "Use a new column with a sequence of its own.";
	const char *what = sk_describe_column(seq);

	if (options->bits < width &&
		pg_leftmost_one_pos64((uint64) seq->form.seqmax + 1) <= options->bits)
		hint = psprintf("Run ALTER SEQUENCE %s NO MAXVALUE first.",
						sk_qualified_name(seq->seqid));
	else if (options->bits < width)
		hint = "Give more bits.";
	else if (options->bits < 63)
		hint = "Change the column and its sequence to a wider type first.";
	else if (!sk_range_is_empty(options->skip_range))
		hint = "Use a smaller skip range.";
	ereport(ERROR,
			(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
			 errmsg("%s has too few values left", what),
			 errdetail("Its values have %d bits, and those up to %lld are taken.",
					   options->bits, (long long) last),
			 errhint("%s", hint)));
}

/*
 * sk_describe_column
 *		The column that a sequence fills, for messages; itself if there is none.
 */
char *
sk_describe_column(const SkSequence *seq)
{
	ObjectAddress *column;

	if (seq->columns == NIL)
		return psprintf("sequence \"%s\"", get_rel_name(seq->seqid));
	column = linitial(seq->columns);
	return psprintf("column \"%s\" of table \"%s\"",
					get_attname(column->objectId, column->objectSubId, false),
					get_rel_name(column->objectId));
}

/*
 * Restart core's counter.  Of a sequence that has not been used yet START moves
 * as well, so that its state stays unknown, as in Spanner.
 */
static void
restart_counter(const SkSequence *seq, int64 counter, bool moves_start)
{
	Node	   *value = (Node *) makeFloat(psprintf(INT64_FORMAT, counter));
	List	   *options = list_make1(makeDefElem("restart", value, -1));

	Assert(counter >= 1);
	if (moves_start)
		options = lcons(makeDefElem("start", value, -1), options);
	alter_core_sequence(seq, options);
}

/*
 * The label that is stored for a kind.
 *
 * Raises an error if the access method would not make the same kind of it, or
 * if it gives values twice from the beginning.
 */
static char *
kind_label(const SkKind *kind)
{
	char	   *result = sk_label_format(sk_kind_parts(kind));
	const char *problem = "Its options are not those that it was given.";
	SkLabel    *label = sk_label_parse(result, &problem);

	if (label == NULL ||
		strcmp(sk_label_format(sk_kind_parts(sk_kind_make(label, 63))), result) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("sequence access method \"%s\" describes itself by a label that cannot be read: %s",
						kind->am->name, result),
				 errdetail_internal("%s", problem)));
	check_first_values(kind);
	return result;
}

/*
 * Do the first values lead back to their counters?  If all do, none comes twice.
 * To ask that of every value would cost as much as to make it.
 */
static void
check_first_values(const SkKind *kind)
{
	const SkSequenceOptions *options = kind->options;
	int64		value;
	int64		back;

	for (int64 counter = 1; counter <= Min(3, options->max_counter); counter++)
	{
		if (kind->am->nextval(options, counter, &value) &&
			!(kind->am->unmap(options, value, &back) && back == counter))
			ereport(ERROR,
					(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
					 errmsg("sequence access method \"%s\" has no way back from value %lld to counter %lld",
							kind->am->name, (long long) value, (long long) counter)));
	}
}

/*
 * Do two kinds map every counter to the same value?
 *
 * To skip a value is not to map it elsewhere.
 */
static bool
same_mapping(const SkKind *a, const SkKind *b)
{
	SkSequenceOptions a_options = *a->options;
	SkSequenceOptions b_options = *b->options;
	SkKind		a_mapping = {a->am, &a_options};
	SkKind		b_mapping = {b->am, &b_options};

	a_options.skip_range = b_options.skip_range = sk_range(0, 0);
	a_options.given = b_options.given = sk_range(0, 0);
	a_options.since = b_options.since = 1;
	a_options.identity = b_options.identity = SK_IDENTITY_NONE;
	return strcmp(sk_label_format(sk_kind_parts(&a_mapping)),
				  sk_label_format(sk_kind_parts(&b_mapping))) == 0;
}

/*
 * Bind a sequence, or with a NULL label unbind it.
 *
 * The caller has checked the label and holds ShareRowExclusiveLock.
 */
static void
set_label(Oid seqid, const char *label)
{
	ObjectAddress object;

	Assert(sk_relation_is_locked(seqid, ShareRowExclusiveLock));
	ObjectAddressSet(object, RelationRelationId, seqid);
	sk_binding_announce(seqid, label);
	SetSecurityLabel(&object, SK_LABEL_PROVIDER, label);
	CommandCounterIncrement();
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

/* Refuse bits that the columns do not hold that refer to ids of a sequence. */
void
sk_check_references(const SkSequence *seq, int bits)
{
	List	   *columns = sk_referring_columns(seq);
	int			width;
	ObjectAddress *narrowest = sk_narrowest_column(columns, &width);

	if (width >= bits)
		return;
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

/*
 * Make an unbound sequence of a bound one, but for its label, and return the
 * label that it needs instead, NULL if none.
 *
 * The label is still there, and the caller has locked the sequence as for a
 * change.  "restart" is the counter that the caller will set, 0 if the sequence
 * is to go on.  Then a line is added for report_unbound(), if it has given
 * values.
 */
static char *
unbind(SkSequence *seq, int64 restart, List **report)
{
	SkIdentity	identity = sk_sequence_identity(seq->seqid);

	/* asked before the counter moves */
	SkKind	   *former = given_kind(seq);
	int64		next;

	Assert(CheckRelationOidLockedByMe(seq->seqid, ShareRowExclusiveLock, true));
	if (identity != SK_IDENTITY_NONE)
		sk_change_identity(seq->seqid, identity);
	if ((seq->kind != NULL || seq->lost_kind != NULL) &&
		find_plain_counter(seq, &next))
	{
		if (restart == 0)
		{
			set_plain_counter(seq, next);
			*report = lappend(*report, next != 0 ?
							  psprintf("Sequence %s goes on at %lld.",
									   sk_qualified_name(seq->seqid), (long long) next) :
							  psprintf("Sequence %s has no values left.",
									   sk_qualified_name(seq->seqid)));
			/* core has it after the last one, if it has none left */
			seq->next = next != 0 ? next : sk_sequence_read(seq->seqid)->next;
		}
		else if (next == 0 || restart < next)
			ereport(WARNING,
					(errcode(ERRCODE_WARNING),
					 errmsg("sequence \"%s\" may later give values that it has given before",
							get_rel_name(seq->seqid)),
					 errdetail("It will go on with its plain counter, at %lld.",
							   (long long) restart),
					 errhint("Leave restart_counter_with out, and it goes on where that is safe.")));
	}
	return memory_label(former, seq->given, restart != 0 ? restart : seq->next);
}

/*
 * What a sequence that loses its kind has to remember, NULL if nothing: the kind,
 * if it has given values, and what is to be skipped besides what its next plain
 * counter is beyond.
 */
static char *
memory_label(const SkKind *former, SkRange given, int64 next)
{
	SkLabel    *label = palloc0(sizeof(SkLabel));
	SkOption   *option;

	if (former != NULL)
	{
		SkSequenceOptions options = *former->options;
		SkKind		plain = {former->am, &options};

		options.skip_range = sk_range(0, 0);
		options.identity = SK_IDENTITY_NONE;
		options.given = given;
		label = sk_kind_parts(&plain);
		option = palloc(sizeof(SkOption));
		option->name = "former";
		option->value = label->kind;
		label->options = lcons(option, label->options);
	}
	else if (sk_range_contains(sk_range(1, next - 1), given))
		return NULL;
	else
		sk_label_set_range(label, "given", given);
	label->kind = SK_LOCAL_KIND;
	return sk_label_format(label);
}

/*
 * Warn of the sequences that go on with their plain counters.
 */
static void
report_unbound(List *report)
{
	int			count = list_length(report);
	StringInfoData all;
	int			named_length = 0;
	ListCell   *lc;

	if (count == 0)
		return;
	initStringInfo(&all);
	foreach(lc, report)
	{
		appendStringInfo(&all, "%s%s", all.len > 0 ? "\n" : "",
						 (char *) lfirst(lc));
		if (foreach_current_index(lc) < SK_MAX_NAMED)
			named_length = all.len;
	}
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg_plural("%d sequence goes back to its plain counter",
						   "%d sequences go back to their plain counters",
						   count, count),
			 errdetail("%s", pnstrdup(all.data, named_length)),
			 errdetail_log("%s", all.data),
			 errhint("A plain counter can still come to values that a kind has given, above all to narrow ones, which a unique index refuses.")));
}

/*
 * Find the next plain counter, 0 if there is none.  Returns false if the
 * sequence has given nothing, and has nothing to skip.
 *
 * A library that is missing does not matter: what it cannot tell is which
 * values its kind has given.
 */
static bool
find_plain_counter(const SkSequence *seq, int64 *next)
{
	SkLabel    *label = sk_label_parse_kind(sk_sequence_label(seq->seqid));
	SkRange		skipped = {label_int64(label->options, "skip_range_min", 0),
	label_int64(label->options, "skip_range_max", 0)};
	int64		counter = seq->next;
	int64		range = sk_citus_exists() ? counter - counter % SK_CITUS_RANGE : 0;

	if ((seq->kind != NULL ? !sk_kind_has_given(seq) : !seq->used) &&
		skipped.max < counter && seq->given.max < counter && range == 0)
		return false;

	/* after one of the ranges it can be in the other */
	for (int i = 0; i < 2; i++)
	{
		counter = after_range(seq, counter, seq->given);
		counter = after_range(seq, counter, skipped);
	}
	if (seq->kind != NULL && counter != 0)
		counter = skip_issued_values(seq, counter);

	/* each node of Citus has counters of its own */
	if (sk_citus_exists() &&
		counter / SK_CITUS_RANGE != seq->next / SK_CITUS_RANGE)
		counter = seq->next;
	if (range > 0)
		counter = Max(counter, range + SK_NODE_COUNTERS + 1);
	*next = counter;
	return true;
}

/*
 * The first counter from another on that is not in a range, or not before it.
 * A range far ahead that leaves little after it is not reached.
 */
static int64
after_range(const SkSequence *seq, int64 counter, SkRange range)
{
	if (counter == 0 || counter > range.max ||
		(counter < range.min &&
		 seq->form.seqmax - range.max < range.min - counter))
		return counter;
	return sk_counter_after(counter, seq->form.seqincrement, range.max,
							seq->form.seqmax);
}

/* From a counter on, skip values that the kind has given. */
static int64
skip_issued_values(const SkSequence *seq, int64 counter)
{
	const SkSequenceOptions *options = seq->kind->options;
	int64		last = last_value(seq->kind);
	int64		free = 0;
	int64		after = 0;
	int64		value = counter;
	int64		issued;
	bool		meets = false;

	for (int i = 0; i < SK_FORESEEN_VALUES && value != 0; i++)
	{
		if (seq->kind->am->unmap(options, value, &issued) && issued < seq->next)
			meets = true;
		else if (free == 0)
			free = value;
		value = sk_counter_after(value, seq->form.seqincrement, value,
								 seq->form.seqmax);
	}
	if (meets && options->bits < Min(seq->width, seq->column_width))
		after = sk_counter_after(counter, seq->form.seqincrement, last,
								 seq->form.seqmax);
	return after != 0 ? after : free;
}

/*
 * What was fetched last is set, so that the sequence counts as used, and one
 * without values left raises core's error.
 */
static void
set_plain_counter(const SkSequence *seq, int64 next)
{
	int64		last = next != 0 ? next - seq->form.seqincrement : seq->form.seqmax;
	bool		is_called = last >= seq->form.seqmin;
	bool		as_owner = !superuser();
	SkOwnerScope scope;

	/* the counter is where it should be, and no session has others */
	if (next == seq->next && seq->form.seqcache == 1)
		return;
	if (as_owner)
		sk_owner_enter(&scope, seq->seqid);
	ResetSequence(seq->seqid);
	DirectFunctionCall3(setval3_oid, ObjectIdGetDatum(seq->seqid),
						Int64GetDatum(is_called ? last : next),
						BoolGetDatum(is_called));
	if (as_owner)
		sk_owner_exit(&scope);
}

/*
 * Before a command of which core has checked nothing yet: lock what a label is for;
 * unbind and detach if the extension is about to be dropped.
 */
static void
prepare_command(Node *command)
{
	List	   *report = NIL;
	MemoryContext context;
	ListCell   *lc;

	if (IsA(command, SecLabelStmt))
		lock_labelled((SecLabelStmt *) command);
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
			SkSequence *seq = open_sequence(object->objectId, NoLock, true);

			if (seq == NULL)
				continue;
			(void) unbind(seq, 0, &report);
		}
		set_label(object->objectId, NULL);
	}
	/* the utility hook and the trigger both come here */
	if (report != NIL || OidIsValid(get_func_support(F_NEXTVAL)))
	{
		list_free_deep(drop_report);
		drop_report = NIL;
	}
	context = MemoryContextSwitchTo(TopMemoryContext);
	foreach(lc, report)
		drop_report = lappend(drop_report, pstrdup(lfirst(lc)));
	MemoryContextSwitchTo(context);
	sk_set_core_support(false);
}

/*
 * Core locks the sequence before it asks the provider, which then waits for the
 * table that owns it: the other order than that of those who write.
 */
static void
lock_labelled(SecLabelStmt *stmt)
{
	Oid			seqid;

	if (stmt->objtype != OBJECT_SEQUENCE || IsBinaryUpgrade || XactReadOnly ||
		(stmt->provider != NULL && strcmp(stmt->provider, SK_LABEL_PROVIDER) != 0))
		return;
	seqid = RangeVarGetRelid(makeRangeVarFromNameList(castNode(List, stmt->object)),
							 NoLock, true);
	if (OidIsValid(seqid) && get_rel_relkind(seqid) == RELKIND_SEQUENCE &&
		object_ownercheck(RelationRelationId, seqid, GetUserId()))
		(void) open_sequence(seqid, NoLock, true);
}

/* Nothing keeps the extension any more. */
static void
report_drop(ObjectAccessType access, Oid class, Oid object, int column,
			void *arg)
{
	if (prev_object_access_hook)
		prev_object_access_hook(access, class, object, column, arg);
	if (access == OAT_DROP && class == ExtensionRelationId && drop_report != NIL &&
		strcmp(get_extension_name(object), SK_EXTENSION) == 0)
	{
		report_unbound(drop_report);
		list_free_deep(drop_report);
		drop_report = NIL;
	}
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
	char	   *memory;
	List	   *report = NIL;

	if (object->classId == RelationRelationId && object->objectSubId > 0 &&
		get_rel_relkind(object->objectId) != RELKIND_SEQUENCE &&
		(sk_restoring() || sk_citus_exists()))
	{
		if (label != NULL && !IsBinaryUpgrade)
			(void) sk_kind_make(sk_label_parse_kind(label), 63);
		if (!sk_restoring())
			check_column_label(object->objectId, object->objectSubId, label);
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
	if (!IsBinaryUpgrade)
		seq = sk_sequence_lock(object->objectId, NoLock, true);
	else
		LockRelationOid(object->objectId, ShareRowExclusiveLock);
	if (label == NULL && seq != NULL)
	{
		/* nobody knows what a lost kind has given */
		if (seq->lost_kind != NULL)
			(void) sk_sequence_am_get(seq->lost_kind, false);
		sk_find_nodes(seq);
		memory = unbind(seq, 0, &report);
		if (memory != NULL)
			require_end_trigger(seq->seqid);
		remember(seq->seqid, memory);
		report_unbound(report);
	}
	sk_binding_announce(object->objectId, label);
	if (label != NULL && seq != NULL)
	{
		/* what is missing in the label is added when the command has ended */
		SkSequenceChange change = {.is_label = true,.label = *sk_label_parse_kind(label)};
		bool		is_memory = strcmp(change.label.kind, SK_LOCAL_KIND) == 0;

		/*
		 * core's identity would stay, and fetch plain counters without the
		 * library
		 */
		if (!is_memory && seq->identity != SK_IDENTITY_NONE)
			require_end_trigger(seq->seqid);
		if (!sk_restoring())
		{
			/* only a dump brings back what a sequence remembers */
			if (is_memory)
				(void) sk_sequence_am_get(SK_LOCAL_KIND, false);
			keep_identity(seq, &change.label, check_change(seq, &change));
		}
		else if (!is_memory)
			sk_sequence_check_mappable(seq->seqid);
	}
}

/*
 * A label by hand need not say what the column was: the label that it replaces does,
 * and is gone when the command has ended.
 */
static void
keep_identity(const SkSequence *seq, const SkLabel *label, SkKind *kind)
{
	SkIdentity	identity = sk_sequence_identity(seq->seqid);

	if (identity == SK_IDENTITY_NONE || !OidIsValid(seq->table) ||
		sk_label_option(label->options, "identity") != NULL)
		return;
	require_end_trigger(seq->seqid);
	kind->options->identity = identity;
	remember(seq->seqid, kind_label(kind));
}

/*
 * Raise an error if a label would stay as it is: an event trigger completes
 * labels when the command ends.
 */
static void
require_end_trigger(Oid seqid)
{
	/* the setting exists from release 17 on */
	const char *setting = GetConfigOption("event_triggers", true, false);
	HeapTuple	tuple = SearchSysCache1(EVENTTRIGGERNAME,
										CStringGetDatum(SK_END_TRIGGER));

	if (!HeapTupleIsValid(tuple) || !IsUnderPostmaster ||
		(setting != NULL && strcmp(setting, "off") == 0) ||
		((Form_pg_event_trigger) GETSTRUCT(tuple))->evtenabled != TRIGGER_FIRES_ALWAYS)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot complete the label of sequence \"%s\" while event triggers are off",
						get_rel_name(seqid)),
				 errhint("Use spanner.alter_sequence().")));
	ReleaseSysCache(tuple);
}

/*
 * Raise an error if a user gives a column another label than its sequence.
 */
static void
check_column_label(Oid table, int32 column, const char *label)
{
	char	   *wanted;

	if (sk_sent_by_citus())
		return;
	wanted = sk_query_text(psprintf("SELECT c.sequence_label FROM " SK_COLUMNS
									" WHERE c.relid OPERATOR(pg_catalog.=) %u"
									" AND c.attnum OPERATOR(pg_catalog.=) %d",
									table, column));
	if (wanted != NULL && (label == NULL || strcmp(label, wanted) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("label of column \"%s\" of table \"%s\" must match the label of its sequence",
						get_attname(table, column, false), get_rel_name(table)),
				 errhint("Use spanner.alter_sequence(), or SECURITY LABEL ON SEQUENCE.")));
}

/*
 * Lock the tables whose columns will get the label of a sequence.
 *
 * Citus makes such a table a distributed one, or not, before or after the
 * change of the label, and not in between.
 */
static void
lock_columns(Oid seqid)
{
	ListCell   *lc;

	if (!sk_citus_exists() || sk_sent_by_citus())
		return;
	foreach(lc, sk_query_texts(psprintf("SELECT c.relid::pg_catalog.text FROM " SK_COLUMNS
										" WHERE c.seqid OPERATOR(pg_catalog.=) %u"
										" GROUP BY c.relid ORDER BY c.relid",
										seqid)))
		LockRelationOid(atooid(lfirst(lc)), ShareUpdateExclusiveLock);
}

static void
remember(Oid seqid, const char *label)
{
	ObjectAddress object;

	ObjectAddressSet(object, RelationRelationId, seqid);
	SetSecurityLabel(&object, SK_MEMORY_PROVIDER, label);
}

/*
 * Set the label that could not be set before, and have labels of columns and
 * sequences agree after a command.
 *
 * While a dump is restored, no label is taken away: the sequence of a column may
 * come later.
 */
static void
follow_labels(Node *command, List *relations)
{
	ListCell   *lc;

	foreach(lc, IsA(command, SecLabelStmt) ? relations : NIL)
	{
		ObjectAddress object;
		char	   *memory;

		ObjectAddressSet(object, RelationRelationId, ((SkCommandRelation *) lfirst(lc))->relid);
		memory = GetSecurityLabel(&object, SK_MEMORY_PROVIDER);
		if (memory == NULL)
			continue;
		remember(object.objectId, NULL);
		set_label(object.objectId, memory);
	}
	if (!IsA(command, SecLabelStmt) && !sk_bindings_exist())
		return;
	if (IsA(command, CreateExtensionStmt) &&
		strcmp(((CreateExtensionStmt *) command)->extname, SK_CITUS) != 0)
		return;
	if (!sk_citus_exists())
		return;
	if (sk_sent_by_citus())
		label_sequences(IsA(command, SecLabelStmt));
	else if (IsA(command, CreateExtensionStmt))
		label_columns("c.sequence_label IS NOT NULL");
	else
		label_columns(psprintf("(c.relid IN %s OR c.seqid IN %s) AND %s",
							   SK_TOUCHED, SK_TOUCHED,
							   sk_restoring() ? "c.sequence_label IS NOT NULL" : "true"));
}

/* Have the columns that meet a condition get the label of their sequence. */
static void
label_columns(const char *condition)
{
	if (run_commands(psprintf("SELECT pg_catalog.format('SECURITY LABEL FOR " SK_LABEL_PROVIDER
							  " ON COLUMN %%s.%%s IS %%L', c.table_name, c.column_name, c.sequence_label)"
							  " FROM " SK_COLUMNS
							  " WHERE c.sequence_label IS DISTINCT FROM c.column_label AND %s",
							  condition)))
		warn_of_old_citus();
}

/*
 * Copy labels of columns to the sequences that they use.  While Citus
 * creates or alters a table, a missing label means nothing yet.
 */
static void
label_sequences(bool and_unbind)
{
	(void) run_commands(psprintf("SELECT pg_catalog.format('SECURITY LABEL FOR " SK_LABEL_PROVIDER
								 " ON SEQUENCE %%s IS %%L', c.seqid::pg_catalog.regclass, pg_catalog.max(c.column_label))"
								 " FROM " SK_COLUMNS
								 " WHERE c.seqid IS NOT NULL GROUP BY c.seqid"
								 " HAVING pg_catalog.bool_or(c.relid IN %s)"
								 " AND pg_catalog.max(c.column_label) IS DISTINCT FROM pg_catalog.max(c.sequence_label)%s",
								 SK_TOUCHED,
								 and_unbind ? "" : " AND pg_catalog.max(c.column_label) IS NOT NULL"));
}

/* Run the commands that a query makes.  Returns false if there are none. */
static bool
run_commands(const char *query)
{
	List	   *commands = sk_query_texts(query);
	ListCell   *lc;

	foreach(lc, commands)
		sk_run_command(lfirst(lc));
	return commands != NIL;
}

static void
warn_of_old_citus(void)
{
	char	   *release = sk_query_text("SELECT extversion FROM pg_catalog.pg_extension"
										" WHERE extname OPERATOR(pg_catalog.=) '" SK_CITUS "'"
										" AND pg_catalog.string_to_array(pg_catalog.split_part(extversion, '-', 1), '.')::pg_catalog.int4[]"
										" OPERATOR(pg_catalog.<) '" SK_CITUS_RELEASE "'");

	if (release != NULL)
		ereport(WARNING,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("kinds of sequences do not reach the workers of Citus %s",
						release),
				 errdetail("Rows that are inserted through workers get plain counters."),
				 errhint("Update Citus to release 13.1 or later.")));
}
