/*-------------------------------------------------------------------------
 *
 * rules_indexes.c
 *	  Queries of the rules about superfluous, sparse and slow indexes, and
 *	  about what could not be looked at.
 *
 * src/advisor/rules_indexes.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "advisor/rules.h"

const char	sk_query_index_redundant[] =
"SELECT i.relid, i.indexid, i.attnum, i.ident, i.name::text AS object, i.nspname, o.relname AS other "
"FROM redundant r "
"JOIN indexes i ON i.indexid = r.indexid "
"JOIN pg_class o ON o.oid = r.other";

/* An index on a column that is mostly NULL, of which only the rest is of use. */
const char	sk_query_index_null_filtered[] =
"SELECT i.relid, i.indexid, i.attnum, i.ident, i.name::text AS object, c.quoted, m.null_share, "
" CASE WHEN i.constraint_id IS NULL AND NOT i.is_needed THEN "
"  format('DROP INDEX %I.%I; %s WHERE %s IS NOT NULL', i.nspname, i.name, "
"   CASE WHEN t.relkind = 'p' THEN regexp_replace(pg_get_indexdef(i.indexid), '^(CREATE (UNIQUE )?INDEX (\"([^\"]|\"\")*\"|[^ \"]+) ON )ONLY ', '\\1') "
"   ELSE pg_get_indexdef(i.indexid) END, c.quoted) END AS fix "
"FROM indexes i "
"JOIN tables t ON t.relid = i.relid "
"JOIN columns c ON c.relid = i.relid AND c.attnum = i.attnum "
"JOIN measured m ON m.relid = i.relid AND m.attnum = i.attnum "
"WHERE i.is_btree AND i.predicate IS NULL AND i.keys = 1 AND m.null_share >= 0.5 AND m.rows >= 1000 "
"AND NOT EXISTS (SELECT FROM suspects s WHERE s.relid = i.relid AND s.attnum = i.attnum) "
"AND NOT EXISTS (SELECT FROM redundant r WHERE r.indexid = i.indexid)";

/*
 * An index through which many rows are fetched from a table that is seldom
 * written, where the few columns that it lacks are small.
 */
const char	sk_query_index_storing[] =
"SELECT i.relid, i.indexid, i.attnum, i.ident, i.name::text AS object, x.idx_tup_fetch AS fetched, w.columns, "
" format('DROP INDEX %I.%I; %s', i.nspname, i.name, "
"  regexp_replace(pg_get_indexdef(i.indexid), '( WITH \\(.*\\)| WHERE .*|)$', format(' INCLUDE (%s)\\1', replace(w.columns, '\\', '\\\\')))) AS fix "
"FROM indexes i "
"JOIN tables t ON t.relid = i.relid AND t.relkind = 'r' "
"JOIN pg_stat_all_indexes x ON x.indexrelid = i.indexid "
"JOIN pg_stat_all_tables a ON a.relid = i.relid "
"JOIN LATERAL (SELECT string_agg(quote_ident(s.attname), ', ' ORDER BY s.attname) AS columns, sum(s.avg_width) AS width, count(*) AS count "
" FROM pg_stats s JOIN pg_attribute c ON c.attrelid = i.relid AND c.attname = s.attname "
" WHERE s.schemaname = i.nspname AND s.tablename = a.relname AND NOT s.inherited "
" AND c.attnum <> ALL (i.indkey::int2[])) w ON w.count BETWEEN 1 AND 3 AND w.width <= 32 "
"WHERE i.is_btree AND i.constraint_id IS NULL AND NOT i.is_needed AND NOT i.storing AND i.predicate IS NULL "
"AND NOT i.is_unique AND NOT 0 = ANY (i.indkey::int2[]) "
"AND (SELECT count(*) FROM pg_attribute c WHERE c.attrelid = i.relid AND c.attnum > 0 AND NOT c.attisdropped "
" AND c.attnum <> ALL (i.indkey::int2[])) = w.count "
"AND x.idx_tup_fetch >= 100000 AND x.idx_tup_fetch >= 10 * (a.n_tup_ins + a.n_tup_upd + a.n_tup_del) "
"AND NOT EXISTS (SELECT FROM suspects s WHERE s.relid = i.relid AND s.attnum = i.attnum) "
"AND NOT EXISTS (SELECT FROM redundant r WHERE r.indexid = i.indexid)";

/* Tables whose statistics or rows the caller may not see. */
const char	sk_query_no_privilege[] =
"SELECT t.relid, 0::oid AS indexid, 0::int2 AS attnum, t.ident, t.relname::text AS object "
"FROM tables t "
"WHERE EXISTS (SELECT FROM columns c JOIN indexes i ON i.relid = c.relid AND i.attnum = c.attnum "
" WHERE c.relid = t.relid AND (c.source IS NULL OR c.source = 'time') "
" AND (NOT t.is_usable OR NOT has_column_privilege(c.relid, c.attnum, 'SELECT') OR row_security_active(c.relid)))";

/* Tables of some size that have never been analyzed. */
const char	sk_query_no_statistics[] =
"SELECT t.relid, 0::oid AS indexid, 0::int2 AS attnum, t.ident, t.relname::text AS object "
"FROM tables t "
"WHERE t.relkind = 'r' AND t.rows < 0 AND pg_relation_size(t.relid) >= 1048576 "
"AND NOT EXISTS (SELECT FROM statistics s WHERE s.relid = t.relid)";
