#!/bin/sh
#
# Compares src/keys/farmhash.c with libfarmhash.
#
# usage: run.sh [seed]
#
# test/fuzz/farmhash_compare.sh

set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

CC=${CC:-cc}
CXX=${CXX:-c++}

if ! echo '#include <farmhash.h>' | "$CXX" -E -x c++ - >/dev/null 2>&1; then
	echo "not ok farmhash: libfarmhash is missing (Debian: apt-get install g++ libfarmhash-dev)"
	exit 1
fi

"$CC" -std=c99 -O2 -Wall -Wextra -Wconversion -pedantic -Werror \
	-c "$top/src/keys/farmhash.c" -o "$dir/farmhash.o"
"$CXX" -O2 -Wall -Wextra "$top/test/fuzz/farmhash_compare.cc" "$dir/farmhash.o" \
	-lfarmhash -o "$dir/compare"
"$dir/compare" "${1:-1}"
