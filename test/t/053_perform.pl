# The command spanner_keys_perform: adopts a table, moves a part of it while
# clients write, is stopped and goes on, gives up a move, and runs a statement
# for all splits.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %node = map { $_ => PostgreSQL::Test::Cluster->new("perform_$_") } 'here', 'server2';
my $here = $node{here};
my $there = $node{server2};

foreach my $node ($here, $there)
{
	$node->init(allows_streaming => 'logical');
	$node->append_conf('postgresql.conf', "autovacuum = off\nfsync = off\nwal_retrieve_retry_interval = 100ms");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_splits');
}
my $user = $here->safe_psql('postgres', 'SELECT current_user');
$here->safe_psql(
	'postgres', qq{
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER "it's \\ 2" FOREIGN DATA WRAPPER postgres_fdw
		OPTIONS (host '@{[ $there->host ]}', port '@{[ $there->port ]}', dbname 'postgres');
	CREATE USER MAPPING FOR PUBLIC SERVER "it's \\ 2" OPTIONS (user '$user');
	CREATE TABLE orders (id bigserial PRIMARY KEY, note text NOT NULL);
	INSERT INTO orders (note) SELECT 'old ' || i FROM generate_series(1, 2000) i;
	SELECT spanner.convert_column('orders', 'id');
	ANALYZE orders;});

my $state = PostgreSQL::Test::Utils::tempdir();

