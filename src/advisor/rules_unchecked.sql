/* src/advisor/rules_unchecked.sql */

--
-- Advisor: recommendations that the catalogs and statistics cannot tell about
--

INSERT INTO spanner_internal.advisor_rule VALUES
  ('descending_time', 1000, NULL, NULL, NULL,
   'Descending order of a time after the entity in a key. Which end is read first is not in the '
   'catalogs, and PostgreSQL reads a B-tree backwards as fast; an index with DESC serves ORDER BY '
   'entity, time DESC.'),
  ('hierarchy', 1010, NULL, NULL, NULL,
   'Which tables are roots, and what is read and written together. Only child tables that foreign '
   'keys show are found (child_not_interleaved).'),
  ('large_columns_apart', 1020, NULL, NULL, NULL,
   'Large columns that are seldom read in a table of their own. How often a column is read is not '
   'counted, and PostgreSQL moves values over 2 kB out of the row by itself (TOAST).'),
  ('distributed_transactions', 1030, NULL, NULL, NULL,
   'Design for the application first, and leave rare operations to distributed transactions. That '
   'is a matter of judgement.'),
  ('interleaved_index', 1040, NULL, NULL, NULL,
   'An index that begins with the parent where a search stays within one entity, and one that does '
   'not where it goes over all rows. What is searched is not in the catalogs; an index that begins '
   'with a time is found (index_now, index_time).'),
  ('swap_key_order', 1050, NULL, NULL, NULL,
   'Another column of the key first, instead of a shard id. Whether queries name that column is '
   'not in the catalogs; the findings about keys that begin with a time name the column.'),
  ('natural_key', 1060, NULL, NULL, NULL,
   'Attributes of the row as its key. Whether they ever change is not in the catalogs; '
   'key_sequence names unique columns that could be the key.'),
  ('write_rate_per_parent', 1070, NULL, NULL, NULL,
   'A log by time inside one parent is fine while that parent is not written too often. PostgreSQL '
   'counts writes by table, not by key; spanner.key_heatmap() shows them.'),
  ('shards_for_load', 1080, NULL, NULL, NULL,
   'The number of shards between writes (more) and reads (fewer). The load is not in the catalogs: '
   'tell it to spanner.suggest_shards().'),
  ('queries_first', 1090, NULL, NULL, NULL,
   'Cassandra: model around queries, about one table for each, and duplicate data for it. The '
   'catalogs know no queries.'),
  ('few_partitions_read', 1100, NULL, NULL, NULL,
   'Cassandra: read few partitions. EXPLAIN shows what a query reads; the size of partitions is '
   'looked at (wide_partition).'),
  ('bucket_width', 1110, NULL, NULL, NULL,
   'Cassandra: a time bucket as wide as the rows that a query wants. How many it wants is not in '
   'the catalogs.'),
  ('generator_kind', 1120, NULL, NULL, NULL,
   'A sequence generator that is as strict as the application needs: ordered, without gaps, or '
   'fast. What it needs is not in the catalogs; tables of counters are found (counter_table).'),
  ('batch_size', 1130, NULL, NULL, NULL,
   'A batch size and a low-water mark that cover the rate of values. Allocators adapt the batch '
   'themselves; spanner.stat_allocator counts waits.');
