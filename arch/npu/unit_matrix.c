/* unit_matrix.c - matrix units: systolic arrays, one operand held in them while the others stream past.
 *
 * Models: `units` arrays a core of `rows` x `cols` MACs, any numbers. What is held, by `dataflow`:
 *     ws   weights: rows along k, cols along n; a fold streams the m vectors
 *     os   outputs: rows along m, cols along n; a fold streams k
 *     is   activations: rows along k, cols along m; a fold streams the n rows of weights
 * With two weight buffers a fold's operand shifts in, a row a cycle, while the fold before streams: a fold costs the
 * longer of the two, and filling and draining the array is latency, once however many folds follow each other. With one
 * buffer nothing overlaps: a fold costs 2 rows + cols + what streams - 2, as SCALE-Sim counts it, and latency is none.
 * Folds are spread over a core's arrays (and over cores, partition.h): along the dimensions of what is held, along what streams (each array
 * has a part of the stream and all of its folds), or along k, whose partial sums then pass SRAM; the fewest cycles win.
 * More rows than one may shift in a cycle (`shift`), what streams may come in groups (`group`), and an array may always be
 * loaded whole (`whole_folds`).
 * The rate in the k direction is `rate_8bit` or `rate_4bit` times that of 16 bits, by the wider operand; 32-bit
 * operands pass twice. Where a table of ops says how often operands pass, that says the rate (`passes`). Part of an array may be used, so a larger one is never slower.
 * N:M sparsity (`sparse`): an array holds the weights that are there and picks each one's activation from its M neighbours by
 * the place that is stored with it, so k is N of M as long; all activations still pass. Otherwise zeros are multiplied.
 * Where what brings operands from the scratchpad to a core's arrays is narrower than the arrays take them (`feed`): of a block of
 * block_rows x block_cols sums that registers hold, each step along k brings a row and a column, so activations come once a block
 * of columns and weights once a block of rows. A product takes the longer of that and its folds.
 * Leaves out: arrays of which each takes part in several products.
 * Source of the one-buffer form: Samajdar et al., ISPASS 2020 (SCALE-Sim). */
#include "arch/npu/unit.h"

#define MORE_FOLDS 16 /* than the fewest: tried */

enum dataflow { WS, OS, IS };
static const char *const dataflow_names[] = { "ws", "os", "is", NULL };

struct matrix_cfg {
	uint32_t units, rows, cols; /* units a core; 0: absent */
	uint32_t dataflow;          /* enum dataflow */
	uint32_t weight_buffers;
	uint32_t shift;                  /* rows of the held operand that shift in a cycle */
	uint32_t group;                  /* of what streams, that come together */
	uint64_t feed;                   /* bytes a cycle and core into the arrays; 0: as fast as they take them */
	uint32_t block_rows, block_cols; /* sums that registers hold of a product: rows along m, columns along n */
	uint32_t efficiency;             /* ppm: of the cycles that its folds take, those that it gets on with them */
	bool whole_folds;                /* all of an array's rows and columns are loaded, whatever is used of them */
	bool sparse;
	uint32_t rate_8bit, rate_4bit;
	uint32_t passes; /* that the 16-bit rate is of */
	struct unit_pairs pairs;
	uint64_t mac_energy;
};
_Static_assert(sizeof(struct matrix_cfg) <= UNIT_CFG_BYTES, "a unit's section has its room");

