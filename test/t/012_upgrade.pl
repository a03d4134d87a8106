# pg_upgrade keeps kinds, options, counters and defaults; so does pg_dumpall.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $query = q{
	SELECT schemaname, sequencename, kind, bits, skip_range_min, skip_range_max,
	       start_counter, counter FROM spanner.sequences ORDER BY 1, 2;
	SELECT attrelid::regclass, attname, pg_get_expr(adbin, adrelid)
	  FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
	 WHERE attrelid >= 16384 ORDER BY 1, 2;
	SELECT setconfig FROM pg_db_role_setting ORDER BY 1};

# What every cluster must give next
my $next = q{
	INSERT INTO t (v) VALUES (1) RETURNING id, i;
	SELECT spanner.nextval('s'), nextval('plain')};

my $old = PostgreSQL::Test::Cluster->new('old');
$old->init;
$old->start;
$old->safe_psql('postgres', 'CREATE DATABASE shop');
$old->safe_psql('shop', q{
	SET client_min_messages = error;
	CREATE EXTENSION spanner_keys;
	CREATE SEQUENCE plain;
	SELECT nextval('plain');
	SELECT spanner.create_sequence('s', 'striped', stripes => 16, bits => 53,
		skip_range_min => 1, skip_range_max => 1000);
	SELECT spanner.nextval('s') FROM generate_series(1, 100);
	SET spanner.default_sequence_kind = 'bit_reversed_positive';
	CREATE TABLE t (id bigserial PRIMARY KEY, i integer GENERATED ALWAYS AS IDENTITY, v int);
	INSERT INTO t (v) SELECT generate_series(1, 50);
	CREATE ROLE app;
	ALTER ROLE app SET spanner.default_sequence_kind = 'striped(stripes=16)';
	ALTER DATABASE shop SET spanner.default_sequence_kind = 'bit_reversed_positive'});
my $before = $old->safe_psql('shop', $query);

# The whole cluster as a script
my $script = "$PostgreSQL::Test::Utils::tmp_check/all.sql";
$old->command_ok([ 'pg_dumpall', '-f', $script ], 'pg_dumpall');
my $restored = PostgreSQL::Test::Cluster->new('restored');
$restored->init;
$restored->start;
$restored->run_log([ 'psql', '-X', '-q', '-f', $script, $restored->connstr('postgres') ]);
is($restored->safe_psql('shop', $query), $before, 'pg_dumpall: nothing has changed');
my $expected = $restored->safe_psql('shop', $next);
$restored->stop;

# The files of the cluster
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init;
$old->stop;
my $bindir = $old->config_data('--bindir');
my $work = PostgreSQL::Test::Utils::tempdir;
{
	chdir $work or die "could not enter $work: $!";
	command_ok(
		[
			'pg_upgrade', '--no-sync',
			'-d', $old->data_dir, '-D', $new->data_dir,
			'-b', $bindir, '-B', $bindir,
			'-s', $new->host, '-p', $old->port, '-P', $new->port
		],
		'pg_upgrade');
	chdir '/';
}
$new->start;
is($new->safe_psql('shop', $query), $before, 'pg_upgrade: nothing has changed');
is($new->safe_psql('shop', $next), $expected, 'pg_upgrade: the next values are those of a restored dump');
is($new->safe_psql('shop', 'SELECT count(*), count(DISTINCT id), count(DISTINCT i) FROM t'),
	'51|51|51', 'pg_upgrade: no value came twice');
is($new->safe_psql('shop', 'CREATE TABLE n (id bigserial); INSERT INTO n DEFAULT VALUES RETURNING id'),
	'4611686018427387904', 'pg_upgrade: the setting of the database is in force');
$new->stop;
done_testing();
