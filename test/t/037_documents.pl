# Every command in README.md and docs/ is tried, in the order of the document:
# SQL in a database that begins empty, with the output that is shown; targets
# of make exist; programs compute what the server computes.  docs/reference.md
# has every function, view and setting.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use DocumentBlocks;
use File::Spec;
use IPC::Run;
use List::Util qw(first);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $top = "$FindBin::Bin/../..";
my $node = PostgreSQL::Test::Cluster->new('documents');
my $makefile = slurp_file("$top/Makefile");

# Targets of ours, and those of PGXS.
my %targets = map { $_ => 1 } qw(all install installcheck clean), $makefile =~ /^\.PHONY:(.*)$/m ? split(' ', $1) : ();

sub find_program
{
	my ($name) = @_;

	return first { -x $_ && !-d _ } map { "$_/$name" } File::Spec->path;
}

# Run the blocks in one session of psql.  Each block gets "result".
sub run_sql
{
	my ($document, @sql) = @_;
	my $script = "\\pset footer off\n";
	my $output;

	$node->safe_psql('postgres', 'CREATE DATABASE shop');
	$script .= "\\echo =block $_->{line}\n$_->{text};\n" foreach @sql;
	IPC::Run::run [ 'psql', '-Xq', '-d', $node->connstr('shop') ], '<', \$script, '>&', \$output,
	  IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default);
	my %result = $output =~ /^=block (\d+)\n(.*?)(?=^=block |\z)/msg;
	$_->{result} = $result{ $_->{line} } // "ERROR: not reached\n" foreach @sql;
	return;
}

sub check_sql
{
	my ($document, $block) = @_;
	my $name = "$document, line $block->{line}";
	my $shown = $block->{output};
	my $way = $shown ? $shown->{way} // '' : 'output varies';
	my $result = plain_output($block->{result});

	if ($way eq 'output varies')
	{
		unlike($result, qr/^(?:ERROR|FATAL|WARNING|invalid command)/m, $name);
		return;
	}
	my $expected = plain_output($shown->{text});

	if ($way eq 'numbers vary')
	{
		$_ = without_numbers($_) foreach $result, $expected;
	}
	is($result, $expected, $name);
	return;
}

# What a line in a shell does, or nothing if that cannot be told.
sub check_shell
{
	my ($document, $block) = @_;

	foreach my $line (split /\n/, $block->{text} =~ s/\\\n\s*/ /gr)
	{
		my $command = $line =~ s/\s*#.*$//r =~ s/^\$\s+//r =~ s/^sudo\s+//r =~ s/^(?:\w+=(?:"[^"]*"|\S*)\s+)+(?=make|test)//r;
		my $name = "$document, line $block->{line}: $command";

		next if $command eq '';
		if ($command =~ /^make\b(.*)$/)
		{
			my @missing = grep { !/=/ && !$targets{$_} } split ' ', $1;

			is("@missing", '', "$name: the targets exist");
		}
		elsif ($command =~ m{^((?:test|demo|examples)/\S+)})
		{
			ok(-x "$top/$1", "$name: exists");
		}
		elsif ($command =~ /^(?:psql|createdb|pgbench)\b/)
		{
			local $ENV{PGHOST} = $node->host;
			local $ENV{PGPORT} = $node->port;
			local $ENV{PGDATABASE} = 'shop';
			my $directory = PostgreSQL::Test::Utils::tempdir;

			ok(!system('sh', '-c', "cd '$directory' && $line > log 2>&1"), $name)
			  or diag(slurp_file("$directory/log"));
		}
		else
		{
			fail("$name: cannot be run, and is not marked");
		}
	}
	return;
}

# Arguments of shard_id with positive and negative fingerprints, and a number of
# shards that divides no power of two.
my @calls = ([ 2048, q{'abc'} ], [ 2048, q{'abc'}, 'NULL' ], [ 1000, q{'Alice'} ], [ 1000, q{'TomSmith'} ], [ 1000, q{'a'}, q{'b'} ]);

