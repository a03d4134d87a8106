# Scenarios.pm
#	  Ways in which code of one role was once run by another, one at a time.
#
# Each scenario makes what an attacker needs, shows that its code is armed and
# that the functions of its name work on innocent objects, and has a victim
# call them, and then every other function for the same objects.  What cannot
# be made fails the scenario: it would have tested nothing.
#
# test/fuzz/RightsFuzz/Scenarios.pm

package RightsFuzz::Scenarios;

use strict;
use warnings;
use Exporter 'import';
use Time::HiRes qw(time);

use PlannerFuzz::Random qw(quote shuffle);
use RightsFuzz::Load;
use RightsFuzz::Names;
use RightsFuzz::Plants;
use RightsFuzz::Server;

our @EXPORT = qw(@scenarios);

# How long to try what depends on the moment.
my $race_seconds = 2;

our @scenarios = (
	[ A1 => 'a default that draws from a sequence of somebody else', \&default_of_stranger ],
	[ A2 => 'the number of shards', \&number_of_shards ],
	[ A3 => 'tables of other types take a name', \&other_types ],
	[ A4 => 'views of somebody else on the table', \&views_of_stranger ],
	[ A5 => 'the partition key of a parent of somebody else', \&parents_partition_key ],
	[ A6 => 'a name that means something else than the OID', \&name_after_oid ],
	[ A7 => 'a server that has another name for a moment', \&renamed_server ],
	[ A8 => 'names that end a quotation', \&names_that_quote ],
	[ A9 => 'texts of another server', \&texts_of_server ],
	[ A10 => 'tables that the caller has no right on', \&tables_of_stranger ]);

# Makes the databases anew, with mallory's code in some of them.
sub prepare
{
	my ($run, @databases) = @_;
	my $server = $run->{server};

	$server->renew;
	$server->must_as('mallory', $_, library('mallory', $server->role('mallory')), 'CREATE SCHEMA m',
		'GRANT USAGE ON SCHEMA m TO PUBLIC')
	  foreach $app, @databases;
	$server->must_as('superuser', $app, counter_statements());
	$run->{forgetter}->end if $run->{forgetter};
	$run->{forgetter} = $server->session('mallory');
	$server->new_findings;
	return $server;
}

# A victim is in danger here, so the test sees what it should.  This takes a
# session of its own: what it has planned is not planned again.
sub is_armed
{
	my ($run, $name, $statement, $database) = @_;
	my $session = $run->{server}->session($name, $database);

	$session->ask($statement);
	$session->end;
	die "not armed: $statement\n" if !$run->{server}->new_findings;
	return;
}

# Functions of these names that are there; calls for what is innocent succeed.
sub working
{
	my ($run, $session, $bind, @names) = @_;
	my @functions = $run->{functions}->named(@names);

	die 'there is no function ' . join(' or ', @names) . "\n" if !@functions;
	foreach my $function (@functions)
	{
		$session->must('BEGIN', $run->{functions}->statement($function, $bind), 'ROLLBACK');
	}
	return @functions;
}

