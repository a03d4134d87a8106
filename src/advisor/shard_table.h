/*-------------------------------------------------------------------------
 *
 * shard_table.h
 *	  A table that gets a shard column, and its primary key.
 *
 * src/advisor/shard_table.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SHARD_TABLE_H
#define SK_SHARD_TABLE_H

#include "nodes/pg_list.h"
#include "storage/lockdefs.h"

/* Names are quoted and, except for those in "key", ready for a statement. */
typedef struct SkShardTable
{
	Oid			relid;
	LOCKMODE	lock;
	Oid			indexid;		/* of the primary key */
	Oid			constraint_id;
	const char *name;			/* qualified */
	const char *constraint;
	List	   *key;			/* columns but the shard's, not quoted */
	const char *key_list;
	const char *index_tail;		/* what follows the columns in CREATE INDEX */
	const char *constraint_tail;	/* and in ADD CONSTRAINT */
	const char *deferral;
	const char *comment;		/* on the constraint, not quoted, or NULL */
	bool		has_column;		/* the shard column is there already */
	bool		is_partitioned;
	bool		is_replica_identity;
} SkShardTable;

extern void sk_shard_table_open(SkShardTable *table, Oid relid,
								const char *column, bool dry_run);
extern void sk_shard_table_close(SkShardTable *table);
extern bool sk_shard_table_has_key(SkShardTable *table, const char *column);
extern void sk_shard_table_check_type(SkShardTable *table, const char *column,
									  Oid type);
extern char *sk_shard_table_new_index(SkShardTable *table);
extern void sk_shard_table_report(SkShardTable *table, bool dry_run);

#endif							/* SK_SHARD_TABLE_H */
