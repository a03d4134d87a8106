#!/bin/bash
#
# run.sh
#	  Show where inserts go in key space, with hotspots and without.
#
# Usage: demo/run.sh			CLIENTS=4 HISTORY=300000 KEEP=1
#
# Builds and installs the extension, starts a private throw-away cluster, lets
# pgbench write rows that are keyed in three ways, and draws where those of the
# last second went.  KEEP=1 leaves the cluster running.
#
# demo/run.sh

set -u
self=$(realpath "$0")
cd "$(dirname "$0")/.." || exit 1
clients=${CLIENTS:-4}
history=${HISTORY:-300000}
turn=4
unset MAKEFLAGS MFLAGS MAKELEVEL

test/bin/setup.sh demo || exit 1

. test/bin/cluster.sh
cluster_overlay "$self" "$@"
. demo/steps.sh

make_tables()
{
	sql -c 'CREATE EXTENSION spanner_keys' &&
		sql -f demo/tables_hotspot.sql -v schema=hotspot -v rows="$history" -f demo/history.sql &&
		sql -v schema=reversed -v kind=bit_reversed_positive -v rows="$history" \
			-f demo/tables_spread.sql -f demo/history.sql &&
		sql -v schema=striped -v kind=striped -v rows="$history" \
			-f demo/tables_spread.sql -f demo/history.sql &&
		sql -v history="$history" -f demo/ranges.sql
}

load()
{
	local schema=$1 result=$cluster_dir/pgbench.log rc transactions failed

	PGOPTIONS="-c search_path=$schema" \
		pgbench -n -M prepared -c "$clients" -j 2 -T "$turn" -f demo/load.sql > "$result" 2>&1
	rc=$?
	cat "$result"
	transactions=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$result")
	failed=$(sed -n 's/^number of failed transactions: \([0-9]*\).*/\1/p' "$result")
	[ $rc = 0 ] && sql -c "INSERT INTO load VALUES ('$schema', $turn, $transactions, $failed)"
}

# Short turns, so that each way has its share of what else the machine does.
load_in_turns()
{
	load hotspot && load reversed && load striped
}

picture()
{
	local blocks='#'

	[[ "${LC_ALL:-${LC_CTYPE:-${LANG:-}}}" != *[Uu][Tt][Ff]*8* ]] || blocks='▏▎▍▌▋▊▉█'
	PGCLIENTENCODING=UTF8 sql -v blocks="$blocks" -f demo/picture.sql
}

cluster_init
log=$cluster_dir/step.log
step "Building and installing the extension" build
step "Starting a private cluster" cluster_create fsync=off max_wal_size=4GB
step "Filling the tables with $history rows of the past day" make_tables
step "Load: $clients clients insert into each schema for $turn s" load_in_turns
step "The same once more" load_in_turns

cat << TEXT

Where did the inserts of the LAST SECOND go?  Lines 1 to 16: equal parts of the table's key space.

TEXT
picture || cluster_fail "cannot draw the picture"
cat << TEXT

A database that splits tables by key range gives each range to a server.  Left: one server takes
every insert, the others wait.  Right: all take the same share.  (On a single server, as here,
spread keys cost some speed instead; "make bench-keys" measures how much.)

TEXT
if [ "${KEEP:-0}" = 0 ]
then
	echo "To look around with psql, run \"KEEP=1 make demo\".  Then try:"
else
	echo "To look around with psql, try:"
fi
cat << TEXT
    \\d reversed.orders                  a plain bigserial in demo/tables_spread.sql; see its default
    TABLE reversed.orders LIMIT 5;      the first keys that it gave
    TABLE spanner.sequences;            kinds, options and counters
    TABLE key_ranges;                   the picture as rows
TEXT
[ "${KEEP:-0}" = 0 ] || echo
errors=$(sql -At -c 'SELECT sum(errors) FROM results')
[ "$errors" = 0 ] || cluster_fail "$errors rows were not written"
