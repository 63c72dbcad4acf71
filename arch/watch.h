/* watch.h - what blocks tell whoever looks on: spans of work, bytes in time, levels. For timelines.
 *
 * Nobody looks on by default, and then each of the calls below is a test of one pointer, once a tile, request or command and
 * never in a loop over lines. What is told changes nothing and may not call back into the machine.
 * Spans of one resource do not overlap, but for the DMA's: a transfer that gave way to a more urgent one is told when
 * it ends, with the time it needed, so a part of it lies before the other. Spans of units, caches and DRAM sum to the
 * statistics `*.busy_ps`, bytes to their `*_bytes`. */
#ifndef NPUSIM_ARCH_WATCH_H
#define NPUSIM_ARCH_WATCH_H

#include "arch/comp.h"

enum watch_level {
	WATCH_COMMANDS, /* dispatched and not retired */
	WATCH_DMA,      /* descriptors in flight */
	WATCH_L2,
	WATCH_DRAM, /* tile requests held */
	WATCH_SRAM, /* bytes taken, all cores */
	WATCH_LEVELS
};

#define WATCH_NO_CMD UINT32_MAX /* work that is not one command's */

struct watch {
	void *ctx;
	void (*begin)(void *ctx, ps_t at); /* the pass that counts begins; what came before is not told again */
	void (*busy)(void *ctx, enum res r, ps_t from, ps_t to, uint32_t cmd);
	/* Through `r` in that time, as far as the block knows it. */
	void (*moved)(void *ctx, enum res r, bool write, ps_t from, ps_t to, uint64_t bytes);
	void (*level)(void *ctx, enum watch_level what, ps_t at, uint64_t value);
};

/* Macros, so that nothing of the arguments is computed where nobody looks on. */
#define WATCH_TELL(w, what, ...) \
	do { \
		const struct watch *const w_ = (w); \
		if (__builtin_expect(w_ != NULL, 0)) \
			w_->what(w_->ctx, __VA_ARGS__); \
	} while (0)
#define watch_busy(w, ...)  WATCH_TELL(w, busy, __VA_ARGS__)
#define watch_moved(w, ...) WATCH_TELL(w, moved, __VA_ARGS__)
#define watch_level(w, ...) WATCH_TELL(w, level, __VA_ARGS__)

#endif
