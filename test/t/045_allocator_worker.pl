# What must neither end nor hold up the worker of allocators, nor those who
# wait for it, and what must not pile up over time.

use strict;
use warnings;

use List::Util qw(min);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('worker');

sub sql
{
	my ($query, $database) = @_;

	return $node->safe_psql($database // 'postgres', $query);
}

# Start a query in a session of its own, and wait until it waits.
sub start_query
{
	my ($session, $query) = @_;

	$session->query_until(qr/^started$/m, "\\echo started\n$query;\n");
	ok($node->poll_query_until('app', qq{
		SELECT count(*) > 0 FROM pg_stat_activity
		 WHERE backend_type = 'client backend' AND (wait_event LIKE '%AllocatorRefill' OR wait_event = 'Extension')}), "waits: $query");
	return;
}

my $worker = q{FROM pg_stat_activity WHERE backend_type = 'spanner_keys allocator' AND datname = 'postgres'};

$node->init;
$node->append_conf('postgresql.conf', qq{
autovacuum = off
fsync = off
spanner_keys.max_allocators = 3
spanner_keys.allocator_idle_timeout = '4s'
spanner_keys.allocator_timeout = '60s'});
$node->start;
sql('CREATE DATABASE app');
foreach my $database (qw(postgres app))
{
	sql('CREATE EXTENSION spanner_keys', $database);
	sql(q{SELECT spanner.create_allocator(n, 'batch', batch_size => 10, max_batch_size => 10) FROM unnest('{a,b}'::text[]) n;
		SELECT spanner.create_allocator('c', 'async')}, $database);
}

# A transaction_timeout of the database is for its users.
my $lock = $node->background_psql('postgres');
my $waiter = $node->background_psql('postgres');

# a session that needs not read the table any more
$waiter->query_safe(q{SELECT spanner.next_value('a'), spanner.next_value('c')});
SKIP:
{
	skip 'NOT TESTED: no transaction_timeout before release 17', 4 if $node->pg_version < 17;
	$node->poll_query_until('postgres', "SELECT count(*) = 0 $worker");
	sql(q{ALTER DATABASE postgres SET transaction_timeout = '300ms'});
	$lock->query_safe(q{BEGIN; LOCK TABLE spanner.allocator});
	start_query($waiter, q{SELECT 'value ' || spanner.next_value('c')});
	ok($node->poll_query_until('app', qq{
		SELECT count(*) = 1 $worker AND clock_timestamp() - xact_start > interval '900 ms' AND wait_event_type = 'Lock'}),
		'the worker is in a transaction for longer than transaction_timeout');
	$lock->query_safe('COMMIT');
	like($waiter->query_safe(q{\\echo}), qr/value 2/, 'who waited has a value');
	unlike(slurp_file($node->logfile), qr/terminating connection due to transaction timeout/, 'nobody was terminated');
	sql('ALTER DATABASE postgres RESET transaction_timeout');
}

# A worker that is terminated tells those who wait for it.
my @stalls;

foreach my $round (1 .. 3)
{
	# who has just been started is not started again at once
	ok($node->poll_query_until('postgres', qq{
		SELECT count(spanner.next_value('a')) = 1 $worker AND clock_timestamp() - backend_start > interval '1.2 s'}), "worker, $round");
	$lock->query_safe(q{BEGIN; LOCK TABLE spanner.allocator});
	start_query($waiter, q{SELECT 'value ' || spanner.next_value('c')});
	$node->poll_query_until('app', qq{SELECT count(*) = 1 $worker AND wait_event_type = 'Lock'});
	my $begin = time;
	sql("SELECT pg_terminate_backend(pid) $worker", 'app');
	$lock->query_safe('COMMIT');
	like($waiter->query_safe(q{\\echo}), qr/value \d+/, "a value from the next one, $round");
	push @stalls, time - $begin;
}
cmp_ok(min(@stalls), '<', 0.6, "who waits starts the next worker at once: @stalls");

# Such a worker does not seem to start for ever.
sql("SELECT pg_terminate_backend(pid) $worker", 'app');
ok($node->poll_query_until('app', 'SELECT count(*) = 0 FROM spanner.stat_allocator_worker'), 'a worker that was terminated is gone');

# Who holds the row is named by its transaction, and is not waited for by itself.
my $other = $node->background_psql('postgres', on_error_stop => 0);
my ($one, $two) = map {
	$_->query_safe(q{BEGIN; SELECT FROM spanner.allocator WHERE name = 'b' FOR SHARE; SELECT pg_current_xact_id()}) =~ /(\d+)\s*$/
} $lock, $other;
my ($result, $out, $err) = $node->psql('postgres', q{SET spanner_keys.allocator_timeout = '500ms'; SELECT count(spanner.next_value('b')) FROM generate_series(1, 20)});
like($err, qr/Its row is locked by transaction (?:$one|$two)\./, 'a transaction, not a group of them');
my $begin = time;

$other->query(q{SET lock_timeout = '300ms'; SELECT count(spanner.next_value('b')) FROM generate_series(1, 20); ROLLBACK});
cmp_ok(time - $begin, '<', 10, 'one of them reserves by itself');
$lock->query_safe('COMMIT');

# A database whose catalog of databases is locked gives a pool to a new allocator.
my $in_app = $node->background_psql('app');

$in_app->query_safe(q{SELECT spanner.next_value('a')});
sql(q{SELECT spanner.next_value('a'), spanner.next_value('b'), spanner.next_value('c')});
$in_app->query_safe(q{SELECT spanner.next_value('a'); SET statement_timeout = '10s'});
$lock->query_safe(q{BEGIN; LOCK TABLE pg_database});
like($in_app->query(q{SELECT 'new ' || spanner.next_value('b')}), qr/new 1/, 'a pool is taken over without reading the catalog');
$lock->query_safe('COMMIT');

$_->quit foreach $lock, $waiter, $other, $in_app;

# A range below zero
sql(q{SELECT spanner.create_allocator('below', 'batch', start_value => -1000, min_value => -1000, batch_size => 10, max_batch_size => 10)});
is(sql(q{SELECT max(spanner.next_value('below')) FROM generate_series(1, 35)}), -966, 'values below zero');
unlike(slurp_file($node->logfile), qr/moved backwards/, 'do not go back');

# What does not pile up in a session
my $memory = q{SELECT coalesce(sum(total_bytes), 0) FROM pg_backend_memory_contexts WHERE name LIKE 'spanner_keys allocator%'};
my $plans = q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'CachedPlan%'};
my $temporary = q{CREATE TEMP TABLE t (n bigint) ON COMMIT DROP;
	CREATE CONSTRAINT TRIGGER n AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
	  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('numbers', 'n');
	INSERT INTO t VALUES (NULL)};
