# Sessions that wait for values: what they are told when they get none, that
# nothing is lost when they give up, and that one allocator in trouble leaves
# the others alone.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('waits');

$node->init;
$node->append_conf('postgresql.conf', q{
autovacuum = off
spanner_keys.allocator_timeout = 3min
spanner_keys.allocator_idle_timeout = 4s
});
$node->start;

sub sql
{
	my ($query) = @_;

	return $node->safe_psql('postgres', $query);
}

sub fails_like
{
	my ($query, $message, $name) = @_;
	my ($result, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n$query");

	isnt($result, 0, "$name: fails");
	like($err, $message, $name);
	return;
}

# Or until it has left already
sub wait_for_idle
{
	$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM spanner.stat_allocator_worker WHERE state <> 'idle' OR pending > 0})
	  or die 'the worker has something to do';
	return;
}

# Begin to execute in a session of its own.
sub start_sql
{
	my ($query) = @_;
	my %session = (out => '', err => '');

	$session{run} = IPC::Run::start(
		['psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', $query],
		'<', \undef, '>', \$session{out}, '2>', \$session{err});
	return \%session;
}

sub start_draw
{
	my ($name) = @_;

	return start_sql("SELECT spanner.next_value('$name')");
}

sub worker_pid
{
	return sql('SELECT pid FROM spanner.stat_allocator_worker WHERE pid IS NOT NULL');
}

