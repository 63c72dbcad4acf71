/* staged_store.c - a request as one run of a results database. */
#include <inttypes.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/report/staged.h"

/* One run as it is kept, and what it counts for. */
struct part {
	const struct staged_stage *stage;
	const struct staged_point *point;
	struct res_workload w;
	struct res_run run;
};

static size_t count_parts(const struct staged *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->request.n; i++)
		for (const struct staged_point *p = x->stage[i].points; p; p = p->next)
			n++;
	return n;
}

static int parts_of(const struct staged *x, uint64_t host_ns, struct part *v, struct arena *a, struct err *e)
{
	for (size_t i = 0; i < x->request.n; i++)
		for (const struct staged_point *p = x->stage[i].points; p; p = p->next) {
			v->stage = &x->stage[i];
			v->point = p;
			if (run_stored(&p->x.report, host_ns, a, &v->w, &v->run, e) < 0)
				return -1;
			v++;
		}
	return 0;
}

/* --- the workload ------------------------------------------------------------------------------------------------- */

static struct res_work_op work_op(const struct part *p, const struct res_work_op *o, struct arena *a)
{
	const uint64_t n = p->point->steps;
	struct res_work_op x = *o;

	x.name = p->stage->points->next
	                 ? arena_printf(a, "%s, step %" PRIu64 ": %s", p->stage->of->name, p->point->step + 1, o->name)
	                 : arena_printf(a, "%s: %s", p->stage->of->name, o->name);
	x.measured_ns *= n;
	x.read_bytes *= n;
	x.write_bytes *= n;
	x.flops *= n;
	return x;
}

static int names(const struct part *v, size_t n, struct arena *a, struct res_workload *w, struct err *e)
{
	uint64_t h = HASH_INIT;
	struct str text = STR_INIT;
	char hex[17];

	for (size_t i = 0; i < n; i++) {
		if (!i || v[i].stage != v[i - 1].stage)
			str_addf(&text, "%s%s: %s", i ? "; " : "", v[i].stage->of->name, v[i].stage->what);
		h = hash_u64(hash_str(h, v[i].w.digest), v[i].point->steps);
		h = hash_str(hash_str(h, v[i].stage->of->name), v[i].w.range ? v[i].w.range : "");
	}
	hash_hex(hash_mix(h), hex);
	w->digest = arena_printf(a, "request:%s", hex);
	w->range = text.failed ? NULL : arena_strdup(a, str_c(&text));
	str_free(&text);
	return w->digest && w->range ? 0 : err_nomem(e, "to store the run");
}

static int workload_sum(const struct part *v, size_t n, const struct figure_measured *m, struct arena *a,
                        struct res_workload *w, struct err *e)
{
	struct res_work_op *ops;
	size_t all = 0;

	*w = (struct res_workload){ .source = v[0].point->x.report.trace->path,
		                    .rules_hash = v[0].w.rules_hash,
		                    .kernel_ns = m->kernel_ns,
		                    .measured_ns = m->measured_ns,
		                    .wall_ns = m->wall_ns };
	for (size_t i = 0; i < n; i++) {
		w->n_ops += v[i].w.n_ops;
		w->opaque_ns += m->measured_ns ? v[i].w.opaque_ns * v[i].point->steps : 0;
	}
	if (!(ops = arena_array(a, w->n_ops ? w->n_ops : 1, sizeof *ops)))
		return err_nomem(e, "to store the run");
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < v[i].w.n_ops; k++)
			if (!(ops[all++] = work_op(&v[i], &v[i].w.ops[k], a)).name)
				return err_nomem(e, "to store the run");
	w->ops = ops;
	return names(v, n, a, w, e);
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

/* An op as often as its step counts, the steps one after the other. */
static struct res_op result_op(const struct res_op *o, uint64_t times, ps_t start)
{
	struct res_op x = *o;

	for (const struct op_figure *f = op_figure_table; f->help; f++)
		if (f->kept != FIGURE_MADE)
			op_figure_set(f, &x.figures, op_figure_number(f, &o->figures) * times);
	x.start_ps += start;
	return x;
}

