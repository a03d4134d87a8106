#!/bin/sh
#
# Fuzzes the pure C of src with libFuzzer, under the address and
# undefined behaviour sanitizers.
#
# usage: run.sh [seconds [seed]]
#
# test/fuzz/run.sh

set -u

seconds=${1:-5}
seed=${2:-$(date +%s)}
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
	elif (cd "$dir" && "./fuzz_$target" -max_total_time="$seconds" \
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

fuzz_one bit_reverse
fuzz_one farmhash "$top/src/keys/farmhash.c"
fuzz_one spanner_ddl_scan "$top/src/sequence/spanner_ddl/scan.c"

# With the server's headers, of which clang does not know every attribute, and
# its library of common functions.
PG_CONFIG=${PG_CONFIG:-pg_config}
fuzz_one label "$top/src/sequence/label.c" -std=gnu99 -D_GNU_SOURCE \
	-Wno-ignored-attributes -Wno-unused-parameter -Wno-sign-compare \
	-I"$("$PG_CONFIG" --includedir-server)" -L"$("$PG_CONFIG" --pkglibdir)" \
	-L"$("$PG_CONFIG" --libdir)" -lpgcommon -lpgport
exit $failed
