# Allocators of mode remote: several servers draw from one allocator.  No value
# is given twice, whatever happens to the connections; a server that fails
# does so for its own allocators only, and is named; and a role gets no
# further than its own user mapping.

use strict;
use warnings;

use IO::Socket::INET;
use IPC::Run;
use POSIX ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $clients = 2;
my $per_client = 1500;

my $hub = PostgreSQL::Test::Cluster->new('hub');
my $other_hub = PostgreSQL::Test::Cluster->new('other_hub');
my $user = PostgreSQL::Test::Cluster->new('user');
my $user2 = PostgreSQL::Test::Cluster->new('user2');
my $deaf;

# The options of a foreign server.
sub options
{
	my ($node, @more) = @_;

	return join ', ', "host '@{[ $node->host ]}'",
	  "port '@{[ $node->port ]}'", "dbname 'postgres'", @more;
}

# Draw from an allocator of the first user, which has to succeed.
sub draw
{
	my ($allocator) = @_;

	return $user->safe_psql('postgres', "SELECT spanner.next_value('$allocator')");
}

# The message of a statement that has to fail.
sub error_of
{
	my ($node, $sql, %how) = @_;
	my $database = delete $how{database} // 'postgres';
	my ($rc, $out, $err) = $node->psql($database, $sql, %how);

	isnt($rc, 0, "fails: $sql");
	return $err;
}

# How many connections the server that does not speak has got.
sub knocks
{
	my $count = 0;

	$deaf->timeout(0.01);
	$count++ while $deaf->accept;
	return $count;
}

# Wait until a worker is gone.
sub wait_for_no_worker
{
	my ($node) = @_;

	return $node->poll_query_until('postgres',
		q{SELECT count(*) = 0 FROM pg_stat_activity
		  WHERE backend_type = 'spanner_keys remote allocator'});
}

# How many connections the users have to the hub.
my $guests = q{FROM pg_stat_activity WHERE query LIKE '%spanner.reserve_block%'
  AND pid <> pg_backend_pid()};

foreach my $node ($hub, $other_hub, $user, $user2)
{
	$node->init(allows_streaming => $node == $hub);
	$node->append_conf('postgresql.conf', "autovacuum = off\nspanner_keys.allocator_timeout = 3min");
	$node->start;
	$node->safe_psql('postgres',
		'CREATE EXTENSION spanner_keys; CREATE TABLE ledger (value bigint)');
}
$hub->safe_psql(
	'postgres', q{
	CREATE ROLE tenant LOGIN PASSWORD 'secret';
	SELECT spanner.create_allocator('orders', batch_size => 50, max_batch_size => 50);
	SELECT spanner.create_allocator('slow', mode => 'sync');
	SELECT spanner.create_allocator('few', max_value => 25, batch_size => 25);
	SELECT spanner.create_allocator('tenant');
	SELECT spanner.grant_allocator('tenant', 'tenant');});
$other_hub->safe_psql('postgres',
	"SELECT spanner.create_allocator('orders', start_value => 1000000)");
foreach my $node ($user, $user2)
{
	$node->safe_psql(
		'postgres', qq{
		CREATE EXTENSION dblink;
		CREATE SERVER hub FOREIGN DATA WRAPPER dblink_fdw OPTIONS (@{[ options($hub) ]});
		CREATE USER MAPPING FOR CURRENT_USER SERVER hub;
		SELECT spanner.create_allocator('orders', mode => 'remote', server => 'hub',
			batch_size => 5, max_batch_size => 20);
		SELECT spanner.create_allocator('local');});
}

# One after the other
is(draw('orders'), 1, 'first value');
is($user2->safe_psql('postgres', "SELECT spanner.next_value('orders')"),
	6, 'the other server has the next block');
is($user->safe_psql('postgres', "SELECT spanner.release_allocator('orders')"),
	0, 'nothing is given back');
is(draw('orders'), 2, 'and the pool is kept');

like(
	error_of(
		$user, q{BEGIN; SELECT spanner.create_allocator('new', mode => 'remote', server => 'hub');
		SELECT spanner.next_value('new');}),
	qr/ERROR:  cannot take values from allocator "new" in the transaction that has changed it/,
	'not in the transaction that creates the allocator');

