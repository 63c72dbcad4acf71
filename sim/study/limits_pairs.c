/* limits_pairs.c - which two changes may pay only together.
 *
 * With one of them alone, time is waited for what the other serves: DRAM twice as wide waits for the DMA, and a DMA twice
 * as wide for DRAM. What can be won beyond the two alone is at most what the one's run waits for the other, less what that
 * other saves alone. Where the smaller of two amounts sets the time, and doubling both of them is more than doubling each,
 * halving either costs: so it is no more than that cost, too. The least of all counts as a pair's chance.
 * A switch that changes nothing alone has a chance only where another makes the wait for it longer.
 * Pairs come in the order of their chance, and before others where the one made the wait for the other longer. */
#include <stdlib.h>
#include <string.h>

#include "sim/study/limits_int.h"

/* Not worth a run: less than a hundredth of the base's time. */
#define WORTH 100

struct pair {
	size_t a, b;
	ps_t chance;
};

static bool may_buy(const struct limits_row *x)
{
	return x->move == LIMITS_MORE || x->move == LIMITS_SWITCH || x->move == LIMITS_ADD;
}

static ps_t saved(const struct limits_result *r, const struct limits_row *x)
{
	return !x->refused && x->total_ps < r->base_ps ? r->base_ps - x->total_ps : 0;
}

static ps_t waits(const ps_t *stall, const struct limits_row *b)
{
	ps_t sum = 0;

	for (int k = 0; k < RES_COUNT; k++)
		if (b->serves >> k & 1)
			sum += stall[k];
	return sum;
}

/* What `a` alone waits for resources of `b`; a machine that cannot be built with `a` alone waits as the base does. */
static ps_t left(const struct limits_result *r, const struct limits_row *a, const struct limits_row *b)
{
	const ps_t wait = waits(a->refused ? r->stall_ps : a->stall_ps, b), alone = saved(r, b);

	return wait > alone ? wait - alone : 0;
}

/* How much longer it waits for them than the base. */
static ps_t handed_on(const struct limits_result *r, const struct limits_row *a, const struct limits_row *b)
{
	const ps_t was = waits(r->stall_ps, b), is = a->refused ? was : waits(a->stall_ps, b);

	return is > was ? is - was : 0;
}

/* What less of it costs; without bound where there is no less. */
static ps_t loss(const struct limits_result *r, const struct limits_rows *rows, const struct limits_row *x)
{
	for (size_t i = 0; i < rows->n && x->move == LIMITS_MORE; i++) {
		const struct limits_row *less = &rows->v[i];

		if (less->move == LIMITS_LESS && !less->refused && strcmp(less->key, x->key) == 0)
			return less->total_ps > r->base_ps ? less->total_ps - r->base_ps : 0;
	}
	return UINT64_MAX;
}

/* Alone it does nothing that one would notice. */
static bool inert(const struct limits_result *r, const struct limits_row *x)
{
	return x->move != LIMITS_MORE && limits_costs_nothing(r, x) && saved(r, x) < r->base_ps / WORTH / 10;
}

static ps_t chance(const struct limits_result *r, const struct limits_row *a, const struct limits_row *b)
{
	const ps_t to_b = handed_on(r, a, b), to_a = handed_on(r, b, a);
	ps_t most = ps_min(left(r, a, b), left(r, b, a));

	if (!may_buy(b) || strcmp(a->key, b->key) == 0)
		return 0;
	if (inert(r, a))
		most = ps_min(most, to_a);
	if (inert(r, b))
		most = ps_min(most, to_b);
	return most > r->base_ps / WORTH ? most + to_a + to_b : 0;
}

static int by_chance(const void *pa, const void *pb)
{
	const struct pair *a = pa, *b = pb;

	if (a->chance != b->chance)
		return a->chance > b->chance ? -1 : 1;
	if (a->a != b->a)
		return a->a < b->a ? -1 : 1;
	return a->b < b->b ? -1 : a->b > b->b;
}

static size_t limits_pairs_collect(const struct limits_result *r, const struct limits_rows *rows, const ps_t *losses,
                                   struct pair *out)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		for (size_t k = i + 1; k < rows->n && may_buy(&rows->v[i]); k++) {
			const ps_t lost = ps_min(losses[i], losses[k]);
			const ps_t c = lost > r->base_ps / WORTH ? chance(r, &rows->v[i], &rows->v[k]) : 0;

			if (c)
				out[n++] = (struct pair){ i, k, ps_min(c, lost) };
		}
	qsort(out, n, sizeof *out, by_chance);
	return n;
}

static int add_pair(struct limits_rows *to, size_t ia, size_t ib, ps_t base_ps)
{
	struct limits_row *row = limits_rows_add(to);
	const struct limits_row *a = &to->v[ia], *b = &to->v[ib]; /* after adding: rows move */
	const char **sets = row ? arena_array(to->a, a->n_sets + b->n_sets, sizeof *sets) : NULL;

	if (!sets)
		return -1;
	memcpy(sets, a->sets, a->n_sets * sizeof *sets);
	memcpy(sets + a->n_sets, b->sets, b->n_sets * sizeof *sets);
	row->move = LIMITS_PAIR;
	row->key = arena_printf(to->a, "%s + %s", a->key, b->key);
	row->now = arena_printf(to->a, "%s + %s", a->now, b->now);
	row->then = arena_printf(to->a, "%s + %s", a->then, b->then);
	row->serves = a->serves | b->serves;
	row->sets = sets;
	row->n_sets = a->n_sets + b->n_sets;
	row->alone_ps[0] = a->refused ? base_ps : a->total_ps;
	row->alone_ps[1] = b->refused ? base_ps : b->total_ps;
	return row->key && row->now && row->then ? 0 : -1;
}

int limits_pairs(const struct limits_question *q, const struct limits_result *r, struct limits_rows *to, struct err *e)
{
	const size_t singles = to->n;
	struct pair *all = calloc(singles * singles + 1, sizeof *all);
	ps_t *losses = calloc(singles + 1, sizeof *losses);
	size_t found;
	int rc = all && losses ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < singles; i++)
		losses[i] = loss(r, to, &to->v[i]);
	found = rc == 0 ? limits_pairs_collect(r, to, losses, all) : 0;
	for (size_t i = 0; rc == 0 && i < found && i < q->pairs; i++)
		rc = add_pair(to, all[i].a, all[i].b, r->base_ps);
	free(losses);
	free(all);
	return rc < 0 ? err_nomem(e, NULL) : 0;
}
