# PostgreSQL's nextval, currval, lastval and setval have support functions of
# the extension: from CREATE EXTENSION on, for statements that were planned
# before as well, until DROP EXTENSION in whatever form; and nobody else can
# take them away.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('support_functions');

$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nlog_min_messages = warning\n");
$node->start;

my $superuser = $node->safe_psql('postgres', 'SELECT current_user');
my $supported = q{('nextval(regclass)'::regprocedure, 'currval(regclass)'::regprocedure, 'lastval()'::regprocedure,
	'setval(regclass,bigint)'::regprocedure, 'setval(regclass,bigint,boolean)'::regprocedure)};
my $ATTACHED = '5 support functions, 5 dependencies';
my $DETACHED = '0 support functions, 0 dependencies';

sub run_as
{
	my ($role, $database, $sql) = @_;

	return $node->safe_psql($database, $sql, extra_params => [ '-U', $role ]);
}

# Run SQL, which succeeds, or fails with a message.
sub check_outcome
{
	my ($role, $database, $sql, $message, $name) = @_;
	my ($result, $out, $err) = $node->psql($database, "SET client_min_messages = error;\n$sql",
		extra_params => [ '-U', $role ], on_error_stop => 1);

	return like($err, $message, $name) if $message;
	return is($err, '', $name);
}

# Only support functions in C of the extension itself count.
my $support = qq{
	SELECT (SELECT count(*) FROM pg_proc p
			JOIN pg_proc s ON s.oid = p.prosupport
			JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = s.oid AND d.deptype = 'e'
			JOIN pg_extension x ON x.oid = d.refobjid AND x.extname = 'spanner_keys'
			JOIN pg_roles r ON r.oid = s.proowner AND r.rolsuper
			JOIN pg_language l ON l.oid = s.prolang AND l.lanname = 'c'
			WHERE p.oid IN $supported)
		|| ' support functions, '
		|| (SELECT count(*) FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid IN $supported
			AND d.refclassid = 'pg_proc'::regclass AND d.deptype = 'n') || ' dependencies'};

sub support
{
	my ($database) = @_;

	return $node->safe_psql($database, $support);
}

# What pg_upgrade leaves: new catalogs know nothing of support functions.
sub detach_by_hand
{
	my ($database) = @_;

	$node->safe_psql(
		$database, qq{
		UPDATE pg_proc SET prosupport = 0 WHERE oid IN $supported;
		DELETE FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid IN $supported});
	return;
}

$node->safe_psql('postgres', q{
	CREATE ROLE keeper LOGIN;
	CREATE ROLE stranger LOGIN;
	CREATE DATABASE prepared OWNER keeper});
run_as(
	'keeper', 'prepared', q{
	CREATE EXTENSION spanner_keys;
	SET client_min_messages = warning;
	SELECT spanner.create_sequence('s', 'bit_reversed_positive');
	SET spanner.default_sequence_kind = 'bit_reversed_positive';
	CREATE TABLE t (id bigserial, v int);
	CREATE TABLE numbered (id bigint GENERATED ALWAYS AS IDENTITY, v int);
	INSERT INTO t (v) VALUES (1), (2);
	GRANT ALL ON SEQUENCE s TO PUBLIC});
is(support('prepared'), $ATTACHED, 'CREATE EXTENSION by an ordinary role');
check_outcome($_, 'prepared', 'SELECT spanner_internal.attach_support()', qr/permission denied|must be superuser/, "attach_support: $_")
  foreach qw(keeper stranger);
check_outcome($superuser, 'prepared', 'SELECT spanner_internal.attach_support(); SELECT spanner_internal.attach_support()', '', 'attach_support again');
is(support('prepared'), $ATTACHED, 'which changes nothing');

my $copies = 0;

sub create_copy
{
	my $database = 'copy_' . ++$copies;

	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE prepared OWNER keeper");
	return $database;
}

#
# Dropping the extension, and not dropping it
#

