/* interval_family.c - what is known of a family of NPUs: rows of its silicon, what its numbers were fitted to, or nothing but how far
 * off other families were. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/interval.h"
#include "sim/accuracy/silicon.h"
#include "sim/base/path.h"
#include "sim/base/yaml.h"

#define FILE_NAME "configs/accuracy/families.yaml"
#define FEW_ROWS  64 /* of a product: as many as decoding has sequences */

static const char *const part_names[INTERVAL_PARTS] = { "decode", "prefill", "attention" };

const char *interval_part_name(enum interval_part p)
{
	return part_names[p];
}

enum interval_part interval_part_of(const struct op *o)
{
	if (o->kind == OP_ATTENTION)
		return o->shape.q_len > FEW_ROWS ? INTERVAL_ATTENTION : INTERVAL_DECODE;
	if (o->kind == OP_GEMM)
		return o->shape.m > FEW_ROWS ? INTERVAL_PREFILL : INTERVAL_DECODE;
	return o->phase == OP_PREFILL ? INTERVAL_PREFILL : INTERVAL_DECODE;
}

/* --- the file ------------------------------------------------------------------------------------------------------------ */

static int bound_of(const struct yaml *y, const struct ynode *at, const char *key, double *out, struct err *e)
{
	const struct ynode *n = ynode_get(at, key);
	const char *s;
	char *end;

	if (!n)
		return yaml_err(y, at, e, "'%s' is missing", key);
	if (yaml_str(y, n, &s, e) < 0)
		return -1;
	*out = strtod(s, &end);
	return *end || end == s || !(*out > 0 && *out < 1e6) ? yaml_err(y, n, e, "'%s' is no positive number", s) : 0;
}

static int range_of(const struct yaml *y, const struct ynode *at, const char *part, struct interval_range *out,
                    struct err *e)
{
	static const char *const keys[] = { "low", "high" };
	const struct ynode *n = ynode_get(at, part);

	if (!n)
		return yaml_err(y, at, e, "'%s' is missing", part);
	if (yaml_only_keys(y, n, keys, sizeof keys / sizeof *keys, e) < 0 || bound_of(y, n, "low", &out->low, e) < 0 ||
	    bound_of(y, n, "high", &out->high, e) < 0)
		return -1;
	return out->low <= 1 && out->high >= 1 ? 0 : yaml_err(y, n, e, "1, what is simulated, is not in the interval");
}

static int ranges_of(const struct yaml *y, const struct ynode *n, struct interval_range *out, struct err *e)
{
	static const char *const keys[] = { "decode", "prefill", "attention" };

	if (yaml_only_keys(y, n, keys, sizeof keys / sizeof *keys, e) < 0)
		return -1;
	for (int p = 0; p < INTERVAL_PARTS; p++)
		if (range_of(y, n, part_names[p], &out[p], e) < 0)
			return -1;
	return 0;
}

/* --- machines that were met -------------------------------------------------------------------------------------------- */

static int percentiles(const struct yaml *y, const struct ynode *n, struct interval_met *m, int p, struct err *e)
{
	static const char *const keys[] = { "low", "middle", "high" };
	double low, middle, high;

	if (yaml_only_keys(y, n, keys, sizeof keys / sizeof *keys, e) < 0 || bound_of(y, n, "low", &low, e) < 0 ||
	    bound_of(y, n, "middle", &middle, e) < 0 || bound_of(y, n, "high", &high, e) < 0)
		return -1;
	if (low > middle || middle > high)
		return yaml_err(y, n, e, "percentiles are not low <= middle <= high");
	m->has[p] = true;
	m->low[p] = log(low), m->middle[p] = log(middle), m->high[p] = log(high);
	return 0;
}

static int name_of(const struct yaml *y, const struct ynode *at, const char *key, struct arena *a, const char **out,
                   struct err *e)
{
	const struct ynode *n = ynode_get(at, key);

