/* run_trust.c - what is known of how far a run's answer may be trusted: the stored error of this engine on a GPU
 * for the classes of op the run is made of, and what of the machine was never held against silicon. */
#include "sim/cmd/run.h"

#include <stdlib.h>
#include <string.h>

#include "arch/gpu/kernels.h"
#include "sim/base/path.h"
#include "validate/score/accuracy.h"

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

/* A kernel table and GPU configuration like those the file was made with? Its configuration is named as from the top of
 * the data, wherever one stands. */
static bool same_model(const struct accuracy *acc)
{
	struct err none = ERR_INIT;
	struct kernels *k = kernels_load(NULL, &none);
	char path[512], model[17] = "";
	bool found = path_data(acc->config, path, sizeof path, &none) == 0;
	struct machine_conf *c = machine_conf_load(found ? path : acc->config, NULL, 0, &none);

	if (k && c)
		accuracy_model(cfg_hash(c->raw), kernels_hash(k), model);
	kernels_free(k);
	machine_conf_free(c);
	return strcmp(model, acc->model) == 0;
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

void run_made_trust(struct run_made *m, const char *indent, struct str *out)
{
	struct arena *a = arena_new(0);
	struct err none = ERR_INIT;
	struct accuracy acc;

	if (!a || accuracy_load(NULL, a, &acc, &none) <= 0) {
		str_add(out, "error of this engine on a GPU: not validated");
		arena_free(a);
		return;
	}
	str_addf(out, "error of this engine on an %s, %zu samples it was not fitted to: %.1f %%", acc.device, acc.all.n,
	         acc.all.mape);
	classes(m, &acc, out);
	if (!same_model(&acc))
		str_addf(out,
		         "\n%swarning: that was found with another build of the GPU model ('make accuracy' renews it)",
		         indent);
	if (!m->launches)
		unheld(indent, out);
	arena_free(a);
}

void run_trust(const struct run_report *r, const char *indent, struct str *out)
{
	struct run_made m = { .launches = machine_runs(&r->conf->cfg) == MACHINE_LAUNCHES };

	for (size_t i = 0; i < r->stream->n_ops; i++) {
		const struct op *o = &r->stream->ops[i];

		run_made_add(&m, op_kind_name(o->kind), o->family, o->measured_ns);
	}
	run_made_trust(&m, indent, out);
}
