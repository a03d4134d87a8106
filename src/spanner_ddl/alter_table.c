/*-------------------------------------------------------------------------
 *
 * alter_table.c
 *	  Spanner's ALTER TABLE.
 *
 * src/spanner_ddl/alter_table.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "parser/parse_type.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "spanner_ddl/spanner_ddl.h"
#include "spi/run_command.h"

/* The table that is altered. */
typedef struct SkAlter
{
	SkDdlText  *ddl;
	SkName	   *name;
	Oid			relid;
} SkAlter;

static void alter(SkAlter *table, SkAction *action);
static void add_column(SkAlter *table, SkAction *action);
static void add_with_kind(SkAlter *table, const char *command, const SkColumn *column);
static void add_constraint(SkAlter *table, SkAction *action);
static void drop_column(SkAlter *table, SkAction *action);
static void drop_synonym(SkAlter *table, SkAction *action);
static AttrNumber find_column(SkAlter *table, SkAction *action);
static bool is_identity(SkAlter *table, SkAction *action);
static void alter_column(SkAlter *table, SkAction *action);
static bool has_attribute(SkAlter *table, AttrNumber attnum, const char *column);
static void check_nullability(SkAlter *table, SkAction *action, bool not_null);
static void alter_type(SkAlter *table, SkAction *action, SkColumn *column);
static void alter_default(SkAlter *table, SkAction *action);
static void set_update(SkAlter *table, SkAction *action);
static void drop_update(SkAlter *table, SkAction *action);
static void check_interleaved(SkAlter *table, SkAction *action, AttrNumber attnum);
static void set_commit_timestamp(SkAlter *table, SkAction *action);
static void set_parent(SkAlter *table, SkAction *action);
static void rename_table(SkAlter *table, SkAction *action);

/* ALTER TABLE */
void
sk_ddl_alter_table(SkDdlText *ddl, SkStatement *statement)
{
	SkAlter		table = {ddl, statement->name, InvalidOid};
	ListCell   *lc;

	if (sk_ddl_skip(ddl, statement->name, RELKIND_RELATION, statement->exists_ok))
		return;
	foreach(lc, statement->elements)
	{
		char	   *synonym;

		table.relid = sk_ddl_find(ddl, table.name, RELKIND_RELATION, false);
		synonym = sk_ddl_synonym_of(table.relid);
		alter(&table, lfirst(lc));
		if (synonym != NULL && ((SkAction *) lfirst(lc))->type == SK_ADD_COLUMN)
			sk_ddl_emit(ddl, "CREATE OR REPLACE VIEW %s WITH (security_invoker = true) AS SELECT * FROM %s",
						synonym, sk_ddl_name(table.name));
	}
}

static void
alter(SkAlter *table, SkAction *action)
{
	SkDdlText  *ddl = table->ddl;
	const char *name = sk_ddl_name(table->name);
	const char *object = action->name != NULL ? quote_identifier(action->name) : NULL;

	switch (action->type)
	{
		case SK_ADD_COLUMN:
			add_column(table, action);
			break;
		case SK_ADD_CONSTRAINT:
			add_constraint(table, action);
			break;
		case SK_DROP_COLUMN:
			drop_column(table, action);
			break;
		case SK_DROP_CONSTRAINT:
			sk_ddl_emit(ddl, "ALTER TABLE %s DROP CONSTRAINT %s", name, object);
			break;
		case SK_DROP_POLICY:
			sk_ddl_emit(ddl, "DROP TRIGGER row_deletion_policy ON %s", name);
			break;
		case SK_DROP_SYNONYM:
			drop_synonym(table, action);
			break;
		case SK_ALTER_COLUMN:
			alter_column(table, action);
			break;
		case SK_ALTER_TYPE:
			alter_type(table, action, action->column);
			break;
		case SK_SET_NOT_NULL:
		case SK_DROP_NOT_NULL:
			check_nullability(table, action, action->type == SK_SET_NOT_NULL);
			sk_ddl_emit(ddl, "ALTER TABLE %s ALTER COLUMN %s %s NOT NULL", name, object,
						action->type == SK_SET_NOT_NULL ? "SET" : "DROP");
			break;
		case SK_SET_DEFAULT:
		case SK_DROP_DEFAULT:
			alter_default(table, action);
			break;
		case SK_SET_UPDATE:
			set_update(table, action);
			break;
		case SK_DROP_UPDATE:
			drop_update(table, action);
			break;
		case SK_ALTER_IDENTITY:
			if (((SkClause *) linitial(action->column->clauses))->type == SK_CLAUSE_OPTIONS)
				set_commit_timestamp(table, action);
			else
				sk_ddl_alter_identity(ddl, table->name, action);
			break;
		case SK_ADD_IDENTITY:
			SK_DDL_ERROR(ddl, action->at, ERRCODE_FEATURE_NOT_SUPPORTED,
						 errmsg("Cannot alter column `%s.%s` to an identity column.",
								get_rel_name(table->relid), action->name),
						 errhint("Set spanner.default_sequence_kind, and run it directly without Spanner's clauses."));
			break;
		case SK_SET_ON_DELETE:
			set_parent(table, action);
			break;
		case SK_RENAME:
			rename_table(table, action);
			break;
	}
}

