# Random transactions with savepoints draw from series, number rows by series,
# and change allocators.  A model in Perl says what each statement returns, and
# what is there in the end.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Storable 'dclone';
use Test::More;

my $transactions = 250;
my @keys = ([], ['2026'], ['2027'], [ '2026', 'a' ], [ '2026', 'b' ], [''], [ 'x', '', 'y"{},' ]);
my @row_keys = map { my $year = $_; map { [ $year, $_ ] } 'a', 'b' } 2026, 2027;

# What the script does, and what it prints.
my (@script, @expected);

# "next" of each series that has begun, "name" of the allocator, and "rows" of the
# table, each with id, key and number; at the commit "numbered" is the next number.
my ($state, @savepoints, $next_id);

sub pick { return $_[ int(rand(@_)) ] }

# Without a series, the empty text.
sub key { return join('', map { "$_|" } @{ $_[0] }) }

sub arguments
{
	my ($key) = @_;

	return @$key ? ', VARIADIC ARRAY[' . join(', ', map { "'$_'" } @$key) . ']' : '';
}

sub run
{
	my ($sql, @results) = @_;

	push @script, $sql;
	push @expected, @results;
	return;
}

sub number_rows
{
	foreach my $row (grep { !defined $_->{number} } @{ $state->{rows} })
	{
		$row->{number} = $state->{numbered}{ $row->{key} }++ || 1;
		$state->{numbered}{ $row->{key} } = $row->{number} + 1;
	}
	return;
}

sub draw
{
	my ($count) = @_;
	my $key = pick(@keys);
	my $first = $state->{next}{ key($key) } // 1;

	$state->{next}{ key($key) } = $first + $count;
	return ($key, $first);
}

