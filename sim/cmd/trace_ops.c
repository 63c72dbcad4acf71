/* trace_ops.c - npusim trace ops: the op stream a trace is lowered to, and how much of the time it covers. */
#include "sim/cmd/ops_table.h"

#include <inttypes.h>
#include <string.h>

#include "sim/lower/lower.h"
#include "workloads/work.h"

struct options {
	const char *range, *rules, *format;
	bool all;
};

struct kind_sum {
	uint64_t ops, launches, measured_ns, read_bytes, write_bytes, flops;
	uint64_t counted_ops, counted_ns;
	double needed, counted; /* bytes of the ops that Nsight Compute counted: operands once each; DRAM's */
};

/* `x` NULL: nothing was counted. */
static void sum_kinds(const struct op_stream *s, const struct counted_ops *x, struct kind_sum *sums)
{
	memset(sums, 0, OP_KINDS * sizeof *sums);
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];
		struct kind_sum *k = &sums[o->kind];
		struct work w = work_of(s, o);

		k->ops++;
		k->launches += o->n_launches;
		k->measured_ns += o->measured_ns;
		k->read_bytes += w.read_bytes;
		k->write_bytes += w.write_bytes;
		k->flops += w.flops;
		if (x && x->ns[i]) {
			k->counted_ops++;
			k->counted_ns += x->ns[i];
			k->needed += (double)w.read_bytes + (double)w.write_bytes;
			k->counted += x->bytes[i];
		}
	}
}

/* Kinds that occur, longest measured time first; a stable order of a few rows. */
static int order_kinds(const struct kind_sum *sums, int *order)
{
	int n = 0;

	for (int k = 0; k < OP_KINDS; k++) {
		int at = n;

		if (!sums[k].ops)
			continue;
		while (at > 0 && sums[order[at - 1]].measured_ns < sums[k].measured_ns) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = k;
		n++;
	}
	return n;
}

static double covered(const struct lower_stats *st)
{
	return cmd_pct((double)st->lowered_kernel_ns, (double)st->kernel_ns);
}

static void add_deps(const struct op_stream *s, const struct op *o, struct str *to)
{
	str_clear(to);
	for (uint32_t i = 0; i < o->n_deps; i++)
		str_addf(to, "%s%" PRIu32, i ? " " : "", s->deps[o->first_dep + i]);
}

/* --- how launches came to their framework ops ---------------------------------------------------------------- */

static const char *const link_names[TRACE_LINKS] = { "none", "id", "nesting" };

static void count_links(const struct op_stream *s, uint64_t kernels[TRACE_LINKS])
{
	memset(kernels, 0, TRACE_LINKS * sizeof *kernels);
	for (size_t i = 0; i < s->n_launches; i++)
		kernels[s->launches[i].link] += s->launches[i].kind == TRACE_KERNEL;
}

static const char *link_of(const struct op_stream *s, const struct op *o)
{
	const struct op_launch *l = &s->launches[o->first_launch];

	for (uint32_t i = 1; i < o->n_launches; i++)
		if (l[i].link != l->link)
			return "mixed";
	return link_names[o->n_launches ? l->link : TRACE_LINK_NONE];
}

/* --- json -------------------------------------------------------------------------------------------------- */

/* `t` is the trace of a table of ops, whose launches are the ops in order; else NULL. */
static void json_ops(struct out_json *j, const struct op_stream *s, const struct trace *t)
{
	out_json_open(j, "ops", '[');
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];
		struct work w = work_of(s, o);

		out_json_open(j, NULL, '{');
		out_json_int(j, "id", o->id);
		out_json_int(j, "layer", o->layer);
		out_json_text(j, "phase", op_phase_name(o->phase));
		out_json_text(j, "kind", op_kind_name(o->kind));
		out_json_text(j, "family", o->family);
		out_json_text(j, "name", o->name);
		out_json_text(j, "rule", o->rule);
		out_json_text(j, "link", link_of(s, o));
		out_json_int(j, "launches", o->n_launches);
		out_json_real(j, "us", cmd_us((int64_t)o->measured_ns));
		out_json_u64(j, "read_bytes", w.read_bytes);
		out_json_u64(j, "write_bytes", w.write_bytes);
		out_json_u64(j, "flops", w.flops);
		if (t)
			ops_listed_json(j, s, o, &t->launches[i]);
		out_json_open(j, "deps", '[');
		for (uint32_t d = 0; d < o->n_deps; d++)
			out_json_int(j, NULL, s->deps[o->first_dep + d]);
		out_json_close(j, ']');
		out_json_close(j, '}');
	}
	out_json_close(j, ']');
}

