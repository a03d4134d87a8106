# Allocators and the rows that they have numbered are restored from dumps of
# every sort, also where the roles of the dump are not there, and where
# migrations have made the allocators before: no number comes twice, no counter
# is lost, and rows are left as they were.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $old = PostgreSQL::Test::Cluster->new('old');
my $new = PostgreSQL::Test::Cluster->new('new');

foreach my $node ($old, $new)
{
	$node->init;
	$node->append_conf('postgresql.conf', "autovacuum = off\nspanner_keys.allocator_timeout = 3min\n");
	$node->start;
}

my $superuser = $old->safe_psql('postgres', 'SELECT current_user');

# A migration, whose allocators have other ids than those of the dump
my $tables = q{
	CREATE SCHEMA app;
	CREATE TABLE app.invoice (id int PRIMARY KEY, number bigint UNIQUE);
	CREATE TABLE app.slip (id int PRIMARY KEY, number bigint UNIQUE DEFAULT spanner.next_value('slip'));
	CREATE TABLE app.receipt (id int PRIMARY KEY, number bigint UNIQUE DEFAULT spanner.next_value('receipt'));};
my $trigger = q{
	CREATE CONSTRAINT TRIGGER number AFTER INSERT ON app.invoice DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('invoice', 'number')};

$old->safe_psql('postgres', q{
	CREATE ROLE keeper LOGIN;
	CREATE ROLE clerk;
	CREATE DATABASE source TEMPLATE template0 OWNER keeper;});
$old->safe_psql('source', qq{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('invoice', 'on_commit'), spanner.create_allocator('slip', 'sync'),
		spanner.create_allocator('receipt', failover_gap => 7), spanner.create_allocator('used up', max_value => 10);
	SELECT spanner.grant_allocator('receipt', 'clerk');
	SELECT count(spanner.next_value('used up')) FROM generate_series(1, 10);
	SELECT count(spanner.next_value('slip', '2026', 'b')) FROM generate_series(1, 3);
	SELECT spanner.next_value('slip', '2027');
	$tables;
	INSERT INTO app.invoice VALUES (-1, NULL), (-2, 1000);
	$trigger;
	INSERT INTO app.invoice SELECT generate_series(1, 30);
	INSERT INTO app.slip SELECT generate_series(1, 20);
	INSERT INTO app.receipt SELECT generate_series(1, 10);
	DELETE FROM app.invoice WHERE id > 20;},
	extra_params => [ '-U', 'keeper' ]);

my $rows = q{
	SELECT 'invoice', id, number FROM app.invoice UNION ALL SELECT 'slip', * FROM app.slip UNION ALL SELECT 'receipt', * FROM app.receipt
	ORDER BY 1, 2};
my $counters = q{SELECT name, series, next_value FROM spanner.allocator ORDER BY 1, 2};
my $options = q{SELECT name, series, mode, min_value, max_value, batch_size, max_batch_size, failover_gap, owner_role, usage_roles
	FROM spanner.allocator ORDER BY name, series};
my $triggers = q{SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'spanner.allocator'::regclass ORDER BY 1};
my %source = map { $_ => $old->safe_psql('source', $_) } $rows, $counters, $options, $triggers;

like($source{$rows}, qr/^invoice\|-1\|$/m, 'a row without a number');

sub dump_to
{
	my ($file, @options) = @_;

	command_ok([ 'pg_dump', '-d', $old->connstr('source'), '-f', "$dir/$file", @options ], "pg_dump @options");
	return "$dir/$file";
}

# Restore, and return what it says: only what is expected
my $left_out = 0;

sub restore
{
	my ($node, $database, $role, $file) = @_;
	my @command = $file =~ /\.sql$/ ? ('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', "$dir/out", '-f', $file) :
		('pg_restore', '-e', -d $file ? '-j2' : (), $file);
	my $result = run_log([ @command, '-U', $role, '-d', $node->connstr($database) ], '>', \my $out, '2>', \my $err);

	ok($result, "$database: restored");
	# only the owner of the extension may grant that, and the rows do it
	# where the trigger is there before the rows, it counts those without a number
	$left_out += $err =~ s/^.*WARNING:  1 row was left without a number, since "check_function_bodies" is off\nDETAIL: .*\nHINT: .*\n//mg;
	return $err =~ s/^.*WARNING:  no privileges were granted for column "owner_role" of relation "allocator"\n(?:Command was: .*\n)?//mgr;
}

