# How many allocators can be in use: limits of shared memory, and many more
# allocators than those.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('limits');

sub sql
{
	my ($query, $database) = @_;

	return $node->safe_psql($database // 'postgres', $query);
}

sub fails_like
{
	my ($query, $message, $name) = @_;
	my ($result, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$query");

	isnt($result, 0, "$name: fails");
	like($err, $message, $name);
	return;
}

# Use all pools, and more than that.
sub exhaust
{
	my ($limit) = @_;
	my $over = $limit + 1;
	my $use = 'SELECT size, used, taken_over, lost_values FROM spanner.stat_allocator_pools';

	is(sql("SELECT count(spanner.next_value('b' || i)) FROM generate_series(1, $limit) i"), $limit, "$limit allocators in use");
	is(sql($use), "$limit|$limit|0|0", 'all pools are used');
	is(sql(q{SELECT spanner.next_value('b1')}), 2, 'those in use go on');
	is(sql("SELECT spanner.next_value('b$over')"), 1, "one more than $limit");
	is(sql(q{SELECT spanner.next_value('b1')}), 3, 'the one that was used just now has its values');
	is(sql($use), "$limit|$limit|1|8", 'that of the least recent use was taken over');
	is(sql(q{SELECT spanner.next_value('b2')}), 10, 'its values are lost');
	is(sql(q{SELECT spanner.next_value('sync')}), 1, 'mode sync needs no room');
	is(sql(q{SELECT spanner.release_allocator('b1'), spanner.next_value('b1')}), '6|4', 'one is released, and goes on');
	is(sql(q{SELECT count(spanner.next_value('b1')) FROM generate_series(5, 40)}), 36, 'it has no fewer values for that');
	return;
}

$node->init;
$node->append_conf('postgresql.conf', q{
autovacuum = off
spanner_keys.max_allocators = 3
spanner_keys.allocator_idle_timeout = 100ms
});
$node->start;
sql(q{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('sync', 'sync');
	SELECT count(spanner.create_allocator('b' || i, 'batch', batch_size => 9, max_batch_size => 9))
	  FROM generate_series(1, 1002) i});
exhaust(3);

# Many more allocators than pools, in turn: as many values are lost as are given
# at most, not the rest of a batch for each.  In use, a pool gets its batches.
my $lost = sql('SELECT lost_values FROM spanner.stat_allocator_pools');

is(sql(q{SELECT count(spanner.next_value('b' || 11 + i % 20)) FROM generate_series(1, 200) i}), 200, 'in turn');
cmp_ok(sql("SELECT lost_values - $lost FROM spanner.stat_allocator_pools"), '<=', 200, 'few values are lost');
is(sql(q{SELECT max(next_value) FROM spanner.allocator WHERE name IN ('b11', 'b30')}), 11, 'a value for each draw is reserved');
is(sql(q{SELECT count(spanner.next_value('b11')) FROM generate_series(1, 50)}), 50, 'one of them is in use');
is(sql(q{SELECT batch_now, refills <= 12 FROM spanner.stat_allocator WHERE name = 'b11'}), '9|t', 'its batches have grown');

# Nothing that is decided once is decided again.
$node->append_conf('postgresql.conf', 'spanner_keys.max_allocators = 5');
$node->reload;
is(sql('SELECT size FROM spanner.stat_allocator_pools'), 3, 'a new setting comes too late');

# A database that uses many allocators takes no more than its share.
foreach my $database (qw(one two))
{
	sql("CREATE DATABASE $database");
	sql(q{CREATE EXTENSION spanner_keys; SELECT count(spanner.create_allocator('b' || i, 'batch', batch_size => 9)) FROM generate_series(1, 100) i}, $database);
}
$node->restart;
is(sql(q{SELECT spanner.next_value('b1')}, 'two'), 1, 'a database with few allocators');
is(sql(q{SELECT count(spanner.next_value('b' || i)) FROM generate_series(1, 100) i}, 'one'), 100, 'one with many');
is(sql(q{SELECT spanner.next_value('b1')}, 'two'), 2, 'the other one still has its values');

# Who needs a pool takes one of the database that has the most, of its own if others have as many.
my $shares = q{SELECT string_agg(datname || ' ' || pools, ', ' ORDER BY datname) FROM
	(SELECT datid, count(*) AS pools FROM spanner_internal.list_allocator_pools() GROUP BY datid) p JOIN pg_database ON oid = datid};

$node->restart;
sql(q{SELECT spanner.next_value('b1')}, 'one');
sql(q{SELECT spanner.next_value('b' || i) FROM generate_series(1, 4) i}, 'two');
sql(q{SELECT spanner.next_value('b1')});
is(sql($shares), 'one 1, postgres 1, two 3', 'from the only one above');
sql(q{SELECT spanner.next_value('b2')});
is(sql($shares), 'one 1, postgres 2, two 2', 'again, as long as it has more');
sql(q{SELECT spanner.next_value('b' || i) FROM generate_series(3, 9) i});
is(sql($shares), 'one 1, postgres 2, two 2', 'who has as many gives up a pool of its own');
$node->restart;
sql(q{SELECT spanner.next_value('b' || i) FROM generate_series(1, 2) i}, 'one');
sql(q{SELECT spanner.next_value('b' || i) FROM generate_series(1, 3) i}, 'two');
sql(q{SELECT spanner.next_value('b1')});
is(sql($shares), 'one 2, postgres 1, two 2', 'from the larger one of two');

# A database that is gone has no share any more when the next worker starts.
my $orphans = q{SELECT count(*) FROM spanner_internal.list_allocator_pools() WHERE datid NOT IN (SELECT oid FROM pg_database)};

sql('CREATE DATABASE gone');
sql(q{CREATE EXTENSION spanner_keys; SELECT spanner.create_allocator('a', 'batch')}, 'gone');
is(sql(q{SELECT spanner.next_value('a')}, 'gone'), 1, 'a third database');
sql('DROP DATABASE gone');
is(sql($orphans), 1, 'its pool is there');
ok($node->poll_query_until('one', q{SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'spanner_keys allocator'}), 'no worker');
is(sql(q{SELECT count(spanner.next_value('b1')) FROM generate_series(1, 30)}, 'one'), 30, 'a worker starts');
is(sql($orphans), 0, 'its pool is free');

# All databases share the pools.
$node->append_conf('postgresql.conf', 'spanner_keys.max_allocators = 1');
$node->restart;
foreach my $database (qw(one two three))
{
	sql("CREATE DATABASE $database") if $database eq 'three';
	sql(q{CREATE EXTENSION IF NOT EXISTS spanner_keys; SELECT spanner.create_allocator('a', 'async')}, $database);
}
foreach my $round (1 .. 3)
{
	is(sql(q{SELECT spanner.next_value('a')}, $_), $round, "$_ draws with one pool for all, $round") foreach qw(one two three);
}
# It goes from one to the other all the time, but never from a session that has
# begun to wait at it.  Only an assertion can see that, after ten thousand draws.
my $draws = sql('SHOW debug_assertions') eq 'on' ? 4000 : 100;
my $script = $node->basedir . '/draw.sql';

append_to_file($script, "\\set i random(1, 4)\nSELECT spanner.next_value('few' || :i);\n");
sql(q{SELECT count(spanner.create_allocator('few' || i, 'async')) FROM generate_series(1, 4) i});
$node->command_ok([ 'pgbench', '-n', '-c', 16, '-t', $draws, '-f', $script, 'postgres' ], 'sixteen sessions take turns');

# A pool at which a session waits is nobody else's.
sql(q{SELECT spanner.create_allocator('locked', 'async')});
my $locker = $node->background_psql('postgres', on_error_die => 1);
my $waiter = $node->background_psql('postgres', on_error_stop => 0);
$locker->query_safe(q{BEGIN; SELECT FROM spanner.allocator WHERE name = 'locked' FOR UPDATE});
$waiter->query_until(qr/started/, "SET spanner_keys.allocator_timeout = '3min';\n\\echo started\nSELECT spanner.next_value('locked');\n");
$node->poll_query_until('postgres', 'SELECT pending = 1 FROM spanner.stat_allocator_worker') or die 'nobody waits';
fails_like(q{SET spanner_keys.allocator_timeout = '300ms'; SELECT spanner.next_value('b900')},
	qr/53400: too many allocators in use\nDETAIL:  Sessions wait for every pool that there is \(1\)\.\nHINT:  Increase "spanner_keys\.max_allocators" and preload the library\./, 'the only pool is waited for');
fails_like(q{SET spanner_keys.allocator_timeout = '3min'; SET statement_timeout = '300ms'; SELECT spanner.next_value('b900')},
	qr/57014: canceling statement due to statement timeout/, 'who waits for a pool can be canceled');
$locker->query_safe('COMMIT');
$locker->quit;
like($waiter->query_safe('SELECT 2'), qr/2$/, 'who waited has a value');
$waiter->quit;
is(sql(q{SELECT spanner.next_value('b900')}), 1, 'then the pool is free');

# What does not fit into memory can be made smaller.
$node->append_conf('postgresql.conf', 'spanner_keys.max_allocators = 65536');
$node->restart;
fails_like(q{SELECT spanner.next_value('b900')}, qr/53200: not enough shared memory/, 'too many pools') if $node->pg_version < 17;
$node->append_conf('postgresql.conf', 'spanner_keys.max_allocators = 64');
$node->reload;
is(sql(q{SELECT spanner.next_value('b900')}), 2, 'fewer pools, without a restart');

# Preloaded, from the start
$node->append_conf('postgresql.conf', q{
shared_preload_libraries = 'spanner_keys'
spanner_keys.max_allocators = 1000
});
$node->restart;
sql(q{
	DROP EXTENSION spanner_keys;
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('sync', 'sync');
	SELECT count(spanner.create_allocator('b' || i, 'batch', batch_size => 9, max_batch_size => 9))
	  FROM generate_series(1, 1002) i});
exhaust(1000);

# More allocators than a session remembers
sql(q{SELECT count(spanner.create_allocator('s' || i, 'sync')) FROM generate_series(1, 10100) i});
is(sql(q{
	SELECT sum(spanner.next_value('s' || i)) FROM generate_series(1, 10100) i;
	SELECT sum(spanner.next_value('s' || i)) FROM generate_series(1, 10100) i;
	SELECT sum(spanner.next_value(a.name)) FROM spanner.allocator a WHERE a.name LIKE 's_%' AND a.mode = 'sync' AND a.name <> 'sync'}),
	"10100\n20200\n30300", 'many allocators in one session');
$node->stop;

done_testing();
