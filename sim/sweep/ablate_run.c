/* ablate_run.c - the runs of an ablation on one workload, side by side, and what they say of each change. */
#include <stdlib.h>
#include <string.h>

#include "sim/sweep/ablate.h"
#include "sim/sweep/limits_int.h"

#define NOTICED 0.005 /* of the base's time, or energy: less than that nobody would notice */
#define SPARED  0.01  /* of it: a part that costs no more than this to be without is not missed */
#define WORTH   0.02  /* of it: a wait that changed by less is no reason */

/* --- which runs ---------------------------------------------------------------------------------------------------- */

/* Where the workload is for some changes alone, it is for those that name it. */
static bool asked(const struct ablation *x, size_t workload, size_t change)
{
	const struct ablate_change *c = &x->changes[change];

	return !c->not_modelled && (!x->workloads[workload].only || c->pays == (int)workload);
}

static bool whole(const struct ablation *x, size_t workload)
{
	return !x->workloads[workload].only && x->n_run > 1;
}

/* Whether there is a run of all the others. */
static bool in_whole(const struct ablation *x, size_t workload, size_t change)
{
	return whole(x, workload) && !x->changes[change].apart;
}

size_t ablate_runs(const struct ablation *x, size_t workload)
{
	size_t n = 1 + whole(x, workload);

	for (size_t i = 0; i < x->n_changes; i++)
		n += asked(x, workload, i) * (size_t)(1 + in_whole(x, workload, i));
	return n;
}

struct plan {
	const struct ablation *x;
	struct arena *a;
	struct limits_rows rows;
	struct ablate_run **to; /* where each row's answer goes */
	struct err *e;
};

/* A row of the changes [from, to) without `but`; of several without those that stand apart. */
static int add(struct plan *p, size_t from, size_t to, size_t but, struct ablate_run *answer)
{
	struct limits_row *row = limits_rows_add(&p->rows);
	size_t n = 0;
	const char **sets;

	for (size_t i = from; i < to; i++)
		n += p->x->changes[i].n_sets;
	if (!row || !(sets = arena_array(p->a, n + 1, sizeof *sets)))
		return err_nomem(p->e, "for an ablation");
	for (size_t i = from; i < to; i++)
		for (size_t k = 0;
		     i != but && !(p->x->changes[i].apart && to - from > 1) && k < p->x->changes[i].n_sets; k++)
			sets[row->n_sets++] = p->x->changes[i].sets[k];
	row->sets = sets;
	p->to[p->rows.n - 1] = answer;
	return 0;
}

static int plan(struct plan *p, size_t workload, struct ablate_result *out)
{
	const size_t n = p->x->n_changes, none = n;

	if (add(p, 0, 0, none, &out->base) < 0 || (whole(p->x, workload) && add(p, 0, n, none, &out->all) < 0))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (asked(p->x, workload, i) &&
		    (add(p, i, i + 1, none, &out->alone[i]) < 0 ||
		     (in_whole(p->x, workload, i) && add(p, 0, n, i, &out->without[i]) < 0)))
			return -1;
	return 0;
}

/* --- running ------------------------------------------------------------------------------------------------------- */

static int take(const struct plan *p, const struct limits_seen *seen)
{
	for (size_t i = 0; i < p->rows.n; i++) {
		struct ablate_run *r = p->to[i];

		*r = (struct ablate_run){ .run = true,
			                  .total_ps = seen[i].total_ps,
			                  .dram_bytes = seen[i].dram_bytes,
			                  .energy_fj = seen[i].energy_fj,
			                  .area_nm2 = seen[i].area_nm2 };
		memcpy(r->stall_ps, seen[i].stall_ps, sizeof r->stall_ps);
		if (seen[i].kind && !(r->refused = arena_strdup(p->a, seen[i].why)))
			return err_nomem(p->e, "for an ablation");
	}
	return 0;
}

