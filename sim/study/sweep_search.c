/* sweep_search.c - guided search: generations of points, each drawn from what the ones before it were worth.
 *
 * Multi-objective evolution over the values of the axes, after NSGA-II (Deb et al. 2002): points are ranked by fronts
 * (feasible ones first, then by constraints not met), within a front by how far their neighbours are; parents win a
 * tournament of two. A child is a parent moved a step or more along one axis (most of the time: what lies beside the
 * front is likely to extend it), a mixture of two, or a new draw. No point is drawn twice. Values that are no numbers
 * have no neighbours: any other is one step away. NLopt, which we have, knows one objective, and the well-kept
 * libraries for several are in C++ or Python.
 *
 * All draws of a generation are made when the one before it is complete, from the seed, its number and results alone:
 * so rows do not depend on workers, and a search that was killed is played again from its stored rows, which are not
 * run again. Workers wait for the last point of a generation: with many of them, let it be some times as many points.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/rng.h"
#include "sim/study/sweep_int.h"

#define GOALS_MAX 8
#define STEP      700 /* of 1000 children: a step along an axis; then mixtures; the rest are new draws */
#define MIX       200
#define FAR       300 /* of 1000 steps: 2 or 3 values at once */
#define TRIES     200 /* for a child nobody had; then any point; then the search has seen them all */

struct score {
	bool known, worth;      /* has a row; it has a value for every objective */
	uint32_t broken;        /* constraints not met */
	double goal[GOALS_MAX]; /* smaller is better */
	uint32_t rank;          /* 0: nothing is better */
	double room;            /* between its neighbours in its front */
};

struct search {
	struct sweep *s;
	struct sweep_job job; /* of one generation */
	const struct sweep_job *whole;
	struct resdb *db;
	struct score *scores;     /* by point */
	uint32_t *order;          /* points, best first */
	size_t n_goals, before;   /* before: points of earlier generations */
	struct res_point *stored; /* as last read */
	size_t n_stored;
	struct arena *rows, *kept; /* of one row; of the stored ones */
	struct err *e;
	int rc; /* of the last row */
};

/* --- what a row is worth ----------------------------------------------------------------------------------- */

static int sweep_search_take(struct search *x, const struct res_point *p)
{
	const struct sweep *s = x->s;
	struct score *c = &x->scores[p->point];
	struct sweep_row row = { s, NULL, p, p->values, x->whole->workload };
	const char **sets = arena_array(x->rows, s->n_axes, sizeof *sets);
	struct machine_conf *conf;
	struct expr_value v;
	size_t n = 0;
	int rc = 0;

	if (!sets)
		return sweep_no_memory(x->e);
	if (p->config_hash != s->hashes[p->point])
		return err_set(x->e, ERR_IO, "the stored points are not those of this search: point %llu differs",
		               (unsigned long long)p->point);
	*c = (struct score){ .known = true, .worth = !p->failed };
	if (p->failed)
		return 0;
	sweep_sets(s, p->point, sets);
	if (!(conf = sweep_conf(s, sets, x->e)))
		return -1;
	row.conf = conf;
	for (size_t i = 0; rc == 0 && i < s->n_columns; i++) {
		if (s->columns[i].goal == SWEEP_COLUMN)
			continue;
		rc = sweep_value(&row, s->columns[i].x, &v, x->e);
		c->worth &= v.type == EXPR_NUMBER;
		c->goal[n++] = s->columns[i].goal == SWEEP_MAXIMIZE ? -v.number : v.number;
	}
	if (n == 0)
		c->goal[n++] = (double)p->total_ps;
	for (size_t i = 0; rc == 0 && i < s->n_constraints; i++) {
		rc = sweep_value(&row, s->constraints[i], &v, x->e);
		c->broken += v.type != EXPR_NUMBER || v.number == 0;
	}
	x->n_goals = n;
	machine_conf_free(conf);
	return rc;
}

static void on_row(void *arg, const struct res_point *p)
{
	struct search *x = arg;

	if (x->rc == 0)
		x->rc = sweep_search_take(x, p);
	arena_reset(x->rows);
}

static void on_progress(void *arg, size_t done, size_t of)
{
	const struct search *x = arg;

	/* Of this generation only what is left is known here: a part may have been stored by an earlier run. */
	if (x->whole->progress)
		x->whole->progress(x->whole->arg, x->s->n_points - (of - done), (size_t)x->s->sample_n);
}

