# spanner_splits moves splits between three servers.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %node = map { $_ => PostgreSQL::Test::Cluster->new("split_$_") } 'here', 'server2', 'server3';
my $here = $node{here};

foreach my $node (values %node)
{
	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf',
		"autovacuum = off\nfsync = off\nwal_retrieve_retry_interval = 100ms\nmax_connections = 40\nwal_receiver_timeout = 5s");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits');
}
$here->safe_psql('postgres', 'CREATE EXTENSION postgres_fdw');
foreach my $name ('server2', 'server3')
{
	$here->safe_psql(
		'postgres', qq{
		CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '@{[ $node{$name}->host ]}', port '@{[ $node{$name}->port ]}', dbname 'postgres');
		DO \$\$ BEGIN EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER $name OPTIONS (user %L)', current_user); END \$\$;});
}

sub value
{
	my ($sql, $name) = @_;

	return $node{ $name || 'here' }->safe_psql('postgres', $sql);
}

# Run the program: its exit status, and what it has said.
sub splits
{
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'spanner_splits', '-y', '-d', $here->connstr('postgres'), @_ ], '<', \'', '>', \$out, '2>', \$err);
	my $status = $? >> 8;

	BAIL_OUT("$err") if $ENV{STOP_EARLY} && $status;
	note "spanner_splits @_: $status\n$out$err";
	return ($status, $out, $err);
}

sub leftovers
{
	my $sql = q{SELECT (SELECT count(*) FROM spanner.split_record) + (SELECT count(*) FROM pg_publication)
		+ (SELECT count(*) FROM pg_subscription) + (SELECT count(*) FROM pg_replication_slots)};

	return join ' ', map { value($sql, $_) } sort keys %node;
}

# Values that are stored out of line, and indexes of every kind
value(q{CREATE TABLE doc (id bigint PRIMARY KEY, note text, body text, CHECK (id > 0));
	ALTER TABLE doc ALTER body SET STORAGE EXTERNAL;
	INSERT INTO doc SELECT i, 'n' || i, CASE WHEN i % 2 = 0 THEN repeat(md5(i::text), 400) END FROM generate_series(1, 200) i;
	CREATE UNIQUE INDEX ON doc (note) WHERE id > 10; CREATE INDEX ON doc (lower(note));
	CREATE STATISTICS doc_both ON id, note FROM doc});
value(q{SELECT spanner.adopt_table('doc', dry_run => false)});

is((splits('--dry-run', 'move', 'doc_p0', '--to', 'server2'))[0], 0, 'a dry run');
is(leftovers(), '0 0 0', 'changes nothing');

is((splits('move', 'doc_p0', '--to', 'server2'))[0], 0, 'a split moves');
is(value('SELECT count(*), count(body) FROM doc'), '200|100', 'with all rows');
is(value('SELECT count(*) FROM doc_p0', 'server2'), 200, 'there');
is(leftovers(), '0 0 0', 'nothing is left');
is(value(q{SELECT count(*) FROM spanner.check_splits('doc')}), 0, 'nothing is wrong');

is((splits('move', 'doc_p0', '--to', 'server3', '--at', '101'))[0], 0, 'a part moves');
is(value('SELECT server, rows FROM spanner.split_stats(\'doc\', true)'), "server2|100\nserver3|100", 'rows from there on');
is(leftovers(), '0 0 0', 'nothing is left');
is(value(q{SELECT count(*) FROM spanner.check_splits('doc')}), 0, 'nothing is wrong');
is(value(q{SELECT count(*) FROM pg_indexes WHERE tablename LIKE 'doc%'}, 'server3'), 3, 'indexes move');

is((splits('move', 'doc_p0', '--to', 'here'))[0], 0, 'back here');
is((splits('move', 'doc_p0_1', '--to', 'server2'))[0], 0, 'from server to server');
is((splits('move', 'doc_p0_1', '--to', 'server3'))[0], 0, 'once more: indexes do not stand in the way');
is(value('SELECT count(*), count(body), sum(id) FROM doc'), '200|100|20100', 'with all rows');
is((splits('move', 'doc_p0', '--to', 'server3', '--at', '51'))[0], 0, 'a part of what is here');
is(value('SELECT server, rows FROM spanner.split_stats(\'doc\', true)'), "|50\nserver3|50\nserver3|100", 'it came back here');
is(leftovers(), '0 0 0', 'nothing is left');
is(value(q{SELECT count(*) FROM spanner.check_splits('doc')}), 0, 'nothing is wrong');

# A table of that name that no move has made
value(q{CREATE TABLE doc_p0 (who text); INSERT INTO doc_p0 VALUES ('mine')}, 'server2');
my ($status, $out, $err) = splits('move', 'doc_p0', '--to', 'server2');
is($status, 1, 'a table is in the way');
like($err, qr/already exists, and is another one\n.*hint: Rename or drop it first/s, 'the reason');
is((splits('list'))[1], '', 'no move has begun');
is((splits('abandon', 'doc_p0'))[0], 1, 'there is none to abandon');
is(value('SELECT who FROM doc_p0', 'server2'), 'mine', 'the table is not touched');
is(leftovers(), '0 0 0', 'nothing is left');

# A statement for all splits
is((splits('run', 'doc', 'ALTER TABLE {} ADD COLUMN c int'))[0], 0, 'a statement for all splits');
is(value(q{SELECT count(*) FROM doc WHERE c IS NULL}), 200, 'all have the column');
($status, $out, $err) = splits('run', 'doc', "SELECT pg_relation_size('{}')");
like($err, qr/cannot be in a string/, 'not in a string');
is(leftovers(), '0 0 0', 'nothing is left');

# Copies
value(q{CREATE TABLE country (code text PRIMARY KEY, name text); INSERT INTO country VALUES ('ch', 'x'), ('at', 'y')});
is((splits('copy', 'country', '--servers', 'server2,server3'))[0], 0, 'a copy');
is(value('SELECT count(*) FROM country', $_), 2, "on $_") foreach 'server2', 'server3';
is((splits('abandon', 'country'))[0], 0, 'copies end');
is(leftovers(), '0 0 0', 'nothing is left');

# Made on servers
value(q{CREATE TABLE fresh (id bigint, v text) PARTITION BY RANGE (id)});
is((splits('create', 'fresh', '--servers', 'server2,here,server3'))[0] , 1, 'an id of which nothing is known');

$_->stop foreach values %node;
done_testing();
