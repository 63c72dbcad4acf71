/* map_memo.h - what the mapper has found out, for whoever asks again: of this stream, or of the next machine of a sweep.
 *
 * Answers stand by keys that hash all that they hang on; what of a machine an answer hangs on, map_sig() says. So an answer
 * that is found here is the one that would be found anew, whoever asked first: nothing in a result depends on it. Of an L2
 * or a KV buffer that has plenty of room for an op, the size is no part of the key.
 * Tables grow up to a fixed size; where all of a key's places are taken, the first is given up.
 * One memo is for one process and one mapping at a time. */
#ifndef NPUSIM_SIM_MAP_MAP_MEMO_H
#define NPUSIM_SIM_MAP_MAP_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

struct map_memo;
struct partition_memo;

struct map_memo *map_memo_new(struct err *e);
void map_memo_free(struct map_memo *m);
/* What a core takes for parts of products: of the machine's units and scratchpads alone. */
struct partition_memo *map_memo_spread(struct map_memo *m);

/* What is found under a number stands for every machine as long as that number is held; under 0 answers hang on machines, as they
 * do at first. For who moves a machine's numbers a little at a time, and maps anew now and then (sim/accuracy/fit.h). */
void map_memo_hold(struct map_memo *m, uint64_t number);
uint64_t map_memo_held(const struct map_memo *m);

enum map_memo_kind {
	MAP_MEMO_CHOICE, /* struct map_schedule: a way to do a command (map_choose.c) */
	MAP_MEMO_FOUND,  /* struct map_found: the best nests of a product (map_search.c) */
	MAP_MEMO_ONES,   /* struct map_ones: commands apart and joined (map_chain.c) */
	MAP_MEMO_CUTS,   /* struct map_cutting: into how many blocks (map_blocks.c) */
	MAP_MEMO_STAYS,  /* enum map_reuse_choice: whether a result stays in SRAM (map_reuse.c) */
	MAP_MEMO_TAKES,  /* uint64_t: the most SRAM that ops take (map_reuse.c) */
	MAP_MEMO_KINDS
};
/* The answer to `key`; NULL: it is not known. It stands until the next is put. */
const void *map_memo_find(const struct map_memo *m, enum map_memo_kind kind, uint64_t key);
void map_memo_put(struct map_memo *m, enum map_memo_kind kind, uint64_t key, const void *answer);

#endif
