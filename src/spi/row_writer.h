/*-------------------------------------------------------------------------
 *
 * row_writer.h
 *	  Writing rows of a table that is open, without a statement.
 *
 * src/spi/row_writer.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ROW_WRITER_H
#define SK_ROW_WRITER_H

#include "executor/executor.h"

typedef struct SkRowWriter
{
	EState	   *estate;
	ResultRelInfo *target;
	EPQState	epq;
	bool		is_one_command;
	int			index_count;	/* of the table, 0 if they are not open */
	TupleTableSlot *stored;		/* NULL if core fills all indexes */
} SkRowWriter;

extern void sk_writer_begin(SkRowWriter *writer, Relation rel,
							AttrNumber updated, bool fires);
extern void sk_writer_write(SkRowWriter *writer, CmdType command,
							TupleTableSlot *old, TupleTableSlot *new);
extern void sk_writer_end(SkRowWriter *writer);

#endif							/* SK_ROW_WRITER_H */
