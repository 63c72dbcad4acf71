/* program_remainder.c - tiles of a nest that are smaller, as text: below an instruction a line for each set of loops that end
 * together, with what then differs from a full tile. All sets of those loops are said, or none. */
#include <inttypes.h>
#include <stdio.h>

#include "sim/program/program_int.h"

#define EDGES (1u << ISA_LOOPS)

static const struct program_field loops_field = { "edge", PROGRAM_LOOPS, 0, NULL, PROGRAM_PLAIN };

static struct isa_remainder full_tile(const struct isa_insn *i)
{
	return (struct isa_remainder){
		.bytes = i->tile_bytes, .share = i->share, .span = i->span, .latency = i->latency, .work = i->work
	};
}

/* The instruction's table; a new one has full tiles only. */
static struct isa_remainders *edges_of(struct program_reader *r, struct isa_insn *i)
{
	struct isa_remainders *e;

	if (i->edges)
		return (struct isa_remainders *)r->edges.v + i->edges - 1;
	if (!(e = program_push(r, &r->edges, sizeof *e)) || !program_push(r, &r->edges_given, sizeof(uint32_t)))
		return NULL;
	for (unsigned at = 0; at < EDGES; at++)
		e->at[at] = full_tile(i);
	i->edges = (uint32_t)r->edges.n;
	return e;
}

int program_read_edge(struct program_reader *r)
{
	struct isa_cmd *c = r->cmds.n ? (struct isa_cmd *)r->cmds.v + r->cmds.n - 1 : NULL;
	struct isa_insn *i = c && c->n_insns ? (struct isa_insn *)r->insns.v + r->insns.n - 1 : NULL;
	const struct program_word *w = &r->words.w[1];
	struct isa_remainders *e;
	const char *why;
	uint8_t loops;
	uint64_t given;
	uint32_t *said;

	if (!i || i->when != ISA_TILE || !c->trips[0])
		return program_fault(r, 0, "'edge' stands below an instruction in a nest of loops ('trips')");
	if (r->words.n < 2 || w->key)
		return program_fault(r, 0, "'edge' is followed by the loops that end: edge 13 by=640");
	if ((why = program_field_set(&loops_field, &loops, w->text)) || !loops)
		return program_fault(r, w->col, "edge: '%.80s' %s", w->text, why ? why : "names no loops");
	if (!(e = edges_of(r, i)))
		return -1;
	said = (uint32_t *)r->edges_given.v + i->edges - 1;
	if (*said >> loops & 1)
		return program_fault(r, w->col, "edge %s is given twice", w->text);
	*said |= 1u << loops;
	e->loops |= loops;
	return program_read_fields(r, 2, program_remainder_fields, &e->at[loops], &given, NULL, NULL);
}

static void put_loops(unsigned loops, struct str *out)
{
	for (int l = 0; l < ISA_LOOPS; l++)
		if (loops >> l & 1)
			str_addc(out, (char)('1' + l));
}

void program_write_edges(const struct isa_prog *p, const struct isa_insn *i, struct str *out)
{
	const struct isa_remainders *e = i->edges ? &p->edges[i->edges - 1] : NULL;
	const struct isa_remainder full = full_tile(i);

	for (unsigned at = 1; e && at < EDGES; at++) {
		if (at & ~(unsigned)e->loops)
			continue;
		str_add(out, "        edge ");
		put_loops(at, out);
		program_fields_write(program_remainder_fields, &e->at[at], &full, out);
		str_addc(out, '\n');
	}
}

/* Whether the instruction has an edge where this loop ends. */
static bool ends(const struct isa_cmd *c, const struct isa_insn *i, int loop)
{
	return c->trips[loop] > 1 && !(i->stays >> loop & 1) && (!isa_is_move(i) || i->step[loop]);
}

/* A move has smaller tiles, and math has times. */
static bool program_remainder_fits(const struct isa_insn *i, const struct isa_remainder *x)
{
	if (isa_is_move(i))
		return x->bytes <= i->tile_bytes && x->share <= x->bytes && !x->span && !x->latency && !x->work;
	return !x->bytes && !x->share;
}

const char *program_remainders_fault(const struct isa_prog *p, const struct isa_cmd *c, const struct isa_insn *i,
                                     uint32_t given, char *text, size_t n)
{
	struct isa_remainders e = p->edges[i->edges - 1];
	struct str loops = STR_INIT;
	uint64_t all;

	for (int l = 0; l < ISA_LOOPS; l++)
		if (e.loops >> l & 1 && !ends(c, i, l)) {
			snprintf(text, n, "it has no edge where loop %d ends: it does not go on with that, or stays",
			         l + 1);
			return text;
		}
	for (unsigned at = 1; at < EDGES; at++) {
		if (at & ~(unsigned)e.loops)
			continue;
		put_loops(at, &loops);
		snprintf(text, n,
		         !(given >> at & 1) ? "where loops %s end is not said: give 'edge %s'"
		                            : "edge %s is no part of a full tile ('edge %s')",
		         str_c(&loops), str_c(&loops));
		str_free(&loops);
		if (!(given >> at & 1) || !program_remainder_fits(i, &e.at[at]))
			return text;
	}
	all = isa_is_move(i) && i->tile_bytes <= UINT64_C(1) << 40 ? isa_edges_place(c, i, &e) : i->bytes;
	if (all >= i->bytes)
		return NULL;
	snprintf(text, n, "its tiles have %" PRIu64 " bytes, and %" PRIu64 " are to be moved", all, i->bytes);
	return text;
}

static ps_t larger(ps_t a, ps_t b)
{
	return a > b ? a : b;
}

struct isa_remainder program_remainder_most(const struct isa_prog *p, const struct isa_insn *i)
{
	struct isa_remainder most = full_tile(i);

	most.span = larger(i->span, i->span_last);
	most.work = larger(i->work, i->work_last);
	for (unsigned at = 1; i->edges && at < EDGES; at++) {
		const struct isa_remainder *x = &p->edges[i->edges - 1].at[at];

		most.span = larger(most.span, x->span);
		most.latency = larger(most.latency, x->latency);
		most.work = larger(most.work, x->work);
	}
	return most;
}
