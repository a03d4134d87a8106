/*-------------------------------------------------------------------------
 *
 * sequence_commands.c
 *	  What users call to create and to change sequences, and setval.
 *
 * Each fills in a change; sequence_change.c does the rest.
 *
 * Locking: see sk_sequence_lock().  ShareRowExclusiveLock lets readers of the
 * table in and keeps writers out; an identity column takes AccessExclusiveLock
 * instead, since its default changes.  setval looks first, and keeps nobody out
 * where nothing has to change.  Where something has, its lock on the sequence waits
 * for those who have fetched and not inserted yet.
 *
 * src/sequence/sequence_commands.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/sequence.h"
#include "spi/command_hooks.h"
#include "spi/owner_rights.h"
#include "spi/relation_query.h"
#include "spi/run_command.h"

/* Kind of a converted column where neither call nor setting names one. */
#define SK_DEFAULT_KIND "bit_reversed_positive"

/*
 * The counter skips no more than this part of all counters, or 16 counters for
 * each stored value.
 */
#define SK_MAX_ADVANCE 16

/* To need a skip range costs as much as this part of all counters. */
#define SK_SKIP_COST 1024

PG_FUNCTION_INFO_V1(spanner_create_sequence);
PG_FUNCTION_INFO_V1(spanner_alter_sequence);
PG_FUNCTION_INFO_V1(spanner_convert_column);
PG_FUNCTION_INFO_V1(spanner_can_convert);
PG_FUNCTION_INFO_V1(spanner_column_sequence);
PG_FUNCTION_INFO_V1(spanner_read_kind);
PG_FUNCTION_INFO_V1(spanner_sync_sequence);
PG_FUNCTION_INFO_V1(spanner_setval);

/*
 * The options among the arguments, by position; the kind is the second argument
 * of both.
 */
#define SK_RESTART "restart"
static const char *const create_options[] = {
	NULL, NULL, SK_RESTART, "skip_range_min", "skip_range_max", "bits", "stripes", NULL
};
static const char *const alter_options[] = {
	NULL, NULL, "skip_range_min", "skip_range_max", NULL, SK_RESTART, "bits", "stripes"
};

/* What is asked of a sequence that skips stored values. */
typedef enum SkGoal
{
	SK_GOES_FORWARD,
	SK_GOES_BACK,				/* as well as forward */
	SK_CONVERTS					/* forward, at any cost that leaves enough */
} SkGoal;

/* How a sequence gets past stored values: its counter moves, and it skips a range. */
typedef struct SkWay
{
	int64		last;			/* counter to go on after */
	int64		next;			/* the first one of the sequence after that */
	SkRange		skipped;		/* this range is needed as well */
	bool		is_spread;		/* not all that is known could be skipped */
	bool		is_good;		/* it leaves enough counters and values */
	double		cost;			/* counters and values that are lost */
} SkWay;

static void take_kind(SkSequenceChange *change, const char *kind);
static void take_arguments(SkSequenceChange *change, FunctionCallInfo fcinfo,
						   const char *const *options);
static Oid	create_sequence(RangeVar *name, SkSequenceChange *change,
							bool if_not_exists);
static void check_start_counter(int64 counter);
static Oid	make_core_sequence(Oid namespace, const char *name,
							   const SkSequenceChange *change);
static Oid	named_column(FunctionCallInfo fcinfo, AttrNumber *attnum);
static AttrNumber integer_attribute(Oid table, const char *name);
static SkSequence *lock_column(FunctionCallInfo fcinfo, bool changes_kind);
static void lock_columns(Oid seqid, Oid table, LOCKMODE mode);
static char *stored_values(const SkSequence *seq, List **relids);
static void check_plain(const SkSequence *seq);
static void report_lock(const SkSequence *seq);
static char *index_on(Oid table, AttrNumber column);
static SkLabel *wanted_label(FunctionCallInfo fcinfo, const SkSequence *seq);
static int64 largest_stored(const SkSequence *seq);
static void report_remaining(const SkSequence *seq, int64 before);
static bool is_passed(const SkSequence *seq, SkGoal goal, const SkWay *way);
static bool sync_stored(Oid seqid, SkGoal goal, int64 known);
static void skip_stored_values(SkSequence *seq, SkGoal goal);
static bool plan_way(SkSequence *seq, SkGoal goal, int64 known, SkWay *way);
static void take_way(SkSequence *seq, const SkWay *way);
static SkRange known_values(const SkSequence *seq, int64 known, SkWay *way);
static void find_way(const SkSequence *seq, SkGoal goal, SkWay *best);
static void judge_way(const SkSequence *seq, SkWay way, int64 others_min,
					  SkGoal goal, int64 count, SkWay *best);
static int64 last_counter(const SkSequence *seq, int64 limit);
static char *counted_values(const SkSequence *seq, List **relids);
static bool may_look(List *columns);
static int64 next_counter(const SkSequence *seq, int64 counter);
static void check_bounds(Oid seqid, const FormData_pg_sequence *form,
						 int64 value);
static void restart(Oid seqid);
static bool is_plain(Oid seqid);
static Datum core_setval(FunctionCallInfo fcinfo);

/* Take over a kind, which may come with options as in a label. */
static void
take_kind(SkSequenceChange *change, const char *kind)
{
	SkLabel    *label = sk_label_parse_kind(kind);

	change->label = *label;
	if (strcmp(label->kind, SK_LOCAL_KIND) != 0 || label->options != NIL)
		(void) sk_sequence_am_get(label->kind, false);
}

