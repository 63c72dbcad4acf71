#include "sim/report/staged.h"

#include <math.h>
#include <string.h>

/* --- sums --------------------------------------------------------------------------------------------------------- */

/* What the runs share stays; what differs among them the whole has none of, but what the last leaves behind. */
static uint64_t level(const struct figure *f, const struct staged_sum *to, uint64_t had, uint64_t x)
{
	return !to->runs || f->at == offsetof(struct figures, dirty_bytes) ? x : had == x ? x : 0;
}

#define MOST ((uint64_t)INT64_MAX) /* of what a results file keeps */

/* What is more than can be counted: 0 of an energy, for which that is not known; of all else there are too many steps. */
static int add_figures(struct staged_sum *to, const struct figures *x, uint64_t times, struct err *e)
{
	for (const struct figure *f = figure_table; f->help; f++) {
		uint64_t had, n;

		if (f->kept == FIGURE_MADE)
			continue;
		had = figure_number(f, &to->figures);
		n = figure_number(f, x);
		if (f->level) {
			figure_set(f, &to->figures, level(f, to, had, n));
		} else if (n <= (MOST - had) / times) {
			figure_set(f, &to->figures, had + n * times);
		} else if (strcmp(f->raw, "fJ") == 0) {
			to->beyond = true;
		} else {
			return err_set(e, ERR_USAGE, "%s of so many steps are more than can be counted", f->member);
		}
	}
	return 0;
}

/* Joules are added up as numbers, too; what was not counted to its end counts for nothing. */
static void drop_beyond(struct staged_sum *s)
{
	for (const struct figure *f = figure_table; s->beyond && f->help; f++)
		if (f->kept != FIGURE_MADE && strcmp(f->raw, "fJ") == 0)
			figure_set(f, &s->figures, 0);
	for (size_t i = 0; s->beyond && i < s->n_energy; i++)
		s->energy[i].fj = 0;
}

/* Nothing was measured of the whole where it was not of a part, or is more than can be counted. */
static void add_measured(struct staged_sum *to, const struct staged_sum *x, uint64_t times)
{
	const bool wall = (!to->runs || to->measured.wall_ns >= 0) && x->measured.wall_ns >= 0;

	to->unmeasured |= x->unmeasured || x->measured.measured_ns > (MOST - to->measured.measured_ns) / times ||
	                  (wall && (uint64_t)x->measured.wall_ns > (MOST - (uint64_t)to->measured.wall_ns) / times);
	if (to->unmeasured) {
		to->measured = (struct figure_measured){ .wall_ns = -1 };
		return;
	}
	to->measured.kernel_ns += x->measured.kernel_ns * times;
	to->measured.measured_ns += x->measured.measured_ns * times;
	to->measured.modelled_ns += x->measured.modelled_ns * times;
	to->measured.wall_ns = wall ? to->measured.wall_ns + x->measured.wall_ns * (int64_t)times : -1;
}

static int add_energy(struct staged_sum *to, const struct staged_sum *x, uint64_t times, struct arena *a, struct err *e)
{
	struct staged_energy *v;
	size_t n = to->n_energy;

	if (!x->energy)
		return 0;
	if (!(v = arena_array(a, n + x->n_energy, sizeof *v)))
		return err_nomem(e, "for a request");
	if (n)
		memcpy(v, to->energy, n * sizeof *v);
	for (size_t i = 0; i < x->n_energy; i++) {
		size_t k = 0;

		while (k < n && v[k].row != x->energy[i].row)
			k++;
		if (k == n)
			v[n++] = (struct staged_energy){ x->energy[i].row, 0, 0 };
		v[k].fj += x->energy[i].fj * times; /* wraps where the whole is beyond, which drops it */
		v[k].uj += x->energy[i].uj * (double)times;
	}
	to->energy = v;
	to->n_energy = n;
	to->uj += x->uj * (double)times;
	return 0;
}

static int staged_add(struct staged_sum *to, const struct staged_sum *x, uint64_t times, struct arena *a, struct err *e)
{
	to->beyond |= x->beyond;
	if (add_figures(to, &x->figures, times, e) < 0 || add_energy(to, x, times, a, e) < 0)
		return -1;
	drop_beyond(to);
	add_measured(to, x, times);
	for (int k = 0; k < RES_COUNT; k++) {
		to->stall_ps[k] += x->stall_ps[k] * times;
		to->floor_ps[k] += x->floor_ps[k] * times;
		to->peak_ps[k] += x->peak_ps[k] * times;
	}
	to->interval = x->interval && (to->interval || !to->runs);
	to->low_ps += x->low_ps * (double)times;
	to->high_ps += x->high_ps * (double)times;
	to->from = x->from;
	to->runs += x->runs;
	to->steps += x->steps * times;
	return 0;
}

