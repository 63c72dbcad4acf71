/* model_quant.c - what a checkpoint's files say of how its weights are stored, tool by tool.
 *
 * Sources: the configuration classes of each tool and their loaders. transformers utils/quantization_config.py (awq, gptq,
 * bitsandbytes, hqq, torchao, eetq, fbgemm_fp8, fp8, mxfp4, quanto, auto-round, quark, compressed-tensors); compressed-tensors
 * quantization/quant_args.py and quant_config.py; NVIDIA ModelOpt export/quant_utils.py and TensorRT-LLM quantization/mode.py
 * (quant_algo); GPTQModel's `dynamic`; MLX's nn.quantize; which layers engines leave alone: vLLM's quantization loaders.
 * Bits of scales: AWQ and GPTQ 16, and the zero points of a group in as many bits as a weight; MLX and torchao's int4 a scale
 * and an offset of 16; bitsandbytes' 4 bits a float for 64, or with double quantisation 8 bits (its float for 256 of these is left out); HQQ a
 * scale and an offset of 16. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/str.h"
#include "workloads/model/model_quant.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct qread {
	const struct ynode *x; /* the map that says it */
	struct model_quant *q;
	struct quant_rules r;
	struct quant_rule *rules;
	size_t room;
	const char *kv; /* of the cache; NULL: nothing is said */
	bool failed;    /* no memory */
};

/* --- values, where they are there ------------------------------------------------------------------------------------ */

static const char *text_of(const struct ynode *map, const char *key)
{
	const struct ynode *n = ynode_get(map, key);

	return model_is_null(n) || n->kind != YNODE_SCALAR ? NULL : n->text;
}

static uint32_t number_of(const struct ynode *map, const char *key, uint32_t otherwise)
{
	const char *s = text_of(map, key);
	char *end;
	long v;

	if (!s)
		return otherwise;
	v = strtol(s, &end, 10);
	return *end || v < -1 || v > 65536 ? UINT32_MAX : v == -1 ? STORED_ROW : (uint32_t)v;
}

static bool flag_of(const struct ynode *map, const char *key, bool otherwise)
{
	const char *s = text_of(map, key);

	return s ? strcmp(s, "true") == 0 || strcmp(s, "True") == 0 : otherwise;
}

static const struct ynode *map_of(const struct ynode *map, const char *key)
{
	const struct ynode *n = ynode_get(map, key);

	return n && n->kind == YNODE_MAP ? n : NULL;
}

/* Formats nobody has are no formats. */
static int check_stored(struct qread *r, const struct stored *s, const char *what)
{
	if (s->bits <= 8 && s->bits != 1 && (s->group <= 4096 || s->group == STORED_ROW || s->group == STORED_TILE) &&
	    (!s->real || s->bits == 4 || s->bits == 8 || !s->bits))
		return 0;
	return model_quant_words(r->q, "%.60s of %u bits, group %u", what, s->bits, s->group);
}

/* --- rules ------------------------------------------------------------------------------------------------------------ */

static void add_rule(struct qread *r, const char *pattern, enum rule_match match, struct stored s)
{
	if (r->r.n == r->room) {
		struct quant_rule *more = realloc(r->rules, (r->room ? 2 * r->room : 64) * sizeof *more);

		r->failed |= !more;
		if (!more)
			return;
		r->room = r->room ? 2 * r->room : 64;
		r->rules = more;
	}
	r->rules[r->r.n++] = (struct quant_rule){ pattern, match, s };
}

/* "re:" marks a regular expression; a name may have '*'. */
static void add_pattern(struct qread *r, const char *pattern, struct stored s)
{
	if (str_prefix(pattern, "re:"))
		add_rule(r, pattern + 3, MATCH_REGEX, s);
	else
		add_rule(r, pattern, MATCH_NAME, s);
}

