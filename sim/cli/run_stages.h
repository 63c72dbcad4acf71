/* run_stages.h - npusim run --stages: a request's stages on one machine (sim/report/staged.h). */
#ifndef NPUSIM_SIM_CLI_RUN_STAGES_H
#define NPUSIM_SIM_CLI_RUN_STAGES_H

#include "sim/cli/cmd.h"
#include "sim/report/staged.h"

struct run_stages {
	const char *list, *config, *results;
	const struct opt_list *sets;
	const struct workload_spec *all; /* given beside the list */
	struct run_opts how;
	bool allow_opaque, whole;
	enum out_format format;
	int (*opaque)(const struct workload *w, bool allowed, struct err *e);
};

#define RUN_STAGES_HELP \
	"a request's stages one after the other, as one answer: STAGE[:KEY=VALUE,...];... with vision, prefill and decode. Keys are" \
	" the options of a workload (image, batch, tokens, context, range, trace, model ...); options beside it hold for all stages." \
	" A decode's tokens are its steps, each behind one token more; a prompt and a decode begin behind what the stages before" \
	" left in the cache"

/* All that can be wrong without reading a workload is wrong first. */
int run_stages_check(const char *list, const struct workload_spec *all, struct err *e);
int run_stages(const struct run_stages *q, struct str *out, struct err *e);

#endif
