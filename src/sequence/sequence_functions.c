/*-------------------------------------------------------------------------
 *
 * sequence_functions.c
 *	  Fetching values: spanner.nextval() and what belongs to it, and who may.
 *
 * Who may fetch is, as in core, who has USAGE or UPDATE on the sequence.  For a
 * former identity column core would ask for neither.  A statement that is planned
 * asks for nothing here if it writes the column (plan_fetch.c).  COPY and the like
 * evaluate the default alone: there, who may write the column of the table, or of
 * one below it, may fetch for it.
 *
 * src/sequence/sequence_functions.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "commands/sequence.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/sequence.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/tree_marks.h"

/* What was fetched ahead by one call in one execution of a statement. */
typedef struct SkBatch
{
	Oid			seqid;
	uint64		changes;		/* those of the binding, after the fetch */
	int			next;			/* the first that has not been returned */
	int			count;
	int64		values[FLEXIBLE_ARRAY_MEMBER];
} SkBatch;

/*
 * An answer that was yes; good for one user and one statement, until
 * relations, columns, functions or roles change.
 */
typedef struct Permission
{
	Oid			seqid;
	Oid			called;			/* the function, InvalidOid if none was asked
								 * for */
	Oid			user;
	TimestampTz statement;
} Permission;

/* The last answers; a sequence has one place among them. */
#define SK_PERMISSIONS 16

/*
 * The sequence that this session drew from last through this file, or what
 * looks like one: see set_last_value().
 */
static SkBinding *last_binding = NULL;
static SkBinding last_returned;
static Permission permissions[SK_PERMISSIONS];
static uint64 invalidations = 0;

PG_FUNCTION_INFO_V1(spanner_nextval);
PG_FUNCTION_INFO_V1(spanner_map_counter);
PG_FUNCTION_INFO_V1(spanner_unmap_value);
PG_FUNCTION_INFO_V1(spanner_ascending_nextval);
PG_FUNCTION_INFO_V1(spanner_currval);
PG_FUNCTION_INFO_V1(spanner_lastval);
PG_FUNCTION_INFO_V1(spanner_may_draw);

#ifdef USE_ASSERT_CHECKING
static bool is_value_of(const SkBinding *binding, int64 value, int64 counter);
#endif
static int64 fetch_again(SkBinding *binding, int64 *counter, bool is_checked);
static void keep_last_value(SkBinding *binding, int64 counter);
static bool gave_no_value(const SkBinding *last);
static int	hint_at_bits(const SkBinding *binding);
static void report_no_value(SkBinding *binding, int64 counter);
static void report_out_of_range(SkBinding *binding, int64 value);
static void report_exhausted(SkBinding *binding);
static SkBinding *call_binding(FunctionCallInfo fcinfo, Oid seqid);
static inline bool is_planned(FunctionCallInfo fcinfo);
static inline int64 map_counter(SkBinding *binding, int64 counter,
								bool is_checked);
static void set_last_value(SkBinding *binding, int64 value);
static void fetch_batch(SkBatch *batch, int first);
static int	compare_values(const void *a, const void *b);
static void check_fetch(Oid seqid, Oid called);
static pg_noinline void look_for_permission(Permission *wanted);
static void forget_permissions(Datum arg, int cacheid, uint32 hashvalue);
static bool may_write_column(Oid seqid, Oid user);
static bool may_write(Oid relid, AttrNumber column, Oid user);
static void forget_last_value(Node *command);
static bool has_core_identity(const RangeVar *table);

/*
 * sk_sequence_functions_init
 *		Register for invalidations of what privileges come from, and for commands
 *		that fetch.
 */
void
sk_sequence_functions_init(void)
{
	const int	caches[] = {RELOID, ATTNUM, PROCOID, AUTHOID, AUTHMEMROLEMEM, DATABASEOID};

	for (int i = 0; i < lengthof(caches); i++)
		CacheRegisterSyscacheCallback(caches[i], forget_permissions, (Datum) 0);
	sk_on_command(forget_last_value, NULL, NULL);
}

/* The binding of a sequence, remembered from call to call. */
static SkBinding *
call_binding(FunctionCallInfo fcinfo, Oid seqid)
{
	SkBinding  *binding = fcinfo->flinfo->fn_extra;

	if (binding == NULL || binding->seqid != seqid || !binding->valid)
	{
		binding = sk_binding_get(seqid);
		fcinfo->flinfo->fn_extra = binding;
	}
	return binding;
}

