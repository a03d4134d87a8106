# Functions for splits against owners of tables, servers and other databases,
# who want rights of the superuser who calls them.  See docs/security.md.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('split_attacks');

$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\nmax_connections = 30");
$node->start;

my ($host, $port) = ($node->host, $node->port);
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my $file = "$PostgreSQL::Test::Utils::tmp_check/attack.sql";

sub run_as
{
	my ($role, $sql, $database) = @_;

	return $node->safe_psql($database || 'app', $sql, extra_params => [ '-U', $role ]);
}

# What the superuser does, as somebody would who pastes it; errors do not matter.
sub superuser_runs
{
	my ($sql) = @_;

	unlink $file;
	append_to_file($file, "$sql\n");
	my $out = `psql -XAt -d "@{[ $node->connstr('app') ]}" -f $file 2>&1`;
	return $out;
}

# The steps that a query prints, as a file that psql reads.
sub steps_of
{
	my ($query) = @_;

	return $node->safe_psql('app', "SELECT statement || ';' FROM $query");
}

# Has code that somebody else has planted become a superuser meanwhile?  The log
# tells, also if the transaction was undone; a role tells of a printed command.
my $place = 0;

sub nothing_has_run
{
	my ($name) = @_;
	my $log = substr(slurp_file($node->logfile), $place);

	$place = -s $node->logfile;
	is(join('', $log =~ /WARNING:  (planted by \w+)/g), '', "$name: no code");
	is($node->safe_psql('postgres', q{SELECT string_agg(rolname, ' ') FROM pg_roles WHERE rolsuper AND rolname IN ('mallory', 'db_owner', 'rem_owner')}),
		'', "$name: no command");
	$node->safe_psql('postgres', 'ALTER ROLE mallory NOSUPERUSER; ALTER ROLE db_owner NOSUPERUSER; ALTER ROLE rem_owner NOSUPERUSER');
	return;
}

$node->safe_psql(
	'postgres', q{
	CREATE ROLE mallory LOGIN;
	CREATE ROLE db_owner LOGIN;
	CREATE ROLE rem_owner LOGIN;
	CREATE ROLE alice LOGIN;
	CREATE DATABASE app OWNER db_owner;
	CREATE DATABASE bait OWNER db_owner;
	CREATE DATABASE rem OWNER rem_owner;
	CREATE DATABASE far;});
$node->safe_psql('far', 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits');
$node->safe_psql(
	'app', qq{
	CREATE EXTENSION spanner_keys;
	CREATE EXTENSION spanner_keys_splits;
	CREATE EXTENSION postgres_fdw;
	GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO mallory, db_owner;
	GRANT CREATE ON DATABASE app TO mallory;
	CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'far');
	CREATE USER MAPPING FOR CURRENT_USER SERVER far OPTIONS (user '$superuser');
	GRANT USAGE ON FOREIGN SERVER far TO alice, mallory;});

