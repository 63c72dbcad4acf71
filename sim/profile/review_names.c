/* review_names.c - from "memory.below20.mem_busy_pct" to a number. */
#include "sim/profile/review_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/str.h"

int review_metric(const char *name)
{
	for (int k = 0; k < COUNTERS_SHOWN; k++)
		if (strcmp(name, counter_name((enum counter)k)) == 0)
			return k;
	return -1;
}

/* "top20" of "top20.share": the number behind the word, and what comes after the dot; false: another word. */
static bool numbered(const char *name, const char *word, size_t *n, const char **rest)
{
	const size_t k = strlen(word);
	char *end;

	if (strncmp(name, word, k) != 0 || name[k] < '0' || name[k] > '9')
		return false;
	*n = (size_t)strtoul(name + k, &end, 10);
	*rest = *end == '.' ? end + 1 : "";
	return *end == '.';
}

/* --- the profile ----------------------------------------------------------------------------------------------- */

double review_share(const struct review *s, size_t row)
{
	return 100 * (double)s->trace.stats[row].total_ns / (double)s->families.kernel_ns;
}

static bool row_value(const struct review *s, size_t n, const char *what, double *v)
{
	const struct trace_stat *k;

	if (n < 1 || n > s->trace.n_stats)
		return false;
	k = &s->trace.stats[n - 1];
	if (strcmp(what, "share") == 0)
		*v = review_share(s, n - 1);
	else if (strcmp(what, "us") == 0)
		*v = (double)k->total_ns / 1e3;
	else if (strcmp(what, "count") == 0)
		*v = (double)k->instances;
	else if (strcmp(what, "mean_us") == 0)
		*v = (double)k->total_ns / (double)k->instances / 1e3;
	else if (strcmp(what, "median_us") == 0)
		*v = (double)k->median_ns / 1e3;
	else if (strcmp(what, "min_us") == 0)
		*v = (double)k->min_ns / 1e3;
	else if (strcmp(what, "max_us") == 0)
		*v = (double)k->max_ns / 1e3;
	else
		return false;
	return true;
}

static bool sum_value(const struct review *s, size_t n, const char *what, double *v)
{
	*v = 0;
	for (size_t i = 0; i < n; i++) {
		double one;

		if ((strcmp(what, "share") != 0 && strcmp(what, "us") != 0) || !row_value(s, i + 1, what, &one))
			return false;
		*v += one;
	}
	return n > 0;
}

static bool profile_value(const struct review *s, const char *name, double *v)
{
	const struct classify *c = &s->families;
	const char *dot = strchr(name, '.');
	size_t n;

	if (!dot)
		return false;
	if (strcmp(name, "total.us") == 0)
		return *v = (double)c->kernel_ns / 1e3, true;
	if (strcmp(name, "total.kernels") == 0)
		return *v = (double)c->kernel_count, true;
	if (strcmp(name, "total.names") == 0)
		return *v = (double)c->n_kernels, true;
	if (strcmp(name, "step.us") == 0)
		return *v = (double)c->kernel_ns / 1e3 / (double)s->steps, true;
	if (strcmp(name, "step.kernels") == 0)
		return *v = (double)c->kernel_count / (double)s->steps, true;
	n = (size_t)(dot - name);
	for (size_t i = 0; i < c->n_families; i++) {
		const struct classify_family *f = &c->families[i];

		if (strlen(f->name) != n || strncmp(f->name, name, n) != 0)
			continue;
		if (strcmp(dot, ".share") == 0)
			return *v = 100 * (double)f->total_ns / (double)c->kernel_ns, true;
		if (strcmp(dot, ".us") == 0)
			return *v = (double)f->total_ns / 1e3, true;
		if (strcmp(dot, ".count") == 0)
			return *v = (double)f->count, true;
	}
	return false;
}

/* --- profiled kernels ------------------------------------------------------------------------------------------ */

static bool kernel_value(const struct review *s, size_t n, const char *what, double *v)
{
	const struct review_kernel *k = NULL;
	const int metric = review_metric(what);

	for (size_t i = 0; i < s->n_kernels && !k; i++)
		if (s->kernels[i].number == n)
			k = &s->kernels[i];
	if (!k)
		return false;
	if (metric >= 0)
		*v = k->v[metric];
	else if (strcmp(what, "dram_mb") == 0)
		*v = k->dram_bytes / 1e6;
	else if (strcmp(what, "tflops") == 0)
		*v = k->flops / k->v[COUNTER_DURATION_US] / 1e6;
	else if (strcmp(what, "intensity") == 0)
		*v = k->intensity;
	else if (strcmp(what, "grid") == 0)
		*v = (double)k->blocks;
	else if (strcmp(what, "row_max_us") == 0)
		return k->row && row_value(s, k->row, "max_us", v);
	else if (strcmp(what, "row_median_us") == 0)
		return k->row && row_value(s, k->row, "median_us", v);
	else
		return false;
	return true;
}

static int review_names_class_of(const char *name)
{
	return strcmp(name, "compute") == 0    ? ROOF_COMPUTE
	       : strcmp(name, "memory") == 0   ? ROOF_MEMORY
	       : strcmp(name, "balanced") == 0 ? ROOF_BALANCED
	                                       : -1;
}

static bool slower(const struct review *s, const struct review_kernel *k)
{
	return k->row && k->v[COUNTER_DURATION_US] > (double)s->trace.stats[k->row - 1].max_ns / 1e3;
}

