# Many sessions draw many values while the worker is ended again and again: a
# bit for each value tells whether it came twice.
#
# BITMAP_CLIENTS and BITMAP_VALUES make more of it: 100 and 1000000 take some
# minutes and 2 GB in the temporary directory.

use strict;
use warnings;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $clients = $ENV{BITMAP_CLIENTS} // 20;
my $values = $ENV{BITMAP_VALUES} // 20_000;

my $node = PostgreSQL::Test::Cluster->new('bitmap');
$node->init;
$node->append_conf('postgresql.conf', 'max_connections = ' . ($clients + 20) . "\nspanner_keys.allocator_timeout = 0\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('a'), spanner.create_allocator('b', mode => 'batch')});

my $directory = $node->basedir;
my @loads = map {
	IPC::Run::start(
		[
			'psql', '-XqAt', '-d', $node->connstr('postgres'),
			'-c', "COPY (SELECT spanner.next_value('a') FROM generate_series(1, $values)) TO '$directory/a.$_'",
			'-c', "COPY (SELECT spanner.next_values('b', 100) FROM generate_series(1, $values / 100)) TO '$directory/b.$_'"
		],
		'>', \my $out, '2>', \my $err)
} 1 .. $clients;
my $ended = 0;
while (grep { $_->pumpable } @loads)
{
	$ended += $node->safe_psql('postgres', q{
		SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		 WHERE backend_type = 'spanner_keys allocator';
		SELECT pg_sleep(0.05)}) =~ s/\n//r;
	$_->pump_nb foreach grep { $_->pumpable } @loads;
}
my $finished = grep { $_->finish } @loads;
is($finished, $clients, 'all clients have their values');
cmp_ok($ended, '>', 0, "workers were ended: $ended");

foreach my $allocator (qw(a b))
{
	my $bitmap = '';
	my ($count, $twice) = (0, 0);

	foreach my $client (1 .. $clients)
	{
		open(my $file, '<', "$directory/$allocator.$client") or die "$allocator.$client: $!";
		while (<$file>)
		{
			$twice++ if vec($bitmap, $_, 1);
			vec($bitmap, $_, 1) = 1;
			$count++;
		}
		close($file);
		unlink "$directory/$allocator.$client";
	}
	is($count, $clients * $values, "\"$allocator\": values");
	is($twice, 0, "\"$allocator\": no value came twice");
}
$node->stop;

done_testing();
