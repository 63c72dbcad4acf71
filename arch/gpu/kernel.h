/* kernel.h - what can be counted in a kernel template's code: small integers that say how a GPU kernel goes about its
 * op (L2: plain data). A table gives them by kernel name (arch/gpu/kernels.h); arch/gpu/gpu turns them into time.
 *
 * Every number counts something a reader of the kernel's source can point at: threads, elements a thread holds,
 * dependent memory round trips, barriers, passes over the data, instructions an element. None is a time, and none
 * belongs to one shape. */
#ifndef NPUSIM_ARCH_GPU_KERNEL_H
#define NPUSIM_ARCH_GPU_KERNEL_H

#include <stdint.h>

/* How the work is laid out, which decides the closed form. X(FORM, its name in a table of kernels, its time, the least its
 * bytes take (arch/gpu/gpu_math.h), what it is): a new form is a row here and a function in gpu_FORM.c. */
/* clang-format off */
#define KERNEL_FORM_ROWS(X) \
	X(PLAIN, plain, gpu_plain, gpu_memory_time, "nothing known: launch, one dependent step, bytes over bandwidth") \
	X(SET, set, gpu_copy, gpu_memory_time, "a set, done by the copy engine or a tiny kernel") \
	X(COPY, copy, gpu_copy, gpu_memory_time, "a copy") \
	X(STREAM, stream, gpu_stream, gpu_memory_time, "every thread loads, computes and stores its own elements") \
	X(ROWS, rows, gpu_rows, gpu_memory_time, "rows reduced by warps or CTAs: a serial chain of steps a row") \
	X(CHAIN, chain, gpu_chain, gpu_memory_time, "a fixed number of dependent passes: scans, sorts, selections") \
	X(PRODUCT, product, gpu_product, gpu_missed_time, "tiles of a matrix product, a pipeline over k") \
	X(SPLIT_REDUCE, split_reduce, gpu_split_reduce, gpu_memory_time, "sums the parts of a product whose k was split") \
	X(DOT, dot, gpu_dot, gpu_memory_time, "rows of a matrix times a vector, no tensor cores") \
	X(ATTENTION, attention, gpu_attention, gpu_memory_time, "a pipeline over keys and values") \
	X(FLASH, flash, gpu_flash, gpu_memory_time, \
	  "attention of many queries, a warp on its own: tile_n queries, tile_k keys") \
	X(COMBINE, combine, gpu_combine, gpu_memory_time, "joins the parts of an attention whose keys were split") \
	X(WALK, walk, gpu_walk, gpu_memory_time, \
	  "every CTA walks over its share of the operands: products and attention too") \
	X(MMA, mma, gpu_mma, gpu_missed_time, \
	  "a product by warp-wide matrix instructions: a tile a CTA, parts of k along the grid") \
	X(GROUPED, grouped, gpu_grouped, gpu_missed_time, "products of a group each, whose tiles clusters take in turn") \
	X(STRIPE, stripe, gpu_stripe, gpu_missed_time, \
	  "grouped products by warp-wide matrix instructions, all tiles' steps shared out evenly")

/* Which of its op's operands a launch moves; an op of several launches says which of them does. X(MOVES, name). */
#define KERNEL_MOVES_ROWS(X) X(ALL, all) X(READS, reads) X(WRITES, writes) X(NONE, none)

enum kernel_form {
#define X(form, name, time, least, what) KERNEL_##form,
	KERNEL_FORM_ROWS(X)
#undef X
	KERNEL_FORMS
};

enum kernel_moves {
#define X(moves, name) KERNEL_MOVES_##moves,
	KERNEL_MOVES_ROWS(X)
#undef X
	KERNEL_MOVES
};
/* clang-format on */

/* X(name, what it counts). 0 where a form does not ask or the table does not say. */
#define KERNEL_NUMBERS(X) \
	X(tile_m, "rows of weights (outputs of one token) of a product's tile") \
	X(tile_n, "columns of a product's tile: tokens") \
	X(tile_k, "depth of a product's tile; keys of an attention's tile") \
	X(tile_d, "columns of an attention's tile: the dimension of a head with its padding") \
	X(asynchronous, "1: tiles are copied asynchronously, past the registers") \
	X(stages, "tiles in flight in a CTA's pipeline") \
	X(cluster_m, "CTAs of a cluster along tile_m") \
	X(by_columns, "1: clusters go along the columns of tiles first") \
	X(cluster_n, "CTAs of a cluster along tile_n") \
	X(shares, "1: rows of an attention's tile are those of all heads that share keys") \
	X(splits_k, "1: the kernel's k is split over CTAs") \
	X(cooperates, \
	  "1: two groups of warps share a tile, so that its end is not hidden by the next; of attention: take no turns") \
	X(start, "dependent memory round trips before the first data arrive") \
	X(steps, "dependent memory round trips an iteration") \
	X(barriers, "barriers of the CTA an iteration") \
	X(finish, "dependent round trips or block-wide exchanges after the last data") \
	X(passes, "passes over the data") \
	X(vector_bytes, "bytes a thread loads at once") \
	X(unroll, "loads of a thread in flight at once") \
	X(items, "elements of a row a thread holds, or takes in an iteration") \
	X(instructions, "instructions an element, times 10") \
	X(wavefronts, "of shared memory and L1 that 32 elements take, times 10") \
	X(parameters, "lines of the launch's parameters that a CTA picks by its own index, one after the other") \
	X(index_instructions, "instructions an element, for each input, of each dim it is indexed by, times 10") \
	X(row_warps, "1: a row is a warp's, 0: a CTA's, 2: as many threads have a row as the grid gives it") \
	X(cycles, "dependent clock cycles of a CTA outside its loop: arithmetic, shuffles, exchanges, addresses") \
	X(once_cycles, "the same, of a launch's first CTAs alone") \
	X(loop_cycles, "dependent clock cycles an iteration, beside its round trips") \
	X(code_cycles, "dependent clock cycles in which code comes from the L2 where other kernels ran since") \
	X(tail_cycles, "dependent clock cycles of each guarded element where the last CTA is not full") \
	X(tree_cycles, "dependent clock cycles a level of the tree that joins a CTA's warps or a row's threads") \
	X(index_cycles, "dependent clock cycles of index arithmetic where results are more than one row") \
	X(again, "dependent round trips an iteration of later passes, on bytes an earlier pass has read") \
	X(again_cycles, "dependent clock cycles of a round trip of later passes") \
	X(group, "iterations whose loads go together, where no store that may alias them stands between") \
	X(turns, "iterations of a loop whose length is in the code") \
	X(selects, "1: a loop over the elements a top-k chooses") \
	X(tensor, "1: multiplies on tensor cores") \
	X(busy, "percent of the tensor cores' rate at which a tile is multiplied, whole where it is partly filled") \
	X(joins, "extent of the launch before (1: x, 2: y) that counts the parts a thread joins one after the other") \
	X(barriers_once, "barriers of the CTA outside its loop") \
	X(thread_instructions, "instructions a thread executes beside those of its elements") \
	X(in_turn, "cycles that a launch's CTAs take one after the other, wherever they are") \
	X(stage_turn, "the same at each stage of a pipeline") \
	X(look_back, "1: CTAs wait for one another in order, so that the loop is over the CTAs")

struct kernel {
	const char *name; /* of the table's row; "" for none */
	enum kernel_form form;
	enum kernel_moves moves;
#define X(n, help) uint32_t n;
	KERNEL_NUMBERS(X)
#undef X
};

#endif
