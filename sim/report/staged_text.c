/* staged_text.c - a request for people, in JSON (all of it) and in CSV (a row a stage). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/report/figure_doc.h"
#include "sim/report/figure_out.h"
#include "sim/report/staged.h"

#define COLS(a)    (sizeof(a) / sizeof *(a))
#define WIDTH      80
#define LABEL      11 /* "machine    " */
#define WARNS_MOST 3

static double ms(double ps)
{
	return ps / 1e9;
}

static double mj(double uj)
{
	return uj / 1e3;
}

static double per_second(uint64_t n, ps_t ps)
{
	return ps ? (double)n * 1e12 / (double)ps : 0;
}

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

/* Tokens are said of whole models alone. */
static uint64_t tokens(const struct staged *x)
{
	return x->part ? 0 : x->tokens;
}

static uint64_t bytes(const struct figures *f)
{
	return f->dram_read_bytes + f->dram_write_bytes;
}

/* --- first lines -------------------------------------------------------------------------------------------------- */

/* Three digits. */
static void add_time(struct str *s, double us)
{
	if (us < 999.5)
		str_addf(s, "%.3g us", us);
	else if (us < 999.5e3)
		str_addf(s, "%.3g ms", us / 1e3);
	else
		str_addf(s, us < 999.5e6 ? "%.3g s" : "%.0f s", us / 1e6);
}

static void add_joules(struct str *s, double uj)
{
	if (uj < 999.5)
		str_addf(s, "%.3g uJ", uj);
	else if (uj < 999.5e3)
		str_addf(s, "%.3g mJ", uj / 1e3);
	else
		str_addf(s, uj < 999.5e6 ? "%.3g J" : "%.0f J", uj / 1e6);
}

/* Three digits, or all before the point. */
static void add_number(struct str *s, double x)
{
	str_addf(s, x < 99.95 ? "%.3g" : "%.0f", x);
}

static void say_whole(const struct staged *x, const struct staged_view *v, struct str *s)
{
	const double us = unit_ps_us(x->all.figures.total_ps);

	if (tokens(x))
		str_addf(s, "%" PRIu64 " token%s in ", x->tokens, x->tokens == 1 ? "" : "s");
	add_time(s, us);
	if (x->all.interval) {
		str_add(s, " (");
		add_time(s, x->all.low_ps / 1e6);
		str_add(s, " to ");
		add_time(s, x->all.high_ps / 1e6);
		str_addc(s, ')');
	}
	str_addf(s, " on %s", v->job->conf->cfg.name);
	if (x->part)
		str_add(s, ", of a part of the model, which makes no tokens");
	else if (x->first_ps) {
		str_add(s, "; the first after ");
		add_time(s, unit_ps_us(x->first_ps));
	}
}

static uint64_t decode_steps(const struct staged *x)
{
	uint64_t n = 0;

	for (size_t i = 0; i < x->request.n; i++)
		n += x->request.v[i].phase == BUILD_DECODE ? x->request.v[i].steps : 0;
	return n;
}

static void say_decode(const struct staged *x, struct str *s)
{
	const uint64_t steps = decode_steps(x);

	if (!steps || !x->decode_ps)
		return;
	if (x->decoded && !x->part) {
		add_number(s, per_second(x->decoded, x->decode_ps));
		str_add(s, " tokens/s while it writes, ");
	}
	add_time(s, unit_ps_us(x->decode_ps) / (double)steps);
	str_add(s, " a step");
	if (tokens(x) > x->decoded) {
		str_add(s, "; ");
		add_number(s, per_second(x->tokens, x->all.figures.total_ps));
		str_add(s, " over the whole");
	}
}

static void say_energy(const struct staged *x, struct str *s)
{
	const double us = unit_ps_us(x->all.figures.total_ps);

	if (!x->all.energy || us <= 0)
		return;
	add_joules(s, x->all.uj);
	if (tokens(x)) {
		str_add(s, ", ");
		add_joules(s, x->all.uj / (double)x->tokens);
		str_add(s, " a token");
	}
	str_addf(s, "; %.3g W in the mean", x->all.uj / us);
}

