/* tiled_time.c - a described kernel's whole time: occupancy, rounds of blocks, what hides what. */
#include "arch/gpu/gpu_math.h"
#include "arch/tiled/tiled.h"

/* --- what it works on -------------------------------------------------------------------------------------------- */

static struct gpu_mem operands(const struct tiled_kernel *k, const struct gpu *g)
{
	const struct tiled_problem *p = &k->problem;
	const enum dtype d = tiled_dtype(k), out = dtype_bits(d) < 16 ? DT_BF16 : d;
	const uint64_t b = p->batch;
	struct gpu_mem m = { .read = 0 };

	if (p->op == TILED_GEMM) {
		m.read = dtype_bytes(d,
		                     b * ((uint64_t)p->m * p->k + (uint64_t)p->k * p->n * (p->groups ? p->groups : 1)));
		m.write = dtype_bytes(out, b * p->m * p->n);
	} else if (p->op == TILED_ATTENTION) {
		m.read = dtype_bytes(d, b * ((uint64_t)p->heads * p->q_len * p->head_dim +
		                             (uint64_t)p->kv_heads * p->kv_len * (p->head_dim + p->v_dim)));
		m.write = dtype_bytes(out, b * p->heads * p->q_len * p->v_dim);
	}
	m.read = k->bytes.read ? k->bytes.read : m.read;
	m.write = k->bytes.write ? k->bytes.write : m.write;
	if (m.read + m.write <= g->l2 && !k->bytes.cold)
		m.read_hit = m.read;
	else if (m.read + m.write > g->l2)
		m.write_back = m.write;
	m.read += k->bytes.again;
	m.read_hit += k->bytes.again;
	return m;
}

static struct op_shape tiled_time_shape_of(const struct tiled_kernel *k)
{
	const struct tiled_problem *p = &k->problem;

	if (p->op == TILED_ROWS)
		return (struct op_shape){ .rows = p->rows, .cols = p->cols, .elems = (uint64_t)p->rows * p->cols };
	/* Rows of tiles of a group are products of their own. */
	if (p->op == TILED_GEMM && p->groups)
		return (struct op_shape){ .batch = tiled_strips(k),
			                  .m = div_up((uint64_t)p->m * p->batch, tiled_strips(k)),
			                  .n = p->n,
			                  .k = p->k };
	if (p->op == TILED_GEMM)
		return (struct op_shape){ .batch = p->batch, .m = p->m, .n = p->n, .k = p->k };
	return (struct op_shape){ .batch = p->batch,
		                  .heads = p->heads,
		                  .kv_heads = p->kv_heads,
		                  .q_len = p->q_len,
		                  .kv_len = p->kv_len,
		                  .head_dim = p->head_dim,
		                  .v_dim = p->v_dim,
		                  .causal = p->causal };
}

static struct occupancy occupancy(const struct tiled_kernel *k, const struct gpu *g)
{
	return occupancy_of(&g->cfg->sm, g->sms, (uint32_t)tiled_threads(k), k->registers, tiled_shared(k), 1);
}

static void lay_out(const struct tiled_kernel *k, const struct gpu *g, struct tiled_time *t)
{
	uint64_t slots, mates;

	t->occupancy = occupancy(k, g);
	t->blocks = tiled_blocks(k);
	slots = (uint64_t)t->occupancy.ctas * t->occupancy.sms;
	slots = slots ? slots : 1;
	t->grid = k->persistent && t->blocks > slots ? slots : t->blocks;
	t->rounds = div_up(t->blocks, slots);
	mates = div_up(t->blocks, g->sms);
	t->mates = mates < t->occupancy.ctas ? mates : t->occupancy.ctas;
}

/* --- scores in registers: the closed forms of traces ------------------------------------------------------------- */

static struct kernel kernel_of(const struct tiled_kernel *k)
{
	const bool gemm = k->problem.op == TILED_GEMM, wide = k->math == TILED_WGMMA;
	struct kernel r = { .name = k->name,
		            .stages = k->stages,
		            .asynchronous = k->copy != TILED_PLAIN || k->producers };

	r.form = gemm ? (wide ? KERNEL_PRODUCT : KERNEL_MMA) : wide ? KERNEL_ATTENTION : KERNEL_FLASH;
	/* Of a product tile_m is of outputs, tile_n of tokens. */
	r.tile_m = gemm ? k->tile.n : k->tile.m;
	r.tile_n = k->tile.m;
	r.tile_k = gemm ? k->tile.k : k->tile.n;
	/* Attention's is of engines' kernels, whose blocks start as those do; one that is described is FlashAttention 3's. */
	r.tensor = gemm;
	return r;
}

