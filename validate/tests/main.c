/* main.c - runs the suites listed in suites.inc, which the Makefile writes: one line SUITE_ROW(name) each.
 *
 *     tests [-l] [-F | -S] [-j N] [-t S] [FILTER]...
 *
 * A filter is a part of "suite.test", ^ and how that begins, or = and all of it. -F runs the fast tests only, -S the slow
 * ones. With -t each test that took S seconds of processor time or more is named as it ends. The first line has the seed:
 * NPUSIM_SEED with that number repeats the run.
 * A test runs in a child of its own process group, N of them side by side (as many as there are processors); what it
 * prints is shown only when it fails, and its folder and whatever it left running go with it. */
#define _XOPEN_SOURCE 700 /* fork, nftw, mkdtemp, setitimer */
#include "validate/tests/test.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef NPUSIM_ROOT
#define NPUSIM_ROOT "."
#endif

#define EXIT_SKIP    77
#define SEED         UINT64_C(20240607) /* where NPUSIM_SEED is not set */
#define TIMEOUT_S    120                /* of processor time */
#define WAIT         4 /* times that by the clock: a busy host is no fault, a test that waits for ever is one */
#define OUTPUT_SHOWN 16384
#define JOBS_MOST    256

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

/* What has ended of a suite, by verdict; and how many of it are running. */
struct tally {
	int count[3], running;
	bool begun; /* all of its tests have */
};

/* A test that is running. */
struct job {
	const struct suite *s;
	const struct test *t;
	pid_t pid;
	FILE *out;
	char tmp[300];
};

/* The harness is a main program, and the test functions take no argument: this is its one piece of state. */
static struct {
	char dir[256], tmp[300];
	bool in_process;
	jmp_buf back; /* of the in-process mode, as is the code */
	int code;
	unsigned timeout_s;
	enum test_size size;
	uint64_t seed;
	struct tally of[sizeof suites / sizeof *suites];
	struct job jobs[JOBS_MOST];
	int most, running;
	double told_s; /* tests of so long are named; 0: none */
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
	return h.seed;
}

int test_rounds(int few, int usual, int many)
{
	return h.size == TEST_SHORT ? few : h.size == TEST_LONG ? many : usual;
}

bool test_turn(size_t i, size_t of)
{
	return h.size == TEST_LONG || (i + h.seed) % of == 0;
}

