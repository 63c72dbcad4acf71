/* run.c - npusim run: options, the run, what is kept of it, and the exit code. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "sim/report/eval.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/path.h"
#include "sim/cli/ops_table.h"
#include "sim/cli/run_machines.h"
#include "sim/cli/run_stages.h"
#include "sim/report/timeline.h"
#include "sim/ui/outfile.h"

#define OPAQUE_MAX_PCT 5 /* of the measured time: above it a run says little about the workload */
#define NOT_GIVEN      UINT32_MAX
#define OPS_NOT_GIVEN  UINT64_MAX
#define OPS_SHOWN      10

struct options {
	const char *config, *start, *fidelity, *results, *program, *timeline, *explain_map, *format, *stages;
	struct opt_list sets;
	uint32_t reuse_ppm;
	uint64_t seed, top;
	struct workload_spec workload;
	bool allow_opaque, explain_fusion, all;
};

/* --- the run ----------------------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static int check_opaque(const struct workload *w, bool allowed, struct err *e)
{
	struct err found = ERR_INIT;
	struct str hint = STR_INIT;

	if (allowed || workload_opaque(&w->stream, OPAQUE_MAX_PCT, &found) == 0)
		return 0;
	workload_lay_hint(&path_source, w, &hint);
	err_set(e, found.kind, "%s%s", found.msg, str_c(&hint));
	str_free(&hint);
	return -1;
}

/* Where a run is told. */
struct sink {
	enum out_format format;
	struct str *out;                   /* as text */
	const struct cmd_figures *figures; /* NULL; else as a tree, and in `out` nothing */
};

/* Are figures asked that what to buy next is part of? */
static bool asks_what_to_buy(const struct cmd_figures *f)
{
	for (size_t i = 0; f && i < f->n_paths; i++) {
		char member[64] = "";

		strncat(member, f->paths[i],
		        strcspn(f->paths[i], ".[") < sizeof member - 1 ? strcspn(f->paths[i], ".[") : 0);
		if (run_verdict_buys(member))
			return true;
	}
	return !f;
}

static void write_report(const struct run_report *r, const struct sink *to)
{
	struct str *out = to->out;
	struct out_json j;

	if (to->figures) {
		out_json_init_tree(&j, to->figures->tree, out);
		run_document(r, &j);
	} else if (to->format == OUT_JSON)
		run_json(r, out);
	else if (to->format == OUT_CSV)
		run_csv(r, out);
	else
		run_table(r, out);
}

/* Everything the user may have got wrong is read before the simulation starts, the results file first of all. */
struct inputs {
	struct resdb *db;
	struct machine_base *machines;
	struct machine_conf *conf; /* of them, as they are */
	struct workload w;
	struct baseline *baseline;
};

static void inputs_free(struct inputs *in)
{
	baseline_free(in->baseline);
	res_free(in->db);
	machine_conf_free(in->conf);
	machine_base_free(in->machines);
	workload_free(&in->w);
}

static int workload(struct inputs *in, const struct options *o, struct err *e)
{
	if (cmd_workload_read(&o->workload, &in->conf->cfg, &in->w, e) < 0)
		return -1;
	if (in->w.source != WORKLOAD_TRACE)
		return 0;
	ops_listed_note(&in->w.stream, machine_runs(&in->conf->cfg));
	return eval_check_work(in->conf, &in->w, e);
}

static int inputs_read(struct inputs *in, const struct options *o, struct err *e)
{
	memset(in, 0, sizeof *in);
	if (!(in->machines = machine_base_load(o->config, o->sets.v, o->sets.n, e)) ||
	    !(in->conf = machine_base_conf(in->machines, NULL, 0, e)))
		return -1;
	if (o->program && machine_runs(&in->conf->cfg) != MACHINE_COMMANDS)
		return err_set(e, ERR_USAGE,
		               "'%s' runs the trace's launches: it has no program, for option '--program'", o->config);
	if (eval_check(in->conf, o->config, &o->workload, e) < 0)
		return -1;
	if (o->explain_map && machine_runs(&in->conf->cfg) != MACHINE_COMMANDS)
		return err_set(e, ERR_USAGE,
		               "'%s' runs the trace's launches: nothing is mapped, for option '--explain-map'",
		               o->config);
	return o->results && !(in->db = res_open(o->results, DB_WRITE, e)) ? -1 : workload(in, o, e);
}

