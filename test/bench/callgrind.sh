#!/bin/bash
#
# callgrind.sh
#	  Count the instructions of statements, for sections of the benchmark.
#
# To be sourced after common.sh:
#
#	counted FEW MANY FUNCTION [ARGUMENT ...]
#
# starts a session by FUNCTION COUNT [ARGUMENT ...], once with FEW and once with
# MANY, and prints the instructions of one of those that are more.  What FUNCTION
# prints begins with the session's pid.  callgrind_start restarts the server
# under callgrind, where each session is a process with a report of its own;
# callgrind_stop ends it.
#
# test/bench/callgrind.sh

callgrind_start()
{
	cluster_ctl -m fast stop > /dev/null
	cluster_run valgrind --tool=callgrind --trace-children=yes --callgrind-out-file="$cluster_dir/callgrind.%p" \
		"$cluster_bindir/postgres" -D "$cluster_dir/data" > "$cluster_dir/server.log" 2>&1 &
	until psql -Xq -c 'SELECT 1' > /dev/null 2>&1
	do
		kill -0 $! 2> /dev/null || cluster_fail "the server does not start under valgrind"
		sleep 0.5
	done
}

callgrind_stop()
{
	kill -INT "$(head -n 1 "$cluster_dir/data/postmaster.pid")"
	wait
}

counted()
{
	local few=$1 many=$2 count pid total=()

	shift 2
	for count in "$few" "$many"
	do
		pid=$("$1" "$count" "${@:2}" | sed -n 1p) || exit 1
		until grep -q '^totals:' "$cluster_dir/callgrind.$pid" 2> /dev/null
		do
			sleep 0.1
		done
		total+=("$(sed -n 's/^totals: \([0-9]*\).*/\1/p' "$cluster_dir/callgrind.$pid")")
		rm -f "$cluster_dir/callgrind.$pid"
	done
	echo $(((total[1] - total[0]) / (many - few)))
}
