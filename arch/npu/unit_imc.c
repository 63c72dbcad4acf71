/* unit_imc.c - in-memory units: SRAM arrays that multiply the weights that lie in them.
 *
 * Models: `units` arrays a core of `rows` x `cols` cells of `cell_bits` bits. Weights lie along rows by k and along columns by
 * n, a weight over as many columns as it has bits. `active` rows multiply in a cycle with `input_bits` bits of their
 * activation, so a row of activations passes in rows / active turns of its bits / input_bits cycles; an adder tree, or an
 * ADC that `share` columns take turns at, sums each column. Fewer rows of an array may be used where it is sooner done.
 * Before it multiplies, an array is written, `write` rows a cycle, and other weights take its place: every command does so
 * again, unless the array was written while it multiplied (`write_beside`), and unless its weights stay.
 * What stays: with `keep`, weights that fit the arrays of the cores are written once and are there in every later step; no
 * byte of them is moved or written then (sim/map/map_stationary.c chooses which). A product's lie over as many arrays as make it
 * soonest done, with others' above, below and beside them.
 * Weights that do not fit are spread over all arrays, in rounds; where there are more arrays than they need, copies of them
 * share the rows of activations. Sums along k of several arrays pass SRAM, as a matrix unit's do; over cores as partition.h says.
 * The rate is that of bits: weights narrower than activations are widened before they are written, unless the unit
 * multiplies the pair. Floating formats pass by their bits, aligned on the way (Tu et al., ISSCC 2022, ReDCIM).
 * Leaves out: noise and the resolution of ADCs; gaps between weights that stay; several tiles of a small k in one array
 * where they do not; sparsity.
 * Closed form: rounds of max or sum of (rows / write) and m / copies * ceil(rows / active) * ceil(bits / input_bits) *
 * share cycles. Sources of the shape: Chih et al., ISSCC 2021 (digital, bit-serial); Valavi et al., JSSC 2019, and Jia et
 * al., JSSC 2020 (columns that share an ADC). */
#include "arch/npu/unit.h"
#include "arch/power/energy.h"

struct imc_cfg {
	uint32_t units, rows, cols; /* arrays a core; 0: absent */
	uint32_t cell_bits, active, input_bits, share, write;
	bool write_beside, keep;
	struct unit_pairs pairs;
	uint64_t mac_energy;
};
_Static_assert(sizeof(struct imc_cfg) <= UNIT_CFG_BYTES, "a unit's section has its room");

const struct cfg_field imc_schema[] = {
	CFG_U32(struct imc_cfg, units, "units", "0", 0, 65536, NULL, "in-memory arrays a core; 0: none",
	        "none: a machine says so if it has them"),
	CFG_U32(struct imc_cfg, rows, "rows", "256", 1, 65536, cfg_pow2, "rows of cells of an array: along k",
	        "256: Chih et al., ISSCC 2021, a 64 Kb macro"),
	CFG_U32(struct imc_cfg, cols, "cols", "256", 1, 65536, cfg_pow2,
	        "columns of cells of an array: along n, as many a weight as it has bits",
	        "256: Chih et al., ISSCC 2021, 64 weights of 4 bits"),
	CFG_U32(struct imc_cfg, cell_bits, "cell_bits", "1", 1, 8, cfg_pow2, "bits of a cell", "an SRAM cell"),
	CFG_U32(struct imc_cfg, active, "active", "256", 1, 65536, cfg_pow2, "rows that multiply in a cycle",
	        "all: Chih et al., ISSCC 2021; analog macros have 16 to 64 and more"),
	CFG_U32(struct imc_cfg, input_bits, "input_bits", "1", 1, 16, cfg_pow2, "bits of an activation in a cycle",
	        "bit-serial: Chih et al., ISSCC 2021"),
	CFG_U32(struct imc_cfg, share, "share", "1", 1, 256, NULL, "columns that take turns at one ADC or adder tree",
	        "one: digital macros have a tree a column; analog ones share an ADC among 4 to 16"),
	CFG_U32(struct imc_cfg, write, "write", "1", 1, 65536, NULL, "rows written in a cycle", "one word line"),
	CFG_BOOL(struct imc_cfg, write_beside, "write_beside", "false", "an array is written while it multiplies",
	         "off; on: Fujiwara et al., ISSCC 2022, simultaneous MAC and write"),
	CFG_BOOL(struct imc_cfg, keep, "keep", "true", "weights that fit the arrays stay in them from step to step",
	         "what the arrays are for"),
	UNIT_PAIRS_SCHEMA(struct imc_cfg, pairs),
	UNIT_ENERGY_SCHEMA(struct imc_cfg, mac_energy),
	CFG_END
};

