/*-------------------------------------------------------------------------
 *
 * relation_changes.c
 *	  Callbacks for changes of relations.
 *
 * The server has ten places for relation cache callbacks, and other extensions
 * may take many.  All modules of this library share one.  It is taken when
 * the first of them begins to remember something.  So a process that uses nothing
 * of the library, such as a WAL sender, takes none.
 *
 * src/spi/relation_changes.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "spi/relation_changes.h"

#define SK_MAX_CALLBACKS 8

static RelcacheCallbackFunction callbacks[SK_MAX_CALLBACKS];
static int	callback_count = 0;
static bool registered = false;

static void tell_all(Datum arg, Oid relid);

/*
 * sk_on_relation_change
 *		Register a relation cache callback, which gets 0 as its argument.
 *
 * To be called when the library is loaded.
 */
void
sk_on_relation_change(RelcacheCallbackFunction callback)
{
	/* the server loads a library again if that has failed */
	for (int i = 0; i < callback_count; i++)
	{
		if (callbacks[i] == callback)
			return;
	}
	Assert(callback_count < SK_MAX_CALLBACKS);
	callbacks[callback_count++] = callback;
}

/*
 * sk_watch_relations
 *		Call the callbacks from now on.
 *
 * To be called before something is remembered that a change makes wrong.
 */
void
sk_watch_relations(void)
{
	Assert(callback_count >= 1);
	if (registered)
		return;
	CacheRegisterRelcacheCallback(tell_all, (Datum) 0);
	registered = true;
}

static void
tell_all(Datum arg, Oid relid)
{
	for (int i = 0; i < callback_count; i++)
		callbacks[i] (arg, relid);
}
