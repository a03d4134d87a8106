# SourceTree.pm
#	  The files of the source tree, and as much of C and SQL as rules.pl needs.
#
# test/lint/SourceTree.pm

package SourceTree;

use strict;
use warnings;
use Exporter 'import';
use File::Find;

our @EXPORT = qw(@files %text %code %nocom blank blank_comments blank_code read_files c_files base_scripts line_at make_list
  calls literals functions statements find_ours room_of);

our @files;    # the names of all files
our %text;     # file => its text
our %code;     # C file => its text with comments and strings blanked
our %nocom;    # C file => its text with comments blanked, strings kept

sub slurp
{
	my ($file) = @_;

	open(my $in, '<', $file) or die "could not open $file: $!\n";
	local $/;
	my $content = <$in>;
	close($in);
	return $content // '';
}

# Replace everything but newlines, so that offsets and lines stay.
sub blank
{
	my ($string) = @_;

	$string =~ s/[^\n]/ /g;
	return $string;
}

my $string = qr/"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'/;

sub blank_comments
{
	my ($c) = @_;

	return $c =~ s{($string)|(/\*.*?\*/)}{defined $1 ? $1 : blank($2)}gesr;
}

# Comments, and what is between the quotes of a string.
sub blank_code
{
	my ($c) = @_;

	return blank_comments($c) =~ s{($string)}{substr($1, 0, 1) . blank(substr($1, 1, -1)) . substr($1, -1)}gesr;
}

sub read_files
{
	my $skip = qr{/(?:\.git|tmp_check|results|output_iso|log|build-[^/]+|debian/(?:\.debhelper|tmp|(?:postgresql|spanner)-[^/]+))$};

	find(
		{
			no_chdir => 1,
			wanted   => sub {
				$File::Find::prune = 1 if -d $_ && $_ =~ $skip;
				return if !-f $_ || /\.(?:o|d|bc|so|gcda|gcno|zip)$/ || /regression\.(?:out|diffs)$/;
				# built from the parts in src
				return if $_ eq './src/splits/client/spanner_splits';
				return if m{^\./sql/spanner_keys\w*--[^-]+\.sql$};
				# made by bison and flex
				return if m{^(.*)\.c$} && (-e "$1.y" || -e "$1.l");
				push @files, $_ =~ s{^\./}{}r;
			}
		},
		'.');
	@files = sort @files;
	$text{$_} = slurp($_) foreach @files;
	foreach my $file (grep { /\.[ch]$/ } @files)
	{
		$nocom{$file} = blank_comments($text{$file});
		$code{$file} = blank_code($text{$file});
	}
	return;
}

sub c_files
{
	return grep { m{^(?:src|test/modules)/.*\.[ch]$} } @files;
}

sub base_scripts
{
	return grep { m{^src/.*\.sql$} } @files;
}

sub line_at
{
	my ($string, $offset) = @_;

	return 1 + (substr($string, 0, $offset) =~ tr/\n//);
}

# The value of a list in the Makefile, with the lists that it is made of.
sub make_list
{
	my ($name) = @_;
	my $makefile = $text{Makefile} =~ s{\\\n}{ }gr;

	return () unless $makefile =~ m{^$name\s*=\s*(.*)$}m;
	return map { m{^\$\((\w+)\)$} ? make_list($1) : $_ } split(" ", $1);
}

# The arguments of the call whose opening parenthesis is at the offset.
sub arguments
{
	my ($string, $blanked, $open) = @_;
	my $depth = 0;

	for (my $i = $open; $i < length($blanked); $i++)
	{
		my $char = substr($blanked, $i, 1);

		$depth++ if $char eq '(';
		$depth-- if $char eq ')';
		return substr($string, $open + 1, $i - $open - 1) if $depth == 0;
	}
	return '';
}

# All calls of functions whose name matches, as [name, arguments, line].
sub calls
{
	my ($file, $name) = @_;
	my @found;

	while ($code{$file} =~ /\b($name)\s*\(/g)
	{
		push @found,
		  [
			$1, arguments($nocom{$file}, $code{$file}, $+[0] - 1),
			line_at($code{$file}, $-[0])
		  ];
	}
	return @found;
}

# The literal texts among the arguments of a message function: one for errmsg,
# singular and plural for errmsg_plural.
sub literals
{
	my ($arguments, $count) = @_;
	my @found;

	$arguments =~ s/(?<!\\)"\s*(?:(?:U?INT64_FORMAT|PRI[du]64)\s*)?"//g;
	while (@found < $count && $arguments =~ /\G[\s,_(]*"((?:\\.|[^"\\])*)"\)?/gc)
	{
		push @found, $1 =~ s/\\(.)/$1 eq 'n' ? "\n" : $1/ger;
	}
	return @found;
}

# Function bodies of a C file: [name, first line, lines, body].
sub functions
{
	my ($file) = @_;
	my @found;

	while ($code{$file} =~ /^(\w+)\(([^;{}]*)\)\s*\n\{\n(.*?)^\}/gms)
	{
		my ($name, $body) = ($1, $3);

		push @found, [ $name, line_at($code{$file}, $-[1]), ($body =~ tr/\n//), $body ];
	}
	return @found;
}

# Split a script into statements: [text, line, bodies quoted by dollars, last line].
sub statements
{
	my ($file) = @_;
	my @found;
	my @bodies;
	my $sql = $text{$file};

	$sql =~ s{/\*.*?\*/}{blank($&)}ges;
	$sql =~ s{^\\.*$}{blank($&)}gme;
	# Comments, strings and bodies are blanked, bodies are kept apart.
	$sql =~ s{(--[^\n]*)|(\$(\w*)\$.*?\$\3\$)|('(?:[^']|'')*')}
		{
			push @bodies, [ $-[0], $2 ] if defined $2;
			blank($&)
		}ges;
	while ($sql =~ /([^;]*);/g)
	{
		my ($start, $end) = ($-[1], $+[1]);
		my $statement = $1;
		my $line = line_at($sql, $start + ($statement =~ /\S/ ? $-[0] : 0));

		# A body in BEGIN ATOMIC has semicolons of its own.
		if ($statement =~ /\bBEGIN\s+ATOMIC\b/i && $statement !~ /\bEND\s*$/i)
		{
			$sql =~ /\G.*?\bEND\s*;/gcs;
			$statement = substr($sql, $start, pos($sql) - $start);
			$end = pos($sql);
		}
		push @found,
		  [
			$statement, $line, [ map { $_->[1] } grep { $_->[0] >= $start && $_->[0] < $end } @bodies ],
			line_at($sql, $end)
		  ];
	}
	return @found;
}

# The path of a header of ours, seen from a file.
sub find_ours
{
	my ($file, $name) = @_;
	my $beside = $file =~ s{[^/]*$}{$name}r;

	$beside =~ s{[^/]+/\.\./}{} while $beside =~ m{[^/]+/\.\./};
	return (grep { exists $text{$_} } ("src/$name", $beside))[0];
}

sub room_of
{
	my ($path) = @_;

	return $path =~ m{^src/(\w+)/} ? $1 : '';
}

1;
