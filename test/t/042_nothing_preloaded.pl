# The planner's features work in every session, the first query included, with
# nothing preloaded: tables get statistics objects that load the library.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\nmax_parallel_workers_per_gather = 0\njit = off");
$node->start;

# The owner of the database is no superuser.
$node->safe_psql('postgres', 'CREATE ROLE shop_owner LOGIN; CREATE ROLE shop_user LOGIN; CREATE DATABASE shop OWNER shop_owner');
$node->safe_psql('shop', 'GRANT CREATE ON SCHEMA public TO shop_owner, shop_user');

sub run_as
{
	my ($user, $sql, $database) = @_;

	return $node->safe_psql($database // 'shop', $sql, extra_params => [ '-U', $user ]);
}

run_as('shop_owner', <<'SQL');
CREATE EXTENSION spanner_keys;
CREATE EXTENSION spanner_keys_advisor;
CREATE TABLE visit (
  shard_id int GENERATED ALWAYS AS (spanner.shard_id(64, at, userid)) STORED,
  at int NOT NULL, userid int NOT NULL, note text, PRIMARY KEY (shard_id, at, userid));
INSERT INTO visit (at, userid) SELECT i, i FROM generate_series(1, 20000) i;
CREATE TABLE asked AS SELECT at, userid FROM visit WHERE at % 5000 = 0;
CREATE VIEW seen AS SELECT at, userid AS who FROM visit;
CREATE TABLE part (shard_id int NOT NULL CHECK (shard_id = spanner.shard_id(8, id)), id int NOT NULL,
  PRIMARY KEY (shard_id, id)) PARTITION BY LIST (shard_id);
SELECT format('CREATE TABLE part%s PARTITION OF part FOR VALUES IN (%1$s)', i) FROM generate_series(0, 7) i \gexec
INSERT INTO part SELECT spanner.shard_id(8, i), i FROM generate_series(1, 8000) i;
CREATE TABLE expr (id int);
INSERT INTO expr SELECT generate_series(1, 20000);
CREATE INDEX ON expr (spanner.shard_id(16, id), id);
VACUUM ANALYZE;
SQL

# Each plan is that of the first query of a session.
my %plans = (
	'SELECT * FROM visit WHERE at = 5 AND userid = 5' => qr/shard_id = \d+/,
	'SELECT * FROM visit ORDER BY at DESC LIMIT 3' => qr/SpannerShardMerge/,
	'DELETE FROM visit WHERE at = 5 AND userid = 5' => qr/shard_id = \d+/,
	'SELECT * FROM seen WHERE at = 5 AND who = 5' => qr/shard_id = \d+/,
	'SELECT * FROM asked JOIN visit USING (at, userid)' => qr/shard_id = spanner\.shard_id\(64, asked/,
	'SELECT max(at) FROM visit' => qr/SpannerShardMerge/,
	'SELECT * FROM part WHERE id = 5' => qr/\A(?!.*Append).* on part\d/s,
	'SELECT * FROM part3 WHERE id = 5' => qr/shard_id = \d+/,
	'SELECT * FROM expr ORDER BY id LIMIT 3' => qr/SpannerShardMerge/);

run_as('shop_owner', 'GRANT ALL ON ALL TABLES IN SCHEMA public TO shop_user');
foreach my $query (sort keys %plans)
{
	like(run_as('shop_user', "EXPLAIN (COSTS OFF) $query"), $plans{$query}, $query);
}
my $plan = run_as('shop_user', <<'SQL');
SET plan_cache_mode = force_generic_plan;
PREPARE p(int, int) AS SELECT * FROM visit WHERE at = $1 AND userid = $2;
EXPLAIN (COSTS OFF) EXECUTE p(5, 5);
SQL
like($plan, qr/shard_id = spanner\.shard_id\(64, \$1, \$2\)/, 'a prepared statement');
is(run_as('shop_owner', 'SELECT count(*) FROM pg_statistic_ext WHERE pg_get_userbyid(stxowner) <> current_user'),
	'0', 'the objects belong to the owner of the tables');
is($node->safe_psql('shop', 'SELECT count(*) FROM pg_statistic_ext_data'), '0', 'ANALYZE does not fill them');
is(run_as('shop_owner', q{SELECT string_agg(tablename || ' ' || loads_library, ', ' ORDER BY tablename) FROM spanner.shard_keys
	WHERE tablename IN ('visit', 'part', 'part3', 'expr')}), 'expr true, part true, part3 true, visit true', 'shard_keys tells it');

# Tables that are altered, by their owner and by a superuser.
run_as('shop_user', 'CREATE TABLE mine (id int)');
$node->safe_psql('shop', 'ALTER TABLE mine ADD COLUMN s int GENERATED ALWAYS AS (spanner.shard_id(4, id)) STORED');
my $objects = q{SELECT count(*) || ' ' || min(stxowner::regrole::text) FROM pg_statistic_ext WHERE stxrelid = '%s'::regclass};
is($node->safe_psql('shop', sprintf($objects, 'mine')), '1 shop_user', 'a superuser alters the table of somebody else');
run_as('shop_user', 'ALTER TABLE mine ADD COLUMN b int; ALTER TABLE mine DROP COLUMN b');
is($node->safe_psql('shop', sprintf($objects, 'mine')), '1 shop_user', 'one object is enough');
run_as('shop_user', 'ALTER TABLE mine DROP COLUMN id CASCADE');
is($node->safe_psql('shop', sprintf($objects, 'mine')), '', 'it goes with the column');

# An owner who may not create objects in the schema is not kept from altering.
run_as('shop_user', 'CREATE TABLE stuck (id int)');
$node->safe_psql('shop', 'REVOKE CREATE ON SCHEMA public FROM shop_user, PUBLIC');
run_as('shop_user', 'ALTER TABLE stuck ADD COLUMN s int GENERATED ALWAYS AS (spanner.shard_id(4, id)) STORED');
is($node->safe_psql('shop', sprintf($objects, 'stuck')), '', 'an owner without the right to create gets none');
is($node->safe_psql('shop', q{SELECT loads_library FROM spanner.shard_keys WHERE tablename = 'stuck'}), 'f', 'and the view shows it');
run_as('shop_owner', 'SET spanner_keys.enable_shard_statistics = off; CREATE TABLE off_table (LIKE visit INCLUDING GENERATED)');
is($node->safe_psql('shop', sprintf($objects, 'off_table')), '', 'a setting turns it off');

# add_shard_key, and a dump.
run_as('shop_owner', <<'SQL');
CREATE TABLE plain (at int, userid int, PRIMARY KEY (at, userid));
SELECT spanner.add_shard_key('plain', shards => 8, dry_run => false);
SQL
is($node->safe_psql('shop', sprintf($objects, 'plain')), '1 shop_owner', 'add_shard_key');
my $before = $node->safe_psql('shop', 'SELECT pg_get_statisticsobjdef(oid), stxstattarget FROM pg_statistic_ext ORDER BY 1');
$node->command_ok([ 'pg_dump', '-f', $node->basedir . '/shop.sql', $node->connstr('shop') ], 'a dump');
$node->safe_psql('postgres', 'CREATE DATABASE copy');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $node->basedir . '/shop.sql', $node->connstr('copy') ], 'is restored');
is($node->safe_psql('copy', 'SELECT pg_get_statisticsobjdef(oid), stxstattarget FROM pg_statistic_ext ORDER BY 1'),
	$before, 'with the same objects');

