/* staged_doc.c - a request for people, in JSON (all of it) and in CSV (a row a stage). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/report/figure_doc.h"
#include "sim/report/staged.h"

#define COLS(a)    (sizeof(a) / sizeof *(a))
#define WIDTH      80
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
	run_time_text(s, us);
	if (x->all.interval) {
		str_add(s, " (");
		run_time_text(s, x->all.low_ps / 1e6);
		str_add(s, " to ");
		run_time_text(s, x->all.high_ps / 1e6);
		str_addc(s, ')');
	}
	str_addf(s, " on %s", v->job->conf->cfg.name);
	if (x->part)
		str_add(s, ", of a part of the model, which makes no tokens");
	else if (x->first_ps) {
		str_add(s, "; the first after ");
		run_time_text(s, unit_ps_us(x->first_ps));
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
	run_time_text(s, unit_ps_us(x->decode_ps) / (double)steps);
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
	run_joules_text(s, x->all.uj);
	if (tokens(x)) {
		str_add(s, ", ");
		run_joules_text(s, x->all.uj / (double)x->tokens);
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
	run_time_text(s, unit_ps_us(f->wall_graph_ps));
	str_add(s, ", each step one graph; launched one by one ");
	run_time_text(s, unit_ps_us(f->wall_eager_ps));
	if (f->energy_eager_fj) {
		str_add(s, ", ");
		run_joules_text(s, (double)f->energy_eager_fj / 1e9);
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
		str_addf(s, "; %.3gx an %s fused and graphed, simulated", figure_ratio_fused(f), gpu);
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

static void first_lines(struct doc *d, const struct staged *x, const struct staged_view *v)
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
			out_wrap(str_c(&line[i]), 0, 0, WIDTH, d->to);
		d->to->failed |= line[i].failed;
		str_free(&line[i]);
	}
	doc_say(d, "\n");
}

/* --- what ran ----------------------------------------------------------------------------------------------------- */

/* Of each stage's first run, as later ones differ in a length; each text once. */
static void warnings(const struct staged *x, struct str *t)
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
			str_addf(t, "%s\n", l->v[k].text);
			seen[n++] = l->v[k].text;
		}
	}
}

static const char *not_validated(const struct staged *x, size_t i)
{
	return x->stage[i].points->x.report.not_validated;
}

