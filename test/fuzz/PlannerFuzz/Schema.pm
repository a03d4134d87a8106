# Schema.pm
#	  Random tables with shard keys, their indexes, rows, views and policies.
#
# Columns of one name (a, b, c) belong to one family of types in all tables
# of a schema, so that tables can be joined.  "id" is unique in every table.
#
# A table is a hash:
#	name, columns	column: name, type, family, notnull
#	shard			its shard column, if it has one
#	expression		what a user would write for the shard of a row
#	hashed			names of the columns that are hashed
#	orders			suffixes of the indexes: lists of [column, direction]
#	keys			columns that are unique together
#	signed			the shard can be negative
#	bucket			a column of time whose bucket is hashed, and the bucket
#	wide			it is a whole fingerprint, or a reversed number
#	is_view, unlike	cannot be written; the rows may break the declaration
#
# test/fuzz/PlannerFuzz/Schema.pm

package PlannerFuzz::Schema;

use strict;
use warnings;
use Exporter 'import';
use PlannerFuzz::Random;

our @EXPORT = qw(make_schema);

my ($server, $role, @ddl, @tables, %family_of);

# make_schema(server version, role, have collation): statements and tables
sub make_schema
{
	my $have_nocase;
	($server, $role, $have_nocase) = @_;
	@ddl = ();
	@tables = ();

	my @names = qw(a b c);
	@family_of{@names} = family_names(scalar @names, $have_nocase);
	push @ddl, 'DISCARD TEMP', 'DROP SCHEMA IF EXISTS s CASCADE', 'CREATE SCHEMA s', 'SET search_path = s',
	  "GRANT USAGE ON SCHEMA s TO $role";

	my $count = 3 + int(rand(3));
	foreach my $i (1 .. $count)
	{
		my $kind = weighted(
			generated => 7, check => 5, expression => 4, list_expression => 3, check_partitions => 4,
			time_partitions => 3, inheritance => 2, plain => 2);

		make_table("t$i", $kind);
	}
	make_few_groups('t' . ($count + 1)) if chance(0.8);
	make_views();
	make_policies() if chance(0.35);
	push @ddl, 'GRANT ALL ON ' . join(', ', map { $_->{name} } @tables) . " TO $role";
	return ([@ddl], [@tables]);
}

sub column
{
	my ($name, $must) = @_;
	my $family = $families{ $family_of{$name} };
	my $type =
	    chance(0.7) ? $family->{same}[0]
	  : chance(0.9) ? pick(@{ $family->{same} })
	  :               pick(@{ $family->{same} }, grep { !/^(?:int|float)/ } @{ $family->{other} });

	return {
		name => $name, type => $type, family => $family_of{$name}, notnull => $must || chance(0.4) };
}

sub bucket
{
	my ($column, $type) = @_;

	return 'date_bin(' . pick("'4 days'", "'1 day'", "'90 minutes'", "'1 second'") . ", $column, $type '" . pick('2000-01-01', '2024-12-30 12:00') . "+00')";
}

