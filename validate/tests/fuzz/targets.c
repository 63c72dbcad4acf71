/* targets.c - which fuzz target this process runs. libFuzzer and standalone.c both enter here. */
#include "validate/tests/fuzz/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct target {
	const char *name;
	int (*run)(const uint8_t *bytes, size_t n);
};

#define ROW(name) { #name, fuzz_##name },
static const struct target targets[] = { FUZZ_TARGETS(ROW) };

/* libFuzzer passes a target nothing but the bytes, so the choice has to stand here. */
static const struct target *chosen;

static _Noreturn void usage(const char *me)
{
	fprintf(stderr, "usage: %s TARGET ..., where TARGET is one of:", me);
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
		fprintf(stderr, " %s", targets[i].name);
	fputc('\n', stderr);
	exit(2);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	for (size_t i = 0; *argc > 1 && i < sizeof targets / sizeof *targets; i++)
		if (strcmp((*argv)[1], targets[i].name) == 0)
			chosen = &targets[i];
	if (!chosen)
		usage((*argv)[0]);
	(*argv)[1] = (*argv)[0];
	(*argv)++, (*argc)--;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	return chosen->run(bytes, n);
}

const char *fuzz_target_name(void)
{
	return chosen->name;
}
