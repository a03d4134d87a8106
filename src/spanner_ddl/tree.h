/*-------------------------------------------------------------------------
 *
 * tree.h
 *	  The tokens and the tree of Spanner's DDL.
 *
 * Expressions and queries are trees as well: expression.c writes them as PostgreSQL
 * has them.  Those of the PostgreSQL dialect stay ranges of tokens.
 *
 * src/spanner_ddl/tree.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_DDL_TREE_H
#define SK_DDL_TREE_H

#include "nodes/pg_list.h"

typedef enum SkDialect
{
	SK_GOOGLESQL,
	SK_POSTGRESQL
} SkDialect;

typedef enum SkTokenType
{
	SK_TOKEN_END,				/* no more of them */
	SK_TOKEN_WORD,				/* keyword or name without quotes, folded */
	SK_TOKEN_NAME,				/* "name" or `name` */
	SK_TOKEN_STRING,
	SK_TOKEN_BYTES,				/* b'', in hexadecimal */
	SK_TOKEN_NUMBER,
	SK_TOKEN_OPERATOR,			/* of one or more characters */
	SK_TOKEN_BAD				/* text is what is wrong with it */
} SkTokenType;

/* A token is bytes [start, end) of the text. */
typedef struct SkToken
{
	SkTokenType type;
	int			start;
	int			end;
	int			depth;			/* open parentheses before it, in its
								 * statement */
	char	   *text;
	char	   *written;		/* a word or name, not folded or cut */
} SkToken;

/* Tokens [first, end) of the text. */
typedef struct SkDdlRange
{
	int			first;
	int			end;
} SkDdlRange;

/* A text of one or more statements, and the statement that is read. */
typedef struct SkDdlText
{
	const char *sql;
	SkDialect	dialect;
	bool		has_dialect;	/* the caller or the text has said it */
	bool		shows_dialect;	/* in errors */
	bool		leaves_out;		/* what cannot be done, and goes on */
	bool		only_reads;		/* runs nothing */
	List	   *left_out;		/* of SkLeftOut */
	SkToken    *tokens;
	int			count;			/* of tokens, without the last, SK_TOKEN_END */
	int			first;			/* token of the statement */
	int			next;			/* token that the grammar reads next */
	int			end;			/* after the statement's last token */
	int			error_at;		/* token; the first one if it is not known */
	bool		in_expression;	/* the grammar reads GoogleSQL's own words */
	bool		in_default;		/* ... or a default that need not be in
								 * parentheses */
	struct SkStatement *statement;	/* what has been read */
	int			number;			/* of the statement */
	Oid			relation;		/* whose owner runs commands, or InvalidOid */
	List	   *long_names;		/* that PostgreSQL cuts, of char * */
	List	   *commands;		/* of PostgreSQL, of char * */
} SkDdlText;

/* A name of one or more parts; "at" is its first token. */
typedef struct SkName
{
	List	   *parts;			/* of char * */
	int			at;
} SkName;

/* A type, as it is written. */
typedef struct SkTypeName
{
	char	   *name;			/* "string", "character varying" */
	int64		length;			/* 0: none, -1: MAX */
	int64		scale;
	bool		is_array;
	int			at;
} SkTypeName;

