/*-------------------------------------------------------------------------
 *
 * key_scale.h
 *	  From keys to positions in key space, and to buckets of equal width.
 *
 * src/advisor/key_scale.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_KEY_SCALE_H
#define SK_KEY_SCALE_H

#include "advisor/key_sample.h"

/* The digits of texts and byte strings. */
typedef struct SkAlphabet SkAlphabet;

typedef struct SkKeyScale
{
	SkKeySample *sample;		/* its rows in order of position */
	SkKeyForm	form;			/* SK_KEY_RANK also for few different texts */
	uint64		last;			/* the last position; the first is 0 */
	uint64		width;			/* positions in a bucket */
	int			buckets;
	int64		first_integer;	/* what the positions begin with */
	double		first_number;
	double		last_number;
	const char *low;			/* what is not finite at the ends, or NULL */
	const char *high;
	uint64		first_place;
	SkAlphabet *alphabet;
} SkKeyScale;

extern void sk_key_scale_make(SkKeyScale *scale, SkKeySample *sample,
							  int buckets);
extern int	sk_key_scale_different(const SkKeyScale *scale);
extern int	sk_key_scale_bucket(const SkKeyScale *scale,
								const SkSampledRow *row);
extern char *sk_key_scale_from(const SkKeyScale *scale, int bucket);
extern char *sk_key_scale_label(const SkKeyScale *scale, int bucket);
extern char *sk_key_scale_to(const SkKeyScale *scale, int bucket);

#endif							/* SK_KEY_SCALE_H */
