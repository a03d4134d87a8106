# One server becomes three while clients write: a table is adopted, a part of
# it moves to a second server, a part of that to a third, and a whole split
# back.  Every step is run twice, and the server that it runs on is killed once
# before it.  No row is lost or there twice.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my %node = map { $_ => PostgreSQL::Test::Cluster->new("split_$_") } '', 'server2', 'server3';
my $here = $node{''};

foreach my $node (values %node)
{
	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf',
		"autovacuum = off\nfsync = off\nwal_retrieve_retry_interval = 100ms\nmax_connections = 40\nwal_receiver_timeout = 5s");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits');
}
$here->safe_psql('postgres', 'CREATE EXTENSION postgres_fdw');
foreach my $name ('server2', 'server3')
{
	my $user = $here->safe_psql('postgres', 'SELECT current_user');

	$here->safe_psql(
		'postgres', qq{
		CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '@{[ $node{$name}->host ]}', port '@{[ $node{$name}->port ]}', dbname 'postgres');
		CREATE USER MAPPING FOR CURRENT_USER SERVER $name OPTIONS (user '$user');});
}

sub value
{
	return $here->safe_psql('postgres', $_[0]);
}

# The steps that a function prints, those of one number and server together.
sub steps_of
{
	my ($query) = @_;
	my @steps;

	foreach (split /\x1e/, $here->safe_psql('postgres', "SELECT replace(concat_ws(E'\\x1f', step, COALESCE(server, ''), statement), E'\\n', ' ') || E'\\x1e' FROM $query"))
	{
		my ($step, $server, $statement) = split /\x1f/, s/^\n//r;

		next unless defined $statement;
		push @steps, [ $step, $server, '' ] if !@steps || $steps[-1][0] != $step || $steps[-1][1] ne $server;
		$steps[-1][2] .= "$statement;\n";
	}
	return @steps;
}


# Run a step until it succeeds, and the one before it if that is asked for.
sub run_step
{
	my ($step, $before) = @_;
	my ($number, $server, $sql) = @$step;
	my ($rc, $out, $err);

	for (1 .. 150)
	{
		($rc, $out, $err) = $node{$server}->psql('postgres', "BEGIN;\n$sql\nCOMMIT;", on_error_stop => 1);
		return 1 if $rc == 0;
		run_step($before) if $before && $err =~ /Run step $before->[0] again/;
		usleep(100_000);
	}
	diag("step $number on \"$server\": $err");
	return 0;
}

# Kill the server while a step runs there.
sub kill_at
{
	my ($step) = @_;
	my $server = $node{ $step->[1] };
	my $file = "$PostgreSQL::Test::Utils::tmp_check/step";
	my ($out, $err) = ('', '');
	my $psql;

	unlink $file;
	append_to_file($file, $step->[2]);
	$psql = IPC::Run::start([ 'psql', '-Xq1', '-f', $file, '-d', $server->connstr('postgres') ], '>', \$out, '2>', \$err);

	usleep(20_000 + int rand 30_000);
	$server->stop('immediate');
	$server->start;
	$psql->finish;
	return;
}

# As a crash leaves it that comes between the drop of the copy's slot and the
# commit that says so.
sub lose_copy
{
	my ($step) = @_;
	my $server = $node{ $step->[1] };

	$server->safe_psql('postgres', q{
		SET allow_system_table_mods = on;
		UPDATE pg_subscription_rel SET srsubstate = 'f'});
	$server->restart;
	my ($rc, $out, $err) = $server->psql('postgres', $step->[2]);
	like($err, qr/the first copy has not ended\nHINT:  Run step 4 again, which starts the copy anew\./, 'a copy that cannot end');
	return;
}

# Every step is run twice; with "kill", its server is killed in the first go.
# With "lose", the first copy has to begin anew.
sub perform
{
	my ($query, $kill, $lose) = @_;
	my @steps = steps_of($query);
	my $before;

	foreach my $step (@steps)
	{
		kill_at($step) if $kill;
		return "step $step->[0] failed" unless run_step($step, $before);
		lose_copy($step, $before) if $lose && $step->[2] =~ /await_copy/;
		return "step $step->[0] failed" unless run_step($step, $before);
		$before = $step;
	}
	return scalar(@steps) > 3 ? '' : 'no steps';
}

# Clients that insert, and write down what they know to be committed.  If a
# server is killed, an insert without an answer may have been committed or not.
my @writers;
my $stop = "$PostgreSQL::Test::Utils::tmp_check/stop";

sub start_writers
{
	foreach my $name (1 .. 3)
	{
		my $pid = fork // die "fork: $!";

		push @writers, $pid;
		next if $pid;
		for (my $number = 0; !-e $stop; $number += 50)
		{
			my $file = "$PostgreSQL::Test::Utils::tmp_check/inserts_$name";

			unlink $file;
			append_to_file($file, "\\timing on\n" . join '', map { my $n = $number + $_;
					"INSERT INTO orders (note) VALUES ('w$name-$n') RETURNING 'ok ' || note;\n" } 1 .. 50);
			system(qq{psql -XAtq -v ON_ERROR_STOP=1 -d "@{[ $here->connstr('postgres') ]}" -f $file >> $PostgreSQL::Test::Utils::tmp_check/writer_$name 2> /dev/null}) == 0
			  or usleep(50_000);
		}
		require POSIX;
		POSIX::_exit(0);
	}
	return;
}

