%{
/*-------------------------------------------------------------------------
 *
 * grammar.y
 *	  The grammar of Spanner's DDL, for one statement of either dialect.
 *
 * Where the dialects write a thing differently, both ways are understood in
 * both, but for types and the key behind the columns, which say the dialect.
 * Expressions and queries of GoogleSQL have words of their own, which yylex()
 * knows from "in_expression"; those of the PostgreSQL dialect are one token,
 * if PostgreSQL's parser can read them.
 *
 * src/spanner_ddl/grammar.y
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>

#include "miscadmin.h"
#include "parser/parser.h"
#include "utils/builtins.h"

#include "spanner_ddl/spanner_ddl.h"

#define YYMALLOC palloc
#define YYFREE pfree
#define YYLLOC_DEFAULT(current, rhs, n) \
	do { \
		(current).first = (n) ? YYRHSLOC(rhs, 1).first : YYRHSLOC(rhs, 0).end; \
		(current).end = YYRHSLOC(rhs, n).end; \
	} while (0)

#define FK_CASCADES 1
#define FK_NOT_ENFORCED 2

/* A node at the first token of the rule, which bison's skeleton has in yyloc, or at another one. */
#define NODE(type, ...) NODE_AT(type, yyloc, __VA_ARGS__)
#define EXPR(node, ...) NODE(SkNode, .type = node, __VA_ARGS__)
#define WORD(...) EXPR(SK_NODE_WORD, .text = __VA_ARGS__)
#define PHRASE(...) EXPR(SK_NODE_PHRASE, .args = __VA_ARGS__)
#define NODE_AT(type, place, ...) \
	((type *) copy_node(&(type) {.at = (place).first, __VA_ARGS__}, sizeof(type)))

static char *check_name(SkDdlText *ddl, SkDdlRange range, char *name);
static void *copy_node(const void *node, Size size);
static void name_column(SkConstraint *constraint, const SkColumn *column);
static SkNode *operator_node(SkDdlRange range, const char *text, SkNode *left, SkNode *right);
static SkNode *sign_node(SkDdlRange range, const char *sign, SkNode *value);
static SkNode *name_node(SkDdlText *ddl, SkDdlRange range, SkNode *value);
static SkNode *word_node(SkDdlText *ddl, SkDdlRange range, char *word);
static SkNode *number_node(SkDdlRange range, const char *digits);
static SkNode *alias_node(SkDdlRange range, SkNode *value, char *alias);
static SkNode *aliased_node(SkDdlRange range, SkNode *clause, List *items);
static List *selected_items(SkNode *query);
static SkNode *limit_node(SkDdlText *ddl, SkDdlRange range, char *count, char *word, char *offset);
static SkColumn *add_constraint(SkColumn *column, SkConstraint *constraint);
static SkConstraint *last_constraint(SkDdlText *ddl, SkColumn *column, SkDdlRange range);
static int64 integer_of(SkDdlText *ddl, int at, bool is_negative);
%}

%code requires
{
#include "spanner_ddl/tree.h"
}

%code
{
static int	yylex(YYSTYPE *value, SkDdlRange *range, SkDdlText *ddl);
static void yyerror(SkDdlRange *range, SkDdlText *ddl, const char *message);
}

%define api.pure full
%define api.prefix {sk_ddl_yy}
%define api.location.type {SkDdlRange}
%locations
%expect 0
%token-table
%parse-param {SkDdlText *ddl}
%lex-param {SkDdlText *ddl}

%union
{
	int64		integer;
	bool		boolean;
	char	   *string;
	const char *word;
	List	   *list;
	SkName	   *name;
	SkNode	   *node;
	SkTypeName *type;
	SkDdlOption *option;
	SkKeyPart  *part;
	SkDdlClause   *clause;
	SkColumn   *column;
	SkConstraint *constraint;
	SkAction   *action;
	SkStatement *statement;
}

%token <string> IDENT STRING BYTES NUMBER OPERATOR TOKENS
%token LESS_EQUAL GREATER_EQUAL NOT_EQUAL CONCAT SHIFT_LEFT SHIFT_RIGHT

/* reserved: no names without quotes */
%token <string> K_ADD K_ALTER K_CHECK K_COLLATE K_COLUMN K_CONSTRAINT K_CREATE K_DEFAULT K_DROP
	K_FOR K_FOREIGN K_GRANT K_IF K_INTERLEAVE K_INTO K_ONLY K_PRIMARY K_REFERENCES K_REVOKE K_SET
	K_SYNONYM K_TABLE K_TO K_UNIQUE

/* not reserved */
%token <string> K_ACTION K_ALWAYS K_ANALYZE K_AUTO_INCREMENT K_CACHE K_CASCADE
	K_CHANGE K_COUNTER K_CYCLE K_DATABASE K_DELETE K_DELETION K_ENFORCED
	K_FIRST K_GENERATED K_HIDDEN K_IDENTITY K_INCLUDE K_INCREMENT K_INDEX K_INSERT
	K_INVOKER K_DEFINER K_KEY K_LAST K_MAXVALUE K_MINVALUE K_NO K_NONE
	K_NULL_FILTERED K_OPTIONS K_OWNED K_PARENT
	K_POLICY K_PRECISION K_RANGE K_RENAME K_REPLACE K_RESTART K_ROW K_SCHEMA
	K_SECURITY K_SEQUENCE K_SKIP K_SQL K_START K_STORED K_STORING K_STREAM
	K_TIME K_TTL K_TYPE K_UPDATE K_VARYING K_VIEW K_VIRTUAL K_ZONE

/* words of expressions and queries as well; reserved but for IS, NULLS and USING */
%token <string> K_ALL K_AND K_ARRAY K_AS K_ASC K_BY K_DESC K_EXISTS K_FALSE K_FROM K_IN K_INTERVAL
	K_IS K_NOT K_NULL K_NULLS K_ON K_OR K_TRUE K_USING K_WHERE K_WITH

/* words of nothing else */
%token <string> K_BETWEEN K_CASE K_CROSS K_DISTINCT K_ELSE K_END K_EXCEPT K_FULL K_GROUP
	K_HAVING K_INNER K_INTERSECT K_JOIN K_LEFT K_LIKE K_LIMIT K_ORDER K_OUTER K_OVER K_PARTITION K_RIGHT K_SELECT
	K_THEN K_UNION K_UNNEST K_WHEN

/* what binds least first */
%left K_OR
%left K_AND
%right K_NOT
%left '|'
%left '^'
%left '&'
%left SHIFT_LEFT SHIFT_RIGHT
%left '+' '-'
%left '*' '/' CONCAT
%right SIGN
%left '[' '.'
%left K_UNION K_INTERSECT K_EXCEPT
%left ')'

%type <statement> statement rows
%type <list> elements options option_list key_parts part_list
	name_list opt_names index_tail clauses clause_list alter_clauses alter_actions
	renames streams stream_list where_parts where_part strings tail identity_clauses
%type <node> bracketed default_value expression view_query tokens table_name expr condition value call query query_body
	query_operand subquery select select_item from_item table_ref join_condition opt_sort sort_item
	opt_distinct opt_where opt_group opt_having opt_limit set_operator with_item
	opt_partition inserted row set_item
%type <list> expr_list whens select_items from_items sort_list with_items
	group_list opt_zone row_list set_list
%type <string> function opt_alias
%type <word> comparison join_type truth
%type <boolean> opt_not
%type <constraint> element tail_item constraint table_constraint interleave policy stream
%type <action> alter_action column_action
%type <column> column attributes
%type <name> qualified
%type <type> type known_type base_type
%type <part> key_part
%type <clause> clause
%type <option> option
%type <string> name type_words type_path unreserved opt_constraint_name opt_nulls
%type <word> opt_security droppable
%type <integer> integer fk_actions
%type <boolean> opt_exists opt_not_exists opt_unique opt_null_filtered
	opt_or_replace opt_desc opt_cascade on_delete opt_stored generated_kind

%%

start:
	statement opt_end
		{
			ddl->statement = $1;
			(void) yynerrs;		/* bison counts it, and nobody reads it */
		}
	;

opt_end:
	| ';'
	;

