#!/bin/bash
#
# keys.sh
#	  What each kind of key costs on a single server.
#
# Tables that differ only in the key grow in turn, a segment of rows at a time,
# to 10 million rows; their indexes are larger than shared_buffers.  In the last
# 4 million it changes from segment to segment after how many rows a checkpoint
# comes, and how whole pages get into the WAL.  Then the same for the WAL of
# wider rows.
#
# test/bench/keys.sh

. test/bench/common.sh

base=$(sized '2000000 1000000 1500000 1500000' 100000)
segment=$(sized 500000 100000)
often=$((segment / 20))
seldom=$((segment / 4))
keys='bigserial uuid bit_reversed_positive striped(4) striped(16) striped(64) striped(256) striped(1024) striped(4096)'
wide_keys='bigserial bit_reversed_positive striped(64) striped(256)'
before=0

# make_table NUMBER KEY PAYLOAD
make_table()
{
	local type=bigserial kind=local

	case $2 in
		bigserial) ;;
		uuid) type='uuid DEFAULT gen_random_uuid()' ;;
		striped*) kind="striped(stripes=${2//[^0-9]/})" ;;
		*) kind=$2 ;;
	esac
	sql -c "SET spanner.default_sequence_kind = '$kind'" \
		-c "CREATE TABLE keyed_$1 (id $type PRIMARY KEY, payload text DEFAULT $3)"
}

# grow ROWS DISTANCE WHOLE_PAGES KEYS SUFFIX
#
# Insert into each table, with a checkpoint every DISTANCE rows.
grow()
{
	local key number=0 compression=off

	progress "$1 rows into each table${5:-}, a checkpoint every $2 rows, full pages: $3"
	sql -c "ALTER SYSTEM SET full_page_writes = $([ "$3" = off ] && echo off || echo on)" -c 'SELECT pg_reload_conf()' > "$log"
	[ "$3" != lz4 ] || compression=lz4
	for key in $4
	do
		PGOPTIONS="-c wal_compression=$compression" sql -v tab="keyed_$number" -v rows="$1" -v distance="$2" \
			-v name="$key${5:-}" -v parameter="every=$2 pages=$3 from=$before" -f test/bench/keys.sql | record_rows || exit 1
		number=$((number + 1))
	done
	before=$((before + $1))
}

# make_tables KEYS PAYLOAD
make_tables()
{
	local key number=0

	before=0
	for key in $1
	do
		make_table "$number" "$key" "$2"
		number=$((number + 1))
	done
}

bench_start shared_buffers="$(sized 64MB 8MB)" fsync=off max_wal_size=64GB checkpoint_timeout=1d \
	autovacuum=off synchronous_commit=off
sql -f test/bench/keys_prepare.sql
record shared_buffers '' size "$(sql -c "SELECT pg_size_bytes(current_setting('shared_buffers'))")" bytes

make_tables "$keys" "'1234'"
for rows in $base
do
	grow "$rows" "$rows" first "$keys"
done
for ((round = 1; round <= 2; round++))
do
	grow "$segment" $often on "$keys"
	grow "$segment" $seldom on "$keys"
	grow "$segment" "$segment" on "$keys"
	[ "$BENCH" = full ] || break
done
if [ "$BENCH" = full ] && [ "$(sql -c "SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'wal_compression'")" = t ]
then
	grow "$segment" $often lz4 "$keys"
fi
grow "$segment" "$segment" off "$keys"
sql <<< "SELECT format('DROP TABLE %s', oid::regclass) FROM pg_class WHERE relname ~ '^keyed_[0-9]+\$' \gexec"

make_tables "$wide_keys" "repeat('x', 100)"
grow "$segment" "$segment" first "$wide_keys" ', 100 bytes'
grow $((segment / 2)) $often on "$wide_keys" ', 100 bytes'
grow $((segment / 2)) $seldom on "$wide_keys" ', 100 bytes'