/*
 * Has the planner put the call in the place of one of nextval()?  Then the executor,
 * or may_draw(), has asked whether the user may fetch.  Who writes the call has asked
 * nobody.
 */
static inline bool
is_planned(FunctionCallInfo fcinfo)
{
	FuncExpr   *call = (FuncExpr *) fcinfo->flinfo->fn_expr;

	return call != NULL && IsA(call, FuncExpr) && call->location == SK_OUR_LOCATION;
}

/*
 * Map a counter that has just been fetched to the value to return, now and by
 * lastval.
 *
 * Fetches further counters as long as the value has to be skipped.  Runs for
 * every value.
 */
static inline int64
map_counter(SkBinding *binding, int64 counter, bool is_checked)
{
	int64		value = counter;

	if (binding->am != NULL &&
		!(sk_has_value(binding->options, counter) &&
		  binding->am->nextval(binding->options, counter, &value) &&
		  sk_is_in_range(binding->options, value) &&
		  !sk_is_skipped(binding->options, value)))
		value = fetch_again(binding, &counter, is_checked);

	/* different counters have different values, so that no value comes twice */
	Assert(binding->am == NULL || is_value_of(binding, value, counter));
	binding->last_counter = counter;
	binding->last_value = value;
	last_binding = binding;
	return value;
}

#ifdef USE_ASSERT_CHECKING
/* Is a value within the range of its bits, and does it lead back to the counter? */
static bool
is_value_of(const SkBinding *binding, int64 value, int64 counter)
{
	int64		back;

	return sk_is_in_range(binding->options, value) &&
		binding->am->unmap(binding->options, value, &back) && back == counter;
}
#endif

/*
 * Go on where a counter has no value, or one to be skipped.
 *
 * Returns the value, and the counter that gives it in *counter.  Raises an
 * error if there are no counters left, or after too many attempts.
 */
static int64
fetch_again(SkBinding *binding, int64 *counter, bool is_checked)
{
	Oid			seqid = binding->seqid;
	int64		value;

	for (int attempt = 1;; attempt++)
	{
		Assert(binding->seqid == seqid && binding->am != NULL);
		keep_last_value(binding, *counter);
		if (!sk_has_value(binding->options, *counter))
			report_no_value(binding, *counter);
		if (binding->am->nextval(binding->options, *counter, &value))
		{
			if (!sk_is_in_range(binding->options, value))
				report_out_of_range(binding, value);
			if (!sk_is_skipped(binding->options, value))
				return value;
		}
		if (attempt >= SK_MAX_ATTEMPTS)
			report_exhausted(binding);
		CHECK_FOR_INTERRUPTS();
		if (!is_checked)
			check_fetch(seqid, InvalidOid);
		*counter = nextval_internal(seqid, false);
		binding = sk_binding_get(seqid);
		if (binding->am == NULL)
			return *counter;
	}
}

/* A counter that gives no value leaves currval and lastval where they are. */
static void
keep_last_value(SkBinding *binding, int64 counter)
{
	binding->last_counter = counter;
	last_returned.last_value = last_binding != NULL ? last_binding->last_value : 0;
	last_returned.last_counter = counter;
	last_binding = &last_returned;
}

/* No value is 0 but that of a plain counter of 0. */
static bool
gave_no_value(const SkBinding *last)
{
	return last->last_value == 0 && last->last_counter != 0;
}

static int
hint_at_bits(const SkBinding *binding)
{
	return binding->options->bits >= 63 ? 0 :
		errhint("Give it more bits with spanner.alter_sequence(), and its column a wider type before that.");
}

static void
report_no_value(SkBinding *binding, int64 counter)
{
	if (counter < 1)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("counter %lld of sequence \"%s\" is not positive",
						(long long) counter, get_rel_name(binding->seqid)),
				 errhint("Restart the sequence with a counter of at least 1.")));
	ereport(ERROR,
			(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
			 errmsg("Sequence %s is exhausted",
					get_rel_name(binding->seqid)),
			 errdetail("The last counter that has a value of %d bits is %lld.",
					   binding->options->bits,
					   (long long) binding->options->max_counter),
			 hint_at_bits(binding)));
}

