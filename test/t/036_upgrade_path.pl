# ALTER EXTENSION UPDATE leaves what a new installation makes, and the other
# extensions as they are: for every upgrade script in sql/, and for a release of
# each extension that the test makes up, whose script is then spoilt in each of
# its steps to show that the comparison notices.
#
# Servers read scripts from their own share directory only, before release 18.
# So the server is a copy, below a directory of the test: an installation finds
# its files relative to where it is.

use strict;
use warnings;

use File::Basename;
use File::Copy;
use File::Path qw(make_path);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $tree = PostgreSQL::Test::Utils::tempdir();
my $members_query = slurp_file('sql/include/members.sql');
my @extensions = qw(spanner_keys spanner_keys_ddl spanner_keys_advisor spanner_keys_splits);
my %control = map { $_ => slurp_file("$_.control") } @extensions;
my ($release) = $control{spanner_keys} =~ /^default_version = '([^']+)'/m;
my $installed = (run_command([ 'pg_config', '--sharedir' ]))[0] . '/extension';
my %script = map { $_ => slurp_file("$installed/$_--$release.sql") } @extensions;

# The steps from this release to the next, made up one: what the upgrade script
# of an extension, by default the core's, does, how the script of a new
# installation differs, and what is to be noticed if the upgrade script leaves
# the step out, or takes a flawed one.
my @steps = (
	{
		name    => 'a function is added',
		shows   => qr/^> function spanner\.is_next\(\): definition: .*RETURN true/m,
		upgrade => q{
			CREATE FUNCTION spanner.is_next()
			RETURNS boolean
			RETURN true;},
		flawed  => q{
			CREATE FUNCTION spanner.is_next()
			RETURNS boolean
			RETURN false;},
		install => sub { return $_[0] . "\n" . $_[1] }
	},
	{
		name    => 'a function is changed',
		shows   => qr/^> function spanner\.generate_uuid\(\): row: .*"procost": 10\b/m,
		upgrade => q{
			CREATE OR REPLACE FUNCTION spanner.generate_uuid()
			RETURNS text
			AS 'MODULE_PATHNAME', 'spanner_generate_uuid'
			LANGUAGE C VOLATILE STRICT PARALLEL SAFE COST 10;},
		install => sub { return $_[0] =~ s/('spanner_generate_uuid'\nLANGUAGE [^;]+);/$1 COST 10;/r }
	},
	{
		name    => 'a function is dropped',
		shows   => qr/^< function spanner\.last_assigned\(pg_catalog\.text\): row: /m,
		upgrade => q{DROP FUNCTION spanner.last_assigned(text), spanner.last_assigned(text, text[]);},
		install => sub { return $_[0] =~ s/(?:CREATE|COMMENT ON) FUNCTION spanner\.last_assigned\([^;]+;//gr }
	},
	{
		extension => 'spanner_keys_advisor',
		name    => 'a view is changed',
		shows   => qr/^> view spanner\.advisor_rules: column: .*"attname": "page"/m,
		upgrade => q{
			CREATE OR REPLACE VIEW spanner.advisor_rules AS
			SELECT r.rule, r.severity, r.targets IS NOT NULL AS checkable, r.explanation, r.targets, NULL::text AS page
			FROM spanner_internal.advisor_rule r ORDER BY r.place;},
		install => sub { return $_[0] =~ s/(SELECT r\.rule, [^;]*?r\.targets)\n/$1, NULL::text AS page\n/r }
	},
	{
		name    => 'a view is renamed, moved and taken out for a while',
		shows   => qr/^> view spanner\.pools: /m,
		upgrade => q{
			ALTER EXTENSION spanner_keys DROP VIEW spanner.stat_allocator_pools;
			ALTER VIEW spanner.stat_allocator_pools SET SCHEMA spanner_internal;
			ALTER EXTENSION spanner_keys ADD VIEW spanner_internal.stat_allocator_pools;
			ALTER VIEW spanner_internal.stat_allocator_pools SET SCHEMA spanner;
			ALTER VIEW spanner.stat_allocator_pools RENAME TO pools;},
		install => sub { return $_[0] . "\n" . $_[1] }
	},
	{
		name    => 'a table gets a column',
		shows   => qr/^> table spanner\.allocator: column: .*"attname": "note"/m,
		upgrade => q{ALTER TABLE spanner.allocator ADD COLUMN note text DEFAULT 'none' NOT NULL;},
		install => sub {
			return $_[0] =~ s/(CREATE TABLE spanner\.allocator .*?usage_roles +spanner_internal\.allocator_role\[\])/$1, note text DEFAULT 'none' NOT NULL/sr;
		}
	},
	{
		name    => 'a comment is changed',
		shows   => qr/^> view spanner\.sequences: comment: .*: changed$/m,
		upgrade => q{COMMENT ON VIEW spanner.sequences IS 'changed';},
		install => sub { return $_[0] . "\n" . $_[1] }
	},
	{
		name    => 'a privilege is revoked',
		shows   => qr/^> function spanner_internal\.list_allocator_pools\(\): initial privileges: /m,
		upgrade => q{REVOKE EXECUTE ON FUNCTION spanner_internal.list_allocator_pools() FROM PUBLIC;},
		install => sub { return $_[0] . "\n" . $_[1] }
	},
	{
		name    => 'an event trigger is changed',
		shows   => qr/^> event trigger "?!spanner_keys_ddl_command_end"?: row: .*"evtenabled": "O"/m,
		upgrade => q{ALTER EVENT TRIGGER "!spanner_keys_ddl_command_end" ENABLE;},
		install => sub { return $_[0] =~ s/(ALTER EVENT TRIGGER "!spanner_keys_ddl_command_end" ENABLE) ALWAYS/$1/r }
	},
	{
		extension => 'spanner_keys_ddl',
		name    => 'a comment of spanner_keys_ddl is changed',
		shows   => qr/^> type spanner\.commit_timestamp: comment: .*: changed$/m,
		upgrade => q{COMMENT ON DOMAIN spanner.commit_timestamp IS 'changed';},
		install => sub { return $_[0] . "\n" . $_[1] }
	},
	{
		extension => 'spanner_keys_splits',
		name    => 'a function is added to spanner_keys_splits',
		shows   => qr/^> function spanner\.is_next_split\(\): definition: /m,
		upgrade => q{
			CREATE FUNCTION spanner.is_next_split()
			RETURNS boolean
			RETURN true;},
		install => sub { return $_[0] . "\n" . $_[1] }
	});

$_->{extension} //= 'spanner_keys' foreach @steps;

# Link what is in a directory into another one.
sub link_entries
{
	my ($from, $to) = @_;

	make_path($to);
	foreach my $entry (glob "$from/*")
	{
		symlink($entry, "$to/" . basename($entry)) or die "symlink $to: $!"
		  unless -e "$to/" . basename($entry);
	}
	return;
}

# Copy the installation that is tested, and return the path of the copy, and
# of its extensions.  Commands must be copies, because they look where their
# file is; of the rest only the directory of extensions must be one's own.
sub copy_installation
{
	my ($bindir, $sharedir, $pkglibdir) =
	  map { (run_command([ 'pg_config', "--$_" ]))[0] } qw(bindir sharedir pkglibdir);

	make_path("$tree$bindir");
	foreach my $command (grep { !-l && -f } glob "$bindir/*")
	{
		my $copy = "$tree$bindir/" . basename($command);

		copy($command, $copy) or die "copy $command: $!";
		chmod 0755, $copy;
	}
	make_path("$tree$sharedir/extension");
	link_entries("$sharedir/extension", "$tree$sharedir/extension");
	link_entries($sharedir, "$tree$sharedir");
	link_entries($pkglibdir, "$tree$pkglibdir");
	unlink glob "$tree$sharedir/extension/spanner_keys*";
	return ($tree . dirname($bindir), "$tree$sharedir/extension");
}

my ($install_path, $extension_dir) = copy_installation();

sub write_file
{
	my ($name, @lines) = @_;

	open(my $out, '>', "$extension_dir/$name") or die "open $name: $!";
	print $out map { "$_\n" } @lines;
	close $out;
	return;
}

# All scripts in the source, and those of the release that is made up; the
# control file names the latter, as it will be when it is released.
sub write_scripts
{
	my ($extension) = @_;
	my @own = grep { $_->{extension} eq $extension } @steps;
	my $full = $script{$extension};

	foreach my $step (@own)
	{
		my $before = $full;

		$full = $step->{install}->($full, $step->{upgrade});
		die "the script of $release has another form: $step->{name}" if $full eq $before;
	}
	write_file("$extension.control", $control{$extension} =~ s/^(default_version = )'.*'/$1'next'/mr);
	write_file("$extension--next.sql", $full);
	write_file("$extension--$release--next.sql", map { $_->{upgrade} } @own);
	write_file("$extension--$release--failing.sql", (map { $_->{upgrade} } @own), 'SELECT 1 / 0;');
	foreach my $flawed (@own)
	{
		my $name = $flawed->{name} =~ s/\W/_/gr;

		write_file("$extension--$release--$name.sql",
			map { $_ == $flawed ? $_->{flawed} // '' : $_->{upgrade} } @own);
	}
	return;
}

copy($_, $extension_dir) or die "copy $_: $!" foreach glob "$installed/spanner_keys*--*.sql";
write_scripts($_) foreach @extensions;

my $node = PostgreSQL::Test::Cluster->new('upgrade_path', install_path => $install_path);

# What the catalogs of a database say of an extension.
sub members
{
	my ($database, $extension) = @_;

	return $node->safe_psql($database, $members_query =~ s/extname = 'spanner_keys'/extname = '$extension'/r);
}

sub members_of_all
{
	my ($database) = @_;

	return join "\n", map { members($database, $_) } @extensions;
}

# The lines that only one of two texts has, marked with the side.
sub differences
{
	my ($left, $right) = @_;
	my %count;

	$count{$_}++ foreach split /\n/, $left;
	$count{$_}-- foreach split /\n/, $right;
	return join "\n", map { ($count{$_} > 0 ? '< ' : '> ') . $_ } grep { $count{$_} != 0 } sort keys %count;
}

# A database with extensions, all of this release but for some, and with no
# objects of a user.
sub create_database
{
	my ($database, $extensions, %version) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, join '; ', map { "CREATE EXTENSION $_ VERSION '" . ($version{$_} // $release) . "'" } @$extensions);
	return;
}

# A database as it may be when an update comes.
sub create_used_database
{
	my ($database, %version) = @_;

	create_database($database, \@extensions, %version);
	$node->safe_psql(
		$database, q{
		SET client_min_messages = warning;
		CREATE EXTENSION permuted;
		SELECT spanner.create_sequence('reversed', 'bit_reversed_positive',
			start_with_counter => 7, skip_range_min => 1, skip_range_max => 1000);
		SELECT spanner.create_sequence('striped', 'striped', stripes => 16);
		SELECT spanner.create_sequence('permuted', 'permuted(key=7)');
		SELECT spanner.create_sequence('going_on', 'striped');
		CREATE TABLE bound (id bigint DEFAULT nextval('reversed') PRIMARY KEY, v integer);
		SET spanner.default_sequence_kind = 'striped';
		CREATE TABLE identity (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v integer,
			shard integer GENERATED ALWAYS AS (spanner.shard_id(64, id)) STORED);
		RESET spanner.default_sequence_kind;
		CREATE INDEX ON identity (shard, id);
		CREATE TABLE converted (id serial PRIMARY KEY, v integer);
		INSERT INTO converted (v) SELECT generate_series(1, 100);
		SELECT spanner.convert_column('converted', 'id', 'bit_reversed_positive');
		CREATE VIEW kinds AS SELECT sequencename, kind FROM spanner.sequences;
		CREATE TABLE silenced (at timestamptz DEFAULT now() PRIMARY KEY);
		SELECT spanner.silence_rule('silenced', 'key_now', 'at');
		SELECT spanner.execute_ddl('CREATE TABLE Singers (Id INT64, Ts TIMESTAMP OPTIONS (allow_commit_timestamp = true))
			PRIMARY KEY (Id), ROW DELETION POLICY (OLDER_THAN(Ts, INTERVAL 30 DAY))');
		CREATE TABLE parts (id bigint) PARTITION BY RANGE (id);
		SELECT spanner.create_splits('parts', 2, bits => 63, dry_run => false);
		SELECT spanner.create_allocator('exact', 'sync');
		SELECT spanner.create_allocator('gapless', 'on_commit');
		SELECT spanner.create_allocator('going_on');
		SELECT spanner.next_value('exact'), spanner.next_value('going_on') FROM generate_series(1, 10);
		CREATE TABLE numbered (number bigint, v integer);
		CREATE CONSTRAINT TRIGGER number AFTER INSERT ON numbered DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION spanner.assign_on_commit('gapless', 'number');});
	insert_rows($database);
	return;
}

sub insert_rows
{
	my ($database) = @_;

	$node->safe_psql($database, "INSERT INTO $_ (v) SELECT generate_series(1, 50)")
	  foreach qw(bound identity converted numbered);
	return;
}

# What a database says about the user's objects, but for those that the session
# of the update draws from.
sub describe_objects
{
	my ($database) = @_;

	return $node->safe_psql(
		$database, q{
		SELECT * FROM spanner.sequences WHERE sequencename <> 'going_on' ORDER BY sequencename;
		SELECT * FROM kinds ORDER BY sequencename;
		SELECT provider, label, pg_describe_object(classoid, objoid, objsubid)
		FROM pg_seclabel ORDER BY provider, 3;
		SELECT table_name, column_name, column_default, generation_expression
		FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2;
		SELECT name, series, mode, next_value, max_value, batch_size, owner_role
		FROM spanner.allocator WHERE name <> 'going_on' ORDER BY name, series;
		SELECT * FROM spanner.shard_keys;
		SELECT rule FROM spanner.advise('silenced') ORDER BY rule;
		SELECT spanner.spanner_ddl('singers'::regclass);
		SELECT partition, range FROM spanner.split_stats('parts');
		SELECT * FROM bound ORDER BY id;
		SELECT * FROM identity ORDER BY id;
		SELECT * FROM converted ORDER BY id;
		SELECT * FROM numbered ORDER BY number});
}

# Install one release, use it, update one extension, and compare.
sub check_update
{
	my ($extension, $from, $to) = @_;
	my $name = "$extension, $from to $to";

	create_used_database('updated', $extension => $from);
	create_database('fresh', \@extensions, $extension => $to);
	my $objects = describe_objects('updated');

	is( $node->safe_psql(
			'updated', qq{
			SELECT spanner_internal.unmap_value(spanner.nextval('going_on'), 'going_on');
			SELECT spanner.next_value('going_on');
			ALTER EXTENSION $extension UPDATE TO '$to';
			SELECT spanner_internal.unmap_value(spanner.nextval('going_on'), 'going_on');
			SELECT spanner.next_value('going_on') > 11;
			SELECT string_agg(extname, ' ') FROM pg_extension WHERE extversion = '$to' AND extname ~ '^spanner_keys'}),
		"1\n11\n2\nt\n$extension", "$name: a session goes on, and no other is updated");
	is(differences($objects, describe_objects('updated')), '', "$name: what the user has is as before");
	insert_rows('updated');
	is( $node->safe_psql('updated', q{
			SELECT count(*), min(number), max(number) FROM numbered;
			SELECT count(*), count(DISTINCT id) FROM converted}),
		"100|1|100\n200|200", "$name: rows are added");
	is(differences(members_of_all('updated'), members_of_all('fresh')), '', "$name: the catalogs are those of a new installation");
	$node->safe_psql('postgres', "DROP DATABASE $_") foreach 'updated', 'fresh';
	return;
}

$node->init;
$node->append_conf('postgresql.conf', 'spanner_keys.allocator_idle_timeout = 1s');
$node->start;

# The release that is made up
create_database('fresh_old', [ 'spanner_keys' ]);
my %kinds = map { /: (row|definition|column|column order|index|sequence|comment|initial privileges|depends): / ? ($1 => 1) : () }
  split /\n/, members('fresh_old', 'spanner_keys');
is(join(', ', sort keys %kinds),
	'column, column order, comment, definition, depends, index, initial privileges, row, sequence',
	'all kinds of properties are compared');
check_update($_, $release, 'next') foreach @extensions;

create_database('fresh_next', \@extensions, map { $_ => 'next' } @extensions);
my %expected = map { $_ => members('fresh_next', $_) } @extensions;
foreach my $step (@steps)
{
	my $extension = $step->{extension};
	my $name = $step->{name} =~ s/\W/_/gr;

	create_database('flawed', $extension eq 'spanner_keys' ? [ $extension ] : [ 'spanner_keys', $extension ]);
	$node->safe_psql(
		'flawed', qq{
		ALTER EXTENSION $extension UPDATE TO '$name';
		UPDATE pg_extension SET extversion = 'next' WHERE extname = '$extension'});
	like(differences(members('flawed', $extension), $expected{$extension}),
		$step->{shows}, "noticed: $step->{name}, but not by the update");
	$node->safe_psql('postgres', 'DROP DATABASE flawed');
}

# The owner of a database, who installed it, may update it; the control file
# says to what.
$node->safe_psql('postgres', 'CREATE ROLE app LOGIN; CREATE DATABASE owned OWNER app');
$node->safe_psql('owned', "CREATE EXTENSION spanner_keys VERSION '$release'; ALTER EXTENSION spanner_keys UPDATE",
	extra_params => [ '-U', 'app' ]);
is( $node->safe_psql('owned', q{
		SELECT extversion, extowner::regrole FROM pg_extension WHERE extname = 'spanner_keys'}),
	'next|app', 'updated by the owner of the database');

# What cannot be
my $before = members('fresh_old', 'spanner_keys');
my ($result, $out, $err) =
  $node->psql('fresh_next', "ALTER EXTENSION spanner_keys UPDATE TO '$release'", on_error_stop => 1);
isnt($result, 0, 'back to an older release: refused');
like($err, qr/has no update path from version "next" to version "\Q$release\E"/, 'back to an older release');
is(differences(members('fresh_next', 'spanner_keys'), $expected{spanner_keys}), '', 'back to an older release: nothing is changed');
($result, $out, $err) =
  $node->psql('fresh_old', q{ALTER EXTENSION spanner_keys UPDATE TO 'failing'}, on_error_stop => 1);
like($err, qr/division by zero/, 'a script that fails');
is(differences(members('fresh_old', 'spanner_keys'), $before), '', 'a script that fails: nothing is changed');

# The releases that there are
foreach my $upgrade (sort glob 'sql/spanner_keys*--*--*.sql')
{
	check_update($1, $2, $3) if $upgrade =~ m{/(\w+)--(.+)--(.+)\.sql$};
}

$node->stop;

done_testing();
