# DocumentBlocks.pm
#	  The code blocks of a Markdown document, and how they are to be tested.
#
# A block begins with three backquotes and the name of its language, at the
# beginning of a line.  A comment in the line before says how it is tested, if
# not as its language is:
#
#	<!-- not run: REASON -->	it cannot be run here
#	<!-- run by FILE -->		that file of ours runs it, or prints it
#	<!-- found in FILE -->		it is an excerpt of that file of ours
#	<!-- computes shard ids -->	it is a function shard_id or shardId
#	<!-- computes striped values -->	it is a function striped
#	<!-- numbers vary -->		output: numbers and widths are not compared
#	<!-- output varies -->		output: not compared, but free of errors
#
# A block of "text" right behind one of "sql" is its output in psql, without
# the lines that count rows.
#
# test/t/DocumentBlocks.pm

package DocumentBlocks;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(blocks plain_output without_numbers);

# The way of testing that a comment asks for: [ way, what is named ].
sub marker
{
	my ($line) = @_;

	return unless $line =~ /^<!--\s*(.*?)\s*-->$/;
	my $words = $1;

	return [ $1, $2 ] if $words =~ /^(not run|run by|found in)\b:?\s+(\S.*)$/;
	return [ $words, '' ] if $words =~ /^(?:computes shard ids|computes striped values|numbers vary|output varies)$/;
	return [ 'unknown', $words ];
}

# The blocks of a document, each with "language", "text", "line" and, if there
# is one, its "way" and what that names; "output" is the block behind it.
sub blocks
{
	my ($document) = @_;
	my @lines = split /\n/, $document;
	my (@blocks, $open, $marker, $follows);

	for (my $i = 0; $i < @lines; $i++)
	{
		if ($open)
		{
			if ($lines[$i] =~ /^```\s*$/)
			{
				my $sql = $follows && @blocks ? $blocks[-1] : undef;

				if ($open->{language} eq 'text' && $sql && $sql->{language} eq 'sql' && !$sql->{output})
				{
					$sql->{output} = $open;
				}
				else
				{
					push @blocks, $open;
				}
				($open, $follows) = (undef, 1);
				next;
			}
			$open->{text} .= "$lines[$i]\n";
		}
		elsif ($lines[$i] =~ /^\s*```(\S*)/)
		{
			$open = { language => $1, text => '', line => $i + 1 };
			@$open{ 'way', 'named' } = @$marker if $marker;
			$marker = undef;
		}
		elsif ($lines[$i] =~ /\S/)
		{
			$marker = marker($lines[$i]);
			$follows = 0 unless $marker;
		}
	}
	die "the block of line $open->{line} has no end\n" if $open;
	return @blocks;
}

# Without what nobody sees: blanks at ends of lines, and empty lines.
sub plain_output
{
	my ($output) = @_;

	$output =~ s/[ \t\r]+$//gm;
	$output =~ s/\n{2,}/\n/g;
	$output =~ s/\A\n+|\n+\z//g;
	return $output;
}

sub without_numbers
{
	my ($output) = @_;

	$output =~ s/\d[\d.,]*(?:e[-+]\d+)?/N/g;
	$output =~ s/-{2,}/--/g;
	$output =~ s/[ \t]+/ /g;
	$output =~ s/^ | (?=\n|\z)//gm;
	return $output;
}

1;