# The worker leaves, and with it the connection.
ok(wait_for_no_worker($_), $_->name . ': worker leaves') foreach $user, $user2;
ok($hub->poll_query_until('postgres', "SELECT count(*) = 0 $guests"),
	'no connection stays');

# To the last value
$user->safe_psql('postgres',
	"SELECT spanner.create_allocator('few', mode => 'remote', server => 'hub', batch_size => 10)");
is( $user->safe_psql('postgres',
		q{SELECT string_agg(spanner.next_value('few')::text, ' ') FROM generate_series(1, 25)}),
	join(' ', 1 .. 25),
	'all values that there are');
like(
	error_of($user, "SELECT spanner.next_value('few')"),
	qr/ERROR:  could not refill allocator "few": server "hub": reached maximum value of allocator "few" \(25\)/,
	'no more values');

# Under load, while connections break all the time
my $script = PostgreSQL::Test::Utils::tempdir() . '/load.sql';
append_to_file($script, "INSERT INTO ledger SELECT spanner.next_value('orders');\n");
my $loads = 0;
my $kills = 0;
my $workers = 0;
my %asked;    # pid of a connection => when its query began

# one that has answered already: a second new one in a row may be an error
sub break_connections
{
	foreach my $guest (split /\n/, $hub->safe_psql('postgres', "SELECT pid, query_start $guests"))
	{
		my ($pid, $since) = split /\|/, $guest;

		$kills += $hub->safe_psql('postgres', "SELECT count(pg_terminate_backend($pid))")
		  if ($asked{$pid} // $since) ne $since;
		$asked{$pid} = $since;
	}
	return;
}

sub run_load
{
	my @loads = map {
		IPC::Run::start(
			[
				'pgbench', '-n', '-c', $clients, '-t', $per_client, '-f', $script,
				'-d', $_->connstr('postgres')
			],
			'>', \my $out, '2>', \my $err,
			IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default))
	} $hub, $user, $user2;
	my $rounds = 0;

	while (grep { $_->pumpable } @loads)
	{
		$workers += $user2->safe_psql('postgres',
			q{SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
			  WHERE backend_type = 'spanner_keys remote allocator'})
		  if $rounds++ % 5 == 2 || $workers == 0;
		break_connections();
		$hub->safe_psql('postgres', 'SELECT pg_sleep(0.1)');
		$_->pump_nb foreach grep { $_->pumpable } @loads;
	}
	$loads++;
	ok($_->finish, "load $loads without an error") foreach @loads;
	return;
}

# a fast server is through with it after a few connections
run_load() while $loads < 20 && ($kills <= 4 || $workers == 0);
cmp_ok($kills, '>', 4, "connections were broken: $kills");
cmp_ok($workers, '>', 0, "workers were ended: $workers");
my @values = map { split /\n/, $_->safe_psql('postgres', 'TABLE ledger') } $hub, $user, $user2;
my %seen;
$seen{$_}++ foreach @values;
is(scalar(@values), 3 * $loads * $clients * $per_client, 'every transaction has a value');
is(join(' ', grep { $seen{$_} > 1 } keys %seen), '', 'no value twice');

# Servers that do not answer keep nobody else waiting.
$user->safe_psql('postgres',
	"SELECT spanner.create_allocator('slow', mode => 'remote', server => 'hub')");
my $locker = $hub->background_psql('postgres');
$locker->query_safe(
	q{BEGIN; SELECT FROM spanner.allocator WHERE name = 'slow' FOR UPDATE});
like(
	error_of($user, q{SET spanner_keys.allocator_timeout = '1s'; SELECT spanner.next_value('slow')}),
	qr/timed out after 1000 ms waiting for allocator "slow"\nDETAIL:  Server "hub" has not answered yet/,
	'a locked row over there');
my $wait_event = $user->pg_version < 17 ? 'Extension' : 'SpannerKeysAllocatorRemote';
ok( $user->poll_query_until('postgres',
		qq{SELECT wait_event = '$wait_event' FROM pg_stat_activity
		   WHERE backend_type = 'spanner_keys remote allocator'}),
	'the worker waits, and says so');
$user->safe_psql('postgres',
	q{SET spanner_keys.allocator_timeout = '20s'; SELECT spanner.next_value('orders') FROM generate_series(1, 100)});
