#!/bin/bash
#
# cluster.sh
#	  Functions that make and remove a private throw-away cluster.
#
# To be sourced, by a script that runs as root or as an ordinary user:
#
#	. test/bin/cluster.sh
#	cluster_create [setting=value ...]
#	psql -c 'SELECT 1'
#
# The cluster lives in a directory of its own, listens on a socket in there
# only, and is removed when the script ends, unless KEEP=1.  PGHOST, PGPORT,
# PGUSER and PGDATABASE are set for it; cluster_env may hold x=y for the
# server's environment.  A server cannot run as root: then it
# runs as cluster_owner, if that is set and not root, or else as postgres or,
# on a machine without that user, as nobody.
#
#	cluster_overlay SCRIPT ...	start the script again where "make install" leaves no trace
#	cluster_init				make the directory only
#	cluster_configure x=y ...	change settings and restart
#	cluster_run COMMAND ...		run a command in there, as the server's user
#	cluster_copy_source DIR		copy the source tree, for that user to build in
#	cluster_install DIR	[x=y]	make install there, as root if need be
#	cluster_build [x=y]			copy, make and install; sets $build, and $log for what comes
#	cluster_install_modules DIR [x=y]	the same for the modules of the tests
#	cluster_remove				stop and remove now
#
# test/bin/cluster.sh

cluster_dir=
cluster_env=()
cluster_source=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
cluster_pg_config=${PG_CONFIG:-pg_config}

