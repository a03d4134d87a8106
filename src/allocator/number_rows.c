/*-------------------------------------------------------------------------
 *
 * number_rows.c
 *	  What makes a column one of numbers, and mistakes in it.
 *
 * spanner.number_rows() makes the allocator, the unique index and the trigger
 * for a column, all with commands that anybody could run, which it returns.
 * The table is locked before it is looked at, and no command runs before all is
 * found to be in order.  Index and trigger have the same name: so
 * spanner.stop_numbering() finds the index, also after a dump.
 *
 * Who makes a trigger of spanner.assign_on_commit() by hand, or a default that
 * takes from an allocator of mode on_commit, is told of a mistake at once, not
 * with the first row.  A dump makes triggers and defaults without a check: it
 * brings tables before allocators, or no allocators at all.
 *
 * Core drops the events of a trigger with it, so that rows of the same
 * transaction would stay without a number.  That is refused, as core refuses
 * ALTER TABLE.
 *
 * src/allocator/number_rows.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/objectaccess.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"

#include "allocator/allocator.h"
#include "compat.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/own_objects.h"
#include "spi/owner_rights.h"
#include "spi/relation_query.h"
#include "spi/run_command.h"

PG_FUNCTION_INFO_V1(spanner_number_rows);
PG_FUNCTION_INFO_V1(spanner_stop_numbering);

static object_access_hook_type prev_object_access_hook = NULL;

/* What is to be numbered, and the commands that do it. */
typedef struct Request
{
	Relation	rel;
	SkNumberedColumn column;
	char	   *names[SK_MAX_SERIES_COLUMNS + 1];	/* of these columns */
	char	   *allocator;
	bool		is_named;		/* by the user */
	char	   *table;			/* qualified */
	List	   *commands;
} Request;

static void keep_waiting_rows(ObjectAccessType access, Oid class, Oid object,
							  int column, void *arg);
static void check_command(Node *command, List *relations);
static bool sets_defaults(Node *command);
static void check_new_trigger(Oid relid, const char *name);
static void check_defaults(Oid relid);
static bool read_allocator(const char *name, SkAllocatorRow *row);
static bool check_calls(Node *node, void *context);
static List *numbering_triggers(Relation rel, const char *column);
static void read_names(FunctionCallInfo fcinfo, Request *request);
static void check_tree(const Request *request);
static void check_partition_key(const Request *request);
static void add_allocator(Request *request);
static bool is_numbered(const SkNumberedColumn *column, AttrNumber attnum);
static bool keeps_unique(const Request *request);
static char *column_list(const Request *request, bool is_argument);
static void add_index_and_trigger(Request *request);
static void add_stored_numbers(Request *request);
static char *series_arguments(const Request *request, TupleTableSlot *slot);
static void check_unique(const Request *request);
static void report_unnumbered(const Request *request, int64 count);
static void run_commands(FunctionCallInfo fcinfo, List *commands, bool dry_run);
static void check_outcome(Oid relid, const char *column, bool is_numbered);

/*
 * sk_number_rows_init
 *		Watch commands that make triggers and defaults, or drop triggers.
 */
void
sk_number_rows_init(void)
{
	prev_object_access_hook = object_access_hook;
	object_access_hook = keep_waiting_rows;
	sk_on_command(NULL, NULL, check_command);
}

/*
 * Refuse to drop a trigger while rows wait for it to number them: core would forget
 * them.  A command may drop it, or what its condition needs, or detach a partition.
 */
static void
keep_waiting_rows(ObjectAccessType access, Oid class, Oid object, int column,
				  void *arg)
{
	if (access == OAT_DROP && class == TriggerRelationId)
	{
		Relation	catalog = table_open(class, AccessShareLock);
		HeapTuple	tuple = get_catalog_object_by_oid(catalog, Anum_pg_trigger_oid, object);
		Form_pg_trigger trigger = HeapTupleIsValid(tuple) ?
			(Form_pg_trigger) GETSTRUCT(tuple) : NULL;

		table_close(catalog, AccessShareLock);
		if (trigger != NULL && AfterTriggerPendingOnRel(trigger->tgrelid) &&
			sk_is_function(trigger->tgfoid, SK_FUNCTION_ASSIGN_ON_COMMIT))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("cannot drop trigger \"%s\" of relation \"%s\" because it has pending trigger events",
							NameStr(trigger->tgname), get_rel_name(trigger->tgrelid)),
					 errdetail("Rows of this transaction wait for a number."),
					 errhint("Commit first, or run SET CONSTRAINTS ALL IMMEDIATE.")));
	}
	if (prev_object_access_hook)
		prev_object_access_hook(access, class, object, column, arg);
}

