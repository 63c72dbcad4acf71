/* topics.c - what 'npusim help' knows beside commands: the language of a sweep file. */
#include "sim/cli/cmd.h"

#include <string.h>

#include "arch/machine/machine_cfg.h"
#include "results/figure.h"

static const char sweep_file[] = "A sweep file is YAML: a machine, a workload, and what is changed. 'npusim sweep\n"
				 "FILE.yaml' runs it, and --dry-run shows its points without running them.\n"
				 "\n"
				 "the machine and the workload\n"
				 "  sweep: 1                      the format's version\n"
				 "  base: CONFIG.yaml             the machine that the points change\n"
				 "  trace: FILE                   a trace database, or any profile that npusim\n"
				 "                                reads; or else\n"
				 "  workload: {name: MODEL, ...}  a model by its description, and what is asked of\n"
				 "                                it; of a trace without 'name'. Keys are those\n"
				 "                                that 'npusim workload options' lists; each may\n"
				 "                                be an axis, as model.batch\n"
				 "  workloads: [{model: MODEL, weight: W, ...},\n"
				 "              {name: NAME, trace: FILE, range: NAME, weight: W}, ...]\n"
				 "                                several in place of one, W of so many of the\n"
				 "                                steps: a point's times, bytes and joules are\n"
				 "                                means over the steps, mix.worst_ns is the\n"
				 "                                slowest's, mix.NAME_ns each one's time\n"
				 "  serve: {WORD: VALUE, ...}     the model serves requests: the options of\n"
				 "                                'npusim serve', with '_' for '-'. One of\n"
				 "    {rate: 4/s, prompt: 512, output: 128, number: 200}\n"
				 "                                drawn at a rate, or with concurrency: N\n"
				 "    {requests: FILE.csv, engine: vllm}\n"
				 "                                a list ('npusim help requests')\n"
				 "    {find_rate: true, slo_ttft: 200 ms, slo_tpot: 30 ms}\n"
				 "                                at the largest rate that keeps these\n"
				 "  range: NAME                   of a trace, only what was launched inside this\n"
				 "                                annotation\n"
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
				 "  axes: {KEY: VALUES, ...}      any parameter (below); VALUES is one of\n"
				 "    [64 MiB, 128 MiB]           these\n"
				 "    64 MiB                      this, for all points\n"
				 "    {from: A, to: B, steps: N, scale: linear | log}\n"
				 "                                N from A to B; without steps any, for samples\n"
				 "  link: [[KEY, KEY], ...]       axes that move together, one step of all of them\n"
				 "                                at a time\n"
				 "  where: EXPR | [EXPR, ...]     what does not hold is no point; over parameters\n"
				 "                                alone\n"
				 "  sample: grid                  all combinations (the default), or one of\n"
				 "    {kind: random, n: N, seed: S}\n"
				 "                                N points drawn at random\n"
				 "    {kind: lhs, n: N, seed: S}  N points, every axis covered evenly (Latin\n"
				 "                                hypercube)\n"
				 "    {kind: guided, n: N, seed: S, generation: G}\n"
				 "                                a search for the best trade-offs of the\n"
				 "                                objectives, G points (8 to 1024) at a time\n"
				 "\n"
				 "what is asked\n"
				 "  columns: {NAME: EXPR, ...}    values to print, and names for what follows\n"
				 "  objectives: [EXPR | {name: NAME, minimize: EXPR} |\n"
				 "               {name: NAME, maximize: EXPR}, ...]\n"
				 "                                what 'npusim best', 'pareto' and 'report' look\n"
				 "                                at; an EXPR alone is minimised\n"
				 "  constraints: EXPR | [EXPR, ...]\n"
				 "                                over results too; a point's row says whether\n"
				 "                                they hold\n"
				 "\n"
				 "expressions\n"
				 "  numbers with units (64 MiB, 2 TB/s, 1.4 GHz, 150 ns), + - * / and ( ),\n"
				 "  comparisons, and, or, not, min(), max(); names are every parameter, columns\n"
				 "  above, latency_us and the other figures of a run (tokens_per_s, power_w,\n"
				 "  uj_per_token), every statistic (l2.hit_bytes), stall.RESOURCE, needs.RESOURCE\n"
				 "  and kind.KIND in us\n";

static const char sweep_example[] = "\n"
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

#define WIDTH  80
#define INDENT 24

/* Names in lines, with commas between. */
struct list {
	struct str *to;
	size_t at;
};

static void name_it(struct list *l, const char *name)
{
	const size_t n = strlen(name) + 2;

	if (!l->at || l->at + n + 1 > WIDTH) {
		str_add(l->to, l->at ? ",\n  " : "  ");
		l->at = 2;
	} else {
		str_add(l->to, ", ");
	}
	str_add(l->to, name);
	l->at += n;
}

