#!/bin/bash
#
# allocator.sh
#	  What each mode of an allocator costs an application.
#
# Usage: test/bench/allocator.sh [MODE CLIENTS [WORK_MS]]
#
# pgbench runs transactions that draw one value and work for 10 ms, then the
# same with commits that last 20 ms longer (commit_delay), then those that number
# one row, in one statement and in several, beside a counter that an UPDATE moves.  It draws many values in one
# query, and the first ones of sessions, and numbers many rows in one
# transaction.  The first transaction
# of each client, which also sets its session up, is left out and reported on
# its own.
#
# With arguments one mode is measured and printed, beside "none", which draws
# nothing: none, nextval, sync, on_commit, on_commit_early, async, batch,
# async_batch, adaptive or insert.
#
# test/bench/allocator.sh

if [ $# -gt 0 ] && [ "$1" != --inside ]
then
	cd "$(dirname "$0")/../.." || exit 1
	test/bin/setup.sh test && exec test/bin/overlay.sh env BENCH=full RESULTS="$(mktemp)" test/bench/allocator.sh --inside "$@"
	exit 1
fi
. test/bench/common.sh
. test/bench/one_row.sh
work=10

rounds=$(sized 3 1)
each=$(sized 2 1)
working=$(sized 6 2)
modes='none nextval sync on_commit on_commit_early async batch async_batch adaptive insert'
declare -A statement=([none]='SELECT 1' [nextval]="SELECT nextval('nextval')"
	[on_commit]='INSERT INTO invoice DEFAULT VALUES' [on_commit_early]='INSERT INTO invoice DEFAULT VALUES'
	[insert]='INSERT INTO row_with_key DEFAULT VALUES')

insert_number='INSERT INTO row_with_key (number) VALUES (:number)'
declare -A steps=([on_commit]='INSERT INTO invoice DEFAULT VALUES'
	[sync]="SELECT spanner.next_value('sync') AS number \\gset"$'\n'"$insert_number"
	[update]='UPDATE counter SET number = number + 1 RETURNING number \gset'$'\n'"$insert_number")

# measure MODE CLIENTS DELAY
measure()
{
	printf 'BEGIN;\n%s;\n\\sleep %d ms\nEND;\n' \
		"${statement[$1]:-SELECT spanner.next_value('$1')}" "$work" > "$scripts/mode.sql"
	run_script "$1" "$2" "clients=$2 commit=$3"
}

# one_row MODE CLIENTS
one_row()
{
	printf '\\set key random(1, 20)\n%s;\n' "${one_row[$1]//$'\n'/ }" > "$scripts/mode.sql"
	run_script "$1" "$2" "clients=$2 one row"
}

# in_round_trips MODE CLIENTS
#
# As applications do it: a counter is locked from its statement to the commit.
in_round_trips()
{
	printf 'BEGIN;\n%s;\nEND;\n' "${steps[$1]}" > "$scripts/mode.sql"
	run_script "$1" "$2" "clients=$2 round trips"
}

# one_row_and_work MODE CLIENTS
one_row_and_work()
{
	printf 'BEGIN;\n%s;\n\\sleep %d ms\nEND;\n' "${one_row[$1]}" "$work" > "$scripts/mode.sql"
	each=$working run_script "$1" "$2" "clients=$2 one row and work"
}

# one_value MODE CLIENTS
one_value()
{
	printf '%s;\n' "${statement[$1]:-SELECT spanner.next_value('$1')}" > "$scripts/mode.sql"
	run_script "$1" "$2" "clients=$2 one value"
}

# run_script MODE CLIENTS PARAMETER
run_script()
{
	local mode=$1 parameter=$3 options='' values

	[ "$mode" != on_commit_early ] || options='-c spanner_keys.early_lock_release=on'
	rm -f "$scripts"/log.*
	(cd "$scripts" && PGOPTIONS=$options pgbench -n -M prepared -c "$2" -j 2 -T "$each" -f mode.sql \
		-l --log-prefix=log > "$log" 2>&1) || cluster_fail "failed: $(reason)"
	values=$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$log")
	record "$mode" "$parameter" values/s "$values" 1/s
	percentiles '' 'seen[$1]++' 50 90 99 | record_rows || exit 1
	percentiles first_ '!seen[$1]++' 50 | record_rows || exit 1
}

# percentiles PREFIX CONDITION PERCENT ...
#
# Of the transactions in the logs, those of a client in their order.
percentiles()
{
	local prefix=$1 condition=$2

	shift 2
	cat "$scripts"/log.* | awk "$condition" | sort -n -k 3,3 |
		awk -v OFS='\t' -v mode="$mode" -v parameter="$parameter" -v prefix="$prefix" -v percents="$*" '
			{ us[NR] = $3 }
			END {
				count = split(percents, percent, " ")
				for (i = 1; i <= count; i++)
					print mode, parameter, prefix "p" percent[i], us[int(NR * percent[i] / 100 + .5)] / 1000, "ms"
			}'
}

# one_mode MODE CLIENTS [WORK_MS]
one_mode()
{
	local mode

	work=${3:-10}
	for mode in none "$1"
	do
		measure "$mode" "$2" 0
	done
	echo "$2 clients that work for $work ms:"
	awk -F '\t' '{ printf "%-16s %-10s %10.1f %s\n", $2, $4, $5, $6 }' "$RESULTS"
	echo "Published for transactions with 10 ms of work and 50 clients, values/s and p50 / p90 / p99 in ms:"
	case $1 in
		sync | on_commit*) echo '30.6, 1191 / 3513 / 5982' ;;
		async) echo '78.1, 29 / 1695 / 3442' ;;
		batch) echo '1195, 27 / 55 / 168' ;;
		async_batch | adaptive) echo '1622, 24 / 28 / 30' ;;
		*) echo 'nothing' ;;
	esac
}