/* What is left as the model has it, by each tool's name for that list. */
static void read_kept(struct qread *r, const struct ynode *x)
{
	static const char *const keys[] = { "ignore",         "modules_to_not_convert",
		                            "ignored_layers", "exclude_modules",
		                            "exclude",        "llm_int8_skip_modules",
		                            "skip_modules",   "modules_to_not_quantize" };

	for (size_t i = 0; i < COUNT(keys); i++) {
		const struct ynode *n = ynode_get(x, keys[i]);

		for (size_t k = 0; n && n->kind == YNODE_SEQ && k < n->n; k++)
			if (n->vals[k]->kind == YNODE_SCALAR && *n->vals[k]->text)
				add_pattern(r, n->vals[k]->text, (struct stored){ .bits = 0 });
	}
}

/* --- formats by name --------------------------------------------------------------------------------------------------- */

/* `group` of a row says how many weights a scale has where the file does not. */
static const struct {
	const char *name;
	struct stored s;
} algorithms[] = {
	/* ModelOpt, TensorRT-LLM */
	{ "FP8", { true, 8, STORED_TENSOR, 0, 0, DT_FP8 } },
	{ "FP8_PER_CHANNEL_PER_TOKEN", { true, 8, STORED_ROW, 32, 0, DT_FP8 } },
	{ "FP8_PB_WO", { true, 8, STORED_TILE, 32, 0, DT_FP8 } },
	{ "FP8_BLOCK_SCALES", { true, 8, STORED_TILE, 32, 0, DT_FP8 } },
	{ "NVFP4", { true, 4, 16, 8, 0, DT_FP4 } },
	{ "NVFP4_AWQ", { true, 4, 16, 8, 0, DT_FP4 } },
	{ "W4A8_NVFP4_FP8", { true, 4, 16, 8, 0, DT_FP8 } },
	{ "W4A16_NVFP4", { true, 4, 16, 8, 0, DT_NONE } },
	{ "MXFP4", { true, 4, 32, 8, 0, DT_FP4 } },
	{ "W4A16_MXFP4", { true, 4, 32, 8, 0, DT_NONE } },
	{ "W4A8_MXFP4_FP8", { true, 4, 32, 8, 0, DT_FP8 } },
	{ "W4A8_MXFP4_MXFP8", { true, 4, 32, 8, 0, DT_FP8 } },
	{ "MXFP8", { true, 8, 32, 8, 0, DT_FP8 } },
	{ "W4A16_AWQ", { false, 4, 128, 16, 0, DT_NONE } },
	{ "W4A16_GPTQ", { false, 4, 128, 16, 0, DT_NONE } },
	{ "W4A16", { false, 4, STORED_ROW, 16, 0, DT_NONE } },
	{ "W4A8_AWQ", { false, 4, 128, 16, 0, DT_FP8 } },
	{ "W8A16", { false, 8, STORED_ROW, 16, 0, DT_NONE } },
	{ "W8A16_GPTQ", { false, 8, 128, 16, 0, DT_NONE } },
	{ "W8A8_SQ_PER_CHANNEL", { false, 8, STORED_ROW, 32, 0, DT_INT8 } },
	{ "INT8_SQ", { false, 8, STORED_ROW, 32, 0, DT_INT8 } },
	{ "INT8", { false, 8, STORED_ROW, 32, 0, DT_INT8 } },
	/* torchao, as words and as classes */
	{ "int4_weight_only", { false, 4, 128, 16, 16, DT_NONE } },
	{ "Int4WeightOnlyConfig", { false, 4, 128, 16, 16, DT_NONE } },
	{ "int8_weight_only", { false, 8, STORED_ROW, 16, 0, DT_NONE } },
	{ "Int8WeightOnlyConfig", { false, 8, STORED_ROW, 16, 0, DT_NONE } },
	{ "int8_dynamic_activation_int8_weight", { false, 8, STORED_ROW, 16, 0, DT_INT8 } },
	{ "Int8DynamicActivationInt8WeightConfig", { false, 8, STORED_ROW, 16, 0, DT_INT8 } },
	{ "int8_dynamic_activation_int4_weight", { false, 4, 32, 16, 0, DT_INT8 } },
	{ "Int8DynamicActivationInt4WeightConfig", { false, 4, 32, 16, 0, DT_INT8 } },
	{ "float8_weight_only", { true, 8, STORED_ROW, 32, 0, DT_NONE } },
	{ "Float8WeightOnlyConfig", { true, 8, STORED_ROW, 32, 0, DT_NONE } },
	{ "float8_dynamic_activation_float8_weight", { true, 8, STORED_ROW, 32, 0, DT_FP8 } },
	{ "Float8DynamicActivationFloat8WeightConfig", { true, 8, STORED_ROW, 32, 0, DT_FP8 } },
	/* MLX's modes, quanto's weights, FP-Quant */
	{ "mxfp4", { true, 4, 32, 8, 0, DT_NONE } },
	{ "nvfp4", { true, 4, 16, 8, 0, DT_NONE } },
	{ "mxfp8", { true, 8, 32, 8, 0, DT_NONE } },
	{ "int8", { false, 8, STORED_ROW, 16, 0, DT_NONE } },
	{ "float8", { true, 8, STORED_ROW, 16, 0, DT_NONE } },
};