static const struct imc_cfg *cfg(const struct unit_env *u)
{
	return (const struct imc_cfg *)u->cfg;
}

/* Weights that lie side by side in an array. */
static uint64_t across(const struct imc_cfg *c, enum dtype weight, enum dtype with)
{
	return (uint64_t)c->cols * c->cell_bits / unit_width(&c->pairs, weight, with);
}

/* Cycles of one row of activations against so many rows of cells. */
static uint64_t beats(const struct imc_cfg *c, enum dtype weight, enum dtype with, uint64_t rows)
{
	const uint32_t bits = dtype_bits(with ? with : weight);

	return div_up(rows, c->active) * div_up(bits, c->input_bits) * c->share;
}

static uint64_t active(const struct imc_cfg *c)
{
	return c->active < c->rows ? c->active : c->rows;
}

static uint64_t peak(const struct unit_env *u, enum dtype weight, enum dtype with)
{
	const struct imc_cfg *c = cfg(u);

	return div_up(unit_arrays(u) * active(c) * across(c, weight, with), beats(c, weight, with, 1));
}

static bool native(const struct unit_env *u, enum dtype weight, enum dtype with)
{
	return unit_pair(&cfg(u)->pairs, dtype_bits(weight), dtype_bits(with));
}

static uint64_t grain(const struct unit_env *u)
{
	const uint64_t n = across(cfg(u), DT_INT8, DT_INT8);

	return unit_arrays(u) * (n ? n : 1);
}

static uint64_t depth(const struct unit_env *u)
{
	return cfg(u)->rows;
}

/* Adding up the partial sums of all outputs, of so many arrays along k. */
static uint64_t unit_imc_sums(const struct unit_env *u, const struct unit_job *j, uint64_t parts)
{
	return log2_up(parts) * div_up(8 * j->m * j->n, sram_rate(u->sram, u->cores));
}

/* With so many rows of each array: rounds over the arrays, or copies of what they hold. */
static uint64_t cycles(const struct unit_env *u, const struct unit_job *j, uint64_t rows)
{
	const struct imc_cfg *c = cfg(u);
	const uint64_t down = div_up(j->k, rows), arrays = unit_arrays(u), used = j->k < rows ? j->k : rows,
		       beat = beats(c, j->dtype, j->with, used), write = div_up(used, c->write),
		       tiles = down * div_up(j->n, across(c, j->dtype, j->with)), rounds = div_up(tiles, arrays),
		       copies = rounds == 1 ? arrays / tiles : 1, multiply = div_up(j->m, copies) * beat,
		       each = !c->write_beside   ? write + multiply
	                      : write > multiply ? write
	                                         : multiply;

	return rounds * each + (c->write_beside ? write : 0) + unit_imc_sums(u, j, down);
}

/* --- what stays -------------------------------------------------------------------------------------------- */

/* Of weights that stay: rows of k in a tile, and tiles in one array. Others' lie below and above them. */
struct stay {
	uint64_t rows, rounds;
};

static uint64_t stay_cycles(const struct unit_env *u, const struct unit_job *j, const struct stay *x)
{
	const struct imc_cfg *c = cfg(u);

	return x->rounds * j->m * beats(c, j->dtype, j->with, x->rows) + unit_imc_sums(u, j, div_up(j->k, x->rows));
}

/* Over as many arrays as make one row of activations pass soonest: it is chosen once, whatever is multiplied later. */
static struct stay stay_of(const struct unit_env *u, const struct unit_job *j)
{
	const struct imc_cfg *c = cfg(u);
	const uint64_t cols = div_up(j->n, across(c, j->dtype, j->with));
	struct stay best = { 0, 0 };
	struct unit_job one = *j;

