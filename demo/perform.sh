#!/bin/bash
#
# perform.sh
#	  Perform steps that a function prints, server by server.
#
# Usage: demo/perform.sh DIRECTORY "SELECT step, server, statement FROM ..."
#        demo/perform.sh DIRECTORY			TRIES=1
#
# The query runs where psql connects to by itself, and so do statements without
# a server.  It is asked once: the directory keeps the steps, what has been
# done, and how to connect to the other servers, as the foreign servers are
# defined here.  If a step fails, the same command goes on with it.
#
# demo/perform.sh

set -u
directory=$1
query=${2:-}
tries=${TRIES:-1}

run_psql()
{
	psql -X -q -v ON_ERROR_STOP=1 "$@"
}

# One file for each step and server, with its statements.
write_steps()
{
	local step server statement last="" number=0 file=""

	mkdir -p "$directory" &&
		run_psql -At -F $'\x1f' -0 -c "$query" > "$directory/printed" || return
	while IFS=$'\x1f' read -r -d '' step server statement
	do
		if [ "$step/$server" != "$last" ]
		then
			number=$((number + 1))
			file=$directory/$(printf '%03d' "$number")
			printf '%s' "$server" > "$file.server"
			: > "$file.sql"
			last=$step/$server
		fi
		printf '%s;\n' "$statement" >> "$file.sql"
	done < <(sed -z -e 's/\n$//' "$directory/printed" | cat - <(printf '\0'))
	[ "$number" != 0 ] && : > "$directory/complete"
}

connection()
{
	run_psql -At -v server="$1" <<'SQL'
SELECT string_agg(format('%s=''%s''', o.option_name, o.option_value), ' ')
  FROM (SELECT x.* FROM pg_foreign_server s, pg_options_to_table(s.srvoptions) x
         WHERE s.srvname = :'server' AND x.option_name IN ('host', 'hostaddr', 'port', 'dbname')
        UNION ALL
        SELECT x.* FROM pg_user_mappings m, pg_options_to_table(m.umoptions) x
         WHERE m.srvname = :'server' AND m.usename = current_user AND x.option_name = 'user') o;
SQL
}

perform()
{
	local file=$1 server

	server=$(cat "$file.server")
	if [ -z "$server" ]
	then
		run_psql -1 -f "$file.sql"
	else
		[ -s "$file.connection" ] || connection "$server" > "$file.connection" || return
		run_psql -1 -d "$(cat "$file.connection")" -f "$file.sql"
	fi > "$file.log" 2>&1
}

[ -e "$directory/complete" ] || write_steps || exit 1
for sql in "$directory"/[0-9]*.sql
do
	file=${sql%.sql}
	[ ! -e "$file.done" ] || continue
	for ((try = 1; ; try++))
	do
		[ -z "${BEFORE_STEP:-}" ] || "$BEFORE_STEP" "$(basename "$file")" "$(cat "$file.server")"
		perform "$file" && break
		if [ "$try" -ge "$tries" ]
		then
			echo "step ${file##*/} failed on ${server:-$(cat "$file.server")}: $(grep -m 1 -E 'ERROR|FATAL|error:' "$file.log")" >&2
			exit 1
		fi
		sleep 0.2
	done
	: > "$file.done"
done
