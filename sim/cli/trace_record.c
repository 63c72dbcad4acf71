/* trace_record.c - npusim trace record: a CUDA program under our capture library.
 *
 * The program runs as it would without us, with the library named in CUDA_INJECTION64_PATH. Each process that uses CUDA
 * appends to a spool of its own in T.db.spools; when the program has ended, whichever way, they are imported and the
 * folder goes. What cannot be imported stays there. */
#define _XOPEN_SOURCE 700 /* realpath, scandir, fork, setenv */
#include "sim/cli/cmd.h"

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
#include "traces/read/capture_import.h"

#define LIBRARY "libnpusim-capture.so"

struct options {
	const char *db, *library, *format;
	bool redact;
};

struct run {
	const struct options *o;
	struct str dir;
	char library[1024];
	int status;         /* of wait */
	int imported, kept; /* spools */
};

/* --- running it ------------------------------------------------------------------------------------------------ */

static int find_library(struct run *r, struct err *e)
{
	struct err why = ERR_INIT;
	char *full;

	if (r->o->library) {
		if (!(full = realpath(r->o->library, NULL)))
			return err_sys(e, ERR_IO, errno, "cannot read '%s', for option '--library'", r->o->library);
		snprintf(r->library, sizeof r->library, "%s", full);
		free(full);
		return 0;
	}
	if (path_library(LIBRARY, r->library, sizeof r->library, &why) == 0)
		return 0;
	return err_set(e, ERR_IO,
	               "%s: 'make' builds it where the CUDA toolkit is installed with CUPTI (cupti.h); with"
	               " '--library' you can name one that was built elsewhere",
	               why.msg);
}

static int make_dir(struct run *r, struct err *e)
{
	str_addf(&r->dir, "%s.spools", r->o->db);
	if (r->dir.failed)
		return err_nomem(e, NULL);
	if (mkdir(str_c(&r->dir), 0777) == 0)
		return 0;
	if (errno == EEXIST)
		return err_set(e, ERR_IO,
		               "'%s' is there, from a recording that did not end: 'npusim trace import %s/* -o %s'"
		               " reads what it holds; then remove it",
		               str_c(&r->dir), str_c(&r->dir), r->o->db);
	return err_sys(e, ERR_IO, errno, "cannot make the folder '%s'", str_c(&r->dir));
}

/* In the child. */
static void become(const struct run *r, char **argv, int report)
{
	char *dir = realpath(str_c(&r->dir), NULL);
	int why;

	if (dir && setenv("CUDA_INJECTION64_PATH", r->library, 1) == 0 &&
	    setenv("NVTX_INJECTION64_PATH", r->library, 1) == 0 && setenv("NPUSIM_CAPTURE_DIR", dir, 1) == 0 &&
	    (r->o->redact ? setenv("NPUSIM_CAPTURE_REDACT", "1", 1) : unsetenv("NPUSIM_CAPTURE_REDACT")) == 0)
		execvp(argv[0], argv);
	why = errno;
	if (write(report, &why, sizeof why) < 0)
		_exit(126);
	_exit(127);
}

/* The terminal's interrupt is for the program; we wait for what it makes of it. */
static int run_command(struct run *r, char **argv, struct err *e)
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
		become(r, argv, report[1]);
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

struct row {
	const char *name;
	struct trace_import_stats st;
};

static void trace_record_row(struct doc *d, const void *of, size_t i)
{
	const struct row *x = of;

	(void)i;
	doc_text(d, "process", x->name);
	doc_int(d, "kernels", x->st.kernels);
	doc_int(d, "copies", x->st.copies);
	doc_int(d, "sets", x->st.sets);
	doc_int(d, "ops", x->st.ops);
	doc_int(d, "ranges", x->st.ranges);
	doc_int(d, "calls", x->st.calls);
	doc_int(d, "syncs", x->st.syncs);
}

static int import_one(struct run *r, struct tracedb *t, const char *name, struct doc *d, struct err *e)
{
	struct trace_import_stats st = { 0 };
	struct str path = STR_INIT;
	struct input *in = NULL;
	int rc = -1;

	str_addf(&path, "%s/%s", str_c(&r->dir), name);
	if (path.failed)
		err_nomem(e, NULL);
	else if ((in = input_open(str_c(&path), e)))
		rc = capture_import(t, in, NULL, NULL, &st, e);
	input_free(in);
	if (rc == 0) {
		cmd_trace_capture_note(str_c(&path), &st);
		cmd_trace_private_note(name, &st, r->o->redact);
		doc_row(d, trace_record_row, &(struct row){ name, st }, 0);
		r->imported++;
	} else if (rc == 1) {
		fprintf(stderr, "npusim: note: '%s' holds '%s' already\n", r->o->db, str_c(&path));
		r->imported++;
	} else if (rc == 2) {
		fprintf(stderr, "npusim: note: process %.*s did nothing on a GPU\n", (int)strcspn(name, ".-"), name);
	}
	if (rc >= 0)
		unlink(str_c(&path));
	else
		r->kept++;
	str_free(&path);
	return rc < 0 ? -1 : 0;
}

