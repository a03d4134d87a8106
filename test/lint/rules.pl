#!/usr/bin/perl
#
# rules.pl
#	  The rules of the house about the text of files.
#
# Each rule is a function that is given nothing and returns its findings as a
# list of strings "file:line: what".  Called by run.sh, from the top of the
# source tree.
#
# Usage: test/lint/rules.pl [RULE ...]
#
# Of the rules that are named, all findings are printed; without a name the
# first 20 of each rule.
#
# test/lint/rules.pl

use strict;
use warnings;
use Encode 'decode';
use FindBin;
use lib $FindBin::Bin;
use SourceTree;
use Symbols;

my $max_function = 80;
my $max_regress = 400;
my $max_text = 100;
my $max_body = 60;

my $shown = 20;

# The rooms, and the rooms whose public headers they may use.  Those of one
# extension do not use those of another one that it does not require.
my %uses = (
	spi       => [],
	keys      => [],
	sequence  => [ 'keys', 'spi' ],
	allocator => [ 'keys', 'spi' ],
	planner   => [ 'keys', 'spi' ],
	advisor   => ['spi'],
	splits    => ['spi'],
	spanner_ddl => [ 'keys', 'spi' ],);

# The rooms that are extensions of their own; the others are spanner_keys.
my %extensions = (
	advisor     => 'spanner_keys_advisor',
	spanner_ddl => 'spanner_keys_ddl',
	splits      => 'spanner_keys_splits',);

# The modules of tests, and the group of tests that they are in.
my %test_modules = (
	(map { $_ => 'keys' } qw(keys sequence allocator planner)),
	(map { $_ => $_ } qw(ddl advisor splits)));

sub check_version_num
{
	my @found;

	foreach my $file (grep { m{\.[ch]$} && $_ ne 'src/compat.h' } @files)
	{
		push @found, "$file:" . line_at($code{$file}, $-[0]) . ": belongs into src/compat.h"
		  while $code{$file} =~ /\bPG_(?:VERSION_NUM|MAJORVERSION)/g;
	}
	return @found;
}

# The server has ten places for relation cache callbacks, for all extensions.
sub check_relation_callbacks
{
	my @found;

	foreach my $file (grep { m{^src/.*\.[ch]$} && $_ ne 'src/spi/command_hooks.c' } @files)
	{
		push @found, "$file:" . line_at($code{$file}, $-[0]) . ": use sk_on_relation_change()"
		  while $code{$file} =~ /\bCacheRegisterRelcacheCallback\b/g;
	}
	return @found;
}

# Only there a query is planned and run, which is what rights depend on.
sub check_queries
{
	my @found;

	foreach my $file (grep { m{^src/.*\.[ch]$} && !m{^src/(?:spi/|compat\.h)} } @files)
	{
		push @found, "$file:" . line_at($code{$file}, $-[0]) . ": queries belong into src/spi"
		  while $code{$file} =~ /\b(?:SPI_\w+|CreateQueryDesc|pg_plan_query|parse_analyze\w*|post_parse_analyze_hook)\b/g;
	}
	return @found;
}