/* Take over the arguments that are not NULL: the kind, and options. */
static void
take_arguments(SkSequenceChange *change, FunctionCallInfo fcinfo,
			   const char *const *options)
{
	if (!PG_ARGISNULL(1))
		take_kind(change, text_to_cstring(PG_GETARG_TEXT_PP(1)));
	for (int i = 2; i < PG_NARGS(); i++)
	{
		int64		value;

		if (options[i] == NULL || PG_ARGISNULL(i))
			continue;
		value = get_fn_expr_argtype(fcinfo->flinfo, i) == INT4OID ?
			PG_GETARG_INT32(i) : PG_GETARG_INT64(i);
		if (strcmp(options[i], SK_RESTART) != 0)
			sk_label_set_int64(&change->label, options[i], value);
		else
		{
			change->restarts = true;
			change->counter = value;
		}
	}
}

/* Create a sequence of the kind that "change" has to name. */
static Oid
create_sequence(RangeVar *name, SkSequenceChange *change, bool if_not_exists)
{
	Oid			namespace = RangeVarGetCreationNamespace(name);
	Oid			seqid = get_relname_relid(name->relname, namespace);

	if (OidIsValid(seqid) && !if_not_exists)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", name->relname)));
	/* what is there stays as it is, so nothing of the kind matters */
	if (OidIsValid(seqid))
	{
		sk_sequence_check_relkind(seqid);
		ereport(NOTICE,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists, skipping",
						name->relname)));
		return seqid;
	}
	if (change->label.kind == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("The sequence does not have a valid sequence kind. Please specify the sequence kind explicitly or set the database option `default_sequence_kind`."),
				 errhint("Name a kind, such as BIT_REVERSED_POSITIVE, or set spanner.default_sequence_kind.")));
	if (change->restarts)
		check_start_counter(change->counter);

	(void) sk_kind_make(&change->label, 63);
	seqid = make_core_sequence(namespace, name->relname, change);
	Assert(OidIsValid(seqid));
	change->restarts = false;
	change->is_new = true;
	sk_change_sequence(sk_sequence_read(seqid), change);
	return seqid;
}

/* Raise Spanner's error for a counter that is not positive. */
static void
check_start_counter(int64 counter)
{
	if (counter < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("`start_with_counter` has to be a positive INT64 number")));
}

/*
 * Run CREATE SEQUENCE, as an unbound sequence whatever the default kind is.
 */
static Oid
make_core_sequence(Oid namespace, const char *name, const SkSequenceChange *change)
{
	StringInfoData command;
	int			nest_level;

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE SEQUENCE %s",
					 quote_qualified_identifier(get_namespace_name(namespace), name));
	if (change->restarts)
		appendStringInfo(&command, " START WITH " INT64_FORMAT, change->counter);

	nest_level = NewGUCNestLevel();
	(void) set_config_option("spanner.default_sequence_kind", "",
							 PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	sk_run_command(command.data);
	AtEOXact_GUC(true, nest_level);
	return get_relname_relid(name, namespace);
}

/*
 * The sequence of the column that the first two arguments name.  Raises an error
 * unless it is an integer column, not inherited, of a table of the current
 * user's, that owns a sequence.
 */
static Oid
named_column(FunctionCallInfo fcinfo, AttrNumber *attnum)
{
	Oid			table;
	char	   *name;
	Oid			result;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("arguments \"relation\" and \"column_name\" must not be null")));
	table = PG_GETARG_OID(0);
	name = NameStr(*PG_GETARG_NAME(1));
	sk_check_own_table(table);
	*attnum = integer_attribute(table, name);

	result = sk_column_sequence(table, *attnum);
	if (!OidIsValid(result))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of table \"%s\" has no sequence of its own",
						name, get_rel_name(table)),
				 errhint("Give it one with ALTER SEQUENCE ... OWNED BY, or with ALTER TABLE ... ADD GENERATED BY DEFAULT AS IDENTITY.")));
	return result;
}

/* The number of a column.  Raises an error unless it is an integer, not inherited. */
static AttrNumber
integer_attribute(Oid table, const char *name)
{
	HeapTuple	tuple = SearchSysCacheAttName(table, name);
	Form_pg_attribute att;
	AttrNumber	result;

	result = HeapTupleIsValid(tuple) ? ((Form_pg_attribute) GETSTRUCT(tuple))->attnum : InvalidAttrNumber;
	if (result <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of table \"%s\" does not exist",
						name, get_rel_name(table)),
				 errhint("Its columns are %s.",
						 sk_query_text(psprintf("SELECT COALESCE(pg_catalog.string_agg(pg_catalog.quote_ident(attname), ', ' ORDER BY attnum), 'none')"
												" FROM pg_catalog.pg_attribute WHERE attrelid OPERATOR(pg_catalog.=) %u::pg_catalog.oid"
												" AND attnum OPERATOR(pg_catalog.>) 0 AND NOT attisdropped", table)))));
	att = (Form_pg_attribute) GETSTRUCT(tuple);
	if (att->atttypid != INT2OID && att->atttypid != INT4OID && att->atttypid != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of table \"%s\" is of type %s",
						name, get_rel_name(table),
						format_type_be(att->atttypid)),
				 errhint("The column must be smallint, integer or bigint.")));
	if (att->attinhcount > 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("column \"%s\" of table \"%s\" is inherited",
						name, get_rel_name(table)),
				 errhint("Name the table that it is inherited from.")));
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Open the sequence of the column that the first two arguments name.
 *
 * Keeps writers of the table, and whoever fetches from the sequence, out;
 * readers of the table are let in unless its kind changes.  Other tables that
 * store values of the sequence are locked as well.
 */
