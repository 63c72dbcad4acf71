#include "sim/accuracy/fit_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/rows.h"
#include "sim/base/hash.h"
#include "sim/engine/run_memo.h"

#define SEARCH   50                  /* evaluations a parameter: a row is mapped anew in each */
#define MOST_OFF 0.5                 /* of a logarithm: what a row counts at the most */
#define NUMBERS  (UINT64_C(1) << 32) /* of mappings that a fit holds */
#define ODD      50                  /* percent: no value explains a row that is further off behind the fit */

struct table {
	struct run_opts how;
	struct rows rows;
	uint64_t *measured_ns; /* of all that count, taken or not */
};

struct fitting {
	const struct fit_rows_ask *q;
	struct machine_conf *conf;
	struct fit_plan *p;
	struct arena *a;
	struct fit_rows *out;
	struct run_memo *memo;
	struct table *tables;
	struct cases *sets;
	struct machine_base *base;
	struct machine_conf
		*tried; /* what `conf` has the values of; NULL: the file's, or values of which no machine can be made */
	uint64_t fits;  /* so far: each gives its mappings numbers of its own */
	bool none;
	struct err why;
};

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* Only rows of one kind, if one is asked for: others keep a time that nothing is fitted to. */
static void keep_kind(const char *kind, struct cases *s)
{
	for (size_t i = 0; kind && i < s->n; i++)
		if (strcmp(s->v[i].cls, kind) != 0)
			s->v[i].measured_ns = 0;
}

static int add_table(struct fitting *f, size_t at, struct err *e)
{
	const struct fit_rows_table *of = &f->q->tables[at];
	struct table *t = &f->tables[at];

	t->how = (struct run_opts){ .start = of->start, .fidelity = f->q->fidelity, .seed = RUN_SEED, .memo = f->memo };
	if (rows_new(&t->rows, of->ops->n_ops, f->a, e) < 0 ||
	    rows_add(&t->rows, of->ops, f->conf, &t->how, SAMPLE_ALL, f->a, e) < 0)
		return -1;
	keep_kind(f->q->kind, &t->rows.sim.all);
	if (!(t->measured_ns = arena_array(f->a, t->rows.sim.all.n + 1, sizeof *t->measured_ns)))
		return err_nomem(e, "for samples");
	for (size_t i = 0; i < t->rows.sim.all.n; i++) {
		t->measured_ns[i] = t->rows.sim.all.v[i].measured_ns;
		f->out->samples += t->measured_ns[i] != 0;
	}
	f->sets[at] = t->rows.sim.all;
	return 0;
}

/* So many rows (rows_evenly). Others keep their time in the table alone, and nothing is fitted to them. */
static int take(struct fitting *f, struct err *e)
{
	const size_t all = f->out->samples, want = f->q->rows < all ? (size_t)f->q->rows : all;
	struct sample **v = arena_array(f->a, all + 1, sizeof *v);
	uint64_t *ns = arena_array(f->a, all + 1, sizeof *ns);
	size_t *taken = arena_array(f->a, want + 1, sizeof *taken), n = 0;

	if (!v || !ns || !taken)
		return err_nomem(e, "for samples");
	for (size_t i = 0; i < f->q->n; i++)
		for (size_t k = 0; k < f->sets[i].n; k++)
			if (f->tables[i].measured_ns[k]) {
				v[n] = &f->sets[i].v[k];
				ns[n++] = f->tables[i].measured_ns[k];
				f->sets[i].v[k].measured_ns = 0;
			}
	if (rows_evenly(ns, n, want, taken, e) < 0)
		return -1;
	for (size_t i = 0; i < want; i++) {
		v[taken[i]]->measured_ns = ns[taken[i]];
		v[taken[i]]->hash = (uint64_t)i << 20; /* folds take them in turn */
	}
	f->out->samples = want;
	return 0;
}

