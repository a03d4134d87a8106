#!/bin/bash
#
# run.sh
#	  Run every kind of test, and count.
#
# Usage: test/bin/run.sh			TESTS="regress lint" picks phases
#
# Everything is built from a fresh copy of the source, so that the checkout
# stays clean and no old object is tested.  One line for each phase; the last
# line is "N passed, N failed".  What cannot run counts as failed.
#
# test/bin/run.sh

set -u
self=$(realpath "$0")
cd "$(dirname "$0")/../.." || exit 1
all_phases="build clang install regress regress-preload planner functions ddl values rights isolation tap lint fuzz farmhash"
# These want a server with assertions.
more_phases="regress-discard"
phases=${TESTS:-$all_phases}
pg_config=${PG_CONFIG:-pg_config}
jobs=${JOBS:-$(nproc)}
passed=0
failed=0
# Settings of a make that called us are not for those that we call.
unset MAKEFLAGS MFLAGS MAKELEVEL
read -ra build_args <<< "${BUILD_ARGS:-}"

for phase in $phases
do
	[[ " $all_phases $more_phases " == *" $phase "* ]] || {
		echo "run.sh: no phase \"$phase\"; there are: $all_phases $more_phases" >&2
		exit 1
	}
done

[ -n "${NO_SETUP:-}" ] || PG_CONFIG=$pg_config test/bin/setup.sh test || {
	echo "0 passed, 1 failed"
	exit 1
}

. test/bin/cluster.sh
cluster_overlay "$self" "$@"

# What stops a phase is printed even if that phase's output goes to the log.
exec 3>&1
cluster_fail()
{
	echo "run.sh: $*" >&3
	failed=$((failed + 1))
	give_up
}

give_up()
{
	echo "$passed passed, $failed failed" >&3
	exit 1
}

cluster_init
build=$cluster_dir/src
log=$cluster_dir/phase.log
status=

wanted()
{
	[[ " $phases " == *" $1 "* ]]
}

# Count the results in a log: pg_regress before 16 prints "test x ... ok",
# since then "ok 1 - x"; our own scripts print "ok x".
count_results()
{
	good=$(grep -cE '^(ok |(test |     )[[:space:]]*[A-Za-z0-9_]+ +\.\.\. ok)' "$1")
	bad=$(grep -cE '^(not ok |(test |     )[[:space:]]*[A-Za-z0-9_]+ +\.\.\. FAILED)' "$1")
}

# Count the files that prove ran.
count_files()
{
	good=$(grep -cE '^[^ ]+\.pl \.+ ok' "$1")
	bad=$(grep -cE '^[^ ]+\.pl \.+ ' "$1")
	bad=$((bad - good))
}

# phase NAME EXPECTED COUNTER COMMAND ...
#
# EXPECTED is the least number of results; fewer count as failed ones.
phase()
{
	local name=$1 expected=$2 counter=$3 started=$SECONDS rc
	local good=0 bad=0

	shift 3
	"$@" > "$log" 2>&1 < /dev/null
	rc=$?
	"$counter" "$log"
	[ $((good + bad)) -ge "$expected" ] || bad=$((expected - good))
	[ $rc = 0 ] || [ $bad -gt 0 ] || bad=1
	passed=$((passed + good))
	failed=$((failed + bad))
	printf '%-16s %3d passed, %d failed (%d s)\n' "$name" $good $bad $((SECONDS - started))
	grep '^SKIP' "$log"
	status=$bad
	[ $bad = 0 ] || show_failure "$name"
}

