/* machine_cfg.h - a machine as plain data: one section a block, and the rows that read it.
 *
 * What the mapper, the closed forms and the wiring all look at. Nothing here runs; machine_conf.h reads it from YAML,
 * sim/engine/machine.h wires blocks by it. */
#ifndef NPUSIM_ARCH_MACHINE_MACHINE_CFG_H
#define NPUSIM_ARCH_MACHINE_MACHINE_CFG_H

#include "arch/gpu/gpu_cfg.h"
#include "arch/link/link.h"
#include "arch/machine/machine_attention.h"
#include "arch/machine/machine_die.h"
#include "arch/mem/memory.h"
#include "arch/npu/core.h"
#include "arch/npu/cp.h"
#include "arch/npu/dma.h"
#include "arch/npu/fusion.h"
#include "arch/npu/npu_power.h"
#include "arch/npu/sram.h"
#include "arch/npu/unit.h"
#include "sim/base/cfg.h"
#include "workloads/quant.h"

struct precision_cfg {
	uint32_t quant;    /* enum quant */
	uint32_t group;    /* 0: the format's */
	uint32_t sparsity; /* of weights: machine_sparsity has what it means */
};

/* N:M sparsity: of every `of` neighbouring weights along k at most `keep` are not 0, and only those are stored, each with
 * its place in so many bits. `of` 0: all are. */
struct sparsity {
	uint8_t keep, of;
};

/* What rows of its own silicon a machine was calibrated on, by class of op (sim/accuracy/interval.h); it changes no time. */
struct calibrated_cfg {
	uint32_t decode_rows, prefill_rows, attention_rows;
	uint32_t decode_error, prefill_error, attention_error; /* mean absolute, ppm */
};

/* What the mapper may not choose by itself, for products; 0 leaves it the choice. */
enum mapping_loops { MAPPING_ANY, MAPPING_STREAM, MAPPING_MNK, MAPPING_NMK };
/* How a product's loops are found: SEARCH by what is fastest, the others by a rule, as a compiler goes about it.
 * X(ID, name, what it does): `mapping.policy: name`; the rule of any but SEARCH is a row of `rules` in sim/map/map_choose.c. */
/* clang-format off */
#define MAPPING_POLICIES(X) \
	X(SEARCH, search, "the fastest way found") \
	X(COPY_FIRST, copy_first, \
	  "the larger operand that fits beside mapping.stream is copied on chip whole, then the rest streams in blocks of powers of two")
/* clang-format on */

#define MAPPING_POLICY_ID(id, name, help) MAPPING_##id,
enum mapping_policy { MAPPING_POLICIES(MAPPING_POLICY_ID) MAPPING_POLICY_COUNT };
#undef MAPPING_POLICY_ID
struct mapping_cfg {
	uint32_t policy;                 /* enum mapping_policy */
	uint64_t stream;                 /* COPY_FIRST: bytes of on-chip memory for blocks that stream, all cores */
	uint32_t loops;                  /* enum mapping_loops: weights streamed once, or a nest in this order */
	uint32_t tile_m, tile_n, tile_k; /* of a nest */
	uint32_t stays;                  /* 0: any; else 1 + bits of A, B, C: operands that stay in SRAM whole */
	uint32_t unit;                   /* 0: any; else 1 + enum unit */
	bool passes_read;                /* what goes over its rows several times reads them as often */
	uint32_t overlap;                /* ppm of a command's tiles that are fetched while others are computed */
	uint32_t ahead_rows;             /* products of up to so many fetch ahead in whole */
	uint64_t sums;                   /* bytes of SRAM that a sum of a product has while k goes on */
	bool side_by_side;               /* independent products that are alike, on groups of cores, where it pays */
};

/* X(KIND, its name in YAML, what it runs): the kinds of machine there are; the first is what a file without `kind:` means.
 * MACHINE_LAUNCHES: the launches of a trace, one after the other, each in closed form. MACHINE_COMMANDS: a program that
 * the mapper makes of the ops. Its sections are name_sections in machine_cfg.c, its engines in sim/engine/engine.h. */
/* clang-format off */
#define MACHINE_KIND_ROWS(X) \
	X(NPU, npu, MACHINE_COMMANDS) \
	X(GPU, gpu, MACHINE_LAUNCHES)

enum machine_kind {
#define X(kind, name, runs) MACHINE_##kind,
	MACHINE_KIND_ROWS(X)
#undef X
	MACHINE_KINDS
};
/* clang-format on */
enum machine_runs { MACHINE_COMMANDS, MACHINE_LAUNCHES };

/* Of a machine that is of no family, or does not say. */
#define MACHINE_NO_FAMILY "none"

struct machine_cfg {
	char name[CFG_STR_MAX];
	char family[CFG_STR_MAX]; /* NPUs: which silicon's rows say how sure an answer is */
	uint32_t kind;            /* enum machine_kind: only tables look at it */
	uint64_t clock;           /* kHz */
	uint32_t cores;
	struct core_cfg core;
	struct dispatch_cfg dispatch;
	struct dma_cfg dma;
	struct sram_cfg sram;
	union unit_cfg unit[UNIT_COUNT];
	struct fusion_cfg fusion;
	struct memory_cfg mem;
	struct precision_cfg weights, activations, kv; /* narrower than traced */
	struct mapping_cfg mapping;
	struct calibrated_cfg calibrated;
	struct attention_cfg attention;
	struct die_cfg die;
	struct cost_cfg cost;
	struct link_cfg links; /* to other chips */
	struct npu_power_cfg power;
	struct gpu_cfg gpu; /* kind: gpu; `cores` are its SMs. The NPU's blocks are there with their defaults. */
};

const char *machine_kind_name(enum machine_kind k);
enum machine_runs machine_runs(const struct machine_cfg *c);

/* Which kind a configuration file says it is. */
enum machine_kind machine_kind_of(const struct yaml *y);
/* All rows of a kind, with their defaults. */
struct cfg *machine_schema(struct machine_cfg *target, enum machine_kind kind, struct err *e);
/* What each resource that moves bytes can carry, bytes/s; 0: it is not there, or moves any number (NoC). */
void machine_peaks(const struct machine_cfg *c, uint64_t peak[RES_COUNT]);
/* The N:M of its weights; none where no unit that it has leaves out the others: then they are stored and multiplied whole. */
struct sparsity machine_sparsity(const struct machine_cfg *c);
const char *machine_sparsity_name(const struct machine_cfg *c); /* as the file has it: "none", "2:4" */
/* A unit with the machine around it; points into `c`. */
struct unit_env machine_unit(const struct machine_cfg *c, enum unit u);
uint64_t machine_core_port(const struct machine_cfg *c); /* bytes a cycle, each way */

#endif
