# What spanner_splits has left when it was killed is shown, and ended by the same
# command, by its name, or given up; tables without rows need no replication.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %node = map { $_ => PostgreSQL::Test::Cluster->new("left_$_") } 'here', 'far';
my $here = $node{here};

foreach my $node (values %node)
{
	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\nwal_retrieve_retry_interval = 100ms");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits');
}
my ($host, $port) = ($node{far}->host, $node{far}->port);
$here->safe_psql('postgres', qq{CREATE EXTENSION postgres_fdw;
	CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
	DO \$\$ BEGIN EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER far OPTIONS (user %L)', current_user); END \$\$});

sub value
{
	return $here->safe_psql('postgres', $_[0]);
}

sub far
{
	return $node{far}->safe_psql('postgres', $_[0]);
}

my ($out, $err) = ('', '');

sub start_splits
{
	($out, $err) = ('', '');
	return IPC::Run::start([ 'spanner_splits', '-y', '-d', $here->connstr('postgres'), @_ ], '<', \'', '>', \$out, '2>', \$err);
}

sub splits
{
	my $run = start_splits(@_);

	$run->finish;
	note "spanner_splits @_: $err";
	return $run->result(0);
}

# Wait until the program says something.
sub await
{
	my ($run, $what) = @_;

	for (1 .. 600)
	{
		$run->pump_nb;
		return 1 if $err =~ $what;
		select undef, undef, undef, 0.05;
	}
	diag("no $what in $err");
	return 0;
}

sub leftovers
{
	my $sql = q{SELECT (SELECT count(*) FROM spanner.split_record) + (SELECT count(*) FROM pg_publication)
		+ (SELECT count(*) FROM pg_subscription) + (SELECT count(*) FROM pg_replication_slots)};

	return value($sql) . ' ' . far($sql);
}

sub make_table
{
	my ($name) = @_;

	value(qq{CREATE TABLE $name (id bigint PRIMARY KEY, v text); INSERT INTO $name SELECT i, i FROM generate_series(1, 100) i;
		SELECT spanner.adopt_table('$name', dry_run => false)});
}

# A move that stands before its swap, because somebody reads
my $reader = $here->background_psql('postgres');

sub start_blocked
{
	my ($table, @words) = @_;

	$reader->query_safe("BEGIN; SELECT count(*) FROM $table");
	my $run = start_splits(@words);
	ok(await($run, qr/gave up, and is tried again/), "@words waits for a reader");
	return $run;
}

# The table is changed after its copy, and before the swap.
make_table('changed');
my $run = start_blocked('changed', 'move', 'changed_p0', '--to', 'far');
$reader->query_safe('ALTER TABLE changed ADD COLUMN w int DEFAULT 7; COMMIT');
ok(!$run->finish, 'a column that was added meanwhile stops the move');
like($err, qr/table "public.changed_p0" on server "far" is not like that on the source/, 'which says why');
is(value('SELECT count(*), min(w) FROM changed'), '100|7', 'and no value is lost');

# What has begun is shown with what to type, and is in nobody's way.
my ($move) = value(q{SELECT move FROM spanner_internal.own_record});
is(value(q{SELECT partition, detail FROM spanner.check_splits('changed') WHERE finding = 'move has begun'}),
	"changed_p0|spanner_splits move $move goes on with it, abandon $move undoes it", 'check_splits() names it');
ok(!splits('list') && $out =~ /^public\.changed_p0\there -> far\tcopying\t$move$/m, 'the program lists it');
isnt(splits('run', 'changed', 'ALTER TABLE {} DROP COLUMN w'), 0, 'no statement for all splits meanwhile');
like($err, qr/has begun: end it with "spanner_splits move $move" first/, 'until it is ended');
isnt(splits('move', 'changed_p0', '--to', 'far', '--at', '50'), 0, 'another move of it is refused');
like($err, qr/a move of "changed_p0" to far has begun/, 'by the one that has begun');
value('DROP TABLE changed');
is(splits('abandon', $move), 0, 'the table is gone, the name of the move is enough') or diag($err);
is(leftovers(), '0 0', 'nothing is left');

# A value of --at that is another one
make_table('cut');
$run = start_blocked('cut', 'move', 'cut_p0', '--to', 'far', '--at', '51');
$run->kill_kill(grace => 0);
$reader->query_safe('COMMIT');
isnt(splits('move', 'cut_p0', '--to', 'far', '--at', '40'), 0, 'another value');
like($err, qr/a move of "cut_p0" to far at 51 has begun/, 'is not taken for that one');
is(splits('move', 'cut_p0', '--to', 'far', '--at', '+51'), 0, 'the same value, written in another way') or diag($err);
is(value(q{SELECT string_agg(concat(partition, ' ', coalesce(server, 'here'), ' ', lower), ', ' ORDER BY split) FROM spanner_internal.list_splits('cut')}),
	q{cut_p0 here MINVALUE, cut_p0_1 far '51'}, 'goes on');
is(splits('move', 'cut_p0_1', '--to', 'here', '--at', '71'), 0, 'the upper part of a split comes here') or diag($err);
is(value(q{SELECT string_agg(concat(partition, ' ', coalesce(server, 'here'), ' ', lower), ', ' ORDER BY split) FROM spanner_internal.list_splits('cut')}),
	q{cut_p0 here MINVALUE, cut_p0_1 far '51', cut_p0_1_1 here '71'}, 'and the lower one stays there by its name');
is(value('SELECT count(*) FROM cut') . leftovers(), '1000 0', 'nothing is lost or left');

# A cut that is given up: its tables on the target are partitions of each other
$run = start_blocked('cut', 'move', 'cut_p0', '--to', 'far', '--at', '40');
$run->kill_kill(grace => 0);
$reader->query_safe('COMMIT');
value('ALTER TABLE cut RENAME TO cut2; DROP TABLE cut2');
is(splits('abandon', 'cut_p0'), 0, 'the name of a partition that was dropped is enough') or diag($err);
is(leftovers() . far(q{SELECT count(*) FROM pg_class WHERE relname ~ '^cut_p0_[23]'}), '0 00', 'nothing is left of a cut');

# A check that rows violate would stop the copy for ever.
make_table('unchecked');
value('ALTER TABLE unchecked ADD CHECK (id > 7) NOT VALID');
isnt(splits('move', 'unchecked_p0', '--to', 'far'), 0, 'a constraint that is not valid');
like($err, qr/constraint "unchecked_id_check" of table "unchecked_p0" is not valid/, 'is refused');
is(leftovers(), '0 0', 'and nothing has begun');

# Without a key whole rows are logged, until the move is given up or has ended.
make_table('keyless');
value('ALTER TABLE keyless_p0 DROP CONSTRAINT keyless_pkey');
my $identity = q{SELECT relreplident FROM pg_class WHERE relname = 'keyless_p0'};
$reader->query_safe('BEGIN; SELECT count(*) FROM keyless');
$run = start_splits('move', 'keyless_p0', '--to', 'far');
ok($here->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE relation = 'keyless_p0'::regclass AND NOT granted}), 'which needs a lock');
is(value(q{SET statement_timeout = '10s'; SELECT count(*) FROM keyless}), 100, 'that others do not wait long for');
$reader->query_safe('COMMIT; BEGIN; LOCK TABLE ONLY keyless IN ROW EXCLUSIVE MODE');
ok($here->poll_query_until('postgres', $identity, 'f'), 'whole rows are logged here');
ok(await($run, qr/gave up, and is tried again/), 'the swap waits for a writer');
$run->kill_kill(grace => 0);
is(far($identity), 'd', 'and not there');
$reader->query_safe('COMMIT');
is(splits('abandon', 'keyless_p0'), 0, 'given up') or diag($err);
is(value($identity) . leftovers(), 'd0 0', 'the replica identity is as before');
is(splits('move', 'keyless_p0', '--to', 'far'), 0, 'moved') or diag($err);
is(far($identity), 'd', 'there as well');