static void write_json(const struct op_stream *s, const struct lower_stats *st, const struct kind_sum *sums, bool all,
                       const struct trace *table, struct str *out)
{
	struct out_json j;
	int order[OP_KINDS], n = order_kinds(sums, order);
	uint64_t links[TRACE_LINKS];

	count_links(s, links);
	out_json_init(&j, out);
	out_json_open(&j, NULL, '{');
	out_json_text(&j, "source", s->source);
	out_json_u64(&j, "op_count", st->ops);
	out_json_u64(&j, "launch_count", st->launches);
	out_json_u64(&j, "kernel_count", st->kernels);
	out_json_real(&j, "kernel_us", cmd_us((int64_t)st->kernel_ns));
	out_json_real(&j, "modelled_kernel_us", cmd_us((int64_t)st->lowered_kernel_ns));
	out_json_real(&j, "opaque_us", cmd_us((int64_t)st->opaque_ns));
	out_json_real(&j, "coverage_pct", covered(st));
	out_json_open(&j, "kernel_links", '{');
	for (int i = 0; i < TRACE_LINKS; i++)
		out_json_u64(&j, link_names[i], links[i]);
	out_json_close(&j, '}');
	out_json_u64(&j, "tensor_count", s->n_tensors);
	out_json_u64(&j, "inferred_tensors", st->inferred_tensors);
	out_json_u64(&j, "routes", s->n_routes);
	out_json_open(&j, "kinds", '[');
	for (int i = 0; i < n; i++) {
		const struct kind_sum *k = &sums[order[i]];

		out_json_open(&j, NULL, '{');
		out_json_text(&j, "kind", op_kind_name((enum op_kind)order[i]));
		out_json_u64(&j, "ops", k->ops);
		out_json_u64(&j, "launches", k->launches);
		out_json_real(&j, "us", cmd_us((int64_t)k->measured_ns));
		out_json_real(&j, "share_pct", cmd_pct((double)k->measured_ns, (double)s->measured_ns));
		out_json_u64(&j, "read_bytes", k->read_bytes);
		out_json_u64(&j, "write_bytes", k->write_bytes);
		out_json_u64(&j, "flops", k->flops);
		if (k->counted_ops) {
			out_json_u64(&j, "counted_ops", k->counted_ops);
			out_json_real(&j, "counted_needed_bytes", k->needed);
			out_json_real(&j, "counted_dram_bytes", k->counted);
		}
		out_json_close(&j, '}');
	}
	out_json_close(&j, ']');
	if (all || table)
		json_ops(&j, s, table);
	out_json_close(&j, '}');
}

/* --- tables ------------------------------------------------------------------------------------------------ */

static void write_kinds(const struct op_stream *s, const struct kind_sum *sums, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "kind", OUT_TEXT, 0 },         { "ops", OUT_INT, 0 },        { "launches", OUT_INT, 0 },
		{ "measured_us", OUT_REAL, 3 },  { "share_pct", OUT_REAL, 2 }, { "read_bytes", OUT_BYTES, 0 },
		{ "write_bytes", OUT_BYTES, 0 }, { "flops", OUT_INT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	int order[OP_KINDS], n = order_kinds(sums, order);

	for (int i = 0; i < n; i++) {
		const struct kind_sum *k = &sums[order[i]];

		out_text(t, op_kind_name((enum op_kind)order[i]));
		out_int(t, (int64_t)k->ops);
		out_int(t, (int64_t)k->launches);
		out_real(t, cmd_us((int64_t)k->measured_ns));
		out_real(t, cmd_pct((double)k->measured_ns, (double)s->measured_ns));
		out_int(t, (int64_t)k->read_bytes);
		out_int(t, (int64_t)k->write_bytes);
		out_int(t, (int64_t)k->flops);
	}
	out_table_write(t, f, out);
	out_table_free(t);
}

