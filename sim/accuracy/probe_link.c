#include "sim/accuracy/probe_link.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traces/text/csv.h"

/* --- a table --------------------------------------------------------------------------------------------------- */

enum column { OP, CHIPS, BYTES, US, COLUMNS };
static const char *const names[COLUMNS][2] = {
	{ "op", "collective" }, { "gpus", "chips" }, { "bytes", "bytes" }, { "us", "us" }
};

static int read_header(struct csv *c, const char *path, size_t at[COLUMNS], struct err *e)
{
	const int rc = csv_row(c, e);

	if (rc < 0)
		return -1;
	for (int k = 0; k < COLUMNS; k++) {
		at[k] = SIZE_MAX;
		for (size_t i = 0; rc && i < csv_count(c); i++)
			if (strcmp(csv_field(c, i), names[k][0]) == 0 || strcmp(csv_field(c, i), names[k][1]) == 0)
				at[k] = i;
		if (at[k] == SIZE_MAX) {
			err_set(e, ERR_IO, "this table has no column '%s': collectives have op, gpus, bytes, us",
			        names[k][0]);
			return err_at(e, path, 1, 0);
		}
	}
	return 0;
}

static int bad(const struct csv *c, const char *path, size_t field, const char *what, struct err *e)
{
	err_set(e, ERR_IO, "'%.40s' is no %s", csv_field(c, field), what);
	return err_at(e, path, (int)csv_line(c), csv_column(c, field));
}

static bool probe_link_whole(const char *text, uint64_t most, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *out <= most;
}

static int read_row(const struct csv *c, const char *path, const size_t at[COLUMNS], struct probe_link_row *r,
                    bool *counts, struct err *e)
{
	uint64_t chips, bytes;
	char *end;

	*counts = link_collective_find(csv_field(c, at[OP]), &r->ask.what, NULL);
	if (!*counts)
		return 0;
	if (!probe_link_whole(csv_field(c, at[CHIPS]), LINK_MAX_CHIPS, &chips) || !chips)
		return bad(c, path, at[CHIPS], "number of chips", e);
	if (!probe_link_whole(csv_field(c, at[BYTES]), PROBE_LINK_MOST_BYTES, &bytes))
		return bad(c, path, at[BYTES], "number of bytes up to 64 TiB", e);
	r->us = strtod(csv_field(c, at[US]), &end);
	if (end == csv_field(c, at[US]) || *end || !(r->us > 0) || !isfinite(r->us))
		return bad(c, path, at[US], "time in us", e);
	r->ask.chips = (uint32_t)chips;
	r->ask.bytes = bytes;
	*counts = chips > 1 && bytes;
	return 0;
}

static int probe_link_read_rows(struct csv *c, const char *path, enum link_collective what, uint32_t chips, size_t most,
                                struct probe_link *out, struct err *e)
{
	size_t at[COLUMNS];
	int rc;

	if (read_header(c, path, at, e) < 0)
		return -1;
	while ((rc = csv_row(c, e)) > 0) {
		struct probe_link_row *r = &out->row[out->n];
		bool counts;

		if (csv_count(c) == 1 && !*csv_field(c, 0))
			continue;
		if (out->n == most)
			return err_set(e, ERR_IO, "'%s' has more than %d rows", path, PROBE_LINK_ROWS);
		if (read_row(c, path, at, r, &counts, e) < 0)
			return -1;
		if (counts && (what == LINK_COLLECTIVE_COUNT || what == r->ask.what) &&
		    (!chips || chips == r->ask.chips))
			out->n++;
		out->left_out += !counts;
	}
	if (rc == 0 && !out->n)
		return err_set(e, ERR_IO, "'%s' has no row of such a collective on so many chips", path);
	return rc;
}

int probe_link_read(struct input *in, const char *name, enum link_collective what, uint32_t chips, struct arena *a,
                    struct probe_link *out, struct err *e)
{
	struct csv *c = NULL;
	size_t rows = 0;
	int rc = -1;

	*out = (struct probe_link){ 0 };
	if (csv_count_rows(in, &rows, e) < 0)
		return -1;
	rows = rows < PROBE_LINK_ROWS ? rows : PROBE_LINK_ROWS;
	if (!(out->row = arena_array(a, rows + 1, sizeof *out->row)))
		err_nomem(e, "for a table");
	else if ((c = csv_new(in, e)))
		rc = probe_link_read_rows(c, name, what, chips, rows, out, e);
	csv_free(c);
	return rc;
}

int probe_link_table(const char *path, enum link_collective what, uint32_t chips, struct arena *a,
                     struct probe_link *out, struct err *e)
{
	struct input *in = input_open(path, e);
	const int rc = in ? probe_link_read(in, path, what, chips, a, out, e) : -1;

	input_free(in);
	return rc;
}

/* --- a sweep --------------------------------------------------------------------------------------------------- */

int probe_link_sizes(enum link_collective what, uint32_t chips, uint64_t bytes, struct arena *a, struct probe_link *out,
                     struct err *e)
{
	const uint64_t least = bytes ? bytes : 1 << 10, most = bytes ? bytes : 512 << 20;

	*out = (struct probe_link){ .row = arena_array(a, 32, sizeof *out->row) };
	if (!out->row)
		return err_nomem(e, "for message sizes");
	for (uint64_t b = least; b <= most; b *= 2)
		out->row[out->n++] = (struct probe_link_row){ .ask = { what, chips, b, 0 } };
	return 0;
}

int probe_link_run(const struct link_cfg *c, struct probe_link *x, struct err *e)
{
	for (size_t i = 0; i < x->n; i++) {
		if (link_check(c, x->row[i].ask.chips, e) < 0)
			return -1;
		x->row[i].time = link_time(c, &x->row[i].ask);
	}
	return 0;
}

/* --- what comes of it ------------------------------------------------------------------------------------------ */

static double error_of(const struct probe_link_row *r)
{
	return (double)r->time.total / 1e6 / r->us - 1;
}

double probe_link_error_pct(const struct probe_link_row *r)
{
	return 100 * error_of(r);
}

static uint64_t group_of(const struct link_ask *q)
{
	return (uint64_t)q->what << 32 | q->chips;
}

bool probe_link_error_next(const struct probe_link *x, struct probe_link_error *g)
{
	const uint64_t last = g->n ? group_of(&(struct link_ask){ g->what, g->chips, 0, 0 }) : 0;
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < x->n; i++) {
		const uint64_t k = group_of(&x->row[i].ask);

		next = x->row[i].us > 0 && k > last && k < next ? k : next;
	}
	*g = (struct probe_link_error){ .what = (enum link_collective)(next >> 32), .chips = (uint32_t)next };
	for (size_t i = 0; i < x->n; i++) {
		const double off = group_of(&x->row[i].ask) == next ? fabs(error_of(&x->row[i])) : 0;

		g->n += group_of(&x->row[i].ask) == next;
		g->mean += off;
		g->most = off > g->most ? off : g->most;
	}
	g->mean /= g->n ? (double)g->n : 1;
	return g->n > 0;
}

double probe_link_gbps(const struct probe_link_row *r)
{
	return r->time.total ? (double)r->ask.bytes * 1e3 / (double)r->time.total : 0;
}

double probe_link_bus_gbps(const struct probe_link_row *r)
{
	const double chips = r->ask.chips, part = (chips - 1) / chips;

	switch (r->ask.what) {
	case LINK_ALL_REDUCE:
		return 2 * part * probe_link_gbps(r);
	case LINK_BROADCAST:
	case LINK_SEND:
		return probe_link_gbps(r);
	default:
		return part * probe_link_gbps(r);
	}
}
