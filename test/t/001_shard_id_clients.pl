# Shard ids that a client computes for itself: random values of every type,
# compared with spanner.shard_id().  Nothing here is shared with the library;
# the fingerprint and the canonical texts are written out in plain Perl.

use strict;
use warnings;
no warnings 'portable';    # 64-bit hexadecimal constants

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use constant {
	K0 => 0xc3a5c85c97cb3127,
	K1 => 0xb492b66fbe98f273,
	K2 => 0x9ae16a3b2f90404f,
};

my $rows = 300;
my $seed = $ENV{SPANNER_KEYS_SEED} // time;

# Arithmetic modulo 2^64; "use integer" wraps, "& ~0" makes it unsigned again.
sub add
{
	my $sum = shift;
	use integer;
	$sum += $_ for @_;
	no integer;
	return $sum & ~0;
}

sub mul
{
	my ($x, $y) = @_;
	use integer;
	my $product = $x * $y;
	no integer;
	return $product & ~0;
}

sub rotate
{
	my ($x, $bits) = @_;
	return ($x >> $bits) | ($x << (64 - $bits));
}

sub shift_mix { return $_[0] ^ ($_[0] >> 47); }

sub hash_16
{
	my ($u, $v, $mul) = @_;
	my $x = shift_mix(mul($u ^ $v, $mul));
	return mul(shift_mix(mul($v ^ $x, $mul)), $mul);
}

sub word { return unpack('Q<', substr($_[0], $_[1], 8)); }

sub weak_hash
{
	my ($s, $at, $x, $y) = @_;
	my @w = unpack('Q<4', substr($s, $at, 32));
	$x = add($x, $w[0]);
	$y = rotate(add($y, $x, $w[3]), 21);
	my $z = $x;
	$x = add($x, $w[1], $w[2]);
	$y = add($y, rotate($x, 44));
	return (add($x, $w[3]), add($y, $z));
}

sub long_fingerprint
{
	my ($s) = @_;
	my $len = length $s;
	my ($v0, $v1, $w0, $w1) = (0, 0, 0, 0);
	my $x = add(mul(81, K2), word($s, 0));
	my $y = add(mul(81, K1), 113);
	my $z = mul(shift_mix(add(mul($y, K2), 113)), K2);
	my $mul = K1;
	my $blocks = int(($len - 1) / 64);

	for my $at ((map { $_ * 64 } 0 .. $blocks - 1), $len - 64)
	{
		my $weight = 1;
		if ($at == $len - 64)
		{
			$mul = add(K1, ($z & 0xff) << 1);
			$weight = 9;
			$w0 = add($w0, ($len - 1) & 63);
			$v0 = add($v0, $w0);
			$w0 = add($w0, $v0);
		}
		$x = mul(rotate(add($x, $y, $v0, word($s, $at + 8)), 37), $mul);
		$y = mul(rotate(add($y, $v1, word($s, $at + 48)), 42), $mul);
		$x ^= mul($w1, $weight);
		$y = add($y, mul($v0, $weight), word($s, $at + 40));
		$z = mul(rotate(add($z, $w0), 33), $mul);
		($v0, $v1) = weak_hash($s, $at, mul($v1, $mul), add($x, $w0));
		($w0, $w1) = weak_hash($s, $at + 32, add($z, $w1),
			add($y, word($s, $at + 16)));
		($x, $z) = ($z, $x);
	}
	return hash_16(
		add(hash_16($v0, $w0, $mul), mul(shift_mix($y), K0), $z),
		add(hash_16($v1, $w1, $mul), $x), $mul);
}

