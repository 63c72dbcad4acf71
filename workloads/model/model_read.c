/* model_read.c - from YAML, which JSON is too, to a description; then what must hold between its parts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/path.h"
#include "sim/base/str.h"
#include "sim/base/yaml.h"
#include "workloads/model/model_int.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Keys that say the same; the first that is there counts. `at` is of a uint32_t. */
#define SAME 7
struct number {
	const char *keys[SAME];
	size_t at;
	uint32_t least, most;
};

#define AT(m) offsetof(struct model, m)
static const struct number numbers[] = {
	{ { "hidden_size", "n_embd", "d_model" }, AT(hidden), 1, MODEL_MAX_DIM },
	{ { "num_hidden_layers", "n_layer", "n_layers", "num_layers" }, AT(layers), 1, MODEL_MAX_LAYERS },
	{ { "num_attention_heads", "n_head", "n_heads" }, AT(heads), 1, 65536 },
	{ { "num_key_value_heads", "num_kv_heads", "multi_query_group_num", "n_head_kv", "kv_n_heads" },
	  AT(kv_heads),
	  1,
	  65536 },
	{ { "head_dim", "kv_channels" }, AT(head_dim), 1, 65536 },
	{ { "global_head_dim" }, AT(full_head_dim), 0, 65536 },
	{ { "num_global_key_value_heads" }, AT(full_kv_heads), 0, 65536 },
	{ { "intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size" }, AT(inter), 0, MODEL_MAX_DIM },
	{ { "padded_vocab_size", "vocab_size" }, AT(vocab), 1, MODEL_MAX_VOCAB },
	{ { "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_sequence_length" },
	  AT(context),
	  1,
	  1u << 30 },
	{ { "rotary_dim" }, AT(rotary), 0, 65536 },
	{ { "sliding_window", "attention_chunk_size" }, AT(window), 0, 1u << 30 },
	{ { "q_lora_rank" }, AT(mla.q_rank), 0, MODEL_MAX_DIM },
	{ { "kv_lora_rank" }, AT(mla.kv_rank), 0, MODEL_MAX_DIM },
	{ { "qk_nope_head_dim" }, AT(mla.nope), 0, 65536 },
	{ { "qk_rope_head_dim" }, AT(mla.rope), 0, 65536 },
	{ { "v_head_dim" }, AT(mla.v), 0, 65536 },
	{ { "index_n_heads" }, AT(index.heads), 0, 65536 },
	{ { "index_head_dim" }, AT(index.dim), 0, 65536 },
	{ { "index_topk" }, AT(index.top), 0, 1u << 24 },
	{ { "n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts" }, AT(moe.experts), 0, 65536 },
	{ { "num_experts_per_tok", "experts_per_token", "num_experts_per_token", "top_k_experts", "moe_topk", "moe_k",
	    "moe_top_k" },
	  AT(moe.top),
	  0,
	  65536 },
	{ { "moe_intermediate_size", "expert_ffn_hidden_size" }, AT(moe.inter), 0, MODEL_MAX_DIM },
	{ { "shared_expert_intermediate_size", "shared_intermediate_size", "moe_shared_expert_intermediate_size" },
	  AT(moe.shared_inter),
	  0,
	  MODEL_MAX_DIM },
	{ { "linear_num_key_heads", "linear_attn_config.num_heads" }, AT(linear.k_heads), 0, 65536 },
	{ { "linear_num_value_heads", "linear_attn_config.num_heads" }, AT(linear.v_heads), 0, 65536 },
	{ { "linear_key_head_dim", "linear_attn_config.head_dim" }, AT(linear.k_dim), 0, 65536 },
	{ { "linear_value_head_dim", "linear_attn_config.head_dim" }, AT(linear.v_dim), 0, 65536 },
	{ { "linear_conv_kernel_dim", "linear_attn_config.short_conv_kernel_size" }, AT(linear.conv), 0, 64 },
	{ { "num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "num_mtp_layers",
	    "mtp_num_layers" },
	  AT(mtp_layers),
	  0,
	  MODEL_MAX_LAYERS },
};

