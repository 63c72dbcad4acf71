/* dies.c - loaded before a program (LD_PRELOAD), ends it by a signal at one of its changes to files: the same moment in
 * every run, however fast the host is. validate/tools/kills.sh uses it.
 *
 * DIES_AT=N DIES_BY=SIGNAL: at the Nth change. A write has done half of its bytes by then, any other change nothing.
 * DIES_TO=FILE: none dies; how many changes there were is written there. Changes are writes at a place of a file, and what
 * changes its length, its name or its folder. Only the process that was started counts, not those it forks. Functions of
 * the C library that write inside it, such as fflush, are not seen: SQLite and renames are. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
	pid_t pid;
	long at, n;
	int by;
} d;

static long number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	d.at = number("DIES_AT");
	d.by = (int)number("DIES_BY");
	d.pid = getpid();
	/* What a shell starts in the background ignores SIGINT: it would wait for ever for what it does not feel. */
	signal(d.by, SIG_DFL);
}

__attribute__((destructor)) static void end(void)
{
	const char *to = getenv("DIES_TO");
	FILE *f = to && getpid() == d.pid ? fopen(to, "w") : NULL;

	if (f) {
		fprintf(f, "%ld\n", d.n);
		fclose(f);
	}
}

static bool is_last(void)
{
	return getpid() == d.pid && ++d.n == d.at;
}

static void die(void)
{
	kill(getpid(), d.by);
	for (;;) /* it is on its way */
		pause();
}

/* The C library's own, for `next` of each function below. */
static void *real(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f) {
		fprintf(stderr, "dies: there is no %s\n", name);
		abort();
	}
	return f;
}

#define CHANGE(type, name, parameters, arguments) \
	type name parameters \
	{ \
		type(*next) parameters; \
\
		*(void **)&next = real(#name); \
		if (is_last()) \
			die(); \
		return next arguments; \
	}

#define WRITE(name, offset) \
	ssize_t name(int fd, const void *bytes, size_t n, offset at) \
	{ \
		ssize_t (*next)(int, const void *, size_t, offset); \
\
		*(void **)&next = real(#name); \
		if (is_last()) { \
			if (next(fd, bytes, n / 2, at) >= 0) \
				die(); \
			die(); \
		} \
		return next(fd, bytes, n, at); \
	}

WRITE(pwrite, off_t)
WRITE(pwrite64, off64_t)
CHANGE(int, ftruncate, (int fd, off_t length), (fd, length))
CHANGE(int, ftruncate64, (int fd, off64_t length), (fd, length))
CHANGE(int, unlink, (const char *path), (path))
CHANGE(int, unlinkat, (int dir, const char *path, int flags), (dir, path, flags))
CHANGE(int, rename, (const char *from, const char *to), (from, to))
CHANGE(int, linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags))
CHANGE(int, fsync, (int fd), (fd))
CHANGE(int, fdatasync, (int fd), (fd))
CHANGE(int, fchmod, (int fd, mode_t mode), (fd, mode))
