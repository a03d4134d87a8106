/*-------------------------------------------------------------------------
 *
 * catalog.c
 *	  Relations by name, what catalogs say of them, and commands on them.
 *
 * The key of a table is its primary key, or, since Spanner's keys may be NULL,
 * a UNIQUE NULLS NOT DISTINCT constraint.
 *
 * Commands on a relation that is there run as its owner, in a restricted
 * context, since they can parse and run what the owner has chosen: defaults,
 * constraints, expressions of indexes.  The caller needs the owner's rights, as
 * for ALTER TABLE.  All others run with the caller's rights.  What is put into
 * them is names and strings that are quoted anew, numbers and words that we
 * know.
 *
 * src/spanner_ddl/catalog.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"

#include "spanner_ddl/spanner_ddl.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

static char *join_names(List *names, const char *separator);
static RangeVar *range_var(const SkName *name);

/*
 * sk_ddl_run_command
 *		Run a command of PostgreSQL, and note it: SK_DDL_EMIT() has its format.
 */
void
sk_ddl_run_command(SkDdlText *ddl, char *command)
{
	SkOwnerScope scope;

	/* the end of the scope would undo it */
	bool		is_setting = strncmp(command, "SET ", 4) == 0;

	/* postgresql_ddl() rolls back what it does, and keeps this */
	Assert(ddl->commands == NIL || GetMemoryChunkContext(ddl->commands) == CurrentMemoryContext);
	ddl->commands = lappend(ddl->commands, command);

	if (OidIsValid(ddl->relation) && !is_setting)
		sk_ddl_owner_enter(ddl, &scope);
	if (strncmp(command, "SELECT ", 7) == 0)
		(void) sk_query_text(command);
	else if (command[0] != '-')
		sk_run_command(command);
	if (OidIsValid(ddl->relation) && !is_setting)
		sk_owner_exit(&scope);
}

/*
 * sk_ddl_try
 *		Run a step in a subtransaction, which is rolled back if it fails or is
 *		not to be kept.
 *
 * Returns the error, or NULL; one that is not of the step is raised.
 */
ErrorData *
sk_ddl_try(void (*step) (SkDdlText *), SkDdlText *ddl, bool is_kept)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;
	int			category;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		step(ddl);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	if (error == NULL && is_kept)
		ReleaseCurrentSubTransaction();
	else
		RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;

	/* cancelled, deadlocked, out of memory, broken: to go on would be wrong */
	category = error != NULL ? ERRCODE_TO_CATEGORY(error->sqlerrcode) : 0;
	if (category == ERRCODE_TRANSACTION_ROLLBACK || category == ERRCODE_INSUFFICIENT_RESOURCES ||
		category == ERRCODE_OPERATOR_INTERVENTION || category == ERRCODE_SYSTEM_ERROR ||
		category == ERRCODE_INTERNAL_ERROR)
		ReThrowError(error);
	return error;
}

/*
 * sk_ddl_on_relation
 *		Have the commands that follow run as the owner of a relation, or as the
 *		caller with InvalidOid.  Returns what it was before.
 *
 * Raises an error if the caller has not the owner's rights.
 */
Oid
sk_ddl_on_relation(SkDdlText *ddl, Oid relid)
{
	Oid			before = ddl->relation;

	if (OidIsValid(relid) && !object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(relid)), get_rel_name(relid));
	ddl->relation = relid;
	return before;
}

/*
 * sk_ddl_owner_enter
 *		Become the owner of that relation.  Names mean what they mean to the
 *		caller, who has written them.
 */
void
sk_ddl_owner_enter(SkDdlText *ddl, SkOwnerScope *scope)
{
	StringInfoData path;
	ListCell   *lc;

	initStringInfo(&path);
	foreach(lc, fetch_search_path(false))
	{
		char	   *name = get_namespace_name(lfirst_oid(lc));

		if (name != NULL)
			appendStringInfo(&path, "%s%s", path.len > 0 ? ", " : "", quote_identifier(name));
	}
	sk_owner_enter(scope, ddl->relation);
	(void) set_config_option("search_path", path.data, PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/*
 * sk_ddl_name
 *		A name as it is in a command.
 */
char *
sk_ddl_name(const SkName *name)
{
	return join_names(name->parts, ".");
}

/*
 * sk_ddl_name_list
 *		Names of columns as they are in a command.
 */
char *
sk_ddl_name_list(List *names)
{
	return join_names(names, ", ");
}

static char *
join_names(List *names, const char *separator)
{
	StringInfoData result;
	ListCell   *lc;

	initStringInfo(&result);
	foreach(lc, names)
		appendStringInfo(&result, "%s%s", result.len > 0 ? separator : "", quote_identifier(lfirst(lc)));
	return result.data;
}

/*
 * sk_ddl_schema
 *		The schema in which an object of this name is created.
 */
Oid
sk_ddl_schema(const SkName *name)
{
	return RangeVarGetCreationNamespace(range_var(name));
}

static RangeVar *
range_var(const SkName *name)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, name->parts)
		names = lappend(names, makeString(lfirst(lc)));
	return makeRangeVarFromNameList(names);
}

