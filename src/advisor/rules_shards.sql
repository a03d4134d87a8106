/* src/advisor/rules_shards.sql */

-- Advisor: shards, partitions in the sense of Cassandra, tables that Citus distributes

-- Shard columns, with the number of shards if that is a constant, and the statement that replaces
-- the column by one with another number of the same keys.
CREATE FUNCTION spanner_internal.shard_columns(facts spanner_internal.advisor_facts, wanted integer)
RETURNS TABLE (relid oid, attnum smallint, name name, expr text, calls text[], shards numeric,
  pkey oid, pkey_attnum smallint,
  rows float8, reshard text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
  SELECT c.relid, c.attnum, c.name, c.expr, c.calls, n.shards, t.pkey, t.pkey_attnum, t.rows,
         CASE WHEN n.shards IS NOT NULL AND k.key IS NOT NULL THEN
           format('SELECT spanner.add_shard_key(%L, %L, %s, column_name => %L%s, dry_run => false)',
                  c.ident, k.key, coalesce(wanted, n.shards), c.name,
                  coalesce(', time_bucket => ' || quote_literal(n.time_bucket), '')) END
    FROM unnest((facts).columns) c
    JOIN unnest((facts).tables) t ON t.relid = c.relid
    LEFT JOIN pg_attrdef d ON d.adrelid = c.relid AND d.adnum = c.attnum
    LEFT JOIN LATERAL spanner_internal.read_shard_key(d.adbin, d.adrelid) n ON true
   CROSS JOIN LATERAL (
     SELECT CASE WHEN c.generated AND n.key_columns IS NOT NULL
                  AND (spanner_internal.find_shard_obstacle(c.relid, c.name, n.key_columns)).code
                      IS NULL
                 THEN n.key_columns END AS key OFFSET 0) k
   WHERE c.source = 'shard';
END;

-- What holds the rows of a table, and has a column in its replica identity: the table or its
-- partitions; and the statements that give each another identity.
CREATE FUNCTION spanner_internal.identities_with(relation oid, column_name name, columns text)
RETURNS TABLE (tables bigint, statements text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
  SELECT count(*),
         string_agg(
           CASE WHEN columns IS NOT NULL
                THEN format('CREATE UNIQUE INDEX %1$I ON %2$I.%3$I (%4$s); '
                           'ALTER TABLE %2$I.%3$I REPLICA IDENTITY USING INDEX %1$I',
                           spanner_internal.new_index_name(n.nspname, c.relname, 'identity'),
                           n.nspname, c.relname, columns) END,
                    '; ' ORDER BY n.nspname, c.relname)
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute g ON g.attrelid = c.oid AND g.attname = column_name
   WHERE c.relkind = 'r' AND c.relreplident <> 'n'
     AND c.oid IN (SELECT spanner_internal.list_parts(relation))
     AND (c.relreplident = 'f' OR EXISTS (SELECT FROM pg_index i
            WHERE i.indrelid = c.oid AND g.attnum = ANY (i.indkey::int2[])
              AND CASE c.relreplident WHEN 'd' THEN i.indisprimary ELSE i.indisreplident END));
END;

-- The findings of these rules.
CREATE FUNCTION spanner_internal.rules_shards(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL RESTRICTED
BEGIN ATOMIC
  -- The remainder of a hash keeps its sign, and 0 is the remainder of positive and of negative
  -- hashes.  The planner knows that of farm_fingerprint().
  SELECT 'shard_signed', s.relid, 0::oid, s.attnum, s.name::text,
         format('the remainder of a hash has a sign: %sshard 0 gets twice as many rows as any '
                'other, and a list of all shards needs the negative ones too',
                'there are ' || 2 * substring(s.calls[1] from '\d+')::numeric - 1 || ' shards, ')
         || CASE WHEN s.calls[2] = 'farm_fingerprint'
                 THEN '; abs() around the remainder makes them even'
                 ELSE '; decide on spanner.shard_id(), which is even, and which the planner knows'
                 END
         || ': ' || s.expr,
         NULL
    FROM spanner_internal.shard_columns(facts, NULL) s
   WHERE starts_with(s.calls[1], '%') AND s.calls[2] ~ 'fingerprint|hash'
   UNION ALL
  -- A generated column in the replica identity is not published: updates and deletions fail, here
  -- or at the subscriber.  From release 18 on it can be.  Citus publishes a shard while it moves
  -- it, without generated columns in any release.
  SELECT 'shard_published', t.relid, 0::oid, g.attnum, g.attname::text,
         format(CASE WHEN b.published THEN
             'the table is published, and its replica identity contains the generated column '
             '%I, which is not: updates and deletions fail, here or at the subscriber'
           ELSE 'the replica identity contains the generated column %I, which Citus does not send: '
                'if rows of a shard change while it is moved, the move never ends' END, g.attname)
         || CASE WHEN x.statements IS NULL THEN '; decide on a unique index without it'
                 ELSE '' END,
         x.statements
    FROM unnest((facts).tables) t
    JOIN pg_attribute g ON g.attrelid = t.relid AND g.attgenerated <> ''
    LEFT JOIN spanner_internal.list_distributions() d ON d.relid = t.relid AND d.method <> 'l'
   CROSS JOIN LATERAL (
     SELECT t.is_published AND EXISTS (
       SELECT FROM pg_publication p
         JOIN spanner_internal.list_published() b ON b.pubid = p.oid
        WHERE b.relid = t.relid AND (p.pubupdate OR p.pubdelete)
          AND coalesce(to_jsonb(p) ->> 'pubgencols', 'n') = 'n'
          AND NOT (coalesce(to_jsonb(p) ->> 'pubgencols', '') <> ''
                   AND coalesce(g.attnum = ANY (b.columns), false))) AS published) b
   -- the rest of the identity, with what does not grow in front
   CROSS JOIN LATERAL (
     SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY s.attnum IS NOT NULL, u.n) AS columns
       FROM pg_index i
      CROSS JOIN unnest(i.indkey::int2[]) WITH ORDINALITY u (attnum, n)
       JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.attnum
        AND a.attgenerated = ''
       LEFT JOIN unnest((facts).columns) s ON s.relid = t.relid AND s.attnum = u.attnum
        AND s.why IS NOT NULL
      WHERE i.indexrelid = t.pkey AND u.n <= i.indnkeyatts) k
   CROSS JOIN LATERAL spanner_internal.identities_with(t.relid, g.attname, k.columns) x
   WHERE (b.published OR d.relid IS NOT NULL) AND x.tables > 0
   UNION ALL
  -- Shard columns that are in no index and in no partition key.
  SELECT 'shard_unused', s.relid, 0::oid, s.attnum, s.name::text,
         'no index begins with this shard column'
           || CASE WHEN s.reshard IS NULL THEN '; decide which one should' ELSE '' END,
         s.reshard
    FROM spanner_internal.shard_columns(facts, NULL) s
   WHERE NOT EXISTS (SELECT FROM unnest((facts).indexes) i
                      WHERE i.relid = s.relid AND s.attnum = ANY (i.indkey))
     AND NOT EXISTS (SELECT FROM pg_partitioned_table h
                      WHERE h.partrelid = s.relid AND s.attnum = ANY (h.partattrs::int2[]))
   UNION ALL
  -- A shard that nobody can compute from the row.
  SELECT 'shard_random', c.relid, p.indexid, c.attnum, c.name::text,
         format('the default of %s is random, %s: a search by the rest of the key has to ask every '
                'shard, and the rest is not unique; if it is meant to be, a column GENERATED '
                'ALWAYS AS (spanner.shard_id(16, %s)) STORED can be computed from it', c.quoted,
                c.expr, k.columns),
         NULL
    FROM unnest((facts).columns) c
    JOIN unnest((facts).tables) t ON t.relid = c.relid AND t.pkey_attnum = c.attnum
    JOIN unnest((facts).indexes) p ON p.indexid = t.pkey AND p.keys > 1
   CROSS JOIN LATERAL spanner_internal.column_list(c.relid, p.indkey[2:p.keys]) k (columns)
   WHERE c.source = 'random' AND 'random' = ANY (c.calls)
     AND c.type = ANY ('{int2,int4,int8,numeric,float8}'::regtype[])
   UNION ALL
  -- Keys that begin with a shard column of one shard, or of shards smaller than a page of the
  -- index: a read in the order of the key visits each shard, and so more pages than if it read the
  -- whole index.
  SELECT r.rule, s.relid, s.pkey, s.attnum, s.name::text,
         format(r.finding, s.shards, s.rows, coalesce(pg_stat_get_numscans(s.pkey), 0))
         || CASE WHEN s.reshard IS NULL THEN '; decide how to make the column anew' ELSE '' END,
         s.reshard
    FROM spanner_internal.shard_columns(facts, 16) s
    JOIN (VALUES
      (true, 'shard_count_small', '%s shard spreads nothing'),
      (false, 'shard_count_large', '%s shards for about %s rows, read %s times through the key: a '
                                   'read in order of time visits all of them'))
      r (is_small, rule, finding) ON r.is_small = (s.shards < 2)
   WHERE s.pkey_attnum = s.attnum
     AND (s.shards < 2 OR s.shards > 16384
          OR s.shards > 64 AND s.rows >= 1000 AND s.shards * 100 > s.rows)
   UNION ALL
  -- A first column of a longer key, one value of which has very many rows or bytes. Cassandra's
  -- partition key may have several columns.  So a second column that is a hash or a bucket divides
  -- the rows already; it is recognized by its name, its type or its few values.  If the key goes on
  -- with a time, rows can be split by that.
  SELECT 'wide_partition', c.relid, c.indexid, c.attnum, c.name::text,
         format('about %s rows%s have one value of %s, which comes first in the primary key',
                round(c.top_rows),
                CASE WHEN c.top_bytes >= 2147483648
                     THEN format(', %s,', pg_size_pretty(c.top_bytes::bigint)) END, c.quoted)
         || CASE WHEN k.key IS NULL
                 THEN '; decide how to split them, by a hash or a time bucket' ELSE '' END,
         CASE WHEN k.key IS NOT NULL THEN
           format('SELECT spanner.add_shard_key(%L, %L, 16%s, dry_run => false)', c.ident,
                  CASE WHEN b.attname IS NOT NULL THEN ARRAY[c.name, b.attname] ELSE k.key END,
                  CASE WHEN b.attname IS NOT NULL THEN ', time_bucket => ''1 day''' END) END
    FROM (SELECT c.relid, p.indexid, p.indkey, c.attnum, c.name, c.quoted, c.ident,
                 w.rows AS top_rows, w.bytes AS top_bytes
            FROM unnest((facts).columns) c
    JOIN unnest((facts).tables) t ON t.relid = c.relid AND t.pkey_attnum = c.attnum
    JOIN unnest((facts).indexes) p ON p.indexid = t.pkey AND p.keys > 1
    JOIN pg_attribute d ON d.attrelid = c.relid AND d.attnum = p.second
    LEFT JOIN unnest((facts).columns) e ON e.relid = c.relid AND e.attnum = p.second
   CROSS JOIN LATERAL (SELECT c.top_share * c.rows AS rows, c.top_share * t.bytes AS bytes) w
   WHERE c.source IS DISTINCT FROM 'shard' AND (w.rows >= 100000 OR w.bytes >= 2147483648)
     AND c.why IS NULL AND e.source IS DISTINCT FROM 'shard'
     AND (p.keys > 2 AND (d.atttypid = 'date'::regtype
            OR d.atttypid = ANY ('{int2,int4,int8,text,varchar}'::regtype[])
               AND (d.attname ~* 'hash|shard|bucket|prefix|salt'
                    OR e.rows >= 1000 AND e.distinct_values * 1000 <= e.rows))) IS NOT TRUE
          OFFSET 0) c
   CROSS JOIN LATERAL (SELECT spanner_internal.shardable_key(c.relid) AS key OFFSET 0) k
    LEFT JOIN LATERAL (SELECT a.attname FROM pg_attribute a
                        WHERE a.attrelid = c.relid AND a.attnum = ANY (c.indkey)
                          AND a.attnum <> c.attnum
                          AND a.atttypid = ANY ('{timestamp,timestamptz}'::regtype[]) LIMIT 1) b
                            ON true
   UNION ALL
  -- A few shard ids reach few of the ranges of hashes, of which there are 32.
  SELECT 'citus_shard', c.relid, 0::oid, c.attnum, c.name::text,
         format('the table is distributed by %s, a shard id, whose few values Citus hashes once '
                'more: they reach few of its shards, and queries are not sent to one of them '
                'unless they name it; decide on the entity that queries name', c.quoted),
         NULL
    FROM unnest((facts).columns) c
    JOIN unnest((facts).tables) t ON t.relid = c.relid AND t.distribution = c.attnum
   WHERE c.source = 'shard'
   UNION ALL
  -- The nodes keep a key unique only if it contains the column by which they are told apart.
  SELECT 'citus_key', t.relid, t.pkey, a.attnum, a.attname::text,
         format('the primary key does not contain %I, by which the table is distributed, so '
                'nothing keeps it unique over the nodes; decide on a key that does', a.attname),
         NULL
    FROM (SELECT x.* FROM unnest((facts).tables) x WHERE x.distribution > 0 OFFSET 0) t
    JOIN unnest((facts).indexes) p ON p.indexid = t.pkey
    JOIN pg_attribute a ON a.attrelid = t.relid AND a.attnum = t.distribution
   WHERE t.distribution <> ALL (p.indkey)
   UNION ALL
  -- Workers refuse to draw from sequences of these columns.  A line for each schema.
  SELECT 'citus_narrow', CASE count(*) WHEN 1 THEN min(t.relid) ELSE 0 END, 0::oid, 0::int2,
         t.nspname::text,
         format(CASE count(*) WHEN 1
                  THEN 'column %3$s uses a sequence and has 32 bits or less'
                  ELSE '%s columns of schema %I use sequences and have 32 bits or less, such as '
                       '%s' END,
                count(*), t.nspname, min(format('%I.%I', t.relname, c.name) COLLATE "C"))
         || ': Citus refuses inserts through its workers; decide on bigint, before the tables are '
            'distributed',
         NULL
    FROM unnest((facts).columns) c
    JOIN unnest((facts).tables) t ON t.relid = c.relid AND t.target = 'citus'
   WHERE c.source = ANY ('{sequence,mapped}') AND c.type = ANY ('{int2,int4}'::regtype[])
   GROUP BY t.nspname;
END;
