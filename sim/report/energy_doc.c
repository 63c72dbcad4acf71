#include "sim/report/energy_doc.h"

#include <stdlib.h>
#include <string.h>

#include "sim/report/score_doc.h"

/* --- cases ------------------------------------------------------------------------------------------------------ */

static double error_of(const struct energy_case *c)
{
	return 100 * ((double)c->simulated - (double)c->measured) / (double)c->measured;
}

static int by_error(const void *a, const void *b)
{
	return score_worse_first(error_of(*(const struct energy_case *const *)a),
	                         error_of(*(const struct energy_case *const *)b));
}

static const struct energy_case **kept(const struct energy_cases *x, size_t n_x, enum sample_split split, size_t *n)
{
	const struct energy_case **v;
	size_t most = 1;

	for (size_t i = 0; i < n_x; i++)
		most += x[i].n;
	*n = 0;
	if (!(v = malloc(most * sizeof *v)))
		return NULL;
	for (size_t i = 0; i < n_x; i++)
		for (size_t k = 0; k < x[i].n; k++)
			if (sample_split_has(split, x[i].v[k].split))
				v[(*n)++] = &x[i].v[k];
	return v;
}

static double watts(const struct energy_case *c, uint64_t fj)
{
	return (double)fj / (double)c->time / 1e3;
}

static void energy_case(struct doc *d, const void *of, size_t i)
{
	static const char *const blocks[] = { "board", "sm", "dram", "l2", "tensor", "cuda" };
	static const char *const keys[] = { "idle_w", "awake_w", "dram_w", "l2_w", "tensor_w", "cuda_w" };
	const struct energy_case *c = d->heads ? NULL : ((const struct energy_case *const *)of)[i];
	uint64_t part[6] = { 0 };

	for (size_t k = 0; c && k < GPU_ENERGIES; k++)
		for (size_t b = 0; b < 6; b++)
			if (strcmp(gpu_energy_rows[k].block, blocks[b]) == 0)
				part[b] += c->parts.part[k];
	doc_text(d, "case", c->name);
	doc_text(d, "class", c->cls);
	doc_text(d, "split", sample_split_name(c->split));
	doc_real(d, "measured_us", 3, c->us);
	doc_real(d, "measured_w", 1, c->watts);
	doc_real(d, "simulated_w", 1, watts(c, c->simulated));
	doc_real(d, "error_pct", 1, error_of(c));
	doc_real_if(d, "measured_mhz", 0, c->clock, (double)c->clock / 1e3);
	doc_real(d, "simulated_mhz", 0, (double)c->simulated_clock / 1e3);
	for (size_t b = 0; b < 6; b++)
		doc_real(d, keys[b], 1, watts(c, part[b]));
}

/* All of them for programs, the worst for people. */
static int cases_doc(struct doc *d, const struct energy_cases *x, size_t n_x, enum sample_split split, uint64_t worst,
                     struct err *e)
{
	const bool people = d->format == OUT_TABLE;
	size_t n;
	const struct energy_case **v = kept(x, n_x, split, &n);

	if (!v)
		return err_set(e, ERR_NOMEM, "out of memory for cases");
	if (people)
		qsort(v, n, sizeof *v, by_error);
	if (!people || (worst && n)) {
		doc_say(d, "\n");
		doc_table(d, NULL, "the worst in energy", people && n > worst ? worst : n, energy_case, v);
	}
	free(v);
	return 0;
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

static void score_row(struct doc *d, const void *of, size_t i)
{
	const struct energy_score *s = (const struct energy_score *)of + i;

	doc_text(d, "class", s->cls ? s->cls : "all");
	doc_count(d, "n", s->n);
	doc_real(d, "mape", 2, s->mape);
	doc_real(d, "median_ape", 2, s->median_ape);
	doc_real(d, "p90_ape", 2, s->p90_ape);
	doc_real(d, "bias", 2, s->bias);
	doc_real(d, "weighted_ape", 2, s->weighted_ape);
	doc_count(d, "capped", s->n_clock);
	doc_real_if(d, "clock_mape", 2, s->n_clock, s->clock_mape);
}

static void energy_members(struct doc *d, const struct energy_score *s)
{
	doc_count(d, "n", s->n);
	doc_real(d, "mape", 2, s->mape);
	doc_real(d, "weighted_ape", 2, s->weighted_ape);
	doc_real(d, "bias", 2, s->bias);
	doc_real(d, "median_ape", 2, s->median_ape);
	doc_real(d, "p90_ape", 2, s->p90_ape);
}

static void clock_members(struct doc *d, const struct energy_score *s)
{
	doc_open(d, "clock", '{');
	doc_count(d, "n", s->n_clock);
	doc_real_if(d, "mape", 2, s->n_clock, s->clock_mape);
	doc_close(d, '}');
}

static void class_members(struct doc *d, const void *of, size_t i)
{
	const struct energy_score *s = (const struct energy_score *)of + i;

	doc_text(d, "class", s->cls);
	energy_members(d, s);
	clock_members(d, s);
}

static int scores_doc(struct doc *d, const struct energy_cases *x, size_t n_x, enum sample_split split,
                      const char *note, struct err *e)
{
	struct arena *a = arena_new(0);
	struct energy_score *s;
	const int n = a ? energy_score(x, n_x, split, a, &s, e) : err_nomem(e, "for scores");

	if (n >= 0 && d->format == OUT_TABLE) {
		doc_table(d, NULL, note, (size_t)n, score_row, s);
	} else if (n > 0) {
		doc_open(d, "energy", '{');
		energy_members(d, &s[n - 1]);
		doc_close(d, '}');
		clock_members(d, &s[n - 1]);
		doc_table(d, "energy_classes", NULL, (size_t)n - 1, class_members, s);
	}
	arena_free(a);
	return n < 0 ? -1 : 0;
}

int energy_doc(struct doc *d, const struct energy_cases *x, size_t n_x, enum sample_split split, uint64_t worst,
               const char *note, struct err *e)
{
	if (d->format != OUT_CSV && scores_doc(d, x, n_x, split, note, e) < 0)
		return -1;
	if (d->format != OUT_JSON && cases_doc(d, x, n_x, split, worst, e) < 0)
		return -1;
	for (size_t i = 0; i < n_x; i++)
		if (x[i].left_out)
			doc_say(d, "\nleft out of '%s': %zu rows of kinds that are not modelled\n", x[i].path,
			        x[i].left_out);
	return 0;
}
