/*-------------------------------------------------------------------------
 *
 * fuzz_canonical.c
 *	  Fuzz target: the canonical text of a key is what it is said to be.
 *
 * The first byte of an input is the kind of the key, the second how it is
 * stored, the third the settings of the session, the fourth the encoding of
 * the database; the others make the value.  What the text has to be comes
 * from the type's own functions.
 *
 * test/fuzz/server/fuzz_canonical.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/toast_compression.h"
#include "access/toast_internals.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "fuzz_server.h"
#include "keys/canonical.h"

#define FUZZ_HEADER 4

/* More zeros than that only cost time. */
#define FUZZ_MAX_EXPONENT 300

/* The canonical text of a value; it ends with a zero byte. */
typedef struct FuzzKey
{
	char	   *data;
	Size		len;
} FuzzKey;

static const int encodings[] = {
	PG_UTF8, PG_SQL_ASCII, PG_LATIN1, PG_WIN1252, PG_WIN1258, PG_KOI8R,
	PG_EUC_JP, PG_EUC_CN, PG_EUC_KR, PG_EUC_TW, PG_EUC_JIS_2004
};

extern PGDLLEXPORT Datum spanner_timestamp_to_string(PG_FUNCTION_ARGS);

/* The value, malloc'd so that the sanitizer sees its end. */
static void *stored = NULL;

static void
set_setting(const char *name, const char *value)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SET, true, 0, false);
}

/* Settings that change the output of types. */
static void
change_settings(uint8 choice)
{
	static const char *const zones[] = {
		"UTC", "America/New_York", "Asia/Kolkata", "<+14>-14", "Africa/Monrovia"
	};
	static const char *const styles[] = {
		"ISO, MDY", "SQL, DMY", "Postgres, YMD", "German, DMY"
	};

	set_setting("TimeZone", zones[choice % lengthof(zones)]);
	set_setting("DateStyle", styles[choice / 8 % lengthof(styles)]);
	set_setting("extra_float_digits", choice & 64 ? "-15" : "1");
	set_setting("bytea_output", choice & 128 ? "escape" : "hex");
}

static FuzzKey
key_text(SkKeyKind kind, Datum value)
{
	SkKeyText  *key = malloc(sizeof(SkKeyText));
	FuzzKey		result;

	sk_key_text(kind, value, key);
	fuzz_check(key->data != key->space || key->len <= SK_KEY_SPACE);
	result.data = palloc0(key->len + 1);
	memcpy(result.data, key->data, key->len);
	result.len = key->len;
	sk_key_text_release(key);
	fuzz_check(key->copy == NULL);
	free(key);
	return result;
}

/* The text of a value, which no setting may change. */
static FuzzKey
settled_text(SkKeyKind kind, Datum value, uint8 settings)
{
	FuzzKey		before = key_text(kind, value);
	FuzzKey		after;

	change_settings(settings);
	after = key_text(kind, value);
	fuzz_check(before.len == after.len &&
			   memcmp(before.data, after.data, after.len) == 0);
	return after;
}

static void
check_equal(FuzzKey key, const char *expected, Size len)
{
	if (key.len != len || memcmp(key.data, expected, len) != 0)
		fprintf(stderr, "is \"%s\", not \"%.*s\"\n", key.data, (int) len,
				expected);
	fuzz_check(key.len == len);
	fuzz_check(memcmp(key.data, expected, len) == 0);
}

static void
check_output(FuzzKey key, PGFunction output, Datum value)
{
	char	   *expected = DatumGetCString(DirectFunctionCall1(output, value));

	check_equal(key, expected, strlen(expected));
}

/* Years before 1 are 0000, -0001, ... in a key, and 1 BC, 2 BC in the server. */
static char *
server_time(const char *key)
{
	char	   *rest;
	long		year = strtol(key, &rest, 10);

	if (rest == key || year > 0)
		return pstrdup(key);
	return psprintf("%04ld%s BC", 1 - year, rest);
}

/* A fraction has three digits, or six that do not end with 000. */
static void
check_fraction(const char *key)
{
	const char *point = strchr(key, '.');
	Size		digits = point != NULL ? strspn(point + 1, "0123456789") : 0;

	fuzz_check(point == NULL || digits == 3 || digits == 6);
	if (digits != 0)
		fuzz_check(strncmp(point + digits - 2, "000", 3) != 0);
}

