# Query.pm
#	  Random SELECTs.
#
# A query body is a hash: list (the select list, with names), from, where (a
# list), keys (expressions that tell its rows apart), tail (GROUP BY ...),
# relations, and perhaps orders (lists of expressions worth sorting by).
#
# test/fuzz/PlannerFuzz/Query.pm

package PlannerFuzz::Query;

use strict;
use warnings;
use Exporter 'import';
use PlannerFuzz::Condition;
use PlannerFuzz::Random;

our @EXPORT = qw(random_query random_order simple_lookup table_sql);

# random_query(query, mode): text and mode; the modes are those of fuzz.run()
sub random_query
{
	my ($query, $wanted) = @_;
	my $body = weighted(
		\&single_body => 20, \&ordered_body => 26, \&join_body => 24, \&lateral_body => 6,
		\&subselect_body => 8, \&union_body => 6, \&group_body => 7, \&minmax_body => 4,
		\&distinct_on_body => 3, \&latest_body => 10, \&with_body => 3, \&window_body => 2)->($query);

	return finish($query, $body, $wanted);
}

sub simple_lookup
{
	my ($query, $table) = @_;
	my $relation = add_relation($query, $table);
	my $where = lookup($query, $relation);

	return "SELECT $relation->{alias}.* FROM $table->{name} $relation->{alias} WHERE $where";
}