static void
add_column(SkAlter *table, SkAction *action)
{
	SkDdlText  *ddl = table->ddl;
	SkColumn   *column = action->column;
	List	   *variables = sk_ddl_table_variables(table->relid);
	List	   *after = NIL;
	char	   *sql;
	ListCell   *lc;

	if (get_attnum(table->relid, action->name) != InvalidAttrNumber && action->exists_ok)
	{
		ereport(NOTICE,
				(errcode(ERRCODE_DUPLICATE_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" already exists, skipping",
						action->name, get_rel_name(table->relid))));
		return;
	}
	if (column->is_primary_key)
		SK_DDL_ERROR(ddl, column->at, ERRCODE_INVALID_TABLE_DEFINITION,
					 errmsg("Cannot change key column %s.", column->name));
	(void) sk_ddl_add_variable(ddl, &variables, column);
	sql = psprintf("ALTER TABLE %s ADD COLUMN %s", sk_ddl_name(table->name),
				   sk_ddl_column(ddl, table->name, variables, column, &after));
	if (column->not_null && !column->has_default && !column->is_generated && !column->is_identity)
		SK_DDL_ERROR(ddl, column->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("Cannot add NOT NULL column %s.%s to existing table %s.",
							sk_ddl_name(table->name), column->name, sk_ddl_name(table->name)),
					 errhint("Add it with a default."));
	if (after != NIL)
		add_with_kind(table, sql, column);
	else
		sk_ddl_emit(ddl, "%s", sql);
	if (column->has_update)
		sk_ddl_emit(ddl, "%s", sk_ddl_on_update(ddl, table->name, column));
	foreach(lc, column->constraints)
	{
		SkConstraint *constraint = lfirst(lc);
		SkAction	add = {SK_ADD_CONSTRAINT,.constraint = constraint};

		if (constraint->type == SK_FOREIGN_KEY)
			constraint->columns = list_make1(column->name);
		add_constraint(table, &add);
	}
}

/* Rows that are there draw values at once, so the sequence has its kind first. */
static void
add_with_kind(SkAlter *table, const char *command, const SkColumn *column)
{
	const char *setting = "spanner.default_sequence_kind";
	const char *old = GetConfigOption(setting, true, false);
	int64		start;

	old = quote_literal_cstr(old != NULL ? old : "");
	sk_ddl_emit(table->ddl, "SET %s TO %s", setting,
				quote_literal_cstr(sk_ddl_identity(table->ddl, column, &start)));
	sk_ddl_emit(table->ddl, "%s", command);
	sk_ddl_emit(table->ddl, "SET %s TO %s", setting, old);
}

static void
add_constraint(SkAlter *table, SkAction *action)
{
	SkDdlText  *ddl = table->ddl;
	SkConstraint *constraint = action->constraint;
	const char *name = sk_ddl_name(table->name);
	List	   *before = NIL;
	List	   *after = NIL;
	char	   *sql;

	if (constraint->type == SK_PRIMARY_KEY || constraint->type == SK_INTERLEAVE)
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("key of table \"%s\" cannot be changed", name),
					 errhint("Run PostgreSQL's ALTER TABLE directly."));
	if (constraint->type == SK_SYNONYM && sk_ddl_synonym_of(table->relid) != NULL)
		SK_DDL_ERROR(ddl, constraint->at, ERRCODE_DUPLICATE_OBJECT,
					 errmsg("Cannot add a synonym to table %s because the table already has a synonym %s.",
							name, sk_ddl_synonym_of(table->relid)));
	sql = sk_ddl_constraint(ddl, table->name, false, NIL, sk_ddl_table_variables(table->relid),
							constraint, &before, &after);
	/* a policy that is replaced */
	if (action->exists_ok)
		sk_ddl_emit(ddl, "DROP TRIGGER row_deletion_policy ON %s", name);
	sk_ddl_emit_all(ddl, before);
	if (sql != NULL)
		sk_ddl_emit(ddl, "ALTER TABLE %s ADD %s", name, sql);
	sk_ddl_emit_all(ddl, after);
	if (constraint->type == SK_DELETION_POLICY)
		sk_ddl_check_policies(ddl, constraint->at, table->relid);
}

