/* opt.h - option tables: the same rows parse the command line, print --help and feed completion and man page. */
#ifndef NPUSIM_SIM_UI_OPT_H
#define NPUSIM_SIM_UI_OPT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/base/str.h"

/* OPT_COUNT: a number from 1 on. All but flags and lists are given once, and not empty.
 * Texts that name files say what becomes of them: OPT_READ and OPT_READS (a list) are inputs, also by the name of one that
 * comes with npusim; OPT_WRITE is an output, and OPT_FOLDER holds outputs whose names the command makes. OPT_SETS is a list of
 * KEY=VALUE, whose value may name a file as it may in a machine's. OPT_ROWS stands for the rows of another table (opt_joined). */
enum opt_type {
	OPT_END,
	OPT_FLAG,
	OPT_TEXT,
	OPT_LIST,
	OPT_U64,
	OPT_COUNT,
	OPT_PPM,
	OPT_PS,
	OPT_READ,
	OPT_READS,
	OPT_SETS,
	OPT_WRITE,
	OPT_FOLDER,
	OPT_ROWS
};

struct opt_list {
	const char **v;
	int n;
}; /* grown by opt_parse; freed by opt_list_free */
void opt_list_free(struct opt_list *l);

struct opt {
	char letter;      /* 0: none */
	const char *name; /* long name without dashes */
	enum opt_type type;
	void *to;         /* bool, const char *, opt_list, uint64_t, uint32_t, ps_t; OPT_ROWS: struct opt[] */
	const char *arg;  /* "FILE", "table|csv|json"; NULL for flags */
	const char *help; /* NULL: it is read and not offered, for a command that says why it makes no sense */
};

/* What the arguments are, said by the last row of a table: files that are read, unless it says otherwise. */
#define OPT_ARGS_READ  NULL
#define OPT_ARGS_WORDS "words"          /* no files of ours */
#define OPT_ARGS_INTO  "into the first" /* the first is written, of all others */
#define OPT_ARGS_FIRST "the first"      /* is read, the others are words */

struct opt_cmd {
	const char *usage;      /* "npusim run -c CONFIG -t T.db [options]" */
	const char *about;      /* what it does and when to use it: sentences */
	const char *examples;   /* lines a newcomer can type; may be NULL */
	const struct opt *opts; /* ends with {.type = OPT_END}, or with .arg = one of OPT_ARGS_* */
	int min_args, max_args; /* positional; max -1: any */
};

/* The command with its tables joined to one, into `rows`: rows of OPT_ROWS in its place, but those whose name the command has itself. */
#define OPT_MOST 96
struct opt_cmd opt_joined(const struct opt_cmd *cmd, struct opt rows[OPT_MOST + 1]);

/* As main gets them: argv[0] names the command and is skipped. Fills the destinations; positional arguments are
 * appended to args, in any order with options. "--" ends options; "--name=value", "-cVALUE" and "-vq" work.
 * Unknown options name the nearest, and no file may be both an input and an output, or an output twice
 * (opt_check_files). Returns 0, -1 on error (ERR_USAGE), 1 when --help or -h was asked for. */
int opt_parse(const struct opt_cmd *cmd, int argc, char **argv, struct opt_list *args, struct err *e);
/* Of '--jobs', 0 where it was not given: then as many as there are processors. */
int opt_jobs(uint64_t *jobs, unsigned most, struct err *e);
/* Refuses a command line that names no machine. */
int opt_machine_missing(struct err *e);
void opt_help(const struct opt_cmd *cmd, struct str *out);

/* A file that a command line names, or that is named there by a KEY=VALUE (OPT_SETS); by which option, NULL: an argument. */
struct opt_file {
	enum opt_type type; /* OPT_READ, OPT_WRITE, OPT_SETS */
	const char *text, *option;
	const char *by; /* where it is named, when that is not the command line */
};
typedef int opt_file_fn(void *arg, const struct opt_file *f, struct err *e);

/* After the words are in their places: calls back with each file until that returns other than 0. `args` are the n
 * arguments. */
int opt_each_file(const struct opt_cmd *cmd, const char *const *args, int n, opt_file_fn *fn, void *arg, struct err *e);
/* Every output against every input and every other output, whatever their paths (newfile_same), and what those inputs name
 * (inner.h); with `n_more` files that the line does not name itself. */
int opt_check_files(const struct opt_cmd *cmd, const char *const *args, int n, const struct opt_file *more,
                    size_t n_more, struct err *e);

/* The command as a subsection of a manual page, in man(7) macros. Text from elsewhere goes there by opt_roff, which
 * escapes what roff would take for its own. */
void opt_man(const struct opt_cmd *cmd, struct str *out);
void opt_roff(const char *text, struct str *out);

/* What may stand in place of the last of `n` words, those before it being given: lines "WORD<tab>HELP" of what begins
 * with it, or, where a value or an argument is due that is not one of a few, the line "@KIND<tab>BEFORE": what the
 * usage calls it ("T.db"), and what of the word stands before the value ("--trace="). The one place that knows a
 * value's kinds from the text of tables: an argument with bars between is one of the words between them. */
void opt_complete(const struct opt_cmd *cmd, int n, char *const *words, struct str *out);

#endif
