/*-------------------------------------------------------------------------
 *
 * shard_key.c
 *	  Recognizing the shard keys of a relation.
 *
 * Four declarations make a shard key: a stored generated column, a column
 * that is NOT NULL and that a CHECK constraint compares, the first expression
 * of an index, an expression in a partition key.  The first two are read from
 * the relation's descriptor, and cached until the relation changes; the
 * others come with the planner's data on the relation.
 *
 * What they compute is an expression that key_expression.c knows.
 *
 * A CHECK constraint is satisfied by NULL, hence NOT NULL; shard_id() never
 * returns NULL.  A fingerprint does.  It is known to be one of the shards if the
 * generated column is NOT NULL, or what it is computed from.  A NOT NULL that is
 * not validated proves nothing (sk_never_null()).
 *
 * A transaction can have an older snapshot than the catalogs.  Rows that only it
 * sees need not satisfy a constraint that was added since, nor the bounds of a
 * partition.  So it does without the keys of a table that has changed.
 *
 * src/planner/shard_key.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "compat.h"
#include "planner/shard_key.h"
#include "spi/command_hooks.h"

/* The varno of columns in expressions that are read from the catalogs. */
#define SK_CATALOG_VARNO 1

/* When so many relations are cached, and those of a query, the cache is emptied. */
#define SK_MAX_CACHED_RELATIONS 256

/* What is known of a relation; most have no keys. */
typedef struct SkKeyCacheEntry
{
	Oid			relid;
	List	   *keys;			/* without indexes */
	uint64		seen_until;		/* snapshots that see "newest" see it, if
								 * there are no more invalidations than that */
	TransactionId newest;
	MemoryContext context;		/* of the keys, or NULL */
} SkKeyCacheEntry;

int			sk_max_merge_shards = 4096;

static HTAB *key_cache = NULL;
static MemoryContext key_cache_context = NULL;
static uint64 invalidations = 1;
static int	relations_of_query = 0;

static void create_cache(void);
static bool is_seen(Oid relid);
static bool sees_rows(Oid catalog, Oid index, AttrNumber column, Oid relid,
					  TransactionId *newest);
static List *column_keys(Oid relid, Index varno);
static List *read_column_keys(Relation relation);
static List *add_column_key(List *keys, TupleDesc desc, AttrNumber attnum,
							Node *expr, bool by_check, bool holds);
static List *parent_keys(List *column_keys, RelOptInfo *rel);
static List *copy_keys(List *keys, Index varno);
static List *add_indexes(List *keys, RelOptInfo *rel, Oid relid);
static bool has_null_key(const SkShardKey *key, TupleDesc desc);
static SkShardKey *make_expression_key(Expr *expr);
static SkShardKey *make_key(Node *expr);
static bool calls_forbidden(Node *node, void *context);
static bool is_forbidden(Oid function, void *context);
static void forget_relation(Datum arg, Oid relid);
static void forget_entry(SkKeyCacheEntry *entry);

/*
 * sk_shard_keys
 *		The shard keys of a relation that the planner scans.
 *
 * Of a plain table or a partition those that an index has, with these indexes;
 * of a partitioned table those that hold for all its partitions.  Keys whose
 * functions the user may not call are left out.
 */
List *
sk_shard_keys(PlannerInfo *root, RelOptInfo *rel)
{
	Oid			relid = planner_rt_fetch(rel->relid, root)->relid;
	List	   *keys = NIL;

	relations_of_query = root->simple_rel_array_size;
	if (rel->part_scheme)
		keys = parent_keys(sk_keys_that_hold(column_keys(relid, rel->relid)), rel);
	else if (rel->indexlist)
		keys = add_indexes(sk_keys_that_hold(column_keys(relid, rel->relid)), rel, relid);
	if (keys == NIL)
		return NIL;
	if (!is_seen(relid))
	{
		/* other snapshots will see it */
		root->glob->transientPlan = true;
		return NIL;
	}
	/* a plan that calls their functions is not for a role that may not */
	root->glob->dependsOnRole = true;
	return keys;
}

/*
 * sk_column_keys
 *		The shard keys that are columns of a relation, as the catalogs have them,
 *		also those that some rows need not satisfy.
 */
List *
sk_column_keys(Oid relid)
{
	return column_keys(relid, SK_CATALOG_VARNO);
}

