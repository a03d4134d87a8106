# What an attacker cannot do: see docs/security.md.  The functions of the
# extension, its views and the objects that are planted come from the
# catalogs, so that whatever is new is tested, or has to be added here.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('security');

$node->init;
$node->append_conf('postgresql.conf', q{
autovacuum = off
log_min_messages = warning
spanner_keys.allocator_idle_timeout = 200ms
wal_level = logical});
$node->start;

my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

# Run SQL as a role, in a session of its own; dies if it fails.
sub run_as
{
	my ($role, $sql, $database) = @_;

	return $node->safe_psql($database || 'app', $sql, extra_params => [ '-U', $role ]);
}

sub refused
{
	my ($role, $sql, $message, $name, $database) = @_;
	my ($result, $out, $err) = $node->psql($database || 'app', $sql,
		extra_params => [ '-U', $role ], on_error_stop => 1);

	isnt($result, 0, "$name: refused");
	like($err, $message, $name);
	return;
}

# What the server has written since a place in its log.
sub log_since
{
	my ($offset) = @_;

	return substr(slurp_file($node->logfile), $offset);
}

sub log_place
{
	return -s $node->logfile;
}

$node->safe_psql(
	'postgres', q{
	CREATE ROLE db_owner LOGIN;
	CREATE ROLE attacker LOGIN;
	CREATE ROLE stranger LOGIN;
	CREATE DATABASE app OWNER db_owner;
	CREATE DATABASE bait OWNER db_owner;
	CREATE DATABASE bare;});
run_as('db_owner', 'GRANT CREATE ON DATABASE app TO attacker; GRANT CREATE ON SCHEMA public TO attacker', $_)
  foreach qw(app bait);

# A schema that somebody else has prepared
my $in_use = qr/schema "spanner(?:_internal)?" already exists/;

foreach my $schema ('spanner', 'spanner_internal')
{
	run_as('attacker', "CREATE SCHEMA $schema");
	refused($_, 'CREATE EXTENSION spanner_keys', $in_use, "schema $schema prepared, $_ installs") foreach $superuser, 'db_owner';
	run_as('attacker', "DROP SCHEMA $schema");
}
run_as('db_owner', "CREATE EXTENSION $_") foreach qw(spanner_keys spanner_keys_ddl spanner_keys_advisor spanner_keys_splits);

# Nobody but a superuser can put another table or function in the place of the
# extension's: statements find them by name, and run as their owner.
is( $node->safe_psql('app', q{
		SELECT DISTINCT pg_get_userbyid(o.owner) FROM (
			SELECT nspowner AS owner FROM pg_namespace WHERE nspname ~ '^spanner'
			UNION ALL SELECT relowner FROM pg_class WHERE relnamespace::regnamespace::text ~ '^spanner'
			UNION ALL SELECT proowner FROM pg_proc WHERE pronamespace::regnamespace::text ~ '^spanner'
			UNION ALL SELECT evtowner FROM pg_event_trigger) o}),
	$superuser, 'schemas, tables, functions and event triggers belong to a superuser');
foreach my $role (qw(attacker db_owner))
{
	foreach my $schema ('spanner', 'spanner_internal')
	{
		refused($role, "ALTER SCHEMA $schema RENAME TO gone", qr/must be owner of schema $schema/, "$role renames $schema");
		refused($role, "CREATE TABLE $schema.trap ()", qr/permission denied for schema $schema/, "$role creates in $schema");
	}
	refused($role, 'ALTER TABLE spanner.allocator DROP COLUMN mode', qr/must be owner of table allocator/, "$role alters the table");
	refused($role, 'CREATE TRIGGER t AFTER UPDATE ON spanner.allocator EXECUTE FUNCTION spanner_internal.on_allocator_write()',
		qr/permission denied for table allocator/, "$role puts a trigger on it");
	refused($role, 'CREATE OR REPLACE FUNCTION spanner.lastval() RETURNS bigint RETURN 1',
		qr/permission denied for schema spanner/, "$role replaces a function");
}
refused('attacker', 'DROP SCHEMA spanner CASCADE', qr/must be owner of schema spanner/, 'somebody drops the schema');

# What is claimed of functions
my $members = q{
	FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
	JOIN pg_extension x ON x.oid = d.refobjid AND x.extname ~ '^spanner_keys'};

# One makes dblink where the path of its caller says, and qualifies every name.  So do those for all
# types, which can have no other body, and are no expression any more with a setting.
is( $node->safe_psql('app', "SELECT count(*) $members WHERE p.proname <> 'receive_allocator' AND (p.prosecdef
	OR p.prolang NOT IN (SELECT oid FROM pg_language WHERE lanname IN ('c', 'internal')) AND p.prosqlbody IS NULL
	AND p.prokind NOT IN ('a', 'p') AND NOT COALESCE('search_path=pg_catalog, pg_temp' = ANY (p.proconfig), false)
	AND NOT (p.provolatile = 'i' AND EXISTS (SELECT FROM unnest(p.proargtypes::regtype[]) t WHERE t::text ~ '^any')))"),
	0, 'no function runs with the rights of its owner, none has a body that depends on search_path');
is( $node->safe_psql('app', "SELECT string_agg(p.oid::regprocedure::text, ' ' ORDER BY p.oid::regprocedure::text) $members AND p.proleakproof"),
	'spanner.bit_reverse(bigint,boolean) spanner.farm_fingerprint(bytea) spanner.farm_fingerprint(text) spanner.shard_id(integer,"any") spanner_internal.lower(text) spanner_internal.upper(text)',
	'functions that are leakproof');

# Every query that C code runs is known: a new file has to be looked at.
# What flex and bison make of a file counts as that file.
my %runs_sql;
foreach my $file (glob 'src/*/*.[cly]')
{
	$runs_sql{ $file =~ s{src/(.*)\..}{$1}r } = 1 if slurp_file($file) =~ /SPI_(execute|prepare)|sk_query_/;
}
is_deeply([ sort keys %runs_sql ],
	[
		qw(advisor/sample allocator/commands allocator/number_rows
		sequence/sequence sequence/sequence_change sequence/sequence_commands spanner_ddl/catalog spanner_ddl/expired
		spanner_ddl/objects spanner_ddl/scanner spanner_ddl/tables spi/relation_query spi/run_command splits/splits)
	],
	'files that run SQL');

