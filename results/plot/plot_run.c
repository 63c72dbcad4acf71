/* plot_run.c - gnuplot: found, run on a script, and its picture put in place whole. */
#define _POSIX_C_SOURCE 200809L /* fork, pread, sigaction */
#include "results/plot/plot.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/newfile.h"

#define PATIENCE 60 /* seconds for a picture; they take well under one */

/* The first gnuplot in PATH's absolute folders. */
static int plot_run_find(char *out, size_t size, struct err *e)
{
	const char *at = getenv("PATH"), *end;

	for (; at && *at; at = *end ? end + 1 : end) {
		int n;

		end = at + strcspn(at, ":");
		if (*at != '/')
			continue;
		n = snprintf(out, size, "%.*s/gnuplot", (int)(end - at), at);
		if (n > 0 && (size_t)n < size && access(out, X_OK) == 0)
			return 0;
	}
	return err_set(e, ERR_IO,
	               "gnuplot is not in PATH, and it draws the picture (Debian: gnuplot-nox); '--script' prints"
	               " what it would be given");
}

/* A file without a name that holds `text`. */
static FILE *holding(const struct str *text)
{
	FILE *f = tmpfile();

	if (f && (fwrite(str_c(text), 1, text->len, f) != text->len || fflush(f) != 0 || fseek(f, 0, SEEK_SET) != 0)) {
		fclose(f);
		return NULL;
	}
	return f;
}

static _Noreturn void child(const char *program, int in, int out, int err)
{
	/* Neither the user's settings nor the time of day are in a picture. */
	char *const argv[] = { "gnuplot", "-d", "-", NULL };

	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 || setenv("SOURCE_DATE_EPOCH", "0", 1) != 0 ||
	    setenv("LC_ALL", "C.UTF-8", 1) != 0 || unsetenv("GNUTERM") != 0 || unsetenv("GNUPLOT_LIB") != 0)
		_exit(126);
	alarm(PATIENCE);
	execv(program, argv);
	_exit(127);
}

/* The first line of what gnuplot says that holds a letter: it begins with an empty line and a caret. */
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

static int do_plot_run(const char *program, FILE *script, int out, FILE *said, struct err *e)
{
	char text[256];
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return err_sys(e, ERR_IO, errno, "cannot start '%s'", program);
	if (pid == 0)
		child(program, fileno(script), out, fileno(said));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_sys(e, ERR_IO, errno, "cannot wait for '%s'", program);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		return err_set(e, ERR_IO, "'%s' was not done after %d s", program, PATIENCE);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		complaint(said, text, sizeof text);
		return err_set(e, ERR_IO, "'%s' failed: %s", program, text);
	}
	return 0;
}

/* The date cairo writes into a PDF, and no way to tell it another, becomes 1970: it has the same length. */
static int undate(int fd, const char *path, struct err *e)
{
	static const char key[] = "/CreationDate (D:", epoch[] = "19700101000000";
	struct stat st;
	char *text = NULL;
	int rc = -1;

	if (fstat(fd, &st) == 0 && (text = malloc((size_t)st.st_size + 1)) &&
	    pread(fd, text, (size_t)st.st_size, 0) == st.st_size) {
		rc = 0;
		for (off_t i = 0; i + (off_t)(sizeof key + sizeof epoch) < st.st_size; i++)
			if (memcmp(text + i, key, sizeof key - 1) == 0 &&
			    pwrite(fd, epoch, sizeof epoch - 1, i + (off_t)sizeof key - 1) != sizeof epoch - 1)
				rc = -1;
	}
	free(text);
	return rc < 0 ? err_sys(e, ERR_IO, errno, "cannot write '%s'", path) : 0;
}

/* What was drawn goes to its place. */
static int plot_run_put(int drawn, const struct newfile *n, struct err *e)
{
	char buf[65536];
	off_t at = 0;
	ssize_t k, w;
	int rc = 0;

	while (rc == 0 && (k = pread(drawn, buf, sizeof buf, at)) != 0) {
		if (k < 0 || (w = write(n->fd, buf, (size_t)k)) < 0)
			rc = err_sys(e, ERR_IO, errno, "cannot write '%s'", n->path);
		else
			at += w;
	}
	if (rc == 0 && at == 0)
		rc = err_set(e, ERR_IO, "gnuplot drew nothing into '%s'", n->path);
	return rc;
}

int plot_draw(const struct plot *p, const char *path, struct err *e)
{
	struct str script = STR_INIT;
	FILE *in = NULL, *said = NULL, *drawn = NULL;
	struct newfile n;
	char program[1024];
	enum plot_format f;
	bool opened = false;
	int rc = -1;

	if (plot_format_of(path, &f, e) < 0 || plot_script(p, f, &script, e) < 0 ||
	    plot_run_find(program, sizeof program, e) < 0 || newfile_open(&n, path, e) < 0)
		goto out;
	opened = true;
	if (!(in = holding(&script)) || !(said = tmpfile()) || !(drawn = tmpfile())) {
		err_set(e, ERR_IO, "no room for the script of '%s'", path);
		goto out;
	}
	rc = do_plot_run(program, in, fileno(drawn), said, e);
	if (rc == 0 && f == PLOT_PDF)
		rc = undate(fileno(drawn), path, e);
	if (rc == 0)
		rc = plot_run_put(fileno(drawn), &n, e);
out:
	if (opened)
		rc = newfile_close(&n, rc, e);
	if (drawn)
		fclose(drawn);
	if (in)
		fclose(in);
	if (said)
		fclose(said);
	str_free(&script);
	return rc;
}