/* PostgreSQL would drop indexes and constraints along; Spanner does not. */
static void
drop_column(SkAlter *table, SkAction *action)
{
	bool		is_primary;
	char	   *users;

	if (get_attnum(table->relid, action->name) == InvalidAttrNumber && action->exists_ok)
	{
		ereport(NOTICE,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist, skipping",
						action->name, get_rel_name(table->relid))));
		return;
	}
	(void) find_column(table, action);
	if (sk_ddl_has_name(sk_ddl_table_key(table->relid, &is_primary), action->name))
		SK_DDL_ERROR(table->ddl, action->at, ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
					 errmsg("Cannot drop key column %s from table %s.", action->name,
							sk_ddl_name(table->name)));
	drop_update(table, action);
	users = sk_ddl_column_users(table->relid, action->name);
	if (users != NULL)
		SK_DDL_ERROR(table->ddl, action->at, ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
					 errmsg("Cannot drop column %s from table %s because it is used by %s.",
							action->name, sk_ddl_name(table->name), users));
	sk_ddl_emit(table->ddl, "ALTER TABLE %s DROP COLUMN %s", sk_ddl_name(table->name),
				quote_identifier(action->name));
}

static void
drop_synonym(SkAlter *table, SkAction *action)
{
	Oid			view = sk_ddl_find(table->ddl, action->target, RELKIND_VIEW, false);
	char	   *synonym = sk_ddl_synonym_of(table->relid);

	if (synonym == NULL ||
		strcmp(synonym, sk_query_text(psprintf("SELECT '%u'::pg_catalog.regclass", view))) != 0)
		SK_DDL_ERROR(table->ddl, action->target->at, ERRCODE_WRONG_OBJECT_TYPE,
					 errmsg("view \"%s\" is not the synonym of table \"%s\"",
							sk_ddl_name(action->target), sk_ddl_name(table->name)),
					 errhint("Use DROP VIEW."));
	sk_ddl_emit(table->ddl, "DROP VIEW %s", sk_ddl_name(action->target));
}

static AttrNumber
find_column(SkAlter *table, SkAction *action)
{
	AttrNumber	result = get_attnum(table->relid, action->name);

	if (result == InvalidAttrNumber)
		SK_DDL_ERROR(table->ddl, action->at, ERRCODE_UNDEFINED_COLUMN,
					 errmsg("Column not found in table %s: %s", sk_ddl_name(table->name), action->name));
	return result;
}

/* Does a column draw from a sequence of its own that has a kind? */
static bool
is_identity(SkAlter *table, SkAction *action)
{
	(void) find_column(table, action);
	return sk_query_text(psprintf("SELECT label FROM pg_catalog.pg_seclabel"
								  " WHERE provider OPERATOR(pg_catalog.=) 'spanner_keys'"
								  " AND objoid OPERATOR(pg_catalog.=)"
								  " pg_catalog.pg_get_serial_sequence(%s, %s)::pg_catalog.regclass",
								  quote_literal_cstr(sk_ddl_name(table->name)),
								  quote_literal_cstr(action->name))) != NULL;
}

