#!/bin/bash
#
# run.sh
#	  Run frameworks' own test suites, and compare with a plain database.
#
# Usage: DJANGO=/path SQLALCHEMY=/path RAILS=/path KNEX=/path OBJECTION=/path SEQUELIZE=/path
#		 TYPEORM=/path test/suites/run.sh
#		 DJANGO_TESTS="bulk_create fixtures"	only these apps; SQLALCHEMY_TESTS and the like: only these files
#		 JOBS=N									at most N suites at a time, else one for each processor
#		 SUITES_RESULTS=DIR						keep outcomes and logs
#		 WAYS="striped control"					run only these ways; outcomes of the others are in SUITES_RESULTS
#
# Each path is an unpacked source of the framework.  Its suite runs four ways: in
# a plain database, with two default kinds, and in a control, where ids are
# spread without the extension.  compare.pl judges each test.  The last line is
# "N passed, N failed"; a framework is one.
#
# The extension is installed where it leaves no trace.  See README.md.
#
# test/suites/run.sh

set -u
self=$(realpath "$0")
cd "$(dirname "$self")/../.." || exit 1
here=test/suites
python=/usr/bin/python3
ways=${WAYS:-plain bit_reversed_positive striped control}
unset MAKEFLAGS MFLAGS MAKELEVEL

if [ "${1:-}" != --inside ]
then
	[ "${DJANGO:-}${SQLALCHEMY:-}${RAILS:-}${KNEX:-}${OBJECTION:-}${SEQUELIZE:-}${TYPEORM:-}" ] || {
		echo "SKIP: no suite is run; name the source of a framework: make suites DJANGO=/path"
		exit 0
	}
	[ "$(id -u)" = 0 ] || exec sudo -E "$self"
	test/bin/setup.sh demo || exit 1
	exec test/bin/overlay.sh "$self" --inside
fi

. test/bin/cluster.sh
cluster_build with_llvm=no
port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
cluster_create fsync=off listen_addresses=127.0.0.1 port="$port" max_prepared_transactions=20 \
	max_locks_per_transaction=1000
export PGPORT=$port
passed=0
failed=0

# A way is a role, since frameworks create databases of their own, and a template.
create_way()
{
	local way=$1

	psql -Xqd postgres -v ON_ERROR_STOP=1 -c "CREATE ROLE $way SUPERUSER LOGIN" \
		-c "CREATE DATABASE template_$way" || exit
	case $way in
		plain) ;;
		control) psql -Xqd template_control -v ON_ERROR_STOP=1 -f $here/control.sql || exit ;;
		*) psql -Xqd "template_$way" -c 'CREATE EXTENSION spanner_keys' \
			-c "ALTER ROLE $way SET spanner.default_sequence_kind = '$way'" || exit ;;
	esac
}

# create_databases WAY BITS NAME ...: where the ids of the kind have so many bits.
create_databases()
{
	local way=$1 bits=$2 database setting=

	case $way in
		plain) ;;
		control) setting="spread_ids.bits = 31" ;;
		*) setting="spanner.default_sequence_kind = '$way(bits=$bits)'" ;;
	esac
	for database in "${@:3}"
	do
		createdb -T "template_$way" "$database" || return
		[ -z "$setting" ] || psql -Xqd "$database" -c "ALTER ROLE $way IN DATABASE $database SET $setting"
	done
}

# Outcomes are lines "ok, failed or skipped<TAB>test<TAB>first line of the error".
run_django()
{
	local way=$1 source=$2 outcomes=$3 database

	# Some of its modules ask the server of the settings, before there are databases of the tests.
	for database in "$way" "${way}_other"
	do
		createdb "$database" || return
	done
	(cd "$source/tests" && SUITE_WAY=$way SUITE_OUTCOMES=$outcomes PYTHONPATH=$source:$build/$here:${PYTHONPATH:-} \
		$python runtests.py --settings=django_settings --parallel=1 --noinput ${DJANGO_TESTS:-})
}

