/* sweep_run.c - workers that simulate, one process that stores. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/version.h"
#include "sim/engine/run_memo.h"
#include "sim/sweep/sweep_int.h"

#define JOBS_MAX  512
#define FRAME_MAX (UINT64_C(64) << 20)
#define BATCH     256 /* rows a transaction, where many come at once */

/* --- one point --------------------------------------------------------------------------------------------- */

static int add_kinds(const struct run_result *x, struct arena *a, struct res_point *out, struct err *e)
{
	struct res_kind *kinds = arena_array(a, OP_KINDS, sizeof *kinds),
			sums[OP_KINDS] = { { NULL, 0, 0, 0, 0, 0, 0 } };

	if (!kinds)
		return sweep_no_memory(e);
	for (size_t i = 0; i < x->stream->n_ops; i++) {
		struct res_kind *k = &sums[x->stream->ops[i].kind];
		const struct run_op *o = &x->ops[i];

		k->ops++;
		k->span_ps += o->span_ps;
		k->limit_ps += o->limit_ps;
		k->dram_bytes += o->dram_bytes;
		k->mem_bytes += o->mem_bytes;
		k->flops += o->flops;
	}
	for (int k = 0; k < OP_KINDS; k++)
		if (sums[k].ops) {
			kinds[out->n_kinds] = sums[k];
			kinds[out->n_kinds++].kind = op_kind_name((enum op_kind)k);
		}
	out->kinds = kinds;
	return 0;
}

static int add_sums(const struct run_result *x, struct arena *a, struct res_point *out, struct err *e)
{
	struct res_resource *res = arena_array(a, RES_COUNT, sizeof *res);
	struct res_stat *stats = arena_array(a, x->n_stats ? x->n_stats : 1, sizeof *stats);

	if (!res || !stats)
		return sweep_no_memory(e);
	for (int k = 0; k < RES_COUNT; k++)
		if (x->stall_ps[k] || x->peak_ps[k])
			res[out->n_resources++] =
				(struct res_resource){ res_name((enum res)k), x->stall_ps[k], x->peak_ps[k] };
	for (size_t i = 0; i < x->n_stats; i++)
		stats[out->n_stats++] =
			(struct res_stat){ x->stats[i].name, x->stats[i].unit, x->stats[i].value, x->stats[i].level };
	out->resources = res;
	out->stats = stats;
	return 0;
}

/* Where axes are the model's, a stream of the point's own. */
static int stream_of(const struct sweep *s, const struct sweep_job *job, const char *const *sets, struct arena *a,
                     const struct op_stream **stream, struct err *e)
{
	struct op_stream *own;
	struct sweep_model m = s->model_own;

	*stream = job->stream;
	if (!sweep_model_varies(s))
		return 0;
	if (!(own = arena_alloc(a, sizeof *own)))
		return sweep_no_memory(e);
	*stream = own;
	return sweep_model_of(s, sets, &m, e) < 0 ? -1 : job->build(job->build_arg, &m, a, own, e);
}

static int simulate(const struct sweep *s, const struct sweep_job *job, size_t point, struct arena *a,
                    struct res_point *out, struct err *e)
{
	const char **sets = arena_array(a, s->n_axes, sizeof *sets);
	const struct op_stream *stream;
	struct run_opts how = job->how;
	struct run_result x;
	struct machine_conf *c;
	int rc = -1;

	if (!sets)
		return sweep_no_memory(e);
	sweep_sets(s, point, sets);
	if (stream_of(s, job, sets, a, &stream, e) < 0 || !(c = sweep_conf(s, sets, e)))
		return -1;
	if (stream != job->stream)
		how.memo = NULL; /* it keeps what it knows of one stream */
	if (run_stream(stream, c, &how, a, &x, e) == 0) {
		out->figures = x.figures;
		out->roofline_bound = res_name(x.roofline_bound);
		rc = add_kinds(&x, a, out, e) < 0 ? -1 : add_sums(&x, a, out, e);
	}
	machine_conf_free(c);
	return rc;
}

static struct res_point failed_point(const struct sweep *s, size_t point, const char *reason)
{
	return (struct res_point){ .point = point, .config_hash = s->hashes[point], .failed = true, .reason = reason };
}

void sweep_point(const struct sweep *s, const struct sweep_job *job, size_t point, struct arena *a,
                 struct res_point *out)
{
	struct err e = ERR_INIT;

