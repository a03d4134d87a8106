/*-------------------------------------------------------------------------
 *
 * access_method.h
 *	  Interface of sequence access methods.
 *
 * The state of every sequence is the core sequence relation, which holds a
 * plain counter.  An access method maps counters to values; it keeps no
 * state of its own.  Which method a sequence uses, and with which options,
 * stands in its security label, for example
 * "bit_reversed_positive(skip_range_min=1, skip_range_max=1000)".
 *
 * A library offers a method by calling sk_register_sequence_am() from its
 * _PG_init().  It need not be linked with ours, nor be loaded after it: the
 * registry is found through a rendezvous variable.
 *
 * So that the library is loaded where its kind is first used, its extension
 * has a function "spanner.load_KIND() RETURNS void" in language C.  The
 * function does nothing: calling it loads the library.
 *
 * This file is installed for other extensions and needs none of ours.
 *
 * src/sequence/access_method.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_ACCESS_METHOD_H
#define SK_ACCESS_METHOD_H

#include "fmgr.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"

/* Changes whenever a struct of this file does. */
#define SK_SEQUENCE_AM_VERSION 1

/* Room for methods in one backend. */
#define SK_MAX_SEQUENCE_AMS 16

/*
 * One "name=value" of a label.  The name is in lower case.  The value is text
 * as the user wrote it; the method parses it.
 */
typedef struct SkOption
{
	const char *name;
	const char *value;
} SkOption;

/* The values from min to max.  Zeros mean that there are none. */
typedef struct SkRange
{
	int64		min;
	int64		max;
} SkRange;

/* What an identity column allowed before it was bound, as in pg_attribute. */
typedef enum SkIdentity
{
	SK_IDENTITY_NONE = '\0',	/* not made from an identity column */
	SK_IDENTITY_BY_DEFAULT = 'd',
	SK_IDENTITY_ALWAYS = 'a'
} SkIdentity;

/* The options of one sequence, as its access method sees them. */
typedef struct SkSequenceOptions
{
	int			bits;			/* values are in [1, 2^bits - 2] */
	SkRange		skip_range;		/* these values are skipped */
	SkRange		given;			/* as are these, which must not come again */
	int64		since;			/* the counter at which the kind began */
	SkIdentity	identity;
	int64		max_counter;	/* the last counter that has a value */
	void	   *am_options;		/* the method's own, NULL if it has none */
} SkSequenceOptions;

typedef struct SequenceAccessMethod
{
	uint32		version;		/* SK_SEQUENCE_AM_VERSION */
	const char *name;			/* kind: a word as in a label; written in any
								 * case, kept in lower */
	const char *description;	/* one line for the catalog view */

	/*
	 * Take the method's own options, a list of SkOption, and complete
	 * "options", whose other members are set and stay: store what it needs in
	 * am_options, lower max_counter if it has to.  Allocates in
	 * CurrentMemoryContext, raises an error for what it cannot accept, and
	 * does not look into the catalogs.  NULL: no options of its own.
	 */
	void		(*parse_options) (SkSequenceOptions *options, List *own);

	/*
	 * Map a counter in [1, max_counter] to a value in [1, 2^bits - 2].
	 * Different counters must give different values.  Returns false to have
	 * the counter skipped.  Skip ranges are not its business.
	 */
	bool		(*nextval) (const SkSequenceOptions *options, int64 counter,
							int64 *value);

	/* Find the counter that gives "value"; returns false if none does. */
	bool		(*unmap) (const SkSequenceOptions *options, int64 value,
						  int64 *counter);

	/*
	 * Write the method's own options as a list of SkOption, leaving out those
	 * at their defaults.  Values are words as in a label, and parse_options
	 * makes the same of them again.  NULL: no options of its own.
	 */
	List	   *(*describe) (const SkSequenceOptions *options);

	/*
	 * A lower bound of the distance between two values whose counters are at
	 * most "last" and differ by a multiple of "increment".  NULL: values can
	 * be neighbours.
	 */
	int64		(*least_distance) (const SkSequenceOptions *options,
								   int64 increment, int64 last);
} SequenceAccessMethod;

