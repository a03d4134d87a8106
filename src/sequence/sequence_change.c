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

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
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
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/column_label.h"
#include "sequence/redirect/identity_column.h"
#include "sequence/sequence_change.h"
#include "spi/run_command.h"

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

PG_FUNCTION_INFO_V1(spanner_create_sequence);
PG_FUNCTION_INFO_V1(spanner_alter_sequence);

/* Arguments of spanner.create_sequence(), by position. */
enum
{
	CREATE_NAME,
	CREATE_KIND,
	CREATE_START,
	CREATE_SKIP_MIN,
	CREATE_SKIP_MAX,
	CREATE_BITS,
	CREATE_STRIPES,
	CREATE_IF_NOT_EXISTS
};

/* Arguments of spanner.alter_sequence(), by position. */
enum
{
	ALTER_SEQUENCE,
	ALTER_KIND,
	ALTER_SKIP_MIN,
	ALTER_SKIP_MAX,
	ALTER_NO_SKIP,
	ALTER_RESTART,
	ALTER_BITS,
	ALTER_STRIPES
};

static char *default_kind = "";
static bool setting_is_defined = false;

static bool check_default_kind(char **newval, void **extra, GucSource source);
static bool is_local(const char *kind);
static void name_setting(void *arg);
static const SkObstacle *bind_new_sequence(Oid seqid, SkIdentity identity);
static const SkObstacle *overlap_obstacle(const SkSequence *seq, const SkKind *kind);
static bool blocks_overlap(const SkSequence *seq, const SkKind *kind);
static void report_always(const SkSequence *seq);
static SkKind *make_kind(SkSequence *seq, const SkSequenceChange *change);
static void inherit_skip_range(SkLabel *label, const SkSequenceOptions *old);
static void set_options(SkLabel *label, List *options);
static void widen(SkSequence *seq, const SkLabel *label);
static void keep_values_unique(const SkSequence *seq, SkKind *new, const SkSequenceChange *change);
static void keep_skip_range(const SkSequence *seq, const SkKind *new);
static int64 last_given_value(const SkSequence *seq);
static bool pass_over(const SkSequence *seq, SkKind *new, int64 last, const SkSequenceChange *change);
static void refuse_skip_range(const SkSequence *seq);
static void warn_of_given_values(const SkSequence *seq, const char *detail, int64 counter, const char *hint);
static void refuse_new_mapping(const SkSequence *seq, const char *hint);
static void check_counter_has_value(const char *name, int64 counter, const SkSequenceOptions *options);
static void restart_counter(const SkSequence *seq, const SkSequenceChange *change);
static DefElem *counter_option(const char *name, int64 counter);
static void alter_core_sequence(const SkSequence *seq, List *options);
static void refuse_bits(const SkSequence *seq, int bits, bool is_used);
static void refuse_type(const SkSequence *seq, Oid type);
static char *restart_statement(Oid seqid, int bits);
static int	references_width(SkSequence *seq);
static void check_references(SkSequence *seq, int bits);
static List *referring_columns(const SkSequence *seq);
static List *add_foreign_keys(List *columns, Oid relid, AttrNumber attnum);
static char *widening_statements(List *columns, int bits);
static void take_kind(SkSequenceChange *change, const char *kind);
static void take_option(SkSequenceChange *change, FunctionCallInfo fcinfo, int argument, const char *name);
static Oid	make_core_sequence(RangeVar *name, bool has_start, int64 start, bool if_not_exists, bool *existed);
static Oid	create_sequence(RangeVar *name, SkSequenceChange *change, bool if_not_exists);
static void check_start_counter(int64 counter);

/*
 * sk_default_kind_init
 *		Define the setting.
 */
void
sk_default_kind_init(void)
{
	DefineCustomStringVariable("spanner.default_sequence_kind",
							   "Sets the kind of new sequences and identity columns.",
							   "Empty or \"local\" means PostgreSQL's own sequences.",
							   &default_kind,
							   "",
							   PGC_USERSET,
							   0,
							   check_default_kind, NULL, NULL);
	setting_is_defined = true;
}

/*
 * sk_default_sequence_kind
 *		The label that new sequences get, or NULL if they stay as they are.
 *
 * A table that Citus sends to another node brings the kinds of its sequences
 * along: see column_label.c.
 */
char *
sk_default_sequence_kind(void)
{
	return is_local(default_kind) || sk_sent_by_citus() ? NULL : default_kind;
}