/* Copying warps hold registers, too: of a block of the others as many more each. */
static uint32_t registers_of(const struct tiled_kernel *k)
{
	const uint64_t all = (uint64_t)k->registers * (k->warps + k->producers);

	return (uint32_t)div_up(all, k->warps);
}

/* Rows that meet in a bank: the instructions' operands from shared memory take so much longer. */
static ps_t conflicts(const struct tiled_kernel *k, const struct gpu *g, uint64_t blocks)
{
	const double times = k->swizzle || k->math == TILED_WGMMA ? 1 : tiled_conflicts(k);
	const uint64_t macs = tiled_flops(k) / 2, mma = 16 * 8 * 16;
	/* An instruction's second operand is 8 rows of 16: two wavefronts. */
	const uint64_t more = (uint64_t)((times - 1) * 2), busy = blocks < g->sms ? blocks : g->sms;

	return clock_span(div_up(macs / mma * more, busy), g->clock);
}

/* Steps that a place of an SM goes through; a product's are of k. */
static uint64_t steps_of(const struct tiled_kernel *k, const struct tiled_time *t)
{
	const struct tiled_problem *p = &k->problem;
	const uint64_t longest = div_up(p->kv_len, k->tile.n), past = p->kv_len > p->q_len ? p->kv_len - p->q_len : 0;
	uint64_t all = 0;

	if (p->op == TILED_GEMM)
		return t->rounds * div_up(p->k, k->tile.k);
	if (!p->causal || t->rounds == 1)
		return t->rounds * longest;
	for (uint64_t b = 0; b < div_up(p->q_len, k->tile.m); b++) {
		const uint64_t end = past + (b + 1) * k->tile.m;

		all += div_up(end < p->kv_len ? end : p->kv_len, k->tile.n);
	}
	return div_up(all * p->heads * p->batch * t->rounds, t->blocks);
}

/* A tensor map's copies cost no issue: one thread says where a tile lies. With cp.async, and through registers, warps work out
 * an address for each of their copies, one after the other (in cycles of a warp), and the load units take the copies of all of them.
 * Warpgroup products read the same shared memory: their time and that of copies overlap as two roots of squares.
 * Fitted on the copies alone and on products of 1,024 (traces/h100/micro/copies_cupti.csv, an H100): 13 % off in the mean, 13 % on
 * products of 2,048 and 4,096, of which none was used. */
#define COPY_RATE 57 /* bytes a cycle that an SM's load units copy */

static ps_t copies(const struct tiled_kernel *k, const struct gpu *g, const struct tiled_time *t)
{
	const uint64_t bytes = tiled_tile_bytes(k), warps = k->producers ? k->producers : k->warps,
		       each = div_up(bytes, (uint64_t)k->copy_bytes * 32 * warps), steps = steps_of(k, t);

	if (k->math != TILED_WGMMA || k->copy == TILED_BULK)
		return 0;
	return gpu_overlap(2, clock_span(steps * each * tiled_copy_cycles(k), g->clock),
	                   clock_span(steps * t->mates * div_up(bytes, COPY_RATE), g->clock));
}

