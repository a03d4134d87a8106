# Allocators, their worker, and what is done to databases: DROP, RENAME, a new
# life of the extension, locked rows, errors in the worker, limits.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('databases');
my $create = q{CREATE EXTENSION spanner_keys; SELECT spanner.create_allocator('a')};

sub sql
{
	my ($database, $sql) = @_;

	return $node->safe_psql($database, $sql);
}

sub stderr_of
{
	my ($database, $sql) = @_;
	my $stderr;

	$node->psql($database, $sql, stderr => \$stderr);
	return $stderr;
}

sub next_value
{
	my ($database, $name) = @_;

	return sql($database, "SELECT spanner.next_value('" . ($name // 'a') . "')");
}

# Run a command while the worker of a database lives, and tell how long it took.
sub seconds
{
	my ($database, $command) = @_;
	my $begin;

	next_value($database);
	$begin = time;
	sql('postgres', $command);
	return time - $begin;
}

$node->init;
$node->append_conf('postgresql.conf', "max_worker_processes = 4\nautovacuum = off\nspanner_keys.max_allocators = 12\n");
$node->start;
sql('postgres', $create);

# Two databases with equal ids do not mix
sql('postgres', 'CREATE DATABASE other');
sql('other', $create);
sql('postgres', q{SELECT spanner.reset_allocator('a', 1000)});
is(next_value('postgres') . ' ' . next_value('other'), '1000 1', 'each database has its own numbers');
is(sql('postgres', 'SELECT count(DISTINCT datid) FROM spanner.stat_allocator_worker WHERE pid IS NOT NULL'), 2, 'and a worker');

# Commands on a database do not wait long for it
cmp_ok(seconds('other', 'CREATE DATABASE copy TEMPLATE other'), '<', 4.5, 'CREATE DATABASE ... TEMPLATE');
is(next_value('copy') > 1, 1, 'the copy goes on');
cmp_ok(seconds('copy', 'ALTER DATABASE copy RENAME TO renamed'), '<', 4.5, 'ALTER DATABASE ... RENAME');
cmp_ok(seconds('renamed', 'DROP DATABASE renamed'), '<', 4.5, 'DROP DATABASE');
sql('postgres', 'DROP DATABASE other');
sql('postgres', 'CREATE DATABASE other');
sql('other', $create);
is(next_value('other'), 1, 'a new database of the same name begins anew');

# No number of a former life
sql('other', q{SELECT count(n) FROM spanner.next_values('a', 10) n; SELECT spanner.drop_allocator('a'); SELECT spanner.create_allocator('a', start_value => 5000)});
is(next_value('other'), 5000, 'an allocator of the same name');
sql('other', 'SET client_min_messages = warning; DROP EXTENSION spanner_keys CASCADE');
sql('other', q{CREATE EXTENSION spanner_keys; SELECT spanner.create_allocator('a', start_value => 70)});
is(next_value('other'), 70, 'a new life of the extension');

# A locked row holds up its own allocator only, and no canceled wait leaves a trace
sql('other', q{SELECT spanner.create_allocator('single', mode => 'async'), spanner.create_allocator('free', mode => 'async')});
is(next_value('other', 'single'), 1, 'async');
my $locker = $node->background_psql('other') if $node->can('background_psql');
SKIP:
{
	skip 'no background_psql', 5 unless $locker;
	$locker->query_safe(q{BEGIN; UPDATE spanner.allocator SET timeline = timeline WHERE name = 'single'});
	like(stderr_of('other', q{SET spanner_keys.allocator_timeout = 300; SELECT spanner.next_value('single')}),
		qr/ERROR:  timed out after 300 ms waiting for allocator "single"\nDETAIL:  Its row is locked by transaction \d+\./, 'a wait for a locked row ends');
	like(stderr_of('other', q{SET statement_timeout = 300; SELECT spanner.next_value('single')}),
		qr/ERROR:  canceling statement due to statement timeout/, 'or is canceled');
	is(next_value('other', 'free'), 1, 'another allocator does not wait');
	$locker->query_safe('ROLLBACK');
	$locker->quit;
	is(next_value('other', 'single'), 2, 'no value was reserved for those who gave up');
	is(next_value('other', 'single'), 3, 'nor later');
}

# Errors in the worker reach the session, and do not end the worker
sql('other', q{
	CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN RAISE EXCEPTION 'no more of this' USING ERRCODE = 'XX123', HINT = 'Give up.'; END $$;
	CREATE TRIGGER fail BEFORE UPDATE ON spanner.allocator FOR EACH ROW
		WHEN (OLD.name = 'single') EXECUTE FUNCTION fail();});
like(stderr_of('other', q{\set VERBOSITY verbose
	SELECT spanner.next_value('single')}),
	qr/ERROR:  XX123: could not refill allocator "single": no more of this\nHINT:  Give up\./, 'an error of the worker');
next_value('other', 'free');
my $pid = "SELECT pid FROM spanner.stat_allocator_worker WHERE datid = (SELECT oid FROM pg_database WHERE datname = 'other')";
my $before = sql('other', $pid);
sql('other', q{
	DO $$ BEGIN
		FOR i IN 1 .. 200 LOOP
			BEGIN
				PERFORM spanner.next_value('single');
				RAISE EXCEPTION 'not refused';
			EXCEPTION WHEN SQLSTATE 'XX123' THEN
				PERFORM spanner.next_value('free');
			END;
		END LOOP;
	END $$});
is(sql('other', $pid), $before, 'the same worker after 200 errors');
is(sql('other', q{SELECT last_error FROM spanner.stat_allocator WHERE name = 'single'}), 'no more of this', 'the view has the error');
sql('other', 'DROP TRIGGER fail ON spanner.allocator');
is(next_value('other', 'single'), 4, 'it works again');

# What the worker does not use is given back if that is wanted
$node->append_conf('postgresql.conf', "spanner_keys.allocator_return_unused = 'idle'\n");
$node->reload;
sql('other', q{SELECT spanner.create_allocator('returned', mode => 'batch')});
is(next_value('other', 'returned'), 1, 'a value of a batch');
ok($node->poll_query_until('other', q{SELECT next_value = 2 FROM spanner.allocator WHERE name = 'returned'}), 'the rest is given back');
is(next_value('other', 'returned'), 2, 'and given');

# More allocators than there is room for
sql('other', q{SELECT spanner.create_allocator('many ' || n) FROM generate_series(1, 13) n});
like(stderr_of('other', q{SELECT spanner.next_value('many ' || n) FROM generate_series(1, 13) n}),
	qr/ERROR:  too many allocators in use\n.*HINT:  Increase "spanner_keys\.max_allocators"/s, 'too many');
ok($node->poll_query_until('other', q{SELECT sum(pool_remaining) = 0 FROM spanner.stat_allocator}), 'all is given back');
is(next_value('other', 'many 13'), 1, 'empty pools make room');
sql('other', q{SELECT spanner.create_allocator('row ' || n, mode => 'sync') FROM generate_series(1, 12000) n});
is(sql('other', q{SELECT sum(spanner.next_value('row ' || n)) FROM generate_series(1, 12000) n}), 12000, 'a session with many allocators');

# No place for a worker
sql('postgres', 'ALTER SYSTEM SET max_worker_processes = 0');
$node->restart;
like(stderr_of('other', q{SELECT spanner.next_value('a')}),
	qr/ERROR:  could not start allocator worker\nHINT:  Increase "max_worker_processes"\./, 'no place for a worker');
sql('postgres', 'ALTER SYSTEM RESET max_worker_processes');
sql('postgres', q{ALTER SYSTEM SET shared_preload_libraries = 'spanner_keys'});
$node->append_conf('postgresql.conf', "spanner_keys.max_allocators = 1000\n");
$node->restart;
is(sql('other', q{SELECT count(spanner.next_value('many ' || n)) FROM generate_series(1, 13) n}), 13, 'preloaded, with more room');
$node->stop;

done_testing();
