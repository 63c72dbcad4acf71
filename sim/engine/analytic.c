#include "sim/engine/analytic.h"

#include <stdlib.h>
#include <string.h>

#include "sim/engine/analytic_repeat.h"

#define EDGES (1u << ISA_LOOPS)

struct analytic {
	const struct machine_cfg *c;
	const struct isa_prog *p;
	struct stat_reg *stats;
	struct hierarchy mem;
	struct server unit[RES_COUNT];
	uint64_t unit_busy[RES_COUNT], unit_work[RES_COUNT];
	uint64_t tiles, pinned_bytes, kept_bytes, commands, round_trips, branches;
	uint8_t *pinned;           /* by tensor: loaded in an earlier pass */
	struct access *access;     /* of a command's instructions */
	struct transfer *transfer; /* of their transfers, all but the last of a loop */
	struct access *again;      /* of what moves once more, after its first time */
	struct transfer *transfer_again;
	uint64_t *end_of;         /* where the instruction's last transfer ended in what it moves */
	struct transfer *at_edge; /* by instruction, of those with uneven tiles, first and again, by edge */
	uint32_t *order;          /* a command's instructions by phase and sort */
	ps_t *done;               /* by command */
	/* SRAM: what is taken, and when it is given back, a ring by time. */
	uint64_t sram, used;
	struct repeat *repeat; /* NULL: more than times is asked for */
	struct release *releases;
	uint32_t first, end, mask; /* first, end: taken modulo the ring's size */
	ps_t *slot;                /* when a tile's place is free again, dma.stages of them */
	ps_t admitted;             /* SRAM is given out in program order */
	ps_t ended;                /* all commands so far */
	/* The command processor. */
	ps_t issue_at, host_at, local;
};

/* --- life cycle -------------------------------------------------------------------------------------------- */

/* Past the last byte of any tensor. */
static uint64_t end_of(const struct isa_prog *p)
{
	uint64_t end = 1;

	for (size_t i = 0; i < p->n_insns; i++) {
		const struct isa_insn *x = &p->insns[i];
		const struct isa_tensor *t;
		uint64_t to;

		if (x->code != ISA_LOAD && x->code != ISA_STORE)
			continue;
		t = &p->tensors[x->tensor];
		to = t->addr + t->stride * (t->instances ? t->instances - 1 : 0) + x->offset + x->bytes;
		end = end > to ? end : to;
	}
	return end;
}

static int add_stats(struct analytic *a, struct err *e)
{
	const struct stat_row rows[] = {
		{ "core.tiles", "", "tiles computed", STAT_COUNT, &a->tiles },
		{ "sram.kept_bytes", "B", "bytes not stored because they stayed for who reads them", STAT_COUNT,
		  &a->kept_bytes },
		{ "sram.pinned_hit_bytes", "B", "weight bytes not loaded because they were pinned", STAT_COUNT,
		  &a->pinned_bytes },
		{ "noc.exchange_ps", "ps", "time that a core's port takes for partial sums", STAT_COUNT,
		  &a->unit_busy[RES_NOC] },
		{ "dispatch.commands", "", "commands dispatched", STAT_COUNT, &a->commands },
		{ "dispatch.round_trips", "", "decisions the host took", STAT_COUNT, &a->round_trips },
		{ "dispatch.branches", "", "decisions the device took", STAT_COUNT, &a->branches },
	};

	if (unit_add_stats(a->stats, a->unit_busy, a->unit_work, e) < 0 ||
	    stat_add_all(a->stats, rows, sizeof rows / sizeof *rows, e) < 0)
		return -1;
	return hierarchy_stats(&a->mem, a->stats, e);
}

static void drop_program(struct analytic *a)
{
	free(a->pinned);
	free(a->access);
	free(a->transfer);
	free(a->again);
	free(a->transfer_again);
	free(a->end_of);
	free(a->at_edge);
	free(a->order);
	free(a->done);
	a->pinned = NULL;
	a->access = a->again = NULL;
	a->transfer = a->transfer_again = a->at_edge = NULL;
	a->end_of = NULL;
	a->order = NULL;
	a->done = NULL;
}

int analytic_program(struct analytic *a, const struct isa_prog *p, struct err *e)
{
	size_t most = 1;

	drop_program(a);
	a->p = p;
	for (size_t i = 0; i < p->n_cmds; i++)
		most = p->cmds[i].n_insns > most ? p->cmds[i].n_insns : most;
	if (p->n_edges && !(a->at_edge = malloc(most * 2 * EDGES * sizeof *a->at_edge)))
		return err_set(e, ERR_NOMEM, "out of memory for a program in closed form");
	if (!(a->pinned = calloc(p->n_tensors + 1, 1)) || !(a->access = calloc(most, sizeof *a->access)) ||
	    !(a->transfer = calloc(most, sizeof *a->transfer)) || !(a->again = calloc(most, sizeof *a->again)) ||
	    !(a->transfer_again = calloc(most, sizeof *a->transfer_again)) ||
	    !(a->end_of = calloc(most, sizeof *a->end_of)) || !(a->order = calloc(most, sizeof *a->order)) ||
	    !(a->done = calloc(p->n_cmds + 1, sizeof *a->done)))
		return err_set(e, ERR_NOMEM, "out of memory for a program in closed form");
	return hierarchy_contents(&a->mem, end_of(p), e);
}

