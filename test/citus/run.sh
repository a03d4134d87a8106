#!/bin/bash
#
# run.sh
#	  Test with Citus: a coordinator and its workers.
#
# Usage: CITUS=/path/to/citus test/citus/run.sh [TEST.pl ...]
#
# CITUS is a checkout or a bare git directory of Citus.  It is built once, in
# the cache of the user; the tests run in a view of the machine in which it and
# the extension are installed.  Nothing of the system changes, but for packages
# of headers that Citus needs.  The last line is "N passed, N failed".
#
# test/citus/run.sh

set -u
self=$(realpath "$0")
cd "$(dirname "$self")/../.." || exit 1
headers=(libcurl4-openssl-dev liblz4-dev libzstd-dev libssl-dev libreadline-dev zlib1g-dev
	libkrb5-dev libpam0g-dev libselinux1-dev libxml2-dev libxslt1-dev libicu-dev)
unset MAKEFLAGS MFLAGS MAKELEVEL

# Within the view: install both, and run the tests as the server's user.
if [ "${1:-}" = --inside ]
then
	root=$2
	shift 2
	. test/bin/cluster.sh
	for directory in $("$cluster_pg_config" --pkglibdir) $("$cluster_pg_config" --sharedir)
	do
		cp -r "$root$directory/." "$directory/" || exit 1
	done
	cluster_build with_llvm=no
	cluster_run make -C "$build" installcheck PG_CONFIG="$cluster_pg_config" with_llvm=no \
		REGRESS= ISOLATION= PROVE_TESTS="$*" > "$log" 2>&1 < /dev/null
	grep -E '^[^ ]+\.pl \.+' "$log"
	good=$(grep -cE '^[^ ]+\.pl \.+ ok' "$log")
	bad=$(($# - good))
	[ $bad = 0 ] || {
		grep -vE '^make|^[^ ]+\.pl \.+ ok' "$log" | tail -n 60
		tail -n 40 "$build"/tmp_check/log/regress_log_*
	}
	echo "$good passed, $bad failed"
	[ $bad = 0 ]
	exit
fi

[ -n "${CITUS:-}" ] || {
	echo "SKIP: nothing is tested with Citus; name a checkout of it: make citus CITUS=/path/to/citus"
	exit 0
}
test/bin/setup.sh || exit 1
dpkg -s "${headers[@]}" > /dev/null 2>&1 || {
	as_root=()
	[ "$(id -u)" = 0 ] || as_root=(sudo)
	"${as_root[@]}" apt-get -q install -y --no-install-recommends "${headers[@]}" > /dev/null || exit 1
}
root=$(test/citus/build.sh) || {
	echo "0 passed, 1 failed"
	exit 1
}
[ $# -gt 0 ] || set -- test/citus/*.pl
test/bin/overlay.sh "$self" --inside "$root" "$@"