static void write_counted(const struct kind_sum *sums, struct str *out)
{
	static const struct out_col cols[] = {
		{ "kind", OUT_TEXT, 0 },           { "ops", OUT_INT, 0 },
		{ "measured_us", OUT_REAL, 3 },    { "needed_bytes", OUT_BYTES, 0 },
		{ "counted_bytes", OUT_BYTES, 0 }, { "counted/needed", OUT_REAL, 3 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols,
	                                    "bytes of DRAM that Nsight Compute counted, and what the same ops need"
	                                    " (operands once each)");
	int order[OP_KINDS], n = order_kinds(sums, order);

	for (int i = 0; i < n; i++) {
		const struct kind_sum *k = &sums[order[i]];

		if (!k->counted_ops)
			continue;
		out_text(t, op_kind_name((enum op_kind)order[i]));
		out_int(t, (int64_t)k->counted_ops);
		out_real(t, cmd_us((int64_t)k->counted_ns));
		out_int(t, (int64_t)k->needed);
		out_int(t, (int64_t)k->counted);
		if (k->needed > 0)
			out_real(t, k->counted / k->needed);
		else
			out_null(t);
	}
	out_table_write(t, OUT_TABLE, out);
	out_table_free(t);
}

static void write_ops(const struct op_stream *s, enum out_format f, struct str *out)
{
	static const struct out_col cols[] = {
		{ "id", OUT_INT, 0 },           { "layer", OUT_INT, 0 },         { "kind", OUT_TEXT, 0 },
		{ "name", OUT_TEXT, 0 },        { "rule", OUT_TEXT, 0 },         { "us", OUT_REAL, 3 },
		{ "read_bytes", OUT_BYTES, 0 }, { "write_bytes", OUT_BYTES, 0 }, { "flops", OUT_INT, 0 },
		{ "deps", OUT_TEXT, 0 },        { "link", OUT_TEXT, 0 },
	};
	struct out_table *t = out_table_new(cols, sizeof cols / sizeof *cols, NULL);
	struct str deps = STR_INIT;

	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];
		struct work w = work_of(s, o);

		add_deps(s, o, &deps);
		out_int(t, o->id);
		out_int(t, o->layer);
		out_text(t, op_kind_name(o->kind));
		out_text(t, o->name);
		out_text(t, o->rule);
		out_real(t, cmd_us((int64_t)o->measured_ns));
		out_int(t, (int64_t)w.read_bytes);
		out_int(t, (int64_t)w.write_bytes);
		out_int(t, (int64_t)w.flops);
		out_text(t, str_c(&deps));
		out_text(t, link_of(s, o));
	}
	out_table_write(t, f, out);
	out->failed |= deps.failed;
	str_free(&deps);
	out_table_free(t);
}

static void write_tables(const struct op_stream *s, const struct lower_stats *st, const struct kind_sum *sums, bool all,
                         bool counted, struct str *out)
{
	uint64_t links[TRACE_LINKS];

	count_links(s, links);
	str_addf(out, "%s: %" PRIu64 " launches (%" PRIu64 " kernels) are %" PRIu64 " ops\n", s->source, st->launches,
	         st->kernels, st->ops);
	str_addf(out,
	         "kernel time %.3f us, of which a modelled op covers %.3f us (%.2f %%); opaque, copies and sets"
	         " included: %.3f us\n",
	         cmd_us((int64_t)st->kernel_ns), cmd_us((int64_t)st->lowered_kernel_ns), covered(st),
	         cmd_us((int64_t)st->opaque_ns));
	str_addf(out,
	         "kernels and operators of the framework: %" PRIu64 " linked by the profiler's id, %" PRIu64
	         " by nesting, %" PRIu64 " of no operator\n",
	         links[TRACE_LINK_ID], links[TRACE_LINK_NESTING], links[TRACE_LINK_NONE]);
	str_addf(out, "%zu tensors, %" PRIu64 " of them inferred; %zu routers", s->n_tensors, st->inferred_tensors,
	         s->n_routes);
	if (st->inferred_groups)
		str_addf(out, "; %" PRIu64 " grouped products, whose rows an expert are inferred: even picks",
		         st->inferred_groups);
	str_add(out, "\n\n");
	write_kinds(s, sums, OUT_TABLE, out);
	if (counted) {
		str_addc(out, '\n');
		write_counted(sums, out);
	}
	if (all) {
		str_addc(out, '\n');
		write_ops(s, OUT_TABLE, out);
	}
}