void analytic_bytes(struct analytic *a, const struct isa_prog *p)
{
	a->p = p;
}

struct analytic *analytic_new(const struct machine_cfg *c, const struct isa_prog *p, struct err *e)
{
	struct analytic *a = calloc(1, sizeof *a);
	struct sram s;
	size_t cap = 1;

	if (!a || !(a->stats = stat_new()))
		goto nomem;
	a->c = c;
	sram_init(&s, &c->sram, c->cores);
	a->sram = s.size;
	a->local = ps_min(clock_span(c->core.depth, c->clock), c->dispatch.latency);
	cap <<= log2_up((uint64_t)(c->dispatch.queue + 1) * (c->dma.stages + 2) + 1);
	a->mask = (uint32_t)(cap - 1);
	if (!(a->releases = calloc(cap, sizeof *a->releases)) || !(a->slot = calloc(c->dma.stages, sizeof *a->slot)))
		goto nomem;
	if (hierarchy_init(&a->mem, c, e) < 0 || analytic_program(a, p, e) < 0 || add_stats(a, e) < 0)
		goto fail;
	return a;
nomem:
	err_set(e, ERR_NOMEM, "out of memory for a machine in closed form");
fail:
	analytic_free(a);
	return NULL;
}

void analytic_free(struct analytic *a)
{
	if (!a)
		return;
	hierarchy_drop(&a->mem);
	stat_free(a->stats);
	drop_program(a);
	free(a->releases);
	free(a->slot);
	repeat_free(a->repeat);
	free(a);
}

int analytic_times_only(struct analytic *a, struct err *e)
{
	return (a->repeat = repeat_new(a->c, e)) ? 0 : -1;
}

const struct hierarchy *analytic_levels(const struct analytic *a)
{
	return &a->mem;
}

struct stat_reg *analytic_stats(struct analytic *a)
{
	return a->stats;
}

uint64_t analytic_resident(const struct analytic *a, uint64_t addr, uint64_t bytes, bool kv)
{
	return hierarchy_resident(&a->mem, addr, bytes, kv);
}

bool analytic_pinned(const struct analytic *a, uint32_t tensor)
{
	return a->pinned[tensor];
}

/* --- what is where ----------------------------------------------------------------------------------------- */

/* How often the whole of it moves: in every round of a loop that it neither goes on with nor stays through. */
static uint64_t rounds(const struct isa_cmd *c, const struct isa_insn *i)
{
	uint64_t n = 1;

	if (i->when != ISA_TILE || c->tiles == 0 || !c->trips[0])
		return 1;
	for (int l = 0; l < ISA_LOOPS; l++)
		n *= i->stays >> l & 1 || i->step[l] ? 1 : c->trips[l];
	return n;
}

static bool moves_nothing(struct analytic *a, const struct isa_cmd *c, const struct isa_insn *i)
{
	if (i->bytes == 0 || (i->when == ISA_TILE && c->tiles == 0))
		return true;
	if (i->code == ISA_STORE && i->dst == ISA_SRAM) {
		a->kept_bytes += i->bytes;
		return true;
	}
	if (!i->pinned || !a->pinned[i->tensor])
		return false;
	a->pinned_bytes += i->bytes;
	return true;
}

static struct access access_of(struct analytic *a, const struct isa_insn *i, const uint32_t *const *picks)
{
	const struct isa_tensor *t = &a->p->tensors[i->tensor];
	const uint64_t addr = t->addr + i->offset + (i->route >= 0 ? t->stride * picks[i->route][i->slot] : 0);

	return hierarchy_access(&a->mem, i, addr);
}

/* Slices of what a loop loads that the KV buffer takes in by turns. */
#define SLICES 64

static uint64_t kv_addr(const struct analytic *a, const struct isa_insn *i)
{
	return a->p->tensors[i->tensor].addr + i->offset;
}

static bool by_turns(const struct isa_cmd *c, const struct isa_insn *i)
{
	return i->code == ISA_LOAD && i->when == ISA_TILE && i->cls == MEM_KV && i->src == ISA_MEM && c->tiles > 1 &&
	       !i->pinned && i->route < 0;
}

/* Tiles come one after the other. Where they fill the KV buffer it has the first tiles of each load, and not all of the first
 * load. */