# A swap waits for autovacuum until that gives way.
make_table('vacuumed');
value('ALTER TABLE vacuumed_p0 SET (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1)');
value('UPDATE vacuumed SET v = repeat(v, 400); DELETE FROM vacuumed WHERE id % 2 = 0');
value($_) foreach q{ALTER SYSTEM SET autovacuum_naptime = '1s'}, 'ALTER SYSTEM SET autovacuum = on', 'SELECT pg_reload_conf()';
ok($here->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
	WHERE l.relation = 'vacuumed_p0'::regclass AND a.backend_type = 'autovacuum worker')}), 'autovacuum is slow');
is(splits('move', 'vacuumed_p0', '--to', 'far', '--tries=5'), 0, 'a split moves meanwhile') or diag($err);
value($_) foreach 'ALTER SYSTEM RESET ALL', 'SELECT pg_reload_conf()';

# What cannot be done
isnt(splits('move', 'keyless_p0', '--to', 'far', '--at', '20'), 0, 'a cut of a split that is there');
like($err, qr/partition "keyless_p0" is on that server already; a cut needs another one/, 'says so');
make_table('unmapped');
value('CREATE SERVER unmapped FOREIGN DATA WRAPPER postgres_fdw');
isnt(splits('move', 'unmapped_p0', '--to', 'unmapped'), 0, 'a server without a user mapping');
like($err, qr/role ".*" has no user mapping for server "unmapped"\n.*hint: Create it/, 'is not guessed at');
value(q{CREATE ROLE plain LOGIN; GRANT CREATE ON SCHEMA public TO plain; ALTER TABLE unmapped OWNER TO plain; ALTER TABLE unmapped_p0 OWNER TO plain;
	GRANT USAGE ON FOREIGN SERVER unmapped TO plain; CREATE USER MAPPING FOR PUBLIC SERVER unmapped OPTIONS (user 'app')});