/* A command has made or altered tables: look at what it has made. */
static void
check_command(Node *command, List *relations)
{
	ListCell   *lc;

	if (creating_extension || sk_restoring() || sk_sent_by_citus())
		return;
	foreach(lc, relations)
	{
		SkCommandRelation *relation = lfirst(lc);

		if (relation->relkind != RELKIND_RELATION &&
			relation->relkind != RELKIND_PARTITIONED_TABLE &&
			relation->relkind != RELKIND_FOREIGN_TABLE)
			continue;
		if (IsA(command, CreateTrigStmt))
			check_new_trigger(relation->relid, ((CreateTrigStmt *) command)->trigname);
		else if (relation->is_new || sets_defaults(command))
			check_defaults(relation->relid);
	}
}

static bool
sets_defaults(Node *command)
{
	ListCell   *lc;

	if (!IsA(command, AlterTableStmt))
		return false;
	foreach(lc, ((AlterTableStmt *) command)->cmds)
	{
		AlterTableCmd *cmd = lfirst(lc);

		if (cmd->subtype == AT_ColumnDefault || cmd->subtype == AT_AddColumn)
			return true;
	}
	return false;
}

static void
check_new_trigger(Oid relid, const char *name)
{
	Relation	rel = table_open(relid, NoLock);
	ListCell   *lc;

	foreach(lc, numbering_triggers(rel, NULL))
	{
		const Trigger *trigger = lfirst(lc);
		SkNumberedColumn column;
		SkAllocatorRow row;

		if (strcmp(trigger->tgname, name) != 0)
			continue;
		sk_check_numbering_trigger(trigger);
		sk_numbered_column(rel, trigger->tgargs + 1, trigger->tgnargs - 1, &column);
		if (read_allocator(trigger->tgargs[0], &row))
			(void) sk_numbering_allocator(trigger->tgargs[0]);
	}
	table_close(rel, NoLock);
}

static void
check_defaults(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	TupleConstr *constr = RelationGetDescr(rel)->constr;

	for (int i = 0; constr != NULL && i < constr->num_defval; i++)
	{
		const char *expression = constr->defval[i].adbin;

		/* most defaults call no function, and need no tree */
		if (strstr(expression, "{FUNCEXPR ") != NULL)
			(void) check_calls(stringToNode(expression), NULL);
	}
	table_close(rel, NoLock);
}

/* Read an allocator.  One that does not exist may be made afterwards. */
static bool
read_allocator(const char *name, SkAllocatorRow *row)
{
	bool		result = sk_allocator_read(name, 0, row);

	if (!result)
		sk_report_missing(WARNING, name, 0, true);
	return result;
}

/* Look at the allocators that an expression takes from by a constant name. */
static bool
check_calls(Node *node, void *context)
{
	FuncExpr   *call = (FuncExpr *) node;
	Const	   *name;
	SkAllocatorRow row;

	if (node == NULL)
		return false;
	if (!IsA(node, FuncExpr) ||
		!(sk_is_function(call->funcid, SK_FUNCTION_NEXT_VALUE) ||
		  sk_is_function(call->funcid, SK_FUNCTION_NEXT_VALUE_OF_SERIES)))
		return expression_tree_walker(node, check_calls, context);
	name = linitial(call->args);
	if (!IsA(name, Const) || name->constisnull)
		return false;
	if (read_allocator(TextDatumGetCString(name->constvalue), &row) &&
		row.mode == SK_MODE_ON_COMMIT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("allocator \"%s\" assigns values on commit, so that no default can take them",
						row.name),
				 errhint("Leave the default out, and use spanner.number_rows().")));
	return false;
}

/*
 * The triggers that number a column, or any column.  They name it, also when it
 * has got another name or is gone.  They are copies: the relation cache may be
 * built anew at any look into a catalog.
 */