static int read_stored(struct search *x, int64_t id)
{
	struct res_sweep *all;
	size_t n;

	arena_reset(x->kept);
	x->n_stored = 0;
	if (res_list_sweeps(x->db, x->kept, &all, &n, x->e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (all[i].id == id)
			return res_get_points(x->db, &all[i], x->kept, &x->stored, &x->n_stored, x->e);
	return 0;
}

/* Rows of a generation that were there before it ran: of an earlier run of the search, or another sweep's. */
static int take_stored(struct search *x, int64_t id)
{
	size_t p = x->before, i;

	for (int round = 0; round < 2; round++) {
		if (round && read_stored(x, id) < 0)
			return -1;
		for (i = 0; p < x->s->n_points; p++) {
			if (x->scores[p].known)
				continue;
			while (i < x->n_stored && x->stored[i].point < p)
				i++;
			if (i == x->n_stored || x->stored[i].point != p)
				break;
			if (sweep_search_take(x, &x->stored[i]) < 0)
				return -1;
			arena_reset(x->rows);
		}
	}
	return p == x->s->n_points ? 0 : err_set(x->e, ERR_IO, "point %zu of the search is not stored", p);
}

/* --- ranks ------------------------------------------------------------------------------------------------- */

static bool better(const struct search *x, const struct score *a, const struct score *b)
{
	bool less = false;

	if (a->worth != b->worth)
		return a->worth;
	if (!a->worth || a->broken != b->broken)
		return a->worth && a->broken < b->broken;
	for (size_t g = 0; g < x->n_goals; g++) {
		if (a->goal[g] > b->goal[g])
			return false;
		less |= a->goal[g] < b->goal[g];
	}
	return less;
}

/* Insertion by one goal, the number breaking ties: the same order on every host. */
static void sort_by(const struct search *x, uint32_t *v, size_t n, size_t goal)
{
	for (size_t i = 1; i < n; i++) {
		uint32_t p = v[i];
		size_t k = i;

		for (; k > 0 && x->scores[v[k - 1]].goal[goal] > x->scores[p].goal[goal]; k--)
			v[k] = v[k - 1];
		v[k] = p;
	}
}

static void give_room(struct search *x, uint32_t *front, size_t n)
{
	for (size_t g = 0; g < x->n_goals; g++) {
		double span;

		sort_by(x, front, n, g);
		span = x->scores[front[n - 1]].goal[g] - x->scores[front[0]].goal[g];
		x->scores[front[0]].room = x->scores[front[n - 1]].room = 1e9;
		for (size_t i = 1; span > 0 && i + 1 < n; i++)
			x->scores[front[i]].room +=
				(x->scores[front[i + 1]].goal[g] - x->scores[front[i - 1]].goal[g]) / span;
	}
}

static bool ahead(const struct search *x, uint32_t a, uint32_t b)
{
	const struct score *p = &x->scores[a], *q = &x->scores[b];

	if (p->rank != q->rank)
		return p->rank < q->rank;
	return p->room > q->room || (!(p->room < q->room) && a < b);
}

/* Fronts are peeled off until there are parents enough; they stand first in `order`. Returns how many. */
static size_t rank(struct search *x, size_t wanted)
{
	const size_t n = x->s->n_points;
	size_t ranked = 0;

	for (uint32_t p = 0; p < n; p++) {
		x->order[p] = p;
		x->scores[p].room = 0;
	}
	for (uint32_t r = 0; ranked < n && ranked < wanted; r++) {
		size_t end = ranked;

		for (size_t i = ranked; i < n; i++) {
			const uint32_t p = x->order[i];
			bool beaten = false;

			for (size_t k = ranked; k < n && !beaten; k++)
				beaten = better(x, &x->scores[x->order[k]], &x->scores[p]);
			x->scores[p].rank = beaten ? UINT32_MAX : r;
		}
		for (size_t i = ranked; i < n; i++)
			if (x->scores[x->order[i]].rank == r) {
				uint32_t t = x->order[end];

				x->order[end++] = x->order[i];
				x->order[i] = t;
			}
		give_room(x, x->order + ranked, end - ranked);
		ranked = end;
	}
	for (size_t i = 1; i < ranked; i++) {
		uint32_t p = x->order[i];
		size_t k = i;

		for (; k > 0 && ahead(x, p, x->order[k - 1]); k--)
			x->order[k] = x->order[k - 1];
		x->order[k] = p;
	}
	return ranked;
}

/* --- children ---------------------------------------------------------------------------------------------- */

static uint32_t tournament(const struct search *x, struct rng *r, size_t parents)
{
	uint64_t a = rng_below(r, parents), b = rng_below(r, parents);

	return x->order[a < b ? a : b];
}

static double fraction(struct rng *r)
{
	return (double)(rng_u64(r) >> 11) / 9007199254740992.0;
}

static void sweep_search_step(const struct search *x, struct rng *r, double *place)
{
	const size_t d = (size_t)rng_below(r, x->s->n_dims);
	const struct sweep_axis *a = x->s->axes;
	const bool up = rng_below(r, 2) == 1, wide = rng_below(r, 1000) < FAR;
	const uint64_t values = wide ? 2 + rng_below(r, 2) : 1;
	double u = fraction(r);

	while (a->dim != d)
		a++;
	if (!a->continuous && !a->values->is_number) {
		place[d] = u;
		return;
	}
	/* A continuous range has steps of any size, small ones more often. */
	u = a->continuous ? u * u / 4 : (double)values / (double)a->n;
	place[d] += up ? u : -u;
	place[d] = place[d] < 0 ? 0 : place[d] >= 1 ? 1 - 1e-9 : place[d];
}

/* Adds up to `n` points nobody had; fewer where there are no more. */
static int breed(struct search *x, uint32_t generation, size_t n)
{
	struct sweep *s = x->s;
	const size_t parents = rank(x, s->generation);
	double *place = arena_array(s->a, s->n_dims, sizeof *place);
	struct rng r;

	if (!place)
		return sweep_no_memory(x->e);
	rng_seed(&r, hash_mix(hash_u64(hash_u64(HASH_INIT, s->sample_seed), generation)), "search");
	for (size_t end = s->n_points + n, tries = 0; s->n_points < end && tries < n * 2 * TRIES; tries++) {
		const uint64_t how = rng_below(&r, 1000);

		if (how >= STEP + MIX || tries > n * TRIES) {
			for (size_t d = 0; d < s->n_dims; d++)
				place[d] = fraction(&r);
		} else {
			const double *a = s->places + tournament(x, &r, parents) * s->n_dims, *b = a;

			if (how >= STEP)
				b = s->places + tournament(x, &r, parents) * s->n_dims;
			for (size_t d = 0; d < s->n_dims; d++)
				place[d] = a == b || rng_below(&r, 2) ? a[d] : b[d];
			if (how < STEP || rng_below(&r, 2))
				sweep_search_step(x, &r, place);
		}
		if (sweep_add_place(s, place, x->e) < 0)
			return -1;
	}
	return sweep_check_new(s, x->e);
}

/* --- the search -------------------------------------------------------------------------------------------- */

static int run_generation(struct search *x, struct sweep_done *d)
{
	struct sweep_done now;

	if (sweep_run(x->s, &x->job, x->db, &now, x->e) < 0 || x->rc < 0)
		return -1;
	d->id = now.id;
	d->ran += now.ran;
	for (size_t p = x->before; p < x->s->n_points; p++)
		if (x->s->refused[p])
			x->scores[p].known = true;
	return take_stored(x, now.id);
}

int sweep_search(struct sweep *s, const struct sweep_job *job, struct resdb *db, struct sweep_done *d, struct err *e)
{
	struct arena *a = arena_new(0);
	struct search x = {
		.s = s, .job = *job, .whole = job, .db = db, .rows = arena_new(0), .kept = arena_new(0), .e = e
	};
	size_t goals = 0;
	int rc = -1;

	memset(d, 0, sizeof *d);
	x.job.row = on_row;
	x.job.row_arg = x.job.arg = &x;
	x.job.progress = on_progress;
	for (size_t i = 0; i < s->n_columns; i++)
		goals += s->columns[i].goal != SWEEP_COLUMN;
	if (goals > GOALS_MAX) {
		err_set(e, ERR_CONFIG, "a guided search takes up to %d objectives, not %zu", GOALS_MAX, goals);
		goto out;
	}
	if (!a || !x.rows || !x.kept || !(x.scores = arena_array(a, s->sample_n, sizeof *x.scores)) ||
	    !(x.order = arena_array(a, s->sample_n, sizeof *x.order))) {
		sweep_no_memory(e);
		goto out;
	}
	for (uint32_t g = 1;; g++) {
		size_t left, next;

		if (run_generation(&x, d) < 0)
			goto out;
		x.before = s->n_points;
		left = (size_t)s->sample_n - s->n_points;
		next = left < s->generation ? left : s->generation;
		if (next && breed(&x, g, next) < 0)
			goto out;
		if (s->n_points == x.before) {
			s->generations = g;
			break;
		}
	}
	d->mine = s->n_points;
	d->there = s->n_points - d->ran;
	rc = 0;
out:
	arena_free(x.rows);
	arena_free(x.kept);
	arena_free(a);
	return rc;
}
