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

#include "nodes/pg_list.h"

/* A relation that a command has created or altered. */
typedef struct SkCommandRelation
{
	Oid			relid;
	bool		is_new;
} SkCommandRelation;

extern void sk_run_command(const char *command);
extern void sk_query_row(Oid table, const char *query, int count, int64 *values,
						 bool *isnull);
extern List *sk_query_texts(const char *query);
extern char *sk_query_text(const char *query);
extern char *sk_qualified_name(Oid relid);
extern List *sk_command_relations(const char *relkinds);
extern ErrorData *sk_run_transaction(void (*step) (void *arg), void *arg,
									 const char *activity, const char *durability);

#endif							/* SK_RUN_COMMAND_H */