my $shared = create_copy();
my $depends = 'CREATE TABLE sharded (id bigint, shard int GENERATED ALWAYS AS (spanner.shard_id(4, id)) STORED);';
my $required = qr/because extension spanner_keys requires it/;
my $pinned = qr/cannot drop function \w+\(.*\) because it is required by the database system/;
my $not_owner = qr/must be owner of extension spanner_keys/;

# Each: who does what, the message, and whether the extension is there then;
# last what differs where the library is not loaded.
my @drops = (
	[ 'keeper', 'DROP EXTENSION spanner_keys', '', $DETACHED ],
	[ $superuser, 'DROP EXTENSION IF EXISTS nope, "spanner_keys"', '', $DETACHED ],
	[ $superuser, "$depends DROP EXTENSION spanner_keys CASCADE", '', $DETACHED ],
	[ $superuser, "$depends DROP EXTENSION spanner_keys", qr/other objects depend on it/, $ATTACHED ],
	[ $superuser, q{DO $$BEGIN EXECUTE 'DROP EXTENSION spanner_keys'; END$$}, '', $DETACHED ],
	[ 'keeper', 'DROP OWNED BY keeper', '', $DETACHED ],
	[ $superuser, 'DROP OWNED BY stranger, keeper CASCADE', '', $DETACHED ],
	[ 'keeper', 'BEGIN; DROP EXTENSION spanner_keys; SELECT nextval(\'s\'); ROLLBACK', '', $ATTACHED ],
	[
		'keeper', q{BEGIN; SAVEPOINT a; DROP EXTENSION spanner_keys; ROLLBACK TO a; SELECT nextval('s'); COMMIT}, '', $ATTACHED
	],
	[ 'keeper', 'BEGIN; DROP EXTENSION spanner_keys; CREATE EXTENSION spanner_keys; COMMIT', '', $ATTACHED ],
	[
		$superuser, "$depends" . q{DO $$BEGIN DROP EXTENSION spanner_keys; EXCEPTION WHEN OTHERS THEN NULL; END$$}, '', $ATTACHED
	],
	[ 'stranger', 'DROP EXTENSION spanner_keys', $not_owner, $ATTACHED ],
	[ 'stranger', 'DROP EXTENSION spanner_keys CASCADE', $not_owner, $ATTACHED ],
	[ 'stranger', q{DO $$BEGIN DROP EXTENSION spanner_keys; EXCEPTION WHEN OTHERS THEN NULL; END$$}, '', $ATTACHED ],
	[ 'stranger', 'DROP OWNED BY stranger CASCADE', '', $ATTACHED ],
	[ 'stranger', 'DROP OWNED BY keeper CASCADE', qr/permission denied to drop objects/, $ATTACHED ],
	[ 'keeper', 'DROP EXTENSION IF EXISTS nope CASCADE', '', $ATTACHED ],
	[ 'stranger', 'DROP EXTENSION IF EXISTS nope', '', $ATTACHED ],
	[ 'keeper', 'DROP EXTENSION nope', qr/extension "nope" does not exist/, $ATTACHED ],
	[ $superuser, 'DROP SCHEMA spanner', $required, $ATTACHED ],
	[ $superuser, 'DROP SCHEMA spanner CASCADE', $required, $ATTACHED ],
	[ 'keeper', 'DROP SCHEMA spanner CASCADE', qr/must be owner of schema spanner/, $ATTACHED ],
	[ $superuser, 'DROP SCHEMA public CASCADE', '', $ATTACHED ],
	[ $superuser, 'DROP FUNCTION spanner.nextval(regclass) CASCADE', $required, $ATTACHED ],
	[ $superuser, 'DROP FUNCTION spanner_internal.sequence_support(internal) CASCADE', $required, $ATTACHED ],
	[ $superuser, 'SET session_replication_role = replica; DROP EXTENSION spanner_keys', '', $DETACHED ],
	[
		$superuser, q{SELECT format('ALTER EVENT TRIGGER %I DISABLE', evtname) FROM pg_event_trigger \gexec}
		  . "\nDROP EXTENSION spanner_keys", '', $DETACHED, $pinned, $ATTACHED
	],
	[
		$superuser, q{SELECT format('ALTER EVENT TRIGGER %I DISABLE', evtname) FROM pg_event_trigger \gexec}
		  . "\nDROP EXTENSION spanner_keys CASCADE", '', $DETACHED, $pinned, $ATTACHED
	]);
