/* f_yaml.c - the YAML reader, and the schema over it, with any bytes.
 *
 * Beyond not crashing: a refused text is a placed ERR_CONFIG, a tree keeps its bounds, and what the schema took
 * comes back from a dump as the same configuration. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/cfg.h"
#include "sim/base/yaml.h"
#include "validate/tests/fuzz/targets.h"

static const char *const policies[] = { "lru", "srrip", NULL };

struct part {
	uint64_t size, rate, clock;
	ps_t latency;
	uint32_t ways, fill, policy;
	bool on;
	char note[CFG_STR_MAX];
};

static const struct cfg_field rows[] = { CFG_BYTES(struct part, size, "size", "1 MiB", 0, UINT64_MAX, NULL, "", ""),
	                                 CFG_RATE(struct part, rate, "rate", "1 TB/s", 0, UINT64_MAX, NULL, "", ""),
	                                 CFG_FREQ(struct part, clock, "clock", "1 GHz", 0, UINT64_MAX, NULL, "", ""),
	                                 CFG_PS(struct part, latency, "latency", "1 ns", 0, UINT64_MAX, NULL, "", ""),
	                                 CFG_U32(struct part, ways, "ways", "16", 0, UINT32_MAX, cfg_pow2_or_0, "", ""),
	                                 CFG_PPM(struct part, fill, "fill", "0.5", 0, UINT32_MAX, "", ""),
	                                 CFG_ENUM(struct part, policy, "policy", "lru", policies, "", ""),
	                                 CFG_BOOL(struct part, on, "on", "false", "", ""),
	                                 CFG_STR(struct part, note, "note", "", "", ""),
	                                 CFG_END };
/* clang-format off */
static const struct cfg_section sections[] = { { "", rows, 0 }, { "l2", rows, sizeof(struct part) },
                                               { NULL, NULL, 0 } };

static void require(bool holds)
{
	if (!holds)
		abort();
}
/* clang-format on */

/* Every node reached, aliases followed; returns how many. */
static size_t walk(const struct ynode *n, int depth)
{
	size_t count = 1;

	require(depth <= YAML_MAX_DEPTH && n->line >= 1 && n->col >= 1);
	require((n->kind == YNODE_SCALAR) == (n->text != NULL));
	for (size_t i = 0; i < n->n; i++) {
		if (n->kind == YNODE_MAP) {
			count += walk(n->keys[i], depth + 1);
			require(ynode_get(n, n->keys[i]->text) == n->vals[i]);
		}
		count += walk(n->vals[i], depth + 1);
	}
	return count;
}

static void configure(const struct yaml *y)
{
	struct part a[2], b[2];
	struct err e = ERR_INIT;
	struct str one = STR_INIT, two = STR_INIT;
	struct cfg *ca = cfg_new(sections, a, &e), *cb = cfg_new(sections, b, &e);
	struct yaml *again;

	require(ca && cb);
	if (cfg_read(ca, y, yaml_root(y), NULL, &e) < 0) {
		require(e.kind == ERR_CONFIG && e.msg[0] && e.line > 0);
		err_clear(&e);
	}
	cfg_dump(ca, &one);
	again = yaml_parse(str_c(&one), one.len, "dump", &e);
	require(again && cfg_read(cb, again, yaml_root(again), NULL, &e) == 0);
	cfg_dump(cb, &two);
	require(strcmp(str_c(&one), str_c(&two)) == 0 && cfg_hash(ca) == cfg_hash(cb));
	yaml_free(again);
	str_free(&one);
	str_free(&two);
	cfg_free(ca);
	cfg_free(cb);
}

int fuzz_yaml(const uint8_t *data, size_t size)
{
	struct err e = ERR_INIT;
	struct yaml *y = yaml_parse((const char *)data, size, "input", &e);
	char shown[2048];

	if (!y) {
		require(e.kind == ERR_CONFIG && e.msg[0]);
		err_format(&e, shown, sizeof shown);
		return 0;
	}
	require(e.kind == ERR_NONE);
	require(walk(yaml_root(y), 0) <= YAML_MAX_NODES);
	configure(y);
	yaml_free(y);
	return 0;
}