	if (!n)
		return yaml_err(y, at, e, "'%s' is missing", key);
	if (yaml_str(y, n, out, e) < 0)
		return -1;
	return (*out = arena_strdup(a, *out)) ? 0 : err_nomem(e, NULL);
}

/* What of a slow corner the machine tells; either may be absent. */
static int read_corner(const struct yaml *y, const struct ynode *n, struct interval_met *m, struct err *e)
{
	double us = 0;

	if (ynode_get(n, "start_us") && bound_of(y, n, "start_us", &us, e) < 0)
		return -1;
	if (ynode_get(n, "reached") && bound_of(y, n, "reached", &m->reached, e) < 0)
		return -1;
	if (m->reached > 1)
		return yaml_err(y, ynode_get(n, "reached"), e, "no more than 1 of the pins is reached");
	m->start = (ps_t)(us * (double)PS_US + 0.5);
	return 0;
}

static int read_met(const struct yaml *y, const struct ynode *n, struct arena *a, struct interval_met *m, struct err *e)
{
	static const char *const keys[] = {
		"machine", "family", "decode", "prefill", "attention", "start_us", "reached"
	};

	if (yaml_only_keys(y, n, keys, sizeof keys / sizeof *keys, e) < 0 ||
	    name_of(y, n, "machine", a, &m->machine, e) < 0 || name_of(y, n, "family", a, &m->family, e) < 0 ||
	    read_corner(y, n, m, e) < 0)
		return -1;
	for (int p = 0; p < INTERVAL_PARTS; p++)
		if (ynode_get(n, part_names[p]) && percentiles(y, ynode_get(n, part_names[p]), m, p, e) < 0)
			return -1;
	return 0;
}

static bool interval_family_counts(const struct interval_met *m, const char *family, enum interval_part p)
{
	return m->has[p] && strcmp(m->family, family) != 0;
}

/* Enough must be left without any one family. */
static int enough(const struct yaml *y, const struct ynode *at, const struct interval_met *v, size_t n, struct err *e)
{
	for (int p = 0; p < INTERVAL_PARTS; p++)
		for (size_t i = 0; i < n; i++) {
			int left = 0;

			for (size_t k = 0; k < n; k++)
				left += interval_family_counts(&v[k], v[i].family, (enum interval_part)p);
			if (left < INTERVAL_MET_LEAST)
				return yaml_err(
					y, at, e,
					"%d machines have rows of '%s' without family '%s': at least %d are needed",
					left, part_names[p], v[i].family, INTERVAL_MET_LEAST);
		}
	return 0;
}

static int all_met(const struct yaml *y, struct arena *a, struct interval_met **v, size_t *n, struct err *e)
{
	const struct ynode *met = ynode_get(yaml_root(y), "met");

	if (!met || met->kind != YNODE_SEQ || met->n < INTERVAL_MET_LEAST + 1)
		return yaml_err(y, met ? met : yaml_root(y), e,
		                "'met' lists machines whose rows were held against a sheet: at least %d",
		                INTERVAL_MET_LEAST + 1);
	if (!(*v = arena_array(a, met->n, sizeof **v)))
		return err_nomem(e, NULL);
	for (*n = 0; *n < met->n; (*n)++)
		if (read_met(y, met->vals[*n], a, &(*v)[*n], e) < 0)
			return -1;
	return enough(y, met, *v, *n, e);
}

int interval_met_read(const struct source *from, struct arena *a, struct interval_met **v, size_t *n, struct err *e)
{
	struct yaml *y = source_yaml(from, FILE_NAME, e);
	const int rc = y ? all_met(y, a, v, n, e) : -1;

	yaml_free(y);
	return rc;
}

/* The quantile of Student's t that is INTERVAL_NORMAL of a normal error. */
static double student(size_t freedom)
{
	static const double few[] = { 3.078, 1.886, 1.638, 1.533, 1.476, 1.440, 1.415, 1.397, 1.383, 1.372 };
	const double z = INTERVAL_NORMAL;

	return freedom - 1 < sizeof few / sizeof *few ? few[freedom - 1] : z + z * (z * z + 1) / (4 * (double)freedom);
}