push @drops, [ $superuser, 'SET event_triggers = off; DROP EXTENSION spanner_keys', '', $DETACHED, $pinned, $ATTACHED ]
  if $node->safe_psql('postgres', 'SHOW server_version_num') >= 170000;

foreach (@drops)
{
	my ($role, $sql, $message, $left, @unless_loaded) = @$_;

	foreach my $loaded (1, 0)
	{
		my $name = "$role: $sql" . ($loaded ? ', library loaded' : '');

		($message, $left) = @unless_loaded if !$loaded && @unless_loaded;
		# What changes nothing may go on in the same database.
		my $changes = $left eq $DETACHED || $sql =~ /COMMIT|TABLE|SCHEMA public|ALTER/;
		my $database = $changes ? create_copy() : $shared;
		check_outcome($role, $database, ($loaded ? q{SELECT spanner.bit_reverse(1, true);} : '') . $sql, $message, $name);

		my $mapped = $left eq $ATTACHED && $sql !~ /BEGIN; DROP.*COMMIT|SCHEMA public/;
		my ($result, $out, $err) = $node->psql($database, qq{
			SET client_min_messages = warning;
			$support;
			SELECT (SELECT count(*) FROM pg_namespace WHERE nspname ~ '^spanner'), (SELECT count(*) > 0 FROM pg_seclabel);
			CREATE SCHEMA IF NOT EXISTS public;
			CREATE SEQUENCE IF NOT EXISTS public.s;
			SELECT nextval('s') < 2^20, currval('s') = lastval(), nextval((SELECT 's'::regclass)) < 2^20,
				setval('s', 3), setval('s', 3, true)});
		is( "$out$err",
			join("\n", $left, ($left eq $ATTACHED ? 2 : 0) . ($mapped ? '|t' : '|f'), ($mapped ? 'f|t|f' : 't|t|t') . '|3|3'),
			"$name: what is there");
	}
}

# What has a label depends on the extension: what is bound, and what remembers the values of a kind.
foreach (
	[ q{SELECT spanner.alter_sequence('s', kind => 'local')}, 3 ],
	[ q{SELECT spanner.alter_sequence('t_id_seq', kind => 'local')}, 3 ],
	[ q{SELECT spanner.bit_reverse(1, true); SECURITY LABEL FOR spanner_keys ON SEQUENCE s IS NULL}, 3 ],
	[ q{DROP SEQUENCE s}, 2 ], [ q{DROP TABLE numbered}, 2 ],
	[ q{SELECT spanner.alter_sequence('s', skip_range_min => 1, skip_range_max => 5)}, 3 ],
	[ q{ALTER SEQUENCE t_id_seq OWNED BY NONE}, 3 ], [ q{SELECT spanner.create_sequence('more', 'striped')}, 4 ])
{
	my ($sql, $bound) = @$_;

	is( run_as('keeper', $shared, "BEGIN; SET client_min_messages = error; " . ($sql =~ s/SELECT (.*?)(;|$)/DO 'BEGIN PERFORM @{[ $1 =~ s{'}{''}gr ]}; END'$2/r) . q{;
			SELECT (SELECT count(*) FROM pg_seclabel), count(*) FROM pg_depend WHERE classid = 'pg_class'::regclass AND deptype = 'n'
			AND refclassid = 'pg_proc'::regclass AND refobjid = 'spanner_internal.sequence_support(internal)'::regprocedure;
			ROLLBACK}),
		"$bound|$bound", "$sql: dependencies");
}

