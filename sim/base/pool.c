#define _POSIX_C_SOURCE 200809L
#include "sim/base/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define STOP_MS   100        /* how often a caller is asked whether it wants the rest */
#define TOO_LARGE UINT64_MAX /* in place of a frame's length: it has more bytes than a frame may */

struct head {
	uint64_t job, n; /* which; bytes that follow */
};

struct worker {
	pid_t pid;
	int fd;           /* -1: there is no such worker */
	bool busy, again; /* again: another died over its job */
	size_t job;
	unsigned did;
};

/* A result that waits for those before it. */
struct kept {
	char *bytes;
	struct pool_result r;
	bool here;
};

struct pool {
	struct pool_how how;
	struct worker *w;
	struct pollfd *fds;
	unsigned n;        /* workers there are, or were and are replaced when needed */
	struct str job;    /* as bytes */
	struct str result; /* without workers */
	char *frame;       /* of a result that came, with a byte more for its end */
	size_t cap;
	void *state; /* without workers */
	bool started;
};

struct run;

struct pool_backend {
	int (*run)(struct run *r, struct err *e); /* a batch */
	void (*dismiss)(struct pool *p);          /* all workers */
};

/* --- a worker ---------------------------------------------------------------------------------------------- */

static bool pool_read_all(int fd, void *to, size_t n)
{
	while (n) {
		const ssize_t k = recv(fd, to, n, 0);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		to = (char *)to + k;
		n -= (size_t)k;
	}
	return true;
}

static bool write_all(int fd, const void *from, size_t n)
{
	while (n) {
		const ssize_t k = send(fd, from, n, MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		from = (const char *)from + k;
		n -= (size_t)k;
	}
	return true;
}

static bool send_frame(int fd, uint64_t job, const struct str *bytes, size_t max)
{
	const struct head h = { job, bytes->len <= max ? bytes->len : TOO_LARGE };

	return write_all(fd, &h, sizeof h) && (h.n == TOO_LARGE || write_all(fd, bytes->p, bytes->len));
}

/* An idle worker ends when its socket does. One at work would outlive a caller that was killed. */
static void go_with(pid_t parent)
{
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent)
		_exit(0);
}

/* Without memory for a job or a result it ends as one that dies. */
static _Noreturn void work(const struct pool_how *how, int fd)
{
	void *state = how->start ? how->start(how->arg) : NULL;
	struct str result = STR_INIT;
	struct head h;

	while (pool_read_all(fd, &h, sizeof h) && h.n <= how->frame_max) {
		char *job = malloc((size_t)h.n + 1);

		if (!job || !pool_read_all(fd, job, (size_t)h.n))
			break;
		job[h.n] = '\0';
		str_clear(&result);
		how->work(how->arg, state, job, (size_t)h.n, &result);
		free(job);
		if (result.failed || !send_frame(fd, h.job, &result, how->frame_max))
			break;
	}
	_exit(0);
}

/* --- workers, from outside --------------------------------------------------------------------------------- */

static int start_worker(struct pool *p, struct worker *w, struct err *e)
{
	const pid_t self = getpid();
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return err_sys(e, ERR_IO, errno, "cannot make a worker");
	if (fcntl(fds[0], F_SETFD, FD_CLOEXEC) < 0 || fcntl(fds[1], F_SETFD, FD_CLOEXEC) < 0 || (w->pid = fork()) < 0) {
		const int why = errno;

		close(fds[0]);
		close(fds[1]);
		return err_sys(e, ERR_IO, why, "cannot make a worker");
	}
	if (w->pid == 0) {
		/* A worker that held another's socket would keep it alive after the caller's end. */
		for (unsigned i = 0; i < p->n; i++)
			if (p->w[i].fd >= 0)
				close(p->w[i].fd);
		close(fds[0]);
		go_with(self);
		work(&p->how, fds[1]);
	}
	close(fds[1]);
	w->fd = fds[0];
	w->busy = false;
	w->did = 0;
	return 0;
}

/* An idle worker ends with its socket, which workers of another pool may hold, too: so it is shut before it is closed. One
 * that is at work is not waited for. */
