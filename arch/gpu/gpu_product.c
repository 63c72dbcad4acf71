/* gpu_product.c - see the head of arch/gpu/gpu.h.
 *
 * A product on tensor cores: persistent CTAs, an SM each, walk over tiles; a tile is a pipeline over k. A step of it
 * takes the longest of: what a CTA needs to wait for a stage, multiply it and hand it back (and the math itself); its
 * weights through the L2, where CTAs of a GPC that want the same ones share a request; the tokens' tile, which
 * all clusters of a GPC read at the same time and get one after the other. The first steps out of DRAM come slower,
 * until the pipeline is ahead. Where two groups of warps share a tile (coop), no tile's end hides behind the next, but
 * the warps that copy go on meanwhile: bytes from DRAM flow beside all of that, from the first stage to the last.
 * Before: the kernel sets up, the first stage arrives; after: the bias comes, the last tile is stored. */
#include "arch/gpu/gpu_activity.h"
#include "arch/gpu/gpu_form.h"

#define FITTED "fitted, configs/calibrate/h200.yaml"
#define SWEPT \
	"least squares over K and N swept at few tokens, cold (traces/h200/micro/gemm.json.gz), and sweep2's fitted split"
#define SUMMED \
	"least squares over 318 such launches, of half of all shapes by a hash: traces/h200/micro/gemm.json.gz, matmul.json.gz, the sweeps"

const struct cfg_field gpu_product_schema[] = {
	CFG_PS(struct gpu_product_cfg, setup, "setup", "1500 ns", 0, 100 * PS_US, NULL,
	       "barriers, tensor maps and the cluster before the first load, and the way out",
	       "between what K swept at few tokens gives, 1.41 us (traces/h200/micro/gemm.json.gz), and operators and steps "
	       "whose operands nothing has touched for gigabytes, 1.56 us"),
	CFG_PS(struct gpu_product_cfg, scaled, "scaled", "453.7 ns", 0, 100 * PS_US, NULL,
	       "more of that where operands of 8 or 4 bits bring their scales", FITTED),
	CFG_PS(struct gpu_product_cfg, step, "step", "84.3 ns", 1, 100 * PS_US, NULL,
	       "a stage of the pipeline without math: wait, four warpgroup instructions, release", SWEPT),
	CFG_PS(struct gpu_product_cfg, step_fill, "step_fill", "67 ns", 0, 100 * PS_US, NULL,
	       "the same while the first stages arrive from DRAM", SWEPT),
	CFG_RATE(struct gpu_product_cfg, store_rate, "store_rate", "35.76 GB/s", 1000000, UINT64_C(1) << 50, NULL,
	         "at which a CTA stores a tile's results", FITTED),
	CFG_RATE(struct gpu_product_cfg, l2_rate, "l2_rate", "8.56 TB/s", 1000000, UINT64_C(1) << 50, NULL,
	         "of boxes of 128 bytes a row from the L2",
	         "least squares over the products of the operator sweep's fitted split, traces/h200/operators"),
	CFG_RATE(struct gpu_product_cfg, gpc_rate, "gpc_rate", "444 GB/s", 1000000, UINT64_C(1) << 50, NULL,
	         "at which a GPC's clusters together get their tiles of tokens", SWEPT),
	CFG_U32(struct gpu_product_cfg, gpc_short, "gpc_short", "10", 0, 1024, NULL,
	        "SMs of the one GPC that has fewer than the others",
	        "H200: 30 clusters of 4 run at once and 66 of 2; steps grow with the 17th and the 24th cluster of 4"),
	CFG_PPM(struct gpu_product_cfg, few, "few", "0.809", 0, 10000000,
	        "more of that time for one token, a half for two: all read the same line", SWEPT),
	CFG_RATE(struct gpu_product_cfg, sm_dram, "sm_dram", "375.2 GB/s", 1000000, UINT64_C(1) << 50, NULL,
	         "an SM's part of what DRAM takes, beside gpu.dram_read", FITTED),
	CFG_PPM(struct gpu_product_cfg, tensor, "tensor", "0.9791", 100000, 2000000,
	        "of the tensor cores' rate at the clock they sustain", FITTED),
	CFG_FREQ(struct gpu_product_cfg, clock_fp8, "clock_fp8", "1.587 GHz", 1000, 10000000, NULL,
	         "clock with all tensor cores busy in fp8", "measured on an H200, traces/h200/micro/wgmma.csv"),
	CFG_PS(struct gpu_product_cfg, reduce, "reduce", "645 ns", 0, 100 * PS_US, NULL,
	       "a sum over the parts of k, beside launch, round trips, instructions and bytes", SUMMED),
	CFG_PS(struct gpu_product_cfg, reduce_part, "reduce_part", "121 ns", 0, 100 * PS_US, NULL,
	       "each four parts read together", SUMMED),
	CFG_PS(struct gpu_product_cfg, reduce_rest, "reduce_rest", "235 ns", 0, 100 * PS_US, NULL,
	       "what four do not divide: a round trip, two and three parts behind others two", SUMMED),
	CFG_PS(struct gpu_product_cfg, reduce_wave, "reduce_wave", "325 ns", 0, 100 * PS_US, NULL,
	       "more of that where its CTAs fill the device once", SUMMED),
	CFG_PS(struct gpu_product_cfg, dot, "dot", "1792 ns", 0, 100 * PS_US, NULL,
	       "rows times few vectors, beside launch, steps and bytes", FITTED),
	CFG_PS(struct gpu_product_cfg, row, "row", "525 ns", 0, 100 * PS_US, NULL,
	       "a warp's product of a row beside launch, loads and bytes: addresses, the sum over lanes, the store",
	       "measured on an H200, traces/h200/micro/gemv_cupti.csv: bf16, 512 rows of 256, warm, 1312 ns, less 540 "
	       "of "
	       "launch, 77 for 128 CTAs and 165 of a step"),
	CFG_PS(struct gpu_product_cfg, fma_step, "fma_step", "132.9 ns", 1, 100 * PS_US, NULL,
	       "a wait between two steps of a tiled product without tensor cores, three stages deep", FITTED),
	CFG_END
};

