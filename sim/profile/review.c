/* review.c - reading a review and its tables, and judging its claims. */
#include "sim/profile/review_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"
#include "sim/base/yaml.h"
#include "traces/read/nsys_csv.h"
#include "traces/text/csv.h"
#include "workloads/rules.h"

#define MOST_KERNELS 4096

struct loading {
	const struct yaml *y;
	struct review *s;
	struct arena *a;
	struct err *e;
};

static void *review_room(struct loading *g, size_t n, size_t each)
{
	void *p = arena_array(g->a, n ? n : 1, each);

	if (!p)
		err_nomem(g->e, "for the review");
	return p;
}

static const struct ynode *review_need(struct loading *g, const struct ynode *map, const char *key)
{
	const struct ynode *n = map->kind == YNODE_MAP ? ynode_get(map, key) : NULL;

	if (!n)
		yaml_err(g->y, map, g->e, "'%s' is missing here", key);
	return n;
}

/* A text that lives with the review. */
static int review_text(struct loading *g, const struct ynode *map, const char *key, const char **out)
{
	const struct ynode *n = review_need(g, map, key);
	const char *s;

	if (!n || yaml_str(g->y, n, &s, g->e) < 0)
		return -1;
	return (*out = arena_strdup(g->a, s)) ? 0 : err_nomem(g->e, "for the review");
}

static int beside(struct loading *g, const struct ynode *n, char out[1024])
{
	const char *s;

	if (yaml_str(g->y, n, &s, g->e) < 0)
		return -1;
	if (path_beside(yaml_name(g->y), s, out, 1024) == 0)
		return 0;
	return yaml_err(g->y, n, g->e, "there is no file '%s' beside '%s'", s, yaml_name(g->y));
}

static int class_named(struct loading *g, const struct ynode *n, enum roof_class *out)
{
	static const char *const names[] = {
		[ROOF_MEMORY] = "memory", [ROOF_COMPUTE] = "compute", [ROOF_BALANCED] = "balanced"
	};
	const char *s;

	if (yaml_str(g->y, n, &s, g->e) < 0)
		return -1;
	for (int i = 0; i < 3; i++)
		if (strcmp(s, names[i]) == 0)
			return *out = (enum roof_class)i, 0;
	return yaml_err(g->y, n, g->e, "'%s' is none of compute, memory and balanced", s);
}

/* --- the tables ------------------------------------------------------------------------------------------------ */

static int read_profile(struct loading *g, const struct ynode *map, struct rules *rules)
{
	static const char *const keys[] = { "file", "steps" };
	const struct ynode *file, *steps;
	struct trace_import_stats st;
	struct tracedb *db = NULL;
	struct input *in = NULL;
	char path[1024];
	int rc = -1;

	if (yaml_only_keys(g->y, map, keys, 2, g->e) < 0 || !(file = review_need(g, map, "file")) ||
	    !(steps = review_need(g, map, "steps")) || beside(g, file, path) < 0 ||
	    yaml_u64(g->y, steps, 1, 1000000000, &g->s->steps, g->e) < 0)
		return -1;
	if ((g->s->profile = arena_strdup(g->a, path)) && (db = tracedb_open(":memory:", DB_WRITE, g->e)) &&
	    (in = input_open(path, g->e)) && nsys_csv_import(db, in, NULL, NULL, &st, g->e) >= 0 &&
	    tracedb_load_any(db, NULL, g->a, &g->s->trace, g->e) == 0)
		rc = classify_trace(&g->s->trace, rules, g->a, &g->s->families, g->e);
	input_free(in);
	tracedb_free(db);
	return rc;
}

enum { KERNEL, ROW, CLASS, GRID, BYTES, OPS, NAME, METRICS, COLUMNS = METRICS + COUNTERS_SHOWN };

static const char *column_name(int c)
{
	static const char *const names[METRICS] = {
		"kernel", "row", "class", "grid", "dram_bytes", "tensor_ops", "name"
	};

	return c < METRICS ? names[c] : counter_name((enum counter)(c - METRICS));
}

static int bad_cell(struct loading *g, const struct csv *c, const char *path, const char *cell, int column)
{
	err_set(g->e, ERR_IO, "'%.80s' is wrong for '%s'", cell, column_name(column));
	return err_at(g->e, path, (int)csv_line(c), 0);
}

