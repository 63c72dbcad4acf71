/* run.c - npusim run: its options, and where what comes of them is told. */
#include <string.h>

#include "sim/cli/ops_table.h"
#include "sim/report/job.h"

#define NOT_GIVEN UINT32_MAX

#define STAGES_HELP \
	"a request's stages one after the other, as one answer: STAGE[:KEY=VALUE,...];... with vision, prefill and decode. Keys are" \
	" the options of a workload (image, batch, tokens, context, range, trace, model ...); options beside it hold for all stages." \
	" A decode's tokens are its steps, each behind one token more; a prompt and a decode begin behind what the stages before" \
	" left in the cache"

struct options {
	struct job job;
	const char *start, *fidelity, *format;
	const struct cmd_figures *figures; /* that a study asks for, as a tree; NULL: all, as text */
	struct opt_list sets;
	uint32_t reuse_ppm;
};

/* With a note where ops of a table are not modelled as it names them. */
static int read_one(const struct workload_spec *s, const struct machine_cfg *m, struct workload *w, struct err *e)
{
	if (cmd_workload_read(s, m, w, e) < 0)
		return -1;
	if (w->source == WORKLOAD_TRACE)
		ops_listed_note(&w->stream, machine_runs(m));
	return 0;
}

static int job_of(struct options *o, struct err *e)
{
	const struct cmd_figures *figures = o->figures;
	struct job *j = &o->job;

	j->sets = o->sets.v;
	j->n_sets = o->sets.n;
	j->read = j->stages ? cmd_workload_read : read_one;
	j->buys = !figures;
	for (size_t i = 0; figures && i < figures->n_paths; i++)
		j->buys |= run_verdict_buys(figures->paths[i]);
	if (job_check(j, e) < 0 || run_fidelity_parse(o->fidelity, &j->how.fidelity, e) < 0)
		return -1;
	if (o->reuse_ppm != NOT_GIVEN && o->reuse_ppm > 1000000)
		return err_set(e, ERR_USAGE, "a probability lies between 0 and 1, for option '--expert-reuse'");
	j->how.reuse_given = o->reuse_ppm != NOT_GIVEN;
	j->how.reuse_ppm = j->how.reuse_given ? o->reuse_ppm : 0;
	return run_start_parse(o->start, &j->how.start, e);
}

static int told(void *options, const struct opt_list *args, struct doc *d, struct err *e)
{
	struct options *o = options;

	(void)args;
	if (job_of(o, e) < 0)
		return -1;
	if (o->figures)
		doc_init_tree(d, o->figures->tree, d->out);
	return job_run(&o->job, d, e);
}