# An extension that misses a function, as between the installation of a newer
# library and ALTER EXTENSION UPDATE, does not make bound sequences plain.
foreach my $function ('spanner_internal.may_draw(regclass, regprocedure)', 'spanner.lastval()')
{
	my $database = create_copy();

	$node->safe_psql($database, "DELETE FROM pg_depend WHERE objid = '$function'::regprocedure AND deptype = 'e'; DROP FUNCTION $function");
	my ($result, $out, $err) = $node->psql($database, q{SELECT nextval('s') < 2^20});
	like("$out$err", qr/^f$|missing/, "without $function no plain values");
	check_outcome($superuser, $database, 'DROP EXTENSION spanner_keys', '', "without $function: DROP EXTENSION");
}

#
# Attached again
#

# Whoever gives a sequence a kind, by whatever way
foreach (
	q{SELECT spanner.create_sequence('made', 'striped')}, q{SELECT spanner.alter_sequence('plain', kind => 'striped')},
	q{CREATE SEQUENCE made; SELECT spanner.bit_reverse(1, true); SECURITY LABEL FOR spanner_keys ON SEQUENCE made IS 'striped'},
	q{SET spanner.default_sequence_kind = 'striped'; CREATE TABLE made (id bigserial)},
	q{CREATE TABLE made (id serial); SELECT spanner.convert_column('made', 'id')},
	q{SELECT spanner.execute_ddl('CREATE SEQUENCE made BIT_REVERSED_POSITIVE')})
{
	my $database = create_copy();

	run_as('keeper', $database, 'CREATE SEQUENCE plain; CREATE EXTENSION spanner_keys_ddl');
	detach_by_hand($database);
	check_outcome('keeper', $database, $_, '', $_);
	is(support($database), $ATTACHED, "$_: support functions are there again");
	cmp_ok($node->safe_psql($database, q{SELECT nextval('s')}), '>', 2**32, "$_: nextval");
}

# Two sessions at once
foreach my $commit (qw(COMMIT ROLLBACK))
{
	my $database = create_copy();

	$node->safe_psql($database, 'CREATE SEQUENCE one; CREATE SEQUENCE two');
	detach_by_hand($database);
	my $first = $node->background_psql($database, on_error_die => 1);
	my $second = $node->background_psql($database, on_error_stop => 0);

	$first->query_safe(q{BEGIN; SELECT spanner.alter_sequence('one', kind => 'striped')});
	$second->query_until(qr/started/, qq{\\echo started\nSELECT spanner.alter_sequence('two', kind => 'striped');\n\\echo over\n});
	$node->poll_query_until('postgres', qq{
		SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = '$database'
		AND query LIKE '%two%' AND (wait_event_type = 'Lock' OR state LIKE 'idle%')}) or die 'the second session hangs';
	$first->query_safe($commit);
	$second->query_safe('SELECT 1');
	is($second->{stderr}, '', "two sessions at once, $commit: no error");
	$_->quit foreach $first, $second;
	is(support($database), $ATTACHED, "two sessions at once, $commit: support functions");
	cmp_ok($node->safe_psql($database, q{SELECT nextval('two')}), '>', 2**32, "two sessions at once, $commit: nextval");
}

# Somebody draws while somebody else drops.
my $slowly = create_copy();
my $dropping = $node->background_psql($slowly, on_error_stop => 0);
my $drawing = $node->background_psql($slowly, on_error_stop => 0);
$drawing->query_safe(q{PREPARE p AS SELECT nextval('s') > 2^32; PREPARE q AS SELECT nextval((SELECT 's'::regclass)) > 2^32});
is($drawing->query_safe('EXECUTE p; EXECUTE q'), "t\nt", 'before DROP EXTENSION');
$dropping->query('BEGIN; DROP EXTENSION spanner_keys');
$drawing->query_until(qr/started/, "\\echo started\nEXECUTE p;\nEXECUTE q;\n\\echo over\n");
$node->poll_query_until('postgres', qq{
	SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = '$slowly'
	AND query LIKE 'EXECUTE%' AND (wait_event_type = 'Lock' OR state LIKE 'idle%')}) or die 'the drawing session hangs';
