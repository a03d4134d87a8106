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
 * A CHECK constraint is satisfied by NULL, hence NOT NULL; the function never
 * returns NULL.
 *
 * src/planner/shard_key.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_language.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat.h"
#include "planner/shard_key.h"

/* The varno of columns in expressions that are read from the catalogs. */
#define SK_CATALOG_VARNO 1

/* What is known of a relation; most have no keys. */
typedef struct SkKeyCacheEntry
{
	Oid			relid;
	List	   *keys;			/* without indexes */
	MemoryContext context;		/* of the keys, or NULL */
} SkKeyCacheEntry;

static HTAB *key_cache = NULL;
static MemoryContext key_cache_context = NULL;
static uint64 invalidations = 0;

/* The function, once it has been seen. */
static Oid	shard_id_function = InvalidOid;

static List *column_keys(Oid relid, Index varno);
static List *read_column_keys(Relation relation);
static List *add_column_key(List *keys, TupleDesc desc, AttrNumber attnum,
							FuncExpr *call, SkDeclaration declaration);
static bool is_check_of_column(Node *left, Node *right, AttrNumber *attnum,
							   FuncExpr **call);
static List *copy_keys(List *keys, Index varno);
static List *add_indexes(List *keys, RelOptInfo *rel);
static bool leads_index(const SkShardKey *key, IndexOptInfo *index);
static SkShardKey *make_expression_key(Expr *expr, SkDeclaration declaration);
static bool is_foreign_function(Oid funcid, void *context);
static bool is_shard_id(Oid funcid);
static void forget_relation(Datum arg, Oid relid);
static void forget_entry(SkKeyCacheEntry *entry);
static void forget_function(Datum arg, int cacheid, uint32 hashvalue);

void
sk_shard_key_init(void)
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
	CacheRegisterRelcacheCallback(forget_relation, (Datum) 0);
	CacheRegisterSyscacheCallback(PROCOID, forget_function, (Datum) 0);
}

/*
 * sk_shard_keys
 *		The shard keys that lead an index of a table, with these indexes.
 *
 * "rel" is a plain table or a partition that the planner scans.  Keys whose
 * function the user may not call are left out.
 */
List *
sk_shard_keys(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);

	if (rel->indexlist == NIL)
		return NIL;
	return add_indexes(column_keys(rte->relid, rel->relid), rel);
}

/*
 * sk_parent_shard_keys
 *		The shard keys that hold for all partitions of a partitioned table.
 *
 * A generated column is none of them: a partition may generate its own.  A
 * CHECK constraint of a partitioned table is one of all its partitions.
 */
List *
sk_parent_shard_keys(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte = planner_rt_fetch(rel->relid, root);
	List	   *keys = NIL;
	ListCell   *lc;

	foreach(lc, column_keys(rte->relid, rel->relid))
	{
		SkShardKey *key = lfirst(lc);

		if (key->declaration == SK_CHECK_CONSTRAINT &&
			sk_may_call(key->call->funcid))
			keys = lappend(keys, key);
	}

	for (int i = 0; rel->part_scheme && i < rel->part_scheme->partnatts; i++)
	{
		foreach(lc, rel->partexprs[i])
		{
			SkShardKey *key = make_expression_key(lfirst(lc), SK_PARTITION_KEY);

			if (key && sk_may_call(key->call->funcid))
				keys = lappend(keys, key);
		}
	}
	return keys;
}

/*
 * sk_column_keys
 *		The shard keys that are columns of a relation, as the catalogs have them.
 */
List *
sk_column_keys(Oid relid)
{
	return column_keys(relid, SK_CATALOG_VARNO);
}

/*
 * sk_find_shard_call
 *		The call of shard_id() that an expression consists of, or NULL.
 *
 * The result of the call may be cast to bigint or smallint.
 */
FuncExpr *
sk_find_shard_call(Node *expr)
{
	FuncExpr   *call = (FuncExpr *) expr;

	if (call == NULL || !IsA(call, FuncExpr))
		return NULL;
	if (call->funcid == F_INT8_INT4 || call->funcid == F_INT2_INT4)
		return sk_find_shard_call(linitial(call->args));
	return is_shard_id(call->funcid) ? call : NULL;
}

