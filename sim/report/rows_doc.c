#include "sim/report/rows_doc.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine/engine.h"
#include "sim/report/energy_doc.h"
#include "sim/report/score_doc.h"

/* --- scores ------------------------------------------------------------------------------------------------------- */

/* Errors of the engine and of its roofline, by one thing that samples differ in. */
struct scores {
	struct score *sim, *roof;
	int n;
};

static int score(const struct rows *r, bool products, enum score_by by, struct arena *a, struct scores *s,
                 struct err *e)
{
	s->n = score_samples(products ? &r->sim.products : &r->sim.all, 1, SAMPLE_ALL, by, a, &s->sim, e);
	if (s->n < 0)
		return -1;
	return score_samples(products ? &r->roof.products : &r->roof.all, 1, SAMPLE_ALL, by, a, &s->roof, e) < 0 ? -1
	                                                                                                         : 0;
}

static const char *const row_groups[] = { "1", "2-64", "65-512", "more" }; /* as rows.c names them, in order */

/* In order of rows, not of appearance. */
static const struct score *group(const struct score *v, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(v[i].cls, name) == 0)
			return &v[i];
	return NULL;
}

/* The furthest off, of those the first in the table. */
struct place {
	double error;
	size_t at;
};

static int by_off(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	const int order = score_worse_first(x->error, y->error);

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

static struct place *places(const struct rows *r, struct arena *a, struct err *e)
{
	struct place *p = arena_array(a, r->sim.all.n + 1, sizeof *p);

	if (!p) {
		err_nomem(e, "for samples");
		return NULL;
	}
	for (size_t i = 0; i < r->sim.all.n; i++)
		p[i] = (struct place){ sample_error(&r->sim.all.v[i]), i };
	qsort(p, r->sim.all.n, sizeof *p, by_off);
	return p;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* Of JSON: the roofline's errors are an object of their own. */
static void roof_members(struct doc *d, const struct score *s)
{
	doc_open(d, "roofline", '{');
	doc_real(d, "mape", 2, s->mape);
	doc_real(d, "median_ape", 2, s->median_ape);
	doc_real(d, "p90_ape", 2, s->p90_ape);
	doc_real(d, "bias", 2, s->bias);
	doc_real(d, "weighted_ape", 2, s->weighted_ape);
	doc_close(d, '}');
}

/* A row of a table by one thing that samples differ in. */
struct part {
	const char *first, *name; /* first: of the column */
	const struct score *sim, *roof;
};

static void part(struct doc *d, const void *of, size_t i)
{
	const struct part *x = of;

	(void)i;
	doc_text(d, x->first, x->name);
	score_doc_errors(d, "n", x->sim);
	if (d->format != OUT_JSON) {
		doc_real(d, "roofline_mape", 2, x->roof->mape);
		doc_real(d, "roofline_bias", 2, x->roof->bias);
		doc_real(d, "roofline_weighted", 2, x->roof->weighted_ape);
	}
	score_doc_sums(d, x->sim);
	roof_members(d, x->roof);
}

struct samples {
	const struct rows *r;
	const struct place *p; /* NULL: in the table's order */
};

static void sample(struct doc *d, const void *of, size_t i)
{
	const struct samples *s = of;
	const bool json = d->format == OUT_JSON;
	const size_t at = !d->heads && s->p ? s->p[i].at : i;
	const struct sample *x = &s->r->sim.all.v[at], *roof = &s->r->roof.all.v[at];

	doc_name(d, "op", 40, x->name);
	doc_text(d, json ? "class" : "kind", x->cls);
	doc_text(d, "rows", json && !*x->group ? NULL : x->group);
	doc_ns(d, "measured_us", 3, x->measured_ns);
	doc_ps(d, "simulated_us", 3, x->time.total);
	doc_real(d, "error_pct", 1, sample_error(x));
	doc_text(d, "bound", res_name(x->time.bound));
	doc_ps(d, "roofline_us", 3, roof->time.total);
	if (!json)
		doc_real(d, "roofline_pct", 1, sample_error(roof));
}

/* --- rows that a machine was fitted to, and others -------------------------------------------------------------------- */

struct apart {
	const struct rows_doc *t;
	const bool *taken; /* by sample */
};

/* Even places: those of a table that were taken. */
static void apart_row(struct doc *d, const void *of, size_t i)
{
	const struct apart *x = of;
	const struct rows_doc_table *table = d->heads ? NULL : &x->t->tables[i / 2];
	const bool fitted = i % 2 == 0;
	double mape = 0, bias = 0;
	size_t n = 0;

	for (size_t k = !table || i < 2 ? 0 : table[-1].end; table && k < table->end; k++) {
		const double off = sample_error(&x->t->rows->sim.all.v[k]);

		if (x->taken[k] != fitted)
			continue;
		mape += off < 0 ? -off : off;
		bias += off;
		n++;
	}
	if (table && !n)
		return;
	doc_text(d, "table", table ? table->path : NULL);
	doc_text(d, "fitted", fitted ? "yes" : "no");
	doc_count(d, "n", n);
	doc_real(d, "mape", 2, n ? mape / (double)n : 0);
	doc_real(d, "bias", 2, n ? bias / (double)n : 0);
}

static int apart(struct doc *d, const struct rows_doc *t, struct err *e)
{
	const struct cases *all = &t->rows->sim.all;
	const size_t n = t->n_tables ? t->tables[t->n_tables - 1].end : 0, want = t->taken < n ? (size_t)t->taken : n;
	uint64_t *ns = arena_array(t->arena, n + 1, sizeof *ns);
	size_t *places = arena_array(t->arena, want + 1, sizeof *places);
	bool *taken = arena_array(t->arena, n + 1, sizeof *taken);

	if (!ns || !places || !taken)
		return err_nomem(e, "for samples");
	for (size_t i = 0; i < n; i++)
		ns[i] = all->v[i].measured_ns;
	if (rows_evenly(ns, n, want, places, e) < 0)
		return -1;
	for (size_t i = 0; i < want; i++)
		taken[places[i]] = true;
	doc_say(d, "\n");
	doc_table(d, "tables", "error by table, of rows that calibrate takes (fitted) and of others, percent",
	          2 * t->n_tables, apart_row, &((struct apart){ t, taken }));
	return 0;
}

/* --- the document ------------------------------------------------------------------------------------------------- */

struct all_scores {
	struct scores classes, rows, all, sizes;
	const struct place *places;
};

static int score_all(const struct rows_doc *t, struct all_scores *s, struct err *e)
{
	return !(s->places = places(t->rows, t->arena, e)) ||
	                       score(t->rows, false, SCORE_SIZE, t->arena, &s->sizes, e) < 0 ||
	                       score(t->rows, false, SCORE_CLASS, t->arena, &s->classes, e) < 0 ||
	                       score(t->rows, true, SCORE_GROUP, t->arena, &s->rows, e) < 0 ||
	                       score(t->rows, false, SCORE_ALL, t->arena, &s->all, e) < 0
	               ? -1
	               : 0;
}

/* By kind of op, and for people all of them. */
static void classes(struct doc *d, const struct all_scores *s)
{
	const char *first = d->format == OUT_JSON ? "class" : "kind";
	const struct scores *c = &s->classes;

	doc_table_open(d, "classes", "error by kind of op, percent of the measured time");
	for (int i = 0; i < c->n; i++)
		doc_row(d, part, &(struct part){ first, c->sim[i].cls, &c->sim[i], &c->roof[i] }, 0);
	if (d->format != OUT_JSON)
		doc_row(d, part, &(struct part){ first, "all", &s->all.sim[0], &s->all.roof[0] }, 0);
	doc_table_close(d, NULL, NULL);
}

static void groups(struct doc *d, const struct scores *g, bool blocks)
{
	if (!g->n && d->format != OUT_JSON)
		return;
	doc_say(d, "\n");
	doc_table_open(d, "rows", blocks ? "by their rows" : "products by their rows");
	for (size_t i = 0; i < sizeof row_groups / sizeof *row_groups; i++) {
		const struct part p = { "rows", row_groups[i], group(g->sim, g->n, row_groups[i]),
			                group(g->roof, g->n, row_groups[i]) };

		if (p.sim)
			doc_row(d, part, &p, 0);
	}
	doc_table_close(d, part, &(struct part){ .first = "rows" });
}

static void sizes(struct doc *d, const struct scores *z)
{
	doc_say(d, "\n");
	doc_table_open(d, "sizes", "by their measured time");
	for (int i = 0; i < z->n; i++)
		doc_row(d, part, &(struct part){ "measured", z->sim[i].cls, &z->sim[i], &z->roof[i] }, 0);
	doc_table_close(d, part, &(struct part){ .first = "measured" });
}

static void head(struct doc *d, const struct rows_doc *t, const struct scores *all)
{
	const struct engine_ops *engine = engine_of(&t->conf->cfg, t->fidelity);
	char file[sizeof t->conf->path];

	score_doc_errors(d, "samples", &all->sim[0]);
	score_doc_sums(d, &all->sim[0]);
	doc_text(d, "split", sample_split_name(t->split));
	doc_text(d, "start", run_start_name(t->start));
	doc_text(d, "fidelity", engine->fidelity);
	doc_count(d, "unmeasured", t->rows->unmeasured);
	roof_members(d, &all->roof[0]);
	machine_conf_file(t->conf, file, sizeof file);
	doc_say(d, "%s%s%s%s: %zu rows, each alone, %s, %s", t->conf->cfg.name, *file ? " (" : "", file,
	        *file ? ")" : "", t->rows->sim.all.n,
	        t->start == RUN_COLD     ? "operands in DRAM"
	        : t->start == RUN_STEADY ? "operands as a run before left them"
	                                 : "operands on chip as far as they fit",
	        engine->how);
	if (t->rows->unmeasured)
		doc_say(d, "; %zu without a measured time", t->rows->unmeasured);
	doc_say(d, "\n\n");
}

int rows_doc(struct doc *d, const struct rows_doc *t, struct err *e)
{
	const size_t n = t->rows->sim.all.n, worst = t->worst < n ? (size_t)t->worst : n;
	struct all_scores s;
	int rc = 0;

	if (d->format == OUT_CSV) { /* every row */
		doc_table(d, NULL, NULL, n, sample, &((struct samples){ t->rows, NULL }));
		return 0;
	}
	if (score_all(t, &s, e) < 0)
		return -1;
	doc_open(d, NULL, '{');
	head(d, t, &s.all);
	classes(d, &s);
	groups(d, &s.rows, t->blocks);
	sizes(d, &s.sizes);
	if (t->taken)
		rc = apart(d, t, e);
	if (t->worst || d->format == OUT_JSON) {
		doc_say(d, "\n");
		doc_table(d, "worst", "the worst", worst, sample, &((struct samples){ t->rows, s.places }));
	}
	if (rc == 0 && t->rows->energy.n) {
		doc_say(d, "\n");
		rc = energy_doc(d, &t->rows->energy, 1, SAMPLE_ALL, t->worst, ENERGY_DOC_TITLE, e);
	}
	doc_close(d, '}');
	return rc;
}