/* To `digits`; 0.93 to one behind the point is 0.9. */
static double rounded(double x, int digits)
{
	const double unit = pow(10, floor(log10(x)) + 1 - digits);

	return round(x / unit) * unit;
}

struct interval_range interval_met_range(const struct interval_met *v, size_t n, const char *family,
                                         enum interval_part p)
{
	double sum = 0, squares = 0, inside = 0, least = INFINITY, middle, between, half;
	size_t k = 0, spread = 0;

	for (size_t i = 0; i < n; i++) {
		if (!interval_family_counts(&v[i], family, p))
			continue;
		k++;
		sum += v[i].middle[p];
		least = fmin(least, v[i].low[p]);
		if (v[i].high[p] > v[i].low[p]) { /* else the middle alone is known */
			inside += (v[i].high[p] - v[i].low[p]) / 2 / INTERVAL_NORMAL;
			spread++;
		}
	}
	middle = sum / (double)k;
	for (size_t i = 0; i < n; i++)
		if (interval_family_counts(&v[i], family, p))
			squares += (v[i].middle[p] - middle) * (v[i].middle[p] - middle);
	between = squares / (double)(k - 1) * (1 + 1 / (double)k);
	inside /= spread ? (double)spread : 1;
	half = student(k - 1) * sqrt(between + inside * inside);
	return (struct interval_range){ fmin(1, rounded(exp(fmax(middle - half, least)), 1)),
		                        fmax(1, rounded(exp(middle + half), 2)) };
}

/* By how much less than two machines of any families two of one differ, in squares of the middles' logarithms. */
double interval_met_shared(const struct interval_met *v, size_t n, double prior, enum interval_part without)
{
	double sum = INTERVAL_PRIOR * prior;
	size_t pairs = INTERVAL_PRIOR;

	for (int p = 0; p < INTERVAL_PARTS; p++) {
		double one = 0, any = 0;
		size_t n_one = 0, n_any = 0;

		for (size_t i = 0; i < n && p != (int)without; i++)
			for (size_t k = i + 1; k < n; k++) {
				const double d = v[i].middle[p] - v[k].middle[p];
				const bool same = strcmp(v[i].family, v[k].family) == 0;

				if (!v[i].has[p] || !v[k].has[p])
					continue;
				*(same ? &one : &any) += d * d;
				(*(same ? &n_one : &n_any))++;
			}
		if (!n_one || !(any > 0))
			continue;
		sum += (double)n_one * fmax(0, 1 - one / (double)n_one / (any / (double)n_any));
		pairs += n_one;
	}
	return sum / (double)pairs;
}

struct interval_corner interval_met_corner(const struct interval_met *v, size_t n, const char *family)
{
	struct interval_corner c = { .reached = 1 };

	for (size_t i = 0; i < n; i++) {
		if (strcmp(v[i].family, family) == 0)
			continue;
		if (v[i].start > c.start)
			c.start = v[i].start, c.start_of = v[i].machine;
		if (v[i].reached > 0 && v[i].reached < c.reached)
			c.reached = v[i].reached, c.reached_of = v[i].machine;
	}
	return c;
}

/* --- a machine's --------------------------------------------------------------------------------------------------------- */

/* Classes of op that an accuracy file names by rows and kind (silicon.h). */
static bool rows_of(const struct accuracy *acc, enum interval_part p)
{
	switch (p) {
	case INTERVAL_DECODE:
		return accuracy_of(acc, silicon_products(1)) || accuracy_of(acc, silicon_products(FEW_ROWS));
	case INTERVAL_PREFILL:
		return accuracy_of(acc, silicon_products(FEW_ROWS + 1)) ||
		       accuracy_of(acc, silicon_products(UINT64_MAX));
	default:
		return accuracy_of(acc, op_kind_name(OP_ATTENTION)) != NULL;
	}
}

