/* map_choose.c - the ways to do a command, and the best of them.
 *
 * A product can be streamed: its weights pass once, in tiles of whole grains of one unit or another, with all else loaded
 * before and stored behind. Of a prompt's attention queries and results may come and go with the keys of their heads instead:
 * they hide behind the math of others then, and take less SRAM. Or a product's loops form a nest: the best few by the cost
 * model (map_search.c). Each way is evaluated (map_evaluate.c) and the shortest wins. Commands that look the same are chosen for
 * once. */
#include <stdlib.h>
#include <string.h>

#include "sim/base/ratio.h"
#include "sim/map/map_int.h"

#define TILES_WANTED   8
#define MIN_TILE_BYTES 16384
#define MAX_TILES      (1u << 20)
#define MOST_LARGER    4 /* times dma.tile */
#define HELD_BUFFERS   2 /* of what stays through a loop */

static uint64_t max_tiles_of(const struct op *o, enum map_tiled cuts)
{
	const struct op_traits *t = &op_traits[o->kind];

	if (t->dims == OP_DIMS_PRODUCT && cuts == MAP_DEEP)
		return o->shape.k;
	if (t->dims == OP_DIMS_PRODUCT)
		return (o->shape.batch ? o->shape.batch : 1) * o->shape.n;
	if (t->dims == OP_DIMS_ATTENTION)
		return (o->shape.batch ? o->shape.batch : 1) * (o->shape.kv_heads ? o->shape.kv_heads : 1) *
		       o->shape.kv_len;
	return !t->whole_rows ? MAX_TILES : o->shape.rows ? o->shape.rows : 1;
}

uint64_t map_depth(const struct mapper *m, int unit)
{
	const struct unit_ops *u = unit_table[unit];

	return u->depth && m->unit[unit].cfg->units ? u->depth(&m->unit[unit]) : 1;
}

uint64_t map_grain(const struct mapper *m, int unit)
{
	const struct unit_ops *u = unit_table[unit];

	return u->grain && m->unit[unit].cfg->units ? u->grain(&m->unit[unit]) : 0;
}

/* Rows that tiles of a product are whole multiples of: what its fastest unit computes at a time (a tile of one row more
 * would take twice as long), and any number. Not other units': who is not used is not asked. */
#define GRAINS 2
static int granules(const struct mapper *m, const struct op *main, uint64_t out[GRAINS])
{
	struct map_math x[MAP_MATHS];

	out[0] = out[1] = 1;
	if (!op_is_product(main->kind))
		return 1;
	map_math(m, main, 1, false, x);
	out[0] = ps_max(1, map_grain(m, x[0].unit));
	return out[0] > 1 ? GRAINS : 1;
}

/* What is to be cut into tiles: bytes that stream, into how many parts at the most, and capacity for one of two. */
struct cut {
	uint64_t stream, max_tiles, row_bytes, capacity;
};

/* The trip count: tiles of dma.tile, or TILES_WANTED pieces where that is more, so that loads hide behind math; fewer
 * only where pieces would be tiny, more only where SRAM does not hold two tiles. It does not look at rates or
 * latencies: a faster part does not change the tiling of a unit, so it cannot make a run slower by way of it. */
static uint64_t trips(const struct mapper *m, const struct cut *x, bool product, uint64_t grain, uint64_t larger)
{
	uint64_t rows, tiles = ps_max(ps_min(TILES_WANTED / larger, x->stream / MIN_TILE_BYTES + 1),
	                              div_up(x->stream, m->c->dma.tile * larger));

	if (x->stream > tiles * x->capacity)
		tiles = x->capacity ? div_up(x->stream, x->capacity) : x->stream;
	if (tiles > x->max_tiles)
		tiles = x->max_tiles;
	if (!product)
		return tiles;
	/* Whole granules a tile: rounded up where that leaves enough tiles to overlap and two fit, else down. */
	rows = round_up(div_up(x->max_tiles, tiles), grain);
	if (div_up(x->max_tiles, rows) * 2 < ps_min(tiles, TILES_WANTED) || x->row_bytes * rows > x->capacity)
		rows = ps_min(div_up(x->max_tiles, tiles), x->capacity / x->row_bytes) / grain * grain;
	/* Where not even one granule fits: whole rows still, or tiles would compute more of them than there are. */
	if (!rows)
		rows = ps_max(1, ps_min(div_up(x->max_tiles, tiles), x->capacity / x->row_bytes));
	return div_up(x->max_tiles, rows);
}

