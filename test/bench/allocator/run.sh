#!/bin/bash
#
# run.sh
#	  Measure what each mode of an allocator costs an application.
#
# Usage: test/bench/allocator/run.sh		SECONDS_EACH=3 ROUNDS=3
#
# pgbench runs transactions that draw one value and work for 10 ms, with 1, 10
# and 50 clients, then with commits that last 5 and 20 ms longer
# (commit_delay), then draws many values in one query; callgrind counts the
# instructions of one value.  Rounds are interleaved, and the best one counts.
# Prints Markdown, with the figures of the generator that this one descends
# from, and whether the bars that we set ourselves are met.
#
# test/bench/allocator/run.sh

set -u
cd "$(dirname "$0")/../../.." || exit 1
each=${SECONDS_EACH:-3}
rounds=${ROUNDS:-3}
if [ "${1:-}" != --inside ]
then
	test/setup.sh demo && exec test/overlay.sh env SECONDS_EACH="$each" ROUNDS="$rounds" "$0" --inside
	exit 1
fi
unset MAKEFLAGS MFLAGS MAKELEVEL

. test/cluster.sh
cluster_init
log=$cluster_dir/bench.log
scripts=$cluster_dir/scripts
results=$cluster_dir/results
mkdir -p "$scripts"
chmod 777 "$scripts"

modes="control nextval sync on_commit on_commit_early async batch async_batch adaptive insert"
declare -A title=([control]='no allocator' [nextval]='core `nextval`' [sync]='`sync`' [on_commit]='`on_commit`'
	[on_commit_early]='`on_commit`, early lock release' [async]='`async`' [batch]='`batch`, 200'
	[async_batch]='`async_batch`, 200, low-water mark 50' [adaptive]='`async_batch`, adaptive'
	[insert]='ordinary insert, `nextval` key')
declare -A statement=([control]='SELECT 1' [nextval]="SELECT nextval('nextval')"
	[on_commit]='INSERT INTO invoice DEFAULT VALUES' [on_commit_early]='INSERT INTO invoice DEFAULT VALUES'
	[insert]='INSERT INTO row_with_key DEFAULT VALUES')
# Values in a second and percentiles of the latency in ms, published for the
# sequence generator on Cloud Spanner with 10 and 50 threads.
declare -A published=([sync.10]='34 | 27 / 1189 / 2703' [sync.50]='30.6 | 1191 / 3513 / 5982'
	[async.10]='66.5 | 28 / 611 / 1460' [async.50]='78.1 | 29 / 1695 / 3442'
	[batch.10]='494 | 18 / 20 / 38' [batch.50]='1195 | 27 / 55 / 168'
	[async_batch.10]='512 | 18 / 20 / 30' [async_batch.50]='1622 | 24 / 28 / 30')

# measure MODE CLIENTS DELAY
#
# Append "mode clients delay values/s p50 p90 p99" to the results.
measure()
{
	local mode=$1 clients=$2 delay=$3 options=

	[ "$mode" != on_commit_early ] || options='-c spanner_keys.early_lock_release=on'
	printf 'BEGIN;\n%s;\n\\sleep 10 ms\nEND;\n' \
		"${statement[$mode]:-SELECT spanner.next_value('$mode')}" > "$scripts/$mode.sql"
	rm -f "$scripts"/log.*
	(cd "$scripts" && PGOPTIONS=$options pgbench -n -M prepared -c "$clients" -j 2 -T "$each" -f "$mode.sql" \
		-l --log-prefix=log > "$log" 2>&1) || cluster_fail "failed: $(grep -m 1 error "$log")"
	cat "$scripts"/log.* | sort -n -k 3,3 |
		awk -v mode="$mode" -v clients="$clients" -v delay="$delay" -v tps="$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$log")" \
			'{ us[NR] = $3 }
			END { print mode, clients, delay, tps, us[int(NR * .5 + .5)] / 1000, us[int(NR * .9 + .5)] / 1000, us[int(NR * .99 + .5)] / 1000 }' \
			>> "$results"
}

