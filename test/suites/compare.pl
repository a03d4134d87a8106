#!/usr/bin/perl
#
# compare.pl
#	  Judge the outcomes of a suite, test by test.
#
# Usage: test/suites/compare.pl PREFIX EXPLAINED
#
# PREFIX.plain, .control and the rest have lines "outcome<TAB>test<TAB>error".
# A test has to pass with the extension if it does in a plain database, unless
# it fails in the control with an error of the same name, or EXPLAINED has it.
# The control explains nothing of .loaded, which has no default kind.
# That file has a reason, in lines that begin with "#", and below it the tests,
# in which "*" stands for anything.
#
# test/suites/compare.pl

use strict;
use warnings;

my ($prefix, $explained_file) = @ARGV;
my @ways = grep { $_ ne 'loaded' || -e "$prefix.loaded" } qw(loaded bit_reversed_positive striped);
my %outcomes = map { $_ => read_outcomes("$prefix.$_") } ('plain', @ways, 'control');
my @explained = read_explained();
my $bad = 0;

(my $suite = $prefix) =~ s{.*/}{};
foreach my $way (@ways)
{
	my %count = map { $_ => 0 } qw(same control explained bad);

	foreach my $test (sort keys %{ $outcomes{plain} })
	{
		next if $outcomes{plain}{$test}[0] ne 'ok';
		my $verdict = judge($way, $test);
		$count{$verdict}++;
		print "not ok $way: $test: " . error_of($way, $test) . "\n" if $verdict eq 'bad';
	}
	$bad += $count{bad};
	print "$suite, $way: $count{same} tests pass as in a plain database, "
	  . "$count{control} fail in the control too, $count{explained} are explained, $count{bad} fail\n";
}
my $passed = grep { $_->[0] eq 'ok' } values %{ $outcomes{plain} };
print "$suite, plain: $passed tests pass\n";
exit($bad > 0 || $passed == 0 ? 1 : 0);

sub read_outcomes
{
	my ($file) = @_;
	my %result;

	open(my $in, '<', $file) or die "compare.pl: $file: $!\n";
	while (my $line = <$in>)
	{
		chomp $line;
		my ($outcome, $test, $error) = split /\t/, $line;

		# the part of a test that failed decides
		$result{$test} = [ $outcome, $error // '' ]
		  unless exists $result{$test} && $result{$test}[0] eq 'failed';
	}
	return \%result;
}

sub read_explained
{
	my (@result, $reason);

	open(my $in, '<', $explained_file) or return;
	while (my $line = <$in>)
	{
		chomp $line;
		next if $line eq '';
		if ($line =~ /^#/)
		{
			$reason = $line;
			next;
		}
		die "compare.pl: $explained_file:$.: no reason\n" unless defined $reason;
		push @result, join '.*', map { quotemeta } split /\*/, $line, -1;
	}
	return @result;
}

sub judge
{
	my ($way, $test) = @_;

	my $found = $outcomes{$way}{$test};

	return 'same' if $found && $found->[0] eq 'ok';
	my $control = $outcomes{control}{$test};
	return 'control'
	  if $way ne 'loaded' && $found && $control && $control->[0] eq 'failed'
	  && error_name($found) eq error_name($control);
	return 'explained' if grep { $test =~ /^$_$/ } @explained;
	return 'bad';
}

sub error_name
{
	my ($outcome) = @_;

	return $outcome->[1] =~ /^([\w.:]+?):? / ? $1 : $outcome->[1];
}

sub error_of
{
	my ($way, $test) = @_;
	my $found = $outcomes{$way}{$test} or return 'did not run';

	return $found->[0] eq 'skipped' ? 'was skipped' : $found->[1];
}
