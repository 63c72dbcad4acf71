/* study.h - what a stored sweep says about its designs: objectives, the front, its knee, the effects of axes.
 *
 * Only points that are done, meet the sweep's constraints and every --where, and have a value for every objective
 * count; for the effects of axes also those that miss a constraint. Everything is worked out in the order of the points, so that the answer is the same on every host. */
#ifndef NPUSIM_SIM_STUDY_STUDY_H
#define NPUSIM_SIM_STUDY_STUDY_H

#include "sim/study/sweep_view.h"

#define STUDY_GOALS 8

struct study_goal {
	const char *name;
	bool more;                       /* more is better */
	const struct expr_value *values; /* of every point of the view */
};

struct study {
	struct sweep_view v;
	struct study_goal goals[STUDY_GOALS];
	int n_goals;
	size_t *points, n; /* of the view's points, those that count, in order */
	/* Of those that are done, meet every --where and have a value for the first objective, all: a constraint cuts a grid,
	 * and of what is left the axes no longer explain their own. */
	size_t *all, n_all;
	bool narrowed; /* some --where was asked for */
	const char *
		*beyond; /* of a front, by the view's points: why nobody builds it, in words; NULL: it can be built */
};

/* What is asked. `sweep` 0: the last of the file. Without `less` (to minimise) and `more` the objectives are the sweep's
 * own, and latency_us where it has none. Points for which not all of `where` hold do not count. */
struct study_ask {
	int64_t sweep;
	const char *const *less, *const *more, *const *where;
	int n_less, n_more, n_where;
};
/* That no point counts is no error here. */
int study_open(struct study *t, struct resdb *db, const struct study_ask *ask, struct err *e);
void study_free(struct study *t);
/* An error when no point counts; the same for effects, which ask no constraint. */
int study_some(const struct study *t, struct err *e);
int study_any(const struct study *t, struct err *e);

/* Smaller is better, whichever way the goal goes. */
double study_cost(const struct study *t, int goal, size_t point);
/* By the first objective, then the others, then the number. */
void study_sort(struct study *t);
/* Leaves the points that no other beats: none is as good in every objective and better in one. */
int study_keep_front(struct study *t, struct err *e);
/* Place in t->points of the one nearest to the best of every objective at once, each scaled to the span of the points, of those
 * that can be built where there are any; of a front it is the knee. */
size_t study_knee(const struct study *t);

/* Over t->all. One axis (b == a), or two together: what share of the variance of the first objective its means explain. Of two, what
 * they explain beyond each alone. `at_low` is the axis' value with the least mean, or the part of its range where it is
 * continuous. */
struct study_term {
	size_t a, b;
	double share, low, high;
	const char *at_low, *at_high;
};
/* All axes that take several values and all their pairs, most of the variance first, in the view's arena; *mean is of the first objective. */
int study_effects(struct study *t, struct study_term **terms, size_t *n, double *mean, struct err *e);

#endif
