/*-------------------------------------------------------------------------
 *
 * allocator.c
 *	  Allocators: start-up, settings, and the SQL functions that draw.
 *
 * src/allocator/allocator.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "allocator/allocator_cache.h"
#include "allocator/change.h"
#include "allocator/commit_number.h"
#include "allocator/draw.h"
#include "allocator/early_release.h"
#include "allocator/own_counter.h"
#include "allocator/reserve.h"
#include "allocator/shared_state.h"
#include "allocator/worker.h"
#include "compat.h"
#include "spanner_keys.h"

PG_FUNCTION_INFO_V1(spanner_allocator_id);
PG_FUNCTION_INFO_V1(spanner_next_value);
PG_FUNCTION_INFO_V1(spanner_next_value_by_id);
PG_FUNCTION_INFO_V1(spanner_next_values);
PG_FUNCTION_INFO_V1(spanner_reserve_block);

/* The allocator that a call site used last. */
typedef struct LastUsed
{
	uint64		epoch;
	SkAllocator *allocator;
	int			length;			/* of the name */
} LastUsed;

static SkAllocator *allocator_argument(FunctionCallInfo fcinfo);
static SkAllocator *remember(FunctionCallInfo fcinfo, SkAllocator *allocator);
static void check_call(FunctionCallInfo fcinfo, SkAllocator *allocator);

/*
 * sk_allocator_init
 *		Define the settings of allocators, and start what they need.
 */
void
sk_allocator_init(void)
{
	DefineCustomIntVariable("spanner_keys.allocator_refill_target",
							"Sets how long a batch of an allocator should last.",
							"A batch that is used up faster is doubled, one that lasts ten times as long is halved.",
							&sk_allocator_refill_target,
							50, 1, 3600 * 1000,
							PGC_SIGHUP,
							GUC_UNIT_MS,
							NULL, NULL, NULL);
	DefineCustomIntVariable("spanner_keys.allocator_timeout",
							"Sets how long to wait for values of an allocator.",
							"Zero waits without a limit.",
							&sk_allocator_timeout,
							10000, 0, INT_MAX,
							PGC_USERSET,
							GUC_UNIT_MS,
							NULL, NULL, NULL);
	sk_shared_state_init();
	sk_allocator_cache_init();
	sk_change_init();
	sk_own_counter_init();
	sk_early_release_init();
	sk_commit_number_init();
	sk_worker_init();
}

/*
 * spanner.next_value(name text) returns bigint
 *
 * Draws one value from an allocator.
 */
Datum
spanner_next_value(PG_FUNCTION_ARGS)
{
	SkAllocator *allocator = allocator_argument(fcinfo);

	PG_RETURN_INT64(sk_draw(allocator, 1, true).first);
}

/*
 * spanner.next_value(allocator_id bigint) returns bigint
 *
 * The same by id, which stays when the allocator is renamed.
 */
Datum
spanner_next_value_by_id(PG_FUNCTION_ARGS)
{
	int64		id = PG_GETARG_INT64(0);
	LastUsed   *last = fcinfo->flinfo->fn_extra;
	SkAllocator *allocator;

	if (last != NULL && last->epoch == sk_allocator_epoch &&
		last->allocator->id == id)
		allocator = last->allocator;
	else
		allocator = remember(fcinfo, sk_allocator_by_id(id));
	check_call(fcinfo, allocator);
	PG_RETURN_INT64(sk_draw(allocator, 1, true).first);
}

/*
 * spanner.allocator_id(name text) returns bigint
 *
 * For defaults that are to survive a change of the name.
 */
Datum
spanner_allocator_id(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64(sk_allocator_by_name(text_to_cstring(PG_GETARG_TEXT_PP(0)))->id);
}

/*
 * spanner.next_values(name text, count integer) returns setof bigint
 *
 * Draws "count" values, from 0 on.  They ascend, but others may have drawn
 * values in between.
 */
Datum
spanner_next_values(PG_FUNCTION_ARGS)
{
	FuncCallContext *context;
	SkRange    *range;

	if (SRF_IS_FIRSTCALL())
	{
		int32		count = PG_GETARG_INT32(1);

		if (count < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("count of values must not be negative")));
		context = SRF_FIRSTCALL_INIT();
		context->max_calls = count;
		context->user_fctx =
			MemoryContextAllocZero(context->multi_call_memory_ctx,
								   sizeof(SkRange));
	}

	context = SRF_PERCALL_SETUP();
	range = context->user_fctx;
	if (context->call_cntr >= context->max_calls)
		SRF_RETURN_DONE(context);
	if (range->first == range->end)
	{
		SkAllocator *allocator =
			sk_allocator_by_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));

		check_call(fcinfo, allocator);
		*range = sk_draw(allocator,
						 context->max_calls - context->call_cntr, false);
	}
	SRF_RETURN_NEXT(context, Int64GetDatum(range->first++));
}

/*
 * spanner.reserve_block(name text, count bigint, OUT first_value bigint,
 * OUT last_value bigint)
 *
 * Draws "count" values, from 1 on, that follow each other without a gap.
 */
Datum
spanner_reserve_block(PG_FUNCTION_ARGS)
{
	int64		count = PG_GETARG_INT64(1);
	SkAllocator *allocator;
	SkRange		range;
	TupleDesc	tupdesc;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	if (count < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("size of a block must be positive")));
	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");

	allocator = sk_allocator_by_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	check_call(fcinfo, allocator);
	range = sk_draw(allocator, count, true);
	values[0] = Int64GetDatum(range.first);
	values[1] = Int64GetDatum(range.end - 1);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls)));
}

/* The allocator that the first argument names, checked for the call. */
static SkAllocator *
allocator_argument(FunctionCallInfo fcinfo)
{
	text	   *name = PG_GETARG_TEXT_PP(0);
	LastUsed   *last = fcinfo->flinfo->fn_extra;
	SkAllocator *allocator;

	if (last != NULL && last->epoch == sk_allocator_epoch &&
		last->length == VARSIZE_ANY_EXHDR(name) &&
		memcmp(last->allocator->row.name, VARDATA_ANY(name), last->length) == 0)
		allocator = last->allocator;
	else
		allocator = remember(fcinfo, sk_allocator_by_name(text_to_cstring(name)));
	check_call(fcinfo, allocator);
	return allocator;
}

static SkAllocator *
remember(FunctionCallInfo fcinfo, SkAllocator *allocator)
{
	LastUsed   *last = fcinfo->flinfo->fn_extra;

	if (last == NULL)
		last = fcinfo->flinfo->fn_extra =
			MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(LastUsed));
	last->epoch = allocator->epoch;
	last->allocator = allocator;
	last->length = strlen(allocator->row.name);
	return allocator;
}

static void
check_call(FunctionCallInfo fcinfo, SkAllocator *allocator)
{
	sk_check_writable(fcinfo->flinfo->fn_oid);
	sk_allocator_check_usage(allocator);
}
