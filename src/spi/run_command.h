/*-------------------------------------------------------------------------
 *
 * run_command.h
 *	  Running SQL commands of our own, and transactions of workers.
 *
 * src/spi/run_command.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_RUN_COMMAND_H
#define SK_RUN_COMMAND_H

#include "nodes/parsenodes.h"

extern void sk_run_command(const char *command);
extern List *sk_query_texts(const char *query);
extern char *sk_query_text(const char *query);
extern Query *sk_analyze_command(const char *command);
extern char *sk_qualified_name(Oid relid);
extern RangeVar *sk_parse_name(const char *name);
extern List *sk_split_name(const char *name);
extern ErrorData *sk_run_transaction(void (*step) (void *arg), void *arg,
									 const char *activity, const char *durability);

#endif							/* SK_RUN_COMMAND_H */
