/*-------------------------------------------------------------------------
 *
 * convert.c
 *	  Giving the sequences of existing columns an access method.
 *
 * A column that is converted keeps its rows.  Its sequence is bound with a
 * skip range over all values that the rows have and that the sequence has
 * given.  Its counter goes on, and is not set back.
 *
 * Locking: see sk_sequence_lock().  ShareRowExclusiveLock lets readers of the
 * table in and keeps writers out; an identity column takes AccessExclusiveLock
 * instead, since its default changes.
 *
 * src/sequence/convert.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "compat.h"
#include "sequence/arguments.h"
#include "sequence/binding.h"
#include "sequence/column_label.h"
#include "sequence/sequence_change.h"
#include "spi/relation_query.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_convert_column);
PG_FUNCTION_INFO_V1(spanner_can_convert);
PG_FUNCTION_INFO_V1(spanner_column_sequence);
PG_FUNCTION_INFO_V1(spanner_read_kind);

/* Kind of a converted column where neither call nor setting names one. */
#define SK_DEFAULT_KIND "bit_reversed_positive"

static void check_plain(const SkSequence *seq);
static void report_lock(const SkSequence *seq, Oid table, AttrNumber column);
static char *index_on(Oid table, AttrNumber column);
static SkLabel *wanted_label(FunctionCallInfo fcinfo, const SkSequence *seq);
static int64 last_taken_value(const SkSequence *seq, List *columns);
static bool has_given_all(const SkSequence *seq, List *columns,
						  const SkLabel *label, int64 last);
static void go_on(const SkSequence *seq, const SkLabel *label,
				  SkSequenceChange *change);
static void report_remaining(const SkSequence *seq, const SkLabel *label,
							 int64 counter, int64 taken);

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
	SkLabel    *label;
	List	   *columns;
	int64		taken;

	if (!PG_ARGISNULL(5) && PG_GETARG_BOOL(5))
	{
		AttrNumber	attnum;

		seq = sk_sequence_read(sk_named_column(fcinfo, &attnum));
		check_plain(seq);
		report_lock(seq, PG_GETARG_OID(0), attnum);
		PG_RETURN_OID(seq->seqid);
	}

	PreventCommandIfReadOnly("spanner.convert_column()");
	seq = sk_lock_column(fcinfo, true, &columns);
	/* again: it may have got a kind while this waited for the locks */
	check_plain(seq);
	sk_find_nodes(seq);

	label = wanted_label(fcinfo, seq);
	taken = last_taken_value(seq, columns);
	/* what is read here holds, as no row can come before the kind is there */
	if (taken >= 1 && !has_given_all(seq, columns, label, taken))
	{
		/* there is one skip range only; the kind may have come with it */
		taken = Max(taken, sk_kind_make(label, 63)->options->skip_range_max);
		sk_label_set(label, "skip_range_min", "1");
		sk_label_set(label, "skip_range_max", psprintf(INT64_FORMAT, taken));
		go_on(seq, label, &change);
	}
	report_remaining(seq, label, change.restarts ? change.counter : seq->next,
					 taken);
	change.kind = label->kind;
	change.options = label->options;
	sk_change_sequence(seq, &change);
	PG_RETURN_OID(seq->seqid);
}

/*
 * spanner_internal.can_convert(sequence regclass) returns boolean
 *
 * Can the sequence get an access method?  A NOTICE says why not.
 */
