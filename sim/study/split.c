#include "sim/study/split.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/engine/run_memo.h"

int split_build(void *machine, const struct workload_spec *w, struct arena *a, struct op_stream *out, struct err *e)
{
	const struct workload model = { .source = WORKLOAD_MODEL };

	return workload_again(&model, w, &(struct workload_reader){ &path_source, machine, NULL, NULL, NULL }, a, out,
	                      e);
}

enum { TP, PP, DP, EP, COUNTS };

static const enum workload_key keys[COUNTS] = { WORKLOAD_KEY_TP, WORKLOAD_KEY_PP, WORKLOAD_KEY_DP, WORKLOAD_KEY_EP };

static const char **text_of(struct workload_spec *s, int i)
{
	return workload_place(s, keys[i]);
}

static bool is_open(const struct workload_spec *s, int i)
{
	struct workload_spec copy = *s;
	const char *text = *text_of(&copy, i);

	return text && strcmp(text, WORKLOAD_AUTO) == 0;
}

bool split_asked(const struct workload_spec *s)
{
	for (int i = 0; i < COUNTS; i++)
		if (is_open(s, i))
			return true;
	return false;
}

struct workload_spec split_without(const struct workload_spec *s)
{
	struct workload_spec x = *s;

	for (int i = 0; i < COUNTS; i++)
		if (is_open(s, i))
			*text_of(&x, i) = NULL;
	return x;
}

/* What is tried, and what was best. */
struct search {
	struct workload_spec spec;
	const struct machine_conf *c;
	struct run_opts how;
	split_build_fn *build;
	void *arg;
	struct run_memo *memo;
	struct arena *a; /* of texts */
	bool open[COUNTS];
	uint32_t n[COUNTS], best[COUNTS], chips, tried;
	ps_t took;
	struct err last;
};

static void run_one(struct search *x)
{
	struct arena *a = arena_new(0);
	struct err e = ERR_INIT;
	struct op_stream s;
	struct run_result r;
	const uint32_t chips = x->n[TP] * x->n[PP] * x->n[DP], was = x->best[TP] * x->best[PP] * x->best[DP];

	if (!a)
		err_nomem(&e, "for a split");
	run_memo_forget(x->memo);
	if (a && x->build(x->arg, &x->spec, a, &s, &e) == 0 && run_stream(&s, x->c, &x->how, a, &r, &e) == 0) {
		x->tried++;
		if (!was || r.total_ps < x->took || (r.total_ps == x->took && chips < was)) {
			memcpy(x->best, x->n, sizeof x->best);
			x->took = r.total_ps;
		}
	}
	if (e.kind)
		x->last = e;
	arena_free(a);
}

static void try_experts(struct search *x, uint32_t ep)
{
	x->n[EP] = ep;
	for (int i = 0; i < COUNTS; i++)
		if (x->open[i])
			*text_of(&x->spec, i) = arena_printf(x->a, "%u", x->n[i]);
	run_one(x);
}

/* Experts cut like an MLP, whole on the chips of a replica, and on those of all. */
static void with_experts(struct search *x)
{
	const uint32_t all = x->n[TP] * x->n[DP];

	if (!x->open[EP]) {
		try_experts(x, x->n[EP]);
		return;
	}
	try_experts(x, 1);
	if (all > 1)
		try_experts(x, all);
}

static void each(struct search *x, int i, uint32_t left, bool all)
{
	if (i == EP) {
		if (!all || left == 1)
			with_experts(x);
		return;
	}
	if (!x->open[i]) {
		each(x, i + 1, left, all);
		return;
	}
	for (uint32_t n = 1; n <= left; n++)
		if (left % n == 0) {
			x->n[i] = n;
			each(x, i + 1, left / n, all);
		}
}

/* Chips that are left for what is open; 0: there are none. */
static uint32_t chips_left(const struct search *x)
{
	uint64_t given = 1;

	for (int i = TP; i <= DP; i++)
		given *= x->open[i] ? 1 : x->n[i];
	return given && x->chips % given == 0 ? (uint32_t)(x->chips / given) : 0;
}

static void read_given(struct search *x, const struct workload_spec *s)
{
	for (int i = 0; i < COUNTS; i++) {
		const char *text = *text_of(&x->spec, i);

		x->open[i] = is_open(s, i);
		x->n[i] = text && !x->open[i] ? (uint32_t)strtoul(text, NULL, 10) : 1;
	}
}

static int answer(const struct search *x, struct workload_spec *s, struct err *e)
{
	if (!x->best[TP]) {
		*e = x->last;
		return err_add(e, "splitting over the %u chips of '%s' ('auto'; nothing else could run)", x->chips,
		               x->c->cfg.name);
	}
	for (int i = 0; i < COUNTS; i++)
		if (x->open[i] && !(*text_of(s, i) = arena_printf(x->a, "%u", x->best[i])))
			return err_nomem(e, "for a split");
	return 0;
}

int split_best(struct workload_spec *s, const struct machine_conf *c, const struct run_opts *how, split_build_fn *build,
               void *arg, struct arena *a, uint32_t *tried, struct err *e)
{
	struct search x = { .spec = *s, .c = c, .how = *how, .build = build, .arg = arg, .a = a };
	uint32_t left;
	int rc;

	read_given(&x, s);
	x.chips = c->cfg.links.chips;
	if (!x.chips)
		return err_set(
			e, ERR_USAGE,
			"over how many chips is 'auto'? --set links.chips=8 says it, or a system of configs/system");
	if (!(left = chips_left(&x)))
		return err_set(e, ERR_USAGE, "%u x %u x %u chips are given, which do not divide the system's %u",
		               x.n[TP], x.n[PP], x.n[DP], x.chips);
	if (!(x.memo = run_memo_new_from(c->source, e)))
		return -1;
	x.how.fidelity = RUN_ANALYTIC;
	x.how.memo = x.memo;
	x.how.watch = NULL;
	each(&x, TP, left, x.open[TP] + x.open[PP] + x.open[DP] > 1);
	run_memo_free(x.memo);
	rc = answer(&x, s, e);
	*tried = x.tried;
	return rc;
}

int split_settle(struct workload_spec *s, const struct machine_conf *c, const struct run_opts *how, struct arena *a,
                 uint32_t *tried, struct err *e)
{
	struct machine_cfg machine = c->cfg;

	return split_asked(s) ? split_best(s, c, how, split_build, &machine, a, tried, e) : 0;
}
