# Pictures of key space: large tables are sampled, the page shows in a browser
# without an error and without loading anything, and nobody sees more than a
# query of his own would show.

use strict;
use warnings;

use File::Spec;
use File::Temp qw(tempdir);
use IPC::Run;
use List::Util qw(first);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('pictures');
my $rows = 300_000;

# The message of a statement that has to fail.
sub error_of
{
	my ($sql, %how) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $sql, %how);

	isnt($rc, 0, "fails: $sql");
	return $err;
}

sub value
{
	return $node->safe_psql('postgres', @_);
}

# Load a page in a browser; returns its picture's size, its text and errors.
sub browse
{
	my ($chromium, $name, $page, @options) = @_;
	my $dir = tempdir(CLEANUP => 1);
	my @command = (
		$chromium, '--headless=new', '--no-sandbox', '--disable-gpu',
		'--disable-dev-shm-usage', "--user-data-dir=$dir/profile",
		'--enable-logging=stderr', '--window-size=1120,900', @options);
	my ($out, $err) = ('', '');

	append_to_file("$dir/$name.html", $page);
	IPC::Run::run([ @command, "--screenshot=$dir/$name.png", "file://$dir/$name.html" ],
		'>', \$out, '2>', \$err, IPC::Run::timeout(120));
	my $size = -s "$dir/$name.png";
	# the browser has pages of its own, too
	my $console = join '', grep { /CONSOLE|ERR_|Refused/ && !m{ source: chrome://} } split /^/, $err;
	IPC::Run::run([ @command, '--dump-dom', "file://$dir/$name.html" ],
		'>', \$out, '2>', \$err, IPC::Run::timeout(120));
	return ($size, $out, $console);
}

$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off");
$node->start;
$node->safe_psql(
	'postgres', qq{
	CREATE EXTENSION spanner_keys;
	CREATE EXTENSION spanner_keys_advisor;
	CREATE EXTENSION spanner_keys_splits;
	CREATE TABLE serial_keys (id bigserial PRIMARY KEY, note text);
	INSERT INTO serial_keys (note) SELECT 'x' FROM generate_series(1, $rows);
	CREATE TABLE random_keys (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), at integer);
	INSERT INTO random_keys (at) SELECT generate_series(1, $rows);
	SET spanner.default_sequence_kind = 'bit_reversed_positive';
	CREATE TABLE reversed_keys (id bigserial PRIMARY KEY, note text);
	INSERT INTO reversed_keys (note) SELECT 'x' FROM generate_series(1, $rows);
	CREATE TABLE parts (id bigserial, at integer) PARTITION BY RANGE (id);
	SELECT spanner.create_splits('parts', 3, dry_run => false);
	INSERT INTO parts (at) SELECT generate_series(1, $rows);
	CREATE INDEX some_keys ON serial_keys (id) WHERE id <= $rows / 2;
	ANALYZE;});

# Samples: of about the size that was asked for, with rows scaled up
foreach my $relation ('serial_keys', 'reversed_keys', 'random_keys')
{
	my $text = value("SELECT string_agg(line, E'\\n') FROM spanner.key_heatmap_text('$relation') line");
	my $verdict = $relation eq 'serial_keys' ? 'Hotspot' : 'Even';

	like($text, qr/^$verdict: at any time/m, "$relation: $verdict");
	like($text, qr/^Drawn from a sample of (29|30|31),\d\d\d of about 300,000 rows\.$/m,
		"$relation: sampled");
	is($text, value("SELECT string_agg(line, E'\\n') FROM spanner.key_heatmap_text('$relation') line"),
		"$relation: the same picture again");
}
is(value("SELECT bool_and(rows BETWEEN $rows / 16.0 * 0.85 AND $rows / 16.0 * 1.15), sum(rows) BETWEEN $rows * 0.999 AND $rows * 1.001
	FROM spanner.key_histogram('reversed_keys', 16)"), 't|t', 'an even histogram');
is(value("SELECT bool_and(rows BETWEEN $rows / 8.0 * 0.7 AND $rows / 8.0 * 1.3)
	FROM spanner.key_histogram('serial_keys', 8, sample_rows => 5000)"), 't', 'a smaller sample');
is(value("SELECT sum(rows) BETWEEN $rows * 0.4 AND $rows * 0.6, max(key_to::bigint) <= $rows / 2
	FROM spanner.key_histogram('some_keys')"), 't|t', 'of a partial index, its rows only');
is(value("SELECT bool_and(share BETWEEN 0.2 AND 0.3) FROM spanner.key_histogram('parts', 4, 'id')"),
	't', 'all partitions are sampled');
like(value("SELECT string_agg(line, E'\\n') FROM spanner.key_heatmap_text('parts', column_name => 'id', order_by => 'at') line"),
	qr/^Even/m, 'a partitioned table by a column');

# A table that was never analyzed: as many rows as the sample says
$node->safe_psql('postgres', q{
	CREATE TABLE unknown (id integer PRIMARY KEY);
	INSERT INTO unknown SELECT generate_series(1, 50000)});
like(value("SELECT line FROM spanner.key_heatmap_text('unknown') line WHERE line LIKE 'Drawn%'"),
	qr/of about (49|50),\d\d\d rows/, 'rows that nobody has counted');

# Rows that come and go: statistics are far off, and still nothing fails.
$node->safe_psql('postgres', 'DELETE FROM random_keys WHERE at > 5');
like(error_of("SELECT spanner.key_histogram('random_keys', sample_rows => 100)"),
	qr/found no rows with a key in relation "random_keys"\nHINT:  Use a larger sample_rows, or VACUUM FULL/,
	'an almost empty table');
is(value("SELECT sum(rows) > 0 FROM spanner.key_histogram('random_keys', sample_rows => 1000000)"),
	't', 'and a larger sample');

# Privileges are those of a query; row-level security hides rows here as well.
$node->safe_psql(
	'postgres', q{
	CREATE ROLE reader LOGIN;
	CREATE TABLE tenants (id integer PRIMARY KEY, tenant text, at integer);
	INSERT INTO tenants SELECT i, CASE WHEN i <= 50 THEN 'reader' END, i FROM generate_series(1, 100) i;
	CREATE TABLE columns (id integer PRIMARY KEY, secret integer);
	INSERT INTO columns SELECT i, i FROM generate_series(1, 100) i;
	GRANT SELECT (id) ON columns TO reader;
	ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
	CREATE POLICY own ON tenants USING (tenant = current_user);
	GRANT SELECT ON tenants TO reader;});
my @reader = (extra_params => [ '-U', 'reader' ]);
foreach my $function ("key_histogram('serial_keys')", "key_heatmap('serial_keys')",
	"key_heatmap_text('serial_keys')", "key_heatmap_html('serial_keys')")
{
	like(error_of("SELECT spanner.$function", @reader),
		qr/ERROR:  permission denied for table serial_keys/, "$function without SELECT");
}
is(value("SELECT sum(rows) FROM spanner.key_histogram('columns')", @reader), '100', 'a column that may be read');
like(error_of("SELECT spanner.key_histogram('columns', 4, 'secret')", @reader),
	qr/permission denied for table columns/, 'and one that may not');
is(value("SELECT sum(rows), max(key_to::integer) FROM spanner.key_histogram('tenants')", @reader),
	'50|50', 'row-level security');

# A search path full of traps
$node->safe_psql(
	'postgres', q{
	CREATE SCHEMA trap;
	CREATE FUNCTION trap.hashtid(tid) RETURNS integer LANGUAGE sql AS 'SELECT 1 / 0';
	CREATE FUNCTION trap.left(text, integer) RETURNS text LANGUAGE sql AS $$SELECT (1 / 0)::text$$;
	CREATE FUNCTION trap.rank() RETURNS bigint LANGUAGE sql AS 'SELECT 1 / 0';
	CREATE FUNCTION trap.row_number() RETURNS bigint LANGUAGE sql AS 'SELECT 1 / 0';
	CREATE FUNCTION trap.less(integer, integer) RETURNS boolean LANGUAGE sql AS 'SELECT 1 / 0 = 1';
	CREATE OPERATOR trap.< (FUNCTION = trap.less, LEFTARG = integer, RIGHTARG = integer);
	CREATE DOMAIN trap.text AS integer;});
is(value(q{CREATE TABLE public.traps (id bigint) PARTITION BY RANGE (id);
	SET search_path = trap, pg_catalog, public;
	SELECT count(*) FROM spanner.key_heatmap('public.serial_keys');
	SELECT count(*) FROM spanner.key_histogram('public.columns', 3);
	SELECT count(*) FROM spanner.create_splits('public.traps', 2, bits => 63, dry_run => false);
	SELECT count(*) FROM spanner.split_stats('public.traps', true)}),
	"800\n3\n2\n2", 'names are qualified');

# What the owner of a table or type wrote does not run as who draws it.
$node->safe_psql(
	'postgres', q{
	CREATE ROLE owner LOGIN;
	GRANT CREATE ON SCHEMA public TO owner;
	SET ROLE owner;
	CREATE FUNCTION who(integer) RETURNS integer IMMUTABLE LANGUAGE plpgsql AS
		$$BEGIN IF current_user <> 'owner' THEN RAISE 'run as %', current_user; END IF; RETURN $1; END$$;
	CREATE TYPE mood AS ENUM ('sad', 'ok');
	CREATE FUNCTION told(mood) RETURNS text LANGUAGE plpgsql AS
		$$BEGIN RAISE 'run as %', current_user; END$$;
	CREATE CAST (mood AS text) WITH FUNCTION told(mood);
	CREATE TABLE owned (id integer PRIMARY KEY, how mood);
	INSERT INTO owned SELECT i, 'ok' FROM generate_series(1, 100) i;
	CREATE INDEX owned_expression ON owned (who(id));
	CREATE INDEX owned_partial ON owned (id) WHERE who(id) > 50;});
foreach my $index ('owned_expression', 'owned_partial')
{
	is(value("SELECT sum(rows) > 0 FROM spanner.key_histogram('$index')"), 't', "$index, as a superuser");
	is(value("SELECT sum(rows) > 0 FROM spanner.key_histogram('$index')", extra_params => [ '-U', 'owner' ]),
		't', "$index, as its owner");
}
is(value("SELECT DISTINCT key_from, time_from FROM spanner.key_heatmap('owned', 1, 2, 'how', 'how')"),
	'ok|ok', 'a type with a cast');

# Another encoding has no shades; the page is ASCII whatever the encoding.
$node->safe_psql('postgres', q{CREATE DATABASE latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0});
$node->safe_psql(
	'latin1', q{
	SET client_encoding = 'UTF8';
	CREATE EXTENSION spanner_keys;
	CREATE EXTENSION spanner_keys_advisor;
	CREATE EXTENSION spanner_keys_splits;
	CREATE TABLE "é" (id text PRIMARY KEY);
	INSERT INTO "é" SELECT 'ü' || i FROM generate_series(1000, 1999) i;});
like($node->safe_psql('latin1', q{SET client_encoding = 'UTF8'; SELECT spanner.key_heatmap_text('"é"')}),
	qr/^Hotspot.*\+##.*: as dense/ms, 'text in LATIN1');
my $latin1 = $node->safe_psql('latin1', q{SET client_encoding = 'UTF8'; SELECT spanner.key_heatmap_html('"é"')});
like($latin1, qr/&#233;/, 'page in LATIN1');
unlike($latin1, qr/[^\x00-\x7F]/, 'which is ASCII');

# SQL_ASCII has bytes, and no characters.
$node->safe_psql('postgres', q{CREATE DATABASE ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0});
$node->safe_psql(
	'ascii', q{
	CREATE EXTENSION spanner_keys;
	CREATE EXTENSION spanner_keys_advisor;
	CREATE EXTENSION spanner_keys_splits;
	CREATE TABLE "é" (id text PRIMARY KEY);
	INSERT INTO "é" SELECT 'ü' || i FROM generate_series(1000, 1999) i;});
like($node->safe_psql('ascii', q{SELECT spanner.key_heatmap_text('"é"')}), qr/^Hotspot.*\+##.*: as dense/ms, 'text in SQL_ASCII');
like($node->safe_psql('ascii', q{SELECT spanner.key_heatmap_html('"é"')}), qr/\A[\x00-\x7F]*&#65533;&#65533;1000[\x00-\x7F]*\z/, 'page in SQL_ASCII');

# In a browser
my $hostile = q{"</title><script>document.title='run'</script> & ''ü☃"};
$node->safe_psql(
	'postgres', qq{
	CREATE TABLE $hostile ("<b>""k" text PRIMARY KEY, "<script>x" integer);
	INSERT INTO $hostile SELECT '<img src=x onerror="document.title=1">' || i, i
	  FROM generate_series(10000, 19999) i;});
my $chromium = first { -x $_ } map { ("$_/chromium", "$_/chromium-browser", "$_/google-chrome") } File::Spec->path();
SKIP:
{
	skip 'NO BROWSER: install chromium to have the pages looked at', 1 unless $chromium;

	my %pages = (
		serial => "'serial_keys'",
		both => "'serial_keys', after => 'reversed_keys'",
		reversed => "'reversed_keys'",
		hostile => "'" . $hostile =~ s/'/''/gr . q{', order_by => '<script>x'});
	foreach my $name (sort keys %pages)
	{
		my $page = value("SELECT spanner.key_heatmap_html($pages{$name})");

		foreach my $theme ('light', 'dark')
		{
			my @options = $theme eq 'dark' ? ('--blink-settings=preferredColorScheme=0') : ();
			my ($size, $dom, $console) = browse($chromium, "$name-$theme", $page, @options);

			cmp_ok($size // 0, '>', 10_000, "$name, $theme: a picture");
			is($console, '', "$name, $theme: nothing on the console");
			like($dom, qr{<svg.*<rect class="d\d".*</svg>}s, "$name, $theme: the drawing is there");
			unlike($dom, qr/<(script|img|b class)|<title>(run|1)</i, "$name, $theme: no name became a tag");
		}
	}
}

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|signal 11/, 'no crash');
$node->stop;
done_testing();
