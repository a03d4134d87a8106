#!/bin/bash
#
# run.sh
#	  Build and test against every supported release of PostgreSQL.
#
# Usage: test/matrix/run.sh [VERSION ...]		default: 15 17 18 19
#
# A release that this machine has is used from here, any other comes from a
# chroot (chroot.sh).  Either way the tests run as root of a mount, process
# and network namespace over a copy-on-write view, so that nothing of the
# machine or of the chroot is changed.  MATRIX_STRICT=1 makes a release that
# cannot be had an error.
#
# test/matrix/run.sh

set -u
here=$(dirname "$(realpath "$0")")
phases=${TESTS:-build install regress regress-preload isolation tap}
[ $# -gt 0 ] || set -- 15 17 18 19

# Inside the namespaces: $2 is the chroot, $3 the source, $4 an empty
# directory.
if [ "${1:-}" = --inside ]
then
	root=$2 source=$3 work=$4
	mount -t tmpfs -o size=4g tmpfs "$work" &&
		mkdir "$work/upper" "$work/work" "$work/root" &&
		mount -t overlay overlay -o \
			"lowerdir=$root,upperdir=$work/upper,workdir=$work/work" "$work/root" || exit 3
	root=$work/root
	mkdir -p "$root"/{proc,dev,sys,tmp,build} &&
		mount -t proc proc "$root/proc" &&
		mount --rbind /dev "$root/dev" &&
		mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" &&
		mount -t tmpfs -o mode=1777,size=4g tmpfs "$root/tmp" || exit 3
	tar -C "$source" -cf - . | tar -C "$root/build" --no-same-owner -xf - || exit 3
	ip link set lo up 2> /dev/null
	exec chroot "$root" env -i LC_ALL=C.UTF-8 HOME=/root NO_SETUP=1 "TESTS=$phases" \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		PG_CONFIG="$5" BUILD_ARGS="with_llvm=no --keep-going" JOBS="${JOBS:-}" /build/test/run.sh
fi

if [ "$(id -u)" != 0 ]
then
	command -v sudo > /dev/null || {
		echo "make matrix needs root or sudo, for mmdebstrap and chroot" >&2
		exit 1
	}
	exec sudo --preserve-env=TESTS,JOBS,PG_CONFIG,MATRIX_CACHE,MATRIX_REFRESH,MATRIX_STRICT,MATRIX_MIRROR,MATRIX_SECURITY_MIRROR \
		"$0" "$@"
fi

"$here/../setup.sh" matrix || exit 1
. "$here/../cluster.sh"
cluster_init
chmod 755 "$cluster_dir"
cluster_copy_source "$cluster_dir/src"
bad=0
skipped=0

# Sum up the phase lines of test/run.sh.
summary()
{
	awk '
		$1 == "regress" { regress = $2 }
		$1 == "regress-preload" { twice = " x2" }
		$1 == "isolation" { isolation = $2 }
		$1 == "tap" { tap = $2 }
		END {
			if (regress != "") out = regress " regress" twice
			if (isolation != "") out = out (out == "" ? "" : ", ") isolation " isolation"
			if (tap != "") out = out (out == "" ? "" : ", ") tap " TAP"
			print out
		}' "$1"
}

for version in "$@"
do
	started=$SECONDS
	log=$cluster_dir/matrix$version.log
	config=/usr/lib/postgresql/$version/bin/pg_config
	if [ -x "$config" ] && [ -x "$(dirname "$config")/postgres" ] &&
		[ -e "$("$config" --includedir-server)/postgres.h" ]
	then
		root=/
	elif ! root=$("$here/chroot.sh" "$version" 2> "$log")
	then
		echo "PG$version SKIP $(tail -n 1 "$log")"
		skipped=$((skipped + 1))
		continue
	fi
	minor=$(chroot "$root" "$config" --version | awk '{ print $2 }')
	mkdir "$cluster_dir/work$version"
	unshare --mount --pid --ipc --net --uts --fork --kill-child \
		"$here/run.sh" --inside "$root" "$cluster_dir/src" "$cluster_dir/work$version" "$config" \
		> "$log" 2>&1 < /dev/null
	rc=$?
	if [ $rc = 0 ]
	then
		echo "PG$version $minor PASS $(summary "$log") ($((SECONDS - started)) s)"
	else
		echo "PG$version $minor FAIL $(tail -n 1 "$log") ($((SECONDS - started)) s)"
		tail -n 150 "$log" | sed 's/^/    /'
		bad=$((bad + 1))
	fi
done

[ "$skipped" = 0 ] || [ -z "${MATRIX_STRICT:-}" ] || bad=$((bad + skipped))
[ $bad = 0 ]
