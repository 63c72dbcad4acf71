/* pages.h - tables of zeroes that cost the host only what is touched.
 *
 * A machine may have a cache of a terabyte and a run may touch a megabyte of it: what is set aside is an address range,
 * and memory comes with the first write. Small tables are plain memory, which is cheaper to make anew for every machine
 * of a sweep. Elements may not need more than 64 bytes of alignment. */
#ifndef NPUSIM_SIM_BASE_PAGES_H
#define NPUSIM_SIM_BASE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define PAGES_ALIGN 64

/* `n` elements of so many bytes, all zero; NULL: the host has no such range. */
void *pages_new(uint64_t n, size_t bytes);
void pages_free(void *p, uint64_t n, size_t bytes); /* as it was made; NULL is fine */
/* All zero again, and of a large table nothing is held any longer. */
void pages_zero(void *p, uint64_t n, size_t bytes);

#endif
