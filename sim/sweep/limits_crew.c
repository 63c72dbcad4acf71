/* limits_crew.c - runs rows side by side: worker w has every Nth row from its own, and sends what it saw through one pipe. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/record.h"
#include "sim/engine/run_memo.h"
#include "sim/sweep/limits_int.h"

/* A write of that size is whole or not at all, so records of several workers do not mix. */
_Static_assert(sizeof(struct limits_seen) <= 4096, "larger than PIPE_BUF of Linux");

#define UNSEEN UINT32_MAX

static void simulate(const struct limits_job *job, const struct machine_conf *c, struct run_memo *memo,
                     struct limits_seen *seen, struct err *e)
{
	struct arena *a = arena_new(0);
	struct run_opts how = job->q->run;
	struct run_result x;

	how.fidelity = job->fidelity;
	how.memo = memo;
	if (!a) {
		err_nomem(e, NULL);
	} else if (run_stream(job->q->stream, c, &how, a, &x, e) == 0) {
		seen->total_ps = x.total_ps;
		seen->bound = (uint32_t)x.roofline_bound;
		seen->dram_bytes = x.dram_read_bytes + x.dram_write_bytes;
		seen->energy_fj = x.energy_fj;
		seen->area_nm2 = x.area_nm2;
		memcpy(seen->stall_ps, x.stall_ps, sizeof seen->stall_ps);
	}
	arena_free(a);
}

int limits_crew_one(const struct limits_job *job, const char *const *sets, size_t n_sets, struct run_memo *memo,
                    struct limits_seen *seen)
{
	struct err e = ERR_INIT;
	struct machine_conf *c = machine_base_conf(job->machines, sets, (int)n_sets, &e);

	memset(seen, 0, sizeof *seen);
	if (c)
		simulate(job, c, memo, seen, &e);
	machine_conf_free(c);
	seen->kind = (uint32_t)e.kind;
	snprintf(seen->why, sizeof seen->why, "%.639s", e.msg);
	return e.kind ? -1 : 0;
}

/* What the parent has buffered and registered is the parent's; without a reader the signal of the pipe ends it. */
static _Noreturn void work(const struct limits_job *job, const struct limits_row *const *rows, size_t n, size_t first,
                           size_t stride, int fd)
{
	struct err none = ERR_INIT;
	struct run_memo *memo = run_memo_new(&none); /* without it every row is one by itself */
	struct limits_seen seen;

	for (size_t i = first; i < n; i += stride) {
		limits_crew_one(job, rows[i]->sets, rows[i]->n_sets, memo, &seen);
		seen.row = i;
		if (!record_send(fd, &seen, sizeof seen))
			break;
	}
	_exit(0);
}

static void tell(const struct limits_job *job, size_t done)
{
	if (job->q->progress)
		job->q->progress(job->q->arg, job->done + done, job->of);
}

static void here(const struct limits_job *job, const struct limits_row *const *rows, size_t n, struct limits_seen *seen)
{
	struct err none = ERR_INIT;
	struct run_memo *memo = run_memo_new(&none);

	for (size_t i = 0; i < n; i++) {
		limits_crew_one(job, rows[i]->sets, rows[i]->n_sets, memo, &seen[i]);
		tell(job, i + 1);
	}
	run_memo_free(memo);
}

static int forked(const struct limits_job *job, const struct limits_row *const *rows, size_t n, size_t jobs,
                  struct limits_seen *seen, struct err *e)
{
	struct limits_seen one;
	pid_t pids[LIMITS_JOBS];
	size_t hired = 0, done = 0;
	int fds[2];

	if (pipe(fds) < 0)
		return err_sys(e, ERR_IO, errno, "cannot make workers");
	for (; hired < jobs && (pids[hired] = fork()) >= 0; hired++)
		if (pids[hired] == 0) {
			close(fds[0]);
			work(job, rows, n, hired, jobs, fds[1]);
		}
	close(fds[1]);
	while (record_receive(fds[0], &one, sizeof one))
		if (one.row < n) {
			seen[one.row] = one;
			tell(job, ++done);
		}
	close(fds[0]);
	for (size_t i = 0; i < hired; i++)
		while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
			continue;
	return 0;
}

/* Rows of workers that could not be made, or that died (out of memory, killed), are run here: whatever it was, it then
 * happens to the command itself. */
static void rest(const struct limits_job *job, const struct limits_row *const *rows, size_t n, struct limits_seen *seen)
{
	for (size_t i = 0; i < n; i++)
		if (seen[i].kind == UNSEEN)
			limits_crew_one(job, rows[i]->sets, rows[i]->n_sets, NULL, &seen[i]);
}

int limits_crew_run(const struct limits_job *job, const struct limits_row *const *rows, size_t n,
                    struct limits_seen *seen, struct err *e)
{
	const size_t jobs = job->q->jobs < n ? job->q->jobs : n;

	for (size_t i = 0; i < n; i++)
		seen[i].kind = UNSEEN;
	if (jobs <= 1)
		here(job, rows, n, seen);
	else if (forked(job, rows, n, jobs < LIMITS_JOBS ? jobs : LIMITS_JOBS, seen, e) < 0)
		return -1;
	rest(job, rows, n, seen);
	for (size_t i = 0; i < n; i++)
		if (seen[i].kind && seen[i].kind != ERR_CONFIG && seen[i].kind != ERR_STUCK)
			return err_set(e, (enum err_kind)seen[i].kind, "%s, with '%s'", seen[i].why,
			               rows[i]->n_sets ? rows[i]->sets[0] : "nothing changed");
	return 0;
}