# What mallory plants: functions that make her a superuser if they can, a
# domain and a type whose constants run them
run_as('mallory', q{
	CREATE SCHEMA m;
	GRANT USAGE ON SCHEMA m TO PUBLIC;
	CREATE FUNCTION m.g() RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		BEGIN
			PERFORM set_config('role', 'none', true);
		EXCEPTION WHEN OTHERS THEN
			NULL;
		END;
		IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
			RAISE WARNING 'planted by mallory';
		END IF;
	END $$;
	CREATE FUNCTION m.f(bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM m.g(); RETURN $1; END $$;
	CREATE FUNCTION m.chk(bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM m.g(); RETURN true; END $$;
	CREATE DOMAIN m.d AS bigint CHECK (m.chk(value));
	CREATE TYPE m.comp AS (x m.d);});

# A view of somebody else on the table that is adopted
$node->safe_psql('app', q{
	CREATE TABLE public.viewed (id bigint PRIMARY KEY, v text);
	INSERT INTO public.viewed SELECT i, 'x' FROM generate_series(1, 10) i});
run_as('mallory', q{CREATE VIEW m.v AS SELECT o.id, ('(1)'::m.comp) AS c FROM public.viewed o});
superuser_runs("BEGIN;\nSELECT statement FROM spanner.adopt_table('public.viewed') \\gexec\nCOMMIT;");
nothing_has_run('a view of somebody else on a table that is adopted');

# The partition key of the parent, for a partition of the superuser
run_as('mallory', 'CREATE TABLE m.keyed (id bigint, v text) PARTITION BY RANGE ((m.f(id)))');
$node->safe_psql('far', 'CREATE SCHEMA m; CREATE TABLE m.keyed_p0 (id bigint, v text); INSERT INTO m.keyed_p0 VALUES (1)');
$node->safe_psql('app', 'CREATE FOREIGN TABLE m.keyed_p0 PARTITION OF m.keyed FOR VALUES FROM (0) TO (1000) SERVER far');
nothing_has_run('a partition is made');
superuser_runs(q{SELECT * FROM spanner.check_splits('m.keyed')});
nothing_has_run('rows outside of bounds, which call functions of the owner');
superuser_runs(q{SET constraint_exclusion = on; SELECT * FROM spanner.split_stats('m.keyed', true)});
nothing_has_run('rows are counted');

# A server of the owner of the database, which takes another name meanwhile
run_as('db_owner', qq{
	CREATE SCHEMA spanner;
	CREATE FUNCTION spanner.bait() RETURNS text LANGUAGE plpgsql AS \$\$
	BEGIN
		IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
			RAISE WARNING 'planted by db_owner';
		END IF;
		RETURN 'logical';
	END \$\$;
	CREATE SCHEMA spanner_internal;
	CREATE VIEW spanner_internal.split_server AS SELECT spanner.bait() AS wal_level, ''::text AS extension_version,
		NULL::pg_lsn AS insert_lsn, NULL::pg_lsn AS flush_lsn, NULL::int AS wal_writer_delay, '{}'::text[] AS moves;
	CREATE VIEW spanner_internal.split_tables AS SELECT spanner.bait()::name AS schemaname;}, 'bait');
run_as('db_owner', qq{
	CREATE SERVER bait FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'bait');
	CREATE USER MAPPING FOR $superuser SERVER bait OPTIONS (user '$superuser');
	CREATE SCHEMA o;
	CREATE TABLE o.split (id bigint) PARTITION BY RANGE (id);
	DO \$\$
	BEGIN
		FOR i IN 0 .. 199 LOOP
			EXECUTE format('CREATE FOREIGN TABLE o.split_p%s PARTITION OF o.split FOR VALUES FROM (%s) TO (%s) SERVER bait', i, i, i + 1);
		END LOOP;
	END \$\$;});
superuser_runs(q{SELECT spanner_internal.await_move('bait', 'x', now())});
nothing_has_run('a wait for a move asks a server of somebody else');

my $renamer = IPC::Run::start(
	[ 'psql', '-Xq', '-U', 'db_owner', '-d', $node->connstr('app'), '-c', q{DO $$
		BEGIN
			LOOP
				ALTER SERVER bait RENAME TO other;
				COMMIT;
				ALTER SERVER other RENAME TO bait;
				COMMIT;
			END LOOP;
		END $$} ], '>', \my $renamer_out, '2>', \my $renamer_err);
my $answers = join '', map { superuser_runs(q{SELECT finding, left(detail, 60), count(*) FROM spanner.check_splits('o.split') GROUP BY 1, 2}) } 1 .. 6;
$node->safe_psql('app', q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'db_owner'});
$renamer->finish;
like($answers, qr/does not belong to a superuser|does not exist/, 'the server is not asked');
nothing_has_run('a server that takes another name while it is asked');

# A name that ends what is printed
run_as('mallory', q{
	CREATE TABLE m.t (id bigint, v text) PARTITION BY RANGE (id);
	CREATE TABLE m."p$move$;alter role mallory superuser;do $move$begin null;end" PARTITION OF m.t (PRIMARY KEY (id)) FOR VALUES FROM (MINVALUE) TO (100);
	CREATE TABLE m.p1 PARTITION OF m.t FOR VALUES FROM (100) TO (MAXVALUE);});
superuser_runs(steps_of(q{spanner.move_split((SELECT oid FROM pg_class WHERE relname LIKE 'p$move%' AND relkind = 'r'), 'far') WHERE server IS NULL ORDER BY step}));
nothing_has_run('a name that ends a dollar quoted text');