static int write_program(const char *path, const struct op_stream *s, const struct map_result *m, struct err *e)
{
	struct str text = STR_INIT;
	int rc;

	program_write(s, m, &text);
	rc = outfile_write(path, &text, e);
	str_free(&text);
	return rc;
}

static int run_simulate(const struct options *o, const struct run_opts *how, struct inputs *in, bool buys,
                        struct eval *x, uint64_t *host_ns, struct err *e)
{
	const struct trace *t = &in->w.in.trace;
	struct eval_job j = { buys ? in->machines : NULL, in->conf, &in->w, *how };
	struct timeline *line = NULL;
	uint64_t began;

	if (o->timeline && !(line = timeline_open(o->timeline, &in->w.stream, in->conf,
	                                          t->n_devices ? t->devices[0].name : NULL, &x->result, e)))
		return -1;
	j.how.watch = line ? timeline_watch(line) : NULL;
	began = now_ns();
	if (timeline_close(line, eval_run(&j, in->w.in.arena, x, e), e) < 0)
		return -1;
	*host_ns = now_ns() - began;
	j.how.watch = NULL;
	in->baseline =
		baseline_new(&path_source, in->w.source == WORKLOAD_TRACE || in->w.source == WORKLOAD_LAID ? t : NULL);
	eval_verdict(&j, in->baseline, in->w.in.arena, x);
	return 0;
}

/* What options ask for beside the run. */
static int asked(const struct options *o, const struct run_opts *how, struct inputs *in, struct eval *x, struct err *e)
{
	struct run_report *r = &x->report;

	r->whole = o->all;
	r->top = o->top != OPS_NOT_GIVEN ? o->top : o->all ? OPS_SHOWN : 0;
	r->explain_fusion = o->explain_fusion;
	r->results_path = o->results;
	r->timeline_path = o->timeline;
	if (o->program && write_program(o->program, &in->w.stream, x->result.map, e) < 0)
		return -1;
	if (o->explain_fusion && x->result.map && in->conf->cfg.fusion.enabled && !r->given &&
	    run_apart(r, in->machines, how, e) < 0)
		return -1;
	return o->explain_map ? run_mapping(r, o->explain_map, in->w.in.arena, e) : 0;
}

static int do_run(const struct options *o, const struct run_opts *how, const struct sink *to, struct err *e)
{
	struct err not_stored = ERR_INIT;
	struct inputs in;
	struct eval x;
	uint64_t host_ns;
	int rc = -1;

	if (inputs_read(&in, o, e) < 0 ||
	    run_simulate(o, how, &in, asks_what_to_buy(to->figures), &x, &host_ns, e) < 0 ||
	    asked(o, how, &in, &x, e) < 0)
		goto out;
	if (in.db) {
		res_close(in.db, run_store(&x.report, in.db, host_ns, in.w.in.arena, &not_stored), &not_stored);
		in.db = NULL;
	}
	write_report(&x.report, to); /* also when it could not be stored: the time was spent */
	if (not_stored.kind)
		*e = not_stored;
	else
		rc = check_opaque(&in.w, o->allow_opaque, e);
out:
	inputs_free(&in);
	return rc;
}

static int run_several(const struct options *o, const struct run_opts *how, enum out_format f, struct str *out,
                       struct err *e)
{
	const struct run_stages q = { o->stages, o->config,       o->results, &o->sets, &o->workload,
		                      *how,      o->allow_opaque, o->all,     f,        check_opaque };

	return run_stages(&q, out, e);
}

/* "A,B": several machines, where no file is called so. */
static bool is_several(const struct options *o)
{
	return o->config && strchr(o->config, ',') && access(o->config, F_OK) != 0;
}

