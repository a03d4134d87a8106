/*-------------------------------------------------------------------------
 *
 * dependents.c
 *	  What depends on a relation.
 *
 * src/sequence/dependents.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "sequence/dependents.h"

/*
 * sk_list_dependents
 *		The objects of one catalog that depend on a relation or its columns.
 *
 * Returns a list of OIDs, each once.
 */
List *
sk_list_dependents(Oid relation, Oid catalog)
{
	return sk_list_object_dependents(RelationRelationId, relation, catalog);
}

/*
 * sk_list_object_dependents
 *		The same for an object of any kind.
 */
List *
sk_list_object_dependents(Oid classid, Oid objectid, Oid catalog)
{
	Relation	depend = table_open(DependRelationId, AccessShareLock);
	List	   *result = NIL;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(classid));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(objectid));
	scan = systable_beginscan(depend, DependReferenceIndexId, true, NULL, 2,
							  keys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->classid == catalog)
			result = list_append_unique_oid(result, form->objid);
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
	return result;
}
