/* workloads.c - npusim workload list and show: the models that can be run without a trace, and what they are by count. */
#include "sim/cli/cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/path.h"
#include "workloads/model/count.h"

#define COLS(a) ((int)(sizeof(a) / sizeof *(a)))

static cmd_fn list_cmd, show_cmd;

const struct cmd cmd_workload_table[] = {
	{ "list", list_cmd, NULL, "the models that come with npusim" },
	{ "show", show_cmd, NULL, "parameters, bytes and operations of a model, by count" },
	{ "rates", cmd_workload_rates, NULL, "published tokens a second against simulated ones" },
	{ "build", cmd_workload_build, NULL, "the ops of a model's step, as a table" },
	{ "options", cmd_workload_options, NULL, "what may be asked of a workload, and by which command" },
	{ "attend", cmd_workload_attend, NULL, "what each algorithm of attention does and moves, by count" },
	{ NULL, NULL, NULL, NULL }
};

/* --- list -------------------------------------------------------------------------------------------------- */

static const char *kind_of(const struct model *m)
{
	bool linear = false, windows = false;

	for (uint32_t i = 0; i < m->layers; i++) {
		linear |= m->layer[i] == MODEL_LINEAR;
		windows |= m->layer[i] == MODEL_SLIDING;
	}
	return m->mla.kv_rank ? "latent" : linear ? "linear and full" : windows ? "windows" : "full";
}

static void list_row(struct out_table *t, const char *name, const struct model *m)
{
	struct model_params p;

	model_params_of(m, &p);
	out_text(t, name);
	out_text(t, m->arch->type);
	out_real(t, (double)p.total / 1e9);
	if (m->moe.experts && !m->moe.top)
		out_null(t);
	else
		out_real(t, (double)p.active / 1e9);
	out_int(t, m->layers);
	out_int(t, m->hidden);
	out_text(t, kind_of(m));
	if (m->moe.experts)
		out_int(t, m->moe.experts);
	else
		out_null(t);
	if (m->context)
		out_int(t, m->context);
	else
		out_null(t);
	out_text(t, m->quant ? m->quant : m->quant_layers ? m->quant_layers : dtype_name(m->dtype));
}

static int list_models(enum out_format f, struct str *out, struct err *e)
{
	static const struct out_col cols[] = {
		{ "model", OUT_TEXT, 0 },     { "architecture", OUT_TEXT, 0 }, { "params_b", OUT_REAL, 2 },
		{ "active_b", OUT_REAL, 2 },  { "layers", OUT_INT, 0 },        { "hidden", OUT_INT, 0 },
		{ "attention", OUT_TEXT, 0 }, { "experts", OUT_INT, 0 },       { "max_context", OUT_INT, 0 },
		{ "weights", OUT_TEXT, 0 },
	};
	struct out_table *t;
	char **names;
	size_t n;
	int rc = 0;

	if (model_list(&names, &n, e) < 0)
		return -1;
	t = out_table_new(cols, COLS(cols), NULL);
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct model *m = model_load(names[i], e);

		if (m)
			list_row(t, names[i], m);
		else
			rc = -1;
		model_free(m);
	}
	if (rc == 0)
		out_table_write(t, f, out);
	out_table_free(t);
	model_list_free(names, n);
	return rc;
}

