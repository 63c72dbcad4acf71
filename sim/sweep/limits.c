#include "sim/sweep/limits.h"

#include <stdlib.h>
#include <string.h>

#define PPM 1000000u

/* Which way is better: more of it, or less (latencies). Parameters that are choices and not amounts are not here. */
struct knob {
	const char *key;
	bool less;
};
static const struct knob before_units[] = {
	{ "clock", false },           { "cores", false },
	{ "dispatch.latency", true }, { "dispatch.interval", true },
	{ "dispatch.queue", false },  { "dispatch.batch", false },
	{ "dispatch.branch", true },  { "dispatch.host", true },
	{ "dispatch.launch", true },  { "dma.engines", false },
	{ "dma.width", false },       { "dma.stages", false },
	{ "dma.outstanding", false }, { "dma.setup", true },
	{ "sram.size", false },       { "sram.banks", false },
	{ "sram.ports", false },      { "sram.pin", false },
};
static const struct knob after_units[] = {
	{ "fusion.buffer", false },
	{ "l1.size", false },
	{ "noc.latency", true },
	{ "kv_buffer.size", false },
	{ "kv_buffer.bandwidth", false },
	{ "kv_buffer.latency", true },
	{ "l2.size", false },
	{ "l2.banks", false },
	{ "l2.latency", true },
	{ "l2.miss_latency", true },
	{ "dram.bandwidth", false },
	{ "dram.latency_scale", true },
};

#define BEFORE (sizeof before_units / sizeof *before_units)
#define AFTER  (sizeof after_units / sizeof *after_units)

static size_t unit_knobs(void)
{
	size_t n = 0;

	for (int i = 0; i < UNIT_COUNT; i++)
		for (const char *const *k = unit_table[i]->knobs; *k; k++)
			n++;
	return n;
}

/* All of them, the units' own between; NULL: out of memory. */
static const struct knob *all_knobs(struct arena *a, size_t *n)
{
	struct knob *out = arena_array(a, BEFORE + unit_knobs() + AFTER, sizeof *out), *next = out;

	if (!out)
		return NULL;
	memcpy(next, before_units, sizeof before_units);
	next += BEFORE;
	for (int i = 0; i < UNIT_COUNT; i++)
		for (const char *const *k = unit_table[i]->knobs; *k; k++, next++)
			if (!(next->key = arena_printf(a, "%s.%s", unit_table[i]->name, *k)))
				return NULL;
	memcpy(next, after_units, sizeof after_units);
	*n = (size_t)(next - out) + AFTER;
	return out;
}

/* The next value at least `ppm` better that the row's rule allows; the same value when there is none. */
static uint64_t better(const struct cfg_field *f, uint64_t now, bool less, uint32_t ppm)
{
	/* Stored values stay far below 2^44 here, so a product with a million fits. */
	uint64_t by = now / PPM * ppm + now % PPM * ppm / PPM, then, grain = now & -now;

	if (now == 0)
		return now; /* an absent block has no tenth more */
	/* Sizes come in whole sets, chunks, banks: a step is as round as the value itself, as far as that is possible. */
	while (f->type == CFG_T_BYTES && grain > by && grain > 1)
		grain /= 2;
	if (f->type == CFG_T_BYTES)
		by = round_up(by, grain);

	if (f->rule == cfg_pow2 || f->rule == cfg_pow2_or_0)
		then = less ? now / 2 : now * 2;
	else
		then = less ? now - by : now + (by ? by : 1);
	return then < f->min || then > f->max ? now : then;
}

static char *text_of(enum cfg_type type, uint64_t v, struct arena *a)
{
	struct str s = STR_INIT;
	char *t;

	cfg_format_value(type, v, &s);
	t = s.failed ? NULL : arena_strdup(a, str_c(&s));
	str_free(&s);
	return t;
}

/* The design that is asked about. */
struct design {
	const struct limits_question *q;
	const char **sets; /* the question's, and a place behind them for the parameter that is moved */
	struct machine_conf *conf;
};

