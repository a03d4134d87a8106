/*-------------------------------------------------------------------------
 *
 * sequence_commands.c
 *	  spanner.create_sequence() and spanner.alter_sequence().
 *
 * They take arguments apart; sequence_change.c does the rest.
 *
 * src/sequence/sequence_commands.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "sequence/arguments.h"
#include "sequence/default_kind.h"
#include "sequence/registry.h"
#include "sequence/sequence_change.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_create_sequence);
PG_FUNCTION_INFO_V1(spanner_alter_sequence);

/* Arguments of spanner.create_sequence(), by position. */
enum
{
	CREATE_NAME,
	CREATE_KIND,
	CREATE_START,
	CREATE_SKIP_MIN,
	CREATE_SKIP_MAX,
	CREATE_BITS,
	CREATE_STRIPES,
	CREATE_IF_NOT_EXISTS
};

/* Arguments of spanner.alter_sequence(), by position. */
enum
{
	ALTER_SEQUENCE,
	ALTER_KIND,
	ALTER_SKIP_MIN,
	ALTER_SKIP_MAX,
	ALTER_NO_SKIP,
	ALTER_RESTART,
	ALTER_BITS,
	ALTER_STRIPES
};

static RangeVar *take_name(text *argument);
static void take_kind(SkSequenceChange *change, const char *kind);
static void take_option(SkSequenceChange *change, FunctionCallInfo fcinfo,
						int argument, const char *name);
static Oid	make_core_sequence(RangeVar *name, bool has_start, int64 start,
							   bool if_not_exists, bool *existed);

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

	if (PG_ARGISNULL(CREATE_NAME))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"name\" must not be null")));
	PreventCommandIfReadOnly("spanner.create_sequence()");
	name = take_name(PG_GETARG_TEXT_PP(CREATE_NAME));

	if (!PG_ARGISNULL(CREATE_KIND))
		take_kind(&change, text_to_cstring(PG_GETARG_TEXT_PP(CREATE_KIND)));
	else if (sk_default_sequence_kind() != NULL)
		take_kind(&change, sk_default_sequence_kind());
	take_option(&change, fcinfo, CREATE_BITS, "bits");
	take_option(&change, fcinfo, CREATE_SKIP_MIN, "skip_range_min");
	take_option(&change, fcinfo, CREATE_SKIP_MAX, "skip_range_max");
	take_option(&change, fcinfo, CREATE_STRIPES, "stripes");
	change.restarts = !PG_ARGISNULL(CREATE_START);
	if (change.restarts)
		change.counter = PG_GETARG_INT64(CREATE_START);

	PG_RETURN_OID(sk_create_sequence(name, &change,
									 !PG_ARGISNULL(CREATE_IF_NOT_EXISTS) &&
									 PG_GETARG_BOOL(CREATE_IF_NOT_EXISTS)));
}

/*
 * sk_create_sequence
 *		Create a sequence of a kind, which "change" has to name.
 */
Oid
sk_create_sequence(RangeVar *name, SkSequenceChange *change,
				   bool if_not_exists)
{
	SkLabel		label;
	SkKind	   *kind;
	bool		existed;
	Oid			seqid;

	if (change->kind == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("The sequence does not have a valid sequence kind. Please specify the sequence kind explicitly or set the database option `default_sequence_kind`."),
				 errhint("Name a kind, such as BIT_REVERSED_POSITIVE, or set spanner.default_sequence_kind.")));
	if (change->restarts)
		sk_check_start_counter(change->counter);

	label.kind = change->kind;
	label.options = change->options;
	kind = sk_kind_make(&label, 63);
	if (change->restarts)
		sk_check_counter_has_value(name->relname, change->counter, kind->options);

	seqid = make_core_sequence(name, change->restarts, change->counter,
							   if_not_exists, &existed);
	Assert(OidIsValid(seqid));
	change->restarts = false;
	if (!existed)
		sk_change_sequence(sk_sequence_read(seqid), change);
	return seqid;
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

	if (PG_ARGISNULL(ALTER_SEQUENCE))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"sequence\" must not be null")));
	PreventCommandIfReadOnly("spanner.alter_sequence()");

	if (!PG_ARGISNULL(ALTER_KIND))
		take_kind(&change, text_to_cstring(PG_GETARG_TEXT_PP(ALTER_KIND)));
	change.no_skip_range = !PG_ARGISNULL(ALTER_NO_SKIP) &&
		PG_GETARG_BOOL(ALTER_NO_SKIP);
	take_option(&change, fcinfo, ALTER_BITS, "bits");
	take_option(&change, fcinfo, ALTER_SKIP_MIN, "skip_range_min");
	take_option(&change, fcinfo, ALTER_SKIP_MAX, "skip_range_max");
	take_option(&change, fcinfo, ALTER_STRIPES, "stripes");
	change.restarts = !PG_ARGISNULL(ALTER_RESTART);
	if (change.restarts)
		change.counter = PG_GETARG_INT64(ALTER_RESTART);

	sk_alter_sequence(PG_GETARG_OID(ALTER_SEQUENCE), &change);
	PG_RETURN_VOID();
}

