/*-------------------------------------------------------------------------
 *
 * drop_extension.c
 *	  What is left to do when the extension is dropped.
 *
 * Core's functions would keep the extension, because they ask its support
 * function.  So they are detached when a command that drops the extension
 * starts, before core looks for what depends on it.  If the command fails,
 * the transaction takes that back.
 *
 * Labels stay on the sequences, and a dump that has them could not be
 * restored without the extension.  So they are removed together with it,
 * whichever command drops it; an event trigger on these commands loads the
 * library in time.
 *
 * src/sequence/drop_extension.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_seclabel.h"
#include "commands/extension.h"
#include "commands/user.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "sequence/binding.h"
#include "sequence/core_support.h"
#include "sequence/drop_extension.h"
#include "sequence/extension.h"

static object_access_hook_type prev_object_access_hook = NULL;

static void watch_drops(ObjectAccessType access, Oid classid, Oid objectid,
						int subid, void *arg);
static List *list_labelled(void);
static bool drops_extension(Node *command);

/*
 * sk_drop_extension_init
 *		Install the hook.
 */
void
sk_drop_extension_init(void)
{
	prev_object_access_hook = object_access_hook;
	object_access_hook = watch_drops;
}

/*
 * sk_drop_extension_start
 *		Detach core's functions if a command is about to drop the extension.
 *
 * Called before core has checked anything of the command.
 */
void
sk_drop_extension_start(Node *command)
{
	if (drops_extension(command) && sk_extension_exists())
		sk_detach_support();
}

static void
watch_drops(ObjectAccessType access, Oid classid, Oid objectid, int subid,
			void *arg)
{
	if (prev_object_access_hook)
		prev_object_access_hook(access, classid, objectid, subid, arg);

	if (access == OAT_DROP && classid == ExtensionRelationId &&
		objectid == get_extension_oid(SK_EXTENSION, true))
	{
		ListCell   *lc;

		foreach(lc, list_labelled())
			sk_binding_set(lfirst_oid(lc), NULL);
	}
}

/* The sequences with a label of ours. */
static List *
list_labelled(void)
{
	Relation	catalog = table_open(SecLabelRelationId, AccessShareLock);
	List	   *result = NIL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_seclabel_provider, BTEqualStrategyNumber,
				F_TEXTEQ, CStringGetTextDatum(SK_LABEL_PROVIDER));
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		result = lappend_oid(result,
							 ((FormData_pg_seclabel *) GETSTRUCT(tuple))->objoid);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

/* Will a command, unless it fails, drop the extension? */
static bool
drops_extension(Node *command)
{
	bool		result = false;
	Oid			owner;
	ListCell   *lc;

	if (!IsA(command, DropOwnedStmt) &&
		!(IsA(command, DropStmt) &&
		  ((DropStmt *) command)->removeType == OBJECT_EXTENSION))
		return false;

	owner = sk_extension_owner();
	if (!OidIsValid(owner) || !has_privs_of_role(GetUserId(), owner))
		return false;
	if (IsA(command, DropOwnedStmt))
		return list_member_oid(roleSpecsToIds(((DropOwnedStmt *) command)->roles),
							   owner);
	foreach(lc, ((DropStmt *) command)->objects)
		result |= strcmp(strVal(lfirst(lc)), SK_EXTENSION) == 0;
	return result;
}