/*
 * sk_keys_that_hold
 *		Those of some keys that all rows satisfy.
 */
List *
sk_keys_that_hold(List *keys)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, keys)
	{
		if (((SkShardKey *) lfirst(lc))->holds)
			result = lappend(result, lfirst(lc));
	}
	return result;
}

static void
create_cache(void)
{
	HASHCTL		ctl;

	key_cache_context = AllocSetContextCreate(CacheMemoryContext,
											  "spanner_keys shard keys",
											  ALLOCSET_SMALL_SIZES);
	ctl.keysize = sizeof(Oid);
	ctl.entrysize = sizeof(SkKeyCacheEntry);
	ctl.hcxt = key_cache_context;
	key_cache = hash_create("spanner_keys shard keys", 64, &ctl,
							HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	sk_on_relation_change(forget_relation);
	sk_watch_relations();
}

/*
 * Does the snapshot see the columns, constraints and partitions of a relation as
 * they are?  What all snapshots of the transaction see is not looked up again; but a
 * table is not told of new partitions of its partitions.
 */
static bool
is_seen(Oid relid)
{
	SkKeyCacheEntry *entry = hash_search(key_cache, &relid, HASH_FIND, NULL);
	uint64		before = invalidations;
	List	   *tables = NIL;
	int			levels = 0;
	TransactionId newest = FrozenTransactionId;
	bool		result;
	ListCell   *lc;

	if (entry && entry->seen_until >= invalidations &&
		TransactionIdPrecedes(entry->newest, TransactionXmin))
		return true;
	result = sees_rows(ConstraintRelationId, ConstraintRelidTypidNameIndexId,
					   Anum_pg_constraint_conrelid, relid, &newest);
	/* to attach a table, with its partitions, changes its columns */
	foreach(lc, lcons_oid(relid, get_partition_ancestors(relid)))
		result &= sees_rows(AttributeRelationId, AttributeRelidNumIndexId,
							Anum_pg_attribute_attrelid, lfirst_oid(lc), &newest);
	if (has_subclass(relid))
		tables = find_all_inheritors(relid, NoLock, NULL);
	foreach(lc, tables)
	{
		if (get_rel_relkind(lfirst_oid(lc)) != RELKIND_PARTITIONED_TABLE)
			continue;
		levels++;
		result &= sees_rows(InheritsRelationId, InheritsParentIndexId,
							Anum_pg_inherits_inhparent, lfirst_oid(lc), &newest);
	}
	/* looking into catalogs may have thrown it away */
	entry = hash_search(key_cache, &relid, HASH_FIND, NULL);
	if (entry && result)
	{
		entry->seen_until = levels > 1 ? before : PG_UINT64_MAX;
		entry->newest = newest;
	}
	return result;
}

/*
 * Does the snapshot see the rows of a relation in a catalog?  Those that the
 * transaction itself has written may have been checked by a later snapshot.
 */
static bool
sees_rows(Oid catalog, Oid index, AttrNumber column, Oid relid, TransactionId *newest)
{
	Relation	relation = table_open(catalog, AccessShareLock);
	bool		result = true;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
	scan = systable_beginscan(relation, index, true, NULL, 1, &key);
	while (result && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		TransactionId xmin = HeapTupleHeaderGetXmin(tuple->t_data);

		if (TransactionIdFollows(xmin, *newest))
			*newest = xmin;
		result = TransactionIdIsCurrentTransactionId(xmin) ?
			!IsolationUsesXactSnapshot() && HeapTupleHeaderGetCmin(tuple->t_data) < GetActiveSnapshot()->curcid :
			!XidInMVCCSnapshot(xmin, GetActiveSnapshot());
	}
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
	return result;
}

/*
 * The keys that are columns of a relation.  The result is a copy, for looking
 * into catalogs may throw the cache away.
 */
static List *
column_keys(Oid relid, Index varno)
{
	SkKeyCacheEntry *entry;
	uint64		before = invalidations;
	Relation	relation;
	MemoryContext context;
	List	   *keys;

	/* what the cache has is only good for a table that cannot change now */
	Assert(sk_relation_is_locked(relid, AccessShareLock));
	if (key_cache == NULL)
		create_cache();
	entry = hash_search(key_cache, &relid, HASH_FIND, NULL);
	if (entry)
		return copy_keys(entry->keys, varno);

	relation = table_open(relid, NoLock);
	keys = read_column_keys(relation);
	table_close(relation, NoLock);
	if (before == invalidations)
	{
		if (hash_get_num_entries(key_cache) >=
			SK_MAX_CACHED_RELATIONS + relations_of_query)
			forget_relation((Datum) 0, InvalidOid);
		entry = hash_search(key_cache, &relid, HASH_ENTER, NULL);
		entry->keys = NIL;
		entry->seen_until = 0;
		entry->context = NULL;
		if (keys != NIL)
		{
			entry->context = AllocSetContextCreate(key_cache_context,
												   "spanner_keys shard keys",
												   ALLOCSET_SMALL_SIZES);
			context = MemoryContextSwitchTo(entry->context);
			entry->keys = copy_keys(keys, SK_CATALOG_VARNO);
			MemoryContextSwitchTo(context);
		}
	}
	return copy_keys(keys, varno);
}

static List *
read_column_keys(Relation relation)
{
	TupleDesc	desc = RelationGetDescr(relation);
	TupleConstr *constr = desc->constr;
	List	   *keys = NIL;

	if (constr == NULL)
		return NIL;

	for (int i = 0; constr->has_generated_stored && i < constr->num_defval; i++)
	{
		AttrDefault *value = &constr->defval[i];

		if (TupleDescAttr(desc, value->adnum - 1)->attgenerated ==
			ATTRIBUTE_GENERATED_STORED)
			keys = add_column_key(keys, desc, value->adnum,
								  stringToNode(value->adbin), false, true);
	}

	for (int i = 0; i < constr->num_check; i++)
	{
		ConstrCheck *check = &constr->check[i];
		ListCell   *lc;

		foreach(lc, make_ands_implicit(stringToNode(check->ccbin)))
		{
			AttrNumber	attnum;
			Node	   *expr;

			if (sk_read_key_check(lfirst(lc), &attnum, &expr))
				keys = add_column_key(keys, desc, attnum, expr, true,
									  sk_check_holds(check) && sk_never_null(desc, attnum));
		}
	}
	return keys;
}

/*
 * Those keys of a partitioned table that are its partitions' as well.  A
 * generated column is none of them: a partition may generate its own.  A CHECK
 * constraint of a partitioned table is one of all its partitions.
 */
static List *
parent_keys(List *column_keys, RelOptInfo *rel)
{
	List	   *keys = NIL;
	ListCell   *lc;

	foreach(lc, column_keys)
	{
		SkShardKey *key = lfirst(lc);

		if (key->by_check && !calls_forbidden((Node *) key->call, NULL))
			keys = lappend(keys, key);
	}

	for (int i = 0; i < rel->part_scheme->partnatts; i++)
	{
		foreach(lc, rel->partexprs[i])
		{
			SkShardKey *key = make_expression_key(lfirst(lc));

			if (key && !calls_forbidden((Node *) key->call, NULL))
				keys = lappend(keys, key);
		}
	}
	return keys;
}

/* Add a key, unless the planner can make nothing of the expression. */
static List *
add_column_key(List *keys, TupleDesc desc, AttrNumber attnum, Node *expr,
			   bool by_check, bool holds)
{
	Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
	SkShardKey *key = make_key(expr);

	if (key == NULL)
		return keys;
	/* key expressions have no other casts */
	Assert(att->atttypid == INT2OID || att->atttypid == INT4OID ||
		   att->atttypid == INT8OID);
	key->attnum = attnum;
	key->shard = (Expr *) makeVar(SK_CATALOG_VARNO, attnum, att->atttypid,
								  att->atttypmod, att->attcollation, 0);
	key->by_check = by_check;
	key->holds = holds;
	key->covers_rows = key->shards > 0 &&
		((!by_check && sk_never_null(desc, attnum)) || !has_null_key(key, desc));
	return lappend(keys, key);
}

/* Can the shard of a row be NULL because of a key? */
static bool
has_null_key(const SkShardKey *key, TupleDesc desc)
{
	Bitmapset  *columns;
	int			column = -1;

	if (!sk_null_columns(key, &columns))
		return true;
	while ((column = bms_next_member(columns, column)) >= 0)
	{
		if (!sk_never_null(desc, column))
			return true;
	}
	return false;
}

static List *
copy_keys(List *keys, Index varno)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, keys)
	{
		SkShardKey *copy = palloc(sizeof(SkShardKey));

		*copy = *(SkShardKey *) lfirst(lc);
		copy->shard = copyObject(copy->shard);
		copy->call = copyObject(copy->call);
		if (varno != SK_CATALOG_VARNO)
		{
			ChangeVarNodes((Node *) copy->shard, SK_CATALOG_VARNO, varno, 0);
			ChangeVarNodes((Node *) copy->call, SK_CATALOG_VARNO, varno, 0);
		}
		result = lappend(result, copy);
	}
	return result;
}

