# What a table over servers can do besides being read by key: rights of columns
# and statistics follow its splits, a value is unique over them, aggregates are
# made where the rows are, one statement changes all splits and is never run
# twice.  The servers are databases of one.

use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('over_servers');

$node->init(allows_streaming => 'logical');
$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\nwal_retrieve_retry_interval = 100ms");
$node->start;
my $user = $node->safe_psql('postgres', 'SELECT current_user');
$node->safe_psql('postgres', 'CREATE ROLE clerk LOGIN; CREATE ROLE "far clerk" LOGIN; CREATE DATABASE server2');
$node->safe_psql($_, 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits') foreach 'postgres', 'server2';
$node->safe_psql(
	'postgres', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER server2 FOREIGN DATA WRAPPER postgres_fdw
		OPTIONS (host '@{[ $node->host ]}', port '@{[ $node->port ]}', dbname 'server2');
	CREATE USER MAPPING FOR CURRENT_USER SERVER server2 OPTIONS (user '$user');
	CREATE USER MAPPING FOR clerk SERVER server2 OPTIONS (user 'far clerk', password_required 'false');
	CREATE TABLE orders (id bigserial PRIMARY KEY, customer text NOT NULL, amount numeric);
	INSERT INTO orders (customer, amount) SELECT 'customer ' || i % 50, i % 7 FROM generate_series(1, 2000) i;
	SELECT spanner.convert_column('orders', 'id');
	ALTER TABLE orders ALTER COLUMN customer SET STATISTICS 33;
	CREATE STATISTICS by_customer (ndistinct) ON customer, amount FROM orders;
	COMMENT ON STATISTICS by_customer IS 'kept';
	GRANT SELECT ON orders TO clerk;
	GRANT UPDATE (amount) ON orders TO clerk WITH GRANT OPTION;
	GRANT INSERT (customer, id) ON orders TO PUBLIC;
	ANALYZE orders;});


sub value
{
	my ($sql, $database) = @_;

	return $node->safe_psql($database || 'postgres', $sql);
}

sub error_of
{
	my (undef, undef, $err) = $node->psql('postgres', $_[0]);

	return $err =~ s/CONTEXT:.*//sr;
}

sub perform
{
	my ($out, $err);

	IPC::Run::run([ 'spanner_splits', '--yes', '-d', $node->connstr('postgres'), @_ ],
		'<', \'', '>', \$out, '2>', \$err);
	return ($? >> 8, $err);
}

sub targets
{
	my ($relation, $database) = @_;

	return value(qq{SELECT attstattarget FROM pg_attribute WHERE attrelid = '$relation'::regclass AND attname = 'customer'}, $database);
}

# Adopting keeps what the planner knows, moving keeps targets and rights.
my ($rc, $err) = (0, '');
value(q{SELECT spanner.adopt_table('orders', dry_run => false)});
is($rc, 0, 'a table is adopted') or diag($err);
is(targets('orders'), 33, 'statistics targets follow');
is(value(q{SELECT string_agg(concat_ws(' ', stxrelid::regclass, stxname, obj_description(oid, 'pg_statistic_ext')), ', ' ORDER BY stxname) FROM pg_statistic_ext}),
	'orders by_customer kept, orders_p0 orders_p0_by_customer kept', 'statistics objects too');
($rc, $err) = perform('move', 'orders_p0', '--to', 'server2', '--at', '4611686018427387904');
is($rc, 0, 'a part moves') or diag($err);
is(targets('orders_p0_1', 'server2') . ' ' . targets('orders_p0_1'), '33 33', 'statistics targets move along');
my $rights = q{SELECT string_agg(concat_ws(' ', r, p, c), ', ' ORDER BY r, p, c)
	FROM unnest('{clerk,far clerk,public}'::text[]) r, unnest('{SELECT,INSERT,UPDATE}'::text[]) p, unnest('{amount,customer}'::text[]) c
   WHERE CASE r WHEN 'public' THEN has_column_privilege('pg_monitor', 'orders_p0_1', c, p) ELSE has_column_privilege(r, 'orders_p0_1', c, p) END};
