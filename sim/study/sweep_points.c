/* sweep_points.c - which points there are: grid or sample, what `where` leaves, and whether each can be built. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/base/rng.h"
#include "sim/engine/engine.h"
#include "sim/study/sweep_int.h"

#define TRIES_PER_POINT 100 /* a random sample gives up where `where` and doubles leave too little */
#define STATS_FROM      32  /* points whose machines are asked which statistics there are */

struct sweep_maker {
	struct sweep *s;
	uint64_t max;
	size_t cap;
	uint32_t *at; /* of the point being made: a value's index by axis */
	struct res_value *values;
	const char **sets;
	/* All combinations that are a point or are excluded, by hash: where in `met` they stand, + 1. */
	uint32_t *met, *places;
	size_t n_met, cap_met, n_places;
	size_t n_checked; /* points */
	struct err *e;
};

void sweep_sets(const struct sweep *s, size_t point, const char **sets)
{
	for (size_t i = 0; i < s->n_axes; i++)
		sets[i] = s->axes[i].sets[s->index[point * s->n_axes + i]];
}

struct machine_conf *sweep_conf(const struct sweep *s, const char *const *sets, struct err *e)
{
	const char **own = sweep_workload_varies(s) ? calloc(s->n_axes + 1, sizeof *own) : NULL;
	struct machine_conf *c;
	int n = 0;

	if (!sweep_workload_varies(s))
		return machine_base_conf(s->machines, sets, (int)s->n_axes, e);
	if (!own) {
		sweep_no_memory(e);
		return NULL;
	}
	for (size_t i = 0; i < s->n_axes; i++)
		if (!sweep_of_model(sets[i]))
			own[n++] = sets[i];
	c = machine_base_conf(s->machines, own, n, e);
	free(own);
	return c;
}

/* --- conditions -------------------------------------------------------------------------------------------- */

/* 1: a point; 0: `where` excludes it. */
static int sweep_points_holds(struct sweep_maker *m)
{
	struct sweep *s = m->s;
	struct sweep_row row = { s, NULL, NULL, m->values, NULL };
	struct machine_conf *conf = NULL;
	struct err why = ERR_INIT;
	int rc = 1;

	for (size_t i = 0; i < s->n_axes; i++) {
		m->values[i] = s->axes[i].values[m->at[i]];
		m->sets[i] = s->axes[i].sets[m->at[i]];
	}
	for (size_t i = 0; rc == 1 && i < s->n_where; i++) {
		struct expr_value v;

		if (!conf && sweep_needs_conf(s, s->where[i])) {
			if (!(conf = sweep_conf(s, m->sets, &why)))
				break; /* it cannot be built: a row that says so */
			row.conf = conf;
		}
		if (sweep_value(&row, s->where[i], &v, m->e) < 0)
			rc = -1;
		else if (v.type != EXPR_NUMBER || v.number == 0)
			rc = 0;
	}
	machine_conf_free(conf);
	return rc;
}

static int sweep_points_add(struct sweep_maker *m)
{
	struct sweep *s = m->s;

	if (s->n_points == m->cap) {
		size_t cap = m->cap ? 2 * m->cap : 256;
		uint32_t *index = arena_array(s->a, cap * s->n_axes, sizeof *index);

		if (!index)
			return sweep_no_memory(m->e);
		if (s->n_points)
			memcpy(index, s->index, s->n_points * s->n_axes * sizeof *index);
		s->index = index;
		m->cap = cap;
	}
	memcpy(s->index + s->n_points * s->n_axes, m->at, s->n_axes * sizeof *m->at);
	s->n_points++;
	return 0;
}

/* --- grid -------------------------------------------------------------------------------------------------- */

static size_t dim_size(const struct sweep *s, size_t dim)
{
	for (size_t i = 0; i < s->n_axes; i++)
		if (s->axes[i].dim == dim)
			return s->axes[i].n;
	return 0;
}

static void set_dim(struct sweep_maker *m, size_t dim, uint32_t to)
{
	for (size_t i = 0; i < m->s->n_axes; i++)
		if (m->s->axes[i].dim == dim)
			m->at[i] = to;
}

