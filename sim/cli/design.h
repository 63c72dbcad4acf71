/* design.h - what the files of npusim design share: what is said on its line. */
#ifndef NPUSIM_SIM_CLI_DESIGN_H
#define NPUSIM_SIM_CLI_DESIGN_H

#include "sim/cli/mixed.h"
#include "sim/design/design.h"

struct design_opts {
	const char *config, *axes, *minimise, *maximise, *mix, *serve, *output, *fidelity, *start, *format;
	struct opt_list sets, reach, within, axis;
	struct workload_spec workload;
	uint64_t forms, events, jobs, seed;
	uint32_t sure_ppm;
	bool unreal, allow_opaque;
};

/* The design that answers `q`, of the workload or the mix that was named. */
int design_answer(const struct design_opts *o, struct machine_conf *c, struct design_question *q, struct arena *a,
                  struct doc *d, struct err *e);

#endif
