# Figures.pm
#	  Which figures of the documents come from the benchmark.
#
# Each entry is a document, a text that stands once in it, with "#" for each
# figure, and the figures.  Blanks of the text are any blanks, so that a line
# may end there.  report.pl writes the figures, and lint compares them.
#
# test/bench/Figures.pm

package Figures;

use strict;
use warnings;
use Exporter 'import';
use List::Util qw(first);
use Results;

our @EXPORT = qw(figures_that_differ write_figures);

my %tables;    # chapter => its tables, each an array of rows

sub read_tables
{
	my ($report) = @_;

	foreach my $chapter (split /^## /m, $report)
	{
		my ($title) = $chapter =~ /^(.*)/;

		foreach my $table ($chapter =~ /((?:^\|.*\n)+)/mg)
		{
			my @rows = map { [ split /\s*\|\s*/, s/^\|\s*//r, -1 ] } split /\n/, $table;

			push @{ $tables{$title} }, [ @rows[ 0, 2 .. $#rows ] ];
		}
	}
}

# The figures of the report in a chapter, in the row that begins with these
# cells, below this head or in the column of this number.  If several tables of
# the chapter have it, "which" tells them apart, from 0.  In a scalar context
# the first figure of the cell.
sub cell
{
	my ($chapter, $row, $column, $which) = @_;
	my @found;

	foreach my $table (@{ $tables{$chapter} })
	{
		my ($head, @rows) = @$table;
		my $place = $column =~ /^\d+$/ ? $column : first { $head->[$_] eq $column } 0 .. $#$head;
		my $line = first { index(join(' | ', @$_), "$row | ") == 0 } @rows;

		push @found, $line->[$place] if defined $place && $line;
	}
	my @figures = ($found[ $which // 0 ] // '') =~ /(\d[\d,]*(?:\.\d+)?)/g
	  or die "report.pl: \"$chapter\" has no figure for \"$row\", \"$column\"\n";

	return wantarray ? @figures : $figures[0];
}

# Medians of milliseconds.
sub planner { return number(median(values_of('planner', $_[0], $_[1], 'time'))) }

sub advice { return number(median(values_of('advisor', 'advise', 'tables=10000 analyzed=no', 'CPU time'))) }

# What a bar of a section has measured.
sub measured { return scalar cell('Bars', "$_[0] | $_[1]", 'measured') }

# How much more there is of something, in percent.
sub percent
{
	my ($with, $without) = map { s/,//gr } @_;

	return sprintf('%.1f', 100 * ($with / $without - 1));
}

sub readme
{
	my $keys = 'Keys on one server';
	my @keys = ('uuid', 'bit_reversed_positive', 'striped(64)');
	my ($version) = values_of('run', 'server', '', 'version');

	return map { [ 'README.md', @$_ ] } (
		[ '`make bench` on PostgreSQL #', $version ],
		[ '| CPU time | 1 | # | # | # |', map { scalar cell($keys, $_, 'CPU time') } @keys ],
		[ '| WAL, a checkpoint every 125,000 rows | 1 | # | # | # |', map { scalar cell($keys, $_, 'every 125,000') } @keys ],
		[ '| index of 2 million rows | 1 | # | # | # |', map { scalar cell($keys, $_, 'after the first segment') } @keys ]);
}

sub sequences
{
	my @figures = map { scalar cell('Keys on one server', "striped($_)", 'CPU time') } 1024, 64;

	return ([ 'docs/sequences.md', 'with 1024 the CPU time is x # that of `bigserial`, and # with 64', @figures ]);
}

sub allocators
{
	my @modes = ('no allocator', '`sync`', '`on_commit`', '`on_commit`, early lock release', '`async`',
		'`async_batch`, adaptive', 'ordinary insert, `nextval` key');
	my ($version) = values_of('run', 'server', '', 'version');
	my $rows = '200,000 rows of a transaction, on_commit,';

	return map { [ 'docs/allocators.md', @$_ ] } (
		[ 'with fsync on, PostgreSQL #', $version ],
		map({
				my $mode = $_;
				[ "| $mode | # | # | # |", map { scalar cell('Allocators', $mode, 'values/s', $_) } 0 .. 2 ]
			} @modes),
		[ '200,000 rows in one transaction take # times the processor time', measured('allocator', "$rows insert with `nextval` = 1") ],
		[ 'With `fillfactor = 45` it is # times', measured('allocator', "$rows fillfactor 45, insert with `nextval` = 1") ]);
}

sub planning
{
	my ($version) = values_of('run', 'server', '', 'version');

	return map { [ 'docs/planning.md', @$_ ] } (
		[ '64 shards, on PostgreSQL #', $version ],
		[ 'rows take # ms by a merge, # by a sort, and # by an index', map { planner($_, 'query=page shards=64 rows=100') } 'merge', 'scan and sort', 'plain index' ],
		map({
				my ($text, $query) = @$_;
				[ $text, map { planner($_, "query=$query shards=64 rows=100") } 'with', 'without' ]
			} [ 'whole key takes # ms, without the planner #', 'look-up' ], [ 'A join with 1000 rows takes #, and #', 'join' ]),
		[ 'With 200,000 rows of 100 sensors it takes # ms, and a sort of all rows #', map { planner($_, 'query=latest shards=16') } 'with', 'without' ],
		[ 'ORDER BY at DESC LIMIT 1)` takes # ms', planner('by hand', 'query=latest shards=16') ],
		[ 'A join of four sharded tables takes # times as long to plan', measured('planner', 'planning of join of 4, 16 shards, without the features = 1') ],
		[ 'A statement on another table takes # % more',
			percent(map { scalar cell('Instructions', 'a small statement planned and run', $_) } 'bit_reversed_positive', 'core') ]);
}

sub others
{
	my @index = map { scalar cell('Keys on one server', $_, 4) } 'uuid', 'bit_reversed_positive';

	return (
		[ 'docs/advice.md', '10,000 tables with 30,000 indexes take # seconds of CPU time', advice() ],
		[ 'docs/troubleshooting.md', '`spanner.advise()` takes # s of CPU time for 10,000 tables', advice() ],
		[ 'docs/how_it_works.md', 'index and WAL are # times those of bit-reversed ids', sprintf('%.1f', $index[0] / $index[1]) ],
		[ 'docs/recommendations.md', '`spanner.farm_fingerprint` is none: # ns, where `md5` takes #',
			map { scalar cell('Functions', "$_ | text", 'ns') } 'spanner.farm_fingerprint', 'md5' ]);
}

# Call a function for each entry, with its document, the text of that, and the
# places of the figures in it: beginning, end, what is there, what should be.
sub each_figure
{
	my ($report, $function) = @_;
	my @findings;

	read_tables($report);
	foreach my $entry (readme(), sequences(), allocators(), planning(), others())
	{
		my ($document, $text, @figures) = @$entry;
		my $content = slurp($document);
		my $pattern = quotemeta($text) =~ s/\\#/(\\d[\\d.,]*\\d|\\d)/gr =~ s/(?:\\\s)+/\\s+/gr;

		if ($content =~ /$pattern/ && $` . $' !~ /$pattern/)
		{
			$content =~ /$pattern/;
			push @findings, $function->($document, $content, map { [ $-[$_], $+[$_], substr($content, $-[$_], $+[$_] - $-[$_]), $figures[ $_ - 1 ] ] } 1 .. $#-);
		}
		else
		{
			push @findings, "$document does not have once: $text";
		}
	}
	return @findings;
}

sub figures_that_differ
{
	my ($report) = @_;

	return each_figure(
		$report,
		sub {
			my ($document, $content, @places) = @_;

			return map { "$document has $_->[2] instead of $_->[3] in: " . substr($content, $places[0][0] - 40, 60) =~ s/\s+/ /gr }
			  grep { $_->[2] ne $_->[3] } @places;
		});
}

# Returns what is not found.
sub write_figures
{
	my ($report) = @_;

	return each_figure(
		$report,
		sub {
			my ($document, $content, @places) = @_;

			substr($content, $_->[0], $_->[1] - $_->[0]) = $_->[3] foreach reverse @places;
			spew($document, $content);
			return;
		});
}

1;
