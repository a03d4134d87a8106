/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Differences between the supported releases of PostgreSQL.
 *
 * This is the only file that tests PG_VERSION_NUM.  Callers see the
 * signature of the newest release.
 *
 * src/compat.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_COMPAT_H
#define SK_COMPAT_H

#include "access/tupdesc.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#endif
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/wait_event.h"


#if PG_VERSION_NUM < 150000
#error "spanner_keys needs PostgreSQL 15 or later"
#endif

/* 16: a lock can be looked for by OID; only assertions do that */
#if PG_VERSION_NUM < 160000
#define CheckRelationOidLockedByMe(relid, mode, or_stronger) true
#endif

/* 18: a module tells its name and version */
#if PG_VERSION_NUM >= 180000
#define SK_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "spanner_keys", .version = "1.0")
#else
#define SK_MODULE_MAGIC PG_MODULE_MAGIC
#endif

/* 19: the planner gets the state of EXPLAIN */
#if PG_VERSION_NUM >= 190000
#define SK_PLANNER_ARGS Query *parse, const char *query_string, \
	int cursorOptions, ParamListInfo boundParams, struct ExplainState *es
#define SK_PLANNER_PASS parse, query_string, cursorOptions, boundParams, es
#else
#define SK_PLANNER_ARGS Query *parse, const char *query_string, \
	int cursorOptions, ParamListInfo boundParams
#define SK_PLANNER_PASS parse, query_string, cursorOptions, boundParams
#endif

/* 18: a function that does not return is marked in front */
#if PG_VERSION_NUM < 180000
#define pg_noreturn __attribute__((noreturn))
#endif

/* 18: NOT NULL constraints have names, and a constructor */
#if PG_VERSION_NUM < 180000
static inline Constraint *
makeNotNullConstraint(String *column)
{
	Constraint *constraint = makeNode(Constraint);

	constraint->contype = CONSTR_NOTNULL;
	constraint->location = -1;
	return constraint;
}
#endif

/* 16: one ownership check for every kind of object */
#if PG_VERSION_NUM < 160000
#define object_ownercheck(classid, objectid, roleid) \
	((classid) == TypeRelationId ? \
	 pg_type_ownercheck((objectid), (roleid)) : \
	 (classid) == DatabaseRelationId ? \
	 pg_database_ownercheck((objectid), (roleid)) : \
	 pg_class_ownercheck((objectid), (roleid)))
#endif

/* 17: the _ext form, for a relation that may be gone; before, it has no right */
#if PG_VERSION_NUM < 170000
#define pg_attribute_aclcheck_all_ext(relation, role, mode, how, missing) \
	pg_attribute_aclcheck_all(relation, role, mode, how)
#endif

/* 17: locales of PostgreSQL's own, all of which compare texts by their bytes */
#if PG_VERSION_NUM < 170000
#define COLLPROVIDER_BUILTIN 'b'
#endif

/* 17: an identity is one of all partitions */
#if PG_VERSION_NUM >= 170000
#define SK_PARTITIONS_HAVE_IDENTITY true
#else
#define SK_PARTITIONS_HAVE_IDENTITY false
#endif

/* 16: to become a role can be granted apart from inheriting its privileges */
#if PG_VERSION_NUM < 160000
#define check_can_set_role(member, role) check_is_member_of_role(member, role)
#endif

/*
 * 17: shared memory by name at any time; 19: its initializer gets an argument.
 * Before, what is left over of the main segment serves as well; a library
 * that is loaded at server start can ask for more.
 */
#if PG_VERSION_NUM >= 190000
#define SK_SEGMENT_ARGS void *segment, void *arg
#define sk_named_segment(name, size, init, found) \
	GetNamedDSMSegment(name, size, init, found, NULL)
#elif PG_VERSION_NUM >= 170000
#define SK_SEGMENT_ARGS void *segment
#define sk_named_segment(name, size, init, found) \
	GetNamedDSMSegment(name, size, init, found)
#else
#define SK_SEGMENT_ARGS void *segment
#define SK_SEGMENT_NEEDS_REQUEST
static inline void *
sk_named_segment(const char *name, Size size,
				 void (*init) (void *segment), bool *found)
{
	void	   *segment;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	segment = ShmemInitStruct(name, size, found);
	if (!*found)
		init(segment);
	LWLockRelease(AddinShmemInitLock);
	return segment;
}
#endif

/* 19: a tranche of locks gets its name with its number, for all processes */
#if PG_VERSION_NUM >= 190000
#define sk_register_tranche(id, name) ((void) 0)
#else
#define sk_register_tranche(id, name) LWLockRegisterTranche(id, name)
#define LWLockNewTrancheId(name) LWLockNewTrancheId()
#endif