/* Bytes of a full tile of what streams: of a product as many rows as its math has, so that the last takes the rest of
 * both. */
static uint64_t full_tile(const struct op *main, enum map_tiled cuts, uint64_t bytes, uint64_t tiles)
{
	const uint64_t rows = max_tiles_of(main, cuts), one = div_up(rows, tiles);

	if (!op_is_product(main->kind))
		return div_up(bytes, tiles);
	return map_rows_bytes(bytes, one, rows);
}

/* Rows, columns or keys, and depth of a full tile of what streams. */
static struct tile {
	uint64_t mnk[3];
} tile_of(const struct op *main, enum map_tiled cuts, uint64_t tiles)
{
	const struct op_shape *s = &main->shape;
	const uint64_t kv_heads = s->kv_heads ? s->kv_heads : 1, one = div_up(max_tiles_of(main, cuts), tiles);

	if (main->kind == OP_ATTENTION)
		return (struct tile){ { s->q_len * ps_max(1, s->heads / kv_heads), one, s->head_dim } };
	return cuts == MAP_DEEP ? (struct tile){ { s->m, s->n, one } } : (struct tile){ { s->m, one, s->k } };
}

/* Of the product, and of those that are joined to it (map_horizontal.c). */
static void spread_moves(const struct mapper *m, struct map_candidate *d, const struct op *main, enum map_tiled cuts,
                         const struct unit_split *s)
{
	map_partition_moves(m, d, main, s, tile_of(main, cuts, d->tiles).mnk);
	for (uint32_t i = 0; i < d->n; i++) {
		const struct op *o = &m->s->ops[d->insn[i].op];

		if (d->insn[i].when == ISA_TILE && d->insn[i].code == ISA_LOAD && o->id != main->id &&
		    op_is_product(o->kind))
			map_partition_moves(m, d, o, s, tile_of(o, cuts, d->tiles).mnk);
	}
}

/* Of an attention's keys and values, or a product's weights. */
static uint64_t padding(const struct op *main, enum map_tiled cuts, uint64_t tiles, const struct unit_plan *p)
{
	if (!op_is_product(main->kind))
		return 0;
	return map_padding(p, tile_of(main, cuts, tiles).mnk[1]) * (main->kind == OP_ATTENTION ? 2 : 1);
}

/* --- weights that a router picks --------------------------------------------------------------------------- */

/* A pick's weights, of a product that streams those of several. */
static bool is_pick(const struct op *main, const struct isa_insn *x)
{
	return x->when == ISA_TILE && x->code == ISA_LOAD && x->op == main->id && x->route >= 0;
}

/* How many picks a product has, all alike; 0: fewer than two, or something else comes tile by tile, too. */
static uint32_t picks_of(const struct map_candidate *d, const struct op *main, enum map_tiled cuts)
{
	const struct isa_insn *first = NULL;
	uint32_t n = 0;

	if (main->kind != OP_GEMM || cuts != MAP_STREAMED)
		return 0;
	for (uint32_t i = 0; i < d->n; i++) {
		const struct isa_insn *x = &d->insn[i];

		if (!isa_is_move(x) || x->when != ISA_TILE)
			continue;
		if (!is_pick(main, x) || (first && (x->bytes != first->bytes || x->tensor != first->tensor)))
			return 0;
		first = first ? first : x;
		n++;
	}
	return n > 1 && n == main->shape.batch ? n : 0;
}

/* Whole tiles of each pick: as many as make up so many tiles at the least. */
static uint64_t whole_picks(const struct map_candidate *d, const struct op *main, enum map_tiled cuts, uint64_t grain,
                            uint64_t tiles)
{
	const uint64_t n = picks_of(d, main, cuts);
	uint64_t rows;

	if (!n || !tiles)
		return tiles;
	rows = div_up(main->shape.n, div_up(tiles, n));
	if (rows > grain && rows % grain)
		rows -= rows % grain;
	return n * div_up(main->shape.n, rows);
}

