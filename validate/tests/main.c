/* main.c - runs the suites listed in suites.inc, which the Makefile writes: one line SUITE_ROW(name) each.
 *
 *     tests [-l] [FILTER]...      a filter is a part of "suite.test"
 *
 * A test runs in a child of its own process group; what it prints is shown only when it fails, and its folder and
 * whatever it left running go with it. */
#define _XOPEN_SOURCE 700 /* fork, nftw, mkdtemp, setitimer */
#include "validate/tests/test.h"

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef NPUSIM_ROOT
#define NPUSIM_ROOT "."
#endif

#define EXIT_SKIP    77
#define TIMEOUT_S    120 /* of processor time */
#define WAIT         4   /* times that by the clock: a busy host is no fault, a test that waits for ever is one */
#define OUTPUT_SHOWN 16384

#define SUITE_ROW(name) extern const struct test name##_tests[];
#include "suites.inc"
#undef SUITE_ROW

static const struct suite {
	const char *name;
	const struct test *tests;
} suites[] = {
#define SUITE_ROW(name) { #name, name##_tests },
#include "suites.inc"
#undef SUITE_ROW
	{ NULL, NULL }
};

enum verdict { PASSED, FAILED, SKIPPED };

/* The harness is a main program, and the test functions take no argument: this is its one piece of state. */
static struct {
	char dir[256], tmp[300];
	bool in_process;
	jmp_buf back; /* of the in-process mode, as is the code */
	int code;
	unsigned timeout_s;
	int passed, failed, skipped;
} h;

/* --- what tests call --------------------------------------------------------------------------------------- */

/* Not exit: the atexit work of a failed test (leak checks) would only hide what went wrong. */
static _Noreturn void leave(int code)
{
	fflush(stderr);
	h.code = code;
	if (h.in_process)
		longjmp(h.back, 1);
	_exit(code);
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "%s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	leave(EXIT_FAILURE);
}

void test_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	leave(EXIT_SKIP);
}

const char *test_tmp(void)
{
	if (mkdir(h.tmp, 0700) != 0 && errno != EEXIST)
		test_fail(__FILE__, __LINE__, "cannot make '%s'", h.tmp);
	return h.tmp;
}

char *test_path(char *buf, size_t n, const char *fmt, ...)
{
	int at = snprintf(buf, n, "%s/", test_tmp()), more = -1;
	va_list ap;

	va_start(ap, fmt);
	if (at > 0 && (size_t)at < n)
		more = vsnprintf(buf + at, n - (size_t)at, fmt, ap);
	va_end(ap);
	if (more < 0 || (size_t)(at + more) >= n)
		test_fail(__FILE__, __LINE__, "a path in '%s' needs a longer buffer than %zu", h.tmp, n);
	return buf;
}

const char *test_root(void)
{
	const char *root = getenv("NPUSIM_ROOT");

	return root && *root ? root : NPUSIM_ROOT;
}

uint64_t test_seed(void)
{
	const char *seed = getenv("NPUSIM_SEED");

	return seed && *seed ? strtoull(seed, NULL, 0) : UINT64_C(20240607);
}

