# The objects of the extension stay in their place in sessions that have not
# loaded the library, by whatever command; in a session that has, event triggers
# are not needed.  Where neither guards them, nothing goes on in silence: an id
# is mapped, or an error; and a counter that cannot be written is an error.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('guard');

$node->init;
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION spanner_keys;
	CREATE EXTENSION spanner_keys_ddl;
	CREATE EXTENSION spanner_keys_advisor;
	CREATE EXTENSION spanner_keys_splits;
	SELECT spanner.create_sequence('s', 'bit_reversed_positive');
	SELECT spanner.create_allocator('in_order', 'sync')});
my $disable = join '; ', map { "ALTER EVENT TRIGGER $_ DISABLE" }
  qw(spanner_keys_ddl_command_start "!spanner_keys_ddl_command_end");
my $enable = $disable =~ s/DISABLE/ENABLE ALWAYS/gr;

sub refused
{
	my ($sql, $message, $name) = @_;
	my ($result, $out, $err) = $node->psql('postgres', $sql, on_error_stop => 1);

	isnt($result, 0, "$name: refused");
	like($err, $message, $name);
	return;
}

# Is what is drawn in a new session a mapped value?
sub draws_mapped
{
	my ($name) = @_;

	is( $node->safe_psql('postgres', q{SELECT nextval('s') > 2^32, (SELECT nextval(x::regclass) FROM (VALUES ('s')) v (x)) > 2^32}),
		't|t', "$name: mapped values");
	return;
}

# With something out of its place: a mapped value, or an error that names it, and
# never a plain counter
sub draws_mapped_or_nothing
{
	my ($name) = @_;

	foreach my $call (q{SELECT nextval('s')}, q{SELECT nextval(x::regclass) FROM (VALUES ('s')) v (x)})
	{
		my ($result, $out, $err) = $node->psql('postgres', $call);

		ok($result == 0 ? $out > 2**32 : $err =~ /ERROR:  function \w+\.\w+ of extension "spanner_keys" is missing/, "$name: $call")
		  or diag("$out $err");
	}
	return;
}

# Nothing is preloaded: the event trigger loads what guards.  It guards the
# objects of all four extensions.
my @moves = (
	'ALTER SCHEMA spanner RENAME TO x',
	'ALTER SCHEMA spanner_internal RENAME TO x',
	'ALTER FUNCTION spanner.nextval(regclass) RENAME TO x',
	'ALTER ROUTINE spanner.convert_all(name, text, boolean) RENAME TO x',
	'ALTER ROUTINE spanner.lastval() SET SCHEMA public',
	'ALTER TABLE spanner.allocator SET SCHEMA public',
	'ALTER INDEX spanner.allocator RENAME TO x',
	'ALTER VIEW spanner.sequences RENAME TO x',
	'ALTER SEQUENCE spanner.allocator_id RENAME TO x',
	'ALTER TYPE spanner_internal.advisor_facts RENAME TO x',
	'ALTER FUNCTION spanner.execute_ddl(text, text) RENAME TO x',
	'ALTER DOMAIN spanner.commit_timestamp SET SCHEMA public',
	'ALTER TABLE spanner.silenced_rule RENAME TO x',
	'ALTER FUNCTION spanner.check_splits(regclass) SET SCHEMA public');
foreach my $sql (@moves)
{
	refused($sql, qr/ERROR:  cannot rename or move .* because extension "spanner_keys\w*" requires it.*HINT:  Drop the extension/s,
		"$sql, nothing loaded");
	refused("SET session_replication_role = replica; $sql", qr/because extension "spanner_keys\w*" requires it/, "$sql, as replication does");
	refused("$disable; SELECT spanner.bit_reverse(1, true); $sql", qr/because extension "spanner_keys\w*" requires it/, "$sql, library loaded, no event trigger");
	$node->safe_psql('postgres', $enable);
}
foreach my $sql ('DROP SCHEMA spanner', 'DROP FUNCTION spanner.nextval(regclass)', 'ADD SCHEMA public')
{
	refused("ALTER EXTENSION spanner_keys $sql", qr/cannot change the members of extension "spanner_keys"/, "ALTER EXTENSION ... $sql, nothing loaded");
}
refused("ALTER EXTENSION $_ ADD SCHEMA public", qr/cannot change the members of extension "$_"/, "ALTER EXTENSION $_ ADD, nothing loaded")
  foreach qw(spanner_keys_ddl spanner_keys_advisor spanner_keys_splits);
draws_mapped('after what was refused');

