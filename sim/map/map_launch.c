#include "sim/map/map.h"

#include <string.h>

#include "workloads/work.h"

/* Takes `weight` of the `weights` left out of *left; the last launch takes all, so shares add up to the whole. */
static uint64_t take(uint64_t *left, uint64_t weight, uint64_t weights)
{
	uint64_t part = weight >= weights ? *left : *left / weights * weight + *left % weights * weight / weights;

	*left -= part;
	return part;
}

static struct isa_work per_cta(const struct isa_work *w, uint64_t ctas)
{
	return (struct isa_work){ div_up(w->load_bytes, ctas), div_up(w->store_bytes, ctas), div_up(w->macs, ctas),
		                  div_up(w->alu, ctas), div_up(w->sfu, ctas) };
}

static void add_op(const struct op_stream *s, const struct op *o, struct isa_launch *out, struct isa_insn *insns)
{
	struct work w = work_of(s, o);
	struct isa_work left = { w.read_bytes, w.write_bytes, w.macs, w.alu, w.sfu };
	uint64_t ns = o->measured_ns;

	for (uint32_t k = o->first_launch; k < o->first_launch + o->n_launches; k++) {
		const struct op_launch *l = &s->launches[k];
		struct isa_launch *x = &out[k];
		uint64_t mine = k + 1 == o->first_launch + o->n_launches ? ns : l->measured_ns;

		memset(x, 0, sizeof *x);
		x->op = o->id;
		x->source = k;
		memcpy(x->grid, l->grid, sizeof x->grid);
		memcpy(x->block, l->block, sizeof x->block);
		memcpy(x->cluster, l->cluster, sizeof x->cluster);
		x->registers = l->registers;
		x->smem_bytes = l->smem_static + l->smem_dynamic;
		x->ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
		x->waits_for = l->waits_for;
		x->wait_kind = l->wait_kind;
		x->measured_ns = l->measured_ns;
		x->whole.load_bytes = take(&left.load_bytes, mine, ns);
		x->whole.store_bytes = take(&left.store_bytes, mine, ns);
		x->whole.macs = take(&left.macs, mine, ns);
		x->whole.alu = take(&left.alu, mine, ns);
		x->whole.sfu = take(&left.sfu, mine, ns);
		ns -= mine < ns ? mine : ns;
		if (x->ctas)
			x->cta = per_cta(&x->whole, x->ctas);
		insns[k] = (struct isa_insn){ .code = ISA_LAUNCH, .op = o->id, .slot = k, .dtype = (uint8_t)o->dtype };
	}
}

int map_launches(const struct op_stream *s, struct arena *a, struct isa_prog *out, struct err *e)
{
	struct isa_launch *l = arena_array(a, s->n_launches ? s->n_launches : 1, sizeof *l);
	struct isa_insn *i = arena_array(a, s->n_launches ? s->n_launches : 1, sizeof *i);

	if (!l || !i)
		return err_set(e, ERR_NOMEM, "out of memory for %zu launches", s->n_launches);
	for (size_t k = 0; k < s->n_ops; k++)
		add_op(s, &s->ops[k], l, i);
	memset(out, 0, sizeof *out);
	out->insns = i;
	out->n_insns = s->n_launches;
	out->launches = l;
	out->n_launches = s->n_launches;
	return 0;
}
