# pg_upgrade, and pg_dumpall into a new cluster, carry kind, options, counter
# and label of every sequence, the defaults of columns, and the settings of
# roles and databases; the next value is the one that would have come.  So do
# they in databases with the core alone, with one of the other three extensions
# and with all of them, and what depends on these comes along.
#
# As in PostgreSQL's own test of pg_upgrade, "oldinstall" in the environment
# may name the installation of an older release to come from, which has the
# extension too, and PG_TEST_PG_UPGRADE_MODE the mode.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my @old_release = $ENV{oldinstall} ? (install_path => $ENV{oldinstall}) : ();
my @mode = grep { $_ ne '' } $ENV{PG_TEST_PG_UPGRADE_MODE} // '';
my $old = PostgreSQL::Test::Cluster->new('old', @old_release);

# The defaults of initdb are not those of every release.
my @alike = (extra => [ '--encoding=UTF8', '--locale=C', '--data-checksums' ]);
my @databases = qw(app other);

# Other databases have the core and these, of which each has a statement that
# makes something and one that describes it.
my %parts = (core => [], (map { $_ => [$_] } qw(ddl advisor splits)), four => [qw(ddl advisor splits)]);
my %make = (
	ddl => q{
		SELECT spanner.execute_ddl('CREATE TABLE Expiring (Id INT64, Ts TIMESTAMP OPTIONS (allow_commit_timestamp = true),
			Fingerprint INT64 AS (FARM_FINGERPRINT(CAST(Id AS STRING))) STORED)
			PRIMARY KEY (Id), ROW DELETION POLICY (OLDER_THAN(Ts, INTERVAL 30 DAY))');
		INSERT INTO expiring (id, ts) VALUES (1, '2020-01-01'), (2, spanner.pending_commit_timestamp())},
	advisor => q{
		CREATE TABLE event (at timestamptz DEFAULT now() PRIMARY KEY);
		SELECT spanner.silence_rule('event', 'key_now', 'at');
		CREATE TABLE visit (at timestamptz PRIMARY KEY);
		SELECT spanner.add_shard_key('visit', dry_run => false)},
	splits => q{
		CREATE TABLE split (id bigint) PARTITION BY RANGE (id);
		SELECT spanner.create_splits('split', 2, bits => 63, dry_run => false)});
my %describe = (
	ddl => q{SELECT spanner.spanner_ddl('expiring'::regclass)},
	advisor => q{
		SELECT relation, column_name, rule FROM spanner.silenced_rule;
		SELECT tablename, shards, usable FROM spanner.shard_keys ORDER BY 1},
	splits => q{SELECT partition, range FROM spanner.split_stats('split')});

# What a database says about its sequences, and about what draws from them.
sub describe
{
	my ($node, $database) = @_;

	return $node->safe_psql(
		$database, q{
		SELECT s.* FROM spanner.sequences s
		ORDER BY schemaname COLLATE "C", sequencename COLLATE "C";
		SELECT s.*, l.label FROM pg_sequences s
		LEFT JOIN pg_seclabel l ON l.objoid =
			format('%I.%I', s.schemaname, s.sequencename)::regclass
		WHERE s.schemaname <> 'spanner'
		ORDER BY s.schemaname COLLATE "C", s.sequencename COLLATE "C";
		SELECT n.nspname, c.relname, a.attname, a.attidentity,
			format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid),
			pg_get_serial_sequence(format('%I.%I', n.nspname, c.relname), a.attname)
		FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
		LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
		WHERE c.relkind IN ('r', 'p')
		AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'spanner')
		ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C", a.attnum;
		SELECT typname, pg_get_expr(typdefaultbin, 0) FROM pg_type
		WHERE typdefaultbin IS NOT NULL AND typnamespace = 'public'::regnamespace;
		SELECT provider, label, objoid::regclass::text COLLATE "C"
		FROM pg_seclabel ORDER BY 3;
		SELECT d.datname, r.rolname, s.setconfig FROM pg_db_role_setting s
		LEFT JOIN pg_database d ON d.oid = s.setdatabase
		LEFT JOIN pg_roles r ON r.oid = s.setrole
		ORDER BY d.datname COLLATE "C", r.rolname COLLATE "C"});
}

# The statements that this release's pg_dump makes of a database.
sub dump_statements
{
	my ($node, $database) = @_;
	my ($out, $err);

	run_log([ 'pg_dump', '-s', '-d', $node->connstr($database) ], '>', \$out, '2>', \$err)
	  or die "pg_dump: $err";
	return join "\n", grep { !/^(--|\\(un)?restrict |$)/ } split /\n/, $out;
}