# What the catalogs say is evaluated in one place, which looks at the functions.
sub check_stored_expressions
{
	my @found;

	foreach my $file (grep { m{^src/.*\.[ch]$} && $_ ne 'src/planner/key_expression.c' } @files)
	{
		push @found, "$file:" . line_at($code{$file}, $-[0]) . ": use sk_fold_stored()"
		  while $code{$file} =~ /\beval_const_expressions\(NULL\b/g;
	}
	return @found;
}

sub check_function_length
{
	my @found;

	foreach my $file (c_files())
	{
		foreach my $function (functions($file))
		{
			my ($name, $line, $lines, $body) = @$function;
			my @others = grep { /\S/ && !/^\s*(?:DefineCustom\w+Variable|MarkGUCPrefixReserved)\s*\(/ }
			  split(/;/, $body);

			push @found, "$file:$line: $name() has $lines lines, more than $max_function"
			  if $lines > $max_function && @others;
		}
	}
	return @found;
}

# Static functions have prototypes at the top of their file, so that the file can
# be read from its exported functions down.  Inline ones stand before their use.
sub check_prototypes
{
	my @found;

	foreach my $file (grep { m{^src/.*\.c$} } c_files())
	{
		my $code = $nocom{$file};

		while ($code =~ /^static (?!inline|SK_ALWAYS_INLINE)[^\n;=(]*\n(\w+)\([^;{}]*\)\n\{/gm)
		{
			my ($name, $line) = ($1, line_at($code, $-[1]));

			push @found, "$file:$line: static $name() has no prototype"
			  unless $code =~ /^static [^;{}()=]*\b$name\([^;{}]*\);/m;
		}
	}
	return @found;
}

# Files that use each other in a circle cannot be read one after the other.
sub check_circles
{
	my @found;

	foreach my $circle (circles())
	{
		my %members = map { $_->[0] => 1 } @$circle;

		push @found, 'circle of ' . keys(%members) . ' files: ' . join(', ', sort keys %members);
		foreach my $edge (@$circle)
		{
			my ($user, $owner, @symbols) = @$edge;

			push @found, "$user -> $owner: @symbols";
		}
	}
	return @found;
}

# What is exported has callers in two other files.  Start-up calls have one, and
# what libraries call that have methods of their own may have none.
sub check_exports
{
	my @found;
	my $start_up = $code{'src/spanner_keys.h'} // '';
	my $interface = $code{'src/sequence/access_method.h'} // '';

	foreach my $symbol (exported_symbols())
	{
		my @users = sort keys %{ $users{$symbol} };
		my ($file, $line) = @{ $defined{$symbol} };

		next if @users + ($called_at_home{$symbol} // 0) > 1 && @users || grep { /\.h$/ } @users;
		# what another module uses is the interface between the two
		next if @users && room_of($users[0]) ne room_of($file);
		# only pool.c touches shared memory, so it offers each half of a protocol to one file
		next if $file eq 'src/allocator/pool.c' && @users;
		next if $interface =~ /\b$symbol\b/ || ($symbol =~ /_init$/ && $start_up =~ /\b$symbol\b/);
		push @found, "$file:$line: $symbol has no caller in another file: static there" if !@users;
		push @found, "$file:$line: $symbol is called by $users[0] alone: static there, or one file" if @users;
	}
	return @found;
}

# Words that the field does not use (words.txt), in names of exported functions.
sub check_field_words
{
	my @found;
	my %better;

	foreach my $line (grep { !/^#/ && /\S/ } split(/\n/, $text{'test/lint/words.txt'} // ''))
	{
		my ($words, $instead) = $line =~ /^([\w ]+?)\s*:\s*(.*)$/;

		$better{$_} = $instead foreach split(' ', $words // '');
	}
	foreach my $symbol (exported_symbols())
	{
		my ($file, $line) = @{ $defined{$symbol} };

		push @found, map { "$file:$line: \"$_\" in $symbol: $better{$_}" }
		  grep { $symbol =~ /_${_}(?:_|$)/ } sort keys %better;
	}
	return @found;
}

sub check_line_comments
{
	my @found;

	foreach my $file (sort keys %code)
	{
		push @found, "$file:" . line_at($code{$file}, $-[0]) . ": //"
		  while $code{$file} =~ m{//}g;
	}
	return @found;
}

sub check_file_header
{
	my @found;

	foreach my $file (c_files())
	{
		my $name = $file =~ s{.*/}{}r;

		push @found, "$file:1: the header comment does not name file and path"
		  unless $text{$file} =~
		  m{\A/\*-{70,}\n \*\n \* \Q$name\E\n \*\t  \S.*?\n \* \Q$file\E\n \*\n \*-{70,}\n \*/\n}s;
	}
	return @found;
}

# The documented order: "postgres.h", <system>, server's, blank line, ours.
sub check_includes
{
	my @found;

	foreach my $file (c_files())
	{
		my ($last, $last_group) = ('', 0);

		while ($nocom{$file} =~ /^#include ([<"])([^>"]+)[>"]/gm)
		{
			my ($quote, $name) = ($1, $2);
			my $at = "$file:" . line_at($nocom{$file}, $-[0]);
			my $ours = $quote eq '"' && defined find_ours($file, $name);
			my $group = $name =~ /^postgres(?:_fe)?\.h$/ ? 1 : $quote eq '<' ? 2 : $ours ? 4 : 3;

			push @found, "$at: $name is out of order"
			  if $group < $last_group || ($group == $last_group && lc($name) lt lc($last));
			($last, $last_group) = ($name, $group);
		}
	}
	return @found;
}

# Another room's header may be used if that room lies below and src/README.md
# names the header as public.
sub check_rooms
{
	my @found;
	my %public;

	foreach my $paragraph (split(/\n\n/, $text{'src/README.md'} // ''))
	{
		next unless $paragraph =~ /\bpublic\s+headers?\b/i;
		$public{$1} = 1 while $paragraph =~ m{`(?:src/)?(\w+/\w+\.h)`}g;
	}
	foreach my $file (c_files())
	{
		my $room = room_of($file);

		while ($nocom{$file} =~ /^#include "([^"]+)"/gm)
		{
			my $at = "$file:" . line_at($nocom{$file}, $-[0]);
			my $header = find_ours($file, $1) // next;
			my $other = room_of($header);

			next if $other eq '' || $other eq $room;
			if ($room ne '' && !grep { $_ eq $other } @{ $uses{$room} // [] })
			{
				push @found, "$at: room $room may not use room $other";
			}
			elsif (!$public{ $header =~ s{^src/}{}r })
			{
				push @found, "$at: src/README.md does not name $header as public";
			}
		}
	}
	return @found;
}

# The extension that a file of src belongs to.
sub extension_of
{
	my ($file) = @_;

	return $extensions{ room_of($file) } // 'spanner_keys';
}

# The extensions that one requires, as its control file says, and itself.
sub required
{
	my ($extension) = @_;
	my ($list) = ($text{"$extension.control"} // '') =~ /^requires\s*=\s*'([^']*)'/m;

	$list //= $extension eq 'spanner_keys' ? '' : 'spanner_keys';
	return ($extension, map { required($_) } grep { /^spanner_keys/ } split(/[,\s]+/, $list));
}

# What an extension makes is not named by one that does not require it, but in a
# text that says which extension is to be created, and in comments.
sub check_extensions
{
	my @found;
	my %made;

	foreach my $file (base_scripts())
	{
		$made{ lc $1 }{ extension_of($file) } = 1
		  while $text{$file} =~
		  /^CREATE\s+(?:OR\s+REPLACE\s+)?(?:FUNCTION|PROCEDURE|AGGREGATE|VIEW|TABLE|TYPE|DOMAIN)\s+(spanner\w*\.\w+)/gim;
	}
	foreach my $file (grep { m{^src/.*\.(?:sql|[chyl])$} } @files)
	{
		my $is_sql = $file =~ /\.sql$/;
		my $literal = $is_sql ? qr/'(?:[^']|'')*'/ : qr/"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*/;
		my $text = $is_sql ? $text{$file} =~ s{--[^\n]*|/\*.*?\*/}{blank($&)}gesr : blank_comments($text{$file});
		my %may = map { $_ => 1 } required(extension_of($file));
		my %names = map { my $name = $_; map { $_ => 1 } grep { !$may{$_} } keys %{ $made{$name} } } keys %made;

		$text =~ s{$literal}{my $said = $&; (grep { $said =~ /\b$_\b/ } keys %names) ? blank($said) : $said}ges;
		while ($text =~ /\b(spanner(?:_internal)?\.\w+)\b/g)
		{
			my @makers = sort keys %{ $made{ lc $1 } // {} };

			push @found, "$file:" . line_at($text, $-[0]) . ": $1 is of $makers[0], which is not required"
			  if @makers && !grep { $may{$_} } @makers;
		}
	}
	return @found;
}

sub check_names
{
	my @found;

	# a program has names of its own
	foreach my $file (grep { m{^src/(?!splits/client/).*\.c$} } c_files())
	{
		while ($code{$file} =~ /^(?!static\b)(\w[\w \t*]*)\n(\w+)\([^;{}]*\)\s*\n\{/gm)
		{
			my ($type, $name) = ($1, $2);
			my $line = line_at($code{$file}, $-[2]);

			next if $name =~ /^(?:sk_|spanner_|_PG_)/;
			push @found, "$file:$line: exported $name() has no prefix sk_ or spanner_";
		}
		while ($code{$file} =~ /^static\b[\w \t*]*\n(sk_init_|my_|do_|handle_)\w*\(/gm)
		{
			push @found, "$file:" . line_at($code{$file}, $-[1]) . ": static name starts with $1";
		}
	}
	return @found;
}

sub check_errcode
{
	my @found;

	foreach my $file (c_files())
	{
		foreach my $call (calls($file, 'ereport'))
		{
			push @found, "$file:$call->[2]: ereport without errcode"
			  unless $call->[1] =~ /\berrcode(?:_for_\w+)?\s*\(/;
		}
	}
	return @found;
}

sub spanner_wording
{
	return map { $_ => 1 }
	  grep { !/^#/ && /\S/ } split(/\n/, $text{'test/lint/spanner_wording.txt'} // '');
}

sub check_errmsg
{
	my @found;
	my %wording = spanner_wording();
	my %used;

	foreach my $file (c_files())
	{
		foreach my $call (calls($file, 'errmsg(?:_plural|_internal)?'))
		{
			my ($name, $arguments, $line) = @$call;

			foreach my $message (literals($arguments, $name =~ /plural/ ? 2 : 1))
			{
				$used{$message} = 1;
				next if $wording{$message};
				push @found, "$file:$line: message starts upper case: $message"
				  if $message =~ /^[A-Z][a-z]/;
				push @found, "$file:$line: message ends in \"$1\": $message"
				  if $message =~ /([.!\n])$/;
				push @found, "$file:$line: \"$1\" in message: $message"
				  if $message =~ /\b(please|unable to|illegal|spanner_keys:)\b/i;
			}
		}
	}
	push @found, map { "test/lint/spanner_wording.txt: not used: $_" }
	  grep { !$used{$_} } sort keys %wording;
	return @found;
}

sub check_detail
{
	my @found;
	my %wording = spanner_wording();

	foreach my $file (c_files())
	{
		foreach my $call (
			calls($file, '(?:err(?:detail|hint)(?:_plural|_internal|_log)?|GUC_check_err(?:detail|hint))'))
		{
			my ($name, $arguments, $line) = @$call;

			foreach my $message (literals($arguments, $name =~ /plural/ ? 2 : 1))
			{
				next if $message =~ /^%s$/ || $wording{$message};
				push @found, "$file:$line: no sentence that starts with a capital: $message"
				  if $message =~ /^[a-z]/;
				push @found, "$file:$line: no full stop: $message"
				  if $message !~ /[.?]\)?$/;
			}
		}
	}
	return @found;
}

# What is public has COMMENT ON, and so have schemas and domains.  A function that
# only the extension calls has a comment in front of it instead, which small ones
# share that follow without an empty line.
sub check_comments_on
{
	my @found;
	my $object =
	  qr/(FUNCTION|PROCEDURE|AGGREGATE|VIEW|TYPE|DOMAIN|TABLE|SCHEMA)\s+(?:IF\s+NOT\s+EXISTS\s+)?([\w.]+)/i;
	my $function = qr/^(?:FUNCTION|PROCEDURE|AGGREGATE)$/;

	foreach my $file (base_scripts())
	{
		my @lines = split(/\n/, $text{$file});
		my (%created, %commented);
		my ($last_end, $last_had) = (0, 0);

		foreach my $statement (statements($file))
		{
			my ($sql, $line, undef, $end) = @$statement;
			my ($kind, $name) = $sql =~ /^\s*CREATE\s+(?:OR\s+REPLACE\s+)?$object/ ? (uc $1, lc $2) : ('', '');
			my ($of_kind, $of_name) = $sql =~ /^\s*COMMENT\s+ON\s+$object/ ? (uc $1, lc $2) : ('', '');
			my $internal = $kind =~ $function && $name =~ /^spanner_internal\./;
			my $above = $line > 1 ? $lines[ $line - 2 ] : '';
			my $has = $above =~ /^--|\*\/\s*$/ || ($last_end == $line - 1 && $last_had);

			push @found, "$file:$line: $kind $name has no comment in front of it" if $internal && !$has;
			($last_end, $last_had) = ($end, $internal && $has);
			push @found, "$file:$line: COMMENT ON an internal function: a comment in front of $of_name"
			  if $of_kind =~ $function && $of_name =~ /^spanner_internal\./;
			$commented{"$of_kind $of_name"}++ if $of_kind ne '';
			# a type that its functions name before it is there
			next if $kind eq '' || $sql =~ /^\s*CREATE\s+TYPE\s+[\w.]+\s*$/i;
			$created{"$kind $name"} .= "$line " if $name =~ /^spanner\./ || $kind =~ /^(?:DOMAIN|SCHEMA)$/;
		}
		foreach my $name (sort keys %created)
		{
			my @created = split(' ', $created{$name});

			push @found, "$file:$created[0]: $name has no COMMENT ON" if @created > ($commented{$name} // 0);
		}
	}
	return @found;
}

sub check_functions
{
	my @found;

	foreach my $file (base_scripts())
	{
		foreach my $statement (statements($file))
		{
			my ($sql, $line) = @$statement;

			next unless $sql =~ /^\s*CREATE\s+(OR\s+REPLACE\s+)?FUNCTION\s+([\w.]+)/i;
			my ($replace, $name) = ($1, $2);

			push @found, "$file:$line: $name: OR REPLACE outside an upgrade script" if $replace;
			push @found, "$file:$line: $name is not qualified with spanner or spanner_internal"
			  unless $name =~ /^spanner(?:_internal)?\./;
			push @found, "$file:$line: $name states no volatility"
			  unless $sql =~ /\b(?:VOLATILE|STABLE|IMMUTABLE)\b/i;
			push @found, "$file:$line: $name states no PARALLEL"
			  unless $sql =~ /\bPARALLEL\s+(?:SAFE|RESTRICTED|UNSAFE)\b/i;
		}
	}
	return @found;
}

# Bodies that are parsed when they run must not depend on search_path.  Those in
# standard SQL are parsed when the function is made.
sub check_qualified
{
	my @found;
	my %plain = map { $_ => 1 } qw(all and any array as between by case cast coalesce
	  constraint conflict count distinct elsif exception execute exists extract filter format from
	  generated greatest group having if in index insert interval into is join key lateral least like
	  limit not nullif numeric offset on or order over partition perform position primary raise record
	  references return returning returns row select set some substring table then trim union unique
	  using values varchar when where while with within);

	foreach my $file (base_scripts())
	{
		foreach my $statement (statements($file))
		{
			my ($sql, $line, $bodies) = @$statement;

			next if $sql !~ /\bFUNCTION\b|\bPROCEDURE\b|^\s*DO\b/i;
			push @found, "$file:$line: SET search_path, which a body in standard SQL does not need"
			  if !@$bodies && $sql =~ /^\s*SET\s+search_path\b/im && $sql =~ /\bBEGIN\s+ATOMIC\b|^\s*RETURN\b/im;
			next if $sql =~ /\bSET\s+search_path\b/i;
			foreach my $body (@$bodies)
			{
				my $plain = $body;
				my %local;

				$plain =~ s{--[^\n]*|'(?:[^']|'')*'}{blank($&)}ges;
				$plain =~ s/\A\$\w*\$|\$\w*\$\z//g;
				$local{lc $1} = 1 while $plain =~ /\b(\w+)\s+AS\s+(?:NOT\s+)?(?:MATERIALIZED\s+)?\(/gi;
				$local{lc $1} = 1 while $plain =~ /\bAS\s+(\w+)\s*\(/gi;
				while ($plain =~ /(?<![\w."])([a-z_]\w*)\s*\(/gi)
				{
					push @found, "$file:$line: $1() is not qualified"
					  unless $plain{ lc $1 } || $local{ lc $1 } || lc $1 eq 'operator';
				}
				while ($plain =~ /\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:ONLY\s+)?([a-z_]\w*)\b(?!\s*[.(])/gi)
				{
					push @found, "$file:$line: relation $1 is not qualified"
					  unless $local{ lc $1 } || $plain{ lc $1 } || $plain =~ /LANGUAGE plpgsql/i;
				}
				push @found, "$file:$line: operator $1 is not qualified"
				  while $plain =~ m{\s(=|<>|<=?|>=?|\|\||[-+/~])\s}g;
			}
		}
	}
	return @found;
}

# Lines of SQL are as wide as those of text.
sub check_sql_width
{
	my @found;

	foreach my $file (grep { m{^src/.*\.sql$} } @files)
	{
		push @found, "$file:" . line_at($text{$file}, $-[0]) . ": more than $max_text columns"
		  while $text{$file} =~ /^.{$max_text}./gmo;
	}
	return @found;
}

# SQL that a reader can follow, and that no name can end: short bodies, and no
# statement within the text of another one.
sub check_plain_sql
{
	my @found;

	foreach my $file (base_scripts())
	{
		push @found, "$file:" . line_at($text{$file}, $-[0]) . ": a text between $&: quote it with %L or format()"
		  while $text{$file} =~ /\$\w+\$/g;
		foreach my $statement (statements($file))
		{
			my ($sql, $line, $bodies) = @$statement;

			foreach my $body (@$bodies)
			{
				my $lines = ($body =~ tr/\n//) - 1;
				my $plain = $body =~ s/--[^\n]*//gr;

				push @found, "$file:$line: a body of $lines lines, more than $max_body" if $lines > $max_body;
				while ($plain =~ /'((?:[^']|'')*)'/g)
				{
					my $literal = $1;

					push @found, "$file:$line: a DO block within a text: call a function"
					  if $literal =~ /(?:^|;)\s*DO\b/i;
					push @found, "$file:$line: a statement that is built within a text: call a function"
					  if $literal =~ /\bformat\s*\(|\bEXECUTE\s+(?!FUNCTION\b)/;
				}
			}
		}
	}
	return @found;
}

sub check_regress_length
{
	my @found;

	foreach my $file (grep { m{^sql/[^/]+\.sql$} } @files)
	{
		my $lines = ($text{$file} =~ tr/\n//);

		push @found, "$file: $lines lines, more than $max_regress" if $lines > $max_regress;
	}
	return @found;
}

# The group of a test by its name, which says module and subject.
sub test_name
{
	my ($name) = @_;

	return 'all' if $name eq 'install';
	return undef unless $name =~ /^([a-z]+)_\w+$/ && $name !~ /_(?:more|rest|forms|traps|cases|misc|other|\d+)$/;
	return $test_modules{$1};
}

# What the Makefile lists exists, and what exists is listed.
sub check_test_files
{
	my @found;

	foreach my $kind (
		[ 'REGRESS',   'sql',                  'sql',  'expected' ],
		[ 'ISOLATION', 'test/isolation/specs', 'spec', 'test/isolation/expected' ])
	{
		my ($list, $inputs, $suffix, $outputs) = @$kind;
		my %listed = map { $_ => 1 } make_list($list);

		foreach my $name (sort keys %listed)
		{
			push @found, "Makefile: $list: there is no $inputs/$name.$suffix"
			  unless exists $text{"$inputs/$name.$suffix"};
			push @found, "Makefile: $list: there is no $outputs/$name.out"
			  unless exists $text{"$outputs/$name.out"};
		}
		push @found, map { "Makefile: $list: $_ is not named module_subject" } grep { !test_name($_) } sort keys %listed;
		foreach my $group (sort values %{ { map { $_ => $_ } values %test_modules } })
		{
			push @found, map { "Makefile: ${list}_$group: $_ is of another extension" }
			  grep { (test_name($_) // $group) ne $group } make_list("${list}_$group");
		}
		foreach my $file (grep { m{^\Q$inputs\E/} } @files)
		{
			next if $file =~ m{/spanner_keys\w*--|^sql/include/};
			push @found, "$file: not in $list"
			  unless $file =~ m{^\Q$inputs\E/([^/]+)\.\Q$suffix\E$} && $listed{$1};
		}
		foreach my $file (grep { m{^\Q$outputs\E/} } @files)
		{
			push @found, "$file: belongs to no test in $list"
			  unless $file =~ m{^\Q$outputs\E/([^/]+?)(?:_\d)?\.out$} && $listed{$1};
		}
	}
	push @found, map { "$_: not named NNN_subject.pl" }
	  grep { m{^test/t/} && !m{^test/t/(?:\d\d\d_\w+\.pl|[A-Z]\w+\.pm)$} } @files;
	foreach my $object (make_list('OBJS'))
	{
		push @found, "Makefile: OBJS: there is no source of $object"
		  unless grep { exists $text{ $object =~ s/o$/$_/r } } qw(c y l);
	}
	my %objects = map { $_ => 1 } make_list('OBJS');
	push @found, map { "$_: not in OBJS" }
	  grep { m{^src/(?!splits/client/).*\.c$} && !$objects{ s/\.c$/.o/r } } @files;
	return @found;
}

# What users call has a test and a document: what is in the schema spanner, the
# settings, and the functions of GoogleSQL that are known.
sub check_tested
{
	my @found;
	my $tests = join("\n", map { $text{$_} } grep { m{^(?:sql|test)/} && $_ ne 'sql/install.sql' } @files);
	my $reference = $text{'docs/reference.md'} // '';
	my ($listed) = ($text{'docs/from_spanner.md'} // '') =~ /^\*\*Functions\.\*\* These are known(.*?)^These are errors/ms;
	my ($vocabulary) = ($text{'src/spanner_ddl/vocabulary.c'} // '') =~ /^const SkDdlFunction sk_ddl_functions\[\] = (.*?)^\};/ms;
	my %wanted;

	foreach my $file (base_scripts())
	{
		$wanted{$1} = $file while $text{$file} =~ /^CREATE (?:FUNCTION|PROCEDURE|AGGREGATE|VIEW|TABLE|DOMAIN) (spanner\.\w+)/gm;
	}
	foreach my $file (grep { m{^src/.*\.c$} } @files)
	{
		$wanted{$1} = $file while $nocom{$file} =~ /\bDefineCustom\w+\(\s*"(spanner\w*\.\w+)"/g;
	}
	foreach my $name (sort keys %wanted)
	{
		push @found, "$wanted{$name}: no test has $name" unless $tests =~ /\b\Q$name\E\b/;
		push @found, "$wanted{$name}: docs/reference.md has no $name" unless $reference =~ /`\Q$name\E\b/;
	}
	foreach my $name (map { uc } ($vocabulary // '') =~ /(?:\b(?:CORE|OURS|WITH_PART)\(|\{)"(\w+)"/g)
	{
		push @found, "src/spanner_ddl/vocabulary.c: no test has $name" unless $tests =~ /\b$name\b/;
		push @found, "src/spanner_ddl/vocabulary.c: docs/from_spanner.md does not list $name"
		  unless !defined $listed || $listed =~ /`$name`/;
	}
	return @found;
}

sub check_expected_files
{
	return map { "$_ is missing" } grep { !exists $text{$_} } qw(README.md CHANGELOG.md CONTRIBUTING.md LICENSE
	  META.json Makefile spanner_keys.control src/README.md test/README.md .editorconfig .gitignore .ci/run);
}

# What names the release: control files and scripts by the version of the SQL
# objects, the rest with a third number, of which 0 may be left out.
sub check_versions
{
	my @found;
	my @extensions = make_list('EXTENSION');
	my ($control) = ($text{'spanner_keys.control'} // '') =~ /^default_version\s*=\s*'([^']+)'/m;
	my %listed;
	my $meta = ($text{'META.json'} // '') =~ s/"(?:meta-spec|prereqs)"\s*:\s*\{.*?\n\t\}//gsr;
	my ($release) = $meta =~ /^\t"version"\s*:\s*"([^"]+)"/m;
	my ($magic) = ($text{'src/compat.h'} // '') =~ /\.version\s*=\s*"([^"]+)"/;
	my ($changes, $pending) = ($text{'CHANGELOG.md'} // '') =~ /^## (\S+)(.*)$/m;
	my ($package, $distribution) = ($text{'debian/changelog'} // '') =~ /\A\S+ \(([^)]+)-[^-)]+\) (\S+);/;
	my %version = (
		'META.json'        => $release,
		'src/compat.h'     => $magic,
		'CHANGELOG.md'     => $changes,
		'debian/changelog' => $package);

	return 'spanner_keys.control: no default_version' unless defined $control;

	push @found, "Makefile: DATA_built does not list sql/EXTENSION--$control.sql"
	  unless "@{[ make_list('DATA_built') ]}" eq "\$(EXTENSION:%=sql/%--$control.sql)";
	foreach my $extension (@extensions)
	{
		my @parts = make_list("SQL_$extension");

		push @found, "$extension.control: version of spanner_keys.control is $control"
		  unless ($text{"$extension.control"} // '') =~ /^default_version\s*=\s*'\Q$control\E'/m;
		push @found, "META.json: does not provide $extension" unless $meta =~ /^\t\t"$extension"\s*:/m;
		push @found, map { "Makefile: SQL_$extension lists $_, which is missing" } grep { !exists $text{$_} } @parts;
		push @found, map { "Makefile: SQL_$extension lists $_, of " . extension_of($_) }
		  grep { extension_of($_) ne $extension } @parts;
		$listed{$_} = 1 foreach @parts;
	}
	push @found, map { "$_: EXTENSION does not list it" }
	  grep { my $file = $_; !grep { $file eq "$_.control" } @extensions } grep { /^[^\/]+\.control$/ } @files;
	push @found, map { "Makefile: no SQL_EXTENSION lists $_" } grep { !$listed{$_} } base_scripts();
	foreach my $file (sort keys %version)
	{
		my $version = $version{$file} // 'none';

		push @found, "$file: version $version, the control file says $control"
		  unless $version =~ /^\Q$control\E(?:\.\d+)?$/;
		push @found, "$file: version $version, META.json says " . ($release // 'none')
		  unless $version =~ s/^(\d+\.\d+)\.0$/$1/r eq ($release // '') =~ s/^(\d+\.\d+)\.0$/$1/r;
	}
	push @found, map { "META.json: version $_ of what it provides, not $release" }
	  grep { $_ ne ($release // '') } $meta =~ /"version"\s*:\s*"([^"]+)"/g;

	# All of them, or none, say that it is not released yet.
	my $unreleased = ($pending // '') =~ /unreleased/;

	push @found, 'debian/changelog: ' . ($distribution // 'none') . ', CHANGELOG.md says' . ($pending // ' nothing')
	  if (($distribution // '') eq 'UNRELEASED') != $unreleased;
	push @found, 'META.json: release_status, CHANGELOG.md says' . ($pending // ' nothing')
	  if ($meta =~ /"release_status"\s*:\s*"stable"/ ? 1 : 0) == $unreleased;
	return @found;
}

# debian/control is control.in, with the packages once for each server release.
sub check_packages
{
	my @paragraphs = split(/\n\n/, ($text{'debian/control.in'} // '') =~ s/\n\z//r);
	my $control = $text{'debian/control'} // '';
	my @releases = $control =~ /^Package: postgresql-(\d+)-/mg;
	my $expected = join("\n\n",
		map { my $paragraph = $_; /PGVERSION/ ? map { $paragraph =~ s/PGVERSION/$_/gr } @releases : $paragraph }
		  @paragraphs);

	return if @releases && $control eq "$expected\n";
	return 'debian/control is not what pg_buildext updatecontrol makes of debian/control.in';
}

# Blocks of code and tables may be wider.
sub check_text_width
{
	my @found;

	foreach my $file (grep { /\.md$/ && $_ ne 'docs/bench/report.md' } @files)
	{
		my $text = decode('UTF-8', $text{$file});

		$text =~ s{^```.*?^```}{blank($&)}gmse;
		push @found, "$file:" . line_at($text, $-[0]) . ": more than $max_text columns"
		  while $text =~ /^(?!\||!\[|<!--|#| {4}|\t).{$max_text}./gmo;
	}
	return @found;
}

sub check_blanks
{
	my @found;

	foreach my $file (grep { !/\.out$/ } @files)
	{
		push @found, "$file:" . line_at($text{$file}, $-[0]) . ": trailing blank"
		  while $text{$file} =~ /[ \t\r]+$/gm;
		push @found, "$file: no newline at the end" if $text{$file} =~ /[^\n]\z/;
		push @found, "$file: blank lines at the end" if $text{$file} =~ /\n\n\z/;
	}
	return @found;
}

sub check_tabs
{
	my @found;

	foreach my $file (sort keys %code)
	{
		push @found, "$file:" . line_at($code{$file}, $-[0]) . ": indented with spaces"
		  while $code{$file} =~ /^\t* {4,}\S/gm;
	}
	return @found;
}

sub check_words
{
	my @found;
	my $words = join('|', 'TO' . 'DO', 'FIX' . 'ME', 'X' . 'XX', 'st' . 'ubs?', 'not ' . 'implemented');

	foreach my $file (@files)
	{
		push @found, "$file:" . line_at($text{$file}, $-[0]) . ": $1"
		  while $text{$file} =~ /\b($words)\b/g;
	}
	return @found;
}

my @rules = (
	[ 'version-num',     \&check_version_num ],
	[ 'relation-callbacks', \&check_relation_callbacks ],
	[ 'queries',         \&check_queries ],
	[ 'stored-expressions', \&check_stored_expressions ],
	[ 'function-length', \&check_function_length ],
	[ 'prototypes',      \&check_prototypes ],
	[ 'circles',         \&check_circles ],
	[ 'exports',         \&check_exports ],
	[ 'field-words',     \&check_field_words ],
	[ 'line-comments',   \&check_line_comments ],
	[ 'file-header',     \&check_file_header ],
	[ 'includes',        \&check_includes ],
	[ 'rooms',           \&check_rooms ],
	[ 'extensions',      \&check_extensions ],
	[ 'names',           \&check_names ],
	[ 'errcode',         \&check_errcode ],
	[ 'errmsg',          \&check_errmsg ],
	[ 'errdetail',       \&check_detail ],
	[ 'comment-on',      \&check_comments_on ],
	[ 'sql-functions',   \&check_functions ],
	[ 'sql-qualified',   \&check_qualified ],
	[ 'sql-width',       \&check_sql_width ],
	[ 'sql-plain',       \&check_plain_sql ],
	[ 'regress-length',  \&check_regress_length ],
	[ 'test-files',      \&check_test_files ],
	[ 'tested',          \&check_tested ],
	[ 'expected-files',  \&check_expected_files ],
	[ 'versions',        \&check_versions ],
	[ 'packages',        \&check_packages ],
	[ 'text-width',      \&check_text_width ],
	[ 'trailing-blanks', \&check_blanks ],
	[ 'tabs',            \&check_tabs ],
	[ 'words',           \&check_words ],);
my %chosen = map { $_ => 1 } @ARGV;
my $bad = 0;

foreach my $name (@ARGV)
{
	die "rules.pl: there is no rule \"$name\"\n" unless grep { $_->[0] eq $name } @rules;
}
read_files();
read_symbols();
foreach my $rule (@rules)
{
	my ($name, $check) = @$rule;

	next if %chosen && !$chosen{$name};

	my @found = $check->();
	my $first = shift @found;

	print defined $first ? "not ok lint-$name: $first\n" : "ok lint-$name\n";
	splice(@found, $shown, @found - $shown, '... and ' . (@found - $shown) . " more: rules.pl $name")
	  if @found > $shown && !%chosen;
	print "    $_\n" foreach @found;
	$bad = 1 if defined $first;
}
exit $bad;
