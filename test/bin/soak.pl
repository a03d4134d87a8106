#!/usr/bin/perl
#
# soak.pl
#	  Clients, faults and checks of a soak.
#
# Usage: soak.pl MINUTES
#
# Called by soak.sh, with a server of its own: PGHOST and the like name it,
# PGDATA its directory, SERVER_LOG its log.  Half of the time there are faults,
# the other half the sessions live on, so that growth of memory can be seen.
#
# test/bin/soak.pl

use strict;
use warnings;
use List::Util qw(max);
use POSIX ();
use Time::HiRes qw(time usleep);

my $minutes = $ARGV[0] // 120;
my $clients = $ENV{SOAK_CLIENTS} // 6;
my $pause = $ENV{SOAK_PAUSE} // 10_000;
my $ledger = "$ENV{PGDATA}/../soak";
my $deadline = time() + 60 * $minutes;

# Faults and calm take turns; in calm, processes are older than this (seconds) before their memory is
# compared.  More growth (kB) is a leak.
my $turn = 60 * $minutes / 4;
$turn = 600 if $turn > 600;
my $warm = $turn / 4;
my $most_growth = 8 * 1024;

# of Linux, not in Fcntl
my $F_SETPIPE_SZ = 1031;

my @tables = qw(reversed identity cached reversed_int striped plain alone moving);
my @allocators = qw(sync async batch adaptive small far);
# a value of a series is printed as of "allocator_series"
my @series = qw(a b c);
# what fills the caches of a session, once
my @readers = (
	"SELECT count(*) FROM spanner.advise();", "SELECT count(*) FROM spanner.key_heatmap('reversed');",
	'SELECT count(*) FROM spanner.sequences, spanner.shard_keys, spanner.stat_allocator;');
my (%memory, %faults);
my $bad = 0;

sub pick
{
	return $_[ int(rand(@_)) ];
}