static int import_all(struct run *r, struct doc *d, struct err *e)
{
	struct tracedb *t = NULL;
	struct dirent **found = NULL;
	const int n = scandir(str_c(&r->dir), &found, is_spool, alphasort);
	int rc = n < 0 ? err_sys(e, ERR_IO, errno, "cannot read the folder '%s'", str_c(&r->dir)) : 0;

	if (n > 0 && !(t = tracedb_open(r->o->db, DB_WRITE, e)))
		rc = -1;
	if (t && r->o->redact)
		tracedb_redact(t);
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = import_one(r, t, found[i]->d_name, d, e);
		free(found[i]);
	}
	free(found);
	rc = tracedb_close(t, rc, e);
	if (rc < 0)
		return err_add(e, "importing what is in '%s'", str_c(&r->dir));
	rmdir(str_c(&r->dir)); /* what else the program put there stays */
	return 0;
}

/* How it ended, unless it ended well. */
static bool failed(const struct run *r, char *text, size_t size)
{
	if (WIFSIGNALED(r->status))
		snprintf(text, size, "the command was ended by signal %d", WTERMSIG(r->status));
	else
		snprintf(text, size, "the command ended with exit %d", WEXITSTATUS(r->status));
	return r->status != 0;
}

static int verdict(const struct run *r, struct err *e)
{
	char how[64];
	const bool bad = failed(r, how, sizeof how);

	if (r->imported == 0)
		return err_set(e, ERR_IO, "nothing was recorded: no process of the command did anything on a GPU%s%s",
		               bad ? "; " : "", bad ? how : "");
	return bad ? err_set(e, ERR_BOUND, "%s; what it did until then is in '%s'", how, r->o->db) : 0;
}

static int record(struct run *r, char **argv, struct doc *d, struct err *e)
{
	struct tracedb *t;
	int rc;

	/* What would fail after an hour's run fails now. */
	if (find_library(r, e) < 0 || !(t = tracedb_open(r->o->db, DB_WRITE, e)))
		return -1;
	tracedb_free(t);
	if (make_dir(r, e) < 0)
		return -1;
	if (run_command(r, argv, e) < 0) {
		rmdir(str_c(&r->dir));
		return -1;
	}
	doc_table_open(d, NULL, NULL);
	rc = import_all(r, d, e);
	doc_table_close(d, trace_record_row, NULL);
	if (rc < 0 || !r->imported)
		doc_drop(d);
	return rc == 0 ? verdict(r, e) : -1;
}

static int trace_record_check(const struct options *o, const struct opt_list *args, struct err *e)
{
	if (!o->db)
		return err_set(e, ERR_USAGE,
		               "the database to record into is missing: npusim trace record -o T.db -- COMMAND");
	if (args->n == 0)
		return err_set(e, ERR_USAGE,
		               "the command to record is missing: npusim trace record -o T.db -- COMMAND");
	return 0;
}

static int recorded(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct run r = { .o = options, .dir = STR_INIT };
	char **words = NULL;
	int rc = trace_record_check(r.o, args, e);

	if (rc == 0 && !(words = calloc((size_t)args->n + 1, sizeof *words)))
		rc = err_nomem(e, NULL);
	for (int i = 0; rc == 0 && i < args->n; i++)
		words[i] = (char *)args->v[i];
	if (rc == 0)
		rc = record(&r, words, d, e);
	free(words);
	str_free(&r.dir);
	return rc;
}

int cmd_trace_record(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { 0 };
	const struct opt opts[] = {
		{ 'o', "output", OPT_WRITE, &o.db, "T.db",
		  "the trace database; made when it is not there, else added to" },
		{ 0, "library", OPT_READ, &o.library, "FILE",
		  "the capture library; by default " LIBRARY " beside this program,"
		  " or where it was installed" },
		{ 0, "redact", OPT_FLAG, &o.redact, NULL, CMD_REDACT_HELP },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END, .arg = OPT_ARGS_WORDS },
	};
	const struct opt_cmd cmd = {
		"npusim trace record -o T.db -- COMMAND [ARGUMENT]...",
		"Runs a CUDA program and records what it does: kernels, copies and sets, also those in CUDA graphs, one by one;"
		" the runtime calls that launched them; NVTX ranges, which '--range' of the other commands takes. PyTorch's"
		" operations, with their shapes and types, are there when the program runs under traces/capture/torch_ops.py, as"
		" in the second example, or its model under 'with torch_ops.ops():'; those that a CUDA graph captured there, too."
		" Under torch.autograd.profiler.emit_nvtx(record_shapes=True) they have shapes alone, and what else a replay needs is"
		" inferred. Each process that uses the GPU becomes one file of the"
		" database. A program that is killed loses its last second at the most. It needs no profiler, and no other may"
		" be at work in the program. The command line of each process is stored as it is, unless '--redact' is given."
		" The exit code is 1 when the command itself failed.",
		"npusim trace record -o /tmp/t.db -- ./my_program --steps 3\n"
		"npusim trace record -o /tmp/t.db -- python3 traces/capture/torch_ops.py decode.py\n",
		opts,
		0,
		-1
	};

	return cmd_do(&cmd, &o.format, recorded, &o, argc, argv, out, e);
}