struct flag {
	const char *key;
	size_t at;
};

/* A later row of the same flag counts. */
static const struct flag flags[] = {
	{ "tie_word_embeddings", AT(tied) },  { "bias", AT(out_bias) },           { "use_bias", AT(out_bias) },
	{ "attention_bias", AT(out_bias) },   { "use_bias", AT(mlp_bias) },       { "mlp_bias", AT(mlp_bias) },
	{ "attn_output_gate", AT(out_gate) }, { "attention_k_eq_v", AT(k_is_v) }, { "norm_topk_prob", AT(norm_top) },
	{ "use_qkv_bias", AT(qkv_bias) },     { "add_qkv_bias", AT(qkv_bias) },   { "qk_layernorm", AT(head_norms) },
	{ "use_qk_norm", AT(head_norms) },
};

/* Multipliers of what a framework's code multiplies by one otherwise. */
static const struct flag multipliers[] = {
	{ "embedding_multiplier", AT(scale_embed) },
	{ "residual_multiplier", AT(scale_block) },
	{ "logits_scaling", AT(scale_logits) },
	{ "logit_scale", AT(scale_logits) },
	{ "scale_emb", AT(scale_embed) },
	{ "scale_depth", AT(scale_block) },
	{ "dim_model_base", AT(scale_logits) },
};

/* What else a file of ours may say; of a config.json they are read, or passed over, too. */
static const char *const others[] = {
	"model",
	"name",
	"source",
	"note",
	"model_type",
	"parameters",
	"torch_dtype",
	"dtype",
	"hidden_act",
	"hidden_activation",
	"activation_function",
	"mlp_hidden_act",
	"use_parallel_residual",
	"parallel_attn",
	"new_decoder_architecture",
	"multi_query",
	"no_bias",
	"alibi",
	"rotary_pct",
	"layer_types",
	"sliding_window_pattern",
	"full_attention_interval",
	"use_sliding_window",
	"partial_rotary_factor",
	"n_shared_experts",
	"first_k_dense_replace",
	"moe_layer_freq",
	"decoder_sparse_step",
	"interleave_moe_layer_step",
	"mlp_only_layers",
	"intermediate_size_mlp",
	"attention_out_bias",
	"no_rope_layer_interval",
	"attn_logit_softcapping",
	"final_logit_softcapping",
	"quantization",
	"vision",
	"vision_config",
	"rope_theta",
	"rms_norm_eps",
	"scoring_func",
	"topk_method",
	"n_group",
	"topk_group",
	"routed_scaling_factor",
	"query_pre_attn_scalar",
	"kv_cache",
	"quantization_config",
};

bool model_is_null(const struct ynode *n)
{
	return !n || (n->kind == YNODE_SCALAR && !n->quoted &&
	              (strcmp(n->text, "null") == 0 || strcmp(n->text, "~") == 0 || !*n->text));
}

/* A key, or one "below.another"; DBRX has those of attention and MLP in maps of their own. */
static const struct ynode *find_key(const struct ynode *map, const char *key)
{
	static const char *const parts[] = { "ffn_config", "attn_config" };
	const char *dot = strchr(key, '.');
	const struct ynode *n = ynode_get(map, key);
	char above[64];

	if (dot) {
		snprintf(above, sizeof above, "%.*s", (int)(dot - key), key);
		n = ynode_get(ynode_get(map, above), dot + 1);
	}
	for (size_t i = 0; i < COUNT(parts) && model_is_null(n); i++)
		n = ynode_get(ynode_get(map, parts[i]), key);
	return model_is_null(n) ? NULL : n;
}

static const struct ynode *first_of(const struct ynode *map, const struct number *x)
{
	for (size_t i = 0; i < SAME && x->keys[i]; i++) {
		const struct ynode *n = find_key(map, x->keys[i]);

		if (n)
			return n;
	}
	return NULL;
}

