#include "sim/report/ops_doc.h"

#include <inttypes.h>
#include <string.h>

#include "sim/report/listed_doc.h"
#include "sim/report/run.h"
#include "sim/report/types_doc.h"
#include "sim/ui/units.h"
#include "workloads/known.h"
#include "workloads/work.h"

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
	return unit_pct((double)st->lowered_kernel_ns, (double)st->kernel_ns);
}

/* --- how launches came to their framework ops ---------------------------------------------------------------- */

static const char *const link_names[TRACE_LINKS] = { "none", "id", "nesting", "node" };

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

/* --- the document ------------------------------------------------------------------------------------------ */

struct view {
	const struct workload *w;
	const struct op_stream *s;
	bool types; /* of some are not recorded */
	bool table; /* of ops, whose launches are the ops in order */
	struct kind_sum sums[OP_KINDS];
	int order[OP_KINDS], kinds;
};

static void kind(struct doc *d, const void *of, size_t i)
{
	const struct view *v = of;
	const struct kind_sum *k = &v->sums[v->order[i]];
	const bool json = d->format == OUT_JSON;

	doc_text(d, "kind", op_kind_name((enum op_kind)v->order[i]));
	doc_count(d, "ops", k->ops);
	doc_count(d, "launches", k->launches);
	doc_ns(d, json ? "us" : "measured_us", 3, k->measured_ns);
	doc_real(d, "share_pct", 2, unit_pct((double)k->measured_ns, (double)v->s->measured_ns));
	doc_bytes(d, "read_bytes", k->read_bytes);
	doc_bytes(d, "write_bytes", k->write_bytes);
	doc_count(d, "flops", k->flops);
	if (json && k->counted_ops) {
		doc_count(d, "counted_ops", k->counted_ops);
		doc_real(d, "counted_needed_bytes", 0, k->needed);
		doc_real(d, "counted_dram_bytes", 0, k->counted);
	}
}

static void counted(struct doc *d, const void *of, size_t i)
{
	const struct view *v = of;
	const struct kind_sum *k = &v->sums[v->order[i]];

	if (!d->heads && !k->counted_ops)
		return;
	doc_text(d, "kind", op_kind_name((enum op_kind)v->order[i]));
	doc_count(d, "ops", k->counted_ops);
	doc_ns(d, "measured_us", 3, k->counted_ns);
	doc_bytes(d, "needed_bytes", (uint64_t)k->needed);
	doc_bytes(d, "counted_bytes", (uint64_t)k->counted);
	doc_real_if(d, "counted/needed", 3, k->needed > 0, k->counted / k->needed);
}

static void deps(struct doc *d, const struct op_stream *s, const struct op *o)
{
	struct str text = STR_INIT;

	if (d->format == OUT_JSON) {
		doc_open(d, "deps", '[');
		for (uint32_t i = 0; i < o->n_deps; i++)
			doc_int(d, NULL, s->deps[o->first_dep + i]);
		doc_close(d, ']');
		return;
	}
	for (uint32_t i = 0; !d->heads && i < o->n_deps; i++)
		str_addf(&text, "%s%" PRIu32, i ? " " : "", s->deps[o->first_dep + i]);
	doc_text(d, "deps", str_c(&text));
	doc_free(d, &text);
}

static void op(struct doc *d, const void *of, size_t i)
{
	const struct view *v = of;
	const struct op *o = &v->s->ops[i];
	const bool json = d->format == OUT_JSON;
	struct work w = { 0 };

	if (!d->heads)
		w = work_of(v->s, o);
	doc_int(d, "id", o->id);
	doc_int(d, "layer", o->layer);
	if (json)
		doc_text(d, "phase", op_phase_name(o->phase));
	doc_text(d, "kind", op_kind_name(o->kind));
	if (json)
		doc_text(d, "family", o->family);
	doc_text(d, "name", o->name);
	doc_text(d, "rule", o->rule);
	if (json) {
		doc_text(d, "link", link_of(v->s, o));
		if (o->types)
			doc_text(d, "types", o->types);
		doc_int(d, "launches", o->n_launches);
	}
	doc_ns(d, "us", 3, o->measured_ns);
	doc_bytes(d, "read_bytes", w.read_bytes);
	doc_bytes(d, "write_bytes", w.write_bytes);
	doc_count(d, "flops", w.flops);
	if (json && v->table)
		listed_doc_members(d, v->s, o, &v->w->in.trace.launches[i]);
	deps(d, v->s, o);
	if (!json)
		doc_text(d, "link", link_of(v->s, o));
	if (!json && v->types)
		doc_text(d, "types", o->types ? o->types : "recorded");
}

static bool any_types(const struct op_stream *s)
{
	for (size_t i = 0; i < s->n_ops; i++)
		if (s->ops[i].types)
			return true;
	return false;
}