static List *
numbering_triggers(Relation rel, const char *column)
{
	TriggerDesc *triggers = CopyTriggerDesc(rel->trigdesc);
	List	   *result = NIL;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];

		if (sk_is_function(trigger->tgfoid, SK_FUNCTION_ASSIGN_ON_COMMIT) &&
			(column == NULL ||
			 (trigger->tgnargs >= 2 && strcmp(trigger->tgargs[1], column) == 0)))
			result = lappend(result, trigger);
	}
	return result;
}

/* The columns of the arguments, and the name of the allocator. */
static void
read_names(FunctionCallInfo fcinfo, Request *request)
{
	Datum	   *names;
	bool	   *nulls;
	int			count;

	request->names[0] = NameStr(*PG_GETARG_NAME(1));
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  &names, &nulls, &count);
	if (count > SK_MAX_SERIES_COLUMNS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a series is told by at most %d columns", SK_MAX_SERIES_COLUMNS)));
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("column %d of the series must not be null", i + 1)));
		request->names[i + 1] = NameStr(*DatumGetName(names[i]));
		for (int j = 1; j <= i; j++)
			if (strcmp(request->names[j], request->names[i + 1]) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column \"%s\" is in the series more than once", request->names[j])));
	}
	sk_numbered_column(request->rel, request->names, count + 1, &request->column);
	/* such a row would never be without a value */
	if (TupleDescAttr(RelationGetDescr(request->rel), request->column.attnum - 1)->atthasdef)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of relation \"%s\" has a default",
						request->names[0], RelationGetRelationName(request->rel)),
				 errdetail("Only rows without a value get a number."),
				 errhint("Run ALTER TABLE %s ALTER COLUMN %s DROP DEFAULT.",
						 sk_qualified_name(RelationGetRelid(request->rel)),
						 quote_identifier(request->names[0]))));
	request->is_named = !PG_ARGISNULL(3);
	request->allocator = request->is_named ? text_to_cstring(PG_GETARG_TEXT_PP(3)) :
		psprintf("%s_%s", RelationGetRelationName(request->rel), request->names[0]);
	request->table = sk_qualified_name(RelationGetRelid(request->rel));
}

/* Rows that come another way must not stay without a number. */
static void
check_tree(const Request *request)
{
	Relation	rel = request->rel;

	if (rel->rd_rel->relispartition)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a partition", RelationGetRelationName(rel)),
				 errhint("Number the rows of the partitioned table.")));
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		check_partition_key(request);
	else if (has_subclass(RelationGetRelid(rel)))
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("rows of tables that inherit from \"%s\" are not numbered",
						RelationGetRelationName(rel)),
				 errhint("Call spanner.number_rows() for each of these tables, with allocator => %s.",
						 quote_literal_cstr(request->allocator))));
}

/* A unique index of a partitioned table must have its partition key. */
static void
check_partition_key(const Request *request)
{
	PartitionKey key = RelationGetPartitionKey(request->rel);

	for (int i = 0; i < key->partnatts; i++)
	{
		AttrNumber	attnum = key->partattrs[i];

		if (attnum != 0 && is_numbered(&request->column, attnum))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("numbers of partitioned table \"%s\" cannot be kept unique",
						RelationGetRelationName(request->rel)),
				 attnum == 0 ?
				 errdetail("Its partition key is an expression.") :
				 errdetail("Column \"%s\" of its partition key is none of those that tell the series.",
						   get_attname(RelationGetRelid(request->rel), attnum, false)),
				 attnum == 0 ? 0 :
				 errhint("Name the column in \"%s\", or make allocator and trigger by hand, without a unique index.",
						 "series")));
	}
}