static void axes(struct str *out)
{
	for (int k = 0; k < MACHINE_KINDS; k++) {
		struct list l = { out, 0 };
		struct machine_cfg target;
		struct err none = ERR_INIT;
		struct cfg *c = machine_schema(&target, (enum machine_kind)k, &none);

		str_addf(out, "\nwhat may be an axis of a machine of kind %s ('npusim config explain KEY')\n",
		         machine_kind_name((enum machine_kind)k));
		for (size_t i = 0; c && i < cfg_count(c); i++)
			name_it(&l, cfg_at(c, i).key);
		str_add(out, "\n");
		cfg_free(c);
	}
}

/* JSON's names stand for the same, where no other figure is called that. */
static void results(bool traffic, struct str *out)
{
	str_add(out, traffic ? "\nwhat a point that serves requests may be asked for\n"
	                     : "\nwhat a point's run may be asked for; also as the JSON of 'npusim run' calls it\n");
	for (const struct figure *f = figure_table; f->help; f++) {
		struct str help = STR_INIT;

		if (!f->name || f->missing || !figure_is_of(f, traffic))
			continue;
		str_addf(&help, "%s%s%s", f->help, f->unit && *f->unit ? "; in " : "", f->unit ? f->unit : "");
		str_addf(out, "  %-*s", INDENT - 2, f->name);
		out_wrap(str_c(&help), INDENT, INDENT, WIDTH, out);
		out->failed |= help.failed;
		str_free(&help);
	}
}

static const char requests[] = "A list of requests is CSV with a header, columns in any order, for 'npusim serve\n"
			       "-r FILE' and, in sweeps, 'serve: {requests: FILE}'.\n"
			       "\n"
			       "columns\n"
			       "  arrival_s or arrival_ms  when it comes, from any zero, up to 30 days; without,\n"
			       "                           all come at once\n"
			       "  prompt, output           tokens, 1 on\n"
			       "  priority                 0 on; of who waits less is let in first, and of\n"
			       "                           equals who came first (as vLLM's). Of who is\n"
			       "                           served blocks are given up by the greatest first\n"
			       "  gives_up_ms              so long after it came its client leaves; empty: it\n"
			       "                           stays. What it had is free after its step, and it is\n"
			       "                           in no latency and within no bound\n"
			       "  hash_ids                 whole numbers, a blank between two: see below\n"
			       "  id                       any text, which goes where its request goes\n"
			       "  measured_ttft_ms, measured_total_ms\n"
			       "                           what a real server took, to be set beside\n"
			       "                           ('npusim plot serve')\n"
			       "\n"
			       "published lists that are read as they are\n"
			       "  Azure       TIMESTAMP (2023-11-16 18:15:46.68), ContextTokens,\n"
			       "              GeneratedTokens: github.com/Azure/AzurePublicDataset,\n"
			       "              AzureLLMInferenceTrace_*.csv\n"
			       "  BurstGPT    Timestamp (s), Request tokens, Response tokens; Model, Total\n"
			       "              tokens, Log Type, Session ID and Elapsed time are skipped:\n"
			       "              github.com/HPMLL/BurstGPT, the files 'without_fails', as an\n"
			       "              answer has a token\n"
			       "  Mooncake    a JSON object a line: timestamp (ms), input_length,\n"
			       "              output_length, hash_ids, others skipped:\n"
			       "              github.com/kvcache-ai/Mooncake, FAST25-release/traces\n"
			       "\n"
			       "prefixes that requests share\n"
			       "  Each of hash_ids stands for 512 tokens of a prompt and all before them; the\n"
			       "  last may stand for fewer, and is found by nobody. With '--prefix-cache', which\n"
			       "  vLLM's and SGLang's presets have, a request computes only what is behind the\n"
			       "  first of them that others have computed and nobody took. What nobody uses is\n"
			       "  free: it goes in the order in which it came free, the end of a prompt first.\n"
			       "  The cache is as large as '--memory' or '--kv-memory' make it. Found, kept and\n"
			       "  given up are told (JSON: shared_tokens, shared_peak_tokens, evicted_tokens).\n"
			       "  Whether an answer is in a later prompt no list tells, so it never is; several\n"
			       "  machines have a cache each, and the router does not look for prefixes.\n"
			       "\n"
			       "an example\n"
			       "  printf 'arrival_s,prompt,output,priority\\n0,512,64,1\\n0.1,2048,16,0\\n' \\\n"
			       "    >/tmp/requests.csv\n"
			       "  npusim serve -c dsocr -m llama-3.2-1b -r /tmp/requests.csv\n";

bool cmd_topic(const char *name, struct str *out)
{
	if (strcmp(name, "requests") == 0) {
		str_add(out, requests);
		return true;
	}
	if (strcmp(name, "sweep-file") != 0)
		return false;
	str_add(out, sweep_file);
	results(false, out);
	results(true, out);
	axes(out);
	str_add(out, sweep_example);
	return true;
}
