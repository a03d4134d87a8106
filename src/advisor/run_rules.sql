/* src/advisor/run_rules.sql */

-- Advisor: all rules, how severe their findings are for which targets, and what they look for

-- Rules that look at sequences, and may wait for locks, come last, in rules_keys() too.
-- Afterwards, what the others look at can be gone.
CREATE FUNCTION spanner_internal.run_rules(facts spanner_internal.advisor_facts)
RETURNS SETOF spanner_internal.advisor_finding
LANGUAGE sql STABLE PARALLEL UNSAFE
BEGIN ATOMIC
  SELECT * FROM unnest((facts).hotspots)
   UNION ALL
  -- What is no fault, in one line.
  SELECT 'ascending_keys', CASE count(*) WHEN 1 THEN min(h.relid) ELSE 0 END, 0::oid, 0::int2, NULL,
         format(CASE count(*) WHEN 1 THEN 'the key of the table ascends'
                              ELSE '%s tables have keys that ascend, %s of them by a sequence' END,
                count(*), count(*) FILTER (WHERE h.rule = 'key_sequence'))
         || ': fine on one server, where one end of an index stays in memory, while bit-reversed '
            'keys in an index larger than memory take 4.0 times the CPU and 9.5 times the WAL; it '
            'matters once tables are split by ranges of the key, as target => ''splits'' tells',
         NULL
    FROM unnest((facts).hotspots) h
    JOIN unnest((facts).tables) t ON t.pkey = h.indexid AND t.target = 'one_server'
  HAVING count(*) > 0
   UNION ALL
  SELECT * FROM spanner_internal.rules_indexes(facts)
   UNION ALL
  SELECT * FROM spanner_internal.rules_shards(facts)
   UNION ALL
  SELECT * FROM spanner_internal.rules_keys(facts);
END;