/*
 * sk_alter_sequence
 *		Change a sequence of the current user's.
 */
void
sk_alter_sequence(Oid seqid, const SkSequenceChange *change)
{
	SkSequence *seq = sk_sequence_lock(seqid, NoLock, change->kind != NULL);
	ListCell   *lc;

	if (change->restarts)
		sk_check_start_counter(change->counter);
	foreach(lc, change->options)
	{
		if (change->no_skip_range &&
			strncmp(((SkOption *) lfirst(lc))->name, "skip_range_", 11) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a skip range cannot be both set and removed")));
	}
	sk_change_sequence(seq, change);
}

/* Read the name of a new sequence. */
static RangeVar *
take_name(text *argument)
{
	char	   *name = text_to_cstring(argument);
	RangeVar   *result = sk_make_range_var(sk_split_name(name), name);

	if (result->schemaname != NULL &&
		strcmp(result->schemaname, "pg_temp") != 0)
		(void) sk_schema_oid(result->schemaname);
	return result;
}

/* Take over a kind, which may come with options as in a label. */
static void
take_kind(SkSequenceChange *change, const char *kind)
{
	SkLabel    *label = sk_label_parse_kind(kind);

	change->kind = label->kind;
	change->options = label->options;
	if (strcmp(label->kind, SK_LOCAL_KIND) != 0 || label->options != NIL)
		(void) sk_sequence_am_get(label->kind);
}

/* Take over an integer or bigint argument, if it is not NULL. */
static void
take_option(SkSequenceChange *change, FunctionCallInfo fcinfo, int argument,
			const char *name)
{
	SkLabel		label = {change->kind, change->options};
	int64		value;

	if (PG_ARGISNULL(argument))
		return;
	if (get_fn_expr_argtype(fcinfo->flinfo, argument) == INT4OID)
		value = PG_GETARG_INT32(argument);
	else
		value = PG_GETARG_INT64(argument);
	sk_label_set(&label, name, psprintf(INT64_FORMAT, value));
	change->options = label.options;
}

/*
 * Run CREATE SEQUENCE, as an unbound sequence whatever the default kind is.
 */
static Oid
make_core_sequence(RangeVar *name, bool has_start, int64 start,
				   bool if_not_exists, bool *existed)
{
	Oid			namespace = RangeVarGetCreationNamespace(name);
	Oid			seqid = get_relname_relid(name->relname, namespace);
	StringInfoData command;
	int			nest_level;

	*existed = OidIsValid(seqid) && if_not_exists;
	if (*existed && get_rel_relkind(seqid) != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a sequence", name->relname)));
	if (OidIsValid(seqid) && !if_not_exists)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", name->relname)));

	initStringInfo(&command);
	appendStringInfo(&command, "CREATE SEQUENCE %s%s",
					 if_not_exists ? "IF NOT EXISTS " : "",
					 quote_qualified_identifier(get_namespace_name(namespace),
												name->relname));
	if (has_start)
		appendStringInfo(&command, " START WITH " INT64_FORMAT, start);

	nest_level = NewGUCNestLevel();
	(void) set_config_option("spanner.default_sequence_kind", "",
							 PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	sk_run_command(command.data);
	AtEOXact_GUC(true, nest_level);
	return get_relname_relid(name->relname, namespace);
}
