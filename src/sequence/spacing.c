/*-------------------------------------------------------------------------
 *
 * spacing.c
 *	  How close to each other the values of a sequence are.
 *
 * Some clients create a sequence with an INCREMENT of, say, 50, and make 50
 * ids of each value: those below it, or those above.  That is right for
 * values that are at least 50 apart.  Those of a plain counter are.  Whether
 * mapped ones are depends on the kind, its options and the increment, and is
 * found out by mapping counters.
 *
 * src/sequence/spacing.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "common/int.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "sequence/spacing.h"

/*
 * How many values are compared.  Two values of one stripe come within as many
 * draws as there are stripes, so that one more than the most stripes tells
 * the truth for ever about a striped sequence.  Values of a bit-reversed one
 * come closer as the counter grows; this finds those that start narrow.
 */
#define SK_COMPARED_VALUES (65536 + 1)

static bool blocks_overlap(Oid seqid, const SequenceAccessMethod *am,
						   const SkSequenceOptions *options);
static int	map_first_values(const FormData_pg_sequence *form,
							 const SequenceAccessMethod *am,
							 const SkSequenceOptions *options, int64 *values);
static int	compare_values(const void *a, const void *b);

/*
 * sk_overlap_obstacle
 *		Tell that values of a new sequence would be closer than its increment.
 *
 * NULL if they would not.
 */
const SkObstacle *
sk_overlap_obstacle(Oid seqid, const SequenceAccessMethod *am,
					const SkSequenceOptions *options)
{
	long long	increment = sk_read_sequence(seqid).seqincrement;
	SkObstacle *result;

	if (!blocks_overlap(seqid, am, options))
		return NULL;

	result = palloc0(sizeof(SkObstacle));
	result->detail = psprintf("With INCREMENT BY %lld, values of kind \"%s\" are closer than %lld, and a client that makes a block of ids of each value would make ids twice.",
							  increment, am->name, increment);
	result->hint = "Use INCREMENT BY 1, or kind \"bit_reversed_positive\" with enough bits; for other uses of the increment, spanner.alter_sequence() or spanner.convert_column() gives the kind all the same.";
	return result;
}

/*
 * Are values of a sequence closer than its increment?
 *
 * "am" and "options" say how they are or would be mapped.
 */
static bool
blocks_overlap(Oid seqid, const SequenceAccessMethod *am,
			   const SkSequenceOptions *options)
{
	FormData_pg_sequence form = sk_read_sequence(seqid);
	int64	   *values;
	int			count;
	bool		result = false;

	if (form.seqincrement <= 1)
		return false;

	values = palloc(sizeof(int64) * SK_COMPARED_VALUES);
	count = map_first_values(&form, am, options, values);
	qsort(values, count, sizeof(int64), compare_values);
	for (int i = 1; i < count && !result; i++)
		result = values[i] - values[i - 1] < form.seqincrement;
	pfree(values);
	return result;
}

/*
 * sk_read_sequence
 *		The parameters of a sequence.
 */
FormData_pg_sequence
sk_read_sequence(Oid seqid)
{
	HeapTuple	tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(seqid));
	FormData_pg_sequence result;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for sequence %u", seqid);
	result = *(Form_pg_sequence) GETSTRUCT(tuple);
	ReleaseSysCache(tuple);
	return result;
}

/* Returns how many there are. */
static int
map_first_values(const FormData_pg_sequence *form,
				 const SequenceAccessMethod *am,
				 const SkSequenceOptions *options, int64 *values)
{
	int64		last = Min(options->max_counter, form->seqmax);
	int64		counter = form->seqstart;
	int			count = 0;

	for (int i = 0; i < SK_COMPARED_VALUES && counter <= last; i++)
	{
		if (am->nextval(options, counter, &values[count]))
			count++;
		if (pg_add_s64_overflow(counter, form->seqincrement, &counter))
			break;
	}
	return count;
}

static int
compare_values(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/*
 * sk_report_overlap
 *		Tell if values of a bound sequence are closer than its increment.
 *
 * Not while a dump is restored, since whoever made the sequence was told.
 */
void
sk_report_overlap(Oid seqid, const SequenceAccessMethod *am,
				  const SkSequenceOptions *options)
{
	if (sk_restoring() || !blocks_overlap(seqid, am, options))
		return;
	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg("values of sequence \"%s\" are closer than its increment of %lld",
					get_rel_name(seqid),
					(long long) sk_read_sequence(seqid).seqincrement),
			 errdetail("A client that makes a block of ids of each value would make ids twice."),
			 errhint("For such clients use INCREMENT BY 1, or kind \"%s\" with enough bits.",
					 "bit_reversed_positive")));
}
