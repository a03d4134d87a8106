# Functions.pm
#	  The functions of the extension, as pg_proc lists them, and calls of them.
#
# A call is made from what its arguments are about: words of a hash such as
# "relation", "column" and "server".  The names and types of the arguments, and
# nothing else, tell which word fits.  What is not bound keeps its default, or
# is random.
#
# test/fuzz/RightsFuzz/Functions.pm

package RightsFuzz::Functions;

use strict;
use warnings;

use FunctionFuzz::Values;
use PlannerFuzz::Random qw(chance pick quote);

# What fits most arguments of a type, where nothing is random.
my %plain = (
	integer => 4, smallint => 1, bigint => 5, text => q{'x'}, name => q{'x'}, boolean => 'true',
	'double precision' => 1, oid => 0, regtype => q{'bigint'}, 'timestamp with time zone' => 'now()',
	'text[]' => q{'{}'}, interval => q{'1 h'}, jsonb => q{'{}'},
	regprocedure => q{'pg_catalog.nextval(regclass)'});

# How deep arguments may be calls of other functions.
my $max_depth = 3;

my $list = q{
	SELECT p.oid, n.nspname || '.' || quote_ident(p.proname), p.prokind, p.proretset,
		format_type(p.prorettype, NULL), p.provariadic = '"any"'::regtype,
		coalesce(array_to_string(outs.names, ','), ''), coalesce(array_to_string(ins.arguments, ','), '')
	FROM pg_proc p
	JOIN pg_namespace n ON n.oid = p.pronamespace
	CROSS JOIN LATERAL (
		SELECT coalesce(p.proargmodes, array_fill('i'::"char", ARRAY[p.pronargs::int]))) m (modes)
	CROSS JOIN LATERAL (
		SELECT array_agg(p.proargnames[i] ORDER BY i)
		FROM generate_subscripts(m.modes, 1) i WHERE m.modes[i] IN ('o', 't')) outs (names)
	CROSS JOIN LATERAL (
		SELECT array_agg(concat_ws(';', coalesce(p.proargnames[x.i], ''),
			format_type(p.proargtypes[x.n - 1], NULL),
			(x.n > p.pronargs - p.pronargdefaults)::int) ORDER BY x.n)
		FROM (SELECT i, row_number() OVER (ORDER BY i) AS n FROM generate_subscripts(m.modes, 1) i
			WHERE m.modes[i] IN ('i', 'b', 'v')) x) ins (arguments)
	WHERE n.nspname IN ('spanner', 'spanner_internal')
	AND p.prorettype <> ALL ('{internal,trigger,event_trigger}'::regtype[])
	AND p.prokind <> 'a' AND NOT 'internal'::regtype = ANY (p.proargtypes::regtype[])
	ORDER BY n.nspname, p.proname, p.oid};

# Composite types, and which of their columns have which types
my $composites = q{
	SELECT t.oid::regtype, a.attname, format_type(a.atttypid, NULL)
	FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
	JOIN pg_attribute a ON a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
	WHERE n.nspname IN ('spanner', 'spanner_internal') ORDER BY 1, a.attnum};

sub new
{
	my ($class, $session) = @_;
	my $self = bless { functions => [] }, $class;

	foreach my $line ($session->must($list))
	{
		my ($oid, $name, $kind, $is_set, $returns, $takes_any, $outs, $arguments) =
		  split(/\|/, $line, -1);

		push @{ $self->{functions} },
		  {
			oid => $oid,
			name => $name,
			is_procedure => $kind eq 'p',
			is_set => $is_set eq 't',
			takes_any => $takes_any eq 't',
			returns => $returns,
			outs => [ split(/,/, $outs) ],
			arguments => [ map { [ split(/;/) ] } split(/,/, $arguments) ]
		  };
	}
	foreach my $line ($session->must($composites))
	{
		my ($type, $column, $column_type) = split(/\|/, $line);

		push @{ $self->{columns}{$column_type} }, [ $type, $column ];
	}
	die "there are no functions\n" if !@{ $self->{functions} };
	$_->{prints} = prints($_), $_->{is_about} = is_about($_) foreach @{ $self->{functions} };
	return $self;
}

# The column with statements that somebody is to run.
sub prints
{
	my ($function) = @_;
	my ($out) = grep { /^(?:statement|suggestion)$/ } @{ $function->{outs} };

	return $out if $out;
	return 'statement' if $function->{is_set} && $function->{returns} eq 'text'
	  && grep({ $_->[0] eq 'dry_run' } @{ $function->{arguments} });
	return '';
}

# Which sort of object it is called for, if any.
sub is_about
{
	my ($function) = @_;
	my @arguments = @{ $function->{arguments} };

	# ... or for a statement about one
	return 'relation' if grep { $_->[1] =~ /^(?:regclass|oid)$/ || $_->[0] eq 'statement' } @arguments;
	return 'server' if grep { $_->[0] =~ /server/ } @arguments;
	return 'name' if grep { $_->[1] eq 'name' } @arguments;
	return 'made' if grep { $_->[1] =~ /^(?:spanner|jsonb|pg_node_tree)/ } @arguments;
	return 'value';
}