/* One pick after the other, each in as many tiles. */
static void take_turns(struct map_candidate *d, const struct op *main, uint32_t picks, uint64_t tiles)
{
	uint32_t n = 0;

	d->trips[0] = picks, d->trips[1] = (uint32_t)(tiles / picks), d->trips[2] = 1;
	for (uint32_t i = 0; i < d->n; i++) {
		struct isa_insn *x = &d->insn[i];

		if (!is_pick(main, x))
			continue;
		x->turn = n++;
		x->stays = 1;
		x->step[0] = 0;
		x->step[1] = 1;
	}
}

/* False: not even one tile fits. */
static bool cut_into(const struct mapper *m, struct map_candidate *d, const struct op *main, enum map_tiled cuts,
                     uint64_t tiles)
{
	struct map_math math[MAP_MATHS];
	const int n_math = map_tile_math(m, main, cuts, tiles, false, math);
	const uint32_t picks = picks_of(d, main, cuts);
	const bool turns = picks && tiles % picks == 0;

	d->tiles = (uint32_t)tiles;
	d->slot_bytes = 0;
	for (uint32_t i = 0; i < d->n; i++) {
		struct isa_insn *y = &d->insn[i];

		if (y->when == ISA_TILE) {
			y->tile_bytes = full_tile(main, cuts, turns ? y->bytes * picks : y->bytes, tiles);
			d->slot_bytes = turns ? y->tile_bytes : d->slot_bytes + y->tile_bytes;
		}
	}
	if (turns)
		take_turns(d, main, picks, tiles);
	if (op_is_product(main->kind))
		spread_moves(m, d, main, cuts, &math[0].plan.split);
	d->slot_bytes += padding(main, cuts, tiles, &math[0].plan);
	if (d->fixed_bytes > m->sram || d->slot_bytes > m->sram - d->fixed_bytes)
		return false;
	d->predicted = map_predict_stream(m, d, tiles, math, n_math);
	return true;
}

static void add_way(struct map_schedules *w, const struct map_schedule *c)
{
	for (int i = 0; i < w->n; i++)
		if (!w->schedule[i].nest && !c->nest && w->schedule[i].tiles == c->tiles &&
		    w->schedule[i].by_head == c->by_head)
			return;
	w->schedule[w->n++] = *c;
}

/* SRAM of what does not stream, as a product in one piece has it in its cores. */
static uint64_t held_bytes(const struct mapper *m, struct map_candidate *d, const struct op *main, enum map_tiled cuts)
{
	struct map_math x[MAP_MATHS];
	struct map_candidate t;

	if (!op_is_product(main->kind))
		return d->fixed_bytes;
	map_candidate_copy(&t, d);
	map_math(m, main, 1, false, x);
	map_partition_moves(m, &t, main, &x[0].plan.split, tile_of(main, cuts, 1).mnk);
	return t.fixed_bytes;
}

/* Of a prompt's attention, rounds of as many heads, and of as many tiles: as many as there can be. */
static uint64_t rounds_of_heads(const struct op *main, uint64_t tiles)
{
	const struct op_shape *s = &main->shape;

	if (main->kind != OP_ATTENTION || s->q_len < 2)
		return 1;
	return ratio_common(ps_max(1, s->batch) * ps_max(1, s->kv_heads), tiles);
}

/* Queries come with the first keys of their heads, and results go with the last. False: cores add up what is stored, behind the
 * loop. */
static bool by_head(const struct mapper *m, struct map_candidate *d, const struct op *main)
{
	const uint32_t rounds = (uint32_t)rounds_of_heads(main, d->tiles), each = d->tiles / rounds;

	d->trips[0] = rounds, d->trips[1] = each, d->trips[2] = 1;
	for (uint32_t i = 0; i < d->n; i++) {
		struct isa_insn *x = &d->insn[i];
		const uint64_t held = x->share ? x->share * m->c->cores : x->bytes;

		if (x->code == ISA_SEND)
			return false;
		if (!isa_is_move(x))
			continue;
		x->step[0] = x->when == ISA_TILE ? each : 1;
		x->step[1] = x->when == ISA_TILE;
		if (x->when == ISA_TILE)
			continue;
		x->when = ISA_TILE;
		x->stays = 1 << 1 | 1 << 2;
		x->tile_bytes = div_up(x->bytes, rounds);
		x->share = div_up(x->share, rounds);
		d->fixed_bytes -= held - ps_min(held, HELD_BUFFERS * div_up(held, rounds));
	}
	return true;
}

