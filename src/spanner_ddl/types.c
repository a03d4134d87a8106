/*-------------------------------------------------------------------------
 *
 * types.c
 *	  Spanner's types, and casts between them.
 *
 * src/spanner_ddl/types.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "spanner_ddl/spanner_ddl.h"

/* A type, in one of the dialects or in both. */
typedef struct SkTypeEntry
{
	const char *name;
	const char *postgresql;
	SkType		type;
	int			max_length;		/* 0: it has none */
	char		dialect;		/* 'g', 'p', or 'b' for both */
} SkTypeEntry;

static const SkTypeEntry types[] = {
	{"int64", "bigint", SK_TYPE_INT, 0, 'g'},
	{"float64", "double precision", SK_TYPE_FLOAT, 0, 'g'},
	{"float32", "real", SK_TYPE_FLOAT32, 0, 'g'},
	{"bool", "boolean", SK_TYPE_BOOL, 0, 'b'},
	{"string", "text", SK_TYPE_STRING, 2621440, 'g'},
	{"bytes", "bytea", SK_TYPE_BYTES, 10485760, 'g'},
	{"timestamp", "timestamptz", SK_TYPE_TIMESTAMP, 0, 'g'},
	{"date", "date", SK_TYPE_DATE, 0, 'b'},
	{"numeric", "numeric(38,9)", SK_TYPE_NUMERIC, 0, 'g'},
	{"json", "jsonb", SK_TYPE_JSON, 0, 'g'},
	{"uuid", "uuid", SK_TYPE_UUID, 0, 'b'},
	{"pg.numeric", "numeric", SK_TYPE_NUMERIC, 0, 'g'},
	{"pg.jsonb", "jsonb", SK_TYPE_JSON, 0, 'g'},
	{"bigint", "bigint", SK_TYPE_INT, 0, 'p'},
	{"int8", "bigint", SK_TYPE_INT, 0, 'p'},
	{"integer", "integer", SK_TYPE_INT, 0, 'p'},
	{"int", "integer", SK_TYPE_INT, 0, 'p'},
	{"int4", "integer", SK_TYPE_INT, 0, 'p'},
	{"smallint", "smallint", SK_TYPE_INT, 0, 'p'},
	{"int2", "smallint", SK_TYPE_INT, 0, 'p'},
	{"bigserial", "bigserial", SK_TYPE_INT, 0, 'p'},
	{"serial8", "bigserial", SK_TYPE_INT, 0, 'p'},
	{"serial", "serial", SK_TYPE_INT, 0, 'p'},
	{"serial4", "serial", SK_TYPE_INT, 0, 'p'},
	{"smallserial", "smallserial", SK_TYPE_INT, 0, 'p'},
	{"serial2", "smallserial", SK_TYPE_INT, 0, 'p'},
	{"real", "real", SK_TYPE_FLOAT32, 0, 'p'},
	{"float4", "real", SK_TYPE_FLOAT32, 0, 'p'},
	{"float8", "double precision", SK_TYPE_FLOAT, 0, 'p'},
	{"double precision", "double precision", SK_TYPE_FLOAT, 0, 'p'},
	{"boolean", "boolean", SK_TYPE_BOOL, 0, 'p'},
	{"text", "text", SK_TYPE_STRING, 0, 'p'},
	{"varchar", "text", SK_TYPE_STRING, 2621440, 'p'},
	{"character varying", "text", SK_TYPE_STRING, 2621440, 'p'},
	{"bytea", "bytea", SK_TYPE_BYTES, 0, 'p'},
	{"timestamptz", "timestamptz", SK_TYPE_TIMESTAMP, 0, 'p'},
	{"timestamp with time zone", "timestamptz", SK_TYPE_TIMESTAMP, 0, 'p'},
	{"spanner.commit_timestamp", "spanner.commit_timestamp", SK_TYPE_TIMESTAMP, 0, 'p'},
	{"numeric", "numeric", SK_TYPE_NUMERIC, 0, 'p'},
	{"decimal", "numeric", SK_TYPE_NUMERIC, 0, 'p'},
	{"jsonb", "jsonb", SK_TYPE_JSON, 0, 'p'}
};

/* A cast, as functions.c writes calls. */
static const struct
{
	SkType		from;
	SkType		to;
	const char *sql;
}			casts[] =

