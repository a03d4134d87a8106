/*-------------------------------------------------------------------------
 *
 * silence.c
 *	  Rules that are silenced on an object.
 *
 * They stand in a security label of the table or the column, of a provider
 * of our own, apart from the labels of sequences:
 *
 *		label := entry { "," entry }
 *		entry := rule [ "(" index ")" ]
 *
 * An index cannot have a label that a dump would contain, so it is named in
 * the label of its table, quoted as in SQL.  Core dumps the labels, removes
 * them with the object, and lets only the owner set them.
 *
 * src/advisor/silence.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/index.h"
#include "catalog/objectaccess.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "commands/seclabel.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "advisor/rules.h"
#include "advisor/silence.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_silence_rule);
PG_FUNCTION_INFO_V1(spanner_unsilence_rule);

#define SK_ADVISOR_PROVIDER "spanner_keys_advisor"

/* A rule that is silenced, on an index unless the name of that is NULL. */
typedef struct SkSilence
{
	Oid			relid;
	AttrNumber	attnum;			/* 0 for the whole table */
	char	   *rule;
	char	   *index;
} SkSilence;

/* The arguments of both functions. */
typedef struct SkSilenceTarget
{
	ObjectAddress object;
	SkSilence	silence;
} SkSilenceTarget;

static object_access_hook_type prev_object_access_hook = NULL;

static void check_label(const ObjectAddress *object, const char *label);
static void watch_drops(ObjectAccessType access, Oid classid, Oid objectid,
						int subid, void *arg);
static void remove_labels(void);
static bool parse_label(const char *label, List **silences);
static Oid	lock_table(Oid relid);
static void take_arguments(FunctionCallInfo fcinfo, SkSilenceTarget *target);
static List *current_silences(SkSilenceTarget *target);
static void write_label(SkSilenceTarget *target, List *silences);
static bool same_silence(const SkSilence *a, const SkSilence *b);

/*
 * sk_silence_init
 *		Register the label provider, and watch the extension being dropped.
 */
void
sk_silence_init(void)
{
	register_label_provider(SK_ADVISOR_PROVIDER, check_label);
	prev_object_access_hook = object_access_hook;
	object_access_hook = watch_drops;
}

/*
 * sk_silence_load
 *		All rules that are silenced in this database.
 *
 * The caller is connected to SPI.
 */
List *
sk_silence_load(void)
{
	List	   *result = NIL;

	if (SPI_execute("SELECT objoid, objsubid::int2, label FROM pg_seclabel "
					"WHERE provider = '" SK_ADVISOR_PROVIDER "' "
					"AND classoid = 'pg_class'::regclass", true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read the labels");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		List	   *silences = NIL;
		ListCell   *lc;
		bool		isnull;

		(void) parse_label(SPI_getvalue(row, desc, 3), &silences);
		foreach(lc, silences)
		{
			SkSilence  *silence = lfirst(lc);

			silence->relid = DatumGetObjectId(SPI_getbinval(row, desc, 1, &isnull));
			silence->attnum = DatumGetInt16(SPI_getbinval(row, desc, 2, &isnull));
		}
		result = list_concat(result, silences);
	}
	SPI_freetuptable(SPI_tuptable);
	return result;
}

/*
 * sk_silence_covers
 *		Is a rule silenced for an index or column, or for its table?
 */
bool
sk_silence_covers(List *silences, const char *rule, Oid relid, Oid indexid,
				  AttrNumber attnum)
{
	ListCell   *lc;

	foreach(lc, silences)
	{
		SkSilence  *silence = lfirst(lc);
		char	   *index;

		if (silence->relid != relid || strcmp(silence->rule, rule) != 0)
			continue;
		if (silence->attnum != 0 && silence->attnum != attnum)
			continue;
		if (silence->index == NULL)
			return true;
		index = OidIsValid(indexid) ? get_rel_name(indexid) : NULL;
		if (index != NULL && strcmp(silence->index, index) == 0)
			return true;
	}
	return false;
}

/*
 * spanner.silence_rule(object regclass, rule text, "column" name)
 * returns void
 *
 * Has spanner.advise keep quiet about a rule on a table, an index, or, with
 * the third argument, a column.  Only the owner may do it.
 */
Datum
spanner_silence_rule(PG_FUNCTION_ARGS)
{
	SkSilenceTarget target;
	List	   *silences;
	ListCell   *lc;

	take_arguments(fcinfo, &target);
	if (sk_rule_find(target.silence.rule) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("rule \"%s\" does not exist", target.silence.rule),
				 errhint("The view spanner.advisor_rules lists the rules.")));
	silences = current_silences(&target);
	foreach(lc, silences)
	{
		if (same_silence(lfirst(lc), &target.silence))
			PG_RETURN_VOID();
	}
	write_label(&target, lappend(silences, &target.silence));
	PG_RETURN_VOID();
}