/* Use the allocator, or have it made for the owner of the table. */
static void
add_allocator(Request *request)
{
	char	   *name = quote_literal_cstr(request->allocator);
	Oid			owner = request->rel->rd_rel->relowner;
	SkAllocatorRow row;
	List	   *users;

	if (!sk_allocator_read(request->allocator, 0, &row))
	{
		request->commands =
			lappend(request->commands,
					psprintf("SELECT spanner.create_allocator(%s, 'on_commit')", name));
		if (owner != GetUserId())
			request->commands =
				lappend(request->commands,
						psprintf("SELECT spanner.alter_allocator(%s, owner_role => %s)", name,
								 quote_literal_cstr(quote_identifier(GetUserNameFromId(owner, false)))));
		return;
	}
	(void) sk_numbering_allocator(request->allocator);
	(void) sk_check_usage(&row, owner, false);
	users = sk_query_texts(psprintf("SELECT * FROM spanner_internal.users_of_allocator(%s)", name));

	/*
	 * two tables would leave gaps in each other's numbers, and who owns the
	 * allocator can do what they like with them
	 */
	if (!request->is_named && (users != NIL || !has_privs_of_role(owner, row.owner_role)))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("allocator \"%s\" is in use", request->allocator),
				 users != NIL ?
				 errdetail("It is used by: %s.", (char *) linitial(users)) :
				 errdetail("It belongs to role \"%s\".", GetUserNameFromId(row.owner_role, false)),
				 errhint("Choose another name with allocator => ..., or this one, to have both share its numbers.")));
}

static bool
is_numbered(const SkNumberedColumn *column, AttrNumber attnum)
{
	bool		result = attnum == column->attnum;

	for (int i = 0; i < column->series_count; i++)
		result |= attnum == column->series[i];
	return result;
}

/*
 * Does an index keep the numbers unique in their series already?  One that does
 * not have all columns of the series would refuse the numbers of another one.
 */
static bool
keeps_unique(const Request *request)
{
	const SkNumberedColumn *column = &request->column;
	bool		result = false;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(request->rel))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		Form_pg_index form = index->rd_index;
		bool		has_number = false;
		bool		has_others = !form->indisunique || RelationGetIndexPredicate(index) != NIL;

		for (int i = 0; i < form->indnkeyatts; i++)
		{
			has_number |= form->indkey.values[i] == column->attnum;
			has_others |= !is_numbered(column, form->indkey.values[i]);
		}
		if (has_number && !has_others && form->indnkeyatts <= column->series_count)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("unique index \"%s\" lacks columns that tell the series",
							RelationGetRelationName(index)),
					 errdetail("Each series has the same numbers."),
					 errhint("Drop the index or its constraint.")));
		if (has_number && !has_others && form->indnullsnotdistinct)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("unique index \"%s\" is NULLS NOT DISTINCT",
							RelationGetRelationName(index)),
					 errdetail("Rows have no number until their transaction commits."),
					 errhint("Drop the index or its constraint.")));
		result |= has_number && !has_others && form->indisvalid;
		index_close(index, AccessShareLock);
	}
	return result;
}

/* The columns of the series and the number, or as arguments of the trigger. */
static char *
column_list(const Request *request, bool is_argument)
{
	StringInfoData result;
	int			count = request->column.series_count + 1;

	initStringInfo(&result);
	for (int i = 0; i < count; i++)
	{
		/* the number is the first argument, and the last column of the index */
		const char *name = request->names[is_argument ? i : (i + 1) % count];

		appendStringInfo(&result, "%s%s", i > 0 ? ", " : "",
						 is_argument ? quote_literal_cstr(name) : quote_identifier(name));
	}
	return result.data;
}

static void
add_index_and_trigger(Request *request)
{
	Relation	rel = request->rel;
	const char *name = quote_identifier(ChooseRelationName(RelationGetRelationName(rel),
														   request->names[0], "assign",
														   RelationGetNamespace(rel), true));

	if (!keeps_unique(request))
		request->commands =
			lappend(request->commands,
					psprintf("CREATE UNIQUE INDEX %s ON %s (%s)", name, request->table,
							 column_list(request, false)));
	request->commands =
		lappend(request->commands,
				psprintf("CREATE CONSTRAINT TRIGGER %s AFTER INSERT OR UPDATE ON %s"
						 " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
						 " EXECUTE FUNCTION spanner.assign_on_commit(%s, %s)",
						 name, request->table, quote_literal_cstr(request->allocator),
						 column_list(request, true)));
}

/*
 * The allocator goes on after the numbers that are there, in each series.  Rows
 * without a number keep none.
 */
