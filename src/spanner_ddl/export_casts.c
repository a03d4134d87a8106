/*-------------------------------------------------------------------------
 *
 * export_casts.c
 *	  Whether a cast changes a value, which GoogleSQL would not do.
 *
 * src/spanner_ddl/export_casts.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "spanner_ddl/spanner_ddl.h"

/* Of numeric(precision, scale). */
#define NUMERIC_TYPMOD(precision, scale) ((((precision) << 16) | (scale)) + VARHDRSZ)

static void *without_casts(Node *node);

/*
 * sk_ddl_keeps_length
 *		May a cast to a length or scale be left out?
 *
 * A column checks the length of a string itself, NUMERIC has a scale of 9, and
 * a value may be short enough.
 */
bool
sk_ddl_keeps_length(FuncExpr *cast)
{
	SkType		type = sk_ddl_type_class(cast->funcresulttype);
	Const	   *value = without_casts(linitial(cast->args));
	int32		typmod;
	int			scale;
	char	   *written;
	Oid			output;
	bool		is_varlena;

	if (!exprIsLengthCoercion((Node *) cast, &typmod) || typmod < 0)
		return true;
	if ((type == SK_TYPE_STRING && cast->funcformat == COERCE_IMPLICIT_CAST) ||
		(type == SK_TYPE_TIMESTAMP && typmod >= MAX_TIMESTAMP_PRECISION) ||
		(type == SK_TYPE_NUMERIC && typmod == NUMERIC_TYPMOD(38, 9)))
		return true;
	if (!IsA(value, Const) || (sk_ddl_type_class(value->consttype) != type &&
							   (type != SK_TYPE_NUMERIC || sk_ddl_type_class(value->consttype) != SK_TYPE_INT)))
		return false;
	if (value->constisnull)
		return true;
	getTypeOutputInfo(value->consttype, &output, &is_varlena);
	written = OidOutputFunctionCall(output, value->constvalue);

	typmod -= VARHDRSZ;
	if (type == SK_TYPE_STRING)
		return pg_mbstrlen(written) <= typmod;
	if (type != SK_TYPE_NUMERIC)
		return false;
	scale = ((typmod & 0x7ff) ^ 1024) - 1024;
	written += strspn(written, "-");

	/* with its point */
	return (int) strcspn(written, ".") <= (typmod >> 16) - scale &&
		(int) strlen(written + strcspn(written, ".")) <= scale + 1;
}

/* What is cast to another type, not to a length. */
static void *
without_casts(Node *node)
{
	int32		typmod;

	while (IsA(node, RelabelType) ||
		   (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat != COERCE_EXPLICIT_CALL &&
			list_length(((FuncExpr *) node)->args) == 1 && !exprIsLengthCoercion(node, &typmod)))
		node = IsA(node, RelabelType) ? (Node *) ((RelabelType *) node)->arg : linitial(((FuncExpr *) node)->args);
	return node;
}

/*
 * sk_ddl_is_same_array
 *		Has an array the same elements after a cast?
 */
bool
sk_ddl_is_same_array(ArrayCoerceExpr *cast)
{
	Oid			from = get_element_type(exprType((Node *) cast->arg));
	Oid			to = get_element_type(cast->resulttype);
	int32		typmod;

	if (!sk_ddl_is_same_value(from, to))
		return false;
	return !exprIsLengthCoercion((Node *) cast, &typmod) || typmod < 0 ||
		(sk_ddl_type_class(to) == SK_TYPE_STRING && cast->coerceformat == COERCE_IMPLICIT_CAST) ||
		(sk_ddl_type_class(to) == SK_TYPE_NUMERIC && typmod == NUMERIC_TYPMOD(38, 9));
}

/*
 * sk_ddl_is_same_value
 *		Is a value of one type the same as that of another one?
 */
bool
sk_ddl_is_same_value(Oid from, Oid to)
{
	SkType		type = sk_ddl_type_class(from);

	return type == sk_ddl_type_class(to) && type != SK_TYPE_UNKNOWN;
}
