/* gpu_mma.c - see the head of arch/gpu/gpu.h.
 *
 * A product by warp-wide matrix instructions (Ampere's kernels, which later devices run as well): a CTA has one tile and
 * walks over k; where k is split, the grid's last extent is its parts. 16 of k are a round: operands from shared memory
 * into registers, then the instructions that need them; a warp does both in order, so that a round costs its latency
 * beside its math however small the tile. Of 8 and 4 bits the fragments of the next round come meanwhile (times over k of tiles of
 * 16 and 64 tokens, published of an L40S and an RTX PRO 6000: 317 and 555 cycles for 128 of k, of which operands need 320 and
 * the math 128 and 512: 327 and 551). CTAs of an SM fill each other's gaps until its tensor cores are full; one that has an SM to
 * itself waits for no math but its own, which is in its time already.
 * Tiles that are copied asynchronously are under way while the tiles before are multiplied; the copies of a tile are
 * spread over a tile's rounds, so that a pipeline of n stages hides n - 2 tiles' time of a round trip. Without them a
 * warp waits for its loads and stores them itself, whatever the stages. After the last tile sums go through shared
 * memory to the store.
 * Leaves out: bank conflicts, warps that have more columns than the tile needs, swizzled orders of tiles. */
#include "arch/gpu/gpu_form.h"

#define FORCED "least squares over 370 forced kernels, traces/h200/micro/ampere_cupti.csv"

const struct cfg_field gpu_mma_schema[] = {
	CFG_PS(struct gpu_mma_cfg, setup, "setup", "916 ns", 0, 100 * PS_US, NULL,
	       "before the first load and after the last store, beside launch and round trips", FORCED),
	CFG_PS(struct gpu_mma_cfg, ahead, "ahead", "307 ns", 0, 100 * PS_US, NULL,
	       "more of that where copies are asynchronous", FORCED),
	CFG_PPM(struct gpu_mma_cfg, round, "round", "80", 1, 1000000000,
	        "cycles of 16 of k beside their math: operands into registers, the first result", FORCED),
	CFG_PPM(struct gpu_mma_cfg, through, "through", "1.14", 0, 10000000,
	        "round trips of a tile that goes through the registers", FORCED),
	CFG_PS(struct gpu_mma_cfg, miss, "miss", "43 ns", 0, 100 * PS_US, NULL,
	       "what a tile's round trip to DRAM takes more than one load's", FORCED),
	CFG_RATE(struct gpu_mma_cfg, store_rate, "store_rate", "44.6 GB/s", 1000000, UINT64_C(1) << 50, NULL,
	         "at which a CTA hands its sums on", FORCED),
	CFG_END
};

#define MILLION UINT64_C(1000000)

uint64_t gpu_mma_clock(const struct gpu *g)
{
	/* Above its rated clock is where a board boosts to; below it is what a cap leaves of instructions that need more. */
	return g->clock < g->top || g->c->clock_tensor < g->clock ? g->clock : g->c->clock_tensor;
}

uint64_t gpu_mma_rate(const struct gpu *g)
{
	return g->cfg->flash.flop_mma < g->c->flop_bf16 ? g->cfg->flash.flop_mma : g->c->flop_bf16;
}

/* A step over k of a tile, which alone takes `own`, where so many CTAs of an SM have one each in hand. */
static ps_t mma_step(const struct gpu *g, ps_t own, ps_t math, uint64_t bytes, uint64_t mates)
{
	const ps_t step = mates > 1 ? gpu_overlap(8, own, mates * math) : own;

	return gpu_overlap(8, step, clock_transfer(mates * bytes, g->c->sm_rate_l2));
}

void gpu_mma(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct gpu_mma_cfg *p = &g->cfg->mma;
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	struct gpu_grid x = gpu_grid_of(g, l);
	uint64_t bits = dtype_bits(l->op->dtype), parts = gpu_parts_of_k(l), deep, steps;
	uint64_t rows = k->tile_m < s->n ? k->tile_m : s->n, columns = k->tile_n < s->m ? k->tile_n : s->m, bytes, rate;
	const uint64_t clock = gpu_mma_clock(g);
	ps_t trip, math, rounds, own;

	if (!k->tile_m || !k->tile_n || !k->tile_k) {
		gpu_plain(g, l, t);
		return;
	}
	deep = div_up(s->k, k->tile_k);
	parts = parts < deep ? parts : deep;
	steps = div_up(deep, parts);
	bytes = (rows + columns) * k->tile_k * bits / 8;
	/* An instruction's k is 32 bytes: half as many elements of twice the bits, at half the rate. */
	rate = l->op->dtype == DT_FP4 && g->c->flop_fp4 ? g->c->flop_fp4
	                                                : gpu_mma_rate(g) * 16 / (bits > 16 ? 32 : bits);
	if (bits == 8)
		rate = rate * gpu_flop_8bit(g->c, l->op->dtype) / g->c->flop_fp8;
	trip = gpu_step(g, &l->mem) + p->miss * gpu_missed(&l->mem) / MILLION;
	math = clock_span(div_up(UINT64_C(2) * k->tile_m * k->tile_n * k->tile_k, rate), clock);
	rounds = clock_span(div_up(k->tile_k * (bits > 16 ? 32 : bits), 256) * p->round / MILLION, clock);
	own = bits <= 8 ? gpu_overlap(3, math, rounds) : math + rounds;
	t->start = p->setup + clock_span(k->cycles, clock);
	if (!k->asynchronous || k->stages < 3) {
		own += trip * p->through / MILLION;
	} else {
		own = gpu_overlap(8, own, trip / (k->stages - 2));
		t->start += p->ahead + trip;
	}
	t->chain = steps *
	           ((x.rounds - 1) * mma_step(g, own, math, bytes, x.mates) + mma_step(g, own, math, bytes, x.last));
	t->pipe = steps * ((x.rounds - 1) * x.mates + x.last) * math;
	t->memory = ps_max(gpu_product_dram(g, &l->mem, x.sms), clock_transfer(x.ctas * steps * bytes, g->c->l2_rate));
	t->chain =
		gpu_overlap(g->c->overlap, t->chain, clock_span((k->in_turn + steps * k->stage_turn) * x.ctas, clock));
	t->body = gpu_overlap(g->c->overlap, t->chain, t->memory);
	/* As sums; those of 4 bits were scaled in registers, and are results of 16. */
	t->finish = clock_transfer((uint64_t)k->tile_m * k->tile_n * (bits <= 4 ? 2 : 4), p->store_rate);
}
