/*-------------------------------------------------------------------------
 *
 * label_provider.c
 *	  SECURITY LABEL FOR spanner_keys ON SEQUENCE ...: what it checks.
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
#include "sequence/kind_change.h"
#include "sequence/label_provider.h"
#include "sequence/redirect/column_default.h"
#include "sequence/redirect/identity_column.h"
#include "sequence/spacing.h"


static void check_label(const ObjectAddress *object, const char *label);

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
	const SequenceAccessMethod *am;

	if (object->classId != RelationRelationId || object->objectSubId != 0 ||
		get_rel_relkind(object->objectId) != RELKIND_SEQUENCE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("security labels of provider \"%s\" are for sequences",
						SK_LABEL_PROVIDER),
				 errhint("Use SECURITY LABEL ON SEQUENCE.")));

	/* locks the table, which writers lock before the sequence */
	if (label == NULL && check_function_bodies)
		sk_restore_identity(object->objectId,
							sk_sequence_identity(object->objectId));
	LockRelationOid(object->objectId, ShareRowExclusiveLock);
	sk_binding_announce(object->objectId, label);

	/* pg_upgrade may come to a label before the function that loads its kind */
	if (label != NULL && !IsBinaryUpgrade)
	{
		SkSequenceOptions *options;

		options = sk_label_options(label, sk_sequence_width(object->objectId),
								   &am);
		sk_binding_check_sequence(object->objectId);
		sk_check_label_change(object->objectId, label);
		sk_report_overlap(object->objectId, am, options);
	}
}
