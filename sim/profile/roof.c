/* roof.c - peaks out of a configuration, and the rule. */
#include "sim/profile/roof.h"

#include <ctype.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

const char *roof_other_card(const char *device, const char *config)
{
	/* Each of them is sold beside a card of the same number with other clocks, SMs or memory. */
	static const char *const words[] = { "PCIe", "NVL",   "Laptop", "Mobile", "Max-Q", "D",
		                             "Ti",   "SUPER", "MIG",    "40GB",   "64GB" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (roof_is_named(device, words[i]) && !roof_is_named(config, words[i]))
			return words[i];
	return NULL;
}

#define HOW_TO \
	"another card's peaks are not taken for its own: give them with '--peak', bandwidth and TFLOP/s by data sheet" \
	" ('5.3 TB/s, fp32 163, bf16 1307' say), or with '-c FILE', a file as those in configs/gpu"

/* The longest name in configs/gpu that the device's has. */
static int find_config(const char *device, char *out, size_t size, struct err *e)
{
	char pattern[1024], name[64], best[64] = "", *dot;
	const char *word;
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
		if (strlen(name) > strlen(best) && roof_is_named(device, name)) {
			snprintf(best, sizeof best, "%s", name);
			snprintf(out, size, "%s", g.gl_pathv[i]);
		}
	}
	globfree(&g);
	if (!*best)
		return err_set(e, ERR_USAGE, "no file in configs/gpu describes '%s', and " HOW_TO, device);
	if ((word = roof_other_card(device, best)))
		return err_set(e, ERR_USAGE, "configs/gpu/%s.yaml is not of '%s' (%s), and " HOW_TO, best, device,
		               word);
	return 0;
}

/* The device that the trace's launches ran on; of an aggregated profile the first. */
static const struct trace_device *device_of(const struct trace *t)
{
	for (size_t i = 0; t->n_launches && i < t->n_devices; i++)
		if (t->devices[i].id == t->launches[0].device)
			return &t->devices[i];
	return t->n_devices ? &t->devices[0] : NULL;
}

/* Drivers and error correction take up to a tenth; cards of one number come with half of the memory, or twice. */
static bool is_memory(int64_t device, uint64_t config)
{
	return device <= 0 || config == 0 ||
	       ((double)device > 0.75 * (double)config && (double)device < 1.33 * (double)config);
}

/* What a profiler or a file does not say cannot differ. */
static int check_card(const struct trace_device *d, const struct machine_cfg *c, struct err *e)
{
	const uint32_t capability = c->gpu.sm.capability;
	const bool sms = d->sms > 0 && (uint32_t)d->sms != c->cores;

	if (sms || (d->sm_major > 0 && (uint32_t)(d->sm_major * 10 + d->sm_minor) != capability))
		return err_set(
			e, ERR_USAGE,
			"'%s' has %d SMs of compute capability %d.%d and configs/gpu/%s.yaml %u of %u.%u; " HOW_TO,
			d->name, d->sms, d->sm_major, d->sm_minor, c->name, c->cores, capability / 10, capability % 10);
	if (!is_memory(d->mem_bytes, c->mem.dram.capacity))
		return err_set(e, ERR_USAGE, "'%s' has %.1f GB of memory and configs/gpu/%s.yaml %.1f GB; " HOW_TO,
		               d->name, (double)d->mem_bytes / 1e9, c->name, (double)c->mem.dram.capacity / 1e9);
	return 0;
}

static int parse_pipe(const char *text, size_t n, struct roof *r, struct err *e)
{
	const size_t word = strcspn(text, " ");
	const char *number = text + word;
	char *end = NULL;
	double v = word < n ? strtod(number, &end) : 0;

	for (int i = 0; i < ROOF_PIPES; i++) {
		const char *name = roof_pipe_name((enum roof_pipe)i);

		if (strlen(name) != word || strncmp(name, text, word) != 0)
			continue;
		if (!end || end == number || (size_t)(end - text) + strspn(end, " ") != n || !(v > 0 && v < 1e9))
			break;
		if (!isnan(r->flops[i]))
			return err_set(e, ERR_USAGE, "'%s' comes twice, for option '--peak'", name);
		r->flops[i] = v * 1e12;
		return 0;
	}
	return err_set(
		e, ERR_USAGE,
		"'%.*s' is no peak, for option '--peak': behind the bandwidth stand fp32, tf32, bf16, fp8 or fp4 and the"
		" TFLOP/s of each, 'bf16 989' say",
		(int)n, text);
}