static int read_tables(struct fitting *f, struct err *e)
{
	if (!(f->tables = arena_array(f->a, f->q->n + 1, sizeof *f->tables)) ||
	    !(f->sets = arena_array(f->a, f->q->n + 1, sizeof *f->sets)))
		return err_nomem(e, "for tables");
	for (size_t i = 0; i < f->q->n; i++)
		if (add_table(f, i, e) < 0)
			return -1;
	return f->q->rows ? take(f, e) : 0;
}

/* --- the machine -------------------------------------------------------------------------------------------------- */

static int assignments(const struct fitting *f, struct arena *a, const char **sets)
{
	struct str v = STR_INIT;
	int n = 0;

	for (size_t i = 0; i < f->p->n_measured + f->p->n_fit; i++) {
		const size_t row = i < f->p->n_measured ? f->p->measured[i].row : f->p->fit[i - f->p->n_measured].row;

		str_clear(&v);
		cfg_value(f->conf->raw, row, &v);
		if ((sets[n] = arena_printf(a, "%s=%s", cfg_at(f->conf->raw, row).key, str_c(&v))))
			n++;
	}
	str_free(&v);
	return n;
}

/* The machine that a file with these values would describe. */
static void fit_rows_settle(void *engine)
{
	struct fitting *f = engine;
	struct arena *a = arena_new(0);
	const char *sets[2 * FIT_MAX];
	struct machine_conf *c = NULL;

	err_clear(&f->why);
	if (a)
		c = machine_base_conf(f->base, sets, assignments(f, a, sets), &f->why);
	f->none = !c;
	if (c) {
		machine_conf_free(f->tried);
		f->tried = c;
		f->conf->cfg = c->cfg;
	}
	arena_free(a);
}

static int settled(struct fitting *f, struct err *e)
{
	fit_rows_settle(f);
	if (f->none)
		*e = f->why;
	return f->none ? -1 : 0;
}

/* Most of a product's price is its mapping, where that is searched for and nothing has events. */
static bool mapping_is_dear(const struct fitting *f)
{
	if (f->conf->cfg.mapping.policy != MAPPING_SEARCH || f->q->fidelity != RUN_ANALYTIC)
		return false;
	for (size_t i = 0; i < f->q->n; i++)
		for (size_t k = 0; k < f->sets[i].n; k++)
			if (f->sets[i].v[k].measured_ns && f->tables[i].rows.one[k]->ops[0].kind == OP_GEMM)
				return true;
	return false;
}

static void hold_mappings(void *engine, uint64_t number)
{
	const struct fitting *f = engine;

	run_memo_hold_mappings(f->memo, number ? number + f->fits * NUMBERS : 0);
}

/* Where parameters leave a row no way to be done, it takes no time: far off, so the search turns back. */
static void time_row(void *engine, size_t set, size_t sample)
{
	struct fitting *f = engine;
	struct table *t = &f->tables[set];
	struct err e = ERR_INIT;

	if (f->none || rows_again(&t->rows, sample, f->conf, &t->how, &e) < 0)
		t->rows.sim.all.v[sample].time.total = 0;
}

/* --- how far off it is -------------------------------------------------------------------------------------------- */

/* Signed, percent; of the machine as it is now. */
static double off(struct fitting *f, size_t table, size_t sample)
{
	time_row(f, table, sample);
	return 100 * ((double)f->tables[table].rows.sim.all.v[sample].time.total / 1e3 /
	                      (double)f->tables[table].measured_ns[sample] -
	              1);
}

/* Of a table's rows that were taken, or that were not. */
static struct fit_rows_error error_of(struct fitting *f, size_t table, bool taken)
{
	const struct table *t = &f->tables[table];
	struct fit_rows_error o = { .n = 0 };

	for (size_t k = 0; k < t->rows.sim.all.n; k++) {
		double d;

		if (!t->measured_ns[k] || taken != (t->rows.sim.all.v[k].measured_ns != 0))
			continue;
		d = off(f, table, k);
		o.mape += d < 0 ? -d : d;
		o.bias += d;
		o.n++;
	}
	o.mape /= o.n ? (double)o.n : 1;
	o.bias /= o.n ? (double)o.n : 1;
	return o;
}

