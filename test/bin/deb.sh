#!/bin/bash
#
# deb.sh
#	  Build the Debian packages, install them, and test what they install.
#
# Usage: test/bin/deb.sh [DIR]		DIR gets the packages
#
# All of it happens in a copy-on-write view of the machine, the installation
# of what a build depends on included, so nothing of it stays.  One line for
# each step; the first step that fails is the last one, and its log is shown.
#
# test/bin/deb.sh

set -u
self=$(realpath "$0")
tests=0

# step NAME COMMAND ...
step()
{
	local name=$1 started=$SECONDS

	shift
	if "$@" > "$log" 2>&1 < /dev/null
	then
		echo "ok deb-$name ($((SECONDS - started)) s)"
		tests=$((tests + $(grep -cE '^(ok |(test |     )[[:space:]]*[A-Za-z0-9_]+ +\.\.\. ok)' "$log")))
	else
		echo "not ok deb-$name"
		tail -n 100 "$log" | sed 's/^/    /'
		exit 1
	fi
}

in_view()
{
	chroot "$view" env -i LC_ALL=C.UTF-8 HOME=/build PATH="$PATH" DEBIAN_FRONTEND=noninteractive \
		sh -c 'cd /build/src && exec "$@"' sh "$@"
}

# Packages are not built as root, and servers cannot run as root.
as_builder()
{
	in_view setpriv --reuid=nobody --regid=nogroup --clear-groups env USER=nobody "$@"
}

mount_view()
{
	mount -t tmpfs -o size=8g tmpfs "$dir/view" &&
		mkdir "$dir/view/upper" "$dir/view/work" "$view" &&
		mount -t overlay overlay -o "lowerdir=/,upperdir=$dir/view/upper,workdir=$dir/view/work" "$view" &&
		mount -t proc proc "$view/proc" &&
		mount --rbind /dev "$view/dev" &&
		mount -t tmpfs -o mode=1777 tmpfs "$view/tmp" &&
		rm -f "$view/etc/resolv.conf" &&
		cp -L /etc/resolv.conf "$view/etc/resolv.conf" &&
		mkdir -p "$view/build/src" &&
		tar -C "$dir/src" -cf - . | tar -C "$view/build/src" --no-same-owner -xf - &&
		chown -R nobody:nogroup "$view/build"
}

# No cluster for the packages of servers, and no service is started.
install_dependencies()
{
	mkdir -p "$view/etc/postgresql-common/createcluster.d"
	echo 'create_main_cluster = false' > "$view/etc/postgresql-common/createcluster.d/spanner_keys_test.conf"
	printf '#!/bin/sh\nexit 101\n' > "$view/usr/sbin/policy-rc.d"
	chmod 755 "$view/usr/sbin/policy-rc.d"
	in_view apt-get -q update &&
		in_view sh -c "$(document_line apt-get)" &&
		in_view apt-get -q install -y --no-install-recommends lintian
}

# docs/install.md says in two lines how packages are built.
document_line()
{
	sed -n "s/^\\(sudo \\)*\\($1 .*\\)/\\2/p" "$view/build/src/docs/install.md"
}

# Tests need servers, which a build does not.
install_servers()
{
	in_view apt-get -q install -y --no-install-recommends postgresql-all
}

# Not for an upload: neither the maintainer's address nor the bug that announces
# a new package is there, and the release may be to come.
check_policy()
{
	in_view sh -c 'lintian --allow-root --fail-on error,warning \
		--suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,initial-upload-closes-no-bugs,unreleased-changes \
		../*.changes'
}

# A copy that "make install" has put there would hide files that are missing.
remove_local_copy()
{
	find "$view"/usr/{lib,share,include}/postgresql \
		\( -name 'spanner_keys*' -o -path '*/bitcode/spanner_keys*' \) -prune -exec rm -rf {} +
}

install_packages()
{
	remove_local_copy &&
		in_view sh -c 'apt-get -q install -y --no-install-recommends ../postgresql-*-spanner-keys_*.deb ../spanner-keys-client_*.deb' &&
		in_view sh -c 'dpkg -S /usr/bin/spanner_*' &&
		for version in $(in_view pg_buildext installed-versions)
		do
			in_view dpkg -S "/usr/lib/postgresql/$version/lib/spanner_keys.so" \
				"/usr/share/postgresql/$version/extension/spanner_keys.control" \
				"/usr/share/postgresql/$version/extension/spanner_keys_ddl.control" \
				"/usr/share/postgresql/$version/extension/spanner_keys_advisor.control" \
				"/usr/share/postgresql/$version/extension/spanner_keys_splits.control" \
				"/usr/include/postgresql/$version/server/extension/spanner_keys/access_method.h" || return
		done
}

# The access method of the tests is built with the header that was installed.
build_module()
{
	for version in $(in_view pg_buildext installed-versions)
	do
		as_builder make -C test/modules/permuted PG_CONFIG="/usr/lib/postgresql/$version/bin/pg_config" \
			with_llvm=no COPT=-Werror clean all || return
	done
}

purge_packages()
{
	in_view sh -c 'apt-get -q purge -y "postgresql-*-spanner-keys" spanner-keys-client' &&
		! find "$view"/usr/{lib,share,include}/postgresql "$view"/usr/{bin,share/doc,share/man} -name '*spanner*keys*' | grep .
}

if [ "${1:-}" = --inside ]
then
	dir=$2
	view=$dir/view/root
	log=$dir/deb.log
	packages=${3:-}
	step view mount_view
	step dependencies install_dependencies
	# the releases of servers that this machine's distribution has
	step build as_builder sh -c "PG_UPDATECONTROL=yes $(document_line dpkg-buildpackage)"
	step lintian check_policy
	step install install_packages
	step module build_module
	step servers install_servers
	step installcheck as_builder debian/tests/installcheck
	step extensions as_builder debian/tests/extensions
	echo "ok deb-tests: $tests"
	[ -z "$packages" ] || cp "$view"/build/*.deb "$packages" || exit 1
	step purge purge_packages
	exit 0
fi

cd "$(dirname "$0")/../.." || exit 1
packages=${1:+$(realpath "$1")}
if [ "$(id -u)" != 0 ]
then
	exec sudo "$self" "$@"
fi
test/bin/setup.sh demo || exit 1
. test/bin/cluster.sh
cluster_init
chmod 755 "$cluster_dir"
mkdir "$cluster_dir/view"
cluster_copy_source "$cluster_dir/src"
unshare --mount --pid --ipc --fork --kill-child "$self" --inside "$cluster_dir" "$packages"
