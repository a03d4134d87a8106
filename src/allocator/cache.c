/*-------------------------------------------------------------------------
 *
 * cache.c
 *	  The allocators and series that this session uses.
 *
 * The whole cache is dropped when anybody changes an allocator or a role.
 * Reserving values is no such change.
 *
 * src/allocator/cache.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "allocator/allocator.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"

/* What is locked while a series is made differs from what queues for a row. */
#define SK_SERIES_QUEUE 0x8000

/* A session with more allocators than that begins anew. */
#define SK_MAX_CACHED 10000

typedef struct NameEntry
{
	char		name[SK_MAX_ALLOCATOR_NAME + 1];	/* hash key */
	SkAllocator *allocator;
} NameEntry;

/* Another series of the same hash takes the place of one. */
typedef struct SeriesEntry
{
	struct
	{
		int64		parent_id;
		uint64		hash;
	}			key;
	SkAllocator *allocator;
} SeriesEntry;

static MemoryContext cache_context = NULL;
static HTAB *by_id = NULL;
static HTAB *by_name = NULL;
static HTAB *by_series = NULL;
static uint64 cache_epoch = 0;
static Oid	cached_table = InvalidOid;

static void prepare_cache(void);
static SkAllocator *keep_allocator(const SkAllocatorRow *row, uint64 epoch);
static void forget_relation(Datum arg, Oid relid);
static void forget_all(Datum arg, int cacheid, uint32 hashvalue);

/*
 * sk_allocator_find
 *		Find an allocator by its name, or else by its id.  Raises an error if there
 *		is none.
 *
 * The result is good until the next call of such a function.
 */
SkAllocator *
sk_allocator_find(const char *name, int64 id)
{
	SkAllocator *allocator = NULL;
	NameEntry  *entry;
	SkAllocatorRow row;
	uint64		epoch;

	prepare_cache();
	if (name == NULL)
		allocator = hash_search(by_id, &id, HASH_FIND, NULL);
	else if (strlen(name) <= SK_MAX_ALLOCATOR_NAME)
	{
		entry = hash_search(by_name, name, HASH_FIND, NULL);
		allocator = entry == NULL ? NULL : entry->allocator;
	}
	if (allocator != NULL)
		return allocator;

	epoch = cache_epoch;
	if (!sk_allocator_read(name, id, &row))
		sk_report_missing(ERROR, name, id, true);
	Assert(OidIsValid(row.table) && (name != NULL || row.id == id));
	allocator = keep_allocator(&row, epoch);
	if (name != NULL)
	{
		entry = hash_search(by_name, allocator->row.name, HASH_ENTER, NULL);
		entry->allocator = allocator;
	}
	return allocator;
}

/*
 * sk_series_of_argument
 *		The series that the last argument of a function names; NULL if it is empty,
 *		or if the function has only "argno" arguments.
 */
ArrayType *
sk_series_of_argument(FunctionCallInfo fcinfo, int argno)
{
	ArrayType  *values = PG_NARGS() <= argno ? NULL : PG_GETARG_ARRAYTYPE_P(argno);
	Datum	   *texts;
	bool	   *nulls;
	int			count;

	if (values == NULL || ARR_NDIM(values) == 0)
		return NULL;
	deconstruct_array(values, TEXTOID, -1, false, TYPALIGN_INT, &texts, &nulls, &count);
	if (ARR_NDIM(values) > 1 || count > SK_MAX_SERIES_COLUMNS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a series is a list of 1 to %d values", SK_MAX_SERIES_COLUMNS)));
	for (int i = 0; i < count; i++)
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("value %d of the series must not be null", i + 1)));
	return sk_series_make(texts, count);
}

/*
 * sk_series_begin
 *		Find a series of an allocator, or make it.
 *
 * Waits for a transaction that is making it.
 */
void
sk_series_begin(SkTable *table, int64 parent_id, ArrayType *series,
				SkAllocatorRow *row)
{
	Oid			relid = RelationGetRelid(table->rel);
	SkAllocatorRow parent;
	uint64		hash;
	uint16		part;

	Assert(table->mode >= RowExclusiveLock);
	if (sk_row_find(table, NULL, parent_id, series, row))
		return;
	/* neither dropped nor renamed until the transaction ends */
	if (sk_row_lock(table, parent_id, SK_LOCK_KEEP, &parent) != SK_ROW_FOUND)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("allocator of series (%s) does not exist", sk_series_print(series))));
	Assert(parent.series == NULL);
	hash = hash_bytes_extended((unsigned char *) series, VARSIZE(series), parent_id);
	part = (uint16) (hash >> 32) | SK_SERIES_QUEUE;
	LockDatabaseObject(relid, (Oid) hash, part, ExclusiveLock);
	if (sk_row_find_settled(table, parent.name, series, row))
		(void) sk_row_find(table, NULL, parent_id, series, row);
	else
	{
		*row = parent;
		row->id = 0;
		row->parent_id = parent_id;
		row->series = series;
		row->next_value = Max(parent.start_value, parent.min_value);

		/*
		 * what the allocator's counter has gone through since says nothing of
		 * a series of that name, which may have given values before a
		 * promotion
		 */
		row->stamp = parent.series_stamp;
		sk_row_skip_gap(row);
		sk_row_write(table, row, SK_WRITE_CHANGES);
	}
	/* others find the row now, and wait for the transaction */
	UnlockDatabaseObject(relid, (Oid) hash, part, ExclusiveLock);
}

/*
 * sk_allocator_by_series
 *		The same for a series of an allocator.  One that is not there begins in
 *		the transaction, or, unless "may_begin", the result is NULL.
 *
 * The caller has checked privileges.
 */
