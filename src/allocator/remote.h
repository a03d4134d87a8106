/*-------------------------------------------------------------------------
 *
 * remote.h
 *	  Values that come from allocators of other servers.
 *
 * src/allocator/remote.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_REMOTE_H
#define SK_REMOTE_H

#include "allocator/pool.h"

/* remote.c */
extern int	sk_remote_exchange(SkRefill *refills, int count);
extern long sk_remote_delay(void);
extern void sk_remote_disconnect(void);

/* remote_connection.c */

/* A connection, and what it was made for. */
typedef struct SkConnection
{
	char		name[NAMEDATALEN];	/* dblink's; empty if it is not open */
	char		server[NAMEDATALEN];
	Oid			userid;			/* whose user mapping it uses */
	uint64		epoch;			/* of servers and user mappings */
} SkConnection;

extern void sk_limit_time(int limit_ms);
extern void sk_end_limit(void);
extern bool sk_connection_is_for(const SkConnection *connection,
								 const char *server, Oid userid);
extern void sk_connection_open(SkConnection *connection, const char *server,
							   Oid userid);
extern void sk_connection_send(SkConnection *connection, const char *query);
extern bool sk_connection_receive(SkConnection *connection,
								  int64 *first, int64 *last);
extern void sk_connection_close(SkConnection *connection);

#endif							/* SK_REMOTE_H */