int model_number(struct reader *r, const struct ynode *n, uint64_t least, uint64_t most, uint32_t *out)
{
	uint64_t v;

	if (n->kind == YNODE_SEQ && n->n) {
		for (size_t i = 1; i < n->n; i++)
			if (n->vals[i]->kind != YNODE_SCALAR || n->vals[0]->kind != YNODE_SCALAR ||
			    strcmp(n->vals[i]->text, n->vals[0]->text) != 0)
				return yaml_err(r->y, n->vals[i], r->e,
				                "a number a layer, and not all alike: not described");
		n = n->vals[0];
	}
	if (yaml_u64(r->y, n, least, most, &v, r->e) < 0)
		return -1;
	*out = (uint32_t)v;
	return 0;
}

static int read_numbers(struct reader *r, const struct ynode *map)
{
	for (size_t i = 0; i < COUNT(numbers); i++) {
		const struct ynode *n = first_of(map, &numbers[i]);
		uint32_t *to = (uint32_t *)(void *)((char *)r->m + numbers[i].at);

		if (n && model_number(r, n, numbers[i].least, numbers[i].most, to) < 0)
			return -1;
	}
	return 0;
}

static int read_multipliers(struct reader *r, const struct ynode *map)
{
	for (size_t i = 0; i < COUNT(multipliers); i++) {
		const struct ynode *n = ynode_get(map, multipliers[i].key);
		const char *text;
		char *end;

		if (model_is_null(n))
			continue;
		if (yaml_str(r->y, n, &text, r->e) < 0)
			return -1;
		*(bool *)((char *)r->m + multipliers[i].at) |= strtod(text, &end) != 1;
		if (end == text || *end)
			return yaml_err(r->y, n, r->e, "'%s' is no number to multiply by", text);
	}
	return 0;
}

static int read_flags(struct reader *r, const struct ynode *map)
{
	const struct model_arch *a = r->m->arch;
	const struct ynode *out = ynode_get(map, "attention_out_bias");

	r->m->tied = a->tied;
	r->m->out_bias = r->m->mlp_bias = a->biases;
	r->m->mlp_bias |= a->mlp_biases;
	r->m->out_gate = a->out_gate;
	r->m->head_norms = a->head_norms;
	r->m->scale_embed = a->scaled_embed;
	for (size_t i = 0; i < COUNT(flags); i++) {
		const struct ynode *n = ynode_get(map, flags[i].key);

		if (!model_is_null(n) && yaml_bool(r->y, n, (bool *)((char *)r->m + flags[i].at), r->e) < 0)
			return -1;
	}
	r->m->head_norms &= !a->wide_norms;
	r->m->qkv_bias |= a->qkv_bias || r->m->out_bias;
	r->m->out_bias &= !a->no_out_bias;
	if (!model_is_null(out) && yaml_bool(r->y, out, &r->m->out_bias, r->e) < 0)
		return -1;
	if (read_multipliers(r, map) < 0)
		return -1;
	r->m->softcap = !model_is_null(ynode_get(map, "attn_logit_softcapping"));
	r->m->final_softcap = !model_is_null(ynode_get(map, "final_logit_softcapping"));
	return 0;
}

static int read_word(struct reader *r, const struct ynode *map, const char *key, const char **out)
{
	const struct ynode *n = ynode_get(map, key);

	*out = NULL;
	return model_is_null(n) ? 0 : yaml_str(r->y, n, out, r->e);
}

