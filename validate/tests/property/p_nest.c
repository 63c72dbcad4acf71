/* p_nest.c - the cost model of the search (sim/map/map_cost.h) against the machine in closed form, at the mappings it chooses:
 * random products on shipped machines, and one more of a resource at a time. */
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/engine/run_memo.h"
#include "validate/tests/runbed.h"
#include "validate/tests/synth.h"
#include "validate/tests/test.h"

#define PRODUCTS   40
#define MEDIAN_PPM 40000
#define P90_PPM    150000
#define LEAST_LONG (10 * PS_US) /* shorter ones are latency at both ends */

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t around(struct rng *r, uint64_t least, uint32_t octaves)
{
	const uint64_t n = least << rng_below(r, octaves);

	return n + rng_below(r, (uint32_t)n);
}

/* How far the form is from the judge, of the way that was chosen; false: too short. */
static bool apart(const char *machine, struct rng *r, uint64_t *ppm)
{
	struct err e = ERR_INIT;
	struct arena *a = arena_new(0);
	struct machine_conf *c = machine_conf_load(machine, NULL, 0, &e);
	struct run_memo *memo = run_memo_new(&e);
	struct map_log tell = { .op = 0 };
	const struct map_log_entry *w = &tell.entry[0];
	bool longer = false;

	CHECK_OK(c && memo ? 0 : -1, e);
	CHECK_OK(run_memo_tell(memo, synth_product(a, around(r, 1, 10), around(r, 64, 7), around(r, 64, 6)), &c->cfg,
	                       MAP_COLD, &tell, a, &e),
	         e);
	if (tell.n && w->nest && w->cold > LEAST_LONG) {
		*ppm = (uint64_t)llabs((long long)w->form - (long long)w->cold) * 1000000 / w->cold;
		longer = true;
	}
	run_memo_free(memo);
	machine_conf_free(c);
	arena_free(a);
	return longer;
}

TEST(the_cost_model_is_near_the_closed_form_at_what_it_chooses)
{
	static const char *const machines[] = { "dsocr", "edge", "array-128", "h200-twin", "trainium1", "wormhole" };
	uint64_t ppm[PRODUCTS];
	size_t n = 0;
	struct rng r;

	rng_seed(&r, test_seed(), "nest");
	for (int i = 0; i < PRODUCTS; i++)
		n += apart(machines[i % 6], &r, &ppm[n]);
	CHECK(n > PRODUCTS / 4);
	qsort(ppm, n, sizeof *ppm, by_size);
	printf("cost model against closed form, %zu products: median %llu ppm, p90 %llu, worst %llu\n", n,
	       (unsigned long long)ppm[n / 2], (unsigned long long)ppm[n * 9 / 10], (unsigned long long)ppm[n - 1]);
	CHECK(ppm[n / 2] <= MEDIAN_PPM && ppm[n * 9 / 10] <= P90_PPM);
}

SUITE(p_nest, SLOW(the_cost_model_is_near_the_closed_form_at_what_it_chooses));
