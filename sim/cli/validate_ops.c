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
#include "sim/cli/score_out.h"
#include "sim/engine/engine.h"
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

/* --- tables ------------------------------------------------------------------------------------------------------- */

static void score_row(struct out_table *t, const char *name, const struct score *s, const struct score *roof)
{
	out_text(t, name);
	out_int(t, (int64_t)s->n);
	out_real(t, s->mape);
	out_real(t, s->median_ape);
	out_real(t, s->p90_ape);
	out_real(t, s->bias);
	out_real(t, s->weighted_ape);
	out_real(t, roof->mape);
	out_real(t, roof->bias);
	out_real(t, roof->weighted_ape);
	out_real(t, s->measured_us);
	out_real(t, s->simulated_us);
}

static struct out_table *score_table(const char *first, const char *title)
{
	const struct out_col cols[] = {
		{ first, OUT_TEXT, 0 },           { "n", OUT_INT, 0 },
		{ "mape", OUT_REAL, 2 },          { "median_ape", OUT_REAL, 2 },
		{ "p90_ape", OUT_REAL, 2 },       { "bias", OUT_REAL, 2 },
		{ "weighted_ape", OUT_REAL, 2 },  { "roofline_mape", OUT_REAL, 2 },
		{ "roofline_bias", OUT_REAL, 2 }, { "roofline_weighted", OUT_REAL, 2 },
		{ "measured_us", OUT_REAL, 1 },   { "simulated_us", OUT_REAL, 1 },
	};

	return out_table_new(cols, sizeof cols / sizeof *cols, title);
}

