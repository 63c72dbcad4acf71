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
 * its bytes; later launches go on beside everything and count only where they are the slowest. Guarded elements of the
 * last CTA are under the bytes of its round.
 * Stores cost DRAM time though they may stay in the L2: a copy of 16 MiB to 16 MiB that both fit takes 7.7 to 9.7 us
 * (traces/h200/micro/move_cupti.csv, warm), not the 3.7 us of the L2's rate. */
#include "arch/gpu/gpu_flow.h"

static ps_t memory(const struct gpu *g, const struct gpu_launch *l, const struct gpu_flow *f)
{
	const struct gpu_mem *m = &l->mem;
	uint64_t buffer = gpu_l2_share(g, g->cfg->stream.write_buffer),
		 turned = m->write > buffer ? m->write - buffer : 0;
	uint64_t missed = m->read - m->read_hit + f->reread / 1000 * f->kept.dram / 1000;
	ps_t dram = clock_transfer(missed + (m->write - turned), g->c->dram_read) +
	            clock_transfer(turned, g->c->dram_write);
	/* Hits in the L1 save a later pass latency, not time: norms of 528 rows of 16 KiB, 4 an SM, move all three passes'
	 * bytes at 7 TB/s, as copies do (traces/h200/micro/torch.csv.gz). */
	/* What is stored makes room first: bytes that leave the L2 are read in it. */
	ps_t l2 = clock_transfer(m->read + m->write + m->write_back + f->reread, g->c->l2_rate);

	return ps_max(ps_max(dram, l2), gpu_memory_time(g, m));
}