Datum
spanner_can_convert(PG_FUNCTION_ARGS)
{
	Oid			seqid = PG_GETARG_OID(0);
	FormData_pg_sequence form;
	const SkObstacle *obstacle;

	sk_sequence_check_relkind(seqid);
	form = sk_sequence_form(seqid);
	obstacle = sk_sequence_obstacle(&form);
	if (obstacle != NULL)
		sk_report_left_alone(seqid, obstacle);
	PG_RETURN_BOOL(obstacle == NULL);
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

	(void) sk_sequence_am_get(label->kind);
	PG_RETURN_TEXT_P(cstring_to_text(sk_label_format(label)));
}

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
report_lock(const SkSequence *seq, Oid table, AttrNumber column)
{
	bool		is_identity = seq->identity != SK_IDENTITY_NONE;
	char	   *index = index_on(table, column);
	char	   *reads;

	if (index != NULL)
		reads = psprintf("The largest value is read from index \"%s\".", index);
	else
		reads = psprintf("Its %s are read for the largest value, since there is no index on the column.",
						 sk_query_text(psprintf("SELECT pg_catalog.pg_size_pretty(pg_catalog.sum(pg_catalog.pg_relation_size(c.oid))) "
												"FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) %u "
												"OR c.oid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT p.relid FROM pg_catalog.pg_partition_tree(%u) p))",
												table, table)));
	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg("table \"%s\" will be locked by %s",
					get_rel_name(table),
					is_identity ? "AccessExclusiveLock" : "ShareRowExclusiveLock"),
			 is_identity ?
			 errdetail("%s No row is rewritten. Nobody can read or write the table meanwhile.",
					   reads) :
			 errdetail("%s No row is rewritten. Nobody can write to the table meanwhile.",
					   reads)));
}

