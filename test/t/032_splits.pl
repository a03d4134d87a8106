# A table that is split over three servers by ranges of its key, with
# partitions of postgres_fdw.  Each server gets its share, exactly; a server
# that stops makes clear errors, and nothing is lost or half done.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 100_000;
my $front = PostgreSQL::Test::Cluster->new('front');
my @servers = map { PostgreSQL::Test::Cluster->new("server$_") } 1 .. 3;
our @names = ('server1', 'server "two"', '<i>Drei</i>');

# The message of a statement that has to fail.
sub error_of
{
	my ($node, $sql, %how) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', $sql, %how);

	isnt($rc, 0, "fails: $sql");
	return $err;
}

sub quoted
{
	my ($name) = @_;

	return '"' . $name =~ s/"/""/gr . '"';
}

# Make the splits of a table: exit status, and what the program says.
sub create
{
	my ($table, @how) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'spanner_splits', '--yes', '-d', $front->connstr('postgres'), @how, 'create', $table, '--servers', join(',', @names) ],
		'<', \'', '>', \$out, '2>', \$err);
	my $status = $? >> 8;

	note "create $table @how: $status\n$out$err";
	return ($status, $err);
}

sub counts
{
	my ($table, @how) = @_;

	return $front->safe_psql('postgres', "SELECT rows FROM spanner.split_stats('$table', true)", @how);
}

