#include "sim/report/rates_doc.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/ui/units.h"

/* Rows in some order. */
struct rows {
	const struct rates *r;
	const struct rates_row **v;
};

static double told(const struct rates *r, double us)
{
	return r->prefill ? us / 1e3 : 1e6 / us;
}

static void rates_doc_row(struct doc *d, const void *x, size_t i)
{
	const struct rates *r = ((const struct rows *)x)->r;
	const struct rates_row *v = d->heads ? NULL : ((const struct rows *)x)->v[i];
	const bool known = v && !v->why;

	doc_text(d, "gpu", v->gpu);
	doc_text(d, "model", v->model);
	doc_text(d, "format", v->format);
	doc_text(d, "engine", v->engine);
	doc_count_if(d, "context", known, v->tokens);
	doc_real_if(d, "published", 1, known, told(r, v->measured_us));
	doc_real_if(d, "predicted", 1, known, told(r, v->predicted_us));
	doc_real_if(d, "error_pct", 1, known, rates_error(r, v, v->predicted_us));
	doc_real_if(d, "by_bytes_pct", 1, known, rates_error(r, v, v->baseline_us));
	doc_text(d, "used_for", !known ? v->why : rates_gap_found_on(v) ? "gap" : "error");
}

/* Behind the last engine all of them. */
static void engine(struct doc *d, const void *x, size_t i)
{
	const struct rates *r = x;
	const struct rates_engine *v = i < r->n_engines ? &r->engines[i] : &r->all;

	doc_text(d, "engine", v->name ? v->name : "all");
	doc_count(d, "rows", v->rows);
	doc_count(d, "for the gap", v->fitted);
	doc_real_if(d, "gap_us", 2, v->name && !v->no_gap, v->gap_us);
	doc_count(d, "tried", v->tried);
	doc_real_if(d, "median_pct", 1, v->tried, v->median);
	doc_real_if(d, "p90_pct", 1, v->tried, v->p90);
	doc_real_if(d, "by bytes, median", 1, v->tried, v->baseline_median);
	doc_real_if(d, "p90", 1, v->tried, v->baseline_p90);
}

/* What several rows are not supported for, at the first of them. */
static void reason(struct doc *d, const void *x, size_t i)
{
	const struct rates *r = x;
	const char *why = r->rows[i].why;
	size_t before = 0, same = 0;

	for (size_t k = 0; why && k < r->n; k++)
		if (r->rows[k].why && strcmp(r->rows[k].why, why) == 0) {
			before += k < i;
			same++;
		}
	if (!why || before)
		return;
	doc_count(d, "rows", same);
	doc_text(d, "not supported, because", why);
}

/* Worst first; a row that is not supported is none. */
struct ranked {
	double off;
	const struct rates_row *row;
};

static int by_error(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->off != y->off)
		return x->off < y->off ? 1 : -1;
	return (x->row->line > y->row->line) - (x->row->line < y->row->line);
}

static size_t rank(const struct rates *r, struct ranked *v, const struct rates_row **to)
{
	size_t n = 0;

	for (const struct rates_row *x = r->rows; x < r->rows + r->n; x++)
		if (!x->why)
			v[n++] = (struct ranked){ fabs(rates_error(r, x, x->predicted_us)), x };
	qsort(v, n, sizeof *v, by_error);
	for (size_t i = 0; i < n; i++)
		to[i] = v[i].row;
	return n;
}

static void for_people(struct doc *d, const struct rates *r, const struct rows *worst, size_t n)
{
	doc_say(d, "%zu rows, %zu of them not supported (%.1f %%); %zu others are not looked at\n\n", r->n,
	        r->unsupported, unit_pct((double)r->unsupported, (double)r->n), r->skipped);
	doc_table(d, NULL,
	          r->prefill ? "error of the time, on rows that no gap was found on"
	                     : "error of the rate, on rows that no gap was found on",
	          r->n_engines + 1, engine, r);
	doc_say(d, "\n");
	doc_table(d, NULL, "worst rows", n, rates_doc_row, worst);
	doc_say(d, "\n");
	if (r->unsupported)
		doc_table(d, NULL, NULL, r->n, reason, r);
}

void rates_doc(struct doc *d, const struct rates *r, uint64_t worst)
{
	struct ranked *v = calloc(r->n + 1, sizeof *v);
	struct rows all = { r, calloc(r->n + 1, sizeof *all.v) };
	size_t n = 0;

	d->to->failed |= !v || !all.v;
	if (v && all.v && d->format == OUT_TABLE) {
		n = rank(r, v, all.v);
		for_people(d, r, &all, worst < n ? (size_t)worst : n);
	} else if (v && all.v) {
		for (; n < r->n; n++)
			all.v[n] = &r->rows[n];
		doc_table(d, NULL, NULL, n, rates_doc_row, &all);
	}
	free(v);
	free(all.v);
}
