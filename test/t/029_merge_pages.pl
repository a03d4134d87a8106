# What merges of shards keep of the buffers between two rows, and what they
# tell of their work from a parallel worker.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', <<'CONF');
session_preload_libraries = 'spanner_keys'
shared_buffers = 16MB
autovacuum = off
fsync = off
CONF
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION spanner_keys;
CREATE EXTENSION pg_buffercache;
CREATE TABLE visit (
  s int GENERATED ALWAYS AS (spanner.shard_id(2048, at, id)) STORED,
  at int NOT NULL,
  id int NOT NULL,
  note text,
  PRIMARY KEY (s, at, id));
INSERT INTO visit (at, id, note) SELECT i, i, repeat('x', 700) FROM generate_series(1, 25000) i;
CLUSTER visit USING visit_pkey;
VACUUM ANALYZE visit;
SQL

# Every stream has been read on, and the cursor is idle.  Other processes may
# pin a page for a moment, so wait until only the cursor's pin is left.
my $pinned = 'SELECT count(*) <= 1 FROM pg_buffercache WHERE pinning_backends > 0 AND relfilenode IN'
  . q{ (pg_relation_filenode('visit'), pg_relation_filenode('visit_pkey'))};
my $merge = "SET work_mem = '128MB'; SET enable_sort = off; SET enable_seqscan = off;";
my $session = $node->background_psql('postgres');
$session->query_safe("$merge BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT * FROM visit ORDER BY at; MOVE 20000 IN c;");
like(
	$node->safe_psql('postgres', "$merge EXPLAIN SELECT * FROM visit ORDER BY at"),
	qr/SpannerShardMerge/, 'the rows are merged');
ok($node->poll_query_until('postgres', $pinned), 'an idle cursor keeps one page pinned');
$session->query_safe('COMMIT');
$session->quit;

# More shards than there are buffers for.
is($node->safe_psql('postgres', "$merge SELECT count(*), sum(at) FROM (SELECT at, note FROM visit ORDER BY at OFFSET 0) v"),
	'25000|312512500', 'a merge of many shards has enough shared buffers');

# Temporary tables: a session has few buffers of its own.
is($node->safe_psql('postgres', <<'SQL'), '3000', 'two merges of temporary tables have enough local buffers');
SET temp_buffers = '800kB';
CREATE TEMP TABLE ta (s int GENERATED ALWAYS AS (spanner.shard_id(64, k)) STORED, ts int, k int);
INSERT INTO ta (ts, k) SELECT i, i FROM generate_series(1, 60000) i;
CREATE INDEX ON ta (s, ts, k);
CREATE TEMP TABLE tc (s int GENERATED ALWAYS AS (spanner.shard_id(64, k)) STORED, ts int, k int);
INSERT INTO tc (ts, k) SELECT i, i FROM generate_series(1, 60000) i;
CREATE INDEX ON tc (s, ts, k);
ANALYZE ta, tc;
SET enable_sort = off;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SELECT count(*) FROM (SELECT ta.ts FROM ta JOIN tc USING (ts) ORDER BY ts LIMIT 3000) x;
SQL

# A worker sends its counters back.
my $force = $node->safe_psql('postgres', q{SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')});
my $plan = $node->safe_psql('postgres', <<"SQL");
SET $force = on;
SET enable_sort = off;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT at FROM visit ORDER BY at LIMIT 3;
SQL
like($plan, qr/Gather.*SpannerShardMerge.*Index Searches: [1-9]\d*\n\s*Heap Tuples Fetched: [1-9]/s,
	'the counters of a parallel worker are shown') or diag($plan);

done_testing();