const struct cfg_field matrix_schema[] = {
	CFG_U32(struct matrix_cfg, units, "units", "1", 0, 1024, NULL, "systolic arrays a core; 0: none", "our choice"),
	CFG_U32(struct matrix_cfg, rows, "rows", "64", 1, 4096, NULL, "rows of an array: along k (ws, is) or m (os)",
	        "our choice; TPU v1 has 256 (Jouppi et al., ISCA 2017)"),
	CFG_U32(struct matrix_cfg, cols, "cols", "64", 1, 4096, NULL, "columns of an array: along n (ws, os) or m (is)",
	        "our choice; TPU v1 has 256 (Jouppi et al., ISCA 2017)"),
	CFG_ENUM(struct matrix_cfg, dataflow, "dataflow", "ws", dataflow_names,
	         "what an array holds while the rest streams: weights, outputs or activations (inputs)",
	         "weights, as the TPU (Jouppi et al., ISCA 2017)"),
	CFG_U32(struct matrix_cfg, weight_buffers, "weight_buffers", "2", 1, 2, NULL,
	        "2: the next fold's operand shifts in while this one streams; 1: it waits",
	        "two, as the TPU's weight FIFO (Jouppi et al., ISCA 2017)"),
	CFG_U32(struct matrix_cfg, shift, "shift", "1", 1, 4096, NULL,
	        "rows of the held operand that shift in a cycle (with two buffers)",
	        "one, as the TPU v1 (256 cycles for a tile of 256 rows; Jouppi et al., ISCA 2017)"),
	CFG_U32(struct matrix_cfg, group, "group", "1", 1, 4096, NULL, "what streams comes in whole groups of so many",
	        "one by one"),
	CFG_BOOL(struct matrix_cfg, whole_folds, "whole_folds", "false",
	         "a fold loads all rows and columns of the array, also where fewer are used (with two buffers)",
	         "off: folds of equal size"),
	CFG_PPM(struct matrix_cfg, efficiency, "efficiency", "1", 10000, 1000000,
	        "part of the time that an array gets on with its folds; the rest waits for registers and instructions",
	        "1: what a sheet's peak says"),
	CFG_BYTES(
		struct matrix_cfg, feed, "feed", "0 B", 0, 1 << 20, NULL,
		"bytes a cycle that come from a core's scratchpad into its arrays; 0: as fast as they take them",
		"not limited; Tenstorrent's unpackers 64 B (tt-isa-documentation, L1.md), Ascend's L1 to L0 512 and 256 B (CANN, "
		"Ascend910B2C.ini)"),
	CFG_U32(struct matrix_cfg, block_rows, "block_rows", "32", 1, 1 << 16, NULL,
	        "rows of the block of sums that registers hold: weights come once for so many rows of a product (matrix.feed)",
	        "a tile of Tenstorrent's"),
	CFG_U32(struct matrix_cfg, block_cols, "block_cols", "64", 1, 1 << 16, NULL,
	        "columns of that block: activations come once for so many", "two tiles of Tenstorrent's"),
	CFG_BOOL(struct matrix_cfg, sparse, "sparse", "false",
	         "leaves out the weights that weights.sparsity has left out: a fold holds as many that are there",
	         "off; on: Ampere's sparse tensor cores (Mishra et al., arXiv:2104.08378)"),
	CFG_U32(struct matrix_cfg, rate_8bit, "rate_8bit", "2", 1, 16, NULL,
	        "times the 16-bit rate where the wider operand has 8 bits", "as tensor cores (H100 datasheet)"),
	CFG_U32(struct matrix_cfg, rate_4bit, "rate_4bit", "4", 1, 16, NULL,
	        "times the 16-bit rate where both operands have 4 bits", "as Blackwell's tensor cores"),
	CFG_U32(struct matrix_cfg, passes, "passes", "1", 1, 16, NULL,
	        "passes through the multipliers that the 16-bit rate is of: a row of a table of ops that says its own takes so many",
	        "one; Tenstorrent's in HiFi2 two (tt-metal, matrix_engine)"),
	UNIT_PAIRS_SCHEMA(struct matrix_cfg, pairs),
	UNIT_ENERGY_SCHEMA(struct matrix_cfg, mac_energy),
	CFG_END
};

static const struct matrix_cfg *cfg(const struct unit_env *u)
{
	return (const struct matrix_cfg *)u->cfg;
}

static uint32_t speedup(const struct matrix_cfg *c, enum dtype weight, enum dtype with)
{
	const uint32_t bits = unit_width(&c->pairs, weight, with);

	return bits > 8 ? 1 : bits > 4 ? c->rate_8bit : c->rate_4bit;
}

static uint64_t peak(const struct unit_env *u, enum dtype weight, enum dtype with)
{
	const struct matrix_cfg *c = cfg(u);

	return unit_arrays(u) * c->rows * c->cols * speedup(c, weight, with);
}

static uint64_t passed(const struct unit_env *u, uint32_t passes)
{
	const struct matrix_cfg *c = cfg(u);

	return div_up(unit_arrays(u) * c->rows * c->cols * c->passes, passes);
}

