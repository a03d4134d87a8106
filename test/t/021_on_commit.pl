# Numbers that are assigned on commit have no gaps and lose nothing that a
# client was told, whatever kills the server, with early_lock_release or
# without, and after a failover to a synchronous standby.
#
# Each client writes down every number that it is told after a commit.  Its
# transactions insert two rows and stay open for a moment.  They also draw from
# a plain sequence: the control for the order of commits.  The control for
# losses are rounds with synchronous_commit off.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $clients = 5;
my $lost = 0;    # rows in rounds that may lose some
my %told;        # number => times that a client was told of it

# Write the script of a client, far longer than it lives.
sub write_script
{
	my ($client, @settings) = @_;
	my $file = "$PostgreSQL::Test::Utils::tmp_check/on_commit_$client.sql";
	my $script = <<"EOS" x 4000;
BEGIN;
INSERT INTO invoice (client) VALUES ($client);
DO 'BEGIN PERFORM pg_sleep(random() * 0.003); END';
INSERT INTO invoice (client) VALUES ($client);
COMMIT;
SELECT spanner.last_assigned('invoice');
EOS

	unlink $file;
	append_to_file($file, join('', "\\set QUIET on\n", map { "SET $_;\n" } @settings) . $script);
	return $file;
}

sub start_client
{
	my ($node, $script, $client) = @_;
	my $base = PostgreSQL::Test::Utils::tempdir() . "/client_$client";
	my %self = (out => "$base.out", err => "$base.err");

	$self{run} = IPC::Run::start(
		[ 'psql', '-XAt', '-d', $node->connstr('postgres'), '-f', $script ],
		'>', $self{out}, '2>', $self{err},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return \%self;
}

# Run clients, let "fault" stop them, and note what they were told.
sub run_round
{
	my ($node, $settings, $fault) = @_;
	my $before = $node->safe_psql('postgres', 'SELECT count(*) FROM invoice');
	my @running = map { start_client($node, write_script($_, @$settings), $_) } 1 .. $clients;
	my %now;

	$node->poll_query_until('postgres', "SELECT count(*) > $before + 400 FROM invoice")
	  or die 'the clients do not come forward';
	$fault->($node);
	foreach my $client (@running)
	{
		$client->{run}->finish;
		unlike(slurp_file($client->{err}), qr/ERROR/, 'a client met no error');
		$now{$_}++ foreach slurp_file($client->{out}) =~ /^(\d+)$/mg;
	}
	cmp_ok(scalar keys %now, '>', 100, 'the clients were told of numbers');
	return \%now;
}

# All that was told is there, without a gap, and in the order of commits.
sub check_numbers
{
	my ($node, $told, $name) = @_;
	my %stored = map { $_ => 1 }
	  split /\n/, $node->safe_psql('postgres', 'SELECT number FROM invoice');
	my @missing = grep { !$stored{$_} } keys %$told;

	is( $node->safe_psql(
			'postgres', q{
			SELECT count(*) = max(number) AND count(DISTINCT number) = max(number)
				AND min(number) = 1
				AND max(number) + 1 = (SELECT next_value FROM spanner.allocator WHERE name = 'invoice' AND series = '{}')
			FROM invoice}),
		't',
		"$name: no gaps");
	is( $node->safe_psql(
			'postgres', q{
			SELECT count(*), bool_and(rows = largest AND different = largest AND next_value = largest + 1)
			FROM (SELECT part, count(*) AS rows, count(DISTINCT part_number) AS different, max(part_number) AS largest
				FROM invoice GROUP BY part) p
			JOIN spanner.allocator ON series = ARRAY[part::text]}),
		'7|t',
		"$name: no gaps in series");
	is(out_of_order($node, 'number'), 0, "$name: numbers are in the order of commits");
	return scalar @missing;
}

sub out_of_order
{
	my ($node, $column) = @_;

	return $node->safe_psql(
		'postgres', qq{
		SELECT count(*) FROM (
			SELECT pg_xact_commit_timestamp(xmin) AS this,
				lag(pg_xact_commit_timestamp(xmin)) OVER (ORDER BY $column) AS previous
			FROM invoice) t
		WHERE this < previous});
}

sub kill_backend
{
	my ($node) = @_;
	my $pid = $node->safe_psql(
		'postgres', q{
		SELECT pid FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
		LIMIT 1});

	kill 'KILL', $pid if $pid =~ /^\d+$/;
	return;
}

# What a killed postmaster leaves behind may take a moment to go, and is no
# server that runs.  psql could end before it has read a query from its pipe.
sub start_again
{
	my ($node) = @_;
	my $attempts = 10 * $PostgreSQL::Test::Utils::timeout_default;

	if (!defined $node->{_pid})
	{
		until ($node->start(fail_ok => 1) || $attempts-- == 0)
		{
			$node->{_pid} = undef;
			select undef, undef, undef, 0.1;
		}
	}
	until (system('pg_isready', '-q', '-h', $node->host, '-p', $node->port) == 0)
	{
		die 'the server does not come back' if $attempts-- <= 0;
		select undef, undef, undef, 0.1;
	}
	return;
}

sub wait_for_event
{
	my ($node, $application, $event) = @_;

	ok( $node->poll_query_until(
			'postgres', qq{
			SELECT count(*) = 1 FROM pg_stat_activity
			WHERE application_name = '$application' AND wait_event = '$event'}),
		"$application waits: $event");
	return;
}

my $node = PostgreSQL::Test::Cluster->new('on_commit');
$node->init(allows_streaming => 1);
$node->append_conf(
	'postgresql.conf', q{
restart_after_crash = on
autovacuum = off
track_commit_timestamp = on
wal_writer_delay = 10s
wal_writer_flush_after = 1GB});
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('invoice', 'on_commit');
	SELECT spanner.create_allocator('part', 'on_commit');
	CREATE TABLE invoice (id bigserial PRIMARY KEY, number bigint, client int,
		part int GENERATED ALWAYS AS (id % 7) STORED, part_number bigint);
	CREATE CONSTRAINT TRIGGER part AFTER INSERT ON invoice
		DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('part', 'part_number', 'part');
	CREATE CONSTRAINT TRIGGER number AFTER INSERT ON invoice
		DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('invoice', 'number');});

