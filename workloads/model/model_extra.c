/* model_extra.c - the parts of a file beside the decoder: in which scheme its weights come, and encoders of pictures. */
#include <string.h>

#include "workloads/model/model_int.h"
#include "workloads/model/scheme.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A name that is none of ours: a fault of the file, not of the command line. */
static int placed(struct reader *r, const struct ynode *n)
{
	if (r->e)
		r->e->kind = ERR_CONFIG;
	return err_at(r->e, yaml_name(r->y), n->line, n->col);
}

/* Where a file says how its weights are stored: a map of MLX's, the key of all others, or the file beside it. */
static const struct ynode *checkpoint_of(const struct reader *r, const struct ynode *map)
{
	const struct ynode *root = yaml_root(r->y), *mlx = ynode_get(root, "quantization");
	const struct ynode *all[] = { mlx && mlx->kind == YNODE_MAP ? mlx : NULL, ynode_get(map, "quantization_config"),
		                      ynode_get(root, "quantization_config"), ynode_get(root, "compression_config"),
		                      r->beside ? ynode_get(yaml_root(r->beside), "quantization") : NULL };

	for (size_t i = 0; i < COUNT(all); i++)
		if (!model_is_null(all[i]))
			return all[i];
	return NULL;
}

int model_read_quant(struct reader *r, const struct ynode *map)
{
	const struct ynode *mine = ynode_get(map, "quantization"), *x = checkpoint_of(r, map);
	const struct ynode *kv = ynode_get(map, "kv_cache");

	r->m->scheme = scheme_find("bf16", r->e);
	if (!model_is_null(kv) && (yaml_str(r->y, kv, &r->m->kv, r->e) < 0 || !scheme_kv(r->m->kv, r->e)))
		return placed(r, kv);
	if (!model_is_null(mine) && mine->kind == YNODE_SCALAR)
		return yaml_str(r->y, mine, &r->m->quant, r->e) < 0 || !(r->m->scheme = scheme_find(r->m->quant, r->e))
		               ? placed(r, mine)
		               : 0;
	if (x && x->kind != YNODE_MAP)
		return yaml_err(r->y, x, r->e, "how the weights are stored is a map, 'quant_method' in it");
	return x ? model_read_checkpoint(r->m, x, r->e) : 0;
}

struct part_number {
	const char *key;
	size_t at;
};

static int model_extra_part(struct reader *r, const struct ynode *map, const struct part_number *v, size_t n, void *to)
{
	for (size_t i = 0; i < n; i++) {
		const struct ynode *x = ynode_get(map, v[i].key);

		if (!x)
			return yaml_err(r->y, map, r->e, "'%s' is not there, and nothing else says it", v[i].key);
		if (model_number(r, x, 1, MODEL_MAX_DIM, (uint32_t *)(void *)((char *)to + v[i].at)) < 0)
			return -1;
	}
	return 0;
}

static int model_extra_list(struct reader *r, const struct ynode *map, const char *key, uint32_t *to, uint32_t most,
                            uint32_t *count)
{
	const struct ynode *n = ynode_get(map, key);

	if (!n || n->kind != YNODE_SEQ || n->n > most)
		return yaml_err(r->y, n ? n : map, r->e, "'%s' is a list of at most %u numbers", key, most);
	for (size_t i = 0; i < n->n; i++)
		if (model_number(r, n->vals[i], 0, MODEL_MAX_DIM, &to[i]) < 0)
			return -1;
	*count = (uint32_t)n->n;
	return 0;
}

static int read_sam(struct reader *r, const struct ynode *map)
{
	static const struct part_number v[] = {
		{ "width", offsetof(struct model_sam, width) },   { "layers", offsetof(struct model_sam, layers) },
		{ "heads", offsetof(struct model_sam, heads) },   { "patch", offsetof(struct model_sam, patch) },
		{ "image", offsetof(struct model_sam, image) },   { "mlp", offsetof(struct model_sam, mlp) },
		{ "window", offsetof(struct model_sam, window) }, { "neck", offsetof(struct model_sam, neck) },
	};
	struct model_sam *s = &r->m->sam;

	return model_extra_part(r, map, v, COUNT(v), s) < 0 ||
	                       model_extra_list(r, map, "global_layers", s->global_at, COUNT(s->global_at),
	                                        &s->n_global) < 0 ||
	                       model_extra_list(r, map, "down", s->down, COUNT(s->down), &s->n_down) < 0
	               ? -1
	               : 0;
}

static int read_clip(struct reader *r, const struct ynode *map)
{
	static const struct part_number v[] = {
		{ "width", offsetof(struct model_clip, width) }, { "layers", offsetof(struct model_clip, layers) },
		{ "heads", offsetof(struct model_clip, heads) }, { "mlp", offsetof(struct model_clip, mlp) },
		{ "patch", offsetof(struct model_clip, patch) }, { "image", offsetof(struct model_clip, image) },
	};

	return model_extra_part(r, map, v, COUNT(v), &r->m->clip);
}

static int check_encoders(struct reader *r, const struct ynode *map)
{
	const struct model *m = r->m;

	if (m->sam.width % m->sam.heads || m->clip.width % m->clip.heads)
		return yaml_err(r->y, map, r->e, "an encoder's heads do not divide its width");
	if (m->sam.image % m->sam.patch || m->clip.image % m->clip.patch)
		return yaml_err(r->y, map, r->e, "an encoder's patches do not divide its image");
	return 0;
}

/* Of files of ours alone: a config.json's vision part has as many forms as there are models. */
int model_read_vision(struct reader *r, const struct ynode *root)
{
	static const char *const keys[] = { "sam", "clip", "projector" };
	static const struct part_number of[] = { { "in", offsetof(struct model_projector, in) },
		                                 { "out", offsetof(struct model_projector, out) } };
	const struct ynode *v = ynode_get(root, "vision");

	if (!ynode_get(root, "model") || model_is_null(v))
		return 0;
	if (yaml_only_keys(r->y, v, keys, COUNT(keys), r->e) < 0)
		return -1;
	for (size_t i = 0; i < COUNT(keys); i++)
		if (!ynode_get(v, keys[i]))
			return yaml_err(r->y, v, r->e, "'%s' is not there, and nothing else says it", keys[i]);
	if (read_sam(r, ynode_get(v, "sam")) < 0 || read_clip(r, ynode_get(v, "clip")) < 0 ||
	    model_extra_part(r, ynode_get(v, "projector"), of, COUNT(of), &r->m->projector) < 0)
		return -1;
	return check_encoders(r, v);
}