$dropping->query('COMMIT');
$drawing->query_safe('SELECT 1');
is($drawing->query_safe('EXECUTE p; EXECUTE q; SELECT currval(\'s\') = lastval(), setval(\'s\', 1)'), "f\nf\nt|1", 'after DROP EXTENSION');
is($drawing->{stderr}, '', 'no error while the extension was dropped');
$_->quit foreach $dropping, $drawing;

# Somebody binds while somebody else drops, who must not take the sequences along.
foreach my $cascade ('', ' CASCADE')
{
	my $database = create_copy();
	my $binding = $node->background_psql($database, on_error_die => 1);
	my $dropper = $node->background_psql($database, on_error_stop => 0);

	$node->safe_psql($database, 'CREATE SEQUENCE bound_late; CREATE TABLE late (id serial)');
	$binding->query_safe(q{BEGIN; SELECT spanner.alter_sequence('bound_late', kind => 'striped');
		SELECT spanner.alter_sequence('late_id_seq', kind => 'striped')});
	$dropper->query_safe('SET client_min_messages = error');
	$dropper->query_until(qr/started/, qq{\\echo started\nDROP EXTENSION spanner_keys$cascade;\n\\echo over\n});
	$node->poll_query_until('postgres', qq{
		SELECT count(*) = 1 FROM pg_stat_activity WHERE datname = '$database'
		AND query LIKE 'DROP EXTENSION%' AND (wait_event_type = 'Lock' OR state LIKE 'idle%')}) or die 'DROP EXTENSION hangs';
	$binding->query('COMMIT');
	$dropper->query('SELECT 1');
	is($dropper->{stderr}, '', "DROP EXTENSION$cascade while somebody binds: no message");
	$_->quit foreach $binding, $dropper;
	is( $node->safe_psql($database, qq{
			SELECT nextval('bound_late') < 2^20, (SELECT count(*) FROM pg_seclabel);
			INSERT INTO late DEFAULT VALUES RETURNING id < 2^20;
			$support}),
		"t|0\nt\n$DETACHED", "DROP EXTENSION$cascade while somebody binds: sequences are there and plain");
}

#
# Statements that were planned before
#

# Each: a name, what prepares it, and what draws
my @planned = (
	[ 'constant', q{PREPARE p_constant AS SELECT nextval('s');}, 'EXECUTE p_constant;' ],
	[ 'parameter', q{PREPARE p_parameter(regclass) AS SELECT nextval($1);}, q{EXECUTE p_parameter('s');} ],
	[ 'subselect', q{PREPARE p_subselect AS SELECT nextval((SELECT 's'::regclass));}, q{EXECUTE p_subselect;} ],
	[ 'PL/pgSQL', '', 'SELECT assigned();' ],
	[ 'PL/pgSQL, variable', '', q{SELECT of_variable('s');} ],
	[ 'PL/pgSQL, INSERT', '', 'SELECT inserted();' ],
	[ 'function in SQL', 'PREPARE p_inlined AS SELECT inlined();', 'EXECUTE p_inlined;' ],
	[ 'function in SQL, standard', 'PREPARE p_standard AS SELECT standard();', 'EXECUTE p_standard;' ],
	[ 'function in SQL, not inlined', 'PREPARE p_called AS SELECT called();', 'EXECUTE p_called;' ],
	[ 'view', 'PREPARE p_view AS SELECT id FROM drawing_view;', 'EXECUTE p_view;' ],
	[ 'INSERT', 'PREPARE p_insert AS INSERT INTO drawn (v) VALUES (1) RETURNING id;', 'EXECUTE p_insert;' ],
	[ 'COPY', '', "COPY drawn (v) FROM STDIN;\n7\n\\.\nSELECT currval('s');" ],
	[ 'default of a domain', 'PREPARE p_domain AS INSERT INTO with_domain (v) VALUES (1) RETURNING id;', 'EXECUTE p_domain;' ],
	[ 'CHECK', 'PREPARE p_check AS INSERT INTO checked VALUES (1);', q{EXECUTE p_check; SELECT currval('s');} ],
	[ 'CHECK of a domain', '', q{SELECT cast_to_checked();} ],
	[ 'lastval', 'PREPARE p_lastval AS SELECT lastval();', q{SELECT nextval('s') = 0; EXECUTE p_lastval;} ],
	[ 'currval', q{PREPARE p_currval AS SELECT currval('s');}, q{SELECT nextval('s') = 0; EXECUTE p_currval;} ],
	[ 'currval, parameter', 'PREPARE p_currvals(regclass) AS SELECT currval($1);', q{SELECT nextval('s') = 0; EXECUTE p_currvals('s');} ],
	[ 'currval, PL/pgSQL', '', q{SELECT nextval('s') = 0; SELECT current();} ]);

