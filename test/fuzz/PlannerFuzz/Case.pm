# Case.pm
#	  Random cases: statements, how they are run, and with which settings.
#
# A case is a hash: statements (each with the letter that planner_fuzz.sql
# explains), mode (total, keys or set), settings, on (those of the features in
# the second run), role, name.
#
# test/fuzz/PlannerFuzz/Case.pm

package PlannerFuzz::Case;

use strict;
use warnings;
use Exporter 'import';
use PlannerFuzz::Condition;
use PlannerFuzz::Query;
use PlannerFuzz::Random;

our @EXPORT = qw(random_case feature_settings);

my @features = map { "spanner_keys.enable_$_" } qw(derived_shard shard_merge shard_list);
my @switches = qw(seqscan indexscan bitmapscan indexonlyscan sort hashjoin mergejoin nestloop memoize material
  incremental_sort hashagg tidscan partition_pruning partitionwise_join partitionwise_aggregate);

sub feature_settings
{
	my ($value) = @_;

	return map { ($_, $value) } @features;
}

# random_case(server version, role, tables)
sub random_case
{
	my ($server, $role, $tables) = @_;
	my $query = { tables => $tables, aliases => 0, server => $server };
	my ($name, $make) = @{
		weighted(
			[ 'select', \&select_case ] => 70, [ 'prepared', \&prepared_case ] => 12,
			[ 'cursor', \&cursor_case ] => 7,  [ 'write', \&write_case ] => 10,
			[ 'merge', \&merge_case ] => 2,    [ 'stale', \&stale_case ] => 2,
			[ 'fallback', \&fallback_case ] => 8, [ 'recheck', \&recheck_case ] => 10) };
	my $case = $make->($query, $server);

	$case->{name} = $name;
	push @{ $case->{settings} }, random_settings($server) if $name !~ /^(?:fallback|recheck)$/;
	$case->{on} = [ random_features() ];
	my $policies = grep { $_->{policy} } @$tables;

	$case->{role} = $role if $name ne 'stale' && chance($policies ? 0.5 : 0.03);
	if ($name eq 'select' && chance(0.35))
	{
		push @{ $case->{settings} }, parallel_settings($server) if chance(0.2);
		s/^\?/*/ foreach @{ $case->{statements} };
	}
	# A small table is read at once, unless that is dear; what is dear of an index
	# is to read each of its rows.
	push @{ $case->{settings} }, 'seq_page_cost', '100', 'random_page_cost', '0.1', 'enable_sort', 'on',
	  'cpu_operator_cost', '0', 'cpu_index_tuple_cost', '0', 'cpu_tuple_cost', '1'
	  if "@{ $case->{statements} }" =~ /SELECT DISTINCT/ && chance(0.8);
	return $case;
}

sub random_features
{
	my @values = chance(0.8) ? ('on') x 3 : map { pick('on', 'off') } 1 .. 3;
	my @settings = map { ($features[$_], $values[$_]) } 0 .. 2;

	push @settings, 'spanner_keys.max_merge_shards', pick(1, 2, 4, 16, 4096) if chance(0.1);
	return @settings;
}

sub random_settings
{
	my ($server) = @_;
	my @settings = (
		'TimeZone', pick('UTC', 'Europe/Berlin', 'America/New_York'));

	push @settings, 'enable_sort', 'off' if chance(0.35);
	push @settings, 'enable_seqscan', 'off' if chance(0.3);
	push @settings, map { ("enable_$_", 'off') } some(1, 4, @switches) if chance(0.35);
	push @settings, 'enable_partitionwise_join', 'on', 'enable_partitionwise_aggregate', 'on' if chance(0.15);
	push @settings, 'random_page_cost', pick(0, 0.1, 1, 1.1) if chance(0.5);
	push @settings, 'seq_page_cost', pick(0, 1, 10, 100) if chance(0.2);
	push @settings, 'cpu_operator_cost', pick(0, 0.0025, 0.1) if chance(0.1);
	push @settings, 'work_mem', '64kB' if chance(0.1);
	push @settings, 'jit', 'on', 'jit_above_cost', '0' if chance(0.002);
	push @settings, 'from_collapse_limit', '1', 'join_collapse_limit', '1' if chance(0.08);
	push @settings, 'geqo_threshold', '2' if chance(0.04);
	push @settings, 'constraint_exclusion', pick('on', 'off') if chance(0.15);
	push @settings, 'enable_presorted_aggregate', 'off' if $server >= 160000 && chance(0.05);
	push @settings, 'enable_self_join_elimination', 'off' if $server >= 180000 && chance(0.1);
	return @settings;
}

sub parallel_settings
{
	my ($server) = @_;
	my @settings = (
		'parallel_setup_cost', '0', 'parallel_tuple_cost', '0', 'min_parallel_table_scan_size', '0',
		'min_parallel_index_scan_size', '0', 'max_parallel_workers_per_gather', '2');

	push @settings, $server >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode', 'on' if chance(0.3);
	push @settings, 'parallel_leader_participation', 'off' if chance(0.3);
	return @settings;
}

sub select_case
{
	my ($query) = @_;
	my ($sql, $mode) = random_query($query);

	return { statements => ["?$sql"], mode => $mode };
}

# PREPARE, and EXECUTE with several sets of values, some of them NULL.
sub prepared_case
{
	my ($query) = @_;

	$query->{params} = [];
	my ($sql, $mode) = random_query($query);
	$mode = 'set' if $mode eq 'keys';
	my ($prepare, @runs) = prepare($query, $sql, pick(1, 2, 3, 7));

	return {
		statements => [ $prepare, @runs ], mode => $mode,
		settings => [ 'plan_cache_mode', pick(('force_generic_plan') x 4, 'auto', 'force_custom_plan') ],
	};
}

sub prepare
{
	my ($query, $sql, $count) = @_;
	my @params = @{ $query->{params} };
	my $types = @params ? ' (' . join(', ', map { $_->{type} } @params) . ')' : '';

	return (
		"!PREPARE p$types AS $sql",
		map {
			my @values = map { $_->{make}->() } @params;
			'?EXECUTE p' . (@values ? ' (' . join(', ', @values) . ')' : '')
		} 1 .. $count);
}

sub cursor_case
{
	my ($query) = @_;
	my ($sql) = random_query($query, 'total');
	my $scroll = $sql =~ / FOR (?:UPDATE|SHARE|NO|KEY)/ ? 'NO SCROLL' : pick('SCROLL', 'SCROLL', 'NO SCROLL', '');
	my @statements;

	# Without a limit there is more to move in.
	$sql =~ s/ LIMIT \d+( OFFSET \d+)?$// if chance(0.7);
	@statements = ("+DECLARE c $scroll CURSOR FOR $sql");
	foreach (1 .. 2 + int(rand(8)))
	{
		my $count = pick(1, 1, 2, 3, 10, 50, $scroll eq 'SCROLL' ? 0 : 1);
		my $forward = pick("FORWARD $count", 'NEXT', "$count");
		my $move = $forward;

		$move = pick("BACKWARD $count", 'PRIOR', 'FIRST', 'LAST', "ABSOLUTE $count", "ABSOLUTE -$count",
			"RELATIVE $count", "RELATIVE -$count", 'FORWARD ALL', 'BACKWARD ALL', $forward, $forward)
		  if $scroll eq 'SCROLL';
		push @statements, chance(0.8) ? "fFETCH $move FROM c" : "xMOVE $move IN c";
	}
	return {
		statements => \@statements, mode => 'total',
		settings => chance(0.5) ? [ 'cursor_tuple_fraction', pick(0.001, 0.1, 1) ] : [],
	};
}

sub writable
{
	my ($query) = @_;
	my @tables = grep { !$_->{is_view} } @{ $query->{tables} };

	return pick(@tables);
}

# SET for a row that stays in accordance with its declaration.
sub assignments
{
	my ($query, $relation) = @_;
	my $table = $relation->{table};
	my %columns = %{ $relation->{columns} };

	return "p = $relation->{alias}.p + 1" if $table->{check} || chance(0.6);
	my ($column) = some(1, 1, grep { $columns{$_} } qw(a b c));

	$column = $columns{$column};
	return "$column->{name} = "
	  . value($query, $column, plain => 1, type => base_type($column->{type}));
}

sub write_case
{
	my ($query) = @_;
	my $table = writable($query);
	my $target = add_relation($query, $table, 't');
	my $from = table_sql($target);
	my $where = chance(0.8) ? lookup($query, $target) : other_condition($query, $target);
	my $returning = ' RETURNING ' . pick('t.*', 't.id, t.p', 't.id, t.tableoid::regclass');
	my $form = weighted(qw(update 5 delete 4 update_from 3 delete_using 3 insert 3 first 2), 'current', $table->{partitioned} ? 0 : 2);
	my @statements;

	if ($form eq 'update')
	{
		@statements = ("?UPDATE $from SET " . assignments($query, $target) . " WHERE $where$returning");
	}
	elsif ($form eq 'delete')
	{
		@statements = ("?DELETE FROM $from WHERE $where$returning");
	}
	elsif ($form =~ /^(update_from|delete_using)$/)
	{
		my $other = add_relation($query, pick(@{ $query->{tables} }));
		my $join = join_condition($query, $target, 0, $other);

		$join .= ' AND ' . other_condition($query, $other) if chance(0.5);
		@statements =
		  $form eq 'update_from'
		  ? "?UPDATE $from SET p = t.p + 1 FROM " . table_sql($other) . " WHERE $join RETURNING t.id, t.p"
		  : "?DELETE FROM $from USING " . table_sql($other) . " WHERE $join RETURNING t.*";
	}
	elsif ($form eq 'insert')
	{
		@statements = (insert_statement($query, $target, $where));
	}
	elsif ($form eq 'first')
	{
		my $first = add_relation($query, $table, 's');
		my @terms = random_order($first);

		$where = 't.id IN (SELECT s.id FROM ' . table_sql($first) . ' ORDER BY '
		  . join(', ', (map { "$_->[0]{sql} $_->[1]" } @terms), 's.id') . ' LIMIT ' . pick(1, 3, 10) . ')';
		@statements = (
			(chance(0.5) ? '?UPDATE ' . $from . ' SET p = 0' : "?DELETE FROM $from") . " WHERE $where RETURNING t.id");
	}
	else
	{
		# Without FOR UPDATE it depends on the plan whether there is a current
		# row, except for scans without a sort.  It is an error that a
		# partition has been pruned.
		my $select = "+DECLARE c CURSOR FOR SELECT t.id FROM $from WHERE ";

		$select .= chance(0.4) ? "t.id = " . (1 + int(rand(40))) : "$where ORDER BY t.id FOR UPDATE";
		@statements = (
			$select,
			'fFETCH NEXT FROM c',
			pick('fUPDATE', 'fDELETE FROM') . " $table->{name} WHERE CURRENT OF c RETURNING id");
		$statements[2] =~ s/(UPDATE \S+)/$1 SET p = 1/;
		push @statements, @statements[ 1, 2 ] if chance(0.5);
	}
	push @statements, "fSELECT * FROM $table->{name}";
	return { statements => \@statements, mode => 'set' };
}

# New rows are copies of old ones, with other ids or in conflict with them.
sub insert_statement
{
	my ($query, $target, $where) = @_;
	my $table = $target->{table};
	my @names = map { $_->{name} } @{ $table->{columns} };
	my @values = map { "t.$_" } @names;
	my $conflict = '';

	if ($table->{check})
	{
		push @names, $table->{shard};
		push @values, "t.$table->{shard}";
	}
	if (chance(0.6))
	{
		$conflict = ' ON CONFLICT DO NOTHING';
		$conflict = " ON CONFLICT ($table->{unique}) DO UPDATE SET p = t.p + 10"
		  if $table->{unique} && chance(0.7);
	}
	my $id = $conflict ne '' && chance(0.6) ? 't.id' : 't.id + 100000';

	return "?INSERT INTO $table->{name} AS t (id, " . join(', ', @names) . ") SELECT $id, "
	  . join(', ', @values) . " FROM $table->{name} t WHERE $where$conflict RETURNING id, p";
}

sub merge_case
{
	my ($query, $server) = @_;
	my $table = writable($query);
	my $target = add_relation($query, $table, 't');
	my $source = add_relation($query, pick(@{ $query->{tables} }), 'o');
	my $join = 't.id = o.id AND ' . join_condition($query, $target, 0, $source);
	my @when = ('WHEN MATCHED AND t.p > 3 THEN DELETE', 'WHEN MATCHED AND t.p = 2 THEN DO NOTHING');
	my $from = $source->{table}{name} . ' o';

	# Rows of a view need not be unique.
	$from = "(SELECT * FROM $source->{table}{name} WHERE src = 1) o" if $source->{table}{keys}[0] eq 'src';
	@when = (some(0, 2, @when), 'WHEN MATCHED THEN UPDATE SET p = t.p + 1');
	if (!$table->{check} && chance(0.5))
	{
		my @columns = @{ $table->{columns} };

		push @when, 'WHEN NOT MATCHED THEN INSERT (id, ' . join(', ', map { $_->{name} } @columns)
		  . ') VALUES (o.id + 200000, '
		  . join(', ', map { value($query, $_->{name} eq 'p' ? $target->{columns}{p} : $_, plain => 1, type => base_type($_->{type})) =~ s/^NULL::.*/DEFAULT/r }
			map { { %$_, values => ($target->{columns}{ $_->{name} }{values}) } } @columns) . ')';
	}
	push @when, 'WHEN NOT MATCHED BY SOURCE AND t.id < 10 THEN DELETE' if $server >= 170000 && chance(0.3);
	my $returning = $server >= 170000 && chance(0.7);

	return {
		statements => [
			($returning ? '?' : '+') . "MERGE INTO " . table_sql($target) . " USING $from ON $join " . join(' ', @when)
			  . ($returning ? ' RETURNING t.id, t.p' : ''),
			"fSELECT * FROM $table->{name}"
		],
		mode => 'set',
	};
}

