#!/bin/bash
#
# run.sh
#	  Check the rules of the house that a machine can check.
#
# One line for each rule: "ok lint-NAME" or "not ok lint-NAME: what, where".
# The rules about the text of files are in rules.pl, which runs single ones too.
#
# test/lint/run.sh

set -u
cd "$(dirname "$0")/../.." || exit 1
pg_config=${PG_CONFIG:-pg_config}
bad=0

# report NAME [FINDING ...]
report()
{
	local name=$1

	shift
	if [ $# = 0 ]
	then
		echo "ok lint-$name"
	else
		printf "not ok lint-$name: %s\n" "$1"
		shift
		[ $# = 0 ] || printf '    %s\n' "$@"
		bad=1
	fi
}

all_files()
{
	find . \( -name .git -o -name tmp_check -o -name results -o -name output_iso -o -name log \) -prune \
		-o -type f "$@" -print
}

# Every header compiles on its own after postgres.h.
check_headers()
{
	local include header line findings=()

	include=$("$pg_config" --includedir-server 2> /dev/null)
	if [ ! -e "$include/postgres.h" ]
	then
		report headers "no server headers to compile with"
		return
	fi
	while read -r header
	do
		line=$(printf '#include "postgres.h"\n#include "%s"\n' "${header#src/}" |
			${CC:-gcc} -fsyntax-only -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
				-Wno-missing-field-initializers -Werror -x c -I"$include" -I"$("$pg_config" --includedir)" -D_GNU_SOURCE -Isrc - 2>&1 |
			grep -m 1 -E 'error' ) && findings+=("$header alone: $line")
	done < <(find src -name '*.h' | sort)
	report headers "${findings[@]}"
}

check_shell()
{
	local script line findings=()

	while read -r script
	do
		line=$(bash -n "$script" 2>&1) || findings+=("${line%%$'\n'*}")
		if command -v shellcheck > /dev/null
		then
			line=$(shellcheck -S warning -e SC1090,SC1091,SC2034,SC2154 -f gcc "$script" | head -n 1)
			[ -z "$line" ] || findings+=("$line")
		fi
	done < <(all_files \( -name '*.sh' -o -path './.ci/run' \) | sort)
	report shell "${findings[@]}"
}

# META.json is what PGXN accepts.
check_meta()
{
	local output

	mapfile -t output < <(perl test/lint/meta.pl 2>&1)
	report meta "${output[@]}"
}

# What documents link to is there.
check_links()
{
	local output

	mapfile -t output < <(perl test/lint/links.pl 2>&1)
	report links "${output[@]}"
}

# Figures in documents are those of the benchmark.
check_figures()
{
	local output

	mapfile -t output < <(test/bench/report.pl --check 2>&1)
	report figures "${output[@]}"
}

check_indent()
{
	local output rc

	output=$(test/lint/indent.sh --check 2>&1)
	rc=$?
	case $rc in
		0) report indent ;;
		77) echo "SKIP lint-indent: $output" ;;
		*) mapfile -t output <<< "$output"
			report indent "${output[@]}" ;;
	esac
}

perl test/lint/rules.pl
case $? in
	0) ;;
	1) bad=1 ;;
	*) report rules "rules.pl failed" ;;
esac
check_meta
check_links
check_figures
check_headers
check_shell
check_indent
exit $bad