/*
 * sk_bind_new_sequence
 *		Give a sequence that has not been used the default kind, if it fits.
 *
 * "identity" is that of the column that the sequence is made for.  Returns
 * NULL, or what the sequence is left alone for.  The command need not mention
 * the kind, so the context of errors does.
 */
const SkObstacle *
sk_bind_new_sequence(Oid seqid, SkIdentity identity)
{
	ErrorContextCallback context = {error_context_stack, name_setting, NULL};
	const SkObstacle *obstacle;

	error_context_stack = &context;
	obstacle = bind_new_sequence(seqid, identity);
	error_context_stack = context.previous;
	return obstacle;
}

/*
 * sk_report_left_alone
 *		Report that a new sequence does not get the default kind.
 */
void
sk_report_left_alone(Oid seqid, const SkObstacle *obstacle)
{
	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg("sequence \"%s\" keeps its plain counter",
					get_rel_name(seqid)),
			 errdetail("%s", obstacle->detail),
			 errhint("%s", obstacle->hint)));
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

	/* nobody draws from here to the end of the transaction */
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
		refuse_bits(seq, seq->kind->options->bits, true);
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
 * A value that was set before the library was loaded is kept whatever it is:
 * the command that would use it fails then, whereas falling back to plain
 * sequences would go unnoticed.
 */
static bool
check_default_kind(char **newval, void **extra, GucSource source)
{
	const char *problem;
	SkLabel    *label;

	sk_label_fold_case(*newval);
	if (!setting_is_defined || is_local(*newval))
		return true;
	/* ALTER SYSTEM checks what a file will contain; a restart has no catalogs */
	if (source != PGC_S_SESSION && source != PGC_S_TEST &&
		!(source == PGC_S_FILE && IsTransactionState()))
		return true;

	label = sk_label_parse(*newval, &problem);
	if (label != NULL && sk_sequence_am_find(label->kind) != NULL)
	{
		/* options that no sequence can have raise their own errors */
		(void) sk_kind_make(label, 63);
		return true;
	}

	GUC_check_errcode(ERRCODE_INVALID_PARAMETER_VALUE);
	GUC_check_errmsg("Invalid Sequence Kind: %s.", sk_label_excerpt(*newval));
	if (label == NULL)
		GUC_check_errdetail("%s", problem);
	GUC_check_errhint("Use \"local\", or one of the kinds that this session knows: %s.",
					  sk_sequence_am_names());
	return false;
}

static bool
is_local(const char *kind)
{
	return kind[0] == '\0' || strcmp(kind, SK_LOCAL_KIND) == 0;
}

static void
name_setting(void *arg)
{
	errcontext("default kind of new sequences, from setting \"%s\"",
			   "spanner.default_sequence_kind");
}

static const SkObstacle *
bind_new_sequence(Oid seqid, SkIdentity identity)
{
	static const SkObstacle no_value = {
		NULL,
		"From its START on, the default kind has no value within its MAXVALUE.",
		"Use a larger MAXVALUE or a smaller START, or the sequence kind \"local\"."
	};
	SkSequence *seq = sk_sequence_read(seqid);
	SkLabel    *label = sk_label_parse_kind(default_kind);
	const SkObstacle *obstacle = sk_sequence_obstacle(&seq->form);
	SkSequenceChange change = {0};
	SkKind	   *kind;

	if (obstacle != NULL)
		return obstacle;
	if (sk_fit_label(label, seq, references_width(seq)) < SK_MIN_BITS)
		return &no_value;

	kind = sk_kind_make(label, seq->width);
	if (!sk_kind_reaches_value(kind, seq->form.seqstart))
		return &no_value;
	obstacle = overlap_obstacle(seq, kind);
	if (obstacle != NULL)
		return obstacle;

	if (identity != SK_IDENTITY_NONE)
		sk_label_set(label, "identity", identity == SK_IDENTITY_ALWAYS ?
					 "always" : "by_default");
	change.kind = label->kind;
	change.options = label->options;
	sk_change_sequence(seq, &change);
	return NULL;
}

/*
 * That values of a new sequence can be closer than its increment; NULL if they
 * cannot.
 */
static const SkObstacle *
overlap_obstacle(const SkSequence *seq, const SkKind *kind)
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
	bits = sk_label_int64(change->options, "bits", 0);
	if (seq->column_width < 63 && bits > seq->column_width)
		refuse_bits(seq, (int) Min(bits, 63), false);
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

