# The extensions are installed in a directory that is not the server's, as an
# image volume brings them, and are found there by two settings of release 18.

use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('other_directory');

# A server before that finds extensions in its own directory only.
if ($node->pg_version < 18)
{
	$node->init;
	command_fails_like([ 'postgres', '-D', $node->data_dir, '-C', 'extension_control_path' ],
		qr/unrecognized configuration parameter "extension_control_path"/, 'there is no such setting');
	done_testing();
	exit;
}

my $top = "$FindBin::Bin/../..";
my $dir = PostgreSQL::Test::Utils::tempdir;

my ($lib, $share) = map { my $path = `pg_config --$_`; chomp($path); "$dir/files$path" } qw(pkglibdir sharedir);

system_or_bail('make', '-s', '-C', $top, 'with_llvm=no', "DESTDIR=$dir/files", 'install');
ok(-f "$lib/spanner_keys.so", 'the library is in the directory');
is(scalar(() = glob("$share/extension/spanner_keys*.control")), 4, 'four control files, too');

$node->init;
$node->append_conf('postgresql.conf', qq{
extension_control_path = '$share:\$system'
dynamic_library_path = '$lib:\$libdir'});
$node->start;

# Which files the process of a session has loaded
sub libraries
{
	my ($pid) = @_;

	return join ' ', sort keys %{ { map { m{(/\S*/spanner_keys\.so)} ? ($1 => 1) : () } split /\n/, slurp_file("/proc/$pid/maps") } };
}

my $session = $node->background_psql('postgres');
my $pid = $session->query_safe('SELECT pg_backend_pid()');

$session->query_safe("CREATE EXTENSION $_ CASCADE") foreach qw(spanner_keys spanner_keys_ddl spanner_keys_advisor spanner_keys_splits);
is($session->query_safe(q{
		SET spanner.default_sequence_kind = 'bit_reversed_positive';
		CREATE TABLE t (id bigserial PRIMARY KEY);
		INSERT INTO t DEFAULT VALUES;
		SELECT id = spanner.bit_reverse(1, true) FROM t}), 't', 'ids');
is($session->query_safe(q{SELECT count(*) >= 0 FROM spanner.advise('t')}), 't', 'the advisor');
$session->query_safe(q{SELECT spanner.create_allocator('a')});
is($session->query_safe(q{SELECT spanner.next_value('a')}), '1', 'an allocator, whose worker is started by the name of the library');
is(libraries($pid), "$lib/spanner_keys.so", 'a session has loaded the library of that directory');
is(libraries($node->safe_psql('postgres', q{SELECT pid FROM pg_stat_activity WHERE backend_type ~ '^spanner_keys'})),
	"$lib/spanner_keys.so", 'so has the worker');
$session->quit;

# Preloaded, in each session and at the start
foreach my $setting (qw(session_preload_libraries shared_preload_libraries))
{
	$node->append_conf('postgresql.conf', "$setting = 'spanner_keys'");
	$node->restart;
	$session = $node->background_psql('postgres');
	is(libraries($session->query_safe('SELECT pg_backend_pid()')), "$lib/spanner_keys.so", $setting);
	$session->quit;
}

$node->stop;
done_testing();
