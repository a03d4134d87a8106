# Merges of shards equal a sort of the same snapshot, while rows are changed,
# moved to other shards, deleted and vacuumed as fast as possible; and what
# plans do at run time: partitions that are never visited, parallel workers,
# cached plans of other sessions.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', <<'CONF');
session_preload_libraries = 'spanner_keys'
autovacuum_naptime = 1s
fsync = off
CONF
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION spanner_keys;
CREATE TABLE visit (
  shard_id int GENERATED ALWAYS AS (spanner.shard_id(32, at, userid)) STORED,
  at int NOT NULL,
  userid int NOT NULL,
  note int,
  PRIMARY KEY (shard_id, at, userid));
INSERT INTO visit (at, userid, note) SELECT i % 5000, i, 0 FROM generate_series(1, 20000) i;
ANALYZE visit;
SQL

# Readers compare both plans in one snapshot; DIFFERENT would be an error.
my $dir = $node->basedir;
append_to_file("$dir/write.sql", <<'SQL');
\set user random(1, 20000)
\set at random(1, 5000)
UPDATE visit SET at = :at, note = note + 1 WHERE userid = :user;
UPDATE visit SET note = note + 1 WHERE at = :at;
DELETE FROM visit WHERE userid = :user AND at % 7 = 0;
INSERT INTO visit (at, userid, note) VALUES (:at, 20000 + :user, 0) ON CONFLICT DO NOTHING;
SQL
append_to_file("$dir/vacuum.sql", "VACUUM visit;\n");
append_to_file("$dir/read.sql", <<'SQL');
\set at random(1, 5000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT both_ways(format('SELECT at, userid, note FROM visit WHERE at > %s ORDER BY at, userid LIMIT 700', :at)),
       both_ways(format('SELECT at, userid, note FROM visit WHERE (at, userid) < (%s, 9000) ORDER BY at DESC, userid DESC LIMIT 700', :at));
END;
SQL
$node->safe_psql('postgres', <<'SQL');
CREATE INDEX visit_user ON visit (userid);
CREATE FUNCTION both_ways(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  merged text;
  sorted text;
  line text;
BEGIN
  SET LOCAL spanner_keys.enable_shard_merge = on;
  SET LOCAL enable_sort = off;
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    EXIT WHEN line ~ 'SpannerShardMerge';
  END LOOP;
  IF line !~ 'SpannerShardMerge' THEN
    RAISE EXCEPTION 'no merge';
  END IF;
  EXECUTE format('SELECT md5(string_agg(q::text, %L)) FROM (%s) q', ';', query) INTO merged;
  SET LOCAL spanner_keys.enable_shard_merge = off;
  SET LOCAL enable_sort = on;
  EXECUTE format('SELECT md5(string_agg(q::text, %L)) FROM (%s) q', ';', query) INTO sorted;
  IF merged IS DISTINCT FROM sorted THEN
    RAISE EXCEPTION 'DIFFERENT: %', query;
  END IF;
  RETURN true;
END $$;
SQL

my ($writer_out, $reader_out, $vacuum_out) = ('', '', '');
my $writer = IPC::Run::start(
	[ 'pgbench', '-n', '-M', 'prepared', '-c', '3', '-j', '1', '-T', '12', '-f', "$dir/write.sql", '-h', $node->host, '-p', $node->port, 'postgres' ],
	'>', \$writer_out, '2>', \$writer_out);
my $vacuum = IPC::Run::start(
	[ 'pgbench', '-n', '-c', '1', '-T', '12', '-f', "$dir/vacuum.sql", '-h', $node->host, '-p', $node->port, 'postgres' ],
	'>', \$vacuum_out, '2>', \$vacuum_out);
my $reader = IPC::Run::start(
	[ 'pgbench', '-n', '-c', '2', '-j', '1', '-T', '12', '-f', "$dir/read.sql", '-h', $node->host, '-p', $node->port, 'postgres' ],
	'>', \$reader_out, '2>', \$reader_out);
$writer->finish;
$vacuum->finish;
$reader->finish;
unlike($reader_out, qr/ERROR|aborted/, 'every merge equals the sort of its snapshot');
my ($reads) = $reader_out =~ /number of transactions actually processed: (\d+)/;
my ($writes) = $writer_out =~ /number of transactions actually processed: (\d+)/;
ok($reads && $reads > 20, 'merges were compared');
ok($writes && $writes > 100, 'while rows changed');
note("$reads comparisons of 2 queries, $writes transactions of 4 changes");
unlike($writer_out, qr/ERROR:  (?!deadlock)/, 'writers meet no error');

# Partitions that a generic plan or a nested loop does not visit.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE part (shard_id int NOT NULL CHECK (shard_id = spanner.shard_id(8, id)), id int NOT NULL, PRIMARY KEY (shard_id, id))
  PARTITION BY LIST (shard_id);
SELECT format('CREATE TABLE part%s PARTITION OF part FOR VALUES IN (%1$s)', i) FROM generate_series(0, 7) i \gexec
INSERT INTO part SELECT spanner.shard_id(8, i), i FROM generate_series(1, 8000) i;
CREATE TABLE asked AS SELECT 4711 AS id;
ANALYZE;
SQL
my $plan = $node->safe_psql('postgres', <<'SQL');
SET plan_cache_mode = force_generic_plan;
PREPARE p(int) AS SELECT * FROM part WHERE id = $1;
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE p(5);
SQL
like($plan, qr/Subplans Removed: 7/, 'a generic plan leaves out partitions when it starts');
$plan = $node->safe_psql('postgres', 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM asked JOIN part USING (id)');
is(scalar(() = $plan =~ /never executed/g), 7, 'a nested loop leaves out partitions for each row') or diag($plan);

# Workers know the custom scan.
my $force = $node->safe_psql('postgres', q{SELECT name FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query')});
$plan = $node->safe_psql('postgres', <<"SQL");
SET $force = on;
EXPLAIN (COSTS OFF) SELECT at FROM visit ORDER BY at, userid LIMIT 3;
SELECT at FROM visit ORDER BY at, userid LIMIT 3;
SQL
like($plan, qr/Gather.*SpannerShardMerge/s, 'a merge runs in a parallel worker');

# Another session changes what a cached plan relies on.
my $session = $node->background_psql('postgres');
$session->query_safe('PREPARE q AS SELECT note FROM visit WHERE at = 1 AND userid = 99999; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off');
$session->query_safe('EXECUTE q');
$node->safe_psql('postgres', 'ALTER TABLE visit ALTER COLUMN shard_id DROP EXPRESSION; INSERT INTO visit VALUES (77, 1, 99999, 5)');
like($session->query_safe('EXECUTE q'), qr/^5$/m, 'a cached plan does not survive the expression');

# A session that has planned takes a snapshot from before a constraint.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE plain (shard_id int NOT NULL, id int NOT NULL, PRIMARY KEY (shard_id, id));
INSERT INTO plain SELECT 0, i FROM generate_series(1, 300) i;
SQL
my ($snapshot) = $session->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_export_snapshot()') =~ /([-0-9A-F]{10,})/;
$node->safe_psql('postgres', <<'SQL');
UPDATE plain SET shard_id = spanner.shard_id(16, id);
ALTER TABLE plain ADD CHECK (shard_id = spanner.shard_id(16, id));
SELECT pg_current_xact_id();
SQL
is( $node->safe_psql('postgres', <<"SQL"), "1\n1\n1\n1", 'an imported snapshot is older than a constraint, and than a plan');
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE q(int) AS SELECT count(*) FROM plain WHERE id = \$1;
EXECUTE q(5);
SELECT count(*) FROM plain WHERE id = 5;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SET TRANSACTION SNAPSHOT '$snapshot';
EXECUTE q(5);
SELECT count(*) FROM plain WHERE id = 5;
COMMIT;
SQL
$session->quit;

done_testing();