static bool native(const struct unit_env *u, enum dtype weight, enum dtype with)
{
	return unit_pair(&cfg(u)->pairs, dtype_bits(weight), dtype_bits(with));
}

static bool sparse(const struct unit_env *u)
{
	return cfg(u)->sparse;
}

/* Of k, what is multiplied. */
static uint64_t steps(const struct matrix_cfg *c, const struct unit_job *j)
{
	return c->sparse ? unit_present(j, j->k) : j->k;
}

static uint64_t grain(const struct unit_env *u)
{
	const struct matrix_cfg *c = cfg(u);

	return c->dataflow == IS ? 1 : unit_arrays(u) * c->cols;
}

static uint64_t depth(const struct unit_env *u)
{
	return cfg(u)->dataflow == OS ? 1 : cfg(u)->rows;
}

/* A product as the array sees it: what lies along its rows and columns, what streams, and what of it may be spread. */
struct folds {
	uint64_t along_rows, along_cols, stream; /* stream: cycles of it in one fold, undivided */
	bool rows_are_k, stream_is_k, whole;     /* whole: an array's rows and columns are all loaded */
	uint64_t partial;                        /* cycles that adding a second partial sum of all outputs takes */
};

static struct folds folds_of(const struct unit_env *u, const struct unit_job *j)
{
	const struct matrix_cfg *c = cfg(u);
	const uint64_t k = j->passes ? div_up(steps(c, j) * j->passes, c->passes)
	                             : div_up(steps(c, j), speedup(c, j->dtype, j->with)),
		       passes = !j->passes && unit_width(&c->pairs, j->dtype, j->with) > 16 ? 2 : 1,
		       partial = div_up(8 * j->m * j->n, sram_rate(u->sram, u->cores));

	switch ((enum dataflow)c->dataflow) {
	case OS:
		return (struct folds){ j->m, j->n, k * passes, .stream_is_k = true, .partial = partial };
	case IS:
		return (struct folds){ k, j->m, j->n * passes, .rows_are_k = true, .partial = partial };
	case WS:
		break;
	}
	return (struct folds){ k, j->n, j->m * passes, .rows_are_k = true, .partial = partial };
}

struct best {
	uint64_t cycles, fill;
};

/* Jobs that follow each other hide the filling, one alone does not: half of it counts. */
static void unit_matrix_keep(struct best *best, uint64_t cycles, uint64_t fill)
{
	if (best->cycles == UINT64_MAX || cycles + fill / 2 < best->cycles + best->fill / 2)
		*best = (struct best){ cycles, fill };
}

/* Folds of rows x cols on one array, `stream` cycles each; `extra` on top. No more of the array is used than there is to
 * hold, in folds of equal size; where rows take longer to load than the stream, somewhat more and smaller ones may be
 * fewer cycles. */
static void one_array(const struct matrix_cfg *c, bool whole, uint64_t rows, uint64_t cols, uint64_t stream,
                      uint64_t extra, struct best *best)
{
	const uint64_t fewest = div_up(rows, c->rows), col_folds = div_up(cols, c->cols), w = div_up(cols, col_folds);

	if (c->weight_buffers == 1) {
		unit_matrix_keep(best, fewest * col_folds * (2 * c->rows + c->cols + stream - 2) - 1 + extra, 0);
		return;
	}
	stream = round_up(stream, c->group);
	if (whole) {
		unit_matrix_keep(best, fewest * col_folds * ps_max(stream, div_up(c->rows, c->shift)) + extra,
		                 c->rows + c->cols);
		return;
	}
	for (uint64_t folds = fewest; folds < fewest + MORE_FOLDS; folds++) {
		const uint64_t r = div_up(rows, folds), load = div_up(r, c->shift);

		unit_matrix_keep(best, folds * col_folds * (stream > load ? stream : load) + extra, r + w);
		if (load <= stream)
			return;
	}
}

/* Shared over the arrays in so many parts each way. */
static void unit_matrix_share(const struct unit_env *u, const struct folds *f, uint64_t by_rows, uint64_t by_cols,
                              uint64_t by_stream, struct best *best)
{
	const uint64_t parts = (f->rows_are_k ? by_rows : 1) * (f->stream_is_k ? by_stream : 1);

	one_array(cfg(u), f->whole, div_up(f->along_rows, by_rows), div_up(f->along_cols, by_cols),
	          div_up(f->stream, by_stream), log2_up(parts) * f->partial, best);
}