static int ops(const char *path, const struct options *o, struct str *out, struct err *e)
{
	struct kind_sum sums[OP_KINDS];
	struct cmd_trace t = { 0 };
	struct counted_ops counted;
	struct lower_stats st;
	struct op_stream s;
	enum out_format f;
	bool table;
	int rc = -1;

	if (cmd_format(o->format, &f, e) < 0 ||
	    cmd_trace_load_ruled(tracedb_load, path, o->range, o->rules, &t, e) < 0 ||
	    lower_trace(&t.trace, t.rules, t.arena, &s, &st, e) < 0)
		goto out;
	if (t.counters && counters_ops(t.counters, &t.trace, &s, t.arena, &counted, e) < 0)
		goto out;
	table = ops_listed_all(&s);
	sum_kinds(&s, t.counters ? &counted : NULL, sums);
	if (f == OUT_JSON)
		write_json(&s, &st, sums, o->all, table ? &t.trace : NULL, out);
	else if (f == OUT_CSV && table && !o->all)
		ops_listed_write(&s, &t.trace, f, out);
	else if (f == OUT_CSV && o->all)
		write_ops(&s, f, out);
	else if (f == OUT_CSV)
		write_kinds(&s, sums, f, out);
	else
		write_tables(&s, &st, sums, o->all, t.counters != NULL, out);
	if (f == OUT_TABLE && table) {
		str_addc(out, '\n');
		ops_listed_write(&s, &t.trace, f, out);
	}
	rc = 0;
out:
	cmd_trace_free(&t);
	return rc;
}

int cmd_trace_ops(int argc, char **argv, struct str *out, struct err *e)
{
	struct options o = { 0 };
	const struct opt opts[] = {
		{ 0, "range", OPT_TEXT, &o.range, "NAME", CMD_RANGE_HELP },
		{ 'a', "all", OPT_FLAG, &o.all, NULL,
		  "list every op: layer, rule, time, bytes, the ops it must wait for, and how its framework op is known" },
		{ 0, "rules", OPT_READ, &o.rules, "FILE", CMD_RULES_HELP },
		{ 0, "format", OPT_TEXT, &o.format, "table|csv|json",
		  CMD_FORMAT_HELP "; csv has the kinds, or with --all the ops; of a table of ops its rows" },
		{ .type = OPT_END },
	};
	const struct opt_cmd cmd = {
		"npusim trace ops T.db [--range NAME] [--all]",
		"What was computed: every device activity becomes an operation with shapes, operands and dependencies, by the"
		" rule table. This is what 'run' replays on another machine. What no rule knows is opaque: its measured time is"
		" carried along and stays outside every bound, so the coverage printed here should be close to 100 %. Shapes are"
		" those of the framework's operators. A kernel's operator is the one of the profiler's id where that operator"
		" is around the kernel's launch, on its thread and in time; else the innermost one around the launch (nesting);"
		" else none. Of a table of ops (CSV whose header begins with 'op,') each row is listed with its operations a byte,"
		" from its sizes and formats alone.",
		"npusim trace ops workloads/ops/gb200-decode.csv\n"
		"npusim trace ops /tmp/t.db --range decode_step_1\n"
		"npusim trace ops /tmp/t.db --range decode_step_1 --all --format csv\n",
		opts,
		1,
		1
	};
	struct opt_list args = { NULL, 0 };
	int rc = cmd_parse(&cmd, argc, argv, &args, out, e);

	if (rc == 0)
		rc = ops(args.v[0], &o, out, e);
	opt_list_free(&args);
	return rc < 0 ? -1 : 0;
}