static int run_beside(const struct options *o, const struct run_opts *how, enum out_format f, struct str *out,
                      struct err *e)
{
	const struct run_machines q = { o->config, &o->sets, &o->workload, *how, o->allow_opaque, f, check_opaque };

	return run_machines(&q, out, e);
}

/* --- options ----------------------------------------------------------------------------------------------- */

/* A program is mapped already, whatever it was made of. */
static int check_given(const struct options *o, struct err *e)
{
	return o->workload.program && o->explain_map
	               ? err_set(e, ERR_USAGE,
	                         "option '--explain-map' is of another workload: '--program-in' gives a program")
	               : 0;
}

/* What is of one run, beside several. */
static int check_several(const struct options *o, const char *why, struct err *e)
{
	const char *one = o->explain_map            ? "explain-map"
	                  : o->explain_fusion       ? "explain-fusion"
	                  : o->program              ? "program"
	                  : o->timeline             ? "timeline"
	                  : o->top != OPS_NOT_GIVEN ? "ops"
	                                            : NULL;

	if (one)
		return err_set(e, ERR_USAGE, "option '--%s' is of one run, and %s", one, why);
	return 0;
}

static int check_stages(const struct options *o, struct err *e)
{
	return check_several(o, "'--stages' makes several: give the stage alone, without '--stages'", e) < 0
	               ? -1
	               : run_stages_check(o->stages, &o->workload, e);
}

static int check_machines(const struct options *o, struct err *e)
{
	if (o->results || o->stages)
		return err_set(e, ERR_USAGE, "option '--%s' is of one machine, and '-c' names several",
		               o->results ? "output" : "stages");
	return check_several(o, "'-c' names several machines", e);
}

static int run_check_options(const struct options *o, struct run_opts *how, enum out_format *f, struct err *e)
{
	if (!o->config)
		return err_set(e, ERR_USAGE, "the machine is missing: -c CONFIG.yaml");
	if (is_several(o) && check_machines(o, e) < 0)
		return -1;
	if ((o->stages ? check_stages(o, e) : workload_check(&o->workload, WORKLOAD_RUN, e)) < 0 ||
	    check_given(o, e) < 0 || run_fidelity_parse(o->fidelity, &how->fidelity, e) < 0)
		return -1;
	if (o->reuse_ppm != NOT_GIVEN && o->reuse_ppm > 1000000)
		return err_set(e, ERR_USAGE, "a probability lies between 0 and 1, for option '--expert-reuse'");
	if (run_start_parse(o->start, &how->start, e) < 0)
		return -1;
	how->seed = o->seed;
	how->reuse_given = o->reuse_ppm != NOT_GIVEN;
	how->reuse_ppm = how->reuse_given ? o->reuse_ppm : 0;
	return cmd_format(o->format, f, e);
}