my $planned_objects = q{
	CREATE SEQUENCE s;
	CREATE TABLE drawn (id bigint DEFAULT nextval('s'), v int);
	CREATE DOMAIN with_default AS bigint DEFAULT nextval('s');
	CREATE TABLE with_domain (id with_default, v int);
	CREATE TABLE checked (v int CHECK (nextval('s') > 0));
	CREATE DOMAIN checked_domain AS int CHECK (nextval('s') > 0);
	CREATE VIEW drawing_view AS SELECT nextval('s') AS id;
	CREATE FUNCTION assigned() RETURNS bigint LANGUAGE plpgsql AS $$DECLARE x bigint; BEGIN x := nextval('s'); RETURN x; END$$;
	CREATE FUNCTION of_variable(q regclass) RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RETURN nextval(q); END$$;
	CREATE FUNCTION inserted() RETURNS bigint LANGUAGE plpgsql
		AS $$DECLARE x bigint; BEGIN INSERT INTO drawn (v) VALUES (1) RETURNING id INTO x; RETURN x; END$$;
	CREATE FUNCTION inlined() RETURNS bigint LANGUAGE sql AS $$SELECT nextval('s')$$;
	CREATE FUNCTION standard() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT nextval('s'); END;
	CREATE FUNCTION called() RETURNS bigint LANGUAGE sql SET work_mem = '4MB' AS $$SELECT nextval('s')$$;
	CREATE FUNCTION cast_to_checked() RETURNS bigint LANGUAGE plpgsql
		AS $$DECLARE x checked_domain; BEGIN x := 1; RETURN currval('s'); END$$;
	CREATE FUNCTION current() RETURNS bigint LANGUAGE plpgsql AS $$BEGIN RETURN currval('s'); END$$;};

# Let a session draw in all these ways; returns the ways that did not give a
# value of the kind that is expected, or gave one twice.
sub unexpected
{
	my ($session, $is_mapped, $drawn) = @_;
	my @bad;

	foreach (@planned)
	{
		my ($name, $prepare, $draw) = @$_;
		my $out = $session->query($draw) // '';
		my ($value) = $out =~ /(\d+)\s*$/;

		$session->{stderr} =~ s/\A\s+\z//;
		if (!defined $value || $session->{stderr} ne '')
		{
			push @bad, "$name: $session->{stderr}";
			$session->{stderr} = '';
			next;
		}
		push @bad, "$name: $value" if ($value > 2**20) != $is_mapped;
		push @bad, "$name: $value twice" if $drawn->{$value}++;
	}
	return join "\n", @bad;
}