/* What an access method of another library must not give. */
static void
report_out_of_range(SkBinding *binding, int64 value)
{
	ereport(ERROR,
			(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
			 errmsg("sequence access method \"%s\" gave value %lld, which is out of range",
					binding->am->name, (long long) value),
			 errdetail("Values of %d bits are between 1 and %lld.",
					   binding->options->bits,
					   (long long) ((UINT64CONST(1) << binding->options->bits) - 2))));
}

static void
report_exhausted(SkBinding *binding)
{
	SkRange		skipped = binding->options->skip_range;

	ereport(ERROR,
			(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
			 errmsg("Sequence %s is exhausted", get_rel_name(binding->seqid)),
			 !sk_range_is_empty(skipped) ?
			 errdetail("%d counters in a row gave values in the skip range %lld to %lld.",
					   SK_MAX_ATTEMPTS, (long long) skipped.min,
					   (long long) skipped.max) :
			 errdetail("Its kind passed over %d counters in a row.",
					   SK_MAX_ATTEMPTS),
			 !sk_range_is_empty(skipped) ?
			 errhint("Make the skip range smaller, or use a new sequence with more bits.") :
			 hint_at_bits(binding)));
}

/*
 * Have currval and lastval return a value that was fetched before others.
 *
 * Both compare the counter that was fetched last, from the sequence or from any,
 * so they notice fetches that we know nothing of.  That counter stays, and the
 * value is replaced.  A command since the fetch may have made us forget which
 * sequence was the last.
 */
static void
set_last_value(SkBinding *binding, int64 value)
{
	const SkBinding *last = last_binding != NULL ? last_binding : binding;

	binding->last_value = value;
	last_returned.last_counter = last->last_counter;
	last_returned.last_value = value;
	last_binding = &last_returned;
}

/*
 * Fetch the values from "first" on.  That is not always all of them: the
 * transaction may change the binding while it inserts, and those that have not
 * been returned have to follow.
 */
static void
fetch_batch(SkBatch *batch, int first)
{
	Assert(first >= 0 && first < batch->count);
	/* there is nothing to return if this fails */
	batch->next = batch->count;
	for (int i = first; i < batch->count; i++)
	{
		int64		counter;

		CHECK_FOR_INTERRUPTS();
		counter = nextval_internal(batch->seqid, false);
		batch->values[i] = map_counter(sk_binding_get(batch->seqid), counter, true);
	}
	qsort(batch->values + first, batch->count - first, sizeof(int64),
		  compare_values);
	Assert(sk_relation_is_locked(batch->seqid, RowExclusiveLock));
	batch->changes = sk_binding_get(batch->seqid)->changes;
	batch->next = first;
}

static int
compare_values(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/*
 * Raise an error if the current user may not fetch from a sequence.
 *
 * "called" is the function that was called for it, which the user has to be
 * allowed to execute, besides core's nextval; InvalidOid means one that the
 * executor has checked.
 */
static void
check_fetch(Oid seqid, Oid called)
{
	Permission	wanted = {seqid, called, GetUserId(), GetCurrentStatementStartTimestamp()};
	Permission *last = &permissions[seqid % SK_PERMISSIONS];

	/*
	 * what was forgotten must not look like an answer, not even for sequence
	 * 0
	 */
	Assert(OidIsValid(wanted.user));
	if (last->seqid != wanted.seqid || last->user != wanted.user ||
		last->statement != wanted.statement ||
		(last->called != called && OidIsValid(called)))
		look_for_permission(&wanted);
}

/*
 * Apart from its caller, which runs for every row.  An invalidation that
 * arrives while we look leaves the answer good for this row only.  For an
 * identity column core asks for no function, either.  Its default calls core's
 * nextval, so whoever calls another function has written the call.
 */
static pg_noinline void
look_for_permission(Permission *wanted)
{
	uint64		before = invalidations;
	SkBinding  *binding = sk_binding_get(wanted->seqid);

	if (OidIsValid(wanted->called) && wanted->called != F_NEXTVAL)
	{
		sk_check_execute(wanted->called);
		sk_check_execute(F_NEXTVAL);
	}
	if (binding->options == NULL ||
		binding->options->identity == SK_IDENTITY_NONE ||
		!may_write_column(wanted->seqid, wanted->user))
	{
		sk_check_execute(F_NEXTVAL);
		if (pg_class_aclcheck(wanted->seqid, wanted->user,
							  ACL_USAGE | ACL_UPDATE) != ACLCHECK_OK)
			aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SEQUENCE,
						   get_rel_name(wanted->seqid));
	}
	if (before == invalidations)
		permissions[wanted->seqid % SK_PERMISSIONS] = *wanted;
}

