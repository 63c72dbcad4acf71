/* map_evaluate.c - what a command takes on its machine, by the evaluator; and what was chosen for a command like it.
 *
 * A command is evaluated beside others of its kind, one after the other: what the next fetches ahead while one computes is
 * part of what a mapping is worth, and so is the SRAM that it leaves. Operands that the program makes were just written, and
 * lie in the L2 if they take a small part of it.
 * Those that were there before (weights, KV) lie in DRAM for the first and the second; the third has those of the second
 * again, from the L2 if it holds them, as a step after another may. Pinned ones lie in SRAM. Nobody knows which of the two
 * will be: what is a percent better in one counts as much as in the other. */
#include <math.h>
#include <string.h>

#include "sim/map/map_int.h"

#define COPIES 3
#define ROUNDS 2
#define APART  (UINT64_C(1) << 16) /* operands begin at multiples of it */
#define MOVES  16                  /* a command with more is not evaluated */
#define EDGES  128                 /* tables of them, of a round that is evaluated */

/* Of the state that is not met: of ways as good in the other the one that is better in this. */
#define SELDOM (1.0 / 64)

struct map_evaluation {
	struct isa_cmd cmds[1 + ROUNDS * MAP_COSCHEDULED];
	struct isa_insn insns[(1 + COPIES) * MAP_INSNS];
	uint32_t deps[MAP_COSCHEDULED + MAP_COSCHEDULED * MAP_COSCHEDULED];
	struct isa_tensor tensors[MAP_INSNS];
	struct isa_remainders edges[EDGES]; /* of a round's drafts, and where each candidate's begin */
	uint32_t edges_at[MAP_COSCHEDULED], n_edges;
	struct isa_insn of[MAP_INSNS]; /* of a round: the move that a tensor is of */
	uint32_t n_tensors;
	struct isa_prog prog;
	uint64_t end; /* of the addresses given out */
};

static struct isa_tensor map_evaluate_place(struct map_evaluation *t, uint64_t bytes)
{
	const struct isa_tensor x = { t->end, 0, 1 };

	t->end = round_up(t->end + bytes, APART);
	return x;
}

/* What a command loads that the one before has made. */
static struct isa_insn map_evaluate_written(const struct isa_insn *x, uint32_t tensor)
{
	return (struct isa_insn){ .code = ISA_STORE,
		                  .when = ISA_POST,
		                  .unit = RES_DMA,
		                  .src = ISA_SRAM,
		                  .dst = ISA_MEM,
		                  .cls = x->cls,
		                  .tensor = tensor,
		                  .route = -1,
		                  .bytes = x->bytes };
}

/* The first command: it makes what others find, and takes the SRAM that others' results hold. */
static struct isa_cmd map_evaluate_before(const struct mapper *m)
{
	return (struct isa_cmd){ .n_insns = 0, .routed_by = -1, .keeps_bytes = m->all_sram - m->sram };
}

/* The moves' tensors: what lies in memory is each copy's own. */
static bool lay_out(const struct mapper *m, struct map_evaluation *t, const struct map_candidate *d)
{
	uint32_t n = 0;

	t->end = 0;
	t->cmds[0] = map_evaluate_before(m);
	for (uint32_t i = 0; i < d->n; i++) {
		const struct isa_insn *x = &d->insn[i];

		if (!isa_is_move(x))
			continue;
		if (n == MOVES)
			return false;
		t->tensors[2 * n] = t->tensors[2 * n + 1] = map_evaluate_place(t, x->bytes);
		if (x->code == ISA_LOAD && map_from_memory(m, x))
			t->tensors[2 * n + 1] = map_evaluate_place(t, x->bytes);
		else if (x->code == ISA_LOAD)
			t->insns[t->cmds[0].n_insns++] = map_evaluate_written(x, 2 * n);
		n++;
	}
	return true;
}

/* A candidate's command, its instructions from `first` on and its tables of edges from `edges`; which tensors they move is to be
 * said. */
static struct isa_cmd map_evaluate_command(const struct mapper *m, struct map_evaluation *t,
                                           const struct map_candidate *d, uint32_t first, uint32_t edges)
{
	memcpy(&t->insns[first], d->insn, d->n * sizeof *d->insn);
	for (uint32_t i = first; i < first + d->n; i++) {
		struct isa_insn *x = &t->insns[i];

		x->edges += x->edges ? edges : 0;
		if (!isa_is_move(x) && x->pinned) { /* done in a step before, as its load */
			x->pinned = false;
			x->span = x->span_last = x->latency = 0;
		}
		if (!isa_is_move(x))
			continue;
		x->pinned = x->pinned || m->resident[x->tensor];
		x->offset = 0;
		x->route = -1;
		x->bytes = x->pinned ? 0 : x->bytes;
	}
	return (struct isa_cmd){ .first_insn = first,
		                 .n_insns = d->n,
		                 .tiles = d->tiles,
		                 .trips = { d->trips[0], d->trips[1], d->trips[2] },
		                 .routed_by = -1,
		                 .dispatches = d->dispatches,
		                 .ahead = d->ahead,
		                 .slot_bytes = d->slot_bytes,
		                 .fixed_bytes = d->fixed_bytes };
}

