/* packed.h - bytes as text of a page: deflated, as a browser's DecompressionStream('deflate') reads them, then in 85 characters that are no
 * markup, a quarter longer (base 64: a third). results/report/pack.js writes the same, unpack.js reads it. */
#ifndef NPUSIM_SIM_REPORT_PACKED_H
#define NPUSIM_SIM_REPORT_PACKED_H

#include "sim/base/err.h"
#include "sim/base/str.h"

int packed(const void *p, size_t n, struct str *out, struct err *e);

#endif
