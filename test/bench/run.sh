#!/bin/bash
#
# run.sh
#	  Measure the extension, section by section, and write a report.
#
# Usage: test/bench/run.sh [SECTION ...]		BENCH=full OUT=tmp_check/bench
#
# Every section is a script of its own, with a private throw-away cluster; the
# extension is not installed into the system.  Writes results.tsv, report.md
# and the pictures into the directory OUT.  If only some sections are run, the
# results of the others stay.  BENCH=quick takes 5 minutes instead of 30, and
# is for a first look.
#
# test/bench/run.sh

set -u
cd "$(dirname "$0")/../.." || exit 1
all='functions nextval ddl instructions keys ranges allocator planner advisor servers'
bench=${BENCH:-full}
out=${OUT:-tmp_check/bench}
unset MAKEFLAGS MFLAGS MAKELEVEL

# What the sections are run with, inside of the overlay.
if [ "${1:-}" = --inside ]
then
	shift
	. test/bin/cluster.sh
	cluster_build with_llvm=no
	for section in "$@"
	do
		started=$SECONDS
		"test/bench/$section.sh" || exit 1
		printf 'run\t%s\t%s\ttime\t%s\ts\n' "$section" "$BENCH" $((SECONDS - started)) >> "$RESULTS"
		printf 'bench: %-12s %4d s\n' "$section" $((SECONDS - started)) >&2
	done
	exit 0
fi

fail()
{
	echo "bench: $*" >&2
	exit 1
}

# Virtual or not is all that is said about the machine, besides its size.
describe_machine()
{
	local kind='' memory

	! grep -qw hypervisor /proc/cpuinfo || kind=', virtual machine'
	memory=$(awk '/^MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)
	printf 'run\tmachine\t\tdescription\t%s cores, %s GB%s\ttext\n' "$(nproc)" "$memory" "$kind"
	printf 'run\tmachine\t\tload before\t%s\tprocesses\n' "$(cut -d ' ' -f 1 /proc/loadavg)"
	printf 'run\tserver\t\tversion\t%s\ttext\n' \
		"$("${PG_CONFIG:-pg_config}" --version | sed 's/^PostgreSQL \([^ ]*\).*/\1/')"
}

[ "$bench" = full ] || [ "$bench" = quick ] || fail "BENCH is full or quick, not \"$bench\""
[ $# -gt 0 ] || set -- $all
for section in "$@"
do
	[[ " $all " == *" $section "* ]] || fail "there is no section \"$section\", but: $all"
done
[ "$bench" = quick ] || [ "$(df --output=avail -m "${TMPDIR:-/tmp}" | tail -n 1)" -ge 20000 ] ||
	fail "less than 20 GB free in ${TMPDIR:-/tmp}: set TMPDIR, or take BENCH=quick"
test/bin/setup.sh bench || exit 1
mkdir -p "$out" || exit 1
results=$(realpath "$out")/results.tsv
touch "$results" || exit 1
awk -F '\t' -v again=" $* " '!index(again, " " $1 " ") && !($1 == "run" && (index(again, " " $2 " ") || $2 ~ /^(machine|server)$/))' \
	"$results" > "$results.new" && describe_machine >> "$results.new" && mv "$results.new" "$results" || exit 1
test/bin/overlay.sh env BENCH="$bench" RESULTS="$results" "$PWD/test/bench/run.sh" --inside "$@" || exit 1
test/bench/report.pl "$results" && echo "bench: see $out/report.md"