/* Of a GPU that has a host. */
static void say_host(const struct staged *x, struct str *s)
{
	const struct figures *f = &x->all.figures;

	if (!f->wall_eager_ps)
		return;
	str_add(s, "with its host ");
	add_time(s, unit_ps_us(f->wall_graph_ps));
	str_add(s, ", each step one graph; launched one by one ");
	add_time(s, unit_ps_us(f->wall_eager_ps));
	if (f->energy_eager_fj) {
		str_add(s, ", ");
		add_joules(s, (double)f->energy_eager_fj / 1e9);
	}
}

static void say_beside(const struct staged *x, struct str *s)
{
	const struct figures *f = &x->all.figures;
	const struct baseline *b = x->stage[0].baseline;
	const double kernels = figure_ratio_kernels(f, &x->all.measured), wall = figure_ratio_wall(f, &x->all.measured);
	const char *gpu = b && b->device[0] ? b->device : "H200";

	if (kernels > 0)
		str_addf(s, "%.3gx the measured kernels", kernels);
	if (wall > 0)
		str_addf(s, "%s%.3gx the measured wall", s->len ? ", " : "", wall);
	if (!s->len)
		str_add(s, "nothing measured");
	if (f->fused_ps && f->total_ps)
		str_addf(s, "; %.3gx an %s fused and graphed, simulated", (double)f->fused_ps / (double)f->total_ps,
		         gpu);
}

static void say_held(const struct staged *x, struct str *s)
{
	const enum res most = run_largest(x->all.stall_ps);
	const ps_t all = x->all.figures.total_ps;
	size_t longest = 0;

	for (size_t i = 1; i < x->request.n; i++)
		if (x->stage[i].sum.figures.total_ps > x->stage[longest].sum.figures.total_ps)
			longest = i;
	if (all)
		str_addf(s, "%s takes %.3g %% of the time; held by %s %.0f %% of it", x->request.v[longest].name,
		         100 * share(x->stage[longest].sum.figures.total_ps, all), res_name(most),
		         100 * share(x->all.stall_ps[most], all));
}

static void first_lines(const struct staged *x, const struct staged_view *v, struct str *out)
{
	struct str line[6] = { STR_INIT, STR_INIT, STR_INIT, STR_INIT, STR_INIT, STR_INIT };

	say_whole(x, v, &line[0]);
	say_decode(x, &line[1]);
	say_energy(x, &line[2]);
	say_host(x, &line[3]);
	say_beside(x, &line[4]);
	say_held(x, &line[5]);
	for (size_t i = 0; i < COLS(line); i++) {
		if (line[i].len)
			out_wrap(str_c(&line[i]), 0, 0, WIDTH, out);
		out->failed |= line[i].failed;
		str_free(&line[i]);
	}
	str_addc(out, '\n');
}

/* --- what ran ----------------------------------------------------------------------------------------------------- */

static void said(struct str *out, const char *label, const char *text)
{
	str_addf(out, "%-*s", LABEL, label);
	out_wrap(text, LABEL, LABEL, WIDTH, out);
}

/* Of each stage's first run, as later ones differ in a length; each text once. */
static void warnings(const struct staged *x, struct str *out)
{
	const char *seen[WARNS_MOST];
	size_t n = 0;

	for (size_t i = 0; i < x->request.n; i++) {
		const struct diag_list *l = &x->stage[i].points->x.diags;

		for (size_t k = 0; k < l->n && n < WARNS_MOST; k++) {
			size_t at = 0;

			while (at < n && strcmp(seen[at], l->v[k].text) != 0)
				at++;
			if (at < n)
				continue;
			said(out, n ? "" : "warning", l->v[k].text);
			seen[n++] = l->v[k].text;
		}
	}
}

static const char *not_validated(const struct staged *x, size_t i)
{
	return x->stage[i].points->x.report.not_validated;
}