pass('other allocators of the server are filled meanwhile');

# Nor does the worker stay for an answer that nobody waits for any more.
$user->safe_psql('postgres', 'CREATE DATABASE leaving');
$user->safe_psql(
	'leaving', qq{
	CREATE EXTENSION dblink;
	CREATE EXTENSION spanner_keys;
	CREATE SERVER hub FOREIGN DATA WRAPPER dblink_fdw OPTIONS (@{[ options($hub) ]});
	CREATE USER MAPPING FOR CURRENT_USER SERVER hub;
	SELECT spanner.create_allocator('slow', mode => 'remote', server => 'hub');});
like(
	error_of($user, q{SET spanner_keys.allocator_timeout = '500ms'; SELECT spanner.next_value('slow')}, database => 'leaving'),
	qr/timed out after 500 ms waiting for allocator "slow"/, 'a session gives up');
is($user->psql('postgres', 'DROP DATABASE leaving'), 0, 'its database can be dropped');
$locker->query_safe('COMMIT');
$locker->quit;
like(draw('slow'), qr/^\d+$/, 'the lock is gone');

$deaf = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1')
  or die "could not listen: $!";
$user->safe_psql(
	'postgres', qq{
	CREATE SERVER deaf FOREIGN DATA WRAPPER dblink_fdw
		OPTIONS (host '127.0.0.1', port '@{[ $deaf->sockport ]}', connect_timeout '2');
	CREATE USER MAPPING FOR CURRENT_USER SERVER deaf;
	SELECT spanner.create_allocator('deaf', mode => 'remote', server => 'deaf');});
my ($rc, $out, $err) = $user->psql(
	'postgres',
	q{SELECT spanner.next_value('deaf'); SELECT spanner.next_value('deaf')},
	on_error_stop => 0);
is( () = $err =~ /ERROR:  could not refill allocator "deaf": could not connect to server "deaf": .*timeout expired/g,
	2, 'a server that does not speak');
is(knocks(), 1, 'which is not tried again at once');
$user->safe_psql('postgres',
	q{SET spanner_keys.allocator_timeout = '20s'; SELECT spanner.next_value('orders') FROM generate_series(1, 100)});
pass('other servers serve meanwhile');
$deaf->close;

# Nor is one waited for that has no connect_timeout, which takes ten seconds: its answer is looked at below.
my $mute = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1')
  or die "could not listen: $!";
$user->safe_psql('postgres', 'CREATE DATABASE patient');
$user->safe_psql(
	'patient', qq{
	CREATE EXTENSION dblink;
	CREATE EXTENSION spanner_keys;
	CREATE SERVER mute FOREIGN DATA WRAPPER dblink_fdw
		OPTIONS (host '127.0.0.1', port '@{[ $mute->sockport ]}');
	CREATE USER MAPPING FOR CURRENT_USER SERVER mute;
	SELECT spanner.create_allocator('mute', mode => 'remote', server => 'mute');});
my $patient = IPC::Run::start(
	[
		'psql', '-XAtq', '-d', $user->connstr('patient'), '-c', q{SET spanner_keys.allocator_timeout = '60s'},
		'-c', q{SELECT spanner.next_value('mute')}
	],
	'>', \my $patient_out, '2>', \my $patient_err,
	IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));

# A low-water mark that two blocks do not reach, of a hub that others draw from
$hub->safe_psql('postgres', q{SELECT spanner.create_allocator('wide')});
$_->safe_psql('postgres',
	q{SELECT spanner.create_allocator('wide', mode => 'remote', server => 'hub', batch_size => 10, max_batch_size => 10, low_water_mark => 1000)})
  foreach $user, $user2;
foreach (1 .. 30)
{
	$_->safe_psql('postgres', q{SELECT count(spanner.next_value('wide')) FROM generate_series(1, 3)}) foreach $user, $user2;
}
is( $user->safe_psql('postgres', q{SELECT "values", lost_values FROM spanner.stat_allocator WHERE name = 'wide'}),
	'90|0', 'a full pool asks for no more blocks, of which it would lose one');

