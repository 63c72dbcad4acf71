#include "sim/report/kernel_doc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- time ------------------------------------------------------------------------------------------------------------ */

static const char *math_text(const struct tiled_kernel *k, char *out, size_t n)
{
	static const char *const names[] = { "scalar", "wmma", "mma", "wgmma" };

	if (k->calls.launches)
		return "library";
	if (k->form != TILED_TILES)
		return tiled_form_name(k);
	if (k->problem.op == TILED_GEMM || k->values == k->math)
		return names[k->math];
	snprintf(out, n, "%s+%s", names[k->math], names[k->values]);
	return out;
}

static bool is_published(const struct kernel_doc *v)
{
	return v->k->published && strcmp(v->k->device, v->device) == 0;
}

static double tflops(const struct tiled_kernel *k, ps_t total)
{
	return total ? (double)tiled_flops(k) / (double)total : 0;
}

static const char *limit_of(const struct tiled_kernel *k, const struct tiled_time *x)
{
	return k->calls.launches ? "" : x->occupancy.limit;
}

static void published(struct doc *d, const struct kernel_doc *v, const struct tiled_time *x)
{
	const bool is = !d->heads && is_published(v);

	doc_ps_if(d, "published_us", 1, is, v->k->published);
	doc_real_if(d, "ratio", 2, is, (double)x->total / (double)v->k->published);
}

static void cells(struct doc *d, const struct kernel_doc *v, const struct tiled_time *x)
{
	const struct tiled_kernel *k = v->k;
	char math[32];

	doc_text(d, "kernel", k->name);
	doc_text(d, "device", v->device);
	doc_text(d, "math", math_text(k, math, sizeof math));
	doc_count(d, "blocks", x->blocks);
	doc_count_if(d, "per_sm", !k->calls.launches, x->occupancy.ctas);
	doc_text(d, "limit", limit_of(k, x));
	doc_ps(d, "us", 1, x->total);
	doc_real_if(d, "tflops", 2, d->heads || tiled_flops(k), tflops(k, x->total));
	doc_text(d, "bound", x->bound);
	doc_text(d, "mostly", x->mostly);
	published(d, v, x);
}

static void parts(struct doc *d, const struct tiled_time *x)
{
#define X(id, name) doc_ps(d, #name, 1, x->part[TILED_AT_##id]);
	doc_open(d, "alone_us", '{');
	TILED_PARTS(X)
	doc_close(d, '}');
#undef X
#define X(id, name) doc_ps(d, #name, 1, x->pipe[TILED_ON_##id]);
	doc_open(d, "pipes_us", '{');
	TILED_PIPES(X)
	doc_close(d, '}');
#undef X
}

static void kernel_doc_members(struct doc *d, const struct kernel_doc *v, const struct tiled_time *x)
{
	const struct tiled_kernel *k = v->k;
	char math[32];

	doc_text(d, "kernel", k->name);
	doc_text(d, "about", k->about);
	doc_text(d, "device", v->device);
	doc_text(d, "math", math_text(k, math, sizeof math));
	doc_count(d, "flops", tiled_flops(k));
	doc_count(d, "blocks", x->blocks);
	doc_count(d, "rounds", x->rounds);
	doc_count(d, "per_sm", x->occupancy.ctas);
	doc_count(d, "at_once", x->mates);
	doc_text(d, "limit", limit_of(k, x));
	doc_count(d, "shared_bytes", tiled_shared(k));
	doc_real(d, "bank_conflicts", 2, k->calls.launches || k->form != TILED_TILES ? NAN : tiled_conflicts(k));
	doc_ps(d, "us", 1, x->total);
	doc_real(d, "tflops", 2, tflops(k, x->total));
	doc_text(d, "bound", x->bound);
	doc_text(d, "mostly", x->mostly);
	doc_ps(d, "chain_us", 1, x->chain);
	doc_ps(d, "busy_us", 1, x->busy);
	doc_ps(d, "memory_us", 1, x->memory);
	doc_ps(d, "host_us", 1, x->host);
	if (x->parts)
		parts(d, x);
	published(d, v, x);
}

void kernel_doc(struct doc *d, const void *of, size_t i)
{
	const struct kernel_doc *v = of;
	struct tiled_time x = { .total = 0 };

	(void)i;
	if (!d->heads)
		x = tiled_time(v->k, v->gpu, NULL);
	if (d->format == OUT_JSON)
		kernel_doc_members(d, v, &x);
	else
		cells(d, v, &x);
}

/* --- occupancy --------------------------------------------------------------------------------------------------------- */

/* How many blocks each limit alone would leave. */
static uint32_t alone(const struct occupancy_doc *h, bool threads, bool registers, bool shared)
{
	struct sm_cfg c = *h->sm;

	if (!threads)
		c.threads = UINT32_MAX / 2;
	if (threads || registers || shared)
		c.ctas = UINT32_MAX / 2;
	return occupancy_of(&c, h->sms, (uint32_t)h->threads, registers ? (uint32_t)h->registers : 0,
	                    shared ? h->shared : 0, 1)
	        .ctas;
}