set_delay()
{
	sql -c "ALTER SYSTEM SET commit_delay = $(($1 * 1000))" -c 'SELECT pg_reload_conf()' > "$log"
}

# in_query CASE CLIENTS EXPRESSION
in_query()
{
	record "$1" "clients=$2 values=10000" values/s \
		"$(tps "$2" "$each" "SELECT count($3) FROM generate_series(1, 10000)" | awk '{ print $1 * 10000 }')" 1/s
}

# first_draw CASE EXPRESSION
#
# What the first value of a session takes, and before it the library.
first_draw()
{
	{
		echo '\timing on'
		for ((i = 0; i < $(sized 300 50); i++))
		do
			printf "\\\\c -\nLOAD 'spanner_keys';\nSELECT %s;\n" "$2"
		done
	} > "$scripts/first.sql"
	sql -f "$scripts/first.sql" | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | awk '{ print NR % 2, $1 }' | sort -n -k 1,1 -k 2,2 |
		awk -v OFS='\t' -v mode="$1" '{ ms[NR] = $2 }
			END { print mode, "first draw", "p50", ms[int((NR + 2) / 4)], "ms"; print mode, "LOAD", "p50", ms[int((3 * NR + 2) / 4)], "ms" }' |
		record_rows || exit 1
}

# many_rows CASE STATEMENT ...
#
# What a session computes for 200,000 rows in one transaction.
many_rows()
{
	local case=$1

	shift
	{
		echo 'TRUNCATE invoice, invoice_with_room, invoice_by_key, row_with_key; CHECKPOINT;'
		printf '%s;\n' BEGIN "$@" COMMIT
		echo "SELECT 10 * (f[14]::int + f[15]::int) FROM string_to_array(pg_read_file('/proc/self/stat'), ' ') f"
	} > "$scripts/many.sql"
	record "$case" rows=200000 'CPU time' "$(sql -f "$scripts/many.sql")" ms
}

# Many values in one statement, each of which waits for the row of the allocator.
draw_in_sync()
{
	sql -c "EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) SELECT spanner.next_value('sync') FROM generate_series(1, 100000)" |
		sed -nE 's/.*"Execution Time": ([0-9.]+).*/sync\tvalues=100000\ttime\t\1\tms/p' | record_rows
}

if [ "${1:-}" = --inside ]
then
	cluster_build with_llvm=no
fi
bench_start max_connections=120 shared_buffers=256MB max_wal_size=8GB commit_siblings=0
sql -f test/bench/allocator.sql > "$log"
if [ "${2:-}" ]
then
	shift
	each=$(sized 5 1)
	one_mode "$@"
	rm -f "$RESULTS"
	exit 0
fi
for ((round = 1; round <= rounds; round++))
do
	progress "round $round of $rounds"
	for clients in 10 50
	do
		for mode in $modes
		do
			measure "$mode" "$clients" 0
		done
	done
	set_delay 20
	for mode in $modes
	do
		measure "$mode" 50 20
	done
	set_delay 0
	for clients in 1 10
	do
		in_query nextval "$clients" "nextval('nextval')"
		in_query adaptive "$clients" "spanner.next_value('adaptive')"
		in_query async_batch_by_key "$clients" "spanner.next_value('adaptive', 'key')"
	done
	for clients in 1 8 50
	do
		for mode in update sync on_commit update_by_key sync_by_key on_commit_by_key async_batch_by_key
		do
			one_row "$mode" "$clients"
		done
	done
	for clients in 1 8 50
	do
		for mode in update sync on_commit
		do
			in_round_trips "$mode" "$clients"
		done
	done
	for mode in update sync on_commit
	do
		one_row_and_work "$mode" 50
	done
	one_value nextval 50
	one_value adaptive 50
	many_rows nextval "INSERT INTO row_with_key (number) SELECT nextval('nextval') FROM generate_series(1, 200000)"
	many_rows on_commit 'INSERT INTO invoice SELECT FROM generate_series(1, 200000)'
	many_rows on_commit_by_key 'INSERT INTO invoice_by_key (key) SELECT i % 20 FROM generate_series(1, 200000) i'
	many_rows with_room 'INSERT INTO invoice_with_room SELECT FROM generate_series(1, 200000)'
	many_rows update 'INSERT INTO row_with_key SELECT FROM generate_series(1, 200000)' 'UPDATE row_with_key SET number = id'
	first_draw nextval "nextval('nextval')"
	first_draw adaptive "spanner.next_value('adaptive')"
	draw_in_sync
done
