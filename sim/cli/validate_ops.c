/* validate_ops.c - npusim validate on tables of ops: each row alone on a machine of whichever kind, against its measured
 * time, with a plain roofline's error beside it. */
#include "sim/cli/validate.h"

#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/silicon.h"
#include "sim/base/hash.h"
#include "sim/base/version.h"
#include "sim/cli/gpu_energy.h"
#include "sim/cli/ops_rows.h"
#include "sim/engine/engine.h"
#include "sim/report/score_doc.h"
#include "sim/ui/outfile.h"

/* --- scores ------------------------------------------------------------------------------------------------------- */

/* Errors of the engine and of its roofline, by one thing that samples differ in. */
struct scores {
	struct score *sim, *roof;
	int n;
};

static int score(const struct rows *r, bool products, enum score_by by, struct arena *a, struct scores *s,
                 struct err *e)
{
	s->n = score_samples(products ? &r->sim.products : &r->sim.all, 1, NULL, by, a, &s->sim, e);
	if (s->n < 0)
		return -1;
	return score_samples(products ? &r->roof.products : &r->roof.all, 1, NULL, by, a, &s->roof, e) < 0 ? -1 : 0;
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

/* --- the document ------------------------------------------------------------------------------------------------- */

struct all_scores {
	struct scores classes, rows, all, sizes;
	const struct place *places;
};

static int score_all(const struct ops_rows *t, struct all_scores *s, struct err *e)
{
	return !(s->places = places(&t->rows, t->arena, e)) ||
	                       score(&t->rows, false, SCORE_SIZE, t->arena, &s->sizes, e) < 0 ||
	                       score(&t->rows, false, SCORE_CLASS, t->arena, &s->classes, e) < 0 ||
	                       score(&t->rows, true, SCORE_GROUP, t->arena, &s->rows, e) < 0 ||
	                       score(&t->rows, false, SCORE_ALL, t->arena, &s->all, e) < 0
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

static void head(struct doc *d, const struct ops_rows *t, const struct validate_ops *o, const struct scores *all)
{
	const struct engine_ops *engine = engine_of(&t->conf->cfg, o->fidelity);

	score_doc_errors(d, "samples", &all->sim[0]);
	score_doc_sums(d, &all->sim[0]);
	doc_text(d, "split", o->split_name);
	doc_text(d, "start", run_start_name(o->start));
	doc_text(d, "fidelity", engine->fidelity);
	doc_count(d, "unmeasured", t->rows.unmeasured);
	roof_members(d, &all->roof[0]);
	doc_say(d, "%s (%s): %zu rows, each alone, %s, %s", t->conf->cfg.name, t->conf->path, t->rows.sim.all.n,
	        o->start == RUN_COLD     ? "operands in DRAM"
	        : o->start == RUN_STEADY ? "operands as a run before left them"
	                                 : "operands on chip as far as they fit",
	        engine->how);
	if (t->rows.unmeasured)
		doc_say(d, "; %zu without a measured time", t->rows.unmeasured);
	doc_say(d, "\n\n");
}

static int print(struct doc *d, const struct ops_rows *t, const struct validate_ops *o, struct err *e)
{
	const struct gpu_energies x = { .v = (struct energy_cases *)&t->rows.energy, .n = 1 };
	const size_t worst = cmd_first(o->worst, t->rows.sim.all.n);
	struct all_scores s;
	int rc = 0;

	if (d->format == OUT_CSV) { /* every row */
		doc_table(d, NULL, NULL, t->rows.sim.all.n, sample, &((struct samples){ &t->rows, NULL }));
		return 0;
	}
	if (score_all(t, &s, e) < 0)
		return -1;
	doc_open(d, NULL, '{');
	head(d, t, o, &s.all);
	classes(d, &s);
	groups(d, &s.rows, t->n_blocks);
	sizes(d, &s.sizes);
	if (o->worst || d->format == OUT_JSON) {
		doc_say(d, "\n");
		doc_table(d, "worst", "the worst", worst, sample, &((struct samples){ &t->rows, s.places }));
	}
	if (t->rows.energy.n) {
		doc_say(d, "\n");
		rc = gpu_energies_doc(d, &x, "all", o->worst, GPU_ENERGY_TITLE, e);
	}
	doc_close(d, '}');
	return rc;
}

/* --- kept --------------------------------------------------------------------------------------------------------- */

/* What `npusim run` then tells of answers of NPUs (silicon.h). */
static int store(const struct ops_rows *t, const struct gpu_options *g, const struct validate_ops *o, struct err *e)
{
	struct accuracy acc = {
		.device = t->conf->cfg.name, .config = g->config, .split = o->split_name, .build = npusim_build_id()
	};
	struct str text = STR_INIT;
	char model[17], digest[17];
	uint64_t h = HASH_INIT;
	int rc;

	for (size_t i = 0; i < t->rows.sim.all.n; i++)
		h = hash_u64(hash_u64(h, t->rows.sim.all.v[i].hash), t->rows.sim.all.v[i].measured_ns);
	hash_hex(h, digest);
	silicon_model(t->conf, model);
	acc.model = model, acc.digest = digest;
	if (silicon_classes(&t->rows, t->arena, &acc, e) < 0)
		return -1;
	accuracy_write(&acc, &text);
	rc = outfile_write(o->output, &text, e);
	str_free(&text);
	return rc;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static int check_mape(const struct ops_rows *t, const struct validate_ops *o, struct err *e)
{
	struct scores all;

	if (o->most < 0)
		return 0;
	if (score(&t->rows, false, SCORE_ALL, t->arena, &all, e) < 0)
		return -1;
	return all.sim[0].mape <= o->most
	               ? 0
	               : err_set(e, ERR_BOUND, "the mean error is %.2f %%, more than --max-mape allows (%.2f %%)",
	                         all.sim[0].mape, o->most);
}

int validate_ops(const struct gpu_options *g, const struct validate_ops *o, struct doc *d, struct err *e)
{
	struct ops_rows t = { .conf = NULL };
	const struct ops_rows_how how = { o->start, o->fidelity, o->split, o->twin };
	int rc = ops_rows_run(&t, g, &how, e);

	if (rc == 0)
		rc = print(d, &t, o, e);
	if (rc == 0 && o->output)
		rc = store(&t, g, o, e);
	if (rc == 0)
		rc = check_mape(&t, o, e);
	ops_rows_free(&t);
	return rc;
}