/* Of one run. */
static int sum_of(const struct eval *x, struct arena *a, struct staged_sum *out, struct err *e)
{
	const struct run_result *r = &x->result;
	const struct verdict *v = x->report.verdict;
	struct staged_sum s = { .figures = r->figures,
		                .unmeasured = run_unmeasured(&x->report),
		                .runs = 1,
		                .steps = 1,
		                .interval = v && v->interval };
	struct run_sum kinds[OP_KINDS], all;

	run_sum_ops(&x->report, kinds, &all);
	s.measured = s.unmeasured ? (struct figure_measured){ .wall_ns = -1 } : run_measured(&x->report, &all);
	memcpy(s.stall_ps, r->stall_ps, sizeof s.stall_ps);
	memcpy(s.floor_ps, r->floor_ps, sizeof s.floor_ps);
	memcpy(s.peak_ps, r->peak_ps, sizeof s.peak_ps);
	if (s.interval) {
		s.low_ps = (double)r->total_ps * v->time.low;
		s.high_ps = (double)r->total_ps * v->time.high;
		s.from = v->from;
	}
	if (r->energy && !(s.energy = arena_array(a, r->n_energy + 1, sizeof *s.energy)))
		return err_nomem(e, "for a request");
	for (size_t i = 0; r->energy && i < r->n_energy; i++)
		s.energy[s.n_energy++] =
			(struct staged_energy){ r->energy[i].row, r->energy[i].fj, (double)r->energy[i].fj / 1e9 };
	s.uj = (double)r->energy_fj / 1e9;
	*out = s;
	return 0;
}

/* --- a stage ------------------------------------------------------------------------------------------------------ */

static struct staged_point *point_at(const struct staged_stage *s, uint64_t step)
{
	struct staged_point *p = s->points;

	while (p && p->step != step)
		p = p->next;
	return p;
}

static int run_point(const struct staged_job *j, struct staged_stage *s, struct staged_point *p, struct arena *a,
                     struct err *e)
{
	const struct workload_spec spec = request_step(s->of, p->step);
	const struct eval_job job = { NULL, j->conf, &p->w, j->how };

	if (j->read(&spec, &j->conf->cfg, &p->w, e) < 0 || eval_check_work(j->conf, &p->w, e) < 0 ||
	    eval_check_opaque(&p->w, j->allow_opaque, e) < 0 || eval_run(&job, a, &p->x, e) < 0)
		return -1;
	if (!s->baseline)
		s->baseline = baseline_new(machine_base_source(j->machines),
		                           p->w.source == WORKLOAD_MODEL ? NULL : &p->w.in.trace);
	eval_verdict(&job, s->baseline, a, &p->x);
	return 0;
}

/* A model's first step and its last, which may be no step that is run: before any stage is. */
static int check_stage(const struct staged_job *j, const struct request_stage *of, struct err *e)
{
	const struct workload_reader by = { .source = machine_base_source(j->machines), .machine = &j->conf->cfg };
	int rc = eval_check(j->conf, j->config, &of->spec, e);

	for (int end = 0; end < 2 && rc == 0; end++) {
		const struct workload_spec step = request_step(of, end ? of->steps - 1 : 0);
		struct workload w = { .model = NULL };

		if ((rc = workload_check(&step, WORKLOAD_RUN, e)) < 0 || workload_source(&step) != WORKLOAD_MODEL)
			continue;
		rc = workload_describe(&step, &by, &w, e) < 0 ? -1 : build_check(w.model, &w.how, e);
		workload_free(&w);
	}
	return rc;
}

/* Runs what of the blocks was not run yet. */
static int run_blocks(const struct staged_job *j, struct staged_stage *s, const struct request_block *b, size_t n,
                      struct arena *a, struct err *e)
{
	struct staged_point **at = &s->points;

	for (size_t i = 0; i < n; i++) {
		struct staged_point *p = point_at(s, b[i].at);

		if (!p) {
			if (!(p = arena_alloc(a, sizeof *p)))
				return err_nomem(e, "for a request");
			*p = (struct staged_point){ .step = b[i].at, .next = *at };
			*at = p;
			if (run_point(j, s, p, a, e) < 0)
				return -1;
		}
		p->steps = b[i].n;
		at = &p->next;
	}
	return 0;
}

static int add_points(struct staged_stage *s, struct arena *a, struct err *e)
{
	s->sum = (struct staged_sum){ .runs = 0 };
	for (const struct staged_point *p = s->points; p; p = p->next) {
		struct staged_sum one;

		if (sum_of(&p->x, a, &one, e) < 0 || staged_add(&s->sum, &one, p->steps, a, e) < 0)
			return -1;
	}
	return 0;
}