#define SMS_OF_TPC 2 /* NVIDIA H100 white paper: 66 TPCs of two SMs */

/* A part of `num` in `den`; both small enough to multiply. */
static ps_t gpu_product_part(ps_t t, uint64_t num, uint64_t den)
{
	return den ? t * num / den : t;
}

struct tiles {
	uint64_t ctas, busy, clusters, units, rounds, steps, splits, tiles_n; /* busy: CTAs with weights of their own */
};

/* How a grid of clusters walks over the tiles. Of a split the name does not say how many parts: as many as fill the
 * grid, or where none does, as many as end first. */
static struct tiles tiles_of(const struct gpu_launch *l)
{
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	uint64_t cm = k->cluster_m ? k->cluster_m : 1, cn = k->cluster_n ? k->cluster_n : 1,
		 deep = div_up(s->k, k->tile_k);
	struct tiles x = { .ctas = (uint64_t)l->at->grid[0] * l->at->grid[1] * l->at->grid[2], .splits = 1 };
	uint64_t best = UINT64_MAX, base;

	x.tiles_n = div_up(s->m, k->tile_n);
	x.clusters = x.ctas / (cm * cn) ? x.ctas / (cm * cn) : 1;
	base = div_up(div_up(s->n, k->tile_m), cm) * div_up(x.tiles_n, cn) * (s->batch ? s->batch : 1);
	if (k->splits_k && base && x.clusters % base == 0 && x.clusters > base)
		x.splits = x.clusters / base;
	else if (k->splits_k)
		for (uint64_t n = 2; n <= 32; n++) {
			uint64_t end = div_up(base * n, x.clusters) * div_up(deep, n);

			if (end < best) {
				best = end;
				x.splits = n;
			}
		}
	x.units = base * x.splits;
	x.rounds = div_up(x.units, x.clusters);
	x.steps = div_up(deep, x.splits);
	x.ctas = (x.units < x.clusters ? x.units : x.clusters) * cm * cn;
	/* Clusters at the edge of the matrix have CTAs beyond it. */
	x.busy = div_up(s->n, k->tile_m) * x.tiles_n * (s->batch ? s->batch : 1) * x.splits;
	x.busy = x.busy < x.ctas ? x.busy : x.ctas;
	return x;
}