static void by_form(const struct tiled_kernel *k, const struct gpu *g, const struct gpu_mem *mem, struct tiled_time *t)
{
	const bool gemm = k->problem.op == TILED_GEMM;
	const struct op_shape shape = tiled_time_shape_of(k);
	const struct op op = { .kind = gemm ? OP_GEMM : OP_ATTENTION,
		               .shape = shape,
		               .dtype = tiled_dtype(k),
		               .out_dtype = dtype_bits(tiled_dtype(k)) < 16 ? DT_BF16 : tiled_dtype(k),
		               .algorithm = OP_ATTN_FLASH,
		               .n_launches = 1 };
	const uint64_t down = gemm ? div_up(shape.n, k->tile.n) : div_up(shape.q_len, k->tile.m), grid = t->blocks;
	/* Forms of wgmma have blocks that go round an SM, whatever is asked, attention's one at a time; those of mma count
	 * rounds themselves. */
	const bool stays = k->math == TILED_WGMMA;
	const uint64_t slots = (uint64_t)g->sms * (gemm ? t->occupancy.ctas : 1), busy = grid < slots ? grid : slots;
	const struct op_launch at = { .name = k->name,
		                      .grid = { (uint32_t)(stays ? busy : down),
		                                (uint32_t)(stays ? 1 : grid / (down ? down : 1)), 1 },
		                      .block = { 32 * k->warps, 1, 1 },
		                      .cluster = { 1, 1, 1 },
		                      .registers = registers_of(k),
		                      .smem_dynamic = tiled_shared(k) };
	struct gpu_launch l = { .op = &op, .at = &at, .kernel = kernel_of(k), .count = 1, .mem = *mem };
	/* One block an SM, and no block stays: each begins and ends by itself. */
	const bool anew = gemm && stays && !k->persistent && t->occupancy.ctas == 1;
	struct gpu_time x;

	l.kernel.cooperates = gemm ? anew : !k->pingpong;
	x = gpu_time(g, &l);
	if (anew)
		x.total += (t->rounds - 1) * (g->cfg->product.setup + g->c->step_l2);
	const ps_t more = conflicts(k, g, grid), copying = copies(k, g, t);

	t->chain = x.chain;
	t->busy = ps_max(x.pipe + more, copying);
	t->memory = x.memory;
	t->total = x.total + gpu_overlap(2, gpu_overlap(4, x.body, more), copying) - x.body;
	t->bound = copying > x.body ? "issue" : more > x.body ? "shared" : res_name(x.bound);
	t->mostly = copying > x.body ? "copy" : more > x.body ? "bank conflicts" : "";
}

/* --- by counts: the closed forms of what is no tile ------------------------------------------------------------------ */

static struct gpu_time counted(const struct tiled_kernel *k, const struct gpu *g, const struct gpu_mem *mem)
{
	static const enum op_kind kinds[] = { OP_ATTENTION, OP_GEMM, OP_NORM };
	const struct op op = { .kind = kinds[k->problem.op],
		               .shape = tiled_time_shape_of(k),
		               .dtype = tiled_dtype(k),
		               .out_dtype = tiled_dtype(k),
		               .n_launches = 1 };
	const struct op_launch at = { .name = k->name,
		                      .grid = { k->grid[0], k->grid[1], k->grid[2] },
		                      .block = { (uint32_t)tiled_threads(k), 1, 1 },
		                      .cluster = { 1, 1, 1 },
		                      .registers = k->registers,
		                      .smem_dynamic = tiled_shared(k) };
	struct gpu_launch l = { .op = &op, .at = &at, .kernel = k->counts, .count = 1, .mem = *mem };

	l.kernel.name = k->name;
	l.kernel.form = (enum kernel_form)(k->form - 1);
	/* Heads that share keys, but not a block: each block of them reads those. */
	if (k->problem.op == TILED_ATTENTION && !l.kernel.passes)
		l.kernel.passes = (uint32_t)div_up(k->problem.heads / k->problem.kv_heads, k->tile.m);
	return gpu_time(g, &l);
}

static void by_counts(const struct tiled_kernel *k, const struct gpu *g, const struct gpu_mem *mem,
                      struct tiled_time *t)
{
	struct gpu_time x = counted(k, g, mem);

	t->chain = x.chain;
	t->busy = x.pipe;
	t->memory = x.memory;
	t->total = x.total;
	t->bound = res_name(x.bound);
	if (!k->then)
		return;
	/* Blocks meet as those that join one result do, and see it; then they begin anew. */
	const struct gpu_mem own = operands(k->then, g);

	x = counted(k->then, g, &own);
	t->chain += x.chain;
	t->busy += x.pipe;
	t->memory += x.memory;
	t->total += g->cfg->rows.join + g->c->step_l2 + x.total - x.launch;
}

/* --- scores through shared memory -------------------------------------------------------------------------------- */

static ps_t span(const struct gpu *g, uint64_t hundredths)
{
	return clock_span(hundredths / 100, g->clock);
}

/* The largest of `n`, and which. */
static ps_t largest(const ps_t *v, int n, int *at)
{
	*at = 0;
	for (int i = 1; i < n; i++)
		*at = v[i] > v[*at] ? i : *at;
	return v[*at];
}

static void name_bound(struct tiled_time *t, const struct tiled_cost *c)
{
#define X(id, name) #name,
	static const char *const parts[] = { TILED_PARTS(X) }, *const pipes[] = { TILED_PIPES(X) };
#undef X
	int part, pipe;

	largest(t->part, TILED_AT, &part);
	largest(t->pipe, TILED_ON, &pipe);
	if (t->memory > t->chain && t->memory > t->busy) {
		t->bound = "dram";
	} else if (t->busy > t->chain) {
		t->bound = pipes[pipe];
		t->mostly = parts[c->most[pipe]];
	} else {
		t->bound = "dependency";
		t->mostly = parts[part];
	}
}

