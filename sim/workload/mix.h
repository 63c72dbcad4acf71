/* mix.h - several workloads with weights: what one machine is to do, and how often each.
 *
 * In a file, a list; of a model or a trace as an ablation's (`model`, `trace`, `range`, `phase`, ...):
 *   workloads:
 *   - {model: deepseek-ocr, weight: 0.7}
 *   - {name: prompts, model: llama-3.1-8b, phase: prefill, tokens: 512, weight: 0.3}
 * On a command line MODEL[:PHASE][:WEIGHT][,KEY=VALUE]..., one after the other with commas between: what has '=' in it is of the
 * part before it. A file in its place ends with .yaml.
 *
 * A weight says how many of the steps are this part's: weights are brought to a sum of 1, and 1 is what is not said. A mix's time
 * is the mean over its steps. Parts have different names: NAME, or model (range) and phase.
 *
 * Leaves out: parts at the same time on one machine; requests over time (sim/serve). */
#ifndef NPUSIM_SIM_WORKLOAD_MIX_H
#define NPUSIM_SIM_WORKLOAD_MIX_H

#include "sim/workload/workload.h"

#define MIX_PARTS 16

struct mix_part {
	const char *name;
	struct workload_spec spec;
	double weight;
};
struct mix {
	struct mix_part v[MIX_PARTS];
	size_t n; /* 0: there is none */
};

/* A list of a file; texts in `a`. Traces stay as they are written. */
int mix_read(const struct yaml *y, const struct ynode *list, struct arena *a, struct mix *out, struct err *e);
/* A file with `workloads:` and nothing else; its traces lie beside it, or where the command is run, or among the data. */
int mix_load(const char *path, struct arena *a, struct mix *out, struct err *e);
/* A command line's, or the file that it names. */
int mix_parse(const char *text, struct arena *a, struct mix *out, struct err *e);
/* "0.7 x deepseek-ocr decode + 0.3 x prompts" */
void mix_text(const struct mix *m, struct str *to);

#endif
