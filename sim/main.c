/* main.c - the program: the command table, what is common to all commands, exit codes.
 *
 * THE SOURCE, A FOLDER A LINE, from the ground up; validate/layers.txt says who may include whom. A module is a header,
 * which says all there is to know from outside, and its .c files. A folder's modules stand in its README.md, or in that of
 * the folder above. The road of the data: a profile becomes a trace, the trace an op stream, the stream a tile program,
 * and a machine runs the program.
 *
 *   sim/base           errors, memory, time, events, configuration rows, YAML, SQLite: what all of it stands on
 *
 *   workloads          what was computed: ops, shapes, work; rules from kernel names to ops
 *   workloads/model    models described: dimensions, what they count, how weights are stored
 *   traces             what was measured: a trace as plain data
 *   traces/text        numbers, tables and unzipped bytes as profilers write them
 *   traces/capture     the library that records a CUDA program
 *   traces/db          the trace database
 *   traces/read        readers of profiles, one file a format
 *   results            the figures of a run, a row each
 *   results/db         the results database
 *   results/plot       charts as data, and drawn into files
 *   results/report     the page of npusim report
 *
 *   results/python/npusim  the library from Python
 *
 *   arch               what all blocks share: resources, messages, the list of units; the tile program
 *   arch/mem           the memory system: caches, KV buffer, network, DRAM
 *   arch/power         what events and time cost in energy
 *   arch/link          links between chips: topologies, collectives, what they take
 *   arch/npu           an NPU's blocks: command processor, cores, units, DMA, scratchpad
 *   arch/gpu           what only a GPU needs: kernels in closed form, launches, the host
 *   arch/tiled         GPU kernels that are described, not traced: what an SM holds of one, its time and bound
 *   arch/machine       a machine as plain data, and read from YAML
 *
 *   sim/lower          from a trace to an op stream
 *   sim/align          kernels without operators laid over a model
 *   sim/build          from a model's description to an op stream
 *   sim/rewrite        an op stream as another program would have computed the same
 *   sim/map            from an op stream to a tile program
 *   sim/program        a tile program as text, there and back
 *   sim/engine         from a program to a run: by events, in closed form, on a GPU's model
 *   sim/workload       what is run: a trace, a model or a program by one spec, read to an op stream
 *   sim/serve          requests that arrive over time: what each step works for, and what it takes
 *   sim/study          many designs; one parameter a step further; studies
 *   sim/design         the cheapest machine for a goal: a search, and why its answer is one
 *   sim/profile        a trace looked at: families, classes, rooflines, counters, reports reviewed
 *   sim/accuracy       how far a model is off, and how sure a total is; microbenchmarks on a simulated memory; fits
 *
 *   sim/ui             options, tables, files: how the command line talks
 *   sim/report         what was found, as tables, CSV, JSON and pages; a run over time, for Perfetto
 *   sim/api            the library: npusim.h over all of it
 *   sim/live           what a page that simulates is made of: the closed form for WebAssembly, its data packed
 *   sim/examples       programs that call the library
 *   sim/cli            one command a file
 *   sim                this file: the table of commands
 *
 *   validate/tests     unit, contract, model, property, fuzz, golden, page, bench
 *   validate/recipes   each "how to add" of the READMEs done to a toy
 *   validate/cuda      measurements and reference kernels for a GPU
 *   validate/silicon   how ten rows of one's own chip are measured
 *   validate/tools     the scripts behind make's targets */
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/inputs.h"
#include "sim/base/version.h"
#include "sim/cli/cmd.h"
#include "sim/ui/outfile.h"
#include "sim/ui/screen.h"

static cmd_fn man, completion, study; /* which tell of all commands, or run them */