# What the owner of the other database says of a table there
run_as('rem_owner', q{
	CREATE SCHEMA spanner_internal;
	CREATE VIEW spanner_internal.split_server AS SELECT 'logical'::text AS wal_level, '1.0'::text AS extension_version,
		'0/1'::pg_lsn AS insert_lsn, '0/1'::pg_lsn AS flush_lsn, 200 AS wal_writer_delay, '{}'::text[] AS moves;
	CREATE VIEW spanner_internal.split_tables AS SELECT 'public'::name AS schemaname, 'split_p0'::name AS tablename, 'r'::text AS relkind,
		'd'::text AS replica_identity, ARRAY['id bigint); ALTER ROLE rem_owner SUPERUSER; --'] AS columns, '{}'::text[] AS checks,
		'{}'::text[] AS keys, '{}'::text[] AS foreign_keys, '{}'::text[] AS index_names, '{}'::text[] AS indexes,
		'{}'::name[] AS identity_columns, 1::bigint AS rows, 1::bigint AS size, 1::bigint AS inserts;}, 'rem');
$node->safe_psql('app', qq{
	CREATE SERVER rem FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'rem');
	CREATE USER MAPPING FOR CURRENT_USER SERVER rem OPTIONS (user 'rem_owner');
	CREATE TABLE public.split (id bigint) PARTITION BY RANGE (id);
	CREATE FOREIGN TABLE public.split_p0 PARTITION OF public.split FOR VALUES FROM (MINVALUE) TO (MAXVALUE) SERVER rem;});
superuser_runs(q{SELECT statement FROM spanner.move_split('public.split_p0', NULL) WHERE server IS NULL AND step = 3 AND statement LIKE '%split%' \gexec});
nothing_has_run('the description of a table by another server');

# A server of somebody else that looks empty
$node->safe_psql('app', q{
	CREATE SCHEMA sp;
	CREATE TABLE sp.t (id bigint, v text) PARTITION BY RANGE (id);
	CREATE TABLE sp.p0 PARTITION OF sp.t FOR VALUES FROM (MINVALUE) TO (1000);
	CREATE TABLE sp.p1 PARTITION OF sp.t FOR VALUES FROM (1000) TO (MAXVALUE);
	INSERT INTO sp.t SELECT i, 'x' FROM generate_series(1, 3000) i;
	ANALYZE sp.t;});
