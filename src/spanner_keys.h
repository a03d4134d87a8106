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

/* allocator/allocator.c */
extern void sk_allocator_init(void);

/* planner/merge_path.c, merge_scan.c, parent_quals.c, shard_paths.c */
extern void sk_merge_path_init(void);
extern void sk_merge_scan_init(void);
extern void sk_parent_quals_init(void);
extern void sk_shard_paths_init(void);

/* planner/shard_statistics.c; settings */
extern void sk_shard_statistics_init(void);

/* planner/planner.c */
extern void sk_planner_init(void);

/* sequence/command_hooks.c */
extern void sk_sequence_init(void);

/* spanner_ddl/execute.c */
extern void sk_spanner_ddl_init(void);

/* spi/own_objects.c */
extern void sk_own_objects_init(void);

#endif							/* SPANNER_KEYS_H */
