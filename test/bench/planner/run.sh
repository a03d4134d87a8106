#!/bin/bash
#
# run.sh
#	  Measure readers of tables whose key begins with a shard.
#
# Usage: test/bench/planner/run.sh		ROWS=2000000
#
# The merge of shards against sorting, LATERAL by hand, LIST partitions and a
# plain index on the time; look-ups with a derived shard against the shard
# written out; on tables of 16, 64, 256 and 2048 shards, all in shared_buffers.
# Prints Markdown, with the best of several runs, in ms.
#
# test/bench/planner/run.sh

set -u
cd "$(dirname "$0")/../../.." || exit 1
rows=${ROWS:-2000000}
if [ "${1:-}" != --inside ]
then
	test/setup.sh demo && exec test/overlay.sh env ROWS="$rows" "$0" --inside
	exit 1
fi
unset MAKEFLAGS MFLAGS MAKELEVEL

. test/cluster.sh
cluster_init
log=$cluster_dir/bench.log
cluster_copy_source "$cluster_dir/src"
{
	cluster_run make -s -j "$(nproc)" -C "$cluster_dir/src" PG_CONFIG="$cluster_pg_config" all &&
		cluster_install "$cluster_dir/src"
} > "$log" 2>&1 || cluster_fail "failed: $(grep -m 1 error: "$log")"
cluster_create shared_buffers=3GB work_mem=64MB maintenance_work_mem=512MB max_wal_size=16GB \
	autovacuum=off session_preload_libraries=spanner_keys max_locks_per_transaction=1000

psql -X -q -v ON_ERROR_STOP=1 -v rows="$rows" -f test/bench/planner/prepare.sql > "$log" 2>&1 ||
	cluster_fail "failed: $(grep -m 1 ERROR "$log")"
psql -X -q -c 'VACUUM (ANALYZE, FREEZE)' -c CHECKPOINT > "$log" 2>&1
last=$(psql -X -A -t -c 'SELECT max(lastaccess) - interval $$1 hour$$ FROM visit')
echo "$(psql -X -A -t -c 'SHOW server_version'), $rows rows"
psql -X -q -v ON_ERROR_STOP=1 -v last="$last" -f test/bench/planner/measure.sql
