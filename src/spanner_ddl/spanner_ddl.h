/*-------------------------------------------------------------------------
 *
 * spanner_ddl.h
 *	  From the tree of Spanner's DDL to statements of PostgreSQL.
 *
 * A file uses those that stand before it here.
 *
 * src/spanner_ddl/spanner_ddl.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SPANNER_DDL_H
#define SK_SPANNER_DDL_H

#include "fmgr.h"
#include "lib/stringinfo.h"

#include "compat.h"
#include "spanner_ddl/tree.h"
#include "spi/owner_rights.h"

/* Types as far as expressions depend on them. */
typedef enum SkDdlType
{
	SK_TYPE_UNKNOWN,
	SK_TYPE_ARRAY,
	SK_TYPE_BOOL,
	SK_TYPE_BYTES,
	SK_TYPE_DATE,
	/* numbers */
	SK_TYPE_INT,
	SK_TYPE_NUMERIC,
	SK_TYPE_FLOAT32,
	SK_TYPE_FLOAT,
	SK_TYPE_INTERVAL,
	SK_TYPE_JSON,
	SK_TYPE_STRING,
	SK_TYPE_TIMESTAMP,
	SK_TYPE_UUID
} SkDdlType;

/* A column that an expression may name. */
typedef struct SkVariable
{
	char	   *name;
	SkDdlType	type;
	const SkColumn *column;		/* of the same statement, if it is generated */
	char	   *expression;		/* PostgreSQL's, of a generated column */
	bool		is_short;		/* smallint or integer, where GoogleSQL has
								 * INT64 */
	bool		is_open;		/* is being translated */
	bool		expands;		/* into its expression, in a generated column */
} SkVariable;

/* A function of GoogleSQL, and the one that it becomes. */
typedef struct SkDdlFunction
{
	const char *name;
	const char *schema;
	const char *target;
	int			part;			/* the argument that is a PART, from 1, or 0 */
	int			zone;			/* ... that is a time zone, which may be left
								 * out */
} SkDdlFunction;

/* What clauses ask for, of a sequence or an identity column. */
typedef struct SkDdlChange
{
	const char *place;			/* one of SK_DDL_CREATE_SEQUENCE and so on */
	int			seen;			/* bits: 1 << SkDdlClauseType */
	char	   *kind;
	StringInfoData options;		/* other arguments of our functions */
	bool		has_skip;
	int64		skip_min;
	int64		skip_max;
	bool		no_skip;
	bool		has_counter;
	int64		counter;
	char	   *limits;			/* clauses of ALTER SEQUENCE */
} SkDdlChange;

/* What PostgreSQL has not: where that is, the words for it, and what takes its place. */
typedef enum SkRefusalType
{
	SK_REFUSED_STATEMENT,
	SK_CLIENT_STATEMENT,		/* left out with a NOTICE */
	SK_REFUSED_TYPE,
	SK_REFUSED_WORD,
	SK_REFUSED_OPTION
} SkRefusalType;

typedef struct SkRefusal
{
	SkRefusalType type;
	const char *words;
	const char *what;
	const char *hint;
} SkRefusal;

/* What spanner.dialect says. */
typedef enum SkDialectSetting
{
	SK_SETTING_EMPTY,			/* the first text that says it */
	SK_SETTING_AUTO,			/* each text for itself */
	SK_SETTING_GOOGLESQL,
	SK_SETTING_POSTGRESQL
} SkDialectSetting;

/* The statement that clauses belong to, as Spanner's errors name it. */
#define SK_DDL_CREATE_SEQUENCE "CREATE SEQUENCE"
#define SK_DDL_ALTER_SEQUENCE "ALTER SEQUENCE"
#define SK_DDL_CREATE_TABLE "CREATE TABLE"
#define SK_DDL_ALTER_COLUMN "ALTER COLUMN ... SET"

/* Report an error about a token. */
#define SK_DDL_ERROR(ddl, token, code, ...) \
	ereport(ERROR, (errcode(code), __VA_ARGS__, sk_ddl_at(ddl, token)))

/* Run a command of PostgreSQL, and note it. */
#define SK_DDL_EMIT(ddl, ...) sk_ddl_run_command(ddl, psprintf(__VA_ARGS__))

/* Does a function take values of any type, whose types it looks at? */
#define SK_TAKES_ANY(function) \
	SK_DDL_ONE_OF(function, "format", "json_array", "json_array_append", "json_array_insert", "json_object", \
				  "json_set", "to_json", "to_json_string")

/* What a regular expression may be made of */
#define SK_REGEX_HINT \
	"Without \\p and (?...), and with nothing but single characters repeated where a match is returned, they are translated."

/* Has a type an order by size, and arithmetic? */
#define SK_IS_NUMBER(type) ((type) >= SK_TYPE_INT && (type) <= SK_TYPE_FLOAT)

/* numeric(precision, scale) */
#define NUMERIC_TYPMOD(precision, scale) ((((precision) << 16) | (scale)) + VARHDRSZ)

/* Is it a name that Spanner has: letters, digits and underscores, a letter first? */
#define SK_DDL_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define SK_DDL_IS_NAME(name) (strspn(name, SK_DDL_LETTERS) > 0 && \
							  strspn(name, SK_DDL_LETTERS "0123456789_") == strlen(name))

