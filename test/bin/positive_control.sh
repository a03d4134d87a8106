#!/bin/bash
#
# positive_control.sh
#	  Show that the tests of allocators can see a value that is given twice.
#
# Usage: test/bin/positive_control.sh
#
# Builds a copy of the extension with a mistake on purpose: the worker hands
# values out before the reservation is committed.  The test of faults has to fail.  Its
# faults come by chance, so it gets five tries.  The last line is
# "N passed, N failed".
#
# test/bin/positive_control.sh

set -u
cd "$(dirname "$0")/../.." || exit 1

. test/bin/cluster.sh
if [ "${1:-}" != --inside ]
then
	test/bin/setup.sh test && exec test/bin/overlay.sh "$0" --inside
	exit 1
fi
unset MAKEFLAGS MFLAGS MAKELEVEL
cluster_init
copy=$cluster_dir/source
cluster_copy_source "$copy"
worker=$copy/src/allocator/worker.c
perl -0pi -e 's/(\tset_durability\(reservation_commit\);\n)/$1\t\tpublish(list, count);\n\t\tpg_usleep(20000L);\n/; s/\n\tpublish\(list, count\);\n\}/\n\tif (list[0].result != SK_REFILL_DONE)\n\t\tpublish(list, count);\n}/' "$worker"
[ "$(diff src/allocator/worker.c "$worker" | grep -c '^>')" = 4 ] || {
	echo "positive_control.sh: the mistake does not fit into worker.c"
	echo "0 passed, 1 failed"
	exit 1
}
cluster_source=$copy
cluster_build
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
