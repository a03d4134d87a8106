# Allocators under fire: sessions draw all the time and write down every value
# that they receive, while processes are killed and the server is stopped.
# No value may ever be received twice.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $clients = 4;
my @allocators = qw(adaptive small single);

my $node = PostgreSQL::Test::Cluster->new('faults');
my $ledger = PostgreSQL::Test::Utils::tempdir;

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

# How many bytes the clients have written, for each of them.
sub written
{
	return map { -s "$ledger/values.$_" // 0 } 1 .. $clients;
}

# Each client goes on after it has lost its connection, for as long as the
# test runs.
sub start_clients
{
	my $script = "$ledger/draw.sql";
	my $test = $$;
	my @pids;

	open(my $file, '>', $script) or die "$script: $!";
	foreach (1 .. 3000)
	{
		my $key = $_ % 100;

		print $file "SELECT '$_ ' || spanner.next_value('$_') FROM generate_series(1, 7);\n"
		  foreach @allocators;
		print $file "SELECT 'adaptive ' || n FROM spanner.next_values('adaptive', 30) n;\n";
		print $file "SELECT 'series_$key ' || spanner.next_value('series', '$key') FROM generate_series(1, 3);\n";
		print $file "SELECT s || ' ' || spanner.next_value('series', s)"
		  . " FROM (SELECT 'new_' || (extract(epoch FROM clock_timestamp()) * 5)::bigint % 100000 AS s) x;\n";
		print $file "SELECT 'small ' || n FROM spanner.reserve_block('small', 3) b, generate_series(first_value, last_value) n;\n";
	}
	close($file);

	foreach my $client (1 .. $clients)
	{
		my $pid = fork() // die "fork: $!";

		if ($pid == 0)
		{
			my $command = "until [ -e $ledger/stop ] || ! kill -0 $test 2> /dev/null; do"
			  . " psql -XqAt -d '" . $node->connstr('postgres') . "' -f $script;"
			  . " done >> $ledger/values.$client 2>> $ledger/errors.$client";

			exec('sh', '-c', $command) or POSIX::_exit(1);
		}
		push @pids, $pid;
	}
	return @pids;
}

sub worker_pid
{
	return $node->safe_psql('postgres', 'SELECT pid FROM spanner.stat_allocator_worker WHERE pid IS NOT NULL');
}

# Every client has received something since.
sub wait_for_progress
{
	my @before = written();

	return wait_for('values',
		sub { my @now = written(); return !grep { $now[$_] <= $before[$_] + 1000 } 0 .. $#now; });
}

# The server starts anew by itself after a process was killed.
sub kill_process
{
	my ($pid) = @_;

	die 'nothing to kill' if $pid !~ /^\d+$/;
	kill 'KILL', $pid;
	wait_for('the end of a process', sub { return !kill(0, $pid) });
	wait_for('recovery', sub { return $node->poll_query_until('postgres', 'SELECT true') });
	return;
}

my %faults = (
	'a session is killed' => sub {
		kill_process($node->safe_psql('postgres', q{
			SELECT pid FROM pg_stat_activity
			 WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1}));
	},
	'the worker is killed' => sub {
		wait_for('a worker', sub { return worker_pid() ne '' });
		kill_process(worker_pid());
	},
	'the worker is terminated' => sub {
		foreach (1 .. 5)
		{
			my $pid = worker_pid();

			next if $pid !~ /^\d+$/;
			$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
			wait_for('another worker', sub { return worker_pid() ne $pid });
		}
	},
	'a fast stop' => sub { $node->stop('fast'); $node->start },
	'an immediate stop' => sub { $node->stop('immediate'); $node->start },
	# the other processes take a while to notice
	'the postmaster is killed' => sub {
		my @processes = split /\n/, $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity');

		$node->kill9;
		wait_for('the end of all processes', sub { return !kill(0, @processes) });
		$node->start;
	});

$node->init;
$node->append_conf('postgresql.conf', q{
restart_after_crash = on
spanner_keys.allocator_return_unused = 'idle'
autovacuum_naptime = 1s
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('adaptive'),
	       spanner.create_allocator('small', mode => 'batch', batch_size => 5, max_batch_size => 5),
	       spanner.create_allocator('single', mode => 'async'),
	       spanner.create_allocator('series', mode => 'batch', batch_size => 5)});

my @pids = start_clients();
foreach my $fault (sort keys %faults)
{
	wait_for_progress();
	$faults{$fault}->();
	ok(wait_for_progress(), "values after $fault");
}
wait_for('series', sub { return $node->safe_psql('postgres', q{SELECT count(*) > 120 FROM spanner.allocator WHERE series <> '{}'}) eq 't' });
open(my $stop, '>', "$ledger/stop") or die "stop: $!";
close($stop);
# those that wait for their script to end would last
$node->stop('fast');
waitpid($_, 0) foreach @pids;
$node->start;

my (%seen, %count, %largest);
my $twice = 0;

foreach my $client (1 .. $clients)
{
	open(my $file, '<', "$ledger/values.$client") or die "values: $!";
	while (<$file>)
	{
		next unless /^(\w+) (\d+)$/;
		$twice++ if $seen{"$1 $2"}++;
		$count{$1}++;
		$largest{$1} = $2 if $2 > ($largest{$1} // 0);
	}
	close($file);
}
foreach my $allocator (@allocators)
{
	cmp_ok($count{$allocator}, '>', 1000, "values of \"$allocator\"");
	note("$allocator: $count{$allocator} values up to $largest{$allocator}");
	is($node->safe_psql('postgres', "SELECT next_value > $largest{$allocator} FROM spanner.allocator WHERE name = '$allocator' AND series = '{}'"),
		't', "the table is ahead of what \"$allocator\" has given");
}
my @series = grep { /_/ } keys %count;
cmp_ok(@series, '>', 100, 'series were made meanwhile');
is($node->safe_psql('postgres', sprintf(q{
	SELECT count(*) FROM (VALUES %s) v (name, largest)
	  JOIN spanner.allocator s ON s.series = ARRAY[regexp_replace(v.name, '^series_', '')]
	 WHERE s.next_value > v.largest}, join(', ', map { "('$_', $largest{$_})" } @series))),
	scalar @series, 'the table is ahead of what series have given');
is($twice, 0, 'no value was received twice');

done_testing();
