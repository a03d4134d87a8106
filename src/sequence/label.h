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

#include "sequence/counter.h"

/* No kind has a use for more; a longer text is refused before it is read. */
#define SK_MAX_LABEL_LENGTH 1024
#define SK_MAX_LABEL_OPTIONS 32

/* A label in parts. */
typedef struct SkLabel
{
	char	   *kind;
	List	   *options;		/* of SkOption */
} SkLabel;

extern SkLabel *sk_label_parse(const char *text, const char **problem);
extern char *sk_label_format(const SkLabel *label);
extern const SkOption *sk_label_option(const List *options, const char *name);
extern void sk_label_set(SkLabel *label, const char *name, const char *value);
extern void sk_label_set_int64(SkLabel *label, const char *name, int64 value);
extern void sk_label_set_range(SkLabel *label, const char *name, SkRange range);

#endif							/* SK_LABEL_H */
