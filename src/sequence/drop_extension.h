/*-------------------------------------------------------------------------
 *
 * drop_extension.h
 *	  What is left to do when the extension is dropped.
 *
 * src/sequence/drop_extension.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DROP_EXTENSION_H
#define SK_DROP_EXTENSION_H

#include "nodes/nodes.h"

extern void sk_drop_extension_start(Node *command);

#endif							/* SK_DROP_EXTENSION_H */
