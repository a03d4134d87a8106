/*-------------------------------------------------------------------------
 *
 * identity.c
 *	  Identity columns whose sequence is bound.
 *
 * Core's identity returns the plain counter.  So the column becomes one that
 * owns the sequence, with a default that fetches from it, as a serial column.
 * What the column was is in the label of the sequence.
 *
 * So such a column has no identity in the catalogs.  It is known by its
 * default: that fetches from a sequence with an identity in its label, which
 * the column owns, or that of the partitioned table above it.
 *
 * Core treats such columns in commands as any identity column.  When ALTER TABLE starts,
 * the identity is put back into the catalogs.  When it ends, what is left of it
 * is converted again.
 *
 * ATTACH PARTITION and DETACH PARTITION must not lock the whole table.  So we
 * act when they have ended: a partition has the default of its table while it
 * is attached.
 *
 * A table that is made LIKE another gets no default that fetches for the other's
 * identity, but with INCLUDING IDENTITY an identity of its own, as in core.
 * CREATE TABLE carries the commands for that in the alias of the table's name,
 * which no parser sets there.
 *
 * In queries such a column keeps what GENERATED ALWAYS and OVERRIDING mean.
 * Core does this while it rewrites a query.  Here it is done to the rewritten
 * query, which has the default of a column where core would have put it: views
 * and rules need no thought.  A call of nextval that a user writes, of the same
 * sequence, looks the same and is accepted.
 *
 * COPY is not planned, and takes explicit values, as with identity.  So does
 * a restore: INSERTs in a dump know nothing of an identity.
 *
 * Most relations have no such column.  Each is looked at once in a session,
 * until it or any label changes.
 *
 * A column that is an identity in the catalogs fetches with core's
 * NextValueExpr, which has no support function.  So, once the library is
 * loaded, it is mapped before the query is planned: that of a bound sequence for
 * its value, any other so that spanner.lastval() knows of it.  A bound sequence
 * still belongs to such a column only if its label comes from a restore.
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
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_seclabel.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "commands/sequence.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/column_label.h"
#include "sequence/core_support.h"
#include "sequence/identity.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/own_objects.h"
#include "spi/relation_changes.h"

/* A column whose default fetches from the sequence of its former identity. */
typedef struct SkIdentityColumn
{
	AttrNumber	attnum;
	Oid			seqid;
	SkIdentity	identity;
} SkIdentityColumn;

/* What is known of a relation; most have no such columns. */
typedef struct ColumnsEntry
{
	Oid			relid;			/* hash key */
	List	   *columns;		/* of SkIdentityColumn */
} ColumnsEntry;

/* So many relations are known at most. */
#define SK_MAX_RELATIONS 1024

static planner_hook_type prev_planner_hook = NULL;
static HTAB *columns_cache = NULL;
static uint64 invalidations = 0;
static void (*complete_label) (Oid seqid);

static List *identity_columns(Relation rel, Oid table);
static bool belongs_to_identity(Oid seqid, const char *column, Oid table);
static List *lock_tree(Oid table);
static void change_dependency(Oid table, AttrNumber column, Oid seqid,
							  char from, char to);
static bool set_identity(Oid table, const char *column, char identity);
static bool drop_default(Oid table, const char *column, Oid seqid);
static void set_default(Oid table, const char *column, Oid seqid);
static void identity_guard(Node *command);
static void check_owner(AlterSeqStmt *stmt);
static bool owned_by(DefElem *option, Oid *relid, AttrNumber *column);
static bool fetches_by_default(Oid relid, AttrNumber column, Oid seqid);
static void check_drop(DropStmt *stmt);
static void identity_start(Node *command);
static void identity_end(Node *command, List *relations);
static void complete_name(CreateSchemaStmt *stmt, Node *element);
static bool alters_column(AlterTableCmd *cmd);
static void restore_altered(AlterTableStmt *stmt);
static void check_partition(AlterTableCmd *cmd, Oid relid, Oid seqid);
static bool hands_over(AlterTableCmd *cmd, Oid relid, Oid seqid);
static void convert_altered(AlterTableStmt *stmt);
static List *table_columns(Oid relid, Oid table);
static void follow_partitions(AlterTableStmt *stmt);
static void follow_attach(Oid parent, Oid partition);
static void refuse_identity(Oid partition, const char *column);
static void follow_detach(Oid parent, Oid partition);
static void prepare_like(CreateStmt *stmt);
static List *like_commands(TableLikeClause *clause);
static AlterTableCmd *make_add_identity(const char *column,
										SkIdentityColumn *identity, Oid type);
