#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "sim/cli/run_stages.h"

#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

int run_stages_check(const char *list, const struct workload_spec *all, struct err *e)
{
	struct arena *a = arena_new(0);
	struct request r;
	const int rc = a ? request_parse(list, all, a, &r, e) : err_nomem(e, "for a request");

	arena_free(a);
	return rc;
}

/* The results file is opened before the time is spent. */
static int run_stages_answer(const struct run_stages *q, const struct staged_job *j, struct arena *a, struct staged *x,
                             struct str *out, struct err *e)
{
	const struct staged_view v = { j, q->whole, q->results };
	struct resdb *db = q->results ? res_open(q->results, DB_WRITE, e) : NULL;
	struct err not_stored = ERR_INIT;
	const uint64_t began = now_ns();
	struct doc d;

	if (q->results && !db)
		return -1;
	if (staged_run(j, a, x, e) < 0) {
		res_free(db);
		return -1;
	}
	if (db)
		res_close(db, staged_store(x, db, now_ns() - began, a, &not_stored), &not_stored);
	cmd_doc(&d, q->format, out);
	staged_doc(&d, x, &v); /* also when it could not be stored: the time was spent */
	if (!not_stored.kind)
		return 0;
	*e = not_stored;
	return -1;
}

int run_stages(const struct run_stages *q, struct str *out, struct err *e)
{
	struct machine_base *machines = machine_base_load(q->config, q->sets->v, q->sets->n, e);
	struct machine_conf *conf = machines ? machine_base_conf(machines, NULL, 0, e) : NULL;
	const struct staged_job j = {
		machines, conf, q->config, q->how, cmd_workload_read, q->allow_opaque, q->opaque
	};
	struct arena *a = conf ? arena_new(0) : NULL;
	struct staged *x = a ? arena_alloc(a, sizeof *x) : NULL;
	int rc = -1;

	if (conf && !x)
		err_nomem(e, "for a request");
	if (x) {
		*x = (struct staged){ .tokens = 0 };
		if (request_parse(q->list, q->all, a, &x->request, e) == 0)
			rc = run_stages_answer(q, &j, a, x, out, e);
		staged_free(x);
	}
	arena_free(a);
	machine_conf_free(conf);
	machine_base_free(machines);
	return rc;
}
