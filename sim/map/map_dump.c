#include "sim/map/map.h"

static const char *phase(uint8_t when)
{
	static const char *const names[] = { "pre", "tile", "post" };

	return names[when];
}

static void dump_move(const struct op_stream *s, const struct isa_insn *i, struct str *out)
{
	const struct op_tensor *t = &s->tensors[i->tensor];

	str_addf(out, "%s %s +%llu, %llu B", op_role_name(t->role), t->name ? t->name : "?",
	         (unsigned long long)i->offset, (unsigned long long)i->bytes);
	if (i->when == ISA_TILE)
		str_addf(out, " by %llu", (unsigned long long)i->tile_bytes);
	if (i->route >= 0)
		str_addf(out, ", pick %u of router %d", i->slot, (int)i->route);
	str_add(out, i->early ? ", early" : "");
	str_add(out, i->pinned ? ", pinned" : "");
}

static void dump_math(const struct isa_insn *i, struct str *out)
{
	str_addf(out, "%s %llu x %llu x %llu, %llu steps in %llu ps", dtype_name((enum dtype)i->dtype),
	         (unsigned long long)i->shape.m, (unsigned long long)i->shape.rows, (unsigned long long)i->shape.cols,
	         (unsigned long long)i->work, (unsigned long long)i->span);
	if (i->span_last != i->span)
		str_addf(out, " (last %llu)", (unsigned long long)i->span_last);
}

void map_dump(const struct op_stream *s, const struct map_result *m, struct str *out)
{
	const struct isa_prog *p = &m->prog;

	for (size_t k = 0; k < p->n_cmds; k++) {
		const struct isa_cmd *c = &p->cmds[k];

		str_addf(out, "command %zu: op %u", k, p->members[c->first_op]);
		if (c->n_ops > 1)
			str_addf(out, "-%u as %s", p->members[c->first_op + c->n_ops - 1], c->pattern);
		str_addf(out, ", %u tiles of %llu B, %llu B held, batch %u%s%s", c->tiles,
		         (unsigned long long)c->slot_bytes, (unsigned long long)c->fixed_bytes, c->batch,
		         c->sync ? ", decides" : "", c->chained ? ", chained" : "");
		for (uint32_t d = 0; d < c->n_deps; d++)
			str_addf(out, "%s%u", d ? " " : ", after ", p->deps[c->first_dep + d]);
		str_addf(out, "; %s\n", c->why);
		for (uint32_t n = c->first_insn; n < c->first_insn + c->n_insns; n++) {
			const struct isa_insn *i = &p->insns[n];

			str_addf(out, "    %-4s %-11s %-7s ", phase(i->when), isa_code_name((enum isa_code)i->code),
			         res_name((enum res)i->unit));
			if (i->code == ISA_LOAD || i->code == ISA_STORE)
				dump_move(s, i, out);
			else
				dump_math(i, out);
			str_addc(out, '\n');
		}
	}
}