static void
add_stored_numbers(Request *request)
{
	int			count = request->column.series_count;
	SkRelationQuery query = {.all_rows = true};
	const char *number = quote_identifier(request->names[0]);
	int64		unnumbered = 0;
	StringInfoData groups;
	TupleTableSlot *slot;
	Tuplestorestate *rows;

	initStringInfo(&groups);
	for (int i = 0; i < count; i++)
		appendStringInfo(&groups, ", t.%s", quote_identifier(request->names[i + 1]));
	query.relids = list_make1_oid(RelationGetRelid(request->rel));
	/* not of tables that inherit from it, which are not partitions */
	query.text = psprintf("SELECT pg_catalog.int8(pg_catalog.max(pg_catalog.ceil(t.%s::pg_catalog.numeric))),"
						  " pg_catalog.count(*) FILTER (WHERE t.%s IS NULL),"
						  " pg_catalog.count(t.%s) OPERATOR(pg_catalog.-) pg_catalog.count(DISTINCT t.%s)%s FROM %s%s t",
						  number, number, number, number, groups.data,
						  request->rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ? "" : "ONLY ",
						  request->table);
	/* in an order, so that the same commands are printed again */
	if (count > 0)
		query.text = psprintf("%s GROUP BY %s ORDER BY %s", query.text, groups.data + 2, groups.data + 2);
	rows = sk_query_relation(&query, &slot);
	while (tuplestore_gettupleslot(rows, true, false, slot))
	{
		bool		isnull;
		int64		next = DatumGetInt64(slot_getattr(slot, 1, &isnull));
		char	   *series = isnull ? NULL : series_arguments(request, slot);

		unnumbered += DatumGetInt64(slot_getattr(slot, 2, &isnull));
		if (series != NULL && DatumGetInt64(slot_getattr(slot, 3, &isnull)) > 0)
			check_unique(request);
		if (series != NULL)
			request->commands =
				lappend(request->commands,
						psprintf("SELECT spanner.advance_allocator(%s, %lld%s)",
								 quote_literal_cstr(request->allocator),
								 (long long) (next < PG_INT64_MAX ? next + 1 : next), series));
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(rows);
	if (unnumbered > 0)
		report_unnumbered(request, unnumbered);
}

/*
 * The values of a series as further arguments of a function, NULL if one of
 * them is null: such a row has got its number by hand.
 */
static char *
series_arguments(const Request *request, TupleTableSlot *slot)
{
	StringInfoData result;

	initStringInfo(&result);
	for (int i = 0; i < request->column.series_count; i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(request->rel),
												 request->column.series[i] - 1);
		bool		isnull;
		Datum		value = slot_getattr(slot, i + 4, &isnull);

		if (isnull)
			return NULL;
		appendStringInfo(&result, ", %s",
						 quote_literal_cstr(TextDatumGetCString(sk_series_text(value, column->atttypid))));
	}
	return result.data;
}

/* A number that is there twice is in the way of the unique index. */
static void
check_unique(const Request *request)
{
	char	   *columns = column_list(request, false);

	if (!keeps_unique(request))
		ereport(ERROR,
				(errcode(ERRCODE_UNIQUE_VIOLATION),
				 errmsg("numbers in column \"%s\" of relation \"%s\" are not unique",
						request->names[0], RelationGetRelationName(request->rel)),
				 errhint("Change those that SELECT %s FROM %s GROUP BY %s HAVING count(*) > 1 finds.",
						 columns, request->table, columns)));
}

static void
report_unnumbered(const Request *request, int64 count)
{
	const char *number = quote_identifier(request->names[0]);

	ereport(NOTICE,
			(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
			 errmsg_plural("%lld row of \"%s\" has no number", "%lld rows of \"%s\" have no number",
						   count, (long long) count, RelationGetRelationName(request->rel)),
			 errhint("UPDATE %s SET %s = NULL WHERE %s IS NULL numbers such rows.",
					 request->table, number, number)));
}

/* Return the commands, and run them unless it is a dry run. */
static void
run_commands(FunctionCallInfo fcinfo, List *commands, bool dry_run)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	foreach(lc, commands)
	{
		Datum		value = CStringGetTextDatum(lfirst(lc));
		bool		isnull = false;

		if (!dry_run)
			sk_run_command(lfirst(lc));
		tuplestore_putvalues(result->setResult, result->setDesc, &value, &isnull);
	}
}