/* ALTER COLUMN name type ..., which says how all of the column shall be. */
static void
alter_column(SkAlter *table, SkAction *action)
{
	SkDdlText  *ddl = table->ddl;
	SkColumn   *column = action->column;
	const char *start = psprintf("ALTER TABLE %s ALTER COLUMN %s", sk_ddl_name(table->name),
								 quote_identifier(action->name));
	AttrNumber	attnum = find_column(table, action);
	bool		is_generated = get_attgenerated(table->relid, attnum) != '\0';

	if (column->is_identity != is_identity(table, action))
	{
		if (column->is_identity)
			SK_DDL_ERROR(ddl, action->at, ERRCODE_INVALID_PARAMETER_VALUE,
						 errmsg("Cannot alter column `%s.%s` to an identity column.",
								get_rel_name(table->relid), action->name));
		SK_DDL_ERROR(ddl, action->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("Cannot alter column `%s.%s` to drop the identity property.",
							get_rel_name(table->relid), action->name));
	}
	if (column->is_generated || (is_generated && column->has_default))
		sk_ddl_refuse(ddl, action->at, "change of a generated column",
					  "Drop the column, and add it anew.");
	check_interleaved(table, action, attnum);
	check_nullability(table, action, column->not_null || column->is_identity);
	if (!column->has_update)
		drop_update(table, action);
	alter_type(table, action, column);
	if (!column->is_identity && column->not_null != has_attribute(table, attnum, "attnotnull"))
		sk_ddl_emit(ddl, "%s %s NOT NULL", start, column->not_null ? "SET" : "DROP");
	if (column->has_default)
		sk_ddl_emit(ddl, "%s SET DEFAULT %s", start, sk_ddl_expression(ddl, column->expr, NIL, NULL));
	else if (!column->is_identity && !is_generated && has_attribute(table, attnum, "atthasdef"))
		sk_ddl_emit(ddl, "%s DROP DEFAULT", start);
	if (column->has_update && sk_ddl_update_trigger(table->relid, action->name) == NULL)
		sk_ddl_emit(ddl, "%s", sk_ddl_on_update(ddl, table->name, column));
	if (column->clauses != NIL)
	{
		SkAction	change = *action;
		ListCell   *lc;

		foreach(lc, column->clauses)
		{
			SkClause   *clause = lfirst(lc);

			if (clause->type == SK_CLAUSE_SKIP)
			{
				change.column->clauses = list_make1(clause);
				sk_ddl_alter_identity(ddl, table->name, &change);
			}
		}
	}
}

/* Is a column of pg_attribute true for this one? */
static bool
has_attribute(SkAlter *table, AttrNumber attnum, const char *column)
{
	return sk_query_text(psprintf("SELECT 1 FROM pg_catalog.pg_attribute"
								  " WHERE attrelid OPERATOR(pg_catalog.=) '%u'"
								  " AND attnum OPERATOR(pg_catalog.=) '%d' AND %s",
								  table->relid, attnum, column)) != NULL;
}

/* Spanner's keys and indexes depend on whether a column may be NULL. */
static void
check_nullability(SkAlter *table, SkAction *action, bool not_null)
{
	AttrNumber	attnum = find_column(table, action);
	char	   *index;

	index = sk_query_text(psprintf("SELECT i.indexrelid::pg_catalog.regclass FROM pg_catalog.pg_index i"
								   " JOIN pg_catalog.pg_attribute a ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid"
								   " WHERE i.indrelid OPERATOR(pg_catalog.=) '%u'"
								   " AND a.attnum OPERATOR(pg_catalog.=) '%d' AND a.attnotnull IS %s"
								   " AND a.attnum OPERATOR(pg_catalog.=) ANY (i.indkey::pg_catalog.int2[])"
								   " ORDER BY 1 LIMIT 1",
								   table->relid, attnum, not_null ? "FALSE" : "TRUE"));
	if (index != NULL)
		SK_DDL_ERROR(table->ddl, action->at, ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST,
					 errmsg("Changing NOT NULL constraints on column %s is not allowed because it affects index %s.",
							action->name, index));
}

