# Condition.pm
#	  Random values and conditions.
#
# A query under construction is a hash: "params" is a list of what stands for
# $1, $2, ... if it is to be prepared, undef otherwise; "tables" are those
# that may be read; "aliases" counts them.
#
# A relation in FROM is a hash: alias, table, columns (by name, each with its
# text in "sql"), keys (texts of its unique columns).
#
# test/fuzz/PlannerFuzz/Condition.pm

package PlannerFuzz::Condition;

use strict;
use warnings;
use Exporter 'import';
use PlannerFuzz::Random;

our @EXPORT = qw(add_relation value equality lookup range_condition keyset other_condition
  shard_condition join_equality join_condition norm base_type);

# Give a table an alias.
sub add_relation
{
	my ($query, $table, $alias) = @_;

	$alias //= 'r' . ++$query->{aliases};
	my $rows = $table->{rows} || 10;
	my @columns = (
		{ name => 'id', type => 'int8', family => 'int', values => [ map { 1 + int(rand($rows + 2)) } 1 .. 6 ] },
		map { { %$_ } } @{ $table->{columns} });

	push @columns, { name => $table->{shard}, type => $table->{shard_type}, family => 'int',
		values => [ -1 .. $table->{shards} ], is_shard => 1 }
	  if $table->{shard};
	foreach my $column (@columns)
	{
		$column->{sql} = "$alias.$column->{name}";
		if ($column->{family} eq 'payload')
		{
			$column->{family} = 'int';
			$column->{values} = [ 1 .. 9 ];
		}
		$column->{values} //= [ @{ $families{ $column->{family} }{values} }, (@{ $column->{present} }) x 4 ];
		push @{ $column->{values} }, '4714-11-24 00:00:00+00 BC', '294276-12-31 23:30:00+00', 'infinity'
		  if $column->{family} =~ /^timestamp/;
	}
	return {
		alias => $alias, table => $table, columns => { map { $_->{name} => $_ } @columns },
		keys => [ map { "$alias.$_" } @{ $table->{keys} } ], moves => $query->{moves},
	};
}

sub base_type
{
	my ($type) = @_;

	return $type =~ s/ COLLATE .*//r;
}

