/*-------------------------------------------------------------------------
 *
 * run_command.c
 *	  Running SQL commands of our own.
 *
 * Commands run as the current user, through core's own front door: it checks
 * privileges, takes locks, and tells other event triggers.  Names in them
 * are qualified and quoted.
 *
 * src/sequence/run_command.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "sequence/run_command.h"

/*
 * sk_run_command
 *		Run one utility command.
 */
void
sk_run_command(const char *command)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(command, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "command failed: %s", command);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

/*
 * sk_qualified_name
 *		The name of a relation as it stands in such a command.
 */
char *
sk_qualified_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}
