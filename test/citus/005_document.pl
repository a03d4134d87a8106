# The story of docs/citus.md: its statements run in their order, each on the
# server that its first line names, and give what the document shows.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../t";

use CitusNodes;
use DocumentBlocks;
use PostgreSQL::Test::Utils;
use Test::More;

my $document = "$FindBin::Bin/../../docs/citus.md";
my %node = map { $_ => start_node($_, database => 'shop') } qw(coordinator worker1 worker2);
my %on = (
	'on the coordinator' => ['coordinator'],
	'on a worker'        => ['worker2'],
	'on each server'     => [qw(worker1 worker2 coordinator)]);

# What psql prints, with the addresses of our servers.
sub run_block
{
	my ($node, $sql) = @_;

	$sql =~ s{'$_\.example\.com', 5432}{"'" . $node{$_}->host . "', " . $node{$_}->port}ge foreach keys %node;
	$sql =~ s/^\\connect shop$/\\connect/m;
	my ($rc, $out, $err) = $node->psql('shop', $sql, extra_params => [ '-P', 'format=aligned', '-P', 'tuples_only=off', '-P', 'footer=off' ]);

	is($rc, 0, 'runs') or diag($err);
	return $out;
}

foreach my $block (grep { ($_->{named} // '') =~ /005_document/ } blocks(slurp_file($document)))
{
	my ($where) = $block->{text} =~ /^-- (.*)$/m;
	my $output = '';

	$output = run_block($node{$_}, $block->{text}) foreach @{ $on{$where} };
	next unless $block->{output};
	my ($got, $expected) = map { plain_output($_) } $output, $block->{output}{text};

	like($got, qr/\Q$expected\E\s*\z/, "output of line $block->{line}");
}
is(join(' ', map { $node{$_}->safe_psql('shop', "INSERT INTO customers (name) SELECT 'new' FROM generate_series(1, 1000)") . $_ } sort keys %node),
	'coordinator worker1 worker2', 'each node inserts customers');
is($node{worker1}->safe_psql('shop', 'SELECT count(*), count(DISTINCT id) FROM customers'), '4001|4001', 'no id twice');

done_testing();
