#include "sim/cli/mixed.h"

#include <stdio.h>

#include "sim/base/hash.h"
#include "sim/report/eval.h"

/* Nothing was measured of all of them together. */
static int as_one(const struct mix *m, struct mixed *x, struct err *e)
{
	struct str text = STR_INIT;
	uint64_t h = HASH_INIT;
	char digest[17];

	for (size_t i = 0; i < x->n; i++) {
		char weight[32];

		snprintf(weight, sizeof weight, "%.9g", m->v[i].weight);
		h = hash_str(hash_str(hash_str(h, x->w[i].in.trace.digest ? x->w[i].in.trace.digest : ""), weight),
		             m->v[i].name);
	}
	hash_hex(hash_mix(h), digest);
	mix_text(m, &text);
	x->workload = (struct res_workload){ .source = arena_strdup(x->a, str_c(&text)),
		                             .digest = arena_strdup(x->a, digest),
		                             .wall_ns = -1 };
	str_free(&text);
	return x->workload.source && x->workload.digest ? 0 : err_nomem(e, "for a mix");
}

int mixed_read(const struct mix *m, const struct machine_cfg *machine, bool allow_opaque, struct mixed *x,
               struct err *e)
{
	*x = (struct mixed){ .a = arena_new(0) };
	if (!x->a || !(x->w = arena_array(x->a, m->n, sizeof *x->w)) ||
	    !(x->parts = arena_array(x->a, m->n, sizeof *x->parts)))
		return err_nomem(e, "for a mix");
	for (; x->n < m->n; x->n++) {
		const struct mix_part *p = &m->v[x->n];
		struct workload *w = &x->w[x->n];
		const int rc = cmd_workload_read(&p->spec, machine, w, e);

		if (rc < 0 || eval_check_opaque(w, allow_opaque, e) < 0) {
			workload_free(w);
			return err_add(e, "reading workload '%s'", p->name);
		}
		x->parts[x->n] = (struct sweep_part){ p->name, &w->stream, p->weight };
	}
	return as_one(m, x, e);
}

void mixed_free(struct mixed *x)
{
	for (size_t i = 0; i < x->n; i++)
		workload_free(&x->w[i]);
	arena_free(x->a);
}
