#!/bin/bash
#
# run.sh
#	  Build and test against every supported release of PostgreSQL.
#
# Usage: test/bin/matrix.sh [VERSION | OLD-NEW ...]
#
# OLD-NEW stands for pg_upgrade from one release to another.  The default is
# every release, and with all phases (TESTS) the upgrades too.
#
# A release that this machine has is used from here, any other comes from a
# chroot (chroot.sh).  Either way the tests run as root of a mount, process
# and network namespace over a copy-on-write view (inside.sh), so that nothing
# of the machine or of the chroot is changed.  MATRIX_STRICT=1 makes a release
# that cannot be had an error.
#
# test/bin/matrix.sh

set -u
here=$(dirname "$(realpath "$0")")
[ $# -gt 0 ] || [ -n "${TESTS:-}" ] || set -- 15 17 18 19 15-17 15-18 15-19 17-18 18-19
[ $# -gt 0 ] || set -- 15 17 18 19

if [ "$(id -u)" != 0 ]
then
	command -v sudo > /dev/null || {
		echo "make matrix needs root or sudo, for mmdebstrap and chroot" >&2
		exit 1
	}
	exec sudo --preserve-env=TESTS,PLANNER_SECONDS,PLANNER_SEED,JOBS,PG_CONFIG,MATRIX_CACHE,MATRIX_REFRESH,MATRIX_STRICT,MATRIX_MIRROR,MATRIX_SECURITY_MIRROR \
		"$0" "$@"
fi

"$here/setup.sh" matrix || exit 1
. "$here/cluster.sh"
cluster_init
chmod 755 "$cluster_dir"
cluster_copy_source "$cluster_dir/src"
export TESTS=${TESTS:-build install regress regress-preload isolation planner functions tap}
bad=0
skipped=0

# Sum up the phase lines of test/bin/run.sh.
summary()
{
	awk '
		$1 == "regress" { regress = $2 }
		$1 == "regress-preload" { twice = " x2" }
		$1 == "isolation" { isolation = $2 }
		$1 == "tap" { tap = $2 }
		$2 == "planner_fuzz" { fuzz = substr($3, 2) }
		END {
			if (regress != "") out = regress " regress" twice
			if (isolation != "") out = out (out == "" ? "" : ", ") isolation " isolation"
			if (tap != "") out = out (out == "" ? "" : ", ") tap " TAP"
			if (fuzz != "") out = out (out == "" ? "" : ", ") fuzz " random queries"
			print out
		}' "$1"
}

# The test runs once for each mode of pg_upgrade.
upgrade_summary()
{
	sed -n 's/^Files=.* Tests=\([0-9]*\),.*/\1/p' "$1" | paste -s -d + |
		sed 's/.*/upgrade, & checks/'
}

# Find the root with a release, this machine's or a chroot's, for the caller's
# variable "root"; the log says why there is none.
find_root()
{
	local config=/usr/lib/postgresql/$1/bin/pg_config

	if [ -x "$config" ] && [ -x "$(dirname "$config")/postgres" ] &&
		[ -e "$("$config" --includedir-server)/postgres.h" ]
	then
		root=/
	else
		root=$("$here/chroot.sh" "$1" 2> "$log")
	fi
}

minor_release()
{
	chroot "$2" "/usr/lib/postgresql/$1/bin/pg_config" --version | awk '{ print $2 }'
}

# run_inside TITLE SUMMARY ARGUMENT ...: have inside.sh test, and report.
run_inside()
{
	local title=$1 summary=$2 started=$SECONDS rc

	shift 2
	mkdir "$work"
	unshare --mount --pid --ipc --net --uts --fork --kill-child \
		"$here/matrix_inside.sh" "$cluster_dir/src" "$work" "$@" > "$log" 2>&1 < /dev/null
	rc=$?
	rmdir "$work"
	if [ $rc = 0 ]
	then
		echo "$title PASS $("$summary" "$log") ($((SECONDS - started)) s)"
	else
		echo "$title FAIL $(tail -n 1 "$log") ($((SECONDS - started)) s)"
		tail -n 150 "$log" | sed 's/^/    /'
		bad=$((bad + 1))
	fi
}

for job in "$@"
do
	version=${job#*-}
	old=${job%-*}
	title=PG${job/-/->}
	log=$cluster_dir/matrix$job.log
	work=$cluster_dir/work$job
	if ! find_root "$old" || ! { old_root=$root && find_root "$version"; }
	then
		echo "$title SKIP $(tail -n 1 "$log")"
		skipped=$((skipped + 1))
	elif [ "$old" = "$version" ]
	then
		run_inside "$title $(minor_release "$version" "$root")" summary "$version" "$root"
	else
		run_inside "$title $(minor_release "$old" "$old_root")->$(minor_release "$version" "$root")" \
			upgrade_summary "$version" "$root" "$old" "$old_root"
	fi
done

[ "$skipped" = 0 ] || [ -z "${MATRIX_STRICT:-}" ] || bad=$((bad + skipped))
[ $bad = 0 ]