static const struct cmd cmd_table[] = {
	{ "run", cmd_run, NULL, "replay a trace on a machine: time, what bounds it, traffic" },
	{ "serve", cmd_serve, NULL, "requests that arrive over time: TTFT, TPOT, throughput, memory" },
	{ "design", cmd_design, NULL, "the cheapest machine that reaches a goal, and why it is that one" },
	{ "ablate", cmd_ablate, NULL, "named changes to a machine: each alone, all together, all but one" },
	{ "study", study, NULL, "a question: commands, figures of theirs, and claims held against those" },
	{ "limits", cmd_limits, NULL, "what more of each part buys, and what less of it costs" },
	{ "sweep", cmd_sweep, NULL, "one workload on many designs: grids and samples of parameters" },
	{ "merge", cmd_merge, NULL, "join results databases, such as the shards of a sweep" },
	{ "pareto", cmd_pareto, NULL, "the designs of a sweep that no other beats in every objective" },
	{ "best", cmd_best, NULL, "the best designs of a sweep" },
	{ "sensitivity", cmd_sensitivity, NULL, "which axes of a sweep matter, alone and two together" },
	{ "report", cmd_report, NULL, "a page with charts of stored runs and sweeps, for any browser" },
	{ "page", cmd_page, NULL, "a page that simulates: sliders over a machine, for any browser" },
	{ "explain", cmd_explain, NULL, "a stored run in ten sentences, each with its figure and its source" },
	{ "export", cmd_export, NULL, "stored results as CSV, for other tools" },
	{ "trace", NULL, cmd_trace_table, "import a profile, and look at what is in it" },
	{ "workload", NULL, cmd_workload_table, "models without a trace: what they are, and their ops" },
	{ "compare", cmd_compare, NULL, "stored runs against each other, or against what was measured" },
	{ "calibrate", cmd_calibrate, NULL, "a GPU's parameters from what was measured on it" },
	{ "validate", cmd_validate, NULL, "a GPU's model against what was measured on it" },
	{ "probe", NULL, cmd_probe_table, "microbenchmarks on a simulated memory" },
	{ "plot", NULL, cmd_plot_table, "pictures: charts, each in a file" },
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

static int study(int argc, char **argv, struct str *out, struct err *e)
{
	return cmd_study(cmd_table, argc, argv, out, e);
}

static const struct cmd *main_find(const struct cmd *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

/* --- help -------------------------------------------------------------------------------------------------- */

static void main_list(const struct cmd *table, const char *group, struct str *out)
{
	for (const struct cmd *c = table; c->name; c++) {
		if (c->sub) {
			main_list(c->sub, c->name, out);
			continue;
		}
		str_addf(out, "  %s%s%-*s ", group, *group ? " " : "", (int)(15 - strlen(group) - (*group != '\0')),
		         c->name);
		out_wrap(c->help, 18, 18, 80, out);
	}
}

static void overview(struct str *out)
{
	str_add(out, "usage: npusim COMMAND [options]\n\n"
	             "npusim replays what a GPU was measured doing on an NPU described in YAML, and\n"
	             "says how long each operation would take there, what holds it back, and how far\n"
	             "that is from the physical limit.\n\n"
	             "commands:\n");
	main_list(cmd_table, "", out);
	str_add(out, "\n"
	             "  npusim help COMMAND    what a command does, its options, and examples to type\n"
	             "  npusim help sweep-file the language of a sweep file\n"
	             "  npusim help requests   lists of requests, for 'npusim serve'\n"
	             "  npusim config explain  every parameter of a machine\n"
	             "  npusim man | man -l -  all of it on one page\n"
	             "  npusim completion bash what makes the TAB key complete all of this\n"
	             "  npusim --version       which build this is\n\n"
	             "first steps, from the top of the source tree:\n"
	             "  npusim trace import traces/h200/kineto_dsocr_b1_c1024.json.gz -o /tmp/t.db\n"
	             "  npusim trace top -n 10 /tmp/t.db\n"
	             "  npusim run -c configs/npu/dsocr.yaml -t /tmp/t.db --range decode_step_1\n\n"
	             "exit codes: 0 ok; 1 ran, but a bound you gave does not hold; 2 command line;\n"
	             "            3 configuration; 4 input, file or database; 5 the simulated machine\n"
	             "            is stuck\n");
}

static void group_help(const struct cmd *group, struct str *out)
{
	str_addf(out, "usage: npusim %s COMMAND [options]\n\nnpusim %s: %s.\n\ncommands:\n", group->name, group->name,
	         group->help);
	main_list(group->sub, group->name, out);
	str_addf(out, "\n  npusim help %s COMMAND    what a command does, its options, examples\n", group->name);
}

static void version(struct str *out)
{
	str_addf(out, "npusim %s (build %s)\n", npusim_version(), npusim_build_id());
	npusim_libraries(out);
	str_addc(out, '\n');
}

/* --- finding the command ----------------------------------------------------------------------------------- */

/* What a mistyped command may have meant: one of this table, or else a command of that name inside some group. */
static int main_unknown(const struct cmd *table, const char *group, const char *name, struct err *e)
{
	const char *names[32], *near, *space = *group ? " " : "";
	size_t n = 0;

	for (const struct cmd *c = table; c->name && n < 32; c++) {
		names[n++] = c->name;
		if (c->sub && main_find(c->sub, name))
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
	if (!group && help && argc == 1 && cmd_topic(argv[0], out))
		return 0;
	if (!(c = main_find(table, argv[0])))
		return main_unknown(table, group ? group->name : "", argv[0], e);
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

static int main_start(int argc, char **argv, struct str *out, struct err *e)
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

	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error like a full disk */
	signal(SIGPIPE, SIG_DFL); /* "npusim ... | head" ends quietly, also below a parent that ignores it */
	inputs_start();
	if (main_start(argc, argv, &out, &e) < 0 && e.kind == ERR_NONE)
		err_set(&e, ERR_NOMEM, "out of memory");
	if (out.failed || (out.len && !screen_page(&out)))
		outfile_print(&out, stdout, &io);
	if (io.kind)
		cmd_complain(&io);
	if (e.kind)
		cmd_complain(&e);
	code = err_exit_code(io.kind ? &io : &e); /* results that did not get out outrank what they said */
	str_free(&out);
	return code;
}
