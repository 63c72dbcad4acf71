/* run_trust.c - what is known of how far a run's answer may be trusted: the stored errors of this engine for the classes of
 * op the run is made of, on the nearest NPU that was measured and on a GPU, and what was never held against silicon. */
#include "sim/report/run.h"

#include <stdlib.h>
#include <string.h>

#include "sim/accuracy/silicon.h"
#include "sim/report/baseline.h"

void run_made_add(struct run_made *m, const char *kind, const char *family, uint64_t ns)
{
	size_t k = 0;

	if (strcmp(kind, op_kind_name(OP_OPAQUE)) == 0 || strcmp(kind, op_kind_name(OP_HOST_SYNC)) == 0)
		return;
	while (k < m->n && strcmp(m->family[k].name, family) != 0)
		k++;
	if (k == RUN_FAMILIES)
		return;
	if (k == m->n)
		m->family[m->n++] = (struct run_family){ family, 0 };
	m->family[k].ns += ns;
}

static void add_part(struct run_made *m, const char *name, uint64_t ns)
{
	size_t k = 0;

	while (k < m->n_parts && strcmp(m->part[k].name, name) != 0)
		k++;
	if (k == RUN_FAMILIES)
		return;
	if (k == m->n_parts)
		m->part[m->n_parts++] = (struct run_family){ name, 0 };
	m->part[k].ns += ns;
}

void run_made_part(struct run_made *m, const char *kind, uint64_t rows, uint64_t ns)
{
	if (strcmp(kind, op_kind_name(OP_OPAQUE)) == 0 || strcmp(kind, op_kind_name(OP_HOST_SYNC)) == 0)
		return;
	if (strcmp(kind, op_kind_name(OP_ATTENTION)) == 0)
		add_part(m, silicon_attention(false, OP_ATTN_ANY), ns);
	else
		add_part(m, rows ? silicon_products(rows) : kind, ns);
}

static int run_trust_by_time(const void *a, const void *b)
{
	const struct run_family *x = a, *y = b;

	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : strcmp(x->name, y->name);
}

#define SHOWN 6

static void classes(struct run_made *m, const struct accuracy *acc, struct str *out)
{
	size_t shown = 0;
	uint64_t total = 0, never = 0;

	qsort(m->family, m->n, sizeof *m->family, run_trust_by_time);
	for (size_t i = 0; i < m->n; i++) {
		const struct score *s = accuracy_of(acc, m->family[i].name);

		total += m->family[i].ns;
		never += s ? 0 : m->family[i].ns;
		if (s && shown++ < SHOWN)
			str_addf(out, "%s%s %.1f %%", shown == 1 ? " (" : ", ", m->family[i].name, s->mape);
	}
	str_add(out, shown ? ")" : "");
	if (never)
		str_addf(out, "; %.1f %% of the measured time is in classes never held against it",
		         unit_pct((double)never, (double)total));
}

/* --- an NPU ------------------------------------------------------------------------------------------------------- */

static void unheld_classes(const struct run_made *m, const struct silicon *n, struct str *out)
{
	bool any = false;

	for (size_t i = 0; i < m->n_parts; i++) {
		if (accuracy_of(&n->calibrated, m->part[i].name))
			continue;
		str_addf(out, "%s%s", any ? ", " : "", m->part[i].name);
		any = true;
	}
	str_add(out, any ? ",\n" : "");
}

/* What a machine has and the device has not; of a machine that is not at hand, all that the device has not. */
static void unheld_blocks(const struct machine_cfg *mine, const struct machine_cfg *held, struct str *out)
{
	const struct {
		const char *name;
		bool mine, held;
	} parts[] = {
		{ "several cores, NoC", !mine || mine->cores > 1, held->cores > 1 },
		{ "L1", mine && l1_cache(&mine->mem.l1), l1_cache(&held->mem.l1) },
		{ "L2", !mine || mine->mem.l2.size, held->mem.l2.size },
		{ "KV buffer", !mine || mine->mem.kv_buffer.size, held->mem.kv_buffer.size },
		{ "fusion", !mine || mine->fusion.enabled, held->fusion.enabled },
	};
	bool any = false;

	for (int i = 0; i < UNIT_COUNT; i++)
		if ((!mine || mine->unit[i].units) && !held->unit[i].units) {
			str_addf(out, "%s%s units", any ? ", " : "", unit_table[i]->label);
			any = true;
		}
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (parts[i].mine && !parts[i].held) {
			str_addf(out, "%s%s", any ? ", " : "", parts[i].name);
			any = true;
		}
	str_add(out, any ? "" : "and nothing else of it");
}

static void held_classes(const struct run_made *m, const struct silicon *n, struct str *out)
{
	size_t shown = 0;

	for (size_t i = 0; i < m->n_parts && shown < SHOWN; i++) {
		const struct score *c = accuracy_of(&n->calibrated, m->part[i].name),
				   *s = accuracy_of(&n->sheet, m->part[i].name);

		if (!c)
			continue;
		str_addf(out, "%s%s %.1f %%", shown++ ? ", " : ": ", m->part[i].name, c->mape);
		if (s)
			str_addf(out, " (%.1f %%)", s->mape);
	}
	if (!shown)
		str_add(out, ": none of the answer's ops");
}

