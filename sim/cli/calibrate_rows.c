/* calibrate_rows.c - npusim calibrate on an NPU: few physical parameters from tables of ops measured on it.
 *
 * Each row runs alone, in closed form unless events are asked for (which take ten times as long), operands in DRAM or, of tables
 * of --resident, on chip. All rows are fitted, or so many as are asked for: what a fold, one table, or the rows that were taken say of the
 * others is printed beside.
 * Values are tried as a file would give them: the machine is made anew by its file and assignments, so that what follows from a
 * parameter (a memory's pin rate from its bandwidth) follows, and what is reported is what `npusim validate` finds of the
 * file that is written. */
#include "sim/cli/calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/interval.h"
#include "sim/accuracy/rows.h"
#include "sim/base/hash.h"
#include "sim/cli/ops_table.h"
#include "sim/engine/engine.h"
#include "sim/engine/run_memo.h"
#include "sim/ui/outfile.h"

#define SEARCH   50  /* evaluations a parameter: a row is mapped anew in each */
#define MOST_OFF 0.5 /* of a logarithm: what a row counts at the most */
#define UNTOLD   0.1 /* points of mean error for a tenth of a value */
#define ODD      50  /* percent: no value explains a row that is further off behind the fit */

struct table {
	const char *path;
	struct workload w;
	struct run_opts how;
	struct rows rows;
	uint64_t *measured_ns; /* of all that count, taken or not */
};

struct fitting {
	const struct calibrate_rows *o;
	struct machine_conf *conf;
	struct run_memo *memo;
	struct table *tables;
	size_t n, samples;
	struct cases *sets;
	struct arena *arena;
	struct err e; /* the first that a row met while it was fitted */
	struct fit_plan *p;
	struct machine_base *base;
	struct machine_conf
		*tried; /* what `conf` has the values of; NULL: the file's, or values of which no machine can be made */
	bool none;
	struct err why;
	struct fit_report found;
};

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Only rows of one kind, if one is asked for: others keep a time that nothing is fitted to. */
static void keep_kind(const char *kind, struct cases *s)
{
	for (size_t i = 0; kind && i < s->n; i++)
		if (strcmp(s->v[i].cls, kind) != 0)
			s->v[i].measured_ns = 0;
}

static int calibrate_rows_read_table(struct fitting *f, const char *path, enum run_start start, struct err *e)
{
	struct table *t = &f->tables[f->n];

	t->path = path;
	t->how = (struct run_opts){ .start = start, .fidelity = f->o->fidelity, .seed = RUN_SEED, .memo = f->memo };
	f->n++;
	if (cmd_workload_read(&(struct workload_spec){ .trace = path, .rules = f->o->rules }, &f->conf->cfg, &t->w, e) <
	    0)
		return -1;
	if (!ops_listed_all(&t->w.stream))
		return err_set(e, ERR_IO, "'%s' is no table of ops (CSV whose header begins with 'op,')", path);
	if (rows_new(&t->rows, t->w.stream.n_ops, f->arena, e) < 0 ||
	    rows_add(&t->rows, &t->w.stream, f->conf, &t->how, -1, f->arena, e) < 0)
		return -1;
	keep_kind(f->o->kind, &t->rows.sim.all);
	if (!(t->measured_ns = arena_array(f->arena, t->rows.sim.all.n + 1, sizeof *t->measured_ns)))
		return err_nomem(e, "for samples");
	for (size_t i = 0; i < t->rows.sim.all.n; i++) {
		t->measured_ns[i] = t->rows.sim.all.v[i].measured_ns;
		f->samples += t->measured_ns[i] != 0;
	}
	f->sets[f->n - 1] = t->rows.sim.all;
	return 0;
}

static int calibrate_rows_read_all(struct fitting *f, struct err *e)
{
	const struct opt_list *lists[] = { f->o->tables, f->o->resident };
	const size_t n = (size_t)(lists[0]->n + lists[1]->n);

	if (!(f->arena = arena_new(MEASURED_MEMORY)) || !(f->tables = calloc(n + 1, sizeof *f->tables)) ||
	    !(f->sets = calloc(n + 1, sizeof *f->sets)))
		return err_nomem(e, "for tables");
	if (!(f->memo = run_memo_new(e)))
		return -1;
	for (int k = 0; k < 2; k++)
		for (int i = 0; i < lists[k]->n; i++)
			if (calibrate_rows_read_table(f, lists[k]->v[i], k ? RUN_RESIDENT : RUN_COLD, e) < 0)
				return -1;
	return 0;
}

