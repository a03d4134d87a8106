# Allocators and transactions that outlive their session, or the WAL that they
# were written to: prepared transactions in mode sync, and pg_resetwal.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('prepared');

sub sql
{
	my ($query) = @_;

	return $node->safe_psql('postgres', $query) =~ s/\s+/ /gr =~ s/^ //r;
}

sub fails_like
{
	my ($query, $message, $name) = @_;
	my ($result, $out, $err) = $node->psql('postgres', $query);

	like($err, $message, $name);
	return;
}

$node->init;
$node->append_conf('postgresql.conf', "max_prepared_transactions = 5\nlog_min_messages = log");
$node->start;
sql(q{CREATE EXTENSION spanner_keys; CREATE ROLE one;
	SELECT spanner.create_allocator(n, 'sync') FROM unnest('{a,b}'::text[]) n;
	SELECT spanner.create_allocator('pool', 'batch', batch_size => 10, failover_gap => 500)});

# What a prepared transaction has drawn is nobody else's, over a crash too.
my $locked = q{SET lock_timeout = '100ms'; SELECT spanner.next_value('a')};

is(sql(q{BEGIN; SELECT spanner.next_value('a'), spanner.next_value('b'); SAVEPOINT s; SELECT spanner.next_value('a');
	ROLLBACK TO s; SELECT spanner.next_value('a') FROM generate_series(1, 3); PREPARE TRANSACTION 'one'}),
	'1|1 2 2 3 4', 'values of a transaction that is prepared');
fails_like($locked, qr/canceling statement due to lock timeout/, 'it holds the allocator');
$node->stop('immediate');
$node->start;
fails_like($locked, qr/canceling statement due to lock timeout/, 'so after a crash');
sql(q{COMMIT PREPARED 'one'});
is(sql(q{SELECT spanner.next_value('a'), spanner.next_value('b')}), '5|2', 'committed: the next values');
is(sql(q{BEGIN; SELECT spanner.next_value('a') FROM generate_series(1, 2); PREPARE TRANSACTION 'two'}), '6 7', 'values of another one');
$node->stop('immediate');
$node->start;
sql(q{ROLLBACK PREPARED 'two'});
is(sql(q{SELECT spanner.next_value('a')}), '6', 'rolled back: they are given again');

# What can be prepared
is(sql(q{BEGIN; SAVEPOINT s; SELECT spanner.alter_allocator('pool', batch_size => 20); ROLLBACK TO s;
	SELECT spanner.next_value('pool'), spanner.next_value('a'); PREPARE TRANSACTION 'three'; COMMIT PREPARED 'three'; SELECT spanner.next_value('a')}),
	'1|7 8', 'a change that was undone');
fails_like(q{BEGIN; SELECT spanner.alter_allocator('a', max_value => 1000); PREPARE TRANSACTION 'four'},
	qr/cannot PREPARE a transaction that has altered or numbered from an allocator/, 'one that was not');
sql(q{CREATE TABLE invoice (number int); SELECT spanner.number_rows('invoice', 'number')});
fails_like(q{BEGIN; INSERT INTO invoice DEFAULT VALUES; PREPARE TRANSACTION 'numbered'},
	qr/cannot PREPARE a transaction that has altered or numbered from an allocator/, 'numbers on commit');
fails_like(q{SET check_function_bodies = off; BEGIN; INSERT INTO invoice DEFAULT VALUES; PREPARE TRANSACTION 'restored'; ROLLBACK PREPARED 'restored'},
	qr/1 row was left without a number/, 'a row of a dump');
sql(q{BEGIN; SELECT spanner.grant_allocator('a', 'one'); PREPARE TRANSACTION 'five'; COMMIT PREPARED 'five'});
fails_like('DROP ROLE one', qr/privileges for column owner_role of table spanner.allocator/, 'a grant of a prepared transaction is known');
sql(q{BEGIN; SELECT spanner.revoke_allocator('a'); PREPARE TRANSACTION 'six'; COMMIT PREPARED 'six'; DROP ROLE one});
is(sql(q{SELECT spanner.next_value('a')}), '9', 'nothing was lost');

# A series begins in it, and a session reserves by itself, in modes with a pool too.
foreach my $end ('COMMIT', 'ROLLBACK')
{
	is(sql(qq{BEGIN; SELECT spanner.next_value('pool', '$end') FROM generate_series(1, 2); PREPARE TRANSACTION 'seven'}), '1 2', "a series begins: $end");
	sql(qq{$end PREPARED 'seven'});
	is(sql(qq{SELECT spanner.next_value('pool', '$end')}), $end eq 'COMMIT' ? '3' : '1', "and goes on after $end");
}
# It keeps the name of the allocator, but nobody waits for it without a limit.
sql(q{BEGIN; SELECT spanner.next_value('pool', 'held'); PREPARE TRANSACTION 'held'});
fails_like("SET spanner_keys.allocator_timeout = 200; SELECT $_", qr/timed out after 200 ms waiting for allocator "pool"/, $_)
  foreach q{spanner.rename_allocator('pool', 'renamed')}, q{spanner.drop_allocator('pool')};
fails_like(q{SET lock_timeout = 200; SELECT spanner.rename_allocator('pool', 'renamed')}, qr/canceling statement due to lock timeout/, 'lock_timeout');
sql(q{ROLLBACK PREPARED 'held'});
sql(q{SELECT spanner.create_allocator('by itself', batch_size => 10)});
is(sql(q{SELECT spanner.next_value('by itself')}), '1', 'a pool');
is(sql(q{BEGIN; SELECT FROM spanner.allocator WHERE name = 'by itself' FOR UPDATE; SELECT spanner.next_value('by itself'); PREPARE TRANSACTION 'eight'}), '2',
	'a session that has locked the row goes on in the pool');
sql(q{ROLLBACK PREPARED 'eight'});
is(sql(q{BEGIN; SELECT FROM spanner.allocator WHERE name = 'by itself' FOR UPDATE; SELECT count(spanner.next_value('by itself')) FROM generate_series(3, 15); PREPARE TRANSACTION 'nine'}),
	'13', 'and reserves by itself');
sql(q{COMMIT PREPARED 'nine'});
is(sql(q{SELECT spanner.next_value('by itself')}), '16', 'what others draw then lies behind');
sql(q{SELECT spanner.drop_allocator('by itself')});

# New WAL, on the same timeline and on another one
is(sql(q{SELECT count(spanner.next_value('pool')) FROM generate_series(2, 8)}), '7', 'values of a pool');
$node->stop;
$node->command_ok([ 'pg_resetwal', $node->data_dir ], 'pg_resetwal');
$node->start;
is(sql(q{SELECT spanner.next_value('pool')}), '11', 'the rest of the pool is lost, nothing is given twice');
is(sql(q{SELECT spanner.next_value('a')}), '10', 'mode sync goes on');
$node->stop;
$node->command_ok([ 'pg_resetwal', '-l', '000000070000000000000050', $node->data_dir ], 'pg_resetwal with another timeline');
$node->start;
is(sql(q{SELECT spanner.next_value('pool')}), '3021', 'a gap for each timeline is left out');
is(sql(q{SELECT spanner.next_value('a')}), '11', 'mode sync leaves out nothing');
like(slurp_file($node->logfile), qr/new timeline 7: allocator "pool" skipped 3000 values/, 'which is logged');
$node->stop;

done_testing();
