/* energy.h - a GPU's power model against board energy that was measured.
 *
 * A table (CSV, zipped or not) has a row a case, each of which ran back to back for about a second: columns kind, shape,
 * watts, us (of one iteration), and sm_mhz, work_ops and work_bytes where they are known. Kinds (validate/cuda/energy_torch.py):
 *   gemm_TYPE[_hot|_zeros]     M N K          one weight matrix of 300 MB of copies in turn; hot: always the same
 *   ew_OP_TYPE[_hot|_own]      n              silu exp add copy fill cast; own: results in copies of their own, too
 *   row_OP[_TYPE]              rows cols      sum softmax rmsnorm topk sort
 *   attention[_turns]          b h hk lq lk d causal    always the same keys and values; turns: copies in turn
 *   read[_cg] mib; ffma, sfu, smem warps; spin_one_thread, spin_one_warp_an_sm; idle
 *   step_graph, step_eager     model batch context   a whole decode step, its ops built from the model (sim/build)
 * Others are counted and left out, and so are steps of models that are not described.
 *
 * What is compared: the energy of an iteration at the measured time and clock, so that errors of the kernels' times are
 * not in it; and the clock that the cap leaves, at the measured number of the core's cycles and the measured part that is
 * DRAM's. Launches are the library's as arch/gpu/gpu_geometry.h has them; residency is the machine's L2.
 * Of a step the launches take what they do at their simulated times, and the board waits for all of the measured one. No
 * fit looks at steps.
 * Split: as everywhere, two fifths by a hash of kind and shape are held out. */
#ifndef NPUSIM_SIM_ACCURACY_ENERGY_H
#define NPUSIM_SIM_ACCURACY_ENERGY_H

#include "arch/gpu/gpu_power.h"
#include "arch/machine/machine_cfg.h"
#include "sim/accuracy/cases.h"
#include "traces/text/input.h"

struct energy_case {
	const char *name, *cls;
	double watts, us;
	ps_t time;                /* measured; of idle: a second */
	uint64_t clock, measured; /* kHz, 0: not told; fJ */
	enum sample_split split;
	uint64_t hash;
	uint32_t kernels;
	struct gpu_activity work;
	/* A step's launches; NULL: one kernel after the other of the same op. */
	const struct gpu_activity *launches;
	const ps_t *took;
	/* Of the model: filled by energy_ask. */
	struct gpu_energy parts;
	uint64_t simulated;       /* fJ, at the measured time and clock */
	uint64_t simulated_clock; /* kHz, under the cap */
	uint64_t top;             /* kHz, the device's full clock */
	bool capped;              /* it was measured below that, by more than a step */
};

struct energy_cases {
	const char *path;
	struct energy_case *v;
	size_t n, left_out;
};

/* Reads and counts; the arena must outlive them. */
int energy_read(struct input *in, const struct machine_cfg *m, const struct kernels *k, struct arena *a,
                struct energy_cases *out, struct err *e);
/* An op of which shape and residency are known: its launches counted into *c as a library here would make them. False: no
 * kernel is known for such an op. */
bool energy_of_op(const struct gpu *g, const struct kernels *k, const struct op_stream *s, const struct op *o,
                  const struct gpu_mem *mem, struct energy_case *c);
/* The model's answer with this device's costs; the counts do not depend on those. */
void energy_ask(struct energy_case *c, const struct gpu *g);

struct energy_score {
	const char *cls; /* NULL: all */
	size_t n, n_clock;
	double mape, median_ape, p90_ape, weighted_ape, bias,
		clock_mape; /* percent; clock: of cases below the full clock */
};
/* By class in order of first appearance, then all; of one split. Returns how many, or -1. */
int energy_score(const struct energy_cases *sets, size_t n, enum sample_split split, struct arena *a,
                 struct energy_score **out, struct err *e);

#endif