statement:
	K_CREATE K_TABLE opt_not_exists qualified '(' elements ')' tail
		{ $$ = NODE(SkStatement, .type = SK_CREATE_TABLE, .name = $4, .exists_ok = $3,
			.elements = list_concat($6, $8)); }
	| K_CREATE opt_unique opt_null_filtered K_INDEX opt_not_exists qualified
		K_ON qualified opt_using '(' key_parts ')' index_tail
		{ $$ = NODE(SkStatement, .type = SK_CREATE_INDEX, .name = $6, .is_unique = $2,
			.null_filtered = $3, .exists_ok = $5, .table = $8, .columns = $11, .elements = $13); }
	| K_CREATE opt_or_replace K_VIEW qualified opt_names opt_security K_AS expression_start view_query
		{ $$ = NODE(SkStatement, .type = SK_CREATE_VIEW, .name = $4, .or_replace = $2,
			.columns = $5, .security = $6, .expr = $9); }
	| K_CREATE opt_or_replace K_SCHEMA opt_not_exists qualified
		{ $$ = NODE(SkStatement, .type = SK_CREATE_SCHEMA, .name = $5, .or_replace = $2,
			.exists_ok = $4); }
	| K_CREATE K_SEQUENCE opt_not_exists qualified clauses
		{ $$ = NODE(SkStatement, .type = SK_CREATE_SEQUENCE, .name = $4, .exists_ok = $3,
			.elements = $5); }
	| K_CREATE K_CHANGE K_STREAM opt_not_exists qualified streams option_list
		{ $$ = NODE(SkStatement, .type = SK_CREATE_STREAM, .name = $5, .exists_ok = $4,
			.elements = $6, .options = $7); }
	| K_ALTER K_TABLE opt_exists opt_only qualified opt_star alter_actions
		{ $$ = NODE(SkStatement, .type = SK_ALTER_TABLE, .name = $5, .exists_ok = $3,
			.elements = $7); }
	| K_ALTER K_INDEX opt_exists qualified K_ADD stored K_COLUMN name
		{ $$ = NODE(SkStatement, .type = SK_ALTER_INDEX, .name = $4, .exists_ok = $3,
			.columns = list_make1($8)); }
	| K_ALTER K_INDEX opt_exists qualified K_DROP stored K_COLUMN name
		{ $$ = NODE(SkStatement, .type = SK_ALTER_INDEX, .name = $4, .exists_ok = $3,
			.columns = list_make1($8), .is_drop = true); }
	| K_ALTER K_SEQUENCE opt_exists qualified alter_clauses
		{ $$ = NODE(SkStatement, .type = SK_ALTER_SEQUENCE, .name = $4, .exists_ok = $3,
			.elements = $5); }
	| K_ALTER K_CHANGE K_STREAM qualified K_SET streams option_list
		{ $$ = NODE(SkStatement, .type = SK_ALTER_STREAM, .name = $4, .elements = $6,
			.options = $7); }
	| K_ALTER K_CHANGE K_STREAM qualified K_DROP K_FOR K_ALL
		{ $$ = NODE(SkStatement, .type = SK_ALTER_STREAM, .name = $4, .is_drop = true); }
	| K_ALTER K_DATABASE name K_SET option_list
		{ $$ = NODE(SkStatement, .type = SK_ALTER_DATABASE, .options = $5, .name = NODE_AT(SkName,
			@3, .parts = list_make1($3))); }
	| K_ALTER K_DATABASE name K_SET name '.' option
		{
			if (strcmp($5, "spanner") != 0)
				yyerror(&@5, ddl, NULL);
			$$ = NODE(SkStatement, .type = SK_ALTER_DATABASE, .options = list_make1($7),
				.name = NODE_AT(SkName, @3, .parts = list_make1($3)));
		}
	| K_DROP droppable opt_exists qualified
		{ $$ = NODE(SkStatement, .type = SK_DROP, .name = $4, .object = $2, .exists_ok = $3); }
	| K_RENAME K_TABLE renames
		{ $$ = NODE(SkStatement, .type = SK_RENAME_TABLES, .elements = $3); }
	| K_ANALYZE	{ $$ = NODE(SkStatement, .type = SK_ANALYZE); }
	| rows
	;

/* PostgreSQL's own are tokens */
rows:
	K_INSERT tokens
		{ $$ = NODE(SkStatement, .type = SK_ROWS, .object = "INSERT", .expr = $2); }
	| K_UPDATE tokens
		{ $$ = NODE(SkStatement, .type = SK_ROWS, .object = "UPDATE", .expr = $2); }
	| K_DELETE tokens
		{ $$ = NODE(SkStatement, .type = SK_ROWS, .object = "DELETE", .expr = $2); }
	| K_INSERT opt_into qualified '(' name_list ')' expression_start inserted
		{ $$ = NODE(SkStatement, .type = SK_ROWS, .object = "INSERT INTO", .name = $3,
			.columns = $5, .expr = $8); }
	| K_UPDATE qualified opt_alias K_SET expression_start set_list opt_where
		{ $$ = NODE(SkStatement, .type = SK_ROWS, .object = "UPDATE", .name = $2, .alias = $3,
			.expr = PHRASE(list_make3(WORD("SET"), EXPR(SK_NODE_LIST, .args = $6), $7))); }
	| K_DELETE opt_from qualified opt_alias opt_where
		{ $$ = NODE(SkStatement, .type = SK_ROWS, .object = "DELETE FROM", .name = $3, .alias = $4,
			.expr = PHRASE(list_make1($5))); }
	;

set_list:
	set_item					{ $$ = list_make1($1); }
	| set_list ',' set_item		{ $$ = lappend($1, $3); }
	;

set_item:
	table_name '=' expr
		{ $$ = EXPR(SK_NODE_PHRASE, .name = "SET", .args = list_make3($1, WORD("="), $3)); }
	;

inserted:
	query
	| IDENT row_list
		{
			if (strcmp($1, "values") != 0)
				yyerror(&@1, ddl, NULL);
			$$ = PHRASE(list_make2(WORD("VALUES"), EXPR(SK_NODE_LIST, .args = $2)));
		}
	;

row_list:
	row							{ $$ = list_make1($1); }
	| row_list ',' row			{ $$ = lappend($1, $3); }
	;

row:
	'(' expr_list ')'
		{ $$ = EXPR(SK_NODE_PARENTHESES, .args = list_make1(EXPR(SK_NODE_LIST, .name = "VALUES",
			.args = $2))); }
	;

opt_into:
	| K_INTO
	;

opt_from:
	| K_FROM
	;

opt_exists:
	K_IF K_EXISTS				{ $$ = true; }
	| /* empty */				{ $$ = false; }
	;

opt_not_exists:
	K_IF K_NOT K_EXISTS			{ $$ = true; }
	| /* empty */				{ $$ = false; }
	;

opt_unique:
	K_UNIQUE					{ $$ = true; }
	| /* empty */				{ $$ = false; }
	;

opt_null_filtered:
	K_NULL_FILTERED				{ $$ = true; }
	| /* empty */				{ $$ = false; }
	;

opt_or_replace:
	K_OR K_REPLACE				{ $$ = true; }
	| /* empty */				{ $$ = false; }
	;

opt_only:
	| K_ONLY
	;

opt_star:
	| '*'
	;

opt_comma:
	| ','
	;

opt_with:
	| K_WITH
	;

opt_using:
	| K_USING IDENT
		{
			if (strcmp($2, "btree") != 0)
				yyerror(&@2, ddl, NULL);
		}
	;

stored:
	K_STORED
	| K_INCLUDE
	;

droppable:
	K_TABLE						{ $$ = "TABLE"; }
	| K_INDEX					{ $$ = "INDEX"; }
	| K_VIEW					{ $$ = "VIEW"; }
	| K_SEQUENCE				{ $$ = "SEQUENCE"; }
	| K_SCHEMA					{ $$ = "SCHEMA"; }
	| K_CHANGE K_STREAM			{ $$ = "PUBLICATION"; }
	;

opt_security:
	K_SQL K_SECURITY K_INVOKER	{ $$ = "true"; }
	| K_SQL K_SECURITY K_DEFINER	{ $$ = "false"; }
	| /* empty */				{ $$ = NULL; }
	;

/* what stands in the parentheses of a table; commas may be too many */
elements:
	element						{ $$ = $1 ? list_make1($1) : NIL; }
	| elements ',' element		{ $$ = $3 ? lappend($1, $3) : $1; }
	;

element:
	/* empty */					{ $$ = NULL; }
	| column	{ $$ = NODE(SkConstraint, .type = SK_COLUMN, .column = $1); }
	| constraint
	| K_SYNONYM '(' qualified ')'	{ $$ = NODE(SkConstraint, .type = SK_SYNONYM, .table = $3); }
	;

tail:
	/* empty */					{ $$ = NIL; }
	| tail opt_comma tail_item	{ $$ = lappend($1, $3); }
	;

tail_item:
	K_PRIMARY K_KEY '(' key_parts ')'
		{
			if (ddl->dialect == SK_POSTGRESQL)
				yyerror(&@1, ddl, NULL);
			$$ = NODE(SkConstraint, .type = SK_PRIMARY_KEY, .columns = $4);
		}
	| interleave
	| policy
	| refused_options			{ $$ = NULL; }
	;

refused_options:
	K_OPTIONS '(' options opt_comma ')'
		{ sk_ddl_refuse_option(ddl, linitial($3), ""); }
	;

interleave:
	K_INTERLEAVE K_IN qualified	{ $$ = NODE(SkConstraint, .type = SK_INTERLEAVE, .table = $3); }
	| K_INTERLEAVE K_IN K_PARENT qualified on_delete
		{ $$ = NODE(SkConstraint, .type = SK_INTERLEAVE, .is_parent = true, .table = $4,
			.cascades = $5); }
	;

on_delete:
	K_ON K_DELETE opt_cascade	{ $$ = $3; }
	| /* empty */				{ $$ = false; }
	;

opt_cascade:
	K_CASCADE					{ $$ = true; }
	| K_NO K_ACTION				{ $$ = false; }
	;

policy:
	K_ROW K_DELETION K_POLICY '(' name '(' name ',' K_INTERVAL NUMBER name ')' ')'
		{ $$ = NODE(SkConstraint, .type = SK_DELETION_POLICY, .name = $5, .columns = list_make1($7),
			.interval = psprintf("%s %s", $10, $11)); }
	| K_TTL K_INTERVAL STRING K_ON name
		{ $$ = NODE(SkConstraint, .type = SK_DELETION_POLICY, .columns = list_make1($5),
			.interval = $3); }
	;