/* Stages of which the same is unknown stand together. */
static void unknown(const struct staged *x, struct str *out)
{
	struct str t = STR_INIT;

	for (size_t i = 0; i < x->request.n; i++) {
		const char *what = not_validated(x, i);
		bool said_before = false;

		for (size_t k = 0; k < i && what; k++)
			said_before |= not_validated(x, k) == what;
		if (!what || said_before)
			continue;
		str_addf(&t, "%s%s", t.len ? "; " : "not validated, on no machine: ", x->request.v[i].name);
		for (size_t k = i + 1; k < x->request.n; k++)
			if (not_validated(x, k) == what)
				str_addf(&t, ", %s", x->request.v[k].name);
		str_addf(&t, ": %s", what);
	}
	if (t.len)
		said(out, "unknown", str_c(&t));
	out->failed |= t.failed;
	str_free(&t);
}

/* What all of them share is said of the first. */
static const struct run_report *first_run(const struct staged *x)
{
	return &x->stage[0].points->x.report;
}

/* "deepseek-ocr", or of stages of several "deepseek-ocr, t.db". */
static void sources(const struct staged *x, struct str *t)
{
	for (size_t i = 0; i < x->request.n; i++) {
		const char *path = x->stage[i].points->w.in.trace.path;
		size_t k = 0;

		while (k < i && strcmp(x->stage[k].points->w.in.trace.path, path) != 0)
			k++;
		if (k == i)
			str_addf(t, "%s%s", i ? ", " : "", path);
	}
}

