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

done_testing();
