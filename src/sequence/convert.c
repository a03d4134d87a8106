/*-------------------------------------------------------------------------
 *
 * convert.c
 *	  Giving the sequences of existing columns an access method.
 *
 * A column that is converted keeps its rows.  Its sequence is bound with a
 * skip range over all values that the rows have and that the sequence has
 * given, and starts again from its start counter.
 *
 * Locking: first ShareRowExclusiveLock on the table and what is below it,
 * which lets readers in and keeps writers out, then the same on the
 * sequence.  Changing the default takes AccessExclusiveLock on the table, as
 * ALTER TABLE does, from there to the end of the transaction.
 *
 * src/sequence/convert.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/counter.h"
#include "sequence/default_kind.h"
#include "sequence/label.h"
#include "sequence/object_name.h"
#include "sequence/redirect/column_default.h"
#include "sequence/registry.h"
#include "sequence/sequence_column.h"
#include "sequence/spacing.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_convert_column);
PG_FUNCTION_INFO_V1(spanner_convert_all);

/* Kind of a converted column where neither call nor setting names one. */
#define SK_DEFAULT_KIND "bit_reversed_positive"

static SkLabel *conversion_label(FunctionCallInfo fcinfo,
								 SkSequenceColumn *column);
static int64 last_taken_value(SkSequenceColumn *column);
static void report_remaining(SkSequenceColumn *column,
							 const SequenceAccessMethod *am,
							 const SkSequenceOptions *options);
static List *list_conversions(const char *schema, const char *kind);

/*
 * spanner.convert_column("table" regclass, "column" name, kind text,
 *		bits integer, stripes integer) returns regclass
 *
 * Gives the sequence of a serial or identity column an access method, and
 * returns the sequence.  The last three may be NULL; the kind is then that
 * of the setting, or else bit_reversed_positive.  Only the owner of the
 * table may do it.  Raises an error for a column that has no sequence of its
 * own, whose sequence is bound already, or that has no values left.
 */
Datum
spanner_convert_column(PG_FUNCTION_ARGS)
{
	SkSequenceColumn column;
	const SequenceAccessMethod *am;
	SkSequenceOptions *options;
	SkLabel    *label;
	int			width;

	PreventCommandIfReadOnly("spanner.convert_column()");
	sk_open_column(fcinfo, &column);
	if (sk_binding_label(column.seqid) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("sequence \"%s\" already has an access method",
						get_rel_name(column.seqid)),
				 errhint("Use spanner.alter_sequence() to change its options.")));
	sk_lock_column(&column);
	sk_binding_check_sequence(column.seqid);

	width = sk_sequence_width(column.seqid);
	label = conversion_label(fcinfo, &column);
	am = sk_sequence_am_get(label->kind);
	options = sk_sequence_am_parse(am, label->options, width);
	report_remaining(&column, am, options);

	sk_binding_set(column.seqid,
				   sk_label_format(am->name,
								   sk_sequence_am_describe(am, options)));
	sk_run_command(psprintf("ALTER SEQUENCE %s RESTART",
							sk_qualified_name(column.seqid)));
	sk_use_sequence(column.seqid);
	sk_report_overlap(column.seqid, am, options);
	PG_RETURN_OID(column.seqid);
}

/*
 * spanner.convert_all(schema name, kind text, dry_run boolean)
 * returns setof text
 *
 * Converts every column of a schema that owns a sequence without access
 * method, and returns the statements that do it; with dry_run, or NULL for
 * it, only returns them.
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
				 errmsg("argument schema must not be null"),
				 errhint("Name the schema whose columns are to be converted.")));
	if (!dry_run)
		PreventCommandIfReadOnly("spanner.convert_all()");
	(void) sk_schema_oid(NameStr(*PG_GETARG_NAME(0)));
	if (!PG_ARGISNULL(1))
	{
		kind = text_to_cstring(PG_GETARG_TEXT_PP(1));
		(void) sk_sequence_am_get(sk_label_parse_kind(kind)->kind);
	}

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	foreach(lc, list_conversions(NameStr(*PG_GETARG_NAME(0)), kind))
	{
		Datum		value = CStringGetTextDatum(lfirst(lc));
		bool		isnull = false;

		if (!dry_run)
			(void) sk_query_texts(lfirst(lc));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 &value, &isnull);
	}
	return (Datum) 0;
}

/* The label of a converted column, with a skip range over what is taken. */
static SkLabel *
conversion_label(FunctionCallInfo fcinfo, SkSequenceColumn *column)
{
	char	   *kind = sk_default_sequence_kind();
	SkLabel    *label;
	int64		taken;

	if (!PG_ARGISNULL(2))
		kind = text_to_cstring(PG_GETARG_TEXT_PP(2));
	else if (kind == NULL)
		kind = SK_DEFAULT_KIND;

	label = sk_fitting_label(kind, column->seqid, column->width);
	if (!PG_ARGISNULL(3))
		sk_label_set(label, "bits", psprintf("%d", PG_GETARG_INT32(3)));
	if (!PG_ARGISNULL(4))
		sk_label_set(label, "stripes", psprintf("%d", PG_GETARG_INT32(4)));

	taken = last_taken_value(column);
	if (taken >= 1)
	{
		sk_label_set(label, "skip_range_min", "1");
		sk_label_set(label, "skip_range_max", psprintf(INT64_FORMAT, taken));
	}
	return label;
}

/* The largest value that a row has or the sequence has given; 0 if none. */
static int64
last_taken_value(SkSequenceColumn *column)
{
	int64		result = 0;
	int64		next;
	int64		largest;
	bool		used;
	bool		isnull;

	if (sk_counter_state(column->seqid, &next, &used) && used)
		result = next - 1;
	sk_query_row(column->table,
				 psprintf("SELECT CAST(pg_catalog.max(%s) AS pg_catalog.int8) FROM %s",
						  quote_identifier(column->name),
						  sk_qualified_name(column->table)),
				 1, &largest, &isnull);
	return isnull ? result : Max(result, largest);
}

/* Tell how many values a narrow column has left, and refuse if none. */
static void
report_remaining(SkSequenceColumn *column, const SequenceAccessMethod *am,
				 const SkSequenceOptions *options)
{
	int64		remaining = options->max_counter;

	if (options->has_skip_range)
		remaining -= Min(options->skip_range_max, options->max_counter);
	if (remaining <= 0 || !sk_counter_reaches_value(am, options, 1))
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("column \"%s\" of table \"%s\" has too few values left",
						column->name, get_rel_name(column->table)),
				 errdetail("Its values have %d bits, and those up to %lld are taken.",
						   options->bits, (long long) options->skip_range_max),
				 errhint("Change the column and its sequence to a wider type first.")));
	if (options->bits < 63)
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("column \"%s\" of table \"%s\" has %lld values left",
						column->name, get_rel_name(column->table),
						(long long) remaining)));
}

/* Statements that convert what can be converted, in order of the tables. */
static List *
list_conversions(const char *schema, const char *kind)
{
	StringInfoData query;

	initStringInfo(&query);
	appendStringInfo(&query,
					 "SELECT pg_catalog.format("
					 "'SELECT spanner.convert_column(%%L, %%L%%s)', "
					 "a.attrelid::pg_catalog.regclass, a.attname, %s) "
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
