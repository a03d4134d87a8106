# Nobody gets the rights of another role through a sequence: not by what a
# table, a domain or a schema of his holds when somebody else binds, converts,
# draws or drops, and not by a function whose EXECUTE was revoked.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('attacks');

$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nlog_min_messages = warning\n");
$node->start;

my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

sub run_as
{
	my ($role, $database, $sql) = @_;

	return $node->safe_psql($database, $sql, extra_params => [ '-U', $role ]);
}

sub refused
{
	my ($role, $database, $sql, $message, $name) = @_;
	my ($result, $out, $err) = $node->psql($database, $sql,
		extra_params => [ '-U', $role ], on_error_stop => 1);

	isnt($result, 0, "$name: refused");
	like($err, $message, $name);
	return;
}

# Code of mallory that somebody else runs says so in the log, whatever comes
# of the transaction.  It tries to get back to the user of the session, too.
my $trap = q{
	CREATE SCHEMA m;
	GRANT USAGE ON SCHEMA m TO PUBLIC;
	CREATE FUNCTION m.trap(what text) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		IF current_user <> session_user THEN
			BEGIN
				PERFORM pg_catalog.set_config('role', session_user, true);
			EXCEPTION WHEN OTHERS THEN
			END;
		END IF;
		IF current_user <> 'mallory' THEN
			RAISE WARNING 'trapped % by %', current_user, what;
		END IF;
		RETURN true;
	END $$;};

