#!/bin/bash
#
# allocator.sh
#	  What each mode of an allocator costs an application.
#
# pgbench runs transactions that draw one value and work for 10 ms, then the
# same with commits that last 20 ms longer (commit_delay), then draws many
# values in one query.
#
# test/bench/allocator.sh

. test/bench/common.sh

rounds=$(sized 3 1)
each=$(sized 2 1)
modes='none nextval sync on_commit on_commit_early async batch async_batch adaptive insert'
declare -A statement=([none]='SELECT 1' [nextval]="SELECT nextval('nextval')"
	[on_commit]='INSERT INTO invoice DEFAULT VALUES' [on_commit_early]='INSERT INTO invoice DEFAULT VALUES'
	[insert]='INSERT INTO row_with_key DEFAULT VALUES')

# measure MODE CLIENTS DELAY
measure()
{
	local mode=$1 options='' parameter="clients=$2 commit=$3" values

	[ "$mode" != on_commit_early ] || options='-c spanner_keys.early_lock_release=on'
	printf 'BEGIN;\n%s;\n\\sleep 10 ms\nEND;\n' \
		"${statement[$mode]:-SELECT spanner.next_value('$mode')}" > "$scripts/mode.sql"
	rm -f "$scripts"/log.*
	(cd "$scripts" && PGOPTIONS=$options pgbench -n -M prepared -c "$2" -j 2 -T "$each" -f mode.sql \
		-l --log-prefix=log > "$log" 2>&1) || cluster_fail "failed: $(reason)"
	values=$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$log")
	record "$mode" "$parameter" values/s "$values" 1/s
	cat "$scripts"/log.* | sort -n -k 3,3 |
		awk -v OFS='\t' -v mode="$mode" -v parameter="$parameter" '
			{ us[NR] = $3 }
			END {
				for (p = 50; p <= 99; p += p < 90 ? 40 : 9)
					print mode, parameter, "p" p, us[int(NR * p / 100 + .5)] / 1000, "ms"
			}' | record_rows || exit 1
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

bench_start max_connections=120 shared_buffers=256MB max_wal_size=8GB commit_siblings=0
sql -f test/bench/allocator.sql > "$log"
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
	done
done