static uint64_t tensor_rate(const struct gpu *g, enum dtype d)
{
	return d == DT_FP4 && g->c->flop_fp4        ? g->c->flop_fp4
	       : dtype_bits(d) <= 8                 ? gpu_flop_8bit(g->c, d)
	       : d == DT_TF32 || dtype_bits(d) > 16 ? g->c->flop_tf32
	                                            : g->c->flop_bf16;
}

/* Clusters spread over the GPCs; of the fullest. */
static uint64_t most_in_gpc(const struct gpu *g, uint64_t clusters, uint64_t size)
{
	uint64_t gpcs = g->cfg->sm.gpc ? div_up(g->sms, g->cfg->sm.gpc) : 1, few = g->cfg->product.gpc_short / size,
		 even, rest;

	even = div_up(clusters, gpcs);
	rest = gpcs > 1 && clusters > few ? div_up(clusters - few, gpcs - 1) : 0;
	return even > rest ? even : rest;
}

/* Of the CTAs that are busy at once, how many get their weights with one request: those of a cluster side by side, and
 * clusters of a GPC that have the same rows. Clusters follow each other down the rows or along the columns, as the
 * kernel's name says, and only so many have the same rows as there are columns of tiles. */
static uint64_t sharers(const struct gpu *g, const struct kernel *k, const struct tiles *x, uint64_t rows, uint64_t cm,
                        uint64_t cn)
{
	uint64_t in_gpc = most_in_gpc(g, x->clusters, cm * cn), columns = div_up(x->tiles_n, cn), distinct;

	distinct = div_up(in_gpc, columns ? columns : 1);
	if (!k->by_columns && distinct < (in_gpc < rows ? in_gpc : rows))
		distinct = in_gpc < rows ? in_gpc : rows;
	return cn * (distinct && in_gpc > distinct ? in_gpc / distinct : 1);
}

/* Of a CTA's tile of tokens, what comes through the L2 for it alone, in hundredths, where no cluster multicasts them: CTAs of a
 * GPC share a request as far as there are fewer columns of tiles than CTAs, and the two SMs of a TPC, which take neighbours down
 * the rows, in any case. */
static uint64_t tokens_alone(const struct gpu *g, const struct tiles *x, uint64_t batch, uint64_t cm, uint64_t cn)
{
	const uint64_t in_gpc = most_in_gpc(g, x->clusters, cm * cn), columns = div_up(x->tiles_n, cn) * batch;

	if (x->tiles_n * batch >= x->ctas) /* no two have the same */
		return cm > 1 ? 0 : 100;
	return cm > 1 || !in_gpc ? 0 : 2 * columns < in_gpc ? 100 * columns / in_gpc : 100 / SMS_OF_TPC;
}

/* Of a stage of the pipeline, or what a kernel's own takes where that is told. */
static ps_t stage_of(const struct gpu *g, const struct kernel *k, ps_t one, uint64_t boxes)
{
	return k->loop_cycles ? clock_span(k->loop_cycles, g->clock) : one * boxes;
}

