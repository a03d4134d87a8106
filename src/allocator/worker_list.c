/*-------------------------------------------------------------------------
 *
 * worker_list.c
 *	  Which workers run, for which database.
 *
 * A worker is started by the first session that needs it, and leaves when it
 * has nothing to do.  Both happen under the LWLock of the shared state.  A
 * session marks its pool before it looks for the worker, and the worker looks
 * for marks before it leaves, so no request is missed.
 *
 * src/allocator/worker_list.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "utils/timestamp.h"

#include "allocator/shared_state.h"
#include "allocator/worker.h"
#include "allocator/worker_list.h"
#include "compat.h"

/* When a worker that was to start, or that failed, may be started again. */
#define SK_RELAUNCH_MS 1000

static SkWorkerEntry *my_entry = NULL;

static SkWorkerEntry *find_entry(Oid dbid, SkWorkerKind kind);
static SkWorkerEntry *make_entry(SkWorkerKind kind);
static bool may_launch(const SkWorkerEntry *entry);
static bool launch_worker(SkWorkerKind kind);

/*
 * sk_worker_wake
 *		Have the worker of this database look for pools to be filled.
 *
 * Starts it if it does not run.  Returns false if that is impossible.
 */
bool
sk_worker_wake(SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();
	SkWorkerEntry *entry;
	bool		launched = true;

	LWLockAcquire(state->lock, LW_SHARED);
	entry = find_entry(MyDatabaseId, kind);
	if (entry != NULL && entry->latch != NULL)
	{
		SetLatch(entry->latch);
		LWLockRelease(state->lock);
		return true;
	}
	LWLockRelease(state->lock);

	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	entry = make_entry(kind);
	if (entry == NULL)
		launched = false;
	else if (entry->latch != NULL)
		SetLatch(entry->latch);
	else if (may_launch(entry))
	{
		launched = launch_worker(kind);
		entry->launched = launched ? GetCurrentTimestamp() : 0;
	}
	LWLockRelease(state->lock);
	return launched;
}

static SkWorkerEntry *
find_entry(Oid dbid, SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();

	for (int i = 0; i < state->worker_size; i++)
	{
		SkWorkerEntry *entry = &state->workers[i];

		if (entry->dbid == dbid && entry->kind == kind)
			return entry;
	}
	return NULL;
}

/* NULL if others have workers, or start them, in all places there are. */
static SkWorkerEntry *
make_entry(SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();
	SkWorkerEntry *entry = find_entry(MyDatabaseId, kind);

	for (int i = 0; entry == NULL && i < state->worker_size; i++)
	{
		SkWorkerEntry *other = &state->workers[i];

		if (OidIsValid(other->dbid) &&
			(other->latch != NULL || !may_launch(other)))
			continue;
		memset(other, 0, sizeof(SkWorkerEntry));
		other->dbid = MyDatabaseId;
		other->kind = kind;
		entry = other;
	}
	return entry;
}

/* Has enough time passed since the last try?  The clock may have gone back. */
static bool
may_launch(const SkWorkerEntry *entry)
{
	TimestampTz now = GetCurrentTimestamp();

	return entry->launched == 0 || now < entry->launched ||
		TimestampDifferenceExceeds(entry->launched, now, SK_RELAUNCH_MS);
}

static bool
launch_worker(SkWorkerKind kind)
{
	BackgroundWorker worker;
	SkWorkerStart start;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION | BGWORKER_INTERRUPTIBLE;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "spanner_keys", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "spanner_allocator_worker",
			sizeof(worker.bgw_function_name));
	snprintf(worker.bgw_name, BGW_MAXLEN, "spanner_keys %s worker for database %u",
			 kind == SK_WORKER_REMOTE ? "remote allocator" : "allocator",
			 MyDatabaseId);
	strlcpy(worker.bgw_type,
			kind == SK_WORKER_REMOTE ? "spanner_keys remote allocator" :
			"spanner_keys allocator", BGW_MAXLEN);
	start.dbid = MyDatabaseId;
	start.kind = kind;
	memcpy(worker.bgw_extra, &start, sizeof(start));
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}

/*
 * sk_worker_attach
 *		Note that this process is the worker of a database.
 *
 * Returns false if there is another one.
 */
bool
sk_worker_attach(Oid dbid, SkWorkerKind kind)
{
	SkSharedState *state = sk_shared_state();
	SkWorkerEntry *entry;

	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	entry = find_entry(dbid, kind);
	if (entry != NULL && entry->latch == NULL)
	{
		entry->latch = MyLatch;
		entry->pid = MyProcPid;
		entry->started = GetCurrentTimestamp();
		entry->idle_since = 0;
		entry->blocked = false;
		my_entry = entry;
	}
	LWLockRelease(state->lock);
	return my_entry != NULL;
}

/*
 * sk_worker_set_state
 *		Tell what the worker does.
 */
void
sk_worker_set_state(TimestampTz idle_since, bool blocked)
{
	SkSharedState *state = sk_shared_state();

	if (my_entry->idle_since == idle_since && my_entry->blocked == blocked)
		return;
	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	my_entry->idle_since = idle_since;
	my_entry->blocked = blocked;
	LWLockRelease(state->lock);
}

/*
 * sk_worker_leave
 *		Note that the worker ends.
 *
 * Returns false, and does nothing, if there is something to do and it is not
 * ended by force.
 */
bool
sk_worker_leave(bool even_if_pending)
{
	SkSharedState *state = sk_shared_state();

	if (my_entry == NULL)
		return true;
	LWLockAcquire(state->lock, LW_EXCLUSIVE);
	if (!even_if_pending &&
		sk_pool_any_pending(my_entry->dbid, my_entry->kind, NULL))
	{
		LWLockRelease(state->lock);
		return false;
	}
	my_entry->latch = NULL;
	my_entry->pid = 0;
	if (!even_if_pending)
		my_entry->launched = 0;
	sk_pool_abandon(my_entry->dbid, my_entry->kind);
	LWLockRelease(state->lock);
	my_entry = NULL;
	return true;
}

/*
 * sk_worker_count
 *		How many entries there are.
 */
int
sk_worker_count(void)
{
	return sk_shared_state()->worker_size;
}

/*
 * sk_worker_read
 *		Look at an entry.  Returns false if there is no worker.
 */
bool
sk_worker_read(int index, SkWorkerState *result)
{
	SkSharedState *state = sk_shared_state();
	SkWorkerEntry *entry = &state->workers[index];
	bool		found;

	LWLockAcquire(state->lock, LW_SHARED);
	found = OidIsValid(entry->dbid) &&
		(entry->latch != NULL || entry->launched != 0);
	result->dbid = entry->dbid;
	result->kind = entry->kind;
	result->pid = entry->pid;
	result->started = entry->started;
	result->idle_since = entry->idle_since;
	result->blocked = entry->blocked;
	LWLockRelease(state->lock);
	return found;
}
