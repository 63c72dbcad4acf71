/* sweep_hash.c - what a sweep asks, as one number: the same sweep goes on where it stopped, and its shards meet. */
#include "sim/base/hash.h"
#include "sim/study/sweep_int.h"

/* The configurations of all points in order. */
static uint64_t hash_of_points(const struct sweep *s)
{
	uint64_t h = HASH_INIT;

	for (size_t p = 0; p < s->n_points; p++) {
		h = hash_u64(h, s->hashes[p]);
		for (size_t i = 0; s->refused[p] && i < s->n_axes; i++)
			h = hash_str(h, s->axes[i].values[s->index[p * s->n_axes + i]].text);
	}
	return hash_mix(h);
}

/* What a search asks for: its points are results. */
static uint64_t hash_of_search(const struct sweep *s)
{
	uint64_t h = hash_str(hash_str(HASH_INIT, "guided"), s->base_text);

	h = hash_u64(hash_u64(hash_u64(h, s->sample_n), s->sample_seed), s->generation);
	for (size_t i = 0; i < s->n_axes; i++) {
		const struct sweep_axis *a = &s->axes[i];

		h = hash_u64(hash_u64(hash_str(h, a->key), a->dim), a->continuous);
		h = hash_u64(hash_u64(hash_u64(h, a->from), a->to), a->log);
		for (size_t k = 0; !a->continuous && k < a->n; k++)
			h = hash_str(h, a->values[k].text);
	}
	for (size_t i = 0; i < s->n_where; i++)
		h = hash_str(h, expr_text(s->where[i]));
	for (size_t i = 0; i < s->n_columns; i++)
		h = hash_u64(hash_str(hash_str(h, s->columns[i].name), expr_text(s->columns[i].x)), s->columns[i].goal);
	for (size_t i = 0; i < s->n_constraints; i++)
		h = hash_str(h, expr_text(s->constraints[i]));
	return hash_mix(h);
}

uint64_t sweep_hash(const struct sweep *s)
{
	return s->sample == SWEEP_GUIDED ? hash_of_search(s) : hash_of_points(s);
}