static void tensor_product(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct gpu_product_cfg *p = &g->cfg->product;
	const struct kernel *k = &l->kernel;
	const struct op *o = l->op;
	const struct op_shape *s = &o->shape;
	struct tiles x = tiles_of(l);
	uint64_t bits = dtype_bits(o->dtype), cm = k->cluster_m ? k->cluster_m : 1,
		 cn = k->cluster_n ? k->cluster_n : 1;
	uint64_t weights = (uint64_t)k->tile_m * k->tile_k * bits / 8,
		 tokens = (uint64_t)k->tile_n * k->tile_k * bits / 8;
	const uint64_t wide =
		div_up(k->tile_k * bits / 8, 128); /* four instructions and a box for each 128 bytes of depth */
	uint64_t steps, shared = sharers(g, k, &x, div_up(div_up(s->n, k->tile_m), cm), cm, cn);
	uint64_t rows = s->m < k->tile_n ? s->m : k->tile_n;
	uint32_t pow = g->c->overlap;
	ps_t math, work, l2, gpc = 0, dram, step, fill, end, chain;

	/* One CTA an SM: those of a grid made for a larger device wait for their turn. */
	x.rounds *= div_up(x.ctas, g->sms);
	steps = x.rounds * x.steps;
	math = clock_span(div_up(UINT64_C(2) * k->tile_m * k->tile_n * k->tile_k, tensor_rate(g, o->dtype)),
	                  gpu_tensor_clock(g, bits <= 8 ? p->clock_fp8 : g->c->clock_tensor)) *
	       1000000 / p->tensor;
	work = gpu_overlap(2, stage_of(g, k, p->step, wide), math);
	l2 = clock_transfer(x.ctas * (weights / shared + tokens_alone(g, &x, s->batch ? s->batch : 1, cm, cn) * tokens *
	                                                         rows / k->tile_n / 100),
	                    p->l2_rate);
	if (cm > 1) {
		gpc = clock_transfer(tokens * most_in_gpc(g, x.ctas / (cm * cn), cm * cn) / x.tiles_n, p->gpc_rate);
		gpc += gpc * p->few / 1000000 / (s->m ? s->m : 1);
	}
	dram = gpu_product_dram(g, &l->mem, x.busy < g->sms ? x.busy : g->sms);
	step = gpu_overlap(8, gpu_overlap(pow, work, gpc), l2);
	fill = gpu_overlap(pow, gpu_product_part(stage_of(g, k, p->step_fill, wide), gpu_missed(&l->mem), 1000000),
	                   step);
	end = clock_transfer((uint64_t)k->tile_m * rows * (x.splits > 1 ? 4 : dtype_bits(o->out_dtype) / 8),
	                     p->store_rate);

	chain = (steps < k->stages ? steps : k->stages) * fill + (steps < k->stages ? 0 : steps - k->stages) * step +
	        (k->cooperates ? (x.rounds - 1) * end : 0);
	t->start = p->setup + gpu_step(g, &l->mem) + (bits <= 8 ? p->scaled : 0);
	t->body = gpu_overlap(pow, chain, dram);
	t->finish = end + k->finish * gpu_step(g, &l->mem);
	t->chain = steps * stage_of(g, k, p->step, wide);
	t->memory = ps_max(dram, steps * gpu_overlap(8, l2, gpc));
	t->pipe = steps * math;
}

/* Without tensor cores: the vectors its threads copy are told. */
static bool multiplies(const struct kernel *k)
{
	return !k->tile_k || k->vector_bytes;
}

/* No launch behind a product joins its parts. */
static bool joins_itself(const struct gpu_launch *l)
{
	return l->nth + 1 == l->count;
}

/* The launch behind one whose k was split: a thread adds the parts of its sums one after the other, sixteen sums at
 * once, which is a round trip; going on to the next part takes a half. */
static void join_parts(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	const struct op_launch *at = (l - 1)->at;
	uint64_t parts = at->grid[2], threads = (uint64_t)l->at->block[0] * (l->at->grid[2] ? l->at->grid[2] : 1),
		 trips = div_up((uint64_t)k->tile_m * k->tile_n, 16 * (threads ? threads : 1));

	t->start = g->cfg->product.reduce + g->c->step_l2;
	t->chain = parts * (2 * trips + 1) * g->c->step_l2 / 2;
	t->memory = clock_transfer(4 * (parts + 1) * s->m * s->n, g->cfg->product.l2_rate);
	t->body = gpu_overlap(2, t->chain, t->memory);
}

/* Tiles without tensor cores: CTAs of the grid in rounds, those of an SM share its multipliers and its load unit, which
 * copies a thread's vector a cycle: element by element, where operands are not aligned, that is slower than the math.
 * Between two steps a CTA waits, for the longer the fewer stages it has; with more than two on an SM the others work
 * meanwhile. The grid's last extent is the parts of k, no more than steps. Where no second launch adds them, a part's
 * CTA waits for the one before it, loads its sums, adds its own and hands on: two trips to the L2 and the bytes. */