{
	{SK_TYPE_BOOL, SK_TYPE_INT, "%1::integer::bigint"},
	{SK_TYPE_BOOL, SK_TYPE_STRING, "%1::text"},
	{SK_TYPE_BYTES, SK_TYPE_STRING, "spanner_internal.bytes_to_string($1)"},
	{SK_TYPE_DATE, SK_TYPE_STRING, "pg_catalog.\"left\"(spanner.timestamp_to_string(%1::timestamp AT TIME ZONE 'UTC'), 10)"},
	{SK_TYPE_DATE, SK_TYPE_TIMESTAMP, "(%1::timestamp AT TIME ZONE %Z)"},
	{SK_TYPE_FLOAT, SK_TYPE_FLOAT32, "%1::real"},
	{SK_TYPE_FLOAT, SK_TYPE_INT, "spanner_internal.float_to_int($1)"},
	{SK_TYPE_FLOAT, SK_TYPE_NUMERIC, "spanner_internal.float_to_numeric($1)"},
	{SK_TYPE_FLOAT32, SK_TYPE_FLOAT, "%1::double precision"},
	{SK_TYPE_FLOAT32, SK_TYPE_INT, "spanner_internal.float_to_int($1)"},
	{SK_TYPE_FLOAT32, SK_TYPE_NUMERIC, "spanner_internal.float_to_numeric($1)"},
	{SK_TYPE_INT, SK_TYPE_BOOL, "(%1 <> 0)"},
	{SK_TYPE_INT, SK_TYPE_FLOAT, "%1::double precision"},
	{SK_TYPE_INT, SK_TYPE_FLOAT32, "%1::real"},
	{SK_TYPE_INT, SK_TYPE_NUMERIC, "%1::numeric"},
	{SK_TYPE_INT, SK_TYPE_STRING, "%1::text"},
	{SK_TYPE_NUMERIC, SK_TYPE_FLOAT, "%1::double precision"},
	{SK_TYPE_NUMERIC, SK_TYPE_FLOAT32, "%1::real"},
	{SK_TYPE_NUMERIC, SK_TYPE_INT, "%1::bigint"},
	{SK_TYPE_NUMERIC, SK_TYPE_STRING, "pg_catalog.trim_scale($1)::text"},
	{SK_TYPE_STRING, SK_TYPE_BOOL, "%1::boolean"},
	{SK_TYPE_STRING, SK_TYPE_BYTES, "spanner_internal.string_to_bytes($1)"},
	{SK_TYPE_STRING, SK_TYPE_DATE, "%1::date"},
	{SK_TYPE_STRING, SK_TYPE_FLOAT, "%1::double precision"},
	{SK_TYPE_STRING, SK_TYPE_FLOAT32, "%1::real"},
	{SK_TYPE_STRING, SK_TYPE_INT, "%1::bigint"},
	{SK_TYPE_STRING, SK_TYPE_NUMERIC, "%1::numeric(38,9)"},
	{SK_TYPE_STRING, SK_TYPE_UUID, "%1::uuid"},
	{SK_TYPE_TIMESTAMP, SK_TYPE_DATE, "(%1 AT TIME ZONE %Z)::date"},
	{SK_TYPE_TIMESTAMP, SK_TYPE_STRING, "spanner.timestamp_to_string($1, %z)"},
	{SK_TYPE_UUID, SK_TYPE_STRING, "%1::text"}
};

/*
 * sk_ddl_type
 *		Append PostgreSQL's name of a type to "out", and return its class.
 */