sub check_rows
{
	my ($node, $database) = @_;

	is($node->safe_psql($database, $rows), $source{$rows}, "$database: rows as they were");
	is($node->safe_psql($database, $counters), $source{$counters}, "$database: counters");
	is( $node->safe_psql($database, q{
			INSERT INTO app.invoice VALUES (500), (501);
			INSERT INTO app.slip SELECT i FROM generate_series(500, 501) i;
			INSERT INTO app.receipt SELECT i FROM generate_series(500, 501) i;
			SELECT number, number - (SELECT max(number) FROM app.invoice o WHERE o.id < 500 AND o.number < 1000)
			FROM app.invoice WHERE id >= 500 ORDER BY id;
			SELECT number FROM app.slip WHERE id >= 500 ORDER BY id;
			SELECT min(number) > 10, count(*) FROM app.receipt WHERE id >= 500;
			SELECT spanner.next_value('slip', '2026', 'b'), spanner.next_value('slip', '2027')}),
		"31|11\n32|12\n21\n22\nt|2\n4|2", "$database: numbers go on");
	like(($node->psql($database, q{SELECT spanner.next_value('used up')}))[2], qr/reached maximum value/, "$database: one stays used up");
	return;
}

sub create_database
{
	my ($node, $database, $owner) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0 OWNER $owner");
	return;
}

# Where the roles are
my @modes = (
	[ 'plain', ['plain.sql'] ],
	[ 'inserts', [ 'inserts.sql', '--inserts' ] ],
	[ 'many_rows', [ 'many.sql', '--rows-per-insert=3' ] ],
	[ 'custom', [ 'custom', '-Fc' ] ],
	[ 'jobs', [ 'jobs', '-Fd', '-j2' ] ],
	[ 'parts', [ 'schema.sql', '-s' ], [ 'data.sql', '-a' ] ],
	[ 'parts_inserts', [ 'schema.sql', '-s' ], [ 'data_inserts.sql', '-a', '--column-inserts' ] ],
	[ 'disabled', [ 'schema.sql', '-s' ], [ 'disabled.sql', '-a', '--disable-triggers' ] ],
	[ 'sections', [ 'pre.sql', '--section=pre-data' ], [ 'section.sql', '--section=data' ], [ 'post.sql', '--section=post-data' ] ]);

foreach (@modes)
{
	my ($database, @dumps) = @$_;
	my @files = map { dump_to(@$_) } @dumps;

	# only a superuser may disable all triggers
	foreach my $role ($superuser, $database eq 'disabled' ? () : 'keeper')
	{
		my $name = "${database}_" . ($role eq 'keeper' ? 'keeper' : 'superuser');

		create_database($old, $name, 'keeper');
		is(restore($old, $name, $role, $_), '', "$name: no message") foreach @files;
		is($old->safe_psql($name, $_), $source{$_}, "$name: as it was: $_") foreach $options, $triggers;
		check_rows($old, $name);
	}
}

# Where migrations have made the allocators, in another order, and have drawn
create_database($old, 'migrated', 'keeper');
$old->safe_psql('migrated', qq{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('receipt', 'batch'), spanner.create_allocator('new'), spanner.create_allocator('slip', 'sync');
	SELECT spanner.create_allocator('invoice', 'on_commit'), spanner.next_value('receipt'), spanner.next_value('slip');
	$tables; $trigger},
	extra_params => [ '-U', 'keeper' ]);
$left_out = 0;
is(restore($old, 'migrated', 'keeper', dump_to('data.sql', '-a')), '', 'data only: no message');
is($left_out, 1, 'but a WARNING for rows without a number');
is($old->safe_psql('migrated', "SELECT name, allocator_id, mode FROM spanner.allocator WHERE series = '{}' ORDER BY name"),
	"invoice|4|on_commit\nnew|2|async_batch\nreceipt|1|batch\nslip|3|sync\nused up|5|async_batch", 'allocators stay what they are');
$old->safe_psql('migrated', q{SELECT spanner.drop_allocator('new')});
check_rows($old, 'migrated');
$old->safe_psql('migrated', 'TRUNCATE app.invoice, app.slip, app.receipt');
restore($old, 'migrated', $superuser, dump_to('disabled.sql', '-a', '--disable-triggers'));
is($old->safe_psql('migrated', $triggers), $source{$triggers}, 'triggers that a restore turns off and on fire as before');

