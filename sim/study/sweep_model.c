/* sweep_model.c - a sweep's workload as a model: its parameters, which are axes as a machine's are. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/study/sweep_int.h"

#define M struct sweep_model

/* clang-format off */
static const struct cfg_field rows[] = {
	CFG_STR(M, name, "name", "", "the model: a name of 'npusim workload list', or a file", "the sweep file"),
	CFG_STR(M, phase, "phase", "decode", "decode or prefill", "our choice: what most ask for"),
	CFG_STR(M, quant, "quant", "", "how weights are stored ('npusim workload list --quant'); empty: as the model comes", "the model"),
	CFG_STR(M, kv, "kv", "", "format of the KV cache; empty: as the model's activations", "the model"),
	CFG_STR(M, style, "style", "", "eager, fused, npu, llamacpp, llamacpp_fa or rkllm; empty: npu, on a GPU fused", "our choice"),
	CFG_STR(M, attention, "attention", "", "flash, split_kv, materialised or mla; empty: as the style has it", "our choice"),
	CFG_U32(M, batch, "batch", "1", 1, 65536, NULL, "sequences side by side", "our choice"),
	CFG_U64(M, context, "context", "0", 0, 1u << 24, NULL, "tokens in the cache before; 0: 1024 for decode, else none", "our choice"),
	CFG_U64(M, tokens, "tokens", "0", 0, 1u << 24, NULL, "new tokens of each sequence; 0: 1 for decode, else 512", "our choice"),
	CFG_U32(M, layers, "layers", "0", 0, 1024, NULL, "so many layers are on this chip; 0: all", "our choice"),
	CFG_U32(M, experts, "experts", "0", 0, 65536, NULL, "so many of each layer's experts are on this chip; 0: all", "our choice"),
	CFG_END
};
/* clang-format on */

static const struct cfg_section sections[] = { { SWEEP_MODEL, rows, 0 }, { NULL, NULL, 0 } };

bool sweep_of_model(const char *key)
{
	return strncmp(key, SWEEP_MODEL ".", sizeof SWEEP_MODEL) == 0;
}

int sweep_model_read(struct sweep *s, const struct ynode *map, struct err *e)
{
	if (!(s->model = cfg_new(sections, &s->model_target, e)))
		return -1;
	if (map->kind != YNODE_MAP)
		return yaml_err(s->y, map, e, "a workload is a model: {name: llama-3.1-8b, batch: 16, context: 8192}");
	if (cfg_read_section(s->model, SWEEP_MODEL, s->y, map, false, e) < 0)
		return -1;
	s->model_own = s->model_target;
	return *s->model_target.name ? 0 : yaml_err(s->y, map, e, "the workload says no model: 'name'");
}

/* A copy's own texts go with it: the target is plain data. */
int sweep_model_of(const struct sweep *s, const char *const *sets, struct sweep_model *out, struct err *e)
{
	struct cfg *c = cfg_copy(s->model, &s->model_target, out, e);
	int rc = c ? 0 : -1;

	for (size_t i = 0; i < s->n_axes && rc == 0; i++)
		if (sweep_of_model(sets[i]))
			rc = cfg_set(c, sets[i], e);
	cfg_free(c);
	return rc;
}

bool sweep_model_varies(const struct sweep *s)
{
	for (size_t i = 0; i < s->n_axes; i++)
		if (sweep_of_model(s->axes[i].key))
			return true;
	return false;
}

uint64_t sweep_model_hash(const struct sweep *s, const char *const *sets, uint64_t h)
{
	for (size_t i = 0; i < s->n_axes; i++)
		if (sweep_of_model(sets[i]))
			h = hash_mix(hash_str(h, sets[i]));
	return h;
}
