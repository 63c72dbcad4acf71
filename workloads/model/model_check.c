/* model_check.c - what a description must say, and what must hold between its parts. */
#include <string.h>

#include "workloads/model/model_int.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static int missing(struct reader *r, const struct ynode *map, const char *key)
{
	return yaml_err(r->y, map, r->e, "'%s' is not there, and nothing else says it", key);
}

int model_need(struct reader *r, const struct ynode *map)
{
	struct model *m = r->m;
	const struct {
		const char *key;
		uint32_t v;
	} needed[] = {
		{ "hidden_size", m->hidden },
		{ "num_hidden_layers", m->layers },
		{ "num_attention_heads", m->heads },
		{ "vocab_size", m->vocab },
	};

	for (size_t i = 0; i < COUNT(needed); i++)
		if (!needed[i].v)
			return missing(r, map, needed[i].key);
	m->kv_heads = m->kv_heads ? m->kv_heads : m->heads;
	if (!m->head_dim && !m->mla.kv_rank && m->hidden % m->heads)
		return yaml_err(r->y, ynode_get(map, "num_attention_heads"), r->e,
		                "%u attention heads do not divide hidden_size %u, and there is no head_dim", m->heads,
		                m->hidden);
	m->head_dim = m->head_dim ? m->head_dim : m->hidden / m->heads;
	return 0;
}

static int check_heads(struct reader *r, const struct ynode *map)
{
	const struct model *m = r->m;

	if (m->heads % m->kv_heads)
		return yaml_err(r->y, ynode_get(map, "num_key_value_heads"), r->e,
		                "%u key-value heads do not divide %u attention heads", m->kv_heads, m->heads);
	if (m->full_kv_heads && m->heads % m->full_kv_heads)
		return yaml_err(r->y, ynode_get(map, "num_global_key_value_heads"), r->e,
		                "%u key-value heads do not divide %u attention heads", m->full_kv_heads, m->heads);
	if (m->rotary > m->head_dim)
		return yaml_err(r->y, map, r->e, "rotary_dim %u is above head_dim %u", m->rotary, m->head_dim);
	return 0;
}

static int check_mla(struct reader *r, const struct ynode *map)
{
	const struct model_mla *x = &r->m->mla;
	const struct model_index *index = &r->m->index;

	if (!r->m->arch->indexed)
		r->m->index.top = 0;
	else if (!index->heads || !index->dim || !index->top)
		return missing(r, map, !index->heads ? "index_n_heads" : !index->dim ? "index_head_dim" : "index_topk");
	else if (!x->kv_rank || !x->q_rank)
		return missing(r, map, x->kv_rank ? "q_lora_rank" : "kv_lora_rank");
	if (!x->kv_rank)
		return 0;
	if (!x->nope)
		return missing(r, map, "qk_nope_head_dim");
	if (!x->rope)
		return missing(r, map, "qk_rope_head_dim");
	if (!x->v && r->m->arch->v_of_hidden)
		r->m->mla.v = r->m->hidden / r->m->heads;
	return x->v ? 0 : missing(r, map, "v_head_dim");
}

static int check_experts(struct reader *r, const struct ynode *map)
{
	const struct model_moe *x = &r->m->moe;

	if (!x->experts)
		return r->m->inter || r->m->arch->all_state ? 0 : missing(r, map, "intermediate_size");
	if (x->top > x->experts)
		return yaml_err(r->y, map, r->e, "a token picks %u of %u experts", x->top, x->experts);
	if (!x->inter)
		return missing(r, map, "moe_intermediate_size");
	for (uint32_t i = 0; i < r->m->layers; i++)
		if (model_has_mlp(r->m, i) && !r->m->inter)
			return missing(r, map, "intermediate_size");
	return 0;
}

