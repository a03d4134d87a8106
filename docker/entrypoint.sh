#!/bin/bash
#
# entrypoint.sh
#	  Make a cluster if there is none, and run the server as the first process.
#
# Usage: entrypoint.sh [OPTION-OF-THE-SERVER ... | COMMAND ...]
#
# The variables are those of PostgreSQL's official image.  POSTGRES_PASSWORD, or
# the content of the file POSTGRES_PASSWORD_FILE, is the password of the
# superuser POSTGRES_USER (postgres); with POSTGRES_HOST_AUTH_METHOD=trust none
# is needed.  The database POSTGRES_DB is created, by default one named as the
# superuser.  POSTGRES_INITDB_ARGS are more arguments of initdb.
#
# A new cluster runs the files of /docker-entrypoint-initdb.d (INITDB_D) in the
# order of their names, in POSTGRES_DB: *.sql, *.sql.gz, and *.sh, which are
# sourced if they are not executable.  Until then nobody connects by network.
#
# docker/entrypoint.sh

set -Eeuo pipefail
method=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
export POSTGRES_USER=${POSTGRES_USER:-postgres}
export POSTGRES_DB=${POSTGRES_DB:-$POSTGRES_USER}
initdb_d=${INITDB_D:-/docker-entrypoint-initdb.d}

make_cluster()
{
	local arguments=(--encoding=UTF8 --locale=C.UTF-8 "--username=$POSTGRES_USER" --auth-local=trust "--auth-host=$method")
	local password=${POSTGRES_PASSWORD:-}

	[ -z "${POSTGRES_PASSWORD_FILE:-}" ] || password=$(< "$POSTGRES_PASSWORD_FILE")
	if [ -n "$password" ]
	then
		initdb "${arguments[@]}" --pwfile=<(printf '%s\n' "$password") ${POSTGRES_INITDB_ARGS:-}
	elif [ "$method" = trust ]
	then
		initdb "${arguments[@]}" ${POSTGRES_INITDB_ARGS:-}
	else
		echo "set POSTGRES_PASSWORD, or POSTGRES_HOST_AUTH_METHOD=trust" >&2
		exit 1
	fi
	printf 'host all all all %s\n' "$method" >> "$PGDATA/pg_hba.conf"
}

# run_sql DATABASE ARGUMENT ...
run_sql()
{
	psql -Xq --no-password -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$@"
}

run_file()
{
	case $1 in
		*.sh) if [ -x "$1" ]; then "$1"; else . "$1"; fi ;;
		*.sql) run_sql "$POSTGRES_DB" -f "$1" ;;
		*.sql.gz) gunzip -c "$1" | run_sql "$POSTGRES_DB" ;;
		*) echo "$1 is ignored" ;;
	esac
}

# New databases have spanner_keys.  The other three are one CREATE EXTENSION away.
fill_cluster()
{
	local file

	pg_ctl -D "$PGDATA" -w -o "$(printf '%q ' "$@" -c listen_addresses=)" start
	run_sql template1 -c 'CREATE EXTENSION spanner_keys'
	run_sql postgres -c 'CREATE EXTENSION spanner_keys'
	[ "$POSTGRES_DB" = postgres ] || run_sql postgres -v name="$POSTGRES_DB" <<< 'CREATE DATABASE :"name"'
	for file in "$initdb_d"/*
	do
		[ ! -f "$file" ] || run_file "$file"
	done
	pg_ctl -D "$PGDATA" -w -m fast stop
}

case ${1:-} in
	postgres) shift ;;
	'' | -*) ;;
	*) exec "$@" ;;
esac
if [ ! -s "$PGDATA/PG_VERSION" ]
then
	make_cluster
	fill_cluster "$@"
fi
unset POSTGRES_PASSWORD
exec postgres -D "$PGDATA" -c listen_addresses='*' "$@"
