# Nodes that are gone have given counters too: a kind that comes after them
# passes over these, and over those of nodes that come meanwhile. Nodes of a
# cluster that a dump is restored into do not begin with them.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CitusNodes;
use IPC::Run;
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
	CREATE EXTENSION spanner_keys_advisor;
	CREATE EXTENSION spanner_keys_ddl;
	CREATE EXTENSION spanner_keys_splits;
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
	is(query($coordinator, "SELECT split_part(given, '..', 2)::numeric >= 3 * 2::numeric ^ 48 FROM spanner.sequences WHERE sequencename = '${table}_id_seq'"),
		't', "plain counters of a node that was removed are passed over, $table");
	insert_rows($table, $coordinator, $workers[0]);
	is(query($coordinator, "SELECT count(*) - count(DISTINCT id) FROM $table"), 0, "no id twice, $table");
}

# A node that comes, or a table that is distributed, while a change of the kind
# waits for its lock.
my $late = start_node('late');

sub start_sql
{
	my $sql = shift;
	my $run = IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $coordinator->connstr('postgres'), '-c', $sql ],
		'>', \my $out, '2>', \my $err, IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));

	$coordinator->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM pg_stat_activity
		WHERE query LIKE '%' || split_part(\$sql\$$sql\$sql\$, '(', 1) || '%' AND wait_event_type = 'Lock')") or die;
	return $run;
}

sub finish_sql
{
	ok($_->finish, 'a command that has waited') foreach @_;
	return;
}

query($coordinator, q{
	CREATE TABLE growing (customer bigint, id bigserial);
	CREATE TABLE new (customer bigint, id bigserial);
	SELECT create_distributed_table('growing', 'customer')});
foreach my $table (qw(growing new))
{
	query($coordinator, "SET citus.enable_ddl_propagation = off;
		BEGIN; LOCK TABLE $table IN SHARE UPDATE EXCLUSIVE MODE; PREPARE TRANSACTION 'a vacuum'");
	my @waiting;

	push @waiting, start_sql("SELECT create_distributed_table('new', 'customer')") if $table eq 'new';
	push @waiting, start_sql("SELECT spanner.alter_sequence('${table}_id_seq', kind => 'bit_reversed_positive')");
	join_node($coordinator, $late) if $table eq 'growing';
	query($coordinator, "COMMIT PREPARED 'a vacuum'");
	finish_sql(@waiting);
	is(query($coordinator, "SELECT split_part(given, '..', 2)::numeric >= 4 * 2::numeric ^ 48 FROM spanner.sequences WHERE sequencename = '${table}_id_seq'"),
		't', "plain counters of all nodes are passed over, $table");
	is(query($late, "SELECT kind FROM spanner.sequences WHERE sequencename = '${table}_id_seq'"), 'bit_reversed_positive',
		"the last node has the kind, $table");
}

# The number of a node is not used again, so neither are its counters.
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
my $groups = query($coordinator, 'SELECT last_value FROM pg_dist_groupid_seq');

is($groups, 3, 'nodes that there ever were');
command_ok([ 'pg_dump', '-f', $dump, '-d', $coordinator->connstr('postgres'), '-t', 'mapped', '--no-comments' ], 'a dump of the coordinator');

# Into new nodes, as the document says it.
my $restored = start_node('restored');
my $new_worker = start_node('new_worker');

query($restored, 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_advisor; CREATE EXTENSION spanner_keys_ddl; CREATE EXTENSION spanner_keys_splits');
command_ok([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $restored->connstr('postgres') ], 'it is restored');
query($restored, qq{
	SELECT setval('pg_dist_groupid_seq', $groups);
	SELECT citus_set_coordinator_host('@{[ $restored->host ]}', @{[ $restored->port ]})});
join_node($restored, $new_worker);
query($restored, "SELECT create_distributed_table('mapped', 'customer')");
insert_rows('mapped', $restored, $new_worker);
is(query($restored, 'SELECT count(*), count(DISTINCT id) FROM mapped'), '2500|2500', 'no id of a node of before');

done_testing();
