/* gpu_flow.c - CTAs that load, compute and store: what their chains, bytes and instructions add up to.
 *
 * A CTA has a head (dependent steps that keep no memory busy: addresses, the first load, exchanges at the end) and a
 * loop. A round is one CTA in each slot of each SM. In a round the loop's round trips and the launch's share of the
 * bytes overlap as measured on a read stream by bytes in flight (exponent `rows.overlap`), instructions hide under
 * both, except those of CTAs that load and compute in turns (see there). Rounds follow one another in each slot by
 * itself: with c CTAs of an SM out of step, one's head is under the others' bytes. That is a closed queueing network of
 * c customers, a delay Z (the head) and one server they share (M, a round's bytes); Schweitzer's fixed point has the
 * closed form cycle = (M + Z + sqrt((M - Z)^2 + 4 M Z / c)) / 2, which is M + Z for one CTA and max(M, Z) for very
 * many. The first round starts as fast as CTAs are launched and as its loads get through the DRAM's queues, both beside
 * its bytes. Stores cost DRAM time though they may stay in the L2: a copy of 16 MiB to 16 MiB that both fit takes 7.7
 * to 9.7 us (traces/h200/micro/move_cupti.csv, warm), not the 3.7 us of the L2's rate. */
#include "arch/gpu.h"

static ps_t memory(const struct gpu *g, const struct gpu_launch *l, const struct gpu_flow *f)
{
	const struct gpu_mem *m = &l->mem;
	uint64_t turned = m->write > g->stream->write_buffer ? m->write - g->stream->write_buffer : 0;
	uint64_t missed = m->read - m->read_hit + (f->where == GPU_DRAM ? f->reread : 0);
	ps_t dram = clock_transfer(missed + (m->write - turned), g->c->dram_read) +
	            clock_transfer(turned, g->c->dram_write);
	ps_t l2 = clock_transfer(m->read + m->write + (f->where == GPU_L1 ? 0 : f->reread), g->c->l2_rate);

	return ps_max(ps_max(dram, l2), gpu_memory_time(g, m));
}

/* What the fullest SM issues. */
static ps_t issue(const struct gpu *g, const struct gpu_launch *l, const struct gpu_flow *f)
{
	const struct gpu_grid *x = &f->grid;
	uint64_t per_cta = div_up(f->elements * l->kernel.instructions, x->ctas) +
	                   l->kernel.thread_instructions * 10 * round_up(x->threads, 32);
	ps_t t = gpu_issue_time(g, per_cta * div_up(x->ctas, g->sms), 1);

	return x->rounds > 1 ? ps_max(t, clock_transfer(x->ctas, g->c->cta_rate)) : t;
}

/* (m + z + sqrt((m - z)^2 + 4 m z / c)) / 2; in units that keep the squares in 64 bits. */
static ps_t round_time(ps_t m, ps_t z, uint64_t c)
{
	unsigned shift = 0;
	uint64_t d;

	while ((ps_max(m, z) >> shift) >> 30)
		shift++;
	m >>= shift;
	z >>= shift;
	d = m > z ? m - z : z - m;
	return (m + z + gpu_isqrt(d * d + 4 * m * z / (c ? c : 1))) / 2 << shift;
}

/* Round trips, bytes and instructions of a round. Instructions are under the rest where threads are independent; of
 * parties that load and compute in turns one's instructions are under the others' loads, as in a round. */
static ps_t together(const struct gpu *g, const struct gpu_flow *f, ps_t loop, ps_t memory, ps_t pipe)
{
	if (f->parties)
		return gpu_overlap(g->rows->overlap, round_time(pipe, loop, f->parties), memory);
	return gpu_overlap(g->c->overlap, gpu_overlap(g->rows->overlap, loop, memory), pipe);
}

ps_t gpu_flow_head(const struct gpu *g, const struct gpu_launch *l, const struct gpu_grid *x)
{
	bool far;
	ps_t head = clock_span(l->kernel.cycles, g->clock) + l->kernel.barriers_once * gpu_barrier(g, x->threads);

	if (!l->kernel.start)
		return head;
	/* A thread's first loads go together, one for each operand: the slowest counts. */
	far = (l->mem.read - l->mem.read_hit) * 16 > l->mem.read;
	return head + (far ? ps_max(g->c->step_dram, g->c->step_l2) : g->c->step_l2) +
	       (l->kernel.start - 1) * g->c->step_l2;
}

ps_t gpu_flow_again(const struct gpu *g, const struct gpu_launch *l, enum gpu_where reread)
{
	ps_t step = reread == GPU_DRAM ? g->c->step_dram : reread == GPU_L1 ? g->rows->step_l1 : g->c->step_l2;

	return l->kernel.again * step + clock_span(l->kernel.again_cycles, g->clock);
}

ps_t gpu_flow_turn(const struct gpu *g, const struct gpu_launch *l)
{
	return l->kernel.steps * gpu_step(g, &l->mem) +
	       l->kernel.barriers * gpu_barrier(g, (uint64_t)l->at->block[0] * l->at->block[1] * l->at->block[2]) +
	       clock_span(l->kernel.loop_cycles, g->clock);
}

/* The first loads of all CTAs queue in the DRAM's channels. */
static ps_t spread(const struct gpu *g, const struct gpu_launch *l)
{
	uint64_t missed = l->mem.read - l->mem.read_hit, half = g->stream->spread_bytes;

	missed = missed >> 30 ? UINT64_C(1) << 30 : missed;
	return (l->kernel.start || l->kernel.steps) && missed ? g->stream->spread * missed / (missed + half) : 0;
}

void gpu_flow_time(const struct gpu *g, const struct gpu_launch *l, const struct gpu_flow *f, struct gpu_time *t)
{
	const struct gpu_grid *x = &f->grid;
	uint64_t rounds = f->in_order ? 1 : x->rounds, slots = (uint64_t)x->per_sm * g->sms;
	ps_t ramp = clock_transfer(x->ctas < slots ? x->ctas : slots, g->c->cta_rate);
	ps_t all, share, first, late = spread(g, l);

	t->launch = g->c->launch;
	t->start = f->head;
	t->chain = f->loop * rounds + f->head * (rounds - 1);
	t->memory = memory(g, l, f);
	t->pipe = ps_max(issue(g, l, f), ps_max(f->math, f->sectors));
	all = together(g, f, f->loop * rounds, t->memory, t->pipe);
	share = div_up(all, rounds);
	/* Late first loads make a chain longer; bytes flow beside them. */
	first = together(g, f, f->loop + late, t->memory / rounds, t->pipe / rounds);
	first = gpu_overlap(g->rows->overlap, first, ramp);
	/* The last round may leave slots empty: its heads are missing in that measure. */
	t->body = first + (rounds - 1) * share;
	if (x->ctas > slots && rounds > 1) /* a root's last bit is missing */
		t->body += (ps_max(round_time(share, f->head, x->per_sm), share) - share) * (x->ctas - slots) / slots;
}
