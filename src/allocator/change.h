/*-------------------------------------------------------------------------
 *
 * change.h
 *	  What happens when an allocator is changed.
 *
 * src/allocator/change.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_CHANGE_H
#define SK_CHANGE_H

extern void sk_change_init(void);
extern void sk_change_note(int64 id, int64 minimum);

#endif							/* SK_CHANGE_H */
