/* cmd_run_trust.c - what is known of how far a run's answer may be trusted: the stored error of this engine on a GPU
 * for the classes of op the run is made of, and what of the machine was never held against silicon. */
#include "sim/cmd_run.h"

#include <stdlib.h>
#include <string.h>

#include "validate/accuracy.h"
#include "workloads/kernels.h"

/* Measured time by family, largest first. */
struct family {
	const char *name;
	uint64_t ns;
};

static int by_time(const void *a, const void *b)
{
	const struct family *x = a, *y = b;

	return x->ns != y->ns ? (x->ns < y->ns ? 1 : -1) : strcmp(x->name, y->name);
}

static size_t families(const struct op_stream *s, struct family *f, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_ops; i++) {
		size_t k = 0;

		if (s->ops[i].kind == OP_OPAQUE || s->ops[i].kind == OP_HOST_SYNC)
			continue;
		while (k < n && strcmp(f[k].name, s->ops[i].family) != 0)
			k++;
		if (k == most)
			continue;
		if (k == n)
			f[n++] = (struct family){ s->ops[i].family, 0 };
		f[k].ns += s->ops[i].measured_ns;
	}
	qsort(f, n, sizeof *f, by_time);
	return n;
}

#define FAMILIES 64
#define SHOWN    6

static void classes(const struct run_report *r, const struct accuracy *acc, struct str *out)
{
	struct family f[FAMILIES];
	size_t n = families(r->stream, f, FAMILIES), shown = 0;
	uint64_t total = 0, never = 0;

	for (size_t i = 0; i < n; i++) {
		const struct score *s = accuracy_of(acc, f[i].name);

		total += f[i].ns;
		never += s ? 0 : f[i].ns;
		if (s && shown++ < SHOWN)
			str_addf(out, "%s%s %.1f %%", shown == 1 ? " (" : ", ", f[i].name, s->mape);
	}
	str_add(out, shown ? ")" : "");
	if (never)
		str_addf(out, "; %.1f %% of the measured time is in classes never held against it",
		         cmd_pct((double)never, (double)total));
}

/* A kernel table and GPU configuration like those the file was made with? */
static bool same_model(const struct accuracy *acc)
{
	struct err none = ERR_INIT;
	struct kernels *k = kernels_load(NULL, &none);
	struct machine_conf *c = machine_conf_load(acc->config, NULL, 0, &none);
	char model[17] = "";

	if (k && c)
		accuracy_model(cfg_hash(c->raw), kernels_hash(k), model);
	kernels_free(k);
	machine_conf_free(c);
	return strcmp(model, acc->model) == 0;
}

/* Lines that begin with `indent`, the first one without. */
void run_trust(const struct run_report *r, const char *indent, struct str *out)
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
	classes(r, &acc, out);
	if (!same_model(&acc))
		str_addf(out,
		         "\n%swarning: that was found with another build of the GPU model ('make accuracy' renews it)",
		         indent);
	if (r->conf->cfg.kind != MACHINE_GPU)
		str_addf(out,
		         "\n%sshared with your machine: DRAM, L2, op stream; not validated on silicon: dispatch, "
		         "cores, DMA,"
		         "\n%sSRAM, GEMV, matrix and vector units, fusion, KV buffer, NoC",
		         indent, indent);
	arena_free(a);
}
