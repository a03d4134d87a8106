# Every file of examples/ runs, on a server with the library preloaded.  What
# its comments say is true: how many key ranges or partitions each query
# reads, and what spanner.advise() finds, which is nothing else.

use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $examples = "$FindBin::Bin/../../examples";
my %queries = (
	'cassandra/group_partitions.sql' => 4,
	'cassandra/groups.sql' => 9,
	'cassandra/newest_members.sql' => 5,
	'cassandra/users.sql' => 3,
	'spanner/bit_reversed_key.sql' => 2,
	'spanner/child_tables.sql' => 3,
	'spanner/descending_key.sql' => 2,
	'spanner/hotspot.sql' => 1,
	'spanner/indexes.sql' => 3,
	'spanner/sharded_key.sql' => 5,
	'spanner/swapped_key.sql' => 1,
	'spanner/uuid_key.sql' => 1,);
my $node = PostgreSQL::Test::Cluster->new('examples');

# What the comments say of queries: [ sentence, query ].
sub claims
{
	my ($sql) = @_;
	my @claims;

	push @claims, [ $1, $2 ] while $sql =~ /^-- (Reads [^\n]*)\.\n(?:--[^\n]*\n)*([^;]*);/gm;
	return @claims;
}

# What they say of tables and indexes: "severity rule table".
sub expected_findings
{
	my ($sql) = @_;
	my @findings;

	push @findings, "$1 $2"
	  while $sql =~ /^-- spanner\.advise\(\) finds: ([^\n]*)\.\n(?:--[^\n]*\n)*CREATE (?:TABLE|INDEX \w+ ON) (\w+)/gm;
	return join "\n", sort @findings;
}

# Run a query whose plan is made already, since making it can look at the ends
# of an index.  Returns the plan and how often indexes were descended into: the
# server counts that, for each element of a list.
sub run_query
{
	my ($database, $schema, $query) = @_;
	my $count = "SELECT 'count ' || sum(idx_scan) FROM pg_stat_user_indexes WHERE schemaname = '$schema'";
	my $flush = 'SELECT pg_stat_force_next_flush()';

	my $output = $node->safe_psql(
		$database, qq{
		SET search_path = $schema;
		PREPARE example AS $query;
		\\o /dev/null
		EXECUTE example;
		$flush;
		\\o
		$count;
		EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE example;
		\\o /dev/null
		$flush;
		\\o
		$count;});
	my ($before, $plan, $after) = $output =~ /^count (\d+)\n(.*)^count (\d+)$/ms
	  or die "no counts: $output";

	return ($plan, $after - $before);
}

sub check_query
{
	my ($database, $schema, $claim, $query) = @_;
	my ($plan, $descents) = run_query($database, $schema, $query);
	my $name = "$schema: $claim: " . $query =~ s/\s+/ /gr;
	my ($number, $unit, $index_only) = $claim =~ /^Reads (\d+) (key range|partition)s?(, and no row of the table)?$/
	  or die "cannot understand: $claim";

	unlike($query, qr/\b(?:shard|hash_prefix)/, "$name: does not mention it");
	unlike($plan, qr/Seq Scan/, "$name: through indexes");
	unlike($plan, qr/Rows Removed by Filter/, "$name: no row in vain");
	if ($unit eq 'partition')
	{
		my %partitions = map { $_ => 1 } $plan =~ / on (\w+_p\d+) /g;

		is(scalar keys %partitions, $number, $name) or diag($plan);
	}
	else
	{
		# A merge descends once for the first row of a shard, and again where
		# it wants more of them.  A skip scan, which the server has from 18 on,
		# looks behind each end of the shards as well.
		my ($shards, $searches) = $plan =~ /SpannerShardMerge.*?Shards: (\d+)\n.*?Index Searches: (\d+)\n/s;
		my $skips = !$searches && $plan =~ /Index Searches/ && $plan !~ /\b(?:shard|shardid|hash_prefix|shard_id)\b/ ? 2 : 0;

		$descents -= $searches - $shards if $searches;
		ok($descents >= $number && $descents <= $number + $skips, "$name: $descents") or diag($plan);
		like($plan, qr/Shards: $number$/m, "$name: merged") if $plan =~ /SpannerShardMerge/;
		like($plan, qr/Heap Fetches: 0$/m, "$name: index only") if $index_only;
	}
	return;
}

sub check_file
{
	my ($file) = @_;
	my $sql = slurp_file("$examples/$file");
	my $database = $file =~ s/\W/_/gr;
	my ($schema) = $sql =~ /^CREATE SCHEMA (\w+);$/m;
	my @claims = claims($sql);

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION spanner_keys');
	$node->command_ok(
		[ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($database), '-f', "$examples/$file" ],
		"$file runs");
	$node->safe_psql($database, 'CREATE EXTENSION spanner_keys_advisor');
	is( $node->safe_psql(
			$database, qq{
			SET search_path = $schema;
			SELECT concat_ws(' ', severity, rule, relation) AS finding FROM spanner.advise(target => 'spanner') ORDER BY finding}),
		expected_findings($sql),
		"$file: what the advisor finds");
	is(scalar @claims, $queries{$file}, "$file: queries that say what they read");
	check_query($database, $schema, @$_) foreach @claims;
	return;
}

$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf',
	"autovacuum = off\nfsync = off\njit = off\nmax_parallel_workers_per_gather = 0\nshared_preload_libraries = 'spanner_keys'");
$node->start;
my @files = sort map { s{^\Q$examples\E/}{}r } glob("$examples/*/*.sql");
is("@files", join(' ', sort keys %queries), 'the examples are these');
check_file($_) foreach @files;

$node->stop;
done_testing();
