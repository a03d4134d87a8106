/*-------------------------------------------------------------------------
 *
 * label_provider.c
 *	  SECURITY LABEL FOR spanner_keys ON SEQUENCE ...: what it checks.
 *
 * Labels of columns are there for Citus: see column_label.c.
 *
 * src/sequence/label_provider.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "commands/seclabel.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "sequence/binding.h"
#include "sequence/column_label.h"
#include "sequence/label_provider.h"
#include "sequence/redirect/column_default.h"
#include "sequence/redirect/identity_column.h"
#include "sequence/sequence_change.h"

static void check_label(const ObjectAddress *object, const char *label);
static bool is_column(const ObjectAddress *object);
static void check_change(SkSequence *seq, const char *text);

/*
 * sk_label_provider_init
 *		Register the label provider.
 */
void
sk_label_provider_init(void)
{
	register_label_provider(SK_LABEL_PROVIDER, check_label);
}

/* The provider's hook. */
static void
check_label(const ObjectAddress *object, const char *label)
{
	SkSequence *seq = NULL;

	if (is_column(object) && (sk_restoring() || sk_citus_exists()))
	{
		if (label != NULL && !IsBinaryUpgrade)
			(void) sk_kind_from_label(label, 63);
		if (!sk_restoring())
			sk_check_column_label(object->objectId, object->objectSubId, label);
		return;
	}
	if (object->classId != RelationRelationId || object->objectSubId != 0 ||
		get_rel_relkind(object->objectId) != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("security labels of provider \"%s\" are for sequences",
						SK_LABEL_PROVIDER),
				 errhint("Use SECURITY LABEL ON SEQUENCE.")));

	/* locks the table, which writers lock before the sequence */
	if (label == NULL && !sk_restoring())
	{
		sk_find_nodes(sk_sequence_read(object->objectId));
		sk_restore_identity(object->objectId,
							sk_sequence_identity(object->objectId));
	}
	/* pg_upgrade may come to a label before the function that loads its kind */
	if (label != NULL && !IsBinaryUpgrade)
		seq = sk_sequence_lock(object->objectId, NoLock, true);
	else
		LockRelationOid(object->objectId, ShareRowExclusiveLock);
	sk_binding_announce(object->objectId, label);
	if (seq != NULL)
		check_change(seq, label);
}

static bool
is_column(const ObjectAddress *object)
{
	return object->classId == RelationRelationId && object->objectSubId > 0 &&
		get_rel_relkind(object->objectId) != RELKIND_SEQUENCE;
}

/* What is missing in the label is added when the command has ended. */
static void
check_change(SkSequence *seq, const char *text)
{
	SkLabel    *label = sk_kind_parts(sk_kind_from_label(text, seq->width));
	SkSequenceChange change = {.is_label = true,.kind = label->kind,
	.options = label->options};

	if (sk_restoring())
		sk_sequence_check_mappable(seq->seqid);
	else
		(void) sk_check_change(seq, &change);
}
