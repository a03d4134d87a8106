/*-------------------------------------------------------------------------
 *
 * own_objects.c
 *	  The extensions of the library in this database, and what belongs to them.
 *
 * The library can be loaded in a database that does not have the extension,
 * and where anybody may have made schemas of these names.  So nothing acts
 * before the extension is found here.  Membership in it tells its schemas,
 * tables and types from those of others.  Its functions in C have a name, a
 * schema and a symbol: only superusers create functions in C.
 *
 * Plans, stored expressions and other servers find the members where the
 * scripts have put them.  If one were renamed, moved or taken out of its
 * extension, sequences would give plain counters, which can be ids that exist.
 * So that is refused, for superusers as well, as long as the extension is
 * there.  Core refuses to drop them.
 *
 * A rename or move is seen after core has done it, when the object is known,
 * locked, and not visible yet under its new name: the catalogs still show the
 * old one.  So no name is resolved twice.  The event trigger on the command
 * has nothing to do for that but to load the library.
 *
 * A restore with --disable-triggers disables all triggers of a table of the
 * extension, and then has them fire as other triggers do: not for rows that
 * logical replication brings, by which a counter would go back.  So a change of
 * that is undone.
 *
 * The scripts of the extensions may do all of that.  So may pg_upgrade, which
 * makes the members one by one.
 *
 * src/spi/own_objects.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "compat.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/own_objects.h"

/* The extensions of the library: the core comes first, the others require it. */
static const char *const extensions[] = {
	SK_EXTENSION, SK_EXTENSION "_advisor", SK_EXTENSION "_ddl",
	SK_EXTENSION "_splits"
};

#define SK_SYMBOL "spanner_"

/* Its function in C, once it has been looked for. */
typedef struct OwnFunction
{
	const char *schema;
	const char *name;			/* its symbol begins with "spanner_" and that */
	Oid			types[6];		/* of its arguments */
	bool		is_cached;
	Oid			oid;			/* InvalidOid if there is none */
} OwnFunction;

static OwnFunction functions[] = {
	[SK_FUNCTION_ALL_SHARDS] = {SK_INTERNAL_SCHEMA, "all_shards", {INT4OID}},
	[SK_FUNCTION_ASCENDING_NEXTVAL] = {SK_INTERNAL_SCHEMA, "ascending_nextval", {REGCLASSOID, INT4OID}},
	[SK_FUNCTION_ASSIGN_ON_COMMIT] = {SK_SCHEMA, "assign_on_commit", {InvalidOid}},
	[SK_FUNCTION_BIT_REVERSE] = {SK_SCHEMA, "bit_reverse", {INT8OID, BOOLOID}},
	[SK_FUNCTION_CURRVAL] = {SK_SCHEMA, "currval", {REGCLASSOID}},
	[SK_FUNCTION_FINGERPRINT_BYTES] = {SK_SCHEMA, "farm_fingerprint", {BYTEAOID}},
	[SK_FUNCTION_FINGERPRINT_TEXT] = {SK_SCHEMA, "farm_fingerprint", {TEXTOID}},
	[SK_FUNCTION_LASTVAL] = {SK_SCHEMA, "lastval", {InvalidOid}},
	[SK_FUNCTION_MAP_COUNTER] = {SK_INTERNAL_SCHEMA, "map_counter", {INT8OID, REGCLASSOID}},
	[SK_FUNCTION_MAY_DRAW] = {SK_INTERNAL_SCHEMA, "may_draw", {REGCLASSOID, REGPROCEDUREOID}},
	[SK_FUNCTION_NEXTVAL] = {SK_SCHEMA, "nextval", {REGCLASSOID}},
	[SK_FUNCTION_NEXT_VALUE] = {SK_SCHEMA, "next_value", {TEXTOID}},
	[SK_FUNCTION_NEXT_VALUE_OF_SERIES] = {SK_SCHEMA, "next_value", {TEXTOID, TEXTARRAYOID}},
	[SK_FUNCTION_SEQUENCE_SUPPORT] = {SK_INTERNAL_SCHEMA, "sequence_support", {INTERNALOID}},
	[SK_FUNCTION_SETVAL] = {SK_INTERNAL_SCHEMA, "setval", {REGCLASSOID, INT8OID}},
	[SK_FUNCTION_SETVAL_CALLED] = {SK_INTERNAL_SCHEMA, "setval", {REGCLASSOID, INT8OID, BOOLOID}},
	[SK_FUNCTION_SHARD_ID] = {SK_SCHEMA, "shard_id", {INT4OID, ANYOID}},
	[SK_FUNCTION_SHARD_IDS] = {SK_INTERNAL_SCHEMA, "shard_ids", {INT4OID, ANYOID}},
	[SK_FUNCTION_STRING_TO_BYTES] = {SK_INTERNAL_SCHEMA, "string_to_bytes", {TEXTOID}},
	[SK_FUNCTION_TIME_BUCKETS] = {SK_INTERNAL_SCHEMA, "time_buckets", {INTERVALOID, TIMESTAMPOID, TIMESTAMPOID, TIMESTAMPOID, BOOLOID, INT4OID}},
	[SK_FUNCTION_TIME_BUCKETS_TZ] = {SK_INTERNAL_SCHEMA, "time_buckets", {INTERVALOID, TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID, BOOLOID, INT4OID}},
	[SK_FUNCTION_TIMESTAMP_TO_STRING] = {SK_SCHEMA, "timestamp_to_string", {TIMESTAMPTZOID, TEXTOID}},
};