#define FEWEST 2 /* numbers of rounds that are tried */

/* Of a product whose weights stay where they are multiplied nothing comes tile by tile: the fewest rounds that SRAM has capacity for,
 * for what cores have of rows and results hangs on how wide one is. */
static void held_ways(const struct mapper *m, const struct map_candidate *d, const struct op *main, enum map_tiled cuts,
                      uint64_t most, struct map_schedules *w)
{
	struct map_candidate t;

	for (uint64_t n = 1, found = 0; n <= most && found < FEWEST; n *= 2) {
		map_candidate_copy(&t, d);
		if (!cut_into(m, &t, main, cuts, n))
			continue;
		add_way(w, &(struct map_schedule){ .tiles = n });
		found++;
	}
}

/* Streamed, in tiles that suit one unit or another, and in fewer. */
static void stream_ways(const struct mapper *m, struct map_candidate *d, const struct op *main, enum map_tiled cuts,
                        struct map_schedules *w)
{
	const uint64_t stream = map_bytes(d, ISA_LOAD, ISA_TILE) + map_bytes(d, ISA_STORE, ISA_TILE),
		       max_tiles = max_tiles_of(main, cuts);
	const bool product = op_is_product(main->kind) && cuts != MAP_DEEP;
	const uint64_t held = ps_min(m->sram, held_bytes(m, d, main, cuts)), capacity = m->sram - held;
	const struct cut x = { stream, max_tiles, ps_max(1, div_up(stream, max_tiles)), capacity / 2 };
	uint64_t grains[GRAINS];

	if (op_is_product(main->kind) && !stream) {
		held_ways(m, d, main, cuts, max_tiles, w);
		return;
	}
	for (int n = granules(m, main, grains), i = 0; i < n; i++) {
		for (uint64_t larger = 1; larger <= (product && i == 0 ? MOST_LARGER : 1); larger *= 2) {
			const uint64_t tiles =
				whole_picks(d, main, cuts, grains[i], trips(m, &x, product, grains[i], larger));

			if (tiles && div_up(stream, tiles) <= capacity)
				add_way(w, &(struct map_schedule){ .tiles = tiles });
			if (!tiles || div_up(stream, tiles) > capacity)
				continue;
			/* Their ends are not hidden: in smaller tiles, too. */
			for (uint64_t n = tiles; n <= (larger == 1 ? 2 : 1) * tiles; n += tiles)
				if (rounds_of_heads(main, n) > 1)
					add_way(w, &(struct map_schedule){ .tiles = n, .by_head = true });
		}
	}
}

/* At a start with operands on chip also what is best where they come from memory: it is no slower then, and where an operand
 * has no capacity on chip it may be better. */
static void add_nests(const struct mapper *m, struct map_candidate *t, const struct op *main,
                      const struct map_constraints *how, struct map_schedules *w)
{
	const uint32_t slots = w->n ? 2 : 1;
	struct map_nest nests[MAP_NESTS];
	struct mapper far = *m;
	int n = map_nests(m, t, main, how->c_stays, slots, nests);

	for (int i = 0; i < n; i++)
		add_way(w, &(struct map_schedule){ .nest = true, .loops = nests[i] });
	if (m->start != MAP_RESIDENT)
		return;
	far.start = MAP_COLD;
	far.far[0] = far.far[1] = 1;
	n = map_nests(&far, t, main, how->c_stays, slots, nests);
	for (int i = 0; i < n; i++)
		add_way(w, &(struct map_schedule){ .nest = true, .loops = nests[i] });
}

/* By mapping.policy, the one nest that a rule takes; false: the rule has none, and the product is mapped by search. */
typedef bool rule(const struct mapper *m, const struct map_candidate *d, const struct op *o, struct map_nest *out);
static rule *const rules[MAPPING_POLICY_COUNT] = {
	[MAPPING_COPY_FIRST] = map_nest_preloaded,
};

