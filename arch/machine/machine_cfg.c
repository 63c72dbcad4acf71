#include "arch/machine/machine_cfg.h"

#include <string.h>

#define NAME(kind, name, runs) #name,
static const char *const kind_names[] = { MACHINE_KIND_ROWS(NAME) NULL };
#undef NAME
#define QUANT_NAME(id, name, dtype, group, scale) #name,
static const char *const quant_names[] = { QUANTS(QUANT_NAME) NULL };
#undef QUANT_NAME

/* clang-format off */
#define TOP_ROWS \
	CFG_STR(struct machine_cfg, name, "name", "npu", "what reports call this machine", "our choice"), \
	CFG_ENUM(struct machine_cfg, kind, "kind", "npu", kind_names, "which kind of machine this is", "our choice"), \
	CFG_FREQ(struct machine_cfg, clock, "clock", "1.4 GHz", 1000, 10000000, NULL, "clock of cores, NoC and L2", \
	         "our choice: between mobile NPUs (about 1 GHz) and GPUs (1.98 GHz, H200 boost)"), \
	CFG_U32(struct machine_cfg, cores, "cores", "64", 1, 4096, NULL, \
	        "cores; every core has the units and the scratchpad of the sections below", \
	        "profile report, recommendation 7: 60 to 80 instead of an H100's 132 SMs")
/* clang-format on */

static const struct cfg_field npu_top_schema[] = {
	TOP_ROWS,
	CFG_STR(struct machine_cfg, family, "family", MACHINE_NO_FAMILY,
	        "chips of one maker and way of working, as tpu; rows of its silicon say how sure a run is"
	        " (configs/accuracy), and a family without any has the wide interval of families that were new once",
	        "our choice: a design is of no family that exists"),
	CFG_END
};
static const struct cfg_field gpu_top_schema[] = { TOP_ROWS, CFG_END };
#undef TOP_ROWS

#define GROUP \
	CFG_U32(struct precision_cfg, group, "group", "0", 0, 1 << 20, NULL, \
	        "values that share a scale; 0: as the format has it (workloads/quant.h)", "the format's own")

/* X(name, N, M) */
#define SPARSITIES(X) \
	X("none", 0, 0) X("1:2", 1, 2) X("1:4", 1, 4) X("2:4", 2, 4) X("1:8", 1, 8) X("2:8", 2, 8) X("4:8", 4, 8)
#define SPARSITY_NAME(name, n, m) name,
static const char *const sparsity_names[] = { SPARSITIES(SPARSITY_NAME) NULL };
#undef SPARSITY_NAME

static const struct cfg_field weights_schema[] = {
	CFG_ENUM(struct precision_cfg, quant, "dtype", "as_traced", quant_names,
	         "format the weights of products are stored in, where that is narrower than the trace's",
	         "profile report, recommendation 6"),
	GROUP,
	CFG_ENUM(
		struct precision_cfg, sparsity, "sparsity", "none", sparsity_names,
		"N:M: of M neighbours along k N are kept, stored with their places; a unit must be sparse to take them",
		"none: weights as published; 2:4 as Ampere's sparse tensor cores (Mishra et al., arXiv:2104.08378)"),
	CFG_END
};

static const struct cfg_field activations_schema[] = {
	CFG_ENUM(struct precision_cfg, quant, "dtype", "as_traced", quant_names,
	         "format that products take their activations in, where that is narrower: converted before each",
	         "profile report, recommendation 6"),
	CFG_END
};

static const struct cfg_field kv_precision_schema[] = {
	CFG_ENUM(struct precision_cfg, quant, "dtype", "as_traced", quant_names,
	         "format the KV cache is stored in, where that is narrower than the trace's",
	         "profile report, recommendations for optimisation 3 (KV-cache quantisation)"),
	GROUP, CFG_END
};

#define UNIT_NAME(id, name, code, insn, area) #name,
static const char *const mapping_units[] = { "any", UNITS(UNIT_NAME) NULL };
#undef UNIT_NAME
static const char *const mapping_loops[] = { "any", "stream", "mnk", "nmk", NULL };
static const char *const mapping_stays[] = { "any", "none", "a", "b", "ab", "c", "ac", "bc", "abc", NULL };

#define POLICY_NAME(id, name, help) #name,
static const char *const mapping_policies[] = { MAPPING_POLICIES(POLICY_NAME) NULL };
#undef POLICY_NAME
#define POLICY_HELP(id, name, help) "; " #name ": " help

