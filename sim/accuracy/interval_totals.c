/* interval_totals.c - whole steps that were measured: read, judged, and how many of them the intervals hold. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/interval.h"
#include "traces/text/csv.h"

enum column { DEVICE, MODEL, STEP, WAY, MEASURED, SIMULATED, CLASSES, COLUMNS };
static const char *const columns[COLUMNS] = {
	"device", "model", "step", "way", "measured_us", "simulated_us", "classes"
};

#define MOST 10000

/* --- reading ------------------------------------------------------------------------------------------------------------- */

static int time_of(const struct csv *c, size_t column, double *out, const char *path, struct err *e)
{
	const char *s = csv_field(c, column);
	char *end;

	*out = strtod(s, &end);
	if (*end || end == s || !(*out > 0 && *out < 1e12)) {
		err_set(e, ERR_IO, "'%s' is no time, in column '%s'", s, columns[column]);
		return err_at(e, path, (int)csv_line(c), csv_column(c, column));
	}
	return 0;
}

/* "gemv:0.52 elementwise:0.21" */
static int shares_of(const struct csv *c, struct arena *a, struct interval_total *t, const char *path, struct err *e)
{
	char *s = arena_strdup(a, csv_field(c, CLASSES)), *end;

	if (!s)
		return err_nomem(e, NULL);
	while (*s) {
		char *const colon = strchr(s, ':');
		const double share = colon ? strtod(colon + 1, &end) : -1;

		if (!colon || end == colon + 1 || (*end && *end != ' ') || !(share >= 0 && share <= 1)) {
			err_set(e, ERR_IO, "'%.40s' is no class and share, in column 'classes'", s);
			return err_at(e, path, (int)csv_line(c), csv_column(c, CLASSES));
		}
		*colon = '\0';
		interval_add(&t->shares, s, share);
		s = *end ? end + 1 : end;
	}
	return 0;
}

static int interval_totals_read_row(const struct csv *c, struct arena *a, struct interval_total *t, const char *path,
                                    struct err *e)
{
	if (csv_count(c) != COLUMNS) {
		err_set(e, ERR_IO, "a row has %d fields, this one %zu", COLUMNS, csv_count(c));
		return err_at(e, path, (int)csv_line(c), 0);
	}
	t->device = arena_strdup(a, csv_field(c, DEVICE));
	t->model = arena_strdup(a, csv_field(c, MODEL));
	t->step = arena_strdup(a, csv_field(c, STEP));
	t->way = arena_strdup(a, csv_field(c, WAY));
	if (!t->device || !t->model || !t->step || !t->way)
		return err_nomem(e, NULL);
	if (time_of(c, MEASURED, &t->measured_us, path, e) < 0 || time_of(c, SIMULATED, &t->simulated_us, path, e) < 0)
		return -1;
	return shares_of(c, a, t, path, e);
}

static int interval_totals_read_header(struct csv *c, const char *path, struct err *e)
{
	const int rc = csv_row(c, e);

	for (size_t i = 0; rc > 0 && i < COLUMNS; i++)
		if (strcmp(csv_field(c, i), columns[i]) != 0) {
			err_set(e, ERR_IO, "column %zu is '%.40s', and of a table of totals it is '%s'", i + 1,
			        csv_field(c, i), columns[i]);
			return err_at(e, path, 1, csv_column(c, i));
		}
	return rc > 0 ? 0 : rc < 0 ? -1 : err_set(e, ERR_IO, "'%s' is empty", path);
}

static int interval_totals_read_rows(struct csv *c, const char *path, struct arena *a, struct interval_total *v,
                                     size_t *n, struct err *e)
{
	int rc;

	while ((rc = csv_row(c, e)) > 0) {
		if (*n == MOST)
			return err_set(e, ERR_IO, "'%s' has more than %d totals", path, MOST);
		if (interval_totals_read_row(c, a, &v[(*n)++], path, e) < 0)
			return -1;
	}
	return rc < 0 || *n ? rc : err_set(e, ERR_IO, "'%s' has no totals", path);
}

int interval_totals(const char *path, struct arena *a, struct interval_total **v, size_t *n, struct err *e)
{
	struct input *in = input_open(path, e);
	struct csv *c = in ? csv_new(in, e) : NULL;
	int rc = -1;

	*n = 0;
	if (!(*v = arena_array(a, MOST, sizeof **v)))
		err_nomem(e->kind ? NULL : e, "for totals");
	else if (c && interval_totals_read_header(c, path, e) == 0)
		rc = interval_totals_read_rows(c, path, a, *v, n, e);
	csv_free(c);
	input_free(in);
	return rc;
}

/* --- judging ------------------------------------------------------------------------------------------------------------- */

void interval_deviations(struct interval_total *v, size_t n, const struct accuracy *acc)
{
	for (size_t i = 0; i < n; i++) {
		v[i].spread = interval_spread(acc, &v[i].shares);
		v[i].z = fabs(log(v[i].simulated_us / v[i].measured_us)) / v[i].spread;
	}
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool left_out(const struct interval_total *t, const char *device, const char *model)
{
	return (device && strcmp(t->device, device) == 0) || (model && strcmp(t->model, model) == 0);
}

double interval_quantile(const struct interval_total *v, size_t n, const char *device, const char *model)
{
	double *z = malloc((n + 1) * sizeof *z), q = INTERVAL_NORMAL;
	size_t k = 0, at;

	for (size_t i = 0; z && i < n; i++)
		if (!left_out(&v[i], device, model))
			z[k++] = v[i].z;
	if (k) {
		qsort(z, k, sizeof *z, by_size);
		at = (size_t)ceil(INTERVAL_LEVEL *
		                  (double)(k + 1)); /* of k + 1, as the one that is asked for is one more */
		q = ((double)k * z[(at < k ? at : k) - 1] + INTERVAL_PRIOR * INTERVAL_NORMAL) /
		    (double)(k + INTERVAL_PRIOR);
	}
	free(z);
	return q;
}

struct interval_cover interval_cover(const struct interval_total *v, size_t n, enum interval_without w,
                                     const char *only)
{
	double *half = malloc((n + 1) * sizeof *half);
	struct interval_cover c = { .n = 0 };

	for (size_t i = 0; half && i < n; i++) {
		const double q = interval_quantile(v, n, w == INTERVAL_DEVICE ? v[i].device : NULL,
		                                   w == INTERVAL_MODEL ? v[i].model : NULL);

		if (only && strcmp(v[i].device, only) != 0 && strcmp(v[i].model, only) != 0)
			continue;
		c.in += v[i].z <= q;
		half[c.n++] = exp(q * v[i].spread) - 1;
	}
	if (c.n) {
		qsort(half, c.n, sizeof *half, by_size);
		c.half = half[c.n / 2];
	}
	free(half);
	return c;
}
