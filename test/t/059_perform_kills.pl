# spanner_splits and its servers are killed at any point of moves, while clients
# write; a server that stands still locks nobody out; of two programs that move
# the same split one does.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep time);

my %node = map { $_ => PostgreSQL::Test::Cluster->new("kill_$_") } 'here', 'server2', 'server3';
my $here = $node{here};

foreach my $node (values %node)
{
	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf',
		"autovacuum = off\nfsync = off\nwal_retrieve_retry_interval = 100ms\nmax_connections = 60\nwal_receiver_timeout = 3s\nwal_sender_timeout = 3s");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits');
}
$here->safe_psql('postgres', 'CREATE EXTENSION postgres_fdw');
foreach my $name ('server2', 'server3')
{
	$here->safe_psql(
		'postgres', qq{
		CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '@{[ $node{$name}->host ]}', port '@{[ $node{$name}->port ]}', dbname 'postgres');
		DO \$\$ BEGIN EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER $name OPTIONS (user %L)', current_user); END \$\$;});
}

sub value
{
	return $here->safe_psql('postgres', $_[0]);
}

my ($out, $err) = ('', '');

sub start_splits
{
	($out, $err) = ('', '');
	return IPC::Run::start([ 'spanner_splits', '-y', '-d', $here->connstr('postgres'), @_ ], '<', \'', '>', \$out, '2>', \$err);
}

# Run the program until it succeeds, as its user would.
sub splits_at_last
{
	for (1 .. 40)
	{
		return 1 if start_splits(@_)->finish;
		usleep(200_000);
	}
	diag("spanner_splits @_: $err");
	return 0;
}

sub leftovers
{
	my $sql = q{SELECT (SELECT count(*) FROM spanner.split_record) + (SELECT count(*) FROM pg_publication)
		+ (SELECT count(*) FROM pg_subscription) + (SELECT count(*) FROM pg_replication_slots)};

	return join ' ', map { $node{$_}->safe_psql('postgres', $sql) } sort keys %node;
}

# A writer that notes what was acknowledged: new rows, and rows that go to the other part.
sub start_writer
{
	my ($number) = @_;
	my $pid = fork;

	return $pid if $pid;
	my $file = "$PostgreSQL::Test::Utils::tmp_check/written$number";
	my $connect = $here->connstr('postgres');
	local $SIG{ALRM} = 'DEFAULT';
	for (my $i = $number; ; $i += 2)
	{
		my $id = $i % 4 < 2 ? $i : 1_000_000 + $i;
		my $result = system("psql -Xqc \"INSERT INTO ord VALUES ($id, repeat(md5('$id'), 300))\" -d \"$connect\" > /dev/null 2>&1");

		append_to_file($file, "$id\n") if $result == 0;
		usleep(10_000);
	}
}

value(q{CREATE TABLE ord (id bigint PRIMARY KEY, body text); ALTER TABLE ord ALTER body SET STORAGE EXTERNAL;
	INSERT INTO ord SELECT i, repeat(md5(i::text), 300) FROM generate_series(-300, -1) i});
value(q{SELECT spanner.adopt_table('ord', dry_run => false)});
my @writers = map { start_writer($_) } 1, 2;

# What is killed: the program, or a server
my $kills = 0;
foreach my $move ([ 'ord_p0', 'server2' ], [ 'ord_p0', 'server3', '500000' ], [ 'ord_p0_1', 'here' ], [ 'ord_p0', 'here' ])
{
	my ($split, $server, $at) = @$move;
	my @words = ('move', $split, '--to', $server, defined $at ? ('--at', $at) : ());

	foreach my $round (1 .. 7)
	{
		my $run = start_splits(@words);

		usleep(30_000 + int rand 900_000);
		if ($round % 3 == 0)
		{
			my $victim = $node{ (sort keys %node)[ int rand 3 ] };

			$victim->stop('immediate');
			$victim->start;
			$kills++;
		}
		else
		{
			last unless $run->pumpable;
			$kills++;
		}
		$run->kill_kill(grace => 0);
		last if value(q{SELECT count(*) FROM spanner.split_record}) == 0
			&& $out . $err =~ /done/;
	}
	ok(splits_at_last(@words) || $err =~ /is on that server already|is not within partition/, "@words");
}
# by TERM they would end as this program does, and stop the servers
kill 'KILL', @writers;
waitpid $_, 0 foreach @writers;
note "$kills kills";

my @written = map { split /\n/, slurp_file("$PostgreSQL::Test::Utils::tmp_check/written$_") } 1, 2;
cmp_ok(scalar @written, '>', 20, 'rows were written: ' . @written);
my %found = map { $_ => 1 } split /\n/, value('SELECT id FROM ord');
is(join(' ', grep { !$found{$_} } @written), '', 'all of them are there');
is(value('SELECT count(*) - count(DISTINCT id) FROM ord'), 0, 'none twice');
is(value(q{SELECT count(*) FROM ord WHERE body IS DISTINCT FROM repeat(md5(id::text), 300)}), 0, 'with their values');
is(value(q{SELECT count(*) FROM spanner.check_splits('ord')}), 0, 'nothing is wrong');
is(leftovers(), '0 0 0', 'nothing is left');

# A value that is stored out of line comes along when its key is changed during a cut.
value(q{CREATE TABLE doc (id bigint PRIMARY KEY, body text); ALTER TABLE doc ALTER body SET STORAGE EXTERNAL;
	INSERT INTO doc SELECT i, repeat(md5(i::text), 400) FROM generate_series(1, 200) i});
value(q{SELECT spanner.adopt_table('doc', dry_run => false)});
my $reader = $here->background_psql('postgres');
$reader->query_safe('BEGIN; SELECT count(*) FROM doc');
my $run = start_splits('move', 'doc_p0', '--to', 'server2', '--at', '101');
for (1 .. 300)
{
	last if $node{server2}->safe_psql('postgres', q{SELECT count(*) FROM pg_subscription_rel WHERE srsubstate = 'r'}) > 0;
	usleep(100_000);
}
value('UPDATE doc SET id = id + 1000 WHERE id IN (2, 4)');
$reader->query_safe('COMMIT');
$reader->quit;
ok($run->finish, 'a cut while keys change') or diag($err);
is(value('SELECT count(*), min(length(body)) FROM doc'), '200|12800', 'no value is lost');

# A source that stands still: nobody waits long for the table.
value('CREATE TABLE slow (id bigint, v text) PARTITION BY RANGE (id); CREATE TABLE slow_p1 PARTITION OF slow (PRIMARY KEY (id)) FOR VALUES FROM (0) TO (100); CREATE TABLE slow_p2 PARTITION OF slow (PRIMARY KEY (id)) FOR VALUES FROM (100) TO (200); INSERT INTO slow SELECT i FROM generate_series(0, 199) i');
ok(splits_at_last('move', 'slow_p1', '--to', 'server2'), 'a split is there');
my $postmaster = $node{server2}->safe_psql('postgres', 'SELECT 1') && (split /\n/, slurp_file($node{server2}->data_dir . '/postmaster.pid'))[0];
my $blocker = $here->background_psql('postgres');
$blocker->query_safe('BEGIN; SELECT count(*) FROM slow WHERE id > 150');
$run = start_splits('move', 'slow_p1', '--to', 'server3');
for (1 .. 300)
{
	$run->pump_nb;
	last if $err =~ /gave up/;
	usleep(50_000);
}
my @stopped = split /\n/, `ps -o pid= --ppid $postmaster`;
kill 'STOP', $postmaster, @stopped;
$blocker->query_safe('COMMIT');
my $worst = 0;
my $until = time + 6;
while (time < $until)
{
	my $began = time;

	value('SELECT count(*) FROM slow WHERE id > 150');
	$worst = time - $began if time - $began > $worst;
}
cmp_ok($worst, '<', 3.5, sprintf('a read of what is here waited %.1f s at most', $worst));
kill 'CONT', $postmaster, @stopped;
$run->kill_kill(grace => 0);
$blocker->quit;
ok(splits_at_last('move', 'slow_p1', '--to', 'server3'), 'it goes on');
is(value('SELECT count(*) FROM slow'), 200, 'with all rows');

# Two programs move the same split.
my ($out2, $err2) = ('', '');
$run = start_splits('move', 'slow_p2', '--to', 'server2');
my $second = IPC::Run::start([ 'spanner_splits', '-y', '-d', $here->connstr('postgres'), 'move', 'slow_p2', '--to', 'server2' ],
	'<', \'', '>', \$out2, '2>', \$err2);
my @results = ($run->finish ? 1 : 0, $second->finish ? 1 : 0);
is($results[0] + $results[1], 1, 'one of two moves the split') or diag($err . $err2);
like($results[0] ? $err2 : $err, qr/is under way|is on that server already/, 'and the other one says why not');
is(value('SELECT count(*) FROM slow'), 200, 'with all rows');
is(leftovers(), '0 0 0', 'nothing is left');
# The name of the split is that of its new table then, which is no partition yet.
$blocker = $here->background_psql('postgres');
$blocker->query_safe('BEGIN; SELECT count(*) FROM slow WHERE id < 0');
$run = start_splits('move', 'slow_p2', '--to', 'here');
for (1 .. 300)
{
	$run->pump_nb;
	last if value(q{SELECT count(*) FROM pg_class WHERE relname = 'slow_p2' AND relkind = 'r'}) == 1;
	usleep(50_000);
}
ok(!IPC::Run::run([ 'spanner_splits', '-y', '-d', $here->connstr('postgres'), 'move', 'slow_p2', '--to', 'here' ],
	'<', \'', '>', \$out2, '2>', \$err2), 'none moves while another one does');
like($err2, qr/another move, copy or statement for this table is under way/, 'and it says why not');
$blocker->quit;
ok($run->finish, 'the first one ends its move') or diag($err);

$_->stop foreach values %node;
done_testing();