# The trap: a copy of what pg_catalog offers, which tells who runs it.
$node->safe_psql(
	'app', q{
	CREATE SCHEMA trap AUTHORIZATION attacker;
	GRANT USAGE ON SCHEMA trap TO PUBLIC;
	SET ROLE attacker;
	CREATE TABLE trap.planted (kind text, name text);
	CREATE FUNCTION trap.run(name text) RETURNS boolean LANGUAGE plpgsql AS $$
	BEGIN
		RAISE WARNING 'trapped % by %', current_user, name;
		RAISE EXCEPTION 'trapped';
	END $$;
	DO $do$
	DECLARE
		planted record;
		body text := $f$ LANGUAGE plpgsql AS $$BEGIN PERFORM trap.run('%s'); RETURN%s; END$$ $f$;
	BEGIN
		FOR planted IN
			SELECT 'function' AS kind, p.proname AS name,
				format('CREATE FUNCTION trap.%I(%s) RETURNS %s%s' || body,
					p.proname, oidvectortypes(p.proargtypes), CASE WHEN p.proretset THEN 'SETOF ' END,
					format_type(p.prorettype, NULL), p.proname,
					CASE WHEN NOT p.proretset AND p.prorettype <> 'void'::regtype THEN ' NULL' END) AS command
			FROM pg_proc p
			WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f'
			AND NOT ARRAY['internal', 'cstring', 'trigger', 'event_trigger', '"any"']::regtype[] && (p.prorettype || p.proargtypes::oid[])::regtype[]
			UNION ALL
			SELECT 'operator', o.oprname,
				format('CREATE FUNCTION trap.operator_%s(%s) RETURNS %s' || body
					|| '; CREATE OPERATOR trap.%s (%s RIGHTARG = %s, FUNCTION = trap.operator_%s)',
					o.oid, concat_ws(', ', format_type(NULLIF(o.oprleft, 0), NULL), format_type(o.oprright, NULL)),
					format_type(o.oprresult, NULL), o.oprname, ' NULL', o.oprname,
					'LEFTARG = ' || format_type(NULLIF(o.oprleft, 0), NULL) || ',', format_type(o.oprright, NULL), o.oid)
			FROM pg_operator o WHERE o.oprnamespace = 'pg_catalog'::regnamespace
			UNION ALL
			SELECT 'type', t.typname,
				format('CREATE DOMAIN trap.%I AS pg_catalog.%I CHECK (trap.run(%L))', t.typname, t.typname, t.typname)
			FROM pg_type t WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype = 'b' AND t.typelem = 0
			UNION ALL
			SELECT 'relation', c.relname, format('CREATE VIEW trap.%I AS SELECT trap.run(%L)', c.relname, c.relname)
			FROM pg_class c WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v')
		LOOP
			BEGIN
				EXECUTE planted.command;
				INSERT INTO trap.planted VALUES (planted.kind, planted.name);
			EXCEPTION WHEN OTHERS THEN
				-- plpgsql does not take every pseudo-type, types share names with relations
			END;
		END LOOP;
	END $do$;
	CREATE AGGREGATE trap.count(*) (SFUNC = int8inc, STYPE = bigint, INITCOND = '0', FINALFUNC = trap.abs);
	CREATE AGGREGATE trap.max(bigint) (SFUNC = trap.int8larger, STYPE = bigint);
	CREATE AGGREGATE trap.min(bigint) (SFUNC = trap.int8smaller, STYPE = bigint);});
foreach ([ 'function', 1500 ], [ 'operator', 600 ], [ 'type', 40 ], [ 'relation', 100 ])
{
	my ($kind, $least) = @$_;

	cmp_ok($node->safe_psql('app', "SELECT count(*) FROM trap.planted WHERE kind = '$kind'"),
		'>=', $least, "planted: $kind");
}

# The objects that the functions are called for, and a call for each function
$node->safe_psql(
	'app', q{
	CREATE TABLE t (id bigserial PRIMARY KEY, v text);
	CREATE TABLE other (id bigserial PRIMARY KEY, v text, number bigint);
	CREATE TABLE identity (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, v text);
	CREATE TABLE parted (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
	CREATE TABLE whole (id bigint PRIMARY KEY) PARTITION BY RANGE (id);
	CREATE TABLE whole_part PARTITION OF whole DEFAULT;
	CREATE TABLE sharded (shard_id int GENERATED ALWAYS AS (spanner.shard_id(4, id)) STORED, id bigint, v text,
		PRIMARY KEY (shard_id, id));
	CREATE TABLE numbered (id bigint);
	INSERT INTO t (v) SELECT 'x' FROM generate_series(1, 200); INSERT INTO other (v) SELECT 'x' FROM generate_series(1, 200);
	INSERT INTO sharded (id, v) SELECT i, 'x' FROM generate_series(1, 200) i;
	CREATE CONSTRAINT TRIGGER number AFTER INSERT ON numbered DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('at_commit', 'id');
	CREATE SCHEMA converted; CREATE TABLE converted.t (id serial);
	CREATE TABLE adopted (id bigint PRIMARY KEY, v text);
	CREATE EXTENSION postgres_fdw; CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw;
	CREATE USER MAPPING FOR CURRENT_USER SERVER far;
	CREATE TABLE divided (id bigint, v text) PARTITION BY RANGE (id); CREATE TABLE divided_p0 PARTITION OF divided FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
	CREATE FOREIGN TABLE far_away (id bigint) SERVER far OPTIONS (table_name 'other');
	INSERT INTO divided SELECT i, 'x' FROM generate_series(1, 200) i; ANALYZE;});

$node->safe_psql('app', sprintf(q{ALTER SERVER far OPTIONS (ADD host '%s', ADD port '%s', ADD dbname 'app')}, $node->host, $node->port));

my %calls = (
	add_shard_key => [ q{'public.t'}, q{'public.t', dry_run => false}, q{'public.t', '{id}'::pg_catalog.name[]}, q{'public.t', 'id'} ],
	advance_allocator => [ q{'a', 10}, q{'a', 10, 'x'} ], all_shards => [ '4' ],
	advise => [ '', q{'public.t'}, q{'public.other'}, q{target => 'citus'} ],
	alter_allocator => [ q{'a', batch_size => 3} ],
	alter_sequence => [ q{'public.s', skip_range_min => 1, skip_range_max => 9} ],
	ascending_nextval => [ q{'public.s', 3} ],
	attach_support => [ '' ],
	bit_reverse => [ '1, true' ], farm_fingerprint => [ q{'x'} ], generate_uuid => [ '' ],
	convert_all => [ q{'converted'}, q{'converted', dry_run => false} ],
	convert_column => [ q{'public.other', 'id'}, q{'public.identity', 'id'} ],
	create_allocator => [ q{'a'}, q{'here', mode => 'sync'}, q{'at_commit', mode => 'on_commit'}, q{'gone'} ],
	create_sequence => [ q{'public.s', 'striped'} ],
	create_splits => [ q{'public.parted', 4, bits => 63}, q{'public.parted', 4, bits => 63, dry_run => false} ],
	currval => [ q{'public.s'} ], describe_sequence => [ q{'public.s'} ],
	drop_allocator => [ q{'gone'} ],
	execute_ddl => [ q{'CREATE SEQUENCE public.ddl OPTIONS (sequence_kind = "bit_reversed_positive")'} ],
	get_internal_sequence_state => [ q{'public.s'} ],
	get_table_column_identity_state => [ q{'public.other.id'} ],
	grant_allocator => [ q{'a', 'stranger'} ], last_assigned => [ q{'at_commit'} ], lastval => [ '' ],
	key_heatmap => [ q{'public.other'} ], key_heatmap_html => [ q{'public.other'}, q{'public.other', after => 'public.other'} ],
	key_heatmap_text => [ q{'public.other'} ], key_histogram => [ q{'public.other'} ],
	allocator_role_in => [ q{'pg_monitor'} ], allocator_role_out => [ q{'pg_monitor'} ],
	count_allocator_pools => [ '' ], list_allocator_pools => [ '' ], list_allocator_workers => [ '' ],
	list_sequence_access_methods => [ '' ],
	map_counter => [ q{1, 'public.s'} ],
	may_draw => [ q{'public.s', 'pg_catalog.nextval(pg_catalog.regclass)'::pg_catalog.regprocedure) AS r (x pg_catalog.bool} ],
	next_value => [ q{'a'}, q{'here'}, q{'a', 'x'} ],
	next_values => [ q{'a', 3} ], number_rows => [ q{'public.other', 'number', '{v}', dry_run => true}, q{'public.other', 'number', '{v}'} ], stop_numbering => [ q{'public.other', 'number'} ], nextval => [ q{'public.s'} ],
	postgresql_ddl => [ q{'CREATE TABLE public.ddl_table (id bigint PRIMARY KEY, v bigint GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE))'}, q{'CREATE TABLE Singers (Id INT64 NOT NULL, S INT64 AS (MOD(FARM_FINGERPRINT(CAST(Id AS STRING)), 16)) STORED) PRIMARY KEY (Id)'} ], read_shard_key => [ 'd.adbin, d.adrelid) FROM (SELECT * FROM pg_catalog.pg_attrdef) d WHERE ROW(' ],
	release_allocator => [ q{'a'} ], rename_allocator => [ q{'a', 'b'}, q{'b', 'a'} ],
	reserve_block => [ q{'a', 3}, q{'a', 3, 'x'} ],
	reset_allocator => [ q{'a', 1000000}, q{'a', 1000000, true, '{x}'} ],
	revoke_allocator => [ q{'a'} ],
	setval => [ q{'public.s', 5}, q{'public.s', 5, true} ],
	shard_id => [ q{4, 'x', 1} ], shard_ids => [ q{4, 'x', '{1,2}'::pg_catalog.int4[]} ],
	share_allocator => [ q{'a') LIMIT (0} ], silence_rule => [ q{'public.t', 'key_sequence'}, q{'public.t', 'key_sequence', silenced => false} ],
	adopt_table => [ q{'public.other'} ], check_splits => [ q{'public.divided'} ], split_advice => [ q{'public.divided'} ],
	split_points => [ '4', q{'public.other'::pg_catalog.regclass, 2}, q{'public.other', 2} ], split_stats => [ q{'public.whole'}, q{'public.whole', true} ],
	suggest_shards => [ '10000' ], sync_sequence => [ q{'public.other', 'id'} ],
	timestamp_to_string => [ q{'2024-01-01 00:00:00+00'} ],
	unmap_value => [ q{1, 'public.s'} ]);
%calls = (
	%calls,
	white_space => [''],
	delete_expired => [''], pending_commit_timestamp => [''],
	googlesql_expression => ['0, NULL'], googlesql_name => ["'x'"],
	spanner_ddl => [ q{relation => 'public.other'}, q{schema => 'public', dialect => 'postgresql'} ]);
my @first = qw(create_sequence nextval create_allocator convert_column silence_rule);
my $callable = q{ AND p.prokind NOT IN ('a', 'p') AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype)
	AND NOT 'internal'::regtype = ANY (p.proargtypes::regtype[])};
