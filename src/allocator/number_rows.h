/*-------------------------------------------------------------------------
 *
 * number_rows.h
 *	  Writing numbers of allocators into rows.
 *
 * src/allocator/number_rows.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_NUMBER_ROWS_H
#define SK_NUMBER_ROWS_H

#include "access/attnum.h"
#include "access/htup.h"
#include "nodes/pg_list.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "allocator/series.h"

/* The rows of one table that one allocator numbers. */
typedef struct SkNumberTarget
{
	Oid			relid;
	AttrNumber	attnum;
	int64		allocator_id;
	int			series_count;	/* of columns that tell the series */
	AttrNumber	series[SK_MAX_SERIES_COLUMNS];
} SkNumberTarget;

/* A row that may be due for a number. */
typedef struct SkUnnumbered
{
	const SkNumberTarget *target;
	ItemPointerData tid;		/* any version of the row */
} SkUnnumbered;

/* What has become of an allocator. */
typedef struct SkAssignment
{
	int64		allocator_id;
	int64		counter_id;		/* the same, or of a series */
	int64		last;			/* number that was written last */
} SkAssignment;

extern bool sk_number_target(SkNumberTarget *target, Relation rel, HeapTuple tuple,
							 char *const *arguments, int count);
extern void sk_number_check_series(const SkNumberTarget *target, Relation rel,
								   TupleTableSlot *old, TupleTableSlot *new);
extern List *sk_number_rows(const SkUnnumbered *rows, uint64 count);

/* commit_number.c */
extern void sk_commit_number_init(void);
extern void sk_commit_number_settings(void);

#endif							/* SK_NUMBER_ROWS_H */
