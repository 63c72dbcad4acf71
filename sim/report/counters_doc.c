#include "sim/report/counters_doc.h"

#include <inttypes.h>
#include <math.h>

/* Times as they are, bytes in MB, percentages as means. */
static double scaled(enum simulated_metric m, const struct simulated_sum *s, double v)
{
	if (!s->n)
		return NAN;
	return simulated_is_percent(m) ? v / (double)s->n : m == SIM_US ? v : v / 1e6;
}

static void all(struct doc *d, const void *of, size_t i)
{
	static const char *const text[SIM_METRICS] = { "time, us", "DRAM read, MB", "DRAM written, MB", "L2 hits, %",
		                                       "occupancy, %" };
	const struct simulated_row *r = of;
	const struct simulated_sum *s = &r->m[i];
	const enum simulated_metric k = (enum simulated_metric)i;

	doc_text(d, "all of them", text[i]);
	doc_count(d, "kernels", s->n);
	doc_real(d, "counted", 3, scaled(k, s, s->counted));
	doc_real(d, "simulated", 3, scaled(k, s, s->simulated));
	doc_real(d, "error", 2, simulated_error(s, k));
	doc_real(d, "mean_abs", 2, simulated_absolute(s));
	doc_text(d, "errors in", simulated_is_percent(k) ? "points" : "percent");
}

static void metric(struct doc *d, const struct simulated_sum *s, enum simulated_metric k)
{
	const bool percent = simulated_is_percent(k);

	doc_open(d, counter_name(simulated_counter(k)), '{');
	doc_count(d, "kernels", s->n);
	doc_real(d, "counted", 3, percent ? scaled(k, s, s->counted) : s->counted);
	doc_real(d, "simulated", 3, percent ? scaled(k, s, s->simulated) : s->simulated);
	doc_real(d, percent ? "error_points" : "error_pct", 2, simulated_error(s, k));
	doc_real(d, percent ? "mean_abs_points" : "mape_pct", 2, simulated_absolute(s));
	doc_close(d, '}');
}

static void counters_doc_members(struct doc *d, const struct simulated_row *r)
{
	doc_text(d, "name", r->name);
	doc_text(d, "friendly", r->friendly);
	doc_count(d, "count", r->count);
	for (int m = 0; m < SIM_METRICS; m++)
		metric(d, &r->m[m], (enum simulated_metric)m);
}

static void counters_doc_kernel(struct doc *d, const void *of, size_t i)
{
	static const struct {
		const char *counted, *simulated;
		int digits;
	} columns[SIM_METRICS] = { { "us", "sim_us", 2 },
		                   { "read_mb", "sim_read_mb", 3 },
		                   { "written_mb", "sim_written_mb", 3 },
		                   { "hit_pct", "sim_hit_pct", 1 },
		                   { "occ_pct", "sim_occ_pct", 1 } };
	const struct simulated_row *r = (const struct simulated_row *)of + i;

	if (d->format == OUT_JSON) {
		counters_doc_members(d, r);
		return;
	}
	doc_text(d, "kernel", d->format == OUT_TABLE ? r->friendly : r->name);
	doc_count(d, "count", r->count);
	for (int m = 0; m < SIM_METRICS; m++) {
		const struct simulated_sum *s = &r->m[m];

		doc_real(d, columns[m].counted, columns[m].digits, scaled((enum simulated_metric)m, s, s->counted));
		doc_real(d, columns[m].simulated, columns[m].digits, scaled((enum simulated_metric)m, s, s->simulated));
	}
}

void counters_doc(struct doc *d, const struct simulated *s, size_t n)
{
	doc_open(d, NULL, '{');
	doc_count(d, "profiled", s->profiled);
	doc_count(d, "not_modelled", s->opaque);
	doc_say(d, "%" PRIu64 " profiled kernels of %zu names", s->all.count, s->n);
	if (s->opaque)
		doc_say(d, " (and %" PRIu64 " that no rule models)", s->opaque);
	doc_say(d, "; times and bytes are sums, percentages means\n\n");
	if (d->format == OUT_JSON)
		doc_table(d, "all", NULL, 1, counters_doc_kernel, &s->all);
	else if (d->format == OUT_TABLE)
		doc_table(d, NULL, NULL, SIM_METRICS, all, &s->all);
	doc_say(d, "\n");
	doc_table(d, "kernels", NULL, n, counters_doc_kernel, s->v);
	doc_say_more(d, n, s->n);
	doc_close(d, '}');
}
