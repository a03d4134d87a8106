/*-------------------------------------------------------------------------
 *
 * sequence_commands.c
 *	  spanner.create_sequence() and spanner.alter_sequence().
 *
 * Both leave what core can do to CREATE SEQUENCE and ALTER SEQUENCE, and add
 * the binding.  A change that could make a sequence give a value again is
 * refused unless the user restarts the counter in the same call.
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

#include "compat.h"
#include "sequence/binding.h"
#include "sequence/counter.h"
#include "sequence/default_kind.h"
#include "sequence/kind_change.h"
#include "sequence/label.h"
#include "sequence/object_name.h"
#include "sequence/redirect/column_default.h"
#include "sequence/redirect/identity_column.h"
#include "sequence/registry.h"
#include "sequence/spacing.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_create_sequence);
PG_FUNCTION_INFO_V1(spanner_alter_sequence);

/* Kind of a sequence that is not bound. */
#define SK_LOCAL_KIND "local"

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
static void take_int_argument(SkLabel *label, FunctionCallInfo fcinfo,
							  int argument, const char *name);
static void check_start_counter(int64 counter);
static void check_start_has_value(const char *name, int64 start,
								  const SkSequenceOptions *options);
static Oid	make_core_sequence(RangeVar *name, bool has_start, int64 start,
							   bool if_not_exists, bool *existed);
static SkLabel *current_label(Oid seqid);
static SkLabel *altered_label(FunctionCallInfo fcinfo, Oid seqid);
static SkLabel *label_of_kind(const char *kind, SkLabel *old);
static void lock_own_sequence(Oid seqid);
static void check_change(FunctionCallInfo fcinfo, Oid seqid, SkLabel *old,
						 SkLabel *new);
static void protect_given_values(Oid seqid, SkLabel *new, int64 next);
static void restart_counter(Oid seqid, int64 counter);

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
	RangeVar   *name;
	SkLabel    *label;
	const SequenceAccessMethod *am;
	SkSequenceOptions *options;
	int64		start = 1;
	bool		existed;
	Oid			seqid;
	char	   *kind;

	if (PG_ARGISNULL(CREATE_NAME))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument name must not be null"),
				 errhint("Name the sequence, with its schema if need be.")));
	PreventCommandIfReadOnly("spanner.create_sequence()");
	name = take_name(PG_GETARG_TEXT_PP(CREATE_NAME));

	if (!PG_ARGISNULL(CREATE_KIND))
		kind = text_to_cstring(PG_GETARG_TEXT_PP(CREATE_KIND));
	else
		kind = sk_default_sequence_kind();
	if (kind == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("The sequence does not have a valid sequence kind. Please specify the sequence kind explicitly or set the database option `default_sequence_kind`."),
				 errhint("Give kind => 'bit_reversed_positive', or set spanner.default_sequence_kind.")));

	label = sk_label_parse_kind(kind);
	am = sk_sequence_am_get(label->kind);
	if (!PG_ARGISNULL(CREATE_START))
	{
		start = PG_GETARG_INT64(CREATE_START);
		check_start_counter(start);
	}
	take_int_argument(label, fcinfo, CREATE_BITS, "bits");
	take_int_argument(label, fcinfo, CREATE_SKIP_MIN, "skip_range_min");
	take_int_argument(label, fcinfo, CREATE_SKIP_MAX, "skip_range_max");
	take_int_argument(label, fcinfo, CREATE_STRIPES, "stripes");
	options = sk_sequence_am_parse(am, label->options, 63);
	check_start_has_value(name->relname, start, options);

	seqid = make_core_sequence(name, !PG_ARGISNULL(CREATE_START), start,
							   !PG_ARGISNULL(CREATE_IF_NOT_EXISTS) &&
							   PG_GETARG_BOOL(CREATE_IF_NOT_EXISTS),
							   &existed);
	if (!existed)
		sk_binding_set(seqid, sk_label_format(am->name,
											  sk_sequence_am_describe(am, options)));
	PG_RETURN_OID(seqid);
}

