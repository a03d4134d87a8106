# Where a row of an allocator comes from: the stamp of a server that was lost
# after it had given values, of a cluster before pg_upgrade, of another server by
# logical replication, and the pool of a database that is gone.  No value is
# given twice.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'needs symbolic links' if $windows_os;

sub draw
{
	my ($node, $name, $count, $database) = @_;

	return split /\n/, $node->safe_psql($database // 'postgres',
		"SELECT spanner.next_value('$name') FROM generate_series(1, $count)");
}

sub row
{
	my ($node, $name) = @_;

	return $node->safe_psql('postgres',
		"SELECT next_value, timeline, system FROM spanner.allocator WHERE name = '$name' AND series = '{}'");
}

sub new_node
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', q{
autovacuum = off
wal_retrieve_retry_interval = 100ms
spanner_keys.allocator_timeout = 3min
spanner_keys.allocator_idle_timeout = 100
});
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys');
	return $node;
}

# A database that has the OID of one that is gone, with a template's table
my $first = new_node('first');

$first->safe_psql('postgres', 'CREATE DATABASE model');
$first->safe_psql('model', q{CREATE EXTENSION spanner_keys; SELECT spanner.create_allocator('a')});
foreach my $turn ('created', 'created again')
{
	$first->safe_psql('postgres', 'CREATE DATABASE copied TEMPLATE model OID 400123');
	is_deeply([ draw($first, 'a', 210, 'copied') ], [ 1 .. 210 ], "a database that is $turn");
	$first->safe_psql('postgres', 'DROP DATABASE copied');
}

# The second server is promoted, and is lost with what it has given; the third
# one is of its timeline, and knows of none of that.
$first->safe_psql('postgres', q{
	SELECT spanner.create_allocator('twice'), spanner.create_allocator('short', 'async', failover_gap => 100),
		spanner.create_allocator('few', max_value => 1000), spanner.create_allocator('upgraded', failover_gap => 5000)});
draw($first, $_, 1) foreach qw(twice short few);
$first->poll_query_until('postgres', 'SELECT count(*) = 0 FROM spanner.stat_allocator_worker') or die 'the worker stays';

my %node;
$first->backup('of_first');
foreach my $name (qw(second third))
{
	$node{$name} = PostgreSQL::Test::Cluster->new($name);
	$node{$name}->init_from_backup($first, 'of_first', has_streaming => 1);
	$node{$name}->start;
	$first->wait_for_catchup($node{$name}, 'replay', $first->lsn('flush'));
}
$first->stop('immediate');
$node{second}->promote;
$node{third}->enable_streaming($node{second});
$node{third}->restart;
$node{second}->wait_for_catchup($node{third}, 'replay', $node{second}->lsn('flush'));
# it must not hear of anything more
$node{third}->safe_psql('postgres', q{ALTER SYSTEM SET primary_conninfo = ''; SELECT pg_reload_conf()});
$node{second}->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_replication') or die 'the standby still streams';

