/*-------------------------------------------------------------------------
 *
 * spanner_keys.h
 *	  Start-up calls of the rooms, and their settings.
 *
 * src/spanner_keys.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SPANNER_KEYS_H
#define SPANNER_KEYS_H

/* allocator/allocator.c */
extern void sk_allocator_init(void);
extern void sk_allocator_settings(void);

/* planner/planner.c */
extern void sk_planner_init(void);
extern void sk_planner_settings(void);

/* sequence/command_hooks.c */
extern void sk_sequence_init(void);

/* sequence/default_kind.c */
extern void sk_sequence_settings(void);

/* spanner_ddl/execute.c */
extern void sk_spanner_ddl_settings(void);

/* spanner_keys.c */
extern bool sk_settings_defined;
extern void sk_define_settings(void);
extern void sk_define_used_settings(void);
extern void sk_put_off_settings(void);

#endif							/* SPANNER_KEYS_H */
