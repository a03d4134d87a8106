#!/bin/bash
#
# assert.sh
#	  Run the tests on a server with assertions.
#
# Usage: PGSOURCE=/path/to/checkout test/bin/assert.sh
#
# The server is built from a checkout of PostgreSQL, of any release that we
# support (source.sh).  It checks its assertions and ours, fills memory that is
# freed, and copies, writes and reads all parse and plan trees.  Any assertion
# that fails ends the server, and with it a test.
#
# The last phase throws away all that is cached whenever anything could have
# changed it, with a choice of the regress tests (run.sh).
#
# test/bin/assert.sh

set -u
here=$(dirname "$(realpath "$0")")
[ -n "${PGSOURCE:-}" ] || {
	echo "assert.sh: set PGSOURCE to a checkout of PostgreSQL" >&2
	exit 1
}
if [ "$(id -u)" != 0 ]
then
	command -v sudo > /dev/null || {
		echo "assert.sh: neither root nor sudo, for a view of the machine" >&2
		exit 1
	}
	exec sudo --preserve-env=PGSOURCE,TESTS,JOBS,PG_CONFIG,MATRIX_CACHE,PLANNER_SECONDS,PLANNER_SEED,REGRESS_DISCARD "$0"
fi

"$here/setup.sh" test || exit 1
server=$("$here/source.sh" "$PGSOURCE" --enable-cassert --enable-debug \
	CPPFLAGS="-DCOPY_PARSE_PLAN_TREES -DWRITE_READ_PARSE_PLAN_TREES -DRAW_EXPRESSION_COVERAGE_TEST") || exit 1
release=$("$server/bin/pg_config" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
. "$here/cluster.sh"
cluster_init
chmod 755 "$cluster_dir"
cluster_copy_source "$cluster_dir/src"
mkdir "$cluster_dir/work"
export TESTS=${TESTS:-build install regress regress-preload regress-discard isolation tap}
unshare --mount --pid --ipc --net --uts --fork --kill-child \
	"$here/matrix_inside.sh" "$cluster_dir/src" "$cluster_dir/work" "$release" "$server"
rc=$?
rmdir "$cluster_dir/work"
exit $rc
