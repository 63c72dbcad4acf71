/* f_model.c - any bytes as a model's description, of ours or a config.json: what is taken is counted, and built where it can be.
 *
 * Beyond not crashing: parts of the parameters make the sum, what is active is no more than that, and each stream that is built
 * holds what an op stream promises. Streams are of a layer or two, and of as much as an arena of 64 MiB holds. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/build/build.h"
#include "sim/lower/lower.h"
#include "validate/tests/fuzz/targets.h"
#include "workloads/model/count.h"

#define MEMORY ((size_t)64 << 20)

static void count(const struct model *m)
{
	const struct scheme *schemes;
	struct model_params p;
	size_t n;

	model_params_of(m, &p);
	assert(p.total ==
	       p.embed + p.head + p.attention + p.mlp + p.experts + p.shared + p.router + p.norms + p.vision);
	assert(p.active <= p.total);
	schemes = scheme_table(&n);
	for (size_t i = 0; i < n; i++)
		assert(!p.total || model_weight_bytes(m, &schemes[i]) > 0);
	model_kv_bytes(m, DT_BF16);
	model_state_bytes(m);
}

static void build(const struct model *m, struct build_how h)
{
	struct err e = ERR_INIT;
	struct arena *a = arena_new(MEMORY);
	struct op_stream s;

	if (!a)
		abort();
	if (build_stream(m, &h, a, &s, &e) < 0) {
		assert(e.kind != ERR_NONE && e.msg[0]);
	} else {
		assert(s.n_ops > 0);
		assert(lower_check(&s, &e) == 0);
	}
	arena_free(a);
}

static void build_all(const struct model *m)
{
	static const enum build_phase phases[] = { BUILD_DECODE, BUILD_PREFILL, BUILD_VISION };
	static const enum build_style styles[] = { BUILD_EAGER,    BUILD_FUSED, BUILD_NPU,
		                                   BUILD_LLAMACPP, BUILD_RKLLM, BUILD_LLAMACPP_FA };
	const struct scheme *quant = m->scheme;
	const struct build_group groups[] = { { 2, 1, 100, false }, { 1, 7, 9, true } };

	if (!quant)
		return;
	for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
		struct build_how h = { .style = styles[i],
			               .batch = 1,
			               .context = 65,
			               .tokens = 1,
			               .quant = quant,
			               .kv = m->dtype,
			               .layers = m->layers < 2 ? m->layers : 2,
			               .experts = m->moe.experts > 8 ? 8 : 0 };

		for (size_t k = 0; k < sizeof phases / sizeof *phases; k++) {
			h.phase = phases[k];
			h.tokens = phases[k] == BUILD_PREFILL ? 33 : 1;
			build(m, h);
		}
		h.phase = BUILD_STEP;
		h.groups = groups;
		h.n_groups = 2;
		h.block = 16;
		h.entry = 4;
		build(m, h);
	}
}

int fuzz_model(const uint8_t *bytes, size_t n)
{
	struct err e = ERR_INIT;
	struct model *m = model_parse((const char *)bytes, n, "fuzz", &e);

	if (!m) {
		assert(e.kind != ERR_NONE && e.msg[0]);
		return 0;
	}
	assert(m->name && m->layers <= MODEL_MAX_LAYERS);
	count(m);
	build_all(m);
	model_free(m);
	return 0;
}
