/*-------------------------------------------------------------------------
 *
 * known_functions.h
 *	  Functions of the extension that the planner knows and calls.
 *
 * src/planner/known_functions.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_KNOWN_FUNCTIONS_H
#define SK_KNOWN_FUNCTIONS_H

/* Those that stored expressions call. */
typedef enum SkKeyFunction
{
	SK_SHARD_ID,
	SK_FINGERPRINT,
	SK_BIT_REVERSE,
	SK_TIMESTAMP_TO_STRING,
	SK_FUNCTION_COUNT
} SkKeyFunction;

extern void sk_known_functions_init(void);
extern bool sk_is_our_function(Oid funcid, SkKeyFunction function);
extern Oid	sk_sibling_function(Oid function, const char *name, int nargs,
								const Oid *argtypes);
extern Oid	sk_internal_function(const char *name, int nargs,
								 const Oid *argtypes);
extern bool sk_may_call(Oid funcid);

#endif							/* SK_KNOWN_FUNCTIONS_H */
