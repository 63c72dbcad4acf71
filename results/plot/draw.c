#define _POSIX_C_SOURCE 200809L /* fork, pread, sigaction */
#include "results/plot/draw.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/newfile.h"

#define PATIENCE 60    /* seconds for a picture; they take about one */
#define ZOOM     "1.5" /* of a PNG: text is read on dense screens too */

int draw_format_of(const char *path, enum draw_format *f, struct err *e)
{
	static const char *const endings[] = { ".svg", ".png", ".pdf" };
	size_t n = strlen(path);

	for (int i = 0; i < 3; i++)
		if (n > 4 && strcasecmp(path + n - 4, endings[i]) == 0) {
			*f = (enum draw_format)i;
			return 0;
		}
	return err_set(e, ERR_USAGE, "'%s' ends in none of .svg, .png and .pdf, which say what to draw", path);
}

/* --- programs ---------------------------------------------------------------------------------------------- */

struct tool {
	const char *name, *why;
};
static const struct tool node = { "node", "it draws the picture (Debian: nodejs)" };
static const struct tool convert = { "rsvg-convert",
	                             "it makes PNG and PDF (Debian: librsvg2-bin); FILE.svg needs none" };

/* The first of that name in PATH's absolute folders. */
static int find(const struct tool *t, char *out, size_t size, struct err *e)
{
	const char *at = getenv("PATH"), *end;

	for (; at && *at; at = *end ? end + 1 : end) {
		int n;

		end = at + strcspn(at, ":");
		if (*at != '/')
			continue;
		n = snprintf(out, size, "%.*s/%s", (int)(end - at), at, t->name);
		if (n > 0 && (size_t)n < size && access(out, X_OK) == 0)
			return 0;
	}
	return err_set(e, ERR_IO, "%s is not in PATH, and %s", t->name, t->why);
}

static _Noreturn void child(char *const argv[], int in, int out, int err)
{
	/* Neither the user's settings nor the time of day are in a picture. */
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 || setenv("SOURCE_DATE_EPOCH", "0", 1) != 0 ||
	    setenv("LC_ALL", "C.UTF-8", 1) != 0 || unsetenv("NODE_OPTIONS") != 0)
		_exit(126);
	alarm(PATIENCE);
	execv(argv[0], argv);
	_exit(127);
}

/* The first line of what a program says that holds a letter. */
static void complaint(FILE *f, char *text, size_t size)
{
	char line[256];

	snprintf(text, size, "it said nothing");
	if (fseek(f, 0, SEEK_SET) != 0)
		return;
	while (fgets(line, sizeof line, f)) {
		size_t n = strcspn(line, "\n");

		line[n] = '\0';
		if (strpbrk(line, "abcdefghijklmnopqrstuvwxyz")) {
			snprintf(text, size, "%.200s", line);
			return;
		}
	}
}

/* Runs argv[0] from one file into another. */
static int draw_run(char *const argv[], FILE *in, FILE *out, struct err *e)
{
	FILE *said = tmpfile();
	char text[256];
	int status = 0, rc = 0;
	pid_t pid;

	if (!said || fflush(in) != 0 || fseek(in, 0, SEEK_SET) != 0 || (pid = fork()) < 0) {
		if (said)
			fclose(said);
		return err_sys(e, ERR_IO, errno, "cannot start '%s'", argv[0]);
	}
	if (pid == 0)
		child(argv, fileno(in), fileno(out), fileno(said));
	while (rc == 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			rc = err_sys(e, ERR_IO, errno, "cannot wait for '%s'", argv[0]);
	if (rc == 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
		rc = err_set(e, ERR_IO, "'%s' was not done after %d s", argv[0], PATIENCE);
	} else if (rc == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
		complaint(said, text, sizeof text);
		rc = err_set(e, ERR_IO, "'%s' failed: %s", argv[0], text);
	}
	fclose(said);
	return rc;
}

/* --- pictures ---------------------------------------------------------------------------------------------- */

/* `kind`: "svg" or "spec". */
static int draw_page(const struct draw *d, const char *kind, FILE *out, struct err *e)
{
	char program[1024];
	char *const argv[] = { program, "-e", (char *)d->script, (char *)d->chart, (char *)kind, NULL };
	FILE *page;
	int rc;

	if (find(&node, program, sizeof program, e) < 0)
		return -1;
	if (!(page = tmpfile()))
		return err_sys(e, ERR_IO, errno, "no room for a picture");
	rc = fwrite(str_c(d->page), 1, d->page->len, page) == d->page->len
	             ? draw_run(argv, page, out, e)
	             : err_sys(e, ERR_IO, errno, "no room for a picture");
	fclose(page);
	return rc;
}

static int draw_convert(enum draw_format f, const char *program, FILE *svg, FILE *out, struct err *e)
{
	char path[1024];
	char *const png[] = { path, "-f", "png", "-z", ZOOM, NULL }, *const pdf[] = { path, "-f", "pdf", NULL };

	snprintf(path, sizeof path, "%s", program);
	return draw_run(f == DRAW_PNG ? png : pdf, svg, out, e);
}

/* What was drawn goes to its place. */
static int draw_put(FILE *drawn, const struct newfile *n, struct err *e)
{
	char buf[65536];
	off_t at = 0;
	ssize_t k, w;
	int rc = 0;

	while (rc == 0 && (k = pread(fileno(drawn), buf, sizeof buf, at)) != 0) {
		if (k < 0 || (w = write(n->fd, buf, (size_t)k)) < 0)
			rc = err_sys(e, ERR_IO, errno, "cannot write '%s'", n->path);
		else
			at += w;
	}
	if (rc == 0 && at == 0)
		rc = err_set(e, ERR_IO, "nothing was drawn into '%s'", n->path);
	return rc;
}

int draw_file(const struct draw *d, const char *path, struct err *e)
{
	FILE *svg = NULL, *other = NULL;
	struct newfile n;
	char program[1024];
	enum draw_format f;
	int rc = -1;

	if (draw_format_of(path, &f, e) < 0 || (f != DRAW_SVG && find(&convert, program, sizeof program, e) < 0) ||
	    newfile_open(&n, path, e) < 0)
		return -1;
	if (!(svg = tmpfile()) || !(other = tmpfile()))
		err_sys(e, ERR_IO, errno, "no room for '%s'", path);
	else
		rc = draw_page(d, "svg", svg, e);
	if (rc == 0 && f != DRAW_SVG)
		rc = draw_convert(f, program, svg, other, e);
	if (rc == 0)
		rc = draw_put(f == DRAW_SVG ? svg : other, &n, e);
	rc = newfile_close(&n, rc, e);
	if (other)
		fclose(other);
	if (svg)
		fclose(svg);
	return rc;
}

int draw_spec(const struct draw *d, struct str *out, struct err *e)
{
	FILE *spec = tmpfile();
	char buf[4096];
	size_t n;
	int rc = spec ? draw_page(d, "spec", spec, e) : err_sys(e, ERR_IO, errno, "no room for a picture");

	if (rc == 0 && fseek(spec, 0, SEEK_SET) != 0)
		rc = err_sys(e, ERR_IO, errno, "cannot read what was drawn");
	while (rc == 0 && (n = fread(buf, 1, sizeof buf, spec)) > 0)
		str_addn(out, buf, n);
	if (spec)
		fclose(spec);
	return rc == 0 && out->failed ? err_nomem(e, "for a picture") : rc;
}
