/*-------------------------------------------------------------------------
 *
 * known_functions.c
 *	  Functions of the extension that the planner knows and calls.
 *
 * src/planner/known_functions.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_func.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "planner/known_functions.h"
#include "spi/own_objects.h"

static Oid	known_functions[SK_FUNCTION_COUNT]; /* once they have been seen */

static void forget_functions(Datum arg, int cacheid, uint32 hashvalue);

void
sk_known_functions_init(void)
{
	CacheRegisterSyscacheCallback(PROCOID, forget_functions, (Datum) 0);
}

/*
 * sk_is_our_function
 *		Is it this function of ours, and not another one of that name?
 */
bool
sk_is_our_function(Oid funcid, SkKeyFunction function)
{
	static const char *const names[] = {
		"shard_id", "farm_fingerprint", "bit_reverse", "timestamp_to_string"
	};
	HeapTuple	tuple;
	bool		result = false;

	StaticAssertStmt(lengthof(names) == SK_FUNCTION_COUNT, "a function has no name");
	Assert(function < SK_FUNCTION_COUNT);
	if (funcid == known_functions[function])
		return true;
	if (funcid < FirstNormalObjectId)
		return false;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(tuple);

		if (strcmp(NameStr(proc->proname), names[function]) == 0)
			result = proc->prolang == ClanguageId &&
				(function != SK_SHARD_ID ||
				 (proc->pronargs == 2 &&
				  proc->proargtypes.values[1] == ANYOID)) &&
				sk_is_member(ProcedureRelationId, funcid);
		ReleaseSysCache(tuple);
	}
	if (result)
		known_functions[function] = funcid;
	return result;
}

/*
 * sk_sibling_function
 *		A function of the extension that the user may call; else InvalidOid.
 */
Oid
sk_sibling_function(Oid function, const char *name, int nargs,
					const Oid *argtypes)
{
	char	   *schema = get_namespace_name(get_func_namespace(function));
	Oid			result;

	if (schema == NULL)
		return InvalidOid;
	result = LookupFuncName(list_make2(makeString(schema),
									   makeString(pstrdup(name))),
							nargs, argtypes, true);
	return OidIsValid(result) && sk_may_call(result) ? result : InvalidOid;
}

/*
 * sk_internal_function
 *		A function in C of the internal schema that the user may call; else
 *		InvalidOid.
 */
Oid
sk_internal_function(const char *name, int nargs, const Oid *argtypes)
{
	HeapTuple	tuple;
	Oid			result = InvalidOid;

	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(name),
							PointerGetDatum(buildoidvector(argtypes, nargs)),
							ObjectIdGetDatum(sk_own_schema(SK_INTERNAL_SCHEMA)));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
		result = ((Form_pg_proc) GETSTRUCT(tuple))->oid;
	ReleaseSysCache(tuple);
	return OidIsValid(result) && sk_may_call(result) ? result : InvalidOid;
}

/*
 * sk_may_call
 *		May the current user call a function?  The executor checks that.
 */
bool
sk_may_call(Oid funcid)
{
	return object_aclcheck(ProcedureRelationId, funcid, GetUserId(),
						   ACL_EXECUTE) == ACLCHECK_OK;
}

static void
forget_functions(Datum arg, int cacheid, uint32 hashvalue)
{
	memset(known_functions, 0, sizeof(known_functions));
}
