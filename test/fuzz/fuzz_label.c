/*-------------------------------------------------------------------------
 *
 * fuzz_label.c
 *	  Fuzz target: labels are read within their bounds, and written the same.
 *
 * What is read and written once more is the same as after the first time.
 * Memory, lists and errors are the server's in the extension; here are some
 * that do for label.c.
 *
 * test/fuzz/fuzz_label.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <stdlib.h>

#include "sequence/access_method.h"
#include "sequence/label.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was allocated, to be freed after each input. */
static void *chunks[10000];
static int	chunk_count = 0;

void *
palloc(Size size)
{
	if (chunk_count == lengthof(chunks))
		abort();
	return chunks[chunk_count++] = malloc(size);
}

void *
palloc0(Size size)
{
	return memset(palloc(size), 0, size);
}

char *
pnstrdup(const char *in, Size len)
{
	char	   *out = palloc(len + 1);

	out[len] = '\0';
	return memcpy(out, in, len);
}

char *
pstrdup(const char *in)
{
	return pnstrdup(in, strlen(in));
}

void *
repalloc(void *pointer, Size size)
{
	for (int i = 0; i < chunk_count; i++)
		if (chunks[i] == pointer)
			return chunks[i] = realloc(pointer, size);
	abort();
}

void
pfree(void *pointer)
{
}

List *
lappend(List *list, void *datum)
{
	int			length = list_length(list);
	List	   *result = palloc0(offsetof(List, initial_elements) +
								 (length + 1) * sizeof(ListCell));

	result->type = T_List;
	result->length = result->max_length = length + 1;
	result->elements = result->initial_elements;
	for (int i = 0; i < length; i++)
		result->elements[i] = list->elements[i];
	result->elements[length].ptr_value = datum;
	return result;
}

List *
list_delete_nth_cell(List *list, int n)
{
	memmove(list->elements + n, list->elements + n + 1,
			(list->length - n - 1) * sizeof(ListCell));
	list->length--;
	return list->length > 0 ? list : NIL;
}

List *
list_delete_cell(List *list, ListCell *cell)
{
	return list_delete_nth_cell(list, (int) (cell - list->elements));
}

bool
errstart_cold(int elevel, const char *domain)
{
	abort();
}

bool
errstart(int elevel, const char *domain)
{
	abort();
}

int
errcode(int sqlerrcode)
{
	return 0;
}

int
errmsg(const char *fmt,...)
{
	return 0;
}

int
errdetail_internal(const char *fmt,...)
{
	return 0;
}

int
errhint(const char *fmt,...)
{
	return 0;
}

void
errfinish(const char *filename, int lineno, const char *funcname)
{
	abort();
}

static void
check(bool ok)
{
	if (!ok)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *label_text = pnstrdup((const char *) data, size);
	const char *problem = NULL;
	SkLabel    *label = sk_label_parse(label_text, &problem);

	if (label == NULL)
		check(problem != NULL);
	else
	{
		char	   *once = sk_label_format(label);
		SkLabel    *again = sk_label_parse(once, &problem);

		check(again != NULL);
		check(list_length(label->options) == list_length(again->options));
		check(strcmp(once, sk_label_format(again)) == 0);
		sk_label_set(again, "bits", "53");
		sk_label_set(again, "bits", NULL);
		check(list_length(again->options) <= list_length(label->options));
	}
	while (chunk_count > 0)
		free(chunks[--chunk_count]);
	return 0;
}