/*
 * spanner.unsilence_rule(object regclass, rule text, "column" name)
 * returns boolean
 *
 * Undoes that, and tells whether there was something to undo.
 */
Datum
spanner_unsilence_rule(PG_FUNCTION_ARGS)
{
	SkSilenceTarget target;
	List	   *silences;
	ListCell   *lc;

	take_arguments(fcinfo, &target);
	silences = current_silences(&target);
	foreach(lc, silences)
	{
		if (same_silence(lfirst(lc), &target.silence))
		{
			write_label(&target, list_delete_cell(silences, lc));
			PG_RETURN_BOOL(true);
		}
	}
	PG_RETURN_BOOL(false);
}

/*
 * The provider's hook.  A rule that is not known is accepted: the dump may
 * come from a later release.
 */
static void
check_label(const ObjectAddress *object, const char *label)
{
	List	   *silences;

	if (object->classId != RelationRelationId)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("security labels of provider \"%s\" are for tables and columns",
						SK_ADVISOR_PROVIDER),
				 errhint("Use SECURITY LABEL ON TABLE or ON COLUMN.")));
	if (label != NULL && !parse_label(label, &silences))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("invalid list of rules \"%s\"", label),
				 errhint("Use spanner.silence_rule().")));
}

/* A dump with these labels could not be restored without the extension. */
static void
watch_drops(ObjectAccessType access, Oid classid, Oid objectid, int subid,
			void *arg)
{
	if (prev_object_access_hook)
		prev_object_access_hook(access, classid, objectid, subid, arg);

	if (access == OAT_DROP && classid == ExtensionRelationId &&
		objectid == get_extension_oid("spanner_keys", true))
		remove_labels();
}

static void
remove_labels(void)
{
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute("SELECT classoid, objoid, objsubid FROM pg_catalog.pg_seclabel "
					"WHERE provider OPERATOR(pg_catalog.=) '" SK_ADVISOR_PROVIDER "'",
					true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read the labels");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	row = SPI_tuptable->vals[i];
		TupleDesc	desc = SPI_tuptable->tupdesc;
		ObjectAddress object;
		bool		isnull;

		object.classId = DatumGetObjectId(SPI_getbinval(row, desc, 1, &isnull));
		object.objectId = DatumGetObjectId(SPI_getbinval(row, desc, 2, &isnull));
		object.objectSubId = DatumGetInt32(SPI_getbinval(row, desc, 3, &isnull));
		SetSecurityLabel(&object, SK_ADVISOR_PROVIDER, NULL);
	}
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

/* Read an identifier in double quotes; *pos stands on the first of them. */
static char *
scan_quoted(const char **pos)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (const char *p = *pos + 1; *p != '\0'; p++)
	{
		if (*p == '"' && *++p != '"')
		{
			*pos = p;
			return buf.data;
		}
		appendStringInfoChar(&buf, *p);
	}
	return NULL;
}

/* Read a word of letters, digits and "_". */
static char *
scan_word(const char **pos)
{
	const char *start = *pos + strspn(*pos, " ");
	size_t		length = strspn(start, "abcdefghijklmnopqrstuvwxyz0123456789_");

	*pos = start + length + strspn(start + length, " ");
	return length > 0 ? pnstrdup(start, length) : NULL;
}

/* Take a label apart into a list of SkSilence; false if it is malformed. */
static bool
parse_label(const char *label, List **silences)
{
	const char *pos = label;

	*silences = NIL;
	for (;;)
	{
		SkSilence  *silence = palloc0(sizeof(SkSilence));

		silence->rule = scan_word(&pos);
		if (silence->rule == NULL)
			return false;
		if (*pos == '(')
		{
			if (*++pos != '"' || (silence->index = scan_quoted(&pos)) == NULL ||
				*pos++ != ')')
				return false;
			pos += strspn(pos, " ");
		}
		*silences = lappend(*silences, silence);
		if (*pos == '\0')
			return true;
		if (*pos++ != ',')
			return false;
	}
}

