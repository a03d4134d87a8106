/*-------------------------------------------------------------------------
 *
 * command_relations.h
 *	  What the command of an event trigger has done.
 *
 * src/spi/command_relations.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_COMMAND_RELATIONS_H
#define SK_COMMAND_RELATIONS_H

#include "nodes/pg_list.h"

/* A relation that a command has created or altered. */
typedef struct SkCommandRelation
{
	Oid			relid;
	char		relkind;
	bool		is_new;
} SkCommandRelation;

extern List *sk_command_relations(void);

#endif							/* SK_COMMAND_RELATIONS_H */
