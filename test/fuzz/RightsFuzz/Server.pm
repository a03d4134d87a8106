# Server.pm
#	  The server that is attacked: its roles and databases, and its log, where
#	  planted code says who ran it.
#
# test/fuzz/RightsFuzz/Server.pm

package RightsFuzz::Server;

use strict;
use warnings;
use Time::HiRes qw(sleep time);

use FunctionFuzz::Objects qw(create_extensions);
use RightsFuzz::Session;

# How long a server may take to come back.
my $restart = 60;

our @roles = qw(dbo alice bob mallory);
our $app = 'rights_app';
our $far = 'rights_far';
our $liar = 'rights_liar';
our $control = 'rights_control';
our $template = 'rights_template';

sub new
{
	my ($class, %option) = @_;
	my $self = bless {%option}, $class;

	$self->connect_admin;
	$self->{superuser} = $self->{admin}->must('SELECT current_user');
	die "the fuzz needs to be a superuser\n"
	  if $self->{admin}->must('SELECT rolsuper FROM pg_roles WHERE rolname = current_user') ne 't';
	$self->{host} =
	  $self->{admin}->must(q{SELECT split_part(current_setting('unix_socket_directories'), ',', 1)});
	$self->{port} = $self->{admin}->must('SHOW port');
	$self->{log} //= $self->find_log;
	open($self->{log_handle}, '<:raw', $self->{log}) or die "$self->{log}: $!\n";
	seek($self->{log_handle}, 0, 2);
	$self->{partial} = '';
	return $self;
}

