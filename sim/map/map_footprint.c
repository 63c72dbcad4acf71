#include "sim/map/map_int.h"

#define NEVER UINT32_MAX

/* Ops that name a tensor first and last. */
struct life {
	uint32_t first, last;
};

static struct life *lives(const struct op_stream *s, struct arena *a)
{
	struct life *l = arena_array(a, s->n_tensors ? s->n_tensors : 1, sizeof *l);

	for (size_t i = 0; l && i < s->n_tensors; i++)
		l[i] = (struct life){ NEVER, 0 };
	for (uint32_t i = 0; l && i < s->n_ops; i++)
		for (uint32_t k = 0; k < s->ops[i].n_operands; k++) {
			struct life *x = &l[s->operands[s->ops[i].first_operand + k].tensor];

			x->first = x->first == NEVER ? i : x->first;
			x->last = i;
		}
	return l;
}

static void map_footprint_add(struct map_footprint *n, enum op_role role, uint64_t bytes)
{
	n->bytes += bytes;
	*(role == OP_WEIGHT ? &n->weights : role == OP_KV ? &n->kv : &n->rest) += bytes;
}

int map_footprint(const struct op_stream *s, const struct map_format *formats, struct arena *a,
                  struct map_footprint *out, struct err *e)
{
	struct map_footprint *step = arena_array(a, s->n_ops + 1, sizeof *step), now = { 0 };
	struct life *life = lives(s, a);

	*out = now;
	if (!step || !life)
		return err_set(e, ERR_NOMEM, "out of memory for the lives of %zu tensors", s->n_tensors);
	for (uint32_t i = 0; i < s->n_tensors; i++) {
		const struct op_tensor *t = &s->tensors[i];
		const bool stays = t->external && !s->cases;
		const uint32_t caches = t->role == OP_KV && stays && s->micro ? s->micro : 1;
		const uint64_t bytes = map_narrowed(t, formats ? &formats[i] : NULL, t->bytes) * t->instances * caches;

		if (life[i].first == NEVER)
			continue;
		map_footprint_add(&step[stays ? 0 : life[i].first], t->role, bytes);
		map_footprint_add(&step[stays ? s->n_ops : life[i].last + 1], t->role,
		                  0 - bytes); /* sums are of unsigned: it leaves */
	}
	for (size_t i = 0; i < s->n_ops; i++) {
		now.bytes += step[i].bytes;
		now.weights += step[i].weights;
		now.kv += step[i].kv;
		now.rest += step[i].rest;
		if (now.bytes > out->bytes)
			*out = now;
	}
	return 0;
}

int map_capacity_check(const struct map_footprint *n, const struct dram_cfg *c, struct err *e)
{
	const uint64_t of[] = { n->bytes, n->weights, n->kv, n->rest };
	struct str need[4] = { STR_INIT }, there = STR_INIT;

	if (!c->capacity || n->bytes <= c->capacity)
		return 0;
	for (int i = 0; i < 4; i++)
		str_add_bytes(&need[i], of[i]);
	cfg_format_value(CFG_T_BYTES, c->capacity, &there);
	err_set(e, ERR_CONFIG,
	        "the workload does not fit the memory: it needs %s at once (weights %s, KV %s, activations and tables"
	        " %s), and 'dram.capacity' is %s",
	        str_c(&need[0]), str_c(&need[1]), str_c(&need[2]), str_c(&need[3]), str_c(&there));
	for (int i = 0; i < 4; i++)
		str_free(&need[i]);
	str_free(&there);
	return -1;
}
