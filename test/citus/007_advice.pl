# What spanner.advise says of tables of Citus can be followed, and what
# spanner.add_shard_key leaves needs no advice: their shards move while rows
# change.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CitusNodes;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $updates = 40;
my ($coordinator, @workers) = start_nodes(2);

# Rules and suggestions, a line for each.
sub advice
{
	my ($table) = @_;

	return query($coordinator, "SELECT concat_ws(': ', rule, suggestion) FROM spanner.advise('$table', target => 'citus')");
}

# Do what is advised, one statement after the other.
sub follow_advice
{
	my ($table) = @_;

	query($coordinator, "$_") foreach split /; /, query($coordinator, "SELECT suggestion FROM spanner.advise('$table', target => 'citus')");
	is(advice($table), '', "nothing is left to advise, $table");
	return;
}

# Move the shard of a device while its rows change.
sub move_shard
{
	my ($table) = @_;
	my $writer = IPC::Run::start(
		[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $coordinator->connstr('postgres'), '-c', qq{
			DO \$\$ BEGIN FOR i IN 1 .. $updates LOOP
				UPDATE $table SET value = value + 1 WHERE device = 7; COMMIT; PERFORM pg_sleep(0.1);
			END LOOP; END \$\$} ],
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));

	$coordinator->poll_query_until('postgres', "SELECT min(value) > 1 FROM $table WHERE device = 7") or die;
	my ($rc, $out, $err) = $coordinator->psql('postgres', qq{
		SET statement_timeout = '60s';
		SELECT citus_move_shard_placement(p.shardid, n.nodename, n.nodeport, o.nodename, o.nodeport, 'force_logical')
		  FROM pg_dist_placement p
		  JOIN pg_dist_node n USING (groupid)
		  JOIN pg_dist_node o ON o.groupid NOT IN (0, p.groupid)
		 WHERE p.shardid = get_shard_id_for_distribution_column('$table', 7)});

	is($rc, 0, "a shard moves, $table") or diag($err);
	ok($writer->finish, "while its rows change, $table");
	is(query($coordinator, "SELECT count(*), min(value), max(value) FROM $table WHERE device = 7"), "20|$updates|$updates",
		"and no change is lost, $table");
	return;
}

query($coordinator, q{
	CREATE EXTENSION spanner_keys;
	CREATE EXTENSION spanner_keys_advisor;
	CREATE TABLE readings (device bigint, at timestamptz, value numeric,
	  shard_id int GENERATED ALWAYS AS (spanner.shard_id(8, device, at)) STORED, PRIMARY KEY (shard_id, at, device));
	CREATE TABLE events (device bigint, at timestamptz, value numeric, PRIMARY KEY (at, device));
	SELECT create_distributed_table(t, 'device', colocate_with => 'none') FROM unnest('{readings,events}'::regclass[]) t;
	INSERT INTO readings (device, at, value)
	  SELECT i % 50, timestamptz '2026-01-01' + i * interval '1 minute', 0 FROM generate_series(1, 1000) i;
	INSERT INTO events SELECT device, at, value FROM readings});

# A generated column in the replica identity.
like(advice('readings'), qr/^shard_published: CREATE UNIQUE INDEX \w+ ON public.readings \(device, at\); ALTER TABLE .* REPLICA IDENTITY/,
	'a generated column in the replica identity');
follow_advice('readings');
move_shard('readings');

query($coordinator, "SELECT spanner.add_shard_key('events', NULL::name[], 4, dry_run => false)");
is(advice('events'), '', 'nothing to advise after add_shard_key');
query($coordinator, "SELECT spanner.add_shard_key('events', NULL::name[], 8, dry_run => false)");
is(advice('events'), '', 'nor with another number of shards');
is(query($coordinator, "SELECT count(*) FROM pg_index WHERE indrelid = 'events'::regclass"), 2, 'for which no third index is made');
move_shard('events');
query($coordinator, "SELECT spanner.remove_shard_key('events', dry_run => false)");
is(query($coordinator, "SELECT pg_get_indexdef(indexrelid), indisprimary FROM pg_index WHERE indrelid = 'events'::regclass"),
	'CREATE UNIQUE INDEX events_pkey ON public.events USING btree (at, device)|t', 'the key as before');
query($coordinator, "SELECT spanner.add_shard_key('events', NULL::name[], 4, dry_run => false)");
is(advice('events'), '', 'once more');

# Keys that are missing.
query($coordinator, q{
	CREATE TABLE audit (account bigint, id bigserial, what text);
	CREATE TABLE lines (account bigint, what text);
	CREATE TABLE settings (what text);
	SELECT create_distributed_table(t, 'account') FROM unnest('{audit,lines}'::regclass[]) t;
	SELECT create_reference_table('settings');
	INSERT INTO lines SELECT i % 10 FROM generate_series(1, 100) i});
is(advice('audit'), 'key_missing: ALTER TABLE public.audit ADD PRIMARY KEY (account, id)', 'a key of a distributed table');
follow_advice('audit');
follow_advice('lines');
is(query($coordinator, 'SELECT count(DISTINCT row_id) FROM lines'), 100, 'a column for the key');
is(advice('settings'), 'key_missing', 'copies of a reference table must not differ');

# Ranges of a key that grows.
query($coordinator, q{
	CREATE TABLE grown (id bigserial PRIMARY KEY, x int);
	SELECT create_distributed_table('grown', 'id', 'range')});
is(advice('grown'), q{key_sequence: SELECT spanner.convert_column('public.grown', 'id')}, 'ranges of a key that grows');
like(query($coordinator, "SELECT finding FROM spanner.advise('grown') WHERE rule = 'target'"), qr/^judged as splits:/, 'are splits');
follow_advice('grown');

done_testing();