isnt(splits('-U', 'plain', 'move', 'unmapped_p0', '--to', 'unmapped'), 0, 'a role that does not see the options of a user mapping for all');
like($err, qr/role "plain" has no user mapping for server "unmapped"\n.*detail: Only the owner of the server sees .* for PUBLIC/, 'is told so');
value('DROP USER MAPPING FOR PUBLIC SERVER unmapped; CREATE USER MAPPING FOR PUBLIC SERVER unmapped');
isnt(splits('-U', 'plain', '--tries=1', 'move', 'unmapped_p0', '--to', 'unmapped'), 0, 'one without options has nothing to see');
unlike($err, qr/user mapping/, 'and counts');
value('REASSIGN OWNED BY plain TO CURRENT_USER');
far('CREATE TABLE unmapped_p0 (a int)');
isnt(splits('move', 'unmapped_p0', '--to', 'far'), 0, 'a table of that name');
like($err, qr/relation "public.unmapped_p0" already exists, and is another one/, 'is in the way');
is(leftovers(), '0 0', 'and nothing has begun');

# The server of a move and of a copy is dropped.
make_table('gone');
value(qq{CREATE TABLE gone_copy (id int PRIMARY KEY); CREATE SERVER gone FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
	CREATE USER MAPPING FOR PUBLIC SERVER gone});
is(splits('copy', 'gone_copy', '--servers', 'gone'), 0, 'a copy') or diag($err);
$run = start_blocked('gone', 'move', 'gone_p0', '--to', 'gone');
$run->kill_kill(grace => 0);
$reader->query_safe('COMMIT');
value('DROP SERVER gone CASCADE');
# A subscription that goes on keeps its slot.
isnt(splits('abandon', 'gone_copy'), 0, 'a slot is in use');
like($err, qr/replication slot ".+" is active/, 'which is said');
far("ALTER SUBSCRIPTION $_ DISABLE") foreach split /\n/, far('SELECT subname FROM pg_subscription');
foreach my $name (qw(gone_p0 gone_copy))
{
	is(splits('abandon', $name), 0, 'a move and a copy are given up all the same') or diag($err);
	like($err, qr/server "gone" does not exist: what has been made there stays/, 'which says what is left');
}
like(leftovers(), qr/^0 /, 'nothing is left here');
far("SELECT spanner_internal.end_subscription('$_'); SELECT spanner_internal.drop_recorded('$_'); DELETE FROM spanner.split_record WHERE move = '$_'")
  foreach split /\n/, far('SELECT move FROM spanner.split_record');

# Killed between the end of its subscription and of its slot
make_table('ended');
$run = start_blocked('ended', 'move', 'ended_p0', '--to', 'far');
$run->kill_kill(grace => 0);
$reader->query_safe('COMMIT');
$move = value(q{SELECT move FROM spanner_internal.own_record});
value("BEGIN; SELECT spanner_internal.begin_swap('$move'); SELECT spanner_internal.end_swap('$move'); COMMIT");
far("SELECT spanner_internal.end_subscription('$move')");
is(splits('move', 'ended_p0', '--to', 'far'), 0, 'a slot without its subscription') or diag($err);
is(leftovers(), '0 0', 'nothing is left');
is(value('SELECT count(*) FROM ended'), 100, 'all rows are there');

# Killed before it drops the table that the rows have left
$reader->query_safe('BEGIN; LOCK TABLE ONLY ended IN ACCESS SHARE MODE');
is(splits('move', 'ended_p0', '--to', 'here', '--tries=1'), 3, 'the way back waits for a reader') or diag($err);
$reader->query_safe('COMMIT');
$move = value(q{SELECT move FROM spanner_internal.own_record});
value("BEGIN; SELECT spanner_internal.begin_swap('$move'); SELECT spanner_internal.end_swap('$move'); COMMIT");
far('UPDATE spanner.split_record SET made = ARRAY[moved]');
is(splits('move', 'ended_p0', '--dry-run'), 0, 'the rest is shown') or diag($err);
like($out, qr/^server "far": SELECT spanner_internal\.drop_recorded/m, 'also that the table goes');
is(far('SELECT count(*) FROM pg_class c JOIN spanner.split_record r ON r.moved = c.oid'), 1, 'which is there still');
is(splits('move', 'ended_p0'), 0, 'it goes on') or diag($err);
is(leftovers(), '0 0', 'nothing is left of that');
is(value('SELECT count(*) FROM ended'), 100, 'all rows are back');

