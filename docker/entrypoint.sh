#!/bin/bash
#
# entrypoint.sh
#	  Make a cluster if there is none, and run the server as the first process.
#
# POSTGRES_PASSWORD is the password of the role postgres; with
# POSTGRES_HOST_AUTH_METHOD=trust there is none.
#
# docker/entrypoint.sh

set -eu
method=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}

if [ ! -s "$PGDATA/PG_VERSION" ]
then
	if [ "$method" = trust ]
	then
		initdb --encoding=UTF8 --locale=C.UTF-8 --auth=trust
	else
		: "${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD, or POSTGRES_HOST_AUTH_METHOD=trust}"
		initdb --encoding=UTF8 --locale=C.UTF-8 --auth-local=trust --auth-host="$method" \
			--pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD")
	fi
	printf 'host all all all %s\n' "$method" >> "$PGDATA/pg_hba.conf"
	# New databases have spanner_keys.  The other three are one CREATE EXTENSION away.
	printf 'CREATE EXTENSION spanner_keys;\n' | postgres --single -D "$PGDATA" template1 > /dev/null
	printf 'CREATE EXTENSION spanner_keys;\n' | postgres --single -D "$PGDATA" postgres > /dev/null
fi
exec postgres -D "$PGDATA" -c listen_addresses='*' "$@"