foreach my $extension_first (0, 1)
{
	my $database = $extension_first ? 'bind_later' : 'create_later';
	my $create = 'CREATE EXTENSION spanner_keys;';
	my $bind = q{SET client_min_messages = warning; SELECT spanner.alter_sequence('s', kind => 'bit_reversed_positive');};
	my %drawn;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, $planned_objects);
	$node->safe_psql($database, $create) if $extension_first;

	my %sessions;
	foreach my $mode (qw(auto force_generic_plan))
	{
		my $session = $sessions{$mode} = $node->background_psql($database, on_error_stop => 0);

		$session->query_safe("SET plan_cache_mode = $mode; SET client_min_messages = warning;" . join '', map { $$_[1] } @planned);
		is(unexpected($session, '', \%drawn), '', "$database, $mode: plain, round $_") foreach $mode eq 'auto' ? 1 .. 7 : 1;
	}
	foreach my $round (1, 2)
	{
		check_outcome($superuser, $database, $extension_first && $round == 1 ? $bind : $create . $bind, '', "$database: bound");
		is(unexpected($sessions{$_}, 1, \%drawn), '', "$database, $_: mapped in sessions that planned before, round $round")
		  foreach sort keys %sessions;
		my $before = $sessions{auto}->query_safe(q{SELECT last_value FROM s});
		$sessions{auto}->query(q{PREPARE put(bigint) AS SELECT setval('s', $1); EXECUTE put(1); DEALLOCATE put});
		is($sessions{auto}->query_safe(q{SELECT last_value FROM s}), $before, "$database: setval leaves the counter alone");
		is(($node->psql($database, 'SET client_min_messages = error; DROP EXTENSION spanner_keys'))[2], '', "$database: DROP EXTENSION");
		$sessions{$_}->{stderr} = '' foreach keys %sessions;
		is(unexpected($sessions{$_}, '', \%drawn), '', "$database, $_: plain after DROP EXTENSION, round $round")
		  foreach sort keys %sessions;
	}
	$_->quit foreach values %sessions;
}

# After pg_upgrade: the first label reaches what was planned in between.
my $upgraded = create_copy();
detach_by_hand($upgraded);
my $session = $node->background_psql($upgraded, on_error_stop => 0);
$session->query_safe(q{PREPARE p(regclass) AS SELECT nextval($1) > 2^32; PREPARE c AS SELECT nextval('s') > 2^32});
$session->query_safe(q{EXECUTE p('s'); EXECUTE c}) foreach 1 .. 7;
$node->safe_psql($upgraded, q{SELECT spanner.create_sequence('made', 'striped')});
is($session->query_safe(q{EXECUTE p('s'); EXECUTE c}), "t\nt", 'attached again: sessions that planned before');
$session->quit;

#
# Support functions of somebody else
#

$node->safe_psql('postgres', 'CREATE DATABASE taken');
foreach ('nextval(regclass)', 'lastval()', 'setval(regclass,bigint,boolean)')
{
	my ($name) = /^(\w+)/;

	$node->safe_psql('taken', "ALTER FUNCTION pg_catalog.$_ SUPPORT pg_catalog.textlike_support");
	check_outcome($superuser, 'taken', 'CREATE EXTENSION spanner_keys', qr/$name.*textlike_support/s, "$_ has a support function");
	is( $node->safe_psql('taken', "SELECT prosupport, (SELECT count(*) FROM pg_extension WHERE extname = 'spanner_keys') FROM pg_proc
			WHERE oid = 'pg_catalog.$_'::regprocedure"),
		'textlike_support|0', "$_: it is left alone");
	$node->safe_psql('taken', "UPDATE pg_proc SET prosupport = 0 WHERE oid = 'pg_catalog.$_'::regprocedure");
}
$node->safe_psql('taken', q{
	CREATE EXTENSION IF NOT EXISTS spanner_keys;
	ALTER FUNCTION pg_catalog.lastval() SUPPORT pg_catalog.textlike_support});
my ($result, $out, $err) = $node->psql('taken', q{SELECT spanner.create_sequence('s', 'striped'); SELECT nextval('s') > 2^32});
is($node->safe_psql('taken', q{SELECT prosupport FROM pg_proc WHERE oid = 'lastval()'::regprocedure}),
	'textlike_support', 'a support function that came later is left alone');

unlike(slurp_file($node->logfile), qr/terminated by signal|TRAP|PANIC|cache lookup failed|tuple concurrently/, 'the server is well');
$node->stop;

done_testing();