static void facts(const struct staged *x, const struct staged_view *v, struct str *out)
{
	const struct run_report *r = first_run(x);
	struct str t = STR_INIT;
	char hash[17];

	hash_hex(r->result->config_hash, hash);
	str_addf(&t, "%s (%s, hash %s), %s", r->conf->cfg.name, r->conf->path, hash,
	         r->result->engine->events ? "simulated with events" : "in closed form");
	said(out, "machine", str_c(&t));
	str_clear(&t);
	sources(x, &t);
	str_addf(&t, ": %zu stage%s, %" PRIu64 " step%s, of which %" PRIu64 " ran", x->request.n,
	         x->request.n == 1 ? "" : "s", x->all.steps, x->all.steps == 1 ? "" : "s", x->all.runs);
	if (v->job->how.start != RUN_STEADY)
		str_addf(&t, "; start %s", run_start_name(v->job->how.start));
	said(out, "workload", str_c(&t));
	if (x->all.interval)
		said(out, "interval",
		     x->all.from == INTERVAL_OTHERS
		             ? "the stages' bounds, summed; by other families, as no silicon of this one was met"
		             : "the stages' bounds, summed");
	unknown(x, out);
	warnings(x, out);
	str_addc(out, '\n');
	out->failed |= t.failed;
	str_free(&t);
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static void finish(struct out_table *t, struct str *out)
{
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
	str_addc(out, '\n');
}

/* What was measured stands where any of it was. */
static void stage_row(struct out_table *t, const char *name, const char *what, const struct staged_sum *s,
                      const struct staged_sum *all, ps_t until, uint64_t steps, bool measured)
{
	const enum res most = run_largest(s->stall_ps);
	char held[64];

	snprintf(held, sizeof held, "%s %.0f %%", res_name(most), 100 * share(s->stall_ps[most], s->figures.total_ps));
	out_text(t, name);
	out_text(t, what);
	out_real(t, ms((double)s->figures.total_ps));
	out_real(t, 100 * share(s->figures.total_ps, all->figures.total_ps));
	out_real(t, ms((double)until));
	if (steps)
		out_real(t, unit_ps_us(s->figures.total_ps) / (double)steps);
	else
		out_null(t);
	if (measured && s->measured.kernel_ns)
		out_real(t, (double)s->measured.kernel_ns / 1e6);
	else if (measured)
		out_null(t);
	if (s->energy)
		out_real(t, mj(s->uj));
	else
		out_null(t);
	out_real(t, (double)bytes(&s->figures) / 1e6);
	out_text(t, s->figures.total_ps ? held : "");
}

static void stages_table(const struct staged *x, struct str *out)
{
	static const struct out_col some[] = { { "stage", OUT_TEXT, 0 },    { "what", OUT_TEXT, 0 },
		                               { "ms", OUT_REAL, 3 },       { "pct", OUT_REAL, 1 },
		                               { "until_ms", OUT_REAL, 3 }, { "us_a_step", OUT_REAL, 1 },
		                               { "mJ", OUT_REAL, 2 },       { "DRAM_MB", OUT_REAL, 1 },
		                               { "held by", OUT_TEXT, 0 } };
	struct out_col cols[COLS(some) + 1];
	struct out_table *t;
	bool measured = false;
	int n = 0;

	for (size_t i = 0; i < x->request.n; i++)
		measured |= x->stage[i].sum.measured.kernel_ns != 0;
	for (size_t i = 0; i < COLS(some); i++) {
		if (measured && i == 6)
			cols[n++] = (struct out_col){ "measured_ms", OUT_REAL, 3 };
		cols[n++] = some[i];
	}
	t = out_table_new(cols, n, NULL);
	for (size_t i = 0; i < x->request.n; i++)
		stage_row(t, x->request.v[i].name, x->stage[i].what, &x->stage[i].sum, &x->all, x->stage[i].until_ps,
		          x->request.v[i].steps, measured);
	stage_row(t, "all", "", &x->all, &x->all, x->all.figures.total_ps, 0, measured);
	finish(t, out);
}

static void steps_table(const struct staged *x, struct str *out)
{
	static const struct out_col cols[] = { { "stage", OUT_TEXT, 0 },
		                               { "step", OUT_INT, 0 },
		                               { "for", OUT_INT, 0 },
		                               { "us", OUT_REAL, 3 },
		                               { "what ran", OUT_TEXT, 0 } };
	struct out_table *t = out_table_new(cols, COLS(cols), "steps that ran, and for how many each stands");

	for (size_t i = 0; i < x->request.n; i++)
		for (const struct staged_point *p = x->stage[i].points; p; p = p->next) {
			out_text(t, x->request.v[i].name);
			out_int(t, (int64_t)p->step + 1);
			out_int(t, (int64_t)p->steps);
			out_real(t, unit_ps_us(p->x.result.total_ps));
			out_text(t, p->w.in.trace.range);
		}
	finish(t, out);
}

static void held_table(const struct staged *x, struct str *out)
{
	struct out_col cols[REQUEST_STAGES + 2] = { { "held by, ms", OUT_TEXT, 0 } };
	struct out_table *t;
	int n = 1;

	for (size_t i = 0; i < x->request.n; i++)
		cols[n++] = (struct out_col){ x->request.v[i].name, OUT_REAL, 3 };
	cols[n++] = (struct out_col){ "all", OUT_REAL, 3 };
	t = out_table_new(cols, n, NULL);
	for (int k = 0; k < RES_COUNT; k++) {
		if (!x->all.stall_ps[k])
			continue;
		out_text(t, res_name((enum res)k));
		for (size_t i = 0; i < x->request.n; i++)
			out_real(t, ms((double)x->stage[i].sum.stall_ps[k]));
		out_real(t, ms((double)x->all.stall_ps[k]));
	}
	finish(t, out);
}

static double energy_of(const struct staged_sum *s, const struct energy_row *row)
{
	for (size_t i = 0; i < s->n_energy; i++)
		if (s->energy[i].row == row)
			return s->energy[i].uj;
	return 0;
}

static void energy_table(const struct staged *x, struct str *out)
{
	struct out_col cols[REQUEST_STAGES + 3] = { { "energy, mJ", OUT_TEXT, 0 }, { "of", OUT_TEXT, 0 } };
	struct out_table *t;
	int n = 2;

	if (!x->all.energy)
		return;
	for (size_t i = 0; i < x->request.n; i++)
		cols[n++] = (struct out_col){ x->request.v[i].name, OUT_REAL, 3 };
	cols[n++] = (struct out_col){ "all", OUT_REAL, 3 };
	t = out_table_new(cols, n, NULL);
	for (size_t k = 0; k < x->all.n_energy; k++) {
		if (x->all.energy[k].uj <= 0)
			continue;
		out_text(t, x->all.energy[k].row->block);
		out_text(t, x->all.energy[k].row->name);
		for (size_t i = 0; i < x->request.n; i++)
			out_real(t, mj(energy_of(&x->stage[i].sum, x->all.energy[k].row)));
		out_real(t, mj(x->all.energy[k].uj));
	}
	finish(t, out);
}

static void staged_text_table(const struct staged *x, const struct staged_view *v, struct str *out)
{
	first_lines(x, v, out);
	facts(x, v, out);
	stages_table(x, out);
	if (v->whole) {
		held_table(x, out);
		energy_table(x, out);
		steps_table(x, out);
	}
	if (v->results_path && x->stored)
		str_addf(out, "%s run %" PRId64 " in %s\n", x->stored_again ? "already stored as" : "stored as",
		         x->stored, v->results_path);
	if (!v->whole)
		str_add(out, "--all prints the rest: what held each stage, its energy, the steps that ran\n");
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void real_or_null(struct out_json *j, const char *key, bool known, double x)
{
	if (known)
		out_json_real(j, key, x);
	else
		out_json_null(j, key);
}

static void by_resource(struct out_json *j, const ps_t *v)
{
	out_json_open(j, "stall_us", '{');
	for (int k = 0; k < RES_COUNT; k++)
		if (v[k])
			out_json_real(j, res_name((enum res)k), unit_ps_us(v[k]));
	out_json_close(j, '}');
}

static void energy_json(struct out_json *j, const struct staged_sum *s)
{
	if (!s->energy)
		return;
	out_json_open(j, "energy_parts_uj", '{');
	for (size_t i = 0; i < s->n_energy; i++) {
		char key[64];

		snprintf(key, sizeof key, "%s.%s", s->energy[i].row->block, s->energy[i].row->name);
		if (s->energy[i].uj > 0)
			out_json_real(j, key, s->beyond ? s->energy[i].uj : (double)s->energy[i].fj / 1e9);
	}
	out_json_close(j, '}');
}

/* What a run says of itself, of a sum of them. */
static void sum_json(struct out_json *j, const struct staged_sum *s)
{
	real_or_null(j, "energy_j", s->energy != NULL, s->uj / 1e6);
	figure_json(j, FIGURE_HEAD, &s->figures, &s->measured);
	figure_json(j, FIGURE_WALL, &s->figures, &s->measured);
	figure_json(j, FIGURE_EFFORT, &s->figures, &s->measured);
	figure_json(j, FIGURE_REST, &s->figures, &s->measured);
	out_json_text(j, "roofline_bound", res_name(run_largest(s->floor_ps)));
	by_resource(j, s->stall_ps);
	energy_json(j, s);
}

static void interval_json(struct out_json *j, const struct staged_sum *s)
{
	real_or_null(j, "low_us", s->interval, s->low_ps / 1e6);
	real_or_null(j, "high_us", s->interval, s->high_ps / 1e6);
}

static void points_json(struct out_json *j, const struct staged_stage *s)
{
	out_json_open(j, "ran", '[');
	for (const struct staged_point *p = s->points; p; p = p->next) {
		out_json_open(j, NULL, '{');
		out_json_u64(j, "step", p->step + 1);
		out_json_u64(j, "for", p->steps);
		out_json_real(j, "total_us", unit_ps_us(p->x.result.total_ps));
		out_json_text(j, "range", p->w.in.trace.range);
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

static void stage_json(struct out_json *j, const struct staged *x, size_t i)
{
	const struct staged_stage *s = &x->stage[i];
	const struct run_report *r = &s->points->x.report;
	struct str trust = STR_INIT;

	out_json_open(j, NULL, '{');
	out_json_text(j, "stage", s->of->name);
	out_json_text(j, "phase", build_phase_name(s->of->phase));
	out_json_text(j, "what", s->what);
	out_json_text(j, "workload", r->trace->path);
	out_json_text(j, "range", s->range);
	out_json_u64(j, "stage_steps", s->of->steps);
	out_json_u64(j, "answer_tokens", x->part ? 0 : s->tokens);
	out_json_real(j, "share", share(s->sum.figures.total_ps, x->all.figures.total_ps));
	real_or_null(j, "energy_share", x->all.energy != NULL, x->all.uj > 0 ? s->sum.uj / x->all.uj : 0);
	out_json_real(j, "until_us", unit_ps_us(s->until_ps));
	out_json_real(j, "step_us", unit_ps_us(s->sum.figures.total_ps) / (double)s->of->steps);
	interval_json(j, &s->sum);
	out_json_real(j, "last_cut", s->finer);
	out_json_text(j, "held_by", res_name(run_largest(s->sum.stall_ps)));
	sum_json(j, &s->sum);
	run_trust(r, "", &trust);
	out_json_text(j, "accuracy", str_c(&trust));
	out_json_text(j, "not_validated", r->not_validated);
	points_json(j, s);
	out_json_close(j, '}');
	j->to->failed |= trust.failed;
	str_free(&trust);
}

static void json(const struct staged *x, const struct staged_view *v, struct str *out)
{
	const struct run_report *r = first_run(x);
	struct out_json j;
	char hash[17];

	hash_hex(r->result->config_hash, hash);
	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	real_or_null(&j, "first_token_us", x->first_ps && !x->part, unit_ps_us(x->first_ps));
	real_or_null(&j, "answer_tokens", tokens(x) != 0, (double)x->tokens);
	real_or_null(&j, "tokens_per_s", tokens(x) != 0, per_second(x->tokens, x->all.figures.total_ps));
	real_or_null(&j, "decode_tokens_per_s", x->decoded && !x->part, per_second(x->decoded, x->decode_ps));
	real_or_null(&j, "decode_us", x->decode_ps != 0, unit_ps_us(x->decode_ps));
	interval_json(&j, &x->all);
	sum_json(&j, &x->all);
	out_json_text(&j, "config", r->conf->cfg.name);
	out_json_text(&j, "config_hash", hash);
	out_json_text(&j, "fidelity", r->result->engine->fidelity);
	out_json_text(&j, "workload", r->trace->path);
	out_json_text(&j, "start", run_start_name(v->job->how.start));
	out_json_u64(&j, "seed", v->job->how.seed);
	out_json_u64(&j, "request_steps", x->all.steps);
	out_json_u64(&j, "request_runs", x->all.runs);
	out_json_open(&j, "stages", '[');
	for (size_t i = 0; i < x->request.n; i++)
		stage_json(&j, x, i);
	out_json_close(&j, ']');
	if (x->stored)
		out_json_int(&j, "run", x->stored);
	out_json_close(&j, '}');
}

/* --- CSV ---------------------------------------------------------------------------------------------------------- */

static void csv_row(struct doc *d, const void *of, size_t i)
{
	const struct staged *x = of;
	const struct staged_stage *s = &x->stage[i];

	doc_text(d, "stage", s->of->name);
	doc_text(d, "phase", build_phase_name(s->of->phase));
	doc_text(d, "what", s->what);
	doc_count(d, "stage_steps", s->of->steps);
	doc_count(d, "answer_tokens", x->part ? 0 : s->tokens);
	doc_real(d, "share", 0, share(s->sum.figures.total_ps, x->all.figures.total_ps));
	doc_ps(d, "until_us", 0, s->until_ps);
	doc_text(d, "held_by", res_name(run_largest(s->sum.stall_ps)));
	for (const struct figure *f = figure_after(NULL); f; f = figure_after(f))
		if (!f->missing)
			figure_doc(d, f, true, &s->sum.figures);
}

static void csv(const struct staged *x, struct str *out)
{
	struct doc d;

	doc_init(&d, OUT_CSV, 0, out);
	doc_table(&d, NULL, NULL, x->request.n, csv_row, x);
}

void staged_write(const struct staged *x, const struct staged_view *v, enum out_format f, struct str *out)
{
	if (f == OUT_JSON)
		json(x, v, out);
	else if (f == OUT_CSV)
		csv(x, out);
	else
		staged_text_table(x, v, out);
}