/* Kernel i of those by time is in the set; *known: the set is. */
static bool in_set(const struct review *s, const char *set, size_t i, bool *known)
{
	const struct review_kernel *k = &s->kernels[s->longest[i]];
	const int class = review_names_class_of(set);

	*known = true;
	if (class >= 0)
		return (int)k->said == class;
	if (strcmp(set, "all") == 0)
		return true;
	if (strcmp(set, "outside") == 0)
		return k->row == 0;
	if (strcmp(set, "slower") == 0)
		return slower(s, k);
	if (strcmp(set, "counted") == 0)
		return !isnan(k->intensity);
	if (strncmp(set, "longest", 7) == 0 && set[7] >= '1' && set[7] <= '9')
		return i < strtoul(set + 7, NULL, 10);
	*known = false;
	return false;
}

double review_mean_of(const struct review *s, int class, enum counter k)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < s->n_kernels; i++)
		if (class == REVIEW_ALL || (int)s->kernels[i].said == class) {
			sum += s->kernels[i].v[k];
			n++;
		}
	return n ? sum / (double)n : NAN;
}

struct sum {
	double total, least, most;
	size_t n, of;
};

/* A set's kernels, and those with `from` <= metric < `to`. */
static bool sum_set(const struct review *s, const char *set, int metric, double from, double to, struct sum *out)
{
	bool known = false;

	*out = (struct sum){ 0, INFINITY, -INFINITY, 0, 0 };
	for (size_t i = 0; i < s->n_kernels; i++) {
		double x;

		if (!in_set(s, set, i, &known))
			continue;
		x = metric < 0 ? 0 : s->kernels[s->longest[i]].v[metric];
		out->of++;
		out->n += x >= from && x < to;
		out->total += x;
		out->least = x < out->least ? x : out->least;
		out->most = x > out->most ? x : out->most;
	}
	return known;
}

static bool set_value(const struct review *s, const char *name, double *v)
{
	const char *dot = strchr(name, '.'), *rest;
	char set[32];
	struct sum sum;
	size_t n;
	int metric;

	if (!dot || (size_t)(dot - name) >= sizeof set)
		return false;
	memcpy(set, name, (size_t)(dot - name));
	set[dot - name] = '\0';
	dot++;
	if (strcmp(dot, "count") == 0)
		return sum_set(s, set, -1, -1, 1, &sum) ? (*v = (double)sum.of, true) : false;
	if (strncmp(set, "longest", 7) == 0 && (review_names_class_of(dot) >= 0 || strcmp(dot, "outside") == 0)) {
		bool known = false;

		*v = 0;
		for (size_t i = 0; i < s->n_kernels; i++)
			*v += in_set(s, set, i, &known) && in_set(s, dot, i, &known);
		return known;
	}
	if (strcmp(set, "rule") == 0 && review_names_class_of(dot) >= 0) {
		*v = 0;
		for (size_t i = 0; i < s->n_kernels; i++)
			*v += (int)s->kernels[i].rule == review_names_class_of(dot);
		return true;
	}
	if (numbered(dot, "below", &n, &rest) && (metric = review_metric(rest)) >= 0)
		return sum_set(s, set, metric, -INFINITY, (double)n, &sum) ? (*v = (double)sum.n, true) : false;
	if (numbered(dot, "over", &n, &rest) && (metric = review_metric(rest)) >= 0)
		return sum_set(s, set, metric, (double)n, INFINITY, &sum) ? (*v = (double)sum.n, true) : false;
	rest = strchr(dot, '.');
	if ((metric = review_metric(rest ? rest + 1 : dot)) < 0 || !sum_set(s, set, metric, 0, 0, &sum) || !sum.of)
		return false;
	if (!rest)
		*v = sum.total / (double)sum.of;
	else if (strncmp(dot, "sum.", 4) == 0)
		*v = sum.total;
	else if (strncmp(dot, "least.", 6) == 0)
		*v = sum.least;
	else if (strncmp(dot, "most.", 5) == 0)
		*v = sum.most;
	else
		return false;
	return true;
}

static bool device_value(const struct review *s, const char *name, double *v)
{
	if (strcmp(name, "peak.gbps") == 0)
		return *v = s->roof.bandwidth / 1e9, true;
	if (strcmp(name, "effective.gbps") == 0)
		return *v = s->roof.effective / 1e9, true;
	for (int p = 0; p < ROOF_PIPES; p++) {
		if (strncmp(name, "ridge.", 6) == 0 && strcmp(name + 6, roof_pipe_name((enum roof_pipe)p)) == 0)
			return *v = roof_ridge(&s->roof, (enum roof_pipe)p), true;
		if (strncmp(name, "peak.", 5) == 0 && strcmp(name + 5, roof_pipe_name((enum roof_pipe)p)) == 0)
			return *v = s->roof.flops[p] / 1e12, true;
	}
	return false;
}

/* --- for expr.h ------------------------------------------------------------------------------------------------ */

int review_find(void *arg, const char *name, struct err *e)
{
	struct review_values *x = arg;
	const char *rest;
	double v = 0;
	size_t n;
	bool known;

	if (x->n == REVIEW_VALUES)
		return err_set(e, ERR_CONFIG, "more than %d names in the review", REVIEW_VALUES);
	if (numbered(name, "top", &n, &rest))
		known = row_value(x->s, n, rest, &v);
	else if (numbered(name, "sum", &n, &rest))
		known = sum_value(x->s, n, rest, &v);
	else if (numbered(name, "k", &n, &rest))
		known = kernel_value(x->s, n, rest, &v);
	else
		known = device_value(x->s, name, &v) || profile_value(x->s, name, &v) || set_value(x->s, name, &v);
	if (!known)
		return err_set(e, ERR_CONFIG, "the review knows nothing of the name '%s'", name);
	x->v[x->n] = v;
	return x->n++;
}

struct expr_value review_value(void *arg, int id)
{
	const struct review_values *x = arg;

	return (struct expr_value){ isnan(x->v[id]) ? EXPR_NULL : EXPR_NUMBER, x->v[id], NULL };
}
