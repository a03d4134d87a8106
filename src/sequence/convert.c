/*-------------------------------------------------------------------------
 *
 * convert.c
 *	  Giving the sequences of existing columns an access method.
 *
 * A column that is converted keeps its rows.  Its sequence is bound with a
 * skip range over all values that the rows have and that the sequence has
 * given, and starts again from its start counter.
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

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "sequence/arguments.h"
#include "sequence/binding.h"
#include "sequence/column_label.h"
#include "sequence/default_kind.h"
#include "sequence/registry.h"
#include "sequence/sequence_change.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_convert_column);
PG_FUNCTION_INFO_V1(spanner_convert_all);

/* Kind of a converted column where neither call nor setting names one. */
#define SK_DEFAULT_KIND "bit_reversed_positive"

static void check_plain(const SkSequence *seq);
static void report_lock(const SkSequence *seq);
static SkLabel *wanted_label(FunctionCallInfo fcinfo, const SkSequence *seq);
static int64 last_taken_value(const SkSequence *seq, bool *all_own);
static void report_remaining(const SkSequence *seq, const SkLabel *label);
static List *list_conversions(const char *schema, const char *kind);
static char *possible_conversion(char *line);

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
	int64		taken;
	bool		all_own;

	if (!PG_ARGISNULL(5) && PG_GETARG_BOOL(5))
	{
		AttrNumber	attnum;

		seq = sk_sequence_read(sk_named_column(fcinfo, &attnum));
		check_plain(seq);
		report_lock(seq);
		PG_RETURN_OID(seq->seqid);
	}

	PreventCommandIfReadOnly("spanner.convert_column()");
	seq = sk_lock_column(fcinfo, true);
	check_plain(seq);
	sk_find_nodes(seq);

	/* existing values are counted as those of the new kind */
	label = wanted_label(fcinfo, seq);
	sk_binding_set(seq->seqid, sk_kind_label(sk_kind_make(label, 63)));
	taken = last_taken_value(seq, &all_own);
	if (!all_own)
	{
		if (taken >= 1)
		{
			/* there is one skip range only; the kind may have come with it */
			taken = Max(taken, sk_kind_make(label, 63)->options->skip_range_max);
			sk_label_set(label, "skip_range_min", "1");
			sk_label_set(label, "skip_range_max", psprintf(INT64_FORMAT, taken));
		}
		report_remaining(seq, label);
		change.restarts = true;
		change.counter = seq->form.seqstart;
	}
	change.kind = label->kind;
	change.options = label->options;
	sk_change_sequence(seq, &change);
	PG_RETURN_OID(seq->seqid);
}

/*
 * spanner.convert_all(schema name, kind text, dry_run boolean)
 * returns setof text
 *
 * Converts every column of a schema that owns a sequence without access
 * method, and returns the statements that do it.  If dry_run is true or NULL,
 * it only returns them.
 */
Datum
spanner_convert_all(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		dry_run = PG_ARGISNULL(2) || PG_GETARG_BOOL(2);
	char	   *kind = NULL;
	ListCell   *lc;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"schema\" must not be null")));
	if (!dry_run)
		PreventCommandIfReadOnly("spanner.convert_all()");
	(void) sk_schema_oid(NameStr(*PG_GETARG_NAME(0)));
	if (!PG_ARGISNULL(1))
	{
		SkLabel    *label =
			sk_label_parse_kind(text_to_cstring(PG_GETARG_TEXT_PP(1)));

		(void) sk_sequence_am_get(label->kind);
		kind = sk_label_format(label);
	}

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	foreach(lc, list_conversions(NameStr(*PG_GETARG_NAME(0)), kind))
	{
		char	   *statement = possible_conversion(lfirst(lc));
		Datum		value;
		bool		isnull = false;

		if (statement == NULL)
			continue;
		if (!dry_run)
			(void) sk_query_texts(statement);
		value = CStringGetTextDatum(statement);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 &value, &isnull);
	}
	return (Datum) 0;
}

static void
check_plain(const SkSequence *seq)
{
	if (seq->kind != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("sequence \"%s\" already has an access method",
						get_rel_name(seq->seqid)),
				 errhint("Use spanner.alter_sequence() to change its options.")));
	sk_sequence_check_mappable(seq->seqid);
}

/* Report what a conversion locks and reads: all rows, for the largest value. */
static void
report_lock(const SkSequence *seq)
{
	bool		identity = seq->identity != '\0';
	char	   *size = sk_query_text(psprintf("SELECT pg_catalog.pg_size_pretty(pg_catalog.sum(pg_catalog.pg_relation_size(c.oid))) "
											  "FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) %u "
											  "OR c.oid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT p.relid FROM pg_catalog.pg_partition_tree(%u) p))",
											  seq->table, seq->table));

	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg("table \"%s\" will be locked by %s",
					get_rel_name(seq->table),
					identity ? "AccessExclusiveLock" : "ShareRowExclusiveLock"),
			 identity ?
			 errdetail("Its %s are read once, and not rewritten. Nobody can read or write it meanwhile.",
					   size) :
			 errdetail("Its %s are read once, and not rewritten. Nobody can write to it meanwhile.",
					   size)));
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
 * Sets *all_own if there are rows and all their values are what the kind gives
 * for counters that have been drawn: the sequence has had this kind before.
 * Other nodes do not know this kind yet, and may still give plain counters.
 */
