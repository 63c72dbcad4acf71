#include "sim/cli/gpu_energy.h"

#include <stdlib.h>
#include <string.h>

#include "arch/machine/machine_gpu.h"
#include "sim/cli/score_out.h"

/* --- reading ---------------------------------------------------------------------------------------------------- */

static int read_one(struct gpu_energies *x, const char *path, const struct machine_conf *conf, const struct kernels *k,
                    struct err *e)
{
	const struct gpu g = machine_gpu(&conf->cfg);
	struct input *f = input_open(path, e);
	struct energy_cases *c = &x->v[x->n];
	int rc = -1;

	if (!f)
		return -1;
	if (!(x->arenas[x->n] = arena_new(MEASURED_MEMORY)))
		err_set(e, ERR_NOMEM, "no memory for '%s'", path);
	else
		rc = energy_read(f, &conf->cfg, k, x->arenas[x->n], c, e);
	x->n++;
	for (size_t i = 0; rc == 0 && i < c->n; i++)
		energy_ask(&c->v[i], &g);
	if (rc == 0 && !c->n)
		rc = err_set(e, ERR_IO, "%s: no case that is modelled", path);
	c->path = path;
	input_free(f);
	return rc;
}

int gpu_energies_read(struct gpu_energies *x, const struct opt_list *paths, const struct machine_conf *conf,
                      const struct kernels *k, struct err *e)
{
	memset(x, 0, sizeof *x);
	x->v = calloc((size_t)paths->n + 1, sizeof *x->v);
	x->arenas = calloc((size_t)paths->n + 1, sizeof *x->arenas);
	if (!x->v || !x->arenas)
		return err_set(e, ERR_NOMEM, "out of memory for %d tables", paths->n);
	for (int i = 0; i < paths->n; i++)
		if (read_one(x, paths->v[i], conf, k, e) < 0)
			return -1;
	return 0;
}

void gpu_energies_free(struct gpu_energies *x)
{
	for (size_t i = 0; x->arenas && i < x->n; i++)
		arena_free(x->arenas[i]);
	free(x->arenas);
	free(x->v);
}

/* --- cases ------------------------------------------------------------------------------------------------------ */

static bool in_split(const struct energy_case *c, const char *split)
{
	return strcmp(split, "all") == 0 || (strcmp(split, "fitted") == 0) == (c->split == SAMPLE_FITTED);
}

static double error_of(const struct energy_case *c)
{
	return 100 * ((double)c->simulated - (double)c->measured) / (double)c->measured;
}

static int by_error(const void *a, const void *b)
{
	return score_worse_first(error_of(*(const struct energy_case *const *)a),
	                         error_of(*(const struct energy_case *const *)b));
}

static const struct energy_case **kept(const struct gpu_energies *x, const char *split, size_t *n)
{
	const struct energy_case **v;
	size_t most = 1;

	for (size_t i = 0; i < x->n; i++)
		most += x->v[i].n;
	*n = 0;
	if (!(v = malloc(most * sizeof *v)))
		return NULL;
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < x->v[i].n; k++)
			if (in_split(&x->v[i].v[k], split))
				v[(*n)++] = &x->v[i].v[k];
	return v;
}

static double watts(const struct energy_case *c, uint64_t fj)
{
	return (double)fj / (double)c->time / 1e3;
}