show_failure()
{
	local diffs

	case $1 in
		regress*) diffs=$build/regression.diffs ;;
		isolation) diffs=$build/output_iso/regression.diffs ;;
		*) diffs= ;;
	esac
	case $1 in
		build | clang) grep -E ' (error|warning): ' "$log" | head -n 40 ;;
		rights) grep '^not ok ' "$log"
			grep -Ev '^(not )?ok ' "$log" | head -n 200 ;;
		lint | fuzz | farmhash | planner | functions | ddl | values) grep -v '^ok ' "$log" | head -n 200 ;;
		tap) grep -A 6 '^#   Failed test' "$log" | cut -c 1-200 | head -n 60
			sed -n '/^Test Summary Report/,$p' "$log" | grep -v '^make'
			# what ended a test before its end
			sed -nE 's,^test/t/([^ ]+)\.pl +\(Wstat.*,\1,p' "$log" | while read -r name
			do
				grep -hE '^(error running SQL|connection error|psql|[^#]*died|timed out)' \
					"$build/tmp_check/log/regress_log_$name" | tail -n 5 | cut -c 1-300
			done ;;
		*) grep -E '^not ok |\.\.\. FAILED' "$log" ;;
	esac
	if [ -n "$diffs" ] && [ -s "$diffs" ]
	then
		head -n 120 "$diffs"
	elif [[ " lint fuzz farmhash planner functions ddl values rights tap " != *" $1 "* ]]
	then
		tail -n 20 "$log"
	fi
	case $1 in
		regress* | isolation | planner | functions | ddl | rights) grep -E 'PANIC|FATAL|TRAP|terminated by signal' "$cluster_dir/server.log" | tail -n 10 ;;
	esac
}

# The exit status is the result.
count_one()
{
	good=1
	[ "$rc" = 0 ] || {
		good=0
		bad=1
	}
}

make_variable()
{
	make -s --no-print-directory PG_CONFIG="$pg_config" \
		--eval="print-it: ; @echo \$($1)" print-it 2> /dev/null
}

# The copy is built as the server's user, who need not be able to read the
# checkout.
build()
{
	local dir=$1

	shift
	cluster_copy_source "$dir" &&
		cluster_run make -C "$dir" -j "$jobs" PG_CONFIG="$pg_config" "${build_args[@]}" all "$@"
}

# Clang does not know all of the options that the server was built with.
build_with_clang()
{
	build "$cluster_dir/clang" CC=clang with_llvm=no \
		COPT="-Werror -Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wno-ignored-attributes"
}

install_with_modules()
{
	cluster_install "$build" "${build_args[@]}" &&
		cluster_install_modules "$build" "${build_args[@]}" COPT=-Werror
}

installcheck()
{
	cluster_run make -C "$build" installcheck PG_CONFIG="$pg_config" "${build_args[@]}" "$@"
}

# A statement takes a hundred times as long without its caches.  So there are a
# few short tests of each module, and the extensions are created before.
discard_tests="keys_shard_id sequence_default_kind sequence_identity_always sequence_redirect ddl_queries"
discard_tests+=" allocator_series_errors allocator_roles allocator_on_commit planner_fill_shard planner_merge"
discard()
{
	local database=discard extension create=()

	for extension in $(make_variable EXTENSION)
	do
		create+=(-c "CREATE EXTENSION $extension")
	done
	cluster_run "$cluster_bindir/psql" -X -v ON_ERROR_STOP=1 -c "CREATE DATABASE $database" &&
		cluster_run "$cluster_bindir/psql" -X -v ON_ERROR_STOP=1 -d "$database" "${create[@]}" \
			-c "ALTER DATABASE $database SET debug_discard_caches = 1" &&
		installcheck ISOLATION= TAP_TESTS= "REGRESS=${REGRESS_DISCARD:-$discard_tests}" \
			"REGRESS_OPTS=--use-existing --dbname=$database"
}

# start_beside NAME FUNCTION: run the phases of a function beside others, in a
# process of its own.
start_beside()
{
	local name=$1

	(
		trap - EXIT
		log=$cluster_dir/$name.log
		passed=0
		failed=0
		"$2"
		echo "$passed $failed" > "$cluster_dir/$name.count"
	) > "$cluster_dir/$name.out" 2>&1 &
	beside[$name]=$!
}

# Without a count it did not come to its end.
wait_for_beside()
{
	local name=$1 good=0 bad=1

	wait "${beside[$name]}"
	cat "$cluster_dir/$name.out"
	[ ! -e "$cluster_dir/$name.count" ] || read -r good bad < "$cluster_dir/$name.count"
	passed=$((passed + good))
	failed=$((failed + bad))
}

# What needs no server has a copy of the source of its own.
without_server()
{
	build=$cluster_dir/without_server
	if wanted lint || wanted fuzz || wanted farmhash
	then
		cluster_copy_source "$build"
	fi
	! wanted clang || phase clang 1 count_one build_with_clang
	! wanted lint || phase lint 1 count_results cluster_run "$build/test/lint/run.sh"
	! wanted fuzz || phase fuzz 5 count_results cluster_run "$build/test/fuzz/run.sh" "${FUZZ_SECONDS:-5}"
	! wanted farmhash || phase farmhash 1 count_results cluster_run "$build/test/fuzz/farmhash_compare.sh"
}

