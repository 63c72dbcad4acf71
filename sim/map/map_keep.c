/* map_keep.c - results that stay in SRAM for who reads them, by liveness over the program (arch/npu/sram.h, `forward`).
 *
 * A tensor may stay that the program makes in one op, whole, and reads later: not weights, KV or what a router chooses,
 * and not what nothing reads, which is the program's result. It takes its bytes from its writer to behind its last
 * reader, so that who comes next does not write over it. In program order each stays that has room beside those that
 * live with it. */
#include "sim/map/map_int.h"

#define SHARE 4 /* of all scratchpads, a part of so many at the most */

/* Tensors that more than one op writes, or one that is not simulated touches, cannot stay. */
static int find_bad(const struct mapper *m, uint8_t *bad, struct err *e)
{
	const struct op_stream *s = m->s;
	uint8_t *written = arena_alloc(m->a, s->n_tensors + 1);

	if (!written)
		return err_set(e, ERR_NOMEM, "out of memory for the mapper");
	for (size_t i = 0; i < s->n_ops; i++)
		for (uint32_t k = 0; k < s->ops[i].n_operands; k++) {
			const struct op_operand *x = &s->operands[s->ops[i].first_operand + k];

			if (!op_is_simulated(s->ops[i].kind) || (x->write && written[x->tensor]))
				bad[x->tensor] = 1;
			written[x->tensor] |= x->write;
		}
	return 0;
}

static bool may_stay(const struct mapper *m, uint32_t tensor)
{
	const struct op_tensor *t = &m->s->tensors[tensor];

	return !t->external && t->route < 0 && t->instances <= 1 && t->role != OP_KV && t->role != OP_WEIGHT &&
	       m->last_read[tensor] != UINT32_MAX && m->first_write[tensor] < m->last_read[tensor];
}

int map_keep(struct mapper *m, struct err *e)
{
	const struct op_stream *s = m->s;
	const uint64_t most = m->c->sram.forward ? m->sram / SHARE : 0;
	uint64_t *leaves = arena_array(m->a, s->n_ops + 2, sizeof *leaves), live = 0;
	uint8_t *bad = arena_alloc(m->a, s->n_tensors + 1);

	m->kept = arena_alloc(m->a, s->n_tensors + 1);
	m->kept_bytes = 0;
	if (!leaves || !bad || !m->kept)
		return err_set(e, ERR_NOMEM, "out of memory for the mapper");
	if (m->c->mapping.policy == MAPPING_COPY_FIRST)
		return map_keep_copied(m, e);
	if (find_bad(m, bad, e) < 0)
		return -1;
	for (uint32_t i = 0; i < s->n_ops && most; i++) {
		live -= leaves[i];
		for (uint32_t k = 0; k < s->ops[i].n_operands; k++) {
			const struct op_operand *x = &s->operands[s->ops[i].first_operand + k];
			const uint64_t bytes = map_stored_bytes(m, x->tensor, s->tensors[x->tensor].bytes);

			if (!x->write || bad[x->tensor] || !may_stay(m, x->tensor) || bytes > most - live)
				continue;
			m->kept[x->tensor] = 1;
			live += bytes;
			leaves[m->last_read[x->tensor] + 1] += bytes;
			m->kept_bytes = ps_max(m->kept_bytes, live);
		}
	}
	m->sram -= m->kept_bytes;
	return 0;
}