run_sqlalchemy()
{
	local way=$1 source=$2 outcomes=$3

	createdb -T "template_$way" "sqlalchemy_$way" || return
	psql -Xqd "sqlalchemy_$way" -c 'CREATE SCHEMA test_schema' -c 'CREATE SCHEMA test_schema_2' \
		-c 'CREATE EXTENSION hstore' -c 'CREATE EXTENSION citext'
	(cd "$source" && PYTHONPATH=$source/lib:${PYTHONPATH:-} $python -m pytest -p no:cacheprovider -q --maxfail=100000 \
		--tb=line --junitxml="$outcomes.xml" --nomemory --notimingintensive --nomypy \
		--dburi "postgresql+psycopg2://$way@127.0.0.1:$PGPORT/sqlalchemy_$way" \
		${SQLALCHEMY_TESTS:-test/dialect/postgresql test/dialect/test_suite.py test/engine test/sql test/orm})
	$python "$build/$here/read_junit.py" "$outcomes.xml" > "$outcomes"
}

# Foreign keys are integers there, so ids have 31 bits, as docs/frameworks.md advises.
run_rails()
{
	local way=$1 source=$2/activerecord outcomes=$3

	create_databases "$way" 31 "rails_$way" "rails2_$way" || return
	(cd "$source" && ARCONN=postgresql ARCONFIG=$build/$here/rails.yml SUITE_WAY=$way SUITE_OUTCOMES=$outcomes SEED=1 \
		ruby -Ilib -Itest -I../activemodel/lib -I../activesupport/lib -r "$build/$here/rails_runner" \
		-e 'load_suite(ARGV)' \
		${RAILS_TESTS:-$(find test/cases -name '*_test.rb' ! -path '*/adapters/mysql2/*' ! -path '*/adapters/sqlite3/*' | sort)})
}

# Foreign keys are integers here, too.
run_knex()
{
	local way=$1 source=$2 outcomes=$3

	create_databases "$way" 31 "knex_$way" || return
	grep -rlE 'knex_test|testuser|25432' "$source/test" |
		xargs sed -i "s/knex_test/knex_$way/; s/testuser/$way/; s/25432/$PGPORT/"
	(cd "$source" && DB=postgres KNEX_TEST_TIMEOUT=60000 run_mocha "$outcomes" \
		--ignore 'test/integration2/dialects/[bmos]*' \
		${KNEX_TESTS:-test/integration-test-suite.js 'test/integration2/**/*.spec.js'})
}

# A number of JavaScript holds 53 bits.
run_objection()
{
	local way=$1 source=$2 outcomes=$3

	create_databases "$way" 53 "objection_$way" || return
	sed -i "s/objection_test/objection_$way/; s/user: 'objection'/user: '$way'/" "$source/tests/integration/index.js"
	(cd "$source" && DATABASES=postgres run_mocha "$outcomes" ${OBJECTION_TESTS:-tests/integration/index.js})
}

run_sequelize()
{
	local way=$1 source=$2 outcomes=$3

	create_databases "$way" 53 "sequelize_$way" || return
	psql -Xqd "sequelize_$way" -c 'CREATE EXTENSION hstore' -c 'CREATE EXTENSION citext'
	(cd "$source" && DIALECT=postgres SEQ_TEST_CLEANUP_TIMEOUT=600000 SEQ_PG_HOST=$PGHOST SEQ_PG_PORT=$PGPORT SEQ_PG_DB=sequelize_$way SEQ_PG_USER=$way \
		run_mocha "$outcomes" -r ./test/registerEsbuild ${SEQUELIZE_TESTS:-'test/integration/**/*.test.js'})
}

# Its keys are integers. It asks for a database of redis, in one file.
run_typeorm()
{
	local way=$1 source=$2 outcomes=$3

	create_databases "$way" 31 "typeorm_$way" || return
	printf '[{"type": "postgres", "host": "%s", "port": %s, "username": "%s", "database": "%s"}]' \
		"$PGHOST" "$PGPORT" "$way" "typeorm_$way" > "$source/ormconfig.json"
	(cd "$source" && run_mocha "$outcomes" --no-config --file build/compiled/test/utils/test-setup.js \
		--ignore 'build/compiled/test/functional/cache/redis*' ${TYPEORM_TESTS:-'build/compiled/test/**/*.test.js'})
}

