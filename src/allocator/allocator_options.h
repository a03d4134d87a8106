/*-------------------------------------------------------------------------
 *
 * allocator_options.h
 *	  The options of an allocator.
 *
 * src/allocator/allocator_options.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ALLOCATOR_OPTIONS_H
#define SK_ALLOCATOR_OPTIONS_H

#include "allocator/allocator_table.h"

/* What create_allocator() and alter_allocator() set. */
typedef struct SkAllocatorOptions
{
	SkMode		mode;
	int64		next_value;
	int64		min_value;
	int64		max_value;
	int64		batch_size;
	int64		max_batch_size;
	int64		low_water_mark; /* -1: automatic */
	int64		failover_gap;	/* -1: automatic */
	char	   *server;			/* NULL: none */
	char	   *remote_name;	/* NULL: none */
	Oid			owner_role;
} SkAllocatorOptions;

extern void sk_options_lock(int64 id, SkAllocatorOptions *options);
extern void sk_options_check(const char *name,
							 const SkAllocatorOptions *options);
extern int64 sk_options_insert(const char *name,
							   const SkAllocatorOptions *options);
extern void sk_options_update(int64 id, const SkAllocatorOptions *options);

#endif							/* SK_ALLOCATOR_OPTIONS_H */