static void add_copy(const struct mapper *m, struct map_evaluation *t, const struct map_candidate *d, uint32_t copy,
                     uint32_t first)
{
	struct isa_cmd *c = &t->cmds[1 + copy];
	uint32_t n = 0;

	*c = map_evaluate_command(m, t, d, first, 0);
	c->first_dep = copy;
	c->n_deps = 1;
	t->deps[copy] = copy;
	for (uint32_t i = first; i < first + d->n; i++)
		if (isa_is_move(&t->insns[i]))
			t->insns[i].tensor = 2 * n++ + (copy > 0);
}

/* The first of copies as a program of its own: cold, and as a pass before has left its operands. */
static bool judged_alone(const struct mapper *m, struct map_evaluation *t, const struct map_candidate *d,
                         struct map_score *out)
{
	ps_t end[MAP_EVALUATED];
	uint32_t n = 0;

	t->cmds[0] = map_evaluate_command(m, t, d, 0, 0);
	for (uint32_t i = 0; i < d->n; i++)
		if (isa_is_move(&t->insns[i]))
			t->insns[i].tensor = 2 * n++;
	t->prog = (struct isa_prog){ .cmds = t->cmds,
		                     .n_cmds = 1,
		                     .insns = t->insns,
		                     .n_insns = d->n,
		                     .edges = d->edges,
		                     .n_edges = d->n_edges,
		                     .deps = t->deps,
		                     .tensors = t->tensors,
		                     .n_tensors = sizeof t->tensors / sizeof *t->tensors,
		                     .max_tile_moves = MOVES };
	for (int warm = 0; warm < 2; warm++) {
		if (!m->evaluator->ends(m->evaluator->self, &t->prog, warm, end))
			return false;
		*(warm ? &out->warm : &out->cold) = end[0];
	}
	return true;
}

/* The part of what a command loads that is in DRAM when it is asked for, in the state that the stream is in, as far as that is
 * known. Where all lies in SRAM nothing is owed from a pass before. */
static double far_of(const struct mapper *m, const struct map_candidate *d)
{
	double far = 0, all = 0;

	if (m->alone && m->start == MAP_STEADY) /* it follows itself, which is what `warm` was evaluated as */
		return SELDOM;
	for (uint32_t i = 0; i < d->n; i++)
		if (d->insn[i].code == ISA_LOAD && d->insn[i].early && !m->resident[d->insn[i].tensor]) {
			far += (double)d->insn[i].bytes * map_far(m, &d->insn[i]);
			all += (double)d->insn[i].bytes;
		}
	return all > 0 ? far / all : m->start == MAP_RESIDENT ? 1 : m->far[0];
}

static double worth(const struct mapper *m, const struct map_candidate *d, double far, const struct map_score *x)
{
	return far * (double)x->cold + (1 - far) * (double)x->warm + map_overhead(m, d->tiles);
}

struct map_score map_evaluate(const struct mapper *m, const struct map_candidate *d)
{
	const struct map_score never = { PS_NEVER, PS_NEVER, INFINITY },
			       by_rates = { d->predicted, d->predicted, (double)d->predicted };
	struct map_evaluation *t = m->trial;
	struct map_score out;
	ps_t end[MAP_EVALUATED];
	uint32_t copies = COPIES;
	double far;

	if (d->overflow)
		return never;
	if (!m->evaluator || !lay_out(m, t, d))
		return by_rates;
	far = far_of(m, d);
	if (m->alone) {
		if (!judged_alone(m, t, d, &out))
			return never;
		out.worth = worth(m, d, far, &out);
		return out;
	}
	if (far >= 1 && !m->log) /* nobody asks what the last would take */
		copies--;
	for (uint32_t i = 0; i < copies; i++)
		add_copy(m, t, d, i, t->cmds[0].n_insns + i * d->n);
	t->prog = (struct isa_prog){ .cmds = t->cmds,
		                     .n_cmds = 1 + copies,
		                     .insns = t->insns,
		                     .n_insns = t->cmds[0].n_insns + copies * d->n,
		                     .edges = d->edges,
		                     .n_edges = d->n_edges,
		                     .deps = t->deps,
		                     .tensors = t->tensors,
		                     .n_tensors = sizeof t->tensors / sizeof *t->tensors,
		                     .max_tile_moves = MOVES };
	if (!m->evaluator->ends(m->evaluator->self, &t->prog, false, end))
		return never;
	out.cold = (end[2] - end[0]) / 2;
	out.warm = copies == COPIES ? end[COPIES] - end[COPIES - 1] : out.cold;
	out.worth = worth(m, d, far, &out);
	return out;
}

