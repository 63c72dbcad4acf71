#include "sim/accuracy/probe_dram_ref.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/inputs.h"
#include "sim/base/path.h"

#define COLUMNS_MAX    40
#define LINE_MAX_CHARS 4096
#define AT_CAPACITY \
	0.99 /* M/D/1 waits 1 / (2 (1 - load)) services: from 50 of them on, a run is too short for a mean */

static const struct {
	const char *name;
	double bound;
} classes[PROBE_CLASSES] = {
	[PROBE_C_SEQ] = { "sequential", 0.03 },
	[PROBE_C_RANDOM] = { "random", 0.03 },
	[PROBE_C_STRIDED] = { "strided", 0.03 },
	[PROBE_C_MIX] = { "mix", 0.08 },
	[PROBE_C_COPY] = { "copy", 0.08 },
	[PROBE_C_CHASE] = { "idle latency", 2 },
	[PROBE_C_LOAD] = { "latency under load", 0.10 },
};

const char *probe_class_name(enum probe_class c)
{
	return classes[c].name;
}

double probe_class_bound(enum probe_class c)
{
	return classes[c].bound;
}

/* --- configuration ----------------------------------------------------------------------------------------- */

int probe_dram_load(struct dram_cfg *c, const char *path, const char *const *sets, int n, struct err *e)
{
	const struct cfg_section sections[] = { { "dram", dram_schema, 0 }, { NULL, NULL, 0 } };
	struct cfg *raw = cfg_new(sections, c, e);
	struct yaml *y = raw ? yaml_load(path, e) : NULL;
	int rc = y ? dram_cfg_preset(raw, y, yaml_root(y), e) : -1;

	for (int i = 0; rc == 0 && i < n; i++)
		rc = cfg_set(raw, sets[i], e);
	if (rc == 0)
		rc = dram_cfg_resolve(c, raw, e);
	yaml_free(y);
	cfg_free(raw);
	return rc;
}

/* --- the file ---------------------------------------------------------------------------------------------- */

/* Splits a line of CSV in place; quotes go. */
static int split(char *line, char **cell, int max)
{
	char *p = line;
	int n = 0;

	while (n < max) {
		bool quoted = *p == '"';
		char *to = p += quoted;

		cell[n++] = p;
		while (*p && (quoted ? *p != '"' : *p != ',' && *p != '\n' && *p != '\r'))
			*to++ = *p++;
		if (quoted && *p)
			p++;
		if (*p != ',') {
			*to = '\0';
			return n;
		}
		p++;
		*to = '\0';
	}
	return n;
}

static const char *const wanted[] = { "simulator",   "memory_type", "pattern",         "parameter",
	                              "requests",    "efficiency",  "mean_latency_ns", "p99_latency_ns",
	                              "address_map", "controller",  "saturated" };
enum { W_SIM, W_TYPE, W_PATTERN, W_PARAMETER, W_REQUESTS, W_EFF, W_MEAN, W_P99, W_MAP, W_CTRL, W_SAT, W_N };

static double probe_dram_ref_real(const char *s)
{
	return *s ? strtod(s, NULL) : -1;
}

static void probe_dram_ref_fill(struct probe_row *r, char **cell, const int *at)
{
	memset(r, 0, sizeof *r);
	snprintf(r->simulator, sizeof r->simulator, "%s", cell[at[W_SIM]]);
	snprintf(r->type, sizeof r->type, "%s", cell[at[W_TYPE]]);
	snprintf(r->pattern, sizeof r->pattern, "%s", cell[at[W_PATTERN]]);
	snprintf(r->parameter, sizeof r->parameter, "%s", cell[at[W_PARAMETER]]);
	snprintf(r->map, sizeof r->map, "%s", cell[at[W_MAP]]);
	snprintf(r->controller, sizeof r->controller, "%s", cell[at[W_CTRL]]);
	r->requests = strtoull(cell[at[W_REQUESTS]], NULL, 10);
	r->efficiency = probe_dram_ref_real(cell[at[W_EFF]]);
	r->mean_ns = probe_dram_ref_real(cell[at[W_MEAN]]);
	r->p99_ns = probe_dram_ref_real(cell[at[W_P99]]);
	r->saturated = strcmp(cell[at[W_SAT]], "yes") == 0;
}

