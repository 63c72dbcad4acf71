/* f_beside.c - any bytes as a table of measured kernels, as `npusim probe kernel --beside` reads it: refused with a place, or each
 * row described and timed. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/cli/probe_kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const enum out_format formats[] = { OUT_TABLE, OUT_CSV, OUT_JSON };
	static struct machine_conf *gpu; /* reading it takes longer than all else */
	struct err e = ERR_INIT;
	struct str out = STR_INIT;
	struct input *in = input_mem(bytes, n, "fuzz", &e);
	int rc;

	if (!gpu)
		gpu = machine_conf_load("h100", NULL, 0, &e);
	if (!gpu || !in)
		abort();
	rc = probe_kernel_table(in, gpu, formats[n % 3], &out, &e);
	assert(rc == 0 ? out.len > 0 && !out.failed : e.kind != ERR_NONE && e.msg[0] && !out.len);
	input_free(in);
	str_free(&out);
	return 0;
}