# FarmHash Fingerprint64 of a byte string, as an unsigned number.
sub fingerprint
{
	my ($s) = @_;
	my $len = length $s;
	my $mul = add(K2, $len * 2);

	return long_fingerprint($s) if $len > 64;
	if ($len > 16)
	{
		my $p = mul(word($s, 0), $len > 32 ? K2 : K1);
		my $q = word($s, 8);
		my $r = mul(word($s, $len - 8), $mul);
		my $t = mul(word($s, $len - 16), K2);
		my $y = add(rotate(add($p, $q), 43), rotate($r, 30), $t);
		my $z = hash_16($y, add($p, rotate(add($q, K2), 18), $r), $mul);
		return $z if $len <= 32;
		my $e = mul(word($s, 16), $mul);
		my $f = word($s, 24);
		my $g = mul(add($y, word($s, $len - 32)), $mul);
		my $h = mul(add($z, word($s, $len - 24)), $mul);
		return hash_16(add(rotate(add($e, $f), 43), rotate($g, 30), $h),
			add($e, rotate(add($f, $p), 18), $g), $mul);
	}
	if ($len >= 8)
	{
		my $p = add(word($s, 0), K2);
		my $q = word($s, $len - 8);
		return hash_16(add(mul(rotate($q, 37), $mul), $p),
			mul(add(rotate($p, 25), $q), $mul), $mul);
	}
	if ($len >= 4)
	{
		my ($p, $q) = (unpack('L<', $s), unpack('L<', substr($s, -4)));
		return hash_16(add($len, $p << 3), $q, $mul);
	}
	return K2 if $len == 0;
	my @bytes = unpack('C*', $s);
	my $y = $bytes[0] + ($bytes[ $len >> 1 ] << 8);
	my $z = $len + ($bytes[-1] << 2);
	return mul(shift_mix(mul($y, K2) ^ mul($z, K0)), K2);
}

# The shard of canonical texts; undef stands for NULL.
sub shard
{
	my ($shards, @keys) = @_;
	my $text = @keys == 1
	  ? $keys[0] // '-'
	  : join('', map { defined $_ ? length($_) . ':' . $_ : '-' } @keys);
	my $signed = unpack('q', pack('Q', fingerprint($text)));
	use integer;
	return abs($signed % $shards);
}

# Random values as pairs: a literal, and the canonical text.

sub random_bits { return int(rand(2**32)) << 32 | int(rand(2**32)); }

sub random_bytes { return join '', map { chr rand 256 } 1 .. $_[0]; }

sub days_to_date
{
	my @t = gmtime($_[0] * 86400);
	return sprintf '%04d-%02d-%02d', $t[5] + 1900, $t[4] + 1, $t[3];
}

sub random_time
{
	my $text = days_to_date(int(rand(3652058)) - 719162);
	$text .= sprintf ' %02d:%02d:%02d', rand 24, rand 60, rand 60;
	my $kind = int(rand(3));
	return $text if $kind == 0;
	my $digits = $kind * 3;
	my $fraction = 1 + int(rand(10**$digits - 1));
	$fraction++ if $digits == 6 && $fraction % 1000 == 0;
	return $text . sprintf(".%0${digits}d", $fraction);
}

# Shortest digits that read back, then laid out as the server does.
sub shortest
{
	my ($value) = @_;
	return '0' if $value == 0;
	my $text;
	for my $precision (0 .. 16)
	{
		$text = sprintf "%.${precision}e", $value;
		last if $text == $value;
	}
	my ($sign, $digits, $exponent) = $text =~ /^(-?)([\d.]+)e([-+]\d+)$/;
	$digits =~ s/\.//;
	$digits =~ s/0+$//;
	if ($exponent < -4 || $exponent >= 15)
	{
		$digits =~ s/^(.)(.+)/$1.$2/;
		return sprintf '%s%se%s%02d', $sign, $digits,
		  $exponent < 0 ? '-' : '+', abs $exponent;
	}
	return $sign . '0.' . '0' x (-$exponent - 1) . $digits if $exponent < 0;
	return $sign . $digits . '0' x ($exponent + 1 - length $digits)
	  if length $digits <= $exponent + 1;
	substr($digits, $exponent + 1, 0) = '.';
	return $sign . $digits;
}

