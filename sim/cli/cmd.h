/* cmd.h - what the commands share: the table they stand in, parsing, and opening what they read.
 *
 * A command appends what it prints to `out` and returns 0, or -1 with `e` set; main writes `out` once, then the
 * error, and exits with its code. So a command that fails with ERR_BOUND (it ran, but a bound the user gave does not
 * hold) still shows its results, and one that fails early shows nothing but the reason. */
#ifndef NPUSIM_SIM_CLI_H
#define NPUSIM_SIM_CLI_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/json.h"
#include "sim/base/str.h"
#include "sim/report/doc.h"
#include "sim/ui/opt.h"
#include "sim/ui/out.h"
#include "sim/ui/units.h"
#include "sim/workload/workload.h"

/* argv[0] is the command's own name. */
typedef int cmd_fn(int argc, char **argv, struct str *out, struct err *e);

/* A command, or a group of commands: `run` or `sub`, the other is NULL. Tables end with a NULL name. */
struct cmd {
	const char *name;
	cmd_fn *run;
	const struct cmd *sub;
	const char *help;
};

/* What is asked of a command's document by path (sim/study/experiment.h), and the tree it becomes, where that costs less than text. */
struct cmd_figures {
	const char *const *paths;
	size_t n_paths;
	struct json_tree *tree;
};
int cmd_run_figures(int argc, char **argv, const struct cmd_figures *f, struct err *e);

cmd_fn cmd_run, cmd_serve, cmd_design, cmd_ablate, cmd_limits, cmd_sweep, cmd_merge, cmd_report, cmd_compare,
	cmd_validate, cmd_calibrate;
cmd_fn cmd_explain, cmd_page, cmd_export;
cmd_fn cmd_workload_build, cmd_workload_attend, cmd_workload_options, cmd_workload_rates;
extern const struct cmd cmd_workload_table[];
extern const struct cmd cmd_trace_table[], cmd_config_table[], cmd_probe_table[], cmd_plot_table[];
cmd_fn cmd_config_area, cmd_config_cost, cmd_config_peaks;
cmd_fn cmd_pareto, cmd_best, cmd_sensitivity;
cmd_fn cmd_probe_dram, cmd_probe_l2, cmd_probe_latency, cmd_probe_stream, cmd_probe_link, cmd_probe_kernel,
	cmd_probe_occupancy, cmd_probe_model;
cmd_fn cmd_trace_import, cmd_trace_record, cmd_trace_show, cmd_trace_top, cmd_trace_ops, cmd_trace_classify;
cmd_fn cmd_trace_roofline, cmd_trace_hist, cmd_trace_gaps, cmd_trace_stages, cmd_trace_waves, cmd_trace_stalls,
	cmd_trace_diff, cmd_trace_export, cmd_trace_review;

/* Two that tell of all commands and one that runs some; main has the table, and gives it. */
int cmd_man(const struct cmd *all, int argc, char **argv, struct str *out, struct err *e);
int cmd_study(const struct cmd *all, int argc, char **argv, struct str *out, struct err *e);
int cmd_completion(const struct cmd *all, int argc, char **argv, struct str *out, struct err *e);

/* The only argument of a command that is asked about itself: for its part of the manual page; for completions of the
 * words that follow (opt.h). It answers in `out` and does nothing else. */
#define CMD_ASK_MAN      "--help=man"
#define CMD_ASK_COMPLETE "--help=complete"
/* And for the files that the words which follow name: 'r', 'w' or 's' (read, written, a KEY=VALUE), the text and a NUL, each. The
 * words are checked as if the command were run. */
#define CMD_ASK_FILES "--help=files"

/* What 'npusim help' knows beside commands, such as "sweep-file"; false: it is no topic. */
bool cmd_topic(const char *name, struct str *out);

/* opt_parse for a command: 0 go on, 1 help was asked for and is in `out`, -1 error. */
int cmd_parse(const struct opt_cmd *cmd, int argc, char **argv, struct opt_list *args, struct str *out, struct err *e);
/* Notes on stderr what a capture lacks; nothing where it is whole, and for other profiles. */
void cmd_trace_capture_note(const char *file, const struct trace_import_stats *st);
/* What of it is statistics, assumed, without times, not known here, or linked otherwise than its ids say. */
void cmd_trace_import_note(const char *file, const struct trace_import_stats *st, bool context_given);
/* What of a file may be private, and whether it is stored. */
void cmd_trace_private_note(const char *file, const struct trace_import_stats *st, bool redact);
#define CMD_REDACT_HELP \
	"leave out what may be private: command lines, and concrete inputs of operators that are text; names of kernels," \
	" operators and annotations stay"
/* Prints an error as main does: for a command that goes on after one. */
void cmd_complain(const struct err *e);
/* The --format option as text to its value; NULL is a table. */
int cmd_format(const char *text, enum out_format *f, struct err *e);
/* All that most commands are: parses, runs `body` with its options `o` and what it prints, as wide as the screen, and frees the
 * options' lists. `format`: where the option of that name is; NULL: there is none. */
typedef int cmd_body(void *o, const struct opt_list *args, struct doc *d, struct err *e);
int cmd_do(const struct opt_cmd *cmd, const char *const *format, cmd_body *body, void *o, int argc, char **argv,
           struct str *out, struct err *e);

/* What is asked of a workload as rows of an option table, for OPT_ROWS. Those that `by` does not take are read as well, and
 * refused by workload_check with its reason. */
#define CMD_WORKLOAD_ROWS (WORKLOAD_KEYS + 1)
struct opt *cmd_workload_rows(struct opt rows[CMD_WORKLOAD_ROWS], struct workload_spec *s, enum workload_asker by);
/* workload_read for a machine, NULL: an NPU's, with a progress line while a profile is read. */
int cmd_workload_read(const struct workload_spec *s, const struct machine_cfg *m, struct workload *w, struct err *e);

/* Of what reads a profile: a progress line in the struct progress * at `arg`, which begins as NULL. */
void cmd_show_bytes(void *arg, uint64_t done, uint64_t total);
/* measured_load and measured_open with one. */
int cmd_measured(struct measured_from from, struct measured *m, struct err *e);
struct tracedb *cmd_trace_open(const char *path, struct err *e);

/* How many of a list the N are that -n asks for; doc_say_more says how many more there are. */
static inline size_t cmd_first(uint64_t asked, size_t all)
{
	return asked < all ? (size_t)asked : all;
}

#define CMD_MIX_HELP \
	"several workloads with weights: MODEL[:PHASE][:WEIGHT][,KEY=VALUE]..., with commas between, or a FILE.yaml with" \
	" 'workloads:' ('npusim help sweep-file'). Figures are means over the steps"
#define CMD_SERVE_HELP \
	"the model serves requests: the options of 'npusim serve' as WORD=VALUE,WORD=VALUE ('rate=4/s,prompt=512,output=128')," \
	" or a FILE.yaml with 'serve:' ('npusim help sweep-file')"
#define CMD_RANGE_HELP    "only what was launched inside this annotation; 'trace show' lists them"
#define CMD_RULES_HELP    "the table that makes ops of kernels, instead of the one that comes with npusim"
#define CMD_FAMILIES_HELP "the table that puts kernels into families, instead of the one that comes with npusim"
/* All documents have all formats (out_format_names). */
#define CMD_FORMATS     "table|csv|json|html|sql"
#define CMD_FORMAT_HELP "how to print: table by default; html is a page, sql the table of csv"

#endif
