/*-------------------------------------------------------------------------
 *
 * identity_column.c
 *	  Identity columns whose sequence is bound.
 *
 * Core's identity draws the plain counter.  So the column becomes one that
 * owns the sequence, with a default that draws from it, as a serial column.
 * What the column was is in the label of the sequence.
 *
 * So such a column has no identity in the catalogs.  It is known by its
 * default: that draws from a sequence with an identity in its label, which
 * the column owns, or that of the partitioned table above it.
 *
 * src/sequence/redirect/identity_column.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/partition.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/extension.h"
#include "sequence/redirect/identity_column.h"
#include "sequence/sequence.h"
#include "spi/own_objects.h"

static bool belongs_to_identity(Oid seqid, const char *column, Oid table);
static List *lock_tree(Oid table);
static void change_dependency(Oid table, AttrNumber column, Oid seqid,
							  char from, char to);
static bool set_identity(Oid table, const char *column, char identity);
static bool has_default(Oid table, const char *column);

/*
 * sk_identity_columns
 *		The columns of a relation that draw for an identity of a table, as a
 *		list of SkIdentityColumn.
 *
 * The identity may also be of a partitioned table above that.
 */
List *
sk_identity_columns(Relation rel, Oid table)
{
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *result = NIL;

	for (int i = 0; desc->constr != NULL && i < desc->constr->num_defval; i++)
	{
		AttrDefault *value = &desc->constr->defval[i];
		Oid			seqid = sk_drawn_sequence(stringToNode(value->adbin));
		SkIdentityColumn *column;
		SkIdentity	identity;

		if (!OidIsValid(seqid))
			continue;
		identity = sk_sequence_identity(seqid);
		if (identity == SK_IDENTITY_NONE ||
			!belongs_to_identity(seqid,
								 NameStr(TupleDescAttr(desc, value->adnum - 1)->attname),
								 table))
			continue;
		column = palloc(sizeof(SkIdentityColumn));
		column->attnum = value->adnum;
		column->seqid = seqid;
		column->identity = identity;
		result = lappend(result, column);
	}
	return result;
}

static bool
belongs_to_identity(Oid seqid, const char *column, Oid table)
{
	Oid			owner;
	int32		attnum;

	if (!sequenceIsOwned(seqid, DEPENDENCY_AUTO, &owner, &attnum) ||
		strcmp(get_attname(owner, attnum, false), column) != 0)
		return false;
	return owner == table ||
		(get_rel_relispartition(table) &&
		 list_member_oid(get_partition_ancestors(table), owner));
}

/*
 * sk_convert_identity
 *		Make an identity column one with an owned sequence and a default.
 *
 * The partitions of a table follow, as those of core do from release 17 on.
 * A default that one has of its own stays.
 */
void
sk_convert_identity(Oid table, AttrNumber column, Oid seqid)
{
	char	   *name = get_attname(table, column, false);
	ListCell   *lc;

	change_dependency(table, column, seqid, DEPENDENCY_INTERNAL,
					  DEPENDENCY_AUTO);
	foreach(lc, lock_tree(table))
	{
		Oid			relid = lfirst_oid(lc);

		if (set_identity(relid, name, '\0') ||
			(relid != table && !has_default(relid, name)))
			sk_set_default(relid, name, seqid);
	}
}

/*
 * sk_restore_identity
 *		Make a column that sk_convert_identity() has changed what it was.
 *
 * Nothing happens if the column no longer draws from the sequence.
 */
void
sk_restore_identity(Oid seqid, SkIdentity identity)
{
	const char	mark = identity == SK_IDENTITY_ALWAYS ?
		ATTRIBUTE_IDENTITY_ALWAYS : ATTRIBUTE_IDENTITY_BY_DEFAULT;
	Oid			table;
	int32		column;
	char	   *name;
	ListCell   *lc;

	if (identity == SK_IDENTITY_NONE ||
		!sequenceIsOwned(seqid, DEPENDENCY_AUTO, &table, &column))
		return;
	name = get_attname(table, column, false);
	foreach(lc, lock_tree(table))
	{
		Oid			relid = lfirst_oid(lc);

		if (sk_drop_default(relid, name, seqid))
			(void) set_identity(relid, name,
								relid == table || SK_PARTITIONS_HAVE_IDENTITY ?
								mark : '\0');
		else if (relid == table)
			return;
	}
	change_dependency(table, column, seqid, DEPENDENCY_AUTO,
					  DEPENDENCY_INTERNAL);
}

