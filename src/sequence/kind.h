/*-------------------------------------------------------------------------
 *
 * kind.h
 *	  Kinds of sequences: access methods and their options.
 *
 * src/sequence/kind.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_KIND_H
#define SK_KIND_H

#include "catalog/pg_sequence.h"

#include "sequence/access_method.h"
#include "sequence/counter.h"
#include "sequence/label.h"

/* Kind of a sequence with a plain counter. */
#define SK_LOCAL_KIND "local"

/* One bit has no value between 1 and 2^bits - 2. */
#define SK_MIN_BITS 2

/*
 * How many counters in a row may be skipped before a sequence counts as
 * exhausted.  This is the limit of the Spanner emulator.
 */
#define SK_MAX_ATTEMPTS 2000

/* One of so many counters has to give a value at least. */
#define SK_LEAST_DENSITY 200

typedef struct SkKind
{
	const SequenceAccessMethod *am;
	SkSequenceOptions *options;
} SkKind;

extern char *sk_default_sequence_kind(bool is_owned);
extern const SequenceAccessMethod *sk_sequence_am_get(const char *kind,
													  bool missing_ok);

extern SkLabel *sk_label_parse_kind(const char *text);
extern SkKind *sk_kind_from_label(const char *text, int width);
extern SkKind *sk_kind_make(const SkLabel *label, int width);
extern SkLabel *sk_kind_parts(const SkKind *kind);
extern SkRange sk_option_range(const SkOption *option);
extern bool sk_kind_reaches_value(const SkKind *kind, int64 start);
extern bool sk_kind_overlaps(const SkKind *kind,
							 const FormData_pg_sequence *form);

static inline bool
sk_has_value(const SkSequenceOptions *options, int64 counter)
{
	return counter >= 1 && counter <= options->max_counter;
}

/* Is it in [1, 2^bits - 2]?  Runs for every value, and trusts no access method. */
static inline bool
sk_is_in_range(const SkSequenceOptions *options, int64 value)
{
	return (uint64) value - 1 < (UINT64CONST(1) << options->bits) - 2;
}

static inline bool
sk_is_skipped(const SkSequenceOptions *options, int64 value)
{
	return (options->has_skip_range &&
			value >= options->skip_range_min && value <= options->skip_range_max) ||
		(value >= options->given_min && value <= options->given_max);
}

/* What must never come again. */
static inline SkRange
sk_given_range(const SkSequenceOptions *options)
{
	return sk_range(options->given_min, options->given_max);
}

static inline void
sk_set_given_range(SkSequenceOptions *options, SkRange given)
{
	options->given_min = given.min;
	options->given_max = given.max;
}

/* What the user wants to be skipped. */
static inline SkRange
sk_skip_range(const SkSequenceOptions *options)
{
	if (!options->has_skip_range)
		return sk_range(0, 0);
	return sk_range(options->skip_range_min, options->skip_range_max);
}

#endif							/* SK_KIND_H */
