/*-------------------------------------------------------------------------
 *
 * rules_hotspots.c
 *	  Queries of the rules about keys and indexes that grow at one end.
 *
 * They differ in what the suspicion rests on.  Only the first column counts,
 * and only of a B-tree.  An index that another one makes superfluous is not
 * worth mending, and neither is an index whose column is mended as the key.
 *
 * src/advisor/rules_hotspots.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "advisor/rules.h"

/*
 * The columns of the primary key, as an array; NULL if spanner.add_shard_key
 * would refuse the table.
 */
#define SHARDABLE_KEY \
	"(SELECT CASE WHEN bool_and(" SK_HASHABLE ") " \
	"  AND NOT t.referenced AND t.can_widen AND NOT t.has_children AND p.keys < 32 " \
	"  AND NOT EXISTS (SELECT FROM pg_attribute o WHERE o.attrelid = t.relid AND o.attname = 'shard_id') " \
	"  THEN array_agg(a.attname ORDER BY u.n) END " \
	" FROM unnest(p.indkey::int2[]) WITH ORDINALITY u (attnum, n) " \
	" JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum = u.attnum WHERE u.n <= p.keys)"

/* Primary keys whose first column is a suspect, for these reasons. */
#define SUSPECT_KEYS(reasons) \
	"SELECT s.relid, p.indexid, s.attnum, s.ident, s.name::text AS object, s.quoted, s.expr, s.measured_rows, " \
	" t.referenced, t.pkey_name, s.type, " SHARDABLE_KEY " AS key " \
	"FROM suspects s " \
	"JOIN tables t ON t.relid = s.relid AND t.pkey_attnum = s.attnum " \
	"JOIN indexes p ON p.indexid = t.pkey AND p.is_btree " \
	"WHERE s.why = ANY ('{" reasons "}')"

/*
 * The definition of an index, up to its columns: as it is written and as it
 * is to be.  An index of a partitioned table is defined ONLY there, but made
 * on all partitions.
 */
#define INDEX_HEADS \
	"LATERAL (SELECT pg_get_indexdef(i.indexid) AS definition, " \
	" format('CREATE %sINDEX %I ON %s%s USING btree (', CASE WHEN i.is_unique THEN 'UNIQUE ' END, i.name, " \
	"  CASE WHEN t.relkind = 'p' THEN 'ONLY ' END, s.ident) AS head, " \
	" format('CREATE %sINDEX %I ON %s USING btree (', CASE WHEN i.is_unique THEN 'UNIQUE ' END, i.name, s.ident) AS new_head " \
	" OFFSET 0) d"

/*
 * The index with the shard in front; NULL where that is another constraint,
 * or where the index serves for more than looking up.
 */
#define SHARDED_INDEX \
	"CASE WHEN i.constraint_id IS NULL AND NOT i.is_needed AND i.keys < 32 AND starts_with(d.definition, d.head) " \
	" AND s.type = ANY ('{int2,int4,int8,text,varchar,bpchar,uuid,date,timestamp,timestamptz,numeric,bytea}'::regtype[]) " \
	" AND NOT EXISTS (SELECT FROM pg_collation c WHERE c.oid = s.collid AND NOT c.collisdeterministic) " \
	"THEN format('DROP INDEX %I.%I; %sspanner.shard_id(" SK_ADVISED_SHARDS ", %s), ', i.nspname, i.name, d.new_head, s.quoted) " \
	" || substr(d.definition, length(d.head) + 1) " \
	" || CASE WHEN i.predicate IS NULL AND s.null_share >= 0.5 THEN format(' WHERE %s IS NOT NULL', s.quoted) ELSE '' END " \
	"END"

/* Other indexes whose first column is a suspect, for these reasons. */
#define SUSPECT_INDEXES(reasons) \
	"SELECT s.relid, i.indexid, s.attnum, s.ident, i.name::text AS object, s.quoted, s.expr, s.measured_rows, " \
	" s.name, i.is_unique, i.constraint_id, " \
	SHARDED_INDEX " AS sharded " \
	"FROM suspects s " \
	"JOIN tables t ON t.relid = s.relid " \
	"JOIN indexes i ON i.relid = s.relid AND i.attnum = s.attnum AND i.is_btree AND NOT i.is_primary " \
	"CROSS JOIN " INDEX_HEADS " " \
	"WHERE s.why = ANY ('{" reasons "}') " \
	"AND NOT EXISTS (SELECT FROM redundant r WHERE r.indexid = i.indexid)"

const char	sk_query_key_derived[] = SUSPECT_KEYS("derived");
const char	sk_query_key_now[] = SUSPECT_KEYS("now");
const char	sk_query_key_time[] = SUSPECT_KEYS("time");
const char	sk_query_key_uuid_default[] = SUSPECT_KEYS("uuid");
const char	sk_query_key_uuid_data[] = SUSPECT_KEYS("uuid_data");
const char	sk_query_key_ascending_data[] = SUSPECT_KEYS("ascending_data");
const char	sk_query_index_now[] = SUSPECT_INDEXES("now");
const char	sk_query_index_time[] = SUSPECT_INDEXES("time");
const char	sk_query_index_uuid[] = SUSPECT_INDEXES("uuid,uuid_data,derived");
const char	sk_query_index_ascending_data[] = SUSPECT_INDEXES("ascending_data");