SkAllocator *
sk_allocator_by_series(int64 parent_id, ArrayType *series, bool may_begin)
{
	bool		found = true;
	SeriesEntry key = {{parent_id}};
	SeriesEntry *entry;
	SkAllocatorRow row;
	SkTable		table;
	uint64		epoch;

	prepare_cache();
	epoch = cache_epoch;
	key.key.hash = hash_bytes_extended((unsigned char *) series, VARSIZE(series), 0);
	entry = hash_search(by_series, &key.key, HASH_FIND, NULL);
	if (entry != NULL && sk_series_compare(entry->allocator->row.series, series) == 0)
		return entry->allocator;

	sk_table_open(&table, may_begin ? RowExclusiveLock : AccessShareLock);
	if (may_begin)
		sk_series_begin(&table, parent_id, series, &row);
	else
		found = sk_row_find(&table, NULL, parent_id, series, &row);
	sk_table_close(&table);
	if (!found)
		return NULL;
	if (entry == NULL)
		entry = hash_search(by_series, &key.key, HASH_ENTER, NULL);
	entry->allocator = keep_allocator(&row, epoch);
	return entry->allocator;
}

/*
 * sk_allocator_check_usage
 *		May the current user take values from an allocator?
 */
void
sk_allocator_check_usage(SkAllocator *allocator)
{
	Oid			userid = GetUserId();

	if (likely(allocator->usable_by == userid))
		return;
	(void) sk_check_usage(&allocator->row, userid, false);
	allocator->usable_by = userid;
}

/*
 * sk_check_usage
 *		May a role use an allocator?  Raises an error if not, unless "missing_ok".
 */
bool
sk_check_usage(const SkAllocatorRow *row, Oid role, bool missing_ok)
{
	bool		result = has_privs_of_role(role, row->owner_role);
	ListCell   *lc;

	foreach(lc, row->usage_roles)
		result = result || !OidIsValid(lfirst_oid(lc)) ||
		has_privs_of_role(role, lfirst_oid(lc));
	if (!result && !missing_ok)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for allocator \"%s\"", row->name),
				 errhint("Its owner can allow it with spanner.grant_allocator().")));
	return result;
}

/*
 * sk_check_writable
 *		May the transaction write?  "function" is what the user has called.
 */
void
sk_check_writable(Oid function)
{
	char	   *name;

	if (likely(!XactReadOnly && !IsInParallelMode() && !RecoveryInProgress()))
		return;
	name = psprintf("spanner.%s()", get_func_name(function));
	PreventCommandDuringRecovery(name);
	PreventCommandIfReadOnly(name);
	PreventCommandIfParallelMode(name);
}

/*
 * sk_cache_init
 *		Watch for changes.
 */
void
sk_cache_init(void)
{
	sk_on_relation_change(forget_relation);
	CacheRegisterSyscacheCallback(AUTHOID, forget_all, (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, forget_all, (Datum) 0);
	/* the owner of the database is a member of pg_database_owner */
	CacheRegisterSyscacheCallback(DATABASEOID, forget_all, (Datum) 0);
}

static void
prepare_cache(void)
{
	HASHCTL		ctl;

	if (cache_epoch == sk_allocator_epoch &&
		hash_get_num_entries(by_id) < SK_MAX_CACHED)
		return;
	if (cache_epoch == sk_allocator_epoch)
		sk_allocator_epoch++;
	sk_watch_relations();
	if (cache_context == NULL)
		cache_context = AllocSetContextCreate(CacheMemoryContext,
											  "spanner_keys allocators",
											  ALLOCSET_DEFAULT_SIZES);
	else
		MemoryContextReset(cache_context);

	ctl.hcxt = cache_context;
	ctl.keysize = sizeof(int64);
	ctl.entrysize = sizeof(SkAllocator);
	by_id = hash_create("spanner_keys allocators", 16, &ctl,
						HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	ctl.keysize = SK_MAX_ALLOCATOR_NAME + 1;
	ctl.entrysize = sizeof(NameEntry);
	by_name = hash_create("spanner_keys allocator names", 16, &ctl,
						  HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
	ctl.keysize = sizeof(((SeriesEntry *) NULL)->key);
	ctl.entrysize = sizeof(SeriesEntry);
	by_series = hash_create("spanner_keys series", 16, &ctl,
							HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	cached_table = sk_allocator_table();
	/* without a table, nothing would tell that there is one again */
	if (OidIsValid(cached_table))
		cache_epoch = sk_allocator_epoch;
}

/* "epoch" is that of the cache when the row was not yet read. */
static SkAllocator *
keep_allocator(const SkAllocatorRow *row, uint64 epoch)
{
	SkAllocator *allocator;
	MemoryContext old;

	allocator = hash_search(by_id, &row->id, HASH_ENTER, NULL);
	allocator->row = *row;
	allocator->row.epoch = epoch;
	old = MemoryContextSwitchTo(cache_context);
	allocator->row.usage_roles = list_copy(row->usage_roles);
	if (row->series != NULL)
		allocator->row.series = (ArrayType *)
			DatumGetPointer(datumCopy(PointerGetDatum(row->series), false, -1));
	MemoryContextSwitchTo(old);
	allocator->usable_by = InvalidOid;
	allocator->key = sk_row_key(row);
	allocator->pool = NULL;
	return allocator;
}

static void
forget_relation(Datum arg, Oid relid)
{
	if (!OidIsValid(relid) || relid == cached_table)
		sk_allocator_epoch++;
}

static void
forget_all(Datum arg, int cacheid, uint32 hashvalue)
{
	sk_allocator_epoch++;
}
