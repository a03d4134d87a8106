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
	my $full = qr/53400: too many allocators in use\nDETAIL:  There is room for the values of $limit allocators\.\nHINT:  Increase "spanner_keys\.max_allocators" and preload the library, or call spanner\.release_allocator\(\)/;
	my $over = $limit + 1;

	is(sql("SELECT count(spanner.next_value('b' || i)) FROM generate_series(1, $limit) i"), $limit, "$limit allocators in use");
	fails_like("SELECT spanner.next_value('b$over')", $full, "one more than $limit");
	is(sql(q{SELECT spanner.next_value('b1')}), 2, 'those in use go on');
	is(sql(q{SELECT spanner.next_value('sync')}), 1, 'mode sync needs no room');
	is(sql(q{SELECT spanner.release_allocator('b2')}), 8, 'one is released');
	is(sql("SELECT spanner.next_value('b$over')"), 1, 'another one takes its place');
	fails_like(q{SELECT spanner.next_value('b2')}, $full, 'there is no place for it now');
	is(sql(q{SELECT spanner.release_allocator('b1'), spanner.next_value('b2')}), '7|2', 'it goes on where it was released');
	is(sql(q{SELECT spanner.drop_allocator('b2')}), 't', 'one is dropped');
	is(sql(q{SELECT spanner.next_value('b1')}), 3, 'so there is room');

	# an empty pool has no values that its allocator would lose
	is(sql(q{SELECT count(spanner.next_value('b1')) FROM generate_series(4, 11)}), 8, 'all values of a pool');
	is(sql(q{SELECT spanner.next_value('b' || }.($limit + 2).q{)}), 1, 'the empty pool is used');
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

# Nothing that is decided once is decided again.
$node->append_conf('postgresql.conf', 'spanner_keys.max_allocators = 5');
$node->reload;
fails_like(q{SELECT spanner.next_value('b900')}, qr/There is room for the values of 3 allocators/, 'a new setting comes too late');

# All databases share the pools.
$node->append_conf('postgresql.conf', 'spanner_keys.max_allocators = 1');
$node->restart;
foreach my $database (qw(one two three))
{
	sql("CREATE DATABASE $database");
	sql(q{CREATE EXTENSION spanner_keys; SELECT spanner.create_allocator('a', 'async')}, $database);
}
foreach my $round (1 .. 3)
{
	is(sql(q{SELECT spanner.next_value('a')}, $_), $round, "$_ draws with one pool for all, $round") foreach qw(one two three);
}
sql(q{SELECT spanner.create_allocator('b', 'batch')}, 'one');
is(sql(q{SELECT spanner.next_value('b')}, 'one'), 1, 'a database has values in the pool');
fails_like(q{SELECT spanner.next_value('b900')}, qr/53400: too many allocators/, 'another database has the pool');
$node->poll_query_until('postgres', 'SELECT count(*) = 0 FROM spanner.stat_allocator_worker WHERE pid IS NOT NULL') or die 'a worker stays';
sql('DROP DATABASE one');
is(sql(q{SELECT spanner.next_value('b900')}), 1, 'that of a dropped database is free');

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
	SELECT sum(spanner.next_value(a.allocator_id)) FROM spanner.allocator a WHERE a.name LIKE 's_%' AND a.mode = 'sync' AND a.name <> 'sync'}),
	"10100\n20200\n30300", 'many allocators in one session');
$node->stop;

done_testing();
