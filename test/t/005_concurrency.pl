# Values that many sessions draw at the same time are all different and never
# in the skip range, while another session alters the sequence; a sequence
# that is bound and unbound all the time gives each transaction what its
# binding says; writers that share the counters by START and INCREMENT have a
# key range each; a setval that has nothing to change keeps nobody out; and a
# table that is converted while many sessions draw gives no id twice.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $sessions = 6;
my $per_session = 9_000;    # values of one sequence
my $batch = 100;
my @sequences = qw(reversed striped narrow);

my $node = PostgreSQL::Test::Cluster->new('concurrency');

# Start psql with a script.  All goes through files: a pipe would hold up the
# sessions that are not being looked at.
sub start_session
{
	my ($name, $script, $database) = @_;
	my $base = PostgreSQL::Test::Utils::tempdir() . '/session';
	my %self = (name => $name, out => "$base.out", err => "$base.err");

	append_to_file("$base.sql", $script);
	$self{run} = IPC::Run::start(
		[
			'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1',
			'-d', $node->connstr($database // 'postgres'), '-f', "$base.sql"
		],
		'>', $self{out}, '2>', $self{err},
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	return \%self;
}

# Wait for a session, and return its lines.
sub finish_session
{
	my ($self) = @_;

	ok($self->{run}->finish, "$self->{name}: no error")
	  or diag(slurp_file($self->{err}));
	return split /\n/, slurp_file($self->{out});
}

# End a session that has to outlive others.
sub stop_session
{
	my ($self) = @_;
	my $alive = $self->{run}->pumpable;

	$self->{run}->kill_kill;
	ok($alive, "$self->{name}: went on to the end")
	  or diag(slurp_file($self->{err}));
	return;
}

# The script of a session that draws, by a plain, a prepared and an inserting
# statement in turn.
sub drawing_script
{
	my ($count) = @_;
	my $script = '';

	$script .= <<"EOS" foreach @sequences;
PREPARE prepared_$_ AS
  SELECT '$_', spanner.nextval('$_') FROM generate_series(1, $batch);
EOS
	for my $i (1 .. $count / $batch)
	{
		foreach (@sequences)
		{
			$script .=
				$i % 3 == 0 ? "EXECUTE prepared_$_;\n"
			  : $i % 3 == 1 ? "INSERT INTO table_$_ (v) SELECT generate_series(1, $batch) RETURNING '$_', id;\n"
			  : "SELECT '$_', spanner.nextval('$_') FROM generate_series(1, $batch);\n";
		}
	}
	return $script;
}

# Alter the sequences as often as the session lives.
sub altering_script
{
	return join '', map { <<"EOS" } 1 .. 20000;
SELECT spanner.alter_sequence('narrow', skip_range_min => 1,
  skip_range_max => @{[ 2**30 + $_ ]}) \\g /dev/null
ALTER SEQUENCE reversed CACHE @{[ 1 + $_ % 20 ]};
SELECT spanner.alter_sequence('striped', skip_range_min => 1,
  skip_range_max => $_) \\g /dev/null
ALTER SEQUENCE narrow CACHE @{[ 5 + $_ % 10 ]};
EOS
}

# A transaction draws, and then looks under which binding it did: the binding
# cannot change before its end.
sub watching_script
{
	return join '', map { <<"EOS" } 1 .. 400;
BEGIN;
SELECT spanner.nextval('turning') AS first \\gset
SELECT spanner.nextval('turning') AS second \\gset
SELECT :first, :second, count(*), coalesce(max(split_part(given, '..', 2)::bigint), 0)
  FROM spanner.sequences WHERE sequencename = 'turning';
COMMIT;
EOS
}

sub turning_script
{
	return "SET client_min_messages = error;\n" . join '', map { <<"EOS" } 1 .. 20000;
SELECT spanner.alter_sequence('turning', kind => 'local') \\g /dev/null
SELECT spanner.alter_sequence('turning', kind => 'bit_reversed_positive') \\g /dev/null
EOS
}

# Statements that are planned anew, prepared ones, and new connections draw from
# a sequence, with and without its table.
sub live_script
{
	my ($count) = @_;
	my $prepare = "PREPARE live AS SELECT nextval('live_id_seq');\n";

	return $prepare . join '', map {
		my $i = $_;

		$i % 40 == 0 ? "\\c -\n$prepare"
		  : $i % 4 == 0 ? "EXECUTE live;\n"
		  : $i % 4 == 1 ? "SELECT nextval('live_id_seq');\n"
		  : $i % 4 == 2 ? "INSERT INTO live (v) VALUES ($i) RETURNING id;\n"
		  : "BEGIN;\nDECLARE c CURSOR FOR SELECT nextval('live_id_seq') FROM generate_series(1, 9);\nFETCH 2 FROM c;\nFETCH 2 FROM c;\nCOMMIT;\n"
	} 1 .. $count;
}

# Change the kind again and again while others draw.
sub converting_script
{
	my $script = '';
	my $counter = 0;

	foreach my $change (
		"SELECT spanner.convert_column('live', 'id')",
		"SELECT setval('live_id_seq', max(id)) FROM live",
		"SELECT spanner.alter_sequence('live_id_seq', kind => 'local')",
		"SELECT spanner.alter_sequence('live_id_seq', kind => 'bit_reversed_positive')",
		"SELECT spanner.alter_sequence('live_id_seq', kind => 'local')")
	{
		$counter += 300;
		$script .= <<"EOS";
DO \$\$
BEGIN
  WHILE (SELECT last_value FROM live_id_seq) < $counter LOOP
    PERFORM pg_sleep(0.001);
  END LOOP;
END
\$\$;
$change \\g /dev/null
EOS
	}
	return "SET client_min_messages = error;\n$script";
}

$node->init;
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_sequence('reversed', 'bit_reversed_positive');
	SELECT spanner.create_sequence('striped', 'striped');
	CREATE SEQUENCE narrow AS integer CACHE 10;
	SELECT spanner.alter_sequence('narrow', kind => 'bit_reversed_positive',
		skip_range_min => 1, skip_range_max => 1073741824);
	CREATE SEQUENCE turning;});
