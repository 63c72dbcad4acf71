/* sweep_announce.c - what a sweep is going to run, and about how long that takes. */
#include "sim/cli/sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/ui/progress.h"

#define PLACES  6 /* spread over all, with so many points each, one behind the other: */
#define BEHIND  4
#define LONGEST 2.0 /* seconds: no place is begun behind that */

/* What the first point costs, and one behind another, whose mapping is known in part. */
struct each {
	double first, next;
};

static double point_seconds(const struct sweep *s, const struct sweep_job *job, size_t point)
{
	const uint64_t began = progress_now_ns();
	struct arena *a = arena_new(0);
	struct res_point p;

	if (a)
		sweep_point(s, job, point, a, &p);
	arena_free(a);
	return (double)(progress_now_ns() - began) / 1e9;
}

static void sample(const struct sweep *s, const struct sweep_job *job, const size_t *todo, size_t n, struct each *out)
{
	struct run_memo **memos = sweep_memos(job);
	struct sweep_job mine = *job;
	double spent, sum = 0;
	int ran = 0;

	mine.memos = memos;
	mine.how.memo = memos ? memos[0] : NULL;
	spent = out->first = out->next = point_seconds(s, &mine, todo ? todo[0] : 0);
	for (size_t k = 0; todo && k < PLACES && spent < LONGEST; k++)
		for (size_t at = k * n / PLACES + 1; at <= k * n / PLACES + BEHIND && at < n; at++) {
			const double took = point_seconds(s, &mine, todo[at]);

			/* At the first place nothing is known yet, as of few points there are. */
			sum = k == 1 && at == n / PLACES + 1 ? took : sum + took;
			ran = k == 1 && at == n / PLACES + 1 ? 1 : ran + 1;
			spent += took;
		}
	if (ran)
		out->next = sum / ran;
	sweep_memos_free(&mine, memos);
}

/* By running a few, in a process of their own, as all are: it may die of them. */
static struct each seconds_each(const struct sweep *s, const struct sweep_job *job, const size_t *todo, size_t n)
{
	struct each x = { 0, 0 };
	int ends[2];
	pid_t pid;

	if (pipe(ends) < 0)
		return x;
	if ((pid = fork()) == 0) {
		sample(s, job, todo, n, &x);
		_exit(write(ends[1], &x, sizeof x) != sizeof x);
	}
	close(ends[1]);
	if (pid > 0 && read(ends[0], &x, sizeof x) != sizeof x)
		x = (struct each){ 0, 0 };
	close(ends[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return x;
}

/* How long it will take, where no progress line says so: beside its figure another would only differ. */
static void foretell(const struct sweep *s, const struct sweep_job *job, const size_t *todo, size_t n)
{
	const struct each x = seconds_each(s, job, todo, n);
	const unsigned workers = job->jobs < n ? job->jobs : (unsigned)n;
	const double all = x.first + x.next * ((double)n / workers - 1);

	fprintf(stderr, ", about %.3g s on %u worker%s (%.0f ms a point)", all, workers, workers == 1 ? "" : "s",
	        all * workers / (double)n * 1e3);
}

int sweep_announce_all(const struct sweep *s, const struct sweep_job *job, struct err *e)
{
	size_t *todo = calloc(s->n_points + 1, sizeof *todo), n = 0;

	if (!todo)
		return err_nomem(e, "for a sweep");
	for (size_t p = 0; p < s->n_points; p++)
		if (p % job->shards == job->shard - 1 && !s->refused[p])
			todo[n++] = p;
	sweep_announce(s, job, todo, n, true);
	free(todo);
	return 0;
}

void sweep_announce(const struct sweep *s, const struct sweep_job *job, const size_t *todo, size_t n, bool dry)
{
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
	if (n)
		fprintf(stderr, "; %zu to run", n);
	if (n && (dry || !progress_shown()))
		foretell(s, job, todo, n);
	fprintf(stderr, "\n");
}