static bool fills_by_turns(const struct analytic *a, const struct isa_cmd *c)
{
	const struct isa_insn *insns = &a->p->insns[c->first_insn];
	const uint64_t room = hierarchy_kv_room(&a->mem);
	uint64_t lacks = 0;

	for (uint32_t n = 0; n < c->n_insns && room; n++)
		if (by_turns(c, &insns[n]))
			lacks += hierarchy_kv_lacks(&a->mem, kv_addr(a, &insns[n]), insns[n].bytes);
	return lacks > room;
}

/* A slice, up to a border of the buffer's chunks. */
static struct access access_slice(struct analytic *a, const struct isa_insn *i, uint64_t slice)
{
	const uint64_t addr = kv_addr(a, i), one = i->bytes / SLICES,
		       from = slice ? round_up(addr + one * slice, KV_CHUNK) : addr,
		       to = ps_min(addr + i->bytes,
	                           slice + 1 < SLICES ? round_up(addr + one * (slice + 1), KV_CHUNK) : UINT64_MAX);
	struct isa_insn x = *i;

	if (from >= to)
		return (struct access){ 0 };
	x.bytes = to - from;
	return hierarchy_access(&a->mem, &x, from);
}

static void access_by_turns(struct analytic *a, const struct isa_cmd *c)
{
	const struct isa_insn *insns = &a->p->insns[c->first_insn];

	for (uint64_t s = 0; s < SLICES; s++)
		for (uint32_t n = 0; n < c->n_insns; n++) {
			struct access x;

			if (!by_turns(c, &insns[n]))
				continue;
			x = access_slice(a, &insns[n], s);
			if (a->access[n].bytes)
				hierarchy_add(&a->access[n], &x);
			else
				a->access[n] = x;
		}
}

/* The innermost loop that repeats a move: it goes over no dimension of the operand, and its tiles do not stay through it. */
static int repeats(const struct isa_cmd *c, const struct isa_insn *i)
{
	for (int l = ISA_LOOPS - 1; l >= 0; l--)
		if (c->trips[l] > 1 && !i->step[l] && !(i->stays >> l & 1))
			return l;
	return -1;
}

/* Distinct bytes that pass the levels in one round of a loop: a tile's of each operand that does not stay through it, as often
 * as loops inside go on to another. */
static uint64_t passing(const struct analytic *a, const struct isa_cmd *c, int loop)
{
	uint64_t all = 0;

	for (uint32_t n = 0; n < c->n_insns; n++) {
		const struct isa_insn *i = &a->p->insns[c->first_insn + n];
		uint64_t bytes = i->tile_bytes;

		if (!isa_is_move(i) || i->when != ISA_TILE || i->stays >> loop & 1 || i->src == i->dst ||
		    (i->pinned && a->pinned[i->tensor]))
			continue;
		for (int l = loop + 1; l < ISA_LOOPS; l++)
			bytes *= i->step[l] ? c->trips[l] : 1;
		all += ps_min(bytes, i->bytes);
	}
	return all;
}

/* The bytes of one more round of a move, of so many: what passes between two uses of a tile tells what of it is lost. */
static void access_again(struct analytic *a, const struct isa_cmd *c, uint32_t n, uint64_t more,
                         const uint32_t *const *picks)
{
	const struct isa_insn *i = &a->p->insns[c->first_insn + n];
	const struct isa_tensor *t = &a->p->tensors[i->tensor];
	const uint64_t addr = t->addr + i->offset + (i->route >= 0 ? t->stride * picks[i->route][i->slot] : 0);

	a->again[n] = hierarchy_again(&a->mem, i, addr, more, passing(a, c, repeats(c, i)));
}

/* Finds the bytes of a phase's moves, in the order they are made: the whole of each, then of those that move again. */
static void access_phase(struct analytic *a, const struct isa_cmd *c, enum isa_when when, const uint32_t *const *picks)
{
	const struct isa_insn *insns = &a->p->insns[c->first_insn];
	const bool turns = when == ISA_TILE && fills_by_turns(a, c);

	for (uint32_t n = 0; n < c->n_insns; n++) {
		const struct isa_insn *i = &insns[n];

		if (!isa_is_move(i) || i->when != when)
			continue;
		a->access[n] = a->again[n] = (struct access){ 0 };
		if (!(turns && by_turns(c, i)) && !moves_nothing(a, c, i))
			a->access[n] = access_of(a, i, picks);
	}
	if (turns)
		access_by_turns(a, c);
	for (uint32_t n = 0; n < c->n_insns && when == ISA_TILE; n++)
		if (isa_is_move(&insns[n]) && insns[n].when == when && a->access[n].bytes && rounds(c, &insns[n]) > 1)
			access_again(a, c, n, rounds(c, &insns[n]) - 1, picks);
}