/* 0: not one of them. */
static bool algorithm(const char *name, uint32_t group, struct stored *out)
{
	for (size_t i = 0; i < COUNT(algorithms); i++)
		if (strcmp(name, algorithms[i].name) == 0) {
			*out = algorithms[i].s;
			if (group && group < STORED_ROW && out->group && out->group < STORED_ROW)
				out->group = group;
			return true;
		}
	return false;
}

/* --- compressed-tensors, ModelOpt ---------------------------------------------------------------------------------------- */

/* A format by its bits and type; activations of it are what products multiply. */
static enum dtype activations(struct qread *r, const struct ynode *n)
{
	const char *type = text_of(n, "type");
	const uint32_t bits = number_of(n, "num_bits", 16);
	const bool real = type && strcmp(type, "float") == 0;

	if (model_is_null(n) || bits == 16)
		return DT_NONE;
	if (bits == 8)
		return real ? DT_FP8 : DT_INT8;
	if (bits == 4)
		return real ? DT_FP4 : DT_INT4;
	model_quant_words(r->q, "activations of %u bits", bits);
	return DT_NONE;
}

static bool is_block_128(const struct ynode *n)
{
	return n && n->kind == YNODE_SEQ && n->n == 2 && n->vals[0]->kind == YNODE_SCALAR &&
	       n->vals[1]->kind == YNODE_SCALAR && strcmp(n->vals[0]->text, "128") == 0 &&
	       strcmp(n->vals[1]->text, "128") == 0;
}

static int weights_of(struct qread *r, const struct ynode *group, struct stored *s)
{
	const struct ynode *w = map_of(group, "weights"), *block = ynode_get(w, "block_structure");
	const char *type = text_of(w, "type"), *strategy = text_of(w, "strategy");
	const uint32_t n = number_of(w, "group_size", 0);

	*s = (struct stored){ .bits = 0 };
	if (!w)
		return 0;
	s->real = type && strcmp(type, "float") == 0;
	s->bits = number_of(w, "num_bits", 0);
	s->math = activations(r, ynode_get(group, "input_activations"));
	if (!s->bits || (s->bits > 8 && s->bits != 16))
		return model_quant_words(r->q, "weights of %u bits", s->bits);
	if (s->bits == 16)
		return *s = (struct stored){ .bits = 0 }, 0;
	if (strategy && strcmp(strategy, "block") == 0) {
		if (!is_block_128(block))
			return model_quant_words(r->q, "'block_structure' that is not [128, 128]");
		s->group = STORED_TILE;
		s->scale_bits = 32;
	} else if (strategy && strcmp(strategy, "channel") == 0) {
		s->group = STORED_ROW;
		s->scale_bits = 16;
	} else if (n && n != STORED_ROW) {
		s->group = n;
		/* Blocks of floats have scales of 8 bits (NVFP4, MXFP4, MXFP8). */
		s->scale_bits = s->real ? 8 : 16;
		s->zero_bits = !s->real && !flag_of(w, "symmetric", true) ? s->bits : 0;
	} else if (n == STORED_ROW) {
		s->group = STORED_ROW;
		s->scale_bits = 16;
	}
	return check_stored(r, s, "weights");
}

