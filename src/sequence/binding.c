/*-------------------------------------------------------------------------
 *
 * binding.c
 *	  Which access method a sequence uses: security labels and their cache.
 *
 * The binding is a security label of our provider on the sequence.  Core
 * dumps it with the sequence, removes it with the sequence, and lets only
 * the owner set it.
 *
 * Each backend caches what the labels say.  An entry is invalidated through
 * the relation cache: whoever changes a label sends an invalidation for the
 * sequence, and for the table that owns it, since plans that fill an
 * identity column depend on the table only.
 *
 * Locking: a label changes under ShareRowExclusiveLock on the sequence.
 * Whoever draws from it holds RowExclusiveLock to the end of the
 * transaction, and learns of earlier invalidations when it takes that lock.
 * So all values that one transaction draws are mapped alike, and no value is
 * drawn under an old binding after a new one has been committed.
 *
 * src/sequence/binding.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/skey.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_seclabel.h"
#include "catalog/pg_sequence.h"
#include "catalog/pg_type.h"
#include "commands/seclabel.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "sequence/binding.h"
#include "sequence/core_support.h"
#include "sequence/extension.h"
#include "sequence/label.h"
#include "sequence/registry.h"

/*
 * False if this database is known to have no bound sequence, or not the
 * extension.  A change of any label is told through an invalidation of
 * pg_seclabel, and the extension comes with its schema.
 */
bool		sk_bindings_possible = true;

static bool bindings_counted = false;
static HTAB *bindings = NULL;

static bool find_any_label(void);
static void create_cache(void);
static void forget_count(void);
static void forget_schema(Datum arg, int cacheid, uint32 hashvalue);
static void invalidate_binding(Datum arg, Oid relid);
static void load_binding(SkBinding *binding);
static bool same_label(const char *a, const char *b);
static void check_relkind(Oid relid);
static void depend_on_support(Oid seqid, bool depends);

/*
 * sk_binding_init
 *		Register for invalidations of labels.
 */
void
sk_binding_init(void)
{
	CacheRegisterRelcacheCallback(invalidate_binding, (Datum) 0);
	CacheRegisterSyscacheCallback(NAMESPACEOID, forget_schema, (Datum) 0);
}

/*
 * sk_bindings_exist
 *		Has this database a bound sequence?
 *
 * After a sequence was dropped the answer may be out of date, on the safe
 * side.
 */
bool
sk_bindings_exist(void)
{
	bool		exist;

	if (!sk_bindings_possible || bindings_counted)
		return sk_bindings_possible;

	/* after an invalidation while we look, the answer is good for now only */
	bindings_counted = true;
	exist = find_any_label() && sk_extension_exists();
	if (bindings_counted)
		sk_bindings_possible = exist;
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
		create_cache();

	binding = hash_search(bindings, &seqid, HASH_ENTER, &found);
	if (!found)
		memset((char *) binding + sizeof(Oid), 0,
			   sizeof(SkBinding) - sizeof(Oid));
	if (!binding->valid)
		load_binding(binding);
	return binding;
}

/*
 * sk_binding_set
 *		Bind a sequence, or with a NULL label unbind it.
 *
 * The caller has checked the label and holds ShareRowExclusiveLock.
 */
void
sk_binding_set(Oid seqid, const char *label)
{
	ObjectAddress object;

	ObjectAddressSet(object, RelationRelationId, seqid);
	sk_binding_announce(seqid, label);
	SetSecurityLabel(&object, SK_LABEL_PROVIDER, label);
	CommandCounterIncrement();
}

/*
 * sk_binding_label
 *		The label of a sequence, NULL if it has none.
 */
char *
sk_binding_label(Oid seqid)
{
	ObjectAddress object;

	ObjectAddressSet(object, RelationRelationId, seqid);
	return GetSecurityLabel(&object, SK_LABEL_PROVIDER);
}

/*
 * sk_sequence_width
 *		How many value bits the type of a sequence has: 15, 31 or 63.
 */
int
sk_sequence_width(Oid seqid)
{
	HeapTuple	tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(seqid));
	Oid			type;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for sequence %u", seqid);
	type = ((Form_pg_sequence) GETSTRUCT(tuple))->seqtypid;
	ReleaseSysCache(tuple);
	return sk_type_width(type);
}

/*
 * sk_type_width
 *		The same for a type: smallint, integer, or else bigint.
 */
int
sk_type_width(Oid type)
{
	if (type == INT2OID)
		return 15;
	return type == INT4OID ? 31 : 63;
}

/*
 * sk_binding_obstacle
 *		Why the counter of a sequence cannot be mapped; NULL if it can.
 */
const SkObstacle *
sk_binding_obstacle(Oid seqid)
{
	static const SkObstacle cycles = {
		"Optional clause <cycle> only support `NO CYCLE` as the value.",
		"The sequence would give its values again.",
		"Use NO CYCLE, or the sequence kind \"local\"."
	};
	static const SkObstacle descends = {
		"sequence \"%s\" counts downwards",
		"The counter of a sequence with an access method ascends from 1.",
		"Use a positive INCREMENT, or the sequence kind \"local\"."
	};
	static const SkObstacle starts_low = {
		"sequence \"%s\" has a minimum value below 1",
		"The counter of a sequence with an access method ascends from 1.",
		"Use a MINVALUE of at least 1, or the sequence kind \"local\"."
	};
	HeapTuple	tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(seqid));
	FormData_pg_sequence form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for sequence %u", seqid);
	form = *(Form_pg_sequence) GETSTRUCT(tuple);
	ReleaseSysCache(tuple);

	if (form.seqcycle)
		return &cycles;
	if (form.seqincrement < 1)
		return &descends;
	return form.seqmin < 1 ? &starts_low : NULL;
}