sub random_double
{
	my $kind = int(rand(3));
	return (int(rand(2e6)) - 1e6) / 10**int(rand(9)) if $kind == 0;
	return int(rand(2**24)) * 10**int(rand(30)) if $kind == 1;
	my $value = unpack('d', pack('Q', random_bits()));
	return $value == $value && abs($value) <= 1e300 ? $value : 0.5;
}

sub random_text
{
	my $length = int(rand() < 0.8 ? rand(24) : rand(300));
	return join '', map { chr(97 + rand 26) } 1 .. $length;
}

sub random_numeric
{
	my $whole = join '', map { int rand 10 } 0 .. rand 25;
	my $fraction = join '', map { rand() < 0.4 ? 0 : int rand 10 } 1 .. rand 20;
	my $sign = rand() < 0.5 ? '-' : '';
	my $literal = $sign . $whole . ($fraction eq '' ? '' : ".$fraction");
	$whole =~ s/^0+(?=\d)//;
	$fraction =~ s/0+$//;
	my $text = $whole . ($fraction eq '' ? '' : ".$fraction");
	return ($literal, $text eq '0' ? '0' : $sign . $text);
}

sub random_uuid
{
	my $text = join '-', unpack 'H8 H4 H4 H4 H12', random_bytes(16);
	return (rand() < 0.5 ? uc $text : $text, $text);
}

sub random_bytea
{
	my $bytes = random_bytes(rand 200);
	return ('\x' . unpack('H*', $bytes), $bytes);
}

sub random_float4
{
	my $value = unpack 'f', pack 'f', (rand() - 0.5) * 10**(rand(20) - 10);
	return (sprintf('%.9g', $value), shortest($value));
}

sub random_float8
{
	my $value = random_double();
	return (sprintf('%.17g', $value), shortest($value));
}

# Values whose canonical text is the literal itself.
sub same { return ($_[0], $_[0]); }

my @labels = ('red', 'green', 'dark blue');
my %generator = (
	'bigint' => sub { same(unpack 'q', pack 'Q', random_bits()) },
	'boolean' => sub { same(rand() < 0.5 ? 'true' : 'false') },
	'bytea' => \&random_bytea,
	'char(400)' => sub { same(random_text()) },
	'colour' => sub { same($labels[ rand @labels ]) },
	'date' => sub { same(days_to_date(int(rand(3652058)) - 719162)) },
	'double precision' => \&random_float8,
	'integer' => sub { same(int(rand(2**32)) - 2**31) },
	'name' => sub { same(substr random_text(), 0, 63) },
	'numeric' => \&random_numeric,
	'positive' => sub { same(1 + int rand 1e6) },
	'real' => \&random_float4,
	'smallint' => sub { same(int(rand(65536)) - 32768) },
	'text' => sub { same(random_text()) },
	'timestamp' => sub { same(random_time()) },
	'timestamptz' => sub { same(random_time() . '+00') },
	'uuid' => \&random_uuid,
	'varchar(400)' => sub { same(random_text()) });

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', "fsync = off\ntimezone = 'Asia/Tokyo'");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION spanner_keys;
	CREATE TYPE colour AS ENUM ('red', 'green', 'dark blue');
	CREATE DOMAIN positive AS bigint CHECK (VALUE > 0);
});

srand($seed);
note("seed $seed");
is(fingerprint(''), 0x9ae16a3b2f90404f, 'fingerprint of nothing');
is(unpack('q', pack 'Q', fingerprint('a' x 128)), -4747627967806356490,
	'published fingerprint');