static int probe_dram_ref_read_rows(struct probe_ref *f, FILE *in, const char *path, struct err *e)
{
	char line[LINE_MAX_CHARS], *cell[COLUMNS_MAX];
	int at[W_N], columns = -1;
	size_t room = 0;

	while (fgets(line, sizeof line, in)) {
		int n = split(line, cell, COLUMNS_MAX);

		if (columns < 0) {
			columns = n;
			for (int w = 0; w < W_N; w++) {
				at[w] = -1;
				for (int i = 0; i < n; i++)
					if (strcmp(cell[i], wanted[w]) == 0)
						at[w] = i;
				if (at[w] < 0)
					return err_set(e, ERR_IO, "'%s' has no column '%s'", path, wanted[w]);
			}
			continue;
		}
		if (n != columns)
			return err_set(e, ERR_IO, "'%s': row %zu has %d columns, not %d", path, f->n + 1, n, columns);
		if (f->n == room) {
			struct probe_row *more = realloc(f->row, (room = 2 * room + 64) * sizeof *more);

			if (!more)
				return err_set(e, ERR_NOMEM, "out of memory for '%s'", path);
			f->row = more;
		}
		probe_dram_ref_fill(&f->row[f->n++], cell, at);
	}
	return f->n ? 0 : err_set(e, ERR_IO, "'%s' has no rows", path);
}

/* What the reference reaches with a load row's stream when it is not paced. */
static double capacity_of(const struct probe_ref *f, const struct probe_row *r)
{
	const char *load = strstr(r->pattern, "_load");
	size_t n = load ? (size_t)(load - r->pattern) : 0;

	for (size_t i = 0; n && i < f->n; i++) {
		const struct probe_row *x = &f->row[i];

		if (strcmp(x->simulator, r->simulator) == 0 && strcmp(x->type, r->type) == 0 &&
		    strcmp(x->map, r->map) == 0 && strcmp(x->controller, r->controller) == 0 &&
		    strlen(x->pattern) == n && strncmp(x->pattern, r->pattern, n) == 0)
			return x->efficiency;
	}
	return 0;
}

int probe_ref_load(struct probe_ref *f, const char *path, struct err *e)
{
	FILE *in = fopen(path, "r");
	int rc;

	memset(f, 0, sizeof *f);
	if (!in)
		return err_set(e, ERR_IO, "cannot open '%s'", path);
	inputs_add(in);
	rc = probe_dram_ref_read_rows(f, in, path, e);
	fclose(in);
	if (rc < 0)
		probe_ref_free(f);
	for (size_t i = 0; i < f->n; i++)
		f->row[i].capacity = capacity_of(f, &f->row[i]);
	return rc;
}

void probe_ref_free(struct probe_ref *f)
{
	free(f->row);
	memset(f, 0, sizeof *f);
}

/* --- running a row ----------------------------------------------------------------------------------------- */

static enum probe_class probe_dram_ref_class_of(const char *pattern)
{
	static const struct {
		const char *part;
		enum probe_class c;
	} parts[] = {
		{ "_load", PROBE_C_LOAD }, { "chase", PROBE_C_CHASE },    { "copy", PROBE_C_COPY },
		{ "mix", PROBE_C_MIX },    { "stride", PROBE_C_STRIDED }, { "random", PROBE_C_RANDOM },
	};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strstr(pattern, parts[i].part))
			return parts[i].c;
	return PROBE_C_SEQ;
}

