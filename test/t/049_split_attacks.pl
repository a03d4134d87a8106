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
my $is_old = $node->safe_psql('postgres', 'SHOW server_version_num') < 160000;
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

# The program, with settings that change how names and constants are written: its exit status, and
# what it says.
my @settings = ('DateStyle=SQL,DMY', 'search_path=m,pg_catalog', 'quote_all_identifiers=on');

sub splits
{
	my ($role, @words) = @_;
	my ($out, $err) = ('', '');
	local $ENV{PGOPTIONS} = join ' ', map { "-c $_" } @settings;

	IPC::Run::run([ 'spanner_splits', '--yes', '-U', $role, '-d', $node->connstr('app'), @words ], '<', \'', '>', \$out, '2>', \$err);
	my $status = $? >> 8;

	note "spanner_splits @words: $status\n$out$err";
	return wantarray ? ($status, $out . $err) : $status;
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
# domain and a type whose constants run them, an operator
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
	CREATE FUNCTION m.is_name(name, name) RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog
	  AS $$ BEGIN PERFORM m.g(); RETURN $1 = $2; END $$;
	CREATE OPERATOR m.= (LEFTARG = name, RIGHTARG = name, FUNCTION = m.is_name);
	CREATE DOMAIN m.d AS bigint CHECK (m.chk(value));
	CREATE TYPE m.comp AS (x m.d);});

# A view of somebody else on the table that is adopted
$node->safe_psql('app', q{
	CREATE TABLE public.viewed (id bigint PRIMARY KEY, v text);
	INSERT INTO public.viewed SELECT i, 'x' FROM generate_series(1, 10) i});
run_as('mallory', q{CREATE VIEW m.v AS SELECT o.id, ('(1)'::m.comp) AS c FROM public.viewed o});
superuser_runs(q{SELECT * FROM spanner.adopt_table('public.viewed', dry_run => false)});
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
	CREATE VIEW spanner_internal.split_server AS SELECT spanner.bait() AS wal_level, '{}'::text[] AS moves;
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
superuser_runs(q{SELECT spanner_internal.ask_server('bait', 'x', 'x')});
nothing_has_run('a server of somebody else is asked');

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
$node->safe_psql('far', 'ALTER SCHEMA m OWNER TO mallory; GRANT CREATE ON DATABASE far TO mallory');
my $ends_text = 'm."p$move$;alter role mallory superuser;do $move$begin null;end"';

# without rows it moves on release 15 as well
is(splits($superuser, 'move', $ends_text, '--to', 'far'), 0, 'a name that would end a text');
nothing_has_run('a name that ends a dollar quoted text');

# What the owner of the other database says of a table there
run_as('rem_owner', q{
	CREATE SCHEMA spanner_internal;
	CREATE VIEW spanner_internal.split_server AS SELECT 'logical'::text AS wal_level, '{}'::text[] AS moves;
	CREATE VIEW spanner_internal.split_tables AS SELECT 'public'::name AS schemaname, 'split_p0'::name AS tablename, 'r'::text AS relkind,
		'd'::text AS replica_identity, ARRAY['id bigint); ALTER ROLE rem_owner SUPERUSER; --'] AS columns, '{}'::text[] AS checks,
		'{}'::text[] AS keys, '{}'::text[] AS foreign_keys, '{}'::text[] AS index_names, '{}'::text[] AS indexes,
		'{}'::name[] AS identity_columns, 1::bigint AS rows, 1::bigint AS size, 1::bigint AS inserts;}, 'rem');
$node->safe_psql('app', qq{
	CREATE SERVER rem FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'rem');
	CREATE USER MAPPING FOR CURRENT_USER SERVER rem OPTIONS (user 'rem_owner');
	CREATE TABLE public.split (id bigint) PARTITION BY RANGE (id);
	CREATE FOREIGN TABLE public.split_p0 PARTITION OF public.split FOR VALUES FROM (MINVALUE) TO (MAXVALUE) SERVER rem;});