/* Is "extension" cached, perhaps as InvalidOid? */
static bool is_cached = false;
static Oid	extension = InvalidOid;

/* The schema of users and the internal one, once they have been looked for. */
static Oid	schemas[2];

static uint64 invalidations = 0;

static object_access_hook_type prev_object_access_hook = NULL;

static void guard_members(Node *command);
static void watch_objects(void);
static Oid	find_extension(void);
static bool is_own_extension(const char *name);
static void forget_schemas(Datum arg, int cacheid, uint32 hashvalue);
static void forget_functions(Datum arg, int cacheid, uint32 hashvalue);
static Oid	find_function(SkFunction function);
static bool runs_own_script(void);
static void guarding_access(ObjectAccessType access, Oid class, Oid object,
							int column, void *arg);
static void check_place(Oid class, Oid object);
static void keep_trigger(Oid id);
static bool is_own_schema(Oid schema);
static bool is_moved(Oid class, Oid object);
static bool has_changed(AttrNumber attribute, HeapTuple old, HeapTuple new,
						TupleDesc desc);

/*
 * sk_own_objects_init
 *		Install the hook that sees renames and moves.
 */
void
sk_own_objects_init(void)
{
	prev_object_access_hook = object_access_hook;
	object_access_hook = guarding_access;
	sk_on_command(guard_members, NULL, NULL);
}

/*
 * Refuse ALTER EXTENSION ... DROP and ADD of a member.
 *
 * ADD because there would be no way back.  Whoever does not own the extension
 * gets core's error.
 */
static void
guard_members(Node *command)
{
	const char *extension;
	Oid			owner;

	if (!IsA(command, AlterExtensionContentsStmt))
		return;
	extension = ((AlterExtensionContentsStmt *) command)->extname;
	if (!is_own_extension(extension) || runs_own_script() || IsBinaryUpgrade)
		return;
	owner = sk_extension_owner(extension);
	if (!OidIsValid(owner) || !has_privs_of_role(GetUserId(), owner))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
			 errmsg("cannot change the members of extension \"%s\"", extension),
			 errdetail("Its scripts make them, and it does not work without them."),
			 errhint("Drop the extension to be rid of its objects.")));
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
 *		Who owns an extension; InvalidOid if the database does not have it.
 */
Oid
sk_extension_owner(const char *name)
{
	Relation	catalog = table_open(ExtensionRelationId, AccessShareLock);
	HeapTuple	tuple = get_catalog_object_by_oid(catalog, Anum_pg_extension_oid,
												  get_extension_oid(name, true));

	table_close(catalog, AccessShareLock);
	return HeapTupleIsValid(tuple) ? ((Form_pg_extension) GETSTRUCT(tuple))->extowner : InvalidOid;
}

/*
 * sk_is_member
 *		Does an object belong to an extension of the library?
 *
 * Only the core has schemas, so the others make nothing stale here.
 */
bool
sk_is_member(Oid class, Oid object)
{
	Oid			owner;

	if (!OidIsValid(find_extension()))
		return false;
	owner = getExtensionOfObject(class, object);
	return owner == extension ||
		(OidIsValid(owner) && is_own_extension(get_extension_name(owner)));
}

/*
 * sk_own_schema
 *		A schema, if it is the one that the script of the extension has made.
 */
