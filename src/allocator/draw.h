/*-------------------------------------------------------------------------
 *
 * draw.h
 *	  Drawing values from an allocator.
 *
 * src/allocator/draw.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DRAW_H
#define SK_DRAW_H

#include "allocator/allocator_cache.h"

extern int	sk_allocator_timeout;

extern SkRange sk_draw(SkAllocator *allocator, int64 count, bool whole);

#endif							/* SK_DRAW_H */
