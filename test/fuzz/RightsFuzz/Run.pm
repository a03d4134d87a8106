# Run.pm
#	  Statements of a victim, and what must not come of them.
#
# test/fuzz/RightsFuzz/Run.pm

package RightsFuzz::Run;

use strict;
use warnings;
use File::Temp qw(tempfile);
use Time::HiRes qw(sleep time);

use RightsFuzz::Server;

# A statement that ignores the timeouts for so long hangs.
my $max_silence = 60;

# Internal errors that are PostgreSQL's own answer to objects that change
# meanwhile: it reads many catalogs without a lock.
my %excused = (
	'tuple concurrently (?:updated|deleted)' => 'two commands change one row of a catalog',
	'could not open relation with OID' => 'a relation is dropped before it is opened',
	'cache lookup failed for' => 'an object is dropped before it is looked up',
	'could not find tuple for' => 'the same',);

sub new
{
	my ($class, %option) = @_;
	my $self = bless { %option, seen => {}, count => {}, findings => 0 }, $class;

	foreach my $file (glob("$option{source}/*/*.c $option{source}/*/*/*.c"))
	{
		open(my $handle, '<', $file) or die "$file: $!\n";
		push @{ $self->{sources}{ $file =~ s/.*\///r } }, do { local $/ = undef; readline($handle) };
	}
	$self->{count}{$_} = 0 foreach qw(statements errors timeouts calls changes);
	return $self;
}

# What is done now, for the report: its name, and what makes it again.
sub begin
{
	my ($self, $name) = @_;

	$self->{name} = $name;
	$self->{found} = [];
	$self->{server}->new_findings;
	return;
}

sub tell
{
	my ($self, $what, $role, $statement, $function) = @_;

	# other statements in the context are those of our functions
	undef $function if $statement !~ /^DO /;
	$function //= $statement =~ /\b(spanner(?:_internal)?\.\w+)/ ? $1 : undef;
	my $place = $what =~ s/: code of .*//r =~ s/\d+/N/gr;
	my $key = join('|', $self->{name} =~ /^A\d/ ? $self->{name} : '', $place, $function // '');

	return if $self->{seen}{$key}++;
	$self->{findings}++;
	push @{ $self->{found} }, $what . ($function ? " ($function)" : '');
	print "\nFINDING $self->{findings}: $self->{name}, seed $self->{seed}: $what\n-- as $role:\n",
	  substr($statement, 0, 2000), ";\n";
	return;
}

# Take note of what the log has got since the last call.
sub look
{
	my ($self, $role, $statement) = @_;
	my @found = $self->{server}->new_findings;

	$self->tell($_->[0], $role, $statement, $_->[1]) foreach @found;
	return scalar(@found);
}

# Was it raised by code of the extension?
sub is_ours
{
	my ($self, $location) = @_;
	my ($function, $file) = $location =~ /^LOCATION:  (\w+), (\w+\.c):/ or return 0;

	return grep { /^\Q$function\E\(/m } @{ $self->{sources}{$file} // [] };
}

# Errors that must not be, among the answers to a statement.
sub judge
{
	my ($self, $lines, $role, $statement) = @_;

	foreach my $i (grep { $lines->[$_] =~ /(?:ERROR|WARNING):  / } 0 .. $#$lines)
	{
		my ($state, $message) =
		  $lines->[$i] =~ /(?:ERROR: |caught|WARNING: ) ?(\w{5}): (?!caught)(.*)/;
		my ($location) = grep { /LOCATION: / } @$lines[ $i + 1 .. $#$lines ];

		# success, and a transaction that has ended already
		next if !defined $state || $state =~ /^0|^25P01/;
		$self->{count}{errors}++;
		$self->{messages}{"$state " . $message =~ s/"[^"]*"/""/gr =~ s/\d+/N/gr}++;
		$self->{count}{timeouts}++ if $state eq '57014';
		next if $state !~ /^XX/;
		next if !$self->is_ours($location // '') && grep { $message =~ /$_/ } keys %excused;
		$self->tell("internal error: $message", $role, $statement);
	}
	return;
}

# A statement of a session that may be attacked.  Returns what came back.
sub attack
{
	my ($self, $session, $statement) = @_;

	$session->send_statement($statement);
	return $self->hear($session, $statement);
}

# The answer to what was sent.
sub hear
{
	my ($self, $session, $statement) = @_;
	my $lines = $session->answer($max_silence);

	$self->{count}{statements}++;
	print { $self->{trace} } "-- $session->{role}\n$statement;\n", map { "--> $_\n" } @{ $lines // [] }
	  if $self->{trace};
	if (!$lines)
	{
		$self->tell("no answer for $max_silence s", $session->{role}, $statement);
		$session->abandon;
		$session->{lost} = 1;
		$lines = [];
	}
	$self->look($session->{role}, $statement);
	if ($session->{lost})
	{
		# the log tells why, a moment later
		sleep(0.2);
		$self->{server}->is_alive or die "the server does not come back\n";
		$self->look($session->{role}, $statement);
		$self->tell('the connection is lost', $session->{role}, $statement) if !@{ $self->{found} };
	}
	$self->judge($lines, $session->{role}, $statement);
	return $lines;
}

# Values of keys in a result are of those that were put into the tables: small
# numbers, "x" with and without them, "y", uuids that begin with zeros, the year 2024.
# A planted expression puts one more "x" in front.  Others were read from memory
# that is no key.
sub check_values
{
	my ($self, $lines, $role, $statement) = @_;

	# what others return is no key; what read_heatmap() does, is counts and words
	return if $statement !~ /\.(?:key_\w+|(?!plan_)\w*sample\w*|\w*points\w*|(?!read_)\w*heatmap\w*)\(/;
	foreach my $line (grep { /^\d+\|/ } @$lines)
	{
		foreach my $value (split(/\|/, $line))
		{
			next if $value =~ /^(?:|y|x{0,2}\d{0,6}(?:\.\d+)?|[tf])\z/;
			next if $value =~ /^(?:0{8}-0000-[0-9a-f-]*|202[34]-\S+ [0-9:.+-]+)\z/;
			$self->tell("value \"$value\" was never stored", $role, $statement);
		}
	}
	return;
}

# Run the statements that a query prints as somebody does who pastes them into
# psql, and goes on after an error.  They go from file to file: nothing but psql
# looks at them.
sub paste
{
	my ($self, $session, $query, $database) = @_;
	my ($handle, $file) = tempfile('rightsXXXXXX', TMPDIR => 1, SUFFIX => '.sql', UNLINK => 1);
	my @lines;

	close($handle);
	my $lines = $self->attack($session,
		"\\o $file\nSELECT string_agg(t, E';\\n') FROM ($query) x (t);\n\\o");
	open($handle, '+<', $file) or die "$file: $!\n";
	my $text = do { local $/ = undef; readline($handle) };

	if ($text =~ /\S/)
	{
		seek($handle, 0, 0);
		print $handle "\\set ON_ERROR_ROLLBACK on\nBEGIN;\nSET LOCAL statement_timeout = '200ms';\n",
		  "$text\n;\nROLLBACK;\n";
		close($handle);
		$self->run_file($session->{role}, $file, $database, $text);
	}
	unlink($file);
	return $lines;
}

# A program that somebody runs as a role; returns whether it succeeded, and its lines.
sub run_program
{
	my ($self, $role, $text, @command) = @_;
	my @lines;

	if (my $pid = open(my $program, '-|') // die "fork: $!\n")
	{
		local $SIG{ALRM} = sub { kill('TERM', $pid) };

		alarm($max_silence);
		@lines = map { chomp; substr($_, 0, $RightsFuzz::Session::max_length) } readline($program);
		alarm(0);
		close($program);
	}
	else
	{
		open(STDERR, '>&', \*STDOUT);
		open(STDIN, '<', '/dev/null');
		exec(@command);
	}
	my $is_done = $? == 0;

	$self->{count}{statements}++;
	print { $self->{trace} } "-- $role runs\n$text\n", map { "--> $_\n" } @lines if $self->{trace};
	$self->judge(\@lines, $role, $text);
	$self->look($role, $text);
	return ($is_done, @lines);
}

sub run_file
{
	my ($self, $role, $file, $database, $text) = @_;

	$self->run_program($role, $text, 'psql', qw(--no-psqlrc --quiet --no-align --tuples-only --set=VERBOSITY=verbose),
		"--file=$file", "dbname=$database user=$role application_name='rights paste'");
	return;
}

sub run_splits
{
	my ($self, $role, $database, @words) = @_;

	return $self->run_program($role, join(' ', 'spanner_splits', @words),
		'spanner_splits', '--yes', '--tries=2', "--dbname=dbname=$database user=$role application_name='rights splits'", @words);
}

1;
