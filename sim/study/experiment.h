/* experiment.h - a study: a question, commands of npusim, the figures taken of what they say, and claims held against those.
 *
 *   study: 1
 *   title: TEXT
 *   question: TEXT                      what is asked
 *   answer: TEXT                        in a few sentences, with figures: see below
 *   runs: a list of
 *     name: NAME                        of the figures: NAME.FIGURE, or NAME.LABEL.LABEL.FIGURE where there is a `for`
 *     command: TEXT                     as it is typed behind npusim, without --format; {KEY} is the value of a `for`
 *     for: {KEY: [VALUE, ...], ...}     the command is run for every combination. The label of a value is itself, with _ for
 *                                       what no name may have, and its key before it where it begins with a digit: b16.
 *                                       {KEY: {LABEL: VALUE, ...}} gives labels of one's own, which tables then show
 *     may_fail: yes                     a command that fails is a row without figures; else the study fails with it
 *     table: TEXT                       the heading of its table; without it there is none
 *     take: {FIGURE: PATH, ...} or {FIGURE: {at: PATH, as: HEAD, digits: N, times: X, bar: yes}, ...}
 *                                       of the command's JSON, where {KEY} is as above; with `as` it is a column
 *     make: {FIGURE: {is: EXPR, as: HEAD, digits: N, bar: yes}, ...}
 *                                       of those, by their short names; first.FIGURE is that of the last key's first value
 *   claims: a list of
 *     says: TEXT                        whose figures are as printed
 *     at: TEXT                          where it stands
 *     right: EXPR                       true: the claim is right; else
 *     in_part: EXPR                     true: it is right in part; else it is wrong
 *     cannot: TEXT                      in place of both: why it cannot be asked here
 *     why: TEXT                         the arithmetic, with figures
 *     asserts: NAME, denies: NAME       what several claims say in words of their own, or the opposite of it
 *     or {from: RUN, at: TEXT}          every run of that name is a claim of whom the command has judged it: its figures `says`,
 *                                       `verdict` (right, in part, wrong, open; another cannot be asked) and `why` are texts
 *   asks: a list, with or in place of claims, of
 *     ask: TEXT                         a question, which is a heading
 *     answer: TEXT                      with figures. No number is typed: no word of it begins with a digit, and each {EXPR} has a figure
 *     holds: EXPR                       that the answer's words are true; else the study fails, and the answer is to be written anew
 *     shows: [RUN, ...]                 whose tables stand beneath
 *   In `answer`, `why` and `table`, {EXPR} is a figure of four digits, {EXPR; 1} one with one decimal.
 *
 * A claim whose expressions name no figure follows from numbers that were typed into the file: where it holds, that is told as
 * arithmetic, and not as right. Claims of the same words have the same verdict, or one of them is wrong (experiment_agree).
 *
 * A PATH is names with dots between, in quotes where they have dots themselves; NAME[3], NAME[key=value,key=value] and NAME[*] choose of a list, where several are added
 * up, and # at the end counts them. Expressions are those of expr.h; one that has no value is an error, so that a verdict
 * always follows from figures.
 * Commands are functions of who has them (struct experiment_runner): each gives its document, of which figures are taken, in this
 * process or in workers of a pool. Only such may run that write no file, by what their own tables say. */
#ifndef NPUSIM_SIM_STUDY_EXPERIMENT_H
#define NPUSIM_SIM_STUDY_EXPERIMENT_H

#include "sim/base/expr.h"
#include "sim/base/json.h"
#include "sim/base/str.h"
#include "sim/base/yaml.h"

#define EXPERIMENT_RUNS    1000
#define EXPERIMENT_KEYS    4
#define EXPERIMENT_FIGURES 40
#define EXPERIMENT_CLAIMS  400
#define EXPERIMENT_ASKS    40
#define EXPERIMENT_JOBS    64
#define EXPERIMENT_WORDS   64                 /* of a command */
#define EXPERIMENT_BYTES   ((size_t)64 << 20) /* of what it says */

/* Who has the commands. Functions return 0, or -1 with `e` set. */
struct experiment_runner {
	/* Refuses what no study may run; adds the files that it reads to `files`: 'r', or 's' of a KEY=VALUE, the name and a NUL, each. */
	int (*check)(void *arg, const char *const *words, size_t n, struct str *files, struct err *e);
	/* The document, which lives in `a`. What none of the `n_paths` paths asks for need not be in it. */
	int (*run)(void *arg, const char *const *words, size_t n, const char *const *paths, size_t n_paths,
	           struct arena *a, const struct json **document, struct err *e);
	void *arg;
};

