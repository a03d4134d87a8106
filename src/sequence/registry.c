/*-------------------------------------------------------------------------
 *
 * registry.c
 *	  The registry of sequence access methods.
 *
 * A kind that no loaded library offers leads to a function: "load_KIND()" in
 * the schema of our extension, in language C.  Only a superuser can create
 * one, and it names the library.  Calling it loads that, whose _PG_init()
 * registers the method.  A label must not lead to a file by itself, since
 * whoever owns a sequence writes its label.
 *
 * src/sequence/registry.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/formatting.h"
#include "utils/tuplestore.h"

#include "sequence/extension.h"
#include "sequence/registry.h"

#define SK_LOADER_PREFIX "load_"

PG_FUNCTION_INFO_V1(spanner_list_sequence_access_methods);

static SkSequenceAmRegistry *get_registry(void);
static const SequenceAccessMethod *find_registered(const char *kind);
static bool load_library(const char *kind);

/*
 * sk_registry_init
 *		Register the access methods that are built in.
 */
void
sk_registry_init(void)
{
	sk_register_sequence_am(&sk_bit_reversed_positive_am);
	sk_register_sequence_am(&sk_striped_am);
}

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

	if (am == NULL && load_library(kind))
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

	if (am == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("Invalid Sequence Kind: %s.", kind),
				 errhint("This session knows these kinds: %s. Other kinds require the extension that provides them to be installed in this database.",
						 sk_sequence_am_names())));
	return am;
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

/*
 * sk_sequence_am_names
 *		The names of all that this session knows, for a message.
 */
char *
sk_sequence_am_names(void)
{
	SkSequenceAmRegistry *registry = get_registry();
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 0; i < registry->count; i++)
		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "",
						 sk_sequence_am_name(registry->methods[i]));
	return names.data;
}

static SkSequenceAmRegistry *
get_registry(void)
{
	SkSequenceAmRegistry *result = *(SkSequenceAmRegistry **)
		find_rendezvous_variable(SK_SEQUENCE_AM_RENDEZVOUS);

	Assert(result->version == SK_SEQUENCE_AM_VERSION);
	Assert(result->count >= 2 && result->count <= SK_MAX_SEQUENCE_AMS);
	return result;
}

/* The access method of a kind that is registered already, or NULL. */
static const SequenceAccessMethod *
find_registered(const char *kind)
{
	SkSequenceAmRegistry *registry = get_registry();

	for (int i = 0; i < registry->count; i++)
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
	for (int i = 0; i < registry->count; i++)
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

/*
 * Load the library that offers a kind.
 *
 * Returns false if none is known in this database.  Raises an error if it
 * cannot be loaded.
 */
static bool
load_library(const char *kind)
{
	char	   *name = psprintf("%s%s", SK_LOADER_PREFIX, kind);
	Oid			loader;

	/* no catalogs while a setting is restored after an abort */
	if (!IsTransactionState() || strlen(name) >= NAMEDATALEN)
		return false;

	loader = sk_loader_function(name);
	if (!OidIsValid(loader))
		return false;
	(void) OidFunctionCall0(loader);
	return true;
}
