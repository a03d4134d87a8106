#!/bin/bash
#
# core_check.sh
#	  Run PostgreSQL's own regression and isolation suites with the library:
#	  nothing may fail that does not fail without it.
#
# Usage: test/bin/core_check.sh [setting=value ...]
#
# The suites run on a cluster without the library first.  What a test prints
# there becomes its expected output, so that a server that is newer than the
# source, or a system of another taste, is no failure.  The settings are for
# the runs that are checked; enable_indexscan=off shows that a change is seen.
#
# A test that lists the system catalogs, prints a plan with nextval, or wants
# no security label provider has to differ: test/bin/core/NAME.diff holds the lines
# of the difference, and any other difference of that test is a failure.  For
# one run alone it is test/bin/core/RUN/NAME.diff.  test/bin/core/README.md has a line
# for each, which says why.  The lines of a difference that is a failure are
# left in tmp_check/core/RUN/NAME.diff.
#
# The source of the suites comes from the mirrors of Debian that this machine's
# apt uses, of the server's minor release or else the nearest older one that
# they have, together with psql of that release, whose output the suites
# contain.  Both are kept in CORE_CACHE (default /var/cache/pgcore).
#
# test/bin/core_check.sh

set -u
cd "$(dirname "$0")/../.." || exit 1
cache=${CORE_CACHE:-/var/cache/pgcore}
pg_config=${PG_CONFIG:-pg_config}
if [ "${1:-}" != --inside ]
then
	test/bin/setup.sh core &&
		exec test/bin/overlay.sh env CORE_CACHE="$cache" test/bin/core_check.sh --inside "$@"
	exit 1
fi
shift
unset MAKEFLAGS MFLAGS MAKELEVEL
passed=0
failed=0

. test/bin/cluster.sh
cluster_fail()
{
	echo "core_check.sh: $*"
	echo "$passed passed, $((failed + 1)) failed"
	exit 1
}

private_apt()
{
	local command=$1

	shift
	"$command" -q -o Dir::Etc::SourceList="$cache/apt/sources.list" -o Dir::Etc::SourceParts=- \
		-o Dir::State::Lists="$cache/apt/lists" -o Dir::Cache="$cache/apt/cache" \
		-o Acquire::Retries=3 -o APT::Sandbox::User=root "$@"
}

# A mirror may list the source of a minor release and not have it.
download()
{
	local type version release

	mkdir -p "$cache/apt/lists/partial" "$cache/apt/cache/archives/partial" || return
	for type in deb deb-src
	do
		apt-get indextargets --format "$type \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
			'Created-By: Packages' 'Origin: Debian'
	done > "$cache/apt/sources.list"
	private_apt apt-get update || return
	for version in $(private_apt apt-cache showsrc "postgresql-$major" |
		sed -n 's/^Version: //p' | sort -u -V -r)
	do
		release=${version%%-*}
		[ "$(printf '%s\n' "$release" "$minor" | sort -V | tail -n 1)" = "$minor" ] || continue
		private_apt apt-get source --download-only --tar-only "postgresql-$major=$version" &&
			private_apt apt-get download "postgresql-client-$major=$version" &&
			return
	done
	return 1
}