int ablate_run(const struct ablation *x, size_t workload, const struct op_stream *s, const struct ablate_how *how,
               struct arena *a, struct ablate_result *out, struct err *e)
{
	const size_t runs = ablate_runs(x, workload);
	const struct limits_question q = { .config = x->base,
		                           .sets = x->sets,
		                           .n_sets = (int)x->n_sets,
		                           .stream = s,
		                           .run = { .start = x->start, .seed = how->seed },
		                           .jobs = how->jobs,
		                           .progress = how->progress,
		                           .arg = how->arg };
	const struct limits_job job = { &q, x->machines, how->fidelity, 0, runs };
	const struct limits_row **rows = arena_array(a, runs + 1, sizeof *rows);
	struct limits_seen *seen = calloc(runs + 1, sizeof *seen);
	struct plan p = { .x = x, .a = a, .rows = { .a = a }, .to = arena_array(a, runs + 1, sizeof *p.to), .e = e };
	int rc = -1;

	*out = (struct ablate_result){ .alone = arena_array(a, x->n_changes + 1, sizeof *out->alone),
		                       .without = arena_array(a, x->n_changes + 1, sizeof *out->without) };
	if (!rows || !seen || !p.to || !out->alone || !out->without)
		err_nomem(e, "for an ablation");
	else if (plan(&p, workload, out) == 0) {
		for (size_t i = 0; i < p.rows.n; i++)
			rows[i] = &p.rows.v[i];
		rc = limits_crew_run(&job, rows, p.rows.n, seen, e) < 0 ? -1 : take(&p, seen);
	}
	free(seen);
	if (rc == 0 && out->base.refused)
		return err_set(e, ERR_CONFIG, "the base cannot do workload '%s': %s", x->workloads[workload].name,
		               out->base.refused);
	return rc;
}

/* --- what they say ------------------------------------------------------------------------------------------------- */

static bool ran(const struct ablate_run *r)
{
	return r->run && !r->refused && r->total_ps;
}

double ablate_alone(const struct ablate_result *r, size_t change)
{
	const struct ablate_run *x = &r->alone[change];

	return ran(x) ? 1 - (double)x->total_ps / (double)r->base.total_ps : 0;
}

double ablate_missed(const struct ablate_result *r, size_t change)
{
	const struct ablate_run *x = &r->without[change];

	return ran(x) && ran(&r->all) ? (double)x->total_ps / (double)r->all.total_ps - 1 : 0;
}

static double fewer_joules(const struct ablate_run *than, const struct ablate_run *x)
{
	return ran(x) && ran(than) && than->energy_fj ? 1 - (double)x->energy_fj / (double)than->energy_fj : 0;
}

/* What of a change is claimed: time, or joules. */
static double worth_alone(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	return x->changes[change].expects == ABLATE_LESS_ENERGY ? fewer_joules(&r->base, &r->alone[change])
	                                                        : ablate_alone(r, change);
}

static double worth_missed(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	return x->changes[change].expects == ABLATE_LESS_ENERGY ? -fewer_joules(&r->all, &r->without[change])
	                                                        : ablate_missed(r, change);
}

const char *ablate_expects_name(enum ablate_expects x)
{
	static const char *const names[] = { "faster", "no slower", "less energy" };

	return names[x];
}

enum ablate_verdict ablate_judge(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	const struct ablate_change *c = &x->changes[change];
	const double alone = worth_alone(x, r, change), missed = worth_missed(x, r, change);
	const bool spared = c->expects == ABLATE_NO_SLOWER;

	if (c->not_modelled)
		return ABLATE_NOT_MODELLED;
	if (!r->alone[change].run)
		return ABLATE_NOT_RUN;
	if (r->alone[change].refused)
		return ABLATE_REFUSED;
	if (spared ? alone >= -SPARED : alone > NOTICED)
		return ABLATE_RIGHT;
	if (!spared && missed > NOTICED)
		return ABLATE_TOGETHER;
	return alone < -NOTICED ? ABLATE_WRONG : ABLATE_NOTHING;
}

