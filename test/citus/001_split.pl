# A logical split of a shard ends with the library preloaded: the process that
# sends the rows has a place for each relation cache callback that it needs.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CitusNodes;
use Test::More;

my ($coordinator, $worker) = start_nodes(1);
my $shards = "SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = 'orders'::regclass";

query($coordinator, q{
	CREATE EXTENSION spanner_keys;
	SET spanner.default_sequence_kind = 'bit_reversed_positive';
	CREATE TABLE orders (id bigserial, customer int,
	  shard_id int GENERATED ALWAYS AS (spanner.shard_id(4, id)) STORED, PRIMARY KEY (customer, id));
	SELECT create_distributed_table('orders', 'customer');
	INSERT INTO orders (customer) SELECT generate_series(1, 1000)});
is(query($coordinator, $shards), 8, 'shards of a new table');
query($coordinator, q{
	SET statement_timeout = '120s';
	SELECT citus_split_shard_by_split_points(shardid, ARRAY[(shardminvalue::bigint + 1000)::text],
	                                         ARRAY[nodeid, nodeid], 'force_logical')
	  FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
	 WHERE logicalrelid = 'orders'::regclass ORDER BY shardid LIMIT 1});
is(query($coordinator, $shards), 9, 'one has become two');
is(query($coordinator, 'SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE shard_id = spanner.shard_id(4, id)) FROM orders'),
	'1000|1000|1000', 'no row is lost or changed');

done_testing();