/*
 * Find the indexes that have each key, add the keys that only an index
 * declares, and drop keys without an index.
 */
static List *
add_indexes(List *keys, RelOptInfo *rel, Oid relid)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);
		SkShardKey *key = NULL;
		ListCell   *lc2;

		Assert(index->rel == rel);
		if (index->relam != BTREE_AM_OID || index->hypothetical ||
			(index->indpred != NIL && !index->predOK))
			continue;
		foreach(lc2, keys)
		{
			key = lfirst(lc2);
			if (sk_shard_position(key, index) >= 0)
				break;
			key = NULL;
		}
		if (key == NULL && index->indexkeys[0] == 0 &&
			index->opfamily[0] == INTEGER_BTREE_FAM_OID)
		{
			key = make_expression_key(linitial(index->indexprs));
			if (key)
			{
				Relation	relation = table_open(relid, NoLock);

				key->covers_rows = key->shards > 0 &&
					!has_null_key(key, RelationGetDescr(relation));
				table_close(relation, NoLock);
				keys = lappend(keys, key);
			}
		}
		if (key == NULL || calls_forbidden((Node *) key->call, NULL))
			continue;
		key->indexes = lappend(key->indexes, index);
		result = list_append_unique_ptr(result, key);
	}
	return result;
}

/*
 * sk_shard_position
 *		Which column of an index the shard is, from 0; -1 if it is none.
 *
 * An expression must be the first one.
 */