/* A sample that may be taken. */
struct choice {
	uint64_t measured_ns;
	size_t table, sample;
};

static int by_time(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	if (x->measured_ns != y->measured_ns)
		return x->measured_ns < y->measured_ns ? -1 : 1;
	return x->table != y->table ? (x->table < y->table ? -1 : 1)
	                            : (x->sample > y->sample) - (x->sample < y->sample);
}

/* So many rows, as evenly over measured times as there are rows: the middles of as many equal parts. Others keep their time here
 * alone, and nothing is fitted to them. */
static int take(struct fitting *f, struct err *e)
{
	struct choice *v = calloc(f->samples + 1, sizeof *v);
	const size_t all = f->samples, want = f->o->rows < all ? (size_t)f->o->rows : all;
	size_t n = 0;

	if (!v)
		return err_nomem(e, "for samples");
	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k < f->sets[i].n; k++)
			if (f->tables[i].measured_ns[k]) {
				v[n++] = (struct choice){ f->tables[i].measured_ns[k], i, k };
				f->sets[i].v[k].measured_ns = 0;
			}
	qsort(v, n, sizeof *v, by_time);
	for (size_t i = 0; i < want; i++) {
		const struct choice *x = &v[(2 * i + 1) * all / (2 * want)];
		struct sample *y = &f->sets[x->table].v[x->sample];

		y->measured_ns = x->measured_ns;
		y->hash = (uint64_t)i << 20; /* folds take them in turn */
	}
	f->samples = want;
	free(v);
	return 0;
}

static void fitting_free(struct fitting *f)
{
	machine_conf_free(f->tried);
	machine_base_free(f->base);
	for (size_t i = 0; i < f->n; i++)
		workload_free(&f->tables[i].w);
	free(f->tables);
	free(f->sets);
	run_memo_free(f->memo);
	arena_free(f->arena);
}

/* --- the fit ------------------------------------------------------------------------------------------------------ */

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
static void calibrate_rows_settle(void *engine)
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

/* Where parameters leave a row no way to be done, it takes no time: far off, so the search turns back. */
static void time_row(void *engine, size_t set, size_t sample)
{
	struct fitting *f = engine;
	struct table *t = &f->tables[set];
	struct err e = ERR_INIT;

	if (!f->none && rows_again(&t->rows, sample, f->conf, &t->how, &e) == 0)
		return;
	t->rows.sim.all.v[sample].time.total = 0;
	if (!f->e.kind)
		f->e = e;
}

static struct fit_data data_of(struct fitting *f, unsigned folds, bool by_set)
{
	return (struct fit_data){ .sets = f->sets,
		                  .n_sets = f->n,
		                  .folds = folds,
		                  .all = true,
		                  .by_set = by_set,
		                  .rugged = true,
		                  .most = SEARCH,
		                  .most_off = MOST_OFF,
		                  .all_move = true,
		                  .settle = calibrate_rows_settle,
		                  .time = time_row,
		                  .engine = f };
}

/* Signed, percent; of the machine as it is now. */
static double off(struct fitting *f, size_t table, size_t sample)
{
	time_row(f, table, sample);
	return 100 * ((double)f->tables[table].rows.sim.all.v[sample].time.total / 1e3 /
	                      (double)f->tables[table].measured_ns[sample] -
	              1);
}

struct offs {
	size_t n;
	double mape, bias;
};

/* Of a table's rows that were taken, or that were not. */
static struct offs offs_of(struct fitting *f, size_t table, bool taken)
{
	const struct table *t = &f->tables[table];
	struct offs o = { .n = 0 };

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

struct errors {
	struct fitting *f;
	const struct offs *was;
};

/* A table's rows that were taken, then those that were not. */
static void error_row(struct doc *d, const void *of, size_t i)
{
	const struct errors *x = of;
	const struct table *t = &x->f->tables[i / 2];
	const struct offs o = d->heads ? (struct offs){ .n = 1 } : offs_of(x->f, i / 2, i % 2 == 0);

	if (!o.n)
		return;
	doc_text(d, "table", t->path);
	doc_text(d, "start", run_start_name(t->how.start));
	doc_text(d, "fitted", i % 2 ? "no" : "yes");
	doc_count(d, "rows", o.n);
	doc_real(d, "before", 2, x->was[i].mape);
	doc_real(d, "mape", 2, o.mape);
	doc_real(d, "bias", 2, o.bias);
}

/* Rows of those that were taken which stay far off. */
static void odd_rows(struct doc *d, struct fitting *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k < f->sets[i].n; k++) {
			const struct sample *x = &f->sets[i].v[k];
			const double by = x->measured_ns ? off(f, i, k) : 0;

			if (by <= ODD && by >= -ODD)
				continue;
			if (n++ == 0)
				doc_say(d, "\nrows that no value explains\n");
			doc_say(d, "  %-40.40s measured %.1f us, simulated %.1f us, %+.1f %%\n", x->name,
			        (double)x->measured_ns / 1e3, (double)x->time.total / 1e6, by);
		}
}