static void list_architectures(enum out_format f, struct str *out)
{
	static const struct out_col cols[] = { { "model_type", OUT_TEXT, 0 }, { "not described", OUT_TEXT, 0 } };
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);
	size_t n;
	const struct model_arch *a = model_arch_table(&n);

	for (size_t i = 0; i < n; i++) {
		out_text(t, a[i].type);
		out_text(t, a[i].not_described);
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void list_schemes(enum out_format f, struct str *out)
{
	static const struct out_col cols[] = { { "quant", OUT_TEXT, 0 }, { "what", OUT_TEXT, 0 } };
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);
	size_t n;
	const struct scheme *q = scheme_table(&n);

	for (size_t i = 0; i < n; i++) {
		out_text(t, q[i].name);
		out_text(t, q[i].help);
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static int list_cmd(int argc, char **argv, struct str *out, struct err *e)
{
	bool architectures = false, schemes = false;
	const char *format = NULL;
	const struct opt opts[] = {
		{ 0, "architectures", OPT_FLAG, &architectures, NULL,
		  "what a config.json may say as its model_type, instead" },
		{ 0, "quant", OPT_FLAG, &schemes, NULL, "the quantisation schemes that '--quant' takes, instead" },
		{ 0, "format", OPT_TEXT, &format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim workload list [--architectures | --quant]",
		"The models that 'run -m', 'workload show' and 'workload build' know by name. Parameters are counted from their"
		" dimensions, in thousands of millions; active are those that a token of text passes. Any other model is given"
		" as a file: YAML as in workloads/models, or a Hugging Face config.json as it is.",
		"npusim workload list\nnpusim workload list --quant\n",
		opts,
		0,
		0
	};
	struct opt_list args = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && architectures && schemes)
		rc = err_set(e, ERR_USAGE, "options '--architectures' and '--quant' ask for two lists");
	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0) {
		if (architectures)
			list_architectures(f, out);
		else if (schemes)
			list_schemes(f, out);
		else
			rc = list_models(f, out, e);
	}
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}

/* --- show -------------------------------------------------------------------------------------------------- */

static void workloads_row(struct out_table *t, const char *what, double value, const char *unit, const char *note)
{
	out_text(t, what);
	out_real(t, value);
	out_text(t, unit);
	out_text(t, note);
}

static void not_known(struct out_table *t, const char *what, const char *why)
{
	out_text(t, what);
	out_null(t);
	out_text(t, "");
	out_text(t, why);
}

static void workloads_part(struct out_table *t, const char *what, uint64_t n, uint64_t of)
{
	char note[48];

	if (!n)
		return;
	snprintf(note, sizeof note, "%.1f %%", 100 * (double)n / (double)of);
	workloads_row(t, what, (double)n / 1e6, "million", note);
}

static void show_params(const struct model *m, struct out_table *t)
{
	struct model_params p;
	struct str note = STR_INIT;

	model_params_of(m, &p);
	if (m->published)
		str_addf(&note, "%+.2f %% of the published %.2f; %s",
		         100 * ((double)p.total / (double)m->published - 1), (double)m->published / 1e6,
		         m->published_by ? m->published_by : "no source");
	workloads_row(t, "parameters", (double)p.total / 1e6, "million", str_c(&note));
	workloads_part(t, "  embedding", p.embed, p.total);
	workloads_part(t, "  head", p.head, p.total);
	workloads_part(t, "  attention", p.attention, p.total);
	workloads_part(t, "  MLPs", p.mlp, p.total);
	workloads_part(t, "  experts", p.experts, p.total);
	workloads_part(t, "  shared experts", p.shared, p.total);
	workloads_part(t, "  routers", p.router, p.total);
	workloads_part(t, "  norms", p.norms, p.total);
	workloads_part(t, "  encoders", p.vision, p.total);
	if (!m->moe.experts || m->moe.top)
		workloads_row(t, "parameters a token passes", (double)p.active / 1e6, "million",
		              "picked experts only, without the embedding");
	str_free(&note);
}

static void show_token(const struct model *m, const struct build_how *how, struct out_table *t)
{
	struct model_token k;
	char note[96];

	if (m->moe.experts && !m->moe.top) {
		not_known(t, "operations a token", "not known: how many experts it picks is not in the source");
		return;
	}
	model_token_of(m, how->quant, how->kv, how->context, &k);
	snprintf(note, sizeof note, "batch 1, %" PRIu64 " tokens in the cache; %.1f %% of it attention", how->context,
	         100 * (double)k.attention_flops / (double)k.flops);
	workloads_row(t, "operations a token", (double)k.flops / 1e6, "million", note);
	workloads_row(t, "bytes of weights a token", (double)k.weight_bytes / 1e6, "MB", how->quant->name);
	workloads_row(t, "bytes of KV cache a token", (double)k.kv_bytes / 1e6, "MB", dtype_name(how->kv));
	workloads_row(t, "operations a byte", (double)k.flops / (double)(k.weight_bytes + k.kv_bytes), "", "");
}

static void show_bytes(const struct model *m, const struct build_how *how, struct out_table *t)
{
	size_t n;
	const struct scheme *q = scheme_table(&n);

	workloads_row(t, "KV cache of a token", (double)model_kv_bytes(m, how->kv) / 1e3, "kB", dtype_name(how->kv));
	if (model_state_bytes(m))
		workloads_row(t, "state of a sequence", (double)model_state_bytes(m) / 1e6, "MB",
		              "linear attention: whatever its length");
	for (size_t i = 0; i < n; i++) {
		char what[48];

		snprintf(what, sizeof what, "weights in %s", q[i].name);
		workloads_row(t, what, (double)model_weight_bytes(m, &q[i]) / 1e9, "GB",
		              m->quant && strcmp(m->quant, q[i].name) == 0 ? "as it comes" : "");
	}
}

static int workloads_show(const struct workload_spec *o, enum out_format f, struct str *out, struct err *e)
{
	static const struct out_col cols[] = {
		{ "what", OUT_TEXT, 0 }, { "value", OUT_REAL, 3 }, { "unit", OUT_TEXT, 0 }, { "note", OUT_TEXT, 0 }
	};
	struct model *own = model_load(o->model, e), *m;
	const bool unknown = own && own->quant_layers && !o->quant; /* its own mix of formats */
	struct workload_spec known = *o;
	struct workload w = { .model = NULL };
	struct out_table *t = NULL;
	int rc;

	known.quant = unknown ? "bf16" : o->quant;
	rc = own ? workload_describe(&known, &(struct workload_reader){ .source = &path_source }, &w, e) : -1;
	model_free(own);
	if (rc == 0) {
		m = w.model;
		t = out_table_new(cols, COLS(cols), NULL);
		show_params(m, t);
		if (unknown)
			not_known(t, "bytes of weights a token",
			          "not known: its mix of formats is not in the source; give --quant");
		else
			show_token(m, &w.how, t);
		show_bytes(m, &w.how, t);
		if (f == OUT_TABLE)
			str_addf(out, "%s (%s): %u layers of %u, %s attention\nsource: %s\n\n", m->name, m->arch->type,
			         m->layers, m->hidden, kind_of(m), m->source ? m->source : m->path);
		out_table_write(t, f, out);
	}
	out_table_free(t);
	workload_free(&w);
	return rc;
}

static int show_cmd(int argc, char **argv, struct str *out, struct err *e)
{
	struct workload_spec o = { .context = 1024 };
	const char *format = NULL;
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o, WORKLOAD_SHOW) },
		{ 0, "format", OPT_TEXT, &format, "table|csv|json", CMD_FORMAT_HELP },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim workload show MODEL [--context N] [--quant SCHEME] [--kv FORMAT]",
		"What a model is by count, before any machine: parameters beside the published number, operations and bytes of a"
		" decoded token, the KV cache, and what the weights take in each scheme.",
		"npusim workload show llama-3.1-8b\nnpusim workload show deepseek-r1 --context 8192 --quant nvfp4\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = cmd_format(format, &f, e)) == 0) {
		o.model = args.v[0];
		rc = workload_check(&o, WORKLOAD_SHOW, e) < 0 ? -1 : workloads_show(&o, f, out, e);
	}
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
