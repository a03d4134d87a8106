/*-------------------------------------------------------------------------
 *
 * facts.c
 *	  What the rules of spanner.advise look at.
 *
 * Each fact is a query whose result is kept as a relation of the SPI
 * connection, so that the rules and later facts can name it:
 *
 *		tables		the tables that advice is given on
 *		indexes		their valid indexes
 *		columns		columns that have a default or come first in an index,
 *					and where their values come from
 *		statistics	what ANALYZE has found out about these columns
 *		samples		the same for tables without statistics, from their rows
 *		measured	both of them
 *		suspects	columns whose values grow with time, and why
 *		redundant	indexes that another index can stand in for
 *
 * So the catalogs are read a few times, not once for each rule and table.
 * Everything is read with the privileges of the caller; see owner_rights.c for
 * what the owner of a table may have run meanwhile.
 *
 * src/advisor/facts.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/queryenvironment.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "advisor/facts.h"
#include "advisor/rules.h"
#include "spi/owner_rights.h"
#include "spi/run_command.h"

/* Tables without statistics are read only up to this number. */
#define SK_MAX_SAMPLED_TABLES 200

/*
 * Is a text, by its length and the places of version and variant, a UUID
 * whose most significant bits are a time: version 1, 6 or 7?  One value may
 * look like it by chance, most of them do not.
 */
#define SK_UUID_DIGITS(value, version, variant) \
	"strpos('167', substr(" value ", " version ", 1)) > 0 AND strpos('89abAB', substr(" value ", " variant ", 1)) > 0 "
#define SK_UUID_OF_TIME(value) \
	"CASE length(" value ") " \
	"WHEN 36 THEN substr(" value ", 9, 1) = '-' AND " SK_UUID_DIGITS(value, "15", "20") \
	"WHEN 34 THEN starts_with(" value ", '\\x') AND " SK_UUID_DIGITS(value, "15", "19") \
	"WHEN 32 THEN " SK_UUID_DIGITS(value, "13", "17") "ELSE false END"

/* A fact: the name of the relation, and the query. */
typedef struct SkFact
{
	const char *name;
	const char *query;
} SkFact;

static Tuplestorestate *gather(const SkFact *fact, Oid relid);
static void keep_store(const char *name, Tuplestorestate *store,
					   TupleDesc desc, double rows);
static Tuplestorestate *gather_samples(void);
static void sample_column(Tuplestorestate *store, TupleDesc desc,
						  HeapTuple candidate, TupleDesc candidate_desc);