static int read_kernel(struct loading *g, const struct csv *c, const char *path, const int at[COLUMNS])
{
	struct review_kernel *k = &g->s->kernels[g->s->n_kernels++];
	const char *said = csv_field(c, (size_t)at[CLASS]), *grid = csv_field(c, (size_t)at[GRID]);

	memset(k, 0, sizeof *k);
	for (int i = 0; i < COLUMNS; i++) {
		const char *cell = csv_field(c, (size_t)at[i]);
		char *end;
		double v;

		if (i == CLASS || i == NAME || i == GRID)
			continue;
		v = strtod(cell, &end);
		if (!*cell || *end || !(v >= 0 && v < 1e18))
			return bad_cell(g, c, path, cell, i);
		if (i == KERNEL || i == ROW)
			*(i == KERNEL ? &k->number : &k->row) = (uint64_t)v;
		else if (i == BYTES || i == OPS)
			*(i == BYTES ? &k->dram_bytes : &k->flops) = v;
		else
			k->v[i - METRICS] = v;
	}
	k->said = strcmp(said, "memory") == 0     ? ROOF_MEMORY
	          : strcmp(said, "compute") == 0  ? ROOF_COMPUTE
	          : strcmp(said, "balanced") == 0 ? ROOF_BALANCED
	                                          : ROOF_UNKNOWN;
	if (k->said == ROOF_UNKNOWN)
		return bad_cell(g, c, path, said, CLASS);
	if (k->row > g->s->trace.n_stats)
		return bad_cell(g, c, path, csv_field(c, (size_t)at[ROW]), ROW);
	k->blocks = 1;
	for (char *end; *grid; grid = *end ? end + 1 : end) {
		const unsigned long long n = strtoull(grid, &end, 10);

		if (end == grid || (*end && *end != 'x') || n < 1 || n > 1000000000)
			return bad_cell(g, c, path, csv_field(c, (size_t)at[GRID]), GRID);
		k->blocks *= n;
	}
	k->intensity = k->flops > 0 && k->dram_bytes > 0 ? k->flops / k->dram_bytes : NAN;
	return (k->name = arena_strdup(g->a, csv_field(c, (size_t)at[NAME]))) ? 0 : err_nomem(g->e, "for the review");
}

static bool any_line(void *arg, const char *line, size_t n)
{
	(void)arg;
	return n > 0 && *line != '#';
}

static int review_read_rows(struct loading *g, struct csv *c, const char *path)
{
	int at[COLUMNS], rc = csv_skip_to(c, any_line, NULL, g->e);

	if (rc > 0)
		rc = csv_row(c, g->e);
	if (rc <= 0)
		return rc < 0 ? -1 : err_set(g->e, ERR_IO, "'%s' is empty", path);
	for (int i = 0; i < COLUMNS; i++) {
		at[i] = -1;
		for (size_t k = 0; k < csv_count(c); k++)
			if (strcmp(csv_field(c, k), column_name(i)) == 0)
				at[i] = (int)k;
		if (at[i] < 0)
			return err_set(g->e, ERR_IO, "no column '%s' in '%s'", column_name(i), path);
	}
	while ((rc = csv_row(c, g->e)) == 1) {
		if (csv_count(c) == 1 && !*csv_field(c, 0))
			continue;
		if (g->s->n_kernels == MOST_KERNELS)
			return err_set(g->e, ERR_IO, "more than %d kernels in '%s'", MOST_KERNELS, path);
		if (read_kernel(g, c, path, at) < 0)
			return -1;
	}
	return rc;
}

static int read_counters(struct loading *g, const struct ynode *n)
{
	struct review *s = g->s;
	struct input *in;
	struct csv *c;
	char path[1024];
	int rc = -1;

	if (beside(g, n, path) < 0 || !(s->kernels = review_room(g, MOST_KERNELS, sizeof *s->kernels)) ||
	    !(in = input_open(path, g->e)))
		return -1;
	if ((c = csv_new(in, g->e)))
		rc = review_read_rows(g, c, path);
	csv_free(c);
	input_free(in);
	if (rc < 0 || !(s->longest = review_room(g, s->n_kernels, sizeof *s->longest)))
		return -1;
	/* By time, longest first; there are few. */
	for (size_t i = 0; i < s->n_kernels; i++) {
		size_t k = i;

		for (; k > 0 &&
		       s->kernels[s->longest[k - 1]].v[COUNTER_DURATION_US] < s->kernels[i].v[COUNTER_DURATION_US];
		     k--)
			s->longest[k] = s->longest[k - 1];
		s->longest[k] = i;
	}
	return 0;
}

