/*-------------------------------------------------------------------------
 *
 * own_objects.h
 *	  The extension in this database, and what belongs to it.
 *
 * src/spi/own_objects.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_OWN_OBJECTS_H
#define SK_OWN_OBJECTS_H

#define SK_EXTENSION "spanner_keys"
#define SK_SCHEMA "spanner"
#define SK_INTERNAL_SCHEMA "spanner_internal"

extern bool sk_extension_exists(void);
extern Oid	sk_extension_owner(void);
extern bool sk_runs_own_script(void);
extern bool sk_is_member(Oid class, Oid object);
extern Oid	sk_own_schema(const char *name);
extern Oid	sk_own_table(const char *name);
extern Oid	sk_own_function(const char *symbol, int nargs, const Oid *types);

#endif							/* SK_OWN_OBJECTS_H */
