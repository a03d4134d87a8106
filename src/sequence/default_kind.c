/*-------------------------------------------------------------------------
 *
 * default_kind.c
 *	  The kind of new sequences: spanner.default_sequence_kind.
 *
 * src/sequence/default_kind.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "port/pg_bitutils.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "sequence/column_label.h"
#include "sequence/default_kind.h"
#include "sequence/registry.h"
#include "sequence/sequence_change.h"
#include "sequence/widths.h"
#include "spanner_keys.h"

static char *default_kind = "";
static char *other_prefix = "";

static bool refuse_other_prefix(char **newval, void **extra, GucSource source);
static bool check_default_kind(char **newval, void **extra, GucSource source);
static bool is_local(const char *kind);
static void name_setting(void *arg);
static const SkObstacle *bind_new_sequence(Oid seqid, SkIdentity identity);
static int	limited_bits(const SkSequence *seq, int width);

/*
 * sk_sequence_settings
 *		Define the setting.
 */
void
sk_sequence_settings(void)
{
	DefineCustomStringVariable("spanner.default_sequence_kind",
							   "Sets the kind of new sequences and identity columns.",
							   "Empty or \"local\" means PostgreSQL's own sequences.",
							   &default_kind,
							   "",
							   PGC_USERSET,
							   0,
							   check_default_kind, NULL, NULL);

	/* Other settings have this prefix, so users try it for this one too. */
	DefineCustomStringVariable("spanner_keys.default_sequence_kind",
							   "Points to spanner.default_sequence_kind.",
							   NULL,
							   &other_prefix,
							   "",
							   PGC_USERSET,
							   GUC_NO_SHOW_ALL | GUC_NO_RESET_ALL | GUC_NOT_IN_SAMPLE,
							   refuse_other_prefix, NULL, NULL);
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
	sk_define_settings();
	return is_local(default_kind) || sk_sent_by_citus() ? NULL : default_kind;
}

static bool
refuse_other_prefix(char **newval, void **extra, GucSource source)
{
	if (**newval == '\0')
		return true;
	GUC_check_errcode(ERRCODE_UNDEFINED_OBJECT);
	GUC_check_errmsg("unrecognized configuration parameter \"%s\"",
					 "spanner_keys.default_sequence_kind");
	GUC_check_errhint("Set \"%s\", which has Spanner's prefix.",
					  "spanner.default_sequence_kind");
	return false;
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
	if (!sk_settings_defined || is_local(*newval))
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
	if (limited_bits(seq, seq->width) < SK_MIN_BITS)
		return &no_value;

	sk_fit_label(label, seq, sk_references_width(seq));
	kind = sk_kind_make(label, seq->width);
	if (!sk_kind_reaches_value(kind, seq->form.seqstart))
		return &no_value;
	obstacle = sk_overlap_obstacle(seq, kind);
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
 * sk_fit_label
 *		Give a label no more bits and stripes than fit.
 *
 * Neither the type nor the MAXVALUE of the sequence is exceeded, nor the columns
 * that store its values, nor "width".
 */
void
sk_fit_label(SkLabel *label, const SkSequence *seq, int width)
{
	int64		bits = Min(limited_bits(seq, width),
						   sk_label_int64(label->options, "bits", 63));
	int64		stripes = sk_label_int64(label->options, "stripes", 0);

	sk_label_set(label, "bits", psprintf(INT64_FORMAT, bits));
	if (bits >= SK_MIN_BITS && stripes >> bits > 0)
		sk_label_unset(label, "stripes");
}

/* How many bits the values of a sequence can have within its MAXVALUE. */
static int
limited_bits(const SkSequence *seq, int width)
{
	/* of a sequence that ascends; sk_sequence_obstacle() is asked before */
	Assert(seq->form.seqmax >= 1);
	return Min(Min(width, Min(seq->width, seq->column_width)),
			   pg_leftmost_one_pos64((uint64) seq->form.seqmax + 1));
}