# The connection follows the definition of the server and the user mapping.
like(draw('orders'), qr/^\d{1,6}$/, 'from the hub');
$user->safe_psql(
	'postgres', qq{
	SELECT spanner.alter_allocator('orders', batch_size => 1, max_batch_size => 1, low_water_mark => 0);
	SELECT spanner.next_value('orders');
	ALTER SERVER hub OPTIONS (SET host '@{[ $other_hub->host ]}', SET port '@{[ $other_hub->port ]}');});
is(draw('orders'), 1000000, 'from the other hub, at once');
$user->safe_psql('postgres',
	qq{ALTER SERVER hub OPTIONS (SET host '@{[ $hub->host ]}', SET port '@{[ $hub->port ]}')});
like(draw('orders'), qr/^\d{1,6}$/, 'from the hub again');
$user->safe_psql('postgres',
	"ALTER USER MAPPING FOR CURRENT_USER SERVER hub OPTIONS (ADD user 'nobody_there')");
like(
	error_of($user, "SELECT spanner.next_value('orders')"),
	qr/could not connect to server "hub": .*role "nobody_there" does not exist/,
	'the user mapping counts at once');
$user->safe_psql('postgres',
	'ALTER USER MAPPING FOR CURRENT_USER SERVER hub OPTIONS (DROP user)');
like(draw('orders'), qr/^\d{1,6}$/, 'and it works again');

# What comes must fit.
my $next = $hub->safe_psql('postgres',
	"SELECT next_value FROM spanner.allocator WHERE name = 'orders'");
$user->safe_psql('postgres',
	"SELECT spanner.create_allocator('bounded', mode => 'remote', server => 'hub', remote_name => 'orders', max_value => 10)");
like(
	error_of($user, "SELECT spanner.next_value('bounded')"),
	qr/could not refill allocator "bounded": server "hub": values from \d+ to \d+ are out of bounds here \(1\.\.10\)/,
	'out of bounds');
$other_hub->safe_psql(
	'postgres', q{
	CREATE DATABASE fake;});
$other_hub->safe_psql(
	'fake', q{
	CREATE SCHEMA spanner;
	CREATE FUNCTION spanner.reserve_block(name text, count bigint,
		OUT first_value bigint, OUT last_value bigint)
	LANGUAGE sql AS $$ SELECT 7, CASE name WHEN 'short' THEN 7 + count - 2
		WHEN 'long' THEN 7 + count WHEN 'none' THEN NULL ELSE 3 END $$;});
$user->safe_psql(
	'postgres', qq{
	CREATE SERVER fake FOREIGN DATA WRAPPER dblink_fdw
		OPTIONS (host '@{[ $other_hub->host ]}', port '@{[ $other_hub->port ]}', dbname 'fake');
	CREATE USER MAPPING FOR PUBLIC SERVER fake;});
foreach my $name (qw(short long descending))
{
	$user->safe_psql('postgres',
		"SELECT spanner.create_allocator('$name', mode => 'remote', server => 'fake')");
	like(
		error_of($user, "SELECT spanner.next_value('$name')"),
		qr/server "fake": asked for 200 values, it gave those from 7 to/,
		"a block that is no block: $name");
}
$user->safe_psql('postgres',
	"SELECT spanner.create_allocator('none', mode => 'remote', server => 'fake')");
like(error_of($user, "SELECT spanner.next_value('none')"),
	qr/server "fake": no answer came/, 'nothing at all');

# One that says that it has run a command: no rows, but a word
my $terse = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1')
  or die "could not listen: $!";
my $terse_pid = fork // die "fork: $!";
if (!$terse_pid)
{
	while (my $client = $terse->accept)
	{
		my $send = sub { syswrite $client, $_[0] . pack('N', 4 + length $_[1]) . $_[1] };

		sysread $client, my $message, 10000;
		$send->('R', pack 'N', 0);
		$send->('Z', 'I');
		while (sysread($client, $message, 10000) && $message =~ /^Q/)
		{
			$send->('C', "UPDATE 1\0");
			$send->('Z', 'I');
		}
	}
	POSIX::_exit(0);
}
$user->safe_psql(
	'postgres', qq{
	CREATE SERVER terse FOREIGN DATA WRAPPER dblink_fdw
		OPTIONS (host '127.0.0.1', port '@{[ $terse->sockport ]}', sslmode 'disable', gssencmode 'disable', connect_timeout '10');
	CREATE USER MAPPING FOR CURRENT_USER SERVER terse;
	SELECT spanner.create_allocator('terse', mode => 'remote', server => 'terse');});