my $fail = q{DO $$ BEGIN
	  FOR i IN 1 .. 10000 LOOP
	    BEGIN PERFORM spanner.next_value('not there ' || i); EXCEPTION WHEN undefined_object THEN NULL; END;
	  END LOOP;
	END $$};
my ($before, $after) = split /\n/, sql("SELECT spanner.next_value('a') \\gset\n$memory; $fail; $memory");

cmp_ok($after - $before, '<', 50000, "names that are not there: $before, $after bytes");
sql(q{SELECT spanner.create_allocator('numbers', 'on_commit')});
my $script = join "\n", map { "BEGIN; $temporary; COMMIT;" } 1 .. 20;
my @counts = split /\n/, sql("SET client_min_messages = error;\n$script\n$plans;\n$script\n$plans;");
cmp_ok($counts[1] - $counts[0], '<', 10, "plans of tables that are gone: @counts");

my @tables = map { "kept_$_" } 1 .. 150;

sql(join ';', map { "CREATE TABLE $_ (n bigint); CREATE CONSTRAINT TRIGGER n AFTER INSERT ON $_ DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('numbers', 'n')" } @tables);
my @kept = split /\n/, sql(join '', (map { "INSERT INTO $_ VALUES (NULL);\n" } @tables, @tables[0 .. 9]),
	"SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'CachedPlanSource'; SELECT count(n) FROM kept_1;");
cmp_ok($kept[0], '<=', 110, 'plans of 100 tables of 150 are kept');
is($kept[1], 2, 'a plan that was not kept is made again');

# A batch is to last as long as the target: here an hour, so it grows, then a millisecond.
sql(q{SELECT spanner.create_allocator('lasting', batch_size => 10)});
foreach my $case ([ '1h', '>= 80', 'grow' ], [ '1ms', '< 80', 'shrink' ])
{
	my ($target, $condition, $do) = @$case;

	$node->append_conf('postgresql.conf', "spanner_keys.allocator_refill_target = $target");
	$node->reload;
	ok($node->poll_query_until('postgres', qq{
			WITH taken AS MATERIALIZED (SELECT count(spanner.next_value('lasting')) FROM generate_series(1, 50))
			SELECT batch_now $condition FROM taken, spanner.stat_allocator WHERE name = 'lasting'}),
		"a target of $target lets batches $do");
}

# An allocator of many series goes without much memory.
my $peak = q{SELECT (regexp_match(pg_read_file('/proc/self/status'), 'VmHWM:\s+(\d+)'))[1]};

sql(q{SELECT spanner.create_allocator('tenants', 'sync');
	INSERT INTO spanner.allocator (name, series, next_value)
	  SELECT 'tenants', ARRAY[i::text], 2 FROM generate_series(1, 20000) i});
SKIP:
{
	skip 'no /proc', 1 if !-e '/proc/self/status';
	my ($few, $many) = split /\n/, sql("SELECT spanner.next_value('tenants', '7') \\gset\n$peak; SELECT spanner.drop_allocator('tenants') \\gset\n$peak");
	cmp_ok($many - $few, '<', 40000, "20,000 series are dropped: $few, $many kB");
}