struct experiment_figure {
	const char *name;
	const char *path; /* of the JSON; or: */
	const char *is;   /* an expression */
	const char *as;   /* its column; NULL: none */
	const struct ynode *place;
	double times;
	int digits; /* decimals; -1: four digits in all */
	bool bar;
};

struct experiment_loop {
	const char *key;
	const char **values, **shown, **labels;
	size_t n;
};

struct experiment_group {
	const char *name, *command, *table;
	bool may_fail, asked; /* asked: its table stands beneath a question */
	struct experiment_loop loops[EXPERIMENT_KEYS];
	size_t n_loops, first, n; /* runs */
	struct experiment_figure *figures;
	size_t n_figures;
};

/* One command with what it said. */
struct experiment_run {
	const struct experiment_group *group;
	const char *label;                   /* "dec.rtx5090.b16" */
	const char *command;                 /* behind npusim */
	const char *values[EXPERIMENT_KEYS]; /* of the loops */
	const char *shown[EXPERIMENT_KEYS];  /* the values, or what they are called */
	const char **paths;                  /* by the group's figures, with the loops' values */
	struct expr_value *figures;          /* by the group's */
	const struct ynode *place;
	const char *files;  /* that it reads, as its runner tells them */
	size_t n_files;     /* bytes of those */
	size_t same;        /* an earlier run of the same command, whose document serves; its own number: none */
	const char *failed; /* why; NULL: it did not */
	size_t first;       /* the run that first.FIGURE means */
};

enum experiment_verdict {
	EXPERIMENT_RIGHT,
	EXPERIMENT_PART,
	EXPERIMENT_WRONG,
	EXPERIMENT_OPEN, /* asked, and too near to call */
	EXPERIMENT_ARITHMETIC,
	EXPERIMENT_CANNOT,
	EXPERIMENT_VERDICTS
};
struct experiment_claim {
	const char *says, *at, *right, *in_part, *cannot, *why; /* why: with its figures, once it is judged */
	const char *asserts, *denies;
	const struct experiment_group *from; /* whose run `run` judges it; NULL: the expressions */
	size_t run;
	const struct ynode *place;
	enum experiment_verdict verdict;
	size_t *runs, n_runs; /* whose figures it is of, each command once */
};

struct experiment_ask {
	const char *ask, *answer, *holds; /* answer: with its figures, once it is judged */
	const struct experiment_group **shows;
	size_t n_shows;
	const struct ynode *place;
};

struct experiment {
	struct arena *a;
	struct yaml *y;
	struct exprs *exprs;
	const char *path, *title, *question, *answer;
	struct experiment_group *groups;
	size_t n_groups;
	struct experiment_run *runs;
	size_t n_runs;
	struct experiment_claim *claims;
	size_t n_claims;
	struct experiment_ask *asks;
	size_t n_asks;
	size_t counted[EXPERIMENT_VERDICTS];
};

/* What is wrong with the file; nothing runs. */
struct experiment *experiment_load(const char *path, const struct experiment_runner *by, struct err *e);
struct experiment *experiment_parse(const char *text, size_t n, const char *name, const struct experiment_runner *by,
                                    struct err *e);
void experiment_free(struct experiment *x);
/* That every expression can be read, and every figure that it names is taken. */
int experiment_check(struct experiment *x, struct err *e);
/* Runs the commands and takes their figures: one after the other in this process, or `jobs` at a time in workers. */
typedef void experiment_progress_fn(void *arg, size_t done, size_t of);
int experiment_run(struct experiment *x, const struct experiment_runner *by, unsigned jobs,
                   experiment_progress_fn *progress, void *arg, struct err *e);
/* A command's words, quotes heeded. NULL: out of memory, or a quote that is not closed, said in `e`. */
const char **experiment_words(struct arena *a, const char *command, size_t *n, struct err *e);
/* The figures of a run, of its document. */
int experiment_take(struct experiment *x, size_t run, const struct json *document, struct err *e);
/* Verdicts, and texts with their figures. */
int experiment_judge(struct experiment *x, struct err *e);
const char *experiment_verdict_name(enum experiment_verdict v);
/* Of claims that say the same, here or in another study, all have one verdict, and who denies it the opposite: else an error that
 * names both. What is open or cannot be asked, and arithmetic, contradicts nothing. */
int experiment_agree(struct experiment *const *v, size_t n, struct err *e);
/* A figure as it is printed: "1,234", "0.5", "dram", "-". */
void experiment_number(const struct expr_value *v, int digits, struct str *out);

#endif
