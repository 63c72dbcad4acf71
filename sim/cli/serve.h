/* serve.h - what the files of npusim serve share: what is said on its line. */
#ifndef NPUSIM_SIM_CLI_SERVE_H
#define NPUSIM_SIM_CLI_SERVE_H

#include "sim/cli/cmd.h"
#include "sim/serve/preset.h"
#include "sim/serve/serve.h"

#define SERVE_NOT_GIVEN  UINT32_MAX
#define SERVE_NONE_GIVEN UINT64_MAX

/* As given; NULL and 0: the default. */
struct serve_opts {
	struct serve_ask ask;
	const char *router, *kv_rate, *kv_copy, *reserve, *preempt, *swap_rate, *fidelity, *start, *steps, *timeline,
		*write, *format, *engine;
	struct opt_list sets;
	uint64_t batch, tokens, chunk, block, draft, concurrency;
	struct preset preset;
	struct cfg *engine_rows; /* of it, to be freed */
	uint32_t accept_ppm;
	ps_t overhead;
	bool find, limits, prefix, curve;
};

/* What they mean, in `o->ask`. */
int serve_options(struct serve_opts *o, struct err *e);
/* Of requests and a machine that are loaded. */
int serve_answer(struct serve_run *r, const struct serve_opts *o, struct doc *d, struct err *e);

#endif
