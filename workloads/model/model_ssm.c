/* model_ssm.c - state spaces in a description: sizes of Mamba and Mamba-2 layers and of short convolutions, and which layers
 * are such, by the pattern, the list or the period that a family has.
 *
 * Source: transformers, configuration_ and modeling_{mamba,falcon_mamba,mamba2,bamba,granitemoehybrid,jamba,lfm2}.py; NVIDIA's
 * modeling_nemotron_h.py. */
#include <string.h>

#include "workloads/model/model_int.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

#define AT(m) offsetof(struct model_ssm, m)
/* A size by any of its names; "auto" is none. */
static const struct {
	const char *keys[3];
	size_t at;
} sizes[] = {
	{ { "mamba_num_heads", "mamba_n_heads", "num_heads" }, AT(heads) },
	{ { "mamba_head_dim", "mamba_d_head" }, AT(head_dim) },
	{ { "mamba_n_groups", "n_groups" }, AT(groups) },
	{ { "ssm_state_size", "mamba_d_state", "state_size" }, AT(state) },
	{ { "conv_kernel", "mamba_d_conv", "conv_L_cache" }, AT(conv) },
	{ { "mamba_expand", "expand" }, AT(expand) },
	{ { "time_step_rank", "mamba_dt_rank" }, AT(rank) },
};

static int read_sizes(struct reader *r, const struct ynode *map)
{
	struct model_ssm *x = &r->m->ssm;

	for (size_t i = 0; i < COUNT(sizes); i++)
		for (size_t k = 0; k < COUNT(sizes[i].keys) && sizes[i].keys[k]; k++) {
			const struct ynode *n = ynode_get(map, sizes[i].keys[k]);

			if (model_is_null(n) || (n->kind == YNODE_SCALAR && strcmp(n->text, "auto") == 0))
				continue;
			if (model_number(r, n, 0, MODEL_MAX_DIM, (uint32_t *)(void *)((char *)x + sizes[i].at)) < 0)
				return -1;
			break;
		}
	return 0;
}

static int read_bools(struct reader *r, const struct ynode *map)
{
	static const struct {
		const char *key;
		size_t at;
	} all[] = { { "use_conv_bias", AT(conv_bias) },
		    { "mamba_conv_bias", AT(conv_bias) },
		    { "conv_bias", AT(conv_bias) },
		    { "use_bias", AT(proj_bias) },
		    { "mamba_proj_bias", AT(proj_bias) } };

	for (size_t i = 0; i < COUNT(all); i++) {
		const struct ynode *n = ynode_get(map, all[i].key);

		if (!model_is_null(n) && yaml_bool(r->y, n, (bool *)(void *)((char *)&r->m->ssm + all[i].at), r->e) < 0)
			return -1;
	}
	return 0;
}

/* LFM2's MLP: two thirds of what the key says, times another, rounded up. */
static int adjusted(struct reader *r, const struct ynode *map)
{
	const struct ynode *n = ynode_get(map, "block_auto_adjust_ff_dim"),
			   *by = ynode_get(map, "block_ffn_dim_multiplier"), *to = ynode_get(map, "block_multiple_of");
	uint32_t multiple = 256;
	double times = 1;
	bool yes = false;

	if ((!model_is_null(n) && yaml_bool(r->y, n, &yes, r->e) < 0) || !yes)
		return yes ? -1 : 0;
	if ((!model_is_null(by) && yaml_real(r->y, by, &times, r->e) < 0) ||
	    (!model_is_null(to) && model_number(r, to, 1, MODEL_MAX_DIM, &multiple) < 0))
		return -1;
	if (!(times > 0 && times <= 16))
		return yaml_err(r->y, by, r->e, "block_ffn_dim_multiplier is above 0 and at most 16");
	r->m->inter = (uint32_t)(times * (2 * (uint64_t)r->m->inter / 3));
	r->m->inter = (r->m->inter + multiple - 1) / multiple * multiple;
	return 0;
}

/* What the file leaves to be found from the rest. */
static void fill(struct model *m)
{
	struct model_ssm *x = &m->ssm;
	const uint32_t expand = x->expand ? x->expand : 2;

	x->by_channel = m->arch->ssm == MODEL_SSM_CHANNELS;
	if (x->by_channel) {
		x->inner = m->inter && !m->arch->full_every && m->arch->all_state ? m->inter : expand * m->hidden;
		x->rank = x->rank ? x->rank : (m->hidden + 15) / 16;
		x->heads = x->inner;
		x->head_dim = x->groups = 1;
		return;
	}
	if (!x->head_dim && x->heads)
		x->head_dim = expand * m->hidden / x->heads;
	x->inner = x->heads * x->head_dim;
	x->groups = x->groups ? x->groups : 1;
}

/* Nemotron-H: a letter a layer, each one block: M a state space, * attention, E experts, - an MLP. */
static int read_pattern(struct reader *r, const struct ynode *n)
{
	struct model *m = r->m;
	const char *s;

	if (yaml_str(r->y, n, &s, r->e) < 0)
		return -1;
	if (strlen(s) != m->layers)
		return yaml_err(r->y, n, r->e, "the pattern has %zu layers, num_hidden_layers says %u", strlen(s),
		                m->layers);
	for (uint32_t i = 0; i < m->layers; i++) {
		if (!strchr("M*E-", s[i]))
			return yaml_err(r->y, n, r->e, "layers of kind '%c' are not described: M, *, E or -", s[i]);
		m->layer[i] = s[i] == 'M' ? MODEL_MAMBA : s[i] == '*' ? MODEL_FULL : MODEL_NOTHING;
		m->bare[i] = s[i] == 'M' || s[i] == '*';
		m->moe.in[i] = s[i] == 'E';
	}
	return 0;
}

