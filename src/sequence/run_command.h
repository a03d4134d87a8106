/*-------------------------------------------------------------------------
 *
 * run_command.h
 *	  Running SQL commands of our own.
 *
 * src/sequence/run_command.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_RUN_COMMAND_H
#define SK_RUN_COMMAND_H

extern void sk_run_command(const char *command);
extern char *sk_qualified_name(Oid relid);

#endif							/* SK_RUN_COMMAND_H */
