/* gpu_attention.c - see the head of arch/gpu/gpu.h.
 *
 * Few queries: a CTA walks over tiles of keys and values, one in flight; CTAs of an SM share its port. Asynchronous ones
 * are copied while the tile before is worked on. The first tile is waited for, and all CTAs want theirs at once. What
 * joins parts of the keys reads some at once, or one after the other, as the kernel's counts say. Over a latent
 * (attention of one KV head whose values are a part of its keys) a tile is read once for both. Many queries:
 * persistent CTAs, each of which has whole blocks of queries; a tile of keys costs its math and its exponentials one
 * after the other, a masked one twice. */
#include "arch/gpu/gpu_form.h"

#define FITTED "fitted, configs/calibrate/h200.yaml"
#define SINGLE "least squares over single launches of the operator sweep, traces/h200/operators"

const struct cfg_field gpu_attention_schema[] = {
	CFG_PS(struct gpu_attention_cfg, setup, "setup", "540.7 ns", 0, 100 * PS_US, NULL,
	       "before the first keys and after the last values, beside launch and four dependent steps", FITTED),
	CFG_PS(struct gpu_attention_cfg, setup_dim, "setup_dim", "1274 ns", 0, 100 * PS_US, NULL,
	       "... with heads of 128, in proportion to their dimension: queries in, values joined and out", FITTED),
	CFG_PS(struct gpu_attention_cfg, tile, "tile", "300.9 ns", 1, 100 * PS_US, NULL,
	       "a tile of keys and values beside its bytes", FITTED),
	CFG_RATE(struct gpu_attention_cfg, tile_rate, "tile_rate", "84.4 GB/s", 1000000, UINT64_C(1) << 50, NULL,
	         "of an SM whose CTAs have a tile each in flight",
	         "64 queries' math, 64 FLOP a byte of keys and values, at the 2728 FLOP a cycle of mma.sync at 1.98 "
	         "GHz: "
	         "traces/h200/micro/pipe.csv"),
	CFG_PS(struct gpu_attention_cfg, combine, "combine", "1016 ns", 0, 100 * PS_US, NULL,
	       "joining parts, beside launch, parts and bytes", SINGLE),
	CFG_PS(struct gpu_attention_cfg, combine_part, "combine_part", "26.7 ns", 0, 100 * PS_US, NULL,
	       "each part of a row", SINGLE),
	CFG_RATE(struct gpu_attention_cfg, combine_rate, "combine_rate", "2.04 TB/s", 1000000, UINT64_C(1) << 50, NULL,
	         "of the parts' bytes", SINGLE),
	CFG_PS(struct gpu_attention_cfg, many_setup, "many_setup", "1515 ns", 0, 100 * PS_US, NULL,
	       "of a kernel over many queries, beside launch", FITTED),
	CFG_PS(struct gpu_attention_cfg, many_block, "many_block", "1.14 us", 0, 100 * PS_US, NULL,
	       "each block of queries: loading and storing it", FITTED),
	CFG_PPM(struct gpu_attention_cfg, many_softmax, "many_softmax", "1.154", 100000, 10000000,
	        "what a softmax takes over its exponentials alone", FITTED),
	CFG_PPM(struct gpu_attention_cfg, many_tensor, "many_tensor", "1.019", 100000, 2000000,
	        "of the tensor cores' rate at the full clock", FITTED),
	CFG_END
};

/* A tile that was copied while the one before was worked on, as in gpu_flash.c: what a warp's chain of matrix instructions
 * and exponentials takes (where keys lie in pages, it asks the table first), or the pipes' time for all CTAs of the SM.
 * A warp loads keys or values from shared memory, then multiplies by them: those two take turns. */
static ps_t warps_tile(const struct gpu *g, const struct gpu_launch *l, uint64_t mates)
{
	const struct gpu_flash_cfg *f = &g->cfg->flash;
	const struct op_shape *s = &l->op->shape;
	uint64_t dims = s->head_dim + (s->v_dim ? s->v_dim : s->head_dim);
	uint64_t warps = div_up(gpu_grid_of(g, l).threads, 32), scores = l->kernel.tile_m * l->kernel.tile_k;
	uint64_t mma = div_up(scores * dims, warps * 16 * 8 * 16); /* of a warp: m16n8k16 */
	uint64_t rate = gpu_mma_rate(g);
	ps_t own = clock_span(l->kernel.loop_cycles, g->clock);
	ps_t chain = clock_span(mma * f->mma / 1000000, g->clock) +
	             clock_span(div_up(scores, 32 * warps) * f->element / 1000000, g->clock) +
	             l->kernel.steps * g->c->step_l2 + own;
	ps_t pipe = clock_span(div_up(2 * scores * dims, rate) + div_up(2 * scores * dims, f->feed), g->clock) + own;

	return gpu_overlap(8, chain, mates * pipe);
}