/* 17: named wait events; before that all extensions share one */
#if PG_VERSION_NUM < 170000
#define WaitEventExtensionNew(name) ((uint32) PG_WAIT_EXTENSION)
#endif

/*
 * 19: commands on a database end the background workers that are connected to
 * it; before, they give them 5 seconds to leave
 */
#if PG_VERSION_NUM >= 190000
#define SK_MAX_IDLE_TIMEOUT (24 * 3600 * 1000)
#else
#define SK_MAX_IDLE_TIMEOUT 4000
#define BGWORKER_INTERRUPTIBLE 0
#endif

/* 16: the relations that are written */
#if PG_VERSION_NUM < 160000
#define EvalPlanQualInit(epq, estate, plan, marks, param, relations) \
	EvalPlanQualInit(epq, estate, plan, marks, param)
#endif

/* 16: one check of privileges for every kind of object */
#if PG_VERSION_NUM < 160000
#define object_aclcheck(classid, objectid, roleid, mode) \
	((classid) == DatabaseRelationId ? \
	 pg_database_aclcheck((objectid), (roleid), (mode)) : \
	 (classid) == NamespaceRelationId ? \
	 pg_namespace_aclcheck((objectid), (roleid), (mode)) : \
	 pg_proc_aclcheck((objectid), (roleid), (mode)))
#endif

/* 16: join clauses may depend on the outer joins that are done */
#if PG_VERSION_NUM >= 160000
#define sk_join_clauses(root, relids, outer, inner) \
	generate_join_implied_equalities(root, relids, outer, inner, NULL)
#else
#define sk_join_clauses(root, relids, outer, inner) \
	generate_join_implied_equalities(root, relids, outer, inner)
#endif

/* 16: what attaches or detaches a partition notes it; before, only its name */
#if PG_VERSION_NUM >= 160000
#define sk_noted_partition(subcommand) ((subcommand)->address.objectId)
#else
#define sk_noted_partition(subcommand) \
	RangeVarGetRelid(((PartitionCmd *) ((AlterTableCmd *) (subcommand)->parsetree)->def)->name, \
					 NoLock, true)
#endif

/* 16: privileges that a query needs stand beside the range table */
#if PG_VERSION_NUM >= 160000
#define sk_check_query_privileges(query) \
	ExecCheckPermissions((query)->rtable, (query)->rteperminfos, true)
#define sk_selected_columns(query, varno) \
	(&getRTEPermissionInfo((query)->rteperminfos, \
						   rt_fetch((varno), (query)->rtable))->selectedCols)
#else
#define sk_check_query_privileges(query) ExecCheckRTPerms((query)->rtable, true)
#define sk_selected_columns(query, varno) \
	(&rt_fetch((varno), (query)->rtable)->selectedCols)
#endif

/* 19: the planner gets the state of EXPLAIN */
#if PG_VERSION_NUM >= 190000
#define sk_plan_query(query, text, options) \
	pg_plan_query(query, text, options, NULL, NULL)
#else
#define sk_plan_query(query, text, options) \
	pg_plan_query(query, text, options, NULL)
#endif

/*
 * 16: the columns that a command writes stand beside the range table; 18: and
 * which of its relations are not pruned
 */
static inline void
sk_init_range_table(EState *estate, RangeTblEntry *rte, Bitmapset *updated)
{
#if PG_VERSION_NUM >= 160000
	List	   *infos = NIL;

	addRTEPermissionInfo(&infos, rte)->updatedCols = updated;
#if PG_VERSION_NUM >= 180000
	ExecInitRangeTable(estate, list_make1(rte), infos, bms_make_singleton(1));
#else
	ExecInitRangeTable(estate, list_make1(rte), infos);
#endif
#else
	rte->updatedCols = updated;
	ExecInitRangeTable(estate, list_make1(rte));
#endif
}

/* 18: there are expressions of other constraints too */
#if PG_VERSION_NUM >= 180000
#define sk_check_expressions(target) ((target)->ri_CheckConstraintExprs)
#else
#define sk_check_expressions(target) ((target)->ri_ConstraintExprs)
#endif

/* 18: a query may be run in parts, always */
#if PG_VERSION_NUM >= 180000
#define sk_executor_run(desc) ExecutorRun(desc, ForwardScanDirection, 0)
#else
#define sk_executor_run(desc) ExecutorRun(desc, ForwardScanDirection, 0, true)
#endif

/* 17: a transaction can have a time limit */
#if PG_VERSION_NUM >= 170000
#define SK_TRANSACTION_TIMEOUT {"transaction_timeout", "0"},
#else
#define SK_TRANSACTION_TIMEOUT
#endif

/* 19: a description of rows has to be finished */
#if PG_VERSION_NUM >= 190000
#define sk_finish_tupdesc(tupdesc) TupleDescFinalize(tupdesc)
#else
#define sk_finish_tupdesc(tupdesc) ((void) 0)
#endif