static int too_many(struct sweep_maker *m, double n)
{
	struct str product = STR_INIT;

	for (size_t d = 0; d < m->s->n_dims; d++)
		str_addf(&product, "%zu%s", dim_size(m->s, d),
		         d + 1 < m->s->n_dims ? " x "
		         : m->s->n_dims > 1   ? " = "
		                              : "");
	if (m->s->n_dims > 1)
		str_addf(&product, "%.0f", n);
	yaml_err(m->s->y, ynode_get(yaml_root(m->s->y), "axes"), m->e,
	         "a grid of %s points is more than %llu: take a"
	         " sample, or say --max %.0f",
	         str_c(&product), (unsigned long long)m->max, n);
	str_free(&product);
	return -1;
}

static int grid(struct sweep_maker *m)
{
	struct sweep *s = m->s;
	uint32_t *at = arena_array(s->a, s->n_dims, sizeof *at);
	double n = 1;
	size_t d;

	if (!at)
		return sweep_no_memory(m->e);
	for (d = 0; d < s->n_dims; d++)
		n *= (double)dim_size(s, d);
	if (n > (double)m->max)
		return too_many(m, n);
	for (;;) {
		int rc = sweep_points_holds(m);

		if (rc < 0 || (rc == 1 && sweep_points_add(m) < 0))
			return -1;
		s->n_dropped += rc == 0;
		for (d = s->n_dims; d > 0; d--) {
			if (++at[d - 1] < dim_size(s, d - 1))
				break;
			at[d - 1] = 0;
			set_dim(m, d - 1, 0);
		}
		if (d == 0)
			return 0;
		set_dim(m, d - 1, at[d - 1]);
	}
}

/* --- samples ----------------------------------------------------------------------------------------------- */

/* 53 random bits: the same double on every host. */
static double fraction(struct rng *r)
{
	return (double)(rng_u64(r) >> 11) / 9007199254740992.0;
}

/* Sets all axes of a dimension to the place `u` (0 to 1) of their values. */
static int place_dim(struct sweep_maker *m, size_t dim, double u)
{
	for (size_t i = 0; i < m->s->n_axes; i++) {
		struct sweep_axis *x = &m->s->axes[i];

		if (x->dim != dim)
			continue;
		if (x->continuous) {
			if (sweep_axis_add(m->s, x, u, &m->at[i], m->e) < 0)
				return -1;
		} else {
			m->at[i] = (uint32_t)(u * (double)x->n);
			if (m->at[i] >= x->n)
				m->at[i] = (uint32_t)x->n - 1;
		}
	}
	return 0;
}

static void place_met(struct sweep_maker *m, size_t i)
{
	const size_t n = m->s->n_axes;
	uint64_t h = hash_mix(hash_bytes(HASH_INIT, m->met + i * n, n * sizeof *m->met));

	while (m->places[h & (m->n_places - 1)])
		h++;
	m->places[h & (m->n_places - 1)] = (uint32_t)i + 1;
}

static int grow_met(struct sweep_maker *m)
{
	const size_t n = m->s->n_axes, cap = m->cap_met ? 2 * m->cap_met : 256;
	uint32_t *met = realloc(m->met, cap * n * sizeof *met), *places;

	if (met)
		m->met = met;
	if (!met || !(places = calloc(4 * cap, sizeof *places)))
		return sweep_no_memory(m->e);
	free(m->places);
	m->places = places;
	m->n_places = 4 * cap;
	m->cap_met = cap;
	for (size_t i = 0; i < m->n_met; i++)
		place_met(m, i);
	return 0;
}

/* 1: this combination was met before; it is from now on. */
static int was_met(struct sweep_maker *m)
{
	const size_t n = m->s->n_axes;

	if (m->n_met == m->cap_met && grow_met(m) < 0)
		return -1;
	for (uint64_t h = hash_mix(hash_bytes(HASH_INIT, m->at, n * sizeof *m->at));; h++) {
		const uint32_t i = m->places[h & (m->n_places - 1)];

		if (i == 0)
			break;
		if (memcmp(m->met + (i - 1) * n, m->at, n * sizeof *m->at) == 0)
			return 1;
	}
	memcpy(m->met + m->n_met * n, m->at, n * sizeof *m->at);
	place_met(m, m->n_met++);
	return 0;
}

