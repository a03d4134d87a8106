# Names.pm
#	  Names that end a quotation, and another server that does not tell the
#	  truth.
#
# test/fuzz/RightsFuzz/Names.pm

package RightsFuzz::Names;

use strict;
use warnings;
use Exporter 'import';

use PlannerFuzz::Random qw(quote);
use RightsFuzz::Server;

our @EXPORT = qw($app $far $liar $control odd_names identifier lies lying_views);

our ($app, $far, $liar, $control) = ($RightsFuzz::Server::app, $RightsFuzz::Server::far,
	$RightsFuzz::Server::liar, $RightsFuzz::Server::control);

# The tags of dollar quotes that functions of the extension use
my $tags = q{
	SELECT DISTINCT (regexp_matches(prosrc, '\$[a-z_]*\$', 'g'))[1]
	FROM pg_proc WHERE pronamespace::regnamespace::text ~ '^spanner' ORDER BY 1};

# What another server says of columns, instead of "id bigint"
my @lies = (
	'id bigint); SELECT mallory_home.n(); --', 'id bigint DEFAULT mallory_home.n()::int',
	q{id bigint CHECK (('(1)'::mallory_home.comp IS NOT NULL))}, q{'; SELECT mallory_home.n(); --},
	'$$; SELECT mallory_home.n(); --', 'id bigint NOT NULL');

sub identifier
{
	my ($name) = @_;

	return '"' . $name =~ s/"/""/gr . '"';
}

# Names with a call in them, which runs if the name gets out of quotes of any
# sort.
sub odd_names
{
	my ($server, $call) = @_;
	my @odd = (
		"';select $call;--", "\";select $call;--", "')\n;select $call\n;--", "'||$call||'",
		"\\';select $call;--", "%s%I%L\$1\";select $call;--", "*/;select $call;--");

	# all of it, as long as a name can be
	push @odd, "'\"\\)\n%s\$1;select $call;--";
	$odd[-1] = "\x{c3}\x{a4}" x int((63 - length($odd[-1])) / 2) . $odd[-1];

	foreach my $tag ('$$', $server->must_as('superuser', $app, $tags))
	{
		my $name = "$tag;select $call;do ${tag}begin null;end";

		push @odd, length($name) <= 60 ? $name : "$tag;select $call;--";
	}
	return grep { length($_) <= 63 } @odd;
}

sub lies
{
	return @lies;
}

# A description of a table in which every part is a lie.
sub description
{
	my ($text) = @_;
	my $part = "jsonb_build_object('name', $text, 'type', $text, 'default', $text, 'expression', $text, 'definition', $text)";

	return "jsonb_build_object('owner', $text, 'columns', jsonb_build_array(jsonb_build_object('name', 'id', 'type', $text,"
	  . " 'default', $text, 'generated', $text)), "
	  . join(', ', map { "'$_', jsonb_build_array($part)" } qw(checks keys indexes grants)) . ')';
}

# The views that split functions ask another server for, as they are here, but
# with other contents.  Each says who asks.
sub lying_views
{
	my ($run, $server, $schema, $table, $text) = @_;
	my %columns;
	my %told = (
		schemaname => quote($schema), tablename => quote($table), relkind => q{'r'},
		replica_identity => q{'d'}, wal_level => q{'logical'}, extension_version => q{'1.0'},
		moves => q{'{}'}, identity_columns => q{'{}'});
	my @lines = $server->must_as('superuser', $app, q{
		SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
		WHERE c.relnamespace = 'spanner_internal'::regnamespace AND c.relkind = 'v' AND c.relname ~ '^split_'
		ORDER BY c.relname, a.attnum});

	foreach my $line (@lines)
	{
		my ($view, $column, $type) = split(/\|/, $line);
		my $value = $told{$column}
		  // ($type eq 'text[]' ? 'ARRAY[' . quote($text) . ']'
			: $type eq 'text' ? quote($text)
			: $type eq 'pg_lsn' ? q{'0/1'}
			: $type eq 'jsonb' ? description(quote($text))
			: 1);

		push @{ $columns{$view} }, "($value)::$type AS $column";
	}
	die "nothing is asked of another server\n" if !%columns;
	return (
		'DROP SCHEMA IF EXISTS spanner_internal CASCADE', 'CREATE SCHEMA spanner_internal',
		'GRANT USAGE ON SCHEMA spanner_internal TO PUBLIC',
		map {
			("CREATE VIEW spanner_internal.$_ AS SELECT " . join(', ', @{ $columns{$_} })
				  . q{ WHERE mallory_home.holds('another server', 1)},
				"GRANT SELECT ON spanner_internal.$_ TO PUBLIC")
		} sort keys %columns);
}

1;
