#!/bin/bash
#
# nextval_instructions.sh
#	  Count the instructions of one call of nextval, core's and ours, and of
#	  planning where there is no bound sequence.
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

# instructions STATEMENT [SETTING ...]
instructions()
{
	local statement=$1 count

	shift
	echo "$statement" |
		cluster_run valgrind --tool=callgrind --callgrind-out-file=/dev/null \
			"$cluster_bindir/postgres" --single -D "$cluster_dir/data" "$@" postgres > "$log" 2>&1
	count=$(sed -n 's/.*Collected : \([0-9]*\).*/\1/p' "$log")
	! grep -qE 'ERROR|FATAL|PANIC' "$log" && [ -n "$count" ] ||
		cluster_fail "failed: $(grep -m 1 -E 'ERROR|FATAL|PANIC' "$log" || tail -n 1 "$log")"
	echo "$count"
}

# Instructions for each of the calls of an expression, loop included.
per_call()
{
	local low high

	low=$(instructions "SELECT count($1) FROM generate_series(1, $few) number;") &&
		high=$(instructions "SELECT count($1) FROM generate_series(1, $many) number;") || exit 1
	echo $(((high - low) / (many - few)))
}

# Instructions to plan and run a small statement once.
per_statement()
{
	local loop="EXECUTE 'SELECT oid FROM pg_class WHERE oid = 1'; END LOOP; END \$\$;" low high

	low=$(instructions "DO \$\$ BEGIN FOR i IN 1 .. $few LOOP $loop" "$@") &&
		high=$(instructions "DO \$\$ BEGIN FOR i IN 1 .. $((few * 3)) LOOP $loop" "$@") || exit 1
	echo $(((high - low) / (few * 2)))
}

cluster_copy_source "$cluster_dir/src"
{
	cluster_run make -s -j "$(nproc)" -C "$cluster_dir/src" PG_CONFIG="$cluster_pg_config" all &&
		cluster_install "$cluster_dir/src"
} > "$log" 2>&1 || cluster_fail "failed: $(grep -m 1 error: "$log")"
cluster_create jit=off
cluster_ctl -m fast stop > /dev/null

plain=$(per_statement) || exit 1
preloaded=$(per_statement -c session_preload_libraries=spanner_keys) || exit 1
echo "| a statement planned and run, no bound sequence | instructions | |"
echo "|---|---:|---:|"
echo "| without the library | $plain | x 1.0000 |"
echo "| with the library | $preloaded | x $(awk "BEGIN { printf \"%.4f\", $preloaded / $plain }") |"
echo

cluster_ctl -w start > /dev/null
psql -X -q -v ON_ERROR_STOP=1 > "$log" 2>&1 << 'SQL' || cluster_fail "failed: $(grep -m 1 ERROR "$log")"
CREATE EXTENSION spanner_keys;
CREATE SEQUENCE core_1;
CREATE SEQUENCE core_1000 CACHE 1000;
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE SEQUENCE reversed_1;
CREATE SEQUENCE reversed_1000 CACHE 1000;
SET spanner.default_sequence_kind = 'striped';
CREATE SEQUENCE striped_1;
CREATE SEQUENCE striped_1000 CACHE 1000;
SQL
cluster_ctl -m fast stop > /dev/null

loop=$(per_call number) || exit 1
echo "| call | CACHE | instructions | |"
echo "|---|---:|---:|---:|"
for cache in 1 1000
do
	base=
	for kind in core reversed striped
	do
		case $kind in
			core) function=nextval ;;
			*) function=spanner.nextval ;;
		esac
		count=$(($(per_call "$function('${kind}_$cache')") - loop)) || exit 1
		base=${base:-$count}
		echo "| \`$function('$kind')\` | $cache | $count | x $(awk "BEGIN { printf \"%.2f\", $count / $base }") |"
	done
done