my %steps = (
	draw => sub {
		my $count = pick(1, 1, 3);
		my ($key, $first) = draw($count);

		run("SELECT spanner.next_value('$state->{name}'" . arguments($key) . ") FROM generate_series(1, $count)",
			$first .. $first + $count - 1);
	},
	block => sub {
		my $count = 1 + int(rand(20));
		my ($key, $first) = draw($count);

		run("SELECT * FROM spanner.reserve_block('$state->{name}', $count" . arguments($key) . ')',
			$first . '|' . ($first + $count - 1));
	},
	fail => sub {
		my $key = pick(@keys);

		run("DO \$\$ BEGIN PERFORM spanner.next_value('$state->{name}'" . arguments($key) . "); RAISE 'undo';"
			  . ' EXCEPTION WHEN raise_exception THEN NULL; END $$');
	},
	advance => sub {
		my ($key, $next) = draw(0);
		my $minimum = $next - 2 + int(rand(10));

		$state->{next}{ key($key) } = $next = $minimum > $next ? $minimum : $next;
		run("SELECT spanner.advance_allocator('$state->{name}', $minimum" . arguments($key) . ')', $next);
	},
	reset => sub {
		my ($key) = draw(0);
		my $value = 1 + int(rand(30));

		$state->{next}{ key($key) } = $value;
		run("SELECT 'reset' FROM spanner.reset_allocator('$state->{name}', $value, true" . (arguments($key) =~ s{VARIADIC }{}r) . ')', 'reset');
	},
	alter => sub {
		run("SELECT 'altered' FROM spanner.alter_allocator('$state->{name}', batch_size => " . (1 + int(rand(9))) . ')', 'altered');
	},
	rename => sub {
		my $name = $state->{name} eq 's' ? 't' : 's';

		run("SELECT 'renamed' FROM spanner.rename_allocator('$state->{name}', '$name')", 'renamed');
		$state->{name} = $name;
	},
	drop => sub {
		return if rand() < 0.7;
		run("SELECT spanner.drop_allocator('$state->{name}'), spanner.create_allocator('$state->{name}', 'sync') > 0", 't|t');
		$state->{next} = { '' => 1 };
	},
	savepoint => sub {
		push @savepoints, dclone($state);
		run('SAVEPOINT p' . @savepoints);
	},
	rollback_to => sub {
		return if !@savepoints;
		my $level = 1 + int(rand(@savepoints));

		$#savepoints = $level - 1;
		$state = dclone($savepoints[-1]);
		run("ROLLBACK TO p$level");
	},
	release => sub {
		return if !@savepoints;
		my $level = 1 + int(rand(@savepoints));

		$#savepoints = $level - 2;
		run("RELEASE p$level");
	},
	insert => sub {
		my $count = pick(1, 2, 5);

		foreach (1 .. $count)
		{
			my $key = pick(@row_keys);

			push @{ $state->{rows} }, { id => ++$next_id, key => "@$key" };
			run("INSERT INTO numbered (id, year, tenant) VALUES ($next_id, $key->[0], '$key->[1]')");
			number_rows() if $state->{immediate};
		}
	},
	move => sub {
		my @open = grep { !defined $_->{number} } @{ $state->{rows} } or return;
		my $row = pick(@open);
		my $key = pick(@row_keys);

		$row->{key} = "@$key";
		run("UPDATE numbered SET year = $key->[0], tenant = '$key->[1]' WHERE id = $row->{id}");
	},
	delete => sub {
		my @rows = @{ $state->{rows} } or return;
		my $row = pick(@rows);

		$state->{rows} = [ grep { $_->{id} != $row->{id} } @rows ];
		run("DELETE FROM numbered WHERE id = $row->{id}");
	},
	again => sub {
		my @done = grep { defined $_->{number} } @{ $state->{rows} } or return;
		my $row = pick(@done);
		my $key = pick(@row_keys);

		run("UPDATE numbered SET number = NULL, year = $key->[0], tenant = '$key->[1]' WHERE id = $row->{id}");
		# it comes behind those that wait already
		$state->{rows} = [ (grep { $_ != $row } @{ $state->{rows} }), { id => $row->{id}, key => "@$key" } ];
		number_rows() if $state->{immediate};
	},
	immediate => sub {
		return if rand() < 0.7;
		number_rows();
		$state->{immediate} = 1;
		run('SET CONSTRAINTS ALL IMMEDIATE');
	},
	show => sub {
		run('SELECT id, number FROM numbered ORDER BY id',
			map { "$_->{id}|" . ($_->{number} // '') } sort { $a->{id} <=> $b->{id} } @{ $state->{rows} });
	});

sub run_transaction
{
	my $before = dclone($state);
	my @names = sort keys %steps;

	@savepoints = ();
	run('BEGIN' . pick('', ' ISOLATION LEVEL REPEATABLE READ', ' ISOLATION LEVEL SERIALIZABLE'));
	$steps{ pick(@names, 'draw', 'draw', 'insert') }->() foreach 0 .. rand(14);
	if (rand() < 0.3)
	{
		$state = $before;
		run('ROLLBACK');
		return;
	}
	number_rows();
	delete $state->{immediate};
	run('COMMIT');
	return;
}

my $node = PostgreSQL::Test::Cluster->new('model');
$node->init;
$node->append_conf('postgresql.conf', 'fsync = off');
$node->start;

foreach my $seed (1 .. 4)
{
	my $database = "seed$seed";

	srand($seed);
	@script = @expected = ();
	$next_id = 0;
	$state = { name => 's', next => { '' => 1 }, rows => [], numbered => {} };
	run_transaction() foreach 1 .. $transactions;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, q{
		CREATE EXTENSION spanner_keys;
		SELECT spanner.create_allocator('s', 'sync'), spanner.create_allocator('rows', 'on_commit');
		CREATE TABLE numbered (id int PRIMARY KEY, year int, tenant text, number bigint);
		CREATE CONSTRAINT TRIGGER number AFTER INSERT OR UPDATE ON numbered
			DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
			EXECUTE FUNCTION spanner.assign_on_commit('rows', 'number', 'year', 'tenant');
		SET client_min_messages = warning});
	my ($result, $out, $err) = $node->psql($database, join(";\n", @script) . ";\n");
	my @got = split /\n/, $out;
	my ($wrong) = grep { ($got[$_] // 'nothing') ne $expected[$_] } 0 .. $#expected;

	is($err =~ s/^psql:.*NOTICE:.*\n?//mgr, '', "seed $seed: no error");
	is(scalar @got, scalar @expected, "seed $seed: as many results");
	is(defined $wrong ? "result $wrong: $got[$wrong], not $expected[$wrong]" : 'none', 'none', "seed $seed: a wrong result of " . @expected);

	my $series = $node->safe_psql($database, q{
		SELECT a.name, array_to_string(NULLIF(s.series, '{}'), '|') || '|', s.next_value
		  FROM spanner.allocator s JOIN spanner.allocator a ON a.name = s.name AND a.series = '{}'});
	my @there = sort(
		"rows||1",
		(map { "$state->{name}|$_|$state->{next}{$_}" } keys %{ $state->{next} }),
		(map { 'rows|' . s/ /|/r . "||$state->{numbered}{$_}" } keys %{ $state->{numbered} }));
	is(join("\n", sort split /\n/, $series), join("\n", @there), "seed $seed: the counters in the end");
}

done_testing();
