#!/usr/bin/perl
#
# report.pl
#	  Write the report of the benchmark, from its results.
#
# usage: report.pl [--check] [results.tsv]
#
# Writes report.md and the pictures, by gnuplot, next to the results.  What is
# said of each section is in Sections.pm.  With the results that are kept beside
# this script the report goes to docs/bench, and the figures that Figures.pm
# lists are written into the documents.
# With --check nothing is written: the report and the documents are compared
# with the results, and what differs is printed.
#
# test/bench/report.pl

use strict;
use warnings;
use File::Basename;
use FindBin;
use lib $FindBin::Bin;
use Figures;
use Results;
use Sections;

my $of_documents = 'test/bench/results.tsv';
my $check = @ARGV && $ARGV[0] eq '--check' && shift;
my $file = shift // $of_documents;
my $directory = $file eq $of_documents ? 'docs/bench' : dirname($file);
my $link = $file eq $of_documents ? "../../$file" : basename($file);

# The whole report.
sub report
{
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

	return <<"END" . bars_table() . "\n" . join("\n", @chapters);
# What spanner_keys costs

`$command`, PostgreSQL $version, $machine; @{[ sprintf('%.0f', $seconds / 60) ]} minutes, begun at a load average of $load.$rough

Times are ratios to what they are compared with, measured in turn in each round: the median of the rounds, and in brackets the least and the greatest. They show costs, not what a machine can do:
the servers run with `fsync = off`, except for the allocators, and all files are in the cache of the operating system. WAL, sizes and counts of instructions repeat from run to run. [results.tsv]($link) has every round.

## Bars

What we want to reach, whether or not it is reached.

| section | bar | measured | limit | |
|---|---|---:|---:|---|
END
}

read_results($file);
plots_into($check ? undef : $directory);
my $report = report();

if ($check)
{
	my @findings = figures_that_differ($report);

	push @findings, "$directory/report.md is not the report of $file" if $report ne slurp("$directory/report.md");
	print "$_\n" foreach @findings, @findings ? 'run test/bench/report.pl, and read what it changes' : ();
	exit(@findings ? 1 : 0);
}
spew("$directory/report.md", $report);
my @findings = $file eq $of_documents ? write_figures($report) : ();

print "$_\n" foreach @findings;
exit(@findings ? 1 : 0);
