/*-------------------------------------------------------------------------
 *
 * identity_ddl.c
 *	  Commands on identity columns whose sequence is bound.
 *
 * Core treats them as any identity column.  When ALTER TABLE starts, the
 * identity is put back into the catalogs.  When it ends, what is left of it is
 * converted again.
 *
 * ATTACH PARTITION and DETACH PARTITION must not lock the whole table.  So we
 * act when they have ended: a partition has the default of its table while it
 * is attached.
 *
 * A table that is made LIKE another gets no default that draws for the other's
 * identity, but with INCLUDING IDENTITY an identity of its own, as in core.
 * CREATE TABLE carries the commands for that in the alias of the table's name,
 * which no parser sets there.
 *
 * src/sequence/redirect/identity_ddl.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "commands/sequence.h"
#include "commands/tablecmds.h"
#include "nodes/makefuncs.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "sequence/column_label.h"
#include "sequence/redirect/identity_column.h"
#include "sequence/redirect/redirect.h"
#include "sequence/sequence_change.h"

static void complete_name(CreateSchemaStmt *stmt, Node *element);
static bool alters_column(AlterTableCmd *cmd);
static void restore_altered(AlterTableStmt *stmt);
static void check_partition(AlterTableCmd *cmd, Oid relid, Oid seqid);
static bool hands_over(AlterTableCmd *cmd, Oid relid, Oid seqid);
static void convert_altered(AlterTableStmt *stmt);
static List *list_columns(Oid relid, Oid table);
static void follow_partitions(AlterTableStmt *stmt);
static void follow_attach(Oid parent, Oid partition);
static void refuse_identity(Oid partition, const char *column);
static void follow_detach(Oid parent, Oid partition);
static void prepare_like(CreateStmt *stmt);
static List *like_commands(TableLikeClause *clause);
static AlterTableCmd *make_add_identity(const char *column,
										SkIdentityColumn *identity,
										Oid type);
static List *options_of_type(Oid seqid, Oid type);
static void follow_like(CreateStmt *stmt);
static bool draws_by_default(Oid relid, AttrNumber column, Oid seqid);
static bool owned_by(DefElem *option, Oid *relid, AttrNumber *column);

/*
 * sk_check_identity_owner
 *		Refuse ALTER SEQUENCE ... OWNED BY for the sequence of an identity.
 *
 * A column that draws from it already may become the identity in its place:
 * that is how a table hands it over to a partitioned one.
 */
void
sk_check_identity_owner(AlterSeqStmt *stmt)
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
			 draws_by_default(relid, attnum, seqid)))
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
draws_by_default(Oid relid, AttrNumber column, Oid seqid)
{
	return list_member_oid(sk_dependents(seqid, AttrDefaultRelationId),
						   GetAttrDefaultOid(relid, column));
}

/*
 * sk_check_identity_drop
 *		Refuse DROP SEQUENCE for the sequence of an identity.
 *
 * Core would take the default of the column, and with it the identity.
 */
void
sk_check_identity_drop(DropStmt *stmt)
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
			!draws_by_default(table, (AttrNumber) column, seqid))
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

/*
 * sk_identity_command_start
 *		Prepare a command that may be on identity columns.
 */
void
sk_identity_command_start(Node *command)
{
	ListCell   *lc;

	if (IsA(command, AlterTableStmt))
		restore_altered((AlterTableStmt *) command);
	else if (IsA(command, CreateStmt))
		prepare_like((CreateStmt *) command);
	else if (IsA(command, CreateSchemaStmt))
		foreach(lc, ((CreateSchemaStmt *) command)->schemaElts)
			sk_identity_command_start(lfirst(lc));
}

/*
 * sk_identity_command_end
 *		Complete a command that may have been on identity columns.
 */
void
sk_identity_command_end(Node *command)
{
	ListCell   *lc;

	if (IsA(command, CreateStmt))
		follow_like((CreateStmt *) command);
	else if (IsA(command, CreateSchemaStmt))
		foreach(lc, ((CreateSchemaStmt *) command)->schemaElts)
	{
		complete_name((CreateSchemaStmt *) command, lfirst(lc));
		sk_identity_command_end(lfirst(lc));
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
		foreach(lc2, list_columns(relid, relid))
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
			sk_complete_label(lfirst_oid(lc));
	}
}

/* sk_identity_columns() of a relation that is locked. */
static List *
list_columns(Oid relid, Oid table)
{
	Relation	rel = relation_open(relid, NoLock);
	List	   *result = sk_identity_columns(rel, table);

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
	List	   *columns = list_columns(parent, parent);
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, list_columns(partition, partition))
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
			sk_set_default(lfirst_oid(lc2), name, column->seqid);
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

		foreach(lc2, list_columns(relid, parent))
		{
			SkIdentityColumn *column = lfirst(lc2);

			(void) sk_drop_default(relid,
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
	foreach(lc, sk_identity_columns(rel, RelationGetRelid(rel)))
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
