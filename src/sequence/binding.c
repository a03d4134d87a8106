/*-------------------------------------------------------------------------
 *
 * binding.c
 *	  Which access method a sequence uses: security labels and their cache.
 *
 * Each backend caches what the labels say.  An entry is invalidated through
 * the relation cache: whoever changes a label sends an invalidation for the
 * sequence, and for the table that owns it, since plans that fill an
 * identity column depend on the table only.
 *
 * Locking: a label changes under ShareRowExclusiveLock on the sequence.
 * Whoever fetches from it holds RowExclusiveLock to the end of the
 * transaction, and learns of earlier invalidations when it takes that lock.
 * So all values that one transaction fetches are mapped alike, and no value is
 * fetched under an old binding after a new one has been committed.
 *
 * src/sequence/binding.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_seclabel.h"
#include "catalog/pg_sequence.h"
#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/syscache.h"

#include "compat.h"
#include "sequence/sequence.h"
#include "spanner_keys.h"
#include "spi/command_hooks.h"
#include "spi/own_objects.h"

/*
 * False if this database is known to have no bound sequence, or not the
 * extension.  A change of any label invalidates pg_seclabel in the relation
 * cache, and CREATE EXTENSION invalidates schemas.
 */
static bool bindings_possible = true;
static bool bindings_counted = false;
static HTAB *bindings = NULL;

/* So many more sequences are remembered at least before some are forgotten. */
#define SK_FIRST_SWEEP 64
static long next_sweep = SK_FIRST_SWEEP;

static void sweep(void);
static void forget_count(void);
static void forget_schema(Datum arg, int cacheid, uint32 hashvalue);
static void invalidate_binding(Datum arg, Oid relid);
static void load_binding(SkBinding *binding);
static void depend_on_support(Oid seqid, bool depends);

/*
 * sk_binding_init
 *		Register for invalidations of labels.
 */
void
sk_binding_init(void)
{
	sk_on_relation_change(invalidate_binding);
	CacheRegisterSyscacheCallback(NAMESPACEOID, forget_schema, (Datum) 0);
}

/*
 * sk_bindings_exist
 *		Does this database have a bound sequence?
 *
 * After a sequence was dropped the answer may be out of date, on the safe
 * side.
 */
bool
sk_bindings_exist(void)
{
	bool		exist;

	if (!bindings_possible || bindings_counted)
		return bindings_possible;

	sk_watch_relations();

	/* after an invalidation while we look, the answer is good for now only */
	bindings_counted = true;
	exist = sk_list_labelled(true) != NIL && sk_extension_exists();
	if (bindings_counted)
		bindings_possible = exist;
	return exist;
}

/*
 * sk_binding_get
 *		The binding of a sequence, loaded if need be.
 *
 * A sequence that is not bound has no access method.  The options are good
 * until invalidations are next accepted.  Raises an error for a relation
 * that is not a sequence, and for a label that cannot be understood.
 */
SkBinding *
sk_binding_get(Oid seqid)
{
	SkBinding  *binding;
	bool		found;

	if (bindings == NULL)
	{
		HASHCTL		ctl = {0};

		sk_watch_relations();
		ctl.keysize = sizeof(Oid);
		ctl.entrysize = sizeof(SkBinding);
		bindings = hash_create("spanner_keys bindings", 64, &ctl,
							   HASH_ELEM | HASH_BLOBS);
	}

	binding = hash_search(bindings, &seqid, HASH_FIND, NULL);
	if (binding != NULL && binding->valid)
		return binding;

	/* what does not exist gets no place */
	sk_sequence_check_relkind(seqid);
	if (binding == NULL && hash_get_num_entries(bindings) >= next_sweep)
		sweep();
	binding = hash_search(bindings, &seqid, HASH_ENTER, &found);
	if (!found)
		memset((char *) binding + sizeof(Oid), 0,
			   sizeof(SkBinding) - sizeof(Oid));
	load_binding(binding);
	return binding;
}

/*
 * sk_binding_announce
 *		Prepare for the label that a sequence is about to get, NULL for none.
 *
 * Every backend loads the binding again, and plans again.
 */
void
sk_binding_announce(Oid seqid, const char *label)
{
	Oid			table;
	int32		column;

	/* whoever fetches holds a lock that conflicts with this one */
	Assert(sk_relation_is_locked(seqid, ShareRowExclusiveLock));
	if (label != NULL || sk_extension_exists())
		depend_on_support(seqid, label != NULL);
	CacheInvalidateRelcacheByRelid(SecLabelRelationId);
	CacheInvalidateRelcacheByRelid(seqid);
	if (sk_sequence_owner(seqid, &table, &column))
		CacheInvalidateRelcacheByRelid(table);
}

