#!/bin/bash
#
# nextval_instructions.sh
#	  Count the instructions of one call of nextval, core's and ours.
#
# Usage: test/bench/nextval_instructions.sh
#
# A single-user server runs under callgrind, once with few calls and once with
# many; the difference is that of the calls.  Other than times, the counts
# hardly vary from run to run.  Needs valgrind.  Prints Markdown.
#
# test/bench/nextval_instructions.sh

set -u
cd "$(dirname "$0")/../.." || exit 1
few=1000
many=21000
if [ "${1:-}" != --inside ]
then
	test/setup.sh demo && exec test/overlay.sh "$0" --inside
	exit 1
fi
unset MAKEFLAGS MFLAGS MAKELEVEL

. test/cluster.sh
command -v valgrind > /dev/null || cluster_fail "valgrind is missing"
cluster_init
log=$cluster_dir/bench.log

# instructions EXPRESSION CALLS
instructions()
{
	local count

	echo "SELECT count($1) FROM generate_series(1, $2) number;" |
		cluster_run valgrind --tool=callgrind --callgrind-out-file=/dev/null \
			"$cluster_bindir/postgres" --single -D "$cluster_dir/data" postgres > "$log" 2>&1
	count=$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$log")
	grep -q 'count = "'"$2"'"' "$log" && [ -n "$count" ] ||
		cluster_fail "failed: $(grep -m 1 -E 'ERROR|FATAL|PANIC' "$log" || tail -n 1 "$log")"
	echo "$count"
}

# Instructions for each of the calls, loop included.
per_call()
{
	local low high

	low=$(instructions "$1" $few) && high=$(instructions "$1" $many) || exit 1
	echo $(((high - low) / (many - few)))
}

cluster_copy_source "$cluster_dir/src"
{
	cluster_run make -s -j "$(nproc)" -C "$cluster_dir/src" PG_CONFIG="$cluster_pg_config" all &&
		cluster_install "$cluster_dir/src"
} > "$log" 2>&1 || cluster_fail "failed: $(grep -m 1 error: "$log")"
cluster_create jit=off
psql -X -q -v ON_ERROR_STOP=1 > "$log" 2>&1 << 'SQL' || cluster_fail "failed: $(grep -m 1 ERROR "$log")"
CREATE EXTENSION spanner_keys;
CREATE SEQUENCE core;
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE SEQUENCE reversed;
SET spanner.default_sequence_kind = 'striped';
CREATE SEQUENCE striped;
SQL
cluster_ctl -m fast stop > /dev/null

loop=$(per_call number) || exit 1
echo "| call, CACHE 1 | instructions | |"
echo "|---|---:|---:|"
base=
for sequence in core reversed striped
do
	case $sequence in
		core) expression="nextval('core')" ;;
		*) expression="spanner.nextval('$sequence')" ;;
	esac
	count=$(($(per_call "$expression") - loop)) || exit 1
	base=${base:-$count}
	echo "| \`$expression\` | $count | x $(awk "BEGIN { printf \"%.2f\", $count / $base }") |"
done