my %given = map { $_ => [ draw($node{second}, $_, 60) ] } qw(twice short few);
$node{second}->stop('immediate');
$node{third}->promote;
foreach my $name (qw(twice short few))
{
	my $row = row($node{third}, $name);
	my @values = draw($node{third}, $name, 1);

	cmp_ok($row =~ s/\|.*//r, '<', $given{$name}[0], "$name: the row is of before both promotions ($row)");
	cmp_ok($values[0], '>', $given{$name}[-1], "$name: the second promotion gives nothing that the first one gave");
}
is((draw($node{third}, 'short', 1))[0] - $given{short}[0], 101, 'two gaps of 100 in mode async');
is($given{twice}[0], 1000201, 'a gap of ten of the largest batches');
is((draw($node{third}, 'twice', 1))[0], 2000202, 'two of them');
like(slurp_file($node{third}->logfile), qr/new timeline 3: allocator "short" skipped 200 values/, 'the log has the sum');

# pg_upgrade begins timelines anew, so a stamp says of which system it is
$node{third}->safe_psql('postgres', q{UPDATE spanner.allocator SET system = system + 1, timeline = 3 WHERE name = 'upgraded'});
is((draw($node{third}, 'upgraded', 1))[0], 5001, 'the same timeline of another system: a gap');
is($node{third}->safe_psql('postgres', q{
		SELECT system = system_identifier FROM spanner.allocator, pg_control_system() WHERE name = 'upgraded'}),
	't', 'it has the stamp of this system now');
like(slurp_file($node{third}->logfile), qr/new cluster: allocator "upgraded" skipped 5000 values/, 'the log says why');
$node{third}->stop;

# A subscriber to the table itself
my $draw_series = q{SELECT spanner.next_value('a', '2026') FROM generate_series(1, 300)};

sub series
{
	my ($node) = @_;

	return $node->safe_psql('postgres', q{
		SELECT name, series, next_value, timeline, system FROM spanner.allocator WHERE series <> '{}' ORDER BY 1, 2});
}

my ($publisher, $subscriber) = (new_node('publisher'), new_node('subscriber'));

$publisher->safe_psql('postgres', q{
	SELECT spanner.create_allocator('a'), spanner.create_allocator('still'), spanner.create_allocator('s', 'sync'),
		spanner.create_allocator('migrated');
	SELECT count(spanner.next_value(n)) FROM unnest('{a,still,s,migrated}'::text[]) n;
	SELECT spanner.reserve_block(n, 4, '2026') FROM unnest('{a,s}'::text[]) n;
	CREATE PUBLICATION p FOR TABLE spanner.allocator});
$subscriber->safe_psql('postgres', q{SELECT spanner.create_allocator('migrated')});
$subscriber->safe_psql('postgres', 'CREATE SUBSCRIPTION s CONNECTION \'' . $publisher->connstr . q{ dbname=postgres' PUBLICATION p});
$subscriber->wait_for_subscription_sync($publisher, 's');
is(row($subscriber, 'a'), '201||', 'a row that was copied has no stamp');
is(row($subscriber, 'migrated'), '201||', 'nor one that was made here before');
$publisher->wait_for_catchup('s');
is(series($subscriber), "a|{2026}|5||\ns|{2026}|5||", 'series were copied without a stamp');

# the subscription is behind when the application moves
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION s DISABLE');
$given{publisher} = [ draw($publisher, 'a', 400) ];
$given{subscriber} = [ draw($subscriber, 'a', 300) ];
$given{series} = [ split /\n/, $publisher->safe_psql('postgres', $draw_series) ];
$given{series_there} = [ split /\n/, $subscriber->safe_psql('postgres', $draw_series) ];
cmp_ok($given{series_there}[0], '>', $given{series}[-1], 'of a series too');
$subscriber->safe_psql('postgres', q{SELECT spanner.next_value('s', '2026')});
cmp_ok($given{subscriber}[0], '>', $given{publisher}[-1], 'the first draw leaves a gap');
cmp_ok((draw($publisher, 'migrated', 400))[-1], '<', (draw($subscriber, 'migrated', 1))[0], 'of an allocator that both have made too');
is($subscriber->safe_psql('postgres', q{SELECT spanner.next_value('migrated', '2026')}), 1000001, 'and series that begin there');

my $row = row($subscriber, 'a');
my $series = series($subscriber);
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION s ENABLE');
draw($publisher, 'a', 300);
draw($publisher, 's', 3);
$publisher->safe_psql('postgres', qq{$draw_series; SELECT spanner.next_value('s', '2027'); UPDATE spanner.allocator SET next_value = 2 WHERE series = '{2026}'});
$publisher->safe_psql('postgres', q{SELECT spanner.alter_allocator('still', batch_size => 7)});
$publisher->wait_for_catchup('s');
is(row($subscriber, 'a'), $row, 'what the publisher draws moves neither counter nor stamp');
is(series($subscriber), "$series\ns|{2027}|2||", 'nor those of series, and new ones follow');
push @{ $given{series_there} }, split /\n/, $subscriber->safe_psql('postgres', $draw_series);
is(scalar keys %{ { map { $_ => 1 } @{ $given{series_there} } } }, 600, 'a series gives nothing twice there');
push @{ $given{subscriber} }, draw($subscriber, 'a', 300);
is(scalar keys %{ { map { $_ => 1 } @{ $given{subscriber} } } }, 600, 'the subscriber gives nothing twice');
is($given{subscriber}[-1] - $given{subscriber}[0], 599, 'and loses nothing');
is(row($subscriber, 's'), '5||', 'a counter that is not drawn from here follows');
is($subscriber->safe_psql('postgres', q{SELECT batch_size FROM spanner.allocator WHERE name = 'still'}), 7, 'so do options');
is((draw($subscriber, 's', 1))[0], 5, 'mode sync goes on where the publisher was');

# ids that were replicated are no obstacle
is($subscriber->safe_psql('postgres', q{SELECT spanner.next_value('s', '2027'), spanner.next_value('s', '2026')}), '2|6', 'and so do its series');
is($subscriber->safe_psql('postgres', q{SELECT spanner.create_allocator('new') NOT IN (SELECT allocator_id FROM spanner.allocator WHERE name <> 'new')}), 't', 'a new allocator gets an id that is free');
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION s');

# Both sides make allocators and series, and each subscribes to the other.
foreach my $node ($publisher, $subscriber)
{
	$node->safe_psql('postgres', q{
		SELECT spanner.create_allocator('both', 'sync', batch_size => 5), spanner.create_allocator('both pools');
		CREATE TABLE t (i int PRIMARY KEY); CREATE TABLE u (i int PRIMARY KEY)});
}
$subscriber->safe_psql('postgres', q{
	SELECT spanner.advance_allocator('both', 50), spanner.next_value('both', 'mine'), spanner.advance_allocator('both', 7, 'shared');
	CREATE PUBLICATION back FOR TABLE spanner.allocator, u});
$publisher->safe_psql('postgres', q{
	SELECT spanner.next_value('both'), spanner.next_value('both', 'theirs'), spanner.advance_allocator('both', 9, 'shared');
	CREATE PUBLICATION forth FOR TABLE spanner.allocator, t});
$subscriber->safe_psql('postgres', 'CREATE SUBSCRIPTION forth CONNECTION \'' . $publisher->connstr . q{ dbname=postgres' PUBLICATION forth});
$subscriber->wait_for_subscription_sync($publisher, 'forth');
$publisher->safe_psql('postgres', 'CREATE SUBSCRIPTION back CONNECTION \'' . $subscriber->connstr . q{ dbname=postgres' PUBLICATION back});
$publisher->wait_for_subscription_sync($subscriber, 'back');
$subscriber->safe_psql('postgres', q{SELECT spanner.advance_allocator('both', 3, 'later'), spanner.next_value('both', 'mine too'); INSERT INTO u VALUES (1)});
$publisher->safe_psql('postgres', q{SELECT spanner.advance_allocator('both', 4, 'later'), spanner.next_value('both', 'theirs too'); INSERT INTO t VALUES (1)});
sub follow_both
{
	foreach my $turn (1, 2)
	{
		$publisher->wait_for_catchup('forth');
		$subscriber->wait_for_catchup('back');
	}
	return;
}
follow_both();

my $both = q{SELECT name, series, next_value FROM spanner.allocator WHERE name LIKE 'both%' ORDER BY 1, 2};

is($publisher->safe_psql('postgres', $both), 'both|{}|50
both|{later}|4
both|{mine}|2
both|{"mine too"}|2
both|{shared}|9
both|{theirs}|2
both|{"theirs too"}|2
both pools|{}|1', 'each row is there once, and as far as any side is');
is($subscriber->safe_psql('postgres', $both), $publisher->safe_psql('postgres', $both), 'on both sides');
is($subscriber->safe_psql('postgres', 'SELECT * FROM t') . $publisher->safe_psql('postgres', 'SELECT * FROM u'), '11', 'the subscriptions have not stopped');
$publisher->safe_psql('postgres', q{SELECT spanner.rename_allocator('both', 'renamed'), spanner.next_value('renamed', 'mine')});
follow_both();
is($subscriber->safe_psql('postgres', q{SELECT spanner.next_value('renamed', 'mine'), spanner.next_value('renamed', 'shared')}), '3|9', 'a new name comes along');

# A name that the subscriber has given to another one, a limit below what it has
# given, a role that it does not know
$publisher->safe_psql('postgres', q{
	SELECT spanner.create_allocator('former', 'sync'), spanner.create_allocator('limited', 'sync');
	SELECT spanner.advance_allocator('former', 30), spanner.advance_allocator('former', 40, 'only there'), spanner.advance_allocator('former', 50, 'shared')});
follow_both();
$publisher->safe_psql('postgres', 'DROP SUBSCRIPTION back');
$subscriber->safe_psql('postgres', q{
	SELECT spanner.create_allocator('taken', 'sync'), spanner.advance_allocator('taken', 60, 'shared'), spanner.next_value('taken', 'mine'),
		spanner.advance_allocator('limited', 900)});
$publisher->safe_psql('postgres', q{
	SELECT spanner.rename_allocator('former', 'taken'), spanner.alter_allocator('limited', max_value => 500);
	CREATE ROLE of_publisher;
	SELECT spanner.grant_allocator('taken', 'of_publisher'), spanner.alter_allocator('limited', owner_role => 'of_publisher'), spanner.next_value('limited');
	INSERT INTO t VALUES (2)});
$publisher->wait_for_catchup('forth');
is($subscriber->safe_psql('postgres', q{
	SELECT name, series, next_value FROM spanner.allocator WHERE name IN ('former', 'taken') ORDER BY 1, 2}),
	"former|{}|30\nformer|{shared}|50\ntaken|{}|30\ntaken|{mine}|2\ntaken|{\"only there\"}|40\ntaken|{shared}|60", 'a new name that is taken');
is($subscriber->safe_psql('postgres', q{SELECT next_value, max_value, owner_role = current_user::regrole FROM spanner.allocator WHERE name = 'limited'}), '900|899|t', 'a limit that is passed, and a role that is not there');
is($subscriber->safe_psql('postgres', 'SELECT max(i) FROM t'), 2, 'do not stop a subscription');
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION forth');

# Whoever writes by hand, in the role of a replica too, writes what he says
$subscriber->safe_psql('postgres', q{
	SET session_replication_role = replica;
	UPDATE spanner.allocator SET next_value = 3 WHERE name = 's'});
is((draw($subscriber, 's', 1))[0], 3, 'an UPDATE by hand moves the counter back');

# Sessions that are connected go on drawing where nobody may connect any more.
$publisher->safe_psql('postgres', 'CREATE DATABASE closed');
my $session = $publisher->background_psql('closed');
$session->query_safe(q{CREATE EXTENSION spanner_keys; SELECT spanner.create_allocator('z', 'batch', batch_size => 2, max_batch_size => 2)});
$publisher->safe_psql('postgres', 'ALTER DATABASE closed ALLOW_CONNECTIONS false');
is($session->query_safe(q{SELECT count(DISTINCT spanner.next_value('z')) FROM generate_series(1, 9)}), 9, 'a database that is being drained');
$session->quit;

$_->stop foreach $subscriber, $publisher;

done_testing();
