/*-------------------------------------------------------------------------
 *
 * identity_column.c
 *	  Which columns are identity columns whose sequence is bound.
 *
 * Such a column has no identity in the catalogs (column_default.c).  It is
 * known by its default, which draws from a sequence that the column owns, or
 * that of the partitioned table above it, and that has an identity in its
 * label.
 *
 * src/sequence/redirect/identity_column.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/partition.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "sequence/redirect/identity_column.h"
#include "sequence/sequence.h"

static bool belongs_to_identity(Oid seqid, const char *column, Oid table);

/*
 * sk_drawn_sequence
 *		The sequence that the default of an integer column draws from.
 *
 * Returns InvalidOid for any other expression.
 */
Oid
sk_drawn_sequence(Node *expr)
{
	FuncExpr   *call = (FuncExpr *) expr;
	Const	   *sequence;

	if (expr == NULL || !IsA(expr, FuncExpr))
		return InvalidOid;
	if (call->funcid == F_INT4_INT8 || call->funcid == F_INT2_INT8)
		return sk_drawn_sequence(linitial(call->args));
	if (call->funcid != F_NEXTVAL)
		return InvalidOid;
	sequence = linitial(call->args);
	if (!IsA(sequence, Const) || sequence->constisnull)
		return InvalidOid;
	return DatumGetObjectId(sequence->constvalue);
}

/*
 * sk_sequence_identity
 *		The identity that the label of a sequence tells of.
 *
 * A label of a kind that cannot be loaded will do.
 */
SkIdentity
sk_sequence_identity(Oid seqid)
{
	const char *text = sk_sequence_label(seqid);
	const char *problem;
	SkLabel    *label = text !=NULL ? sk_label_parse(text, &problem) : NULL;
	ListCell   *lc;

	foreach(lc, label != NULL ? label->options : NIL)
	{
		SkOption   *option = lfirst(lc);

		if (strcmp(option->name, "identity") == 0)
			return pg_strcasecmp(option->value, "always") == 0 ?
				SK_IDENTITY_ALWAYS : SK_IDENTITY_BY_DEFAULT;
	}
	return SK_IDENTITY_NONE;
}

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
