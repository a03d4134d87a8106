/*-------------------------------------------------------------------------
 *
 * count_rows.c
 *	  Counting the rows of a table, with the rights of its owner.
 *
 * src/splits/count_rows.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "spi/owner_rights.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_count_rows);

/*
 * spanner_internal.count_rows(relation regclass, filter text) returns bigint
 *
 * Counts the rows of a relation for which "filter" is true; NULL counts all.
 * Planning the query runs code of the owner, see owner_rights.c.
 */
Datum
spanner_count_rows(PG_FUNCTION_ARGS)
{
	Oid			relid;
	char	   *query;
	SkOwnerScope scope;
	int64		result;
	bool		isnull;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	relid = PG_GETARG_OID(0);
	if (get_rel_name(relid) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	query = psprintf("SELECT pg_catalog.count(*) FROM %s%s%s",
					 sk_qualified_name(relid),
					 PG_ARGISNULL(1) ? "" : " WHERE ",
					 PG_ARGISNULL(1) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(1)));
	sk_owner_enter(&scope, relid, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "query failed: %s", query);
	sk_owner_leave(&scope);
	result = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
										 SPI_tuptable->tupdesc, 1, &isnull));
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	PG_RETURN_INT64(result);
}
