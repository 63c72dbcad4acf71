#include "sim/engine/roofline.h"

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Bytes that may be on chip when a pass begins. */
static uint64_t may_be_there(const struct machine_cfg *c, enum run_start start, uint64_t kept)
{
	const struct memory_cfg *m = &c->mem;
	const uint64_t caches =
		m->l2.size + m->l2.victim + m->kv_buffer.size + l1_cache(&m->l1) + m->l1.victim * c->cores;

	switch (start) {
	case RUN_COLD:
		return 0;
	case RUN_RESIDENT:
		return caches + kept + sram_size(&c->sram) * c->cores;
	case RUN_STEADY:
		break;
	}
	return caches + kept + c->sram.pin * c->cores;
}

/* Of the results, what must be written before a pass ends: a cache that writes back holds them, or its writes are still on
 * their way. */
static uint64_t must_write(const struct machine_cfg *c, enum run_start start, uint64_t bytes)
{
	if (c->mem.l2.size || c->mem.kv_buffer.size)
		return 0;
	return less(bytes, start == RUN_RESIDENT ? sram_size(&c->sram) * c->cores : 0);
}

static uint32_t host_trips(const struct isa_prog *p)
{
	uint32_t n = 0;

	for (size_t i = 0; i < p->n_cmds; i++)
		n += p->cmds[i].sync;
	return n;
}

static void mapped(struct stat_reg *st, const struct machine_cfg *c, const uint64_t *peak, struct run_result *r)
{
	const struct isa_prog *p = &r->map->prog;
	const uint64_t batches = p->n_cmds ? p->cmds[p->n_cmds - 1].batch : 0;

	r->peak_ps[RES_DRAM] = clock_transfer(r->first_read_bytes, peak[RES_DRAM]);
	if (peak[RES_L2])
		r->peak_ps[RES_L2] =
			clock_transfer(stat_get(st, "l2.read_bytes") + stat_get(st, "l2.write_bytes"), peak[RES_L2]);
	if (peak[RES_KV])
		r->peak_ps[RES_KV] = clock_transfer(stat_get(st, "kv_buffer.hit_bytes"), peak[RES_KV]);
	r->peak_ps[RES_DMA] =
		clock_transfer(stat_get(st, "dma.read_bytes") + stat_get(st, "dma.write_bytes"), peak[RES_DMA]);
	for (int i = 0; i < UNIT_COUNT; i++)
		r->peak_ps[unit_table[i]->res] = stat_get(st, unit_table[i]->busy_stat);
	r->peak_ps[RES_DISPATCH] =
		batches * c->dispatch.interval + (c->dispatch.dynamic ? host_trips(p) * c->dispatch.branch : 0);
	if (p->n_cmds) /* else nothing is launched */
		r->peak_ps[RES_HOST] =
			c->dispatch.launch + (c->dispatch.dynamic ? 0 : host_trips(p) * c->dispatch.host);
	r->mapped_ps = r->peak_ps[run_largest(r->peak_ps)];
}

int roofline_of(struct stat_reg *st, const struct machine_cfg *c, enum run_start start, const uint32_t *const *picks,
                struct arena *a, struct run_result *r, struct err *e)
{
	const struct map_lower_bound *f = &r->map->floor;
	const uint64_t reads = map_lower_bound_reads(f, &r->map->prog, picks, a, e);
	uint64_t peak[RES_COUNT];

	if (e->kind)
		return -1;
	machine_peaks(c, peak);
	mapped(st, c, peak, r);
	r->compulsory_bytes =
		less(reads, may_be_there(c, start, r->map->held_bytes)) + must_write(c, start, f->write_bytes);
	r->floor_ps[f->math_res] = f->math_ps;
	r->floor_ps[RES_DRAM] = clock_transfer(r->compulsory_bytes, peak[RES_DRAM]);
	r->roofline_bound = run_largest(r->floor_ps);
	r->roofline_ps = r->floor_ps[r->roofline_bound];
	r->macs_ps = f->macs_ps;
	r->pins_ps = clock_transfer(r->dram_read_bytes + r->dram_write_bytes, peak[RES_DRAM]);
	return 0;
}
