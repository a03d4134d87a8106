# Symbols.pm
#	  Which file of src defines an exported symbol, and which files use it.
#
# It reads text: names that macros put together are not seen.
#
# test/lint/Symbols.pm

package Symbols;

use strict;
use warnings;
use Exporter 'import';
use FindBin;
use lib $FindBin::Bin;
use SourceTree;

our @EXPORT = qw(read_symbols exported_symbols circles %defined %users %called_at_home);

our %defined;    # exported symbol => [file, line]
our %users;      # exported symbol => { file that uses it => 1 }
our %called_at_home;    # exported symbols that their own file uses

my $name = qr/(?:sk|spanner)_\w+/;

# Symbols that bison and flex make, of which the text has only the prefix.
sub generated
{
	my ($file) = @_;
	my @found;

	push @found, "$1parse" if $text{$file} =~ /^%define\s+api\.prefix\s+\{(\w+)\}/m;
	push @found, "$1lex" if $text{$file} =~ /^%option\s+prefix="(\w+)"/m;
	return @found;
}

# Comments, strings and, of headers, what only declares are blanked.
sub plain
{
	my ($file) = @_;
	my $plain = $code{$file} // blank_code($text{$file});

	$plain =~ s{^(?:[\w() ]*\b)?extern\b[^;{}]*;}{blank($&)}gme if $file =~ /\.h$/;
	return $plain;
}

sub define
{
	my ($symbol, $file, $line) = @_;

	$defined{$symbol} //= [ $file, $line ];
	return;
}

# Who exports what, and who uses it: files of src, and what else calls C of ours.
sub read_symbols
{
	my @sources = grep { m{^src/.*\.[cyl]$} } @files;
	my %plain = map { $_ => plain($_) } grep { m{^(?:src|test/fuzz|test/modules)/.*\.[chyl]$} } @files;

	foreach my $file (@sources)
	{
		define($1, $file, line_at($plain{$file}, $-[1]))
		  while $plain{$file} =~ /^(?!static\b|typedef\b)\w[\w \t*]*\n($name)\s*\((?![^;{}]*;)/gm;
		define($1, $file, line_at($plain{$file}, $-[1]))
		  while $plain{$file} =~ /^(?!static\b|extern\b|typedef\b|return\b)\w[\w \t*]*?\b($name)\s*(?:\[[^\]\n]*\]\s*)*[=;]/gm;
		define($_, $file, 1) foreach generated($file);
	}
	foreach my $file (keys %plain)
	{
		while ($plain{$file} =~ /\b($name)\b/g)
		{
			$users{$1}{$file} = 1 if $defined{$1} && $defined{$1}[0] ne $file;
		}
	}
	foreach my $symbol (keys %defined)
	{
		my ($file, $line) = @{ $defined{$symbol} };
		my $count = () = $plain{$file} =~ /\b$symbol\b/g;

		# its own file calls it as well
		$called_at_home{$symbol} = 1 if $count > 1 && $file =~ /\.c$/;
	}
	return;
}

# Those that are called by name, and not made by bison or flex.
sub exported_symbols
{
	return grep { /^sk_/ && !/_yy\w+$/ } sort keys %defined;
}

# Files that use each other in a circle (Tarjan), as lists of [file, file, symbols].
sub circles
{
	my (%edges, %index, %low, %on_stack, @stack, @found);
	my $visit;

	foreach my $symbol (sort keys %users)
	{
		push @{ $edges{$_}{ $defined{$symbol}[0] } }, $symbol
		  foreach grep { /\.[cyl]$/ && m{^src/} } keys %{ $users{$symbol} };
	}
	$visit = sub {
		my ($file) = @_;

		$index{$file} = $low{$file} = keys %index;
		push @stack, $file;
		$on_stack{$file} = 1;
		foreach my $other (sort keys %{ $edges{$file} })
		{
			$visit->($other) unless defined $index{$other};
			$low{$file} = $low{$other} if $on_stack{$other} && $low{$other} < $low{$file};
		}
		return if $low{$file} != $index{$file};

		my @circle;

		do
		{
			push @circle, pop @stack;
			delete $on_stack{ $circle[-1] };
		} until $circle[-1] eq $file;
		push @found, [ sort @circle ] if @circle > 1;
	};
	no warnings 'recursion';
	foreach my $file (sort keys %edges)
	{
		$visit->($file) unless defined $index{$file};
	}
	return map {
		my @circle = @$_;

		[ map { my $file = $_; map { $edges{$file}{$_} ? [ $file, $_, @{ $edges{$file}{$_} } ] : () } @circle }
			  @circle ]
	} @found;
}

1;
