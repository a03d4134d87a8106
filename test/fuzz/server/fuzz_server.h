/*-------------------------------------------------------------------------
 *
 * fuzz_server.h
 *	  Fuzz targets that need a backend.
 *
 * test/fuzz/server/fuzz_server.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef FUZZ_SERVER_H
#define FUZZ_SERVER_H

#include "compat.h"

/*
 * What is done with an input, and with an error that it leads to.  "mutate"
 * may be NULL: then libFuzzer changes bytes.
 */
typedef struct FuzzTarget
{
	const char *name;
	void		(*run) (const uint8 *data, Size size);
	void		(*judge) (const ErrorData *error);
	Size		(*mutate) (uint8 *data, Size size, Size max_size, uint32 seed);
} FuzzTarget;

extern const FuzzTarget fuzz_canonical;
extern const FuzzTarget fuzz_ddl;

/* A finding, for which libFuzzer keeps the input. */
#define fuzz_check(condition) \
	((condition) ? (void) 0 : fuzz_fail(#condition, __FILE__, __LINE__))

pg_noreturn extern void fuzz_fail(const char *condition, const char *file,
								  int line);

#endif							/* FUZZ_SERVER_H */