static SkSequence *
lock_column(FunctionCallInfo fcinfo, bool changes_kind)
{
	AttrNumber	attnum;
	Oid			seqid = named_column(fcinfo, &attnum);
	Oid			table = PG_GETARG_OID(0);
	Oid			owner;
	int32		column;
	SkSequence *seq;
	bool		is_same;
	ListCell   *lc;

	/* tables are locked before the sequence, as by those who write */
	lock_columns(seqid, table, ShareRowExclusiveLock);
	if (!sk_sequence_owner(seqid, &owner, &column))
	{
		LockRelationOid(table, ShareRowExclusiveLock);
		sk_check_own_table(table);
		(void) find_all_inheritors(table, ShareRowExclusiveLock, NULL);
	}
	seq = sk_sequence_lock(seqid, ShareRowExclusiveLock, changes_kind);
	/* nobody owns it, but this column is the one that it fills */
	if (!OidIsValid(seq->table) && sk_column_sequence(table, attnum) == seqid)
		sk_sequence_fill(seq, table, attnum);
	is_same = seq->table == table && seq->column == attnum;
	foreach(lc, seq->stored)
		is_same &= sk_relation_is_locked(((ObjectAddress *) lfirst(lc))->objectId,
										 ShareRowExclusiveLock);
	if (!is_same)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("sequence of column \"%s\" was changed concurrently",
						NameStr(*PG_GETARG_NAME(1))),
				 errhint("Try again.")));
	return seq;
}

/* Lock the tables that store values of a sequence, and those below them, but for one. */
static void
lock_columns(Oid seqid, Oid table, LOCKMODE mode)
{
	ListCell   *lc;

	foreach(lc, sk_storing_columns(seqid, true))
	{
		Oid			relid = ((ObjectAddress *) lfirst(lc))->objectId;

		if (relid == table)
			continue;
		LockRelationOid(relid, mode);
		/* a row can be written into what is below it */
		(void) find_all_inheritors(relid, mode, NULL);
	}
}

/* A query for the stored values v of a sequence; sets *relids to the tables that it reads. */
static char *
stored_values(const SkSequence *seq, List **relids)
{
	StringInfoData query;
	ListCell   *lc;

	initStringInfo(&query);
	*relids = NIL;
	foreach(lc, seq->stored)
	{
		ObjectAddress *column = lfirst(lc);

		appendStringInfo(&query, "%sSELECT CAST(%s AS pg_catalog.int8) AS v FROM %s",
						 query.len > 0 ? " UNION ALL " : "",
						 quote_identifier(get_attname(column->objectId,
													  column->objectSubId, false)),
						 sk_qualified_name(column->objectId));
		*relids = list_append_unique_oid(*relids, column->objectId);
	}
	return query.data;
}

/* Raise an error unless a sequence can be converted. */
static void
check_plain(const SkSequence *seq)
{
	if (seq->kind != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("sequence \"%s\" already has a kind",
						get_rel_name(seq->seqid)),
				 errhint("Use spanner.alter_sequence() to change its options.")));
	sk_sequence_check_mappable(seq->seqid);
}

/* Report what a conversion locks and reads for the largest value. */
static void
report_lock(const SkSequence *seq)
{
	bool		is_identity = seq->identity != SK_IDENTITY_NONE;
	char	   *name = get_attname(seq->table, seq->column, false);
	char	   *index = NULL;
	char	   *reads;
	int64		size = 0;
	bool		has_all = true;
	ListCell   *lc;

	foreach(lc, find_all_inheritors(seq->table, AccessShareLock, NULL))
	{
		Oid			relid = lfirst_oid(lc);
		char	   *found = index_on(relid, get_attnum(relid, name));

		if (relid == seq->table)
			index = found;
		if (found != NULL || get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
			continue;
		has_all = false;
		size += DatumGetInt64(DirectFunctionCall2(pg_relation_size, ObjectIdGetDatum(relid),
												  CStringGetTextDatum("main")));
	}
	if (has_all && index != NULL)
		reads = psprintf("The largest value is read from index \"%s\".", index);
	else if (has_all)
		reads = "The largest value is read from indexes of the partitions.";
	else
		reads = psprintf("Its %s are read for the largest value, since there is no index on the column.",
						 TextDatumGetCString(DirectFunctionCall1(pg_size_pretty, Int64GetDatum(size))));
	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg("table \"%s\" will be locked in %s mode",
					get_rel_name(seq->table),
					is_identity ? "ACCESS EXCLUSIVE" : "SHARE ROW EXCLUSIVE"),
			 is_identity ?
			 errdetail("%s No row is rewritten. Nobody can read or write the table meanwhile.",
					   reads) :
			 errdetail("%s No row is rewritten. Nobody can write to the table meanwhile.",
					   reads)));
}

