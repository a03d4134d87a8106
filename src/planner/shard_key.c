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
 * What they compute is a call of shard_id(), or one of the forms with
 * farm_fingerprint() that Spanner's documents show.
 *
 * A CHECK constraint is satisfied by NULL, hence NOT NULL; shard_id() never
 * returns NULL.  A fingerprint does, so only that of a generated column that is
 * NOT NULL is known to be one of the shards.
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
#include "parser/parse_func.h"
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
#include "spi/own_objects.h"
#include "spi/relation_changes.h"

/* The varno of columns in expressions that are read from the catalogs. */
#define SK_CATALOG_VARNO 1

static const char *const not_constant = "the number of shards is not a constant";

/* When so many relations are cached, the cache is emptied. */
#define SK_MAX_CACHED_RELATIONS 256

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
static Oid	known_functions[SK_FUNCTION_COUNT]; /* once they have been seen */

static List *column_keys(Oid relid, Index varno);
static List *read_column_keys(Relation relation);
static List *add_column_key(List *keys, TupleDesc desc, AttrNumber attnum,
							FuncExpr *call, SkDeclaration declaration);
static List *copy_keys(List *keys, Index varno);
static List *add_indexes(List *keys, RelOptInfo *rel);
static SkShardKey *make_expression_key(Expr *expr, SkDeclaration declaration);
static SkShardKey *make_key(FuncExpr *call, SkDeclaration declaration);
static void forget_relation(Datum arg, Oid relid);
static void forget_entry(SkKeyCacheEntry *entry);
static FuncExpr *as_call(Node *expr);
static FuncExpr *fingerprint_of(FuncExpr *call);
static bool is_integer_cast(Oid function);
static bool is_constant(Node *node, int64 *value);
static void read_shard_number(FuncExpr *call, SkShardKey *key,
							  const char **problem);
static void read_modulus(FuncExpr *call, FuncExpr *fingerprint,
						 SkShardKey *key, const char **problem);
static bool is_check_of_column(Node *left, Node *right, AttrNumber *attnum,
							   FuncExpr **call);
static bool can_compute(const SkShardKey *key);
static bool may_call(Oid funcid);
static void forget_functions(Datum arg, int cacheid, uint32 hashvalue);

void
sk_shard_key_init(void)
{
	HASHCTL		ctl;

	/* a postmaster that preloads the library has no CacheMemoryContext yet */
	key_cache_context = AllocSetContextCreate(TopMemoryContext,
											  "spanner_keys shard keys",
											  ALLOCSET_SMALL_SIZES);
	ctl.keysize = sizeof(Oid);
	ctl.entrysize = sizeof(SkKeyCacheEntry);
	ctl.hcxt = key_cache_context;
	key_cache = hash_create("spanner_keys shard keys", 64, &ctl,
							HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	sk_on_relation_change(forget_relation);
	CacheRegisterSyscacheCallback(PROCOID, forget_functions, (Datum) 0);
}

/*
 * sk_shard_keys
 *		The shard keys that an index of a table has, with these indexes.
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
			may_call(key->function))
			keys = lappend(keys, key);
	}

	for (int i = 0; rel->part_scheme && i < rel->part_scheme->partnatts; i++)
	{
		foreach(lc, rel->partexprs[i])
		{
			SkShardKey *key = make_expression_key(lfirst(lc), SK_PARTITION_KEY);

			if (key && may_call(key->function))
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
	entry = hash_search(key_cache, &relid, HASH_FIND, NULL);
	if (entry)
		return copy_keys(entry->keys, varno);
	sk_watch_relations();

	relation = table_open(relid, NoLock);
	keys = read_column_keys(relation);
	table_close(relation, NoLock);
	if (before == invalidations)
	{
		if (hash_get_num_entries(key_cache) >= SK_MAX_CACHED_RELATIONS)
			forget_relation((Datum) 0, InvalidOid);
		Assert(hash_get_num_entries(key_cache) < SK_MAX_CACHED_RELATIONS);
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
	SkShardKey *key = make_key(call, declaration);

	if (key == NULL)
		return keys;
	/* sk_find_shard_call() looks through no other casts */
	Assert(att->atttypid == INT2OID || att->atttypid == INT4OID ||
		   att->atttypid == INT8OID);
	key->attnum = attnum;
	key->shard = (Expr *) makeVar(SK_CATALOG_VARNO, attnum, att->atttypid,
								  att->atttypmod, att->attcollation, 0);
	key->covers_rows |= declaration == SK_GENERATED_COLUMN &&
		sk_never_null(desc, attnum);
	return lappend(keys, key);
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
add_indexes(List *keys, RelOptInfo *rel)
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
			key = make_expression_key(linitial(index->indexprs),
									  SK_INDEX_EXPRESSION);
			if (key)
				keys = lappend(keys, key);
		}
		if (key == NULL || !may_call(key->function))
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
make_expression_key(Expr *expr, SkDeclaration declaration)
{
	SkShardKey *key = make_key(sk_find_shard_call((Node *) expr), declaration);

	if (key != NULL)
		key->shard = expr;
	return key;
}