static uint64_t after(const char *text, const char *key)
{
	const char *p = strstr(text, key);

	return p ? strtoull(p + strlen(key), NULL, 10) : 0;
}

/* The stream of a row, by its names; false: there is none such. */
static bool probe_dram_ref_stream_of(const struct probe_row *r, struct probe_stream *s)
{
	static const struct {
		const char *pattern;
		struct probe_stream s;
	} known[] = {
		{ "seq_read", { .order = PROBE_SEQ } },
		{ "seq_write", { .order = PROBE_SEQ, .writes = 1 } },
		{ "seq_mix_2R1W", { .order = PROBE_SEQ, .reads = 2, .writes = 1 } },
		{ "seq_mix_1R1W", { .order = PROBE_SEQ, .reads = 1, .writes = 1 } },
		{ "random_mix_2R1W", { .order = PROBE_RANDOM, .reads = 2, .writes = 1 } },
		{ "random_read_burst", { .order = PROBE_RANDOM } },
		{ "random_read_64B", { .order = PROBE_RANDOM, .chunk = 64 } },
		{ "random_read_256B", { .order = PROBE_RANDOM, .chunk = 256 } },
		{ "random_read_burst_load", { .order = PROBE_RANDOM } },
		{ "seq_read_load", { .order = PROBE_SEQ } },
		{ "strided_read", { .order = PROBE_STRIDE } },
		{ "pointer_chase_random", { .order = PROBE_RANDOM, .chase = true } },
		{ "pointer_chase_seq", { .order = PROBE_SEQ, .chase = true } },
		{ "copy_same_bank", { .order = PROBE_COPY } },
		{ "copy_skewed_bank", { .order = PROBE_COPY } },
		{ "copy_4KiB_blocks", { .order = PROBE_COPY, .chunk = 4096 } },
	};
	const char *load = strstr(r->parameter, "load=");

	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strcmp(r->pattern, known[i].pattern) != 0)
			continue;
		*s = known[i].s;
		s->stride = after(r->parameter, "stride=");
		s->skew = after(r->parameter, "skew ");
		s->load = load ? (uint32_t)(strtod(load + 5, NULL) * 1e6 + 0.5) : 0;
		s->poisson = strstr(r->parameter, "poisson") != NULL;
		return (s->order != PROBE_STRIDE || s->stride) && (strstr(r->pattern, "_load") == NULL || s->load);
	}
	return false;
}

double probe_ref_utilisation(const struct probe_row *r)
{
	const char *load = strstr(r->parameter, "load=");

	return load && r->capacity > 0 ? strtod(load + 5, NULL) / r->capacity : 0;
}

bool probe_ref_at_capacity(const struct probe_row *r)
{
	return probe_ref_utilisation(r) >= (strstr(r->parameter, "poisson") ? AT_CAPACITY : 1);
}

static int config_of(const struct probe_row *r, struct dram_cfg *c, struct err *e)
{
	char file[64] = "configs/dram/", set[6][64], path[1024];
	const char *sets[6], *q = strstr(r->controller, "/q"), *ch = strstr(r->controller, "/ch");
	size_t n = strlen(file);

	for (const char *p = r->type; *p && n < sizeof file - 6; p++)
		file[n++] = (char)tolower((unsigned char)*p);
	snprintf(file + n, sizeof file - n, "%s", ".yaml");
	if (path_data(file, path, sizeof path, e) < 0)
		return -1;
	snprintf(set[0], sizeof set[0], "dram.channels=%s", ch ? ch + 3 : "1");
	snprintf(set[1], sizeof set[1], "dram.read_queue=%d", q ? atoi(q + 2) : 32);
	snprintf(set[2], sizeof set[2], "dram.write_queue=%d", q ? atoi(q + 2) : 32);
	snprintf(set[3], sizeof set[3], "dram.fields=%s", r->map);
	snprintf(set[4], sizeof set[4], "dram.refresh=%s",
	         strstr(r->controller, "NoRefresh") ? "none"
	         : strstr(r->controller, "PerBank") ? "per_bank"
	                                            : "all_bank");
	snprintf(set[5], sizeof set[5], "dram.scheduler=%s", strstr(r->controller, "RowHit") ? "row_hit" : "frfcfs");
	for (int i = 0; i < 6; i++)
		sets[i] = set[i];
	return probe_dram_load(c, path, sets, 6, e);
}

