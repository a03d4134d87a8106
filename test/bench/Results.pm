# Results.pm
#	  The results of the benchmark, as numbers, ratios, tables and pictures.
#
# A value that was measured in rounds has one line for each; the lines of two
# cases with the same parameter pair, which gives one ratio for each round.
#
# test/bench/Results.pm

package Results;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(read_results distinct cases_of parameters_of values_of ratios median least number brief
  spread times table bar bars_table plots_into plot slurp spew);

my %values;        # section, case, parameter, metric => the values of the rounds
my %cases;         # section => its cases, in order
my %parameters;    # section => its parameters, in order
my @bars;
my $directory;

sub read_results
{
	my ($file) = @_;
	my %seen;

	open(my $in, '<', $file) or die "report.pl: cannot read $file: $!\n";
	while (my $line = <$in>)
	{
		chomp $line;
		my ($section, $case, $parameter, $metric, $value) = split(/\t/, $line, -1);

		push @{ $values{$section}{$case}{$parameter}{$metric} }, $value;
		push @{ $cases{$section} }, $case unless $seen{"$section\tcase\t$case"}++;
		push @{ $parameters{$section} }, $parameter unless $seen{"$section\tparameter\t$parameter"}++;
	}
	close($in);
}

sub distinct
{
	my %seen;

	return grep { !$seen{$_}++ } @_;
}

sub cases_of { return @{ $cases{ $_[0] } // [] } }

# The parameters of a section that match a pattern.
sub parameters_of
{
	my ($section, $pattern) = @_;

	return grep { /$pattern/ } @{ $parameters{$section} // [] };
}

# The values of all rounds; the parameter may be a pattern.
sub values_of
{
	my ($section, $case, $parameter, $metric) = @_;
	my @names = ref $parameter ? parameters_of($section, $parameter) : ($parameter);

	return map { @{ $values{$section}{$case}{$_}{$metric} // [] } } @names;
}

# One ratio for each round in which both cases have a value.
sub ratios
{
	my ($section, $case, $base, $parameter, $metric) = @_;
	my @ratios;

	foreach my $name (ref $parameter ? parameters_of($section, $parameter) : ($parameter))
	{
		my @over = values_of($section, $case, $name, $metric);
		my @under = values_of($section, $base, $name, $metric);

		push @ratios, map { $over[$_] / $under[$_] }
		  grep { defined $over[$_] && $under[$_] } 0 .. $#under;
	}
	return @ratios;
}

sub median
{
	my @sorted = sort { $a <=> $b } @_;

	return undef unless @sorted;
	return ($sorted[ int($#sorted / 2) ] + $sorted[ int(@sorted / 2) ]) / 2;
}

sub least { return (sort { $a <=> $b } @_)[0] }

# Three digits that count, and commas between thousands.
sub number
{
	my ($value) = @_;

	return '' unless defined $value;
	my $digits = $value == int($value) || abs($value) >= 100 ? 0 : abs($value) >= 10 ? 1 : abs($value) >= 1 ? 2 : 3;
	my $string = sprintf("%.${digits}f", $value);

	1 while $string =~ s/^(-?\d+)(\d{3})/$1,$2/;
	return $string;
}

# A count with its magnitude, for labels.
sub brief
{
	my ($value) = @_;

	return $value / 1e6 . ' million' if $value >= 1e6;
	return $value / 1e3 . ',000' if $value >= 1e3 && $value % 1000 == 0;
	return number($value);
}

# The median, and in brackets least and greatest.
sub spread
{
	my @sorted = sort { $a <=> $b } @_;

	return '' unless @sorted;
	return number(median(@sorted)) if number($sorted[0]) eq number($sorted[-1]);
	return sprintf('%s (%s..%s)', map { number($_) } median(@sorted), $sorted[0], $sorted[-1]);
}

sub times { return @_ ? 'x ' . spread(@_) : '' }

# table ALIGNMENT, ROW, ...: "l" and "r" for each column; the first row is the head
sub table
{
	my ($alignment, $head, @rows) = @_;
	my @lines = map { '| ' . join(' | ', map { $_ // '' } @$_) . ' |' } @rows;

	return join("\n",
		'| ' . join(' | ', @$head) . ' |',
		'|' . join('|', map { $_ eq 'r' ? '---:' : '---' } split(//, $alignment)) . '|',
		@lines)
	  . "\n";
}

# bar SECTION TEXT VALUE COMPARISON LIMIT [CAUSE]
#
# The cause is told where the bar is not met.
sub bar
{
	my ($section, $text, $value, $comparison, $limit, $cause) = @_;

	return unless defined $value;
	my $met = $comparison eq '<=' ? $value <= $limit : $value >= $limit;

	push @bars,
	  sprintf("| %s | %s | %s | %s %s | %s |\n",
		$section, $text, number($value), $comparison eq '<=' ? '≤' : '≥', $limit, $met ? 'met' : '**not met**' . (defined $cause ? ": $cause" : ''));
}

sub bars_table { return join('', @bars) }

sub plots_into { ($directory) = @_ }

sub slurp
{
	my ($file) = @_;

	local $/ = undef;
	open(my $in, '<', $file) or die "report.pl: cannot read $file: $!\n";
	return scalar <$in>;
}

sub spew
{
	my ($file, $text) = @_;

	open(my $out, '>', $file) or die "report.pl: cannot write $file: $!\n";
	print $out $text;
	close($out) or die "report.pl: cannot write $file: $!\n";
}

# gnuplot leaves blanks at the ends of lines, and empty lines at the end.
sub trim { spew($_[0], slurp($_[0]) =~ s/[ \t]+$//gmr =~ s/\n+\z/\n/r) }

# plot NAME, TEXT, COMMANDS, BLOCK => ROWS, ...
#
# Draw a picture, if there is a directory for it, and return the Markdown that
# shows it.  Each block of data is an array of rows.
sub plot
{
	my ($name, $text, $commands, %blocks) = @_;

	return "![$text]($name.svg)\n" unless defined $directory;
	open(my $gnuplot, '|-', 'gnuplot') or die "report.pl: cannot run gnuplot: $!\n";
	print $gnuplot "set terminal svg noenhanced size 860,430 font 'sans-serif,12' background 'white'\n",
	  "set output '$directory/$name.svg'\n", "set datafile separator \"\\t\"\n",
	  "set grid ytics lc rgb '#dddddd'\n", "set key outside right\n", "set style fill solid 0.8\n";
	foreach my $block (sort keys %blocks)
	{
		print $gnuplot "\$$block << END\n", (map { join("\t", map { $_ // 'NaN' } @$_) . "\n" } @{ $blocks{$block} }), "END\n";
	}
	print $gnuplot $commands;
	close($gnuplot) or die "report.pl: gnuplot failed on $name\n";
	trim("$directory/$name.svg");
	return "![$text]($name.svg)\n";
}

1;