/* 18: constraints that are not enforced, NOT NULL that is not validated */
#if PG_VERSION_NUM >= 180000
#define sk_check_holds(check) ((check)->ccvalid && (check)->ccenforced)
#define sk_never_null(desc, attnum) \
	(TupleDescCompactAttr(desc, (attnum) - 1)->attnullability == \
	 ATTNULLABLE_VALID)
#else
#define sk_check_holds(check) ((check)->ccvalid)
#define sk_never_null(desc, attnum) \
	(TupleDescAttr(desc, (attnum) - 1)->attnotnull)
#endif

/*
 * 16: outer joins have numbers of their own, and a clause says which are not
 * to be above it; before, it said which relations they make nullable.  A
 * clause that only one scan uses needs none of that.
 */
#if PG_VERSION_NUM >= 160000
#define sk_make_scan_clause(root, clause, security_level) \
	make_restrictinfo(root, clause, true, false, false, false, \
					  security_level, NULL, NULL, NULL)
#else
#define sk_make_scan_clause(root, clause, security_level) \
	make_restrictinfo(root, clause, true, false, false, \
					  security_level, NULL, NULL, NULL)
#endif

/* may a role create objects in a schema? */
#define sk_may_create_in(schema, role) \
	(object_aclcheck(NamespaceRelationId, (schema), (role), ACL_CREATE) == \
	 ACLCHECK_OK)

/* 17: the target of statistics is a node, which may be the default */
#if PG_VERSION_NUM >= 170000
#define sk_set_statistics_target(stmt, target) \
	((stmt)->stxstattarget = (Node *) makeInteger(target))
#else
#define sk_set_statistics_target(stmt, target) \
	((stmt)->stxstattarget = (target))
#endif

/* 17: the length of an array can come from statistics */
#if PG_VERSION_NUM < 170000
#define estimate_array_length(root, array) estimate_array_length(array)
#endif

/* 16: 1 means that a clause takes no row away; before, anything above it */
#if PG_VERSION_NUM >= 160000
#define SK_REDUNDANT_SELECTIVITY 1.0
#else
#define SK_REDUNDANT_SELECTIVITY 2.0
#endif

/* 19: the hook on the planner's data on a relation has a new name and place */
#if PG_VERSION_NUM >= 190000
#define SK_SIMPLE_REL_ARGS PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define SK_SIMPLE_REL_PASS root, rel, rte
#else
#define SK_SIMPLE_REL_ARGS PlannerInfo *root, Oid relid, bool inhparent, \
	RelOptInfo *rel
#define SK_SIMPLE_REL_PASS root, relid, inhparent, rel
#define build_simple_rel_hook_type get_relation_info_hook_type
#define build_simple_rel_hook get_relation_info_hook
#endif

/* 17: a B-tree can lose an index condition; shard_clause.c says when */
#if PG_VERSION_NUM >= 170000 && PG_VERSION_NUM < 180000
#define SK_BTREE_LOSES_CONDITIONS true
#else
#define SK_BTREE_LOSES_CONDITIONS false
#endif

/*
 * 17: with an array on an earlier column, a B-tree can take NULL for a value
 * within a range
 */
#if PG_VERSION_NUM >= 170000 && PG_VERSION_NUM < 180000
#define sk_null_is_in_range(rel, attnum) \
	((attnum) <= 0 || !bms_is_member((attnum), (rel)->notnullattnums))
#else
#define sk_null_is_in_range(rel, attnum) false
#endif

/* 18: what is disabled is counted, not made expensive */
#if PG_VERSION_NUM >= 180000
#define sk_copy_disabled_nodes(to, from) \
	((to)->disabled_nodes = (from)->disabled_nodes)
#define sk_is_disabled(path) ((path)->disabled_nodes > 0)
#define sk_is_more_disabled(path, other) \
	((path)->disabled_nodes > (other)->disabled_nodes)
#define sk_cost_sort(sort, root, keys, input, width) \
	cost_sort(sort, root, keys, (input)->disabled_nodes, (input)->total_cost, \
			  (input)->rows, width, 0.0, work_mem, (root)->limit_tuples)
#else
#define sk_copy_disabled_nodes(to, from) ((void) 0)
#define sk_is_disabled(path) false
#define sk_is_more_disabled(path, other) false
#define sk_cost_sort(sort, root, keys, input, width) \
	cost_sort(sort, root, keys, (input)->total_cost, (input)->rows, width, \
			  0.0, work_mem, (root)->limit_tuples)
#endif

/* 18: the scan of an index counts its searches; 19: flags */
#if PG_VERSION_NUM >= 190000
#define sk_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan(heap, index, snapshot, NULL, nkeys, 0, 0)
#elif PG_VERSION_NUM >= 180000
#define sk_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan(heap, index, snapshot, NULL, nkeys, 0)
#else
#define sk_index_beginscan(heap, index, snapshot, nkeys) \
	index_beginscan(heap, index, snapshot, nkeys, 0)
