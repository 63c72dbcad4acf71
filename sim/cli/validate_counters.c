/* validate_counters.c - npusim validate --counters: the GPU's model against Nsight Compute's counters, kernel by kernel. */
#include "sim/cli/validate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "arch/machine/machine_gpu.h"
#include "sim/profile/simulated.h"

static double validate_counters_scaled(enum simulated_metric m, const struct simulated_sum *s, double v)
{
	if (!s->n)
		return NAN;
	return simulated_is_percent(m) ? v / (double)s->n : m == SIM_US ? v : v / 1e6;
}

static const char *what(enum simulated_metric m)
{
	static const char *const text[SIM_METRICS] = { "time, us", "DRAM read, MB", "DRAM written, MB", "L2 hits, %",
		                                       "occupancy, %" };

	return text[m];
}

static void write_sums(const struct simulated_row *r, struct str *out)
{
	static const struct out_col cols[] = {
		{ "all of them", OUT_TEXT, 0 }, { "kernels", OUT_INT, 0 }, { "counted", OUT_REAL, 3 },
		{ "simulated", OUT_REAL, 3 },   { "error", OUT_REAL, 2 },  { "mean_abs", OUT_REAL, 2 },
		{ "errors in", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (int m = 0; m < SIM_METRICS; m++) {
		const struct simulated_sum *s = &r->m[m];
		const enum simulated_metric k = (enum simulated_metric)m;

		out_text(t, what(k));
		out_int(t, (int64_t)s->n);
		out_real_or_null(t, validate_counters_scaled(k, s, s->counted));
		out_real_or_null(t, validate_counters_scaled(k, s, s->simulated));
		out_real_or_null(t, simulated_error(s, k));
		out_real_or_null(t, simulated_absolute(s));
		out_text(t, simulated_is_percent(k) ? "points" : "percent");
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void validate_counters_write_rows(const struct simulated *s, size_t n, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "kernel", OUT_TEXT, 0 },      { "count", OUT_INT, 0 },           { "us", OUT_REAL, 2 },
		{ "sim_us", OUT_REAL, 2 },      { "read_mb", OUT_REAL, 3 },        { "sim_read_mb", OUT_REAL, 3 },
		{ "written_mb", OUT_REAL, 3 },  { "sim_written_mb", OUT_REAL, 3 }, { "hit_pct", OUT_REAL, 1 },
		{ "sim_hit_pct", OUT_REAL, 1 }, { "occ_pct", OUT_REAL, 1 },        { "sim_occ_pct", OUT_REAL, 1 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);

	for (size_t i = 0; i < n; i++) {
		const struct simulated_row *r = &s->v[i];

		if (f == OUT_TABLE)
			out_text(t, r->friendly);
		else
			out_text(t, r->name);
		out_int(t, (int64_t)r->count);
		for (int m = 0; m < SIM_METRICS; m++) {
			out_real_or_null(t,
			                 validate_counters_scaled((enum simulated_metric)m, &r->m[m], r->m[m].counted));
			out_real_or_null(
				t, validate_counters_scaled((enum simulated_metric)m, &r->m[m], r->m[m].simulated));
		}
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void json_row(struct out_json *j, const struct simulated_row *r)
{
	out_json_open(j, NULL, '{');
	out_json_text(j, "name", r->name);
	out_json_text(j, "friendly", r->friendly);
	out_json_u64(j, "count", r->count);
	for (int m = 0; m < SIM_METRICS; m++) {
		const enum simulated_metric k = (enum simulated_metric)m;
		const struct simulated_sum *s = &r->m[m];

		out_json_open(j, counter_name(simulated_counter(k)), '{');
		out_json_u64(j, "kernels", s->n);
		out_json_real(j, "counted",
		              simulated_is_percent(k) ? validate_counters_scaled(k, s, s->counted) : s->counted);
		out_json_real(j, "simulated",
		              simulated_is_percent(k) ? validate_counters_scaled(k, s, s->simulated) : s->simulated);
		out_json_real(j, simulated_is_percent(k) ? "error_points" : "error_pct", simulated_error(s, k));
		out_json_real(j, simulated_is_percent(k) ? "mean_abs_points" : "mape_pct", simulated_absolute(s));
		out_json_close(j, '}');
	}
	out_json_close(j, '}');
}

static void validate_counters_write_json(const struct simulated *s, size_t n, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_u64(&j, "profiled", s->profiled);
	out_json_u64(&j, "not_modelled", s->opaque);
	out_json_open(&j, "all", '[');
	json_row(&j, &s->all);
	out_json_close(&j, ']');
	out_json_open(&j, "kernels", '[');
	for (size_t i = 0; i < n; i++)
		json_row(&j, &s->v[i]);
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

static void write_tables(const struct simulated *s, size_t n, struct str *out)
{
	str_addf(out, "%" PRIu64 " profiled kernels of %zu names", s->all.count, s->n);
	if (s->opaque)
		str_addf(out, " (and %" PRIu64 " that no rule models)", s->opaque);
	str_add(out, "; times and bytes are sums, percentages means\n\n");
	write_sums(&s->all, out);
	str_addc(out, '\n');
	validate_counters_write_rows(s, n, OUT_TABLE, out);
	cmd_print_more(n, s->n, out);
}

int validate_counters(const struct gpu_options *o, uint64_t most, enum out_format f, struct str *out, struct err *e)
{
	struct arena *a = arena_new(0);
	struct gpu_inputs in;
	struct simulated s;
	struct roof roof = { .sms = 0 };
	struct gpu g;
	size_t n;
	int rc = gpu_inputs_read(&in, o, e);

	if (rc == 0 && !a)
		rc = err_nomem(e, "for the counters");
	if (rc == 0 && (in.n_traces != 1 || in.n_tables))
		rc = err_set(e, ERR_USAGE, "--counters goes with one trace (-t) that has them");
	if (rc == 0) {
		g = machine_gpu(&in.conf->cfg);
		roof_of(&in.conf->cfg, &roof);
		rc = simulated_of(&in.traces[0].trace, in.traces[0].counters, &in.sets[0].work, &g, &roof, in.rules, a,
		                  &s, e);
	}
	if (rc == 0) {
		n = cmd_first(most, s.n);
		if (f == OUT_JSON)
			validate_counters_write_json(&s, n, out);
		else if (f == OUT_CSV)
			validate_counters_write_rows(&s, n, f, out);
		else
			write_tables(&s, n, out);
	}
	gpu_inputs_free(&in);
	arena_free(a);
	return rc;
}
