# Names that change their meaning: the owner of a database renames schemas all
# the time, while code of allocators runs as somebody else.  What he puts under
# the names that this code might look for must never run.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('attacks');

$node->init(auth_extra => [ '--create-role', 'mallory' ]);
$node->append_conf('postgresql.conf', "autovacuum = off\nspanner_keys.allocator_timeout = 30s\n");
$node->start;

sub run_as
{
	my ($role, $query) = @_;
	my ($result, $out, $err) = $node->psql('app', $query, extra_params => [ '-U', $role ], on_error_stop => 0);

	return $err;
}

my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

$node->safe_psql('postgres', 'CREATE ROLE mallory LOGIN');
$node->safe_psql('postgres', 'CREATE DATABASE app OWNER mallory');

my $dblink = $node->psql('app', 'CREATE EXTENSION dblink') == 0;

$node->safe_psql('app', q{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('number', 'on_commit');
	ALTER SCHEMA public OWNER TO pg_database_owner;
	CREATE TABLE public.target (who text, number bigint);
	CREATE CONSTRAINT TRIGGER number AFTER INSERT ON public.target DEFERRABLE INITIALLY DEFERRED
	  FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('number', 'number');
	GRANT SELECT, INSERT ON public.target TO mallory});
run_as('mallory', q{
	CREATE SCHEMA evil;
	CREATE SCHEMA trap;
	CREATE TABLE trap.seen (who name);
	GRANT USAGE ON SCHEMA trap, evil TO PUBLIC;
	GRANT INSERT ON trap.seen TO PUBLIC;
	CREATE FUNCTION trap.look() RETURNS trigger LANGUAGE plpgsql AS
	  $$BEGIN INSERT INTO trap.seen VALUES (current_user); RAISE LOG 'trap: %', current_user; RETURN NULL; END$$;
	CREATE TABLE evil.target (who text, number bigint);
	CREATE TRIGGER look BEFORE UPDATE ON evil.target FOR EACH STATEMENT EXECUTE FUNCTION trap.look();
	CREATE VIEW trap.door AS SELECT who FROM public.target;
	CREATE FUNCTION evil.dblink_connect(text, text) RETURNS text LANGUAGE plpgsql AS
	  $$BEGIN RAISE LOG 'trap: %', current_user; RAISE EXCEPTION 'trap'; END$$;
	CREATE FUNCTION evil.dblink_get_result(text) RETURNS SETOF record LANGUAGE plpgsql AS
	  $$BEGIN RAISE LOG 'trap: %', current_user; RAISE EXCEPTION 'trap'; END$$});

my $toggle = $node->background_psql('app', on_error_stop => 0, extra_params => [ '-U', 'mallory' ]);

$toggle->query_until(qr/started/, q{\echo started
	DO $$ BEGIN
	  LOOP
	    ALTER SCHEMA public RENAME TO aside; ALTER SCHEMA evil RENAME TO public; COMMIT;
	    ALTER SCHEMA public RENAME TO evil; ALTER SCHEMA aside RENAME TO public; COMMIT;
	  END LOOP;
	END $$;
});

# The update that writes a number runs as the owner of the table.
my $script = "$PostgreSQL::Test::Utils::tmp_check/attack.sql";

append_to_file($script, "INSERT INTO trap.door VALUES ('mallory');\n");
# a client ends with its first error
IPC::Run::run(['pgbench', '-n', '-T', '1', '-c', '4', '-U', 'mallory', '-h', $node->host, '-p', $node->port, '-f', $script, 'app'],
	'>', \my $out, '2>', \my $err) foreach 1 .. 8;
unlink $script;
unlike(slurp_file($node->logfile), qr/trap: $superuser/, 'numbers: no trigger of another table runs as the owner');

# Functions of dblink are called as the owner of the allocator.
SKIP:
{
	skip 'no dblink here', 2 if !$dblink;
	$node->safe_psql('app', qq{
		CREATE SERVER hub FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '} . $node->host . qq{', port '1', connect_timeout '2');
		CREATE USER MAPPING FOR $superuser SERVER hub;
		SELECT spanner.create_allocator('remote ' || i, 'remote', server => 'hub'),
		       spanner.grant_allocator('remote ' || i, 'public') FROM generate_series(1, 50) i});
	run_as('mallory', join '', map { "SELECT spanner.next_value('remote $_');\n" } (1 .. 50) x 8);
	unlike(slurp_file($node->logfile), qr/trap: $superuser/, 'remote: no function of another schema runs as the owner');

	# a server that answers each of many questions
	$node->safe_psql('postgres', 'CREATE DATABASE hub');
	$node->safe_psql('hub', q{CREATE EXTENSION spanner_keys; SELECT spanner.create_allocator('answer', 'sync')});
	$node->safe_psql('app', qq{
		CREATE SERVER answering FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '} . $node->host . qq{', port '} . $node->port . qq{', dbname 'hub');
		CREATE USER MAPPING FOR $superuser SERVER answering OPTIONS (user '$superuser');
		SELECT spanner.create_allocator('answer', 'remote', server => 'answering', batch_size => 1, max_batch_size => 1),
		       spanner.grant_allocator('answer', 'public')});
	run_as('mallory', join '', ("SELECT count(spanner.next_value('answer')) FROM generate_series(1, 400);\n") x 20);
	unlike(slurp_file($node->logfile), qr/trap: $superuser/, 'nor where an answer is read');
}

$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%LOOP%' AND usename = 'mallory'});
eval { $toggle->quit };
cmp_ok($node->safe_psql('app', q{SELECT count(*) FROM pg_class c JOIN pg_trigger t ON t.tgrelid = c.oid WHERE tgname = 'number'}), '>', 0, 'the table is there');
$node->stop;

done_testing();
