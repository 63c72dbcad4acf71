/* machine.h - a machine: its configuration, checked and resolved, and its blocks wired together.
 *
 *   command processor ─ cores (SRAM, GEMV, matrix, vector units) ─ DMA ─ (L1) ─ NoC ┬ KV buffer ┐
 *                                                                                   └ L2 ───────┴ DRAM
 *
 * Two machines may live in one process. A machine runs one program; every pass over it is a decode step, and what the
 * pass leaves on chip (L2, KV buffer, pinned weights) is there for the next. */
#ifndef NPUSIM_SIM_MACHINE_H
#define NPUSIM_SIM_MACHINE_H

#include "arch/core.h"
#include "arch/cp.h"
#include "arch/dma.h"
#include "arch/dram.h"
#include "arch/gemv.h"
#include "arch/gpu.h"
#include "arch/isa.h"
#include "arch/kv.h"
#include "arch/l1.h"
#include "arch/l2.h"
#include "arch/matrix.h"
#include "arch/noc.h"
#include "arch/sram.h"
#include "arch/vector.h"
#include "sim/base/cfg.h"
#include "sim/fuse.h"
#include "sim/host.h"

enum machine_dtype { MACHINE_AS_TRACED, MACHINE_BF16, MACHINE_FP8, MACHINE_INT8, MACHINE_INT4, MACHINE_FP4 };

struct precision_cfg { uint32_t dtype; };    /* enum machine_dtype */

enum machine_kind { MACHINE_NPU, MACHINE_GPU };

struct machine_cfg {
	char name[CFG_STR_MAX];
	uint32_t kind;                       /* enum machine_kind */
	uint64_t clock;                      /* kHz */
	uint32_t cores;
	struct core_cfg core;
	struct dispatch_cfg dispatch;
	struct dma_cfg dma;
	struct sram_cfg sram;
	struct gemv_cfg gemv;
	struct matrix_cfg matrix;
	struct vector_cfg vector;
	struct fusion_cfg fusion;
	struct l1_cfg l1;
	struct noc_cfg noc;
	struct kv_cfg kv_buffer;
	struct l2_cfg l2;
	struct dram_cfg dram;
	struct precision_cfg weights, kv;    /* stored narrower than traced */
	/* kind: gpu; `cores` are its SMs. The NPU's blocks are there with their defaults. */
	struct sm_cfg sm;
	struct gpu_cfg gpu;
	struct gpu_product_cfg product;
	struct gpu_mma_cfg mma;
	struct gpu_attention_cfg attention;
	struct gpu_flash_cfg flash;
	struct gpu_stream_cfg stream;
	struct gpu_rows_cfg rows;
	struct host_cfg host;                /* that launches its kernels */
};

/* A configuration being read: rows and struct together, so that it can be shown, explained, compared and hashed. */
struct machine_conf {
	struct machine_cfg cfg;
	struct cfg *raw;
	char path[256];
};

/* Reads FILE, then the assignments in order, then the named DRAM kind, and checks the whole. */
struct machine_conf *machine_conf_load(const char *path, const char *const *sets, int n_sets, struct err *e);
/* The same over text in memory; `name` stands in errors. */
struct machine_conf *machine_conf_parse(const char *text, size_t n, const char *name, const char *const *sets, int n_sets,
                                        struct err *e);
void machine_conf_free(struct machine_conf *c);
/* One text that many machines are made of: it, and each DRAM kind, is read once. Its machines must not outlive it. */
struct machine_base;
struct machine_base *machine_base_new(const char *text, size_t n, const char *name, struct err *e);
void machine_base_free(struct machine_base *b);
/* What machine_conf_parse makes of the text and these assignments. */
struct machine_conf *machine_base_conf(struct machine_base *b, const char *const *sets, int n_sets, struct err *e);
/* Which kind a configuration file says it is. */
enum machine_kind machine_kind_of(const struct yaml *y);
/* All rows of a kind, with their defaults. */
struct cfg *machine_schema(struct machine_cfg *target, enum machine_kind kind, struct err *e);
/* What the closed forms of a launch look at; points into `c`. */
struct gpu machine_gpu(const struct machine_cfg *c);

struct machine;

struct machine *machine_new(const struct machine_cfg *cfg, struct err *e);
void machine_free(struct machine *m);
/* One pass. picks[route][slot] is the expert chosen. */
int machine_step(struct machine *m, const struct isa_prog *p, const uint32_t *const *picks, struct cp_result *results,
                 struct err *e);
const struct machine_cfg *machine_cfg(const struct machine *m);
struct stat_reg *machine_stats(struct machine *m);
uint64_t machine_resident(const struct machine *m, uint64_t addr, uint64_t bytes, bool kv); /* on chip, SRAM aside */
/* Who looks on from now on; between passes. `w` must live as long as the machine, NULL: nobody. */
void machine_watch(struct machine *m, const struct watch *w);
void machine_forget(struct machine *m);              /* cold: nothing on chip; statistics stay */
bool machine_pinned(const struct machine *m, uint32_t tensor);
struct comp *machine_memory(struct machine *m);      /* the door where the cores' DMA asks: L1 or network */
struct evq *machine_queue(struct machine *m);
ps_t machine_now(const struct machine *m);
uint64_t machine_events(const struct machine *m);

#endif
