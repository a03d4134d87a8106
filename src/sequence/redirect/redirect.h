/*-------------------------------------------------------------------------
 *
 * redirect.h
 *	  Calls of core's sequence functions on bound sequences.
 *
 * src/sequence/redirect/redirect.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_REDIRECT_H
#define SK_REDIRECT_H

#include "nodes/nodes.h"

extern void sk_redirect_init(void);
extern void sk_redirect_expression(Node *expression);

#endif							/* SK_REDIRECT_H */