void occupancy_doc(struct doc *d, const void *of, size_t i)
{
	const struct occupancy_doc *h = of;
	struct occupancy o = { .ctas = 0 };

	(void)i;
	if (!d->heads)
		o = occupancy_of(h->sm, h->sms, (uint32_t)h->threads, (uint32_t)h->registers, h->shared, 1);
	doc_text(d, "kernel", h->kernel);
	doc_text(d, "device", h->device);
	doc_count(d, "threads", h->threads);
	doc_count_if(d, "registers", h->registers, h->registers);
	doc_bytes(d, "shared_bytes", h->shared);
	doc_count(d, "by_threads", alone(h, true, false, false));
	doc_count_if(d, "by_registers", h->registers, alone(h, false, true, false));
	doc_count_if(d, "by_shared", h->shared, alone(h, false, false, true));
	doc_count(d, "by_blocks", h->sm->ctas);
	doc_count(d, "per_sm", o.ctas);
	doc_text(d, "limit", o.limit);
	doc_count(d, "warps", (uint64_t)o.ctas * o.warps);
	doc_real(d, "occupancy_pct", 1, 100.0 * o.ctas * o.warps * 32 / h->sm->threads);
}

/* --- beside what was measured ----------------------------------------------------------------------------------------- */

static void kernel_doc_row(struct doc *d, const void *of, size_t i)
{
	const struct kernel_beside_doc *v = of;
	const struct probe_tiled_row *x = &v->r->v[i];
	const int digits = v->pairs ? 3 : 1;

	if (d->format == OUT_JSON) {
		doc_text(d, "name", x->name);
		doc_text(d, "split", x->fitted ? "fitted" : "held out");
		doc_real(d, "measured", digits, x->measured);
		doc_real(d, "simulated", digits, x->simulated);
		doc_text(d, "bound", x->bound);
		return;
	}
	doc_text(d, v->pairs ? "pair" : "kernel", x->name);
	doc_text(d, "split", x->fitted ? "fitted" : "held out");
	doc_real(d, v->pairs ? "measured_ratio" : "measured_us", digits, x->measured);
	doc_real(d, v->pairs ? "simulated_ratio" : "simulated_us", digits, x->simulated);
	doc_real(d, "error_pct", 1, 100 * (x->simulated / x->measured - 1));
	doc_text(d, "bound", x->bound);
}

static void sum(struct doc *d, const void *of, size_t i)
{
	static const char *const names[PROBE_TILED_PARTS] = { "all", "fitted", "held out" };
	const struct kernel_beside_doc *v = of;
	const struct probe_tiled_sum s = probe_tiled_sum(v->r, (enum probe_tiled_part)i);

	if (!s.n && !d->heads && d->format != OUT_JSON)
		return;
	if (d->format != OUT_JSON)
		doc_text(d, "rows", names[i]);
	doc_count(d, "n", s.n);
	doc_real(d, "mean_error_pct", 1, s.n ? 100 * s.mean : NAN);
	if (v->pairs)
		doc_count(d, "same_sign", s.same);
}

/* Those of one description. */
static void kernel_doc_of(struct doc *d, const void *of, size_t i)
{
	const struct kernel_beside_doc *v = of;
	struct probe_tiled_kind x = { .kernel = "" };

	if (!d->heads)
		x = probe_tiled_kind(v->r, i);

	doc_text(d, "kernel", x.kernel);
	doc_count(d, "n", x.n);
	doc_real(d, "mean_error_pct", 1, 100 * x.mean);
	doc_real(d, "bias_pct", 1, 100 * x.bias);
	doc_real(d, "worst_pct", 1, 100 * x.worst);
	doc_real(d, "order_pct", 1, 100 * x.order);
}

static void kernel_doc_sums(struct doc *d, const struct kernel_beside_doc *v)
{
	static const char *const keys[PROBE_TILED_PARTS] = { "all", "fitted", "held_out" };

	for (size_t i = 0; i < PROBE_TILED_PARTS; i++) {
		doc_open(d, keys[i], '{');
		sum(d, v, i);
		doc_close(d, '}');
	}
}

void kernel_beside_doc(struct doc *d, const struct kernel_beside_doc *v)
{
	doc_open(d, NULL, '{');
	doc_text(d, "machine", v->machine);
	doc_text(d, "beside", v->file);
	doc_text(d, "of", v->pairs ? "pairs: asynchronous copy off over on" : "kernels");
	kernel_doc_sums(d, v);
	if (d->format == OUT_JSON && v->r->n_kinds)
		doc_table(d, "kernels", NULL, v->r->n_kinds, kernel_doc_of, v);
	doc_table(d, "rows", NULL, v->r->n, kernel_doc_row, v);
	doc_close(d, '}');
	if (d->format == OUT_JSON)
		str_addc(d->to, '\n');
	if (d->format != OUT_TABLE)
		return;
	doc_say(d, "\n");
	if (v->r->n_kinds) {
		doc_table(d, NULL, NULL, v->r->n_kinds, kernel_doc_of, v);
		doc_say(d, "\n");
	}
	doc_table(d, NULL, NULL, PROBE_TILED_PARTS, sum, v);
}