static bool is_all(const char *target)
{
	return strcmp(target, "Linear") == 0 || strcmp(target, "*") == 0;
}

/* Each group has its format and its targets; of two the first counts, so the last rule made is the first group's. */
static int read_groups(struct qread *r, const struct ynode *groups, enum quant_cover cover)
{
	for (size_t i = groups->n; i-- > 0;) {
		const struct ynode *g = groups->vals[i], *targets = ynode_get(g, "targets");
		struct stored s;

		if (g->kind != YNODE_MAP || weights_of(r, g, &s) < 0)
			return model_quant_words(r->q, "'config_groups' that are no maps");
		if (!targets || targets->kind != YNODE_SEQ) {
			r->r.all = s;
			r->r.cover = cover;
			continue;
		}
		for (size_t k = 0; k < targets->n; k++)
			if (targets->vals[k]->kind != YNODE_SCALAR || !*targets->vals[k]->text)
				return model_quant_words(r->q, "'targets' that are no names");
			else if (is_all(targets->vals[k]->text))
				r->r.all = s, r->r.cover = cover;
			else
				add_pattern(r, targets->vals[k]->text, s);
	}
	return 0;
}

static int read_compressed(struct qread *r)
{
	const struct ynode *groups = map_of(r->x, "config_groups");
	const struct ynode *sparse = map_of(r->x, "sparsity_config");
	const char *format = text_of(sparse, "format");

	if (format && strcmp(format, "dense") != 0)
		return model_quant_words(r->q, "'sparsity_config' of format '%.60s'", format);
	if (!groups)
		return model_quant_words(r->q, "no 'config_groups'");
	return read_groups(r, groups, COVER_HEAD);
}

/* Layers that a mixed checkpoint lists, each with its algorithm. */
static int read_listed(struct qread *r, const struct ynode *listed)
{
	for (size_t i = 0; i < listed->n; i++) {
		const struct ynode *x = listed->vals[i];
		const char *name = text_of(x, "quant_algo");
		struct stored s;

		if (!name || !algorithm(name, number_of(x, "group_size", 0), &s))
			return model_quant_words(r->q, "'%.60s' for '%.80s'", name ? name : "no quant_algo",
			                         listed->keys[i]->text);
		add_rule(r, listed->keys[i]->text, MATCH_NAME, s);
	}
	return 0;
}

static int read_modelopt(struct qread *r)
{
	const char *name = text_of(r->x, "quant_algo");
	const struct ynode *listed = map_of(r->x, "quantized_layers"), *groups = map_of(r->x, "config_groups");

	if (listed)
		return read_listed(r, listed);
	if (name && strcmp(name, "MIXED_PRECISION") == 0 && groups)
		return read_groups(r, groups, COVER_LAYERS);
	if (!name && groups)
		return read_groups(r, groups, COVER_LAYERS);
	if (!name)
		return ynode_get(r->x, "quant_algo") ? 0 : model_quant_words(r->q, "no 'quant_algo'");
	r->r.cover = COVER_LAYERS;
	if (!algorithm(name, number_of(r->x, "group_size", 0), &r->r.all))
		return model_quant_words(r->q, "'%.80s'", name);
	return check_stored(r, &r->r.all, name);
}

/* --- integers in groups ----------------------------------------------------------------------------------------------------- */

static struct stored integers(const struct ynode *x, const char *bits, bool zeros)
{
	struct stored s = { .bits = number_of(x, bits, 4), .group = number_of(x, "group_size", 128), .scale_bits = 16 };