constraint:
	opt_constraint_name table_constraint
		{
			$$ = $2;
			$$->name = $1;
			$$->at = @$.first;
		}
	;

opt_constraint_name:
	K_CONSTRAINT name			{ $$ = $2; }
	| /* empty */				{ $$ = NULL; }
	;

table_constraint:
	K_PRIMARY K_KEY '(' key_parts ')'
		{ $$ = NODE(SkConstraint, .type = SK_PRIMARY_KEY, .columns = $4); }
	| K_FOREIGN K_KEY '(' name_list ')' K_REFERENCES qualified opt_names fk_actions
		{ $$ = NODE(SkConstraint, .type = SK_FOREIGN_KEY, .columns = $4, .table = $7,
			.referenced = $8, .cascades = ($9 & FK_CASCADES) != 0,
			.not_enforced = ($9 & FK_NOT_ENFORCED) != 0); }
	| K_CHECK bracketed enforced
		{ $$ = NODE(SkConstraint, .type = SK_CHECK, .expr = $2); }
	| K_UNIQUE '(' name_list ')'	{ $$ = NODE(SkConstraint, .type = SK_UNIQUE); }
	;

enforced:
	| K_ENFORCED
	;

fk_actions:
	/* empty */					{ $$ = 0; }
	| fk_actions K_ON K_DELETE opt_cascade	{ $$ = $1 | ($4 ? FK_CASCADES : 0); }
	| fk_actions K_ON K_UPDATE K_NO K_ACTION
	| fk_actions K_ENFORCED
	| fk_actions K_NOT K_ENFORCED	{ $$ = $1 | FK_NOT_ENFORCED; }
	;

column:
	name type attributes
		{
			ListCell   *lc;

			$$ = $3;
			$$->name = $1;
			$$->type = $2;
			$$->at = @1.first;
			foreach(lc, $$->constraints)
				name_column(lfirst(lc), $$);
		}
	;

/* what stands behind the type of a column */
attributes:
	/* empty */	{ $$ = NODE(SkColumn); }
	| attributes K_NOT K_NULL	{ ($$ = $1)->not_null = true; }
	| attributes K_NULL			{ ($$ = $1)->is_null = true; }
	| attributes K_DEFAULT default_value
		{
			$$ = $1;
			$$->has_default = true;
			$$->expr = $3;
		}
	| attributes K_AS bracketed opt_stored
		{
			$$ = $1;
			$$->is_generated = true;
			$$->expr = $3;
			$$->is_stored = $4;
		}
	| attributes K_GENERATED K_ALWAYS K_AS bracketed generated_kind
		{
			$$ = $1;
			$$->is_generated = true;
			$$->expr = $5;
			$$->is_stored = $6;
		}
	| attributes K_GENERATED K_BY K_DEFAULT K_AS K_IDENTITY identity_clauses
		{
			$$ = $1;
			$$->is_identity = true;
			$$->clauses = $7;
		}
	| attributes K_GENERATED K_ALWAYS K_AS K_IDENTITY identity_clauses
		{
			$$ = $1;
			$$->is_identity = $$->is_always = true;
			$$->clauses = $6;
		}
	| attributes K_AUTO_INCREMENT	{ ($$ = $1)->is_identity = true; }
	| attributes K_ON K_UPDATE bracketed
		{
			$$ = $1;
			$$->has_update = true;
			$$->update = $4;
		}
	| attributes K_HIDDEN
	| attributes K_PRIMARY K_KEY
		{
			$$ = add_constraint($1, NODE_AT(SkConstraint, @2, .type = SK_PRIMARY_KEY));
			$$->is_primary_key = true;
		}
	| attributes K_OPTIONS '(' options opt_comma ')'	{ ($$ = $1)->options = $4; }
	| attributes opt_constraint_name K_CHECK bracketed
		{ $$ = add_constraint($1, NODE_AT(SkConstraint, @3, .type = SK_CHECK, .name = $2,
			.expr = $4)); }
	| attributes opt_constraint_name K_REFERENCES qualified opt_names
		{ $$ = add_constraint($1, NODE_AT(SkConstraint, @3, .type = SK_FOREIGN_KEY, .name = $2,
			.table = $4, .referenced = $5)); }
	| attributes opt_constraint_name K_UNIQUE
		{ $$ = add_constraint($1, NODE_AT(SkConstraint, @3, .type = SK_UNIQUE)); }
	| attributes K_ON K_DELETE opt_cascade
		{
			$$ = $1;
			last_constraint(ddl, $$, @2)->cascades = $4;
		}
	| attributes K_NOT K_ENFORCED
		{
			$$ = $1;
			last_constraint(ddl, $$, @2)->not_enforced = true;
		}
	| attributes K_ENFORCED
	;

identity_clauses:
	/* empty */					{ $$ = NIL; }
	| '(' clause_list ')'		{ $$ = $2; }
	;

opt_stored:
	generated_kind
	| /* empty */				{ $$ = false; }
	;

generated_kind:
	K_STORED					{ $$ = true; }
	| K_VIRTUAL					{ $$ = false; }
	;

type:
	known_type
	| type '[' ']'
		{
			$$ = $1;
			$$->is_array = true;
		}
	| K_ARRAY '<' known_type '>'
		{
			$$ = $3;
			$$->is_array = true;
			$$->at = @$.first;
		}
	| K_ARRAY '<' known_type '>' '(' name OPERATOR NUMBER ')'
		{
			sk_ddl_refuse(ddl, @6.first, "vector length", "Add a CHECK on its length.");
		}
	;

/* of this dialect */
known_type:
	base_type					{ (void) sk_ddl_type(ddl, $$ = $1, NULL); }
	;

base_type:
	type_words	{ $$ = NODE(SkTypeName, .name = $1); }
	| type_words '(' NUMBER ')'
		{
			/* a length of zero is none that a type can have */
			$$ = NODE(SkTypeName, .name = $1,
				.length = integer_of(ddl, @3.first, false));
			if ($$->length == 0)
				$$->length = -2;
		}
	| type_words '(' IDENT ')'
		{
			if (strcmp($3, "max") != 0)
				yyerror(&@3, ddl, NULL);
			$$ = NODE(SkTypeName, .name = $1, .length = -1);
		}
	| type_words '(' NUMBER ',' NUMBER ')'
		{ $$ = NODE(SkTypeName, .name = $1, .length = integer_of(ddl, @3.first, false),
			.scale = integer_of(ddl, @5.first, false)); }
	;

type_words:
	IDENT
	| IDENT K_PRECISION			{ $$ = psprintf("%s precision", $1); }
	| IDENT K_VARYING			{ $$ = psprintf("%s varying", $1); }
	| IDENT K_WITH K_TIME K_ZONE	{ $$ = psprintf("%s with time zone", $1); }
	| type_path
	;

type_path:
	IDENT '.' name				{ $$ = psprintf("%s.%s", $1, $3); }
	| type_path '.' name		{ $$ = psprintf("%s.%s", $1, $3); }
	;

key_parts:
	/* empty */					{ $$ = NIL; }
	| part_list opt_comma
	;

part_list:
	key_part					{ $$ = list_make1($1); }
	| part_list ',' key_part	{ $$ = lappend($1, $3); }
	;

key_part:
	name opt_desc opt_nulls
		{ $$ = NODE_AT(SkKeyPart, @1, .column = $1, .is_desc = $2, .nulls = $3); }
	;

opt_desc:
	K_DESC						{ $$ = true; }
	| K_ASC						{ $$ = false; }
	| /* empty */				{ $$ = false; }
	;

opt_nulls:
	K_NULLS K_FIRST				{ $$ = "FIRST"; }
	| K_NULLS K_LAST			{ $$ = "LAST"; }
	| /* empty */				{ $$ = NULL; }
	;

/* what stands behind the key of an index: a list of elements */
index_tail:
	/* empty */					{ $$ = NIL; }
	| index_tail storing '(' name_list ')'
		{ $$ = lappend($1, NODE_AT(SkConstraint, @2, .type = SK_UNIQUE, .columns = $4)); }
	| index_tail K_WHERE where_parts
		{ $$ = lappend($1, NODE_AT(SkConstraint, @2, .type = SK_CHECK, .columns = $3)); }
	| index_tail opt_comma interleave	{ $$ = lappend($1, $3); }
	| index_tail refused_options
	;

storing:
	K_STORING
	| K_INCLUDE
	;

where_parts:
	where_part
	| where_parts K_AND where_part	{ $$ = list_concat($1, $3); }
	;

where_part:
	name K_IS K_NOT K_NULL		{ $$ = list_make1($1); }
	| '(' where_parts ')'		{ $$ = $2; }
	;

name_list:
	name						{ $$ = list_make1($1); }
	| name_list ',' name		{ $$ = lappend($1, $3); }
	;

opt_names:
	/* empty */					{ $$ = NIL; }
	| '(' name_list ')'			{ $$ = $2; }
	;

clauses:
	/* empty */					{ $$ = NIL; }
	| clause_list
	;

alter_clauses:
	clause_list
	| K_SET clause_list			{ $$ = $2; }
	;

clause_list:
	clause						{ $$ = list_make1($1); }
	| clause_list clause		{ $$ = lappend($1, $2); }
	| clause_list K_SET clause	{ $$ = lappend($1, $3); }
	;

