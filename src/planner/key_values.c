/*-------------------------------------------------------------------------
 *
 * key_values.c
 *	  What is known of the keys of a shard.
 *
 * A key is known if each of its columns is equal to something.  A key that is
 * an expression is known, too, if a clause compares the expression itself.  And
 * for a bucket of time, a range of the column says in which buckets it is.
 *
 * src/planner/key_values.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "keys/canonical.h"
#include "planner/derive.h"

/* What the mutator needs that puts values into a call. */
typedef struct SkReplacement
{
	const SkColumns *columns;
	Node	  **keys;			/* what is equal to a key, or NULL */
} SkReplacement;

static void init_terms(SkColumns *columns);
static void match_term(PlannerInfo *root, const SkClause *clause,
					   SkColumns *columns, SkKeyTerm *term);
static void match_bound(PlannerInfo *root, const SkClause *clause,
						SkKeyTerm *term);
static bool are_known(const SkColumns *columns, const SkKeyTerm *term);
static Node *list_buckets(const SkColumns *columns, const SkKeyTerm *term);
static int	find_column(const SkColumns *columns, const Node *column);
static int	column_place(const SkColumns *columns, const Node *column);
static Node *replace_keys(Node *node, void *context);

/*
 * sk_init_columns
 *		List the columns among the keys, each once; nothing is known of them.
 */
void
sk_init_columns(SkColumns *columns, const SkShardKey *key)
{
	List	   *vars = pull_var_clause((Node *) key->call, 0);
	int			size = list_length(vars);
	ListCell   *lc;

	columns->key = key;
	columns->count = 0;
	columns->columns = palloc(size * sizeof(Var *));
	columns->inside = palloc0(size * sizeof(bool));
	columns->by_element = palloc0(size * sizeof(bool));
	columns->values = palloc0(size * sizeof(SkKeyValue));
	foreach(lc, vars)
	{
		if (find_column(columns, lfirst(lc)) < 0)
			columns->columns[columns->count++] = lfirst(lc);
	}
	init_terms(columns);
}

static void
init_terms(SkColumns *columns)
{
	const SkShardKey *key = columns->key;
	List	   *keys = sk_hashed_keys(key);
	ListCell   *lc;
	ListCell   *lc2;

	columns->term_count = list_length(keys);
	columns->terms = palloc0(columns->term_count * sizeof(SkKeyTerm));
	foreach(lc, keys)
	{
		SkKeyTerm  *term = &columns->terms[foreach_current_index(lc)];

		term->key = lfirst(lc);
		term->is_column = IsA(term->key, Var) && key->form == SK_SHARD_ID;
		term->is_bucket = key->can_derive && key->form == SK_SHARD_ID &&
			sk_is_bucket(term->key);
		foreach(lc2, pull_var_clause(term->key, 0))
		{
			int			place = column_place(columns, lfirst(lc2));

			term->columns = bms_add_member(term->columns, place);
			if (!term->is_column)
				columns->inside[place] = columns->by_element[place] = true;
		}
	}
}

/*
 * sk_copy_columns
 *		A copy of what is known, to learn more.
 */
SkColumns
sk_copy_columns(const SkColumns *columns)
{
	SkColumns	result = *columns;

	result.values = palloc(columns->count * sizeof(SkKeyValue));
	memcpy(result.values, columns->values, columns->count * sizeof(SkKeyValue));
	result.terms = palloc(columns->term_count * sizeof(SkKeyTerm));
	memcpy(result.terms, columns->terms, columns->term_count * sizeof(SkKeyTerm));
	return result;
}

/*
 * sk_match_clauses
 *		Learn what a list of SkClause says of the columns.
 *
 * One value is better than a list of them, which is better than nothing.
 */
void
sk_match_clauses(PlannerInfo *root, List *clauses, SkColumns *columns)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SkClause   *clause = lfirst(lc);

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < columns->count; i++)
		{
			SkKeyValue *value = &columns->values[i];
			SkKeyValue	found;

			if (value->value && !value->is_array)
				continue;
			if (sk_match_equality(root, clause->expr, columns->columns[i],
								  &found) &&
				(value->value == NULL || !found.is_array) &&
				(!columns->inside[i] ||
				 sk_can_replace(root, columns->columns[i], &found)))
			{
				*value = found;
				value->level = clause->level;
			}
		}
		for (int i = 0; i < columns->term_count; i++)
			match_term(root, clause, columns, &columns->terms[i]);
	}
}

/* Does a clause compare a key that is an expression, or bound its column? */
static void
match_term(PlannerInfo *root, const SkClause *clause, SkColumns *columns,
		   SkKeyTerm *term)
{
	SkKeyValue	found;

	if (term->is_column || bms_is_empty(term->columns) ||
		!columns->key->can_derive)
		return;
	if (term->is_bucket)
		match_bound(root, clause, term);
	if ((term->value.value == NULL || term->value.is_array) &&
		sk_match_term(root, clause->expr, term->key, &found) &&
		(term->value.value == NULL || !found.is_array) &&
		(columns->key->form == SK_SHARD_ID ||
		 (!found.is_array &&
		  exprType((Node *) found.value) == exprType(term->key))))
	{
		term->value = found;
		term->value.level = clause->level;
	}
}

