/*-------------------------------------------------------------------------
 *
 * sequence_change.c
 *	  The one way in which the kind, the options or the counter change.
 *
 * A caller fills in what is to change.  The rest is the same for all: the new
 * kind is put together, values that could be given twice are found, the label
 * is written, the counter is set, and the column draws from the sequence as
 * its kind needs it.
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

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "common/int.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/column_label.h"
#include "sequence/redirect/identity_column.h"
#include "sequence/registry.h"
#include "sequence/sequence_change.h"
#include "sequence/widths.h"

/*
 * How many plain counters to expect of code in C, which goes on with them when
 * the sequence gets its kind.
 */
#define SK_WAITING_DRAWS 1000

/*
 * How many draws to look ahead for close values.  Bit-reversed values come
 * closer as the counter grows; this finds those that start narrow.
 */
#define SK_FORESEEN_DRAWS 65536

static void report_always(const SkSequence *seq);
static SkKind *make_kind(SkSequence *seq, const SkSequenceChange *change);
static void inherit_skip_range(SkLabel *label, const SkSequenceOptions *old);
static void set_options(SkLabel *label, List *options);
static void widen(SkSequence *seq, const SkLabel *label);
static void keep_values_unique(const SkSequence *seq, SkKind *new,
							   const SkSequenceChange *change);
static void keep_skip_range(const SkSequence *seq, const SkKind *new);
static int64 last_given_value(const SkSequence *seq);
static bool pass_over(const SkSequence *seq, SkKind *new, int64 last,
					  const SkSequenceChange *change);
static void refuse_skip_range(const SkSequence *seq);
static void warn_of_given_values(const SkSequence *seq, const char *detail,
								 int64 counter, const char *hint);
static void refuse_new_mapping(const SkSequence *seq, const char *hint);
static void restart_counter(const SkSequence *seq,
							const SkSequenceChange *change);
static DefElem *counter_option(const char *name, int64 counter);
static void alter_core_sequence(const SkSequence *seq, List *options);
static bool blocks_overlap(const SkSequence *seq, const SkKind *kind);

/*
 * sk_change_sequence
 *		Change a sequence that sk_sequence_lock() has opened, or a new one.
 */
void
sk_change_sequence(SkSequence *seq, const SkSequenceChange *change)
{
	SkKind	   *new = sk_check_change(seq, change);
	char	   *label = new != NULL ? sk_kind_label(new) : NULL;

	/* nobody draws from here to the end of the transaction */
	Assert(sk_relation_is_locked(seq->seqid, ShareRowExclusiveLock));
	Assert(!change->restarts || change->counter >= 1);
	Assert(new == NULL || new->options->bits <= seq->width);
	if (new != NULL && (seq->kind == NULL || change->restarts))
		sk_check_counter_has_value(get_rel_name(seq->seqid),
								   change->restarts ? change->counter : seq->next,
								   new->options);
	if (new != NULL)
		sk_report_overlap(seq, new);
	/* the label says what the column was, so it is read before it goes */
	if (new == NULL)
		sk_report_left(sk_leave_kind(seq, change->restarts ? change->counter : 0,
									 NIL));
	sk_binding_set(seq->seqid, label);
	elog(DEBUG1, "sequence \"%s\" at counter %lld: label \"%s\"",
		 get_rel_name(seq->seqid), (long long) seq->next,
		 label != NULL ? label : "");
	/* the label of a column is a copy of the one that has just been written */
	sk_label_columns(seq->seqid);
	/* sessions with values in their cache draw anew under the new label only */
	if (change->restarts)
		restart_counter(seq, change);

	/*
	 * core's identity would draw plain counters: it goes when there is a
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
		sk_check_references(seq, new->options->bits);
	/* what other nodes may have given counts as given */
	sk_find_nodes(seq);
	/* it comes last, as it can add a skip range to the kind that was made */
	keep_values_unique(seq, new, change);
	return new;
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

	/* nobody knows what a lost kind has given */
	if (seq->lost_kind != NULL && !(change->restarts && change->kind != NULL))
		(void) sk_sequence_am_get(seq->lost_kind);
	if (change->kind != NULL ? strcmp(change->kind, SK_LOCAL_KIND) == 0 :
		seq->kind == NULL)
	{
		if (change->options != NIL || change->no_skip_range)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("sequence \"%s\" has no kind that takes options",
							get_rel_name(seq->seqid)),
					 errhint("Give kind => 'bit_reversed_positive' as well.")));
		return NULL;
	}

	label->kind = change->kind;
	if (!change->is_label && seq->kind != NULL &&
		(change->kind == NULL ||
		 pg_strcasecmp(change->kind, seq->kind->am->name) == 0))
		label = sk_kind_parts(seq->kind);
	if (change->no_skip_range)
	{
		sk_label_unset(label, "skip_range_min");
		sk_label_unset(label, "skip_range_max");
	}
	else if (!change->is_label && seq->kind != NULL && label->kind == change->kind)
		inherit_skip_range(label, seq->kind->options);
	set_options(label, change->options);
	sk_fit_columns(seq, label, change->options);
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

