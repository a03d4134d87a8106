#!/usr/bin/perl
#
# indent_filter.pl
#	  What pgindent does before and after pg_bsd_indent.
#
# Usage: indent_filter.pl before|after < file
#
# test/lint/indent_filter.pl

use strict;
use warnings FATAL => 'all';

my $when = shift @ARGV;
my $source = do { local $/; <STDIN> };

# Before 2.1.2 pg_bsd_indent took the indentation from an initializer's second
# and later lines.
sub indent_initializer
{
	my ($first, $tabs, @rest) = @_;
	my $shift = 0;

	foreach my $line (@rest)
	{
		$shift = 1 if $line =~ /^$tabs\S/;
		$line = "\t$line" if $shift;
	}
	return join("\n", $first, @rest);
}

if ($when eq 'before')
{
	$source =~ s/[ \t]+$//gm;

	# Comments framed by dashes stay as they are.
	$source =~ s!/\* +---!/*---X_X!g;
}
else
{
	$source =~ s!/\*---X_X!/* ---!g;

	# Comments that ran together get a tab.
	$source =~ s!\*/(/\*.*\*/)$!*/\t$1!gm;

	# One space before "*" in the type of a function.
	$source =~ s!^([A-Za-z_]\S*)[ \t]+\*$!$1 *!gm;

	$source =~ s{^((\t+)\w[\w ]*[\t ][ \t*]*\w+ =[^\n;\{]*)\n([^;\{]*;)$}
		{indent_initializer($1, $2, split(/\n/, $3))}gme;
}
print $source or die "could not write: $!\n";
close(STDOUT) or die "could not write: $!\n";
