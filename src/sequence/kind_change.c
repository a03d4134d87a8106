/*-------------------------------------------------------------------------
 *
 * kind_change.c
 *	  Changing the kind of a sequence that has been used.
 *
 * Values could repeat, so it takes a restart of the counter by somebody who
 * knows that this does no harm.
 *
 * src/sequence/kind_change.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "sequence/binding.h"
#include "sequence/counter.h"
#include "sequence/kind_change.h"
#include "sequence/registry.h"

static bool same_mapping(Oid seqid, SkLabel *old, SkLabel *new);
static void warn_of_given_values(Oid seqid, SkLabel *new, int64 next);
static void report_change(Oid seqid, const char *hint);

/*
 * sk_check_same_mapping
 *		Raise an error if a used sequence would give other values than before.
 */
void
sk_check_same_mapping(Oid seqid, SkLabel *old, SkLabel *new)
{
	if (!same_mapping(seqid, old, new))
		report_change(seqid, "Create a new sequence, or give restart_counter_with as well if repeated values do no harm.");
}

/*
 * sk_check_label_change
 *		The same for a label that a user sets with SECURITY LABEL.
 *
 * A dump labels sequences before it sets their counters; in a restore
 * anything goes.  NULL, which removes the label, is allowed.
 */
void
sk_check_label_change(Oid seqid, const char *label)
{
	char	   *stored = sk_binding_label(seqid);
	const char *problem;
	SkLabel    *old;
	SkLabel    *new;
	int64		next;
	bool		used;

	if (label == NULL || !check_function_bodies ||
		!sk_counter_state(seqid, &next, &used) || !used)
		return;
	new = sk_label_parse(label, &problem);
	if (stored == NULL)
	{
		warn_of_given_values(seqid, new, next);
		return;
	}
	old = sk_label_parse(stored, &problem);
	if (old != NULL && new != NULL && !same_mapping(seqid, old, new))
		report_change(seqid, "Use spanner.alter_sequence(), which can restart the counter.");
}

/* A plain counter that has been given can be a value later. */
static void
warn_of_given_values(Oid seqid, SkLabel *new, int64 next)
{
	SkSequenceOptions *options =
		sk_sequence_am_parse(sk_sequence_am_get(new->kind), new->options,
							 sk_sequence_width(seqid));

	if (options->has_skip_range && options->skip_range_min <= 1 &&
		options->skip_range_max >= next - 1)
		return;
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("sequence \"%s\" may later give values that it has given before",
					get_rel_name(seqid)),
			 errdetail("It has given values up to %lld.",
					   (long long) (next - 1)),
			 errhint("Use spanner.alter_sequence(), which has them passed over.")));
}

/* Do two labels map every counter to the same value? */
static bool
same_mapping(Oid seqid, SkLabel *old, SkLabel *new)
{
	int			width = sk_sequence_width(seqid);
	const SequenceAccessMethod *old_am = sk_sequence_am_get(old->kind);
	const SequenceAccessMethod *new_am = sk_sequence_am_get(new->kind);
	SkSequenceOptions *old_options;
	SkSequenceOptions *new_options;

	if (old_am != new_am)
		return false;

	old_options = sk_sequence_am_parse(old_am, old->options, width);
	new_options = sk_sequence_am_parse(new_am, new->options, width);
	old_options->has_skip_range = new_options->has_skip_range = false;
	old_options->identity = new_options->identity = SK_IDENTITY_NONE;
	return strcmp(sk_label_format("", sk_sequence_am_describe(old_am, old_options)),
				  sk_label_format("", sk_sequence_am_describe(new_am, new_options))) == 0;
}

static void
report_change(Oid seqid, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot change the kind of sequence \"%s\", which has been used",
					get_rel_name(seqid)),
			 errdetail("It could give values that it has given before."),
			 errhint("%s", hint)));
}