my $waiting = q{SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Extension' AND backend_type = 'client backend'};

sub wait_for_waiting
{
	my ($count) = @_;

	$node->poll_query_until('postgres', "SELECT count(*) = $count FROM ($waiting) p") or die 'sessions do not wait';
	return;
}

sql(q{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('async', mode => 'async'),
	       spanner.create_allocator('batch', mode => 'batch', batch_size => 10, max_batch_size => 10),
	       spanner.create_allocator('other', mode => 'async')});
is(sql("SELECT spanner.next_value('$_')"), 1, "the first value of $_") foreach qw(async batch other);
sql(q{SELECT count(spanner.next_value('batch')) FROM generate_series(2, 10)});

# A locked row
my $locker = $node->background_psql('postgres', on_error_die => 1);

$locker->query_safe(q{BEGIN; UPDATE spanner.allocator SET next_value = next_value WHERE name IN ('async', 'batch')});

my $xid = $locker->query_safe('SELECT pg_current_xact_id()');

foreach my $name (qw(async batch))
{
	fails_like("SET statement_timeout = '200ms'; SELECT spanner.next_value('$name')",
		qr/57014: canceling statement due to statement timeout/, "$name, statement_timeout");
	fails_like("SET spanner_keys.allocator_timeout = '1s'; SELECT spanner.next_value('$name')",
		qr/55P03: timed out after 1000 ms waiting for allocator "$name"\nDETAIL:  Its row is locked by transaction $xid\.\nHINT:  Look at spanner\.stat_allocator_worker/,
		"$name, allocator_timeout");
}

# Nothing is reserved for a session that has given up while the worker was at
# its work, here waiting for the table behind somebody else.
my $behind = start_sql('BEGIN; LOCK TABLE spanner.allocator IN EXCLUSIVE MODE');
my $waits_for_table = q{SELECT pid FROM pg_locks WHERE relation = 'spanner.allocator'::regclass AND NOT granted};

$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($waits_for_table) p") or die 'nobody waits for the table';

my $gives_up = start_draw('batch');

wait_for_waiting(1);
$node->poll_query_until('postgres', "SELECT count(*) = 2 FROM ($waits_for_table) p") or die 'the worker does not wait for the table';
# it has looked around and asked again meanwhile
$node->poll_query_until('postgres', "SELECT query_start < clock_timestamp() - interval '1.5 s' FROM pg_stat_activity JOIN ($waiting) p USING (pid)") or die 'time stands still';
sql("SELECT pg_cancel_backend(pid) FROM ($waiting) p");
$gives_up->{run}->finish;
like($gives_up->{err}, qr/canceling statement due to user request/, 'a session gives up while the worker waits for the table');
sql(q{SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%'});
$behind->{run}->finish;
wait_for_idle();

my %message = (
	cancel => 'canceling statement due to user request',
	terminate => 'terminating connection due to administrator command');

foreach my $end (sort keys %message)
{
	my @sessions = map { start_draw('batch') } 1 .. 3;

	wait_for_waiting(3);
	$node->poll_query_until('postgres', "SELECT state = 'blocked' AND pending = 1 AND blocked_by = '$xid' FROM spanner.stat_allocator_worker")
	  or die 'the view does not show who is in the way';
	sql("SELECT pg_${end}_backend(pid) FROM ($waiting) p");
	$_->{run}->finish foreach @sessions;
	like($_->{err}, qr/$message{$end}/, "sessions that wait, $end") foreach @sessions;
}
is(sql(q{SELECT numbers, clock_timestamp() - statement_timestamp() < interval '1 s'
	FROM (SELECT string_agg(spanner.next_value('other')::text, ' ') AS numbers FROM generate_series(1, 3) OFFSET 0) drawn}),
	'2 3 4|t', 'another allocator goes on, without delay');
$locker->query_safe('COMMIT');
wait_for_idle();
is(sql(q{SELECT next_value FROM spanner.allocator WHERE name = 'batch'}), 11, 'batch: nobody waits, nothing is reserved');
is(sql(q{SELECT string_agg(spanner.next_value('async')::text, ' ') FROM generate_series(1, 20)}),
	join(' ', 2 .. 21), 'async: nothing was lost');
is(sql(q{SELECT string_agg(spanner.next_value('batch')::text, ' ') FROM generate_series(1, 20)}),
	join(' ', 11 .. 30), 'batch: nothing was lost');
is(sql(q{SELECT next_value FROM spanner.allocator WHERE name = 'batch'}), 31, 'batch: nothing was reserved in vain');
$locker->quit;

# Who has locked the table reserves by itself.
is(sql(q{BEGIN; LOCK TABLE spanner.allocator; SELECT spanner.next_value('other'); COMMIT}), 5, 'a value behind an own lock');

# Many sessions, while the row is locked again and again: nobody is forgotten.
{
	my $script = "$PostgreSQL::Test::Utils::tmp_check/lock.sql";

	append_to_file("$script.draw", q{SELECT spanner.next_value('async')});
	append_to_file("$script.lock", q{BEGIN;
SELECT FROM spanner.allocator WHERE name = 'async' FOR UPDATE;
\sleep 12 ms
COMMIT;
\sleep 2 ms
});

	$node->command_ok(['pgbench', '-n', '-T', 5, '-c', 8, '-h', $node->host, '-p', $node->port,
		'-f', "$script.draw\@7", '-f', "$script.lock\@1", 'postgres'], 'values while the row is locked again and again');
	cmp_ok(sql(q{SELECT max(wait_ms / waits) FROM spanner.stat_allocator WHERE name = 'async'}), '<', 300, 'nobody has waited for long');
}

# A table that cannot be written
my $worker = worker_pid();

sql(q{
	SELECT spanner.release_allocator(name) FROM spanner.allocator;
	CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF NEW.name IN ('async', 'batch') THEN
			RAISE EXCEPTION 'no % today', NEW.name USING ERRCODE = 'AB123', HINT = 'Come back tomorrow.';
		END IF;
		RETURN NEW;
	END $$;
	CREATE TRIGGER fail BEFORE UPDATE ON spanner.allocator FOR EACH ROW EXECUTE FUNCTION fail()});
fails_like(q{SELECT spanner.next_value('async')},
	qr/AB123: could not refill allocator "async": no async today\nHINT:  Come back tomorrow\./, 'a failing trigger');

my ($result, $out, $err) = $node->psql('postgres', q{SELECT spanner.next_value('async');} x 200, on_error_stop => 0);

is(scalar(() = $err =~ /could not refill allocator/g), 200, 'an error for each draw');
is(worker_pid(), $worker, 'the same worker');
is(sql(q{SELECT last_error FROM spanner.stat_allocator WHERE name = 'async'}), 'no async today', 'the view shows the error');

# Three that are filled at the same time
$locker = $node->background_psql('postgres', on_error_die => 1);
$locker->query_safe('BEGIN; SELECT FROM spanner.allocator FOR UPDATE');

my %session = map { $_ => start_draw($_) } qw(async other batch);

wait_for_waiting(3);
$locker->query_safe('COMMIT');
$locker->quit;
$_->{run}->finish foreach values %session;
like($session{$_}{err}, qr/could not refill allocator "$_": no $_ today/, "$_ fails with its own error") foreach qw(async batch);
is($session{other}{out}, "6\n", 'the third one has its value');
is(sql(q{SELECT spanner.next_value('other')}), 7, 'and goes on');
is(worker_pid(), $worker, 'still the same worker');
sql('DROP TRIGGER fail ON spanner.allocator');
is(sql(q{SELECT spanner.next_value('async') = a.next_value FROM spanner.allocator a WHERE name = 'async'}), 't', 'values again');

# A session that has waited, and leaves little behind, asks for the next batch
# as well: the worker, which may have gone to sleep, does not stay in it.
sql(q{SELECT spanner.create_allocator('low', low_water_mark => 200, max_batch_size => 200)});

my ($value, $drawn) = split /\|/, sql(q{SELECT spanner.next_value('low'), clock_timestamp()});

is($value, 1, 'a value that had to be waited for');
$node->poll_query_until('postgres', "SELECT refills = 2 FROM spanner.stat_allocator WHERE name = 'low'") or die 'not filled';
is(sql(qq{SELECT last_refill < timestamptz '$drawn' + interval '3 s' FROM spanner.stat_allocator WHERE name = 'low'}),
	't', 'the pool is filled to its low-water mark at once');

# Unused values are given back by a worker that has nothing to do.
$node->append_conf('postgresql.conf', q{
spanner_keys.allocator_return_unused = 'idle'
spanner_keys.allocator_idle_timeout = 50ms
});
$node->reload;
foreach my $mode (qw(batch async_batch))
{
	sql("SELECT spanner.create_allocator('back $mode', '$mode', batch_size => 1000)");
	is(sql("SELECT max(n) FROM spanner.next_values('back $mode', 7) n"), 7, "$mode: values");
	$node->poll_query_until('postgres', "SELECT next_value = 8 FROM spanner.allocator WHERE name = 'back $mode'") or die 'not given back';
	is(sql("SELECT spanner.next_value('back $mode')"), 8, "$mode: the next value after the rest was given back");
}

# A locked row keeps neither the worker nor other allocators waiting meanwhile.
$node->append_conf('postgresql.conf', q{
spanner_keys.allocator_return_unused = 'off'
spanner_keys.allocator_idle_timeout = 4s
});
$node->reload;
sql(q{SELECT spanner.create_allocator('kept', 'batch', batch_size => 1000)});
is(sql(q{SELECT spanner.next_value('kept')}), 1, 'a pool with values');
$locker = $node->background_psql('postgres', on_error_die => 1);
$locker->query_safe(q{BEGIN; SELECT FROM spanner.allocator WHERE name = 'kept' FOR UPDATE});
$node->append_conf('postgresql.conf', q{
spanner_keys.allocator_return_unused = 'idle'
spanner_keys.allocator_idle_timeout = 50ms
});
$node->reload;

my $workers = q{SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'spanner_keys%'};

$node->poll_query_until('postgres', "SELECT (${workers} AND wait_event_type IS DISTINCT FROM 'Lock') = 0") or die 'the worker does nothing';
is(sql($workers), 0, 'the worker does not wait for the row');
cmp_ok(sql(q{SELECT spanner.next_value('other')}), '>', 0, 'another allocator gives values');
is(sql(q{SELECT spanner.next_value('kept')}), 2, 'those of the locked row are still there');
$locker->query_safe('COMMIT');
$locker->quit;
is(sql(q{SELECT spanner.next_value('other') > 0}), 't', 'the worker comes again');
$node->poll_query_until('postgres', q{SELECT next_value = 3 FROM spanner.allocator WHERE name = 'kept'}) or die 'not given back';
$node->stop;

done_testing();