/* What the rule has no class for, as neither is used much, is balanced in it. */
static void apply_rule(struct review *s, struct rules *rules)
{
	const struct roof_rule rule = ROOF_RULE;

	for (size_t i = 0; i < s->n_kernels; i++) {
		struct review_kernel *k = &s->kernels[i];

		if (rule_only_moves(rules_match(rules, &(struct trace_launch){ .name = k->name })))
			k->intensity = 0;
		k->rule = roof_classify(&rule, k->intensity, roof_ridge(&s->roof, ROOF_BF16), k->v[COUNTER_MEM_PCT],
		                        k->v[COUNTER_SM_PCT]);
		if (k->rule == ROOF_LATENCY)
			k->rule = ROOF_BALANCED;
	}
}

/* --- what the report prints ------------------------------------------------------------------------------------ */

static const struct ynode *review_list(struct loading *g, const struct ynode *root, const char *key)
{
	const struct ynode *n = review_need(g, root, key);

	if (n && n->kind != YNODE_SEQ) {
		yaml_err(g->y, n, g->e, "'%s' is a list", key);
		return NULL;
	}
	return n;
}

static int read_means(struct loading *g, const struct ynode *map)
{
	static const enum roof_class order[] = { ROOF_COMPUTE, ROOF_MEMORY, ROOF_BALANCED };
	struct review *s = g->s;

	if (map->kind != YNODE_MAP)
		return yaml_err(g->y, map, g->e, "means are {METRIC: [compute, memory, balanced, all]}");
	if (!(s->means = review_room(g, map->n, sizeof *s->means)))
		return -1;
	for (size_t i = 0; i < map->n; i++) {
		const struct ynode *v = map->vals[i];
		const int k = review_metric(map->keys[i]->text);
		struct review_mean *m = &s->means[s->n_means++];

		if (k < 0)
			return yaml_err(g->y, map->keys[i], g->e, "there is no metric '%s'", map->keys[i]->text);
		if (v->kind != YNODE_SEQ || v->n != 4)
			return yaml_err(g->y, v, g->e, "four numbers: compute, memory, balanced, all");
		m->metric = (enum counter)k;
		for (int c = 0; c < 3; c++) {
			if (yaml_real(g->y, v->vals[c], &m->printed[order[c]], g->e) < 0)
				return -1;
			m->got[order[c]] = review_mean_of(s, (int)order[c], m->metric);
		}
		if (yaml_real(g->y, v->vals[3], &m->all_printed, g->e) < 0)
			return -1;
		m->all_got = review_mean_of(s, REVIEW_ALL, m->metric);
	}
	return 0;
}

static int read_printed(struct loading *g, const struct ynode *root)
{
	struct review *s = g->s;
	const struct ynode *top, *longest, *means;

	if (!(top = review_list(g, root, "top")) || !(longest = review_list(g, root, "longest")) ||
	    !(means = review_need(g, root, "means")) || !(s->top = review_room(g, top->n, sizeof *s->top)) ||
	    !(s->longest_printed = review_room(g, longest->n, sizeof *s->longest_printed)))
		return -1;
	if (top->n > s->trace.n_stats)
		return yaml_err(g->y, top, g->e, "more shares than '%s' has rows", s->profile);
	if (longest->n > s->n_kernels)
		return yaml_err(g->y, longest, g->e, "more kernels than there are counters of");
	for (; s->n_top < top->n; s->n_top++)
		if (yaml_real(g->y, top->vals[s->n_top], &s->top[s->n_top], g->e) < 0)
			return -1;
	for (; s->n_longest < longest->n; s->n_longest++) {
		const struct ynode *n = longest->vals[s->n_longest];

		if (n->kind != YNODE_SEQ || n->n != 2)
			return yaml_err(g->y, n, g->e, "a time and a class: [404.70, compute]");
		if (yaml_real(g->y, n->vals[0], &s->longest_printed[s->n_longest].us, g->e) < 0 ||
		    class_named(g, n->vals[1], &s->longest_printed[s->n_longest].class) < 0)
			return -1;
	}
	return read_means(g, means);
}

/* --- claims ---------------------------------------------------------------------------------------------------- */

/* Half of the last digit that is printed. */
static double exactness(const char *printed)
{
	const char *dot = strchr(printed, '.');
	double half = 0.5;

	for (size_t n = dot ? strlen(dot + 1) : 0; n > 0; n--)
		half /= 10;
	return half * (1 + 1e-9);
}

