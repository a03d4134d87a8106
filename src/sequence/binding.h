/*-------------------------------------------------------------------------
 *
 * binding.h
 *	  Which access method a sequence uses.
 *
 * src/sequence/binding.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_BINDING_H
#define SK_BINDING_H

#include "sequence/sequence.h"

/*
 * What this backend knows of a sequence.  Good until another one is asked for;
 * a caller that keeps the pointer for longer compares "seqid" and "valid".
 */
typedef struct SkBinding
{
	Oid			seqid;			/* hash key */
	bool		valid;			/* false: load again before use */
	bool		fresh;			/* no invalidation since loading began */
	const SequenceAccessMethod *am; /* NULL: not bound */
	SkSequenceOptions *options; /* NULL: not bound */
	MemoryContext context;		/* holds the options and the label */
	char	   *label;			/* what the options were made from */
	uint64		changes;		/* grows when another label is loaded */

	/* the last counter that this session drew, 0 if none, and its value */
	int64		last_counter;
	int64		last_value;
} SkBinding;

extern bool sk_bindings_exist(void);
extern SkBinding *sk_binding_get(Oid seqid);
extern void sk_binding_announce(Oid seqid, const char *label);

#endif							/* SK_BINDING_H */
