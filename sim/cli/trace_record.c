/* trace_record.c - npusim trace record: a CUDA program under our capture library (traces/read/recording.h). */
#include "sim/cli/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "traces/read/recording.h"

struct options {
	const char *db, *library, *format;
	bool redact;
};

/* --- what it left ---------------------------------------------------------------------------------------------- */

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

struct found {
	const struct options *o;
	struct doc *d;
};

static void spool(void *arg, const char *path, const char *name, int rc, const struct trace_import_stats *st)
{
	const struct found *f = arg;

	if (rc == 0) {
		cmd_trace_capture_note(path, st);
		cmd_trace_private_note(name, st, f->o->redact);
		doc_row(f->d, trace_record_row, &(struct row){ name, *st }, 0);
	} else if (rc == 1) {
		fprintf(stderr, "npusim: note: '%s' holds '%s' already\n", f->o->db, path);
	} else {
		fprintf(stderr, "npusim: note: process %.*s did nothing on a GPU\n", (int)strcspn(name, ".-"), name);
	}
}

/* How it ended, unless it ended well. */
static bool failed(const struct recording *r, char *text, size_t size)
{
	if (WIFSIGNALED(r->status))
		snprintf(text, size, "the command was ended by signal %d", WTERMSIG(r->status));
	else
		snprintf(text, size, "the command ended with exit %d", WEXITSTATUS(r->status));
	return r->status != 0;
}

static int verdict(const struct recording *r, struct err *e)
{
	char how[64];
	const bool bad = failed(r, how, sizeof how);

	if (!r->imported)
		return err_set(e, ERR_IO, "nothing was recorded: no process of the command did anything on a GPU%s%s",
		               bad ? "; " : "", bad ? how : "");
	return bad ? err_set(e, ERR_BOUND, "%s; what it did until then is in '%s'", how, r->db) : 0;
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

static int record(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	const struct options *o = options;
	struct found f = { o, d };
	struct recording r = { o->db, o->library, o->redact, spool, &f, 0, 0 };
	char **words = NULL;
	int rc = trace_record_check(o, args, e);

	if (rc == 0 && !(words = calloc((size_t)args->n + 1, sizeof *words)))
		rc = err_nomem(e, NULL);
	for (int i = 0; rc == 0 && i < args->n; i++)
		words[i] = (char *)args->v[i];
	doc_table_open(d, NULL, NULL);
	if (rc == 0)
		rc = recording_run(&r, words, e);
	doc_table_close(d, trace_record_row, NULL);
	if (rc < 0 || !r.imported)
		str_clear(d->to);
	free(words);
	return rc == 0 ? verdict(&r, e) : -1;
}

int cmd_trace_record(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { 0 };
	const struct opt opts[] = {
		{ 'o', "output", OPT_WRITE, &o.db, "T.db",
		  "the trace database; made when it is not there, else added to" },
		{ 0, "library", OPT_READ, &o.library, "FILE",
		  "the capture library; by default " RECORDING_LIBRARY " beside this program,"
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

	return cmd_do(&cmd, &o.format, record, &o, argc, argv, out, e);
}