cluster_fail()
{
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# A container may not let us mount.  Then the server's files are written to.
cluster_overlay()
{
	local overlay=$cluster_source/test/bin/overlay.sh

	[ -z "${OVERLAID:-}" ] && "$overlay" true > /dev/null 2>&1 || return 0
	exec "$overlay" "$@"
}

cluster_run()
{
	local group

	if [ "$(id -u)" != 0 ]
	then
		(cd "$cluster_dir" && "$@")
	else
		group=$(id -g "$cluster_user")
		(cd "$cluster_dir" &&
			setpriv --reuid="$cluster_user" --regid="$group" --init-groups \
				env HOME="$cluster_dir" USER="$cluster_user" LOGNAME="$cluster_user" "$@")
	fi
}

cluster_init()
{
	local tmp=${TMPDIR:-/tmp}

	[ -z "$cluster_dir" ] || return 0
	cluster_bindir=$("$cluster_pg_config" --bindir 2> /dev/null) ||
		cluster_fail "pg_config is missing: install postgresql-server-dev-NN or set PG_CONFIG"
	[ -x "$cluster_bindir/initdb" ] ||
		cluster_fail "initdb is missing in $cluster_bindir: install the server's package"

	if [ "$(id -u)" != 0 ]
	then
		cluster_user=$(id -un)
	elif [ "${cluster_owner:-root}" != root ]
	then
		cluster_user=$cluster_owner
	elif id postgres > /dev/null 2>&1
	then
		cluster_user=postgres
	else
		cluster_user=nobody
	fi

	[ -w "$tmp" ] || cluster_fail "cannot write to $tmp"
	[ "$(df --output=avail -m "$tmp" | tail -n 1)" -ge 500 ] ||
		cluster_fail "less than 500 MB free in $tmp"
	# A socket's path is limited to 107 bytes.
	[ ${#tmp} -le 70 ] || tmp=/tmp
	cluster_dir=$(mktemp -d "$tmp/spanner_keys.XXXXXX") ||
		cluster_fail "cannot make a directory in $tmp"
	trap cluster_remove EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	chmod 700 "$cluster_dir"
	[ "$(id -u)" != 0 ] || chown "$cluster_user:" "$cluster_dir"
	cluster_run test -w "$cluster_dir" ||
		cluster_fail "user $cluster_user cannot get to $cluster_dir: set TMPDIR"
}

# Full paths: sudo and setpriv may have a PATH of their own.  A server that is
# kept must not hold a caller's pipe open.
cluster_ctl()
{
	cluster_run env "${cluster_env[@]}" "$cluster_bindir/pg_ctl" -D "$cluster_dir/data" -w -s "$@" 3>&-
}

cluster_create()
{
	cluster_init
	export PGHOST=$cluster_dir PGPORT=5432 PGUSER=$cluster_user PGDATABASE=postgres
	unset PGHOSTADDR PGSERVICE PGOPTIONS PGDATA PGPASSFILE PGSSLMODE
	export PATH=$cluster_bindir:$PATH

	cluster_run "$cluster_bindir/initdb" -D "$cluster_dir/data" -E UTF8 --locale=C \
		-A trust -U "$cluster_user" --no-sync > "$cluster_dir/initdb.log" 2>&1 ||
		cluster_fail "initdb failed: $(grep -m 1 -E 'error|FATAL|PANIC' "$cluster_dir/initdb.log" ||
			tail -n 1 "$cluster_dir/initdb.log")"
	cluster_run tee -a "$cluster_dir/data/postgresql.conf" > /dev/null <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$cluster_dir'
		port = 5432
		logging_collector = off
		log_line_prefix = '%m [%p] %a '
	CONF
	cluster_configure "$@"
}

cluster_configure()
{
	local setting

	for setting in "$@"
	do
		printf "%s = '%s'\n" "${setting%%=*}" "${setting#*=}"
	done | cluster_run tee -a "$cluster_dir/data/postgresql.conf" > /dev/null
	[ ! -e "$cluster_dir/data/postmaster.pid" ] || cluster_ctl -m fast stop
	cluster_ctl -l "$cluster_dir/server.log" start > "$cluster_dir/start.log" 2>&1 ||
		cluster_fail "the server does not start: $(grep -m 1 -hE 'FATAL|PANIC|LOG: .*contains errors' \
			"$cluster_dir/server.log" "$cluster_dir/start.log" || tail -n 1 "$cluster_dir/start.log")"
}

cluster_copy_source()
{
	local target=$1 files=$cluster_dir/files

	# What git knows or would add.  Without git: all but what a build makes.
	if ! git -c safe.directory='*' -C "$cluster_source" ls-files -z \
		--cached --others --exclude-standard > "$files" 2> /dev/null
	then
		(cd "$cluster_source" && find . \( -name .git -o -name tmp_check -o -name results \) -prune \
			-o -type f ! -name '*.[do]' ! -name '*.bc' ! -name '*.so' -print0) > "$files"
	fi
	cluster_run mkdir -p "$target"
	tar -C "$cluster_source" --null --ignore-failed-read --no-recursion -T "$files" -cf - 2> /dev/null |
		cluster_run tar -C "$target" --no-same-owner -xf - ||
		cluster_fail "cannot copy the source to $target"
	rm -f "$files"
}

cluster_install()
{
	local dir=$1 pkglibdir

	shift
	pkglibdir=$("$cluster_pg_config" --pkglibdir)
	if [ -w "$pkglibdir" ]
	then
		make -s -C "$dir" install PG_CONFIG="$cluster_pg_config" "$@"
	elif command -v sudo > /dev/null
	then
		sudo make -s -C "$dir" install PG_CONFIG="$cluster_pg_config" "$@"
	else
		cluster_fail "cannot write to $pkglibdir: neither root nor sudo"
	fi
}

cluster_build()
{
	cluster_init
	build=$cluster_dir/src
	log=$cluster_dir/build.log
	cluster_copy_source "$build"
	{
		cluster_run make -C "$build" -j "$(nproc)" PG_CONFIG="$cluster_pg_config" "$@" all &&
			cluster_install "$build" "$@"
	} > "$log" 2>&1 || {
		tail -n 20 "$log"
		exit 1
	}
}

# The public header that they are built with is the one that has been installed.
cluster_install_modules()
{
	local dir=$1 module

	shift
	for module in "$dir"/test/modules/*/
	do
		cluster_run make -s -C "$module" PG_CONFIG="$cluster_pg_config" "$@" all &&
			cluster_install "$module" "$@" || return
	done
}

cluster_remove()
{
	local dir=$cluster_dir

	[ -n "$dir" ] || return 0
	if [ -n "${KEEP:-}" ] && [ "$KEEP" != 0 ] && [ -s "$dir/data/postmaster.pid" ]
	then
		echo "The server is still running; connect with:  psql 'host=$dir user=$cluster_user dbname=$PGDATABASE'"
		echo "Stop and remove it with:  kill -INT $(head -n 1 "$dir/data/postmaster.pid"); sleep 1; rm -r $dir"
		cluster_dir=
		return 0
	fi
	[ ! -s "$dir/data/postmaster.pid" ] || cluster_ctl -m immediate stop > /dev/null 2>&1
	cluster_dir=
	rm -rf "$dir"
}