static void
forget_permissions(Datum arg, int cacheid, uint32 hashvalue)
{
	memset(permissions, 0, sizeof(permissions));
	invalidations++;
}

/* By the table that owns the sequence, or by one below it. */
static bool
may_write_column(Oid seqid, Oid user)
{
	Oid			table;
	int32		attnum;
	char	   *column;
	ListCell   *lc;

	if (!sequenceIsOwned(seqid, DEPENDENCY_AUTO, &table, &attnum))
		return false;
	if (may_write(table, (AttrNumber) attnum, user))
		return true;
	column = get_attname(table, (AttrNumber) attnum, false);
	foreach(lc, find_all_inheritors(table, NoLock, NULL))
	{
		if (may_write(lfirst_oid(lc), get_attnum(lfirst_oid(lc), column), user))
			return true;
	}
	return false;
}

/*
 * An INSERT fetches if it does not mention the column, an UPDATE only if it
 * does.  Nobody may write what has been dropped since it was listed.
 */
static bool
may_write(Oid relid, AttrNumber column, Oid user)
{
	bool		missing = false;

	return pg_class_aclcheck_ext(relid, user, ACL_INSERT | ACL_UPDATE,
								 &missing) == ACLCHECK_OK ||
		pg_attribute_aclcheck_all_ext(relid, user, ACL_INSERT, ACLMASK_ANY,
									  &missing) == ACLCHECK_OK ||
		pg_attribute_aclcheck_ext(relid, column, user, ACL_UPDATE,
								  &missing) == ACLCHECK_OK;
}

/*
 * Have lastval return core's counter, until the next fetch that we know of,
 * after a command that may fetch for an identity column without being planned as
 * a query.
 */
static void
forget_last_value(Node *command)
{
	ListCell   *lc;
	ListCell   *lc2;

	if (IsA(command, CopyStmt))
	{
		if (((CopyStmt *) command)->is_from &&
			has_core_identity(((CopyStmt *) command)->relation))
			last_binding = NULL;
	}
	else if (IsA(command, AlterTableStmt))
		foreach(lc, ((AlterTableStmt *) command)->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);

		if (cmd->subtype != AT_AddColumn)
			continue;
		foreach(lc2, ((ColumnDef *) cmd->def)->constraints)
		{
			if (lfirst_node(Constraint, lc2)->contype == CONSTR_IDENTITY)
				last_binding = NULL;
		}
	}
}

static bool
has_core_identity(const RangeVar *table)
{
	Oid			relid = RangeVarGetRelid(table, NoLock, true);
	bool		result = false;
	HeapTuple	tuple;

	for (AttrNumber attnum = 1; !result; attnum++)
	{
		tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid),
								Int16GetDatum(attnum));
		if (!HeapTupleIsValid(tuple))
			break;
		result = ((Form_pg_attribute) GETSTRUCT(tuple))->attidentity != '\0';
		ReleaseSysCache(tuple);
	}
	return result;
}

/*
 * spanner.nextval(sequence regclass) returns bigint
 *
 * The value of the next counter.  On a sequence that is not bound, the same
 * as core's nextval.
 */
Datum
spanner_nextval(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	int64		counter;

	check_fetch(seqid, fcinfo->flinfo->fn_oid);
	counter = nextval_internal(seqid, false);
	/* core has locked it to the end of the transaction: no binding changes */
	Assert(sk_relation_is_locked(seqid, RowExclusiveLock));
	PG_RETURN_INT64(map_counter(call_binding(fcinfo, seqid), counter, true));
}

/*
 * spanner_internal.map_counter(counter bigint, sequence regclass) returns bigint
 *
 * What is left of nextval() in a plan.  Not strict, since it looks at its
 * arguments faster than the executor does.
 */
