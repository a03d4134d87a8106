#!/bin/bash
#
# run.sh
#	  Have real clients make tables, insert rows, and read the ids back.
#
# Usage: test/clients/run.sh [NAME ...]		CLIENTS_CACHE=DIR
#
# Each client stores one object and ten more in tables that its own DDL made,
# and reports their ids, which check.sql compares with the rows: once with
# nothing preloaded, once with the library preloaded, once more with striped
# sequences and nothing preloaded.  A client named migrate_... does so around
# migrations of its framework, and reports what the framework finds different
# in the database.  One line for each way to use a client: "ok", "not ok", "known"
# for what is known to go wrong and why docs/frameworks.md tells; "SKIP" for a client
# that cannot be had.  The last line is "N passed, N failed, N skipped".
#
# Missing packages of Debian are installed; those of npm and a chroot for newer
# clients go into CLIENTS_CACHE.  The extension is not installed.
#
# test/clients/run.sh

set -u
self=$(realpath "$0")
cd "$(dirname "$self")/../.." || exit 1
cache=${CLIENTS_CACHE:-/var/cache/spanner_keys_clients}
trixie=$cache/trixie
npm=$cache/npm

# Name, where it comes from, script, packages: first that of the client.
clients='
django		debian	use_django.py		python3-django python3-psycopg2
django4		trixie	use_django.py		python3-django python3-psycopg2
sqlalchemy	debian	use_sqlalchemy.py	python3-sqlalchemy python3-psycopg2
sqlalchemy2	trixie	use_sqlalchemy.py	python3-sqlalchemy python3-psycopg2 python3-psycopg
activerecord	debian	use_activerecord.rb	ruby-activerecord ruby-pg
activerecord7	trixie	use_activerecord.rb	ruby-activerecord ruby-pg
doctrine	debian	use_doctrine.php	php-doctrine-orm php-symfony-cache php-cli php-pgsql
doctrine3	trixie	use_doctrine.php	php-doctrine-orm php-symfony-cache php-cli php-pgsql
hibernate	debian	UseJpa.java		libhibernate3-java libjavassist-java libpostgresql-jdbc-java default-jdk-headless
eclipselink	debian	UseJpa.java		libeclipselink-java libpostgresql-jdbc-java default-jdk-headless
pgjdbc		debian	UsePgjdbc.java		libpostgresql-jdbc-java default-jdk-headless
psycopg2	debian	use_psycopg2.py		python3-psycopg2
asyncpg		debian	use_asyncpg.py		python3-asyncpg
peewee		debian	use_peewee.py		python3-peewee python3-psycopg2
sequel		debian	use_sequel.rb		ruby-sequel ruby-pg
dbix_class	debian	use_dbix_class.pl	libdbix-class-perl libdbd-pg-perl libsql-translator-perl
libpqxx		debian	use_libpqxx.cc		libpqxx-dev g++
gorm		debian	use_gorm.go		golang-github-jinzhu-gorm-dev golang-github-lib-pq-dev golang-go
pgx		debian	use_pgx.go		golang-github-jackc-pgx-v4-dev golang-go
typeorm		npm	use_typeorm.mjs		typeorm@1 reflect-metadata@0.2 pg@8
sequelize	npm	use_sequelize.mjs	sequelize@6 pg@8
knex		npm	use_knex.mjs		knex@3 pg@8
drizzle		npm	use_drizzle.mjs		drizzle-orm@0.45 drizzle-kit@0.31 pg@8
kysely		npm	use_kysely.mjs		kysely@0.28 pg@8
prisma		npm	use_prisma.mjs		prisma@6 @prisma/client@6 @prisma/adapter-pg@6 pg@8
pgbouncer	debian	use_pgbouncer.py	pgbouncer python3-psycopg2
migrate_django	debian	migrate_django.py	python3-django python3-psycopg2
migrate_django4	trixie	migrate_django.py	python3-django python3-psycopg2
migrate_alembic	debian	migrate_alembic.py	python3-alembic python3-sqlalchemy python3-psycopg2
migrate_alembic2	trixie	migrate_alembic.py	python3-alembic python3-sqlalchemy python3-psycopg2
migrate_activerecord	debian	migrate_activerecord.rb	ruby-activerecord ruby-pg
migrate_activerecord7	trixie	migrate_activerecord.rb	ruby-activerecord ruby-pg
migrate_doctrine	debian	migrate_doctrine.php	php-doctrine-orm php-symfony-cache php-cli php-pgsql
migrate_doctrine3	trixie	migrate_doctrine.php	php-doctrine-orm php-symfony-cache php-cli php-pgsql
migrate_typeorm	npm	migrate_typeorm.mjs	typeorm@1 reflect-metadata@0.2 pg@8
migrate_sequelize	npm	migrate_sequelize.mjs	sequelize@6 umzug@3 pg@8
migrate_knex	npm	migrate_knex.mjs	knex@3 pg@8
migrate_drizzle	npm	migrate_drizzle.mjs	drizzle-orm@0.45 drizzle-kit@0.31 pg@8
migrate_prisma	npm	migrate_prisma.mjs	prisma@6 @prisma/client@6 @prisma/adapter-pg@6 pg@8
'

