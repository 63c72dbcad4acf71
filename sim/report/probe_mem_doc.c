#include "sim/report/probe_mem_doc.h"

#include <string.h>

#include "sim/accuracy/probe_curve.h"

/* --- working sets --------------------------------------------------------------------------------------------------- */

/* A value below 0 has no meaning in that probe. */
static void real(struct doc *d, const char *key, int digits, double v)
{
	doc_real_if(d, key, digits, v >= 0, v);
}

static void probe_mem_doc_point(struct doc *d, const void *of, size_t i)
{
	const struct probe_mem_point *x = (const struct probe_mem_point *)of + i;

	doc_text(d, "what", x->what);
	doc_bytes(d, "ws_bytes", x->ws_bytes);
	doc_real(d, "hit", 3, x->hit);
	doc_real(d, "gbps", 1, x->gbps);
	real(d, "efficiency", 3, x->efficiency);
	doc_real(d, "mean_ns", 1, x->mean_ns);
	doc_real(d, "p99_ns", 1, x->p99_ns);
	real(d, "hit_ns", 1, x->hit_ns);
	real(d, "miss_ns", 1, x->miss_ns);
}

/* The last point's fields stand on top too: the largest working set, or the copy. */
void probe_mem_doc(struct doc *d, const struct probe_mem_doc *v)
{
	const struct machine_cfg *c = v->c;

	doc_open(d, NULL, '{');
	doc_text(d, "probe", v->name);
	doc_text(d, "machine", c->name);
	doc_count(d, "l2_bytes", c->mem.l2.size);
	doc_count(d, "victim_bytes", c->mem.l2.victim);
	doc_count(d, "tile_bytes", v->how->tile);
	doc_count(d, "window", v->how->window);
	doc_say(d, "%s: L2 %llu B, victim cache %llu B; tiles of %llu B, %u under way\n\n", c->name,
	        (unsigned long long)c->mem.l2.size, (unsigned long long)c->mem.l2.victim,
	        (unsigned long long)v->how->tile, v->how->window);
	probe_mem_doc_point(d, v->points, v->n - 1);
	doc_table(d, "points", NULL, v->n, probe_mem_doc_point, v->points);
	doc_close(d, '}');
}

static double percent(double simulated, double measured)
{
	return 100 * (simulated / measured - 1);
}

/* --- latency -------------------------------------------------------------------------------------------------------- */

struct curve {
	const struct machine_cfg *c;
	const char *file;
	struct probe_curve m;
	struct probe_mem_point x[PROBE_MEM_POINTS];
	struct probe_curve_sum s;
};

static void footprint(struct doc *d, const void *of, size_t i)
{
	const struct curve *v = of;
	const bool counted = !d->heads && probe_curve_counted(&v->m, (int)i);

	doc_count(d, "bytes", v->m.bytes[i]);
	doc_real(d, "measured_ns", 1, v->m.ns[i]);
	doc_real(d, "simulated_ns", 1, v->x[i].mean_ns);
	doc_real(d, "error_pct", 1, percent(v->x[i].mean_ns, v->m.ns[i]));
	doc_real(d, "hit", 3, v->x[i].hit);
	if (d->format == OUT_JSON)
		doc_bool(d, "counted", counted);
	else
		doc_text(d, "counted", counted ? "yes" : "no: L1");
}

struct sum {
	const char *what;
	const struct probe_plateau *of; /* NULL: of errors */
	double error;
};

static void sum_row(struct doc *d, const void *of, size_t i)
{
	const struct sum *x = of;

	(void)i;
	doc_text(d, "summary", x->what);
	doc_real_if(d, "measured_ns", 1, x->of, x->of->measured);
	doc_real_if(d, "simulated_ns", 1, x->of, x->of->simulated);
	doc_real(d, "error_pct", 1, x->of ? percent(x->of->simulated, x->of->measured) : x->error);
}

static void probe_mem_doc_sums(struct doc *d, const struct probe_curve_sum *s)
{
	doc_say(d, "\n");
	doc_table_open(d, NULL, NULL);
	if (s->l2.n)
		doc_row(d, sum_row, &(struct sum){ "L2 plateau", &s->l2, 0 }, 0);
	if (s->dram.n)
		doc_row(d, sum_row, &(struct sum){ "DRAM plateau", &s->dram, 0 }, 0);
	if (s->counted) {
		doc_row(d, sum_row, &(struct sum){ "median absolute error", NULL, 100 * s->median }, 0);
		doc_row(d, sum_row, &(struct sum){ "mean absolute error", NULL, 100 * s->mean }, 0);
		doc_row(d, sum_row, &(struct sum){ "largest absolute error", NULL, 100 * s->worst }, 0);
	}
	doc_table_close(d, sum_row, NULL);
	if (s->counted)
		doc_say(d, "%d footprints counted; the largest error is at %llu B\n", s->counted,
		        (unsigned long long)s->worst_bytes);
}

