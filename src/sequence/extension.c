/*-------------------------------------------------------------------------
 *
 * extension.c
 *	  The extension's own functions, and calls of them.
 *
 * They are functions in C of this library, in a schema of the extension or
 * members of it.
 *
 * src/sequence/extension.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/syscache.h"

#include "sequence/extension.h"
#include "spi/own_objects.h"

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
	{SK_INTERNAL_SCHEMA, "setval", "spanner_setval", 2, {REGCLASSOID, INT8OID}},
	[SK_FUNCTION_SETVAL_CALLED] =
	{SK_INTERNAL_SCHEMA, "setval", "spanner_setval", 3, {REGCLASSOID, INT8OID, BOOLOID}},
};

static void forget_functions(Datum arg, int cacheid, uint32 hashvalue);
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

	Assert(function < lengthof(functions) && f->name != NULL);
	if (OidIsValid(f->oid))
		return f->oid;
	/* nobody but the extension's script makes a function of the symbol */
	f->oid = find_function(get_namespace_oid(f->schema, true), f->name,
						   f->nargs, f->types, f->symbol);
	if (OidIsValid(f->oid))
		return f->oid;
	if (!sk_extension_exists())
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("extension \"%s\" does not exist in this database",
						SK_EXTENSION),
				 errhint("Run CREATE EXTENSION %s.", SK_EXTENSION)));
	/* it has another name */
	f->oid = sk_own_function(f->symbol, f->nargs, f->types);
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
	Oid			schema = sk_own_schema(SK_SCHEMA);

	return OidIsValid(schema) ? find_function(schema, name, 0, NULL, NULL) :
		InvalidOid;
}

static void
forget_functions(Datum arg, int cacheid, uint32 hashvalue)
{
	for (int i = 0; i < lengthof(functions); i++)
		functions[i].oid = InvalidOid;
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

	if (!OidIsValid(namespace))
		return InvalidOid;
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
 *
 * The guard of a draw returns no boolean, but NULL.
 */
Expr *
sk_make_guarded(SkFunction guard, List *arguments, Expr *value)
{
	CaseExpr   *result = makeNode(CaseExpr);
	CaseWhen   *when = makeNode(CaseWhen);

	if (guard == SK_FUNCTION_MAY_DRAW)
	{
		NullTest   *test = makeNode(NullTest);

		test->arg = sk_make_call(guard, RECORDOID, arguments);
		test->nulltesttype = IS_NULL;
		test->location = -1;
		when->expr = (Expr *) test;
	}
	else
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
