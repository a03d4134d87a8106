#!/bin/bash
#
# run.sh
#	  Measure what each kind of key costs on a single server.
#
# Usage: test/bench/key_cost/run.sh		ROWS=2000000 BATCH=100000 ROUNDS=5 ...
#
# First rows are inserted, in batches with a checkpoint before each, into
# tables that differ only in the key.  Then the CPU time of single calls is
# measured, in interleaved rounds of which the least counts.  Prints Markdown.
# Runs on a private cluster; the extension is not installed into the system.
#
# test/bench/key_cost/run.sh

set -u
cd "$(dirname "$0")/../../.." || exit 1
base_rows=${BASE_ROWS:-3000000}
rows=${ROWS:-2000000}
batch=${BATCH:-100000}
calls=${CALLS:-2000000}
rounds=${ROUNDS:-5}
shared_buffers=${SHARED_BUFFERS:-512MB}
if [ "${1:-}" != --inside ]
then
	test/setup.sh demo && exec test/overlay.sh env BASE_ROWS="$base_rows" ROWS="$rows" BATCH="$batch" \
		CALLS="$calls" ROUNDS="$rounds" SHARED_BUFFERS="$shared_buffers" "$0" --inside
	exit 1
fi
unset MAKEFLAGS MFLAGS MAKELEVEL

. test/cluster.sh
cluster_init
log=$cluster_dir/bench.log

sql()
{
	psql -X -q -At -v ON_ERROR_STOP=1 "$@" 2> "$log" ||
		cluster_fail "failed: $(grep -m 1 -E 'ERROR|FATAL|PANIC' "$log" || tail -n 1 "$log")"
}

# inserts NAME COLUMN KIND
inserts()
{
	echo "inserts: $1" >&2
	sql -v name="$1" -v id="$2" -v kind="$3" -v base_rows="$base_rows" -v rows="$rows" \
		-v batch="$batch" -f test/bench/key_cost/inserts.sql
}

cluster_copy_source "$cluster_dir/src"
{
	cluster_run make -s -j "$(nproc)" -C "$cluster_dir/src" PG_CONFIG="$cluster_pg_config" all &&
		cluster_install "$cluster_dir/src"
} > "$log" 2>&1 || cluster_fail "failed: $(grep -m 1 -i error "$log")"
cluster_create shared_buffers="$shared_buffers" fsync=off max_wal_size=64GB checkpoint_timeout=1d \
	autovacuum=off synchronous_commit=off jit=off max_parallel_workers_per_gather=0

sql -f test/bench/key_cost/prepare.sql
inserts bigserial bigserial local
inserts uuid 'uuid DEFAULT gen_random_uuid()' local
inserts bit_reversed_positive bigserial bit_reversed_positive
inserts 'striped, 16 stripes' bigserial 'striped(stripes=16)'
inserts 'striped, 256 stripes' bigserial 'striped(stripes=256)'
inserts 'striped, 4096 stripes' bigserial 'striped(stripes=4096)'

echo "calls: $rounds rounds" >&2
sql -v calls="$calls" -v rounds="$rounds" -f test/bench/key_cost/calls.sql
sql -v base_rows="$base_rows" -v rows="$rows" -v batch="$batch" -v calls="$calls" \
	-v rounds="$rounds" -f test/bench/key_cost/report.sql
