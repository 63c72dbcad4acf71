/* rates_run.c - the rows of a table of rates simulated; then the one number of each engine, and errors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/rates.h"
#include "sim/base/path.h"
#include "sim/engine/engine.h"
#include "sim/engine/run.h"
#include "sim/workload/workload.h"
#include "workloads/model/count.h"

#define LAYERS_MOST 24 /* of a deeper model so many are simulated, and a third of them: layers repeat */
#define SETS_MOST   32

/* --- a row ------------------------------------------------------------------------------------------------------------ */

static struct machine_conf *machine_of(struct rates *r, const struct rates_row *row, struct err *e)
{
	const struct ynode *sets = ynode_get(row->on, "set");
	const char *v[SETS_MOST], *config = rates_text(row->on, "config");
	struct err none = ERR_INIT;
	char path[1024];
	int n = 0;

	for (size_t i = 0; sets && sets->kind == YNODE_SEQ && i < sets->n && n < SETS_MOST; i++)
		if (yaml_str(r->map, sets->vals[i], &v[n++], e) < 0)
			return NULL;
	/* From the top of the data, wherever it stands; else a path as given. */
	return machine_conf_load(path_data(config, path, sizeof path, &none) == 0 ? path : config, v, n, e);
}

struct step {
	double us;
	double launches;
};

/* A step of so many layers: 0 is all. */
static int simulate(const struct rates *r, const struct rates_row *row, const struct machine_conf *conf,
                    uint64_t layers, struct step *out, struct err *e)
{
	const char *how_launched = rates_text(row->by, "launches");
	const char *style = rates_text(row->by, "style");
	struct workload_spec o = { .model = row->described,
		                   .quant = rates_text(row->in, "quant"),
		                   .style = style ? style : build_style_name(BUILD_FUSED),
		                   .phase = r->prefill ? "prefill" : "decode",
		                   .tokens = r->prefill ? row->tokens : 1,
		                   .context = r->prefill    ? 0
		                              : row->tokens ? row->tokens
		                                            : 1,
		                   .layers = layers };
	const struct workload_reader by = { .source = &path_source, .machine = &conf->cfg };
	struct run_opts opts = { .start = RUN_COLD, .seed = RUN_SEED };
	struct workload w;
	struct run_result x;
	int rc = -1;

	if (workload_read(&o, &by, &w, e) == 0 && run_stream(&w.stream, conf, &opts, w.in.arena, &x, e) == 0) {
		const bool host = how_launched && strcmp(how_launched, "host") == 0;

		out->us = (double)(!x.wall_graph_ps ? x.total_ps : host ? x.wall_eager_ps : x.wall_graph_ps) / 1e6;
		out->launches = (double)(w.stream.n_launches ? w.stream.n_launches : w.stream.n_ops);
		rc = 0;
	}
	workload_free(&w);
	return rc;
}

/* Bytes of all weights and of the cache over the pins' bandwidth, where they fit. */
static int bytes_over_bandwidth(const struct rates_row *row, const struct machine_conf *conf, const struct model *m,
                                double *us, struct err *e)
{
	const struct scheme *q = scheme_find(rates_text(row->in, "quant"), e);
	struct str a = STR_INIT, b = STR_INIT;
	struct model_token t;
	uint64_t need;

	if (!q)
		return -1;
	need = model_weight_bytes(m, q) + (row->tokens + 1) * model_kv_bytes(m, m->dtype);
	if (conf->cfg.mem.dram.capacity && need > conf->cfg.mem.dram.capacity) {
		str_add_bytes(&a, need);
		str_add_bytes(&b, conf->cfg.mem.dram.capacity);
		err_set(e, ERR_CONFIG, "weights and cache need %s, and 'dram.capacity' is %s", str_c(&a), str_c(&b));
		str_free(&a);
		str_free(&b);
		return -1;
	}
	model_token_of(m, q, m->dtype, row->tokens, &t);
	*us = (double)(t.weight_bytes + t.kv_bytes) * 1e6 / (double)dram_peak(&conf->cfg.mem.dram);
	return 0;
}

/* Deep models by two depths: what a layer more takes is the same for each. */
static int by_layers(const struct rates *r, struct rates_row *row, const struct machine_conf *conf, uint32_t layers,
                     struct err *e)
{
	struct step few, many;
	double each;

	if (layers <= LAYERS_MOST) {
		if (simulate(r, row, conf, 0, &many, e) < 0)
			return -1;
		few = many;
	} else if (simulate(r, row, conf, LAYERS_MOST / 3, &few, e) < 0 ||
	           simulate(r, row, conf, LAYERS_MOST, &many, e) < 0) {
		return -1;
	}
	each = layers > LAYERS_MOST ? (double)(layers - LAYERS_MOST) / (LAYERS_MOST - LAYERS_MOST / 3) : 0;
	row->simulated_us = many.us + each * (many.us - few.us);
	row->launches = (uint64_t)(many.launches + each * (many.launches - few.launches) + 0.5);
	return 0;
}

