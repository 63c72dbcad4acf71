#include "sim/sweep/buy.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/engine/analytic.h"
#include "sim/engine/picks.h"
#include "sim/sweep/limits_int.h"

struct asked {
	const struct buy_question *from;
	const struct run_result *x;
	struct arena *a;
};

/* --- a run in closed form ------------------------------------------------------------------------------------------------ */

/* The program as it is, on another machine; 0: it cannot be run there. */
static ps_t held(const struct asked *k, const struct machine_conf *c)
{
	const struct isa_prog *p = &k->x->map->prog;
	struct cp_result *res = arena_array(k->a, p->n_cmds + 1, sizeof *res);
	struct err ignored = ERR_INIT;
	struct analytic *m = NULL;
	struct picks picks;
	struct rng rng;
	ps_t took = 0;

	if (!res || !p->n_cmds || picks_new(&picks, k->from->q.stream, k->a, &ignored) < 0 ||
	    !(m = analytic_new(&c->cfg, p, &ignored)))
		return 0;
	analytic_times_only(m);
	rng_seed(&rng, k->from->q.run.seed, "experts");
	picks_first(&picks, k->from->q.stream, &rng, k->x->reuse_ppm);
	if (k->from->q.run.start != RUN_COLD) {
		analytic_warm(m, (const uint32_t *const *)picks.now);
		picks_next(&picks, k->from->q.stream, &rng, k->x->reuse_ppm);
	}
	if (analytic_step(m, (const uint32_t *const *)picks.now, res, &ignored) == 0)
		took = res[p->n_cmds - 1].retired;
	analytic_free(m);
	return took;
}

/* Another memory or dispatch changes nothing of what a program does. */
static bool keeps_the_program(const char *key)
{
	static const char *const sections[] = { "dram.", "l2.", "kv_buffer.", "noc.", "dispatch." };

	for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
		if (strncmp(key, sections[i], strlen(sections[i])) == 0)
			return true;
	return false;
}

static ps_t try_row(const struct asked *k, const struct limits_row *row)
{
	struct err ignored = ERR_INIT;
	struct machine_conf *c = machine_base_conf(k->from->machines, row->sets, (int)row->n_sets, &ignored);
	const ps_t took = c ? held(k, c) : 0;

	machine_conf_free(c);
	return took;
}

/* --- which to try -------------------------------------------------------------------------------------------------------- */

/* Bytes that a capacity doubled holds more of: no more than these over the pins, or `most`. */
static ps_t capacity_bound(const struct machine_conf *c, const char *key, ps_t most)
{
	static const char *const sizes[] = { "l2.size", "kv_buffer.size" };
	uint64_t peak[RES_COUNT];
	struct err ignored = ERR_INIT;
	size_t i, k = 0;

	while (k < sizeof sizes / sizeof *sizes && strcmp(key, sizes[k]) != 0)
		k++;
	if (k == sizeof sizes / sizeof *sizes || cfg_find(c->raw, key, &i, &ignored) < 0)
		return most;
	machine_peaks(&c->cfg, peak);
	return ps_min(most, clock_transfer(cfg_raw(c->raw, i), peak[RES_DRAM]));
}

static ps_t bound_of(const struct machine_conf *c, const struct limits_row *row, const struct run_result *x)
{
	ps_t waits = 0;

	for (int r = 0; r < RES_COUNT; r++)
		if (row->serves >> r & 1)
			waits += x->stall_ps[r];
	return capacity_bound(c, row->key, waits);
}

/* What doubling a unit, or whatever else the stream would have to be mapped anew for, can save at the most of what is waited for
 * that one thing. */
static ps_t share_of(const struct limits_row *row, const struct run_result *x)
{
	const ps_t waits = row->serves & (row->serves - 1) ? 0 : x->stall_ps[__builtin_ctz(row->serves)];

	return row->step > 0 ? (ps_t)((double)waits * row->step / (1 + row->step)) : 0;
}

/* Two names of one thing, as the channels and the rate of a DRAM. */
static bool same_thing(const struct limits_row *a, const struct limits_row *b)
{
	const size_t n = strcspn(a->key, ".");

	return a->serves == b->serves && a->serves == 1u << RES_DRAM && strncmp(a->key, b->key, n + 1) == 0;
}

struct candidate {
	const struct limits_row *row;
	ps_t bound;
};

static int by_bound(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	if (a->bound != b->bound)
		return a->bound > b->bound ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static size_t candidates(const struct machine_conf *c, const struct limits_rows *rows, const struct run_result *x,
                         struct candidate *v)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		bool again = false;

		for (size_t k = 0; k < n; k++)
			again |= same_thing(v[k].row, &rows->v[i]);
		if (rows->v[i].move == LIMITS_MORE && keeps_the_program(rows->v[i].key) && !again)
			v[n++] = (struct candidate){ &rows->v[i], bound_of(c, &rows->v[i], x) };
	}
	qsort(v, n, sizeof *v, by_bound);
	return n;
}

/* The best of those that keep the program: run on it. */
static ps_t best_run(const struct asked *k, const struct candidate *v, size_t n, struct buy *out)
{
	const ps_t base = held(k, k->from->conf);
	ps_t best = 0;

	for (size_t i = 0; base && i < n && i < BUY_TRIES && v[i].bound > best; i++) {
		const struct limits_row *row = v[i].row;
		const ps_t took = try_row(k, row);

		if (!took || took + best >= base)
			continue;
		best = base - took;
		*out = (struct buy){ row->key, row->now, row->then, (double)best / (double)base, false };
	}
	return best;
}

int buy_best(const struct buy_question *q, const struct run_result *x, struct arena *a, struct buy *out, struct err *e)
{
	const struct asked k = { .from = q, .x = x, .a = a };
	struct limits_rows rows = { .a = a };
	struct candidate *v;
	ps_t best;

	*out = (struct buy){ .key = NULL };
	if (!x->map || !x->total_ps)
		return 0;
	if (limits_moves(&q->q, q->conf, &rows, e) < 0)
		return -1;
	if (!(v = arena_array(a, rows.n + 1, sizeof *v)))
		return err_nomem(e, NULL);
	best = best_run(&k, v, candidates(q->conf, &rows, x, v), out);
	for (size_t i = 0; i < rows.n; i++) {
		const struct limits_row *row = &rows.v[i];

		if (row->move != LIMITS_MORE || keeps_the_program(row->key) || share_of(row, x) <= best)
			continue;
		best = share_of(row, x);
		*out = (struct buy){ row->key, row->now, row->then, (double)best / (double)x->total_ps, true };
	}
	return 0;
}
