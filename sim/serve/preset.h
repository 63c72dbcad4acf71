/* preset.h - an inference engine: what its host adds to steps and requests, and how it batches unless told otherwise.
 *
 * configs/engine/NAME.yaml has one, a section `engine`; each constant says where it is from. `none` is not a file: no host. */
#ifndef NPUSIM_SIM_SERVE_PRESET_H
#define NPUSIM_SIM_SERVE_PRESET_H

#include "sim/base/cfg.h"

struct preset {
	cfg_text name; /* "vLLM 0.19" */
	ps_t step, sequence, request, prompt_token;
	bool ahead, prefix, beside;
	uint32_t attention; /* enum op_library: whose kernels of a GPU */
	bool mixed;         /* one call of attention a step */
	uint32_t max_batch, max_tokens, chunk;
	bool reserve_all;
};

/* By the name of a file there, or a file; `rows`, of which each says its source, is freed by cfg_free. */
int preset_load(const char *name, struct preset *out, struct cfg **rows, struct err *e);

#endif
