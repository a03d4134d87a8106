# Relations that get the names of others while functions look at them: a
# relation is asked by its OID, so the name may mean anything meanwhile.
use strict;
use warnings;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');

$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nlog_min_messages = warning\n");
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION spanner_keys;
	CREATE EXTENSION spanner_keys_advisor;
	CREATE EXTENSION spanner_keys_splits;
	CREATE ROLE mallory LOGIN;
	GRANT CREATE ON DATABASE postgres TO mallory});

# The type of a key is found, then the name means a table with another one: the
# search for the partitions waits for mallory in between.
$node->safe_psql(
	'postgres', q{
	SET SESSION AUTHORIZATION mallory;
	CREATE SCHEMA s;
	CREATE SCHEMA evil;
	CREATE TABLE s.p (id uuid, k int) PARTITION BY LIST (k);
	CREATE TABLE s.p1 PARTITION OF s.p DEFAULT;
	INSERT INTO s.p SELECT gen_random_uuid(), i FROM generate_series(1, 50) i;
	CREATE TABLE evil.p (id bigint, k int) PARTITION BY LIST (k);
	CREATE TABLE evil.p1 PARTITION OF evil.p DEFAULT;
	INSERT INTO evil.p SELECT 1234567890123, i FROM generate_series(1, 50) i});

foreach my $function ("key_histogram('s.p', 4, 'id')", "key_heatmap('s.p', 4, 4, 'id', 'k')")
{
	my $swap = $node->background_psql('postgres', on_error_stop => 0);
	my ($out, $err) = ('', '');
	my $asks;

	$swap->query_safe('SET SESSION AUTHORIZATION mallory; BEGIN; LOCK TABLE s.p1 IN ACCESS EXCLUSIVE MODE');
	$asks = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "SELECT DISTINCT key_from FROM spanner.$function" ],
		'>', \$out, '2>', \$err);
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE NOT granted})
	  or die 'nobody waits';
	$swap->query_safe('ALTER SCHEMA s RENAME TO x; ALTER SCHEMA evil RENAME TO s; COMMIT');
	$asks->finish;
	$swap->query_safe('ALTER SCHEMA s RENAME TO evil; ALTER SCHEMA x RENAME TO s');
	like($out . $err, qr/\A(?:[0-9a-f]{8}-|ERROR:  relation "p" was renamed while it was looked for)/, "keys of the table itself, or an error: $function");
	unlike($out, qr/1234567890123/, "and not of one of another type in its place: $function");
	$swap->quit;
}
unlike(slurp_file($node->logfile), qr/terminated by signal/, 'no process has died');

# A superuser's own table, by its OID, while the owner of its schema swaps names.
$node->safe_psql(
	'postgres', q{
	CREATE ROLE dbo LOGIN CREATEROLE;
	CREATE DATABASE app OWNER dbo});
$node->safe_psql(
	'app', q{
	CREATE EXTENSION spanner_keys;
	CREATE EXTENSION spanner_keys_advisor;
	CREATE EXTENSION spanner_keys_splits;
	ALTER SCHEMA public OWNER TO dbo;
	CREATE TABLE public.t (id bigserial PRIMARY KEY, number int);
	INSERT INTO public.t SELECT FROM generate_series(1, 20);
	SELECT spanner.create_allocator('n', 'on_commit')});
$node->safe_psql(
	'app', q{
	SET SESSION AUTHORIZATION dbo;
	CREATE SCHEMA evil;
	CREATE FUNCTION evil.f() RETURNS bigint LANGUAGE plpgsql AS
	  $$BEGIN IF current_user <> 'dbo' THEN RAISE WARNING 'trapped %', current_user; END IF; RETURN 1; END$$;
	CREATE VIEW evil.t AS SELECT evil.f() AS id, 1 AS number});
my $toggle = $node->background_psql('app', on_error_stop => 0, extra_params => [ '-U', 'dbo' ]);

$toggle->query_until(
	qr/started/, q{
	\echo started
	DO $$ BEGIN
	  LOOP
	    ALTER SCHEMA public RENAME TO px; ALTER SCHEMA evil RENAME TO public; COMMIT;
	    ALTER SCHEMA public RENAME TO evil; ALTER SCHEMA px RENAME TO public; COMMIT;
	  END LOOP;
	END $$;
});
my $calls = $node->safe_psql(
	'app', q{
	DO $$
	DECLARE
	  t CONSTANT regclass := (SELECT oid FROM pg_class WHERE relname = 't' AND relkind = 'r');
	  good int := 0;
	  renamed int := 0;
	BEGIN
	  FOR i IN 1 .. 600 LOOP
	    BEGIN
	      CASE i % 4
	        WHEN 0 THEN PERFORM spanner.sync_sequence(t, 'id');
	        WHEN 1 THEN PERFORM spanner.key_histogram(t, 4);
	        WHEN 2 THEN PERFORM spanner_internal.count_rows(t, false);
	        ELSE PERFORM spanner.convert_column(t, 'id'); PERFORM spanner.alter_sequence((SELECT oid FROM pg_class WHERE relname = 't_id_seq'), kind => 'local');
	      END CASE;
	      good := good + 1;
	    EXCEPTION WHEN object_in_use OR undefined_table OR invalid_schema_name OR wrong_object_type THEN
	      renamed := renamed + 1;
	    END;
	  END LOOP;
	  RAISE LOG 'good %, renamed %', good, renamed;
	END $$});

$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%LOOP%' AND usename = 'dbo'});
eval { $toggle->quit };

my $log = slurp_file($node->logfile);

unlike($log, qr/WARNING:  trapped/, 'no view in the place of the table has been read');
like($log, qr/good [1-9]\d*, renamed [1-9]/, 'names did change in between, and not always');
$node->stop;

done_testing();
