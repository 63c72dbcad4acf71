/* unitbed.h - a compute unit alone: its section from YAML text, a scratchpad as wide as one wants, one clock of 1 GHz. */
#ifndef NPUSIM_TEST_UNITBED_H
#define NPUSIM_TEST_UNITBED_H

#include "arch/npu/partition.h"
#include "sim/base/yaml.h"
#include "validate/tests/test.h"

struct unitbed {
	union unit_cfg cfg;
	struct sram_cfg sram;
	struct unit_env env;
	const struct unit_ops *ops;
};

/* `yaml`: the section's keys, "units: 4\nlanes: 32". A unit begins with one core and a scratchpad that never limits it. */
static inline void unitbed_up(struct unitbed *b, enum unit u, const struct cfg_field *schema, const char *yaml)
{
	const struct cfg_section sections[] = { { "", schema, 0 }, { NULL, NULL, 0 } };
	struct err e = ERR_INIT;
	struct yaml *y = yaml_parse(yaml, strlen(yaml), "unit", &e);
	struct cfg *c;

	*b = (struct unitbed){ .sram = { .size = 1 << 20, .banks = 1024, .bank_width = 256, .ports = 2 },
		               .ops = unit_table[u] };
	c = cfg_new(sections, &b->cfg, &e);
	CHECK_OK(c && y ? 0 : -1, e);
	CHECK_OK(cfg_read(c, y, yaml_root(y), NULL, &e), e);
	cfg_free(c);
	yaml_free(y);
	b->env = (struct unit_env){ .cfg = &b->cfg,
		                    .sram = &b->sram,
		                    .clock_khz = 1000000, /* a cycle is a nanosecond */
		                    .cores = 1,
		                    .depth = 8,
		                    .group = 32,
		                    .hop = 10 * PS_NS };
}

static inline struct unit_plan unitbed_plan(const struct unitbed *b, const struct unit_job *j)
{
	struct unit_plan p;

	CHECK(partition_plan(b->ops, &b->env, j, NULL, &p));
	return p;
}

static inline ps_t unitbed_product(const struct unitbed *b, enum dtype d, uint64_t m, uint64_t n, uint64_t k)
{
	return unitbed_plan(b,
	                    &(struct unit_job){ .work = UNIT_PRODUCT, .dtype = d, .with = d, .m = m, .n = n, .k = k })
	        .span;
}

#endif
