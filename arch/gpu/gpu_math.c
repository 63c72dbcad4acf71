#include "arch/gpu/gpu_math.h"

uint64_t gpu_isqrt(uint64_t v)
{
	uint64_t r = 0, bit = UINT64_C(1) << 62;

	while (bit > v)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (v >= r + bit) {
			v -= r + bit;
			r = (r >> 1) + bit;
		} else {
			r >>= 1;
		}
	}
	return r;
}

uint64_t gpu_l2_share(const struct gpu *g, uint32_t ppm)
{
	return g->l2 / 1024 * ppm / 1000000 * 1024;
}

uint64_t gpu_missed(const struct gpu_mem *m)
{
	return m->read >> 10 ? ((m->read - m->read_hit) >> 10) * 1000000 / (m->read >> 10) : 0;
}

#define ONE (UINT64_C(1) << 30)

/* The larger times (1 + r^p)^(1/p), r the smaller over it, in 30 bits after the point. */
ps_t gpu_overlap(uint32_t p, ps_t a, ps_t b)
{
	ps_t large = ps_max(a, b), small = ps_min(a, b);
	uint64_t r, x;

	if (!small)
		return large;
	while (large >> 34) /* 17 ms: 30 bits of the ratio are there without the lowest */
		return 2 * gpu_overlap(p, a / 2, b / 2);
	r = (small << 30) / large;
	for (uint32_t k = p; k > 1; k /= 2)
		r = r * r >> 30;
	x = ONE + r;
	for (uint32_t k = p; k > 1; k /= 2)
		x = gpu_isqrt(x << 30);
	return (large >> 30) * x + ((large & (ONE - 1)) * x >> 30);
}

struct gpu_grid gpu_grid_of(const struct gpu *g, const struct gpu_launch *l)
{
	const struct op_launch *a = l->at;
	uint32_t cluster = a->cluster[0] * a->cluster[1] * a->cluster[2];
	struct gpu_grid x = { .ctas = (uint64_t)a->grid[0] * a->grid[1] * a->grid[2],
		              .threads = (uint64_t)a->block[0] * a->block[1] * a->block[2] };
	struct occupancy o = occupancy_of(&g->cfg->sm, g->sms, (uint32_t)x.threads, a->registers,
	                                  a->smem_static + a->smem_dynamic, cluster);

	x.ctas = x.ctas ? x.ctas : 1;
	x.per_sm = o.ctas ? o.ctas : 1;
	x.sms = x.ctas < o.sms ? (uint32_t)x.ctas : o.sms;
	x.rounds = div_up(x.ctas, (uint64_t)x.per_sm * o.sms);
	x.last = div_up(x.ctas, x.sms);
	x.mates = x.last < x.per_sm ? x.last : x.per_sm;
	x.last -= (x.rounds - 1) * x.mates;
	return x;
}

ps_t gpu_memory_time(const struct gpu *g, const struct gpu_mem *m)
{
	ps_t dram = clock_transfer(m->read - m->read_hit, g->c->dram_read) +
	            clock_transfer(m->write_back, g->c->dram_write);

	return ps_max(dram, clock_transfer(m->read + m->write, g->c->l2_rate));
}

ps_t gpu_missed_time(const struct gpu *g, const struct gpu_mem *m)
{
	return gpu_memory_time(g, &(struct gpu_mem){ .read = m->read - m->read_hit,
	                                             .write = m->write_back,
	                                             .write_back = m->write_back });
}

ps_t gpu_product_dram(const struct gpu *g, const struct gpu_mem *m, uint64_t sms)
{
	uint64_t bytes = m->read - m->read_hit + m->write_back;

	return clock_transfer(m->read - m->read_hit, g->c->dram_read) +
	       clock_transfer(m->write_back, g->c->dram_write) + clock_transfer(bytes, g->cfg->product.sm_dram * sms);
}