# No row is lost, none is there twice; the longest insert, in ms.
sub stop_writers
{
	my ($name) = @_;
	my (%known, %found);
	my $longest = 0;

	append_to_file($stop, '');
	waitpid $_, 0 foreach splice @writers;
	unlink $stop;
	foreach my $file (glob "$PostgreSQL::Test::Utils::tmp_check/writer_*")
	{
		foreach (split /\n/, slurp_file($file))
		{
			$known{$1} = 1 if /^ok (.*)/;
			$longest = $1 if /^Time: ([\d.]+) ms/ && $1 > $longest;
		}
		unlink $file;
	}
	$found{$_}++ foreach split /\n/, value(q{SELECT note FROM orders WHERE note LIKE 'w%'});
	cmp_ok(scalar(keys %known), '>', 50, "$name: rows have been inserted");
	is(scalar(grep { !$found{$_} } keys %known), 0, "$name: none is lost");
	is(scalar(grep { $_ > 1 } values %found), 0, "$name: none is there twice");
	is(value(q{SELECT count(*), count(DISTINCT id) FROM orders WHERE note LIKE 'old%'}), '20000|20000', "$name: old rows");
	is(value(q{SELECT count(*) - count(DISTINCT id) FROM orders}), 0, "$name: no id twice");
	is(value('DELETE FROM orders WHERE note LIKE \'w%\'; SELECT count(*) FROM orders'), 20000, "$name: and they can be deleted");
	note("$name: longest insert $longest ms, " . keys(%known) . ' rows');
	return $longest;
}

sub servers_of
{
	return value(q{SELECT string_agg(concat_ws(' ', partition, server), ', ' ORDER BY split) FROM spanner.split_stats('orders')});
}

# One server, a serial table with rows; the half above 2^62 moves
$here->safe_psql(
	'postgres', q{
	CREATE TABLE orders (id bigserial PRIMARY KEY, note text NOT NULL CHECK (note <> ''), at timestamptz DEFAULT now());
	CREATE INDEX orders_note ON orders (note);
	INSERT INTO orders (note) SELECT 'old ' || i FROM generate_series(1, 20000) i;
	SELECT spanner.convert_column('orders', 'id');
	ANALYZE orders;});
start_writers();
ok(run_step($_), 'the table is adopted') foreach steps_of("spanner.adopt_table('orders')");
is(perform(q{spanner.move_split('orders_p0', 'server2', '4611686018427387904')}), '', 'a part of it moves');
is(perform(q{spanner.move_split('orders_p0_1', 'server3', '6917529027641081856')}, 0, 1), '', 'a part of that moves on');
my $longest = stop_writers('moved');
cmp_ok($longest, '<', 3000, 'writers do not wait long');
is(servers_of(), 'orders_p0, orders_p0_1 server2, orders_p0_1_1 server3', 'where the splits are');
is(value("SELECT string_agg(finding, ',') FROM spanner.check_splits('orders')"), '', 'nothing is wrong with them');

# UPDATE and DELETE while a split moves, and a server killed at each step
start_writers();
is(perform(q{spanner.move_split('orders_p0', 'server3')}, 1), '', 'a split leaves this server, with kills');
is(perform(q{spanner.move_split('orders_p0_1_1', 'server2', '8070450532247928832')}, 1), '', 'one is cut between other servers, with kills');
is(perform(q{spanner.move_split('orders_p0_1_1_1', NULL)}, 1), '', 'one comes here, with kills');
stop_writers('killed');
is(servers_of(), 'orders_p0 server3, orders_p0_1 server2, orders_p0_1_1 server3, orders_p0_1_1_1', 'where the splits are now');
is(value("SELECT string_agg(finding, ',') FROM spanner.check_splits('orders')"), '', 'nothing is wrong with them');
is($node{server3}->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname ~ '^orders.*(_moved|_low|_away)'}), 0, 'nothing is left over');

# UPDATE and DELETE of rows while they are on the way
my @steps = steps_of(q{spanner.move_split('orders_p0', 'server2')});
my $before = value(q{SELECT count(*) FROM orders});
run_step($_) foreach grep { $_->[0] < 6 } @steps;
$here->safe_psql('postgres', q{UPDATE orders SET note = 'changed' WHERE note LIKE 'old 1%'; DELETE FROM orders WHERE note LIKE 'old 2%'});
my $after = value(q{SELECT count(*), count(*) FILTER (WHERE note = 'changed') FROM orders});
run_step($_) foreach grep { $_->[0] >= 6 } @steps;
is(value(q{SELECT count(*), count(*) FILTER (WHERE note = 'changed') FROM orders}), $after, 'changes move along');