# Statements of a superuser, none of which may run mallory's code.
sub is_not_trapped
{
	my ($database, $sql, $name, %options) = @_;
	my $offset = -s $node->logfile;
	my ($result, $out, $err) = $node->psql($database, $sql, on_error_stop => 1, %options);
	my ($trapped) = substr(slurp_file($node->logfile), $offset) =~ /WARNING:  (trapped .*)/;

	is($trapped // '', '', "$name: code of mallory");
	return ($result, $out, $err);
}

# The same, if they are statements that have to succeed.
sub succeeds_untrapped
{
	my ($database, $sql, $name) = @_;
	my ($result, $out, $err) = is_not_trapped($database, $sql, $name);

	is($result, 0, "$name: done") or diag($err);
	return $out;
}

# A library that is preloaded, or not, and an extension that is there, or not.
sub create_database
{
	my ($database, %options) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER db_owner");
	$node->safe_psql('postgres',
		"ALTER DATABASE $database SET session_preload_libraries = 'spanner_keys'") if $options{loaded};
	run_as('db_owner', $database, 'CREATE EXTENSION spanner_keys') if $options{extension};
	run_as('db_owner', $database, 'GRANT CREATE ON DATABASE ' . $database . ' TO mallory;
		GRANT CREATE ON SCHEMA public TO mallory');
	run_as('mallory', $database, $trap);
	return;
}

$node->safe_psql('postgres', join '', map { "CREATE ROLE $_ LOGIN;" } qw(db_owner mallory alice bob));

#
# Expressions of mallory's, in what names a sequence of somebody else
#

# A literal of a composite type calls the CHECK of a domain when it is parsed.
my $parsed = q{length(('(1)'::m.comp)::text)};
my $bait = q{
	CREATE FUNCTION m.chk(int) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RETURN m.trap('a domain'); END$$;
	CREATE DOMAIN m.d AS int CHECK (m.chk(value));
	CREATE TYPE m.comp AS (x m.d);};

# Each: what a superuser has, what mallory makes, and what the superuser does.
my @expressions = (
	[
		'convert_column', 'CREATE TABLE public.orders (id bigserial, v int); INSERT INTO public.orders (v) VALUES (1)',
		"CREATE TABLE m.t1 (c bigint DEFAULT nextval('public.orders_id_seq') + $parsed)",
		q{SELECT spanner.convert_column('public.orders', 'id')}
	],
	[
		'convert_column of an identity column', 'CREATE TABLE public.numbered (id bigint GENERATED ALWAYS AS IDENTITY)',
		"CREATE TABLE m.t2 (c bigint DEFAULT nextval('public.numbered_id_seq') + $parsed)",
		q{SELECT spanner.convert_column('public.numbered', 'id')}
	],
	[
		'convert_column of a table that mallory has as well', '',
		"CREATE TABLE m.t3 (id bigint GENERATED ALWAYS AS IDENTITY, c bigint DEFAULT $parsed,
			CHECK (id + $parsed > 0)) PARTITION BY RANGE (id);
		CREATE TABLE m.t3_part PARTITION OF m.t3 DEFAULT",
		q{SELECT spanner.convert_column('m.t3', 'id')}
	],
	[
		'SECURITY LABEL', 'CREATE SEQUENCE public.labelled',
		"CREATE TABLE m.t4 (c bigint DEFAULT nextval('public.labelled') + $parsed)",
		q{SELECT spanner.bit_reverse(1, true); SECURITY LABEL FOR spanner_keys ON SEQUENCE public.labelled IS 'striped'}
	],
	[
		'SECURITY LABEL IS NULL', q{SELECT spanner.create_sequence('public.unlabelled', 'striped')},
		"CREATE TABLE m.t5 (c bigint DEFAULT nextval('public.unlabelled') + $parsed)",
		q{SELECT spanner.bit_reverse(1, true); SECURITY LABEL FOR spanner_keys ON SEQUENCE public.unlabelled IS NULL}
	],
	[
		'alter_sequence', 'CREATE SEQUENCE public.altered',
		"CREATE DOMAIN m.altered AS bigint DEFAULT nextval('public.altered') + $parsed;
		CREATE TABLE m.t6 (c m.altered)",
		q{SELECT spanner.alter_sequence('public.altered', kind => 'striped')}
	],
	[
		'alter_sequence back', q{SELECT spanner.create_sequence('public.local', 'striped')},
		"CREATE DOMAIN m.local AS bigint DEFAULT nextval('public.local') + $parsed",
		q{SELECT spanner.alter_sequence('public.local', kind => 'local')}
	],
	[
		'convert_all', 'CREATE SCHEMA converted CREATE TABLE t (id serial); GRANT USAGE ON SCHEMA converted TO PUBLIC',
		"CREATE TABLE m.t7 (c bigint DEFAULT nextval('converted.t_id_seq') + $parsed)",
		q{SELECT count(*) FROM spanner.convert_all('converted', dry_run => false)}
	],
	[
		'sync_sequence', q{CREATE TABLE public.synced (id bigserial); SELECT spanner.convert_column('public.synced', 'id')},
		"CREATE TABLE m.t8 (c bigint DEFAULT nextval('public.synced_id_seq') + $parsed)",
		q{SELECT spanner.sync_sequence('public.synced', 'id')}
	],
	[
		'ALTER TABLE of something else', '',
		"SELECT spanner.create_sequence('m.bound', 'striped');
		SET check_function_bodies = off;
		CREATE TABLE m.t9 (c bigint DEFAULT nextval('m.bound') + $parsed, v int)",
		'ALTER TABLE m.t9 REPLICA IDENTITY FULL; ALTER TABLE m.t9 ALTER v SET NOT NULL; ALTER TABLE m.t9 ADD w int;
		ALTER TABLE m.t9 RENAME w TO x; ALTER TABLE m.t9 OWNER TO mallory'
	],
	[
		'ALTER TABLE of something else, spanner.nextval', '',
		"SELECT spanner.create_sequence('m.also', 'striped');
		CREATE TABLE m.t10 (c bigint DEFAULT spanner.nextval('m.also') + $parsed, v int)",
		'ALTER TABLE m.t10 REPLICA IDENTITY FULL'
	],
	[
		'LIKE', '',
		"SELECT spanner.create_sequence('m.copied', 'striped');
		SET check_function_bodies = off;
		CREATE TABLE m.t11 (c bigint DEFAULT nextval('m.copied') + $parsed)",
		'CREATE TABLE public.copy (LIKE m.t11 INCLUDING ALL)'
	],
	[
		'ATTACH PARTITION',
		'CREATE TABLE public.parted (id bigserial, c bigint) PARTITION BY LIST (c);
		SELECT spanner.convert_column(\'public.parted\', \'id\')',
		"CREATE TABLE m.t12 (id bigint NOT NULL DEFAULT nextval('public.parted_id_seq') + $parsed, c bigint)",
		'ALTER TABLE public.parted ATTACH PARTITION m.t12 DEFAULT'
	],
	[
		'DROP SEQUENCE', q{SELECT spanner.create_sequence('public.dropped', 'striped')},
		"CREATE TABLE m.t13 (c bigint DEFAULT nextval('public.dropped') + $parsed)",
		'DROP SEQUENCE public.dropped CASCADE'
	]);

foreach my $loaded (0, 1)
{
	my $database = $loaded ? 'expressions_loaded' : 'expressions';

	create_database($database, extension => 1, loaded => $loaded);
	run_as('mallory', $database, $bait);
	my ($result, $out, $err) = $node->psql($database, "SELECT $parsed");
	like($err, qr/WARNING:  trapped $superuser by a domain/, "$database: who parses the expression himself is trapped");

	foreach (@expressions)
	{
		my ($name, $has, $makes, $does) = @$_;

		$node->safe_psql($database, $has) if $has;
		run_as('mallory', $database, $makes);
		succeeds_untrapped($database, $does, "$database: $name");
	}
	run_as('mallory', $database, "
		SELECT spanner.create_sequence('m.ms', 'striped');
		CREATE DOMAIN m.kept AS bigint DEFAULT spanner.nextval('m.ms') + $parsed;
		CREATE DOMAIN m.core AS bigint DEFAULT nextval('m.ms') + $parsed;
		CREATE TABLE m.last (a m.core, b bigint DEFAULT nextval('m.ms') + $parsed)");
	succeeds_untrapped($database, 'DROP EXTENSION spanner_keys CASCADE', "$database: DROP EXTENSION");
	is($node->safe_psql($database, q{SELECT count(*) FROM pg_attribute WHERE attrelid = 'm.last'::regclass AND attnum > 0 AND NOT attisdropped}),
		2, "$database: columns that draw with core's nextval stay");
}

#
# A schema "spanner" that is mallory's, or has something of his
#

sub plant_functions
{
	my ($schema, @signatures) = @_;

	return join '', map {
		my ($name, $arguments, $returns) = /^(\w+)\((.*)\) (\w+)$/;

		"CREATE FUNCTION $schema.$name($arguments) RETURNS $returns LANGUAGE plpgsql AS
			\$\$BEGIN PERFORM m.trap('$schema.$name'); RETURN NULL; END\$\$;\n"
	} @signatures;
}

my @drawing = (
	'nextval(regclass) bigint', 'currval(regclass) bigint', 'lastval() bigint', 'setval(regclass, bigint) bigint',
	'setval(regclass, bigint, boolean) bigint', 'map_counter(bigint, regclass) bigint', 'map_counter(regclass, bigint) bigint',
	'may_draw(regclass, regprocedure) boolean', 'ascending_nextval(regclass, integer) bigint');
my @called = ('convert_column(text, text) regclass', 'shard_id(integer, bigint) integer');

foreach my $schema ('spanner', 'spanner_internal')
{
	create_database("empty_$schema");
	run_as('mallory', "empty_$schema", "CREATE SCHEMA $schema");
	refused($_, "empty_$schema", 'CREATE EXTENSION spanner_keys', qr/schema "$schema" already exists/,
		"schema $schema is there already, $_ installs") foreach $superuser, 'db_owner';
}

# What another session has not committed yet cannot be seen.
foreach (
	[ 'uncommitted_function', 'CREATE SCHEMA spanner', '' ],
	[ 'uncommitted_schema', '', 'CREATE SCHEMA spanner;' ],
	[ 'uncommitted_owner', 'CREATE SCHEMA spanner', 'DROP SCHEMA spanner; CREATE SCHEMA spanner;' ])
{
	my ($database, $committed, $uncommitted) = @$_;

	create_database($database);
	run_as('mallory', $database, $committed) if $committed;
	my $mallory = $node->background_psql($database, on_error_die => 1, extra_params => [ '-U', 'mallory' ]);
	$mallory->query_safe("BEGIN; $uncommitted\n" . plant_functions('spanner', @called));
	my $installer = $node->background_psql($database, on_error_stop => 0);
	$installer->query_until(qr/started/, "\\echo started\nCREATE EXTENSION spanner_keys;\n\\echo over\n");
	$node->poll_query_until('postgres', qq{
		SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = '$database'
		AND query LIKE 'CREATE EXTENSION%' AND (wait_event_type = 'Lock' OR state LIKE 'idle%')})
	  or die 'CREATE EXTENSION neither waits nor ends';
	$mallory->query_safe('COMMIT');
	$mallory->quit;
	$installer->query('SELECT 1');
	$installer->quit;
	# Where there is an extension, who calls its functions must not call mallory's.
	next if $node->safe_psql($database, q{SELECT count(*) FROM pg_extension WHERE extname = 'spanner_keys'}) == 0
	  && pass("$database: refused");
	is( $node->safe_psql($database, q{
			SELECT count(*) FROM pg_proc WHERE pronamespace::regnamespace::text ~ '^spanner' AND proowner = 'mallory'::regrole}),
		0, "$database: no function of mallory beside those of the extension");
	$node->safe_psql($database, 'CREATE TABLE public.t (id bigserial)');
	is_not_trapped($database, q{SELECT spanner.convert_column('public.t', 'id')}, "$database: a call of convert_column");
	is_not_trapped($database, q{SELECT spanner.shard_id(16, 7::bigint)}, "$database: a call of shard_id");
}

# In a database without the extension, the library leaves everything alone,
# also where the label of a former one, or of a dump, is left.
create_database('bare', loaded => 1);
run_as('mallory', 'bare', join '', 'CREATE SEQUENCE public.s;',
	map { "CREATE SCHEMA $_; GRANT USAGE ON SCHEMA $_ TO PUBLIC;" . plant_functions($_, @drawing) } 'spanner', 'spanner_internal');
refused($_->[0], 'bare', $_->[1], qr/ERROR/, "no extension: $_->[1]") foreach (
	[ 'mallory', q{SECURITY LABEL FOR spanner_keys ON SEQUENCE public.s IS 'bit_reversed_positive'} ],
	[ 'bob', q{CREATE TEMP SEQUENCE s; SECURITY LABEL FOR spanner_keys ON SEQUENCE s IS 'striped'} ],
	[ $superuser, q{SECURITY LABEL FOR spanner_keys ON SEQUENCE public.s IS 'bit_reversed_positive'} ]);

my $bob = $node->background_psql('bare', on_error_stop => 0, extra_params => [ '-U', 'bob' ]);
$bob->query(q{CREATE TEMP SEQUENCE s; SECURITY LABEL FOR spanner_keys ON SEQUENCE s IS 'bit_reversed_positive'});
my $draws = q{
	CREATE TABLE IF NOT EXISTS public.mine (id bigserial, v int);
	INSERT INTO public.mine (v) VALUES (1);
	SELECT pg_catalog.nextval('public.mine_id_seq');
	SELECT pg_catalog.nextval(('public.mine_' || 'id_seq')::regclass);
	PREPARE p(bigint) AS SELECT $1;
	EXECUTE p(pg_catalog.nextval('public.mine_id_seq'));
	EXECUTE p(pg_catalog.setval('public.mine_id_seq', 7));
	EXECUTE p(pg_catalog.setval('public.mine_id_seq', 7, true));
	EXECUTE p(pg_catalog.currval('public.mine_id_seq'));
	EXECUTE p(pg_catalog.lastval());
	COPY public.mine (v) FROM STDIN WHERE v <> pg_catalog.lastval();
1
\.
	COPY public.mine (v) FROM STDIN WHERE v <> pg_catalog.nextval('public.mine_id_seq');
1
\.
	SELECT 'ends';};

like(succeeds_untrapped('bare', $draws, 'no extension'), qr/^ends$/m, 'no extension: every statement is run');
$node->safe_psql('bare', q{
	DELETE FROM pg_seclabel;
	INSERT INTO pg_seclabel (objoid, classoid, objsubid, provider, label)
	VALUES ('public.s'::regclass, 'pg_class'::regclass, 0, 'spanner_keys', 'bit_reversed_positive')});
like(succeeds_untrapped('bare', $draws, 'no extension, a label is left'), qr/^ends$/m, 'no extension, a label is left: every statement is run');
is( $node->safe_psql('bare', q{SELECT nextval('public.s'), currval('public.s'), lastval(), setval('public.s', 4)}),
	'1|1|1|4', 'no extension: a sequence with a label is an ordinary one');
$bob->quit;

# The owner of the extension is not the owner of its functions, and may neither
# take them out of it nor add others.  Such as a superuser has added all the same
# are not taken for ours.
create_database('membership', extension => 1);
run_as('db_owner', 'membership', 'GRANT CREATE ON SCHEMA public TO mallory');
run_as('mallory', 'membership', 'CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO PUBLIC; GRANT CREATE ON SCHEMA evil TO db_owner;'
	  . plant_functions('evil', @drawing));
run_as($superuser, 'membership', 'ALTER ROUTINE evil.' . $_ . ' OWNER TO db_owner')
  foreach map { s/ \w+$//r } @drawing;
refused('db_owner', 'membership', "ALTER EXTENSION spanner_keys $_",
	qr/cannot change the members of extension "spanner_keys"/, "the owner of the extension: $_")
  foreach 'DROP FUNCTION spanner.nextval(regclass)', 'DROP SCHEMA spanner', 'DROP SCHEMA spanner_internal', 'ADD SCHEMA evil';
refused('mallory', 'membership', "ALTER EXTENSION spanner_keys $_", qr/must be owner of extension spanner_keys/, "mallory: $_")
  foreach 'DROP SCHEMA spanner', 'ADD SCHEMA evil';
$node->safe_psql('membership', q{
	INSERT INTO pg_depend SELECT 'pg_proc'::regclass, p.oid, 0, 'pg_extension'::regclass, e.oid, 0, 'e'
	FROM pg_proc p, pg_extension e WHERE p.pronamespace = 'evil'::regnamespace AND e.extname = 'spanner_keys'});
refused('mallory', 'membership', 'ALTER FUNCTION pg_catalog.nextval(regclass) SUPPORT evil.nextval',
	qr/must be owner of function|permission denied/, 'a support function of mallory');
$node->safe_psql('membership', q{CREATE TABLE public.b (id bigserial); SELECT spanner.convert_column('public.b', 'id');
	ALTER ROLE CURRENT_USER IN DATABASE membership SET search_path = evil, pg_temp, pg_catalog, spanner, spanner_internal});
succeeds_untrapped('membership', q{
	CREATE TEMP TABLE map_counter (x int);
	PREPARE p(bigint) AS SELECT $1;
	SELECT pg_catalog.nextval('public.b_id_seq'::pg_catalog.regclass),
		pg_catalog.nextval((SELECT 'public.b_id_seq'::pg_catalog.regclass)),
		pg_catalog.currval('public.b_id_seq'::pg_catalog.regclass), pg_catalog.lastval(),
		pg_catalog.setval('public.b_id_seq'::pg_catalog.regclass, 5),
		pg_catalog.setval('public.b_id_seq'::pg_catalog.regclass, 5, true);
	EXECUTE p(pg_catalog.nextval('public.b_id_seq'::pg_catalog.regclass));
	INSERT INTO public.b DEFAULT VALUES;
	CREATE SEQUENCE public.new;
	SECURITY LABEL FOR spanner_keys ON SEQUENCE public.new IS 'striped';}, 'functions of others in the extension and in the path');
$node->safe_psql('membership', 'DROP EXTENSION spanner_keys CASCADE');

#
# EXECUTE, and rights on sequences
#

create_database('rights', extension => 1);
$node->safe_psql('rights', q{
	CREATE SEQUENCE public.plain;
	SELECT spanner.create_sequence('public.bound', 'bit_reversed_positive');
	CREATE TABLE public.serial (id bigserial, v int);
	SELECT spanner.convert_column('public.serial', 'id');
	GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO alice, bob;
	GRANT ALL ON public.serial TO alice, bob;
	INSERT INTO public.serial (v) VALUES (1);
	CREATE TABLE public.calls (signature text, call text);
	INSERT INTO calls
	SELECT f.signature, format(f.call, s.name) FROM (VALUES
		('nextval(regclass)', 'nextval(%L)'), ('nextval(regclass)', 'nextval(%L::text::regclass)'),
		('nextval(regclass)', 'nextval((SELECT %L::regclass))'),
		('nextval(regclass)', 'nextval((%L || left(random()::text, 0))::regclass)'),
		('currval(regclass)', 'currval(%L)'), ('currval(regclass)', 'currval((SELECT %L::regclass))'),
		('lastval()', 'lastval()'),
		('setval(regclass,bigint)', 'setval(%L, 5)'), ('setval(regclass,bigint)', 'setval((SELECT %L::regclass), 5)'),
		('setval(regclass,bigint,boolean)', 'setval(%L, 5, true)'),
		('setval(regclass,bigint,boolean)', 'setval((SELECT %L::regclass), 5, true)')) f (signature, call),
		unnest('{public.bound,public.plain}'::text[]) s (name);
	-- what bob gets of a call, if EXECUTE on a function is revoked
	CREATE FUNCTION public.attempt(call text, revoked text, OUT result text) LANGUAGE plpgsql AS $$
	BEGIN
		SET LOCAL client_min_messages = warning;
		EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', revoked);
		SET LOCAL ROLE bob;
		BEGIN
			EXECUTE 'SELECT ' || call;
			result := 'done';
		EXCEPTION WHEN insufficient_privilege THEN
			result := SQLERRM;
		END;
		RESET ROLE;
		EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', revoked);
	END $$;});
foreach my $loaded (0, 1)
{
	is( $node->safe_psql('rights', ($loaded ? q{LOAD 'spanner_keys';} : '') . q{
			SET client_min_messages = warning;
			DO 'BEGIN PERFORM pg_catalog.nextval(''public.bound''), pg_catalog.nextval(''public.plain''); END';
			SELECT format('EXECUTE on %s.%s is revoked, %s.%s: %s', r.schema, r.signature, c.schema, c.call, a.result)
			FROM (SELECT f.schema, c.signature, c.call FROM unnest('{pg_catalog,spanner,spanner_internal}'::text[]) f (schema), calls c
					WHERE to_regprocedure(f.schema || '.' || c.signature) IS NOT NULL) c,
				(SELECT DISTINCT f.schema, signature FROM unnest('{pg_catalog,spanner,spanner_internal}'::text[]) f (schema), calls
					WHERE to_regprocedure(f.schema || '.' || signature) IS NOT NULL) r
			CROSS JOIN LATERAL attempt(c.schema || '.' || c.call, r.schema || '.' || r.signature) a
			-- what core's functions are planned as calls the extension's, and these ask for core's
			WHERE NOT (c.schema = 'pg_catalog' AND r.schema <> 'pg_catalog') AND a.result <> CASE WHEN c.signature = r.signature
				THEN 'permission denied for function ' || substring(c.signature FROM '\w+') ELSE 'done' END}),
		'', 'EXECUTE is asked for the function that was called, and for the one of core' . ($loaded ? ', library loaded' : ''));
}

# Who plans is not who draws.
sub draws_of
{
	my ($sql) = @_;
	my ($result, $out, $err) = $node->psql('rights', "SET client_min_messages = warning;\n$sql", on_error_stop => 0);

	return join ' ', map { /ERROR:  (.*)/ ? $1 : 'drawn' } grep { /^\d+$|ERROR/ } split /\n/, "$out\n$err";
}

$node->safe_psql('rights', q{
	REVOKE EXECUTE ON FUNCTION pg_catalog.nextval(regclass), pg_catalog.currval(regclass), pg_catalog.lastval(),
		pg_catalog.setval(regclass, bigint), pg_catalog.setval(regclass, bigint, boolean) FROM PUBLIC;
	GRANT EXECUTE ON FUNCTION pg_catalog.nextval(regclass), pg_catalog.currval(regclass), pg_catalog.lastval(),
		pg_catalog.setval(regclass, bigint), pg_catalog.setval(regclass, bigint, boolean) TO alice;
	GRANT CREATE ON SCHEMA public TO alice, bob;});
foreach my $mode (qw(auto force_generic_plan force_custom_plan))
{
	foreach my $call (q{nextval('public.bound')}, q{nextval((SELECT 'public.bound'::regclass))}, q{nextval('public.plain')},
		q{currval('public.bound')}, 'lastval()', q{setval('public.bound', 5)}, q{setval('public.bound', 5, true)})
	{
		my ($function) = $call =~ /^(\w+)/;

		is(draws_of("DO 'BEGIN PERFORM nextval(''public.bound''), nextval(''public.plain''); END';
				SET plan_cache_mode = $mode;
				SET ROLE alice; PREPARE p AS SELECT pg_catalog.$call; EXECUTE p;
				SET ROLE bob; EXECUTE p; SET ROLE alice; EXECUTE p"),
			"drawn drawn permission denied for function $function", "$call: alice plans, bob executes, $mode");
	}
}
is(draws_of(q{PREPARE p AS SELECT nextval('public.bound');
		SET ROLE alice; EXECUTE p; RESET ROLE; REVOKE EXECUTE ON FUNCTION pg_catalog.nextval(regclass) FROM alice;
		SET ROLE alice; EXECUTE p; RESET ROLE; GRANT EXECUTE ON FUNCTION pg_catalog.nextval(regclass) TO alice;
		SET ROLE alice; EXECUTE p}),
	'drawn drawn permission denied for function nextval', 'EXECUTE is revoked between two executions');
foreach (
	[ 'function in PL/pgSQL', q{LANGUAGE plpgsql AS $$BEGIN RETURN nextval('public.bound'); END$$} ],
	[ 'function in SQL', q{LANGUAGE sql AS $$SELECT nextval('public.bound')$$} ],
	[ 'function in SQL, standard', q{LANGUAGE sql BEGIN ATOMIC SELECT nextval('public.bound'); END} ])
{
	my ($name, $body) = @$_;

	$node->safe_psql('rights', qq{
		SET ROLE alice;
		CREATE FUNCTION public.of_alice() RETURNS bigint SECURITY DEFINER $body;
		CREATE FUNCTION public.invoked() RETURNS bigint $body;
		SET ROLE bob;
		CREATE FUNCTION public.of_bob() RETURNS bigint SECURITY DEFINER $body;});
	foreach ([ 'bob', 'of_alice', 'drawn' ], [ 'alice', 'of_bob', 'permission denied for function nextval' ],
		[ 'bob', 'invoked', 'permission denied for function nextval' ], [ 'alice', 'invoked', 'drawn' ])
	{
		my ($role, $function, $expected) = @$_;

		is(draws_of("SET ROLE $role; SELECT public.$function()"), $expected, "$name: $role calls $function");
	}
	$node->safe_psql('rights', 'DROP FUNCTION public.of_alice(), public.of_bob(), public.invoked()');
}
foreach (
	[ 'INSERT', 'INSERT INTO public.serial (v) VALUES (1) RETURNING id' ],
	[ 'COPY', "COPY public.serial (v) FROM STDIN;\n1\n\\.\n" ],
	[ 'UPDATE', 'UPDATE public.serial SET id = DEFAULT RETURNING id' ])
{
	my ($name, $sql) = @$_;

	is(draws_of("SET ROLE bob; $sql"), 'permission denied for function nextval', "$name without EXECUTE on nextval");
}
$node->safe_psql('rights', q{GRANT EXECUTE ON FUNCTION pg_catalog.nextval(regclass), pg_catalog.currval(regclass),
	pg_catalog.lastval(), pg_catalog.setval(regclass, bigint), pg_catalog.setval(regclass, bigint, boolean) TO PUBLIC});

# Rights on the sequence, and none by detours
$node->safe_psql('rights', q{
	SET client_min_messages = warning;
	REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM bob;
	CREATE TABLE public.identity (id bigint GENERATED BY DEFAULT AS IDENTITY, v int, note text);
	SELECT spanner.convert_column('public.identity', 'id');
	CREATE VIEW public.readonly AS SELECT count(*) AS c FROM public.identity;
	CREATE VIEW public.two AS SELECT a.v FROM public.identity a, public.identity b;
	CREATE TABLE public.noted (id bigint GENERATED BY DEFAULT AS IDENTITY, v int, note text);
	SELECT spanner.convert_column('public.noted', 'id');
	GRANT SELECT, INSERT ON public.readonly, public.two TO bob;
	GRANT SELECT, UPDATE (note) ON public.noted TO bob;
	GRANT INSERT ON public.serial TO bob;});
is( $node->safe_psql('rights', q{
		DO 'BEGIN PERFORM pg_catalog.nextval(''public.bound''); END';
		SELECT format('%s.%s: %s', f.schema, c.call, a.result)
		FROM unnest('{pg_catalog,spanner}'::text[]) f (schema), (
			SELECT format(p.call, 'public.' || s.name) AS call
			FROM unnest('{bound,plain,serial_id_seq,identity_id_seq,noted_id_seq}'::text[]) s (name),
				(SELECT DISTINCT call FROM (VALUES ('nextval(%L)'), ('nextval((SELECT %L::regclass))'),
					('setval(%L, 5)'), ('setval(%L, 5, true)')) v (call)) p
			UNION ALL VALUES ('currval(''public.bound'')'), ('currval((SELECT ''public.bound''::regclass))'), ('lastval()')) c
		CROSS JOIN LATERAL attempt(CASE WHEN c.call ~ '^setval' AND f.schema = 'spanner' THEN 'spanner_internal' ELSE f.schema END
			|| '.' || c.call, 'pg_catalog.abs(integer)') a
		WHERE a.result !~ '^permission denied for sequence \w+$'}),
	'', 'no function draws, looks or sets without a right on the sequence');

#
# A sequence of mallory's that cannot be drawn from is a trouble of his only
#

create_database('broken', extension => 1);
$node->safe_psql('broken', q{
	CREATE TABLE public.t (id bigserial);
	SELECT spanner.convert_column('public.t', 'id');
	CREATE SEQUENCE public.plain});
run_as('mallory', 'broken', q{SELECT spanner.create_sequence('m.broken', 'striped'); SELECT spanner.create_sequence('m.gone', 'striped');
	GRANT ALL ON SEQUENCE m.broken, m.gone TO PUBLIC});
$node->safe_psql('broken', q{
	UPDATE pg_seclabel SET label = 'no_such_kind(x=1)' WHERE objoid = 'm.broken'::regclass;
	UPDATE pg_seclabel SET label = ')(' WHERE objoid = 'm.gone'::regclass});
foreach my $first ('', q{LOAD 'spanner_keys';})
{
	my ($result, $out, $err) = $node->psql('broken', $first . q{
			INSERT INTO public.t DEFAULT VALUES;
			SELECT lastval() = currval('public.t_id_seq'), lastval() > 2^20, nextval('public.plain') < 2^20,
				nextval((SELECT 'public.t_id_seq'::regclass)) > 2^20, setval('public.plain', 9)});
	is("$out$err", 't|t|t|t|9', 'labels of mallory\'s that cannot be read do not hinder others');
	refused($superuser, 'broken', "${first}SELECT nextval('m.$_')", qr/ERROR/, "a draw from $_ itself") foreach qw(broken gone);
}

is($node->safe_psql('postgres', 'SELECT rolsuper FROM pg_roles WHERE rolname = \'mallory\''), 'f', 'mallory is no superuser');
unlike(slurp_file($node->logfile), qr/terminated by signal|TRAP|PANIC/, 'the server is well');
$node->stop;

done_testing();
