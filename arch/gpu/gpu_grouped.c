/* gpu_grouped.c - see the head of arch/gpu/gpu.h.
 *
 * Products of a group each in one launch (a mixture's experts), CUTLASS's pipeline with an array of pointers: persistent
 * clusters take the tiles of all groups in turn. Before a tile of another group a warp writes tensor maps with that
 * group's pointers and sizes, makes them visible and waits until it may use them; only then are the first stages of the
 * tile asked for, so that a tile costs that beside its steps over k. A step takes the longer of its math and of the
 * weights that all clusters bring from DRAM meanwhile; CTAs of a cluster share each tile of weights, also where the group
 * has rows for one of them only. Clusters that are at the same group ask for the same few lines of tokens, and get them
 * one after the other: the fewer rows, the fewer lines. The first stages of all clusters come before anything goes on.
 * How many rows each group has is not known: picks are even, rows of a group vary as those of a Poisson process.
 * Leaves out: the search for a tile's group, empty groups. */
#include "arch/gpu/gpu_form.h"

#define FORCED \
	"random search over 149 products of known groups, H200: traces/h200/micro/grouped.csv; 4.6 % off in the mean"

const struct cfg_field gpu_grouped_schema[] = {
	CFG_PS(struct gpu_grouped_cfg, setup, "setup", "5.9 us", 0, 100 * PS_US, NULL,
	       "before the first tile and after the last: sizes of groups, tensor maps, the cluster, the store",
	       FORCED),
	CFG_PS(struct gpu_grouped_cfg, tile, "tile", "1.28 us", 0, 100 * PS_US, NULL,
	       "between tiles: tensor maps of another group, the first stage", FORCED),
	CFG_PS(struct gpu_grouped_cfg, same, "same", "68 ns", 0, 100 * PS_US, NULL,
	       "of a step more where a group has one row", FORCED),
	CFG_PS(struct gpu_grouped_cfg, sharer, "sharer", "4.9 ns", 0, 100 * PS_US, NULL,
	       "... and for each cluster that is at that group", FORCED),
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

/* What a step takes where `busy` of all clusters have a tile: `all` is what the weights of all take from DRAM. */
static ps_t step_of(const struct gpu_grouped_cfg *p, ps_t math, ps_t all, uint64_t busy, uint64_t clusters,
                    uint64_t sharers, uint64_t root)
{
	ps_t same = (p->same + p->sharer * (sharers < busy ? sharers : busy)) * 100 / root;

	return gpu_overlap(8, math, all * busy / clusters) + same;
}

void gpu_grouped(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct gpu_grouped_cfg *p = &g->cfg->grouped;
	const struct kernel *k = &l->kernel;
	const struct op_shape *s = &l->op->shape;
	const struct gpu_grid x = gpu_grid_of(g, l);
	const uint64_t cluster = k->cluster_n ? k->cluster_n : 1, groups = s->batch ? s->batch : 1;
	const uint64_t clusters = x.sms / cluster ? x.sms / cluster : 1, rows = rows_of(l);
	uint64_t across, units, rest, steps, root;
	ps_t math, all;

	if (!k->tile_m || !k->tile_n || !k->tile_k) {
		gpu_plain(g, l, t);
		return;
	}
	across = div_up(s->n, k->tile_m);
	units = groups * across * tiles_of_rows(rows, groups, k->tile_n * cluster) / MILLION;
	units = units ? units : 1;
	rest = units % clusters;
	steps = div_up(s->k, k->tile_k);
	root = gpu_isqrt(rows * 10000 / groups); /* of a group's rows, in hundredths */
	root = root > 100 ? root : 100;
	math = gpu_math_time(g, l->op->dtype, (uint64_t)k->tile_m * k->tile_n * k->tile_k, 1);
	t->memory = gpu_product_dram(g, &l->mem, x.sms);
	all = t->memory * clusters / (units * steps);
	/* The first stages: all that is in flight. */
	t->start = p->setup +
	           (k->stages < steps ? k->stages : steps) * all * (units < clusters ? units : clusters) / clusters;
	t->chain = units / clusters * (p->tile + steps * step_of(p, math, all, clusters, clusters, across, root));
	if (rest)
		t->chain += p->tile + steps * step_of(p, math, all, rest, clusters, across, root);
	t->pipe = div_up(units, clusters) * steps * math;
	t->body = t->chain;
}
