#include "sim/accuracy/probe_curve.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/inputs.h"

#define LINE_LENGTH 4096
#define FIELDS_MAX  12

enum shape { SHAPE_UNKNOWN, SHAPE_CLK, SHAPE_NS, SHAPE_DAT, SHAPE_BENCH, SHAPE_RATES };

struct table {
	FILE *f;
	const char *path;
	int line;
	char text[LINE_LENGTH];
	char *field[FIELDS_MAX];
	int n;
	bool comment;
};

static int bad(const struct table *t, struct err *e)
{
	err_at(e, t->path, t->line, 0);
	return -1;
}

/* Fields in place: by commas, with quotes, or in a line without commas by blanks. */
static void split(struct table *t)
{
	bool commas = strchr(t->text, ',') != NULL;
	char *p = t->text;

	for (t->n = 0; t->n < FIELDS_MAX; t->n++) {
		bool quoted = commas && *p == '"';
		char end, *to;

		if (!commas)
			p += strspn(p, " \t");
		if (!commas && !*p)
			return;
		t->field[t->n] = to = p += quoted;
		while (*p && (quoted ? *p != '"' : commas ? *p != ',' : *p != ' ' && *p != '\t'))
			*to++ = *p++;
		if (quoted && *p)
			p++;
		end = *p;
		*to = '\0';
		if (end)
			p++;
		else if (++t->n)
			return;
	}
}

/* The next line that is not empty: 1, 0 at the end, -1. */
static int next(struct table *t, struct err *e)
{
	while (fgets(t->text, sizeof t->text, t->f)) {
		size_t n = strcspn(t->text, "\r\n");

		t->line++;
		if (!t->text[n] && n + 1 == sizeof t->text) {
			err_set(e, ERR_IO, "a line of more than %d bytes", LINE_LENGTH - 2);
			return bad(t, e);
		}
		t->text[n] = '\0';
		t->comment = *t->text == '#';
		if (t->text[strspn(t->text, " \t")] == '\0')
			continue;
		if (!t->comment)
			split(t);
		return 1;
	}
	return ferror(t->f) ? err_sys(e, ERR_IO, errno, "cannot read '%s'", t->path) : 0;
}

static int probe_curve_number(const struct table *t, int i, double *v, struct err *e)
{
	char *end = NULL;

	if (i < t->n)
		*v = strtod(t->field[i], &end);
	if (i < t->n && end != t->field[i] && !*end && isfinite(*v) && *v > 0)
		return 0;
	err_set(e, ERR_IO, "'%s' is no number above 0", i < t->n ? t->field[i] : "");
	return bad(t, e);
}

static int probe_curve_add(struct probe_curve *c, const struct table *t, double bytes, double ns, struct err *e)
{
	if (c->n == PROBE_MEM_POINTS) {
		err_set(e, ERR_IO, "more than %d footprints", PROBE_MEM_POINTS);
		return bad(t, e);
	}
	if (bytes > 0x1p40) {
		err_set(e, ERR_IO, "a footprint of more than 1 TiB");
		return bad(t, e);
	}
	if (c->n && (uint64_t)bytes <= c->bytes[c->n - 1]) {
		err_set(e, ERR_IO, "footprints must grow, and %.0f does not", bytes);
		return bad(t, e);
	}
	c->bytes[c->n] = (uint64_t)bytes;
	c->ns[c->n++] = ns;
	return 0;
}

static enum shape probe_curve_shape_of(const struct table *t)
{
	if (t->n >= 2 && strcmp(t->field[0], "bytes") == 0)
		return strcmp(t->field[1], "clk") == 0  ? SHAPE_CLK
		       : strcmp(t->field[1], "ns") == 0 ? SHAPE_NS
		                                        : SHAPE_UNKNOWN;
	if (t->n == 8 && strcmp(t->field[0], "name") == 0 && strcmp(t->field[6], "unit") == 0)
		return SHAPE_BENCH;
	return t->n == 4 ? SHAPE_DAT : SHAPE_UNKNOWN;
}

/* name,params,reps,min,median,max,unit,method; the first row of a footprint. */
static int bench_row(struct probe_curve *c, const struct table *t, struct err *e)
{
	unsigned long long bytes;
	double ns;
	char path[8];
	int sm, used = 0;

	if (strcmp(t->field[0], "chase_ns") != 0 || t->n < 5 ||
	    sscanf(t->field[1], "bytes=%llu;path=%7[a-z0-9];sm=%d%n", &bytes, path, &sm, &used) != 3 ||
	    t->field[1][used] || strcmp(path, "l2") != 0 || sm != 0)
		return 0;
	for (int i = 0; i < c->n; i++)
		if (c->bytes[i] == bytes)
			return 0;
	return probe_curve_number(t, 4, &ns, e) < 0 ? -1 : probe_curve_add(c, t, (double)bytes, ns, e);
}

static int curve_row(struct probe_curve *c, const struct table *t, enum shape s, uint64_t khz, struct err *e)
{
	double bytes, v;

	if (s == SHAPE_BENCH)
		return bench_row(c, t, e);
	if (probe_curve_number(t, 0, &bytes, e) < 0 || probe_curve_number(t, s == SHAPE_DAT ? 3 : 1, &v, e) < 0)
		return -1;
	return probe_curve_add(c, t, bytes, s == SHAPE_NS ? v : v * 1e6 / (double)khz, e);
}

