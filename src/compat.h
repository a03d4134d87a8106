/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Differences between the supported releases of PostgreSQL.
 *
 * This is the only file that tests PG_VERSION_NUM.  Callers see the
 * signature of the newest release.
 *
 * src/compat.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_COMPAT_H
#define SK_COMPAT_H

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"

#if PG_VERSION_NUM < 150000
#error "spanner_keys needs PostgreSQL 15 or later"
#endif

/* 18: a module tells its name and version */
#if PG_VERSION_NUM >= 180000
#define SK_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "spanner_keys", .version = "1.0")
#else
#define SK_MODULE_MAGIC PG_MODULE_MAGIC
#endif

/* 19: the planner gets the state of EXPLAIN */
#if PG_VERSION_NUM >= 190000
#define SK_PLANNER_ARGS Query *parse, const char *query_string, \
	int cursorOptions, ParamListInfo boundParams, struct ExplainState *es
#define SK_PLANNER_PASS parse, query_string, cursorOptions, boundParams, es
#else
#define SK_PLANNER_ARGS Query *parse, const char *query_string, \
	int cursorOptions, ParamListInfo boundParams
#define SK_PLANNER_PASS parse, query_string, cursorOptions, boundParams
#endif

/* 18: a function that does not return is marked in front */
#if PG_VERSION_NUM < 180000
#define pg_noreturn __attribute__((noreturn))
#endif

/* 18: NOT NULL constraints have names, and a constructor */
#if PG_VERSION_NUM < 180000
static inline Constraint *
makeNotNullConstraint(String *column)
{
	Constraint *constraint = makeNode(Constraint);

	constraint->contype = CONSTR_NOTNULL;
	constraint->location = -1;
	return constraint;
}
#endif

/* 16: one ownership check for every kind of object */
#if PG_VERSION_NUM < 160000
#define object_ownercheck(classid, objectid, roleid) \
	((classid) == TypeRelationId ? \
	 pg_type_ownercheck((objectid), (roleid)) : \
	 pg_class_ownercheck((objectid), (roleid)))
#endif

#endif							/* SK_COMPAT_H */