static List *options_of_type(Oid seqid, Oid type);
static void follow_like(CreateStmt *stmt);
static PlannedStmt *identity_planner(SK_PLANNER_ARGS);
static bool has_identity(Node *node, void *context);
static Node *identity_mutator(Node *node, void *context);
static Node *map_identity(NextValueExpr *identity);
static void check_explicit_values(Query *query);
static void check_query(Query *query);
static void check_insert(Query *query, List *targets, OverridingKind override,
						 Oid relid, List *columns);
static void check_update(List *targets, Oid relid, List *columns);
static TargetEntry *find_target(List *targets, AttrNumber attnum);
static List **find_values(Query *query, TargetEntry *target);
static bool fetches_from(Query *query, TargetEntry *target, Oid seqid);
static void put_default_back(Query *query, TargetEntry *target, Oid relid);
static List *list_columns(Oid relid);
static List *copy_columns(List *columns);
static void forget_columns(Datum arg, Oid relid);

/*
 * sk_identity_init
 *		Register for commands, install the planner hook, and make the cache of
 *		columns.
 *
 * "complete" is called for a bound sequence whose column is an identity in the
 * catalogs, to convert it.  Plans that the session made before it loaded the
 * library are made again.
 */
void
sk_identity_init(void (*complete) (Oid seqid))
{
	HASHCTL		ctl = {0};

	complete_label = complete;
	sk_on_command(identity_guard, identity_start, identity_end);
	ctl.keysize = sizeof(Oid);
	ctl.entrysize = sizeof(ColumnsEntry);
	columns_cache = hash_create("spanner_keys identity columns", 64, &ctl,
								HASH_ELEM | HASH_BLOBS);
	sk_on_relation_change(forget_columns);
	prev_planner_hook = planner_hook;
	planner_hook = identity_planner;
	ResetPlanCache();
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
			(relid != table &&
			 !OidIsValid(GetAttrDefaultOid(relid, get_attnum(relid, name)))))
			set_default(relid, name, seqid);
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

		if (drop_default(relid, name, seqid))
			(void) set_identity(relid, name,
								relid == table || SK_PARTITIONS_HAVE_IDENTITY ?
								mark : '\0');
		else if (relid == table)
			return;
	}
	change_dependency(table, column, seqid, DEPENDENCY_AUTO,
					  DEPENDENCY_INTERNAL);
}

/*
 * sk_identity_column
 *		The column of a table that fetches from a sequence for its identity.
 *
 * The caller has locked the table.  Returns InvalidAttrNumber if there is none.
 */
AttrNumber
sk_identity_column(Oid relid, Oid seqid)
{
	ListCell   *lc;

	foreach(lc, list_columns(relid))
	{
		SkIdentityColumn *column = lfirst(lc);

		if (column->seqid == seqid)
			return column->attnum;
	}
	return InvalidAttrNumber;
}

/*
 * The columns of a relation that fetch for an identity of a table, as a list of
 * SkIdentityColumn.
 *
 * The identity may also be of a partitioned table above that.
 */