$node->safe_psql('postgres',
	"CREATE TABLE table_$_ (id bigint DEFAULT spanner.nextval('$_'), v int)")
  foreach @sequences;

# Drawing under fire
my $altering = start_session('altering session', altering_script());
$node->poll_query_until(
	'postgres', q{
	SELECT skip_range_max > 1073741824 FROM spanner.sequences
	WHERE sequencename = 'narrow'}) or die 'nothing is altered';
my @drawing =
  map { start_session("drawing session $_", drawing_script($per_session)) } 1 .. $sessions;
my %values;
my $twice = 0;
foreach (map { finish_session($_) } @drawing)
{
	my ($sequence, $value) = split /\|/;

	$twice++ if $values{$sequence}{$value}++;
}
stop_session($altering);

is($twice, 0, 'no value came twice');
foreach (@sequences)
{
	is(scalar keys %{ $values{$_} }, $sessions * $per_session, "$_: all values are there");
}
is(scalar(grep { $_ <= 2**30 || $_ >= 2**31 - 1 } keys %{ $values{narrow} }),
	0, 'no value is in the skip range, or wider than 31 bits');
is(scalar(grep { $_ < 2**40 } map { keys %{ $values{$_} } } qw(reversed)),
	0, 'no value of the reversed sequence is a plain counter');

# Binding and unbinding
my $turning = start_session('turning session', turning_script());
$node->poll_query_until(
	'postgres', q{
	SELECT true FROM spanner.sequences WHERE sequencename = 'turning'})
  or die 'nothing is bound';
my @watching = map { start_session("watching session $_", watching_script()) } 1 .. 4;
my (%count, %seen);
my ($wrong, $unprotected) = ('', '');
$twice = 0;
foreach my $session (@watching)
{
	my $plain = 0;

	foreach (finish_session($session))
	{
		my ($first, $second, $bound, $skip) = split /\|/;

		$count{$bound}++;
		foreach my $value ($first, $second)
		{
			$twice++ if $seen{$value}++;
			$wrong .= "$_\n" if $bound ? $value < 2**40 : $value > 2**40;
		}
		$plain = $second unless $bound;
		$unprotected .= "$_\n" if $bound && $skip < $plain;
	}
}
stop_session($turning);