/* An index of a table itself that has the largest value of a column at its end, or NULL. */
static char *
index_on(Oid table, AttrNumber column)
{
	return sk_query_text(psprintf("SELECT c.relname FROM pg_catalog.pg_index i"
								  " JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid"
								  " WHERE i.indrelid OPERATOR(pg_catalog.=) %u"
								  " AND c.relam OPERATOR(pg_catalog.=) %u"
								  " AND i.indkey[0] OPERATOR(pg_catalog.=) %d"
								  " AND i.indisvalid AND i.indpred IS NULL"
								  " ORDER BY i.indexrelid DESC LIMIT 1",
								  table, BTREE_AM_OID, column));
}

/* The label of a converted column, but for the values that are taken. */
static SkLabel *
wanted_label(FunctionCallInfo fcinfo, const SkSequence *seq)
{
	char	   *kind = sk_default_sequence_kind(true);
	SkLabel    *label;

	if (!PG_ARGISNULL(2))
		kind = text_to_cstring(PG_GETARG_TEXT_PP(2));
	else if (kind == NULL)
		kind = SK_DEFAULT_KIND;

	label = sk_label_parse_kind(kind);
	sk_fit_label(label, seq,
				 sk_type_width(get_atttype(seq->table, seq->column)));
	if (!PG_ARGISNULL(3))
		sk_label_set_int64(label, "bits", PG_GETARG_INT32(3));
	if (!PG_ARGISNULL(4))
		sk_label_set_int64(label, "stripes", PG_GETARG_INT32(4));
	return label;
}

/*
 * The largest value that a row has; 0 if none is positive.
 *
 * Where a column has an index, that takes one descent.
 */
static int64
largest_stored(const SkSequence *seq)
{
	SkRelationQuery query = {.all_rows = true};
	StringInfoData text;
	int64		largest;
	ListCell   *lc;

	initStringInfo(&text);
	foreach(lc, seq->stored)
	{
		ObjectAddress *column = lfirst(lc);

		appendStringInfo(&text, "%s(SELECT pg_catalog.max(%s) FROM %s)::pg_catalog.int8",
						 text.len == 0 ? "SELECT GREATEST(" : ", ",
						 quote_identifier(get_attname(column->objectId,
													  column->objectSubId, false)),
						 sk_qualified_name(column->objectId));
		query.relids = list_append_unique_oid(query.relids, column->objectId);
	}
	appendStringInfoChar(&text, ')');
	query.text = text.data;

	largest = sk_query_number(&query);
	return Max(largest, 0);
}

/* Report how many values a narrow column has left, and that its counter begins anew. */
static void
report_remaining(const SkSequence *seq, int64 before)
{
	const SkSequenceOptions *options = seq->kind->options;
	int64		max_counter = options->max_counter;
	double		left = (double) sk_remaining_values(max_counter, options->given,
													options->skip_range);

	if (before > max_counter / 2 && seq->next < before)
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("the counter of sequence \"%s\" begins again at %lld",
						get_rel_name(seq->seqid), (long long) seq->next),
				 errdetail("Of the %lld counters that its values have, it would otherwise leave %lld unused.",
						   (long long) max_counter, (long long) before - 1)));
	/* as many of the remaining counters are skipped as of all, more or less */
	if (options->bits < 63)
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("%s has %lld values left", sk_describe_column(seq),
						(long long) (left / max_counter * (max_counter - seq->next + 1)))));
}

/*
 * Do others lead a sequence that far?  While nobody is kept out, rows can come
 * after the counter was read, and before they are looked at.  Their values seem
 * to lie ahead, but have been fetched.
 */
static bool
is_passed(const SkSequence *seq, SkGoal goal, const SkWay *way)
{
	return goal == SK_GOES_FORWARD && sk_range_is_empty(way->skipped) &&
		way->next <= sk_sequence_read(seq->seqid)->next;
}

/*
 * Have a bound sequence never return a stored value again, nor one up to
 * "known", of which the caller knows.
 *
 * Its counter is set back only if it may, and then as far as values are stored.
 * Returns false where the values cannot be looked at.  The caller has checked
 * that the current user may set the sequence.
 *
 * Fixtures and loads call this again and again, in transactions that have
 * fetched.  So it first looks, under a lock that keeps nobody out.  Only if
 * something has to change does it wait for those who have fetched, and look
 * again.
 */
static bool
sync_stored(Oid seqid, SkGoal goal, int64 known)
{
	List	   *columns;
	SkSequence *seq;
	SkWay		way;
	SkOwnerScope scope;

	lock_columns(seqid, InvalidOid, AccessShareLock);
	seq = sk_sequence_read(seqid);
	columns = seq->stored;
	if (!may_look(columns))
		return false;
	sk_owner_enter(&scope, seqid);
	/* it may have lost its kind since this was planned */
	if (seq->kind != NULL && plan_way(seq, goal, known, &way) &&
		!is_passed(seq, goal, &way))
	{
		seq = sk_sequence_lock(seqid, NoLock, false);
		/* others the caller may not look at */
		seq->stored = columns;
		if (seq->kind != NULL && plan_way(seq, goal, known, &way))
			take_way(seq, &way);
	}
	sk_owner_exit(&scope);
	if (seq->kind != NULL && way.is_spread)
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("setval leaves the counter of sequence \"%s\" alone",
						get_rel_name(seqid)),
				 errdetail("The value %lld is larger than all that are stored, and too few would be left after it.",
						   (long long) known),
				 errhint("Run spanner.sync_sequence() once rows with such values are stored.")));
	return true;
}

