#!/usr/bin/perl
#
# links.pl
#	  Check that what documents link to is there: files, and headings in them.
#
# Prints one line for each finding, and nothing if there is none.  Called by
# run.sh, from the top of the source tree.
#
# test/lint/links.pl

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use SourceTree;

# A document without its blocks of code, whose lines stay.
sub prose
{
	my ($file) = @_;

	return ($text{$file} // '') =~ s/^```.*?^```$/blank($&)/gmsre;
}

# The anchors of a document: its headings in lower case, without punctuation,
# with hyphens for blanks.
sub anchors
{
	my ($file) = @_;

	return map { lc($_) =~ s/[^\w\s-]//gr =~ s/\s/-/gr => 1 } prose($file) =~ /^#+\s+(.*?)\s*$/gm;
}

sub check_link
{
	my ($file, $target, $anchor) = @_;
	my $path = $target eq '' ? $file : ($file =~ s{[^/]*$}{}r) . $target;

	1 while $path =~ s{(?:^|(?<=/))[^/]+/\.\./}{};
	$path =~ s{/$}{};
	return "there is no $path" unless exists $text{$path} || grep { m{^\Q$path\E/} } @files;

	my %anchors = anchors($path);

	return "$path has no heading $anchor" unless $anchor eq '' || $anchors{$anchor};
	return;
}

read_files();
foreach my $file (grep { /\.md$/ } @files)
{
	my $prose = prose($file);

	while ($prose =~ /\]\(([^)\s]+)\)/g)
	{
		my ($link, $line) = ($1, line_at($prose, $-[0]));
		my $found = $link =~ /^\w+:/ ? undef : check_link($file, $link =~ /^([^#]*)#?(.*)$/);

		print "$file:$line: $found\n" if defined $found;
	}
}
