#!/bin/bash
#
# functions.sh
#	  What a call of the functions costs, next to PostgreSQL's own and to what
#	  users write by hand.
#
# In the server: CPU time of a query over many rows, less that of the same
# query without the function.  In C: loops around our fingerprint and that of
# libfarmhash.
#
# test/bench/functions.sh

. test/bench/common.sh

bench_start shared_buffers=512MB fsync=off autovacuum=off
progress "in the server"
sql -v rows="$(sized 1000000 200000)" -v rounds="$(sized 5 3)" -f test/bench/functions.sql | record_rows || exit 1

progress "in C"
loops=$cluster_dir/loops
${CC:-cc} -O2 -c src/keys/farmhash.c -o "$loops.o" &&
	${CXX:-c++} -O2 -Isrc test/bench/functions.cc "$loops.o" -lfarmhash -o "$loops" ||
	cluster_fail "cannot compile the loops"
"$loops" "$(sized 7 3)" | record_rows || exit 1
