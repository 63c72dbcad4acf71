/* standalone.c - runs a fuzz target without libFuzzer, so that `make check` can.
 *
 *     PROGRAM TARGET [-n MUTATIONS] [-s SEED] FILE-OR-FOLDER...
 *
 * First every file as it is, then MUTATIONS of them, each a function of (seed, its number): the same on any host. The
 * runs are made by a child that tells each number before it starts; where it ends early, stops answering or leaks, the
 * parent makes that input again and keeps it beside the program as PROGRAM-TARGET-found-SEED-NUMBER. */
#define _XOPEN_SOURCE 700 /* opendir, stat, fork, setitimer */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/rng.h"
#include "validate/tests/fuzz/targets.h"

#define INPUT_MAX   ((size_t)1 << 20)
#define FILES_MAX   10000
#define RUN_SECONDS 20 /* of processor time: a busy host is no fault of the target */

struct input {
	uint8_t *data;
	size_t n;
};
struct corpus {
	struct input *v;
	size_t n, cap;
};

static void *must(void *p)
{
	if (!p) {
		fputs("fuzz: no memory\n", stderr);
		exit(1);
	}
	return p;
}

/* --- corpus ------------------------------------------------------------------------------------------------ */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_file(struct corpus *c, const char *path)
{
	FILE *f = fopen(path, "rb");
	struct input in;

	if (!f) {
		fprintf(stderr, "fuzz: cannot read '%s': %s\n", path, strerror(errno));
		exit(1);
	}
	in.data = must(malloc(INPUT_MAX));
	in.n = fread(in.data, 1, INPUT_MAX, f);
	fclose(f);
	in.data = must(realloc(in.data, in.n ? in.n : 1));
	if (c->n == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 64;
		c->v = must(realloc(c->v, c->cap * sizeof *c->v));
	}
	c->v[c->n++] = in;
}

static void add_path(struct corpus *c, const char *path);

/* In the order of the names: readdir's order is the file system's. */
static void add_folder(struct corpus *c, const char *path)
{
	DIR *d = opendir(path);
	char **names = must(calloc(FILES_MAX, sizeof *names));
	struct dirent *ent;
	size_t n = 0;

	while (d && n < FILES_MAX && (ent = readdir(d)))
		if (ent->d_name[0] != '.')
			strcpy(names[n++] = must(malloc(strlen(ent->d_name) + 1)), ent->d_name);
	if (d)
		closedir(d);
	qsort(names, n, sizeof *names, compare_names);
	for (size_t i = 0; i < n; i++) {
		char *full = must(malloc(strlen(path) + strlen(names[i]) + 2));

		sprintf(full, "%s/%s", path, names[i]);
		add_path(c, full);
		free(full);
		free(names[i]);
	}
	free(names);
}

static void add_path(struct corpus *c, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		add_folder(c, path);
	else
		add_file(c, path);
}

/* --- mutation ---------------------------------------------------------------------------------------------- */

/* clang-format off */
static const char *const words[] = {
	"&a ", "*a", "<<: ", ": ", "- ", "{", "}", "[", "]", "\"", "'", "#", "|\n", ">-\n", "\n---\n", "\n", "\t", "  ",
	"!!str ",
	"\xff", "\xc3", "\xe2\x82", "-1", "0", "18446744073709551616", "1e308", "NaN", " MiB", " TB/s", " %", "null",
	"true",
	"{\"", "\":", ",", "\\u0000", "\\", "99999999999999999999"
};
/* clang-format on */

static void insert(struct input *in, size_t at, const void *what, size_t n)
{
	if (n > INPUT_MAX - in->n)
		return;
	memmove(in->data + at + n, in->data + at, in->n - at);
	memcpy(in->data + at, what, n);
	in->n += n;
}

static void cut(struct input *in, size_t at, size_t n)
{
	memmove(in->data + at, in->data + at + n, in->n - at - n);
	in->n -= n;
}

/* One of: a bit, a byte, a word put in, a piece cut, doubled, moved, taken from another input, or the end cut off. */
static void mutate(struct input *in, const struct corpus *c, struct rng *r)
{
	size_t at = (size_t)rng_below(r, in->n + 1), len, from;
	const struct input *other = &c->v[rng_below(r, c->n)];
	const char *word = words[rng_below(r, sizeof words / sizeof *words)];
	uint8_t piece[256];

	len = (size_t)rng_below(r, (in->n - at < sizeof piece ? in->n - at : sizeof piece) + 1);
	switch (rng_below(r, 8)) {
	case 0:
		if (at < in->n)
			in->data[at] ^= (uint8_t)(1u << rng_below(r, 8));
		break;
	case 1:
		if (at < in->n)
			in->data[at] = (uint8_t)rng_below(r, 256);
		break;
	case 2:
		insert(in, at, word, strlen(word));
		break;
	case 3:
		cut(in, at, len);
		break;
	case 4:
		memcpy(piece, in->data + at, len);
		for (uint64_t times = 1 + rng_below(r, 20); times > 0; times--)
			insert(in, at, piece, len);
		break;
	case 5:
		memcpy(piece, in->data + at, len);
		cut(in, at, len);
		insert(in, (size_t)rng_below(r, in->n + 1), piece, len);
		break;
	case 6:
		from = (size_t)rng_below(r, other->n + 1);
		len = (size_t)rng_below(r, (other->n - from < sizeof piece ? other->n - from : sizeof piece) + 1);
		insert(in, at, other->data + from, len);
		break;
	default:
		if (rng_below(r, 4) == 0)
			in->n = at;
		break;
	}
}

