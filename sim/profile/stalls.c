/* stalls.c - metrics of one launch after the other into shares of its kernel. */
#include "sim/profile/stalls.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/profile/classify.h"

/* Of the metrics that tell the same, the first that a launch has counts. */
static const struct stall_source {
	const char *begin, *end;
} sources[] = {
	{ "smsp__average_warps_issue_stalled_", "_per_issue_active.ratio" },
	{ "smsp__average_warp_latency_issue_stalled_", ".ratio" },
	{ "smsp__pcsamp_warps_issue_stalled_", "" },
};
enum { SOURCES = sizeof sources / sizeof *sources };

/* Nsight Compute documentation, warp stall reasons. */
const char *stall_text(const char *reason)
{
	static const struct {
		const char *reason, *text;
	} known[] = {
		{ "barrier", "at a barrier of the block" },
		{ "branch_resolving", "a branch's target" },
		{ "dispatch_stall", "the dispatcher holds back" },
		{ "drain", "stores drain at the kernel's end" },
		{ "gmma", "asynchronous matrix products" },
		{ "imc_miss", "constants not in the cache" },
		{ "lg_throttle", "too many global accesses under way" },
		{ "long_scoreboard", "data from L2, DRAM or local memory" },
		{ "math_pipe_throttle", "a math pipe is busy" },
		{ "membar", "a memory barrier" },
		{ "mio_throttle", "shared memory's queue is full" },
		{ "misc", "other reasons" },
		{ "no_instructions", "instructions not in the cache" },
		{ "not_selected", "ready, another warp was chosen" },
		{ "selected", "it issued" },
		{ "short_scoreboard", "data from shared memory" },
		{ "sleeping", "it sleeps" },
		{ "tex_throttle", "the texture queue is full" },
		{ "wait", "a fixed latency" },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].reason, reason) == 0)
			return known[i].text;
	return "";
}

struct sum {
	const char *name;
	uint64_t count, ns;
	double weight, part[STALLS_MAX];
};
struct build {
	struct arena *a;
	const char *reasons[STALLS_MAX];
	size_t n_reasons;
	struct sum *v, all;
	size_t n, cap;
	/* the launch that is being read */
	int64_t id, ns;
	const char *name;
	int source;
	double value[STALLS_MAX];
};

static struct sum *sum_of(struct build *b, struct err *e)
{
	for (size_t i = 0; i < b->n; i++)
		if (strcmp(b->v[i].name, b->name) == 0)
			return &b->v[i];
	if (b->n == b->cap) {
		const size_t cap = b->cap ? 2 * b->cap : 64;
		struct sum *v = arena_array(b->a, cap, sizeof *v);

		if (!v) {
			err_nomem(e, "for the stall reasons");
			return NULL;
		}
		if (b->n)
			memcpy(v, b->v, b->n * sizeof *v);
		b->v = v;
		b->cap = cap;
	}
	b->v[b->n] = (struct sum){ .name = b->name };
	return &b->v[b->n++];
}

static void stalls_add(struct sum *s, const struct build *b, double all, double weight)
{
	s->count++;
	s->ns += (uint64_t)b->ns;
	s->weight += weight;
	for (size_t i = 0; i < b->n_reasons; i++)
		s->part[i] += weight * b->value[i] / all;
}

/* The launch is complete. One that was not timed weighs as one of a nanosecond. */
static int end_launch(struct build *b, struct err *e)
{
	struct sum *s;
	double all = 0;

	for (size_t i = 0; i < b->n_reasons; i++)
		all += b->value[i];
	if (!b->name || !(all > 0))
		return 0;
	if (!(s = sum_of(b, e)))
		return -1;
	stalls_add(s, b, all, b->ns > 0 ? (double)b->ns : 1);
	stalls_add(&b->all, b, all, b->ns > 0 ? (double)b->ns : 1);
	return 0;
}

