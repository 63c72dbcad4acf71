/* trace_waves.c - npusim trace waves: how kernels fill their device. */
#include "sim/cli/bound.h"

#include <math.h>
#include <stdio.h>

#include "sim/profile/waves.h"

struct options {
	struct bound_options b;
	const char *format;
	uint64_t n;
};

static void write_rows(const struct waves *w, size_t n, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "rank", OUT_INT, 0 },      { "friendly", OUT_TEXT, 0 }, { "count", OUT_INT, 0 },
		{ "us", OUT_REAL, 1 },       { "pct", OUT_REAL, 1 },      { "blocks", OUT_TEXT, 0 },
		{ "block", OUT_INT, 0 },     { "regs", OUT_INT, 0 },      { "smem", OUT_BYTES, 0 },
		{ "per_sm", OUT_INT, 0 },    { "limit", OUT_TEXT, 0 },    { "waves", OUT_REAL, 2 },
		{ "theory", OUT_REAL, 1 },   { "device", OUT_REAL, 1 },   { "active", OUT_REAL, 1 },
		{ "achieved", OUT_REAL, 1 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	char text[64];

	for (size_t i = 0; i < n; i++) {
		const struct waves_row *r = &w->v[i];

		if (r->blocks_min == r->blocks_max)
			snprintf(text, sizeof text, "%llu", (unsigned long long)r->blocks_max);
		else
			snprintf(text, sizeof text, "%llu-%llu", (unsigned long long)r->blocks_min,
			         (unsigned long long)r->blocks_max);
		out_int(t, (int64_t)i + 1);
		out_text(t, r->friendly);
		out_int(t, (int64_t)r->count);
		out_real(t, unit_us((int64_t)r->ns));
		out_real(t, unit_pct((double)r->ns, (double)w->ns));
		out_text(t, text);
		out_int(t, r->threads);
		out_int(t, r->registers);
		out_int(t, (int64_t)r->smem);
		out_int(t, r->per_sm);
		out_text(t, r->limit);
		out_real_or_null(t, r->waves);
		out_real_or_null(t, r->theoretical);
		out_real_or_null(t, r->device);
		out_real_or_null(t, r->active);
		out_real_or_null(t, r->achieved);
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void write_bins(const struct waves *w, struct str *out)
{
	static const struct out_col cols[] = {
		{ "waves", OUT_TEXT, 0 },
		{ "kernels", OUT_INT, 0 },
		{ "us", OUT_REAL, 1 },
		{ "pct", OUT_REAL, 1 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	char text[64];

	for (int i = 0; i < WAVES_BINS; i++) {
		const struct waves_bin *b = &w->bin[i];

		snprintf(text, sizeof text, isinf(b->to) ? "%g and more" : "%g to %g", b->from, b->to);
		out_text(t, text);
		out_int(t, (int64_t)b->count);
		out_real(t, unit_us((int64_t)b->ns));
		out_real(t, unit_pct((double)b->ns, (double)w->ns));
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void write_tables(const struct roof *r, const struct waves *w, size_t n, struct str *out)
{
	str_addf(out, "on %s: %u SMs of %u threads, %u registers, ", r->name, r->sms, r->sm.threads, r->sm.registers);
	str_add_bytes(out, r->sm.smem);
	str_add(out, " of shared memory\noccupancy, by time:");
	if (w->known_ns)
		str_addf(out, " theoretical %.1f %%, of active SMs %.1f %%, of all SMs %.1f %%", w->theoretical,
		         w->active, w->device);
	if (w->counted_ns)
		str_addf(out, ", achieved %.1f %% (counted, of %.1f %% of the time)", w->achieved,
		         unit_pct((double)w->counted_ns, (double)w->ns));
	str_addf(out, "%s\n\n",
	         w->known_ns || w->counted_ns ? "" : " not known, as the profile has no launch geometry");
	write_bins(w, out);
	str_addc(out, '\n');
	write_rows(w, n, OUT_TABLE, out);
	cmd_print_more(n, w->n, out);
}

static void json_row(struct out_json *j, const struct waves_row *r)
{
	out_json_open(j, NULL, '{');
	out_json_text(j, "name", r->name);
	out_json_text(j, "friendly", r->friendly);
	out_json_text(j, "family", r->family);
	out_json_u64(j, "count", r->count);
	out_json_real(j, "us", unit_us((int64_t)r->ns));
	out_json_u64(j, "blocks_min", r->blocks_min);
	out_json_u64(j, "blocks_max", r->blocks_max);
	out_json_u64(j, "threads", r->threads);
	out_json_u64(j, "registers", r->registers);
	out_json_u64(j, "smem_bytes", r->smem);
	out_json_u64(j, "blocks_per_sm", r->per_sm);
	out_json_text(j, "limit", r->limit);
	out_json_real(j, "waves", r->waves);
	out_json_real(j, "theoretical_occupancy_pct", r->theoretical);
	out_json_real(j, "device_occupancy_pct", r->device);
	out_json_real(j, "active_occupancy_pct", r->active);
	out_json_real(j, "achieved_occupancy_pct", r->achieved);
	out_json_close(j, '}');
}

static void write_json(const struct trace *t, const struct roof *r, const struct waves *w, size_t n, struct str *out)
{
	struct out_json j;

	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "range", t->range);
	out_json_text(&j, "config", r->name);
	out_json_u64(&j, "kernel_count", w->count);
	out_json_real(&j, "kernel_us", unit_us((int64_t)w->ns));
	out_json_real(&j, "theoretical_occupancy_pct", w->theoretical);
	out_json_real(&j, "device_occupancy_pct", w->device);
	out_json_real(&j, "active_occupancy_pct", w->active);
	out_json_real(&j, "achieved_occupancy_pct", w->achieved);
	out_json_open(&j, "waves", '[');
	for (int i = 0; i < WAVES_BINS; i++) {
		out_json_open(&j, NULL, '{');
		out_json_real(&j, "from", w->bin[i].from);
		out_json_real(&j, "to", w->bin[i].to);
		out_json_u64(&j, "kernels", w->bin[i].count);
		out_json_real(&j, "us", unit_us((int64_t)w->bin[i].ns));
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	out_json_open(&j, "kernels", '[');
	for (size_t i = 0; i < n; i++)
		json_row(&j, &w->v[i]);
	out_json_close(&j, ']');
	out_json_close(&j, '}');
}

static int waves(const char *path, const struct options *o, struct str *out, struct err *e)
{
	struct bound_input in = { .rules = NULL };
	struct waves w;
	enum out_format f;
	int rc = -1;

	if (cmd_format(o->format, &f, e) == 0 && bound_input_whole(&in, path, &o->b, e) == 0 &&
	    (rc = waves_trace(&in.t.trace, &in.b.roof, in.rules, in.t.counters, in.t.arena, &w, e)) == 0) {
		const size_t n = cmd_first(o->n, w.n);

		if (f == OUT_JSON)
			write_json(&in.t.trace, &in.b.roof, &w, n, out);
		else if (f == OUT_CSV)
			write_rows(&w, n, f, out);
		else
			write_tables(&in.b.roof, &w, n, out);
	}
	bound_input_free(&in);
	return rc;
}

int cmd_trace_waves(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { .n = 15 };
	const struct opt opts[] = {
		{ 'n', "top", OPT_COUNT, &o.n, "N", "the N kernels with most time; 15 by default" },
		{ 'c', "config", OPT_READ, &o.b.config, "CONFIG",
		  "the device; by default the one in configs/gpu that describes the trace's device" },
		{ 0, "range", OPT_TEXT, &o.b.range, "NAME", CMD_RANGE_HELP },
		{ 0, "rules", OPT_READ, &o.b.rules, "FILE", CMD_RULES_HELP },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json", CMD_FORMAT_HELP "; csv has the kernels alone" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace waves T.db [-n N] [--range NAME] [-c GPU.yaml]",
		"How kernels fill their device, by grid, block, registers and shared memory: how many blocks an SM holds at"
		" once and what limits that (per_sm, limit), how many waves of them the grid is, and the occupancy that"
		" follows. theory is what an SM can hold, active what those hold that have blocks, device the mean over all SMs"
		" (PyTorch's profiler estimates it as 'achieved'), achieved what Nsight Compute counted of active ones. Below one wave SMs are idle; of 1.1 waves the"
		" last runs on a tenth of them.",
		"npusim trace waves /tmp/t.db --range decode_step_1\n"
		"npusim trace waves /tmp/t.db -n 5 --format json\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0)
		rc = waves(args.v[0], &o, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