/* Heads take the place of queries. */
static bool over_latent(const struct gpu_launch *l)
{
	return l->op->algorithm == OP_ATTN_MLA && l->kernel.tensor;
}

/* A tile on the tensor cores at their full rate. Of a latent, keys and values at once, exponentials follow; else warpgroups
 * take turns, so that one's are under another's products. Scores of one query are few: what they issue beside that hides. */
static ps_t tensor_tile(const struct gpu *g, const struct gpu_launch *l)
{
	const struct gpu_attention_cfg *p = &g->cfg->attention;
	const struct op_shape *s = &l->op->shape;
	const uint64_t scores = (uint64_t)l->kernel.tile_m * l->kernel.tile_k;
	const uint64_t issued = div_up(scores * 100, g->c->issue) * g->cfg->flash.instructions / 1000000;
	const ps_t math =
		gpu_math_time(g, l->op->dtype, scores * (s->head_dim + s->v_dim), 1) * 1000000 / p->many_tensor;
	ps_t softmax = clock_span(div_up(scores, g->c->sfu), g->clock) * p->many_softmax / 1000000;

	if (over_latent(l))
		return math + softmax;
	softmax += s->q_len > 1 ? clock_span(issued, g->clock) : 0;
	return gpu_overlap(2, math, softmax) + clock_span(l->kernel.loop_cycles, g->clock);
}

/* Warp-wide matrix instructions over tiles that were copied asynchronously. */
static bool by_warps(const struct gpu_launch *l)
{
	return l->kernel.asynchronous && !l->kernel.tensor;
}

/* A tile of `bytes`, keys and values, where so many CTAs of an SM have one each in hand. */
static ps_t few_queries_tile(const struct gpu *g, const struct gpu_launch *l, uint64_t bytes, uint64_t mates)
{
	const struct gpu_attention_cfg *p = &g->cfg->attention;
	ps_t tile;

	if (by_warps(l))
		return warps_tile(g, l, mates);
	tile = l->kernel.asynchronous ? tensor_tile(g, l) : p->tile + clock_transfer(mates * bytes, p->tile_rate);
	/* Values for which shared memory has no room beside the keys come when those are done with. */
	if (l->kernel.tile_d && bytes > l->at->smem_dynamic + l->at->smem_static)
		tile += gpu_step(g, &l->mem) + clock_transfer(mates * bytes / 2, p->tile_rate);
	return tile + l->kernel.steps * g->c->step_l2 +
	       (l->kernel.tensor ? 0 : clock_span(l->kernel.loop_cycles, g->clock));
}