static const struct cfg_field mapping_schema[] = {
	CFG_ENUM(struct mapping_cfg, policy, "policy", "search", mapping_policies,
	         "how products are mapped where nothing below fixes it" MAPPING_POLICIES(POLICY_HELP), "the search"),
	CFG_BYTES(
		struct mapping_cfg, stream, "stream", "32 MiB", 1024, UINT64_C(1) << 40, NULL,
		"copy_first: on-chip memory for the blocks that stream, two buffers each; what is copied whole has the "
		"rest, three times as much at the most",
		"our choice: a quarter of a TPU's 128 MiB"),
	CFG_ENUM(
		struct mapping_cfg, loops, "loops", "any", mapping_loops,
		"order of a product's loops, outermost first, or stream: its weights pass once; any: the mapper's choice",
		"the search (sim/map/map_nest.c)"),
	CFG_U32(struct mapping_cfg, tile_m, "tile_m", "0", 0, 1 << 24, NULL,
	        "rows of a tile, at most those of the product; 0: the mapper's choice", "the search"),
	CFG_U32(struct mapping_cfg, tile_n, "tile_n", "0", 0, 1 << 24, NULL,
	        "columns of a tile, at most those of the product; 0: the mapper's choice", "the search"),
	CFG_U32(struct mapping_cfg, tile_k, "tile_k", "0", 0, 1 << 24, NULL,
	        "depth of a tile, at most that of the product; 0: the mapper's choice", "the search"),
	CFG_ENUM(struct mapping_cfg, stays, "stays", "any", mapping_stays,
	         "operands of a product m x k, k x n (weights), m x n that stay in SRAM whole", "the search"),
	CFG_ENUM(struct mapping_cfg, unit, "unit", "any", mapping_units, "the unit that does products, if it can",
	         "the search"),
	CFG_BOOL(
		struct mapping_cfg, passes_read, "passes_read", "false",
		"a softmax or norm by itself reads its rows from memory in each pass (three, two), as loops that each end at a "
		"reduction; off: a tile of rows stays for all of them",
		"off: one loop over tiles; on: XLA ends a fusion at a reduction (openxla.org/xla, fusion emitters)"),
	CFG_PPM(struct mapping_cfg, overlap, "overlap", "1", 0, 1000000,
	        "part of a command's tiles that are fetched while one before is computed or stored, so of the shorter of math "
	        "and transfers what hides; 0: each waits until the one before is over",
	        "1: double buffers; Tenstorrent's default programs on a Wormhole 0 to 0.1, on a Blackhole 1; an Arc B60's 0.7 (rows of "
	        "workloads/ops/silicon)"),
	CFG_U32(struct mapping_cfg, ahead_rows, "ahead_rows", "0", 0, 1 << 24, NULL,
	        "products of up to so many rows fetch their tiles ahead in whole, whatever mapping.overlap says: a library's program "
	        "for products that weights bound, which reads them as a stream of its own; 0: there is none",
	        "0: all products alike; tt-metal 32, a tile: what decodes is DRAM-sharded (its tech_reports/LLMs, 4.3.2.2)"),
	CFG_BYTES(
		struct mapping_cfg, sums, "sums", "8 B", 1, 64, NULL,
		"SRAM that each sum of a product takes while there is more of k to come",
		"8 B: fp32, and a buffer to leave from; tt-metal's programs 2 B: bf16, in the result's own buffer (its matmul program "
		"factories)"),
	CFG_BOOL(
		struct mapping_cfg, side_by_side, "side_by_side", "true",
		"independent products that are alike (experts, k and v) run at once, each on a group of the cores, where "
		"that is predicted to be faster; off: one after the other on all cores",
		"our choice: as kernels of several streams share a GPU's SMs"),
	CFG_END
};

/* clang-format off */
#define CALIBRATED(name, what) \
	CFG_U32(struct calibrated_cfg, name##_rows, #name "_rows", "0", 0, 1 << 24, NULL, \
	        "rows of its own silicon that the machine was calibrated on, of " what "; npusim calibrate writes it", "none"), \
	CFG_PPM(struct calibrated_cfg, name##_error, #name "_error", "0", 0, 1000000000, \
	        "their mean error, as they would be off that were not taken; says how sure a run is", "none")
static const struct cfg_field calibrated_schema[] = {
	CALIBRATED(decode, "products of 64 rows or fewer"), CALIBRATED(prefill, "products of more"),
	CALIBRATED(attention, "attention of a prompt"), CFG_END
};
#undef CALIBRATED

#define AT(name, rows, member)     { name, rows, offsetof(struct machine_cfg, member) },
#define SECTION(name, rows)        AT(#name, rows, name)
#define MEM_SECTION(name, rows)    AT(#name, rows, mem.name)
#define GPU_SECTION(name, type, member, rows) AT(#name, rows, gpu.member)
#define UNIT_SECTION(id, name, code, insn, area) AT(#name, name##_schema, unit[UNIT_##id])

static const struct cfg_section npu_sections[] = {
	{ "", npu_top_schema, 0 },
	SECTION(core, core_schema)
	SECTION(dispatch, dispatch_schema)
	SECTION(dma, dma_schema)
	SECTION(sram, sram_schema)
	UNITS(UNIT_SECTION)
	SECTION(fusion, fusion_schema)
	MEM_SECTION(l1, l1_schema)
	MEM_SECTION(noc, noc_schema)
	MEM_SECTION(kv_buffer, kv_schema)
	MEM_SECTION(l2, l2_schema)
	MEM_SECTION(dram, dram_schema)
	SECTION(weights, weights_schema)
	SECTION(activations, activations_schema)
	SECTION(kv, kv_precision_schema)
	SECTION(mapping, mapping_schema)
	SECTION(attention, attention_schema)
	SECTION(calibrated, calibrated_schema)
	SECTION(die, die_schema)
	SECTION(links, link_schema)
	SECTION(power, npu_power_schema)
	SECTION(cost, cost_schema)
	{ NULL, NULL, 0 }
};

