/* sweep_announce.c - what a sweep is going to run, and about how long that takes. */
#include "sim/cli/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/ui/progress.h"

/* What one point costs here, by running one that can be built; in a process of its own, as all are: it may die of it. */
static double seconds_a_point(const struct sweep *s, const struct sweep_job *job)
{
	const uint64_t began = progress_now_ns();
	struct res_point p;
	size_t i = 0;
	pid_t pid;

	while (i + 1 < s->n_points && s->refused[i])
		i++;
	if ((pid = fork()) == 0) {
		struct arena *a = arena_new(0);

		if (a)
			sweep_point(s, job, i, a, &p);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return (double)(progress_now_ns() - began) / 1e9;
}

/* How long it will take, where no progress line says so: beside its figure another would only differ. */
static void foretell(const struct sweep *s, const struct sweep_job *job, size_t to_run)
{
	const double each = seconds_a_point(s, job);
	const unsigned workers = job->jobs < to_run ? job->jobs : (unsigned)to_run;

	fprintf(stderr, ", about %.3g s on %u worker%s (%.0f ms a point)", each * (double)to_run / workers, workers,
	        workers == 1 ? "" : "s", each * 1e3);
}

static size_t points_of_shard(const struct sweep *s, const struct sweep_job *job)
{
	size_t n = 0;

	for (size_t p = 0; p < s->n_points; p++)
		n += p % job->shards == job->shard - 1 && !s->refused[p];
	return n;
}

void sweep_announce(const struct sweep *s, const struct sweep_job *job, bool dry)
{
	const size_t to_run = s->sample == SWEEP_GUIDED ? (size_t)s->sample_n : points_of_shard(s, job);

	if (s->sample == SWEEP_GUIDED)
		fprintf(stderr, "npusim: a search of %" PRIu64 " points, %zu at a time", s->sample_n, s->generation);
	else
		fprintf(stderr, "npusim: %zu points", s->n_points);
	for (size_t d = 0; s->sample == SWEEP_GRID && d < s->n_dims && s->n_dims > 1; d++)
		for (size_t i = 0; i < s->n_axes; i++)
			if (s->axes[i].dim == d) {
				fprintf(stderr, "%s%zu", d ? " x " : " (", s->axes[i].n);
				break;
			}
	fprintf(stderr, "%s", s->sample == SWEEP_GRID && s->n_dims > 1 ? ")" : "");
	if (s->n_dropped)
		fprintf(stderr, ", %zu left out by 'where'", s->n_dropped);
	if (s->n_refused)
		fprintf(stderr, ", %zu that cannot be built", s->n_refused);
	if (job->shards > 1)
		fprintf(stderr, ", shard %" PRIu64 " of %" PRIu64, job->shard, job->shards);
	if (to_run)
		fprintf(stderr, "; %zu to run", to_run);
	if (to_run && (dry || !progress_shown()))
		foretell(s, job, to_run);
	fprintf(stderr, "\n");
}
