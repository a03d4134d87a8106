# Session.pm
#	  Sessions of psql, each of one role: what is asked, and what comes back.
#
# A statement can be sent and its answer waited for later, so that two sessions
# can be in the midst of something at the same time.
#
# test/fuzz/RightsFuzz/Session.pm

package RightsFuzz::Session;

use strict;
use warnings;
use IPC::Open3;
use Time::HiRes qw(time);

# What is kept of a line
our $max_length = 2000;

sub new
{
	my ($class, $role, $database, $name) = @_;
	my $self = bless { role => $role, database => $database, buffer => '', looked => 0, sent => 0 }, $class;

	$name //= "rights $role";
	$self->{pid} = open3($self->{to}, $self->{from}, undef,
		'psql', qw(--no-psqlrc --quiet --no-align --tuples-only --set=VERBOSITY=verbose),
		"dbname=$database user=$role application_name='$name'");
	$self->{to}->autoflush;
	return $self;
}

# A statement, or something that ends with a command of psql's.
sub send_statement
{
	my ($self, $statement) = @_;

	$self->{sent}++;
	my $end = $statement =~ /\\\w+\s*\z/ ? "\n" : "\n;\n";

	print { $self->{to} } $statement, $end, "\\echo #end $self->{sent}\n";
	return;
}

# Take what has come, for so many seconds; true if it is all.
sub has_answered
{
	my ($self, $timeout) = @_;
	my $deadline = time() + ($timeout // 0);
	my $end = "#end $self->{sent}\n";

	while (($self->{at} = index($self->{buffer}, $end, $self->{looked})) < 0)
	{
		my $left = $deadline - time();
		my $ready = '';

		$self->{looked} = length($self->{buffer}) - length($end);
		$self->{looked} = 0 if $self->{looked} < 0;
		vec($ready, fileno($self->{from}), 1) = 1;
		return 0 if select($ready, undef, undef, $left > 0 ? $left : 0) <= 0 && $left <= 0;
		next if !vec($ready, fileno($self->{from}), 1);
		next if sysread($self->{from}, $self->{buffer}, 65536, length($self->{buffer}));
		$self->{lost} = 1;
		$self->{at} = length($self->{buffer});
		last;
	}
	return 1;
}

# The lines that came back; undef if none came in time.  A session that is at
# its end has "lost" set.
sub answer
{
	my ($self, $timeout) = @_;

	return if !$self->has_answered($timeout);
	my $text = substr($self->{buffer}, 0, $self->{at});

	$self->{buffer} = '';
	$self->{looked} = 0;
	return [ map { substr($_, 0, $max_length) } split(/\n/, $text) ];
}

sub ask
{
	my ($self, $statement, $timeout) = @_;

	$self->send_statement($statement);
	return $self->answer($timeout // 60);
}

# Statements that have to succeed.
sub must
{
	my ($self, @statements) = @_;
	my @lines;

	foreach my $statement (@statements)
	{
		my $answer = $self->ask($statement);
		my ($error) = grep { /^(?:psql:.*)?(?:ERROR|FATAL):|connection to server/ } @{ $answer // [] };

		$error //= 'no answer' if !$answer || $self->{lost};
		die "$error\nas $self->{role}: $statement\n" if defined $error;
		push @lines, grep { !/^(?:NOTICE|WARNING|DETAIL|HINT|LOCATION): / } @$answer;
	}
	return wantarray ? @lines : $lines[0];
}

sub end
{
	my ($self) = @_;

	return if !$self->{pid};
	close($self->{to});
	close($self->{from});
	waitpid($self->{pid}, 0);
	delete $self->{pid};
	return;
}

# Of a session that may be busy: its server process goes on.
sub abandon
{
	my ($self) = @_;

	kill('TERM', $self->{pid}) if $self->{pid};
	$self->end;
	return;
}

1;