int
sk_shard_position(const SkShardKey *key, const IndexOptInfo *index)
{
	if (key->attnum == 0)
		return index->indexkeys[0] == 0 &&
			index->opfamily[0] == INTEGER_BTREE_FAM_OID &&
			equal(key->shard, linitial(index->indexprs)) ? 0 : -1;
	for (int i = 0; i < index->nkeycolumns; i++)
		if (index->indexkeys[i] == key->attnum &&
			index->opfamily[i] == INTEGER_BTREE_FAM_OID)
			return i;
	return -1;
}

static SkShardKey *
make_expression_key(Expr *expr)
{
	SkShardKey *key = make_key((Node *) expr);

	if (key != NULL)
		key->shard = expr;
	return key;
}

/* A key without its shard; NULL if the planner can make nothing of it. */
static SkShardKey *
make_key(Node *expr)
{
	SkShardKey *key = palloc(sizeof(SkShardKey));
	const char *problem;

	if (!sk_read_key_expression(expr, key, &problem))
		return NULL;
	/* as conditions of a query are, which may compare a key */
	if (key->can_derive)
		key->call = castNode(FuncExpr, sk_fold_stored(NULL, (Node *) key->call));
	return key;
}

/* The executor checks whether the user may call what the planner adds. */
static bool
calls_forbidden(Node *node, void *context)
{
	return node != NULL &&
		(check_functions_in_node(node, is_forbidden, NULL) ||
		 expression_tree_walker(node, calls_forbidden, NULL));
}

static bool
is_forbidden(Oid function, void *context)
{
	return object_aclcheck(ProcedureRelationId, function, GetUserId(),
						   ACL_EXECUTE) != ACLCHECK_OK;
}

static void
forget_relation(Datum arg, Oid relid)
{
	invalidations++;
	if (OidIsValid(relid))
		forget_entry(hash_search(key_cache, &relid, HASH_FIND, NULL));
	else
	{
		HASH_SEQ_STATUS status;
		SkKeyCacheEntry *entry;

		hash_seq_init(&status, key_cache);
		while ((entry = hash_seq_search(&status)) != NULL)
			forget_entry(entry);
	}
}

static void
forget_entry(SkKeyCacheEntry *entry)
{
	if (entry == NULL)
		return;
	if (entry->context)
		MemoryContextDelete(entry->context);
	(void) hash_search(key_cache, &entry->relid, HASH_REMOVE, NULL);
}