clause:
	IDENT	{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_KIND, .word = $1); }
	| IDENT '(' options ')'
		{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_KIND, .word = $1, .options = $3); }
	| K_SKIP K_RANGE integer opt_comma integer
		{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_SKIP, .first = $3, .second = $5); }
	| K_NO K_SKIP K_RANGE
		{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_NO_SKIP, .word = "NO SKIP RANGE"); }
	| K_START K_COUNTER opt_with integer
		{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_START, .word = "start_counter", .first = $4); }
	| K_RESTART K_COUNTER opt_with integer
		{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_RESTART, .word = "restart_counter",
			.first = $4); }
	| K_NO K_MINVALUE	{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_LIMIT, .word = "NO MINVALUE"); }
	| K_NO K_MAXVALUE	{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_LIMIT, .word = "NO MAXVALUE"); }
	| K_NO K_CYCLE	{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_LIMIT, .word = "NO CYCLE"); }
	| K_CYCLE	{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_CYCLE); }
	| K_OWNED K_BY K_NONE
		{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_OWNED_BY_NONE, .word = "owned_by"); }
	| K_OWNED K_BY IDENT '.' name
		{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_OWNED_BY, .word = "owned_by"); }
	| K_AS IDENT	{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_CORE, .word = "as"); }
	| K_CACHE integer	{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_CORE, .word = "cache"); }
	| K_INCREMENT opt_by integer
		{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_CORE, .word = "increment"); }
	| K_MINVALUE integer	{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_CORE, .word = "MINVALUE"); }
	| K_MAXVALUE integer	{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_CORE, .word = "MAXVALUE"); }
	| K_START opt_with integer	{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_CORE, .word = "start"); }
	| K_RESTART opt_with integer
		{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_CORE, .word = "restart"); }
	| K_OPTIONS '(' options opt_comma ')'
		{ $$ = NODE(SkDdlClause, .type = SK_CLAUSE_OPTIONS, .options = $3); }
	;

opt_by:
	| K_BY
	;

integer:
	NUMBER						{ $$ = integer_of(ddl, @1.first, false); }
	| '-' NUMBER				{ $$ = integer_of(ddl, @2.first, true); }
	| '+' NUMBER				{ $$ = integer_of(ddl, @2.first, false); }
	;

option_list:
	/* empty */					{ $$ = NIL; }
	| K_OPTIONS '(' options opt_comma ')'	{ $$ = $3; }
	| K_WITH '(' options opt_comma ')'	{ $$ = $3; }
	;

options:
	option						{ $$ = list_make1($1); }
	| options ',' option		{ $$ = lappend($1, $3); }
	;

option:
	name is option_value
		{
			SkToken    *token = &ddl->tokens[@3.first];

			/* a string of the other dialect */
			if (token->type == SK_TOKEN_NAME)
				yyerror(&@3, ddl, NULL);
			$$ = NODE_AT(SkDdlOption, @1, .name = $1, .type = token->type, .value = token->text,
				.value_at = @3.first);
			/* a number with a sign */
			if (@3.end == @3.first + 2)
			{
				$$->type = token[1].type;
				$$->value = *token->text == '-' ? psprintf("-%s", token[1].text) : token[1].text;
			}
		}
	;

is:
	'='
	| K_TO
	;

option_value:
	NUMBER
	| '-' NUMBER
	| '+' NUMBER
	| STRING
	| IDENT
	| K_NULL
	| K_TRUE
	| K_FALSE
	| K_DEFAULT
	| '[' strings ']'
	;

strings:
	STRING						{ $$ = NIL; }
	| strings ',' STRING		{ $$ = $1; }
	;

/* a list of constraints with the tables; of NULL for all tables */
streams:
	/* empty */					{ $$ = NIL; }
	| K_FOR K_ALL				{ $$ = list_make1(NULL); }
	| K_FOR stream_list			{ $$ = $2; }
	;

stream_list:
	stream						{ $$ = list_make1($1); }
	| stream_list ',' stream	{ $$ = lappend($1, $3); }
	;

stream:
	qualified	{ $$ = NODE(SkConstraint, .type = SK_UNIQUE, .table = $1); }
	| qualified '(' ')'	{ $$ = NODE(SkConstraint, .type = SK_PRIMARY_KEY, .table = $1); }
	| qualified '(' name_list ')'
		{ $$ = NODE(SkConstraint, .type = SK_PRIMARY_KEY, .table = $1, .columns = $3); }
	;

renames:
	qualified K_TO qualified	{ $$ = list_make2($1, $3); }
	| renames ',' qualified K_TO qualified	{ $$ = lappend(lappend($1, $3), $5); }
	;

alter_actions:
	alter_action				{ $$ = list_make1($1); }
	| alter_actions ',' alter_action	{ $$ = lappend($1, $3); }
	;

alter_action:
	K_ADD column	{ $$ = NODE(SkAction, .type = SK_ADD_COLUMN, .name = $2->name, .column = $2); }
	| K_ADD K_IF K_NOT K_EXISTS column
		{ $$ = NODE(SkAction, .type = SK_ADD_COLUMN, .name = $5->name, .column = $5,
			.exists_ok = true); }
	| K_ADD constraint	{ $$ = NODE(SkAction, .type = SK_ADD_CONSTRAINT, .constraint = $2); }
	| K_ADD policy	{ $$ = NODE(SkAction, .type = SK_ADD_CONSTRAINT, .constraint = $2); }
	| K_ADD K_SYNONYM qualified
		{ $$ = NODE(SkAction, .type = SK_ADD_CONSTRAINT, .constraint = NODE(SkConstraint,
			.type = SK_SYNONYM, .table = $3)); }
	| K_REPLACE policy
		{ $$ = NODE(SkAction, .type = SK_ADD_CONSTRAINT, .constraint = $2, .exists_ok = true); }
	| K_ALTER policy
		{ $$ = NODE(SkAction, .type = SK_ADD_CONSTRAINT, .constraint = $2, .exists_ok = true); }
	| K_DROP K_CONSTRAINT name	{ $$ = NODE(SkAction, .type = SK_DROP_CONSTRAINT, .name = $3); }
	| K_DROP K_ROW K_DELETION K_POLICY	{ $$ = NODE(SkAction, .type = SK_DROP_POLICY); }
	| K_DROP K_SYNONYM qualified	{ $$ = NODE(SkAction, .type = SK_DROP_SYNONYM, .target = $3); }
	| K_DROP name
		{
			/* without the word COLUMN, TTL is the policy and no column */
			$$ = NODE(SkAction, .type = sk_ddl_has_words(ddl, @$.first + 1, "ttl") ? SK_DROP_POLICY :
				SK_DROP_COLUMN, .name = $2);
		}
	| K_DROP K_IF K_EXISTS name
		{ $$ = NODE(SkAction, .type = SK_DROP_COLUMN, .name = $4, .exists_ok = true); }
	| K_ALTER name column_action
		{
			$$ = $3;
			$$->name = $2;
			$$->at = @$.first;
			if ($$->column != NULL)
				$$->column->name = $2;
		}
	| K_SET K_ON K_DELETE opt_cascade
		{ $$ = NODE(SkAction, .type = SK_SET_ON_DELETE, .constraint = NODE(SkConstraint,
			.type = SK_INTERLEAVE, .cascades = $4)); }
	| K_SET interleave	{ $$ = NODE(SkAction, .type = SK_SET_ON_DELETE, .constraint = $2); }
	| K_SET refused_options	{ $$ = NULL; }
	| K_RENAME K_TO qualified	{ $$ = NODE(SkAction, .type = SK_RENAME, .target = $3); }
	| K_RENAME K_WITH K_SYNONYM K_TO qualified
		{ $$ = NODE(SkAction, .type = SK_RENAME, .target = $5, .with_synonym = true); }
	;

column_action:
	type attributes
		{
			$2->type = $1;
			$2->at = @1.first;
			$$ = NODE(SkAction, .type = SK_ALTER_COLUMN, .column = $2);
		}
	| K_TYPE type
		{ $$ = NODE(SkAction, .type = SK_ALTER_TYPE, .column = NODE_AT(SkColumn, @2, .type = $2)); }
	| K_SET K_NOT K_NULL	{ $$ = NODE(SkAction, .type = SK_SET_NOT_NULL); }
	| K_DROP K_NOT K_NULL	{ $$ = NODE(SkAction, .type = SK_DROP_NOT_NULL); }
	| K_SET K_DEFAULT default_value
		{ $$ = NODE(SkAction, .type = SK_SET_DEFAULT, .column = NODE_AT(SkColumn, @3,
			.expr = $3)); }
	| K_DROP K_DEFAULT	{ $$ = NODE(SkAction, .type = SK_DROP_DEFAULT); }
	| K_DROP K_ON K_UPDATE	{ $$ = NODE(SkAction, .type = SK_DROP_UPDATE); }
	| K_SET K_ON K_UPDATE bracketed
		{ $$ = NODE(SkAction, .type = SK_SET_UPDATE, .column = NODE_AT(SkColumn, @4,
			.update = $4)); }
	| K_SET clause_list
		{ $$ = NODE(SkAction, .type = SK_ALTER_IDENTITY, .is_set = true, .column = NODE(SkColumn,
			.clauses = $2)); }
	| K_RESTART K_COUNTER opt_with integer
		{ $$ = NODE(SkAction, .type = SK_ALTER_IDENTITY, .column = NODE(SkColumn,
			.clauses = list_make1(NODE(SkDdlClause, .type = SK_CLAUSE_RESTART, .first = $4)))); }
	| K_ALTER K_IDENTITY alter_clauses
		{ $$ = NODE(SkAction, .type = SK_ALTER_IDENTITY, .column = NODE(SkColumn, .clauses = $3)); }
	| K_ADD K_GENERATED K_BY K_DEFAULT K_AS K_IDENTITY identity_clauses
		{ $$ = NODE(SkAction, .type = SK_ADD_IDENTITY); }
	;

