# Allocators of several databases, and of databases, extensions and allocators
# that come and go: nobody receives a number of another's pool, and the workers
# are in nobody's way.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('databases');

$node->init;
$node->append_conf('postgresql.conf', q{
autovacuum = off
max_worker_processes = 10
spanner_keys.allocator_timeout = 3min
});
$node->start;

# Draw values in a database, and return them in one line.
sub draw
{
	my ($database, $name, $count) = @_;

	return $node->safe_psql($database,
		"SELECT string_agg(n::text, ' ') FROM spanner.next_values('$name', $count) n");
}

sub create
{
	my ($database, $arguments) = @_;

	return $node->safe_psql($database, "SELECT spanner.create_allocator($arguments)");
}

sub fails_like
{
	my ($database, $query, $message, $name) = @_;
	my ($result, $out, $err) = $node->psql($database, "\\set VERBOSITY verbose\n$query");

	isnt($result, 0, "$name: fails");
	like($err, $message, $name);
	return;
}

# A command on a database whose worker is alive.
sub quick_command
{
	my ($database, $command) = @_;

	ok( $node->poll_query_until($database, q{
			SELECT spanner.next_value('quick') > 0 AND (
				SELECT count(*) = 1 FROM spanner.stat_allocator_worker
				 WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid IS NOT NULL)}),
		"a worker before: $command");

	my $begin = time();

	$node->safe_psql('postgres', $command);
	cmp_ok(time() - $begin, '<', 4, "quick enough: $command");
	return;
}

sub new_database
{
	my ($name) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, 'CREATE EXTENSION spanner_keys');
	return;
}

$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys');
new_database($_) foreach qw(one two three four);

# Two databases with equal ids of allocators
is(create('one', "'a', start_value => 1"), 1, 'id in the first database');
is(create('two', "'a', start_value => 1000001"), 1, 'id in the second database');
foreach my $round (0 .. 2)
{
	is(draw('one', 'a', 2), join(' ', map { 2 * $round + $_ } 1, 2), "the first database draws its values, $round");
	is(draw('two', 'a', 2), join(' ', map { 1000000 + 2 * $round + $_ } 1, 2), "the second one too, $round");
}
is($node->safe_psql('one', 'SELECT values FROM spanner.stat_allocator'), 6, 'statistics of one database');
create('one', "'quick', 'async'");

# The name of a database, or of an allocator, means another one
quick_command('one', 'CREATE DATABASE copy TEMPLATE one');
is(draw('copy', 'a', 1), $node->safe_psql('one', q{SELECT next_value FROM spanner.allocator WHERE name = 'a'}),
	'a copy of a database goes on at its row');
quick_command('one', 'ALTER DATABASE one RENAME TO renamed');
is(draw('renamed', 'a', 1), 201, 'a database that was altered goes on after what was reserved');
quick_command('renamed', 'DROP DATABASE renamed');
new_database('renamed');
create('renamed', "'a', start_value => 501");
is(draw('renamed', 'a', 3), '501 502 503', 'a database of the same name has its own values');

foreach my $mode (qw(async batch async_batch))
{
	draw('two', 'a', 3);
	$node->safe_psql('two', 'SELECT spanner.drop_allocator(\'a\')');
	create('two', "'a', '$mode', start_value => 7");
	is(draw('two', 'a', 3), '7 8 9', "$mode: an allocator of the same name has its own values");
	is($node->safe_psql('two', q{SELECT spanner.next_value('a');
		DROP EXTENSION spanner_keys;
		CREATE EXTENSION spanner_keys;
		SELECT spanner.create_allocator('a', start_value => 70, mode => '} . $mode . q{');
		SELECT string_agg(n::text, ' ') FROM spanner.next_values('a', 3) n}),
		"10\n1\n70 71 72", "$mode: the extension was created again");
}

# The same OID means another database: what is left in the pools of the one that is
# gone was given there, or in the one that both were copied from.  The rows may have
# counters ahead of the pools, equal ones, or those of a former copy.
new_database('model');
create('model', "'$_', 'batch'") foreach qw(ahead equal);
$node->safe_psql('model', 'CREATE TABLE used AS SELECT 0::bigint AS value, NULL::text AS name');
foreach my $round (1, 2)
{
	$node->safe_psql('postgres', 'CREATE DATABASE again TEMPLATE model OID 400125');
	draw('again', $_, 1) foreach qw(ahead equal);
	# no worker starts after the first database is gone: it would free these pools
	$node->safe_psql('model', q{
		INSERT INTO used SELECT spanner.next_value('equal'), 'equal' FROM generate_series(1, 200);
		INSERT INTO used SELECT spanner.next_value('ahead'), 'ahead' FROM generate_series(1, 201);
		SELECT spanner.advance_allocator('ahead', 1001)});
	$node->safe_psql('postgres', 'DROP DATABASE again; CREATE DATABASE again TEMPLATE model OID 400125');
	$node->safe_psql('again', "INSERT INTO used SELECT spanner.next_value('$_'), '$_' FROM generate_series(1, 300)") foreach qw(ahead equal);
	is($node->safe_psql('again', 'SELECT name, value FROM used GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1, 2 LIMIT 10'), '',
		"no number of a dropped database with the same OID, round $round");
	$node->safe_psql('postgres', 'DROP DATABASE again');
}

# A pool that asks for a batch when the extension is dropped keeps nobody: a
# session with a warm cache has no lock on the table while it waits.
my $locker = $node->background_psql('three', on_error_die => 1);
my $waiter = $node->background_psql('three', on_error_stop => 0);