static bool ruled(const struct mapper *m, const struct map_candidate *t, const struct op *main, struct map_nest *out)
{
	rule *const r = rules[m->c->mapping.policy];

	return r && !map_fixed(m) &&
	       !unit_table[map_product(m, main, main->shape.m, main->shape.n, main->shape.k).unit]->last_resort &&
	       r(m, t, main, out);
}

/* All that SRAM has capacity for. */
static void find_ways(const struct mapper *m, struct map_candidate *t, const struct op *main,
                      const struct map_constraints *how, struct map_schedules *w)
{
	struct map_nest only;

	w->n = 0;
	if (how->may_nest && ruled(m, t, main, &only)) {
		add_way(w, &(struct map_schedule){ .nest = true, .loops = only });
		return;
	}
	if (t->fixed_bytes <= m->sram && !(how->may_nest && map_fixed(m)))
		stream_ways(m, t, main, how->cuts, w);
	if (!how->may_nest || (w->n && m->c->mapping.loops == MAPPING_STREAM))
		return;
	add_nests(m, t, main, how, w);
}

static bool map_choose_take(const struct mapper *m, struct map_candidate *d, const struct op *main,
                            const struct map_constraints *how, const struct map_schedule *c)
{
	const struct map_schedule all = {
		.nest = c->nest, .tiles = c->tiles, .by_head = c->by_head, .loops = c->loops
	};

	if (c->cores) {
		const uint32_t before = d->n;

		if (!map_subset(m, c->cores) || !map_choose_take(map_subset(m, c->cores), d, main, how, &all))
			return false;
		map_subset_idle(m, d, before, c->cores);
		return true;
	}
	if (c->nest)
		return map_nest_take(m, d, main, &c->loops);
	if (!cut_into(m, d, main, how->cuts, c->tiles))
		return false;
	map_emit_math(m, d, main, how->cuts, ISA_TILE, c->tiles);
	return !c->by_head || by_head(m, d, main);
}

/* One more that was tried. */
static void log_schedule(struct map_log *to, const struct map_candidate *d, const struct op *main,
                         const struct map_schedule *c, const struct map_score *x)
{
	struct map_log_entry *t = &to->entry[to->n++];
	const uint64_t m = main->kind == OP_ATTENTION ? main->shape.q_len : main->shape.m,
		       n = main->kind == OP_ATTENTION ? main->shape.kv_len : main->shape.n;
	double moved = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (isa_is_move(&d->insn[i]))
			moved += map_moved(d, &d->insn[i]);
	*t = (struct map_log_entry){ .why = d->why,
		                     .nest = c->nest,
		                     .tile = { m, c->nest ? 0 : div_up(n, c->tiles), main->shape.k },
		                     .tiles = d->tiles,
		                     .slot_bytes = d->slot_bytes,
		                     .held_bytes = d->fixed_bytes,
		                     .moved_bytes = (uint64_t)moved,
		                     .form = d->predicted,
		                     .cold = x->cold,
		                     .warm = x->warm };
	for (int i = 0; c->nest && i < MAP_DIMS; i++) {
		t->tile[i] = c->loops.tile[i];
		t->order[i] = "mnk"[c->loops.loop[i]];
		if (c->loops.resident[i])
			t->stays[strlen(t->stays)] = "abc"[i];
	}
}

static int map_choose_by_time(const void *a, const void *b)
{
	const struct map_log_entry *x = a, *y = b;
	const double p = (double)x->cold * (double)x->warm, q = (double)y->cold * (double)y->warm;

	return x->chosen != y->chosen ? (x->chosen ? -1 : 1) : (p > q) - (p < q);
}

static void best_first(struct map_log *t, int chosen)
{
	t->entry[chosen].chosen = true;
	qsort(t->entry, (size_t)t->n, sizeof *t->entry, map_choose_by_time);
}

