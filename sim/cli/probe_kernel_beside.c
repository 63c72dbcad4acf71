/* probe_kernel_beside.c - npusim probe kernel --beside: measured kernels, and what their descriptions give. */
#include "sim/cli/probe_kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "arch/machine/machine_gpu.h"
#include "sim/base/path.h"
#include "sim/cli/gpu.h"
#include "traces/text/csv.h"

#define COLS(a)   ((int)(sizeof(a) / sizeof *(a)))
#define NAME_MOST 512
#define KNOWN_HELP \
	1.02 /* a pair's ratio from which on the copy is said to help: what validate/tools/ablation.sh takes */

/* A kernel, or a pair of them: then the times' ratio, without asynchronous copy over with it. */
struct row {
	char *name;
	double measured, simulated;
	bool fitted;
	const char *bound;
};

struct rows {
	struct row *v;
	size_t n, cap;
};

static int add(struct rows *r, const char *name, double measured, double simulated, bool fitted, const char *bound,
               struct err *e)
{
	if (r->n == r->cap) {
		struct row *more = realloc(r->v, (2 * r->cap + 64) * sizeof *more);

		if (!more)
			return err_nomem(e, "for measured kernels");
		r->v = more;
		r->cap = 2 * r->cap + 64;
	}
	r->v[r->n] = (struct row){ strdup(name), measured, simulated, fitted, bound };
	return r->v[r->n++].name ? 0 : err_nomem(e, "for measured kernels");
}

static void rows_done(struct rows *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i].name);
	free(r->v);
}

/* --- printing ---------------------------------------------------------------------------------------------------- */

struct sum {
	size_t n, same;
	double mean, log; /* of |simulated / measured - 1|, and of |log of it| */
};

/* Which: 0 all, 1 what was fitted to, 2 what was not. */
static struct sum sum_of(const struct rows *r, int which)
{
	struct sum s = { .n = 0 };

	for (size_t i = 0; i < r->n; i++) {
		const struct row *x = &r->v[i];

		if (which && x->fitted != (which == 1))
			continue;
		s.n++;
		s.mean += fabs(x->simulated / x->measured - 1);
		s.log += fabs(log(x->simulated / x->measured));
		s.same += (x->measured > KNOWN_HELP) == (x->simulated > KNOWN_HELP);
	}
	if (s.n)
		s.mean /= (double)s.n, s.log /= (double)s.n;
	return s;
}

static const char *const which_names[] = { "all", "fitted", "held out" };