static List *
identity_columns(Relation rel, Oid table)
{
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *result = NIL;

	for (int i = 0; desc->constr != NULL && i < desc->constr->num_defval; i++)
	{
		AttrDefault *value = &desc->constr->defval[i];
		Oid			seqid = sk_fetched_sequence(stringToNode(value->adbin));
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

/* Drop the default of a column.  Returns false if it fetches from no such sequence. */
static bool
drop_default(Oid table, const char *column, Oid seqid)
{
	AttrNumber	attnum = get_attnum(table, column);
	Relation	rel = table_open(table, AccessExclusiveLock);
	bool		draws;

	draws = sk_fetched_sequence(build_column_default(rel, attnum)) == seqid;
	table_close(rel, NoLock);
	if (draws)
	{
		RemoveAttrDefault(table, attnum, DROP_RESTRICT, true, true);
		CommandCounterIncrement();
	}
	return draws;
}

/*
 * Have a column fetch from a sequence.
 *
 * The default is stored as it is, so nothing of the table is evaluated,
 * whoever it belongs to.
 */
static void
set_default(Oid table, const char *column, Oid seqid)
{
	AlterTableCmd *command = makeNode(AlterTableCmd);
	AlterTableStmt *statement = makeNode(AlterTableStmt);
	Node	   *value;

	Assert(sk_relation_is_locked(table, AccessExclusiveLock));
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
	Assert(sk_fetched_sequence(command->def) == seqid);
	statement->relation = makeRangeVar(get_namespace_name(get_rel_namespace(table)),
									   get_rel_name(table), -1);
	statement->cmds = list_make1(command);
	statement->objtype = OBJECT_TABLE;

	EventTriggerAlterTableStart((Node *) statement);
	AlterTableInternal(table, statement->cmds, false);
	EventTriggerAlterTableEnd();
	CommandCounterIncrement();
}

/* What must not be missed before a command, with event triggers turned off as well. */
static void
identity_guard(Node *command)
{
	if (IsA(command, AlterSeqStmt) && !sk_restoring())
		check_owner((AlterSeqStmt *) command);
	else if (IsA(command, DropStmt) && !sk_restoring() &&
			 ((DropStmt *) command)->removeType == OBJECT_SEQUENCE)
		check_drop((DropStmt *) command);
}

/*
 * Refuse ALTER SEQUENCE ... OWNED BY for the sequence of an identity.
 *
 * A column that draws from it already may become the identity in its place:
 * that is how a table hands it over to a partitioned one.
 */
static void
check_owner(AlterSeqStmt *stmt)
{
	Oid			seqid = RangeVarGetRelid(stmt->sequence, NoLock, true);
	Oid			table;
	int32		column;
	ListCell   *lc;

	if (!OidIsValid(seqid) ||
		sk_sequence_identity(seqid) == SK_IDENTITY_NONE ||
		!sequenceIsOwned(seqid, DEPENDENCY_AUTO, &table, &column))
		return;
	foreach(lc, stmt->options)
	{
		DefElem    *option = lfirst_node(DefElem, lc);
		Oid			relid;
		AttrNumber	attnum;

		if (strcmp(option->defname, "owned_by") != 0)
			continue;
		if (owned_by(option, &relid, &attnum) &&
			(attnum == InvalidAttrNumber || /* core reports that */
			 fetches_by_default(relid, attnum, seqid)))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot change ownership of identity sequence"),
				 errdetail("Sequence \"%s\" is linked to table \"%s\".",
						   get_rel_name(seqid), get_rel_name(table))));
	}
}

/* The column that OWNED BY names.  Returns false for NONE. */
static bool
owned_by(DefElem *option, Oid *relid, AttrNumber *column)
{
	List	   *names = defGetQualifiedName(option);

	if (list_length(names) < 2)
		return false;
	*relid = RangeVarGetRelid(makeRangeVarFromNameList(list_copy_head(names, list_length(names) - 1)),
							  NoLock, true);
	*column = get_attnum(*relid, strVal(llast(names)));
	return true;
}

/* Does the default of a column depend on a sequence? */
static bool
fetches_by_default(Oid relid, AttrNumber column, Oid seqid)
{
	return list_member_oid(sk_dependents(seqid, AttrDefaultRelationId),
						   GetAttrDefaultOid(relid, column));
}

/*
 * Refuse DROP SEQUENCE for the sequence of an identity.
 *
 * Core would take the default of the column, and with it the identity.
 */