qualified:
	name
		{
			char	   *dot = strchr($1, '.');

			/* a name of GoogleSQL has no dot: it is one of two parts */
			$$ = NODE(SkName, .parts = list_make1($1));
			if (dot != NULL && ddl->dialect == SK_GOOGLESQL)
				$$->parts = list_make2(pnstrdup($1, dot - $1), dot + 1);
		}
	| qualified '.' name
		{
			$$ = $1;
			$$->parts = lappend($$->parts, $3);
		}
	;

name:
	IDENT						{ $$ = check_name(ddl, @1, $1); }
	| unreserved				{ $$ = check_name(ddl, @1, $1); }
	;

unreserved:
	plain_word					{ $$ = ddl->tokens[@1.first].text; }
	| K_AUTO_INCREMENT | K_GENERATED | K_HIDDEN | K_OPTIONS | K_ENFORCED
	;

plain_word:
	K_ACTION | K_ALWAYS | K_ANALYZE | K_CACHE | K_CASCADE | K_CHANGE
	| K_COUNTER | K_CYCLE | K_DATABASE | K_DELETE | K_DELETION
	| K_FIRST | K_IDENTITY | K_INCLUDE | K_INCREMENT | K_INDEX | K_INSERT | K_INVOKER
	| K_DEFINER | K_IS | K_KEY | K_LAST | K_MAXVALUE | K_MINVALUE | K_NO
	| K_NONE | K_NULLS | K_NULL_FILTERED | K_OWNED
	| K_POLICY | K_PRECISION | K_RANGE | K_RENAME | K_REPLACE
	| K_RESTART | K_ROW | K_SCHEMA | K_SECURITY | K_SEQUENCE | K_SKIP | K_SQL
	| K_START | K_STORED | K_STORING | K_STREAM | K_TIME | K_TTL | K_TYPE
	| K_UPDATE | K_USING | K_VARYING | K_VIEW | K_VIRTUAL | K_ZONE
	;

/*
 * Expressions.  The tokens that follow are read otherwise, so a rule that is
 * empty stands where they begin, and where they end is no look at what is next.
 */
bracketed:
	'(' expression_start expression ')'
		{
			$$ = $3;
			ddl->in_expression = false;
		}
	;

expression_start:				{ ddl->in_expression = true; }
	;

/* PostgreSQL's ends where the next attribute begins */
default_value:
	default_start bracketed
		{ $$ = EXPR(SK_NODE_PARENTHESES, .args = list_make1($2)); }
	| default_start tokens		{ $$ = $2; }
	;

default_start:					{ ddl->in_default = true; }
	;

expression:
	expr
	| tokens
	;

view_query:
	query
	| tokens
	;

tokens:
	TOKENS						{ $$ = EXPR(SK_NODE_TOKENS, .range = @1); }
	;

expr:
	condition
	| K_NOT expr				{ $$ = operator_node(@$, "NOT", NULL, $2); }
	| expr K_AND expr			{ $$ = operator_node(@$, "AND", $1, $3); }
	| expr K_OR expr			{ $$ = operator_node(@$, "OR", $1, $3); }
	;

condition:
	value
	| value comparison value	{ $$ = operator_node(@$, $2, $1, $3); }
	| value K_IS opt_not truth
		{ $$ = EXPR(SK_NODE_TEST, .args = list_make2($1, WORD(psprintf("IS %s%s", $3 ? "NOT " : "",
			$4)))); }
	| value K_IS opt_not IDENT
		{
			if (strcmp($4, "unknown") != 0)
				yyerror(&@4, ddl, NULL);
			$$ = EXPR(SK_NODE_TEST, .args = list_make2($1, WORD($3 ? "IS NOT UNKNOWN" : "IS UNKNOWN")));
		}
	| value K_IS opt_not K_DISTINCT K_FROM value
		{ $$ = EXPR(SK_NODE_TEST, .args = list_make3($1, WORD($3 ? "IS NOT DISTINCT FROM" :
			"IS DISTINCT FROM"), $6)); }
	| value opt_not K_LIKE value
		{ $$ = EXPR(SK_NODE_TEST, .args = list_make3($1, WORD($2 ? "NOT LIKE" : "LIKE"), $4)); }
	| value opt_not K_BETWEEN value K_AND value
		{ $$ = EXPR(SK_NODE_TEST, .args = list_make5($1, WORD($2 ? "NOT BETWEEN" : "BETWEEN"), $4,
			WORD("AND"), $6)); }
	| value opt_not K_IN '(' expr_list ')'
		{ $$ = EXPR(SK_NODE_IN, .text = $2 ? "NOT " : "", .args = lcons($1, $5)); }
	| value opt_not K_IN subquery
		{ $$ = EXPR(SK_NODE_TEST, .args = list_make3($1, WORD($2 ? "NOT IN" : "IN"), $4)); }
	| value opt_not K_IN K_UNNEST '(' expr ')'
		{ $$ = EXPR(SK_NODE_IN_UNNEST, .text = $2 ? "NOT " : "", .args = list_make2($1, $6)); }
	;

comparison:
	'='							{ $$ = "="; }
	| '<'						{ $$ = "<"; }
	| '>'						{ $$ = ">"; }
	| LESS_EQUAL				{ $$ = "<="; }
	| GREATER_EQUAL				{ $$ = ">="; }
	| NOT_EQUAL					{ $$ = "<>"; }
	;

truth:
	K_NULL						{ $$ = "NULL"; }
	| K_TRUE					{ $$ = "TRUE"; }
	| K_FALSE					{ $$ = "FALSE"; }
	;

opt_not:
	K_NOT						{ $$ = true; }
	| /* empty */				{ $$ = false; }
	;

value:
	NUMBER						{ $$ = number_node(@$, $1); }
	| STRING					{ $$ = EXPR(SK_NODE_STRING, .text = $1); }
	| BYTES						{ $$ = EXPR(SK_NODE_BYTES, .text = $1); }
	| truth						{ $$ = WORD($1); }
	| IDENT						{ $$ = word_node(ddl, @1, $1); }
	| IDENT STRING				{ $$ = EXPR(SK_NODE_TYPED, .name = $1, .text = $2); }
	| value '.' IDENT			{ $$ = name_node(ddl, @3, $1); }
	| value '[' expr ']'		{ $$ = EXPR(SK_NODE_ELEMENT, .args = list_make2($1, $3)); }
	| call
	| subquery %prec SIGN
	| '(' expr ')'				{ $$ = EXPR(SK_NODE_PARENTHESES, .args = list_make1($2)); }
	| '(' expr ',' expr_list ')'
		{ $$ = EXPR(SK_NODE_PARENTHESES, .args = list_make1(EXPR(SK_NODE_LIST, .args = lcons($2, $4)))); }
	| K_EXISTS subquery			{ $$ = PHRASE(list_make2(WORD("EXISTS"), $2)); }
	| K_ARRAY subquery			{ $$ = PHRASE(list_make2(WORD("ARRAY"), $2)); }
	| K_CASE whens K_END
		{ $$ = EXPR(SK_NODE_CASE, .args = lcons(NULL, $2)); }
	| K_CASE expr whens K_END	{ $$ = EXPR(SK_NODE_CASE, .args = lcons($2, $3)); }
	| K_INTERVAL value IDENT	{ $$ = EXPR(SK_NODE_INTERVAL, .text = $3, .args = list_make1($2)); }
	| opt_array '[' ']'			{ $$ = EXPR(SK_NODE_ARRAY); }
	| opt_array '[' expr_list ']'	{ $$ = EXPR(SK_NODE_ARRAY, .args = $3); }
	| K_ARRAY '<' known_type '>' '[' ']'	{ $$ = EXPR(SK_NODE_ARRAY, .type_name = $3); }
	| K_ARRAY '<' known_type '>' '[' expr_list ']'
		{ $$ = EXPR(SK_NODE_ARRAY, .type_name = $3, .args = $6); }
	| '-' value %prec SIGN		{ $$ = sign_node(@$, "-", $2); }
	| '+' value %prec SIGN		{ $$ = sign_node(@$, "+", $2); }
	| '~' value %prec SIGN		{ $$ = sign_node(@$, "~", $2); }
	| value '*' value			{ $$ = operator_node(@$, "*", $1, $3); }
	| value '/' value			{ $$ = operator_node(@$, "/", $1, $3); }
	| value CONCAT value		{ $$ = operator_node(@$, "||", $1, $3); }
	| value '+' value			{ $$ = operator_node(@$, "+", $1, $3); }
	| value '-' value			{ $$ = operator_node(@$, "-", $1, $3); }
	| value SHIFT_LEFT value	{ $$ = operator_node(@$, "<<", $1, $3); }
	| value SHIFT_RIGHT value	{ $$ = operator_node(@$, ">>", $1, $3); }
	| value '&' value			{ $$ = operator_node(@$, "&", $1, $3); }
	| value '^' value			{ $$ = operator_node(@$, "#", $1, $3); }
	| value '|' value			{ $$ = operator_node(@$, "|", $1, $3); }
	;

opt_array:
	| K_ARRAY
	;