/*
 * spanner.alter_sequence(seq regclass, kind text,
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
	Oid			seqid;
	SkLabel    *old;
	SkLabel    *new;

	if (PG_ARGISNULL(ALTER_SEQUENCE))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument seq must not be null"),
				 errhint("Name the sequence, with its schema if need be.")));
	PreventCommandIfReadOnly("spanner.alter_sequence()");
	seqid = PG_GETARG_OID(ALTER_SEQUENCE);
	lock_own_sequence(seqid);

	old = current_label(seqid);
	if (!PG_ARGISNULL(ALTER_RESTART))
		check_start_counter(PG_GETARG_INT64(ALTER_RESTART));
	new = altered_label(fcinfo, seqid);
	if (new != NULL)
		sk_binding_check_sequence(seqid);
	check_change(fcinfo, seqid, old, new);

	if (new == NULL)
	{
		sk_restore_identity(seqid, sk_sequence_identity(seqid));
		sk_binding_set(seqid, NULL);
	}
	else
	{
		const SequenceAccessMethod *am = sk_sequence_am_get(new->kind);
		int			width = sk_sequence_width(seqid);
		SkSequenceOptions *options = sk_sequence_am_parse(am, new->options,
														  width);

		if (!PG_ARGISNULL(ALTER_RESTART))
			check_start_has_value(get_rel_name(seqid),
								  PG_GETARG_INT64(ALTER_RESTART), options);
		sk_report_overlap(seqid, am, options);
		sk_binding_set(seqid, sk_label_format(am->name,
											  sk_sequence_am_describe(am, options)));
	}
	if (old == NULL && new != NULL)
		sk_use_sequence(seqid);
	if (!PG_ARGISNULL(ALTER_RESTART))
		restart_counter(seqid, PG_GETARG_INT64(ALTER_RESTART));
	PG_RETURN_VOID();
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

/* Take over an integer or bigint argument, if it is not NULL. */
static void
take_int_argument(SkLabel *label, FunctionCallInfo fcinfo, int argument,
				  const char *name)
{
	int64		value;

	if (PG_ARGISNULL(argument))
		return;
	if (get_fn_expr_argtype(fcinfo->flinfo, argument) == INT4OID)
		value = PG_GETARG_INT32(argument);
	else
		value = PG_GETARG_INT64(argument);
	sk_label_set(label, name, psprintf(INT64_FORMAT, value));
}

static void
check_start_counter(int64 counter)
{
	if (counter < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("`start_with_counter` has to be a positive INT64 number"),
				 errhint("Counters begin at 1.")));
}

static void
check_start_has_value(const char *name, int64 start,
					  const SkSequenceOptions *options)
{
	if (start > options->max_counter)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
				 errmsg("Sequence %s is exhausted", name),
				 errdetail("The last counter that has a value of %d bits is %lld.",
						   options->bits, (long long) options->max_counter),
				 errhint("Start with a smaller counter.")));
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
				 errmsg("\"%s\" is not a sequence", name->relname),
				 errhint("Choose another name.")));
	if (OidIsValid(seqid) && !if_not_exists)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", name->relname),
				 errhint("Choose another name.")));

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

/* The label of a sequence, taken apart anew; NULL if it is not bound. */
static SkLabel *
current_label(Oid seqid)
{
	char	   *text = sk_binding_label(seqid);
	const char *problem;

	return text !=NULL ? sk_label_parse(text, &problem) : NULL;
}

/* What the label shall be; NULL for a sequence that is not to be bound. */
static SkLabel *
altered_label(FunctionCallInfo fcinfo, Oid seqid)
{
	bool		no_skip = !PG_ARGISNULL(ALTER_NO_SKIP) &&
		PG_GETARG_BOOL(ALTER_NO_SKIP);
	bool		has_skip = !PG_ARGISNULL(ALTER_SKIP_MIN) ||
		!PG_ARGISNULL(ALTER_SKIP_MAX);
	bool		has_options = no_skip || has_skip ||
		!PG_ARGISNULL(ALTER_BITS) || !PG_ARGISNULL(ALTER_STRIPES);
	SkLabel    *label = current_label(seqid);

	if (no_skip && has_skip)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a skip range cannot be both set and removed"),
				 errhint("Give either the bounds or no_skip_range.")));

	if (!PG_ARGISNULL(ALTER_KIND))
		label = label_of_kind(text_to_cstring(PG_GETARG_TEXT_PP(ALTER_KIND)),
							  label);
	if (label == NULL)
	{
		if (has_options)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("sequence \"%s\" has no access method that takes options",
							get_rel_name(seqid)),
					 errhint("Give kind => 'bit_reversed_positive' as well.")));
		return NULL;
	}

	if (no_skip)
	{
		sk_label_unset(label, "skip_range_min");
		sk_label_unset(label, "skip_range_max");
	}
	take_int_argument(label, fcinfo, ALTER_BITS, "bits");
	take_int_argument(label, fcinfo, ALTER_SKIP_MIN, "skip_range_min");
	take_int_argument(label, fcinfo, ALTER_SKIP_MAX, "skip_range_max");
	take_int_argument(label, fcinfo, ALTER_STRIPES, "stripes");
	return label;
}

