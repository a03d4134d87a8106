/*-------------------------------------------------------------------------
 *
 * spanner_keys.h
 *	  Start-up calls of the modules.
 *
 * src/spanner_keys.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SPANNER_KEYS_H
#define SPANNER_KEYS_H

/* allocator/allocator.c, cache.c, commit_number.c, number_rows.c, pool.c, table.c, worker.c */
extern void sk_allocator_init(void);
extern void sk_cache_init(void);
extern void sk_commit_number_init(void);
extern void sk_number_rows_init(void);
extern void sk_pool_init(void);
extern void sk_table_init(void);
extern void sk_worker_init(void);

/* planner/merge_path.c, merge_scan.c, parent_quals.c */
extern void sk_merge_path_init(void);
extern void sk_merge_scan_init(void);
extern void sk_parent_quals_init(void);

/* planner/shard_statistics.c; settings */
extern void sk_shard_statistics_init(void);

/* planner/planner.c */
extern void sk_planner_init(void);

/* sequence/binding.c, builtin_kinds.c, kind.c; settings */
extern void sk_binding_init(void);
extern void sk_builtin_kinds_init(void);
extern void sk_default_kind_init(void);

/* sequence/identity.c, sequence_change.c, sequence_ddl.c, sequence_functions.c */
extern void sk_identity_init(void);
extern void sk_sequence_change_init(void);
extern void sk_sequence_ddl_init(void);
extern void sk_sequence_functions_init(void);

/* sequence/plan_fetch.c */
extern void sk_plan_fetch_init(void);

/* spanner_ddl/vocabulary.c */
extern void sk_spanner_ddl_init(void);

/* spi/command_hooks.c, own_objects.c */
extern void sk_command_hooks_init(void);
extern void sk_own_objects_init(void);

#endif							/* SPANNER_KEYS_H */
