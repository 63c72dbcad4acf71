/* f_tiled.c - a described kernel of any bytes: refused with a place, or timed on a large and a small device.
 *
 * Beyond not crashing: what is taken fits an SM, takes some time, and no less than its operands' bytes over the L2. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "arch/machine/machine_conf.h"
#include "arch/machine/machine_gpu.h"
#include "arch/tiled/tiled.h"
#include "validate/tests/fuzz/targets.h"

/* clang-format off */
static void require(bool holds)
{
	if (!holds)
		abort();
}
/* clang-format on */

static void on(const struct tiled *t, struct machine_conf *c)
{
	const struct gpu g = machine_gpu(&c->cfg);
	struct err e = ERR_INIT;
	struct tiled_time x;

	if (tiled_check(t, &g, c->cfg.name, &e) < 0) {
		require(e.kind == ERR_CONFIG && e.line > 0);
		return;
	}
	x = tiled_time(&t->k, &g, NULL);
	require(x.total > 0 && x.bound && x.mostly);
	require(t->k.calls.launches || x.occupancy.ctas > 0);
}

int fuzz_tiled(const uint8_t *data, size_t size)
{
	static const char *const devices[] = { "h100", "l4" };
	struct err e = ERR_INIT;
	struct tiled *t = tiled_parse((const char *)data, size, "input", &e);

	if (!t) {
		require(e.kind == ERR_CONFIG && e.msg[0]);
		return 0;
	}
	for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
		struct machine_conf *c = machine_conf_load(devices[i], NULL, 0, &e);

		require(c);
		on(t, c);
		machine_conf_free(c);
	}
	tiled_free(t);
	return 0;
}
