# The programs in examples/allocator, all at once, with several threads each,
# on one allocator: no number twice, in order for each thread, and one call of
# the server for each block.  A language that the machine does not have is
# skipped.

use strict;
use warnings;

use File::Spec;
use FindBin;
use IPC::Run;
use List::Util qw(first);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my ($size, $threads, $count) = (100, 8, 5000);
my $total = $threads * $count;
my $examples = "$FindBin::Bin/../../examples/allocator";
my $jar = $ENV{PGJDBC_JAR} // '/usr/share/java/postgresql.jar';
my $gopath = $ENV{GOPATH} // '/usr/share/gocode';
my $build = PostgreSQL::Test::Utils::tempdir();

# All programs of that name, as there can be several of Python.
sub programs
{
	my ($name) = @_;

	return grep { -x $_ && !-d _ } map { "$_/$name" } File::Spec->path, '/usr/bin';
}

sub works
{
	my $output;

	return IPC::Run::run \@_, '<', \undef, '>&', \$output;
}

# The command of each language, or why there is none.
sub python
{
	my $python = first { works($_, '-c', 'import psycopg2') } programs('python3');

	return $python ? [ $python, "$examples/block_generator.py" ] : 'no Python with psycopg2';
}

sub java
{
	my ($java) = programs('java');

	return 'no Java' if !$java || !programs('javac');
	return "no $jar: install pgjdbc or set PGJDBC_JAR" if !-e $jar;
	return [ $java, '-XX:TieredStopAtLevel=1', '-cp', $jar, "$examples/BlockGenerator.java" ];
}

sub go
{
	my ($go) = programs('go');
	my $binary = "$build/block_generator";

	return 'no Go' if !$go;
	return 'no lib/pq for Go' if !-d "$gopath/src/github.com/lib/pq";
	local %ENV = (%ENV, GO111MODULE => 'off', GOPATH => $gopath, GOCACHE => "$build/cache");
	IPC::Run::run [ $go, 'build', '-o', $binary, "$examples/block_generator.go" ] or die 'cannot build the program in Go';
	return [$binary];
}

my %commands = (Python => python(), Java => java(), Go => go());
my @languages = grep { ref $commands{$_} } sort keys %commands;
my $node = PostgreSQL::Test::Cluster->new('main');

$node->init;
$node->append_conf('postgresql.conf', "fsync = off\nlisten_addresses = '127.0.0.1'");
$node->start;
$node->safe_psql('postgres', q{CREATE EXTENSION spanner_keys; SELECT spanner.create_allocator('order')});
$ENV{PGHOST} = $node->host;
$ENV{PGPORT} = $node->port;
$ENV{PGDATABASE} = 'postgres';
$ENV{PGUSER} = $node->safe_psql('postgres', 'SELECT current_user');
$ENV{JDBC_URL} = "jdbc:postgresql://127.0.0.1:$ENV{PGPORT}/postgres?user=$ENV{PGUSER}";

my (%runs, %output, %errors, %seen);
foreach (@languages)
{
	$runs{$_} = IPC::Run::start([ @{ $commands{$_} }, 'order', $size, $threads, $count ],
		'>', \$output{$_}, '2>', \$errors{$_}, IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
}
foreach my $language (sort keys %commands)
{
  SKIP:
	{
		my %last;
		my $descents = 0;

		if (!$runs{$language})
		{
			diag("NOT TESTED in $language: $commands{$language}");
			skip "NOT TESTED in $language: $commands{$language}", 3;
		}
		ok($runs{$language}->finish, "$language runs") or diag($errors{$language});
		foreach (split /\n/, $output{$language})
		{
			my ($thread, $number) = split /\t/;

			$seen{$number}++;
			$descents++ if $number <= ($last{$thread} // 0);
			$last{$thread} = $number;
		}
		is(scalar keys %last, $threads, "$language: all threads have numbers");
		is($descents, 0, "$language: in order");
	}
}
is(scalar keys %seen, @languages * $total, 'as many numbers as asked for, none twice');
is($node->safe_psql('postgres', q{SELECT coalesce(sum("values"), 0) FROM spanner.stat_allocator}), @languages * $total, 'in blocks');
$node->stop;

done_testing();