static void by_cost(const struct tiled_kernel *k, const struct gpu *g, const struct gpu_mem *mem, struct tiled_time *t)
{
	const ps_t trip = gpu_step(g, mem);
	const uint64_t trip_cycles = trip * (g->clock / 1000) / 1000000;
	struct tiled_cost c;
	uint64_t steps = steps_of(k, t);
	ps_t start, again;
	int unused;

	tiled_cost(k, g, trip_cycles, &c);
	for (int i = 0; i < TILED_AT; i++) {
		t->part[i] = steps * span(g, c.part[i]);
		t->chain += t->part[i];
	}
	for (int i = 0; i < TILED_ON; i++)
		t->pipe[i] = steps * t->mates * span(g, c.pipe[i]);
	t->busy = largest(t->pipe, TILED_ON, &unused);
	/* Warps load fragments and multiply them in order: of a product by wmma on an H100, a block an SM, copies alone take 59 us,
	 * products alone 32, products with their loads 70, all of it 106. */
	if (t->pipe[TILED_ON_TENSOR] < t->busy)
		t->busy = gpu_overlap(2, t->busy, t->pipe[TILED_ON_TENSOR]);
	/* Every block reads its own tiles from the L2. */
	t->memory = ps_max(gpu_memory_time(g, mem),
	                   clock_transfer(t->blocks * div_up(steps, t->rounds) * tiled_tile_bytes(k), g->c->l2_rate));
	t->parts = true;
	/* Queries in, results out: of the first round in sight, of the others where nobody else is on the SM, and not of
	 * blocks that stay. */
	start = g->c->launch + clock_transfer(t->grid, g->c->cta_rate) + g->cfg->flash.setup + trip;
	again = k->persistent || t->mates > 1 ? 0 : (t->rounds - 1) * (trip + g->c->step_l2);
	t->total = start + again + gpu_overlap(2, gpu_overlap(4, t->chain, t->busy), t->memory);
	name_bound(t, &c);
}

/* --- calls of a library ------------------------------------------------------------------------------------------ */

static void by_calls(const struct tiled_kernel *k, const struct gpu *g, const struct gpu_mem *mem, struct tiled_time *t)
{
	const struct tiled_problem *p = &k->problem;
	const uint64_t rows = k->calls.rows ? k->calls.rows : p->q_len,
		       times = div_up(p->q_len, rows) * p->heads * p->batch, n = times * k->calls.launches;
	/* Scores go out and come back twice, in fp32; products on all tensor cores. */
	const uint64_t scores = (uint64_t)p->batch * p->heads * p->q_len * p->kv_len;
	const struct gpu_mem m = { .read = mem->read + 8 * scores,
		                   .read_hit = mem->read_hit + 8 * scores,
		                   .write = mem->write + 8 * scores };

	t->blocks = t->grid = n;
	t->rounds = t->mates = 1;
	t->busy = gpu_math_time(g, tiled_dtype(k), tiled_flops(k) / 2, g->sms);
	t->memory = gpu_memory_time(g, &m);
	t->chain = n * (g->c->launch + gpu_step(g, &m));
	t->host = n * g->cfg->host.launch;
	t->total = ps_max(t->host, t->chain + ps_max(t->busy, t->memory));
	t->bound = t->host > t->chain + ps_max(t->busy, t->memory) ? "host" : t->memory > t->busy ? "l2" : "tensor";
	t->mostly = t->host == t->total ? "launches" : "";
}

struct tiled_time tiled_time(const struct tiled_kernel *k, const struct gpu *g, const struct gpu_mem *mem)
{
	const struct gpu_mem own = operands(k, g), *m = mem ? mem : &own;
	struct tiled_time t = { .bound = "", .mostly = "" };

	if (k->calls.launches) {
		by_calls(k, g, m, &t);
		return t;
	}
	lay_out(k, g, &t);
	if (k->form != TILED_TILES)
		by_counts(k, g, m, &t);
	else if (k->math == TILED_MMA || k->math == TILED_WGMMA)
		by_form(k, g, m, &t);
	else
		by_cost(k, g, m, &t);
	return t;
}
