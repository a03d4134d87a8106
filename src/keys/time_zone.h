/*-------------------------------------------------------------------------
 *
 * time_zone.h
 *	  The time zones of GoogleSQL, and moments that functions of time do not
 *	  fail for.
 *
 * src/keys/time_zone.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_TIME_ZONE_H
#define SK_TIME_ZONE_H

#include "datatype/timestamp.h"
#include "pgtime.h"

#define SK_TIME_ZONE_HINT \
	"Use a name such as \"America/Los_Angeles\", or an offset east of UTC between \"-14:00\" and \"+14:00\"."

/*
 * Usual moments are those from some 4,000 years before the year 2000 to some
 * 190,000 years after it.  A function that moves one by the offset of a time
 * zone, to the start of a millennium or by a bucket of SK_MAX_BUCKET_DAYS stays
 * within what a timestamp can hold.
 */
#define SK_FIRST_USUAL (INT64CONST(-4000) * 366 * USECS_PER_DAY)
#define SK_LAST_USUAL (INT64CONST(190000) * 366 * USECS_PER_DAY)

#define SK_MAX_BUCKET_DAYS 366

extern bool sk_parse_time_zone(const char *name, pg_tz **zone, int *offset);

static inline bool
sk_is_usual(Timestamp moment)
{
	return moment >= SK_FIRST_USUAL && moment < SK_LAST_USUAL;
}

#endif							/* SK_TIME_ZONE_H */
