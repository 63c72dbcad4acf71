/* res_merge.c - one results database into another: what several machines made becomes one file. */
#include <inttypes.h>
#include <string.h>

#include "results/db/res_int.h"
#include "results/db/res_sweep.h"

/* By what stands in the point's own row, which is all that is read of the one that is there. */
static bool same_point(const struct res_point *x, const struct res_point *y)
{
	for (const struct figure *f = figure_table; f->help; f++)
		if (f->kept == FIGURE_COLUMN && figure_number(f, &x->figures) != figure_number(f, &y->figures))
			return false;
	return x->config_hash == y->config_hash;
}

/* All points of one sweep, in both files, are of one build. */
static int check_builds(struct resdb *into, int64_t there, struct resdb *from, const struct res_point *b, size_t n,
                        struct arena *mem, struct err *e)
{
	const char *other = NULL;
	const struct resdb *first = from;

	for (size_t i = 1; i < n && !other; i++)
		other = strcmp(b[i].build, b->build) != 0 ? b[i].build : NULL;
	if (n && there && !other) {
		if (res_other_build(into, there, b->build, mem, &other, e) < 0)
			return -1;
		first = into;
	}
	if (!other)
		return 0;
	return err_set(e, ERR_IO,
	               "'%s' holds points of one sweep from build %s and '%s' from build %s: merge them"
	               " with --mixed-builds if that is meant",
	               db_path(first->db), first == into ? other : b->build, db_path(from->db),
	               first == into ? b->build : other);
}

/* Points of b that `into` does not have, or has failed; those in both must say the same. */
static int res_merge_choose(struct resdb *into, int64_t there, struct resdb *from, struct res_point *b, size_t *n_b,
                            struct arena *mem, struct err *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < *n_b; i++) {
		struct res_point a;
		int rc = res_get_head(into, there, b[i].point, mem, &a, e);

		if (rc < 0)
			return -1;
		if (rc == 1 && !a.failed && !b[i].failed && !same_point(&a, &b[i]))
			return err_set(e, ERR_IO,
			               "'%s' and '%s' say different things of point %" PRIu64 " of the same sweep:"
			               " %.3f us and %.3f us",
			               db_path(into->db), db_path(from->db), b[i].point, (double)a.total_ps / 1e6,
			               (double)b[i].total_ps / 1e6);
		if (rc == 0 || (a.failed && !b[i].failed))
			b[kept++] = b[i];
	}
	*n_b = kept;
	return 0;
}

/* A shard is held in memory, what is merged already is asked point by point: so joining many shards takes a time that
 * is theirs alone. */
static int merge_sweep(struct resdb *into, struct resdb *from, const struct res_sweep *s, bool mixed,
                       struct res_merged *m, struct err *e)
{
	struct res_sweep there = *s;
	struct res_point *b;
	struct res_workload w;
	struct arena *mem = arena_new(0);
	size_t n_b;
	int rc = -1;

	if (!mem)
		return err_nomem(e, "to merge a sweep");
	if (res_get_workload(from, s->workload_id, mem, &w, e) < 0 || res_get_points(from, s, mem, &b, &n_b, e) < 0)
		goto out;
	m->points += n_b;
	/* The file's own points first: before anything is written for them. */
	if ((!mixed && check_builds(into, 0, from, b, n_b, mem, e) < 0) ||
	    res_put_sweep(into, &w, s, "", true, &there.id, e) < 0 ||
	    (!mixed && check_builds(into, there.id, from, b, n_b, mem, e) < 0) ||
	    res_merge_choose(into, there.id, from, b, &n_b, mem, e) < 0 ||
	    (n_b && res_put_points(into, there.id, b, n_b, s->n_axes, e) < 0))
		goto out;
	m->points_new += n_b;
	rc = 0;
out:
	arena_free(mem);
	return rc;
}

static int merge_run(struct resdb *into, struct resdb *from, int64_t id, struct res_merged *m, struct err *e)
{
	struct arena *mem = arena_new(0);
	struct res_stored s;
	bool again = true;
	int rc = -1;

	if (!mem)
		return err_nomem(e, "to merge a run");
	if (res_get(from, id, mem, &s, e) == 0)
		rc = res_put_run(into, &s.workload, &s.run, &id, &again, e);
	if (rc == 0 && s.run.limits.n)
		rc = res_put_limits(into, id, &s.run.limits, e);
	m->runs_new += !again;
	arena_free(mem);
	return rc;
}

int res_merge(struct resdb *into, struct resdb *from, bool mixed, struct res_merged *m, struct err *e)
{
	struct arena *mem = arena_new(0);
	struct res_sweep *sweeps;
	struct res_stored *runs;
	size_t n_sweeps, n_runs;
	int rc = -1;

	if (!mem)
		return err_nomem(e, "to merge");
	if (res_list_sweeps(from, mem, &sweeps, &n_sweeps, e) < 0 || res_list(from, mem, &runs, &n_runs, e) < 0)
		goto out;
	for (size_t i = 0; i < n_sweeps; i++)
		if (merge_sweep(into, from, &sweeps[i], mixed, m, e) < 0)
			goto out;
	for (size_t i = 0; i < n_runs; i++)
		if (merge_run(into, from, runs[i].run.id, m, e) < 0)
			goto out;
	m->sweeps += n_sweeps;
	m->runs += n_runs;
	rc = 0;
out:
	arena_free(mem);
	return rc;
}