static int read_act(struct reader *r, const struct ynode *map)
{
	static const char *const keys[] = { "hidden_act", "hidden_activation", "activation_function", "mlp_hidden_act",
		                            "activation" };
	static const struct {
		const char *name;
		enum model_act act;
	} acts[] = { { "silu", MODEL_SILU },   { "swish", MODEL_SILU },  { "swiglu", MODEL_SILU },
		     { "relu2", MODEL_RELU2 }, { "xielu", MODEL_XIELU }, { "relu", MODEL_RELU } };
	const char *v = NULL;
	size_t k;

	for (k = 0; k < COUNT(keys) && !v; k++)
		if (read_word(r, map, keys[k], &v) < 0)
			return -1;
	r->m->act = r->m->arch->scaled_embed ? MODEL_GELU : r->m->arch->act;
	if (!v)
		return 0;
	for (size_t i = 0; i < COUNT(acts); i++)
		if (strcmp(v, acts[i].name) == 0)
			return r->m->act = acts[i].act, 0;
	if (str_prefix(v, "gelu"))
		return r->m->act = MODEL_GELU, 0;
	return yaml_err(r->y, ynode_get(map, keys[k - 1]), r->e,
	                "activation '%s' is not described: silu, gelu, relu, relu2 or xielu", v);
}

static int read_flag(struct reader *r, const struct ynode *map, const char *key, bool *out)
{
	const struct ynode *n = ynode_get(map, key);

	return model_is_null(n) ? 0 : yaml_bool(r->y, n, out, r->e);
}

/* Where blocks and their norms stand, what rotates, how wide things are: as the architecture has it but for a key or two. */
static int read_form(struct reader *r, const struct ynode *map)
{
	struct model *m = r->m;
	const struct model_arch *a = m->arch;
	bool beside = a->block == MODEL_PARALLEL || a->block == MODEL_PARALLEL_TWO, newer = false, one = a->one_kv,
	     plain = false;
	const char *where;

	m->no_rope = a->no_rope;
	if (read_word(r, map, "position_embedding_type", &where) < 0)
		return -1;
	m->no_rope |= where && strcmp(where, "nope") == 0;
	if (a->all_state)
		m->heads = m->kv_heads = m->head_dim = 1;
	if (read_flag(r, map, "use_parallel_residual", &beside) < 0 ||
	    read_flag(r, map, "parallel_attn", &beside) < 0 ||
	    read_flag(r, map, "new_decoder_architecture", &newer) < 0 || read_flag(r, map, "multi_query", &one) < 0 ||
	    read_flag(r, map, "no_bias", &plain) < 0 || read_flag(r, map, "alibi", &m->no_rope) < 0)
		return -1;
	if (a->plain_linear) {
		m->linear.k_heads = m->linear.v_heads = m->heads;
		m->linear.k_dim = m->linear.v_dim = m->head_dim ? m->head_dim : m->heads ? m->hidden / m->heads : 0;
	}
	m->block = a->block;
	if (beside)
		m->block = newer ? MODEL_PARALLEL_TWO : a->block == MODEL_BEFORE ? MODEL_PARALLEL : a->block;
	else if (a->block == MODEL_PARALLEL || a->block == MODEL_PARALLEL_TWO)
		m->block = MODEL_BEFORE;
	if (a->one_kv && !newer)
		m->kv_heads = one ? 1 : m->heads;
	if (plain) { /* Qwen's are of queries, keys and values all the same */
		m->qkv_bias = a->qkv_bias;
		m->out_bias = m->mlp_bias = false;
	}
	if (!m->inter)
		m->inter = a->inter_times * m->hidden;
	m->inter /= a->half_inter ? 2 : 1;
	m->positions = a->positions && m->context ? m->context + a->positions - 1 : 0;
	return 0;
}

static int read_dtype(struct reader *r, const struct ynode *map)
{
	const char *v;

	if (read_word(r, map, "torch_dtype", &v) < 0 || (!v && read_word(r, map, "dtype", &v) < 0))
		return -1;
	r->m->dtype = !v || strcmp(v, "bfloat16") == 0 ? DT_BF16 : strcmp(v, "float16") == 0 ? DT_FP16 : DT_NONE;
	if (v && strcmp(v, "float32") == 0)
		r->m->dtype = DT_FP32;
	if (r->m->dtype == DT_NONE)
		return yaml_err(r->y, map, r->e, "number format '%s' is not one of bfloat16, float16, float32", v);
	return 0;
}