/* False: there is none. `least`: what it is worth; below 0: there was nothing to compare it with. */
static bool best_way(const struct mapper *m, const struct map_candidate *d, const struct op *main,
                     const struct map_constraints *how, struct map_schedule *best, double *least)
{
	struct map_schedules w;
	struct map_candidate t;
	const bool logged = m->log && m->log->op == main->id;
	bool found = false;
	int chosen = 0;

	*least = -1;
	if (logged)
		m->log->n = 0;
	map_candidate_copy(&t, d);
	find_ways(m, &t, main, how, &w);
	if (w.n == 1 && !logged)
		*best = w.schedule[0];
	for (int i = 0; (w.n > 1 || logged) && i < w.n; i++) {
		struct map_score x;

		map_candidate_copy(&t, d);
		if (!map_choose_take(m, &t, main, how, &w.schedule[i]))
			continue;
		x = map_evaluate(m, &t);
		if (logged)
			log_schedule(m->log, &t, main, &w.schedule[i], &x);
		if (!found || x.worth < *least) {
			found = true;
			chosen = logged ? m->log->n - 1 : 0;
			*least = x.worth;
			*best = w.schedule[i];
		}
	}
	if (logged && found)
		best_first(m->log, chosen);
	return found || (w.n == 1 && !logged);
}

/* The way on fewer cores that was chosen, before those on all of them. */
static void log_subset(const struct mapper *m, const struct map_candidate *d, const struct op *main,
                       const struct map_constraints *how, const struct map_schedule *c)
{
	struct map_log *to = m->log;
	struct map_score x;
	struct map_candidate t;

	map_candidate_copy(&t, d);
	if (!map_choose_take(m, &t, main, how, c))
		return;
	x = map_evaluate(m, &t);
	for (int i = 0; i < to->n; i++)
		to->entry[i].chosen = false;
	to->n -= to->n == MAP_LOG_ENTRIES;
	log_schedule(to, &t, main, c, &x);
	best_first(to, to->n - 1);
}

/* The best way, on all cores or on fewer. */
static bool best_of_all(const struct mapper *m, const struct map_candidate *d, const struct op *main,
                        const struct map_constraints *how, struct map_schedule *best)
{
	struct map_schedule c;
	struct map_candidate t;
	uint32_t cores[MAP_SUBSETS];
	struct map_score x;
	double least;
	int n;

	if (!best_way(m, d, main, how, best, &least))
		return false;
	map_candidate_copy(&t, d);
	if (!m->evaluator || !map_choose_take(m, &t, main, how, best) || !(n = map_subset_cores(m, &t, cores)))
		return true;
	c = *best;
	if (least < 0)
		least = map_evaluate(m, &t).worth;
	for (int i = 0; i < n; i++) {
		c.cores = cores[i];
		map_candidate_copy(&t, d);
		if (!map_choose_take(m, &t, main, how, &c))
			continue;
		x = map_evaluate(m, &t);
		if (x.worth >= least)
			continue;
		least = x.worth;
		best->cores = cores[i];
	}
	if (best->cores && m->log && m->log->op == main->id)
		log_subset(m, d, main, how, best);
	return true;
}

struct map_schedule map_schedule_narrowed(const struct map_schedule *c, const struct op *of, const struct op *to,
                                          bool as_rounds)
{
	const uint64_t one = div_up(max_tiles_of(of, MAP_STREAMED), c->tiles), rounds = rounds_of_heads(of, c->tiles),
		       each = c->tiles / rounds * to->shape.kv_len;
	struct map_schedule x = *c;

	x.tiles = as_rounds ? rounds * div_up(each, of->shape.kv_len) : div_up(max_tiles_of(to, MAP_STREAMED), one);
	x.by_head = c->by_head && rounds_of_heads(to, x.tiles) > 1;
	return x;
}

bool map_choose(const struct mapper *m, struct map_candidate *d, const struct op *main,
                const struct map_constraints *how, struct map_schedule *chosen)
{
	const uint64_t key = map_key(m, d, main, how);
	const struct map_schedule *known = NULL;
	struct map_schedule c;

	if (how->like) {
		c = *how->like;
	} else if (!(m->log && m->log->op == main->id) && (known = map_memo_find(m->memo, MAP_MEMO_CHOICE, key))) {
		c = *known;
	} else {
		if (!best_of_all(m, d, main, how, &c))
			return false;
		map_memo_put(m->memo, MAP_MEMO_CHOICE, key, &c);
	}
	*chosen = c;
	return map_choose_take(m, d, main, how, &c);
}
