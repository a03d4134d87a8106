/*-------------------------------------------------------------------------
 *
 * time_zone.c
 *	  The time zones of GoogleSQL: names and offsets.
 *
 * src/keys/time_zone.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "keys/time_zone.h"

/* GoogleSQL's limit on an offset from UTC, in minutes */
#define SK_MAX_ZONE_OFFSET (14 * MINS_PER_HOUR)

static bool parse_offset(const char *name, int *offset);
static bool is_zone_file(const char *name);

/*
 * sk_parse_time_zone
 *		Find the zone of a name; returns false if GoogleSQL has none.
 *
 * Sets "zone" to NULL and "offset" to minutes east of UTC if that is fixed.
 *
 * Only offsets in GoogleSQL's form and zones of the time zone database count.
 * The server takes any other name with a digit for a POSIX specification,
 * where UTC+3 lies west of UTC, the opposite of what "+3" says here.
 */
bool
sk_parse_time_zone(const char *name, pg_tz **zone, int *offset)
{
	long		seconds;

	*zone = NULL;
	*offset = 0;
	if (name[0] == '+' || name[0] == '-')
		return parse_offset(name, offset);

	if (strpbrk(name, "0123456789") && !is_zone_file(name))
		return false;

	*zone = pg_tzset(name);
	if (*zone == NULL || !pg_tz_acceptable(*zone))
		return false;
	if (pg_get_timezone_offset(*zone, &seconds))
	{
		*zone = NULL;
		*offset = seconds / SECS_PER_MINUTE;
	}
	return true;
}

/* Parse a sign, one or two digits of hours, and perhaps minutes after ":". */
static bool
parse_offset(const char *name, int *offset)
{
	const char *digits = name + 1;
	int			hours;
	int			minutes = 0;
	int			end = 0;

	/* without the spaces and signs that sscanf() passes over */
	if (digits[strspn(digits, "0123456789:")] != '\0' ||
		sscanf(digits, "%2d%n:%2d%n", &hours, &end, &minutes, &end) < 1 ||
		digits[end] != '\0' || minutes >= MINS_PER_HOUR)
		return false;
	*offset = hours * MINS_PER_HOUR + minutes;
	if (name[0] == '-')
		*offset = -*offset;
	return abs(*offset) <= SK_MAX_ZONE_OFFSET;
}

static bool
is_zone_file(const char *name)
{
	pg_tzenum  *zones = pg_tzenumerate_start();
	pg_tz	   *zone;
	bool		found = false;

	while (!found && (zone = pg_tzenumerate_next(zones)) != NULL)
		found = pg_strcasecmp(pg_get_timezone_name(zone), name) == 0;
	pg_tzenumerate_end(zones);
	return found;
}