/* What the file says of where its values are from: which rows, by a digest of the tables. */
static void source_of(const struct fitting *f, const struct fit_plan *p, char *out, size_t cap)
{
	uint64_t h = HASH_INIT;

	for (size_t i = 0; i < f->n; i++)
		h = hash_str(h, f->tables[i].w.stream.digest ? f->tables[i].w.stream.digest : "");
	snprintf(out, cap, "fitted by npusim calibrate to %zu rows of %zu tables (digest %016llx), %zu parameters",
	         f->samples, f->n, (unsigned long long)h, p->n_fit);
}

/* How far off rows are by class, as those would be that were not taken: the fit's own error times what folds say it is more, or
 * what as many parameters make of so few rows. */
static int keep_errors(struct fitting *f, const char *source, struct err *e)
{
	const double n = (double)f->samples, p = (double)f->p->n_fit,
		     more = f->o->folds && f->found.mape > 0 ? f->found.cv_mape / f->found.mape
	                    : n > p                          ? n / (n - p)
	                                                     : n;
	double sum[INTERVAL_PARTS] = { 0 };
	uint64_t count[INTERVAL_PARTS] = { 0 };
	char key[64];
	size_t row;

	for (size_t i = 0; i < f->n; i++)
		for (size_t k = 0; k < f->sets[i].n; k++) {
			const enum interval_part part = interval_part_of(&f->tables[i].rows.one[k]->ops[0]);
			const double d = f->sets[i].v[k].measured_ns ? off(f, i, k) : 0;

			sum[part] += d < 0 ? -d : d;
			count[part] += f->sets[i].v[k].measured_ns != 0;
		}
	for (int part = 0; part < INTERVAL_PARTS; part++) {
		const double error = count[part] ? sum[part] / (double)count[part] * (more > 1 ? more : 1) : 0;

		snprintf(key, sizeof key, "calibrated.%s_rows", interval_part_name((enum interval_part)part));
		if (cfg_find(f->conf->raw, key, &row, e) < 0)
			return -1;
		cfg_set_raw(f->conf->raw, row, count[part], source);
		snprintf(key, sizeof key, "calibrated.%s_error", interval_part_name((enum interval_part)part));
		if (cfg_find(f->conf->raw, key, &row, e) < 0)
			return -1;
		cfg_set_raw(f->conf->raw, row, fit_round((uint64_t)(error * 1e4)), source);
	}
	return 0;
}

static int write_config(struct fitting *f, const struct fit_plan *p, struct err *e)
{
	char source[160];
	struct str out = STR_INIT;
	int rc;

	if (!f->o->output)
		return 0;
	source_of(f, p, source, sizeof source);
	if (keep_errors(f, source, e) < 0)
		return -1;
	for (size_t i = 0; i < p->n_fit; i++)
		cfg_set_raw(f->conf->raw, p->fit[i].row, p->fit[i].value, source);
	fit_config_text(f->conf->raw, &out);
	rc = outfile_write(f->o->output, &out, e);
	str_free(&out);
	return rc;
}

static int check_plan(const struct fitting *f, const struct fit_plan *p, struct err *e)
{
	for (size_t i = 0; i < p->n_fit; i++)
		if (p->fit[i].of_kernel)
			return err_set(e, ERR_CONFIG, "'%s' is a number of a GPU's kernel: an NPU has none",
			               p->fit[i].name);
	if (!p->n_fit)
		return err_set(e, ERR_CONFIG, "'%s' lists nothing to fit", f->o->plan);
	return f->samples >= p->n_fit
	               ? 0
	               : err_set(e, ERR_IO, "%zu parameters cannot be fitted to %zu rows with a measured time",
	                         p->n_fit, f->samples);
}

