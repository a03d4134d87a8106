/*-------------------------------------------------------------------------
 *
 * spanner_keys.c
 *	  Entry point of the library: starts each module.
 *
 * Everything works without preloading.  The library is then loaded by the
 * first call of one of its functions, or by its event triggers.
 *
 * src/spanner_keys.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/guc.h"

#include "compat.h"
#include "spanner_keys.h"

SK_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	/* others register with it */
	sk_command_hooks_init();
	sk_own_objects_init();
	sk_allocator_init();
	sk_cache_init();
	sk_commit_number_init();
	sk_number_rows_init();
	sk_pool_init();
	sk_table_init();
	sk_worker_init();

	/* a hook calls the one before it first, and paths need its estimates */
	sk_parent_quals_init();
	sk_planner_init();
	sk_shard_statistics_init();
	sk_merge_path_init();
	sk_merge_scan_init();
	sk_builtin_kinds_init();
	sk_default_kind_init();
	sk_binding_init();
	sk_plan_fetch_init();
	sk_sequence_functions_init();

	/*
	 * When a command ends, who has registered last is called first: labels of
	 * columns are copies of what the others have made of sequences.
	 */
	sk_sequence_change_init();
	sk_sequence_ddl_init();
	sk_identity_init();

	sk_spanner_ddl_init();

	/*
	 * Only our own prefix is reserved, after all settings with it are
	 * defined. Clients of Spanner set parameters such as
	 * spanner.retry_aborts_internally, which must not fail here.
	 */
	MarkGUCPrefixReserved("spanner_keys");
}
