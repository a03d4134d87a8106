/*-------------------------------------------------------------------------
 *
 * fuzz_server.c
 *	  Runs libFuzzer in a backend.
 *
 * The extension and the targets are one library, built for libFuzzer and the
 * sanitizers; the server is the system's.  libFuzzer ends the process, so
 * that has to be a single-user server: see test/fuzz/server.sh.
 *
 * Each input has a subtransaction of its own, which is rolled back, and a
 * memory context in which chunks of more than 128 bytes are malloc'd one by
 * one, so that the sanitizer sees where they end.
 *
 * test/fuzz/server/fuzz_server.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <signal.h>

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "fuzz_server.h"
#include "spanner_keys.h"

/* Names that are not found stay in the server's caches until then. */
#define FUZZ_INPUTS_PER_CACHE 20000

SK_MODULE_MAGIC;

void		_PG_init(void);

extern int	LLVMFuzzerRunDriver(int *argc, char ***argv,
								int (*run) (const uint8 *data, size_t size));
extern size_t LLVMFuzzerMutate(uint8 *data, size_t size, size_t max_size);
extern size_t LLVMFuzzerCustomMutator(uint8 *data, size_t size,
									  size_t max_size, unsigned int seed);

PG_FUNCTION_INFO_V1(fuzz);

static const FuzzTarget *const targets[] = {&fuzz_canonical, &fuzz_ddl};

static const FuzzTarget *target;
static MemoryContext input_context;
static int	inputs = 0;

static int	run_input(const uint8 *data, size_t size);
static void run_target(const uint8 *data, Size size);
static void judge_error(const ErrorData *error);
static char **list_texts(ArrayType *array, int *count);

/* What spanner_keys.c starts of the modules that are in this library. */
void
_PG_init(void)
{
	sk_command_hooks_init();
	sk_own_objects_init();
	sk_builtin_kinds_init();
	sk_default_kind_init();
	sk_binding_init();
	sk_plan_fetch_init();
	sk_sequence_functions_init();
	sk_sequence_ddl_init();
	sk_spanner_ddl_init();
}

/*
 * fuzz(target text, arguments text[]) returns void
 *
 * Does not return: libFuzzer calls exit().
 */
Datum
fuzz(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int			argc;
	char	  **argv;

	argv = list_texts(PG_GETARG_ARRAYTYPE_P(1), &argc);
	for (int i = 0; i < lengthof(targets); i++)
	{
		if (strcmp(targets[i]->name, name) == 0)
			target = targets[i];
	}
	if (target == NULL)
		elog(ERROR, "there is no target \"%s\"", name);

	input_context = AllocSetContextCreate(TopMemoryContext, "input", 0, 1024,
										  1024);

	/* libFuzzer leaves a handler alone that is there */
	signal(SIGALRM, SIG_DFL);
	signal(SIGFPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	exit(LLVMFuzzerRunDriver(&argc, &argv, run_input));
}

/*
 * LLVMFuzzerCustomMutator
 *		Make a new input from another.
 */
size_t
LLVMFuzzerCustomMutator(uint8 *data, size_t size, size_t max_size,
						unsigned int seed)
{
	if (target->mutate != NULL && seed % 4 != 0)
		return target->mutate(data, size, max_size, seed / 4);
	return LLVMFuzzerMutate(data, size, max_size);
}

/*
 * fuzz_fail
 *		Say what does not hold, and abort.
 */
void
fuzz_fail(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
	abort();
}

static int
run_input(const uint8 *data, size_t size)
{
	ResourceOwner owner = CurrentResourceOwner;
	MemoryContext outer = CurrentMemoryContext;

	if (++inputs % FUZZ_INPUTS_PER_CACHE == 0)
		InvalidateSystemCaches();

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(input_context);
	run_target(data, size);
	RollbackAndReleaseCurrentSubTransaction();
	SetDatabaseEncoding(PG_UTF8);

	MemoryContextSwitchTo(outer);
	CurrentResourceOwner = owner;
	MemoryContextReset(input_context);
	return 0;
}

static void
run_target(const uint8 *data, Size size)
{
	ErrorData  *error = NULL;

	PG_TRY();
	{
		target->run(data, size);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(input_context);
		error = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	if (error != NULL)
		judge_error(error);
}

/* Errors that are no answer to a user. */
static void
judge_error(const ErrorData *error)
{
	bool		is_internal = ERRCODE_TO_CATEGORY(error->sqlerrcode) ==
		ERRCODE_INTERNAL_ERROR;

	if (is_internal)
		fprintf(stderr, "ERROR: %s, at %s:%d\n", error->message,
				error->filename, error->lineno);
	fuzz_check(!is_internal);
	target->judge(error);
}

/* The elements of an array, and NULL behind them. */
static char **
list_texts(ArrayType *array, int *count)
{
	Datum	   *elements;
	char	  **result;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, NULL,
					  count);
	result = palloc((*count + 1) * sizeof(char *));
	for (int i = 0; i < *count; i++)
		result[i] = TextDatumGetCString(elements[i]);
	result[*count] = NULL;
	return result;
}
