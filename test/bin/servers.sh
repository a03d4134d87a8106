#!/bin/bash
#
# servers.sh
#	  More servers beside a private throw-away cluster.
#
# To be sourced after cluster.sh, by a script that shows or measures tables
# over servers.  The servers differ in their ports only, which follow that of
# the cluster; sockets are in the same directory.  "servers" may hold their
# numbers, by default 1, 2 and 3.
#
#	servers_start [x=y ...]		make and start them, with these settings
#	servers_connect SQL ...		make the extensions there, and tell the cluster of them;
#								SQL is how to call psql
#	servers_run_statements SQL ...	run on each what is for it in the view "statements",
#								which the caller has made
#	servers_ctl NUMBER ...		pg_ctl for one of them
#	servers_stop				stop them, unless KEEP=1; before cluster_remove
#
# test/bin/servers.sh

servers=${servers:-1 2 3}

servers_ctl()
{
	local number=$1

	shift
	cluster_run "$cluster_bindir/pg_ctl" -D "$cluster_dir/server$number" -w -s \
		-l "$cluster_dir/server$number.log" "$@"
}

servers_start()
{
	local number

	for number in $servers
	do
		cluster_run "$cluster_bindir/initdb" -D "$cluster_dir/server$number" -E UTF8 --locale=C \
			-A trust -U "$cluster_user" --no-sync &&
			printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$cluster_dir'" \
				"port = $((PGPORT + number))" 'fsync = off' "$@" |
			cluster_run tee -a "$cluster_dir/server$number/postgresql.conf" &&
			servers_ctl "$number" start || return
	done
}

servers_connect()
{
	local number

	for number in $servers
	do
		"$@" -p $((PGPORT + number)) -c 'CREATE EXTENSION spanner_keys' \
			-c 'CREATE EXTENSION spanner_keys_splits' || return
	done
	"$@" -v socket="$cluster_dir" -v port="$PGPORT" -v servers="$servers" -f "$cluster_source/test/bin/servers.sql"
}

servers_run_statements()
{
	local number

	for number in $servers
	do
		"$@" -At -c "SELECT statement || ';' FROM statements WHERE server = 'server$number'" \
			> "$cluster_dir/statements" &&
			"$@" -p $((PGPORT + number)) -f "$cluster_dir/statements" || return
	done
}

servers_stop()
{
	local number

	[ -n "$cluster_dir" ] || return 0
	for number in $servers
	do
		if [ -s "$cluster_dir/server$number/postmaster.pid" ]
		then
			if [ "${KEEP:-0}" != 0 ]
			then
				echo "Server $number too:  kill -INT $(head -n 1 "$cluster_dir/server$number/postmaster.pid")"
			else
				servers_ctl "$number" -m immediate stop > /dev/null 2>&1
			fi
		fi
	done
	return 0
}