/* What a part of an expression or query is, and what it has. */
typedef enum SkNodeType
{
	SK_NODE_TOKENS,				/* range: PostgreSQL's own */
	SK_NODE_WORD,				/* text, as PostgreSQL has it */
	SK_NODE_INTEGER,			/* text, with its sign */
	SK_NODE_FLOAT,
	SK_NODE_STRING,
	SK_NODE_BYTES,				/* text: in hexadecimal */
	SK_NODE_TYPED,				/* DATE '...': text is the literal, name the
								 * type */
	SK_NODE_NAME,				/* args: the parts, of char * */
	SK_NODE_FIELD,				/* value, text */
	SK_NODE_ELEMENT,			/* array, place */
	SK_NODE_ARRAY,				/* elements; type, or NULL */
	SK_NODE_OPERATOR,			/* text, one or two operands */
	SK_NODE_TEST,				/* operands, and words between them */
	SK_NODE_IN,					/* value, list or query; text is "NOT " or "" */
	SK_NODE_IN_UNNEST,			/* value, array; text is "NOT " or "" */
	SK_NODE_CASE,				/* operand or NULL; conditions and values;
								 * NULL and ELSE */
	SK_NODE_CALL,				/* text: the function; arguments */
	SK_NODE_CAST,				/* value, type; text is "cast" or "safe_cast" */
	SK_NODE_INTERVAL,			/* number; text: the part */
	SK_NODE_SEQUENCE,			/* args: the parts of its name */
	SK_NODE_PARENTHESES,		/* what is in them */
	SK_NODE_PHRASE,				/* parts with blanks between them; with a
								 * name, they are assigned to columns */
	SK_NODE_ALIASED,			/* a part, and items of SELECT: their aliases
								 * are names in it, no others are */
	SK_NODE_LIST,				/* the same with commas between them */
	SK_NODE_SORT				/* value; text: "DESC NULLS LAST" */
} SkNodeType;

typedef struct SkNode
{
	SkNodeType	type;
	const char *text;
	const char *name;
	List	   *args;			/* of SkNode, unless something else is said */
	SkTypeName *type_name;
	struct SkNode *sort;		/* ORDER BY of an aggregate */
	SkDdlRange	range;
	int			at;				/* the first token */
} SkNode;

/* name = value */
typedef struct SkDdlOption
{
	char	   *name;
	SkTokenType type;			/* of the value; words are NULL, TRUE, FALSE */
	char	   *value;
	int			at;
	int			value_at;
} SkDdlOption;

/* A column of a key, and in which order. */
typedef struct SkKeyPart
{
	char	   *column;
	bool		is_desc;
	char	   *nulls;			/* "FIRST", "LAST" or NULL */
	int			at;
} SkKeyPart;

/* A clause for a sequence or an identity column. */
typedef enum SkDdlClauseType
{
	SK_CLAUSE_KIND,				/* word, options */
	SK_CLAUSE_SKIP,				/* first, second */
	SK_CLAUSE_NO_SKIP,
	SK_CLAUSE_START,			/* first */
	SK_CLAUSE_RESTART,			/* first */
	SK_CLAUSE_LIMIT,			/* word: what only confirms a default */
	SK_CLAUSE_OWNED_BY_NONE,
	SK_CLAUSE_OWNED_BY,
	SK_CLAUSE_CYCLE,
	SK_CLAUSE_CORE,				/* word: PostgreSQL has it, Spanner refuses it */
	SK_CLAUSE_OPTIONS			/* options */
} SkDdlClauseType;

typedef struct SkDdlClause
{
	SkDdlClauseType type;
	const char *word;
	int64		first;
	int64		second;
	List	   *options;
	int			at;
} SkDdlClause;

typedef enum SkConstraintType
{
	SK_PRIMARY_KEY,				/* columns, of SkKeyPart */
	SK_FOREIGN_KEY,				/* columns, table, referenced; of char * */
	SK_CHECK,					/* expr */
	SK_UNIQUE,
	SK_SYNONYM,					/* table is the synonym */
	SK_DELETION_POLICY,			/* columns: one; interval */
	SK_INTERLEAVE,				/* table, is_parent */
	SK_COLUMN					/* column, of a new table */
} SkConstraintType;

/* What is in or after the parentheses of a table. */
typedef struct SkConstraint
{
	SkConstraintType type;
	char	   *name;
	struct SkColumn *column;
	List	   *columns;
	SkName	   *table;
	List	   *referenced;
	SkNode	   *expr;
	char	   *interval;
	bool		is_parent;
	bool		cascades;
	bool		not_enforced;
	int			at;
} SkConstraint;

typedef struct SkColumn
{
	char	   *name;
	SkTypeName *type;
	bool		not_null;
	bool		is_null;
	bool		is_primary_key;
	bool		is_identity;
	bool		is_always;		/* ... as PostgreSQL has it */
	bool		has_default;
	bool		is_generated;
	bool		is_stored;
	SkNode	   *expr;			/* of the default or the generated column */
	bool		has_update;
	SkNode	   *update;			/* ON UPDATE */
	List	   *clauses;		/* of the identity */
	List	   *constraints;	/* of SkConstraint */
	List	   *options;
	int			at;
} SkColumn;

