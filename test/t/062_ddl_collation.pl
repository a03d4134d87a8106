# Texts are compared by their bytes on Spanner, whatever the language of the
# database is: columns, arrays, keys and what is derived from them.  Upper and
# lower case are Unicode's, whatever the collation is.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('ddl_collation');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'spanner_keys'");
$node->start;

my %databases = (c => "LOCALE 'C'");
my $has_icu = $node->safe_psql('postgres', "SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'");
$databases{icu} = "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'" if $has_icu;
$databases{libc} = "LOCALE 'en_US.UTF-8'"
  if $node->psql('postgres', "CREATE COLLATION tried (LOCALE = 'en_US.UTF-8')") == 0;
$databases{builtin} = "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'" if $node->pg_version >= 17;
my $by_bytes = qr/^(c|builtin)$/;
note("without ICU") unless $has_icu;

my $ddl = q{
	CREATE TABLE Docs (
	  Shard INT64 NOT NULL AS (MOD(ABS(FARM_FINGERPRINT(Name)), 4)) STORED,
	  Name STRING(8) NOT NULL,
	  Tags ARRAY<STRING(3)>,
	  Kind STRING(MAX) AS (IF(Name < 'a', 'upper', 'lower')) STORED,
	  Small STRING(MAX) AS (LOWER(Name)) STORED,
	  Big STRING(MAX) AS (UPPER(Name)) STORED,
	  CONSTRAINT Named CHECK (Name >= 'B')
	) PRIMARY KEY (Shard, Name);
	CREATE TABLE Lines (
	  Shard INT64 NOT NULL,
	  Name STRING(8) NOT NULL,
	  Line INT64 NOT NULL
	) PRIMARY KEY (Shard, Name, Line), INTERLEAVE IN PARENT Docs ON DELETE CASCADE;
	CREATE TABLE Plain (
	  Low STRING(MAX) NOT NULL,
	  Shard INT64 NOT NULL AS (MOD(ABS(FARM_FINGERPRINT(LOWER(Low))), 4)) STORED
	) PRIMARY KEY (Shard, Low);
	CREATE VIEW Firsts SQL SECURITY INVOKER AS
	  SELECT MIN(d.Name) AS name, GREATEST(MIN(d.Name), 'a') AS greatest FROM Docs AS d;
	CREATE VIEW Walked SQL SECURITY INVOKER AS
	  SELECT d.Name AS name, ARRAY_MAX(d.Tags) AS tag FROM Docs AS d};

