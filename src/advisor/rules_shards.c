/*-------------------------------------------------------------------------
 *
 * rules_shards.c
 *	  Queries of the rules about shards and partitions in Cassandra's sense.
 *
 * src/advisor/rules_shards.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "advisor/rules.h"

/* Shard columns, with the number of shards where that is a constant. */
#define SHARD_COLUMNS \
	"(SELECT c.relid, c.attnum, c.ident, c.name, c.quoted, c.expr, " \
	"  substring(c.expr from 'shard_id\\((\\d+),')::numeric AS shards " \
	" FROM columns c WHERE c.source = 'shard')"

/* The key without its shard column, as a literal. */
#define REST_OF_KEY \
	"(SELECT array_agg(a.attname ORDER BY u.n) FROM unnest(p.indkey::int2[]) WITH ORDINALITY u (attnum, n) " \
	" JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum = u.attnum " \
	" WHERE u.n <= p.keys AND u.attnum <> s.attnum)"

/* Whether spanner.add_shard_key can make the column anew. */
#define CAN_RESHARD \
	"NOT t.referenced AND t.can_widen AND NOT t.has_children AND s.shards IS NOT NULL AND p.indexid IS NOT NULL " \
	"AND NOT EXISTS (SELECT FROM indexes o WHERE o.relid = s.relid AND o.indexid <> p.indexid " \
	" AND s.attnum = ANY (o.indkey::int2[])) " \
	"AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = s.relid AND a.attnum = ANY (p.indkey::int2[]) " \
	" AND a.attnum <> s.attnum AND NOT " SK_HASHABLE ")"

#define RESHARDING(shards) \
	"CASE WHEN " CAN_RESHARD " THEN format('SELECT spanner.add_shard_key(%L, %L, " shards ", column_name => %L, dry_run => false)', " \
	" s.ident, " REST_OF_KEY ", s.name) END"

/* MOD of a fingerprint keeps its sign: there are nearly twice as many shards. */
const char	sk_query_shard_signed[] =
"SELECT s.relid, 0::oid AS indexid, s.attnum, s.ident, s.name::text AS object, s.expr "
"FROM " SHARD_COLUMNS " s "
"WHERE s.expr ~ '(fingerprint|hash)' AND s.expr ~ '( % |mod\\()' AND s.expr !~ 'abs\\(|shard_id\\(|& '";

const char	sk_query_shard_unused[] =
"SELECT s.relid, 0::oid AS indexid, s.attnum, s.ident, s.name::text AS object, "
RESHARDING("' || s.shards || '") " AS fix "
"FROM " SHARD_COLUMNS " s "
"JOIN tables t ON t.relid = s.relid "
"LEFT JOIN indexes p ON p.indexid = t.pkey "
"WHERE NOT EXISTS (SELECT FROM indexes i WHERE i.relid = s.relid AND s.attnum = ANY (i.indkey::int2[])) "
"AND NOT EXISTS (SELECT FROM pg_partitioned_table h WHERE h.partrelid = s.relid AND s.attnum = ANY (h.partattrs::int2[]))";

const char	sk_query_shard_count_small[] =
"SELECT s.relid, p.indexid, s.attnum, s.ident, s.name::text AS object, s.shards, "
RESHARDING(SK_ADVISED_SHARDS) " AS fix "
"FROM " SHARD_COLUMNS " s "
"JOIN tables t ON t.relid = s.relid AND t.pkey_attnum = s.attnum "
"JOIN indexes p ON p.indexid = t.pkey "
"WHERE s.shards < 2";

/*
 * Shards smaller than a page of the index: a read in order of the key visits
 * each of them, and so more pages than if it read the whole index.
 */
const char	sk_query_shard_count_large[] =
"SELECT s.relid, p.indexid, s.attnum, s.ident, s.name::text AS object, s.shards, t.rows, x.idx_scan AS scans, "
RESHARDING(SK_ADVISED_SHARDS) " AS fix "
"FROM " SHARD_COLUMNS " s "
"JOIN tables t ON t.relid = s.relid AND t.pkey_attnum = s.attnum "
"JOIN indexes p ON p.indexid = t.pkey "
"LEFT JOIN pg_stat_all_indexes x ON x.indexrelid = p.indexid "
"WHERE s.shards > 16384 OR s.shards > 64 AND t.rows >= 1000 AND s.shards * 100 > t.rows";

/*
 * A first column of the key, not the whole key, one value of which has very
 * many rows.  Where the key goes on with a time, these can be split by it.
 */
const char	sk_query_wide_partition[] =
"SELECT c.relid, p.indexid, c.attnum, c.ident, c.name::text AS object, c.quoted, "
" m.top_share * m.rows AS top_rows, "
" CASE WHEN NOT t.referenced AND t.can_widen AND NOT t.has_children AND p.keys < 32 "
"  AND NOT EXISTS (SELECT FROM pg_attribute o WHERE o.attrelid = t.relid AND o.attname = 'shard_id') "
"  AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = t.relid AND a.attnum = ANY (p.indkey::int2[]) AND NOT " SK_HASHABLE ") THEN "
"  format('SELECT spanner.add_shard_key(%L, %L, " SK_ADVISED_SHARDS "%s, dry_run => false)', c.ident, "
"   CASE WHEN b.attname IS NOT NULL THEN ARRAY[c.name, b.attname] ELSE "
"   (SELECT array_agg(a.attname ORDER BY u.n) FROM unnest(p.indkey::int2[]) WITH ORDINALITY u (attnum, n) "
"    JOIN pg_attribute a ON a.attrelid = c.relid AND a.attnum = u.attnum WHERE u.n <= p.keys) END, "
"   CASE WHEN b.attname IS NOT NULL THEN ', time_bucket => ''1 day''' END) END AS fix "
"FROM columns c "
"JOIN tables t ON t.relid = c.relid AND t.pkey_attnum = c.attnum "
"JOIN indexes p ON p.indexid = t.pkey AND p.keys > 1 "
"JOIN measured m ON m.relid = c.relid AND m.attnum = c.attnum "
"LEFT JOIN LATERAL (SELECT a.attname FROM pg_attribute a WHERE a.attrelid = c.relid "
" AND a.attnum = ANY (p.indkey::int2[]) AND a.attnum <> c.attnum "
" AND a.atttypid = ANY ('{timestamp,timestamptz}'::regtype[]) LIMIT 1) b ON true "
"WHERE c.source IS DISTINCT FROM 'shard' AND m.top_share * m.rows >= 100000 "
"AND NOT EXISTS (SELECT FROM suspects s WHERE s.relid = c.relid AND s.attnum = c.attnum)";
