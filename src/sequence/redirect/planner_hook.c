/*-------------------------------------------------------------------------
 *
 * planner_hook.c
 *	  Planner hook: draws that are no function calls, and explicit values.
 *
 * An identity column draws with core's NextValueExpr, which has no support
 * function.  So, once the library is loaded, it is mapped before the query is
 * planned: that of a bound sequence for its value, any other so that
 * spanner.lastval() knows of the draw.  A bound sequence still belongs to an
 * identity column only if its label comes from a restore.
 *
 * A column that was an identity keeps what GENERATED ALWAYS and OVERRIDING
 * mean.  Core does this while it rewrites a query.  Here it is done to the
 * rewritten query, which has the default of a column where core would have
 * put it: views and rules need no thought.  A call of nextval that a user
 * writes, of the same sequence, looks the same and is accepted.
 *
 * COPY is not planned, and takes explicit values, as with identity.  So does
 * a restore: INSERTs in a dump know nothing of an identity.
 *
 * Most relations have no such column.  Each is looked at once in a session,
 * until it or any label changes.
 *
 * src/sequence/redirect/planner_hook.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_seclabel.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/rel.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/extension.h"
#include "sequence/redirect/ascending.h"
#include "sequence/redirect/identity_column.h"
#include "sequence/redirect/redirect.h"
#include "sequence/sequence.h"
#include "spi/relation_changes.h"

/* What is known of a relation; most have no such columns. */
typedef struct ColumnsEntry
{
	Oid			relid;			/* hash key */
	List	   *columns;		/* of SkIdentityColumn */
} ColumnsEntry;

/* So many relations are known at most. */
#define SK_MAX_RELATIONS 1024

static planner_hook_type prev_planner_hook = NULL;
static HTAB *columns_cache = NULL;
static uint64 invalidations = 0;

static PlannedStmt *mapping_planner(SK_PLANNER_ARGS);
static bool has_identity(Node *node, void *context);
static Node *identity_mutator(Node *node, void *context);
static Node *map_identity(NextValueExpr *identity);
static void check_explicit_values(Query *query);
static void check_query(Query *query);
static void check_insert(Query *query, List *targets, OverridingKind override,
						 Oid relid, List *columns);
static void check_update(List *targets, Oid relid, List *columns);
static TargetEntry *find_target(List *targets, AttrNumber attnum);
static List **find_values(Query *query, TargetEntry *target);
static bool draws_from(Query *query, TargetEntry *target, Oid seqid);
static void put_default_back(Query *query, TargetEntry *target, Oid relid);
static List *list_columns(Oid relid);
static List *copy_columns(List *columns);
static void forget_columns(Datum arg, Oid relid);

/*
 * sk_planner_hook_init
 *		Install the planner hook, and make the cache of columns.
 *
 * Plans that the session made before it loaded the library are made again.
 */
void
sk_planner_hook_init(void)
{
	HASHCTL		ctl = {0};

	ctl.keysize = sizeof(Oid);
	ctl.entrysize = sizeof(ColumnsEntry);
	columns_cache = hash_create("spanner_keys identity columns", 64, &ctl,
								HASH_ELEM | HASH_BLOBS);
	sk_on_relation_change(forget_columns);
	prev_planner_hook = planner_hook;
	planner_hook = mapping_planner;
	ResetPlanCache();
}

static PlannedStmt *
mapping_planner(SK_PLANNER_ARGS)
{
	/* what only reads has no identity column to fill */
	if ((parse->commandType != CMD_SELECT || parse->hasModifyingCTE) &&
		sk_bindings_possible && sk_bindings_exist())
	{
		check_explicit_values(parse);
		sk_ascend_inserts(parse);
		if (has_identity((Node *) parse, NULL))
			parse = query_tree_mutator(parse, identity_mutator, NULL, 0);
	}

	if (prev_planner_hook)
		return prev_planner_hook(SK_PLANNER_PASS);
	return standard_planner(SK_PLANNER_PASS);
}

static bool
has_identity(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, NextValueExpr))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_identity, context, 0);
	return expression_tree_walker(node, has_identity, context);
}

