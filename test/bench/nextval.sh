#!/bin/bash
#
# nextval.sh
#	  Values in a second of our sequences, next to core's.
#
# pgbench, with different numbers of clients and of cached values.  Statements
# that draw a thousand values show nextval, those that draw one what is left
# of it behind the rest of a statement.
#
# test/bench/nextval.sh

. test/bench/common.sh

kinds='core bit_reversed_positive striped'
caches=$(sized '1 32 1000' '1 1000')
rounds=$(sized 4 1)

# measure KIND CACHE CLIENTS VALUES
measure()
{
	local function=spanner.nextval from=

	[ "$1" != core ] || function=nextval
	[ "$4" = 1 ] || from=" FROM generate_series(1, $4)"
	record "$1" "cache=$2 clients=$3 values=$4" values/s \
		"$(tps "$3" 1 "SELECT count($function('$1_$2'))$from" | awk "{ printf \"%.0f\", \$1 * $4 }")" 1/s
}

bench_start shared_buffers=128MB fsync=off max_connections=50
for cache in $caches
do
	for kind in $kinds
	do
		sql -c "SET spanner.default_sequence_kind = '${kind/core/local}'" \
			-c "CREATE SEQUENCE ${kind}_$cache CACHE $cache"
	done
done

for ((round = 1; round <= rounds; round++))
do
	progress "round $round of $rounds"
	for clients in $(sized '1 4 16' '1 16')
	do
		for kind in $kinds
		do
			measure "$kind" 1 "$clients" 1
		done
		for cache in $caches
		do
			for kind in $kinds
			do
				measure "$kind" "$cache" "$clients" 1000
			done
		done
	done
done
