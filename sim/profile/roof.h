/* roof.h - a device's roofline, and the rule that says which side of it a kernel is on.
 *
 * Peaks are of a machine configuration (kind: gpu), chosen by the device's name in the trace or by the user, or given by
 * the user. A card has its own file or none: one that differs in SMs, compute capability, memory or a word of its name that
 * tells cards apart (PCIe, Laptop, Ti) is another, and its peaks are not borrowed. Multiply-adds count two, by pipe (fp32, tf32, bf16, fp8, fp4) at the clock that pipe sustains; bandwidth twice: at the pins, and
 * effective, which is what a stream was measured to read (gpu.dram_read). The ridge of a pipe is its peak over the
 * effective bandwidth, in FLOP a byte.
 *
 * The rule is that of the profile report's appendix with numbers for its words. Of a kernel, `memory` is the percentage
 * of the peak bandwidth that it uses, `math` that of the peak of its pipe:
 *   latency   neither reaches `low`: launch, dependent round trips and too few threads take its time
 *   memory    no operations at all; or intensity below the ridge, and memory at least `margin` times math
 *   compute   intensity at or above the ridge, and math at least `margin` times memory
 *   balanced  the rest: neither is clearly the one that holds it back
 *   unknown   neither counters nor shapes
 * Memory is DRAM, or the busiest level of it where that makes no difference to a kernel above the ridge (bound.c). Where the operations are not known the intensity
 * is not a number: such a kernel may be memory-bound by its use, and is never called compute-bound.
 * The report has no class "latency"; its "balanced" (low in both) is mostly that. */
#ifndef NPUSIM_SIM_PROFILE_ROOF_H
#define NPUSIM_SIM_PROFILE_ROOF_H

#include "arch/gpu/occupancy.h"
#include "sim/base/err.h"
#include "traces/trace.h"
#include "workloads/dtype.h"

enum roof_pipe { ROOF_FP32, ROOF_TF32, ROOF_BF16, ROOF_FP8, ROOF_FP4, ROOF_PIPES };
enum roof_class { ROOF_MEMORY, ROOF_COMPUTE, ROOF_BALANCED, ROOF_LATENCY, ROOF_UNKNOWN, ROOF_CLASSES };

struct roof {
	char name[64], path[1024];   /* of the configuration */
	double bandwidth, effective; /* bytes/s */
	double flops[ROOF_PIPES];    /* a second; not a number: not given */
	uint32_t sms;                /* 0: peaks that were given, of a device that nothing else is known of */
	struct sm_cfg sm;
};
struct roof_rule {
	double margin, low;
}; /* a factor; percent */
#define ROOF_RULE \
	{ \
		1.5, 10 \
	} /* "meaningfully" and "approaches", which the report leaves open */

/* `config` NULL: the one in configs/gpu that describes the trace's device. */
int roof_load(const char *config, const struct trace *t, struct roof *r, struct err *e);
/* Of a device that no file describes: "5.3 TB/s, fp32 163.4, bf16 1307.4", bandwidth first, then TFLOP/s by pipe; what
 * stream reads is then the bandwidth. */
int roof_parse(const char *text, struct roof *r, struct err *e);
/* Of a GPU at hand: all but the path. */
struct machine_cfg;
void roof_of(const struct machine_cfg *c, struct roof *r);
double roof_ridge(const struct roof *r, enum roof_pipe p);
enum roof_pipe roof_pipe_of(enum dtype d);
enum roof_class roof_classify(const struct roof_rule *rule, double intensity, double ridge, double memory, double math);
const char *roof_class_name(enum roof_class c);
const char *roof_pipe_name(enum roof_pipe p);
/* Whether words of a device's name, joined, are a configuration's name: "NVIDIA GeForce RTX 5090" has "rtx5090", and
 * "NVIDIA L40S" has no "l4". */
bool roof_is_named(const char *device, const char *config);
/* A word of the device's name by which it is another card than the one of that configuration's name: "PCIe" of "NVIDIA H100
 * PCIe" for "h100". NULL: none. */
const char *roof_other_card(const char *device, const char *config);

#endif
