/*-------------------------------------------------------------------------
 *
 * early_release.c
 *	  Releasing locks before the commit is durable.
 *
 * A transaction that numbers rows keeps the allocator's row locked until its
 * commit has been flushed, and confirmed by synchronous standbys.  With
 * spanner_keys.early_lock_release such a transaction commits asynchronously:
 * the commit record is written, the locks are released, and only then, but
 * before the client is told, we flush and wait.  The next transaction's
 * commit record comes later in the WAL, so a crash takes away the last
 * numbers and leaves no gap.
 *
 * synchronous_commit is changed in its variable only, for the time between
 * XACT_EVENT_PRE_COMMIT and the release of the locks.  No code of a user runs
 * in between, and what the setting says elsewhere, SyncRepWaitMode included,
 * stays as it is.
 *
 * src/allocator/early_release.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "replication/syncrep.h"
#include "utils/guc.h"
#include "utils/resowner.h"

#include "allocator/early_release.h"

static bool enable_early_release = false;

/* What synchronous_commit was, while it is changed. */
static bool is_changed = false;
static int	user_setting;

static void flush_late(ResourceReleasePhase phase, bool is_commit,
					   bool is_top_level, void *arg);

/*
 * sk_early_release_init
 *		Define the setting, and be told when locks are released.
 */
void
sk_early_release_init(void)
{
	DefineCustomBoolVariable("spanner_keys.early_lock_release",
							 "Enables transactions that number rows to release their locks before their commit is durable.",
							 "COMMIT returns when it is durable, but others see the rows shortly before that.",
							 &enable_early_release,
							 false,
							 PGC_SUSET,
							 0,
							 NULL, NULL, NULL);
	RegisterResourceReleaseCallback(flush_late, NULL);
}

/*
 * sk_early_release_prepare
 *		Have the transaction that is about to commit release its locks early.
 *
 * To be called at XACT_EVENT_PRE_COMMIT.
 */
void
sk_early_release_prepare(void)
{
	if (!enable_early_release || is_changed ||
		synchronous_commit == SYNCHRONOUS_COMMIT_OFF)
		return;
	user_setting = synchronous_commit;
	is_changed = true;
	synchronous_commit = SYNCHRONOUS_COMMIT_OFF;
}

/*
 * The locks have been released, by a commit or because it has failed.  Do what
 * a commit has left out.  As in RecordTransactionCommit(), a failure to flush
 * must not look like a rollback.
 */
static void
flush_late(ResourceReleasePhase phase, bool is_commit, bool is_top_level,
		   void *arg)
{
	if (!is_changed || !is_top_level || phase != RESOURCE_RELEASE_AFTER_LOCKS)
		return;
	synchronous_commit = user_setting;
	is_changed = false;
	if (!is_commit)
		return;

	START_CRIT_SECTION();
	XLogFlush(XactLastCommitEnd);
	END_CRIT_SECTION();
	SyncRepWaitForLSN(XactLastCommitEnd, true);
}