/*
 * A label of the kind that the user names.  The options of before stay if
 * the kind does; the mark of an identity column always stays.
 */
static SkLabel *
label_of_kind(const char *kind, SkLabel *old)
{
	SkLabel    *label;
	List	   *given;
	ListCell   *lc;
	bool		same_kind;

	if (strcmp(kind, SK_LOCAL_KIND) == 0)
		return NULL;

	label = sk_label_parse_kind(kind);
	(void) sk_sequence_am_get(label->kind);
	if (old == NULL)
		return label;

	same_kind = strcmp(label->kind, old->kind) == 0;
	given = label->options;
	label->options = NIL;
	foreach(lc, old->options)
	{
		SkOption   *option = lfirst(lc);

		if (same_kind || strcmp(option->name, "identity") == 0)
			label->options = lappend(label->options, option);
	}
	foreach(lc, given)
	{
		SkOption   *option = lfirst(lc);

		sk_label_set(label, option->name, pstrdup(option->value));
	}
	return label;
}

/* Wait for those who draw from a sequence that we own. */
static void
lock_own_sequence(Oid seqid)
{
	char		relkind = get_rel_relkind(seqid);

	if (relkind == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("sequence with OID %u does not exist", seqid),
				 errhint("Name the sequence, with its schema if need be.")));
	if (relkind != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a sequence", get_rel_name(seqid)),
				 errhint("The sequence of a column is told by pg_get_serial_sequence().")));
	if (!object_ownercheck(RelationRelationId, seqid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_SEQUENCE,
					   get_rel_name(seqid));

	LockRelationOid(seqid, ShareRowExclusiveLock);
	if (get_rel_relkind(seqid) != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("sequence with OID %u was dropped concurrently",
						seqid),
				 errhint("Name another sequence.")));
}

/* Refuse what could give a value again. */
static void
check_change(FunctionCallInfo fcinfo, Oid seqid, SkLabel *old, SkLabel *new)
{
	int64		next;
	bool		used;

	if (!PG_ARGISNULL(ALTER_RESTART) || (old == NULL && new == NULL))
		return;
	if (!sk_counter_state(seqid, &next, &used) || !used)
		return;

	if (old == NULL)
		protect_given_values(seqid, new, next);
	else if (new == NULL)
		ereport(WARNING,
				(errcode(ERRCODE_WARNING),
				 errmsg("sequence \"%s\" may later give values that it has given before",
						get_rel_name(seqid)),
				 errdetail("It goes on with its plain counter, at %lld.",
						   (long long) next),
				 errhint("Use a new sequence for keys that must stay unique.")));
	else
		sk_check_same_mapping(seqid, old, new);
}

/*
 * A used core sequence has given the values up to its counter.  Have them
 * skipped from now on.
 */
static void
protect_given_values(Oid seqid, SkLabel *new, int64 next)
{
	SkSequenceOptions *options;

	options = sk_sequence_am_parse(sk_sequence_am_get(new->kind),
								   new->options, sk_sequence_width(seqid));
	if (options->has_skip_range)
	{
		if (options->skip_range_min <= 1 &&
			options->skip_range_max >= next - 1)
			return;
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("skip range does not cover the values that sequence \"%s\" has given",
						get_rel_name(seqid)),
				 errdetail("It has given values up to %lld.",
						   (long long) (next - 1)),
				 errhint("Give skip_range_min => 1, skip_range_max => %lld, or a wider range.",
						 (long long) (next - 1))));
	}

	sk_label_set(new, "skip_range_min", "1");
	sk_label_set(new, "skip_range_max", psprintf(INT64_FORMAT, next - 1));
	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg("sequence \"%s\" skips the values 1 to %lld, which it may have given before",
					get_rel_name(seqid), (long long) (next - 1))));
}

/*
 * Restart the counter.  A sequence that has not been used yet also gets a
 * new start counter, so that its state stays unknown, as in Spanner.
 */
static void
restart_counter(Oid seqid, int64 counter)
{
	StringInfoData command;
	int64		next;
	bool		used;

	initStringInfo(&command);
	appendStringInfo(&command, "ALTER SEQUENCE %s", sk_qualified_name(seqid));
	if (sk_counter_state(seqid, &next, &used) && !used)
		appendStringInfo(&command, " START WITH " INT64_FORMAT, counter);
	appendStringInfo(&command, " RESTART WITH " INT64_FORMAT, counter);
	sk_run_command(command.data);
}
