#include "sim/map/map_int.h"

/* --- multiply-adds ----------------------------------------------------------------------------------------- */

struct peaks {
	uint64_t fastest, all; /* MACs/s */
	enum res res;          /* the fastest's */
};

static uint64_t per_second(uint64_t a_cycle, uint64_t khz)
{
	uint64_t n;

	return __builtin_mul_overflow(a_cycle, khz * 1000, &n) ? UINT64_MAX : n;
}

/* Of the units that may take such a product: those of last resort where there are no others. */
static struct peaks peaks_of(const struct mapper *m, const struct unit_job *j)
{
	struct peaks p = { 0, 0, RES_COUNT };

	for (int last_resort = 0; last_resort < 2 && !p.fastest; last_resort++)
		for (int i = 0; i < UNIT_COUNT; i++) {
			uint64_t rate;

			if (unit_table[i]->last_resort != last_resort || !unit_table[i]->peak || !m->unit[i].cfg->units)
				continue;
			rate = unit_peak(unit_table[i], &m->unit[i], j->dtype, j->with, j->passes);
			if (j->of && unit_table[i]->sparse && unit_table[i]->sparse(&m->unit[i]))
				rate = div_up(rate * j->of, j->keep);
			rate = per_second(rate, m->c->clock);
			p.all = p.all + rate < rate ? UINT64_MAX : p.all + rate;
			if (rate > p.fastest) {
				p.fastest = rate;
				p.res = unit_table[i]->res;
			}
		}
	return p;
}

/* Products that depend on each other follow each other, those that do not may be on all units at once: the time is the
 * longest chain at the fastest unit's peak, or all of them at the peak of all units together. */
static int math(const struct mapper *m, struct map_lower_bound *f, struct err *e)
{
	const struct op_stream *s = m->s;
	ps_t *chain = arena_array(m->a, s->n_ops + 1, sizeof *chain), by_res[RES_COUNT] = { 0 }, together = 0;

	f->op_math_ps = arena_array(m->a, s->n_ops + 1, sizeof *f->op_math_ps);
	f->op_pair = arena_array(m->a, s->n_ops + 1, sizeof *f->op_pair);
	if (!chain || !f->op_math_ps || !f->op_pair)
		return err_set(e, ERR_NOMEM, "out of memory for the roofline");
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];
		const uint64_t macs = op_is_product(o->kind) ? work_of(s, o).macs : 0;
		struct peaks p = { 0, 0, RES_COUNT };

		if (macs) {
			const struct unit_job j = map_job(m, o);

			f->op_pair[i] = (struct map_pair){ (uint8_t)j.dtype, (uint8_t)j.with, (uint8_t)j.passes };
			p = peaks_of(m, &j);
		}
		if (p.fastest) {
			f->op_math_ps[i] = clock_transfer(macs, p.fastest);
			by_res[p.res] += f->op_math_ps[i];
			together += p.all == p.fastest ? f->op_math_ps[i] : clock_transfer(macs, p.all) - 1;
			f->macs_ps += f->op_math_ps[i];
		}
		/* What depends on an op that is not simulated waits for the command before that one. */
		for (uint32_t k = 0; k < o->n_deps && op_is_timed(o); k++)
			chain[i] = ps_max(chain[i], chain[s->deps[o->first_dep + k]]);
		chain[i] += f->op_math_ps[i];
		f->math_ps = ps_max(f->math_ps, chain[i]);
	}
	f->math_ps = ps_max(f->math_ps, together);
	f->math_res = RES_MATRIX;
	for (int r = 0; r < RES_COUNT; r++)
		f->math_res = by_res[r] > by_res[f->math_res] ? (enum res)r : f->math_res;
	return 0;
}

/* --- bytes ------------------------------------------------------------------------------------------------- */

/* Of a range, what lies behind all that was counted of its tensor: whatever is left out of a strided one is taken to lie
 * there. */
static uint64_t map_lower_bound_behind(const struct map_touch *t, uint64_t *end)
{
	const uint64_t last = t->offset + t->bytes, from = *end > t->offset ? *end : t->offset,
		       fresh = last > from ? last - from : 0, holes = t->bytes - fresh;

	*end = last > *end ? last : *end;
	return t->touched > holes ? t->touched - holes : 0;
}