/* Of each table's rows that were taken, then of those that were not. */
static struct fit_rows_error *errors(struct fitting *f, struct err *e)
{
	struct fit_rows_error *v = arena_array(f->a, 2 * f->q->n + 1, sizeof *v);

	if (!v)
		err_nomem(e, "for samples");
	for (size_t i = 0; v && i < 2 * f->q->n; i++)
		v[i] = error_of(f, i / 2, i % 2 == 0);
	return v;
}

/* As those rows would be that were not taken: the fit's own error times what folds say it is more, or what as many parameters
 * make of so few rows. */
static double more(const struct fitting *f)
{
	const struct fit_report *r = &f->out->fit;
	const double n = (double)f->out->samples, p = (double)f->p->n_fit,
		     x = f->q->folds && r->mape > 0 ? r->cv_mape / r->mape
	                 : n > p                    ? n / (n - p)
	                                            : n;

	return x > 1 ? x : 1;
}

/* Of the rows that were taken. */
static int judge(struct fitting *f, struct err *e)
{
	struct fit_rows *r = f->out;

	if (!(r->odd = arena_array(f->a, r->samples + 1, sizeof *r->odd)))
		return err_nomem(e, "for samples");
	for (size_t i = 0; i < f->q->n; i++)
		for (size_t k = 0; k < f->sets[i].n; k++) {
			const struct sample *x = &f->sets[i].v[k];
			struct fit_rows_error *part = &r->part[interval_part_of(&f->tables[i].rows.one[k]->ops[0])];
			const double d = x->measured_ns ? off(f, i, k) : 0;

			part->n += x->measured_ns != 0;
			part->mape += d < 0 ? -d : d;
			if (d > ODD || d < -ODD)
				r->odd[r->n_odd++] = (struct fit_rows_odd){ x->name, x->measured_ns, x->time.total, d };
		}
	for (int i = 0; i < INTERVAL_PARTS; i++)
		r->part[i].mape = r->part[i].n ? r->part[i].mape / (double)r->part[i].n * more(f) : 0;
	for (size_t i = 0; i < f->q->n; i++) {
		const struct fit_rows_error *x = &r->now[2 * i + 1];

		r->rest.n += x->n;
		r->rest.mape += x->mape * (double)x->n;
	}
	r->rest.mape /= r->rest.n ? (double)r->rest.n : 1;
	return 0;
}

/* --- the fit ------------------------------------------------------------------------------------------------------ */

static int check_plan(const struct fitting *f, struct err *e)
{
	for (size_t i = 0; i < f->p->n_fit; i++)
		if (f->p->fit[i].of_kernel)
			return err_set(e, ERR_CONFIG, "'%s' is a number of a GPU's kernel: an NPU has none",
			               f->p->fit[i].name);
	if (!f->p->n_fit)
		return err_set(e, ERR_CONFIG, "'%s' lists nothing to fit", f->p->path);
	return f->out->samples >= f->p->n_fit
	               ? 0
	               : err_set(e, ERR_IO, "%zu parameters cannot be fitted to %zu rows with a measured time",
	                         f->p->n_fit, f->out->samples);
}

/* Whether a machine can be made of where the search begins: two keys may say the same. */
static int check_start(struct fitting *f, struct err *e)
{
	for (size_t i = 0; i < f->p->n_fit; i++)
		cfg_set_raw(f->conf->raw, f->p->fit[i].row, f->p->fit[i].start, "fitted");
	return settled(f, e) < 0 ? err_add(e, "setting what '%s' fits", f->p->path) : 0;
}

static struct fit_data data_of(struct fitting *f, uint64_t folds, bool by_set)
{
	return (struct fit_data){ .sets = f->sets,
		                  .n_sets = f->q->n,
		                  .folds = (unsigned)folds,
		                  .all = true,
		                  .by_set = by_set,
		                  .rugged = true,
		                  .most = SEARCH,
		                  .most_off = MOST_OFF,
		                  .all_move = true,
		                  .jobs = f->q->jobs,
		                  .backend = f->q->backend,
		                  .hold = mapping_is_dear(f) ? hold_mappings : NULL,
		                  .settle = fit_rows_settle,
		                  .time = time_row,
		                  .engine = f };
}