static const SkFact first_facts[] = {
	{"tables",
		"SELECT c.oid AS relid, c.relkind, n.nspname, c.relname, "
		" format('%I.%I', n.nspname, c.relname) AS ident, "
		" c.reltuples AS rows, c.relhassubclass AND c.relkind = 'r' AS has_children, "
		" p.indexrelid AS pkey, p.indkey[0] AS pkey_attnum, k.conname AS pkey_name, "
		" f.conindid IS NOT NULL AS referenced, "
		" COALESCE(h.partstrat = 'h', false) AS hashed, "
		" c.relnatts < 1600 AND c.reloftype = 0 AND NOT c.relispartition AS can_widen, "
		" h.partexprs IS NULL AND e.inhparent IS NULL AS can_have_key, "
		" has_schema_privilege(n.oid, 'USAGE') AS is_usable "
		"FROM pg_class c "
		"JOIN pg_namespace n ON n.oid = c.relnamespace "
		"LEFT JOIN pg_index p ON p.indrelid = c.oid AND p.indisprimary "
		"LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p' "
		"LEFT JOIN (SELECT DISTINCT conindid FROM pg_constraint WHERE contype = 'f') f "
		" ON f.conindid = p.indexrelid "
		"LEFT JOIN pg_partitioned_table h ON h.partrelid = c.oid "
		"LEFT JOIN (SELECT DISTINCT r.inhparent FROM pg_inherits r "
		"  JOIN pg_class g ON g.oid = r.inhrelid AND g.relkind = 'f' AND g.relispartition) e ON e.inhparent = c.oid "
		"WHERE c.relkind = ANY ('{r,p}') AND c.oid >= 16384 "
		"AND NOT pg_is_other_temp_schema(n.oid) "
		"AND CASE WHEN $1 = 0 THEN "
		" NOT c.relispartition AND c.relpersistence <> 't' "
		" AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' "
		" AND NOT EXISTS (SELECT FROM pg_depend d "
		"  WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e') "
	"ELSE c.oid = $1 END"},

	{"indexes",
		"SELECT i.indexrelid AS indexid, t.relid, t.ident, t.nspname, c.relname AS name, "
		" i.indkey[0] AS attnum, i.indkey, i.indnkeyatts AS keys, i.indnatts > i.indnkeyatts AS storing, "
		" i.indisunique AS is_unique, i.indisprimary AS is_primary, "
		" i.indimmediate AS is_immediate, i.indnullsnotdistinct AS is_strict, "
		" i.indisreplident OR i.indisclustered OR c.relispartition OR f.conindid IS NOT NULL AS is_needed, k.oid AS constraint_id, "
		" c.relam = 403 AS is_btree, pg_get_expr(i.indpred, i.indrelid) AS predicate, "
		" CASE WHEN i.indkey[0] = 0 THEN pg_get_indexdef(i.indexrelid, 1, false) END AS expression, "
		" (SELECT string_agg(format('%s/%s/%s/%s%s ', u.attnum, u.opclass, u.collid, u.option, "
		"   CASE WHEN u.attnum = 0 THEN quote_literal(pg_get_indexdef(i.indexrelid, u.n::int, false)) END), '' ORDER BY u.n) "
		"  FROM unnest(i.indkey::int2[], i.indclass::oid[], i.indcollation::oid[], i.indoption::int2[]) "
		"   WITH ORDINALITY u (attnum, opclass, collid, option, n) WHERE u.n <= i.indnkeyatts) AS signature "
		"FROM tables t "
		"JOIN pg_index i ON i.indrelid = t.relid AND i.indisvalid "
		"JOIN pg_class c ON c.oid = i.indexrelid "
		"LEFT JOIN (SELECT DISTINCT conindid FROM pg_constraint WHERE contype = 'f') f ON f.conindid = i.indexrelid "
	"LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.contype = ANY ('{p,u,x}')"},

	{"columns",
		"SELECT q.*, CASE "
		" WHEN q.generated AND q.expr ~ 'shard_id\\(|fingerprint\\(|hash' THEN 'shard' "
		" WHEN q.generated THEN 'generated' "
		" WHEN q.seqid <> 0 AND (q.identity OR q.expr ~ '^\\(*(spanner\\.)?nextval\\(E?''([^'']|'''')*''::regclass\\)(\\)?::(integer|smallint|bigint))?$') "
		"  THEN CASE WHEN q.label IS NULL THEN 'sequence' ELSE 'mapped' END "
		" WHEN q.expr ~ 'bit_reverse|random|uuid_generate_v4|uuidv4|generate_uuid|md5|sha[0-9]+|hash|fingerprint' THEN 'random' "
		" WHEN q.expr ~* '(uuid_generate_v[167]|uuid_?v[167]|uuid[167]|gen_uuid_v7|ulid|ksuid|(^|[^a-z])(xid|tsid)|snowflake)[a-z0-9_]*\\(' THEN 'uuid' "
		" WHEN q.expr ~ '(now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\\(|CURRENT_TIMESTAMP|CURRENT_DATE|LOCALTIMESTAMP' THEN 'now' "
		" WHEN q.seqid <> 0 AND q.label IS NULL OR q.expr ~ 'spanner\\.next_value\\(' THEN 'derived' "
		" WHEN q.is_reference THEN 'reference' "
		" WHEN q.type = ANY ('{timestamp,timestamptz}'::regtype[]) AND q.expr IS NULL THEN 'time' "
		" END AS source "
		"FROM (SELECT t.relid, t.ident, t.nspname, t.relname, a.attnum, a.attname AS name, quote_ident(a.attname) AS quoted, "
		" CASE WHEN y.typtype = 'd' THEN y.typbasetype ELSE a.atttypid END AS type, a.attnotnull AS is_notnull, "
		" a.attcollation AS collid, "
		/* a default has no columns; without their names it prints fast */
		" COALESCE(pg_get_expr(d.adbin, CASE WHEN a.attgenerated = '' THEN 0 ELSE d.adrelid END), y.typdefault) AS expr, "
		" a.attgenerated <> '' AS generated, a.attidentity <> '' AS identity, "
		" COALESCE(s.seqid, 0) AS seqid, l.label, o.objid IS NOT NULL AND a.attinhcount = 0 AS owned, "
		" r.conrelid IS NOT NULL AS is_reference "
		"FROM tables t "
		"JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum > 0 AND NOT a.attisdropped "
		"JOIN pg_type y ON y.oid = a.atttypid "
		"LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum "
		"LEFT JOIN (SELECT e.adrelid, e.adnum, min(c.oid) AS seqid FROM pg_depend p "
		"  JOIN pg_attrdef e ON e.oid = p.objid JOIN pg_class c ON c.oid = p.refobjid AND c.relkind = 'S' "
		"  WHERE p.classid = 'pg_attrdef'::regclass AND p.refclassid = 'pg_class'::regclass GROUP BY 1, 2 "
		" UNION ALL SELECT p.refobjid, p.refobjsubid, p.objid FROM pg_depend p "
		"  JOIN pg_class c ON c.oid = p.objid AND c.relkind = 'S' "
		"  WHERE p.classid = 'pg_class'::regclass AND p.refclassid = 'pg_class'::regclass AND p.deptype = 'i') s "
		" ON s.adrelid = a.attrelid AND s.adnum = a.attnum "
		"LEFT JOIN pg_seclabel l ON l.objoid = s.seqid AND l.classoid = 'pg_class'::regclass AND l.provider = 'spanner_keys' "
		"LEFT JOIN pg_depend o ON o.objid = s.seqid AND o.classid = 'pg_class'::regclass AND o.refclassid = 'pg_class'::regclass "
		" AND o.refobjid = a.attrelid AND o.refobjsubid = a.attnum AND o.deptype = ANY ('{a,i}') "
		"LEFT JOIN (SELECT DISTINCT conrelid, conkey[1] AS attnum FROM pg_constraint WHERE contype = 'f') r "
		" ON r.conrelid = a.attrelid AND r.attnum = a.attnum "
		"LEFT JOIN (SELECT DISTINCT i.relid, i.attnum FROM indexes i WHERE i.is_btree) x "
		" ON x.relid = a.attrelid AND x.attnum = a.attnum "
	"WHERE x.attnum IS NOT NULL OR a.atthasdef OR a.attidentity <> '' OR y.typdefault IS NOT NULL OFFSET 0) q"},

	{"statistics",
		"SELECT c.relid, c.attnum, t.rows::float8 AS rows, "
		" CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * t.rows ELSE s.n_distinct END::float8 AS distinct_values, "
		" s.null_frac::float8 AS null_share, abs(s.correlation)::float8 AS correlation, "
		" s.most_common_freqs[1]::float8 AS top_share, "
		" CASE WHEN c.source IS NULL AND c.type = ANY ('{uuid,text,varchar,bpchar,bytea}'::regtype[]) THEN "
		"  (SELECT avg((" SK_UUID_OF_TIME("b") ")::int) FROM unnest(s.histogram_bounds::text::text[]) b) END::float8 AS uuid_share "
		"FROM columns c "
		"JOIN tables t ON t.relid = c.relid "
		"JOIN (SELECT DISTINCT relid, attnum FROM indexes) i ON i.relid = c.relid AND i.attnum = c.attnum "
		"JOIN pg_stats s ON s.schemaname = c.nspname AND s.tablename = c.relname "
	" AND s.attname = c.name AND s.inherited = (t.relkind = 'p')"},

	{NULL, NULL}
};

