/*-------------------------------------------------------------------------
 *
 * advisor.c
 *	  spanner.advise: what a schema does against the advice for spread keys.
 *
 * Every rule is a query over the facts of facts.c.  All runs as the caller,
 * read-only, and with a search_path of pg_catalog, so that names and
 * operators in the queries mean what they say, and names in the suggestions
 * come out qualified.
 *
 * src/advisor/advisor.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/spi.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "advisor/facts.h"
#include "advisor/rules.h"
#include "advisor/silence.h"
#include "compat.h"
#include "spanner_keys.h"

PG_FUNCTION_INFO_V1(spanner_advise);
PG_FUNCTION_INFO_V1(spanner_list_advisor_rules);

/* Columns of the query that run_rule() makes. */
enum
{
	RESULT_RELID = 1,
	RESULT_INDEXID,
	RESULT_ATTNUM,
	RESULT_OBJECT,
	RESULT_FINDING,
	RESULT_FIX
};

static void set_for_function(const char *name, const char *value);
static void run_rule(const SkRule *rule, List *silences,
					 ReturnSetInfo *rsinfo);
static void put_finding(const SkRule *rule, HeapTuple row, TupleDesc desc,
						ReturnSetInfo *rsinfo);

/*
 * sk_advisor_init
 *		Start the room: the provider of the labels that silence rules.
 */
void
sk_advisor_init(void)
{
	sk_silence_init();
}

/*
 * spanner.advise(relation regclass) returns table (severity text, rule text,
 *		relation regclass, object text, finding text, suggestion text)
 *
 * Findings about a table, or with NULL about all tables that belong to no
 * extension.  A relation that is no table has none.
 */
Datum
spanner_advise(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			relid = PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0);
	int			nest_level;
	List	   *facts;
	List	   *silences;

	InitMaterializedSRF(fcinfo, 0);
	if (!PG_ARGISNULL(0) && !OidIsValid(relid))
		return (Datum) 0;

	nest_level = NewGUCNestLevel();
	set_for_function("search_path", "pg_catalog, pg_temp");
	/* settings of the session that would change what the queries say */
	set_for_function("standard_conforming_strings", "on");
	set_for_function("quote_all_identifiers", "off");
	set_for_function("bytea_output", "hex");
	set_for_function("jit", "off");
	set_for_function("work_mem", GetConfigOption("maintenance_work_mem", false, false));
	/* the planner does not know how much our relations contain */
	if (!OidIsValid(relid))
		set_for_function("enable_nestloop", "off");

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	facts = sk_facts_gather(relid);
	silences = sk_silence_load();
	for (const SkRule *rule = sk_rules; rule->id != NULL; rule++)
	{
		if (rule->query != NULL)
			run_rule(rule, silences, rsinfo);
	}
	sk_facts_release(facts);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");

	AtEOXact_GUC(true, nest_level);
	return (Datum) 0;
}

/*
 * spanner.list_advisor_rules() returns table (rule text, severity text,
 *		checkable boolean, explanation text)
 */
Datum
spanner_list_advisor_rules(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (const SkRule *rule = sk_rules; rule->id != NULL; rule++)
	{
		Datum		values[4];
		bool		nulls[4] = {0};

		values[0] = CStringGetTextDatum(rule->id);
		nulls[1] = rule->severity == NULL;
		if (!nulls[1])
			values[1] = CStringGetTextDatum(rule->severity);
		values[2] = BoolGetDatum(rule->query != NULL);
		values[3] = CStringGetTextDatum(rule->explanation);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

/* Set a parameter until the end of the function. */
static void
set_for_function(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
}

/* Run the query of a rule, and return what is not silenced. */
static void
run_rule(const SkRule *rule, List *silences, ReturnSetInfo *rsinfo)
{
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query,
					 "SELECT q.relid, q.indexid, q.attnum, q.object, (%s), (%s) "
					 "FROM (%s) q ORDER BY q.ident COLLATE \"C\", q.object COLLATE \"C\"",
					 rule->finding, rule->fix == NULL ? "NULL" : rule->fix,
					 rule->query);
	if (SPI_execute(query.data, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "query failed: %s", query.data);

	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		bool		isnull;
		Oid			relid = DatumGetObjectId(SPI_getbinval(row, desc,
														   RESULT_RELID, &isnull));
		Oid			indexid = DatumGetObjectId(SPI_getbinval(row, desc,
															 RESULT_INDEXID, &isnull));
		AttrNumber	attnum = DatumGetInt16(SPI_getbinval(row, desc,
														 RESULT_ATTNUM, &isnull));

		/* dropped meanwhile, so that half of the facts may be missing */
		if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)))
			continue;
		if (!sk_silence_covers(silences, rule->id, relid, indexid, attnum))
			put_finding(rule, row, desc, rsinfo);
	}
	SPI_freetuptable(SPI_tuptable);
	pfree(query.data);
}

static void
put_finding(const SkRule *rule, HeapTuple row, TupleDesc desc,
			ReturnSetInfo *rsinfo)
{
	static const int texts[] = {RESULT_OBJECT, RESULT_FINDING, RESULT_FIX};
	Datum		values[6];
	bool		nulls[6] = {0};

	values[0] = CStringGetTextDatum(rule->severity);
	values[1] = CStringGetTextDatum(rule->id);
	values[2] = SPI_getbinval(row, desc, RESULT_RELID, &nulls[2]);
	for (int i = 0; i < lengthof(texts); i++)
	{
		char	   *value = SPI_getvalue(row, desc, texts[i]);

		nulls[3 + i] = value == NULL;
		if (value != NULL)
			values[3 + i] = CStringGetTextDatum(value);
	}
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}