static void
check_drop(DropStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->objects)
	{
		Oid			seqid = RangeVarGetRelid(makeRangeVarFromNameList(lfirst(lc)),
											 NoLock, true);
		Oid			table;
		int32		column;
		ObjectAddress sequence;
		ObjectAddress owner;

		if (!OidIsValid(seqid) ||
			sk_sequence_identity(seqid) == SK_IDENTITY_NONE ||
			!sequenceIsOwned(seqid, DEPENDENCY_AUTO, &table, &column) ||
			!fetches_by_default(table, (AttrNumber) column, seqid))
			continue;
		ObjectAddressSet(sequence, RelationRelationId, seqid);
		ObjectAddressSubSet(owner, RelationRelationId, table, column);
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot drop %s because %s requires it",
						getObjectDescription(&sequence, false),
						getObjectDescription(&owner, false)),
				 errhint("You can drop %s instead.",
						 getObjectDescription(&owner, false))));
	}
}

/* Prepare a command that may be on identity columns. */
static void
identity_start(Node *command)
{
	ListCell   *lc;

	if (sk_restoring() || !sk_bindings_exist())
		return;
	if (IsA(command, AlterTableStmt))
		restore_altered((AlterTableStmt *) command);
	else if (IsA(command, CreateStmt))
		prepare_like((CreateStmt *) command);
	else if (IsA(command, CreateSchemaStmt))
	{
		foreach(lc, ((CreateSchemaStmt *) command)->schemaElts)
			identity_start(lfirst(lc));
	}
}

/* Complete a command that may have been on identity columns. */
static void
identity_end(Node *command, List *relations)
{
	ListCell   *lc;

	if (sk_restoring() || !sk_bindings_exist())
		return;
	if (IsA(command, CreateStmt))
		follow_like((CreateStmt *) command);
	else if (IsA(command, CreateSchemaStmt))
	{
		foreach(lc, ((CreateSchemaStmt *) command)->schemaElts)
		{
			complete_name((CreateSchemaStmt *) command, lfirst(lc));
			identity_end(lfirst(lc), relations);
		}
	}
	else if (IsA(command, AlterTableStmt))
	{
		convert_altered((AlterTableStmt *) command);
		follow_partitions((AlterTableStmt *) command);
	}
}

/* From release 19 on, the server notes the schema in a copy. */
static void
complete_name(CreateSchemaStmt *stmt, Node *element)
{
	CreateStmt *create = (CreateStmt *) element;

	if (IsA(element, CreateStmt) && create->relation->schemaname == NULL)
		create->relation->schemaname = stmt->schemaname != NULL ?
			stmt->schemaname : get_rolespec_name(stmt->authrole);
}

/* The commands that core refuses or changes for an identity column. */
static bool
alters_column(AlterTableCmd *cmd)
{
	return cmd->subtype == AT_AddIdentity || cmd->subtype == AT_SetIdentity ||
		cmd->subtype == AT_DropIdentity || cmd->subtype == AT_ColumnDefault ||
		cmd->subtype == AT_DropNotNull || cmd->subtype == AT_AlterColumnType;
}

/* Give the columns that a command alters their identity back. */
static void
restore_altered(AlterTableStmt *stmt)
{
	Oid			relid = InvalidOid;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);

		if (!alters_column(cmd))
			continue;

		/* the lock that the command takes, after the check that it makes */
		if (!OidIsValid(relid))
			relid = RangeVarGetRelidExtended(stmt->relation,
											 AccessExclusiveLock,
											 RVR_MISSING_OK,
											 RangeVarCallbackOwnsRelation,
											 NULL);
		if (!OidIsValid(relid))
			return;
		foreach(lc2, table_columns(relid, relid))
		{
			SkIdentityColumn *column = lfirst(lc2);

			if (strcmp(get_attname(relid, column->attnum, false), cmd->name) != 0 ||
				hands_over(cmd, relid, column->seqid))
				continue;
			check_partition(cmd, relid, column->seqid);
			sk_restore_identity(column->seqid, column->identity);
		}
	}
}

/* The identity of a table above says what a partition draws, as in core from release 17 on. */
static void
check_partition(AlterTableCmd *cmd, Oid relid, Oid seqid)
{
	Oid			owner;
	int32		attnum;

	if (cmd->subtype == AT_ColumnDefault && sk_sequence_owner(seqid, &owner, &attnum) &&
		owner != relid)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("column \"%s\" of relation \"%s\" is an identity column",
						cmd->name, get_rel_name(relid)),
				 errdetail("The identity is that of table \"%s\".", get_rel_name(owner)),
				 errhint("Detach the partition, or drop the identity of the table.")));
}

