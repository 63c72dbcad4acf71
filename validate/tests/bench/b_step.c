/* b_step.c - speed of one decode step in closed form: passes a second of processor time, program mapped once.
 *
 *   b_step CONFIG PROFILE RANGE N      one line: microseconds of processor time a step, N steps */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arch/machine/machine_conf.h"
#include "sim/engine/analytic.h"
#include "sim/engine/evaluator.h"
#include "sim/lower/lower.h"
#include "sim/map/map.h"
#include "traces/db/tracedb.h"
#include "traces/read/format.h"
#include "workloads/rules.h"

/* Experts of a pass are always the first of each router: which they are costs nothing. */
static uint32_t **first_experts(const struct op_stream *s, struct arena *a)
{
	uint32_t **picks = arena_array(a, s->n_routes + 1, sizeof *picks);

	for (size_t r = 0; picks && r < s->n_routes; r++) {
		if (!(picks[r] = arena_array(a, s->routes[r].top + 1, sizeof **picks)))
			return NULL;
		for (uint32_t k = 0; k < s->routes[r].top; k++)
			picks[r][k] = k;
	}
	return picks;
}

static int load(const char *profile, const char *range, struct rules *rules, struct tracedb *db, struct arena *a,
                struct op_stream *s, struct err *e)
{
	struct trace_import_stats is;
	struct lower_stats ls;
	struct trace t;

	if (format_import(db, FORMAT_KINETO, profile, NULL, NULL, &is, e) < 0 || tracedb_load(db, range, a, &t, e) < 0)
		return -1;
	return lower_trace(&t, rules, a, s, &ls, e);
}

static int time_steps(struct analytic *a, const uint32_t *const *picks, struct cp_result *res, long n, struct err *e)
{
	clock_t start;

	analytic_warm(a, picks);
	start = clock();
	for (long i = 0; i < n; i++)
		if (analytic_step(a, picks, res, e) < 0)
			return -1;
	printf("%.1f\n", (double)(clock() - start) / CLOCKS_PER_SEC * 1e6 / (double)n);
	return 0;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct arena *arena = arena_new(0);
	struct machine_conf *c = NULL;
	struct fuse_patterns *patterns = NULL;
	struct tracedb *db = NULL;
	struct rules *rules = NULL;
	struct analytic *a = NULL;
	struct op_stream s;
	struct map_result map;
	struct cp_result *res;
	uint32_t **picks;
	int rc = 1;

	if (argc != 5) {
		fprintf(stderr, "usage: b_step CONFIG PROFILE RANGE N\n");
		return 2;
	}
	if (arena && (c = machine_conf_load(argv[1], NULL, 0, &e)) && (db = tracedb_open(":memory:", DB_WRITE, &e)) &&
	    (rules = rules_load(NULL, &e)) && (patterns = fuse_patterns_load("configs/fusion/default.yaml", &e)) &&
	    load(argv[2], argv[3], rules, db, arena, &s, &e) == 0 &&
	    evaluator_map(&s, &c->cfg, &(struct map_opts){ .patterns = c->cfg.fusion.enabled ? patterns : NULL }, arena,
	                  &map, &e) == 0 &&
	    (a = analytic_new(&c->cfg, &map.prog, &e)) && (picks = first_experts(&s, arena)) &&
	    (res = arena_array(arena, map.prog.n_cmds + 1, sizeof *res)) &&
	    time_steps(a, (const uint32_t *const *)picks, res, strtol(argv[4], NULL, 10), &e) == 0)
		rc = 0;
	else
		fprintf(stderr, "b_step: %s\n", e.msg[0] ? e.msg : "out of memory");
	analytic_free(a);
	fuse_patterns_free(patterns);
	rules_free(rules);
	tracedb_free(db);
	machine_conf_free(c);
	arena_free(arena);
	return rc;
}
