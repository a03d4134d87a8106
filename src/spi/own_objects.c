/*-------------------------------------------------------------------------
 *
 * own_objects.c
 *	  The extension in this database, and what belongs to it.
 *
 * The library can be loaded in a database that does not have the extension,
 * and where anybody may have made schemas of these names.  So nothing acts
 * before the extension is found here, and membership in it tells its schemas,
 * functions and tables from those of others.
 *
 * src/spi/own_objects.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "spi/own_objects.h"

/* Its schema, once it has been found. */
typedef struct OwnSchema
{
	const char *name;
	Oid			oid;			/* InvalidOid if it has to be looked for */
} OwnSchema;

static OwnSchema schemas[] = {
	{SK_SCHEMA, InvalidOid},
	{SK_INTERNAL_SCHEMA, InvalidOid}
};

/* Is "extension" known, perhaps to be InvalidOid? */
static bool is_known = false;
static Oid	extension = InvalidOid;

static uint64 invalidations = 0;

static void watch_schemas(void);
static Oid	find_extension(void);
static void forget_objects(Datum arg, int cacheid, uint32 hashvalue);
static bool is_own_function(Oid function, const char *symbol, int nargs,
							const Oid *types);

static void
watch_schemas(void)
{
	static bool registered = false;

	if (!registered)
		CacheRegisterSyscacheCallback(NAMESPACEOID, forget_objects, (Datum) 0);
	registered = true;
}

/* The OID of the extension, InvalidOid if the database does not have it. */
static Oid
find_extension(void)
{
	watch_schemas();
	if (!is_known)
	{
		/* before the look, which may accept that something has changed */
		is_known = true;
		extension = get_extension_oid(SK_EXTENSION, true);
	}
	return extension;
}

/* The extension comes and goes together with its schemas. */
static void
forget_objects(Datum arg, int cacheid, uint32 hashvalue)
{
	invalidations++;
	is_known = false;
	for (int i = 0; i < lengthof(schemas); i++)
		schemas[i].oid = InvalidOid;
}

/*
 * sk_extension_exists
 *		Does this database have the extension?
 */
bool
sk_extension_exists(void)
{
	return OidIsValid(find_extension());
}

/*
 * sk_extension_owner
 *		Who owns the extension; InvalidOid if the database does not have it.
 */
Oid
sk_extension_owner(void)
{
	Relation	catalog = table_open(ExtensionRelationId, AccessShareLock);
	Oid			result = InvalidOid;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum(SK_EXTENSION));
	scan = systable_beginscan(catalog, ExtensionNameIndexId, true, NULL, 1,
							  &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		result = ((Form_pg_extension) GETSTRUCT(tuple))->extowner;
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/*
 * sk_runs_own_script
 *		Is a script of the extension under way, which may change what it likes?
 */
bool
sk_runs_own_script(void)
{
	return creating_extension && CurrentExtensionObject == find_extension();
}

/*
 * sk_is_member
 *		Does an object belong to the extension?
 */
bool
sk_is_member(Oid class, Oid object)
{
	return OidIsValid(find_extension()) &&
		getExtensionOfObject(class, object) == extension;
}

/*
 * sk_own_schema
 *		A schema, if it is the one that the script of the extension has made.
 */
Oid
sk_own_schema(const char *name)
{
	uint64		before = invalidations;
	OwnSchema  *schema = schemas;
	Oid			oid;

	while (strcmp(schema->name, name) != 0)
		schema++;
	Assert(schema < schemas + lengthof(schemas));
	if (OidIsValid(schema->oid))
		return schema->oid;
	oid = get_namespace_oid(name, true);
	if (!OidIsValid(oid) || !sk_is_member(NamespaceRelationId, oid))
		return InvalidOid;
	if (before == invalidations)
		schema->oid = oid;
	return oid;
}

/*
 * sk_own_table
 *		A table in the schema of users; InvalidOid if there is none.
 */
Oid
sk_own_table(const char *name)
{
	Oid			schema = sk_own_schema(SK_SCHEMA);

	return OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;
}

/*
 * sk_own_function
 *		The function of the extension that is a symbol of the library.
 *
 * Whatever its name and schema are: scripts of the extension have made it, and
 * only superusers make functions in C.
 */
Oid
sk_own_function(const char *symbol, int nargs, const Oid *types)
{
	Relation	catalog = table_open(DependRelationId, AccessShareLock);
	Oid			result = InvalidOid;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(ExtensionRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(find_extension()));
	scan = systable_beginscan(catalog, DependReferenceIndexId, true, NULL,
							  lengthof(keys), keys);
	while (!OidIsValid(result) &&
		   HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->classid == ProcedureRelationId &&
			form->deptype == DEPENDENCY_EXTENSION &&
			is_own_function(form->objid, symbol, nargs, types))
			result = form->objid;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

static bool
is_own_function(Oid function, const char *symbol, int nargs, const Oid *types)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	bool		result = false;
	bool		isnull;
	Datum		source;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	if (form->prolang == ClanguageId && form->pronargs == nargs &&
		memcmp(form->proargtypes.values, types, nargs * sizeof(Oid)) == 0)
	{
		source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);
		result = !isnull && strcmp(TextDatumGetCString(source), symbol) == 0;
	}
	ReleaseSysCache(tuple);
	return result;
}