/* With the first n of its sets. */
static int run_with(const struct design *d, int n, struct run_result *x, struct err *e)
{
	struct machine_conf *c = machine_conf_load(d->q->config, d->sets, n, e);
	struct arena *own = arena_new(0);
	int rc = -1;

	if (c && !own)
		err_set(e, ERR_NOMEM, "out of memory");
	else if (c)
		rc = run_stream(d->q->stream, c, &d->q->run, own, x, e);
	machine_conf_free(c);
	arena_free(own); /* the totals are in *x itself */
	return rc;
}

/* Runs one knob a step further; a machine that cannot be built so has its reason in the row. */
static int try_knob(const struct design *d, const struct knob *k, struct arena *a, struct limits_row *row,
                    struct err *e)
{
	const struct cfg *base = d->conf->raw;
	const char **set = &d->sets[d->q->n_sets];
	struct err why = ERR_INIT;
	struct run_result x;
	struct cfg_row r;
	uint64_t now, then;
	size_t i;

	if (cfg_find(base, k->key, &i, e) < 0)
		return -1;
	r = cfg_at(base, i);
	now = cfg_raw(base, i);
	then = better(r.field, now, k->less, d->q->step_ppm);
	if (then == now)
		return 0; /* absent, or at the end of its range */
	row->key = k->key;
	row->now = text_of(r.field->type, now, a);
	row->then = text_of(r.field->type, then, a);
	row->step = k->less ? (double)(now - then) / (double)now : (double)(then - now) / (double)now;
	*set = arena_printf(a, "%s=%s", k->key, row->then ? row->then : "");
	if (!row->now || !row->then || !*set)
		return err_set(e, ERR_NOMEM, "out of memory");
	if (run_with(d, d->q->n_sets + 1, &x, &why) < 0) {
		if (why.kind != ERR_CONFIG) {
			*e = why;
			return -1;
		}
		row->refused = arena_strdup(a, why.msg);
	} else {
		row->total_ps = x.total_ps;
	}
	return 1;
}

double limits_gain(const struct limits_result *r, const struct limits_row *row, uint32_t fraction_ppm)
{
	if (row->refused || !r->base_ps || row->step <= 0)
		return 0;
	return ((double)r->base_ps - (double)row->total_ps) / (double)r->base_ps / row->step * fraction_ppm / PPM;
}

/* Insertion by gain, the table's order breaking ties: there are a few dozen rows, and the order must not depend on the
 * host. */
static void sort_rows(struct limits_result *r, uint32_t fraction_ppm)
{
	for (size_t i = 1; i < r->n; i++) {
		struct limits_row x = r->rows[i];
		double gain = limits_gain(r, &x, fraction_ppm);
		size_t k = i;

		for (; k > 0 && limits_gain(r, &r->rows[k - 1], fraction_ppm) < gain; k--)
			r->rows[k] = r->rows[k - 1];
		r->rows[k] = x;
	}
}

int limits_run(const struct limits_question *q, struct arena *a, struct limits_result *out, struct err *e)
{
	size_t n_knobs = 0;
	const struct knob *knobs = all_knobs(a, &n_knobs);
	struct design d = { q, arena_array(a, (size_t)q->n_sets + 1, sizeof *d.sets), NULL };
	struct run_result x;
	int rc = -1;

	memset(out, 0, sizeof *out);
	out->rows = arena_array(a, n_knobs ? n_knobs : 1, sizeof *out->rows);
	if (!d.sets || !knobs || !out->rows)
		return err_set(e, ERR_NOMEM, "out of memory");
	for (int i = 0; i < q->n_sets; i++)
		d.sets[i] = q->sets[i];
	if (!(d.conf = machine_conf_load(q->config, q->sets, q->n_sets, e)) || run_with(&d, q->n_sets, &x, e) < 0)
		goto out;
	out->base_ps = x.total_ps;
	out->bound = x.roofline_bound;
	for (size_t k = 0; k < n_knobs; k++) {
		int had = try_knob(&d, &knobs[k], a, &out->rows[out->n], e);

		if (had < 0)
			goto out;
		out->n += (size_t)had;
		if (q->progress)
			q->progress(q->arg, k + 1, n_knobs);
	}
	sort_rows(out, q->step_ppm);
	rc = 0;
out:
	machine_conf_free(d.conf);
	return rc;
}
