/* gpu_flash.c - see the head of arch/gpu/gpu.h.
 *
 * Attention over many queries by warps on their own: a CTA keeps a block of queries and walks over tiles of keys and
 * values; a warp has 16 queries and goes through matrix instructions and exponentials in order. Alone, a CTA takes per
 * tile what its chain takes: the instructions one after the other, and what of the tile's way from memory nothing
 * hides. Asynchronous copies are under way while the tiles before are worked on, as many as there are stages beside
 * the one in use; without them the warp waits for its loads and stores them itself, whatever the stages. CTAs of an SM
 * fill each other's gaps until the pipes are full.
 * Leaves out: bank conflicts, register spills, what a compiler makes of the same source (up to 15 % either way). */
#include "arch/gpu/gpu_form.h"

#define FITTED "fitted, configs/calibrate/h200-attention.yaml"

const struct cfg_field gpu_flash_schema[] = {
	CFG_PS(struct gpu_flash_cfg, setup, "setup", "1619 ns", 0, 100 * PS_US, NULL,
	       "beside launch and the first round trip: queries in, results out", FITTED),
	CFG_PPM(struct gpu_flash_cfg, mma, "mma", "11.61", 1, 1000000000,
	        "cycles of a warp's matrix instruction among others that depend on it", FITTED),
	CFG_PPM(struct gpu_flash_cfg, element, "element", "17.86", 0, 1000000000,
	        "cycles of a thread's score from product to probability, one after the other", FITTED),
	CFG_U32(struct gpu_flash_cfg, feed, "feed", "2059", 1, 1u << 20, NULL,
	        "16-bit FLOP a cycle and SM that shared memory feeds matrix instructions with",
	        FITTED "; an instruction of 4,096 loads 256 B, at 128 B a cycle: 2048"),
	CFG_PPM(struct gpu_flash_cfg, instructions, "instructions", "3.393", 0, 1000000000,
	        "instructions of a score, as far as they take an SM's issue slots", FITTED),
	CFG_RATE(struct gpu_flash_cfg, tile_rate, "tile_rate", "70.56 GB/s", 1000000, UINT64_C(1) << 50, NULL,
	         "at which an SM's CTAs together get their tiles", FITTED),
	CFG_PPM(struct gpu_flash_cfg, store, "store", "30.3", 0, 1000000000,
	        "cycles of a thread's 16 bytes on their way from registers to shared memory", FITTED),
	CFG_U32(struct gpu_flash_cfg, flop_mma, "flop_mma", "2728", 1, 1u << 20, NULL,
	        "16-bit FLOP a cycle and SM of warp-wide matrix instructions",
	        "measured on an H200, traces/h200/micro/pipe.csv: mma.sync"),
	CFG_END
};

#define MILLION UINT64_C(1000000)

/* `n` times a number of cycles given in millionths. */
static ps_t cycles(const struct gpu *g, uint64_t n, uint64_t millionths)
{
	return clock_span(n * millionths / MILLION, g->clock);
}

void gpu_flash(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct gpu_flash_cfg *p = &g->cfg->flash;
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	struct gpu_grid x = gpu_grid_of(g, l);
	const uint64_t shared = k->shares && s->kv_heads ? s->heads / s->kv_heads : 1;
	struct gpu_tiles seen;
	uint64_t dims = s->head_dim + (s->v_dim ? s->v_dim : s->head_dim), warps = div_up(x.threads, 32);
	uint64_t mates = div_up(x.ctas, g->sms), slots = (uint64_t)g->sms * x.per_sm, heads, tiles;
	uint64_t mma, scores, bytes, rate = gpu_mma_rate(g);
	ps_t math, load, store, wait, chain, pipe;

	if (!k->tile_n || !k->tile_k || !x.threads) {
		gpu_plain(g, l, t);
		return;
	}
	mates = mates < x.per_sm ? mates : x.per_sm;
	mma = k->tile_n / warps * k->tile_k * dims / (16 * 8 * 16); /* of a warp: m16n8k16 */
	scores = k->tile_n / warps * k->tile_k / 32;                /* of a thread */
	bytes = k->tile_k * dims * dtype_bits(l->op->dtype) / 8;
	math = cycles(g, mma, p->mma) + cycles(g, scores, p->element) + clock_span(k->loop_cycles, g->clock);
	load = gpu_step(g, &l->mem) - ps_min(g->c->step_l2, gpu_step(g, &l->mem)) +
	       clock_transfer(bytes * mates, p->tile_rate);
	store = cycles(g, div_up(bytes, 16 * x.threads), p->store);
	if (!k->asynchronous)
		wait = load + store;
	else
		wait = k->stages <= 1 ? load : load > (k->stages - 1) * math ? load - (k->stages - 1) * math : 0;
	chain = math + wait;
	/* A warp loads keys or values, then multiplies by them: the pipes take turns. */
	pipe = mates * (clock_span(div_up(mma * warps * 4096, rate) + div_up(mma * warps * 4096, p->feed), g->clock) +
	                cycles(g, div_up(scores * warps * 32 * 100, g->c->issue), p->instructions) +
	                clock_span(k->loop_cycles, g->clock));
	if (!k->asynchronous) /* through the registers: slots of the SM, too */
		pipe += mates * store;
	seen = gpu_tiles_of(s, k->tile_n, k->tile_k, shared);
	heads = s->heads / shared * (s->batch ? s->batch : 1);
	if (k->moves == KERNEL_MOVES_READS && x.ctas > seen.blocks * heads) /* a part of the keys a CTA */
		seen.longest = div_up(seen.longest, x.ctas / (seen.blocks * heads));
	if (x.ctas <= slots)
		tiles = seen.longest;
	else if (s->causal) /* blocks of all lengths: work is even, and half a mean block hangs over */
		tiles = div_up(seen.all * heads, slots) + div_up(seen.all * heads, 2 * x.ctas);
	else
		tiles = x.rounds * seen.longest;
	t->start = p->setup + (k->start ? k->start : 1) * gpu_step(g, &l->mem);
	t->finish = (x.rounds - 1) * t->start / x.per_sm; /* CTAs of an SM hide each other's starts but for one */
	t->chain = tiles * chain;
	t->pipe = tiles * pipe;
	t->memory = gpu_memory_time(g, &l->mem);
	t->body = gpu_overlap(8, gpu_overlap(8, t->chain, t->pipe), t->memory);
}
