/* ablate_verdict_of.c - what the runs of an ablation say of each change. */
#include <string.h>

#include "sim/engine/engine.h"
#include "sim/study/ablate.h"

#define WORTH 0.02 /* of it: a wait that changed by less is no reason */

/* --- figures ------------------------------------------------------------------------------------------------------- */

static bool ran(const struct ablate_run *r)
{
	return r->run && !r->refused && r->total_ps;
}

static double faster(const struct ablate_run *than, const struct ablate_run *x)
{
	return 1 - (double)x->total_ps / (double)than->total_ps;
}

static double slower(const struct ablate_run *than, const struct ablate_run *x)
{
	return (double)x->total_ps / (double)than->total_ps - 1;
}

static double fewer_joules(const struct ablate_run *than, const struct ablate_run *x)
{
	return than->energy_fj ? 1 - (double)x->energy_fj / (double)than->energy_fj : 0;
}

static double more_joules(const struct ablate_run *than, const struct ablate_run *x)
{
	return -fewer_joules(than, x);
}

typedef double of_runs(const struct ablate_run *than, const struct ablate_run *x);

/* Both by the same fidelity: with events where both have them. */
static struct ablate_worth worth(of_runs *of, const struct ablate_run *than, const struct ablate_run *x)
{
	struct ablate_worth w = { .by = x->by };

	if (!ran(than) || !ran(x))
		return w;
	w.known = true;
	w.value = of(than->by != x->by && than->form ? than->form : than, x);
	w.both = than->form && x->form;
	w.form = w.both ? of(than->form, x->form) : 0;
	return w;
}

const struct ablate_run *ablate_ref(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	return x->changes[change].ref < 0 ? &r->base : &r->alone[x->changes[change].ref];
}

struct ablate_worth ablate_alone(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	return worth(faster, ablate_ref(x, r, change), &r->alone[change]);
}

struct ablate_worth ablate_joules(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	return worth(fewer_joules, ablate_ref(x, r, change), &r->alone[change]);
}

struct ablate_worth ablate_exchange(const struct ablate_result *r)
{
	return worth(faster, &r->base, &r->exchange);
}

struct ablate_worth ablate_missed(const struct ablate_result *r, size_t change)
{
	return worth(slower, &r->all, &r->without[change]);
}

/* Shares of each part's time become times, and their sum a share again. */
struct ablate_worth ablate_mix(const struct ablation *x, const struct ablate_result *results, size_t change,
                               bool missed)
{
	struct ablate_worth out = { .known = false, .by = RUN_EVENT };
	double sum = 0, all = 0;

	for (size_t w = 0; w < x->n_workloads; w++) {
		const struct ablate_result *r = &results[w];
		const struct ablate_worth one = missed ? ablate_missed(r, change) : ablate_alone(x, r, change);
		const double time =
			x->workloads[w].weight * (double)(missed ? &r->all : ablate_ref(x, r, change))->total_ps;

		if (!(x->workloads[w].weight > 0))
			continue;
		if (!one.known)
			return (struct ablate_worth){ .known = false };
		out.by = one.by == RUN_ANALYTIC ? RUN_ANALYTIC : out.by;
		sum += time * one.value;
		all += time;
	}
	out.known = all > 0;
	out.value = all > 0 ? sum / all : 0;
	return out;
}

/* --- what they are worth ------------------------------------------------------------------------------------------- */

enum effect { NONE, PAYS, COSTS, UNSURE };

static double ablate_verdict_size_of(double x)
{
	return x < 0 ? -x : x;
}

/* How far the closed form is off events here; 0: one fidelity alone was asked. */
static double spread(const struct ablate_run *r, bool joules)
{
	const struct ablate_run *f = r->form;
	double off;

	if (!f || !ran(r) || !ran(f))
		return 0;
	off = ablate_verdict_size_of(joules ? fewer_joules(r, f) : faster(r, f));
	return off > ABLATE_SPREAD ? off : ABLATE_SPREAD;
}

static enum effect plainly(const struct ablate_change *c, double x)
{
	if (c->expects == ABLATE_NO_SLOWER)
		return x < -ABLATE_SPARED ? COSTS : NONE;
	return x > ABLATE_NOTICED ? PAYS : x < -ABLATE_NOTICED ? COSTS : NONE;
}