static void few_queries(const struct gpu *g, const struct gpu_launch *l, uint64_t parts, struct gpu_time *t)
{
	const struct gpu_attention_cfg *p = &g->cfg->attention;
	const struct op_shape *s = &l->op->shape;
	struct gpu_grid x = gpu_grid_of(g, l);
	uint64_t deep = ps_max(1, div_up(div_up(s->kv_len, l->kernel.tile_k), parts));
	/* What was fitted has whole rounds. */
	const uint64_t mates = x.mates, last = l->kernel.asynchronous ? x.last : x.mates;
	uint64_t dims = s->head_dim > l->kernel.tile_d ? s->head_dim : l->kernel.tile_d;
	uint64_t values = over_latent(l) ? 0 : s->v_dim && s->v_dim != s->head_dim ? s->v_dim : dims;
	uint64_t bytes = l->kernel.tile_k * (dims + values) * dtype_bits(l->op->dtype) / 8;
	uint64_t cold = l->mem.read - l->mem.read_hit, all, first;
	ps_t tile, setup = p->setup + p->setup_dim * dims / 128;

	tile = few_queries_tile(g, l, bytes, mates);
	all = mates * x.sms < x.ctas ? mates * x.sms * bytes : x.ctas * bytes;
	all = all < l->mem.read ? all : l->mem.read;
	first = all < cold ? all : cold;
	if (l->kernel.asynchronous)
		setup = clock_span(l->kernel.cycles, g->clock);
	t->start = setup + clock_span(l->kernel.once_cycles, g->clock) +
	           (l->kernel.start ? l->kernel.start : 4) * gpu_step(g, &l->mem) +
	           gpu_overlap(2, tile,
	                       clock_transfer(first, g->c->dram_read) + clock_transfer(all - first, g->c->l2_rate));
	if (by_warps(l)) /* CTAs of an SM hide each other's starts but for one */
		t->finish = (x.rounds - 1) * (setup + 4 * g->c->step_l2) / x.per_sm;
	else if (x.per_sm == 1) /* no other CTA hides the next one's start */
		t->finish = (x.rounds - 1) * (setup + 4 * g->c->step_l2);
	if (l->kernel.in_turn) /* those of a part of the keys */
		t->finish += (x.ctas / l->at->grid[0] - 1) * clock_span(l->kernel.in_turn, g->clock);
	/* The CTA that is done last joins the parts, which lie in the L2. */
	t->finish += l->kernel.finish * g->c->step_l2;
	if (l->op->n_launches == 1 && parts > 1)
		t->finish += clock_transfer(parts * (s->heads / (s->kv_heads ? s->kv_heads : s->heads)) * dims * 4,
		                            g->c->sm_rate_l2);
	t->chain = deep * (x.rounds - 1) * tile + deep * (last < mates ? few_queries_tile(g, l, bytes, last) : tile) -
	           tile;
	t->memory =
		ps_max(clock_transfer(cold - first, g->c->dram_read), clock_transfer(l->mem.read - all, g->c->l2_rate));
	/* Of a latent's tiles shared memory holds two: the next is not far ahead. */
	t->body = gpu_overlap(over_latent(l) ? 2 : 4, t->chain, t->memory);
}

/* What is added to scores (a read operand behind queries, keys and values) is loaded when a tile of them is there: its
 * bytes, from DRAM once or from the L2 for each head, and a round trip a tile, beside all the rest. */
static ps_t bias(const struct gpu *g, const struct gpu_launch *l, uint64_t tiles)
{
	const struct op_shape *s = &l->op->shape;
	const uint64_t size = dtype_bytes(l->op->dtype, 1), heads = s->heads * (s->batch ? s->batch : 1);
	uint64_t once = 0, nth = 0;

	for (uint32_t i = 0; l->stream && i < l->op->n_operands; i++) {
		const struct op_operand *x = &l->stream->operands[l->op->first_operand + i];

		if (!x->write && ++nth > 3)
			once += x->touched;
	}
	if (!once)
		return 0;
	return ps_max(clock_transfer(once / 1000 * (gpu_missed(&l->mem) / 1000), g->c->dram_read),
	              clock_transfer(heads * s->q_len * s->kv_len * size, g->c->l2_rate)) +
	       tiles * g->c->step_l2;
}

static void many_queries(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct gpu_attention_cfg *p = &g->cfg->attention;
	const struct op_shape *s = &l->op->shape;
	uint32_t q = l->kernel.tile_m, k = l->kernel.tile_k;
	const uint64_t dims = s->head_dim > l->kernel.tile_d ? s->head_dim : l->kernel.tile_d;
	const uint64_t grid = (uint64_t)l->at->grid[0] * l->at->grid[1] * l->at->grid[2],
		       ctas = grid < g->sms ? grid : g->sms, heads = s->heads * (s->batch ? s->batch : 1);
	uint64_t blocks = div_up(s->q_len, q) * heads, past = s->kv_len > s->q_len ? s->kv_len - s->q_len : 0,
		 tiles = 0, own = 0;
	ps_t math, softmax, tile;

	/* The last block's CTA has the most: blocks go round, those of all heads before the next queries. A grid of a CTA a
	 * block goes round the SMs likewise, one on each. */
	for (uint64_t b = blocks; b > 0; b = b > ctas ? b - ctas : 0, own++) {
		uint64_t end = s->causal ? past + ((b - 1) / heads + 1) * q : s->kv_len;

		end = end < s->kv_len ? end : s->kv_len;
		tiles += div_up(end, k) + (s->causal || s->kv_len % k ? 1 : 0);
	}
	math = clock_span(div_up(UINT64_C(2) * q * k * (dims + (s->v_dim && s->v_dim != s->head_dim ? s->v_dim : dims)),
	                         g->c->flop_bf16),
	                  g->clock) *
	       1000000 / p->many_tensor;
	softmax = clock_span(div_up((uint64_t)q * k, g->c->sfu), g->clock) * p->many_softmax / 1000000;
	/* Groups that take turns hide the wait for their products; else a tile has that of its scores and of its values. */
	tile = math + softmax + (l->kernel.cooperates ? 2 * g->cfg->product.step : 0);
	t->start = p->many_setup;
	t->chain = tiles * softmax;
	t->pipe = tiles * math;
	t->memory = gpu_memory_time(g, &l->mem);
	t->body = gpu_overlap(8, tiles * tile, t->memory) + bias(g, l, tiles);
	t->finish = own * p->many_block;
}