run_mocha()
{
	local outcomes=$1

	shift
	SUITE_OUTCOMES=$outcomes node_modules/.bin/mocha --exit --timeout 60000 \
		--reporter "$build/$here/mocha_reporter.cjs" "$@"
}

# install_npm FRAMEWORK SOURCE: a copy with what its tests on PostgreSQL load.
install_npm()
{
	local framework=$1 copy=$cluster_dir/$1 wanted

	cp -r "$2" "$copy" || return
	(
		cd "$copy" || exit
		rm -f package-lock.json yarn.lock
		wanted=$(node -e '
			const { devDependencies, scripts, devEngines, peerDependencies, peerDependenciesMeta, ...left } = require("./package.json");
			console.log(Object.entries(devDependencies).filter(([name]) =>
				/^(mocha|chai.*|sinon.*|expect.js|knex|pg|pg-.*|rimraf|source-map-support|esbuild|cls-hooked|delay|p-.*|fs-jetpack|js-combinatorics|module-alias|node-hook|cli-testlab)$/.test(name)
			).map((entry) => entry.join("@")).join(" "));
			fs.writeFileSync("package.json", JSON.stringify(left));')
		case $framework in
			knex) wanted+=" esbuild@0.14" ;;
			objection) wanted+=" bluebird@3 lodash@4 uuid@9" ;;
			typeorm) wanted+=" class-transformer mongodb typescript@5 @tsconfig/node20 @types/node@20" ;;
		esac
		timeout 600 npm install --ignore-scripts --no-audit --no-fund $wanted || exit
		case $framework in
			knex) node_modules/.bin/esbuild lib/dialects/index.ts --format=cjs --outdir=lib/dialects ;;
			typeorm) node_modules/.bin/tsc --noCheck --sourceMap false --declaration false ;;
			sequelize) find src -name '*.[jt]s' ! -name '*.d.ts' -exec \
				node_modules/.bin/esbuild --format=cjs --target=node10 --outbase=src --outdir=lib {} + ;;
		esac
	) > "$results/$framework.npm.log" 2>&1
}

# Ways write into their source, so each has a copy.
run_way()
{
	local framework=$1 source=$2 way=$3 copy=$cluster_dir/$1_$3

	cp -r "$source" "$copy"
	chown -R "$cluster_user" "$copy"
	export -f "run_$framework" create_databases run_mocha
	export build here python
	cluster_run env PGHOST=127.0.0.1 PGUSER="$way" nice bash -c "run_$framework"' "$@"' - \
		"$way" "$copy" "$results/$framework.$way" > "$results/$framework.$way.log" 2>&1 < /dev/null
	rm -rf "$copy"
}

run_suite()
{
	local framework=$1 source=$2 way

	if [ -e "$source/package.json" ] && [ "$framework" != django ] && [ "$framework" != rails ]
	then
		install_npm "$framework" "$source"
		source=$cluster_dir/$framework
	fi
	for way in $ways
	do
		while [ "$(jobs -pr | wc -l)" -ge "${JOBS:-$(nproc)}" ]
		do
			wait -n
		done
		run_way "$framework" "$source" "$way" &
	done
	wait
	if $here/compare.pl "$results/$framework" "$here/explained/$framework.txt"
	then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		tail -n 3 "$results/$framework".*.log
	fi
}

results=${SUITES_RESULTS:-$cluster_dir/results}
mkdir -p "$results" && chown "$cluster_user" "$results"
chmod o+x "$cluster_dir"
for way in $ways
do
	create_way "$way"
done
for framework in django sqlalchemy rails knex objection sequelize typeorm
do
	source=${framework^^}
	[ -z "${!source:-}" ] || run_suite "$framework" "${!source}"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