/* The first bound on each side counts. */
static void
match_bound(PlannerInfo *root, const SkClause *clause, SkKeyTerm *term)
{
	Var		   *column = lsecond_node(Var, ((FuncExpr *) term->key)->args);
	Oid			family = lookup_type_cache(column->vartype,
										   TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	SkKeyValue	found;
	int			strategy = sk_match_comparison(root, clause->expr, column,
											   family, &found);

	if (strategy == 0 || exprType((Node *) found.value) != column->vartype)
		return;
	found.level = clause->level;
	switch (strategy)
	{
		case BTGreaterStrategyNumber:
		case BTGreaterEqualStrategyNumber:
			if (term->low.value == NULL)
				term->low = found;
			break;
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			if (term->high.value == NULL)
			{
				term->high = found;
				term->open_end = strategy == BTLessStrategyNumber;
			}
			break;
		default:
			break;
	}
}

/*
 * sk_all_known
 *		Is something known of each key?
 */
bool
sk_all_known(const SkColumns *columns)
{
	for (int i = 0; i < columns->count; i++)
		if (sk_is_missing(columns, i))
			return false;
	return true;
}

/*
 * sk_is_missing
 *		Is nothing known of a column, nor of a key that it is in?
 */
bool
sk_is_missing(const SkColumns *columns, int column)
{
	if (columns->values[column].value != NULL)
		return false;
	for (int i = 0; i < columns->term_count; i++)
	{
		SkKeyTerm  *term = &columns->terms[i];

		if (bms_is_member(column, term->columns) && term->value.value == NULL &&
			(term->low.value == NULL || term->high.value == NULL))
			return true;
	}
	return false;
}

/*
 * sk_is_used
 *		Does the value of a column take its place in a key?
 */
bool
sk_is_used(const SkColumns *columns, int column)
{
	for (int i = 0; i < columns->term_count; i++)
		if (bms_is_member(column, columns->terms[i].columns) &&
			are_known(columns, &columns->terms[i]))
			return true;
	return false;
}

/* Is each column of a key equal to something? */
static bool
are_known(const SkColumns *columns, const SkKeyTerm *term)
{
	int			column = -1;

	while ((column = bms_next_member(term->columns, column)) >= 0)
		if (columns->values[column].value == NULL)
			return false;
	return true;
}

/*
 * sk_replace_keys
 *		The call with what is known of its keys; NULL if that cannot be.
 *
 * "is_list" says whether one of them is a list, "level" which security level
 * the clauses have.
 */
FuncExpr *
sk_replace_keys(const SkColumns *columns, bool *is_list, Index *level)
{
	SkReplacement replacement;

	*is_list = false;
	*level = 0;
	replacement.columns = columns;
	replacement.keys = palloc0(columns->term_count * sizeof(Node *));
	for (int i = 0; i < columns->count; i++)
	{
		if (!sk_is_used(columns, i))
			continue;
		*is_list |= columns->values[i].is_array;
		*level = Max(*level, columns->values[i].level);
	}
	for (int i = 0; i < columns->term_count; i++)
	{
		SkKeyTerm  *term = &columns->terms[i];

		if (are_known(columns, term))
			continue;
		replacement.keys[i] = (Node *) term->value.value;
		*is_list |= term->value.value == NULL || term->value.is_array;
		*level = Max(*level, term->value.level);
		if (term->value.value == NULL)
		{
			replacement.keys[i] = list_buckets(columns, term);
			*level = Max(*level, Max(term->low.level, term->high.level));
		}
		if (replacement.keys[i] == NULL)
			return NULL;
	}
	return (FuncExpr *) replace_keys((Node *) columns->key->call, &replacement);
}

/* The buckets of a range as an array; too many of them mean all shards. */
static Node *
list_buckets(const SkColumns *columns, const SkKeyTerm *term)
{
	List	   *bin = ((FuncExpr *) term->key)->args;
	Oid			type = exprType(lsecond(bin));
	const Oid	argtypes[] = {INTERVALOID, type, type, type, BOOLOID, INT4OID};
	Oid			function;
	List	   *args;

	if (columns->key->shards > SK_MAX_SHARD_LIST)
		return NULL;
	function = sk_internal_function("time_buckets", lengthof(argtypes), argtypes);
	if (!OidIsValid(function))
		return NULL;
	args = list_make5(linitial(bin), lthird(bin), term->low.value,
					  term->high.value, makeBoolConst(term->open_end, false));
	args = lappend(args, makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
								   Int32GetDatum(columns->key->shards), false,
								   true));
	return (Node *) makeFuncExpr(function, get_array_type(type), args,
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* The place of a column among those of the key, or -1. */
static int
find_column(const SkColumns *columns, const Node *column)
{
	for (int i = 0; i < columns->count; i++)
		if (columns->columns[i]->varattno == ((const Var *) column)->varattno)
			return i;
	return -1;
}

/* The same for one of the columns of the key. */
static int
column_place(const SkColumns *columns, const Node *column)
{
	int			result = find_column(columns, column);

	Assert(result >= 0 && result < columns->count);
	return result;
}

/* A call, with what is known for its keys and their columns. */
static Node *
replace_keys(Node *node, void *context)
{
	SkReplacement *replacement = context;
	const SkColumns *columns = replacement->columns;

	if (node == NULL)
		return NULL;
	for (int i = 0; i < columns->term_count; i++)
		if (node == columns->terms[i].key && replacement->keys[i] != NULL)
			return copyObject(replacement->keys[i]);
	if (IsA(node, Var))
	{
		SkKeyValue *value = &columns->values[column_place(columns, node)];

		Assert(value->value != NULL);
		return copyObject((Node *) value->value);
	}
	return expression_tree_mutator(node, replace_keys, context);
}