/* "long_scoreboard" of a metric's name, into `to`; the source's number, -1: none. */
static int reason_of(const char *metric, char *to, size_t size)
{
	for (int s = 0; s < SOURCES; s++) {
		const size_t begin = strlen(sources[s].begin), end = strlen(sources[s].end), n = strlen(metric);

		if (n <= begin + end || strncmp(metric, sources[s].begin, begin) != 0 ||
		    strcmp(metric + n - end, sources[s].end) != 0)
			continue;
		snprintf(to, size, "%.*s", (int)(n - begin - end), metric + begin);
		return strchr(to, '.') || strstr(to, "not_issued") || strlen(to) + 1 == size ? -1 : s;
	}
	return -1;
}

static int stalls_take(void *arg, const struct trace_launch *l, const char *metric, double value, struct err *e)
{
	struct build *b = arg;
	char reason[48];
	const int source = reason_of(metric, reason, sizeof reason);
	size_t at = 0;

	if (source < 0 || !(value >= 0) || isinf(value))
		return 0;
	if (!b->name || l->id != b->id) {
		if (end_launch(b, e) < 0)
			return -1;
		memset(b->value, 0, sizeof b->value);
		b->id = l->id;
		b->ns = l->dur_ns;
		b->source = source;
		if (!(b->name = arena_strdup(b->a, l->name)))
			return err_nomem(e, "for the stall reasons");
	}
	if (source > b->source)
		return 0;
	if (source < b->source) { /* names come in order of the alphabet, not of ours */
		memset(b->value, 0, sizeof b->value);
		b->source = source;
	}
	while (at < b->n_reasons && strcmp(b->reasons[at], reason) != 0)
		at++;
	if (at == STALLS_MAX)
		return err_set(e, ERR_IO, "more than %d stall reasons: '%s' is one too many", STALLS_MAX, reason);
	if (at == b->n_reasons && !(b->reasons[b->n_reasons++] = arena_strdup(b->a, reason)))
		return err_nomem(e, "for the stall reasons");
	b->value[at] = value;
	return 0;
}

static int by_share(const void *x, const void *y)
{
	const struct stall_share *a = x, *b = y;

	return a->pct != b->pct ? (a->pct > b->pct ? -1 : 1) : strcmp(a->reason, b->reason);
}

static int stalls_by_time(const void *x, const void *y)
{
	const struct stalls_row *a = x, *b = y;

	return a->ns != b->ns ? (a->ns > b->ns ? -1 : 1) : strcmp(a->name, b->name);
}

static void stalls_finish(const struct build *b, const struct sum *s, struct stalls_row *r)
{
	*r = (struct stalls_row){ .name = s->name, .count = s->count, .ns = s->ns };
	for (size_t i = 0; i < b->n_reasons; i++)
		if (s->part[i] > 0)
			r->share[r->n++] = (struct stall_share){ b->reasons[i], 100 * s->part[i] / s->weight };
	qsort(r->share, r->n, sizeof *r->share, by_share);
}

int stalls_of(struct tracedb *db, struct rules *rules, struct arena *a, struct stalls *out, struct err *e)
{
	struct build b = { .a = a, .all = { .name = "all" } };

	*out = (struct stalls){ .n = 0 };
	/* Names of all sources begin so. */
	if (tracedb_each_metric(db, "smsp__", stalls_take, &b, e) < 0 || end_launch(&b, e) < 0)
		return -1;
	if (!b.n)
		return err_set(
			e, ERR_IO,
			"no stall reasons are in it: take them with 'ncu --section WarpStateStats --csv --page raw' (or"
			" '--set full') and import that file");
	if (!(out->v = arena_array(a, b.n, sizeof *out->v)))
		return err_nomem(e, "for the stall reasons");
	for (; out->n < b.n; out->n++) {
		struct stalls_row *r = &out->v[out->n];
		const struct trace_launch l = { .name = b.v[out->n].name };
		const struct rule *rule = rules_match(rules, &l);

		stalls_finish(&b, &b.v[out->n], r);
		r->friendly =
			rule && rule->friendly && *rule->friendly ? rule->friendly : classify_short_name(r->name, a);
		if (!r->friendly)
			return err_nomem(e, "for the stall reasons");
	}
	stalls_finish(&b, &b.all, &out->all);
	out->all.friendly = "all";
	qsort(out->v, out->n, sizeof *out->v, stalls_by_time);
	return 0;
}
