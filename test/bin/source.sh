#!/bin/bash
#
# source.sh
#	  Build PostgreSQL from a checkout, or the source of a release.
#
# Usage: test/bin/source.sh CHECKOUT [VARIABLE=VALUE | --OPTION ...]
#
# Prints the directory with the installed server.  It is kept in MATRIX_CACHE
# (default /var/cache/pgmatrix) under a number made of the content of the
# source and of the arguments, which are configure's.  A copy is built, so the
# checkout stays clean.
#
# The server is made for /usr/lib/postgresql/RELEASE, where matrix_inside.sh
# shows it.
#
# test/bin/source.sh

set -u
here=$(dirname "$(realpath "$0")")
cache=${MATRIX_CACHE:-/var/cache/pgmatrix}
source=$(realpath "$1")
shift
options=(--with-icu --with-lz4 --without-readline --enable-tap-tests "$@")
unset MAKEFLAGS MFLAGS MAKELEVEL

fail()
{
	echo "$*" >&2
	exit 1
}

# What git knows of the checkout.  Without git: all of it.
copy_source()
{
	if git -c safe.directory='*' -C "$source" rev-parse > /dev/null 2>&1
	then
		git -c safe.directory='*' -C "$source" ls-files -z
	else
		(cd "$source" && find . ! -type d -print0)
	fi | tar -C "$source" --null --no-recursion -T - -cf - | tar -C "$1" --no-same-owner -xf -
}

# Names, content and options, not times.
digest()
{
	{
		printf '%s\n' "${options[@]}"
		(cd "$1" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha1sum)
	} | sha1sum | cut -c 1-12
}

build()
{
	cd "$1" || return
	[ ! -e src/Makefile.global ] || make -s distclean || return
	./configure --prefix="/usr/lib/postgresql/$release" "${options[@]}" &&
		make -s -j "${JOBS:-$(nproc)}" world-bin &&
		make -s -j "${JOBS:-$(nproc)}" install-world-bin DESTDIR="$2" &&
		make -s -C src/test/isolation install DESTDIR="$2"
}

release=$(sed -n "s/^PACKAGE_VERSION='\([0-9]*\).*/\1/p" "$source/configure" 2> /dev/null)
[ -n "$release" ] || fail "$source is no source of PostgreSQL"
"$here/setup.sh" source >&2 || exit 1
mkdir -p "$cache" || fail "cannot write to $cache"
work=$(mktemp -d "$cache/source.XXXXXX") || fail "cannot write to $cache"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

mkdir "$work/source" "$work/install"
copy_source "$work/source" || fail "cannot copy $source"
server=$cache/source$release-$(digest "$work/source")
if [ ! -e "$server" ]
then
	echo "building PostgreSQL $release from $source, some minutes" >&2
	build "$work/source" "$work/install" > "$server.log" 2>&1 < /dev/null ||
		fail "the build of $source failed: $(grep -m 1 -E 'error: |Error ' "$server.log" || tail -n 1 "$server.log")"
	mv -T "$work/install/usr/lib/postgresql/$release" "$server" || fail "cannot make $server"
fi
echo "$server"
