/*-------------------------------------------------------------------------
 *
 * add_column.c
 *	  ALTER TABLE ... ADD COLUMN with a sequence of the default kind.
 *
 * The rows of a table get the values of a new serial or identity column
 * while ALTER TABLE runs, too early for a ddl_command_end trigger.  So the
 * command is changed before it starts: the sequence is created and bound
 * first, and the column definition becomes that of an ordinary column with
 * a default.  After the command the sequence is given to the column.
 *
 * What was changed is recognized by the location of the default's function
 * call, which no parser sets.
 *
 * src/sequence/redirect/add_column.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/sequence.h"
#include "commands/tablecmds.h"
#include "nodes/makefuncs.h"
#include "parser/parse_type.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "sequence/redirect/redirect.h"
#include "sequence/sequence.h"
#include "sequence/sequence_change.h"
#include "spi/owner_rights.h"
#include "spi/tree_marks.h"

static bool makes_room(AlterTableStmt *stmt, Oid relid, const char *column);
static bool refuses_identity(Relation rel, ColumnDef *def);
static void change_column(Relation rel, ColumnDef *def);
static Constraint *find_identity(ColumnDef *def);
static Oid	serial_type(TypeName *type);
static Oid	create_bound_sequence(Relation rel, const char *column, Oid type,
								  Constraint *identity);
static RangeVar *choose_name(Relation rel, const char *column,
							 List **options);
static FuncCall *make_nextval_call(Oid seqid);
static Oid	drawn_sequence(FuncCall *call);
static void give_to_column(Oid seqid);
static FuncCall *find_nextval_call(ColumnDef *def);
static bool is_added_column(AlterTableCmd *cmd);

/*
 * sk_add_column_start
 *		Change the serial and identity columns that a command adds.
 *
 * What core would refuse is left for core to refuse.
 */
void
sk_add_column_start(AlterTableStmt *stmt)
{
	MemoryContext old;
	Oid			relid;
	Relation	rel;
	ListCell   *lc;
	bool		adds = false;

	if (stmt->objtype != OBJECT_TABLE && stmt->objtype != OBJECT_FOREIGN_TABLE)
		return;
	foreach(lc, stmt->cmds)
		adds = adds || is_added_column(lfirst(lc));
	if (!adds)
		return;

	/* the lock that the command takes, after the check that it makes */
	relid = RangeVarGetRelidExtended(stmt->relation, AccessExclusiveLock,
									 RVR_MISSING_OK,
									 RangeVarCallbackOwnsRelation, NULL);
	if (!OidIsValid(relid))
		return;

	/* what is put into the command has to live as long as it does */
	old = MemoryContextSwitchTo(GetMemoryChunkContext(stmt));
	rel = table_open(relid, NoLock);
	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);

		if (is_added_column(cmd) &&
			rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP &&
			makes_room(stmt, relid, ((ColumnDef *) cmd->def)->colname) &&
			!refuses_identity(rel, (ColumnDef *) cmd->def))
			change_column(rel, (ColumnDef *) cmd->def);
	}
	table_close(rel, NoLock);
	MemoryContextSwitchTo(old);
}

/*
 * Is there no column of that name, or does the command drop it first?  Then the
 * sequence of the old one leaves its name to the new one's, as in core, where it
 * is gone by then.
 */
static bool
makes_room(AlterTableStmt *stmt, Oid relid, const char *column)
{
	AttrNumber	attnum = get_attnum(relid, column);
	bool		drops = false;
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);

		drops |= cmd->subtype == AT_DropColumn && strcmp(cmd->name, column) == 0;
	}
	if (attnum == InvalidAttrNumber || !drops)
		return attnum == InvalidAttrNumber;
	foreach(lc, getOwnedSequences(relid))
	{
		Oid			seqid = lfirst_oid(lc);
		Oid			table;
		int32		owner;

		if (sk_sequence_owner(seqid, &table, &owner) && owner == attnum)
			RenameRelationInternal(seqid,
								   ChooseRelationName(get_rel_name(seqid), NULL,
													  "dropped",
													  get_rel_namespace(seqid), false),
								   false, false);
	}
	CommandCounterIncrement();
	return true;
}