/* A fraction such as 0.25 of a head's dimensions rotates. */
static int read_rotary(struct reader *r, const struct ynode *map)
{
	const struct ynode *n = ynode_get(map, "partial_rotary_factor");
	const char *text;
	char *end;
	double v;

	if (model_is_null(n))
		n = ynode_get(map, "rotary_pct");
	if (model_is_null(n) && r->m->arch->half_rotary)
		r->m->rotary = r->m->head_dim / 2;
	if (model_is_null(n) || r->m->rotary)
		return 0;
	if (yaml_str(r->y, n, &text, r->e) < 0)
		return -1;
	v = strtod(text, &end);
	if (end == text || *end || !(v > 0 && v <= 1))
		return yaml_err(r->y, n, r->e, "'%s' is no fraction of a head: above 0 and at most 1", text);
	r->m->rotary = (uint32_t)(v * r->m->head_dim + 0.5);
	return 0;
}

/* --- kinds of layers -------------------------------------------------------------------------------------------- */

/* A window that is not used, or that no context fills, is none. */
static int listed_layers(struct reader *r, const struct ynode *list, bool windows)
{
	static const char *const kinds[] = {
		"full_attention", "sliding_attention", "linear_attention", "chunked_attention", "mamba", "conv"
	};

	if (list->kind != YNODE_SEQ || list->n != r->m->layers)
		return yaml_err(r->y, list, r->e, "layer_types lists %zu layers, num_hidden_layers says %u",
		                list->kind == YNODE_SEQ ? list->n : 0, r->m->layers);
	for (size_t i = 0; i < list->n; i++) {
		const char *v;
		size_t k = 0;

		if (yaml_str(r->y, list->vals[i], &v, r->e) < 0)
			return -1;
		while (k < COUNT(kinds) && strcmp(v, kinds[k]) != 0)
			k++;
		k = strcmp(v, "attention") == 0 ? MODEL_FULL : k;
		if (k == COUNT(kinds) || (k >= MODEL_MAMBA && !r->m->arch->ssm))
			return yaml_err(r->y, list->vals[i], r->e,
			                "layers of kind '%s' are not described: full_attention, sliding_attention,"
			                " chunked_attention or linear_attention",
			                v);
		r->m->layer[i] =
			(uint8_t)(k < MODEL_MAMBA && k != MODEL_LINEAR && !windows && r->m->window ? MODEL_FULL : k);
	}
	return 0;
}

/* One in `every` looks at everything, the last of each such run of layers. */
static void every_layer(struct model *m, uint32_t every, enum model_layer other)
{
	for (uint32_t i = 0; i < m->layers; i++)
		m->layer[i] = (uint8_t)(every && (i + 1) % every == 0 ? MODEL_FULL : other);
}

/* Kimi Linear: those that look at everything, counted from one. */
static int counted_layers(struct reader *r, const struct ynode *list)
{
	uint32_t v;

	every_layer(r->m, 0, MODEL_LINEAR);
	for (size_t i = 0; list && list->kind == YNODE_SEQ && i < list->n; i++) {
		if (model_number(r, list->vals[i], 1, r->m->layers, &v) < 0)
			return -1;
		r->m->layer[v - 1] = MODEL_FULL;
	}
	return 0;
}

/* MiniMax: 1 looks at everything, 0 is linear. */
static int typed_layers(struct reader *r, const struct ynode *list)
{
	uint32_t v;

	if (list->kind != YNODE_SEQ || list->n != r->m->layers)
		return yaml_err(r->y, list, r->e, "attn_type_list lists %zu layers, num_hidden_layers says %u",
		                list->kind == YNODE_SEQ ? list->n : 0, r->m->layers);
	for (size_t i = 0; i < list->n; i++) {
		if (model_number(r, list->vals[i], 0, 1, &v) < 0)
			return -1;
		r->m->layer[i] = v ? MODEL_FULL : MODEL_LINEAR;
	}
	return 0;
}