sub connect_admin
{
	my ($self) = @_;

	$self->{admin}->abandon if $self->{admin};
	$self->{admin} = RightsFuzz::Session->new($ENV{PGUSER} // getpwuid($<), 'postgres', 'rights admin');
	return;
}

# Where the server's messages go, as test/bin/cluster.sh and dev.sh have it.
sub find_log
{
	my ($self) = @_;
	my $directory = $self->{admin}->must('SHOW data_directory');
	my $collected = $self->{admin}->must('SELECT pg_current_logfile()');

	return "$directory/$collected" if defined $collected && $collected ne '';
	return "$self->{host}/server.log" if -r "$self->{host}/server.log";
	die "--log has to name the file that the server's messages go to\n";
}

sub role
{
	my ($self, $name) = @_;

	return $name eq 'superuser' ? $self->{superuser} : "rights_$name";
}

sub session
{
	my ($self, $name, $database, $application) = @_;

	return RightsFuzz::Session->new($self->role($name), $database // $app, $application);
}

# Complete lines that were added to the log since the last call.
sub new_lines
{
	my ($self) = @_;
	my $text = '';

	local $/ = undef;
	seek($self->{log_handle}, 0, 1);
	$text = readline($self->{log_handle}) // '';
	$text = $self->{partial} . $text;
	$self->{partial} = $text =~ s/([^\n]*)\z// ? $1 : '';
	return map { substr($_, 0, $RightsFuzz::Session::max_length) } split(/\n/, $text);
}

# What the log says that must not happen, in words that repeat themselves, and
# the function of ours in the outermost statement of a block, if there was one:
# [what, function].
sub new_findings
{
	my ($self) = @_;
	my @found;

	foreach my $line ($self->new_lines)
	{
		if ($line =~ /LOG:  (?:\w{5}: )?PLANTED (.*)/)
		{
			push @found, [ $1 =~ s/ at character \d+$//r, undef ];
		}
		elsif ($line =~ /((?:\w+ process|worker) .*was terminated by signal .*|PANIC: .*|TRAP: .*)/)
		{
			push @found, [ "the server: $1" =~ s/\(PID \d+\)/(PID)/r, undef ];
		}
		elsif (@found && $line =~ /(?:CONTEXT:|^\t).*SQL statement "SELECT\b.*?\b(spanner\w*\.\w+)\(/)
		{
			$found[-1][1] = $1;
		}
	}
	return @found;
}

# Is it there, if need be after it has come back?
sub is_alive
{
	my ($self) = @_;
	my $deadline = time() + $restart;

	for (my $first = 1; $first || time() < $deadline; $first = 0)
	{
		my $answer = eval { $self->{admin}->ask('SELECT 1', 5) };

		return 1 if $answer && !$self->{admin}{lost} && grep { $_ eq '1' } @$answer;
		sleep(0.1);
		$self->connect_admin;
	}
	return 0;
}

# Until a session waits for a lock, or has its answer.
sub wait_for_lock
{
	my ($self, $session, $pid) = @_;

	for (my $tries = 0; $tries < 1000 && !$session->has_answered; $tries++)
	{
		return if $self->{admin}->must("SELECT count(*) FROM pg_locks WHERE pid = $pid AND NOT granted") > 0;
		sleep(0.002);
	}
	return;
}

# What a role does once, and has to be able to.
sub must_as
{
	my ($self, $name, $database, @statements) = @_;
	my $session = $self->session($name, $database);
	my @lines = eval { $session->must(@statements) };
	my $error = $@;

	$session->end;
	die $error if $error;
	return wantarray ? @lines : $lines[0];
}

# Commands for a server that is another database here
sub make_server
{
	my ($self, $name, $database) = @_;

	return "CREATE SERVER $name FOREIGN DATA WRAPPER postgres_fdw "
	  . "OPTIONS (host '$self->{host}', port '$self->{port}', dbname '$database')";
}

sub map_user
{
	my ($self, $user, $server, $name) = @_;

	return "CREATE USER MAPPING FOR $user SERVER $server OPTIONS (user '" . $self->role($name) . "')";
}

# The subscriptions and slots that moves have left.
sub drop_database
{
	my ($self, $database) = @_;
	my $admin = $self->{admin};

	return if !$admin->must("SELECT 1 FROM pg_database WHERE datname = '$database'");
	$self->must_as('superuser', $database,
		q{SELECT format('ALTER SUBSCRIPTION %1$I DISABLE;
			ALTER SUBSCRIPTION %1$I SET (slot_name = NONE);
			DROP SUBSCRIPTION %1$I', subname)
			FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
			WHERE d.datname = current_database() \\gexec})
	  if $admin->must("SELECT 1 FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
			WHERE d.datname = '$database' LIMIT 1");
	$admin->must("SELECT count(pg_terminate_backend(active_pid))
		FROM pg_replication_slots WHERE database = '$database'");
	for (my $tries = 0;; $tries++)
	{
		last if eval { $admin->must("DROP DATABASE IF EXISTS $database WITH (FORCE)"); 1 };
		die $@ if $tries >= 50;
		sleep(0.1);
	}
	return;
}

sub create_database
{
	my ($self, $database, $owner, $from) = @_;

	$self->drop_database($database);
	$self->{admin}->must("CREATE DATABASE $database TEMPLATE $from OWNER " . $self->role($owner));
	return;
}

# Every round and every scenario begins with new databases.
sub renew
{
	my ($self) = @_;

	$self->create_database($_, 'dbo', $template) foreach $app, $far;
	$self->must_as('superuser', $_, 'GRANT CREATE ON DATABASE ' . $_ . ' TO PUBLIC') foreach $app, $far;
	$self->create_database($liar, 'mallory', 'template0');
	return;
}

sub set_up
{
	my ($self) = @_;

	$self->take_down;
	$self->{admin}->must(map { 'CREATE ROLE ' . $self->role($_) . ' LOGIN' } @roles);
	$self->create_database($_, 'dbo', 'template0') foreach $template, $control;
	$self->must_as('superuser', $control, "GRANT CREATE ON DATABASE $control TO PUBLIC");
	$self->must_as('superuser', $template,
		create_extensions(), 'CREATE EXTENSION postgres_fdw',
		'GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO PUBLIC',
		'GRANT CREATE ON SCHEMA public TO PUBLIC');
	return;
}

sub take_down
{
	my ($self) = @_;

	$self->drop_database($_) foreach $app, $far, $liar, $control, $template;
	$self->{admin}->must(map { 'DROP ROLE IF EXISTS ' . $self->role($_) } @roles);
	return;
}

1;
