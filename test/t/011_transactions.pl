# Bindings and values across transactions that do not simply commit, and
# across commands that end sessions, owners or the extension.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('transactions');

# The first values of a bit-reversed sequence
my ($first, $second, $third) = (4611686018427387904, 2305843009213693952, 6917529027641081856);

sub sql
{
	return $node->safe_psql('postgres', "SET client_min_messages = error; $_[0]");
}

$node->init;
$node->append_conf('postgresql.conf', 'max_prepared_transactions = 5');
$node->start;
sql('CREATE EXTENSION spanner_keys');

# A binding that is rolled back is gone at once, in this session and others.
is( sql(q{
		CREATE SEQUENCE s;
		SELECT spanner.nextval('s');
		BEGIN;
		SAVEPOINT a;
		SELECT spanner.alter_sequence('s', 'bit_reversed_positive', restart_counter_with => 1) \g /dev/null
		SELECT spanner.nextval('s');
		ROLLBACK TO a;
		SELECT spanner.nextval('s');
		COMMIT;}),
	"1\n$first\n2", 'binding in a subtransaction that is rolled back');
is( sql(q{
		BEGIN;
		SELECT spanner.alter_sequence('s', 'striped', restart_counter_with => 1) \g /dev/null
		ROLLBACK;
		SELECT spanner.nextval('s');}),
	3, 'binding in a transaction that is rolled back');

# A counter is not rolled back, as in core.
is( sql(q{
		SELECT spanner.create_sequence('b', 'bit_reversed_positive') \g /dev/null
		BEGIN;
		SELECT spanner.nextval('b');
		ROLLBACK;
		SELECT spanner.nextval('b');}),
	"$first\n$second", 'a value is not given again after a rollback');

# Two-phase commit: of a draw, and of a binding
sql(q{
	CREATE TABLE t (id bigint DEFAULT spanner.nextval('b'));
	BEGIN;
	INSERT INTO t DEFAULT VALUES;
	PREPARE TRANSACTION 'drew';});
is(sql(q{COMMIT PREPARED 'drew'; SELECT id FROM t}), $third, 'PREPARE of a transaction that drew');
sql(q{
	CREATE SEQUENCE two;
	BEGIN;
	SELECT spanner.alter_sequence('two', 'bit_reversed_positive');
	PREPARE TRANSACTION 'bound';});
$node->restart;
my ($code, $out, $err) =
  $node->psql('postgres', q{SET lock_timeout = '100ms'; SELECT spanner.nextval('two')});
like($err, qr/lock timeout/, 'who draws waits for a binding that is prepared');
is(sql(q{COMMIT PREPARED 'bound'; SELECT spanner.nextval('two')}), $first, 'PREPARE of a transaction that bound');

# TRUNCATE RESTART IDENTITY, and its rollback
sql(q{
	SET spanner.default_sequence_kind = 'bit_reversed_positive';
	CREATE TABLE r (id bigserial, v int)});
is( sql(q{
		INSERT INTO r (v) VALUES (1) RETURNING id;
		BEGIN;
		TRUNCATE r RESTART IDENTITY;
		INSERT INTO r (v) VALUES (1) RETURNING id;
		ROLLBACK;
		INSERT INTO r (v) VALUES (1) RETURNING id;
		TRUNCATE r RESTART IDENTITY;
		INSERT INTO r (v) VALUES (1) RETURNING id;}),
	"$first\n$first\n$second\n$first", 'TRUNCATE RESTART IDENTITY');

# Sessions that are reset, as poolers do
is( sql(q{
		INSERT INTO r (v) VALUES (1) RETURNING id;
		DISCARD ALL;
		INSERT INTO r (v) VALUES (1) RETURNING id;
		SELECT spanner.currval('r_id_seq');}),
	"$second\n$third\n$third", 'DISCARD ALL');

# Parallel query never runs a draw in a worker.
my $force = $node->safe_psql('postgres',
	q{SELECT name FROM pg_settings WHERE name IN ('debug_parallel_query', 'force_parallel_mode')});
is( sql(qq{
		SET $force = on;
		SELECT count(DISTINCT v) FROM (SELECT spanner.nextval('b') AS v FROM generate_series(1, 100)) x;
		SELECT spanner.shard_id(8, oid::bigint) IS NULL FROM pg_class LIMIT 1;
		SELECT spanner.unmap_value(1, 'b');}),
	"100\nf\n$first", 'with forced parallel query');

# The binding goes where the sequence goes.
sql(q{
	CREATE ROLE new_owner;
	CREATE SCHEMA elsewhere AUTHORIZATION new_owner;
	CREATE UNLOGGED TABLE u (id bigserial);
	SELECT spanner.alter_sequence('u_id_seq', 'striped(stripes=8)');
	ALTER TABLE u OWNER TO new_owner;
	ALTER TABLE u SET SCHEMA elsewhere;
	ALTER TABLE elsewhere.u SET LOGGED;
	ALTER SEQUENCE elsewhere.u_id_seq RENAME TO renamed});
is( sql(q{
		SELECT schemaname, sequencename, kind FROM spanner.sequences WHERE sequencename = 'renamed';
		INSERT INTO elsewhere.u DEFAULT VALUES RETURNING id}),
	"elsewhere|renamed|striped\n$first", 'owner, schema, name and persistence change');
$node->safe_psql('postgres', 'CREATE DATABASE copy TEMPLATE postgres');
is($node->safe_psql('copy', 'SELECT count(*) FROM spanner.sequences'),
	sql('SELECT count(*) FROM spanner.sequences'), 'CREATE DATABASE ... TEMPLATE');

# A sequence that is unbound or dropped while it is looked at
my $watcher = $node->background_psql('postgres', on_error_stop => 0);
my $lost = 0;
for my $i (1 .. 40)
{
	sql(q{SELECT spanner.create_sequence('brief', 'bit_reversed_positive')});
	$watcher->query_until(qr/go/, "\\echo go\n" . "SELECT count(*) FROM spanner.sequences \\g /dev/null\n" x 20);
	sql($i % 2 ? q{SELECT spanner.alter_sequence('brief', 'local'); DROP SEQUENCE brief} : 'DROP SEQUENCE brief');
}
is($node->safe_psql('postgres', 'SELECT 1'), 1, 'the server is alive');
$watcher->quit;
ok(!$node->log_contains(qr/terminated by signal/), 'no server process crashed');

# Whoever drops the extension takes the labels with it.
$node->safe_psql('postgres', 'CREATE ROLE installer LOGIN; CREATE DATABASE owned OWNER installer');
$node->safe_psql('owned', q{
	CREATE EXTENSION spanner_keys;
	CREATE TABLE kept (id bigserial);
	SELECT spanner.convert_column('kept', 'id')}, extra_params => [ '-U', 'installer' ]);
is($node->safe_psql('owned', 'SELECT count(*) FROM pg_seclabel'), 1, 'a label is there');
$node->safe_psql('owned', 'SET client_min_messages = error; DROP OWNED BY installer CASCADE');
is($node->safe_psql('owned', 'SELECT count(*) FROM pg_seclabel'), 0, 'DROP OWNED removes the labels');

$node->stop;
done_testing();
