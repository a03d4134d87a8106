#!/bin/bash
#
# chroot.sh
#	  Make sure that a chroot with one major release of PostgreSQL exists.
#
# Usage: test/bin/chroot.sh VERSION
#
# Prints the path of the chroot.  It is made with mmdebstrap, once, from the
# mirrors that this machine's apt uses (MATRIX_MIRROR, MATRIX_SECURITY_MIRROR),
# and kept in MATRIX_CACHE (default /var/cache/pgmatrix).  With MATRIX_REFRESH=1
# it is made anew, for a newer minor release.
#
# test/bin/chroot.sh

set -u
version=$1
cache=${MATRIX_CACHE:-/var/cache/pgmatrix}
mirrors=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | sort -u)
mirror=${MATRIX_MIRROR:-$(grep -v security <<< "$mirrors" | head -n 1)}
security=${MATRIX_SECURITY_MIRROR:-$(grep security <<< "$mirrors" | head -n 1)}
chroot=$cache/pg$version
new=$chroot.new.$$
log=$cache/pg$version.log

fail()
{
	echo "$*" >&2
	exit 1
}

# PostgreSQL's releases, and the suites of Debian that have them.
case $version in
	15) suite=bookworm
		sources="deb $mirror bookworm main
deb $mirror bookworm-updates main
deb $security bookworm-security main" ;;
	17) suite=trixie
		sources="deb $mirror trixie main
deb $mirror trixie-updates main
deb $security trixie-security main" ;;
	18) suite=${MATRIX_SUITE_18:-forky}
		sources="deb $mirror $suite main" ;;
	19) suite=sid
		sources="deb $mirror sid main
deb $mirror experimental main" ;;
	*) fail "no suite of Debian has PostgreSQL $version: set PGSOURCE_$version to a checkout" ;;
esac

# Without the pins libpq5 and others would not come from the server's release.
prepare()
{
	mkdir -p "$1/etc/apt/preferences.d" "$1/etc/postgresql-common/createcluster.d"
	echo 'create_main_cluster = false' > "$1/etc/postgresql-common/createcluster.d/matrix.conf"
	if [ "$version" = 19 ]
	then
		cat > "$1/etc/apt/preferences.d/matrix" <<-PINS
			Package: *
			Pin: release a=experimental
			Pin-Priority: 1

			Package: src:postgresql-19
			Pin: release a=experimental
			Pin-Priority: 990

			Package: src:postgresql-common
			Pin: release a=experimental
			Pin-Priority: 990
		PINS
	fi
}

# The server's development package depends on clang and LLVM, 500 MB that are
# not needed without JIT: only its files are taken, and those of libpq.
finish()
{
	chroot "$1" sh -c "
		set -e
		cd /var/tmp
		apt-get -q download postgresql-server-dev-$version libpq-dev
		for package in *.deb; do dpkg -x \$package /; done
		rm *.deb
		apt-get clean
		rm -rf /var/lib/apt/lists/* /usr/share/doc/* /usr/share/man/*"
}

# mmdebstrap calls this script for the two steps above.
if [ "${2:-}" = --hook ]
then
	"$3" "$4"
	exit
fi

if [ -z "${MATRIX_REFRESH:-}" ] && [ -x "$chroot/usr/lib/postgresql/$version/bin/postgres" ]
then
	echo "$chroot"
	exit 0
fi

mkdir -p "$cache" || fail "cannot write to $cache"
free=$(df --output=avail -m "$cache" | tail -n 1)
[ "$free" -ge 2000 ] || fail "less than 2000 MB free in $cache"

trap 'rm -rf "$new"' EXIT
trap 'exit 1' INT TERM

echo "$sources" | mmdebstrap --mode=root --variant=apt --dpkgopt=force-unsafe-io \
	--aptopt='Acquire::Check-Valid-Until "false"' \
	--aptopt='Acquire::Retries "3"' \
	--aptopt='Acquire::http::Timeout "20"' \
	--include="postgresql-$version,bison,flex,gcc,libc6-dev,make,perl,libipc-run-perl,iproute2,python3-minimal" \
	--setup-hook="'$(realpath "$0")' $version --hook prepare \"\$1\"" \
	--customize-hook="'$(realpath "$0")' $version --hook finish \"\$1\"" \
	"$suite" "$new" - > "$log" 2>&1 ||
	fail "no chroot: $(grep -m 1 -E '^(Err:|E: )' "$log" || tail -n 1 "$log")"

rm -rf "$chroot"
mv "$new" "$chroot" || fail "cannot rename $new"
echo "$chroot"
