/* gpu_cfg.h - a GPU as plain data: one struct a section of YAML, and all of them as one.
 *
 * Rows stand beside the formulas that read them (gpu_FORM.c, occupancy.c, host.c); those all forms share in gpu_cfg.c.
 * Memory, clock and the number of SMs are the machine's own (arch/machine/machine_cfg.h). */
#ifndef NPUSIM_ARCH_GPU_GPU_CFG_H
#define NPUSIM_ARCH_GPU_GPU_CFG_H

#include "arch/gpu/gpu_event.h"
#include "arch/gpu/host.h"
#include "arch/gpu/occupancy.h"

/* What all forms share. */
struct gpu_common_cfg {
	ps_t launch;             /* launch and drain of a kernel of one CTA that does nothing */
	uint64_t cta_rate;       /* CTAs the device starts a second */
	ps_t step_l2, step_dram; /* a dependent step: load and barrier, hitting in L2 or not */
	ps_t step_fresh; /* what a step of a loop over elements takes more on bytes a launch before has just written */
	uint64_t fresh;  /* ... in an operand of so many bytes or more */
	uint32_t code;   /* launches of other kernels after which the SMs hold nothing of a kernel's code */
	ps_t barrier;    /* of a CTA of 128 threads */
	uint64_t dram_read, dram_write;    /* bytes/s sustained */
	uint64_t l2_rate;                  /* bytes/s all SMs together get from the L2 */
	uint64_t sm_rate_l2, sm_rate_dram; /* bytes/s one SM gets */
	uint32_t flop_fp32, flop_tf32, flop_bf16, flop_fp8, flop_int8,
		flop_fp4;      /* multiply-adds count two; a cycle and SM */
	uint64_t clock_tensor; /* kHz sustained with all tensor cores busy */
	uint32_t issue;        /* thread instructions a cycle and SM, times 100 */
	uint32_t sfu;          /* special functions a cycle and SM */
	uint32_t overlap;      /* exponent of the smooth maximum: 1, 2, 4, 8 */
};

/* Parameters of single forms, with their rows in gpu_FORM.c. */
struct gpu_product_cfg {
	ps_t setup, scaled, step, step_fill, reduce, reduce_part, reduce_rest, reduce_wave, dot, row, fma_step;
	uint64_t store_rate, l2_rate, gpc_rate, sm_dram, clock_fp8;
	uint32_t few, tensor, gpc_short;
};
struct gpu_attention_cfg {
	ps_t setup, setup_dim, tile, combine, combine_part, many_setup, many_block;
	uint64_t tile_rate, combine_rate;
	uint32_t many_softmax, many_tensor;
};
struct gpu_mma_cfg {
	ps_t setup, ahead, miss;
	uint32_t round, through;
	uint64_t store_rate;
};
struct gpu_grouped_cfg {
	ps_t setup, tile, same, sharer;
};
struct gpu_flash_cfg {
	ps_t setup;
	uint32_t mma, element, feed, instructions, store, flop_mma;
	uint64_t tile_rate;
};
struct gpu_stream_cfg {
	ps_t spread;           /* the longest that first loads queue when many go to DRAM at once */
	uint64_t spread_bytes; /* of missed bytes with which half of that is reached */
	ps_t copy, set;        /* what a copy or a set takes beside its bytes and an empty kernel */
	uint64_t inline_set;   /* sets of fewer bytes go word by word ... */
	uint64_t inline_rate;  /* ... at so many bytes/s */
	ps_t odd;              /* of a large copy whose bytes are no whole pages */
	uint32_t same;         /* cycles an SM waits for each other one that asks for the same line */
	uint32_t apart;        /* sectors a cycle and SM where neighbours lie apart, times 100 */
	uint32_t write_buffer; /* of the L2: what a launch stores before DRAM has to turn between reads and writes */
};
struct gpu_rows_cfg {
	uint64_t l1;       /* bytes of rows under way in an SM that its L1 keeps for a second pass */
	ps_t step_l1;      /* a load that hits it */
	ps_t join;         /* of CTAs that share a result: store, fence, count, and who is last */
	uint32_t resident; /* of the L2: bytes under way of which it keeps none for a later pass; of a quarter, all */
	uint32_t overlap;  /* exponent of the smooth maximum of a loop's round trips and the bytes' time */
};

/* What the board takes (gpu_power.h); a member for each event of gpu_event.h. */
enum gpu_mode { GPU_RACE, GPU_PACE };

struct gpu_power_cfg {
	uint64_t idle, idle_low, cap, lit, awake; /* uW */
	uint64_t clock;                           /* kHz */
	uint32_t mode;                            /* enum gpu_mode */
	ps_t latency_target;                      /* 0: none */
	uint64_t awake_rate;                      /* bytes/s */
	uint32_t reach, slope, droop;
	bool constant; /* data are of one value */
	ps_t gap;
	union {
		uint64_t cost[GPU_EVENTS]; /* fJ an event */
		struct {
#define X(name, block, scaled, unit, help) uint64_t name;
			GPU_EVENT_ROWS(X)
#undef X
		};
	};
};

extern const struct cfg_field gpu_common_schema[], gpu_product_schema[], gpu_mma_schema[], gpu_grouped_schema[],
	gpu_attention_schema[], gpu_flash_schema[], gpu_stream_schema[], gpu_rows_schema[], gpu_power_schema[];

/* X(section in YAML, struct and member of gpu_cfg, rows), in the order of the file. */
/* clang-format off */
#define GPU_SECTIONS(X) \
	X(sm, struct sm_cfg, sm, sm_schema) \
	X(gpu, struct gpu_common_cfg, common, gpu_common_schema) \
	X(product, struct gpu_product_cfg, product, gpu_product_schema) \
	X(mma, struct gpu_mma_cfg, mma, gpu_mma_schema) \
	X(grouped, struct gpu_grouped_cfg, grouped, gpu_grouped_schema) \
	X(attention, struct gpu_attention_cfg, attention, gpu_attention_schema) \
	X(flash, struct gpu_flash_cfg, flash, gpu_flash_schema) \
	X(stream, struct gpu_stream_cfg, stream, gpu_stream_schema) \
	X(rows, struct gpu_rows_cfg, rows, gpu_rows_schema) \
	X(host, struct host_cfg, host, host_schema) \
	X(power, struct gpu_power_cfg, power, gpu_power_schema)
/* clang-format on */

struct gpu_cfg {
#define X(section, type, member, rows) type member;
	GPU_SECTIONS(X)
#undef X
};

#endif