/* Stages of which the same is unknown stand together. */
static void unknown(const struct staged *x, struct str *t)
{
	for (size_t i = 0; i < x->request.n; i++) {
		const char *what = not_validated(x, i);
		bool said_before = false;

		for (size_t k = 0; k < i && what; k++)
			said_before |= not_validated(x, k) == what;
		if (!what || said_before)
			continue;
		str_addf(t, "%s%s", t->len ? "; " : "not validated, on no machine: ", x->request.v[i].name);
		for (size_t k = i + 1; k < x->request.n; k++)
			if (not_validated(x, k) == what)
				str_addf(t, ", %s", x->request.v[k].name);
		str_addf(t, ": %s", what);
	}
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

static void machine(const struct staged *x, struct str *t)
{
	run_machine_text(first_run(x), t);
}

static void workload(const struct staged *x, struct str *t)
{
	const enum run_start start = first_run(x)->start;

	sources(x, t);
	str_addf(t, ": %zu stage%s, %" PRIu64 " step%s, of which %" PRIu64 " ran", x->request.n,
	         x->request.n == 1 ? "" : "s", x->all.steps, x->all.steps == 1 ? "" : "s", x->all.runs);
	if (start != RUN_STEADY)
		str_addf(t, "; start %s", run_start_name(start));
}

static void interval(const struct staged *x, struct str *t)
{
	if (x->all.interval)
		str_addf(t, "the stages' bounds, summed%s",
		         x->all.from == INTERVAL_OTHERS ? "; by other families, as no silicon of this one was met"
		                                        : "");
}

static void facts(struct doc *d, const struct staged *x)
{
	static const struct {
		const char *label;
		void (*text)(const struct staged *x, struct str *t);
	} all[] = { { "machine", machine },
		    { "workload", workload },
		    { "interval", interval },
		    { "unknown", unknown },
		    { "warning", warnings } };
	struct str t = STR_INIT;

	for (size_t i = 0; i < COLS(all); i++) {
		str_clear(&t);
		all[i].text(x, &t);
		doc_say_fact(d, all[i].label, str_c(&t), WIDTH);
		d->to->failed |= t.failed;
	}
	doc_say(d, "\n");
	str_free(&t);
}

/* --- stages ------------------------------------------------------------------------------------------------------- */

/* Steps that ran: in JSON of one stage. */
struct point {
	const char *stage;
	const struct staged_point *p;
};

static void point_row(struct doc *d, const void *of, size_t i)
{
	const struct point *x = of;

	(void)i;
	if (x->stage)
		doc_text(d, "stage", x->stage);
	doc_count(d, "step", x->p->step + 1);
	doc_count(d, "for", x->p->steps);
	doc_ps(d, x->stage ? "us" : "total_us", 3, x->p->x.result.total_ps);
	doc_text(d, x->stage ? "what ran" : "range", x->p->w.in.trace.range);
}

static void points(struct doc *d, const struct staged_point *p)
{
	for (; p; p = p->next) {
		doc_open(d, NULL, '{');
		point_row(d, &(struct point){ NULL, p }, 0);
		doc_close(d, '}');
	}
}

static void interval_members(struct doc *d, const struct staged_sum *s)
{
	doc_real_if(d, "low_us", 3, s->interval, s->low_ps / 1e6);
	doc_real_if(d, "high_us", 3, s->interval, s->high_ps / 1e6);
}

/* What a run says of itself, of a sum of them. */
static void sum_members(struct doc *d, const struct staged_sum *s)
{
	doc_real_if(d, "energy_j", 3, s->energy != NULL, s->uj / 1e6);
	for (int part = FIGURE_HEAD; part <= FIGURE_REST; part++)
		figure_doc_part(d, (enum figure_part)part, &s->figures, &s->measured);
	doc_text(d, "roofline_bound", res_name(run_largest(s->floor_ps)));
	run_by_resource(d, "stall_us", s->stall_ps);
	if (!s->energy)
		return;
	doc_open(d, "energy_parts_uj", '{');
	for (size_t i = 0; i < s->n_energy; i++)
		run_energy_part(d, s->energy[i].row, s->beyond ? s->energy[i].uj : (double)s->energy[i].fj / 1e9);
	doc_close(d, '}');
}

/* A stage in JSON and CSV. */
static void stage_row(struct doc *d, const void *of, size_t i)
{
	const struct staged *x = of;
	const struct staged_stage *s = &x->stage[i];
	const struct run_report *r = &s->points->x.report;
	const bool json = d->format == OUT_JSON;
	const char *held = res_name(run_largest(s->sum.stall_ps));
	struct str trust = STR_INIT;

	doc_text(d, "stage", s->of->name);
	doc_text(d, "phase", build_phase_name(s->of->phase));
	doc_text(d, "what", s->what);
	if (json) {
		doc_text(d, "workload", r->trace->path);
		doc_text(d, "range", s->range);
	}
	doc_count(d, "stage_steps", s->of->steps);
	doc_count(d, "answer_tokens", x->part ? 0 : s->tokens);
	doc_real(d, "share", 0, share(s->sum.figures.total_ps, x->all.figures.total_ps));
	if (json)
		doc_real_if(d, "energy_share", 3, x->all.energy != NULL, x->all.uj > 0 ? s->sum.uj / x->all.uj : 0);
	doc_ps(d, "until_us", 0, s->until_ps);
	if (!json) {
		doc_text(d, "held_by", held);
		for (const struct figure *f = figure_after(NULL, false); f; f = figure_after(f, false))
			if (!f->missing)
				figure_doc(d, f, true, &s->sum.figures);
		return;
	}
	doc_real(d, "step_us", 3, unit_ps_us(s->sum.figures.total_ps) / (double)s->of->steps);
	interval_members(d, &s->sum);
	doc_real(d, "last_cut", 3, s->finer);
	doc_text(d, "held_by", held);
	sum_members(d, &s->sum);
	run_trust(r, &trust);
	doc_text(d, "accuracy", str_c(&trust));
	doc_text(d, "not_validated", r->not_validated);
	doc_open(d, "ran", '[');
	points(d, s->points);
	doc_close(d, ']');
	doc_free(d, &trust);
}

/* --- JSON --------------------------------------------------------------------------------------------------------- */

static void members(struct doc *d, const struct staged *x, const struct staged_view *v)
{
	const struct run_report *r = first_run(x);
	char hash[17];

	hash_hex(r->result->config_hash, hash);
	doc_open(d, NULL, '{');
	doc_ps_if(d, "first_token_us", 3, x->first_ps && !x->part, x->first_ps);
	doc_count_if(d, "answer_tokens", tokens(x), x->tokens);
	doc_real_if(d, "tokens_per_s", 1, tokens(x), per_second(x->tokens, x->all.figures.total_ps));
	doc_real_if(d, "decode_tokens_per_s", 1, x->decoded && !x->part, per_second(x->decoded, x->decode_ps));
	doc_ps_if(d, "decode_us", 3, x->decode_ps, x->decode_ps);
	interval_members(d, &x->all);
	sum_members(d, &x->all);
	doc_text(d, "config", r->conf->cfg.name);
	doc_text(d, "config_hash", hash);
	doc_text(d, "fidelity", r->result->engine->fidelity);
	doc_text(d, "workload", r->trace->path);
	doc_text(d, "start", run_start_name(v->job->how.start));
	doc_count(d, "seed", v->job->how.seed);
	doc_count(d, "request_steps", x->all.steps);
	doc_count(d, "request_runs", x->all.runs);
	doc_table(d, "stages", NULL, x->request.n, stage_row, x);
	if (x->stored)
		doc_int(d, "run", x->stored);
	doc_close(d, '}');
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

/* A stage for people; `i` behind them all: the whole. What was measured stands where any of it was. */
static void brief_row(struct doc *d, const void *of, size_t i)
{
	const struct staged *x = of;
	const struct staged_stage *stage = &x->stage[i];
	const bool all = i == x->request.n;
	const struct staged_sum *s = all ? &x->all : &stage->sum;
	const enum res most = run_largest(s->stall_ps);
	const ps_t total = s->figures.total_ps;
	bool measured = false;
	char held[64];

	for (size_t k = 0; k < x->request.n; k++)
		measured |= x->stage[k].sum.measured.kernel_ns != 0;
	snprintf(held, sizeof held, "%s %.0f %%", res_name(most), 100 * share(s->stall_ps[most], total));
	doc_text(d, "stage", all ? "all" : stage->of->name);
	doc_text(d, "what", all ? "" : stage->what);
	doc_real(d, "ms", 3, ms((double)total));
	doc_real(d, "pct", 1, 100 * share(total, x->all.figures.total_ps));
	doc_real(d, "until_ms", 3, ms((double)(all ? total : stage->until_ps)));
	doc_real_if(d, "us_a_step", 1, !all, unit_ps_us(total) / (double)stage->of->steps);
	if (measured)
		doc_real_if(d, "measured_ms", 3, s->measured.kernel_ns, (double)s->measured.kernel_ns / 1e6);
	doc_real_if(d, "mJ", 2, s->energy, mj(s->uj));
	doc_real(d, "DRAM_MB", 1, (double)bytes(&s->figures) / 1e6);
	doc_text(d, "held by", total ? held : "");
}

static void held_row(struct doc *d, const void *of, size_t k)
{
	const struct staged *x = of;

	if (!x->all.stall_ps[k] && !d->heads)
		return;
	doc_text(d, "held by, ms", res_name((enum res)k));
	for (size_t i = 0; i < x->request.n; i++)
		doc_real(d, x->request.v[i].name, 3, ms((double)x->stage[i].sum.stall_ps[k]));
	doc_real(d, "all", 3, ms((double)x->all.stall_ps[k]));
}

static double energy_of(const struct staged_sum *s, const struct energy_row *row)
{
	for (size_t i = 0; i < s->n_energy; i++)
		if (s->energy[i].row == row)
			return s->energy[i].uj;
	return 0;
}

static void energy_row(struct doc *d, const void *of, size_t k)
{
	const struct staged *x = of;
	const struct staged_energy *e = &x->all.energy[k];

	if (!d->heads && e->uj <= 0)
		return;
	doc_text(d, "energy, mJ", e->row->block);
	doc_text(d, "of", e->row->name);
	for (size_t i = 0; i < x->request.n; i++)
		doc_real(d, x->request.v[i].name, 3, mj(energy_of(&x->stage[i].sum, e->row)));
	doc_real(d, "all", 3, mj(e->uj));
}

static void all_tables(struct doc *d, const struct staged *x)
{
	doc_table(d, NULL, NULL, RES_COUNT, held_row, x);
	doc_say(d, "\n");
	if (x->all.energy) {
		doc_table(d, NULL, NULL, x->all.n_energy, energy_row, x);
		doc_say(d, "\n");
	}
	doc_table_open(d, NULL, "steps that ran, and for how many each stands");
	for (size_t i = 0; i < x->request.n; i++)
		for (const struct staged_point *p = x->stage[i].points; p; p = p->next)
			doc_row(d, point_row, &(struct point){ x->request.v[i].name, p }, 0);
	doc_table_close(d, NULL, NULL);
	doc_say(d, "\n");
}

static void for_people(struct doc *d, const struct staged *x, const struct staged_view *v)
{
	first_lines(d, x, v);
	facts(d, x);
	doc_table(d, NULL, NULL, x->request.n + 1, brief_row, x);
	doc_say(d, "\n");
	if (v->whole)
		all_tables(d, x);
	if (v->results_path && x->stored)
		doc_say(d, "%s run %" PRId64 " in %s\n", x->stored_again ? "already stored as" : "stored as", x->stored,
		        v->results_path);
	if (!v->whole)
		doc_say(d, "--all prints the rest: what held each stage, its energy, the steps that ran\n");
}

void staged_doc(struct doc *d, const struct staged *x, const struct staged_view *v)
{
	if (d->format == OUT_JSON)
		members(d, x, v);
	else if (d->format == OUT_CSV)
		doc_table(d, "stages", NULL, x->request.n, stage_row, x);
	else
		for_people(d, x, v);
}