/*
 * sk_ddl_new_name
 *		Make sure that a new object can have a name: it is one of Spanner's, no
 *		other object has it, and none that PostgreSQL has made up.
 *
 * "type" is Spanner's word for the object.  "schema" is InvalidOid if its
 * objects do not matter, as for a column.
 */
void
sk_ddl_new_name(SkDdlText *ddl, const char *type, Oid schema, const char *name, int at)
{
	bool		is_constraint = strcmp(type, "Check Constraint") == 0 || strcmp(type, "Foreign Key") == 0;
	char	   *other;

	/* a long name is the same up to here */
	if (!SK_DDL_IS_NAME(name))
		SK_DDL_ERROR(ddl, at, ERRCODE_INVALID_NAME,
					 errmsg("%s name not valid: %s.", type, name),
					 errhint("A name of Spanner has letters, digits and underscores, and begins with a letter."));
	if (is_constraint && (pg_strncasecmp(name, "PK_", 3) == 0 || pg_strncasecmp(name, "CK_IS_NOT_NULL_", 15) == 0))
		SK_DDL_ERROR(ddl, at, ERRCODE_RESERVED_NAME,
					 errmsg("Invalid %s name: %s. Prefix %s cannot be used.", type, name,
							name[0] == 'p' || name[0] == 'P' ? "PK_" : "CK_IS_NOT_NULL_"));
	if (!OidIsValid(schema))
		return;
	other = sk_query_text(psprintf("SELECT spanner_internal.same_name('%u', %s, '%d')", schema,
								   quote_literal_cstr(name), is_constraint));
	if (other != NULL)
		SK_DDL_ERROR(ddl, at, ERRCODE_DUPLICATE_OBJECT,
					 errmsg("Duplicate name in schema: %s.", name),
					 errdetail("It is the name of %s.", other));
	other = is_constraint || !OidIsValid(get_relname_relid(name, schema)) ? NULL :
		sk_query_text(psprintf("SELECT spanner_internal.made_up('%u', %s)", schema, quote_literal_cstr(name)));
	if (other != NULL)
	{
		Oid			relid = atooid(other);
		Oid			before = sk_ddl_on_relation(ddl, relid);

		SK_DDL_EMIT(ddl, "ALTER %s %s RENAME TO %s", get_rel_relkind(relid) == RELKIND_SEQUENCE ? "SEQUENCE" : "INDEX",
					sk_qualified_name(relid), quote_identifier(ChooseRelationName(name, NULL, "1", schema, false)));
		(void) sk_ddl_on_relation(ddl, before);
	}
}

/*
 * sk_ddl_keep_name
 *		If PostgreSQL has cut the name of an object, note all of it beside the
 *		object, for the way back.  "object" is what COMMENT ON calls it.
 */
void
sk_ddl_keep_name(SkDdlText *ddl, const char *name, const char *object)
{
	ListCell   *lc;

	foreach(lc, ddl->long_names)
	{
		if (strncmp(lfirst(lc), name, strlen(name)) != 0 || strlen(name) < NAMEDATALEN - MAX_MULTIBYTE_CHAR_LEN)
			continue;
		SK_DDL_EMIT(ddl, "COMMENT ON %s IS %s", object, quote_literal_cstr(lfirst(lc)));
		break;
	}
}

/*
 * sk_ddl_has_name
 *		Is a name in a list of them?
 */
bool
sk_ddl_has_name(const List *names, const char *name)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	}
	return false;
}

/*
 * sk_ddl_find
 *		The relation of a kind that has this name; InvalidOid if it may be
 *		and is missing.
 */
Oid
sk_ddl_find(SkDdlText *ddl, const SkName *name, char relkind, bool missing_ok)
{
	Oid			result = RangeVarGetRelid(range_var(name), NoLock, true);
	char		found = OidIsValid(result) ? get_rel_relkind(result) : '\0';

	if (found == relkind || (found == RELKIND_PARTITIONED_TABLE && relkind == RELKIND_RELATION) ||
		(found == RELKIND_PARTITIONED_INDEX && relkind == RELKIND_INDEX))
		return result;
	if (missing_ok && found == '\0')
		return InvalidOid;
	SK_DDL_ERROR(ddl, name->at, ERRCODE_UNDEFINED_TABLE,
				 errmsg("%s not found: %s", relkind == RELKIND_SEQUENCE ? "Sequence" : relkind == RELKIND_INDEX ? "Index" :
						relkind == RELKIND_VIEW ? "View" : "Table", sk_ddl_name(name)),
				 found == '\0' ? errhint("Qualify the name with its schema if that is not in the search path.") : 0);
	return InvalidOid;			/* keep compiler quiet */
}

