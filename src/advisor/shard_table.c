/*-------------------------------------------------------------------------
 *
 * shard_table.c
 *	  A table that gets a shard column, and its primary key.
 *
 * src/advisor/shard_table.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/catalog.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "commands/comment.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "advisor/shard_table.h"
#include "compat.h"
#include "spi/run_command.h"

static void check_table(Oid relid, bool dry_run);
static void find_column(SkShardTable *table, const char *column);
static Oid	find_primary_key(Oid relid);
static void open_key(SkShardTable *table, const char *column);
static void open_constraint(SkShardTable *table, const char *columns);
static char *tail(const char *definition, const char *head);
static char *query_list(const char *query);

/*
 * sk_shard_table_open
 *		Find out about a table and its primary key, and lock it.
 *
 * Raises an error unless it is a table with a primary key to which a shard
 * column of that name can be added, or whose shard column it is.
 */
void
sk_shard_table_open(SkShardTable *table, Oid relid, const char *column,
					bool dry_run)
{
	memset(table, 0, sizeof(SkShardTable));
	check_table(relid, dry_run);
	table->lock = dry_run ? AccessShareLock : AccessExclusiveLock;
	LockRelationOid(relid, table->lock);
	/* it may have been dropped or changed while we waited */
	check_table(relid, dry_run);
	table->relid = relid;
	table->name = sk_qualified_name(relid);
	table->is_partitioned = get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE;
	find_column(table, column);
	open_key(table, column);
}

/*
 * sk_shard_table_close
 *		Release the lock, unless the table was changed under it.
 */
void
sk_shard_table_close(SkShardTable *table)
{
	if (table->lock == AccessShareLock)
		UnlockRelationOid(table->relid, table->lock);
}

/*
 * sk_shard_table_has_key
 *		Is a column in the primary key?
 */
bool
sk_shard_table_has_key(SkShardTable *table, const char *column)
{
	ListCell   *lc;

	foreach(lc, table->key)
	{
		if (strcmp(lfirst(lc), column) == 0)
			return true;
	}
	return false;
}

/*
 * sk_shard_table_check_type
 *		Raise an error if a column cannot be hashed to a shard.
 *
 * A generated column cannot, and of the types spanner.shard_id() knows which.
 * Texts that are equal under a nondeterministic collation have different
 * shards, so the key would no longer keep them from being inserted twice.
 */
void
sk_shard_table_check_type(SkShardTable *table, const char *column, Oid type)
{
	AttrNumber	attnum = get_attnum(table->relid, column);
	Oid			column_type;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(table->relid, attnum, &column_type, &typmod, &collation);
	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of table \"%s\" has a nondeterministic collation",
						column, get_rel_name(table->relid)),
				 errdetail("Texts that are equal would have different shards, and could be inserted twice."),
				 errhint("Name other columns of the primary key.")));
	if (get_attgenerated(table->relid, attnum) != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
				 errmsg("column \"%s\" of table \"%s\" is generated itself",
						column, get_rel_name(table->relid)),
				 errhint("Name other columns of the primary key.")));
	(void) query_list(psprintf("SELECT NULL FROM spanner.shard_id(1, CAST(NULL AS %s))",
							   format_type_be_qualified(type)));
}

/*
 * sk_shard_table_new_index
 *		A free name for the index that becomes the primary key, quoted.
 */
char *
sk_shard_table_new_index(SkShardTable *table)
{
	return pstrdup(quote_identifier(ChooseRelationName(get_rel_name(table->indexid),
													   NULL, "sharded",
													   get_rel_namespace(table->relid),
													   false)));
}

/*
 * sk_shard_table_report
 *		Tell what else relies on the primary key.
 *
 * Foreign keys that refer to it would have to go.  That is not for us to do:
 * it is an error, or in a dry run a warning.
 */