# The best round of a cell.
best()
{
	awk -v mode="$1" -v clients="$2" -v delay="$3" \
		'$1 == mode && $2 == clients && $3 == delay && $4 > most { most = $4; line = $0 } END { print line }' "$results"
}

# in_query EXPRESSION CLIENTS: values in a second, the best round
in_query()
{
	local i

	echo "SELECT count($1) FROM generate_series(1, 10000);" > "$scripts/query.sql"
	for ((i = 0; i < rounds; i++))
	do
		pgbench -n -M prepared -c "$2" -j 2 -T "$each" -f "$scripts/query.sql" 2> "$log" |
			sed -n 's/^tps = \([0-9.]*\).*/\1/p'
	done | sort -n | tail -n 1 | awk '{ print $1 * 10000 }'
}

# instructions EXPRESSION
#
# Sessions of a server that runs under callgrind, one with few calls and one
# with many; each session is a process with a report of its own.
instructions()
{
	local count pid total=() before=0

	for count in 2000 22000
	do
		pid=$(psql -XqAt -c "SELECT count($1) FROM generate_series(1, 1000)" -c "SELECT pg_backend_pid()" \
			-c "SELECT count($1) FROM generate_series(1, $count)" | sed -n 2p)
		until grep -q '^totals:' "$cluster_dir/callgrind.$pid" 2> /dev/null
		do
			sleep 0.1
		done
		total+=("$(sed -n 's/^totals: \([0-9]*\).*/\1/p' "$cluster_dir/callgrind.$pid")")
	done
	echo $(((total[1] - total[0]) / 20000))
}

# bar TEXT VALUE COMPARISON LIMIT
bar()
{
	echo "| $1 | $2 | $3 $4 | $(awk "BEGIN { print ($2 $3 $4) ? \"met\" : \"not met\" }") |"
}

field()
{
	awk -v n="$1" '{ print $n }'
}

ratio()
{
	awk "BEGIN { printf \"%.3f\", $1 / $2 }"
}

set_delay()
{
	psql -XqAt -c "ALTER SYSTEM SET commit_delay = $(($1 * 1000))" -c 'SELECT pg_reload_conf()' > "$log" 2>&1 ||
		cluster_fail "failed: $(cat "$log")"
}

print_table()
{
	local delay=$1 clients mode line control limit

	echo
	echo "| mode | clients | values/s | of the limit | of no allocator | p50 / p90 / p99, ms | published: values/s | p50 / p90 / p99, ms |"
	echo "|---|---:|---:|---:|---:|---:|---:|---:|"
	for mode in $modes
	do
		for clients in "${@:2}"
		do
			line=$(best "$mode" "$clients" "$delay")
			control=$(best control "$clients" "$delay" | field 4)
			limit=$((clients * 100))
			echo "$line" | awk -v title="${title[$mode]}" -v control="$control" -v limit="$limit" -v published="${published[$mode.$clients]:-|}" \
				'{ printf "| %s | %s | %.0f | %.0f %% | %.1f %% | %.1f / %.1f / %.1f | %s |\n", title, $2, $4, 100 * $4 / limit, 100 * $4 / control, $5, $6, $7, published }'
		done
	done
}

cluster_copy_source "$cluster_dir/src"
{
	cluster_run make -s -j "$(nproc)" -C "$cluster_dir/src" PG_CONFIG="$cluster_pg_config" all &&
		cluster_install "$cluster_dir/src"
} > "$log" 2>&1 || cluster_fail "failed: $(grep -m 1 -i error "$log")"
cluster_create max_connections=120 shared_buffers=256MB max_wal_size=8GB commit_siblings=0 jit=off
psql -Xq -v ON_ERROR_STOP=1 -f test/bench/allocator/prepare.sql > "$log" 2>&1 || cluster_fail "failed: $(grep -m 1 ERROR "$log")"

