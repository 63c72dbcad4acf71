/* workload_build.c - npusim workload build: a model's step as a table of ops, or what is in it by kind. */
#include "sim/build/build.h"
#include "sim/cli/cmd.h"
#include "sim/ui/outfile.h"
#include "workloads/work.h"

struct sums {
	uint64_t ops, read, written, flops, weights, kv;
};

static void workload_build_add(struct sums *x, const struct work *w)
{
	x->ops++;
	x->read += w->read_bytes;
	x->written += w->write_bytes;
	x->flops += w->flops;
	x->weights += w->role_read_bytes[OP_WEIGHT];
	x->kv += w->role_read_bytes[OP_KV];
}

struct kinds {
	struct sums by[OP_KINDS + 1]; /* the last is all of them */
};

static void kind(struct doc *d, const void *of, size_t k)
{
	const struct sums *x = &((const struct kinds *)of)->by[k];

	if (!d->heads && !x->ops && k < OP_KINDS)
		return;
	doc_text(d, "kind", k < OP_KINDS ? op_kind_name((enum op_kind)k) : "all");
	doc_count(d, "ops", x->ops);
	doc_bytes(d, "read_bytes", x->read);
	doc_bytes(d, "write_bytes", x->written);
	doc_bytes(d, "weight_bytes", x->weights);
	doc_bytes(d, "kv_bytes", x->kv);
	doc_count(d, "flops", x->flops);
}

static void kinds(struct doc *d, const struct op_stream *s)
{
	struct kinds x = { { { 0 } } };

	for (size_t i = 0; i < s->n_ops; i++) {
		const struct work w = work_of(s, &s->ops[i]);

		workload_build_add(&x.by[s->ops[i].kind], &w);
		workload_build_add(&x.by[OP_KINDS], &w);
	}
	doc_table(d, NULL, NULL, OP_KINDS + (d->format == OUT_TABLE), kind, &x);
}

struct options {
	struct workload_spec asked;
	const char *path, *format;
};

static int do_workload_build(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct options *o = options;
	struct str text = STR_INIT;
	struct workload w = { .model = NULL };
	int rc;

	o->asked.model = args->v[0];
	if (workload_check(&o->asked, WORKLOAD_BUILD, e) < 0)
		return -1;
	rc = cmd_workload_read(&o->asked, NULL, &w, e);
	if (rc == 0 && o->path) {
		build_table(&w.stream, &text);
		rc = outfile_write(o->path, &text, e);
	}
	if (rc == 0) {
		doc_say(d, "%s: %s\n%zu ops%s%s\n\n", w.model->name, w.in.trace.range, w.stream.n_ops,
		        o->path ? ", written to " : "", o->path ? o->path : "");
		kinds(d, &w.stream);
	}
	str_free(&text);
	workload_free(&w);
	return rc;
}

int cmd_workload_build(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .path = NULL };
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.asked, WORKLOAD_BUILD) },
		{ 'o', "output", OPT_WRITE, &o.path, "OPS.csv",
		  "write the ops there as a table, a line each, which 'npusim trace import' reads" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim workload build MODEL [--phase PHASE] [--batch B] [--context N] [--tokens T] [--quant SCHEME] [--style STYLE]"
		" [-o OPS.csv]",
		"The ops of a model's step as 'run -m' would run them: how many of each kind, their bytes and operations. With -o"
		" they are written as a table of ops, to look at, to change, and to run.",
		"npusim workload build llama-3.1-8b --batch 16 --context 8192\n"
		"npusim workload build deepseek-ocr --style eager -o /tmp/ops.csv\n",
		opts,
		1,
		1
	};

	return cmd_do(&cmd, &o.format, do_workload_build, &o, argc, argv, out, e);
}
