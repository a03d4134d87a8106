# Four extensions on one library: a database has the core alone, with one of the
# other three, or all.  Each of these is dumped and restored with what depends
# on them.  They are dropped in every order, and created again.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $core = 'spanner_keys';
my @others = qw(spanner_keys_ddl spanner_keys_advisor spanner_keys_splits);
my $dir = PostgreSQL::Test::Utils::tempdir();
my $node = PostgreSQL::Test::Cluster->new('extensions');

$node->init;
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE keeper LOGIN');

# What depends on each of them, and how the database describes it.  Rows come
# from the functions as well, so both say that they work.
my %objects = (
	spanner_keys => q{
		SELECT spanner.create_sequence('drawn', 'bit_reversed_positive');
		SELECT nextval('drawn') FROM generate_series(1, 3);
		CREATE TABLE numbered (id bigint DEFAULT nextval('drawn') PRIMARY KEY, number bigint,
			shard integer GENERATED ALWAYS AS (spanner.shard_id(16, id)) STORED);
		SELECT spanner.create_allocator('invoice', 'on_commit');
		CREATE CONSTRAINT TRIGGER number AFTER INSERT ON numbered DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('invoice', 'number');
		INSERT INTO numbered VALUES (DEFAULT), (DEFAULT);},
	spanner_keys_ddl => q{
		SELECT spanner.execute_ddl('CREATE TABLE Expiring (Id INT64, Ts TIMESTAMP OPTIONS (allow_commit_timestamp = true),
			Fingerprint INT64 AS (FARM_FINGERPRINT(CAST(Id AS STRING))) STORED)
			PRIMARY KEY (Id), ROW DELETION POLICY (OLDER_THAN(Ts, INTERVAL 30 DAY))');
		SELECT spanner.execute_ddl('CREATE TABLE Tagged (Id INT64, Tags ARRAY<STRING(MAX)>,
			Line STRING(MAX) AS (ARRAY_TO_STRING(Tags, '','')) STORED) PRIMARY KEY (Id)');
		INSERT INTO expiring (id, ts) VALUES (1, '2020-01-01'), (2, spanner.pending_commit_timestamp());
		INSERT INTO tagged (id, tags) VALUES (1, '{a,b}');},
	spanner_keys_advisor => q{
		CREATE TABLE event (at timestamptz DEFAULT now() PRIMARY KEY);
		SELECT spanner.silence_rule('event', 'key_now', 'at');
		CREATE TABLE visit (at timestamptz PRIMARY KEY);
		INSERT INTO visit SELECT timestamptz '2026-01-01' + i * interval '1 s' FROM generate_series(1, 20) i;
		SELECT spanner.add_shard_key('visit', shards => 4, dry_run => false);},
	spanner_keys_splits => q{
		CREATE TABLE bill (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
		SELECT spanner.create_splits('bill', 2, bits => 63, dry_run => false);
		INSERT INTO bill VALUES (1), (2::bigint ^ 62);
		CREATE TABLE adopted (id bigint PRIMARY KEY, v text);
		INSERT INTO adopted SELECT i, 'x' FROM generate_series(1, 20) i;
		SELECT * FROM spanner.adopt_table('adopted', dry_run => false);
		});
my %descriptions = (
	spanner_keys => q{
		SELECT sequencename, kind, counter FROM spanner.sequences ORDER BY 1;
		SELECT name, mode, next_value FROM spanner.allocator ORDER BY 1;
		SELECT spanner.bit_reverse(id, true), number, shard = spanner.shard_id(16, id) FROM numbered ORDER BY 1;},
	spanner_keys_ddl => q{
		SELECT spanner.spanner_ddl(t) FROM unnest('{expiring,tagged}'::regclass[]) t;
		SELECT id, fingerprint FROM expiring ORDER BY 1;
		SELECT line FROM tagged;},
	spanner_keys_advisor => q{
		SELECT rule FROM spanner.advise('event', target => 'splits') ORDER BY 1;
		SELECT relation, column_name, rule FROM spanner.silenced_rule;
		SELECT tablename, shards, usable FROM spanner.shard_keys WHERE tablename = 'visit';
		SELECT count(*), min(at) FROM visit WHERE shard_id = spanner.shard_id(4, at);},
	spanner_keys_splits => q{
		SELECT split, partition, range, rows, counted FROM spanner.split_stats('bill', exact => true) ORDER BY 1;
		SELECT split, partition, range, rows, counted FROM spanner.split_stats('adopted', exact => true) ORDER BY 1;
		SELECT * FROM spanner.check_splits('bill');
		SELECT * FROM spanner.check_splits('adopted');});

sub describe
{
	my ($database, @extensions) = @_;

	return $node->safe_psql($database,
		q{SELECT extname, extversion FROM pg_extension WHERE extname ~ '^spanner_keys' ORDER BY 1;} . join '', @descriptions{@extensions});
}

# Run a command that has to succeed without a message.
sub silent_ok
{
	my ($name, @command) = @_;
	my ($out, $err) = ('', '');

	ok(run_log(\@command, '>', \$out, '2>', \$err), "$name: succeeds");
	return is($err, '', "$name: says nothing");
}

# A database of that name with some of them, and what depends on those.
sub create_database
{
	my ($database, @extensions) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database OWNER keeper");
	$node->safe_psql($database, 'GRANT CREATE ON SCHEMA public TO keeper');
	$node->safe_psql($database, 'SET client_min_messages = warning;' . join('', map { "CREATE EXTENSION $_;$objects{$_}" } @extensions),
		extra_params => [ '-U', 'keeper' ]);
	return;
}

# Is nothing left of the extensions?
sub leftovers
{
	my ($database) = @_;

	return $node->safe_psql($database, q{
		SELECT (SELECT count(*) FROM pg_namespace WHERE nspname ~ '^spanner')
			+ (SELECT count(*) FROM pg_extension WHERE extname ~ '^spanner_keys')
			+ (SELECT count(*) FROM pg_event_trigger)
			+ (SELECT count(*) FROM pg_seclabel)
			+ (SELECT count(*) FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
				AND prosupport <> 0 AND proname IN ('nextval', 'currval', 'lastval', 'setval'))});
}

# All orders of a list
sub permutations
{
	my (@list) = @_;

	return ([]) if !@list;
	return map {
		my $i = $_;
		map { [ $list[$i], @$_ ] } permutations(@list[ grep { $_ != $i } 0 .. $#list ]);
	} 0 .. $#list;
}

#
# Dump and restore
#

foreach my $set ([$core], map({ [ $core, $_ ] } @others), [ $core, @others ])
{
	my $database = @$set == 4 ? 'all_four' : $set->[-1] . '_there';

	create_database($database, @$set);
	my $described = describe($database, @$set);
	silent_ok("$database: pg_dump", 'pg_dump', '-Fc', '-d', $node->connstr($database), '-f', "$dir/$database");
	$node->safe_psql('postgres', "CREATE DATABASE ${database}_restored OWNER keeper");
	silent_ok("$database: pg_restore", 'pg_restore', '-d', $node->connstr("${database}_restored"), "$dir/$database");
	is(describe("${database}_restored", @$set), $described, "$database: restored");
	is($node->safe_psql("${database}_restored", q{
			INSERT INTO numbered VALUES (DEFAULT);
			SELECT spanner.bit_reverse(max(id), true) IS NOT NULL, max(number), count(*) FROM numbered}),
		't|3|3', "$database: goes on");

	# Tables depend on the core and on Spanner's language, and on no tool.
	foreach my $extension (grep { $_ ne $core } @$set)
	{
		my ($result, $out, $err) = $node->psql("${database}_restored", "DROP EXTENSION $extension", on_error_stop => 1);

		if ($extension ne 'spanner_keys_ddl')
		{
			is($err, '', "$database: $extension: nothing depends on it");
			next;
		}
		like($err, qr/column ts of table expiring depends on type spanner\.commit_timestamp/, "$database: a commit timestamp");
		like($err, qr/column line of table tagged depends on function spanner_internal\.array_to_string/, "$database: a translated expression");
		unlike($err, qr/adopted|bill|visit|event|numbered/, "$database: nothing else depends on $extension");
	}
	$node->safe_psql("${database}_restored", 'SET client_min_messages = error; DROP EXTENSION spanner_keys CASCADE');
	is(leftovers("${database}_restored"), 0, "$database: dropped with all that requires it");
	is($node->safe_psql("${database}_restored", 'SELECT count(*) FROM numbered'), 3, "$database: the table is there");
	is($node->safe_psql("${database}_restored", q{SELECT count(*) FROM expiring}), 2, "$database: that with a commit timestamp, too")
	  if grep { $_ eq 'spanner_keys_ddl' } @$set;
}

# Part of a database: who names the extensions gets their rows
my ($out, $err) = ('', '');
run_log([ 'pg_dump', '-n', 'public', '-e', 'spanner_keys*', '-d', $node->connstr('all_four') ], '>', \$out, '2>', \$err);
like($out, qr/^COPY spanner\.allocator /m, 'some schemas, and the extensions: allocators');
like($out, qr/^COPY spanner\.silenced_rule /m, 'some schemas, and the extensions: silenced rules');

#
# Every order of DROP EXTENSION, by the owner of the database
#

$node->safe_psql('postgres', 'CREATE DATABASE orders OWNER keeper');
$node->safe_psql('orders', 'GRANT CREATE ON SCHEMA public TO keeper');
(undef, $out, $err) = $node->psql('orders', "CREATE EXTENSION $others[0]", on_error_stop => 1, extra_params => [ '-U', 'keeper' ]);
like($err, qr/required extension "spanner_keys" is not installed/, 'none is created without the core');
$node->safe_psql('orders', 'SET client_min_messages = warning;' . join(';', map { "CREATE EXTENSION $_ CASCADE" } @others),
	extra_params => [ '-U', 'keeper' ]);
$node->safe_psql('orders', q{
	CREATE FUNCTION attempt(command text) RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		EXECUTE command;
		RETURN 'dropped';
	EXCEPTION WHEN OTHERS THEN
		RETURN sqlstate;
	END $$;
	CREATE FUNCTION leftovers() RETURNS bigint RETURN
		(SELECT count(*) FROM pg_extension WHERE extname ~ '^spanner_keys') + (SELECT count(*) FROM pg_namespace WHERE nspname ~ '^spanner')});
foreach my $cascade ('', ' CASCADE')
{
	foreach my $order (permutations($core, @others))
	{
		my $place = (grep { $order->[$_] eq $core } 0 .. 3)[0];
		my @expected = map {
				$_ < $place ? 'dropped'
			  : $_ == $place ? ($cascade || $place == 3 ? 'dropped' : '2BP01')
			  : $cascade ? '42704' : 'dropped'
		} 0 .. 3;
		my $attempts = join ' UNION ALL ', map { "SELECT $_, attempt('DROP EXTENSION $order->[$_]$cascade')" } 0 .. 3;

		is($node->safe_psql('orders', qq{
				SET client_min_messages = error;
				BEGIN;
				SELECT string_agg(a, ' ' ORDER BY n) FROM ($attempts) x (n, a);
				SELECT attempt('DROP EXTENSION IF EXISTS $core'), leftovers();
				ROLLBACK}, extra_params => [ '-U', 'keeper' ]),
			"@expected\ndropped|0", "DROP EXTENSION$cascade: " . join(', ', map { s/^spanner_keys_?(.*)/$1 || 'core'/er } @$order));
	}
}

#
# Sessions that have used one when it goes and comes again
#

my $using = $node->background_psql('all_four', on_error_stop => 0);
my %uses = (
	spanner_keys_ddl => q{SELECT spanner.execute_ddl('CREATE SEQUENCE made BIT_REVERSED_POSITIVE'); DROP SEQUENCE made;},
	spanner_keys_advisor => q{SELECT count(*) > 0 FROM spanner.advisor_rules; SELECT count(*) FROM spanner.advise('numbered');},
	spanner_keys_splits => q{SELECT count(*) FROM spanner.create_splits('sold', 3, bits => 63);});
$using->query_safe('SET client_min_messages = error; CREATE TABLE sold (id bigint PRIMARY KEY) PARTITION BY RANGE (id)');
foreach my $extension (@others)
{
	my $before = $using->query_safe($uses{$extension});

	$node->safe_psql('all_four', "SET client_min_messages = error; DROP EXTENSION $extension CASCADE");
	$using->query($uses{$extension});
	like($using->{stderr}, qr/does not exist/, "$extension: gone for a session that has used it");
	$using->{stderr} = '';
	is($using->query_safe(q{SELECT nextval('drawn') > 2^32}), 't', "$extension: its sequences go on");
	$node->safe_psql('all_four', "CREATE EXTENSION $extension");
	is($using->query_safe($uses{$extension}), $before, "$extension: there again for that session");
}
$using->quit;

$node->stop;

done_testing();
