/* metric.h - counters of a kernel by the names that we give them: columns of a table of counters (read/counters_csv.h),
 * metrics of 'npusim trace hist'. Percentages are of peaks or of accesses, as Nsight Compute has them. */
#ifndef NPUSIM_TRACES_METRIC_H
#define NPUSIM_TRACES_METRIC_H

/* clang-format off */
/* X(ID, name): the profile report's thirteen, which have histograms */
#define METRIC_SHOWN(X) \
	X(DURATION_US, duration_us)            X(SM_PCT, sm_throughput_pct)            X(DRAM_PCT, dram_throughput_pct) \
	X(MEM_PCT, mem_throughput_pct)         X(MEM_GBS, memory_throughput_gbs)       X(L1_HIT_PCT, l1tex_hit_rate_pct) \
	X(L1_PCT, l1tex_throughput_pct)        X(L2_HIT_PCT, l2_hit_rate_pct)          X(L2_PCT, l2_throughput_pct) \
	X(OCCUPANCY_PCT, achieved_occupancy_pct)                                       X(THEORETICAL_PCT, theoretical_occupancy_pct) \
	X(BUSY_PCT, mem_busy_pct)              X(MAX_BANDWIDTH_PCT, max_bandwidth_pct)
/* and those that bytes and operations are made of: DRAM bytes, thread instructions, operations of the tensor pipes by the bits
 * of their operands, instructions of these pipes */
#define METRIC_REST(X) \
	X(READ, dram_read_bytes)               X(WRITTEN, dram_written_bytes)          X(FADD, fadd_insts) \
	X(FMUL, fmul_insts)                    X(FFMA, ffma_insts)                     X(TENSOR16, tensor16_ops) \
	X(TENSOR32, tensor32_ops)              X(TENSOR8, tensor8_ops)                 X(TENSOR_INST, tensor_insts)
/* other names of some of them: of bytes both ways together, of operations of 16 bits */
#define METRIC_ALSO(X) \
	X(READ, dram_bytes)                    X(TENSOR16, tensor_ops)
/* clang-format on */

#endif
