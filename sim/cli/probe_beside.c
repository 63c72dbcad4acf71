/* probe_beside.c - npusim probe latency and stream, beside what was measured. */
#include "sim/cli/probe.h"

#include <stdio.h>
#include <string.h>

#include "sim/accuracy/probe_curve.h"

#define COLS(a) ((int)(sizeof(a) / sizeof *(a)))

static double percent(double simulated, double measured)
{
	return 100 * (simulated / measured - 1);
}

/* --- latency ----------------------------------------------------------------------------------------------- */

struct sum_row {
	const char *what;
	double measured, simulated, error;
};

static int sum_rows(const struct probe_curve_sum *s, struct sum_row *r)
{
	int n = 0;

	if (s->l2.n)
		r[n++] = (struct sum_row){ "L2 plateau", s->l2.measured, s->l2.simulated,
			                   percent(s->l2.simulated, s->l2.measured) };
	if (s->dram.n)
		r[n++] = (struct sum_row){ "DRAM plateau", s->dram.measured, s->dram.simulated,
			                   percent(s->dram.simulated, s->dram.measured) };
	if (s->counted) {
		r[n++] = (struct sum_row){ "median absolute error", -1, -1, 100 * s->median };
		r[n++] = (struct sum_row){ "mean absolute error", -1, -1, 100 * s->mean };
		r[n++] = (struct sum_row){ "largest absolute error", -1, -1, 100 * s->worst };
	}
	return n;
}