foreach my $node ($front, @servers)
{
	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\nwal_retrieve_retry_interval = 100ms\nmax_connections = 40");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_advisor; CREATE EXTENSION spanner_keys_splits');
}
$front->safe_psql('postgres', 'CREATE EXTENSION postgres_fdw');
for my $i (0 .. $#names)
{
	my $name = quoted($names[$i]);

	$front->safe_psql(
		'postgres', qq{
		CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '@{[ $servers[$i]->host ]}', port '@{[ $servers[$i]->port ]}', dbname 'postgres');
		DO \$\$ BEGIN EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER %I OPTIONS (user %L)', '@{[ $names[$i] =~ s/'/''/gr ]}', current_user); END \$\$;});
}

# By bit-reversed id: three splits, one on each server
$front->safe_psql(
	'postgres', q{
	SET spanner.default_sequence_kind = 'bit_reversed_positive';
	CREATE TABLE orders (id bigserial, note text NOT NULL, "e ""x" numeric(8,2) DEFAULT 1,
		twice integer GENERATED ALWAYS AS (length(note) * 2) STORED) PARTITION BY RANGE (id);});
is((create('orders'))[0], 0, 'splits are made');
$front->safe_psql('postgres', "INSERT INTO orders (note) SELECT 'row ' || i FROM generate_series(1, $rows) i");
my @counts = split /\n/, counts('orders');
is(scalar @counts, 3, 'three splits');
cmp_ok(abs($_ - $rows / 3), '<', $rows / 3 * 0.001, "$_ rows on a server") foreach @counts;
for my $i (0 .. $#names)
{
	is($servers[$i]->safe_psql('postgres', "SELECT count(*) FROM orders_p$i"), $counts[$i],
		"as many on $names[$i]");
}
is($front->safe_psql('postgres', "SELECT server, counted, rows > 0, size > 0, inserts > 0, reachable FROM spanner.split_stats('orders')"),
	join("\n", map { "$_|f|t|t|t|t" } @names), 'their servers');
is($front->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id), sum(twice) = sum(length(note)) * 2, min("e ""x") FROM orders'),
	"$rows|$rows|t|1.00", 'all rows are there, whole');

# Batches, asynchronous reads, one server for one id
my ($id) = split /\n/, $front->safe_psql('postgres', 'SELECT max(id) FROM orders');
like($front->safe_psql('postgres', "EXPLAIN VERBOSE INSERT INTO orders_p0 (id, note) VALUES (1, 'x'), (2, 'x')"),
	qr/Batch Size: 1000/, 'inserts are sent in batches');
is(() = $front->safe_psql('postgres', 'EXPLAIN SELECT note FROM orders') =~ /Async Foreign Scan/g,
	3, 'the servers are read at the same time');
is(() = $front->safe_psql('postgres', "EXPLAIN SELECT note FROM orders WHERE id = $id") =~ /Foreign Scan/g,
	1, 'one id asks one server');
is($servers[0]->safe_psql('postgres', q{SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'orders_p0'::regclass AND contype = 'p'}),
	'PRIMARY KEY (id)', 'there is a primary key on each server');

# By striped id, more splits than servers, one server being this one
$front->safe_psql(
	'postgres', q{
	SET spanner.default_sequence_kind = 'striped(stripes=16)';
	CREATE TABLE items (id bigserial, note text) PARTITION BY RANGE (id);});
{
	local @names = ('server1', 'here', @names[1, 2]);

	is((create('items', '--splits=8'))[0], 0, 'eight splits on four servers');
}
$front->safe_psql('postgres', "INSERT INTO items (note) SELECT 'x' FROM generate_series(1, $rows) i");
is($front->safe_psql('postgres', "SELECT min(rows) >= $rows / 8 - 1, max(rows) <= $rows / 8 + 1, count(server), sum(rows)
	FROM spanner.split_stats('items', true)"), "t|t|6|$rows", 'striped, in turn');

# By the shard of a computed id
$front->safe_psql('postgres', 'CREATE TABLE logs (userid text) PARTITION BY RANGE (spanner.shard_id(12, userid))');
is((create('logs'))[0], 0, 'splits by an expression');
$front->safe_psql('postgres', "INSERT INTO logs SELECT 'user' || i FROM generate_series(1, 3000) i");
is($front->safe_psql('postgres', "SELECT bool_and(rows BETWEEN 850 AND 1150), sum(rows) FROM spanner.split_stats('logs', true)"),
	't|3000', 'by shards');

# Each server draws from a sequence of its own: every fourth counter, so that
# its values have a quarter of key space for themselves.
for my $i (0 .. $#servers)
{
	my $start = $i + 1;

	$servers[$i]->safe_psql(
		'postgres', qq{
		SET spanner.default_sequence_kind = 'bit_reversed_positive';
		CREATE TABLE own (id bigint GENERATED BY DEFAULT AS IDENTITY (START WITH $start INCREMENT BY 4) PRIMARY KEY);
		INSERT INTO own SELECT FROM generate_series(1, 1000);});
	is($servers[$i]->safe_psql('postgres', q{SELECT DISTINCT width_bucket(id, ARRAY(SELECT spanner.split_points(4))) FROM own}),
		(2, 1, 3)[$i], "server $start writes to a quarter of its own");
}

# What core would refuse is refused before anything is made
$front->safe_psql('postgres', 'CREATE TABLE keyed (id bigint PRIMARY KEY) PARTITION BY RANGE (id)');
like((create('keyed', '--bits=63'))[1],
	qr/table "keyed" with unique index "keyed_pkey" cannot have partitions on other servers\n.*Drop the constraint/,
	'a unique index');
$front->safe_psql('postgres', 'ALTER TABLE keyed DROP CONSTRAINT keyed_pkey');
like((create('keyed', '--bits=63', '--splits=2'))[1], qr/2 splits are not enough for these servers/, 'too few splits');
is($front->safe_psql('postgres', "SELECT count(*) FROM pg_inherits WHERE inhparent = 'keyed'::regclass"), 0, 'nothing is made');
like(error_of($front, "SELECT spanner.key_histogram('orders', 4, 'id')"),
	qr/cannot sample partition "orders_p0" of table "orders"\n.*\nHINT:  Call the function for the local partitions/,
	'no picture of rows that are elsewhere');
like(error_of($front, "SELECT spanner.key_histogram('orders_p0', 4, 'id')"),
	qr/cannot sample relation "orders_p0"\n.*foreign tables.*\nHINT:  Call the function on the server that holds the rows/s,
	'nor of one of them');

# Another role needs the rights that the statements need.
$front->safe_psql('postgres', q{CREATE ROLE guest LOGIN; GRANT CREATE ON SCHEMA public TO guest;
	CREATE TABLE guests (id bigint) PARTITION BY RANGE (id); ALTER TABLE guests OWNER TO guest;});
my @guest = (extra_params => [ '-U', 'guest' ]);
like((create('guests', '-U', 'guest', '--bits=63'))[1],
	qr/permission denied for foreign server server1/, 'the right to use the server');
is($front->safe_psql('postgres', "SELECT count(*) FROM pg_inherits WHERE inhparent = 'guests'::regclass"),
	0, 'all or nothing');
like(error_of($front, "SELECT spanner.create_splits('keyed', 3, dry_run => false, bits => 63)", @guest),
	qr/must be owner of table keyed/, 'the right to change the table');
like(error_of($front, "SELECT spanner.split_stats('orders', true)", @guest),
	qr/permission denied for foreign table orders_p0/, 'the right to count rows');

# One server stops: no statement is half done, and the others go on.
$servers[1]->stop;
like(error_of($front, "INSERT INTO orders (note) SELECT 'lost' FROM generate_series(1, 100)"),
	qr/ERROR:  could not connect to server "server "two""/, 'an insert that needs it');
is($front->safe_psql('postgres', "SELECT counted, reachable, error ~ 'could not connect to server' FROM spanner.split_stats('orders', true)"),
	"t|t|\nf|f|t\nt|t|", 'rows are counted where they can be');
my ($low) = split /\n/, $front->safe_psql('postgres', 'SELECT min(id) FROM orders_p0');
is($front->safe_psql('postgres', "SELECT count(*) FROM orders WHERE id = $low"), 1, 'other servers answer');
$front->safe_psql('postgres', "INSERT INTO orders (id, note) VALUES (9223372036854775805, 'kept')");
$servers[1]->start;
is($front->safe_psql('postgres', q{SELECT count(*), count(*) FILTER (WHERE note = 'lost'),
	count(*) FILTER (WHERE note = 'kept') FROM orders}), ($rows + 1) . '|0|1', 'nothing is lost or half done');
$front->safe_psql('postgres', "INSERT INTO orders (note) SELECT 'again' FROM generate_series(1, 300)");
is($front->safe_psql('postgres', "SELECT count(*) FROM orders WHERE note = 'again'"), 300, 'it works again');

# A server that dies in the midst of a transaction.  What postgres_fdw does not
# promise is not tested: that none has committed if one dies while they commit.
my $session = $front->background_psql('postgres', on_error_stop => 0);
$session->query_safe("BEGIN; INSERT INTO orders (note) SELECT 'torn' FROM generate_series(1, 3000)");
$servers[2]->stop('immediate');
$session->query("INSERT INTO orders (note) SELECT 'torn' FROM generate_series(1, 3000)");
$session->query('COMMIT');
$session->quit;
$servers[2]->start;
is($front->safe_psql('postgres', "SELECT count(*) FROM orders WHERE note = 'torn'"), 0,
	'a transaction that could not go on is undone everywhere');

$_->stop foreach $front, @servers;
done_testing();
