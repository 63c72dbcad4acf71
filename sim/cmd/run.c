/* run.c - npusim run: options, the run, what is kept of it, and the exit code. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "sim/cmd/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/build/scale.h"
#include "sim/cmd/ops_table.h"
#include "sim/cmd/run_verdict.h"
#include "sim/cmd/workload.h"
#include "sim/program/program.h"
#include "sim/timeline/timeline.h"
#include "sim/ui/outfile.h"
#include "traces/read/format.h"
#include "validate/score/rows.h"
#include "workloads/rules.h"

#define OPAQUE_MAX_PCT 5 /* of the measured time: above it a run says little about the workload */
#define NOT_GIVEN      UINT32_MAX
#define OPS_NOT_GIVEN  UINT64_MAX
#define OPS_SHOWN      10
#define SEED           1

struct options {
	const char *config, *trace, *range, *start, *rules, *fidelity, *results, *program, *program_in, *timeline,
		*explain_map, *rewrite, *format, *dtype;
	struct opt_list sets;
	uint32_t reuse_ppm;
	uint64_t seed, top;
	struct workload_opts model; /* its context is also a replay's */
	bool allow_opaque, explain_fusion, all;
};

/* --- the run ----------------------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static int check_opaque(const struct run_report *r, bool allowed, struct err *e)
{
	const struct op_stream *s = r->stream;

	if (allowed)
		return 0;
	if (ops_some_known(s, e) < 0)
		return -1;
	if (s->opaque_ns * 100 <= s->measured_ns * OPAQUE_MAX_PCT)
		return 0;
	return err_set(e, ERR_BOUND,
	               "%.1f %% of the measured time is in ops that no rule knows, more than %d %%; 'npusim"
	               " trace ops --all' lists them, and --allow-opaque accepts them",
	               cmd_pct((double)s->opaque_ns, (double)s->measured_ns), OPAQUE_MAX_PCT);
}

static void write_report(const struct run_report *r, enum out_format f, struct str *out)
{
	if (f == OUT_JSON)
		run_json(r, out);
	else if (f == OUT_CSV)
		run_csv(r, out);
	else
		run_table(r, out);
}

/* Everything the user may have got wrong is read before the simulation starts, the results file first of all. */
struct inputs {
	struct resdb *db;
	struct machine_base *machines;
	struct machine_conf *conf; /* of them, as they are */
	struct rules *rules;
	struct cmd_trace trace;
	struct workload model; /* its model NULL: the workload is a trace */
	struct op_stream stream;
	struct lower_stats lowered;
	struct counted_ops counted;
	struct run_rewritten rewritten;
	struct program program; /* given in place of a workload */
	struct beside *beside;
	uint64_t scaled_tokens; /* of a trace at another batch or context: its sequences; 0: as it was measured */
};

static void inputs_free(struct inputs *in)
{
	beside_free(in->beside);
	res_free(in->db);
	machine_conf_free(in->conf);
	machine_base_free(in->machines);
	rules_free(in->rules);
	cmd_trace_free(&in->trace);
	workload_free(&in->model);
}

/* The stream in place of what was measured, and what it is called. */
static int asked_at(struct inputs *in, const struct options *o, uint64_t context, struct err *e)
{
	struct scale_step to = { .batch = o->model.batch, .context = context };
	struct trace *t = &in->trace.trace;
	struct op_stream out;
	struct scale_step was;

	if (o->model.batch > BUILD_MAX_BATCH || context > BUILD_MAX_TOKENS)
		return err_set(e, ERR_USAGE,
		               "a batch is %d at most and a context %" PRIu64 ", for a trace at another one",
		               BUILD_MAX_BATCH, BUILD_MAX_TOKENS);
	if (workload_skew(o->model.skew, &to.skew, e) < 0)
		return -1;
	if (scale_stream(&in->stream, to, in->trace.arena, &out, &was, e) < 0)
		return err_add(e, "asking '%s' at another batch or context", o->trace);
	in->stream = out;
	in->scaled_tokens = to.batch ? to.batch : was.batch;
	t->range = arena_printf(
		in->trace.arena,
		"%s%sat batch %" PRIu64 ", %" PRIu64 " tokens in the cache%s%s (measured at %" PRIu64 ", %" PRIu64 ")",
		t->range ? t->range : "", t->range ? " " : "", in->scaled_tokens, context ? context : was.context,
		to.skew ? ", picks skewed by " : "", to.skew ? o->model.skew : "", was.batch, was.context);
	t->digest = in->stream.digest;
	t->wall_ns = -1;
	return t->range ? 0 : err_nomem(e, "for a trace");
}