/* What the fullest SM issues. */
static ps_t issue(const struct gpu *g, const struct gpu_launch *l, const struct gpu_flow *f)
{
	const struct gpu_grid *x = &f->grid;
	uint64_t per_cta = div_up(f->elements * l->kernel.instructions, x->ctas) +
	                   l->kernel.thread_instructions * 10 * round_up(x->threads, 32);

	return ps_max(
		gpu_issue_time(g, per_cta * div_up(x->ctas, g->sms), 1),
		gpu_wave_time(g, div_up(f->elements, x->ctas) * div_up(x->ctas, g->sms), l->kernel.wavefronts, 1));
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

/* What heads add to a round whose bytes take `share`. CTAs that start together stay in step and hide nothing: an SM's
 * are launched 80 ns apart on an H200, so that of c as many are out of step as lie a head apart, all of them with 16
 * (traces/h200/micro/torch.csv.gz: sums of 264 to 2112 rows, 4 an SM, pay each head; elementwise kernels, 16, none). */
#define APART 16
static ps_t heads(ps_t share, ps_t head, uint64_t c)
{
	ps_t both = round_time(share, head, c < APART ? c * c / APART : c);

	return both > share ? both - share : 0; /* a root's last bit is missing */
}

/* Round trips, bytes and instructions of a round. Instructions are under the rest where threads are independent; of
 * parties that load and compute in turns one's instructions are under the others' loads, as in a round. */
static ps_t together(const struct gpu *g, const struct gpu_launch *l, const struct gpu_flow *f, ps_t loop, ps_t memory,
                     ps_t pipe)
{
	/* What waits for loads in its loop has the fewer bytes in flight; arithmetic between barriers lets them flow. */
	uint32_t p = l->kernel.steps || l->kernel.again ? g->cfg->rows.overlap : g->c->overlap;

	if (f->parties)
		return gpu_overlap(p, round_time(pipe, loop, f->parties), memory);
	return gpu_overlap(g->c->overlap, gpu_overlap(g->cfg->rows.overlap, loop, memory), pipe);
}

bool gpu_flow_far(const struct gpu_launch *l)
{
	return (l->mem.read - l->mem.read_hit) * 16 > l->mem.read;
}

ps_t gpu_flow_head(const struct gpu *g, const struct gpu_launch *l, const struct gpu_grid *x)
{
	ps_t head = clock_span(l->kernel.cycles, g->clock) + l->kernel.barriers_once * gpu_barrier(g, x->threads);

	if (!l->kernel.start)
		return head;
	/* A thread's first loads go together, one for each operand: the slowest counts. */
	return head + (gpu_flow_far(l) ? ps_max(g->c->step_dram, g->c->step_l2) : g->c->step_l2) +
	       (l->kernel.start - 1) * g->c->step_l2;
}

/* The two halves of an L2 each keep a copy of what their SMs read, and evict more or less at random: bytes leave the
 * sooner the more are under way. */
uint32_t gpu_flow_gone(const struct gpu *g, uint64_t bytes)
{
	uint64_t most = gpu_l2_share(g, g->cfg->rows.resident), least = most / 4;

	if (bytes <= least)
		return 0;
	return bytes >= most ? 1000000 : (uint32_t)((bytes - least) * 1000000 / (most - least));
}

ps_t gpu_flow_again(const struct gpu *g, const struct gpu_launch *l, struct gpu_kept kept)
{
	ps_t l2 = g->c->step_l2, far = ps_max(g->c->step_dram, l2) - l2, near = l2 - ps_min(g->cfg->rows.step_l1, l2);

	return l->kernel.again * (l2 + far * kept.dram / 1000000 - near * kept.l1 / 1000000) +
	       clock_span(l->kernel.again_cycles, g->clock);
}

/* Bytes that a launch before has just written lie in one half of the L2: the other half's SMs fetch them from there. */
ps_t gpu_flow_fresh(const struct gpu *g, const struct gpu_launch *l)
{
	uint64_t hit = l->fresh < l->mem.read_hit ? l->fresh : l->mem.read_hit;

	return hit >= g->c->fresh && hit * 2 > l->mem.read ? l->kernel.steps * g->c->step_fresh : 0;
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
	uint64_t missed = l->mem.read - l->mem.read_hit, half = g->cfg->stream.spread_bytes;

	missed = missed >> 30 ? UINT64_C(1) << 30 : missed;
	return (l->kernel.start || l->kernel.steps) && missed ? g->cfg->stream.spread * missed / (missed + half) : 0;
}

/* When the CTA with the tail is done, which is launched last: behind all others' first loads, or in the last round. */
static ps_t gpu_flow_behind(const struct gpu *g, const struct gpu_launch *l, const struct gpu_flow *f, ps_t before_last,
                            ps_t first)
{
	uint64_t instructions = div_up(f->elements * l->kernel.instructions, f->grid.ctas);
	ps_t read = clock_transfer(l->mem.read - l->mem.read_hit, g->c->dram_read);
	ps_t from = f->grid.rounds > 1 ? before_last : ps_max(first, read);

	return from + gpu_issue_time(g, instructions, 1) + f->tail;
}

void gpu_flow_time(const struct gpu *g, const struct gpu_launch *l, const struct gpu_flow *f, struct gpu_time *t)
{
	const struct gpu_grid *x = &f->grid;
	uint64_t rounds = f->in_order ? 1 : x->rounds, slots = (uint64_t)x->per_sm * g->sms;
	ps_t ramp = clock_transfer(x->ctas < slots ? x->ctas : slots, g->c->cta_rate);
	ps_t all, share, first, both, late = spread(g, l);

	t->launch = g->c->launch;
	t->start = f->head;
	t->chain = f->loop * rounds + f->head * (rounds - 1);
	t->memory = memory(g, l, f);
	t->pipe = ps_max(issue(g, l, f), ps_max(f->math, f->sectors));
	all = together(g, l, f, f->loop * rounds, t->memory, t->pipe);
	share = div_up(all, rounds);
	/* Late first loads make a chain longer; bytes flow beside them. */
	first = together(g, l, f, f->loop + late, t->memory / rounds, t->pipe / rounds);
	both = gpu_overlap(g->cfg->rows.overlap, first, ramp);
	/* The last round may leave slots empty: its heads are missing in that measure. */
	t->body = first + (rounds - 1) * share;
	if (x->ctas > slots && rounds > 1)
		t->body += heads(share, f->head, x->per_sm) * (x->ctas - slots) / slots;
	/* What the start costs more comes once; later CTAs are launched beside all the rest. */
	t->body = ps_max(t->body, clock_transfer(x->ctas, g->c->cta_rate)) + both - ps_max(first, ramp);
	if (f->tail) {
		ps_t last = share * ((x->ctas - 1) % slots + 1) / slots;

		t->body = ps_max(t->body, gpu_flow_behind(g, l, f, t->body - last, ps_max(late, ramp)));
	}
}
