/* cmd.h - what the commands share: the table they stand in, parsing, and opening what they read.
 *
 * A command appends what it prints to `out` and returns 0, or -1 with `e` set; main writes `out` once, then the
 * error, and exits with its code. So a command that fails with ERR_BOUND (it ran, but a bound the user gave does not
 * hold) still shows its results, and one that fails early shows nothing but the reason. */
#ifndef NPUSIM_SIM_CMD_H
#define NPUSIM_SIM_CMD_H

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/str.h"
#include "sim/profile/counters.h"
#include "sim/ui/opt.h"
#include "sim/ui/out.h"
#include "traces/db/tracedb.h"

/* argv[0] is the command's own name. */
typedef int cmd_fn(int argc, char **argv, struct str *out, struct err *e);

/* A command, or a group of commands: `run` or `sub`, the other is NULL. Tables end with a NULL name. */
struct cmd {
	const char *name;
	cmd_fn *run;
	const struct cmd *sub;
	const char *help;
};

cmd_fn cmd_run, cmd_serve, cmd_ablate, cmd_limits, cmd_sweep, cmd_merge, cmd_report, cmd_compare, cmd_validate,
	cmd_calibrate;
cmd_fn cmd_export;
extern const struct cmd cmd_workload_table[];
extern const struct cmd cmd_trace_table[], cmd_config_table[], cmd_probe_table[], cmd_plot_table[];
cmd_fn cmd_config_area, cmd_config_peaks;
cmd_fn cmd_pareto, cmd_best, cmd_sensitivity;
cmd_fn cmd_probe_l2, cmd_probe_latency, cmd_probe_stream, cmd_probe_kernel, cmd_probe_occupancy;
cmd_fn cmd_trace_import, cmd_trace_record, cmd_trace_show, cmd_trace_top, cmd_trace_ops, cmd_trace_classify;
cmd_fn cmd_trace_roofline, cmd_trace_hist, cmd_trace_diff, cmd_trace_export, cmd_trace_review;

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
/* What of a file may be private, and whether it is stored. */
void cmd_trace_private_note(const char *file, const struct trace_import_stats *st, bool redact);
#define CMD_REDACT_HELP \
	"leave out what may be private: command lines, and concrete inputs of operators that are text; names of kernels," \
	" operators and annotations stay"
/* Prints an error as main does: for a command that goes on after one. */
void cmd_complain(const struct err *e);
/* The --format option as text to its value; NULL is a table. */
int cmd_format(const char *text, enum out_format *f, struct err *e);

/* A trace of a few minutes of decoding is some hundred MiB; far beyond that the file is damaged or hostile. */
#define CMD_TRACE_MEMORY ((size_t)16 << 30)
#define CMD_TRACE_PIECE  ((size_t)1 << 15) /* with its ops, lowered, 5 KB a launch */
/* A selection of a trace database, in memory of its own. */
struct cmd_trace {
	struct arena *arena;
	struct trace trace;
	struct counters *counters; /* NULL: none are stored */
	struct rules *rules;       /* NULL: not asked for */
};
int cmd_trace_load(const char *path, const char *range, struct cmd_trace *t, struct err *e);
/* The same by tracedb_load, _load_any or _load_groups, and with the context of a replay; 0: what it assumes. */
typedef int cmd_trace_loader(struct tracedb *t, const char *range, struct arena *a, struct trace *out, struct err *e);
int cmd_trace_load_by(cmd_trace_loader *load, const char *path, const char *range, uint64_t context,
                      struct cmd_trace *t, struct err *e);
/* The same with the rules of a file; NULL: those that come with npusim. */
int cmd_trace_load_ruled(cmd_trace_loader *load, const char *path, const char *range, const char *rules,
                         struct cmd_trace *t, struct err *e);
/* All but the launches, which are given to `each` some at a time (tracedb_load_pieces); t->counters are there before. */
int cmd_trace_pieces(const char *path, const char *range, tracedb_piece *each, void *arg, struct cmd_trace *t,
                     struct err *e);
bool cmd_is_database(const char *path); /* one of ours; anything else is a profile, or nothing */
/* A trace database; any profile is read into one in memory, of which nothing is left behind. */
struct tracedb *cmd_trace_open(const char *path, uint64_t context, struct err *e);
void cmd_trace_free(struct cmd_trace *t);

/* A kernel's name, which for a template has hundreds of characters: in a table its first `most`, elsewhere all. */
void cmd_out_name(struct out_table *t, const char *name, size_t most, enum out_format f);
/* A list cut to the N that -n asks for: how many those are, and the line below it where there are more. */
static inline size_t cmd_first(uint64_t asked, size_t all)
{
	return asked < all ? (size_t)asked : all;
}
void cmd_print_more(size_t shown, size_t all, struct str *out);

#define CMD_CONTEXT_HELP \
	"of a replay (traces/rtx5090/dsocr.yaml): the tokens attended over, in place of what it assumes"
#define CMD_RANGE_HELP    "only what was launched inside this annotation; 'trace show' lists them"
#define CMD_RULES_HELP    "the table that makes ops of kernels, instead of the one that comes with npusim"
#define CMD_FAMILIES_HELP "the table that puts kernels into families, instead of the one that comes with npusim"
#define CMD_DTYPE_HELP \
	"number format of tensors whose type neither the recording nor a kernel's name nor an op beside them tells: bf16," \
	" fp16, fp32, ...; by default their ops are opaque"
#define CMD_FORMAT_HELP "how to print: table (default), csv or json"

/* Units as people read them; doubles are made at the edge only. */
static inline double cmd_us(int64_t ns)
{
	return (double)ns / 1e3;
}
static inline double cmd_ps_us(uint64_t ps)
{
	return (double)ps / 1e6;
}
static inline double cmd_pct(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

#endif
