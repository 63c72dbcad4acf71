#include "arch/gpu/gpu_work.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/hash.h"
#include "traces/trace.h"

void gpu_work_fresh(struct gpu_work *w, const struct op *o, uint64_t bytes)
{
	for (uint32_t n = 0; n < o->n_launches; n++) {
		struct gpu_launch *l = &w->launches[o->first_launch + n];

		if (l->kernel.moves != KERNEL_MOVES_ALL && l->kernel.moves != KERNEL_MOVES_READS)
			continue;
		l->fresh = l->fresh > bytes ? l->fresh : bytes;
		return;
	}
}

/* Largest operand each op is the first to read since it was written; a stream's externals were not. */
static int mark_fresh(struct gpu_work *w, struct arena *a, struct err *e)
{
	const struct op_stream *s = w->stream;
	bool *written = arena_array(a, s->n_tensors ? s->n_tensors : 1, sizeof *written);

	if (!written)
		return err_set(e, ERR_NOMEM, "out of memory for %zu tensors", s->n_tensors);
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];
		const struct op_operand *x = &s->operands[o->first_operand];
		uint64_t fresh = 0;

		for (uint32_t k = 0; k < o->n_operands; k++)
			if (!x[k].write && written[x[k].tensor] && x[k].touched > fresh)
				fresh = x[k].touched;
		gpu_work_fresh(w, o, fresh);
		for (uint32_t k = 0; k < o->n_operands; k++)
			written[x[k].tensor] = x[k].write;
	}
	return 0;
}

struct last_launch {
	uint64_t name, at;
};

/* Twice round, so that the second finds what the first left. Copies and sets have no code. */
int gpu_work_repeat(struct gpu_work *w, uint32_t first, uint32_t n, struct err *e)
{
	const struct op_stream *s = w->stream;
	uint64_t at = 0, mask = 15;
	struct last_launch *table;

	for (uint32_t i = first; i < first + n; i++)
		while (mask < 2 * (at += s->ops[i].n_launches))
			mask = 2 * mask + 1;
	if (!(table = calloc(mask + 1, sizeof *table)))
		return err_set(e, ERR_NOMEM, "out of memory for %llu launches", (unsigned long long)at);
	at = 0;
	for (uint32_t i = 0; i < 2 * n; i++) {
		const struct op *o = &s->ops[first + i % n];

		for (uint32_t k = 0; k < o->n_launches; k++) {
			struct gpu_launch *l = &w->launches[o->first_launch + k];
			uint64_t name = hash_mix(hash_str(HASH_INIT, l->at->name)), slot = name & mask;

			if (l->at->kind != TRACE_KERNEL)
				continue;
			while (table[slot].at && table[slot].name != name)
				slot = (slot + 1) & mask;
			at++;
			l->others = table[slot].at ? (uint32_t)(at - table[slot].at - 1) : UINT32_MAX;
			table[slot] = (struct last_launch){ name, at };
		}
	}
	free(table);
	return 0;
}

static uint64_t threads_of(const struct op_launch *a)
{
	return (uint64_t)a->grid[0] * a->grid[1] * a->grid[2] * a->block[0] * a->block[1] * a->block[2];
}

/* Whether another of the op's launches does the work and this one prepares or joins: that has the most threads, but of
 * products and attention, whose parts are joined by as many CTAs as there are results, it is the first that is not known to
 * move no operand, as a change of layout is. */
static bool beside(const struct gpu_launch *l, uint32_t nth)
{
	const struct op *o = l->op;
	const struct op_launch *at = &l->stream->launches[o->first_launch];
	bool product = op_is_product(o->kind);

	for (uint32_t n = 0; n < o->n_launches; n++)
		if (product ? n < nth && at[n].kind == TRACE_KERNEL &&
		                      l[(ptrdiff_t)n - nth].kernel.moves != KERNEL_MOVES_NONE
		            : threads_of(&at[n]) > threads_of(&at[nth]))
			return true;
	return false;
}