SkType
sk_ddl_type(SkDdlText *ddl, const SkTypeName *name, StringInfo out)
{
	const SkTypeEntry *entry = NULL;

	for (int i = 0; i < lengthof(types) && entry == NULL; i++)
	{
		if (strcmp(types[i].name, name->name) == 0 &&
			(types[i].dialect != 'g' || ddl->dialect == SK_GOOGLESQL) &&
			(types[i].dialect != 'p' || ddl->dialect == SK_POSTGRESQL))
			entry = &types[i];
	}
	if (entry == NULL)
		SK_DDL_ERROR(ddl, name->at, ERRCODE_FEATURE_NOT_SUPPORTED,
					 errmsg("Type <%s> is not supported.", name->name),
					 strcmp(name->name, "timestamp") == 0 ? errhint("Use timestamptz.") : 0);
	if ((name->length != 0 && entry->max_length == 0) || name->scale != 0 ||
		(name->length == 0 && entry->max_length != 0 && entry->dialect == 'g'))
		SK_DDL_ERROR(ddl, name->at, ERRCODE_SYNTAX_ERROR,
					 entry->max_length == 0 ? errmsg("type \"%s\" has no length", name->name) :
					 errmsg("type \"%s\" needs a length, or MAX", name->name));
	if (name->length < -1 || (name->length > entry->max_length && entry->max_length != 0))
		SK_DDL_ERROR(ddl, name->at, ERRCODE_INVALID_PARAMETER_VALUE,
					 errmsg("length of type \"%s\" must be between 1 and %d",
							name->name, entry->max_length));
	if (entry->type == SK_TYPE_STRING && name->length > 0)
		appendStringInfo(out, "varchar(%d)", (int) name->length);
	else
		appendStringInfoString(out, entry->postgresql);
	if (name->is_array)
		appendStringInfoString(out, "[]");
	return name->is_array ? SK_TYPE_ARRAY : entry->type;
}

/*
 * sk_ddl_type_class
 *		The class of a column's type.
 */
SkType
sk_ddl_type_class(Oid type)
{
	/* an expression that is read may be older than a DROP TYPE */
	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
		return SK_TYPE_UNKNOWN;
	switch (getBaseType(type))
	{
		case BOOLOID:
			return SK_TYPE_BOOL;
		case BYTEAOID:
			return SK_TYPE_BYTES;
		case DATEOID:
			return SK_TYPE_DATE;
		case FLOAT4OID:
			return SK_TYPE_FLOAT32;
		case FLOAT8OID:
			return SK_TYPE_FLOAT;
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return SK_TYPE_INT;
		case INTERVALOID:
			return SK_TYPE_INTERVAL;
		case JSONBOID:
			return SK_TYPE_JSON;
		case NUMERICOID:
			return SK_TYPE_NUMERIC;
		case TEXTOID:
		case VARCHAROID:
			return SK_TYPE_STRING;
		case TIMESTAMPTZOID:
			return SK_TYPE_TIMESTAMP;
		case UUIDOID:
			return SK_TYPE_UUID;
		default:
			return OidIsValid(get_element_type(type)) ? SK_TYPE_ARRAY : SK_TYPE_UNKNOWN;
	}
}

/*
 * sk_ddl_type_name
 *		GoogleSQL's name of a class: the first one.
 */
const char *
sk_ddl_type_name(SkType type)
{
	for (int i = 0; i < lengthof(types); i++)
	{
		if (types[i].type == type)
			return asc_toupper(types[i].name, strlen(types[i].name));
	}
	return "ARRAY";
}

/*
 * sk_ddl_cast
 *		How values of one class become those of another; NULL if they do not.
 */
const char *
sk_ddl_cast(SkType from, SkType to)
{
	for (int i = 0; i < lengthof(casts); i++)
	{
		if (casts[i].from == from && casts[i].to == to)
			return casts[i].sql;
	}
	return from == to ? "%1" : NULL;
}

/*
 * sk_ddl_cast_backward
 *		What a function of ours casts to; SK_TYPE_UNKNOWN if it is no cast.
 */
SkType
sk_ddl_cast_backward(const char *function, SkType from)
{
	const char *call = psprintf("%s($1)", function);

	for (int i = 0; i < lengthof(casts); i++)
	{
		if (casts[i].from == from && strcmp(casts[i].sql, call) == 0)
			return casts[i].to;
	}
	return SK_TYPE_UNKNOWN;
}

bool
sk_ddl_is_number(SkType type)
{
	return type == SK_TYPE_INT || type == SK_TYPE_NUMERIC || type == SK_TYPE_FLOAT32 ||
		type == SK_TYPE_FLOAT;
}

/*
 * sk_ddl_common_type
 *		The type of what may be a value of either type.
 */
SkType
sk_ddl_common_type(SkType a, SkType b)
{
	static const char numbers[] = {SK_TYPE_INT, SK_TYPE_NUMERIC, SK_TYPE_FLOAT32, SK_TYPE_FLOAT, '\0'};

	if (a == SK_TYPE_UNKNOWN)
		return b;
	if (!sk_ddl_is_number(a) || !sk_ddl_is_number(b))
		return a;
	return strchr(numbers, a) > strchr(numbers, b) ? a : b;
}