static const char candidate_query[] =
"SELECT c.relid, c.attnum "
"FROM columns c "
"JOIN tables t ON t.relid = c.relid AND t.relkind = 'r' AND t.is_usable "
"JOIN pg_class o ON o.oid = c.relid "
"JOIN (SELECT DISTINCT relid, attnum FROM indexes WHERE is_btree) i ON i.relid = c.relid AND i.attnum = c.attnum "
"LEFT JOIN statistics s ON s.relid = c.relid AND s.attnum = c.attnum "
"WHERE s.relid IS NULL AND c.source IS NULL "
"AND c.type = ANY ('{int2,int4,int8,numeric,date,uuid,text,varchar,bpchar,bytea}'::regtype[]) "
"AND has_column_privilege(c.relid, c.attnum, 'SELECT') AND NOT row_security_active(c.relid) "
/* it is read as the owner, who can have lost these rights */
"AND has_column_privilege(o.relowner, c.relid, c.attnum, 'SELECT') AND has_schema_privilege(o.relowner, o.relnamespace, 'USAGE') "
"AND pg_relation_size(c.relid) > 0 "
"ORDER BY c.relid, c.attnum LIMIT $1";

static const SkFact last_facts[] = {
	{"measured",
		"SELECT relid, attnum, rows, null_share, top_share, "
		" COALESCE(uuid_share > 0.5, false) AS uuid_of_time, "
		" rows >= 1000 AND distinct_values * 10 >= rows AND correlation >= " SK_CORRELATED " AS ascending, "
		" rows >= 1000 AND correlation < 0.9 AS scattered "
		"FROM statistics "
		"UNION ALL SELECT relid, attnum, rows, NULL, NULL, "
		" rows >= 20 AND uuid_share > 0.5, "
	" rows >= 100 AND ascending_share >= " SK_CORRELATED ", false FROM samples"},

	{"suspects",
		"SELECT q.* FROM (SELECT c.*, m.null_share, m.rows AS measured_rows, CASE "
		" WHEN c.source = ANY ('{sequence,derived,now,uuid}') THEN c.source "
		" WHEN c.source = 'time' AND m.scattered IS NOT TRUE THEN 'time' "
		" WHEN c.source IS NULL AND m.uuid_of_time THEN 'uuid_data' "
		" WHEN c.source IS NULL AND m.ascending THEN 'ascending_data' END AS why "
		"FROM columns c "
		"JOIN tables t ON t.relid = c.relid AND NOT t.hashed "
	"LEFT JOIN measured m ON m.relid = c.relid AND m.attnum = c.attnum OFFSET 0) q WHERE q.why IS NOT NULL"},

	{"redundant",
		"SELECT i.indexid, min(j.indexid) AS other "
		"FROM indexes i "
		"JOIN indexes j ON j.relid = i.relid AND j.indexid <> i.indexid AND j.is_btree "
		" AND starts_with(j.signature, i.signature) AND i.predicate IS NOT DISTINCT FROM j.predicate "
		"WHERE i.is_btree AND i.constraint_id IS NULL AND NOT i.is_needed "
		"AND (NOT i.storing OR i.indkey::text = j.indkey::text) "
		"AND (NOT i.is_unique OR j.is_unique AND j.keys = i.keys AND j.is_immediate AND (j.is_strict OR j.is_primary OR NOT i.is_strict)) "
		"AND (j.keys > i.keys OR j.constraint_id IS NOT NULL OR j.is_unique AND NOT i.is_unique OR j.indexid < i.indexid) "
	"GROUP BY i.indexid"},

	{NULL, NULL}
};

