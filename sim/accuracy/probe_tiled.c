#include "sim/accuracy/probe_tiled.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "arch/tiled/tiled.h"
#include "arch/tiled/tiled_shipped.h"
#include "traces/text/csv.h"

#define KNOWN_HELP \
	1.02 /* a pair's ratio from which on the copy is said to help: what validate/tools/ablation.sh takes */

#define APART 1.2 /* a fifth: above what two measurements of one kernel differ by */

static int probe_tiled_add(struct probe_tiled *r, const char *name, double measured, double simulated, bool fitted,
                           const char *bound, struct err *e)
{
	if (r->n == r->cap) {
		struct probe_tiled_row *more = realloc(r->v, (2 * r->cap + 64) * sizeof *more);

		if (!more)
			return err_nomem(e, "for measured kernels");
		r->v = more;
		r->cap = 2 * r->cap + 64;
	}
	r->v[r->n] = (struct probe_tiled_row){ strdup(name), 0, measured, simulated, fitted, bound };
	return r->v[r->n++].name ? 0 : err_nomem(e, "for measured kernels");
}

void probe_tiled_free(struct probe_tiled *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i].name);
	for (size_t i = 0; i < r->n_kinds; i++)
		free(r->kinds[i]);
	free(r->kinds);
	free(r->v);
}

struct probe_tiled_kind probe_tiled_kind(const struct probe_tiled *r, size_t i)
{
	struct probe_tiled_kind k = { .kernel = r->kinds[i] };
	size_t pairs = 0, right = 0;

	for (size_t a = 0; a < r->n; a++) {
		const double off = r->v[a].simulated / r->v[a].measured - 1;

		if (r->v[a].kind != i)
			continue;
		k.n++;
		k.mean += fabs(off);
		k.bias += off;
		k.worst = fabs(off) > fabs(k.worst) ? off : k.worst;
		for (size_t b = 0; b < r->n; b++)
			if (r->v[b].kind == i && r->v[a].measured >= APART * r->v[b].measured)
				pairs++, right += r->v[a].simulated > r->v[b].simulated;
	}
	k.mean /= (double)(k.n ? k.n : 1);
	k.bias /= (double)(k.n ? k.n : 1);
	k.order = pairs ? (double)right / (double)pairs : NAN;
	return k;
}

struct probe_tiled_sum probe_tiled_sum(const struct probe_tiled *r, enum probe_tiled_part of)
{
	struct probe_tiled_sum s = { .n = 0 };

	for (size_t i = 0; i < r->n; i++) {
		const struct probe_tiled_row *x = &r->v[i];

		if (of != PROBE_TILED_ALL && x->fitted != (of == PROBE_TILED_FITTED))
			continue;
		s.n++;
		s.mean += fabs(x->simulated / x->measured - 1);
		s.same += (x->measured > KNOWN_HELP) == (x->simulated > KNOWN_HELP);
	}
	if (s.n)
		s.mean /= (double)s.n;
	return s;
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

static int median_of(const struct csv *c, double *us, struct err *e)
{
	char *end;

	*us = strtod(csv_field(c, 4), &end);
	if (end == csv_field(c, 4) || !(*us > 0) || !isfinite(*us))
		return err_set(e, ERR_IO, "'%s' is no time", csv_field(c, 4));
	return 0;
}

static int one_row(const struct csv *c, const struct gpu *g, struct probe_tiled *r, struct err *e)
{
	const char *params = csv_field(c, 1);
	struct str text = STR_INIT;
	struct tiled *t = NULL;
	double us;
	int rc = -1;

	if (median_of(c, &us, e) == 0 && describe(params, &text, e) == 0 &&
	    (t = tiled_parse(str_c(&text), text.len, "the row", e)) && tiled_check(t, g, "the GPU", e) == 0) {
		const struct tiled_time x = tiled_time(&t->k, g, NULL);

		rc = probe_tiled_add(r, params, us, (double)x.total / 1e6, row_fitted(params), x.bound, e);
	}
	if (rc < 0)
		e->kind = e->kind == ERR_CONFIG ? ERR_IO : e->kind;
	tiled_free(t);
	str_free(&text);
	return rc;
}

/* --- our measurements of kernels that come with npusim ------------------------------------------------------------- */

#define MOST_KEYS 32

/* A row's params as `sets` of its description, which stay in `text`; `label` is what people read of them. */
static int sets_of(char *text, const char *sets[MOST_KEYS], size_t *n, bool *fitted, struct str *label, struct err *e)
{
	for (char *p = text, *next; p && *p; p = next) {
		if ((next = strchr(p, ';')))
			*next++ = '\0';
		if (strncmp(p, "spill=", 6) == 0) /* the compiler's, no key */
			continue;
		if (strcmp(p, "fitted=yes") == 0) {
			*fitted = true;
			continue;
		}
		if (*n == MOST_KEYS)
			return err_set(e, ERR_IO, "the row has more than %d keys", MOST_KEYS);
		if (strcmp(p, "state=cold") == 0 || strcmp(p, "state=warm") == 0) {
			sets[(*n)++] = p[6] == 'c' ? "bytes.cold=yes" : "bytes.cold=no";
			str_addf(label, " %s", p + 6);
			continue;
		}
		sets[(*n)++] = p;
		if (strncmp(p, "problem.", 8) == 0)
			str_addf(label, " %s", p + 8);
		else if (strncmp(p, "copy", 4) == 0 || strncmp(p, "producer", 8) == 0 || strncmp(p, "tile.", 5) == 0)
			str_addf(label, " %s", p);
	}
	return label->failed ? err_nomem(e, "for a row") : 0;
}

static int kind_of(struct probe_tiled *r, const char *kernel, size_t *i, struct err *e)
{
	char **more;

	for (*i = 0; *i < r->n_kinds; ++*i)
		if (strcmp(r->kinds[*i], kernel) == 0)
			return 0;
	if (!(more = realloc(r->kinds, (r->n_kinds + 1) * sizeof *more)) ||
	    !(r->kinds = more, more[*i] = strdup(kernel)))
		return err_nomem(e, "for measured kernels");
	r->n_kinds++;
	return 0;
}

static int described_row(const struct csv *c, const char *path, const struct gpu *g, struct probe_tiled *r,
                         struct err *e)
{
	const char *kernel = csv_field(c, 0), *sets[MOST_KEYS];
	char *text = strdup(csv_field(c, 1));
	struct str label = STR_INIT;
	struct tiled *t = NULL;
	bool fitted = false;
	size_t n = 0;
	double us;
	int rc = -1;