static void access_all(struct analytic *a, const struct isa_cmd *c, const uint32_t *const *picks)
{
	const struct isa_insn *insns = &a->p->insns[c->first_insn];

	for (uint32_t n = 0; n < c->n_insns; n++)
		if (!isa_is_move(&insns[n]) && insns[n].pinned) /* math that its tensor needed once: done before */
			a->access[n].bytes = a->pinned[insns[n].tensor];
	for (int when = ISA_PRE; when <= ISA_POST; when++)
		access_phase(a, c, (enum isa_when)when, picks);
	for (uint32_t n = 0; n < c->n_insns; n++)
		if (insns[n].pinned)
			a->pinned[insns[n].tensor] = 1;
}

void analytic_warm(struct analytic *a, const uint32_t *const *picks)
{
	for (size_t k = 0; k < a->p->n_cmds; k++)
		access_all(a, &a->p->cmds[k], picks);
	hierarchy_update_levels(&a->mem);
}

/* --- SRAM -------------------------------------------------------------------------------------------------- */

static int stuck(uint64_t bytes, struct err *e)
{
	return err_set(e, ERR_STUCK, "the machine is stuck: %llu bytes of SRAM are more than it has",
	               (unsigned long long)bytes);
}

/* SRAM is given back; nearly always the last so far. */
static inline void analytic_release(struct analytic *a, ps_t when, uint64_t bytes)
{
	const uint32_t mask = a->mask, first = a->first;
	struct release *all = a->releases;
	uint32_t i = a->end++;

	for (; i != first && all[(i - 1) & mask].when > when; i--)
		all[i & mask] = all[(i - 1) & mask];
	all[i & mask].when = when;
	all[i & mask].bytes = bytes;
}

/* Takes SRAM: the first moment from `a->admitted` on when there is room; moves `admitted` there. */
static inline int reserve(struct analytic *a, uint64_t bytes, struct err *e)
{
	const uint64_t most = a->sram - bytes;
	const uint32_t end = a->end, mask = a->mask;
	const struct release *all = a->releases;
	uint64_t used = a->used;
	ps_t at = a->admitted;
	uint32_t first = a->first;

	for (; first != end; first++) {
		const struct release *g = &all[first & mask];

		if (g->when > at) {
			if (used <= most)
				break;
			at = g->when;
		}
		used -= g->bytes;
	}
	a->first = first;
	a->admitted = at;
	a->used = used + bytes;
	return bytes <= a->sram && used <= most ? 0 : stuck(bytes, e);
}

/* --- a command --------------------------------------------------------------------------------------------- */

enum sort { LOADS, MATH, STORES, SORTS };

/* A command on its way; `order` lists its instructions by phase and sort: those of ISA_PRE's loads are the first. */
struct flight {
	const struct isa_cmd *c;
	const struct isa_insn *insns;
	struct core_account *acc;
	const uint32_t *order;
	uint32_t first[3 * SORTS + 1];
	ps_t ready, decided;
};

static enum sort sort_of(const struct isa_insn *i)
{
	return i->code == ISA_LOAD ? LOADS : i->code == ISA_STORE ? STORES : MATH;
}

static void sort_insns(struct analytic *a, struct flight *x)
{
	uint32_t at[3 * SORTS] = { 0 };

	for (uint32_t n = 0; n < x->c->n_insns; n++)
		at[x->insns[n].when * SORTS + sort_of(&x->insns[n])]++;
	for (int i = 0; i < 3 * SORTS; i++) {
		x->first[i + 1] = x->first[i] + at[i];
		at[i] = x->first[i];
	}
	for (uint32_t n = 0; n < x->c->n_insns; n++)
		a->order[at[x->insns[n].when * SORTS + sort_of(&x->insns[n])]++] = n;
	x->order = a->order;
}

