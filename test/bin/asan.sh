#!/bin/bash
#
# asan.sh
#	  Run the regress and isolation tests under AddressSanitizer and UBSan.
#
# Only the extension is instrumented; the server is the system's.  The
# sanitizers see overruns of the stack and of malloc'd memory, and undefined
# behaviour; small overruns of palloc'd chunks stay hidden.
#
# test/bin/asan.sh

set -u
cd "$(dirname "$0")/../.." || exit 1
if [ "${1:-}" != --inside ]
then
	test/bin/setup.sh test && exec test/bin/overlay.sh test/bin/asan.sh --inside
	exit 1
fi
pg_config=${PG_CONFIG:-pg_config}
unset MAKEFLAGS MFLAGS MAKELEVEL
. test/bin/cluster.sh
flags=(with_llvm=no "COPT=-fsanitize=address,undefined -U_FORTIFY_SOURCE"
	"SHLIB_LINK=-fsanitize=address,undefined")

cluster_build "${flags[@]}"

# A server with the preloaded sanitizer hangs in the C library's bindtextdomain.
echo 'char *bindtextdomain(const char *d, const char *n) { return 0; }' |
	cluster_run gcc -shared -fPIC -x c - -o "$cluster_dir/nobtd.so" || exit 1
cluster_env=(
	"LD_PRELOAD=$(realpath "$(gcc -print-file-name=libasan.so)") $cluster_dir/nobtd.so"
	"ASAN_OPTIONS=detect_leaks=0:abort_on_error=1"
	"UBSAN_OPTIONS=print_stacktrace=1")
# Its stack frames are larger.
cluster_create fsync=off max_connections=50 max_stack_depth=6MB
bad=0
for tests in "ISOLATION=" "REGRESS="
do
	cluster_run make -C "$build" installcheck PG_CONFIG="$pg_config" "${flags[@]}" \
		TAP_TESTS= "$tests" >> "$log" 2>&1 || bad=1
done
cluster_ctl -m fast stop > /dev/null 2>&1

[ $bad = 0 ] || cat "$build"/regression.diffs "$build"/output_iso/regression.diffs 2> /dev/null | head -n 100
# The reports go to the server's log.
reports=$(grep -cE 'ERROR: AddressSanitizer|: runtime error: ' "$cluster_dir/server.log")
[ "$reports" = 0 ] || {
	grep -m 3 -A 15 -E 'ERROR: AddressSanitizer|: runtime error: ' "$cluster_dir/server.log"
	bad=1
}
good=$(grep -cE '^(ok |(test |     )[[:space:]]*[A-Za-z0-9_]+ +\.\.\. ok)' "$log")
echo "asan: $good tests passed, $reports reports"
[ "$good" -gt 0 ] && [ $bad = 0 ]