	if (!s.group)
		s.group = STORED_ROW;
	s.zero_bits = zeros ? s.bits : 0;
	return s;
}

static int read_awq(struct qread *r)
{
	r->r.cover = COVER_LAYERS;
	r->r.all = integers(r->x, ynode_get(r->x, "bits") ? "bits" : "w_bit", flag_of(r->x, "zero_point", true));
	return check_stored(r, &r->r.all, "awq");
}

/* A part with bits of its own, or `false` for none. */
static int read_override(struct qread *r, const char *pattern, enum rule_match match, const struct ynode *x,
                         struct stored s)
{
	const uint32_t bits = number_of(x, "bits", s.bits), group = number_of(x, "group_size", s.group);

	if (x->kind == YNODE_SCALAR && (strcmp(x->text, "true") == 0 || strcmp(x->text, "True") == 0))
		return 0;
	if (x->kind == YNODE_SCALAR || bits >= 16) {
		add_rule(r, pattern, match, (struct stored){ .bits = 0 });
		return 0;
	}
	s.zero_bits = s.zero_bits == s.bits ? bits : s.zero_bits;
	s.bits = bits;
	s.group = group;
	add_rule(r, pattern, match, s);
	return check_stored(r, &s, pattern);
}

static int read_gptq(struct qread *r)
{
	static const char *const lists[] = { "dynamic", "extra_config" };

	r->r.cover = flag_of(r->x, "lm_head", false) ? COVER_HEAD : COVER_LAYERS;
	r->r.all = integers(r->x, "bits", !flag_of(r->x, "sym", true));
	for (size_t k = 0; k < COUNT(lists); k++) {
		const struct ynode *more = map_of(r->x, lists[k]);

		for (size_t i = 0; more && i < more->n; i++) {
			const char *key = more->keys[i]->text;
			const bool marked = str_prefix(key, "-:") || str_prefix(key, "+:");

			if (str_prefix(key, "-:"))
				add_rule(r, key + 2, MATCH_REGEX, (struct stored){ .bits = 0 });
			else if (read_override(r, key + (marked ? 2 : 0), k ? MATCH_NAME : MATCH_REGEX, more->vals[i],
			                       r->r.all) < 0)
				return -1;
		}
	}
	return check_stored(r, &r->r.all, "gptq");
}

/* MLX: all products and the embedding; parts with other bits, or none, stand beside as keys. */
static int read_mlx(struct qread *r)
{
	const char *mode = text_of(r->x, "mode");

	r->r.cover = COVER_EMBED;
	if (mode && strcmp(mode, "affine") != 0) {
		if (!algorithm(mode, number_of(r->x, "group_size", 0), &r->r.all))
			return model_quant_words(r->q, "mode '%.60s'", mode);
	} else {
		r->r.all = integers(r->x, "bits", false);
		r->r.all.group = number_of(r->x, "group_size", 64);
		r->r.all.zero_bits = 16;
	}
	for (size_t i = 0; i < r->x->n; i++)
		if (strchr(r->x->keys[i]->text, '.') || r->x->vals[i]->kind == YNODE_MAP)
			if (read_override(r, r->x->keys[i]->text, MATCH_NAME, r->x->vals[i], r->r.all) < 0)
				return -1;
	return check_stored(r, &r->r.all, "mlx");
}

static int read_hqq(struct qread *r)
{
	const struct ynode *x = map_of(r->x, "quant_config"), *w;

	if (!(w = map_of(x, "weight_quant_params")))
		return model_quant_words(r->q, "'quant_config' without 'weight_quant_params'");
	r->r.cover = COVER_LAYERS;
	r->r.all = integers(w, "nbits", false);
	r->r.all.group = number_of(w, "group_size", 64);
	r->r.all.zero_bits = 16;
	return check_stored(r, &r->r.all, "hqq");
}