int roof_parse(const char *text, struct roof *r, struct err *e)
{
	size_t n = strcspn(text, ",");
	struct err why = ERR_INIT;
	uint64_t rate = 0;
	char first[64];

	*r = (struct roof){ .name = "the command line" };
	for (int i = 0; i < ROOF_PIPES; i++)
		r->flops[i] = NAN;
	snprintf(first, sizeof first, "%.*s", (int)n, text);
	if (cfg_parse_value(CFG_T_RATE, first, &rate, &why) < 0 || rate == 0)
		return err_set(
			e, ERR_USAGE,
			"'%s' is no bandwidth, for option '--peak': it stands first, '3.35 TB/s, fp32 67, bf16 989' say",
			first);
	r->bandwidth = r->effective = (double)rate;
	while (text[n] == ',') {
		text += n + 1;
		text += strspn(text, " ");
		n = strcspn(text, ",");
		if (parse_pipe(text, n, r, e) < 0)
			return -1;
	}
	return 0;
}

void roof_of(const struct machine_cfg *c, struct roof *r)
{
	const struct gpu_common_cfg *g = &c->gpu.common;
	const double sms = (double)c->cores;

	snprintf(r->name, sizeof r->name, "%s", c->name);
	r->bandwidth = (double)c->mem.dram.bandwidth;
	r->effective = (double)g->dram_read;
	r->sms = c->cores;
	r->sm = c->gpu.sm;
	r->flops[ROOF_FP32] = sms * g->flop_fp32 * (double)c->clock * 1e3;
	r->flops[ROOF_TF32] = sms * g->flop_tf32 * (double)g->clock_tensor * 1e3;
	r->flops[ROOF_BF16] = sms * g->flop_bf16 * (double)g->clock_tensor * 1e3;
	r->flops[ROOF_FP8] = sms * g->flop_fp8 * (double)g->clock_tensor * 1e3;
	r->flops[ROOF_FP4] = g->flop_fp4 ? sms * g->flop_fp4 * (double)g->clock_tensor * 1e3 : NAN;
}

int roof_load(const char *config, const struct trace *t, struct roof *r, struct err *e)
{
	const struct trace_device *d = config ? NULL : device_of(t);
	struct machine_conf *c;
	int rc = 0;

	memset(r, 0, sizeof *r);
	if (config)
		snprintf(r->path, sizeof r->path, "%s", config);
	else if (!d || !*d->name)
		return err_set(e, ERR_USAGE,
		               "the trace does not say which device it is of: give its peaks with '-c FILE',"
		               " configs/gpu/h200.yaml say, or with '--peak'");
	else if (find_config(d->name, r->path, sizeof r->path, e) < 0)
		return -1;
	if (!(c = machine_conf_load(r->path, NULL, 0, e)))
		return -1;
	if (machine_runs(&c->cfg) != MACHINE_LAUNCHES)
		rc = err_set(e, ERR_CONFIG, "'%s' is no GPU: peaks are of a file with 'kind: gpu'", r->path);
	else if (d)
		rc = check_card(d, &c->cfg, e);
	if (rc == 0)
		roof_of(&c->cfg, r);
	machine_conf_free(c);
	return rc;
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
	return bits > 16 || bits == 0 ? ROOF_FP32 : bits > 8 ? ROOF_BF16 : bits > 4 ? ROOF_FP8 : ROOF_FP4;
}

enum roof_class roof_classify(const struct roof_rule *rule, double intensity, double ridge, double memory, double math)
{
	if (memory < rule->low && math < rule->low)
		return ROOF_LATENCY;
	if (intensity == 0 || (!(intensity >= ridge) && memory >= rule->margin * math))
		return ROOF_MEMORY;
	if (intensity >= ridge && math >= rule->margin * memory) /* not where the intensity is unknown */
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
	static const char *const names[] = { "fp32", "tf32", "bf16", "fp8", "fp4" };

	return names[p];
}