static int read_every(struct reader *r, const struct ynode *map, const char *period, const char *offset,
                      uint32_t *every, uint32_t *from)
{
	const struct ynode *p = ynode_get(map, period), *o = ynode_get(map, offset);

	if (!model_is_null(p) && model_number(r, p, 1, MODEL_MAX_LAYERS, every) < 0)
		return -1;
	return !model_is_null(o) && model_number(r, o, 0, MODEL_MAX_LAYERS, from) < 0 ? -1 : 0;
}

/* Jamba: attention and experts once in so many layers each; Bamba: the layers of attention in a list. */
static int read_placed_attention(struct reader *r, const struct ynode *map)
{
	const struct ynode *list = ynode_get(map, "attn_layer_indices");
	struct model *m = r->m;
	uint32_t every = 0, from = 0, layer;

	if (read_every(r, map, "attn_layer_period", "attn_layer_offset", &every, &from) < 0)
		return -1;
	for (uint32_t i = 0; i < m->layers; i++)
		m->layer[i] = m->arch->beside_ssm || (every && i % every == from) ? MODEL_FULL : MODEL_MAMBA;
	for (size_t i = 0; list && list->kind == YNODE_SEQ && i < list->n; i++) {
		if (model_number(r, list->vals[i], 0, m->layers - 1, &layer) < 0)
			return -1;
		m->layer[layer] = MODEL_FULL;
	}
	return 0;
}

int model_read_ssm(struct reader *r, const struct ynode *map)
{
	const struct ynode *pattern = ynode_get(map, "hybrid_override_pattern"),
			   *dtype = ynode_get(map, "mamba_ssm_cache_dtype");
	const struct ynode *norm = ynode_get(map, "mamba_rms_norm");
	struct model *m = r->m;
	bool norms = false;

	if (!m->arch->ssm)
		return 0;
	m->ssm.wide = dtype && dtype->kind == YNODE_SCALAR && strcmp(dtype->text, "float32") == 0;
	m->ssm.conv_bias = m->arch->ssm != MODEL_SSM_CONV;
	if (read_sizes(r, map) < 0 || read_bools(r, map) < 0)
		return -1;
	if (adjusted(r, map) < 0)
		return -1;
	if (!model_is_null(norm) && yaml_bool(r->y, norm, &norms, r->e) < 0)
		return -1;
	m->ssm.no_norm = m->arch->beside_ssm && !norms;
	fill(m);
	for (uint32_t i = 0; i < m->layers; i++)
		m->bare[i] = m->arch->all_state;
	if (!model_is_null(pattern))
		return read_pattern(r, pattern);
	/* A list of layers has been read. */
	return model_is_null(ynode_get(map, "layer_types")) ? read_placed_attention(r, map) : 0;
}

int model_place_ssm_experts(struct reader *r, const struct ynode *map)
{
	const struct ynode *pattern = ynode_get(map, "hybrid_override_pattern");
	uint32_t every = 0, from = 0;

	if (!r->m->arch->ssm)
		return 0;
	if (!model_is_null(pattern))
		return read_pattern(r, pattern);
	if (read_every(r, map, "expert_layer_period", "expert_layer_offset", &every, &from) < 0)
		return -1;
	for (uint32_t i = 0; every && i < r->m->layers; i++)
		r->m->moe.in[i] = i % every == from;
	return 0;
}

int model_check_ssm(struct reader *r, const struct ynode *map)
{
	const struct model_ssm *x = &r->m->ssm;
	const bool conv = r->m->arch->ssm == MODEL_SSM_CONV;

	if (!r->m->arch->ssm)
		return 0;
	if (!x->conv)
		return yaml_err(r->y, map, r->e, "'%s' is not there, and nothing else says it",
		                conv ? "conv_L_cache" : "conv_kernel");
	if (!conv && (!x->heads || !x->head_dim || !x->state))
		return yaml_err(r->y, map, r->e, "'%s' is not there, and nothing else says it",
		                !x->heads      ? "mamba_num_heads"
		                : !x->head_dim ? "mamba_head_dim"
		                               : "ssm_state_size");
	if (!conv && x->heads % x->groups)
		return yaml_err(r->y, map, r->e, "%u groups do not divide %u heads of a state space", x->groups,
		                x->heads);
	return 0;
}

uint64_t model_ssm_rows(const struct model *m)
{
	const struct model_ssm *x = &m->ssm;

	if (m->arch->ssm == MODEL_SSM_CONV)
		return 3 * (uint64_t)m->hidden;
	return model_ssm_width(m) + x->inner + (x->by_channel ? 0 : x->heads);
}

uint64_t model_ssm_width(const struct model *m)
{
	const struct model_ssm *x = &m->ssm;

	if (m->arch->ssm == MODEL_SSM_CONV)
		return m->hidden;
	return x->inner + (x->by_channel ? 0 : 2 * (uint64_t)x->groups * x->state);
}