static void types(struct doc *d, const struct lower_stats *st)
{
	struct str text = STR_INIT;

	types_doc_text(st, &text);
	if (d->format == OUT_JSON)
		types_doc(d, st);
	else if (text.len)
		doc_say(d, "types %s\n", str_c(&text));
	doc_free(d, &text);
}

static void head(struct doc *d, const struct view *v)
{
	const struct lower_stats *st = &v->w->lowered;
	uint64_t links[TRACE_LINKS];

	count_links(v->s, links);
	doc_text(d, "source", v->s->source);
	doc_count(d, "op_count", st->ops);
	doc_count(d, "launch_count", st->launches);
	doc_count(d, "kernel_count", st->kernels);
	doc_ns(d, "kernel_us", 3, st->kernel_ns);
	doc_ns(d, "modelled_kernel_us", 3, st->lowered_kernel_ns);
	doc_ns(d, "opaque_us", 3, st->opaque_ns);
	doc_real(d, "coverage_pct", 2, covered(st));
	doc_open(d, "kernel_links", '{');
	for (int i = 0; i < TRACE_LINKS; i++)
		doc_count(d, link_names[i], links[i]);
	doc_close(d, '}');
	doc_count(d, "tensor_count", v->s->n_tensors);
	doc_count(d, "inferred_tensors", st->inferred_tensors);
	doc_count(d, "routes", v->s->n_routes);
	doc_say(d, "%s: %" PRIu64 " launches (%" PRIu64 " kernels) are %" PRIu64 " ops\n", v->s->source, st->launches,
	        st->kernels, st->ops);
	doc_say(d,
	        "kernel time %.3f us, of which a modelled op covers %.3f us (%.2f %%); opaque, copies and sets"
	        " included: %.3f us\n",
	        unit_us((int64_t)st->kernel_ns), unit_us((int64_t)st->lowered_kernel_ns), covered(st),
	        unit_us((int64_t)st->opaque_ns));
	doc_say(d,
	        "kernels and operators of the framework: %" PRIu64 " linked by the profiler's id, %" PRIu64
	        " by nesting, %" PRIu64 " of no operator",
	        links[TRACE_LINK_ID], links[TRACE_LINK_NESTING], links[TRACE_LINK_NONE]);
	if (links[TRACE_LINK_NODE])
		doc_say(d, "; %" PRIu64 " by the node of their graph", links[TRACE_LINK_NODE]);
	doc_say(d, "\n");
	types(d, st);
	if (st->inferred_groups)
		doc_count(d, "inferred_groups", st->inferred_groups);
	doc_say(d, "%zu tensors, %" PRIu64 " of them inferred; %zu routers", v->s->n_tensors, st->inferred_tensors,
	        v->s->n_routes);
	if (st->inferred_groups)
		doc_say(d, "; %" PRIu64 " grouped products, whose rows an expert are inferred: even picks",
		        st->inferred_groups);
	doc_say(d, "\n\n");
}

static void laid(struct doc *d, const struct view *v)
{
	struct str text = STR_INIT;

	run_align_text(&(struct run_report){ .laid = &v->w->laid }, &text);
	doc_say_fact(d, "aligned", str_c(&text), 0);
	doc_free(d, &text);
}

/* CSV: the kinds, with --all the ops, of a table of ops its rows. */
static void put(struct doc *d, const struct view *v, bool all)
{
	const bool csv = d->format == OUT_CSV, json = d->format == OUT_JSON;

	doc_open(d, NULL, '{');
	laid(d, v);
	head(d, v);
	if (!csv || (!all && !v->table))
		doc_table(d, "kinds", NULL, (size_t)v->kinds, kind, v);
	if (d->format == OUT_TABLE && v->w->in.counters) {
		doc_say(d, "\n");
		doc_table(d, NULL,
		          "bytes of DRAM that Nsight Compute counted, and what the same ops need (operands once each)",
		          (size_t)v->kinds, counted, v);
	}
	if (all || (json && v->table)) {
		doc_say(d, "\n");
		doc_table(d, "ops", NULL, v->s->n_ops, op, v);
	}
	if (!json && v->table) {
		doc_say(d, "\n");
		listed_doc(d, v->s, &v->w->in.trace);
	}
	doc_close(d, '}');
}

void ops_doc(struct doc *d, const struct workload *w, bool all)
{
	struct view v = {
		.w = w, .s = &w->stream, .types = any_types(&w->stream), .table = ops_listed_all(&w->stream)
	};

	sum_kinds(v.s, w->in.counters ? &w->counted : NULL, v.sums);
	v.kinds = order_kinds(v.sums, v.order);
	put(d, &v, all);
}
