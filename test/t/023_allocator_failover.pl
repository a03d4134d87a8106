# Allocators and standbys: a standby refuses to draw, and after its promotion or
# a recovery to a point in time no value is given that was given before, although
# the server may not know of the last batches.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

plan skip_all => 'processes cannot be stopped here' if $windows_os;

# Poll until a function says yes.
sub wait_for
{
	my ($what, $ready) = @_;

	foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		return 1 if $ready->();
		usleep(100_000);
	}
	die "timed out waiting for $what";
}

# Draw values from an allocator, and return the last one.
sub draw
{
	my ($node, $name, $count) = @_;

	return $node->safe_psql('postgres',
		"SELECT max(spanner.next_value('$name')) FROM generate_series(1, $count)");
}

sub fails_like
{
	my ($node, $query, $message, $name) = @_;
	my ($result, $out, $err) = $node->psql('postgres', $query);

	isnt($result, 0, "$name: fails");
	like($err, $message, $name);
	return;
}

sub new_primary
{
	my ($name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(allows_streaming => 1);
	$node->append_conf('postgresql.conf', q{
autovacuum = off
wal_sender_timeout = 0
spanner_keys.allocator_timeout = 3min
spanner_keys.allocator_idle_timeout = 100
});
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys');
	return $node;
}

sub new_standby
{
	my ($primary, $name) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$primary->backup("for_$name");
	$node->init_from_backup($primary, "for_$name", has_streaming => 1);
	$node->append_conf('postgresql.conf', "primary_conninfo = '" . $primary->connstr . " application_name=$name'");
	$node->start;
	return $node;
}

# Nothing goes on in a server after this, not even in a stopped process.
sub kill_server
{
	my ($node, $stopped) = @_;
	my @processes = split /\n/, $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity');

	$node->kill9;
	kill 'KILL', $stopped if defined $stopped;
	wait_for('the end of all processes', sub { return !kill(0, @processes) });
	return;
}

my %last;

# Draw what a standby does not come to know of, and promote that.
sub fail_over
{
	my ($primary, $standby, @names) = @_;
	my $sender = $primary->safe_psql('postgres', 'SELECT pid FROM pg_stat_replication');

	kill 'STOP', $sender;
	$last{$_} = draw($primary, $_, 60) foreach @names;
	kill_server($primary, $sender);
	$standby->promote;
	return;
}

# An asynchronous standby does not know of the last batches.
my $primary = new_primary('primary');

$primary->safe_psql('postgres', q{
	SELECT spanner.create_allocator('automatic', mode => 'batch', batch_size => 20, max_batch_size => 20),
	       spanner.create_allocator('fixed', mode => 'async_batch', batch_size => 20, max_batch_size => 20, failover_gap => 200),
	       spanner.create_allocator('async', mode => 'async'),
	       spanner.create_allocator('none', mode => 'batch', batch_size => 20, max_batch_size => 20, failover_gap => 0),
	       spanner.create_allocator('altered', mode => 'async', failover_gap => 500),
	       spanner.create_allocator('locked', mode => 'async', failover_gap => 500),
	       spanner.create_allocator('advanced', mode => 'batch', failover_gap => 500),
	       spanner.create_allocator('reset', mode => 'batch', failover_gap => 500),
	       spanner.create_allocator('now sync', mode => 'async', failover_gap => 500),
	       spanner.create_allocator('series', mode => 'batch', batch_size => 20, max_batch_size => 20, failover_gap => 300)});
my @names = split /\n/, $primary->safe_psql('postgres', 'SELECT name FROM spanner.allocator WHERE series = $${}$$ ORDER BY 1');
push @names, q{series', 'old};
draw($primary, $_, 30) foreach @names;

my $standby = new_standby($primary, 'standby');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
fails_like($standby, "SELECT spanner.$_",
	qr/cannot execute spanner\.\w+\(\) during recovery/, "on a standby: $_")
  foreach q{next_value('none')}, q{next_values('none', 3)},
	q{reserve_block('none', 3)}, q{create_allocator('other')},
	q{alter_allocator('none', batch_size => 3)}, q{drop_allocator('none')},
	q{release_allocator('none')}, q{advance_allocator('none', 1000)};
is($standby->safe_psql('postgres', 'SELECT count(*) FROM spanner.stat_allocator_worker'),
	0, 'no worker on a standby');
fail_over($primary, $standby, @names, q{series', 'lost}, q{series', 'lost too});

my %gap = (automatic => 200, fixed => 200, async => 1_000_000);
foreach my $name (sort keys %gap)
{
	my $before = $standby->safe_psql('postgres', "SELECT next_value FROM spanner.allocator WHERE name = '$name'");
	my $first = draw($standby, $name, 1);

	cmp_ok($before, '<=', $last{$name}, "$name: the standby does not know of the last batches");
	is($first, $before + $gap{$name}, "$name: the gap is left out");
	cmp_ok($first, '>', $last{$name}, "$name: no value twice");
	is(draw($standby, $name, 1), $first + 1, "$name: it is left out once");
}
like(slurp_file($standby->logfile), qr/new timeline 2: allocator "fixed" skipped 200 values/, 'the gap is logged');
cmp_ok(draw($standby, 'none', 1), '<=', $last{none}, 'without a gap a value is given twice');
unlike(slurp_file($standby->logfile), qr/allocator "none" skipped/, 'no gap is logged');

# A series may have begun of which the standby knows nothing, until somebody says
# that there is none.  A draw from the allocator itself, or new options, say nothing of that.
draw($standby, 'series', 1);
$standby->safe_psql('postgres', q{SELECT spanner.alter_allocator('series', max_batch_size => 30); SELECT spanner.advance_allocator('series', 1, 'old')});
foreach my $series ('old', 'lost', 'lost too')
{
	cmp_ok(draw($standby, "series', '$series", 1), '>', $last{"series', '$series"}, "series $series: no value twice");
}
is(draw($standby, "series', '$_", 1), 302, "series $_: the gap is left out once") foreach 'lost', 'lost too';
is(draw($standby, q{series', 'new}, 1), 301, 'series new: it might be one that is lost');
$standby->safe_psql('postgres', q{SELECT spanner.advance_allocator('series', 1)});
is(draw($standby, q{series', 'newer}, 1), 1, 'series newer: it begins');

# The session that has changed or locked the row reserves by itself.
my @own = ("SELECT spanner.alter_allocator('altered', batch_size => 20)",
	"SELECT FROM spanner.allocator WHERE name = 'locked' FOR UPDATE",
	"SELECT spanner.alter_allocator('now sync', mode => 'sync')");
foreach my $name ('altered', 'locked', 'now sync')
{
	my $statement = shift @own;
	my $value = $standby->safe_psql('postgres', "BEGIN; $statement; SELECT spanner.next_value('$name'); COMMIT");

	$value =~ s/^\n//;
	cmp_ok($value, '>', $last{$name}, "$name: no value twice in the transaction that has changed it");
	is(draw($standby, $name, 1), $value + 1, "$name: the next value");
}

# Whoever moves a counter starts from behind the gap.
cmp_ok($standby->safe_psql('postgres', q{SELECT spanner.advance_allocator('advanced', 40)}), '>', 500, 'advanced: what is not reserved');
cmp_ok(draw($standby, 'advanced', 1), '>', $last{advanced}, 'advanced: no value twice');
fails_like($standby, q{SELECT spanner.reset_allocator('reset', 300)}, qr/value 300 is below the next value/, 'reset below the gap');
is($standby->safe_psql('postgres', q{SELECT spanner.reset_allocator('reset', 7, force => true); SELECT spanner.next_value('reset')}),
	"\n7", 'reset by force: without a gap');

# The gap takes a tenth of what is left at most, also for the session that reserves by itself.
is($standby->safe_psql('postgres', q{SELECT spanner.create_allocator('limited', mode => 'async', max_value => 50, failover_gap => 100),
	       spanner.create_allocator('small', mode => 'batch', max_value => 99999) IS NULL;
	UPDATE spanner.allocator SET timeline = 1 WHERE name IN ('limited', 'small')}) =~ s/^\d+\|//r, 'f', 'allocators with few values');
is($standby->safe_psql('postgres', "BEGIN; SELECT FROM spanner.allocator WHERE name = 'limited' FOR UPDATE; SELECT spanner.next_value('limited')"),
	"6", 'the gap is larger than what is left, in a transaction');
is(draw($standby, 'limited', 1), 6, 'the gap is larger than what is left');
is(draw($standby, 'small', 1), 10001, 'the automatic gap is larger than what is left');

# Any other timeline is one of which this server knows nothing, but new rows are of this server.
is($standby->safe_psql('postgres', q{
	INSERT INTO spanner.allocator (name, mode, failover_gap, owner_role, timeline)
	VALUES ('from a dump', 'batch', 500, 'pg_monitor', 1), ('later', 'batch', 500, 'pg_monitor', 5), ('unknown', 'batch', 500, 'pg_monitor', NULL);
	SELECT count(*) FROM spanner.allocator WHERE name IN ('from a dump', 'later', 'unknown') AND timeline = 2;
	UPDATE spanner.allocator SET timeline = CASE name WHEN 'later' THEN 5 END WHERE name IN ('later', 'unknown')}), 3, 'rows of a dump');
is(draw($standby, 'from a dump', 1), 1, 'a dump of another server: no gap');
is(draw($standby, $_, 1), 501, "timeline $_: a gap") foreach qw(later unknown);
$standby->stop;

# Whatever synchronous_commit is in the database, values wait for what the
# setting of allocators says: nothing is given that a promoted standby gives.
foreach my $default (qw(off local remote_write on remote_apply))
{
	$primary = new_primary("durable_$default");
	$primary->safe_psql('postgres', qq{
		ALTER DATABASE postgres SET synchronous_commit = $default;
		SELECT spanner.create_allocator('wait', mode => 'batch', batch_size => 3, max_batch_size => 3, failover_gap => 0)});
	$standby = new_standby($primary, "durable_standby_$default");
	$primary->append_conf('postgresql.conf', "synchronous_standby_names = '*'");
	$primary->reload;
	$primary->poll_query_until('postgres', q{SELECT sync_state = 'sync' FROM pg_stat_replication}) or die 'standby is not synchronous';
	foreach my $wish (qw(remote_write on remote_apply local))
	{
		my $replay = $wish eq 'remote_apply';
		my $sender = $primary->safe_psql('postgres', 'SELECT pid FROM pg_stat_replication');

		$primary->append_conf('postgresql.conf', "spanner_keys.allocator_synchronous_commit = '$wish'");
		$primary->reload;
		$primary->poll_query_until('postgres', 'SELECT count(*) = 0 FROM spanner.stat_allocator_worker') or die 'the worker stays';
		$last{wait} = draw($primary, 'wait', 3);
		$primary->poll_query_until('postgres', 'SELECT count(*) = 0 FROM spanner.stat_allocator_worker') or die 'the worker stays';
		# remote_apply differs from on if the standby receives and does not apply
		$replay ? $standby->safe_psql('postgres', 'SELECT pg_wal_replay_pause()') : kill 'STOP', $sender;

		my ($result, $out, $err) = $primary->psql('postgres', q{SET spanner_keys.allocator_timeout = '700ms'; SELECT spanner.next_value('wait')});

		is($result == 0 ? 'given' : 'waits', $wish eq 'local' ? 'given' : 'waits', "database $default, allocators $wish");
		if ($wish eq 'local')
		{
			kill_server($primary, $sender);
			$standby->promote;
			cmp_ok(draw($standby, 'wait', 1), '>', $last{wait}, "database $default: promoted, no value twice that was waited for");
		}
		else
		{
			$replay ? $standby->safe_psql('postgres', 'SELECT pg_wal_replay_resume()') : kill 'CONT', $sender;
		}
	}
	$standby->stop;
}

# Values wait for a synchronous standby, which knows of all that were given.
$primary = new_primary('sync_primary');
$primary->safe_psql('postgres', q{
	SELECT spanner.create_allocator('batch', mode => 'batch', batch_size => 20, max_batch_size => 20, failover_gap => 0),
	       spanner.create_allocator('async', mode => 'async', failover_gap => 0)});
$standby = new_standby($primary, 'sync_standby');
$primary->append_conf('postgresql.conf', "synchronous_standby_names = 'sync_standby'");
$primary->reload;
$primary->poll_query_until('postgres', q{SELECT sync_state = 'sync' FROM pg_stat_replication}) or die 'standby is not synchronous';
$last{$_} = draw($primary, $_, 30) foreach qw(batch async);

$standby->stop;
is($primary->safe_psql('postgres', q{SELECT count(*) FROM generate_series(1, 10) WHERE spanner.next_value('batch') > 0}),
	10, 'what is in the pool does not wait for the standby');
fails_like($primary, "SET spanner_keys.allocator_timeout = '300ms'; \\set VERBOSITY verbose\nSELECT spanner.next_value('$_')",
	qr/55P03: timed out after 300 ms waiting for allocator "$_"\nDETAIL:  Its worker waits for storage, a synchronous standby or a processor/,
	"standby down, $_")
  foreach qw(batch async);

my $waiting = q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'spanner_keys allocator' AND wait_event = 'SyncRep'};
$primary->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($waiting) w") or die 'the worker does not wait';
my $worker = $primary->safe_psql('postgres', $waiting);
$primary->safe_psql('postgres', "SELECT pg_cancel_backend($worker)");
fails_like($primary, q{SET spanner_keys.allocator_timeout = '300ms'; SELECT spanner.next_value('batch')},
	qr/timed out/, 'a cancelled worker hands out nothing');
is($primary->safe_psql('postgres', $waiting), $worker, 'a worker cannot be cancelled');

my $reserved = $primary->safe_psql('postgres', q{SELECT next_value FROM spanner.allocator WHERE name = 'batch'});
$primary->safe_psql('postgres', "SELECT pg_terminate_backend($worker)");
$primary->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $worker") or die 'the worker goes on';
fails_like($primary, q{SET spanner_keys.allocator_timeout = '300ms'; SELECT spanner.next_value('batch')},
	qr/timed out/, 'a terminated worker hands out nothing');
is($primary->safe_psql('postgres', q{SELECT next_value FROM spanner.allocator WHERE name = 'batch'}),
	$reserved + 20, 'its commit is there, though');
$standby->start;
is(draw($primary, 'batch', 1), $reserved + 20, 'the first value after it was terminated');
$last{batch} = draw($primary, 'batch', 9);
$last{async} = draw($primary, 'async', 9);

kill_server($primary);
$standby->promote;
foreach my $name (qw(batch async))
{
	my $first = draw($standby, $name, 1);

	cmp_ok($first, '>', $last{$name}, "$name: no value twice after the promotion of a synchronous standby");
	cmp_ok($first, '<=', $last{$name} + 20, "$name: nothing is left out but a batch");
}
unlike(slurp_file($standby->logfile), qr/skipped/, 'no gap');
$standby->stop;

# Recovery to a point in time is a new timeline too.
$primary = PostgreSQL::Test::Cluster->new('archive');
$primary->init(has_archiving => 1, allows_streaming => 1);
$primary->start;
$primary->safe_psql('postgres', q{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('batch', mode => 'batch', batch_size => 20, max_batch_size => 20, failover_gap => 300);
	SELECT spanner.create_allocator('sync', mode => 'sync')});
$primary->backup('base');
draw($primary, $_, 50) foreach qw(batch sync);
$primary->safe_psql('postgres', q{SELECT pg_create_restore_point('here')});
$last{$_} = draw($primary, $_, 50) foreach qw(batch sync);
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
$primary->stop;

my $restored = PostgreSQL::Test::Cluster->new('restored');
$restored->init_from_backup($primary, 'base', has_restoring => 1, standby => 0);
$restored->append_conf('postgresql.conf', q{
recovery_target_name = 'here'
recovery_target_action = 'promote'
});
$restored->start;
$restored->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'no promotion';
cmp_ok(draw($restored, 'batch', 1), '>', $last{batch}, 'no value twice after recovery to a point in time');
is(draw($restored, 'sync', 1), 51, 'mode sync: goes on after the last transaction that is there');
$restored->stop;

# Clients take values of series at random, and rows get numbers on commit, while
# one standby after the other is promoted, each cut off at a random moment.  With
# PROMOTIONS and SEED in the environment it goes on for longer, or is made again.
my $seed = $ENV{SEED} // time();
my %seen;
my $twice = 0;

sub pick { return $_[ int(rand(@_)) ] }

# It prints "allocator/series value", of values that are durable.
sub start_client
{
	my ($node) = @_;
	my $script = '';
	my %client = (out => '');

	foreach (1 .. 40)
	{
		my $name = pick(qw(batch async_batch async));
		my $number = pick(0, 1, 2, 3, int(rand(40)));
		my $series = $number ? ", '$number'" : '';
		my $count = pick(1, 1, 3);

		$script .= pick(
			"SELECT '$name/$number ' || spanner.next_value('$name'$series) FROM generate_series(1, $count);\n",
			"SELECT '$name/$number ' || n FROM spanner.next_values('$name', $count$series) n;\n",
			"SELECT '$name/$number ' || n FROM spanner.reserve_block('$name', $count$series) b, generate_series(first_value, last_value) n;\n",
			"INSERT INTO numbered (branch) SELECT $number FROM generate_series(1, $count);\n");
	}
	$client{run} = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres') ], '<', \$script, '>', \$client{out}, '2>', \$client{err});
	return \%client;
}

srand($seed);
$primary = new_primary('random0');
$primary->safe_psql('postgres', q{
	SELECT spanner.create_allocator(mode, mode, batch_size => 10, max_batch_size => 10, failover_gap => 1000) FROM unnest('{batch,async_batch,async}'::text[]) mode;
	CREATE TABLE numbered (branch int, number bigint);
	SELECT spanner.number_rows('numbered', 'number', '{branch}')});
foreach my $turn (1 .. $ENV{PROMOTIONS} // 2)
{
	$standby = new_standby($primary, "random$turn");
	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('flush'));
	my $sender = $primary->safe_psql('postgres', 'SELECT pid FROM pg_stat_replication');
	my @clients = map { start_client($primary) } 1 .. 3;

	usleep(rand(300_000));
	kill 'STOP', $sender;
	foreach my $client (@clients)
	{
		$client->{run}->finish;
		is($client->{err}, '', "promotion $turn, seed $seed: no error of a client");
		$twice += grep { $seen{$_}++ } split /\n/, $client->{out};
	}
	kill_server($primary, $sender);
	$standby->promote;
	is( $standby->safe_psql('postgres', q{SELECT branch, count(*), count(number), max(number) FROM numbered
			GROUP BY 1 HAVING count(*) <> max(number) OR count(*) <> count(number)}),
		'', "promotion $turn, seed $seed: no number on commit is missing");
	$primary = $standby;
}
is($twice, 0, 'no value of a series twice, of ' . keys(%seen));
$primary->stop;

done_testing();