static int open_table(struct table *t, const char *path, struct err *e)
{
	memset(t, 0, sizeof *t);
	t->path = path;
	if (!(t->f = fopen(path, "r")))
		return err_sys(e, ERR_IO, errno, "cannot read '%s'", path);
	inputs_add(t->f);
	return 0;
}

int probe_curve_load(struct probe_curve *c, const char *path, uint64_t clock_khz, struct err *e)
{
	enum shape s = SHAPE_UNKNOWN;
	struct table t;
	int rc, more;

	memset(c, 0, sizeof *c);
	if ((rc = open_table(&t, path, e)) < 0)
		return -1;
	while (rc == 0 && (more = next(&t, e)) != 0) {
		if (more < 0)
			rc = -1;
		else if (t.comment)
			continue;
		else if (s != SHAPE_UNKNOWN)
			rc = curve_row(c, &t, s, clock_khz, e);
		else if ((s = probe_curve_shape_of(&t)) == SHAPE_DAT)
			rc = curve_row(c, &t, s, clock_khz, e);
		else if (s == SHAPE_UNKNOWN) {
			err_set(e, ERR_IO,
			        "a curve begins with 'bytes,clk', 'bytes,ns', 'name,params,reps,...', or has four"
			        " columns 'bytes KiB MiB clocks'");
			rc = bad(&t, e);
		}
	}
	c->l1 = s != SHAPE_BENCH;
	if (rc == 0 && !c->n)
		rc = err_set(e, ERR_IO, "'%s' has no footprint", path);
	fclose(t.f);
	return rc;
}

bool probe_curve_counted(const struct probe_curve *c, int i)
{
	return !c->l1 || c->bytes[i] > CURVE_L1;
}

static int probe_curve_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof *v, probe_curve_by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static struct probe_plateau plateau(const struct probe_curve *c, const struct probe_mem_point *x, uint64_t from,
                                    uint64_t to)
{
	double measured[PROBE_MEM_POINTS], simulated[PROBE_MEM_POINTS];
	struct probe_plateau p = { 0, -1, -1 };

	for (int i = 0; i < c->n; i++)
		if (probe_curve_counted(c, i) && c->bytes[i] >= from && c->bytes[i] <= to) {
			measured[p.n] = c->ns[i];
			simulated[p.n++] = x[i].mean_ns;
		}
	if (p.n) {
		p.measured = median(measured, p.n);
		p.simulated = median(simulated, p.n);
	}
	return p;
}

struct probe_curve_sum probe_curve_compare(const struct probe_curve *c, const struct probe_mem_point *x, uint64_t l2)
{
	struct probe_curve_sum s = { .worst = -1 };
	double error[PROBE_MEM_POINTS];

	for (int i = 0; i < c->n; i++) {
		double v = fabs(x[i].mean_ns / c->ns[i] - 1);

		if (!probe_curve_counted(c, i))
			continue;
		error[s.counted++] = v;
		s.mean += v;
		if (v > s.worst) {
			s.worst = v;
			s.worst_bytes = c->bytes[i];
		}
	}
	if (s.counted) {
		s.mean /= s.counted;
		s.median = median(error, s.counted);
	}
	s.l2 = plateau(c, x, 0, l2 / 3);
	s.dram = plateau(c, x, l2 * 5 / 2, UINT64_MAX);
	return s;
}

/* --- bandwidth --------------------------------------------------------------------------------------------- */

int probe_rates_load(struct probe_rate *rates, const char *path, const char *device, struct err *e)
{
	static const char *const heads[] = { "device", "kernel", "peak_gbps", "gbps", "what", "source" };
	struct table t;
	bool head = false;
	int rc, more, n = 0;

	if ((rc = open_table(&t, path, e)) < 0)
		return -1;
	while (rc == 0 && (more = next(&t, e)) != 0) {
		if (more < 0) {
			rc = -1;
		} else if (t.comment) {
			continue;
		} else if (!head) {
			for (int i = 0; rc == 0 && i < 6; i++)
				if (t.n != 6 || strcmp(t.field[i], heads[i]) != 0) {
					err_set(e, ERR_IO,
					        "a table of bandwidths has the columns device, kernel, peak_gbps, gbps,"
					        " what, source");
					rc = bad(&t, e);
				}
			head = true;
		} else if (t.n != 6) {
			err_set(e, ERR_IO, "%d fields, not 6", t.n);
			rc = bad(&t, e);
		} else if (strcmp(t.field[0], device) == 0 && n < PROBE_RATES) {
			struct probe_rate *r = &rates[n++];

			snprintf(r->kernel, sizeof r->kernel, "%s", t.field[1]);
			snprintf(r->what, sizeof r->what, "%s", t.field[4]);
			snprintf(r->source, sizeof r->source, "%s", t.field[5]);
			if (probe_curve_number(&t, 2, &r->peak_gbps, e) < 0 ||
			    probe_curve_number(&t, 3, &r->gbps, e) < 0)
				rc = -1;
		}
	}
	fclose(t.f);
	if (rc == 0 && !n)
		rc = err_set(e, ERR_IO, "'%s' has no row of the device '%s', the machine's name", path, device);
	return rc < 0 ? -1 : n;
}