/* What is wrong with the file its reader says. */
static bool is_replay(const char *path)
{
	struct err e = ERR_INIT;
	struct input *in = cmd_is_database(path) ? NULL : input_open(path, &e);
	const bool yes = in && format_of(in, &e) == FORMAT_REPLAY;

	input_free(in);
	return yes;
}

static int measured_read(struct inputs *in, const struct options *o, uint64_t context, struct err *e)
{
	return cmd_trace_load_by(tracedb_load, o->trace, o->range, context, &in->trace, e);
}

/* A replay has its context from its file; any other trace is brought to it. */
static int trace_read(struct inputs *in, const struct options *o, struct err *e)
{
	const bool replay = o->model.context && is_replay(o->trace);
	const uint64_t context = replay ? 0 : o->model.context;

	if ((o->dtype && lower_types_check(o->dtype, e) < 0) ||
	    measured_read(in, o, replay ? o->model.context : 0, e) < 0)
		return -1;
	in->trace.trace.dtype = o->dtype;
	if (lower_trace(&in->trace.trace, in->rules, in->trace.arena, &in->stream, &in->lowered, e) < 0 ||
	    (in->trace.counters &&
	     counters_ops(in->trace.counters, &in->trace.trace, &in->stream, in->trace.arena, &in->counted, e) < 0))
		return -1;
	if ((o->model.batch || context) && asked_at(in, o, context, e) < 0)
		return -1;
	ops_listed_note(&in->stream, machine_runs(&in->conf->cfg));
	return ops_listed_all(&in->stream) && machine_runs(&in->conf->cfg) == MACHINE_LAUNCHES
	               ? rows_have_kernels(&in->stream, in->conf, e)
	               : 0;
}

/* A program stands where a trace would. */
static int given_read(struct inputs *in, const struct options *o, struct err *e)
{
	struct input *f = input_open(o->program_in, e);
	int rc = -1;

	if (!f)
		return -1;
	if (!(in->trace.arena = arena_new(CMD_TRACE_MEMORY)))
		err_nomem(e, "for a program");
	else
		rc = program_read(f, &in->conf->cfg, in->trace.arena, &in->program, e);
	input_free(f);
	in->stream = in->program.stream;
	in->trace.trace = (struct trace){
		.path = o->program_in, .tool = "program", .command = "", .digest = in->stream.digest, .wall_ns = -1
	};
	in->lowered = (struct lower_stats){ .ops = in->stream.n_ops };
	return rc;
}

static int workload_of(struct inputs *in, const struct options *o, struct err *e)
{
	if (o->program_in)
		return given_read(in, o, e);
	if (!o->model.model)
		return trace_read(in, o, e);
	if (workload_read(&o->model, machine_runs(&in->conf->cfg) == MACHINE_LAUNCHES, &in->model, &in->trace,
	                  &in->stream, e) < 0)
		return -1;
	in->lowered = (struct lower_stats){ .ops = in->stream.n_ops };
	return 0;
}