/* What another kind passed over was there before: rows, as a rule. */
static void
inherit_skip_range(SkLabel *label, const SkSequenceOptions *old)
{
	if (!old->has_skip_range)
		return;
	sk_label_set(label, "skip_range_min", psprintf(INT64_FORMAT, old->skip_range_min));
	sk_label_set(label, "skip_range_max", psprintf(INT64_FORMAT, old->skip_range_max));
}

/* An option that is given twice is left to be refused. */
static void
set_options(SkLabel *label, List *options)
{
	ListCell   *lc;

	sk_label_check_options(options);
	foreach(lc, options)
		sk_label_unset(label, ((SkOption *) lfirst(lc))->name);
	label->options = list_concat(label->options, list_copy(options));
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
 * What has been given lies between 1 and some last value.  The sequence passes
 * over all of that, unless too little would be left.
 */
static void
keep_values_unique(const SkSequence *seq, SkKind *new,
				   const SkSequenceChange *change)
{
	int64		last;

	if ((seq->kind == NULL && new == NULL) ||
		(seq->kind != NULL && new != NULL &&
		 sk_kind_same_mapping(seq->kind, new)))
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
		warn_of_given_values(seq, "It has given values up to %lld.", last,
							 "Use spanner.alter_sequence(), which has them passed over.");
	else if (last < new->options->max_counter && pass_over(seq, new, last, change))
		return;
	else if (change->restarts)
		warn_of_given_values(seq, "It has given values up to %lld.", last,
							 "Use a new sequence for keys that must stay unique.");
	else
		refuse_new_mapping(seq, "Create a new sequence, or give restart_counter_with as well if repeated values do no harm.");
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
 * Have a sequence pass over the values that it may have given.  Returns false if
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
		double		waiting = (double) SK_WAITING_DRAWS *
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
warn_of_given_values(const SkSequence *seq, const char *detail, int64 counter,
					 const char *hint)
{
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("sequence \"%s\" may later give values that it has given before",
					get_rel_name(seq->seqid)),
			 errdetail(detail, (long long) counter),
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

/*
 * sk_check_start_counter
 *		Raise Spanner's error for a counter that is not positive.
 */
void
sk_check_start_counter(int64 counter)
{
	if (counter < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("`start_with_counter` has to be a positive INT64 number")));
}

/*
 * sk_check_counter_has_value
 *		Raise an error if a counter to begin with is beyond the last one.
 */
void
sk_check_counter_has_value(const char *name, int64 counter,
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

/*
 * sk_overlap_obstacle
 *		Report that values of a new sequence can be closer than its increment.
 *
 * NULL if they cannot.
 */
const SkObstacle *
sk_overlap_obstacle(const SkSequence *seq, const SkKind *kind)
{
	long long	increment = seq->form.seqincrement;
	SkObstacle *result;

	if (!blocks_overlap(seq, kind))
		return NULL;

	result = palloc0(sizeof(SkObstacle));
	result->detail = psprintf("With INCREMENT BY %lld, values of kind \"%s\" can be closer than %lld, and a client that makes a block of ids of each value would make ids twice.",
							  increment, sk_sequence_am_name(kind->am), increment);
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

	if (pg_mul_s64_overflow(increment, SK_FORESEEN_DRAWS, &last) ||
		pg_add_s64_overflow(last, seq->form.seqstart, &last))
		last = PG_INT64_MAX;
	last = Min(last, Min(kind->options->max_counter, seq->form.seqmax));
	return kind->am->least_distance(kind->options, increment, last) < increment;
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