# They go with the shard column, a restored one too; what users made stays.
$node->safe_psql('copy', q{
	CREATE STATISTICS own ON (spanner.shard_id(8, at, userid)), (at + userid) FROM visit;
	ALTER TABLE plain DROP COLUMN shard_id;
	ALTER TABLE visit ALTER COLUMN shard_id DROP EXPRESSION;
	ALTER TABLE stuck DROP COLUMN s});
is($node->safe_psql('copy', q{SELECT string_agg(stxname, ',') FROM pg_statistic_ext WHERE stxrelid IN ('plain'::regclass, 'visit'::regclass)}),
	'own', 'no shard column, no object');

# GENERATED ALWAYS is kept once something has loaded the library, and from the
# first statement on where it is preloaded.  CREATE TABLE says so.
my $always = q{SET spanner.default_sequence_kind = 'bit_reversed_positive';
	CREATE TABLE always (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int)};
like(($node->psql('shop', $always))[2], qr/NOTICE:  GENERATED ALWAYS of sequence "always_id_seq" is kept in sessions that have loaded the library/,
	'a notice');
my %explicit = (
	'INSERT INTO always (id, n) VALUES (77, 1)' => qr/cannot insert a non-DEFAULT value into column "id"/,
	'UPDATE always SET id = 78 WHERE id = 76' => qr/column "id" can only be updated to DEFAULT/,
	'PREPARE p AS INSERT INTO always (id) VALUES ($1); EXECUTE p(79)' => qr/cannot insert a non-DEFAULT value into column "id"/);
$node->safe_psql('shop', 'INSERT INTO always (id) VALUES (76)');
foreach my $statement (sort keys %explicit)
{
	is(($node->psql('shop', "BEGIN; $statement; ROLLBACK"))[2], '', "$statement, with nothing loaded");
	like(($node->psql('shop', "INSERT INTO always (n) VALUES (1); $statement"))[2], $explicit{$statement}, "$statement, after a draw");
}
is($node->safe_psql('shop', 'INSERT INTO always (id) OVERRIDING USER VALUE VALUES (80) RETURNING id'), '80', 'OVERRIDING, with nothing loaded');
$node->safe_psql('postgres', q{ALTER DATABASE shop SET session_preload_libraries = 'spanner_keys'});
like(($node->psql('shop', $_))[2], $explicit{$_}, "$_, preloaded") foreach sort keys %explicit;
cmp_ok($node->safe_psql('shop', 'INSERT INTO always (id) OVERRIDING USER VALUE VALUES (81) RETURNING id'), '>', 2**40, 'OVERRIDING, preloaded');
is(($node->psql('shop', "DROP TABLE always; $always"))[2], '', 'no notice');
$node->safe_psql('postgres', q{ALTER DATABASE shop RESET session_preload_libraries});