# The newest source in the cache, and the psql that belongs to it.
find_source()
{
	source=$(find "$cache" -maxdepth 1 -name "postgresql-${major}_*.orig.tar.bz2" 2> /dev/null | sort -V | tail -n 1)
	release=${source##*_}
	release=${release%.orig.tar.bz2}
	client=$(find "$cache" -maxdepth 1 -name "postgresql-client-${major}_$release-*.deb" 2> /dev/null | head -n 1)
	[ -n "$source" ] && [ -n "$client" ]
}

unpack()
{
	local path=postgresql-$release

	cluster_run mkdir -p "$core" "$core/bin" &&
		bzip2 -dc "$source" | cluster_run tar -C "$core" --strip-components=1 -xf - \
			"$path/src/test/regress" "$path/src/test/isolation" "$path/contrib/spi" &&
		dpkg-deb --fsys-tarfile "$client" | cluster_run tar -C "$core/bin" --strip-components=6 -xf - \
			"./usr/lib/postgresql/$major/bin/psql"
}

# The C functions that the tests create are the only thing to be built.
build_modules()
{
	local modules=$core/modules

	cluster_run mkdir "$modules" &&
		cluster_run cp "$core/src/test/regress/regress.c" "$core/contrib/spi/autoinc.c" \
			"$core/contrib/spi/refint.c" "$modules" &&
		cluster_run make -C "$modules" -f "$pgxs" PGXS="$pgxs" MODULES="regress autoinc refint" \
			PG_CONFIG="$pg_config" with_llvm=no all
}

# suite DIRECTORY DRIVER ARGUMENT ...
suite()
{
	local dir=$core/src/test/$1 driver=$2

	shift 2
	cluster_run rm -rf "$core/output"
	cluster_run mkdir "$core/output"
	cluster_run "$(dirname "$pgxs")/../../src/test/$driver" --inputdir="$dir" \
		--outputdir="$core/output" --bindir="$core/bin" --dlpath="$core/modules" \
		--max-concurrent-tests=20 "$@" > "$log" 2>&1 < /dev/null
}

regress()
{
	suite regress regress/pg_regress --schedule="$core/src/test/regress/parallel_schedule" "$@"
}

# With a bound sequence in the database every query is searched for core's
# sequence functions.
regress_bound()
{
	local dir=$core/src/test/regress
	local command="DO 'BEGIN PERFORM spanner.create_sequence(''bound_sequence'', ''bit_reversed_positive''); END';"

	cluster_run tee "$dir/sql/bound_sequence.sql" "$dir/expected/bound_sequence.out" <<< "$command" > /dev/null
	(echo "test: bound_sequence" && cat "$dir/parallel_schedule") |
		cluster_run tee "$core/bound_schedule" > /dev/null
	suite regress regress/pg_regress --schedule="$core/bound_schedule" --load-extension=spanner_keys
}

isolation()
{
	suite isolation isolation/pg_isolation_regress --schedule="$core/src/test/isolation/isolation_schedule" "$@"
}

# pg_regress before 16 prints "test x ... ok", since then "ok 1 - x".
good_tests()
{
	sed -nE 's/^(test |     )[[:space:]]*([^ ]+) +\.\.\. ok.*/\2/p; s/^ok [0-9]+ +[-+] ([^ ]+).*/\1/p' "$log"
}

bad_tests()
{
	sed -nE 's/^(test |     )[[:space:]]*([^ ]+) +\.\.\. FAILED.*/\2/p; s/^not ok [0-9]+ +[-+] ([^ ]+).*/\1/p' "$log"
}

# OIDs, the widths of columns and the order of rows are no difference.
normalize()
{
	sed -E 's/[0-9]{5,}/OID/g; s/--+/-/g; s/ +/ /g; s/^ | $//g' "$1"
}

# difference DIRECTORY NAME: the lines in which a test differs
difference()
{
	diff <(normalize "$core/src/test/$1/expected/$2.out") <(normalize "$core/output/results/$2.out") |
		grep '^[<>]' | sed 's, $,,' | LC_ALL=C sort
}

# different_by_design RUN DIRECTORY NAME: does it differ as test/bin/core says?
different_by_design()
{
	local file=test/bin/core/$1/$3.diff

	[ -e "$file" ] || file=test/bin/core/$3.diff
	[ -e "$file" ] && [ -e "$core/output/results/$3.out" ] &&
		grep -qF "| \`${file#test/bin/core/}\` |" test/bin/core/README.md &&
		difference "$2" "$3" | cmp -s - "$file"
}

# baseline SUITE: have what it prints now expected.
baseline()
{
	local expected=$core/src/test/$1/expected differing count name

	"$1"
	mapfile -t differing < <(bad_tests)
	count=$(good_tests | wc -l)
	[ "$count" -gt 50 ] && [ ${#differing[@]} -lt 20 ] || {
		tail -n 20 "$log"
		cluster_fail "the suite \"$1\" does not run without the library either"
	}
	for name in "${differing[@]}"
	do
		rm -f "$expected/$name"_[0-9].out
		cluster_run cp "$core/output/results/$name.out" "$expected/$name.out" ||
			cluster_fail "test \"$name\" of the suite \"$1\" has no output"
	done
	expected_count=$((count + ${#differing[@]}))
	echo "$1 without the library: $expected_count tests, ${#differing[@]} differ from PostgreSQL $release"
}

# check NAME DIRECTORY COUNT COMMAND ...
check()
{
	local name=core-$1 dir=$2 good bad=() differing designed started=$SECONDS test crashed

	"${@:4}"
	good=$(good_tests | wc -l)
	mapfile -t differing < <(bad_tests)
	for test in "${differing[@]}"
	do
		different_by_design "$1" "$dir" "$test" || bad+=("$test")
	done
	designed=$((${#differing[@]} - ${#bad[@]}))
	for test in $(cd "test/bin/core/$1" 2> /dev/null && ls)
	do
		[[ " ${differing[*]} " == *" ${test%.diff} "* ]] || bad+=("(no longer different: $test)")
	done
	crashed=$(grep -cE 'PANIC: |TRAP: |was terminated by signal' "$cluster_dir/server.log")
	[ $((good + ${#differing[@]})) -ge "$3" ] || bad+=("(tests are missing)")
	[ "$crashed" = "$crashes" ] || bad+=("(the server crashed)")
	crashes=$crashed
	passed=$((passed + good + designed))
	failed=$((failed + ${#bad[@]}))
	echo "$name $good as before, ${#bad[@]} new failures, $designed different by design ($((SECONDS - started)) s)"
	[ ${#bad[@]} = 0 ] || show_failures "$1" "$dir" "${bad[@]}"
}

# show_failures RUN DIRECTORY NAME ...
show_failures()
{
	local run=tmp_check/core/$1 dir=$2 name

	shift 2
	mkdir -p "$run"
	grep -E 'PANIC: |TRAP: |was terminated by signal' "$cluster_dir/server.log" | tail -n 10
	for name in "$@"
	do
		echo "    $name"
		[[ $name != "("* ]] || continue
		difference "$dir" "$name" > "$run/$name.diff"
		diff -U3 "$core/src/test/$dir/expected/$name.out" "$core/output/results/$name.out" |
			head -n 100
	done
	[ -s "$core/output/regression.diffs" ] || tail -n 20 "$log"
}

minor=$("$pg_config" --version | awk '{ print $2 }')
major=${minor%%.*}
pgxs=$("$pg_config" --pgxs)
cluster_init
log=$cluster_dir/core.log
core=$cluster_dir/core
find_source || (cd "$cache" 2> /dev/null || mkdir -p "$cache" && cd "$cache" && download) > "$log" 2>&1
find_source || {
	tail -n 20 "$log"
	cluster_fail "the source of PostgreSQL $major is not to be had"
}
cluster_copy_source "$cluster_dir/src"
{
	unpack && build_modules &&
		cluster_run make -C "$cluster_dir/src" -j "$(nproc)" PG_CONFIG="$pg_config" all &&
		cluster_install "$cluster_dir/src" && cluster_install_modules "$cluster_dir/src"
} > "$log" 2>&1 || {
	tail -n 20 "$log"
	cluster_fail "the build failed"
}

cluster_create fsync=off max_connections=50 max_prepared_transactions=10
baseline regress
regress_count=$expected_count
baseline isolation
isolation_count=$expected_count
cluster_configure shared_preload_libraries=spanner_keys "$@"
crashes=0
check regress regress "$regress_count" regress
check isolation isolation "$isolation_count" isolation
check regress-extension regress "$regress_count" regress --load-extension=spanner_keys
check regress-bound regress "$regress_count" regress_bound

# Nothing preloaded, as users have it, and every sequence of a kind whose
# values are the counters: what is different then is no id.
cluster_configure shared_preload_libraries= spanner.default_sequence_kind=unchanged "$@"
check default-kind regress "$regress_count" \
	regress --load-extension=spanner_keys --load-extension=unchanged

echo "$passed passed, $failed failed"
[ $failed = 0 ]