like(error_of($user, "SELECT spanner.next_value('terse')"),
	qr/server "terse": no answer came/, 'a command instead of rows');
# by TERM it would end as this program does, and stop the servers
kill 'KILL', $terse_pid;
waitpid $terse_pid, 0;

# What is missing over there
$user->safe_psql('postgres',
	"SELECT spanner.create_allocator('missing', mode => 'remote', server => 'hub', remote_name => E'it''s \\\\ missing')");
like(
	error_of($user, "SELECT spanner.next_value('missing')"),
	qr/could not refill allocator "missing": server "hub": allocator "it's \\ missing" does not exist/,
	'no such allocator there');

# Roles
$hub->append_conf('postgresql.conf', 'log_connections = on');
my $hba = slurp_file($hub->data_dir . '/pg_hba.conf');
unlink $hub->data_dir . '/pg_hba.conf';
$hub->append_conf('pg_hba.conf', "local all tenant scram-sha-256\n$hba");
$hub->reload;
$user->safe_psql(
	'postgres', q{
	CREATE ROLE tenant LOGIN;
	GRANT CREATE ON DATABASE postgres TO tenant;
	CREATE ROLE drawer LOGIN;
	CREATE USER MAPPING FOR drawer SERVER hub OPTIONS (user 'nobody_there', password 'x');});
my @as_tenant = (extra_params => [ '-U', 'tenant' ]);
$user->safe_psql(
	'postgres', q{
	SELECT spanner.create_allocator('tenant', mode => 'remote', server => 'hub');
	SELECT spanner.grant_allocator('tenant', 'drawer');}, @as_tenant);
like(
	error_of($user, "SELECT spanner.next_value('tenant')", @as_tenant),
	qr/could not connect to server "hub": user mapping not found for .*"tenant".*\nHINT:  Check the options/s,
	'no user mapping');
my $superuser = $user->safe_psql('postgres', 'SELECT current_user');
like(
	error_of(
		$user, "SELECT spanner.alter_allocator('tenant', owner_role => '$superuser')",
		@as_tenant),
	qr/must be (a )?member of role|must be able to SET ROLE/,
	'no one else becomes the owner');
$user->safe_psql('postgres',
	"CREATE USER MAPPING FOR tenant SERVER hub OPTIONS (user 'tenant')");
like(
	error_of($user, "SELECT spanner.next_value('tenant')", @as_tenant),
	qr/could not connect to server "hub": permission denied for foreign server hub/,
	'no right to use the server');
$user->safe_psql('postgres', 'GRANT USAGE ON FOREIGN SERVER hub TO tenant');
like(
	error_of($user, "SELECT spanner.next_value('tenant')", @as_tenant),
	qr/could not connect to server "hub": password .*required\nHINT:  Put a password into the user mapping/,
	'no password');
$user->safe_psql('postgres',
	"ALTER USER MAPPING FOR tenant SERVER hub OPTIONS (ADD password 'wrong')");
like(
	error_of($user, "SELECT spanner.next_value('tenant')", @as_tenant),
	qr/could not connect to server "hub": .*password authentication failed for user "tenant"/,
	'wrong password');
$user->safe_psql('postgres',
	"ALTER USER MAPPING FOR tenant SERVER hub OPTIONS (SET password 'secret')");
is( $user->safe_psql('postgres', "SELECT spanner.next_value('tenant')", @as_tenant),
	1, 'with the password');
is( $user->safe_psql('postgres', "SELECT spanner.next_value('tenant')",
		extra_params => [ '-U', 'drawer' ]),
	2, 'another role draws by the mapping of the owner');
like(slurp_file($hub->logfile), qr/connection authorized: user=tenant /, 'connected as the mapping says');

# A password that was given but not asked for is no password.
$user->safe_psql(
	'postgres', q{
	ALTER USER MAPPING FOR tenant SERVER hub OPTIONS (SET user 'drawer');
	SELECT spanner.reset_allocator('tenant', 1);});
