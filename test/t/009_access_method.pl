# An access method in a library of its own: its values are a permutation of the
# counters, its library is loaded wherever its kind is first used, a restore
# included, and without it everything but drawing values still works.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('access_method');
my $dir = PostgreSQL::Test::Utils::tempdir();

# Run SQL that must fail.
sub refused
{
	my ($node, $database, $sql, $message, $name) = @_;
	my ($result, $out, $err) = $node->psql($database, $sql, on_error_stop => 1);

	isnt($result, 0, "$name: refused");
	like($err, $message, $name);
	return;
}

$node->init;
$node->start;
foreach my $module ('permuted', 'register_method')
{
	my ($result) = $node->psql('postgres', "LOAD '$module'");

	next if is($result, 0, "module $module is installed");
	diag("make -C test/modules/$module install");
	done_testing();
	exit 1;
}
my $start_log = -s $node->logfile;

# A kind that is not there, and one that is
$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys');
refused($node, 'postgres', q{SELECT spanner.create_sequence('s', 'permuted(key=1)')},
	qr/Invalid Sequence Kind: permuted\..*the extension that provides/s, 'kind of an extension that is missing');
$node->safe_psql('postgres', 'CREATE EXTENSION permuted');
$node->safe_psql(
	'postgres', q{
	CREATE SEQUENCE small AS smallint;
	SECURITY LABEL FOR spanner_keys ON SEQUENCE small IS 'Permuted(KEY=0X2a)';
	SELECT spanner.create_sequence('skips', 'permuted(key=18446744073709551615)', bits => 10,
		skip_range_min => 1, skip_range_max => 500);
	SELECT spanner.create_sequence('wide', 'permuted(key=7)');
	CREATE ROLE app;
	CREATE TABLE t (id bigint DEFAULT spanner.nextval('wide') PRIMARY KEY, v int);
	GRANT INSERT, SELECT ON t TO app;
	GRANT USAGE ON SEQUENCE wide TO app;});
is( $node->safe_psql('postgres', q{
		SELECT label FROM pg_seclabel WHERE objoid = 'skips'::regclass}),
	'permuted(bits=10, skip_range_min=1, skip_range_max=500, key=0xffffffffffffffff)',
	'the label has all options');
is( $node->safe_psql('postgres', q{
		SELECT sequencename, kind, bits, skip_range_max FROM spanner.sequences ORDER BY 1}),
	"skips|permuted|10|500\nsmall|permuted|15|\nwide|permuted|63|",
	'a session that has not loaded the library sees the options');
is( $node->safe_psql('postgres', q{
		SELECT spanner_internal.unmap_value(1, 'small') BETWEEN 1 AND 32766;
		SELECT name FROM spanner.sequence_access_methods ORDER BY 1}),
	"t\nbit_reversed_positive\npermuted\nstriped",
	'the library that was loaded for a kind is in the view');
$node->safe_psql('postgres', q{SET spanner.default_sequence_kind = 'PERMUTED(Key=3)';
	CREATE TABLE by_default (id bigserial, small smallint GENERATED ALWAYS AS IDENTITY)});
is( $node->safe_psql('postgres', q{SELECT count(*) FROM pg_seclabel
		WHERE label LIKE 'permuted(%key=0x0000000000000003)'}),
	2, 'default kind');
is( $node->safe_psql('postgres', q{LOAD 'spanner_keys';
		SET spanner.default_sequence_kind = 'permuted(key=3)';
		SHOW spanner.default_sequence_kind}),
	'permuted(key=3)', 'default kind that is checked when it is set');

# Options
foreach my $key ('', 'key=', 'key=-1', 'key=0x', 'key=0x0x1', 'key=1a', 'key=18446744073709551616',
	'key=0x10000000000000000', 'key=1, key=2', 'lock=1', 'key=1, stripes=4')
{
	refused(
		$node, 'postgres', qq{SELECT spanner.create_sequence('bad', 'permuted($key)')},
		qr/ERROR:/, "permuted($key)");
}