/*
 * The table that a relation is or belongs to, which must not be dropped from
 * now on.
 */
static Oid
lock_table(Oid relid)
{
	char		relkind = get_rel_relkind(relid);
	Oid			result = relid;

	if (relkind == RELKIND_INDEX || relkind == RELKIND_PARTITIONED_INDEX)
		result = IndexGetRelation(relid, true);
	if (OidIsValid(result))
		LockRelationOid(result, AccessShareLock);
	if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)) ||
		!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(result)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid),
				 errhint("Name the relation that the finding is about.")));
	return result;
}

/* Find out which label the arguments are about. */
static void
take_arguments(FunctionCallInfo fcinfo, SkSilenceTarget *target)
{
	Oid			relid;
	char		relkind;

	memset(target, 0, sizeof(SkSilenceTarget));
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("arguments object and rule must not be null"),
				 errhint("Name a table or an index, and a rule.")));
	relid = lock_table(PG_GETARG_OID(0));
	relkind = get_rel_relkind(PG_GETARG_OID(0));
	target->silence.rule = text_to_cstring(PG_GETARG_TEXT_PP(1));

	if (relkind == RELKIND_INDEX || relkind == RELKIND_PARTITIONED_INDEX)
		target->silence.index = get_rel_name(PG_GETARG_OID(0));
	else if (relkind != RELKIND_RELATION &&
			 relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is neither a table nor an index",
						get_rel_name(relid)),
				 errhint("Name the relation that the finding is about.")));
	ObjectAddressSet(target->object, RelationRelationId, relid);
	if (!PG_ARGISNULL(2))
	{
		char	   *column = NameStr(*PG_GETARG_NAME(2));

		target->object.objectSubId = get_attnum(relid, column);
		if (target->object.objectSubId <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of table \"%s\" does not exist",
							column, get_rel_name(relid)),
					 errhint("Names are taken as they are, in upper and lower case.")));
	}
}

static List *
current_silences(SkSilenceTarget *target)
{
	char	   *label = GetSecurityLabel(&target->object, SK_ADVISOR_PROVIDER);
	List	   *result = NIL;

	if (label != NULL)
		(void) parse_label(label, &result);
	return result;
}

/* Through core's own front door, which checks that the caller is the owner. */
static void
write_label(SkSilenceTarget *target, List *silences)
{
	Oid			relid = target->object.objectId;
	StringInfoData label;
	StringInfoData command;
	ListCell   *lc;
	const char *separator = "";

	initStringInfo(&label);
	foreach(lc, silences)
	{
		SkSilence  *silence = lfirst(lc);

		appendStringInfo(&label, "%s%s", separator, silence->rule);
		if (silence->index != NULL)
		{
			appendStringInfoString(&label, "(\"");
			for (const char *p = silence->index; *p != '\0'; p++)
			{
				if (*p == '"')
					appendStringInfoChar(&label, '"');
				appendStringInfoChar(&label, *p);
			}
			appendStringInfoString(&label, "\")");
		}
		separator = ", ";
	}

	initStringInfo(&command);
	appendStringInfo(&command, "SECURITY LABEL FOR " SK_ADVISOR_PROVIDER " ON %s %s",
					 target->object.objectSubId != 0 ? "COLUMN" : "TABLE",
					 sk_qualified_name(relid));
	if (target->object.objectSubId != 0)
		appendStringInfo(&command, ".%s",
						 quote_identifier(get_attname(relid, target->object.objectSubId, false)));
	appendStringInfo(&command, " IS %s",
					 silences == NIL ? "NULL" : quote_literal_cstr(label.data));

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (SPI_execute(command.data, false, 0) != SPI_OK_UTILITY)
		elog(ERROR, "command failed: %s", command.data);
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
}

static bool
same_silence(const SkSilence *a, const SkSilence *b)
{
	if (strcmp(a->rule, b->rule) != 0)
		return false;
	if (a->index == NULL || b->index == NULL)
		return a->index == b->index;
	return strcmp(a->index, b->index) == 0;
}
