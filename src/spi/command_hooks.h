/*-------------------------------------------------------------------------
 *
 * command_hooks.h
 *	  Callbacks for commands, and for changes of relations.
 *
 * src/spi/command_hooks.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_COMMAND_HOOKS_H
#define SK_COMMAND_HOOKS_H

#include "nodes/parsenodes.h"
#include "tcop/deparse_utility.h"
#include "utils/inval.h"

#define SK_CITUS "citus"

/* The function of triggers that number rows. */
#define SK_NUMBERING "assign_on_commit"

/* A relation that a command has created or altered. */
typedef struct SkCommandRelation
{
	Oid			relid;
	char		relkind;
	bool		is_new;
	const CollectedCommand *command;	/* as the server has noted it */
} SkCommandRelation;

/*
 * "guard" is called before every command, also if event triggers are turned
 * off once the library is loaded, and may be called twice.  "start" and "end"
 * are called when a command starts and ends that can make or label a sequence,
 * change a column, a constraint or a partition, or make a trigger that numbers
 * rows, also in a restore.
 */
typedef void (*SkCommandStart) (Node *command);

/* "relations", of SkCommandRelation, are those that the command has touched. */
typedef void (*SkCommandEnd) (Node *command, List *relations);

extern void sk_on_command(SkCommandStart guard, SkCommandStart start,
						  SkCommandEnd end);
extern void sk_on_relation_change(RelcacheCallbackFunction callback);
extern void sk_watch_relations(void);
extern bool sk_restoring(void);
extern bool sk_brings_labels(void);
extern bool sk_citus_exists(void);
extern bool sk_sent_by_citus(void);

#endif							/* SK_COMMAND_HOOKS_H */
