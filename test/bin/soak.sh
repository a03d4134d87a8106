#!/bin/bash
#
# soak.sh
#	  Draw from everything for hours, while processes are killed.
#
# Usage: test/bin/soak.sh [MINUTES]		by default 120
#
# Clients draw from sequences of all kinds and allocators of all modes, change
# them, and read shards; a split moves to another database and back; sessions,
# workers and the postmaster are killed, and the server is stopped and
# restarted.  At the end no value may have been given twice or be lost, and the
# memory of processes must not have grown.
# COPT is for the compiler, as for make.  SOAK_CLIENTS (6) draw, with
# SOAK_PAUSE (10000) microseconds between statements.  If the soak fails, KEEP_LOG
# names a file for the server's log.
#
# test/bin/soak.sh

set -u
cd "$(dirname "$0")/../.." || exit 1
if [ "${1:-}" != --inside ]
then
	test/bin/setup.sh test && exec test/bin/overlay.sh test/bin/soak.sh --inside "${1:-120}"
	exit 1
fi
unset MAKEFLAGS MFLAGS MAKELEVEL
. test/bin/cluster.sh
ulimit -c unlimited
flags=(with_llvm=no "COPT=${COPT:-}")

cluster_build "${flags[@]}"
cluster_install_modules "$build" "${flags[@]}" > /dev/null || exit 1
cluster_create wal_level=logical max_connections=50 fsync=off autovacuum_naptime=5s shared_buffers=256MB max_wal_size=512MB \
	"log_line_prefix=%m [%p] %e %a "
cluster_run env PGDATA="$cluster_dir/data" SERVER_LOG="$cluster_dir/server.log" SOAK_DIR="$build/test/bin" \
	perl "$build/test/bin/soak.pl" "$2"
rc=$?
[ $rc = 0 ] || [ -z "${KEEP_LOG:-}" ] || cp "$cluster_dir/server.log" "$KEEP_LOG"
exit $rc