my %schema_of = map { split /\|/ }
  split /\n/, $node->safe_psql('app', "SELECT DISTINCT p.proname, p.pronamespace::regnamespace $members $callable");
my @functions = sort keys %schema_of;
my @views = split /\n/, $node->safe_psql('app', q{
	SELECT oid::regclass FROM pg_class WHERE relnamespace = 'spanner'::regnamespace AND relkind = 'v' ORDER BY 1});

my $facts = '(SELECT spanner_internal.advisor_facts())';    # what all rules take, gathered once
my $other = q{(SELECT oid FROM pg_catalog.pg_class WHERE relname OPERATOR(pg_catalog.=) 'other')};
my $owner = q{(SELECT relowner FROM pg_catalog.pg_class WHERE relname OPERATOR(pg_catalog.=) 'other')};
my $parts = "spanner_internal.table_parts($other)";
my $record = 'NULL::spanner.split_record';
%calls = (%calls,
	map({ $_ => [''] } qw(advisor_facts list_default_bodies list_distributions list_drawn_sequences list_published)),
	index_text => ['(SELECT pg_catalog.max(indexrelid) FROM pg_catalog.pg_index), 0'],
	last_counter => [q{(SELECT pg_catalog.max(oid) FROM pg_catalog.pg_class WHERE relname OPERATOR(pg_catalog.=) 's')}],
	map({ $_ => [$other] } qw(is_free is_like_key list_parts)),
	measured_columns => ["$facts.tables, $facts.columns"], advisor_columns => ["$facts.tables, $facts.indexes"], advisor_indexes => ["$facts.tables"],
	advisor_severity => [ q{'info', '{splits}', 'one_server', 1} ],
	advisor_tables => ['0, NULL'],
	bits_argument => ["31, 1"], integer_bits => ["23"], largest_integer => ['31'],
	advisor_conversions => [$facts], advisor_hotspots => [$facts], advisor_references => [''], drop_covered => ["$facts, $other, '{1}', 1"], list_pairs => [$facts], named_functions => ["'now()'"], partition_obstacle => ["$other, 1::pg_catalog.int2, 63, 1"], list_function_bodies => [''], widened_column => ["$other, 1::pg_catalog.int2"],
	is_hashable => ['23, 0'], is_uuid_of_time => ["'x'"], read_calls => ["'{now}', false"], growing_column => ["'{.1}'"], run_advisor => ['NULL, NULL'],
	base_type => ['23'], check_load => ['1, 1, 1, 1, 1'], find_shard_obstacle => ["$other, 'shard_id', '{id}'"], index_body => ["($facts.indexes)[1]"], replaced_index => ["($facts.indexes)[1], 'x', 'btree (id)'"],
	new_index_name => [q{'public', 't', 'x'}], read_shard_table => ["$other, 'shard_id'"], shard_expression => ["$other, '{id}', 4, NULL"], open_shard_table => ["$other, 'shard_id', NULL, true, true"],
	keep_properties => ["spanner_internal.read_shard_table($other, 'shard_id'), 'shard_id'"], new_key_statements => ["spanner_internal.read_shard_table($other, 'shard_id'), 'shard_id', 'id', NULL, '{}', 'x'"],
	remove_shard_key => [q{'public.sharded'}], run_statements => ["'{}', true"], alter_table_statements => ["spanner_internal.read_shard_table($other, 'shard_id'), 'DROP COLUMN shard_id'"], report_new_key => ["spanner_internal.read_shard_table($other, 'shard_id'), true, false"],
	first_values => ["$other, 1::pg_catalog.int2"],
	sample_keys => ["$other, 0, 'id', false, '', 100, 1"],
	list_density => [$other], plan_sample => ["$other, NULL, NULL, 1000"],
	check_sampled => [$other], check_range => ["'x', 1, 2"],
	number_label => ["23, 1, false"],
	scale_numbers => ["NULL::spanner_internal.key_range, 1, 4"], scale_texts => ["NULL::spanner_internal.key_range, 4"],
	text_starts => ["'{a1,b2}', 'a1', 'b2', 1, 4, 0"], bucket_bounds => ["NULL, 1, 'a', 'b'"],
	count_buckets => [qq{spanner_internal.plan_sample($other, NULL, NULL, 1000), false, 4, 4}],
	fill_buckets => [qq{spanner_internal.plan_sample($other, NULL, NULL, 1000), 4, 4, true}], busiest_shares => ["'{1,2,3,4}', 2, 2, 2, 2"], verdict_on => ['0.5, 3, 2'],
	map({ $_ => [qq{spanner_internal.count_buckets(spanner_internal.plan_sample($other, NULL, NULL, 1000), false, 4, 4)}] } qw(judge_buckets)), describe_buckets => [qq{spanner_internal.count_buckets(spanner_internal.plan_sample($other, NULL, NULL, 1000), false, 4, 4), false}],
	display_width => ["'x'"], clean_label => ["'x', 1"],
	heatmap_lines => [q{spanner_internal.read_heatmap('public.other', 4, 4, NULL, NULL, NULL), '{0,1,2,3,4,5,6,7,8,9,a,b,c}'}],
	escape_html => ["'<'"], heatmap_style => [''], read_heatmap => [q{'public.other', 4, 4, NULL, NULL, NULL}],
	map({ $_ => [q{spanner_internal.read_heatmap('public.other', 4, 4, NULL, NULL, NULL)}] } qw(draw_axes draw_bars draw_cells draw_heatmap heatmap_cells)),
ddl_check_dialect => ["'googlesql'"], ddl_column => ["$other, 1::smallint, 'googlesql'"], ddl_columns => ["$other, '{1}', 'googlesql'"], ddl_expression => ["$other, NULL, 'googlesql'"],
	ddl_foreign_key => ["0, 'googlesql'"], ddl_indexes => ["$other, 'googlesql'"], ddl_key => [$other], ddl_length => ["0, 'googlesql'"], csv_columns => ["$other, NULL"], csv_copy => [ q{'t FROM %s', NULL, ''} ],
	csv_files => [ qq{'x', 'y', ${other}::pg_catalog.regclass} ], csv_to_value => [ q{23, 'x'} ], value_to_csv => [ q{23, 'x', false} ], json_array => ['1'], json_object => [ q{'a', 1} ], to_json => ['1'], named_schema => [ q{'public'} ],
	load_statements => [ q{'public.other'} ], unload_statements => [ q{'public.other'} ], ddl_name => ["'x', 'googlesql'"], ddl_relation => ["$other, 'googlesql'"],
	ddl_streams => [q{'public'::pg_catalog.regnamespace, 'googlesql'}], googlesql_query => [$other], ddl_sequence => ["'public.s'::pg_catalog.regclass, 'googlesql'"], ddl_clauses => ["$other, 'googlesql'"], ddl_table => ["$other, 'googlesql'"], ddl_type => ["23, -1, NULL, 'googlesql'"], ddl_view => ["$other, 'googlesql'"],
	interleave_problem => ["$other, $other, 'googlesql'"], expiry_problem => [$other], synonym_of => [$other], is_synonym => ["$other, $other"], is_invoker => [ q{'{security_invoker=1}'} ],
	find_expired => ["$other, 1::smallint, '1 day', '{}', 0) LIMIT (0"], delete_tids => ["$other, '{}') LIMIT (0"], deferred_constraints => [$other],
	map({ $_ => ["$other, '{1}'"] } qw(column_names has_unique_key)), nullability_problem => ["$other, 1, true"], table_key => [$other],
	map({ $_ => ["$other, 1"] } qw(drop_column_problem is_commit_default is_interleaved update_trigger)), map({ $_ => [$other] } qw(index_loss drop_table_problem expression_problem interleaved_trigger keys_after_parent tables_without_identity view_query view_rights)),
	map({ $_ => [q{'public'::pg_catalog.regnamespace, 'x'}] } qw(made_up)), same_name => [q{'public'::pg_catalog.regnamespace, 'x', true}],
	long_name => ["'x'"], spanner_name => ["'x'"], spanner_names => ["'x', 'googlesql'"], map({ $_ => ["0, 'googlesql'"] } qw(ddl_check ddl_constraint_name)),
	delete_expired => [''], delete_rows => ["$other, 1::smallint, '1 day', 0) LIMIT (0"], googlesql_expression => ["$other, NULL"], postgresql_expression => ["$other, NULL"], googlesql_name => ["'x'"], parent_constraint => [$other], pending_commit_timestamp => [''],
	spanner_ddl => [ q{'public.t'::pg_catalog.regclass} ], can_convert => [ qq{'public.s', $other} ], column_sequence => ["$other, 1::smallint"], partition_faults => ["$other, 1::smallint, 1, 9"], list_plain_columns => [ q{'public'} ], sequence_columns => [''], read_kind => [ q{'striped'} ], check_adoption => [$other], share_allocator => [ q{'a', 'u', 'p', 's') LIMIT (0} ], users_of_allocator => [ q{'a'} ], receive_allocator => [ q{'a', '{}', 's', 1, 1, 'h', 1, 'd', 'u', 'p', false) LIMIT (0} ], stop_filling => ["spanner_internal.read_shard_table($other, 'shard_id'), 'shard_id'"], check_split_count => [ q{4, 8, 'shards'} ], check_split_table => [ q{'public.parted'} ], equal_points => [ q{'public.parted', 4, 63, NULL, NULL} ], list_row_type_users => [$other], list_key_users => ['0'], shard_check => ["$other, 'shard_id'"], column_list => ["$other, '{1}'"], interleaved_key => ["($facts.tables)[1], '{1}', '{1}', '{1}', NULL"], advisor_sequences => ['0'], is_migration_table => ["'migrations'"], list_publications => [$other], list_splits => [ q{'public.whole'} ], plain_shard_statements => [ q{'t', 'c', 'e'} ], split_column => [$other], split_index_name => [ q{'x', 'y'} ], split_name => [ q{'x', '_p0'} ], split_sample => [$other], split_values => [ q{'public.parted'} ],
	map({ $_ => ["$other"] } qw(adoption_commands move_obstacle parent_of)), split_loads => [ q{'public.divided'} ],
	map({ $_ => [$other] } qw(check_copied_table list_copies)), servers_with_splits => [''], copy_name => ["$other, 'far'"],
	copy_problem => ["$other, 'x', 'ready'"],
	adoption_rights => ["$other, 'x'"], adoption_sequences => ["$other, 'x', 'y'"], adoption_objects => ["$other, 'x', 'public', 'y'"],
	ask_server => [ q{'far', 'public', 'other', 'id'}, q{NULL, 'public', 'other', 'id'} ],
	bound_clause => [ q{'5', 'MINVALUE', 3} ],
	check_foreign_table => [ q{'public.far_away'} ],
	check_split_server => [ q{'public.divided', 'far'} ],
	count_outside => [ q{'public.divided_p0', 'public.divided') LIMIT (0} ], count_rows => [ "$other, NULL", q{'public.divided_p0', true} ],
	find_relation => [ q{'public', 'other'} ], find_split => [ q{'public.divided'} ], try_lock_moves => [$other],
	inside_condition => [ q{'integer', '1', '2'} ],
	known_identity => [ q{'public.parted', NULL} ],
	read_there => [ q{'far', 'pg_catalog.pg_am', 'true', NULL} ],
	owner_there => [ q{'public.divided', 'far'} ], split_findings => [ qq{'public.divided', 'public.divided_p0', NULL, false, true, pg_catalog.jsonb_build_object('table', pg_catalog.jsonb_build_object('parts', $parts))) LIMIT (0} ],
	role_clause => ['0'], run_as => ["$owner, 'LOCK TABLE public.other'"], run_as_owner => ["$other, 'LOCK TABLE public.other'"],
	map({ $_ => [$record] } qw(move_ranges swap_commands)), check_server => ["'far', $owner"], server_problem => ["'far', $owner"], begin_move => [ q{'public.divided_p0', NULL, NULL) LIMIT (0} ], begin_swap => [ q{'x') LIMIT (0} ],
	column_settings => ["$other, true"], cut_value => [ q{'public.divided', 'public.divided_p0', '5'} ], map({ $_ => [ q{'x') LIMIT (0} ] } qw(drop_recorded end_subscription end_swap note_former)), free_split_name => [ q{'public', 'x', 1} ],
	map({ $_ => [ q{'public.divided'} ] } qw(split_signature split_definition)), list_dependents => [$other], make_shards_plain => [ q{'public.t', 'public.t'} ], new_move_name => [''],
	shown_command => ["$owner, 'x'"], owner_may_use => [ qq{'pg_class'::pg_catalog.regclass, $other, $other} ], part_differences => ["$parts, $parts"], rename_commands => ["$other, 'x'"], server_options => [ q{'far'} ], subscription_connection => [ q{'far'} ], shell_word => ["'x y'"],
	storage_word => [q{'p'}], table_definition => [$other], sorting => ['100'], begin_copy => ["$other, 'far'"], fill_in => ["'SELECT {}', 'x'"], split_commands => [ q{'public.parted', '{1}', '{id}'} ], table_grants => [ q{'public.divided', 'far', NULL} ], table_parts => [$other],
	split_bounds => [ q{'FOR VALUES FROM (1) TO (2)'} ],
	time_buckets => [ q{'1 day', pg_catalog.now(), pg_catalog.now(), pg_catalog.now(), true, 4} ], tell_what_stays => [$other],
	shard_columns => ["$facts, 4"], identities_with => ["$other, 'shard_id', 'id'"], shardable_key => [$other], list_shard_obstacles => ["$other, 'shard_id', '{id}'"], sample_column => ["$other, 1::pg_catalog.int2"],
	sharded_index => ["($facts.indexes)[1], 'id', 20, 0, 0"],
	ddl_check_dialect => ["'googlesql'"], ddl_column => ["$other, 1::pg_catalog.int2, 'googlesql'"], ddl_columns => ["$other, '{1}', 'googlesql'"], ddl_expression => ["0, NULL, 'googlesql'"], ddl_key => [$other], ddl_length => ["0, 'googlesql'"], ddl_type => ["23, -1, NULL, 'googlesql'"], parent_constraint => [$other],
	map({ $_ => ["$other, 'googlesql'"] } qw(ddl_clauses ddl_foreign_key ddl_indexes ddl_relation ddl_renamed ddl_sequence ddl_table ddl_table_losses ddl_view)), ddl_index_columns => [ q{'public.other_pkey'::pg_catalog.regclass} ], ddl_index => [ q{'public.other_pkey'::pg_catalog.regclass, NULL, 'googlesql'} ], ddl_statement => ["'CREATE TABLE x', 'googlesql'"], is_statement => ["'CREATE TABLE x', 'googlesql'"], not_null_columns => ["$other, 'x'"], is_nextval => ["'x'"], ddl_identity => ["$other, 1::pg_catalog.int2"], ddl_parent => ["$other, 'googlesql'"], is_lost => ["$other, 0, 'googlesql'"],
	needs_lost => ["'pg_class', $other, 'googlesql'"], ddl_query => ["$other, 'googlesql'"], can_be_key => ["$other, '{1}', 'googlesql'"], ddl_name => ["'x', 'googlesql'"]);