/* Values stay what they are: only lengths change, or STRING and BYTES. */
static void
alter_type(SkAlter *table, SkAction *action, SkColumn *column)
{
	AttrNumber	attnum = find_column(table, action);
	SkType		old = sk_ddl_type_class(get_atttype(table->relid, attnum));
	SkType		type;
	const char *name = sk_ddl_column_type(table->ddl, column, &type);
	const char *cast = old == type ? NULL : sk_ddl_cast(old, type);
	const char *start = psprintf("ALTER TABLE %s", sk_ddl_name(table->name));
	char	   *check;
	Oid			old_type;
	Oid			new_type;
	Oid			collation;
	int32		old_typmod;
	int32		new_typmod;

	if (old != type && !(old == SK_TYPE_STRING && type == SK_TYPE_BYTES) &&
		!(old == SK_TYPE_BYTES && type == SK_TYPE_STRING))
		SK_DDL_ERROR(table->ddl, column->at, ERRCODE_DATATYPE_MISMATCH,
					 errmsg("Cannot change type of column `%s` from `%s` to `%s`", action->name,
							format_type_be(get_atttype(table->relid, attnum)), name));
	check = sk_query_text(psprintf("SELECT pg_catalog.quote_ident(c.conname) FROM pg_catalog.pg_constraint c"
								   " WHERE c.conrelid OPERATOR(pg_catalog.=) '%u'"
								   " AND c.conkey OPERATOR(pg_catalog.=) '{%d}' AND %s",
								   table->relid, attnum, SK_IS_LENGTH_CHECK));
	if (check != NULL)
		sk_ddl_emit(table->ddl, "%s DROP CONSTRAINT %s", start, check);
	parseTypeString(name, &new_type, &new_typmod, 0);
	get_atttypetypmodcoll(table->relid, attnum, &old_type, &old_typmod, &collation);
	if (new_type != old_type || new_typmod != old_typmod)
		sk_ddl_emit(table->ddl, "%s ALTER COLUMN %s TYPE %s%s", start, quote_identifier(action->name), name,
					cast == NULL ? "" :
					psprintf(type == SK_TYPE_BYTES ? " USING spanner_internal.string_to_bytes(%s)" : " USING spanner_internal.bytes_to_string(%s)",
							 quote_identifier(action->name)));
	check = sk_ddl_length_check(table->name, column);
	if (check != NULL)
		sk_ddl_emit(table->ddl, "%s ADD %s", start, check);
}

/* An identity column keeps its sequence, whatever is said of its default. */
static void
alter_default(SkAlter *table, SkAction *action)
{
	const char *start = psprintf("ALTER TABLE %s ALTER COLUMN %s", sk_ddl_name(table->name),
								 quote_identifier(action->name));

	if (is_identity(table, action))
	{
		if (action->type == SK_SET_DEFAULT)
			SK_DDL_ERROR(table->ddl, action->at, ERRCODE_FEATURE_NOT_SUPPORTED,
						 errmsg("Cannot alter an identity column `%s.%s` to a generated or default column.",
								get_rel_name(table->relid), action->name),
						 errhint("Run it directly, without execute_ddl, to give up the sequence."));
		ereport(NOTICE,
				(errcode(ERRCODE_SUCCESSFUL_COMPLETION),
				 errmsg("column \"%s\" of relation \"%s\" is an identity column and keeps its sequence",
						action->name, get_rel_name(table->relid))));
	}
	else if (sk_ddl_update_trigger(table->relid, action->name) != NULL)
		SK_DDL_ERROR(table->ddl, action->at, ERRCODE_INVALID_TABLE_DEFINITION,
					 errmsg("Column `%s` with an ON UPDATE expression must have an identical DEFAULT value expression.",
							action->name));
	else if (action->type == SK_SET_DEFAULT)
		sk_ddl_emit(table->ddl, "%s SET DEFAULT %s", start,
					sk_ddl_expression(table->ddl, action->column->expr, NIL, NULL));
	else
		sk_ddl_emit(table->ddl, "%s DROP DEFAULT", start);
}

/* SET ON UPDATE, of a column whose default is the same */
static void
set_update(SkAlter *table, SkAction *action)
{
	SkDdlText  *ddl = table->ddl;
	SkColumn   *column = action->column;
	bool		is_primary;

	(void) find_column(table, action);
	if (sk_ddl_has_name(sk_ddl_table_key(table->relid, &is_primary), action->name))
		SK_DDL_ERROR(ddl, action->at, ERRCODE_INVALID_TABLE_DEFINITION,
					 errmsg("Column %s.%s with ON UPDATE cannot be a part of or the whole primary key.",
							sk_ddl_name(table->name), action->name));
	column->has_default = sk_query_text(psprintf("SELECT 1 FROM pg_catalog.pg_attrdef"
												 " WHERE adrelid OPERATOR(pg_catalog.=) '%u' AND adnum OPERATOR(pg_catalog.=) '%d'"
												 " AND pg_catalog.pg_get_expr(adbin, adrelid) OPERATOR(pg_catalog.=) 'spanner.pending_commit_timestamp()'",
												 table->relid, get_attnum(table->relid, action->name))) != NULL;
	column->expr = column->update;
	drop_update(table, action);
	sk_ddl_emit(ddl, "%s", sk_ddl_on_update(ddl, table->name, column));
}

static void
drop_update(SkAlter *table, SkAction *action)
{
	char	   *trigger = sk_ddl_update_trigger(table->relid, action->name);

	if (trigger != NULL)
		sk_ddl_emit(table->ddl, "DROP TRIGGER %s ON %s", trigger, sk_ddl_name(table->name));
}