static void fma_product(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct gpu_product_cfg *p = &g->cfg->product;
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	struct gpu_grid x = gpu_grid_of(g, l);
	bool split = s->batch <= 1 && l->at->grid[2];
	uint64_t tile_k = k->tile_k ? k->tile_k : 8, deep = div_up(s->k, tile_k), parts = split ? l->at->grid[2] : 1,
		 steps, vector = k->vector_bytes;
	uint64_t rows = k->tile_m < s->n ? k->tile_m : s->n, columns = k->tile_n < s->m ? k->tile_n : s->m;
	uint64_t mates = div_up(x.ctas, x.sms), flop = UINT64_C(2) * k->tile_m * k->tile_n * tile_k, resident;
	uint64_t alone = div_up(flop, 2 * (x.threads ? x.threads : 1)), all = div_up(mates * flop, g->c->flop_fp32);
	ps_t math, copies, hand_on;

	/* Of a kernel that adds up what another left. */
	if (l->nth && (l - 1)->kernel.form == KERNEL_PRODUCT) {
		join_parts(g, l, t);
		return;
	}
	parts = parts < deep ? parts : deep ? deep : 1;
	steps = div_up(deep, parts);
	resident = mates < x.per_sm ? mates : x.per_sm;
	math = clock_span(alone > all ? alone : all, g->clock);
	copies = clock_span(mates * (rows + columns) * tile_k * 4 / (vector ? vector : 16), g->clock);
	t->start = gpu_step(g, &l->mem) + clock_span(k->cycles, g->clock);
	t->pipe = steps * gpu_overlap(2, math, copies);
	t->chain = x.rounds * steps * p->fma_step * 2 / (k->stages > 1 ? k->stages - 1 : 1);
	t->chain = resident > 2 ? t->chain * 2 / resident : t->chain;
	t->memory = gpu_product_dram(g, &l->mem, x.sms);
	t->body = gpu_overlap(g->c->overlap, t->pipe + t->chain, t->memory);
	hand_on = 2 * (g->c->step_l2 + clock_transfer(rows * columns * 4, g->c->sm_rate_l2));
	if (split && joins_itself(l))
		t->finish = (parts - 1) * hand_on;
}

uint64_t gpu_parts_of_k(const struct gpu_launch *l)
{
	const uint64_t batch = l->op->shape.batch ? l->op->shape.batch : 1, parts = l->at->grid[2] / batch;

	return parts ? parts : 1;
}

/* Tiles of `rows` weights and `columns` tokens: each side of the matrix is read once for all tiles of the other, less what
 * multicast and clusters share. */
static struct gpu_tiling tiled(const struct gpu_launch *l, uint64_t rows, uint64_t columns, uint64_t cm, uint64_t cn,
                               uint64_t parts)
{
	const struct op_shape *s = &l->op->shape;
	const uint64_t batch = s->batch ? s->batch : 1, along = div_up(s->n, rows), across = div_up(s->m, columns);
	const uint64_t depth = l->kernel.tile_k ? round_up(s->k, l->kernel.tile_k) : s->k;
	struct gpu_tiling t = { .macs = batch * along * rows * across * columns * depth };

	t.l2 = dtype_bytes(l->op->dtype,
	                   batch * s->n * s->k * div_up(across, cn) + batch * s->m * s->k * div_up(along, cm));
	t.l2 += parts > 1 ? 4 * parts * batch * s->m * s->n : l->mem.write;
	return t;
}

struct gpu_tiling gpu_product_tiling(const struct gpu *g, const struct gpu_launch *l)
{
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	const struct gpu_grid grid = gpu_grid_of(g, l);
	struct gpu_tiling t = { .macs = s->m * s->n * s->k * (s->batch ? s->batch : 1),
		                .l2 = l->mem.read + l->mem.write };
	struct tiles x;

	t.sms = grid.sms;
	if (!k->tile_m || !k->tile_n || (l->nth && (l - 1)->kernel.form == KERNEL_PRODUCT && multiplies(k)))
		return l->nth ? (struct gpu_tiling){ .l2 = t.l2, .sms = t.sms } : t;
	if (k->form == KERNEL_MMA || multiplies(k)) {
		t = tiled(l, k->tile_m, k->tile_n, 1, 1, gpu_parts_of_k(l));
		t.sms = grid.sms;
		return t;
	}
	x = tiles_of(l);
	t = tiled(l, k->tile_m, k->tile_n, k->cluster_m ? k->cluster_m : 1, k->cluster_n ? k->cluster_n : 1, x.splits);
	t.sms = x.ctas < g->sms ? x.ctas : g->sms;
	return t;
}

void gpu_product(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	if (!l->kernel.tile_m || !l->kernel.tile_n)
		gpu_plain(g, l, t);
	else if (multiplies(&l->kernel))
		fma_product(g, l, t);
	else
		tensor_product(g, l, t);
}

