/* map_predict.c - what a command takes by rates alone: the measure by which ways to do it are sorted out before any is
 * evaluated (map_evaluate.c). */
#include "sim/map/map_int.h"

ps_t map_move_time(const struct mapper *m, uint64_t bytes)
{
	return bytes ? m->mem_latency + clock_transfer(bytes, m->dram_rate) : 0;
}

/* Between two tiles that move so much: what levels pass on, what the unit takes, and Little's law: of the tiles that
 * SRAM, stages and descriptors hold at once, each is there from its request until it is computed. */
static ps_t pace_of(const struct mapper *m, const struct map_flow *f, uint64_t near, uint64_t far)
{
	const ps_t math = f->math + (f->nest ? m->c->dma.sync : 0),
		   passed = ps_max(clock_transfer(near, m->near_rate), clock_transfer(far, m->dram_rate));
	const double overlap = f->ahead ? 1 : m->c->mapping.overlap / 1e6;
	uint64_t at_once = ps_min(m->c->dma.stages, m->c->dma.outstanding);
	ps_t turn;

	if (!near)
		return math;
	at_once = f->slot ? ps_max(1, ps_min(at_once, (m->sram - f->held) / f->slot)) : at_once;
	turn = 2 * m->mem_latency + passed + math;
	return ps_max(ps_max(passed, math),
	              overlap < 1 ? (ps_t)((double)turn / map_places((double)at_once, overlap)) : turn / at_once);
}

ps_t map_predict(const struct mapper *m, const struct map_flow *f)
{
	ps_t t = map_move_time(m, f->pre_bytes + f->first_bytes) + f->before;

	if (f->tiles) {
		const uint64_t early = ps_min(f->early_tiles, f->tiles - 1);
		const ps_t pace = pace_of(m, f, f->near_bytes / f->tiles, f->far_bytes / f->tiles);

		t += (f->tiles - 1 - early) * pace + f->math + f->latency;
		if (early)
			t += early * pace_of(m, f, f->near_bytes / f->tiles + f->early_bytes / early,
			                     f->far_bytes / f->tiles + f->early_bytes / early);
	}
	return t + f->after + map_move_time(m, f->last_bytes + f->post_bytes);
}

/* What a candidate does outside of its product's loop. */
static struct map_flow flow_of(const struct map_candidate *d)
{
	return (struct map_flow){ .pre_bytes = map_bytes(d, ISA_LOAD, ISA_PRE),
		                  .post_bytes = map_bytes(d, ISA_STORE, ISA_POST),
		                  .before = map_spans(d, ISA_PRE),
		                  .ahead = d->ahead,
		                  .after = map_spans(d, ISA_POST) };
}

/* A loop that streams operands past a unit. */
ps_t map_predict_stream(const struct mapper *m, const struct map_candidate *d, uint64_t tiles,
                        const struct map_math *math, int n_math)
{
	struct map_flow f = flow_of(d);

	f.tiles = tiles;
	f.slot = d->slot_bytes;
	f.held = d->fixed_bytes;
	f.first_bytes = tiles ? map_bytes(d, ISA_LOAD, ISA_TILE) / tiles : 0;
	f.last_bytes = tiles ? map_bytes(d, ISA_STORE, ISA_TILE) / tiles : 0;
	f.near_bytes = d->slot_bytes * tiles;
	f.far_bytes = map_bytes(d, ISA_LOAD, ISA_TILE);
	for (int k = 0; k < n_math; k++) {
		f.math = ps_max(f.math, math[k].plan.span);
		f.latency += math[k].plan.latency + math[k].plan.span;
	}
	f.latency -= f.math;
	return map_predict(m, &f);
}
