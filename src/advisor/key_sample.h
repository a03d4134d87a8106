/*-------------------------------------------------------------------------
 *
 * key_sample.h
 *	  Keys, and samples of the rows of a table.
 *
 * src/advisor/key_sample.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_KEY_SAMPLE_H
#define SK_KEY_SAMPLE_H

#include "nodes/pg_list.h"

/* How many characters, or bytes, of a key are looked at. */
#define SK_KEY_BYTES_READ 64

/* Which expressions of a table a key consists of. */
typedef struct SkKeyColumn
{
	Oid			relid;			/* the table, locked */
	char	   *table;			/* its name as in SQL, qualified */
	bool		partitioned;
	Node	   *expression;		/* as the catalogs have it */
	List	   *columns;		/* expressions of all columns of a B-tree with
								 * several of them; else NIL */
	char	   *column_names;
	Node	   *filter;			/* predicate of a partial index, or NULL */
	char	   *name;			/* what users know it as */
	Oid			type;			/* no domain */
} SkKeyColumn;

/* What gives a key its position in key space. */
typedef enum SkKeyForm
{
	SK_KEY_INTEGER,				/* its value, perhaps in days or microseconds */
	SK_KEY_FLOAT,				/* its value, in 2^52 steps */
	SK_KEY_UUID,				/* its first 8 bytes */
	SK_KEY_BYTES,				/* its first bytes */
	SK_KEY_RANK					/* its place among the sampled keys */
} SkKeyForm;

typedef struct SkSampledRow
{
	int64		integer;		/* the key, as its form has it */
	double		number;
	unsigned char *bytes;
	int			length;
	int64		rank;			/* how many keys are smaller, plus one */
	int64		dense_rank;		/* how many different keys are */
	char	   *label;			/* the key as text, for SK_KEY_RANK */
	int64		order;			/* place in order of insertion, from 1 */
	char	   *order_label;	/* what was ordered by */
	uint64		position;		/* in key space, set by key_scale.c */
} SkSampledRow;

typedef struct SkKeySample
{
	SkKeyColumn key;
	SkKeyForm	form;
	int			count;
	SkSampledRow *rows;			/* those that have a key */
	int64		null_count;		/* and those that have none */
	double		total;			/* rows of the table, estimated unless whole */
	bool		whole;			/* were all rows read? */
	bool		counted;		/* does the server know "total"? */
	bool		all_columns;	/* keys are those of all columns, by rank */
	char	   *order_by;		/* name of a column, NULL for the physical
								 * order */
} SkKeySample;

/* key_column.c */
extern void sk_key_column_find(SkKeyColumn *key, Oid relid, const char *column);
extern Node *sk_key_column_named(const SkKeyColumn *key, const char *column);

/* key_sample.c */
extern void sk_key_sample_read(SkKeySample *sample, int sample_rows,
							   bool ordered);
extern double sk_key_sample_rows(const SkKeySample *sample, int64 count);

#endif							/* SK_KEY_SAMPLE_H */