Oid
sk_own_schema(const char *name)
{
	uint64		before = invalidations;
	Oid		   *schema = &schemas[strcmp(name, SK_SCHEMA) != 0];
	Oid			oid = *schema;

	if (OidIsValid(oid))
		return oid;
	oid = get_namespace_oid(name, true);
	if (!OidIsValid(oid) || !sk_is_member(NamespaceRelationId, oid))
		return InvalidOid;
	if (before == invalidations)
		*schema = oid;
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
 * sk_function
 *		The OID of a function of the extension.
 *
 * Raises an error if the database does not have the extension, or one of a
 * release before the library's.
 */
Oid
sk_function(SkFunction function)
{
	Oid			result = find_function(function);

	if (OidIsValid(result))
		return result;
	if (!sk_extension_exists())
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("extension \"%s\" does not exist in this database",
						SK_EXTENSION),
				 errhint("Run CREATE EXTENSION %s.", SK_EXTENSION)));
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_FUNCTION),
			 errmsg("function %s.%s of extension \"%s\" is missing",
					functions[function].schema, functions[function].name,
					SK_EXTENSION),
			 errhint("Run ALTER EXTENSION %s UPDATE, or create the extension anew.",
					 SK_EXTENSION)));
}

/*
 * sk_callable_function
 *		The OID of a function of the extension that the current user may call;
 *		else InvalidOid.
 */
Oid
sk_callable_function(SkFunction function)
{
	Oid			result = find_function(function);

	return OidIsValid(result) &&
		object_aclcheck(ProcedureRelationId, result, GetUserId(),
						ACL_EXECUTE) == ACLCHECK_OK ? result : InvalidOid;
}

/*
 * sk_is_function
 *		Is it this function of the extension, and not another one of that name?
 */
bool
sk_is_function(Oid funcid, SkFunction function)
{
	return funcid >= FirstNormalObjectId && funcid == find_function(function);
}

static void
watch_objects(void)
{
	static bool registered = false;

	if (registered)
		return;
	CacheRegisterSyscacheCallback(NAMESPACEOID, forget_schemas, (Datum) 0);
	CacheRegisterSyscacheCallback(PROCOID, forget_functions, (Datum) 0);
	registered = true;
}

/* The extension comes and goes together with its schemas. */
static void
forget_schemas(Datum arg, int cacheid, uint32 hashvalue)
{
	is_cached = false;
	memset(schemas, 0, sizeof(schemas));
	forget_functions(arg, cacheid, hashvalue);
}

static void
forget_functions(Datum arg, int cacheid, uint32 hashvalue)
{
	invalidations++;
	for (int i = 0; i < lengthof(functions); i++)
		functions[i].is_cached = false;
}

/* The OID of the extension, InvalidOid if the database does not have it. */
static Oid
find_extension(void)
{
	uint64		before;

	watch_objects();
	if (is_cached)
		return extension;
	/* the look may accept that something has changed */
	before = invalidations;
	extension = get_extension_oid(SK_EXTENSION, true);
	is_cached = before == invalidations;
	return extension;
}

static bool
is_own_extension(const char *name)
{
	for (int i = 0; name != NULL && i < lengthof(extensions); i++)
	{
		if (strcmp(name, extensions[i]) == 0)
			return true;
	}
	return false;
}

/*
 * The function of the table, InvalidOid if there is none.  Only the script of
 * the extension makes a function of such a symbol.  Privileges do not matter:
 * those of the caller's expression were checked before.
 */
static Oid
find_function(SkFunction function)
{
	OwnFunction *f = &functions[function];
	uint64		before = invalidations;
	int			count = 0;
	Oid			schema;
	HeapTuple	tuple = NULL;

	Assert(function < lengthof(functions) && f->name != NULL);
	if (f->is_cached)
		return f->oid;
	watch_objects();
	f->oid = InvalidOid;
	while (count < lengthof(f->types) && OidIsValid(f->types[count]))
		count++;
	schema = get_namespace_oid(f->schema, true);
	if (OidIsValid(schema))
		tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum(f->name),
								PointerGetDatum(buildoidvector(f->types, count)),
								ObjectIdGetDatum(schema));
	/* the look may have accepted that something has changed */
	f->is_cached = before == invalidations;
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId)
	{
		bool		isnull;
		Datum		source = SysCacheGetAttr(PROCNAMEARGSNSP, tuple,
											 Anum_pg_proc_prosrc, &isnull);
		char	   *symbol = isnull ? "" : TextDatumGetCString(source);

		if (strncmp(symbol, SK_SYMBOL, strlen(SK_SYMBOL)) == 0 &&
			strncmp(symbol +strlen(SK_SYMBOL), f->name, strlen(f->name)) == 0)
			f->oid = ((Form_pg_proc) GETSTRUCT(tuple))->oid;
	}
	ReleaseSysCache(tuple);
	return f->oid;
}

/*
 * Is a script of an extension of the library under way, which may change
 * what it likes?
 */