static int check_layers(struct reader *r, const struct ynode *map)
{
	const struct model *m = r->m;
	const struct model_linear *x = &m->linear;

	for (uint32_t i = 0; i < m->layers; i++) {
		if (model_windowed(m, i) && !m->window)
			return missing(r, map,
			               m->layer[i] == MODEL_CHUNKED ? "attention_chunk_size" : "sliding_window");
		if (m->layer[i] != MODEL_LINEAR)
			continue;
		if (!x->k_heads || !x->v_heads || !x->k_dim || !x->v_dim || (!x->conv && !m->arch->plain_linear))
			return yaml_err(
				r->y, map, r->e,
				"layer %u is linear attention, and linear_num_key_heads, linear_num_value_heads,"
				" linear_key_head_dim, linear_value_head_dim and linear_conv_kernel_dim are not"
				" all there",
				i);
		if (x->v_heads % x->k_heads)
			return yaml_err(r->y, map, r->e,
			                "%u key heads do not divide %u value heads of linear attention", x->k_heads,
			                x->v_heads);
	}
	return 0;
}

int model_check(struct reader *r, const struct ynode *map)
{
	struct model *m = r->m;

	if (check_heads(r, map) < 0 || check_mla(r, map) < 0 || check_experts(r, map) < 0 || check_layers(r, map) < 0 ||
	    model_check_ssm(r, map) < 0)
		return -1;
	if (!m->rotary)
		m->rotary = m->mla.kv_rank ? m->mla.rope : m->head_dim;
	return 0;
}

struct model_heads model_heads_of(const struct model *m, uint32_t layer)
{
	struct model_heads h = { m->heads, m->kv_heads, m->head_dim, m->head_dim };

	if (m->mla.kv_rank) {
		h.dim = m->mla.nope + m->mla.rope;
		h.v_dim = m->mla.v;
	} else if (m->layer[layer] == MODEL_FULL) {
		h.kv_heads = m->full_kv_heads ? m->full_kv_heads : h.kv_heads;
		h.dim = h.v_dim = m->full_head_dim ? m->full_head_dim : h.dim;
	}
	return h;
}

bool model_has_experts(const struct model *m, uint32_t layer)
{
	return m->moe.experts && m->moe.in[layer];
}

bool model_has_mlp(const struct model *m, uint32_t layer)
{
	return !m->bare[layer] && (!model_has_experts(m, layer) || m->arch->both);
}

bool model_has_keys(const struct model *m, uint32_t layer)
{
	return m->layer[layer] == MODEL_FULL || model_windowed(m, layer);
}

bool model_has_state(const struct model *m, uint32_t layer)
{
	return m->layer[layer] == MODEL_LINEAR || model_has_ssm(m, layer);
}

bool model_has_ssm(const struct model *m, uint32_t layer)
{
	return m->layer[layer] == MODEL_MAMBA || m->layer[layer] == MODEL_CONV || m->arch->beside_ssm;
}

bool model_has_states(const struct model *m)
{
	for (uint32_t i = 0; i < m->layers; i++)
		if (model_has_state(m, i))
			return true;
	return false;
}

bool model_same_layers(const struct model *m, uint32_t i, uint32_t k)
{
	return m->layer[i] == m->layer[k] && model_has_experts(m, i) == model_has_experts(m, k) &&
	       m->bare[i] == m->bare[k];
}

bool model_windowed(const struct model *m, uint32_t layer)
{
	return m->layer[layer] == MODEL_SLIDING || m->layer[layer] == MODEL_CHUNKED;
}

/* Of the first n positions, each with those of its chunk before it: all pairs. */
static uint64_t pairs(uint64_t n, uint64_t chunk)
{
	const uint64_t rest = n % chunk;

	return n / chunk * (chunk * (chunk + 1) / 2) + rest * (rest + 1) / 2;
}

struct model_seen model_seen(const struct model *m, uint32_t layer, uint64_t old, uint64_t fresh)
{
	const uint64_t all = old + fresh, w = m->window;

	if (!model_windowed(m, layer) || all <= w)
		return (struct model_seen){ all, true };
	if (m->layer[layer] == MODEL_SLIDING)
		return (struct model_seen){ w, false };
	if (old / w == (all - 1) / w)
		return (struct model_seen){ all - old / w * w, true };
	return (struct model_seen){ (pairs(all, w) - pairs(old, w) + fresh - 1) / fresh, false };
}