# Every value once, in every width; what was given once must stay the same in
# every version
is( $node->safe_psql('postgres', q{
		SET ROLE app;
		INSERT INTO t (v) SELECT generate_series(1, 3);
		SELECT array_agg(id ORDER BY v) FROM t}),
	'{2967128220697506660,5149988304361849424,7432817112849631044}', 'values of key 7, for a user with the privileges of core');
is( $node->safe_psql('postgres', q{
		CREATE TABLE drawn AS
			SELECT spanner.nextval('small') AS value FROM generate_series(1, 32766);
		SELECT count(DISTINCT value), min(value), max(value) FROM drawn}),
	'32766|1|32766', '15 bits: a permutation of the counters');
is( $node->safe_psql('postgres', q{
		SELECT count(DISTINCT counter), min(counter), max(counter)
		FROM (SELECT spanner_internal.unmap_value(value, 'small') AS counter FROM drawn) d}),
	'32766|1|32766', '15 bits: every value leads back');
is( $node->safe_psql('postgres', q{
		SELECT spanner_internal.unmap_value(v, 'small') FROM unnest('{-1,0,32767,32768}'::bigint[]) v}),
	"\n\n\n", '15 bits: no counter for what is no value');
cmp_ok($node->safe_psql('postgres', q{
		SELECT count(*) FROM drawn d WHERE spanner_internal.unmap_value(value, 'small') = value}),
	'<', 10, '15 bits: few values are their own counter');
refused($node, 'postgres', q{SELECT spanner.nextval('small')}, qr/exhausted/, '15 bits: exhausted');
foreach my $bits (2, 3, 4, 7, 10)
{
	my $count = 2**$bits - 2;

	is( $node->safe_psql(
			'postgres', qq{
			SELECT spanner.create_sequence('bits$bits', 'permuted(key=12345)', bits => $bits);
			CREATE TABLE drawn$bits AS
				SELECT n, spanner.nextval('bits$bits') AS value FROM generate_series(1, $count) n;
			SELECT count(DISTINCT value), min(value), max(value),
				count(*) FILTER (WHERE spanner_internal.unmap_value(value, 'bits$bits') = n)
			FROM drawn$bits}),
		"bits$bits\n$count|1|$count|$count", "$bits bits: a permutation, and its inverse");
}
is( $node->safe_psql('postgres', q{
		SELECT count(*) FILTER (WHERE spanner_internal.unmap_value(spanner.nextval('wide'), 'wide') <> n + 3)
		FROM generate_series(1, 10000) n}),
	0, '63 bits: every value leads back');

# The skip range
is( $node->safe_psql('postgres', q{
		SELECT count(DISTINCT v), min(v), max(v)
		FROM (SELECT spanner.nextval('skips') AS v FROM generate_series(1, 522)) d}),
	'522|501|1022', 'the skip range is passed over, and nothing else');

# What a database gives next, each sequence in a session of its own
sub draw
{
	my ($node, $database) = @_;

	return join ' ', map { $node->safe_psql($database, "SELECT spanner.nextval('$_')") }
	  qw(wide next by_default_id_seq by_default_small_seq);
}

# Dump and restore, into another server
$node->safe_psql('postgres', q{
	SELECT spanner.create_sequence('next', 'permuted(key=99)', bits => 40);
	SELECT spanner.nextval('next') FROM generate_series(1, 33)});
$node->command_ok([ 'pg_dump', '-f', "$dir/plain.sql", $node->connstr('postgres') ], 'dump: plain');
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dir/custom", $node->connstr('postgres') ],
	'dump: custom');
my $labels_query = 'SELECT objoid::regclass, label FROM pg_seclabel ORDER BY objoid::regclass::text COLLATE "C"';
my $labels = $node->safe_psql('postgres', $labels_query);
my $drawn = draw($node, 'postgres');
my $fresh = PostgreSQL::Test::Cluster->new('fresh');

$fresh->init;
$fresh->start;
$fresh->safe_psql('postgres', 'CREATE ROLE app');
$fresh->safe_psql('postgres', "CREATE DATABASE $_ TEMPLATE template0") foreach 'plain', 'custom';
$fresh->command_ok(
	[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $fresh->connstr('plain'), '-f', "$dir/plain.sql" ],
	'restore: plain');
