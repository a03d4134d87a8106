/*-------------------------------------------------------------------------
 *
 * member_guard.c
 *	  The schemas, functions and relations of the extension stay what they are,
 *	  and its triggers fire as they did.
 *
 * Plans, stored expressions and other servers find the objects of the
 * extension where its scripts have put them.  If one were renamed, moved or
 * taken out of the extension, sequences would give plain counters, which can
 * be ids that exist.  So that is refused, for superusers as well, as long as
 * the extension is there.  Core refuses to drop them.
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
 * The scripts of the extension may do all of that.  So may pg_upgrade, which
 * makes the members one by one.
 *
 * src/sequence/member_guard.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/dependency.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "sequence/extension.h"
#include "spi/own_objects.h"

static object_access_hook_type prev_object_access_hook = NULL;

static void guarding_access(ObjectAccessType access, Oid class, Oid object,
							int column, void *arg);
static void check_place(Oid class, Oid object);
static void keep_trigger(Oid id);
static HeapTuple copy_trigger(Relation catalog, Oid id);
static bool is_own_schema(Oid schema);
static bool is_moved(Oid class, Oid object);
static bool has_changed(AttrNumber attribute, HeapTuple old, HeapTuple new,
						TupleDesc desc);

/*
 * sk_member_guard_init
 *		Install the hook that sees renames and moves.
 */
void
sk_member_guard_init(void)
{
	prev_object_access_hook = object_access_hook;
	object_access_hook = guarding_access;
}

/*
 * sk_guard_members
 *		Refuse ALTER EXTENSION ... DROP and ADD of a member.
 *
 * ADD because there would be no way back.  Whoever does not own the extension
 * gets core's error.
 */
void
sk_guard_members(Node *command)
{
	const char *extension;
	Oid			owner;

	if (!IsA(command, AlterExtensionContentsStmt))
		return;
	extension = ((AlterExtensionContentsStmt *) command)->extname;
	if (!sk_is_own_extension(extension) || sk_runs_own_script() || IsBinaryUpgrade)
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
	if (sk_runs_own_script() || IsBinaryUpgrade ||
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
	HeapTuple	old = copy_trigger(catalog, id);
	Form_pg_trigger former = HeapTupleIsValid(old) ?
		(Form_pg_trigger) GETSTRUCT(old) : NULL;

	if (former != NULL && is_own_schema(get_rel_namespace(former->tgrelid)) &&
		sk_is_member(RelationRelationId, former->tgrelid) &&
		sk_is_member(ProcedureRelationId, former->tgfoid) &&
		!sk_runs_own_script() && !IsBinaryUpgrade)
	{
		HeapTuple	new;

		CommandCounterIncrement();
		new = copy_trigger(catalog, id);
		if (((Form_pg_trigger) GETSTRUCT(new))->tgenabled != former->tgenabled)
		{
			((Form_pg_trigger) GETSTRUCT(new))->tgenabled = former->tgenabled;
			CatalogTupleUpdate(catalog, &new->t_self, new);
			CacheInvalidateRelcacheByRelid(former->tgrelid);
		}
	}
	table_close(catalog, RowExclusiveLock);
}

/* Triggers have no syscache. */
static HeapTuple
copy_trigger(Relation catalog, Oid id)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	result;

	ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(id));
	scan = systable_beginscan(catalog, TriggerOidIndexId, true, NULL, 1, &key);
	result = systable_getnext(scan);
	if (HeapTupleIsValid(result))
		result = heap_copytuple(result);
	systable_endscan(scan);
	return result;
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
