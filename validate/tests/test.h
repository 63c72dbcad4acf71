/* test.h - the test harness: a suite is a file t_*.c with TEST bodies and one SUITE row list at its end.
 *
 * Each test runs in a forked child, so a crash or an assert fails that test alone; NPUSIM_TEST_NOFORK=1 runs them in
 * one process for a debugger or valgrind. A failed CHECK prints file, line and both values and ends the test. */
#ifndef NPUSIM_TEST_H
#define NPUSIM_TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct test {
	const char *name;
	void (*fn)(void);
	bool slow; /* over half a second of processor time: it runs once a gate, and not under sanitizers */
};

#define TEST(name) static void name(void)
#define SUITE(suite, ...) \
	extern const struct test suite##_tests[]; \
	const struct test suite##_tests[] = { __VA_ARGS__, { NULL, NULL, false } }
#define T(name) \
	{ \
#name, name, false \
	}
#define SLOW(name) \
	{ \
#name, name, true \
	}

_Noreturn void test_fail(const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void test_skip(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* "not run: 5 files absent" */
const char *test_tmp(void); /* a fresh folder of this test, removed afterwards */
char *test_path(char *buf, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4))); /* in test_tmp() */
const char *test_root(void);        /* the source tree: fixtures are below it */
bool test_aborts(void (*fn)(void)); /* does it end its process by abort()? It is called in a child, without stderr */
uint64_t test_seed(void);           /* NPUSIM_SEED or a fixed number; a random test passes with any */

/* How much a test tries: NPUSIM_TEST_SIZE, short (sanitizers, which take many times as long), usual (a gate), or long. */
enum test_size { TEST_SHORT, TEST_USUAL, TEST_LONG };
int test_rounds(int few, int usual, int many);
/* Is it the turn of case `i` of a list? A gate takes one case in `of`, by its seed; a long run takes all. */
bool test_turn(size_t i, size_t of);
/* Of `tried` draws `n` stand against a rule that is known to fail in so many of a thousand: is that no more than luck? Up to
 * three standard deviations over the share, which is little over it where many were drawn. */
bool test_share(size_t n, size_t tried, unsigned per_mille);

/* clang-format off */
#define CHECK(cond) do { if (!(cond)) test_fail(__FILE__, __LINE__, "%s", #cond); } while (0)
#define CHECK_U64(got, want) do { uint64_t g_ = (uint64_t)(got), w_ = (uint64_t)(want); \
	if (g_ != w_) test_fail(__FILE__, __LINE__, "%s is %llu, not %llu", #got, (unsigned long long)g_, \
	                        (unsigned long long)w_); } while (0)
#define CHECK_STR(got, want) do { const char *g_ = (got), *w_ = (want); \
	if (strcmp(g_, w_) != 0) test_fail(__FILE__, __LINE__, "%s is \"%s\", not \"%s\"", #got, g_, w_); } while (0)
#define CHECK_HAS(got, part) do { const char *g_ = (got), *w_ = (part); \
	if (!strstr(g_, w_)) test_fail(__FILE__, __LINE__, "%s is \"%s\", without \"%s\"", #got, g_, w_); } while (0)
#define CHECK_OK(rc, e) do { if ((rc) != 0) test_fail(__FILE__, __LINE__, "%s: %s", #rc, (e).msg); } while (0)
/* clang-format on */

#endif
