#!/bin/bash
#
# overlay.sh
#	  Run a command that may "make install" without touching the system.
#
# Usage: test/bin/overlay.sh COMMAND ...
#
# The command runs as root in a mount namespace where the directories of the
# server's installation are copy-on-write; what it installs is gone afterwards.
#
# test/bin/overlay.sh

set -u
self=$(realpath "$0")
pg_config=${PG_CONFIG:-pg_config}

if [ "${1:-}" = --inside ]
then
	upper=$2
	shift 2
	mount -t tmpfs tmpfs "$upper" || exit 3
	for directory in "$("$pg_config" --pkglibdir)" "$("$pg_config" --sharedir)" \
		"$("$pg_config" --includedir-server)" "$("$pg_config" --bindir)"
	do
		name=$(basename "$(dirname "$directory")")-$(basename "$directory")
		mkdir -p "$upper/$name/upper" "$upper/$name/work"
		mount -t overlay overlay -o \
			"lowerdir=$directory,upperdir=$upper/$name/upper,workdir=$upper/$name/work" \
			"$directory" || exit 3
	done
	export OVERLAID=1
	exec "$@"
fi

[ $# -gt 0 ] || {
	echo "usage: test/bin/overlay.sh COMMAND ..." >&2
	exit 1
}
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo
	"--preserve-env=PG_CONFIG,TESTS,TAP,KEEP,JOBS,BUILD_ARGS,CLIENTS,HISTORY,ROWS,TMPDIR,LANG,LC_ALL,LC_CTYPE")
upper=$(mktemp -d) || exit 1
"${as_root[@]}" unshare --mount "$self" --inside "$upper" "$@"
rc=$?
rmdir "$upper"
exit $rc
