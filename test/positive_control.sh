#!/bin/bash
#
# positive_control.sh
#	  Show that the tests of allocators can see a value that is given twice.
#
# Usage: test/positive_control.sh
#
# Builds the extension with a mistake on purpose: the worker hands values out
# before the reservation is committed.  The test of faults has to fail.  Its
# faults come by chance, so it gets five tries.  The last line is
# "N passed, N failed".
#
# test/positive_control.sh

set -u
cd "$(dirname "$0")/.." || exit 1

. test/cluster.sh
if [ "${1:-}" != --inside ]
then
	test/setup.sh test && exec test/overlay.sh "$0" --inside
	exit 1
fi
unset MAKEFLAGS MFLAGS MAKELEVEL
cluster_build COPT=-DSK_PUBLISH_BEFORE_COMMIT
for _ in 1 2 3 4 5
do
	cluster_run make -C "$build" PG_CONFIG="$cluster_pg_config" installcheck REGRESS= ISOLATION= \
		PROVE_TESTS=test/t/020_allocator_faults.pl PROVE_FLAGS=-v > "$log" 2>&1
	if grep '^not ok .* no value was received twice' "$log"
	then
		echo "1 passed, 0 failed"
		exit 0
	fi
done
tail -n 20 "$log"
echo "0 passed, 1 failed"
exit 1
