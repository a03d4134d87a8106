/*-------------------------------------------------------------------------
 *
 * spanner_ddl.h
 *	  From the tree of Spanner's DDL to statements of PostgreSQL.
 *
 * src/spanner_ddl/spanner_ddl.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SPANNER_DDL_H
#define SK_SPANNER_DDL_H

#include "lib/stringinfo.h"
#include "nodes/primnodes.h"

#include "compat.h"
#include "spanner_ddl/tree.h"

/* Types as far as expressions depend on them. */
typedef enum SkType
{
	SK_TYPE_UNKNOWN = '?',
	SK_TYPE_ARRAY = '[',
	SK_TYPE_BOOL = 'o',
	SK_TYPE_BYTES = 'b',
	SK_TYPE_DATE = 'd',
	SK_TYPE_FLOAT = 'f',
	SK_TYPE_FLOAT32 = 'e',
	SK_TYPE_INT = 'i',
	SK_TYPE_INTERVAL = 'v',
	SK_TYPE_JSON = 'j',
	SK_TYPE_NUMERIC = 'n',
	SK_TYPE_STRING = 's',
	SK_TYPE_TIMESTAMP = 't',
	SK_TYPE_UUID = 'u'
} SkType;

/* A column that an expression may name. */
typedef struct SkVariable
{
	char	   *name;
	SkType		type;
	const SkColumn *column;		/* of the same statement, if it is generated */
	char	   *expression;		/* PostgreSQL's, of a generated column */
	bool		is_open;		/* is being translated */
	bool		expands;		/* into its expression, in a generated column */
} SkVariable;

/* A function of GoogleSQL: functions.c says what these mean. */
typedef struct SkDdlFunction
{
	const char *name;
	const char *arguments;
	char		result;
	const char *sql;
} SkDdlFunction;

/* Report an error about a token. */
#define SK_DDL_ERROR(ddl, token, code, ...) \
	ereport(ERROR, (errcode(code), __VA_ARGS__, sk_ddl_at(ddl, token)))

/* Is constraint "c" the one that checks the length of a bytea? */
#define SK_IS_LENGTH_CHECK "(spanner_internal.ddl_length(c.oid) IS NOT NULL)"

/* execute.c */
extern void sk_ddl_run(SkDdlText *ddl);
extern int	sk_ddl_at_byte(SkDdlText *ddl, int byte);
extern int	sk_ddl_at(SkDdlText *ddl, int token);
extern void sk_ddl_emit(SkDdlText *ddl, const char *format,...) pg_attribute_printf(2, 3);
pg_noreturn extern void sk_ddl_refuse(SkDdlText *ddl, int token, const char *what,
									  const char *hint);
extern const char *sk_ddl_time_zone(void);
extern const char *sk_ddl_zone_operand(const char *zone);
extern char *sk_ddl_name(const SkName *name);
extern char *sk_ddl_rename(const SkName *name, const char *last);
extern void sk_ddl_complete_name(SkName *name);
extern Oid	sk_ddl_find(SkDdlText *ddl, const SkName *name, char relkind,
						bool missing_ok);
extern bool sk_ddl_skip(SkDdlText *ddl, const SkName *name, char relkind,
						bool exists_ok);

/* tokens.c */
extern void sk_ddl_read_tokens(SkDdlText *ddl);

/* types.c */
extern SkType sk_ddl_type(SkDdlText *ddl, const SkTypeName *name,
						  StringInfo out);
extern SkType sk_ddl_type_class(Oid type);
extern const char *sk_ddl_type_name(SkType type);
extern const char *sk_ddl_cast(SkType from, SkType to);
extern SkType sk_ddl_cast_backward(const char *function, SkType from);
extern bool sk_ddl_is_number(SkType type);
extern SkType sk_ddl_common_type(SkType a, SkType b);

/* expression.c */
extern char *sk_ddl_expression(SkDdlText *ddl, SkRange range,
							   List *variables, SkType *type);
extern char *sk_ddl_query(SkDdlText *ddl, SkRange range);

/* functions.c */
extern const SkDdlFunction *sk_ddl_function(const char *name, int count);
extern char *sk_ddl_regex(const char *regex);
extern const SkDdlFunction *sk_ddl_function_backward(const char *name, int count);