# each_client FUNCTION [NAME ...]
#
# Call the function for the clients that are named, or for all.
each_client()
{
	local function=$1 asked=" ${*:2} " name origin script packages

	while read -r name origin script packages <&4
	do
		[ -n "$name" ] || continue
		[ $# = 1 ] || [[ $asked == *" $name "* ]] || continue
		"$function" "$name" "$origin" "$script" $packages
	done 4<<< "$clients"
}

# missing ORIGIN PACKAGE ...
missing()
{
	local origin=$1 package root=/

	shift
	[ "$origin" != trixie ] || root=$trixie
	for package in "$@"
	do
		case $origin in
			npm) [ -d "$npm/node_modules/${package%@[0-9]*}" ] || echo "$package" ;;
			*) [ -e "$root/var/lib/dpkg/info/$package.list" ] ||
				compgen -G "$root/var/lib/dpkg/info/$package:*.list" > /dev/null || echo "$package" ;;
		esac
	done
}

collect_missing()
{
	local origin=$2

	needed[$origin]+=" $(missing "$origin" "${@:4}" | tr '\n' ' ')"
}

# npm removes what a call does not name, and a chroot is made in one go.
collect_all()
{
	[ "$2" = debian ] || all[$2]+=" ${*:4}"
}

needs()
{
	[[ ${needed[$1]} == *[a-z]* ]]
}

