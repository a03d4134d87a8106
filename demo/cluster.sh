#!/bin/bash
#
# cluster.sh
#	  Show how one server becomes three, while clients insert.
#
# Usage: demo/cluster.sh			ROWS=100000 KEEP=1
#
# Builds and installs the extension, and starts three private throw-away
# servers.  The first has a table with rows.  Parts of it move to the others,
# by the program spanner_splits.  KEEP=1 leaves them running.
#
# demo/cluster.sh

set -u
self=$(realpath "$0")
cd "$(dirname "$0")/.." || exit 1
rows=${ROWS:-100000}
servers="2 3"
unset MAKEFLAGS MFLAGS MAKELEVEL

test/bin/setup.sh demo || exit 1

. test/bin/cluster.sh
cluster_overlay "$self" "$@"
. test/bin/servers.sh
. demo/steps.sh

start_servers()
{
	cluster_create fsync=off wal_level=logical && servers_start 'wal_level = logical'
}

make_table()
{
	sql -v rows="$rows" -f demo/cluster_tables.sql && servers_connect sql
}

# Twenty rows at a time, which are counted if they are committed.
insert_rows()
{
	until [ -e "$cluster_dir/stop" ]
	do
		sql -c "INSERT INTO orders (note) SELECT 'new' FROM generate_series(1, 20)" > /dev/null 2>&1 &&
			echo 20 >> "$cluster_dir/inserted"
		sleep 0.05
	done
}

move()
{
	"$cluster_bindir/spanner_splits" --yes move "$@" && wait_for_inserts
}

adopt()
{
	sql -c "SELECT spanner.adopt_table('orders', dry_run => false)" &&
		sql -c "SELECT spanner.convert_column('orders', 'id')" && wait_for_inserts
}

# A picture shows the inserts of the last second.
wait_for_inserts()
{
	sleep 1.2
}

show()
{
	echo
	PGCLIENTENCODING=UTF8 sql "$@" || cluster_fail "cannot show the servers"
}

stop_inserts()
{
	: > "$cluster_dir/stop"
	wait "$writer" 2> /dev/null
	return 0
}

cluster_init
trap 'stop_inserts; servers_stop; cluster_remove' EXIT
log=$cluster_dir/step.log
step "Building and installing the extension" build
step "Starting three private servers" start_servers
step "One server: a table with $rows rows and a serial key" make_table
insert_rows &
writer=$!
cat << TEXT

From now on a client inserts, all the time.  The table becomes a partitioned one with itself as the
only partition, and its new ids are bit-reversed:

    psql -c "SELECT spanner.adopt_table('orders', dry_run => false)"
    psql -c "SELECT spanner.convert_column('orders', 'id')"

TEXT
step "No row is copied" adopt
show -f demo/cluster_picture.sql
cat << TEXT
A second server joins, and takes two thirds of the keys:

    spanner_splits move orders_p0 --to server2 --at 3074457345618258602

TEXT
step "The rows move while the client inserts" move \
	orders_p0 --to server2 --at 3074457345618258602
show -f demo/cluster_picture.sql
cat << TEXT
A third one takes half of that:

    spanner_splits move orders_p0_1 --to server3 --at 6148914691236517205

TEXT
step "The rows move while the client inserts" move \
	orders_p0_1 --to server3 --at 6148914691236517205
show -f demo/cluster_picture.sql
echo "The old ids are small, and stay on the first server.  Inserts go to all three."
servers_ctl 2 -m fast stop
echo
echo "Server 2 is stopped.  Statements that need it fail, others go on, and so do statistics:"
show -c "SELECT partition, server, rows, reachable, substr(error, 1, 40) AS error FROM spanner.split_stats('orders')"
servers_ctl 2 start
stop_inserts
echo "It is started again.  Rows that were inserted and committed, and rows that are there:"
show -c "SELECT $(paste -sd+ "$cluster_dir/inserted") + $rows AS committed, count(*) AS rows, count(DISTINCT id) AS ids FROM orders"
echo "Nothing is left over, and the servers agree (no row means that all is well):"
show -c "SELECT * FROM spanner.check_splits('orders')"
if [ "${KEEP:-0}" = 0 ]
then
	echo "To look around with psql, run \"KEEP=1 make demo-cluster\"."
else
	echo "To look around with psql, try:  SELECT * FROM spanner.split_advice('orders');"
fi