	*out = (struct res_point){ .point = point, .config_hash = s->hashes[point] };
	if (s->refused[point])
		*out = failed_point(s, point, s->refused[point]);
	else if (simulate(s, job, point, a, out, &e) < 0)
		*out = failed_point(s, point, arena_strdup(a, e.kind ? e.msg : "out of memory"));
}

/* --- a worker ---------------------------------------------------------------------------------------------- */

static bool read_all(int fd, void *to, size_t n)
{
	while (n) {
		ssize_t k = recv(fd, to, n, 0);

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
		ssize_t k = send(fd, from, n, MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		from = (const char *)from + k;
		n -= (size_t)k;
	}
	return true;
}

/* Ends when the parent does: its socket is closed then, in whatever way it went. */
static _Noreturn void work(int fd, const struct sweep *s, const struct sweep_job *job)
{
	struct str bytes = STR_INIT;
	struct err none = ERR_INIT;
	struct sweep_job mine = *job;
	uint64_t point, n;

	mine.how.memo = run_memo_new(&none); /* without it every point is one by itself */
	while (read_all(fd, &point, sizeof point)) {
		struct arena *a = arena_new(0);
		struct res_point p = failed_point(s, (size_t)point, "out of memory");

		if (a)
			sweep_point(s, &mine, (size_t)point, a, &p);
		str_clear(&bytes);
		sweep_pack(&p, &bytes);
		n = bytes.len;
		arena_free(a);
		if (bytes.failed || !write_all(fd, &n, sizeof n) || !write_all(fd, bytes.p, bytes.len))
			break;
	}
	_exit(0); /* what the parent has buffered and registered is the parent's */
}

struct worker {
	pid_t pid;
	int fd;
	bool busy, again; /* again: another process died over its point */
	uint64_t point;
};

struct crew {
	const struct sweep *s;
	const struct sweep_job *job;
	struct worker w[JOBS_MAX];
	unsigned n;
	size_t *todo, n_todo, next; /* points to run, in order; the first not handed out */
};

static int hire(struct crew *c, struct worker *w, struct err *e)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return err_sys(e, ERR_IO, errno, "cannot make a worker");
	if ((w->pid = fork()) < 0) {
		close(fds[0]);
		close(fds[1]);
		return err_sys(e, ERR_IO, errno, "cannot make a worker");
	}
	if (w->pid == 0) {
		/* A worker that held another's socket would keep it alive after the parent's end. */
		for (unsigned i = 0; i < c->n; i++)
			if (c->w[i].fd >= 0)
				close(c->w[i].fd);
		close(fds[0]);
		work(fds[1], c->s, c->job);
	}
	close(fds[1]);
	w->fd = fds[0];
	w->busy = false;
	return 0;
}

