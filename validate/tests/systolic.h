/* systolic.h - a systolic array that multiplies numbers, clock by clock: for tests, beside the closed form of
 * arch/npu/unit_matrix.c.
 *
 * Every processing element has registers and sees its left and its upper neighbour's of the cycle before, nothing else;
 * how many cycles a product takes comes out of stepping them, and the sums are the product's.
 *     ws, is   the operand that is held comes down the columns, the last row first, each value to the row that it is for;
 *              the other enters at the left, a row of the array a cycle later than the one above; sums go down
 *     os       one operand enters at the left, the other at the top, both skewed; a sum stays until its last term and
 *              then goes down the column
 * With two buffers an element keeps the next fold's value (os: a finished sum) beside the one it works with, and the
 * first vector of a fold tells it to change over. With one nothing overlaps, and a fold takes the whole array, rows and
 * columns that it does not need as zeros.
 * Folds are as large as the array, evened out; products are done in the order they are pushed. */
#ifndef NPUSIM_TESTS_SYSTOLIC_H
#define NPUSIM_TESTS_SYSTOLIC_H

#include <stdbool.h>
#include <stdint.h>

enum systolic_flow { SYSTOLIC_WS, SYSTOLIC_OS, SYSTOLIC_IS };

struct systolic_cfg {
	uint32_t rows, cols, buffers;
	enum systolic_flow flow;
};

/* c[i][j] += sum over l of a[i][l] b[j][l]; strides in numbers. */
struct systolic_job {
	const int32_t *a, *b;
	int64_t *c;
	uint32_t m, n, k;
	uint32_t a_stride, b_stride, c_stride;
	uint64_t outs_left;          /* not yet out of the array: 0 when it is done */
	uint32_t next_row, next_col; /* of what the next fold holds */
	struct systolic_job *next;
};

struct systolic;

struct systolic *systolic_new(const struct systolic_cfg *c); /* NULL: no memory */
void systolic_free(struct systolic *s);
void systolic_push(struct systolic *s, struct systolic_job *j); /* lives until it is done; nothing of it is 0 */
bool systolic_idle(const struct systolic *s);
void systolic_step(struct systolic *s); /* one cycle */

#endif