static void latency_json(const struct machine_cfg *c, const char *file, const struct probe_curve *m,
                         const struct probe_mem_point *x, const struct probe_curve_sum *s, struct str *out)
{
	static const char *const keys[] = { "l2", "dram" };
	const struct probe_plateau *plateaus[] = { &s->l2, &s->dram };
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "probe", "latency");
	out_json_text(&j, "machine", c->name);
	out_json_text(&j, "beside", file);
	out_json_int(&j, "counted", s->counted);
	if (s->counted) {
		out_json_real(&j, "median_ape", 100 * s->median);
		out_json_real(&j, "mape", 100 * s->mean);
		out_json_real(&j, "max_ape", 100 * s->worst);
		out_json_u64(&j, "max_ape_bytes", s->worst_bytes);
	}
	for (int i = 0; i < 2; i++) {
		out_json_open(&j, keys[i], '{');
		out_json_int(&j, "footprints", plateaus[i]->n);
		if (plateaus[i]->n) {
			out_json_real(&j, "measured_ns", plateaus[i]->measured);
			out_json_real(&j, "simulated_ns", plateaus[i]->simulated);
		}
		out_json_close(&j, '}');
	}
	out_json_open(&j, "points", '[');
	for (int i = 0; i < m->n; i++) {
		out_json_open(&j, NULL, '{');
		out_json_u64(&j, "bytes", m->bytes[i]);
		out_json_real(&j, "measured_ns", m->ns[i]);
		out_json_real(&j, "simulated_ns", x[i].mean_ns);
		out_json_real(&j, "error_pct", percent(x[i].mean_ns, m->ns[i]));
		out_json_real(&j, "hit", x[i].hit);
		out_json_bool(&j, "counted", probe_curve_counted(m, i));
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

static void latency_points(const struct probe_curve *m, const struct probe_mem_point *x, enum out_format f,
                           struct str *out)
{
	static const struct out_col cols[] = {
		{ "bytes", OUT_INT, 0 },      { "measured_ns", OUT_REAL, 1 }, { "simulated_ns", OUT_REAL, 1 },
		{ "error_pct", OUT_REAL, 1 }, { "hit", OUT_REAL, 3 },         { "counted", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);

	for (int i = 0; i < m->n; i++) {
		out_int(t, (int64_t)m->bytes[i]);
		out_real(t, m->ns[i]);
		out_real(t, x[i].mean_ns);
		out_real(t, percent(x[i].mean_ns, m->ns[i]));
		out_real(t, x[i].hit);
		out_text(t, probe_curve_counted(m, i) ? "yes" : "no: L1");
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void latency_sum(const struct probe_curve_sum *s, struct str *out)
{
	static const struct out_col cols[] = {
		{ "summary", OUT_TEXT, 0 },
		{ "measured_ns", OUT_REAL, 1 },
		{ "simulated_ns", OUT_REAL, 1 },
		{ "error_pct", OUT_REAL, 1 },
	};
	struct out_table *t = out_table_new(cols, COLS(cols), NULL);
	struct sum_row r[5];
	int n = sum_rows(s, r);

	for (int i = 0; i < n; i++) {
		out_text(t, r[i].what);
		if (r[i].measured < 0) {
			out_null(t);
			out_null(t);
		} else {
			out_real(t, r[i].measured);
			out_real(t, r[i].simulated);
		}
		out_real(t, r[i].error);
	}
	str_addc(out, '\n');
	out_table_write(t, OUT_TABLE, out);
	if (s->counted)
		str_addf(out, "%d footprints counted; the largest error is at %llu B\n", s->counted,
		         (unsigned long long)s->worst_bytes);
	out_table_free(t);
}

int probe_beside_latency(const struct machine_cfg *c, const struct probe_mem_opts *want, const char *file,
                         enum out_format f, struct str *out, struct err *e)
{
	struct probe_mem_opts o = *want, r;
	struct probe_mem_point x[PROBE_MEM_POINTS];
	struct probe_curve m;
	struct probe_curve_sum s;

	if (want->largest)
		return err_set(e, ERR_USAGE,
		               "'--beside' takes the footprints of its file: '--largest' has nothing to say");
	if (probe_curve_load(&m, file, c->clock, e) < 0)
		return -1;
	o.sets = m.bytes;
	o.n_sets = m.n;
	if (probe_mem_latency(c, &o, &r, x, e) < 0)
		return -1;
	s = probe_curve_compare(&m, x, c->mem.l2.size);
	if (f == OUT_JSON) {
		latency_json(c, file, &m, x, &s, out);
		return 0;
	}
	if (f == OUT_TABLE)
		str_addf(out, "%s beside %s%s\n\n", c->name, file,
		         m.l1 ? "; what an L1 may hold is not counted: this probe goes past it" : "");
	latency_points(&m, x, f, out);
	if (f == OUT_TABLE)
		latency_sum(&s, out);
	return 0;
}

/* --- stream ------------------------------------------------------------------------------------------------ */

static const struct probe_mem_point *simulated(const struct probe_mem_point *x, int n, const char *kernel)
{
	for (int i = 0; i < n; i++)
		if (strcmp(x[i].what, kernel) == 0)
			return &x[i];
	return NULL;
}

static int unknown_kernel(const struct probe_rate *r, int n_rates, const struct probe_mem_point *x, int n,
                          const char *file, struct err *e)
{
	for (int i = 0; i < n_rates; i++)
		if (!simulated(x, n, r[i].kernel))
			return err_set(e, ERR_IO,
			               "'%s' has a kernel '%s' that the probe has not: read, write, copy, triad", file,
			               r[i].kernel);
	return 0;
}

int probe_beside_stream(const struct machine_cfg *c, const struct probe_mem_opts *want, const char *file,
                        enum out_format f, struct str *out, struct err *e)
{
	static const struct out_col cols[] = {
		{ "kernel", OUT_TEXT, 0 },         { "measured_gbps", OUT_REAL, 0 },   { "of_peak_pct", OUT_REAL, 1 },
		{ "simulated_gbps", OUT_REAL, 0 }, { "sim_of_peak_pct", OUT_REAL, 1 }, { "points", OUT_REAL, 1 },
		{ "what", OUT_TEXT, 0 },           { "source", OUT_TEXT, 0 },
	};
	struct probe_rate rates[PROBE_RATES];
	struct probe_mem_point x[PROBE_MEM_POINTS];
	struct probe_mem_opts r;
	struct out_table *t;
	int n_rates = probe_rates_load(rates, file, c->name, e), n;

	if (n_rates < 0 || (n = probe_mem_stream(c, want, &r, x, e)) < 0 ||
	    unknown_kernel(rates, n_rates, x, n, file, e) < 0)
		return -1;
	t = out_table_new(cols, COLS(cols), NULL);
	for (int i = 0; i < n_rates; i++) {
		const struct probe_mem_point *p = simulated(x, n, rates[i].kernel);
		double measured = 100 * rates[i].gbps / rates[i].peak_gbps;

		out_text(t, rates[i].kernel);
		out_real(t, rates[i].gbps);
		out_real(t, measured);
		out_real(t, p->gbps);
		out_real(t, 100 * p->efficiency);
		out_real(t, 100 * p->efficiency - measured);
		out_text(t, rates[i].what);
		out_text(t, rates[i].source);
	}
	if (f == OUT_TABLE)
		str_addf(out, "%s beside %s; shares are of each source's peak, points their difference\n\n", c->name,
		         file);
	out_table_write(t, f, out);
	out_table_free(t);
	return 0;
}
