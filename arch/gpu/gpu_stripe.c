/* gpu_stripe.c - see the head of arch/gpu/gpu.h.
 *
 * Grouped products by warp-wide matrix instructions in stripes (Marlin: github.com/IST-DASLab/marlin; of experts: vLLM's
 * csrc/moe/marlin_moe_wna16): as many CTAs as the SMs hold take tiles in turn, next to one another at a time, so that weights of a
 * group's further rows are found in the L2; what is left of the tiles is shared out by steps, so that no round is partly filled. A
 * step brings a tile's depth of packed weights and of tokens, widens the weights in registers, and multiplies; half of the warps
 * have the even rounds of 16 of k, half the odd ones. `stages` of them are under way, of which n - 2 hide a round trip (gpu_mma.c,
 * whose round, rate and store are these). Before each tile a CTA reads whose it is, behind it the two halves are added in shared
 * memory; a tile that several CTAs have is joined in the L2, one CTA after the other, and no more have one than pay.
 * The launch's grid counts the tiles; `instructions` are those of widening and scaling a weight.
 * Leaves out: a last stripe that is shorter, weights that have left the L2 between two tiles. */
#include "arch/gpu/gpu_form.h"

#define HALVES  2   /* of a CTA's warps, along k */
#define OUTPUTS 64  /* of a warp */
#define LINE    128 /* bytes a cycle of shared memory */
#define SET     128 /* threads: a warp for each scheduler */
#define PIPES   3   /* tensor cores, arithmetic, shared memory */

/* Packed weights of all groups, with their scales: the second operand. */
static uint64_t stripe_weights(const struct gpu_launch *l)
{
	uint32_t reads = 0;

	for (uint32_t i = 0; i < l->op->n_operands; i++) {
		const struct op_operand *x = &l->stream->operands[l->op->first_operand + i];

		if (!x->write && reads++)
			return x->touched;
	}
	return 0;
}

/* Of `ctas` that use pipes one after the other, `apart` of none: what a turn of each takes (mean value analysis of a closed network,
 * which is exact for one warp of each CTA a scheduler). */
static ps_t turn_of(const ps_t pipe[PIPES], ps_t apart, uint64_t ctas)
{
	uint64_t waiting[PIPES] = { 0 }; /* thousandths of a CTA */
	ps_t turn = 0;

	for (uint64_t n = 1; n <= ctas; n++) {
		ps_t at[PIPES];

		turn = apart;
		for (int i = 0; i < PIPES; i++)
			turn += at[i] = pipe[i] + pipe[i] * waiting[i] / 1000;
		for (int i = 0; i < PIPES; i++)
			waiting[i] = turn ? n * 1000 * at[i] / turn : 0;
	}
	return turn;
}

void gpu_stripe(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct gpu_mma_cfg *p = &g->cfg->mma;
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	const struct gpu_grid x = gpu_grid_of(g, l);
	const uint64_t groups = s->batch ? s->batch : 1, weights = stripe_weights(l),
		       ctas = (uint64_t)x.per_sm * g->sms;
	const uint64_t clock = gpu_mma_clock(g);
	uint64_t deep, across, steps, tiles, packed, bytes, parts, most, sets;
	ps_t trip, math, widen, shared, own, step, between, join;

	if (!k->tile_m || !k->tile_n || !k->tile_k || !weights) {
		gpu_plain(g, l, t);
		return;
	}
	deep = div_up(s->k, k->tile_k);
	across = div_up(s->n, k->tile_m);
	steps = div_up(x.ctas * deep, ctas);
	tiles = steps / deep + (steps % deep > 0); /* that a CTA begins */
	packed = div_up(weights, groups * across * deep);
	bytes = packed + (uint64_t)k->tile_n * k->tile_k * dtype_bits(l->op->dtype) / 8;
	trip = gpu_step(g, &l->mem) + p->miss * gpu_missed(&l->mem) / 1000000;
	math = clock_span(div_up(UINT64_C(2) * k->tile_m * k->tile_n * k->tile_k, gpu_mma_rate(g)), clock);
	widen = gpu_issue_time(g, (uint64_t)k->tile_m * k->tile_k * k->instructions, 1);
	/* Each of the warps along the outputs loads the tokens for itself; weights are stored and loaded once. */
	shared = clock_span(div_up(bytes + packed + (bytes - packed) * div_up(k->tile_m, OUTPUTS), LINE), clock);
	own = clock_span(div_up(k->tile_k, 16 * HALVES) * p->round / 1000000 + k->loop_cycles, clock);
	sets = div_up(x.threads, SET);
	own = turn_of((const ps_t[PIPES]){ math / sets, widen / sets, shared / sets }, own, x.per_sm * sets);
	step = k->stages > 2 ? gpu_overlap(8, own, trip / (k->stages - 2)) : own + trip;
	step = gpu_overlap(8, step, clock_transfer(x.per_sm * bytes, g->c->sm_rate_l2));
	between = trip + k->steps * g->c->step_l2 + k->finish * gpu_barrier(g, x.threads) +
	          clock_transfer((uint64_t)k->tile_m * k->tile_n * 4, p->store_rate);
	/* CTAs of a tile: each reads the sums so far and stores its own. The best are where one more saves as little as it waits. */
	parts = steps < deep ? div_up(deep, steps) : 1;
	most = gpu_isqrt(deep * step / ps_max(2 * g->c->step_l2, 1));
	if (parts > most && parts > 1) {
		parts = most ? most : 1;
		steps = div_up(deep, parts);
	}
	join = (parts - 1) * 2 * g->c->step_l2;
	t->start = p->setup + k->start * g->c->step_l2 + clock_span(k->cycles, clock);
	t->chain = steps * step + tiles * between + join;
	t->pipe = steps * x.per_sm * ps_max(math, widen);
	t->memory = ps_max(gpu_product_dram(g, &l->mem, g->sms), clock_transfer(x.ctas * deep * bytes, g->c->l2_rate));
	t->body = gpu_overlap(g->c->overlap, t->chain, t->memory);
}