# The calls in a language, as one list.
sub calls
{
	my ($function, $null, $quote) = @_;

	return join ', ', map { "$function(" . join(', ', map { s/NULL/$null/r =~ s/'/$quote/gr } @$_) . ')' } @calls;
}

# The fingerprint comes from our own programs, as package "farmhash".
my %program = (
	python => sub {
		my ($directory, $code) = @_;

		append_to_file("$directory/farmhash.py", <<"PYTHON");
import sys
sys.path.insert(0, "$top/examples/shard_id")
import shard_id as example
def fingerprint64(text):
    return example.fingerprint64(text.encode())
PYTHON
		append_to_file("$directory/main.py", "${code}print(" . calls('shard_id', 'None', "'") . ")\n");
		return ('python3', '-B', "$directory/main.py");
	},
	js => sub {
		my ($directory, $code) = @_;
		my $package = "$directory/node_modules/farmhash";

		mkdir $_ foreach "$directory/node_modules", $package;
		append_to_file("$package/package.json", '{"name": "farmhash", "exports": "./index.mjs"}');
		append_to_file("$package/index.mjs", <<"JAVASCRIPT");
import { fingerprint64 } from '$top/examples/shard_id/shard_id.mjs';
export default { fingerprint64signed: (text) => BigInt.asIntN(64, fingerprint64(Buffer.from(text))) };
JAVASCRIPT
		append_to_file("$directory/main.mjs", "${code}console.log(" . calls('shardId', 'null', "'") . ");\n");
		return ('node', "$directory/main.mjs");
	},
	java => sub {
		my ($directory, $code) = @_;
		my $guava = $ENV{GUAVA_JAR} // '/usr/share/java/guava.jar';

		return unless -e $guava && find_program('javac');
		my $ids = calls('shardId', 'null', '"');
		append_to_file("$directory/Main.java", <<"JAVA");
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;
import com.google.common.hash.Hashing;
import java.util.Arrays;
class Main {
$code
  public static void main(String[] args) {
    for (int id : new int[] {$ids}) {
      System.out.print(id + " ");
    }
  }
}
JAVA
		return ('java', '-XX:TieredStopAtLevel=1', '-cp', $guava, "$directory/Main.java");
	});

# A function that computes striped values does so for the first and the last
# runs of wide and of narrow sequences.
sub check_striped
{
	my ($document, $block) = @_;
	my $name = "$document, line $block->{line}: striped values in $block->{language}";
	my $directory = PostgreSQL::Test::Utils::tempdir;
	my @kinds = ([ 63, 64 ], [ 63, 4 ], [ 63, 65536 ], [ 53, 16 ], [ 31, 64 ], [ 15, 64 ], [ 15, 128 ], [ 11, 2 ], [ 4, 2 ]);
	my ($expected, $output, $errors) = ('', '', '');

	append_to_file("$directory/main.py", $block->{text});
	foreach my $kind (@kinds)
	{
		my ($bits, $stripes) = @$kind;

		$expected .= $node->safe_psql('postgres', qq{
			DO 'BEGIN PERFORM spanner.create_sequence(''s'', ''striped'', bits => $bits, stripes => $stripes); END';
			SELECT spanner_internal.map_counter(c::bigint, 's')
			  FROM generate_series(0, 2000) run, LATERAL (SELECT 1 + run * ($stripes + 1)::numeric AS c
			   UNION ALL SELECT 2::numeric ^ $bits - 2 - run * ($stripes + 1)) counters
			 WHERE c BETWEEN 1 AND 2::numeric ^ $bits - 2 ORDER BY c;
			DROP SEQUENCE s;}) . "\n";
		append_to_file("$directory/main.py", <<"PYTHON");
most, step = 2**$bits - 2, $stripes + 1
counters = [c for run in range(2001) for c in (1 + run * step, most - run * step) if 1 <= c <= most]
print(*(striped(c, $bits, $stripes) for c in sorted(counters)), sep="\\n")
PYTHON
	}

  SKIP:
	{
		skip "NOT TESTED: $name", 1 unless find_program('python3');
		IPC::Run::run [ 'python3', '-B', "$directory/main.py" ], '>', \$output, '2>', \$errors;
		ok($output eq $expected, $name) or diag($errors);
	}
	return;
}

sub check_program
{
	my ($document, $block) = @_;
	my $name = "$document, line $block->{line}: shard ids in $block->{language}";
	my $directory = PostgreSQL::Test::Utils::tempdir;
	my @command = $program{ $block->{language} }->($directory, $block->{text});
	my $expected = $node->safe_psql('postgres', "SELECT concat_ws(' ', " . calls('spanner.shard_id', 'NULL', "'") . ')');
	my ($output, $errors) = ('', '');

  SKIP:
	{
		skip "NOT TESTED: $name", 1 unless @command && find_program($command[0]);
		IPC::Run::run \@command, '>', \$output, '2>', \$errors;
		is($output =~ s/\s+\z//r, $expected, $name) or diag($errors);
	}
	return;
}

sub check_block
{
	my ($document, $block) = @_;
	my $name = "$document, line $block->{line}";
	my ($way, $named) = ($block->{way} // '', $block->{named} // '');

	if ($way eq 'not run')
	{
		like($named, qr/\w+ \w+/, "$name: says why it is not run");
	}
	elsif ($way eq 'run by')
	{
		ok(-f "$top/$named", "$name: there is $named");
	}
	elsif ($way eq 'found in')
	{
		my ($text, $excerpt) = map { s/\s+/ /gr } slurp_file("$top/$named"), $block->{text};

		ok(index($text, $excerpt) >= 0, "$name: is in $named");
	}
	elsif ($way eq 'computes shard ids' && $program{ $block->{language} })
	{
		check_program($document, $block);
	}
	elsif ($way eq 'computes striped values' && $block->{language} eq 'python')
	{
		check_striped($document, $block);
	}
	elsif ($way eq '' && $block->{language} eq 'sql')
	{
		check_sql($document, $block);
	}
	elsif ($way eq '' && $block->{language} eq 'sh')
	{
		check_shell($document, $block);
	}
	else
	{
		fail("$name: a block of \"$block->{language}\", $way $named: cannot be run, and is not marked");
	}
	return;
}

# What stands within the lines: files and targets of make exist, and the
# statements of tables run, each for itself.
sub check_code_in_text
{
	my ($document, $source) = @_;
	my $text = $source =~ s/^```.*?^```$//gmsr;
	my @code = $text =~ /(?<!`)`([^`\n]+)`(?!`)/g;
	my @files = grep { m{^(?:demo|docs|examples|sql|src|test)/[\w./-]+$} } @code;
	my @make = map { /^make\s+([a-z][\w-]*)/ ? $1 : () } @code;
	my @cells = map { /^\|.*?\|(.*?)(?<!\\)\|/ ? $1 : () } $document =~ /recommendations/ ? split(/\n/, $text) : ();
	my @statements = grep { /^(?:SELECT|CREATE|ALTER|SET|EXPLAIN)\s.*\S/ && !/…/ } map { /`([^`]+)`/g } @cells;
	my ($script, $output) = ('', '');

	is(join(' ', grep { !-e "$top/$_" } @files), '', "$document: the files that it names exist");
	is(join(' ', grep { !$targets{$_} } @make), '', "$document: the targets of make that it names exist");
	$script .= "\\echo =$_\nBEGIN;\n$_;\nROLLBACK;\n" foreach map { s/\\\|/|/gr } @statements;
	IPC::Run::run [ 'psql', '-Xq', '-d', $node->connstr('shop') ], '<', \$script, '>&', \$output;
	unlike($output, qr/^(?:ERROR|FATAL|WARNING)/m, "$document: " . @statements . ' statements within the text')
	  or diag(join "\n", $output =~ /^(=.*\nERROR.*)/mg);
	return;
}

sub check_document
{
	my ($document) = @_;
	my $source = slurp_file("$top/$document");
	my @blocks = blocks($source);

	# A block that is indented only would not be seen.
	unlike($source =~ s/^```.*?^```$//gmsr, qr/^\n {4}\S/m, "$document: no block without a language");
	run_sql($document, grep { $_->{language} eq 'sql' && !$_->{way} } @blocks);
	check_block($document, $_) foreach @blocks;
	check_code_in_text($document, $source);
	$node->safe_psql('postgres', 'DROP DATABASE shop WITH (FORCE)');
	return;
}

# Each function stands with the arguments that must be given, its line has the
# optional ones, and each setting and view stands with its name.
sub check_reference
{
	my $reference = slurp_file("$top/docs/reference.md");
	my $functions = $node->safe_psql('postgres', q{
		SELECT format('%s(%s)%s', p.oid::regproc, required, ', ' || optional)
		  FROM pg_proc p
		 CROSS JOIN LATERAL (SELECT string_agg(name, ', ' ORDER BY i) FILTER (WHERE i <= pronargs - pronargdefaults) AS required,
									string_agg(name, ', ' ORDER BY i) FILTER (WHERE i > pronargs - pronargdefaults) AS optional
							   FROM unnest(proargnames) WITH ORDINALITY a(name, i)
							  WHERE proargmodes IS NULL OR proargmodes[i] IN ('i', 'v')) a
		 WHERE pronamespace = 'spanner'::regnamespace});
	my $names = $node->safe_psql('postgres', q{
		LOAD 'spanner_keys';
		SELECT oid::regclass FROM pg_class WHERE relnamespace = 'spanner'::regnamespace AND relkind IN ('r', 'v');
		SELECT oid::regtype FROM pg_type WHERE typnamespace = 'spanner'::regnamespace AND typtype = 'd';
		SELECT name FROM pg_settings WHERE name ~ '^spanner(_keys)?[.]'});
	my @missing = grep { index($reference, "`$_`") < 0 } split(/\n/, $names);

	# Members stand in the chapter of their extension.
	my %chapter = map { /^(\w+)\n/ ? ($1 => $_) : () } split(/^## /m, $reference);
	my @members = map { [ split / / ] } split /\n/, $node->safe_psql('postgres', q{
		SELECT e.extname, m.name
		  FROM pg_depend d
		  JOIN pg_extension e ON (d.refclassid, d.refobjid, d.deptype) = ('pg_extension'::regclass, e.oid, 'e')
		  JOIN (SELECT 'pg_proc'::regclass, oid, oid::regproc::text, pronamespace FROM pg_proc
				 UNION ALL SELECT 'pg_class'::regclass, oid, oid::regclass::text, relnamespace FROM pg_class WHERE relkind IN ('r', 'v')
				 UNION ALL SELECT 'pg_type'::regclass, oid, oid::regtype::text, typnamespace FROM pg_type WHERE typtype = 'd')
			   m (class, oid, name, namespace) ON (d.classid, d.objid) = (m.class, m.oid)
		 WHERE m.namespace = 'spanner'::regnamespace
		 GROUP BY e.extname, m.name}) =~ s/\|/ /gr;

	is(join("\n", map { "@$_" } grep { ($chapter{ $_->[0] } // '') !~ /`\Q$_->[1]\E[`(]/ } @members),
		'', 'docs/reference.md has all members of an extension in its chapter');

	foreach my $function (split(/\n/, $functions))
	{
		my ($signature, $optional) = $function =~ /^(.*?\))(?:, (.*))?$/;
		my @wanted = map { "`$_`" } $signature, split(/, /, $optional // '');

		push @missing, $function
		  unless grep { my $line = $_; !grep { index($line, $_) < 0 } @wanted } split(/\n/, $reference);
	}
	my %known = map { s/\(.*//r => 1 } split(/\n/, "$functions\n$names");
	my @unknown = grep { !$known{$_} && !/^spanner(?:_keys)?\.(?:load_|c$|enable_$)/ } $reference =~ /`(spanner(?:_keys)?\.\w+)/g;

	is(join("\n", @missing), '', 'docs/reference.md has every function, view and setting');
	is(join("\n", @unknown), '', 'docs/reference.md has no other');

	my @rules = split /\n/, $node->safe_psql('postgres', 'SELECT rule FROM spanner.advisor_rules');
	foreach my $document ('docs/advice.md', 'docs/recommendations.md')
	{
		my $text = slurp_file("$top/$document");

		is(join(' ', grep { index($text, "`$_`") < 0 } @rules), '', "$document has every rule of the advisor");
	}
	return;
}

# The messages that docs/troubleshooting.md explains are such as the source has.
sub check_messages
{
	my ($table) = slurp_file("$top/docs/troubleshooting.md") =~ /^## Messages\n(.*?)(?:^## |\z)/ms;
	my @shown = $table =~ /^\| `([^`]+)` \|/mg;
	my @known;

	foreach my $file (glob("$top/src/*/*.c $top/src/*/*/*.c"))
	{
		push @known, map { quotemeta(s/\\"/"/gr) =~ s/\\%(?:s|u|d|lld|llu)/.*/gr } slurp_file($file) =~ /errmsg(?:_plural)?\("((?:\\.|[^"\\])*)"/g;
	}
	@known = grep { /[a-z]{3}/ } @known;
	is(join("\n", grep { my $message = $_; !grep { $message =~ /^$_$/ } @known } @shown),
		'', 'docs/troubleshooting.md has ' . @shown . ' messages, which there are');
	return;
}

$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->append_conf('postgresql.conf', "fsync = off\njit = off\ntimezone = 'UTC'\nwal_level = logical\nmax_parallel_workers_per_gather = 0");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION spanner_keys; CREATE EXTENSION spanner_keys_ddl; CREATE EXTENSION spanner_keys_advisor; CREATE EXTENSION spanner_keys_splits');
check_document($_) foreach map { s{^\Q$top\E/}{}r } "$top/README.md", sort glob("$top/docs/*.md");
check_reference();
check_messages();

$node->stop;
done_testing();