/* A CTA has 32 columns and 16 rows at once. Parts are read four at once, then what is left: of fewer than four all
 * together, of more one behind the other, the last two together. Beside the first of these round trips an element costs
 * its instructions: index, scale and conversion are worked out for each. */
void gpu_split_reduce(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct gpu_product_cfg *p = &g->cfg->product;
	const struct op_shape *s = &l->op->shape;
	struct gpu_grid x = gpu_grid_of(g, l);
	uint64_t parts = 2, rest;

	for (uint32_t n = 0; n < l->nth; n++) {
		const struct gpu_launch *q = l - l->nth + n;

		if (q->kernel.form == KERNEL_MMA)
			parts = q->at->grid[2];
		else if (q->kernel.form == KERNEL_PRODUCT)
			parts = multiplies(&q->kernel) ? q->at->grid[2] : tiles_of(q).splits;
	}
	rest = parts < 4 ? 1 : parts % 4 < 2 ? parts % 4 : 2;
	t->start = p->reduce + gpu_product_part(p->reduce_wave, x.ctas, (uint64_t)x.per_sm * g->sms);
	t->chain = parts / 4 * p->reduce_part + rest * p->reduce_rest;
	t->memory = clock_transfer(4 * parts * s->m * s->n, p->l2_rate);
	t->pipe = gpu_issue_time(g, s->m * s->n * l->kernel.instructions, g->sms);
	t->body = t->chain + gpu_overlap(g->c->overlap, t->memory, t->pipe);
}

/* Rows of a matrix times few vectors. Where a row is a warp's: the chain of its loads, the first before all bytes flow.
 * Otherwise a CTA has some rows and walks over them: round trips and what it multiplies between them, which overlap
 * with the bytes as any loop's do (gpu_flow.c). CTAs of an SM share its issue slots. */
void gpu_dot(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	struct gpu_grid x = gpu_grid_of(g, l);
	uint64_t at_once = (uint64_t)(k->vector_bytes ? k->vector_bytes : 4) * (k->unroll ? k->unroll : 1), row, all,
		 trips;

	row = dtype_bytes(l->op->dtype, s->k);
	all = row * s->n * (s->batch ? s->batch : 1);
	t->start = g->cfg->product.dot + gpu_step(g, &l->mem) * (k->start ? k->start : 1);
	t->memory = gpu_product_dram(g, &l->mem, x.sms);
	if (k->row_warps && k->vector_bytes && k->unroll) {
		uint64_t room = (uint64_t)x.per_sm * g->sms, values;

		/* CTAs behind the first round are launched while others work; the grid's y is parts of k. */
		t->launch = g->c->launch + clock_transfer(x.ctas < room ? x.ctas : room, g->c->cta_rate);
		values = s->k * s->n * (s->batch ? s->batch : 1);
		t->pipe = ps_max(clock_transfer(x.ctas, g->c->cta_rate),
		                 ps_max(gpu_issue_time(g, values * k->instructions, x.sms),
		                        gpu_wave_time(g, values, k->wavefronts, x.sms)));
		t->start = g->cfg->product.row + gpu_step(g, &l->mem) * (k->start ? k->start : 1);
		trips = div_up(row / (l->at->grid[1] ? l->at->grid[1] : 1), 32 * at_once);
		t->chain = (x.rounds * ps_max(1, trips) - 1) *
		           (gpu_step(g, &l->mem) + clock_span(k->loop_cycles, g->clock));
		t->memory = ps_max(t->memory, clock_transfer(l->mem.read + l->mem.write, g->c->l2_rate));
	} else {
		uint64_t bytes = dtype_bytes(l->op->dtype, 1);

		trips = div_up(div_up(all, x.ctas), x.threads * at_once);
		t->chain = x.rounds * trips * (gpu_step(g, &l->mem) + clock_span(k->loop_cycles, g->clock));
		t->pipe = trips * div_up(x.ctas, x.sms) *
		          gpu_issue_time(g, x.threads * at_once / (bytes ? bytes : 1) * k->instructions, 1);
		t->body = gpu_overlap(g->c->overlap, gpu_overlap(g->cfg->rows.overlap, t->chain, t->memory), t->pipe);
	}
}