static Datum
read_time(PGFunction input, const char *key)
{
	check_fraction(key);
	return DirectFunctionCall3(input, CStringGetDatum(server_time(key)),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

static void
check_timestamp(SkKeyKind kind, int64 value, uint8 settings, int16 zone)
{
	PGFunction	input = kind == SK_KEY_TIMESTAMP ? timestamp_in : timestamptz_in;
	int			offset = zone % (14 * MINS_PER_HOUR + 1);
	Timestamp	local;
	FmgrInfo	to_string = {.fn_addr = spanner_timestamp_to_string,.fn_nargs = 2,
	.fn_strict = true,.fn_mcxt = CurrentMemoryContext};
	char	   *name;
	Datum		written;
	FuzzKey		key;

	/* negative numbers of which most are no times */
	if (value < MIN_TIMESTAMP && value != DT_NOBEGIN)
		value %= -MIN_TIMESTAMP;
	if (!IS_VALID_TIMESTAMP(value) && !TIMESTAMP_NOT_FINITE(value))
		return;
	key = settled_text(kind, TimestampGetDatum(value), settings);
	fuzz_check(DatumGetTimestamp(read_time(input, key.data)) == value);

	local = value + (TIMESTAMP_NOT_FINITE(value) ? 0 : offset * USECS_PER_MINUTE);
	if (!IS_VALID_TIMESTAMP(local) && !TIMESTAMP_NOT_FINITE(local))
		return;
	name = psprintf("%c%02d:%02d", offset < 0 ? '-' : '+',
					abs(offset) / MINS_PER_HOUR, abs(offset) % MINS_PER_HOUR);
	written = FunctionCall2(&to_string, TimestampTzGetDatum(value),
							CStringGetTextDatum(name));
	fuzz_check(DatumGetTimestampTz(read_time(timestamptz_in, TextDatumGetCString(written))) == value);
}

static void
check_date(DateADT value, uint8 settings)
{
	FuzzKey		key;
	Datum		again;

	if (!IS_VALID_DATE(value) && !DATE_NOT_FINITE(value))
		return;
	key = settled_text(SK_KEY_DATE, DateADTGetDatum(value), settings);
	again = DirectFunctionCall1(date_in, CStringGetDatum(server_time(key.data)));
	fuzz_check(DatumGetDateADT(again) == value);
}

/* How many digits of a number count. */
static int
count_digits(const char *number)
{
	int			digits = 0;
	int			zeros = 0;

	for (; *number != '\0' && *number != 'e'; number++)
	{
		if (*number == '0' && digits > 0)
			zeros++;
		else if (*number > '0' && *number <= '9')
		{
			digits += zeros + 1;
			zeros = 0;
		}
	}
	return digits;
}

/* The text is read back as the value, and no text of fewer digits is. */
static void
check_float(SkKeyKind kind, Datum datum, double value, uint8 settings)
{
	FuzzKey		key = settled_text(kind, datum, settings);
	int			digits = count_digits(key.data);
	double		again = strtod(key.data, NULL);
	char	   *server;

	if (isnan(value))
	{
		check_equal(key, "NaN", 3);
		return;
	}
	fuzz_check(again == value);
	if (value == 0)
		check_equal(key, "0", 1);
	if (value == 0 || isinf(value))
		return;

	for (int fewer = 1; fewer < digits; fewer++)
	{
		char		shorter[SK_KEY_SPACE];

		snprintf(shorter, sizeof(shorter), "%.*e", fewer - 1, value);
		fuzz_check(strtod(shorter, NULL) != value);
	}
	set_setting("extra_float_digits", "1");
	server = DatumGetCString(DirectFunctionCall1(float8out,
												 Float8GetDatum(value)));
	if (strcmp(server, key.data) != 0)
		fuzz_check(digits < count_digits(server));
}

/* Copy a varlena value with a header of another kind. */
static Datum
store(struct varlena *value, uint8 form)
{
	struct varlena *compressed = NULL;
	Size		len = VARSIZE(value) - VARHDRSZ;

	if (form % 3 == 1 && len <= VARATT_SHORT_MAX - VARHDRSZ_SHORT)
	{
		stored = malloc(VARHDRSZ_SHORT + len);
		SET_VARSIZE_SHORT(stored, VARHDRSZ_SHORT + len);
		memcpy(VARDATA_SHORT(stored), VARDATA(value), len);
		return PointerGetDatum(stored);
	}
	if (form % 3 == 2)
		compressed = (struct varlena *)
			DatumGetPointer(toast_compress_datum(PointerGetDatum(value),
												 TOAST_PGLZ_COMPRESSION));
	if (compressed != NULL)
		value = compressed;
	stored = malloc(VARSIZE_ANY(value));
	memcpy(stored, value, VARSIZE_ANY(value));
	return PointerGetDatum(stored);
}

/* The value that a text stands for, or NULL; each byte is a character of it. */
static Numeric
read_numeric(const uint8 *data, Size size)
{
	static const char characters[] = "0123456789.-+e";
	MemoryContext context = CurrentMemoryContext;
	char	   *number = palloc(size + 1);
	char	   *e;
	long		exponent;
	Datum		result = (Datum) 0;

	for (Size i = 0; i < size; i++)
		number[i] = characters[data[i] % (sizeof(characters) - 1)];
	number[size] = '\0';
	e = strchr(number, 'e');
	exponent = e != NULL ? strtol(e + 1, NULL, 10) : 0;
	if (exponent < -FUZZ_MAX_EXPONENT || exponent > FUZZ_MAX_EXPONENT)
		return NULL;
	if (size == 0)
		number = "NaN";
	else if (size == 1)
		number = data[0] & 1 ? "Infinity" : "-Infinity";

	PG_TRY();
	{
		result = DirectFunctionCall3(numeric_in, CStringGetDatum(number),
									 ObjectIdGetDatum(InvalidOid),
									 Int32GetDatum(-1));
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
	}
	PG_END_TRY();
	return result == (Datum) 0 ? NULL : DatumGetNumeric(result);
}

/* The server's text without zeros that do not count. */
static void
check_numeric(const uint8 *data, Size size, uint8 form, uint8 settings)
{
	Numeric		value = read_numeric(data, size);
	FuzzKey		key;
	char	   *expected;

	if (value == NULL)
		return;
	expected = DatumGetCString(DirectFunctionCall1(numeric_out,
												   NumericGetDatum(value)));
	if (strchr(expected, '.') != NULL)
	{
		char	   *end = expected + strlen(expected);

		while (end[-1] == '0')
			*--end = '\0';
		if (end[-1] == '.')
			*--end = '\0';
	}
	key = settled_text(SK_KEY_NUMERIC, store((struct varlena *) value, form),
					   settings);
	check_equal(key, expected, strlen(expected));
}

/* A text in UTF-8, converted in one piece, or its bytes if that fails. */
static FuzzKey
utf8_text(const uint8 *data, Size size, int encoding)
{
	MemoryContext context = CurrentMemoryContext;
	FuzzKey		result;
	unsigned char *converted = NULL;
	bool		is_ascii = true;

	for (Size i = 0; i < size; i++)
	{
		if (IS_HIGHBIT_SET(data[i]))
			is_ascii = false;
	}
	result.data = pnstrdup((const char *) data, size);
	result.len = size;
	if (is_ascii || encoding == PG_UTF8 || encoding == PG_SQL_ASCII)
		return result;

	PG_TRY();
	{
		converted = pg_do_encoding_conversion((unsigned char *) result.data,
											  size, encoding, PG_UTF8);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		FlushErrorState();
	}
	PG_END_TRY();
	if (converted != NULL)
	{
		result.data = (char *) converted;
		result.len = strlen(result.data);
	}
	return result;
}

static void
check_text(SkKeyKind kind, const uint8 *data, Size size, uint8 form,
		   uint8 settings)
{
	FuzzKey		expected;
	Datum		value;

	size = strnlen((const char *) data, size);
	if (kind == SK_KEY_NAME)
	{
		size = Min(size, NAMEDATALEN - 1);
		stored = calloc(1, NAMEDATALEN);
		memcpy(stored, data, size);
		value = NameGetDatum((Name) stored);
	}
	else if (kind == SK_KEY_CSTRING)
	{
		stored = calloc(1, size + 1);
		memcpy(stored, data, size);
		value = CStringGetDatum(stored);
	}
	else
		value = store(cstring_to_text_with_len((const char *) data, size), form);

	if (kind == SK_KEY_BPCHAR)
	{
		while (size > 0 && data[size - 1] == ' ')
			size--;
	}
	expected = utf8_text(data, size, GetDatabaseEncoding());
	check_equal(settled_text(kind, value, settings), expected.data,
				expected.len);
}

static void
check_integer(SkKeyKind kind, int64 number, uint8 settings)
{
	Datum		value = Int64GetDatum(number);
	PGFunction	output = int8out;

	if (kind == SK_KEY_INT2)
	{
		value = Int16GetDatum((int16) number);
		output = int2out;
	}
	else if (kind == SK_KEY_INT4)
	{
		value = Int32GetDatum((int32) number);
		output = int4out;
	}
	check_output(settled_text(kind, value, settings), output, value);
}

static void
check_bytea(const uint8 *data, Size size, uint8 form, uint8 settings)
{
	struct varlena *value = cstring_to_text_with_len((const char *) data, size);

	check_equal(settled_text(SK_KEY_BYTEA, store(value, form), settings),
				(const char *) data, size);
}

static void
check_bool(bool value, uint8 settings)
{
	const char *expected = value ? "true" : "false";

	check_equal(settled_text(SK_KEY_BOOL, BoolGetDatum(value), settings),
				expected, strlen(expected));
}

/* Values of a fixed size, from the first bytes of "data". */
static void
check_fixed(SkKeyKind kind, const uint8 *data, Size size, uint8 settings)
{
	struct
	{
		union
		{
			int64		integer;
			float		single;
			double		number;
			pg_uuid_t	uuid;
		}			value;
		int16		zone;
	}			input = {0};
	Datum		uuid = UUIDPGetDatum(&input.value.uuid);

	memcpy(&input, data, Min(size, sizeof(input)));
	if (kind == SK_KEY_BOOL)
		check_bool(input.value.integer & 1, settings);
	else if (kind == SK_KEY_DATE)
		check_date((DateADT) input.value.integer, settings);
	else if (kind == SK_KEY_FLOAT4)
		check_float(kind, Float4GetDatum(input.value.single),
					input.value.single, settings);
	else if (kind == SK_KEY_FLOAT8)
		check_float(kind, Float8GetDatum(input.value.number),
					input.value.number, settings);
	else if (kind == SK_KEY_TIMESTAMP || kind == SK_KEY_TIMESTAMPTZ)
		check_timestamp(kind, input.value.integer, settings, input.zone);
	else if (kind == SK_KEY_UUID)
		check_output(settled_text(kind, uuid, settings), uuid_out, uuid);
	else
		check_integer(kind, input.value.integer, settings);
}

static void
run(const uint8 *data, Size size)
{
	SkKeyKind	kind;
	uint8		form;
	uint8		settings;

	if (size < FUZZ_HEADER)
		return;
	kind = data[0] % (SK_KEY_CSTRING + 1);
	form = data[1];
	settings = data[2];
	SetDatabaseEncoding(encodings[data[3] % lengthof(encodings)]);
	data += FUZZ_HEADER;
	size -= FUZZ_HEADER;
	free(stored);
	stored = NULL;

	switch (kind)
	{
		case SK_KEY_BPCHAR:
		case SK_KEY_CSTRING:
		case SK_KEY_NAME:
		case SK_KEY_TEXT:
		case SK_KEY_VARCHAR:
			check_text(kind, data, size, form, settings);
			break;
		case SK_KEY_BYTEA:
			check_bytea(data, size, form, settings);
			break;
		case SK_KEY_NUMERIC:
			check_numeric(data, size, form, settings);
			break;
		case SK_KEY_ENUM:
		case SK_KEY_UNSUPPORTED:
			break;
		default:
			check_fixed(kind, data, size, settings);
	}
}

/* No value makes an error. */
static void
judge(const ErrorData *error)
{
	fprintf(stderr, "ERROR: %s, at %s:%d\n", error->message, error->filename,
			error->lineno);
	fuzz_fail("no error", __FILE__, __LINE__);
}

const FuzzTarget fuzz_canonical = {"canonical", run, judge, NULL};
