/*-------------------------------------------------------------------------
 *
 * widths.h
 *	  Columns that a command has made too narrow for the values of a sequence.
 *
 * src/sequence/widths.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_WIDTHS_H
#define SK_WIDTHS_H

#include "nodes/pg_list.h"

extern void sk_widths_command_end(Node *command, const List *bound);

#endif							/* SK_WIDTHS_H */