/*
 * Have a sequence that is locked skip the values that are stored.  Sets
 * seq->next to the next counter.
 */
static void
skip_stored_values(SkSequence *seq, SkGoal goal)
{
	SkWay		way;

	/*
	 * what others fetch meanwhile could lie ahead of the counter that is
	 * found
	 */
	Assert(sk_relation_is_locked(seq->seqid, ShareRowExclusiveLock));
	if (plan_way(seq, goal, 0, &way))
		take_way(seq, &way);
}

/*
 * Find out how a sequence gets past stored values.  Returns false if it need not
 * change.
 */
static bool
plan_way(SkSequence *seq, SkGoal goal, int64 known, SkWay *way)
{
	memset(way, 0, sizeof(SkWay));
	sk_find_nodes(seq);
	if (seq->kind == NULL)
		way->last = last_counter(seq, seq->last_of_nodes > 0 ?
								 SK_CITUS_RANGE - 1 : PG_INT64_MAX);
	else
		find_way(seq, goal, way);
	/* nothing lies ahead: perhaps less has been given than the counter says */
	if (goal == SK_GOES_BACK && seq->stored != NIL && seq->kind != NULL &&
		way->last < seq->next)
		way->last = last_counter(seq, seq->next - 1);

	/* where START has moved, the counter need not be one that it leads to */
	way->next = seq->next;
	if (goal == SK_GOES_BACK || way->last >= seq->next)
		way->next = next_counter(seq, way->last);
	if (known > 0)
		way->skipped = sk_range_cover(way->skipped, known_values(seq, known, way));
	return way->next != seq->next || !sk_range_is_empty(way->skipped);
}

static void
take_way(SkSequence *seq, const SkWay *way)
{
	SkSequenceChange change = {0};

	change.for_rows = true;
	change.counter = way->next;
	change.restarts = change.counter != seq->next;
	if (!sk_range_is_empty(way->skipped))
		sk_label_set_range(&change.label, "given",
						   sk_range_cover(way->skipped, seq->given));
	sk_change_sequence(seq, &change);
}

/*
 * The values from 1 to one that is larger than all stored ones, of which the
 * caller knows: rows will come, or a block of ids is reserved.  They are skipped
 * where that costs little.  Of values that are spread it would cost most of
 * them.
 */
static SkRange
known_values(const SkSequence *seq, int64 known, SkWay *way)
{
	const SkSequenceOptions *options = seq->kind->options;
	int64		counter;

	/* one that the sequence has given is nothing new */
	if (sk_is_skipped(options, known) ||
		(seq->kind->am->unmap(options, known, &counter) && counter < seq->next) ||
		(seq->stored != NIL && known <= largest_stored(seq)))
		return sk_range(0, 0);
	way->is_spread = known > options->max_counter / SK_MAX_ADVANCE;
	return way->is_spread ? sk_range(0, 0) : sk_range(1, known);
}

/*
 * Of the stored values that lie ahead, some are skipped by moving the counter
 * past theirs, the others by a range.  Each counter that is left out and each
 * value in the range is lost, so the cheapest way is taken: of rows that the
 * sequence has filled, counters lie side by side; small numbers from elsewhere
 * lie side by side as values.
 *
 * The counters of other nodes of Citus are theirs.
 */
static void
find_way(const SkSequence *seq, SkGoal goal, SkWay *best)
{
	int64		others_min = seq->last_of_nodes > 0 ? SK_CITUS_RANGE : PG_INT64_MAX;
	SkRelationQuery query = {.all_rows = true};
	Tuplestorestate *rows;
	TupleTableSlot *slot;
	SkWay		way = {0};
	int64		count;

	way.last = best->last = seq->next - 1;
	if (seq->stored == NIL)
		return;
	best->last = 0;
	query.text = psprintf("SELECT v, c FROM (%s) counted"
						  " WHERE c OPERATOR(pg_catalog.>=) '" INT64_FORMAT "'"
						  " AND (c OPERATOR(pg_catalog.<=) '" INT64_FORMAT "'"
						  " OR c OPERATOR(pg_catalog.>) '" INT64_FORMAT "')"
						  " ORDER BY c DESC",
						  counted_values(seq, &query.relids), seq->next,
						  others_min, seq->last_of_nodes);
	rows = sk_query_relation(&query, &slot);
	count = tuplestore_tuple_count(rows);

	/* if the counter moves past c, the values of all later ones are skipped */
	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		bool		isnull;
		int64		value = DatumGetInt64(slot_getattr(slot, 1, &isnull));

		way.last = DatumGetInt64(slot_getattr(slot, 2, &isnull));
		judge_way(seq, way, others_min, goal, count, best);
		way.skipped = sk_range_cover(way.skipped, sk_range(value, value));
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(rows);
	way.last = seq->next - 1;
	judge_way(seq, way, others_min, goal, count, best);
	if (best->is_good)
		return;
	if (goal == SK_CONVERTS)
		sk_report_few_values(seq, seq->kind->options, largest_stored(seq));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("values of %s cannot be skipped", sk_describe_column(seq)),
			 errdetail("Values that sequence \"%s\" would give much later lie between %lld and %lld.",
					   get_rel_name(seq->seqid), (long long) best->skipped.min,
					   (long long) best->skipped.max),
			 errhint("Use a sequence of another kind, or of more bits, for this column.")));
}

