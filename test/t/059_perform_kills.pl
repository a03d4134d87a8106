# Moves by spanner_keys_perform while clients write, and while servers and the
# command itself are killed at any time.  The same command goes on, no row is
# lost or there twice, and nothing is left over.  KILLS=26 kills more.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use POSIX ();
use Test::More;
use Time::HiRes qw(time usleep);

my $kills = $ENV{KILLS} || 6;
my %node = map { $_ => PostgreSQL::Test::Cluster->new("kills_$_") } 'here', 'server2';
my $here = $node{here};

foreach my $node (values %node)
{
	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\nwal_retrieve_retry_interval = 100ms\nwal_receiver_timeout = 5s");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits');
}
my $user = $here->safe_psql('postgres', 'SELECT current_user');
$here->safe_psql(
	'postgres', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER server2 FOREIGN DATA WRAPPER postgres_fdw
		OPTIONS (host '@{[ $node{server2}->host ]}', port '@{[ $node{server2}->port ]}', dbname 'postgres');
	CREATE USER MAPPING FOR CURRENT_USER SERVER server2 OPTIONS (user '$user');
	CREATE TABLE orders (id bigserial PRIMARY KEY, note text NOT NULL);
	INSERT INTO orders (note) SELECT 'old ' || i FROM generate_series(1, 20000) i;
	SELECT spanner.convert_column('orders', 'id');
	ANALYZE orders;});

my $state = PostgreSQL::Test::Utils::tempdir();
my $tmp = $PostgreSQL::Test::Utils::tmp_check;
my @perform = ('spanner_keys_perform', '--yes', "--state=$state", '--tries=60', '-d', $here->connstr('postgres'));
my %count = (here => 0, server2 => 0, command => 0);

sub value
{
	return $here->safe_psql('postgres', $_[0]);
}

# A client notes what it knows to be committed.
sub start_writer
{
	my ($name) = @_;
	my $pid = fork // die "fork: $!";

	return $pid if $pid;
	for (my $number = 0; !-e "$tmp/stop"; $number += 20)
	{
		my $file = "$tmp/inserts_$name";

		unlink $file;
		append_to_file($file, join '', map { "INSERT INTO orders (note) VALUES ('w$name-@{[ $number + $_ ]}') RETURNING 'ok ' || note;\n" } 1 .. 20);
		system(qq{psql -XAtq -v ON_ERROR_STOP=1 -d "@{[ $here->connstr('postgres') ]}" -f $file >> $tmp/writer_$name 2> /dev/null}) == 0
		  or usleep(50_000);
	}
	POSIX::_exit(0);
}

# The command, in a process of its own.
sub start_command
{
	my $pid = fork // die "fork: $!";

	return $pid if $pid;
	open STDIN, '<', '/dev/null';
	open STDOUT, '>', '/dev/null';
	open STDERR, '>', "$tmp/command.log";
	exec @perform, @_;
}

sub kill_something
{
	my ($command) = @_;
	my $victim = ('here', 'server2', 'command')[ int rand 3 ];

	return if waitpid($command, POSIX::WNOHANG()) != 0;
	$count{$victim}++;
	if ($victim eq 'command')
	{
		kill 'KILL', $command;
		return;
	}
	$node{$victim}->stop('immediate');
	$node{$victim}->start;
	return;
}

# The same command until it has done everything.  If it is killed at its very
# end, it is told that there is nothing left to do.
sub move
{
	my @words = @_;
	my $log = '';

	for (1 .. 40)
	{
		my $command = start_command('move_split', @words);

		while ($count{here} + $count{server2} + $count{command} < $kills)
		{
			usleep(200_000 + int rand 2_500_000);
			last if waitpid($command, POSIX::WNOHANG()) != 0;
			kill_something($command);
		}
		waitpid $command, 0;
		$log = slurp_file("$tmp/command.log");
		last if $log =~ /is on that server already|is not within partition/;
		next if $log !~ /step (\d+) of \1, [^:]*: [^:]*: done\n\z/;
		last;
	}
	return $log =~ /failed/ ? $log : '';
}

my @writers = map { start_writer($_) } 1 .. 2;
IPC::Run::run([ @perform, 'adopt_table', 'orders' ], '<', \'', '>', \my $out, '2>', \my $err);
is($?, 0, 'the table is adopted') or diag($err);
my $began = time;
my @moves = ([ 'orders_p0', 'server2', 'at=4611686018427387904' ], [ 'orders_p0_1', 'NULL' ], [ 'orders_p0_1', 'server2' ]);
my $done = 0;

while ($count{here} + $count{server2} + $count{command} < $kills || $done < 2)
{
	my $move = $moves[ $done == 0 ? 0 : 2 - $done % 2 ];

	is(move(@$move), '', "move $done: @$move");
	is(value(q{SELECT count(*) FROM spanner.check_splits('orders')}), 0, 'nothing is wrong after it')
	  or diag(value(q{SELECT * FROM spanner.check_splits('orders')}));
	last if ++$done > 15;
}
append_to_file("$tmp/stop", '');
waitpid $_, 0 foreach @writers;
unlink "$tmp/stop";

my (%known, %found);
foreach my $file (glob "$tmp/writer_*")
{
	/^ok (.*)/ and $known{$1} = 1 foreach split /\n/, slurp_file($file);
	unlink $file;
}
$found{$_}++ foreach split /\n/, value(q{SELECT note FROM orders WHERE note LIKE 'w%'});
cmp_ok(scalar(keys %known), '>', 50, 'rows have been inserted');
is(scalar(grep { !$found{$_} } keys %known), 0, 'none is lost');
is(scalar(grep { $_ > 1 } values %found), 0, 'none is there twice');
is(value(q{SELECT count(*), count(DISTINCT id) FROM orders WHERE note LIKE 'old%'}), '20000|20000', 'old rows');
is(value(q{SELECT count(*) - count(DISTINCT id) FROM orders}), 0, 'no id twice');
note(sprintf '%d moves in %d s; kills: %d here, %d server2, %d of the command; %d rows known, %d found',
	$done, time - $began, @count{qw(here server2 command)}, scalar(keys %known), scalar(keys %found));

$_->stop foreach values %node;
done_testing();