# A filter that fewer rows pass than the planner believes, where a scan is dear:
# a merge is made, and falls back.
sub fallback_case
{
	my ($query) = @_;
	my $sql = filtered_first($query);
	my $case = { statements => ["?$sql"], mode => 'total', settings => [ fallback_settings() ] };

	$case->{statements} = [ '+DECLARE c SCROLL CURSOR FOR ' . $sql,
		map { 'fFETCH ' . pick('FORWARD', 'FORWARD', 'BACKWARD') . ' ' . pick(1, 3, 20) . ' FROM c' } 1 .. 5 ]
	  if $sql !~ / FOR / && chance(0.2);
	return $case;
}

sub fallback_settings
{
	return (
		'seq_page_cost', pick(3, 10), 'random_page_cost', '0.1', 'max_parallel_workers_per_gather', '0',
		'enable_bitmapscan', pick('on', 'off', 'off'), 'cursor_tuple_fraction', pick(0.01, 0.1));
}

sub filtered_first
{
	my ($query, $condition) = @_;
	my @ordered = grep { @{ $_->{orders} } && ($_->{kind} // 'plain') ne 'plain' } @{ $query->{tables} };
	my $relation = add_relation($query, pick(@ordered ? @ordered : @{ $query->{tables} }));
	my $id = $relation->{columns}{id}{sql};
	my $period = pick(20, 60, 200);
	my @where = ("abs($id % $period - " . int(rand($period)) . ') < ' . pick(1, 2, 5), $condition // ());
	my @terms = map { "$_->[0]{sql} $_->[1]" } random_order($relation);

	push @where, other_condition($query, $relation) if chance(0.2);
	return "SELECT " . join(', ', map { $_->{sql} } map { $relation->{columns}{$_} } sort keys %{ $relation->{columns} })
	  . ' FROM ' . table_sql($relation) . ' WHERE ' . join(' AND ', @where)
	  . ' ORDER BY ' . join(', ', @terms, @{ $relation->{keys} })
	  . (chance(0.9) ? ' LIMIT ' . pick(1, 2, 3, 5, 10, 20) : '') . (chance(0.1) ? ' OFFSET ' . pick(1, 7) : '');
}

# A statement whose row another session changes: what it reads runs again, with
# the new values.  The letter says that planner_fuzz does that.
sub recheck_case
{
	my ($query) = @_;
	my @tables = grep { !$_->{is_view} && $_->{rows} > 0 } @{ $query->{tables} };

	return recheck_table_case($query, pick(@tables)) if @tables && chance(0.7);
	my $subquery = '(SELECT string_agg(x::text, \' \') FROM (' . filtered_first($query, pick('id', 'p') . ' <> changed.v') . ') x)';

	return {
		statements => [
			pick("=UPDATE fuzz.changed SET result = $subquery RETURNING result", "=SELECT $subquery FROM fuzz.changed FOR UPDATE")
		],
		change => 'UPDATE fuzz.changed SET v = 3', undo => 'UPDATE fuzz.changed SET v = -1, result = NULL',
		mode => 'total', settings => [ fallback_settings() ],
	};
}

# The rows are those of a table with shards.  The other session exchanges the
# values of pairs of rows, which changes their shards and partitions; a second
# time undoes it.
sub recheck_table_case
{
	my ($query, $table) = @_;
	my $low = int(rand($table->{rows}));
	my $sum = 2 * $low + pick(1, 5, $table->{rows});
	my @names = $table->{check} ? (qw(a b c p), $table->{shard}) : some(1, 4, qw(a b c p));
	my $exchange = "UPDATE $table->{name} t SET (" . join(', ', @names) . ') = ROW(' . join(', ', map { "o.$_" } @names)
	  . ") FROM $table->{name} o WHERE o.id = $sum - t.id AND t.id >= $low AND o.id >= $low";
	my $first = filtered_first({ %$query, tables => [$table] });
	my $target = add_relation($query, $table, 't');
	my $from = table_sql($target);
	my $where = chance(0.5) ? lookup($query, $target) : other_condition($query, $target);
	my $some = '(' . filtered_first($query, 'p = t.p') . ') x';
	my @order = random_order($target);
	my $page = range_condition($query, $order[0][0]) . ' ORDER BY ' . join(', ', (map { "$_->[0]{sql} $_->[1]" } @order), 't.id');
	my @ordered = (
		("$first FOR UPDATE") x 2, ("SELECT t.* FROM $from WHERE $page LIMIT " . pick(1, 3, 20) . ' FOR UPDATE') x 2,
		"SELECT t.id, t.p, (SELECT string_agg(x::text, ' ') FROM $some) FROM $from WHERE $where ORDER BY t.id FOR UPDATE OF t",
		"SELECT t.id, x::text FROM $from CROSS JOIN LATERAL $some WHERE t.id < 50 ORDER BY t.id, x::text COLLATE \"C\" FOR UPDATE OF t");
	my @written = (
		"UPDATE $from SET p = t.p + 1 WHERE $where RETURNING t.id, t.p", "DELETE FROM $from WHERE $where RETURNING t.*",
		"DELETE FROM $from WHERE t.id IN (SELECT x.id FROM ($first) x) RETURNING t.id",
		"WITH w AS ($first FOR UPDATE) UPDATE $from SET p = 0 FROM w WHERE t.id = w.id RETURNING t.id");
	my $is_ordered = chance(0.6);

	return {
		statements => [ '=' . ($is_ordered ? pick(@ordered) : pick(@written)) ], change => $exchange, undo => $exchange,
		mode => $is_ordered ? 'total' : 'set', settings => [ fallback_settings() ],
	};
}

# A plan that was made before the declaration of the shard went away.
sub stale_case
{
	my ($query) = @_;
	my @tables = grep { $_->{kind} ne 'plain' } grep { !$_->{is_view} } @{ $query->{tables} };
	my $table = @tables ? pick(@tables) : return select_case($query);
	my @change;

	$query->{params} = [];
	$query->{moves} = 1;
	my ($sql, $mode) =
	  chance(0.6) ? (simple_lookup($query, $table), 'set') : random_query({ %$query, tables => [$table] }, 'total');
	my ($prepare, @runs) = prepare($query, $sql, 4);

	if ($table->{check})
	{
		@change = ("!ALTER TABLE $table->{name} DROP CONSTRAINT shard_check");
	}
	elsif ($table->{shard})
	{
		@change = ("!ALTER TABLE $table->{name} ALTER $table->{shard} DROP EXPRESSION");
	}
	push @change, "!UPDATE $table->{name} SET $table->{shard} = ($table->{shard} + 1) % $table->{shards} WHERE id % 3 > 0"
	  if @change;
	@change = ("!DELETE FROM $table->{name} WHERE id % 3 = 0") if !@change;
	return {
		statements => [ $prepare, @runs[ 0, 1 ], @change, @runs[ 2, 3 ] ], mode => $mode,
		settings => [ 'plan_cache_mode', 'force_generic_plan' ],
	};
}

1;
