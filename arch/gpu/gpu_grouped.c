/* gpu_grouped.c - see the head of arch/gpu/gpu.h.
 *
 * Products of a group each in one launch (a mixture's experts), CUTLASS's pipeline with an array of pointers: persistent
 * clusters take the tiles of all groups in turn. Before a tile of another group a warp writes tensor maps with that
 * group's pointers and sizes, makes them visible and waits until it may use them; only then are the first stages of the
 * tile asked for, so that a tile costs that beside its steps over k. A step takes the longest of its math, of what all
 * clusters bring from the L2 meanwhile and, of a group's first tile along the tokens, of the weights that they bring from
 * DRAM: later tiles find those in the L2, which is no faster than math. CTAs of a cluster share each tile of weights, also
 * where the group has rows for one of them only. Clusters that are at the same group ask for the same lines of tokens, and
 * get them one after the other: a CTA that has few rows, or none, waits for few lines that all want. The first stages of
 * all clusters come before anything goes on. Where two groups of warps make one tile, nothing hides its store.
 * How many rows each group has is not known: picks are even, rows of a group vary as those of a Poisson process.
 * Leaves out: the search for a tile's group, empty groups. */
#include "arch/gpu/gpu_form.h"

#define FORCED \
	"random search over half of 443 products of known groups, H200: traces/h200/micro/grouped.csv, " \
	"grouped_rows.csv; 3.5 % off in the mean, the other half 3.8"

const struct cfg_field gpu_grouped_schema[] = {
	CFG_PS(struct gpu_grouped_cfg, setup, "setup", "4.83 us", 0, 100 * PS_US, NULL,
	       "before the first tile and after the last: sizes of groups, tensor maps, the cluster, the store",
	       FORCED),
	CFG_PS(struct gpu_grouped_cfg, tile, "tile", "816 ns", 0, 100 * PS_US, NULL,
	       "between tiles of two groups: tensor maps, the first stage", FORCED),
	CFG_PS(struct gpu_grouped_cfg, same, "same", "38.3 ns", 0, 100 * PS_US, NULL,
	       "of a step more for each CTA of a cluster, over its rows", FORCED),
	CFG_PS(struct gpu_grouped_cfg, sharer, "sharer", "2.6 ns", 0, 100 * PS_US, NULL,
	       "... and for each cluster that is at that group", FORCED),
	CFG_END
};

#define MILLION   UINT64_C(1000000)
#define SAMPLES   32
#define MOST_ROWS (UINT64_C(1) << 32) /* of a group; more are as many */

/* Of a group in the mean, millionths: tiles along its tokens, and for each CTA of each tile one over its rows. */
struct group_rows {
	uint64_t tiles, thin;
};

static uint64_t one_over(uint64_t rows)
{
	return MILLION / (rows ? rows : 1);
}

/* Rows as many as the mean more or less, evenly spread as far as their square root says. */
static struct group_rows group_rows_of(uint64_t rows, uint64_t groups, uint64_t tile, uint64_t cluster)
{
	const uint64_t mean = ps_min(div_up(rows, groups), MOST_ROWS), wide = rows > groups ? gpu_isqrt(3 * mean) : 0,
		       low = mean > wide ? mean - wide : 0, all = tile * cluster;
	struct group_rows x = { 0, 0 };

	for (uint64_t i = 0; i < SAMPLES; i++) {
		const uint64_t at = low + (2 * i + 1) * (mean + wide - low) / (2 * SAMPLES), n = at ? at : 1,
			       whole = n / all;
		uint64_t rest = n % all;

		x.tiles += (whole + (rest > 0)) * MILLION;
		x.thin += whole * cluster * one_over(tile);
		for (uint64_t c = 0; rest && c < cluster; c++) {
			const uint64_t from = c * tile;

			x.thin += one_over(rest > from ? ps_min(rest - from, tile) : 0);
		}
	}
	x.tiles /= SAMPLES;
	x.thin /= SAMPLES;
	return x;
}

