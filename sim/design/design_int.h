/* design_int.h - what the files of the search share. */
#ifndef NPUSIM_SIM_DESIGN_DESIGN_INT_H
#define NPUSIM_SIM_DESIGN_DESIGN_INT_H

#include "sim/base/pool.h"
#include "sim/design/design.h"
#include "sim/design/design_model.h"

#define DESIGN_FIGURES (DESIGN_BOUNDS + 1) /* bounds, then the objective */

static inline int design_no_memory(struct err *e)
{
	return err_nomem(e, "for a design");
}

/* --- goals (design_goal.c) -------------------------------------------------------------------------------------- */

struct design_bound {
	const char *text, *left_text;
	struct expr *left, *right;
	bool above; /* left is to be at least right */
	bool early; /* known before anything runs */
};
struct design_goal {
	struct design_bound bounds[DESIGN_BOUNDS];
	size_t n_bounds;
	const char *text; /* of the objective */
	struct expr *objective;
	bool maximise, early;
	double sure; /* deviations of a row's spread, which is at four in five; 0: none */
};
/* What a design is worth to the search. */
struct design_score {
	bool known, fails; /* fails: it cannot be, or a figure has no value */
	double figure
		[DESIGN_FIGURES]; /* of bounds by how far they hold, above 0; of the objective less is better. Logarithms
	                                      where values are above 0 */
	double shown[DESIGN_FIGURES]; /* left sides and the objective, as they are */
	double share[DESIGN_FIGURES]; /* of bounds: how far they hold, of what is asked */
};
/* Names of statistics are known (sweep_know_stats). */
int design_goal_read(const struct design_question *q, struct sweep *s, struct design_goal *out, struct err *e);
/* `point` NULL: what is known early. */
int design_goal_score(const struct design_goal *g, const struct sweep *s, const struct machine_conf *c,
                      const struct res_point *point, const struct res_workload *w, struct design_score *out,
                      struct err *e);
bool design_meets(const struct design_goal *g, const struct design_score *s);
/* By how much bounds are missed, all together; 0: they hold. */
double design_misses(const struct design_goal *g, const struct design_score *s);
/* a is better than b: it meets the bounds and costs less, or misses them by less. */
bool design_better(const struct design_goal *g, const struct design_score *a, const struct design_score *b);

/* --- running (design_eval.c) -------------------------------------------------------------------------------------- */

struct design_asked {
	const char *const *sets; /* one an axis */
	enum run_fidelity by;
	struct res_point row; /* answered; `failed` with its reason */
};
struct design_runner;
struct design_runner *design_runner_new(const struct design_question *q, const struct sweep *s, struct err *e);
void design_runner_free(struct design_runner *r);
/* All of them; rows live in `a`. */
int design_runner_run(struct design_runner *r, struct design_asked *v, size_t n, struct arena *a, struct err *e);

/* --- the search --------------------------------------------------------------------------------------------------- */

/* A design of the space that was looked at. */
struct design_seen {
	uint32_t at[DESIGN_AXES]; /* its value in each dimension */
	double x[DESIGN_AXES];
	const char *const *sets;
	size_t offered; /* the round it was a candidate of */
	bool out; /* nobody can build it, it is no machine, `where` leaves it out, or what is known early of it does not hold */
	bool spared; /* no run was left for it */
	struct design_score early, form, event;
	struct design_one *one; /* as it was run last; NULL: it was not */
};

struct design_search {
	const struct design_question *q;
	struct arena *a;
	struct err *e;
	struct sweep *s;
	struct design_goal goal;
	struct design_runner *runner;
	struct design_result *out;
	size_t dims, count[DESIGN_AXES]; /* values of each */
	bool apart[DESIGN_AXES];         /* without an order */
	struct design_seen **v;          /* n of them, and where they are found by place */
	size_t n, cap, *table, n_table;
	struct design_model *model[DESIGN_FIGURES]; /* of what is not known early */
	double shift[DESIGN_FIGURES]; /* what closed forms are off events by near the best, in their scores */
	size_t round, hopeless;       /* of candidates; runs of which nothing was hoped for */
	bool begun;
	size_t kept;     /* runs in closed form that are for design_simplify */
	size_t done, of; /* for progress */
};

/* The design at a place, looked at now if it was not before; NULL: error. */
struct design_seen *design_look(struct design_search *x, const uint32_t *at);
/* Runs those of the designs that were not run by this fidelity. */
int design_run_seen(struct design_search *x, struct design_seen *const *v, size_t n, enum run_fidelity by);
/* One machine of any assignments, run and scored. */
int design_run_sets(struct design_search *x, const char *const *sets, enum run_fidelity by, struct design_one *out,
                    struct design_score *score);
/* `one` of what a run answered. */
int design_tell(struct design_search *x, const char *const *sets, const struct design_asked *asked,
                const struct machine_conf *c, struct design_one *one, struct design_score *score);

/* design_search.c: in closed form, until `quota` were run in all or nothing promises more. */
int design_search_forms(struct design_search *x, size_t quota);
/* design_events.c: the best by events; then, of either, what lies a step beside it, until nothing there is better. */
int design_search_events(struct design_search *x);
int design_polish(struct design_search *x, enum run_fidelity by);
/* A design as good with fewer changes to the machine, where there is one. */
int design_simplify(struct design_search *x, enum run_fidelity by, struct design_seen **best);
struct design_seen *design_best(struct design_search *x, enum run_fidelity by, const struct design_seen *but);
/* `d` into the n best by that fidelity, best first, of which `most` are kept; returns how many there are then. */
size_t design_among(const struct design_goal *g, enum run_fidelity by, struct design_seen **best, size_t n, size_t most,
                    struct design_seen *d);
/* The design with one dimension at another value; NULL in *out where there is none. */
int design_moved(struct design_search *x, const struct design_seen *from, size_t dim, int by, struct design_seen **out);
double design_space_size(const struct design_search *x);

/* design_why.c: what lies beside the best, the way to it, its ends, the second. */
int design_why(struct design_search *x, const struct design_seen *best);

/* The key, and the value as a user writes it, of a KEY=VALUE. */
const char *design_value(const char *set);

#endif