# Splits of a new table, where no log is written for replication
$here->adjust_conf('postgresql.conf', 'wal_level', 'minimal');
$here->adjust_conf('postgresql.conf', 'max_wal_senders', '0');
$here->restart;
$reader->quit;
$reader = $here->background_psql('postgres');
value('CREATE TABLE bills (id bigint, v text) PARTITION BY RANGE (id)');
my @create = ('create', 'bills', '--servers', 'here,far', '--bits', '63', '--key', 'id');
is(splits(@create, '--dry-run'), 0, 'create --dry-run');
like($out, qr/^this server: SELECT spanner\.create_splits.*^server "far": .*CREATE TABLE public\.bills_p1.*this server: lock/ms, 'shows all servers');
is(value(q{SELECT count(*) FROM pg_inherits WHERE inhparent = 'bills'::regclass}) . leftovers(), '00 0', 'and changes nothing');

# The program is killed after the swap.
value('BEGIN; CREATE TABLE bills_p0 PARTITION OF bills (PRIMARY KEY (id)) FOR VALUES FROM (MINVALUE) TO (0); CREATE TABLE bills_p1 PARTITION OF bills (PRIMARY KEY (id)) FOR VALUES FROM (0) TO (MAXVALUE); COMMIT');
$run = start_blocked('bills', @create);
my $holder = $node{far}->background_psql('postgres');
$holder->query_safe('BEGIN; SELECT count(*) FROM (SELECT FROM spanner.split_record FOR UPDATE) r');
$reader->query_safe('COMMIT');
ok($here->poll_query_until('postgres', q{SELECT count(*) = 1 FROM spanner.split_record WHERE swapped}), 'the split has moved');
$run->kill_kill(grace => 0);
$holder->query_safe('COMMIT');
$holder->quit;
is(splits(@create), 0, 'create goes on') or diag($err);
is(leftovers(), '0 0', 'nothing is left');
value('INSERT INTO bills SELECT i FROM generate_series(-5, 5) i');
is(far('SELECT count(*) FROM bills_p1'), 6, 'rows go to the splits');
is(value(q{SELECT string_agg(finding, ',') FROM spanner.check_splits('bills') WHERE finding <> 'wal_level'}), '', 'nothing is wrong');
isnt(splits('move', 'bills_p0', '--to', 'far'), 0, 'rows need the log');
like($err, qr/this server: wal_level is not logical/, 'as the program says');
is(leftovers(), '0 0', 'before anything has begun');

# A row comes after the program has seen a split without rows, and before it has the lock.
value('CREATE TABLE drafts (id bigint) PARTITION BY RANGE (id); CREATE TABLE drafts_p0 PARTITION OF drafts (PRIMARY KEY (id)) FOR VALUES FROM (MINVALUE) TO (MAXVALUE)');
$reader->query_safe(q{SET statement_timeout = '1min'; BEGIN; LOCK TABLE drafts IN SHARE UPDATE EXCLUSIVE MODE});
$run = start_splits('move', 'drafts_p0', '--to', 'far');
$reader->query_safe(q{DO $$ BEGIN
	WHILE NOT EXISTS (SELECT FROM pg_locks WHERE relation = 'drafts_p0'::regclass AND NOT granted) LOOP PERFORM pg_sleep(0.01); END LOOP;
	INSERT INTO drafts VALUES (1); END $$; COMMIT});
$run->finish;
like($err, qr/this server: wal_level is not logical/, 'it needs the log then');
is(value('SELECT count(*) FROM drafts'), 1, 'and the row is there');
is(splits('abandon', 'drafts_p0'), 0, 'and it is given up');

# From release 19 on a slot raises the level.
$here->adjust_conf('postgresql.conf', 'wal_level', 'replica');
$here->adjust_conf('postgresql.conf', 'max_wal_senders', '10');
$reader->quit;
$here->restart;
my $is_enough = value('SHOW server_version_num') >= 190000;
is(value(q{SELECT count(*) FROM spanner.check_splits('drafts')}), $is_enough ? 0 : 1, 'wal_level = replica is told of where it is not enough');
is(splits('move', 'drafts_p0', '--to', 'far'), $is_enough ? 0 : 1, 'as a move does');
is(value('SELECT count(*) FROM drafts') . leftovers(), '10 0', 'and nothing is left');

$_->stop foreach values %node;
done_testing();