for ((round = 1; round <= rounds; round++))
do
	echo "round $round of $rounds" >&2
	set_delay 0
	for mode in $modes
	do
		for clients in 1 10 50
		do
			measure "$mode" "$clients" 0
		done
	done
	for delay in 5 20
	do
		set_delay "$delay"
		for mode in $modes
		do
			measure "$mode" 50 "$delay"
		done
	done
done
set_delay 0

echo "Transactions that draw a value and work for 10 ms"
print_table 0 1 10 50
for delay in 5 20
do
	printf '\nThe same when a commit lasts %s ms longer\n' "$delay"
	print_table "$delay" 50
done

echo
echo "| values in one query, millions/s | clients | \`async_batch\`, adaptive | core \`nextval\` | |"
echo "|---|---:|---:|---:|---:|"
declare -A ours core
for clients in 1 2 10
do
	ours[$clients]=$(in_query "spanner.next_value('adaptive')" "$clients")
	core[$clients]=$(in_query "nextval('nextval')" "$clients")
	echo "| | $clients | $(ratio "${ours[$clients]}" 1e6) | $(ratio "${core[$clients]}" 1e6) | x $(ratio "${ours[$clients]}" "${core[$clients]}") |"
done

cluster_ctl -m fast stop > /dev/null
cluster_run valgrind --tool=callgrind --trace-children=yes --callgrind-out-file="$cluster_dir/callgrind.%p" \
	"$cluster_bindir/postgres" -D "$cluster_dir/data" > "$log" 2>&1 &
until psql -XqAt -c "SELECT spanner.create_allocator('large', batch_size => 1000000, max_batch_size => 1000000)" > /dev/null 2>&1
do
	sleep 0.5
done
instructions_ours=$(instructions "spanner.next_value('large')")
instructions_core=$(instructions "nextval('nextval')")
kill -INT "$(head -n 1 "$cluster_dir/data/postmaster.pid")"
wait

early=$(best on_commit_early 50 20 | field 4)
control=$(best control 50 0)
echo
echo "| bar | measured | | |"
echo "|---|---:|---|---|"
bar 'async_batch, 50 clients, of no allocator' "$(ratio "$(best async_batch 50 0 | field 4)" "$(field 4 <<< "$control")")" '>=' 0.95
bar 'async_batch adaptive, 50 clients, of no allocator' "$(ratio "$(best adaptive 50 0 | field 4)" "$(field 4 <<< "$control")")" '>=' 0.95
bar 'async_batch adaptive, p99 above that of no allocator, ms' "$(awk "BEGIN { print $(best adaptive 50 0 | field 7) - $(field 7 <<< "$control") }")" '<=' 1
bar 'batch 200, 50 clients, of no allocator' "$(ratio "$(best batch 50 0 | field 4)" "$(field 4 <<< "$control")")" '>=' 0.90
bar 'async, 50 clients, of no allocator' "$(ratio "$(best async 50 0 | field 4)" "$(field 4 <<< "$control")")" '>=' 0.75
bar 'sync, commits of 20 ms, values/s' "$(best sync 50 20 | field 4)" '<=' 40
bar 'on_commit with early lock release, commits of 20 ms, times sync' "$(ratio "$early" "$(best sync 50 20 | field 4)")" '>=' 30
bar 'the same, of an ordinary insert' "$(ratio "$early" "$(best insert 50 20 | field 4)")" '>=' 0.90
bar 'async_batch in one query, 1 client, of core nextval' "$(ratio "${ours[1]}" "${core[1]}")" '>=' 1
bar 'async_batch in one query, 10 clients, of core nextval' "$(ratio "${ours[10]}" "${core[10]}")" '>=' 1
bar 'instructions of one value, of core nextval' "$(ratio "$instructions_ours" "$instructions_core")" '<=' 1
echo
echo "Instructions of one value: $instructions_ours, core nextval $instructions_core."