static int read_layers(struct reader *r, const struct ynode *map)
{
	static const struct number linear = { .keys = { "full_attention_interval" } },
				   windowed = { .keys = { "sliding_window_pattern", "no_rope_layer_interval" } };
	const struct model_arch *a = r->m->arch;
	const struct ynode *list = ynode_get(map, "layer_types"), *use = ynode_get(map, "use_sliding_window"), *n;
	bool windows = r->m->window > 0;
	enum model_layer other = a->other ? a->other : MODEL_SLIDING;
	uint32_t every = a->full_every;

	if (!model_is_null(use) && yaml_bool(r->y, use, &windows, r->e) < 0)
		return -1;
	/* A Qwen2 configuration has a window that is used only where it says so. */
	if ((r->m->context && r->m->window >= r->m->context) || (str_prefix(a->type, "qwen2") && model_is_null(use)))
		windows = false;
	if (!model_is_null(list))
		return listed_layers(r, list, windows);
	if (a->rank_gates)
		return counted_layers(r, find_key(map, "linear_attn_config.full_attn_layers"));
	if (a->plain_linear && !model_is_null(ynode_get(map, "attn_type_list")))
		return typed_layers(r, ynode_get(map, "attn_type_list"));
	if ((n = first_of(map, &linear)))
		other = MODEL_LINEAR;
	else if (other != MODEL_LINEAR)
		n = first_of(map, &windowed);
	if (n && model_number(r, n, 1, MODEL_MAX_LAYERS, &every) < 0)
		return -1;
	/* What looks at everything where it has no window has no other kind; a pattern without a window is a fault. */
	if (other != MODEL_LINEAR && !windows && !(n && !r->m->window && ynode_get(map, windowed.keys[0])))
		every = 1;
	every_layer(r->m, every, other);
	return 0;
}

/* --- a whole file ------------------------------------------------------------------------------------------------ */

/* Which layers have experts: from `first` to `last`, one in `step`, the last or (DeepSeek) the first of each so many. */
struct placed {
	uint32_t first, last, step, freq;
};

static int read_placed(struct reader *r, const struct ynode *map, struct placed *p)
{
	static const struct {
		struct number n;
		size_t at;
	} of[] = {
		{ { .keys = { "first_k_dense_replace", "moe_layer_start_index", "num_dense_layers" } },
		  offsetof(struct placed, first) },
		{ { .keys = { "moe_layer_end_index" } }, offsetof(struct placed, last) },
		{ { .keys = { "decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval" } },
		  offsetof(struct placed, step) },
		{ { .keys = { "moe_layer_freq" } }, offsetof(struct placed, freq) },
	};

	for (size_t i = 0; i < COUNT(of); i++) {
		const struct ynode *n = first_of(map, &of[i].n);
		uint32_t *to = (uint32_t *)(void *)((char *)p + of[i].at);

		/* ERNIE's last layer may be -1: the last there is. */
		if (n && !(n->kind == YNODE_SCALAR && strcmp(n->text, "-1") == 0) &&
		    model_number(r, n, 0, MODEL_MAX_LAYERS, to) < 0)
			return -1;
	}
	if (p->first > r->m->layers)
		return yaml_err(r->y, map, r->e, "first_k_dense_replace %u is above num_hidden_layers %u", p->first,
		                r->m->layers);
	return 0;
}

