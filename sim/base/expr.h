/* expr.h - expressions a user writes over named values: conditions, objectives, constraints of a sweep.
 *
 * Numbers; names (l2.size, latency_us); 'text'; true, false; + - * / %; < <= > >= == !=; and, or, not; parentheses;
 * min, max, abs, round. A number may carry a unit and is then in base units: 64 MiB is 67108864, 2.4 TB/s 2.4e12,
 * 1.4 GHz 1.4e9 (Hz), 150 ns 150000 (ps). All arithmetic is in doubles; a comparison gives 1 or 0. A value that is
 * not there is null, and so is what is computed from it and what is divided by 0.
 *
 * SQLite evaluates: it is linked for the databases already, its precedence and arithmetic are documented and the same
 * on every host, and one more library would not do it better. Text is cut into the words above first and no other
 * word reaches it, so an expression can neither read a file nor run for long.
 *
 * Leaves out: powers, logarithms (SQLite has them only in some builds), a < b < c (refused: it would not mean what it
 * says). Faults are ERR_CONFIG and say after what in the text they are. */
#ifndef NPUSIM_SIM_BASE_EXPR_H
#define NPUSIM_SIM_BASE_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/err.h"

struct exprs; /* expressions that live and go together */
struct expr;

enum expr_type { EXPR_NULL, EXPR_NUMBER, EXPR_TEXT };
struct expr_value {
	enum expr_type type;
	double number;
	const char *text;
};

/* The id (0 and up) a name stands for; -1 with `e` set for one that nobody knows. */
typedef int expr_find_fn(void *arg, const char *name, struct err *e);
/* What the name of that id is worth now; text need not outlive the evaluation. */
typedef struct expr_value expr_value_fn(void *arg, int id);

struct exprs *exprs_new(struct err *e);
void exprs_free(struct exprs *s);
struct expr *expr_new(struct exprs *s, const char *text, expr_find_fn *find, void *arg, struct err *e);
/* EXPR_NUMBER or EXPR_NULL (text as a result is null too: nothing can be done with it). */
int expr_eval(struct expr *x, expr_value_fn *value, void *arg, struct expr_value *out, struct err *e);
const char *expr_text(const struct expr *x);
/* Names used, each once: their ids. */
size_t expr_ids(const struct expr *x, const int **ids);

#endif
