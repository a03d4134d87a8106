# Allocators when another server takes over: a standby that lacks the last
# reservations, a standby that has them all, a recovery to a point in time,
# and reservations that wait for a standby in vain.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $draw = q{SELECT spanner.next_value('%s') FROM generate_series(1, %d)};

sub draw
{
	my ($node, $name, $count) = @_;

	return split /\n/, $node->safe_psql('postgres', sprintf($draw, $name, $count));
}

# How often a value is in both lists.
sub repeated
{
	my ($first, $second) = @_;
	my %seen = map { $_ => 1 } @$first;

	return scalar grep { $seen{$_} } @$second;
}

sub stderr_of
{
	my ($node, $sql) = @_;
	my $stderr;

	$node->psql('postgres', $sql, stderr => \$stderr);
	return $stderr;
}

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1, has_archiving => 1);
$primary->append_conf('postgresql.conf', "autovacuum = off\n");
$primary->start;
$primary->safe_psql('postgres', q{
	CREATE EXTENSION spanner_keys;
	SELECT spanner.create_allocator('gap', batch_size => 10, max_batch_size => 10),
	       spanner.create_allocator('no_gap', batch_size => 10, max_batch_size => 10, failover_gap => 0),
	       spanner.create_allocator('fresh', batch_size => 10, max_batch_size => 10)});
$primary->backup('base');

# An asynchronous standby that is behind
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;
draw($primary, $_, 5) foreach qw(gap no_gap);
$primary->wait_for_catchup($standby);
like(stderr_of($standby, "SELECT spanner.next_value('gap')"),
	qr/ERROR:  cannot execute spanner\.next_value\(\) during recovery/, 'a standby gives nothing');
my $sender = $primary->safe_psql('postgres', 'SELECT pid FROM pg_stat_replication');
kill 'STOP', $sender;
my %lost = map { $_ => [ draw($primary, $_, 50) ] } qw(gap no_gap fresh);
$primary->stop('immediate');
$standby->promote;
my %after = map { $_ => [ draw($standby, $_, 50) ] } qw(gap no_gap fresh);
is(repeated($lost{gap}, $after{gap}), 0, 'after a promotion no value is given twice');
is(repeated($lost{fresh}, $after{fresh}), 0, 'nor of an allocator that was not used before');
cmp_ok(repeated($lost{no_gap}, $after{no_gap}), '>', 0, 'without a gap values are given twice: the test can see it');
like(slurp_file($standby->logfile), qr/LOG:  new timeline 2: allocator "gap" skipped 100 values/, 'the gap is logged');
my ($highest) = sort { $b <=> $a } @{ $after{gap} };
cmp_ok((draw($standby, 'gap', 1))[0], '<=', $highest + 20, 'it is left out once');

# A synchronous standby has it all
my $second = PostgreSQL::Test::Cluster->new('second');
$standby->backup('base');
$second->init_from_backup($standby, 'base', has_streaming => 1);
$second->start;
$standby->append_conf('postgresql.conf', "synchronous_standby_names = '*'\n");
$standby->reload;
$standby->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
my @synchronous = draw($standby, 'no_gap', 50);

# Nothing is handed out that has not reached it, whatever ends the wait.
$second->stop('fast');
my $timeout = "SET spanner_keys.allocator_timeout = '1s'; SELECT count(n) FROM spanner.next_values('gap', 100) n";
like(stderr_of($standby, $timeout), qr/ERROR:  timed out after 1000 ms waiting for allocator "gap"\nDETAIL:  .*standby/, 'a wait for the standby times out');
my $worker = $standby->safe_psql('postgres', 'SELECT pid FROM spanner.stat_allocator_worker WHERE pid IS NOT NULL');
$standby->safe_psql('postgres', "SELECT pg_cancel_backend($worker)");
is($standby->safe_psql('postgres', "SELECT count(*) FROM spanner.stat_allocator_worker WHERE pid = $worker"), 1, 'the worker goes on waiting when it is canceled');
my $reserved = $standby->safe_psql('postgres', "SET synchronous_commit = local; SELECT next_value FROM spanner.allocator WHERE name = 'gap'");
$standby->safe_psql('postgres', "SELECT pg_terminate_backend($worker)");
$standby->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $worker");
is($standby->safe_psql('postgres', "SELECT pool_remaining FROM spanner.stat_allocator WHERE name = 'gap'") <= 20, 1, 'a wait that is ended gives nothing to the pool');
$standby->safe_psql('postgres', "ALTER SYSTEM SET synchronous_standby_names = ''; SELECT pg_reload_conf()");
my @later = draw($standby, 'gap', 60);
is(repeated($after{gap}, \@later), 0, 'values after that are new');
$standby->stop('immediate');
$second->start;
$second->promote;
is(repeated(\@synchronous, [ draw($second, 'no_gap', 50) ]), 0, 'a synchronous standby needs no gap');

# Back in time
$primary->start;
my $name = 'before';
$primary->safe_psql('postgres', "SELECT pg_create_restore_point('$name')");
my @gone = draw($primary, 'gap', 100);
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
my $past = PostgreSQL::Test::Cluster->new('past');
$primary->stop;
$past->init_from_backup($primary, 'base', has_restoring => 1, standby => 0);
$past->append_conf('postgresql.conf', "recovery_target_name = '$name'\nrecovery_target_action = promote\nrecovery_target_timeline = current\n");
$past->start;
$past->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()');
is(repeated(\@gone, [ draw($past, 'gap', 100) ]), 0, 'after a recovery to a point in time no value is given twice');
$past->stop;
$second->stop;

done_testing();