int gpu_work_make(const struct op_stream *s, const struct kernels *k, struct arena *a, struct gpu_work *out,
                  struct err *e)
{
	out->stream = s;
	out->n = s->n_launches;
	if (!(out->launches = arena_array(a, s->n_launches ? s->n_launches : 1, sizeof *out->launches)))
		return err_set(e, ERR_NOMEM, "out of memory for %zu launches", s->n_launches);
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];
		bool reads = false, writes = false;

		for (uint32_t n = 0; n < o->n_launches; n++) {
			struct gpu_launch *l = &out->launches[o->first_launch + n];

			l->stream = s;
			l->op = o;
			l->at = &s->launches[o->first_launch + n];
			l->kernel = kernels_match(k, l->at->name, o->rule);
			if (!*l->kernel.name)
				l->kernel = kernels_default(k, o, beside(l, n));
			l->nth = n;
			l->count = o->n_launches;
			/* A set beside a kernel clears the kernel's own workspace. */
			if (l->kernel.form == KERNEL_SET && o->kind != OP_COPY && o->n_launches > 1)
				l->kernel.moves = KERNEL_MOVES_NONE;
			reads |= l->kernel.moves == KERNEL_MOVES_READS;
			writes |= l->kernel.moves == KERNEL_MOVES_WRITES;
		}
		/* What one launch says it does, the others of the op do not do too. */
		for (uint32_t n = 0; n < o->n_launches; n++) {
			enum kernel_moves *m = &out->launches[o->first_launch + n].kernel.moves;

			if (*m == KERNEL_MOVES_ALL && (reads || writes))
				*m = reads && writes ? KERNEL_MOVES_NONE
				     : reads         ? KERNEL_MOVES_WRITES
				                     : KERNEL_MOVES_READS;
		}
	}
	return mark_fresh(out, a, e) < 0 ? -1 : gpu_work_repeat(out, 0, (uint32_t)s->n_ops, e);
}

/* --- operands ------------------------------------------------------------------------------------------------ */

static uint64_t instance(const struct op_tensor *t, const struct op_operand *x, uint32_t pass)
{
	uint64_t start;

	if (t->instances <= 1)
		return 0;
	start = hash_mix(hash_u64(hash_u64(HASH_INIT, (uint64_t)t->route), pass)) % t->instances;
	return (start + x->slot) % t->instances;
}

int gpu_work_move_by(struct gpu_work *w, uint32_t op, uint32_t pass, gpu_move_fn *move, void *arg, struct err *e)
{
	const struct op_stream *s = w->stream;
	const struct op *o = &s->ops[op];

	for (uint32_t n = 0; n < o->n_launches; n++) {
		struct gpu_launch *l = &w->launches[o->first_launch + n];

		memset(&l->mem, 0, sizeof l->mem);
		for (uint32_t k = 0; k < o->n_operands; k++) {
			const struct op_operand *x = &s->operands[o->first_operand + k];
			const struct op_tensor *u = &s->tensors[x->tensor];

			if (l->kernel.moves == KERNEL_MOVES_NONE ||
			    (x->write ? l->kernel.moves == KERNEL_MOVES_READS : l->kernel.moves == KERNEL_MOVES_WRITES))
				continue;
			if (move(arg,
			         &(struct gpu_range){ u->addr + u->stride * instance(u, x, pass) + x->offset,
			                              x->touched < x->bytes ? x->touched : x->bytes, x->tensor,
			                              x->write },
			         &l->mem, e) < 0)
				return -1;
		}
	}
	return 0;
}

static int by_traffic(void *arg, const struct gpu_range *r, struct gpu_mem *m, struct err *e)
{
	return gpu_traffic_move(arg, r->addr, r->bytes, r->write, m, e);
}

int gpu_work_move(struct gpu_work *w, uint32_t op, uint32_t pass, struct gpu_traffic *t, struct err *e)
{
	return gpu_work_move_by(w, op, pass, by_traffic, t, e);
}

int gpu_work_run(struct gpu_work *w, bool warm, struct gpu_traffic *t, struct err *e)
{
	gpu_traffic_forget(t);
	for (uint32_t pass = warm ? 0 : 1; pass < 2; pass++)
		for (uint32_t i = 0; i < w->stream->n_ops; i++)
			if (gpu_work_move(w, i, pass, t, e) < 0)
				return -1;
	return 0;
}
