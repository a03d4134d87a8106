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

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "sequence/method_library.h"
#include "sequence/sequence_functions.h"

#define SK_LOADER_PREFIX "load_"

static Oid	find_loader(const char *kind);

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
	Oid			loader;

	/* no catalogs while a setting is restored after an abort */
	if (!IsTransactionState())
		return false;

	loader = find_loader(kind);
	if (!OidIsValid(loader))
		return false;
	(void) OidFunctionCall0(loader);
	return true;
}

static Oid
find_loader(const char *kind)
{
	char	   *name = psprintf("%s%s", SK_LOADER_PREFIX, kind);
	Oid			namespace = get_namespace_oid(SK_SCHEMA, true);
	HeapTuple	tuple;
	Form_pg_proc function;
	Oid			result = InvalidOid;

	if (strlen(name) >= NAMEDATALEN || !OidIsValid(namespace))
		return InvalidOid;

	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name),
							PointerGetDatum(buildoidvector(NULL, 0)),
							ObjectIdGetDatum(namespace));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	function = (Form_pg_proc) GETSTRUCT(tuple);
	if (function->prolang == ClanguageId)
		result = function->oid;
	ReleaseSysCache(tuple);
	return result;
}
