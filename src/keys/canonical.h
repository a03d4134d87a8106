/*-------------------------------------------------------------------------
 *
 * canonical.h
 *	  Canonical text of a key value.
 *
 * src/keys/canonical.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_CANONICAL_H
#define SK_CANONICAL_H

/*
 * How the value of a key turns into text; found once per call site.  All but
 * the first are the rows of the table of canonical.c.
 */
typedef enum SkKeyKind
{
	SK_KEY_UNSUPPORTED,
	SK_KEY_INT2,
	SK_KEY_INT4,
	SK_KEY_INT8,
	SK_KEY_NUMERIC,
	SK_KEY_FLOAT4,
	SK_KEY_FLOAT8,
	SK_KEY_TEXT,
	SK_KEY_VARCHAR,
	SK_KEY_BPCHAR,
	SK_KEY_NAME,
	SK_KEY_BYTEA,
	SK_KEY_BOOL,
	SK_KEY_UUID,
	SK_KEY_DATE,
	SK_KEY_TIMESTAMP,
	SK_KEY_TIMESTAMPTZ,
	SK_KEY_ENUM,
	SK_KEY_CSTRING
} SkKeyKind;

/* Room for every text that is formatted in place: numbers, times, labels. */
#define SK_KEY_SPACE 64

/* The longest list of shards that shard_ids() makes without being asked for. */
#define SK_MAX_SHARD_LIST 65536

/* The most keys that one call of it computes the shards of. */
#define SK_MAX_COMBINATIONS 1000000

/* A canonical text: bytes of the value itself, of "space" or of "copy". */
typedef struct SkKeyText
{
	const char *data;
	Size		len;
	void	   *copy;			/* to be freed, or NULL */
	char		space[SK_KEY_SPACE];
} SkKeyText;

extern SkKeyKind sk_key_kind(Oid type);
extern char *sk_key_type_names(void);
extern void sk_key_text(SkKeyKind kind, Datum value, SkKeyText *key);
extern void sk_key_text_release(SkKeyText *key);
extern uint64 sk_key_fingerprint(SkKeyKind kind, Datum value);

#endif							/* SK_CANONICAL_H */
