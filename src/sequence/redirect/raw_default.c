/*-------------------------------------------------------------------------
 *
 * raw_default.c
 *	  Sequence functions in the expressions of DDL commands.
 *
 * ALTER TABLE evaluates the default of a new column, or the USING expression
 * of a new type, for the rows that are there; bounds of partitions are
 * evaluated at once; and COPY evaluates defaults.  None of this is planned as
 * a query.  So nextval in these expressions is replaced before the command is
 * parsed any further.  Most defaults are seen to after the command as well,
 * but not those that compute the name of their sequence.
 *
 * src/sequence/redirect/raw_default.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_proc.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "sequence/binding.h"
#include "sequence/redirect/raw_default.h"
#include "sequence/sequence_functions.h"

static void redirect_create(CreateStmt *create, char *schema);
static void redirect_alter(AlterTableCmd *cmd, char *schema);
static void redirect_alter_domain(AlterDomainStmt *alter, char *schema);
static void redirect_column(ColumnDef *column, char *schema);
static void redirect_constraints(List *constraints, char *schema);
static void redirect_bound(PartitionBoundSpec *bound, char *schema);
static bool nextval_walker(Node *node, void *schema);
static bool arguments_walker(Node *node, void *schema);
static bool is_core_function(List *name, const char *function);
static bool is_unbound_literal(List *args);

/*
 * sk_redirect_raw_defaults
 *		Have commands on tables and domains call spanner.nextval().
 *
 * "namespace" is the schema of that function.
 */
void
sk_redirect_raw_defaults(Node *command, Oid namespace)
{
	MemoryContext old;
	char	   *schema;
	ListCell   *lc;

	if (!sk_bindings_exist())
		return;

	/* what is put into the command has to live as long as it does */
	old = MemoryContextSwitchTo(GetMemoryChunkContext(command));
	schema = get_namespace_name(namespace);
	if (IsA(command, CreateDomainStmt))
		redirect_constraints(((CreateDomainStmt *) command)->constraints,
							 schema);
	else if (IsA(command, AlterDomainStmt))
		redirect_alter_domain((AlterDomainStmt *) command, schema);
	else if (IsA(command, CreateStmt))
		redirect_create((CreateStmt *) command, schema);
	else if (IsA(command, CreateForeignTableStmt))
		redirect_create(&((CreateForeignTableStmt *) command)->base, schema);
	else if (IsA(command, AlterTableStmt))
	{
		foreach(lc, ((AlterTableStmt *) command)->cmds)
			redirect_alter(lfirst(lc), schema);
	}
	MemoryContextSwitchTo(old);
}

static void
redirect_create(CreateStmt *create, char *schema)
{
	ListCell   *lc;

	foreach(lc, create->tableElts)
	{
		if (IsA(lfirst(lc), ColumnDef))
			redirect_column(lfirst(lc), schema);
	}
	redirect_bound(create->partbound, schema);
}

static void
redirect_alter(AlterTableCmd *cmd, char *schema)
{
	switch (cmd->subtype)
	{
		case AT_AddColumn:
		case AT_AlterColumnType:
			redirect_column((ColumnDef *) cmd->def, schema);
			break;
		case AT_ColumnDefault:
			(void) nextval_walker(cmd->def, schema);
			break;
		case AT_AttachPartition:
			redirect_bound(((PartitionCmd *) cmd->def)->bound, schema);
			break;
		default:
			break;
	}
}

/* The definition is a default or, in ADD, a constraint. */
static void
redirect_alter_domain(AlterDomainStmt *alter, char *schema)
{
	if (alter->def != NULL && IsA(alter->def, Constraint))
		redirect_constraints(list_make1(alter->def), schema);
	else
		(void) nextval_walker(alter->def, schema);
}

static void
redirect_column(ColumnDef *column, char *schema)
{
	(void) nextval_walker(column->raw_default, schema);
	redirect_constraints(column->constraints, schema);
}

static void
redirect_constraints(List *constraints, char *schema)
{
	ListCell   *lc;

	foreach(lc, constraints)
	{
		Constraint *constraint = lfirst(lc);

		if (constraint->contype == CONSTR_DEFAULT)
			(void) nextval_walker(constraint->raw_expr, schema);
	}
}

static void
redirect_bound(PartitionBoundSpec *bound, char *schema)
{
	if (bound == NULL)
		return;
	(void) nextval_walker((Node *) bound->listdatums, schema);
	(void) nextval_walker((Node *) bound->lowerdatums, schema);
	(void) nextval_walker((Node *) bound->upperdatums, schema);
}

static bool
nextval_walker(Node *node, void *schema)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncCall) &&
		is_core_function(((FuncCall *) node)->funcname, "nextval") &&
		!is_unbound_literal(((FuncCall *) node)->args))
		((FuncCall *) node)->funcname = list_make2(makeString(schema),
												   makeString("nextval"));
	return raw_expression_tree_walker(node, nextval_walker, schema);
}

/*
 * sk_redirect_raw_arguments
 *		Have the arguments of EXECUTE, or the like, call our functions.
 */
void
sk_redirect_raw_arguments(List *arguments)
{
	(void) arguments_walker((Node *) arguments, SK_SCHEMA);
}

/* As in queries, all sequences are redirected. */
static bool
arguments_walker(Node *node, void *schema)
{
	static const char *const functions[] = {"nextval", "currval", "lastval", "setval"};

	if (node == NULL)
		return false;
	for (int i = 0; IsA(node, FuncCall) && i < lengthof(functions); i++)
	{
		FuncCall   *call = (FuncCall *) node;

		if (is_core_function(call->funcname, functions[i]))
			call->funcname = list_make2(makeString(schema),
										makeString(pstrdup(functions[i])));
	}
	return raw_expression_tree_walker(node, arguments_walker, schema);
}

/*
 * Does a name mean this function of core?  Without a schema it does if no
 * other function of that name is in the search path.
 */
static bool
is_core_function(List *name, const char *function)
{
	CatCList   *functions;
	List	   *path;
	bool		result = true;

	if (list_length(name) > 2 || strcmp(strVal(llast(name)), function) != 0)
		return false;
	if (list_length(name) == 2)
		return strcmp(strVal(linitial(name)), "pg_catalog") == 0;

	path = fetch_search_path(true);
	functions = SearchSysCacheList1(PROCNAMEARGSNSP,
									CStringGetDatum(function));
	for (int i = 0; i < functions->n_members; i++)
	{
		Form_pg_proc form = (Form_pg_proc) GETSTRUCT(&functions->members[i]->tuple);

		if (form->pronamespace != PG_CATALOG_NAMESPACE &&
			list_member_oid(path, form->pronamespace))
			result = false;
	}
	ReleaseSysCacheList(functions);
	list_free(path);
	return result;
}

/* Is the argument the name of a sequence that is not bound? */
static bool
is_unbound_literal(List *args)
{
	Node	   *name;
	Oid			seqid;

	if (list_length(args) != 1)
		return false;
	name = linitial(args);
	while (IsA(name, TypeCast))
		name = ((TypeCast *) name)->arg;
	if (!IsA(name, A_Const) || ((A_Const *) name)->isnull ||
		!IsA(&((A_Const *) name)->val, String))
		return false;

	seqid = RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(cstring_to_text(strVal(&((A_Const *) name)->val)))),
							 NoLock, true);
	return OidIsValid(seqid) && sk_binding_label(seqid) == NULL;
}
