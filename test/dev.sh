#!/bin/bash
#
# dev.sh
#	  A private cluster that stays, to try a changed line in seconds.
#
# Usage: test/dev.sh start [setting=value ...]	build, install, start
#		 test/dev.sh build [x=y ...]		build again, with arguments for make, and install;
#											the database is made anew if a script has changed
#		 test/dev.sh psql [ARGUMENT ...]	a session in a database that has the extensions
#		 test/dev.sh test [NAME ...]		build, run regress and isolation tests, or all of them
#		 test/dev.sh tap NNN ...			build, run test/t/NNN_*.pl
#		 test/dev.sh log					follow the server's log
#		 test/dev.sh stop					stop, remove
#
# The server sees a copy-on-write view of its installation, so "make install"
# changes nothing outside.  That view lasts as long as the server runs.
#
# test/dev.sh

set -u
cd "$(dirname "$0")/.." || exit 1
. test/bin/cluster.sh
state=.dev
export MAKEFLAGS=--no-print-directory
make=(make -s "-j$(nproc)" with_llvm=no "PG_CONFIG=$cluster_pg_config")

# Of the server, if it runs: not of another process that has got its number.
server_pid()
{
	local pid

	pid=$(head -n 1 "$dir/data/postmaster.pid" 2> /dev/null) &&
		[ "$(readlink "/proc/$pid/cwd")" = "$dir/data" ] && echo "$pid"
}

# Nobody but root may enter the server's view of the machine.
inside()
{
	local as_root=()

	[ "$(id -u)" = 0 ] || as_root=(sudo)
	"${as_root[@]}" nsenter -m -t "$(server_pid)" --wd="$PWD" -- "$@"
}

build()
{
	"${make[@]}" "$@" all && inside "${make[@]}" "$@" install && make_database
}

# Anew, if the install scripts are not those that made it.
make_database()
{
	local extension scripts

	scripts=$(cat sql/spanner_keys*--*.sql ./*.control | cksum)
	[ "$scripts" != "$(cat "$dir/scripts" 2> /dev/null)" ] || return 0
	psql -Xq -c 'SET client_min_messages = error' -c 'DROP DATABASE IF EXISTS dev WITH (FORCE)' -c 'CREATE DATABASE dev' || return
	for extension in $("${make[@]}" --eval='print-it: ; @echo $(EXTENSION)' print-it)
	do
		psql -Xq -d dev -c "CREATE EXTENSION $extension" || return
	done
	echo "$scripts" > "$dir/scripts"
}

start()
{
	[ ! -e "$state" ] || stop
	"${make[@]}" all && test/bin/overlay.sh test/dev.sh --inside "$@" || exit
	connect
	make_database
	echo "test/dev.sh psql, build, test, tap, log and stop use the server in $dir"
}

# As the owner of the source, who is to connect, or as any user but root.
start_inside()
{
	cluster_owner=$(stat -c %U .)
	"${make[@]}" install || exit
	cluster_create fsync=off max_connections=60 max_prepared_transactions=10 "$@"
	echo "$cluster_dir" > "$state"
	chown --reference=. "$state"
	cluster_dir=
}

connect()
{
	dir=$(cat "$state" 2> /dev/null) && server_pid > /dev/null ||
		cluster_fail "nothing runs: test/dev.sh start"
	export PGHOST=$dir PGPORT=5432 PGUSER PGDATABASE=postgres
	PGUSER=$(stat -c %U "$dir")
	PATH=$("$cluster_pg_config" --bindir):$PATH
}

run_tests()
{
	local name regress='' isolation='' lists=()

	for name in "$@"
	do
		[ -e "sql/$name.sql" ] || [ -e "test/isolation/specs/$name.spec" ] ||
			cluster_fail "there is neither sql/$name.sql nor test/isolation/specs/$name.spec"
		[ ! -e "sql/$name.sql" ] || regress+=" $name"
		[ ! -e "test/isolation/specs/$name.spec" ] || isolation+=" $name"
	done
	[ $# = 0 ] || lists=("REGRESS=$regress" "ISOLATION=$isolation")
	rm -f regression.diffs output_iso/regression.diffs
	build || return
	"${make[@]}" installcheck TAP_TESTS= "${lists[@]}" 2>&1 |
		grep -vE '^$|^(=|\+|\(|#|SET|DROP|CREATE|ALTER)'
	[ "${PIPESTATUS[0]}" != 0 ] || return 0
	cat regression.diffs output_iso/regression.diffs 2> /dev/null
	return 1
}

run_tap()
{
	local number module files=()

	for number in "$@"
	do
		files+=(test/t/"$number"_*.pl)
	done
	build || return
	cluster_dir=$dir cluster_user=$PGUSER
	rm -rf "$dir/src"
	cluster_copy_source "$dir/src"
	unset PGHOST PGPORT PGUSER PGDATABASE
	for module in "$dir"/src/test/modules/*/
	do
		inside "${make[@]}" -C "$module" install || return
	done
	inside setpriv --reuid="$cluster_user" --regid="$(id -g "$cluster_user")" --init-groups \
		env HOME="$dir" make -s -C "$dir/src" installcheck "PG_CONFIG=$cluster_pg_config" \
		REGRESS= ISOLATION= "PROVE_TESTS=${files[*]}" "PROVE_FLAGS=-v --timer"
}

stop()
{
	local pid

	dir=$(cat "$state")
	rm -f "$state"
	if pid=$(server_pid)
	then
		kill -QUIT "$pid"
		timeout 20 tail --pid="$pid" -f /dev/null
	fi
	rm -rf "$dir"
}

command=${1:-}
[ $# = 0 ] || shift
case $command in
	start) start "$@" ;;
	--inside) start_inside "$@" ;;
	build) connect && build "$@" ;;
	psql) connect && exec psql -d dev "$@" ;;
	test) connect && run_tests "$@" ;;
	tap) connect && run_tap "$@" ;;
	log) connect && exec tail -n 50 -f "$dir/server.log" ;;
	stop) [ ! -e "$state" ] || stop ;;
	*) sed -n '/^# Usage/,/^#$/s/^# \{0,1\}//p' "$0"
		exit 1 ;;
esac
