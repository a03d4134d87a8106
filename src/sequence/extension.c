/*-------------------------------------------------------------------------
 *
 * extension.c
 *	  The extension's own schemas and functions.
 *
 * The library can be loaded in a database that does not have the extension,
 * and where anybody may have made schemas of these names.  So nothing acts
 * before the extension is found here.  Its schema is a member of it, so only
 * its script can have made the schema.  Its functions are those in C of this
 * library.
 *
 * src/sequence/extension.c
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
#include "catalog/pg_extension.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "sequence/extension.h"

typedef struct OwnFunction
{
	const char *schema;
	const char *name;
	const char *symbol;			/* in the library */
	int			nargs;
	Oid			types[3];
	Oid			oid;			/* InvalidOid if it has to be looked for */
} OwnFunction;

static OwnFunction functions[] = {
	[SK_FUNCTION_ASCENDING_NEXTVAL] =
	{SK_INTERNAL_SCHEMA, "ascending_nextval", "spanner_ascending_nextval", 2, {REGCLASSOID, INT4OID}},
	[SK_FUNCTION_CURRVAL] =
	{SK_SCHEMA, "currval", "spanner_currval", 1, {REGCLASSOID}},
	[SK_FUNCTION_LASTVAL] =
	{SK_SCHEMA, "lastval", "spanner_lastval", 0, {InvalidOid}},
	[SK_FUNCTION_MAP_COUNTER] =
	{SK_INTERNAL_SCHEMA, "map_counter", "spanner_map_counter", 2, {INT8OID, REGCLASSOID}},
	[SK_FUNCTION_MAY_CALL] =
	{SK_INTERNAL_SCHEMA, "may_call", "spanner_may_call", 1, {REGPROCEDUREOID}},
	[SK_FUNCTION_MAY_DRAW] =
	{SK_INTERNAL_SCHEMA, "may_draw", "spanner_may_draw", 2, {REGCLASSOID, REGPROCEDUREOID}},
	[SK_FUNCTION_NEXTVAL] =
	{SK_SCHEMA, "nextval", "spanner_nextval", 1, {REGCLASSOID}},
	[SK_FUNCTION_SEQUENCE_SUPPORT] =
	{SK_INTERNAL_SCHEMA, "sequence_support", "spanner_sequence_support", 1, {INTERNALOID}},
	[SK_FUNCTION_SETVAL] =
	{SK_SCHEMA, "setval", "spanner_setval", 2, {REGCLASSOID, INT8OID}},
	[SK_FUNCTION_SETVAL_CALLED] =
	{SK_SCHEMA, "setval", "spanner_setval", 3, {REGCLASSOID, INT8OID, BOOLOID}},
};

/* The schema of the extension, InvalidOid if that has to be looked for. */
static Oid	schema = InvalidOid;

static void forget_functions(Datum arg, int cacheid, uint32 hashvalue);
static Oid	own_schema(const char *name);
static Oid	find_function(Oid namespace, const char *name, int nargs,
						  const Oid *types, const char *symbol);

/*
 * sk_extension_init
 *		Register for invalidations of what is cached here.
 */
void
sk_extension_init(void)
{
	CacheRegisterSyscacheCallback(PROCOID, forget_functions, (Datum) 0);
	CacheRegisterSyscacheCallback(NAMESPACEOID, forget_functions, (Datum) 0);
}

/*
 * sk_extension_exists
 *		Does this database have the extension?
 */
bool
sk_extension_exists(void)
{
	if (!OidIsValid(schema))
		schema = own_schema(SK_SCHEMA);
	return OidIsValid(schema);
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
 * sk_function
 *		The OID of a function of the extension.
 *
 * Raises an error if the database does not have the extension, or one of a
 * release before the library's.
 */
Oid
sk_function(SkFunction function)
{
	OwnFunction *f = &functions[function];

	if (OidIsValid(f->oid))
		return f->oid;
	if (!sk_extension_exists())
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("extension \"%s\" does not exist in this database",
						SK_EXTENSION),
				 errhint("Run CREATE EXTENSION %s.", SK_EXTENSION)));
	f->oid = find_function(own_schema(f->schema), f->name, f->nargs, f->types,
						   f->symbol);
	if (!OidIsValid(f->oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function %s.%s of extension \"%s\" is missing",
						f->schema, f->name, SK_EXTENSION),
				 errhint("Run ALTER EXTENSION %s UPDATE, or create the extension anew.",
						 SK_EXTENSION)));
	return f->oid;
}

/*
 * sk_loader_function
 *		A function without arguments that another library offers in our schema.
 *
 * Only one in C counts, since only a superuser can create it.
 * Returns InvalidOid if there is none.
 */
Oid
sk_loader_function(const char *name)
{
	if (!sk_extension_exists())
		return InvalidOid;
	return find_function(schema, name, 0, NULL, NULL);
}

static void
forget_functions(Datum arg, int cacheid, uint32 hashvalue)
{
	schema = InvalidOid;
	for (int i = 0; i < lengthof(functions); i++)
		functions[i].oid = InvalidOid;
}

/* A schema, if it is the one that the script of the extension has made. */
static Oid
own_schema(const char *name)
{
	Oid			result = get_namespace_oid(name, true);
	Oid			extension;

	if (!OidIsValid(result))
		return InvalidOid;
	extension = get_extension_oid(SK_EXTENSION, true);
	if (!OidIsValid(extension) ||
		getExtensionOfObject(NamespaceRelationId, result) != extension)
		return InvalidOid;
	return result;
}

/*
 * A function in C; with a symbol, only one that is this symbol of a library.
 * Privileges do not matter: those of the caller's expression were checked
 * before.
 */
static Oid
find_function(Oid namespace, const char *name, int nargs, const Oid *types,
			  const char *symbol)
{
	HeapTuple	tuple;
	Oid			result = InvalidOid;

	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name),
							PointerGetDatum(buildoidvector(types, nargs)),
							ObjectIdGetDatum(namespace));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		bool		isnull;
		Datum		source = SysCacheGetAttr(PROCNAMEARGSNSP, tuple,
											 Anum_pg_proc_prosrc, &isnull);

		if (symbol == NULL ||
			(!isnull && strcmp(TextDatumGetCString(source), symbol) == 0))
			result = ((Form_pg_proc) GETSTRUCT(tuple))->oid;
	}
	ReleaseSysCache(tuple);
	return result;
}

/*
 * sk_make_call
 *		A call of one of our functions.
 */
Expr *
sk_make_call(SkFunction function, Oid type, List *arguments)
{
	return (Expr *) makeFuncExpr(sk_function(function), type, arguments,
								 InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/*
 * sk_make_guarded
 *		CASE WHEN guard(arguments) THEN value END
 */
Expr *
sk_make_guarded(SkFunction guard, List *arguments, Expr *value)
{
	CaseExpr   *result = makeNode(CaseExpr);
	CaseWhen   *when = makeNode(CaseWhen);

	when->expr = sk_make_call(guard, BOOLOID, arguments);
	when->result = value;
	when->location = -1;
	result->casetype = INT8OID;
	result->args = list_make1(when);
	result->defresult = (Expr *) makeNullConst(INT8OID, -1, InvalidOid);
	result->location = -1;
	return (Expr *) result;
}

/*
 * sk_make_oid
 *		A constant of type regclass, regprocedure and the like.
 */
Expr *
sk_make_oid(Oid type, Oid value)
{
	return (Expr *) makeConst(type, -1, InvalidOid, sizeof(Oid),
							  ObjectIdGetDatum(value), false, true);
}