static void case_rows(const struct energy_case *const *v, size_t n, const char *title, enum out_format f,
                      struct str *out)
{
	static const struct out_col cols[] = {
		{ "case", OUT_TEXT, 0 },        { "class", OUT_TEXT, 0 },        { "split", OUT_TEXT, 0 },
		{ "measured_us", OUT_REAL, 3 }, { "measured_w", OUT_REAL, 1 },   { "simulated_w", OUT_REAL, 1 },
		{ "error_pct", OUT_REAL, 1 },   { "measured_mhz", OUT_REAL, 0 }, { "simulated_mhz", OUT_REAL, 0 },
		{ "idle_w", OUT_REAL, 1 },      { "awake_w", OUT_REAL, 1 },      { "dram_w", OUT_REAL, 1 },
		{ "l2_w", OUT_REAL, 1 },        { "tensor_w", OUT_REAL, 1 },     { "cuda_w", OUT_REAL, 1 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, title);
	static const char *const blocks[] = { "board", "sm", "dram", "l2", "tensor", "cuda" };

	for (size_t i = 0; i < n; i++) {
		const struct energy_case *c = v[i];
		uint64_t of[6] = { 0 };

		for (size_t k = 0; k < GPU_ENERGIES; k++)
			for (size_t b = 0; b < 6; b++)
				if (strcmp(gpu_energy_rows[k].block, blocks[b]) == 0)
					of[b] += c->parts.part[k];
		out_text(t, c->name);
		out_text(t, c->cls);
		out_text(t, c->split == SAMPLE_FITTED ? "fitted" : "held-out");
		out_real(t, c->us);
		out_real(t, c->watts);
		out_real(t, watts(c, c->simulated));
		out_real(t, error_of(c));
		if (c->clock)
			out_real(t, (double)c->clock / 1e3);
		else
			out_null(t);
		out_real(t, (double)c->simulated_clock / 1e3);
		for (size_t b = 0; b < 6; b++)
			out_real(t, watts(c, of[b]));
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

void gpu_energies_csv(const struct gpu_energies *x, const char *split, struct str *out)
{
	size_t n;
	const struct energy_case **v = kept(x, split, &n);

	if (v)
		case_rows(v, n, NULL, OUT_CSV, out);
	else
		out->failed = true;
	free(v);
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

static void score_row(struct out_table *t, const struct energy_score *s)
{
	out_text(t, s->cls ? s->cls : "all");
	out_int(t, (int64_t)s->n);
	out_real(t, s->mape);
	out_real(t, s->median_ape);
	out_real(t, s->p90_ape);
	out_real(t, s->bias);
	out_real(t, s->weighted_ape);
	out_int(t, (int64_t)s->n_clock);
	if (s->n_clock)
		out_real(t, s->clock_mape);
	else
		out_null(t);
}

int gpu_energies_table(const struct gpu_energies *x, const char *split, uint64_t worst, const char *note,
                       struct str *out, struct err *e)
{
	static const struct out_col cols[] = {
		{ "class", OUT_TEXT, 0 },        { "n", OUT_INT, 0 },        { "mape", OUT_REAL, 2 },
		{ "median_ape", OUT_REAL, 2 },   { "p90_ape", OUT_REAL, 2 }, { "bias", OUT_REAL, 2 },
		{ "weighted_ape", OUT_REAL, 2 }, { "capped", OUT_INT, 0 },   { "clock_mape", OUT_REAL, 2 },
	};
	struct arena *a = arena_new(0);
	struct energy_score *s;
	const struct energy_case **v;
	struct out_table *t;
	size_t kept_n;
	int n = a ? energy_score(x->v, x->n, split, a, &s, e) : err_set(e, ERR_NOMEM, "out of memory for scores");

	if (n >= 0) {
		t = out_table_new(cols, sizeof cols / sizeof *cols, note);
		for (int i = 0; i < n; i++)
			score_row(t, &s[i]);
		out_table_write(t, OUT_TABLE, out);
		out_table_free(t);
	}
	arena_free(a);
	if (n < 0)
		return -1;
	if (!(v = kept(x, split, &kept_n)))
		return err_set(e, ERR_NOMEM, "out of memory for cases");
	qsort(v, kept_n, sizeof *v, by_error);
	if (worst && kept_n) {
		str_add(out, "\n");
		case_rows(v, kept_n < worst ? kept_n : worst, "the worst in energy", OUT_TABLE, out);
	}
	free(v);
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i].left_out)
			str_addf(out, "\nleft out of '%s': %zu rows of kinds that are not modelled\n", x->v[i].path,
			         x->v[i].left_out);
	return 0;
}

static void energy_json(struct out_json *j, const struct energy_score *s)
{
	out_json_u64(j, "n", s->n);
	out_json_real(j, "mape", s->mape);
	out_json_real(j, "weighted_ape", s->weighted_ape);
	out_json_real(j, "bias", s->bias);
	out_json_real(j, "median_ape", s->median_ape);
	out_json_real(j, "p90_ape", s->p90_ape);
}

static void clock_json(struct out_json *j, const struct energy_score *s)
{
	out_json_open(j, "clock", '{');
	out_json_u64(j, "n", s->n_clock);
	if (s->n_clock)
		out_json_real(j, "mape", s->clock_mape);
	else
		out_json_null(j, "mape");
	out_json_close(j, '}');
}

int gpu_energies_json(const struct gpu_energies *x, const char *split, struct out_json *j, struct err *e)
{
	struct arena *a = arena_new(0);
	struct energy_score *s;
	int n = a ? energy_score(x->v, x->n, split, a, &s, e) : err_set(e, ERR_NOMEM, "out of memory for scores");

	if (n > 0) {
		out_json_open(j, "energy", '{');
		energy_json(j, &s[n - 1]);
		out_json_close(j, '}');
		clock_json(j, &s[n - 1]);
		out_json_open(j, "energy_classes", '[');
		for (int i = 0; i + 1 < n; i++) {
			out_json_open(j, NULL, '{');
			out_json_text(j, "class", s[i].cls);
			energy_json(j, &s[i]);
			clock_json(j, &s[i]);
			out_json_close(j, '}');
		}
		out_json_close(j, ']');
	}
	arena_free(a);
	return n < 0 ? -1 : 0;
}
