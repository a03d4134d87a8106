/*-------------------------------------------------------------------------
 *
 * label.h
 *	  The text of a sequence's security label.
 *
 * src/sequence/label.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_LABEL_H
#define SK_LABEL_H

#include "nodes/pg_list.h"

/* A label in parts. */
typedef struct SkLabel
{
	char	   *kind;
	List	   *options;		/* of SkOption */
} SkLabel;

extern SkLabel *sk_label_parse(const char *text, const char **problem);
extern SkLabel *sk_label_parse_kind(const char *text);
extern void sk_label_fold_case(char *text);
extern char *sk_label_format(const SkLabel *label);
extern void sk_label_set(SkLabel *label, const char *name, const char *value);
extern void sk_label_unset(SkLabel *label, const char *name);

#endif							/* SK_LABEL_H */