static struct map_touch touch_of(const struct mapper *m, const struct op *o, const struct op_operand *x)
{
	const struct op_tensor *t = &m->s->tensors[x->tensor];
	struct map_touch out = { .tensor = x->tensor,
		                 .slot = x->slot,
		                 .route = t->route < 0        ? -1
		                          : o->routed_by >= 0 ? o->routed_by
		                                              : t->route,
		                 .offset = map_stored_bytes(m, x->tensor, x->offset),
		                 .touched = map_stored_bytes(m, x->tensor, x->touched) };

	out.bytes = map_stored_bytes(m, x->tensor, x->bytes);
	out.bytes = out.bytes > out.touched ? out.bytes : out.touched;
	return out;
}

/* Of the reads of a tensor, each byte once, what was there before the stream: all but what ops before had written, of which
 * nobody knows where it lies among them. */
struct reads {
	uint64_t end;     /* of what was counted */
	uint64_t written; /* before, and not yet taken off */
};

static uint64_t there_before(const struct map_touch *t, struct reads *r)
{
	const uint64_t n = map_lower_bound_behind(t, &r->end), own = n < r->written ? n : r->written;

	r->written -= own;
	return n - own;
}

static void touch(const struct mapper *m, const struct op *o, const struct op_operand *x, struct reads *reads,
                  uint64_t *write_end, struct map_lower_bound *f)
{
	const struct map_touch t = touch_of(m, o, x);

	if (x->write) {
		reads[x->tensor].written += t.touched;
		if (m->last_read[x->tensor] == UINT32_MAX && t.route < 0)
			f->write_bytes += map_lower_bound_behind(&t, &write_end[x->tensor]);
	} else if (m->s->tensors[x->tensor].external) {
		if (t.route < 0)
			f->read_bytes += there_before(&t, &reads[x->tensor]);
		else if (m->first_write[x->tensor] >= o->id)
			f->routed[f->n_routed++] = t;
	}
}

/* Reads of what is there before the stream, and writes of what nothing in the stream reads. An op reads before it writes. */
static int map_lower_bound_bytes(const struct mapper *m, struct map_lower_bound *f, struct err *e)
{
	const struct op_stream *s = m->s;
	struct reads *reads = arena_array(m->a, s->n_tensors + 1, sizeof *reads);
	uint64_t *write_end = arena_array(m->a, s->n_tensors + 1, sizeof *write_end);

	f->routed = arena_array(m->a, s->n_operands + 1, sizeof *f->routed);
	if (!reads || !write_end || !f->routed)
		return err_set(e, ERR_NOMEM, "out of memory for the roofline");
	for (uint32_t i = 0; i < s->n_ops; i++)
		for (uint32_t k = 0; k < 2 * s->ops[i].n_operands && op_is_timed(&s->ops[i]); k++) {
			const struct op_operand *x = map_operand(m, &s->ops[i], k % s->ops[i].n_operands);

			if (x->write == (k >= s->ops[i].n_operands))
				touch(m, &s->ops[i], x, reads, write_end, f);
		}
	return 0;
}

uint64_t map_lower_bound_reads(const struct map_lower_bound *f, const struct isa_prog *p, const uint32_t *const *picks,
                               struct arena *a, struct err *e)
{
	size_t *first = arena_array(a, p->n_tensors + 1, sizeof *first); /* of a tensor's instances */
	uint64_t n = f->read_bytes, *end;

	if (!f->n_routed)
		return n;
	for (size_t i = 0; first && i < p->n_tensors; i++)
		first[i + 1] = first[i] + p->tensors[i].instances;
	if (!first || !(end = arena_array(a, first[p->n_tensors] + 1, sizeof *end))) {
		err_set(e, ERR_NOMEM, "out of memory for the roofline");
		return 0;
	}
	for (size_t i = 0; i < f->n_routed; i++) {
		const struct map_touch *t = &f->routed[i];

		n += map_lower_bound_behind(t, &end[first[t->tensor] + picks[t->route][t->slot]]);
	}
	return n;
}

int map_lower_bound(const struct mapper *m, struct map_lower_bound *out, struct err *e)
{
	*out = (struct map_lower_bound){ .math_ps = 0 };
	return math(m, out, e) < 0 || map_lower_bound_bytes(m, out, e) < 0 ? -1 : 0;
}
