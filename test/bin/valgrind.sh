#!/bin/bash
#
# valgrind.sh
#	  Run the regress tests with the server under valgrind's memcheck.
#
# Usage: test/bin/valgrind.sh		REGRESS="install keys_shard_id" picks tests
#
# Reports what has a frame of the extension.  A server of a distribution hides
# palloc'd chunks from valgrind; one that was built with -DUSE_VALGRIND, and is
# named by PG_CONFIG, does not, and valgrind.supp of its source is a useful
# SUPPRESSIONS.
#
# test/bin/valgrind.sh

set -u
cd "$(dirname "$0")/../.." || exit 1
command -v valgrind > /dev/null || {
	echo "valgrind.sh: valgrind is missing (Debian: apt-get install valgrind)" >&2
	exit 1
}
if [ "${1:-}" != --inside ]
then
	test/bin/setup.sh test && exec test/bin/overlay.sh test/bin/valgrind.sh --inside
	exit 1
fi
pg_config=${PG_CONFIG:-pg_config}
unset MAKEFLAGS MFLAGS MAKELEVEL
. test/bin/cluster.sh
flags=(with_llvm=no COPT=-g)
tests=()
[ -z "${REGRESS:-}" ] || tests=("REGRESS=$REGRESS")

cluster_build "${flags[@]}"

cluster_create fsync=off max_connections=20 autovacuum=off jit=off spanner_keys.allocator_timeout=5min
cluster_ctl -m fast stop
cluster_run mkdir "$cluster_dir/reports"
cluster_run tee "$cluster_dir/postgres" > /dev/null <<-SCRIPT
	#!/bin/sh
	exec valgrind --quiet --trace-children=yes --track-origins=yes --leak-check=no --num-callers=30 \\
		--error-markers=REPORT,END --fullpath-after=$build/ --log-file=$cluster_dir/reports/%p.log \\
		--suppressions=$build/test/bin/valgrind.supp ${SUPPRESSIONS:+--suppressions=$SUPPRESSIONS} \\
		$cluster_bindir/postgres "\$@"
SCRIPT
chmod +x "$cluster_dir/postgres"
cluster_ctl -t 600 -p "$cluster_dir/postgres" -l "$cluster_dir/server.log" start ||
	cluster_fail "the server does not start: $(tail -n 3 "$cluster_dir/server.log")"
cluster_run make -C "$build" installcheck PG_CONFIG="$pg_config" "${flags[@]}" ISOLATION= TAP_TESTS= "${tests[@]}" > "$log" 2>&1 ||
	{
		grep -E '^not ok|\.\.\. FAILED' "$log"
		head -n 100 "$build/regression.diffs"
	}
good=$(grep -cE '^(ok |(test |     )[[:space:]]*[A-Za-z0-9_]+ +\.\.\. ok)' "$log")
cluster_ctl -t 600 -m fast stop

cat "$cluster_dir"/reports/*.log | awk '
	/ REPORT$/ { report = ""; ours = 0; next }
	/ END$/ { if (ours) { print report; count++ } next }
	{ report = report $0 "\n" }
	/spanner_keys\.so|\(src\/[a-z_/]+\.[ch]:/ { ours = 1 }
	END { exit count > 0 }' > "$cluster_dir/ours"
bad=$?
head -n "${REPORT_LINES:-200}" "$cluster_dir/ours"
echo "valgrind: $good tests passed, $(grep -c '^$' "$cluster_dir/ours") reports of $(cat "$cluster_dir"/reports/*.log | grep -c ' REPORT$')"
[ "$good" -gt 0 ] && [ $bad = 0 ]