# Many rows of few values, as of a few sensors: DISTINCT can skip from one to
# the next.  Only a table with statistics shows that it pays.  They may be wrong,
# so that it turns out not to.
sub make_few_groups
{
	my ($name) = @_;
	my @columns = map { column($_, 1) } qw(a b c);
	my @hashed = some(2, 3, qw(a b c));

	$_->{notnull} = 1 foreach @columns;
	$_->{choices} = choices($_) foreach @columns;
	my ($group) = grep { $_->{name} eq $hashed[0] } @columns;
	my @index = (@hashed, 'id');
	my $wrong = chance(0.4);

	@index = ('id', @hashed) if $wrong && chance(0.5);
	$group->{choices} = 'ARRAY[' . join(', ', map { quote($_) } some(1, 3, @{ $group->{present} })) . ']' if chance(0.7);
	push @columns, { name => 'p', type => 'int4', family => 'payload', notnull => 0, choices => 'ARRAY[1,2,3,4,5,6,7,8,NULL]::text[]' };

	my $table = {
		name => $name, kind => 'generated', columns => \@columns, shards => pick(1, 2, 4), rows => 1500,
		keys => ['id'], orders => [ [ map { [ $_, '' ] } @index ] ], hashed => \@hashed, few_groups => 1,
		shard_notnull => 1,
	};
	$table->{hashed} = chance(0.3) ? [ $index[0] ] : [ @hashed, 'id' ];
	$table->{expression} = "spanner.shard_id($table->{shards}, " . join(', ', @{ $table->{hashed} }) . ')';
	push @ddl, "CREATE TABLE $name (" . join(', ', 'id int8 NOT NULL', map { definition($_) } @columns) . ', '
	  . shard_name($table) . " GENERATED ALWAYS AS ($table->{expression}) STORED NOT NULL)";
	insert_rows($table, $name, 1, $table->{rows});
	push @ddl, "CREATE INDEX ON $name (" . join(', ', $table->{shard}, @index) . ')'
	  . (chance(0.2) ? " WHERE $index[0] = " . quote(pick(@{ $group->{present} })) : '') if $index[0] ne 'id';
	push @ddl, "CREATE INDEX ON $name (" . join(', ', $table->{shard}, @index) . ')' if $index[0] eq 'id' || chance(0.7);
	push @ddl, "ALTER TABLE $name ALTER $index[0] SET (n_distinct = " . pick(1, 2, 5) . ')' if $wrong;
	make_dead_rows($table);
	push @ddl, "VACUUM ANALYZE $name";
	push @tables, $table;
	return;
}

# What the shard of a row is computed from; now and then something odd.
sub shard_call
{
	my ($table, $shards, $may_be_wide) = @_;
	my @hashed = @{ $table->{hashed} };
	my @arguments = @hashed;
	my %type = ('id' => 'int8', map { $_->{name} => $_->{type} } @{ $table->{columns} });
	my %never_null = ('id' => 1, map { $_->{name} => $_->{notnull} } @{ $table->{columns} });

	if (chance(0.1) || (chance(0.3) && grep { $type{$_} =~ /^timestamp/ } @hashed))
	{
		my ($moment) = grep { $type{ $hashed[$_] } =~ /^timestamp/ } 0 .. $#hashed;
		my $i = $moment // int(rand(@arguments));
		my $type = $type{ $hashed[$i] };
		# Under a nondeterministic collation text is not searched before release 18.
		my $split = $type =~ /nocase/ ? "upper($arguments[$i])" : "split_part($arguments[$i], ' ', 1)";
		my $odd =
		    $type =~ /int/                    ? pick("$arguments[$i] + 0", "$arguments[$i] / 3", "$arguments[$i] % 4", "$arguments[$i]::numeric")
		  : $type =~ /^(?:text|varchar)/      ? pick("lower($arguments[$i])", "$arguments[$i] || 'x'", $split, "substr($arguments[$i], 1, 1)")
		  : $type eq 'timestamp'              ? pick("date_trunc('day', $arguments[$i])", "$arguments[$i]::date", "$arguments[$i] AT TIME ZONE 'America/New_York'", bucket($arguments[$i], $type))
		  : $type eq 'timestamptz'            ? pick("$arguments[$i] AT TIME ZONE 'America/New_York'", bucket($arguments[$i], $type), bucket($arguments[$i], $type))
		  : $type =~ /numeric|amount/         ? pick("round($arguments[$i], 1)", "$arguments[$i]::float8")
		  :                                     undef;
		if (defined $odd)
		{
			$table->{odd} = 1;
			$table->{bucket} = [ $hashed[$i], $odd ] if $odd =~ /^date_bin/;
			$arguments[$i] = $odd;
		}
	}
	push @arguments, pick(@arguments) if chance(0.03);
	push @arguments, pick('5', '\'x\'::text') if chance(0.03);
	if (chance(0.03) && @hashed == 2 && $type{ $hashed[0] } eq $type{ $hashed[1] })
	{
		return "spanner.shard_id($shards, VARIADIC ARRAY[" . join(', ', @hashed) . '])';
	}
	$table->{null_hash} = $table->{kind} =~ /^(?:generated|expression)$/ && chance(0.4);
	my @texts = grep { $type{$_} =~ /^(?:int|bigint|smallint|text)/ && ($never_null{$_} || $table->{null_hash}) } @hashed;
	if (@texts && chance($table->{kind} eq 'expression' ? 0.3 : 0.15))
	{
		# An index takes rows without a fingerprint.  Regular expressions want a plain collation.
		my $plain = !grep { $type{$_} =~ /nocase/ } @texts;
		my $text = $table->{kind} eq 'expression' && $plain && chance(0.4) ? "substring(%s::text FROM '[1-9a]+')"
		  : pick('%s::text', '%s::text', "COALESCE(%s::text, 'x')");
		my $keys = join(" || '/' || ", map { sprintf($text, $_) } @texts);
		my $hash = 'spanner.farm_fingerprint(' . pick($keys, $keys, "spanner_internal.string_to_bytes($keys)", "sha256(spanner_internal.string_to_bytes($keys))") . ')';

		if ($may_be_wide && chance(0.25))
		{
			$table->{wide} = $table->{signed} = 1;
			return $hash;
		}
		return pick("mod(mod($hash, $shards) + $shards, $shards)", "abs(mod($hash, $shards))", "mod(abs($hash), $shards)", "abs($hash) % $shards", "@($hash % ${shards}::int2)")
		  if chance(0.6) || $table->{kind} =~ /^(?:list|check_part)/;
		$table->{signed} = 1;
		return "mod($hash, $shards)";
	}
	my @numbers = grep { $type{$_} =~ /^(?:int|bigint)/ && $never_null{$_} } @hashed;
	if (@numbers && $may_be_wide && chance(0.1))
	{
		$table->{wide} = $table->{signed} = 1;
		@{ $table->{hashed} } = ($numbers[0]);
		return "spanner.bit_reverse($numbers[0], " . pick('true', 'false') . ')';
	}
	return "spanner.shard_id($shards, " . join(', ', @arguments) . ')';
}

