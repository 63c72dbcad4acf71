#include "arch/isa.h"

#define CODE(code, name)                 [ISA_##code] = #name,
#define UNIT(id, unit, code, name, area) [ISA_##code] = #name,

const char *isa_code_name(enum isa_code c)
{
	static const char *const names[] = { ISA_CODES(CODE, UNIT) };

	_Static_assert(sizeof names / sizeof *names == ISA_COUNT, "a name for every instruction");
	return (unsigned)c < ISA_COUNT ? names[c] : "?";
}

static bool goes_on(const struct isa_cmd *c, const struct isa_insn *i, int loop)
{
	return i->step[loop] && c->trips[loop] > 1;
}

/* Bytes of all tiles of the loops from `loop` on, in such rounds of those outside. */
static uint64_t inside(const struct isa_cmd *c, const struct isa_insn *i, const struct isa_remainders *e, int loop,
                       unsigned outside)
{
	if (loop == ISA_LOOPS)
		return e->at[outside & e->loops].bytes;
	if (!goes_on(c, i, loop))
		return inside(c, i, e, loop + 1, outside);
	return (c->trips[loop] - 1) * inside(c, i, e, loop + 1, outside) +
	       inside(c, i, e, loop + 1, outside | 1u << loop);
}

uint64_t isa_edges_place(const struct isa_cmd *c, const struct isa_insn *i, struct isa_remainders *e)
{
	for (unsigned at = 0; at < 1 << ISA_LOOPS; at++)
		for (int l = 0; l < ISA_LOOPS; l++)
			e->at[at].round[l] = goes_on(c, i, l) ? inside(c, i, e, l + 1, at & ((1u << l) - 1)) : 0;
	return inside(c, i, e, 0, 0);
}

/* Turns that math takes while so many of its loops are in their last round. */
static uint64_t isa_times(const struct isa_cmd *c, const struct isa_insn *i, unsigned loops, unsigned at)
{
	uint64_t n = 1;

	for (int l = 0; l < ISA_LOOPS; l++)
		if (loops >> l & 1)
			n *= at >> l & 1 ? 1 : c->trips[l] - 1;
		else
			n *= i->stays >> l & 1 ? 1 : c->trips[l];
	return n;
}

struct isa_turn isa_turns(const struct isa_prog *p, const struct isa_cmd *c, const struct isa_insn *i)
{
	const struct isa_remainders *e = i->edges ? &p->edges[i->edges - 1] : NULL;
	const uint64_t full = i->when == ISA_TILE && c->tiles ? c->tiles - 1 : 0;
	struct isa_turn all = { 0, 0, 0 };

	if (!e)
		return (struct isa_turn){ full * i->span + i->span_last, (full + 1) * i->latency,
			                  full * i->work + i->work_last };
	for (unsigned at = 0; at < 1 << ISA_LOOPS; at++) {
		const uint64_t n = at & ~(unsigned)e->loops ? 0 : isa_times(c, i, e->loops, at);

		all.span += n * e->at[at].span;
		all.latency += n * e->at[at].latency;
		all.work += n * e->at[at].work;
	}
	return all;
}