/*
 * Refuse values that the narrowest column does not hold; of a used sequence, if
 * it would have to give other values than before.
 */
static void
refuse_bits(const SkSequence *seq, int bits, bool is_used)
{
	const ObjectAddress *column = sk_narrowest_column(seq->columns);
	Oid			type = get_atttype(column->objectId, column->objectSubId);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("column \"%s\" of table \"%s\" does not hold values of %d bits",
					get_attname(column->objectId, column->objectSubId, false),
					get_rel_name(column->objectId), bits),
			 !is_used ? 0 :
			 errdetail("Sequence \"%s\" has been used, and gives such values; type %s holds %d bits.",
					   get_rel_name(seq->seqid), format_type_be(type),
					   seq->column_width),
			 !is_used ?
			 errhint("Change the column to a wider type first.") :
			 errhint("Use a wider type, or, if no value that it has given is in use, run %s first.",
					 restart_statement(seq->seqid, seq->column_width))));
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

/* How many value bits the columns hold that refer to ids of a sequence. */
static int
references_width(SkSequence *seq)
{
	if (seq->reference_width == 0)
		seq->reference_width = sk_narrowest_width(referring_columns(seq));
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
	narrowest = sk_narrowest_column(columns);
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
					columns = sk_add_column(columns, form->conrelid, referring[i]);
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

/* Take over a kind, which may come with options as in a label. */
static void
take_kind(SkSequenceChange *change, const char *kind)
{
	SkLabel    *label = sk_label_parse_kind(kind);

	change->kind = label->kind;
	change->options = label->options;
	if (strcmp(label->kind, SK_LOCAL_KIND) != 0 || label->options != NIL)
		(void) sk_sequence_am_get(label->kind);
}

/* Take over an integer or bigint argument, if it is not NULL. */
static void
take_option(SkSequenceChange *change, FunctionCallInfo fcinfo, int argument,
			const char *name)
{
	SkLabel		label = {change->kind, change->options};
	int64		value;

	if (PG_ARGISNULL(argument))
		return;
	if (get_fn_expr_argtype(fcinfo->flinfo, argument) == INT4OID)
		value = PG_GETARG_INT32(argument);
	else
		value = PG_GETARG_INT64(argument);
	sk_label_set(&label, name, psprintf(INT64_FORMAT, value));
	change->options = label.options;
}

/*
 * Run CREATE SEQUENCE, as an unbound sequence whatever the default kind is.
 */
static Oid
make_core_sequence(RangeVar *name, bool has_start, int64 start,
				   bool if_not_exists, bool *existed)
{
	Oid			namespace = RangeVarGetCreationNamespace(name);
	Oid			seqid = get_relname_relid(name->relname, namespace);
	StringInfoData command;
	int			nest_level;

	*existed = OidIsValid(seqid) && if_not_exists;
	if (*existed && get_rel_relkind(seqid) != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a sequence", name->relname)));
	if (OidIsValid(seqid) && !if_not_exists)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", name->relname)));

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE SEQUENCE %s%s",
					 if_not_exists ? "IF NOT EXISTS " : "",
					 quote_qualified_identifier(get_namespace_name(namespace),
												name->relname));
	if (has_start)
		appendStringInfo(&command, " START WITH " INT64_FORMAT, start);

	nest_level = NewGUCNestLevel();
	(void) set_config_option("spanner.default_sequence_kind", "",
							 PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	sk_run_command(command.data);
	AtEOXact_GUC(true, nest_level);
	return get_relname_relid(name->relname, namespace);
}

/* Create a sequence of the kind that "change" has to name. */
static Oid
create_sequence(RangeVar *name, SkSequenceChange *change, bool if_not_exists)
{
	SkLabel		label;
	SkKind	   *kind;
	bool		existed;
	Oid			seqid;

	if (change->kind == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("The sequence does not have a valid sequence kind. Please specify the sequence kind explicitly or set the database option `default_sequence_kind`."),
				 errhint("Name a kind, such as BIT_REVERSED_POSITIVE, or set spanner.default_sequence_kind.")));
	if (change->restarts)
		check_start_counter(change->counter);

	label.kind = change->kind;
	label.options = change->options;
	kind = sk_kind_make(&label, 63);
	if (change->restarts)
		check_counter_has_value(name->relname, change->counter, kind->options);

	seqid = make_core_sequence(name, change->restarts, change->counter,
							   if_not_exists, &existed);
	Assert(OidIsValid(seqid));
	change->restarts = false;
	if (!existed)
		sk_change_sequence(sk_sequence_read(seqid), change);
	return seqid;
}

/* Raise Spanner's error for a counter that is not positive. */
static void
check_start_counter(int64 counter)
{
	if (counter < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("`start_with_counter` has to be a positive INT64 number")));
}