/*
 * Take a way if it is better than the best one, which comes later.
 *
 * What must not come again is one range, so the one of before becomes part of
 * it.  A conversion is right as long as enough is left.  Otherwise the range is
 * not taken for what the counter can skip at little cost, and it covers at most
 * half of all values, or the sequence would soon be of no use.
 */
static void
judge_way(const SkSequence *seq, SkWay way, int64 others_min, SkGoal goal,
		  int64 count, SkWay *best)
{
	const SkSequenceOptions *options = seq->kind->options;
	int64		max_counter = options->max_counter;
	int64		most_counters = Max(max_counter / SK_MAX_ADVANCE, SK_MAX_ADVANCE * count);
	int64		least_values = max_counter / 2;

	if (goal == SK_CONVERTS)
	{
		most_counters = max_counter - max_counter / SK_LEAST_DENSITY;
		least_values = max_counter / SK_LEAST_DENSITY;
	}
	if (!sk_range_is_empty(way.skipped))
		way.skipped = sk_range_cover(way.skipped, seq->given);
	way.is_good = way.last <= others_min &&
		way.last - seq->next < most_counters &&
		(sk_range_is_empty(way.skipped) ||
		 sk_remaining_values(max_counter, way.skipped, options->skip_range) > least_values);
	way.cost = (double) way.last;
	if (!sk_range_is_empty(way.skipped) && way.is_good)
		way.cost += (double) way.skipped.max - (double) way.skipped.min +
			(double) (max_counter / SK_SKIP_COST);
	/* they come with descending counters, of which only the last can be 0 */
	Assert(way.last >= 0 && way.last < PG_INT64_MAX);
	if (best->last == 0 || way.is_good > best->is_good ||
		(way.is_good == best->is_good && way.cost <= best->cost))
		*best = way;
}

/* The last counter, up to a limit, of which the value is stored; or 0. */
static int64
last_counter(const SkSequence *seq, int64 limit)
{
	SkRelationQuery query = {.all_rows = true};

	query.text = psprintf("SELECT pg_catalog.max(c) FROM (%s) counted"
						  " WHERE c OPERATOR(pg_catalog.<=) '" INT64_FORMAT "'",
						  counted_values(seq, &query.relids), limit);
	return sk_query_number(&query);
}

/*
 * A query for the stored values v that are not skipped, and their counters c.
 * No kind gives 0, which is in a range of zeros.
 */
static char *
counted_values(const SkSequence *seq, List **relids)
{
	SkRange		none = {0, 0};
	SkRange		given = seq->kind != NULL ? seq->given : none;
	SkRange		skipped = seq->kind != NULL ? seq->kind->options->skip_range : none;

	return psprintf("SELECT v, spanner_internal.unmap_value(v, '%u'::pg_catalog.regclass) AS c"
					" FROM (%s) stored"
					" WHERE (v OPERATOR(pg_catalog.<) '" INT64_FORMAT "'"
					" OR v OPERATOR(pg_catalog.>) '" INT64_FORMAT "')"
					" AND (v OPERATOR(pg_catalog.<) '" INT64_FORMAT "'"
					" OR v OPERATOR(pg_catalog.>) '" INT64_FORMAT "')",
					seq->seqid, stored_values(seq, relids),
					given.min, given.max, skipped.min, skipped.max);
}

/* May the current user read all values of the columns? */
static bool
may_look(List *columns)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		ObjectAddress *column = lfirst(lc);
		Oid			relid = column->objectId;

		if ((pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
			 pg_attribute_aclcheck(relid, (AttrNumber) column->objectSubId,
								   GetUserId(), ACL_SELECT) != ACLCHECK_OK) ||
			check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
			return false;
	}
	return true;
}

/* The first counter after another that START and INCREMENT lead to. */
static int64
next_counter(const SkSequence *seq, int64 counter)
{
	int64		result = sk_counter_after(seq->form.seqstart, seq->form.seqincrement,
										  counter, PG_INT64_MAX);

	if (result == 0)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("Sequence %s is exhausted", get_rel_name(seq->seqid)),
				 errdetail("A value with counter %lld is stored.",
						   (long long) counter),
				 errhint("Use a new sequence with more bits.")));
	return result;
}

/* A value is of the type, and may be more than MAXVALUE, which bounds counters. */
static void
check_bounds(Oid seqid, const FormData_pg_sequence *form, int64 value)
{
	int64		max = form->seqtypid == INT2OID ? PG_INT16_MAX :
		form->seqtypid == INT4OID ? PG_INT32_MAX : PG_INT64_MAX;

	if (value < form->seqmin || value > max)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("setval: value %lld is out of bounds for sequence \"%s\" (%lld..%lld)",
						(long long) value, get_rel_name(seqid), (long long) form->seqmin,
						(long long) max)));
}

/* Who may set a sequence need not own it. */
static void
restart(Oid seqid)
{
	SkSequenceChange change = {0};
	SkOwnerScope scope;
	SkSequence *seq;

	sk_owner_enter(&scope, seqid);
	seq = sk_sequence_lock(seqid, NoLock, false);
	change.restarts = true;
	change.counter = seq->form.seqstart;
	sk_change_sequence(seq, &change);
	sk_owner_exit(&scope);
}