run_as('mallory', qq{CREATE SERVER a_server FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'evil.example', dbname 'x')});
my $advice = superuser_runs(q{SELECT * FROM spanner.split_advice('sp.t')});
unlike($advice, qr/a_server/, 'no advice to move rows to a server of somebody else');
like($advice, qr/move_split\('sp.p1', 'far'/, 'but to another one');
like(superuser_runs(q{SELECT * FROM spanner.move_split('sp.p1', 'a_server')}), qr/server "a_server" belongs to neither/, 'nor to move a split there');
like(superuser_runs(q{CREATE TABLE sp.new (id bigint) PARTITION BY RANGE (id); SELECT * FROM spanner.create_splits('sp.new', 2, '{NULL,a_server}', bits => 63)}),
	qr/server "a_server" belongs to neither/, 'nor to make one there');

# An owner without special rights
$node->safe_psql('app', qq{
	CREATE USER MAPPING FOR alice SERVER far OPTIONS (user '$superuser', password_required 'false');
	CREATE SCHEMA alice AUTHORIZATION alice;});
run_as('alice', q{
	CREATE TABLE alice.t (id bigint PRIMARY KEY, v text)});
run_as('alice', q{SELECT statement FROM spanner.adopt_table('alice.t') \gexec});
is(run_as('alice', q{SELECT count(*) > 10 FROM spanner.move_split('alice.t_p0', 'far')}), 't', 'an owner moves a local split');

# Expressions of a table that a superuser adopts are read again, and those of
# a partition that moves, on its new server
run_as('mallory', q{
	CREATE TABLE m.full (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v bigint, at timestamptz DEFAULT now(),
		CHECK (('(1)'::m.comp) IS NOT NULL), CHECK (v <> '7'::m.d), len bigint GENERATED ALWAYS AS (v * '2'::m.d) STORED);
	CREATE INDEX ON m.full ((v + '1'::m.d)) WHERE v > '1'::m.d;
	CREATE POLICY p ON m.full USING (v > '0'::m.d);
	CREATE FUNCTION m.tr() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
	CREATE TRIGGER tr BEFORE UPDATE ON m.full FOR EACH ROW WHEN (new.v > '3'::m.d) EXECUTE FUNCTION m.tr();
	CREATE VIEW m.own AS SELECT id, '5'::m.d AS five FROM m.full;
	INSERT INTO m.full (v) SELECT i FROM generate_series(10, 20) i;});
superuser_runs('ANALYZE');
$place = -s $node->logfile;
like(superuser_runs("SELECT statement FROM spanner.adopt_table('m.full') \\gexec"), qr/^\s*$/m, 'a table of somebody else is adopted');
nothing_has_run('a table with planted expressions is adopted');
is($node->safe_psql('app', q{SELECT relkind, relowner::regrole FROM pg_class WHERE oid = 'm.full'::regclass}), 'p|mallory', 'it is still hers');
my $planted = q{
	CREATE SCHEMA IF NOT EXISTS m AUTHORIZATION mallory;
	DROP TABLE m.keyed_p0;
	SET ROLE mallory;
	CREATE FUNCTION m.g() RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		BEGIN
			PERFORM set_config('role', 'none', true);
		EXCEPTION WHEN OTHERS THEN
			NULL;
		END;
		IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
			RAISE WARNING 'planted by mallory';
		END IF;
	END $$;
	CREATE FUNCTION m.chk(bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM m.g(); RETURN true; END $$;
	CREATE DOMAIN m.d AS bigint CHECK (m.chk(value));
	CREATE TYPE m.comp AS (x m.d);};
$node->safe_psql('far', 'ALTER SCHEMA m OWNER TO mallory');
$node->safe_psql('far', $planted);
superuser_runs("SET search_path = pg_catalog; SELECT '(1)'::m.comp");
like(substr(slurp_file($node->logfile), $place), qr/WARNING:  planted by mallory/, 'planted code tells if a superuser runs it');
$place = -s $node->logfile;

# The steps of a query, each in a file that psql reads, in the database of its server.  Release 19
# has standard strings only.
my @settings = (q{DateStyle = 'SQL, DMY'}, q{search_path = m, pg_catalog}, 'quote_all_identifiers = on');
push @settings, 'standard_conforming_strings = off', 'escape_string_warning = off' if $node->safe_psql('app', 'SHOW server_version_num') < 190000;

sub perform
{
	my ($query, $last) = @_;

	my @steps = split /\x1e\n?/, $node->safe_psql('app', "SELECT step, coalesce(server, 'app') || E'\\x1f' || statement || E'\\x1e' FROM $query");
	foreach (@steps)
	{
		my ($step, $database, $statement) = /^(\d+)\|(\w+)\x1f(.*)\z/s or return "not a step: $_";
		my ($out, $done);

		next if defined $last && $step > $last;
		for my $try (1 .. 100)
		{
			unlink $file;
			append_to_file($file, join('', map { "SET $_;\n" } @settings) . "$statement;\n");
			$out = `psql -XAtq1 -v ON_ERROR_STOP=1 -d "@{[ $node->connstr($database) ]}" -f $file 2>&1`;
			$done = $? == 0;
			last if $done || $out !~ /Run this step again|not in step|lock timeout/;
			select undef, undef, undef, 0.1;
		}
		return "step $step: $out" unless $done;
	}
	return scalar(@steps) > 2 ? '' : 'no steps';
}

# Release 15 applies rows as the superuser, so such code is refused; then it is a superuser's
if ($node->safe_psql('app', 'SHOW server_version_num') < 160000)
{
	like(perform(q{spanner.move_split('m.full_p0', 'far', at => '15')}),
		qr/step 4: .*table m.full_p0 would run code of other roles with your rights\nDETAIL:  These are: type m.comp, type m.d\./, 'code that replication would run');
	$node->safe_psql($_, "ALTER DOMAIN m.d OWNER TO $superuser; ALTER TYPE m.comp OWNER TO $superuser") foreach qw(app far);
}
is(perform(q{spanner.move_split('m.full_p0', 'far', at => '15')}), '', 'a part of a split of somebody else moves');
nothing_has_run('expressions of a table that moves');
is($node->safe_psql('far', q{SELECT relowner::regrole FROM pg_class WHERE oid = 'm.full_p0_1'::regclass}), 'mallory', 'the table there is hers');
is($node->safe_psql('app', q{SELECT string_agg(concat_ws(' ', partition, rows, server), ', ' ORDER BY split) FROM spanner.split_stats('m.full', false)}) =~ s/ \d+//gr,
	'm.full_p0, m.full_p0_1 far', 'where the splits are');
is(perform(q{spanner.move_split('m.full_p0_1', NULL)}), '', 'and comes back');
nothing_has_run('expressions of a table that comes back');
is($node->safe_psql('app', q{SELECT relowner::regrole, relkind FROM pg_class WHERE oid = 'm.full_p0_1'::regclass}), 'mallory|r', 'the table is hers');
is($node->safe_psql('app', 'SELECT count(*), count(DISTINCT id), bool_and(len = v * 2) FROM m.full'), '11|11|t', 'all rows are there');

# A bound of a domain is read when a partition is made
run_as('mallory', 'CREATE TABLE m.dom (id m.d, v text) PARTITION BY RANGE (id)');
superuser_runs(q{SELECT statement FROM spanner.create_splits('m.dom', 2, bits => 63) \gexec});
is($node->safe_psql('app', q{SELECT count(*) FROM pg_inherits WHERE inhparent = 'm.dom'::regclass}), 2, 'splits of a table of somebody else');
nothing_has_run('a partition key of a domain');

# Names that are hard to quote, under settings of the session that are hard
my $odd = q{o'd"d \\ $move$ $$ %s {"a": 1} ); --};

$node->safe_psql('app', sprintf(q{DO LANGUAGE plpgsql $do$
	DECLARE
		odd text := %s;
	BEGIN
		EXECUTE format('CREATE SCHEMA %%I', odd);
		EXECUTE format('CREATE TABLE %%1$I.%%1$I (%%1$I bigint PRIMARY KEY, %%2$I text DEFAULT %%1$L CHECK (%%2$I <> %%3$L), %%4$I date DEFAULT %%5$L CHECK (%%4$I > %%6$L))',
			odd, odd || '2', odd || '3', odd || '4', '2024-02-01', '2023-02-01');
		EXECUTE format('CREATE INDEX %%2$I ON %%1$I.%%1$I (lower(%%3$I)) WHERE %%3$I <> %%1$L', odd, odd || 'i', odd || '2');
		EXECUTE format('INSERT INTO %%1$I.%%1$I (%%1$I) SELECT generate_series(1, 100)', odd);
	END $do$}, '$odd$' . $odd . '$odd$'));
my $table = q{(SELECT c.oid FROM pg_class c WHERE relname LIKE 'o''d"d%' AND relname LIKE '%PART' AND relkind = 'KIND' AND relispartition = IS)};
my $whole = $table =~ s/PART/--/r =~ s/KIND/r/r =~ s/IS$/false)/r =~ s/= IS/= false/r;
my $half = $table =~ s/PART/_p0/r =~ s/KIND/r/r =~ s/= IS/= true/r;
my $other = $table =~ s/PART/_p0_1/r =~ s/KIND/f/r =~ s/= IS/= true/r;

is(perform("spanner.adopt_table($whole)"), 'no steps', 'odd names: adopt');
is(perform("spanner.move_split($half, 'far', at => '51')"), '', 'odd names: a part moves');
is($node->safe_psql('app', "SELECT string_agg(finding || ' ' || detail, ', ') FROM spanner.check_splits((SELECT inhparent FROM pg_inherits WHERE inhrelid = $half))"), '', 'odd names: nothing is wrong with them');
is(perform("spanner.move_split($other, NULL)", 5), '', 'odd names: it begins to come back');
my $aside = $table =~ s/PART/_p0_1/r =~ s/KIND/r/r =~ s/= IS/= false/r;
is(perform("spanner.move_split($aside, NULL, give_up => true)"), '', 'odd names: which is given up');
is($node->safe_psql('app', "SELECT string_agg(finding || ' ' || detail, ', ') FROM spanner.check_splits((SELECT inhparent FROM pg_inherits WHERE inhrelid = $half))"), '', 'odd names: nothing is left');
is(perform("spanner.move_split($other, NULL)"), '', 'odd names: and done');
is($node->safe_psql('app', sprintf('SELECT count(*), count(DISTINCT x) FROM %s x', join '.', map { my $n = $odd =~ s/"/""/gr; "\"$n\"" } 1, 2)), '100|100', 'odd names: rows');
nothing_has_run('names that are hard to quote');

# A move that has been swapped cannot be given up
is(perform(q{spanner.move_split('sp.p1', 'far')}, 6), '', 'a move begins');
$node->safe_psql('app', 'ALTER TABLE sp.p1 ENABLE ROW LEVEL SECURITY');
like(superuser_runs(q{SELECT spanner.move_split('sp.p1', 'far')}), qr/the rows of table "p1" cannot move\nDETAIL:  It has row-level security\./, 'policies keep rows from moving');
my $give_up = steps_of(q{spanner.move_split('sp.p1', 'far', give_up => true)});
$node->safe_psql('app', 'ALTER TABLE sp.p1 DISABLE ROW LEVEL SECURITY');
is(perform(q{spanner.move_split('sp.p1', 'far')}), '', 'and ends');
like(superuser_runs("\\set ON_ERROR_STOP on\n$give_up"), qr/partition "p1" is where it was to go/, 'it is not given up behind the swap');
is($node->safe_psql('app', 'SELECT count(*) FROM sp.t'), 3000, 'no row is lost');

# What a table there has that is not known here; a table that is in the way
$node->safe_psql('far', 'ALTER TABLE sp.p1 ADD CONSTRAINT more CHECK (id > 0), ADD w int; CREATE UNIQUE INDEX odd ON sp.p1 (id) WHERE id > 5; CREATE INDEX plain ON sp.p1 (v)');
my $refused = superuser_runs(q{SELECT spanner.move_split('sp.p1', NULL)});
like($refused, qr/table "sp.p1" on server "far" is not like partition "p1"\nDETAIL:  These differ: check not here: more; column not here: w; index not here: odd\./, 'differences are an error');
$node->safe_psql('far', 'ALTER TABLE sp.p1 DROP CONSTRAINT more, DROP w; DROP INDEX sp.odd; CREATE UNIQUE INDEX ids ON sp.p1 (id)');
$refused = superuser_runs(q{SELECT statement FROM spanner.move_split('sp.p1', NULL) WHERE step = 3});
like($refused, qr/NOTICE:  index plain does not move along\n.*make_split.*"unique": true/s, 'a unique index of columns moves along');
run_as('mallory', 'CREATE SCHEMA sp2 AUTHORIZATION mallory');
$node->safe_psql('far', 'CREATE SCHEMA sp2 AUTHORIZATION mallory; SET ROLE mallory; CREATE TABLE sp2.new_p0 (id bigint)');
$node->safe_psql('app', 'CREATE TABLE sp2.new (id bigint) PARTITION BY RANGE (id)');
unlike(perform(q{(SELECT 1 AS step, * FROM spanner.create_splits('sp2.new', 1, '{far}', bits => 63, key => '{id}')) x}), qr/^(?:no steps)?$/, 'a table of somebody else in the way');

# Who makes a user mapping gets no rights on tables there by that
$node->safe_psql('app', 'CREATE ROLE bob; GRANT USAGE ON FOREIGN SERVER far TO bob; SET ROLE bob; CREATE USER MAPPING FOR bob SERVER far OPTIONS (user \'bob\')');
unlike(steps_of(q{spanner.create_splits('sp2.new', 1, '{far}', bits => 63, key => '{id}')}), qr/"bob"/, 'the user of a mapping without rights here');
$node->safe_psql('app', 'GRANT SELECT ON sp2.new TO bob');
like(steps_of(q{spanner.create_splits('sp2.new', 1, '{far}', bits => 63, key => '{id}')}), qr/"role": "bob", "grantable": false, "privileges": \["SELECT"\]/, 'one with rights here');

# Another version of the extension
$node->safe_psql('far', q{UPDATE pg_extension SET extversion = '0.9' WHERE extname = 'spanner_keys_splits'});
like(superuser_runs(q{SELECT spanner.move_split('sp.p0', 'far')}), qr/server "far" has another version of extension spanner_keys_splits\nDETAIL:  It is 0.9 there, 1.0 here/, 'another version on the target');
like(superuser_runs(q{SELECT spanner.move_split('sp.p1', NULL)}), qr/server "far" has another version/, 'on the source');
is($node->safe_psql('app', q{SELECT finding, detail FROM spanner.check_splits('sp.t') WHERE server = 'far'}), 'extension version|0.9 there, 1.0 here', 'a check finds it');
is($node->safe_psql('app', q{SELECT error FROM spanner.split_stats('sp.t') WHERE server = 'far'}), 'server "far" has another version of extension spanner_keys_splits', 'statistics tell');

unlike(slurp_file($node->logfile), qr/terminated by signal|TRAP|PANIC/, 'the server is well');
$node->stop;
done_testing();
