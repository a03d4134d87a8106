#!/bin/bash
#
# steps.sh
#	  The steps of a demonstration: quiet, timed, and stopped by an error.
#
# To be sourced, after test/bin/cluster.sh.  "log" has to name a file before the
# first step.
#
# demo/steps.sh

# What stops a step is printed even if the step's output goes to the log.
exec 3>&2
cluster_fail()
{
	printf '\ndemo: %s\n' "$*" >&3
	KEEP=
	exit 1
}

# step TEXT COMMAND ...
#
# Run a command quietly, say how long it took, and stop with the first error.
step()
{
	local text=$1 started=$SECONDS

	shift
	printf '%-64s' "$text"
	if "$@" > "$log" 2>&1
	then
		printf '%3d s\n' $((SECONDS - started))
	else
		cluster_fail "failed: $(reason)"
	fi
}

# With a full disk the log may be empty.
reason()
{
	if [ "$(df --output=avail -m "$cluster_dir" | tail -n 1)" -lt 5 ]
	then
		echo "no space left in ${cluster_dir%/*}"
	else
		grep -m 1 -E 'error:|ERROR|FATAL|PANIC|No space' "$log" || tail -n 1 "$log"
	fi
}

build()
{
	cluster_copy_source "$cluster_dir/src" &&
		cluster_run make -s -j "$(nproc)" -C "$cluster_dir/src" PG_CONFIG="$cluster_pg_config" all &&
		cluster_install "$cluster_dir/src"
}

sql()
{
	psql -X -q -v ON_ERROR_STOP=1 "$@"
}