my ($status, $said) = splits($superuser, 'move', 'public.split_p0', '--to', 'here');
is($status, 1, 'a server without the extension');
like($said, qr/version/, 'is asked nothing else');
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
like($advice, qr/spanner_splits move sp.p1 --to far/, 'but to another one');
like((splits($superuser, 'move', 'sp.p1', '--to', 'a_server'))[1], qr/server "a_server" belongs to neither/, 'nor to move a split there');
$node->safe_psql('app', 'CREATE TABLE sp.new (id bigint) PARTITION BY RANGE (id)');
like((splits($superuser, 'create', 'sp.new', '--servers', 'here,a_server', '--bits=63'))[1], qr/server "a_server" belongs to neither/, 'nor to make one there');

# An owner without special rights
$node->safe_psql('app', qq{
	CREATE USER MAPPING FOR alice SERVER far OPTIONS (user '$superuser', password_required 'false');
	CREATE SCHEMA alice AUTHORIZATION alice;});
run_as('alice', q{
	CREATE TABLE alice.t (id bigint PRIMARY KEY, v text)});
run_as('alice', q{SELECT * FROM spanner.adopt_table('alice.t', dry_run => false)});
is($node->safe_psql('app', q{SELECT relkind, relowner::regrole FROM pg_class WHERE oid = 'alice.t'::regclass}), 'p|alice', 'an owner adopts a table');

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
like(superuser_runs("SELECT count(*) > 9 FROM spanner.adopt_table('m.full', dry_run => false)"), qr/^t$/m, 'a table of somebody else is adopted');
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
$node->safe_psql('far', $planted);
superuser_runs("SET search_path = pg_catalog; SELECT '(1)'::m.comp");
like(substr(slurp_file($node->logfile), $place), qr/WARNING:  planted by mallory/, 'planted code tells if a superuser runs it');
$place = -s $node->logfile;

# Release 15 applies rows as the superuser: only tables of superusers move, or of who moves them
if ($is_old)
{
	is(splits($superuser, 'move', 'm.full_p0', '--to', 'far', '--at', '15'), 1, 'a table of somebody else does not move');
	nothing_has_run('expressions of a table that does not move');
	splits($superuser, 'abandon', 'm.full_p0');
}
else
{
	is(splits($superuser, 'move', 'm.full_p0', '--to', 'far', '--at', '15'), 0, 'a part of a split of somebody else moves');
	nothing_has_run('expressions of a table that moves');
	is($node->safe_psql('far', q{SELECT relowner::regrole FROM pg_class WHERE oid = 'm.full_p0_1'::regclass}), 'mallory', 'the table there is hers');
	is($node->safe_psql('app', q{SELECT string_agg(concat_ws(' ', partition, server), ', ' ORDER BY split) FROM spanner.split_stats('m.full', false)}),
		'm.full_p0, m.full_p0_1 far', 'where the splits are');
	is(splits($superuser, 'move', 'm.full_p0_1', '--to', 'here'), 0, 'and comes back');
	nothing_has_run('expressions of a table that comes back');
	is($node->safe_psql('app', q{SELECT relowner::regrole, relkind FROM pg_class WHERE oid = 'm.full_p0_1'::regclass}), 'mallory|r', 'the table is hers');
}
is($node->safe_psql('app', 'SELECT count(*), count(DISTINCT id), bool_and(len = v * 2) FROM m.full'), '11|11|t', 'all rows are there');