/* The number of what a move moves, among all that a round does; UINT32_MAX: there are too many. */
static uint32_t tensor_of(const struct mapper *m, struct map_evaluation *t, const struct isa_insn *x)
{
	for (uint32_t i = 0; i < t->n_tensors; i++)
		if (t->of[i].tensor == x->tensor && t->of[i].slot == x->slot && t->of[i].offset == x->offset)
			return i;
	if (t->n_tensors == MAP_INSNS)
		return UINT32_MAX;
	t->of[t->n_tensors] = *x;
	t->tensors[t->n_tensors] = map_evaluate_place(t, x->bytes);
	if (x->code == ISA_LOAD && !map_from_memory(m, x)) {
		if (t->cmds[0].n_insns == MAP_INSNS)
			return UINT32_MAX;
		t->insns[t->cmds[0].n_insns++] = map_evaluate_written(x, t->n_tensors);
	}
	return t->n_tensors++;
}

static bool lay_edges(struct map_evaluation *t, const struct map_candidate *d, uint32_t k)
{
	if (t->n_edges + d->n_edges > sizeof t->edges / sizeof *t->edges)
		return false;
	memcpy(t->edges + t->n_edges, d->edges, d->n_edges * sizeof *d->edges);
	t->edges_at[k] = t->n_edges;
	t->n_edges += d->n_edges;
	return true;
}

/* Numbers a round's moves; false: there are too many of them, or of instructions. */
static bool lay_round(const struct mapper *m, struct map_evaluation *t, struct map_candidate *const *d, uint32_t n)
{
	uint32_t insns = 0;

	t->end = t->n_tensors = t->n_edges = 0;
	t->cmds[0] = map_evaluate_before(m);
	for (uint32_t k = 0; k < n; k++) {
		insns += d[k]->n;
		if (!lay_edges(t, d[k], k))
			return false;
		for (uint32_t i = 0; i < d[k]->n; i++)
			if (isa_is_move(&d[k]->insn[i]) && tensor_of(m, t, &d[k]->insn[i]) == UINT32_MAX)
				return false;
	}
	return ROUNDS * insns <= COPIES * MAP_INSNS;
}

/* One more command, that waits for all of the round before, or for the one before. */
static void add_to_round(const struct mapper *m, struct map_evaluation *t, const struct map_candidate *d, uint32_t k,
                         uint32_t n, const struct map_round *how, uint32_t *insns, uint32_t *deps)
{
	struct isa_cmd *c = &t->cmds[1 + k];
	uint32_t at = *insns;

	*c = map_evaluate_command(m, t, d, at, t->edges_at[k % n]);
	c->first_dep = *deps;
	c->keeps_bytes = k % n == 0 ? how->keeps : 0;
	c->frees_bytes = k % n == n - 1 ? how->keeps : 0;
	c->n_deps = how->chain || k < n ? 1 : n;
	for (uint32_t i = 0; i < c->n_deps; i++)
		t->deps[(*deps)++] = how->chain ? k : k < n ? 0 : 1 + i;
	for (uint32_t i = 0; i < d->n; i++)
		if (isa_is_move(&d->insn[i]))
			t->insns[at + i].tensor = tensor_of(m, t, &d->insn[i]);
	*insns += d->n;
}

struct map_score map_evaluate_round(const struct mapper *m, struct map_candidate *const *d, uint32_t n,
                                    const struct map_round *how)
{
	const struct map_score never = { PS_NEVER, PS_NEVER, INFINITY };
	struct map_evaluation *t = m->trial;
	uint32_t insns, deps = 0;
	ps_t end[MAP_EVALUATED], cold = 0, warm = 0;

	if (!lay_round(m, t, d, n))
		return never;
	insns = t->cmds[0].n_insns;
	for (uint32_t k = 0; k < ROUNDS * n; k++)
		add_to_round(m, t, d[k % n], k, n, how, &insns, &deps);
	t->prog = (struct isa_prog){ .cmds = t->cmds,
		                     .n_cmds = 1 + ROUNDS * n,
		                     .insns = t->insns,
		                     .n_insns = insns,
		                     .edges = t->edges,
		                     .n_edges = t->n_edges,
		                     .deps = t->deps,
		                     .tensors = t->tensors,
		                     .n_tensors = t->n_tensors,
		                     .max_tile_moves = MAP_INSNS };
	if (!m->evaluator->ends(m->evaluator->self, &t->prog, false, end))
		return never;
	for (uint32_t k = 1; k <= n; k++) {
		cold = ps_max(cold, end[k] - end[0]);
		warm = ps_max(warm, end[n + k]);
	}
	warm -= end[0] + cold;
	return (struct map_score){ cold, warm, (double)cold * (double)warm };
}

struct map_evaluation *map_evaluation_new(struct arena *a)
{
	return arena_alloc(a, sizeof(struct map_evaluation));
}
