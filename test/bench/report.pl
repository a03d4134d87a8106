#!/usr/bin/perl
#
# report.pl
#	  Write the report of the benchmark, from its results.
#
# usage: report.pl [results.tsv]
#
# Writes report.md and the pictures, by gnuplot, next to the results.  What is
# said of each section is in Sections.pm.
#
# test/bench/report.pl

use strict;
use warnings;
use File::Basename;
use FindBin;
use lib $FindBin::Bin;
use Results;
use Sections;

my $file = shift // 'docs/bench/results.tsv';
my $directory = dirname($file);

read_results($file);
plots_into($directory);

my ($machine) = values_of('run', 'machine', '', 'description');
my ($version) = values_of('run', 'server', '', 'version');
my ($load) = values_of('run', 'machine', '', 'load before');
my @parts = grep { values_of('run', $_, 'full', 'time') || values_of('run', $_, 'quick', 'time') } section_names();
my $quick = grep { values_of('run', $_, 'quick', 'time') } @parts;
my $seconds = 0;

$seconds += (values_of('run', $_, 'full', 'time'), values_of('run', $_, 'quick', 'time'))[0] foreach @parts;

my @chapters = map { section_text($_) } @parts;
my ($cores) = $machine =~ /^(\d+) cores/;
my $rough = $load > ($cores // 1) / 2 ? ' Other work was running, so take the times as rough.' : '';
my $command = $quick ? 'BENCH=quick make bench' : 'make bench';

open(my $out, '>', "$directory/report.md") or die "report.pl: cannot write $directory/report.md: $!\n";
print $out <<"END";
# What spanner_keys costs

`$command`, PostgreSQL $version, $machine; @{[ sprintf('%.0f', $seconds / 60) ]} minutes, begun at a load average of $load.$rough

Times are ratios to what they are compared with, measured in turn in each round: the median of the rounds, and in brackets the least and the greatest. They show costs, not what a machine can do:
the servers run with `fsync = off`, except for the allocators, and all files are in the cache of the operating system. WAL, sizes and counts of instructions repeat from run to run. [results.tsv](results.tsv) has every round.

## Bars

What we want to reach, whether or not it is reached.

| section | bar | measured | limit | |
|---|---|---:|---:|---|
END
print $out bars_table(), "\n", join("\n", @chapters);
close($out) or die "report.pl: cannot write $directory/report.md: $!\n";