static int stop_worker(struct worker *w, bool now)
{
	int status = 0;

	if (w->fd < 0)
		return 0;
	shutdown(w->fd, SHUT_RDWR);
	close(w->fd);
	w->fd = -1;
	w->busy = false;
	if (now)
		kill(w->pid, SIGKILL);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

static const char *cause(int status)
{
	return WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended early";
}

static void dismiss(struct pool *p)
{
	for (unsigned i = 0; i < p->n; i++)
		stop_worker(&p->w[i], p->w[i].busy);
}

struct pool *pool_new(const struct pool_how *how, struct err *e)
{
	struct pool *p = calloc(1, sizeof *p);
	const unsigned n = how->workers < POOL_WORKERS ? how->workers : POOL_WORKERS;

	if (p) {
		p->how = *how;
		p->how.workers = n;
		p->w = calloc(n + 1, sizeof *p->w);
		p->fds = calloc(n + 1, sizeof *p->fds);
	}
	if (!p || !p->w || !p->fds) {
		pool_free(p);
		err_nomem(e, "for workers");
		return NULL;
	}
	return p;
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	if (p->n)
		p->how.backend->dismiss(p);
	if (p->started && p->how.end)
		p->how.end(p->how.arg, p->state);
	str_free(&p->job);
	str_free(&p->result);
	free(p->frame);
	free(p->w);
	free(p->fds);
	free(p);
}

bool pool_hired(const struct pool *p)
{
	return p->n > 0;
}

/* --- a batch ----------------------------------------------------------------------------------------------- */

struct run {
	struct pool *p;
	const struct pool_batch *b;
	size_t next, done; /* the first job that is not handed out; results given */
	struct kept *kept; /* where they are to be in order: by job */
	char why[64];
};

static bool stopped(const struct run *r)
{
	return r->b->stop && r->b->stop(r->b->arg);
}

static int job_bytes(struct run *r, size_t i, struct err *e)
{
	struct str *job = &r->p->job;

	str_clear(job);
	r->b->job(r->b->arg, i, job);
	if (job->failed)
		return err_nomem(e, "for a worker's job");
	if (job->len > r->p->how.frame_max)
		return err_set(e, ERR_IO, "a job of %zu bytes for a worker, of %zu at the most", job->len,
		               r->p->how.frame_max);
	return 0;
}

static void too_large(struct run *r, struct pool_result *to)
{
	snprintf(r->why, sizeof r->why, "a result of more than %zu bytes", r->p->how.frame_max);
	*to = (struct pool_result){ .lost = r->why };
}

/* One that died without work is replaced once: the next job tells why, if there is a reason. */
static int pool_give(struct run *r, struct worker *w, struct err *e)
{
	if (job_bytes(r, w->job, e) < 0)
		return -1;
	if (!send_frame(w->fd, w->job, &r->p->job, r->p->how.frame_max)) {
		stop_worker(w, true);
		if (start_worker(r->p, w, e) < 0)
			return -1;
		if (!send_frame(w->fd, w->job, &r->p->job, r->p->how.frame_max))
			return err_set(e, ERR_IO, "a worker ends as soon as it is made");
	}
	w->busy = true;
	return 0;
}

static int hand_out(struct run *r, struct worker *w, struct err *e)
{
	const unsigned each = r->p->how.each;

	if (w->busy || r->next == r->b->n)
		return 0;
	if (each && w->did == each)
		stop_worker(w, false);
	if (w->fd < 0 && start_worker(r->p, w, e) < 0)
		return -1;
	w->job = r->next;
	w->again = false;
	if (pool_give(r, w, e) < 0)
		return -1;
	r->next++;
	return 0;
}

/* Gives it to the caller, or keeps it until those before it are there. */
static int result_of(struct run *r, size_t i, const struct pool_result *x, struct err *e)
{
	struct kept *k = r->kept;
	int rc = 0;

	if (!k || i == r->done) {
		r->done++;
		rc = r->b->result(r->b->arg, i, x, e);
	} else {
		const char *from = x->lost ? x->lost : x->bytes;
		const size_t n = x->lost ? strlen(x->lost) : x->n;

		if (!(k[i].bytes = malloc(n + 1)))
			return err_nomem(e, "for a worker's result");
		memcpy(k[i].bytes, from, n);
		k[i].bytes[n] = '\0';
		k[i].r = (struct pool_result){ .bytes = x->lost ? NULL : k[i].bytes,
			                       .n = x->n,
			                       .lost = x->lost ? k[i].bytes : NULL,
			                       .died = x->died };
		k[i].here = true;
	}
	for (; k && rc == 0 && r->done < r->b->n && k[r->done].here; r->done++) {
		rc = r->b->result(r->b->arg, r->done, &k[r->done].r, e);
		free(k[r->done].bytes);
		k[r->done].bytes = NULL;
	}
	return rc;
}

static int frame_of(struct pool *p, size_t n, struct err *e)
{
	char *grown;

	if (n < p->cap)
		return 0;
	if (!(grown = realloc(p->frame, n + 1)))
		return err_nomem(e, "for a worker's result");
	p->frame = grown;
	p->cap = n + 1;
	return 0;
}

/* What a worker sends. When it died instead, another gets the job once more: there is no result yet. */
static int pool_take(struct run *r, struct worker *w, struct err *e)
{
	struct pool *p = r->p;
	struct pool_result x = { .bytes = NULL };
	struct head h;
	int status;

	if (pool_read_all(w->fd, &h, sizeof h) && h.job == w->job && (h.n <= p->how.frame_max || h.n == TOO_LARGE)) {
		const size_t n = h.n == TOO_LARGE ? 0 : (size_t)h.n;

		if (frame_of(p, n, e) < 0)
			return -1;
		if (pool_read_all(w->fd, p->frame, n)) {
			w->busy = false;
			w->did++;
			p->frame[n] = '\0';
			x.bytes = p->frame;
			x.n = n;
			if (h.n == TOO_LARGE)
				too_large(r, &x);
			return result_of(r, w->job, &x, e);
		}
	}
	status = stop_worker(w, true);
	if (!w->again) {
		w->again = true;
		return start_worker(p, w, e) < 0 ? -1 : pool_give(r, w, e);
	}
	x.lost = cause(status);
	x.died = true;
	return result_of(r, w->job, &x, e);
}

/* Waits for results. What is ready is taken, and its workers get their next jobs, before anything is told. */
static int pool_collect(struct run *r, struct err *e)
{
	struct pool *p = r->p;
	const size_t had = r->done;
	int ready;

	for (unsigned i = 0; i < p->n; i++)
		p->fds[i] = (struct pollfd){ p->w[i].busy ? p->w[i].fd : -1, POLLIN, 0 };
	if ((ready = poll(p->fds, p->n, r->b->stop ? STOP_MS : -1)) < 0)
		return errno == EINTR ? 0 : err_sys(e, ERR_IO, errno, "cannot wait for the workers");
	for (unsigned i = 0; ready && i < p->n; i++)
		if (p->fds[i].revents && (pool_take(r, &p->w[i], e) < 0 || hand_out(r, &p->w[i], e) < 0))
			return -1;
	return r->done > had && r->b->progress ? r->b->progress(r->b->arg, r->done, e) : 0;
}

/* A worker is forked before the next one, so hiring stops where the system does, and the rest do the work. */
static int hire_all(struct pool *p, size_t jobs, struct err *e)
{
	while (p->n < p->how.workers && p->n < jobs) {
		struct err why = ERR_INIT;

		p->w[p->n].fd = -1;
		if (start_worker(p, &p->w[p->n], &why) < 0) {
			if (p->n)
				return 0;
			*e = why;
			return -1;
		}
		p->n++;
	}
	return 0;
}

static int by_workers(struct run *r, struct err *e)
{
	struct pool *p = r->p;
	int rc = hire_all(p, r->b->n, e);

	for (unsigned i = 0; rc == 0 && i < p->n; i++)
		rc = hand_out(r, &p->w[i], e);
	while (rc == 0 && r->done < r->b->n)
		rc = stopped(r) ? 1 : pool_collect(r, e);
	/* A result that comes now would be taken for another batch's. */
	for (unsigned i = 0; i < p->n; i++)
		if (p->w[i].busy)
			stop_worker(&p->w[i], true);
	return rc;
}

const struct pool_backend pool_processes = { by_workers, dismiss };

static int here(struct run *r, struct err *e)
{
	struct pool *p = r->p;

	if (!p->started && p->how.start)
		p->state = p->how.start(p->how.arg);
	p->started = true;
	for (size_t i = 0; i < r->b->n; i++) {
		struct pool_result x;

		if (stopped(r))
			return 1;
		if (job_bytes(r, i, e) < 0)
			return -1;
		str_clear(&p->result);
		p->how.work(p->how.arg, p->state, str_c(&p->job), p->job.len, &p->result);
		x = (struct pool_result){ .bytes = str_c(&p->result), .n = p->result.len };
		if (p->result.failed)
			x = (struct pool_result){ .lost = "out of memory" };
		else if (x.n > p->how.frame_max)
			too_large(r, &x);
		if (result_of(r, i, &x, e) < 0 || (r->b->progress && r->b->progress(r->b->arg, i + 1, e) < 0))
			return -1;
	}
	return 0;
}

int pool_run(struct pool *p, const struct pool_batch *b, struct err *e)
{
	struct run r = { .p = p, .b = b };
	int rc;

	if (b->n == 0)
		return 0;
	if (p->how.workers == 0 || !p->how.backend)
		return here(&r, e);
	if (b->ordered && !(r.kept = calloc(b->n, sizeof *r.kept)))
		return err_nomem(e, "for workers' results");
	rc = p->how.backend->run(&r, e);
	for (size_t i = 0; r.kept && i < b->n; i++)
		free(r.kept[i].bytes);
	free(r.kept);
	return rc;
}