static bool
runs_own_script(void)
{
	return creating_extension &&
		is_own_extension(get_extension_name(CurrentExtensionObject));
}

static void
guarding_access(ObjectAccessType access, Oid class, Oid object, int column,
				void *arg)
{
	if (access == OAT_POST_ALTER && column == 0 && sk_extension_exists())
	{
		if (class == TriggerRelationId)
			keep_trigger(object);
		else
			check_place(class, object);
	}
	if (prev_object_access_hook)
		prev_object_access_hook(access, class, object, column, arg);
}

/* Most objects are told from ours by their schema. */
static void
check_place(Oid class, Oid object)
{
	ObjectAddress address;

	if (class == RelationRelationId ?
		!is_own_schema(get_rel_namespace(object)) :
		class == ProcedureRelationId ?
		!is_own_schema(get_func_namespace(object)) :
		class == NamespaceRelationId ?
		!is_own_schema(object) :
		class != TypeRelationId)
		return;
	if (runs_own_script() || IsBinaryUpgrade ||
		!sk_is_member(class, object) || !is_moved(class, object))
		return;
	ObjectAddressSet(address, class, object);
	ereport(ERROR,
			(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
			 errmsg("cannot rename or move %s because extension \"%s\" requires it",
					getObjectDescription(&address, false),
					get_extension_name(getExtensionOfObject(class, object))),
			 errdetail("The library finds it by its name and schema."),
			 errhint("Drop the extension to be rid of its objects.")));
}

/*
 * When a trigger of a table of the extension fires stays as it was.  The hook is
 * called before the command can see what it has done.
 */
static void
keep_trigger(Oid id)
{
	Relation	catalog = table_open(TriggerRelationId, RowExclusiveLock);
	HeapTuple	old = get_catalog_object_by_oid(catalog, Anum_pg_trigger_oid, id);
	Form_pg_trigger former = HeapTupleIsValid(old) ?
		(Form_pg_trigger) GETSTRUCT(old) : NULL;

	if (former != NULL && is_own_schema(get_rel_namespace(former->tgrelid)) &&
		sk_is_member(RelationRelationId, former->tgrelid) &&
		sk_is_member(ProcedureRelationId, former->tgfoid) &&
		!runs_own_script() && !IsBinaryUpgrade)
	{
		HeapTuple	new;

		CommandCounterIncrement();
		new = get_catalog_object_by_oid(catalog, Anum_pg_trigger_oid, id);
		if (((Form_pg_trigger) GETSTRUCT(new))->tgenabled != former->tgenabled)
		{
			((Form_pg_trigger) GETSTRUCT(new))->tgenabled = former->tgenabled;
			CatalogTupleUpdate(catalog, &new->t_self, new);
			CacheInvalidateRelcacheByRelid(former->tgrelid);
		}
	}
	table_close(catalog, RowExclusiveLock);
}

static bool
is_own_schema(Oid schema)
{
	return schema == sk_own_schema(SK_SCHEMA) ||
		schema == sk_own_schema(SK_INTERNAL_SCHEMA);
}

/* Has the command changed the name or the schema of an object? */
static bool
is_moved(Oid class, Oid object)
{
	Relation	catalog = table_open(class, AccessShareLock);
	HeapTuple	old = SearchSysCache1(get_object_catcache_oid(class),
									  ObjectIdGetDatum(object));
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	new;
	bool		result = false;

	ScanKeyInit(&key, get_object_attnum_oid(class), BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(object));
	scan = systable_beginscan(catalog, get_object_oid_index(class), true,
							  SnapshotSelf, 1, &key);
	new = systable_getnext(scan);
	if (HeapTupleIsValid(old) && HeapTupleIsValid(new))
		result = has_changed(get_object_attnum_name(class), old, new,
							 RelationGetDescr(catalog)) ||
			has_changed(get_object_attnum_namespace(class), old, new,
						RelationGetDescr(catalog));
	systable_endscan(scan);
	if (HeapTupleIsValid(old))
		ReleaseSysCache(old);
	table_close(catalog, AccessShareLock);
	return result;
}

static bool
has_changed(AttrNumber attribute, HeapTuple old, HeapTuple new, TupleDesc desc)
{
	Form_pg_attribute att;
	bool		isnull;

	/* a schema is in no schema */
	if (attribute == InvalidAttrNumber)
		return false;
	att = TupleDescAttr(desc, attribute - 1);
	return !datumIsEqual(heap_getattr(old, attribute, desc, &isnull),
						 heap_getattr(new, attribute, desc, &isnull),
						 att->attbyval, att->attlen);
}
