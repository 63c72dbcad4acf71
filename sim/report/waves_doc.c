#include "sim/report/waves_doc.h"

#include <math.h>
#include <stdio.h>

#include "sim/ui/units.h"

static void occupancies(struct doc *d, double theoretical, double device, double active, double achieved)
{
	doc_real(d, "theoretical_occupancy_pct", 1, theoretical);
	doc_real(d, "device_occupancy_pct", 1, device);
	doc_real(d, "active_occupancy_pct", 1, active);
	doc_real(d, "achieved_occupancy_pct", 1, achieved);
}

static void waves_doc_members(struct doc *d, const struct waves_row *r)
{
	doc_text(d, "name", r->name);
	doc_text(d, "friendly", r->friendly);
	doc_text(d, "family", r->family);
	doc_count(d, "count", r->count);
	doc_ns(d, "us", 1, r->ns);
	doc_count(d, "blocks_min", r->blocks_min);
	doc_count(d, "blocks_max", r->blocks_max);
	doc_count(d, "threads", r->threads);
	doc_count(d, "registers", r->registers);
	doc_count(d, "smem_bytes", r->smem);
	doc_count(d, "blocks_per_sm", r->per_sm);
	doc_text(d, "limit", r->limit);
	doc_real(d, "waves", 2, r->waves);
	occupancies(d, r->theoretical, r->device, r->active, r->achieved);
}

static void blocks_text(const struct waves_row *r, char *to, size_t n)
{
	if (r->blocks_min == r->blocks_max)
		snprintf(to, n, "%llu", (unsigned long long)r->blocks_max);
	else
		snprintf(to, n, "%llu-%llu", (unsigned long long)r->blocks_min, (unsigned long long)r->blocks_max);
}

static void waves_doc_kernel(struct doc *d, const void *of, size_t i)
{
	const struct waves *w = of;
	const struct waves_row *r = &w->v[i];
	char blocks[64];

	if (d->format == OUT_JSON) {
		waves_doc_members(d, r);
		return;
	}
	if (!d->heads)
		blocks_text(r, blocks, sizeof blocks);
	doc_count(d, "rank", i + 1);
	doc_text(d, "friendly", r->friendly);
	doc_count(d, "count", r->count);
	doc_ns(d, "us", 1, r->ns);
	doc_real(d, "pct", 1, unit_pct((double)r->ns, (double)w->ns));
	doc_text(d, "blocks", blocks);
	doc_count(d, "block", r->threads);
	doc_count(d, "regs", r->registers);
	doc_bytes(d, "smem", r->smem);
	doc_count(d, "per_sm", r->per_sm);
	doc_text(d, "limit", r->limit);
	doc_real(d, "waves", 2, r->waves);
	doc_real(d, "theory", 1, r->theoretical);
	doc_real(d, "device", 1, r->device);
	doc_real(d, "active", 1, r->active);
	doc_real(d, "achieved", 1, r->achieved);
}

static void bin(struct doc *d, const void *of, size_t i)
{
	const struct waves *w = of;
	const struct waves_bin *b = &w->bin[i];
	char text[64];

	if (d->format == OUT_JSON) {
		doc_real(d, "from", 1, b->from);
		doc_real(d, "to", 1, b->to);
	} else {
		snprintf(text, sizeof text, isinf(b->to) ? "%g and more" : "%g to %g", b->from, b->to);
		doc_text(d, "waves", text);
	}
	doc_count(d, "kernels", b->count);
	doc_ns(d, "us", 1, b->ns);
	if (d->format != OUT_JSON)
		doc_real(d, "pct", 1, unit_pct((double)b->ns, (double)w->ns));
}

static void say_head(struct doc *d, const struct roof *r, const struct waves *w)
{
	if (d->format != OUT_TABLE)
		return;
	doc_say(d, "on %s: %u SMs of %u threads, %u registers, ", r->name, r->sms, r->sm.threads, r->sm.registers);
	str_add_bytes(d->to, r->sm.smem);
	doc_say(d, " of shared memory\noccupancy, by time:");
	if (w->known_ns)
		doc_say(d, " theoretical %.1f %%, of active SMs %.1f %%, of all SMs %.1f %%", w->theoretical, w->active,
		        w->device);
	if (w->counted_ns)
		doc_say(d, ", achieved %.1f %% (counted, of %.1f %% of the time)", w->achieved,
		        unit_pct((double)w->counted_ns, (double)w->ns));
	doc_say(d, "%s\n\n", w->known_ns || w->counted_ns ? "" : " not known, as the profile has no launch geometry");
}

void waves_doc(struct doc *d, const struct trace *t, const struct roof *r, const struct waves *w, size_t n)
{
	doc_open(d, NULL, '{');
	doc_text(d, "range", t->range);
	doc_text(d, "config", r->name);
	doc_count(d, "kernel_count", w->count);
	doc_ns(d, "kernel_us", 1, w->ns);
	occupancies(d, w->theoretical, w->device, w->active, w->achieved);
	say_head(d, r, w);
	if (d->format != OUT_CSV) /* which has the kernels */
		doc_table(d, "waves", NULL, WAVES_BINS, bin, w);
	doc_say(d, "\n");
	doc_table(d, "kernels", NULL, n, waves_doc_kernel, w);
	doc_say_more(d, n, w->n);
	doc_close(d, '}');
}
