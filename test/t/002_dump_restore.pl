# A dump carries kind, options and counter of every sequence, in every format
# and to every kind of target; what was a sequence of PostgreSQL's own stays
# one, even where spanner.default_sequence_kind names a kind for new ones; and
# no dump is unrestorable after the extension was dropped.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('dump_restore');
my $dir = PostgreSQL::Test::Utils::tempdir();

# What a database says about its sequences and what draws from them.
sub describe
{
	my ($database, $schemas) = @_;

	$schemas //= '%';
	return $node->safe_psql(
		$database, qq{
		SELECT s.* FROM spanner.sequences s WHERE schemaname LIKE '$schemas'
		ORDER BY schemaname COLLATE "C", sequencename COLLATE "C";
		SELECT s.schemaname, s.sequencename, s.data_type, s.start_value,
			s.min_value, s.max_value, s.increment_by, s.cache_size, l.label,
			s.sequenceowner
		FROM pg_sequences s
		LEFT JOIN pg_seclabel l ON l.provider = 'spanner_keys' AND l.objoid =
			format('%I.%I', s.schemaname, s.sequencename)::regclass
		WHERE s.schemaname LIKE '$schemas'
		ORDER BY s.schemaname COLLATE "C", s.sequencename COLLATE "C";
		SELECT s.nspname AS schemaname, c.relname, a.attname, a.attidentity,
			format_type(a.atttypid, a.atttypmod),
			pg_get_expr(d.adbin, d.adrelid),
			pg_get_serial_sequence(format('%I.%I', s.nspname, c.relname), a.attname)
		FROM pg_class c
		JOIN pg_namespace s ON s.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
		LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
		WHERE c.relkind IN ('r', 'p')
		AND s.nspname NOT IN ('pg_catalog', 'information_schema', 'spanner')
		AND s.nspname LIKE '$schemas'
		ORDER BY 1, 2, a.attnum;});
}

# The next three values of all sequences, in three sessions.
sub draw
{
	my ($database) = @_;
	my $result = '';

	foreach (1 .. 3)
	{
		$result .= $node->safe_psql(
			$database, qq{
			SELECT s.schemaname, s.sequencename, spanner.nextval(
				format('%I.%I', s.schemaname, s.sequencename)::regclass)
			FROM (SELECT * FROM pg_sequences s WHERE s.schemaname <> 'spanner'
				ORDER BY s.schemaname COLLATE "C", s.sequencename COLLATE "C") s}) . "\n";
	}
	return $result;
}

# Let all tables of a database draw; primary keys refuse what is stored.
sub insert_rows
{
	my ($database) = @_;
	my ($result, $out, $err) = $node->psql(
		$database, qq{
		SELECT format('INSERT INTO %I.%I (v) SELECT generate_series(1, 200)',
			schemaname, tablename)
		FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'spanner') \\gexec},
		on_error_stop => 1);
	is($result, 0, "$database: no value is stored already") or diag($err);
	return;
}

# Make the target of a restore, where new sequences would be of a kind.
sub create_target
{
	my ($database, $with_extension, $owner) = @_;

	$owner = $owner ? "OWNER $owner" : '';
	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0 $owner");
	$node->safe_psql('postgres',
		"ALTER DATABASE $database SET spanner.default_sequence_kind = 'striped(stripes=16)'");
	$node->safe_psql($database, 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_ddl; CREATE EXTENSION spanner_keys_advisor; CREATE EXTENSION spanner_keys_splits') if $with_extension;
	return;
}

sub dump_to
{
	my ($database, $file, @options) = @_;

	command_ok([ 'pg_dump', '-d', $node->connstr($database), '-f', "$dir/$file", @options ],
		"pg_dump @options");
	return "$dir/$file";
}

sub restore
{
	my ($database, $file, @options) = @_;

	command_ok(
		[ 'pg_restore', '-e', '-d', $node->connstr($database), @options, $file ],
		"$database: pg_restore");
	return;
}

sub run_script
{
	my ($database, $file, @options) = @_;

	command_ok(
		[
			'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-o', "$dir/psql.out",
			'-d', $node->connstr($database), @options, '-f', $file
		],
		"$database: psql");
	return;
}

# The text of a plain dump, without what differs from run to run.
sub dump_text
{
	my ($file) = @_;

	my $text = slurp_file($file) =~ s/^\\(?:un)?restrict .*\n//mgr;

	# each database has ids of its own
	$text =~ s/^(COPY spanner\.allocator .*?;\n)(.*?)(?=^\\\.$)/$1 . $2 =~ s!^(.*?\t.*?\t)\d+\t!$1!mgr/emsg;
	return $text;
}

$node->init;
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE ROLE dumper LOGIN;
	CREATE DATABASE source TEMPLATE template0 OWNER dumper;
	ALTER DATABASE source SET spanner.default_sequence_kind = 'bit_reversed_positive';});