/* Warpgroups over many queries, whose rows are those of heads that share keys: blocks go where an SM is free, the longest
 * first and in parts where there are few, so that all are busy to the end. A block pays its start. */
static void tensor_queries(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct op_shape *s = &l->op->shape;
	const uint64_t kv = s->kv_heads ? s->kv_heads : s->heads, heads = kv * (s->batch ? s->batch : 1);
	const struct gpu_tiles seen = gpu_tiles_of(s, l->kernel.tile_m, l->kernel.tile_k, s->heads / kv);
	const uint64_t parts = l->at->grid[0] ? l->at->grid[0] : 1, blocks = seen.blocks * heads * parts;
	const ps_t tile = tensor_tile(g, l), setup = clock_span(l->kernel.cycles, g->clock);

	t->start = setup + l->kernel.start * gpu_step(g, &l->mem);
	t->chain = div_up(seen.longest, parts) * tile;
	t->pipe = (seen.all * heads * tile + (blocks - 1) * (setup + 4 * gpu_step(g, &l->mem))) / g->sms;
	t->memory = gpu_memory_time(g, &l->mem);
	t->body = gpu_overlap(8, ps_max(t->chain, t->pipe), t->memory) + gpu_queries_time(g, l);
}

void gpu_attention(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	/* The first extent of the grid is blocks of queries, or parts of the keys where another launch joins them. */
	if (!l->kernel.tile_k)
		gpu_plain(g, l, t);
	else if (l->kernel.tile_m > 64 && !l->kernel.tensor)
		many_queries(g, l, t);
	else if (l->kernel.tensor && l->op->shape.q_len > 1 && !over_latent(l))
		tensor_queries(g, l, t);
	else
		few_queries(g, l, (l->op->n_launches > 1 || l->kernel.finish) && l->at->grid[0] ? l->at->grid[0] : 1,
		            t);
}

void gpu_combine(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct gpu_attention_cfg *p = &g->cfg->attention;
	const struct op_shape *s = &l->op->shape;
	uint64_t ctas = (uint64_t)l->at->grid[0] * l->at->grid[1] * l->at->grid[2];
	uint64_t parts = l->nth && (l - 1)->at->grid[0] ? (l - 1)->at->grid[0] : 1;
	uint64_t dim = s->v_dim ? s->v_dim : s->head_dim;

	if (l->kernel.turns) { /* rows one after the other, for all of an SM's CTAs together */
		t->start = clock_span(l->kernel.cycles, g->clock) + l->kernel.steps * g->c->step_l2;
		t->chain = l->kernel.turns * clock_span(l->kernel.loop_cycles, g->clock);
		t->body = ps_max(t->chain, gpu_memory_time(g, &l->mem));
		return;
	}
	if (l->kernel.steps) { /* parts one after the other, or as many at once as there are threads for */
		t->start = clock_span(l->kernel.cycles, g->clock);
		t->chain = div_up(parts, l->kernel.unroll ? l->kernel.unroll : 1) *
		           (l->kernel.steps * g->c->step_l2 + clock_span(l->kernel.loop_cycles, g->clock));
	} else {
		t->start = p->combine;
		t->chain = parts * p->combine_part;
	}
	t->body = t->chain + clock_transfer(ctas * parts * dim * 4, p->combine_rate);
}