static int place_experts(struct reader *r, const struct ynode *map)
{
	const struct ynode *dense = ynode_get(map, "mlp_only_layers");
	struct placed p = { .last = MODEL_MAX_LAYERS };
	uint32_t layer;

	if (read_placed(r, map, &p) < 0)
		return -1;
	for (uint32_t i = 0; i < r->m->layers; i++)
		r->m->moe.in[i] = i >= p.first && i <= p.last && (!p.step || (i + 1) % p.step == 0) &&
		                  (!p.freq || (i - p.first) % p.freq == 0);
	if (model_is_null(dense))
		return 0;
	if (dense->kind != YNODE_SEQ)
		return yaml_err(r->y, dense, r->e, "mlp_only_layers is a list of layers");
	for (size_t i = 0; i < dense->n; i++) {
		if (model_number(r, dense->vals[i], 0, r->m->layers - 1, &layer) < 0)
			return -1;
		r->m->moe.in[layer] = false;
	}
	return 0;
}

/* Experts' widths by their older names. Llama 4's intermediate_size is an expert's. */
static int read_experts(struct reader *r, const struct ynode *map)
{
	static const struct number count = { .keys = { "n_shared_experts", "num_shared_experts", "num_shared_expert",
		                                       "moe_num_shared_experts" } };
	const struct ynode *n = first_of(map, &count), *dense = ynode_get(map, "intermediate_size_mlp");
	struct model_moe *x = &r->m->moe;
	uint32_t shared = r->m->arch->shared;

	if (!x->experts) { /* Granite 4's MLP goes by the shared experts' name */
		r->m->inter = x->shared_inter ? x->shared_inter : r->m->inter;
		return 0;
	}
	if (n && model_number(r, n, 0, 1024, &shared) < 0)
		return -1;
	if (!x->inter)
		x->inter = r->m->inter;
	if (!model_is_null(dense) && model_number(r, dense, 1, MODEL_MAX_DIM, &r->m->inter) < 0)
		return -1;
	if (shared && !x->shared_inter)
		x->shared_inter = shared * x->inter;
	return place_experts(r, map) < 0 ? -1 : model_place_ssm_experts(r, map);
}

static int read_published(struct reader *r, const struct ynode *map)
{
	static const char *const keys[] = { "total", "source" };
	const struct ynode *p = ynode_get(map, "parameters");

	if (model_is_null(p) || p->kind != YNODE_MAP)
		return 0; /* of a config.json it may be anything */
	return yaml_only_keys(r->y, p, keys, COUNT(keys), r->e) < 0 || !ynode_get(p, "total") ||
	                       yaml_u64(r->y, ynode_get(p, "total"), 1, UINT64_MAX, &r->m->published, r->e) < 0 ||
	                       read_word(r, p, "source", &r->m->published_by) < 0
	               ? -1
	               : 0;
}

static int read_decoder(struct reader *r, const struct ynode *map)
{
	if (read_numbers(r, map) < 0 || read_flags(r, map) < 0 || read_act(r, map) < 0 || read_dtype(r, map) < 0 ||
	    read_form(r, map) < 0 || model_need(r, map) < 0 || read_rotary(r, map) < 0 || read_layers(r, map) < 0 ||
	    model_read_ssm(r, map) < 0 || read_experts(r, map) < 0 || read_published(r, map) < 0 ||
	    model_read_quant(r, map) < 0)
		return -1;
	return model_check(r, map);
}

static int only_ours(struct reader *r, const struct ynode *map)
{
	const char *keys[SAME * COUNT(numbers) + COUNT(flags) + COUNT(multipliers) + COUNT(others)];
	size_t n = 0;

	for (size_t i = 0; i < COUNT(numbers); i++)
		for (size_t k = 0; k < SAME && numbers[i].keys[k]; k++)
			keys[n++] = numbers[i].keys[k];
	for (size_t i = 0; i < COUNT(flags); i++)
		keys[n++] = flags[i].key;
	for (size_t i = 0; i < COUNT(multipliers); i++)
		keys[n++] = multipliers[i].key;
	for (size_t i = 0; i < COUNT(others); i++)
		keys[n++] = others[i];
	return yaml_only_keys(r->y, map, keys, n, r->e);
}

