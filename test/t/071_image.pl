# docker/entrypoint.sh makes a cluster as PostgreSQL's official image does:
# POSTGRES_USER, POSTGRES_PASSWORD_FILE, POSTGRES_DB, and the files of
# docker-entrypoint-initdb.d.  The health check of docker/Dockerfile says no
# before that is done.

use strict;
use warnings;

use FindBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $entrypoint = "$FindBin::Bin/../../docker/entrypoint.sh";
my ($health) = slurp_file("$FindBin::Bin/../../docker/Dockerfile") =~ /^HEALTHCHECK CMD (.*)$/m;
my $dir = PostgreSQL::Test::Utils::tempdir_short;
my $port = PostgreSQL::Test::Cluster::get_free_port();

my $bindir = `pg_config --bindir` =~ s/\n//r;

$ENV{PATH} = "$bindir:$ENV{PATH}";
delete $ENV{$_} foreach qw(PGDATABASE PGUSER);
@ENV{qw(PGDATA PGHOST PGPORT INITDB_D)} = ("$dir/data", $dir, $port, "$dir/initdb.d");

# After the entry point's own, so these win.
my @settings = ('-c', "unix_socket_directories=$dir", '-c', 'fsync=off', '-c', "port=$port", '-c', 'listen_addresses=127.0.0.1');

sub sql
{
	my ($connection, $query) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run [ 'psql', '-XAtq', '-d', $connection, '-c', $query ], '>', \$out, '2>', \$err;
	return ($out . $err) =~ s/\s+\z//r;
}

# Start it, and wait until the health check says yes, or it has ended.
sub start
{
	my (%variables) = @_;
	my $output = '';
	local @ENV{ keys %variables } = values %variables;
	my $server = IPC::Run::start [ 'bash', $entrypoint, @settings ], '<', \'', '>&', \$output;

	foreach (1 .. 10 * $PostgreSQL::Test::Utils::timeout_default)
	{
		last if !$server->pumpable || !system("$health > $dir/health 2>&1");
		$server->pump_nb;
		select(undef, undef, undef, 0.1);
	}
	return ($server, \$output);
}

sub stop
{
	my ($server) = @_;

	$server->signal('INT');
	$server->finish;
	return;
}

mkdir "$dir/initdb.d";
append_to_file("$dir/initdb.d/1.sql", 'CREATE EXTENSION spanner_keys_ddl; CREATE TABLE first (id int);');
append_to_file("$dir/initdb.d/2.sh", qq{run_sql "\$POSTGRES_DB" -c "INSERT INTO first VALUES (2)"\n$health && touch $dir/healthy || true\n});
append_to_file("$dir/initdb.d/3.sh", qq{#!/bin/sh\npsql -Xq -U "\$POSTGRES_USER" -d "\$POSTGRES_DB" -c "INSERT INTO first VALUES (3)"\n});
chmod 0755, "$dir/initdb.d/3.sh";
append_to_file("$dir/initdb.d/4.sql", 'INSERT INTO first VALUES (4)');
system_or_bail('gzip', "$dir/initdb.d/4.sql");
append_to_file("$dir/initdb.d/5.txt", 'no statement');
append_to_file("$dir/password", "open sesame\n");

my ($server, $output) = start();

$server->finish;
like($$output, qr/set POSTGRES_PASSWORD, or POSTGRES_HOST_AUTH_METHOD=trust/, 'no password, no server');

($server, $output) = start(POSTGRES_USER => 'boss', POSTGRES_DB => 'my shop', POSTGRES_PASSWORD_FILE => "$dir/password");
is(sql("host=127.0.0.1 user=boss password='open sesame' dbname='my shop'", 'SELECT array_agg(id ORDER BY id) FROM first'),
	'{2,3,4}', 'files of initdb.d') or diag($$output);
ok(!-e "$dir/healthy", 'it was not healthy yet');
like(sql("host=127.0.0.1 user=boss password=wrong dbname='my shop'", 'SELECT 1'), qr/password authentication failed/, 'a wrong password');
like($$output, qr{5\.txt is ignored}, 'what is ignored is named');
is(sql("user=boss dbname='my shop'", q{SELECT array_agg(extname::text ORDER BY 1) FROM pg_extension}),
	'{plpgsql,spanner_keys,spanner_keys_ddl}', 'the database has the extension');
is(sql('user=boss dbname=postgres', 'SELECT spanner.bit_reverse(1, true)'), '4611686018427387904', 'postgres, too');
stop($server);

($server, $output) = start();
is(sql("user=boss dbname='my shop'", 'SELECT count(*) FROM first'), '3', 'a cluster that is there is left as it is') or diag($$output);
stop($server);

@ENV{qw(PGDATA INITDB_D)} = ("$dir/other", "$dir/none");
($server, $output) = start(POSTGRES_HOST_AUTH_METHOD => 'trust');
is(sql('host=127.0.0.1 user=postgres dbname=postgres', 'SELECT current_user'), 'postgres', 'trust, and the names by default') or diag($$output);
stop($server);

is(`bash '$entrypoint' echo another command`, "another command\n", 'another command runs as it is');

done_testing();
