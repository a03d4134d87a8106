/*-------------------------------------------------------------------------
 *
 * key_column.c
 *	  Which expressions of a table a key consists of.
 *
 * Tables and what they contain are locked with AccessShareLock, as a query
 * does, to the end of the transaction.  Expressions are taken from the catalogs
 * as they are, and not evaluated here.  Privileges are checked by the query of
 * which they become a part.
 *
 * src/advisor/key_column.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "advisor/key_sample.h"
#include "compat.h"
#include "spi/run_command.h"

static Relation open_existing(Oid relid);
static void check_relation_kind(Relation rel);
static AttrNumber find_column(Oid relid, const char *column);
static void use_column(SkKeyColumn *key, AttrNumber attnum);
static void use_index(SkKeyColumn *key, Oid indexid);
static Node *column_of(Oid relid, AttrNumber attnum);
static void use_all_columns(SkKeyColumn *key, Relation index, List *expressions);
static char *column_definition(Oid indexid, int number);
static Node *stored_tree(Relation index, AttrNumber attribute);
static void check_order(const SkKeyColumn *key);

/*
 * sk_key_column_find
 *		Find the first column of a key, and the others.
 *
 * "relid" is a table or an index.  Without "column", which may be NULL, the
 * key is the index or else the primary key of the table.
 */
void
sk_key_column_find(SkKeyColumn *key, Oid relid, const char *column)
{
	char		relkind = get_rel_relkind(relid);
	bool		is_index = relkind == RELKIND_INDEX ||
		relkind == RELKIND_PARTITIONED_INDEX;
	Relation	rel;
	Oid			indexid;

	memset(key, 0, sizeof(SkKeyColumn));
	key->relid = is_index ? IndexGetRelation(relid, true) : relid;
	rel = open_existing(key->relid);
	check_relation_kind(rel);
	key->partitioned = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE;
	key->table = sk_qualified_name(key->relid);
	indexid = is_index ? relid : RelationGetPrimaryKeyIndex(rel, true);

	if (column != NULL)
		use_column(key, find_column(key->relid, column));
	else if (OidIsValid(indexid))
		use_index(key, indexid);
	else
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("relation \"%s\" has no primary key",
						RelationGetRelationName(rel)),
				 errhint("Name a column with column_name, or give an index instead of the relation.")));

	check_order(key);
	relation_close(rel, NoLock);
}

/*
 * sk_key_column_named
 *		Another column of the table.
 */
Node *
sk_key_column_named(const SkKeyColumn *key, const char *column)
{
	SkKeyColumn other = *key;

	use_column(&other, find_column(key->relid, column));
	check_order(&other);
	return other.expression;
}

/* It may be dropped before we have the lock. */
static Relation
open_existing(Oid relid)
{
	Relation	result = try_relation_open(relid, AccessShareLock);

	if (result == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	return result;
}

static void
check_relation_kind(Relation rel)
{
	char		relkind = rel->rd_rel->relkind;

	if (relkind == RELKIND_RELATION || relkind == RELKIND_MATVIEW ||
		relkind == RELKIND_PARTITIONED_TABLE)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("cannot sample relation \"%s\"",
					RelationGetRelationName(rel)),
			 errdetail_relkind_not_supported(relkind),
			 relkind == RELKIND_FOREIGN_TABLE ?
			 errhint("Call the function on the server that holds the rows.") :
			 errhint("Name a table or a materialized view.")));
}

static AttrNumber
find_column(Oid relid, const char *column)
{
	AttrNumber	result = get_attnum(relid, column);

	if (result <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, get_rel_name(relid))));
	return result;
}

static void
use_column(SkKeyColumn *key, AttrNumber attnum)
{
	key->name = get_attname(key->relid, attnum, false);
	key->expression = column_of(key->relid, attnum);
	key->type = getBaseType(exprType(key->expression));
}

static Node *
column_of(Oid relid, AttrNumber attnum)
{
	Oid			type;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(relid, attnum, &type, &typmod, &collation);
	return (Node *) makeVar(1, attnum, type, typmod, collation, 0);
}

/* The relation cache would run functions with constant arguments. */
static Node *
stored_tree(Relation index, AttrNumber attribute)
{
	bool		isnull;
	Datum		tree = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
									   attribute, &isnull);

	return isnull ? NULL : stringToNode(TextDatumGetCString(tree));
}

/* An index may be on an expression, and on a part of the rows. */
static void
use_index(SkKeyColumn *key, Oid indexid)
{
	Relation	index = open_existing(indexid);
	Form_pg_index form = index->rd_index;
	List	   *expressions = (List *) stored_tree(index, Anum_pg_index_indexprs);

	if (form->indkey.values[0] != 0)
		use_column(key, form->indkey.values[0]);
	else
	{
		key->name = column_definition(indexid, 1);
		key->expression = linitial(expressions);
		key->type = getBaseType(exprType(key->expression));
	}

	key->filter = stored_tree(index, Anum_pg_index_indpred);
	if (form->indnkeyatts > 1 && index->rd_rel->relam == BTREE_AM_OID)
		use_all_columns(key, index, expressions);
	relation_close(index, NoLock);
}

static void
use_all_columns(SkKeyColumn *key, Relation index, List *expressions)
{
	ListCell   *next = list_head(expressions);
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		AttrNumber	attnum = index->rd_index->indkey.values[i];

		if (attnum != 0)
			key->columns = lappend(key->columns, column_of(key->relid, attnum));
		else
		{
			key->columns = lappend(key->columns, lfirst(next));
			next = lnext(expressions, next);
		}
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "",
						 attnum != 0 ? get_attname(key->relid, attnum, false) :
						 column_definition(RelationGetRelid(index), i + 1));
	}
	key->column_names = names.data;
}

static char *
column_definition(Oid indexid, int number)
{
	return TextDatumGetCString(DirectFunctionCall3(pg_get_indexdef_ext,
												   ObjectIdGetDatum(indexid),
												   Int32GetDatum(number),
												   BoolGetDatum(false)));
}

static void
check_order(const SkKeyColumn *key)
{
	TypeCacheEntry *type = lookup_type_cache(key->type, TYPECACHE_LT_OPR);

	if (!OidIsValid(type->lt_opr))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("column \"%s\" of type %s has no order",
						key->name, format_type_be(key->type)),
				 errhint("Name a column of a type that a B-tree index can hold.")));
}
