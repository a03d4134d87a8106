# Allocators of the coordinator: a worker says where they are until they are
# shared with it, and then draws blocks from the coordinator, also for an
# INSERT ... SELECT that Citus runs on workers.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CitusNodes;
use Test::More;

my ($coordinator, @workers) = start_nodes(2);
my @nodes = ($coordinator, @workers);

query($coordinator, q{
	CREATE EXTENSION spanner_keys;
	CREATE ROLE clerk LOGIN;
	SELECT spanner.create_allocator('orders', batch_size => 10, max_batch_size => 50);
	SELECT spanner.create_allocator('sold', mode => 'sync');
	SELECT spanner.grant_allocator('orders', 'clerk');
	CREATE TABLE source (n int);
	CREATE TABLE orders (id bigint DEFAULT spanner.next_value('orders'), n int);
	SELECT create_distributed_table('source', 'n');
	SELECT create_distributed_table('orders', 'n');
	GRANT INSERT ON orders TO clerk;
	INSERT INTO source SELECT generate_series(1, 500)});

my $on_workers = 'INSERT INTO orders (n) SELECT n FROM source';
my $where = qr/allocator "orders" does not exist.*coordinator of Citus, and run spanner.share_allocator\(\) there/s;

like(query($coordinator, "EXPLAIN $on_workers"), qr/Task/, 'the workers draw in an INSERT ... SELECT');
like(error_of($_, "SELECT spanner.next_value('orders')"), $where, 'where it is') foreach @workers;
like(error_of($_, $on_workers), $where, 'so, too') foreach @nodes;

is(query($coordinator, "SELECT spanner.share_allocator('orders')"), 2, 'workers that it is shared with');
is(query($coordinator, "SELECT spanner.share_allocator('orders')"), 2, 'once more');
foreach my $node (@nodes, @nodes)
{
	query($node, $on_workers);
	query($node, 'SET ROLE clerk; INSERT INTO orders (n) SELECT generate_series(1, 500)');
}

# A node that comes later, and has no rows yet.
my $here = 'INSERT INTO orders (n) SELECT generate_series(1, 500)';
my $late = start_node('late');

join_node($coordinator, $late);
like(error_of($late, $here), $where, 'a new worker does not have it');
is(query($coordinator, "SELECT spanner.share_allocator('orders')"), 3, 'until it is shared again');
query($late, $here);
is(query($coordinator, 'SELECT count(*), count(DISTINCT id) FROM orders'), '6500|6500', 'no number twice');

# What is refused.
like(error_of($workers[0], "SELECT spanner.share_allocator('orders')"), qr/cannot be shared from a worker/, 'on a worker');
like(error_of($coordinator, "SELECT spanner.share_allocator('sold')"), qr/mode sync cannot be shared/, 'without gaps');
like(error_of($coordinator, "SELECT spanner.share_allocator('nothing')"), qr/"nothing" does not exist/, 'what is not there');
query($coordinator, "SELECT spanner.create_allocator('mine')");
query($workers[0], "SELECT spanner.create_allocator('mine')");
like(error_of($coordinator, "SELECT spanner.share_allocator('mine')"), qr/there is another allocator "mine" on this node/,
	'one of a worker itself');

# The owner of an allocator who is no superuser: what it takes, and a role and a
# password that come later.
query($coordinator, q{
	CREATE ROLE boss LOGIN;
	CREATE ROLE order_server LOGIN PASSWORD 'secret';
	ALTER DATABASE postgres OWNER TO boss;
	ALTER SCHEMA public OWNER TO boss;
	DROP EXTENSION spanner_keys CASCADE});
query($_, 'SET citus.enable_ddl_propagation = off; DROP EXTENSION dblink CASCADE') foreach @workers, $late;
unlink $coordinator->data_dir . '/pg_hba.conf';
$coordinator->append_conf('pg_hba.conf', "local all order_server scram-sha-256\nlocal all all trust");
$coordinator->reload;

sub as_boss
{
	my ($node, $sql) = @_;

	return $node->safe_psql('postgres', $sql, extra_params => [ '-U', 'boss' ]);
}

my $share = "SELECT spanner.share_allocator('bills'";
my $insert = 'INSERT INTO bills (n) SELECT generate_series(1, 100)';

as_boss($coordinator, q{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('bills', batch_size => 10);
	SELECT spanner.grant_allocator('bills', 'order_server');
	CREATE TABLE bills (id bigint DEFAULT spanner.next_value('bills'), n int);
	SELECT create_distributed_table('bills', 'n')});
like(error_of($coordinator, "SET ROLE boss; $share)"), qr/permission denied to create extension "dblink"/, 'dblink is for superusers');
query($coordinator, 'CREATE EXTENSION dblink');
like(error_of($coordinator, "SET ROLE boss; $share)"), qr/permission denied for foreign-data wrapper dblink_fdw/, 'and so is its wrapper');
query($coordinator, 'GRANT USAGE ON FOREIGN DATA WRAPPER dblink_fdw TO boss');
is(as_boss($coordinator, "$share)"), 3, 'shared by its owner');
like(error_of($workers[0], "SET ROLE boss; $insert"), qr/password is required/, 'without a password');
is(as_boss($coordinator, "$share, 'order_server', 'wrong')"), 3, 'with a wrong one');
like(error_of($workers[0], "SET ROLE boss; $insert"), qr/password authentication failed/, 'which takes the place of none');
is(as_boss($coordinator, "$share, 'order_server', 'secret')"), 3, 'with the right one');
as_boss($_, $insert) foreach @nodes, $late;
is(as_boss($coordinator, "$share)"), 3, 'a call that names none leaves it');
is(query($_, "SELECT umoptions FROM pg_user_mappings"), '{user=order_server,password=secret}', 'the role on ' . $_->name)
  foreach @workers, $late;
as_boss($_, $insert) foreach @nodes, $late;
is(query($coordinator, 'SELECT count(*), count(DISTINCT id) FROM bills'), '800|800', 'no number twice');

done_testing();
