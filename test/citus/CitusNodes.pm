# Servers that Citus joins: a coordinator and workers, for the tests in
# test/citus.

package CitusNodes;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(start_node join_node start_nodes query error_of);

# Make and start a server that knows Citus, in no cluster yet, with an empty
# database or with Citus in the one that is there.
sub start_node
{
	my ($name, %how) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', join '', map { "$_\n" } (
		"shared_preload_libraries = 'citus,spanner_keys'",
		'fsync = off',
		'max_connections = 100',
		'max_worker_processes = 32',
		'max_prepared_transactions = 100',
		"citus.node_conninfo = 'sslmode=prefer'",
		"citus.local_hostname = '@{[ $node->host ]}'",
		'citus.shard_count = 8',
		@{ $how{conf} // [] }));

	# late minor releases name the output plugins that may be used
	my ($allowed) = run_command([ 'postgres', '-D', $node->data_dir, '-C', 'output_plugin_libraries' ]);

	$node->append_conf('postgresql.conf', "output_plugin_libraries = '$allowed, citus'")
	  if $allowed;
	$node->start;
	if ($how{database})
	{
		$node->safe_psql('postgres', "CREATE DATABASE $how{database}");
		return $node;
	}
	$node->safe_psql('postgres', 'CREATE EXTENSION citus');
	return $node;
}

# Have a coordinator take a worker.
sub join_node
{
	my ($coordinator, $worker) = @_;

	return query($coordinator, "SELECT citus_add_node('@{[ $worker->host ]}', @{[ $worker->port ]})");
}

# A coordinator that has so many workers.
sub start_nodes
{
	my ($workers) = @_;
	my $coordinator = start_node('coordinator');
	my @workers = map { start_node("worker$_") } 1 .. $workers;

	query($coordinator, "SELECT citus_set_coordinator_host('@{[ $coordinator->host ]}', @{[ $coordinator->port ]})");
	join_node($coordinator, $_) foreach @workers;
	return ($coordinator, @workers);
}

sub query
{
	my ($node, $sql) = @_;

	return $node->safe_psql('postgres', $sql);
}

# The message of statements of which the last has to fail.
sub error_of
{
	my ($node, $sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $sql, on_error_stop => 1);

	isnt($rc, 0, "fails: $sql");
	return $err;
}

1;