/*
 * Has a sequence a plain counter?  Then it gets no kind until the transaction ends:
 * core would wait for who gives it one, and then set the counter of the kind.
 */
static bool
is_plain(Oid seqid)
{
	if (sk_binding_get(seqid)->am != NULL)
		return false;
	LockRelationOid(seqid, RowExclusiveLock);
	if (sk_binding_get(seqid)->am == NULL)
		return true;
	/* others have waited as well, and all may want the lock of a change */
	UnlockRelationOid(seqid, RowExclusiveLock);
	return false;
}

static Datum
core_setval(FunctionCallInfo fcinfo)
{
	if (PG_NARGS() == 2)
		return DirectFunctionCall2(setval_oid, PG_GETARG_DATUM(0),
								   PG_GETARG_DATUM(1));
	return DirectFunctionCall3(setval3_oid, PG_GETARG_DATUM(0),
							   PG_GETARG_DATUM(1), PG_GETARG_DATUM(2));
}

/*
 * spanner.create_sequence(name text, kind text, start_with_counter bigint,
 *		skip_range_min bigint, skip_range_max bigint, bits integer,
 *		stripes integer, if_not_exists boolean) returns regclass
 *
 * All but the name may be NULL.  The kind is that of the setting
 * spanner.default_sequence_kind if none is given.
 */
Datum
spanner_create_sequence(PG_FUNCTION_ARGS)
{
	SkSequenceChange change = {0};
	RangeVar   *name;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"name\" must not be null")));
	PreventCommandIfReadOnly("spanner.create_sequence()");
	name = sk_parse_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	if (PG_ARGISNULL(1) && sk_default_sequence_kind(true) != NULL)
		take_kind(&change, sk_default_sequence_kind(true));
	take_arguments(&change, fcinfo, create_options);
	PG_RETURN_OID(create_sequence(name, &change,
								  !PG_ARGISNULL(7) && PG_GETARG_BOOL(7)));
}

/*
 * spanner.alter_sequence(sequence regclass, kind text,
 *		skip_range_min bigint, skip_range_max bigint, no_skip_range boolean,
 *		restart_counter_with bigint, bits integer, stripes integer)
 * returns void
 *
 * Changes what is not NULL.  Kind 'local' makes a core sequence of it again.
 * Only the owner may do it.
 */
