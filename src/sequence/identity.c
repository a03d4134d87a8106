/*-------------------------------------------------------------------------
 *
 * identity.c
 *	  Identity columns whose sequence is bound.
 *
 * Such a column has no identity in the catalogs.  It is known by its
 * default: that fetches from a sequence with an identity in its label, which
 * the column owns, or that of the partitioned table above it.
 *
 * ATTACH PARTITION and DETACH PARTITION must not lock the whole table.  So we
 * act when they have ended: a partition without a default has that of its table
 * while it is attached.
 *
 * src/sequence/identity.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
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
#include "nodes/makefuncs.h"
#include "parser/parse_coerce.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/sequence.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"

static void set_identity(Oid table, const char *column, SkIdentity identity);
static bool drop_default(Oid table, const char *column, Oid seqid);
static void give_default(Oid table, const char *column, Oid seqid);
static void follow_partitions(Node *command, List *relations);
static void follow_attach(Oid parent, Oid partition);
static void refuse_identity(Oid partition, const char *column);
static void follow_detach(Oid parent, Oid partition);

/*
 * sk_identity_init
 *		Register for partitions that are attached and detached.
 */
void
sk_identity_init(void)
{
	sk_on_command(NULL, NULL, follow_partitions);
}

/*
 * sk_identity_columns
 *		The columns of a relation that fetch for an identity of a table, as a list
 *		of SkIdentityColumn.
 *
 * The relation is locked.  The identity may also be of a partitioned table above
 * the table.
 */
List *
sk_identity_columns(Oid relid, Oid table)
{
	Relation	rel = relation_open(relid, NoLock);
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *result = NIL;

	for (int i = 0; desc->constr != NULL && i < desc->constr->num_defval; i++)
	{
		AttrDefault *value = &desc->constr->defval[i];
		SkIdentityColumn *column = palloc(sizeof(SkIdentityColumn));

		column->name = pstrdup(NameStr(TupleDescAttr(desc, value->adnum - 1)->attname));
		column->seqid = sk_fetched_sequence(stringToNode(value->adbin), InvalidOid);
		column->identity = OidIsValid(column->seqid) ?
			sk_column_identity(column->seqid, table, column->name) : SK_IDENTITY_NONE;
		if (column->identity != SK_IDENTITY_NONE)
			result = lappend(result, column);
	}
	relation_close(rel, NoLock);
	return result;
}

/*
 * sk_column_identity
 *		What identity a column was, if its default fetches from a sequence.
 */
SkIdentity
sk_column_identity(Oid seqid, Oid table, const char *column)
{
	SkIdentity	identity = sk_sequence_identity(seqid);
	char	   *name;

	if (identity == SK_IDENTITY_NONE)
		return identity;
	name = sk_identity_name(seqid, table);
	return name != NULL && strcmp(name, column) == 0 ? identity : SK_IDENTITY_NONE;
}

/*
 * sk_identity_name
 *		The column of a table whose identity a sequence had, NULL if there is none.
 *
 * The identity may also be of a partitioned table above it.
 */
char *
sk_identity_name(Oid seqid, Oid table)
{
	Oid			owner;
	int32		attnum;

	if (!sequenceIsOwned(seqid, DEPENDENCY_AUTO, &owner, &attnum) ||
		(owner != table &&
		 !(get_rel_relispartition(table) &&
		   list_member_oid(get_partition_ancestors(table), owner))))
		return NULL;
	return get_attname(owner, attnum, false);
}

/*
 * sk_change_identity
 *		Make the column of a sequence an identity in the catalogs, or with
 *		SK_IDENTITY_NONE one that owns the sequence, with a default.
 *
 * Nothing happens if the column is that already, or no longer draws from the
 * sequence.  The partitions of a table follow, as those of core do from release 17
 * on.  A default that one has of its own stays.
 */
void
sk_change_identity(Oid seqid, SkIdentity identity)
{
	bool		draws = identity == SK_IDENTITY_NONE;
	char		before = draws ? DEPENDENCY_INTERNAL : DEPENDENCY_AUTO;
	Oid			table;
	int32		column;
	char	   *name;
	ObjectAddress sequence;
	ObjectAddress owner;
	ListCell   *lc;

	if (!sequenceIsOwned(seqid, before, &table, &column))
		return;
	name = get_attname(table, column, false);
	/* from the top to the partitions, as ALTER TABLE locks them */
	LockRelationOid(table, AccessExclusiveLock);
	foreach(lc, find_all_inheritors(table, AccessExclusiveLock, NULL))
	{
		Oid			relid = lfirst_oid(lc);

		if (relid != table && !get_rel_relispartition(relid))
			continue;
		if (!draws && !drop_default(relid, name, seqid) && relid == table)
			return;
		set_identity(relid, name,
					 relid == table || SK_PARTITIONS_HAVE_IDENTITY ?
					 identity : SK_IDENTITY_NONE);
		if (draws)
			give_default(relid, name, seqid);
	}
	/* last: until here the dependency tells which of the two the column is */
	ObjectAddressSet(sequence, RelationRelationId, seqid);
	ObjectAddressSubSet(owner, RelationRelationId, table, column);
	(void) deleteDependencyRecordsForClass(RelationRelationId, seqid,
										   RelationRelationId, before);
	recordDependencyOn(&sequence, &owner, draws ? DEPENDENCY_AUTO : DEPENDENCY_INTERNAL);
	CommandCounterIncrement();
}

