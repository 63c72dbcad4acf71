/* workload_build.c - npusim workload build: a model's step as a table of ops, or what is in it by kind. */
#include <stdio.h>
#include <string.h>

#include "sim/build/build.h"
#include "sim/cli/cmd.h"
#include "sim/ui/outfile.h"
#include "workloads/work.h"

#define COLS(a) ((int)(sizeof(a) / sizeof *(a)))

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

static void workload_build_row(struct out_table *t, const char *kind, const struct sums *x)
{
	out_text(t, kind);
	out_int(t, (int64_t)x->ops);
	out_int(t, (int64_t)x->read);
	out_int(t, (int64_t)x->written);
	out_int(t, (int64_t)x->weights);
	out_int(t, (int64_t)x->kv);
	out_int(t, (int64_t)x->flops);
}

static void kinds(const struct op_stream *s, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "kind", OUT_TEXT, 0 },          { "ops", OUT_INT, 0 },
		{ "read_bytes", OUT_BYTES, 0 },   { "write_bytes", OUT_BYTES, 0 },
		{ "weight_bytes", OUT_BYTES, 0 }, { "kv_bytes", OUT_BYTES, 0 },
		{ "flops", OUT_INT, 0 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);
	struct sums by[OP_KINDS] = { { 0 } }, all = { 0 };

	for (size_t i = 0; i < s->n_ops; i++) {
		const struct work w = work_of(s, &s->ops[i]);

		workload_build_add(&by[s->ops[i].kind], &w);
		workload_build_add(&all, &w);
	}
	for (int k = 0; k < OP_KINDS; k++)
		if (by[k].ops)
			workload_build_row(t, op_kind_name((enum op_kind)k), &by[k]);
	if (f == OUT_TABLE)
		workload_build_row(t, "all", &all);
	out_table_write(t, f, out);
	out_table_free(t);
}

static int do_workload_build(const struct workload_spec *o, const char *path, enum out_format f, struct str *out,
                             struct err *e)
{
	struct str text = STR_INIT;
	struct workload w = { .model = NULL };
	int rc = cmd_workload_read(o, NULL, &w, e);

	if (rc == 0 && path) {
		build_table(&w.stream, &text);
		rc = outfile_write(path, &text, e);
	}
	if (rc == 0 && f == OUT_TABLE)
		str_addf(out, "%s: %s\n%zu ops%s%s\n\n", w.model->name, w.in.trace.range, w.stream.n_ops,
		         path ? ", written to " : "", path ? path : "");
	if (rc == 0)
		kinds(&w.stream, f, out);
	str_free(&text);
	workload_free(&w);
	return rc;
}

int cmd_workload_build(int argc, char **argv, struct str *out, struct err *e)
{
	struct workload_spec o = { .trace = NULL };
	const char *format = NULL, *path = NULL;
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o, WORKLOAD_BUILD) },
		{ 'o', "output", OPT_WRITE, &path, "OPS.csv",
		  "write the ops there as a table, a line each, which 'npusim trace import' reads" },
		{ 0, "format", OPT_TEXT, &format, "table|csv|json", CMD_FORMAT_HELP },
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
	struct opt_list args = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0) {
		o.model = args.v[0];
		rc = workload_check(&o, WORKLOAD_BUILD, e) < 0 ? -1 : do_workload_build(&o, path, f, out, e);
	}
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