static int run_to(int argc, char **argv, struct sink *to, struct err *e)
{
	struct options o = {
		.start = "steady", .fidelity = "event", .seed = RUN_SEED, .top = OPS_NOT_GIVEN, .reuse_ppm = NOT_GIVEN
	};
	struct opt rows[CMD_WORKLOAD_ROWS];
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG",
		  "the machine, in YAML; 'npusim config explain' lists its parameters. Several with commas between are set side by"
		  " side, a row each" },
		{ .type = OPT_ROWS, .to = cmd_workload_rows(rows, &o.workload, WORKLOAD_RUN) },
		{ 0, "stages", OPT_TEXT, &o.stages, "LIST", RUN_STAGES_HELP },
		{ 's', "set", OPT_SETS, &o.sets, "KEY=VALUE", "change a parameter of the machine; may be repeated" },
		{ 0, "start", OPT_TEXT, &o.start, "steady|cold|resident",
		  "steady (default): the range runs once to warm up, and the"
		  " second time is measured; cold: the first time is measured, with nothing on chip; resident: steady, and"
		  " operands lie in SRAM, as far as they fit, and nothing waits to be written" },
		{ 0, "expert-reuse", OPT_PPM, &o.reuse_ppm, "P",
		  "probability that an expert which the step before"
		  " picked is picked again. A trace does not say which experts a step picks; by default they are"
		  " independent, and P is top-k over the number of experts" },
		{ 0, "seed", OPT_U64, &o.seed, "N",
		  "of everything drawn at random, which is the experts; 1 by default" },
		{ 0, "allow-opaque", OPT_FLAG, &o.allow_opaque, NULL,
		  "do not fail when more than 5 % of the measured time is in kernels no rule knows; their measured time"
		  " is carried along, outside every speed-up" },
		{ 0, "explain-fusion", OPT_FLAG, &o.explain_fusion, NULL,
		  "what the fusion engine joins, by pattern, and what it does not join, by reason; with --all each chain, too" },
		{ 0, "explain-map", OPT_TEXT, &o.explain_map, "OP",
		  "tell how the command of this op (a number or a name of 'npusim trace ops') was chosen: the way that was"
		  " taken, its two best rivals, and what each would take" },
		{ 0, "program", OPT_WRITE, &o.program, "FILE",
		  "write the tile program there, as text: what the mapper chose for every"
		  " command, and why" },
		{ 0, "timeline", OPT_WRITE, &o.timeline, "FILE.json",
		  "write the run over time there, for ui.perfetto.dev: what each unit worked at, bandwidths and queues, and"
		  " the measured kernels beside it" },
		{ 0, "fidelity", OPT_TEXT, &o.fidelity, "event|analytic",
		  "event (default): every tile moved or computed is"
		  " simulated; analytic: the same machine in closed form, some twenty times as fast and a few percent away" },
		{ 0, "ops", OPT_U64, &o.top, "N",
		  "list the N ops that take longest; 10 by default with --all (json and csv have all ops)" },
		{ 'a', "all", OPT_FLAG, &o.all, NULL,
		  "print all tables: what bounds the run, traffic, units, ops, measured against simulated, and how far each figure"
		  " may be trusted. Else what was found, on 40 lines of 80 columns" },
		{ 'o', "output", OPT_WRITE, &o.results, "R.db",
		  "store the run in this results database, for 'npusim compare'" },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP "; csv has the ops" },
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
		"npusim run -c dsocr,h100,b200,tpu-v6e -m llama-3.1-8b --batch 16   # side by side\n"
		"npusim run -c hgx-h200 -m llama-3.1-70b --tp 2 --batch 8 --context 2048\n"
		"npusim run -c configs/gpu/h200.yaml -m qwen3-8b --phase prefill --tokens 1024 --quant fp8\n"
		"npusim run -c configs/npu/dsocr.yaml -m deepseek-ocr --stages 'vision:image=1024; vision:image=640,batch=6;"
		" prefill:tokens=923; decode:tokens=256'\n",
		opts,
		0,
		0
	};
	struct opt_list args = { NULL, 0 };
	struct run_opts how = { .start = RUN_STEADY };
	int rc = cmd_parse(&cmd, argc, argv, &args, to->out, e);

	if (rc == 0 && (o.stages || is_several(&o)) && to->figures)
		rc = err_set(e, ERR_USAGE, "'%s' is several runs, and a study asks for the figures of one",
		             o.stages ? "--stages" : "-c");
	if (rc == 0 && (rc = run_check_options(&o, &how, &to->format, e)) == 0)
		rc = o.stages         ? run_several(&o, &how, to->format, to->out, e)
		     : is_several(&o) ? run_beside(&o, &how, to->format, to->out, e)
		                      : do_run(&o, &how, to, e);
	opt_list_free(&args);
	opt_list_free(&o.sets);
	return rc < 0 ? -1 : 0;
}

int cmd_run(int argc, char **argv, struct str *out, struct err *e)
{
	struct sink to = { .out = out };

	return run_to(argc, argv, &to, e);
}

int cmd_run_figures(int argc, char **argv, const struct cmd_figures *f, struct err *e)
{
	struct str none = STR_INIT;
	struct sink to = { .out = &none, .figures = f };
	int rc = run_to(argc, argv, &to, e);

	if (none.failed && !e->kind)
		rc = err_nomem(e, "for a document");
	str_free(&none);
	return rc;
}