my $everybody = 'INSERT customer';
foreach my $database ('postgres', 'server2')
{
	my $far = $database eq 'server2' ? ', far clerk SELECT amount, far clerk SELECT customer, far clerk UPDATE amount' : '';

	is(value($rights, $database), "clerk $everybody, clerk SELECT amount, clerk SELECT customer, clerk UPDATE amount, far clerk $everybody$far, public $everybody",
		"rights of columns: $database");
}
value(q{INSERT INTO orders (customer, amount) SELECT 'customer ' || i % 50, i % 7 FROM generate_series(1, 400) i; ANALYZE orders});
is($node->safe_psql('postgres', q{SET ROLE clerk; UPDATE orders SET amount = -1 WHERE id = (SELECT min(id) FROM orders_p0_1) RETURNING amount}), '-1', 'and they are of use');
value(q{CREATE TABLE copied (id bigint, n int) PARTITION BY RANGE (id); ALTER TABLE copied ALTER COLUMN n SET STATISTICS 9});
($rc, $err) = perform('create', 'copied', '--splits', '2', '--servers', 'here,server2', '--bits', '63', '--key', 'id,n');
is($rc, 0, 'a table is split') or diag($err);
is(join(' ', map { value("SELECT attstattarget FROM pg_attribute WHERE attrelid = '$_->[0]'::regclass AND attname = 'n'", $_->[1]) }
		[ 'copied_p0', 'postgres' ], [ 'copied_p1', 'postgres' ], [ 'copied_p1', 'server2' ]), '9 9 9', 'its splits have its targets');

# Not through the partitioned table
like(error_of(q{MERGE INTO orders o USING (VALUES (1), (2)) v (id) ON o.id = v.id WHEN MATCHED THEN DELETE}), qr/foreign table/, 'MERGE');
like(error_of(q{INSERT INTO orders (id, customer) VALUES (1, 'x') ON CONFLICT (id) DO NOTHING}), qr/no unique or exclusion constraint/, 'ON CONFLICT');
like(error_of(q{UPDATE orders SET id = 5 WHERE id = (SELECT min(id) FROM orders_p0_1)}), qr/violates check constraint "orders_p0\w*_bounds"/, 'a key that leaves its server');

# A value that is unique over servers, as docs/servers.md says
open my $page, '<', 'docs/servers.md' or die "docs/servers.md: $!";
my $text = do { local $/; <$page> };
close $page;
my ($recipe, $search) = $text =~ /## Values that are unique over servers\n.*?```sql\n(.*?)```.*?```sql\n(.*?)```/s;
$recipe =~ s/^ALTER TABLE.*\n// or die 'no column';
($rc, $err) = perform('run', 'orders', 'ALTER TABLE {} ADD COLUMN ref text');
is($rc, 0, 'a column for all splits') or diag($err);
value($recipe);
my ($low, $high) = (1_000_017, 4611686018427387904 + 17);
value(qq{INSERT INTO orders (id, customer, ref) VALUES ($low, 'low', 'A-1')});
like(error_of(qq{INSERT INTO orders (id, customer, ref) VALUES ($high, 'high', 'A-1')}), qr/duplicate key value violates unique constraint "order_ref_pkey"/, 'the value is on another server');
value(qq{INSERT INTO orders (id, customer, ref) VALUES ($high, 'high', 'B-1')});
like(error_of(q{UPDATE orders SET ref = 'A-1' WHERE ref = 'B-1'}), qr/duplicate key value/, 'an update');
value(q{UPDATE orders SET ref = 'A-2' WHERE ref = 'A-1'; UPDATE orders SET ref = 'A-1' WHERE ref = 'B-1'; DELETE FROM orders WHERE ref = 'A-2'});
is(value('SELECT ref, order_id FROM order_ref'), "A-1|$high", 'the values of now are kept');
my $first = $node->background_psql('postgres', on_error_stop => 0);
$first->query_safe(qq{BEGIN; INSERT INTO orders (id, customer, ref) VALUES ($low, 'low', 'C-1')});
like(error_of(qq{SET lock_timeout = '200ms'; INSERT INTO orders (id, customer, ref) VALUES ($high + 1, 'high', 'C-1')}), qr/lock timeout/, 'who comes second waits');
$first->query_safe('COMMIT');
$first->quit;
is(value($search), '', 'rows and values agree');
value(qq{INSERT INTO orders_p0_1 (id, customer, ref) VALUES ($high + 2, 'direct', 'D-1')}, 'server2');
is(value($search), 'D-1|' . ($high + 2) . '|', 'a row whose value is not kept is found');
value(q{DELETE FROM orders WHERE ref = 'D-1'});
($rc, $err) = perform('move', 'orders_p0_1', '--to', '');
is($rc, 0, 'the split comes here') or diag($err);
like(error_of(qq{INSERT INTO orders (id, customer, ref) VALUES ($high + 3, 'x', 'A-1')}), qr/duplicate key value/, 'with the trigger');
is(value($search), '', 'which did not notice');
($rc, $err) = perform('move', 'orders_p0_1', '--to', 'server2');
is($rc, 0, 'and goes back') or diag($err);
like(error_of(qq{INSERT INTO orders (id, customer, ref) VALUES ($high + 3, 'x', 'A-1')}), qr/duplicate key value/, 'with the trigger as well');