is($twice, 0, 'turning: no value came twice');
is($wrong, '', 'turning: all values are those of the binding');
is($unprotected, '', 'turning: the plain counters of before are in the skip range');
cmp_ok($count{0}, '>', 0, 'turning: some transactions met it unbound');
cmp_ok($count{1}, '>', 0, 'turning: some transactions met it bound');

# Writers that share the counters
my $writers = 4;
$node->safe_psql(
	'postgres', qq{
	SET spanner.default_sequence_kind = 'bit_reversed_positive';
	CREATE SEQUENCE writer_$_ START WITH $_ INCREMENT BY $writers;})
  foreach 1 .. $writers;
my @writing = map {
	start_session(
		"writer $_",
		"SELECT v >> 61, v FROM (SELECT spanner.nextval('writer_$_') AS v FROM generate_series(1, 2000)) w;")
} 1 .. $writers;
my (%quarters, %written);
for my $writer (1 .. $writers)
{
	my %own;

	foreach (finish_session($writing[ $writer - 1 ]))
	{
		my ($quarter, $value) = split /\|/;

		$own{$quarter} = 1;
		$written{$value}++;
	}
	$quarters{$writer} = join ',', sort keys %own;
	note "writer $writer has quarter $quarters{$writer} of the key range";
}
is_deeply(\%quarters, { 1 => '2', 2 => '1', 3 => '3', 4 => '0' },
	'each writer has a quarter of the key range');
is(scalar keys %written, $writers * 2000, 'no value of two writers is the same');

# A setval that brings no ids of its own locks nothing, while rows come
$node->safe_psql(
	'postgres', q{
	SET spanner.default_sequence_kind = 'striped';
	CREATE TABLE loaded (id bigserial PRIMARY KEY);
	CREATE TABLE fixture (id bigint DEFAULT nextval('loaded_id_seq'));
	INSERT INTO loaded SELECT FROM generate_series(1, 1000);});
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/load.sql", "INSERT INTO loaded DEFAULT VALUES;\n");
append_to_file("$dir/setval.sql", <<'EOS');
BEGIN;
INSERT INTO fixture DEFAULT VALUES;
SELECT setval('loaded_id_seq', max(id)) FROM loaded;
SELECT 1 / (count(*) = 0)::int FROM pg_locks
  WHERE pid = pg_backend_pid() AND mode = 'ShareRowExclusiveLock';
COMMIT;
EOS
$node->command_ok(
	[
		'pgbench', '-n', '-c', 6, '-j', 2, '-t', 400, '-f', "$dir/load.sql\@9", '-f', "$dir/setval.sql\@1",
		'-h', $node->host, '-p', $node->port, 'postgres'
	],
	'setval locks nothing while others insert');

# Conversion of a live table, of which the database has had no kind before
for my $round (1 .. 3)
{
	my $database = "live$round";

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql(
		$database, q{
		CREATE EXTENSION spanner_keys;
		CREATE TABLE live (id bigserial, v int);
		INSERT INTO live (v) SELECT generate_series(1, 100);});

	my @drawing = map { start_session("$database, drawing session $_", live_script(800), $database) } 1 .. $sessions;
	my @converting = finish_session(start_session("$database, converting session", converting_script(), $database));
	my (%ids, $twice);

	$twice = '';
	foreach (map { finish_session($_) } @drawing)
	{
		$twice .= "$_\n" if $ids{$_}++;
	}
	is($twice, '', "$database: no id came twice");
	is($node->safe_psql($database, q{SELECT count(*) - count(DISTINCT id) FROM live}), '0', "$database: no row has the id of another");
	is(scalar(grep { exists $ids{$_} } 1 .. 100), 0, "$database: no id of before came again");
	cmp_ok(scalar(grep { $_ < 2**40 } keys %ids), '>', 0, "$database: some ids are plain");
	cmp_ok(scalar(grep { $_ > 2**40 } keys %ids), '>', 0, "$database: some have a kind");
}

$node->stop;

done_testing();