/*
 * sk_read_shard_call
 *		Read a call of shard_id(); false, and why, if it makes no shard key.
 */
bool
sk_read_shard_call(FuncExpr *call, int32 *shards, const char **problem)
{
	Const	   *number = linitial(call->args);
	bool		has_column = false;
	ListCell   *lc;
	ListCell   *lc2;

	*problem = NULL;
	if (call->funcvariadic)
		*problem = "the keys are passed as an array";
	else if (!IsA(number, Const) || number->constisnull)
		*problem = "the number of shards is not a constant";
	else
		*shards = Max(DatumGetInt32(number->constvalue), 1);

	for_each_from(lc, call->args, 1)
	{
		Node	   *arg = lfirst(lc);

		if (contain_mutable_functions(arg) && *problem == NULL)
			*problem = "a key is not immutable";
		foreach(lc2, pull_var_clause(arg, 0))
		{
			if (((Var *) lfirst(lc2))->varattno > 0)
				has_column = true;
			else if (*problem == NULL)
				*problem = "a key is a whole row or a system column";
		}
	}
	if (!has_column && *problem == NULL)
		*problem = "no key is a column";
	return *problem == NULL;
}

/*
 * sk_runs_foreign_code
 *		Can an expression run code that no superuser has made?
 *
 * The planner must not compute it then: the user of a table need not trust the
 * table's owner that far.
 */
bool
sk_runs_foreign_code(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_Var:
		case T_Const:
		case T_FuncExpr:
		case T_OpExpr:
		case T_RelabelType:
			break;
		case T_CoerceViaIO:
			if (((CoerceViaIO *) node)->resulttype >= FirstNormalObjectId)
				return true;
			break;
		default:
			return true;
	}
	return check_functions_in_node(node, is_foreign_function, NULL) ||
		expression_tree_walker(node, sk_runs_foreign_code, context);
}

/*
 * sk_read_shard_check
 *		Does a clause of a CHECK constraint say that a column is a shard id?
 */
bool
sk_read_shard_check(Node *clause, AttrNumber *attnum, FuncExpr **call)
{
	OpExpr	   *op = (OpExpr *) clause;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2 ||
		get_op_opfamily_strategy(op->opno, INTEGER_BTREE_FAM_OID) !=
		BTEqualStrategyNumber)
		return false;
	return is_check_of_column(linitial(op->args), lsecond(op->args),
							  attnum, call) ||
		is_check_of_column(lsecond(op->args), linitial(op->args),
						   attnum, call);
}

/*
 * sk_may_call
 *		May the current user call a function?  The executor checks that.
 */
bool
sk_may_call(Oid funcid)
{
	return object_aclcheck(ProcedureRelationId, funcid, GetUserId(),
						   ACL_EXECUTE) == ACLCHECK_OK;
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

	entry = hash_search(key_cache, &relid, HASH_FIND, NULL);
	if (entry)
		return copy_keys(entry->keys, varno);

	relation = table_open(relid, NoLock);
	keys = read_column_keys(relation);
	table_close(relation, NoLock);
	if (before == invalidations)
	{
		entry = hash_search(key_cache, &relid, HASH_ENTER, NULL);
		entry->keys = NIL;
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
		FuncExpr   *call;

		if (TupleDescAttr(desc, value->adnum - 1)->attgenerated !=
			ATTRIBUTE_GENERATED_STORED)
			continue;
		call = sk_find_shard_call(stringToNode(value->adbin));
		keys = add_column_key(keys, desc, value->adnum, call,
							  SK_GENERATED_COLUMN);
	}

	for (int i = 0; i < constr->num_check; i++)
	{
		ConstrCheck *check = &constr->check[i];
		ListCell   *lc;

		if (!sk_check_holds(check))
			continue;
		foreach(lc, make_ands_implicit(stringToNode(check->ccbin)))
		{
			AttrNumber	attnum;
			FuncExpr   *call;

			if (sk_read_shard_check(lfirst(lc), &attnum, &call) &&
				sk_never_null(desc, attnum))
				keys = add_column_key(keys, desc, attnum, call,
									  SK_CHECK_CONSTRAINT);
		}
	}
	return keys;
}