	str_add(&label, kernel);
	if (!text) {
		err_nomem(e, "for a row");
	} else if (median_of(c, &us, e) == 0 && sets_of(text, sets, &n, &fitted, &label, e) == 0 &&
	           (t = tiled_load_as(path, sets, n, e)) && tiled_check(t, g, "the GPU", e) == 0) {
		const struct tiled_time x = tiled_time(&t->k, g, NULL);

		rc = probe_tiled_add(r, str_c(&label), us, (double)x.total / 1e6, fitted, x.bound, e);
		if (rc == 0)
			rc = kind_of(r, kernel, &r->v[r->n - 1].kind, e);
	}
	if (rc < 0)
		e->kind = e->kind == ERR_CONFIG ? ERR_IO : e->kind;
	tiled_free(t);
	str_free(&label);
	free(text);
	return rc;
}

/* Names of other rows are nobody's kernel. */
static bool comes_with_us(const char *name, char *path, unsigned size)
{
	struct err none = ERR_INIT;

	return name[0] && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name) &&
	       tiled_find(name, path, size, &none) == 0 && strcmp(path, name) != 0;
}

int probe_tiled_table(struct input *in, const struct gpu *g, struct probe_tiled *r, struct err *e)
{
	struct csv *c = csv_new(in, e);
	char path[1024];
	int rc = c ? csv_row(c, e) : -1;

	while (rc > 0 && (rc = csv_row(c, e)) > 0)
		if (strcmp(csv_field(c, 0), "tiled") == 0               ? one_row(c, g, r, e) < 0
		    : comes_with_us(csv_field(c, 0), path, sizeof path) ? described_row(c, path, g, r, e) < 0
		                                                        : false) {
			e->line = 0;
			rc = err_at(e, input_name(in), (int)csv_line(c), 0);
		}
	csv_free(c);
	if (rc == 0 && !r->n)
		return err_set(
			e, ERR_IO,
			"'%s' has no row 'tiled' (validate/cuda/ref_tiled.cu) nor one of a kernel of workloads/kernels",
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

int probe_tiled_pairs(const struct cases *c, const struct gpu *g, bool own, struct probe_tiled *r, struct err *e)
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
		if (probe_tiled_add(r, off->name, (double)off->measured_ns / (double)on->measured_ns,
		                    (double)ta.total / (double)tb.total, own && off->split == SAMPLE_FITTED, tb.bound,
		                    e) < 0)
			return -1;
	}
	return r->n ? 0
	            : err_set(e, ERR_IO, "'%s' has no pairs of kernels with 'async=0' and 'async=1'",
	                      c->path ? c->path : "the trace");
}

/* --- which -------------------------------------------------------------------------------------------------------- */

bool probe_tiled_is_table(struct input *in)
{
	char head[16] = { 0 };
	const long n = input_read(in, head, sizeof head - 1, NULL);

	input_rewind(in);
	return n > 12 && strncmp(head, "name,params,", 12) == 0;
}