# what GoogleSQL's expressions call, each overload
my %known = %calls;
push @{ $calls{$_->[0]} }, $_->[1] foreach grep { !$known{$_->[0]} } map { [ split /\|/ ] } split /\n/,
  $node->safe_psql('app', qq{
	SELECT p.proname, string_agg('NULL::' || CASE WHEN y.typname ~ '^any.*array' AND p.provariadic = 0 THEN 'pg_catalog._text'
			WHEN y.typname ~ '^any' THEN 'pg_catalog.text'
			ELSE y.typnamespace::regnamespace || '.' || y.typname END, ', ' ORDER BY t.n)
	  FROM pg_proc p CROSS JOIN unnest(p.proargtypes) WITH ORDINALITY t (type, n) JOIN pg_type y ON y.oid = t.type
	  JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	  JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'spanner_keys_ddl'
	 WHERE p.provolatile = 'i' $callable GROUP BY p.oid, p.proname});
$calls{$_} //= [$facts] foreach split /\n/, $node->safe_psql('app',
	"SELECT p.proname $members AND p.pronargs = 1 AND p.proargtypes[0] = 'spanner_internal.advisor_facts'::regtype");

$calls{$_} = [ q{(SELECT adbin FROM pg_catalog.pg_attrdef WHERE adrelid OPERATOR(pg_catalog.=) 'public.sharded'::pg_catalog.regclass)} ]
	foreach qw(called_functions);

