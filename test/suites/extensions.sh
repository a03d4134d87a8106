#!/bin/bash
#
# extensions.sh
#	  Run other extensions' own tests in a database that has ours.
#
# Usage: EXTENSIONS=DIR test/suites/extensions.sh [NAME ...]		SUITES_RESULTS=DIR WAYS=...
#
# DIR has the unpacked source of each extension under its name, of the version
# of Debian's package, which is downloaded and installed where it leaves no
# trace.  What a test prints in a plain database is what it has to print with
# our four extensions and the library preloaded, also with a default kind,
# unless the control differs too.  See README.md.
#
# test/suites/extensions.sh

set -u
self=$(realpath "$0")
cd "$(dirname "$self")/../.." || exit 1
here=test/suites
unset MAKEFLAGS MFLAGS MAKELEVEL

# Name, package, directory of the tests, tests
extensions='
pgq				pgq3			.		pgq_init_ext pgq_core pgq_core_disabled pgq_core_tx_limit pgq_session_role pgq_perms trigger_base trigger_sess_role trigger_types trigger_trunc trigger_ignore trigger_pkey trigger_deny trigger_when trigger_extra_args trigger_extra_cols trigger_backup
periods			periods			.		install periods system_time_periods system_versioning excluded_columns unique_foreign for_portion_of predicates drop_protection rename_following health_checks acl issues beeswax uninstall
pg_cron			cron			.		pg_cron-test
pgaudit			pgaudit			.		pgaudit
hypopg			hypopg			.		hypopg hypo_brin hypo_index_part hypo_include hypo_hash
pg_repack		repack			regress	init-extension repack-setup repack-run after-schema repack-check nosuper tablespace issue3
plpgsql_check	plpgsql-check	.		plpgsql_check_passive plpgsql_check_active
pg_partman		partman			pgtap
'

if [ "${1:-}" != --inside ]
then
	[ "${EXTENSIONS:-}" ] || {
		echo "SKIP: no extension is tested; name the directory of their sources: make suites EXTENSIONS=/path"
		exit 0
	}
	[ "$(id -u)" = 0 ] || exec sudo -E "$self" "$@"
	test/bin/setup.sh demo || exit 1
	exec test/bin/overlay.sh "$self" --inside "$@"
fi
shift

. test/bin/cluster.sh
cluster_build with_llvm=no
results=${SUITES_RESULTS:-$cluster_dir/results}
mkdir -p "$results" && rm -f "$results"/extensions.*
pg_regress=$(dirname "$("$cluster_pg_config" --pgxs)")/../test/regress/pg_regress
major=$("$cluster_pg_config" --version | sed -E 's/[^ ]+ ([0-9]+).*/\1/')