#define EACH(n, x, when, sort) \
	for (const uint32_t *n = (x)->order + (x)->first[(when)*SORTS + (sort)], \
	                    *n##_end = (x)->order + (x)->first[(when)*SORTS + (sort) + 1]; \
	     n < n##_end; n++)

static bool analytic_has(const struct flight *x, enum isa_when when, enum sort sort)
{
	return x->first[when * SORTS + sort] < x->first[when * SORTS + sort + 1];
}

static void explain_math(const struct analytic *a, const struct flight *x, enum isa_when when, enum res none,
                         ps_t until)
{
	const struct isa_insn *best = NULL;

	if (a->repeat)
		return;
	EACH(n, x, when, MATH)
	if (!best || x->insns[*n].span >= best->span)
		best = &x->insns[*n];
	core_explain_math(x->acc, until, best ? (enum res)best->unit : none, best ? best->idle : 0);
}

/* Math of a phase, one after the other, each when its unit is free; returns when it ends. */
static inline ps_t math(struct analytic *a, const struct flight *x, enum isa_when when, uint32_t tile, ps_t at)
{
	const struct isa_rounds r = isa_rounds_of(x->c, tile);
	ps_t sync = when == ISA_TILE && tile && r.nest ? a->c->dma.sync : 0;

	EACH(n, x, when, MATH)
	{
		const struct isa_insn *i = &x->insns[*n];
		struct isa_turn y;

		sync = i->code == ISA_SYNC ? 0 : sync;
		if ((when == ISA_TILE && i->stays && !isa_moves_in(x->c, i, &r)) || (i->pinned && a->access[*n].bytes))
			continue;
		y = isa_turn_of(a->p, x->c, i, &r, when == ISA_TILE && tile + 1 == x->c->tiles);
		at = y.latency + (i->code == ISA_SEND && y.span
		                          ? hierarchy_exchange(&a->mem, at, y.span)
		                          : server_book(&a->unit[i->unit], at, sync + y.span).end);
		sync = 0;
		a->unit_busy[i->unit] += y.span;
		a->unit_work[i->unit] += y.work;
		x->acc->busy[i->unit] += y.span;
	}
	return at;
}

/* It has started, or what it is of exists before it does. */
static bool analytic_early(const struct analytic *a, const struct isa_insn *i)
{
	return i->early && a->c->dispatch.prefetch;
}

/* When the loads of a phase may start; those of tiles that wait for what the command depends on start apart (move). */
static ps_t may_load(const struct analytic *a, const struct flight *x, enum isa_when when)
{
	ps_t at = 0;

	EACH(n, x, when, LOADS)
	{
		const struct isa_insn *i = &x->insns[*n];

		if (!analytic_early(a, i) && when == ISA_PRE)
			return x->ready;
		if (i->early && i->route >= 0)
			at = ps_min(x->decided, x->ready);
	}
	return at;
}

/* The transfer of a tile of a command's nth instruction, which has edges. */
static struct transfer *at_edge(const struct analytic *a, uint32_t n, bool again, unsigned edge)
{
	return &a->at_edge[((size_t)n * 2 + again) * EDGES + edge];
}

/* The same of the tile at hand; where that begins. */
static const struct transfer *uneven(const struct analytic *a, const struct flight *x, uint32_t n,
                                     const struct isa_rounds *r, bool again, uint64_t *from)
{
	const struct isa_remainders *e = &a->p->edges[x->insns[n].edges - 1];
	const unsigned edge = isa_edge_at(x->c, r, e->loops);

	*from = isa_edge_from(&e->at[edge], r);
	return at_edge(a, n, again, edge);
}

static bool moved_before(const struct isa_insn *i, const struct isa_rounds *r)
{
	for (int l = 0; l < ISA_LOOPS; l++)
		if (!i->step[l] && !(i->stays >> l & 1) && r->at[l])
			return true;
	return false;
}

/* A move, of a tile or of none: of which access, from where on, as which transfer. */
struct move {
	const struct access *access;
	const struct transfer *t;
	uint64_t from;
};

static inline struct move move_of(const struct analytic *a, const struct flight *x, uint32_t n,
                                  const struct isa_rounds *r, bool tiled)
{
	const struct isa_insn *i = &x->insns[n];
	const bool again = tiled && a->again[n].bytes && moved_before(i, r);
	struct move m = { again ? &a->again[n] : &a->access[n], again ? &a->transfer_again[n] : &a->transfer[n],
		          tiled ? isa_tile_from(i, r) : 0 };

	if (i->edges)
		m.t = uneven(a, x, n, r, again, &m.from);
	return m;
}

/* The loads or stores of a phase, one tile's; returns when the last is done. */
static inline ps_t analytic_move(struct analytic *a, const struct flight *x, enum isa_when when, enum sort sort,
                                 uint32_t tile, ps_t at, struct core_move *slowest)
{
	const struct isa_rounds r = isa_rounds_of(x->c, tile);
	struct core_move other, *s = slowest;
	ps_t end = at;

	EACH(n, x, when, sort)
	{
		const struct isa_insn *i = &x->insns[*n];
		const bool tiled = when == ISA_TILE;
		const struct move m = move_of(a, x, *n, &r, tiled);
		const uint64_t left = m.access->bytes > m.from ? m.access->bytes - m.from : 0;
		const struct transfer *t = m.t;
		const ps_t mine = sort == LOADS && !analytic_early(a, i) ? ps_max(at, x->ready) : at;
		struct transfer last;
		ps_t done;

		if (!left || (tiled && !isa_moves_in(x->c, i, &r)))
			continue;
		if (left < t->bytes || hierarchy_cut(m.access)) {
			const struct isa_piece y = isa_piece_of(a->p, x->c, i, &r);
			const uint64_t bytes = ps_min(left, t->bytes);

			last = hierarchy_transfer(&a->mem, m.access, m.from, bytes, isa_share(y.share, bytes, y.bytes));
			t = &last;
		}
		done = hierarchy_move(&a->mem, m.access, t, mine, mine >= x->ready, m.from && m.from == a->end_of[*n],
		                      s);
		a->end_of[*n] = m.from + t->bytes;
		x->acc->mem_bytes += t->bytes;
		end = ps_max(end, done);
		if (s == slowest)
			s = &other;
		else if (done >= slowest->done)
			*slowest = other;
	}
	if (s == slowest) /* nothing to move */
		*slowest = (struct core_move){ 0, 0 };
	return end;
}

/* A step's moves: `from` is when its window begins, the tile before in a stream. */
static void analytic_explain(const struct analytic *a, const struct flight *x, const struct core_move *m, ps_t from)
{
	struct core_use u;

	if (m->done <= x->acc->mark || a->repeat)
		return;
	u = hierarchy_use(&a->mem, m, from);
	core_explain_move(x->acc, m, &u);
}

#define REPEATS_LEAST 4 /* tiles that it is worth while to look for a repetition for */

/* How many tiles behind this one, in a row, differ from it in nothing but in the bytes that they are of. */
static uint32_t tiles_alike(const struct analytic *a, const struct flight *x, uint32_t tile)
{
	const struct isa_cmd *c = x->c;
	struct isa_rounds r = isa_rounds_of(c, tile);
	int l = r.nest ? ISA_LOOPS - 1 : 0;
	uint32_t trips, n;

	while (l > 0 && c->trips[l] == 1)
		l--;
	trips = r.nest ? c->trips[l] : c->tiles;
	if (r.at[l] < 1 || r.at[l] + 2 + REPEATS_LEAST > trips)
		return 0;
	n = trips - 2 - r.at[l];
	r.at[l] += n;
	for (uint32_t k = 0; k < c->n_insns; k++) {
		const struct isa_insn *i = &x->insns[k];
		struct move move;

		if (i->when != ISA_TILE)
			continue;
		if (i->stays && (!r.nest || (l == 0 && i->turn)))
			return 0;
		if (!isa_is_move(i) || !a->access[k].bytes || !isa_moves_in(c, i, &r))
			continue;
		move = move_of(a, x, k, &r, true);
		if (move.from + move.t->bytes > move.access->bytes || hierarchy_cut(move.access))
			return 0;
	}
	return n;
}

/* Where transfers of the last of tiles that were taken at once ended. */
static void ended_at(struct analytic *a, const struct flight *x, uint32_t tile)
{
	const struct isa_rounds r = isa_rounds_of(x->c, tile);

	for (uint32_t k = 0; k < x->c->n_insns; k++) {
		const struct isa_insn *i = &x->insns[k];

		if (i->when == ISA_TILE && isa_is_move(i) && isa_moves_in(x->c, i, &r)) {
			const struct move move = move_of(a, x, k, &r, true);

			a->end_of[k] = move.from + move.t->bytes;
		}
	}
}

static struct repeat_loop loop_of(struct analytic *a, uint32_t place, ps_t turn, ps_t over)
{
	return (struct repeat_loop){ .mem = &a->mem,
		                     .unit = a->unit,
		                     .slot = a->slot,
		                     .stages = a->c->dma.stages,
		                     .place = place,
		                     .releases = a->releases,
		                     .first = a->first,
		                     .end = a->end,
		                     .mask = a->mask,
		                     .used = a->used,
		                     .admitted = a->admitted,
		                     .turn = turn,
		                     .over = over };
}

static bool mark_tile(struct analytic *a, uint32_t place, ps_t turn, ps_t over)
{
	const struct repeat_loop l = loop_of(a, place, turn, over);

	return repeat_mark(a->repeat, &l);
}

/* As many of so many tiles as do what the one that was marked did; returns how many those are. */
static uint32_t repeat_tile(struct analytic *a, uint32_t most, uint32_t *place, ps_t *turn, ps_t *over)
{
	struct repeat_loop l = loop_of(a, *place, *turn, *over);
	const uint32_t n = repeat_tiles(a->repeat, &l, most);

	if (!n)
		return 0;
	repeat_take(a->repeat, &l, n);
	a->admitted = l.admitted;
	*place = l.place;
	*turn = l.turn;
	*over = l.over;
	return n;
}

/* The loop over tiles, as arch/npu/core.c pipelines it: returns when the last tile is out of SRAM. */
static int loop(struct analytic *a, const struct flight *x, ps_t pre_done, ps_t *end, struct err *e)
{
	const uint32_t stages = a->c->dma.stages, overlap = x->c->ahead ? 1000000 : a->c->mapping.overlap;
	const bool loads = analytic_has(x, ISA_TILE, LOADS), stores = analytic_has(x, ISA_TILE, STORES);
	const ps_t may = may_load(a, x, ISA_TILE);
	struct core_move s = { 0, 0 };
	ps_t turn = ps_max(x->ready, pre_done), before = 0;
	uint32_t place = 0, alike, look = a->repeat && overlap == 1000000 ? stages : UINT32_MAX;

	for (uint32_t t = 0; t < x->c->tiles; t++) {
		ps_t *slot = &a->slot[place], there, over;

		alike = t < look || a->admitted < ps_max(x->ready, may) ? 0 : tiles_alike(a, x, t);
		if (alike && !mark_tile(a, place, turn, *end))
			alike = 0;
		a->admitted = ps_max(a->admitted, !core_ahead(t, overlap) ? *end : t >= stages ? *slot : 0);
		if (reserve(a, x->c->slot_bytes, e) < 0)
			return -1;
		there = ps_max(a->admitted, may);
		if (loads)
			there = analytic_move(a, x, ISA_TILE, LOADS, t, there, &s);
		turn = ps_max(turn, there);
		over = math(a, x, ISA_TILE, t, turn);
		analytic_explain(a, x, &s, s.asked < before && before < s.done ? before : s.asked);
		explain_math(a, x, ISA_TILE, RES_DMA, over);
		before = s.done ? s.done : before;
		*slot = over;
		if (stores) {
			*slot = analytic_move(a, x, ISA_TILE, STORES, t, over, &s);
			analytic_explain(a, x, &s, s.asked);
		}
		analytic_release(a, *slot, x->c->slot_bytes);
		*end = ps_max(*end, *slot);
		place = place + 1 < stages ? place + 1 : 0;
		if (alike)
			alike = repeat_tile(a, alike, &place, &turn, end);
		if (t >= look)
			look = t + alike + REPEATS_LEAST + (alike ? 0 : t / REPEATS_LEAST);
		t += alike;
		if (alike)
			ended_at(a, x, t);
	}
	a->tiles += x->c->tiles;
	return 0;
}

/* From dispatch to the last store's acknowledgement. */
static int run_cmd(struct analytic *a, struct flight *x, ps_t *done, struct err *e)
{
	struct core_move s;
	ps_t at, end;

	if (reserve(a, x->c->fixed_bytes + x->c->keeps_bytes, e) < 0)
		return -1;
	x->acc->start = a->admitted;
	at = ps_max(a->admitted, may_load(a, x, ISA_PRE));
	at = ps_max(analytic_move(a, x, ISA_PRE, LOADS, 0, at, &s), x->ready);
	analytic_explain(a, x, &s, s.asked);
	at = math(a, x, ISA_PRE, 0, at);
	explain_math(a, x, ISA_PRE, RES_DISPATCH, at);
	end = at;
	if (loop(a, x, at, &end, e) < 0)
		return -1;
	at = math(a, x, ISA_POST, 0, end);
	explain_math(a, x, ISA_POST, RES_DISPATCH, at);
	at = analytic_move(a, x, ISA_POST, STORES, 0, at, &s);
	analytic_explain(a, x, &s, s.asked);
	analytic_release(a, at, x->c->fixed_bytes);
	a->ended = ps_max(a->ended, at);
	if (x->c->frees_bytes)
		analytic_release(a, a->ended, x->c->frees_bytes);
	x->acc->end = *done = at;
	return 0;
}

/* --- the command processor --------------------------------------------------------------------------------- */

static uint64_t tile_of(const struct isa_insn *i, uint64_t bytes)
{
	return i->when == ISA_TILE && i->tile_bytes < bytes ? i->tile_bytes : bytes;
}

static void find_at_edges(struct analytic *a, const struct isa_cmd *c, uint32_t n, const struct access *access,
                          bool again)
{
	const struct isa_remainders *e = &a->p->edges[a->p->insns[c->first_insn + n].edges - 1];

	for (unsigned edge = 0; edge < EDGES; edge++)
		if (!(edge & ~(unsigned)e->loops))
			*at_edge(a, n, again, edge) = hierarchy_transfer(
				&a->mem, access, 0, ps_min(e->at[edge].bytes, access->bytes), e->at[edge].share);
}

/* The first transfer of each of the command's moves; returns what they fetch from DRAM. */
static uint64_t find_transfers(struct analytic *a, const struct isa_cmd *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->n_insns; i++) {
		const struct isa_insn *x = &a->p->insns[c->first_insn + i];
		const struct access *access = &a->access[i];

		if (!isa_is_move(x) || access->bytes == 0)
			continue;
		a->transfer[i] = hierarchy_transfer(&a->mem, access, 0, tile_of(x, access->bytes), x->share);
		n += access->write ? 0 : access->dram;
		if (x->edges)
			find_at_edges(a, c, i, access, false);
		if (a->again[i].bytes == 0)
			continue;
		a->transfer_again[i] =
			hierarchy_transfer(&a->mem, &a->again[i], 0, tile_of(x, access->bytes), x->share);
		if (x->edges)
			find_at_edges(a, c, i, &a->again[i], true);
		n += access->write ? 0 : (rounds(c, x) - 1) * a->again[i].dram;
	}
	return n;
}

