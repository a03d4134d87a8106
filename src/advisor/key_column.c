/*-------------------------------------------------------------------------
 *
 * key_column.c
 *	  Which expressions of a table a key consists of.
 *
 * Tables and what they contain are locked with AccessShareLock, as a query
 * does, to the end of the transaction.  Privileges are checked by the queries
 * that are made of the result.
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
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
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
static void use_all_columns(SkKeyColumn *key, Relation index);
static char *column_definition(Oid indexid, int number);
static void check_index_functions(Relation index);
static Node *stored_tree(Relation index, AttrNumber attribute);
static bool uses_untrusted_code(Node *node, void *context);
static bool is_untrusted_function(Oid funcid, void *context);
static bool is_untrusted_domain(Oid type);
static bool is_untrusted_type(Oid type);
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
 *		Another column of the table, as SQL.
 */
char *
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
	key->expression = psprintf("t.%s", quote_identifier(key->name));
	key->type = getBaseType(get_atttype(key->relid, attnum));
}

/*
 * The server evaluates expressions of an index as the owner of the table.  Here
 * they are part of a query of the caller, who need not trust the owner.
 */
static void
check_index_functions(Relation index)
{
	if (uses_untrusted_code(stored_tree(index, Anum_pg_index_indexprs), NULL) ||
		uses_untrusted_code(stored_tree(index, Anum_pg_index_indpred), NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("index \"%s\" calls a function or uses a type of another user",
						RelationGetRelationName(index)),
				 errhint("Name a column with column_name, or have the owner of the function or type call this one.")));
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

/*
 * Does an expression call a function of another user, who is no superuser?
 * Constraints of a domain can call functions, too.
 */
static bool
uses_untrusted_code(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) &&
		is_untrusted_domain(((CoerceToDomain *) node)->resulttype))
		return true;
	if ((IsA(node, Const) || IsA(node, CoerceViaIO)) &&
		is_untrusted_type(exprType(node)))
		return true;
	return check_functions_in_node(node, is_untrusted_function, context) ||
		expression_tree_walker(node, uses_untrusted_code, context);
}

static bool
is_untrusted_function(Oid funcid, void *context)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", funcid);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return owner != GetUserId() && !superuser_arg(owner);
}

/* A domain can be made of others. */
static bool
is_untrusted_domain(Oid type)
{
	for (;;)
	{
		HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
		FormData_pg_type form;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for type %u", type);
		form = *(Form_pg_type) GETSTRUCT(tuple);
		ReleaseSysCache(tuple);
		if (form.typtype != TYPTYPE_DOMAIN)
			return false;
		if (form.typowner != GetUserId() && !superuser_arg(form.typowner))
			return true;
		type = form.typbasetype;
	}
}

/*
 * Is it a type of another user that can have parts?  The parts can be domains,
 * and the input function of the whole checks their constraints.  That happens
 * as soon as a literal is parsed.
 */
static bool
is_untrusted_type(Oid type)
{
	HeapTuple	tuple;
	FormData_pg_type form;

	if (OidIsValid(get_element_type(type)))
		type = get_element_type(type);
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	form = *(Form_pg_type) GETSTRUCT(tuple);
	ReleaseSysCache(tuple);
	return form.typtype != TYPTYPE_ENUM && form.typowner != GetUserId() &&
		!superuser_arg(form.typowner);
}

/* An index may be on an expression, and on a part of the rows. */
static void
use_index(SkKeyColumn *key, Oid indexid)
{
	Relation	index = open_existing(indexid);
	Form_pg_index form = index->rd_index;

	check_index_functions(index);
	if (form->indkey.values[0] != 0)
		use_column(key, form->indkey.values[0]);
	else
	{
		Node	   *expression = linitial(RelationGetIndexExpressions(index));

		key->name = column_definition(indexid, 1);
		key->expression = psprintf("(%s)", key->name);
		key->type = getBaseType(exprType(expression));
	}

	if (RelationGetIndexPredicate(index) != NIL)
	{
		bool		isnull;
		Datum		predicate = SysCacheGetAttr(INDEXRELID,
												index->rd_indextuple,
												Anum_pg_index_indpred,
												&isnull);

		key->filter = TextDatumGetCString(DirectFunctionCall2(pg_get_expr,
															  predicate,
															  ObjectIdGetDatum(key->relid)));
	}
	if (form->indnkeyatts > 1 && index->rd_rel->relam == BTREE_AM_OID)
		use_all_columns(key, index);
	relation_close(index, NoLock);
}

static void
use_all_columns(SkKeyColumn *key, Relation index)
{
	StringInfoData columns;
	StringInfoData names;

	initStringInfo(&columns);
	initStringInfo(&names);
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		AttrNumber	attnum = index->rd_index->indkey.values[i];
		char	   *name = attnum != 0 ? get_attname(key->relid, attnum, false) :
			column_definition(RelationGetRelid(index), i + 1);

		appendStringInfo(&columns, attnum != 0 ? "%st.%s" : "%s(%s)",
						 i > 0 ? ", " : "",
						 attnum != 0 ? quote_identifier(name) : name);
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", name);
	}
	key->columns = columns.data;
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
