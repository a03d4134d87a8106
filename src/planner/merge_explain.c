/*-------------------------------------------------------------------------
 *
 * merge_explain.c
 *	  What EXPLAIN says of the merge of the shards of an index.
 *
 * src/planner/merge_explain.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "catalog/pg_index.h"
#include "commands/explain.h"
#include "executor/instrument.h"
#include "lib/stringinfo.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"

#include "compat.h"
#include "planner/merge_scan.h"

static List *describe_keys(SkMergeState *state, List *context, bool prefix);
static void describe_direction(StringInfo key, Node *expr, Relation index,
							   int column, bool backward);
static void explain_qual(const char *label, List *qual, List *context,
						 bool prefix, ExplainState *es);

/*
 * sk_explain_merge
 *		Print the order, the index, the shards and the conditions.
 */
void
sk_explain_merge(CustomScanState *node, List *ancestors, ExplainState *es)
{
	SkMergeState *state = (SkMergeState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	bool		backward = intVal(list_nth(scan->custom_private,
										   SK_MERGE_BACKWARD));
	bool		prefix = es->verbose || list_length(es->rtable) > 1;
	char	   *index = get_rel_name(state->template->indexid);
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   node->ss.ps.plan,
												   ancestors);

	ExplainPropertyList("Merge Key", describe_keys(state, context, prefix),
						es);
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Index",
							psprintf("%s%s", quote_identifier(index),
									 backward ? " (backward)" : ""), es);
	else
	{
		ExplainPropertyText("Index Name", index, es);
		ExplainPropertyText("Scan Direction",
							backward ? "Backward" : "Forward", es);
	}
	ExplainPropertyInteger("Shards", NULL,
						   intVal(list_nth(scan->custom_private,
										   SK_MERGE_SHARDS)), es);
	explain_qual("Shard Filter",
				 list_nth(scan->custom_exprs, SK_MERGE_SHARD_FILTER),
				 context, prefix, es);
	explain_qual("Index Cond", state->template->indexqualorig,
				 context, prefix, es);
	if (es->analyze && node->ss.ps.instrument)
	{
		/* the counters that parallel workers send back */
		ExplainPropertyInteger("Index Searches", NULL,
							   (int64) node->ss.ps.instrument->ntuples2, es);
		ExplainPropertyInteger("Heap Tuples Fetched", NULL,
							   (int64) node->ss.ps.instrument->nfiltered2, es);
	}
}

/* The columns of the order, as in ORDER BY. */
static List *
describe_keys(SkMergeState *state, List *context, bool prefix)
{
	CustomScan *scan = (CustomScan *) state->css.ss.ps.plan;
	bool		backward = intVal(list_nth(scan->custom_private,
										   SK_MERGE_BACKWARD));
	Relation	index = index_open(state->template->indexid, AccessShareLock);
	List	   *result = NIL;
	int			column = intVal(list_nth(scan->custom_private,
										 SK_MERGE_SHARD_POSITION)) + 1;
	ListCell   *lc;

	foreach(lc, (List *) list_nth(scan->custom_exprs, SK_MERGE_KEYS))
	{
		Node	   *expr = lfirst(lc);
		Oid			collation = index->rd_indcollation[column];
		StringInfoData key;

		initStringInfo(&key);
		appendStringInfoString(&key,
							   deparse_expression(expr, context, prefix, false));
		if (OidIsValid(collation) && collation != exprCollation(expr))
			appendStringInfo(&key, " COLLATE %s",
							 quote_identifier(get_collation_name(collation)));
		describe_direction(&key, expr, index, column, backward);
		result = lappend(result, key.data);
		column++;
	}
	index_close(index, AccessShareLock);
	return result;
}

/* An order that is not the usual one of the type is named by its operator. */
static void
describe_direction(StringInfo key, Node *expr, Relation index, int column,
				   bool backward)
{
	int16		option = index->rd_indoption[column];
	bool		descending = ((option & INDOPTION_DESC) != 0) != backward;
	bool		nulls_first =
		((option & INDOPTION_NULLS_FIRST) != 0) != backward;
	Oid			type = index->rd_opcintype[column];
	Oid			operator = get_opfamily_member(index->rd_opfamily[column],
											   type, type,
											   descending ?
											   BTGreaterStrategyNumber :
											   BTLessStrategyNumber);
	TypeCacheEntry *usual = lookup_type_cache(exprType(expr),
											  TYPECACHE_LT_OPR |
											  TYPECACHE_GT_OPR);

	if (operator == usual->gt_opr)
		appendStringInfoString(key, " DESC");
	else if (operator != usual->lt_opr && get_opname(operator))
		appendStringInfo(key, " USING %s", get_opname(operator));
	if (nulls_first != descending)
		appendStringInfoString(key,
							   nulls_first ? " NULLS FIRST" : " NULLS LAST");
}

static void
explain_qual(const char *label, List *qual, List *context, bool prefix,
			 ExplainState *es)
{
	if (qual == NIL)
		return;
	ExplainPropertyText(label,
						deparse_expression((Node *) make_ands_explicit(qual),
										   context, prefix, false), es);
}
