/*-------------------------------------------------------------------------
 *
 * allocator_table.h
 *	  Access to the table spanner.allocator.
 *
 * src/allocator/allocator_table.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ALLOCATOR_TABLE_H
#define SK_ALLOCATOR_TABLE_H

#include "nodes/lockoptions.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

#include "allocator/allocator_row.h"

/* The table while it is open, and who we were before. */
typedef struct SkTable
{
	Relation	rel;
	LOCKMODE	mode;
	Oid			userid;
	int			sec_context;
	TupleTableSlot *slot;		/* the row that was locked last, or NULL */
} SkTable;

typedef enum SkRowState
{
	SK_ROW_FOUND,
	SK_ROW_GONE,
	SK_ROW_LOCKED				/* by somebody else */
} SkRowState;

/* What a write to the table means; hand-made ones are of the last kind. */
typedef enum SkWrite
{
	SK_WRITE_RESERVES,			/* moves the counter as the mode wants it */
	SK_WRITE_ACCESS,			/* says nothing about values */
	SK_WRITE_CHANGES			/* values in a pool may be wrong now */
} SkWrite;

extern SkWrite sk_table_write;

extern Oid	sk_allocator_table(void);
extern void sk_table_open(SkTable *table, LOCKMODE mode);
extern void sk_table_close(SkTable *table);

extern bool sk_row_find(SkTable *table, const char *name, int64 id,
						SkAllocatorRow *row);
extern bool sk_row_find_settled(SkTable *table, const char *name,
								SkAllocatorRow *row);
extern SkRowState sk_row_lock(SkTable *table, int64 id, LockWaitPolicy policy,
							  SkAllocatorRow *row);
extern TransactionId sk_row_locker(SkTable *table, int64 id, bool *is_own);
extern void sk_row_update(SkTable *table, const SkAllocatorRow *row,
						  SkWrite kind);
extern void sk_row_insert(SkTable *table, SkAllocatorRow *row);
extern void sk_row_delete(SkTable *table);

extern bool sk_allocator_read(const char *name, int64 id, SkAllocatorRow *row);

#endif							/* SK_ALLOCATOR_TABLE_H */