expr_list:
	expr						{ $$ = list_make1($1); }
	| expr_list ',' expr		{ $$ = lappend($1, $3); }
	;

/* conditions and values in turn; NULL is the condition of ELSE */
whens:
	K_WHEN expr K_THEN expr		{ $$ = list_make2($2, $4); }
	| whens K_WHEN expr K_THEN expr	{ $$ = lappend(lappend($1, $3), $5); }
	| whens K_ELSE expr			{ $$ = lappend(lappend($1, NULL), $3); }
	;

call:
	function '(' ')'			{ $$ = EXPR(SK_NODE_CALL, .text = $1); }
	| function '(' '*' ')'
		{ $$ = EXPR(SK_NODE_CALL, .text = $1, .args = list_make1(WORD("*"))); }
	| function '(' expr_list opt_sort ')'
		{ $$ = EXPR(SK_NODE_CALL, .text = $1, .args = $3, .sort = $4); }
	| function '(' K_DISTINCT expr_list opt_sort ')'
		{ $$ = EXPR(SK_NODE_CALL, .text = $1, .name = "DISTINCT ", .args = $4, .sort = $5); }
	| call K_OVER '(' opt_partition opt_sort ')'
		{ $$ = PHRASE(list_make3($1, WORD("OVER"), EXPR(SK_NODE_PARENTHESES,
			.args = list_make1(aliased_node(@$, PHRASE(list_make2($4, $5)), NIL))))); }
	| function '(' expr K_AS type ')'
		{ $$ = EXPR(SK_NODE_CAST, .text = $1, .args = list_make1($3), .type_name = $5); }
	| function '(' expr K_AS K_INTERVAL ')'
		{ $$ = EXPR(SK_NODE_CAST, .text = $1, .args = list_make1($3), .type_name = NODE_AT(SkTypeName, @5, .name = "interval")); }
	| function '(' IDENT K_FROM expr opt_zone ')'
		{ $$ = EXPR(SK_NODE_CALL, .text = $1, .args = lcons(EXPR(SK_NODE_STRING, .text = $3),
			lcons($5, $6))); }
	| function '(' call K_FROM expr opt_zone ')'
		{ $$ = EXPR(SK_NODE_CALL, .text = $1, .args = lcons($3, lcons($5, $6))); }
	| function '(' IDENT table_name ')'
		{ $$ = EXPR(SK_NODE_CALL, .text = $1, .args = list_make1(NODE_AT(SkNode, @4,
			.type = SK_NODE_SEQUENCE, .text = $3, .args = $4->args))); }
	;

opt_partition:
	K_PARTITION K_BY expr_list
		{ $$ = PHRASE(list_make2(WORD("PARTITION BY"), EXPR(SK_NODE_LIST, .args = $3))); }
	| /* empty */				{ $$ = NULL; }
	;

opt_zone:
	/* empty */					{ $$ = NIL; }
	| IDENT IDENT IDENT value
		{
			if (strcmp(psprintf("%s %s %s", $1, $2, $3), "at time zone") != 0)
				yyerror(&@1, ddl, NULL);
			$$ = list_make1($4);
		}
	;

function:
	IDENT
	| K_LEFT
	| K_RIGHT
	;

subquery:
	'(' query ')'				{ $$ = EXPR(SK_NODE_PARENTHESES, .args = list_make1($2)); }
	| '(' subquery ')'			{ $$ = $2; }
	;

query:
	query_body opt_sort opt_limit
		{ $$ = aliased_node(@$, PHRASE(list_make3($1, aliased_node(@2, $2, selected_items($1)), $3)), NIL); }
	| K_WITH with_items query_body opt_sort opt_limit
		{ $$ = aliased_node(@$, PHRASE(list_make5(WORD("WITH"), EXPR(SK_NODE_LIST, .args = $2), $3,
			aliased_node(@4, $4, selected_items($3)), $5)), NIL); }
	;

with_items:
	with_item					{ $$ = list_make1($1); }
	| with_items ',' with_item	{ $$ = lappend($1, $3); }
	;

with_item:
	table_name K_AS subquery	{ $$ = PHRASE(list_make3($1, WORD("AS"), $3)); }
	;

query_body:
	query_operand
	| query_body set_operator query_operand
		{
			/* GoogleSQL has no order among them */
			if ($1->type == SK_NODE_PHRASE && list_length($1->args) == 3 &&
				((SkNode *) lsecond($1->args))->type == SK_NODE_WORD &&
				strcmp(((SkNode *) lsecond($1->args))->text, $2->text) != 0)
				yyerror(&@2, ddl, NULL);
			$$ = PHRASE(list_make3($1, $2, $3));
		}
	;

query_operand:
	select
	| subquery %prec K_UNION
	;

/* UNION DISTINCT is PostgreSQL's UNION */
set_operator:
	K_UNION K_ALL				{ $$ = WORD("UNION ALL"); }
	| K_UNION K_DISTINCT		{ $$ = WORD("UNION"); }
	| K_INTERSECT K_DISTINCT	{ $$ = WORD("INTERSECT"); }
	| K_INTERSECT K_ALL			{ $$ = WORD("INTERSECT ALL"); }
	| K_EXCEPT K_DISTINCT		{ $$ = WORD("EXCEPT"); }
	| K_EXCEPT K_ALL			{ $$ = WORD("EXCEPT ALL"); }
	;

select:
	K_SELECT opt_distinct select_items opt_comma
		{ $$ = PHRASE(list_make2($2, EXPR(SK_NODE_LIST, .args = $3))); }
	| K_SELECT opt_distinct select_items opt_comma K_FROM from_items opt_where opt_group opt_having
		{ $$ = PHRASE(list_concat(list_make5($2, EXPR(SK_NODE_LIST, .args = $3), WORD("FROM"),
			EXPR(SK_NODE_LIST, .args = $6), $7), list_make2(aliased_node(@8, $8, $3), aliased_node(@9, $9, $3)))); }
	;

opt_distinct:
	K_DISTINCT					{ $$ = WORD("SELECT DISTINCT"); }
	| K_ALL						{ $$ = WORD("SELECT"); }
	| /* empty */				{ $$ = WORD("SELECT"); }
	;

select_items:
	select_item					{ $$ = list_make1($1); }
	| select_items ',' select_item	{ $$ = lappend($1, $3); }
	;

select_item:
	expr opt_alias				{ $$ = alias_node(@$, $1, $2); }
	| value '.' '*'				{ $$ = name_node(ddl, @3, $1); }
	| '*'						{ $$ = EXPR(SK_NODE_NAME, .args = list_make1("*")); }
	;

opt_alias:
	IDENT						{ $$ = check_name(ddl, @1, $1); }
	| K_AS IDENT				{ $$ = check_name(ddl, @2, $2); }
	| /* empty */				{ $$ = NULL; }
	;

from_items:
	from_item					{ $$ = list_make1($1); }
	| from_items ',' from_item	{ $$ = lappend($1, $3); }
	;

from_item:
	table_ref
	| from_item join_type K_JOIN table_ref join_condition
		{ $$ = PHRASE(list_make4($1, WORD($2), $4, $5)); }
	;

join_type:
	/* empty */					{ $$ = "JOIN"; }
	| K_INNER					{ $$ = "INNER JOIN"; }
	| K_CROSS					{ $$ = "CROSS JOIN"; }
	| K_LEFT opt_outer			{ $$ = "LEFT JOIN"; }
	| K_RIGHT opt_outer			{ $$ = "RIGHT JOIN"; }
	| K_FULL opt_outer			{ $$ = "FULL JOIN"; }
	;

opt_outer:
	| K_OUTER
	;

join_condition:
	/* empty */					{ $$ = NULL; }
	| K_ON expr					{ $$ = PHRASE(list_make2(WORD("ON"), $2)); }
	| K_USING '(' expr_list ')'
		{ $$ = PHRASE(list_make2(WORD("USING"), EXPR(SK_NODE_PARENTHESES,
			.args = list_make1(EXPR(SK_NODE_LIST, .args = $3))))); }
	;

table_ref:
	table_name opt_alias		{ $$ = alias_node(@$, $1, $2); }
	| subquery opt_alias
		{ $$ = alias_node(@$, $1, $2 != NULL ? $2 : psprintf("subquery_%d", @1.first)); }
	| K_UNNEST '(' expr ')' opt_alias opt_with_offset
		{ $$ = alias_node(@$, EXPR(SK_NODE_CALL, .text = "unnest", .args = list_make1($3)), $5); }
	| '(' from_item join_type K_JOIN table_ref join_condition ')'
		{ $$ = EXPR(SK_NODE_PARENTHESES, .args = list_make1(PHRASE(list_make4($2, WORD($3), $5, $6)))); }
	;

table_name:
	IDENT
		{ $$ = EXPR(SK_NODE_NAME, .args = list_make1(check_name(ddl, @1, $1))); }
	| table_name '.' IDENT		{ ($$ = $1)->args = lappend($1->args, $3); }
	;

opt_with_offset:
	| K_WITH IDENT opt_alias	{ sk_ddl_refuse(ddl, @1.first, "WITH OFFSET", NULL); }
	;

opt_where:
	K_WHERE expression_start expr	{ $$ = PHRASE(list_make2(WORD("WHERE"), $3)); }
	| /* empty */				{ $$ = NULL; }
	;

