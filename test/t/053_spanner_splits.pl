# The client spanner_splits: moves a part of a table while clients write, is
# stopped and goes on, gives up a move, and runs a statement for all splits.

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

# The command's exit status, and what it printed.
sub perform
{
	my ($out, $err);
	my @command = ('spanner_splits', '-d', $here->connstr('postgres'), @_);

	IPC::Run::run(\@command, '<', \'', '>', \$out, '2>', \$err);
	return ($? >> 8, $out, $err);
}

sub value
{
	return $here->safe_psql('postgres', $_[0]);
}

# What is no command, or cannot be asked, is refused.
my ($rc, $out, $err) = perform('drop_everything');
is($rc, 1, 'another command');
like($err, qr/there is no command "drop_everything"/, 'is named');
($rc, $out, $err) = perform('move', "x'; DROP TABLE orders; --", '--to', '');
isnt($rc, 0, 'an argument ends no literal');
like($err, qr/error: (?:this server: )?(relation .* does not exist|invalid name syntax)/, 'it is a name, which is wrong');
value(q{SELECT spanner.adopt_table('orders', dry_run => false)});
($rc, $out, $err) = perform('--dry-run', 'move', 'orders_p0', '--to', q{it's \ 2});
is($rc, 0, 'steps are shown') or diag($err);
like($out, qr/^server "it's \\ 2": BEGIN.*CREATE TABLE public.orders_p0 .*^this server: CREATE PUBLICATION/ms, 'server by server');
is(value(q{SELECT count(*) FROM spanner.split_record}), '0', 'nothing is written down');
($rc, $out, $err) = perform('move', 'orders_p0');
like($err, qr/error: option --to is missing/, 'a move without a target');
($rc, $out, $err) = perform('--too', 'here', 'move', 'orders_p0');
like($err, qr/hint: Try "spanner_splits --help"/, 'an option that is none');
($rc, $out, $err) = perform('--dry-run', 'move', 'orders_p0', '--to', q{it's \ 2}, '--at', '7', '--connection', q{host=h password='top secret'});
like($out, qr/CONNECTION 'password='+[*]{8}'+ host=h'/, 'passwords are hidden') or diag($err);
like($out, qr/CREATE TABLE public.orders_p0 .* RENAME TO orders_p0_2\n.*CREATE TABLE public.orders_p0 .* RENAME TO orders_p0_1\n/ms, 'both parts of a cut get their names');
unlike($out, qr/secret/, 'everywhere');

# A move that cannot swap stops there, and goes on.
my @move = ('move', 'orders_p0', '--to', q{it's \ 2}, '--at', '4611686018427387904');
my $reader = $here->background_psql('postgres');
$reader->query_safe('BEGIN; SELECT count(*) FROM orders');
($rc, $out, $err) = perform('--yes', '--tries=1', @move);
is($rc, 3, 'the swap does not get its lock');
like($err, qr/error: partition "orders_p0" could not be swapped: its table is busy/, 'which is the reason');
like($err, qr/hint: Run the same command again, or "spanner_splits abandon"/, 'and what can be done');
($rc, $out, $err) = perform('--yes', @move[0 .. 3]);
like($err, qr/a move of "orders_p0" to it's \\ 2 at 4611686018427387904 has begun/, 'another move is refused');
value(q{INSERT INTO orders (note) VALUES ('meanwhile')});
$reader->query_safe('COMMIT');
($rc, $out, $err) = perform('list');
like($out, qr/^public\.orders_p0\there -> it's \\ 2\tcopying/, 'it is listed');
($rc, $out, $err) = perform('--yes', @move);
is($rc, 0, 'it goes on') or diag($err);
is(value(q{SELECT count(*), count(DISTINCT id) FROM orders}), '2001|2001', 'no row is lost or double');
is(value(q{SELECT count(*) FROM spanner.check_splits('orders')}), 0, 'nothing is left of the move');
cmp_ok(value(q{INSERT INTO orders (note) SELECT 'new' FROM generate_series(1, 20);
	SELECT count(*) FROM orders WHERE tableoid::regclass::text = 'orders_p0_1'}), '>', 0, 'rows go there');

# A move is given up.
$reader->query_safe('BEGIN; SELECT count(*) FROM orders');
($rc, $out, $err) = perform('--yes', '--tries=1', 'move', 'orders_p0', '--to', q{it's \ 2});
is($rc, 3, 'another move cannot swap');
$reader->query_safe('COMMIT');
$reader->quit;
($rc, $out, $err) = perform('--yes', 'abandon', 'orders_p0');
is($rc, 0, 'it is given up') or diag($err);
is(value(q{SELECT count(*) FROM spanner.check_splits('orders')}), 0, 'nothing is left of it');
is(value(q{SELECT count(*) FROM spanner.split_record}), '0', 'nor of the record');

# What is changed of a table during its move is noticed before the swap.
$reader = $here->background_psql('postgres');
$reader->query_safe('BEGIN; SELECT count(*) FROM orders');
($rc, $out, $err) = perform('--yes', '--tries=1', 'move', 'orders_p0', '--to', q{it's \ 2});
is($rc, 3, 'a third move cannot swap');
$reader->query_safe('COMMIT');
$reader->quit;
value(q{ALTER TABLE orders RENAME note TO remark; ALTER TABLE orders ADD CHECK (id <> 0)});
($rc, $out, $err) = perform('--yes', 'move', 'orders_p0', '--to', q{it's \ 2});
is($rc, 1, 'nor after a change');
like($err, qr/is not like that on the source\n.*detail: .*\n.*hint: .*Make both alike, or abandon the move/, 'which is the reason, on lines of its own');
value(q{ALTER TABLE orders RENAME remark TO note; ALTER TABLE orders DROP CONSTRAINT orders_id_check});
($rc, $out, $err) = perform('--yes', 'abandon', 'orders_p0');
is($rc, 0, 'it is given up too') or diag($err);

# A statement for all splits.
($rc, $out, $err) = perform('--yes', 'run', 'orders', 'ALTER TABLE {} ADD COLUMN note text');
is($rc, 1, 'an error of a server');
like($err, qr/error: .*column "note" of relation .* already exists/, 'is shown');
($rc, $out, $err) = perform('--yes', 'run', 'orders', q{SELECT '{}'});
like($err, qr/cannot be in a string/, 'a name within a text is refused');
foreach my $text (q{E'\'{}'}, q{E'\\\\' || '{}'}, q{U&'{}'}, q{"{}"}, q{$a$'{}$a$}, '1 /* /* */ {} */', "1 -- {}\n")
{
	($rc, $out, $err) = perform('--dry-run', 'run', 'orders', "SELECT $text FROM {}");
	like($err, qr/cannot be in a string/, "as in $text");
}
foreach my $text (q{E'\'', '$a$'}, q{'\'}, q{1 AS a$b$}, '1 /* /* */ */')
{
	($rc, $out, $err) = perform('--dry-run', 'run', 'orders', "SELECT $text FROM {}");
	like($out, qr/^this server: SELECT \Q$text\E FROM public\.orders$/m, "but not after $text");
}
($rc, $out, $err) = perform('--yes', 'run', 'orders', qq{SELECT count(*) FROM {} WHERE "\x1b[31mred" = 1});
like($err, qr/column "\[31mred" does not exist/, 'what a terminal would obey is left out');

# A server that does not answer is waited for.
$there->stop('immediate');
my $pid = fork // die "fork: $!";
if (!$pid)
{
	sleep 2;
	exec 'pg_ctl', '-s', '-w', '-D', $there->data_dir, '-l', $there->logfile, 'start';
}
($rc, $out, $err) = perform('--yes', 'run', 'orders', 'ALTER TABLE {} ADD COLUMN extra integer DEFAULT 7');
waitpid $pid, 0;
$there->_update_pid(1);
is($rc, 0, 'a column for all splits') or diag($err);
is(value(q{SELECT count(*) FROM spanner.check_splits('orders')}), 0, 'each has it');
($rc, $out, $err) = perform('--yes', 'run', 'orders', 'SELECT 1');
like($err, qr/must have \{\}/, 'a statement without a table');

# Advice is performed as docs/servers.md says.
value(q{INSERT INTO orders SELECT -i, 'low' FROM generate_series(1, 6000) i; ANALYZE orders_p0});
$there->safe_psql('postgres', 'ANALYZE');
my $recipe = slurp_file('docs/servers.md') =~ /^(psql -AtX -d shop -c .*?split_advice.*?)\n```/ms ? $1 : 'false';
{
	local @ENV{ 'PGHOST', 'PGPORT' } = ($here->host, $here->port);
	$recipe =~ s/\bshop\b/postgres/g;
	IPC::Run::run([ 'bash', '-o', 'pipefail', '-c', $recipe ], '<', \'', '>', \$out, '2>', \$err);
}
is($?, 0, 'the recipe runs') or diag($err);
is(value(q{SELECT count(*) FROM spanner.check_splits('orders')}), 0, 'splits are as they should be');
cmp_ok(value(q{SELECT count(*) FROM orders o JOIN pg_foreign_table t ON t.ftrelid = o.tableoid WHERE note = 'low'}), '>', 1000, 'rows have gone to the other server');

done_testing();