typedef enum SkActionType
{
	SK_ADD_COLUMN,
	SK_ADD_CONSTRAINT,
	SK_DROP_COLUMN,
	SK_DROP_CONSTRAINT,
	SK_DROP_POLICY,
	SK_DROP_SYNONYM,
	SK_ALTER_COLUMN,			/* column is how it will be */
	SK_ALTER_TYPE,
	SK_SET_NOT_NULL,
	SK_DROP_NOT_NULL,
	SK_SET_DEFAULT,
	SK_DROP_DEFAULT,
	SK_SET_UPDATE,
	SK_DROP_UPDATE,
	SK_ALTER_IDENTITY,			/* column has the clauses */
	SK_ADD_IDENTITY,
	SK_SET_ON_DELETE,
	SK_RENAME
} SkActionType;

/* What ALTER TABLE does. */
typedef struct SkAction
{
	SkActionType type;
	char	   *name;			/* of a column or constraint */
	SkColumn   *column;
	SkConstraint *constraint;
	SkName	   *target;			/* a new name, a synonym */
	bool		exists_ok;		/* IF [NOT] EXISTS */
	bool		with_synonym;
	bool		is_set;			/* ALTER COLUMN ... SET clause */
	int			at;
} SkAction;

/* The statements, and the function that runs one. */
#define SK_DDL_STATEMENTS \
	SK_DDL_STATEMENT(SK_CREATE_TABLE, sk_ddl_create_table) \
	SK_DDL_STATEMENT(SK_CREATE_INDEX, sk_ddl_create_index) \
	SK_DDL_STATEMENT(SK_CREATE_VIEW, sk_ddl_create_view) \
	SK_DDL_STATEMENT(SK_CREATE_SCHEMA, sk_ddl_create_schema) \
	SK_DDL_STATEMENT(SK_CREATE_SEQUENCE, sk_ddl_create_sequence) \
	SK_DDL_STATEMENT(SK_CREATE_STREAM, sk_ddl_change_stream) \
	SK_DDL_STATEMENT(SK_ALTER_TABLE, sk_ddl_alter_table) \
	SK_DDL_STATEMENT(SK_ALTER_INDEX, sk_ddl_alter_index) \
	SK_DDL_STATEMENT(SK_ALTER_SEQUENCE, sk_ddl_alter_sequence) \
	SK_DDL_STATEMENT(SK_ALTER_STREAM, sk_ddl_change_stream) \
	SK_DDL_STATEMENT(SK_ALTER_DATABASE, sk_ddl_alter_database) \
	SK_DDL_STATEMENT(SK_DROP, sk_ddl_drop) \
	SK_DDL_STATEMENT(SK_RENAME_TABLES, sk_ddl_rename_tables) \
	SK_DDL_STATEMENT(SK_ANALYZE, sk_ddl_analyze) \
	SK_DDL_STATEMENT(SK_ROWS, sk_ddl_change_rows)

typedef enum SkStatementType
{
#define SK_DDL_STATEMENT(type, function) type,
	SK_DDL_STATEMENTS
#undef SK_DDL_STATEMENT
} SkStatementType;

typedef struct SkStatement
{
	SkStatementType type;
	SkName	   *name;
	SkName	   *table;			/* of an index */
	char	   *alias;			/* of a table whose rows change */
	const char *object;			/* that is dropped: "TABLE" */
	bool		exists_ok;		/* IF [NOT] EXISTS */
	bool		or_replace;
	bool		is_unique;
	bool		null_filtered;
	bool		is_drop;		/* ALTER INDEX, ALTER CHANGE STREAM */
	const char *security;		/* of a view: "true" if the invoker's */
	List	   *elements;		/* of SkConstraint, or of actions */
	List	   *columns;		/* of a key, or STORING */
	List	   *options;
	SkNode	   *expr;			/* a query */
	int			at;
} SkStatement;

/* grammar.y */
extern int	sk_ddl_yyparse(SkDdlText *ddl);

#endif							/* SK_DDL_TREE_H */