create('three', "'a', 'async'");
is($waiter->query_safe(q{SELECT spanner.next_value('a')}), 1, 'a session that has the allocator in its cache');
$locker->query_safe('BEGIN; SELECT FROM spanner.allocator FOR UPDATE');
$waiter->query_until(qr/started/, "\\echo started\nSELECT spanner.next_value('a');\n");
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = 'three' AND query ~ 'next_value' AND state = 'active' AND wait_event_type = 'Extension'})
  or die 'the session does not wait';
# the next worker finds no table any more
$locker->query_safe(q{
	SELECT pg_terminate_backend(pid, 60000) FROM spanner.stat_allocator_worker
	 WHERE datid = (SELECT oid FROM pg_database WHERE datname = 'three');
	DROP EXTENSION spanner_keys; COMMIT});
$locker->quit;
$waiter->query_until(qr/finished/, "\\echo finished\n");
$waiter->quit;
like(slurp_file($node->logfile), qr/ERROR: .*allocator "a"(?: does not exist|: could not open relation)/, 'who waits is told');

my $begin = time();

$node->safe_psql('postgres', 'DROP DATABASE three');
cmp_ok(time() - $begin, '<', 4, 'a database without the extension is dropped');

# No worker can be started.
$node->safe_psql('renamed', q{SELECT spanner.create_allocator('b', 'async'), spanner.next_value('a')});
create($_, "'b', 'async'") foreach qw(copy four);
$node->append_conf('postgresql.conf', "max_worker_processes = 1\nspanner_keys.allocator_idle_timeout = 4s");
$node->restart;
# the launcher of logical replication has the only place
is(draw('four', 'b', 3), '1 2 3', 'no worker process is free: a session reserves by itself');
is($node->safe_psql('four', q{BEGIN; SELECT spanner.next_value('b'); ROLLBACK; SELECT spanner.next_value('b')}),
	"4\n4", 'and gives a number again after a rollback');

# Whoever has the row keeps the others no longer than they want to wait.
{
	my $holder = $node->background_psql('four', on_error_die => 1);
	my $limit = q{SET statement_timeout = '30s'; SET spanner_keys.allocator_timeout = '300ms'; };

	$node->safe_psql('four', q{SELECT spanner.create_allocator('held'), spanner.create_allocator('begun')});
	$holder->query_safe(q{BEGIN; SELECT spanner.next_value('held'), spanner.next_value('begun', 'x')});
	fails_like('four', $limit . q{SELECT spanner.next_value('held')},
		qr/55P03: timed out after 300 ms waiting for allocator "held"/, 'a row that another transaction has');
	fails_like('four', $limit . q{SELECT spanner.next_value('begun', 'x')},
		qr/55P03: timed out after 300 ms waiting for allocator "begun"/, 'a series that begins in another transaction');
	fails_like('four', $limit . q{SET lock_timeout = '100ms'; SELECT spanner.next_value('held')},
		qr/55P03: canceling statement due to lock timeout/, 'lock_timeout is shorter');
	is($node->safe_psql('four', $limit . q{SELECT spanner.next_value('begun', 'y'); SHOW lock_timeout}), "1\n0", 'others go on');
	$holder->query_safe('ROLLBACK');
	is($node->safe_psql('four', $limit . q{SELECT spanner.next_value('held'), spanner.next_value('begun', 'x')}), '1|1', 'and so do all after that');
	$holder->quit;
}
$node->safe_psql('four', q{
	CREATE FOREIGN DATA WRAPPER nothing;
	CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
	SELECT spanner.create_allocator('far', 'remote', server => 'nowhere')});
fails_like('four', q{SET spanner_keys.allocator_timeout = '300ms'; SELECT spanner.next_value('far')},
	qr/53000: could not start allocator worker\nDETAIL:  There was no free place for one in 300 ms\.\nHINT:  Increase "max_worker_processes"/,
	'another server can be asked by a worker only');
$node->append_conf('postgresql.conf', "max_worker_processes = 3\nspanner_keys.allocator_idle_timeout = 4s");
$node->restart;
draw($_, 'b', 1) foreach qw(four copy);
is(draw('renamed', 'b', 1), 1, 'other workers have all places');
$node->append_conf('postgresql.conf', 'spanner_keys.allocator_idle_timeout = 0');
$node->reload;
# a place is free when the postmaster has seen the end of a worker
my $draws = q{SELECT string_agg(n::text, ' ') FROM spanner.next_values('b', 3) n};

ok($node->poll_query_until('renamed', $draws, '2 3 4'), 'when one has left, values come again, and none is lost');
ok($node->poll_query_until('four', $draws, '6 7 8'), 'so in the other database');

# A dump has a next value above all that were given.
my $dump = PostgreSQL::Test::Utils::tempdir;

create('renamed', "'$_', '$_'") foreach qw(sync async batch async_batch);
foreach my $format (qw(p c))
{
	my %last = map { $_ => (split / /, draw('renamed', $_, 50))[-1] } qw(sync async batch async_batch);

	$node->command_ok(['pg_dump', "-F$format", '-f', "$dump/$format", '-d', $node->connstr('renamed')], "dump, format $format");
	$node->safe_psql('postgres', "CREATE DATABASE restored_$format");
	$node->command_ok($format eq 'p' ?
		['psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', "$dump/p", '-d', $node->connstr("restored_$format")] :
		['pg_restore', '-d', $node->connstr("restored_$format"), "$dump/c"], "restore, format $format");
	foreach my $name (sort keys %last)
	{
		cmp_ok(draw("restored_$format", $name, 1), '>', $last{$name}, "format $format, $name: the next value");
	}
	is(draw("restored_$format", 'sync', 1), $last{sync} + 2, "format $format, sync: without a gap");
	cmp_ok(create("restored_$format", "'new'"), '>', 6, "format $format: a new id");
}
$node->stop;

done_testing();
