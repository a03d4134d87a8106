# Small tables that every server has a copy of: made, followed, checked, changed
# on all servers by one statement, given up.  The servers are databases of one.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('copy_table');

$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\nwal_retrieve_retry_interval = 100ms");
$node->start;
foreach my $name ('server2', 'server3')
{
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql($name, 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits');
}
my $user = $node->safe_psql('postgres', 'SELECT current_user');
$node->safe_psql(
	'postgres', qq{
	CREATE EXTENSION spanner_keys;
	CREATE EXTENSION spanner_keys_splits;
	CREATE EXTENSION postgres_fdw;
	CREATE ROLE clerk LOGIN;
	CREATE TABLE country (code text PRIMARY KEY, name text NOT NULL CHECK (name <> ''), tax numeric);
	CREATE INDEX ON country (name);
	ALTER TABLE country ALTER COLUMN name SET STATISTICS 50;
	INSERT INTO country SELECT 'c' || i, 'country ' || i FROM generate_series(1, 100) i;
	GRANT INSERT, SELECT, REFERENCES ON country TO clerk;
	GRANT UPDATE (tax), SELECT (name) ON country TO clerk;});
foreach my $name ('server2', 'server3')
{
	$node->safe_psql('postgres', qq{
		CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '@{[ $node->host ]}', port '@{[ $node->port ]}', dbname '$name');
		CREATE USER MAPPING FOR CURRENT_USER SERVER $name OPTIONS (user '$user');});
}


sub value
{
	my ($sql, $database) = @_;

	return $node->safe_psql($database || 'postgres', $sql);
}

# An error without its context.
sub error_of
{
	my (undef, undef, $err) = $node->psql('postgres', $_[0]);

	return $err =~ s/CONTEXT:.*//sr;
}

sub perform
{
	my ($out, $err);

	IPC::Run::run([ 'spanner_splits', '--yes', '-d', $node->connstr('postgres'), @_ ],
		'<', \'', '>', \$out, '2>', \$err);
	return ($? >> 8, $err, $out);
}

# What the program says when it refuses something.
sub refused
{
	my ($rc, $err) = perform(@_);

	is($rc, 1, "refused: @_");
	return $err;
}

# The copies have what is here.
sub same_rows
{
	my ($name) = @_;
	my $query = q{SELECT md5(string_agg(c::text, ',' ORDER BY code)) FROM country c};
	my $here = value($query);

	foreach my $database ('server2', 'server3')
	{
		ok($node->poll_query_until($database, "SELECT ($query) = '$here'"), "$name: $database");
	}
	return;
}

sub findings
{
	return value(q{SELECT string_agg(concat_ws(' ', server, finding), ', ' ORDER BY server, finding) FROM spanner.check_splits('country')});
}

# What cannot be copied
value(q{CREATE TABLE keyless (a int); CREATE TABLE parted (a int PRIMARY KEY) PARTITION BY RANGE (a);
	CREATE TABLE sharded (shard int GENERATED ALWAYS AS (spanner.shard_id(4, a)) STORED, a int, PRIMARY KEY (shard, a))});
my @to = ('--servers', 'server2');
like(refused('copy', 'keyless', @to), qr/table "keyless" has no replica identity\n.*hint: Add a primary key\./, 'no key');
like(refused('copy', 'parted', @to), qr/"parted" is not a plain table/, 'a partitioned table');
like(refused('copy', 'sharded', @to), qr/key of table "sharded" has a generated column/, 'a generated shard');
like(refused('copy', 'country'), qr/no server has splits; name servers with --servers/, 'no servers');
like(refused('copy', 'country', '--servers', 'nowhere'), qr/server "nowhere" does not exist/, 'an unknown server');
like(refused('abandon', 'country'), qr/no move or copy of this table has begun/, 'nothing to give up');
value('CREATE TABLE hidden (a int PRIMARY KEY); ALTER TABLE hidden ENABLE ROW LEVEL SECURITY');
like(refused('copy', 'hidden', @to), qr/table "hidden" has row-level security\n.*detail: Who may read a copy/, 'policies');
value('DROP EXTENSION spanner_keys_splits', 'server3');
like(refused('copy', 'country', '--servers', 'server3'), qr/another version of extension spanner_keys_splits\n.*detail: It is none there/, 'versions are compared first');
value('CREATE EXTENSION spanner_keys_splits', 'server3');

