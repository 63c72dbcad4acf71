#include "sim/report/samples_doc.h"

#include <stdlib.h>

#include "sim/report/energy_doc.h"
#include "sim/report/score_doc.h"

/* --- samples ------------------------------------------------------------------------------------------------------ */

static int by_error(const void *a, const void *b)
{
	return score_worse_first(sample_error(*(const struct sample *const *)a),
	                         sample_error(*(const struct sample *const *)b));
}

static const struct sample **kept(const struct samples_doc *x, size_t *n)
{
	const struct sample **v;
	size_t most = 1;

	*n = 0;
	for (size_t i = 0; i < x->n; i++)
		most += x->sets[i].n;
	if (!(v = malloc(most * sizeof *v)))
		return NULL;
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < x->sets[i].n; k++)
			if (sample_split_has(x->split, x->sets[i].v[k].split))
				v[(*n)++] = &x->sets[i].v[k];
	return v;
}

static void sample(struct doc *d, const void *of, size_t i)
{
	const struct sample *x = d->heads ? NULL : ((const struct sample *const *)of)[i];

	doc_text(d, "sample", x->name);
	doc_text(d, "class", x->cls);
	doc_text(d, "group", x->group);
	doc_text(d, "split", sample_split_name(x->split));
	doc_ns(d, "measured_us", 3, x->measured_ns);
	doc_ns(d, "low_us", 3, x->low_ns);
	doc_ns(d, "high_us", 3, x->high_ns);
	doc_ps(d, "simulated_us", 3, x->time.total);
	doc_real(d, "error_pct", 1, sample_error(x));
	doc_text(d, "bound", res_name(x->time.bound));
	doc_ps(d, "launch_us", 3, x->time.launch);
	doc_ps(d, "start_us", 3, x->time.start);
	doc_ps(d, "chain_us", 3, x->time.chain);
	doc_ps(d, "memory_us", 3, x->time.memory);
	doc_ps(d, "pipe_us", 3, x->time.pipe);
	doc_ps(d, "finish_us", 3, x->time.finish);
}

/* All of them for programs, the worst for people. */
static int samples(struct doc *d, const struct samples_doc *x, struct err *e)
{
	const bool table = d->format == OUT_TABLE;
	size_t n;
	const struct sample **v = kept(x, &n);

	if (!v)
		return err_nomem(e, "for samples");
	if (table)
		qsort(v, n, sizeof *v, by_error);
	if (!table || (x->worst && n)) {
		doc_say(d, "\n");
		doc_table(d, NULL, "the worst", table && n > x->worst ? x->worst : n, sample, v);
	}
	free(v);
	return 0;
}

/* --- errors by one thing that samples differ in ------------------------------------------------------------------- */

struct breakdown {
	enum score_by by;
	const char *title, *first; /* first: the column's name */
	bool total;                /* a last row over all of them */
};

struct scores {
	const struct score *v, *all; /* all: NULL: no such row */
	const char *first;
	size_t n;
};

static void score(struct doc *d, const void *of, size_t i)
{
	const struct scores *x = of;
	const struct score *s = i < x->n ? &x->v[i] : x->all;

	doc_text(d, x->first, i < x->n ? s->cls : "all");
	score_doc_errors(d, "n", s);
	if (d->format != OUT_JSON)
		doc_real_if(d, "spread", 2, s->spread >= 0, s->spread);
	score_doc_sums(d, s);
}

static int score_table(struct doc *d, const struct samples_doc *s, const struct breakdown *b, struct err *e)
{
	struct arena *a = arena_new(0);
	struct score *v = NULL, *all = NULL;
	const int n = score_samples(s->sets, s->n, s->split, b->by, a, &v, e);
	const int m = n >= 0 && b->total ? score_samples(s->sets, s->n, s->split, SCORE_ALL, a, &all, e) : n;

	if (n >= 0 && m >= 0) {
		const struct scores x = { v, b->total && m > 0 ? all : NULL, b->first, (size_t)n };

		doc_table(d, "classes", b->title, x.n + (x.all != NULL), score, &x);
	}
	arena_free(a);
	return n < 0 || m < 0 ? -1 : 0;
}

/* --- the document ------------------------------------------------------------------------------------------------- */

/* Of published tables: what no sample stands for. */
static void left_out(struct doc *d, const struct samples_doc *x)
{
	for (size_t i = 0; i < x->n_tables; i++) {
		const struct tables_stats *s = &x->tables[i];

		if (s->host_bound)
			doc_say(d,
			        "\nleft out: %zu rows of block-scaled fp8, run without a graph (times of the host)\n",
			        s->host_bound);
		if (s->no_rule)
			doc_say(d, "\nleft out: %zu rows of a type that no library's rule is known for\n", s->no_rule);
	}
}

static int people(struct doc *d, const struct samples_doc *x, struct err *e)
{
	static const struct breakdown tables[] = {
		{ SCORE_CLASS, "error by class, percent of the measured time", "class", true },
		{ SCORE_SIZE, "by measured time", "time", false },
		{ SCORE_BOUND, "by what the model says bounds it", "bound", false },
		{ SCORE_GROUP, "by kind of case, or by annotation: a step", "group", false }, /* if asked for */
	};

	for (size_t i = 0; x->n && i < sizeof tables / sizeof *tables - !x->groups; i++) {
		doc_say(d, i ? "\n" : "");
		if (score_table(d, x, &tables[i], e) < 0)
			return -1;
	}
	if (x->n && samples(d, x, e) < 0)
		return -1;
	if (x->n)
		left_out(d, x);
	if (!x->n_energy)
		return 0;
	doc_say(d, x->n ? "\n" : "");
	return energy_doc(d, x->energy, x->n_energy, x->split, x->worst, ENERGY_DOC_TITLE, e);
}

static int json(struct doc *d, const struct samples_doc *x, struct err *e)
{
	static const struct breakdown classes = { SCORE_CLASS, NULL, "class", false };
	struct arena *a = arena_new(0);
	struct score *all;
	const int n = score_samples(x->sets, x->n, x->split, SCORE_ALL, a, &all, e);
	int rc = n < 0 ? -1 : 0;

	doc_open(d, NULL, '{');
	if (n > 0) {
		score_doc_errors(d, "samples", &all[0]);
		score_doc_sums(d, &all[0]);
	} else {
		doc_count(d, "samples", 0);
	}
	doc_text(d, "split", sample_split_name(x->split));
	if (rc == 0)
		rc = score_table(d, x, &classes, e);
	if (rc == 0 && x->n_energy)
		rc = energy_doc(d, x->energy, x->n_energy, x->split, 0, NULL, e);
	doc_close(d, '}');
	arena_free(a);
	return rc;
}

int samples_doc(struct doc *d, const struct samples_doc *x, struct err *e)
{
	if (d->format == OUT_TABLE)
		return people(d, x, e);
	if (d->format == OUT_JSON)
		return json(d, x, e);
	return x->n_energy ? energy_doc(d, x->energy, x->n_energy, x->split, 0, NULL, e) : samples(d, x, e);
}