# Aggregates: what is sent to the other server
sub sent
{
	my ($query, $settings) = @_;

	return join ' | ', value(($settings || '') . " EXPLAIN (VERBOSE, COSTS OFF) $query") =~ /Remote SQL: (.*)/g;
}
my $partitionwise = 'SET enable_partitionwise_aggregate = on;';
value('INSERT INTO copied SELECT i % 20 + j * 5e18::bigint, i FROM generate_series(1, 1000) i, generate_series(0, 1) j; ANALYZE');
note('count(*): ' . sent('SELECT count(*) FROM orders'));
note('count(*), partitionwise: ' . sent('SELECT count(*) FROM orders', $partitionwise));
note('by another column, partitionwise: ' . sent('SELECT customer, count(*) FROM orders GROUP BY customer', $partitionwise));
note('of one split: ' . sent('SELECT count(*) FROM orders WHERE id > 5e18::bigint', $partitionwise));
like(sent('SELECT id, count(*), sum(n) FROM copied GROUP BY id', $partitionwise), qr/^SELECT id, count\(\*\), sum\(n\) FROM public\.copied_p1 GROUP BY 1$/, 'groups of the partition key');
like(sent('SELECT count(*), max(amount) FROM orders_p0_1'), qr/^SELECT count\(\*\), max\(amount\) FROM public\.orders_p0_1$/, 'a partition');
like(value(q{EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM orders}), qr/Async Foreign Scan/, 'rows are asked for asynchronously');
my ($made) = $text =~ /```sql\n(SELECT 'SELECT customer, sum.*?)```/s;
my $top = value('SELECT customer, count(*) AS orders FROM orders GROUP BY customer ORDER BY orders DESC, customer LIMIT 3');
is(value($made), $top, 'a query that is made of the partitions');
like(sent(value($made =~ s/ \\gexec//r)), qr/^SELECT customer, count\(\*\) FROM public\.orders_p0_1 GROUP BY 1$/, 'sends aggregates');
is(value(q{SELECT sum(rows) FROM spanner.split_stats('orders', exact => true)}), value('SELECT count(*) FROM orders'), 'count(*) on each server');

# A statement for all splits that fails here goes on, and is not run twice there.
my $reader = $node->background_psql('postgres');
$reader->query_safe('BEGIN; LOCK TABLE ONLY orders IN ACCESS SHARE MODE');
my @change = ('run', 'orders', 'ALTER TABLE {} ADD COLUMN extra int');
{
	local $ENV{PGOPTIONS} = '-c lock_timeout=200ms';
	($rc, $err) = perform('--tries=1', @change);
}
is($rc, 3, 'no lock here');
like($err, qr/server "server2": ALTER TABLE public\.orders_p0_1 .*\n.*canceling statement due to lock timeout/s, 'but the other server has it');
$reader->query_safe('COMMIT');
$reader->quit;
($rc, $err) = perform(@change);
is($rc, 0, 'it goes on') or diag($err);
is(value(q{SELECT count(*) FROM pg_attribute WHERE attrelid IN ('orders'::regclass, 'orders_p0'::regclass, 'orders_p0_1'::regclass) AND attname = 'extra'}), 3, 'each split has the column');
is(value(q{SELECT count(*) FROM spanner.check_splits('orders')}), 0, 'nothing is wrong');

# A table with partitions by ranges of its id, as docs/large_tables.md has it, and one goes away.
my ($story) = slurp_file("$FindBin::Bin/../../docs/large_tables.md") =~ /^## It has partitions(.*?)(?=^## |\z)/ms;
$node->psql('postgres', $_, on_error_stop => 0) foreach $story =~ /```sql\n(.*?)```/sg;
my ($moves) = $story =~ /^spanner_splits (.*)$/m;
($rc, $err) = perform(split ' ', $moves);
is($rc, 0, 'a partition of new ids moves') or diag($err);
value(q{INSERT INTO events (note) SELECT 'later' FROM generate_series(1, 1000)});
is(value('SELECT count(*) FROM events_4', 'server2') . ' ' . value('SELECT count(*) FROM ONLY events_3'), '1000 1000', 'ids go to both servers');
is(value('SELECT count(*) FROM events_1'), 1000, 'and old ones stay');

# A server that is away: nothing is done.
value(q{ALTER SERVER server2 OPTIONS (SET dbname 'nowhere')});
($rc, $err) = perform('--tries=2', '--here-first', 'run', 'orders', 'ALTER TABLE {} DROP COLUMN extra');
is($rc, 3, 'a server does not answer');
like($err, qr/server "server2": .*database "nowhere" does not exist/, 'before anything is done');
is(value(q{SELECT count(*) FROM pg_attribute WHERE attrelid = 'orders'::regclass AND attname = 'extra'}), 1, 'the column is still here');

$node->stop;
done_testing();