static const struct cfg_section gpu_sections[] = {
	{ "", gpu_top_schema, 0 },
	GPU_SECTIONS(GPU_SECTION)
	SECTION(dma, dma_schema)
	MEM_SECTION(noc, noc_schema)
	MEM_SECTION(l2, l2_schema)
	MEM_SECTION(dram, dram_schema)
	SECTION(die, die_schema)
	SECTION(links, link_schema)
	SECTION(cost, cost_schema)
	{ NULL, NULL, 0 }
};
/* clang-format on */

/* clang-format off */
static const struct {
	const struct cfg_section *sections;
	enum machine_runs runs;
} kinds[] = {
#define X(kind, name, runs) [MACHINE_##kind] = { name##_sections, runs },
	MACHINE_KIND_ROWS(X)
#undef X
};
/* clang-format on */
_Static_assert(sizeof kinds / sizeof *kinds == MACHINE_KINDS, "a row for every kind");

const char *machine_kind_name(enum machine_kind k)
{
	return kind_names[k];
}

enum machine_runs machine_runs(const struct machine_cfg *c)
{
	return kinds[c->kind].runs;
}

struct cfg *machine_schema(struct machine_cfg *target, enum machine_kind kind, struct err *e)
{
	struct cfg *first = cfg_new(kinds[0].sections, target, e);

	if (kind == 0 || !first)
		return first;
	cfg_free(
		first); /* its defaults stay: blocks that another kind's file does not describe are built like the first's */
	return cfg_new(kinds[kind].sections, target, e);
}

enum machine_kind machine_kind_of(const struct yaml *y)
{
	const struct ynode *n = ynode_get(yaml_root(y), "kind");

	if (n && n->kind == YNODE_MAP)
		n = ynode_get(n, "value");
	for (int k = 1; n && n->text && k < MACHINE_KINDS; k++)
		if (strcmp(n->text, kind_names[k]) == 0)
			return (enum machine_kind)k;
	return 0;
}

void machine_peaks(const struct machine_cfg *c, uint64_t peak[RES_COUNT])
{
	const struct memory_cfg *m = &c->mem;
	const uint64_t hz = c->clock * 1000;

	memset(peak, 0, RES_COUNT * sizeof *peak);
	peak[RES_DRAM] = dram_peak(&m->dram);
	peak[RES_DMA] = dma_rate(&c->dma, c->cores) * hz;
	if (m->l2.size)
		peak[RES_L2] = l2_bandwidth(&m->l2, c->clock);
	peak[RES_NOC] = noc_shape(&m->noc, c->clock).up;
	if (m->kv_buffer.size)
		peak[RES_KV] = m->kv_buffer.bandwidth;
	if (l1_cache(&m->l1))
		peak[RES_L1] = m->l1.bandwidth * c->cores * hz;
}

const char *machine_sparsity_name(const struct machine_cfg *c)
{
	return sparsity_names[c->weights.sparsity];
}

struct sparsity machine_sparsity(const struct machine_cfg *c)
{
#define SPARSITY(name, n, m) { n, m },
	static const struct sparsity all[] = { SPARSITIES(SPARSITY) };
#undef SPARSITY

	for (int i = 0; i < UNIT_COUNT; i++) {
		const struct unit_env u = machine_unit(c, (enum unit)i);

		if (c->unit[i].units && unit_table[i]->sparse && unit_table[i]->sparse(&u))
			return all[c->weights.sparsity];
	}
	return all[0];
}

/* What leaves a core leaves through its DMA engines: an ideal network has ports as wide as those. */
uint64_t machine_core_port(const struct machine_cfg *c)
{
	return c->mem.noc.kind == NOC_IDEAL ? dma_rate(&c->dma, 1) : c->mem.noc.port;
}

struct unit_env machine_unit(const struct machine_cfg *c, enum unit u)
{
	const struct noc_shape noc = noc_shape(&c->mem.noc, c->clock);

	return (struct unit_env){ .cfg = &c->unit[u],
		                  .sram = &c->sram,
		                  .clock_khz = c->clock,
		                  .cores = c->cores,
		                  .depth = c->core.depth,
		                  .group = c->core.thread_group,
		                  .control = c->core.control,
		                  .unit_latency = c->core.unit_latency,
		                  .hop = noc.neighbour,
		                  .across = noc.between,
		                  .step = c->dma.setup,
		                  .routed = noc.routed,
		                  .port = noc.port ? c->mem.noc.port : 0,
		                  .swap = machine_core_port(c),
		                  .engine = dma_rate(&c->dma, 1),
		                  .reduce = c->mem.noc.reduce };
}