sub table_sql
{
	my ($relation) = @_;
	my $table = $relation->{table};
	my $only = ($table->{kind} // '') eq 'inheritance' && !$table->{is_view} && chance(0.25) ? 'ONLY ' : '';

	return "$only$table->{name} $relation->{alias}";
}

# Sort order of the index that $order describes, or the opposite.
sub order_terms
{
	my ($relation, $order, $backward) = @_;
	my %opposite = (
		'' => 'DESC', 'DESC' => '', 'DESC NULLS LAST' => 'ASC NULLS FIRST',
		'ASC NULLS FIRST' => 'DESC NULLS LAST');
	my @terms;

	foreach my $part (@$order)
	{
		my ($name, $direction) = @$part;
		my $column = $relation->{columns}{$name} or last;

		push @terms, [ $column, $backward ? $opposite{$direction} : $direction ];
	}
	return @terms;
}

sub random_order
{
	my (@relations) = @_;
	my $relation = pick(@relations);
	my @orders = @{ $relation->{table}{orders} };

	if (@orders && chance(0.85))
	{
		my @terms = order_terms($relation, pick(@orders), chance(0.5));

		@terms = @terms[ 0 .. int(rand(@terms)) ] if @terms && chance(0.6);
		return @terms if @terms;
	}
	my @columns = map { $relation->{columns}{$_} } sort keys %{ $relation->{columns} };

	return map { [ $_, pick('', 'DESC') ] } some(1, 2, @columns);
}

# Choose how the result is ordered and compared, and write the text.
sub finish
{
	my ($query, $body, $wanted) = @_;
	my $mode = $wanted // weighted(set => 4, total => 5, keys => 2);
	my @list = @{ $body->{list} };
	my @terms = @{ $body->{terms} // [] };
	my $where = join(' AND ', @{ $body->{where} // [] });
	my $tail = $body->{tail} // '';
	my $order = '';

	$mode = 'total' if $body->{terms} && $mode eq 'set' && chance(0.9);
	@terms = random_order(@{ $body->{relations} }) if $mode ne 'set' && !@terms && !$body->{closed};
	if ($mode eq 'total')
	{
		my %seen;
		my @all = grep { !$seen{ $_ =~ s/ .*//r }++ }
		  ((map { "$_->[0]{sql} $_->[1]" } @terms), map { chance(0.25) ? "$_ DESC" : $_ } @{ $body->{keys} });

		$order = ' ORDER BY ' . join(', ', @all);
		if (!$wanted && @terms && chance(0.15))
		{
			# with ties, the rows are known without a total order
			$mode = 'set';
			$order = ' ORDER BY ' . join(', ', map { "$_->[0]{sql} $_->[1]" } @terms) . ' FETCH FIRST ' . pick(1, 2, 5, 20) . ' ROWS WITH TIES';
		}
		elsif (chance(0.7))
		{
			$order .= ' LIMIT ' . pick(1, 1, 2, 3, 5, 10, 10, 50, 500);
		}
		$order .= ' OFFSET ' . pick(0, 1, 2, 7, 30) if $mode eq 'total' && chance(0.2);
		$order .= ' FOR ' . pick('UPDATE', 'SHARE', 'NO KEY UPDATE', 'KEY SHARE')
		  . " OF $body->{relations}[0]{alias}" . pick('', '', ' SKIP LOCKED', ' NOWAIT')
		  if $mode eq 'total' && $body->{lockable} && chance(0.12);
	}
	elsif ($mode eq 'keys' && @terms)
	{
		my $keys = join(', ', map { norm($_->[0]) } @terms);

		unshift @list, "ROW($keys)::text AS sort_key";
		$order = ' ORDER BY ' . join(', ', map { "$_->[0]{sql} $_->[1]" } @terms);
	}
	else
	{
		$mode = 'set';
	}
	my $text = 'SELECT ' . join(', ', @list) . " FROM $body->{from}" . ($where ne '' ? " WHERE $where" : '');

	return (($body->{with} // '') . "$text$tail$order", $mode);
}

sub select_list
{
	my (@relations) = @_;
	my @list;
	my %used;

	foreach my $relation (@relations)
	{
		my $alias = $relation->{alias};
		my @columns = map { $relation->{columns}{$_} } sort keys %{ $relation->{columns} };

		push @list, map { "$_ AS k" . scalar(keys %used) . ($used{$_}++ // '') } @{ $relation->{keys} };
		push @list, map { "$_->{sql} AS c" . scalar(keys %used) . ($used{ $_->{sql} }++ // '') } some(0, 3, @columns);
		push @list, "$alias AS row_$alias" if chance(0.1);
		next if $relation->{table}{is_view} || $relation->{subselect};
		push @list, "$alias.tableoid::regclass AS table_$alias" if chance(0.1);
		push @list, "$alias.ctid AS ctid_$alias" if chance(0.1) && !$relation->{moves};
	}
	return \@list;
}

sub tables
{
	my ($query, $count) = @_;
	my @tables = map { pick(@{ $query->{tables} }) } 1 .. $count;

	return map { add_relation($query, $_) } @tables;
}

sub single_body
{
	my ($query) = @_;
	my ($relation) = tables($query, 1);
	my @where = (lookup($query, $relation));

	push @where, other_condition($query, $relation) if chance(0.3);
	my $sample = !$relation->{table}{is_view} && chance(0.1) ? ' TABLESAMPLE BERNOULLI (50) REPEATABLE (1)' : '';
	return {
		list => select_list($relation), from => table_sql($relation) . $sample, where => [ shuffle(@where) ],
		keys => $relation->{keys}, relations => [$relation], lockable => !$relation->{table}{is_view},
	};
}

# Reads in the order of an index, mostly limited, as for a page or a feed.
sub ordered_body
{
	my ($query) = @_;
	my ($relation) = tables($query, 1);
	my @orders = @{ $relation->{table}{orders} };
	my @where;
	my @terms;

	($relation) = tables($query, 1) if !@orders;
	@orders = @{ $relation->{table}{orders} };
	if (@orders)
	{
		@terms = order_terms($relation, pick(@orders), chance(0.5));
		my $equal = @terms > 1 && chance(0.3) ? 1 + int(rand(@terms - 1)) : 0;

		push @where, map { chance(0.85) ? equality($query, $_->[0]) : range_condition($query, $_->[0]) } @terms[ 0 .. $equal - 1 ]
		  if $equal;
		splice(@terms, 0, $equal) if chance(0.7);
		@terms = @terms[ 0 .. int(rand(@terms)) ] if @terms && chance(0.5);
	}
	@terms = random_order($relation) if !@terms;
	push @where, range_condition($query, $terms[0][0]) if chance(0.25);
	push @where, keyset($query, map { $_->[0] } @terms[ 0 .. int(rand(@terms)) ]) if chance(0.2);

	# of these, release 17 itself loses a condition beside a row comparison
	my $complete = @where && $query->{server} >= 170000 && $query->{server} < 180000;

	push @where, shard_condition($query, $relation) if chance(0.08) && !$complete;
	push @where, other_condition($query, $relation) if chance(0.15);
	push @where, lookup($query, $relation) if chance(0.06);
	if (@terms > 1 && chance(0.04))
	{
		push @where, join_equality($terms[0][0], $terms[1][0]) if $terms[0][0]{family} eq $terms[1][0]{family};
	}
	return {
		list => select_list($relation), from => table_sql($relation), where => [ shuffle(@where) ],
		keys => $relation->{keys}, relations => [$relation], lockable => !$relation->{table}{is_view},
		terms => \@terms,
	};
}

# One side of a join, sometimes a subselect; few rows of a large table.
sub join_item
{
	my ($query, $relation, $count) = @_;
	my $inner = add_relation($query, $relation->{table});
	my $where =
	    $relation->{table}{rows} > 300 / $count**2 && chance(0.8) ? "$inner->{columns}{id}{sql} % 8 = " . int(rand(8))
	  : chance(0.05)                                   ? lookup($query, $inner)
	  : chance(0.05)                                   ? other_condition($query, $inner)
	  :                                                  undef;

	return table_sql($relation) if !defined $where;
	$relation->{subselect} = 1;
	return "(SELECT * FROM " . table_sql($inner) . " WHERE $where" . (chance(0.1) ? ' OFFSET 0' : '')
	  . ") $relation->{alias}";
}

sub join_body
{
	my ($query) = @_;
	my $count = weighted(2 => 7, 3 => 4, 4 => 1);
	my @relations = tables($query, $count);
	my $self = chance(0.1);

	$relations[1] = add_relation($query, $relations[0]{table}) if $self;
	my @where;
	my $from = join_item($query, $relations[0], $count);
	my $inner = 1;

	push @where, chance(0.5) ? lookup($query, $relations[0]) : other_condition($query, $relations[0])
	  if chance(0.6);
	foreach my $i (1 .. $#relations)
	{
		my $right = $relations[$i];
		my @left = @relations[ 0 .. $i - 1 ];
		my $type = weighted(comma => 3, 'JOIN' => 6, 'LEFT JOIN' => 5, 'RIGHT JOIN' => 1.5, 'FULL JOIN' => 1.5);
		my $item = join_item($query, $right, $count);

		# Commas bind less than JOIN does.
		$type = 'JOIN' if $type eq 'comma' && $i < $#relations;
		$inner = 0 if $type =~ /LEFT|RIGHT|FULL/;
		if ($type eq 'comma')
		{
			$from .= ", $item";
			push @where, join_condition($query, $right, 0, @left);
			next;
		}
		if ($type =~ /FULL/)
		{
			my @names = grep { $right->{columns}{$_} && $left[0]{columns}{$_} } qw(a b c id);

			$from .= " $type $item ON "
			  . join(' AND ', map { join_equality($left[0]{columns}{$_}, $right->{columns}{$_}) } some(1, 3, @names));
			next;
		}
		if ($count == 2 && chance(0.12))
		{
			my @names = grep {
				my ($l, $r) = ($left[0]{columns}{$_}, $right->{columns}{$_});
				$l && $r && ($l->{family} !~ /^(?:text|char)$/ || $l->{type} eq $r->{type})
			} map { $_->{name} } @{ $right->{table}{columns} };

			@names = grep { my $n = $_; grep { $_ eq $n } @{ $right->{table}{hashed} } } @names if chance(0.8);
			@names = grep { $_ ne 'p' } @names;
			if (@names)
			{
				$from .= " $type $item USING (" . join(', ', @names) . ')';
				next;
			}
		}
		if ($i == 1 && $count == 3 && chance(0.15))
		{
			# a JOIN (b JOIN c)
			my $third = $relations[2];

			$from .= " $type ($item " . pick('JOIN', 'LEFT JOIN') . ' ' . join_item($query, $third, $count) . ' ON '
			  . join_condition($query, $third, 0, $right) . ') ON ' . join_condition($query, $right, 0, @left, $third);
			$inner = 0;
			last;
		}
		$from .= " $type $item ON " . join_condition($query, $right, 0, @left);
	}
	push @where, chance(0.4) ? lookup($query, pick(@relations)) : other_condition($query, pick(@relations))
	  if chance(0.3);
	if (chance(0.2))
	{
		# [NOT] EXISTS makes semijoins and antijoins
		my ($more) = tables($query, 1);

		push @where, pick('', 'NOT ') . "EXISTS (SELECT FROM " . table_sql($more) . ' WHERE '
		  . join_condition($query, $more, 0, @relations) . ')';
	}
	return {
		list => select_list(@relations), from => $from, where => [ shuffle(@where) ],
		keys => [ map { @{ $_->{keys} } } @relations ], relations => \@relations,
		lockable => $inner && !$relations[0]{table}{is_view},
	};
}

# For each row the first few of another table.
sub lateral_body
{
	my ($query) = @_;
	my ($outer, $inner) = tables($query, 2);
	my @where = chance(0.75) ? (join_condition($query, $inner, 0, $outer)) : ();
	my @terms = random_order($inner);
	my $limit = pick(1, 2, 3, 10);

	push @where, range_condition($query, $terms[0][0]) if chance(0.2);
	my $sort = join(', ', (map { "$_->[0]{sql} $_->[1]" } @terms), @{ $inner->{keys} });
	my $list = join(', ', map { "$_ AS l" . ($_ =~ s/.*\.//r) } @{ $inner->{keys} });
	my $from = table_sql($outer) . pick(' CROSS JOIN', ' LEFT JOIN', ' LEFT JOIN') . ' LATERAL (SELECT ' . $list
	  . ", ($inner->{alias}.p) AS lp FROM " . table_sql($inner)
	  . (@where ? ' WHERE ' . join(' AND ', @where) : '') . " ORDER BY $sort LIMIT $limit) l";

	$from .= ' ON true' if $from =~ /LEFT JOIN LATERAL/;
	my $few = chance(0.7) ? ["$outer->{alias}.id < " . pick(5, 20, 60)] : [ lookup($query, $outer) ];
	return {
		list => [ @{ select_list($outer) }, 'l.*' ], from => $from, where => $few,
		keys => [ @{ $outer->{keys} }, map { 'l.l' . ($_ =~ s/.*\.//r) } @{ $inner->{keys} } ], relations => [$outer],
	};
}

# Correlated subselects in the select list and in WHERE.
sub subselect_body
{
	my ($query) = @_;
	my ($outer, $inner) = tables($query, 2);
	my $condition = join_condition($query, $inner, 0, $outer);
	my $from = table_sql($inner);
	my @where = chance(0.5) ? (other_condition($query, $outer)) : ("$outer->{alias}.id < 50");
	my @list = @{ select_list($outer) };
	my $id = $inner->{columns}{id}{sql};
	my $form = pick(qw(count first in exists scalar));

	if ($form eq 'count')
	{
		push @list, "(SELECT count(*) FROM $from WHERE $condition) AS sub";
	}
	elsif ($form eq 'first')
	{
		my @terms = random_order($inner);

		push @list, "(SELECT $id FROM $from WHERE $condition ORDER BY "
		  . join(', ', (map { "$_->[0]{sql} $_->[1]" } @terms), @{ $inner->{keys} }) . ' LIMIT 1) AS sub';
	}
	elsif ($form eq 'in')
	{
		push @where, "$outer->{alias}.id " . pick('IN', 'NOT IN') . " (SELECT $id FROM $from WHERE $condition)";
	}
	elsif ($form eq 'exists')
	{
		push @where, '(' . pick('', 'NOT ') . "EXISTS (SELECT FROM $from WHERE $condition)"
		  . (chance(0.3) ? " OR $outer->{alias}.p = 3)" : ')');
	}
	else
	{
		push @list, "(SELECT max($id) FROM $from WHERE $condition) AS sub";
	}
	return {
		list => \@list, from => table_sql($outer), where => \@where, keys => $outer->{keys}, relations => [$outer],
	};
}

# Two SELECTs under one condition; columns of the same types can be pulled up.
sub union_body
{
	my ($query) = @_;
	my @unique = grep { $_->{keys}[0] eq 'id' } @{ $query->{tables} };
	my ($first, $second) = map { add_relation($query, pick(@unique)) } 1 .. 2;
	my @names = grep { $second->{columns}{$_} } map { $_->{name} } @{ $first->{table}{columns} };
	my @parts;

	@names = grep { $first->{columns}{$_}{type} eq $second->{columns}{$_}{type} } @names;
	my $all = chance(0.6);
	foreach my $part ([ 1, $first ], [ 2, $second ])
	{
		my ($number, $relation) = @$part;
		my $where = chance(0.35) ? ' WHERE ' . (chance(0.5) ? lookup($query, $relation) : other_condition($query, $relation)) : '';

		push @parts, "SELECT $number AS src, $relation->{alias}.id"
		  . join('', map { ", $relation->{columns}{$_}{sql}" } @names) . ' FROM ' . table_sql($relation) . $where;
	}
	my $table = {
		%{ $first->{table} }, keys => [ 'src', 'id' ], is_view => 1, shard => undef,
		columns => [ grep { my $n = $_->{name}; grep { $_ eq $n } @names } @{ $first->{table}{columns} } ],
	};
	$table->{hashed} = [ grep { my $n = $_; $n eq 'id' || grep { $_ eq $n } @names } @{ $table->{hashed} } ];
	my $union = add_relation($query, $table, 'u');
	my @terms = random_order($union);
	my @where;

	$union->{columns}{p} //= $union->{columns}{id};
	push @where, chance(0.7) ? lookup($query, $union) : other_condition($query, $union) if chance(0.6);
	return {
		list => [ map { "u.$_" } 'src', 'id', @names ], from => '(' . join($all ? ' UNION ALL ' : pick(' UNION ', ' EXCEPT ', ' INTERSECT ', ' EXCEPT ALL '), @parts) . ') u',
		where => \@where, keys => [ 'u.src', 'u.id' ], relations => [$union], terms => \@terms,
	};
}

# Which of several equal values GROUP BY shows is open: they are normalized.
sub group_body
{
	my ($query) = @_;
	my ($relation) = tables($query, 1);
	my @names = some(1, 2, grep { $relation->{columns}{$_} } qw(a b c p));
	my @columns = map { $relation->{columns}{$_} } @names;
	my @where;

	push @where, lookup($query, $relation) if chance(0.3);
	push @where, other_condition($query, $relation) if chance(0.3);
	my @list = map { norm($columns[$_]) . " AS g$_" } 0 .. $#columns;
	my $group = join(', ', map { $_->{sql} } @columns);
	my $tail = " GROUP BY $group";

	if (chance(0.2))
	{
		return {
			list => [ map { norm($columns[$_], "q.$names[$_]") . " AS g$_" } 0 .. $#columns ],
			from => "(SELECT DISTINCT $group FROM " . table_sql($relation)
			  . (@where ? ' WHERE ' . join(' AND ', @where) : '')
			  . (chance(0.3) ? " ORDER BY $group" : '') . ') q',
			relations => [], closed => 1, keys => [ map { "q.$_" } @names ],
		};
	}
	$tail = ' GROUP BY ' . pick('ROLLUP', 'CUBE') . " ($group)" if chance(0.1);
	my $sets = $tail =~ /ROLLUP|CUBE/;
	$tail .= ' HAVING ' . (chance(0.5) ? equality($query, $columns[0]) : 'count(*) > 1') if chance(0.3);
	return {
		list => [ @list, 'count(*) AS n', "sum($relation->{alias}.id) AS s", "max($relation->{alias}.p) AS m" ],
		from => table_sql($relation), where => \@where, tail => $tail, relations => [], closed => 1,
		keys => [ map({ $_->{sql} } @columns), $sets ? "grouping($group)" : () ],
	};
}

sub minmax_body
{
	my ($query) = @_;
	my ($relation) = tables($query, 1);
	my @orders = @{ $relation->{table}{orders} };
	my @names = qw(a b c id p);

	@names = map { $_->[0] } @{ pick(@orders) } if @orders;
	my ($column) = grep { defined && $_->{type} !~ /bool|uuid|bytea|name/ } map { $relation->{columns}{$_} } @names;
	$column //= $relation->{columns}{id};
	my $c = $column->{sql};
	my $function = pick(qw(min max));
	my @list = (norm($column, "$function($c)") . ' AS m0');
	my @where;

	push @list, norm($column, ($function eq 'min' ? 'max' : 'min') . "($c)") . ' AS m1' if chance(0.4);
	push @list, 'count(*) AS n' if chance(0.15);
	push @where, range_condition($query, $column) if chance(0.4);
	push @where, other_condition($query, $relation) if chance(0.3);
	push @where, lookup($query, $relation) if chance(0.15);
	return {
		list => \@list, from => table_sql($relation), where => \@where, closed => 1, keys => ['1'], relations => [],
	};
}

sub distinct_on_body
{
	my ($query) = @_;
	my $body = ordered_body($query);
	my $count = 1 + int(rand(@{ $body->{terms} }));
	my @columns = map { $_->[0]{sql} } @{ $body->{terms} }[ 0 .. $count - 1 ];

	$body->{lockable} = 0;
	$body->{list}[0] = 'DISTINCT ON (' . join(', ', @columns) . ") $body->{list}[0]";
	my ($text) = finish($query, $body, 'total');

	return { list => ['q.*'], from => "($text) q", relations => [], closed => 1, keys => ['q::text COLLATE "C"'] };
}

# The first or the last row of each value, of columns on which all rows that
# could be chosen agree.
sub latest_body
{
	my ($query) = @_;
	my @sharded = grep { @{ $_->{orders} } } @{ $query->{tables} };
	my @fit = grep { $_->{few_groups} && !$_->{is_view} } @sharded;

	@sharded = @fit if @fit && chance(0.7);
	my ($relation) = @sharded ? add_relation($query, pick(@sharded)) : tables($query, 1);
	my @orders = @{ $relation->{table}{orders} };
	my @terms = @orders ? order_terms($relation, pick(@orders), chance(0.5)) : ();
	my @where;

	@terms = random_order($relation) if !@terms;
	push @where, equality($query, shift(@terms)->[0]) if @terms > 1 && chance(0.15);
	@terms = @terms[ 0 .. int(rand(@terms)) ] if chance(0.5);
	push @where, range_condition($query, pick(@terms)->[0]) if chance(0.2);
	push @where, other_condition($query, $relation) if chance(0.15);
	push @where, shard_condition($query, $relation) if chance(0.05);

	my $where = @where ? ' WHERE ' . join(' AND ', @where) : '';
	my $from = table_sql($relation);
	my $text;

	if (chance(0.2))
	{
		$text = "SELECT DISTINCT $terms[0][0]{sql} AS k0 FROM $from$where" . (chance(0.5) ? ' ORDER BY 1' . pick('', ' DESC') : '');
		$text = 'SELECT ' . norm($terms[0][0], 'd.k0') . " AS c0 FROM ($text) d";
		return { list => ['q.*'], from => "($text) q", relations => [], closed => 1, keys => ['q::text COLLATE "C"'] };
	}
	# The values themselves come in either order.
	$terms[0][1] = pick('', 'DESC', 'DESC NULLS LAST', 'ASC NULLS FIRST') if chance(0.5);
	my @list = map { norm($terms[$_][0]) . " AS c$_" } 0 .. $#terms;

	# an index alone does not have all columns
	push @list, "coalesce($relation->{columns}{p}{sql}, 0) * 0 AS zero" if $relation->{columns}{p};
	$text = "SELECT DISTINCT ON ($terms[0][0]{sql}) " . join(', ', @list) . " FROM $from$where ORDER BY "
	  . join(', ', map { "$_->[0]{sql} $_->[1]" } @terms) . (chance(0.2) ? ' LIMIT ' . pick(1, 2, 5) : '');
	return { list => ['q.*'], from => "($text) q", relations => [], closed => 1, keys => ['q::text COLLATE "C"'] };
}

sub with_body
{
	my ($query) = @_;
	my $inner = chance(0.5) ? single_body($query) : ordered_body($query);

	$inner->{lockable} = 0;
	my ($text) = finish($query, $inner, chance(0.5) ? 'total' : 'set');
	my ($relation) = tables($query, 1);
	my $with = 'WITH w AS ' . pick('', 'MATERIALIZED ', 'NOT MATERIALIZED ') . "($text) ";
	my $id = $inner->{relations}[0]{table}{keys}[-1] eq 'id' ? (grep { / AS k/ } @{ $inner->{list} })[-1] =~ s/.* AS (k\d+).*/$1/r : 'k0';

	return {
		with => $with, list => [ @{ select_list($relation) }, 'w.*' ],
		from => "w " . pick('JOIN', 'LEFT JOIN') . ' ' . table_sql($relation) . " ON $relation->{alias}.id = w.$id",
		where => chance(0.4) ? [ lookup($query, $relation) ] : [],
		keys => [ @{ $relation->{keys} }, 'w::text COLLATE "C"' ], relations => [$relation],
	};
}

sub window_body
{
	my ($query) = @_;
	my ($relation) = tables($query, 1);
	my @terms = random_order($relation);
	my $sort = join(', ', (map { "$_->[0]{sql} $_->[1]" } @terms), @{ $relation->{keys} });
	my $partition = chance(0.4) ? "PARTITION BY $terms[0][0]{sql} " : '';

	return {
		list => [ @{ select_list($relation) }, "row_number() OVER (${partition}ORDER BY $sort) AS rn" ],
		from => table_sql($relation), where => chance(0.5) ? [ other_condition($query, $relation) ] : [],
		keys => $relation->{keys}, relations => [$relation],
	};
}

1;
