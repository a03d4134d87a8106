/*-------------------------------------------------------------------------
 *
 * shared_state.c
 *	  Making and finding the shared memory of the allocators.
 *
 * Nothing has to be preloaded: whoever needs the memory first makes it.  Its
 * size is fixed from then on, and told by a small segment of its own, since
 * later sessions may have another spanner_keys.max_allocators.
 *
 * src/allocator/shared_state.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/guc.h"

#include "allocator/shared_state.h"
#include "compat.h"

#define SK_TRANCHE_NAME "SpannerKeysAllocator"
#define SK_MAX_ALLOCATORS 65536

/* The small segment. */
typedef struct SharedHeader
{
	int			tranche;
	int			size;
	LWLock		lock;
} SharedHeader;

static int	max_allocators = 64;
static int	arrays_of = 0;		/* what init_arrays() is to make */

static int	worker_entries(int size);
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
	RequestAddinShmemSpace(add_size(MAXALIGN(sizeof(SharedHeader)),
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
	SharedHeader *header;
	char	   *arrays;
	bool		found;

	if (likely(state.pools != NULL))
		return &state;

	header = sk_named_segment("spanner_keys allocator", sizeof(SharedHeader),
							  init_header, &found);
	arrays_of = header->size;
	arrays = sk_named_segment("spanner_keys allocator pools",
							  arrays_size(arrays_of), init_arrays, &found);
	sk_register_tranche(header->tranche, SK_TRANCHE_NAME);

	state.lock = &header->lock;
	state.size = header->size;
	state.worker_size = worker_entries(header->size);
	state.workers = (SkWorkerEntry *)
		(arrays + MAXALIGN(mul_size(sizeof(SkPool), state.size)));
	state.pools = (SkPool *) arrays;
	return &state;
}

/* Each pool may ask for another worker, while others have nothing to do. */
static int
worker_entries(int size)
{
	return size + max_worker_processes;
}

static Size
arrays_size(int size)
{
	return add_size(MAXALIGN(mul_size(sizeof(SkPool), size)),
					MAXALIGN(mul_size(sizeof(SkWorkerEntry),
									  worker_entries(size))));
}

static void
init_header(SK_SEGMENT_ARGS)
{
	SharedHeader *header = segment;

	header->tranche = LWLockNewTrancheId(SK_TRANCHE_NAME);
	header->size = max_allocators;
	LWLockInitialize(&header->lock, header->tranche);
}

static void
init_arrays(SK_SEGMENT_ARGS)
{
	SkPool	   *pools = segment;

	memset(segment, 0, arrays_size(arrays_of));
	for (int i = 0; i < arrays_of; i++)
	{
		SpinLockInit(&pools[i].mutex);
		ConditionVariableInit(&pools[i].filled);
	}
}