is(join(' ', grep { !$calls{$_} } @functions), '', 'the test has a call for every function');
$calls{read_shard_key} = [ q{(SELECT adbin FROM pg_catalog.pg_attrdef WHERE adrelid OPERATOR(pg_catalog.=) 'public.sharded'::pg_catalog.regclass), 'public.sharded'::pg_catalog.regclass} ];

my %is_first = map { $_ => 1 } @first;
my @statements = map {
		my $function = $_;
		map { "SELECT * FROM $schema_of{$function}.$function($_)" } @{ $calls{$function} };
	} @first, grep { !$is_first{$_} } @functions;

push @statements, map { "SELECT * FROM $_" } @views;# the hooks of the planner and the trigger that numbers rows
push @statements,
  q{SELECT v FROM public.sharded WHERE id OPERATOR(pg_catalog.=) 7},
  q{SELECT v FROM public.sharded ORDER BY id LIMIT 3},
  q{INSERT INTO public.other (v) VALUES ('y'), ('z') RETURNING id},
  q{INSERT INTO public.numbered VALUES (NULL)},
  q{DROP TABLE public.converted_later},
  q{DROP SCHEMA converted CASCADE};

# Catalogs and types by their names in pg_temp as well; pg_temp comes first
# where the path does not say otherwise.
my $temporary = $node->safe_psql('app', q{
	SELECT string_agg(format('CREATE TEMP VIEW %I AS SELECT trap.run(%L)', name, name), ';')
	FROM trap.planted WHERE kind = 'relation'});