static void plateau(struct doc *d, const char *key, const struct probe_plateau *p)
{
	doc_open(d, key, '{');
	doc_int(d, "footprints", p->n);
	if (p->n) {
		doc_real(d, "measured_ns", 1, p->measured);
		doc_real(d, "simulated_ns", 1, p->simulated);
	}
	doc_close(d, '}');
}

static void curve_members(struct doc *d, const struct curve *v)
{
	const struct probe_curve_sum *s = &v->s;

	doc_text(d, "probe", "latency");
	doc_text(d, "machine", v->c->name);
	doc_text(d, "beside", v->file);
	doc_int(d, "counted", s->counted);
	if (s->counted) {
		doc_real(d, "median_ape", 1, 100 * s->median);
		doc_real(d, "mape", 1, 100 * s->mean);
		doc_real(d, "max_ape", 1, 100 * s->worst);
		doc_count(d, "max_ape_bytes", s->worst_bytes);
	}
	plateau(d, "l2", &s->l2);
	plateau(d, "dram", &s->dram);
}

int probe_latency_doc(struct doc *d, const struct machine_cfg *c, const struct probe_mem_opts *want, const char *file,
                      struct err *e)
{
	struct probe_mem_opts o = *want, r;
	struct curve v = { .c = c, .file = file };

	if (want->largest)
		return err_set(e, ERR_USAGE,
		               "'--beside' takes the footprints of its file: '--largest' has nothing to say");
	if (probe_curve_load(&v.m, file, c->clock, e) < 0)
		return -1;
	o.sets = v.m.bytes;
	o.n_sets = v.m.n;
	if (probe_mem_latency(c, &o, &r, v.x, e) < 0)
		return -1;
	v.s = probe_curve_compare(&v.m, v.x, c->mem.l2.size);
	doc_open(d, NULL, '{');
	curve_members(d, &v);
	doc_say(d, "%s beside %s%s\n\n", c->name, file,
	        v.m.l1 ? "; what an L1 may hold is not counted: this probe goes past it" : "");
	doc_table(d, "points", NULL, (size_t)v.m.n, footprint, &v);
	if (d->format == OUT_TABLE)
		probe_mem_doc_sums(d, &v.s);
	doc_close(d, '}');
	return 0;
}

/* --- stream --------------------------------------------------------------------------------------------------------- */

struct rates {
	struct probe_rate v[PROBE_RATES];
	struct probe_mem_point x[PROBE_MEM_POINTS];
	int n, n_x;
};

static const struct probe_mem_point *simulated(const struct rates *r, int i)
{
	for (int k = 0; k < r->n_x; k++)
		if (strcmp(r->x[k].what, r->v[i].kernel) == 0)
			return &r->x[k];
	return NULL;
}

static void rate(struct doc *d, const void *of, size_t i)
{
	const struct rates *r = of;
	const struct probe_rate *m = &r->v[i];
	const struct probe_mem_point *p = d->heads ? NULL : simulated(r, (int)i);
	const double measured = d->heads ? 0 : 100 * m->gbps / m->peak_gbps;

	doc_text(d, "kernel", m->kernel);
	doc_real(d, "measured_gbps", 0, m->gbps);
	doc_real(d, "of_peak_pct", 1, measured);
	doc_real(d, "simulated_gbps", 0, p->gbps);
	doc_real(d, "sim_of_peak_pct", 1, 100 * p->efficiency);
	doc_real(d, "points", 1, 100 * p->efficiency - measured);
	doc_text(d, "what", m->what);
	doc_text(d, "source", m->source);
}

int probe_stream_doc(struct doc *d, const struct machine_cfg *c, const struct probe_mem_opts *want, const char *file,
                     struct err *e)
{
	struct probe_mem_opts resolved;
	struct rates r;

	if ((r.n = probe_rates_load(r.v, file, c->name, e)) < 0 ||
	    (r.n_x = probe_mem_stream(c, want, &resolved, r.x, e)) < 0)
		return -1;
	for (int i = 0; i < r.n; i++)
		if (!simulated(&r, i))
			return err_set(e, ERR_IO,
			               "'%s' has a kernel '%s' that the probe has not: read, write, copy, triad", file,
			               r.v[i].kernel);
	doc_say(d, "%s beside %s; shares are of each source's peak, points their difference\n\n", c->name, file);
	doc_table(d, NULL, NULL, (size_t)r.n, rate, &r);
	return 0;
}
