/* main.c - the program: the command table, what is common to all commands, exit codes.
 *
 * THE SOURCE IN READING ORDER. A module is a header, which says all there is to know from outside, and its .c files.
 * The road of the data: a profile becomes a trace, the trace an op stream, the stream a tile program, and a machine
 * runs the program.
 *
 *   what all of it stands on                                        (L0, L1)
 *   sim/base/err     the error value every fallible function takes last
 *   sim/base/arena   memory that lives as long as a run
 *   sim/base/str     a growing string, nearest names
 *   sim/base/hash    and rng: stable hashes; random streams by (seed, name)
 *   sim/base/clock   time in picoseconds, clock edges from their number
 *   sim/base/evq     the event queue: the only thing that moves time
 *   arch/comp    a hardware block from outside, the messages between blocks, the list of resources; watch: what
 *                    blocks tell whoever looks on
 *   sim/base/stat    counters, registered once with name, unit and help
 *   sim/base/yaml    YAML with places
 *   sim/base/cfg     one row a parameter (_value: units, _yaml: files, _int: shared)
 *   sim/base/db      SQLite with our errors (db_mode: how one is opened)
 *   sim/base/expr    expressions of a user over named values
 *   sim/base/path    where data files are
 *   sim/base/version which build this is
 *
 *   what was measured                                               (L3 traces/)
 *   traces/trace     a trace as plain data
 *   traces/db/tracedb   the trace database (_write: imports, _text: names, _link: who launched what, _read: selections,
 *                    _launch: their launches, _group: sums of them, _piece: some at a time, _range: steps, _sum: what it
 *                    holds, _stat: statistics and counters, _mark: what an import needs again, _int: shared), with trace_args (arguments as text), nest (who encloses
 *                    whom), intern, idmap
 *   traces/read/format    which profiler wrote a file; input: its bytes, unzipped
 *   traces/read/kineto    the reader of PyTorch profiler files (_event: an event's fields, _args: its arguments), decimal
 *   traces/read/nsys      the reader of Nsight Systems databases (_file: opening and asking, _host: calls and ranges, _int);
 *                    nsys_csv: of its summaries
 *   traces/read/capture_import    the reader of our own capture (capture_spool: its records; capture/: the library that
 *                    writes them); cuda_names, nvtx_op: what it shares with nsys
 *   traces/read/replay    a published table of kernels in the order of another trace (_file: its YAML, _int: shared)
 *   traces/read/ncu_csv   the reader of Nsight Compute tables; csv: rows, measure: their numbers and units
 *
 *   what was computed                                               (L2, L3 workloads/)
 *   workloads/op     the op stream; dtype: number formats; work: operations and bytes of an op
 *   arch/gpu/kernel, kernels    what can be counted in a kernel template's code, and the table of it
 *   workloads/rules  from kernel names to families and ops (_load: the YAML table, _int: shared)
 *   workloads/shape  from a framework op's arguments to shapes (_product, _rows, _move; _args: what they stand on, _int)
 *   sim/lower/lower        from a trace to an op stream (_tensors, _pick: which tensor an operand is; _route: experts and
 *                    layers; _alloc: addresses; _name; _check: what must hold; _int: shared)
 *
 *   the machine                                                     (L2, L3 arch/)
 *   arch/isa         the tile program
 *   arch/npu/cp, core    command processor; cores that run commands tile by tile
 *   arch/npu/dma, sram   tile transfers; the scratchpad
 *   arch/npu/unit_gemv, matrix, vector    the units, in closed form
 *   arch/mem/noc         the network on chip (noc_ideal)
 *   arch/mem/cache       a cache level (_walk: what a request does to it, _tags; _seen; _int: shared)
 *   arch/mem/cache_policy    what goes (_lru, _srrip, _drrip, cache_kv_aware; _rrip: shared)
 *   arch/mem/l1, l2      the cores' caches, the shared one (l2_none: its twin), kv: the KV buffer
 *   arch/mem/dram        memory (_cfg, _tile: its timing, _tile_piece, _tile_int; dram_fixed: its twin)
 *   arch/mem/dram_cmd    memory command by command (_table, _dev, _pick, _queue, _int: shared); dram_map: address maps
 *   arch/mem/memq, memslot    what those levels share
 *   arch/mem/memory      all of that wired; memory_alone: with a clock of its own, for a GPU and for probes
 *   arch/gpu/occupancy   CTAs an SM holds; host: what launches a GPU's kernels; gpu_cfg: a GPU's parameters
 *   arch/gpu/gpu         a kernel's time: of its form (gpu_form: gpu_plain, _product, _mma, _attention, _flash, _stream, _rows,
 *                    _chain, _walk), made of gpu_math and gpu_flow
 *
 *   what joins them                                                 (L4)
 *   sim/engine/machine      configuration to blocks wired together
 *   arch/machine/machine_cfg    a machine as plain data; machine_conf: as it is read; machine_gpu: for the closed forms
 *   sim/map/fuse         chains of ops one command can do
 *   sim/map/map          from ops to commands and tiles (_tile, _math, _dump, _int)
 *   arch/gpu/gpu_work     an op stream as a GPU's launches, and what its L2 makes of their bytes
 *   arch/gpu/gpu_geometry    the launches a library would make on a device that was not traced
 *   sim/engine/analytic     the machine in closed form: commands and tiles as a recurrence (_memory: loads and stores through
 *                    the levels, _residency: what a level holds, _server: its booked time)
 *   sim/sweep/limits       one parameter at a time, a step further
 *   sim/engine/run          a stream on a machine, by the engine that can; run_result: what is asked and answered
 *   sim/engine/engine       the table of engines (_event, _analytic, _gpu); pass: what the first two share, warm-up, measured
 *                    pass, roofline, results per op; picks: which experts a pass picks
 *   sim/engine/run_memo     what runs after each other share: tables' files, the last mapping
 *   sim/sweep/sweep        many designs: the file (_load, _axis, _expr, _names), points (_points), workers (_run, _pipe),
 *                    guided search (_search), what it asks as a number (_hash), _int
 *   sim/profile/classify     kernels and families by time; roof: peaks and the rule of classes; counters: of Nsight Compute, by
 *                    launch; bound: kernels under a roofline; hist: their metrics
 *   sim/profile/review       a published report against its tables (_names: its values, _int)
 *   validate/score/tables  published kernel times as samples
 *   validate/score/cases   samples of a measured trace; score: how far a model is off; accuracy: kept in a file
 *   validate/fit/fit      parameters from microbenchmarks and a fit (_plan: what is which)
 *   validate/probe/probe_dram    streams through a memory (_tile; _tiles: both paths; _ref: beside measured ones)
 *   validate/probe/probe_mem     streams and chases through a machine's memory
 *   validate/probe/probe_curve   measured ones beside them
 *   results/figure      the scalars of a run, a row each
 *   results/db/res      the results database (_read, _rows, _figure, _int); res_sweep (_read): its sweeps; _adopt: points that
 *                    another sweep has; _merge: files into one; _export: as CSV
 *   results/plot/plot     charts by gnuplot (_script: their text, _run: drawn, _int: shared)
 *
 *   the command line                                                (L5)
 *   sim/ui/opt, out, progress    option tables; tables, CSV and JSON (out_json); the progress line
 *   sim/ui/outfile, chrome    a file that is there whole or not at all; timelines for Perfetto
 *   sim/timeline/timeline     a run over time; series: amounts in bins
 *   sim/ui/opt_man, opt_complete    the same tables as a manual page, and as what a shell may complete
 *   sim/cmd/cmd      what commands share
 *   sim/cmd/trace    _import, _record, _top, _ops, _classify, _roofline, _hist (bound: what looks at rooflines),
 *                    _diff, _export, _review
 *   sim/cmd/config, probe (_mem, _beside)
 *   sim/cmd/plot     _breakdown, _error, _latency, _sweep, _study (fronts, what matters); picture: where they go
 *   sim/cmd/figure_out    a run's figures as JSON, and as columns of a table
 *   sim/cmd/run      _sum, _table, _json, _store, _trust
 *   sim/cmd/limits
 *   sim/cmd/sweep    _view, _print, _again; also npusim merge
 *   sim/cmd/study    objectives, front, knee and effects of a stored sweep
 *   sim/cmd/pareto   also npusim best and sensitivity
 *   sim/cmd/report   _run, _sweep, _curves: stored results as JSON for the page in results/report
 *   sim/cmd/compare  _points: designs of a sweep
 *   sim/cmd/validate (_profile), calibrate (gpu: what both read)
 *   sim/cmd/export, man, completion
 *   sim/main         this file
 *
 *   validate/tests/  unit, contract, model, property, fuzz, golden, bench */
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/version.h"
#include "sim/cmd/cmd.h"