$node->safe_psql('app', 'CREATE TABLE public.converted_later (id bigserial)');
foreach my $path ('pg_temp, trap, pg_catalog, public')
{
	my $begin = log_place();

	$node->safe_psql('postgres', "ALTER DATABASE app SET search_path = $path");
	my ($result, $out, $err) = $node->psql('app', 'SELECT now()');
	like($err, qr/WARNING:  trapped $superuser by now/, 'the trap works for those who call it by name');
	like(log_since($begin), qr/WARNING:  trapped/, 'and the log tells');

	$begin = log_place();
	($result, $out, $err) = $node->psql('app',
		"$temporary;\nLOAD 'spanner_keys';\nSET client_min_messages = error;\nSET jit = off;\n"
		  . join('', map { "$_;\n" } @statements),
		on_error_stop => 1);
	is($result, 0, 'every function and view with a hostile search_path') or diag($err);
	unlike(log_since($begin), qr/WARNING:  trapped/, 'nothing that was planted has run, in the worker neither')
	  or diag(grep { /trapped|ERROR|CONTEXT|STATEMENT/ } split /^/, log_since($begin));
	$node->safe_psql('postgres', 'ALTER DATABASE app RESET search_path');
}

# Hostile arguments: whatever the catalogs say that a function takes
my $begin = log_place();

$node->safe_psql(
	'app', q{
	CREATE TABLE extreme (kind int, type regtype, value text);
	INSERT INTO extreme
	SELECT k.kind, t.type, CASE t.type
		WHEN 'integer'::regtype THEN ('{-2147483648,2147483647,0,-1}'::text[])[k.kind]
		WHEN 'bigint'::regtype THEN ('{-9223372036854775808,9223372036854775807,0,-1}'::text[])[k.kind]
		WHEN 'boolean'::regtype THEN ('{t,f,t,f}'::text[])[k.kind]
		WHEN 'oid'::regtype THEN ('{0,4294967295,1259,2619}'::text[])[k.kind]
		WHEN 'regclass'::regtype THEN ('{0,4294967295,pg_class,public.parted}'::text[])[k.kind]
		WHEN 'double precision'::regtype THEN ('{NaN,Infinity,0,-1e300}'::text[])[k.kind]
		WHEN 'timestamp with time zone'::regtype THEN ('{-infinity,infinity,4713-01-01 BC,294276-12-31}'::text[])[k.kind]
		WHEN 'interval'::regtype THEN ('{-178000000 years,178000000 years,0,1 microsecond}'::text[])[k.kind]
		WHEN 'name[]'::regtype THEN ('{"{}","{NULL}","{{a,b}}","{a,a}"}'::text[])[k.kind]
		WHEN 'bytea'::regtype THEN ('{"","\\\\x00","",""}'::text[])[k.kind]
		WHEN 'pg_node_tree'::regtype THEN NULL
		ELSE CASE k.kind WHEN 1 THEN '' WHEN 2 THEN repeat('"', 100000) WHEN 3 THEN repeat('%s(', 500) ELSE E'\x01.a.b.c.d' END END
	FROM generate_series(1, 4) k (kind),
		(SELECT DISTINCT unnest(proargtypes) FROM pg_proc WHERE pronamespace::regnamespace::text ~ '^spanner') t (type);});
my $outcome = $node->safe_psql(
	'app', q{
	SET client_min_messages = error;
	CREATE TABLE outcome (call text, code text);
	DO $$
	DECLARE
		c record;
	BEGIN
		FOR c IN
			SELECT format('SELECT count(*) FROM %s.%I(%s)', p.pronamespace::regnamespace, p.proname, string_agg(CASE
					WHEN a.type = '"any"'::regtype THEN quote_nullable(e.value) || '::text'
					ELSE quote_nullable(e.value) || '::' || a.type END, ', ' ORDER BY a.n)) AS call
			FROM pg_proc p
			CROSS JOIN LATERAL unnest(p.proargtypes::regtype[]) WITH ORDINALITY a (type, n)
			CROSS JOIN generate_series(0, 4) k (kind)
			LEFT JOIN extreme e ON e.type = a.type AND e.kind = k.kind
			WHERE p.pronamespace::regnamespace::text ~ '^spanner' AND NOT 'internal'::regtype = ANY (p.proargtypes::regtype[])
			AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
			GROUP BY p.oid, p.proname, k.kind
		LOOP
			BEGIN
				EXECUTE c.call;
				INSERT INTO outcome VALUES (left(c.call, 200), 'done');
			EXCEPTION WHEN OTHERS THEN
				INSERT INTO outcome VALUES (left(c.call, 200), SQLSTATE || ' ' || left(SQLERRM, 200));
			END;
		END LOOP;
	END $$;
	SELECT count(*) > 200 FROM outcome;});
is($outcome, 't', 'every function with extreme arguments');
is($node->safe_psql('app', q{SELECT call, code FROM outcome WHERE code LIKE 'XX%' AND call NOT LIKE '%read_shard_key%'}),
	'', 'bad arguments are no internal errors');

# Every expression tree that catalogs hold can be passed by anybody
my $trees = $node->safe_psql('app', q{
	SELECT string_agg(format('SELECT %I FROM pg_catalog.%s WHERE %I IS NOT NULL', attname, attrelid::regclass, attname), ' UNION ALL ')
	FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
	WHERE atttypid = 'pg_node_tree'::regtype AND c.relkind = 'r'
	AND has_column_privilege('stranger', attrelid, attnum, 'SELECT')});
is( run_as('stranger', qq{
		SET client_min_messages = error;
		DO \$\$
		DECLARE
			t pg_node_tree;
			relation oid;
		BEGIN
			FOR t IN $trees LOOP
				FOREACH relation IN ARRAY '{0,1259,4294967295}'::oid[] LOOP
					BEGIN
						PERFORM spanner_internal.read_shard_key(t, relation);
						PERFORM spanner_internal.called_functions(t);
					EXCEPTION WHEN OTHERS THEN
					END;
				END LOOP;
			END LOOP;
		END \$\$;
		SELECT 'alive'}),
	'alive', 'every expression tree of the catalogs');