bool test_share(size_t n, size_t tried, unsigned per_mille)
{
	const double p = per_mille / 1e3, mean = p * (double)tried;

	return (double)n <= mean + 3 * sqrt(mean * (1 - p));
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

/* -1: no child could be made. */
static pid_t begin_forked(const struct test *t, FILE *out)
{
	pid_t pid;

	fflush(NULL);
	if ((pid = fork()) < 0) {
		fprintf(out, "cannot fork: %s\n", strerror(errno));
		return -1;
	}
	if (pid == 0) {
		setpgid(0, 0);
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(out), STDERR_FILENO);
		limit_time();
		t->fn();
		exit(EXIT_SUCCESS); /* not _exit: the leak checker and the coverage writer work here */
	}
	return pid;
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

/* `code`: what the test exited with, or 128 + the signal that ended it. */
static enum verdict judge(const struct job *j, int code)
{
	const enum verdict v = code == 0 ? PASSED : code == EXIT_SKIP ? SKIPPED : FAILED;
	const char *suite = j->s->name, *test = j->t->name;

	if (v == SKIPPED)
		printf("skip %s.%s\n", suite, test);
	else if (code == 128 + SIGPROF)
		printf("FAIL %s.%s: still running after %u s of processor time\n", suite, test, h.timeout_s);
	else if (code == 128 + SIGALRM)
		printf("FAIL %s.%s: still running after %u s\n", suite, test, WAIT * h.timeout_s);
	else if (code > 128)
		printf("FAIL %s.%s: ended by signal %d (%s)\n", suite, test, code - 128, strsignal(code - 128));
	else if (v == FAILED)
		printf("FAIL %s.%s\n", suite, test);
	if (j->out && v != PASSED)
		show(j->out, "    ");
	return v;
}

static void say_suite(const struct suite *s)
{
	const struct tally *t = &h.of[s - suites];

	if (!t->begun || t->running || t->count[PASSED] + t->count[FAILED] + t->count[SKIPPED] == 0)
		return;
	printf("%-20s %4d ok", s->name, t->count[PASSED]);
	if (t->count[FAILED])
		printf(", %d FAILED", t->count[FAILED]);
	if (t->count[SKIPPED])
		printf(", %d skipped", t->count[SKIPPED]);
	putchar('\n');
}

static void ended(struct job *j, int code)
{
	struct tally *t = &h.of[j->s - suites];

	t->count[judge(j, code)]++;
	t->running--;
	say_suite(j->s);
	fflush(stdout);
	if (j->out)
		fclose(j->out);
	remove_tree(j->tmp);
	*j = h.jobs[--h.running];
}

/* Processor time of all children that were waited for, in seconds. */
static double children_s(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       1e-6 * (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

static void say_time(const struct job *j, double s)
{
	if (h.told_s > 0 && s >= h.told_s)
		printf("%8.1f s  %s.%s\n", s, j->s->name, j->t->name);
}

/* For one of the tests that are running, and all that it started. */
static void await(void)
{
	const double before = children_s();
	int status;
	pid_t got;

	do {
		got = waitpid(-1, &status, 0);
	} while (got < 0 && errno == EINTR);
	for (int i = 0; i < h.running; i++)
		if (got < 0 || h.jobs[i].pid == got) {
			say_time(&h.jobs[i], children_s() - before);
			kill(-h.jobs[i].pid, SIGKILL); /* what the test started and did not end */
			ended(&h.jobs[i], got < 0               ? EXIT_FAILURE
			                  : WIFSIGNALED(status) ? 128 + WTERMSIG(status)
			                                        : WEXITSTATUS(status));
			return;
		}
}

static void begin(const struct suite *s, const struct test *t)
{
	struct job *j;

	while (h.running == h.most)
		await();
	j = &h.jobs[h.running++];
	*j = (struct job){ .s = s, .t = t, .out = h.in_process ? NULL : tmpfile() };
	h.of[s - suites].running++;
	snprintf(h.tmp, sizeof h.tmp, "%s/%.30s.%zu", h.dir, s->name, (size_t)(t - s->tests));
	memcpy(j->tmp, h.tmp, sizeof j->tmp);
	if (h.in_process) {
		ended(j, run_here(t));
	} else if (!j->out) {
		printf("%s.%s: cannot make a temporary file\n", s->name, t->name);
		ended(j, EXIT_FAILURE);
	} else if ((j->pid = begin_forked(t, j->out)) < 0) {
		ended(j, EXIT_FAILURE);
	}
}

static bool matches(const char *name, const char *filter)
{
	switch (filter[0]) {
	case '^':
		return strncmp(name, filter + 1, strlen(filter + 1)) == 0;
	case '=':
		return strcmp(name, filter + 1) == 0;
	default:
		return strstr(name, filter) != NULL;
	}
}

/* What the command line asks for. */
struct wish {
	bool fast, slow;
	int n; /* filters; none: every test */
	char **filters;
};

static bool wanted(const struct suite *s, const struct test *t, const struct wish *w)
{
	char name[256];

	if (t->slow ? !w->slow : !w->fast)
		return false;
	snprintf(name, sizeof name, "%s.%s", s->name, t->name);
	for (int i = 0; i < w->n; i++)
		if (matches(name, w->filters[i]))
			return true;
	return w->n == 0;
}

static void run_suite(const struct suite *s, const struct wish *w)
{
	struct tally *all = &h.of[s - suites];

	if (!s->tests[0].name && w->n == 0) {
		printf("FAIL %s: the suite has no tests\n", s->name);
		h.failed++;
	}
	for (const struct test *t = s->tests; t->name; t++)
		if (wanted(s, t, w))
			begin(s, t);
	all->begun = true;
	say_suite(s);
	fflush(stdout);
}

static void run_all(const struct wish *w)
{
	for (const struct suite *s = suites; s->name; s++)
		run_suite(s, w);
	while (h.running)
		await();
	for (const struct suite *s = suites; s->name; s++) {
		const struct tally *t = &h.of[s - suites];

		h.passed += t->count[PASSED];
		h.failed += t->count[FAILED];
		h.skipped += t->count[SKIPPED];
	}
}

static int list(const struct wish *w)
{
	for (const struct suite *s = suites; s->name; s++)
		for (const struct test *t = s->tests; t->name; t++)
			if (wanted(s, t, w))
				printf("%s.%s\n", s->name, t->name);
	return EXIT_SUCCESS;
}

/* As many tests side by side as there are processors, or as `-j N` says; in this process one after another. */
static bool set_jobs(const char *given)
{
	const long n = given ? strtol(given, NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);

	if (given && n < 1) {
		fprintf(stderr, "tests: '-j %s': it is a number of tests side by side, 1 or more\n", given);
		return false;
	}
	h.most = h.in_process || n < 1 ? 1 : n < JOBS_MOST ? (int)n : JOBS_MOST;
	return true;
}

static bool set_size(const char *given)
{
	static const char *const names[] = { [TEST_SHORT] = "short", [TEST_USUAL] = "usual", [TEST_LONG] = "long" };

	h.size = TEST_USUAL;
	for (int i = 0; given && *given && i < 3; i++)
		if (strcmp(names[i], given) == 0) {
			h.size = (enum test_size)i;
			return true;
		}
	if (!given || !*given)
		return true;
	fprintf(stderr, "tests: NPUSIM_TEST_SIZE is '%s': it is short, usual or long\n", given);
	return false;
}

static bool set_seed(const char *given)
{
	char *end;

	h.seed = SEED;
	if (!given || !*given)
		return true;
	errno = 0;
	h.seed = strtoull(given, &end, 0);
	if (errno == 0 && *end == '\0' && given[0] != '-')
		return true;
	fprintf(stderr, "tests: NPUSIM_SEED is '%s': it is a number below 2^64, 0x before a hexadecimal one\n", given);
	return false;
}

static bool start(const char *jobs)
{
	const char *tmp = getenv("TMPDIR"), *no_fork = getenv("NPUSIM_TEST_NOFORK"), *s = getenv("NPUSIM_TEST_TIMEOUT");

	h.in_process = no_fork && *no_fork && strcmp(no_fork, "0") != 0;
	h.timeout_s = s && atoi(s) > 0 ? (unsigned)atoi(s) : TIMEOUT_S;
	if (!set_jobs(jobs) || !set_size(getenv("NPUSIM_TEST_SIZE")) || !set_seed(getenv("NPUSIM_SEED")))
		return false;
	snprintf(h.dir, sizeof h.dir, "%.200s/npusim-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	/* A test may go on as another user. None finds its files where it was called from, or leaves some there. */
	if (mkdtemp(h.dir) && chmod(h.dir, 0711) == 0 && chdir(h.dir) == 0 && getcwd(h.dir, sizeof h.dir))
		return true;
	fprintf(stderr, "tests: cannot make '%s': %s\n", h.dir, strerror(errno));
	return false;
}

static void say_sum(void)
{
	if (h.passed + h.failed + h.skipped == 0) {
		printf("no test has such a name\n");
		h.failed++;
	}
	printf("%d passed, %d failed", h.passed, h.failed);
	if (h.skipped)
		printf(", %d skipped", h.skipped);
	putchar('\n');
}

int main(int argc, char **argv)
{
	const char *jobs = NULL, *told = "0";
	struct wish w = { .fast = true, .slow = true };
	bool listing = false;
	int opt;

	while ((opt = getopt(argc, argv, "lFSj:t:")) >= 0) {
		listing = listing || opt == 'l';
		w.slow = w.slow && opt != 'F';
		w.fast = w.fast && opt != 'S';
		jobs = opt == 'j' ? optarg : jobs;
		told = opt == 't' ? optarg : told;
		if (opt == '?' || (!w.fast && !w.slow)) {
			fprintf(stderr, "usage: %s [-l] [-F | -S] [-j N] [-t S] [FILTER]...\n", argv[0]);
			return 2;
		}
	}
	h.told_s = atof(told);
	w.n = argc - optind;
	w.filters = argv + optind;
	if (listing)
		return list(&w);
	if (!start(jobs))
		return 2;
	printf("seed %" PRIu64 "\n", h.seed);
	run_all(&w);
	if (chdir("/") != 0 || rmdir(h.dir) != 0)
		fprintf(stderr, "tests: cannot remove '%s': %s\n", h.dir, strerror(errno));
	say_sum();
	return h.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