/* Set the identity of a column in the catalogs, if it is another. */
static void
set_identity(Oid table, const char *column, SkIdentity identity)
{
	Relation	catalog = table_open(AttributeRelationId, RowExclusiveLock);
	HeapTuple	tuple = SearchSysCacheCopyAttName(table, column);
	Form_pg_attribute form;

	Assert(sk_relation_is_locked(table, AccessExclusiveLock));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for attribute \"%s\" of relation %u",
			 column, table);
	form = (Form_pg_attribute) GETSTRUCT(tuple);
	if (form->attidentity != identity)
	{
		form->attidentity = identity;
		CatalogTupleUpdate(catalog, &tuple->t_self, tuple);
		CommandCounterIncrement();
	}
	table_close(catalog, RowExclusiveLock);
}

/* Drop the default of a column.  Returns false if it fetches from no such sequence. */
static bool
drop_default(Oid table, const char *column, Oid seqid)
{
	AttrNumber	attnum = get_attnum(table, column);
	Relation	rel = table_open(table, AccessExclusiveLock);
	bool		draws;

	draws = sk_fetched_sequence(build_column_default(rel, attnum), InvalidOid) == seqid;
	table_close(rel, NoLock);
	if (draws)
	{
		RemoveAttrDefault(table, attnum, DROP_RESTRICT, true, true);
		CommandCounterIncrement();
	}
	return draws;
}

/*
 * Have a column fetch from a sequence, unless it has a default of its own.
 *
 * The default is stored as it is, so nothing of the table is evaluated,
 * whoever it belongs to.
 */
static void
give_default(Oid table, const char *column, Oid seqid)
{
	AlterTableCmd *command = makeNode(AlterTableCmd);
	Node	   *value;

	Assert(sk_relation_is_locked(table, AccessExclusiveLock));
	if (OidIsValid(GetAttrDefaultOid(table, get_attnum(table, column))))
		return;
	value = (Node *) makeFuncExpr(F_NEXTVAL, INT8OID,
								  list_make1(sk_make_oid(REGCLASSOID, seqid)),
								  InvalidOid, InvalidOid,
								  COERCE_EXPLICIT_CALL);
	command->subtype = AT_CookedColumnDefault;
	command->num = get_attnum(table, column);
	command->def = coerce_to_target_type(NULL, value, INT8OID,
										 get_atttype(table, command->num), -1,
										 COERCION_ASSIGNMENT,
										 COERCE_IMPLICIT_CAST, -1);
	/* the one form that is known again as that of a former identity */
	Assert(sk_fetched_sequence(command->def, InvalidOid) == seqid);
	/* no command that others are to see */
	EventTriggerInhibitCommandCollection();
	AlterTableInternal(table, list_make1(command), false);
	EventTriggerUndoInhibitCommandCollection();
	CommandCounterIncrement();
}

/* Partitions that a command has attached or detached. */
static void
follow_partitions(Node *command, List *relations)
{
	ListCell   *lc;
	ListCell   *lc2;

	if (!IsA(command, AlterTableStmt) || !sk_bindings_exist())
		return;
	foreach(lc, relations)
	{
		SkCommandRelation *parent = lfirst(lc);

		if (parent->relkind != RELKIND_PARTITIONED_TABLE ||
			parent->command->type != SCT_AlterTable)
			continue;
		foreach(lc2, parent->command->d.alterTable.subcmds)
		{
			CollectedATSubcmd *cmd = lfirst(lc2);
			AlterTableType subtype = castNode(AlterTableCmd, cmd->parsetree)->subtype;
			Oid			partition;

			if (subtype != AT_AttachPartition && subtype != AT_DetachPartition &&
				subtype != AT_DetachPartitionFinalize)
				continue;
			partition = sk_noted_partition(cmd);
			if (get_rel_relkind(partition) == '\0')
				continue;
			if (subtype == AT_AttachPartition)
				follow_attach(parent->relid, partition);
			else
				follow_detach(parent->relid, partition);
		}
	}
}

/* An attached partition without a default draws as its table does. */
static void
follow_attach(Oid parent, Oid partition)
{
	List	   *columns = sk_identity_columns(parent, parent);
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, sk_identity_columns(partition, partition))
	{
		SkIdentityColumn *own = lfirst(lc);
		Oid			owner;
		int32		attnum;

		if (sk_sequence_owner(own->seqid, &owner, &attnum) && owner == partition)
			refuse_identity(partition, own->name);
	}
	foreach(lc, columns)
	{
		SkIdentityColumn *column = lfirst(lc);
		Relation	rel = table_open(partition, NoLock);

		if (TupleDescAttr(RelationGetDescr(rel),
						  get_attnum(partition, column->name) - 1)->attidentity != '\0')
			refuse_identity(partition, column->name);
		table_close(rel, NoLock);
		foreach(lc2, find_all_inheritors(partition, AccessExclusiveLock, NULL))
			give_default(lfirst_oid(lc2), column->name, column->seqid);
	}
}

static void
refuse_identity(Oid partition, const char *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table \"%s\" being attached contains an identity column \"%s\"",
					get_rel_name(partition), column),
			 errdetail("The new partition may not contain an identity column.")));
}

/* A detached partition no longer draws for its former table. */
static void
follow_detach(Oid parent, Oid partition)
{
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, find_all_inheritors(partition, AccessExclusiveLock, NULL))
	{
		Oid			relid = lfirst_oid(lc);

		foreach(lc2, sk_identity_columns(relid, parent))
		{
			SkIdentityColumn *column = lfirst(lc2);

			(void) drop_default(relid, column->name, column->seqid);
		}
	}
}