/* Lock a table and the partitions below it, and list them, the table first. */
static List *
lock_tree(Oid table)
{
	List	   *result = NIL;
	ListCell   *lc;

	LockRelationOid(table, AccessExclusiveLock);
	foreach(lc, find_all_inheritors(table, AccessExclusiveLock, NULL))
	{
		if (lfirst_oid(lc) == table || get_rel_relispartition(lfirst_oid(lc)))
			result = lappend_oid(result, lfirst_oid(lc));
	}
	return result;
}

/* Have a sequence depend on its column in another way. */
static void
change_dependency(Oid table, AttrNumber column, Oid seqid, char from, char to)
{
	ObjectAddress sequence;
	ObjectAddress owner;

	Assert(sk_relation_is_locked(table, AccessExclusiveLock) && column > 0);
	ObjectAddressSet(sequence, RelationRelationId, seqid);
	ObjectAddressSubSet(owner, RelationRelationId, table, column);
	(void) deleteDependencyRecordsForClass(RelationRelationId, seqid,
										   RelationRelationId, from);
	recordDependencyOn(&sequence, &owner, to);
	CommandCounterIncrement();
}

/* Returns false if the identity of a column is that already. */
static bool
set_identity(Oid table, const char *column, char identity)
{
	Relation	catalog = table_open(AttributeRelationId, RowExclusiveLock);
	HeapTuple	tuple = SearchSysCacheCopyAttName(table, column);
	Form_pg_attribute form;
	bool		changes;

	Assert(sk_relation_is_locked(table, AccessExclusiveLock));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for attribute \"%s\" of relation %u",
			 column, table);
	form = (Form_pg_attribute) GETSTRUCT(tuple);
	changes = form->attidentity != identity;
	if (changes)
	{
		form->attidentity = identity;
		CatalogTupleUpdate(catalog, &tuple->t_self, tuple);
		CommandCounterIncrement();
	}
	table_close(catalog, RowExclusiveLock);
	return changes;
}

static bool
has_default(Oid table, const char *column)
{
	return OidIsValid(GetAttrDefaultOid(table, get_attnum(table, column)));
}

/*
 * sk_drop_default
 *		Drop the default of a column if it draws from a sequence.
 *
 * Returns false if it does not.
 */
bool
sk_drop_default(Oid table, const char *column, Oid seqid)
{
	AttrNumber	attnum = get_attnum(table, column);
	Relation	rel = table_open(table, AccessExclusiveLock);
	bool		draws;

	draws = sk_drawn_sequence(build_column_default(rel, attnum)) == seqid;
	table_close(rel, NoLock);
	if (draws)
	{
		RemoveAttrDefault(table, attnum, DROP_RESTRICT, true, true);
		CommandCounterIncrement();
	}
	return draws;
}

/*
 * sk_set_default
 *		Have a column draw from a sequence.
 *
 * The default is stored as it is, so nothing of the table is evaluated,
 * whoever it belongs to.
 */
void
sk_set_default(Oid table, const char *column, Oid seqid)
{
	AlterTableCmd *command = makeNode(AlterTableCmd);
	AlterTableStmt *statement = makeNode(AlterTableStmt);
	Const	   *sequence = makeConst(REGCLASSOID, -1, InvalidOid, sizeof(Oid),
									 ObjectIdGetDatum(seqid), false, true);
	Node	   *value;

	Assert(sk_relation_is_locked(table, AccessExclusiveLock));
	value = (Node *) makeFuncExpr(F_NEXTVAL, INT8OID, list_make1(sequence),
								  InvalidOid, InvalidOid,
								  COERCE_EXPLICIT_CALL);
	command->subtype = AT_CookedColumnDefault;
	command->num = get_attnum(table, column);
	command->def = coerce_to_target_type(NULL, value, INT8OID,
										 get_atttype(table, command->num), -1,
										 COERCION_ASSIGNMENT,
										 COERCE_IMPLICIT_CAST, -1);
	/* the one form that is known again as that of a former identity */
	Assert(sk_drawn_sequence(command->def) == seqid);
	statement->relation = makeRangeVar(get_namespace_name(get_rel_namespace(table)),
									   get_rel_name(table), -1);
	statement->cmds = list_make1(command);
	statement->objtype = OBJECT_TABLE;

	EventTriggerAlterTableStart((Node *) statement);
	AlterTableInternal(table, statement->cmds, false);
	EventTriggerAlterTableEnd();
	CommandCounterIncrement();
}
