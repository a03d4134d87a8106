/*-------------------------------------------------------------------------
 *
 * sequence.h
 *	  What the catalogs and the disk say of a sequence, and of the columns that
 *	  store its values.
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

#include "sequence/kind.h"

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
	List	   *columns;		/* that store its values, as ObjectAddresses */
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
extern Oid	sk_fetched_sequence(Node *expr);
extern Oid	sk_called_sequence(Node *expr, Oid schema);
extern Oid	sk_column_sequence(Oid table, AttrNumber column);

extern SkSequence *sk_sequence_read(Oid seqid);
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

#endif							/* SK_SEQUENCE_H */
