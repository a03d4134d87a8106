#!/bin/bash
#
# servers.sh
#	  A table that is split over three servers, against one server.
#
# Four servers on this machine: one takes the statements, three hold the rows
# behind partitions of postgres_fdw.  They share its processors, so that three
# cannot do more than one; what is measured is how the work is divided.  Then
# each of the three gets a limit of its own: a row keeps it busy for 3 ms.
#
# test/bench/servers.sh

. test/bench/common.sh
. test/bin/servers.sh

rounds=$(sized 3 1)
each=$(sized 4 1)
cases='local one_server bigserial bit_reversed_positive'

# limit_servers MS
limit_servers()
{
	local number

	for number in 1 2 3
	do
		sql -p $((PGPORT + number)) -v ms="$1" -f test/bench/servers_limit.sql
	done
}

# measure CASE CLIENTS ROWS LIMIT
measure()
{
	local name=$1 parameter="clients=$2 rows=$3 limit=$4" before after i

	mapfile -t before < <(inserted)
	record "$name" "$parameter" inserts/s "$(tps "$2" "$each" \
		"INSERT INTO $name (note) SELECT 'row' FROM generate_series(1, $3)" | awk "{ print \$1 * $3 }")" 1/s
	mapfile -t after < <(inserted)
	for i in 0 1 2
	do
		record "$name" "$parameter server=$((i + 1))" inserted $((after[i] - before[i])) rows
	done
}

# Rows that were inserted on each server so far.  Counts come with the end of
# a session, and those of pgbench have ended.
inserted()
{
	local number

	for number in 1 2 3
	do
		sql -p $((PGPORT + number)) -c "SELECT coalesce(sum(n_tup_ins), 0) FROM pg_stat_user_tables"
	done
}

trap 'exit 1' INT TERM
bench_start fsync=off max_connections=50
trap 'servers_stop; cluster_remove' EXIT
servers_start > "$log" 2>&1 || cluster_fail "failed: $(reason)"
servers_connect sql
sql -f test/bench/servers.sql
servers_run_statements sql
sql -c 'SELECT run_splits()' > "$log"
for ((round = 1; round <= rounds; round++))
do
	progress "round $round of $rounds"
	for rows in 1 100
	do
		for name in $cases
		do
			measure "$name" 8 "$rows" 0
		done
	done
done

limit_servers 3
for ((round = 1; round <= rounds; round++))
do
	progress "servers with a limit, round $round of $rounds"
	for name in one_server bigserial bit_reversed_positive
	do
		measure "$name" 16 1 3
	done
done