# Which of the four extensions a database has, and what depends on the three
# that require the core.
sub describe_extensions
{
	my ($node, $database) = @_;

	return $node->safe_psql($database,
		join(';', q{SELECT extname FROM pg_extension WHERE extname ~ '^spanner_keys' ORDER BY 1}, @describe{ @{ $parts{$database} } }));
}

# The next values of all sequences of a database, in three sessions.
sub draw
{
	my ($node, $database) = @_;

	return join "\n", map {
		$node->safe_psql(
			$database, q{
			SELECT schemaname, sequencename,
				nextval(format('%I.%I', schemaname, sequencename)::regclass)
			FROM (SELECT * FROM pg_sequences WHERE schemaname <> 'spanner'
				ORDER BY schemaname COLLATE "C", sequencename COLLATE "C") s})
	} 1 .. 3;
}

# Insert into all tables; their primary keys refuse a value that is stored.
sub insert_rows
{
	my ($node, $database) = @_;

	return $node->safe_psql(
		$database, q{
		SET client_min_messages = warning;
		SELECT format('INSERT INTO %I.%I (v) SELECT generate_series(1, 200)',
			schemaname, tablename) FROM pg_tables
		WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'spanner')
		ORDER BY schemaname COLLATE "C", tablename COLLATE "C" \gexec});
}

# Some minor releases note a version in the options of every column.  A server
# that does not do so refuses them, and pg_upgrade fails for any table.
sub remove_column_versions
{
	my ($new) = @_;
	my $has_versions = q{SELECT count(*) > 0 FROM pg_attribute
		WHERE array_to_string(attoptions, ' ') ~ 'pg_attver='};

	$new->start;
	my $known = $new->safe_psql('postgres', $has_versions);
	$new->stop;
	return if $known eq 't' || $old->safe_psql('postgres', $has_versions) ne 't';

	note('the options pg_attver of columns are removed');
	foreach my $database ('postgres', 'template1', keys %parts, @databases)
	{
		$old->safe_psql(
			$database, q{
			UPDATE pg_attribute SET attoptions =
				(SELECT array_agg(o) FROM unnest(attoptions) o WHERE o !~ '^pg_attver=')
			WHERE array_to_string(attoptions, ' ') ~ 'pg_attver='});
	}
	return;
}

# Show what stands in the logs of a pg_upgrade that failed.
sub show_pg_upgrade_errors
{
	my ($node) = @_;

	foreach my $log (glob $node->data_dir . '/pg_upgrade_output.d/*/log/*')
	{
		diag("$log: $_") foreach grep { /(error|fatal): /i } split /^/, slurp_file($log);
	}
	return;
}

# Compare a new cluster with what the old one said, and let it go on.
sub check_cluster
{
	my ($node, $described, $dumped, $drawn) = @_;
	my $name = $node->name;

	foreach my $database (@databases)
	{
		is( $node->safe_psql($database, q{
				SELECT count(*) FILTER (WHERE prosupport <> 0), (SELECT count(*) FROM pg_depend WHERE deptype = 'n'
					AND classid = 'pg_proc'::regclass AND objid = 'nextval(regclass)'::regprocedure)
				FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
				AND proname IN ('nextval', 'currval', 'lastval', 'setval')}),
			'5|1', "$name: $database: PostgreSQL's functions have their support functions");
		is(describe($node, $database), $described->{$database},
			"$name: $database: kinds, options, counters, defaults, labels and settings");
		is(dump_statements($node, $database), $dumped->{$database},
			"$name: $database: the statements of pg_dump");
		is(draw($node, $database), $drawn->{$database}, "$name: $database: the next values");
		insert_rows($node, $database);
		pass("$name: $database: no value is stored already");
		is( $node->safe_psql(
				$database, q{
				SET enable_seqscan = off;
				SELECT count(*), bool_and(s.id IS NOT NULL) FROM sharded t
				LEFT JOIN sharded s ON s.shard = spanner.shard_id(64, t.id) AND s.id = t.id}),
			'400|t', "$name: $database: shard ids are the same, and in the index");
		is($node->safe_psql($database, q{SELECT spanner.next_value('numbers'), spanner.next_value('numbers', '2026', 'a'), spanner.next_value('tickets', 'x')}),
			'4|6|' . ($name eq 'restored' ? 1 : 1001), "$name: $database: the next number, also of series");
		like(($node->psql($database, 'DROP ROLE maker'))[2], qr/privileges for column owner_role of table spanner.allocator/,
			"$name: $database: the owner of an allocator cannot be dropped");
	}

	foreach my $database (sort keys %parts)
	{
		is(describe_extensions($node, $database), $described->{$database}, "$name: $database: extensions, and what depends on them");
		is($node->safe_psql($database, q{SELECT spanner.bit_reverse(nextval('bound'), true)}), 4, "$name: $database: the next value");
	}
	is($node->safe_psql($_, 'SELECT spanner.delete_expired()'), 1, "$name: $_: a row expires") foreach 'ddl', 'four';

	# New tables are of the kind that role and database have set.
	is( $node->safe_psql(
			'app', q{
			CREATE TABLE of_app (id bigserial);
			SELECT kind FROM spanner.sequences WHERE sequencename = 'of_app_id_seq'}),
		'bit_reversed_positive', "$name: a new table of the database's kind");
	is( $node->safe_psql(
			'other', q{
			CREATE TABLE of_maker (id bigint GENERATED BY DEFAULT AS IDENTITY);
			SELECT kind, bits FROM spanner.sequences WHERE sequencename = 'of_maker_id_seq'},
			extra_params => [ '-U', 'maker' ]),
		'striped|53', "$name: a new table of the role's kind");
	is( $node->safe_psql(
			'app', q{
			SET client_min_messages = warning;
			DROP EXTENSION spanner_keys CASCADE;
			SELECT (SELECT count(*) FROM pg_seclabel), (SELECT count(*) FROM pg_proc WHERE prosupport <> 0
				AND pronamespace = 'pg_catalog'::regnamespace AND proname IN ('nextval', 'currval', 'lastval', 'setval'))}),
		'0|0', "$name: the extension can be dropped, and labels go with it");
	return;
}