sub in_transaction
{
	my ($statement, $end) = @_;

	return "BEGIN;\n$statement" . ($statement =~ /\\\w+\z/ ? "\n" : ";\n") . ($end // 'ROLLBACK');
}

# A call, of which nothing is known from before.
sub call
{
	my ($run, $session, $statement) = @_;

	$run->{count}{calls}++;
	$run->{forgetter}->ask(forget_statement());
	return $run->attack($session, $statement);
}

# Every function that takes something of this sort, and what it prints.
sub sweep
{
	my ($run, $session, $bind, $sort) = @_;
	my $functions = $run->{functions};
	my $is_dry = ($bind->{dry_run} // '') eq 'true';

	foreach my $function ($functions->all(sub { $_->{is_about} eq $sort }))
	{
		return if $session->{lost};
		call($run, $session, in_transaction($functions->statement($function, $bind)));
		call($run, $session, in_transaction($functions->printing($function, $bind) . ' \\gexec'))
		  if $is_dry && $function->{prints};
	}
	return;
}

# Calls in turns, until something is found.
sub race
{
	my ($run, $session, $seconds, @calls) = @_;
	my $list = join(",\n", map { quote($_) } @calls);
	my $until = time() + $seconds;
	my $found = @{ $run->{found} };

	while (time() < $until && @{ $run->{found} } == $found && !$session->{lost})
	{
		$run->{count}{calls}++;
		$run->attack($session, qq{DO \$race\$
			DECLARE
				calls constant text[] := ARRAY[$list];
				until constant timestamptz := clock_timestamp() + '0.3 s';
			BEGIN
				WHILE clock_timestamp() < until LOOP
					BEGIN
						EXECUTE calls[1 + floor(random() * cardinality(calls))];
						RAISE EXCEPTION 'undone';
					EXCEPTION WHEN OTHERS THEN
						IF SQLSTATE LIKE 'XX%' THEN
							RAISE WARNING 'caught %: %', SQLSTATE, SQLERRM;
						END IF;
					END;
				END LOOP;
			END \$race\$});
	}
	return;
}

# A1: its default names the sequence, so mallory's table is read with the
# victim's own one.
sub default_of_stranger
{
	my ($run) = @_;
	my $server = prepare($run);
	my $victim = $server->session('superuser');

	foreach my $table (qw(one two innocent))
	{
		$victim->must("CREATE TABLE public.$table (id bigserial PRIMARY KEY, v text)",
			"INSERT INTO public.$table (v) SELECT 'x' FROM generate_series(1, 10)");
	}
	my @functions = working($run, $victim, { relation => q{'public.innocent'}, column => q{'id'} },
		qw(sync_sequence convert_column));

	foreach my $table (qw(one two))
	{
		$server->must_as('mallory', $app,
			"CREATE TABLE m.$table (id bigint DEFAULT nextval('public.${table}_id_seq'))",
			"CREATE INDEX ON m.$table ((mallory_home.plant('index expression', 1) + id))",
			"INSERT INTO m.$table VALUES (1)");
		is_armed($run, 'superuser', "EXPLAIN SELECT * FROM m.$table");
	}
	foreach my $table (qw(one two))
	{
		my $bind = {
			relation => "'public.$table'", column => q{'id'}, sequence => "'public.${table}_id_seq'",
			schema => q{'public'}, dry_run => 'false'
		};

		sweep($run, $victim, $bind, 'relation');
		call($run, $victim, $run->{functions}->statement($_, $bind)) foreach @functions;
		sweep($run, $victim, $bind, 'name');
	}
	return;
}

# A2: the views of all tables, a plan and a command for the table.
sub number_of_shards
{
	my ($run) = @_;
	my $server = prepare($run);
	my @views = $server->must_as('superuser', $app, q{SELECT oid::regclass FROM pg_class
		WHERE relnamespace = 'spanner'::regnamespace AND relkind = 'v' ORDER BY 1});

	die "there are no views\n" if !@views;
	$server->must_as('mallory', $app, places(owner => 'mallory', schema => 'm', places => [quiet_places()]));
	foreach my $name (qw(superuser bob))
	{
		my $victim = $server->session($name);

		is_armed($run, $name, q{SELECT mallory_home.plant('modulus', 4)});
		call($run, $victim, "SELECT * FROM $_") foreach @views;
		next if $name eq 'bob';
		call($run, $victim, in_transaction($_)) foreach quiet_statements('m');
		foreach my $column (qw(id shard_id))
		{
			sweep($run, $victim, { relation => q{'m.p_modulus'}, column => "'$column'" }, 'relation');
		}
	}
	return;
}

# A3: mallory waits in one session for a lock of hers in the other, where the
# table gets other types.
sub other_types
{
	my ($run) = @_;
	my $server = prepare($run);
	my ($locker, $caller) = map { $server->session('mallory') } 1 .. 2;
	my $pid = $caller->must('SELECT pg_backend_pid()');
	my $bind = { relation => q{'s.p'}, column => q{'id'}, order_by => q{'k'}, column_name => q{'id'} };
	my %is_first;

	foreach ([ 's', 'bigint', '100 + i' ], [ 'evil', 'uuid', uuid_of('i') ])
	{
		my ($schema, $type, $value) = @$_;

		$caller->must("CREATE SCHEMA $schema",
			"CREATE TABLE $schema.p (id $type, k int) PARTITION BY LIST (k)",
			"CREATE TABLE $schema.p1 PARTITION OF $schema.p DEFAULT",
			"INSERT INTO $schema.p SELECT $value, i FROM generate_series(1, 50) i");
	}
	my @functions =
	  working($run, $caller, $bind, qw(key_histogram key_heatmap key_heatmap_text key_heatmap_html));

	$is_first{ $_->{oid} } = 1 foreach @functions;
	push @functions, grep { !$is_first{ $_->{oid} } }
	  $run->{functions}->all(
		sub { $_->{is_about} eq 'relation' && grep { $_->[0] =~ /column/ } @{ $_->{arguments} } });
	# a second time for the types in the other order
	foreach my $function (map { ($_, $_) } @functions)
	{
		my $statement = $run->{functions}->statement($function, $bind);

		$run->{count}{calls}++;
		$locker->must('BEGIN', 'LOCK TABLE s.p1 IN ACCESS EXCLUSIVE MODE');
		$caller->send_statement(in_transaction($statement));
		$server->wait_for_lock($caller, $pid);
		$locker->must('ALTER SCHEMA s RENAME TO x', 'ALTER SCHEMA evil RENAME TO s', 'COMMIT',
			'ALTER SCHEMA x RENAME TO evil');
		my $lines = $run->hear($caller, $statement);

		return if $caller->{lost};
		$run->check_values($lines, $caller->{role}, $statement);
	}
	return;
}

# A4: what is printed for the victim's own table, with mallory's view on it.
sub views_of_stranger
{
	my ($run) = @_;
	my $server = prepare($run);
	my $victim = $server->session('superuser');
	my $bind = {
		relation => q{'public.orders'}, column => q{'id'}, dry_run => 'true', splits => 2, key => q{'{id}'}
	};

	foreach my $table (qw(orders innocent))
	{
		$victim->must("CREATE TABLE public.$table (id bigint PRIMARY KEY, v text)",
			"INSERT INTO public.$table SELECT i, 'x' FROM generate_series(1, 10) i");
	}
	my @functions = working($run, $victim, { relation => q{'public.innocent'} }, 'adopt_table');

	$server->must_as('mallory', $app,
		q{CREATE VIEW m.v AS SELECT o.id, '(1)'::mallory_home.comp AS c FROM public.orders o});
	is_armed($run, 'superuser', q{SELECT '(1)'::mallory_home.comp});
	sweep($run, $victim, $bind, 'relation');
	foreach my $function (@functions)
	{
		my $query = $run->{functions}->printing($function, $bind);

		call($run, $victim, in_transaction("$query \\gexec", 'COMMIT'));
	}
	return;
}

# A table of the victim's with a partition on a server that tells the truth
sub make_innocent
{
	my ($server, $victim, $column) = @_;

	$server->must_as('superuser', $far, "CREATE TABLE public.innocent_p1 ($column)");
	$victim->must(
		$server->make_server('far', $far), $server->map_user('CURRENT_USER', 'far', 'superuser'),
		'CREATE TABLE public.innocent (id bigint) PARTITION BY RANGE (id)',
		q{CREATE FOREIGN TABLE public.innocent_p1 PARTITION OF public.innocent
			FOR VALUES FROM (1) TO (2000) SERVER far});
	return;
}

# A5: the superuser's foreign partition of mallory's table.
sub parents_partition_key
{
	my ($run) = @_;
	my $server = prepare($run);
	my $victim = $server->session('superuser');
	my $bind = { column => q{'id'}, exact => 'true', n => 2 };

	make_innocent($server, $victim, 'id bigint');
	working($run, $victim, { %$bind, relation => q{'public.innocent'} }, 'check_splits');
	$server->must_as('superuser', $far, 'CREATE TABLE public.bad_p1 (id bigint, v text)');
	$server->must_as('mallory', $app,
		places(owner => 'mallory', schema => 'm', name => 'bad', places => ['p_partitioned']));
	$victim->must(q{CREATE FOREIGN TABLE m.bad_p1 PARTITION OF m.bad FOR VALUES FROM (1000) TO (2000)
		SERVER far OPTIONS (schema_name 'public')});
	is_armed($run, 'superuser', q{INSERT INTO m.bad VALUES (5, 'x')});
	sweep($run, $victim, { %$bind, relation => "'m.$_'" }, 'relation') foreach qw(bad bad_p0 bad_p1);
	return;
}

# A6: calls by OID for the victim's own tables, in a schema whose owner gives
# its name to another one.
sub name_after_oid
{
	my ($run) = @_;
	my $server = prepare($run);
	my $functions = $run->{functions};
	my $victim = $server->session('superuser');
	my @tables = qw(orders split);

	$victim->must('CREATE TABLE public.orders (id bigserial PRIMARY KEY, v text)',
		'INSERT INTO public.orders SELECT FROM generate_series(1, 20)',
		'CREATE TABLE public.split (id bigint, v text) PARTITION BY RANGE (id)',
		'CREATE TABLE public.split_p0 PARTITION OF public.split DEFAULT', 'ANALYZE');
	my %oid = map { split(/\|/) }
	  $victim->must(q{SELECT relname, oid FROM pg_class WHERE relnamespace = 'public'::regnamespace});
	my %bind = map {
		$_ => { relation => "$oid{$_}::oid", column => q{'id'}, exact => 'true', dry_run => 'false', n => 2,
			sequence => "$oid{orders_id_seq}::oid" }
	} @tables;
	my @functions = map { working($run, $victim, $bind{orders}, $_) } qw(sync_sequence key_histogram);
	my @others = shuffle($functions->all(sub { !$_->{is_procedure} && $_->{is_about} eq 'relation' }));

	$server->must_as('dbo', $app, library('dbo', $server->role('dbo')), 'CREATE SCHEMA evil',
		map { places(owner => 'dbo', schema => 'evil', name => $_, places => ['p_view']) } @tables);
	is_armed($run, 'superuser', 'SELECT * FROM evil.orders');
	my @load = start_load($server, dbo => swap_schemas('public', 'evil'));

	race($run, $victim, $race_seconds, $functions->statement($_, $bind{orders})) foreach @functions;
	foreach my $function (splice(@others, 0, 8))
	{
		race($run, $victim, 0.3, map { $functions->statement($function, $bind{$_}) } @tables);
	}
	die "no names were changed\n" if stop_load($server, @load) < 10;
	return;
}

# A7: the database owner's server, which leads back to here as the victim.
sub renamed_server
{
	my ($run) = @_;
	my $server = prepare($run, $liar);
	my $victim = $server->session('superuser');
	my $innocent = { relation => q{'public.innocent'}, column => q{'id'} };

	make_innocent($server, $victim, 'id bigint');
	my @functions = working($run, $victim, $innocent, qw(check_splits split_stats));

	$server->must_as('mallory', $liar, lying_views($run, $server, 'public', 'split_p0', 'id bigint'));
	is_armed($run, 'superuser', 'SELECT * FROM spanner_internal.split_server', $liar);
	$server->must_as('dbo', $app,
		$server->make_server('bait', $liar), $server->map_user($server->{superuser}, 'bait', 'superuser'),
		'CREATE TABLE public.split (id bigint) PARTITION BY RANGE (id)',
		map {
			"CREATE FOREIGN TABLE public.split_p$_ PARTITION OF public.split
				FOR VALUES FROM ($_) TO ($_ + 1) SERVER bait"
		} 0 .. 99);
	sweep($run, $victim, { server => q{'bait'}, column => q{'id'} }, 'server');
	sweep($run, $victim,
		{ relation => q{'public.split_p0'}, server => q{'bait'}, column => q{'id'} }, 'relation');
	my @load = start_load($server, dbo => swap_servers('bait'));

	race($run, $victim, $race_seconds,
		map { $run->{functions}->statement($_, { relation => q{'public.split'} }) } @functions);
	die "no names were changed\n" if stop_load($server, @load) < 10;
	return;
}

# A8: partitions of mallory's have names that end what they are quoted with.
sub names_that_quote
{
	my ($run) = @_;
	my $server = prepare($run, $far);
	my $victim = $server->session('superuser');
	my @names = odd_names($server, 'mallory_home.n()');
	my $from = 0;

	$victim->must($server->make_server('far', $far), $server->map_user('CURRENT_USER', 'far', 'superuser'),
		'GRANT USAGE ON FOREIGN SERVER far TO ' . $server->role('mallory'));
	$server->must_as('mallory', $app, 'CREATE TABLE m.t (id bigint, v text) PARTITION BY RANGE (id)',
		map {
			'CREATE TABLE m.' . identifier($_) . ' PARTITION OF m.t (PRIMARY KEY (id)) FOR VALUES FROM ('
			  . $from++ . ") TO ($from)"
		} 'innocent', @names);
	is_armed($run, 'superuser', 'SELECT mallory_home.n()');
	is_armed($run, 'superuser', 'SELECT mallory_home.n()', $far);
	my @oids = $victim->must(q{SELECT oid FROM pg_class
		WHERE relnamespace = 'm'::regnamespace AND relkind = 'r' AND relname <> 'innocent'});

	die "there are no tables of such names\n" if @oids != @names || !@names;
	sweep($run, $victim, { relation => "${_}::oid", server => q{'far'}, target => q{'far'}, dry_run => 'true' }, 'relation')
	  foreach @oids;
	use_odd_servers($run, $victim, @names);
	return;
}

# Servers, columns, tables and allocators of such names, which are the victim's,
# do what those of other names do.
sub use_odd_servers
{
	my ($run, $victim, @names) = @_;
	my $server = $run->{server};
	my ($moved) = grep { /'"/ } @names;

	$victim->must('CREATE EXTENSION dblink', 'CREATE SCHEMA parent');
	foreach my $name (@names)
	{
		my ($text, $quoted) = (quote($name), identifier($name));

		$server->must_as('superuser', $far, "SELECT spanner.create_allocator($text)");
		$victim->must($server->make_server($quoted, $far), $server->map_user('CURRENT_USER', $quoted, 'superuser'),
			"SELECT spanner.create_allocator($text, 'remote', server => $text, remote_name => $text)");
		my $numbers = $victim->must("SELECT spanner.next_value($text), spanner.next_value($text, $text, 'x')");

		die "server $name: $numbers\n" if $numbers ne '1|1';
		next if $name ne $moved;
		sweep($run, $victim, { server => $text }, 'server');
		$victim->must(
			"CREATE TABLE parent.$quoted ($quoted bigint) PARTITION BY RANGE ($quoted)",
			"CREATE TABLE public.$quoted PARTITION OF parent.$quoted (PRIMARY KEY ($quoted)) FOR VALUES FROM (0) TO (1000)",
			"INSERT INTO parent.$quoted VALUES (1), (2)");
		foreach my $words ([ 'move', "public.$quoted", "--to=$name", '--at=2' ],
			[ 'run', "parent.$quoted", 'COMMENT ON TABLE {} IS NULL' ], ['list'])
		{
			my ($is_done, @lines) = $run->run_splits($victim->{role}, $app, @$words);

			die join("\n", "@$words:", @lines, '') if !$is_done;
		}
		my $oid = $victim->must("SELECT ('parent.' || quote_ident($text))::regclass::oid");
		my @wrong = $victim->must("SELECT * FROM spanner.check_splits($oid)", "TABLE parent.$quoted OFFSET 2");

		die join("\n", "server $name:", @wrong, '') if @wrong;
		sweep($run, $victim, { relation => "${oid}::oid", server => $text, column => $text, dry_run => 'true' }, 'relation');
	}
	return;
}

# A9: a server whose owner is another role lies about a table.
sub texts_of_server
{
	my ($run) = @_;
	my $server = prepare($run, $liar);
	my $victim = $server->session('superuser');
	my @lies = lies();

	make_innocent($server, $victim, 'id bigint PRIMARY KEY');
	$victim->must(
		$server->make_server('liar', $liar), $server->map_user('CURRENT_USER', 'liar', 'mallory'),
		'CREATE TABLE public.split (id bigint) PARTITION BY RANGE (id)',
		q{CREATE FOREIGN TABLE public.split_p1 PARTITION OF public.split
			FOR VALUES FROM (1) TO (2000) SERVER liar});
	is_armed($run, 'superuser', 'SELECT mallory_home.n()');
	foreach my $text (@lies[ 0 .. 2 ])
	{
		$server->must_as('mallory', $liar, lying_views($run, $server, 'public', 'split_p1', $text));
		sweep($run, $victim, { relation => q{'public.split_p1'}, server => q{'liar'}, n => 2 }, 'relation');
	}
	foreach my $table (qw(split split_p1))
	{
		sweep($run, $victim,
			{ relation => "'public.$table'", server => q{'liar'}, to_server => 'NULL', n => 2 }, 'relation');
	}
	return;
}

# A10: alice has no right on mallory's tables, and is told so; nothing is
# planned before that.
sub tables_of_stranger
{
	my ($run) = @_;
	my $server = prepare($run);
	my $victim = $server->session('alice');

	$server->must_as('mallory', $app, places(owner => 'mallory', schema => 'm', places => ['p_index']));
	is_armed($run, 'alice', 'SELECT * FROM m.p_index');
	my $bind = { relation => q{'m.p_index'}, column => q{'id'}, exact => 'true', n => 2, filter => q{'true'} };

	sweep($run, $victim, $bind, 'relation');
	return;
}

1;
