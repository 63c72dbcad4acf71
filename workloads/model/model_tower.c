/* model_tower.c - encoders of pictures and sound that stand beside a decoder in a config.json: what is counted of them.
 *
 * No step here runs one; their parameters are a part of the checkpoint. A tower is a patch embedding, positions, layers of
 * attention and MLP, and what joins it to the decoder. One whose kind is not in the table, or whose sizes are not all there,
 * is kept by name alone: whoever reports the model says that it is left out.
 * Source: transformers, modeling_{qwen2_vl,qwen2_5_vl,qwen3_vl,qwen3_5,siglip,clip,pixtral,llama4,gemma3,paligemma,llava,
 * mistral3}.py. */
#include <string.h>

#include "workloads/model/model_int.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum positions { POS_NONE, POS_GRID, POS_GRID_AND_CLASS, POS_GIVEN };

/* MERGER: patches of a square joined, two products. */
enum joint { JOINT_ROOT, JOINT_MERGER, JOINT_SHUFFLE, JOINT_GEMMA3, JOINT_LINEAR, JOINT_LLAVA, JOINT_MISTRAL3 };

static const struct kind {
	const char *type;
	bool gated, rms, bias, patch_bias; /* of MLPs, of norms, of products, of the patch embedding */
	unsigned norms;                    /* outside the layers */
	enum positions positions;
	enum joint joint; /* JOINT_ROOT: as the whole model has it */
} kinds[] = {
	{ "qwen2_vl", false, false, true, false, 0, POS_NONE, JOINT_MERGER },
	{ "qwen2_5_vl", true, true, true, false, 0, POS_NONE, JOINT_MERGER },
	{ "qwen3_vl", false, false, true, true, 0, POS_GIVEN, JOINT_MERGER },
	{ "qwen3_vl_moe", false, false, true, true, 0, POS_GIVEN, JOINT_MERGER },
	{ "qwen3_5", false, false, true, true, 0, POS_GIVEN, JOINT_MERGER },
	{ "qwen3_5_moe", false, false, true, true, 0, POS_GIVEN, JOINT_MERGER },
	{ "llama4_vision_model", false, false, true, false, 2, POS_GRID_AND_CLASS, JOINT_SHUFFLE },
	{ "siglip_vision_model", false, false, true, true, 1, POS_GRID, JOINT_ROOT },
	{ "clip_vision_model", false, false, true, false, 2, POS_GRID_AND_CLASS, JOINT_ROOT },
	{ "pixtral", true, true, false, false, 1, POS_NONE, JOINT_ROOT },
};

static const struct {
	const char *root;
	enum joint joint;
} roots[] = {
	{ "gemma3", JOINT_GEMMA3 },
	{ "paligemma", JOINT_LINEAR },
	{ "llava", JOINT_LLAVA },
	{ "mistral3", JOINT_MISTRAL3 },
};

/* Sizes of a tower, each by one of its names. */
struct sizes {
	uint32_t width, layers, mlp, patch, frames, image, positions, merge, out, ratio, shuffled, joined;
};

static const struct {
	const char *keys[3];
	size_t at;
} names[] = {
	{ { "embed_dim", "hidden_size" }, offsetof(struct sizes, width) },
	{ { "depth", "num_hidden_layers" }, offsetof(struct sizes, layers) },
	{ { "intermediate_size" }, offsetof(struct sizes, mlp) },
	{ { "mlp_ratio" }, offsetof(struct sizes, ratio) },
	{ { "patch_size", "spatial_patch_size" }, offsetof(struct sizes, patch) },
	{ { "temporal_patch_size" }, offsetof(struct sizes, frames) },
	{ { "image_size" }, offsetof(struct sizes, image) },
	{ { "num_position_embeddings" }, offsetof(struct sizes, positions) },
	{ { "spatial_merge_size" }, offsetof(struct sizes, merge) },
	{ { "out_hidden_size" }, offsetof(struct sizes, out) },
	{ { "projector_input_dim" }, offsetof(struct sizes, shuffled) },
	{ { "projector_output_dim", "vision_output_dim" }, offsetof(struct sizes, joined) },
};

static int read_sizes(struct reader *r, const struct ynode *map, struct sizes *s)
{
	for (size_t i = 0; i < COUNT(names); i++)
		for (size_t k = 0; k < COUNT(names[i].keys) && names[i].keys[k]; k++) {
			const struct ynode *n = ynode_get(map, names[i].keys[k]);

			if (model_is_null(n))
				continue;
			if (model_number(r, n, 0, MODEL_MAX_DIM, (uint32_t *)(void *)((char *)s + names[i].at)) < 0)
				return -1;
			break;
		}
	if (!s->mlp)
		s->mlp = s->width * s->ratio;
	return 0;
}

static uint64_t norm(const struct kind *k, uint64_t width)
{
	return (k->rms ? 1 : 2) * width;
}