static ps_t dispatch(struct analytic *a, uint32_t k, const struct cp_result *results, ps_t before)
{
	const struct dispatch_cfg *d = &a->c->dispatch;
	const struct isa_cmd *c = &a->p->cmds[k];
	ps_t at = ps_max(ps_max(before, a->issue_at), a->host_at);

	if (k >= d->queue)
		at = ps_max(at, results[k - d->queue].retired);
	if (!c->chained && (k + 1 == a->p->n_cmds || a->p->cmds[k + 1].batch != c->batch))
		a->issue_at = at + dispatch_apart(d, isa_dispatches(c));
	a->commands += isa_dispatches(c);
	return at;
}

static ps_t ready_at(const struct analytic *a, uint32_t k, ps_t at)
{
	const struct isa_prog *p = a->p;
	const struct isa_cmd *c = &p->cmds[k];

	for (uint32_t i = 0; i < c->n_deps; i++)
		at = ps_max(at, a->done[p->deps[c->first_dep + i]]);
	if (c->chained)
		return at;
	return at + (k > 0 && p->cmds[k - 1].batch == c->batch ? a->local : dispatch_wait(&a->c->dispatch, c));
}

/* When the command is over, that was dispatched at `began`. */
static ps_t decide(struct analytic *a, const struct isa_cmd *c, struct core_account *acc, ps_t began, ps_t at)
{
	const struct dispatch_cfg *d = &a->c->dispatch;

	if (!c->sync) {
		const ps_t least = c->chained ? 0 : began + d->floor;

		core_explain_time(acc, ps_max(at, least), RES_HOST);
		return ps_max(at, least);
	}
	if (d->dynamic) {
		a->branches++;
		at += d->branch;
	} else {
		a->round_trips++;
		a->host_at = at += d->host;
	}
	core_explain_time(acc, at, d->dynamic ? RES_DISPATCH : RES_HOST);
	return at;
}

