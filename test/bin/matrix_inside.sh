#!/bin/bash
#
# matrix_inside.sh
#	  Test one release of PostgreSQL, or an upgrade, in namespaces of its own.
#
# Usage: test/bin/matrix_inside.sh SOURCE DIR VERSION ROOT [OLD-VERSION OLD-ROOT]
#
# matrix.sh and assert.sh call it, as root of new mount, process and network
# namespaces.  SOURCE is a copy of the source, DIR an empty directory.  A root
# is /, a chroot, or a server that source.sh has built, which is put in the
# place of this machine's of that release.  What happens in a root happens in a
# copy-on-write view.  The views of an upgrade share /tmp, where the source is
# built and the clusters are.
#
# pg_upgrade runs the commands of both releases, each of which needs the
# libraries of its own root.  So in the view of the new release the commands
# of the old one are scripts that enter the old one's view.  They may do so
# because the tests keep the capability to, though not as root.
#
# test/bin/matrix_inside.sh

set -u
source=$1
dir=$2
version=$3
root=$4
old_version=${5:-}
old_root=${6:-}
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
build_args=(with_llvm=no --keep-going)

# mount_view ROOT NAME VERSION: a copy-on-write view of a root, in $dir/NAME/root.
mount_view()
{
	local upper=$dir/$2/upper work=$dir/$2/work view=$dir/$2/root lower=$1 server=

	# Only what was built has it directly there.
	[ ! -e "$1/lib/pgxs" ] || {
		lower=/
		server=$1
	}
	mkdir -p "$upper" "$work" "$view" &&
		mount -t overlay overlay -o "lowerdir=$lower,upperdir=$upper,workdir=$work" "$view" &&
		{ [ -z "$server" ] || put_server "$server" "$view/usr/lib/postgresql/$3"; } &&
		mkdir -p "$view"/{proc,dev,sys,tmp} &&
		mount -t proc proc "$view/proc" &&
		mount --rbind /dev "$view/dev" &&
		mount -t tmpfs -o mode=1777 tmpfs "$view/dev/shm" &&
		mount --bind "$dir/tmp" "$view/tmp"
}

# A server of the distribution leaves nothing behind, least of all its JIT.
put_server()
{
	rm -rf "$2" && mkdir -p "${2%/*}" && cp -a "$1" "$2"
}

# in_view NAME COMMAND ...
in_view()
{
	local view=$dir/$1/root

	shift
	chroot "$view" env -i LC_ALL=C.UTF-8 HOME=/root PATH="$path" "$@"
}

# install_in_view NAME VERSION: the extension and the modules of the tests.
install_in_view()
{
	local build=/tmp/src$2 subdir

	cp -a "$dir/tmp/src" "$dir/tmp/src$2" || return
	for subdir in "" /test/modules/permuted
	do
		in_view "$1" make -s -C "$build$subdir" -j "${JOBS:-$(nproc)}" "${build_args[@]}" COPT=-Werror \
			PG_CONFIG="/usr/lib/postgresql/$2/bin/pg_config" install || return
	done
}

# The commands of the old release, seen from the new one's view.
make_wrappers()
{
	local bin=/usr/lib/postgresql/$old_version/bin command

	mkdir -p "$dir/new/root/old_release" "$dir/new/root$bin" &&
		mount --rbind "$dir/old/root" "$dir/new/root/old_release" || return
	for command in "$dir/old/root$bin"/*
	do
		command=${command##*/}
		printf '#!/bin/sh\nexec /usr/sbin/chroot /old_release %s "$@"\n' "$bin/$command" \
			> "$dir/new/root$bin/$command"
	done
	chmod 755 "$dir/new/root$bin"/*
}

# Every root has the user nobody, with the same number.
test_upgrade()
{
	in_view new setpriv --reuid=nobody --regid=nogroup --clear-groups \
		--inh-caps=+sys_chroot --ambient-caps=+sys_chroot \
		env HOME=/tmp USER=nobody oldinstall="/usr/lib/postgresql/$old_version" \
		PG_TEST_PG_UPGRADE_MODE="$1" \
		make -C "/tmp/src$version" installcheck PROVE_TESTS=test/t/012_upgrade.pl \
		REGRESS= ISOLATION= with_llvm=no PG_CONFIG="/usr/lib/postgresql/$version/bin/pg_config"
}

mount -t tmpfs -o size=8g tmpfs "$dir" &&
	mkdir -m 1777 "$dir/tmp" &&
	mount_view "$root" new "$version" || exit 3
ip link set lo up 2> /dev/null

if [ -z "$old_version" ]
then
	mkdir -p "$dir/new/root/build" &&
		tar -C "$source" -cf - . | tar -C "$dir/new/root/build" --no-same-owner -xf - || exit 3
	in_view new NO_SETUP=1 OVERLAID=1 "TESTS=$TESTS" "PLANNER_SECONDS=${PLANNER_SECONDS:-60}" "PLANNER_SEED=${PLANNER_SEED:-}" \
		"REGRESS_DISCARD=${REGRESS_DISCARD:-}" \
		PG_CONFIG="/usr/lib/postgresql/$version/bin/pg_config" \
		BUILD_ARGS="${build_args[*]}" JOBS="${JOBS:-}" /build/test/bin/run.sh
	exit
fi

mkdir "$dir/tmp/src" &&
	tar -C "$source" -cf - . | tar -C "$dir/tmp/src" --no-same-owner -xf - &&
	mount_view "$old_root" old "$old_version" &&
	install_in_view old "$old_version" &&
	install_in_view new "$version" &&
	make_wrappers &&
	chown -R nobody "$dir/tmp/src$version" || {
	echo "the two releases could not be prepared"
	exit 3
}

# 18: directories can be swapped, and sequences then are not dumped
modes="--copy --link"
[ "$version" -lt 18 ] || modes+=" --swap"
for mode in $modes
do
	test_upgrade "$mode" || {
		echo "pg_upgrade $mode"
		exit 1
	}
done