$hub->safe_psql('postgres', 'CREATE ROLE drawer LOGIN');
like(
	error_of($user, "SELECT spanner.next_value('tenant')", @as_tenant),
	qr/could not connect to server "hub": password .*required/,
	'a server that trusts everybody');
$user->safe_psql(
	'postgres', q{
	ALTER USER MAPPING FOR tenant SERVER hub OPTIONS (SET user 'tenant');
	REVOKE USAGE ON FOREIGN SERVER hub FROM tenant;});
like(
	error_of($user, "SELECT spanner.next_value('tenant')", @as_tenant),
	qr/permission denied for foreign server hub/,
	'the right is taken away');

# A standby cannot give values.
$hub->backup('copy');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($hub, 'copy', has_streaming => 1);
$standby->start;
$user->safe_psql(
	'postgres', qq{
	CREATE SERVER standby FOREIGN DATA WRAPPER dblink_fdw OPTIONS (@{[ options($standby) ]});
	CREATE USER MAPPING FOR CURRENT_USER SERVER standby;
	SELECT spanner.create_allocator('standby', mode => 'remote', server => 'standby', remote_name => 'orders');});
like(
	error_of($user, "SELECT spanner.next_value('standby')"),
	qr/could not refill allocator "standby": server "standby": cannot execute spanner.reserve_block\(\) (in a read-only transaction|during recovery)/,
	'a standby');
$standby->promote;
like(draw('standby'), qr/^\d+$/, 'promoted, it does');
$standby->stop;

$patient->finish;
like(
	$patient_err,
	qr/could not refill allocator "mute": could not connect to server "mute": .*timeout expired/,
	'a server that does not speak, without a connect_timeout');
$mute->close;

# The hub is away, and comes back.
$user->safe_psql('postgres',
	q{SELECT spanner.next_value('orders'), spanner.next_value('local')});
$hub->stop('immediate');
like(
	error_of($user, "SELECT spanner.next_value('orders') FROM generate_series(1, 100)"),
	qr/ERROR:  could not refill allocator "orders": could not connect to server "hub": connection to server/,
	'hub stopped');
like(draw('local'), qr/^\d+$/, 'local allocators go on');
like($user->safe_psql('postgres',
		q{SELECT last_error FROM spanner.stat_allocator WHERE name = 'orders'}),
	qr/could not connect to server "hub"/, 'the view has the error');
$hub->start;
like(draw('orders'), qr/^\d+$/, 'hub started: works again');

# The server is gone.
$user->safe_psql('postgres',
	'DROP SERVER hub CASCADE');
like(
	error_of($user, "SELECT spanner.next_value('orders')"),
	qr/could not connect to server "hub": server "hub" does not exist/,
	'server dropped');

# Without dblink, with a server of postgres_fdw
$user->safe_psql('postgres', 'CREATE DATABASE bare');
$user->safe_psql(
	'bare', qq{
	CREATE EXTENSION spanner_keys;
	CREATE EXTENSION postgres_fdw;
	CREATE SERVER hub FOREIGN DATA WRAPPER postgres_fdw
		OPTIONS (@{[ options($hub, q{fetch_size '100'}) ]});
	CREATE USER MAPPING FOR CURRENT_USER SERVER hub;
	SELECT spanner.create_allocator('orders', mode => 'remote', server => 'hub');});
like(
	error_of($user, "SELECT spanner.next_value('orders')", database => 'bare'),
	qr/ERROR:  could not refill allocator "orders": could not connect to server "hub": extension "dblink" does not exist\nHINT:  Create the extension "dblink" in this database\./,
	'no dblink');
$user->safe_psql('bare', 'CREATE SCHEMA "else where"; CREATE EXTENSION dblink SCHEMA "else where"');
like($user->safe_psql('bare', "SELECT spanner.next_value('orders')"),
	qr/^\d+$/, 'dblink in a schema of its own, and a server of postgres_fdw');
$user->safe_psql('postgres', 'DROP DATABASE bare');
pass('the database can be dropped');

unlike(slurp_file($user->logfile), qr/PANIC|TRAP|signal 11/, 'no crash');
$_->stop foreach $user, $user2, $hub, $other_hub;

done_testing();