# Ids of one table, as the server computes them and as stored.
sub server_shards
{
	my ($columns, $keys, $values) = @_;
	my $copy = join '', map { join("\t", map { $_ // '\N' } @$_) . "\n" } @$values;
	$copy =~ s/\\x/\\\\x/g;
	return split /\n/, $node->safe_psql('postgres', <<"SQL");
CREATE TABLE keyed (n serial, shards integer, $columns,
	stored integer GENERATED ALWAYS AS (spanner.shard_id(1000, $keys)) STORED);
COPY keyed (shards, $keys) FROM STDIN;
$copy\\.
SELECT spanner.shard_id(shards, $keys), stored FROM keyed ORDER BY n;
DROP TABLE keyed;
SQL
}

sub compare_shards
{
	my ($name, $columns, $keys, $values, $texts) = @_;
	my @found = server_shards($columns, $keys, $values);
	my @wrong = grep {
		$found[$_] ne shard($values->[$_][0], @{ $texts->[$_] }) . '|'
		  . shard(1000, @{ $texts->[$_] })
	} 0 .. $#$values;

	ok(@found == @$values && @wrong == 0, "shard ids of $name")
	  or diag("seed $seed: " . @wrong . ' of ' . @$values . ' wrong, first ('
		  . join(', ', map { $_ // 'NULL' } @{ $values->[ $wrong[0] // 0 ] })
		  . '): ' . $found[ $wrong[0] // 0 ]);
}

# one key of each type
foreach my $type (sort keys %generator)
{
	my (@values, @texts);
	for (1 .. $rows)
	{
		my ($literal, $text) = $generator{$type}->();
		($literal, $text) = (undef, undef) if rand() < 0.02;
		push @values, [ 1 + int(rand(rand() < 0.5 ? 64 : 2**31 - 1)), $literal ];
		push @texts, [$text];
	}
	compare_shards($type, "k $type", 'k', \@values, \@texts);
}

# three keys of random types
for my $round (1 .. 5)
{
	my @types = map { (sort keys %generator)[ rand keys %generator ] } 1 .. 3;
	my (@values, @texts);
	for (1 .. $rows)
	{
		my @pairs = map { rand() < 0.1 ? [] : [ $generator{$_}->() ] } @types;
		push @values, [ 2048, map { $_->[0] } @pairs ];
		push @texts, [ map { $_->[1] } @pairs ];
	}
	compare_shards(join(', ', @types), "a $types[0], b $types[1], c $types[2]",
		'a, b, c', \@values, \@texts);
}

# A database of another encoding hashes the same UTF-8 bytes.
$node->safe_psql('postgres', q{
	CREATE DATABASE latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0});
$node->safe_psql('latin1', 'CREATE EXTENSION spanner_keys');
my $latin = join '', map { chr(0xA1 + rand 94) } 1 .. 5000;
my $utf8 = $latin;
utf8::encode($utf8);
my $hex = unpack 'H*', $latin;
is( $node->safe_psql('latin1',
		"SELECT spanner.shard_id(1000000, convert_from('\\x$hex', 'LATIN1'))"),
	shard(1000000, $utf8),
	'text of a LATIN1 database');
is( $node->safe_psql('latin1', q{
		SELECT spanner.shard_id(1000000, chr(233)::varchar, chr(233)::char(3)) = spanner.shard_id(1000000, '\xc3a9'::bytea, '\xc3a9'::bytea),
			spanner.farm_fingerprint(chr(233)) = spanner.farm_fingerprint('\xc3a9'::bytea)}),
	't|t',
	'lengths and fingerprints in a LATIN1 database');

# Bytes without a counterpart in UTF-8 are hashed as they are.
$node->safe_psql('postgres', q{
	CREATE DATABASE win1252 ENCODING 'WIN1252' LOCALE 'C' TEMPLATE template0});
$node->safe_psql('win1252', 'CREATE EXTENSION spanner_keys');
is( $node->safe_psql('win1252', q{
		SELECT spanner.farm_fingerprint('a' || chr(129)) = spanner.farm_fingerprint('\x6181'::bytea),
			spanner.farm_fingerprint('a' || chr(128)) = spanner.farm_fingerprint('\x61e282ac'::bytea)}),
	't|t',
	'text that does not convert');

$node->stop;
done_testing();
