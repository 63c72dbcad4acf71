#include "arch/gpu/gpu_cfg.h"

static const char *overlap_rule(uint64_t v)
{
	return v && (v & (v - 1)) == 0 ? NULL : "is not a power of two";
}

#define MICRO "measured on an H200, traces/h200/micro/"

const struct cfg_field gpu_common_schema[] = {
	CFG_PS(struct gpu_common_cfg, launch, "launch", "544 ns", 0, 100 * PS_US, NULL,
	       "launch and drain of a kernel that does nothing", MICRO "launch_cupti.csv: one empty CTA"),
	CFG_U64(struct gpu_common_cfg, cta_rate, "cta_rate", "1663000000", 1000000, UINT64_C(1) << 50, NULL,
	        "CTAs the device starts a second", MICRO "launch.csv: up to 256 threads"),
	CFG_PS(struct gpu_common_cfg, step_l2, "step_l2", "162.5 ns", 1, 100 * PS_US, NULL,
	       "a load that hits the L2, and a barrier", MICRO "latency.csv: step"),
	CFG_PS(struct gpu_common_cfg, step_dram, "step_dram", "385 ns", 1, 100 * PS_US, NULL,
	       "a load from DRAM, and a barrier", MICRO "latency.csv: step"),
	CFG_PS(struct gpu_common_cfg, step_fresh, "step_fresh", "80 ns", 0, 100 * PS_US, NULL,
	       "what a step of a loop over elements takes more on bytes a launch before has just written",
	       MICRO "code.csv: producer less warm, over the loop's steps"),
	CFG_BYTES(struct gpu_common_cfg, fresh, "fresh", "16 KiB", 1, UINT64_C(1) << 40, NULL,
	          "... in an operand of so many bytes or more", MICRO "code.csv: 8 KiB show nothing"),
	CFG_U32(struct gpu_common_cfg, code, "code", "16", 1, 1u << 20, NULL,
	        "launches of other kernels after which the SMs hold nothing of a kernel's code",
	        MICRO "code.csv: no change from 16 to 32"),
	CFG_PS(struct gpu_common_cfg, barrier, "barrier", "20 ns", 0, 100 * PS_US, NULL, "a barrier of 128 threads",
	       MICRO "latency.csv: step"),
	CFG_RATE(struct gpu_common_cfg, dram_read, "dram_read", "4.60 TB/s", 1000000, UINT64_C(1) << 50, NULL,
	         "sustained DRAM reads", MICRO "stream.csv: best launch"),
	CFG_RATE(struct gpu_common_cfg, dram_write, "dram_write", "4.03 TB/s", 1000000, UINT64_C(1) << 50, NULL,
	         "sustained DRAM writes beside reads",
	         MICRO "stream.csv: a copy's 4.31 TB/s less its reads at dram_read"),
	CFG_RATE(struct gpu_common_cfg, l2_rate, "l2_rate", "9 TB/s", 1000000, UINT64_C(1) << 50, NULL,
	         "what all SMs together get from the L2", MICRO "stream.csv: 132 SMs, 16 MiB"),
	CFG_RATE(struct gpu_common_cfg, sm_rate_l2, "sm_rate_l2", "239 GB/s", 1000, UINT64_C(1) << 50, NULL,
	         "what one SM gets from the L2", MICRO "stream.csv: one SM"),
	CFG_RATE(struct gpu_common_cfg, sm_rate_dram, "sm_rate_dram", "121 GB/s", 1000, UINT64_C(1) << 50, NULL,
	         "what one SM gets from DRAM", MICRO "stream.csv: one SM"),
	CFG_U32(struct gpu_common_cfg, flop_fp32, "flop_fp32", "250", 1, 1u << 20, NULL, "fp32 FLOP a cycle and SM",
	        MICRO "pipe.csv: 125 multiply-adds"),
	CFG_U32(struct gpu_common_cfg, flop_tf32, "flop_tf32", "2048", 1, 1u << 20, NULL, "tf32 FLOP a cycle and SM",
	        "half of bf16: NVIDIA H100 white paper"),
	CFG_U32(struct gpu_common_cfg, flop_bf16, "flop_bf16", "4096", 1, 1u << 20, NULL,
	        "bf16 and fp16 FLOP a cycle and SM", MICRO "wgmma.csv"),
	CFG_U32(struct gpu_common_cfg, flop_fp8, "flop_fp8", "8192", 1, 1u << 20, NULL, "fp8 FLOP a cycle and SM",
	        MICRO "wgmma.csv"),
	CFG_U32(struct gpu_common_cfg, flop_fp4, "flop_fp4", "0", 0, 1u << 20, NULL,
	        "fp4 FLOP a cycle and SM, block scales with them; 0: the device multiplies no fp4",
	        "none before Blackwell: NVIDIA H100 white paper"),
	CFG_FREQ(struct gpu_common_cfg, clock_tensor, "clock_tensor", "1.664 GHz", 1000, 10000000, NULL,
	         "clock with all tensor cores busy", MICRO "wgmma.csv: bf16, 50 ms without rest"),
	CFG_U32(struct gpu_common_cfg, issue, "issue", "12800", 100, 1u << 20, NULL,
	        "thread instructions a cycle and SM, times 100",
	        "four schedulers of a warp each: NVIDIA H100 white paper"),
	CFG_U32(struct gpu_common_cfg, sfu, "sfu", "16", 1, 1u << 20, NULL, "special functions a cycle and SM",
	        MICRO "pipe.csv"),
	CFG_U32(struct gpu_common_cfg, overlap, "overlap", "4", 1, 64, overlap_rule,
	        "exponent of the smooth maximum of chain, memory and pipes",
	        "4.3 fitted on H200 operators (prototype); a power of two so that integers do"),
	CFG_END
};
