/* run_trust.c - what is known of how far a run's answer may be trusted: the stored error of this engine on a GPU
 * for the classes of op the run is made of, and what of the machine was never held against silicon. */
#include "sim/cmd/run.h"

#include <stdlib.h>
#include <string.h>

#include "sim/cmd/beside.h"

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

static int by_time(const void *a, const void *b)
{
	const struct run_family *x = a, *y = b;

	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : strcmp(x->name, y->name);
}

#define SHOWN 6

static void classes(struct run_made *m, const struct accuracy *acc, struct str *out)
{
	size_t shown = 0;
	uint64_t total = 0, never = 0;

	qsort(m->family, m->n, sizeof *m->family, by_time);
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
		         cmd_pct((double)never, (double)total));
}

/* What no silicon of an NPU was held against yet. */
static void unheld(const char *indent, struct str *out)
{
	str_addf(out,
	         "\n%sshared with your machine: DRAM, L2, op stream; not validated on silicon: dispatch, cores, DMA,"
	         "\n%sSRAM",
	         indent, indent);
	for (int i = 0; i < UNIT_COUNT; i++)
		str_addf(out, "%s%s", i + 1 < UNIT_COUNT ? ", " : " and ", unit_table[i]->label);
	str_add(out, " units, fusion, KV buffer, NoC");
}

static void trust(struct run_made *m, const struct beside *b, const char *indent, struct str *out)
{
	if (!b || !b->known) {
		str_add(out, "error of this engine on a GPU: not validated");
		return;
	}
	str_addf(out, "error of this engine on an %s, %zu samples it was not fitted to: %.1f %%", b->accuracy.device,
	         b->accuracy.all.n, b->accuracy.all.mape);
	classes(m, &b->accuracy, out);
	if (!b->same_model)
		str_addf(out,
		         "\n%swarning: that was found with another build of the GPU model ('make accuracy' renews it)",
		         indent);
	if (!m->launches)
		unheld(indent, out);
}

void run_made_trust(struct run_made *m, const struct beside *b, const char *indent, struct str *out)
{
	struct beside *own = b ? NULL : beside_new(NULL);

	trust(m, b ? b : own, indent, out);
	beside_free(own);
}

void run_trust(const struct run_report *r, const char *indent, struct str *out)
{
	struct run_made m = { .launches = machine_runs(&r->conf->cfg) == MACHINE_LAUNCHES };

	for (size_t i = 0; i < r->stream->n_ops; i++) {
		const struct op *o = &r->stream->ops[i];

		run_made_add(&m, op_kind_name(o->kind), o->family, o->measured_ns);
	}
	run_made_trust(&m, r->beside, indent, out);
}
