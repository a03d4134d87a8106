/*-------------------------------------------------------------------------
 *
 * registry.c
 *	  The registry of sequence access methods.
 *
 * src/sequence/registry.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/tuplestore.h"

#include "sequence/method_library.h"
#include "sequence/registry.h"

PG_FUNCTION_INFO_V1(spanner_list_sequence_access_methods);

static SkSequenceAmRegistry *get_registry(void);
static const SequenceAccessMethod *find_registered(const char *kind);

/*
 * sk_sequence_am_find
 *		The access method of a kind, or NULL if there is none.
 *
 * Loads the library that offers it if need be.
 */
const SequenceAccessMethod *
sk_sequence_am_find(const char *kind)
{
	const SequenceAccessMethod *am = find_registered(kind);

	if (am == NULL && sk_method_library_load(kind))
		am = find_registered(kind);
	return am;
}

/*
 * sk_sequence_am_get
 *		The access method of a kind.
 *
 * Raises Spanner's error for a kind that does not exist.
 */
const SequenceAccessMethod *
sk_sequence_am_get(const char *kind)
{
	const SequenceAccessMethod *am = sk_sequence_am_find(kind);
	SkSequenceAmRegistry *registry = get_registry();
	StringInfoData kinds;

	if (am != NULL)
		return am;

	initStringInfo(&kinds);
	for (int i = 0; registry != NULL && i < registry->count; i++)
		appendStringInfo(&kinds, "%s%s", i > 0 ? ", " : "",
						 sk_sequence_am_name(registry->methods[i]));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("Invalid Sequence Kind: %s.", kind),
			 errhint("This session knows these kinds: %s. A further kind needs the extension that offers it in this database.",
					 kinds.data)));
	return NULL;				/* keep compiler quiet */
}

/*
 * sk_sequence_am_name
 *		The name of an access method as it is stored and shown: in lower case.
 */
char *
sk_sequence_am_name(const SequenceAccessMethod *am)
{
	return asc_tolower(am->name, strlen(am->name));
}

static SkSequenceAmRegistry *
get_registry(void)
{
	return *(SkSequenceAmRegistry **)
		find_rendezvous_variable(SK_SEQUENCE_AM_RENDEZVOUS);
}

/* The access method of a kind that is registered already, or NULL. */
static const SequenceAccessMethod *
find_registered(const char *kind)
{
	SkSequenceAmRegistry *registry = get_registry();

	for (int i = 0; registry != NULL && i < registry->count; i++)
	{
		if (pg_strcasecmp(registry->methods[i]->name, kind) == 0)
			return registry->methods[i];
	}
	return NULL;
}

/*
 * spanner_internal.list_sequence_access_methods() returns setof record
 */
Datum
spanner_list_sequence_access_methods(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	SkSequenceAmRegistry *registry = get_registry();

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; registry != NULL && i < registry->count; i++)
	{
		Datum		values[2];
		bool		nulls[2] = {false, false};

		values[0] = CStringGetTextDatum(sk_sequence_am_name(registry->methods[i]));
		values[1] = CStringGetTextDatum(registry->methods[i]->description);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc,
							 values, nulls);
	}
	return (Datum) 0;
}