# Splits say which servers get copies.
value(q{SET spanner.default_sequence_kind = 'bit_reversed_positive';
	CREATE TABLE orders (id bigserial, country text NOT NULL, ref text) PARTITION BY RANGE (id)});
my ($rc, $err) = perform('create', 'orders', '--splits', '4', '--servers', 'here,server2,server3');
is($rc, 0, 'splits on three servers') or diag($err);
($rc, $err) = perform('copy', 'country');
is($rc, 0, 'a table is copied') or diag($err);
same_rows('copied');
is(findings(), '', 'nothing is wrong');
value(q{INSERT INTO country VALUES ('new', 'new'); UPDATE country SET tax = 7 WHERE code = 'c7'; DELETE FROM country WHERE code = 'c8'});
same_rows('changes follow');
is(value(q{SELECT has_table_privilege('clerk', 'country', 'SELECT'), has_table_privilege('clerk', 'country', 'INSERT'), has_column_privilege('clerk', 'country', 'tax', 'UPDATE')}, 'server2'),
	't|f|f', 'a copy can be read only');
is(value(q{SELECT attstattarget FROM pg_attribute WHERE attrelid = 'country'::regclass AND attname = 'name'}, 'server3'), 50, 'statistics targets follow');
($rc, $err) = perform('copy', 'country');
is($rc, 0, 'again') or diag($err);
same_rows('again');

# A new slot would have lost what changed before it: in this order, so that nothing is missed.
my $slot = value(q{SELECT spanner_internal.copy_name('country', 'server3')});
value("ALTER SUBSCRIPTION $slot DISABLE", 'server3');
ok($node->poll_query_until('postgres', "SELECT NOT active FROM pg_replication_slots WHERE slot_name = '$slot'"), 'nobody reads');
value("SELECT pg_drop_replication_slot('$slot')");
($rc, $err) = perform('copy', 'country');
is($rc, 0, 'a slot that is gone: the copy begins anew') or diag($err);
same_rows('made again');

# Slots are the server's, not the database's.
isnt(value(q{SELECT spanner_internal.copy_name('pg_class', 'x')}, 'server2'),
	value(q{SELECT spanner_internal.copy_name('pg_class', 'x')}), 'tables of one name in two databases');

# Others change catalogs while a slot is made.
($rc, $err) = perform('abandon', 'country', '--servers', 'server3');
is($rc, 0, 'a copy is given up') or diag($err);
my $open = $node->background_psql('postgres');
$open->query_safe('BEGIN; SELECT pg_current_xact_id()');
my ($copy_out, $copy_err) = ('', '');
my $copy = IPC::Run::start([ 'spanner_splits', '--yes', '-d', $node->connstr('postgres'), 'copy', 'country' ], '<', \'', '>', \$copy_out, '2>', \$copy_err);
ok($node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_stat_activity a JOIN pg_locks l ON l.pid = a.pid AND NOT l.granted
	WHERE a.query ~ 'pg_create_logical_replication_slot')}), 'a slot waits for a transaction');
value('CREATE TABLE meanwhile (a int)');
$open->query_safe('COMMIT');
$open->quit;
ok($copy->finish, 'a slot is made while catalogs change') or diag($copy_err);
same_rows('made meanwhile');

# A foreign key from each split to the copy beside it
($rc, $err) = perform('--splits-only', 'run', 'orders', 'ALTER TABLE {} ADD FOREIGN KEY (country) REFERENCES country');
is($rc, 0, 'foreign keys of splits') or diag($err);
is(join(' ', map { value(q{SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND confrelid = 'country'::regclass}, $_) } 'postgres', 'server2', 'server3'),
	'2 1 1', 'each split has one');
is(value(q{INSERT INTO orders (country) SELECT 'new' FROM generate_series(1, 40); SELECT count(DISTINCT tableoid) FROM orders}), 4, 'rows go everywhere');
like(error_of(q{INSERT INTO orders (country) SELECT 'none' FROM generate_series(1, 40)}), qr/violates foreign key constraint/, 'a country that is none');