static Node *
identity_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, identity_mutator,
										   context, 0);
	if (IsA(node, NextValueExpr))
		return map_identity((NextValueExpr *) node);
	return expression_tree_mutator(node, identity_mutator, context);
}

/* As in core, an identity column needs no right on the sequence. */
static Node *
map_identity(NextValueExpr *identity)
{
	NextValueExpr *counter = copyObject(identity);
	Const	   *sequence;
	Expr	   *value;

	counter->typeId = INT8OID;
	sequence = makeConst(REGCLASSOID, -1, InvalidOid, sizeof(Oid),
						 ObjectIdGetDatum(identity->seqid), false, true);
	value = (Expr *) makeFuncExpr(sk_function(SK_FUNCTION_MAP_COUNTER), INT8OID,
								  list_make2(counter, sequence),
								  InvalidOid, InvalidOid,
								  COERCE_EXPLICIT_CALL);
	if (identity->typeId == INT8OID)
		return (Node *) value;
	return (Node *) makeFuncExpr(identity->typeId == INT4OID ?
								 F_INT4_INT8 : F_INT2_INT8,
								 identity->typeId, list_make1(value),
								 InvalidOid, InvalidOid,
								 COERCE_IMPLICIT_CAST);
}

/*
 * Refuse explicit values for GENERATED ALWAYS columns in a query that is about
 * to be planned, and apply OVERRIDING USER VALUE.
 */
static void
check_explicit_values(Query *query)
{
	ListCell   *lc;

	if (sk_restoring())
		return;
	check_query(query);
	foreach(lc, query->hasModifyingCTE ? query->cteList : NIL)
		check_query(castNode(Query, ((CommonTableExpr *) lfirst(lc))->ctequery));
}

static void
check_query(Query *query)
{
	List	   *columns;
	ListCell   *lc;
	Oid			relid;

	if (query->commandType != CMD_INSERT && query->commandType != CMD_UPDATE &&
		query->commandType != CMD_MERGE)
		return;
	relid = rt_fetch(query->resultRelation, query->rtable)->relid;
	columns = list_columns(relid);
	if (columns == NIL)
		return;

	if (query->commandType == CMD_INSERT)
		check_insert(query, query->targetList, query->override, relid, columns);
	else if (query->commandType == CMD_UPDATE)
		check_update(query->targetList, relid, columns);
	if (query->onConflict != NULL)
		check_update(query->onConflict->onConflictSet, relid, columns);
	foreach(lc, query->mergeActionList)
	{
		MergeAction *action = lfirst(lc);

		if (action->commandType == CMD_INSERT)
			check_insert(query, action->targetList, action->override, relid,
						 columns);
		else if (action->commandType == CMD_UPDATE)
			check_update(action->targetList, relid, columns);
	}
}

static void
check_insert(Query *query, List *targets, OverridingKind override, Oid relid,
			 List *columns)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		SkIdentityColumn *column = lfirst(lc);
		TargetEntry *target = find_target(targets, column->attnum);

		if (target == NULL || draws_from(query, target, column->seqid))
			continue;
		if (override == OVERRIDING_USER_VALUE)
			put_default_back(query, target, relid);
		else if (override != OVERRIDING_SYSTEM_VALUE &&
				 column->identity == SK_IDENTITY_ALWAYS)
		{
			char	   *name = get_attname(relid, column->attnum, false);

			ereport(ERROR,
					(errcode(ERRCODE_GENERATED_ALWAYS),
					 errmsg("cannot insert a non-DEFAULT value into column \"%s\"",
							name),
					 errdetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.",
							   name),
					 errhint("Use OVERRIDING SYSTEM VALUE to override.")));
		}
	}
}

static void
check_update(List *targets, Oid relid, List *columns)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		SkIdentityColumn *column = lfirst(lc);
		TargetEntry *target = find_target(targets, column->attnum);
		char	   *name;

		if (target == NULL || column->identity != SK_IDENTITY_ALWAYS ||
			sk_drawn_sequence((Node *) target->expr) == column->seqid)
			continue;
		name = get_attname(relid, column->attnum, false);
		ereport(ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 errmsg("column \"%s\" can only be updated to DEFAULT", name),
				 errdetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.",
						   name)));
	}
}

