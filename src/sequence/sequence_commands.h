/*-------------------------------------------------------------------------
 *
 * sequence_commands.h
 *	  Creating and altering sequences of a kind.
 *
 * src/sequence/sequence_commands.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SEQUENCE_COMMANDS_H
#define SK_SEQUENCE_COMMANDS_H

#include "nodes/primnodes.h"

#include "sequence/sequence_change.h"

extern Oid	sk_create_sequence(RangeVar *name, SkSequenceChange *change,
							   bool if_not_exists);
extern void sk_alter_sequence(Oid seqid, const SkSequenceChange *change);

#endif							/* SK_SEQUENCE_COMMANDS_H */
