/*-------------------------------------------------------------------------
 *
 * rules.c
 *	  The rules of spanner.advise, in the order in which it reports.
 *
 *		warning		inserts go to one place, or the schema is wrong
 *		notice		the same if the table is written often, or a waste
 *		info		measured, and there may be another reason for it
 *
 * The fix of a finding is a statement that runs as it is, or several, or
 * NULL where somebody has to decide something first; the finding says what.
 * Recommendations that cannot be checked are listed last, with the reason.
 *
 * src/advisor/rules.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "advisor/rules.h"

/* Fixes that several rules have. */
#define ADD_SHARD_KEY \
	"CASE WHEN q.key IS NOT NULL THEN " \
	"format('SELECT spanner.add_shard_key(%L, %L, " SK_ADVISED_SHARDS ", dry_run => false)', q.ident, q.key) END"

/* What the finding on a key says where that cannot be done. */
#define OR_DECIDE \
	" || CASE WHEN q.key IS NOT NULL THEN '' " \
	" WHEN q.referenced THEN '; foreign keys refer to it, so decide whether their tables get the shard column too' " \
	" ELSE '; a shard column cannot be added as it is, so decide on another key' END"
#define OR_DECIDE_INDEX \
	" || CASE WHEN q.sharded IS NOT NULL AND q.is_unique THEN '; ON CONFLICT then has to name the shard as well' " \
	" WHEN q.sharded IS NOT NULL THEN '' " \
	" WHEN q.constraint_id IS NOT NULL THEN '; it belongs to a constraint, so decide whether that is needed' " \
	" ELSE '; decide whether the index is needed' END"