static int read_bitsandbytes(struct qread *r)
{
	const bool doubled = flag_of(r->x, "bnb_4bit_use_double_quant", false);

	r->r.cover = COVER_LAYERS;
	if (flag_of(r->x, "load_in_8bit", false) || flag_of(r->x, "_load_in_8bit", false))
		r->r.all = (struct stored){ false, 8, STORED_ROW, 32, 0, DT_INT8 };
	else if (!flag_of(r->x, "load_in_4bit", false) && !flag_of(r->x, "_load_in_4bit", false))
		return model_quant_words(r->q, "neither 'load_in_4bit' nor 'load_in_8bit'");
	else
		r->r.all = (struct stored){ false, 4, 64, doubled ? 8 : 32, 0, DT_NONE };
	return 0;
}

/* --- floats ------------------------------------------------------------------------------------------------------------------ */

static int read_fp8(struct qread *r)
{
	const struct ynode *block = ynode_get(r->x, "weight_block_size");

	r->r.cover = COVER_LAYERS;
	r->r.all = (struct stored){ true, 8, STORED_TENSOR, 0, 0, DT_FP8 };
	if (model_is_null(block))
		return 0;
	if (!is_block_128(block))
		return model_quant_words(r->q, "'weight_block_size' that is not [128, 128]");
	r->r.all.group = STORED_TILE;
	r->r.all.scale_bits = 32;
	return 0;
}

static int read_fbgemm(struct qread *r)
{
	r->r.cover = COVER_LAYERS;
	r->r.all = (struct stored){ true, 8, STORED_ROW, 32, 0, DT_FP8 };
	return 0;
}

/* Experts alone (transformers integrations/mxfp4.py). */
static int read_mxfp4(struct qread *r)
{
	r->r.cover = COVER_EXPERTS;
	r->r.all = (struct stored){ true, 4, 32, 8, 0, DT_NONE };
	return 0;
}

static int read_eetq(struct qread *r)
{
	r->r.cover = COVER_LAYERS;
	r->r.all = (struct stored){ false, 8, STORED_ROW, 16, 0, DT_NONE };
	return 0;
}

/* A name of a format beside the method: quanto's `weights`, FP-Quant's `forward_dtype`. */
static int read_named(struct qread *r)
{
	const char *name = text_of(r->x, "weights");

	name = name ? name : text_of(r->x, "forward_dtype");
	r->r.cover = COVER_LAYERS;
	if (!name || !algorithm(name, 0, &r->r.all))
		return model_quant_words(r->q, "'%.60s'", name ? name : "no format");
	return 0;
}

/* --- torchao, Quark ------------------------------------------------------------------------------------------------------------ */

static int read_torchao(struct qread *r)
{
	const struct ynode *type = ynode_get(r->x, "quant_type"), *kwargs = map_of(r->x, "quant_type_kwargs");
	const char *name = text_of(r->x, "quant_type");
	uint32_t group = number_of(kwargs, "group_size", 0);

	if (!name && type && type->kind == YNODE_MAP) {
		const struct ynode *d = map_of(type, "default");

		if (type->n != 1 || !d)
			return model_quant_words(r->q, "'quant_type' with more than a default");
		name = text_of(d, "_type");
		group = number_of(map_of(d, "_data"), "group_size", 0);
	}
	r->r.cover = flag_of(r->x, "include_input_output_embeddings", false) ? COVER_EMBED : COVER_LAYERS;
	if (!name || !algorithm(name, group, &r->r.all))
		return model_quant_words(r->q, "'%.80s'", name ? name : "no quant_type");
	return check_stored(r, &r->r.all, name);
}

