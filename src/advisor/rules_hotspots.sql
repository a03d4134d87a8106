/* src/advisor/rules_hotspots.sql */

--
-- Advisor: keys and indexes that grow at one end
--
-- Only the first column counts, and only of a B-tree.  An index that another one
-- makes superfluous is not worth mending.  Neither is an index whose column is
-- mended as the key.
--

-- Primary keys whose first column is a suspect.  Those that draw from a sequence
-- are left out, as the sequence is changed instead.
CREATE FUNCTION spanner_internal.suspect_keys(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_hotspot
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
  SELECT s.relid, p.indexid, s.attnum, true, s.why, s.ident, s.name::text, s.quoted, s.expr, s.type,
         NULL,
         CASE WHEN w.columns IS NULL THEN ''
              ELSE format('; (%s) spreads too, if queries name %s', w.columns, w.first) END
         || CASE WHEN k.key IS NOT NULL THEN '; with a shard, ON CONFLICT has to name it as well'
                 WHEN t.referenced THEN '; foreign keys refer to it, so decide whether their '
                                        'tables get the shard column too'
                 ELSE '; a shard column cannot be added as it is, so decide on another key' END,
         CASE WHEN k.key IS NOT NULL THEN
           format('SELECT spanner.add_shard_key(%L, %L, 16, dry_run => false)', s.ident, k.key) END
    FROM (SELECT x.* FROM unnest((facts).suspects) x WHERE x.why <> 'sequence' OFFSET 0) s
    JOIN unnest((facts).tables) t ON t.relid = s.relid AND t.pkey_attnum = s.attnum
    JOIN unnest((facts).indexes) p ON p.indexid = t.pkey AND p.is_btree
   CROSS JOIN LATERAL (SELECT spanner_internal.shardable_key(s.relid) AS key OFFSET 0) k
   -- the key with a column in front that does not grow
    LEFT JOIN LATERAL (
      SELECT quote_ident(b.attname) AS first,
             concat_ws(', ', quote_ident(b.attname),
                       string_agg(quote_ident(a.attname), ', ' ORDER BY v.n)) AS columns
        FROM (SELECT u.attnum FROM unnest(p.indkey) WITH ORDINALITY u (attnum, n)
                JOIN pg_attribute o ON o.attrelid = s.relid AND o.attnum = u.attnum
               WHERE u.n BETWEEN 2 AND p.keys
                 AND o.atttypid <> ALL ('{date,timestamp,timestamptz,bool}'::regtype[])
                 AND NOT EXISTS (SELECT FROM unnest((facts).columns) c
                                  WHERE c.relid = s.relid AND c.attnum = u.attnum
                                    AND (c.is_few
                                         OR c.source = ANY ('{sequence,derived,now,uuid,time}')))
               ORDER BY u.n LIMIT 1) f
        JOIN pg_attribute b ON b.attrelid = s.relid AND b.attnum = f.attnum
       CROSS JOIN unnest(p.indkey) WITH ORDINALITY v (attnum, n)
        JOIN pg_attribute a ON a.attrelid = s.relid AND a.attnum = v.attnum
       WHERE v.n <= p.keys AND v.attnum <> f.attnum
       GROUP BY b.attname) w ON p.keys > 1;
END;

-- Statements that put the shard of a column in front of an index.  NULL for the
-- index of a constraint, or one that something else relies on.
CREATE FUNCTION spanner_internal.sharded_index(
  i spanner_internal.advisor_index, partitioned boolean, quoted text, type oid,
  collid oid, null_share float8)
RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE
RETURN CASE WHEN (i).constraint_id IS NULL AND NOT (i).is_needed AND (i).keys < 32
              AND type <> ALL ('{bool,float4,float8}'::regtype[])
              AND spanner_internal.is_hashable(type, coalesce(collid, 0))
  THEN spanner_internal.replaced_index(i, partitioned, 'sharded',
         format('btree (spanner.shard_id(16, %s), ', quoted)
           || substr(spanner_internal.index_body(i, partitioned), length('btree (') + 1)
         || CASE WHEN (i).predicate IS NULL AND null_share >= 0.5
                 THEN format(' WHERE %s IS NOT NULL', quoted) ELSE '' END)
  END;

-- Other indexes whose first column is such a suspect.
CREATE FUNCTION spanner_internal.suspect_indexes(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_hotspot
LANGUAGE sql STABLE PARALLEL UNSAFE ROWS 100
BEGIN ATOMIC
  SELECT s.relid, i.indexid, s.attnum, false, s.why, s.ident, i.name::text, s.quoted, s.expr,
         s.type,
         'the index begins with '
           || CASE WHEN i.attnum = 0
                   THEN format('%s, which grows with %s', i.expression, s.quoted) ELSE s.quoted END,
         CASE WHEN d.sharded IS NOT NULL AND i.is_unique
              THEN '; ON CONFLICT then has to name the shard as well'
              WHEN d.sharded IS NOT NULL THEN ''
              WHEN i.constraint_id IS NOT NULL
                THEN '; it belongs to a constraint, so decide whether that is needed'
              ELSE '; decide whether the index is needed' END,
         d.sharded
    FROM (SELECT x.* FROM unnest((facts).suspects) x WHERE x.why <> 'sequence' OFFSET 0) s
    JOIN unnest((facts).tables) t ON t.relid = s.relid
    JOIN unnest((facts).indexes) i ON i.relid = s.relid AND i.lead = s.attnum AND i.is_btree
     AND NOT i.is_primary AND NOT i.is_identity
   CROSS JOIN LATERAL (
     SELECT spanner_internal.sharded_index(i, t.relkind = 'p', s.quoted, s.type, s.collid,
                                           s.null_share) AS sharded
                       OFFSET 0) d
   WHERE NOT EXISTS (SELECT FROM unnest((facts).redundant) r WHERE r.indexid = i.indexid);
END;

-- First columns with few values before one that grows: inserts go to one place for
-- each value.  By statistics alone, few means fewer than the shards that would be
-- suggested.
CREATE FUNCTION spanner_internal.few_prefixes(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_hotspot
LANGUAGE sql STABLE PARALLEL UNSAFE ROWS 100
BEGIN ATOMIC
  SELECT f.relid, f.indexid, f.attnum, f.is_primary, 'few', f.ident, f.name, f.quoted, NULL, f.type,
         f.starts,
         CASE WHEN x.fix IS NULL AND f.is_primary
              THEN '; a shard column cannot be added as it is, so decide on another key'
              WHEN x.fix IS NULL THEN '; decide whether the index is needed'
              WHEN f.is_primary OR f.is_unique
                THEN '; with a shard, ON CONFLICT has to name it as well'
              ELSE '' END,
         x.fix
    FROM (SELECT c.relid, i.indexid, c.attnum, i.is_primary, i.is_unique, i.is_identity, c.ident,
                 i.name::text, c.quoted, c.type,
                 format('%s begins with %s, which has %s, and goes on with %s, which grows',
                        CASE WHEN i.is_primary THEN 'the primary key' ELSE 'the index' END,
                        c.quoted,
                        CASE WHEN m.rows >= 1000
                             THEN format('%s values', round(m.distinct_values::numeric))
                             ELSE 'few values by its name or type' END, s.quoted) AS starts,
                 i, t.relkind, s.quoted AS second_quoted, s.type AS second_type,
                 s.collid AS second_collid
            FROM unnest((facts).suspects) s
            JOIN unnest((facts).indexes) i ON i.relid = s.relid AND i.second = s.attnum
             AND i.is_btree
             AND i.attnum > 0
            JOIN unnest((facts).columns) c ON c.relid = i.relid AND c.attnum = i.attnum
             AND c.source IS DISTINCT FROM 'shard'
            JOIN unnest((facts).tables) t ON t.relid = s.relid
            LEFT JOIN unnest((facts).measures) m ON m.relid = c.relid AND m.attnum = c.attnum
           WHERE s.why <> 'ascending_data' AND NOT i.is_identity
             AND CASE WHEN m.rows >= 1000
                      THEN m.distinct_values <= CASE WHEN c.is_few THEN 100 ELSE 15 END
                      ELSE c.is_few END
             AND NOT EXISTS (SELECT FROM unnest((facts).redundant) r WHERE r.indexid = i.indexid)
             AND NOT EXISTS (SELECT FROM unnest((facts).suspects) x
                              WHERE x.relid = c.relid AND x.attnum = c.attnum)
          OFFSET 0) f
   CROSS JOIN LATERAL (SELECT CASE WHEN f.is_primary THEN
           (SELECT format('SELECT spanner.add_shard_key(%L, %L, 16, dry_run => false)', f.ident,
                          k.key)
              FROM (SELECT spanner_internal.shardable_key(f.relid) AS key OFFSET 0) k
                WHERE k.key IS NOT NULL)
         ELSE spanner_internal.sharded_index(f.i, f.relkind = 'p', f.second_quoted, f.second_type,
                                             f.second_collid, NULL) END AS fix
         OFFSET 0) x;
END;

-- Rules that differ in why the column is a suspect, and in what they say of it.  In a
-- finding, %1$s is the column, %2$s its default, %3$s how the index begins.
CREATE VIEW spanner_internal.hotspot_rule AS
  SELECT *
    FROM (VALUES
      ('key_derived', true, '{derived}'::text[],
       'column %1$s comes first in the primary key and is made of ascending numbers: %2$s'),
      ('key_now', true, '{now}',
       'column %1$s comes first in the primary key and its default is %2$s: all inserts go to one '
       'end of the key range'),
      ('key_uuid_default', true, '{uuid}',
       'column %1$s comes first in the primary key and its default, %2$s, begins with the time'),
      ('key_time', true, '{time}',
       'column %1$s comes first in the primary key: if rows are inserted in the order of this '
       'time, all go to one end'),
      ('key_uuid_data', true, '{uuid_data}',
       'column %1$s comes first in the primary key and holds UUIDs that begin with the time; have '
       'the application make random ones (version 4)'),
      ('key_few_prefixes', true, '{few}', '%3$s: all inserts go to as many places'),
      ('key_ascending_data', true, '{ascending_data}',
       'the rows are stored in the order of %1$s, which comes first in the primary key: they were '
       'loaded so, or it ascends'),
      ('index_now', false, '{now}',
       '%3$s, whose default is %2$s: all inserts go to one end of it, whatever its order'),
      ('index_time', false, '{time}',
       '%3$s: if rows are inserted in the order of this time, all go to one end of it'),
      ('index_uuid', false, '{uuid,uuid_data,derived}',
       '%3$s, whose values begin with the time or a counter'),
      ('index_few_prefixes', false, '{few}', '%3$s: all inserts go to as many places'),
      ('index_ascending_data', false, '{ascending_data}',
       'the rows are stored in the order of %1$s, with which the index begins: they were loaded '
       'so, or it ascends'))
    r (rule, is_key, reasons, finding);

GRANT SELECT ON spanner_internal.hotspot_rule TO PUBLIC;

-- A default that makes UUIDs of time is replaced.  For all other keys and indexes, the
-- suggestion was made with the facts.
CREATE FUNCTION spanner_internal.find_hotspots(facts spanner_internal.advisor_facts)
RETURNS TABLE (rule text, relid oid, indexid oid, attnum smallint, object text, finding text,
               suggestion text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
  SELECT r.rule, h.relid, h.indexid, h.attnum, h.object,
         format(r.finding, h.quoted, h.expr, h.starts)
         || CASE WHEN NOT u.has_default THEN h.decide
                 WHEN u.random IS NULL THEN '; decide on a random one' ELSE '' END,
         CASE WHEN u.has_default
              THEN format('ALTER TABLE %s ALTER COLUMN %s SET DEFAULT ', h.ident, h.quoted)
                || u.random
              ELSE h.suggestion END
    FROM unnest((facts).hotspots) h
    JOIN spanner_internal.hotspot_rule r ON r.is_key = h.is_key AND h.why = ANY (r.reasons)
   CROSS JOIN LATERAL (
     SELECT h.is_key AND h.why = 'uuid' AS has_default,
            CASE WHEN NOT EXISTS (SELECT FROM pg_attrdef d
                                   WHERE d.adrelid = h.relid AND d.adnum = h.attnum) THEN NULL
                 WHEN h.type = 'uuid'::regtype THEN 'gen_random_uuid()'
                 WHEN h.type = ANY ('{text,varchar}'::regtype[])
                   THEN 'spanner.generate_uuid()' END AS random) u;
END;

INSERT INTO spanner_internal.advisor_rule
SELECT r.rule, r.place, r.severity, '{splits,spanner}',
       CASE WHEN r.rule OPERATOR(pg_catalog.~~) 'key%' THEN
         'on one server that is no fault: it matters once the table is split by ranges of the key, '
         'and until then a shard in front makes each read in order of the key look at every shard'
       END,
       r.explanation
  FROM (VALUES
  ('key_derived', 30, 'warning',
   'The first column of a primary key is computed from an ascending sequence or an allocator, '
   'as in ''ORD-'' || nextval(''s''), by a default, a function or a trigger.'),
  ('key_now', 40, 'warning', 'The first column of a primary key is the time of insertion. Put '
                             'another column first, or a shard id.'),
  ('key_uuid_default', 50, 'warning',
   'The default of a key makes UUIDs of version 1, 6 or 7, or the like, whose high-order bits are '
   'a time. Version 4 is random.'),
  ('index_now', 80, 'warning',
   'The first column of an index is the time of insertion. Begin with the entity that is asked '
   'about, or with a shard id. Descending order only moves the hotspot to the other end.'),
  ('key_time', 120, 'notice', 'The first column of a primary key is a timestamp or a date, and '
                              'statistics do not say that it is scattered. Put another column '
                              'first, or a shard id.'),
  ('key_uuid_data', 130, 'notice',
   'Statistics or rows show that a key holds UUIDs of version 1, 6 or 7.'),
  ('key_few_prefixes', 132, 'notice',
   'The first column of a primary key has few values, such as a status or a region, and the second '
   'one grows. Inserts go to as many places as there are values. Put a shard id first.'),
  ('index_few_prefixes', 134, 'notice', 'The same for an index.'),
  ('index_time', 140, 'notice',
   'The first column of an index is a timestamp or a date, or an expression that grows with it, '
   'and statistics do not say that it is scattered.'),
  ('index_uuid', 150, 'notice',
   'The first column of an index holds UUIDs of version 1, 6 or 7, or values made of an ascending '
   'sequence.'),
  ('key_ascending_data', 230, 'info',
   'Statistics or rows show that the first column of a key, of whatever type, was inserted in '
   'ascending or descending order.'),
  ('index_ascending_data', 240, 'info', 'The same for the first column of an index.'))
  r (rule, place, severity, explanation);