/* catalog.c */
extern List *sk_ddl_table_variables(Oid relid);
extern List *sk_ddl_query_variables(SkDdlText *ddl, SkRange range);
extern bool sk_ddl_has_name(const List *names, const char *name);
extern List *sk_ddl_table_key(Oid relid, bool *is_primary);
extern bool sk_ddl_has_unique_key(Oid relid, List *columns);
extern char *sk_ddl_interleave(Oid relid, Oid *parent);
extern char *sk_ddl_column_users(Oid relid, const char *column);
extern char *sk_ddl_index_statement(Oid indexid, const char *add, const char *drop);
extern char *sk_ddl_index_loss(Oid indexid);

/* export_casts.c */
extern bool sk_ddl_keeps_length(FuncExpr *cast);
extern bool sk_ddl_is_same_array(ArrayCoerceExpr *cast);
extern bool sk_ddl_is_same_value(Oid from, Oid to);

/* export_text.c */
extern const char *sk_ddl_quote_name(const char *name);
extern bool sk_ddl_write_const(StringInfo sql, Const *value);
extern bool sk_ddl_write_number(StringInfo sql, Const *value);

/* stored.c */
extern Oid	sk_ddl_nextval_sequence(Node *node);
extern bool sk_ddl_is_foreign(Node *node, void *context);

/* sequences.c */
extern void sk_ddl_create_sequence(SkDdlText *ddl, SkStatement *statement);
extern void sk_ddl_alter_sequence(SkDdlText *ddl, SkStatement *statement);
extern void sk_ddl_drop_sequence(SkDdlText *ddl, SkStatement *statement);
extern void sk_ddl_alter_identity(SkDdlText *ddl, SkName *table,
								  const SkAction *action);
extern char *sk_ddl_identity(SkDdlText *ddl, const SkColumn *column,
							 int64 *start);
extern void sk_ddl_alter_database(SkDdlText *ddl, SkStatement *statement);

/* tables.c */
extern void sk_ddl_create_table(SkDdlText *ddl, SkStatement *statement);
extern char *sk_ddl_column(SkDdlText *ddl, SkName *table, List *variables,
						   const SkColumn *column, List **after);
extern char *sk_ddl_column_type(SkDdlText *ddl, const SkColumn *column, SkType *type);
extern SkVariable *sk_ddl_add_variable(SkDdlText *ddl, List **variables,
									   const SkColumn *column);
extern void sk_ddl_check_key_length(SkDdlText *ddl, List *key);
extern char *sk_ddl_length_check(SkName *table, const SkColumn *column);
extern char *sk_ddl_constraint(SkDdlText *ddl, SkName *table, bool is_new, List *key,
							   List *variables, SkConstraint *constraint,
							   List **before, List **after);
extern char *sk_ddl_parent_key(SkDdlText *ddl, SkConstraint *constraint,
							   const char *table, List *key);
extern char *sk_ddl_on_update(SkDdlText *ddl, const SkName *table,
							  const SkColumn *column);
extern char *sk_ddl_update_trigger(Oid relid, const char *column);
extern List *sk_ddl_synonym(const SkName *synonym, const SkName *table, Oid relid);
extern char *sk_ddl_synonym_of(Oid relid);
extern void sk_ddl_check_interleave(SkDdlText *ddl, int at, Oid child, Oid parent);
extern char *sk_ddl_name_list(List *names);
extern void sk_ddl_emit_all(SkDdlText *ddl, List *commands);

/* deletion_policy.c */
extern char *sk_ddl_deletion_policy(SkDdlText *ddl, const SkName *table,
									const SkConstraint *constraint, const List *variables);
extern void sk_ddl_check_policies(SkDdlText *ddl, int at, Oid relid);

/* alter_table.c */
extern void sk_ddl_alter_table(SkDdlText *ddl, SkStatement *statement);

/* objects.c */
extern void sk_ddl_create_index(SkDdlText *ddl, SkStatement *statement);
extern void sk_ddl_alter_index(SkDdlText *ddl, SkStatement *statement);
extern void sk_ddl_create_view(SkDdlText *ddl, SkStatement *statement);
extern void sk_ddl_change_stream(SkDdlText *ddl, SkStatement *statement);
extern void sk_ddl_rename_tables(SkDdlText *ddl, SkStatement *statement);
extern void sk_ddl_drop(SkDdlText *ddl, SkStatement *statement);

#endif							/* SK_SPANNER_DDL_H */