static int quark_format(struct qread *r, const struct ynode *x, struct stored *s)
{
	static const struct {
		const char *name;
		bool real;
		uint32_t bits;
	} types[] = { { "fp8", true, 8 },    { "int8", false, 8 }, { "uint8", false, 8 }, { "int4", false, 4 },
		      { "uint4", false, 4 }, { "fp4", true, 4 },   { "mx", true, 4 } };
	const char *type, *scheme;

	*s = (struct stored){ .bits = 0 };
	if (x && x->kind == YNODE_SEQ && x->n) /* stored in the last of several steps */
		x = x->vals[x->n - 1];
	if (model_is_null(x))
		return 0;
	type = text_of(x, "dtype");
	scheme = text_of(x, "qscheme");
	for (size_t i = 0; type && i < COUNT(types); i++)
		if (str_prefix(type, types[i].name) && !s->bits) {
			s->real = types[i].real;
			s->bits = types[i].bits;
		}
	if (!s->bits)
		return model_quant_words(r->q, "dtype '%.60s'", type ? type : "none");
	if (scheme && strcmp(scheme, "per_group") == 0) {
		s->group = number_of(x, "group_size", 128);
		s->scale_bits = s->real ? 8 : 16;
		s->zero_bits = !s->real && !flag_of(x, "symmetric", true) ? s->bits : 0;
	} else if (scheme && strcmp(scheme, "per_channel") == 0) {
		s->group = STORED_ROW;
		s->scale_bits = 32;
	}
	return check_stored(r, s, type);
}

static int quark_part(struct qread *r, const struct ynode *x, struct stored *s)
{
	const struct ynode *in = ynode_get(x, "input_tensors");
	struct stored a;

	if (quark_format(r, ynode_get(x, "weight"), s) < 0 || quark_format(r, in, &a) < 0)
		return -1;
	s->math = !a.bits ? DT_NONE : a.real ? (a.bits == 4 ? DT_FP4 : DT_FP8) : a.bits == 4 ? DT_INT4 : DT_INT8;
	return 0;
}

static int read_quark(struct qread *r)
{
	const struct ynode *all = map_of(r->x, "global_quant_config"), *parts = map_of(r->x, "layer_quant_config"),
			   *kv = map_of(r->x, "kv_cache_quant_config");

	if (!all || quark_part(r, all, &r->r.all) < 0)
		return model_quant_words(r->q, "no 'global_quant_config'");
	r->r.cover = COVER_HEAD;
	for (size_t i = 0; parts && i < parts->n; i++) {
		struct stored s;

		if (quark_part(r, parts->vals[i], &s) < 0)
			return -1;
		add_rule(r, parts->keys[i]->text, MATCH_NAME, s);
	}
	if (kv && kv->n)
		r->kv = text_of(map_of(kv->vals[0], "output_tensors"), "dtype");
	return 0;
}

/* --- the cache ------------------------------------------------------------------------------------------------------------------- */

static void read_kv(struct qread *r)
{
	const struct ynode *x = ynode_get(r->x, "kv_cache_scheme");
	const uint32_t bits = number_of(x, "num_bits", 0);
	const char *type = text_of(x, "type"), *name = text_of(r->x, "kv_cache_quant_algo");

	name = name ? name : text_of(r->x, "kv_cache_scheme");
	name = name ? name : text_of(r->x, "kv_cache_dtype");
	if (name)
		r->kv = name;
	else if (bits == 8)
		r->kv = type && strcmp(type, "float") == 0 ? "fp8" : "int8";
	else if (bits)
		r->kv = "a cache of other bits";
}

/* --- whose it is ------------------------------------------------------------------------------------------------------------------ */

static const struct {
	const char *method;
	int (*read)(struct qread *r);
} methods[] = {
	{ "modelopt", read_modelopt },
	{ "modelopt_fp4", read_modelopt },
	{ "modelopt_mixed", read_modelopt },
	{ "compressed-tensors", read_compressed },
	{ "compressed_tensors", read_compressed },
	{ "awq", read_awq },
	{ "awq_marlin", read_awq },
	{ "gptq", read_gptq },
	{ "gptq_marlin", read_gptq },
	{ "auto-round", read_gptq },
	{ "auto_round", read_gptq },
	{ "intel/auto-round", read_gptq },
	{ "mlx", read_mlx },
	{ "bitsandbytes", read_bitsandbytes },
	{ "hqq", read_hqq },
	{ "quark", read_quark },
	{ "torchao", read_torchao },
	{ "fp8", read_fp8 },
	{ "fbgemm_fp8", read_fbgemm },
	{ "mxfp4", read_mxfp4 },
	{ "eetq", read_eetq },
	{ "quanto", read_named },
	{ "fp_quant", read_named },
};