/* --- running ----------------------------------------------------------------------------------------------- */

/* Input `number`: the files come first. `buf` has INPUT_MAX bytes. */
static struct input make_input(const struct corpus *c, uint64_t seed, uint64_t number, uint8_t *buf)
{
	struct input in = { buf, 0 };
	const struct input *base;
	struct rng r;

	rng_seed(&r, seed + number, "fuzz");
	base = &c->v[number < c->n ? number : rng_below(&r, c->n)];
	memcpy(buf, base->data, base->n);
	in.n = base->n;
	if (number >= c->n)
		for (uint64_t k = 1 + rng_below(&r, 8); k > 0; k--)
			mutate(&in, c, &r);
	return in;
}

/* The target gets memory of exactly the input's size, so that a sanitizer sees a read past its end. */
static void run(const struct input *in)
{
	uint8_t *exact = must(malloc(in->n ? in->n : 1));

	memcpy(exact, in->data, in->n);
	LLVMFuzzerTestOneInput(exact, in->n);
	free(exact);
}

static void limit_time(int seconds)
{
	const struct itimerval t = { .it_value = { .tv_sec = seconds } };

	setitimer(ITIMER_PROF, &t, NULL);
}

/* The child: every run, each announced. Leaks are looked for at its exit. */
static void run_all(const struct corpus *c, uint64_t seed, uint64_t n, uint8_t *buf, int tell)
{
	for (uint64_t k = 0; k < c->n + n; k++) {
		struct input in = make_input(c, seed, k, buf);

		if (write(tell, &k, sizeof k) != (ssize_t)sizeof k)
			exit(1);
		limit_time(RUN_SECONDS);
		run(&in);
	}
	limit_time(0);
}

static void keep(const char *program, const struct corpus *c, uint64_t seed, uint64_t number, uint8_t *buf)
{
	struct input in = make_input(c, seed, number, buf);
	char *path = must(malloc(strlen(program) + strlen(fuzz_target_name()) + 64));
	FILE *f;

	sprintf(path, "%s-%s-found-%llu-%llu", program, fuzz_target_name(), (unsigned long long)seed,
	        (unsigned long long)number);
	if ((f = fopen(path, "wb")) && fwrite(in.data, 1, in.n, f) == in.n && fclose(f) == 0)
		fprintf(stderr, "fuzz: the input is in '%s'\n", path);
	free(path);
}

/* 0 when the child made every run and left nothing behind. */
static int watch(const char *program, const struct corpus *c, uint64_t seed, uint64_t n, uint8_t *buf)
{
	uint64_t k, last = 0;
	int ends[2], status = 0;
	pid_t pid;

	fflush(NULL);
	if (pipe(ends) != 0 || (pid = fork()) < 0) {
		perror("fuzz");
		return 1;
	}
	if (pid == 0) {
		close(ends[0]);
		run_all(c, seed, n, buf, ends[1]);
		exit(0);
	}
	close(ends[1]);
	while (read(ends[0], &k, sizeof k) == (ssize_t)sizeof k) /* a write this short is never split */
		last = k;
	close(ends[0]);
	waitpid(pid, &status, 0);
	if (status == 0)
		return 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
		fprintf(stderr, "fuzz: run %llu takes longer than %d s of processor time\n", (unsigned long long)last,
		        RUN_SECONDS);
	else
		fprintf(stderr, "fuzz: the target failed in run %llu, or leaks\n", (unsigned long long)last);
	keep(program, c, seed, last, buf);
	return 1;
}

static _Noreturn void usage(const char *me)
{
	fprintf(stderr, "usage: %s TARGET [-n MUTATIONS] [-s SEED] FILE-OR-FOLDER...\n", me);
	exit(2);
}

int main(int argc, char **argv)
{
	struct corpus c = { NULL, 0, 0 };
	uint64_t n = 0, seed = 1;
	uint8_t *buf = must(malloc(INPUT_MAX));
	int i = 1, failed;

	LLVMFuzzerInitialize(&argc, &argv);
	for (; i < argc && argv[i][0] == '-'; i++) {
		if (strcmp(argv[i], "-n") == 0 && i + 1 < argc)
			n = strtoull(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "-s") == 0 && i + 1 < argc)
			seed = strtoull(argv[++i], NULL, 10);
		else
			usage(argv[0]);
	}
	if (i == argc)
		usage(argv[0]);
	for (; i < argc; i++)
		add_path(&c, argv[i]);
	if (!c.n) {
		fputs("fuzz: no input files\n", stderr);
		return 1;
	}
	failed = watch(argv[0], &c, seed, n, buf);
	if (!failed)
		printf("%s: %zu files and %llu mutations of them, seed %llu: no fault\n", fuzz_target_name(), c.n,
		       (unsigned long long)n, (unsigned long long)seed);
	for (size_t k = 0; k < c.n; k++)
		free(c.v[k].data);
	free(c.v);
	free(buf);
	return failed;
}