# A generated shard in the key cannot be replicated: it becomes a plain column
$here->safe_psql(
	'postgres', q{
	CREATE TABLE visit (shard_id int GENERATED ALWAYS AS (spanner.shard_id(8, uid)) STORED, uid text, note text, PRIMARY KEY (shard_id, uid));
	INSERT INTO visit (uid) SELECT i FROM generate_series(1, 1000) i;});
ok(run_step($_), 'a table with a generated shard is adopted') foreach steps_of("spanner.adopt_table('visit')");
$here->safe_psql(
	'postgres', q{
	CREATE FUNCTION own() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
	CREATE TRIGGER own BEFORE INSERT ON visit_p0 FOR EACH ROW EXECUTE FUNCTION own();});
my (undef, undef, $notices) = $here->psql('postgres', q{SELECT count(*) FROM spanner.move_split('visit_p0', 'server2')});
like($notices, qr/trigger own does not move along/, 'a trigger of the split alone is named');
$here->safe_psql('postgres', 'DROP TRIGGER own ON visit_p0');
foreach my $target (q{'server2'}, q{'server3'}, 'NULL')
{
	@steps = steps_of("spanner.move_split('visit_p0', $target)");
	run_step($_) && run_step($_) foreach grep { $_->[0] < 6 } @steps;
	$here->safe_psql('postgres', q{
		UPDATE visit SET note = concat(note, 'x') WHERE uid < '5';
		DELETE FROM visit WHERE uid = (SELECT max(uid) FROM visit);
		INSERT INTO visit (uid) SELECT 'new ' || count(*) FROM visit;});
	run_step($_) && run_step($_) foreach grep { $_->[0] >= 6 } @steps;
}
is(value(q{SELECT count(*), bool_and(shard_id = spanner.shard_id(8, uid)), count(*) FILTER (WHERE note = 'xxx'), bool_and(tableoid = 'visit_p0'::regclass) FROM visit}),
	'1000|t|445|t', 'rows with a shard are changed while they move from server to server');
like(value(q{SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT * FROM visit_p0 WHERE uid = '7'}), qr/Index Cond: \(\(shard_id = \d\) AND/, 'and are found by it');

# Statistics and advice; a server that is down
is(value(q{SELECT bool_and(rows > 0 AND size > 0 AND reachable) FROM spanner.split_stats('orders') WHERE partition = 'orders_p0'::regclass}), 't', 'statistics of a server');
$node{server2}->safe_psql('postgres', 'ANALYZE');
like(value(q{SELECT partition, server, suggestion FROM spanner.split_advice('orders')}),
	qr/^orders_p0\|server2\|SELECT \* FROM spanner\.move_split\('public\.orders_p0', '?(NULL|server3)/, 'who has too much');
like(value(q{SELECT p FROM spanner.split_points('orders_p0'::regclass, 2) p}), qr/^\d{4,5}$/, 'where to cut');
$node{server2}->safe_psql('postgres', q{
	ALTER TABLE orders_p0 ADD COLUMN more int, DROP CONSTRAINT orders_p0_bounds, DROP CONSTRAINT orders_note_check, DROP CONSTRAINT orders_p0_pkey1;
	DROP INDEX orders_p0_orders_note;
	INSERT INTO orders_p0 (id, note) VALUES (9e18, 'lost');
	SELECT FROM pg_create_logical_replication_slot('spanner_move_x', 'pgoutput');});
is(value(q{SELECT string_agg(concat_ws(' ', partition, finding), ', ' ORDER BY finding) FROM spanner.check_splits('orders')}),
	'orders_p0 bounds not checked, orders_p0 check missing, orders_p0 column not here, orders_p0 index missing, orders_p0 key missing, orders_p0 left by a move',
	'drift is found') or diag(value(q{SELECT * FROM spanner.check_splits('orders')}));
like(value(q{SELECT detail FROM spanner.check_splits('orders') WHERE finding LIKE 'bounds%'}), qr/^1 rows are outside/, 'rows outside');
$node{server2}->stop;
is(value(q{SELECT string_agg(concat_ws(' ', partition, reachable, rows IS NULL), ', ' ORDER BY split) FROM spanner.split_stats('orders')}),
	'orders_p0 f t, orders_p0_1 f t, orders_p0_1_1 t f, orders_p0_1_1_1 t f', 'statistics without a server');
is(value(q{SELECT string_agg(concat_ws(' ', partition, counted), ', ' ORDER BY split) FROM spanner.split_stats('orders', true)}),
	'orders_p0 f, orders_p0_1 f, orders_p0_1_1 t, orders_p0_1_1_1 t', 'rows are counted where that is possible');
is(value(q{SELECT string_agg(finding, ', ') FROM spanner.check_splits('orders')}), 'not reachable, not reachable', 'and a check');

# A server that cannot publish
$node{server3}->append_conf('postgresql.conf', 'wal_level = replica');
$node{server3}->restart;
my ($rc, $out, $err) = $here->psql('postgres', q{SELECT spanner.move_split('orders_p0_1_1', NULL)});
like($err, qr/wal_level of server "server3" is replica\nHINT:  Set wal_level to logical/, 'wal_level');

$_->stop foreach grep { $_->{_pid} } values %node;
done_testing();