/*
 * Does Citus make a shard of a table that was there?  The table that it puts in
 * front has a column that draws already.  The shard loses its default, as that
 * of a serial column, before the other gets the sequence and the identity.
 */
static bool
hands_over(AlterTableCmd *cmd, Oid relid, Oid seqid)
{
	ListCell   *lc;

	if (cmd->subtype != AT_ColumnDefault || cmd->def != NULL ||
		!sk_citus_exists())
		return false;
	foreach(lc, sk_dependents(seqid, AttrDefaultRelationId))
	{
		ObjectAddress column = GetAttrDefaultColumnAddress(lfirst_oid(lc));

		if (column.objectId != relid &&
			!get_rel_relispartition(column.objectId) &&
			strcmp(get_attname(column.objectId, column.objectSubId, false),
				   cmd->name) == 0)
			return true;
	}
	return false;
}

/* Convert the columns whose identity a command has left. */
static void
convert_altered(AlterTableStmt *stmt)
{
	Oid			relid = InvalidOid;
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		if (alters_column(lfirst(lc)))
			relid = RangeVarGetRelid(stmt->relation, NoLock, true);
	}
	if (!OidIsValid(relid))
		return;
	foreach(lc, getOwnedSequences(relid))
	{
		if (sk_sequence_label(lfirst_oid(lc)) != NULL)
			complete_label(lfirst_oid(lc));
	}
}

/* identity_columns() of a relation that is locked. */
static List *
table_columns(Oid relid, Oid table)
{
	Relation	rel = relation_open(relid, NoLock);
	List	   *result = identity_columns(rel, table);

	relation_close(rel, NoLock);
	return result;
}

/* Partitions that a command has attached or detached. */
static void
follow_partitions(AlterTableStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);
		Oid			parent;
		Oid			partition;

		if (cmd->subtype != AT_AttachPartition &&
			cmd->subtype != AT_DetachPartition &&
			cmd->subtype != AT_DetachPartitionFinalize)
			continue;
		parent = RangeVarGetRelid(stmt->relation, NoLock, true);
		partition = RangeVarGetRelid(((PartitionCmd *) cmd->def)->name, NoLock,
									 true);
		if (get_rel_relkind(parent) != RELKIND_PARTITIONED_TABLE ||
			!OidIsValid(partition))
			continue;
		if (cmd->subtype == AT_AttachPartition)
			follow_attach(parent, partition);
		else
			follow_detach(parent, partition);
	}
}

/* An attached partition draws as its table does, and for nothing else. */
static void
follow_attach(Oid parent, Oid partition)
{
	List	   *columns = table_columns(parent, parent);
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, table_columns(partition, partition))
	{
		SkIdentityColumn *own = lfirst(lc);
		Oid			owner;
		int32		attnum;

		if (sk_sequence_owner(own->seqid, &owner, &attnum) && owner == partition)
			refuse_identity(partition, get_attname(partition, own->attnum, false));
	}
	foreach(lc, columns)
	{
		SkIdentityColumn *column = lfirst(lc);
		char	   *name = get_attname(parent, column->attnum, false);

		if (sk_column_identity(partition, get_attnum(partition, name)) != SK_IDENTITY_NONE)
			refuse_identity(partition, name);
		foreach(lc2, find_all_inheritors(partition, AccessExclusiveLock, NULL))
			set_default(lfirst_oid(lc2), name, column->seqid);
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

		foreach(lc2, table_columns(relid, parent))
		{
			SkIdentityColumn *column = lfirst(lc2);

			(void) drop_default(relid,
								get_attname(relid, column->attnum, false),
								column->seqid);
		}
	}
}

/*
 * Note the commands for a table that is made LIKE others, in the alias of its
 * name (spi/tree_marks.h).  They have to live as long as the statement.
 */
static void
prepare_like(CreateStmt *stmt)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(stmt));
	List	   *commands = NIL;
	ListCell   *lc;

	foreach(lc, stmt->tableElts)
	{
		if (IsA(lfirst(lc), TableLikeClause))
			commands = list_concat(commands, like_commands(lfirst(lc)));
	}
	if (commands != NIL)
	{
		stmt->relation->alias = makeNode(Alias);
		stmt->relation->alias->colnames = commands;
	}
	MemoryContextSwitchTo(old);
}