/* The combination in `at`: 1: a new point, 0: none. */
static int add_new(struct sweep_maker *m)
{
	int rc = was_met(m);

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	if ((rc = sweep_points_holds(m)) == 1 && sweep_points_add(m) < 0)
		return -1;
	m->s->n_dropped += rc == 0;
	return rc;
}

static int random_points(struct sweep_maker *m)
{
	struct sweep *s = m->s;
	struct rng r;

	rng_seed(&r, s->sample_seed, "sweep");
	for (uint64_t tries = 0; s->n_points < s->sample_n && tries < s->sample_n * TRIES_PER_POINT; tries++) {
		for (size_t d = 0; d < s->n_dims; d++)
			if (place_dim(m, d, fraction(&r)) < 0)
				return -1;
		if (add_new(m) < 0)
			return -1;
	}
	return 0;
}

/* Every dimension is cut into n equal parts and every part is met once; which meets which is drawn. */
static int lhs_points(struct sweep_maker *m, size_t n)
{
	struct sweep *s = m->s;
	double *place = arena_array(s->a, n * s->n_dims, sizeof *place);
	uint32_t *order = arena_array(s->a, n, sizeof *order);
	struct rng r;

	if (!place || !order)
		return sweep_no_memory(m->e);
	rng_seed(&r, s->sample_seed, "sweep");
	for (size_t d = 0; d < s->n_dims; d++) {
		for (size_t i = 0; i < n; i++)
			order[i] = (uint32_t)i;
		for (size_t i = n; i > 1; i--) {
			size_t k = (size_t)rng_below(&r, i);
			uint32_t t = order[k];

			order[k] = order[i - 1];
			order[i - 1] = t;
		}
		for (size_t i = 0; i < n; i++)
			place[i * s->n_dims + d] = ((double)order[i] + fraction(&r)) / (double)n;
	}
	for (size_t i = 0; i < n; i++)
		if (sweep_add_place(s, place + i * s->n_dims, m->e) < 0)
			return -1;
	return 0;
}

int sweep_add_place(struct sweep *s, const double *place, struct err *e)
{
	struct sweep_maker *m = s->maker;
	int rc;

	m->e = e;
	for (size_t d = 0; d < s->n_dims; d++)
		if (place_dim(m, d, place[d]) < 0)
			return -1;
	if ((rc = add_new(m)) == 1 && s->places)
		memcpy(s->places + (s->n_points - 1) * s->n_dims, place, s->n_dims * sizeof *place);
	return rc < 0 ? -1 : 0;
}

void sweep_guide(struct sweep *s, uint64_t n)
{
	s->sample = SWEEP_GUIDED;
	s->sample_n = n;
	s->generation = 0;
}

/* The first generation is spread over all there is, and twice as large: half of it is luck. No more points are asked
 * for than there are. */
static int first_generation(struct sweep_maker *m)
{
	struct sweep *s = m->s;
	uint64_t some;
	size_t first;
	double n = 1;

	for (size_t d = 0; d < s->n_dims; d++)
		n *= (double)dim_size(s, d);
	for (size_t i = 0; i < s->n_axes; i++)
		n = s->axes[i].continuous ? (double)s->sample_n : n;
	if (n < (double)s->sample_n)
		s->sample_n = (uint64_t)n;
	some = s->sample_n / 16;
	if (!s->generation) /* not given */
		s->generation = some < SWEEP_GENERATION_LEAST  ? SWEEP_GENERATION_LEAST
		                : some > SWEEP_GENERATION_MOST ? SWEEP_GENERATION_MOST
		                                               : (size_t)some;
	first = 2 * s->generation < s->sample_n ? 2 * s->generation : (size_t)s->sample_n;
	s->places = arena_array(s->a, (size_t)s->sample_n * s->n_dims, sizeof *s->places);
	return s->places ? lhs_points(m, first) : sweep_no_memory(m->e);
}

/* --- checking ---------------------------------------------------------------------------------------------- */