/* A column of the key that a parent and its children share stays what it is. */
static void
check_interleaved(SkAlter *table, SkAction *action, AttrNumber attnum)
{
	if (sk_query_text(psprintf("SELECT 1 FROM pg_catalog.pg_constraint c"
							   " WHERE ((c.conrelid OPERATOR(pg_catalog.=) '%1$u' AND '%2$d' OPERATOR(pg_catalog.=) ANY (c.conkey))"
							   " OR (c.confrelid OPERATOR(pg_catalog.=) '%1$u' AND '%2$d' OPERATOR(pg_catalog.=) ANY (c.confkey)))"
							   " AND c.conname OPERATOR(pg_catalog.=) spanner_internal.parent_constraint(c.conrelid) LIMIT 1",
							   table->relid, attnum)) != NULL)
		SK_DDL_ERROR(table->ddl, action->at, ERRCODE_INVALID_TABLE_DEFINITION,
					 errmsg("Cannot alter parent key column %s.%s.", get_rel_name(table->relid), action->name));
}

/* SET OPTIONS (allow_commit_timestamp = ...) */
static void
set_commit_timestamp(SkAlter *table, SkAction *action)
{
	SkClause   *clause = linitial(action->column->clauses);
	SkTypeName	type = {.name = "timestamp",.at = action->at};
	SkColumn	column = {.name = action->name,.type = &type,.at = action->at};

	column.options = clause->options;
	alter_type(table, action, &column);
}

/* SET ON DELETE, SET INTERLEAVE IN: another foreign key to the parent. */
static void
set_parent(SkAlter *table, SkAction *action)
{
	SkConstraint *constraint = action->constraint;
	const char *name = sk_ddl_name(table->name);
	Oid			parent = InvalidOid;
	bool		is_primary;
	List	   *key = sk_ddl_table_key(table->relid, &is_primary);
	char	   *old = sk_ddl_interleave(table->relid, &parent);
	char	   *sql;

	if (constraint->table == NULL)
	{
		if (old == NULL)
			SK_DDL_ERROR(table->ddl, action->at, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
						 errmsg("Cannot SET ON DELETE on table %s that does not have an INTERLEAVE clause.", name));
		constraint->table = palloc0(sizeof(SkName));
		constraint->table->parts = list_make2(get_namespace_name(get_rel_namespace(parent)),
											  get_rel_name(parent));
		constraint->is_parent = true;
	}
	sql = sk_ddl_parent_key(table->ddl, constraint, name, key);
	if (old == NULL && constraint->cascades)
		SK_DDL_ERROR(table->ddl, action->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("Altering the table %s from INTERLEAVE IN to INTERLEAVE IN PARENT ON DELETE CASCADE is not supported.", name),
					 errhint("Migrate it to INTERLEAVE IN PARENT ON DELETE NO ACTION first."));
	if (old != NULL)
		sk_ddl_emit(table->ddl, "ALTER TABLE %s DROP CONSTRAINT %s", name, quote_identifier(old));
	if (sql != NULL)
		sk_ddl_emit(table->ddl, "ALTER TABLE %s ADD %s", name, sql);
	sk_ddl_check_interleave(table->ddl, action->at, table->relid,
							sk_ddl_find(table->ddl, constraint->table, RELKIND_RELATION, false));
	sk_ddl_check_policies(table->ddl, action->at, table->relid);
}

static void
rename_table(SkAlter *table, SkAction *action)
{
	SkName	   *old = table->name;

	if (list_length(action->target->parts) > 1 &&
		strcmp(linitial(action->target->parts),
			   get_namespace_name(get_rel_namespace(table->relid))) != 0)
		sk_ddl_refuse(table->ddl, action->target->at, "new schema in RENAME",
					  "Run ALTER TABLE ... SET SCHEMA directly.");
	sk_ddl_emit(table->ddl, "ALTER TABLE %s RENAME TO %s", sk_ddl_name(old),
				quote_identifier(llast(action->target->parts)));
	table->name = palloc0(sizeof(SkName));
	table->name->at = action->target->at;
	table->name->parts = lappend(list_truncate(list_copy(old->parts), list_length(old->parts) - 1),
								 llast(action->target->parts));
	if (action->with_synonym)
		sk_ddl_emit_all(table->ddl, sk_ddl_synonym(old, table->name, table->relid));
}