$node->safe_psql('source', 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_ddl; CREATE EXTENSION spanner_keys_advisor; CREATE EXTENSION spanner_keys_splits');
$node->safe_psql(
	'source', q{
	CREATE SCHEMA app;
	CREATE SCHEMA "Other ""Schema""";
	SET client_min_messages = warning;

	SELECT spanner.create_allocator('dumped', mode => 'sync');
	SELECT spanner.alter_allocator('dumped', owner_role => 'dumper');
	SELECT spanner.next_value('dumped') FROM generate_series(1, 5);
	SELECT spanner.next_value('dumped', '2026', 'tenant "a"') FROM generate_series(1, 3);
	SELECT spanner.next_value('dumped');
	SELECT spanner.reset_allocator('dumped', 6, true);

	-- of their own
	SELECT spanner.create_sequence('unused', 'bit_reversed_positive');
	SELECT spanner.create_sequence('app.skips', 'bit_reversed_positive',
		skip_range_min => -5, skip_range_max => 5000000000000000000);
	SELECT spanner.create_sequence('app.narrow', 'bit_reversed_positive', bits => 53,
		start_with_counter => 1000);
	SELECT spanner.create_sequence('app.stripes', 'striped', stripes => 64,
		skip_range_min => 1, skip_range_max => 1000);
	SELECT spanner.create_sequence('"Other ""Schema"""."Se.Quence ''1"', 'striped', bits => 40);
	SELECT spanner.create_sequence('app.restarted', 'bit_reversed_positive');
	SELECT spanner.create_sequence('app.restarted_unused', 'striped');
	SELECT spanner.nextval(s::regclass) FROM unnest(ARRAY['app.skips', 'app.narrow',
		'app.stripes', '"Other ""Schema"""."Se.Quence ''1"', 'app.restarted']) s,
		generate_series(1, 5);
	SELECT spanner.alter_sequence('app.restarted', restart_counter_with => 500);
	SELECT spanner.alter_sequence('app.restarted_unused', restart_counter_with => 77);
	CREATE SEQUENCE app.writer START 3 INCREMENT 4 CACHE 10;
	SELECT spanner.nextval('app.writer');

	-- of columns
	CREATE TABLE app.big (id bigserial PRIMARY KEY, v int);
	CREATE TABLE app.normal (id serial PRIMARY KEY, v int);
	CREATE TABLE app.small (id smallserial PRIMARY KEY, v int);
	CREATE TABLE app.by_default (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, v int);
	CREATE TABLE app.always (id int GENERATED ALWAYS AS IDENTITY (START 10) PRIMARY KEY, v int);
	CREATE TABLE "Other ""Schema"""."Or""der's" ("Id" bigserial PRIMARY KEY, v int);
	CREATE TABLE app.shares (id bigint DEFAULT spanner.nextval('app.narrow') PRIMARY KEY, v int);
	CREATE TABLE app.parts (id bigserial, v int) PARTITION BY LIST (v);
	CREATE TABLE app.part PARTITION OF app.parts DEFAULT;
	CREATE TABLE app.empty (id bigserial PRIMARY KEY, v int);
	SET spanner.default_sequence_kind = 'striped(stripes=4)';
	CREATE TABLE app.striped (id bigserial PRIMARY KEY, v int);
	ALTER SEQUENCE app.striped_id_seq CACHE 20;

	-- PostgreSQL's own
	SET spanner.default_sequence_kind = 'local';
	CREATE SEQUENCE app.plain;
	CREATE SEQUENCE app.descending INCREMENT -1 CYCLE;
	CREATE TABLE app.plain_serial (id serial PRIMARY KEY, v int);
	CREATE TABLE app.plain_identity (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int);
	CREATE TABLE app.unbound (id bigint DEFAULT spanner.nextval('app.plain') PRIMARY KEY, v int);
	CREATE TABLE app.was_plain (id bigserial PRIMARY KEY, v int);
	INSERT INTO app.was_plain (v) SELECT generate_series(1, 30);
	SELECT spanner.alter_sequence('app.was_plain_id_seq', kind => 'bit_reversed_positive');

	SELECT format('INSERT INTO %I.%I (v) SELECT generate_series(1, 100)', schemaname, tablename)
	FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'spanner')
	AND tablename <> 'empty' \gexec
	SELECT format('ALTER %s %s OWNER TO dumper', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
		oid::regclass)
	FROM pg_class c WHERE relkind IN ('r', 'p', 'S')
	AND relnamespace IN ('app'::regnamespace, '"Other ""Schema"""'::regnamespace, 'public'::regnamespace)
	AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('a', 'i')
		AND c.relkind = 'S' AND d.refclassid = 'pg_class'::regclass AND d.refobjsubid > 0) \gexec
	ALTER SCHEMA app OWNER TO dumper;
	ALTER SCHEMA "Other ""Schema""" OWNER TO dumper;});