static int fit(struct fitting *f, struct err *e)
{
	const struct fit_data folds = data_of(f, f->q->folds, false), left_out = data_of(f, f->q->n, true);
	struct fit_rows *r = f->out;

	if (!(r->was = errors(f, e)) || check_plan(f, e) < 0 || check_start(f, e) < 0)
		return -1;
	if (f->q->n > 1 && f->q->folds && !f->q->rows && fit_run(f->p, f->conf, &left_out, &r->by_table, e) < 0)
		return -1;
	f->fits++;
	if (fit_run(f->p, f->conf, &folds, &r->fit, e) < 0)
		return -1;
	if (settled(f, e) < 0)
		return err_add(e, "setting what was found");
	return (r->now = errors(f, e)) ? judge(f, e) : -1;
}

static void name_source(const struct fit_rows_ask *q, const struct fit_plan *p, struct fit_rows *r)
{
	uint64_t h = HASH_INIT;

	for (size_t i = 0; i < q->n; i++)
		h = hash_str(h, q->tables[i].ops->digest ? q->tables[i].ops->digest : "");
	snprintf(r->source, sizeof r->source,
	         "fitted by npusim calibrate to %zu rows of %zu tables (digest %016llx), %zu parameters", r->samples,
	         q->n, (unsigned long long)h, p->n_fit);
}

int fit_rows_run(const struct fit_rows_ask *q, struct machine_conf *conf, struct fit_plan *p, struct arena *a,
                 struct fit_rows *out, struct err *e)
{
	struct fitting f = { .q = q, .conf = conf, .p = p, .a = a, .out = out };
	int rc = -1;

	*out = (struct fit_rows){ .samples = 0 };
	if ((f.base = machine_base_load(q->config, q->sets, q->n_sets, e)) && (f.memo = run_memo_new(e)) &&
	    read_tables(&f, e) == 0)
		rc = fit(&f, e);
	name_source(q, p, out);
	machine_conf_free(f.tried);
	machine_base_free(f.base);
	run_memo_free(f.memo);
	return rc;
}

static int keep(struct cfg *c, const char *name, const char *what, uint64_t v, const char *source, struct err *e)
{
	char key[64];
	size_t row;

	snprintf(key, sizeof key, "calibrated.%s_%s", name, what);
	if (cfg_find(c, key, &row, e) < 0)
		return -1;
	cfg_set_raw(c, row, v, source);
	return 0;
}

/* What is fitted moves attention and nothing else. */
static bool fit_rows_only_attention(const struct fit_plan *p)
{
	for (size_t i = 0; i < p->n_fit; i++)
		if (!str_prefix(p->fit[i].name, "attention."))
			return false;
	return true;
}

static int rows_known(const struct cfg *c, const char *name, uint64_t *out, struct err *e)
{
	char key[64];
	size_t row;

	snprintf(key, sizeof key, "calibrated.%s_rows", name);
	if (cfg_find(c, key, &row, e) < 0)
		return -1;
	*out = cfg_raw(c, row);
	return 0;
}

/* What was known of parts that the fit does not move stays, unless it saw more rows of them. */
int fit_rows_keep(const struct fit_rows *r, const struct fit_plan *p, struct cfg *c, struct err *e)
{
	const bool others_stay = fit_rows_only_attention(p);

	for (int i = 0; i < INTERVAL_PARTS; i++) {
		const char *name = interval_part_name((enum interval_part)i);
		uint64_t known;

		if (rows_known(c, name, &known, e) < 0)
			return -1;
		if (others_stay && i != INTERVAL_ATTENTION && r->part[i].n <= known)
			continue;
		if (keep(c, name, "rows", r->part[i].n, r->source, e) < 0 ||
		    keep(c, name, "error", fit_round((uint64_t)(r->part[i].mape * 1e4)), r->source, e) < 0)
			return -1;
	}
	fit_plan_keep(p, c, r->source);
	return 0;
}
