/*-------------------------------------------------------------------------
 *
 * time_zone.h
 *	  The time zones of GoogleSQL.
 *
 * src/keys/time_zone.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_TIME_ZONE_H
#define SK_TIME_ZONE_H

#include "pgtime.h"

#define SK_TIME_ZONE_HINT \
	"Use a name such as \"America/Los_Angeles\", or an offset east of UTC between \"-14:00\" and \"+14:00\"."

extern bool sk_parse_time_zone(const char *name, pg_tz **zone, int *offset);

#endif							/* SK_TIME_ZONE_H */