$old->init(@alike);
$old->append_conf('postgresql.conf', 'autovacuum = off');
$old->start;
$old->safe_psql('postgres', 'CREATE ROLE maker LOGIN');
$old->safe_psql('postgres', "CREATE DATABASE $_") foreach @databases;
foreach my $database (@databases)
{
	$old->safe_psql(
		$database, q{
		SET client_min_messages = warning;
		CREATE SEQUENCE plain START 5;
		CREATE TABLE plain_serial (id serial PRIMARY KEY, v integer);
		CREATE TABLE plain_identity (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v integer);
		CREATE EXTENSION spanner_keys;
		CREATE EXTENSION spanner_keys_ddl;
		CREATE EXTENSION spanner_keys_advisor;
		CREATE EXTENSION spanner_keys_splits;
		CREATE EXTENSION permuted;
		GRANT CREATE ON SCHEMA public TO maker;
		SELECT spanner.create_allocator('numbers', 'sync');
		SELECT spanner.next_value('numbers') FROM generate_series(1, 3);
		SELECT spanner.next_value('numbers', '2026', 'a') FROM generate_series(1, 5);
		SELECT spanner.create_allocator('tickets', failover_gap => 1000);
		SELECT spanner.advance_allocator('tickets', 1, 'x');
		SELECT spanner.alter_allocator('numbers', owner_role => 'maker');
		CREATE SCHEMA "Odd ""Name""";
		SELECT spanner.create_sequence('reversed', 'bit_reversed_positive',
			start_with_counter => 7, skip_range_min => 1, skip_range_max => 4611686018427387904);
		SELECT spanner.create_sequence('"Odd ""Name"""."S''1"', 'striped', stripes => 16, bits => 40);
		SELECT spanner.create_sequence('unused', 'striped');
		SELECT spanner.create_sequence('restarted', 'bit_reversed_positive');
		SELECT spanner.nextval('restarted');
		SELECT spanner.alter_sequence('restarted', restart_counter_with => 40);
		SELECT spanner.create_sequence('secret', 'permuted(key=7)', skip_range_min => 1,
			skip_range_max => 1000);
		SELECT spanner.execute_ddl('CREATE SEQUENCE by_ddl BIT_REVERSED_POSITIVE
			SKIP RANGE 1 1000 START COUNTER WITH 50');
		SELECT spanner.execute_ddl('CREATE TABLE table_by_ddl (
			id bigint GENERATED BY DEFAULT AS IDENTITY (STRIPED (stripes=4, bits=53)) PRIMARY KEY,
			v integer)');
		SELECT spanner.create_sequence('cached', 'bit_reversed_positive');
		ALTER SEQUENCE cached CACHE 20 INCREMENT BY 3;
		SET spanner.default_sequence_kind = 'bit_reversed_positive';
		CREATE TABLE big (id bigserial PRIMARY KEY, v integer);
		CREATE TABLE small (id smallserial PRIMARY KEY, v integer);
		CREATE TABLE "Odd ""Name""".always
			("Id" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v integer);
		CREATE TABLE by_default
			(id integer GENERATED BY DEFAULT AS IDENTITY (START WITH 9) PRIMARY KEY, v integer);
		CREATE TABLE parted (id bigint GENERATED BY DEFAULT AS IDENTITY, v integer) PARTITION BY LIST (v);
		CREATE TABLE part PARTITION OF parted DEFAULT;
		CREATE UNIQUE INDEX ON part (id);
		CREATE TABLE late (v integer);
		INSERT INTO late VALUES (1), (2);
		ALTER TABLE late ADD COLUMN id bigserial PRIMARY KEY;
		CREATE TABLE sharded (id bigserial PRIMARY KEY, v integer,
			shard integer GENERATED ALWAYS AS (spanner.shard_id(64, id)) STORED);
		CREATE INDEX ON sharded (shard, id);
		CREATE UNLOGGED TABLE unlogged (id bigserial PRIMARY KEY, v integer);
		CREATE DOMAIN drawn AS bigint DEFAULT nextval('reversed');
		CREATE TABLE with_domain (id drawn PRIMARY KEY, v integer);
		-- what pg_dump puts before the functions of the extension
		CREATE FUNCTION draw_early(id bigint DEFAULT nextval('secret')) RETURNS bigint RETURN id;
		CREATE FUNCTION draw_standard() RETURNS bigint BEGIN ATOMIC SELECT nextval('cached'); END;
		RESET spanner.default_sequence_kind;
		CREATE TABLE converted (id serial PRIMARY KEY, v integer);
		INSERT INTO converted (v) SELECT generate_series(1, 10);
		SELECT spanner.convert_column('converted', 'id', 'striped');
		CREATE TABLE converted_identity
			(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v integer);
		INSERT INTO converted_identity (v) SELECT generate_series(1, 10);
		SELECT spanner.convert_column('converted_identity', 'id', 'bit_reversed_positive');});
	insert_rows($old, $database);
	draw($old, $database);
}
foreach my $database (sort keys %parts)
{
	$old->safe_psql('postgres', "CREATE DATABASE $database");
	$old->safe_psql($database, q{
		CREATE EXTENSION spanner_keys;
		SELECT spanner.create_sequence('bound', 'bit_reversed_positive');
		SELECT nextval('bound') FROM generate_series(1, 3)});
	$old->safe_psql($database, "CREATE EXTENSION spanner_keys_$_; $make{$_}") foreach @{ $parts{$database} };
}
$old->safe_psql(
	'postgres', q{
	ALTER DATABASE app SET spanner.default_sequence_kind = 'bit_reversed_positive';
	ALTER ROLE maker SET spanner.default_sequence_kind = 'striped(bits=53)';
	ALTER ROLE CURRENT_USER IN DATABASE other SET spanner.default_sequence_kind = 'striped(stripes=4)';
	ALTER DATABASE app SET session_preload_libraries = 'spanner_keys'});

my $upgraded = PostgreSQL::Test::Cluster->new('upgraded');
$upgraded->init(@alike);
remove_column_versions($upgraded) if @old_release;

# All ways start from here.
my %described = map { $_ => describe($old, $_) } @databases;
$described{$_} = describe_extensions($old, $_) foreach keys %parts;
my %dumped = map { $_ => dump_statements($old, $_) } @databases;
command_ok([ 'pg_dumpall', '-d', $old->connstr('postgres'), '-f', "$dir/all.sql" ], 'pg_dumpall');
$old->stop;

# What the old one would have given, said by a copy: pg_upgrade may use it up.
$old->backup_fs_cold('copy');
my $going_on = PostgreSQL::Test::Cluster->new('going_on', @old_release);
$going_on->init_from_backup($old, 'copy');
$going_on->start;
my %drawn = map { $_ => draw($going_on, $_) } @databases;
$going_on->stop;

my $bindir = $upgraded->config_data('--bindir');

SKIP:
{
	skip "pg_upgrade is not in $bindir", 1 unless -x "$bindir/pg_upgrade";
	chdir $dir or die "chdir: $!";
	my $succeeds = command_ok(
		[
			'pg_upgrade', '--no-sync', @mode, '-d', $old->data_dir, '-D', $upgraded->data_dir,
			'-b', $old->config_data('--bindir'), '-B', $bindir, '-s', $upgraded->host,
			'-p', $old->port, '-P', $upgraded->port
		],
		'pg_upgrade');
	show_pg_upgrade_errors($upgraded) unless $succeeds;
	$upgraded->start;
	check_cluster($upgraded, \%described, \%dumped, \%drawn);
	$upgraded->stop;
}

my $restored = PostgreSQL::Test::Cluster->new('restored');
my ($out, $err) = ('', '');

$restored->init(@alike);
$restored->start;
run_log([ 'psql', '-X', '-q', '-d', $restored->connstr('postgres'), '-f', "$dir/all.sql" ],
	'>', \$out, '2>', \$err);
$err =~ s/^.*ERROR:  role ".*" already exists\n//m;
is($err, '', 'restored: nothing but the first role is there already');
check_cluster($restored, \%described, \%dumped, \%drawn);
$restored->stop;

done_testing();
