/* tables_experts.c - a row of experts: two grouped products, and what is before, between and behind them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "arch/machine/machine_gpu.h"
#include "sim/accuracy/picks.h"
#include "sim/accuracy/tables_int.h"
#include "workloads/experts.h"

#define MARLIN "marlin_experts"
#define ROUTED 512 /* experts that a CTA's threads take together; of more a warp takes 32 at a time */
#define CALLS  5   /* of uneven picks in a graph, each with its own */

/* What a row does not say of the model that has such experts: their router and whether they have a gate. Sources: DeepSeek-V3's
 * config.json (n_group, topk_group); those of Nemotron 3 (mlp_hidden_act relu2: one matrix up, no gate; the largest's
 * experts work on a latent of 2048). */
static const struct engine_model {
	uint64_t hidden, inter, top, experts;
	uint32_t groups, kept;
	bool plain; /* no gate */
} models[] = {
	{ 7168, 2048, 8, 256, 8, 4, false },
	{ 2688, 1856, 6, 128, 0, 0, true },
	{ 2048, 5120, 22, 512, 0, 0, true },
};

static struct engine_model engine_model_of(uint64_t hidden, uint64_t inter, uint64_t top, uint64_t experts)
{
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (models[i].hidden == hidden && models[i].inter == inter && models[i].top == top &&
		    models[i].experts == experts)
			return models[i];
	return (struct engine_model){ .hidden = hidden, .inter = inter, .top = top, .experts = experts };
}

/* The kernel of experts that are not laid out as vLLM's Triton kernel lays them; NULL: that one. FlashInfer's of CUTLASS run
 * warp-wide instructions for a type on some devices. */
static const char *experts_kernel(const struct table *t)
{
	static const struct {
		const char *library, *type;
		uint32_t from, to; /* capabilities */
		const char *kernel;
	} of[] = {
		{ "flashinfer_cutlass", "fp8", 90, 99, "cutlass_experts_widened" },
		{ "flashinfer_cutlass", "fp8_block", 90, 99, "cutlass_experts_block" },
		{ "flashinfer_cutlass", "fp8", 89, 89, "cutlass_experts_fp8" },
		{ "flashinfer_cutlass", "fp8", 120, 129, "cutlass_experts_fp8" },
		{ "flashinfer_cutlass", "bfloat16", 80, 89, "cutlass_experts_bf16" },
		{ "flashinfer_cutlass", "bfloat16", 120, 129, "cutlass_experts_bf16" },
		{ "flashinfer_cutlass", "nvfp4", 120, 129, "cutlass_experts_fp4" },
		{ "marlin", "int4_wo", 80, 129, MARLIN "_int4" },
		{ "marlin", "w4a16_mxfp4", 80, 129, MARLIN "_fp4" },
		{ "oaitriton", "", 80, 129, "ogs_experts" },
	};
	const uint32_t capability = t->gpu.cfg->sm.capability;

	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		if (strstr(tables_text(t, KERNEL), of[i].library) &&
		    (!*of[i].type || strcmp(of[i].type, tables_text(t, DTYPE)) == 0) && capability >= of[i].from &&
		    capability <= of[i].to)
			return of[i].kernel;
	return NULL;
}

static bool by_cutlass(const struct table *t)
{
	return strstr(tables_text(t, KERNEL), "flashinfer_cutlass");
}

static bool marlin_of(const struct table *t)
{
	const char *own = experts_kernel(t);

	return own && strncmp(own, MARLIN, sizeof MARLIN - 1) == 0;
}

/* Rows of a tile of Marlin's experts (vllm/model_executor/layers/fused_moe/fused_marlin_moe.py): the least that leaves a tenth. */
static uint32_t marlin_rows(uint64_t picks, uint64_t experts)
{
	static const uint32_t rows[] = { 8, 16, 32, 48, 64 };
	size_t i = 0;

	while (i + 1 < sizeof rows / sizeof *rows && picks * 10 >= 9 * experts * rows[i])
		i++;
	return rows[i];
}

/* Shared memory of a CTA: all stages of tokens and of weights or the sums of a tile, scales for 32 weights each, rows' numbers
 * (csrc/moe/marlin_moe_wna16/ops.cu, get_kernel_cache_size). */
static uint32_t marlin_smem(const struct kernel *k, const struct experts_tile *tile)
{
	const uint32_t rows = (uint32_t)round_up(tile->rows, 16), deep = k->stages * k->tile_k,
		       packed = deep * tile->outputs / 2, sums = rows * (tile->outputs + 8) * 2;

	return deep * rows * 2 + (packed > sums ? packed : sums) + deep / 32 * tile->outputs * 2 + rows * 16;
}

