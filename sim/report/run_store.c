/* run_store.c - a run as the results database keeps it. */
#include "sim/report/run.h"

#include <math.h>

#include "sim/base/version.h"
#include "sim/report/run_verdict.h"
#include "workloads/work.h"

int run_workload(const struct op_stream *s, const struct trace *t, uint64_t rules_hash, struct arena *a,
                 struct res_workload *w, struct err *e)
{
	struct res_work_op *ops = arena_array(a, s->n_ops ? s->n_ops : 1, sizeof *ops);

	if (!ops)
		return err_nomem(e, "to store the run");
	*w = (struct res_workload){ s->source,      t->digest,    t->range,   rules_hash, s->kernel_ns,
		                    s->measured_ns, s->opaque_ns, s->wall_ns, s->n_ops,   ops };
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];
		const struct work work = work_of(s, o);

		ops[i] = (struct res_work_op){ o->name,
			                       op_kind_name(o->kind),
			                       o->family,
			                       o->rule,
			                       o->layer,
			                       o->n_launches,
			                       o->n_launches ? s->launches[o->first_launch].trace_id : -1,
			                       o->measured_ns,
			                       work.read_bytes,
			                       work.write_bytes,
			                       work.flops };
	}
	return 0;
}

static int convert_ops(const struct run_result *x, struct arena *a, struct res_run *run, struct err *e)
{
	const size_t n = x->stream->n_ops;
	struct res_op *ops = arena_array(a, n ? n : 1, sizeof *ops);
	struct res_stall *stalls;
	size_t used = 0;

	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < RES_COUNT && !x->ops[i].carried; k++)
			used += x->ops[i].stall_ppm[k] != 0;
	stalls = arena_array(a, used ? used : 1, sizeof *stalls);
	if (!ops || !stalls)
		return err_nomem(e, "to store the run");
	for (size_t i = 0; i < n; i++) {
		const struct run_op *o = &x->ops[i];

		ops[i].carried = o->carried;
		if (o->carried)
			continue;
		ops[i] = (struct res_op){ .known = run_op_known(x, o),
			                  .figures = o->figures,
			                  .bound = res_name(o->bound),
			                  .stalls = stalls };
		for (int k = 0; k < RES_COUNT; k++)
			if (o->stall_ppm[k]) {
				*stalls++ = (struct res_stall){ res_name((enum res)k), o->stall_ppm[k] };
				ops[i].n_stalls++;
			}
	}
	run->ops = ops;
	run->n_ops = n;
	return 0;
}

int run_stored_resources(const ps_t *stall, const ps_t *peak, struct arena *a, struct res_run *run, struct err *e)
{
	struct res_resource *res = arena_array(a, RES_COUNT, sizeof *res);

	if (!res)
		return err_nomem(e, "to store the run");
	for (int k = 0; k < RES_COUNT; k++)
		res[k] = (struct res_resource){ res_name((enum res)k), stall[k], peak[k] };
	run->resources = res;
	run->n_resources = RES_COUNT;
	return 0;
}

static int convert_stats(const struct run_result *x, struct arena *a, struct res_run *run, struct err *e)
{
	struct res_stat *stats = arena_array(a, x->n_stats ? x->n_stats : 1, sizeof *stats);

	if (!stats)
		return err_nomem(e, "to store the run");
	for (size_t i = 0; i < x->n_stats; i++)
		stats[i] =
			(struct res_stat){ x->stats[i].name, x->stats[i].unit, x->stats[i].value, x->stats[i].level };
	run->stats = stats;
	run->n_stats = x->n_stats;
	return 0;
}

static int convert_warnings(const struct diag_list *l, struct arena *a, struct res_run *run, struct err *e)
{
	struct res_warning *v = arena_array(a, l->n + 1, sizeof *v);

	if (!v)
		return err_nomem(e, "to store the run");
	for (size_t i = 0; i < l->n; i++)
		v[i] = (struct res_warning){ l->v[i].what, l->v[i].text };
	run->warnings = v;
	run->n_warnings = l->n;
	return 0;
}

