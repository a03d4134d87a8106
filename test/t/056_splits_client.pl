# spanner_splits against servers, tables and names that are not what they should
# be: whose password goes where, how servers sort, who owns what.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('client');

$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\nwal_retrieve_retry_interval = 100ms\nmax_connections = 40");
$node->start;
my $user = $node->safe_psql('postgres', 'SELECT current_user');
my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', "CREATE DATABASE far");
my $locale = $node->safe_psql('postgres', q{SELECT CASE WHEN datcollate = ANY ('{C,POSIX}') THEN 'C.UTF-8' ELSE 'C' END FROM pg_database WHERE datname = 'postgres'});
$node->safe_psql('postgres', "CREATE DATABASE other TEMPLATE template0 LC_COLLATE '$locale' LC_CTYPE '$locale'");

sub value
{
	my ($sql, $database) = @_;

	return $node->safe_psql($database || 'postgres', $sql);
}

sub splits
{
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'spanner_splits', '-y', '--tries=2', '-d', $node->connstr('postgres'), @_ ], '<', \'', '>', \$out, '2>', \$err);
	my $status = $? >> 8;

	note "spanner_splits @_: $status\n$err";
	return ($status, $err);
}

value('CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits', $_) foreach 'postgres', 'far', 'other';
value('CREATE EXTENSION postgres_fdw');
foreach my $name ('far', 'other')
{
	value(qq{CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname '$name');
		CREATE USER MAPPING FOR CURRENT_USER SERVER $name OPTIONS (user '$user')});
}

