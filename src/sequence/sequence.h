/*-------------------------------------------------------------------------
 *
 * sequence.h
 *	  Kinds, sequences and their columns, and what the files of the module offer
 *	  to each other.
 *
 * src/sequence/sequence.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_SEQUENCE_H
#define SK_SEQUENCE_H

#include "access/attnum.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_sequence.h"
#include "nodes/primnodes.h"
#include "storage/lockdefs.h"

#include "sequence/label.h"
#include "spi/own_objects.h"

/* kind.c */

/* Kind of a sequence with a plain counter. */
#define SK_LOCAL_KIND "local"

/* One bit has no value between 1 and 2^bits - 2. */
#define SK_MIN_BITS 2

/*
 * How many counters in a row may be skipped before a sequence counts as
 * exhausted.  This is the limit of the Spanner emulator.
 */
#define SK_MAX_ATTEMPTS 2000

/* One of so many counters has to give a value at least. */
#define SK_LEAST_DENSITY 200

typedef struct SkKind
{
	const SequenceAccessMethod *am;
	SkSequenceOptions *options;
} SkKind;

extern char *sk_default_sequence_kind(bool is_owned);
extern const SequenceAccessMethod *sk_sequence_am_get(const char *kind,
													  bool missing_ok);

extern SkLabel *sk_label_parse_kind(const char *text);
extern SkKind *sk_kind_make(const SkLabel *label, int width);
extern SkLabel *sk_kind_parts(const SkKind *kind);
extern SkRange sk_option_range(const SkOption *option);
extern bool sk_kind_reaches_value(const SkKind *kind, int64 start);
extern bool sk_kind_overlaps(const SkKind *kind,
							 const FormData_pg_sequence *form);

static inline bool
sk_has_value(const SkSequenceOptions *options, int64 counter)
{
	return counter >= 1 && counter <= options->max_counter;
}

/* Is it in [1, 2^bits - 2]?  Runs for every value, and trusts no access method. */
static inline bool
sk_is_in_range(const SkSequenceOptions *options, int64 value)
{
	return (uint64) value - 1 < (UINT64CONST(1) << options->bits) - 2;
}

static inline bool
sk_is_skipped(const SkSequenceOptions *options, int64 value)
{
	return (value <= options->skip_range.max && value >= options->skip_range.min) ||
		(value <= options->given.max && value >= options->given.min);
}

/* sequence.c */

/* Provider of our security labels. */
#define SK_LABEL_PROVIDER "spanner_keys"

/* Citus gives each group of nodes so many counters; the coordinator has group 0. */
#define SK_CITUS_RANGE (INT64CONST(1) << 48)

/* Why a sequence cannot have a kind. */
typedef struct SkRestriction
{
	const char *message;		/* of an error, names the sequence by %s */
	const char *detail;
	const char *hint;
} SkRestriction;

typedef struct SkSequence
{
	Oid			seqid;
	FormData_pg_sequence form;
	int			width;			/* value bits of its type: 15, 31 or 63 */
	List	   *stored;			/* see sk_storing_columns() */
	List	   *columns;		/* the same, as they can be altered: in the
								 * tables that they are inherited from */
	ObjectAddress *narrowest;	/* of them, NULL if there is none */
	int			column_width;	/* its value bits, or 63 */
	Oid			table;			/* that owns it, InvalidOid if none does */
	AttrNumber	column;
	SkIdentity	identity;		/* of that column, as core sees it */
	SkKind	   *kind;			/* NULL: it has a plain counter */
	char	   *lost_kind;		/* or a kind whose library is missing */
	SkKind	   *former;			/* without a kind: the one that it had before
								 * and that has given values */
	SkRange		given;			/* what must not come again, by its label */
	int64		last_of_nodes;	/* of plain counters on other nodes, or 0 */
	int64		next;			/* the next counter */
	bool		is_called;		/* it was fetched since a restart */
	bool		used;			/* as Spanner's state has it: the counter is
								 * not at START */
} SkSequence;

extern void sk_sequence_check_relkind(Oid relid);
extern FormData_pg_sequence sk_sequence_form(Oid seqid);
extern bool sk_sequence_owner(Oid seqid, Oid *table, int32 *column);
extern char *sk_sequence_label(Oid seqid);
extern SkIdentity sk_sequence_identity(Oid seqid);
extern List *sk_dependents(Oid relid, Oid classid);
extern const SkRestriction *sk_sequence_restriction(const FormData_pg_sequence *form);
extern void sk_sequence_check_mappable(Oid seqid);
extern const SkRestriction *sk_clock_restriction(Oid seqid, Oid table);

