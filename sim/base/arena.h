/* arena.h - memory that lives as long as one run and is dropped whole.
 *
 * Allocations are zeroed and aligned to 16 bytes. An arena may be limited, so that hostile input ends in an error
 * and not in the machine's memory. arena_alloc returns NULL only when the limit or the system refuses. */
#ifndef NPUSIM_SIM_BASE_ARENA_H
#define NPUSIM_SIM_BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(size_t limit_bytes); /* 0: no limit */
void arena_free(struct arena *a);
void arena_reset(struct arena *a); /* forget everything, keep the blocks */
void *arena_alloc(struct arena *a, size_t bytes);
void *arena_array(struct arena *a, size_t n, size_t elem_bytes); /* overflow checked */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
size_t arena_used(const struct arena *a); /* bytes handed out */

#endif
