#!/bin/bash
#
# analyze.sh
#	  Have clang-tidy and cppcheck look at the source.
#
# Usage: test/lint/analyze.sh [FILE ...]
#
# The checks of clang-tidy are in .clang-tidy, what cppcheck is wrong about in
# cppcheck.txt.  Takes some minutes, so it is not part of make lint.
#
# test/lint/analyze.sh

set -u
cd "$(dirname "$0")/../.." || exit 1
pg_config=${PG_CONFIG:-pg_config}
include=$("$pg_config" --includedir-server 2> /dev/null)
bad=0

for tool in clang-tidy cppcheck
do
	command -v $tool > /dev/null || {
		echo "not ok analyze: $tool is missing (Debian: apt-get install $tool)"
		exit 1
	}
done
[ -e "$include/postgres.h" ] || {
	echo "not ok analyze: no server headers to compile with"
	exit 1
}
version=$(sed -n 's/^#define PG_VERSION_NUM //p' "$include/pg_config.h" "$include"/pg_config_*.h 2> /dev/null | head -n 1)
if [ $# = 0 ]
then
	for file in src/*.c src/*/*.c
	do
		case $file in
			*/grammar.c | */scanner.c) ;;	# bison and flex make them
			*) set -- "$@" "$file" ;;
		esac
	done
fi

found=$(printf '%s\n' "$@" | xargs -P "$(nproc)" -n 4 sh -c '
	include=$0
	clang-tidy --quiet "$@" -- -I"$include" -D_GNU_SOURCE -Isrc 2> /dev/null' "$include")
if [ -z "$found" ]
then
	echo "ok analyze-clang-tidy"
else
	printf 'not ok analyze-clang-tidy\n%s\n' "$found"
	bad=1
fi

# Errors do not return, which cppcheck cannot know.
found=$(cppcheck -q --std=c99 --enable=warning,performance,portability -Isrc "-DPG_VERSION_NUM=$version" \
	'-DPG_FUNCTION_INFO_V1(x)=' '-Dereport(level,...)=abort()' '-Delog(level,...)=abort()' \
	--template='{file}:{line}: {id}: {message}' --suppressions-list=test/lint/cppcheck.txt "$@" 2>&1)
if [ -z "$found" ]
then
	echo "ok analyze-cppcheck"
else
	printf 'not ok analyze-cppcheck\n%s\n' "$found"
	bad=1
fi
exit $bad
