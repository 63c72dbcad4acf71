/* topics.c - what 'npusim help' knows beside commands: the language of a sweep file. */
#include "sim/cli/cmd.h"

#include <string.h>

static const char sweep_file[] =
	"A sweep file is YAML: a machine, a workload, and what is changed. 'npusim sweep FILE.yaml' runs it, and --dry-run\n"
	"shows its points without running them.\n"
	"\n"
	"the machine and the workload\n"
	"  sweep: 1                      the format's version\n"
	"  base: CONFIG.yaml             the machine that the points change\n"
	"  trace: FILE                   a trace database, or any profile that npusim reads; or else\n"
	"  workload: {name: MODEL, ...}  a model by its description, and what is asked of it; of a trace without 'name'. Keys\n"
	"                                are those that 'npusim workload options' lists; each may be an axis, as model.batch\n"
	"  workloads: [{model: MODEL, weight: W, ...}, {name: NAME, trace: FILE, range: NAME, weight: W}, ...]\n"
	"                                several in place of one, W of so many of the steps: a point's times, bytes and joules are\n"
	"                                means over the steps, mix.worst_ns is the slowest's, mix.NAME_ns each one's time\n"
	"  range: NAME                   of a trace, only what was launched inside this annotation\n"
	"  rewrite: NAME,NAME            as 'npusim run --rewrite'\n"
	"  rules: FILE                   the table that makes ops of kernels\n"
	"\n"
	"how each point is run, as the options of 'npusim run'\n"
	"  start: steady | cold | resident\n"
	"  seed: N\n"
	"  expert_reuse: P\n"
	"  fidelity: event | analytic\n"
	"\n"
	"what is changed\n"
	"  axes: {KEY: VALUES, ...}      any parameter ('npusim config explain' lists them); VALUES is one of\n"
	"    [64 MiB, 128 MiB]             these\n"
	"    64 MiB                        this, for all points\n"
	"    {from: A, to: B, steps: N, scale: linear | log}   N from A to B; without steps any, for samples\n"
	"  link: [[KEY, KEY], ...]       axes that move together, one step of all of them at a time\n"
	"  where: EXPR | [EXPR, ...]     what does not hold is no point; over parameters alone\n"
	"  sample: grid                  all combinations (the default), or one of\n"
	"    {kind: random, n: N, seed: S}   N points drawn at random\n"
	"    {kind: lhs, n: N, seed: S}      N points, every axis covered evenly (Latin hypercube)\n"
	"    {kind: guided, n: N, seed: S, generation: G}   a search for the best trade-offs of the objectives, G points at a time\n"
	"\n"
	"what is asked\n"
	"  columns: {NAME: EXPR, ...}    values to print, and names for what follows\n"
	"  objectives: [EXPR | {name: NAME, minimize: EXPR} | {name: NAME, maximize: EXPR}, ...]\n"
	"                                what 'npusim best', 'pareto' and 'report' look at; an EXPR alone is minimised\n"
	"  constraints: EXPR | [EXPR, ...]   over results too; a point's row says whether they hold\n"
	"\n"
	"expressions\n"
	"  numbers with units (64 MiB, 2 TB/s, 1.4 GHz, 150 ns), + - * / and ( ), comparisons, and, or, not, min(), max();\n"
	"  names are every parameter, columns above, latency_us and the other figures of a run (tokens_per_s, power_w,\n"
	"  uj_per_token), every statistic (l2.hit_bytes), stall.RESOURCE, needs.RESOURCE and kind.KIND in us\n"
	"\n"
	"an example\n"
	"  sweep: 1\n"
	"  base: configs/npu/dsocr.yaml\n"
	"  trace: traces/h200/kineto_dsocr_b1_c1024.json.gz\n"
	"  range: decode_step_1\n"
	"  axes:\n"
	"    l2.size: [64 MiB, 192 MiB, 512 MiB]\n"
	"    dram.channels: {from: 16, to: 96, steps: 6}\n"
	"  where: dram.channels >= 16\n"
	"  columns: {hit_pct: 100 * l2.hit_bytes / l2.read_bytes}\n"
	"  objectives: [latency_us, {name: sram, minimize: l2.size}]\n";

static const struct topic {
	const char *name, *text;
} topics[] = { { "sweep-file", sweep_file } };

bool cmd_topic(const char *name, struct str *out)
{
	for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
		if (strcmp(topics[i].name, name) == 0) {
			str_add(out, topics[i].text);
			return true;
		}
	return false;
}