/*
 * sk_add_column_end
 *		Give the sequences to the columns that were added.
 */
void
sk_add_column_end(AlterTableStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);
		FuncCall   *call = NULL;

		if (cmd->subtype == AT_AddColumn)
			call = find_nextval_call((ColumnDef *) cmd->def);
		if (call != NULL)
			give_to_column(drawn_sequence(call));
	}
}

/* The column is the one whose default draws from the sequence. */
static void
give_to_column(Oid seqid)
{
	List	   *defaults = sk_dependents(seqid, AttrDefaultRelationId);
	ObjectAddress sequence;
	ListCell   *lc;

	ObjectAddressSet(sequence, RelationRelationId, seqid);
	foreach(lc, defaults)
	{
		ObjectAddress column = GetAttrDefaultColumnAddress(lfirst_oid(lc));

		/* what ALTER SEQUENCE ... OWNED BY asks for */
		if (sk_relation_owner(column.objectId) != sk_relation_owner(seqid) ||
			get_rel_namespace(column.objectId) != get_rel_namespace(seqid))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("table \"%s\" was renamed while a column was added",
							get_rel_name(column.objectId)),
					 errhint("Try again.")));
		recordDependencyOn(&sequence, &column, DEPENDENCY_AUTO);
		/* partitions and children have the default as well */
		break;
	}
	CommandCounterIncrement();
}

/* Does a command add a serial or identity column? */
static bool
is_added_column(AlterTableCmd *cmd)
{
	ColumnDef  *def = (ColumnDef *) cmd->def;

	return cmd->subtype == AT_AddColumn && def->typeName != NULL &&
		(OidIsValid(serial_type(def->typeName)) != (find_identity(def) != NULL));
}

/* Identity is not inherited, except by partitions. */
static bool
refuses_identity(Relation rel, ColumnDef *def)
{
	return find_identity(def) != NULL &&
		rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE &&
		find_inheritance_children(RelationGetRelid(rel), NoLock) != NIL;
}

static void
change_column(Relation rel, ColumnDef *def)
{
	Constraint *identity = find_identity(def);
	Constraint *default_value;
	Oid			type;
	Oid			seqid;

	/* the rows must not get values before the sequence has its kind */
	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock, true));
	if (identity == NULL)
		type = serial_type(def->typeName);
	else
		type = typenameTypeId(NULL, def->typeName);
	if (type != INT2OID && type != INT4OID && type != INT8OID)
		return;

	seqid = create_bound_sequence(rel, def->colname, type, identity);
	if (!OidIsValid(seqid))
		return;
	default_value = makeNode(Constraint);
	default_value->contype = CONSTR_DEFAULT;
	default_value->location = -1;
	default_value->raw_expr = (Node *) make_nextval_call(seqid);

	if (identity == NULL)
		def->typeName = makeTypeNameFromOid(type, -1);
	else
		def->constraints = list_delete_ptr(def->constraints, identity);
	def->constraints = lappend(def->constraints, default_value);
	def->constraints = lappend(def->constraints,
							   makeNotNullConstraint(makeString(def->colname)));
}

static Constraint *
find_identity(ColumnDef *def)
{
	ListCell   *lc;

	foreach(lc, def->constraints)
	{
		Constraint *constraint = lfirst(lc);

		if (constraint->contype == CONSTR_IDENTITY)
			return constraint;
	}
	return NULL;
}

/* The type of serial and its relatives, or InvalidOid. */
static Oid
serial_type(TypeName *type)
{
	const char *name;

	if (list_length(type->names) != 1 || OidIsValid(type->typeOid) ||
		type->pct_type || type->setof || type->arrayBounds != NIL)
		return InvalidOid;

	name = strVal(linitial(type->names));
	if (strcmp(name, "smallserial") == 0 || strcmp(name, "serial2") == 0)
		return INT2OID;
	if (strcmp(name, "serial") == 0 || strcmp(name, "serial4") == 0)
		return INT4OID;
	if (strcmp(name, "bigserial") == 0 || strcmp(name, "serial8") == 0)
		return INT8OID;
	return InvalidOid;
}