static cmd_fn man, completion; /* which tell of all commands */

static const struct cmd cmd_table[] = {
	{ "run", cmd_run, NULL, "replay a trace on a machine: time, what bounds it, traffic" },
	{ "limits", cmd_limits, NULL, "what 10 % more of each resource would buy" },
	{ "sweep", cmd_sweep, NULL, "one workload on many designs: grids and samples of parameters" },
	{ "merge", cmd_merge, NULL, "join results databases, such as the shards of a sweep" },
	{ "pareto", cmd_pareto, NULL, "the designs of a sweep that no other beats in every objective" },
	{ "best", cmd_best, NULL, "the best designs of a sweep" },
	{ "sensitivity", cmd_sensitivity, NULL, "which axes of a sweep matter, alone and two together" },
	{ "report", cmd_report, NULL, "a page with charts of stored runs and sweeps, for any browser" },
	{ "export", cmd_export, NULL, "stored results as CSV, for other tools" },
	{ "trace", NULL, cmd_trace_table, "import a profile, and look at what is in it" },
	{ "compare", cmd_compare, NULL, "stored runs against each other, or against what was measured" },
	{ "calibrate", cmd_calibrate, NULL, "a GPU's parameters from what was measured on it" },
	{ "validate", cmd_validate, NULL, "a GPU's model against what was measured on it" },
	{ "probe", NULL, cmd_probe_table, "microbenchmarks on a simulated memory" },
	{ "plot", NULL, cmd_plot_table, "pictures, drawn by gnuplot" },
	{ "config", NULL, cmd_config_table, "check, show, explain and compare machine configurations" },
	{ "man", man, NULL, "the manual page, as man prints it" },
	{ "completion", completion, NULL, "what makes a shell complete npusim's words" },
	{ NULL, NULL, NULL, NULL }
};