static int add_stat(struct sweep *s, const char *name, struct err *e)
{
	for (size_t i = 0; i < s->n_stats; i++)
		if (strcmp(s->stats[i], name) == 0)
			return 0;
	if (s->n_stats == s->cap_stats) {
		size_t cap = s->cap_stats ? 2 * s->cap_stats : 128;
		const char **v = arena_array(s->a, cap, sizeof *v);

		if (!v)
			return sweep_no_memory(e);
		if (s->n_stats)
			memcpy(v, s->stats, s->n_stats * sizeof *v);
		s->stats = v;
		s->cap_stats = cap;
	}
	if (!(s->stats[s->n_stats] = arena_strdup(s->a, name)))
		return sweep_no_memory(e);
	s->n_stats++;
	return 0;
}

int sweep_know_stats(struct sweep *s, const struct res_point *p, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < p[i].n_stats; k++)
			if (add_stat(s, p[i].stats[k].name, e) < 0)
				return -1;
	return 0;
}

struct asked {
	struct sweep *s;
	struct err *e;
	int rc;
};

static void know_stat(void *arg, const struct stat_view *v)
{
	struct asked *a = arg;

	if (a->rc == 0)
		a->rc = add_stat(a->s, v->name, a->e);
}

/* A machine that cannot be built says so when its point is run. */
static int ask_engine(struct sweep *s, const struct machine_conf *c, struct err *e)
{
	const enum run_fidelity how = strcmp(s->fidelity, "analytic") == 0 ? RUN_ANALYTIC : RUN_EVENT;
	struct err ignored = ERR_INIT;
	struct asked a = { s, e, 0 };

	engine_of(&c->cfg, how)->stats(&c->cfg, know_stat, &a, &ignored);
	return a.rc;
}

/* A mix has statistics of its own. */
static int know_mix(struct sweep *s, struct err *e)
{
	if (s->mix.n && add_stat(s, SWEEP_MIX_WORST, e) < 0)
		return -1;
	for (size_t i = 0; i < s->mix.n; i++) {
		const char *name = sweep_mix_stat(s->mix.v[i].name, s->a);

		if (!name)
			return sweep_no_memory(e);
		if (add_stat(s, name, e) < 0)
			return -1;
	}
	return 0;
}

static int check_points(struct sweep_maker *m, struct err *first, void (*progress)(void *arg, size_t done, size_t of),
                        void *arg)
{
	struct sweep *s = m->s;
	/* Spread over all points, so that every end of every axis is likely among them. */
	const size_t step = s->n_points / STATS_FROM + 1;

	for (size_t p = m->n_checked; p < s->n_points; p++) {
		struct err why = ERR_INIT;
		struct machine_conf *c;
		int rc = 0;

		sweep_sets(s, p, m->sets);
		if ((c = sweep_conf(s, m->sets, &why))) {
			s->hashes[p] = sweep_workload_hash(s, m->sets, cfg_hash(c->raw));
			/* Once expressions are read, names of statistics stand. */
			if (!s->columns && (p % step == 0 || p + 1 == s->n_points))
				rc = ask_engine(s, c, m->e);
		} else if (why.kind != ERR_CONFIG) {
			*m->e = why;
			rc = -1;
		} else {
			if (!s->n_refused++)
				*first = why;
			rc = (s->refused[p] = arena_strdup(s->a, why.msg)) ? 0 : sweep_no_memory(m->e);
		}
		machine_conf_free(c);
		if (rc < 0)
			return -1;
		if (progress)
			progress(arg, p + 1, s->n_points);
	}
	m->n_checked = s->n_points;
	return 0;
}

int sweep_check_new(struct sweep *s, struct err *e)
{
	struct err ignored = ERR_INIT;

	s->maker->e = e;
	return check_points(s->maker, &ignored, NULL, NULL);
}

static int sweep_points_check(struct sweep_maker *m, void (*progress)(void *arg, size_t done, size_t of), void *arg)
{
	struct sweep *s = m->s;
	const size_t n = s->sample == SWEEP_GUIDED ? (size_t)s->sample_n : s->n_points;
	struct err first = ERR_INIT;

	s->hashes = arena_array(s->a, n, sizeof *s->hashes);
	s->refused = arena_array(s->a, n, sizeof *s->refused);
	if (!s->hashes || !s->refused)
		return sweep_no_memory(m->e);
	if (know_mix(s, m->e) < 0 || check_points(m, &first, progress, arg) < 0)
		return -1;
	if (s->n_refused < s->n_points)
		return 0;
	*m->e = first;
	return err_add(m->e, "checking all %zu points of '%s', none of which can be built", s->n_points, s->path);
}