static int64
last_taken_value(const SkSequence *seq, bool *all_own)
{
	int64		result = seq->used ? seq->next - 1 : 0;
	char	   *unmapped = psprintf("spanner.unmap_value(v, %s::pg_catalog.regclass)",
									quote_literal_cstr(sk_qualified_name(seq->seqid)));
	int64		values[3];
	bool		isnull[3];

	sk_query_row(seq->table,
				 psprintf("SELECT pg_catalog.max(v), pg_catalog.count(v), "
						  "pg_catalog.count(*) FILTER (WHERE %s "
						  "OPERATOR(pg_catalog.<) '" INT64_FORMAT "') "
						  "FROM (%s) stored",
						  seq->is_distributed ? "NULL::pg_catalog.int8" : unmapped,
						  seq->used ? seq->next : 0, sk_stored_values(seq)),
				 3, values, isnull);
	*all_own = values[1] > 0 && values[2] == values[1];
	result = Max(result, seq->last_of_nodes);
	return isnull[0] ? result : Max(result, values[0]);
}

/* Report how many values a narrow column has left, and refuse if none. */
static void
report_remaining(const SkSequence *seq, const SkLabel *label)
{
	SkKind	   *kind = sk_kind_make(label, 63);
	const SkSequenceOptions *options = kind->options;
	char	   *column = get_attname(seq->table, seq->column, false);
	int64		remaining = options->max_counter;

	if (options->has_skip_range)
		remaining -= Min(options->skip_range_max, options->max_counter);
	if (remaining <= 0 || !sk_kind_reaches_value(kind, seq->form.seqstart))
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("column \"%s\" of table \"%s\" has too few values left",
						column, get_rel_name(seq->table)),
				 errdetail("Its values have %d bits, and those up to %lld are taken.",
						   options->bits, (long long) options->skip_range_max),
				 errhint("Change the column and its sequence to a wider type first.")));
	if (options->bits < 63)
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("column \"%s\" of table \"%s\" has %lld values left",
						column, get_rel_name(seq->table),
						(long long) remaining)));
}

/*
 * The statement that converts a column, from a line of list_conversions().
 * NULL, with a NOTICE, if the sequence cannot get a kind.
 */
static char *
possible_conversion(char *line)
{
	char	   *statement;
	Oid			seqid = (Oid) strtoul(line, &statement, 10);
	FormData_pg_sequence form = sk_sequence_form(seqid);
	const SkObstacle *obstacle = sk_sequence_obstacle(&form);

	if (obstacle == NULL)
		return statement + 1;
	sk_report_left_alone(seqid, obstacle);
	return NULL;
}

/*
 * Statements that convert columns, in order of the tables.  The OID of the
 * sequence stands before each.
 */
static List *
list_conversions(const char *schema, const char *kind)
{
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query,
					 "SELECT pg_catalog.format("
					 "'%%s SELECT spanner.convert_column(%%L, %%L%%s)', "
					 "s.oid, a.attrelid::pg_catalog.regclass, a.attname, %s) "
					 "FROM pg_catalog.pg_class s "
					 "JOIN pg_catalog.pg_depend d ON d.objid OPERATOR(pg_catalog.=) s.oid "
					 "AND d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass "
					 "AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass "
					 "AND d.deptype OPERATOR(pg_catalog.=) ANY ('{a,i}'::pg_catalog.\"char\"[]) "
					 "JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) d.refobjid "
					 "AND a.attnum OPERATOR(pg_catalog.=) d.refobjsubid AND a.attinhcount OPERATOR(pg_catalog.=) 0 "
					 "AND a.atttypid OPERATOR(pg_catalog.=) ANY ('{int2,int4,int8}'::pg_catalog.regtype[]) "
					 "JOIN pg_catalog.pg_class t ON t.oid OPERATOR(pg_catalog.=) a.attrelid "
					 "AND t.relkind OPERATOR(pg_catalog.=) ANY ('{r,p}'::pg_catalog.\"char\"[]) "
					 "JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.relnamespace "
					 "WHERE s.relkind OPERATOR(pg_catalog.=) 'S' AND n.nspname OPERATOR(pg_catalog.=) %s "
					 "AND NOT EXISTS (SELECT FROM pg_catalog.pg_seclabel l "
					 "WHERE l.objoid OPERATOR(pg_catalog.=) s.oid "
					 "AND l.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass "
					 "AND l.provider OPERATOR(pg_catalog.=) '" SK_LABEL_PROVIDER "') "
					 "ORDER BY t.relname, a.attnum",
					 kind == NULL ? "''" :
					 quote_literal_cstr(psprintf(", kind => %s", quote_literal_cstr(kind))),
					 quote_literal_cstr(schema));
	return sk_query_texts(query.data);
}