/* A key that the closed form takes no notice of: what it says of the change is nothing. */
static bool left_out(const struct ablate_change *c)
{
	for (size_t i = 0; i < c->n_sets; i++)
		if (!engine_form_covers(c->sets[i]))
			return true;
	return false;
}

double ablate_half(const struct ablation *x, const struct ablate_result *r, size_t change, const struct ablate_worth *w)
{
	const double off = spread(&r->base, false);

	if (w->by == RUN_ANALYTIC)
		return off > ABLATE_SPREAD ? off : ABLATE_SPREAD;
	if (!w->both || (change < x->n_changes && left_out(&x->changes[change])))
		return 0;
	return ablate_verdict_size_of(w->value - w->form);
}

static enum effect effect(const struct ablate_change *c, const struct ablate_worth *w, double off)
{
	const enum effect e = plainly(c, w->value);

	if (!w->known || off <= 0)
		return e;
	if (w->by == RUN_ANALYTIC)
		return left_out(c) || ablate_verdict_size_of(w->value) < 2 * off ? UNSURE : e;
	if (left_out(c) || (e == NONE && plainly(c, w->form) == NONE))
		return e;
	return ablate_verdict_size_of(w->value) <= ablate_verdict_size_of(w->value - w->form) ? UNSURE : e;
}

/* What of a change is claimed: time, or joules. */
static bool of_joules(const struct ablation *x, size_t change)
{
	return x->changes[change].expects == ABLATE_LESS_ENERGY;
}

static struct ablate_worth claimed_alone(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	return of_joules(x, change) ? ablate_joules(x, r, change) : ablate_alone(x, r, change);
}

static struct ablate_worth claimed_missed(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	return of_joules(x, change) ? worth(more_joules, &r->all, &r->without[change]) : ablate_missed(r, change);
}

static enum effect effect_alone(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	const struct ablate_worth w = claimed_alone(x, r, change);

	return effect(&x->changes[change], &w, spread(ablate_ref(x, r, change), of_joules(x, change)));
}

static enum effect effect_missed(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	const struct ablate_worth w = claimed_missed(x, r, change);

	return effect(&x->changes[change], &w, spread(&r->all, of_joules(x, change)));
}

bool ablate_unsure_alone(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	return effect_alone(x, r, change) == UNSURE;
}

/* Where it pays alone, or is claimed not to be missed, the others are not asked. */
bool ablate_unsure_missed(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	return x->changes[change].expects != ABLATE_NO_SLOWER && !r->alone[change].refused &&
	       effect_alone(x, r, change) != PAYS && effect_missed(x, r, change) == UNSURE;
}

/* --- verdicts ------------------------------------------------------------------------------------------------------ */

const char *ablate_expects_name(enum ablate_expects x)
{
	static const char *const names[] = { "faster", "no slower", "less energy" };

	return names[x];
}

enum ablate_verdict ablate_verdict_of(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	const struct ablate_change *c = &x->changes[change];
	const bool spared = c->expects == ABLATE_NO_SLOWER;
	enum effect alone, missed;

	if (c->not_modelled)
		return ABLATE_NOT_MODELLED;
	if (!r->alone[change].run)
		return ABLATE_NOT_RUN;
	if (r->alone[change].refused)
		return ABLATE_REFUSED;
	alone = effect_alone(x, r, change);
	missed = spared ? NONE : effect_missed(x, r, change);
	if (alone == PAYS || (spared && alone == NONE))
		return ABLATE_RIGHT;
	if (missed == PAYS)
		return ABLATE_TOGETHER;
	if (alone == UNSURE || missed == UNSURE)
		return ABLATE_WITHIN;
	return alone == COSTS ? ABLATE_WRONG : ABLATE_NOTHING;
}

const char *ablate_verdict_name(enum ablate_verdict v)
{
	static const char *const names[] = { "not modelled", "not run", "cannot be", "right",
		                             "nothing",      "wrong",   "together",  "within error" };

	return names[v];
}

/* --- why ----------------------------------------------------------------------------------------------------------- */

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

static void ablate_verdict_bytes(const struct ablate_run *a, const struct ablate_run *b, struct str *out)
{
	const double by = a->dram_bytes ? 100 * ((double)b->dram_bytes / (double)a->dram_bytes - 1) : 0;

	if (by > 1 || by < -1)
		str_addf(out, ", DRAM bytes %+.0f %%", by);
}

