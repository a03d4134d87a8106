/*-------------------------------------------------------------------------
 *
 * unbind.c
 *	  Sequences that lose their kind, and go on with plain counters.
 *
 * A plain counter could repeat what lies in the skip range, where the ids from
 * before a conversion are, and values that the kind has issued.  So it goes on
 * after the skip range.  Where one of the next values has been issued, and the
 * type has values that the kind has not, it goes on after all of the kind's.
 * Else it goes on at one that has not been issued.  That leaves those that it
 * comes to much later, above all in narrow columns: a WARNING says so.
 *
 * The counter is set in a new file of the sequence, so that a rollback brings
 * the old one back, and other sessions forget counters that they have cached.
 * That is done by OID, and as the owner: who drops the extension need not own
 * the sequences.
 *
 * src/sequence/unbind.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/sequence.h"
#include "common/int.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "compat.h"
#include "sequence/column_label.h"
#include "sequence/identity.h"
#include "sequence/sequence_change.h"
#include "spi/command_hooks.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

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

/* A sequence that goes on with its plain counter. */
typedef struct SkUnbound
{
	Oid			seqid;
	int64		next;			/* 0 if it has no value left */
} SkUnbound;

static bool find_plain_counter(const SkSequence *seq, int64 *next);
static int64 counter_after(const SkSequence *seq, int64 counter, int64 value);
static int64 skip_issued_values(const SkSequence *seq, int64 counter);
static bool is_issued(const SkSequence *seq, int64 value);
static void set_plain_counter(const SkSequence *seq, int64 next);

/*
 * sk_unbind
 *		Make an unbound sequence of a bound one, but for its label.
 *
 * The label is still there, and the caller has locked the sequence as for a
 * change.  "restart" is the counter that the caller will set, 0 if the sequence
 * is to go on.  Then it is added to a list for sk_report_unbound(), if it has given
 * values.
 */
List *
sk_unbind(const SkSequence *seq, int64 restart, List *sequences)
{
	SkUnbound  *unbound = palloc(sizeof(SkUnbound));

	Assert(CheckRelationOidLockedByMe(seq->seqid, ShareRowExclusiveLock, true));
	sk_restore_identity(seq->seqid, sk_sequence_identity(seq->seqid));
	unbound->seqid = seq->seqid;
	if ((seq->kind == NULL && seq->lost_kind == NULL) ||
		!find_plain_counter(seq, &unbound->next))
		return sequences;
	if (restart == 0)
	{
		set_plain_counter(seq, unbound->next);
		return lappend(sequences, unbound);
	}
	if (unbound->next == 0 || restart < unbound->next)
		ereport(WARNING,
				(errcode(ERRCODE_WARNING),
				 errmsg("sequence \"%s\" may later give values that it has given before",
						get_rel_name(seq->seqid)),
				 errdetail("It will go on with its plain counter, at %lld.",
						   (long long) restart),
				 errhint("Leave restart_counter_with out, and it goes on where that is safe.")));
	return sequences;
}

/*
 * sk_report_unbound
 *		Warn of the sequences that go on with their plain counters.
 */
void
sk_report_unbound(List *sequences)
{
	int			count = list_length(sequences);
	StringInfoData all;
	int			named_length = 0;
	ListCell   *lc;

	if (count == 0)
		return;
	initStringInfo(&all);
	foreach(lc, sequences)
	{
		SkUnbound  *unbound = lfirst(lc);

		appendStringInfo(&all, "%sSequence %s ", all.len > 0 ? "\n" : "",
						 sk_qualified_name(unbound->seqid));
		if (unbound->next == 0)
			appendStringInfoString(&all, "has no values left.");
		else
			appendStringInfo(&all, "goes on at %lld.", (long long) unbound->next);
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
	int64		skip_min = sk_label_int64(label->options, "skip_range_min", 0);
	int64		skip_max = sk_label_int64(label->options, "skip_range_max", 0);
	int64		counter = seq->next;
	int64		range = sk_citus_exists() ? counter - counter % SK_CITUS_RANGE : 0;

	if (!seq->used && skip_max < counter && range == 0)
		return false;

	/* a range far ahead that leaves little after it is not reached */
	if (counter <= skip_max &&
		(counter >= skip_min ||
		 seq->form.seqmax - skip_max >= skip_min - counter))
		counter = counter_after(seq, counter, skip_max);
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
 * The first counter after a value, in steps of INCREMENT: servers that share
 * the values of a sequence do so by different counters.  0 if there is none.
 */
static int64
counter_after(const SkSequence *seq, int64 counter, int64 value)
{
	int64		increment = seq->form.seqincrement;
	int64		steps;

	if (counter <= value &&
		(pg_mul_s64_overflow((value - counter) / increment + 1, increment,
							 &steps) ||
		 pg_add_s64_overflow(counter, steps, &counter)))
		return 0;
	return counter <= seq->form.seqmax ? counter : 0;
}

/* From a counter on, skip values that the kind has given. */
static int64
skip_issued_values(const SkSequence *seq, int64 counter)
{
	const SkSequenceOptions *options = seq->kind->options;
	int64		last = (int64) ((UINT64CONST(1) << options->bits) - 2);
	int64		free = 0;
	int64		after = 0;
	int64		value = counter;
	bool		meets = false;

	for (int i = 0; i < SK_FORESEEN_VALUES && value != 0; i++)
	{
		if (is_issued(seq, value))
			meets = true;
		else if (free == 0)
			free = value;
		value = counter_after(seq, value, value);
	}
	if (meets && options->bits < Min(seq->width, seq->column_width))
		after = counter_after(seq, counter, last);
	return after != 0 ? after : free;
}

static bool
is_issued(const SkSequence *seq, int64 value)
{
	int64		counter;

	return seq->kind->am->unmap(seq->kind->options, value, &counter) &&
		counter < seq->next;
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
