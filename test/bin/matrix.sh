#!/bin/bash
#
# matrix.sh
#	  Build and test against every supported release of PostgreSQL.
#
# Usage: test/bin/matrix.sh [VERSION | OLD-NEW ...]
#
# OLD-NEW stands for pg_upgrade from one release to another.  The default is
# every release, and with all phases (TESTS) the upgrades too.
#
# PGSOURCE_16=/path/to/checkout has a release built from source (source.sh).
# Else a release that this machine has is used from here, and any other comes
# from a chroot (chroot.sh).  In each case the tests run as root of a mount,
# process and network namespace over a copy-on-write view (matrix_inside.sh),
# so that nothing of the machine or of the chroot is changed.  A release that
# cannot be had is a failure.
#
# test/bin/matrix.sh

set -u
here=$(dirname "$(realpath "$0")")
releases=(15 16 17 18 19)
upgrades=(15-16 15-17 15-18 15-19 16-17 16-18 16-19 17-18 17-19 18-19)
[ $# -gt 0 ] || [ -n "${TESTS:-}" ] || set -- "${releases[@]}" "${upgrades[@]}"
[ $# -gt 0 ] || set -- "${releases[@]}"

if [ "$(id -u)" != 0 ]
then
	command -v sudo > /dev/null || {
		echo "make matrix needs root or sudo, for mmdebstrap and chroot" >&2
		exit 1
	}
	variables=(TESTS PLANNER_SECONDS PLANNER_SEED JOBS PG_CONFIG MATRIX_CACHE MATRIX_REFRESH
		MATRIX_MIRROR MATRIX_SECURITY_MIRROR "${releases[@]/#/PGSOURCE_}")
	exec sudo "--preserve-env=$(IFS=, && echo "${variables[*]}")" "$0" "$@"
fi

"$here/setup.sh" matrix || exit 1
. "$here/cluster.sh"
cluster_init
chmod 755 "$cluster_dir"
cluster_copy_source "$cluster_dir/src"
export TESTS=${TESTS:-build install regress regress-preload isolation planner functions ddl values rights tap}
good=0
bad=0

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

# Find the root with a release, this machine's or a chroot's, or the server that
# was built, for the caller's variable "root".  Else the log says why not.
find_root()
{
	local config=/usr/lib/postgresql/$1/bin/pg_config source=PGSOURCE_$1

	if [ -n "${!source:-}" ]
	then
		root=$("$here/source.sh" "${!source}" 2> "$log") || return
		[ "$(minor_release "$1" "$root" | grep -oE '^[0-9]+')" = "$1" ] || {
			echo "$source=${!source} has another release" > "$log"
			return 1
		}
	elif [ -x "$config" ] && [ -x "$(dirname "$config")/postgres" ] &&
		[ -e "$("$config" --includedir-server)/postgres.h" ]
	then
		root=/
	else
		root=$("$here/chroot.sh" "$1" 2> "$log")
	fi
}

minor_release()
{
	if [ -e "$2/lib/pgxs" ]
	then
		"$2/bin/pg_config" --version
	else
		chroot "$2" "/usr/lib/postgresql/$1/bin/pg_config" --version
	fi | awk '{ print $2 }'
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
		good=$((good + 1))
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
	if ! { find_root "$old" && old_root=$root && find_root "$version"; }
	then
		echo "$title FAIL $(tail -n 1 "$log")"
		bad=$((bad + 1))
	elif [ "$old" = "$version" ]
	then
		run_inside "$title $(minor_release "$version" "$root")" summary "$version" "$root"
	else
		run_inside "$title $(minor_release "$old" "$old_root")->$(minor_release "$version" "$root")" \
			upgrade_summary "$version" "$root" "$old" "$old_root"
	fi
done

echo "$good passed, $bad failed"
[ $bad = 0 ]