/* The part that describes the decoder: configurations of several parts have it below a key. */
static const struct ynode *decoder_of(const struct ynode *root)
{
	static const char *const keys[] = { "text_config", "language_config", "llm_config" };

	for (size_t i = 0; i < COUNT(keys); i++) {
		const struct ynode *n = ynode_get(root, keys[i]);

		if (n && n->kind == YNODE_MAP && ynode_get(n, "hidden_size"))
			return n;
	}
	/* Models that speak have all that thinks below a key. */
	return ynode_get(root, "thinker_config") ? decoder_of(ynode_get(root, "thinker_config")) : root;
}

static int read_arch(struct reader *r, const struct ynode *root, const struct ynode *map)
{
	const struct ynode *n = ynode_get(map, "model_type");
	const char *type, *near;

	if (model_is_null(n))
		n = ynode_get(root, "model_type");
	if (model_is_null(n))
		return yaml_err(r->y, root, r->e, "'model_type' is missing: it says which architecture this is");
	if (yaml_str(r->y, n, &type, r->e) < 0)
		return -1;
	if (!(r->m->arch = model_arch_find(type, &near)))
		return yaml_err(
			r->y, n, r->e,
			"architecture '%s' is not described%s%s%s; 'npusim workload list --architectures' has those"
			" that are",
			type, near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
	return 0;
}

/* A file's name; of a config.json its folder's, or else the architecture's. `_name_or_path` is a path of somebody's disk. */
static void name_by_file(struct model *m)
{
	const char *slash = strrchr(m->path, '/'), *base = slash ? slash + 1 : m->path, *dot = strrchr(base, '.');
	size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);

	if (strcmp(base, "config.json") == 0) {
		n = slash ? (size_t)(slash - m->path) : 0;
		for (base = m->path + n; base > m->path && base[-1] != '/'; base--)
			;
		n -= (size_t)(base - m->path);
		if (!n || *base == '.')
			base = m->arch->type, n = strlen(base);
	}
	snprintf(m->own_name, sizeof m->own_name, "%.*s", (int)n, base);
	m->name = m->own_name;
}

static int model_read_read_all(struct reader *r)
{
	const struct ynode *root = yaml_root(r->y), *map = decoder_of(root);
	const struct ynode *mark = ynode_get(root, "model");
	uint32_t version;

	if (root->kind != YNODE_MAP || root->n == 0)
		return yaml_err(r->y, root, r->e, "this describes no model: its keys are missing");
	if (mark && (model_number(r, mark, 1, 1, &version) < 0 || only_ours(r, root) < 0))
		return -1;
	if (read_arch(r, root, map) < 0 || read_word(r, root, "name", &r->m->name) < 0 ||
	    read_word(r, root, "source", &r->m->source) < 0 || read_decoder(r, map) < 0 ||
	    model_read_vision(r, root) < 0)
		return -1;
	model_read_towers(r, root);
	if (!r->m->name || !*r->m->name)
		name_by_file(r->m);
	return 0;
}

struct model *model_of_yaml(struct yaml *y, const struct yaml *beside, struct err *e)
{
	struct model *m = y ? calloc(1, sizeof *m) : NULL;
	struct reader r = { .y = y, .beside = beside, .m = m, .e = e };

	if (y && !m)
		err_nomem(e, "for a model");
	if (!m) {
		yaml_free(y);
		return NULL;
	}
	m->memory = y;
	m->path = yaml_name(y);
	if (model_read_read_all(&r) < 0) {
		model_free(m);
		return NULL;
	}
	return m;
}

struct model *model_parse(const char *text, size_t n, const char *name, struct err *e)
{
	return model_of_yaml(yaml_parse(text, n, name, e), NULL, e);
}

void model_free(struct model *m)
{
	if (!m)
		return;
	yaml_free(m->memory);
	free(m->checkpoint);
	free(m);
}