# Equal values in one form, so that it does not matter which of them is taken.
sub norm
{
	my ($column, $sql) = @_;

	my $family = ($column->{type} // '') =~ /^(char|bpchar)/ ? 'char' : $column->{family};

	return sprintf($families{$family}{norm} // '%s', $sql // $column->{sql});
}

sub cast_value
{
	my ($value, $type) = @_;

	# What the type cannot hold becomes something that it can.
	$value = '7' if $value =~ /Inf|e/ && ($type =~ /int/ || $type eq 'fuzz.amount');
	$value = '3' if $value eq 'NaN' && $type =~ /int/;
	return quote($value) . "::numeric::$type" if $type =~ /int/ && $value =~ /\./;
	return quote($value) . "::$type";
}

sub value_type
{
	my ($column) = @_;
	my $family = $families{ $column->{family} };

	return base_type(
		weighted(
			$column->{type} => 75, pick(@{ $family->{same} }) => 15,
			pick(@{ $family->{other} }, $column->{type}) => 7));
}

# An expression without variables, to be compared with a column.
sub value
{
	my ($query, $column, %how) = @_;
	my $type = $how{type} // value_type($column);
	my $make = sub { chance(0.04) ? "NULL::$type" : cast_value(pick(@{ $column->{values} }), $type) };

	if ($query->{params} && chance(0.7))
	{
		push @{ $query->{params} }, { type => $type, make => $make };
		return '$' . scalar @{ $query->{params} };
	}
	my $value = $make->();

	return $value if $how{plain};
	return weighted(
		$value => 80, quote(pick(@{ $column->{values} })) => 8, "(SELECT $value)" => 4,
		"fuzz.stable_value($value)" => 2, "fuzz.volatile_value($value)" => 1.5,
		"fuzz.inlined_value($value)" => 2,
		"(SELECT max(x) FROM (VALUES ($value), ($value)) v (x))" => $type =~ /bool|uuid|bytea|name|color/ ? 0 : 1);
}

sub value_list
{
	my ($query, $column, $most) = @_;
	my $type = value_type($column);

	# The types of a list have to match.
	local $query->{params} = undef if chance(0.5);
	return ($type, map { value($query, $column, type => $type, plain => 1) } 1 .. 1 + int(rand($most)));
}

# Arrays that are parameters, and those that are constants.
sub array_value
{
	my ($query, $column) = @_;
	my $type = value_type($column);
	my $make = sub {
		return "NULL::$type\[]" if chance(0.03);
		my @values = map { cast_value(pick(@{ $column->{values} }), $type) } 1 .. int(rand(5));
		push @values, "NULL::$type" if chance(0.15);
		return 'ARRAY[' . join(', ', @values) . "]::$type\[]";
	};

	if ($query->{params} && chance(0.7))
	{
		push @{ $query->{params} }, { type => "$type\[]", make => $make };
		return '$' . scalar @{ $query->{params} };
	}
	return $make->();
}

# A condition on one column, most often equality.
sub equality
{
	my ($query, $column) = @_;
	my $c = $column->{sql};
	my $form = weighted(qw(= 64 reversed 6 in 10 any 8 distinct 2 null 2 unequal 0.7 not 1 all 0.5 or 3 collate 1.5 bool 1));

	if ($form eq 'in')
	{
		my ($type, @list) = value_list($query, $column, 5);

		return "$c IN (" . join(', ', @list) . ')';
	}
	if ($form eq 'or')
	{
		return "($c = " . value($query, $column) . " OR $c = " . value($query, $column) . ')';
	}
	if ($form eq 'bool')
	{
		return pick($c, "NOT $c", "$c IS TRUE", "$c IS NOT FALSE") if $column->{type} eq 'bool';
		$form = '=';
	}
	return "$c = ANY (" . array_value($query, $column) . ')' if $form eq 'any';
	return "$c = ALL (" . array_value($query, $column) . ')' if $form eq 'all';
	return "$c IS NULL" if $form eq 'null';
	my $value = value($query, $column);

	if ($form eq 'collate' && $column->{family} =~ /^(?:text|nocase|char)$/ && $value !~ /^'[^']*'$/)
	{
		my $collation = pick('"C"', '"default"');

		return pick("$c = ($value) COLLATE $collation", "$c COLLATE $collation = $value");
	}
	return "$value = $c" if $form eq 'reversed';
	return "$c IS NOT DISTINCT FROM $value" if $form eq 'distinct';
	return "$c <> $value" if $form eq 'unequal';
	return "NOT ($c <> $value)" if $form eq 'not';
	return "$c = $value";
}

sub hashed_columns
{
	my ($relation) = @_;
	my @names = @{ $relation->{table}{hashed} };
	my @columns = grep { defined } map { $relation->{columns}{$_} } @names;

	return @columns ? @columns : map { $relation->{columns}{$_} } grep { $relation->{columns}{$_} } qw(a id);
}

sub row
{
	my @values = @_;

	return @values > 1 ? '(' . join(', ', @values) . ')' : $values[0];
}

# Equality on all hashed columns of a relation, in many forms.
sub lookup
{
	my ($query, $relation) = @_;
	my @columns = hashed_columns($relation);
	my @sql = map { $_->{sql} } @columns;
	my $form = weighted(qw(and 60 row 6 rows 9 values 3 select 4 or 14 not 3));

	if (chance(0.08))
	{
		@columns = some(1, scalar @columns, @columns);
		@sql = map { $_->{sql} } @columns;
	}
	return bucket_lookup($query, $relation, @columns) if $relation->{table}{bucket} && chance(0.4);
	my $values = sub { row(map { value($query, $_, plain => 1, @_) } @columns) };
	my $all = sub { join(' AND ', map { equality($query, $_) } shuffle(@columns)) };

	return row(@sql) . ' = ' . $values->() if $form eq 'row';
	return row(@sql) . ' IN (' . join(', ', map { $values->() } 1 .. 1 + int(rand(4))) . ')' if $form eq 'rows';
	if ($form eq 'values')
	{
		my @lists = map {
			my @row = map { value($query, $_, plain => 1, type => base_type($_->{type})) } @columns;
			'(' . join(', ', @row) . ')'
		} 1 .. 1 + int(rand(3));

		return row(@sql) . ' IN (VALUES ' . join(', ', @lists) . ')';
	}
	if ($form eq 'select')
	{
		my $other = add_relation($query, pick(@{ $query->{tables} }));
		my @theirs = map { $other->{columns}{ $_->{name} } // return $all->() } @columns;
		my $where = chance(0.5) ? ' WHERE ' . other_condition($query, $other) : '';

		return
		    (chance(0.8) ? row(@sql) . ' IN' : row(map { "$_" } @sql) . ' NOT IN')
		  . ' (SELECT ' . join(', ', map { same_collation($columns[$_], $theirs[$_]) } 0 .. $#columns)
		  . " FROM $other->{table}{name} $other->{alias}$where)";
	}
	if ($form eq 'or')
	{
		my @arms = map { '(' . $all->() . ')' } 1 .. 2 + int(rand(2));

		push @arms, other_condition($query, $relation) if chance(0.15);
		$arms[0] = '(' . $arms[0] . ' AND ' . other_condition($query, $relation) . ')' if chance(0.2);
		return '(' . join(' OR ', @arms) . ')';
	}
	return 'NOT (' . $all->() . ')' if $form eq 'not';
	return $all->();
}

# The same with a short range of the column whose bucket is hashed, or with
# the bucket itself.
sub bucket_lookup
{
	my ($query, $relation, @columns) = @_;
	my ($name, $bucket) = @{ $relation->{table}{bucket} };
	my @conditions;

	foreach my $column (@columns)
	{
		my $c = $column->{sql};
		my $type = base_type($column->{type});
		my $value = sub { value($query, $column, chance(0.9) ? (type => $type) : ()) };

		if ($column->{name} ne $name)
		{
			push @conditions, equality($query, $column);
		}
		elsif (chance(0.3))
		{
			$bucket =~ s/'(\d) days?'/"'" . 24 * $1 . " hours'"/e if chance(0.3);
			my $of = sub { $bucket =~ s/\b$name\b/$_[0]/r };

			push @conditions, pick($of->($c) . ' = ' . $of->($value->()), $of->($c) . ' = ' . $value->(),
				$value->() . ' = ' . $of->($c), $of->($c) . ' IN (' . $value->() . ', ' . $of->(value($query, $column, type => $type)) . ')');
		}
		else
		{
			my $bound = chance(0.7) ? $type : pick(qw(date timestamp timestamptz));
			my $low = value($query, $column, type => $bound);
			my $high = chance(0.7) ? "($low" . ($low =~ /^\$/ ? "::$bound" : '') . ' + ' . pick("'1 hour'", "'1 day'", "'4 days'", "'20 days'", "'0'") . '::interval)' : $value->();

			my @ends = map { ("'infinity'::$_", "'-infinity'::$_") } 'date', $type;
			$low = pick(@ends, "'4714-11-24 BC'::date", 'CURRENT_DATE - ' . int(rand(1000))) if chance(0.15);
			$high = pick(@ends, "'5874897-12-31'::date", 'CURRENT_DATE', 'LOCALTIMESTAMP') if chance(0.15);
			my @sides = ("$c " . pick('>=', '>') . " $low", "$high " . pick('>', '>=') . " $c");
			push @conditions, chance(0.1) ? pick(@sides) : @sides;
		}
	}
	return join(' AND ', shuffle(@conditions));
}

sub range_condition
{
	my ($query, $column) = @_;
	my $c = $column->{sql};
	my $type = base_type($column->{type});
	my $value = sub { value($query, $column, chance(0.8) ? (type => $type) : ()) };

	return "$c BETWEEN " . $value->() . ' AND ' . $value->() if chance(0.25);
	return "$c >= " . $value->() . " AND $c < " . $value->() if chance(0.3);
	return "$c " . pick(qw(< <= > >=)) . ' ' . $value->();
}

# What a client sends to get the next page.
sub keyset
{
	my ($query, @columns) = @_;
	my @values = map { value($query, $_, plain => 1, type => base_type($_->{type})) } @columns;
	my $operator = pick(qw(< > <= >=));

	return row(map { $_->{sql} } @columns) . " $operator " . row(@values) if chance(0.8) || @columns == 1;
	return "($columns[0]{sql} $operator $values[0] OR ($columns[0]{sql} = $values[0] AND $columns[1]{sql} $operator $values[1]))";
}

sub shard_condition
{
	my ($query, $relation) = @_;
	my ($column) = grep { $_->{is_shard} } values %{ $relation->{columns} };
	my $shards = $relation->{table}{shards};
	my $sql;

	if ($column)
	{
		$sql = $column->{sql};
	}
	elsif ($relation->{table}{expression} && !$relation->{table}{is_view})
	{
		$sql = $relation->{table}{expression} =~ s/\b(a|b|c|id)\b/$relation->{alias}.$1/gr;
		$column = { sql => $sql, type => 'int4', family => 'int', values => [ 0 .. $shards ] };
	}
	else
	{
		return other_condition($query, $relation);
	}
	return weighted(
		"$sql = " . value($query, $column, plain => 1) => 3, "$sql IN (0, 1, 2)" => 3,
		"$sql BETWEEN 0 AND $shards - 1" => 3, "$sql IS NOT NULL" => 1, "$sql IS NULL" => 0.5,
		"$sql <> 0" => 1, "$sql = ANY (ARRAY[1, 0, 1, NULL])" => 1,
		"$sql >= " . int($shards / 2) => 1);
}

sub other_condition
{
	my ($query, $relation) = @_;
	my %columns = %{ $relation->{columns} };
	my @plain = grep { !$_->{is_shard} } map { $columns{$_} } sort keys %columns;
	my $column = pick(@plain);
	my $form = weighted(qw(equality 4 range 5 payload 5 null 3 shard 3 like 1));

	return equality($query, $column) if $form eq 'equality';
	return range_condition($query, $column) if $form eq 'range';
	return "$columns{p}{sql} " . pick('> 2', '< 6', '<> 4', 'IN (1, 3, 5)', '= 3') if $form eq 'payload';
	return "$column->{sql} IS " . pick('', 'NOT ') . 'NULL' if $form eq 'null';
	return shard_condition($query, $relation) if $form eq 'shard';
	return "$column->{sql} LIKE 'a%'" if $column->{family} eq 'text';
	return pick("$columns{p}{sql} % 2 = 0", "$relation->{alias} IS NOT NULL", "length($column->{sql}::text) < 4");
}

# Columns of different collations need one that is named.
sub same_collation
{
	my ($left, $right) = @_;
	my ($sql) = $right->{sql};

	return $sql if $left->{family} !~ /^(?:text|nocase|char)$/ || $left->{type} eq $right->{type};
	return $left->{family} eq 'nocase' ? "$sql COLLATE fuzz.nocase" : "$sql COLLATE " . pick('"C"', '"default"');
}

sub join_equality
{
	my ($left, $right) = @_;

	return "$left->{sql} = " . same_collation($left, $right);
}

# The hashed columns of $right, from those of the relations @left, or from
# values; sometimes not all of them.
sub join_condition
{
	my ($query, $right, $least, @left) = @_;
	my @conditions;
	my @joined;

	foreach my $column (shuffle(hashed_columns($right)))
	{
		my @partners = grep { defined } map { $_->{columns}{ $column->{name} } } @left;

		next if chance(0.07);
		if (@partners && (chance(0.8) || @joined < $least))
		{
			my $partner = pick(@partners);

			push @joined, chance(0.5) ? join_equality($partner, $column) : join_equality($column, $partner);
		}
		else
		{
			push @conditions, equality($query, $column);
		}
	}
	if (@joined < $least || (!@joined && chance(0.8)))
	{
		my ($name) = grep { $right->{columns}{$_} && $left[0]{columns}{$_} } shuffle(qw(a b c id));

		push @joined, join_equality($left[0]{columns}{$name}, $right->{columns}{$name});
	}
	push @conditions, @joined;
	push @conditions, other_condition($query, $right) if chance(0.12);
	push @conditions, other_condition($query, pick(@left)) if chance(0.08);
	if (@joined > 1 && chance(0.05))
	{
		my $first = shift @conditions;

		return "($first OR (" . join(' AND ', @conditions) . '))';
	}
	return @conditions ? join(' AND ', shuffle(@conditions)) : 'true';
}

1;