/* The commands for the columns that a LIKE clause gives a table. */
static List *
like_commands(TableLikeClause *clause)
{
	Relation	rel = relation_openrv_extended(clause->relation,
											   AccessShareLock, true);
	List	   *result = NIL;
	ListCell   *lc;

	if (rel == NULL)
		return NIL;
	foreach(lc, identity_columns(rel, RelationGetRelid(rel)))
	{
		SkIdentityColumn *column = lfirst(lc);
		char	   *name = get_attname(RelationGetRelid(rel), column->attnum,
									   false);

		if (clause->options & CREATE_TABLE_LIKE_DEFAULTS)
		{
			AlterTableCmd *drop = makeNode(AlterTableCmd);

			drop->subtype = AT_ColumnDefault;
			drop->name = name;
			result = lappend(result, drop);
		}
		if (clause->options & CREATE_TABLE_LIKE_IDENTITY)
			result = lappend(result, make_add_identity(name, column,
													   TupleDescAttr(RelationGetDescr(rel), column->attnum - 1)->atttypid));
	}
	relation_close(rel, AccessShareLock);
	return result;
}

/* ADD GENERATED ... AS IDENTITY, with the options of a sequence */
static AlterTableCmd *
make_add_identity(const char *column, SkIdentityColumn *identity, Oid type)
{
	AlterTableCmd *result = makeNode(AlterTableCmd);
	Constraint *constraint = makeNode(Constraint);

	constraint->contype = CONSTR_IDENTITY;
	constraint->generated_when = identity->identity == SK_IDENTITY_ALWAYS ?
		ATTRIBUTE_IDENTITY_ALWAYS : ATTRIBUTE_IDENTITY_BY_DEFAULT;
	constraint->options = options_of_type(identity->seqid, type);
	constraint->location = -1;
	result->subtype = AT_AddIdentity;
	result->name = pstrdup(column);
	result->def = (Node *) constraint;
	return result;
}

/* The sequence of an identity may be wider than the column; its copy is not. */
static List *
options_of_type(Oid seqid, Oid type)
{
	List	   *options = sequence_options(seqid);
	int64		last = (int64) ((UINT64CONST(1) << sk_type_width(type)) - 1);
	ListCell   *lc;

	foreach(lc, options)
	{
		if (strcmp(lfirst_node(DefElem, lc)->defname, "maxvalue") == 0 &&
			defGetInt64(lfirst(lc)) > last)
			options = foreach_delete_current(options, lc);
	}
	return options;
}

/* Run the commands, if the table was made: then its LIKE clauses are used up. */
static void
follow_like(CreateStmt *stmt)
{
	AlterTableStmt *alter;
	PlannedStmt *wrapper;
	ListCell   *lc;

	if (stmt->relation->alias == NULL)
		return;

	/* the clauses of a table that was there already are still there */
	foreach(lc, stmt->if_not_exists ? stmt->tableElts : NIL)
	{
		if (IsA(lfirst(lc), TableLikeClause))
			return;
	}

	alter = makeNode(AlterTableStmt);
	alter->relation = copyObject(stmt->relation);
	alter->cmds = alter->relation->alias->colnames;
	alter->relation->alias = NULL;
	alter->objtype = OBJECT_TABLE;

	wrapper = makeNode(PlannedStmt);
	wrapper->commandType = CMD_UTILITY;
	wrapper->utilityStmt = (Node *) alter;
	wrapper->stmt_location = -1;
	ProcessUtility(wrapper, "ALTER TABLE", false, PROCESS_UTILITY_QUERY, NULL,
				   NULL, None_Receiver, NULL);
	CommandCounterIncrement();
}

static PlannedStmt *
identity_planner(SK_PLANNER_ARGS)
{
	/* what only reads has no identity column to fill */
	if ((parse->commandType != CMD_SELECT || parse->hasModifyingCTE) &&
		sk_bindings_possible && sk_bindings_exist())
	{
		check_explicit_values(parse);
		if (has_identity((Node *) parse, NULL))
			parse = query_tree_mutator(parse, identity_mutator, NULL, 0);
	}

	if (prev_planner_hook)
		return prev_planner_hook(SK_PLANNER_PASS);
	return standard_planner(SK_PLANNER_PASS);
}