/* 128 outputs and 128 threads a CTA, as more of these fit; 256 and 256 where but one of either does (determine_exec_config). */
static void marlin_lay_out(const struct table *t, const struct kernel *k, uint64_t n, struct experts_tile *tile)
{
	*tile = (struct experts_tile){ .rows = tile->rows, .outputs = 128, .threads = 128 };
	if (tile->rows > 16 && 2 * (marlin_smem(k, tile) + 1536) > t->gpu.cfg->sm.smem && n % 256 == 0)
		*tile = (struct experts_tile){ .rows = tile->rows, .outputs = 256, .threads = 256 };
}

/* 4-bit weights have scales: a byte for 16 (nvfp4) or 32 (mxfp4), two bytes for 32 (int4). */
static uint64_t experts_bytes(uint64_t experts, uint64_t weights, uint32_t bits, uint32_t scaled)
{
	return experts * weights * bits / 8 + (scaled ? experts * weights / scaled : 0);
}

/* Uneven calls pick other experts each time: how many times one call's the calls of a graph read. */
static uint64_t experts_copies(uint64_t hit, uint64_t experts, double alpha)
{
	const double missed = 1 - (double)hit / (double)experts;

	return alpha > 0 ? (uint64_t)((1 - pow(missed, CALLS)) * (double)experts / (double)hit + 0.5) : 1;
}

struct experts_asked {
	uint64_t tokens, picks, experts; /* picks of all chips; experts of this one */
	uint64_t weights, copies;        /* of an expert, all; times a graph's calls read what one reads */
	const struct picks *of;
	bool block;      /* 8 bits with scales of blocks */
	uint32_t scaled; /* weights a byte of scales is for; 0: there are none */
};

/* One of the two grouped products: each expert's rows times its weights. vLLM's Triton kernel lays out the rows of all chips and
 * clears those of the others (fused_moe.py, write_zeros_to_output). */
static int grouped(struct table *t, const char *name, const char *cls, enum dtype d, uint32_t bits,
                   struct experts_asked x, uint64_t n, uint64_t k, struct err *e)
{
	struct op_stream *s = &t->out->stream;
	struct op *o = tables_add_op(s, OP_GEMM, name, cls, d);
	const char *own = experts_kernel(t);
	const char *kernel_name = own ? own : "fused_moe_kernel";
	const bool marlin = marlin_of(t);
	const bool clears = !own && strstr(tables_text(t, KERNEL), "triton");
	const uint64_t *rows = x.of->own;
	const uint32_t hit = x.of->n_own;
	struct experts_tile tile = x.block ? experts_tile_of_blocks(x.tokens) : experts_tile_of(x.tokens);
	struct kernel kernel;
	uint64_t all = 0, tiles = 0, idle = 0, weights = experts_bytes(hit, n * k, bits, x.scaled);

	kernel = kernels_match(t->k, kernel_name, o->rule);
	if (marlin)
		kernel.tile_n = marlin_rows(x.picks, x.experts);
	if (own)
		tile = (struct experts_tile){ .rows = kernel.tile_n, .outputs = kernel.tile_m, .threads = 256 };
	if (marlin) {
		marlin_lay_out(t, &kernel, n, &tile);
		kernel.tile_m = tile.outputs;
	}
	for (uint32_t i = 0; i < hit; i++) {
		all += rows[i];
		tiles += div_up(rows[i], tile.rows);
	}
	for (uint32_t i = 0; clears && i < x.of->n_others; i++)
		idle += div_up(x.of->others[i], tile.rows);
	o->shape = (struct op_shape){ .batch = hit, .m = div_up(all, hit), .n = n, .k = k, .strided = true };
	tables_operand(s, o, tables_tensor(s, "x", OP_ACTIVATION, d, dtype_bytes(d, all * k), true), false);
	tables_operand(s, o, tables_tensor(s, "w", OP_WEIGHT, d, weights, true), false);
	tables_operand(s, o, tables_tensor(s, "y", OP_ACTIVATION, DT_BF16, 2 * (clears ? x.picks : all) * n, false),
	               true);
	if (d == DT_FP4 && !own) {
		if (!tables_lay_out(t, o))
			return 1;
	} else {
		const uint32_t registers = marlin ? (kernel.tile_n <= 16 ? 128 : 255) : own ? 168 : 128;
		const uint64_t across = div_up(n, tile.outputs);
		struct op_launch *l =
			tables_launch(t, o, kernel_name, &kernel, tiles * across, tile.threads, registers);

		l->smem_dynamic = marlin ? marlin_smem(&kernel, &tile) : 0;
		t->out->work.launches[o->first_launch].idle = idle * across;
	}
	return tables_move_beside(t, o, weights, x.copies, experts_bytes(hit, x.weights, bits, x.scaled), e);
}