/* Parts that took nothing are left out. */
static int convert_energy(const struct run_result *x, struct arena *a, struct res_run *run, struct err *e)
{
	struct res_energy *v = arena_array(a, x->n_energy + 1, sizeof *v);

	if (!v)
		return err_nomem(e, "to store the run");
	for (size_t i = 0; i < x->n_energy; i++)
		if (x->energy[i].fj)
			v[run->n_energy++] =
				(struct res_energy){ x->energy[i].row->block, x->energy[i].row->name, x->energy[i].fj };
	run->energy = v;
	return 0;
}

static struct res_next next_of(const char *kind, const struct marginal *b)
{
	return (struct res_next){ .kind = kind,
		                  .key = b->key,
		                  .now = b->now,
		                  .then = b->then,
		                  .saves = b->key ? b->saves : NAN,
		                  .low = b->has_range ? b->low : NAN,
		                  .high = b->has_range ? b->high : NAN,
		                  .mm2 = b->has_mm2 ? b->mm2 : NAN,
		                  .watts = b->has_watts ? b->watts : NAN,
		                  .beyond = b->beyond[0] ? b->beyond : NULL };
}

/* What to buy next, and what was asked of the workload. */
static int convert_late(const struct run_report *r, struct arena *a, struct res_run *run, struct err *e)
{
	struct res_next *v = arena_array(a, 2, sizeof *v);
	struct str asked = STR_INIT, given = STR_INIT;

	for (int k = 0; r->spec && k < WORKLOAD_KEYS; k++) {
		const size_t before = asked.len;

		workload_row_text(r->spec, (enum workload_key)k, &asked);
		if (asked.len > before)
			str_addc(&asked, '\n');
	}
	cfg_dump_given(r->conf->raw, &given);
	run->asked = asked.len && !asked.failed ? arena_strdup(a, str_c(&asked)) : NULL;
	run->given = given.failed ? NULL : arena_strdup(a, str_c(&given));
	str_free(&given);
	if (!v || asked.failed || (asked.len && !run->asked) || !run->given) {
		str_free(&asked);
		return err_nomem(e, "to store the run");
	}
	str_free(&asked);
	if (!r->verdict || !r->verdict->buys)
		return 0;
	v[run->n_next++] = next_of("amount", &r->verdict->buy.amount);
	if (r->verdict->buy.choice.key)
		v[run->n_next++] = next_of("choice", &r->verdict->buy.choice);
	run->next = v;
	return 0;
}

int run_stored(const struct run_report *r, uint64_t host_ns, struct arena *a, struct res_workload *w,
               struct res_run *run, struct err *e)
{
	const struct run_result *x = r->result;
	struct str text = STR_INIT;

	*run = (struct res_run){
		.config_name = r->conf->cfg.name,
		.config_path = r->conf->path,
		.build = npusim_build_id(),
		.start = run_start_name(r->start),
		.fidelity = x->engine->fidelity,
		.config_hash = x->config_hash,
		.seed = r->seed,
		.reuse_ppm = x->reuse_ppm,
		.host_ns = host_ns,
		.figures = x->figures,
		.roofline_bound = res_name(x->roofline_bound),
	};
	cfg_dump(r->conf->raw, &text);
	run->config_text = text.failed ? NULL : arena_strdup(a, str_c(&text));
	str_free(&text);
	if (!run->config_text)
		return err_nomem(e, "to store the run");
	if (run_workload(r->stream, r->trace, r->rules_hash, a, w, e) < 0 || convert_ops(x, a, run, e) < 0 ||
	    run_stored_resources(x->stall_ps, x->peak_ps, a, run, e) < 0 || convert_stats(x, a, run, e) < 0 ||
	    convert_warnings(r->diags, a, run, e) < 0)
		return -1;
	return convert_energy(x, a, run, e) < 0 ? -1 : convert_late(r, a, run, e);
}

int run_store(struct run_report *r, struct resdb *db, uint64_t host_ns, struct arena *a, struct err *e)
{
	struct res_workload w;
	struct res_run run;

	if (run_stored(r, host_ns, a, &w, &run, e) == 0 &&
	    res_put_run(db, &w, &run, &r->stored, &r->stored_again, e) == 0)
		return 0;
	r->stored = 0;
	return -1;
}