# DDL of a copied table: the copies first, as replication needs it
($rc, $err) = perform('run', 'country', q{ALTER TABLE {} ADD COLUMN region text DEFAULT 'x'});
is($rc, 0, 'a column for all copies') or diag($err);
value(q{UPDATE country SET region = 'y' WHERE code = 'c9'});
same_rows('with the column');
($rc, $err) = perform('--splits-only', 'run', 'country', 'ALTER TABLE {} DROP CONSTRAINT country_name_check');
is($rc, 1, 'servers that differ afterwards') or diag($err);
like($err, qr/but this is wrong now:\nserver2: check missing: country_name_check\nserver3: check/, 'are named');
value(q{ALTER TABLE country ADD CONSTRAINT country_name_check CHECK (name <> '')}, $_) foreach 'server2', 'server3';

# What is wrong is found.
value('ALTER SUBSCRIPTION ' . value('SELECT subname FROM pg_subscription s JOIN pg_database d ON d.oid = subdbid WHERE datname = current_database()', 'server2') . ' DISABLE', 'server2');
ok($node->poll_query_until('postgres', q{SELECT detail ~ '^the subscription is disabled; nothing reads the replication slot here' FROM spanner.check_splits('country')}), 'a subscription that is disabled');
is(findings(), 'server2 copy not up to date', 'only that one');
value('ALTER SUBSCRIPTION ' . value('SELECT subname FROM pg_subscription WHERE NOT subenabled', 'server2') . ' ENABLE', 'server2');
ok($node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM spanner.check_splits('country')}), 'enabled again');
value('ALTER TABLE country DROP COLUMN tax; ALTER TABLE country RENAME TO away', 'server3');
is(findings(), 'server3 copy missing', 'a table that is gone');
value('ALTER TABLE away RENAME TO country', 'server3');
is(findings(), 'server3 column missing', 'a column that is gone');
value('ALTER TABLE country ADD COLUMN tax numeric', 'server3');

# One copy is given up; splits are still there.
($rc, $err) = perform('--tries=1', 'abandon', 'country', '--servers', 'server3');
is($rc, 1, 'not while a foreign key refers to it');
like($err, qr/objects on server "server3" depend on the copy of "country"\n.*detail: constraint orders_p2_country_fkey on table public.orders_p2 .*\n.*hint: .*DROP CONSTRAINT IF EXISTS/, 'which is named');
($rc, $err) = perform('--splits-only', 'run', 'orders', 'ALTER TABLE {} DROP CONSTRAINT {}_country_fkey');
is($rc, 1, 'a constraint is no table') or diag($err);
perform('--splits-only', 'run', 'orders', 'ALTER TABLE {} DROP CONSTRAINT IF EXISTS orders_p1_country_fkey');
is((perform('abandon', 'country'))[0], 1, 'nor while one of its copies is needed');
is(findings(), '', 'no copy has ended');
value(q{UPDATE country SET region = 'z' WHERE code = 'c9'});
ok($node->poll_query_until($_, q{SELECT region = 'z' FROM country WHERE code = 'c9'}), "also on $_") foreach 'server2', 'server3';
perform('--splits-only', 'run', 'orders', 'ALTER TABLE {} DROP CONSTRAINT IF EXISTS orders_p2_country_fkey');
($rc, $err) = perform('abandon', 'country', '--servers', 'server3');
is($rc, 0, 'a copy is given up') or diag($err);
is(findings(), 'server3 copy missing', 'which is told, as there are splits');
is(value(q{SELECT to_regclass('country') IS NULL}, 'server3'), 't', 'the table is gone there');
is(value(q{SELECT count(*) FROM pg_replication_slots}), 1, 'and the slot');

# Killed between the end of the table and of the slot
value(q{SELECT spanner_internal.end_subscription(move), spanner_internal.drop_recorded(move) FROM spanner_internal.own_record}, 'server2');
ok($node->poll_query_until('postgres', 'SELECT NOT active FROM pg_replication_slots'), 'nobody reads the slot');
like((perform('list'))[2], qr/^public\.country\there -> server2\tnot read\tpublic\.country$/m, 'which is listed');
($rc, $err) = perform('abandon', 'country');
is($rc, 0, 'the others too') or diag($err);
is(value(q{SELECT count(*) FROM pg_publication}) + value(q{SELECT count(*) FROM pg_replication_slots}) + value(q{SELECT count(*) FROM pg_subscription}), 0, 'nothing is left');
is(value(q{SELECT count(*) > 90 FROM country}), 't', 'the table is still here');
like(error_of(q{SELECT * FROM spanner.check_splits('country')}), qr/table "country" has neither partitions nor copies/, 'which has no copies');