/* What it is measured from, by the same fidelity as the change's run. */
static const struct ablate_run *base_of(const struct ablation *x, const struct ablate_result *r, size_t change)
{
	const struct ablate_run *than = ablate_ref(x, r, change);

	return than->by != r->alone[change].by && than->form ? than->form : than;
}

static bool noticed(double x)
{
	return x > ABLATE_NOTICED || x < -ABLATE_NOTICED;
}

static void joules_alone(const struct ablation *all, const struct ablate_result *r, size_t change, double alone,
                         struct str *out)
{
	const struct ablate_run *x = &r->alone[change], *base = base_of(all, r, change);

	if (noticed(alone))
		str_addf(out, "%s %.1f %% of the energy (%.4g to %.4g mJ), time %+.1f %%",
		         alone > 0 ? "saves" : "costs", 100 * ablate_verdict_size_of(alone),
		         (double)base->energy_fj / 1e12, (double)x->energy_fj / 1e12,
		         -100 * ablate_alone(all, r, change).value);
	else
		str_add(out, "alone it changes no energy one would notice");
}

static void time_alone(const struct ablation *all, const struct ablate_result *r, size_t change, double alone,
                       struct str *out)
{
	const struct ablate_run *x = &r->alone[change], *base = base_of(all, r, change);

	if (!noticed(alone)) {
		str_add(out, "alone it changes nothing one would notice");
		return;
	}
	str_addf(out, "%s %.1f %%", alone > 0 ? "saves" : "costs", 100 * ablate_verdict_size_of(alone));
	waits(base, x, alone > 0, out);
	ablate_verdict_bytes(base, x, out);
}

static void without_it(double missed, bool joules, struct str *out)
{
	if (missed > ABLATE_NOTICED)
		str_addf(out, "; without it all the others take %.1f %% %s", 100 * missed,
		         joules ? "more energy" : "longer");
	else if (missed < -ABLATE_NOTICED && joules)
		str_addf(out, "; without it all the others take %.1f %% less energy", -100 * missed);
	else if (missed < -ABLATE_NOTICED)
		str_addf(out, "; without it all the others are %.1f %% faster", -100 * missed);
}

/* Both figures of what the two fidelities do not agree about. */
static void both_say(const struct ablate_worth *w, const char *more, const char *less, struct str *out)
{
	str_addf(out, "%s %.1f %% with events, %s %.1f %% in closed form", w->value < 0 ? less : more,
	         100 * ablate_verdict_size_of(w->value), w->form < 0 ? less : more,
	         100 * ablate_verdict_size_of(w->form));
}

static void within_why(const struct ablation *x, const struct ablate_result *r, size_t change, struct str *out)
{
	const struct ablate_worth alone = claimed_alone(x, r, change), missed = claimed_missed(x, r, change);

	if (effect_alone(x, r, change) == UNSURE)
		both_say(&alone, "saves", "costs", out);
	else
		str_addf(out, "%s %.1f %%", alone.value < 0 ? "costs" : "saves",
		         100 * ablate_verdict_size_of(alone.value));
	str_add(out, of_joules(x, change) ? " of the energy" : "");
	if (effect_missed(x, r, change) == UNSURE && missed.both) {
		str_add(out, "; to all the others it ");
		both_say(&missed, "saves", "costs", out);
	}
}

void ablate_why(const struct ablation *x, const struct ablate_result *r, size_t change, struct str *out)
{
	const enum ablate_verdict v = ablate_verdict_of(x, r, change);
	const bool joules = of_joules(x, change);
	struct ablate_worth alone;

	if (v == ABLATE_NOT_MODELLED || v == ABLATE_NOT_RUN) {
		str_add(out, v == ABLATE_NOT_RUN ? "not run on this workload" : x->changes[change].not_modelled);
		return;
	}
	if (v == ABLATE_REFUSED) {
		str_add(out, r->alone[change].refused);
		return;
	}
	if (v == ABLATE_WITHIN) {
		within_why(x, r, change, out);
		return;
	}
	alone = claimed_alone(x, r, change);
	if (effect_alone(x, r, change) == UNSURE)
		both_say(&alone, "alone it saves", "alone it costs", out);
	else
		(joules ? joules_alone : time_alone)(x, r, change, alone.value, out);
	if (effect_missed(x, r, change) != UNSURE)
		without_it(claimed_missed(x, r, change).value, joules, out);
}
