/*-------------------------------------------------------------------------
 *
 * rules.h
 *	  The rules of spanner.advise.
 *
 * src/advisor/rules.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_RULES_H
#define SK_RULES_H

/* How many shards a suggestion makes. */
#define SK_ADVISED_SHARDS "16"

/* When a column that is measured counts as ascending. */
#define SK_CORRELATED "0.95"

/* Can spanner.add_shard_key hash the column "a" of pg_attribute? */
#define SK_HASHABLE \
	"(a.attgenerated = '' " \
	"AND NOT EXISTS (SELECT FROM pg_collation c WHERE c.oid = a.attcollation AND NOT c.collisdeterministic) " \
	"AND EXISTS (SELECT FROM pg_type y WHERE y.oid = a.atttypid AND (y.typtype = 'e' OR COALESCE(NULLIF(y.typbasetype, 0), y.oid) = ANY " \
	" ('{int2,int4,int8,text,varchar,bpchar,bool,uuid,date,timestamp,timestamptz,numeric,float4,float8,bytea}'::regtype[]))))"

/*
 * One rule.
 *
 * "query" returns a row for each case, with the columns relid, indexid,
 * attnum (0 where there is none), ident and object, and whatever "finding"
 * and "fix", which are SQL expressions, need.  A recommendation that cannot
 * be checked has no query, and says why in its explanation.
 */
typedef struct SkRule
{
	const char *id;
	const char *severity;
	const char *query;
	const char *finding;
	const char *fix;
	const char *explanation;
} SkRule;

/* rules.c; ends with a rule whose id is NULL */
extern const SkRule sk_rules[];
extern const SkRule *sk_rule_find(const char *id);

/* rules_keys.c */
extern const char sk_query_key_sequence[];
extern const char sk_query_index_sequence[];
extern const char sk_query_key_application_sequence[];
extern const char sk_query_key_missing[];
extern const char sk_query_key_modulo[];
extern const char sk_query_child_not_interleaved[];
extern const char sk_query_sequence_near_end[];
extern const char sk_query_counter_table[];

/* rules_hotspots.c */
extern const char sk_query_key_derived[];
extern const char sk_query_key_now[];
extern const char sk_query_key_time[];
extern const char sk_query_key_uuid_default[];
extern const char sk_query_key_uuid_data[];
extern const char sk_query_key_ascending_data[];
extern const char sk_query_index_now[];
extern const char sk_query_index_time[];
extern const char sk_query_index_uuid[];
extern const char sk_query_index_ascending_data[];

/* rules_indexes.c */
extern const char sk_query_index_redundant[];
extern const char sk_query_index_null_filtered[];
extern const char sk_query_index_storing[];
extern const char sk_query_no_privilege[];
extern const char sk_query_no_statistics[];

/* rules_shards.c */
extern const char sk_query_shard_signed[];
extern const char sk_query_shard_unused[];
extern const char sk_query_shard_count_small[];
extern const char sk_query_shard_count_large[];
extern const char sk_query_wide_partition[];

#endif							/* SK_RULES_H */