# A bound of a domain is read when a partition is made
run_as('mallory', 'CREATE TABLE m.dom (id m.d, v text) PARTITION BY RANGE (id)');
superuser_runs(q{SELECT spanner.create_splits('m.dom', 2, bits => 63, dry_run => false)});
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
sub odd_name
{
	my ($suffix) = @_;

	return join '.', map { '"' . s/"/""/gr . '"' } $odd, $odd . $suffix;
}

my $findings = 'SELECT string_agg(finding || detail, $$, $$) FROM spanner.check_splits($odd$' . odd_name('') . '$odd$)';

superuser_runs('SELECT spanner.adopt_table($odd$' . odd_name('') . '$odd$, dry_run => false)');
$node->safe_psql('far', sprintf('CREATE SCHEMA %s; CREATE TABLE %s (who text)', odd_name('') =~ s/\..*//sr, odd_name('_p0')));
is(splits($superuser, 'move', odd_name('_p0'), '--to', 'far'), 1, 'odd names: a table is in the way');
is(splits($superuser, 'abandon', odd_name('_p0')), 1, 'odd names: no move has begun');
is($node->safe_psql('app', $findings), '', 'odd names: nothing is left');
$node->safe_psql('far', 'DROP TABLE ' . odd_name('_p0'));
is(splits($superuser, 'move', odd_name('_p0'), '--to', 'far', '--at', '51'), 0, 'odd names: a part moves');
is($node->safe_psql('app', $findings), '', 'odd names: nothing is wrong with them');
is(splits($superuser, 'move', odd_name('_p0_1'), '--to', 'here'), 0, 'odd names: and comes back');
is($node->safe_psql('app', sprintf('SELECT count(*) FROM %s', odd_name(''))), '100', 'odd names: rows');
nothing_has_run('names that are hard to quote');

# Policies keep rows from moving; a move that has ended cannot be given up
$node->safe_psql('far', 'CREATE SCHEMA sp');
$node->safe_psql('app', 'ALTER TABLE sp.p1 ENABLE ROW LEVEL SECURITY');
like((splits($superuser, 'move', 'sp.p1', '--to', 'far'))[1], qr/the rows of table "p1" cannot move\n.*It has row-level security\./, 'policies keep rows from moving');
splits($superuser, 'abandon', 'sp.p1');
$node->safe_psql('app', 'ALTER TABLE sp.p1 DISABLE ROW LEVEL SECURITY');
is(splits($superuser, 'move', 'sp.p1', '--to', 'far'), 0, 'without they move');
isnt(splits($superuser, 'abandon', 'sp.p1'), 0, 'it is not given up behind the swap');
is($node->safe_psql('app', 'SELECT count(*) FROM sp.t'), 3000, 'no row is lost');

# A table that is in the way
run_as('mallory', 'CREATE SCHEMA sp2 AUTHORIZATION mallory');
$node->safe_psql('far', 'CREATE SCHEMA sp2 AUTHORIZATION mallory; SET ROLE mallory; CREATE TABLE sp2.new_p0 (id bigint)');
$node->safe_psql('app', 'CREATE TABLE sp2.new (id bigint) PARTITION BY RANGE (id)');
is(splits($superuser, 'create', 'sp2.new', '--servers', 'far', '--bits=63', '--key=id'), 1, 'a table of somebody else in the way');
is($node->safe_psql('far', q{SELECT relowner::regrole FROM pg_class WHERE oid = 'sp2.new_p0'::regclass}), 'mallory', 'is left alone');

# A schema that its owner could not make there
$node->safe_psql('far', 'REVOKE CREATE ON DATABASE far FROM mallory');
run_as('mallory', q{
	CREATE SCHEMA carol;
	CREATE TABLE carol.t (id bigint) PARTITION BY RANGE (id);
	CREATE TABLE carol.p PARTITION OF carol.t (PRIMARY KEY (id)) FOR VALUES FROM (0) TO (9)});
like((splits($superuser, 'move', 'carol.p', '--to', 'far'))[1], qr/role "mallory" may not create tables in schema "carol"/, 'a schema that somebody else may not make');
$node->safe_psql('far', 'GRANT CREATE ON DATABASE far TO mallory');
is(splits($superuser, 'move', 'carol.p', '--to', 'far'), 0, 'and now may');
is($node->safe_psql('far', q{SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'carol'}), 'mallory', 'belongs to that role');

# Who makes a user mapping gets no rights on tables there by that
$node->safe_psql('app', 'CREATE ROLE bob; GRANT USAGE ON FOREIGN SERVER far TO bob; SET ROLE bob; CREATE USER MAPPING FOR bob SERVER far OPTIONS (user \'bob\')');
my $grants = q{SELECT concat(head, 't', tail) FROM spanner_internal.table_grants('sp2.new', 'far', NULL) WHERE tail ~ 'bob'};

is($node->safe_psql('app', $grants), '', 'the user of a mapping without rights here');
$node->safe_psql('app', 'GRANT SELECT ON sp2.new TO bob');
is($node->safe_psql('app', $grants), 'GRANT SELECT ON TABLE t TO bob', 'one with rights here');

$node->safe_psql('app', 'CREATE TABLE sp.plain (id bigint PRIMARY KEY); GRANT USAGE ON SCHEMA sp TO mallory');

# A foreign partition, or the publication of a copy, that stands for a table of somebody else there
$node->safe_psql('far', q{
	CREATE SCHEMA alice AUTHORIZATION alice;
	CREATE TABLE alice.own (id bigint PRIMARY KEY, v text);
	ALTER TABLE alice.own OWNER TO alice;
	CREATE TABLE m.copied (id bigint PRIMARY KEY);
	ALTER TABLE m.copied OWNER TO alice});
run_as('mallory', q{
	CREATE TABLE m.points (id bigint, v text) PARTITION BY RANGE (id);
	CREATE FOREIGN TABLE m.points_p0 PARTITION OF m.points FOR VALUES FROM (0) TO (9) SERVER far OPTIONS (schema_name 'alice', table_name 'own');
	CREATE TABLE m.copied (id bigint PRIMARY KEY);
	DO $$
	BEGIN
		EXECUTE format('CREATE PUBLICATION %I FOR TABLE m.copied', spanner_internal.copy_name('m.copied', 'far'));
		EXECUTE format('CREATE PUBLICATION %I', spanner_internal.copy_name('sp.plain', 'far'));
	END $$});
foreach my $words ([ 'run', 'm.points', 'ALTER TABLE {} ADD COLUMN planted int' ], [ 'move', 'm.points_p0', '--to', 'here' ], [ 'run', 'm.copied', 'ALTER TABLE {} ADD COLUMN planted int' ])
{
	like((splits($superuser, @$words))[1], qr/table "(alice\.own|m\.copied)" on server "far" has another owner/, "$words->[0] $words->[1]: refused");
}
is($node->safe_psql('far', q{SELECT count(*) FROM pg_attribute WHERE attname = 'planted'}), 0, 'the tables of somebody else are left alone');
is($node->safe_psql('app', q{SELECT count(*) FROM spanner_internal.list_copies('sp.plain')}),
	0, 'a publication of nothing is no copy');

# Another version of the extension
$node->safe_psql('far', q{UPDATE pg_extension SET extversion = '0.9' WHERE extname = 'spanner_keys_splits'});
like((splits($superuser, 'move', 'sp.p0', '--to', 'far'))[1], qr/version/, 'another version on the target');
like((splits($superuser, 'move', 'sp.p1', '--to', 'here'))[1], qr/version/, 'on the source');
is($node->safe_psql('app', q{SELECT finding, detail FROM spanner.check_splits('sp.t') WHERE server = 'far'}), 'extension version|0.9 there, 1.0 here', 'a check finds it');
is($node->safe_psql('app', q{SELECT error FROM spanner.split_stats('sp.t') WHERE server = 'far'}), 'server "far" has another version of extension spanner_keys_splits', 'statistics tell');

unlike(slurp_file($node->logfile), qr/terminated by signal|TRAP|PANIC/, 'the server is well');
$node->stop;
done_testing();