/* The nearest device that an NPU of this engine was held against, and what of the answer was not. */
static void npu(struct run_made *m, const struct baseline *b, struct arena *a, struct str *out)
{
	struct err none = ERR_INIT;
	struct silicon n;

	if (!b || silicon_nearest(b->source, m->conf, a, &n, &none) <= 0 || !n.conf) {
		str_add(out, "error of this engine on an NPU: not validated\n");
		return;
	}
	qsort(m->part, m->n_parts, sizeof *m->part, run_trust_by_time);
	str_addf(out, "nearest NPU on silicon, %s, calibrated (by data sheet)", n.sheet.device);
	held_classes(m, &n, out);
	str_add(out, "\nnot held against silicon: ");
	unheld_classes(m, &n, out);
	unheld_blocks(m->conf ? &m->conf->cfg : NULL, &n.conf->cfg, out);
	if (!n.same)
		str_add(out, "\nwarning: that was found with other configurations of it ('make accuracy' renews it)");
	str_add(out, "\nDRAM, L2 and op stream are shared with a GPU's model: ");
	silicon_free(&n);
}

void run_made_trust(struct run_made *m, const struct baseline *b, struct str *out)
{
	struct arena *a = arena_new(0);

	if (a && !m->launches)
		npu(m, b, a, out);
	arena_free(a);
	if (!b || !b->known) {
		str_add(out, "error of this engine on a GPU: not validated");
		return;
	}
	str_addf(out, "error %son an %s, %zu samples it was not fitted to: %.1f %%",
	         m->launches ? "of this engine " : "", b->accuracy.device, b->accuracy.all.n, b->accuracy.all.mape);
	if (m->launches)
		classes(m, &b->accuracy, out);
	if (!b->same_model)
		str_add(out,
		        "\nwarning: that was found with another build of the GPU model ('make accuracy' renews it)");
}

/* Time that an op is worth among those it is told with: measured where that is known, else simulated. */
static uint64_t weight(const struct run_report *r, size_t i)
{
	const uint64_t ns = r->stream->ops[i].measured_ns;

	return ns || !r->result ? ns : r->result->ops[i].span_ps / PS_NS;
}

static struct run_made made_of(const struct run_report *r)
{
	struct run_made m = { .launches = machine_runs(&r->conf->cfg) == MACHINE_LAUNCHES, .conf = r->conf };

	for (size_t i = 0; i < r->stream->n_ops; i++) {
		const struct op *o = &r->stream->ops[i];

		run_made_add(&m, op_kind_name(o->kind), o->family, weight(r, i));
		if (o->kind == OP_ATTENTION)
			add_part(&m, silicon_attention(o->listed, o->algorithm), weight(r, i));
		else
			run_made_part(&m, op_kind_name(o->kind), o->kind == OP_GEMM ? o->shape.m : 0, weight(r, i));
	}
	return m;
}

void run_trust(const struct run_report *r, struct str *out)
{
	struct run_made m = made_of(r);

	run_made_trust(&m, r->baseline, out);
}

#define BRIEF 3 /* two lines of 80 columns */

/* Classes by their time: those with rows that no parameter was fitted to and how far off those were, then the others. */
static void by_class(struct run_family *v, size_t n, const struct accuracy *held, const char *device, struct str *out)
{
	uint64_t all = 0, never = 0;
	size_t shown = 0;

	qsort(v, n, sizeof *v, run_trust_by_time);
	for (size_t i = 0; i < n; i++) {
		const struct score *s = held ? accuracy_of(held, v[i].name) : NULL;

		all += v[i].ns;
		never += s ? 0 : v[i].ns;
		if (s && shown++ < BRIEF)
			str_addf(out, "%s%s %.1f %%", shown > 1 ? ", " : "", v[i].name, s->mape);
	}
	if (shown)
		str_addf(out, " (mean error, %s)", device);
	if (!never || !all)
		return;
	str_addf(out, "%snever compared: ", shown ? "; " : "");
	shown = 0;
	for (size_t i = 0; i < n && shown < BRIEF; i++)
		if (!held || !accuracy_of(held, v[i].name))
			str_addf(out, "%s%s", shown++ ? ", " : "", v[i].name);
	str_addf(out, ", %.0f %% of the time", unit_pct((double)never, (double)all));
}

void run_compared(const struct run_report *r, struct str *out)
{
	struct run_made m = made_of(r);
	const struct baseline *b = r->baseline;
	struct arena *a = arena_new(0);
	struct err none = ERR_INIT;
	struct silicon n;

	if (r->result->chips > 1) { /* a line of its own says that no such step was */
		arena_free(a);
		return;
	}
	if (m.launches) {
		by_class(m.family, m.n, b && b->known ? &b->accuracy : NULL, b ? b->accuracy.device : "", out);
	} else if (a && b && silicon_nearest(b->source, r->conf, a, &n, &none) > 0 && n.conf) {
		by_class(m.part, m.n_parts, &n.calibrated, n.sheet.device, out);
		silicon_free(&n);
	} else {
		by_class(m.part, m.n_parts, NULL, "", out);
	}
	arena_free(a);
}
