#!/bin/bash
#
# instructions.sh
#	  Count the instructions of single calls, of rows of COPY, of rows that get a
#	  number, and of planning.
#
# The server runs under callgrind, and each session is a process with a report
# of its own.  A statement is run with few calls and with many; the difference
# is that of the calls.  Other than times, the counts hardly vary.
#
# test/bench/instructions.sh

. test/bench/common.sh
. test/bench/callgrind.sh
. test/bench/one_row.sh

few=1000
many=6000

# of_session STATEMENT: %s in it becomes $few or $many
of_session()
{
	counted "$few" "$many" run_statement "$1"
}

run_statement()
{
	sql -c 'SELECT pg_backend_pid()' -c "${2//%s/$1}"
}

# call CASE PARAMETER EXPRESSION
call()
{
	local count

	progress "$1, $2"
	count=$(of_session "SELECT count($3) FROM generate_series(1::bigint, %s) number") || exit 1
	record "$1" "$2" instructions $((count - loop)) count
}

# copy CASE TABLE
copy()
{
	progress "COPY, $1"
	record "$1" COPY instructions "$(of_session "COPY $2 (v) FROM '$cluster_dir/%s.data'")" count
}

# planning CASE PARAMETER STATEMENT [SETTING]
planning()
{
	progress "$2, $1"
	export PGOPTIONS=${4:-}
	record "$1" "$2" instructions "$(of_session "DO \$\$ BEGIN FOR i IN 1 .. %s LOOP
		EXECUTE '$3'; END LOOP; END \$\$")" count
	unset PGOPTIONS
}

# numbered CASE: a transaction of allocator.sh that numbers one row
numbered()
{
	progress "one row numbered, $1"
	record "$1" 'one row' instructions "$(counted 200 1200 run_transactions "${one_row[$1]}")" count
}

run_transactions()
{
	printf '%s\n' '\if :is_first' 'SELECT pg_backend_pid() AS pid \gset' '\shell echo :pid' \
		'\set is_first 0' '\endif' "${2//$'\n'/ };" > "$scripts/rows.sql"
	pgbench -n -M prepared -D is_first=1 -c 1 -t "$1" -f "$scripts/rows.sql" 2> "$log" | grep -xE '[0-9]+'
}

bench_start fsync=off autovacuum=off
sql -f test/bench/allocator.sql > "$log"
sql > "$log" << 'SQL'
SET client_min_messages = warning;
SELECT spanner.create_allocator('large', batch_size => 1000000, max_batch_size => 1000000);
SET spanner.default_sequence_kind = 'bit_reversed_positive';
CREATE SEQUENCE bit_reversed_positive_1;
CREATE SEQUENCE bit_reversed_positive_1000 CACHE 1000;
CREATE TABLE bit_reversed_positive (id bigserial, v integer);
SET spanner.default_sequence_kind = 'striped';
CREATE SEQUENCE striped_1;
CREATE SEQUENCE striped_1000 CACHE 1000;
CREATE TABLE striped (id bigserial, v integer);
CREATE DATABASE unbound;
\connect unbound
CREATE SEQUENCE core_1;
CREATE SEQUENCE core_1000 CACHE 1000;
CREATE TABLE core (id bigserial, v integer);
SQL
for count in $few $many
do
	seq "$count" | cluster_run tee "$cluster_dir/$count.data" > /dev/null
done

callgrind_start

# The first session of a database writes a file for the others.
PGDATABASE=unbound sql -c 'SELECT 1' > "$log"
loop=$(of_session 'SELECT count(number) FROM generate_series(1::bigint, %s) number') || exit 1
if [ "$BENCH" = full ]
then
	call spanner.bit_reverse number 'spanner.bit_reverse(number, true)'
	call hashint8extended number 'hashint8extended(number, 0)'
	call spanner.shard_id number 'spanner.shard_id(64, number)'
	call hashtextextended text "hashtextextended('user@example.com' || number, 0)"
	call md5 text "md5('user@example.com' || number)"
	call spanner.farm_fingerprint text "spanner.farm_fingerprint('user@example.com' || number)"
	call concatenation text "'user@example.com' || number"
fi
for cache in $(sized '1 1000' 1)
do
	PGDATABASE=unbound call core "CACHE $cache" "nextval('core_$cache')"
	call bit_reversed_positive "CACHE $cache" "nextval('bit_reversed_positive_$cache')"
	call striped "CACHE $cache" "nextval('striped_$cache')"
done
call async_batch allocator "spanner.next_value('large')"
for case in nextval update sync on_commit
do
	numbered "$case"
done
PGDATABASE=unbound copy core core
for kind in bit_reversed_positive striped
do
	copy "$kind" "$kind"
done
export PGDATABASE=unbound
scan='SELECT oid FROM pg_class WHERE oid = 1'
draw="EXPLAIN SELECT nextval(''public.core_1'')"
planning 'without the library' planning "$scan"
planning 'with the library' planning "$scan" '-c session_preload_libraries=spanner_keys'
planning 'without the extension' 'planning nextval' "$draw"
sql -c 'CREATE EXTENSION spanner_keys'
planning 'with the extension' 'planning nextval' "$draw"
callgrind_stop