install_package()
{
	(
		cd "$cluster_dir" && rm -f ./*.deb && apt-get -q -o APT::Sandbox::User=root download "$1" &&
			dpkg-deb --fsys-tarfile ./*.deb |
			tar -C / -xf - --wildcards './usr/*/postgresql/*'
	) >> "$log" 2>&1
}

# Those of pg_partman are scripts of pgTAP, which roll back what they make; other
# scripts of it want a person between two steps.
copy_tests()
{
	local name=$1 copy=$cluster_dir/$1

	cp -r "$EXTENSIONS/$name" "$copy" || return
	case $name in
		hypopg) mv "$copy/test/sql" "$copy" ;;
		pg_partman)
			mkdir -p "$copy/pgtap/sql" "$copy/pgtap/expected"
			cp "$copy"/test/*.sql "$copy"/test/test_native/*.sql "$copy/pgtap/sql"
			(cd "$copy/pgtap/sql" && for test in *.sql; do touch "../expected/${test%.sql}.out"; done) ;;
	esac
	chown -R "$cluster_user" "$copy"
}

# start_way WAY: a new cluster with a template.
start_way()
{
	local way=$1 preload=pg_cron,pgaudit extension

	[ ! -e "$cluster_dir/data" ] || cluster_ctl -m immediate stop
	rm -rf "$cluster_dir/data"
	[ "$way" = plain ] || [ "$way" = control ] || preload+=,spanner_keys
	cluster_create fsync=off shared_preload_libraries=$preload cron.database_name=contrib_regression \
		max_locks_per_transaction=2000
	psql -Xq -c 'SET allow_in_place_tablespaces = on' -c "CREATE TABLESPACE testts LOCATION ''" -c 'CREATE DATABASE template'
	case $way in
		plain) ;;
		control) psql -Xqd template -v ON_ERROR_STOP=1 -f $here/control.sql || exit ;;
		*) for extension in spanner_keys spanner_keys_ddl spanner_keys_advisor spanner_keys_splits
			do
				psql -Xqd template -v ON_ERROR_STOP=1 -c "CREATE EXTENSION $extension" || exit
			done ;;
	esac
}

run_extension()
{
	local way=$1 name=$2 dir=$cluster_dir/$2/$3 test outcome text

	shift 3
	dropdb -f --if-exists contrib_regression
	createdb -T template contrib_regression
	case $way in
		bit_reversed_positive | striped)
			psql -Xqc "ALTER DATABASE contrib_regression SET spanner.default_sequence_kind = '$way'" ;;
	esac
	[ "$name" != pg_partman ] || {
		psql -Xqd contrib_regression -c 'CREATE SCHEMA partman' -c 'CREATE EXTENSION pg_partman SCHEMA partman' \
			-c 'CREATE EXTENSION pgtap'
		set -- "$dir"/sql/*.sql
		set -- "${@##*/}"
		set -- "${@%.sql}"
	}
	rm -rf "$dir/results"
	cluster_run env -C "$cluster_dir/$name" "$pg_regress" --inputdir="$dir" --outputdir="$dir" --bindir="$cluster_bindir" \
		--use-existing --dbname=contrib_regression "$@" >> "$results/extensions.$way.log" 2>&1 < /dev/null
	# Names and descriptions have the date and the time.
	[ "$name" != pg_partman ] || sed -i 's/[0-9]/N/g' "$dir"/results/*.out
	cp "$dir/regression.diffs" "$results/extensions.$way.$name.diffs" 2> /dev/null
	for test in "$@"
	do
		outcome=ok text=
		if [ "$way" = plain ]
		then
			rm -f "$dir/expected/${test}"_[0-9].out
			cp "$dir/results/$test.out" "$dir/expected/" || outcome=failed
		elif ! cmp -s "$dir/expected/$test.out" "$dir/results/$test.out"
		then
			outcome=failed
			diff "$dir/expected/$test.out" "$dir/results/$test.out" > "$results/extensions.$way.$name.$test.diff" 2>&1
			text=$(grep -m 1 '^[^0-9]' "$results/extensions.$way.$name.$test.diff")
		fi
		printf '%s\t%s\t%s\n' $outcome "$name/$test" "${text:+output: $text}" >> "$results/extensions.$way"
	done
}

asked=" ${*:-$(awk 'NF { printf "%s ", $1 }' <<< "$extensions")} "
for package in pgtap cron pgaudit
do
	install_package "postgresql-$major-$package" || cluster_fail "$(tail -n 1 "$log")"
done
while read -r name package dir tests
do
	[[ -n $name && $asked == *" $name "* ]] || continue
	install_package "postgresql-$major-$package" || cluster_fail "$(tail -n 1 "$log")"
	copy_tests "$name" || exit
done <<< "$extensions"
for way in ${WAYS:-plain loaded bit_reversed_positive striped control}
do
	start_way $way
	while read -r name package dir tests
	do
		[[ -n $name && $asked == *" $name "* ]] || continue
		run_extension $way "$name" "$dir" $tests
	done <<< "$extensions"
done
if $here/compare.pl "$results/extensions" $here/explained/extensions.txt
then
	echo "1 passed, 0 failed"
else
	echo "0 passed, 1 failed"
	exit 1
fi
