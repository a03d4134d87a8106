/*-------------------------------------------------------------------------
 *
 * key_column.h
 *	  Which expression of a table is the leading part of a key.
 *
 * src/advisor/key_column.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_KEY_COLUMN_H
#define SK_KEY_COLUMN_H

typedef struct SkKeyColumn
{
	Oid			relid;			/* the table, locked */
	char	   *table;			/* its name as in SQL, qualified */
	bool		partitioned;
	char	   *expression;		/* SQL, with the table's alias t */
	char	   *columns;		/* all columns of a B-tree with several of
								 * them, as SQL; else NULL */
	char	   *column_names;
	char	   *filter;			/* predicate of a partial index, or NULL */
	char	   *name;			/* what users know it as */
	Oid			type;			/* no domain */
} SkKeyColumn;

extern void sk_key_column_find(SkKeyColumn *key, Oid relid, const char *column);
extern char *sk_key_column_named(const SkKeyColumn *key, const char *column);

#endif							/* SK_KEY_COLUMN_H */
