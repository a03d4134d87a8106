/*-------------------------------------------------------------------------
 *
 * rules_keys.c
 *	  Queries of the rules about sequences, keys and parents.
 *
 * src/advisor/rules_keys.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "advisor/rules.h"

/* A command that makes the sequence of a suspect "s" a bit-reversed one. */
#define CONVERSION \
	"CASE WHEN q.seqincrement < 1 OR q.seqcycle OR q.seqmin < 1 " \
	"  OR NOT s.type = ANY ('{int2,int4,int8}'::regtype[]) THEN NULL " \
	" WHEN s.owned THEN format('SELECT spanner.convert_column(%L, %L)', s.ident, s.name) " \
	" ELSE format('SELECT spanner.alter_sequence(%L, kind => ''bit_reversed_positive'')', " \
	"  s.seqid::regclass) END"

const char	sk_query_key_sequence[] =
"SELECT s.relid, p.indexid, s.attnum, s.ident, s.name::text AS object, s.quoted, s.seqid::regclass AS sequence, " CONVERSION " AS conversion, "
" n.natural_keys "
"FROM suspects s "
"JOIN tables t ON t.relid = s.relid AND t.pkey_attnum = s.attnum "
"JOIN indexes p ON p.indexid = t.pkey "
"JOIN pg_sequence q ON q.seqrelid = s.seqid "
"LEFT JOIN (SELECT c.relid, string_agg(format('(%s)', c.list), ' or ' ORDER BY c.list) AS natural_keys "
"  FROM (SELECT i.relid, string_agg(quote_ident(a.attname), ', ' ORDER BY u.n) AS list FROM indexes i "
"   JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY u (attnum, n) ON u.n <= i.keys "
"   JOIN pg_attribute a ON a.attrelid = i.relid AND a.attnum = u.attnum "
"   WHERE i.is_unique AND NOT i.is_primary AND i.predicate IS NULL AND NOT 0 = ANY (i.indkey::int2[]) "
"   GROUP BY i.relid, i.indexid HAVING bool_and(a.attnotnull)) c GROUP BY c.relid) n ON n.relid = s.relid "
"WHERE s.why = 'sequence'";

const char	sk_query_index_sequence[] =
"SELECT DISTINCT ON (s.relid, s.attnum) s.relid, i.indexid, s.attnum, s.ident, i.name::text AS object, s.quoted, "
" s.seqid::regclass AS sequence, " CONVERSION " AS conversion "
"FROM suspects s "
"JOIN tables t ON t.relid = s.relid AND t.pkey_attnum IS DISTINCT FROM s.attnum "
"JOIN indexes i ON i.relid = s.relid AND i.attnum = s.attnum AND i.is_btree "
"JOIN pg_sequence q ON q.seqrelid = s.seqid "
"WHERE s.why = 'sequence' "
"ORDER BY s.relid, s.attnum, i.indexid";

/*
 * Hibernate and JPA draw keys from a sequence that no column refers to, but
 * whose name tells what it is for.
 */
const char	sk_query_key_application_sequence[] =
"SELECT t.relid, p.indexid, a.attnum, t.ident, a.attname::text AS object, quote_ident(a.attname) AS quoted, "
" c.oid::regclass AS sequence "
"FROM tables t "
"JOIN indexes p ON p.indexid = t.pkey AND p.keys = 1 "
"JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum = p.attnum AND a.atttypid = ANY ('{int4,int8}'::regtype[]) "
" AND a.attidentity = '' AND NOT a.atthasdef "
"JOIN pg_namespace n ON n.nspname = t.nspname "
"JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind = 'S' "
" AND c.relname = ANY (ARRAY[t.relname || '_seq', t.relname || '_' || a.attname || '_seq']) "
"JOIN pg_sequence q ON q.seqrelid = c.oid AND q.seqincrement > 0 AND NOT q.seqcycle AND q.seqmin > 0 "
"WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid "
" AND d.deptype = ANY ('{a,i,e}')) "
"AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid "
" AND d.classid = 'pg_attrdef'::regclass) "
"AND NOT EXISTS (SELECT FROM pg_seclabel l WHERE l.objoid = c.oid AND l.classoid = 'pg_class'::regclass "
" AND l.provider = 'spanner_keys')";

/*
 * A unique index of columns that are not null can become the key.  Else a
 * random UUID can, if a column can still be added.  A table that is
 * partitioned by an expression or has foreign partitions cannot have a key.
 */