/* Closing the socket ends an idle worker; one that is at work when the sweep fails is not waited for. */
static int let_go(struct worker *w, bool now)
{
	int status = 0;

	if (w->fd < 0)
		return 0;
	close(w->fd);
	w->fd = -1;
	if (now)
		kill(w->pid, SIGKILL);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

/* One that died without work is replaced once: the next point tells why, if there is a reason. */
static int give(struct crew *c, struct worker *w, struct err *e)
{
	if (!write_all(w->fd, &w->point, sizeof w->point)) {
		let_go(w, true);
		if (hire(c, w, e) < 0)
			return -1;
		if (!write_all(w->fd, &w->point, sizeof w->point))
			return err_set(e, ERR_IO, "a worker ends as soon as it is made");
	}
	w->busy = true;
	return 0;
}

static int hand_out(struct crew *c, struct worker *w, struct err *e)
{
	if (w->busy || c->next == c->n_todo)
		return 0;
	w->point = c->todo[c->next];
	w->again = false;
	if (give(c, w, e) < 0)
		return -1;
	c->next++;
	return 0;
}

/* The row of the point a worker was at: 0. When it died over it, another gets the point once more: 1, there is no row yet.
 * When that one died too, the row says so. */
static int take_row(struct crew *c, struct worker *w, struct arena *a, struct res_point *out, struct err *e)
{
	uint64_t n;
	char *bytes;
	int status;

	if (read_all(w->fd, &n, sizeof n) && n <= FRAME_MAX) {
		if (!(bytes = arena_alloc(a, (size_t)n)))
			return sweep_no_memory(e);
		if (read_all(w->fd, bytes, (size_t)n) && sweep_unpack(bytes, (size_t)n, a, out) == 0 &&
		    out->point == w->point) {
			w->busy = false;
			return 0;
		}
	}
	status = let_go(w, true);
	if (hire(c, w, e) < 0)
		return -1;
	if (!w->again) {
		w->again = true;
		return give(c, w, e) < 0 ? -1 : 1;
	}
	*out = failed_point(c->s, (size_t)w->point,
	                    arena_printf(a, RES_DIED " twice: %s",
	                                 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended early"));
	return out->reason ? 0 : sweep_no_memory(e);
}

/* --- the writer -------------------------------------------------------------------------------------------- */

static int add_values(const struct sweep *s, struct res_point *p, struct arena *a, struct err *e)
{
	struct res_value *v = arena_array(a, s->n_axes, sizeof *v);

	if (!v)
		return sweep_no_memory(e);
	for (size_t i = 0; i < s->n_axes; i++)
		v[i] = s->axes[i].values[s->index[p->point * s->n_axes + i]];
	p->values = v;
	p->build = npusim_build_id();
	return 0;
}

/* Waits for rows, stores all that came as one transaction. */
static int collect(struct crew *c, struct resdb *db, int64_t id, struct arena *a, size_t *done, struct err *e)
{
	struct pollfd fds[JOBS_MAX];
	struct res_point rows[JOBS_MAX];
	size_t n = 0;

	for (unsigned i = 0; i < c->n; i++)
		fds[i] = (struct pollfd){ c->w[i].busy ? c->w[i].fd : -1, POLLIN, 0 };
	while (poll(fds, c->n, -1) < 0)
		if (errno != EINTR)
			return err_sys(e, ERR_IO, errno, "cannot wait for the workers");
	for (unsigned i = 0; i < c->n; i++) {
		int rc;

		if (!fds[i].revents)
			continue;
		if ((rc = take_row(c, &c->w[i], a, &rows[n], e)) == 1)
			continue;
		/* It gets its next point first, to simulate while the rows are written. */
		if (rc < 0 || add_values(c->s, &rows[n++], a, e) < 0 || hand_out(c, &c->w[i], e) < 0)
			return -1;
	}
	for (size_t i = 0; c->job->row && i < n; i++)
		c->job->row(c->job->row_arg, &rows[i]);
	if (n && res_put_points(db, id, rows, n, c->s->n_axes, e) < 0)
		return -1;
	*done += n;
	return 0;
}

static int run_all(struct crew *c, struct resdb *db, struct sweep_done *d, struct err *e)
{
	const struct sweep_job *job = c->job;
	struct arena *a = arena_new(0);
	int rc = a ? 0 : sweep_no_memory(e);

	/* A worker is forked before the next one, so hiring stops where the system does, and the rest do the work. */
	for (unsigned want = job->jobs < c->n_todo ? job->jobs : (unsigned)c->n_todo; rc == 0 && c->n < want; c->n++) {
		struct err why = ERR_INIT;

		if (hire(c, &c->w[c->n], &why) < 0) {
			if (c->n)
				break;
			*e = why;
			rc = -1;
			break;
		}
	}
	if (rc == 0 && c->n_todo && job->progress)
		job->progress(job->arg, 0, c->n_todo);
	while (rc == 0 && d->ran < c->n_todo) {
		for (unsigned i = 0; rc == 0 && i < c->n; i++)
			rc = hand_out(c, &c->w[i], e);
		arena_reset(a);
		rc = rc < 0 ? rc : collect(c, db, d->id, a, &d->ran, e);
		if (rc == 0 && job->progress)
			job->progress(job->arg, d->ran, c->n_todo);
	}
	for (unsigned i = 0; i < c->n; i++)
		let_go(&c->w[i], rc < 0);
	arena_free(a);
	return rc;
}

/* Points that cannot be built need no worker: their rows are written first. */
static int put_refused(struct crew *c, struct resdb *db, struct sweep_done *d, struct err *e)
{
	struct arena *a = arena_new(0);
	struct res_point *rows = a ? arena_array(a, BATCH, sizeof *rows) : NULL;
	size_t kept = 0, n = 0;
	int rc = rows ? 0 : sweep_no_memory(e);

	for (size_t i = 0; rc == 0 && i < c->n_todo; i++) {
		const size_t p = c->todo[i];

		if (!c->s->refused[p]) {
			c->todo[kept++] = p;
			continue;
		}
		rows[n] = failed_point(c->s, p, c->s->refused[p]);
		rc = add_values(c->s, &rows[n++], a, e);
		if (rc == 0 && n == BATCH) {
			rc = res_put_points(db, d->id, rows, n, c->s->n_axes, e);
			d->there += n;
			n = 0;
		}
	}
	if (rc == 0 && n)
		rc = res_put_points(db, d->id, rows, n, c->s->n_axes, e);
	d->there += n;
	c->n_todo = kept;
	arena_free(a);
	return rc;
}

/* Points that an earlier sweep of the file has, one with a coarser grid say, are copied from there. */
static int adopt(struct crew *c, struct resdb *db, struct sweep_done *d, struct err *e)
{
	struct arena *a = arena_new(0);
	struct res_point *rows = a ? arena_array(a, BATCH, sizeof *rows) : NULL;
	bool taken[BATCH];
	size_t kept = 0;
	int rc = rows ? 0 : sweep_no_memory(e);

	for (size_t i = 0; rc == 0 && i < c->n_todo; i += BATCH) {
		const size_t n = c->n_todo - i < BATCH ? c->n_todo - i : BATCH;

		for (size_t k = 0; rc == 0 && k < n; k++) {
			rows[k] = (struct res_point){ .point = c->todo[i + k],
				                      .config_hash = c->s->hashes[c->todo[i + k]] };
			rc = add_values(c->s, &rows[k], a, e);
		}
		if (rc == 0)
			rc = res_adopt_points(db, d->id, rows, n, c->s->n_axes, taken, e);
		for (size_t k = 0; rc == 0 && k < n; k++) {
			if (taken[k])
				d->there++;
			else
				c->todo[kept++] = c->todo[i + k];
		}
	}
	if (rc == 0)
		c->n_todo = kept;
	arena_free(a);
	return rc;
}

/* What sweep_number counts in. */
static const char *unit_of(enum cfg_type t)
{
	switch (t) {
	case CFG_T_FREQ:
		return "Hz";
	case CFG_T_ENERGY:
		return "pJ";
	case CFG_T_POWER:
		return "W";
	case CFG_T_PPM:
		return "";
	default:
		return cfg_unit(t);
	}
}

static int put_sweep(const struct sweep *s, const struct sweep_job *job, struct resdb *db, struct res_sweep *head,
                     struct err *e)
{
	const bool guided = s->sample == SWEEP_GUIDED;
	struct res_axis *axes = calloc(s->n_axes, sizeof *axes);
	int rc;

	if (!axes)
		return sweep_no_memory(e);
	for (size_t i = 0; i < s->n_axes; i++)
		axes[i] = (struct res_axis){ s->axes[i].key, unit_of(s->axes[i].field->type) };
	*head = (struct res_sweep){ .name = s->path,
		                    .text = s->text,
		                    .base_path = s->base,
		                    .base_text = s->base_text,
		                    .start = s->start,
		                    .fidelity = s->fidelity,
		                    .seed = job->how.seed,
		                    .configs_hash = sweep_hash(s),
		                    .reuse_ppm = job->reuse_ppm,
		                    .n_points = guided ? (size_t)s->sample_n : s->n_points,
		                    .n_axes = s->n_axes,
		                    .axes = axes };
	rc = res_put_sweep(db, job->workload, head, npusim_build_id(), job->mixed, &head->id, e);
	free(axes);
	head->axes = NULL;
	return rc;
}

int sweep_run(const struct sweep *s, const struct sweep_job *job, struct resdb *db, struct sweep_done *d, struct err *e)
{
	uint8_t *status = calloc((s->sample == SWEEP_GUIDED ? (size_t)s->sample_n : s->n_points) + 1, 1);
	struct crew *c = calloc(1, sizeof *c);
	struct res_sweep head;
	int rc = -1;

	memset(d, 0, sizeof *d);
	if (!c || !status || !(c->todo = calloc(s->n_points ? s->n_points : 1, sizeof *c->todo))) {
		sweep_no_memory(e);
		goto out;
	}
	c->s = s;
	c->job = job;
	if (put_sweep(s, job, db, &head, e) < 0 || res_get_status(db, &head, status, e) < 0)
		goto out;
	d->id = head.id;
	for (size_t p = 0; p < s->n_points; p++) {
		if (p % job->shards != job->shard - 1 || (job->only && !job->only[p]))
			continue;
		d->mine++;
		if (status[p] == 0 || status[p] == 3 || (status[p] == 2 && job->retry && !s->refused[p]))
			c->todo[c->n_todo++] = p;
	}
	d->there = d->mine - c->n_todo;
	if (put_refused(c, db, d, e) == 0 && adopt(c, db, d, e) == 0)
		rc = run_all(c, db, d, e);
out:
	if (c)
		free(c->todo);
	free(c);
	free(status);
	return rc;
}