/*
 * Do what core does for the column, and bind the sequence.  Returns
 * InvalidOid, and leaves all to core, if the sequence is not to be bound.
 */
static Oid
create_bound_sequence(Relation rel, const char *column, Oid type,
					  Constraint *identity)
{
	CreateSeqStmt *stmt = makeNode(CreateSeqStmt);
	List	   *options = identity != NULL ? list_copy(identity->options) : NIL;
	SkIdentity	kind = SK_IDENTITY_NONE;
	ObjectAddress address;

	stmt->sequence = choose_name(rel, column, &options);
	stmt->options = lcons(makeDefElem("as",
									  (Node *) makeTypeNameFromOid(type, -1),
									  -1),
						  options);
	stmt->ownerId = rel->rd_rel->relowner;
	address = DefineSequence(NULL, stmt);
	CommandCounterIncrement();

	if (identity != NULL)
		kind = identity->generated_when == ATTRIBUTE_IDENTITY_ALWAYS ?
			SK_IDENTITY_ALWAYS : SK_IDENTITY_BY_DEFAULT;
	if (sk_bind_new_sequence(address.objectId, kind) != NULL)
	{
		performDeletion(&address, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
		CommandCounterIncrement();
		return InvalidOid;
	}
	return address.objectId;
}

/* The name that the user gave, or the one that core would choose. */
static RangeVar *
choose_name(Relation rel, const char *column, List **options)
{
	Oid			namespace = RelationGetNamespace(rel);
	RangeVar   *name = NULL;
	ListCell   *lc;

	foreach(lc, *options)
	{
		DefElem    *option = lfirst(lc);

		if (strcmp(option->defname, "sequence_name") != 0)
			continue;
		name = makeRangeVarFromNameList(castNode(List, option->arg));
		*options = foreach_delete_current(*options, lc);
	}
	if (name == NULL)
		name = makeRangeVar(NULL,
							ChooseRelationName(RelationGetRelationName(rel),
											   column, "seq", namespace,
											   false),
							-1);
	if (name->schemaname == NULL)
		name->schemaname = get_namespace_name(namespace);
	name->relpersistence = rel->rd_rel->relpersistence;
	return name;
}

/*
 * nextval('...'::regclass), as core makes it for a serial column, but with the
 * OID in place of the name
 */
static FuncCall *
make_nextval_call(Oid seqid)
{
	A_Const    *name = makeNode(A_Const);
	TypeCast   *cast = makeNode(TypeCast);

	name->val.sval.type = T_String;
	name->val.sval.sval = psprintf("%u", seqid);
	name->location = -1;
	cast->arg = (Node *) name;
	cast->typeName = makeTypeNameFromOid(REGCLASSOID, -1);
	cast->location = -1;
	return makeFuncCall(SystemFuncName("nextval"), list_make1(cast),
						COERCE_EXPLICIT_CALL, SK_OUR_LOCATION);
}

static Oid
drawn_sequence(FuncCall *call)
{
	A_Const    *name = castNode(A_Const, castNode(TypeCast, linitial(call->args))->arg);

	return atooid(strVal(&name->val.sval));
}

/* The call that change_column() has put into a column definition. */
static FuncCall *
find_nextval_call(ColumnDef *def)
{
	ListCell   *lc;

	foreach(lc, def->constraints)
	{
		Constraint *constraint = lfirst(lc);

		if (constraint->contype == CONSTR_DEFAULT &&
			constraint->raw_expr != NULL &&
			IsA(constraint->raw_expr, FuncCall) &&
			((FuncCall *) constraint->raw_expr)->location == SK_OUR_LOCATION)
			return (FuncCall *) constraint->raw_expr;
	}
	return NULL;
}