sub direction
{
	return weighted(
		'' => 6, 'DESC' => 4, 'DESC NULLS LAST' => 1, 'ASC NULLS FIRST' => 1);
}

# CREATE INDEX with a shard as its first key; remembers the order of the rest.
sub make_index
{
	my ($table, $first, $odd) = @_;
	my @suffix = shuffle(@{ $table->{hashed} });

	push @suffix, some(0, 1, grep { my $c = $_; !grep { $_ eq $c } @suffix } qw(a b c p id));
	push @suffix, 'id' if chance(0.7) && !grep { $_ eq 'id' } @suffix;
	@suffix = shuffle(@suffix) if chance(0.2);
	push @suffix, pick(@suffix) if chance(0.06);
	push @suffix, $table->{shard} if $table->{shard} && chance(0.03);
	my %type = map { $_->{name} => $_->{type} } @{ $table->{columns} };
	my $exact = 1;
	my @order = map { [ $_, direction() ] } @suffix;
	my @keys = ($first . (chance(0.12) ? ' DESC' : ''));

	foreach my $part (@order)
	{
		my ($name, $direction) = @$part;
		my $more = '';

		# These are orders that ORDER BY does not ask for.
		$more = pick(' text_pattern_ops', ' COLLATE "POSIX"')
		  if $odd && ($type{$name} // '') =~ /^(?:text|varchar)(?:\(20\))?$/ && chance(0.25);
		$exact = 0 if $more;
		push @keys, "$name$more $direction" =~ s/ $//r;
	}
	# The shard behind another column, which queries then fix.
	if ($table->{shard} && @order > 1 && $first eq $table->{shard} && chance(0.15))
	{
		@keys[ 0, 1 ] = @keys[ 1, 0 ];
		shift @order;
	}
	my $keys = join(', ', @keys);
	my $where = '';
	if (chance(0.1))
	{
		$where = pick(' WHERE p > 3', ' WHERE p IS NOT NULL', ' WHERE b IS NOT NULL', ' WHERE p <> 2 OR c IS NULL');
	}
	my $include = chance(0.12) ? ' INCLUDE (' . join(', ', some(1, 2, qw(p a b c))) . ')' : '';
	push @ddl, "CREATE INDEX ON $table->{name} ($keys)$include$where";
	push @{ $table->{orders} }, \@order if $exact;
	return;
}

sub make_indexes
{
	my ($table, $first) = @_;
	my $partitioned = $table->{partitioned};
	my $count = weighted(1 => 6, 2 => 4, 3 => 1);

	if (!$partitioned && $table->{shard} && chance(0.5))
	{
		my @suffix = shuffle(@{ $table->{hashed} });

		push @suffix, 'id' unless grep { $_ eq 'id' } @suffix;
		my $list = join(', ', $table->{shard}, @suffix);
		my %notnull = map { $_->{name} => $_->{notnull} } @{ $table->{columns} };

		if ($table->{shard_notnull} && !grep { !$notnull{$_} && $_ ne 'id' } @suffix)
		{
			push @ddl, "ALTER TABLE $table->{name} ADD PRIMARY KEY ($list)";
		}
		else
		{
			push @ddl, "CREATE UNIQUE INDEX ON $table->{name} ($list)";
		}
		$table->{unique} = $list;
		push @{ $table->{orders} }, [ map { [ $_, '' ] } @suffix ];
	}
	make_index($table, $first, 1) foreach 1 .. $count;
	push @ddl, "CREATE UNIQUE INDEX ON $table->{name} (id)" if !$partitioned && chance(0.3);
	push @ddl, "CREATE INDEX ON $table->{name} (" . join(', ', some(1, 3, qw(a b c p id))) . ')'
	  if chance(0.3);
	return;
}

# Values of a column, some of them often, as the array for fuzz.pick().
sub choices
{
	my ($column) = @_;
	my @values = some(1, 20, @{ $families{ $column->{family} }{values} });

	@values = grep { !/^(?:NaN|Infinity)$/ } @values if $column->{type} =~ /int/;
	@values = grep { !/Infinity|1e10/ } @values if $column->{type} eq 'fuzz.amount';
	@values = ($families{ $column->{family} }{values}[0]) if !@values;
	$column->{present} = [@values];
	push @values, ($values[0]) x int(rand(6)) if chance(0.5);
	push @values, (undef) x (1 + int(rand(3))) if !$column->{notnull} && chance(0.8);
	return 'ARRAY[' . join(', ', map { quote($_) } @values) . ']';
}

# INSERT the ids from $low to $high; $shard is an expression, or undef.
sub insert_rows
{
	my ($table, $target, $low, $high, $shard) = @_;
	my @columns = @{ $table->{columns} };
	my @names = ('id', map { $_->{name} } @columns);
	my @select = ('g AS id');

	foreach my $column (@columns)
	{
		my $seed = int(rand(1 << 30));

		push @select, "fuzz.pick(g, $seed, $column->{choices})::" . ($column->{type} =~ s/ COLLATE .*//r)
		  . ($column->{type} =~ / (COLLATE .*)/ ? " $1" : '') . " AS $column->{name}";
	}
	my $rows = 'SELECT ' . join(', ', @select) . " FROM generate_series($low, $high) g";

	if (defined $shard)
	{
		push @ddl, "INSERT INTO $target (" . join(', ', @names, $table->{shard}) . ") SELECT "
		  . join(', ', @names) . ", $shard FROM ($rows) x";
	}
	else
	{
		push @ddl, "INSERT INTO $target (" . join(', ', @names) . ") $rows";
	}
	return;
}

sub definition
{
	my ($column) = @_;

	return "$column->{name} $column->{type}" . ($column->{notnull} ? ' NOT NULL' : '');
}

sub make_table
{
	my ($name, $kind) = @_;
	my $shards =
		$kind =~ /^(?:list|check_part)/
	  ? weighted(1 => 1, 2 => 3, 4 => 4, 16 => 1)
	  : weighted(1 => 1, 2 => 2, 4 => 5, 16 => 5, 64 => 2);
	my $rows = weighted(0 => 0.5, 3 => 1, 40 => 4, 120 => 6, 300 => 3, 1000 => 1, 2500 => 0.5);
	my @columns = (map { column($_, 0) } qw(a b c));

	push @columns, { name => 'p', type => 'int4', family => 'payload', notnull => 0 };
	@columns = shuffle(@columns);
	$_->{choices} = $_->{name} eq 'p' ? 'ARRAY[1,2,3,4,5,6,7,8,NULL]::text[]' : choices($_) foreach @columns;

	my $table = {
		name => $name, kind => $kind, columns => \@columns, shards => $shards, rows => $rows,
		keys => ['id'], orders => [],
		hashed => [ weighted(1 => 4, 2 => 5, 3 => 1) > 1 ? some(2, 3, qw(a b c)) : pick(qw(a b c id)) ],
	};
	$table->{expression} = shard_call($table, $shards, $kind =~ /^(?:generated|check|expression)$/);
	my %make = (
		generated => \&make_generated, check => \&make_check, expression => \&make_expression,
		list_expression => \&make_list_expression, check_partitions => \&make_check_partitions,
		time_partitions => \&make_time_partitions, inheritance => \&make_inheritance,
		plain => \&make_plain);

	$make{$kind}->($table, join(', ', 'id int8 NOT NULL', map { definition($_) } @columns));
	make_dead_rows($table);
	push @tables, $table;
	return;
}

sub create
{
	return 'CREATE ' . weighted('' => 16, 'UNLOGGED ' => 2, 'TEMP ' => 1) . 'TABLE ';
}

sub shard_name
{
	my ($table) = @_;

	$table->{shard} = pick(qw(shard_id shard "shardNo"));
	$table->{shard_type} = $table->{wide} ? 'int8' : weighted(int4 => 7, int8 => 2, int2 => 1);
	return "$table->{shard} $table->{shard_type}";
}

sub make_generated
{
	my ($table, $columns) = @_;
	my $cast = !$table->{wide} && chance(0.1) ? '::' . pick(qw(int4 int8 int2)) : '';

	$table->{shard_notnull} = !$table->{null_hash} && chance(0.7);
	push @ddl, create() . "$table->{name} ($columns, " . shard_name($table)
	  . " GENERATED ALWAYS AS (($table->{expression})$cast) STORED"
	  . ($table->{shard_notnull} ? ' NOT NULL' : '') . ')';
	push @ddl, "ALTER TABLE $table->{name} ADD CHECK ($table->{shard} BETWEEN 0 AND $table->{shards} - 1)"
	  if !$table->{signed} && chance(0.1);
	make_indexes($table, $table->{shard}) if chance(0.5);
	insert_rows($table, $table->{name}, 1, $table->{rows});
	make_indexes($table, $table->{shard}) unless @{ $table->{orders} };
	return;
}

sub check_clause
{
	my ($table) = @_;
	my ($left, $right) = ($table->{shard}, $table->{expression});

	($left, $right) = ($right, $left) if chance(0.2);
	return weighted(
		"$left = $right" => 10, "$left = $right AND p IS NOT NULL IS NOT NULL" => 1,
		"($left = $right) IS NOT FALSE" => 0.5, "$left = $right OR p = 7" => 0.7);
}

# A CHECK passes on NULL, and holds for old rows only if it is validated.
sub make_check
{
	my ($table, $columns) = @_;
	my $column = shard_name($table);
	my $check = check_clause($table);
	my $half = int($table->{rows} / 2);
	my $late = chance(0.15);
	my $enforced = $server >= 180000 && chance(0.1) ? ' NOT ENFORCED' : '';
	my $wrong = "($table->{expression} + (x.id % 3)::int % 2) % $table->{shards}";

	$table->{shard_notnull} = chance(0.75);
	$table->{check} = 'shard_check';
	push @ddl, create() . "$table->{name} ($columns, $column" . ($table->{shard_notnull} ? ' NOT NULL' : '')
	  . ($late ? '' : ", CONSTRAINT shard_check CHECK ($check)$enforced") . ')';
	insert_rows($table, $table->{name}, 1, $half, $late || $enforced ? $wrong : $table->{expression});
	push @ddl, "ALTER TABLE $table->{name} ADD CONSTRAINT shard_check CHECK ($check) NOT VALID" if $late;
	insert_rows($table, $table->{name}, $half + 1, $table->{rows},
		$table->{shard_notnull} ? $table->{expression} : "CASE WHEN id % 5 > 0 THEN $table->{expression} END");
	make_indexes($table, $table->{shard});
	return;
}

sub make_expression
{
	my ($table, $columns) = @_;

	push @ddl, create() . "$table->{name} ($columns)";
	insert_rows($table, $table->{name}, 1, $table->{rows});
	make_indexes($table, "($table->{expression})");
	return;
}

sub make_plain
{
	my ($table, $columns) = @_;

	push @ddl, create() . "$table->{name} ($columns)";
	insert_rows($table, $table->{name}, 1, $table->{rows});
	push @ddl, "CREATE UNIQUE INDEX ON $table->{name} (id)" if chance(0.7);
	push @ddl, "CREATE INDEX ON $table->{name} (" . join(', ', some(1, 3, qw(a b c))) . ')' if chance(0.5);
	return;
}

# One partition for each value below $shards, or for a few of them.  Some are
# made apart, with these columns in another order, and attached.
sub list_partitions
{
	my ($name, $shards, $columns) = @_;
	my $each = weighted(1 => 3, 2 => 2, 4 => 1);

	for (my ($i, $low) = (1, 0); $low < $shards; $i++, $low += $each)
	{
		my $high = $low + $each > $shards ? $shards : $low + $each;

		if (chance(0.5))
		{
			push @ddl, "CREATE TABLE ${name}_p$i (gone int, " . join(', ', shuffle(@$columns)) . ')',
			  "ALTER TABLE ${name}_p$i DROP gone",
			  "ALTER TABLE $name ATTACH PARTITION ${name}_p$i FOR VALUES IN (" . join(', ', $low .. $high - 1) . ')';
			next;
		}
		push @ddl, "CREATE TABLE ${name}_p$i PARTITION OF $name FOR VALUES IN ("
		  . join(', ', $low .. $high - 1) . ')';
	}
	push @ddl, "CREATE TABLE ${name}_rest PARTITION OF $name DEFAULT" if chance(0.5);
	return;
}

sub make_list_expression
{
	my ($table, $columns) = @_;

	$table->{partitioned} = 1;
	push @ddl, "CREATE TABLE $table->{name} ($columns) PARTITION BY LIST (("
	  . $table->{expression} . '))';
	list_partitions($table->{name}, $table->{shards}, ['id int8 NOT NULL', map { definition($_) } @{ $table->{columns} }]);
	insert_rows($table, $table->{name}, 1, $table->{rows});
	make_indexes($table, "($table->{expression})");
	return;
}

sub make_check_partitions
{
	my ($table, $columns) = @_;
	my ($name, $shards) = ($table->{name}, $table->{shards});
	my $how = pick(qw(LIST RANGE HASH nested));

	$table->{partitioned} = 1;
	$table->{shard_notnull} = chance(0.8);
	my $column = shard_name($table) . ($table->{shard_notnull} ? ' NOT NULL' : '');
	my $by = $how eq 'nested' ? 'RANGE (id)' : "$how ($table->{shard})";
	my $clause = check_clause($table);
	my $list = ['id int8 NOT NULL', (map { definition($_) } @{ $table->{columns} }), $column, "CONSTRAINT shard_check CHECK ($clause)"];
	push @ddl, "CREATE TABLE $name ($columns, $column, CONSTRAINT shard_check CHECK ("
	  . $clause . ")) PARTITION BY $by";
	$table->{check} = 'shard_check';
	if ($how eq 'LIST')
	{
		list_partitions($name, $shards, $list);
	}
	elsif ($how eq 'nested')
	{
		my $middle = int($table->{rows} / 2);

		push @ddl, "CREATE TABLE ${name}_low PARTITION OF $name FOR VALUES FROM (MINVALUE) TO ($middle) PARTITION BY LIST ($table->{shard})",
		  "CREATE TABLE ${name}_high PARTITION OF $name FOR VALUES FROM ($middle) TO (MAXVALUE) PARTITION BY LIST ($table->{shard})";
		list_partitions("${name}_$_", $shards, $list) foreach qw(low high);
	}
	elsif ($how eq 'RANGE')
	{
		my $middle = int($shards / 2);

		push @ddl, "CREATE TABLE ${name}_p1 PARTITION OF $name FOR VALUES FROM (MINVALUE) TO ($middle)",
		  "CREATE TABLE ${name}_p2 PARTITION OF $name FOR VALUES FROM ($middle) TO (MAXVALUE)";
	}
	else
	{
		push @ddl, map { "CREATE TABLE ${name}_p$_ PARTITION OF $name FOR VALUES WITH (MODULUS 3, REMAINDER $_)" } 0 .. 2;
	}
	insert_rows($table, $name, 1, $table->{rows}, $table->{expression});
	make_indexes($table, $table->{shard});
	return;
}

# Partitions by range of id, some of them made apart and attached: with their
# columns in another order, and from 16 on with another expression.
sub make_time_partitions
{
	my ($table, $columns) = @_;
	my $name = $table->{name};
	my $column = shard_name($table);
	my $step = int($table->{rows} / 3) + 1;
	my $low = 'MINVALUE';

	$table->{partitioned} = 1;
	$table->{shard_notnull} = chance(0.7);
	$column .= ' GENERATED ALWAYS AS (%s) STORED' . ($table->{shard_notnull} ? ' NOT NULL' : '');
	push @ddl, "CREATE TABLE $name ($columns, " . sprintf($column, $table->{expression}) . ') PARTITION BY RANGE (id)';
	foreach my $i (1 .. 3)
	{
		my $high = $i == 3 ? 'MAXVALUE' : $i * $step;

		if (chance(0.5))
		{
			my @list = shuffle('id int8 NOT NULL', map { definition($_) } @{ $table->{columns} });
			my $expression = $table->{expression};

			if ($server >= 160000 && chance(0.7))
			{
				my $shards = pick(1, 2, 4, 16);

				$expression = chance(0.5) ? shard_call($table, $shards) : $expression =~ s/\(\d+/($shards/r;
			}
			push @ddl, "CREATE TABLE ${name}_p$i (gone int, "
			  . join(', ', shuffle(@list, sprintf($column, $expression))) . ')',
			  "ALTER TABLE ${name}_p$i DROP gone",
			  "ALTER TABLE $name ATTACH PARTITION ${name}_p$i FOR VALUES FROM ($low) TO ($high)";
		}
		else
		{
			push @ddl, "CREATE TABLE ${name}_p$i PARTITION OF $name FOR VALUES FROM ($low) TO ($high)";
		}
		$low = $high;
	}
	insert_rows($table, $name, 1, $table->{rows});
	make_indexes($table, $table->{shard});
	return;
}

# A parent with rows of its own and two children that have their own rules.
sub make_inheritance
{
	my ($table, $columns) = @_;
	my $name = $table->{name};
	my $column = shard_name($table);
	my $third = int($table->{rows} / 3);
	my $check = chance(0.6);
	my $no_inherit = $check && chance(0.6);
	my @shard;

	$table->{shard_notnull} = 1;
	if ($check)
	{
		my $wrong = "($table->{expression} + 1) % $table->{shards}";

		$table->{check} = 'shard_check';
		push @ddl, "CREATE TABLE $name ($columns, $column NOT NULL, CONSTRAINT shard_check CHECK ("
		  . check_clause($table) . ')' . ($no_inherit ? ' NO INHERIT' : '') . ')';
		@shard = ($table->{expression}, $table->{expression}, $no_inherit ? $wrong : $table->{expression});
	}
	else
	{
		push @ddl, "CREATE TABLE $name ($columns, $column GENERATED ALWAYS AS ($table->{expression}) STORED)";
	}
	push @ddl, "CREATE TABLE ${name}_c1 () INHERITS ($name)";
	push @ddl, "CREATE TABLE ${name}_c2 ("
	  . (!$check && $server >= 160000 ? "$column GENERATED ALWAYS AS (" . shard_call($table, 4) . ') STORED' : '')
	  . ") INHERITS ($name)";
	$table->{unlike} = 1;
	insert_rows($table, $name, 1, $third, $shard[0]);
	insert_rows($table, "${name}_c1", $third + 1, 2 * $third, $shard[1]);
	insert_rows($table, "${name}_c2", 2 * $third + 1, $table->{rows}, $shard[2]);
	foreach my $child ('', '_c1', '_c2')
	{
		next if chance(0.2);
		local $table->{name} = $name . $child;
		make_index($table, $table->{shard}, 0);
	}
	return;
}

sub make_dead_rows
{
	my ($table) = @_;
	my $name = $table->{name};

	# Rows need not satisfy a check that came late.
	push @ddl, "UPDATE $name SET p = p + 1 WHERE id % 7 = 3" if chance(0.5) && !$table->{check};
	push @ddl, "DELETE FROM $name WHERE id % 11 = 5" if chance(0.5);
	push @ddl, "VACUUM $name" if chance(0.4);
	push @ddl, "ANALYZE $name" if chance(0.6);
	return;
}

sub make_views
{
	my $one = pick(@tables);
	my $two = pick(@tables);
	my $three = pick(@tables);
	my @shared = grep { my $n = $_; type_of($two, $n) eq type_of($three, $n) } qw(a b c);

	push @ddl, "CREATE VIEW v1 AS SELECT * FROM $one->{name}";
	push @tables, { %$one, name => 'v1', is_view => 1 };

	push @ddl, 'CREATE VIEW v2 WITH (security_barrier' . ($server >= 150000 && chance(0.3) ? ', security_invoker' : '')
	  . ") AS SELECT * FROM $two->{name} WHERE p > 2 OR b IS NULL";
	push @tables, { %$two, name => 'v2', is_view => 1 };

	if (@shared)
	{
		my $list = join(', ', 'id', @shared, 'p');

		push @ddl, "CREATE VIEW v3 AS SELECT 1 AS src, $list FROM $two->{name} UNION ALL SELECT 2, $list FROM $three->{name}"
		  . (chance(0.3) ? ' WHERE p < 6' : '');
		push @tables, {
			name => 'v3', is_view => 1, rows => $two->{rows}, keys => [ 'src', 'id' ], orders => $two->{orders},
			hashed  => [ grep { my $n = $_; $n eq 'id' || grep { $_ eq $n } @shared } @{ $two->{hashed} } ],
			columns => [ grep { my $n = $_->{name}; $n eq 'p' || grep { $_ eq $n } @shared } @{ $two->{columns} } ],
			shards  => $two->{shards},
		};
	}
	return;
}

sub type_of
{
	my ($table, $name) = @_;
	my ($column) = grep { $_->{name} eq $name } @{ $table->{columns} };

	return $column->{type};
}

sub make_policies
{
	foreach my $table (some(1, 3, grep { !$_->{is_view} } @tables))
	{
		my @columns = grep { $_->{name} ne 'p' } @{ $table->{columns} };
		my $column = pick(@columns);
		my @values = map { quote($_) . '::' . ($column->{type} =~ s/ COLLATE .*//r) }
		  some(1, 3, grep { !/^(?:NaN|Infinity|1e10)$/ } @{ $families{ $column->{family} }{values} });
		my $using = weighted(
			"$column->{name} = $values[0]" => 3, "$column->{name} IN (" . join(', ', @values) . ')' => 2,
			'p < 6' => 2, 'fuzz.volatile_value(p) > 2' => 1,
			"$column->{name} = ANY (SELECT o.$column->{name} FROM " . $tables[0]{name} . ' o)' => $table == $tables[0] ? 0 : 0.5);

		$table->{policy} = 1;
		push @ddl, "ALTER TABLE $table->{name} ENABLE ROW LEVEL SECURITY",
		  "CREATE POLICY p1 ON $table->{name} TO $role USING ($using) WITH CHECK (true)";
		push @ddl, "CREATE POLICY p2 ON $table->{name} TO $role USING (p = 3)" if chance(0.3);
	}
	return;
}

1;
