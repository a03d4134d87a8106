#!/bin/bash
#
# ranges.sh
#	  How keys spread over equal ranges of their space, and the next ones over
#	  ranges with equal numbers of rows.
#
# test/bench/ranges.sh

. test/bench/common.sh

rounds=$(sized 3 1)

bench_start shared_buffers=512MB fsync=off autovacuum=off work_mem=256MB
sql -f test/bench/ranges_prepare.sql
for ((round = 1; round <= rounds; round++))
do
	progress "round $round of $rounds"
	for key in bigserial uuid 'hash shard' bit_reversed_positive 'striped(64)' 'striped(1024)'
	do
		sql -v key="$key" -v values="$(sized 1000000 200000)" -f test/bench/ranges.sql | record_rows || exit 1
	done
done