void
sk_shard_table_report(SkShardTable *table, bool dry_run)
{
	char	   *list;

	list = query_list(psprintf("SELECT pg_catalog.format('%%I of table %%s', conname, conrelid::pg_catalog.regclass) "
							   "FROM pg_catalog.pg_constraint WHERE contype OPERATOR(pg_catalog.=) 'f' "
							   "AND conindid OPERATOR(pg_catalog.=) %u AND conparentid OPERATOR(pg_catalog.=) 0 ORDER BY 1",
							   table->indexid));
	if (list != NULL)
		ereport(dry_run ? WARNING : ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("foreign keys refer to the primary key of table \"%s\"",
						get_rel_name(table->relid)),
				 errdetail("These are: %s.", list),
				 errhint("Drop them, and add them again with a shard column in the referencing tables too, or without one to a unique index of the old key.")));

	list = query_list(psprintf("SELECT pg_catalog.quote_ident(c.relname) FROM pg_catalog.pg_index i "
							   "JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid "
							   "WHERE i.indrelid OPERATOR(pg_catalog.=) %u AND i.indisunique AND NOT i.indisprimary ORDER BY 1",
							   table->relid));
	if (list != NULL)
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("other unique indexes of table \"%s\" stay as they are",
						get_rel_name(table->relid)),
				 errdetail("These are: %s.", list)));

	list = query_list(psprintf("SELECT pg_catalog.quote_ident(p.pubname) FROM pg_catalog.pg_publication p, "
							   "pg_catalog.pg_get_publication_tables(p.pubname) t "
							   "WHERE t.relid OPERATOR(pg_catalog.=) %u ORDER BY 1",
							   table->relid));
	if (list != NULL)
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("table \"%s\" is published", get_rel_name(table->relid)),
				 errdetail("The shard column is a plain one, which a trigger fills: a generated one cannot be replicated as part of a key. Publications: %s.",
						   list),
				 errhint("Give the subscribers the column and the primary key as well.")));
}

/* Raise an error unless it is a table, and one of the caller's to change. */
static void
check_table(Oid relid, bool dry_run)
{
	char		relkind = get_rel_relkind(relid);

	if (relkind == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("table with OID %u does not exist", relid),
				 errhint("Name a table.")));
	if (relkind != RELKIND_RELATION && relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table", get_rel_name(relid)),
				 errhint("Name the table that stores the rows.")));
	if (IsCatalogRelationOid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("\"%s\" is a system catalog", get_rel_name(relid)),
				 errhint("Name a table of your own.")));
	if (!dry_run && !object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relid));
	if (has_superclass(relid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("table \"%s\" is a partition, or inherits its columns",
						get_rel_name(relid)),
				 errhint("Name the table that it is a part of.")));
}

/*
 * Is the shard column there already?  Nothing but the primary key may use it
 * then, since ALTER TABLE would drop indexes and constraints without a word.
 */
static void
find_column(SkShardTable *table, const char *column)
{
	AttrNumber	attnum = get_attnum(table->relid, column);
	char	   *list;

	if (attnum == InvalidAttrNumber)
		return;
	list = query_list(psprintf("SELECT 'yes' FROM pg_catalog.pg_attrdef "
							   "WHERE adrelid OPERATOR(pg_catalog.=) %u AND adnum OPERATOR(pg_catalog.=) %d "
							   "AND pg_catalog.strpos(pg_catalog.pg_get_expr(adbin, adrelid), 'shard_id(') OPERATOR(pg_catalog.>) 0",
							   table->relid, attnum));
	if (get_attgenerated(table->relid, attnum) == '\0' || list == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_COLUMN),
				 errmsg("column \"%s\" of table \"%s\" already exists",
						column, get_rel_name(table->relid)),
				 errhint("Use another column_name.")));

	list = query_list(psprintf("SELECT pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid) FROM pg_catalog.pg_depend d "
							   "WHERE d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass "
							   "AND d.refobjid OPERATOR(pg_catalog.=) %u AND d.refobjsubid OPERATOR(pg_catalog.=) %d "
							   "AND d.classid OPERATOR(pg_catalog.<>) 'pg_catalog.pg_attrdef'::pg_catalog.regclass "
							   "AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.oid OPERATOR(pg_catalog.=) d.objid "
							   "AND k.contype OPERATOR(pg_catalog.=) ANY ('{p,n}'::pg_catalog.\"char\"[]) "
							   "AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_constraint'::pg_catalog.regclass) ORDER BY 1",
							   table->relid, attnum));
	if (list != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("column \"%s\" of table \"%s\" is used elsewhere",
						column, get_rel_name(table->relid)),
				 errdetail("These use it: %s.", list),
				 errhint("Drop them first: they would go together with the column.")));
	table->has_column = true;
}

