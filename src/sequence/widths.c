/*-------------------------------------------------------------------------
 *
 * widths.c
 *	  Columns that a command has made too narrow for the values of a sequence.
 *
 * The end of a command looks at the defaults of the table, as the catalogs have
 * them, and at the sequences that it owns.  Who makes a foreign key that does
 * not hold the ids that it refers to is warned.
 *
 * src/sequence/widths.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/sequence.h"
#include "nodes/parsenodes.h"
#include "nodes/value.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "sequence/binding.h"
#include "sequence/sequence_change.h"
#include "sequence/widths.h"
#include "spi/run_command.h"

/* Foreign keys to foreign keys are followed so far. */
#define SK_MAX_REFERENCES 16

static void follow_table(const RangeVar *name, List *columns,
						 const List *bound);
static List *list_altered(AlterTableStmt *stmt);
static void warn_of_foreign_keys(Relation rel, List *columns);
static int	bits_of_ids(Oid relid, AttrNumber attnum, int depth);

/*
 * sk_widths_command_end
 *		Look at the columns that a command has made or altered.
 *
 * "bound" are sequences to which its end has given a kind that fits.
 */
void
sk_widths_command_end(Node *command, const List *bound)
{
	ListCell   *lc;

	if (IsA(command, CreateStmt) || IsA(command, CreateForeignTableStmt))
		follow_table(((CreateStmt *) command)->relation, NIL, bound);
	else if (IsA(command, AlterTableStmt))
	{
		List	   *columns = list_altered((AlterTableStmt *) command);

		if (columns != NIL)
			follow_table(((AlterTableStmt *) command)->relation, columns, bound);
	}
	else if (IsA(command, CreateSchemaStmt))
		foreach(lc, ((CreateSchemaStmt *) command)->schemaElts)
			sk_widths_command_end(lfirst(lc), bound);
}

/* The names of columns to which ALTER TABLE gives a type, a default or a key. */
static List *
list_altered(AlterTableStmt *stmt)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);

		if (cmd->subtype == AT_AlterColumnType || cmd->subtype == AT_ColumnDefault)
			result = lappend(result, makeString(cmd->name));
		else if (cmd->subtype == AT_AddColumn)
			result = lappend(result, makeString(((ColumnDef *) cmd->def)->colname));
		else if (cmd->subtype == AT_AddConstraint &&
				 ((Constraint *) cmd->def)->contype == CONSTR_FOREIGN)
			result = list_concat(result, ((Constraint *) cmd->def)->fk_attrs);
	}
	return result;
}

/* "columns" are the names of those to look at, NIL for all. */
static void
follow_table(const RangeVar *name, List *columns, const List *bound)
{
	Oid			relid = RangeVarGetRelid(name, NoLock, true);
	Relation	rel;
	TupleDesc	desc;
	List	   *sequences;
	ListCell   *lc;

	if (!OidIsValid(relid) || get_rel_relkind(relid) == RELKIND_VIEW)
		return;
	rel = relation_open(relid, AccessShareLock);
	desc = RelationGetDescr(rel);
	sequences = getOwnedSequences(relid);
	for (int i = 0; desc->constr != NULL && i < desc->constr->num_defval; i++)
		sequences = list_append_unique_oid(sequences,
										   sk_drawn_sequence(stringToNode(desc->constr->defval[i].adbin)));
	warn_of_foreign_keys(rel, columns);
	relation_close(rel, NoLock);

	foreach(lc, sequences)
	{
		if (OidIsValid(lfirst_oid(lc)) && !list_member_oid(bound, lfirst_oid(lc)))
			sk_narrow_sequence(lfirst_oid(lc), InvalidOid);
	}
}

/* Warn of new foreign keys that do not hold the ids that they refer to. */
static void
warn_of_foreign_keys(Relation rel, List *columns)
{
	List	   *warned = NIL;
	ListCell   *lc;

	foreach(lc, copyObject(RelationGetFKeyList(rel)))
	{
		ForeignKeyCacheInfo *key = lfirst(lc);

		for (int i = 0; i < key->nkeys; i++)
		{
			char	   *name = get_attname(key->conrelid, key->conkey[i], false);
			int			width = sk_column_width(key->conrelid, key->conkey[i]);
			int			bits;

			if ((columns != NIL && !list_member(columns, makeString(name))) ||
				list_member_int(warned, key->conkey[i]))
				continue;
			bits = bits_of_ids(key->confrelid, key->confkey[i], 0);
			if (bits <= width)
				continue;
			warned = lappend_int(warned, key->conkey[i]);
			ereport(WARNING,
					(errcode(ERRCODE_WARNING),
					 errmsg("column \"%s\" of table \"%s\" does not hold the ids of table \"%s\"",
							name, RelationGetRelationName(rel),
							get_rel_name(key->confrelid)),
					 errdetail("They have %d bits, and the column holds %d.",
							   bits, width),
					 errhint("Run ALTER TABLE %s ALTER COLUMN %s TYPE %s.",
							 sk_qualified_name(key->conrelid),
							 quote_identifier(name),
							 bits > 31 ? "bigint" : "integer")));
		}
	}
}

/*
 * The bits of a bound sequence that gives the values of a column, or of one that
 * it refers to; 0 if there is none.
 */
static int
bits_of_ids(Oid relid, AttrNumber attnum, int depth)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	Oid			seqid = sk_drawn_sequence(build_column_default(rel, attnum));
	int			result = 0;
	ListCell   *lc;

	if (!OidIsValid(seqid))
		seqid = sk_column_sequence(relid, attnum);
	if (OidIsValid(seqid))
	{
		const SkSequenceOptions *options = sk_binding_get(seqid)->options;

		result = options != NULL ? options->bits : 0;
	}
	else if (depth < SK_MAX_REFERENCES)
		foreach(lc, copyObject(RelationGetFKeyList(rel)))
	{
		ForeignKeyCacheInfo *key = lfirst(lc);

		for (int i = 0; i < key->nkeys; i++)
		{
			if (key->conkey[i] == attnum)
				result = Max(result, bits_of_ids(key->confrelid, key->confkey[i],
												 depth + 1));
		}
	}
	relation_close(rel, NoLock);
	return result;
}