/*
 * sk_ddl_skip
 *		Is there nothing to do, since IF EXISTS is said of what is missing?
 *		If it is not said, that is an error.
 */
bool
sk_ddl_skip(SkDdlText *ddl, const SkName *name, char relkind, bool exists_ok)
{
	if (OidIsValid(sk_ddl_find(ddl, name, relkind, exists_ok)))
		return false;
	ereport(NOTICE,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg(relkind == RELKIND_SEQUENCE ? "sequence \"%s\" does not exist, skipping" :
					"relation \"%s\" does not exist, skipping",
					(char *) llast(name->parts))));
	return true;
}

/*
 * sk_ddl_table_key
 *		The names of the columns of a table's key; NIL if it has none.
 */
List *
sk_ddl_table_key(Oid relid)
{
	return sk_query_texts(psprintf("SELECT pg_catalog.unnest(spanner_internal.table_key('%u'))", relid));
}

/*
 * sk_ddl_key
 *		The columns of a key as they are in a command, with their order.
 */
char *
sk_ddl_key(List *key)
{
	StringInfoData result;
	ListCell   *lc;

	initStringInfo(&result);
	foreach(lc, key)
	{
		SkKeyPart  *part = lfirst(lc);

		appendStringInfo(&result, "%s%s%s", result.len > 0 ? ", " : "",
						 quote_identifier(part->column), part->is_desc ? " DESC" : "");
		if (part->nulls != NULL)
			appendStringInfo(&result, " NULLS %s", part->nulls);
	}
	return result.data;
}

/*
 * sk_ddl_key_names
 *		The columns of a key, as a list of names.
 */
List *
sk_ddl_key_names(List *key)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, key)
		result = lappend(result, ((SkKeyPart *) lfirst(lc))->column);
	return result;
}

/*
 * sk_ddl_check_key
 *		Raise an error if PostgreSQL has no index of so many columns, or one is
 *		there twice.
 */
void
sk_ddl_check_key(SkDdlText *ddl, List *key, const char *object)
{
	ListCell   *lc;

	if (list_length(key) > INDEX_MAX_KEYS)
		SK_DDL_ERROR(ddl, ((SkKeyPart *) linitial(key))->at, ERRCODE_TOO_MANY_COLUMNS,
					 errmsg("cannot use more than %d columns in an index", INDEX_MAX_KEYS));
	foreach(lc, key)
	{
		SkKeyPart  *part = lfirst(lc);

		if (sk_ddl_has_name(list_truncate(sk_ddl_key_names(key), foreach_current_index(lc)), part->column))
			SK_DDL_ERROR(ddl, part->at, ERRCODE_DUPLICATE_COLUMN,
						 errmsg("%s has key column \"%s\" twice", object, part->column));
	}
}

/*
 * sk_ddl_check
 *		Raise the error whose message a query returns, if it does.
 */
void
sk_ddl_check(SkDdlText *ddl, int at, int code, const char *query)
{
	char	   *problem = sk_query_text(query);

	if (problem != NULL)
		SK_DDL_ERROR(ddl, at, code, errmsg("%s", problem));
}

/*
 * sk_ddl_check_interleave
 *		Raise an error if the key of a table or index does not begin with the
 *		parent's.
 */
void
sk_ddl_check_interleave(SkDdlText *ddl, int at, Oid child, Oid parent)
{
	sk_ddl_check(ddl, at, ERRCODE_INVALID_FOREIGN_KEY,
				 psprintf("SELECT spanner_internal.interleave_problem('%u', '%u', '%s')", child, parent,
						  ddl->dialect == SK_GOOGLESQL ? "googlesql" : "postgresql"));
}

/*
 * sk_ddl_database_setting
 *		What the database sets this setting to, as "name=value"; NULL if it
 *		does not.
 */
char *
sk_ddl_database_setting(const char *setting)
{
	return sk_query_text(psprintf("SELECT c FROM pg_catalog.pg_db_role_setting s,"
								  " pg_catalog.unnest(s.setconfig) c"
								  " WHERE s.setdatabase OPERATOR(pg_catalog.=) '%u'"
								  " AND s.setrole OPERATOR(pg_catalog.=) '0'"
								  " AND pg_catalog.starts_with(c, '%s=')",
								  MyDatabaseId, setting));
}

/*
 * sk_ddl_object
 *		The OID that one of our SQL functions returns for another one;
 *		InvalidOid if it returns NULL.
 */
Oid
sk_ddl_object(const char *function, Oid argument)
{
	char	   *oid = sk_query_text(psprintf("SELECT spanner_internal.%s('%u')", function, argument));

	return oid != NULL ? atooid(oid) : InvalidOid;
}

/*
 * sk_ddl_relation
 *		The name of a relation, qualified if the search path needs that.
 */
char *
sk_ddl_relation(Oid relid)
{
	return DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(relid)));
}