/* 0: even. 1 would divide by nothing. */
static int spread_of(const char *s, double *alpha)
{
	char *end;

	*alpha = 0;
	if (strcmp(s, "balanced") == 0)
		return 0;
	if (strncmp(s, "power_law_", 10) != 0)
		return -1;
	*alpha = strtod(s + 10, &end);
	return end != s + 10 && !*end && *alpha > 0 && *alpha < 8 && fabs(*alpha - 1) > 1e-6 ? 0 : -1;
}

struct experts_layer {
	const char *name, *cls;
	struct experts_asked asked;
	enum dtype math;
	uint32_t bits, quantised; /* of a weight; of a quantised token, 0: none is */
	uint64_t hidden, inter, up, picks, all, chips;
};

/* The router; where each expert's rows begin, whose a tile is and what is padded (CUTLASS: rows, pointers and strides), but no
 * more than a fill where every pick has a tile of its own, and one more that looks up whose experts are this chip's
 * (fused_moe.py, moe_align_block_size.py); tokens are quantised, CUTLASS's copied to their experts' rows. */
static int experts_before(struct table *t, const struct experts_layer *l, struct err *e)
{
	const bool own = experts_kernel(t) != NULL, cutlass = by_cutlass(t);
	const uint64_t tokens = l->asked.tokens, rows = 2 * l->picks,
		       copied = l->picks * l->hidden * (l->quantised ? l->quantised : 16) / 8;
	const bool apart = !own && l->chips == 1 && 4 * l->asked.picks <= l->all;
	const int aligns = cutlass ? 3 : apart ? 1 : 2 + (l->chips > 1);

	if ((l->all > ROUTED ? tables_route(t, l->name, l->cls, tokens, l->all, l->asked.picks, e)
	                     : tables_pass(t, l->name, l->cls, 2 * tokens * l->all, 8 * l->asked.picks, true, e)) < 0)
		return -1;
	for (int i = 0; i < aligns; i++)
		if (tables_pass(t, l->name, l->cls, rows, rows, true, e) < 0)
			return -1;
	if (l->quantised && tables_pass(t, l->name, l->cls, 2 * tokens * l->hidden,
	                                tokens * l->hidden * l->quantised / 8, false, e) < 0)
		return -1;
	return cutlass ? tables_pass(t, l->name, l->cls, copied, copied, false, e) : 0;
}

/* Up, activation, down, the sum over a token's picks, and a copy of that (topk_weight_and_reduce.py). Triton's quantises in a
 * kernel of its own what CUTLASS's activation does. */
static int experts_products(struct table *t, const struct experts_layer *l, struct err *e)
{
	const bool cutlass = by_cutlass(t);
	const uint64_t tokens = l->asked.tokens, half = l->picks * l->inter, out = 2 * tokens * l->hidden;
	int rc = grouped(t, l->name, l->cls, l->math, l->bits, l->asked, l->up, l->hidden, e);

	if (rc)
		return rc;
	if (tables_pass(t, l->name, l->cls, 2 * l->picks * l->up,
	                cutlass && l->quantised ? half * l->quantised / 8 : 2 * half, false, e) < 0 ||
	    (!cutlass && l->quantised &&
	     tables_pass(t, l->name, l->cls, 2 * half, half * l->quantised / 8, false, e) < 0))
		return -1;
	/* Marlin's leaves out the tiles of other chips' experts, so that their rows are cleared first (fused_marlin_moe.py). */
	if (marlin_of(t) && l->chips > 1 && tables_clear(t, l->name, l->cls, 2 * l->picks * l->hidden, e) < 0)
		return -1;
	if ((rc = grouped(t, l->name, l->cls, l->math, l->bits, l->asked, l->hidden, l->inter, e)))
		return rc;
	return tables_pass(t, l->name, l->cls, 2 * l->picks * l->hidden, out, false, e) < 0 ||
	                       tables_pass(t, l->name, l->cls, out, out, false, e) < 0
	               ? -1
	               : 0;
}

