/* serve_options.h - what is asked of a server as people write it, and what that means.
 *
 * The options of npusim serve. Where a file or another command has traffic for its workload, the same names with '_' for '-':
 *   serve: {rate: 4/s, prompt: 512, output: 128, engine: vllm, slo_ttft: 200 ms}     in a file
 *   --serve 'rate=4/s,prompt=512,find_rate'                                          in an option; or a file (.yaml) with `serve:`
 * Leaves out there: the machine, the model and how steps are run, which are said elsewhere. */
#ifndef NPUSIM_SIM_SERVE_SERVE_OPTIONS_H
#define NPUSIM_SIM_SERVE_SERVE_OPTIONS_H

#include "sim/base/arena.h"
#include "sim/base/yaml.h"
#include "sim/serve/preset.h"
#include "sim/serve/serve.h"

#define SERVE_NOT_GIVEN  UINT32_MAX
#define SERVE_NONE_GIVEN UINT64_MAX

/* As given; NULL and 0: the default, but where SERVE_OPTS_INIT has another. */
struct serve_opts {
	struct serve_ask ask;
	const char *router, *kv_rate, *kv_copy, *reserve, *preempt, *swap_rate, *fidelity, *start, *steps, *timeline,
		*engine;
	uint64_t batch, tokens, chunk, block, draft, concurrency;
	struct preset preset;
	struct cfg *engine_rows; /* of it, to be freed */
	uint32_t accept_ppm;
	ps_t overhead;
	bool find, limits, prefix, curve;
};
#define SERVE_OPTS_INIT \
	{ \
		.ask = { .seed = 1, \
			 .check = 4, \
			 .draft_ppm = SERVE_NOT_GIVEN, \
			 .share_ppm = 900000, \
			 .slo_ppm = 990000 }, \
		.fidelity = "analytic", .chunk = SERVE_NONE_GIVEN, .accept_ppm = SERVE_NOT_GIVEN \
	}

/* A file's section, which is `map`; texts live in `a`. */
int serve_options_read(const struct yaml *y, const struct ynode *map, struct arena *a, struct serve_opts *o,
                       struct err *e);
/* An option's text, or the file that it names. */
int serve_options_parse(const char *text, struct arena *a, struct serve_opts *o, struct err *e);
/* What was given, in words that read back: "rate=4/s,prompt=512". */
void serve_options_text(const struct serve_opts *o, struct str *to);
/* Of that, of the engine's constants and of all that the list has but ids and measured times: two of the same serve the same. */
int serve_options_hash(const struct serve_opts *o, uint64_t *out, struct err *e);
/* What they mean, in `o->ask`. */
int serve_options(struct serve_opts *o, struct err *e);

#endif
