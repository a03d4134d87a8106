/*-------------------------------------------------------------------------
 *
 * drop_extension.c
 *	  What is left to do when the extension is dropped.
 *
 * Core's functions would keep the extension, because they ask its support
 * function, and so would bound sequences.  Labels would stay on these, and a
 * dump that has them could not be restored without the extension.  So both
 * are undone when a command that drops the extension starts, before core
 * looks for what depends on it.  If the command fails, the transaction takes
 * that back.
 *
 * src/sequence/drop_extension.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_seclabel.h"
#include "commands/seclabel.h"
#include "commands/user.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "sequence/binding.h"
#include "sequence/core_support.h"
#include "sequence/drop_extension.h"
#include "sequence/extension.h"
#include "sequence/redirect/column_default.h"
#include "sequence/redirect/identity_column.h"

static List *list_labelled(void);
static bool drops_extension(Node *command);

/*
 * sk_drop_extension_start
 *		Unbind and detach if a command is about to drop the extension.
 *
 * Called before core has checked anything of the command.
 */
void
sk_drop_extension_start(Node *command)
{
	ListCell   *lc;

	if (!drops_extension(command) || !sk_extension_exists())
		return;

	/* waits for those who are binding sequences, and keeps others out */
	LockDatabaseObject(ProcedureRelationId,
					   sk_function(SK_FUNCTION_SEQUENCE_SUPPORT), 0,
					   AccessExclusiveLock);
	foreach(lc, list_labelled())
	{
		ObjectAddress *object = lfirst(lc);

		if (object->objectSubId != 0)
			SetSecurityLabel(object, SK_LABEL_PROVIDER, NULL);
		else
		{
			sk_restore_identity(object->objectId,
								sk_sequence_identity(object->objectId));
			sk_binding_set(object->objectId, NULL);
		}
	}
	sk_detach_support();
}

/* The sequences and columns with a label of ours, as ObjectAddresses. */
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
	{
		FormData_pg_seclabel *form = (FormData_pg_seclabel *) GETSTRUCT(tuple);
		ObjectAddress *object = palloc(sizeof(ObjectAddress));

		ObjectAddressSubSet(*object, form->classoid, form->objoid,
							form->objsubid);
		result = lappend(result, object);
	}
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