static int judge(struct loading *g, struct exprs *x, const struct ynode *n, struct review_values *values,
                 struct review_claim *c)
{
	const struct ynode *printed = ynode_get(n, "printed"), *is = ynode_get(n, printed ? "is" : "holds");
	struct expr_value v;
	struct expr *ex;
	double want = 0;

	if (!printed && !is)
		return c->verdict = REVIEW_TEXT, 0;
	if (!is)
		return yaml_err(g->y, n, g->e, "'is' is missing here");
	if (printed && (yaml_real(g->y, printed, &want, g->e) < 0 || review_text(g, n, "printed", &c->printed) < 0))
		return -1;
	if (review_text(g, n, printed ? "is" : "holds", &c->is) < 0)
		return -1;
	if (!(ex = expr_new(x, c->is, review_find, values, g->e)) || expr_eval(ex, review_value, values, &v, g->e) < 0)
		return err_at(g->e, yaml_name(g->y), is->line, is->col);
	if (v.type != EXPR_NUMBER)
		return yaml_err(g->y, is, g->e, "'%s' has no value", c->is);
	c->got = v.number;
	if (printed)
		c->verdict = fabs(v.number - want) <= exactness(c->printed) ? REVIEW_HOLDS : REVIEW_DIFFERS;
	else
		c->verdict = v.number != 0 ? REVIEW_HOLDS : REVIEW_CONTRADICTED;
	return 0;
}

static int read_claims(struct loading *g, const struct ynode *root)
{
	static const char *const keys[] = { "at", "says", "printed", "is", "holds", "why" };
	const struct ynode *all = review_list(g, root, "claims");
	struct review_values values = { .s = g->s };
	struct exprs *x = all ? exprs_new(g->e) : NULL;
	int rc = -1;

	if (!x || !(g->s->claims = review_room(g, all->n, sizeof *g->s->claims)))
		goto out;
	for (size_t i = 0; i < all->n; i++) {
		const struct ynode *n = all->vals[i];
		struct review_claim *c = &g->s->claims[g->s->n_claims++];

		*c = (struct review_claim){ .printed = "", .is = "", .why = "", .got = NAN };
		if (yaml_only_keys(g->y, n, keys, 6, g->e) < 0 || review_text(g, n, "at", &c->at) < 0 ||
		    review_text(g, n, "says", &c->says) < 0 ||
		    (ynode_get(n, "why") && review_text(g, n, "why", &c->why) < 0) || judge(g, x, n, &values, c) < 0)
			goto out;
		if (c->verdict != REVIEW_HOLDS && !*c->why) {
			yaml_err(g->y, n, g->e, "this claim does not hold (%s is %.9g): 'why' is missing", c->is,
			         c->got);
			goto out;
		}
	}
	rc = 0;
out:
	exprs_free(x);
	return rc;
}

/* --- all of it ------------------------------------------------------------------------------------------------- */

static int review_read_root(struct loading *g, const struct ynode *root, struct rules *rules)
{
	static const char *const keys[] = { "review", "title", "profile", "counters", "device",
		                            "top",    "means", "longest", "claims" };
	const struct ynode *version, *profile, *counters, *device;
	char path[1024];
	uint64_t v;

	if (root->kind != YNODE_MAP || !(version = ynode_get(root, "review")))
		return err_set(g->e, ERR_CONFIG, "'%s' is no review: it has no line 'review: 1'", yaml_name(g->y));
	if (yaml_only_keys(g->y, root, keys, sizeof keys / sizeof *keys, g->e) < 0 ||
	    yaml_u64(g->y, version, 1, 1, &v, g->e) < 0 || review_text(g, root, "title", &g->s->title) < 0 ||
	    !(profile = review_need(g, root, "profile")) || !(counters = review_need(g, root, "counters")) ||
	    !(device = review_need(g, root, "device")) || beside(g, device, path) < 0 ||
	    roof_load(path, NULL, &g->s->roof, g->e) < 0 || read_profile(g, profile, rules) < 0 ||
	    read_counters(g, counters) < 0)
		return -1;
	apply_rule(g->s, rules);
	return read_printed(g, root) < 0 ? -1 : read_claims(g, root);
}

int review_load(const char *path, struct rules *rules, struct arena *a, struct review *out, struct err *e)
{
	struct yaml *y = yaml_load(path, e);
	struct loading g = { y, out, a, e };
	int rc;

	if (!y)
		return -1;
	memset(out, 0, sizeof *out);
	rc = review_read_root(&g, yaml_root(y), rules);
	yaml_free(y);
	return rc;
}