Datum
spanner_alter_sequence(PG_FUNCTION_ARGS)
{
	SkSequenceChange change = {0};
	SkSequence *seq;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"sequence\" must not be null")));
	PreventCommandIfReadOnly("spanner.alter_sequence()");

	take_arguments(&change, fcinfo, alter_options);
	change.no_skip_range = !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
	seq = sk_sequence_lock(PG_GETARG_OID(0), NoLock, change.label.kind != NULL);
	if (change.restarts)
		check_start_counter(change.counter);
	if (change.no_skip_range &&
		(sk_label_option(change.label.options, "skip_range_min") != NULL ||
		 sk_label_option(change.label.options, "skip_range_max") != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a skip range cannot be both set and removed")));
	sk_change_sequence(seq, &change);
	if (seq->kind != NULL &&
		(change.label.kind != NULL || sk_label_option(change.label.options, "bits") != NULL))
		sk_check_partitions(seq, ERROR);
	PG_RETURN_VOID();
}

/*
 * spanner.convert_column(relation regclass, column_name name, kind text,
 *		bits integer, stripes integer, dry_run boolean) returns regclass
 *
 * Gives the sequence of a serial or identity column an access method, and
 * returns the sequence.  kind, bits and stripes may be NULL; the kind is then
 * that of the setting, or else bit_reversed_positive.  With dry_run it only
 * tells what that would lock and read.  Only the owner of the table may do
 * it.  Raises an error for a column that has no sequence of its own, whose
 * sequence is bound already, or that has no values left.
 */
Datum
spanner_convert_column(PG_FUNCTION_ARGS)
{
	SkSequenceChange change = {0};
	SkSequence *seq;
	SkKind	   *kind;
	int64		before;
	bool		is_small;
	SkRange		taken = {1, 0};

	if (!PG_ARGISNULL(5) && PG_GETARG_BOOL(5))
	{
		AttrNumber	attnum;

		seq = sk_sequence_read(named_column(fcinfo, &attnum));
		sk_sequence_fill(seq, PG_GETARG_OID(0), attnum);
		check_plain(seq);
		report_lock(seq);
		seq->kind = sk_kind_make(wanted_label(fcinfo, seq), 63);
		sk_check_references(seq, seq->kind->options->bits);
		taken.max = seq->next - 1;
		seq->kind->options->given = taken;
		sk_check_partitions(seq, ERROR);
		PG_RETURN_OID(seq->seqid);
	}

	PreventCommandIfReadOnly("spanner.convert_column()");
	seq = lock_column(fcinfo, true);
	/* again: it may have got a kind while this waited for the locks */
	check_plain(seq);
	sk_find_nodes(seq);

	change.label = *wanted_label(fcinfo, seq);
	change.for_rows = true;
	kind = sk_kind_make(&change.label, 63);
	before = seq->next;
	/* what is read here holds, as no row can come before the kind is there */
	taken.max = largest_stored(seq);
	/* a small one is skipped with all below it, without a look at each row */
	is_small = taken.max <= Max(Max(before - 1, seq->last_of_nodes),
								kind->options->max_counter / SK_MAX_ADVANCE);
	if (is_small && taken.max > 0)
		sk_label_set_range(&change.label, "given",
						   sk_range_cover(taken, kind->options->given));

	/*
	 * The counter goes on after what has been given: what still fetches plain
	 * counters, such as code in C, then gives none that exists.  If more than
	 * half of the counters would be left out, it begins anew.  A sequence
	 * that has had a kind may go on with that, and must not.
	 */
	change.restarts = seq->former == NULL && before > kind->options->max_counter / 2;
	change.counter = seq->form.seqstart;
	sk_change_sequence(seq, &change);
	if (!is_small)
		skip_stored_values(seq, SK_CONVERTS);
	sk_check_partitions(seq, ERROR);
	report_remaining(seq, before);
	PG_RETURN_OID(seq->seqid);
}

/*
 * spanner_internal.can_convert(sequence regclass, relation regclass) returns boolean
 *
 * Can the sequence, which fills a column of the relation, get an access method?
 * A NOTICE says why not.
 */
Datum
spanner_can_convert(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	FormData_pg_sequence form;
	const SkRestriction *restriction;

	sk_sequence_check_relkind(seqid);
	form = sk_sequence_form(seqid);
	restriction = sk_sequence_restriction(&form);
	if (restriction == NULL)
		restriction = sk_clock_restriction(seqid, PG_GETARG_OID(1));
	if (restriction != NULL)
		sk_report_restriction(seqid, restriction);
	PG_RETURN_BOOL(restriction == NULL);
}

/*
 * spanner_internal.column_sequence(relation regclass, column_number smallint)
 * returns regclass
 *
 * The sequence that convert_column() would convert, NULL if there is none.
 */
Datum
spanner_column_sequence(PG_FUNCTION_ARGS)
{
	Oid			seqid = sk_column_sequence(PG_GETARG_OID(0), PG_GETARG_INT16(1));

	if (!OidIsValid(seqid))
		PG_RETURN_NULL();
	PG_RETURN_OID(seqid);
}

/*
 * spanner_internal.read_kind(kind text) returns text
 *
 * A kind as a label has it.  Raises an error for one that does not exist.
 */
Datum
spanner_read_kind(PG_FUNCTION_ARGS)
{
	SkLabel    *label = sk_label_parse_kind(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	(void) sk_sequence_am_get(label->kind, false);
	PG_RETURN_TEXT_P(cstring_to_text(sk_label_format(label)));
}

/*
 * spanner.sync_sequence(relation regclass, column_name name) returns bigint
 *
 * Has the sequence of a column go on after the values that the table holds,
 * and returns its next counter.  That counter can be lower than before.
 * Values that the sequence would give much later, such as small numbers that
 * were inserted by hand, count as given.  Only the owner of the table may
 * do it; it keeps writers out while it reads the table.
 */
Datum
spanner_sync_sequence(PG_FUNCTION_ARGS)
{
	SkSequence *seq;

	PreventCommandIfReadOnly("spanner.sync_sequence()");
	seq = lock_column(fcinfo, false);
	sk_sequence_check_mappable(seq->seqid);
	skip_stored_values(seq, SK_GOES_BACK);
	PG_RETURN_INT64(seq->next);
}

/*
 * spanner_internal.setval(sequence regclass, value bigint [, is_called boolean])
 * returns bigint
 *
 * As core's setval, but on a bound sequence it does what applications mean.
 * (START, false) restarts it.  Any other call passes a value, most often the
 * largest stored one: then the sequence gives no stored value again, and its
 * counter only goes forward, or, if the value is less than START and false says
 * that it comes next, also back.  Returns the value like core.  A restore passes
 * a counter, and sets it.
 */
Datum
spanner_setval(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	int64		value = PG_GETARG_INT64(1);
	bool		comes_next = PG_NARGS() == 3 && !PG_GETARG_BOOL(2);
	FormData_pg_sequence form;

	sk_check_execute(PG_NARGS() == 2 ? F_SETVAL_REGCLASS_INT8 : F_SETVAL_REGCLASS_INT8_BOOL);
	if (sk_restoring() || is_plain(seqid))
		return core_setval(fcinfo);

	if (pg_class_aclcheck(seqid, GetUserId(), ACL_UPDATE) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SEQUENCE, get_rel_name(seqid));
	if (get_rel_persistence(seqid) != RELPERSISTENCE_TEMP)
		PreventCommandIfReadOnly("setval()");
	form = sk_sequence_form(seqid);
	check_bounds(seqid, &form, value);
	if (comes_next && value == form.seqstart)
		restart(seqid);
	else if (!sync_stored(seqid, comes_next && value < form.seqstart ?
						  SK_GOES_BACK : SK_GOES_FORWARD,
						  comes_next ? value - 1 : value) &&
			 sk_binding_get(seqid)->am != NULL)
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("setval leaves the counter of sequence \"%s\" alone",
						get_rel_name(seqid)),
				 errdetail("Its values do not ascend, so the largest one says nothing about the next, and no column that stores its values can be read."),
				 errhint("Use setval with START and false, or ALTER SEQUENCE ... RESTART, to restart the counter.")));
	/* it may have lost its kind while this waited */
	if (is_plain(seqid))
		return core_setval(fcinfo);
	PG_RETURN_DATUM(PG_GETARG_DATUM(1));
}