# A database without the extension may have such schemas.
$node->safe_psql('postgres', 'CREATE DATABASE bare');
$node->safe_psql('bare', q{
	LOAD 'spanner_keys';
	CREATE SCHEMA spanner CREATE TABLE allocator (id int);
	ALTER TABLE spanner.allocator RENAME TO x;
	ALTER SCHEMA spanner RENAME TO x});

# After DROP EXTENSION nothing is guarded, in the same transaction either.
$node->safe_psql('bare', q{
	CREATE EXTENSION spanner_keys;
	BEGIN;
	DROP EXTENSION spanner_keys;
	CREATE SCHEMA spanner CREATE TABLE allocator (id int);
	ALTER TABLE spanner.allocator RENAME TO y;
	ALTER SCHEMA spanner RENAME TO y;
	COMMIT});

# Where nothing guards.  Each with what undoes it.
sub unguarded
{
	$node->safe_psql('postgres', $disable);
	$node->safe_psql('postgres', $_) foreach @_;
	return;
}

my $drawing = $node->background_psql('postgres', on_error_stop => 0);
foreach (
	[ 'ALTER SCHEMA spanner RENAME TO x', 'ALTER SCHEMA x RENAME TO spanner' ],
	[ 'ALTER SCHEMA spanner_internal RENAME TO x', 'ALTER SCHEMA x RENAME TO spanner_internal' ],
	[ 'ALTER EXTENSION spanner_keys DROP SCHEMA spanner', 'ALTER EXTENSION spanner_keys ADD SCHEMA spanner' ],
	[ 'ALTER FUNCTION spanner_internal.map_counter(bigint, regclass) RENAME TO x', 'ALTER FUNCTION spanner_internal.x(bigint, regclass) RENAME TO map_counter' ])
{
	my ($sql, $back) = @$_;

	# what has been drawn is written to the table, or not committed
	my $before = $drawing->query_safe(q{BEGIN; SELECT spanner.next_value('in_order')});
	unguarded($sql);
	$drawing->query('COMMIT');
	my $is_committed = $drawing->{stderr} eq '';
	like($drawing->{stderr}, qr/^$|was not called by an AFTER trigger of table "spanner\.allocator"/, "$sql, between draw and commit");
	$drawing->{stderr} = '';
	draws_mapped_or_nothing($sql);
	unguarded($back);
	draws_mapped($back);
	is($drawing->query_safe(q{SELECT spanner.next_value('in_order')}), $before + $is_committed, "$sql: the counter is that of what was committed");
}
$drawing->quit;

foreach (
	[ 'ALTER TABLE spanner.allocator RENAME TO x', 'ALTER TABLE spanner.x RENAME TO allocator' ],
	[ 'ALTER EXTENSION spanner_keys DROP SCHEMA spanner', 'ALTER EXTENSION spanner_keys ADD SCHEMA spanner' ])
{
	my ($sql, $back) = @$_;

	unguarded($sql);
	refused(q{SELECT spanner.next_value('in_order')}, qr/table "spanner\.allocator" does not exist/, "$sql: no number");
	refused("$enable; DROP OWNED BY pg_monitor", qr/table "spanner\.allocator" does not exist/, "$sql: no roles are lost");
	unguarded($back);
	like($node->safe_psql('postgres', q{SELECT spanner.next_value('in_order')}), qr/^\d+$/, "$back: numbers again");
}
$node->safe_psql('postgres', $enable);

# The table goes with the extension; its counters have nowhere to be written.
refused(q{BEGIN; SELECT spanner.next_value('in_order'); DROP EXTENSION spanner_keys CASCADE; COMMIT},
	qr/table "spanner\.allocator" was dropped after values had been taken from it/, 'numbers of a table that is dropped with them');
draws_mapped('the extension is still there');

# Where its schemas are not called as they were, it is not dropped by halves.
unguarded('ALTER SCHEMA spanner RENAME TO x', 'ALTER SCHEMA spanner_internal RENAME TO y', $enable);
refused('DROP EXTENSION spanner_keys CASCADE', qr/function spanner_internal\.\w+ of extension "spanner_keys" is missing/, 'dropped under other names');
unguarded('ALTER SCHEMA x RENAME TO spanner', 'ALTER SCHEMA y RENAME TO spanner_internal', $enable);
draws_mapped('under its own names again');
$node->safe_psql('postgres', 'DROP EXTENSION spanner_keys CASCADE');
is($node->safe_psql('postgres', q{SELECT nextval('s') < 2^20, (SELECT count(*) FROM pg_seclabel)}), 't|0', 'dropped: an ordinary sequence');
$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys_advisor CASCADE');

$node->stop;
done_testing();
