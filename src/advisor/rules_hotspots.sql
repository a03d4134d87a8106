/* src/advisor/rules_hotspots.sql */

-- Advisor: keys and indexes that grow at one end.  Only the first column counts, and only of a
-- B-tree.  An index that another one makes superfluous is not worth mending.

-- Statements that put the shard of a column in front of an index.  NULL for the index of a
-- constraint, or one that something else relies on.
CREATE FUNCTION spanner_internal.sharded_index(
  i spanner_internal.advisor_index, quoted text, type oid, collid oid, null_share float8)
RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE
RETURN CASE WHEN (i).constraint_id IS NULL AND NOT (i).is_needed AND (i).keys < 32
              AND type <> ALL ('{bool,float4,float8}'::regtype[])
              AND spanner_internal.is_hashable(type, coalesce(collid, 0))
  THEN spanner_internal.replaced_index(i, 'sharded',
         format('btree (spanner.shard_id(16, %s), ', quoted)
           || substr(spanner_internal.index_body(i), length('btree (') + 1)
         || CASE WHEN (i).predicate IS NULL AND null_share >= 0.5
                 THEN format(' WHERE %s IS NOT NULL', quoted) ELSE '' END)
  END;

-- Keys and other indexes that grow at one end, and what to do about it.  They begin with a column
-- that grows, or with one of few values before such a column.  By statistics alone, few means fewer
-- than the shards that would be suggested.  A sequence is changed once.  A default that makes UUIDs
-- of time is replaced.  On one server such a key is no fault.
CREATE FUNCTION spanner_internal.advisor_hotspots(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL UNSAFE ROWS 1000
BEGIN ATOMIC
  WITH lead AS (
    SELECT q.relid, q.i, q.attnum, q.name, q.why, q.starts, q.quoted, q.type, q.collid,
           q.null_share, q.expr
      FROM (SELECT s.*, i,
                   CASE WHEN i.attnum = 0
                        THEN format('%s, which grows with %s', i.expression, s.quoted)
                        ELSE s.quoted END AS starts,
                   row_number() OVER (PARTITION BY s.relid, s.attnum
                                      ORDER BY i.is_primary DESC, i.indexid) AS place
              FROM unnest((facts).columns) s
              JOIN unnest((facts).indexes) i ON i.relid = s.relid AND i.lead = s.attnum
               AND i.is_btree
             WHERE s.why IS NOT NULL) q
     WHERE CASE WHEN q.why = 'sequence' THEN q.place = 1
                ELSE (q.i).is_primary OR NOT (q.i).is_identity AND (q.i).other IS NULL END
     UNION ALL
    SELECT c.relid, i, c.attnum, c.name, 'few',
           format('%s, which has %s, and goes on with %s, which grows', c.quoted,
                  CASE WHEN c.rows >= 1000
                       THEN format('%s values', round(c.distinct_values::numeric))
                       ELSE 'few values by its name or type' END, s.quoted),
           s.quoted, s.type, s.collid, NULL, NULL
      FROM unnest((facts).columns) s
      JOIN unnest((facts).indexes) i ON i.relid = s.relid AND i.second = s.attnum AND i.is_btree
       AND i.attnum > 0
      JOIN unnest((facts).columns) c ON c.relid = i.relid AND c.attnum = i.attnum
       AND c.source IS DISTINCT FROM 'shard' AND c.why IS NULL
     WHERE s.why <> 'ascending_data' AND NOT i.is_identity AND i.other IS NULL
       AND CASE WHEN c.rows >= 1000
                THEN c.distinct_values <= CASE WHEN c.is_few THEN 100 ELSE 15 END
                ELSE c.is_few END)
  SELECT r.rule, l.relid, (l.i).indexid, l.attnum,
         CASE WHEN (l.i).is_primary THEN l.name ELSE (l.i).name END,
         format('the %s begins with %s',
                CASE WHEN (l.i).is_primary THEN 'primary key' ELSE 'index' END, l.starts)
         || format(r.finding, coalesce(c.seqid::regclass::text, l.expr))
         || CASE
              WHEN l.why = 'sequence' THEN concat('; ' || n.columns
                || ' is unique too and could be the key instead', c.why_not)
              WHEN d.is_replaced AND d.random IS NULL THEN '; decide on a random one'
              WHEN d.is_replaced THEN ''
              WHEN x.fix IS NOT NULL AND (l.i).is_unique
                THEN concat(w.hint, '; with a shard, ON CONFLICT has to name it as well')
              WHEN x.fix IS NOT NULL THEN ''
              WHEN (l.i).is_primary AND (l.i).is_referenced
                THEN concat(w.hint, '; foreign keys refer to it, so decide whether their tables '
                                    'get the shard column too')
              WHEN (l.i).is_primary
                THEN concat(w.hint, '; a shard column cannot be added as it is, so decide on '
                                    'another key')
              WHEN (l.i).constraint_id IS NOT NULL
                THEN '; it belongs to a constraint, so decide whether that is needed'
              ELSE '; decide whether the index is needed' END,
         CASE WHEN l.why = 'sequence' THEN c.statement
              WHEN d.is_replaced THEN format('ALTER TABLE %s ALTER COLUMN %s SET DEFAULT ',
                                             t.ident, l.quoted) || d.random
              ELSE x.fix END
    FROM lead l
    JOIN unnest((facts).tables) t ON t.relid = l.relid
    JOIN (VALUES
      ('sequence', 'key_sequence', ', which takes its values from %s, one after the other: all '
                                   'inserts go to one end of it'),
      ('derived', 'key_derived', ', which is made of ascending numbers: %s'),
      ('now', 'key_now', ', whose default is %s: all inserts go to one end of it'),
      ('uuid', 'key_uuid', ', whose default, %s, begins with the time'),
      ('uuid_data', 'key_uuid', ', which holds UUIDs that begin with the time; have the '
                                'application make random ones (version 4)'),
      ('time', 'key_time', ': if rows are inserted in the order of this time, all go to one end '
                           'of it'),
      ('few', 'key_few_prefixes', ': all inserts go to as many places'),
      ('ascending_data', 'key_ascending_data', ', and the rows are stored in its order: they were '
                                               'loaded so, or it ascends'))
      r (why, rule, finding) ON r.why = l.why
    LEFT JOIN unnest((facts).conversions) c ON c.relid = l.relid AND c.attnum = l.attnum
     AND l.why = 'sequence'
    LEFT JOIN (SELECT i.relid,
                      string_agg(format('(%s)', i.could_be_key), ' or '
                                 ORDER BY i.could_be_key) AS columns
                 FROM unnest((facts).indexes) i WHERE i.could_be_key IS NOT NULL
                GROUP BY i.relid) n ON n.relid = l.relid AND (l.i).is_primary
   CROSS JOIN LATERAL (
     SELECT l.why = 'uuid' AND (l.i).is_primary AS is_replaced,
            CASE WHEN l.why <> 'uuid'
                   -- a UUID has 36 characters
                   OR NOT EXISTS (SELECT FROM pg_attribute a
                                   WHERE a.attrelid = l.relid AND a.attnum = l.attnum
                                     AND a.atthasdef AND a.atttypid = l.type
                                     AND a.atttypmod NOT BETWEEN 0 AND 39)
                   OR EXISTS (SELECT FROM pg_constraint k
                               WHERE k.conrelid = l.relid AND k.contype = 'c'
                                 AND l.attnum = ANY (k.conkey)) THEN NULL
                 WHEN l.type = 'uuid'::regtype THEN 'gen_random_uuid()'
                 WHEN l.type = ANY ('{text,varchar}'::regtype[])
                   THEN 'spanner.generate_uuid()' END AS random,
            l.why <> 'sequence' AND t.target = ANY ('{splits,spanner}') AS is_asked OFFSET 0) d
   CROSS JOIN LATERAL (
     SELECT CASE WHEN NOT d.is_asked OR d.is_replaced THEN NULL
                 WHEN (l.i).is_primary THEN
                   format('SELECT spanner.add_shard_key(%L, ', t.ident)
                   || quote_literal(spanner_internal.shardable_key(l.relid))
                   || ', 16, dry_run => false)'
                 ELSE spanner_internal.sharded_index(l.i, l.quoted, l.type, l.collid,
                                                     l.null_share) END AS fix
     OFFSET 0) x
    -- of keys of several columns, the first one behind the lead that does not grow
    LEFT JOIN (
      SELECT DISTINCT ON (p.indexid) p.indexid, b.attnum, b.attname AS name
        FROM unnest((facts).indexes) p
       CROSS JOIN LATERAL unnest(p.indkey[2:p.keys]) WITH ORDINALITY u (attnum, n)
        JOIN pg_attribute b ON b.attrelid = p.relid AND b.attnum = u.attnum
         AND b.atttypid <> ALL ('{date,timestamp,timestamptz,bool}'::regtype[])
        LEFT JOIN unnest((facts).columns) c ON c.relid = p.relid AND c.attnum = u.attnum
       WHERE p.is_primary
         AND (c.is_few OR c.source = ANY ('{sequence,derived,now,uuid,time}')) IS NOT TRUE
       ORDER BY p.indexid, u.n) k ON k.indexid = (l.i).indexid
   CROSS JOIN LATERAL (
     SELECT CASE WHEN d.is_asked AND l.why <> 'few' AND k.name IS NOT NULL THEN
              format('; (%s) spreads too, if queries name %I',
                     spanner_internal.column_list(
                       l.relid, k.attnum || array_remove((l.i).indkey[1:(l.i).keys], k.attnum)),
                     k.name) END AS hint
     OFFSET 0) w;
END;
