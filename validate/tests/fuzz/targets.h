/* targets.h - the fuzz targets: a row and a file f_NAME.c each. One program has them all, for a program for each would link the
 * library with its sanitizers once more; its first argument is the target's name. */
#ifndef NPUSIM_TESTS_FUZZ_TARGETS_H
#define NPUSIM_TESTS_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define FUZZ_TARGETS(X) \
	X(api) X(beside) X(capture) X(csv) X(foreign) X(kernels) X(kineto) X(links) X(model) X(nsys) X(ops) X(program) \
	X(replay) X(requests) X(serve) X(study) X(tiled) X(yaml)
/* clang-format on */

/* Each takes any bytes, and returns 0. */
#define FUZZ_DECLARE(name) int fuzz_##name(const uint8_t *bytes, size_t n);
FUZZ_TARGETS(FUZZ_DECLARE)
#undef FUZZ_DECLARE

/* The names that libFuzzer gives them. The first takes the target's name out of the arguments; it exits where there is none. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);
const char *fuzz_target_name(void);

#endif
