#!/bin/bash
#
# cluster.sh
#	  Show a table that is split over three servers by ranges of its key.
#
# Usage: demo/cluster.sh			ROWS=100000 KEEP=1
#
# Builds and installs the extension, and starts four private throw-away
# servers: one that takes the statements, and three that hold the rows behind
# partitions of postgres_fdw.  KEEP=1 leaves them running.
#
# demo/cluster.sh

set -u
cd "$(dirname "$0")/.." || exit 1
rows=${ROWS:-100000}
more=$((rows / 5))
unset MAKEFLAGS MFLAGS MAKELEVEL

test/setup.sh demo || exit 1

. test/cluster.sh
. test/servers.sh
. demo/steps.sh

start_servers()
{
	cluster_create fsync=off && servers_start
}

# What is made on the three servers comes from create_splits().
make_table()
{
	servers_connect sql &&
		sql -f demo/cluster_tables.sql &&
		servers_run_statements sql &&
		sql -c "SELECT run_splits()"
}

load()
{
	sql -v first="$1" -v rows="$2" -f demo/cluster_load.sql
}

show()
{
	echo
	PGCLIENTENCODING=UTF8 sql "$@"
}

cluster_init
trap 'servers_stop; cluster_remove' EXIT
log=$cluster_dir/step.log
step "Building and installing the extension" build
step "Starting four private servers" start_servers
step "Splitting two tables over three of them" make_table
cat << TEXT

    SELECT * FROM spanner.create_splits('reversed', 3, '{server1,server2,server3}', dry_run => false);

TEXT
step "Inserting $rows rows into each" load 1 "$rows"
show -f demo/cluster_rows.sql || cluster_fail "cannot count the rows"
sql -c 'INSERT INTO earlier SELECT * FROM splits'
step "Inserting $more more rows" load "$((rows + 1))" "$more"
echo
echo "Where did the new rows go?"
show -f demo/cluster_new_rows.sql || cluster_fail "cannot count the rows"
echo "One row by its id asks one server, all rows ask all servers at the same time:"
show -f demo/cluster_plans.sql || cluster_fail "cannot show the plans"

servers_ctl 2 -m fast stop
echo "Server 2 is stopped.  An insert that needs it:"
echo
sql -c "INSERT INTO reversed (note) SELECT 'lost' FROM generate_series(1, 100)" 2>&1 |
	sed 's/^.*psql:[^ ]* //' | grep -E '^ERROR' | cut -c 1-100
servers_ctl 2 start
echo
echo "It is started again.  All rows are there, and none of those 100:"
show -c "SELECT count(*) AS rows, count(*) FILTER (WHERE note = 'lost') AS lost FROM reversed" ||
	cluster_fail "cannot count the rows"
if [ "${KEEP:-0}" = 0 ]
then
	echo "To look around with psql, run \"KEEP=1 make demo-cluster\"."
else
	echo "To look around with psql, try:  SELECT * FROM spanner.split_stats('reversed');"
fi