extern int	sk_type_width(Oid type);
extern int	sk_column_width(Oid relid, AttrNumber attnum);
extern Oid	sk_named_relation(const char *name, Oid schema);
extern Oid	sk_fetched_sequence(Node *expr, Oid schema);
extern Oid	sk_called_sequence(Node *expr, Oid schema);
extern Oid	sk_column_sequence(Oid table, AttrNumber column);

extern SkSequence *sk_sequence_read(Oid seqid);
extern List *sk_storing_columns(Oid seqid, bool reports);
extern void sk_sequence_fill(SkSequence *seq, Oid table, AttrNumber column);
extern bool sk_kind_has_given(const SkSequence *seq);
extern ObjectAddress *sk_narrowest_column(List *columns, int *width);
extern List *sk_referring_columns(const SkSequence *seq);
extern void sk_find_nodes(SkSequence *seq);
extern void sk_report_overlap(const SkSequence *seq, const SkKind *kind);
extern List *sk_list_labelled(bool one_sequence);

/* Have a label without bits give no values that the columns do not hold. */
static inline void
sk_fit_columns(const SkSequence *seq, SkLabel *label)
{
	if (seq->column_width < seq->width &&
		sk_label_option(label->options, "bits") == NULL)
		sk_label_set_int64(label, "bits", seq->column_width);
}

/* binding.c */

/*
 * What this backend knows of a sequence.  Good until another one is asked for;
 * a caller that keeps the pointer for longer compares "seqid" and "valid".
 */
typedef struct SkBinding
{
	Oid			seqid;			/* hash key */
	bool		valid;			/* false: load again before use */
	bool		fresh;			/* no invalidation since loading began */
	const SequenceAccessMethod *am; /* NULL: not bound */
	SkSequenceOptions *options; /* NULL: not bound */
	MemoryContext context;		/* holds the options and the label */
	char	   *label;			/* what the options were made from */
	uint64		changes;		/* grows when another label is loaded */

	/* the last counter that this session drew, 0 if none, and its value */
	int64		last_counter;
	int64		last_value;
} SkBinding;

extern bool sk_bindings_exist(void);
extern SkBinding *sk_binding_get(Oid seqid);
extern void sk_binding_announce(Oid seqid, const char *label);

/* identity.c */

/* A column whose default fetches from the sequence of its former identity. */
typedef struct SkIdentityColumn
{
	char	   *name;
	Oid			seqid;
	SkIdentity	identity;
} SkIdentityColumn;

extern List *sk_identity_columns(Oid relid, Oid table);
extern SkIdentity sk_column_identity(Oid seqid, Oid table, const char *column);
extern char *sk_identity_name(Oid seqid, Oid table);
extern void sk_change_identity(Oid seqid, SkIdentity identity);

/* core_support.c */

/*
 * More rows than this fetch one by one.  Their VALUES list takes far more
 * memory than their values, so this is only for direct calls.
 */
#define SK_MAX_ASCENDING 1000000

extern void sk_set_core_support(bool attach);
extern void sk_check_execute(Oid function);
extern Expr *sk_make_oid(Oid type, Oid value);

/* partition_bounds.c */

extern void sk_check_partitions(const SkSequence *seq, int elevel);

/* sequence_change.c */

/* What is to change. */
typedef struct SkSequenceChange
{
	SkLabel		label;			/* without a kind, that stays; each option
								 * comes in place of the one before */
	bool		no_skip_range;
	bool		is_label;		/* the label is a whole one */
	bool		is_new;			/* this command has made the sequence */
	bool		for_rows;		/* a conversion, or to skip what is stored */
	bool		restarts;
	int64		counter;		/* to restart with, at least 1; before the
								 * first use START follows, but for rows */
} SkSequenceChange;

extern void sk_report_restriction(Oid seqid, const SkRestriction *restriction);
extern SkSequence *sk_sequence_lock(Oid seqid, LOCKMODE rows,
									bool changes_kind);
extern void sk_report_few_values(const SkSequence *seq,
								 const SkSequenceOptions *options, int64 last);
extern char *sk_describe_column(const SkSequence *seq);
extern int	sk_fit_label(SkLabel *label, const SkSequence *seq, int width);
extern void sk_check_references(const SkSequence *seq, int bits);
extern void sk_change_sequence(SkSequence *seq,
							   const SkSequenceChange *change);

#endif							/* SK_SEQUENCE_H */