bool test_aborts(void (*fn)(void))
{
	int status = 0;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		fn();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* --- running ----------------------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void remove_tree(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0)
		nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int run_here(const struct test *t)
{
	h.code = EXIT_SUCCESS;
	if (setjmp(h.back) == 0)
		t->fn();
	return h.code;
}

/* Both signals end a test that does not expect them. */
static void limit_time(void)
{
	const struct itimerval cpu = { .it_value = { .tv_sec = (time_t)h.timeout_s } };

	setitimer(ITIMER_PROF, &cpu, NULL);
	alarm(WAIT * h.timeout_s);
}

/* The child's exit code, or 128 + the signal that ended it. */
static int run_forked(const struct test *t, FILE *out)
{
	pid_t pid, got;
	int status;

	fflush(NULL);
	if ((pid = fork()) < 0) {
		fprintf(out, "cannot fork: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	if (pid == 0) {
		setpgid(0, 0);
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(out), STDERR_FILENO);
		limit_time();
		t->fn();
		exit(EXIT_SUCCESS); /* not _exit: the leak checker and the coverage writer work here */
	}
	do {
		got = waitpid(pid, &status, 0);
	} while (got < 0 && errno == EINTR);
	kill(-pid, SIGKILL); /* what the test started and did not end */
	if (got < 0)
		return EXIT_FAILURE;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void show(FILE *out, const char *before)
{
	char buf[4096];
	size_t n, shown = 0;
	bool line_start = true;

	rewind(out);
	while (shown < OUTPUT_SHOWN && (n = fread(buf, 1, sizeof buf, out)) > 0)
		for (size_t i = 0; i < n; i++, shown++) {
			if (line_start)
				fputs(before, stdout);
			putchar(buf[i]);
			line_start = buf[i] == '\n';
		}
	if (!line_start)
		putchar('\n');
}

static enum verdict run_test(const struct suite *s, const struct test *t)
{
	FILE *out = h.in_process ? NULL : tmpfile();
	enum verdict v;
	int code;

	snprintf(h.tmp, sizeof h.tmp, "%s/%.40s", h.dir, s->name);
	if (!h.in_process && !out) {
		printf("FAIL %s.%s\n    cannot make a temporary file\n", s->name, t->name);
		return FAILED;
	}
	code = h.in_process ? run_here(t) : run_forked(t, out);
	v = code == 0 ? PASSED : code == EXIT_SKIP ? SKIPPED : FAILED;
	if (v == SKIPPED)
		printf("skip %s.%s\n", s->name, t->name);
	else if (code == 128 + SIGPROF)
		printf("FAIL %s.%s: still running after %u s of processor time\n", s->name, t->name, h.timeout_s);
	else if (code == 128 + SIGALRM)
		printf("FAIL %s.%s: still running after %u s\n", s->name, t->name, WAIT * h.timeout_s);
	else if (code > 128)
		printf("FAIL %s.%s: ended by signal %d (%s)\n", s->name, t->name, code - 128, strsignal(code - 128));
	else if (v == FAILED)
		printf("FAIL %s.%s\n", s->name, t->name);
	if (out) {
		if (v != PASSED)
			show(out, "    ");
		fclose(out);
	}
	remove_tree(h.tmp);
	fflush(stdout);
	return v;
}

static bool wanted(const struct suite *s, const struct test *t, int n, char **filters)
{
	char name[256];

	snprintf(name, sizeof name, "%s.%s", s->name, t->name);
	for (int i = 0; i < n; i++)
		if (strstr(name, filters[i]))
			return true;
	return n == 0;
}

static void run_suite(const struct suite *s, int n, char **filters)
{
	int count[3] = { 0, 0, 0 };

	if (!s->tests[0].name) {
		if (n == 0) {
			printf("FAIL %s: the suite has no tests\n", s->name);
			h.failed++;
		}
		return;
	}
	for (const struct test *t = s->tests; t->name; t++)
		if (wanted(s, t, n, filters))
			count[run_test(s, t)]++;
	h.passed += count[PASSED];
	h.failed += count[FAILED];
	h.skipped += count[SKIPPED];
	if (count[PASSED] + count[FAILED] + count[SKIPPED] == 0)
		return;
	printf("%-20s %4d ok", s->name, count[PASSED]);
	if (count[FAILED])
		printf(", %d FAILED", count[FAILED]);
	if (count[SKIPPED])
		printf(", %d skipped", count[SKIPPED]);
	putchar('\n');
	fflush(stdout);
}

static int list(int n, char **filters)
{
	for (const struct suite *s = suites; s->name; s++)
		for (const struct test *t = s->tests; t->name; t++)
			if (wanted(s, t, n, filters))
				printf("%s.%s\n", s->name, t->name);
	return EXIT_SUCCESS;
}

static bool start(void)
{
	const char *tmp = getenv("TMPDIR"), *no_fork = getenv("NPUSIM_TEST_NOFORK"), *s = getenv("NPUSIM_TEST_TIMEOUT");

	h.in_process = no_fork && *no_fork && strcmp(no_fork, "0") != 0;
	h.timeout_s = s && atoi(s) > 0 ? (unsigned)atoi(s) : TIMEOUT_S;
	snprintf(h.dir, sizeof h.dir, "%.200s/npusim-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	/* A test may go on as another user. None finds its files where it was called from, or leaves some there. */
	if (mkdtemp(h.dir) && chmod(h.dir, 0711) == 0 && chdir(h.dir) == 0 && getcwd(h.dir, sizeof h.dir))
		return true;
	fprintf(stderr, "tests: cannot make '%s': %s\n", h.dir, strerror(errno));
	return false;
}

int main(int argc, char **argv)
{
	bool listing = argc > 1 && strcmp(argv[1], "-l") == 0;
	int n = argc - 1 - listing;
	char **filters = argv + 1 + listing;

	if (listing)
		return list(n, filters);
	if (n && filters[0][0] == '-') {
		fprintf(stderr, "usage: %s [-l] [FILTER]...\n", argv[0]);
		return 2;
	}
	if (!start())
		return EXIT_FAILURE;
	for (const struct suite *s = suites; s->name; s++)
		run_suite(s, n, filters);
	if (chdir("/") != 0 || rmdir(h.dir) != 0)
		fprintf(stderr, "tests: cannot remove '%s': %s\n", h.dir, strerror(errno));
	if (h.passed + h.failed + h.skipped == 0) {
		printf("no test has such a name\n");
		h.failed++;
	}
	if (h.skipped)
		printf("%d passed, %d failed, %d skipped\n", h.passed, h.failed, h.skipped);
	else
		printf("%d passed, %d failed\n", h.passed, h.failed);
	return h.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