# A table that is dropped leaves its copies, and their slots keep the log.
value('CREATE TABLE short (a int PRIMARY KEY); INSERT INTO short VALUES (1)');
($rc, $err) = perform('copy', 'short', '--servers', 'server2,server3');
is($rc, 0, 'two copies') or diag($err);
value('DROP TABLE short');
my $listed = (perform('list'))[2];
like($listed, qr/^public\.short\there -> server2\ttable is gone\tspanner_copy_\w+\npublic\.short\there -> server3\ttable is gone\t/m, 'are listed');
($rc, $err) = perform('abandon', 'short', '--servers', 'server3');
is($rc, 0, 'one is ended by the name of the table') or diag($err);
($rc, $err) = perform('abandon', $listed =~ /(spanner_copy_\w+)/);
is($rc, 0, 'the other one by its own') or diag($err);
is(value(q{SELECT (SELECT count(*) FROM pg_publication) + (SELECT count(*) FROM pg_replication_slots) + (SELECT count(*) FROM pg_subscription)
	+ (SELECT count(*) FROM spanner.split_record)}), 0, 'nothing is left here');
is(value(q{SELECT to_regclass('short') IS NULL}, $_), 't', "nor on $_") foreach 'server2', 'server3';

# The owner of a table gets no rights of who subscribes.
value('GRANT CREATE ON SCHEMA public TO clerk', $_) foreach 'postgres', 'server2';
value('GRANT USAGE ON FOREIGN SERVER server2 TO clerk');
value(q{CREATE TABLE currency (code text PRIMARY KEY, rate numeric); INSERT INTO currency VALUES ('a', 1); ALTER TABLE currency OWNER TO clerk});
($rc, $err) = perform('copy', 'currency', '--servers', 'server2');
is($rc, 0, 'a table of somebody else') or diag($err);
is($node->safe_psql('server2', 'SELECT rate FROM currency', extra_params => [ '-U', 'clerk' ]), '1', 'who may read the copy');
$node->psql('server2', $_, extra_params => [ '-U', 'clerk' ]) foreach
	'CREATE TABLE ran_as (role text)',
	q{CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.ran_as VALUES (current_user); RETURN NEW; END'},
	'CREATE TRIGGER spy AFTER UPDATE ON currency FOR EACH ROW EXECUTE FUNCTION spy()', 'ALTER TABLE currency ENABLE ALWAYS TRIGGER spy';
value('UPDATE currency SET rate = 2');
ok($node->poll_query_until('server2', 'SELECT rate = 2 FROM currency'), 'a change comes');
is(value(qq{SELECT count(*) FROM ran_as WHERE role <> 'clerk'}, 'server2'), 0, 'and runs nothing of the owner as another role');
my $reader = $node->background_psql('server2');
$reader->query_safe('BEGIN; TABLE currency');
($rc, $err) = perform('abandon', 'currency');
is($rc, 3, 'it is not given up while somebody reads it');
like($err, qr/error: server "server2": canceling statement due to lock timeout/, 'which says so');
$reader->quit;
($rc, $err) = perform('abandon', 'currency');
is($rc, 0, 'it is given up') or diag($err);

# A table of that name which is no copy stays.
value(q{CREATE TABLE country (code text PRIMARY KEY, name text)}, 'server2');
($rc, $err) = perform('--tries=1', 'copy', 'country', '--servers', 'server2');
is($rc, 1, 'what is no copy is not taken for one');
like($err, qr/relation "public\.country" already exists, and is another one/, 'which says so');
($rc, $err) = perform('abandon', 'country');
is(value(q{SELECT to_regclass('country') IS NOT NULL}, 'server2'), 't', 'nor is it dropped');

# What is gone cannot be looked at afterwards.
($rc, $err) = perform('run', 'orders', 'DROP TABLE {} CASCADE');
is($rc, 1, 'a statement that drops the table') or diag($err);
like($err, qr/has been run everywhere, but the table cannot be checked now.*relation with OID \d+ does not exist/s, 'which says so');

$node->stop;
done_testing();
