#define _XOPEN_SOURCE 700 /* realpath, scandir, fork, setenv */
#include "traces/read/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/base/str.h"
#include "traces/read/capture_import.h"

/* --- running it ------------------------------------------------------------------------------------------------ */

static int find_library(const char *given, char *out, unsigned size, struct err *e)
{
	struct err why = ERR_INIT;
	char *full;

	if (given) {
		if (!(full = realpath(given, NULL)))
			return err_sys(e, ERR_IO, errno, "cannot read '%s', for option '--library'", given);
		snprintf(out, size, "%s", full);
		free(full);
		return 0;
	}
	if (path_library(RECORDING_LIBRARY, out, size, &why) == 0)
		return 0;
	return err_set(e, ERR_IO,
	               "%s: 'make' builds it where the CUDA toolkit is installed with CUPTI (cupti.h); with"
	               " '--library' you can name one that was built elsewhere",
	               why.msg);
}

static int make_dir(const char *dir, const char *db, struct err *e)
{
	if (mkdir(dir, 0777) == 0)
		return 0;
	if (errno == EEXIST)
		return err_set(e, ERR_IO,
		               "'%s' is there, from a recording that did not end: 'npusim trace import %s/* -o %s'"
		               " reads what it holds; then remove it",
		               dir, dir, db);
	return err_sys(e, ERR_IO, errno, "cannot make the folder '%s'", dir);
}

/* In the child. */
static void become(const struct recording *r, const char *library, const char *spools, char **argv, int report)
{
	char *dir = realpath(spools, NULL);
	int why;

	if (dir && setenv("CUDA_INJECTION64_PATH", library, 1) == 0 &&
	    setenv("NVTX_INJECTION64_PATH", library, 1) == 0 && setenv("NPUSIM_CAPTURE_DIR", dir, 1) == 0 &&
	    (r->redact ? setenv("NPUSIM_CAPTURE_REDACT", "1", 1) : unsetenv("NPUSIM_CAPTURE_REDACT")) == 0)
		execvp(argv[0], argv);
	why = errno;
	if (write(report, &why, sizeof why) < 0)
		_exit(126);
	_exit(127);
}

/* The terminal's interrupt is for the program; we wait for what it makes of it. */
static int run_command(struct recording *r, const char *library, const char *dir, char **argv, struct err *e)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, interrupt, quit;
	int report[2], why = 0, rc = -1;
	pid_t child;

	if (pipe(report) < 0 || fcntl(report[1], F_SETFD, FD_CLOEXEC) < 0)
		return err_sys(e, ERR_IO, errno, "cannot make a pipe");
	fflush(NULL);
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	if ((child = fork()) == 0) {
		close(report[0]);
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
		signal(SIGXFSZ, SIG_DFL); /* main ignores it; the program has not asked for that */
		become(r, library, dir, argv, report[1]);
	}
	close(report[1]);
	if (child < 0) {
		err_sys(e, ERR_IO, errno, "cannot start a process");
	} else {
		if (read(report[0], &why, sizeof why) == (ssize_t)sizeof why)
			err_sys(e, ERR_IO, why, "cannot run '%s'", argv[0]);
		else
			rc = 0;
		while (waitpid(child, &r->status, 0) < 0 && errno == EINTR)
			;
	}
	close(report[0]);
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	return rc;
}

/* --- importing what it left ------------------------------------------------------------------------------------ */

static int is_spool(const struct dirent *d)
{
	const size_t n = strlen(d->d_name);

	return n > 6 && strcmp(d->d_name + n - 6, ".spool") == 0;
}

static int import_one(struct recording *r, struct tracedb *t, const char *dir, const char *name, struct err *e)
{
	struct trace_import_stats st = { 0 };
	struct str path = STR_INIT;
	struct input *in = NULL;
	int rc = -1;

	str_addf(&path, "%s/%s", dir, name);
	if (path.failed)
		err_nomem(e, NULL);
	else if ((in = input_open(str_c(&path), e)))
		rc = capture_import(t, in, NULL, NULL, &st, e);
	input_free(in);
	if (rc >= 0) {
		r->imported += rc < 2;
		r->tell(r->arg, str_c(&path), name, rc, &st);
		unlink(str_c(&path));
	}
	str_free(&path);
	return rc < 0 ? -1 : 0;
}

static int import_all(struct recording *r, const char *dir, struct err *e)
{
	struct tracedb *t = NULL;
	struct dirent **found = NULL;
	const int n = scandir(dir, &found, is_spool, alphasort);
	int rc = n < 0 ? err_sys(e, ERR_IO, errno, "cannot read the folder '%s'", dir) : 0;

	if (n > 0 && !(t = tracedb_open(r->db, DB_WRITE, e)))
		rc = -1;
	if (t && r->redact)
		tracedb_redact(t);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = import_one(r, t, dir, found[i]->d_name, e);
		free(found[i]);
	}
	free(found);
	rc = tracedb_close(t, rc, e);
	if (rc < 0)
		return err_add(e, "importing what is in '%s'", dir);
	rmdir(dir); /* what else the program put there stays */
	return 0;
}

int recording_run(struct recording *r, char **argv, struct err *e)
{
	char library[1024];
	struct str dir = STR_INIT;
	struct tracedb *t;
	int rc = find_library(r->library, library, sizeof library, e);

	/* What would fail after an hour's run fails now. */
	if (rc == 0) {
		rc = (t = tracedb_open(r->db, DB_WRITE, e)) ? 0 : -1;
		tracedb_free(t);
	}
	str_addf(&dir, "%s.spools", r->db);
	if (rc == 0)
		rc = dir.failed ? err_nomem(e, NULL) : make_dir(str_c(&dir), r->db, e);
	if (rc == 0 && (rc = run_command(r, library, str_c(&dir), argv, e)) < 0)
		rmdir(str_c(&dir));
	if (rc == 0)
		rc = import_all(r, str_c(&dir), e);
	str_free(&dir);
	return rc;
}
