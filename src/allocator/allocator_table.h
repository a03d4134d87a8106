/*-------------------------------------------------------------------------
 *
 * allocator_table.h
 *	  Access to the table spanner.allocator.
 *
 * src/allocator/allocator_table.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ALLOCATOR_TABLE_H
#define SK_ALLOCATOR_TABLE_H

#include "executor/spi.h"

typedef enum SkMode
{
	SK_MODE_SYNC,
	SK_MODE_ON_COMMIT,
	SK_MODE_ASYNC,
	SK_MODE_BATCH,
	SK_MODE_ASYNC_BATCH,
	SK_MODE_REMOTE
} SkMode;

/* What a session has to know of an allocator: all but the counter. */
typedef struct SkAllocatorRow
{
	int64		id;
	char	   *name;
	SkMode		mode;
	Oid			owner_role;
	Oid			usage_role;		/* InvalidOid: everybody */
	bool		has_usage_role;
	char	   *server;			/* NULL: none */
	char	   *remote_name;	/* NULL: none */
	bool		is_own;			/* written by the current transaction */
} SkAllocatorRow;

/* Who we were before we came to the table. */
typedef struct SkTableScope
{
	Oid			userid;
	int			sec_context;
} SkTableScope;

#define SK_MAX_STATEMENT_ARGS 14

/* A statement on the table, planned once in a session. */
typedef struct SkStatement
{
	const char *command;
	int			expected;		/* SPI_OK_SELECT and the like */
	int			nargs;
	Oid			argtypes[SK_MAX_STATEMENT_ARGS];
	SPIPlanPtr	plan;
} SkStatement;

extern Oid	sk_allocator_table(void);
extern void sk_table_enter(SkTableScope *scope);
extern void sk_table_leave(SkTableScope *scope);
extern uint64 sk_table_execute(SkStatement *statement, Datum *values,
							   const char *nulls);
extern Datum sk_table_datum(uint64 row, int column, bool *isnull);
extern int64 sk_table_int64(uint64 row, int column);

extern const char *sk_mode_name(SkMode mode);
extern bool sk_mode_from_name(const char *name, SkMode *mode);
extern bool sk_allocator_read(const char *name, int64 id, SkAllocatorRow *row);

#endif							/* SK_ALLOCATOR_TABLE_H */
