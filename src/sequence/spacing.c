/*-------------------------------------------------------------------------
 *
 * spacing.c
 *	  How close to each other the values of a sequence are.
 *
 * Some clients create a sequence with an INCREMENT of, say, 50, and make 50
 * ids of each value: those below it, or those above.  That is right for
 * values that are at least 50 apart.  Those of a plain counter are.  Whether
 * mapped ones are depends on the kind, its options and the increment, and is
 * asked of the access method.
 *
 * src/sequence/spacing.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/int.h"
#include "utils/lsyscache.h"

#include "sequence/registry.h"
#include "sequence/spacing.h"

/*
 * How many draws are looked at.  Bit-reversed values come closer as the
 * counter grows; this finds those that start narrow.
 */
#define SK_FORESEEN_DRAWS 65536

static bool blocks_overlap(const SkSequence *seq, const SkKind *kind);

/*
 * sk_overlap_obstacle
 *		Tell that values of a new sequence can be closer than its increment.
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
 *		Tell if values of a bound sequence can be closer than its increment.
 *
 * Not while a dump is restored, since whoever made the sequence was told.
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