/*
 * sk_binding_check_sequence
 *		Raise an error if the counter of a sequence cannot be mapped.
 */
void
sk_binding_check_sequence(Oid seqid)
{
	const SkObstacle *obstacle = sk_binding_obstacle(seqid);

	if (obstacle != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(obstacle->message, get_rel_name(seqid)),
				 errdetail("%s", obstacle->detail),
				 errhint("%s", obstacle->hint)));
}

/*
 * sk_label_options
 *		Make the options of a sequence from the text of a label.
 *
 * "width" is as for sk_sequence_am_parse.  Sets *am to the access method.
 */
SkSequenceOptions *
sk_label_options(const char *text, int width, const SequenceAccessMethod **am)
{
	const char *problem;
	SkLabel    *label = sk_label_parse(text, &problem);

	if (label == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("invalid sequence kind \"%s\"", text),
				 errdetail_internal("%s", problem),
				 errhint("An example is \"%s\".",
						 "bit_reversed_positive(skip_range_min=1, skip_range_max=1000)")));
	*am = sk_sequence_am_get(label->kind);
	return sk_sequence_am_parse(*am, label->options, width);
}

static bool
find_any_label(void)
{
	Relation	catalog = table_open(SecLabelRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	bool		result;

	ScanKeyInit(&key, Anum_pg_seclabel_provider, BTEqualStrategyNumber,
				F_TEXTEQ, CStringGetTextDatum(SK_LABEL_PROVIDER));
	scan = systable_beginscan(catalog, InvalidOid, false, NULL, 1, &key);
	result = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}

static void
create_cache(void)
{
	HASHCTL		ctl = {0};

	ctl.keysize = sizeof(Oid);
	ctl.entrysize = sizeof(SkBinding);
	bindings = hash_create("spanner_keys bindings", 64, &ctl,
						   HASH_ELEM | HASH_BLOBS);
}

/* Relation cache callback; InvalidOid stands for all relations. */
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

/* Plans that were made when there was no bound sequence are void. */
static void
forget_count(void)
{
	if (!sk_bindings_possible)
		ResetPlanCache();
	sk_bindings_possible = true;
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
	const SequenceAccessMethod *am = NULL;
	SkSequenceOptions *options = NULL;
	char	   *label;

	check_relkind(binding->seqid);
	binding->fresh = true;
	label = sk_binding_label(binding->seqid);
	if (label != NULL)
	{
		MemoryContext old;

		sk_binding_check_sequence(binding->seqid);
		context = AllocSetContextCreate(CurrentMemoryContext,
										"spanner_keys binding",
										ALLOCSET_SMALL_SIZES);
		old = MemoryContextSwitchTo(context);
		options = sk_label_options(label, sk_sequence_width(binding->seqid),
								   &am);
		label = pstrdup(label);
		MemoryContextSwitchTo(old);
		MemoryContextSetParent(context, CacheMemoryContext);
	}

	if (!same_label(binding->label, label))
		binding->changes++;
	if (binding->context != NULL)
		MemoryContextDelete(binding->context);
	binding->context = context;
	binding->label = label;
	binding->am = am;
	binding->options = options;
	binding->valid = binding->fresh;
}

static bool
same_label(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return strcmp(a, b) == 0;
}

static void
check_relkind(Oid relid)
{
	char		relkind = get_rel_relkind(relid);

	if (relkind == RELKIND_SEQUENCE)
		return;
	if (relkind == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("sequence with OID %u does not exist", relid),
				 errhint("Name a sequence.")));
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a sequence", get_rel_name(relid)),
			 errhint("The sequence of a column is told by pg_get_serial_sequence().")));
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

	if (label != NULL || sk_extension_exists())
		depend_on_support(seqid, label != NULL);
	CacheInvalidateRelcacheByRelid(SecLabelRelationId);
	CacheInvalidateRelcacheByRelid(seqid);
	if (sequenceIsOwned(seqid, DEPENDENCY_AUTO, &table, &column) ||
		sequenceIsOwned(seqid, DEPENDENCY_INTERNAL, &table, &column))
		CacheInvalidateRelcacheByRelid(table);

	/* what the type cache has planned for domains is planned again */
	if (label != NULL && !sk_bindings_exist())
		CacheInvalidateCatalog(ConstraintRelationId);
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
	ObjectAddressSet(support, ProcedureRelationId,
					 sk_function(SK_FUNCTION_SEQUENCE_SUPPORT));
	(void) deleteDependencyRecordsForSpecific(RelationRelationId, seqid,
											  DEPENDENCY_NORMAL,
											  ProcedureRelationId,
											  support.objectId);
	if (!depends)
		return;
	sk_attach_support();
	recordDependencyOn(&sequence, &support, DEPENDENCY_NORMAL);
}
