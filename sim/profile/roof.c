/* roof.c - peaks out of a configuration, and the rule. */
#include "sim/profile/roof.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "arch/machine/machine_conf.h"
#include "sim/base/path.h"

/* --- which configuration ----------------------------------------------------------------------------------- */

bool roof_is_named(const char *device, const char *config)
{
	for (const char *from = device; *from; from++) {
		const char *d = from, *c = config;

		if (!isalnum((unsigned char)*from) || (from > device && isalnum((unsigned char)from[-1])))
			continue;
		while (*c && *d) {
			if (!isalnum((unsigned char)*c))
				c++;
			else if (!isalnum((unsigned char)*d))
				d++;
			else if (tolower((unsigned char)*c++) != tolower((unsigned char)*d++))
				break;
			else if (!*c && !isalnum((unsigned char)*d))
				return true;
		}
	}
	return false;
}

/* The longest name in configs/gpu that the device's has. */
static int find_config(const char *device, char *out, size_t size, struct err *e)
{
	char pattern[1024], name[64], *dot;
	size_t best = 0;
	glob_t g;

	if (path_data("configs/gpu", pattern, sizeof pattern - 8, e) < 0)
		return -1;
	strcat(pattern, "/*.yaml");
	if (glob(pattern, 0, NULL, &g) != 0)
		g.gl_pathc = 0;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *file = strrchr(g.gl_pathv[i], '/') + 1;

		snprintf(name, sizeof name, "%s", file);
		if ((dot = strrchr(name, '.')))
			*dot = '\0';
		if (strlen(name) > best && roof_is_named(device, name)) {
			best = strlen(name);
			snprintf(out, size, "%s", g.gl_pathv[i]);
		}
	}
	globfree(&g);
	if (best)
		return 0;
	return err_set(e, ERR_USAGE,
	               "no file in configs/gpu is of '%s': say which device's peaks to take with '-c FILE'", device);
}

void roof_of(const struct machine_cfg *c, struct roof *r)
{
	const struct gpu_common_cfg *g = &c->gpu.common;
	const double sms = (double)c->cores;

	snprintf(r->name, sizeof r->name, "%s", c->name);
	r->bandwidth = (double)c->mem.dram.bandwidth;
	r->effective = (double)g->dram_read;
	r->flops[ROOF_FP32] = sms * g->flop_fp32 * (double)c->clock * 1e3;
	r->flops[ROOF_TF32] = sms * g->flop_tf32 * (double)g->clock_tensor * 1e3;
	r->flops[ROOF_BF16] = sms * g->flop_bf16 * (double)g->clock_tensor * 1e3;
	r->flops[ROOF_FP8] = sms * g->flop_fp8 * (double)g->clock_tensor * 1e3;
}

int roof_load(const char *config, const struct trace *t, struct roof *r, struct err *e)
{
	struct machine_conf *c;

	memset(r, 0, sizeof *r);
	if (config)
		snprintf(r->path, sizeof r->path, "%s", config);
	else if (!t->n_devices)
		return err_set(e, ERR_USAGE,
		               "the trace does not say which device it is of: give its peaks with '-c FILE',"
		               " configs/gpu/h200.yaml say");
	else if (find_config(t->devices[0].name, r->path, sizeof r->path, e) < 0)
		return -1;
	if (!(c = machine_conf_load(r->path, NULL, 0, e)))
		return -1;
	if (machine_runs(&c->cfg) != MACHINE_LAUNCHES) {
		machine_conf_free(c);
		return err_set(e, ERR_CONFIG, "'%s' is no GPU: peaks are of a file with 'kind: gpu'", r->path);
	}
	roof_of(&c->cfg, r);
	machine_conf_free(c);
	return 0;
}

/* --- the rule ---------------------------------------------------------------------------------------------- */

double roof_ridge(const struct roof *r, enum roof_pipe p)
{
	return r->flops[p] / r->effective;
}

enum roof_pipe roof_pipe_of(enum dtype d)
{
	const uint32_t bits = dtype_bits(d);

	if (d == DT_TF32)
		return ROOF_TF32;
	return bits > 16 || bits == 0 ? ROOF_FP32 : bits > 8 ? ROOF_BF16 : ROOF_FP8;
}

enum roof_class roof_classify(const struct roof_rule *rule, double intensity, double ridge, double memory, double math)
{
	if (memory < rule->low && math < rule->low)
		return ROOF_LATENCY;
	if (!(intensity >= ridge) && memory >= rule->margin * math)
		return ROOF_MEMORY;
	if (!(intensity < ridge) && math >= rule->margin * memory)
		return ROOF_COMPUTE;
	return ROOF_BALANCED;
}

const char *roof_class_name(enum roof_class c)
{
	static const char *const names[] = { "memory-bound", "compute-bound", "balanced", "latency-bound", "unknown" };

	return names[c];
}

const char *roof_pipe_name(enum roof_pipe p)
{
	static const char *const names[] = { "fp32", "tf32", "bf16", "fp8" };

	return names[p];
}