$fresh->command_ok([ 'pg_restore', '-e', '-d', $fresh->connstr('custom'), "$dir/custom" ],
	'restore: custom');
foreach my $database ('plain', 'custom')
{
	is($fresh->safe_psql($database, $labels_query), $labels, "restore: $database: labels");
	is(draw($fresh, $database), $drawn, "restore: $database: the next values");
}

# The kind leads to no library but by a function in language C
$fresh->safe_psql('postgres', q{
	CREATE EXTENSION spanner_keys;
	CREATE FUNCTION spanner.load_bait() RETURNS void LANGUAGE plpgsql
		AS $$BEGIN RAISE EXCEPTION 'called'; END$$;
	CREATE FUNCTION public.load_permuted() RETURNS void LANGUAGE c AS '$libdir/permuted', 'permuted_load'});
foreach my $kind ('bait', 'permuted', '..', 'x' x 63, 'x' x 200)
{
	refused($fresh, 'postgres', "SELECT spanner.create_sequence('s', '$kind')",
		qr/Invalid Sequence Kind: \Q$kind\E\./, "no kind $kind");
}
refused(
	$fresh, 'postgres',
	q{LOAD 'spanner_keys'; SET spanner.default_sequence_kind = permuted},
	qr/Invalid Sequence Kind: permuted\./, 'no kind permuted, as a setting');

# Without the extension of the method
refused($node, 'postgres', 'DROP EXTENSION spanner_keys', qr/extension permuted depends on/,
	'dropping what the method depends on');
$node->safe_psql('postgres', 'DROP EXTENSION permuted');
refused(
	$node, 'postgres', q{SELECT spanner.nextval('wide')},
	qr/Invalid Sequence Kind: permuted\..*the extension that provides/s, 'without it: nextval');
refused(
	$node, 'postgres', q{INSERT INTO t (v) VALUES (1)},
	qr/Invalid Sequence Kind: permuted\..*the extension that provides/s, 'without it: column default');
is( $node->safe_psql('postgres', q{
		SELECT kind, bits FROM spanner.sequences WHERE sequencename = 'wide'}),
	'permuted|', 'without it: the view names the kind');
is($node->psql('postgres', 'ALTER SEQUENCE wide INCREMENT 2; ALTER SEQUENCE wide INCREMENT 1'), 0,
	'without it: another increment');
refused(
	$node, 'postgres', q{SELECT spanner.alter_sequence('wide', 'striped')},
	qr/Invalid Sequence Kind: permuted\./, 'without it: another kind, without a restart');
refused(
	$node, 'postgres', q{SECURITY LABEL FOR spanner_keys ON SEQUENCE wide IS NULL},
	qr/Invalid Sequence Kind: permuted\./, 'without it: no kind, without a restart');
$node->safe_psql('postgres', q{
	SELECT spanner.alter_sequence('wide', 'bit_reversed_positive', restart_counter_with => 1)});
is($node->safe_psql('postgres', q{SELECT spanner.nextval('wide')}), '4611686018427387904',
	'without it: another kind, with a restart');
$node->safe_psql('postgres', 'CREATE EXTENSION permuted');
is((split / /, draw($node, 'postgres'))[1],
	$fresh->safe_psql('plain', q{SELECT spanner.nextval('next')}), 'with it again: it goes on');

# What the registry refuses, whichever library comes first
$node->safe_psql('postgres', q{
	CREATE FUNCTION register_method(name text, version integer, fault text DEFAULT '') RETURNS void
		LANGUAGE c AS '$libdir/register_method', 'register_method';
	CREATE FUNCTION interface_version() RETURNS integer
		LANGUAGE c AS '$libdir/register_method', 'interface_version'});
refused($node, 'postgres', q{SELECT register_method('old', interface_version() - 1)},
	qr/"old" was built for another version.*HINT/s, 'registry: an older interface');
