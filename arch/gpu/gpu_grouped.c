/* gpu_grouped.c - see the head of arch/gpu/gpu.h.
 *
 * Products of a group each in one launch (a mixture's experts), CUTLASS's pipeline with an array of pointers: persistent
 * clusters take the tiles of all groups in turn. Before a tile of another group a warp writes tensor maps with that
 * group's pointers and sizes, makes them visible and waits until it may use them; only then are the first stages of the
 * tile asked for, so that a tile costs that beside its steps over k. A step takes the longer of its multiplications and
 * its stage: what a CTA needs for a stage, and its bytes. CTAs of a cluster have tokens of their own and share each tile
 * of weights, also where the group has rows for one of them only.
 * How many rows each group has is not known: picks are even, rows of a group vary as those of a Poisson process.
 * Leaves out: the search for a tile's group, empty groups. */
#include "arch/gpu/gpu_form.h"

#define FORCED "by eye on steps of two mixtures, H200; groups of known rows are to be measured"

const struct cfg_field gpu_grouped_schema[] = {
	CFG_PS(struct gpu_grouped_cfg, setup, "setup", "4 us", 0, 100 * PS_US, NULL,
	       "before the first tile and after the last: sizes of groups, tensor maps, the cluster", FORCED),
	CFG_PS(struct gpu_grouped_cfg, tile, "tile", "1 us", 0, 100 * PS_US, NULL,
	       "between tiles: tensor maps of another group, the first stage", FORCED),
	CFG_PS(struct gpu_grouped_cfg, step, "step", "500 ns", 1, 100 * PS_US, NULL,
	       "a stage of the pipeline without math", FORCED),
	CFG_END
};

#define MILLION UINT64_C(1000000)

/* Sum over 0 < x <= end of x / tile rounded up. */
static uint64_t tiles_upto(uint64_t end, uint64_t tile)
{
	uint64_t whole = end / tile;

	return tile * whole * (whole + 1) / 2 + (end - whole * tile) * (whole + 1);
}

/* Tiles along the tokens of a group, in millionths: of rows as many as the mean more or less, evenly spread as far as
 * their square root says. */
static uint64_t tiles_of_rows(uint64_t rows, uint64_t groups, uint64_t tile)
{
	uint64_t mean = div_up(rows, groups), wide = gpu_isqrt(3 * mean);
	uint64_t low = mean > wide ? mean - wide : 0, high = mean + wide;

	if (rows <= groups || high <= tile)
		return MILLION;
	return (tiles_upto(high, tile) - tiles_upto(low, tile)) * MILLION / (high - low);
}

static uint64_t rows_of(const struct gpu_launch *l)
{
	const struct op_shape *s = &l->op->shape;
	uint64_t row = dtype_bytes(l->op->dtype, s->k);

	if (l->op->n_operands && row && l->stream)
		return l->stream->operands[l->op->first_operand].touched / row;
	return s->m * s->batch;
}

void gpu_grouped(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct gpu_grouped_cfg *p = &g->cfg->grouped;
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	const struct gpu_grid x = gpu_grid_of(g, l);
	const uint64_t cluster = k->cluster_n ? k->cluster_n : 1, groups = s->batch ? s->batch : 1;
	const uint64_t clusters = x.sms / cluster ? x.sms / cluster : 1;
	uint64_t units, rounds, steps;
	ps_t math, step;

	if (!k->tile_m || !k->tile_n || !k->tile_k) {
		gpu_plain(g, l, t);
		return;
	}
	units = groups * div_up(s->n, k->tile_m) * tiles_of_rows(rows_of(l), groups, k->tile_n * cluster) / MILLION;
	rounds = div_up(units, clusters);
	steps = div_up(s->k, k->tile_k);
	math = gpu_math_time(g, l->op->dtype, (uint64_t)k->tile_m * k->tile_n * k->tile_k, 1);
	step = gpu_overlap(g->c->overlap, p->step, math);
	t->start = p->setup + gpu_step(g, &l->mem);
	t->chain = rounds * (p->tile + steps * step);
	t->pipe = rounds * steps * math;
	t->memory = gpu_product_dram(g, &l->mem, x.sms);
	t->body = gpu_overlap(g->c->overlap, t->chain, t->memory);
	t->finish = clock_transfer((uint64_t)k->tile_m * k->tile_n * dtype_bytes(l->op->out_dtype, 1),
	                           g->cfg->product.store_rate);
}
