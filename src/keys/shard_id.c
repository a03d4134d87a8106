/*-------------------------------------------------------------------------
 *
 * shard_id.c
 *	  SQL functions that compute shard ids.
 *
 * A shard id is the remainder of the fingerprint of the keys.  A single key
 * is hashed as its canonical text, "-" if it is NULL.  Several keys are
 * hashed as one string, in which each is written as its length, ":" and its
 * canonical text, or as "-"; no two lists of keys give the same string.
 *
 * shard_id() is leakproof: whether it fails may depend on the statement,
 * never on a value that the statement reads.  So a number of shards below 1
 * is refused if it is a constant, and counts as 1 otherwise.
 *
 * src/keys/shard_id.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "keys/canonical.h"
#include "keys/farmhash.h"

/* The keys of one call site of shard_id() or shard_ids(). */
typedef struct SkShardCall
{
	bool		variadic;		/* are the keys the elements of one array? */
	int			key_count;
	SkKeyKind  *kinds;
	Oid		   *element_types;	/* of arrays that mean their elements */
} SkShardCall;

/* What one of the keys may be. */
typedef struct SkKeySet
{
	int			count;
	Datum	   *values;
} SkKeySet;

/* Several keys as one string; it may grow beyond 1 GB. */
typedef struct SkKeyList
{
	char	   *data;
	Size		len;
	Size		size;
	char		space[256];
} SkKeyList;

PG_FUNCTION_INFO_V1(spanner_all_shards);
PG_FUNCTION_INFO_V1(spanner_is_hashable);
PG_FUNCTION_INFO_V1(spanner_shard_id);
PG_FUNCTION_INFO_V1(spanner_shard_id_support);
PG_FUNCTION_INFO_V1(spanner_shard_ids);

static SkShardCall *prepare_shard_call(FunctionCallInfo fcinfo);
static void check_shards(Node *shards);
static SkKeyKind require_key_kind(Oid type);
static int32 shard_of(uint64 fingerprint, int32 shards);
static void read_key_set(NullableDatum *key, Oid element_type, SkKeySet *set);
static ArrayType *list_shards(SkShardCall *call, const SkKeySet *sets,
							  int combinations, int32 shards);
static ArrayType *list_all_shards(int32 shards);
static int	compare_shards(const void *a, const void *b);
static uint64 fingerprint_keys(const SkKeyKind *kinds, NullableDatum *keys,
							   int key_count);
static uint64 fingerprint_array(NullableDatum *array, SkKeyKind kind);
static uint64 fingerprint_key(SkKeyKind kind, NullableDatum *key);
static void start_key_list(SkKeyList *list);
static void append_key(SkKeyList *list, SkKeyKind kind, NullableDatum *key);
static void append_bytes(SkKeyList *list, const char *data, Size len);
static uint64 fingerprint_key_list(SkKeyList *list);

/*
 * spanner.shard_id(shards integer, VARIADIC keys "any") returns integer
 *
 * abs(mod(fingerprint of the keys, shards)): from 0 to shards - 1, never
 * NULL.  A type that has no canonical text is an error, no value is.
 */
Datum
spanner_shard_id(PG_FUNCTION_ARGS)
{
	SkShardCall *call = fcinfo->flinfo->fn_extra;
	NullableDatum *keys = &fcinfo->args[1];
	int32		shards = PG_ARGISNULL(0) ? 1 : Max(PG_GETARG_INT32(0), 1);
	uint64		fingerprint;

	if (call == NULL)
		call = prepare_shard_call(fcinfo);

	if (call->variadic)
		fingerprint = fingerprint_array(&keys[0], call->kinds[0]);
	else
		fingerprint = fingerprint_keys(call->kinds, keys, call->key_count);
	PG_RETURN_INT32(shard_of(fingerprint, shards));
}

/*
 * spanner_internal.shard_ids(shards integer, VARIADIC keys "any") returns integer[]
 *
 * The shards, ascending, in which rows can be whose keys are equal to the
 * arguments; an array means any of its elements.  No key is equal to
 * NULL.  Where elements combine to more keys than there are shards, the
 * result is all shards, which is enough for the planner.
 */
Datum
spanner_shard_ids(PG_FUNCTION_ARGS)
{
	SkShardCall *call = fcinfo->flinfo->fn_extra;
	int32		shards = PG_ARGISNULL(0) ? 1 : Max(PG_GETARG_INT32(0), 1);
	SkKeySet   *sets;
	double		combinations = 1;

	if (call == NULL)
		call = prepare_shard_call(fcinfo);

	sets = palloc(call->key_count * sizeof(SkKeySet));
	for (int i = 0; i < call->key_count; i++)
	{
		read_key_set(&fcinfo->args[i + 1], call->element_types[i], &sets[i]);
		combinations *= sets[i].count;
	}
	if (combinations > shards && shards <= SK_MAX_SHARD_LIST)
		PG_RETURN_ARRAYTYPE_P(list_all_shards(shards));
	if (combinations > SK_MAX_COMBINATIONS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many combinations of keys"),
				 errdetail("The elements of the arrays combine to %.0f keys; the limit is %d.",
						   combinations, SK_MAX_COMBINATIONS)));
	PG_RETURN_ARRAYTYPE_P(list_shards(call, sets, (int) combinations, shards));
}