/* Where no method is named, the keys tell whose it is. */
static const char *method_of(const struct ynode *x)
{
	static const char *const tells[][2] = {
		{ "quant_algo", "modelopt" },
		{ "config_groups", "compressed-tensors" },
		{ "global_quant_config", "quark" },
		{ "load_in_4bit", "bitsandbytes" },
		{ "load_in_8bit", "bitsandbytes" },
		{ "quant_type", "torchao" },
		{ "zero_point", "awq" },
		{ "desc_act", "gptq" },
		{ "group_size", "mlx" },
	};
	const char *name = text_of(x, "quant_method");

	for (size_t i = 0; !name && i < COUNT(tells); i++)
		if (ynode_get(x, tells[i][0]))
			return tells[i][1];
	return name;
}

static void name_scheme(struct model_quant *q, const char *method, const struct stored *s)
{
	const char *type = !s->bits ? "mixed" : s->real ? "fp" : "int";

	if (!s->bits)
		snprintf(q->name, sizeof q->name, "%.24s %s", method, type);
	else if (s->group && s->group < STORED_ROW)
		snprintf(q->name, sizeof q->name, "%.24s %s%u_g%u", method, type, s->bits, s->group);
	else
		snprintf(q->name, sizeof q->name, "%.24s %s%u", method, type, s->bits);
}

static int read_method(struct qread *r, const struct model *m)
{
	const char *method = method_of(r->x);

	if (!method)
		return model_quant_words(r->q, "no 'quant_method'");
	read_kv(r);
	for (size_t i = 0; i < COUNT(methods); i++)
		if (strcmp(method, methods[i].method) == 0) {
			if (methods[i].read(r) < 0)
				return model_quant_words(r->q, "'%.60s'", method);
			if (!r->r.cover && !r->r.n)
				return 0; /* the cache alone */
			read_kept(r, r->x);
			name_scheme(r->q, method, &r->r.all);
			r->r.rules = r->rules;
			return model_place_quant(m, &r->r, r->q);
		}
	return model_quant_words(r->q, "method '%.60s'", method);
}

/* The cache's format as ours are called; of another kind its own word stays. */
static void name_kv(struct model *m, const char *kv)
{
	static const char *const ours[][2] = { { "fp8", "fp8" },   { "FP8", "fp8" },   { "fp8_e4m3", "fp8" },
		                               { "INT8", "int8" }, { "int8", "int8" }, { "INT4", "int4" } };

	if (!kv || m->kv || strcmp(kv, "auto") == 0)
		return;
	for (size_t i = 0; i < COUNT(ours); i++)
		if (strcmp(kv, ours[i][0]) == 0)
			m->kv = ours[i][1];
	m->kv_words = m->kv ? NULL : kv;
}

int model_read_checkpoint(struct model *m, const struct ynode *x, struct err *e)
{
	struct qread r = { .x = x };
	struct model_quant *q = calloc(1, sizeof *q);

	if (!q)
		return err_nomem(e, "for a checkpoint's formats");
	r.q = q;
	m->checkpoint = q;
	if (read_method(&r, m) == 0 && q->scheme.name) {
		m->scheme = &q->scheme;
		m->quant = q->scheme.name;
	} else if (*q->words) {
		m->quant_words = q->words;
	}
	name_kv(m, r.kv);
	free(r.rules);
	return r.failed ? err_nomem(e, "for a checkpoint's formats") : 0;
}
