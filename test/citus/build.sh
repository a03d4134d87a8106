#!/bin/bash
#
# build.sh
#	  Build Citus from its source, in a private place.
#
# Usage: CITUS=/path/to/citus test/citus/build.sh
#
# CITUS is a checkout or a bare git directory; CITUS_TAG chooses the release in
# it.  Prints the directory where the files stand as if below /.  It is in
# $XDG_CACHE_HOME or ~/.cache, and made once for a release and a server.
#
# test/citus/build.sh

set -eu
tag=${CITUS_TAG:-v13.2.2}
pg_config=${PG_CONFIG:-pg_config}

commit=$(git -c safe.directory='*' -C "$CITUS" rev-parse --short=12 "$tag^{commit}")
version=$("$pg_config" --version | awk '{ print $2 }')
place=${XDG_CACHE_HOME:-$HOME/.cache}/spanner_keys/citus-$commit-$version

if [ ! -e "$place/built" ]
then
	rm -rf "$place"
	mkdir -p "$place/src" "$place/root"
	git -c safe.directory='*' -C "$CITUS" archive "$commit" | tar -x -C "$place/src"
	cd "$place/src"
	# Late minor releases of the server have the function that Citus brings for old ones.
	if grep -q have_createdb_privilege "$("$pg_config" --includedir-server)/commands/dbcommands.h"
	then
		sed -i 's/^have_createdb_privilege(void)/citus_&/' src/include/pg_version_compat.h
	fi
	{
		./configure PG_CONFIG="$pg_config" &&
			make -j "$(nproc)" with_llvm=no &&
			make install with_llvm=no DESTDIR="$place/root"
	} > "$place/log" 2>&1 || {
		tail -n 20 "$place/log" >&2
		echo "build.sh: Citus does not build; the whole log is $place/log" >&2
		exit 1
	}
	rm -rf "$place/src"
	touch "$place/built"
fi
echo "$place/root"