#endif

/* 19: the scan of a table takes flags, too, and fetching what an index points to */
#if PG_VERSION_NUM >= 190000
#define sk_index_fetch_begin(rel) table_index_fetch_begin(rel, 0)
#define sk_table_beginscan(rel, snapshot, nkeys, keys) \
	table_beginscan(rel, snapshot, nkeys, keys, 0)
#else
#define sk_index_fetch_begin(rel) table_index_fetch_begin(rel)
#define sk_table_beginscan(rel, snapshot, nkeys, keys) \
	table_beginscan(rel, snapshot, nkeys, keys)
#endif

/* 16: a custom scan says what slots it uses; before, it has to make them */
#if PG_VERSION_NUM >= 160000
#define sk_use_slots(css, ops) ((css)->slotOps = (ops))
#define sk_init_slots(css, estate, ops) ((void) 0)
#else
#define sk_use_slots(css, ops) ((void) 0)
static inline void
sk_init_slots(CustomScanState *css, EState *estate,
			  const TupleTableSlotOps *ops)
{
	CustomScan *scan = (CustomScan *) css->ss.ps.plan;

	ExecInitScanTupleSlot(estate, &css->ss,
						  RelationGetDescr(css->ss.ss_currentRelation), ops);
	ExecAssignScanProjectionInfoWithVarno(&css->ss, scan->scan.scanrelid);
	css->ss.ps.qual = ExecInitQual(scan->scan.plan.qual, &css->ss.ps);
}
#endif

/*
 * Minor releases of all have changed CreateStatistics() twice: it takes the
 * table by OID, and is told to check rights.  No version number tells which.
 */
#define sk_has_type(function, ...) \
	__builtin_types_compatible_p(__typeof__(function), __VA_ARGS__)
typedef ObjectAddress (*SkCreateByOid) (List *, CreateStatsStmt *, bool);
typedef ObjectAddress (*SkCreateChecked) (CreateStatsStmt *, bool);
typedef ObjectAddress (*SkCreateUnchecked) (CreateStatsStmt *);

static inline ObjectAddress
sk_create_statistics(Oid relid, CreateStatsStmt *stmt)
{
	void		(*function) (void) = (void (*) (void)) CreateStatistics;

	if (sk_has_type(CreateStatistics, ObjectAddress (List *, CreateStatsStmt *, bool)))
		return ((SkCreateByOid) function) (list_make1_oid(relid), stmt, true);
	stmt->relations =
		list_make1(makeRangeVar(get_namespace_name(get_rel_namespace(relid)),
								get_rel_name(relid), -1));
	if (sk_has_type(CreateStatistics, ObjectAddress (CreateStatsStmt *, bool)))
		return ((SkCreateChecked) function) (stmt, true);
	return ((SkCreateUnchecked) function) (stmt);
}

/* 17: whoever asks for a lock says whether a stronger one will do */
#if PG_VERSION_NUM < 170000
static inline bool
sk_lock_held_by_me(const LOCKTAG *tag, LOCKMODE mode, bool orstronger)
{
	for (; mode <= MaxLockMode; mode++)
	{
		if (LockHeldByMe(tag, mode))
			return true;
		if (!orstronger)
			break;
	}
	return false;
}
#define LockHeldByMe sk_lock_held_by_me
#endif

/* does the session hold this lock on a relation, or a stronger one? */
static inline bool
sk_relation_is_locked(Oid relid, LOCKMODE mode)
{
	LOCKTAG		tag;

	SET_LOCKTAG_RELATION(tag, IsSharedRelation(relid) ? InvalidOid : MyDatabaseId, relid);
	return LockHeldByMe(&tag, mode, true);
}

/* Not every release, nor every machine, tells whether a spinlock is held. */
#ifdef SpinLockFree
#define sk_spin_lock_is_held(mutex) (!SpinLockFree(mutex))
#else
#define sk_spin_lock_is_held(mutex) true
#endif

/* 18: foreign keys may be NOT ENFORCED */
#define SK_HAS_NOT_ENFORCED (PG_VERSION_NUM >= 180000)

/* 19: the signal handlers that are no functions have names of their own */
#ifndef PG_SIG_IGN
#define PG_SIG_IGN SIG_IGN
#endif

/* 18: columns of GROUP BY are columns of an entry of its own */
#if PG_VERSION_NUM >= 180000
#define sk_flatten_groups(query, node) \
	((query)->hasGroupRTE ? flatten_group_exprs(NULL, query, node) : (node))
#else
#define sk_flatten_groups(query, node) (node)
#endif

#endif							/* SK_COMPAT_H */
