#include "sim/report/baseline.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/path.h"

#define NAME_MOST 20

/* As its configuration is called, "H200"; else the driver's name without the maker's. */
static void name_device(const struct trace *t, const struct machine_conf *gpu, char *out, size_t size)
{
	static const char *const makers[] = { "NVIDIA ", "GeForce ", "Tesla " };
	const char *name = t && t->n_devices && t->devices[0].name ? t->devices[0].name : "";

	for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
		if (strncmp(name, makers[i], strlen(makers[i])) == 0)
			name += strlen(makers[i]);
	snprintf(out, size, "%.*s", NAME_MOST, gpu && *name ? gpu->cfg.name : name);
	for (char *c = out; gpu && *c; c++)
		*c = (char)toupper((unsigned char)*c);
}

/* A kernel table and GPU configuration like those the file was made with? */
static bool same_model(const struct baseline *b)
{
	char model[17];

	if (!b->kernels || !b->held)
		return false;
	accuracy_model(cfg_hash(b->held->raw), kernels_hash(b->kernels), model);
	return strcmp(model, b->accuracy.model) == 0;
}

static struct machine_conf *baseline_load(const struct source *from, const char *path)
{
	struct err none = ERR_INIT;

	return machine_conf_load_from(from, path, NULL, 0, &none);
}

/* Configurations are named as from the top of the data, wherever one stands. */
static void load_gpus(struct baseline *b, const struct source *from, const struct trace *t)
{
	char held[512] = "", traced[512] = "";

	if (b->known && source_find(from, b->accuracy.config, held, sizeof held))
		b->held = baseline_load(from, held);
	if (!t || !t->n_devices)
		b->gpu = b->held;
	else if (gpu_baseline_config_from(from, t->devices[0].name, traced, sizeof traced) == 0)
		b->gpu = b->held && strcmp(held, traced) == 0 ? b->held : baseline_load(from, traced);
}

struct baseline *baseline_new(const struct source *from, const struct trace *t)
{
	struct baseline *b = calloc(1, sizeof *b);
	struct err none = ERR_INIT;

	if (!b || !(b->arena = arena_new(0))) {
		baseline_free(b);
		return NULL;
	}
	b->source = from;
	b->kernels = kernels_load_from(from, NULL, &none);
	b->known = accuracy_load_from(from, NULL, b->arena, &b->accuracy, &none) > 0;
	b->has_interval = b->known && interval_load_from(from, b->arena, &b->interval, &none) > 0;
	load_gpus(b, from, t);
	name_device(t, b->gpu, b->device, sizeof b->device);
	b->same_model = b->known && same_model(b);
	return b;
}

void baseline_free(struct baseline *b)
{
	if (!b)
		return;
	kernels_free(b->kernels);
	if (b->gpu != b->held)
		machine_conf_free(b->gpu);
	machine_conf_free(b->held);
	arena_free(b->arena);
	free(b);
}
