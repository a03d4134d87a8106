# Nodes that are gone have given counters too: a kind that comes after them
# passes over these, and nodes of a cluster that a dump is restored into do not
# begin with them.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CitusNodes;
use PostgreSQL::Test::Utils;
use Test::More;

my ($coordinator, @workers) = start_nodes(2);
my @nodes = ($coordinator, @workers);

sub insert_rows
{
	my $table = shift;

	query($_, "INSERT INTO $table (customer) SELECT generate_series(1, 500)") foreach @_;
	return;
}

query($coordinator, q{
	CREATE EXTENSION spanner_keys;
	CREATE TABLE altered (customer bigint, id bigserial);
	CREATE TABLE converted (customer bigint, id bigserial);
	CREATE TABLE mapped (customer bigint, id bigserial);
	SELECT spanner.convert_column('mapped', 'id');
	SELECT create_distributed_table(t, 'customer') FROM unnest('{altered,converted,mapped}'::regclass[]) t});
insert_rows($_, @nodes) foreach qw(altered converted mapped);

# The node that was added last goes, with the highest counters.
query($coordinator, qq{
	SELECT citus_drain_node('@{[ $workers[1]->host ]}', @{[ $workers[1]->port ]}, 'block_writes');
	SELECT citus_remove_node('@{[ $workers[1]->host ]}', @{[ $workers[1]->port ]});
	DELETE FROM converted WHERE id > 2 * 2::numeric ^ 48;
	SELECT spanner.alter_sequence('altered_id_seq', kind => 'bit_reversed_positive');
	SELECT spanner.convert_column('converted', 'id')});
foreach my $table (qw(altered converted))
{
	is(query($coordinator, "SELECT skip_range_max >= 3 * 2::numeric ^ 48 FROM spanner.sequences WHERE sequencename = '${table}_id_seq'"),
		't', "plain counters of a node that was removed are passed over, $table");
	insert_rows($table, $coordinator, $workers[0]);
	is(query($coordinator, "SELECT count(*) - count(DISTINCT id) FROM $table"), 0, "no id twice, $table");
}

# Its number is not used again, so neither are its counters.
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
my $groups = query($coordinator, 'SELECT last_value FROM pg_dist_groupid_seq');

is($groups, 2, 'nodes that there ever were');
command_ok([ 'pg_dump', '-f', $dump, '-d', $coordinator->connstr('postgres'), '-t', 'mapped', '--no-comments' ], 'a dump of the coordinator');

# Into new nodes, as the document says it.
my $restored = start_node('restored');
my $new_worker = start_node('new_worker');

query($restored, 'CREATE EXTENSION spanner_keys');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $restored->connstr('postgres') ], 'it is restored');
query($restored, qq{
	SELECT setval('pg_dist_groupid_seq', $groups);
	SELECT citus_set_coordinator_host('@{[ $restored->host ]}', @{[ $restored->port ]})});
join_node($restored, $new_worker);
query($restored, "SELECT create_distributed_table('mapped', 'customer')");
insert_rows('mapped', $restored, $new_worker);
is(query($restored, 'SELECT count(*), count(DISTINCT id) FROM mapped'), '2500|2500', 'no id of a node of before');

done_testing();