# What cannot be installed is noticed when its client's turn comes.
install_packages()
{
	local -A needed=([debian]='' [npm]='' [trixie]='') all=([npm]='' [trixie]='')

	mkdir -p "$npm" || return
	rm -f "$cache"/*.log
	each_client collect_missing "$@"
	each_client collect_all
	! needs npm || command -v npm > /dev/null || needed[debian]+=" nodejs npm"
	! needs trixie || command -v mmdebstrap > /dev/null || needed[debian]+=" mmdebstrap"
	if needs debian
	then
		echo "installing${needed[debian]}" | tr -s ' '
		{
			apt-get -q update
			apt_install ${needed[debian]} || each_client install_alone "$@"
		} > "$cache/debian.log" 2>&1
	fi
	if needs npm
	then
		echo "installing with npm${needed[npm]}" | tr -s ' '
		timeout 600 npm install --ignore-scripts --no-audit --no-fund --prefix "$npm" \
			${all[npm]} > "$cache/npm.log" 2>&1
	fi
	if needs trixie
	then
		echo "making a chroot of Debian trixie"
		make_chroot ${all[trixie]} > "$cache/trixie.log" 2>&1
	fi
}

apt_install()
{
	DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "$@"
}

install_alone()
{
	[ "$2" != debian ] || apt_install "${@:4}"
}

make_chroot()
{
	local mirror=${MATRIX_MIRROR:-http://deb.debian.org/debian}

	rm -rf "$trixie.new"
	printf 'deb %s %s main\n' "$mirror" trixie "$mirror" trixie-updates |
		timeout 600 mmdebstrap --mode=root --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' \
			--include="$(tr ' ' , <<< "$*")" trixie "$trixie.new" - &&
		rm -rf "$trixie" &&
		mv "$trixie.new" "$trixie"
}

if [ "${1:-}" != --inside ]
then
	[ "$(id -u)" = 0 ] || exec sudo --preserve-env=CLIENTS_CACHE,MATRIX_MIRROR,PG_CONFIG "$self" "$@"
	unset MAKEFLAGS MFLAGS MAKELEVEL
	for name in "$@"
	do
		[[ $clients == *$'\n'"$name"[[:space:]]* ]] || {
			echo "run.sh: no client \"$name\"" >&2
			exit 1
		}
	done
	test/bin/setup.sh demo || exit 1
	install_packages "$@"
	exec test/bin/overlay.sh "$self" --inside "$@"
fi
shift

. test/bin/cluster.sh
cluster_init
passed=0
failed=0
skipped=0
source=$cluster_dir/src/test/clients
classes=$cluster_dir/classes

cluster_copy_source "$cluster_dir/src"
{
	cluster_run make -s -j "$(nproc)" -C "$cluster_dir/src" PG_CONFIG="$cluster_pg_config" all &&
		cluster_install "$cluster_dir/src"
} > "$cluster_dir/build.log" 2>&1 || cluster_fail "failed: $(grep -m 1 -i error "$cluster_dir/build.log")"
port=$(perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(Listen => 1, LocalAddr => "127.0.0.1")->sockport')
cluster_create fsync=off listen_addresses=127.0.0.1 port="$port"
export PGPORT=$port
psql -X -q -d template1 -c 'CREATE EXTENSION spanner_keys'
ln -s "$npm/node_modules" "$source/node_modules"
cluster_run mkdir "$classes"
if [ -d "$trixie" ]
then
	mount --bind "$source" "$trixie/mnt"
	mount --bind /proc "$trixie/proc"
fi

# jars NAME ...
jars()
{
	printf ":/usr/share/java/%s.jar" "$@"
}

# Fill the array "command" for a script, compiling what has to be.
make_command()
{
	local name=$1 origin=$2 script=$3 jars

	command=(cluster_run timeout 600 env PATH=/usr/bin:/bin)
	script=$source/$script
	if [ "$origin" = trixie ]
	then
		command=(timeout 600 chroot "$trixie" env PATH=/usr/bin:/bin)
		script=/mnt/$3
	fi
	case $name in
		hibernate) jars=$(jars hibernate-core hibernate-entitymanager hibernate-commons-annotations javassist \
			dom4j antlr slf4j-api slf4j-nop geronimo-jpa_2.0_spec geronimo-jta-1.2-spec commons-collections3 postgresql) ;;
		eclipselink) jars=$(jars eclipselink eclipselink-jpa-2.1-spec postgresql) ;;
		*) jars=$(jars postgresql) ;;
	esac
	case $script in
		*.py) command+=(python3 -P "$script") ;;
		*.rb) command+=(ruby "$script") ;;
		*.php) command+=(php "$script") ;;
		*.pl) command+=(perl "$script") ;;
		*.mjs) command+=("$(command -v node)" "$script") ;;
		*.cc) command+=("$cluster_dir/$name")
			cluster_run g++ -std=c++17 -o "$cluster_dir/$name" "$script" -lpqxx -lpq ;;
		*.go) command+=("$cluster_dir/$name")
			cluster_run env GO111MODULE=off GOPATH=/usr/share/gocode go build -o "$cluster_dir/$name" "$script" ;;
		*.java) command+=(java --add-opens java.base/java.lang=ALL-UNNAMED -cp "$classes:$source$jars"
				"$(basename "$script" .java)")
			[ "$name" != hibernate ] || command+=(org.hibernate.ejb.HibernatePersistence)
			[ "$name" != eclipselink ] || command+=(org.eclipse.persistence.jpa.PersistenceProvider)
			cluster_run javac -d "$classes" -cp "${jars#:}" "$script" ;;
	esac
}

create_database()
{
	local database=$1 kind=$2 preload=$3

	psql -X -q -v ON_ERROR_STOP=1 -d postgres <<-SQL
		CREATE DATABASE "$database" TEMPLATE template1;
		ALTER DATABASE "$database" SET spanner.default_sequence_kind = '$kind';
		ALTER DATABASE "$database" SET session_preload_libraries = $preload;
	SQL
}

# A client prints "=MARK TABLE TITLE", and "id<TAB>name" for each object, once
# or more often.  Judge each of these parts.  "!TEXT" is a verdict of its own.
# TABLE@loaded is in the second database, which the client finds empty.
judge()
{
	local pass=$1 output=$2 part=$cluster_dir/part mark='' table='' title='' line

	while IFS= read -r line
	do
		if [[ $line == =* ]]
		then
			judge_part
			read -r mark table title <<< "$line"
			: > "$part"
		else
			echo "$line" >> "$part"
		fi
	done < "$output"
	judge_part
}

judge_part()
{
	[ -n "$title" ] || return
	[ -n "${marks[$title]:-}" ] || titles+=("$title")
	marks[$title]=$mark
	verdicts[$pass:$title]=$(sed -n 's/^!//p' "$part" | grep . ||
		psql -X -q -At -d "$database$([[ $table != *@loaded ]] || echo _loaded)" -v table="${table%@loaded}" \
			-f "$source/check.sql" < "$part" 2>&1 | tail -n 1)
}

# One line for what all passes found about one title.
report()
{
	local title=$1 right=0 found='' pass verdict

	for pass in plain preload striped
	do
		verdict=${verdicts[$pass:$title]:-nothing}
		[[ $verdict != '11 ids' && $verdict != 'no difference' ]] || right=$((right + 1))
		[[ $found\; == *": $verdict;"* ]] || found+="; $pass: $verdict"
	done
	[ "$found" != "; plain: $verdict" ] || found="; $verdict"
	case ${marks[$title]}:$right in
		=:3) ok "$title: $verdict" ;;
		=known:0) echo "known $title${found/;/:}" ;;
		=known:*) not_ok "$title: is better than expected$found" ;;
		*) not_ok "$title${found/;/:}" ;;
	esac
}

ok()
{
	passed=$((passed + 1))
	echo "ok $*"
}

not_ok()
{
	failed=$((failed + 1))
	echo "not ok $*"
}

run_script()
{
	PGHOST=127.0.0.1 PGDATABASE=$database CLIENT_VERSION=$version \
		DATABASE_URL=postgres://$PGUSER@127.0.0.1:$PGPORT/$database \
		JDBC_URL="jdbc:postgresql://127.0.0.1:$PGPORT/$database?user=$PGUSER" \
		"${command[@]}"
}

# run_client NAME ORIGIN SCRIPT PACKAGE ...
run_client()
{
	local name=$1 origin=$2 pass kind preload database title missing version
	local log=$cluster_dir/$name.log output=$cluster_dir/$name.out
	local command titles=()
	local -A marks=() verdicts=()

	missing=$(missing "$origin" "${@:4}" | tr '\n' ' ')
	[ -z "$missing" ] || {
		skipped=$((skipped + 1))
		echo "SKIP $name: could not install $missing($(grep -m 1 -iE '^E:|err' "$cache/$origin.log"))"
		return
	}
	make_command "$@" > "$log" 2>&1
	version=$(dpkg-query -W -f '${Version}' "$4" 2> /dev/null | sed 's/^[0-9]*://; s/[-+~].*//')
	while read -r pass kind preload <&5
	do
		database=${name}_$pass
		create_database "$database" "$kind" "$preload"
		[[ $name != migrate_* ]] || create_database "${database}_loaded" "$kind" "$preload"
		run_script > "$output" 2>> "$log" < /dev/null || {
			not_ok "$name, $pass: $(grep -m 1 -iE 'error|exception|fatal' "$log" || tail -n 1 "$log")"
			return
		}
		judge "$pass" "$output"
	done 5<<- PASSES
		plain bit_reversed_positive DEFAULT
		preload bit_reversed_positive spanner_keys
		striped striped(stripes=16) DEFAULT
	PASSES
	for title in "${titles[@]}"
	do
		report "$title"
	done
}

each_client run_client "$@"
[ ! -d "$trixie" ] || umount "$trixie/mnt" "$trixie/proc"
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
