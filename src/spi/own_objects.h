/*-------------------------------------------------------------------------
 *
 * own_objects.h
 *	  The extensions of the library in this database, and what belongs to them.
 *
 * src/spi/own_objects.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_OWN_OBJECTS_H
#define SK_OWN_OBJECTS_H

#include "nodes/nodes.h"

#define SK_EXTENSION "spanner_keys"
#define SK_SCHEMA "spanner"
#define SK_INTERNAL_SCHEMA "spanner_internal"

/* The functions in C that other code looks for. */
typedef enum SkFunction
{
	SK_FUNCTION_ALL_SHARDS,
	SK_FUNCTION_ASCENDING_NEXTVAL,
	SK_FUNCTION_ASSIGN_ON_COMMIT,
	SK_FUNCTION_BIT_REVERSE,
	SK_FUNCTION_CURRVAL,
	SK_FUNCTION_FINGERPRINT_BYTES,
	SK_FUNCTION_FINGERPRINT_TEXT,
	SK_FUNCTION_LASTVAL,
	SK_FUNCTION_MAP_COUNTER,
	SK_FUNCTION_MAY_DRAW,
	SK_FUNCTION_NEXTVAL,
	SK_FUNCTION_NEXT_VALUE,
	SK_FUNCTION_NEXT_VALUE_OF_SERIES,
	SK_FUNCTION_SEQUENCE_SUPPORT,
	SK_FUNCTION_SETVAL,
	SK_FUNCTION_SETVAL_CALLED,
	SK_FUNCTION_SHARD_ID,
	SK_FUNCTION_SHARD_IDS,
	SK_FUNCTION_STRING_TO_BYTES,
	SK_FUNCTION_TIME_BUCKETS,
	SK_FUNCTION_TIME_BUCKETS_TZ,
	SK_FUNCTION_TIMESTAMP_TO_STRING
} SkFunction;

extern bool sk_extension_exists(void);
extern Oid	sk_extension_owner(const char *name);
extern bool sk_is_member(Oid class, Oid object);
extern Oid	sk_own_schema(const char *name);
extern Oid	sk_own_table(const char *name);
extern Oid	sk_function(SkFunction function);
extern Oid	sk_callable_function(SkFunction function);
extern bool sk_is_function(Oid funcid, SkFunction function);

#endif							/* SK_OWN_OBJECTS_H */
