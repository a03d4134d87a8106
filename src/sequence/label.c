/*-------------------------------------------------------------------------
 *
 * label.c
 *	  The text of a sequence's security label.
 *
 *		label  := kind [ "(" [ option { "," option } ] ")" ]
 *		option := name "=" value
 *		kind, name, value := one or more letters, digits, "_", "-", "+", "."
 *
 * It has at most SK_MAX_LABEL_OPTIONS options and SK_MAX_LABEL_LENGTH bytes.
 * White space may be between any two of them.  The kind and the names of
 * options may be written in any case, and are lower case from here on.  The
 * setting spanner.default_sequence_kind has the same form.  What the kind and
 * the options mean is not known here.
 *
 * src/sequence/label.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "sequence/label.h"

StaticAssertDecl(SK_MAX_LABEL_LENGTH == 1024 && SK_MAX_LABEL_OPTIONS == 32,
				 "the messages below name the limits");

#define SK_SPACES " \t\n\r"

static char *scan_name(const char **pos);
static char *scan_word(const char **pos);
static bool scan_char(const char **pos, char c);
static bool scan_options(const char **pos, List **options,
						 const char **problem);

static const char too_long[] = "A label has at most 1024 bytes.";

/*
 * sk_label_parse
 *		Take a label apart.
 *
 * Returns NULL for a text that is not of the form above and sets *problem to a
 * sentence that says why.  Otherwise *problem stays as it is.
 */
SkLabel *
sk_label_parse(const char *text, const char **problem)
{
	SkLabel    *label = palloc0(sizeof(SkLabel));
	const char *pos;

	if (strlen(text) > SK_MAX_LABEL_LENGTH)
	{
		*problem = too_long;
		return NULL;
	}
	pos = text;

	label->kind = scan_name(&pos);
	if (label->kind == NULL)
	{
		*problem = "A label begins with the name of a sequence kind.";
		return NULL;
	}
	if (scan_char(&pos, '(') &&
		!scan_options(&pos, &label->options, problem))
		return NULL;
	if (!scan_char(&pos, '\0'))
	{
		*problem = "Options must be given in parentheses after the kind.";
		return NULL;
	}
	/* it will be written with a space after each comma, and read again */
	if (strlen(sk_label_format(label)) > SK_MAX_LABEL_LENGTH)
	{
		*problem = too_long;
		return NULL;
	}
	return label;
}

/*
 * sk_label_format
 *		Put a label together, in the one form that we write.
 */
char *
sk_label_format(const SkLabel *label)
{
	StringInfoData buf;
	ListCell   *lc;
	const char *separator = "(";

	initStringInfo(&buf);
	appendStringInfoString(&buf, label->kind);
	foreach(lc, label->options)
	{
		SkOption   *option = lfirst(lc);

		appendStringInfo(&buf, "%s%s=%s", separator, option->name,
						 option->value);
		separator = ", ";
	}
	if (label->options != NIL)
		appendStringInfoChar(&buf, ')');
	return buf.data;
}

/*
 * sk_label_option
 *		The first option of that name, NULL if it is not set.
 */
const SkOption *
sk_label_option(const List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		if (strcmp(((SkOption *) lfirst(lc))->name, name) == 0)
			return lfirst(lc);
	}
	return NULL;
}

/*
 * sk_label_set
 *		Set an option, in place of one of the same name.
 *
 * With a NULL value it is removed.
 */
void
sk_label_set(SkLabel *label, const char *name, const char *value)
{
	SkOption   *option;
	ListCell   *lc;

	foreach(lc, label->options)
	{
		if (strcmp(((SkOption *) lfirst(lc))->name, name) == 0)
			label->options = foreach_delete_current(label->options, lc);
	}
	if (value == NULL)
		return;
	option = palloc(sizeof(SkOption));
	option->name = name;
	option->value = value;
	label->options = lappend(label->options, option);
}

/*
 * sk_label_set_int64
 *		The same of an option that is a number.
 */
void
sk_label_set_int64(SkLabel *label, const char *name, int64 value)
{
	sk_label_set(label, name, psprintf(INT64_FORMAT, value));
}

/*
 * sk_label_set_range
 *		The same of an option that is a range of values.
 */
void
sk_label_set_range(SkLabel *label, const char *name, SkRange range)
{
	sk_label_set(label, name, psprintf(INT64_FORMAT ".." INT64_FORMAT,
									   range.min, range.max));
}

/* Read "[ name=value { , name=value } ] )". */
static bool
scan_options(const char **pos, List **options, const char **problem)
{
	if (scan_char(pos, ')'))
		return true;

	do
	{
		SkOption   *option = palloc(sizeof(SkOption));

		if (list_length(*options) >= SK_MAX_LABEL_OPTIONS)
		{
			*problem = "A label has at most 32 options.";
			return false;
		}
		option->name = scan_name(pos);
		if (option->name == NULL || !scan_char(pos, '='))
		{
			*problem = "An option has the form name=value.";
			return false;
		}
		option->value = scan_word(pos);
		if (option->value == NULL)
		{
			*problem = "An option's value is a number or a word.";
			return false;
		}
		*options = lappend(*options, option);
	} while (scan_char(pos, ','));

	if (!scan_char(pos, ')'))
	{
		*problem = "Options are separated by commas and end with a closing parenthesis.";
		return false;
	}
	return true;
}

/* A kind or the name of an option, in lower case. */
static char *
scan_name(const char **pos)
{
	char	   *name = scan_word(pos);

	for (char *c = name; c != NULL && *c != '\0'; c++)
	{
		if (*c >= 'A' && *c <= 'Z')
			*c += 'a' - 'A';
	}
	return name;
}

/* The next word, or NULL if something else comes first. */
static char *
scan_word(const char **pos)
{
	const char *start;

	*pos += strspn(*pos, SK_SPACES);
	start = *pos;
	*pos += strspn(*pos, SK_WORD_CHARACTERS);
	return *pos > start ? pnstrdup(start, *pos - start) : NULL;
}

/* Step over one character if it comes next; '\0' means the end. */
static bool
scan_char(const char **pos, char c)
{
	*pos += strspn(*pos, SK_SPACES);
	if (**pos != c)
		return false;
	if (c != '\0')
		(*pos)++;
	return true;
}