static bool
has_identity(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, NextValueExpr))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_identity, context, 0);
	return expression_tree_walker(node, has_identity, context);
}

static Node *
identity_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, identity_mutator,
										   context, 0);
	if (IsA(node, NextValueExpr))
		return map_identity((NextValueExpr *) node);
	return expression_tree_mutator(node, identity_mutator, context);
}

/* As in core, an identity column needs no right on the sequence. */
static Node *
map_identity(NextValueExpr *identity)
{
	NextValueExpr *counter = copyObject(identity);
	Expr	   *value;

	counter->typeId = INT8OID;
	value = sk_make_call(SK_FUNCTION_MAP_COUNTER, INT8OID,
						 list_make2(counter, sk_make_oid(REGCLASSOID, identity->seqid)));
	if (identity->typeId == INT8OID)
		return (Node *) value;
	return (Node *) makeFuncExpr(identity->typeId == INT4OID ?
								 F_INT4_INT8 : F_INT2_INT8,
								 identity->typeId, list_make1(value),
								 InvalidOid, InvalidOid,
								 COERCE_IMPLICIT_CAST);
}

/*
 * Refuse explicit values for GENERATED ALWAYS columns in a query that is about
 * to be planned, and apply OVERRIDING USER VALUE.
 */
static void
check_explicit_values(Query *query)
{
	ListCell   *lc;

	if (sk_restoring())
		return;
	check_query(query);
	foreach(lc, query->hasModifyingCTE ? query->cteList : NIL)
		check_query(castNode(Query, ((CommonTableExpr *) lfirst(lc))->ctequery));
}

static void
check_query(Query *query)
{
	List	   *columns;
	ListCell   *lc;
	Oid			relid;

	if (query->commandType != CMD_INSERT && query->commandType != CMD_UPDATE &&
		query->commandType != CMD_MERGE)
		return;
	relid = rt_fetch(query->resultRelation, query->rtable)->relid;
	columns = list_columns(relid);
	if (columns == NIL)
		return;

	if (query->commandType == CMD_INSERT)
		check_insert(query, query->targetList, query->override, relid, columns);
	else if (query->commandType == CMD_UPDATE)
		check_update(query->targetList, relid, columns);
	if (query->onConflict != NULL)
		check_update(query->onConflict->onConflictSet, relid, columns);
	foreach(lc, query->mergeActionList)
	{
		MergeAction *action = lfirst(lc);

		if (action->commandType == CMD_INSERT)
			check_insert(query, action->targetList, action->override, relid,
						 columns);
		else if (action->commandType == CMD_UPDATE)
			check_update(action->targetList, relid, columns);
	}
}

static void
check_insert(Query *query, List *targets, OverridingKind override, Oid relid,
			 List *columns)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		SkIdentityColumn *column = lfirst(lc);
		TargetEntry *target = find_target(targets, column->attnum);

		if (target == NULL || fetches_from(query, target, column->seqid))
			continue;
		if (override == OVERRIDING_USER_VALUE)
			put_default_back(query, target, relid);
		else if (override != OVERRIDING_SYSTEM_VALUE &&
				 column->identity == SK_IDENTITY_ALWAYS)
		{
			char	   *name = get_attname(relid, column->attnum, false);

			ereport(ERROR,
					(errcode(ERRCODE_GENERATED_ALWAYS),
					 errmsg("cannot insert a non-DEFAULT value into column \"%s\"",
							name),
					 errdetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.",
							   name),
					 errhint("Use OVERRIDING SYSTEM VALUE to override.")));
		}
	}
}

static void
check_update(List *targets, Oid relid, List *columns)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		SkIdentityColumn *column = lfirst(lc);
		TargetEntry *target = find_target(targets, column->attnum);
		char	   *name;

		if (target == NULL || column->identity != SK_IDENTITY_ALWAYS ||
			sk_fetched_sequence((Node *) target->expr) == column->seqid)
			continue;
		name = get_attname(relid, column->attnum, false);
		ereport(ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 errmsg("column \"%s\" can only be updated to DEFAULT", name),
				 errdetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.",
						   name)));
	}
}