static void sample_rows(const struct rows *r, const struct place *p, size_t n, const char *title, enum out_format f,
                        struct str *out)
{
	static const struct out_col cols[] = {
		{ "op", OUT_TEXT, 0 },          { "kind", OUT_TEXT, 0 },         { "rows", OUT_TEXT, 0 },
		{ "measured_us", OUT_REAL, 3 }, { "simulated_us", OUT_REAL, 3 }, { "error_pct", OUT_REAL, 1 },
		{ "bound", OUT_TEXT, 0 },       { "roofline_us", OUT_REAL, 3 },  { "roofline_pct", OUT_REAL, 1 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, title);

	for (size_t i = 0; i < n; i++) {
		const struct sample *x = &r->sim.all.v[p ? p[i].at : i], *roof = &r->roof.all.v[p ? p[i].at : i];

		cmd_out_name(t, x->name, 40, f);
		out_text(t, x->cls);
		out_text(t, x->group);
		out_real(t, cmd_us((int64_t)x->measured_ns));
		out_real(t, cmd_ps_us(x->time.total));
		out_real(t, sample_error(x));
		out_text(t, res_name(x->time.bound));
		out_real(t, cmd_ps_us(roof->time.total));
		out_real(t, sample_error(roof));
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void head(const struct ops_rows *t, const struct validate_ops *o, struct str *out)
{
	str_addf(out, "%s (%s): %zu rows, each alone, %s, %s", t->conf->cfg.name, t->conf->path, t->rows.sim.all.n,
	         o->start == RUN_COLD     ? "operands in DRAM"
	         : o->start == RUN_STEADY ? "operands as a run before left them"
	                                  : "operands on chip as far as they fit",
	         engine_of(&t->conf->cfg, o->fidelity)->how);
	if (t->rows.unmeasured)
		str_addf(out, "; %zu without a measured time", t->rows.unmeasured);
	str_add(out, "\n\n");
}

static int print_table(const struct ops_rows *t, const struct validate_ops *o, struct str *out, struct err *e)
{
	struct out_table *classes = score_table("kind", "error by kind of op, percent of the measured time"),
			 *sizes = score_table("measured", "by their measured time"),
			 *rows = score_table("rows", t->n_blocks ? "by their rows" : "products by their rows");
	const struct place *p = places(&t->rows, t->arena, e);
	struct scores c, g, all, z;
	int rc = -1;

	if (!p || score(&t->rows, false, SCORE_SIZE, t->arena, &z, e) < 0 ||
	    score(&t->rows, false, SCORE_CLASS, t->arena, &c, e) < 0 ||
	    score(&t->rows, true, SCORE_GROUP, t->arena, &g, e) < 0 ||
	    score(&t->rows, false, SCORE_ALL, t->arena, &all, e) < 0)
		goto out;
	head(t, o, out);
	for (int i = 0; i < c.n; i++)
		score_row(classes, c.sim[i].cls, &c.sim[i], &c.roof[i]);
	score_row(classes, "all", &all.sim[0], &all.roof[0]);
	out_table_write(classes, OUT_TABLE, out);
	for (size_t i = 0; i < sizeof row_groups / sizeof *row_groups; i++)
		if (group(g.sim, g.n, row_groups[i]))
			score_row(rows, row_groups[i], group(g.sim, g.n, row_groups[i]),
			          group(g.roof, g.n, row_groups[i]));
	if (g.n) {
		str_addc(out, '\n');
		out_table_write(rows, OUT_TABLE, out);
	}
	for (int i = 0; i < z.n; i++)
		score_row(sizes, z.sim[i].cls, &z.sim[i], &z.roof[i]);
	str_addc(out, '\n');
	out_table_write(sizes, OUT_TABLE, out);
	if (o->worst) {
		str_addc(out, '\n');
		sample_rows(&t->rows, p, cmd_first(o->worst, t->rows.sim.all.n), "the worst", OUT_TABLE, out);
	}
	rc = 0;
	if (t->rows.energy.n) {
		struct gpu_energies x = { .v = (struct energy_cases *)&t->rows.energy, .n = 1 };

		str_addc(out, '\n');
		rc = gpu_energies_table(&x, "all", o->worst, GPU_ENERGY_TITLE, out, e);
	}
out:
	out_table_free(classes);
	out_table_free(rows);
	out_table_free(sizes);
	return rc;
}

/* --- json --------------------------------------------------------------------------------------------------------- */

static void json_roof(struct out_json *j, const struct score *s)
{
	out_json_open(j, "roofline", '{');
	out_json_real(j, "mape", s->mape);
	out_json_real(j, "median_ape", s->median_ape);
	out_json_real(j, "p90_ape", s->p90_ape);
	out_json_real(j, "bias", s->bias);
	out_json_real(j, "weighted_ape", s->weighted_ape);
	out_json_close(j, '}');
}

static void json_part(struct out_json *j, const char *name, const struct score *s, const struct score *roof)
{
	out_json_open(j, NULL, '{');
	out_json_text(j, name, s->cls);
	score_json(j, s, false);
	json_roof(j, roof);
	out_json_close(j, '}');
}

static void json_worst(struct out_json *j, const struct rows *r, const struct place *p, size_t n)
{
	out_json_open(j, "worst", '[');
	for (size_t i = 0; i < n; i++) {
		const struct sample *x = &r->sim.all.v[p[i].at], *roof = &r->roof.all.v[p[i].at];

		out_json_open(j, NULL, '{');
		out_json_text(j, "op", x->name);
		out_json_text(j, "class", x->cls);
		if (*x->group)
			out_json_text(j, "rows", x->group);
		else
			out_json_null(j, "rows");
		out_json_real(j, "measured_us", cmd_us((int64_t)x->measured_ns));
		out_json_real(j, "simulated_us", cmd_ps_us(x->time.total));
		out_json_real(j, "error_pct", sample_error(x));
		out_json_text(j, "bound", res_name(x->time.bound));
		out_json_real(j, "roofline_us", cmd_ps_us(roof->time.total));
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

static int print_json(const struct ops_rows *t, const struct validate_ops *o, struct str *out, struct err *e)
{
	const struct place *p = places(&t->rows, t->arena, e);
	const struct gpu_energies x = { .v = (struct energy_cases *)&t->rows.energy, .n = 1 };
	struct scores c, g, all, z;
	struct out_json j;

	if (!p || score(&t->rows, false, SCORE_SIZE, t->arena, &z, e) < 0 ||
	    score(&t->rows, false, SCORE_CLASS, t->arena, &c, e) < 0 ||
	    score(&t->rows, true, SCORE_GROUP, t->arena, &g, e) < 0 ||
	    score(&t->rows, false, SCORE_ALL, t->arena, &all, e) < 0)
		return -1;
	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	score_json(&j, &all.sim[0], true);
	out_json_text(&j, "split", o->split_name);
	out_json_text(&j, "start", run_start_name(o->start));
	out_json_text(&j, "fidelity", engine_of(&t->conf->cfg, o->fidelity)->fidelity);
	out_json_u64(&j, "unmeasured", t->rows.unmeasured);
	json_roof(&j, &all.roof[0]);
	out_json_open(&j, "classes", '[');
	for (int i = 0; i < c.n; i++)
		json_part(&j, "class", &c.sim[i], &c.roof[i]);
	out_json_close(&j, ']');
	out_json_open(&j, "rows", '[');
	for (size_t i = 0; i < sizeof row_groups / sizeof *row_groups; i++)
		if (group(g.sim, g.n, row_groups[i]))
			json_part(&j, "rows", group(g.sim, g.n, row_groups[i]), group(g.roof, g.n, row_groups[i]));
	out_json_close(&j, ']');
	out_json_open(&j, "sizes", '[');
	for (int i = 0; i < z.n; i++)
		json_part(&j, "measured", &z.sim[i], &z.roof[i]);
	out_json_close(&j, ']');
	json_worst(&j, &t->rows, p, cmd_first(o->worst, t->rows.sim.all.n));
	if (t->rows.energy.n && gpu_energies_json(&x, "all", &j, e) < 0)
		return -1;
	out_json_close(&j, '}');
	return 0;
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

int validate_ops(const struct gpu_options *g, const struct validate_ops *o, enum out_format f, struct str *out,
                 struct err *e)
{
	struct ops_rows t = { .conf = NULL };
	const struct ops_rows_how how = { o->start, o->fidelity, o->split, o->twin };
	int rc = ops_rows_run(&t, g, &how, e);

	if (rc == 0 && f == OUT_CSV)
		sample_rows(&t.rows, NULL, t.rows.sim.all.n, NULL, f, out);
	else if (rc == 0)
		rc = f == OUT_JSON ? print_json(&t, o, out, e) : print_table(&t, o, out, e);
	if (rc == 0 && o->output)
		rc = store(&t, g, o, e);
	if (rc == 0)
		rc = check_mape(&t, o, e);
	ops_rows_free(&t);
	return rc;
}
