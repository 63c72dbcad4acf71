/* streambed.h - an op stream under test: what an op reads, who made it, what it waits for; and the rules that make streams. */
#ifndef NPUSIM_TESTS_STREAMBED_H
#define NPUSIM_TESTS_STREAMBED_H

#include <stdlib.h>

#include "validate/tests/test.h"
#include "workloads/op.h"
#include "workloads/rules.h"

static inline struct rules *stream_rules(void)
{
	struct err e = ERR_INIT;
	char path[4096];
	struct rules *r;

	snprintf(path, sizeof path, "%s/configs/rules/pytorch-cuda.yaml", test_root());
	r = rules_load(path, &e);
	CHECK_OK(r ? 0 : -1, e);
	return r;
}

static inline const struct op_operand *stream_reads(const struct op_stream *s, uint32_t op, uint32_t nth)
{
	const struct op *o = &s->ops[op];

	for (uint32_t i = 0; i < o->n_operands; i++)
		if (!s->operands[o->first_operand + i].write && nth-- == 0)
			return &s->operands[o->first_operand + i];
	test_fail(__FILE__, __LINE__, "op %u reads too little", op);
}

/* Op that wrote what `op` reads as its nth input, UINT32_MAX: external. */
static inline uint32_t stream_made_by(const struct op_stream *s, uint32_t op, uint32_t nth)
{
	uint32_t t = stream_reads(s, op, nth)->tensor;

	for (uint32_t i = op; i-- > 0;)
		for (uint32_t j = 0; j < s->ops[i].n_operands; j++) {
			const struct op_operand *x = &s->operands[s->ops[i].first_operand + j];

			if (x->write && x->tensor == t)
				return i;
		}
	return UINT32_MAX;
}

static inline void stream_deps_are(const struct op_stream *s, uint32_t op, uint32_t n, const uint32_t *want)
{
	const struct op *o = &s->ops[op];

	if (o->n_deps != n || memcmp(s->deps + o->first_dep, want, n * sizeof *want) != 0)
		test_fail(__FILE__, __LINE__, "op %u ('%s') has %u dependences, not the %u expected", op, o->name,
		          o->n_deps, n);
}

/* Whoever waits for just its dependences never sees a half-written range: each pair of ops that touch the same bytes,
 * one of them writing, is ordered. */
static inline void stream_check_order(const struct op_stream *s)
{
	size_t n = s->n_ops, words = (n + 63) / 64;
	uint64_t *before = calloc(n * words, sizeof *before);

	CHECK(before);
	for (size_t i = 0; i < n; i++) {
		const struct op *o = &s->ops[i];

		for (uint32_t d = 0; d < o->n_deps; d++) {
			uint32_t on = s->deps[o->first_dep + d];

			for (size_t k = 0; k < words; k++)
				before[i * words + k] |= before[on * words + k];
			before[i * words + on / 64] |= UINT64_C(1) << on % 64;
		}
		for (size_t j = 0; j < i; j++)
			for (uint32_t x = 0; x < o->n_operands && !(before[i * words + j / 64] >> j % 64 & 1); x++)
				for (uint32_t y = 0; y < s->ops[j].n_operands; y++) {
					const struct op_operand *a = &s->operands[o->first_operand + x];
					const struct op_operand *b = &s->operands[s->ops[j].first_operand + y];
					uint64_t p = s->tensors[a->tensor].addr + a->offset,
						 q = s->tensors[b->tensor].addr + b->offset;

					if ((a->write || b->write) && p < q + b->bytes && q < p + a->bytes)
						test_fail(__FILE__, __LINE__, "op %zu does not wait for op %zu", i, j);
				}
	}
	free(before);
}

#endif
