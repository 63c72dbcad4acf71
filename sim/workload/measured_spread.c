/* measured_spread.c - how far apart a trace's own steps lie. */
#include <ctype.h>
#include <string.h>

#include "sim/workload/measured.h"

#define STEPS_MOST 32 /* that are looked at */

/* Up to the trailing number, or all of it. */
static size_t stem(const char *name)
{
	size_t n = strlen(name);

	while (n && isdigit((unsigned char)name[n - 1]))
		n--;
	return n;
}

static bool of_stem(const char *name, const char *range)
{
	const size_t n = stem(range);

	return n < strlen(range) && stem(name) == n && n < strlen(name) && strncmp(name, range, n) == 0;
}

static int kernels_of(struct tracedb *db, const char *range, uint64_t *ns, struct err *e)
{
	struct arena *a = arena_new(MEASURED_MEMORY);
	struct trace t;
	int rc = a ? tracedb_load_groups(db, range, a, &t, e) : err_nomem(e, "for a trace");

	*ns = 0;
	for (size_t i = 0; rc == 0 && i < t.n_groups; i++)
		*ns += t.groups[i].first.kind == TRACE_KERNEL ? t.groups[i].total_ns : 0;
	arena_free(a);
	return rc;
}

static bool was_before(const struct trace *t, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(t->ranges[k].name, t->ranges[i].name) == 0)
			return true;
	return false;
}

int measured_spread(const char *path, const struct trace *t, struct measured_spread *out, struct err *e)
{
	struct tracedb *db;
	int rc = 0;

	*out = (struct measured_spread){ .n = 0 };
	if (!t->range || !measured_is_database(path))
		return 0;
	if (!(db = tracedb_open(path, DB_READ, e)))
		return -1;
	for (size_t i = 0; rc == 0 && i < t->n_ranges && out->n < STEPS_MOST; i++) {
		uint64_t ns;

		if (!of_stem(t->ranges[i].name, t->range) || was_before(t, i))
			continue;
		if ((rc = kernels_of(db, t->ranges[i].name, &ns, e)) < 0 || !ns)
			continue;
		out->low_ns = !out->n || ns < out->low_ns ? ns : out->low_ns;
		out->high_ns = ns > out->high_ns ? ns : out->high_ns;
		out->n++;
	}
	tracedb_free(db);
	return rc;
}
