# Sections.pm
#	  What the report of the benchmark says of each section.
#
# Each function returns Markdown, and notes what is to be listed as a bar.
#
# test/bench/Sections.pm

package Sections;

use strict;
use warnings;
use List::Util qw(max);
use Exporter 'import';
use Results;

our @EXPORT = qw(section_names section_text);

my @sections = (
	[ 'functions',    'Functions',                          \&functions ],
	[ 'nextval',      'Drawing a value',                    \&nextval ],
	[ 'ddl',          'Commands and first draws',           \&commands ],
	[ 'instructions', 'Instructions',                       \&instructions ],
	[ 'keys',         'Keys on one server',                 \&keys_on_one_server ],
	[ 'ranges',       'How keys spread',                    \&ranges ],
	[ 'allocator',    'Allocators',                         \&allocator ],
	[ 'planner',      'Reading tables that have a shard',   \&planner ],
	[ 'advisor',      'Advice',                             \&advisor ],
	[ 'servers',      'One server and three',               \&servers ]);

my %place = (local => 'the server that is asked', one_server => 'one other server',
	bigserial => 'three, bigserial', bit_reversed_positive => 'three, bit_reversed_positive');

sub section_names { return map { $_->[0] } @sections }

sub section_text
{
	my ($section) = grep { $_->[0] eq $_[0] } @sections;

	return "## $section->[1]\n\n" . $section->[2]->();
}

# The "name=value" of a parameter.
sub part
{
	my ($parameter, $name) = @_;

	return $parameter =~ /(?:^| )\Q$name\E=(\S+)/ ? $1 : undef;
}