const char	sk_query_key_missing[] =
"SELECT t.relid, 0::oid AS indexid, 0::int2 AS attnum, t.ident, t.relname::text AS object, u.name, "
" CASE WHEN t.relkind = 'p' THEN NULL "
"  WHEN u.name IS NOT NULL AND u.constraint_id IS NULL THEN "
"   format('ALTER TABLE %s ADD PRIMARY KEY USING INDEX %I', t.ident, u.name) "
"  WHEN u.name IS NULL AND t.can_widen AND NOT t.has_children "
"   AND NOT EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = t.relid) AND NOT EXISTS "
"   (SELECT FROM pg_attribute a WHERE a.attrelid = t.relid AND a.attname = 'row_id') THEN "
"   format('ALTER TABLE %s ADD COLUMN row_id uuid DEFAULT gen_random_uuid() PRIMARY KEY', t.ident) END AS fix "
"FROM tables t "
"LEFT JOIN (SELECT DISTINCT ON (i.relid) i.relid, i.name, i.constraint_id FROM "
" (SELECT i.relid, i.indexid, i.name, i.constraint_id, i.keys FROM indexes i "
"  JOIN pg_index x ON x.indexrelid = i.indexid AND x.indimmediate "
"  JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY u (attnum, n) ON u.n <= i.keys "
"  JOIN pg_attribute a ON a.attrelid = i.relid AND a.attnum = u.attnum "
"  WHERE i.is_unique AND i.is_btree AND i.predicate IS NULL AND NOT 0 = ANY (i.indkey::int2[]) "
"  GROUP BY 1, 2, 3, 4, 5 HAVING bool_and(a.attnotnull)) i "
" ORDER BY i.relid, i.constraint_id IS NOT NULL, i.keys, i.indexid) u ON u.relid = t.relid "
"WHERE t.pkey IS NULL AND t.can_have_key";

/*
 * Expressions that take the remainder of a bit-reversed id by an even
 * number, or its low bits.  Their texts are looked at, so that constraints,
 * indexes, partition keys and generated columns are found alike.
 */
const char	sk_query_key_modulo[] =
"SELECT c.relid, e.indexid, c.attnum, c.ident, e.object, c.quoted, e.kind, e.definition "
"FROM columns c "
"JOIN (SELECT k.conrelid AS relid, 0::oid AS indexid, k.conname::text AS object, 'CHECK constraint' AS kind, "
"  pg_get_constraintdef(k.oid) AS definition FROM pg_constraint k WHERE k.contype = 'c' AND k.conrelid <> 0 "
" UNION ALL SELECT i.relid, i.indexid, i.name::text, 'index', "
"  substr(pg_get_indexdef(i.indexid), strpos(pg_get_indexdef(i.indexid), ' USING ')) "
"  FROM indexes i WHERE 0 = ANY (i.indkey::int2[]) OR i.predicate IS NOT NULL "
" UNION ALL SELECT h.partrelid, 0, r.relname::text, 'partition key', pg_get_partkeydef(h.partrelid) "
"  FROM pg_partitioned_table h JOIN tables r ON r.relid = h.partrelid WHERE h.partexprs IS NOT NULL "
" UNION ALL SELECT g.relid, 0, g.name::text, 'generated column', g.expr FROM columns g WHERE g.generated) e "
"ON e.relid = c.relid "
"WHERE c.source = 'mapped' AND c.label ~ '^ *bit_reversed' "
"AND e.definition ~ (SELECT '(^|[^a-z0-9_\"])' || q.pattern || '\\)*(::[a-z ]+)?\\)* (% \\(?''?\\d*[02468]''?(\\D|$)|& )' "
" || '|\\mmod\\(\\(*' || q.pattern || '\\)*(::[a-z ]+)?, \\(?''?\\d*[02468]''?(\\D|$)' "
" FROM regexp_replace(c.quoted, '(\\W)', '\\\\\\1', 'g') q (pattern))";

/*
 * A foreign key to the whole key of its parent that is deleted with it, or
 * that the child's key contains: then the child belongs next to the parent.
 */
