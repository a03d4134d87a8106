/*-------------------------------------------------------------------------
 *
 * deletion_policy.c
 *	  Row deletion policies: triggers that never fire, and say when rows expire.
 *
 * src/spanner_ddl/deletion_policy.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "spanner_ddl/spanner_ddl.h"
#include "spi/run_command.h"

static void check_interval(SkDdlText *ddl, const SkConstraint *constraint);

/*
 * sk_ddl_deletion_policy
 *		The trigger that a row deletion policy becomes.
 */
char *
sk_ddl_deletion_policy(SkDdlText *ddl, const SkName *table, const SkConstraint *constraint,
					   const List *variables)
{
	const char *column = linitial(constraint->columns);
	SkType		type = SK_TYPE_UNKNOWN;
	ListCell   *lc;

	if (constraint->name != NULL && strcmp(constraint->name, "older_than") != 0)
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("Only OLDER_THAN is supported."));
	foreach(lc, variables)
	{
		if (strcmp(((SkVariable *) lfirst(lc))->name, column) == 0)
			type = ((SkVariable *) lfirst(lc))->type;
	}
	if (type != SK_TYPE_TIMESTAMP)
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("Cannot create ROW DELETION POLICY because column %s in table %s is not of type TIMESTAMP.",
							column, sk_ddl_name(table)));
	check_interval(ddl, constraint);
	return psprintf("CREATE TRIGGER row_deletion_policy AFTER UPDATE OF %s ON %s"
					" FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION spanner_internal.row_deletion_policy(%s)",
					quote_identifier(column), sk_ddl_name(table),
					quote_literal_cstr(constraint->interval));
}

/* Spanner counts days.  A month is no number of them. */
static void
check_interval(SkDdlText *ddl, const SkConstraint *constraint)
{
	Interval   *interval;

	/* raises an error if it is none */
	interval = DatumGetIntervalP(DirectFunctionCall3(interval_in,
													 CStringGetDatum(constraint->interval),
													 ObjectIdGetDatum(InvalidOid),
													 Int32GetDatum(-1)));
	if (interval->month != 0 || interval->time % USECS_PER_DAY != 0 ||
		interval->day + interval->time / USECS_PER_DAY < 0)
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("interval \"%s\" of a row deletion policy is not a number of days",
							constraint->interval),
					 errdetail("It must be whole days, and not negative."),
					 errhint("An example is \"%s\".", "30 days"));
}

/*
 * sk_ddl_check_policies
 *		Raise an error if rows of a table, or of one above it, expire, and a
 *		child of such a row would keep it.
 */
void
sk_ddl_check_policies(SkDdlText *ddl, int at, Oid relid)
{
	char	   *problem;

	problem = sk_query_text(psprintf("SELECT spanner_internal.expiry_problem('%u')", relid));
	if (problem != NULL)
		SK_DDL_ERROR(ddl, at, ERRCODE_INVALID_TABLE_DEFINITION,
					 errmsg("%s", problem));
}
