# Every path on which a value is drawn, each in a session of its own, with
# nothing preloaded and with the library loaded, and that lastval and currval
# tell the same value afterwards.

use strict;
use warnings;

use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# What a path gives
my $MAPPED = 'mapped';
my $PLAIN = 'plain counter';

# Each path: its name, what it gives, the sequence that it draws from, and the
# commands, which print what was drawn.  A path that is none of psql's has a
# function instead, which returns the values, and what lastval and currval say.
my @paths = (
	[ q{`SELECT nextval('s')`}, $MAPPED, 's', q{SELECT nextval('s');} ],
	[
		q{`SELECT nextval('s') FROM generate_series(1, 3)`}, $MAPPED, 's',
		q{SELECT nextval('s') FROM generate_series(1, 3);}
	],
	[
		'`nextval` of a name that is computed', $MAPPED, 's',
		q{SELECT nextval(chr(114 + n)::regclass) FROM generate_series(1, 1) n;}
	],
	[
		q{`SELECT nextval(pg_get_serial_sequence('t', 'id'))`}, $MAPPED, 'serial_id_seq',
		q{SELECT nextval(pg_get_serial_sequence('serial', 'id'));}
	],
	[
		'`INSERT`, serial column', $MAPPED, 'serial_id_seq',
		'INSERT INTO serial (v) VALUES (1) RETURNING id;'
	],
	[
		'`INSERT`, serial column, many rows with `DEFAULT`', $MAPPED, 'serial_id_seq',
		'INSERT INTO serial VALUES (DEFAULT, 1), (DEFAULT, 2) RETURNING id;'
	],
	[
		'`INSERT ... SELECT`, serial column', $MAPPED, 'serial_id_seq',
		'INSERT INTO serial (v) SELECT generate_series(1, 3) RETURNING id;'
	],
	[
		'`INSERT`, identity column `BY DEFAULT`', $MAPPED, 'by_default_id_seq',
		'INSERT INTO by_default (v) VALUES (1) RETURNING id;'
	],
	[
		'`INSERT`, identity column `ALWAYS`', $MAPPED, 'always_id_seq',
		'INSERT INTO always (v) VALUES (1) RETURNING id;'
	],
	[
		'`INSERT`, identity column, many rows with `DEFAULT`', $MAPPED, 'identity_id_seq',
		'INSERT INTO identity VALUES (DEFAULT, 1), (DEFAULT, 2) RETURNING id;'
	],
	[
		'`INSERT ... SELECT`, identity column', $MAPPED, 'identity_id_seq',
		'INSERT INTO identity (v) SELECT generate_series(1, 3) RETURNING id;'
	],
	[
		'`UPDATE ... SET id = DEFAULT`, serial column', $MAPPED, 'serial_id_seq',
		'UPDATE serial SET id = DEFAULT WHERE v = 2 RETURNING id;'
	],
	[
		'`UPDATE ... SET id = DEFAULT`, identity column', $MAPPED, 'identity_id_seq',
		'UPDATE identity SET id = DEFAULT WHERE v = 2 RETURNING id;'
	],
	[
		'`MERGE`, serial column', $MAPPED, 'serial_id_seq',
		'MERGE INTO serial t USING (VALUES (4), (5)) n (v) ON t.v = n.v
			WHEN NOT MATCHED THEN INSERT VALUES (DEFAULT, n.v);
		SELECT id FROM serial WHERE v IN (4, 5);'
	],
	[
		'`MERGE`, identity column', $MAPPED, 'identity_id_seq',
		'MERGE INTO identity t USING (VALUES (4), (5)) n (v) ON t.v = n.v
			WHEN NOT MATCHED THEN INSERT VALUES (DEFAULT, n.v);
		SELECT id FROM identity WHERE v IN (4, 5);'
	],
	[
		'`INSERT` through a partitioned table', $MAPPED, 'parted_id_seq',
		'INSERT INTO parted (v) VALUES (1), (2) RETURNING id;'
	],
	[
		'`INSERT` into a partition', $MAPPED, 'parted_id_seq',
		'INSERT INTO part (v) VALUES (1), (2) RETURNING id;'
	],
	[
		'`COPY FROM`, serial column', $MAPPED, 'serial_id_seq',
		"COPY serial (v) FROM STDIN;\n6\n6\n\\.\nSELECT id FROM serial WHERE v = 6;"
	],
	[
		'`COPY FROM`, identity column `BY DEFAULT`', $MAPPED, 'by_default_id_seq',
		"COPY by_default (v) FROM STDIN;\n6\n6\n\\.\nSELECT id FROM by_default WHERE v = 6;"
	],
	[
		'`COPY FROM`, identity column `ALWAYS`', $MAPPED, 'always_id_seq',
		"COPY always (v) FROM STDIN;\n6\n6\n\\.\nSELECT id FROM always WHERE v = 6;"
	],
	[
		q{`COPY (SELECT nextval('s')) TO`}, $MAPPED, 's',
		q{COPY (SELECT nextval('s') FROM generate_series(1, 2)) TO STDOUT;}
	],
	[
		q{`ALTER TABLE ... ADD COLUMN ... DEFAULT nextval('s')`}, $MAPPED, 's',
		q{ALTER TABLE filled ADD COLUMN id bigint DEFAULT nextval('s');
		SELECT id FROM filled;}
	],
	[
		q{`ALTER TABLE ... ALTER COLUMN ... TYPE ... USING nextval('s')`}, $MAPPED, 's',
		q{ALTER TABLE filled ALTER COLUMN v TYPE bigint USING nextval('s');
		SELECT v FROM filled;}
	],
	[
		q{PL/pgSQL, `x := nextval('s')`}, $MAPPED, 's',
		q{SELECT assigned() FROM generate_series(1, 2);}
	],
	[
		'PL/pgSQL, `EXECUTE`', $MAPPED, 's',
		q{SELECT executed() FROM generate_series(1, 2);}
	],
	[
		'function in SQL', $MAPPED, 's',
		q{SELECT inlined(); SELECT standard(); SELECT nested() FROM generate_series(1, 2);}
	],
	[ 'view', $MAPPED, 's', 'SELECT id FROM drawing_view;' ],
	[
		'`BEFORE` trigger in PL/pgSQL', $MAPPED, 's',
		'INSERT INTO triggered (v) VALUES (1), (2) RETURNING id;'
	],
	[
		'`INSERT`, default of a domain', $MAPPED, 's',
		'INSERT INTO with_domain (v) VALUES (1), (2) RETURNING id;'
	],
	[
		'`COPY FROM`, default of a domain', $MAPPED, 's',
		"COPY with_domain (v) FROM STDIN;\n6\n6\n\\.\nSELECT id FROM with_domain WHERE v = 6;"
	],
	[
		'`CREATE TABLE AS`', $MAPPED, 's',
		q{CREATE TABLE made AS SELECT nextval('s') AS id FROM generate_series(1, 2);
		SELECT id FROM made;}
	],
	[
		'materialized view', $MAPPED, 's',
		q{REFRESH MATERIALIZED VIEW stored;
		SELECT id FROM stored;
		CREATE MATERIALIZED VIEW stored_too AS SELECT nextval('s') AS id;
		SELECT id FROM stored_too;}
	],
	[
		'prepared statement', $MAPPED, 's',
		q{PREPARE draw AS SELECT nextval('s');}, ('EXECUTE draw;') x 8
	],
	[
		'`INSERT`, default of a view', $MAPPED, 's',
		'INSERT INTO with_default (v) VALUES (7), (8) RETURNING id;'
	],
	[
		'`INSERT`, default of a domain that is older than the kind', $MAPPED, 'late',
		'INSERT INTO with_late (v) VALUES (1), (2) RETURNING id;'
	],
	[
		'`COPY FROM`, default of a domain that is older than the kind', $MAPPED, 'late',
		"COPY with_late (v) FROM STDIN;\n6\n6\n\\.\nSELECT id FROM with_late WHERE v = 6;"
	],
	[
		'`COPY FROM`, default that computes the name of its sequence', $MAPPED, 's',
		"COPY with_name (v) FROM STDIN;\n6\n6\n\\.\nSELECT id FROM with_name WHERE v = 6;"
	],
	[
		q{`COPY FROM ... WHERE nextval('s') > 0`}, $MAPPED, 's',
		"COPY filtered FROM STDIN WHERE nextval('s') > 0;\n6\n\\.\nSELECT currval('s');"
	],
	[
		'bound of a partition', $MAPPED, 's',
		q{CREATE TABLE bounded PARTITION OF listed FOR VALUES IN (nextval('s'));
		SELECT substring(pg_get_expr(relpartbound, oid) FROM '\d+') FROM pg_class WHERE relname = 'bounded';}
	],
	[
		'CHECK constraint', $MAPPED, 's',
		q{INSERT INTO checked VALUES (1); SELECT currval('s');}
	],
	[
		'`WHEN` of a trigger', $MAPPED, 's',
		q{INSERT INTO conditional VALUES (1); SELECT currval('s');}
	],
	[
		'`COPY FROM`, default that calls a function in SQL', $MAPPED, 's',
		"COPY with_function (v) FROM STDIN;\n6\n6\n\\.\nSELECT id FROM with_function WHERE v = 6;"
	],
	[
		q{`CALL p(nextval('s'))`}, $MAPPED, 's',
		q{CALL passed(nextval('s'));}
	],
	[
		q{`EXECUTE p(nextval('s'))`}, $MAPPED, 's',
		q{PREPARE given(bigint) AS SELECT $1;}, q{EXECUTE given(nextval('s'));}
	],
	[
		'default of an argument', $MAPPED, 's', 'SELECT defaulted();'
	],
	[
		q{`SELECT * FROM nextval('s')`}, $MAPPED, 's', q{SELECT * FROM nextval('s'); VALUES (nextval('s'));}
	],
	[
		q{`INSERT INTO t VALUES (nextval('s'))`}, $MAPPED, 's',
		q{INSERT INTO with_name VALUES (nextval('s'), 9), (nextval('s'), 9) RETURNING id;}
	],
	[
		'`INSERT ... ON CONFLICT DO UPDATE`', $MAPPED, 's',
		q{INSERT INTO conflicting VALUES (1, 0), (2, 0) ON CONFLICT (v) DO UPDATE SET id = nextval('s') RETURNING id;}
	],
	[
		'`ALTER TABLE ... ADD COLUMN ... bigserial`', $MAPPED, 'numbered_id_seq',
		'ALTER TABLE numbered ADD COLUMN id bigserial; SELECT id FROM numbered;'
	],
	[
		'prepared statement, sequence as a parameter', $MAPPED, 's',
		q{PREPARE draw(regclass) AS SELECT nextval($1);}, (q{EXECUTE draw('s');}) x 8
	],
	[
		'function in SQL that is not inlined', $MAPPED, 's', 'SELECT called() FROM generate_series(1, 2);'
	],
	[
		'cursor', $MAPPED, 's',
		q{BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT nextval('s') FROM generate_series(1, 2); COMMIT; FETCH ALL c;}
	],
	[
		'operator made of `nextval`', $MAPPED, 's', q{SELECT ## 's'::regclass FROM generate_series(1, 2);}
	],
	[
		'CHECK constraint of a domain', $MAPPED, 's',
		q{INSERT INTO with_checked_domain VALUES (1); SELECT currval('s');}
	],
	[
		'row security policy', $MAPPED, 's',
		q{SET ROLE reader; INSERT INTO guarded VALUES (1); RESET ROLE; SELECT currval('s');}
	],
	[
		'rule', $MAPPED, 's', q{INSERT INTO ruled VALUES (1); SELECT id FROM written;}
	],
	[
		'default in `JSON_TABLE`', $MAPPED, 's',
		q{SELECT x FROM JSON_TABLE(jsonb '{}', '$' COLUMNS (x bigint PATH '$.x' DEFAULT nextval('s') ON EMPTY));}
	],
	[
		q{contrib's `autoinc`, and other calls from C}, $PLAIN, 'narrow',
		'INSERT INTO incremented (v) VALUES (1), (2) RETURNING id;'
	],
	[ 'fast-path call (`PQfn`)', $PLAIN, 's', \&draw_fast_path ],
	[
		'logical apply, serial column of the subscriber', $MAPPED, 'extra_serial_id_seq',
		\&applied_values, 'extra_serial'
	],
	[
		'logical apply, identity column of the subscriber', $MAPPED,
		'extra_identity_id_seq', \&applied_values, 'extra_identity'
	]);

my $node = PostgreSQL::Test::Cluster->new('paths');
my $has_autoinc;
my $has_json_table;
my @extra = qw(extra_serial extra_by_default extra_always);

# Tables and functions are made by plain DDL, in a session with nothing loaded.
sub create_database
{
	my ($database, $kind, $loaded) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION spanner_keys');
	$node->safe_psql('postgres',
		"ALTER DATABASE $database SET spanner.default_sequence_kind = '$kind'");
	$node->safe_psql('postgres',
		"ALTER DATABASE $database SET session_preload_libraries = 'spanner_keys'") if $loaded;
	$node->safe_psql(
		$database, q{
		SET client_min_messages = warning;
		CREATE SEQUENCE s;
		CREATE SEQUENCE narrow AS integer;
		CREATE TABLE serial (id bigserial PRIMARY KEY, v integer);
		CREATE TABLE by_default (id bigint GENERATED BY DEFAULT AS IDENTITY, v integer);
		CREATE TABLE always (id bigint GENERATED ALWAYS AS IDENTITY, v integer);
		CREATE TABLE extra_serial (v integer PRIMARY KEY, id bigserial);
		CREATE TABLE extra_by_default (v integer PRIMARY KEY, id bigint GENERATED BY DEFAULT AS IDENTITY);
		CREATE TABLE extra_always (v integer PRIMARY KEY, id bigint GENERATED ALWAYS AS IDENTITY);
		CREATE TABLE parted (id bigserial, v integer) PARTITION BY LIST (v);
		CREATE TABLE part PARTITION OF parted DEFAULT;
		CREATE TABLE filled AS SELECT generate_series(1, 3) AS v;
		CREATE DOMAIN drawn AS bigint DEFAULT nextval('s');
		CREATE TABLE with_domain (id drawn, v integer);
		CREATE VIEW drawing_view AS SELECT nextval('s') AS id;
		CREATE MATERIALIZED VIEW stored AS SELECT nextval('s') AS id WITH NO DATA;
		CREATE FUNCTION assigned() RETURNS bigint LANGUAGE plpgsql
			AS $$DECLARE x bigint; BEGIN x := nextval('s'); RETURN x; END$$;
		CREATE FUNCTION executed() RETURNS bigint LANGUAGE plpgsql
			AS $$DECLARE x bigint; BEGIN EXECUTE 'SELECT nextval(''s'')' INTO x; RETURN x; END$$;
		CREATE FUNCTION inlined() RETURNS bigint LANGUAGE sql AS $$SELECT nextval('s')$$;
		CREATE FUNCTION standard() RETURNS bigint LANGUAGE sql
			BEGIN ATOMIC SELECT nextval('s'); END;
		CREATE FUNCTION nested() RETURNS bigint LANGUAGE sql AS $$SELECT inlined()$$;
		CREATE FUNCTION fill_id() RETURNS trigger LANGUAGE plpgsql
			AS $$BEGIN NEW.id := nextval('s'); RETURN NEW; END$$;
		CREATE VIEW with_default AS SELECT * FROM serial;
		ALTER VIEW with_default ALTER COLUMN id SET DEFAULT nextval('s');
		CREATE TABLE with_function (id bigint DEFAULT inlined(), v integer);
		CREATE TABLE with_name (id bigint DEFAULT nextval('s'::text), v integer);
		CREATE TABLE filtered (v integer);
		CREATE TABLE listed (id bigint) PARTITION BY LIST (id);
		CREATE TABLE checked (v integer CHECK (nextval('s') > 0));
		CREATE TABLE conditional (v integer);
		CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NEW; END$$;
		CREATE TRIGGER conditional BEFORE INSERT ON conditional FOR EACH ROW
			WHEN (nextval('s') > 0) EXECUTE FUNCTION keep();
		CREATE PROCEDURE passed(INOUT x bigint) LANGUAGE plpgsql AS $$BEGIN END$$;
		CREATE FUNCTION defaulted(x bigint DEFAULT nextval('s')) RETURNS bigint LANGUAGE plpgsql
			AS $$BEGIN RETURN x; END$$;
		CREATE FUNCTION called() RETURNS bigint LANGUAGE sql SET work_mem = '4MB' AS $$SELECT nextval('s')$$;
		CREATE TABLE conflicting (v integer PRIMARY KEY, id bigint);
		INSERT INTO conflicting VALUES (1), (2);
		CREATE TABLE numbered AS SELECT generate_series(1, 3) AS v;
		CREATE OPERATOR ## (RIGHTARG = regclass, FUNCTION = nextval);
		CREATE DOMAIN checked_domain AS integer CHECK (nextval('s') > 0);
		CREATE TABLE with_checked_domain (v checked_domain);
		CREATE TABLE guarded (v integer);
		CREATE POLICY guard ON guarded WITH CHECK (nextval('s') > 0);
		ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
		GRANT INSERT ON guarded TO reader;
		GRANT USAGE ON SEQUENCE s TO reader;
		CREATE TABLE ruled (v integer);
		CREATE TABLE written (id bigint);
		CREATE RULE write AS ON INSERT TO ruled DO INSTEAD INSERT INTO written VALUES (nextval('s'));
		CREATE TABLE triggered (id bigint, v integer);
		CREATE TRIGGER fill_id BEFORE INSERT ON triggered
			FOR EACH ROW EXECUTE FUNCTION fill_id();
		SET spanner.default_sequence_kind = 'local';
		CREATE SEQUENCE late;
		CREATE DOMAIN drawn_late AS bigint DEFAULT nextval('late');
		CREATE TABLE with_late (id drawn_late, v integer);
		SELECT spanner.alter_sequence('late', kind => 'striped');});
	$node->safe_psql(
		$database, q{
		CREATE EXTENSION autoinc;
		CREATE TABLE incremented (id integer, v integer);
		CREATE TRIGGER autoinc BEFORE INSERT ON incremented
			FOR EACH ROW EXECUTE FUNCTION autoinc(id, narrow)}) if $has_autoinc;
	return;
}

# Send a message of the protocol, and return the fields of the answer.
sub exchange
{
	my ($socket, $type, $body) = @_;
	my @fields;
	my $header;

	$socket->send($type . pack('N', 4 + length $body) . $body) or die "send: $!";
	while (sysread($socket, $header, 5) == 5)
	{
		my ($answer, $length) = unpack('aN', $header);
		my $data = '';

		while (length $data < $length - 4)
		{
			sysread($socket, $data, $length - 4 - length $data, length $data) or die "read: $!";
		}
		return @fields if $answer eq 'Z';
		die "error: $data" if $answer eq 'E';
		push @fields, unpack('N/a', $data) if $answer eq 'V';
		push @fields, unpack('x2 N/a', $data) if $answer eq 'D';
	}
	die "read: $!";
}

# Call nextval as PQfn() does, with the argument and the result in binary.
sub draw_fast_path
{
	my ($database) = @_;
	my $user = $node->safe_psql('postgres', 'SELECT current_user');
	my ($function, $sequence) = split /\|/, $node->safe_psql($database,
		q{SELECT 'nextval(regclass)'::regprocedure::oid, 's'::regclass::oid});
	my $path = $node->host . '/.s.PGSQL.' . $node->port;
	my $socket = IO::Socket::UNIX->new($path) or die "$path: $!";
	my @values;

	exchange($socket, '', pack('N', 196608) . "user\0$user\0database\0$database\0\0");
	foreach (1 .. 2)
	{
		my ($value) = exchange($socket, 'F', pack('NnnnNNn', $function, 1, 1, 1, 4, $sequence, 1));

		push @values, unpack('q>', $value);
	}
	my ($lastval) = exchange($socket, 'Q', "SELECT lastval()\0");
	my ($currval) = exchange($socket, 'Q', "SELECT currval('s')\0");
	$socket->close;
	return (\@values, $lastval, $currval);
}

# Replicate rows into the tables that have a column more.
sub apply_rows
{
	my ($database) = @_;
	my $publisher = $node->connstr . ' dbname=publisher';

	$node->safe_psql('publisher', "SELECT pg_create_logical_replication_slot('$database', 'pgoutput')");
	$node->safe_psql(
		$database, qq{
		CREATE SUBSCRIPTION $database CONNECTION '$publisher'
			PUBLICATION extra WITH (create_slot = false, copy_data = false)});
	$node->safe_psql('publisher', "INSERT INTO $_ SELECT generate_series(1, 3)") foreach @extra;
	foreach (@extra)
	{
		$node->poll_query_until($database, "SELECT count(*) = 3 FROM $_")
		  or die "$_: nothing is replicated";
	}
	$node->safe_psql($database, "DROP SUBSCRIPTION $database");
	$node->safe_psql('publisher', "TRUNCATE $_") foreach @extra;
	return;
}

# What logical apply drew for a table; there is no session to ask for lastval.
sub applied_values
{
	my ($database, $table) = @_;

	return ([ split /\n/, $node->safe_psql($database, "SELECT id FROM $table") ]);
}

# Run the commands of a path in a fresh session.
sub run_path
{
	my ($database, $sequence, @commands) = @_;

	if (ref $commands[0])
	{
		my $function = shift @commands;

		return $function->($database, @commands);
	}

	my $output = $node->safe_psql($database,
		join("\n", @commands, '\echo then', 'SELECT lastval();', "SELECT currval('$sequence');"));
	my ($values, $last) = split /^then\n/m, $output;

	return ([ split /\n/, $values ], split /\n/, $last);
}

# Tell values of 31 or 63 bits from counters.
sub classify
{
	my $mapped = grep { $_ > 2**20 } @_;

	return $mapped == @_ ? $MAPPED : $mapped == 0 ? $PLAIN : 'some mapped';
}

# Check what a path gives in a database.
sub check_path
{
	my ($database, $drawn, $path, $expected, $sequence, @commands) = @_;
	my ($values, $lastval, $currval) = run_path($database, $sequence, @commands);

	is(classify(@$values), $expected, "$database: $path") or diag("@$values");
	is(scalar(grep { $drawn->{$sequence}{$_}++ } @$values),
		0, "$database: $path: no value twice") or diag("@$values");
	return unless defined $lastval;

	is($lastval, $values->[-1], "$database: $path: lastval");
	is($currval, $values->[-1], "$database: $path: currval");
	return;
}

# Check all paths in a database.
sub check_paths
{
	my ($database) = @_;
	my %drawn;

	foreach my $row (@paths)
	{
		my ($path, @expected) = @$row;

	  SKIP:
		{
			skip "$database: $path: autoinc is not installed", 4
			  if $path =~ /autoinc/ && !$has_autoinc;
			skip "$database: $path: not in this release", 4
			  if $path =~ /JSON_TABLE/ && !$has_json_table;

			# "identity" stands for both forms of an identity column.
			foreach my $table ("@expected" =~ /identity/ ? qw(by_default always) : '')
			{
				check_path($database, \%drawn, $path,
					map { ref $_ ? $_ : s/identity/$table/gr } @expected);
			}
		}
	}
	return;
}

$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;
$has_autoinc = $node->safe_psql('postgres',
	q{SELECT count(*) FROM pg_available_extensions WHERE name = 'autoinc'});
$has_json_table = $node->safe_psql('postgres', 'SHOW server_version_num') >= 170000;
diag('SKIP: contrib\'s autoinc is not installed') unless $has_autoinc;
$node->safe_psql('postgres', 'CREATE ROLE reader');
$node->safe_psql('postgres', 'CREATE DATABASE publisher');
$node->safe_psql('publisher', "CREATE TABLE $_ (v integer PRIMARY KEY)") foreach @extra;
$node->safe_psql('publisher', 'CREATE PUBLICATION extra FOR TABLE ' . join(', ', @extra));

# With so many stripes, none of the counters drawn here has a small value.
foreach my $kind ('bit_reversed_positive', 'striped(stripes=1024)')
{
	foreach my $loaded (0, 1)
	{
		my $database = ($loaded ? 'loaded' : 'bare') . '_' . $kind =~ s/\W.*//r;

		create_database($database, $kind, $loaded);
		apply_rows($database);
		check_paths($database);
	}
}

$node->stop;

done_testing();