int tables_experts_row(struct table *t, struct err *e)
{
	static const struct {
		const char *name;
		enum dtype math;
		uint32_t bits, scaled;
	} types[] = {
		{ "bfloat16", DT_BF16, 16, 0 }, { "fp8", DT_FP8, 8, 0 },       { "fp8_block", DT_FP8, 8, 0 },
		{ "nvfp4", DT_FP4, 4, 16 },     { "int4_wo", DT_BF16, 4, 16 }, { "w4a16_mxfp4", DT_BF16, 4, 32 }
	};
	struct op_stream *s = &t->out->stream;
	size_t ops = s->n_ops, operands = s->n_operands, tensors = s->n_tensors, launches = s->n_launches, y = 0;
	const char *type = tables_text(t, DTYPE), *spread = tables_text(t, PICKS), *cls, *name;
	uint64_t tokens, hidden, inter, top, experts, tp, ep, ns;
	const bool own = by_cutlass(t);
	struct experts_layer l;
	struct experts_asked asked;
	struct engine_model model;
	struct picks_asked q;
	struct picks of;
	uint64_t picks;
	double alpha;
	int rc;

	while (y < sizeof types / sizeof *types && strcmp(types[y].name, type) != 0)
		y++;
	if (y == sizeof types / sizeof *types)
		return tables_refuse(t, "unknown type", type, e);
	if (tables_number(t, TOKENS, 1 << 20, &tokens, e) < 0 || tables_number(t, HIDDEN, 1 << 20, &hidden, e) < 0 ||
	    tables_number(t, INTER, 1 << 20, &inter, e) < 0 || tables_number(t, TOP, PICKS_EXPERTS, &top, e) < 0 ||
	    tables_number(t, EXPERTS, PICKS_EXPERTS, &experts, e) < 0 ||
	    tables_number(t, SHARED_BY, 1 << 10, &tp, e) < 0 ||
	    tables_number(t, SPREAD_OVER, PICKS_EXPERTS, &ep, e) < 0 || tables_time(t, &ns, e) < 0 ||
	    tables_grow(t, e) < 0)
		return -1;
	if (!tokens || !top || !tp || !ep || experts < ep || experts < top || inter < tp)
		return tables_refuse(t, "not so many experts:", tables_text(t, EXPERTS), e);
	cls = arena_printf(t->a, "experts %s, %s", tables_text(t, KERNEL), type);
	name = arena_printf(t->a, "%llu tokens, %llu of %llu experts %llux%llu, tp %llu ep %llu %s",
	                    (unsigned long long)tokens, (unsigned long long)top, (unsigned long long)experts,
	                    (unsigned long long)hidden, (unsigned long long)inter, (unsigned long long)tp,
	                    (unsigned long long)ep, spread);
	if (spread_of(spread, &alpha) < 0)
		return tables_refuse(t, "no distribution of picks: 'balanced' or 'power_law_1.2', not", spread, e);
	model = engine_model_of(hidden, inter, top, experts);
	q = (struct picks_asked){ .tokens = tokens,
		                  .top = (uint32_t)top,
		                  .experts = (uint32_t)experts,
		                  .chips = (uint32_t)ep,
		                  .groups = model.groups,
		                  .kept = model.kept,
		                  .alpha = alpha };
	if (!picks_draw(&q, &of))
		return err_set(e, ERR_NOMEM, "out of memory for %llu tokens", (unsigned long long)tokens);
	inter /= tp;
	if (marlin_of(t) && strstr(tables_text(t, KERNEL), "gptoss")) {
		inter = round_up(inter, 128);
		hidden = round_up(hidden, 256);
	}
	/* Triton's other kernels have rows for every pick, whichever chip it is on; CUTLASS's for its own. */
	picks = own ? 0 : tokens * top;
	for (uint32_t i = 0; own && i < of.n_own; i++)
		picks += of.own[i];
	asked = (struct experts_asked){ .tokens = tokens,
		                        .picks = tokens * top,
		                        .experts = experts / ep,
		                        .weights = (model.plain ? 2 : 3) * hidden * inter,
		                        .copies = experts_copies(of.n_own, experts / ep, alpha),
		                        .of = &of,
		                        .block = strcmp(type, "fp8_block") == 0,
		                        .scaled = types[y].scaled };
	l = (struct experts_layer){ .name = name,
		                    .cls = cls,
		                    .asked = asked,
		                    .math = types[y].math,
		                    .bits = types[y].bits,
		                    .hidden = hidden,
		                    .inter = inter,
		                    .up = model.plain ? inter : 2 * inter,
		                    .picks = picks,
		                    .all = experts,
		                    .chips = ep,
		                    .quantised = types[y].math == DT_BF16 ? 0 : types[y].bits };
	if ((rc = experts_before(t, &l, e)) < 0 || (rc = experts_products(t, &l, e)) < 0)
		return -1;
	if (rc > 0)
		return tables_drop(t, ops, operands, tensors, launches);
	tables_add_sample(t, name, cls, (uint32_t)ops, ns, alpha > 0 ? CALLS : 1);
	t->st->read++;
	return 0;
}