/* What a column is set to, or NULL if nothing is said of it. */
static TargetEntry *
find_target(List *targets, AttrNumber attnum)
{
	ListCell   *lc;

	foreach(lc, targets)
	{
		TargetEntry *target = lfirst(lc);

		if (target->resno == attnum && !target->resjunk)
			return target;
	}
	return NULL;
}

/* The rows of VALUES that a target comes from, or NULL. */
static List **
find_values(Query *query, TargetEntry *target)
{
	Var		   *var = (Var *) target->expr;
	RangeTblEntry *rte;

	if (!IsA(var, Var) || var->varlevelsup > 0)
		return NULL;
	rte = rt_fetch(var->varno, query->rtable);
	return rte->rtekind == RTE_VALUES ? &rte->values_lists : NULL;
}

/* Is a column set to the next value of a sequence, in each row? */
static bool
fetches_from(Query *query, TargetEntry *target, Oid seqid)
{
	List	  **values = find_values(query, target);
	ListCell   *lc;

	if (values == NULL)
		return sk_fetched_sequence((Node *) target->expr) == seqid;
	foreach(lc, *values)
	{
		if (sk_fetched_sequence(list_nth(lfirst(lc), ((Var *) target->expr)->varattno - 1)) != seqid)
			return false;
	}
	return true;
}

/* What the user gave is not evaluated, not even in some of the rows. */
static void
put_default_back(Query *query, TargetEntry *target, Oid relid)
{
	List	  **values = find_values(query, target);
	Relation	rel = table_open(relid, NoLock);
	ListCell   *lc;

	foreach(lc, values != NULL ? *values : NIL)
	{
		ListCell   *cell = list_nth_cell(lfirst(lc), ((Var *) target->expr)->varattno - 1);

		Assert(list_length(lfirst(lc)) == list_length(linitial(*values)));
		lfirst(cell) = makeNullConst(exprType(lfirst(cell)), -1, InvalidOid);
	}
	target->expr = (Expr *) build_column_default(rel, target->resno);
	table_close(rel, NoLock);
}

/* Which columns to look at; the planner holds a lock on the relation. */
static List *
list_columns(Oid relid)
{
	ColumnsEntry *entry = hash_search(columns_cache, &relid, HASH_FIND, NULL);
	uint64		before;
	List	   *columns;

	Assert(sk_relation_is_locked(relid, AccessShareLock));
	if (entry != NULL)
		return copy_columns(entry->columns);
	sk_watch_relations();
	if (hash_get_num_entries(columns_cache) >= SK_MAX_RELATIONS)
		forget_columns((Datum) 0, InvalidOid);
	before = invalidations;

	columns = table_columns(relid, relid);
	if (before == invalidations)
	{
		MemoryContext old = MemoryContextSwitchTo(CacheMemoryContext);
		List	   *kept = copy_columns(columns);

		entry = hash_search(columns_cache, &relid, HASH_ENTER, NULL);
		entry->columns = kept;
		MemoryContextSwitchTo(old);
	}
	return columns;
}

static List *
copy_columns(List *columns)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, columns)
	{
		SkIdentityColumn *copy = palloc(sizeof(SkIdentityColumn));

		*copy = *(SkIdentityColumn *) lfirst(lc);
		result = lappend(result, copy);
	}
	return result;
}

/* A label that changes tells so by an invalidation of pg_seclabel. */
static void
forget_columns(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS seq;
	ColumnsEntry *entry;

	invalidations++;
	if (OidIsValid(relid) && relid != SecLabelRelationId)
	{
		entry = hash_search(columns_cache, &relid, HASH_FIND, NULL);
		if (entry != NULL)
		{
			list_free_deep(entry->columns);
			hash_search(columns_cache, &relid, HASH_REMOVE, NULL);
		}
		return;
	}
	hash_seq_init(&seq, columns_cache);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		list_free_deep(entry->columns);
		hash_search(columns_cache, &entry->relid, HASH_REMOVE, NULL);
	}
}
