/* energy_step.c - whole decode steps of an energy table, their ops from a model's description (energy.h). */
#include "sim/accuracy/energy_int.h"

#include <string.h>

#include "arch/gpu/gpu_geometry.h"
#include "arch/machine/machine_gpu.h"
#include "sim/build/build.h"
#include "sim/map/map.h"

/* What the tables call models (validate/cuda/steps_torch.py). */
static const struct {
	const char *name, *model;
} models[] = {
	{ "llama1b", "llama-3.2-1b" }, { "llama3b", "llama-3.2-3b" },   { "llama8b", "llama-3.1-8b" },
	{ "llama7b", "llama-2-7b" },   { "qwen05b", "qwen2-0.5b" },     { "qwen15b", "qwen2-1.5b" },
	{ "qwen7b", "qwen2-7b" },      { "qwen3_4b", "qwen3-4b" },      { "mistral7b", "mistral-7b-v0.1" },
	{ "dsocr", "deepseek-ocr" },   { "qwen3moe", "qwen3-30b-a3b" },
};

static const char *model_of(const char *name)
{
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (strcmp(models[i].name, name) == 0)
			return models[i].model;
	return NULL;
}

static int energy_step_count(struct energy_case *c, const struct gpu *g, const struct gpu_work *w,
                             const struct energy_step *s, struct arena *keep, struct err *e)
{
	const struct gpu at = gpu_at_clock(g, c->clock && c->clock < g->top ? c->clock : g->top);
	struct gpu_activity *x = arena_array(keep, w->n + 1, sizeof *x);
	ps_t *took = arena_array(keep, w->n + 1, sizeof *took);

	if (!x || !took)
		return err_nomem(e, "for a step");
	for (size_t i = 0; i < w->n; i++) {
		x[i] = gpu_activity(g, &w->launches[i], s->live);
		took[i] = gpu_time(&at, &w->launches[i]).total;
		gpu_activity_add(&c->work, &x[i]);
	}
	c->launches = x;
	c->took = took;
	c->kernels = (uint32_t)w->n;
	return 0;
}

int energy_step(const struct machine_cfg *m, const struct kernels *k, const struct energy_step *s,
                struct gpu_traffic *t, struct arena *a, struct energy_case *c, struct err *e)
{
	const char *name = model_of(s->model);
	const struct gpu g = machine_gpu(m);
	struct model *model = name ? model_load(name, e) : NULL;
	struct arena *own = model ? arena_new(0) : NULL;
	struct build_how how = {
		.phase = BUILD_DECODE, .style = BUILD_EAGER, .batch = (uint32_t)s->batch, .tokens = 1
	};
	struct op_stream stream, laid;
	struct map_footprint need;
	struct gpu_work w;
	int rc = -1;

	if (!name)
		return 1;
	if (!model)
		return -1;
	how.context = s->context;
	how.kv = model->dtype;
	if (!own)
		err_nomem(e, "for a step");
	else if ((how.quant = scheme_find("bf16", e)) && build_stream(model, &how, own, &stream, e) == 0 &&
	         map_footprint(&stream, NULL, own, &need, e) == 0 && map_capacity_check(&need, &m->mem.dram, e) == 0 &&
	         gpu_geometry_work(&g, k, &stream, own, &laid, &w, e) == 0 && gpu_work_run(&w, true, t, e) == 0)
		rc = energy_step_count(c, &g, &w, s, a, e);
	arena_free(own);
	model_free(model);
	return rc;
}