static bool near_enough(struct staged_stage *s, ps_t was)
{
	const ps_t is = s->sum.figures.total_ps, by = is > was ? is - was : was - is;

	s->finer = is ? (double)by / (double)is : 0;
	return by <= is / REQUEST_NEAR;
}

static int run_stage(const struct staged_job *j, struct staged_stage *s, struct arena *a, struct err *e)
{
	struct request_block b[REQUEST_BLOCKS];
	size_t had = 0;

	for (unsigned cuts = 0; cuts <= REQUEST_CUTS; cuts++) {
		const size_t n = request_blocks(s->of, cuts, b);
		const ps_t was = s->sum.figures.total_ps;

		if (n == had)
			return 0;
		if (run_blocks(j, s, b, n, a, e) < 0 || add_points(s, a, e) < 0)
			return -1;
		if (had && near_enough(s, was))
			return 0;
		had = n;
	}
	return 0;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* As the prompt's attention says. */
static uint64_t sequences(const struct op_stream *s)
{
	for (size_t i = 0; i < s->n_ops; i++)
		if (s->ops[i].kind == OP_ATTENTION)
			return s->ops[i].shape.batch;
	return 1;
}

/* A prompt goes on in the next stage that is no picture, where that is one, too. */
static bool ends_prompt(const struct request *r, size_t i)
{
	if (r->v[i].phase != BUILD_PREFILL)
		return false;
	do
		i++;
	while (i < r->n && r->v[i].phase == BUILD_VISION);
	return i == r->n || r->v[i].phase == BUILD_DECODE;
}

static void count_tokens(struct staged *x, size_t i)
{
	struct staged_stage *s = &x->stage[i];
	const struct workload_part part = workload_part(&s->points->w);

	x->part |= workload_is_part(&part);
	if (s->of->phase == BUILD_DECODE) {
		s->tokens = s->sum.figures.tokens;
		x->decoded += s->tokens;
		x->decode_ps += s->sum.figures.total_ps;
	} else if (ends_prompt(&x->request, i)) {
		s->tokens = sequences(&s->points->w.stream);
		x->first_ps = x->first_ps ? x->first_ps : s->until_ps;
	}
	x->tokens += s->tokens;
}

/* What a results file keeps beside sums; of one run it has it already. */
static void keep(struct staged *x)
{
	struct figures *f = &x->all.figures;
	struct verdict v = { .tokens = x->tokens,
		             .steps = 1,
		             .part = { f->part_layers, f->part_of_layers, f->part_experts, f->part_of_experts },
		             .kinds = f->unknown_kernels,
		             .fused_ps = f->fused_ps,
		             .interval = x->all.interval && f->total_ps,
		             .from = x->all.from,
		             .fused_range = { 1, 1 } };

	if (x->all.steps == 1)
		return;
	if (v.interval)
		v.time = (struct interval_range){ x->all.low_ps / (double)f->total_ps,
			                          x->all.high_ps / (double)f->total_ps };
	run_verdict_keep(&v, f);
}

int staged_run(const struct staged_job *j, struct arena *a, struct staged *x, struct err *e)
{
	struct run_memo *memo = run_memo_new_from(machine_base_source(j->machines), e);
	struct staged_job mine = *j;
	int rc = memo ? 0 : -1;

	mine.how.memo = memo;
	for (size_t i = 0; i < x->request.n && rc == 0; i++)
		if (check_stage(j, &x->request.v[i], e) < 0)
			rc = err_add(e, "reading stage '%s'", x->request.v[i].name);
	for (size_t i = 0; i < x->request.n && rc == 0; i++) {
		struct staged_stage *s = &x->stage[i];
		struct str text = STR_INIT;

		s->of = &x->request.v[i];
		request_text(s->of, &text);
		s->what = text.failed ? NULL : arena_strdup(a, str_c(&text));
		str_free(&text);
		if (!s->what)
			rc = err_nomem(e, "for a request");
		else if (run_stage(&mine, s, a, e) < 0 || staged_add(&x->all, &s->sum, 1, a, e) < 0)
			rc = err_add(e, "running stage '%s'", s->of->name);
		if (rc < 0)
			break;
		s->range = s->points->w.in.trace.range;
		s->until_ps = x->all.figures.total_ps;
		count_tokens(x, i);
	}
	if (rc == 0)
		keep(x);
	run_memo_free(memo);
	return rc;
}

void staged_free(struct staged *x)
{
	for (size_t i = 0; i < x->request.n; i++) {
		for (struct staged_point *p = x->stage[i].points; p; p = p->next)
			workload_free(&p->w);
		baseline_free(x->stage[i].baseline);
	}
}