# A copy of the source tells what it would give next.
$node->safe_psql('postgres', 'CREATE DATABASE oracle TEMPLATE source');
my $described = describe('source');
my $schema_described = describe('source', 'app');
my $schema_drawn;
my $drawn;
is(describe('oracle'), $described, 'a database made from a template has the bindings');
$drawn = draw('oracle');
$schema_drawn = join "\n", grep { /^app\|/ } split /\n/, $drawn;

# What every complete restore has to be
sub check
{
	my ($database) = @_;

	is(describe($database), $described, "$database: kinds, options, counters and defaults");
	is(draw($database), $drawn, "$database: the next values");
	insert_rows($database);
	is($node->safe_psql($database, q{SELECT spanner.next_value('dumped'), spanner.next_value('dumped', '2026', 'tenant "a"')}),
		'6|4', "$database: allocators");
	like(($node->psql($database, 'DROP ROLE dumper'))[2], qr/privileges for column owner_role of table spanner.allocator/,
		"$database: the owner of an allocator cannot be dropped");
	return;
}

my $plain = dump_to('source', 'plain.sql');
my $custom = dump_to('source', 'custom', '-Fc');
my $directory = dump_to('source', 'directory', '-Fd', '-j4');

create_target('plain');
run_script('plain', $plain);
is(dump_text(dump_to('plain', 'again.sql')), dump_text($plain), 'plain: its dump is the same');
check('plain');

create_target('single');
run_script('single', $plain, '-1');
check('single');

create_target('custom');
restore('custom', $custom);
check('custom');

# Over what is there already, the extension included
restore('custom', $custom, '--clean', '--if-exists');
check('custom');

create_target('directory');
restore('directory', $directory, '-j4');
is(dump_text(dump_to('directory', 'again.sql')), dump_text($plain), 'directory: its dump is the same');
check('directory');

# Inserts, and the extension there before
create_target('inserts', 1);
run_script('inserts', dump_to('source', 'inserts.sql', '--inserts', '--rows-per-insert=10'));
check('inserts');

# The schema, and then the data
create_target('parts');
run_script('parts', dump_to('source', 'schema.sql', '--schema-only'));
is( $node->safe_psql(
		'parts', q{
		SELECT count(*), count(counter) FROM spanner.sequences}),
	$node->safe_psql('source', 'SELECT count(*), 0 FROM spanner.sequences'),
	'parts: all sequences are bound, and unused');
