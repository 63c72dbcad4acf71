#include "sim/report/probe_dram_doc.h"

#include <math.h>
#include <string.h>

/* Below 0: none. */
static void real(struct doc *d, const char *key, int digits, double v)
{
	doc_real_if(d, key, digits, v >= 0, v);
}

/* --- one stream ----------------------------------------------------------------------------------------------------- */

static void stream(struct doc *d, const void *of, size_t i)
{
	const struct probe_dram_doc *v = of;
	const struct probe_result *r = v->r;

	(void)i;
	doc_text(d, "config", v->config);
	doc_text(d, "pattern", v->pattern);
	doc_text(d, "path", v->path);
	doc_count(d, "bursts", r->requests);
	doc_real(d, "efficiency", 4, r->efficiency);
	doc_real(d, "gbps", 2, r->gbps);
	doc_real(d, "peak_gbps", 2, r->peak_gbps);
	real(d, "mean_ns", 2, r->mean_ns);
	real(d, "p99_ns", 2, r->p99_ns);
	if (v->load && d->format == OUT_JSON)
		doc_bool(d, "saturated", r->saturated);
}

void probe_dram_doc(struct doc *d, const struct probe_dram_doc *v)
{
	doc_record(d, NULL, stream, v);
	if (d->format == OUT_JSON)
		str_addc(d->to, '\n');
	if (v->r->saturated)
		doc_say(d,
		        "saturated: less than 98.5 %% of the load was served, so the latency is a growing backlog\n");
}

/* --- the reference -------------------------------------------------------------------------------------------------- */

static const char *unit_of(const struct probe_row *r)
{
	return !r->ran ? "" : r->cls == PROBE_C_CHASE ? "ns" : r->cls == PROBE_C_LOAD ? "% latency" : "% efficiency";
}

static void probe_dram_doc_row(struct doc *d, const void *of, size_t i)
{
	const struct probe_row *r = (const struct probe_row *)of + i;

	doc_text(d, "simulator", r->simulator);
	doc_text(d, "type", r->type);
	doc_text(d, "pattern", r->pattern);
	doc_text(d, "parameter", r->parameter);
	doc_text(d, "map", r->map);
	doc_text(d, "controller", r->controller);
	real(d, "efficiency", 4, r->efficiency);
	real(d, "ours", 4, r->ran ? r->ours.efficiency : -1);
	real(d, "mean_ns", 2, r->mean_ns);
	real(d, "ours_ns", 2, r->ran ? r->ours.mean_ns : -1);
	doc_real_if(d, "error", 2, r->ran, r->cls == PROBE_C_CHASE ? r->error : 100 * r->error);
	doc_text(d, "of", unit_of(r));
	doc_text(d, "counted", r->why_not ? r->why_not : "counted");
}

static void class(struct doc *d, const void *of, size_t i)
{
	const struct probe_class_sum *s = (const struct probe_class_sum *)of + i;
	const bool chase = i == PROBE_C_CHASE;
	const double unit = chase ? 1 : 100;

	doc_text(d, "class", probe_class_name((enum probe_class)i));
	doc_int(d, "rows", s->n);
	doc_real(d, "mean", 3, unit * s->mean);
	doc_real(d, "max", 3, unit * s->most);
	doc_real(d, "bound", 3, unit * probe_class_bound((enum probe_class)i));
	doc_text(d, "unit", chase ? "ns" : "%");
	doc_int(d, "beyond", s->beyond);
}

struct drawn {
	const struct probe_row *r;
	int draws;
	double least, most;
};

/* Loads that the memory just about serves: what another draw of arrivals would have made of them. */
static void at_capacity(struct doc *d, const void *of, size_t i)
{
	const struct drawn *x = of;
	const struct probe_row *r = x->r;

	(void)i;
	doc_text(d, "type", r->type);
	doc_text(d, "pattern", r->pattern);
	doc_text(d, "parameter", r->parameter);
	doc_text(d, "map", r->map);
	doc_real(d, "load_of_capacity_pct", 1, 100 * probe_ref_utilisation(r));
	doc_real(d, "mean_ns", 2, r->mean_ns);
	doc_real(d, "ours_ns", 2, r->ours.mean_ns);
	doc_int(d, "draws", x->draws);
	doc_real(d, "least_ns", 2, x->least);
	doc_real(d, "most_ns", 2, x->most);
}

static int draw_rows(struct doc *d, const struct probe_ref *f, int draws, struct err *e)
{
	int rc = 0;

	doc_table_open(d, NULL,
	               "rows at capacity, not counted: loads above what the reference serves of that"
	               " stream unpaced, or at random times from 99 % of it on.\nTheir mean is a"
	               " backlog that grows with the run and changes with the draw of arrivals:"
	               " ours, and its range over draws");
	for (size_t i = 0; rc == 0 && i < f->n; i++) {
		const struct probe_row *r = &f->row[i];
		struct drawn x = { .r = r, .draws = strstr(r->parameter, "poisson") ? draws : 1 };

		if (!r->ran || !r->why_not || strncmp(r->why_not, "at capacity", 11) != 0)
			continue;
		if ((rc = probe_ref_draws(r, x.draws, &x.least, &x.most, e)) == 0)
			doc_row(d, at_capacity, &x, 0);
	}
	doc_table_close(d, at_capacity, &(struct drawn){ NULL });
	return rc;
}

int probe_ref_doc(struct doc *d, const struct probe_ref *f, int draws, struct err *e)
{
	struct probe_class_sum sums[PROBE_CLASSES];

	doc_table(d, NULL, NULL, f->n, probe_dram_doc_row, f->row);
	if (d->format != OUT_TABLE)
		return 0;
	doc_say(d, "\n");
	if (draw_rows(d, f, draws, e) < 0)
		return -1;
	doc_say(d, "\n");
	probe_ref_sum(f, sums);
	doc_table(d, NULL, "counted rows, by class", PROBE_CLASSES, class, sums);
	return 0;
}

/* --- the tile path --------------------------------------------------------------------------------------------------- */

void probe_tiles_doc(struct doc *d, const void *of, size_t i)
{
	const struct probe_tiles_doc *x = of;

	(void)i;
	doc_text(d, "stream", x->name);
	doc_count(d, "tile_kib", x->kib);
	doc_real(d, "command", 4, x->r.command);
	doc_real(d, "tiles", 4, x->r.tile);
	doc_real(d, "error_pct", 2, 100 * (x->r.tile / x->r.command - 1));
}