-- Suggestions can be applied in this order.  Advice without targets cannot be checked; its
-- explanation says why.
CREATE VIEW spanner_internal.advisor_rule AS
  SELECT r.rule COLLATE "C" AS rule, row_number() OVER () AS place, r.severity,
         CASE r.targets WHEN 'all' THEN '{one_server,splits,spanner,citus,cassandra}'
                        ELSE r.targets END::text[] AS targets,
         r.explanation
    FROM (VALUES
      ('reference_narrow', 'warning', 'all',
       'A column of 16 or 32 bits refers to a wider one. It breaks with the first larger value, '
       'such as a bit-reversed id.'),
      ('sequence_near_end', 'warning', 'all',
       'A sequence, or an application that gives keys, has come to three quarters of the values '
       'that the column, MAXVALUE or the bits of a kind allow.'),
      ('label_lost', 'warning', 'all',
       'A column holds values that its sequence, as it is, cannot have given: its kind was lost. '
       'Plain counters may meet the values that are stored.'),
      ('key_sequence', 'warning', '{splits,spanner}',
       'The first column of a key or an index takes its values from an ascending sequence. Have '
       'the bits reversed, or take attributes that identify the row and never change.'),
      ('key_derived', 'warning', '{splits,spanner}',
       'The first column of a key or an index is computed from an ascending sequence or an '
       'allocator, as in ''ORD-'' || nextval(''s''), by a default, a function or a trigger.'),
      ('key_now', 'warning', '{splits,spanner}',
       'The first column of a key or an index is the time of insertion. Begin with the entity '
       'that is asked about, or with a shard id. Descending order only moves the hotspot.'),
      ('key_uuid', 'warning', '{splits,spanner}',
       'The first column of a key or an index has UUIDs of version 1, 6 or 7, or the like, that '
       'begin with a time, by its default, statistics or rows. Version 4 is random.'),
      ('partition_bounds', 'warning', 'all',
       'A table is partitioned by ranges of ids that a kind spreads, and no partition takes many '
       'of them, or one takes nearly all.'),
      ('sequence_computed', 'warning', 'all',
       'A default or a function computes with values of a sequence that has a kind: a remainder, '
       'a part or a sum of them is not what it is of a counter.'),
      ('key_missing', 'warning', 'all',
       'A table without primary key cannot be split by key, and its rows cannot be named.'),
      ('key_columns', 'warning', '{spanner}',
       'A primary key or an index has more than 16 columns, which is the limit of Spanner.'),
      ('key_timeuuid', 'notice', '{cassandra}',
       'A column after the first one of a key has UUIDs of version 1, Cassandra''s timeuuid. '
       'PostgreSQL compares their bytes, which begin with the low bits of the time.'),
      ('key_modulo', 'warning', 'all',
       'A constraint, index, partition key or generated column takes id % n, n even, of a '
       'bit-reversed id, whose low bits are the highest of the counter and stay the same.'),
      ('shard_published', 'warning', 'all',
       'A published table, or one of Citus, has a generated shard column in its replica '
       'identity. Set that to a unique index of the old key, or publish generated columns.'),
      ('citus_key', 'warning', '{citus}',
       'The primary key of a table that Citus distributes lacks the distribution column.'),
      ('citus_narrow', 'notice', '{citus}',
       'A column of 32 or 16 bits uses a sequence. Workers of Citus number 64 bits only.'),
      ('citus_shard', 'warning', '{citus}',
       'Citus distributes a table by a shard id. It hashes by itself: 16 ids reach 12 of 32 '
       'shards.'),
      ('key_application_sequence', 'notice', '{splits,spanner}',
       'A sequence named like the table, as Hibernate makes it, ascends. Applications that call '
       'nextval() get bit-reversed values.'),
      ('key_time', 'notice', '{splits,spanner}',
       'The first column of a key or an index is a time, or an expression that grows with it, '
       'and statistics do not say that it is scattered.'),
      ('key_few_prefixes', 'notice', '{splits,spanner}',
       'The first column of a key or an index has few values, such as a status, and the second '
       'one grows. Inserts go to as many places. Put a shard id first.'),
      ('child_not_interleaved', 'notice', '{splits,spanner}',
       'The rows of a child table are deleted with their parent''s, or have its key in theirs. '
       'If the child''s key begins with it, they are stored together: interleaving in Spanner.'),
      ('reference_unindexed', 'notice', '{one_server}',
       'No index begins with a column of a foreign key, and the table has many rows, or they are '
       'deleted or changed with their parents.'),
      ('index_redundant', 'notice', 'all',
       'The columns of an index are the first columns of another one.'),
      ('key_random', 'notice', '{one_server}',
       'A key of random values, in an index larger than shared_buffers. On one server that is '
       'the dearest key to insert.'),
      ('index_unused', 'notice', '{one_server,splits,citus}',
       'An index that was not read for as long as the server counts, at least a day, of a table '
       'with at least 1,000 inserts a day.'),
      ('shard_unused', 'notice', 'all',
       'A shard column is in no index and no partition key, so it spreads nothing.'),
      ('shard_random', 'notice', 'all',
       'The key begins with a random number. Readers cannot compute it, so they look everywhere, '
       'and two rows with the same rest of the key are both accepted.'),
      ('shard_count_small', 'notice', 'all',
       'A shard column knows only one shard. Use spanner.suggest_shards() to find a number.'),
      ('counter_table', 'notice', 'all',
       'A table of counters is limited by how often one row can be updated. An allocator '
       'reserves batches outside of the transaction.'),
      ('wide_partition', 'notice', '{splits,spanner,citus,cassandra}',
       'More than 100,000 rows or 2 GB share the first column of the key, so one server has them '
       'all. Split them by a hash of the rest of the key, or by a time bucket.'),
      ('shard_count_large', 'info', 'all',
       'There are more shards than pages of the index, so reading all shards costs more than '
       'reading everything.'),
      ('shard_signed', 'info', 'all',
       'A generated shard column is MOD(FARM_FINGERPRINT(...), n) without ABS, as in Spanner''s '
       'documents: 2n - 1 shards, of which shard 0 is twice as large. Readers are served all the '
       'same.'),
      ('key_ascending_data', 'info', '{splits,spanner}',
       'Statistics or rows show that the first column of a key or an index, of whatever type, '
       'was inserted in ascending or descending order.'),
      ('index_null_filtered', 'info', 'all',
       'At least half of an indexed column is NULL. An index WHERE ... IS NOT NULL, Spanner''s '
       'NULL_FILTERED, is smaller, and such rows do not meet in it.'),
      ('index_storing', 'info', 'all',
       'A table that is seldom written is read through an index that lacks few small columns. '
       'INCLUDE, Spanner''s STORING, keeps them in the index.'),
      ('no_statistics', 'info', 'all', 'The measured rules need statistics.'),
      ('no_privilege', 'info', 'all',
       'Statistics are shown to those who may read the column; row-level security hides them as '
       'well.'),
      ('ascending_keys', 'info', '{one_server}',
       'How many tables have keys that grow at one end, which is no fault on one server.'),
      ('descending_time', NULL, NULL,
       'Descending order of a time after the entity in a key. PostgreSQL reads a B-tree '
       'backwards as fast; an index with DESC serves ORDER BY entity, time DESC.'),
      ('hierarchy', NULL, NULL,
       'Which tables are roots, and what is read and written together. Only child tables that '
       'foreign keys show are found (child_not_interleaved).'),
      ('large_columns_apart', NULL, NULL,
       'Large columns that are seldom read in a table of their own. Reads of a column are not '
       'counted, and PostgreSQL moves values over 2 kB out of the row by itself (TOAST).'),
      ('distributed_transactions', NULL, NULL,
       'Design for the application first, and leave rare operations to distributed transactions. '
       'That is a matter of judgement.'),
      ('interleaved_index', NULL, NULL,
       'An index that begins with the parent where a search stays within one entity. What is '
       'searched is not in the catalogs; one that begins with a time is found (key_now, '
       'key_time).'),
      ('swap_key_order', NULL, NULL,
       'Another column of the key first, instead of a shard id. Whether queries name it is not '
       'in the catalogs; findings about keys that begin with a time name the column.'),
      ('natural_key', NULL, NULL,
       'Attributes of the row as its key. Whether they ever change is not in the catalogs; '
       'key_sequence names unique columns that could be the key.'),
      ('write_rate_per_parent', NULL, NULL,
       'A log by time inside one parent is fine while that is not written too often. PostgreSQL '
       'counts writes by table, not by key; spanner.key_heatmap() shows them.'),
      ('shards_for_load', NULL, NULL,
       'The number of shards between writes (more) and reads (fewer). The load is not in the '
       'catalogs: tell it to spanner.suggest_shards().'),
      ('queries_first', NULL, NULL,
       'Cassandra: model around queries, about one table for each, and duplicate data for it. '
       'The catalogs know no queries.'),
      ('few_partitions_read', NULL, NULL,
       'Cassandra: read few partitions. EXPLAIN shows what a query reads; the size of partitions '
       'is looked at (wide_partition).'),
      ('bucket_width', NULL, NULL,
       'Cassandra: a time bucket as wide as the rows that a query wants. How many it wants is '
       'not in the catalogs.'),
      ('generator_kind', NULL, NULL,
       'A sequence generator that is as strict as needed: ordered, without gaps, or fast. That '
       'is not in the catalogs; tables of counters are found (counter_table).'),
      ('batch_size', NULL, NULL,
       'A batch size and a low-water mark that cover the rate of values. Allocators adapt the '
       'batch themselves; spanner.stat_allocator counts waits.')
    ) r (rule, severity, targets, explanation);

GRANT SELECT ON spanner_internal.advisor_rule TO PUBLIC;

CREATE VIEW spanner.advisor_rules AS
  SELECT r.rule, r.severity, r.targets IS NOT NULL AS checkable, r.explanation, r.targets
    FROM spanner_internal.advisor_rule r
   ORDER BY r.place;

COMMENT ON VIEW spanner.advisor_rules
  IS 'the rules of spanner.advise, and recommendations that it cannot check';
COMMENT ON COLUMN spanner.advisor_rules.rule
  IS 'name of the rule, for spanner.silence_rule()';
COMMENT ON COLUMN spanner.advisor_rules.explanation
  IS 'what the rule looks for, and why';
COMMENT ON COLUMN spanner.advisor_rules.severity
  IS 'warning: inserts meet in one place; notice: if they are many; info: measured, with more than '
     'one explanation';
COMMENT ON COLUMN spanner.advisor_rules.checkable
  IS 'false for a recommendation that the catalogs and statistics cannot tell about';
COMMENT ON COLUMN spanner.advisor_rules.targets
  IS 'for which targets the severity is that; elsewhere it is info, or nothing is said';

GRANT SELECT ON spanner.advisor_rules TO PUBLIC;