# A counter that is ahead of that of the dump stays
$old->safe_psql('migrated', q{SELECT spanner.advance_allocator('slip', 700)});
$old->safe_psql('migrated', 'TRUNCATE app.invoice, app.slip, app.receipt');
is(restore($old, 'migrated', 'keeper', dump_to('data.sql', '-a')), '', 'data again: no message');
is($old->safe_psql('migrated', q{SELECT spanner.next_value('slip')}), 700, 'a counter is not set back');

# Where there are no roles: whoever restores owns the allocators
my @without = ('-O', '-x');
my $context = qr/^(?:LINE \d+:.*|\s+\^|HINT:  Create the roles of a dump before it is restored\.|CONTEXT:  .*)\n/m;

$new->safe_psql('postgres', 'CREATE ROLE restorer LOGIN');
foreach my $role ($superuser, 'restorer')
{
	my $text = "without_$role";
	my $expected = qr/^\S+ WARNING:  role "(?:keeper|clerk)" does not exist\nDETAIL:  Role "$role" takes its place in an allocator\.\n/m;

	foreach (
		[ "${text}_plain", [ 'without.sql', @without ] ],
		[ "${text}_inserts", [ 'without_inserts.sql', @without, '--inserts' ] ],
		[ "${text}_parts", [ 'without_schema.sql', @without, '-s' ], [ 'without_data.sql', @without, '-a' ] ])
	{
		my ($database, @dumps) = @$_;
		my $said = '';

		create_database($new, $database, $role);
		$said .= restore($new, $database, $role, dump_to(@$_)) foreach @dumps;
		$said =~ s/$context//g;
		is(scalar(() = $said =~ /$expected/g), 5, "$database: a WARNING for each role that is missing");
		is($said =~ s/$expected//gr, '', "$database: nothing else is said");
		is($new->safe_psql($database, q{SELECT DISTINCT owner_role FROM spanner.allocator WHERE series = '{}'}), $role, "$database: its owner");
		check_rows($new, $database);
	}
}
like(($new->psql('postgres', q{SELECT 1}, extra_params => [ '-U', 'keeper' ]))[2], qr/role "keeper" does not exist/, 'no role came along');
like( ($new->psql('without_restorer_plain', q{INSERT INTO spanner.allocator (name, owner_role) VALUES ('a', 'keeper')}))[2],
	qr/ERROR:  role "keeper" does not exist/, 'outside of a restore that is an error');
like(
	( $new->psql('without_restorer_plain',
			q{SET check_function_bodies = off; INSERT INTO spanner.allocator (name, owner_role) VALUES ('a', 'a.b')}))[2],
	qr/ERROR:  invalid name syntax/, 'and what is no name');

# All of the server
command_ok([ 'pg_dumpall', '-d', $old->connstr('postgres'), '-f', "$dir/all.sql" ], 'pg_dumpall');
$new->command_ok([ 'psql', '-Xq', '-o', "$dir/out", '-d', $new->connstr('postgres'), '-f', "$dir/all.sql" ], 'restored');
is($new->safe_psql('source', $options), $source{$options}, 'pg_dumpall: options and roles');
check_rows($new, 'source');

# What one call has made is undone by one call after a dump as well.
$old->safe_psql('source', q{
	CREATE TABLE app.bill (year int NOT NULL, number int);
	SELECT spanner.number_rows('app.bill', 'number', '{year}');
	INSERT INTO app.bill VALUES (2026), (2026);});
create_database($new, 'called', $superuser);
is(restore($new, 'called', $superuser, dump_to('called.sql', '-O', '-x')) =~ s/^(?:(?!ERROR).)*\n//mgr, '', 'number_rows: no error');
is( $new->safe_psql('called', q{
		INSERT INTO app.bill VALUES (2026);
		SELECT max(number) FROM app.bill;
		SELECT spanner.stop_numbering('app.bill', 'number');
		SELECT spanner.number_rows('app.bill', 'number', '{year}', dry_run => true);}),
	q{3
DROP TRIGGER bill_number_assign ON app.bill
DROP INDEX app.bill_number_assign
SELECT spanner.advance_allocator('bill_number', 4, '2026')
CREATE UNIQUE INDEX bill_number_assign ON app.bill (year, number)
CREATE CONSTRAINT TRIGGER bill_number_assign AFTER INSERT OR UPDATE ON app.bill DEFERRABLE INITIALLY DEFERRED FOR EACH ROW}
	  . q{ EXECUTE FUNCTION spanner.assign_on_commit('bill_number', 'number', 'year')},
	'number_rows after a dump');

$old->stop;
$new->stop;

done_testing();