# The command's exit status, and what it printed.
sub perform
{
	my ($out, $err);
	my @command = ('spanner_keys_perform', "--state=$state", '-d', $here->connstr('postgres'), @_);

	IPC::Run::run(\@command, '<', \'', '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err);
}

sub value
{
	return $here->safe_psql('postgres', $_[0]);
}

# What is not a step's function, or cannot be asked, is refused.
my ($rc, $out, $err) = perform('drop_everything');
is($rc, 1, 'another function');
like($err, qr/prints no steps; use adopt_table/, 'is named');
($rc, $out, $err) = perform('move_split', "x'; DROP TABLE orders; --", 'NULL');
isnt($rc, 0, 'an argument ends no literal');
like($err, qr/ERROR:  (relation .* does not exist|invalid name syntax)/, 'it is a name, which is wrong');
($rc, $out, $err) = perform('adopt_table', 'orders');
is($rc, 1, 'nobody can be asked');
like($err, qr/use --yes/, 'and says so');
($rc, $out, $err) = perform('--dry-run', 'adopt_table', 'orders');
is($rc, 0, 'steps are shown');
like($out, qr/^  1  here: /, 'in short');
is(value(q{SELECT relkind FROM pg_class WHERE oid = 'orders'::regclass}), 'r', 'nothing is done');

($rc, $out, $err) = perform('--yes', 'adopt_table', 'orders');
is($rc, 0, 'the table is adopted') or diag($err);
is(value(q{SELECT relkind FROM pg_class WHERE oid = 'orders'::regclass}), 'p', 'it is partitioned');
is(join(',', glob "$state/spanner_keys_perform/*"), '', 'nothing is left of the notes');

# A move that cannot swap stops at step 7, and goes on.
my @move = ('move_split', 'orders_p0', q{it's \ 2}, 'at=4611686018427387904');
my $reader = $here->background_psql('postgres');
$reader->query_safe('BEGIN; SELECT count(*) FROM orders');
($rc, $out, $err) = perform('--yes', '--tries=1', @move);
is($rc, 1, 'the swap does not get its lock');
like($err, qr/swap_split: failed/, 'that step is named');
like($err, qr/goes on with it\.\n.*--abandon/, 'and what can be done');
value(q{INSERT INTO orders (note) VALUES ('meanwhile')});
$reader->query_safe('COMMIT');
($rc, $out, $err) = perform('--dry-run', @move);
like($out, qr/subscribe_split, done\n/, 'what is done, is known');
($rc, $out, $err) = perform('--yes', @move);
is($rc, 0, 'it goes on') or diag($err);
unlike($err, qr/step 1 of/, 'not from the beginning');
is(value(q{SELECT count(*), count(DISTINCT id) FROM orders}), '2001|2001', 'no row is lost or double');
is(value(q{SELECT count(*) FROM spanner.check_splits('orders')}), 0, 'nothing is left of the move');
cmp_ok(value(q{INSERT INTO orders (note) SELECT 'new' FROM generate_series(1, 20);
	SELECT count(*) FROM orders WHERE tableoid::regclass::text = 'orders_p0_1'}), '>', 0, 'rows go there');

# A move is given up.
$reader->query_safe('BEGIN; SELECT count(*) FROM orders');
($rc, $out, $err) = perform('--yes', '--tries=1', 'move_split', 'orders_p0', q{it's \ 2});
is($rc, 1, 'another move cannot swap');
$reader->query_safe('COMMIT');
$reader->quit;
($rc, $out, $err) = perform('--yes', '--abandon', 'move_split', 'orders_p0', q{it's \ 2});
is($rc, 0, 'it is given up') or diag($err);
is(value(q{SELECT count(*) FROM spanner.check_splits('orders')}), 0, 'nothing is left of it');
is(join(',', glob "$state/spanner_keys_perform/*"), '', 'nor of the notes');

# What is changed of a table during its move is noticed before the swap.
$reader = $here->background_psql('postgres');
$reader->query_safe('BEGIN; SELECT count(*) FROM orders');
($rc, $out, $err) = perform('--yes', '--tries=1', 'move_split', 'orders_p0', q{it's \ 2});
is($rc, 1, 'a third move cannot swap');
$reader->query_safe('COMMIT');
$reader->quit;
value(q{ALTER TABLE orders RENAME note TO remark; ALTER TABLE orders ADD CHECK (id <> 0)});
($rc, $out, $err) = perform('--yes', 'move_split', 'orders_p0', q{it's \ 2});
is($rc, 1, 'nor after a change');
like($err, qr/is not like partition "orders_p0".*Make both alike, or give the move up/, 'which is the reason');
value(q{ALTER TABLE orders RENAME remark TO note; ALTER TABLE orders DROP CONSTRAINT orders_id_check});
($rc, $out, $err) = perform('--yes', '--abandon', 'move_split', 'orders_p0', q{it's \ 2});
is($rc, 0, 'it is given up too') or diag($err);

# Errors of a server are understood in any language.
my $bin = PostgreSQL::Test::Utils::tempdir();
my ($psql) = grep { -x } map { "$_/psql" } split /:/, $ENV{PATH};
append_to_file("$bin/psql", qq{#!/bin/sh
"$psql" "\$@" 2> "$bin/error"
result=\$?
sed 's/ERROR:/FEHLER:/; s/WARNING:/WARNUNG:/' "$bin/error" >&2
exit \$result
});
chmod 0755, "$bin/psql";
{
	local $ENV{PATH} = "$bin:$ENV{PATH}";
	($rc, $out, $err) = perform('--yes', '--all-splits', 'orders', 'ALTER TABLE {} ADD COLUMN note text');
}
is($rc, 1, 'an error in another language');
like($err, qr/^spanner_keys_perform: FEHLER:  column "note" of relation .* already exists/m, 'is shown');

($rc, $out, $err) = perform('--yes', '--all-splits', 'orders', q{DO $$ BEGIN RAISE EXCEPTION '%', '{}' || chr(27) || '[31mred'; END $$});
like($err, qr/ERROR:  public\.orders\w*\[31mred/, 'what a terminal would obey is left out');

# A server that does not answer is waited for.
$there->stop('immediate');
my $pid = fork // die "fork: $!";
if (!$pid)
{
	sleep 2;
	exec 'pg_ctl', '-s', '-w', '-D', $there->data_dir, '-l', $there->logfile, 'start';
}
($rc, $out, $err) = perform('--yes', '--all-splits', 'orders', 'ALTER TABLE {} ADD COLUMN extra integer DEFAULT 7');
waitpid $pid, 0;
$there->_update_pid(1);
is($rc, 0, 'a column for all splits') or diag($err);
is(value(q{SELECT count(*) FROM spanner.check_splits('orders')}), 0, 'each has it');
($rc, $out, $err) = perform('--yes', '--all-splits', 'orders', 'SELECT 1');
like($err, qr/must have \{\}/, 'a statement without a table');

# Advice is performed as docs/servers.md says.
value(q{INSERT INTO orders SELECT -i, 'low' FROM generate_series(1, 6000) i; ANALYZE orders_p0});
$there->safe_psql('postgres', 'ANALYZE');
open my $page, '<', 'docs/servers.md' or die "docs/servers.md: $!";
my ($recipe) = do { local $/; <$page> } =~ /(psql -AtX -F .*?\ndone\n)/s;
close $page;
my $connection = $here->connstr('postgres');
$recipe =~ s/-d shop/-d "$connection" -v ON_ERROR_STOP=1/;
$recipe =~ s/-d shop/-d "$connection" --state=$state/;
IPC::Run::run([ 'bash', '-c', $recipe ], '<', \'', '>', \$out, '2>', \$err);
is($?, 0, 'the recipe runs') or diag($err);
is(value(q{SELECT count(*) FROM spanner.check_splits('orders')}), 0, 'splits are as they should be');
cmp_ok(value(q{SELECT count(*) FROM orders o JOIN pg_foreign_table t ON t.ftrelid = o.tableoid WHERE note = 'low'}), '>', 1000, 'rows have gone to the other server');

done_testing();