/* The index of the primary key, be it deferrable or not. */
static Oid
find_primary_key(Oid relid)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	Oid			result = InvalidOid;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID,
											ObjectIdGetDatum(lfirst_oid(lc)));

		/* DROP INDEX CONCURRENTLY does not wait for a dry run */
		if (!HeapTupleIsValid(tuple))
			continue;
		if (((Form_pg_index) GETSTRUCT(tuple))->indisprimary)
			result = lfirst_oid(lc);
		ReleaseSysCache(tuple);
	}
	relation_close(rel, AccessShareLock);
	return result;
}

/* The parts of the primary key. */
static void
open_key(SkShardTable *table, const char *column)
{
	Relation	index;
	StringInfoData columns;
	StringInfoData rest;

	table->indexid = find_primary_key(table->relid);
	if (!OidIsValid(table->indexid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no primary key",
						get_rel_name(table->relid)),
				 errhint("Add one with ALTER TABLE ... ADD PRIMARY KEY.")));

	index = relation_open(table->indexid, AccessShareLock);
	if (index->rd_rel->relam != BTREE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("primary key of table \"%s\" is not a B-tree",
						get_rel_name(table->relid)),
				 errhint("Use a primary key without WITHOUT OVERLAPS.")));
	table->is_replica_identity = index->rd_index->indisreplident;
	initStringInfo(&columns);
	initStringInfo(&rest);
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		char	   *name = get_attname(table->relid,
									   index->rd_index->indkey.values[i], false);

		appendStringInfo(&columns, "%s%s", i > 0 ? ", " : "",
						 quote_identifier(name));
		if (strcmp(name, column) == 0)
			continue;
		appendStringInfo(&rest, "%s%s", table->key != NIL ? ", " : "",
						 quote_identifier(name));
		table->key = lappend(table->key, name);
	}
	relation_close(index, AccessShareLock);
	table->key_list = rest.data;
	if (table->key == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("primary key of table \"%s\" has no other column",
						get_rel_name(table->relid)),
				 errhint("Use another column_name.")));

	open_constraint(table, columns.data);
}

/* The constraint that the primary key is; "columns" are all of its columns. */
static void
open_constraint(SkShardTable *table, const char *columns)
{
	HeapTuple	tuple;
	Form_pg_constraint form;

	table->constraint_id = get_index_constraint(table->indexid);
	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(table->constraint_id));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", table->constraint_id);
	form = (Form_pg_constraint) GETSTRUCT(tuple);
	table->constraint = pstrdup(quote_identifier(NameStr(form->conname)));
	table->deferral = !form->condeferrable ? "" :
		form->condeferred ? " DEFERRABLE INITIALLY DEFERRED" : " DEFERRABLE";
	ReleaseSysCache(tuple);
	table->comment = GetComment(table->constraint_id, ConstraintRelationId, 0);

	table->index_tail = tail(pg_get_indexdef_string(table->indexid),
							 psprintf("CREATE UNIQUE INDEX %s ON %s USING btree (%s)",
									  quote_identifier(get_rel_name(table->indexid)),
									  table->name, columns));
	table->constraint_tail = tail(pg_get_constraintdef_command(table->constraint_id),
								  psprintf("ALTER TABLE %s ADD CONSTRAINT %s PRIMARY KEY (%s)",
										   table->name, table->constraint,
										   columns));
}

/* What follows the columns of a definition: INCLUDE, WITH, TABLESPACE, ... */
static char *
tail(const char *definition, const char *head)
{
	size_t		length = strlen(head);

	if (strncmp(definition, head, length) != 0)
		elog(ERROR, "unexpected definition: %s", definition);
	return pstrdup(definition + length);
}

/* The texts that a query returns, with commas between; NULL if none. */
static char *
query_list(const char *query)
{
	char	   *result = NULL;
	ListCell   *lc;

	foreach(lc, sk_query_texts(query))
		result = result == NULL ? lfirst(lc) :
		psprintf("%s, %s", result, (char *) lfirst(lc));
	return result;
}