const SkRule sk_rules[] = {
	/* warnings; a column has to be widened before its sequence is converted */
	{
		"sequence_near_end", "warning", sk_query_sequence_near_end,
		"format('column %s has used %s %% of the values of %s; columns that refer to it have to be widened too', q.quoted, floor(q.used * 100), q.type) "
		"|| CASE WHEN q.fix IS NULL THEN '; decide on a new bigint column' ELSE '' END",
		"q.fix",
		"A sequence for an integer or smallint column has given three quarters of the values that fit."
	},
	{
		"key_sequence", "warning", sk_query_key_sequence,
		"format('column %s comes first in the primary key and is drawn from %s, one value after the other: all inserts go to one end of the key range', q.quoted, q.sequence) "
		"|| CASE WHEN q.natural_keys IS NULL THEN '' ELSE format('; %s is unique too and could be the key instead', q.natural_keys) END "
		"|| CASE WHEN q.conversion IS NULL THEN '; the sequence counts down, cycles or is no integer, so decide on another one' ELSE '' END",
		"q.conversion",
		"The first column of a primary key is drawn from an ascending sequence (serial, identity, nextval). Have the bits reversed, or take attributes that identify the row and never change."
	},
	{
		"key_derived", "warning", sk_query_key_derived,
		"format('column %s comes first in the primary key and is made of ascending numbers: %s', q.quoted, q.expr)" OR_DECIDE,
		ADD_SHARD_KEY,
		"The first column of a primary key is computed from an ascending sequence, as in 'ORD-' || nextval('s'), or drawn from an allocator."
	},
	{
		"key_now", "warning", sk_query_key_now,
		"format('column %s comes first in the primary key and its default is %s: all inserts go to one end of the key range', q.quoted, q.expr)" OR_DECIDE,
		ADD_SHARD_KEY,
		"The first column of a primary key is the time of insertion. Put another column first, or a shard id."
	},
	{
		"key_uuid_default", "warning", sk_query_key_uuid_default,
		"format('column %s comes first in the primary key and its default, %s, begins with the time', q.quoted, q.expr) "
		"|| CASE WHEN q.type = ANY ('{uuid,text,varchar}'::regtype[]) THEN '' ELSE '; decide on a random one' END",
		"format('ALTER TABLE %s ALTER COLUMN %s SET DEFAULT ', q.ident, q.quoted) "
		"|| CASE WHEN q.type = 'uuid'::regtype THEN 'gen_random_uuid()' WHEN q.type = ANY ('{text,varchar}'::regtype[]) THEN 'spanner.generate_uuid()' END",
		"The default of a key makes UUIDs of version 1, 6 or 7, or the like, whose high-order bits are a time. Version 4 is random."
	},
	{
		"key_missing", "warning", sk_query_key_missing,
		"'the table has no primary key' || CASE "
		"WHEN q.fix IS NOT NULL AND q.name IS NULL THEN '; attributes that identify a row and never change are better than the suggested random one' "
		"WHEN q.fix IS NOT NULL THEN '' "
		"WHEN q.name IS NOT NULL THEN format('; decide whether the columns of %I become it', q.name) "
		"ELSE '; decide which columns identify a row' END",
		"q.fix",
		"A table without primary key cannot be split by key at all."
	},
	{
		"index_sequence", "warning", sk_query_index_sequence,
		"format('the index begins with %s, which is drawn from %s, one value after the other: all inserts go to one end of it', q.quoted, q.sequence) "
		"|| CASE WHEN q.conversion IS NULL THEN '; the sequence counts down, cycles or is no integer, so decide on another one' ELSE '' END",
		"q.conversion",
		"The first column of an index is drawn from an ascending sequence: the index is a hotspot like a key."
	},
	{
		"index_now", "warning", sk_query_index_now,
		"format('the index begins with %s, whose default is %s: all inserts go to one end of it, whatever its order', q.quoted, q.expr)" OR_DECIDE_INDEX,
		"q.sharded",
		"The first column of an index is the time of insertion. Begin with the entity that is asked about, or with a shard id. Descending order only moves the hotspot to the other end."
	},
	{
		"key_modulo", "warning", sk_query_key_modulo,
		"format('%s takes low bits or an even remainder of %s, which is bit-reversed: these bits are 0 until the end of the sequence; decide on spanner.shard_id() or an odd divisor instead: %s', q.kind, q.quoted, q.definition)",
		NULL,
		"A constraint, index, partition key or generated column takes id % n, n even, of a bit-reversed id. The low bits of such an id are the highest bits of the counter, so they stay the same."
	},
	{
		"shard_signed", "warning", sk_query_shard_signed,
		"format('the remainder of a fingerprint is negative for half of the rows, and shard 0 gets twice as many as any other; decide on spanner.shard_id() and have readers follow: %s', q.expr)",
		NULL,
		"A generated shard column is MOD(FARM_FINGERPRINT(...), n) without ABS: 2n - 1 shards, of which readers of 0 to n - 1 see half of the rows."
	},

	/* notices */
	{
		"key_application_sequence", "notice", sk_query_key_application_sequence,
		"format('by its name, %s gives the values of %s, which comes first in the primary key, and it ascends', q.sequence, q.quoted)",
		"format('SELECT spanner.alter_sequence(%L, kind => ''bit_reversed_positive'')', q.sequence)",
		"A sequence named like the table, as Hibernate makes it, ascends. Applications that call nextval() get bit-reversed values in sessions that load the library."
	},
	{
		"key_time", "notice", sk_query_key_time,
		"format('column %s comes first in the primary key: if rows are inserted in the order of this time, all go to one end', q.quoted)" OR_DECIDE,
		ADD_SHARD_KEY,
		"The first column of a primary key is a timestamp, and statistics do not say that it is scattered. Put another column first, or a shard id."
	},
	{
		"key_uuid_data", "notice", sk_query_key_uuid_data,
		"format('column %s comes first in the primary key and holds UUIDs that begin with the time; have the application make random ones (version 4)', q.quoted)" OR_DECIDE,
		ADD_SHARD_KEY,
		"Statistics or rows show that a key holds UUIDs of version 1, 6 or 7."
	},
	{
		"index_time", "notice", sk_query_index_time,
		"format('the index begins with %s: if rows are inserted in the order of this time, all go to one end of it', q.quoted)" OR_DECIDE_INDEX,
		"q.sharded",
		"The first column of an index is a timestamp, and statistics do not say that it is scattered."
	},
	{
		"index_uuid", "notice", sk_query_index_uuid,
		"format('the index begins with %s, whose values begin with the time or a counter', q.quoted)" OR_DECIDE_INDEX,
		"q.sharded",
		"The first column of an index holds UUIDs of version 1, 6 or 7, or values made of an ascending sequence."
	},
	{
		"child_not_interleaved", "notice", sk_query_child_not_interleaved,
		"format('rows belong to %s, but the primary key does not begin with %s, so they are stored apart from their parent', q.parent, q.columns) "
		"|| CASE WHEN q.fix IS NOT NULL AND q.widened THEN '; the old key is then unique within a parent only' ELSE '' END "
		"|| CASE WHEN q.fix IS NULL THEN '; decide whether the key, which other tables or NULLs rely on, can be changed' ELSE '' END",
		"q.fix",
		"The rows of a child table are deleted with their parent's, or have its key in theirs. If the child's key begins with the parent's, they are stored together: interleaving in Spanner, a range or a hash of the same column elsewhere."
	},
	{
		"index_redundant", "notice", sk_query_index_redundant,
		"format('%I can answer whatever this index answers', q.other)",
		"format('DROP INDEX %I.%I', q.nspname, q.object)",
		"The columns of an index are the first columns of another one."
	},
	{
		"shard_unused", "notice", sk_query_shard_unused,
		"'no index begins with this shard column' || CASE WHEN q.fix IS NULL THEN '; decide which one should' ELSE '' END",
		"q.fix",
		"A shard column is in no index and no partition key, so it spreads nothing."
	},
	{
		"shard_count_small", "notice", sk_query_shard_count_small,
		"format('%s shard spreads nothing', q.shards) || CASE WHEN q.fix IS NULL THEN '; decide how to make the column anew' ELSE '' END",
		"q.fix",
		"A shard column knows only one shard. Use spanner.suggest_shards() to find a number."
	},
	{
		"counter_table", "notice", sk_query_counter_table,
		"'by its columns, the table holds a counter for each name, whose row every transaction updates; decide which of spanner.create_allocator() and a sequence takes its place'",
		NULL,
		"A table of counters is limited by how often one row can be updated. An allocator reserves batches outside of the transaction."
	},

	/* measured */
	{
		"wide_partition", "notice", sk_query_wide_partition,
		"format('about %s rows have one value of %s, which comes first in the primary key', round(q.top_rows), q.quoted) "
		"|| CASE WHEN q.fix IS NULL THEN '; decide how to split them, by a hash or a time bucket' ELSE '' END",
		"q.fix",
		"More than 100,000 rows share the first column of the key, so one server has them all. Split them by a hash of the rest of the key, or by a time bucket."
	},
	{
		"shard_count_large", "info", sk_query_shard_count_large,
		"format('%s shards for about %s rows, read %s times through the key: a read in order of time visits all of them', q.shards, q.rows, COALESCE(q.scans, 0)) "
		"|| CASE WHEN q.fix IS NULL THEN '; decide how to make the column anew' ELSE '' END",
		"q.fix",
		"There are more shards than pages of the index, so reading all shards costs more than reading everything."
	},
	{
		"key_ascending_data", "info", sk_query_key_ascending_data,
		"format('the rows are stored in the order of %s, which comes first in the primary key: they were loaded so, or it ascends', q.quoted)" OR_DECIDE,
		ADD_SHARD_KEY,
		"Statistics or rows show that the first column of a key, of whatever type, was inserted in ascending or descending order."
	},
	{
		"index_ascending_data", "info", sk_query_index_ascending_data,
		"format('the rows are stored in the order of %s, with which the index begins: they were loaded so, or it ascends', q.quoted)" OR_DECIDE_INDEX,
		"q.sharded",
		"The same for the first column of an index."
	},
	{
		"index_null_filtered", "info", sk_query_index_null_filtered,
		"format('%s %% of %s is NULL, and the index keeps all of it in one place', round(q.null_share * 100), q.quoted) "
		"|| CASE WHEN q.fix IS NULL THEN '; decide whether the constraint is needed' ELSE '' END",
		"q.fix",
		"At least half of an indexed column is NULL. An index WHERE ... IS NOT NULL, Spanner's NULL_FILTERED, is smaller, and rows that are inserted as NULL do not meet in it."
	},
	{
		"index_storing", "info", sk_query_index_storing,
		"format('%s rows were fetched through this index; with %s stored in it, the table need not be read', q.fetched, q.columns)",
		"q.fix",
		"A table that is seldom written is read through an index that lacks few small columns. INCLUDE, Spanner's STORING, keeps them in the index."
	},
	{
		"no_statistics", "info", sk_query_no_statistics,
		"'the table has never been analyzed, so the measured rules look at its first rows only'",
		"format('ANALYZE %s', q.ident)",
		"The measured rules need statistics."
	},
	{
		"no_privilege", "info", sk_query_no_privilege,
		"'without the right to read all rows, the measured rules are left out'",
		NULL,
		"Statistics are shown to those who may read the column; row-level security hides them as well."
	},

	/* what cannot be checked */
	{
		"descending_time", NULL, NULL, NULL, NULL,
		"Descending order of a time behind the entity in a key. Which end is read first is not in the catalogs, and PostgreSQL reads a B-tree backwards as fast; an index with DESC serves ORDER BY entity, time DESC."
	},
	{
		"hierarchy", NULL, NULL, NULL, NULL,
		"Which tables are roots, and what is read and written together. Only child tables that foreign keys show are found (child_not_interleaved)."
	},
	{
		"large_columns_apart", NULL, NULL, NULL, NULL,
		"Large columns that are seldom read in a table of their own. How often a column is read is not counted, and PostgreSQL moves values over 2 kB out of the row by itself (TOAST)."
	},
	{
		"distributed_transactions", NULL, NULL, NULL, NULL,
		"Design for the application first, and leave rare operations to distributed transactions. That is a matter of judgement."
	},
	{
		"interleaved_index", NULL, NULL, NULL, NULL,
		"An index that begins with the parent where a search stays within one entity, and one that does not where it goes over all rows. What is searched is not in the catalogs; an index that begins with a time is found (index_now, index_time)."
	},
	{
		"swap_key_order", NULL, NULL, NULL, NULL,
		"Another column of the key first, instead of a shard id. Whether queries name that column is not in the catalogs; the rules about times suggest the shard id, which suits all."
	},
	{
		"natural_key", NULL, NULL, NULL, NULL,
		"Attributes of the row as its key. Whether they ever change is not in the catalogs; key_sequence names unique columns that could be the key."
	},
	{
		"write_rate_per_parent", NULL, NULL, NULL, NULL,
		"A log by time inside one parent is fine while that parent is not written too often. PostgreSQL counts writes by table, not by key; spanner.key_heatmap() shows them."
	},
	{
		"shards_for_load", NULL, NULL, NULL, NULL,
		"The number of shards between writes (more) and reads (fewer). The load is not in the catalogs: tell it to spanner.suggest_shards()."
	},
	{
		"queries_first", NULL, NULL, NULL, NULL,
		"Cassandra: model around queries, about one table for each, and duplicate data for it. The catalogs know no queries."
	},
	{
		"few_partitions_read", NULL, NULL, NULL, NULL,
		"Cassandra: read few partitions. EXPLAIN shows what a query reads; the size of partitions is looked at (wide_partition)."
	},
	{
		"bucket_width", NULL, NULL, NULL, NULL,
		"Cassandra: a time bucket as wide as the rows that a query wants. How many it wants is not in the catalogs."
	},
	{
		"generator_kind", NULL, NULL, NULL, NULL,
		"A sequence generator that is as strict as the application needs: ordered, without gaps, or fast. What it needs is not in the catalogs; tables of counters are found (counter_table)."
	},
	{
		"batch_size", NULL, NULL, NULL, NULL,
		"A batch size and a low-water mark that cover the rate of values. Allocators adapt the batch themselves; spanner.stat_allocator counts waits."
	},
	{NULL, NULL, NULL, NULL, NULL, NULL}
};

/*
 * sk_rule_find
 *		The rule of that name, or NULL.
 */
const SkRule *
sk_rule_find(const char *id)
{
	for (const SkRule *rule = sk_rules; rule->id != NULL; rule++)
	{
		if (strcmp(rule->id, id) == 0)
			return rule;
	}
	return NULL;
}