# Rows of spanner.allocator that its constraints admit
run_as('db_owner', q{
	INSERT INTO spanner.allocator (name, mode, next_value, min_value, max_value, batch_size, max_batch_size,
		low_water_mark, failover_gap, timeline, server, remote_name, owner_role, usage_roles)
	SELECT format('odd %s', n), m, next, low, high, 10000000, 10000000,
		2147483647, 9223372036854775807, t, CASE m WHEN 'remote' THEN E'\x01nobody' END, repeat('''', 128), o, u
	FROM (SELECT row_number() OVER () AS n, m, v.*, w.* FROM
		unnest('{sync,on_commit,async,batch,async_batch,remote}'::text[]) m,
		(VALUES (-9223372036854775808, -9223372036854775808, 9223372036854775806),
			(9223372036854775807, -9223372036854775808, 9223372036854775806),
			(-9223372036854775807, -9223372036854775808, -9223372036854775808)) v (next, low, high),
		(VALUES (NULL, 'db_owner'::regrole, NULL::regrole[]), (-1, '0'::regrole, '{4294967295,-}'::regrole[])) w (t, o, u)) q});
is( run_as('db_owner', q{
		SET client_min_messages = error;
		DO $$
		DECLARE
			c record;
		BEGIN
			FOR c IN SELECT format(f, quote_literal(a.name)) AS call
				FROM spanner.allocator a, unnest('{
					"SELECT spanner.next_value(%s)",
					"SELECT spanner.reserve_block(%s, 9223372036854775807)", "SELECT spanner.advance_allocator(%s, 9223372036854775807)",
					"SELECT spanner.alter_allocator(%s, low_water_mark => -1)", "SELECT spanner.release_allocator(%s)",
					"SELECT spanner.reset_allocator(%s, -9223372036854775808, true)"}'::text[]) f
				WHERE a.name LIKE 'odd %' LOOP
				BEGIN
					EXECUTE c.call;
				EXCEPTION WHEN OTHERS THEN
					IF SQLSTATE LIKE 'XX%' THEN
						RAISE EXCEPTION '%: %', c.call, SQLERRM;
					END IF;
				END;
			END LOOP;
		END $$;
		SELECT count(*) FROM spanner.stat_allocator WHERE name LIKE 'odd %';}),
	36, 'allocators with odd rows');
run_as('db_owner', q{DELETE FROM spanner.allocator WHERE name LIKE 'odd %'});
unlike(log_since($begin), qr/terminated by signal|TRAP|PANIC/, 'no process has died');

# Code of the owner of a table: the planner runs it, as whom?
run_as('attacker', q{
	CREATE SCHEMA mine;
	GRANT USAGE ON SCHEMA mine TO PUBLIC;
	CREATE FUNCTION mine.run() RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		RAISE WARNING 'code of attacker runs as %', current_user;
		PERFORM set_config('search_path', 'mine', false);
	END $$;
	CREATE FUNCTION mine.one(i bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN
		PERFORM mine.run();
		RETURN i;
	END $$;
	CREATE TYPE mine.mood AS ENUM ('sad', 'happy');
	CREATE FUNCTION mine.mood_text(m mine.mood) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
	BEGIN
		PERFORM mine.run();
		RETURN 'x';
	END $$;
	CREATE CAST (mine.mood AS text) WITH FUNCTION mine.mood_text(mine.mood) AS IMPLICIT;
	CREATE DOMAIN mine.checked AS bigint CHECK (mine.one(1) = 1);
	SET client_min_messages = error;
	CREATE TABLE mine.t (id bigserial PRIMARY KEY, mood mine.mood, checked mine.checked);
	INSERT INTO mine.t (mood, checked) SELECT 'sad', i FROM generate_series(1, 200) i;
	CREATE INDEX moody ON mine.t (mood);
	CREATE INDEX checked ON mine.t (checked);
	CREATE INDEX indexed ON mine.t ((mine.one(1) + id)) WHERE mine.one(2) = 2;
	CREATE STATISTICS mine.s ON (mine.one(3) + id), id FROM mine.t;
	CREATE TABLE mine.parted (id bigint, v int) PARTITION BY RANGE ((mine.one(4) + id));
	CREATE TABLE mine.part PARTITION OF mine.parted (CHECK (mine.one(5) = 5)) DEFAULT;
	CREATE INDEX ON mine.part ((mine.one(6) + id));
	INSERT INTO mine.parted SELECT i, i FROM generate_series(1, 200) i;
	CREATE FUNCTION mine.policy() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN PERFORM mine.run(); RETURN true; END $$;
	CREATE TABLE mine.hidden (id bigserial PRIMARY KEY);
	INSERT INTO mine.hidden SELECT generate_series(1, 200);
	CREATE POLICY p ON mine.hidden USING (mine.policy());
	ALTER TABLE mine.hidden ENABLE ROW LEVEL SECURITY;
	ALTER TABLE mine.hidden FORCE ROW LEVEL SECURITY;});

sub runs_as
{
	my ($role, $sql) = @_;
	my $offset = log_place();
	my ($result, $out, $err) =
	  $node->psql('app', "$sql;\nSHOW search_path", extra_params => [ '-U', $role ], on_error_stop => 0);
	my %users = map { $_ => 1 } log_since($offset) =~ /WARNING:  code of attacker runs as (\S+)/g;

	like($out, qr/"\$user", public$/, "$sql: settings stay as they were");
	return join ' ', sort keys %users;
}

foreach (
	[ 'SELECT * FROM spanner.advise()', 0 ],
	[ q{SELECT * FROM spanner.advise('mine.t')}, 0 ],
	[ q{SELECT * FROM spanner.advise('mine.parted')}, 0 ],
	[ q{SELECT * FROM spanner.key_histogram('mine.t')}, 1 ],
	[ q{SELECT * FROM spanner.key_histogram('mine.t', column_name => 'mood')}, 1 ],
	[ q{SELECT * FROM spanner.key_histogram('mine.checked')}, 1 ],
	[ q{SELECT * FROM spanner.key_histogram('mine.indexed')}, 1 ],
	[ q{SELECT * FROM spanner.key_histogram('mine.parted', column_name => 'v')}, 1 ],
	[ q{SELECT * FROM spanner.key_histogram('mine.hidden')}, 0 ],
	[ q{SELECT * FROM spanner.key_heatmap('mine.t', order_by => 'mood')}, 1 ],
	[ q{SELECT spanner.key_heatmap_text('mine.t')}, 1 ],
	[ q{SELECT spanner.key_heatmap_html('mine.t')}, 1 ],
	[ q{SELECT * FROM spanner.split_stats('mine.parted', true)}, 1 ],
	map({ [ "SELECT * FROM spanner.$_", 0 ] } q{create_splits('mine.parted', 4)}, q{split_stats('mine.parted')}, q{check_splits('mine.parted')},
		q{split_advice('mine.parted')}, q{adopt_table('mine.t')}),
	[ q{SELECT * FROM spanner.add_shard_key('mine.t')}, 0 ],
	[ q{SELECT * FROM spanner.convert_all('mine')}, 0 ],
	[ q{SELECT * FROM spanner.shard_keys}, 0 ],
	[ q{SELECT spanner.convert_column('mine.t', 'id')}, 1 ],
	[ q{SELECT spanner.convert_column('mine.hidden', 'id')}, 0 ],
	[ q{SELECT spanner.sync_sequence('mine.t', 'id')}, 1 ])
{
	my ($sql, $runs) = @$_;

	is(runs_as($superuser, $sql), $runs ? 'attacker' : '', "$sql: code of the owner");
}
$node->safe_psql('app', q{ALTER TABLE mine.t ADD UNIQUE (id); REVOKE ALL ON mine.t FROM attacker});
is(runs_as($superuser, 'SELECT * FROM spanner.advise()'), '', 'an owner who may not read his table is not impersonated');

# The event trigger looks at a table before core has checked who owns it
my $reader = $node->background_psql('app', on_error_die => 1);

$reader->query_safe('BEGIN; LOCK TABLE t IN ACCESS SHARE MODE');
refused('stranger', q{
	SET lock_timeout = '1s';
	SET spanner.default_sequence_kind = 'striped';
	ALTER TABLE t ADD COLUMN x serial}, qr/must be owner of table t/, 'a lock on the table of another role');
$reader->quit;

# Labels that a dump may bring along
my $label = 'SECURITY LABEL FOR spanner_keys ON';

$node->safe_psql('app', q{CREATE SEQUENCE labelled; CREATE FUNCTION f() RETURNS int RETURN 1});
foreach (
	[ "$label SEQUENCE labelled IS ''", qr/Invalid Sequence Kind/ ],
	[ "$label SEQUENCE labelled IS 'striped(stripes=99999999999999999999)'", qr/stripes/ ],
	[ "$label SEQUENCE labelled IS 'striped(identity=attacker)'", qr/identity/ ],
	[ "$label SEQUENCE labelled IS '../../tmp/evil'", qr/Invalid Sequence Kind/ ],
	[ "$label SEQUENCE labelled IS 'evil'", qr/evil/ ],
	[ "$label SEQUENCE labelled IS '" . ('x' x 1000000) . "'", qr/x/ ],
	[ "$label SEQUENCE labelled IS 'striped(" . join(',', ('stripes=4') x 100000) . ")'", qr/stripes/ ],
	[ "$label TABLE t IS 'striped'", qr/are for sequences/ ],
	[ "$label COLUMN t.id IS 'striped'", qr/are for sequences/ ],
	[ "$label SCHEMA public IS 'striped'", qr/are for sequences/ ],
	[ "$label FUNCTION f() IS 'striped'", qr/are for sequences/ ],
	[ "LOAD 'spanner_keys'; $label ROLE attacker IS 'striped'", qr/are for sequences/ ],
	[ "LOAD 'spanner_keys'; $label DATABASE app IS 'striped'", qr/are for sequences/ ])
{
	my ($sql, $message) = @$_;

	refused($superuser, $sql, $message, substr($sql, 0, 80));
}
refused($superuser, "CREATE SEQUENCE s; $label SEQUENCE s IS 'striped'",
	qr/provider "spanner_keys" is not loaded/, 'a label without the extension', 'bare');
is($node->safe_psql('app', q{SELECT count(*) FROM pg_seclabels WHERE objname LIKE '%labelled%'}), 0, 'no label was set');

# The owner of the database makes a superuser the owner of an allocator whose
# server is his own: the worker must not connect to it with the rights of the
# server's account.
my ($host, $port) = ($node->host, $node->port);
my $place = log_place();

$node->safe_psql('app', q{CREATE EXTENSION dblink; GRANT USAGE ON FOREIGN DATA WRAPPER dblink_fdw TO db_owner});
run_as('db_owner', q{
	CREATE SCHEMA spanner;
	CREATE FUNCTION spanner.reserve_block(text, bigint, OUT first_value bigint, OUT last_value bigint) LANGUAGE plpgsql AS $$
	BEGIN
		RAISE WARNING 'code of the bait runs as %', current_user;
		first_value := 1;
		last_value := $2;
	END $$;}, 'bait');
run_as('db_owner', qq{
	CREATE SERVER bait FOREIGN DATA WRAPPER dblink_fdw OPTIONS (host '$host', port '$port', dbname 'bait');
	CREATE USER MAPPING FOR $superuser SERVER bait OPTIONS (user '$superuser');
	INSERT INTO spanner.allocator (name, mode, server, remote_name, owner_role, usage_roles)
	VALUES ('bait', 'remote', 'bait', 'x', '$superuser', '{-}');});
refused('db_owner', q{SELECT spanner.next_value('bait')},
	qr/server "bait" does not belong to a superuser/, 'an allocator of a superuser at the server of another role');
unlike(log_since($place), qr/WARNING:  code of the bait runs/, 'nothing has run there');

# Nor does a superuser who looks at the splits of a table connect to it.
run_as('db_owner', q{
	CREATE FUNCTION spanner.bait() RETURNS text LANGUAGE plpgsql AS $$
	BEGIN
		RAISE WARNING 'code of the bait runs as %', current_user;
		RETURN 'logical';
	END $$;
	CREATE SCHEMA spanner_internal;
	CREATE VIEW spanner_internal.split_server AS SELECT spanner.bait() AS wal_level, '{}'::text[] AS moves;}, 'bait');
$node->safe_psql('app', q{GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO db_owner});
run_as('db_owner', qq{
	CREATE SERVER bait_splits FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'bait');
	CREATE USER MAPPING FOR $superuser SERVER bait_splits OPTIONS (user '$superuser');
	CREATE TABLE public.split (id bigint) PARTITION BY RANGE (id);
	CREATE FOREIGN TABLE public.split_p0 PARTITION OF public.split FOR VALUES FROM (MINVALUE) TO (MAXVALUE) SERVER bait_splits;});
$place = log_place();
foreach my $call (
	q{split_stats('public.split')}, q{split_stats('public.split', true)}, q{check_splits('public.split')}, q{split_advice('public.split')},
	q{split_points('public.split', 2)}, q{advise('public.split', 'splits')})
{
	$node->psql('app', "SELECT * FROM spanner.$call");
}
unlike(log_since($place), qr/WARNING:  code of the bait runs/, 'nothing of a server of somebody else runs for a superuser');
like(log_since($place), qr/server "bait_splits" does not belong to a superuser/, 'who is told');

# What went wrong at another server is not for everybody
my $error = q{SELECT last_error IS NOT NULL FROM spanner.stat_allocator WHERE name = 'bait'};

is(run_as($superuser, $error), 't', 'a superuser sees the last error');
run_as('db_owner', q{UPDATE spanner.allocator SET usage_roles = NULL WHERE name = 'bait'});
is(run_as('stranger', $error), 'f', 'a stranger does not');
is(run_as('stranger', 'SELECT count(last_error) FROM spanner_internal.list_allocator_pools()'), 0, 'not from the function either');
$node->safe_psql('app', 'GRANT pg_monitor TO stranger');
is(run_as('stranger', $error), 't', 'but monitoring does');

unlike(slurp_file($node->logfile), qr/terminated by signal|TRAP|PANIC/, 'the server is well');
$node->stop;

done_testing();
