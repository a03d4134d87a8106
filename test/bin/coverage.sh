#!/bin/bash
#
# coverage.sh
#	  Print which share of each source file's lines the tests execute.
#
# Usage: test/bin/coverage.sh [FILE]		the lines that no test executes go to FILE
#
# A backend that is killed takes its counts with it.  coverage.md says why
# some lines are not executed.
#
# test/bin/coverage.sh

set -u
cd "$(dirname "$0")/../.." || exit 1
if [ "${1:-}" != --inside ]
then
	test/bin/setup.sh test && exec test/bin/overlay.sh test/bin/coverage.sh --inside ${1:+"$(realpath "$1")"}
	exit 1
fi
missed=${2:-/dev/null}
pg_config=${PG_CONFIG:-pg_config}
unset MAKEFLAGS MFLAGS MAKELEVEL
. test/bin/cluster.sh
flags=(with_llvm=no "COPT=--coverage -O0" SHLIB_LINK=--coverage)

cluster_build "${flags[@]}"
cluster_install_modules "$build" with_llvm=no > /dev/null || exit 1
cluster_create fsync=off max_connections=50
# One make for each kind, since the first failure ends it.
for tests in "ISOLATION= TAP_TESTS=" "REGRESS= TAP_TESTS=" "REGRESS= ISOLATION="
do
	# shellcheck disable=SC2086
	cluster_run make -C "$build" installcheck PG_CONFIG="$pg_config" "${flags[@]}" $tests > "$log" 2>&1 || {
		echo "coverage: some tests failed, see make test" >&2
		grep -E '^not ok|\.\.\. FAILED|^[^ ]*\.pl .*Failed|Failed:' "$log" | head >&2
	}
done
cluster_ctl -m fast stop > /dev/null 2>&1

# gcov leaves a copy of each source file, with the counts in front of the lines.
cluster_run sh -c "cd '$build' && for c in src/*.c src/*/*.c src/*/*/*.c
	do gcov -p -o \"\${c%.c}.o\" \"\$c\" > /dev/null 2>&1; done"
grep -H '^ *[#=]*:' "$build"/src#*.c.gcov | sed "s|^$build/||; s|\.gcov: *#####: *|:|; s|#|/|g" > "$missed"
cluster_run sh -c "cd '$build' && for c in src/*.c src/*/*.c src/*/*/*.c
	do gcov -n -o \"\${c%.c}.o\" \"\$c\" 2> /dev/null; done" |
	awk -v "quote='" '
		/^File/ { split($0, part, quote); file = part[2] }
		/^Lines executed/ && file ~ /^src\/.*\.c$/ {
			split($0, part, /[:% ]+/)
			percent = part[3]; lines = part[5]
			printf "%6.2f %%  of %5d  %s\n", percent, lines, file
			all += lines; hit += lines * percent / 100
			file = ""
		}
		END { if (all) printf "%6.2f %%  of %5d  all\n", 100 * hit / all, all; else exit 1 }'
