/*-------------------------------------------------------------------------
 *
 * drop_extension.c
 *	  What is left to do when the extension is dropped.
 *
 * Labels stay on the sequences, and a dump that has them could not be
 * restored without the extension.  So they are removed together with it,
 * whichever command drops it; an event trigger on these commands loads the
 * library in time.
 *
 * With CASCADE, core drops what calls our functions.  A column loses a
 * default, which can be set again.  But a domain would go altogether, and
 * take the columns of its type along, so its default is set back.
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
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_seclabel.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "commands/user.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "sequence/binding.h"
#include "sequence/dependents.h"
#include "sequence/drop_extension.h"
#include "sequence/sequence_functions.h"
#include "spi/run_command.h"

#define SK_EXTENSION "spanner_keys"

/* State of set_back_walker(). */
typedef struct SetBackContext
{
	Oid			nextval;		/* spanner.nextval */
	bool		changed;
} SetBackContext;

static object_access_hook_type prev_object_access_hook = NULL;

static void watch_drops(ObjectAccessType access, Oid classid, Oid objectid,
						int subid, void *arg);
static List *list_labelled(void);
static bool drops_extension(Node *command);
static Oid	extension_owner(void);
static Oid	schema_owner(void);
static void set_back_domain(Oid domain, Oid nextval);
static bool set_back_walker(Node *node, void *context);

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
 *		Have domains call core's nextval if a command drops the extension.
 *
 * "namespace" is the schema of spanner.nextval().
 */
void
sk_drop_extension_start(Node *command, Oid namespace)
{
	Oid			type = REGCLASSOID;
	Oid			nextval;
	ListCell   *lc;

	if (!drops_extension(command))
		return;
	nextval = sk_sequence_function("nextval", namespace, 1, &type, true);
	if (!OidIsValid(nextval))
		return;
	foreach(lc, sk_list_object_dependents(ProcedureRelationId, nextval,
										  TypeRelationId))
		set_back_domain(lfirst_oid(lc), nextval);
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

/* Is a command one that drops the extension with all that depends on it? */
static bool
drops_extension(Node *command)
{
	const char *name;
	ListCell   *lc;

	if (IsA(command, DropOwnedStmt))
	{
		List	   *owners = roleSpecsToIds(((DropOwnedStmt *) command)->roles);

		return ((DropOwnedStmt *) command)->behavior == DROP_CASCADE &&
			(list_member_oid(owners, extension_owner()) ||
			 list_member_oid(owners, schema_owner()));
	}

	if (!IsA(command, DropStmt) ||
		((DropStmt *) command)->behavior != DROP_CASCADE)
		return false;
	if (((DropStmt *) command)->removeType == OBJECT_EXTENSION)
		name = SK_EXTENSION;
	else if (((DropStmt *) command)->removeType == OBJECT_SCHEMA)
		name = SK_SCHEMA;
	else
		return false;

	foreach(lc, ((DropStmt *) command)->objects)
	{
		if (strcmp(strVal(lfirst(lc)), name) == 0)
			return true;
	}
	return false;
}

static Oid
extension_owner(void)
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

static Oid
schema_owner(void)
{
	HeapTuple	tuple = SearchSysCache1(NAMESPACENAME,
										CStringGetDatum(SK_SCHEMA));
	Oid			result;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	result = ((Form_pg_namespace) GETSTRUCT(tuple))->nspowner;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * As in a restore, or the default would be changed once more.  A domain that
 * belongs to somebody else is an error, since columns would be lost.
 */
static void
set_back_domain(Oid domain, Oid nextval)
{
	Node	   *expression = get_typdefault(domain);
	SetBackContext context = {nextval, false};
	int			nest_level;

	(void) set_back_walker(expression, &context);
	if (!context.changed)
		return;

	nest_level = NewGUCNestLevel();
	(void) set_config_option("check_function_bodies", "off",
							 PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	sk_run_command(psprintf("ALTER DOMAIN %s SET DEFAULT %s",
							format_type_be_qualified(domain),
							deparse_expression(expression, NIL, false, false)));
	AtEOXact_GUC(true, nest_level);
}

/* Replace our nextval, in place. */
static bool
set_back_walker(Node *node, void *context)
{
	SetBackContext *set_back = context;

	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) &&
		((FuncExpr *) node)->funcid == set_back->nextval)
	{
		((FuncExpr *) node)->funcid = F_NEXTVAL;
		set_back->changed = true;
	}
	return expression_tree_walker(node, set_back_walker, context);
}