ps_t gpu_step(const struct gpu *g, const struct gpu_mem *m)
{
	uint64_t ppm = m->read ? (m->read_hit >> 20 ? (m->read_hit >> 10) * 1000000 / (m->read >> 10)
	                                            : m->read_hit * 1000000 / m->read)
	                       : 1000000;
	ps_t far = ps_max(g->c->step_dram, g->c->step_l2);

	return far - (far - g->c->step_l2) * ppm / 1000000;
}

/* Arrivals are counted one warp after the other: 20, 25, 42 and 76 ns with 128, 256, 512 and 1024 threads. */
ps_t gpu_barrier(const struct gpu *g, uint64_t threads)
{
	return threads <= 128 ? g->c->barrier : g->c->barrier + g->c->barrier * (threads - 128) / 320;
}

uint32_t gpu_flop_8bit(const struct gpu_common_cfg *c, enum dtype d)
{
	return d == DT_INT8 && c->flop_int8 ? c->flop_int8 : c->flop_fp8;
}

static uint32_t flop_rate(const struct gpu_common_cfg *c, enum dtype d)
{
	uint32_t bits = dtype_bits(d);

	if (d == DT_TF32)
		return c->flop_tf32;
	if (d == DT_FP4 && c->flop_fp4)
		return c->flop_fp4;
	return bits > 16 ? c->flop_fp32 : bits > 8 ? c->flop_bf16 : gpu_flop_8bit(c, d);
}

/* `full` has the droop of bursts in it. */
uint64_t gpu_tensor_clock(const struct gpu *g, uint64_t full)
{
	const uint64_t droops = g->top / 1000 * g->cfg->power.droop / 1000;

	return g->clock >= droops || !droops ? full : full * g->clock / droops;
}

ps_t gpu_math_time(const struct gpu *g, enum dtype d, uint64_t macs, uint32_t sms)
{
	bool tensor = dtype_bits(d) <= 16 || d == DT_TF32;

	return clock_span(div_up(2 * macs, (uint64_t)flop_rate(g->c, d) * (sms ? sms : 1)),
	                  tensor ? gpu_tensor_clock(g, g->c->clock_tensor) : g->clock);
}

ps_t gpu_wave_time(const struct gpu *g, uint64_t elements, uint32_t wavefronts10, uint32_t sms)
{
	return clock_span(div_up(elements * wavefronts10, UINT64_C(320) * (sms ? sms : 1)), g->clock);
}

ps_t gpu_issue_time(const struct gpu *g, uint64_t instructions10, uint32_t sms)
{
	return clock_span(div_up(instructions10 * 10, (uint64_t)g->c->issue * (sms ? sms : 1)), g->clock);
}

struct gpu_tiles gpu_tiles_of(const struct op_shape *s, uint64_t rows, uint64_t keys, uint64_t shared)
{
	const uint64_t past = s->kv_len > s->q_len ? s->kv_len - s->q_len : 0;
	struct gpu_tiles t = { .blocks = div_up(s->q_len * shared, rows) };

	for (uint64_t b = 0; b < t.blocks; b++) {
		const uint64_t first = past + b * rows / shared, last = past + ((b + 1) * rows - 1) / shared + 1;
		const uint64_t end = s->causal && last < s->kv_len ? last : s->kv_len;
		const uint64_t from = s->window && first >= s->window ? first + 1 - s->window : 0;
		const uint64_t n = div_up(end, keys) - (from < end ? from / keys : 0);

		t.all += n;
		t.longest = n > t.longest ? n : t.longest;
	}
	return t;
}

ps_t gpu_queries_time(const struct gpu *g, const struct gpu_launch *l)
{
	const struct op_shape *s = &l->op->shape;
	const uint64_t heads = s->heads * s->q_len, keys = 2 * (s->kv_heads ? s->kv_heads : s->heads) * s->kv_len;
	const uint64_t both = l->mem.read / (heads + keys) * heads + l->mem.write;
	const struct gpu_mem m = { .read = both, .read_hit = both / 1000000 * (1000000 - gpu_missed(&l->mem)) };

	return gpu_memory_time(g, &m);
}
