# No value is given twice, whatever kills the server: clients draw from bound
# sequences while a backend is killed or the server is stopped at once.
#
# Each client writes down every value that it gets.  A value is final as soon
# as the client has seen a later transaction of its own commit, even if the
# transaction that drew it was rolled back: the log of the drawing was flushed
# with that commit.  What a client got between its last commit and a crash was
# never promised to anybody, for PostgreSQL's own sequences neither; such
# values only have to be different from each other while the server runs.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $clients = 4;
my $rounds = 6;
my %cache = (t1 => 1, t2 => 20, t3 => 1, t4 => 20);
my %kind = (
	t1 => 'bit_reversed_positive',
	t2 => 'bit_reversed_positive(skip_range_min=1, skip_range_max=4611686018427387904)',
	t3 => 'striped',
	t4 => 'striped(stripes=4)');

my %final;    # table => { value => times that it became final }
my %loose;    # table => { value => times that it was got and lost in a crash }
my $repeated = 0;     # values that came twice while the server ran
my $errors = '';

my $node = PostgreSQL::Test::Cluster->new('crash');

# Write the script of a client, far longer than it lives.  Lines of output
# are "table value"; "final" follows a commit.
sub write_script
{
	my ($client) = @_;
	my $file = "$PostgreSQL::Test::Utils::tmp_check/crash_$client.sql";
	my $script = "\\set QUIET on\n";

	for my $table (sort keys %kind)
	{
		$script .= <<"EOS";
INSERT INTO $table (client) VALUES ($client) RETURNING '$table', id;
\\echo final
BEGIN;
SELECT '$table', spanner.nextval('${table}_id_seq') FROM generate_series(1, 3);
INSERT INTO $table (client) VALUES ($client) RETURNING '$table', id;
ROLLBACK;
SELECT '$table', spanner.nextval('${table}_id_seq');
BEGIN;
INSERT INTO $table (client) VALUES ($client) RETURNING '$table', id;
COMMIT;
\\echo final
EOS
	}
	$script .= "CHECKPOINT;\n" if $client == 1;
	append_to_file($file, $script x 3000);
	return $file;
}

# Output goes to files, since a pipe would hold up the client.
sub start_client
{
	my ($script) = @_;
	my $base = PostgreSQL::Test::Utils::tempdir() . '/client';
	my %self = (out => "$base.out", err => "$base.err");

	$self{run} = IPC::Run::start(
		[ 'psql', '-XAt', '-F', ' ', '-d', $node->connstr('postgres'), '-f', $script ],
		'>', $self{out}, '2>', $self{err},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return \%self;
}

# Wait until every client has committed new rows.
sub wait_for_rows
{
	my ($rows) = @_;

	$node->poll_query_until(
		'postgres', qq{
		SELECT count(*) = $clients FROM (
			SELECT client FROM t1 GROUP BY client
			HAVING count(*) >= $rows) c})
	  or die 'the clients do not come forward';
	return;
}

# Kill one of the clients' backends.
sub kill_backend
{
	my $pid = $node->safe_psql(
		'postgres', q{
		SELECT pid FROM pg_stat_activity
		WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
		LIMIT 1});

	is(kill('KILL', $pid), 1, 'killed a backend');
	return;
}

# Enter what the clients of a round got.
sub enter_values
{
	my %seen;

	for my $client (@_)
	{
		my @pending;

		$client->{run}->finish;
		$errors .= join "\n", slurp_file($client->{err}) =~ /^.*ERROR.*$/mg;
		for my $line (split /\n/, slurp_file($client->{out}))
		{
			if ($line eq 'final')
			{
				$final{ $_->[0] }{ $_->[1] }++ foreach @pending;
				@pending = ();
			}
			elsif ($line =~ /^(t\d) (\d+)$/)
			{
				push @pending, [ $1, $2 ];
				$repeated++ if $seen{$line}++;
			}
		}
		$loose{ $_->[0] }{ $_->[1] }++ foreach @pending;
	}
	return;
}

$node->init;
$node->append_conf(
	'postgresql.conf', q{
restart_after_crash = on
autovacuum = off});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys');
$node->safe_psql(
	'postgres', qq{
	SET spanner.default_sequence_kind = '$kind{$_}';
	CREATE TABLE $_ (id bigserial PRIMARY KEY, client int);
	ALTER SEQUENCE ${_}_id_seq CACHE $cache{$_};}) foreach sort keys %kind;
my @scripts = map { write_script($_) } 1 .. $clients;

for my $round (1 .. $rounds)
{
	my @running = map { start_client($_) } @scripts;

	wait_for_rows(40 * $round);
	if ($round % 2)
	{
		kill_backend();
	}
	else
	{
		$node->stop('immediate');
	}
	enter_values(@running);
	$node->start unless $round % 2;
	$node->poll_query_until('postgres', 'SELECT true')
	  or die 'the server does not come back';
}

is($errors, '', 'no client met an error');
is($repeated, 0, 'no value came twice while the server ran');
for my $table (sort keys %kind)
{
	my @stored = split /\n/, $node->safe_psql('postgres', "SELECT id FROM $table");
	my %stored = map { $_ => 1 } @stored;
	my @twice = grep { $final{$table}{$_} > 1 } keys %{ $final{$table} };
	my @again = grep { exists $loose{$table}{$_} } keys %{ $final{$table} };

	cmp_ok(scalar keys %{ $final{$table} }, '>', 40 * $rounds * $clients, "$table: the clients drew");
	is("@twice", '', "$table: no final value came twice");
	is(scalar keys %stored, scalar @stored, "$table: the keys are distinct");
	note sprintf('%s: %d final values, %d lost in a crash, of which %d came again',
		$table, scalar keys %{ $final{$table} },
		scalar keys %{ $loose{$table} }, scalar @again);

	my $next = $node->safe_psql(
		'postgres', qq{
		SELECT spanner.nextval('${table}_id_seq') FROM generate_series(1, 1000)});
	my @known = grep { $final{$table}{$_} || $stored{$_} } split /\n/, $next;

	is("@known", '', "$table: the next values are new");
	is( $node->safe_psql(
			'postgres',
			"SELECT kind FROM spanner.sequences WHERE sequencename = '${table}_id_seq'"),
		$kind{$table} =~ s/\(.*//r,
		"$table: the sequence is still bound");
}

$node->stop;
unlink @scripts;

done_testing();