foreach my $database (sort keys %databases)
{
	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0 $databases{$database}");
	my $run = sub { $node->safe_psql($database, $_[0]) };

	$run->('CREATE EXTENSION spanner_keys_ddl CASCADE');
	$run->("SELECT spanner.execute_ddl(\$ddl\$$ddl\$ddl\$, 'googlesql')");
	is($run->(q{SELECT string_agg(DISTINCT coalesce(l.collname, '-'), ' ')
		FROM pg_attribute a JOIN pg_collation l ON l.oid = a.attcollation
		WHERE a.attrelid = 'docs'::regclass AND a.attnum > 0}),
		$database =~ $by_bytes ? 'default' : 'C', "$database: the columns");

	# values
	$run->(q{INSERT INTO docs (name, tags) VALUES ('B', '{a,B}'), ('a', NULL), ('b', '{}'), ('Zebra', NULL)});
	is($run->('SELECT string_agg(name || kind, $$ $$ ORDER BY name) FROM docs'), 'Bupper Zebraupper alower blower',
		"$database: order and comparison");
	is($run->('TABLE firsts'), 'B|a', "$database: of a view");
	is($run->(q{SELECT tag FROM walked WHERE name = 'B'}), 'a', "$database: of an array");
	isnt($node->psql($database, q{INSERT INTO docs (name) VALUES ('A')}), 0, "$database: a CHECK");
	is($run->(q{SELECT count(*) FROM docs WHERE name BETWEEN 'B' AND 'a'}), 3, "$database: BETWEEN");

	# lengths are never cut
	foreach my $values (q{('abcdefgh ', NULL)}, q{('b', '{"abc "}')}, q{('b', '{"    "}')})
	{
		my ($ret, undef, $stderr) = $node->psql($database, "INSERT INTO docs (name, tags) VALUES $values");
		like($stderr, qr/violates check constraint "docs_(name|tags)_length"/, "$database: $values");
	}
	isnt($node->psql($database, "COPY docs (name) FROM PROGRAM 'echo \"abcdefgh  \"'"), 0, "$database: COPY");

	# case
	if ($database ne 'c' || $has_icu)
	{
		$run->(q{INSERT INTO docs (name) VALUES ('straße')});
		is($run->(q{SELECT big FROM docs WHERE name = 'straße'}), $has_icu ? 'STRASSE' : $run->(q{SELECT upper('straße')}),
			"$database: upper case");
		is($run->(q{INSERT INTO docs (name) VALUES ('ÄÖ') RETURNING small}), 'äö', "$database: lower case");
	}

	# what the planner knows of keys that are compared by bytes
	like($run->(q{EXPLAIN (COSTS OFF) SELECT * FROM docs WHERE name = 'a'}),
		qr/Index Cond: \(\(shard = '?\d+/, "$database: the shard is derived");
	like($run->(q{EXPLAIN (COSTS OFF) SELECT * FROM plain WHERE low = 'Ab'}),
		qr/Index Cond: \(\(shard = '?\d+/, "$database: and that of its lower case");
	like($run->(q{PREPARE p(varchar) AS SELECT * FROM docs WHERE name = $1; SET plan_cache_mode = force_generic_plan;
		EXPLAIN (COSTS OFF) EXECUTE p('a')}), qr/Index Cond: \(\(shard = /, "$database: and of a parameter");
	like($run->(q{SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;
		EXPLAIN (COSTS OFF) SELECT name FROM docs ORDER BY name LIMIT 2}), qr/Merge/, "$database: shards are merged");
	is($run->(q{SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off;
		SELECT string_agg(n, ' ') FROM (SELECT name AS n FROM docs WHERE name <= 'b' ORDER BY name LIMIT 9) o}),
		'B Zebra a b', "$database: by bytes");
	$run->(q{INSERT INTO lines SELECT shard, name, 1 FROM docs});
	is($run->(q{DELETE FROM docs WHERE name = 'B'; SELECT count(*) FROM lines WHERE name = 'B'}), 0, "$database: a child");

	# there and back
	$run->(q{CREATE SCHEMA copied});
	my $exported = $run->(q{SELECT string_agg(s, E';\n') FROM spanner.spanner_ddl(schema => 'public') s});
	unlike($exported, qr/COLLATE/i, "$database: no collation is exported");
	like($exported, qr/name STRING\(8\) NOT NULL.*tags ARRAY<STRING\(3\)>/s, "$database: lengths are");
	$run->("SET search_path = copied; SELECT spanner.execute_ddl(\$ddl\$$exported\$ddl\$, 'googlesql')");
	is($run->(q{SELECT count(*) FROM pg_attribute a JOIN pg_attribute b ON a.attname = b.attname
		WHERE a.attrelid = 'public.docs'::regclass AND b.attrelid = 'copied.docs'::regclass AND a.attnum > 0
		AND (a.atttypid, a.atttypmod, a.attcollation, a.attnotnull) = (b.atttypid, b.atttypmod, b.attcollation, b.attnotnull)}),
		6, "$database: the same columns");
	like($run->(q{SELECT string_agg(s, '') FROM spanner.spanner_ddl(schema => 'public', dialect => 'postgresql') s
		WHERE s ~ 'TABLE docs'}), qr/name varchar\(8\) NOT NULL,.*tags varchar\(3\)\[\],/s, "$database: the other dialect");

	# the other dialect has the same case, and its own names for it
	if ($database ne 'c' || $has_icu)
	{
		$run->(q{SELECT spanner.execute_ddl('CREATE TABLE cased (k varchar(9) PRIMARY KEY, big text GENERATED ALWAYS AS
			(upper(k)) STORED, CHECK (lower(k) <> k))', 'postgresql')});
		is($run->(q{INSERT INTO cased VALUES ('Äé') RETURNING big}), 'ÄÉ', "$database: case of the other dialect");
		like($run->(q{SELECT string_agg(s, '') FROM spanner.spanner_ddl('cased'::regclass, 'postgresql') s}),
			qr/varchar\(9\).*GENERATED ALWAYS AS \(upper\(k\)\).*CHECK \(\(lower\(k\) <> k\)\)/s,
			"$database: is exported");
	}

	# lengths change, also of a column that a view reads
	$run->(q{SELECT spanner.execute_ddl('ALTER TABLE Docs ALTER COLUMN Tags ARRAY<STRING(4)>')});
	$run->(q{INSERT INTO docs (name, tags) VALUES ('longer', '{abcd}')});
	isnt($node->psql($database, q{SELECT spanner.execute_ddl('ALTER TABLE Docs ALTER COLUMN Tags ARRAY<STRING(3)>')}), 0,
		"$database: a value is longer");
	$run->(q{SELECT spanner.execute_ddl('ALTER TABLE Docs ADD COLUMN Raw STRING(3)')});
	$run->(q{UPDATE docs SET raw = 'é'});
	$run->(q{SELECT spanner.execute_ddl('ALTER TABLE Docs ALTER COLUMN Raw BYTES(2)')});
	is($run->(q{SELECT DISTINCT raw FROM docs}), '\\xc3a9', "$database: as bytes");
	$run->(q{SELECT spanner.execute_ddl('ALTER TABLE Docs ALTER COLUMN Raw STRING(1)')});
	is($run->(q{SELECT DISTINCT raw, collation FOR (raw) FROM docs}), 'é|' . ($database =~ $by_bytes ? '"default"' : '"C"'),
		"$database: and back");
}

done_testing();