/* Add a key, unless the planner can make nothing of the call. */
static List *
add_column_key(List *keys, TupleDesc desc, AttrNumber attnum, FuncExpr *call,
			   SkDeclaration declaration)
{
	Form_pg_attribute att = TupleDescAttr(desc, attnum - 1);
	SkShardKey *key;
	int32		shards;
	const char *problem;

	if (call == NULL || !sk_read_shard_call(call, &shards, &problem))
		return keys;

	key = palloc0(sizeof(SkShardKey));
	key->declaration = declaration;
	key->attnum = attnum;
	key->shard = (Expr *) makeVar(SK_CATALOG_VARNO, attnum, att->atttypid,
								  att->atttypmod, att->attcollation, 0);
	key->call = call;
	key->can_derive = !sk_runs_foreign_code((Node *) call, NULL);
	key->shards = shards;
	return lappend(keys, key);
}

static bool
is_check_of_column(Node *left, Node *right, AttrNumber *attnum,
				   FuncExpr **call)
{
	Var		   *column = (Var *) left;

	*call = sk_find_shard_call(right);
	if (*call == NULL || !IsA(column, Var) || column->varattno <= 0)
		return false;
	*attnum = column->varattno;
	return true;
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
 * Find the indexes that each key leads, add the keys that only an index
 * declares, and drop keys without an index.
 */
static List *
add_indexes(List *keys, RelOptInfo *rel)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst(lc);
		SkShardKey *key = NULL;
		ListCell   *lc2;

		if (index->relam != BTREE_AM_OID || index->hypothetical ||
			index->opfamily[0] != INTEGER_BTREE_FAM_OID ||
			(index->indpred != NIL && !index->predOK))
			continue;
		foreach(lc2, keys)
		{
			key = lfirst(lc2);
			if (leads_index(key, index))
				break;
			key = NULL;
		}
		if (key == NULL && index->indexkeys[0] == 0)
		{
			key = make_expression_key(linitial(index->indexprs),
									  SK_INDEX_EXPRESSION);
			if (key)
				keys = lappend(keys, key);
		}
		if (key == NULL || !sk_may_call(key->call->funcid))
			continue;
		key->indexes = lappend(key->indexes, index);
		result = list_append_unique_ptr(result, key);
	}
	return result;
}

static bool
leads_index(const SkShardKey *key, IndexOptInfo *index)
{
	if (index->indexkeys[0] != 0)
		return key->attnum == index->indexkeys[0];
	return key->attnum == 0 && equal(key->shard, linitial(index->indexprs));
}

static SkShardKey *
make_expression_key(Expr *expr, SkDeclaration declaration)
{
	FuncExpr   *call = sk_find_shard_call((Node *) expr);
	SkShardKey *key;
	int32		shards;
	const char *problem;

	if (call == NULL || !sk_read_shard_call(call, &shards, &problem))
		return NULL;

	key = palloc0(sizeof(SkShardKey));
	key->declaration = declaration;
	key->shard = expr;
	key->call = call;
	key->can_derive = !sk_runs_foreign_code((Node *) call, NULL);
	key->shards = shards;
	return key;
}

/* Functions in C are a superuser's. */
static bool
is_foreign_function(Oid funcid, void *context)
{
	HeapTuple	tuple;
	bool		result;

	if (funcid < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return true;
	result = ((Form_pg_proc) GETSTRUCT(tuple))->prolang != ClanguageId;
	ReleaseSysCache(tuple);
	return result;
}

/* Is it our function, and not another one of that name? */
static bool
is_shard_id(Oid funcid)
{
	HeapTuple	tuple;
	bool		result = false;

	if (funcid == shard_id_function)
		return true;
	if (funcid < FirstNormalObjectId)
		return false;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(tuple);

		if (strcmp(NameStr(proc->proname), "shard_id") == 0)
		{
			char	   *schema = get_namespace_name(proc->pronamespace);

			result = proc->prolang == ClanguageId && proc->pronargs == 2 &&
				proc->proargtypes.values[1] == ANYOID &&
				schema && strcmp(schema, "spanner") == 0;
		}
		ReleaseSysCache(tuple);
	}
	if (result)
		shard_id_function = funcid;
	return result;
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

static void
forget_function(Datum arg, int cacheid, uint32 hashvalue)
{
	shard_id_function = InvalidOid;
}
