/* librarybed.h - a toy GPU and the kernels that libraries have, for tests of what they would launch. */
#ifndef NPUSIM_TESTS_LIBRARYBED_H
#define NPUSIM_TESTS_LIBRARYBED_H

#include "arch/gpu/gpu_geometry.h"
#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_gpu.h"
#include "sim/accuracy/cases.h"
#include "sim/accuracy/tables.h"
#include "validate/tests/test.h"

#define DEVICE \
	"kind: gpu\nname: toy\nclock: 1 GHz\ncores: 100\nl2: {size: 48 MiB, ways: 16}\n" \
	"dram: {kind: fixed, fixed_bandwidth: 1 TB/s}\ngpu: {dram_read: 1 TB/s}\nhost: {graph_launch: 6 us}\n"
#define AMPERE    "sm: {smem: 100 KiB, gpc: 0, capability: 89}\n"
#define HOPPER    "sm: {capability: 90}\n"
#define BLACKWELL "sm: {capability: 100}\n"
#define GEFORCE   "sm: {smem: 100 KiB, gpc: 0, capability: 120}\n"

struct bed {
	struct arena *a;
	struct machine_conf *conf;
	struct kernels *k;
	struct gpu g;
	struct cases set;
	struct tables_stats st;
	struct err e;
};

static inline void bed_up(struct bed *b, const char *text)
{
	memset(b, 0, sizeof *b);
	b->a = arena_new(0);
	b->conf = machine_conf_parse(text, strlen(text), "toy", NULL, 0, &b->e);
	b->k = kernels_load(NULL, &b->e);
	CHECK_OK(b->conf && b->k ? 0 : -1, b->e);
	b->g = machine_gpu(&b->conf->cfg);
}

static inline void bed_down(struct bed *b)
{
	kernels_free(b->k);
	machine_conf_free(b->conf);
	arena_free(b->a);
}

#endif
