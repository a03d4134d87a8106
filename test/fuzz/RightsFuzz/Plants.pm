# Plants.pm
#	  Code of each role in every place where some can stand.
#
# Each role has a home schema, which nobody renames, with the code: it says in
# the log who runs it, if that is not the role itself.  Where it is run as the
# role but in a session of somebody else, it tries to get to that user.
#
# An operator class is missing here: only superusers create them.
#
# test/fuzz/RightsFuzz/Plants.pm

package RightsFuzz::Plants;

use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(%home library places place_names labels watch_statements quiet_places
  quiet_statements fill uuid_of);

our %home = map { $_ => "${_}_home" } qw(dbo alice bob mallory);

sub fill
{
	my ($text, %word) = @_;

	return $text =~ s/\{(\w+)\}/$word{$1} \/\/ die "no word for $1\n"/ger;
}

sub uuid_of
{
	my ($number) = @_;

	return "('00000000-0000-4000-8000-' || lpad(($number)::text, 12, '0'))::uuid";
}

# The code itself.  "n()" fits into a name.
sub library
{
	my ($name, $role) = @_;

	return map { fill($_, home => $home{$name}, role => $role) } (
		'CREATE SCHEMA {home}', 'GRANT USAGE ON SCHEMA {home} TO PUBLIC',
		'CREATE TABLE {home}.later (what text)',
		q{CREATE FUNCTION {home}.note(what text) RETURNS boolean LANGUAGE plpgsql AS $$
			BEGIN
				IF current_user <> '{role}' THEN
					RAISE LOG 'PLANTED %: code of {role} ran as % in "%"', what, current_user,
						pg_catalog.current_setting('application_name');
				ELSIF session_user <> '{role}' THEN
					BEGIN
						PERFORM pg_catalog.set_config('role', session_user, true);
						IF current_user <> '{role}' THEN
							RAISE LOG 'PLANTED %: code of {role} became % in "%"', what, current_user,
								pg_catalog.current_setting('application_name');
						END IF;
						RAISE EXCEPTION 'undone';
					EXCEPTION WHEN OTHERS THEN
					END;
					BEGIN
						INSERT INTO {home}.later VALUES (what);
					EXCEPTION WHEN OTHERS THEN
					END;
				END IF;
				RETURN true;
			END $$},
		q{CREATE FUNCTION {home}.n() RETURNS boolean LANGUAGE plpgsql AS
			$$BEGIN RETURN {home}.note('a name'); END$$},
		q{CREATE FUNCTION {home}.fire() RETURNS trigger LANGUAGE plpgsql AS
			$$BEGIN
				PERFORM {home}.note(TG_ARGV[0]);
				RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
			END$$},
		q{CREATE CONSTRAINT TRIGGER later AFTER INSERT ON {home}.later DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION {home}.fire('deferred trigger')},
		q{CREATE FUNCTION {home}.plant(what text, value anyelement) RETURNS anyelement
			LANGUAGE plpgsql IMMUTABLE AS $$BEGIN PERFORM {home}.note(what); RETURN value; END$$},
		q{CREATE FUNCTION {home}.draw(what text, value anyelement) RETURNS anyelement
			LANGUAGE plpgsql AS $$BEGIN PERFORM {home}.note(what); RETURN value; END$$},
		q{CREATE FUNCTION {home}.holds(what text, value anyelement) RETURNS boolean
			LANGUAGE plpgsql IMMUTABLE COST 0.001 AS $$BEGIN RETURN {home}.note(what); END$$},
		q{CREATE DOMAIN {home}.small AS int CHECK ({home}.holds('domain', VALUE))},
		'CREATE TYPE {home}.comp AS (x {home}.small)',
		q{CREATE FUNCTION {home}.to_bigint({home}.comp) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS
			$$BEGIN PERFORM {home}.note('cast'); RETURN 1; END$$},
		'CREATE CAST ({home}.comp AS bigint) WITH FUNCTION {home}.to_bigint({home}.comp)',
		q{CREATE FUNCTION {home}.add(bigint, bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS
			$$BEGIN PERFORM {home}.note('operator or aggregate'); RETURN $1 + $2; END$$},
		'CREATE OPERATOR {home}.+ (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = {home}.add)',
		q{CREATE AGGREGATE {home}.total(bigint) (SFUNC = {home}.add, STYPE = bigint, INITCOND = '0')},
		# the body is parsed when the call is planned
		q{CREATE FUNCTION {home}.inlined(bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
			$$SELECT $1 + 0 * pg_catalog.length((('(1)'::{home}.comp)::text))$$});
}

# Relations of a role in a schema, each with code in some place; "column" is
# the type of the key.  What is "parsed" runs whenever a text with it is parsed.
my %places = (
	p_index => [
		'CREATE TABLE {s}.{t} (id {column} PRIMARY KEY, v text)',
		q{CREATE INDEX ON {s}.{t} (({home}.plant('index expression', 'x'::text) || v))},
		q{CREATE INDEX ON {s}.{t} (({home}.plant('index expression of a row', id)))},
		q{CREATE INDEX ON {s}.{t} ((v || {parsed}::text))},
		q{CREATE INDEX ON {s}.{t} (v) WHERE {home}.holds('index predicate', 1)},
		q{CREATE INDEX ON {s}.{t} (v) WHERE {home}.holds('index predicate of a row', v) AND {parsed}},
		q{CREATE STATISTICS {s}.{t}_statistics
			ON ({home}.plant('statistics', v)), id FROM {s}.{t}} ],
	p_operator => [
		'CREATE TABLE {s}.{t} (id bigint PRIMARY KEY, v text)',
		'CREATE INDEX ON {s}.{t} ((id OPERATOR({home}.+) 1))',
		'CREATE INDEX ON {s}.{t} ((1 OPERATOR({home}.+) 1))',
		'CREATE INDEX ON {s}.{t} (({home}.inlined(2)))' ],
	p_check => [
		q{CREATE TABLE {s}.{t} (id {column} PRIMARY KEY CHECK ({home}.holds('check', id) AND {parsed}),
			v text DEFAULT {home}.plant('default', 'x'::text) || {parsed}::text,
			small {home}.small DEFAULT 1,
			cast_from bigint DEFAULT ('(1)'::{home}.comp)::bigint)} ],
	p_serial => [
		q{CREATE TABLE {s}.{t} (id bigserial PRIMARY KEY, v text, CHECK ({home}.holds('check', 1)))},
		q{ALTER TABLE {s}.{t} ALTER id
			SET DEFAULT nextval('{s}.{t}_id_seq')
				+ {home}.draw('default that draws', 0) + 0 * {parsed}::int},
		q{CREATE INDEX ON {s}.{t} (({home}.plant('index of a serial', 1::bigint) + id))} ],
	p_generated => [
		q{CREATE TABLE {s}.{t} (id {column} PRIMARY KEY, v text,
			g text GENERATED ALWAYS AS
			({home}.plant('generated column', 'x'::text) || v || {parsed}::text) STORED)} ],
	p_policy => [
		'CREATE TABLE {s}.{t} (id {column} PRIMARY KEY, v text)',
		q{CREATE POLICY p ON {s}.{t} USING ({home}.holds('policy', v) AND {parsed})
			WITH CHECK ({home}.holds('policy check', 1))},
		'ALTER TABLE {s}.{t} ENABLE ROW LEVEL SECURITY',
		'ALTER TABLE {s}.{t} FORCE ROW LEVEL SECURITY' ],
	p_trigger => [
		'CREATE TABLE {s}.{t} (id {column} PRIMARY KEY, v text)',
		q{CREATE TRIGGER a BEFORE INSERT OR UPDATE OR DELETE ON {s}.{t} FOR EACH ROW
			WHEN ({parsed}) EXECUTE FUNCTION {home}.fire('row trigger')},
		q{CREATE TRIGGER b BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON {s}.{t}
			EXECUTE FUNCTION {home}.fire('trigger')},
		q{CREATE CONSTRAINT TRIGGER c AFTER INSERT OR UPDATE ON {s}.{t} DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION {home}.fire('constraint trigger')} ],
	p_rule => [
		'CREATE TABLE {s}.{t} (id {column} PRIMARY KEY, v text)',
		q{CREATE RULE a AS ON INSERT TO {s}.{t} DO ALSO SELECT {home}.holds('rule', 1) AND {parsed}},
		q{CREATE RULE b AS ON UPDATE TO {s}.{t} DO ALSO SELECT {home}.holds('rule of an update', 1)} ],
	p_partitioned => [
		q{CREATE TABLE {s}.{t} (id bigint, v text)
			PARTITION BY RANGE (({home}.plant('partition key', id) + 0 * {parsed}::int))},
		'CREATE TABLE {s}.{t}_p0 PARTITION OF {s}.{t} FOR VALUES FROM (MINVALUE) TO (1000)' ],
	p_view => [
		q{CREATE VIEW {s}.{t} AS
			SELECT i AS id, {home}.plant('view', 'x'::text) AS v, '(1)'::{home}.comp AS c,
			(SELECT {home}.total(j) FROM generate_series(1, 2) j) AS total
			FROM generate_series(1, 5) i WHERE {home}.holds('view condition', i)} ],
	p_matview => [
		q{CREATE MATERIALIZED VIEW {s}.{t} AS
			SELECT i::{column} AS id, {home}.draw('materialized view', 'x'::text) AS v
			FROM (VALUES ({one}), ({two})) x (i)},
		q{CREATE INDEX ON {s}.{t}
			(({home}.plant('index of a materialized view', 'x'::text) || v))} ],
	p_modulus => [
		q{CREATE TABLE {s}.{t} (id bigint, v text, PRIMARY KEY (shard_id, id), shard_id bigint
			GENERATED ALWAYS AS
			(abs(mod(spanner.farm_fingerprint(id::text), {home}.plant('modulus', 4)))) STORED)} ],
	p_shards => [
		q{CREATE TABLE {s}.{t} (id bigint, v text, PRIMARY KEY (shard_id, id), shard_id int
			GENERATED ALWAYS AS (spanner.shard_id({home}.plant('shards', 4), id)) STORED)} ],
	p_shard_check => [
		q{CREATE TABLE {s}.{t} (id bigint PRIMARY KEY, v text, shard_id int,
			CHECK (shard_id = spanner.shard_id({home}.plant('shards of a check', 4), id)))} ],
	p_key => [
		q{CREATE TABLE {s}.{t} (id bigint, v text, PRIMARY KEY (shard_id, id), shard_id int
			GENERATED ALWAYS AS
			(spanner.shard_id(4, {home}.plant('key of a shard', 1::bigint) + id)) STORED)} ]);

my %types = (
	bigint => [ 1, 2 ], uuid => [ uuid_of(1), uuid_of(2) ], text => [ q{'x1'}, q{'x2'} ],
	timestamptz => [ q{'2024-01-01'::timestamptz}, q{'2024-01-02'::timestamptz} ]);

# Statements that make the relations; %option may say which column types, names
# and places.  Tables get two rows.
sub places
{
	my (%option) = @_;
	my $home = $home{ $option{owner} };
	my @statements;

	foreach my $place (@{ $option{places} // [ sort keys %places ] })
	{
		my $table = $option{name} // $place;
		my $template = $places{$place};
		my $type = $option{column} && $template->[0] =~ /\{column\}/ ? $option{column} : 'bigint';
		my %word = (
			home => $home, parsed => "('(1)'::$home.comp IS NOT NULL AND '{1}'::$home.small[] IS NOT NULL)",
			s => $option{schema}, t => $table, column => $type,
			one => $types{$type}[0], two => $types{$type}[1]);

		push @statements, map { fill($_, %word) } @$template;
		push @statements, fill(q{INSERT INTO {s}.{t} (id, v) VALUES ({one}, 'x1'), ({two}, 'x2')}, %word)
		  if $place !~ /view/;
	}
	return @statements;
}

sub place_names
{
	my @names = sort keys %places;

	return @names;
}

# Where the code stands, by what it says.  ANALYZE and REFRESH run theirs as
# the owner.
sub labels
{
	return grep { !/^(?:statistics|materialized view)$/ }
	  map { /(?:plant|draw|holds|fire)\('([^']+)'/g } map { @$_ } values %places;
}

# A role that does these runs the code of all places.
sub watch_statements
{
	my ($schema) = @_;

	return map {
		my $table = "$schema.$_";
		my $columns = /serial/ ? '(v)' : '(id)';

		("SELECT * FROM $table",
			/view/ ? () : ("INSERT INTO $table $columns VALUES ('77')", "UPDATE $table SET v = 'y'"))
	} sort keys %places;
}

# Code that PostgreSQL runs when rows are written, and at no other time.
sub quiet_places
{
	return qw(p_generated p_modulus p_shards p_shard_check p_key p_trigger p_rule);
}

# Statements in which PostgreSQL runs no such code, which the test shows in a
# database without the extension.
sub quiet_statements
{
	my ($schema) = @_;

	return map {
		my $table = "$schema.$_";

		("EXPLAIN SELECT * FROM $table WHERE id = 3",
			"EXPLAIN SELECT id FROM $table WHERE id IN (1, 2) ORDER BY id LIMIT 3",
			"SELECT count(*) FROM $table WHERE id = 1", "ALTER TABLE $table ADD COLUMN added int",
			"ALTER TABLE $table ALTER v SET STATISTICS 10", "COMMENT ON TABLE $table IS 'x'",
			"ALTER TABLE $table RENAME v TO w")
	} quiet_places();
}

1;