/*
 * spanner.create_sequence(name text, kind text, start_with_counter bigint,
 *		skip_range_min bigint, skip_range_max bigint, bits integer,
 *		stripes integer, if_not_exists boolean) returns regclass
 *
 * All but the name may be NULL.  The kind is that of the setting
 * spanner.default_sequence_kind if none is given.
 */
Datum
spanner_create_sequence(PG_FUNCTION_ARGS)
{
	SkSequenceChange change = {0};
	RangeVar   *name;

	if (PG_ARGISNULL(CREATE_NAME))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"name\" must not be null")));
	PreventCommandIfReadOnly("spanner.create_sequence()");
	name = sk_parse_name(text_to_cstring(PG_GETARG_TEXT_PP(CREATE_NAME)));

	if (!PG_ARGISNULL(CREATE_KIND))
		take_kind(&change, text_to_cstring(PG_GETARG_TEXT_PP(CREATE_KIND)));
	else if (sk_default_sequence_kind() != NULL)
		take_kind(&change, sk_default_sequence_kind());
	take_option(&change, fcinfo, CREATE_BITS, "bits");
	take_option(&change, fcinfo, CREATE_SKIP_MIN, "skip_range_min");
	take_option(&change, fcinfo, CREATE_SKIP_MAX, "skip_range_max");
	take_option(&change, fcinfo, CREATE_STRIPES, "stripes");
	change.restarts = !PG_ARGISNULL(CREATE_START);
	if (change.restarts)
		change.counter = PG_GETARG_INT64(CREATE_START);

	PG_RETURN_OID(create_sequence(name, &change,
								  !PG_ARGISNULL(CREATE_IF_NOT_EXISTS) &&
								  PG_GETARG_BOOL(CREATE_IF_NOT_EXISTS)));
}

/*
 * spanner.alter_sequence(sequence regclass, kind text,
 *		skip_range_min bigint, skip_range_max bigint, no_skip_range boolean,
 *		restart_counter_with bigint, bits integer, stripes integer)
 * returns void
 *
 * Changes what is not NULL.  Kind 'local' makes a core sequence of it again.
 * Only the owner may do it.
 */
Datum
spanner_alter_sequence(PG_FUNCTION_ARGS)
{
	SkSequenceChange change = {0};
	SkSequence *seq;
	ListCell   *lc;

	if (PG_ARGISNULL(ALTER_SEQUENCE))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"sequence\" must not be null")));
	PreventCommandIfReadOnly("spanner.alter_sequence()");

	if (!PG_ARGISNULL(ALTER_KIND))
		take_kind(&change, text_to_cstring(PG_GETARG_TEXT_PP(ALTER_KIND)));
	change.no_skip_range = !PG_ARGISNULL(ALTER_NO_SKIP) &&
		PG_GETARG_BOOL(ALTER_NO_SKIP);
	take_option(&change, fcinfo, ALTER_BITS, "bits");
	take_option(&change, fcinfo, ALTER_SKIP_MIN, "skip_range_min");
	take_option(&change, fcinfo, ALTER_SKIP_MAX, "skip_range_max");
	take_option(&change, fcinfo, ALTER_STRIPES, "stripes");
	change.restarts = !PG_ARGISNULL(ALTER_RESTART);
	if (change.restarts)
		change.counter = PG_GETARG_INT64(ALTER_RESTART);

	seq = sk_sequence_lock(PG_GETARG_OID(ALTER_SEQUENCE), NoLock,
						   change.kind != NULL);
	if (change.restarts)
		check_start_counter(change.counter);
	foreach(lc, change.options)
	{
		if (change.no_skip_range &&
			strncmp(((SkOption *) lfirst(lc))->name, "skip_range_", 11) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a skip range cannot be both set and removed")));
	}
	sk_change_sequence(seq, &change);
	PG_RETURN_VOID();
}