Datum
spanner_map_counter(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	PG_RETURN_INT64(map_counter(call_binding(fcinfo, PG_GETARG_OID(1)),
								PG_GETARG_INT64(0), is_planned(fcinfo)));
}

/*
 * spanner_internal.ascending_nextval(sequence regclass, rows integer) returns bigint
 *
 * Fetches "rows" values at its first call, and returns them in ascending order.
 * After that many calls it fetches again.
 */
Datum
spanner_ascending_nextval(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	int			count = PG_GETARG_INT32(1);
	SkBatch    *batch = fcinfo->flinfo->fn_extra;
	int64		value;

	if (count < 1 || count > SK_MAX_ASCENDING)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of rows must be between 1 and %d",
						SK_MAX_ASCENDING),
				 errhint("Use spanner.nextval() to get one value.")));
	if (!is_planned(fcinfo))
		check_fetch(seqid, InvalidOid);

	if (batch == NULL || batch->seqid != seqid || batch->count != count)
	{
		Size		size = offsetof(SkBatch, values) + sizeof(int64) * count;

		batch = batch == NULL ? MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, size) :
			repalloc(batch, size);
		batch->seqid = seqid;
		batch->next = batch->count = count;
		fcinfo->flinfo->fn_extra = batch;
	}
	/* all have been returned, or none is fetched yet */
	if (batch->next == count)
		fetch_batch(batch, 0);
	else if (batch->changes != sk_binding_get(seqid)->changes)
		fetch_batch(batch, batch->next);

	Assert(batch->next >= 0 && batch->next < batch->count);
	value = batch->values[batch->next++];
	set_last_value(sk_binding_get(seqid), value);
	PG_RETURN_INT64(value);
}

/*
 * spanner.currval(sequence regclass) returns bigint
 *
 * The value that this session drew last from the sequence, even if the
 * binding has changed since.  A counter that core's nextval gave after the
 * last call of spanner.nextval is returned as it is: its caller has got that.
 */
Datum
spanner_currval(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	SkBinding  *binding = call_binding(fcinfo, seqid);
	int64		counter;

	sk_check_execute(F_CURRVAL);
	counter = DatumGetInt64(DirectFunctionCall1(currval_oid,
												ObjectIdGetDatum(seqid)));
	if (binding->last_counter != counter)
		PG_RETURN_INT64(counter);
	if (gave_no_value(binding))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("currval of sequence \"%s\" is not yet defined in this session",
						get_rel_name(seqid))));
	PG_RETURN_INT64(binding->last_value);
}

/*
 * spanner.lastval() returns bigint
 *
 * The value that this session drew last from any sequence.  A counter that
 * core's nextval gave after the last call of spanner.nextval is returned as it is.
 */
Datum
spanner_lastval(PG_FUNCTION_ARGS)
{
	int64		counter;

	sk_check_execute(F_LASTVAL);
	counter = DatumGetInt64(DirectFunctionCall1(lastval, (Datum) 0));
	if (last_binding == NULL || last_binding->last_counter != counter)
		PG_RETURN_INT64(counter);
	if (gave_no_value(last_binding))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("lastval is not yet defined in this session")));
	PG_RETURN_INT64(last_binding->last_value);
}

/*
 * spanner_internal.unmap_value(value bigint, sequence regclass) returns bigint
 *
 * The counter that gives a value, whether fetched already or not; NULL if none
 * does.  On a sequence that is not bound, a value is its own counter.
 */
Datum
spanner_unmap_value(PG_FUNCTION_ARGS)
{
	int64		value = PG_GETARG_INT64(0);
	SkBinding  *binding = sk_binding_get(PG_GETARG_OID(1));
	int64		counter;

	if (binding->am == NULL)
		PG_RETURN_INT64(value);
	if (!binding->am->unmap(binding->options, value, &counter))
		PG_RETURN_NULL();
	PG_RETURN_INT64(counter);
}

/*
 * spanner_internal.may_draw(sequence regclass, called regprocedure) returns record
 *
 * NULL, or an error if the current user may not fetch from the sequence or not
 * execute the function.  Runs for every row.
 */
Datum
spanner_may_draw(PG_FUNCTION_ARGS)
{
	if (!PG_ARGISNULL(0) && !PG_ARGISNULL(1))
		check_fetch(PG_GETARG_OID(0), PG_GETARG_OID(1));
	PG_RETURN_NULL();
}