opt_group:
	K_GROUP K_BY group_list
		{ $$ = PHRASE(list_make2(WORD("GROUP BY"), EXPR(SK_NODE_LIST, .args = $3))); }
	| /* empty */				{ $$ = NULL; }
	;

group_list:
	expr						{ $$ = list_make1(EXPR(SK_NODE_SORT, .args = list_make1($1), .text = "")); }
	| group_list ',' expr
		{ $$ = lappend($1, EXPR(SK_NODE_SORT, .args = list_make1($3), .text = "")); }
	;

opt_having:
	K_HAVING expr				{ $$ = PHRASE(list_make2(WORD("HAVING"), $2)); }
	| /* empty */				{ $$ = NULL; }
	;

opt_sort:
	K_ORDER K_BY sort_list
		{ $$ = PHRASE(list_make2(WORD("ORDER BY"), EXPR(SK_NODE_LIST, .args = $3))); }
	| /* empty */				{ $$ = NULL; }
	;

sort_list:
	sort_item					{ $$ = list_make1($1); }
	| sort_list ',' sort_item	{ $$ = lappend($1, $3); }
	;

/* NULLs are the least in GoogleSQL */
sort_item:
	expr opt_desc
		{ $$ = EXPR(SK_NODE_SORT, .args = list_make1($1), .text = $2 ? " DESC NULLS LAST" : " NULLS FIRST"); }
	| expr opt_desc K_NULLS IDENT
		{
			if (!SK_DDL_ONE_OF($4, "first", "last"))
				yyerror(&@4, ddl, NULL);
			$$ = EXPR(SK_NODE_SORT, .args = list_make1($1), .text = psprintf("%s NULLS %s",
				$2 ? " DESC" : "", $4));
		}
	;

opt_limit:
	K_LIMIT NUMBER				{ $$ = limit_node(ddl, @$, $2, NULL, NULL); }
	| K_LIMIT NUMBER IDENT NUMBER	{ $$ = limit_node(ddl, @$, $2, $3, $4); }
	| /* empty */				{ $$ = NULL; }
	;


%%

/* Is it a keyword that a name follows, and not that name? */
static bool
names_next(SkDdlText *ddl, int i)
{
	bool		result = false;
	int			last = i;

	for (; i >= ddl->first && SK_DDL_ONE_OF(ddl->tokens[i].text, "column", "constraint", "database", "exists", "index",
											"on", "parent", "references", "sequence", "stream", "synonym", "table",
											"to", "view"); i--)
		result = !result;
	/* the first of them is a name after a dot */
	if (i < last && i >= ddl->first && strcmp(ddl->tokens[i].text, ".") == 0)
		result = !result;
	return result;
}

/*
 * Is a word a name where it stands, though a keyword elsewhere?  The dialect
 * does not reserve it, and what is next makes no clause of it.
 */
static bool
is_name_here(SkDdlText *ddl, int i)
{
	const char *word = ddl->tokens[i].text;
	const char *before = i > ddl->first ? ddl->tokens[i - 1].text : "";
	const char *next = ddl->tokens[i + 1].text;
	bool		is_verb = SK_DDL_ONE_OF(word, "add", "alter", "drop", "set");

	if (ddl->dialect == SK_GOOGLESQL ?
		!SK_DDL_ONE_OF(word, "add", "alter", "check", "column", "constraint", "drop", "foreign", "grant", "interleave",
					   "only", "primary", "references", "revoke", "synonym", "table", "unique") :
		!SK_DDL_ONE_OF(word, "add", "alter", "by", "drop", "exists", "if", "interleave", "interval", "revoke", "set",
					   "synonym"))
		return false;
	if (names_next(ddl, i - 1))
		return strcmp(word, "if") != 0 || (strcmp(next, "not") != 0 && strcmp(next, "exists") != 0);
	if (SK_DDL_ONE_OF(before, "add", "drop", "alter") ? i - 1 == ddl->first || SK_DDL_ONE_OF(word, "column", "constraint", "synonym", "if") :
		!SK_DDL_ONE_OF(before, "(", ",", "."))
		return false;
	/* the next action of ALTER TABLE */
	if (is_verb && strcmp(before, ",") == 0 && ddl->tokens[i].depth == 0)
		return false;
	if (strcmp(word, "constraint") == 0)
		return i + 2 >= ddl->end ||
			!SK_DDL_ONE_OF(ddl->tokens[i + 2].text, "check", "foreign", "primary", "unique");
	if (strcmp(word, "interval") == 0)
		return ddl->tokens[i + 1].type != SK_TOKEN_NUMBER;
	return strcmp(next, SK_DDL_ONE_OF(word, "primary", "foreign") ? "key" :
				  SK_DDL_ONE_OF(word, "check", "synonym", "unique") ? "(" :
				  strcmp(word, "interleave") == 0 ? "in" : " ") != 0;
}

/* The keyword that a word is, IDENT if it is none here. */
static int
keyword_token(SkDdlText *ddl, int i)
{
	const SkToken *token = &ddl->tokens[i];
	bool		is_name = ddl->in_expression ?
		i > 0 && token[-1].type == SK_TOKEN_OPERATOR && strcmp(token[-1].text, ".") == 0 :
		sk_ddl_has_words(ddl, i, "parent") && (!sk_ddl_has_words(ddl, i - 1, "in") || i + 1 == ddl->end ||
									  sk_ddl_has_words(ddl, i + 1, "on") || token[1].type == SK_TOKEN_OPERATOR);

	is_name |= !ddl->in_expression && is_name_here(ddl, i);

	/* INTERLEAVE IN parent may be for a table of this name, and a column of a table may have any */
	if (is_name)
		return IDENT;
	/* bison numbers tokens as they are declared, and so are their names */
	for (int j = ddl->in_expression ? K_ALL : K_ADD; j <= (ddl->in_expression ? K_WHEN : K_WITH); j++)
	{
		if (pg_strcasecmp(yytname[YYTRANSLATE(j)] + 2, token->text) == 0)
			return j;
	}
	return IDENT;
}

/*
 * Skip the tokens of an expression or query of PostgreSQL: to the end of its
 * parentheses, or of a default, where the next attribute begins.
 */
static void
skip_tokens(SkDdlText *ddl)
{
	static const char *const attributes[] = {
		"as", "auto_increment", "check", "collate", "constraint", "default", "enforced", "generated",
		"hidden", "not", "null", "on", "options", "primary", "references", "unique", NULL
	};
	int			first = ddl->next;
	int			depth = ddl->tokens[first].depth;

	for (; ddl->next < ddl->end; ddl->next++)
	{
		const SkToken *token = &ddl->tokens[ddl->next];

		if (token->depth > depth)
			continue;
		if (token->type == SK_TOKEN_OPERATOR ?
			strcmp(token->text, ")") == 0 || (ddl->in_default && strcmp(token->text, ",") == 0) :
			ddl->in_default && token->type == SK_TOKEN_WORD && ddl->next > first &&
			sk_ddl_one_of(token->text, attributes))
			break;
	}
	ddl->in_expression = ddl->in_default = false;
}

/* Make sure that an expression or query of PostgreSQL, or what follows a verb, can be read. */
static void
check_tokens(SkDdlText *ddl, SkDdlRange range)
{
	const SkToken *before = &ddl->tokens[range.first - 1];
	bool		is_statement = range.first == ddl->first + 1;
	int			start = is_statement ? before->start : ddl->tokens[range.first].start;

	(void) raw_parser(psprintf("%s%.*s", is_statement || strcmp(before->text, "as") == 0 ? "" : "SELECT ",
							   ddl->tokens[range.end - 1].end - start, ddl->sql + start), RAW_PARSE_DEFAULT);
}

/* A sign or an operator of several characters. */
static int
operator_token(SkDdlText *ddl, const SkToken *token)
{
	static const struct
	{
		const char *text;
		int			token;
	}			operators[] = {
		{"<=", LESS_EQUAL}, {">=", GREATER_EQUAL}, {"!=", NOT_EQUAL}, {"<>", NOT_EQUAL},
		{"||", CONCAT}, {"<<", SHIFT_LEFT}, {">>", SHIFT_RIGHT}
	};

	for (int i = 0; ddl->in_expression && i < lengthof(operators); i++)
	{
		if (strcmp(operators[i].text, token->text) == 0)
			return operators[i].token;
	}
	return token->text[1] == '\0' && strchr(ddl->in_expression ? "().,;=<>+-*[]/|&^~" : "().,;=<>+-*[]", token->text[0]) ?
		token->text[0] : OPERATOR;
}