static double relative(double ours, double theirs)
{
	return theirs > 0 ? ours / theirs - 1 : 0;
}

int probe_ref_run(struct probe_row *r, uint64_t most, struct err *e)
{
	struct probe_stream s;
	struct dram_cfg c;

	r->cls = probe_dram_ref_class_of(r->pattern);
	if (strcmp(r->simulator, "ramulator2") != 0)
		r->why_not = "another controller and other defaults";
	else if (strncmp(r->controller, "FRFCFS", 6) != 0)
		r->why_not = "another controller";
	else if (strstr(r->controller, "PerBank"))
		r->why_not = "its per-bank refresh blocks all requests";
	else if (r->saturated)
		r->why_not = "saturated: latency is a growing backlog";
	else if (probe_ref_at_capacity(r))
		r->why_not = "at capacity: latency is a backlog";
	if (strcmp(r->simulator, "ramulator2") != 0)
		return 0;
	if (!probe_dram_ref_stream_of(r, &s))
		return err_set(e, ERR_IO, "the reference's pattern '%s' with '%s' is not known", r->pattern,
		               r->parameter);
	s.requests = most && most < r->requests ? most : r->requests;
	if (config_of(r, &c, e) < 0 || probe_dram_command(&c, &s, &r->ours, e) < 0)
		return err_add(e, "row %s, %s, %s", r->type, r->pattern, r->controller);
	r->ran = true;
	if (r->cls == PROBE_C_CHASE)
		r->error = r->ours.mean_ns - r->mean_ns;
	else if (r->cls == PROBE_C_LOAD)
		r->error = relative(r->ours.mean_ns, r->mean_ns);
	else
		r->error = relative(r->ours.efficiency, r->efficiency);
	return 0;
}

int probe_ref_draws(const struct probe_row *r, int n, double *least, double *most, struct err *e)
{
	struct probe_stream s;
	struct dram_cfg c;

	if (!probe_dram_ref_stream_of(r, &s))
		return err_set(e, ERR_IO, "the reference's pattern '%s' with '%s' is not known", r->pattern,
		               r->parameter);
	if (config_of(r, &c, e) < 0)
		return -1;
	s.requests = r->requests;
	for (s.seed = 0; s.seed < (uint64_t)n; s.seed++) {
		struct probe_result ours;

		if (probe_dram_command(&c, &s, &ours, e) < 0)
			return -1;
		*least = s.seed && *least < ours.mean_ns ? *least : ours.mean_ns;
		*most = s.seed && *most > ours.mean_ns ? *most : ours.mean_ns;
	}
	return 0;
}

int probe_ref_sum(const struct probe_ref *f, struct probe_class_sum out[PROBE_CLASSES])
{
	int beyond = 0;

	for (int c = 0; c < PROBE_CLASSES; c++) {
		struct probe_class_sum *s = &out[c];
		double sum = 0;

		*s = (struct probe_class_sum){ .n = 0 };
		for (size_t i = 0; i < f->n; i++) {
			const double v = fabs(f->row[i].error);

			if (f->row[i].why_not || !f->row[i].ran || f->row[i].cls != (enum probe_class)c)
				continue;
			s->n++;
			sum += v;
			s->most = v > s->most ? v : s->most;
			s->beyond += v > probe_class_bound((enum probe_class)c);
		}
		s->mean = s->n ? sum / s->n : 0;
		beyond += s->beyond;
	}
	return beyond;
}
