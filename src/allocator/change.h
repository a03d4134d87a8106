/*-------------------------------------------------------------------------
 *
 * change.h
 *	  What a transaction changes of allocators.
 *
 * src/allocator/change.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_CHANGE_H
#define SK_CHANGE_H

extern void sk_change_note(Oid table, int64 id, int64 minimum);
extern void sk_change_init(void);

#endif							/* SK_CHANGE_H */