/* A word in upper case */
#define SK_DDL_UPPER(word) asc_toupper(word, strlen(word))

/* Is a word one of these? */
#define SK_DDL_ONE_OF(word, ...) \
	sk_ddl_one_of(word, (const char *const[]) {__VA_ARGS__, NULL})

/* scanner.l */
extern char *sk_ddl_yyplain(const char *command);
extern void sk_ddl_yytokens(SkDdlText *ddl);
extern int	sk_ddl_at(SkDdlText *ddl, int token);
extern bool sk_ddl_one_of(const char *word, const char *const *words);

/* refusals.c */
extern const SkRefusal *sk_ddl_refusal(SkDdlText *ddl, SkRefusalType type, int token);
extern bool sk_ddl_has_words(SkDdlText *ddl, int token, const char *words);
pg_noreturn extern void sk_ddl_refuse(SkDdlText *ddl, int token, const char *what,
									  const char *hint);
pg_noreturn extern void sk_ddl_fail(SkDdlText *ddl, int at, const char *hint);
pg_noreturn extern void sk_ddl_refuse_type(SkDdlText *ddl, int token, const char *name);
pg_noreturn extern void sk_ddl_refuse_option(SkDdlText *ddl, const SkDdlOption *option,
											 const char *object);

/* vocabulary.c */
extern PGDLLIMPORT int sk_ddl_dialect;
extern PGDLLIMPORT const SkDdlFunction sk_ddl_functions[];
extern SkDdlType sk_ddl_type(SkDdlText *ddl, const SkTypeName *name, StringInfo out);
extern SkDdlType sk_ddl_type_class(Oid type);
extern const char *sk_ddl_type_name(SkDdlType type);
extern char *sk_ddl_regex(const char *regex, const char *purpose);
extern bool sk_ddl_is_reserved(const char *word);
extern void sk_ddl_write_quoted(StringInfo sql, const char *value, char quote);
extern const char *sk_ddl_time_zone(void);
extern bool sk_ddl_is_zone(const char *zone);

/* googlesql.c */
extern bool sk_ddl_has_part(const char *function, const char *name);
extern Datum spanner_format_date(PG_FUNCTION_ARGS);
extern Datum spanner_format_timestamp(PG_FUNCTION_ARGS);
extern Datum spanner_json_text(PG_FUNCTION_ARGS);
extern Datum spanner_text_to_date(PG_FUNCTION_ARGS);
extern Datum spanner_text_to_timestamp(PG_FUNCTION_ARGS);

/* catalog.c */
extern void sk_ddl_run_command(SkDdlText *ddl, char *command);
extern ErrorData *sk_ddl_try(void (*step) (SkDdlText *), SkDdlText *ddl, bool is_kept);
extern Oid	sk_ddl_on_relation(SkDdlText *ddl, Oid relid);
extern void sk_ddl_owner_enter(SkDdlText *ddl, SkOwnerScope *scope);
extern char *sk_ddl_name(const SkName *name);
extern char *sk_ddl_name_list(List *names);
extern void sk_ddl_new_name(SkDdlText *ddl, const char *type, Oid schema, const char *name, int at);
extern void sk_ddl_keep_name(SkDdlText *ddl, const char *name, const char *object);
extern Oid	sk_ddl_schema(const SkName *name);
extern bool sk_ddl_has_name(const List *names, const char *name);
extern Oid	sk_ddl_find(SkDdlText *ddl, const SkName *name, char relkind, bool missing_ok);
extern bool sk_ddl_skip(SkDdlText *ddl, const SkName *name, char relkind, bool exists_ok);
extern List *sk_ddl_table_key(Oid relid);
extern char *sk_ddl_key(List *key);
extern List *sk_ddl_key_names(List *key);
extern void sk_ddl_check_key(SkDdlText *ddl, List *key, const char *object);
extern void sk_ddl_check(SkDdlText *ddl, int at, int code, const char *query);
extern void sk_ddl_check_interleave(SkDdlText *ddl, int at, Oid child, Oid parent);
extern char *sk_ddl_database_setting(const char *setting);
extern Oid	sk_ddl_object(const char *function, Oid argument);
extern char *sk_ddl_relation(Oid relid);

/* expression.c */
extern char *sk_ddl_translate(SkDdlText *ddl, SkNode *node, List *variables,
							  bool is_query);

/* sequences.c */
extern void sk_ddl_read_clauses(SkDdlText *ddl, List *clauses, const char *place,
								const char *object, SkDdlChange *change);
extern void sk_ddl_change_sequence(SkDdlText *ddl, const char *name, const SkDdlChange *change);
extern const char *sk_ddl_default_kind(void);

/* tables.c, objects.c: what runs a statement */
#define SK_DDL_STATEMENT(type, function) \
	extern void function(SkDdlText *ddl, SkStatement *statement);
SK_DDL_STATEMENTS
#undef SK_DDL_STATEMENT

/* execute.c */
extern void sk_ddl_run(SkDdlText *ddl);

#endif							/* SK_SPANNER_DDL_H */