static int man(int argc, char **argv, struct str *out, struct err *e)
{
	return cmd_man(cmd_table, argc, argv, out, e);
}

static int completion(int argc, char **argv, struct str *out, struct err *e)
{
	return cmd_completion(cmd_table, argc, argv, out, e);
}

static const struct cmd *find(const struct cmd *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

/* --- help -------------------------------------------------------------------------------------------------- */

static void list(const struct cmd *table, const char *group, struct str *out)
{
	for (const struct cmd *c = table; c->name; c++) {
		if (c->sub)
			list(c->sub, c->name, out);
		else
			str_addf(out, "  %s%s%-*s %s\n", group, *group ? " " : "",
			         (int)(15 - strlen(group) - (*group != '\0')), c->name, c->help);
	}
}

static void overview(struct str *out)
{
	str_add(out,
	        "usage: npusim COMMAND [options]\n\n"
	        "npusim replays what a GPU was measured doing on an NPU described in YAML, and says how long each\n"
	        "operation would take there, what holds it back, and how far that is from the physical limit.\n\n"
	        "commands:\n");
	list(cmd_table, "", out);
	str_add(out, "\n"
	             "  npusim help COMMAND    what a command does, its options, and examples to type\n"
	             "  npusim config explain  every parameter of a machine: 'npusim config explain l2.size'\n"
	             "  npusim man | man -l -  all of it on one page; 'npusim completion bash' for the TAB key\n"
	             "  npusim --version       which build this is\n\n"
	             "first steps, from the top of the source tree:\n"
	             "  npusim trace import traces/h200/kineto_dsocr_b1_c1024.json.gz -o /tmp/t.db\n"
	             "  npusim trace top -n 10 /tmp/t.db\n"
	             "  npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1\n\n"
	             "exit codes: 0 ok; 1 ran, but a bound you gave does not hold; 2 command line; 3 configuration;\n"
	             "            4 input, file or database; 5 the simulated machine is stuck\n");
}

static void group_help(const struct cmd *group, struct str *out)
{
	str_addf(out, "usage: npusim %s COMMAND [options]\n\nnpusim %s: %s.\n\ncommands:\n", group->name, group->name,
	         group->help);
	list(group->sub, group->name, out);
	str_addf(out, "\n  npusim help %s COMMAND    what a command does, its options, and examples to type\n",
	         group->name);
}

static void version(struct str *out)
{
	str_addf(out, "npusim %s (build %s)\n", npusim_version(), npusim_build_id());
	npusim_libraries(out);
	str_addc(out, '\n');
}

/* --- finding the command ----------------------------------------------------------------------------------- */

/* What a mistyped command may have meant: one of this table, or else a command of that name inside some group. */
static int unknown(const struct cmd *table, const char *group, const char *name, struct err *e)
{
	const char *names[32], *near, *space = *group ? " " : "";
	size_t n = 0;

	for (const struct cmd *c = table; c->name && n < 32; c++) {
		names[n++] = c->name;
		if (c->sub && find(c->sub, name))
			return err_set(e, ERR_USAGE, "unknown command '%s'; did you mean 'npusim %s %s'?", name,
			               c->name, name);
	}
	near = str_nearest(name, names, n);
	if (near)
		return err_set(e, ERR_USAGE, "unknown command '%s%s%s'; did you mean '%s'?", group, space, name, near);
	return err_set(e, ERR_USAGE, "unknown command '%s%s%s'; 'npusim help%s%s' lists them", group, space, name,
	               space, group);
}

/* argv[0] is the first word that is not understood yet. */
static int dispatch(const struct cmd *table, const struct cmd *group, int argc, char **argv, bool help, struct str *out,
                    struct err *e)
{
	char asked[] = "--help", *words[2];
	const struct cmd *c;

	if (group && argc > 0 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0)) {
		argc = 0;
		help = true;
	}
	if (argc == 0 && help) {
		if (group)
			group_help(group, out);
		else
			overview(out);
		return 0;
	}
	if (argc == 0)
		return err_set(e, ERR_USAGE, "'npusim %s' needs a command: 'npusim help %s' lists them", group->name,
		               group->name);
	if (!(c = find(table, argv[0])))
		return unknown(table, group ? group->name : "", argv[0], e);
	if (c->sub)
		return dispatch(c->sub, c, argc - 1, argv + 1, help, out, e);
	if (!help)
		return c->run(argc, argv, out, e);
	if (argc > 1)
		return err_set(e, ERR_USAGE, "argument '%s' is one too many: npusim help COMMAND", argv[1]);
	words[0] = argv[0];
	words[1] = asked;
	return c->run(2, words, out, e);
}

static int start(int argc, char **argv, struct str *out, struct err *e)
{
	const char *first = argc > 1 ? argv[1] : "help";

	if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
		version(out);
		return 0;
	}
	if (strcmp(first, "help") == 0 || strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
		return dispatch(cmd_table, NULL, argc > 2 ? argc - 2 : 0, argv + 2, true, out, e);
	if (*first == '-')
		return err_set(e, ERR_USAGE, "unknown option '%s': a command comes first, and 'npusim help' lists them",
		               first);
	return dispatch(cmd_table, NULL, argc - 1, argv + 1, false, out, e);
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT, io = ERR_INIT;
	struct str out = STR_INIT;
	int code;

	signal(SIGPIPE, SIG_DFL); /* "npusim ... | head" ends quietly, also below a parent that ignores it */
	if (start(argc, argv, &out, &e) < 0 && e.kind == ERR_NONE)
		err_set(&e, ERR_NOMEM, "out of memory");
	if ((out.len || out.failed) && out_flush(&out, stdout, &io) < 0)
		cmd_complain(&io);
	if (e.kind)
		cmd_complain(&e);
	code = err_exit_code(io.kind ? &io : &e); /* results that did not get out outrank what they said */
	str_free(&out);
	return code;
}
