/*-------------------------------------------------------------------------
 *
 * state_functions.c
 *	  Looking at sequences: counter, binding, and the counter of a value.
 *
 * src/sequence/state_functions.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_sequence.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "sequence/arguments.h"
#include "sequence/binding.h"
#include "sequence/label.h"
#include "sequence/registry.h"

PG_FUNCTION_INFO_V1(spanner_get_internal_sequence_state);
PG_FUNCTION_INFO_V1(spanner_get_table_column_identity_state);
PG_FUNCTION_INFO_V1(spanner_describe_sequence);
PG_FUNCTION_INFO_V1(spanner_unmap_value);

/* Columns of spanner_internal.describe_sequence() */
enum
{
	COL_KIND,
	COL_BITS,
	COL_SKIP_RANGE_MIN,
	COL_SKIP_RANGE_MAX,
	COL_COUNTER,
	COL_USED,
	NUM_COLS
};

static bool internal_state(Oid seqid, int64 *counter);
static void describe_options(Oid seqid, const char *label, Datum *values,
							 bool *nulls);
static Datum percent_used(int64 drawn, int64 max_counter);
static RangeVar *split_column_identifier(const char *identifier, char **column);

/*
 * spanner.get_internal_sequence_state(sequence text) returns bigint
 *
 * The next counter, or NULL if none has been drawn yet.  The name is written
 * as in SQL, with quotes and schema where they are needed.
 */
Datum
spanner_get_internal_sequence_state(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	RangeVar   *range = sk_make_range_var(sk_split_name(name), name);
	Oid			seqid = RangeVarGetRelid(range, NoLock, true);
	int64		counter;

	if (!OidIsValid(seqid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("Sequence not found: %s", name),
				 errhint("Qualify the name with its schema if that is not in the search path.")));
	sk_sequence_check_relkind(seqid);
	if (pg_class_aclcheck(seqid, GetUserId(),
						  ACL_SELECT | ACL_USAGE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SEQUENCE, range->relname);

	if (!internal_state(seqid, &counter))
		PG_RETURN_NULL();
	PG_RETURN_INT64(counter);
}

/*
 * spanner.get_table_column_identity_state(table_column text) returns bigint
 *
 * The same for the sequence that a column owns.  The argument is
 * '[schema.]table.column'.
 */
Datum
spanner_get_table_column_identity_state(PG_FUNCTION_ARGS)
{
	char	   *identifier = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *column;
	RangeVar   *range = split_column_identifier(identifier, &column);
	Oid			table = RangeVarGetRelid(range, NoLock, true);
	Oid			seqid;
	int64		counter;

	if (!OidIsValid(table))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("Table not found for the GET_TABLE_COLUMN_IDENTITY_STATE function: %s",
						range->relname),
				 errhint("Qualify the name with its schema if that is not in the search path.")));
	seqid = sk_column_sequence(table, get_attnum(table, column));
	if (!OidIsValid(seqid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("Identity column not found in table %s: %s",
						range->relname, column)));
	if (pg_class_aclcheck(seqid, GetUserId(),
						  ACL_SELECT | ACL_USAGE) != ACLCHECK_OK &&
		pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, range->relname);

	if (!internal_state(seqid, &counter))
		PG_RETURN_NULL();
	PG_RETURN_INT64(counter);
}

/*
 * spanner_internal.describe_sequence(sequence regclass) returns record
 *
 * What the view spanner.sequences shows.  Fields that are not known are NULL:
 * all but the kind if the method's library is not loaded, the counter without
 * the right to see it, everything if the sequence is gone.
 */
Datum
spanner_describe_sequence(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	Relation	rel;
	char	   *stored;
	SkLabel    *label = NULL;
	const char *problem;
	TupleDesc	tupdesc;
	Datum		values[NUM_COLS] = {0};
	bool		nulls[NUM_COLS];

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	memset(nulls, true, sizeof(nulls));

	/* it may have been dropped since it was listed */
	rel = try_relation_open(seqid, AccessShareLock);
	if (rel == NULL)
		PG_RETURN_NULL();
	if (rel->rd_rel->relkind != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a sequence",
						RelationGetRelationName(rel)),
				 errhint("Name a sequence; the view spanner.sequences lists them.")));

	stored = sk_sequence_label(seqid);
	if (stored != NULL)
		label = sk_label_parse(stored, &problem);
	if (label != NULL)
	{
		values[COL_KIND] = CStringGetTextDatum(label->kind);
		nulls[COL_KIND] = false;
		if (sk_sequence_am_find(label->kind) != NULL)
			describe_options(seqid, stored, values, nulls);
	}
	relation_close(rel, AccessShareLock);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls)));
}

/*
 * spanner_internal.unmap_value(value bigint, sequence regclass) returns bigint
 *
 * The counter that gives a value, whether drawn already or not; NULL if none
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

static void
describe_options(Oid seqid, const char *label, Datum *values, bool *nulls)
{
	SkSequenceOptions *options = sk_kind_from_label(label, 63)->options;
	int64		next;
	bool		used;

	values[COL_BITS] = Int32GetDatum(options->bits);
	nulls[COL_BITS] = false;
	if (options->has_skip_range)
	{
		values[COL_SKIP_RANGE_MIN] = Int64GetDatum(options->skip_range_min);
		values[COL_SKIP_RANGE_MAX] = Int64GetDatum(options->skip_range_max);
		nulls[COL_SKIP_RANGE_MIN] = nulls[COL_SKIP_RANGE_MAX] = false;
	}

	if (pg_class_aclcheck(seqid, GetUserId(),
						  ACL_SELECT | ACL_USAGE) != ACLCHECK_OK ||
		!sk_sequence_state(seqid, &next, &used))
		return;
	values[COL_USED] = percent_used(next - 1, options->max_counter);
	nulls[COL_USED] = false;
	if (used)
	{
		values[COL_COUNTER] = Int64GetDatum(next);
		nulls[COL_COUNTER] = false;
	}
}

/*
 * The share of its counters that a sequence has drawn, as a numeric in percent.
 *
 * It has two digits after the point, or as many as two digits of the share
 * need: what has been used never reads as 0.  Nor does it read as 100 while a
 * counter is left.
 */
static Datum
percent_used(int64 drawn, int64 max_counter)
{
	double		percent = 100.0 * (double) drawn / (double) max_counter;
	int			digits = 2;

	if (drawn >= max_counter)
		percent = 100;
	else if (percent > 99.99)
		percent = 99.99;
	else if (percent > 0)
		digits = Max(2, 1 - (int) floor(log10(percent)));
	return DirectFunctionCall3(numeric_in,
							   CStringGetDatum(psprintf("%.*f", digits, percent)),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/*
 * The state as Spanner shows it: it exists from the first use on, and a restart
 * then sets it.  Returns false if it is NULL.
 */
static bool
internal_state(Oid seqid, int64 *counter)
{
	bool		used;

	return sk_sequence_state(seqid, counter, &used) && used;
}

/* Take '[schema.]table.column' apart. */
static RangeVar *
split_column_identifier(const char *identifier, char **column)
{
	List	   *names = sk_split_name(identifier);

	if (list_length(names) < 2 || list_length(names) > 3)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("The column identifier's format is invalid: %s. It should be either \"<schema>.<table>.<column>\" or \"<table>.<column>\".",
						identifier),
				 errhint("Quote names that contain a dot.")));
	*column = strVal(llast(names));
	return makeRangeVarFromNameList(list_truncate(names,
												  list_length(names) - 1));
}
