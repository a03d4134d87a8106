/*-------------------------------------------------------------------------
 *
 * object_name.c
 *	  Names of objects as arguments of functions.
 *
 * They are written as in SQL.  Core's functions read them alike, but tell the
 * user less about what is wrong.
 *
 * src/sequence/object_name.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/value.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "sequence/object_name.h"

/*
 * sk_split_name
 *		Take apart a name with dots, as a list of String.
 */
List *
sk_split_name(const char *name)
{
	List	   *parts;
	List	   *result = NIL;
	ListCell   *lc;

	if (!SplitIdentifierString(pstrdup(name), '.', &parts) || parts == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid name \"%s\"", name),
				 errhint("Write it as in SQL, with double quotes around what is not all lower-case letters, digits and \"_\", and a dot behind a schema.")));
	foreach(lc, parts)
		result = lappend(result, makeString(pstrdup(lfirst(lc))));
	return result;
}

/*
 * sk_make_range_var
 *		Make what names a relation from the parts of a name.
 *
 * "name" is the whole, for messages.
 */
RangeVar *
sk_make_range_var(List *names, const char *name)
{
	if (list_length(names) > 3)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("invalid name \"%s\"", name),
				 errdetail("It has too many parts."),
				 errhint("Write it as schema.name, with double quotes around a name that contains a dot.")));
	if (list_length(names) == 3 &&
		strcmp(strVal(linitial(names)), get_database_name(MyDatabaseId)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" is in another database", name)));
	return makeRangeVarFromNameList(names);
}

/*
 * sk_schema_oid
 *		The OID of a schema, which has to exist.
 */
Oid
sk_schema_oid(const char *name)
{
	Oid			result = get_namespace_oid(name, true);

	if (!OidIsValid(result))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_SCHEMA),
				 errmsg("schema \"%s\" does not exist", name)));
	return result;
}