static int interval_family_read_file(const struct machine_conf *c, struct arena *a, struct interval_family *out,
                                     struct err *e)
{
	static const char *const keys[] = { "met", "families" };
	struct yaml *y = source_yaml(c->source, FILE_NAME, e);
	const struct ynode *own = y ? ynode_get(ynode_get(yaml_root(y), "families"), c->cfg.family) : NULL;
	struct interval_met *v;
	size_t n;
	int rc = y && yaml_only_keys(y, yaml_root(y), keys, sizeof keys / sizeof *keys, e) == 0
	                 ? all_met(y, a, &v, &n, e)
	                 : -1;

	for (int p = 0; rc == 0 && p < INTERVAL_PARTS; p++)
		out->range[p] = out->from == INTERVAL_CALIBRATED && out->met[p]
		                        ? out->range[p]
		                        : interval_met_range(v, n, c->cfg.family, (enum interval_part)p);
	if (rc == 0 && out->from == INTERVAL_UNSAID)
		out->from = own ? INTERVAL_FITTED : INTERVAL_OTHERS;
	if (rc == 0 && out->from == INTERVAL_OTHERS)
		out->corner = interval_met_corner(v, n, c->cfg.family);
	if (rc == 0 && out->from == INTERVAL_FITTED)
		rc = ranges_of(y, own, out->range, e);
	yaml_free(y);
	return rc;
}

/* By the rows that its file says it was calibrated on: how far off one more would be. */
static bool by_own_rows(const struct calibrated_cfg *c, struct interval_family *out)
{
	const uint32_t rows[INTERVAL_PARTS] = { c->decode_rows, c->prefill_rows, c->attention_rows },
		       error[INTERVAL_PARTS] = { c->decode_error, c->prefill_error, c->attention_error };
	bool any = false;

	for (int p = 0; p < INTERVAL_PARTS; p++) {
		const double n = rows[p], half = n < INTERVAL_FEW ? 0
		                                                  : student(rows[p] - 1) * sqrt(1 + 1 / n) *
		                                                            INTERVAL_SPREAD_OF_MEAN * error[p] / 1e6;

		out->met[p] = n >= INTERVAL_FEW;
		out->range[p] = (struct interval_range){ exp(-half), exp(half) };
		any |= out->met[p];
	}
	return any;
}

int interval_family_of(const struct machine_conf *c, struct arena *a, struct interval_family *out, struct err *e)
{
	bool all = true, any = false;
	struct silicon s;
	int rc;

	memset(out, 0, sizeof *out);
	if (by_own_rows(&c->cfg.calibrated, out)) {
		out->from = INTERVAL_CALIBRATED;
		return interval_family_read_file(c, a, out, e);
	}
	rc = silicon_of_family(c, a, &s, e);
	if (rc < 0)
		return -1;
	if (rc > 0) {
		out->rows = s.sheet;
		silicon_free(&s);
		for (int p = 0; p < INTERVAL_PARTS; p++) {
			out->met[p] = rows_of(&out->rows, (enum interval_part)p);
			all &= out->met[p];
			any |= out->met[p];
		}
		out->from = all ? INTERVAL_ROWS : any ? INTERVAL_PARTLY : INTERVAL_UNSAID;
	}
	return rc > 0 && all ? 0 : interval_family_read_file(c, a, out, e);
}

struct interval_range interval_range_of(const struct interval_family *f, const double time[INTERVAL_PARTS])
{
	struct interval_range sum = { 0, 0 };
	double all = 0;

	for (int p = 0; p < INTERVAL_PARTS; p++) {
		all += time[p];
		sum.low += time[p] * f->range[p].low;
		sum.high += time[p] * f->range[p].high;
	}
	return all > 0 ? (struct interval_range){ sum.low / all, sum.high / all } : f->range[INTERVAL_DECODE];
}