/* A key without its shard; NULL if the planner can make nothing of the call. */
static SkShardKey *
make_key(FuncExpr *call, SkDeclaration declaration)
{
	SkShardKey *key = palloc(sizeof(SkShardKey));
	const char *problem;

	if (call == NULL || !sk_read_shard_call(call, key, &problem))
		return NULL;
	key->declaration = declaration;
	key->can_derive = can_compute(key);

	/* a fingerprint of NULL is NULL */
	key->covers_rows = key->first_key == 1;
	return key;
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

/*
 * sk_find_shard_call
 *		The call that an expression consists of, or NULL if it computes no shard.
 *
 * That is one of shard_id(), or one of mod() or abs() of a farm_fingerprint(),
 * also written as operators.  The result may be cast to an integer type.
 */
FuncExpr *
sk_find_shard_call(Node *expr)
{
	FuncExpr   *call = as_call(expr);

	if (call == NULL)
		return NULL;
	if (is_integer_cast(call->funcid))
		return sk_find_shard_call(linitial(call->args));
	if (sk_is_our_function(call->funcid, SK_SHARD_ID))
		return call;
	return fingerprint_of(call) != NULL ? call : NULL;
}

/*
 * sk_read_shard_call
 *		Read such a call; false, and why, if it makes no shard key.
 */
bool
sk_read_shard_call(FuncExpr *call, SkShardKey *key, const char **problem)
{
	FuncExpr   *fingerprint = fingerprint_of(call);
	bool		has_column = false;
	ListCell   *lc;
	ListCell   *lc2;

	*problem = NULL;
	memset(key, 0, sizeof(SkShardKey));
	key->call = call;
	if (fingerprint != NULL)
		read_modulus(call, fingerprint, key, problem);
	else
		read_shard_number(call, key, problem);

	for_each_from(lc, call->args, key->first_key)
	{
		Node	   *arg = lfirst(lc);
		Node	   *folded = sk_fold_stored(NULL, arg);

		/* as core does before it asks whether an expression is immutable */
		if (folded != NULL)
			arg = folded;
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
	/* without the sign of a fingerprint the shards begin at 0 */
	Assert(*problem != NULL || (key->shards >= 1 && key->first <= 0 &&
								(key->first == 0 || key->shards == 1 - 2 * key->first)));
	return *problem == NULL;
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

/* May the planner compute the shard of values that a query has? */
static bool
can_compute(const SkShardKey *key)
{
	List	   *args = key->first_key == 1 ? list_copy_tail(key->call->args, 1) :
		sk_fingerprint_args(key->call);
	ListCell   *lc;

	foreach(lc, args)
	{
		Node	   *arg = sk_fold_stored(NULL, lfirst(lc));

		/* shard_id() takes a NULL */
		if (arg == NULL ||
			(!(IsA(arg, Const) && key->first_key == 1) &&
			 !sk_is_safe_expression(arg)))
			return false;
	}
	return true;
}

/*
 * sk_fingerprint_args
 *		What such a call of mod() or abs() takes the fingerprint of.
 */
List *
sk_fingerprint_args(FuncExpr *call)
{
	return fingerprint_of(call)->args;
}

/*
 * sk_sibling_function
 *		A function of the extension that the user may call; else InvalidOid.
 */
Oid
sk_sibling_function(Oid function, const char *name, int nargs,
					const Oid *argtypes)
{
	char	   *schema = get_namespace_name(get_func_namespace(function));
	Oid			result;

	if (schema == NULL)
		return InvalidOid;
	result = LookupFuncName(list_make2(makeString(schema),
									   makeString(pstrdup(name))),
							nargs, argtypes, true);
	return OidIsValid(result) && may_call(result) ? result : InvalidOid;
}

/* A function call, or an operator as one; else NULL. */
static FuncExpr *
as_call(Node *expr)
{
	OpExpr	   *op = (OpExpr *) expr;

	if (expr == NULL || IsA(expr, FuncExpr))
		return (FuncExpr *) expr;
	if (!IsA(expr, OpExpr))
		return NULL;
	return makeFuncExpr(get_opcode(op->opno), op->opresulttype, op->args,
						op->opcollid, op->inputcollid, COERCE_EXPLICIT_CALL);
}

/*
 * The farm_fingerprint() in [abs(]mod(farm_fingerprint(key), n)[)], or NULL.
 */
static FuncExpr *
fingerprint_of(FuncExpr *call)
{
	if (call->funcid == F_ABS_INT8 || call->funcid == F_INT8ABS)
		call = as_call(linitial(call->args));
	if (call == NULL ||
		(call->funcid != F_MOD_INT8_INT8 && call->funcid != F_INT8MOD))
		return NULL;
	call = linitial(call->args);
	return IsA(call, FuncExpr) && sk_is_our_function(call->funcid, SK_FINGERPRINT) ?
		call : NULL;
}

static bool
is_integer_cast(Oid function)
{
	return function == F_INT8_INT4 || function == F_INT8_INT2 ||
		function == F_INT4_INT8 || function == F_INT4_INT2 ||
		function == F_INT2_INT8 || function == F_INT2_INT4;
}

/*
 * Is a number of shards a constant?  A stored expression still has the casts of
 * a constant.  Nothing else is looked through: to evaluate it could run code of
 * the table's owner.
 */
static bool
is_constant(Node *node, int64 *value)
{
	Const	   *number;

	while (IsA(node, FuncExpr) && is_integer_cast(((FuncExpr *) node)->funcid))
		node = linitial(((FuncExpr *) node)->args);
	number = (Const *) node;
	if (!IsA(node, Const) || number->constisnull)
		return false;
	if (number->consttype == INT2OID)
		*value = DatumGetInt16(number->constvalue);
	else if (number->consttype == INT4OID)
		*value = DatumGetInt32(number->constvalue);
	else if (number->consttype == INT8OID)
		*value = DatumGetInt64(number->constvalue);
	else
		return false;
	return true;
}

static void
read_shard_number(FuncExpr *call, SkShardKey *key, const char **problem)
{
	int64		n;

	key->function = call->funcid;
	key->first_key = 1;
	if (call->funcvariadic)
		*problem = "the keys are passed as an array";
	else if (!is_constant(linitial(call->args), &n) || n > PG_INT32_MAX)
		*problem = not_constant;
	else
		key->shards = (int32) Max(n, 1);
}

/* mod() has the sign of the fingerprint. */
static void
read_modulus(FuncExpr *call, FuncExpr *fingerprint, SkShardKey *key,
			 const char **problem)
{
	FuncExpr   *mod = list_length(call->args) == 1 ?
		as_call(linitial(call->args)) : call;
	int64		n;

	key->function = fingerprint->funcid;
	if (!is_constant(lsecond(mod->args), &n) || n < 1 || n > PG_INT32_MAX / 2)
		*problem = not_constant;
	else if (mod != call)
		key->shards = (int32) n;
	else
	{
		key->first = -(int32) (n - 1);
		key->shards = (int32) (2 * n - 1);
	}
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

/*
 * sk_is_our_function
 *		Is it this function of ours, and not another one of that name?
 */
bool
sk_is_our_function(Oid funcid, SkKeyFunction function)
{
	static const char *const names[] = {
		"shard_id", "farm_fingerprint", "timestamp_to_string"
	};
	HeapTuple	tuple;
	bool		result = false;

	StaticAssertStmt(lengthof(names) == SK_FUNCTION_COUNT, "a function has no name");
	Assert(function < SK_FUNCTION_COUNT);
	if (funcid == known_functions[function])
		return true;
	if (funcid < FirstNormalObjectId)
		return false;

	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(tuple);

		if (strcmp(NameStr(proc->proname), names[function]) == 0)
			result = proc->prolang == ClanguageId &&
				(function != SK_SHARD_ID ||
				 (proc->pronargs == 2 &&
				  proc->proargtypes.values[1] == ANYOID)) &&
				sk_is_member(ProcedureRelationId, funcid);
		ReleaseSysCache(tuple);
	}
	if (result)
		known_functions[function] = funcid;
	return result;
}

/* May the current user call a function?  The executor checks that. */
static bool
may_call(Oid funcid)
{
	return object_aclcheck(ProcedureRelationId, funcid, GetUserId(),
						   ACL_EXECUTE) == ACLCHECK_OK;
}

static void
forget_functions(Datum arg, int cacheid, uint32 hashvalue)
{
	memset(known_functions, 0, sizeof(known_functions));
}