/* Over all tables. */
static struct offs offs_all(struct fitting *f, bool taken)
{
	struct offs all = { .n = 0 };

	for (size_t i = 0; i < f->n; i++) {
		const struct offs o = offs_of(f, i, taken);

		all.n += o.n;
		all.mape += o.mape * (double)o.n;
	}
	all.mape /= all.n ? (double)all.n : 1;
	return all;
}

/* Whether a machine can be made of where the search begins: two keys may say the same. */
static int check_start(struct fitting *f, struct err *e)
{
	for (size_t i = 0; i < f->p->n_fit; i++)
		cfg_set_raw(f->conf->raw, f->p->fit[i].row, f->p->fit[i].start, "fitted");
	calibrate_rows_settle(f);
	if (!f->none)
		return 0;
	*e = f->why;
	return err_add(e, "setting what '%s' fits", f->o->plan);
}

/* Values that could as well be others. */
static void say_untold(struct doc *d, const struct fit_plan *p)
{
	bool any = false;

	for (size_t i = 0; i < p->n_fit; i++)
		if (p->fit[i].sensitivity < UNTOLD) {
			doc_say(d, "%s%s", any ? ", " : "these rows hardly tell: ", p->fit[i].name);
			any = true;
		}
	doc_say(d, "%s", any ? "\n" : "");
}

static void say_sums(struct doc *d, struct fitting *f, const struct fit_report *r, const struct fit_report *without)
{
	const struct offs rest = offs_all(f, false);

	doc_say(d,
	        "\n%zu rows, %zu fitted parameters, %u evaluations\n"
	        "mean absolute error on them %.2f %%, cross-validated in %u folds %.2f %%\n",
	        r->samples, f->p->n_fit, r->evaluations + without->evaluations, r->mape, (unsigned)f->o->folds,
	        r->cv_mape);
	if (rest.n)
		doc_say(d, "on the %zu rows that were not taken %.2f %%\n", rest.n, rest.mape);
	say_untold(d, f->p);
	if (f->n > 1 && f->o->folds && !f->o->rows)
		doc_say(d, "each table by a fit to the others: %.2f %%\n", without->cv_mape);
}

static int fit(struct fitting *f, struct fit_plan *p, struct doc *d, struct err *e)
{
	struct fit_data folds = data_of(f, (unsigned)f->o->folds, false), left_out = data_of(f, (unsigned)f->n, true);
	struct offs *was = arena_array(f->arena, 2 * f->n + 1, sizeof *was);
	struct fit_report r, without = { 0 };

	if (!was)
		return err_nomem(e, "for samples");
	for (size_t i = 0; i < 2 * f->n; i++)
		was[i] = offs_of(f, i / 2, i % 2 == 0);
	if (check_plan(f, p, e) < 0 || check_start(f, e) < 0 ||
	    (f->n > 1 && f->o->folds && !f->o->rows && fit_run(p, f->conf, &left_out, &without, e) < 0) ||
	    fit_run(p, f->conf, &folds, &r, e) < 0)
		return -1;
	f->found = r;
	calibrate_rows_settle(f);
	if (f->none) {
		*e = f->why;
		return err_add(e, "setting what was found");
	}
	fit_doc(d, p, f->conf->raw);
	if (d->format != OUT_TABLE)
		return 0;
	doc_say(d, "\n");
	doc_table(d, NULL, "error by table, percent", 2 * f->n, error_row, &((struct errors){ f, was }));
	odd_rows(d, f);
	say_sums(d, f, &r, &without);
	return 0;
}

int calibrate_rows(const struct calibrate_rows *o, struct machine_conf *conf, struct doc *d, struct err *e)
{
	struct fitting x = { .o = o, .conf = conf };
	int rc = -1;

	if ((x.base = machine_base_load(o->config, o->sets->v, o->sets->n, e)) && calibrate_rows_read_all(&x, e) == 0 &&
	    (!o->rows || take(&x, e) == 0) && (x.p = fit_plan_load(o->plan, conf, NULL, e)) && fit(&x, x.p, d, e) == 0)
		rc = write_config(&x, x.p, e);
	if (rc == 0 && o->check)
		rc = fit_changed(x.p, e);
	fit_plan_free(x.p);
	fitting_free(&x);
	return rc;
}