sub psql
{
	my ($query, $database) = @_;
	my $pid = open(my $output, '-|') // die "fork: $!\n";

	if ($pid == 0)
	{
		# without a server there is no answer, and this is known
		open(STDERR, '>>', "$ledger/errors.0");
		exec('psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', $database // 'soak', '-c', $query) or POSIX::_exit(1);
	}
	my @lines = <$output>;

	close($output);
	chomp(@lines);
	return $? == 0 ? join("\n", @lines) : undef;
}

sub check
{
	my ($good, $what) = @_;

	print $good ? "ok $what\n" : "not ok $what\n";
	$bad++ if !$good;
	return;
}

# Statements of one client; what it is given is printed as "name value".
sub draw_statement
{
	my ($client) = @_;
	my $table = pick(@tables);
	my $allocator = pick(@allocators);
	my $rows = pick(1, 1, 2, 7, 50);
	# in mode sync a number is given by the commit, not by the function
	my $durable = pick(grep { $_ ne 'sync' } @allocators);
	my $series = pick(@series);

	return pick(
		"INSERT INTO $table (note) SELECT $client FROM generate_series(1, $rows) RETURNING '$table ' || id;",
		"INSERT INTO $table (note) VALUES ('$client'), ('b') RETURNING '$table ' || id;",
		"INSERT INTO $table (note) SELECT p0 FROM (VALUES ('a', 0), ('b', 1), ('c', 2)) AS v(p0, n) ORDER BY n RETURNING '$table ' || id;",
		"BEGIN; INSERT INTO $table (note) SELECT 'gone' FROM generate_series(1, $rows); ROLLBACK;",
		"SELECT '$allocator ' || spanner.next_value('$allocator') FROM generate_series(1, $rows);",
		"SELECT '$allocator ' || n FROM spanner.next_values('$allocator', $rows) n;",
		"SELECT '$allocator ' || n FROM spanner.reserve_block('$allocator', $rows) b, generate_series(first_value, last_value) n;",
		"SELECT '${allocator}_$series ' || spanner.next_value('$allocator', '$series') FROM generate_series(1, $rows);",
		"SELECT '${allocator}_$series ' || n FROM spanner.next_values('$allocator', $rows, '$series') n;",
		"SELECT '${allocator}_$series ' || n\nFROM spanner.reserve_block('$allocator', $rows, '$series') b, generate_series(first_value, last_value) n;",
		"INSERT INTO invoice (branch) SELECT '$series' FROM generate_series(1, $rows);\nSELECT 'invoice_$series ' || spanner.last_assigned('invoice', '$series');",
		"BEGIN; INSERT INTO invoice (branch) VALUES ('$series'); SAVEPOINT s; INSERT INTO invoice (branch) VALUES ('$series'); ROLLBACK TO s; "
		  . pick('COMMIT;', 'ROLLBACK;'),
		"BEGIN; SELECT '$durable ' || spanner.next_value('$durable'); SAVEPOINT s; SELECT 1/0; ROLLBACK TO s; COMMIT;",
		"INSERT INTO numbered (client) SELECT $client FROM generate_series(1, $rows);\nSELECT 'commit ' || spanner.last_assigned('commit');",
		"INSERT INTO event (id, at, client) SELECT $client * 1000 + i, clock_timestamp(), $client FROM generate_series(1, $rows) i;",
		'DELETE FROM event WHERE at < now() - interval \'3 min\';',
		'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT read_both_ways(); COMMIT;');
}

# Commands that change what others use, or make and drop things.
sub command_statement
{
	my $kind = pick("'bit_reversed_positive'", "'striped(stripes=8)'");
	my $number = int(rand(1e6));

	return pick(
		"BEGIN; SET LOCAL spanner.default_sequence_kind = $kind; CREATE TABLE made (id bigserial, b int GENERATED ALWAYS AS IDENTITY);"
		  . ' INSERT INTO made DEFAULT VALUES; ALTER TABLE made ADD c serial; ' . pick('COMMIT;', 'ROLLBACK;'),
		'DROP TABLE IF EXISTS made;', "SELECT spanner.convert_column('changed', 'id', $kind);",
		"SELECT spanner.alter_sequence('changed_kind', $kind, restart_counter_with => $number);",
		"SELECT spanner.alter_sequence('changed_kind', skip_range_min => 1, skip_range_max => $number);",
		"SELECT spanner.alter_allocator('" . pick(@allocators[ 1 .. 4 ]) . "', batch_size => " . pick(1, 5, 20, 100) . ');',
		"SELECT spanner.alter_allocator('changed', mode => '" . pick(qw(sync async batch async_batch)) . "');",
		"SELECT spanner.rename_allocator('changed', 'renamed'); SELECT spanner.rename_allocator('renamed', 'changed');",
		"SELECT spanner.create_allocator('made'), spanner.next_value('made'); SELECT spanner.drop_allocator('made', true);",
		"SELECT spanner.release_allocator('" . pick(@allocators[ 0 .. 4 ]) . "');",
		"SELECT spanner.release_allocator('" . pick(@allocators[ 0 .. 4 ]) . "', '" . pick(@series) . "');",
		"SELECT spanner.advance_allocator('changed', spanner.next_value('changed', 'a') + 10, 'a');",
		"SELECT spanner.create_allocator('made'), spanner.next_value('made', 'a'); SELECT spanner.drop_allocator('made', true);",
		"SELECT spanner.advance_allocator('changed', spanner.next_value('changed') + 10);",
		@readers, 'ANALYZE event;', 'VACUUM numbered;',
		'CHECKPOINT;', "SELECT spanner.execute_ddl('CREATE TABLE made (id bigint GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE))');");
}

# Rest while memory is measured, with nothing kept that is free.
sub hold
{
	my ($input) = @_;

	return if !-e "$ledger/hold";
	print $input "SELECT trim_memory();\n";
	usleep($pause) while -e "$ledger/hold";
	return;
}

# A client: psql after psql, each for as long as its connection lasts.
sub start_client
{
	my ($client, $statement, @first) = @_;
	my $pid = fork() // die "fork: $!";

	return $pid if $pid;
	srand($$ + time());
	$SIG{PIPE} = 'IGNORE';
	while (!-e "$ledger/stop")
	{
		open(my $input, '|-', "psql -XqAt -d soak >> $ledger/values.$client 2>> $ledger/errors.$client") or die "psql: $!";
		$input->autoflush(1);
		# a page of statements at most waits for psql, so that it comes to rest soon
		fcntl($input, $F_SETPIPE_SZ, 4096) // die "fcntl: $!";
		print $input map { "$_\n" } @first;
		while (!-e "$ledger/stop")
		{
			print $input $statement->($client), "\n" or last;
			usleep($pause);
			hold($input);
		}
		close($input);
		usleep(200_000);
	}
	POSIX::_exit(0);
}

# Move a split there and back.  A move that has begun is ended.
sub start_mover
{
	my $pid = fork() // die "fork: $!";

	return $pid if $pid;
	while (!-e "$ledger/stop")
	{
		my ($split, $target) = split(/\|/, psql(
			q{SELECT c.oid::regclass, CASE relkind WHEN 'r' THEN 'other' ELSE 'here' END
			    FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
			   WHERE inhparent = 'moving'::regclass AND pg_get_expr(relpartbound, c.oid) ~ 'MINVALUE'}) // '');

		if ($target)
		{
			usleep(300_000) while system('spanner_splits', '--yes', '--dbname=soak', 'move', $split, '--to', $target) != 0;
			open(my $moves, '>>', "$ledger/moves") or die "moves: $!";
			print $moves "move\n";
			close($moves);
		}
		usleep(1_000_000);
	}
	POSIX::_exit(0);
}

# Private memory of a process, in kB.
sub anonymous_memory
{
	my ($pid) = @_;

	open(my $status, '<', "/proc/$pid/status") or return;
	my ($size) = map { /^RssAnon:\s+(\d+)/ ? $1 : () } <$status>;
	return $size;
}

# The contexts of a process go to the server's log twice: as it begins, and when it has grown too much.
sub log_memory
{
	my ($pid, $first, @sizes) = @_;

	psql("SELECT pg_log_backend_memory_contexts($pid)")
	  if !@sizes || ($sizes[-1] > $first + $most_growth && !$memory{$pid}{grown}++);
	return;
}

# What processes keep: clients are held until their sessions have been idle for a while, since amid
# a large statement a process has more.  What is not idle in the end is left out.
sub sample_memory
{
	my $old = "pid <> pg_backend_pid() AND backend_type ~ 'client|allocator' AND now() - backend_start > interval '$warm s'";
	my $busy = "backend_type ~ 'client' AND (state <> 'idle' OR state_change > clock_timestamp() - interval '0.5 s')";

	open(my $hold, '>', "$ledger/hold") or die "hold: $!\n";
	close($hold);
	for (my $tries = 0; $tries < 60 && (psql("SELECT count(*) FROM pg_stat_activity WHERE $old AND $busy") // 1) > 0; $tries++)
	{
		usleep(500_000);
	}
	my $processes = psql(
		"SELECT pid, extract(epoch FROM now() - backend_start)::int, replace(backend_type, ' ', '_')
		   FROM pg_stat_activity WHERE $old AND NOT ($busy)") // '';

	foreach my $line (split(/\n/, $processes))
	{
		my ($pid, $age, $type) = split(/\|/, $line);
		my $size = anonymous_memory($pid) or next;

		$memory{$pid} //= { type => $type, from => $age, sizes => [] };
		$memory{$pid}{to} = $age;
		push @{ $memory{$pid}{sizes} }, $size;
		log_memory($pid, @{ $memory{$pid}{sizes} });
	}
	unlink("$ledger/hold");
	return;
}

sub wait_for_server
{
	foreach (1 .. 600)
	{
		return if defined psql('SELECT 1', 'postgres');
		usleep(500_000);
	}
	die "the server does not come back\n";
}

sub server_control
{
	system("pg_ctl -D $ENV{PGDATA} -w -s -l $ENV{SERVER_LOG} $_[0] > /dev/null 2>&1");
	return;
}

sub processes
{
	my ($condition) = @_;

	return split(/\n/, psql("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND $condition") // '');
}

my $is_worker = "backend_type = 'spanner_keys allocator'";
my %make_fault = (
	'kill a session' => sub { kill('KILL', pick(processes("backend_type = 'client backend' AND datname = 'soak'")) // return) },
	'kill a worker' => sub { kill('KILL', pick(processes($is_worker)) // return) },
	'kill another process' => sub { kill('KILL', pick(processes("backend_type IN ('checkpointer', 'walwriter', 'background writer')")) // return) },
	'terminate a worker' => sub { psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE $is_worker") },
	'terminate a session' => sub {
		psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'soak' AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1");
	},
	'cancel sessions' => sub { psql('SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()') },
	'hold a worker up' => sub {
		my @pids = processes($is_worker);

		kill('STOP', @pids);
		usleep(2_000_000);
		kill('CONT', @pids);
	},
	'kill the postmaster' => sub {
		my @pids = processes('true');
		open(my $file, '<', "$ENV{PGDATA}/postmaster.pid") or return;
		my ($postmaster) = <$file> =~ /^(\d+)$/;

		kill('KILL', $postmaster);
		# its children notice, and a new one must not start before
		usleep(100_000) while grep { kill(0, $_) } $postmaster, @pids;
		server_control('start');
	},
	'stop at once' => sub { server_control('-m immediate stop'); server_control('start') },
	'restart' => sub { server_control('-m fast restart') },);

# Lines of the server's log that no fault explains.
sub unexpected_lines
{
	my ($lines, $what) = (0, '');

	open(my $log, '<', $ENV{SERVER_LOG}) or die "$ENV{SERVER_LOG}: $!\n";
	while (<$log>)
	{
		next unless /PANIC|TRAP|terminated by signal (?!9:)| XX\d{3} | FATAL: |cache lookup failed/;
		next if /FATAL:  (?:terminating|postmaster exited|the database system is|connection to client lost|could not (?:receive|send)|canceling)/;
		next if /FATAL:  (?:could not open shared memory segment|sorry, too many)/;
		next if /in the middle of recovery|lock file "postmaster.pid" already exists|pre-existing shared memory block/;
		# a parallel worker that starts when its leader has been killed
		next if /could not attach to per-session DSM segment/;
		# the statement of an error, which has a line of its own
		next if / STATEMENT:  /;
		# CHECKPOINT when the checkpointer has been killed
		next if /could not signal for checkpoint: No such process$/;
		$lines++;
		$what .= $_ if $lines <= 10;
	}
	print $what;
	return $lines;
}

# What the clients were given, against what the server has.
sub check_values
{
	psql('CREATE TABLE given (name text, value bigint)');
	system("cat $ledger/values.* | grep -E '^[a-z_]+ [0-9]+\$' | tr ' ' '\\t' > $ledger/given");
	psql("COPY given FROM '$ledger/given'");
	check(psql('SELECT count(*) FROM given') > 100 * $minutes, 'values were given: ' . psql('SELECT count(*) FROM given'));
	print map { "    $_\n" } split(/\n/, psql('SELECT name, count(*) FROM given GROUP BY 1 ORDER BY 1'));
	my $twice = psql(q{SELECT count(*) FROM (SELECT FROM given WHERE name !~ '^(commit|invoice_.)$' GROUP BY name, value HAVING count(*) > 1) g});
	check($twice eq '0', "values that were given twice: $twice");
	print psql(q{SELECT name, value, count(*) FROM given WHERE name !~ '^(commit|invoice_.)$' GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1, 2 LIMIT 20}), "\n"
	  if $twice;
	foreach my $table (@tables)
	{
		my $lost = psql("SELECT count(*) FROM given WHERE name = '$table' AND NOT EXISTS (SELECT FROM $table WHERE id = value)");

		check($lost eq '0', "values of \"$table\" that are lost: $lost");
	}
	my $moves = `cat $ledger/moves 2> /dev/null | wc -l` + 0;
	check($moves > 0, "splits were moved while clients drew: $moves");
	check(psql('SELECT count(*) = count(DISTINCT id) FROM moving') eq 't', 'no row of a moved split is there twice');
	check(psql("SELECT count(number) = max(number) AND count(*) = count(number) FROM numbered") eq 't', 'numbers on commit have no gap');
	check(psql("SELECT count(*) FROM given WHERE name = 'commit' AND NOT EXISTS (SELECT FROM numbered WHERE number = value)") eq '0',
		'no number of a commit is lost');
	check(psql(q{SELECT bool_and(numbers = highest) AND count(*) = 3
		FROM (SELECT count(number) AS numbers, max(number) AS highest FROM invoice GROUP BY branch HAVING count(*) = count(number)) b}) eq 't',
		'numbers on commit have no gap in any series');
	check(psql(q{SELECT count(*) FROM given WHERE name ~ '^invoice_.$' AND NOT EXISTS (
		SELECT FROM invoice WHERE branch = right(name, 1) AND number = value)}) eq '0', 'no number of a series on commit is lost');
	check(psql(q{SELECT bool_and(a.next_value > g.highest) FROM (
		SELECT concat_ws('_', a.name, a.series[1]) AS name, a.next_value FROM spanner.allocator a
		 WHERE NOT EXISTS (SELECT FROM spanner.allocator o WHERE o.name = a.name AND o.mode = 'remote')) a
		JOIN (SELECT name, max(value) AS highest FROM given GROUP BY 1) g USING (name)}) eq 't',
		'the table of allocators is ahead of what was given');
	check(defined psql("SELECT spanner.next_value('$_')"), "\"$_\" gives values") foreach @allocators;
	return;
}

sub check_memory
{
	my ($worst, $seen) = (0, 0);

	foreach my $pid (sort { $memory{$a}{type} cmp $memory{$b}{type} } keys %memory)
	{
		my $m = $memory{$pid};
		my ($first, $last) = @{ $m->{sizes} }[ 0, -1 ];

		next if $m->{to} - $m->{from} < $warm / 2;
		$seen++;
		$worst = max($worst, $last - $first);
		printf("    %-22s %5d s to %5d s: %6d kB to %6d kB\n", $m->{type}, @$m{qw(from to)}, $first, $last);
	}
	check($seen > 0 && $worst <= $most_growth, "memory of $seen processes grew by at most $worst kB");
	return;
}

mkdir($ledger);
foreach my $database (qw(soak other))
{
	die "no server\n" if !defined psql("CREATE DATABASE $database", 'postgres');
}
psql('CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits', 'other') // die "no extension\n";
system('psql', '-XqAt', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', '-d', 'soak', '-f', "$ENV{SOAK_DIR}/soak.sql") == 0 or die "soak.sql failed\n";
my @pids = map { start_client($_, \&draw_statement) } 1 .. $clients;
push @pids, start_client($clients + 1, \&command_statement, @readers);
push @pids, start_mover();

my $started = time();
while (time() < $deadline)
{
	my $calm = int((time() - $started) / $turn) % 2;

	usleep($calm ? 15_000_000 : 1_000_000 * (2 + rand(8)));
	if ($calm)
	{
		sample_memory();
		next;
	}
	my $fault = pick(sort keys %make_fault);

	$faults{$fault}++;
	$make_fault{$fault}->();
	wait_for_server();
}
open(my $stop, '>', "$ledger/stop") or die "stop: $!\n";
close($stop);
waitpid($_, 0) foreach @pids;
wait_for_server();

print 'faults: ' . join(', ', map { "$_ $faults{$_}" } sort keys %faults) . "\n";
print "errors of clients:\n";
system("cat $ledger/errors.* | sed -nE 's/^.*(ERROR|FATAL): +/\\1 /p' | sed -E 's/[0-9]+/N/g' | sort | uniq -c | sort -rn | head -n 40");
check_values();
check_memory();
my $different = `cat $ledger/values.* | grep -c DIFFERENT`;
check($different == 0, 'readers saw the same both ways: ' . `cat $ledger/values.* | grep -c '^same'`);
my $unexpected = unexpected_lines();
check($unexpected == 0, "unexpected lines in the server's log: $unexpected");
my @cores = glob("$ENV{PGDATA}/core*");
check(!@cores, 'core files: ' . @cores);
print $bad ? "soak failed\n" : "soak passed\n";
exit($bad ? 1 : 0);