/*
 * The commands name the table, and a schema can be renamed although its tables
 * are locked.  So see whether they were for this one; if not, all is undone.
 */
static void
check_outcome(Oid relid, const char *column, bool is_numbered)
{
	Relation	rel = table_open(relid, NoLock);

	if ((numbering_triggers(rel, column) != NIL) != is_numbered)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("relation \"%s\" was renamed while it was looked for",
						RelationGetRelationName(rel)),
				 errhint("Try again.")));
	table_close(rel, NoLock);
}

/*
 * spanner.number_rows(relation regclass, column_name name, series name[],
 * allocator text, dry_run boolean) returns setof text
 *
 * Has rows of a table of the current user's numbered on commit, from 1 or after
 * the numbers that are there, and returns the commands that do it.
 */
Datum
spanner_number_rows(PG_FUNCTION_ARGS)
{
	const char *const arguments[] = {"relation", "column_name", "series", NULL, "dry_run"};
	bool		dry_run = !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
	LOCKMODE	mode = dry_run ? AccessShareLock : ShareRowExclusiveLock;
	Request		request = {0};
	List	   *triggers;

	for (int i = 0; i < lengthof(arguments); i++)
		if (arguments[i] != NULL && PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" must not be null", arguments[i])));
	if (!dry_run)
		sk_check_writable(fcinfo->flinfo->fn_oid);
	sk_check_own_table(PG_GETARG_OID(0));
	request.rel = table_open(PG_GETARG_OID(0), mode);
	/* nobody writes a number between the look at the table and the trigger */
	(void) find_all_inheritors(PG_GETARG_OID(0), mode, NULL);
	read_names(fcinfo, &request);
	triggers = numbering_triggers(request.rel, request.names[0]);
	if (triggers != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("column \"%s\" of relation \"%s\" is numbered already",
						request.names[0], RelationGetRelationName(request.rel)),
				 errdetail("Trigger \"%s\" does that.", ((Trigger *) linitial(triggers))->tgname),
				 errhint("Run spanner.stop_numbering() first.")));
	check_tree(&request);
	add_allocator(&request);
	add_stored_numbers(&request);
	add_index_and_trigger(&request);
	/* it stays locked */
	table_close(request.rel, NoLock);
	run_commands(fcinfo, request.commands, dry_run);
	if (!dry_run)
		check_outcome(PG_GETARG_OID(0), request.names[0], true);
	return (Datum) 0;
}

/*
 * spanner.stop_numbering(relation regclass, column_name name) returns setof text
 *
 * Drops what number_rows() has made on the table.  The allocator stays, so that
 * numbers can go on after the last one.
 */
Datum
spanner_stop_numbering(PG_FUNCTION_ARGS)
{
	const char *column = NameStr(*PG_GETARG_NAME(1));
	Relation	rel;
	List	   *triggers;
	List	   *commands = NIL;
	ListCell   *lc;

	sk_check_own_table(PG_GETARG_OID(0));
	rel = table_open(PG_GETARG_OID(0), AccessExclusiveLock);
	triggers = numbering_triggers(rel, column);
	if (triggers == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("column \"%s\" of relation \"%s\" is not numbered on commit",
						column, RelationGetRelationName(rel))));
	foreach(lc, triggers)
	{
		const Trigger *trigger = lfirst(lc);
		Oid			index = get_relname_relid(trigger->tgname, RelationGetNamespace(rel));

		commands = lappend(commands, psprintf("DROP TRIGGER %s ON %s", quote_identifier(trigger->tgname),
											  sk_qualified_name(RelationGetRelid(rel))));
		if (OidIsValid(index) && list_member_oid(RelationGetIndexList(rel), index))
			commands = lappend(commands, psprintf("DROP INDEX %s", sk_qualified_name(index)));
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("allocator \"%s\" keeps its counters", trigger->tgargs[0]),
				 errhint("Numbers can go on after the last one. If they need not, run spanner.drop_allocator().")));
	}
	table_close(rel, NoLock);
	run_commands(fcinfo, commands, false);
	check_outcome(PG_GETARG_OID(0), column, false);
	return (Datum) 0;
}