is( $node->safe_psql('parts', q{SELECT provider, label FROM pg_seclabel ORDER BY label}),
	$node->safe_psql('source', q{SELECT provider, label FROM pg_seclabel ORDER BY label}),
	'parts: the labels are the same');
run_script('parts', dump_to('source', 'data.sql', '--data-only'));
check('parts');

# One schema
create_target('one_schema', 1);
restore('one_schema', dump_to('source', 'schema_app', '-Fc', '-n', 'app'));
is(describe('one_schema', 'app'), $schema_described,
	'one_schema: kinds, options, counters and defaults');
is(draw('one_schema'), "$schema_drawn\n", 'one_schema: the next values');
insert_rows('one_schema');

# An owner that is not a superuser
create_target('owned', 1, 'dumper');
$node->safe_psql('owned', 'ALTER SCHEMA public OWNER TO dumper');
restore('owned', dump_to('source', 'owned', '-Fc', '-x'), '-U', 'dumper', '--no-comments');
check('owned');

# With the database itself, whose setting travels too
my $create = dump_to('source', 'create.sql', '-C');
$node->safe_psql('postgres', 'ALTER DATABASE source RENAME TO original');
run_script('postgres', $create);
is( $node->safe_psql('source', 'SHOW spanner.default_sequence_kind'),
	'bit_reversed_positive', 'source: the setting of the database');
check('source');

# Without the extension
$node->safe_psql('postgres', 'CREATE DATABASE dropped TEMPLATE original');
$node->safe_psql('dropped', q{
	SET client_min_messages = warning;
	DROP EXTENSION spanner_keys CASCADE});
is($node->safe_psql('dropped', 'SELECT count(*) FROM pg_seclabel'), 0, 'dropped: no label is left');
my $dropped = dump_to('dropped', 'dropped.sql');
unlike(slurp_file($dropped), qr/spanner|SECURITY LABEL/, 'dropped: the dump knows nothing of it');
$node->safe_psql('postgres', 'CREATE DATABASE without TEMPLATE template0');
run_script('without', $dropped);
is(dump_text(dump_to('without', 'again.sql')), dump_text($dropped), 'without: its dump is the same');
is( $node->safe_psql('without', q{
		SELECT count(*) FROM app.big, pg_get_serial_sequence('app.big', 'id') s
		WHERE s = 'app.big_id_seq'}),
	100, 'without: tables and sequences are there');

# What is stored calls functions for users, which stay where they are.
$node->safe_psql('postgres', 'CREATE DATABASE stored');
$node->safe_psql('stored', q{
	CREATE EXTENSION spanner_keys;
	CREATE EXTENSION spanner_keys_ddl;
	CREATE EXTENSION spanner_keys_advisor;
	CREATE EXTENSION spanner_keys_splits;
	SET spanner.default_sequence_kind = 'striped';
	SELECT spanner.create_allocator('gapless', mode => 'on_commit');
	CREATE TABLE sharded (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at timestamptz, number bigint);
	SELECT spanner.add_shard_key('sharded', keys => 'id', shards => 8, dry_run => false);
	CREATE CONSTRAINT TRIGGER number AFTER INSERT ON sharded DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('gapless', 'number');
	CREATE TABLE filled (shard int NOT NULL CHECK (shard = spanner.shard_id(8, id)), id bigint DEFAULT spanner.nextval('sharded_id_seq'));
	CREATE TRIGGER fill BEFORE INSERT ON filled FOR EACH ROW EXECUTE FUNCTION spanner.fill_shard();
	CREATE INDEX ON filled (spanner.shard_id(8, id), id);
	SELECT spanner.silence_rule('filled', 'key_missing');});
unlike(slurp_file(dump_to('stored', 'stored.sql')), qr/spanner_internal/, 'no dump names what is internal');

$node->stop;

done_testing();
