#!/bin/sh
#
# planner_smoke.sh
#	  A minute of planner_fuzz, as one result.
#
# Usage: test/fuzz/planner_smoke.sh [seconds [seed]]
#
# Runs against the server that PGHOST and the like name, where the library has
# to be loaded in every session.
#
# test/fuzz/planner_smoke.sh

seconds=${1:-60}
seed=${2:-$(date +%s)}

output=$("$(dirname "$0")/planner_fuzz" --seconds "$seconds" --seed "$seed" 2>&1)
rc=$?
queries=$(printf '%s\n' "$output" | sed -n '$s/ queries, .*//p')
shares=$(printf '%s\n' "$output" | sed -n 's/^plans with features on, //p')
if [ $rc = 0 ]; then
	echo "ok planner_fuzz ($queries queries, $seconds s, seed $seed; plans $shares)"
else
	echo "not ok planner_fuzz: seed $seed"
	printf '%s\n' "$output"
fi
exit $rc
