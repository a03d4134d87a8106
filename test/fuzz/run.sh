#!/bin/sh
#
# Fuzzes C of src with libFuzzer, under the address and undefined behaviour
# sanitizers: what is pure C as programs, and by server.sh what needs a
# backend.
#
# usage: run.sh [seconds [seed [target...]]]
#
# test/fuzz/run.sh

set -u

seconds=${1:-5}
seed=${2:-$(date +%s)}
shift $(($# < 2 ? $# : 2))
targets=${*:-bit_reverse farmhash counter label canonical ddl}
top=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

CLANG=${CLANG:-clang}
if ! command -v "$CLANG" >/dev/null; then
	echo "not ok fuzz: clang is missing (Debian: apt-get install clang)"
	exit 1
fi

# fuzz_one target source...
#
# The targets free what they allocate; the search for leaks does not work in
# every container.
fuzz_one()
{
	target=$1
	shift
	log=$dir/$target.log
	mkdir -p "$dir/$target"

	if ! "$CLANG" -std=c99 -g -O1 -Wall -Wextra \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		-I"$top/src" "$top/test/fuzz/fuzz_$target.c" "$@" \
		-o "$dir/fuzz_$target" >"$log" 2>&1; then
		echo "not ok fuzz $target: could not be built"
		cat "$log"
		failed=1
	elif (cd "$dir" && ASAN_OPTIONS=detect_leaks=0 "./fuzz_$target" -max_total_time="$seconds" \
		-seed="$seed" -max_len=1024 -len_control=0 -print_final_stats=1 \
		"$dir/$target") >"$log" 2>&1; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
		echo "ok fuzz $target: $runs inputs in $seconds s, seed $seed"
	else
		echo "not ok fuzz $target: seed $seed"
		tail -n 40 "$log"
		failed=1
	fi
}

# With the server's headers, of which clang does not know every attribute, and
# its library of common functions.
fuzz_sequence()
{
	pg_config=${PG_CONFIG:-pg_config}
	fuzz_one "$1" "$top/src/sequence/$1.c" -std=gnu99 -D_GNU_SOURCE \
		-Wno-ignored-attributes -Wno-unused-parameter -Wno-sign-compare \
		-I"$("$pg_config" --includedir-server)" -L"$("$pg_config" --pkglibdir)" \
		-L"$("$pg_config" --libdir)" -lpgcommon -lpgport
}

server_targets=
for wanted in $targets; do
	case $wanted in
		bit_reverse) fuzz_one bit_reverse ;;
		farmhash) fuzz_one farmhash "$top/src/keys/farmhash.c" ;;
		counter | label) fuzz_sequence "$wanted" ;;
		canonical | ddl) server_targets="$server_targets $wanted" ;;
		*)
			echo "not ok fuzz $wanted: there is no such target"
			failed=1
			;;
	esac
done
if [ -n "$server_targets" ]; then
	# shellcheck disable=SC2086
	"$top/test/fuzz/server.sh" "$seconds" "$seed" $server_targets || failed=1
fi
exit $failed