# Names and values that would end a literal, a field or a line
my $table = qq{a"b'c \$\$ %s \x1f};
my $quoted = '"' . $table =~ s/"/""/gr . '"';
value(qq{CREATE SCHEMA "S ""x"; CREATE TABLE "S ""x".$quoted ("k %I" text COLLATE "C" PRIMARY KEY, "v'" text DEFAULT 'x');
	INSERT INTO "S ""x".$quoted SELECT E'a''\\\\\\n%s' || i, 'v' FROM generate_series(1, 50) i;
	INSERT INTO "S ""x".$quoted VALUES ('zz', 'z');
	SELECT spanner.adopt_table('"S ""x".' || quote_ident('@{[ $table =~ s/'/''/gr ]}'), dry_run => false)});
my $split = '"S ""x".' . '"' . ($table . '_p0') =~ s/"/""/gr . '"';
my ($status, $err) = splits('move', $split, '--to', 'far', '--at', "b'; \$\$ %s \n");
is($status, 0, 'hostile names and values') or diag($err);
is(value(qq{SELECT count(*) FROM "S ""x".$quoted}), 51, 'rows are there');
is(value(qq{SELECT count(*) FROM spanner.check_splits('"S ""x".' || quote_ident('@{[ $table =~ s/'/''/gr ]}'))}), 0, 'nothing is wrong');

# A password of this server goes to no other one.
value(q{CREATE TABLE t (id bigint PRIMARY KEY, v text); INSERT INTO t SELECT i FROM generate_series(1, 10) i; SELECT spanner.adopt_table('t', dry_run => false)});
value(qq{ALTER ROLE "$user" PASSWORD 'secret'});
my $hba = slurp_file($node->data_dir . '/pg_hba.conf');
unlink $node->data_dir . '/pg_hba.conf';
$node->append_conf('pg_hba.conf', "local far all password\nhost far all 127.0.0.1/32 password\n$hba");
$node->reload;
{
	local $ENV{PGPASSWORD} = 'secret';
	($status, $err) = splits('move', 't_p0', '--to', 'far');
	is($status, 3, 'a server that wants a password');
	like($err, qr/server "far": .*no password supplied/, 'does not get that of the environment');
	my $passfile = PostgreSQL::Test::Utils::tempdir() . '/pass';
	append_to_file($passfile, '*:*:*:*:secret');
	chmod 0600, $passfile;
	local $ENV{PGPASSFILE} = $passfile;
	($status, $err) = splits('move', 't_p0', '--to', 'far');
	like($err, qr/server "far": .*no password supplied/, 'nor of the file');
}
value(qq{ALTER USER MAPPING FOR CURRENT_USER SERVER far OPTIONS (ADD password 'secret')});
($status, $err) = splits('move', 't_p0', '--to', 'far');
is($status, 0, 'but that of the user mapping') or diag($err);
($status, $err) = splits('move', 't_p0', '--to', 'here');
is($status, 0, 'which a subscription here gets, too') or diag($err);

unlink $node->data_dir . '/pg_hba.conf';
$node->append_conf('pg_hba.conf', $hba);
$node->reload;

# Servers that sort in another way
{
	value(q{CREATE TABLE word (w text PRIMARY KEY); SELECT spanner.adopt_table('word', dry_run => false)});
	($status, $err) = splits('move', 'word_p0', '--to', 'other');
	is($status, 1, 'a database of another locale');
	like($err, qr/server "other" sorts the key of table "word_p0" in another way\n.*detail: .*there, .* here\.\n.*hint: /, 'sorts in another way');
}
value(q{CREATE TYPE mood AS ENUM ('a', 'b')});
value(q{CREATE TYPE mood AS ENUM ('b', 'a')}, 'far');
value(q{CREATE TABLE moods (m mood PRIMARY KEY); SELECT spanner.adopt_table('moods', dry_run => false)});
($status, $err) = splits('move', 'moods_p0', '--to', 'far');
like($err, qr/sorts the key of table "moods_p0" in another way\n.*'b' 'a' there, 'a' 'b' here/, 'labels in another order');

# What is said at the beginning
like((splits('move', 't_p0'))[1], qr/error: option --to is missing/, 'no target');
like((splits('create', 't'))[1], qr/error: option --servers is missing/, 'no servers');
value('ALTER TABLE t_p0 ADD CONSTRAINT later CHECK (id > 5) NOT VALID');
like((splits('move', 't_p0', '--to', 'far'))[1], qr/error: constraint "later" of table "t_p0" is not valid: validate or drop it first/, 'rows that a constraint would refuse there');
value('ALTER TABLE t_p0 DROP CONSTRAINT later; SET allow_system_table_mods = on;
	CREATE TABLE pg_catalog.pg_dist_partition AS SELECT oid::regclass AS logicalrelid FROM pg_class WHERE relname = \'t_p0\'');
like((splits('move', 't_p0', '--to', 'far'))[1], qr/error: table "t_p0" is distributed by Citus, which moves its shards itself/, 'what Citus moves');
value('SET allow_system_table_mods = on; DROP TABLE pg_catalog.pg_dist_partition');
is(value('SELECT count(*) FROM spanner.split_record'), 0, 'what cannot be done is not written down');

# Owners
value('CREATE ROLE mallory LOGIN; GRANT USAGE ON FOREIGN SERVER far TO mallory');
value('GRANT CREATE ON SCHEMA public TO mallory', $_) foreach 'postgres', 'far';
value(q{CREATE TABLE m (id bigint PRIMARY KEY); INSERT INTO m VALUES (1); ALTER TABLE m OWNER TO mallory; SELECT spanner.adopt_table('m', dry_run => false)});
value(qq{CREATE USER MAPPING FOR mallory SERVER far OPTIONS (user 'mallory', password 'x')});
($status, $err) = splits('move', 'm_p0', '--to', 'far');
if (value('SHOW server_version_num') < 160000)
{
	like($err, qr/table "m_p0" would run code of role "mallory" with your rights/, 'until release 16 the owner has to perform the move');
	is((splits('abandon', 'm_p0'))[0], 1, 'and nothing has begun');
}
else
{
	is($status, 0, 'the table of another role') or diag($err);
	is(value(q{SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = 'm_p0'}, 'far'), 'mallory', 'is his there, too');
}
value(q{GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO mallory});
$node->safe_psql('postgres', qq{CREATE SERVER his FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'far')}, extra_params => [ '-U', 'mallory' ]);
($status, $err) = splits('move', 'm_p0', '--to', 'his');
isnt($status, 0, 'a server of another role');
like($err, qr/server "his" belongs to neither a superuser nor role|a move of "m_p0"|is on that server/, 'is not asked');

value(q{CREATE TABLE m2 AS SELECT 1::bigint AS id; ALTER TABLE m2 ADD PRIMARY KEY (id), OWNER TO mallory; SELECT spanner.adopt_table('m2', dry_run => false);
	GRANT CREATE ON DATABASE postgres TO mallory});
($status, $err) = splits('-U', 'mallory', 'move', 'm2_p0', '--to', 'far');
is($status, 1, 'a role that may not replicate');
like($err, qr/this server: a replication slot needs the attribute REPLICATION\n.*hint: Run ALTER ROLE/, 'is refused at the beginning');

# What depends on the table that is left
value(q{CREATE VIEW reads AS SELECT * FROM t_p0});
($status, $err) = splits('move', 't_p0', '--to', 'far');
is($status, 0, 'a view of the partition') or diag($err);
like($err, qr/warning: the table that "t_p0" has left stays .*\n.*detail: view public.reads depends on table /, 'keeps the table that was left');
is(value('SELECT count(*) FROM t'), 10, 'rows are there once');

$node->stop;
done_testing();
