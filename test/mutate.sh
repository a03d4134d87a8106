#!/bin/bash
#
# mutate.sh
#	  Break the source in small ways, one at a time, and see if a test notices.
#
# Usage: test/mutate.sh [COUNT [SEED [FILE ...]]]	10 breaks anywhere in src by default
#
# Each break negates a condition, drops a call, counts one more or less, or
# takes < for <=.  It is built in a copy and tested by regress, the tests of its
# module first, and by isolation, up to the first failure.  TAP="test/t/02*.pl"
# names tests that follow when these have passed.  One line for each break:
# "caught by TEST", "not caught", or "does not build".  The same seed makes the
# same breaks in the same source.
#
# test/mutate.sh

set -u
cd "$(dirname "$0")/.." || exit 1
[ "${1:-}" != --inside ] || { shift; inside=1; }
[ -n "${inside:-}" ] || exec test/bin/overlay.sh test/mutate.sh --inside "$@"

. test/bin/cluster.sh
count=${1:-10}
seed=${2:-1}
shift $(($# < 2 ? $# : 2))
limit=${TAP:+1}300
declare -A results=()

# Print COUNT breaks, each as "file:line <tab> new text".
choose_breaks()
{
	perl -Itest/lint -MSourceTree -MList::Util=shuffle - "$@" <<-'PERL'
		my ($count, $seed, @wanted) = @ARGV;
		my @breaks;

		srand($seed);
		read_files();
		foreach my $file (grep { m{^src/.*\.c$} } @files)
		{
			next if @wanted && !grep { $_ eq $file } @wanted;

			my @lines = split(/\n/, $text{$file});
			my @blanked = split(/\n/, $code{$file});

			foreach my $i (0 .. $#lines)
			{
				my @new = change($lines[$i], $blanked[$i]);

				push @breaks, map { "$file:" . ($i + 1) . "\t$_" } @new;
			}
		}
		my @chosen = shuffle(@breaks);
		splice(@chosen, $count) if @chosen > $count;
		print "$_\n" foreach @chosen;

		# What can be made of a line; comments and strings are blank in the second text.
		sub change
		{
			my ($line, $code) = @_;
			my @new;

			# Macros, declarations of data, and checks that a release does not make
			return if $code =~ /^#|^\S|^\tstatic|\b(?:Assert|StaticAssertStmt|elog|Trap)\b/;
			# Only whole statements and conditions: the parentheses are even.
			if (($code =~ tr/(//) == ($code =~ tr/)//))
			{
				push @new, "$1if (!($2))" if $line =~ /^(\s*(?:else )?)if \((.*)\)$/;
				push @new, "$1;" if $code =~ /^(\t+)\w+\(.*\);$/ && $code !~ /^\t+PG_|\w+\(void\)/;
			}
			while ($code =~ /( [-+] 1\b)|( [<>]=? )/g)
			{
				my ($from, $length) = ($-[0], $+[0] - $-[0]);
				my $to = defined $1 ? '' : { ' < ' => ' <= ', ' <= ' => ' < ', ' > ' => ' >= ', ' >= ' => ' > ' }->{$2};

				push @new, substr($line, 0, $from) . $to . substr($line, $from + $length);
			}
			return @new;
		}
	PERL
}

installcheck()
{
	timeout "$limit" env MAKEFLAGS= HOME="$cluster_dir" setpriv --reuid="$cluster_user" \
		--regid="$(id -g "$cluster_user")" --init-groups \
		make -C "$build" installcheck PG_CONFIG="$cluster_pg_config" \
		"PROVE_TESTS=${TAP:-}" "PROVE_FLAGS=-j$(nproc)" "$@" 2>&1
}

# All regress tests, those of a directory of src first.
regress_tests()
{
	make -s -C "$build" --eval='print-it: ; @printf "%s\n" $(REGRESS)' print-it PG_CONFIG="$cluster_pg_config" |
		awk -v own="^${1#spanner_}_" '$0 ~ own { print; next } { others = others " " $0 } END { print others }'
}

# The name of the first test that fails.  When grep has it, pg_regress ends.
first_failure()
{
	local line without regress

	regress=$(regress_tests "$1" | xargs)
	for without in 'ISOLATION= TAP_TESTS=' 'REGRESS= TAP_TESTS=' ${TAP:+'REGRESS= ISOLATION='}
	do
		line=$({ installcheck "REGRESS=$regress" $without || [ $? != 124 ] || echo 'not ok 0 - time_limit'; } |
			grep -m 1 -E '^not ok |\.\.\. FAILED|\.pl \.+ (Dubious|Failed)|^make.*Error')
		[ -z "$line" ] || {
			sed -E 's/^not ok +[0-9]+ +[-+] *|^test |^ +//; s/ .*//' <<< "$line"
			return
		}
	done
}

try_break()
{
	local place=$1 text=$2 file=${1%:*} line=${1##*:} started=$SECONDS result failure old

	old=$(sed -n "${line}p" "$build/$file")
	cp "$build/$file" "$cluster_dir/saved"
	echo "$text" > "$cluster_dir/new"
	sed -e "${line}{r $cluster_dir/new" -e 'd}' "$cluster_dir/saved" > "$build/$file"
	if ! cluster_run make -s -C "$build" with_llvm=no PG_CONFIG="$cluster_pg_config" all > "$log" 2>&1
	then
		result="does not build"
	else
		cluster_install "$build" with_llvm=no > "$log" 2>&1
		cluster_ctl -m immediate restart -l "$cluster_dir/server.log"
		failure=$(first_failure "$(cut -d / -f 2 <<< "$file")")
		result=${failure:+caught by $failure}
		result=${result:-not caught}
	fi
	echo "$place: $result ($((SECONDS - started)) s)"
	sed 's/^[[:space:]]*/    - /' <<< "$old"
	sed 's/^[[:space:]]*/    + /' <<< "$text"
	results[${result%% by*}]=$((${results[${result%% by*}]:-0} + 1))
	cp "$cluster_dir/saved" "$build/$file"
}

cluster_build with_llvm=no
[ -z "${TAP:-}" ] || cluster_install_modules "$build" with_llvm=no > "$log" 2>&1
cluster_create fsync=off max_connections=50
failure=$(first_failure keys)
[ -z "$failure" ] || cluster_fail "$failure fails without a break"
(cd "$build" && choose_breaks "$count" "$seed" "$@") > "$cluster_dir/breaks"
while IFS=$'\t' read -r place text <&4
do
	try_break "$place" "$text"
done 4< "$cluster_dir/breaks"
for result in "${!results[@]}"
do
	echo "$result: ${results[$result]}"
done
