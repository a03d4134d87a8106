/*-------------------------------------------------------------------------
 *
 * silence.h
 *	  Rules that are silenced on an object.
 *
 * src/advisor/silence.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SILENCE_H
#define SK_SILENCE_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

extern void sk_silence_init(void);
extern List *sk_silence_load(void);
extern bool sk_silence_covers(List *silences, const char *rule, Oid relid,
							  Oid indexid, AttrNumber attnum);

#endif							/* SK_SILENCE_H */