sub all
{
	my ($self, $condition) = @_;

	return grep { $condition->() } @{ $self->{functions} };
}

# By their names without schemas, if there are any.
sub named
{
	my ($self, @names) = @_;
	my %is_wanted = map { $_ => 1 } @names;

	return grep { $is_wanted{ $_->{name} =~ s/.*\.//r } } @{ $self->{functions} };
}

sub relation_word
{
	my ($name, $bind) = @_;

	return $name =~ /^seq/ && defined $bind->{sequence} ? 'sequence'
	  : $name =~ /index/ ? 'index'
	  : $name =~ /type|coll/ ? ''
	  : 'relation';
}

# The word for an argument.
sub bound
{
	my ($argument, $bind) = @_;
	my ($name, $type) = @$argument;
	my $word =
	    defined $bind->{$name} ? $name
	  : $type =~ /^(?:regclass|oid)$/ ? relation_word($name, $bind)
	  : $name eq 'after' ? 'relation'
	  : $name =~ /server/ ? 'server'
	  : $type =~ /^(?:name|text)$/ && $name =~ /column|order_by/ ? 'column'
	  : $type eq 'name[]' ? 'column'
	  : $name =~ /^(?:schema|table)name$/ || $name =~ /^schema$/ ? $name =~ s/name$//r
	  : '';
	my $value = $bind->{$word};

	return undef if !defined $value;
	$value = "$value\::regclass" if $type eq 'oid' && $value =~ /^'/;
	$value = "ARRAY[$value]::name[]" if $type eq 'name[]' && $value !~ /^(?:ARRAY|'\{|NULL)/;
	return "($value)::$type";
}

# A value of a type that only functions of the extension make.
sub made
{
	my ($self, $type, $bind, $depth) = @_;
	my @makers = $self->all(sub { $_->{returns} eq $type && !$_->{is_set} && !$_->{is_procedure} });
	my $element = $type =~ s/\[\]$//r;

	return "NULL::$type" if $depth > $max_depth;
	return $self->call(pick(@makers), $bind, $depth + 1) if @makers;
	foreach my $holder (@{ $self->{columns}{$type} // [] })
	{
		return '(' . $self->made($holder->[0], $bind, $depth + 1) . ").$holder->[1]";
	}
	return '(' . $self->made("${type}[]", $bind, $depth + 1) . ')[1]'
	  if $type eq $element && $self->{columns}{"${type}[]"};
	return "NULL::$type";
}

# An expression that calls a function; random arguments where $bind has no words.
sub call
{
	my ($self, $function, $bind, $depth) = @_;
	my @arguments;

	return "$function->{name}(4, " . join(', ', map { any_value() } 1 .. pick(1, 2)) . ')'
	  if $function->{takes_any};
	foreach my $argument (@{ $function->{arguments} })
	{
		my ($name, $type, $has_default) = @$argument;
		my $value = bound($argument, $bind);

		next if !defined $value && $has_default && (!$bind->{random} || chance(0.6));
		$value //= $type =~ /^spanner|^jsonb$/ ? $self->made($type, $bind, $depth // 0)
		  : $type eq 'pg_node_tree' ? expression($bind)
		  : !$bind->{random} && defined $plain{$type} ? "($plain{$type})::$type"
		  : value($type, $name);
		push @arguments, $name eq '' ? $value : "\"$name\" => $value";
	}
	return "$function->{name}(" . join(', ', @arguments) . ')';
}

# An expression that the catalogs have of a relation
sub expression
{
	my ($bind) = @_;
	my $relation = ($bind->{relation} // '0') . '::regclass';

	return pick(
		"(SELECT adbin FROM pg_attrdef WHERE adrelid = $relation ORDER BY adnum DESC LIMIT 1)",
		"(SELECT conbin FROM pg_constraint
			WHERE conrelid = $relation AND conbin IS NOT NULL LIMIT 1)",
		"(SELECT indexprs FROM pg_index
			WHERE indrelid = $relation AND indexprs IS NOT NULL LIMIT 1)",
		"(SELECT partexprs FROM pg_partitioned_table WHERE partrelid = $relation)");
}

# A statement with the call, whose result is shown.
sub statement
{
	my ($self, $function, $bind) = @_;
	my $call = $self->call($function, $bind);

	return $function->{is_procedure} ? "CALL $call" : "SELECT * FROM $call";
}

# A query of the statements that are printed for a server, here by default, in
# their order.
sub printing
{
	my ($self, $function, $bind, $server) = @_;
	my $call = $self->call($function, $bind);
	my %is_out = map { $_ => 1 } @{ $function->{outs} };
	my $column = %is_out ? $function->{prints} : 'x.x';

	my $where = $is_out{server} && $is_out{statement} ? ' WHERE server ' : '';

	$where .= $server ? "= '$server'" : 'IS NULL' if $where;
	return "SELECT $column FROM $call x$where";
}

1;
