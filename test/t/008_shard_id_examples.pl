# The programs in examples/shard_id compute the ids that the server computes:
# random lists of text keys, as one table and as the input of one process for
# each language.  A language that the machine does not have is skipped.

use strict;
use warnings;

use File::Spec;
use FindBin;
use IPC::Run;
use List::Util qw(first);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 220;
my $most_keys = 5;
my $seed = $ENV{SPANNER_KEYS_SEED} // time;
my $examples = "$FindBin::Bin/../../examples/shard_id";

# UTF-8 of one to four bytes, and what separates or stands for something in
# the programs' input and in what they hash.
my @characters = map { my $c = chr; utf8::encode($c); $c }
  (32 .. 126, 0x80, 0x85, 0xA0, 0xE9, 0x416, 0x2028, 0x3042, 0xFEFF, 0x10000, 0x1F600);
push @characters, ('-', ':', '\\', '"', "'", "\r") x 3;

# A key of this many bytes; what does not fit a longer character is filled up.
sub random_key
{
	my ($length) = @_;
	my $key = '';
	while (length $key < $length)
	{
		my $c = $characters[ rand @characters ];
		$key .= length($key) + length($c) <= $length ? $c : 'x';
	}
	return $key eq '\N' ? 'NN' : $key;
}

# One to five keys; some are NULL or empty, or as long as a block of the hash.
sub random_keys
{
	return map {
		my $kind = rand;
		$kind < 0.1 ? undef : random_key(
			$kind < 0.2 ? 0 : $kind < 0.3 ? 64 * int(rand 5) : int(rand 301));
	} 1 .. 1 + int(rand $most_keys);
}

# The ids of the server, a query for each number of keys.
sub server_ids
{
	my ($node, $lists) = @_;
	my @names = map { "k$_" } 1 .. $most_keys;
	my $names = join ', ', @names;
	my $columns = join ', ', map { "$_ text" } @names;
	my $copy = join '', map {
		my ($shards, @keys) = @$_;
		my @fields = map { defined $_ ? s/\\/\\\\/gr =~ s/\r/\\r/gr : '\N' } @keys;
		join("\t", $shards, scalar @keys, @fields, ('\N') x ($most_keys - @keys)) . "\n";
	} @$lists;
	my $cases = join ' ', map {
		"WHEN $_ THEN spanner.shard_id(shards, " . join(', ', @names[ 0 .. $_ - 1 ]) . ')'
	} 1 .. $most_keys;

	return split /\n/, $node->safe_psql('postgres', <<"SQL");
CREATE TABLE keyed (n serial, shards integer, key_count integer, $columns);
COPY keyed (shards, key_count, $names) FROM STDIN;
$copy\\.
SELECT CASE key_count $cases END FROM keyed ORDER BY n;
SQL
}

sub find_program
{
	my ($name) = @_;
	return first { -x $_ && !-d _ } map { "$_/$name" } File::Spec->path;
}

# Why a program cannot run, or nothing.
sub missing
{
	my ($program, $jar) = @_;
	return "no $program" unless find_program($program);
	return unless $jar;
	return 'no compiler for Java' unless find_program('javac');
	return "no $jar: install Guava or set GUAVA_JAR" unless -e $jar;
	return;
}

srand($seed);
note("seed $seed");

# One list that is also given as arguments, every length that the hash treats
# in its own way, and random lists.  The input ends in a line without keys.
my @lists = ([ 2048, 'abc', undef, '' ]);
push @lists, map { [ 2048, random_key($_) ] } 0 .. 8, 16, 17, 32, 33, 63 .. 65, 127 .. 129, 300;
push @lists, [ 7, undef ], [ 7, undef, undef ], [ 2**31 - 1, '', '' ], [ 1, 'a' ];
push @lists, [ 1 + int(rand(rand() < 0.5 ? 64 : 2**31 - 1)), random_keys() ]
  while @lists < $rows;
my $input = join '', map { join("\t", map { $_ // '\N' } @$_) . "\n" } @lists, [2048];

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', 'fsync = off');
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys');
my @expected = server_ids($node, \@lists);
$node->stop;
is(scalar @expected, scalar @lists, 'ids of the server');

my $guava = $ENV{GUAVA_JAR} // '/usr/share/java/guava.jar';
my @languages = (
	[ 'Python', undef, 'python3', "$examples/shard_id.py" ],
	[ 'JavaScript', undef, 'node', "$examples/shard_id.mjs" ],
	[ 'Java', $guava, 'java', '-XX:TieredStopAtLevel=1', '-cp', $guava, "$examples/ShardId.java" ]);

foreach my $language (@languages)
{
	my ($name, $jar, @command) = @$language;
	my $missing = missing($command[0], $jar);

  SKIP:
	{
		skip "NOT TESTED in $name: $missing", 3 if $missing;

		my ($output, $errors) = ('', '');
		my $success = IPC::Run::run \@command, '<', \$input, '>', \$output, '2>', \$errors;
		my @found = split /\n/, $output;
		my @wrong = grep { ($found[$_] // '') ne $expected[$_] } 0 .. $#expected;
		ok(@found == @expected && @wrong == 0, "shard ids in $name")
		  or diag("seed $seed: " . @wrong . ' of ' . @expected . ' wrong, first of line '
			  . (1 + ($wrong[0] // @expected)) . ": $errors");
		ok(!$success && $errors =~ /: a shard id needs at least one shard and one key$/,
			"line without keys in $name");

		IPC::Run::run [ @command, 2048, 'abc', '\N', '' ], '>', \$output;
		is($output, "$expected[0]\n", "keys as arguments in $name");
	}
}

done_testing();
