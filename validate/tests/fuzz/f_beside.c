/* f_beside.c - any bytes as a table of measured kernels, as `npusim probe kernel --beside` reads it: refused with a place, or each
 * row described and timed. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "arch/machine/machine_gpu.h"
#include "sim/report/kernel_doc.h"
#include "validate/tests/fuzz/targets.h"

int fuzz_beside(const uint8_t *bytes, size_t n)
{
	static struct machine_conf *gpu; /* reading it takes longer than all else */
	struct err e = ERR_INIT;
	struct str out = STR_INIT;
	struct input *in = input_mem(bytes, n, "fuzz", &e);
	struct probe_tiled r = PROBE_TILED_INIT;
	struct doc d;
	struct gpu g;
	int rc;

	if (!gpu)
		gpu = machine_conf_load("h100", NULL, 0, &e);
	if (!gpu || !in)
		abort();
	g = machine_gpu(&gpu->cfg);
	if ((rc = probe_tiled_table(in, &g, &r, &e)) == 0) {
		doc_init(&d, (enum out_format)(n % OUT_FORMATS), 0, &out);
		kernel_beside_doc(&d, &(struct kernel_beside_doc){ &r, "fuzz", "fuzz", false });
		doc_end(&d);
	}
	assert(rc == 0 ? out.len > 0 && !out.failed : e.kind != ERR_NONE && e.msg[0] && !out.len);
	probe_tiled_free(&r);
	input_free(in);
	str_free(&out);
	return 0;
}
