/* calibrate_energy.c - npusim calibrate --energy: what a board's events cost, from measured energy. */
#include "sim/cli/calibrate.h"

#include <stdio.h>

#include "sim/accuracy/fit_energy.h"
#include "sim/cli/gpu_energy.h"

struct cost {
	const struct cfg *c;
	const struct fit_energy_cost *x;
	const char *how;
};

static void calibrate_energy_value(struct doc *d, const char *key, enum cfg_type t, bool known, uint64_t v)
{
	struct str s = STR_INIT;

	cfg_format_value(t, v, &s);
	doc_text(d, key, known ? str_c(&s) : NULL);
	str_free(&s);
}

static void cost(struct doc *d, const void *of, size_t i)
{
	const struct cost *k = of;
	const struct fit_energy_cost *x = k->x;
	const struct cfg_row r = cfg_at(k->c, x->row);
	const enum cfg_type type = r.field->type;
	const bool folds = x->low <= x->high;

	(void)i;
	doc_text(d, "parameter", r.key);
	calibrate_energy_value(d, "value", type, true, x->value);
	calibrate_energy_value(d, "before", type, true, x->given);
	doc_text(d, "how", k->how);
	calibrate_energy_value(d, "folds_low", type, folds, x->low);
	calibrate_energy_value(d, "folds_high", type, folds, x->high);
	doc_count(d, "cases", x->cases);
	doc_text(d, "of", r.field->help);
}

static void parameters(struct doc *d, const struct cfg *c, const struct fit_energy *f)
{
	struct fit_energy_cost idle = f->idle, low = f->idle_low;

	idle.low = low.low = 1;
	idle.high = low.high = 0;
	doc_table_open(d, NULL, "what a board's events cost");
	doc_row(d, cost, &(struct cost){ c, &idle, "measured" }, 0);
	doc_row(d, cost, &(struct cost){ c, &low, "measured, by the shape" }, 0);
	for (size_t k = 0; k < FIT_ENERGY_COSTS; k++)
		doc_row(d, cost, &(struct cost){ c, &f->cost[k], "fitted" }, 0);
	doc_table_close(d, NULL, NULL);
}

/* Each table's own error, as the boards differ. */
static int of_each(struct doc *d, const struct gpu_energies *x, struct arena *a, struct err *e)
{
	for (size_t i = 0; i < x->n; i++) {
		struct energy_score *s;
		const int n = energy_score(&x->v[i], 1, SAMPLE_ALL, a, &s, e);

		if (n < 0)
			return -1;
		doc_say(d, "%s'%s': %zu cases, %.2f %% off in the mean, 90th percentile %.2f %%, bias %+.2f %%\n",
		        i ? "" : "\n", x->v[i].path, s[n - 1].n, s[n - 1].mape, s[n - 1].p90_ape, s[n - 1].bias);
	}
	return 0;
}

static void boards(struct doc *d, const struct gpu_energies *x, const struct fit_energy *f)
{
	for (size_t i = 1; i < x->n; i++)
		doc_say(d, "\n'%s' is of another board: its core takes %.3f times as much, its DRAM %.3f times\n",
		        x->v[i].path, f->scale[i].core, f->scale[i].dram);
}

/* Costs that the configuration did not have before. */
static int changed(const struct cfg *c, const struct fit_energy *f, struct err *e)
{
	const struct fit_energy_cost *first = NULL, *all[FIT_ENERGY_COSTS + 2] = { &f->idle, &f->idle_low };
	size_t n = 0;

	for (size_t k = 0; k < FIT_ENERGY_COSTS; k++)
		all[k + 2] = &f->cost[k];
	for (size_t k = 0; k < FIT_ENERGY_COSTS + 2; k++)
		if (all[k]->value != all[k]->given) {
			first = first ? first : all[k];
			n++;
		}
	return n ? err_set(e, ERR_BOUND, "%zu values differ from those given, the first is %s", n,
	                   cfg_at(c, first->row).key)
	         : 0;
}

static int write_config(const char *path, struct machine_conf *conf, const struct fit_energy *f, struct err *e)
{
	static const char idle[] = "measured: rows 'idle' of the energy table",
			  low[] = "idle, by the shape over clocks that an H100 has (arch/gpu/gpu_power.c)";
	char source[200];

	snprintf(source, sizeof source, "fitted by npusim calibrate --energy, %zu cases, with %d costs", f->n,
	         FIT_ENERGY_COSTS);
	cfg_set_raw(conf->raw, f->idle.row, f->idle.value, idle);
	cfg_set_raw(conf->raw, f->idle_low.row, f->idle_low.value, low);
	for (size_t k = 0; k < FIT_ENERGY_COSTS; k++)
		cfg_set_raw(conf->raw, f->cost[k].row, f->cost[k].value, source);
	return fit_write(conf->raw, path, e);
}

int calibrate_energy(const struct calibrate_energy *o, struct doc *d, struct err *e)
{
	struct machine_conf *conf = machine_conf_load(o->config, o->sets->v, o->sets->n, e);
	struct kernels *k = conf ? kernels_load(o->kernels, e) : NULL;
	struct arena *a = arena_new(0);
	struct gpu_energies x = { .n = 0 };
	struct fit_energy f;
	char note[128];
	int rc = -1;

	if (!k || !a)
		goto out;
	if (machine_runs(&conf->cfg) != MACHINE_LAUNCHES) {
		err_set(e, ERR_CONFIG, "'%s' describes no GPU ('kind: gpu')", o->config);
		goto out;
	}
	if (gpu_energies_read(&x, o->tables, conf, k, e) < 0 ||
	    fit_energy_run(conf, x.v, x.n, (unsigned)o->folds, a, &f, e) < 0)
		goto out;
	parameters(d, conf->raw, &f);
	rc = 0;
	if (d->format == OUT_TABLE) {
		boards(d, &x, &f);
		snprintf(note, sizeof note, "error of energy by class, percent, at the measured times and clocks: %s",
		         o->folds ? "each case by a fit without its fold" : "of the cases fitted");
		doc_say(d, "\n");
		if ((rc = energy_doc(d, x.v, x.n, SAMPLE_ALL, 20, note, e)) == 0 && x.n > 1)
			rc = of_each(d, &x, a, e);
	}
	if (rc == 0 && o->output)
		rc = write_config(o->output, conf, &f, e);
	if (rc == 0 && o->check)
		rc = changed(conf->raw, &f, e);
out:
	gpu_energies_free(&x);
	arena_free(a);
	kernels_free(k);
	machine_conf_free(conf);
	return rc;
}