my %faults = (
	'killed backend' => \&kill_backend,
	'immediate stop' => sub { $_[0]->stop('immediate') },
	'killed postmaster' => sub { $_[0]->kill9 });

for my $early ('off', 'on')
{
	for my $fault (sort keys %faults)
	{
		my $name = "$fault, early_lock_release $early";
		my $now = run_round($node, ["spanner_keys.early_lock_release = $early"], $faults{$fault});

		start_again($node);
		$told{$_} += $now->{$_} foreach keys %$now;
		is(check_numbers($node, \%told, $name), 0, "$name: nothing is lost");
	}
}
is((grep { $_ > 1 } values %told), 0, 'no number was told twice');
cmp_ok(out_of_order($node, 'id'), '>', 0, 'control: a sequence is not in the order of commits');

# The order of the numbers does not depend on it, what is left of them does.
for (1 .. 5)
{
	my $now = run_round($node, ['synchronous_commit = off'], $faults{'immediate stop'});

	start_again($node);
	$lost += check_numbers($node, $now, 'asynchronous');
	last if $lost > 0;
}
cmp_ok($lost, '>', 0, 'control: asynchronous commits can be lost');

# A standby that has gone away holds up commits, but with early release not
# those who want the next number.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
$node->append_conf('postgresql.conf', "synchronous_standby_names = '*'");
$node->reload;
$node->poll_query_until('postgres', q{SELECT sync_state = 'sync' FROM pg_stat_replication})
  or die 'the standby does not become synchronous';
for my $early ('off', 'on')
{
	my $last = $node->safe_psql('postgres', 'SELECT max(number) FROM invoice');
	my @out = ('', '');
	my @running;
	my $sql = "SET spanner_keys.early_lock_release = $early;"
	  . ' INSERT INTO invoice (client) VALUES (0);';
	my $start = sub {
		my ($i) = @_;
		local $ENV{PGAPPNAME} = "early $early $i";

		push @running, IPC::Run::start(
			[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $sql,
				'-c', q{SELECT spanner.last_assigned('invoice')},
				'-c', 'SHOW synchronous_commit' ],
			'>', \$out[$i],
			IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	};

	$standby->stop;
	$start->(0);
	wait_for_event($node, "early $early 0", 'SyncRep');
	$start->(1);
	wait_for_event($node, "early $early 1", $early eq 'on' ? 'SyncRep' : 'transactionid');
	is( $node->safe_psql('postgres', "SELECT count(*) FROM invoice WHERE number > $last"),
		$early eq 'on' ? 2 : 0,
		"early_lock_release $early: rows that others see while their commits wait");
	is(join('', @out), '', 'no commit is acknowledged');
	$standby->start;
	$_->finish foreach @running;
	is($out[0], ($last + 1) . "\non\n", 'the first commit is acknowledged');
	is($out[1], ($last + 2) . "\non\n", 'the second commit is acknowledged');
}

my $now = run_round($node, ['spanner_keys.early_lock_release = on'], $faults{'immediate stop'});
$standby->promote;
is(check_numbers($standby, $now, 'failover'), 0, 'failover: nothing is lost');
is( $standby->safe_psql(
		'postgres', q{
		INSERT INTO invoice (client) VALUES (0);
		SELECT spanner.last_assigned('invoice') = (SELECT count(*) FROM invoice)}),
	't',
	'the promoted standby goes on with the next number');

$standby->stop;
unlink map { "$PostgreSQL::Test::Utils::tmp_check/on_commit_$_.sql" } 1 .. $clients;

done_testing();