static void sum_table(const struct rows *r, bool pairs, struct str *out)
{
	static const struct out_col cols[] = { { "rows", OUT_TEXT, 0 },
		                               { "n", OUT_INT, 0 },
		                               { "mean_error_pct", OUT_REAL, 1 },
		                               { "same_sign", OUT_INT, 0 } };
	struct out_table *t = out_table_new(cols, pairs ? 4 : 3, NULL);

	for (int w = 0; w < 3; w++) {
		const struct sum s = sum_of(r, w);

		if (!s.n)
			continue;
		out_text(t, which_names[w]);
		out_int(t, (int64_t)s.n);
		out_real(t, 100 * s.mean);
		if (pairs)
			out_int(t, (int64_t)s.same);
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void row_table(const struct rows *r, bool pairs, enum out_format f, struct str *out)
{
	const struct out_col cols[] = {
		{ pairs ? "pair" : "kernel", OUT_TEXT, 0 },
		{ "split", OUT_TEXT, 0 },
		{ pairs ? "measured_ratio" : "measured_us", OUT_REAL, pairs ? 3 : 1 },
		{ pairs ? "simulated_ratio" : "simulated_us", OUT_REAL, pairs ? 3 : 1 },
		{ "error_pct", OUT_REAL, 1 },
		{ "bound", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);

	for (size_t i = 0; i < r->n; i++) {
		const struct row *x = &r->v[i];

		out_text(t, x->name);
		out_text(t, x->fitted ? "fitted" : "held out");
		out_real(t, x->measured);
		out_real(t, x->simulated);
		out_real(t, 100 * (x->simulated / x->measured - 1));
		out_text(t, x->bound);
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void sum_json(const struct rows *r, const char *machine, const char *file, bool pairs, struct str *out)
{
	static const char *const keys[] = { "all", "fitted", "held_out" };
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "machine", machine);
	out_json_text(&j, "beside", file);
	out_json_text(&j, "of", pairs ? "pairs: asynchronous copy off over on" : "kernels");
	for (int w = 0; w < 3; w++) {
		const struct sum s = sum_of(r, w);

		out_json_open(&j, keys[w], '{');
		out_json_u64(&j, "n", s.n);
		out_json_real(&j, "mean_error_pct", s.n ? 100 * s.mean : NAN);
		if (pairs)
			out_json_u64(&j, "same_sign", s.same);
		out_json_close(&j, '}');
	}
	out_json_open(&j, "rows", '[');
	for (size_t i = 0; i < r->n; i++) {
		out_json_open(&j, NULL, '{');
		out_json_text(&j, "name", r->v[i].name);
		out_json_text(&j, "split", r->v[i].fitted ? "fitted" : "held out");
		out_json_real(&j, "measured", r->v[i].measured);
		out_json_real(&j, "simulated", r->v[i].simulated);
		out_json_text(&j, "bound", r->v[i].bound);
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_close(&j, '}');
	str_addc(out, '\n');
}

static void print(const struct rows *r, const char *machine, const char *file, bool pairs, enum out_format f,
                  struct str *out)
{
	if (f == OUT_JSON) {
		sum_json(r, machine, file, pairs, out);
		return;
	}
	row_table(r, pairs, f, out);
	if (f == OUT_TABLE) {
		str_addc(out, '\n');
		sum_table(r, pairs, out);
	}
}

/* --- our measurements of kernels that are described --------------------------------------------------------------- */

/* "heads=8;len=512;...": the value of a key. */
static bool value(const char *params, const char *key, char *out, size_t n)
{
	const size_t k = strlen(key);

	for (const char *p = params; p; p = strchr(p, ';') ? strchr(p, ';') + 1 : NULL)
		if (strncmp(p, key, k) == 0 && p[k] == '=') {
			snprintf(out, n, "%.*s", (int)strcspn(p + k + 1, ";"), p + k + 1);
			return true;
		}
	return false;
}

/* What a row calls a thing, and what a description does. */
static const struct {
	const char *section, *key, *in_row;
} words[] = {
	{ NULL, "warps", "warps" },      { NULL, "producer_warps", "producers" },
	{ NULL, "registers", "regs" },   { NULL, "shared", "smem" },
	{ NULL, "stages", "stages" },    { NULL, "copy", "copy" },
	{ NULL, "copy_bytes", "bytes" }, { NULL, "math", "math" },
	{ NULL, "values", "values" },    { NULL, "exchange", "exchange" },
	{ NULL, "share", "share" },      { NULL, "padding", "padding" },
	{ "problem", "heads", "heads" }, { "problem", "q_len", "len" },
	{ "problem", "head_dim", "d" },  { "softmax", "lanes", "lanes" },
	{ "softmax", "rows", "rows" },
};

/* The row as a description; words outside of one have no meaning in YAML either. */
static int describe(const char *params, struct str *text, struct err *e)
{
	const char *section = NULL;
	char v[64], m[64], n[64];

	str_clear(text);
	str_add(text, "kernel: row\n");
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (!value(params, words[i].in_row, v, sizeof v))
			return err_set(e, ERR_IO, "the row has no '%s'", words[i].in_row);
		if (strspn(v, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(v))
			return err_set(e, ERR_IO, "'%s' is no value of '%s'", v, words[i].in_row);
		if (words[i].section && (!section || strcmp(section, words[i].section) != 0))
			str_addf(text, "%s:\n", section = words[i].section);
		str_addf(text, "%s%s: %s%s\n", section ? "  " : "", words[i].key, v,
		         strcmp(words[i].key, "shared") == 0 ? " B" : "");
	}
	/* Rows measured before there was that switch do not have it. */
	if (value(params, "sum", v, sizeof v) && strcmp(v, "memory") == 0)
		str_add(text, "  in_memory: yes\n");
	if (!value(params, "tile", v, sizeof v) || sscanf(v, "%60[0-9]x%60[0-9]", m, n) != 2)
		return err_set(e, ERR_IO, "the row has no 'tile=MxN'");
	str_addf(text, "tile: {m: %s, n: %s}\n", m, n);
	return text->failed ? err_nomem(e, "for a row") : 0;
}

/* The numbers of arch/tiled/tiled_cost.c were fitted to rows of an even checksum, of all that is described, and none to sums
 * in shared memory. */
static bool row_fitted(const char *params)
{
	const char *end = strstr(params, ";regs=");
	const size_t n = end ? (size_t)(end - params) : strlen(params);

	return !strstr(params, ";sum=memory") && crc32(0, (const unsigned char *)params, (unsigned)n) % 2 == 0;
}

static int one_row(const struct csv *c, const struct gpu *g, struct rows *r, struct err *e)
{
	const char *params = csv_field(c, 1);
	struct str text = STR_INIT;
	struct tiled *t = NULL;
	char *end;
	const double us = strtod(csv_field(c, 4), &end);
	int rc = -1;

	if (end == csv_field(c, 4) || !(us > 0) || !isfinite(us)) {
		err_set(e, ERR_IO, "'%s' is no time", csv_field(c, 4));
	} else if (describe(params, &text, e) == 0 && (t = tiled_parse(str_c(&text), text.len, "the row", e)) &&
	           tiled_check(t, g, "the GPU", e) == 0) {
		const struct tiled_time x = tiled_time(&t->k, g, NULL);

		rc = add(r, params, us, unit_ps_us(x.total), row_fitted(params), x.bound, e);
	}
	if (rc < 0)
		e->kind = e->kind == ERR_CONFIG ? ERR_IO : e->kind;
	tiled_free(t);
	str_free(&text);
	return rc;
}

static int described(struct input *in, const struct gpu *g, struct rows *r, struct err *e)
{
	struct csv *c = csv_new(in, e);
	int rc = c ? csv_row(c, e) : -1;

	while (rc > 0 && (rc = csv_row(c, e)) > 0)
		if (strcmp(csv_field(c, 0), "tiled") == 0 && one_row(c, g, r, e) < 0) {
			e->line = 0;
			rc = err_at(e, input_name(in), (int)csv_line(c), 0);
		}
	csv_free(c);
	if (rc == 0 && !r->n)
		return err_set(e, ERR_IO, "'%s' has no row 'tiled': it is not of validate/cuda/ref_tiled.cu",
		               input_name(in));
	return rc;
}

/* --- pairs of a trace --------------------------------------------------------------------------------------------- */

/* The launch as a description of its own. */
static struct tiled_kernel kernel_of(const struct gpu_launch *l)
{
	const struct op_shape *s = &l->op->shape;
	struct tiled_kernel k = { .name = "launch",
		                  .tile = { l->kernel.tile_n, l->kernel.tile_k, 0 },
		                  .warps = l->at->block[0] / 32,
		                  .registers = l->at->registers,
		                  .stages = l->kernel.stages,
		                  .copy = l->kernel.asynchronous ? TILED_ASYNC : TILED_PLAIN,
		                  .copy_bytes = 16,
		                  .math = TILED_MMA,
		                  .values = TILED_MMA,
		                  .shared = l->at->smem_static + l->at->smem_dynamic,
		                  .swizzle = true };

	k.problem = (struct tiled_problem){ .op = TILED_ATTENTION,
		                            .dtype = l->op->dtype == DT_BF16,
		                            .batch = (uint32_t)(s->batch ? s->batch : 1),
		                            .heads = (uint32_t)s->heads,
		                            .kv_heads = (uint32_t)s->kv_heads,
		                            .q_len = (uint32_t)s->q_len,
		                            .kv_len = (uint32_t)s->kv_len,
		                            .head_dim = (uint32_t)s->head_dim,
		                            .v_dim = (uint32_t)(s->v_dim ? s->v_dim : s->head_dim),
		                            .causal = s->causal };
	return k;
}

/* A sample's only launch, where it is one of attention with scores in registers. */
static const struct gpu_launch *launch_of(const struct cases *c, const struct sample *x)
{
	const struct op *o = &c->work.stream->ops[x->first_op];
	const struct gpu_launch *l = &c->work.launches[o->first_launch];

	return o->kind == OP_ATTENTION && o->n_launches == 1 && x->n_ops == 1 && l->kernel.form == KERNEL_FLASH &&
	                       l->kernel.tile_n && l->kernel.tile_k && l->at->block[0] >= 32
	               ? l
	               : NULL;
}

/* "... ,async=1" is looked for without what tells the two apart. */
static const struct sample *other_of(const struct cases *c, const struct sample *x)
{
	const char *at = strstr(x->name, "async=0");
	const size_t n = at ? (size_t)(at - x->name) + strlen("async=") : 0;

	for (size_t i = 0; at && i < c->n; i++)
		if (strncmp(c->v[i].name, x->name, n) == 0 && c->v[i].name[n] == '1' &&
		    strcmp(c->v[i].name + n + 1, x->name + n + 1) == 0)
			return &c->v[i];
	return NULL;
}

static int pairs_of(const struct cases *c, const struct gpu *g, bool own, struct rows *r, struct err *e)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct sample *off = &c->v[i], *on = other_of(c, off);
		const struct gpu_launch *a = on ? launch_of(c, off) : NULL, *b = on ? launch_of(c, on) : NULL;
		struct tiled_kernel ka, kb;
		struct tiled_time ta, tb;

		if (!a || !b || !on->measured_ns)
			continue;
		ka = kernel_of(a);
		kb = kernel_of(b);
		ta = tiled_time(&ka, g, &a->mem);
		tb = tiled_time(&kb, g, &b->mem);
		if (add(r, off->name, (double)off->measured_ns / (double)on->measured_ns,
		        (double)ta.total / (double)tb.total, own && off->split == SAMPLE_FITTED, tb.bound, e) < 0)
			return -1;
	}
	return r->n ? 0
	            : err_set(e, ERR_IO, "'%s' has no pairs of kernels with 'async=0' and 'async=1'",
	                      c->path ? c->path : "the trace");
}

static int shipped(const char *relative, char *path, unsigned size, const char **to, struct err *e)
{
	*to = path;
	return path_data(relative, path, size, e);
}

/* Numbers of that form were fitted to kernels of an H200 (configs/calibrate/h200-attention.yaml), the fitted ones. */
static int traced(const char *config, const struct opt_list *sets, const char *file, struct rows *r, struct err *e)
{
	struct gpu_options o = { .config = config, .sets = *sets };
	struct gpu_inputs in = { .n = 0 };
	char rules[1024], cases[1024];
	const char *one = file;
	int rc = -1;

	o.traces = (struct opt_list){ &one, 1 };
	if (shipped("configs/rules/reference-cuda.yaml", rules, sizeof rules, &o.rules, e) == 0 &&
	    shipped("configs/cases/reference.yaml", cases, sizeof cases, &o.cases, e) == 0 &&
	    gpu_inputs_read(&in, &o, e) == 0) {
		const struct gpu g = machine_gpu(&in.conf->cfg);

		rc = pairs_of(&in.sets[0], &g, strcmp(in.conf->cfg.name, "h200") == 0, r, e);
	}
	gpu_inputs_free(&in);
	return rc;
}

/* --- which -------------------------------------------------------------------------------------------------------- */

static bool is_rows(struct input *in)
{
	char head[16] = { 0 };
	const long n = input_read(in, head, sizeof head - 1, NULL);

	input_rewind(in);
	return n > 12 && strncmp(head, "name,params,", 12) == 0;
}

int probe_kernel_table(struct input *in, const struct machine_conf *c, enum out_format f, struct str *out,
                       struct err *e)
{
	const struct gpu g = machine_gpu(&c->cfg);
	struct rows r = { NULL, 0, 0 };
	const int rc = described(in, &g, &r, e);

	if (rc == 0)
		print(&r, c->cfg.name, input_name(in), false, f, out);
	rows_done(&r);
	return rc;
}

int probe_kernel_beside(const char *config, const struct opt_list *sets, const char *file, enum out_format f,
                        struct str *out, struct err *e)
{
	struct machine_conf *c = machine_conf_load(config, sets->v, sets->n, e);
	struct input *in = c ? input_open(file, e) : NULL;
	struct rows r = { NULL, 0, 0 };
	int rc = -1;

	if (in && machine_runs(&c->cfg) != MACHINE_LAUNCHES) {
		err_set(e, ERR_CONFIG, "'%s' describes no GPU ('kind: gpu'): the kernels are of one", config);
	} else if (in && is_rows(in)) {
		rc = probe_kernel_table(in, c, f, out, e);
	} else if (in && (rc = traced(config, sets, file, &r, e)) == 0) {
		print(&r, c->cfg.name, file, true, f, out);
	}
	rows_done(&r);
	input_free(in);
	machine_conf_free(c);
	return rc;
}