static int ops_sum(const struct part *v, size_t n, struct arena *a, struct res_run *run, struct err *e)
{
	struct res_op *ops;
	size_t all = 0;
	ps_t start = 0;

	run->n_ops = 0;
	for (size_t i = 0; i < n; i++)
		run->n_ops += v[i].run.n_ops;
	if (!(ops = arena_array(a, run->n_ops ? run->n_ops : 1, sizeof *ops)))
		return err_nomem(e, "to store the run");
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < v[i].run.n_ops; k++)
			ops[all++] = result_op(&v[i].run.ops[k], v[i].point->steps, start);
		start += v[i].run.total_ps * v[i].point->steps;
	}
	run->ops = ops;
	return 0;
}

/* By name; of a state the last. */
static void add_stats(const struct part *p, struct res_stat *s, size_t *n)
{
	for (size_t k = 0; k < p->run.n_stats; k++) {
		const struct res_stat *x = &p->run.stats[k];
		size_t at = k < *n && strcmp(s[k].name, x->name) == 0 ? k : 0;

		while (at < *n && strcmp(s[at].name, x->name) != 0)
			at++;
		if (at == *n)
			s[(*n)++] = (struct res_stat){ x->name, x->unit, 0, x->level };
		s[at].value = x->level ? x->value : s[at].value + x->value * p->point->steps;
	}
}

/* Each text once. */
static void add_warnings(const struct part *p, struct res_warning *w, size_t *n)
{
	for (size_t k = 0; k < p->run.n_warnings; k++) {
		size_t at = 0;

		while (at < *n && strcmp(w[at].text, p->run.warnings[k].text) != 0)
			at++;
		if (at == *n)
			w[(*n)++] = p->run.warnings[k];
	}
}

static int lists_sum(const struct part *v, size_t n, struct arena *a, struct res_run *run, struct err *e)
{
	size_t stats = 1, warnings = 1;
	struct res_warning *w;
	struct res_stat *s;

	for (size_t i = 0; i < n; i++) {
		stats += v[i].run.n_stats;
		warnings += v[i].run.n_warnings;
	}
	s = arena_array(a, stats, sizeof *s);
	w = arena_array(a, warnings, sizeof *w);
	if (!s || !w)
		return err_nomem(e, "to store the run");
	run->stats = s;
	run->warnings = w;
	run->n_stats = run->n_warnings = 0;
	for (size_t i = 0; i < n; i++) {
		add_stats(&v[i], s, &run->n_stats);
		add_warnings(&v[i], w, &run->n_warnings);
	}
	return 0;
}

static int staged_store_sums(const struct staged_sum *s, struct arena *a, struct res_run *run, struct err *e)
{
	struct res_energy *energy = arena_array(a, s->n_energy + 1, sizeof *energy);

	if (!energy)
		return err_nomem(e, "to store the run");
	run->n_energy = 0;
	for (size_t i = 0; i < s->n_energy; i++)
		if (s->energy[i].fj)
			energy[run->n_energy++] =
				(struct res_energy){ s->energy[i].row->block, s->energy[i].row->name, s->energy[i].fj };
	run->energy = energy;
	run->figures = s->figures;
	run->roofline_bound = res_name(run_largest(s->floor_ps));
	return run_stored_resources(s->stall_ps, s->peak_ps, a, run, e);
}

int staged_store(struct staged *x, struct resdb *db, uint64_t host_ns, struct arena *a, struct err *e)
{
	const size_t n = count_parts(x);
	struct part *v = arena_array(a, n, sizeof *v);
	struct res_workload w;
	struct res_run run;

	x->stored = 0;
	if (!v)
		return err_nomem(e, "to store the run");
	if (parts_of(x, host_ns, v, a, e) < 0)
		return -1;
	w = v[0].w;
	run = v[0].run;
	if (x->all.steps > 1 && (workload_sum(v, n, &x->all.measured, a, &w, e) < 0 || ops_sum(v, n, a, &run, e) < 0 ||
	                         lists_sum(v, n, a, &run, e) < 0 || staged_store_sums(&x->all, a, &run, e) < 0))
		return -1;
	return res_put_run(db, &w, &run, &x->stored, &x->stored_again, e);
}