/* What a column is set to, or NULL if nothing is said of it. */
static TargetEntry *
find_target(List *targets, AttrNumber attnum)
{
	ListCell   *lc;

	foreach(lc, targets)
	{
		TargetEntry *target = lfirst(lc);

		if (target->resno == attnum && !target->resjunk)
			return target;
	}
	return NULL;
}

/* The rows of VALUES that a target comes from, or NULL. */
static List **
find_values(Query *query, TargetEntry *target)
{
	Var		   *var = (Var *) target->expr;
	RangeTblEntry *rte;

	if (!IsA(var, Var) || var->varlevelsup > 0)
		return NULL;
	rte = rt_fetch(var->varno, query->rtable);
	return rte->rtekind == RTE_VALUES ? &rte->values_lists : NULL;
}

/* Is a column set to the next value of a sequence, in each row? */
static bool
draws_from(Query *query, TargetEntry *target, Oid seqid)
{
	List	  **values = find_values(query, target);
	ListCell   *lc;

	if (values == NULL)
		return sk_drawn_sequence((Node *) target->expr) == seqid;
	foreach(lc, *values)
	{
		if (sk_drawn_sequence(list_nth(lfirst(lc), ((Var *) target->expr)->varattno - 1)) != seqid)
			return false;
	}
	return true;
}

/* What the user gave is not evaluated, not even in some of the rows. */
static void
put_default_back(Query *query, TargetEntry *target, Oid relid)
{
	List	  **values = find_values(query, target);
	Relation	rel = table_open(relid, NoLock);
	ListCell   *lc;

	foreach(lc, values != NULL ? *values : NIL)
	{
		ListCell   *cell = list_nth_cell(lfirst(lc), ((Var *) target->expr)->varattno - 1);

		Assert(list_length(lfirst(lc)) == list_length(linitial(*values)));
		lfirst(cell) = makeNullConst(exprType(lfirst(cell)), -1, InvalidOid);
	}
	target->expr = (Expr *) build_column_default(rel, target->resno);
	table_close(rel, NoLock);
}

/* Which columns to look at; the planner holds a lock on the relation. */
static List *
list_columns(Oid relid)
{
	ColumnsEntry *entry = hash_search(columns_cache, &relid, HASH_FIND, NULL);
	uint64		before;
	Relation	rel;
	List	   *columns;

	Assert(sk_relation_is_locked(relid, AccessShareLock));
	if (entry != NULL)
		return copy_columns(entry->columns);
	sk_watch_relations();
	if (hash_get_num_entries(columns_cache) >= SK_MAX_RELATIONS)
		forget_columns((Datum) 0, InvalidOid);
	before = invalidations;

	rel = table_open(relid, NoLock);
	columns = sk_identity_columns(rel, relid);
	table_close(rel, NoLock);
	if (before == invalidations)
	{
		MemoryContext old = MemoryContextSwitchTo(CacheMemoryContext);
		List	   *kept = copy_columns(columns);

		entry = hash_search(columns_cache, &relid, HASH_ENTER, NULL);
		entry->columns = kept;
		MemoryContextSwitchTo(old);
	}
	return columns;
}

static List *
copy_columns(List *columns)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, columns)
	{
		SkIdentityColumn *copy = palloc(sizeof(SkIdentityColumn));

		*copy = *(SkIdentityColumn *) lfirst(lc);
		result = lappend(result, copy);
	}
	return result;
}

/* A label that changes tells so by an invalidation of pg_seclabel. */
static void
forget_columns(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS seq;
	ColumnsEntry *entry;

	invalidations++;
	if (OidIsValid(relid) && relid != SecLabelRelationId)
	{
		entry = hash_search(columns_cache, &relid, HASH_FIND, NULL);
		if (entry != NULL)
		{
			list_free_deep(entry->columns);
			hash_search(columns_cache, &relid, HASH_REMOVE, NULL);
		}
		return;
	}
	hash_seq_init(&seq, columns_cache);
	while ((entry = hash_seq_search(&seq)) != NULL)
	{
		list_free_deep(entry->columns);
		hash_search(columns_cache, &entry->relid, HASH_REMOVE, NULL);
	}
}