/*
 * spanner_internal.all_shards(shards integer) returns integer[]
 *
 * From 0 to shards - 1.  NULL for NULL; more than 65,536 are an error.
 */
Datum
spanner_all_shards(PG_FUNCTION_ARGS)
{
	int32		shards = PG_GETARG_INT32(0);

	if (shards < 1 || shards > SK_MAX_SHARD_LIST)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of shards must be between 1 and %d",
						SK_MAX_SHARD_LIST),
				 errhint("Use generate_series() for longer lists.")));
	PG_RETURN_ARRAYTYPE_P(list_all_shards(shards));
}

/*
 * spanner_internal.shard_id_support(request internal) returns internal
 *
 * Refuse at plan time what no row can make right.  Calls whose arguments are
 * all constants never come here: they are evaluated, which checks them.
 */
Datum
spanner_shard_id_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
	{
		FuncExpr   *call = ((SupportRequestSimplify *) request)->fcall;

		check_shards(linitial(call->args));
		for (int i = 1; i < list_length(call->args); i++)
		{
			Oid			type = exprType(list_nth(call->args, i));

			if (call->funcvariadic)
				type = get_base_element_type(type);
			require_key_kind(type);
		}
	}

	PG_RETURN_POINTER(NULL);
}

/*
 * spanner_internal.is_hashable(type oid, collation_id oid) returns boolean
 *
 * Can a column of that type and collation be a key?
 */
Datum
spanner_is_hashable(PG_FUNCTION_ARGS)
{
	Oid			type = PG_GETARG_OID(0);
	Oid			collation = PG_GETARG_OID(1);
	SkKeyKind	kind;

	/* it may have been dropped since it was listed */
	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
		PG_RETURN_BOOL(false);
	kind = sk_key_kind(type);
	PG_RETURN_BOOL(kind != SK_KEY_UNSUPPORTED && kind != SK_KEY_CSTRING &&
				   (!SearchSysCacheExists1(COLLOID, ObjectIdGetDatum(collation)) ||
					get_collation_isdeterministic(collation)));
}

static SkShardCall *
prepare_shard_call(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	int			key_count = PG_NARGS() - 1;
	bool		sets = flinfo->fn_addr == spanner_shard_ids;
	SkShardCall *call;

	if (flinfo->fn_expr && IsA(flinfo->fn_expr, FuncExpr))
		check_shards(linitial(((FuncExpr *) flinfo->fn_expr)->args));

	call = MemoryContextAlloc(flinfo->fn_mcxt, sizeof(SkShardCall));
	call->variadic = get_fn_expr_variadic(flinfo);
	call->key_count = key_count;
	/* the grammar of VARIADIC "any" */
	Assert(key_count >= 1 && (!call->variadic || key_count == 1));
	call->kinds = MemoryContextAlloc(flinfo->fn_mcxt,
									 key_count * sizeof(SkKeyKind));
	call->element_types = MemoryContextAllocZero(flinfo->fn_mcxt,
												 key_count * sizeof(Oid));
	for (int i = 0; i < key_count; i++)
	{
		Oid			type = get_fn_expr_argtype(flinfo, i + 1);
		Oid			element = InvalidOid;

		if (call->variadic || sets)
			element = get_base_element_type(type);
		if (sets)
			call->element_types[i] = element;
		call->kinds[i] =
			require_key_kind(OidIsValid(element) ? element : type);
	}

	flinfo->fn_extra = call;
	return call;
}

static void
check_shards(Node *shards)
{
	Const	   *constant = (Const *) shards;

	if (!IsA(shards, Const))
		return;

	if (constant->constisnull || DatumGetInt32(constant->constvalue) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of shards must be at least 1")));
}

static SkKeyKind
require_key_kind(Oid type)
{
	SkKeyKind	kind = sk_key_kind(type);

	if (kind == SK_KEY_UNSUPPORTED)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("cannot compute a shard id of type %s",
						format_type_be(type)),
				 errhint("Supported are %s and domains over them; cast other types to text.",
						 sk_key_type_names())));
	return kind;
}

static int32
shard_of(uint64 fingerprint, int32 shards)
{
	int32		result = abs((int32) ((int64) fingerprint % shards));

	Assert(result >= 0 && result < shards);
	return result;
}

/* Read what a key may be: one value, or the elements of an array. */
static void
read_key_set(NullableDatum *key, Oid element_type, SkKeySet *set)
{
	int16		length;
	bool		by_value;
	char		align;
	bool	   *nulls;
	int			count;

	set->count = 0;
	if (key->isnull)
		return;
	if (!OidIsValid(element_type))
	{
		set->values = &key->value;
		set->count = 1;
		return;
	}
	get_typlenbyvalalign(element_type, &length, &by_value, &align);
	Assert(ARR_ELEMTYPE(DatumGetArrayTypeP(key->value)) == element_type);
	deconstruct_array(DatumGetArrayTypeP(key->value), element_type,
					  length, by_value, align, &set->values, &nulls, &count);
	for (int i = 0; i < count; i++)
		if (!nulls[i])
			set->values[set->count++] = set->values[i];
}

