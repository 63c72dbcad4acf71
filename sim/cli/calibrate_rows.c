/* calibrate_rows.c - npusim calibrate on an NPU: few physical parameters from tables of ops measured on it.
 *
 * Each row runs alone, in closed form unless events are asked for (which take ten times as long), operands in DRAM or, of tables of --resident, on chip. All rows are fitted: what a
 * fold, or one table, says of the others is printed beside. */
#include "sim/cli/calibrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/rows.h"
#include "sim/base/hash.h"
#include "sim/cli/ops_table.h"
#include "sim/engine/engine.h"
#include "sim/engine/run_memo.h"
#include "sim/ui/outfile.h"

#define SEARCH 50 /* evaluations a parameter: a row is mapped anew in each */

struct table {
	const char *path;
	struct workload w;
	struct run_opts how;
	struct rows rows;
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
};

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* Only rows of one kind, if one is asked for: others keep a time that nothing is fitted to. */
static void keep_kind(const char *kind, struct cases *s)
{
	for (size_t i = 0; kind && i < s->n; i++)
		if (strcmp(s->v[i].cls, kind) != 0)
			s->v[i].measured_ns = 0;
}

static int read_table(struct fitting *f, const char *path, enum run_start start, struct err *e)
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
	for (size_t i = 0; i < t->rows.sim.all.n; i++)
		f->samples += t->rows.sim.all.v[i].measured_ns != 0;
	f->sets[f->n - 1] = t->rows.sim.all;
	return 0;
}

static int read_all(struct fitting *f, struct err *e)
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
			if (read_table(f, lists[k]->v[i], k ? RUN_RESIDENT : RUN_COLD, e) < 0)
				return -1;
	return 0;
}

static void fitting_free(struct fitting *f)
{
	for (size_t i = 0; i < f->n; i++)
		workload_free(&f->tables[i].w);
	free(f->tables);
	free(f->sets);
	run_memo_free(f->memo);
	arena_free(f->arena);
}

/* --- the fit ------------------------------------------------------------------------------------------------------ */

/* Where parameters leave a row no way to be done, it takes no time: far off, so the search turns back. */
static void time_row(void *engine, size_t set, size_t sample)
{
	struct fitting *f = engine;
	struct table *t = &f->tables[set];
	struct err e = ERR_INIT;

	if (rows_again(&t->rows, sample, f->conf, &t->how, &e) == 0)
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
		                  .time = time_row,
		                  .engine = f };
}

static void error(struct doc *d, const void *of, size_t i)
{
	const struct fitting *f = of;
	const struct cases *s = d->heads ? NULL : &f->tables[i].rows.sim.all;
	double off = 0, bias = 0;
	size_t n = 0;

	for (size_t k = 0; s && k < s->n; k++) {
		const struct sample *x = &s->v[k];
		double by;

		if (!x->measured_ns)
			continue;
		time_row((void *)f, i, k);
		by = 100 * ((double)x->time.total / 1e3 / (double)x->measured_ns - 1);
		off += by < 0 ? -by : by;
		bias += by;
		n++;
	}
	doc_text(d, "table", f->tables[i].path);
	doc_text(d, "start", run_start_name(f->tables[i].how.start));
	doc_count(d, "rows", n);
	doc_real(d, "mape", 2, n ? off / (double)n : 0);
	doc_real(d, "bias", 2, n ? bias / (double)n : 0);
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

static int write_config(struct fitting *f, const struct fit_plan *p, struct err *e)
{
	char source[160];
	struct str out = STR_INIT;
	int rc;

	if (!f->o->output)
		return 0;
	source_of(f, p, source, sizeof source);
	for (size_t i = 0; i < p->n_fit; i++)
		cfg_set_raw(f->conf->raw, p->fit[i].row, p->fit[i].value, source);
	calibrate_config_text(f->conf->raw, &out);
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

static int fit(struct fitting *f, struct fit_plan *p, struct doc *d, struct err *e)
{
	struct fit_data folds = data_of(f, (unsigned)f->o->folds, false), left_out = data_of(f, (unsigned)f->n, true);
	struct fit_report r, without = { 0 };

	if (check_plan(f, p, e) < 0 || (f->n > 1 && f->o->folds && fit_run(p, f->conf, &left_out, &without, e) < 0) ||
	    fit_run(p, f->conf, &folds, &r, e) < 0)
		return -1;
	calibrate_parameters(d, p, f->conf->raw);
	if (d->format != OUT_TABLE)
		return 0;
	doc_say(d, "\n");
	doc_table(d, NULL, "error by table, percent", f->n, error, f);
	doc_say(d,
	        "\n%zu rows, %zu fitted parameters, %u evaluations\n"
	        "mean absolute error on them %.2f %%, cross-validated in %u folds %.2f %%\n",
	        r.samples, p->n_fit, r.evaluations + without.evaluations, r.mape, (unsigned)f->o->folds, r.cv_mape);
	if (f->n > 1 && f->o->folds)
		doc_say(d, "each table by a fit to the others: %.2f %%\n", without.cv_mape);
	return 0;
}

int calibrate_rows(const struct calibrate_rows *o, struct machine_conf *conf, struct doc *d, struct err *e)
{
	struct fitting x = { .o = o, .conf = conf };
	struct fit_plan *p = NULL;
	int rc = -1;

	if (read_all(&x, e) == 0 && (p = fit_plan_load(o->plan, conf, NULL, e)) && fit(&x, p, d, e) == 0)
		rc = write_config(&x, p, e);
	if (rc == 0 && o->check)
		rc = calibrate_changed(p, e);
	fit_plan_free(p);
	fitting_free(&x);
	return rc;
}