const char *ablate_verdict_name(enum ablate_verdict v)
{
	static const char *const names[] = { "not modelled", "not run", "cannot be", "right",
		                             "nothing",      "wrong",   "together" };

	return names[v];
}

/* The resource whose wait changed most from `a` to `b`, downwards or upwards; RES_COUNT: none by more than is worth a word. */
static int changed(const struct ablate_run *a, const struct ablate_run *b, bool down)
{
	double most = WORTH * (double)a->total_ps;
	int best = RES_COUNT;

	for (int k = 0; k < RES_COUNT; k++) {
		const double by = (double)a->stall_ps[k] - (double)b->stall_ps[k];

		if ((down ? by : -by) > most) {
			most = down ? by : -by;
			best = k;
		}
	}
	return best;
}

static void waits(const struct ablate_run *a, const struct ablate_run *b, bool down, struct str *out)
{
	const int k = changed(a, b, down);

	if (k < RES_COUNT)
		str_addf(out, ", %s waited for %s (%.4g to %.4g us)", down ? "less" : "more", res_name((enum res)k),
		         (double)a->stall_ps[k] / 1e6, (double)b->stall_ps[k] / 1e6);
}

static void bytes(const struct ablate_run *a, const struct ablate_run *b, struct str *out)
{
	const double by = a->dram_bytes ? 100 * ((double)b->dram_bytes / (double)a->dram_bytes - 1) : 0;

	if (by > 1 || by < -1)
		str_addf(out, ", DRAM bytes %+.0f %%", by);
}

static void joules_why(const struct ablation *x, const struct ablate_result *r, size_t change, struct str *out)
{
	const double alone = worth_alone(x, r, change), missed = worth_missed(x, r, change);

	if (alone > NOTICED || alone < -NOTICED)
		str_addf(out, "%s %.1f %% of the energy (%.4g to %.4g mJ), time %+.1f %%",
		         alone > 0 ? "saves" : "costs", alone > 0 ? 100 * alone : -100 * alone,
		         (double)r->base.energy_fj / 1e12, (double)r->alone[change].energy_fj / 1e12,
		         -100 * ablate_alone(r, change));
	else
		str_add(out, "alone it changes no energy one would notice");
	if (missed > NOTICED || missed < -NOTICED)
		str_addf(out, "; without it all the others take %.1f %% %s energy",
		         missed > 0 ? 100 * missed : -100 * missed, missed > 0 ? "more" : "less");
}

void ablate_why(const struct ablation *x, const struct ablate_result *r, size_t change, struct str *out)
{
	const enum ablate_verdict v = ablate_judge(x, r, change);
	const double alone = ablate_alone(r, change), missed = ablate_missed(r, change);

	if (v == ABLATE_NOT_MODELLED || v == ABLATE_NOT_RUN) {
		str_add(out, v == ABLATE_NOT_RUN ? "not run on this workload" : x->changes[change].not_modelled);
		return;
	}
	if (v == ABLATE_REFUSED) {
		str_add(out, r->alone[change].refused);
		return;
	}
	if (x->changes[change].expects == ABLATE_LESS_ENERGY) {
		joules_why(x, r, change, out);
		return;
	}
	if (alone > NOTICED)
		str_addf(out, "saves %.1f %%", 100 * alone);
	else if (alone < -NOTICED)
		str_addf(out, "costs %.1f %%", -100 * alone);
	else
		str_add(out, "alone it changes nothing one would notice");
	if (alone > NOTICED || alone < -NOTICED) {
		waits(&r->base, &r->alone[change], alone > 0, out);
		bytes(&r->base, &r->alone[change], out);
	}
	if (missed > NOTICED)
		str_addf(out, "; without it all the others take %.1f %% longer", 100 * missed);
	else if (missed < -NOTICED)
		str_addf(out, "; without it all the others are %.1f %% faster", -100 * missed);
}
