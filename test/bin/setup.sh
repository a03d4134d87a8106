#!/bin/bash
#
# setup.sh
#	  Install what a make target needs and the machine does not have.
#
# Usage: test/bin/setup.sh [demo|test|matrix|source|core|bench]
#
# Looks for files and commands, not for packages, so that a PostgreSQL of
# another origin, named by PG_CONFIG, is as good.  With nothing missing
# apt-get is not called at all.
#
# test/bin/setup.sh

set -u
profile=${1:-test}
pg_config=${PG_CONFIG:-pg_config}
log=
conf=

cleanup()
{
	[ -z "$log" ] || rm -f "$log"
	[ -z "$conf" ] || as_root rm -f "$conf"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

fail()
{
	echo "setup: $*" >&2
	exit 1
}

as_root()
{
	if [ "$(id -u)" = 0 ]
	then
		"$@"
	else
		sudo "$@"
	fi
}

have()
{
	command -v "$1" > /dev/null 2>&1
}

have_perl()
{
	perl -M"$1" -e 1 > /dev/null 2>&1
}

# A header is looked for where gcc looks, without gcc.
have_header()
{
	[ -e "/usr/include/$1" ] || [ -e "/usr/local/include/$1" ]
}

# Debian's pg_config is a wrapper, which says where the newest server's
# headers would be even if they are not there.
have_server_headers()
{
	[ -e "$("$pg_config" --includedir-server 2> /dev/null)/postgres.h" ] &&
		[ -e "$("$pg_config" --pgxs 2> /dev/null)" ]
}

have_server()
{
	local bindir

	bindir=$("$pg_config" --bindir 2> /dev/null) &&
		[ -x "$bindir/postgres" ] && [ -x "$bindir/initdb" ] &&
		[ -x "$bindir/pgbench" ] && [ -x "$bindir/psql" ]
}

have_fuzzer()
{
	local dir

	dir=$(clang -print-resource-dir 2> /dev/null) &&
		[ -n "$(find "$dir/lib" -name 'libclang_rt.fuzzer*' -print -quit 2> /dev/null)" ]
}

# Fill the array "missing" with names of packages.
find_missing()
{
	missing=()
	have gcc || missing+=(gcc libc6-dev)
	have_header stdio.h || missing+=(libc6-dev)
	have make || missing+=(make)
	have bison || missing+=(bison)
	have flex || missing+=(flex)
	have perl || missing+=(perl)
	have setpriv || missing+=(util-linux)
	have_server || missing+=(postgresql-SERVER)
	have_server_headers || missing+=(postgresql-server-dev-SERVER)
	case $profile in
		demo)
			return ;;
		matrix)
			have mmdebstrap || missing+=(mmdebstrap)
			return ;;
		source)
			have bison || missing+=(bison)
			have flex || missing+=(flex)
			have pkg-config || missing+=(pkg-config)
			have_header zlib.h || missing+=(zlib1g-dev)
			have_header unicode/ucol.h || missing+=(libicu-dev)
			have_header lz4.h || missing+=(liblz4-dev)
			have_perl IPC::Run || missing+=(libipc-run-perl)
			return ;;
		core)
			have bzip2 || missing+=(bzip2)
			return ;;
		bench)
			have g++ || missing+=(g++)
			have gnuplot || missing+=(gnuplot-nox)
			have valgrind || missing+=(valgrind)
			have_header farmhash.h || missing+=(libfarmhash-dev)
			return ;;
	esac
	have g++ || missing+=(g++)
	have clang || missing+=(clang)
	have_fuzzer || missing+=(libclang-rt-dev)
	have python3 || missing+=(python3)
	have prove || missing+=(perl)
	have_perl Test::More || missing+=(perl)
	have_perl IPC::Run || missing+=(libipc-run-perl)
	have_header farmhash.h || missing+=(libfarmhash-dev)
	have pg_bsd_indent || missing+=(pg-bsd-indent)
}

# The major release of the server that pg_config belongs to, or else the one
# that the package "postgresql" stands for.
server_release()
{
	local release

	release=$("$pg_config" --version 2> /dev/null | sed -n 's/^PostgreSQL \([0-9]*\).*/\1/p')
	[ -n "$release" ] ||
		release=$(apt-cache depends postgresql 2> /dev/null |
			sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1)
	echo "$release"
}

run_logged()
{
	as_root env DEBIAN_FRONTEND=noninteractive "$@" >> "$log" 2>&1 && return
	tail -n 20 "$log" >&2
	return 1
}

# Put the server's release into the names, and each name once.
name_packages()
{
	local release

	release=$(server_release)
	if [ -n "$release" ]
	then
		missing=("${missing[@]//SERVER/$release}")
	else
		missing=("${missing[@]//server-dev-SERVER/server-dev-all}")
		missing=("${missing[@]//postgresql-SERVER/postgresql}")
	fi
	mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)
}

find_missing
[ ${#missing[@]} -gt 0 ] || exit 0

started=$SECONDS
name_packages
have apt-get ||
	fail "these packages are missing, and there is no apt-get: ${missing[*]}"
if [ "$(id -u)" != 0 ]
then
	have sudo ||
		fail "neither root nor sudo: have these packages installed: ${missing[*]}"
	sudo -n true 2> /dev/null || [ -t 0 ] ||
		fail "sudo asks for a password: have these packages installed: ${missing[*]}"
fi
[ "$(df --output=avail -m /usr | tail -n 1)" -ge 1500 ] ||
	fail "less than 1500 MB free in /usr: no room for ${missing[*]}"

log=$(mktemp) || fail "cannot write to ${TMPDIR:-/tmp}"
run_logged apt-get -q update || fail "apt-get update failed"
find_missing
name_packages

# A server package would make and start a cluster of its own.
if [[ " ${missing[*]} " =~ " postgresql"(-[0-9]+)?" " ]]
then
	conf=/etc/postgresql-common/createcluster.d/spanner_keys_test.conf
	as_root mkdir -p "${conf%/*}"
	echo 'create_main_cluster = false' | as_root tee "$conf" > /dev/null
fi

run_logged apt-get -q install -y --no-install-recommends "${missing[@]}" ||
	fail "apt-get could not install ${missing[*]}"
wanted=${missing[*]}
find_missing
name_packages
[ -z "${missing[*]}" ] || fail "still missing after installation: ${missing[*]}"
echo "setup: installed $wanted ($((SECONDS - started)) s)"