static void analytic_begin(struct analytic *a)
{
	hierarchy_begin(&a->mem);
	for (int i = 0; i < RES_COUNT; i++)
		server_clear(&a->unit[i]);
	a->used = a->first = a->end = 0;
	a->admitted = a->ended = a->host_at = 0;
	a->issue_at = a->c->dispatch.launch;
}

int analytic_step(struct analytic *a, const uint32_t *const *picks, struct cp_result *results, struct err *e)
{
	const struct isa_prog *p = a->p;
	ps_t at = 0, front = 0;

	analytic_begin(a);
	for (uint32_t k = 0; k < p->n_cmds; k++) {
		const struct isa_cmd *c = &p->cmds[k];
		struct cp_result *r = &results[k];
		struct flight x = { .c = c, .insns = &p->insns[c->first_insn], .acc = &r->acc };

		memset(r, 0, sizeof *r);
		r->dispatched = at = dispatch(a, k, results, at);
		r->acc.mark = front;
		core_explain_time(&r->acc, at, k > 0 && !p->cmds[k - 1].sync ? RES_DISPATCH : RES_HOST);
		hierarchy_forget(&a->mem, at);
		for (int i = 0; i < RES_COUNT; i++)
			server_forget(&a->unit[i], at);
		a->admitted = ps_max(a->admitted, at);
		x.ready = ready_at(a, k, at);
		x.decided = c->routed_by >= 0 ? a->done[c->routed_by] : 0;
		core_explain_time(&r->acc, x.ready, RES_DISPATCH);
		sort_insns(a, &x);
		access_all(a, c, picks);
		r->acc.dram_bytes = find_transfers(a, c);
		if (run_cmd(a, &x, &a->done[k], e) < 0)
			return err_add(e, "command %u of %zu", k, p->n_cmds);
		a->done[k] = decide(a, c, &r->acc, k ? r->dispatched : 0, a->done[k]);
		r->retired = ps_max(front, a->done[k]);
		r->span = r->retired - front;
		core_explain_time(&r->acc, r->retired, RES_DEPENDENCY);
		if (r->span == 0)
			memset(r->acc.stall, 0, sizeof r->acc.stall);
		front = r->retired;
	}
	hierarchy_over(&a->mem, front);
	hierarchy_update_levels(&a->mem);
	return 0;
}
