/*-------------------------------------------------------------------------
 *
 * trim_memory.c
 *	  Give back to the system what this process has freed.
 *
 * The allocator keeps pages that were freed between others.  After this, the
 * memory of a process is what it uses, so a soak can see what leaks.
 *
 * test/modules/trim_memory/trim_memory.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "fmgr.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(trim_memory);

/*
 * trim_memory
 *		Return free pages, where the C library can.
 */
Datum
trim_memory(PG_FUNCTION_ARGS)
{
#ifdef __GLIBC__
	(void) malloc_trim(0);
#endif
	PG_RETURN_VOID();
}