/* Constraints over the configuration alone are known before anything runs: when no point meets them all, say so. */
static int check_constraints(struct sweep_maker *m)
{
	struct sweep *s = m->s;
	bool any = false, *only = arena_array(s->a, s->n_constraints + 1, sizeof *only);
	size_t first = s->n_constraints;

	if (!only)
		return sweep_no_memory(m->e);
	for (size_t i = s->n_constraints; i-- > 0;) {
		struct err ignored = ERR_INIT;

		only[i] = expr_new(s->exprs, expr_text(s->constraints[i]), sweep_find_config, s, &ignored) != NULL;
		if (only[i])
			first = i;
	}
	if (first == s->n_constraints)
		return 0;
	for (size_t p = 0; p < s->n_points && !any; p++) {
		struct sweep_row row = { s, NULL, NULL, m->values, NULL };
		struct err why = ERR_INIT;
		struct machine_conf *c;

		if (s->refused[p])
			continue;
		sweep_sets(s, p, m->sets);
		if (!(c = sweep_conf(s, m->sets, &why)))
			continue;
		for (size_t i = 0; i < s->n_axes; i++)
			m->values[i] = s->axes[i].values[s->index[p * s->n_axes + i]];
		row.conf = c;
		any = true;
		for (size_t i = 0; any && i < s->n_constraints; i++) {
			struct expr_value v;

			if (!only[i])
				continue;
			if (sweep_value(&row, s->constraints[i], &v, m->e) < 0) {
				machine_conf_free(c);
				return -1;
			}
			any = v.type == EXPR_NUMBER && v.number != 0;
		}
		machine_conf_free(c);
	}
	if (any)
		return 0;
	return yaml_err(s->y, ynode_get(yaml_root(s->y), "constraints"), m->e,
	                "none of the %zu points can meet the"
	                " constraints: '%s' and the others over the configuration alone contradict the axes",
	                s->n_points, expr_text(s->constraints[first]));
}

static int make_points(struct sweep_maker *m)
{
	switch (m->s->sample) {
	case SWEEP_RANDOM:
		return random_points(m);
	case SWEEP_LHS:
		return lhs_points(m, (size_t)m->s->sample_n);
	case SWEEP_GUIDED:
		return first_generation(m);
	default:
		return grid(m);
	}
}

int sweep_expand(struct sweep *s, uint64_t max, void (*progress)(void *arg, size_t done, size_t of), void *arg,
                 struct err *e)
{
	struct sweep_maker *m = arena_alloc(s->a, sizeof *m);

	if (!m)
		return sweep_no_memory(e);
	*m = (struct sweep_maker){ .s = s, .max = max, .e = e };
	s->maker = m;
	m->at = arena_array(s->a, s->n_axes, sizeof *m->at);
	m->values = arena_array(s->a, s->n_axes, sizeof *m->values);
	m->sets = arena_array(s->a, s->n_axes, sizeof *m->sets);
	if (!m->at || !m->values || !m->sets)
		return sweep_no_memory(e);
	if (s->sample != SWEEP_GRID && s->sample_n > max)
		return yaml_err(s->y, ynode_get(yaml_root(s->y), "sample"), e,
		                "a sample of %llu points is more than %llu: say"
		                " --max %llu",
		                (unsigned long long)s->sample_n, (unsigned long long)max,
		                (unsigned long long)s->sample_n);
	if (make_points(m) < 0)
		return -1;
	if (s->n_points == 0)
		return yaml_err(s->y, ynode_get(yaml_root(s->y), "where"), e,
		                "'where' leaves no point of the sweep: none of %zu"
		                " meets all its conditions",
		                s->n_dropped);
	if (sweep_points_check(m, progress, arg) < 0 || sweep_read_expressions(s, e) < 0)
		return -1;
	return s->sample == SWEEP_GUIDED ? 0 : check_constraints(m); /* a search may come to where they hold */
}

void sweep_maker_free(struct sweep_maker *m)
{
	if (m) {
		free(m->met);
		free(m->places);
	}
}