static uint64_t gpu_grouped_rows_of(const struct gpu_launch *l)
{
	const struct op_shape *s = &l->op->shape;
	uint64_t row = dtype_bytes(l->op->dtype, s->k);

	if (l->op->n_operands && row && l->stream)
		return l->stream->operands[l->op->first_operand].touched / row;
	return s->m * s->batch;
}

/* What a tile's steps bring, of all clusters together. */
struct grouped_step {
	ps_t math, first; /* of a CTA; the weights from DRAM, of a group's first tile */
	uint64_t bytes;   /* of a cluster, from the L2 */
	uint64_t share;   /* of the tiles that are a group's first, millionths */
	ps_t thin;
};

/* In the mean of all tiles, where `busy` of all clusters have one. */
static ps_t step_of(const struct gpu *g, const struct grouped_step *x, uint64_t busy, uint64_t clusters)
{
	const ps_t work = gpu_overlap(8, x->math, clock_transfer(x->bytes * busy, g->cfg->product.l2_rate)),
		   first = gpu_overlap(g->c->overlap, work, x->first * busy / clusters);

	return work + (first - work) * x->share / MILLION + x->thin;
}

void gpu_grouped(const struct gpu *g, const struct gpu_launch *l, struct gpu_time *t)
{
	const struct gpu_grouped_cfg *p = &g->cfg->grouped;
	const struct kernel *k = &l->kernel;
	const struct op *o = l->op;
	const struct op_shape *s = &o->shape;
	const struct gpu_grid x = gpu_grid_of(g, l);
	const uint64_t cluster = k->cluster_n ? k->cluster_n : 1, groups = s->batch ? s->batch : 1;
	const uint64_t clusters = x.sms / cluster ? x.sms / cluster : 1, rows = gpu_grouped_rows_of(l);
	struct group_rows each;
	struct grouped_step step;
	uint64_t across, units, rest, steps, in_tile, at_group;
	ps_t all, between;

	if (!k->tile_m || !k->tile_n || !k->tile_k) {
		gpu_plain(g, l, t);
		return;
	}
	across = div_up(s->n, k->tile_m);
	each = group_rows_of(rows, groups, k->tile_n, cluster);
	units = groups * across * (each.tiles / MILLION) + groups * across / MILLION * (each.tiles % MILLION) +
	        groups * across % MILLION * (each.tiles % MILLION) / MILLION;
	rest = units % clusters;
	steps = div_up(s->k, k->tile_k);
	in_tile = ps_min(div_up(rows, groups), MOST_ROWS) * MILLION / each.tiles;
	in_tile = in_tile ? in_tile : 1;
	t->memory = gpu_product_dram(g, &l->mem, x.sms);
	all = t->memory * clusters / (units * steps);
	at_group = across < clusters ? across : clusters;
	step = (struct grouped_step){
		.math = gpu_math_time(g, o->dtype, (uint64_t)k->tile_m * k->tile_n * k->tile_k, 1),
		.first = t->memory * clusters / (groups * across * steps),
		.bytes = (ps_min(in_tile, k->tile_n * cluster) + k->tile_m) * k->tile_k * dtype_bits(o->dtype) / 8,
		.share = MILLION * MILLION / each.tiles,
		.thin = (p->same + p->sharer * at_group) * each.thin / each.tiles,
	};
	between = p->tile * ps_min(MILLION, clusters * MILLION / across * MILLION / each.tiles) / MILLION;
	if (k->cooperates)
		between += clock_transfer(k->tile_m * ps_min(div_up(in_tile, cluster), k->tile_n) *
		                                  dtype_bits(o->out_dtype) / 8,
		                          g->cfg->product.store_rate);
	/* The first stages: all that is in flight. */
	t->start = p->setup +
	           (k->stages < steps ? k->stages : steps) * all * (units < clusters ? units : clusters) / clusters;
	t->chain = units / clusters * (between + steps * step_of(g, &step, clusters, clusters));
	if (rest)
		t->chain += between + steps * step_of(g, &step, rest, clusters);
	t->pipe = div_up(units, clusters) * steps * step.math;
	t->body = t->chain;
}