/*
 * Forget the sequences that this session has not fetched from.  Of those that it
 * has fetched from and that are gone, forget the label only: a rollback can bring
 * them back, and core still knows the last counter.
 *
 * A caller may still hold an entry.  The hash table keeps its memory, for
 * another sequence.  So the entry tells by "seqid" and "valid" that it has to
 * be looked up again.
 */
static void
sweep(void)
{
	HASH_SEQ_STATUS seq;
	SkBinding  *binding;
	long		labels = 0;

	hash_seq_init(&seq, bindings);
	while ((binding = hash_seq_search(&seq)) != NULL)
	{
		if (binding->context != NULL &&
			(binding->last_counter == 0 ||
			 get_rel_relkind(binding->seqid) != RELKIND_SEQUENCE))
		{
			MemoryContextDelete(binding->context);
			binding->context = NULL;
			binding->label = NULL;
			binding->am = NULL;
			binding->options = NULL;
			binding->valid = false;
		}
		labels += binding->context != NULL;
		if (binding->last_counter == 0)
		{
			binding->valid = false;
			hash_search(bindings, &binding->seqid, HASH_REMOVE, NULL);
		}
	}
	next_sweep = hash_get_num_entries(bindings) + Max(SK_FIRST_SWEEP, labels);
}

/* Relation cache callback; InvalidOid means all relations. */
static void
invalidate_binding(Datum arg, Oid relid)
{
	SkBinding  *binding;
	HASH_SEQ_STATUS seq;

	if (relid == SecLabelRelationId || !OidIsValid(relid))
		forget_count();
	if (bindings == NULL)
		return;

	if (OidIsValid(relid))
	{
		binding = hash_search(bindings, &relid, HASH_FIND, NULL);
		if (binding != NULL)
			binding->valid = binding->fresh = false;
		return;
	}

	hash_seq_init(&seq, bindings);
	while ((binding = hash_seq_search(&seq)) != NULL)
		binding->valid = binding->fresh = false;
}

static void
forget_schema(Datum arg, int cacheid, uint32 hashvalue)
{
	forget_count();
}

/*
 * Calls are mapped in every plan, but identity columns only if there is a bound
 * sequence: plans that were made when there was none are void.
 */
static void
forget_count(void)
{
	if (!bindings_possible)
		ResetPlanCache();
	bindings_possible = true;
	bindings_counted = false;
}

/*
 * Read the label of a sequence.  An error leaves the entry invalid, so that
 * the next use fails likewise instead of giving a plain counter.
 */
static void
load_binding(SkBinding *binding)
{
	MemoryContext context = NULL;
	SkKind		kind = {NULL, NULL};
	char	   *label = sk_sequence_label(binding->seqid);

	binding->fresh = true;
	if (label != NULL)
	{
		FormData_pg_sequence form = sk_sequence_form(binding->seqid);
		MemoryContext old;

		sk_sequence_check_mappable(binding->seqid);
		context = AllocSetContextCreate(CurrentMemoryContext,
										"spanner_keys binding",
										ALLOCSET_SMALL_SIZES);
		old = MemoryContextSwitchTo(context);
		kind = *sk_kind_make(sk_label_parse_kind(label), sk_type_width(form.seqtypid));
		label = pstrdup(label);
		MemoryContextSwitchTo(old);
		MemoryContextSetParent(context, CacheMemoryContext);
	}

	if (label == NULL || binding->label == NULL ? label != binding->label :
		strcmp(label, binding->label) != 0)
		binding->changes++;
	if (binding->context != NULL)
		MemoryContextDelete(binding->context);
	binding->context = context;
	binding->label = label;
	binding->am = kind.am;
	binding->options = kind.options;
	binding->valid = binding->fresh;
	Assert((kind.am == NULL) == (context == NULL));
	elog(DEBUG2, "loaded binding of sequence %u: \"%s\"",
		 binding->seqid, label != NULL ? label : "");
}

/*
 * A sequence with a label needs the support function, and pg_depend says so.
 * pg_upgrade goes by that: it creates the function, which loads the label
 * provider, before the sequence and its label.
 *
 * The lock on the function keeps the extension from being dropped before the
 * label can be seen.
 */
static void
depend_on_support(Oid seqid, bool depends)
{
	Oid			function = sk_function(SK_FUNCTION_SEQUENCE_SUPPORT);
	ObjectAddress sequence;
	ObjectAddress support;

	LockDatabaseObject(ProcedureRelationId, function, 0, AccessShareLock);
	ObjectAddressSet(sequence, RelationRelationId, seqid);
	ObjectAddressSet(support, ProcedureRelationId, function);
	(void) deleteDependencyRecordsForSpecific(RelationRelationId, seqid,
											  DEPENDENCY_NORMAL,
											  ProcedureRelationId, function);
	if (!depends)
		return;
	sk_set_core_support(true);
	recordDependencyOn(&sequence, &support, DEPENDENCY_NORMAL);
}