/* The grammar's next token. */
static int
yylex(YYSTYPE *value, SkDdlRange *range, SkDdlText *ddl)
{
	const SkToken *token;

	CHECK_FOR_INTERRUPTS();
	/* COLUMN is noise */
	if (sk_ddl_has_words(ddl, ddl->next, "column") &&
		(sk_ddl_has_words(ddl, ddl->next - 1, "add") || sk_ddl_has_words(ddl, ddl->next - 1, "drop") ||
		 sk_ddl_has_words(ddl, ddl->next - 1, "alter")))
		ddl->next++;
	/* rows of the PostgreSQL dialect change as PostgreSQL's own do */
	if (ddl->dialect == SK_POSTGRESQL && ddl->next == ddl->first + 1 &&
		SK_DDL_ONE_OF(ddl->tokens[ddl->first].text, "delete", "insert", "update"))
		ddl->in_expression = true;
	/* so is a hint */
	while (ddl->in_expression && ddl->next + 1 < ddl->end && strcmp(ddl->tokens[ddl->next].text, "@") == 0 &&
		   strcmp(ddl->tokens[ddl->next + 1].text, "{") == 0)
	{
		while (ddl->next < ddl->end && strcmp(ddl->tokens[ddl->next].text, "}") != 0)
			ddl->next++;
		ddl->next = Min(ddl->next + 1, ddl->end);
	}
	range->first = ddl->next;
	if (ddl->dialect == SK_POSTGRESQL && (ddl->in_expression || ddl->in_default))
	{
		skip_tokens(ddl);
		range->end = ddl->next;
		if (range->end > range->first)
		{
			ddl->error_at = range->first;
			check_tokens(ddl, *range);
			ddl->error_at = ddl->first;
			return TOKENS;
		}
	}
	range->end = ddl->next + 1;
	if (ddl->next >= ddl->end)
	{
		range->end = range->first = ddl->end;
		return 0;
	}
	token = &ddl->tokens[ddl->next++];
	value->string = token->text;
	switch (token->type)
	{
		case SK_TOKEN_WORD:
			return keyword_token(ddl, range->first);
		case SK_TOKEN_NAME:
			return IDENT;
		case SK_TOKEN_STRING:
			return STRING;
		case SK_TOKEN_BYTES:
			return BYTES;
		case SK_TOKEN_NUMBER:
			return NUMBER;
		default:
			return operator_token(ddl, token);
	}
}

static void
yyerror(SkDdlRange *range, SkDdlText *ddl, const char *message)
{
	const SkToken *token = &ddl->tokens[range->first];
	const SkRefusal *refusal = sk_ddl_refusal(ddl, SK_REFUSED_WORD, range->first);

	if (refusal != NULL)
		sk_ddl_refuse(ddl, range->first, refusal->what, refusal->hint);
	/* name INTERVAL */
	if (sk_ddl_has_words(ddl, range->first, "interval") && range->first > ddl->first &&
		(token[-1].type == SK_TOKEN_WORD || token[-1].type == SK_TOKEN_NAME))
		sk_ddl_refuse_type(ddl, range->first, "interval");
	/* bison's own, of its stack */
	if (message != NULL && strcmp(message, "memory exhausted") == 0)
		SK_DDL_ERROR(ddl, range->first, ERRCODE_STATEMENT_TOO_COMPLEX,
					 errmsg("statement is nested too deeply"));
	sk_ddl_fail(ddl, range->first, NULL);
}

/* A name, which GoogleSQL does not reserve unless it is in backquotes. */
static char *
check_name(SkDdlText *ddl, SkDdlRange range, char *name)
{
	if (ddl->dialect == SK_GOOGLESQL && ddl->tokens[range.first].type == SK_TOKEN_WORD && sk_ddl_is_reserved(name))
		sk_ddl_fail(ddl, range.first, "GoogleSQL reserves this word: a name is in backquotes.");
	return name;
}

/* A new node, which is a copy of this one. */
static void *
copy_node(const void *node, Size size)
{
	return memcpy(palloc(size), node, size);
}

/* Like EXPR(), outside of the rules. */
static SkNode *
new_node(SkNodeType type, SkDdlRange range, const char *text, List *args)
{
	SkNode		node = {.type = type,.at = range.first,.text = text,.args = args};

	return copy_node(&node, sizeof(node));
}

static SkNode *
operator_node(SkDdlRange range, const char *text, SkNode *left, SkNode *right)
{
	return new_node(SK_NODE_OPERATOR, range, text, left == NULL ? list_make1(right) : list_make2(left, right));
}

/* A number without a sign takes this one. */
static SkNode *
sign_node(SkDdlRange range, const char *sign, SkNode *value)
{
	if (*sign != '~' && (value->type == SK_NODE_INTEGER || value->type == SK_NODE_FLOAT) &&
		isdigit((unsigned char) *value->text))
		return new_node(value->type, range, *sign == '-' ? psprintf("-%s", value->text) : value->text, NIL);
	return operator_node(range, sign, NULL, value);
}

/* a.b, which is a column of a table, or a field of a value: JSON's names are others in another case */
static SkNode *
name_node(SkDdlText *ddl, SkDdlRange range, SkNode *value)
{
	const SkToken *field = &ddl->tokens[range.first];

	/* .* is of tables */
	if (value->type != SK_NODE_NAME && field->type == SK_TOKEN_OPERATOR)
		yyerror(&range, ddl, NULL);
	if (value->type != SK_NODE_NAME)
		return new_node(SK_NODE_FIELD, range, field->written, list_make1(value));
	value->args = lappend(value->args, field->text);
	return value;
}

/* A name; without quotes, some are calls without parentheses, and DEFAULT is what INSERT and UPDATE may have. */
static SkNode *
word_node(SkDdlText *ddl, SkDdlRange range, char *word)
{
	bool		is_word = ddl->tokens[range.first].type == SK_TOKEN_WORD;

	if (is_word && SK_DDL_ONE_OF(word, "current_date", "current_timestamp"))
		return new_node(SK_NODE_CALL, range, word, NIL);
	if (is_word && strcmp(word, "default") == 0)
		return new_node(SK_NODE_WORD, range, "DEFAULT", NIL);
	return new_node(SK_NODE_NAME, range, NULL, list_make1(check_name(ddl, range, word)));
}

static SkNode *
number_node(SkDdlRange range, const char *digits)
{
	bool		is_hex = pg_strncasecmp(digits, "0x", 2) == 0;
	bool		is_integer = is_hex || strspn(digits, "0123456789") == strlen(digits);

	if (is_hex)
		digits = psprintf(UINT64_FORMAT, (uint64) strtoull(digits, NULL, 16));
	else if (*digits == '.')
		digits = psprintf("0%s", digits);
	return new_node(is_integer ? SK_NODE_INTEGER : SK_NODE_FLOAT, range, digits, NIL);
}

static SkNode *
alias_node(SkDdlRange range, SkNode *value, char *alias)
{
	if (alias == NULL)
		return value;
	return new_node(SK_NODE_PHRASE, range, NULL,
					list_make3(value, new_node(SK_NODE_WORD, range, "AS", NIL),
							   new_node(SK_NODE_NAME, range, NULL, list_make1(alias))));
}

/* A clause that may name the items of SELECT by their aliases; a query that may not. */
static SkNode *
aliased_node(SkDdlRange range, SkNode *clause, List *items)
{
	return clause == NULL ? NULL :
		new_node(SK_NODE_ALIASED, range, NULL, list_concat(list_make1(clause), items));
}

/* The items of SELECT of a query, NIL of several queries. */
static List *
selected_items(SkNode *query)
{
	for (;;)
	{
		SkNode	   *first = linitial(query->args);
		SkNode	   *second = list_length(query->args) > 1 ? lsecond(query->args) : NULL;

		if (first->type == SK_NODE_WORD)
			return strncmp(first->text, "SELECT", 6) == 0 ? second->args : NIL;
		if (second != NULL && second->type == SK_NODE_WORD)
			return NIL;
		query = first;
	}
}

/* OFFSET is no reserved word. */
static SkNode *
limit_node(SkDdlText *ddl, SkDdlRange range, char *count, char *word, char *offset)
{
	SkDdlRange	place = {range.first + 2, range.first + 3};

	if (word != NULL && strcmp(word, "offset") != 0)
		yyerror(&place, ddl, NULL);
	return new_node(SK_NODE_WORD, range, psprintf("LIMIT %s%s%s", count, word != NULL ? " OFFSET " : "",
												  word != NULL ? offset : ""), NIL);
}

static SkColumn *
add_constraint(SkColumn *column, SkConstraint *constraint)
{
	column->constraints = lappend(column->constraints, constraint);
	return column;
}

/* A constraint of a column is of this column. */
static void
name_column(SkConstraint *constraint, const SkColumn *column)
{
	if (constraint->type == SK_FOREIGN_KEY)
		constraint->columns = list_make1(column->name);
	else if (constraint->type == SK_PRIMARY_KEY)
	{
		SkKeyPart	part = {.column = column->name, .at = column->at};

		constraint->at = column->at;
		constraint->columns = list_make1(copy_node(&part, sizeof(part)));
	}
}

/* The foreign key of a column that actions belong to: what stands last before them. */
static SkConstraint *
last_constraint(SkDdlText *ddl, SkColumn *column, SkDdlRange range)
{
	SkConstraint *constraint = column->constraints != NIL ? llast(column->constraints) : NULL;

	if (constraint == NULL || constraint->type != SK_FOREIGN_KEY)
		yyerror(&range, ddl, NULL);
	return constraint;
}

static int64
integer_of(SkDdlText *ddl, int at, bool is_negative)
{
	const char *digits = ddl->tokens[at].text;
	SkDdlRange		range = {at, at + 1};
	bool		is_hex = pg_strncasecmp(digits, "0x", 2) == 0;
	char	   *rest;
	uint64		value;

	if (!is_hex && strspn(digits, "0123456789") != strlen(digits))
		yyerror(&range, ddl, NULL);
	errno = 0;
	value = strtou64(digits, &rest, is_hex ? 16 : 10);
	if (errno != 0 || value > (uint64) PG_INT64_MAX + (is_negative ? 1 : 0))
		SK_DDL_ERROR(ddl, at, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
					 errmsg("number is out of range for type bigint"));
	return is_negative ? (int64) (0 - value) : (int64) value;
}