# Random statements use a processor, and the servers of the TAP tests leave one.
random_statements()
{
	local fuzz=$build/test/fuzz

	if wanted planner
	then
		phase planner 1 count_results cluster_run "$fuzz/planner_smoke.sh" "${PLANNER_SECONDS:-45}" ${PLANNER_SEED:+"$PLANNER_SEED"}
		grep '^ok planner_fuzz' "$log"
	fi
	if wanted functions
	then
		phase functions 1 count_results cluster_run "$fuzz/function_fuzz" --seconds "${FUNCTIONS_SECONDS:-30}" ${FUNCTIONS_SEED:+--seed "$FUNCTIONS_SEED"}
		grep '^ok function_fuzz' "$log"
	fi
	if wanted ddl
	then
		phase ddl 1 count_results cluster_run "$fuzz/ddl_fuzz" --seconds "${DDL_SECONDS:-20}" ${DDL_SEED:+--seed "$DDL_SEED"}
		grep '^ok ddl_fuzz' "$log"
	fi
	if wanted values
	then
		phase values 1 count_results cluster_run "$fuzz/value_fuzz" --seconds "${VALUES_SECONDS:-20}" ${VALUES_SEED:+--seed "$VALUES_SEED"}
		grep '^ok value_fuzz' "$log"
	fi
	if wanted rights
	then
		phase rights 11 count_results cluster_run "$fuzz/rights_fuzz" --log "$cluster_dir/server.log" \
			--seconds "${RIGHTS_SECONDS:-45}" ${RIGHTS_SEED:+--seed "$RIGHTS_SEED"}
		grep '^ok rights_fuzz rounds' "$log"
	fi
}

wants_random_statements()
{
	wanted planner || wanted functions || wanted ddl || wanted values || wanted rights
}

needs_cluster()
{
	wanted regress || wanted regress-preload || wanted regress-discard || wanted isolation ||
		wants_random_statements
}

needs_install()
{
	needs_cluster || wanted tap
}

if wanted build || needs_install
then
	phase build 1 count_one build "$build" COPT=-Werror
	[ "$status" = 0 ] || give_up
fi

if wanted install || needs_install
then
	phase install 1 count_one install_with_modules
	[ "$status" = 0 ] || give_up
fi

declare -A beside=()
start_beside without_server without_server
regress_count=$(make_variable REGRESS | wc -w)
isolation_count=$(make_variable ISOLATION | wc -w)
tap_count=$(find test/t -name '*.pl' 2> /dev/null | wc -l)
if needs_cluster
then
	cluster_create fsync=off max_connections=50
fi
! wanted regress ||
	phase regress "$regress_count" count_results installcheck ISOLATION= TAP_TESTS=
! wanted regress-discard ||
	phase regress-discard "$(wc -w <<< "${REGRESS_DISCARD:-$discard_tests}")" count_results discard
! wanted isolation ||
	phase isolation "$isolation_count" count_results installcheck REGRESS= TAP_TESTS=
if wanted regress-preload
then
	cluster_configure session_preload_libraries=spanner_keys
	phase regress-preload "$regress_count" count_results installcheck ISOLATION= TAP_TESTS=
fi
if wants_random_statements
then
	cluster_configure session_preload_libraries=spanner_keys wal_level=logical
	start_beside random_statements random_statements
fi
# The last test takes longest, so it starts first.
# Tests wait for their servers now and then, so there is one more than processors.
! wanted tap || phase tap "$tap_count" count_files installcheck REGRESS= ISOLATION= "PROVE_FLAGS=-j$((jobs + 1)) --reverse"
! wants_random_statements || wait_for_beside random_statements
wait_for_beside without_server

# A test may not notice that a server has gone.
grep -hE '^TRAP: ' "$cluster_dir/server.log" "$build"/tmp_check/log/*.log 2> /dev/null > "$log" && {
	failed=$((failed + $(wc -l < "$log")))
	sort "$log" | uniq -c | sort -rn | head -n 20
}

echo "$passed passed, $failed failed"
[ $failed = 0 ]