static int run_to(int argc, char **argv, const struct cmd_figures *figures, struct str *out, struct err *e)
{
	struct options o = { .job = { .how = run_opts_default(), .top = JOB_TOP },
		             .start = "steady",
		             .fidelity = "event",
		             .reuse_ppm = NOT_GIVEN,
		             .figures = figures };
	struct job *j = &o.job;
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &j->config, "CONFIG",
		  "the machine, in YAML; 'npusim config explain' lists its parameters. Several with commas between are set side by"
		  " side, a row each" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &j->workload, WORKLOAD_RUN) },
		{ 0, "stages", OPT_TEXT, &j->stages, "LIST", STAGES_HELP },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE", "change a parameter of the machine; may be repeated" },
		{ 0, "start", OPT_TEXT, &o.start, "steady|cold|resident",
		  "steady (default): the range runs once to warm up, and the"
		  " second time is measured; cold: the first time is measured, with nothing on chip; resident: steady, and"
		  " operands lie in SRAM, as far as they fit, and nothing waits to be written" },
		{ 0, "expert-reuse", OPT_PPM, &o.reuse_ppm, "P",
		  "probability that an expert which the step before"
		  " picked is picked again. A trace does not say which experts a step picks; by default they are"
		  " independent, and P is top-k over the number of experts" },
		{ 0, "seed", OPT_U64, &j->how.seed, "N",
		  "of everything drawn at random, which is the experts; 1 by default" },
		{ 0, "allow-opaque", OPT_FLAG, &j->allow_opaque, NULL,
		  "do not fail when more than 5 % of the measured time is in kernels no rule knows; their measured time"
		  " is carried along, in the step's time and in every speed-up" },
		{ 0, "explain-fusion", OPT_FLAG, &j->explain_fusion, NULL,
		  "what the fusion engine joins, by pattern, and what it does not join, by reason; with --all each chain, too" },
		{ 0, "explain-map", OPT_TEXT, &j->explain_map, "OP",
		  "tell how the command of this op (a number or a name of 'npusim trace ops') was chosen: the way that was"
		  " taken, its two best rivals, and what each would take" },
		{ 0, "program", OPT_WRITE, &j->program, "FILE",
		  "write the tile program there, as text: what the mapper chose for every"
		  " command, and why" },
		{ 0, "timeline", OPT_WRITE, &j->timeline, "FILE.json",
		  "write the run over time there, for ui.perfetto.dev: what each unit worked at, bandwidths and queues, and"
		  " the measured kernels beside it" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "event (default): every tile moved or computed is"
		  " simulated; analytic: the same machine in closed form, some twenty times as fast and a few percent away" },
		{ 0, "ops", OPT_U64, &j->top, "N",
		  "list the N ops that take longest; 10 by default with --all (json and csv have all ops)" },
		{ 'a', "all", OPT_FLAG, &j->whole, NULL,
		  "print all tables: what bounds the run, traffic, units, ops, measured against simulated, and how far each figure"
		  " may be trusted. Else what was found, on 40 lines of 80 columns" },
		{ 'o', "output", OPT_WRITE, &j->results, "R.db",
		  "store the run in this results database, for 'npusim compare'" },
		{ 0, "format", OPT_TEXT, &o.format, CMD_FORMATS, CMD_FORMAT_HELP "; csv has the ops" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim run -c CONFIG (-t T.db [--range NAME] [-m MODEL] | -m MODEL [--phase PHASE] [--batch B] [--context N] [--quant SCHEME] |"
		" --program-in FILE)"
		" [--stages LIST] [--set KEY=VALUE]... [options]",
		"Replays a measured trace, or runs a model by its description, on a machine that is described in YAML: how long each op would take there, what"
		" holds it back, how far the whole is from the physical limit (the roofline), and how that compares with"
		" the measured time. A ratio above 1 means the simulated machine is faster. Kernel time and wall time are"
		" compared apart: a GPU that waits for its host is busy for a part of the wall time only. Kernels whose operator"
		" is not known (a CUDA graph's, a served model's) are laid over the model that ran, by '-m' beside '-t'. The"
		" output is the same to the byte on every run.",
		"npusim run -c dsocr,h100,b200,tpu-v6e -m llama-3.1-8b --batch 16   # side by side\n"
		"npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1\n"
		"npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 --set 'l2.size=64 MiB' -o /tmp/r.db\n"
		"npusim run -c configs/npu/edge.yaml -t /tmp/t.db --range decode_step_1 --start cold --format json\n"
		"npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 --timeline /tmp/run.json\n"
		"npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 --rewrite kv-append,native-bf16\n"
		"npusim run -c configs/gpu/h200.yaml -t /tmp/t.db --range decode_step_1    # on the GPU's own model\n"
		"npusim run -c configs/npu/dsocr.yaml -t traces/rtx5090/dsocr.yaml --context 472\n"
		"npusim run -c configs/npu/dsocr.yaml -t workloads/ops/gb200-decode.csv\n"
		"npusim run -c configs/npu/dsocr.yaml -m llama-3.1-8b --batch 16 --context 8192\n"
		"npusim run -c configs/npu/dsocr.yaml -t served.json -m llama-3.1-8b --batch 8 --context 512   # a CUDA graph\n"
		"npusim run -c configs/npu/dsocr.yaml --program-in workloads/programs/mlp.txt\n"
		"npusim run -c hgx-h200 -m llama-3.1-70b --tp 2 --batch 8 --context 2048\n"
		"npusim run -c configs/gpu/h200.yaml -m qwen3-8b --phase prefill --tokens 1024 --quant fp8\n"
		"npusim run -c configs/npu/dsocr.yaml -m deepseek-ocr --stages"
		" 'vision:image=1024; prefill:tokens=273; decode:tokens=256'\n",
		opts,
		0,
		0
	};

	return cmd_do(&cmd, &o.format, told, &o, argc, argv, out, e);
}

int cmd_run(int argc, char **argv, struct str *out, struct err *e)
{
	return run_to(argc, argv, NULL, out, e);
}

int cmd_run_figures(int argc, char **argv, const struct cmd_figures *f, struct err *e)
{
	struct str none = STR_INIT;
	int rc = run_to(argc, argv, f, &none, e);

	if (none.failed && !e->kind)
		rc = err_nomem(e, "for a document");
	str_free(&none);
	return rc;
}
