/*-------------------------------------------------------------------------
 *
 * commit_number.h
 *	  Numbering rows when their transaction commits.
 *
 * src/allocator/commit_number.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_COMMIT_NUMBER_H
#define SK_COMMIT_NUMBER_H

extern void sk_commit_number_init(void);

#endif							/* SK_COMMIT_NUMBER_H */