# A setting with the reserved prefix that is none of ours is refused by the
# server.  One with Spanner's prefix may be meant for others.
like(($node->psql('shop', q{SET spanner_keys.default_sequence_kind = 'striped'; CREATE TABLE other_prefix (id bigserial)}))[2],
	qr/WARNING:  invalid configuration parameter name "spanner_keys.default_sequence_kind", removing it\n/, 'the other prefix');
like(($node->psql('shop', q{LOAD 'spanner_keys'; SET spanner_keys.default_sequence_kind = 'striped'}))[2],
	qr/ERROR:  invalid configuration parameter name "spanner_keys.default_sequence_kind"\n/, 'the other prefix, with the library');
foreach my $name ('spanner.default_sequnce_kind', 'spanner.retry_aborts_internally')
{
	is(($node->psql('shop', "SET $name = 'striped'; LOAD 'spanner_keys'; SET $name = 'striped'"))[2], '', $name);
}
is(($node->psql('shop', "LOAD 'spanner_keys'; $_"))[2], '', $_)
  foreach "SET spanner.default_sequence_kind = 'local'", "SET Spanner.Default_Sequence_Kind = 'striped'";

# A value that no session could check is named with its setting when it is used.
$node->safe_psql('postgres', q{ALTER DATABASE shop SET spanner.default_sequence_kind = 'bit_revers'});
like(($node->psql('shop', 'CREATE TABLE misspelled_kind (id bigserial)'))[2],
	qr/ERROR:  Invalid Sequence Kind: bit_revers\.\n.*\nCONTEXT:  default kind of new sequences, from setting "spanner.default_sequence_kind"/,
	'a value of the database');

# A mistake in the file is refused by the command that uses it, not by a transaction
# that is open when the file is read.
my $open = $node->background_psql('shop', on_error_stop => 0);

$open->query_safe(q{LOAD 'spanner_keys'; BEGIN; CREATE TEMPORARY TABLE work (id int)});
$node->append_conf('postgresql.conf', "spanner.default_sequence_kind = 'striped(stripes=3)'");
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('spanner.default_sequence_kind', true) = 'striped(stripes=3)'});
is($open->query('SELECT count(*) FROM work'), '0', 'a wrong kind in the file, and a transaction that is open');
is($open->query(q{SELECT setting FROM pg_file_settings WHERE name = 'spanner.default_sequence_kind'}),
	'striped(stripes=3)', 'the view of the file shows it');
$open->quit;
$node->adjust_conf('postgresql.conf', 'spanner.default_sequence_kind', undef);
$node->reload;
like(($node->psql('shop', q{LOAD 'spanner_keys'; ALTER SYSTEM SET spanner.default_sequence_kind = 'striped(stripes=3)'}))[2],
	qr/ERROR:  stripes must be a power of two/, 'ALTER SYSTEM');

# A session that has only drawn knows the settings, and uses those that were set
# before.
$node->safe_psql('postgres', q{ALTER DATABASE shop SET spanner.default_sequence_kind = 'striped'});
run_as('shop_owner', 'CREATE TABLE drawn (id bigserial, n int)');
my $draw = 'INSERT INTO drawn (n) VALUES (1);';
my $merge = 'EXPLAIN (COSTS OFF) SELECT * FROM visit ORDER BY at DESC LIMIT 3;';

is(run_as('shop_owner', "$draw RESET spanner_keys.max_merge_shards; SHOW spanner_keys.max_merge_shards"), '4096', 'SHOW after a draw and RESET');
like(run_as('shop_owner', "$draw $merge"), qr/SpannerShardMerge/, 'a merge after a draw');
foreach my $off (q{SET spanner_keys.enable_shard_merge = off},
	q{SELECT set_config('spanner_keys.enable_shard_merge', 'off', false)})
{
	unlike(run_as('shop_owner', "$draw $off; $merge"), qr/SpannerShardMerge/, "a draw, $off");
	unlike(run_as('shop_owner', "$off; $draw $merge"), qr/SpannerShardMerge/, "$off, a draw");
}
foreach my $wrong (q{SET spanner_keys.nonsense = 1}, q{SET spanner_keys.max_merge_shards = 0},
	q{ALTER ROLE shop_owner SET spanner.default_sequence_kind = 'nonsense'})
{
	like(($node->psql('shop', "$draw $wrong"))[2], qr/ERROR/, "a draw, $wrong");
}
like(run_as('shop_owner', "$draw CREATE TABLE drawn_too (id bigserial);"
		. q{ SELECT kind FROM spanner.sequences WHERE sequencename = 'drawn_too_id_seq'}),
	qr/striped/, 'the default kind after a draw');
like($node->safe_psql('shop', q{LOAD 'spanner_keys'; SELECT count(*) FROM pg_settings WHERE name LIKE 'spanner%'}),
	qr/^1\d$/, 'settings are listed after LOAD');

done_testing();