# Many rows at once: of each, little is noted that is looked at for the next, and as many rows are read.
# Core's events are not counted, of which 16.4 keeps those of an UPDATE.
sub cost
{
	my ($rows) = @_;

	return split /\|/, sql(qq{
		BEGIN;
		INSERT INTO spanner.allocator (name, owner_role) SELECT 'row ' || i, 'pg_monitor' FROM generate_series(1, $rows) i;
		UPDATE spanner.allocator SET max_value = 1000 WHERE name LIKE 'row %';
		SELECT sum(used_bytes) AS bytes FROM pg_backend_memory_contexts WHERE name <> 'AfterTriggerEvents' \\gset
		SELECT :bytes, seq_tup_read + idx_tup_fetch FROM pg_stat_xact_all_tables WHERE relid = 'spanner.allocator'::regclass;
		ROLLBACK});
}
my @few = cost(1000);
my @many = cost(20000);

cmp_ok($many[0] - $few[0], '<', 50000, "twenty times as many rows: $few[0], $many[0] bytes in use");
cmp_ok($many[1], '<=', 20 * $few[1], "$few[1], $many[1] rows read");

# The last numbers of more allocators than a session remembers
sql(q{CREATE TABLE row_of (n bigint);
	CREATE CONSTRAINT TRIGGER n AFTER INSERT ON row_of DEFERRABLE INITIALLY DEFERRED
	  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('numbers', 'n');
	CREATE PROCEDURE other_allocators(count integer) LANGUAGE plpgsql AS $$
	BEGIN
	  FOR i IN 1 .. count LOOP
	    PERFORM spanner.drop_allocator('numbers'), spanner.create_allocator('numbers', 'on_commit');
	    INSERT INTO row_of VALUES (NULL);
	    COMMIT;
	  END LOOP;
	END $$;
	SELECT spanner.create_allocator('first', 'on_commit');
	CREATE TABLE row_of_first (n bigint);
	CREATE CONSTRAINT TRIGGER n AFTER INSERT ON row_of_first DEFERRABLE INITIALLY DEFERRED
	  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('first', 'n')});
is( sql(q{INSERT INTO row_of_first VALUES (NULL);
	CALL other_allocators(9000); SELECT spanner.last_assigned('first');
	CALL other_allocators(1001); SELECT spanner.last_assigned('first') IS NULL, spanner.last_assigned('numbers') = max(n) FROM row_of}),
	"1\nt|t", 'a session remembers the last numbers of 10,000 allocators');

# Batches of a pool that was another allocator's would be smaller.
$node->restart;

# Two batches with a gap between them: 7 to 10, and 16 to 25
sub two_batches
{
	my ($name) = @_;

	sql(qq{SELECT spanner.create_allocator('$name', 'async_batch', batch_size => 10, low_water_mark => 5, max_batch_size => 10);
		SELECT count(spanner.next_value('$name')) FROM generate_series(1, 4);
		SET allow_system_table_mods = on;
		UPDATE pg_trigger SET tgenabled = 'D' WHERE tgname = 'on_allocator_change';
		ALTER TABLE spanner.allocator SET (fillfactor = 20);
		UPDATE spanner.allocator SET next_value = next_value + 5 WHERE name = '$name';
		UPDATE pg_trigger SET tgenabled = 'A' WHERE tgname = 'on_allocator_change';
		ALTER TABLE spanner.allocator SET (fillfactor = 20);
		SELECT count(spanner.next_value('$name')) FROM generate_series(1, 2)}, 'app');
	$node->poll_query_until('app', "SELECT pool_remaining = 14 FROM spanner.stat_allocator WHERE name = '$name'")
	  or die 'the worker fetches no second batch';
	return $name;
}

is(sql("SELECT spanner.release_allocator('" . two_batches('released') . "'); SELECT next_value FROM spanner.allocator WHERE name = 'released'", 'app'),
	"10\n16", 'the last batch is given back');
is(sql("SELECT string_agg(n::text, ' ') FROM spanner.next_values('" . two_batches('drawn') . "', 6) n", 'app'),
	'7 8 9 10 16 17', 'values between two batches are not given');
is(sql("SELECT b.* FROM spanner.reserve_block('" . two_batches('reserved') . "', 6) b", 'app'), '16|21', 'nor as a block');

# Connections to other servers: no more than there are pools
my ($host, $port) = ($node->host, $node->port);

sql(q{SELECT spanner.create_allocator('hub ' || i) FROM generate_series(1, 8) i}, 'app');
sql(qq{CREATE EXTENSION dblink;
	CREATE SERVER hub FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$host', port '$port', dbname 'app');
	CREATE USER MAPPING FOR CURRENT_USER SERVER hub;
	SELECT spanner.create_allocator('hub ' || i, 'remote', server => 'hub') FROM generate_series(1, 8) i});
is( sql(q{SELECT string_agg(spanner.next_value('hub ' || i)::text, ' ' ORDER BY i) FROM generate_series(1, 8) i;
	SELECT count(*) BETWEEN 1 AND 3 FROM pg_stat_activity WHERE datname = 'app' AND query LIKE '%reserve_block%'}),
	"1 1 1 1 1 1 1 1\nt", 'connections of allocators without a pool are closed');

$node->stop;
unlike(slurp_file($node->logfile), qr/reference leak|resource was not closed/, 'transactions leave nothing open');

done_testing();
