/*-------------------------------------------------------------------------
 *
 * shared_state.c
 *	  Making and finding the shared memory of the allocators.
 *
 * Nothing has to be preloaded: whoever needs the memory first makes it.  Its
 * size is fixed from then on, and told by a small segment of its own, since
 * later sessions may have another spanner_keys.max_allocators.  If there is
 * not enough memory, the next one may try with a smaller size.
 *
 * src/allocator/shared_state.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/ipc.h"
#include "utils/guc.h"

#include "allocator/shared_state.h"
#include "compat.h"

#define SK_TRANCHE_NAME "SpannerKeysAllocator"
#define SK_MAX_ALLOCATORS 65536

static int	max_allocators = 64;
static int	arrays_of = 0;		/* what init_arrays() is to make */

static void find_arrays(SkSharedState *state, char *arrays);
static Size arrays_size(int size);
static void init_header(SK_SEGMENT_ARGS);
static void init_arrays(SK_SEGMENT_ARGS);

#ifdef SK_SEGMENT_NEEDS_REQUEST
static shmem_request_hook_type prev_shmem_request_hook = NULL;

static void
request_memory(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	RequestAddinShmemSpace(add_size(MAXALIGN(sizeof(SkSharedHeader)),
									arrays_size(max_allocators)));
}
#endif

/*
 * sk_shared_state_init
 *		Define the setting, and ask for the memory if that is still possible.
 */
void
sk_shared_state_init(void)
{
	DefineCustomIntVariable("spanner_keys.max_allocators",
							"Sets how many allocators of the server can have a pool of values at a time.",
							"Without preloading, the session that uses an allocator first decides.",
							&max_allocators,
							64, 1, SK_MAX_ALLOCATORS,
							process_shared_preload_libraries_in_progress ?
							PGC_POSTMASTER : PGC_SIGHUP,
							0,
							NULL, NULL, NULL);
#ifdef SK_SEGMENT_NEEDS_REQUEST
	if (process_shared_preload_libraries_in_progress)
	{
		prev_shmem_request_hook = shmem_request_hook;
		shmem_request_hook = request_memory;
	}
#endif
}

/*
 * sk_shared_state
 *		The shared memory of the allocators, as this process sees it.
 */
SkSharedState *
sk_shared_state(void)
{
	static SkSharedState state;
	SkSharedHeader *header;
	char		name[64];
	char	   *arrays;
	bool		found;

	if (likely(state.pools != NULL))
		return &state;

	header = sk_named_segment("spanner_keys allocator", sizeof(SkSharedHeader),
							  init_header, &found);
	sk_register_tranche(header->tranche, SK_TRANCHE_NAME);

	/* the size is settled by whoever gets the memory for it */
	LWLockAcquire(&header->lock, LW_EXCLUSIVE);
	arrays_of = header->size > 0 ? header->size : max_allocators;
	snprintf(name, sizeof(name), "spanner_keys allocator pools %d", arrays_of);
	arrays = sk_named_segment(name, arrays_size(arrays_of), init_arrays, &found);
	header->size = arrays_of;
	LWLockRelease(&header->lock);

	state.header = header;
	state.lock = &header->lock;
	state.size = header->size;
	find_arrays(&state, arrays);
	return &state;
}

/* As many workers as there can be, and as many that have failed to start. */
static int
worker_entries(void)
{
	return 2 * max_worker_processes + 8;
}

static int
bucket_count(int size)
{
	return pg_nextpower2_32(size);
}

static void
find_arrays(SkSharedState *state, char *arrays)
{
	int			size = state->size;
	char	   *place = arrays;

	state->worker_size = worker_entries();
	state->bucket_mask = bucket_count(size) - 1;
	state->last_used = (TimestampTz *) place;
	place += MAXALIGN(mul_size(sizeof(TimestampTz), size));
	state->workers = (SkWorkerEntry *) place;
	place += MAXALIGN(mul_size(sizeof(SkWorkerEntry), worker_entries()));
	state->buckets = (int *) place;
	place += MAXALIGN(mul_size(sizeof(int), bucket_count(size)));
	state->pending = place;
	place += MAXALIGN(size);
	state->pools = (SkPool *) place;
}

static Size
arrays_size(int size)
{
	Size		result = MAXALIGN(mul_size(sizeof(TimestampTz), size));

	result = add_size(result, MAXALIGN(mul_size(sizeof(SkWorkerEntry),
												worker_entries())));
	result = add_size(result, MAXALIGN(mul_size(sizeof(int), bucket_count(size))));
	result = add_size(result, MAXALIGN(size));
	return add_size(result, MAXALIGN(mul_size(sizeof(SkPool), size)));
}

static void
init_header(SK_SEGMENT_ARGS)
{
	SkSharedHeader *header = segment;

	memset(header, 0, sizeof(SkSharedHeader));
	header->tranche = LWLockNewTrancheId(SK_TRANCHE_NAME);
	LWLockInitialize(&header->lock, header->tranche);
}

static void
init_arrays(SK_SEGMENT_ARGS)
{
	SkSharedState state = {.size = arrays_of};

	memset(segment, 0, arrays_size(arrays_of));
	find_arrays(&state, segment);
	for (uint32 i = 0; i <= state.bucket_mask; i++)
		state.buckets[i] = -1;
	for (int i = 0; i < arrays_of; i++)
	{
		SpinLockInit(&state.pools[i].mutex);
		ConditionVariableInit(&state.pools[i].filled);
		state.pools[i].next_in_bucket = -1;
	}
}
