# Series of allocators of mode remote: each is one of the other server, and
# several servers draw from it.  No value is given twice and none out of its
# series, whatever happens to the worker that makes the rows.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $hub = PostgreSQL::Test::Cluster->new('hub');
my $user = PostgreSQL::Test::Cluster->new('user');
my $clients = 6;
my $turns = 150;

sub sql
{
	my ($query, $database) = @_;

	return $user->safe_psql($database // 'one', $query);
}

sub error_of
{
	my ($query, %how) = @_;

	return ($user->psql('one', $query, %how))[2];
}

foreach my $node ($hub, $user)
{
	$node->init;
	$node->append_conf('postgresql.conf', "autovacuum = off\nspanner_keys.allocator_timeout = 1min\n");
	$node->start;
}
$hub->safe_psql('postgres', q{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('ticket', start_value => 100, batch_size => 3, max_batch_size => 3)});
$user->safe_psql('postgres', 'CREATE ROLE clerk LOGIN');
foreach my $database (qw(one two))
{
	$user->safe_psql('postgres', "CREATE DATABASE $database");
	sql(qq{
		CREATE EXTENSION spanner_keys;
		CREATE EXTENSION dblink;
		CREATE SERVER hub FOREIGN DATA WRAPPER dblink_fdw
		  OPTIONS (host '@{[ $hub->host ]}', port '@{[ $hub->port ]}', dbname 'postgres');
		CREATE USER MAPPING FOR CURRENT_USER SERVER hub;
		SELECT spanner.create_allocator('local', 'remote', server => 'hub', remote_name => 'ticket', batch_size => 5, max_batch_size => 5);
		SELECT spanner.grant_allocator('local', 'clerk');
		CREATE TABLE drawn (year text, tenant text, number bigint)}, $database);
}

# The series of the other server, whatever its values are
is(sql(q{SELECT spanner.next_value('local', '2026', $$it's "a\,{b}$$) FROM generate_series(1, 7)}),
	join("\n", 100 .. 106), 'a series begins');
is(sql(q{SELECT spanner.next_value('local', '2026', $$it's "a\,{b}$$)}, 'two'), 110, 'another server has the next block');
is(sql(q{SELECT spanner.next_value('local'), spanner.next_value('local', 'x')}), '100|100', 'others have counters of their own');
is(sql(q{SELECT string_agg(n::text, ' ') FROM spanner.next_values('local', 3, 'x') n}), '101 102 103', 'next_values');
is(sql(q{SELECT * FROM spanner.reserve_block('local', 8, 'x')}), '104|111', 'reserve_block');
is(sql(q{SELECT spanner.release_allocator('local', 'x'), spanner.next_value('local', 'x')}), '0|112', 'nothing is given back');
# Each has what was taken, and what is reserved besides, which depends on when it was
is( $hub->safe_psql('postgres', q{SELECT series, next_value > CASE series[1] WHEN 'x' THEN 112 ELSE 110 END
		FROM spanner.allocator WHERE series <> '{}' ORDER BY 1}),
	qq({2026,"it's \\"a\\\\,{b}"}|t\n{x}|t), 'the counters are there');
is(sql(q{SELECT series, next_value FROM spanner.allocator WHERE series <> '{}' ORDER BY 1}),
	qq({2026,"it's \\"a\\\\,{b}"}|1\n{x}|1), 'here are rows without one');
like(error_of(q{SELECT spanner.advance_allocator('local', 500, 'x')}), qr/cannot advance allocator "local"/, 'advance it there');

# The worker makes the rows, so a rollback does not matter
is(sql(q{BEGIN; SELECT spanner.next_value('local', 'kept'); ROLLBACK; SELECT spanner.next_value('local', 'kept')}),
	"100\n101", 'a transaction that is rolled back');
is($user->safe_psql('one', q{SELECT spanner.next_value('local', 'of clerk')}, extra_params => [ '-U', 'clerk' ]),
	100, 'who may draw begins series');
sql(q{SELECT spanner.revoke_allocator('local', 'clerk')});
like(error_of(q{SELECT spanner.next_value('local', 'new')}, extra_params => [ '-U', 'clerk' ]),
	qr/permission denied for allocator "local"/, 'who may not does not');
is(sql(q{SELECT count(*) FROM spanner.allocator WHERE series = '{new}'}), 0, 'no row is left');

# What the worker cannot see or write
like(error_of(q{BEGIN; SELECT spanner.alter_allocator('local', batch_size => 4); SELECT spanner.next_value('local', 'changed')}),
	qr/cannot take values from allocator "local" in the transaction that has changed it/, 'an allocator that the transaction has changed');
like(error_of(q{BEGIN; LOCK spanner.allocator IN SHARE MODE; SELECT spanner.next_value('local', 'locked')}),
	qr/cannot take values from allocator "local" in the transaction that has changed it/, 'a table that the transaction has locked');
like(error_of(q{BEGIN; SELECT spanner.reset_allocator('local', 1, true, '{reset}'); SELECT spanner.next_value('local', 'reset')}),
	qr/cannot take values from allocator "local" in the transaction that has changed it/, 'a series that the transaction has made');

# A row that somebody else is making keeps no other series waiting
my $maker = $user->background_psql('one');
$maker->query_safe(q{BEGIN; SELECT spanner.reset_allocator('local', 1, true, '{slow}')});
like(error_of(q{SET spanner_keys.allocator_timeout = '1s'; SELECT spanner.next_value('local', 'slow')}),
	qr/timed out after 1000 ms waiting for allocator "local"/, 'a series that another transaction makes');
is(sql(q{SELECT spanner.next_value('local', 'fast')}), 100, 'another series');
$maker->query_safe('COMMIT');
$maker->quit;
is(sql(q{SELECT spanner.next_value('local', 'slow')}), 100, 'when it is made');

# Many series at a time share the connections
is(sql(q{SELECT count(spanner.next_value('local', 'tenant', i::text)) FROM generate_series(1, 30) i}), 30, 'thirty series, one after the other');
cmp_ok($hub->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE query ~ 'reserve_block' AND pid <> pg_backend_pid()}),
	'<=', 3, 'they need no connection each');

# Under load, while workers are killed
my $script = PostgreSQL::Test::Utils::tempdir() . '/load.sql';
append_to_file($script, q{
\set year random(1, 4)
\set tenant random(1, 3)
INSERT INTO drawn VALUES (:year, :tenant, spanner.next_value('local', 'load', :year::text, :tenant::text));
});
my @loads = map {
	my $database = $_;
	IPC::Run::start([ 'pgbench', '-n', '-c', $clients / 2, '-t', $turns, '-f', $script, '-h', $user->host, '-p', $user->port, $database ],
		'>', '/dev/null', '2>', \my $err)
} qw(one two);
foreach (1 .. 5)
{
	sql(q{SELECT pg_sleep(0.1), count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'spanner_keys remote allocator'});
}
ok($_->finish, 'load') foreach @loads;
my @drawn = map { split /\n/, sql('SELECT * FROM drawn', $_) } qw(one two);
my %seen;
my $twice = grep { $seen{$_}++ } @drawn;

is(@drawn, $clients * $turns, 'all have drawn');
is($twice, 0, 'no value of a series comes twice');
is(sql(q{SELECT count(*) FROM (SELECT number - lag(number) OVER (PARTITION BY year, tenant ORDER BY ctid) AS d FROM drawn) x WHERE d = 0}), 0, 'nor here');
is( $hub->safe_psql('postgres', q{SELECT count(*) FROM spanner.allocator WHERE series[1] = 'load'}), 12, 'a row for each series');

# They go with the allocator
sql(q{SELECT spanner.rename_allocator('local', 'other')});
is(sql(q{SELECT spanner.next_value('other', 'slow')}), 101, 'a new name');
sql(q{SELECT spanner.drop_allocator('other')});
is(sql(q{SELECT count(*) FROM spanner.allocator}), 0, 'dropped');

# A server that is this one
sql(qq{
	CREATE SERVER self FOREIGN DATA WRAPPER dblink_fdw
	  OPTIONS (host '@{[ $user->host ]}', port '@{[ $user->port ]}', dbname 'one');
	CREATE USER MAPPING FOR CURRENT_USER SERVER self;
	SELECT spanner.create_allocator('itself', 'remote', server => 'self'), spanner.create_allocator('base'),
		spanner.create_allocator('of base', 'remote', server => 'self', remote_name => 'base')});
like(error_of(qq{SELECT spanner.next_value('itself'$_)}),
	qr/server "self": it is this database, whose allocator "itself" would wait for itself/, "an allocator does not wait for itself $_")
  foreach '', ", 'x'";
is(sql(q{SELECT spanner.next_value('of base'), spanner.next_value('of base', 'x')}), '1|1', 'another allocator of this database');

$user->stop;
$hub->stop;
done_testing();