/* What the machine or the model refuses is the row's reason. */
static void run_row(struct rates *r, struct rates_row *row)
{
	struct err e = ERR_INIT;
	struct machine_conf *conf = machine_of(r, row, &e);
	struct model *m = conf ? model_load(row->described, &e) : NULL;

	if (!m || bytes_over_bandwidth(row, conf, m, &row->bytes_us, &e) < 0 ||
	    by_layers(r, row, conf, m->layers, &e) < 0) {
		row->why = arena_strdup(r->a, e.msg);
		r->unsupported++;
	}
	model_free(m);
	machine_conf_free(conf);
}

static bool alike(const struct rates_row *a, const struct rates_row *b)
{
	return a->on == b->on && strcmp(a->described, b->described) == 0 && a->in == b->in && a->tokens == b->tokens &&
	       strcmp(rates_text(a->by, "name"), rates_text(b->by, "name")) == 0;
}

static void run_or_copy(struct rates *r, size_t i)
{
	struct rates_row *row = &r->rows[i];

	for (size_t k = 0; k < i; k++)
		if (!r->rows[k].why && alike(&r->rows[k], row)) {
			row->simulated_us = r->rows[k].simulated_us;
			row->bytes_us = r->rows[k].bytes_us;
			row->launches = r->rows[k].launches;
			return;
		}
	run_row(r, row);
}

/* --- engines ----------------------------------------------------------------------------------------------------------- */

static int rates_run_by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* At a fraction of the way through the sorted values. */
static double quantile(double *v, size_t n, double at)
{
	if (!n)
		return 0;
	qsort(v, n, sizeof *v, rates_run_by_value);
	return v[(size_t)(at * (double)(n - 1) + 0.5)];
}

static bool of_engine(const struct rates_row *row, const char *name)
{
	return !row->why && (!name || strcmp(rates_text(row->by, "name"), name) == 0);
}

static bool no_gap(const struct rates_row *row)
{
	return rates_text(row->by, "gap") != NULL; /* 'none': the map was checked */
}

bool rates_gap_found_on(const struct rates_row *row)
{
	return row->fitted && !no_gap(row);
}

static void fit(struct rates *r, struct rates_engine *x, double *v)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (of_engine(&r->rows[i], x->name) && r->rows[i].fitted)
			v[n++] = (r->rows[i].measured_us - r->rows[i].simulated_us) / (double)r->rows[i].launches;
	x->gap_us = !x->no_gap && quantile(v, n, 0.5) > 0 ? quantile(v, n, 0.5) : 0;
	x->factor = 1;
	n = 0;
	for (size_t i = 0; i < r->n; i++)
		if (of_engine(&r->rows[i], x->name) && r->rows[i].fitted)
			v[n++] = r->rows[i].measured_us / r->rows[i].bytes_us;
	if (n)
		x->factor = quantile(v, n, 0.5);
	for (size_t i = 0; i < r->n; i++)
		if (of_engine(&r->rows[i], x->name)) {
			r->rows[i].predicted_us = r->rows[i].simulated_us + x->gap_us * (double)r->rows[i].launches;
			r->rows[i].baseline_us = r->rows[i].bytes_us * x->factor;
		}
}

double rates_error(const struct rates *r, const struct rates_row *row, double us)
{
	return 100 * (r->prefill ? us / row->measured_us - 1 : row->measured_us / us - 1);
}

static void errors(const struct rates *r, struct rates_engine *x, double *v, double *w)
{
	x->rows = x->fitted = x->tried = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct rates_row *row = &r->rows[i];

		if (!of_engine(row, x->name))
			continue;
		x->rows++;
		if (rates_gap_found_on(row)) {
			x->fitted++;
			continue;
		}
		v[x->tried] = fabs(rates_error(r, row, row->predicted_us));
		w[x->tried++] = fabs(rates_error(r, row, row->baseline_us));
	}
	x->median = quantile(v, x->tried, 0.5);
	x->p90 = quantile(v, x->tried, 0.9);
	x->baseline_median = quantile(w, x->tried, 0.5);
	x->baseline_p90 = quantile(w, x->tried, 0.9);
}

static int list_engines(struct rates *r, struct err *e)
{
	for (size_t i = 0; i < r->n; i++) {
		const char *name = r->rows[i].why ? NULL : rates_text(r->rows[i].by, "name");
		size_t k = 0;

		while (name && k < r->n_engines && strcmp(r->engines[k].name, name) != 0)
			k++;
		if (!name || k < r->n_engines)
			continue;
		if (k == RATES_ENGINES)
			return err_set(e, ERR_IO, "more than %d engines", RATES_ENGINES);
		r->engines[r->n_engines++] = (struct rates_engine){ .name = name, .no_gap = no_gap(&r->rows[i]) };
	}
	return 0;
}

int rates_run(struct rates *r, void (*progress)(void *arg, size_t done, size_t of), void *arg, struct err *e)
{
	double *v = arena_array(r->a, r->n + 1, sizeof *v), *w = arena_array(r->a, r->n + 1, sizeof *w);

	if (!v || !w)
		return err_nomem(e, "for the table");
	for (size_t i = 0; i < r->n; i++) {
		if (!r->rows[i].why)
			run_or_copy(r, i);
		progress(arg, i + 1, r->n);
	}
	if (list_engines(r, e) < 0)
		return -1;
	for (size_t i = 0; i < r->n_engines; i++) {
		fit(r, &r->engines[i], v);
		errors(r, &r->engines[i], v, w);
	}
	errors(r, &r->all, v, w);
	return 0;
}