/* The shards of all combinations, each once. */
static ArrayType *
list_shards(SkShardCall *call, const SkKeySet *sets, int combinations,
			int32 shards)
{
	NullableDatum *keys = palloc0(call->key_count * sizeof(NullableDatum));
	Datum	   *found = palloc(Max(combinations, 1) * sizeof(Datum));
	int			distinct = 0;

	Assert(combinations >= 0 && combinations <= SK_MAX_COMBINATIONS);
	for (int i = 0; i < combinations; i++)
	{
		int			rest = i;

		CHECK_FOR_INTERRUPTS();
		for (int j = 0; j < call->key_count; j++)
		{
			Assert(sets[j].count >= 1);
			keys[j].value = sets[j].values[rest % sets[j].count];
			rest /= sets[j].count;
		}
		found[i] = Int32GetDatum(shard_of(fingerprint_keys(call->kinds, keys,
														   call->key_count),
										  shards));
	}
	if (combinations > 1)
		qsort(found, combinations, sizeof(Datum), compare_shards);
	for (int i = 0; i < combinations; i++)
		if (i == 0 || found[i] != found[distinct - 1])
			found[distinct++] = found[i];
	return construct_array(found, distinct, INT4OID,
						   sizeof(int32), true, TYPALIGN_INT);
}

static ArrayType *
list_all_shards(int32 shards)
{
	Datum	   *list = palloc(shards * sizeof(Datum));

	Assert(shards >= 1 && shards <= SK_MAX_SHARD_LIST);
	for (int32 i = 0; i < shards; i++)
		list[i] = Int32GetDatum(i);
	return construct_array(list, shards, INT4OID,
						   sizeof(int32), true, TYPALIGN_INT);
}

static int
compare_shards(const void *a, const void *b)
{
	int32		left = DatumGetInt32(*(const Datum *) a);
	int32		right = DatumGetInt32(*(const Datum *) b);

	return (left > right) - (left < right);
}

static uint64
fingerprint_keys(const SkKeyKind *kinds, NullableDatum *keys, int key_count)
{
	SkKeyList	list;

	if (key_count == 1)
		return fingerprint_key(kinds[0], &keys[0]);

	start_key_list(&list);
	for (int i = 0; i < key_count; i++)
		append_key(&list, kinds[i], &keys[i]);
	return fingerprint_key_list(&list);
}

/* A NULL array is one NULL key; an empty one has an empty list of keys. */
static uint64
fingerprint_array(NullableDatum *array, SkKeyKind kind)
{
	ArrayType  *keys;
	ArrayIterator iterator;
	NullableDatum key;
	SkKeyList	list;

	if (array->isnull)
		return fingerprint_key(kind, array);

	keys = DatumGetArrayTypeP(array->value);
	iterator = array_create_iterator(keys, 0, NULL);
	if (ArrayGetNItems(ARR_NDIM(keys), ARR_DIMS(keys)) == 1)
	{
		array_iterate(iterator, &key.value, &key.isnull);
		return fingerprint_key(kind, &key);
	}

	start_key_list(&list);
	while (array_iterate(iterator, &key.value, &key.isnull))
	{
		CHECK_FOR_INTERRUPTS();
		append_key(&list, kind, &key);
	}
	return fingerprint_key_list(&list);
}

static uint64
fingerprint_key(SkKeyKind kind, NullableDatum *key)
{
	return key->isnull ? sk_farm_fingerprint64("-", 1) : sk_key_fingerprint(kind, key->value);
}

static void
start_key_list(SkKeyList *list)
{
	list->data = list->space;
	list->len = 0;
	list->size = sizeof(list->space);
}

static void
append_key(SkKeyList *list, SkKeyKind kind, NullableDatum *key)
{
	SkKeyText	key_text;
	char		length[MAXINT8LEN + 2];
	int			digits;

	if (key->isnull)
	{
		append_bytes(list, "-", 1);
		return;
	}

	sk_key_text(kind, key->value, &key_text);
	digits = pg_lltoa(key_text.len, length);
	length[digits++] = ':';
	append_bytes(list, length, digits);
	append_bytes(list, key_text.data, key_text.len);
	sk_key_text_release(&key_text);
}

static void
append_bytes(SkKeyList *list, const char *data, Size len)
{
	Assert(list->len <= list->size);
	if (len > list->size - list->len)
	{
		Size		size = Max(list->size * 2, list->len + len);

		if (list->data == list->space)
		{
			list->data = MemoryContextAllocHuge(CurrentMemoryContext, size);
			memcpy(list->data, list->space, list->len);
		}
		else
			list->data = repalloc_huge(list->data, size);
		list->size = size;
	}

	memcpy(list->data + list->len, data, len);
	list->len += len;
}

static uint64
fingerprint_key_list(SkKeyList *list)
{
	uint64		result = sk_farm_fingerprint64(list->data, list->len);

	if (list->data != list->space)
		pfree(list->data);
	return result;
}
