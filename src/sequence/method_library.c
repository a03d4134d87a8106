/*-------------------------------------------------------------------------
 *
 * method_library.c
 *	  Loading the libraries of other sequence access methods.
 *
 * A label names a kind, and whoever owns a sequence writes the label, so a
 * kind must not lead to a file by itself.  It leads to a function instead:
 * "load_KIND()" in the schema of our extension, in language C.  Only a
 * superuser can create one, and it names the library.  Calling it loads that,
 * whose _PG_init() registers the method.
 *
 * src/sequence/method_library.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"

#include "sequence/extension.h"
#include "sequence/method_library.h"

#define SK_LOADER_PREFIX "load_"

/*
 * sk_method_library_load
 *		Load the library that offers a kind.
 *
 * Returns false if none is known in this database.  Raises an error if it
 * cannot be loaded.
 */
bool
sk_method_library_load(const char *kind)
{
	char	   *name = psprintf("%s%s", SK_LOADER_PREFIX, kind);
	Oid			loader;

	/* no catalogs while a setting is restored after an abort */
	if (!IsTransactionState() || strlen(name) >= NAMEDATALEN)
		return false;

	loader = sk_loader_function(name);
	if (!OidIsValid(loader))
		return false;
	(void) OidFunctionCall0(loader);
	return true;
}