/* What the rendezvous variable points to. */
typedef struct SkSequenceAmRegistry
{
	uint32		version;		/* SK_SEQUENCE_AM_VERSION */
	int			count;
	const SequenceAccessMethod *methods[SK_MAX_SEQUENCE_AMS];
} SkSequenceAmRegistry;

#define SK_SEQUENCE_AM_RENDEZVOUS "spanner_keys_sequence_access_methods"

/* What kinds, and names and values of options, consist of in a label. */
#define SK_WORD_CHARACTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+."

/*
 * sk_register_sequence_am
 *		Make an access method known to this backend.
 *
 * "am" must stay valid for the life of the process.  Raises an error if the
 * library was built for another version of the interface, if the method is not
 * complete, and for a second method of the same name, whose values could be
 * those of other counters.
 */
static inline void
sk_register_sequence_am(const SequenceAccessMethod *am)
{
	SkSequenceAmRegistry **slot;
	SkSequenceAmRegistry *registry;

	/* a label could not name any other method */
	if (am->name == NULL || am->name[0] == '\0' ||
		strlen(am->name) >= NAMEDATALEN || pg_strcasecmp(am->name, "local") == 0 ||
		am->name[strspn(am->name, SK_WORD_CHARACTERS)] != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid name \"%s\" of a sequence access method",
						am->name != NULL ? am->name : ""),
				 errhint("Use letters, digits, \"_\", \"-\", \"+\" and \".\", but not the name \"local\".")));

	slot = (SkSequenceAmRegistry **)
		find_rendezvous_variable(SK_SEQUENCE_AM_RENDEZVOUS);
	if (*slot == NULL)
	{
		*slot = (SkSequenceAmRegistry *)
			MemoryContextAllocZero(TopMemoryContext,
								   sizeof(SkSequenceAmRegistry));
		(*slot)->version = SK_SEQUENCE_AM_VERSION;
	}
	registry = *slot;

	if (registry->version != SK_SEQUENCE_AM_VERSION ||
		am->version != SK_SEQUENCE_AM_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("sequence access method \"%s\" was built for another version of the interface",
						am->name),
				 errhint("Build its library again with the headers of the installed extension.")));
	if (am->description == NULL || am->nextval == NULL || am->unmap == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
				 errmsg("sequence access method \"%s\" is not complete", am->name),
				 errdetail("It needs a description and the functions nextval and unmap.")));

	for (int i = 0; i < registry->count; i++)
	{
		/* _PG_init is called again if it has failed */
		if (registry->methods[i] == am)
			return;
		if (pg_strcasecmp(registry->methods[i]->name, am->name) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("sequence access method \"%s\" is registered already",
							am->name),
					 errhint("Two libraries offer it: load one of them only.")));
	}
	if (registry->count >= SK_MAX_SEQUENCE_AMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many sequence access methods"),
				 errhint("Load fewer libraries that offer one.")));
	registry->methods[registry->count++] = am;
}

/*
 * sk_unknown_option
 *		Report an option that a method does not know.
 *
 * "own" names the method's own options in the hint, NULL if it has none.
 */
static inline void
sk_unknown_option(const SkOption *option, const char *own)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("Unsupported sequence option: %s.", option->name),
			 own != NULL ?
			 errhint("This kind takes bits, skip_range_min, skip_range_max and %s.", own) :
			 errhint("This kind takes bits, skip_range_min and skip_range_max.")));
}

/*
 * sk_option_int64
 *		The value of an option that is an integer.
 */
static inline int64
sk_option_int64(const SkOption *option)
{
	char	   *end;
	long long	value;

	errno = 0;
	value = strtoll(option->value, &end, 10);
	if (end == option->value || *end != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("Option %s can only take a integer value.",
						option->name),
				 errhint("The value given is \"%s\".", option->value)));
	if (errno == ERANGE)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value \"%s\" of option \"%s\" is out of range for type bigint",
						option->value, option->name)));
	return value;
}

#endif							/* SK_ACCESS_METHOD_H */