static int inputs_read(struct inputs *in, const struct options *o, struct err *e)
{
	memset(in, 0, sizeof *in);
	if (o->rewrite && rewrite_parse(o->rewrite, &in->rewritten.list, e) < 0)
		return err_add(e, "reading option '--rewrite'");
	if (!(in->machines = machine_base_load(o->config, o->sets.v, o->sets.n, e)) ||
	    !(in->conf = machine_base_conf(in->machines, NULL, 0, e)))
		return -1;
	if (o->program && machine_runs(&in->conf->cfg) != MACHINE_COMMANDS)
		return err_set(e, ERR_USAGE,
		               "'%s' runs the trace's launches: it has no program, for option '--program'", o->config);
	if (o->program_in && machine_runs(&in->conf->cfg) != MACHINE_COMMANDS)
		return err_set(e, ERR_USAGE,
		               "'%s' runs a trace's launches: it takes no program, for option '--program-in'",
		               o->config);
	if (o->explain_map && machine_runs(&in->conf->cfg) != MACHINE_COMMANDS)
		return err_set(e, ERR_USAGE,
		               "'%s' runs the trace's launches: nothing is mapped, for option '--explain-map'",
		               o->config);
	if (o->rewrite && machine_runs(&in->conf->cfg) != MACHINE_COMMANDS)
		return err_set(
			e, ERR_USAGE,
			"'%s' runs the trace's launches, which a rewritten op no longer has, for option '--rewrite'",
			o->config);
	if ((o->results && !(in->db = res_open(o->results, DB_WRITE, e))) || !(in->rules = rules_load(o->rules, e)))
		return -1;
	if (workload_of(in, o, e) < 0)
		return -1;
	return run_rewrite(&in->rewritten, &in->stream, &in->trace.trace, in->trace.arena, e);
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

/* All that the reports ask of the inputs and of the result. */
static void what_ran(struct run_report *r, const struct options *o, const struct inputs *in,
                     const struct run_result *result, struct says_list *says)
{
	r->conf = in->conf;
	r->trace = &in->trace.trace;
	r->model = in->model.model;
	r->not_validated = in->model.model ? workload_unknown(in->model.model, &in->model.how,
	                                                      machine_runs(&in->conf->cfg) == MACHINE_LAUNCHES)
	                                   : NULL;
	r->part = workload_part(&in->model);
	r->scaled = in->scaled_tokens != 0;
	r->given = o->program_in != NULL;
	r->tokens = in->model.model ? build_tokens(&in->model.how) : in->scaled_tokens;
	r->rewritten = &in->rewritten;
	r->stream = &in->stream;
	r->lowered = &in->lowered;
	r->counted = in->trace.counters && !r->scaled && !in->rewritten.list.n ? &in->counted : NULL;
	r->result = result;
	says_run(&in->conf->cfg, result, says);
	r->says = says;
	r->rules_hash = rules_hash(in->rules);
}

/* What is said first of it, and beside what. A run is one without it, too. */
static void judge(struct run_report *r, const struct options *o, const struct run_opts *how, struct inputs *in,
                  struct run_result *x, struct verdict *v)
{
	const struct buy_question q = { .q = { .config = o->config,
		                               .sets = o->sets.v,
		                               .n_sets = o->sets.n,
		                               .stream = &in->stream,
		                               .run = *how,
		                               .step_ppm = 1000000 },
		                        .machines = in->machines,
		                        .conf = in->conf };
	const bool buys = machine_runs(&in->conf->cfg) == MACHINE_COMMANDS && !r->given;
	struct err none = ERR_INIT;

	r->beside = in->beside = beside_new(in->model.model || r->given ? NULL : &in->trace.trace);
	if (in->beside && run_verdict_make(r, in->beside, buys ? &q : NULL, in->trace.arena, v, &none) == 0) {
		run_verdict_keep(v, &x->figures);
		r->verdict = v;
	}
}

static int run(const struct options *o, const struct run_opts *how, enum out_format f, struct str *out, struct err *e)
{
	struct run_result result;
	struct run_report r = { .start = how->start,
		                .seed = how->seed,
		                .reuse_given = how->reuse_given,
		                .whole = o->all,
		                .top = o->top != OPS_NOT_GIVEN ? o->top
		                       : o->all                ? OPS_SHOWN
		                                               : 0,
		                .explain_fusion = o->explain_fusion,
		                .results_path = o->results,
		                .timeline_path = o->timeline };
	struct says_list says = { .n = 0 };
	struct timeline *t = NULL;
	struct run_opts watched = *how;
	struct verdict verdict;
	struct err not_stored = ERR_INIT;
	struct inputs in;
	uint64_t began;
	int rc = -1;

	if (inputs_read(&in, o, e) < 0)
		goto out;
	memset(&result, 0, sizeof result);
	if (o->timeline &&
	    !(t = timeline_open(o->timeline, &in.stream, in.conf,
	                        in.trace.trace.n_devices ? in.trace.trace.devices[0].name : NULL, &result, e)))
		goto out;
	watched.watch = t ? timeline_watch(t) : NULL;
	watched.program = o->program_in ? &in.program.map : NULL;
	began = now_ns();
	if (timeline_close(t, run_stream(&in.stream, in.conf, &watched, in.trace.arena, &result, e), e) < 0)
		goto out;
	if (o->program && write_program(o->program, &in.stream, result.map, e) < 0)
		goto out;
	what_ran(&r, o, &in, &result, &says);
	judge(&r, o, how, &in, &result, &verdict);
	if (o->explain_fusion && result.map && in.conf->cfg.fusion.enabled && !o->program_in &&
	    run_apart(&r, o->config, o->sets.v, o->sets.n, how, e) < 0)
		goto out;
	if (o->explain_map && run_mapping(&r, o->explain_map, in.trace.arena, e) < 0)
		goto out;
	if (in.db) {
		res_close(in.db, run_store(&r, in.db, now_ns() - began, in.trace.arena, &not_stored), &not_stored);
		in.db = NULL;
	}
	write_report(&r, f, out); /* also when it could not be stored: the time was spent */
	if (not_stored.kind)
		*e = not_stored;
	else
		rc = check_opaque(&r, o->allow_opaque, e);
out:
	inputs_free(&in);
	return rc;
}

/* --- options ----------------------------------------------------------------------------------------------- */

/* It is mapped already, whatever it was made of. */
static int check_program_in(const struct options *o, const char *stray, struct err *e)
{
	const char *other = o->trace         ? "-t"
	                    : o->model.model ? "-m"
	                    : o->range       ? "--range"
	                    : o->rewrite     ? "--rewrite"
	                    : o->rules       ? "--rules"
	                    : o->explain_map ? "--explain-map"
	                                     : stray;

	if (!other && o->model.context)
		other = "--context";
	return other ? err_set(e, ERR_USAGE, "option '%s' is of another workload: '--program-in' gives a program",
	                       other)
	             : 0;
}

static int check_workload(const struct options *o, struct err *e)
{
	const char *stray = workload_stray(&o->model);

	if (o->program_in)
		return check_program_in(o, stray, e);
	if (!o->trace && !o->model.model)
		return err_set(
			e, ERR_USAGE,
			"the workload is missing: -t T.db, which 'npusim trace import' makes, or -m MODEL, of which 'npusim"
			" workload list' has some, or --program-in FILE");
	return workload_check(&o->model, o->trace, o->range, true, e);
}

static int check_options(const struct options *o, struct run_opts *how, enum out_format *f, struct err *e)
{
	if (!o->config)
		return err_set(e, ERR_USAGE, "the machine is missing: -c CONFIG.yaml");
	if (check_workload(o, e) < 0 || run_fidelity_parse(o->fidelity, &how->fidelity, e) < 0)
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

int cmd_run(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = {
		.start = "steady", .fidelity = "event", .seed = SEED, .top = OPS_NOT_GIVEN, .reuse_ppm = NOT_GIVEN
	};
	const struct opt opts[] = {
		{ 'c', "config", OPT_READ, &o.config, "CONFIG",
		  "the machine, in YAML; 'npusim config explain' lists its"
		  " parameters" },
		{ 't', "trace", OPT_READ, &o.trace, "T.db",
		  "the workload: a trace database that 'npusim trace import' made, or a"
		  " profile, replay or table of ops that it reads" },
		{ 0, "range", OPT_TEXT, &o.range, "NAME",
		  "only what was launched inside this annotation, one decode step say;"
		  " 'npusim trace show' lists them" },
		WORKLOAD_ROWS(o.model),
		{ 0, "context", OPT_COUNT, &o.model.context, "TOKENS",
		  WORKLOAD_CONTEXT_HELP
		  "; of a replay or a measured decode step, in place of what it had (and '--batch' in place of its"
		  " batch)" },
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
		{ 0, "rewrite", OPT_TEXT, &o.rewrite, "NAMES",
		  "run it as another program would have computed the same, one or several with commas between. kv-append: new"
		  " rows go behind the KV cache in place, instead of copying all of it; native-bf16: what is cast to fp32 and"
		  " back is computed in bf16 (native-fp16: in fp16). What was rewritten is told, to the byte" },
		{ 0, "rules", OPT_READ, &o.rules, "FILE", CMD_RULES_HELP },
		{ 0, "dtype", OPT_TEXT, &o.dtype, "FORMAT", CMD_DTYPE_HELP },
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
		{ 0, "program-in", OPT_READ, &o.program_in, "FILE",
		  "the workload: a tile program, which '--program' wrote or somebody by hand (workloads/programs has one with"
		  " comments); nothing is mapped" },
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
		"npusim run -c CONFIG (-t T.db [--range NAME] | -m MODEL [--phase PHASE] [--batch B] [--context N] [--quant SCHEME] |"
		" --program-in FILE)"
		" [--set KEY=VALUE]... [options]",
		"Replays a measured trace, or runs a model by its description, on a machine that is described in YAML: how long each op would take there, what"
		" holds it back, how far the whole is from the physical limit (the roofline), and how that compares with"
		" the measured time. A ratio above 1 means the simulated machine is faster. Kernel time and wall time are"
		" compared apart: a GPU that waits for its host is busy for a part of the wall time only. The output is"
		" the same to the byte on every run.",
		"npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1\n"
		"npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 --set 'l2.size=64 MiB' -o /tmp/r.db\n"
		"npusim run -c configs/npu/edge.yaml -t /tmp/t.db --range decode_step_1 --start cold --format json\n"
		"npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 --timeline /tmp/run.json\n"
		"npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1 --rewrite kv-append,native-bf16\n"
		"npusim run -c configs/gpu/h200.yaml -t /tmp/t.db --range decode_step_1    # on the GPU's own model\n"
		"npusim run -c configs/npu/dsocr.yaml -t traces/rtx5090/dsocr.yaml --context 472\n"
		"npusim run -c configs/npu/dsocr.yaml -t workloads/ops/gb200-decode.csv\n"
		"npusim run -c configs/npu/dsocr.yaml -m llama-3.1-8b --batch 16 --context 8192\n"
		"npusim run -c configs/npu/dsocr.yaml --program-in workloads/programs/mlp.txt\n"
		"npusim run -c configs/gpu/h200.yaml -m qwen3-8b --phase prefill --tokens 1024 --quant fp8\n",
		opts,
		0,
		0
	};
	struct opt_list args = { NULL, 0 };
	struct run_opts how = { .start = RUN_STEADY };
	enum out_format f;
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0 && (rc = check_options(&o, &how, &f, e)) == 0)
		rc = run(&o, &how, f, out, e);
	opt_list_free(&args);
	opt_list_free(&o.sets);
	return rc < 0 ? -1 : 0;
}
