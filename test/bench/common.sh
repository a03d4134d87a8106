#!/bin/bash
#
# common.sh
#	  What the sections of the benchmark have in common.
#
# To be sourced by a section, from the top of the source tree, after run.sh
# has built and installed the extension:
#
#	. test/bench/common.sh
#	bench_start shared_buffers=128MB ...
#	record CASE PARAMETER METRIC VALUE UNIT
#
# A result is a line of the file that RESULTS names: section, case, parameter,
# metric, value, unit.  A measurement that is repeated in rounds has a line for
# each of them, in the order of the rounds, so that those of two cases pair.
#
#	sized FULL QUICK	the one that BENCH asks for
#	sql ...				psql, stopped by the first error
#	record_rows			results from standard input, all columns but the section
#	progress TEXT		tell the user
#
# test/bench/common.sh

set -u -o pipefail
unset MAKEFLAGS MFLAGS MAKELEVEL
bench_section=$(basename "$0" .sh)

. test/bin/cluster.sh

sized()
{
	if [ "$BENCH" = quick ]
	then
		echo "$2"
	else
		echo "$1"
	fi
}

progress()
{
	echo "$bench_section: $*" >&2
}

reason()
{
	grep -m 1 -iE 'error:|ERROR|FATAL|PANIC' "$log" || tail -n 1 "$log"
}

sql()
{
	psql -X -q -At -F $'\t' -v ON_ERROR_STOP=1 "$@" 2> "$log" ||
		cluster_fail "failed: $(reason)"
}

record()
{
	[ -n "$4" ] || cluster_fail "no result: $*"
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$bench_section" "$@" >> "$RESULTS"
}

record_rows()
{
	sed "s/^/$bench_section\t/" >> "$RESULTS"
}

# A cluster with the extension.
bench_start()
{
	cluster_init
	log=$cluster_dir/bench.log
	scripts=$cluster_dir/scripts
	mkdir -p "$scripts"
	chmod 777 "$scripts"
	cluster_create jit=off max_parallel_workers_per_gather=0 "$@"
	sql -c 'SET client_min_messages = warning' -c 'CREATE EXTENSION spanner_keys'
}

# tps CLIENTS SECONDS STATEMENT ...
#
# Transactions in a second of pgbench.
tps()
{
	local clients=$1 seconds=$2

	shift 2
	printf '%s;\n' "$@" > "$scripts/tps.sql"
	pgbench -n -M prepared -c "$clients" -j 2 -T "$seconds" -f "$scripts/tps.sql" 2> "$log" |
		sed -n 's/^tps = \([0-9.]*\).*/\1/p' | grep . || cluster_fail "failed: $(reason)"
}