const char	sk_query_child_not_interleaved[] =
"SELECT t.relid, 0::oid AS indexid, 0::int2 AS attnum, t.ident, f.conname::text AS object, "
" f.confrelid::regclass AS parent, f.columns, NOT f.conkey <@ p.indkey::int2[] AS widened, "
" CASE WHEN t.referenced OR t.has_children OR f.missing OR cardinality(f.key) > 32 THEN NULL ELSE "
" format('ALTER TABLE %s DROP CONSTRAINT %I, ADD CONSTRAINT %I PRIMARY KEY (%s)', t.ident, t.pkey_name, t.pkey_name, "
"  (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY u.n) FROM unnest(f.key) WITH ORDINALITY u (attnum, n) "
"   JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum = u.attnum)) END AS fix "
"FROM tables t "
"JOIN indexes p ON p.indexid = t.pkey AND p.is_btree AND NOT p.storing AND NOT p.is_needed "
"JOIN LATERAL (SELECT k.conname, k.confrelid, k.conkey, k.confdeltype, "
"  (SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY u.n) FROM unnest(k.conkey) WITH ORDINALITY u (attnum, n) "
"   JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum = u.attnum) AS columns, "
"  k.conkey || ARRAY(SELECT v.attnum FROM unnest(p.indkey::int2[]) WITH ORDINALITY v (attnum, n) "
"   WHERE v.attnum <> ALL (k.conkey) ORDER BY v.n) AS key, "
"  EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = t.relid AND a.attnum = ANY (k.conkey) AND NOT a.attnotnull) AS missing "
" FROM pg_constraint k JOIN pg_index x ON x.indexrelid = k.conindid AND x.indisprimary "
" WHERE k.conrelid = t.relid AND k.contype = 'f' AND k.confrelid <> k.conrelid AND k.conparentid = 0 "
" ORDER BY k.confdeltype = 'c' DESC, k.conname) f "
"ON f.confdeltype = 'c' OR f.conkey <@ p.indkey::int2[] "
/* the key starts with the columns of one parent: that one it is with */
"WHERE NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conrelid = t.relid AND k.contype = 'f' "
" AND (string_to_array(p.indkey::text, ' ')::int2[])[1:cardinality(k.conkey)] @> k.conkey) "
"AND NOT EXISTS (SELECT FROM columns c WHERE c.relid = t.relid AND c.attnum = p.attnum AND c.source = 'shard') "
/* with several such parents it has to be decided which */
"AND (SELECT count(*) FROM pg_constraint k WHERE k.conrelid = t.relid AND k.contype = 'f' "
" AND (k.confdeltype = 'c' OR k.conkey <@ p.indkey::int2[]) AND k.confrelid <> k.conrelid AND k.conparentid = 0) = 1";

/* The largest tables first, as looking at a sequence takes a lock on it. */
const char	sk_query_sequence_near_end[] =
"SELECT s.relid, 0::oid AS indexid, s.attnum, s.ident, s.name::text AS object, s.quoted, s.type::regtype AS type, "
" s.used, CASE WHEN s.label IS NULL AND s.owned AND NOT s.used_elsewhere THEN format('ALTER TABLE %s ALTER COLUMN %s TYPE bigint', s.ident, s.quoted) "
"  || CASE WHEN s.identity THEN '' ELSE format('; ALTER SEQUENCE %s AS bigint', s.seqid::regclass) END END AS fix "
/* a sequence that is being dropped is waited for, and then has no size */
"FROM (SELECT b.*, CASE WHEN has_sequence_privilege(b.seqid, 'SELECT,USAGE') AND pg_relation_size(b.seqid) IS NOT NULL "
"  THEN pg_sequence_last_value(b.seqid) END::float8 / "
"  CASE WHEN b.type = 'int2'::regtype THEN 32767 ELSE 2147483647 END AS used, "
/* the type of a column that a view, a policy or the like uses cannot change */
"  EXISTS (SELECT FROM pg_depend d WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = b.relid AND d.refobjsubid = b.attnum "
"   AND (d.classid = ANY ('{pg_rewrite,pg_policy,pg_trigger}'::regclass[]) OR d.classid = 'pg_attrdef'::regclass "
"    AND NOT EXISTS (SELECT FROM pg_attrdef e WHERE e.oid = d.objid AND e.adnum = b.attnum))) "
"  OR EXISTS (SELECT FROM pg_partitioned_table h WHERE h.partrelid = b.relid AND b.attnum = ANY (h.partattrs::int2[])) AS used_elsewhere "
" FROM (SELECT c.* FROM columns c JOIN tables t ON t.relid = c.relid JOIN pg_class k ON k.oid = c.seqid "
"   WHERE c.source = ANY ('{sequence,mapped}') AND c.type = ANY ('{int2,int4}'::regtype[]) "
"   AND (c.label IS NULL OR c.label !~ 'bits') "
"   AND (k.relpersistence = 'p' OR NOT pg_is_in_recovery()) "
"   ORDER BY t.rows DESC, c.relid, c.attnum LIMIT 1000) b) s "
"WHERE s.used >= 0.75";

/* A row for each sequence, and a number that every transaction updates. */
const char	sk_query_counter_table[] =
"SELECT t.relid, 0::oid AS indexid, a.attnum, t.ident, a.attname::text AS object "
"FROM tables t "
"JOIN pg_attribute a ON a.attrelid = t.relid AND a.atttypid = ANY ('{int4,int8,numeric}'::regtype[]) "
" AND a.attname ~* '^(next|last|current)_?(val|value|id|hi|hi_value|number|no)$|^(sequence|seq|gen|counter)_?(val|value|count|next)$|^next_not_cached_value$' "
"JOIN pg_attribute n ON n.attrelid = t.relid AND n.atttypid = ANY ('{text,varchar,bpchar}'::regtype[]) AND n.attname ~* 'name|key|entity|table|seq|gen' "
"WHERE (SELECT count(*) FROM pg_attribute o WHERE o.attrelid = t.relid AND o.attnum > 0 AND NOT o.attisdropped) <= 4";
