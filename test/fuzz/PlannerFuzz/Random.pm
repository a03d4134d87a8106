# Random.pm
#	  Random choices, and the types and values that the tables are made of.
#
# A family is a group of types whose values can be compared.  Those of "same"
# share a hash operator family with the first, so a shard condition may be
# derived from an equality between them; those of "other" do not.
#
# test/fuzz/PlannerFuzz/Random.pm

package PlannerFuzz::Random;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(chance pick shuffle some quote weighted %families family_names domain_statements);

our %families = (
	int => {
		same   => [qw(int8 int4 int2 fuzz.small_int fuzz.checked_int fuzz.nested_int)],
		other  => [qw(numeric float8)],
		values => [qw(1 2 3 4 5 7 10 0 -1 -5 100 32767)],
	},
	numeric => {
		same   => [ 'numeric', 'fuzz.amount' ],
		other  => [qw(int4 int8 float8)],
		values => [qw(1 1.0 1.00 2.5 2.50 0 0.0 -0.00 10 100 1e2 -3.75 NaN Infinity)],
		norm   => 'trim_scale(%s)',
	},
	text => {
		same   => [ 'text', 'varchar', 'varchar(20)', 'fuzz.word', 'fuzz.short_word', 'text COLLATE "C"', 'name' ],
		other  => [ 'char(6)', 'bpchar' ],
		values => [ 'a', 'A', 'b', 'ab', '', 'a ', 'B', 'zz', 'ä', 'Ä', "it's", '-', '1:a' ],
	},
	nocase => {
		same   => [ 'text COLLATE fuzz.nocase', 'varchar COLLATE fuzz.nocase' ],
		other  => [],
		values => [qw(a A b B ab AB Ab zz ä Ä)],
		norm   => 'lower(%s::text COLLATE "und-x-icu")',
	},
	char => {
		same   => [ 'char(6)', 'bpchar', 'fuzz.my_char' ],
		other  => [ 'text', 'varchar' ],
		values => [ 'a', 'A', 'b', 'ab', '', 'a ', 'zz  ' ],
		norm   => '%s::char(8)',
	},
	timestamptz => {
		same  => [ 'timestamptz', 'fuzz.my_timestamptz' ],
		other => [qw(timestamp date)],
		values => [
			'2024-03-31 00:00:00+00',   '2024-03-31 01:30:00+00',
			'2024-03-31 02:30:00+02',   '2024-10-27 00:30:00+00',
			'2024-01-01 00:00:00+00',   '2024-01-01 00:00:00.5+00',
			'2023-12-31 23:00:00+00',   '2025-01-01 12:00:00.123456+00',
			'infinity',                 '2024-06-01 00:00:00-03'
		],
	},
	timestamp => {
		same  => [ 'timestamp', 'fuzz.my_timestamp' ],
		other => [qw(timestamptz date)],
		values => [
			'2024-03-31 00:00:00', '2024-03-31 02:30:00',
			'2024-01-01 00:00:00', '2024-01-01 00:00:00.5',
			'2023-12-31 23:00:00', '-infinity',
			'2024-10-27 02:30:00'
		],
	},
	date => {
		same   => [ 'date', 'fuzz.my_date' ],
		other  => [qw(timestamp timestamptz)],
		values => [qw(2024-01-01 2024-01-02 2024-03-31 2023-12-31 infinity 1999-01-08)],
	},
	uuid => {
		same   => [ 'uuid', 'fuzz.my_uuid' ],
		other  => [],
		values => [ map { sprintf('%08x-0000-4000-8000-00000000000%x', $_ * 0x11111111, $_) } 0 .. 9 ],
	},
	bool => {
		same   => [ 'bool', 'fuzz.my_bool' ],
		other  => [],
		values => [qw(true false)],
	},
	float => {
		same   => [qw(float8 float4 fuzz.my_float8)],
		other  => [qw(numeric int4)],
		values => [qw(0 -0 1 0.1 0.5 -2.25 1e10 NaN Infinity 3)],
		norm   => '(%s + 0)',
	},
	bytea => {
		same   => [ 'bytea', 'fuzz.my_bytea' ],
		other  => [],
		values => [ '\x', '\x00', '\x61', '\x6100', '\xff' ],
	},
	enum => {
		same   => ['fuzz.color'],
		other  => [],
		values => [qw(red green blue black)],
	},);

my @weights = (
	int => 10, timestamptz => 6, text => 5, numeric => 4, timestamp => 3, date => 2,
	nocase => 2, char => 2, uuid => 2, bool => 2, float => 3, bytea => 1, enum => 2);

sub chance
{
	return rand() < $_[0];
}

sub pick
{
	return $_[ int(rand(@_)) ];
}

sub shuffle
{
	my @list = @_;

	for (my $i = @list - 1; $i > 0; $i--)
	{
		my $j = int(rand($i + 1));

		@list[ $i, $j ] = @list[ $j, $i ];
	}
	return @list;
}

# From $least to $most elements, in random order.
sub some
{
	my ($least, $most, @list) = @_;
	my $count = $least + int(rand($most - $least + 1));

	@list = shuffle(@list);
	$count = @list if $count > @list;
	return @list[ 0 .. $count - 1 ];
}

# weighted(thing => weight, ...)
sub weighted
{
	my @pairs = @_;
	my $sum = 0;

	$sum += $pairs[ 2 * $_ + 1 ] for 0 .. @pairs / 2 - 1;
	my $at = rand($sum);
	while (@pairs > 2)
	{
		$at -= $pairs[1];
		last if $at < 0;
		splice(@pairs, 0, 2);
	}
	return $pairs[0];
}

sub quote
{
	my ($string) = @_;

	return 'NULL' if !defined $string;
	$string =~ s/'/''/g;
	return "'$string'";
}

# The domains among the types; some have a CHECK, which all values pass.
sub domain_statements
{
	my %base = (
		'fuzz.small_int' => 'int2', 'fuzz.checked_int' => 'int4 CHECK (VALUE > -1000)', 'fuzz.nested_int' => 'fuzz.checked_int',
		'fuzz.amount' => 'numeric(10,2)', 'fuzz.word' => 'text', 'fuzz.short_word' => 'varchar(20) CHECK (length(VALUE) < 20)',
		'fuzz.my_char' => 'char(6)', 'fuzz.my_date' => "date CHECK (VALUE > '-infinity')",
		map { ("fuzz.my_$_" => $_) } qw(timestamptz timestamp uuid bool bytea float8));

	return map { "CREATE DOMAIN $_ AS $base{$_}" } sort keys %base;
}

sub family_names
{
	my ($count, $with_nocase) = @_;
	my @names;

	while (@names < $count)
	{
		my $name = weighted(@weights);

		push @names, $name if $with_nocase || $name ne 'nocase';
	}
	return @names;
}

1;