refused($node, 'postgres', q{SELECT register_method('new', interface_version() + 1)},
	qr/"new" was built for another version.*HINT/s, 'registry: a newer interface');
refused(
	$node, 'postgres', q{SELECT spanner.nextval('wide'); SELECT register_method('Striped', interface_version())},
	qr/"Striped" is registered already.*HINT/s, 'registry: a name again');
refused(
	$node, 'postgres', q{SELECT register_method('permuted', interface_version()); SELECT spanner.load_permuted()},
	qr/"permuted" is registered already.*HINT/s, 'registry: a name again, the other way round');
refused(
	$node, 'postgres',
	q{SELECT register_method('m' || n, interface_version()) FROM generate_series(1, 17) n},
	qr/too many sequence access methods.*HINT/s, 'registry: too many');
is( $node->safe_psql('postgres', q{
		SELECT register_method('Early', interface_version());
		CREATE SEQUENCE plain;
		SECURITY LABEL FOR spanner_keys ON SEQUENCE plain IS 'early';
		SELECT spanner.nextval('plain')}) =~ s/^\n//r,
	1, 'registry: a method that is registered before the library is loaded');

# A faulty method is refused, and crashes nothing
foreach my $name ('', 'weird name(=', 'a,b', 'Local', 'x' x 64)
{
	refused($node, 'postgres', "SELECT register_method('$name', interface_version())",
		qr/invalid name "\Q$name\E" of a sequence access method.*HINT/s, "faulty: name '$name'");
}
refused($node, 'postgres', q{SELECT register_method('x', interface_version(), 'no name')}, qr/invalid name ""/, 'faulty: no name');
foreach my $fault ('no description', 'no nextval', 'no unmap')
{
	refused($node, 'postgres', "SELECT register_method('faulty', interface_version(), '$fault')",
		qr/"faulty" is not complete/, "faulty: $fault");
}
$node->safe_psql('postgres', 'CREATE TABLE narrow (id smallserial); CREATE SEQUENCE faulty');
my %reported = (
	(map { $_ => qr/"faulty" changed options that are not its own/ } 'bits', 'skip range', 'last counter', 'no counter'),
	'no word' => qr/"faulty" describes itself by a label that cannot be read: faulty\(bits=\d+, mode=a b\), x=\(\)/,
	'forgets options' => qr/"faulty" describes itself by a label/,
	'bits twice' => qr/option "bits" is set more than once/,
	'same value' => qr/"faulty" has no way back from value 5 to counter 1/);
foreach my $fault (sort keys %reported)
{
	my $register = "SELECT register_method('faulty', interface_version(), '$fault')";

	refused($node, 'postgres', "$register; SELECT spanner.alter_sequence('$_', 'faulty')", $reported{$fault}, "faulty: $fault, $_")
	  foreach 'faulty', 'narrow_id_seq';
	refused($node, 'postgres', "$register; SECURITY LABEL FOR spanner_keys ON SEQUENCE faulty IS 'faulty'",
		$reported{$fault}, "faulty: $fault, by label");
}
foreach my $bits (15, 63)
{
	foreach my $fault ('value 0', 'negative value', 'wide value')
	{
		my ($result, $out, $err) = $node->psql(
			'postgres', qq{
			SELECT register_method('faulty', interface_version(), '$fault');
			SELECT spanner.create_sequence('faulty$bits', 'faulty', bits => $bits);
			SELECT spanner.nextval('faulty$bits') FROM generate_series(1, 3);
			SELECT nextval('faulty$bits');
			SELECT currval('faulty$bits'), lastval();
			DROP SEQUENCE faulty$bits},
			on_error_stop => 0);

		like($err, qr/"faulty" gave value -?\d+, which is out of range.*Values of $bits bits are between 1 and/s,
			"faulty: $fault of $bits bits");
		like($out, qr/\n1\n2\n3\n3\|3$/, "faulty: $fault of $bits bits, after the good ones");
	}
}
unlike(slurp_file($node->logfile, $start_log), qr/PANIC|TRAP|terminated by signal/, 'no crash');

$node->stop;
$fresh->stop;

done_testing();