# Lines of gnuplot for the columns after the first, with these titles.
sub lines
{
	my @titles = @_;

	return join(', ', map { sprintf("\$data using 1:%d with linespoints lw 2 title '%s'", $_ + 2, $titles[$_]) } 0 .. $#titles);
}

sub functions
{
	my %base = (number => 'hashint8extended', name => 'hashtextextended', time => 'hashtextextended of time::text');
	my %argument = (number => 'bigint', name => 'text', time => 'timestamptz');
	my (@rows, @data, @loops);

	foreach my $argument (qw(number name time))
	{
		foreach my $case (cases_of('functions'))
		{
			my @ns = values_of('functions', $case, $argument, 'CPU time') or next;
			my $base = least(values_of('functions', $base{$argument}, $argument, 'CPU time'));

			push @rows, [ $case, $argument{$argument}, number(least(@ns)), spread(@ns),
				$case eq $base{$argument} ? '' : 'x ' . number(least(@ns) / $base) ];
			push @data, [ $case =~ / / ? $case : "$case($argument{$argument})", least(@ns) ];
		}
	}
	foreach my $parameter (grep { / bytes$/ } parameters_of('functions', qr/./))
	{
		my @ours = values_of('functions', 'C, farmhash.c', $parameter, 'CPU time') or next;

		push @loops, [ $parameter, spread(@ours), spread(values_of('functions', 'C, libfarmhash', $parameter, 'CPU time')),
			times(ratios('functions', 'C, farmhash.c', 'C, libfarmhash', $parameter, 'CPU time')) ];
	}
	my $reversal = spread(values_of('functions', 'C, bit reversal', '8 bytes', 'CPU time'));

	return "CPU time of a call, in ns: of a query that makes eight for each row, less the query without them. The least of the rounds counts, "
	  . "since everything else on the machine only adds to it.\n\n"
	  . table('llrrr', [ 'function', 'argument', 'ns', 'median and range', "PostgreSQL's hash = 1" ], @rows)
	  . "\n" . plot('functions', 'ns of a call', <<'END', data => \@data)
set logscale y
set ylabel 'ns of a call'
set boxwidth 0.7
set xtics rotate by -35 font ',10'
set rmargin 14
unset key
plot $data using 0:2:xtic(1) with boxes lc rgb '#3b6ea8'
END
	  . "\nThe fingerprint in a loop in C, in ns, compiled with `-O2`, as Debian's libfarmhash is:\n\n"
	  . table('lrrr', [ 'length', 'our `farmhash.c`', 'libfarmhash', '' ], @loops)
	  . "\nThe same loop around the reversal of a bigint takes $reversal ns, most of which is the loop's.\n";
}

sub nextval
{
	my (@rows, @data);
	my @parameters = sort {
		part($a, 'values') <=> part($b, 'values')
		  || part($a, 'cache') <=> part($b, 'cache')
		  || part($a, 'clients') <=> part($b, 'clients')
	} parameters_of('nextval', qr/clients/);

	foreach my $parameter (@parameters)
	{
		my @ratios = map { [ ratios('nextval', $_, 'core', $parameter, 'values/s') ] } qw(bit_reversed_positive striped);

		push @rows, [ map({ part($parameter, $_) } qw(values cache clients)),
			number(median(values_of('nextval', 'core', $parameter, 'values/s')) / 1000), map { times(@$_) } @ratios ];
		push @data, [ sprintf('%s / %s', part($parameter, 'cache'), part($parameter, 'clients')),
			map { (median(@$_), (sort { $a <=> $b } @$_)[ 0, -1 ]) } @ratios ]
		  if part($parameter, 'values') > 1;
	}
	my @all = map { ratios('nextval', $_, 'core', qr/values=1000/, 'values/s') } qw(bit_reversed_positive striped);
	bar('nextval', 'values/s of core `nextval`, many values in a statement, median of all', median(@all), '>=', 0.9);

	return "Values in a second, pgbench; more is better. Core's figure is in thousands, ours are ratios to it.\n\n"
	  . table('rrrrrr', [ 'values in a statement', 'CACHE', 'clients', 'core, thousands/s', 'bit_reversed_positive', 'striped' ], @rows)
	  . "\n" . plot('nextval', 'values/s, of those of core nextval', <<'END', data => \@data);
set ylabel 'values/s, core = 1'
set xlabel 'CACHE / clients, 1000 values in a statement'
set yrange [0:1.6]
set offsets 0.5, 0.5, 0, 0
set xtics font ',10'
plot 1 lc rgb '#888888' dt 2 title 'core', \
  $data using ($0-0.1):2:3:4:xtic(1) with yerrorbars pt 7 lc rgb '#3b6ea8' title 'bit-reversed', \
  $data using ($0+0.1):5:6:7 with yerrorbars pt 5 lc rgb '#c8643c' title 'striped'
END
}

sub commands
{
	my %limit = ('DISABLE TRIGGER' => [ 1.1 ], 'bigserial' => [ 1.15, 1.3 ]);
	my %what = ('DISABLE TRIGGER' => '`ALTER TABLE … DISABLE TRIGGER ALL`', 'SET STATISTICS' => '`ALTER TABLE … ALTER … SET STATISTICS`',
		'CREATE TABLE' => '`CREATE TABLE`', 'bigserial' => '`CREATE TABLE` with bigserial', 'identity' => '`CREATE TABLE` with an identity column');
	my @cases = qw(unused kind);
	my @where = ('extension unused', 'default kind');
	my $least = sub { return least(values_of('ddl', @_)) };
	my (@rows, @draws);

	foreach my $name ('DISABLE TRIGGER', 'SET STATISTICS', 'CREATE TABLE', 'bigserial', 'identity')
	{
		my @count = map { values_of('ddl', $_, $name, 'instructions') } 'plain', @cases;
		my @time = map { $least->($_, $name, 'CPU time') } 'plain', @cases;

		push @rows, [ $what{$name}, number($count[0]), map({ sprintf('x %.2f', $count[$_] / $count[0]) } 1, 2),
			number($time[0]), map { sprintf('x %.2f', $time[$_] / $time[0]) } 1, 2 ];
		bar('ddl', "instructions of $what{$name}, $where[$_], without the extension = 1", $count[ $_ + 1 ] / $count[0], '<=', $limit{$name}[$_],
			'a label is stored for the sequence, and the table is read again after it')
		  foreach 0 .. $#{ $limit{$name} // [] };
	}
	foreach my $draw ([ 'nothing preloaded', 'unused', 'a plain sequence', 0.7 ], [ 'nothing preloaded', 'kind', 'a bound sequence', 0.7 ],
		[ 'preloaded', 'kind', 'a bound sequence', 0.1 ], [ 'preloaded', 'allocator', 'an allocator, `async_batch`', 0.1 ])
	{
		my ($how, $case, $from, $limit) = @$draw;
		my $parameter = "first draw, $how";
		my @least = map { $least->($_, $parameter, 'least') } 'plain', $case;

		push @draws, [ $from, $how, map({ number($_) } @least), map { spread(values_of('ddl', $_, $parameter, 'p50')) } 'plain', $case ];
		bar('ddl', "first draw of a session, $from, $how, ms more than core `nextval`", $least[1] - $least[0], '<=', $limit,
			$how eq 'preloaded' ? 'a session looks up the kind or the allocator, and the functions of the extension, once' : 'most of it loads the library, once a session');
	}
	return "Commands of one session, each a transaction, in a database without the extension, with it but unused, and with a default kind (bit_reversed_positive): instructions, counted by callgrind, and CPU time in µs, the least of the rounds.\n\n"
	  . table('lrrrrrr', [ '', 'instructions', 'unused', 'default kind', 'CPU time, µs', 'unused', 'default kind' ], @rows)
	  . "\nThe first statement of a new session draws a value: ms as the client sees them, the least and p50. Sessions of core and ours alternate. Other work on the machine adds to all of them.\n\n"
	  . table('llrrrr', [ 'from', 'library', 'core `nextval`, least', 'ours', 'core `nextval`, p50', 'ours' ], @draws);
}

sub advisor
{
	my @rows = map { [ '10,000', $_, spread(values_of('advisor', 'advise', "tables=10000 analyzed=$_", 'CPU time')) ] } 'no', 'yes';

	return "`SELECT * FROM spanner.advise(target => 'splits')`, CPU time of the session in s. Each table has a serial key, two more indexes and no rows.\n\n"
	  . table('rlr', [ 'tables', 'analyzed', 'CPU time, s' ], @rows);
}

sub instructions
{
	my @rows;

	foreach my $row (
		[ 'nextval, CACHE 1',    'CACHE 1',    'core', 'bit_reversed_positive', 'striped' ],
		[ 'nextval, CACHE 1000', 'CACHE 1000', 'core', 'bit_reversed_positive', 'striped' ],
		[ 'a row of COPY', 'COPY', 'core', 'bit_reversed_positive', 'striped' ],
		[ 'a small statement planned and run', 'planning', 'without the library', 'with the library' ],
		[ 'EXPLAIN of nextval', 'planning nextval', 'without the extension', 'with the extension' ])
	{
		my ($what, $parameter, $base, @cases) = @$row;
		my ($count) = values_of('instructions', $base, $parameter, 'instructions') or next;

		push @rows, [ $what, number($count), map {
			my ($own) = values_of('instructions', $_, $parameter, 'instructions');
			sprintf('%s (x %.3f)', number($own), $own / $count) } @cases ];
		push @{ $rows[-1] }, '' while @{ $rows[-1] } < 4;
	}
	my ($value) = values_of('instructions', 'async_batch', 'allocator', 'instructions');
	my ($core) = values_of('instructions', 'core', 'CACHE 1', 'instructions');
	my ($text) = values_of('instructions', 'concatenation', 'text', 'instructions');
	my @calls = map {
		my ($count) = values_of('instructions', @$_, 'instructions');
		"`$_->[0]` " . number($count - ($_->[1] eq 'text' ? $text : 0))
	} grep { values_of('instructions', @$_, 'instructions') } (
		[ 'hashint8extended', 'number' ], [ 'spanner.bit_reverse', 'number' ], [ 'spanner.shard_id', 'number' ],
		[ 'hashtextextended', 'text' ], [ 'spanner.farm_fingerprint', 'text' ], [ 'md5', 'text' ]);

	bar('instructions', 'a value of an allocator, `async_batch`, of core `nextval`', $value / $core, '<=', 1);
	return "Counted by callgrind, so without noise. The last two rows are in a database without bound sequences: a statement on another table, with the library loaded in the second column, and EXPLAIN of a `nextval`, with the extension.\n\n"
	  . table('lrrr', [ '', 'core', 'bit_reversed_positive', 'striped' ], @rows)
	  . "\nA value of an allocator in mode `async_batch`: " . number($value) . sprintf(' (x %.2f of `nextval`).', $value / $core)
	  . (@calls ? ' A call of ' . join(', ', @calls) . '.' : '') . "\n";
}

sub keys_on_one_server
{
	my @keys = grep { !/100 bytes/ && $_ ne 'shared_buffers' } cases_of('keys');
	my @segments = parameters_of('keys', qr/from=/);
	my ($last) = sort { $b <=> $a } map { part($_, 'from') } @segments;
	my ($end) = grep { /from=$last$/ } @segments;
	my ($buffers) = values_of('keys', 'shared_buffers', '', 'size');
	my $row = median(values_of('keys', 'bigserial', qr/pages=on /, 'WAL'));

	return sprintf('%s small rows, a key and four bytes, and an index on the key; at the end no index fits into shared_buffers (%s MB). ',
		brief($last + part($end, 'every')), $buffers / 1048576)
	  . 'The tables grow in turn, a segment of rows at a time; times and cache are those of the second half. The times are without the checkpoints, and no disk is in them: reading a page takes it from the cache of the operating system.' . "\n\n"
	  . cost_table(\@keys, \@segments, $last)
	  . "\n" . cache_plot(\@keys, \@segments)
	  . "\nBytes of WAL for a row, bigserial = 1 (" . number($row) . " bytes), by the number of rows from one checkpoint to the next:\n\n"
	  . wal_text(\@keys, \@segments)
	  . wide_rows(\@segments);
}

sub cost_table
{
	my ($keys, $segments, $last) = @_;
	my $large = join('|', grep { $_ >= $last / 2 } map { part($_, 'from') } @$segments);
	my $half = qr/pages=(?:on|lz4) from=(?:$large)$/;
	my (@rows, @sizes);

	foreach my $key (@$keys)
	{
		my ($size) = values_of('keys', $key, qr/from=$last$/, 'index');
		my @ratios = map { median(ratios('keys', $key, 'bigserial', qr/from=$_$/, 'index')) } 0, $last;

		push @sizes, @ratios if $key =~ /^striped\((\d+)/ && $1 <= 1024;
		push @rows, [ $key, map({ times(ratios('keys', $key, 'bigserial', $half, $_)) } 'time', 'CPU time'),
			number($size / 1e6), map({ times($_) } reverse @ratios),
			map { number(median(values_of('keys', $key, $half, $_))) } 'cache hits', 'cache misses' ];
	}
	bar('keys', "$_ of striped(64), bigserial = 1", median(ratios('keys', 'striped(64)', 'bigserial', $half, $_)), '<=', 2)
	  foreach 'time', 'CPU time';
	bar('keys', 'index of a striped key with 4 to 1024 stripes, bigserial = 1, the largest', max(@sizes), '<=', 1.15);
	return table('lrrrrrrr',
		[ 'key', 'time, bigserial = 1', 'CPU time', 'index, MB', '', 'after the first segment', 'cache hits of the index, %', 'pages read for a row' ], @rows);
}

sub cache_plot
{
	my ($keys, $segments) = @_;
	my %from = map { part($_, 'from') => $_ } grep { values_of('keys', 'uuid', $_, 'time') } @$segments;
	my @shown = grep { /^(?:bigserial|uuid|bit_reversed_positive|striped\((?:16|64|4096)\))$/ } @$keys;
	my @data;

	foreach my $from (sort { $a <=> $b } keys %from)
	{
		push @data, [ $from / 1e6, map { median(values_of('keys', $_, $from{$from}, 'cache misses')) } @shown ];
	}
	return plot('keys_cache', 'pages of the index read for a row', <<END, data => \@data);
set xlabel 'million rows in the table'
set ylabel 'pages of the index read for a row'
plot @{[ lines(map { s/_positive//r } @shown) ]}
END
}

# The WAL of each key, by the distance of checkpoints, and why.
sub wal_text
{
	my ($keys, $segments) = @_;
	my @every = sort { $a <=> $b } distinct(map { part($_, 'every') } grep { /pages=on/ } @$segments);
	my %wal = map { $_ => { wal_ratios($_, 'bigserial', @every) } } @$keys;
	my @modes = (@every, grep { $wal{uuid}{$_} } 'lz4', 'off');
	my %head = (lz4 => 'every ' . brief($every[0]) . ', wal_compression=lz4', off => 'full_page_writes=off',
		map { $_ => 'every ' . brief($_) } @every);
	my (@rows, @data);

	foreach my $key (@$keys)
	{
		push @rows, [ $key, map { times(@{ $wal{$key}{$_} }) } @modes ];
		push @data, [ $1, map { median(@{ $wal{$key}{$_} }) } @modes ] if $key =~ /^striped\((\d+)/;
	}
	return table('l' . 'r' x @modes, [ 'key', map { $head{$_} } @modes ], @rows)
	  . "\n" . plot('keys_wal', 'WAL by stripes', <<END, data => \@data) . "\n" . wal_reasons($keys, \%wal, \@every);
set logscale x 2
set logscale y
set xtics (4, 16, 64, 256, 1024, 4096)
set xrange [3.4:5000]
set ytics (1, 1.2, 1.5, 2, 3, 4, 6, 8, 12)
set xlabel 'stripes'
set ylabel 'WAL of striped keys, bigserial = 1'
set key top left inside
plot @{[ lines(map { $head{$_} } @modes) ]}, 1.2 lc rgb '#888888' dt 2 title '1.2'
END
}

sub wal_ratios
{
	my ($key, $base, @every) = @_;
	my %ratios = map { $_ => [ ratios('keys', $key, $base, qr/every=$_ pages=on /, 'WAL') ] } @every;

	foreach my $mode (qw(lz4 off))
	{
		my @list = ratios('keys', $key, $base, qr/pages=$mode /, 'WAL');

		$ratios{$mode} = \@list if @list;
	}
	return %ratios;
}

# What makes the WAL of stripes, and which number of them meets the bar.
sub wal_reasons
{
	my ($keys, $wal, $every) = @_;
	my $text = 'A striped key costs WAL in two ways. Its pages are split in the middle, and half of each is logged again: that is what is left with `full_page_writes=off`. '
	  . "And after a checkpoint the first change of each of the few pages where a stripe is being filled logs the whole page: that shrinks with the number of rows from one checkpoint to the next. "
	  . "With PostgreSQL's defaults a checkpoint comes after some 3.5 million such rows (`max_wal_size = 1GB`), or after 5 minutes, which is 300,000 rows at 1,000 rows/s.\n\n"
	  . "The WAL of uuid and bit-reversed keys grows with the table, since ever fewer rows share a page from one checkpoint to the next. The columns on the right are of the largest tables.\n\n";

	foreach my $distance (@$every)
	{
		my @met = grep { /striped/ && median(@{ $wal->{$_}{$distance} }) <= 1.2 } @$keys;

		$text .= '- A checkpoint every ' . brief($distance) . ' rows: '
		  . (@met ? "of those measured, $met[-1] has the most stripes that stay" : 'no number of stripes stays')
		  . " within 1.2 times the WAL of bigserial.\n";
		bar('keys', 'WAL of striped(64), bigserial = 1, a checkpoint every ' . brief($distance) . ' rows',
			median(@{ $wal->{'striped(64)'}{$distance} }), '<=', 1.2, 'after each checkpoint every stripe logs a whole page');
	}
	return $text;
}

sub wide_rows
{
	my ($segments) = @_;
	my @keys = grep { /100 bytes/ } cases_of('keys') or return '';
	my @every = sort { $a <=> $b } distinct(map { part($_, 'every') }
		  grep { /pages=on/ && values_of('keys', $keys[0], $_, 'WAL') } @$segments);
	my @rows;

	foreach my $key (@keys)
	{
		my %ratios = wal_ratios($key, $keys[0], @every);

		push @rows, [ $key =~ s/, 100 bytes//r, map { times(@{ $ratios{$_} }) } @every ];
	}
	return "\nThe same with 100 bytes more in each row, so that the index is a smaller part of it:\n\n"
	  . table('l' . 'r' x @every, [ 'key', map { 'every ' . brief($_) } @every ], @rows);
}

sub ranges
{
	my @parameters = parameters_of('ranges', qr/ranges=/);
	my ($values) = sort { $b <=> $a } map { part($_, 'values') } @parameters;
	my @cases = cases_of('ranges');
	my @data;

	foreach my $ranges (distinct(map { part($_, 'ranges') } @parameters))
	{
		push @data, [ $ranges,
			map { median(values_of('ranges', $_, "ranges=$ranges values=$values", 'largest/mean')) } @cases ];
	}
	bar('ranges', 'largest of 1024 ranges, bit_reversed_positive, mean = 1',
		median(values_of('ranges', 'bit_reversed_positive', "ranges=1024 values=$values", 'largest/mean')), '<=', 1.05);
	return brief($values) . ' keys in equal ranges of their space, of which bigserial fills the lowest: the keys in the largest range, the mean being 1. A hash shard is `spanner.shard_id(1024, …)` before what ascends.' . "\n\n"
	  . ranges_table($values, 'largest/mean')
	  . "\n" . plot('ranges', 'largest range', <<END, data => \@data)
set logscale x 2
set logscale y
set xlabel 'equal ranges of key space'
set ylabel 'keys in the largest, mean = 1'
plot @{[ lines(map { s/_positive//r } @cases) ]}
END
	  . "\nAn engine that splits by size does not have empty ranges. So now the bounds are such that each range has as many of these keys, and the next 10,000 are drawn: how many come into the busiest range, the mean being 1?\n\n"
	  . ranges_table(10000, 'next, largest/mean')
	  . "\nWith few keys for each range, chance alone makes one the busiest: so it is with uuid and hash shards here. Bit-reversed keys come in turn. A stripe is busy at its end only, so give a striped key as many stripes as there are ranges, or more.\n";
}

sub ranges_table
{
	my ($values, $metric) = @_;
	my @shown = (16, 64, 256, 1024);
	my @rows;

	foreach my $case (cases_of('ranges'))
	{
		push @rows, [ $case, map { spread(values_of('ranges', $case, "ranges=$_ values=$values", $metric)) } @shown ];
	}
	return table('lrrrr', [ 'key', map { "$_ ranges" } @shown ], @rows);
}

my %mode = (none => 'no allocator', nextval => 'core `nextval`', sync => '`sync`', on_commit => '`on_commit`',
	on_commit_early => '`on_commit`, early lock release', async => '`async`', batch => '`batch`, 200',
	async_batch => '`async_batch`, 200, low-water mark 50', adaptive => '`async_batch`, adaptive',
	insert => 'ordinary insert, `nextval` key');

# Values in a second and p50, p90, p99 of the latency in ms, published for the
# sequence generator on Cloud Spanner.
my %published = (sync => { 10 => [ 34, 27, 1189, 2703 ], 50 => [ 30.6, 1191, 3513, 5982 ] },
	async => { 10 => [ 66.5, 28, 611, 1460 ], 50 => [ 78.1, 29, 1695, 3442 ] },
	batch => { 10 => [ 494, 18, 20, 38 ], 50 => [ 1195, 27, 55, 168 ] },
	async_batch => { 10 => [ 512, 18, 20, 30 ], 50 => [ 1622, 24, 28, 30 ] });

sub allocator_table
{
	my ($clients, $commit) = @_;
	my $parameter = "clients=$clients commit=$commit";
	my @rows;

	foreach my $case (grep { values_of('allocator', $_, $parameter, 'values/s') } cases_of('allocator'))
	{
		my ($rate, @theirs) = @{ $published{$case}{$clients} // [] };

		push @rows, [ $mode{$case}, number(median(values_of('allocator', $case, $parameter, 'values/s'))),
			sprintf('%.2g %%', median(values_of('allocator', $case, $parameter, 'values/s')) / $clients),
			times(ratios('allocator', $case, 'none', $parameter, 'values/s')),
			join(' / ', map { number(median(values_of('allocator', $case, $parameter, $_))) } qw(p50 p90 p99)),
			$rate, join(' / ', @theirs) ];
	}
	return table('lrrrrrr', [ 'mode', 'values/s', 'of the limit', 'no allocator = 1', 'p50 / p90 / p99, ms', 'published: values/s', 'p50 / p90 / p99, ms' ], @rows);
}

sub allocator_bars
{
	my $fast = 'clients=50 commit=0';
	my $slow = 'clients=50 commit=20';
	my $shares = 'the worker that fills the pool needs a processor, and 50 clients keep them busy';
	my $ratio = sub { return median(ratios('allocator', @_, 'values/s')) };

	bar('allocator', 'async_batch, 50 clients, no allocator = 1', $ratio->('async_batch', 'none', $fast), '>=', 0.95, $shares);
	bar('allocator', 'async_batch, adaptive, 50 clients, no allocator = 1', $ratio->('adaptive', 'none', $fast), '>=', 0.95, $shares);
	bar('allocator', 'async_batch, adaptive, p99 above that of no allocator, ms',
		median(values_of('allocator', 'adaptive', $fast, 'p99')) - median(values_of('allocator', 'none', $fast, 'p99')), '<=', 1, $shares);
	bar('allocator', 'batch 200, 50 clients, no allocator = 1', $ratio->('batch', 'none', $fast), '>=', 0.9);
	bar('allocator', 'async, 50 clients, no allocator = 1', $ratio->('async', 'none', $fast), '>=', 0.75);
	bar('allocator', 'on_commit with early lock release, commits of 20 ms, sync = 1', $ratio->('on_commit_early', 'sync', $slow), '>=', 30);
	bar('allocator', 'the same, ordinary insert = 1', $ratio->('on_commit_early', 'insert', $slow), '>=', 0.9);
	bar('allocator', 'first draw of a session, ms more than core `nextval`',
		median(values_of('allocator', 'adaptive', 'first draw', 'p50')) - median(values_of('allocator', 'nextval', 'first draw', 'p50')), '<=', 0.1,
		'a session looks up the allocator, the rights to it, and its functions, once');
	bar('allocator', '100,000 values of mode sync in one statement, ms',
		median(values_of('allocator', 'sync', 'values=100000', 'time')), '<=', 1000);
	bar('allocator', "async_batch in one query, $_ client" . ($_ == 1 ? '' : 's') . ", core `nextval` = 1", $ratio->('adaptive', 'nextval', "clients=$_ values=10000"), '>=', 1)
	  foreach 1, 10;
	numbering_bars($ratio);
}

# sync locks the counter when the number is taken, and writes it once, when the
# transaction commits; on_commit also writes a second version of the row.
sub more_instructions
{
	my @count = map { number((values_of('instructions', $_, 'one row', 'instructions'))[0] // 0) } qw(sync on_commit update nextval);

	return 'instructions a row: ' . join(', ', map { "$count[$_] " . ('with sync', 'with on_commit', 'by hand', 'of the insert with `nextval`')[$_] } 0 .. 3);
}

sub numbering_bars
{
	my ($ratio) = @_;
	my $work = 'clients=50 one row and work';
	my $of_series = 'a row is numbered by more instructions, as without series, and series seldom wait for each other';
	my $p99 = sub { return median(ratios('allocator', @_, 'p99')) };

	foreach my $clients (1, 8, 50)
	{
		my ($who, $parameter) = ($clients == 1 ? '1 client' : "$clients clients", "clients=$clients one row");

		bar('allocator', "one row in round trips numbered by $_, $who, counter of an UPDATE = 1",
			$ratio->($_, 'update', "clients=$clients round trips"), '>=', 1, more_instructions()) foreach qw(sync on_commit);
		bar('allocator', "one row numbered by sync, $who, counter of an UPDATE = 1", $ratio->('sync', 'update', $parameter), '>=', 0.95, more_instructions());
		bar('allocator', "one row numbered by on_commit, $who, counter of an UPDATE = 1", $ratio->('on_commit', 'update', $parameter), '>=', 0.95, more_instructions());
		bar('allocator', "p99 of sync, $who, counter of an UPDATE = 1", $p99->('sync', 'update', $parameter), '<=', 1, 'who waits for the counter waits for a processor, too');
		bar('allocator', "one row numbered by sync, 20 series, $who, counters of INSERT … ON CONFLICT = 1", $ratio->('sync_by_key', 'update_by_key', $parameter), '>=', 1, $of_series);
		bar('allocator', "one row numbered by on_commit, 20 series, $who, counters of INSERT … ON CONFLICT = 1", $ratio->('on_commit_by_key', 'update_by_key', $parameter), '>=', 0.95, $of_series);
	}
	bar('allocator', 'one row numbered by on_commit, 50 clients with 10 ms of work, counter of an UPDATE = 1', $ratio->('on_commit', 'update', $work), '>=', 5);
	bar('allocator', 'one row numbered by sync, 50 clients with 10 ms of work, counter of an UPDATE = 1', $ratio->('sync', 'update', $work), '>=', 1);
	bar('allocator', "p99 of $_, 50 clients with 10 ms of work, counter of an UPDATE = 1", $p99->($_, 'update', $work), '<=', 1.2, 'who waits for the counter waits for a processor, too') foreach qw(sync on_commit);
	bar('allocator', 'async_batch, adaptive, one value a transaction, 50 clients, core `nextval` = 1', $ratio->('adaptive', 'nextval', 'clients=50 one value'), '>=', 1);
	bar('allocator', 'p99 of async_batch, adaptive, one value a transaction, 50 clients, core `nextval` = 1', $p99->('adaptive', 'nextval', 'clients=50 one value'), '<=', 1,
		'who finds the pool empty waits for the worker, which has to get a processor');
	many_rows_bars();
}

# CPU time of 200,000 rows in one transaction.
sub many_rows_bars
{
	my $time = sub { return median(ratios('allocator', @_, 'rows=200000', 'CPU time')) };

	bar('allocator', '200,000 rows of a transaction, on_commit, insert with `nextval` = 1', $time->('on_commit', 'nextval'), '<=', 2,
		'every row has a second version, and a second entry in the index of the key; insert and update by hand take ' . number($time->('update', 'nextval') // 0));
	bar('allocator', '200,000 rows of a transaction, on_commit, fillfactor 45, insert with `nextval` = 1', $time->('with_room', 'nextval'), '<=', 2);
	bar('allocator', '200,000 rows of a transaction, on_commit, insert and update by hand = 1', $time->('on_commit', 'update'), '<=', 1.25);
	bar('allocator', '200,000 rows of a transaction, on_commit, 20 series, one counter = 1', $time->('on_commit_by_key', 'on_commit'), '<=', 1.5,
		'rows are written in the order of their series, so each page of the table is visited for each series');
}

# One row in each transaction, beside the counters that people write by hand.
sub numbering_table
{
	my ($how, $update, @modes) = @_;
	my @rows;

	foreach my $parameter (parameters_of('allocator', qr/^clients=\d+ $how$/))
	{
		next unless values_of('allocator', $update, $parameter, 'values/s');
		push @rows, [ part($parameter, 'clients'),
			number(median(values_of('allocator', $update, $parameter, 'values/s'))),
			(map { times(ratios('allocator', $_, $update, $parameter, 'values/s')) } @modes),
			join(' / ', map { number(median(values_of('allocator', $_, $parameter, 'p99'))) } $update, @modes) ];
	}
	return @rows;
}

sub numbering_text
{
	my $many = sub { return times(ratios('allocator', $_[0], 'nextval', 'rows=200000', 'CPU time')) };

	return "\nOne row in each transaction gets a number. As applications do it, statement by statement: `BEGIN`, `UPDATE … RETURNING`, `INSERT`, `COMMIT`. Rows/s of that counter, and of the modes with that = 1:\n\n"
	  . table('rrrrr', [ 'clients', '`UPDATE … RETURNING`', '`sync`', '`on_commit`', 'p99 of the three, ms' ], numbering_table('round trips', qw(update sync on_commit)))
	  . "\nThe same where the transaction works for 10 ms after its number is taken, which locks the counter for as long, unless the number comes with the commit:\n\n"
	  . table('rrrrr', [ 'clients', '`UPDATE … RETURNING`', '`sync`', '`on_commit`', 'p99 of the three, ms' ], numbering_table('one row and work', qw(update sync on_commit)))
	  . "\nIn one statement, which locks the counter by hand for no round trip:\n\n"
	  . table('rrrrr', [ 'clients', '`WITH c AS (UPDATE … RETURNING …) INSERT …`', '`sync`', '`on_commit`', 'p99 of the three, ms' ], numbering_table('one row', qw(update sync on_commit)))
	  . "\nThe same with numbers for each of 20 keys: counters by hand with `INSERT … ON CONFLICT … UPDATE … RETURNING`, and series of one allocator.\n\n"
	  . table('rrrrrr', [ 'clients', '`INSERT … ON CONFLICT`', '`sync`', '`on_commit`', '`async_batch`', 'p99 of the four, ms' ],
		numbering_table('one row', qw(update_by_key sync_by_key on_commit_by_key async_batch_by_key)))
	  . "\n200,000 rows in one transaction, processor time with that of the insert with `nextval` = 1: `on_commit` " . $many->('on_commit')
	  . ', with 20 series ' . $many->('on_commit_by_key') . ', with `fillfactor = 45` ' . $many->('with_room')
	  . '; `INSERT` and `UPDATE` by hand ' . $many->('update') . ".\n";
}

sub allocator
{
	my @data = map { my $case = $_; [ $mode{$case} =~ s/`//gr =~ s/, 200.*|async_batch, //r, median(values_of('allocator', $case, 'clients=50 commit=0', 'values/s')), $published{$case}{50}[0] ] }
	  qw(sync async batch async_batch adaptive none);

	allocator_bars();
	return "Transactions that draw one number and work for 10 ms, on a server that flushes (`fsync = on`). No number of clients can get beyond their number / 10 ms: 1,000 values/s for 10 clients, 5,000 for 50. "
	  . "Next to it what was published for the sequence generator that this descends from, on Cloud Spanner with the same 10 ms.\n\n10 clients:\n\n"
	  . allocator_table(10, 0) . "\n50 clients:\n\n" . allocator_table(50, 0)
	  . "\n" . plot('allocator', 'values/s with 50 clients', <<'END', data => \@data)
set ylabel 'values/s, 50 clients'
set style data histograms
set style histogram clustered gap 1
set logscale y
set yrange [10:10000]
set key top left inside
plot $data using 2:xtic(1) lc rgb '#3b6ea8' title 'here', $data using 3 lc rgb '#c8643c' title 'published', \
  5000 lc rgb '#888888' dt 2 with lines title 'limit: 50 / 10 ms'
END
	  . "\nEverything that writes varies with the disk: in this run an ordinary insert, without an allocator, reached "
	  . times(ratios('allocator', 'insert', 'none', 'clients=50 commit=0', 'values/s')) . ". Modes that miss their bar miss it by less than that.\n"
	  . "\n50 clients, and a commit lasts 20 ms longer (`commit_delay`), as on a slow disk or with a distant standby:\n\n" . allocator_table(50, 20)
	  . (values_of('allocator', 'update', 'rows=200000', 'CPU time') ? numbering_text() : '')
	  . "\nMany values in one query, values/s of `async_batch`, adaptive, with core `nextval` = 1: "
	  . join('; ', map { ($_ == 1 ? '1 client ' : "$_ clients ") . times(ratios('allocator', 'adaptive', 'nextval', "clients=$_ values=10000", 'values/s'))
		  . join('', map { ", of a series $_" } grep { $_ ne '' } times(ratios('allocator', 'async_batch_by_key', 'nextval', "clients=$_ values=10000", 'values/s'))) } 1, 10) . ".\n"
	  . "\nThe first value of a session that has loaded the library, in ms: " . spread(values_of('allocator', 'adaptive', 'first draw', 'p50')) . ' with `async_batch`, adaptive; '
	  . spread(values_of('allocator', 'nextval', 'first draw', 'p50')) . " with core `nextval`. Both look up catalogs that later ones find in caches. To load the library takes "
	  . spread(values_of('allocator', 'adaptive', 'LOAD', 'p50')) . ", which preloading saves.\n";
}

sub planner
{
	my @cases = ('merge', 'scan and sort', 'LATERAL by hand', 'LIST partitions', 'plain index');
	my @pages = parameters_of('planner', qr/query=page/);
	my $cell = sub { my $ms = median(values_of('planner', $_[1], $_[0], 'time')); return defined $ms ? number($ms) : '' };
	my (@rows, @others, @data, @memory);

	foreach my $parameter (@pages)
	{
		push @rows, [ part($parameter, 'shards'), part($parameter, 'rows'), $cell->($parameter, 'merge'),
			map { times(ratios('planner', $_, 'merge', $parameter, 'time')) } @cases[ 1 .. 4 ] ];
	}
	foreach my $parameter (
		sort { part($a, 'query') cmp part($b, 'query') || part($a, 'shards') <=> part($b, 'shards') }
		grep { !/query=(?:page|all|deep)/ } parameters_of('planner', qr/query=/))
	{
		push @others, [ part($parameter, 'query') =~ s/_/ /gr, part($parameter, 'shards'), $cell->($parameter, 'with'),
			times(ratios('planner', 'without', 'with', $parameter, 'time')),
			times(ratios('planner', 'by hand', 'with', $parameter, 'time')) ];
		next if !values_of('planner', 'without', $parameter, 'time');
		bar('planner', $others[-1][0] . ', ' . part($parameter, 'shards') . ' shards, without the features = 1',
			median(ratios('planner', 'with', 'without', $parameter, 'time')), '<=', 1.3,
			'the shard is looked for in every condition and in every pair of tables that can be joined');
	}
	foreach my $shards (distinct(map { part($_, 'shards') } @pages))
	{
		push @data, [ $shards, map { median(values_of('planner', $_, "query=page shards=$shards rows=100", 'time')) } @cases ];
	}
	foreach my $work_mem (qw(4MB 1GB))
	{
		my $bytes = median(values_of('planner', 'merge', "query=all shards=2048 work_mem=$work_mem", 'memory'));

		push @memory, number($bytes / 1048576) . " MB with `work_mem = $work_mem`";
	}

	my ($deep, $worst) = deep_reads();

	bar('planner', 'LATERAL by hand, 256 shards, LIMIT 100, merge = 1',
		median(ratios('planner', 'LATERAL by hand', 'merge', 'query=page shards=256 rows=100', 'time')), '>=', 25,
		'a read of less than 2 ms varies from run to run');
	bar('planner', "LIST partitions, $_ shards, merge = 1",
		median(ratios('planner', 'LIST partitions', 'merge', qr/query=page shards=$_ /, 'time')), '>=', 1)
	  foreach 16, 64;
	bar('planner', 'a deep read, without the merge = 1, the worst', $worst, '<=', 1.3);
	bar('planner', 'look-up with 64 shards, the shard written out = 1',
		median(ratios('planner', 'with', 'by hand', 'query=look-up shards=64 rows=100', 'time')), '<=', 1.1);
	bar('planner', 'the latest of each sensor, LATERAL by hand = 1',
		median(ratios('planner', 'with', 'by hand', 'query=latest shards=16', 'time')), '<=', 3);
	return "`SELECT … ORDER BY lastaccess DESC LIMIT k`, all in memory, ms planned and run for the merge, and how many times as long the others take. The plain index on the time is the hotspot that the shard avoids.\n\n"
	  . table('rrrrrrr', [ 'shards', 'k', 'merge, ms', @cases[ 1 .. 4 ] ], @rows)
	  . "\nReads of less than 2 ms vary from round to round, and the merge more than `LATERAL`. With 256 shards and k = 100 the merge took "
	  . spread(values_of('planner', 'merge', 'query=page shards=256 rows=100', 'time')) . ' ms, and `LATERAL` by hand '
	  . times(ratios('planner', 'LATERAL by hand', 'merge', 'query=page shards=256 rows=100', 'time')) . " of it.\n"
	  . "\n" . plot('planner', 'LIMIT 100 by shards', <<END, data => \@data)
set logscale x 2
set logscale y
set xtics (16, 64, 256, 2048)
set xlabel 'shards'
set ylabel 'ms, LIMIT 100'
plot @{[ lines(@cases) ]}
END
	  . "\nOther queries, with the derived shard or the list of shards, and how many times as long they take without:\n\n"
	  . table('lrrrr', [ 'query', 'shards', 'ms', 'without', 'with the shard written out' ], @others)
	  . "\nDeep reads: the planner takes the merge or a sort.\n\n$deep"
	  . "\nMemory of a merge of 2048 shards, all of which it reads: " . join(', ', @memory) . ".\n";
}

# A table, and the worst ratio in it.
sub deep_reads
{
	my (@rows, @medians);

	foreach my $parameter (parameters_of('planner', qr/query=deep/))
	{
		my @ratios = ratios('planner', 'with', 'without', $parameter, 'time');

		push @medians, median(@ratios);
		push @rows, [ map({ part($parameter, $_) } qw(shards order rows work_mem)),
			number(median(values_of('planner', 'without', $parameter, 'time'))), times(@ratios) ];
	}
	return (table('rlrrrr', [ 'shards', 'order', 'rows', 'work_mem', 'without the merge, ms', 'with it' ], @rows), max(@medians));
}

sub servers
{
	my (@rows, @data);

	foreach my $parameter (parameters_of('servers', qr/limit=\d+$/))
	{
		foreach my $case (grep { values_of('servers', $_, $parameter, 'inserts/s') } cases_of('servers'))
		{
			my @inserted = map { my $sum = 0; $sum += $_ foreach values_of('servers', $case, "$parameter server=$_", 'inserted'); $sum } 1 .. 3;
			my $all = $inserted[0] + $inserted[1] + $inserted[2];
			my $rate = median(values_of('servers', $case, $parameter, 'inserts/s'));
			my $busiest = $all ? (sort { $b <=> $a } @inserted)[0] / $all : undef;

			push @rows, [ part($parameter, 'limit') ? part($parameter, 'limit') . ' ms a row' : 'none', part($parameter, 'rows'),
				$place{$case}, number($rate), times(ratios('servers', $case, 'one_server', $parameter, 'inserts/s')),
				$all ? (join(' / ', map { number($_) } @inserted), sprintf('%.0f %%', 100 * $busiest)) : ('', '') ];
			push @data, [ $place{$case} =~ s/_positive//r, map { $all ? $rate * $_ / $all : 0 } @inserted ]
			  if part($parameter, 'limit');
			bar('servers', 'share of the busiest of three servers, bit_reversed_positive', $busiest, '<=', 0.34)
			  if $case eq 'bit_reversed_positive' && !part($parameter, 'limit') && part($parameter, 'rows') == 1;
			bar('servers', 'inserts/s on three servers that are the limit, bit_reversed_positive, bigserial = 1',
				median(ratios('servers', $case, 'bigserial', $parameter, 'inserts/s')), '>=', 2)
			  if $case eq 'bit_reversed_positive' && part($parameter, 'limit');
		}
	}
	return "One server takes the statements of pgbench, three others hold the rows behind partitions of postgres_fdw, all on this machine. They share its processors, so without a limit three servers cannot insert more than one, "
	  . "and a statement with many rows commits on three of them. What counts is where the rows go. With a limit, which a trigger simulates, a row keeps its server busy for some time, as if each were a machine of its own.\n\n"
	  . table('rrlrrrr', [ 'limit of a server', 'rows in a statement', 'servers', 'inserts/s', 'one other server = 1', 'inserted on each server', 'busiest' ], @rows)
	  . "\n" . plot('servers', 'inserts/s by server', <<'END', data => \@data);
set ylabel 'inserts/s, servers with a limit'
set style data histograms
set style histogram rowstacked
set boxwidth 0.6
plot $data using 2:xtic(1) lc rgb '#3b6ea8' title 'server 1', $data using 3 lc rgb '#c8643c' title 'server 2', \
  $data using 4 lc rgb '#5f9e6e' title 'server 3'
END
}

1;
