# Two spanner_splits at once, or one after another one that was stopped: by any
# name of a table of a move, by other roles, and while a commit is under way.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %node = map { $_ => PostgreSQL::Test::Cluster->new("two_$_") } 'here', 'far';
my $here = $node{here};

# Another database of a server is a server of its own.
my %database = (far => 'postgres', other => 'other');
foreach my $node (values %node)
{
	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\nwal_retrieve_retry_interval = 100ms");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits');
}
$node{far}->safe_psql('postgres', 'CREATE DATABASE other');
$node{far}->safe_psql('other', 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits');
$here->safe_psql('postgres', 'CREATE EXTENSION postgres_fdw; CREATE ROLE second SUPERUSER LOGIN; CREATE ROLE stranger LOGIN');
my ($host, $port) = ($node{far}->host, $node{far}->port);
foreach my $server (sort keys %database)
{
	value(qq{CREATE SERVER $server FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname '$database{$server}');
		GRANT USAGE ON FOREIGN SERVER $server TO stranger;
		DO \$\$ BEGIN EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER $server OPTIONS (user %L, password_required ''false'')', current_user); END \$\$});
	# What ends a move or a statement stops there while a table "stopped" exists.
	$node{far}->safe_psql($database{$server}, q{CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN IF to_regclass('public.stopped') IS NOT NULL THEN RAISE 'stopped'; END IF; RETURN OLD; END $$;
		CREATE TRIGGER stop BEFORE DELETE ON spanner.split_record FOR EACH ROW EXECUTE FUNCTION stop()});
}

sub value
{
	return $here->safe_psql('postgres', $_[0]);
}

sub there
{
	my ($server, $sql) = @_;

	return $node{far}->safe_psql($database{$server}, $sql);
}

sub set_far
{
	there('far', "ALTER SYSTEM SET $_[0]");
	$node{far}->reload;
	return;
}

my ($out, $err, $out2, $err2) = ('', '', '', '');

sub start_splits
{
	($out, $err) = ('', '');
	return IPC::Run::start([ 'spanner_splits', '-y', '-d', $here->connstr('postgres'), @_ ], '<', \'', '>', \$out, '2>', \$err);
}

# Run another one to its end; true if it has done all.
sub splits
{
	my $result = IPC::Run::run([ 'spanner_splits', '-y', '-d', $here->connstr('postgres'), @_ ], '<', \'', '>', \$out2, '2>', \$err2);

	note "spanner_splits @_: $err2";
	return $result;
}

sub refuses
{
	my ($message, @words) = @_;

	ok(!splits(@words), "@words");
	like($err2, $message, 'is refused');
}

# Wait until a query here says yes.
sub await
{
	my ($run, $sql) = @_;

	for (1 .. 600)
	{
		$run->pump_nb;
		return 1 if value($sql) eq 't';
		select undef, undef, undef, 0.05;
	}
	diag("not $sql: $err");
	return 0;
}

sub leftovers
{
	my $sql = q{SELECT (SELECT count(*) FROM spanner.split_record) + (SELECT count(*) FROM pg_publication)
		+ (SELECT count(*) FROM pg_subscription JOIN pg_database d ON d.oid = subdbid AND d.datname = current_database())
		+ (SELECT count(*) FROM pg_replication_slots)};

	return join ' ', value($sql), map { there($_, $sql) } sort keys %database;
}

sub make_table
{
	my ($name) = @_;

	value(qq{CREATE TABLE $name (id bigint, v text) PARTITION BY RANGE (id);
		CREATE TABLE ${name}_p PARTITION OF $name (PRIMARY KEY (id)) FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
		INSERT INTO $name SELECT i, i FROM generate_series(1, 100) i});
}

# Stop a move before its swap.
my $reader = $here->background_psql('postgres');

sub start_blocked
{
	my ($table, $begun, @words) = @_;
	my $lock = "BEGIN; LOCK TABLE $table IN ROW EXCLUSIVE MODE";

	# a table without rows is swapped at once
	$reader->query_safe($lock) unless defined $begun;
	my $run = start_splits(@words);

	if (defined $begun)
	{
		ok(await($run, $begun), "@words begins");
		$reader->query_safe($lock);
	}
	for (1 .. 600)
	{
		$run->pump_nb;
		last if $err =~ /gave up, and is tried again/;
		select undef, undef, undef, 0.05;
	}
	return $run;
}

# A cut that comes here: its tables have names that are no partitions yet.
# Who has advisory locks keeps nobody out.
make_table('cut');
my $keys = q{SELECT pg_advisory_lock(%1$s), pg_advisory_lock(1936746611::bigint << 32 | %1$s), pg_advisory_lock('pg_class'::regclass::int, %1$s)};
my $stranger = $here->background_psql('postgres');
$stranger->query_safe(sprintf $keys, value(q{SELECT 'cut'::regclass::int}));
ok(splits('move', 'cut_p', '--to', 'far'), 'a split is there') or diag($err2);
$stranger->quit;
my $run = start_blocked('cut', q{SELECT to_regclass('cut_p_1') IS NOT NULL}, 'move', 'cut_p', '--to', 'here', '--at', '51');
my ($move) = value('SELECT move FROM spanner_internal.own_record');
my $under_way = qr/another move, copy or statement for this table is under way/;
refuses($under_way, 'move', 'cut_p_1', '--to', 'other');
refuses($under_way, '-U', 'second', 'copy', 'public.cut_p_1', '--servers', 'other');
$run->kill_kill(grace => 0);
$reader->query_safe('COMMIT');
my $of_other = qr/role ".+" has begun a move of "cut_p".*Let that role end it/s;
refuses($of_other, '-U', 'second', 'move', 'cut_p', '--to', 'other');
refuses($of_other, '-U', 'second', 'abandon', $move);
refuses(qr/a move of "cut_p" to here at 51 has begun/, 'move', 'cut_p_1', '--to', 'other');
refuses(qr/a move of a split of this table has begun: end it with "spanner_splits move $move" first/, 'copy', 'cut_p_2', '--servers', 'other');
like($here->safe_psql('postgres', q{SET ROLE second; SELECT detail FROM spanner.check_splits('cut') WHERE finding = 'move has begun'}),
	qr/^spanner_splits move $move goes on with it, abandon $move undoes it; role ".+" has begun it$/, 'check_splits() says whose it is');
ok(splits('move', 'CUT_P_2'), 'any name of the move goes on with it') or diag($err2);
is(value('SELECT count(*), count(DISTINCT id) FROM cut'), '100|100', 'with all rows');

# Nobody is kept from moving his split by what a stranger writes.
make_table('mine');
value(q{CREATE TABLE strangers (); ALTER TABLE strangers OWNER TO stranger; SET ROLE stranger;
	INSERT INTO spanner_internal.own_record (move, partition, parent, made, nspname, name)
	SELECT 'spanner_move_1', 'mine_p'::regclass, 'strangers'::regclass, ARRAY['mine_p'::regclass], 'public', 'mine_p'});
ok(splits('move', 'mine_p', '--to', 'far'), 'a record of a stranger is in no way') or diag($err2);
value('CREATE TABLE small (id int PRIMARY KEY)');
refuses(qr/must be owner of table small/, '-U', 'stranger', 'copy', 'small', '--servers', 'far');
value(q{DELETE FROM spanner.split_record WHERE move = 'spanner_move_1'});
is(leftovers(), '0 0 0', 'nothing is left');

# A program is killed while its swap is committed, and its move is given up at once.
value('CREATE TABLE sent (id bigint) PARTITION BY RANGE (id); CREATE TABLE sent_p PARTITION OF sent (PRIMARY KEY (id)) FOR VALUES FROM (1) TO (9)');
$run = start_blocked('sent', undef, 'move', 'sent_p', '--to', 'far');
value(q{ALTER SYSTEM SET synchronous_standby_names = 'nobody'});
$here->reload;
ok(await($run, q{SELECT current_setting('synchronous_standby_names') = 'nobody'}), 'commits wait now');
$reader->query_safe('ROLLBACK');
ok(await($run, q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')}),
	'also that of the swap');
$run->kill_kill(grace => 0);
$run = start_splits('abandon', 'sent_p');
for (1 .. 40)
{
	$run->pump_nb;
	select undef, undef, undef, 0.05;
}
value(q{ALTER SYSTEM RESET synchronous_standby_names});
$here->reload;
ok(!$run->finish, 'what was swapped is not given up');
like($err, qr/the rows of "sent_p" have moved already/, 'which it says');
is(there('far', q{SELECT to_regclass('sent_p')}), 'sent_p', 'the table is there');
ok(splits('move', 'sent_p'), 'the move goes on') or diag($err2);
is(value(q{SELECT count(*) FROM spanner.check_splits('sent')}), 0, 'nothing is wrong');

# Without its session here a program does not have the lock any more.
make_table('lost');
ok(splits('move', 'lost_p', '--to', 'far'), 'a split is there');
set_far('max_sync_workers_per_subscription = 0');
$run = start_splits('move', 'lost_p', '--to', 'other');
for (1 .. 600)
{
	$run->pump_nb;
	last if there('other', q{SELECT count(*) FROM pg_subscription_rel}) > 0;
	select undef, undef, undef, 0.05;
}
value(q{SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'});
set_far('max_sync_workers_per_subscription = 2');
ok(!$run->finish, 'a program that has lost its session here ends');
is(value('SELECT swapped FROM spanner.split_record'), 'f', 'before the swap');
ok(splits('abandon', 'lost_p'), 'and nothing has moved') or diag($err2);
is(value('SELECT count(*) FROM lost'), 100, 'all rows are there');

# A server that does not find the source says so.
make_table('astray');
refuses(qr/server "far" has not found publication ".+": it has connected to another database/,
	'move', 'astray_p', '--to', 'far', '--connection', $node{far}->connstr('other'));
ok(splits('move', 'astray_p', '--to', 'far'), 'with the right connection it goes on') or diag($err2);

# Settings of a role or database end neither a session nor what takes its time.
make_table('idle');
value(q{ALTER DATABASE postgres SET idle_session_timeout = '200ms'});
ok(splits('move', 'idle_p', '--to', 'far', '--at', '51'), 'a copy takes longer than a session may be idle') or diag($err2);
value(q{ALTER DATABASE postgres RESET ALL});
there('far', q{ALTER DATABASE postgres SET statement_timeout = '2s'});
ok(splits('move', 'idle_p', '--to', 'other'), 'each part moves') or diag($err2);
ok(splits('run', 'idle', q{UPDATE {} SET v = 0 FROM pg_sleep(CASE current_database() WHEN 'postgres' THEN 2.5 ELSE 0 END)}, '--splits-only'), 'a statement may take its time') or diag($err2);
there('far', 'ALTER DATABASE postgres RESET ALL');

# A statement that stops while its records are deleted is not run again.
there('other', 'CREATE TABLE stopped ()');
ok(!splits('run', 'idle', 'UPDATE {} SET v = v::int + 1', '--splits-only'), 'a statement has been run, and a server fails');
refuses(qr/a statement for all splits has not been run everywhere\n.*On this server it has been run: UPDATE \{\}/, 'move', 'idle_p_1', '--to', 'here');
there('other', 'DROP TABLE stopped');
ok(splits('run', 'idle', 'UPDATE {} SET v = v::int + 1', '--splits-only'), 'the same command ends it') or diag($err2);
is(value('SELECT v, count(*) FROM idle GROUP BY v'), '1|100', 'each row was changed once');
ok(splits('run', 'idle', 'UPDATE {} SET v = v::int + 1', '--splits-only'), 'then it is another statement') or diag($err2);
is(value('SELECT v, count(*) FROM idle GROUP BY v'), '2|100', 'that is run again');

# A split that has had a statement does not move before all have had it.
my @once = ('run', 'idle', q{UPDATE {} SET v = v::int + 1 / (to_regclass('public.stopped') IS NULL)::int}, '--splits-only');
there('other', 'CREATE TABLE stopped ()');
ok(!splits(@once), 'a statement fails on a server, and another one has run it');
refuses(qr/a statement for all splits has not been run everywhere\n.*On server "far" it has been run: UPDATE \{\}/, 'move', 'idle_p_1', '--to', 'here');
there('other', 'DROP TABLE stopped');
ok(splits(@once), 'the same command ends it') or diag($err2);
is(value('SELECT v, count(*) FROM idle GROUP BY v'), '3|100', 'each row was changed once');
ok(splits('move', 'idle_p_1', '--to', 'here'), 'then it moves') or diag($err2);

# Nor does one that is here, if the table has had it.
value('CREATE TABLE first (id bigint, v int) PARTITION BY RANGE (id)');
value("CREATE TABLE first_$_ PARTITION OF first (PRIMARY KEY (id)) FOR VALUES FROM (${_}0) TO (${_}9); INSERT INTO first VALUES (${_}1, 0)") foreach 1, 2;
ok(splits('move', 'first_1', '--to', 'other'), 'one split is there') or diag($err2);
my @first = ('--here-first', 'run', 'first', q{UPDATE ONLY {} SET v = v + 1 / (to_regclass('public.stopped') IS NULL)::int});
there('other', 'CREATE TABLE stopped ()');
ok(!splits(@first), 'a statement that runs here first fails there');
refuses(qr/a statement for all splits has not been run everywhere\n.*On this server/, 'move', 'first_2', '--to', 'far');
there('other', 'DROP TABLE stopped');
ok(splits(@first), 'the same command ends it') or diag($err2);

# A split that is new when a statement ends has it as well, and the others once.
there('other', 'CREATE TABLE stopped ()');
my @grown = ('run', 'first', 'UPDATE {} SET v = v + 10', '--splits-only');
ok(!splits(@grown), 'a statement has been run, and a server fails');
value('CREATE TABLE first_0 PARTITION OF first (PRIMARY KEY (id)) FOR VALUES FROM (0) TO (9); INSERT INTO first VALUES (1, 0)');
there('other', 'DROP TABLE stopped');
ok(splits(@grown), 'the same command ends it') or diag($err2);
is(value(q{SELECT string_agg(concat(id, ':', v), ' ' ORDER BY id) FROM first}), '1:10 11:11 21:10', 'each row was changed once');
is(leftovers(), '0 0 0', 'nothing is left');

# Partitions are made, and the program stops after a swap.
value('CREATE TABLE made (id bigint NOT NULL) PARTITION BY RANGE (id)');
there('far', 'CREATE TABLE stopped ()');
my @create = ('create', 'made', '--servers', 'here,far', '--bits', '63', '--key', 'id');
ok(!splits(@create), 'a program that makes splits fails');
there('far', 'DROP TABLE stopped');
ok(splits(@create), 'the same command ends it') or diag($err2);
is(value(q{SELECT string_agg(coalesce(server, 'here'), ' ' ORDER BY split) FROM spanner_internal.list_splits('made')}), 'here far', 'as it says');

# The outermost table of several levels
value(q{CREATE TABLE top (r text, id bigint) PARTITION BY LIST (r); CREATE TABLE mid PARTITION OF top DEFAULT PARTITION BY RANGE (id);
	CREATE TABLE low PARTITION OF mid (PRIMARY KEY (id)) FOR VALUES FROM (1) TO (9); INSERT INTO top VALUES ('a', 1)});
there('far', 'CREATE TABLE stopped ()');
ok(!splits('move', 'low', '--to', 'far'), 'a move of a split below stops');
there('far', 'DROP TABLE stopped');
is(value(q{SELECT count(*) FROM spanner.check_splits('top') WHERE finding = 'move has begun'}), 1, 'check_splits() shows it');
refuses(qr/a move of a split of this table has begun/, 'run', 'top', 'ALTER TABLE {} ADD n int');
ok(splits('move', 'low', '--to', 'far'), 'it goes on');

# A partition that has another name or schema than its table on the server
make_table('named');
ok(splits('move', 'named_p', '--to', 'far'), 'a split is there');
value('ALTER FOREIGN TABLE named_p RENAME TO named_q');
ok(splits('move', 'named_q', '--to', 'here', '--at', '51'), 'its upper part comes here') or diag($err2);
value('CREATE SCHEMA s; ALTER FOREIGN TABLE named_q SET SCHEMA s');
ok(splits('move', 's.named_q', '--to', 'here', '--at', '21'), 'also to another schema') or diag($err2);
ok(splits('move', 's.named_q', '--to', 'here'), 'and the lower part') or diag($err2);
is(value(q{SELECT string_agg(concat(partition, ' ', server), ', ' ORDER BY split) FROM spanner_internal.list_splits('named')}),
	's.named_q , s.named_q_2 , named_q_1 ', 'each has the name that it had') or diag(value(q{SELECT * FROM spanner_internal.list_splits('named')}));
is(value('SELECT count(*), count(DISTINCT id) FROM named'), '100|100', 'with all rows');

# The name of a partition that waits for its table, as the user writes it
value(q{CREATE TABLE "Big" (id bigint) PARTITION BY RANGE (id); CREATE TABLE "Big_p" PARTITION OF "Big" (CONSTRAINT taken PRIMARY KEY (id)) FOR VALUES FROM (1) TO (9)});
ok(splits('move', '"Big_p"', '--to', 'far'), 'a quoted name');
value('CREATE TABLE taken ()');
refuses(qr/relation "taken" already exists/, 'move', '"Big_p"', '--to', 'here');
value('DROP TABLE taken');
ok(splits('move', '"Big_p"', '--to', 'here'), 'the same command goes on') or diag($err2);
is(leftovers(), '0 0 0', 'nothing is left');

$reader->quit;
$_->stop foreach values %node;
done_testing();