/* An index that has the largest value of a column at its end, or NULL. */
static char *
index_on(Oid table, AttrNumber column)
{
	Relation	rel = relation_open(table, AccessShareLock);
	char	   *result = NULL;
	ListCell   *lc;

	/* one that children inherit is not theirs */
	if (!rel->rd_rel->relhassubclass || rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
	{
		foreach(lc, RelationGetIndexList(rel))
		{
			Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

			if (index->rd_rel->relam == BTREE_AM_OID && index->rd_index->indisvalid &&
				index->rd_index->indkey.values[0] == column &&
				heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
				result = pstrdup(RelationGetRelationName(index));
			index_close(index, AccessShareLock);
		}
	}
	relation_close(rel, AccessShareLock);
	return result;
}

/* The label of a converted column, but for the values that are taken. */
static SkLabel *
wanted_label(FunctionCallInfo fcinfo, const SkSequence *seq)
{
	char	   *kind = sk_default_sequence_kind();
	SkLabel    *label;

	if (!PG_ARGISNULL(2))
		kind = text_to_cstring(PG_GETARG_TEXT_PP(2));
	else if (kind == NULL)
		kind = SK_DEFAULT_KIND;

	label = sk_label_parse_kind(kind);
	sk_fit_label(label, seq,
				 sk_type_width(get_atttype(seq->table, seq->column)));
	if (!PG_ARGISNULL(3))
		sk_label_set(label, "bits", psprintf("%d", PG_GETARG_INT32(3)));
	if (!PG_ARGISNULL(4))
		sk_label_set(label, "stripes", psprintf("%d", PG_GETARG_INT32(4)));
	return label;
}

/*
 * The largest value that a row has or the sequence has given; 0 if none.
 *
 * Where a column has an index, that takes one descent.  Other nodes do not know
 * this kind yet, and may still give plain counters.
 */
static int64
last_taken_value(const SkSequence *seq, List *columns)
{
	int64		result = Max(seq->used ? seq->next - 1 : 0, seq->last_of_nodes);
	List	   *relids = NIL;
	StringInfoData query;
	int64		stored;
	bool		isnull;
	ListCell   *lc;

	initStringInfo(&query);
	foreach(lc, columns)
	{
		ObjectAddress *column = lfirst(lc);

		/* a row that is written after this could have a skipped value */
		Assert(sk_relation_is_locked(column->objectId, ShareRowExclusiveLock));
		appendStringInfo(&query, "%s(SELECT pg_catalog.max(%s) FROM %s)::pg_catalog.int8",
						 query.len == 0 ? "SELECT GREATEST(" : ", ",
						 quote_identifier(get_attname(column->objectId,
													  column->objectSubId, false)),
						 sk_qualified_name(column->objectId));
		relids = list_append_unique_oid(relids, column->objectId);
	}
	appendStringInfoChar(&query, ')');
	sk_query_row(relids, query.data, 1, &stored, &isnull);
	return isnull ? result : Max(result, stored);
}

/*
 * Has the sequence had this kind before, and given all values that rows have?
 *
 * Then there is nothing to be passed over.  To find out, all rows are read, as
 * what the kind gives for counters that have been drawn.  Values that a plain
 * counter gives are so small that it need not be asked.
 */
static bool
has_given_all(const SkSequence *seq, List *columns, const SkLabel *label,
			  int64 last)
{
	SkKind	   *kind = sk_kind_make(label, 63);
	List	   *relids;
	char	   *stored = sk_stored_values(columns, &relids);
	int64		others;
	bool		isnull;

	if (seq->is_distributed || last < kind->options->max_counter / 2)
		return false;
	/* unmap_value() goes by the label; it is gone before others see it */
	Assert(sk_relation_is_locked(seq->seqid, ShareRowExclusiveLock));
	sk_binding_set(seq->seqid, sk_kind_label(kind));
	sk_query_row(relids,
				 psprintf("SELECT pg_catalog.count(*)"
						  " FROM (SELECT v, spanner_internal.unmap_value(v, '%u'::pg_catalog.regclass) AS c"
						  " FROM (%s) stored) counted"
						  " WHERE v IS NOT NULL"
						  " AND (c OPERATOR(pg_catalog.<) '" INT64_FORMAT "') IS NOT TRUE",
						  seq->seqid, stored, seq->used ? seq->next : 0),
				 1, &others, &isnull);
	sk_binding_set(seq->seqid, NULL);
	return others == 0;
}

/*
 * The counter goes on after what has been given, and START with it: what still
 * draws plain counters, such as code in C, then gives none that exists, and
 * nothing has been drawn yet from the sequence as it is now.
 *
 * If more than half of the counters would be left out, it begins anew.
 */
static void
go_on(const SkSequence *seq, const SkLabel *label, SkSequenceChange *change)
{
	int64		max_counter = sk_kind_make(label, 63)->options->max_counter;

	change->restarts = true;
	change->start = SK_START_MOVES;
	change->counter = seq->next;
	Assert(change->counter >= 1);
	if (seq->next > max_counter / 2)
	{
		change->start = SK_START_STAYS;
		change->counter = seq->form.seqstart;
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("the counter of sequence \"%s\" begins again at %lld",
						get_rel_name(seq->seqid), (long long) change->counter),
				 errdetail("Of the %lld counters that its values have, it would otherwise leave %lld unused.",
						   (long long) max_counter, (long long) seq->next - 1)));
	}
}

/*
 * Report how many values a narrow column has left, and refuse if none.  As many
 * of the remaining counters give a value in the skip range as of all counters,
 * more or less.
 */
static void
report_remaining(const SkSequence *seq, const SkLabel *label, int64 counter,
				 int64 taken)
{
	SkKind	   *kind = sk_kind_make(label, 63);
	const SkSequenceOptions *options = kind->options;
	double		skipped = (double) Min(options->skip_range_max, options->max_counter) /
		options->max_counter;
	char	   *column = get_attname(seq->table, seq->column, false);

	if (options->skip_range_max >= options->max_counter ||
		!sk_kind_reaches_value(kind, counter))
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("column \"%s\" of table \"%s\" has too few values left",
						column, get_rel_name(seq->table)),
				 errdetail("Its values have %d bits, and those up to %lld are taken.",
						   options->bits, (long long) Max(taken, options->skip_range_max)),
				 errhint("Change the column and its sequence to a wider type first.")));
	if (options->bits < 63)
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("column \"%s\" of table \"%s\" has %lld values left",
						column, get_rel_name(seq->table),
						(long long) ((options->max_counter - counter + 1) * (1 - skipped)))));
}