/* A product with its bias. */
static uint64_t product(uint64_t in, uint64_t out, bool bias)
{
	return in * out + (bias ? out : 0);
}

/* 0: sizes are missing. */
static uint64_t body(const struct kind *k, const struct sizes *s)
{
	const uint64_t w = s->width, frames = k->joint == JOINT_MERGER ? (s->frames ? s->frames : 2) : 1;
	const uint64_t grid = s->patch ? s->image / s->patch : 0;
	const uint64_t places[] = { [POS_NONE] = 0,
		                    [POS_GRID] = grid * grid,
		                    [POS_GRID_AND_CLASS] = grid * grid + 2, /* and the class itself */
		                    [POS_GIVEN] = s->positions };

	if (!w || !s->layers || !s->mlp || !s->patch || (k->positions && !places[k->positions]) ||
	    (k->positions == POS_GRID_AND_CLASS && !grid))
		return 0;
	return product(3 * frames * s->patch * s->patch, w, k->patch_bias) + places[k->positions] * w +
	       k->norms * norm(k, w) +
	       s->layers * (4 * product(w, w, k->bias) + (k->gated ? 2 : 1) * product(w, s->mlp, k->bias) +
	                    product(s->mlp, w, k->bias) + 2 * norm(k, w));
}

/* What joins it to a decoder of width `h`; `deep`: further mergers, behind layers in between. 0: sizes are missing. */
static uint64_t joined(const struct kind *k, enum joint joint, const struct sizes *s, uint64_t h, uint64_t deep)
{
	const uint64_t w = s->width, merged = w * (s->merge ? s->merge * (uint64_t)s->merge : 4),
		       out = s->out ? s->out : h;
	const uint64_t merger = product(merged, merged, true) + product(merged, out, true);

	switch (joint) {
	case JOINT_MERGER:
		return norm(k, w) + merger + deep * (norm(k, merged) + merger);
	case JOINT_SHUFFLE:
		return s->shuffled && s->joined
		               ? (uint64_t)s->mlp * s->shuffled + (uint64_t)s->shuffled * s->joined + s->joined * h
		               : 0;
	case JOINT_GEMMA3:
		return w * h + w;
	case JOINT_LINEAR:
		return product(w, h, true);
	case JOINT_LLAVA:
		return product(w, h, true) + product(h, h, true);
	case JOINT_MISTRAL3:
		return w + 4 * w * w + w * h + h * h;
	default:
		return 0;
	}
}

static const char *type_of(const struct ynode *map)
{
	const struct ynode *n = ynode_get(map, "model_type");

	return n && n->kind == YNODE_SCALAR ? n->text : NULL;
}

static uint64_t count_tower(struct reader *r, const struct ynode *root, const struct ynode *map)
{
	const struct ynode *deep = ynode_get(map, "deepstack_visual_indexes");
	const char *type = type_of(map), *whole = type_of(root);
	struct err none = ERR_INIT;
	struct reader quiet = { .y = r->y, .m = r->m, .e = &none };
	struct sizes s = { 0 };

	if (!(type = type ? type : whole) || read_sizes(&quiet, map, &s) < 0)
		return 0;
	/* Qwen2-VL's hidden_size is the decoder's. */
	s.out = strcmp(type, "qwen2_vl") == 0 ? r->m->hidden : s.out;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		enum joint joint = kinds[i].joint;
		uint64_t n, more;

		if (strcmp(type, kinds[i].type) != 0)
			continue;
		for (size_t k = 0; whole && k < COUNT(roots); k++)
			if (joint == JOINT_ROOT && strcmp(whole, roots[k].root) == 0)
				joint = roots[k].joint;
		n = body(&kinds[i], &s);
		more = joined(&kinds[i], joint, &s, r->m->hidden, deep && deep->kind == YNODE_SEQ ? deep->n : 0);
		return n && more ? n + more : 0;
	}
	return 0;
}

void model_read_towers(struct reader *r, const struct ynode *root)
{
	static const char *const keys[][2] = {
		{ "vision_config", "vision tower" },  { "vit_config", "vision tower" },
		{ "audio_config", "audio tower" },    { "speech_config", "audio tower" },
		{ "img_processor", "vision tower" },  { "visual", "vision tower" },
		{ "audio_processor", "audio tower" }, { "mm_vision_tower", "vision tower" },
	};

	for (size_t i = 0; i < COUNT(keys); i++) {
		const struct ynode *n = ynode_get(root, keys[i][0]);

		if (model_is_null(n) || r->m->n_towers == MODEL_TOWERS || (n->kind != YNODE_SCALAR && !n->n))
			continue;
		r->m->towers[r->m->n_towers++] =
			(struct model_tower){ keys[i][1], n->kind == YNODE_MAP ? count_tower(r, root, n) : 0 };
	}
}