/*
 * sk_facts_gather
 *		Gather the facts about a table, or with InvalidOid about all tables.
 *
 * The caller is connected to SPI, and releases the result before it
 * disconnects.
 */
List *
sk_facts_gather(Oid relid)
{
	List	   *result = NIL;

	for (const SkFact *fact = first_facts; fact->name != NULL; fact++)
		result = lappend(result, gather(fact, relid));
	result = lappend(result, gather_samples());
	for (const SkFact *fact = last_facts; fact->name != NULL; fact++)
		result = lappend(result, gather(fact, relid));
	return result;
}

/*
 * sk_facts_release
 *		Remove the facts, which may be in temporary files.
 */
void
sk_facts_release(List *facts)
{
	ListCell   *lc;

	foreach(lc, facts)
		tuplestore_end(lfirst(lc));
}

/* Run the query of a fact, and keep its result. */
static Tuplestorestate *
gather(const SkFact *fact, Oid relid)
{
	Tuplestorestate *store = tuplestore_begin_heap(false, false, work_mem);
	Oid			type = OIDOID;
	Datum		value = ObjectIdGetDatum(relid);
	int			count = strstr(fact->query, "$1") != NULL ? 1 : 0;
	SPITupleTable *result;

	if (SPI_execute_with_args(fact->query, count, &type, &value, NULL, true,
							  0) != SPI_OK_SELECT)
		elog(ERROR, "query failed: %s", fact->query);
	result = SPI_tuptable;
	for (uint64 i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(store, result->vals[i]);
	keep_store(fact->name, store, result->tupdesc, SPI_processed);
	SPI_freetuptable(result);
	return store;
}

/* Make a relation of a store of rows. */
static void
keep_store(const char *name, Tuplestorestate *store, TupleDesc desc,
		   double rows)
{
	EphemeralNamedRelation relation = palloc0(sizeof(EphemeralNamedRelationData));

	relation->md.name = pstrdup(name);
	relation->md.reliddesc = InvalidOid;
	relation->md.tupdesc = CreateTupleDescCopy(desc);
	relation->md.enrtype = ENR_NAMED_TUPLESTORE;
	relation->md.enrtuples = rows;
	relation->reldata = store;
	if (SPI_register_relation(relation) != SPI_OK_REL_REGISTER)
		elog(ERROR, "SPI_register_relation failed");
}

/*
 * Look into tables that have rows and no statistics, at the columns whose
 * definition does not say where their values come from.
 */
static Tuplestorestate *
gather_samples(void)
{
	Tuplestorestate *store = tuplestore_begin_heap(false, false, work_mem);
	TupleDesc	desc = CreateTemplateTupleDesc(5);
	Oid			type = INT4OID;
	Datum		limit = Int32GetDatum(SK_MAX_SAMPLED_TABLES);
	SPITupleTable *candidates;
	uint64		count;

	TupleDescInitEntry(desc, 1, "relid", OIDOID, -1, 0);
	TupleDescInitEntry(desc, 2, "attnum", INT2OID, -1, 0);
	TupleDescInitEntry(desc, 3, "rows", FLOAT8OID, -1, 0);
	TupleDescInitEntry(desc, 4, "uuid_share", FLOAT8OID, -1, 0);
	TupleDescInitEntry(desc, 5, "ascending_share", FLOAT8OID, -1, 0);
	BlessTupleDesc(desc);

	if (SPI_execute_with_args(candidate_query, 1, &type, &limit, NULL, true,
							  0) != SPI_OK_SELECT)
		elog(ERROR, "query failed: %s", candidate_query);
	candidates = SPI_tuptable;
	count = SPI_processed;
	for (uint64 i = 0; i < count; i++)
		sample_column(store, desc, candidates->vals[i], candidates->tupdesc);
	keep_store("samples", store, desc, count);
	return store;
}

/*
 * Read the first rows of a table, in the order in which they are stored.
 *
 * A table that somebody is altering or has dropped meanwhile is left out, and
 * so is a column.  Either may have another name now.
 */
static void
sample_column(Tuplestorestate *store, TupleDesc desc, HeapTuple candidate,
			  TupleDesc candidate_desc)
{
	Datum		values[5];
	bool		nulls[5] = {0};
	Oid			relid;
	HeapTuple	column = NULL;
	SkOwnerScope scope;
	char	   *query;

	values[0] = SPI_getbinval(candidate, candidate_desc, 1, &nulls[0]);
	values[1] = SPI_getbinval(candidate, candidate_desc, 2, &nulls[1]);
	relid = DatumGetObjectId(values[0]);
	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return;
	if (SearchSysCacheExists1(RELOID, values[0]))
		column = SearchSysCacheAttNum(relid, DatumGetInt16(values[1]));
	if (column == NULL)
	{
		UnlockRelationOid(relid, AccessShareLock);
		return;
	}

	query = psprintf("SELECT count(*)::float8, avg((" SK_UUID_OF_TIME("v::text") ")::int)::float8, "
					 " avg((v > before)::int)::float8 "
					 "FROM (SELECT v, lag(v) OVER () AS before FROM "
					 " (SELECT %s AS v FROM ONLY %s LIMIT 1000) r) q",
					 quote_identifier(NameStr(((Form_pg_attribute) GETSTRUCT(column))->attname)),
					 sk_qualified_name(relid));
	ReleaseSysCache(column);
	sk_owner_enter(&scope, relid, true);
	if (SPI_execute(query, true, 0) != SPI_OK_SELECT || SPI_processed != 1)
		elog(ERROR, "query failed: %s", query);
	sk_owner_leave(&scope);
	for (int i = 2; i < 5; i++)
		values[i] = SPI_getbinval(SPI_tuptable->vals[0],
								  SPI_tuptable->tupdesc, i - 1, &nulls[i]);
	tuplestore_putvalues(store, desc, values, nulls);
	SPI_freetuptable(SPI_tuptable);
	UnlockRelationOid(relid, AccessShareLock);
}
