/*-------------------------------------------------------------------------
 *
 * key_alphabet.h
 *	  Texts and byte strings as numbers.
 *
 * src/advisor/key_alphabet.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_KEY_ALPHABET_H
#define SK_KEY_ALPHABET_H

#include "advisor/key_sample.h"

/* How many bytes are looked at behind what all keys begin with. */
#define SK_ALPHABET_PLACES 63

/* A character has up to 4 bytes. */
#define SK_ALPHABET_KEY_SIZE (4 * SK_KEY_BYTES_READ + SK_ALPHABET_PLACES)

/* The bytes that sampled keys have behind what all of them begin with. */
typedef struct SkAlphabet
{
	const unsigned char *prefix;	/* what all keys begin with */
	int			prefix_length;
	int			places;
	struct
	{
		int			count;
		int16		symbols[257];	/* bytes, ascending; -1 is the end of a
									 * key */
		int16		digits[257];	/* a byte's place in there, for byte + 1 */
	}			place[SK_ALPHABET_PLACES];
} SkAlphabet;

extern SkAlphabet *sk_alphabet_make(const SkKeySample *sample,
									SkSampledRow **sorted);
extern uint64 sk_alphabet_place(const SkAlphabet *alphabet,
								const SkSampledRow *row);
extern int	sk_alphabet_key(const SkAlphabet *alphabet, uint64 place,
							unsigned char *bytes);

#endif							/* SK_KEY_ALPHABET_H */
