/*-------------------------------------------------------------------------
 *
 * extension.c
 *	  Calls of the extension's functions, and functions of other libraries.
 *
 * src/sequence/extension.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "sequence/extension.h"
#include "spi/own_objects.h"

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
	HeapTuple	tuple;
	Oid			result = InvalidOid;

	if (!OidIsValid(schema))
		return InvalidOid;
	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name),
							PointerGetDatum(buildoidvector(NULL, 0)),
							ObjectIdGetDatum(schema));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
		result = ((Form_pg_proc) GETSTRUCT(tuple))->oid;
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