static uint64_t worked(const struct matrix_cfg *c, uint64_t cycles)
{
	return c->efficiency == 1000000 ? cycles : (uint64_t)((double)cycles * 1e6 / c->efficiency);
}

/* Cycles in which operands come to the arrays, where that is limited. */
static uint64_t fed(const struct unit_env *u, const struct unit_job *j)
{
	const struct matrix_cfg *c = cfg(u);
	const uint64_t weights = unit_present(j, dtype_bytes(j->dtype, j->n * j->k)),
		       with = dtype_bytes(j->with ? j->with : DT_BF16, j->m * j->k);

	return !c->feed ? 0
	                : div_up(weights * div_up(j->m, c->block_rows) + with * div_up(j->n, c->block_cols),
	                         c->feed * u->cores);
}

static bool unit_matrix_plan(const struct unit_env *u, const struct unit_job *j, struct unit_plan *out)
{
	static const char *const why[] = { "systolic, weight-stationary", "systolic, output-stationary",
		                           "systolic, input-stationary" };
	const uint64_t arrays = unit_arrays(u);
	struct best best = { UINT64_MAX, 0 };
	struct folds f;
	uint64_t feed;

	if (j->work != UNIT_PRODUCT)
		return false;
	f = folds_of(u, j);
	f.whole = cfg(u)->whole_folds && !j->in_part;
	feed = div_up(unit_present(j, dtype_bytes(j->dtype, j->n * j->k)) +
	                      dtype_bytes(j->with ? j->with : DT_BF16, j->m * j->k),
	              sram_rate(u->sram, u->cores));
	for (uint64_t by_rows = 1; by_rows <= arrays; by_rows *= 2) {
		for (uint64_t by_stream = 1; by_rows * by_stream <= arrays; by_stream *= 2) {
			const uint64_t cols = arrays / (by_rows * by_stream);

			unit_matrix_share(u, &f, by_rows, cols < f.along_cols ? cols : f.along_cols, by_stream, &best);
			if (by_stream >= f.stream)
				break;
		}
		if (by_rows >= f.along_rows)
			break;
	}
	best.cycles = worked(cfg(u), best.cycles);
	feed = ps_max(feed, fed(u, j));
	*out = (struct unit_plan){ .span = clock_span(best.cycles > feed ? best.cycles : feed, u->clock_khz),
		                   .latency = clock_span(best.fill, u->clock_khz),
		                   .work = j->m * j->n * steps(cfg(u), j),
		                   .code = ISA_GEMM,
		                   .why = why[cfg(u)->dataflow] };
	return true;
}

static struct area_part area(const struct unit_env *u, const struct tech *t)
{
	const struct matrix_cfg *c = cfg(u);

	return (struct area_part){ .logic = area_logic(t, unit_arrays(u) * c->rows * c->cols *
		                                                  unit_mac(t, c->rate_8bit, c->rate_4bit)) };
}

/* What is held is there for all that streams; what streams, for the array's other side; sums leave it at the end of its rows,
 * but where they are what is held. */
static void reuse(const struct unit_env *u, struct unit_reuse *out)
{
	const struct matrix_cfg *c = cfg(u);

	*out = c->dataflow == OS   ? (struct unit_reuse){ .weights = c->rows, .activations = c->cols }
	       : c->dataflow == IS ? (struct unit_reuse){ .weights = c->cols, .sums = c->rows }
	                           : (struct unit_reuse){ .activations = c->cols, .sums = c->rows };
}

static uint64_t mac_energy(const struct unit_env *u)
{
	return cfg(u)->mac_energy;
}

static const char *const knobs[] = { "units", "rows", "cols", NULL };

const struct unit_ops matrix_unit = { .name = "matrix",
	                              .label = "matrix",
	                              .res = RES_MATRIX,
	                              .plan = unit_matrix_plan,
	                              .peak = peak,
	                              .passed = passed,
	                              .native = native,
	                              .sparse = sparse,
	                              .grain = grain,
	                              .depth = depth,
	                              .area = area,
	                              .reuse = reuse,
	                              .mac_energy = mac_energy,
	                              .busy_stat = "matrix.busy_ps",
	                              .work_stat = "matrix.macs",
	                              .knobs = knobs };
