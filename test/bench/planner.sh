#!/bin/bash
#
# planner.sh
#	  What readers of tables cost whose key begins with a shard.
#
# The merge of shards against sorting, LATERAL by hand, LIST partitions and a
# plain index on the time; look-ups with a derived shard against the shard
# written out; deep reads with and without the merge; on tables of different numbers of shards, all in shared_buffers.
#
# test/bench/planner.sh

. test/bench/common.sh

rounds=$(sized 3 1)

bench_start shared_buffers="$(sized 2GB 512MB)" work_mem=64MB maintenance_work_mem=512MB max_wal_size=16GB \
	fsync=off autovacuum=off session_preload_libraries=spanner_keys max_locks_per_transaction=1000
progress "making tables"
rows=$(sized 1000000 100000)
sql -v rows="$rows" -f test/bench/planner_prepare.sql > "$log"
sql -c 'VACUUM (ANALYZE, FREEZE)' -c CHECKPOINT
last=$(sql -c 'SELECT max(lastaccess) - interval $$1 hour$$ FROM visit')
for ((round = 1; round <= rounds; round++))
do
	progress "round $round of $rounds"
	sql -v last="$last" -v rows="$rows" -f test/bench/planner.sql | record_rows || exit 1
done