	one.m = 1;
	for (uint64_t rows = c->rows; rows >= active(c) && rows; rows /= 2) {
		const struct stay x = { j->k < rows ? j->k : rows, div_up(div_up(j->k, rows) * cols, unit_arrays(u)) };

		if (!best.rows || stay_cycles(u, &one, &x) < stay_cycles(u, &one, &best))
			best = x;
	}
	return best;
}

/* A place is a bit of a column, of as many rows as are active: weights of several products lie side by side. */
static uint64_t unit_imc_holds(const struct unit_env *u)
{
	const struct imc_cfg *c = cfg(u);

	return c->keep ? unit_arrays(u) * (c->rows / active(c)) * c->cols * c->cell_bits : 0;
}

static uint64_t takes(const struct unit_env *u, const struct unit_job *j)
{
	const struct imc_cfg *c = cfg(u);

	if (!across(c, j->dtype, j->with))
		return UINT64_MAX;
	return div_up(j->k, active(c)) * j->n * unit_width(&c->pairs, j->dtype, j->with);
}

/* All arrays are written at once. */
static ps_t unit_imc_written(const struct unit_env *u, const struct unit_job *j)
{
	const struct stay x = stay_of(u, j);

	return clock_span(x.rounds * div_up(x.rows, cfg(u)->write), u->clock_khz);
}

/* --- a product --------------------------------------------------------------------------------------------- */

static uint64_t fewest_cycles(const struct unit_env *u, const struct unit_job *j)
{
	uint64_t best = UINT64_MAX;

	for (uint64_t rows = cfg(u)->rows; rows; rows /= 2) {
		const uint64_t t = cycles(u, j, rows);

		best = t < best ? t : best;
	}
	return best;
}

static bool unit_imc_plan(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	const struct imc_cfg *c = cfg(u);
	const uint64_t fed = (j->held ? 0 : dtype_bytes(j->dtype, j->n * j->k)) +
	                     dtype_bytes(j->with ? j->with : DT_BF16, j->m * j->k),
		       feed = div_up(fed, sram_rate(u->sram, u->cores));
	struct stay x;
	uint64_t t;

	if (j->work != UNIT_PRODUCT || !across(c, j->dtype, j->with))
		return false;
	x = j->held ? stay_of(u, j) : (struct stay){ 0, 0 };
	t = j->held ? stay_cycles(u, j, &x) : fewest_cycles(u, j);
	*out = (struct unit_plan){ .span = clock_span(t > feed ? t : feed, u->clock_khz),
		                   .latency = clock_span(log2_up(c->rows), u->clock_khz),
		                   .work = j->m * j->n * j->k,
		                   .code = ISA_IMC,
		                   .why = j->held ? "in memory, weights stay" : "in memory, weights written" };
	return true;
}

/* A bit's cells have its multiplier and its part of the adder tree with them. */
static struct area_part area(const struct unit_env *u, const struct tech *t)
{
	const struct imc_cfg *c = cfg(u);

	return (struct area_part){ .sram = energy_events(unit_arrays(u) * c->rows * c->cols * c->cell_bits,
		                                         t->sram.cell, t->die.sram.imc) };
}

/* Weights are where they are multiplied. */
static void reuse(const struct unit_env *u, struct unit_reuse *out)
{
	const uint64_t n = across(cfg(u), DT_INT8, DT_INT8);

	*out = (struct unit_reuse){ .activations = n ? n : 1, .sums = cfg(u)->rows };
}

static uint64_t mac_energy(const struct unit_env *u)
{
	return cfg(u)->mac_energy;
}

static const char *const knobs[] = { "units", "rows", "cols", "active", "input_bits", "write", NULL };

const struct unit_ops imc_unit = { .name = "imc",
	                           .label = "in-memory",
	                           .res = RES_IMC,
	                           .plan = unit_imc_plan,
	                           .peak = peak,
	                           .native = native,
	                           .grain = grain,
	                           .depth = depth,
	                           .holds = unit_imc_holds,
	                           .takes = takes,
	                           .written = unit_imc_written,
	                           .area = area,
	                           .reuse = reuse,
	                           .mac_energy = mac_energy,
	                           .busy_stat = "imc.busy_ps",
	                           .work_stat = "imc.macs",
	                           .knobs = knobs };
