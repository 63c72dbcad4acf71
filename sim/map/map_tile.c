#include "sim/map/map_int.h"

#include <string.h>

#define TILES_WANTED   8
#define MIN_TILE_BYTES 16384
#define MAX_TILES      (1u << 20)
#define MAX_INSNS      (sizeof(((struct map_draft *)0)->insn) / sizeof(struct isa_insn))
#define CLEARLY        20 /* by a twentieth: what predictions are off by */

/* Which operands of a member are cut into tiles: none (it is fused around a product, or in a chain), what streams()
 * says, of a product the left one too (then tiles are pieces of k), or all, where the others do not fit. */
enum cuts { CUT_NONE, CUT_STREAMS, CUT_DEEP, CUT_ALL };

static bool is_product(enum op_kind k)
{
	return k == OP_GEMM || k == OP_ATTENTION;
}

static const struct op_operand *operand(const struct mapper *m, const struct op *o, uint32_t i)
{
	return &m->s->operands[o->first_operand + i];
}

static struct isa_insn *add(struct map_draft *d)
{
	static const struct isa_insn none = { 0 };

	if (d->n == MAX_INSNS) {
		d->overflow = true;
		return &d->insn[MAX_INSNS - 1];
	}
	d->insn[d->n] = none;
	return &d->insn[d->n++];
}

static bool written_in(const struct mapper *m, uint32_t first, uint32_t end, uint32_t tensor)
{
	for (uint32_t i = first; i < end; i++)
		for (uint32_t k = 0; k < m->s->ops[i].n_operands; k++) {
			const struct op_operand *x = operand(m, &m->s->ops[i], k);

			if (x->write && x->tensor == tensor)
				return true;
		}
	return false;
}

static bool read_in(const struct mapper *m, uint32_t first, uint32_t end, uint32_t tensor)
{
	for (uint32_t i = first; i < end; i++)
		for (uint32_t k = 0; k < m->s->ops[i].n_operands; k++) {
			const struct op_operand *x = operand(m, &m->s->ops[i], k);

			if (!x->write && x->tensor == tensor)
				return true;
		}
	return false;
}

static bool loaded(const struct map_draft *d, const struct op_operand *x)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->insn[i].code == ISA_LOAD && d->insn[i].tensor == x->tensor && d->insn[i].slot == x->slot)
			return true;
	return false;
}

static void move(const struct mapper *m, struct map_draft *d, const struct op *o, const struct op_operand *x,
                 enum isa_when when)
{
	const struct op_tensor *t = &m->s->tensors[x->tensor];
	struct isa_insn *i = add(d);

	i->code = x->write ? ISA_STORE : ISA_LOAD;
	i->when = (uint8_t)when;
	i->unit = RES_DMA;
	i->src = x->write ? ISA_SRAM : ISA_MEM;
	i->dst = x->write ? ISA_MEM : ISA_SRAM;
	i->cls = (uint8_t)t->role;
	i->dtype = (uint8_t)t->dtype;
	i->op = o->id;
	i->tensor = x->tensor;
	i->slot = x->slot;
	/* The op's own router: in a range of several steps each has one, over the same weights. */
	i->route = t->route >= 0 ? (o->routed_by >= 0 ? o->routed_by : t->route) : -1;
	i->offset = map_stored_bytes(m, x->tensor, x->offset);
	i->bytes = map_stored_bytes(m, x->tensor, x->touched);
	i->early = !x->write && t->external && m->first_write[x->tensor] >= o->id;
	i->pinned = !x->write && m->pinned[x->tensor];
}

/* Math of one of the pieces of k that a product is cut into. */
static int deep_math(const struct mapper *m, const struct op *o, uint64_t tiles, bool last, struct map_math out[2])
{
	struct op part = *o;
	uint64_t each = div_up(o->shape.k, tiles), before = each * (tiles - 1);

	part.shape.k = !last ? each : o->shape.k > before ? o->shape.k - before : 1;
	return map_math(m, &part, 1, last, out);
}

/* Math of a tile: a part of the columns or the elements, or of a product that is cut deep, of k. */
static int tile_math(const struct mapper *m, const struct op *o, enum cuts cuts, uint64_t tiles, bool last,
                     struct map_math out[2])
{
	return cuts == CUT_DEEP ? deep_math(m, o, tiles, last, out) : map_math(m, o, tiles, last, out);
}

static void math(const struct mapper *m, struct map_draft *d, const struct op *o, enum cuts cuts, enum isa_when when,
                 uint64_t tiles)
{
	struct map_math full[2], last[2];
	int n = tile_math(m, o, cuts, tiles, false, full);

	tile_math(m, o, cuts, tiles, true, last);
	for (int k = 0; k < n; k++) {
		struct isa_insn *i = add(d);

		i->code = (uint8_t)full[k].plan.code;
		i->when = (uint8_t)when;
		i->unit = (uint8_t)unit_table[full[k].unit]->res;
		i->src = i->dst = ISA_SRAM;
		i->dtype = (uint8_t)o->dtype;
		i->op = o->id;
		i->span = full[k].plan.span;
		i->span_last = last[k].plan.span;
		i->work = full[k].plan.work;
		i->work_last = last[k].plan.work;
		i->shape = o->kind == OP_GEMM ? (struct isa_shape){ o->shape.m, div_up(o->shape.n, tiles), o->shape.k }
		           : o->shape.elems   ? (struct isa_shape){ 1, 1, div_up(o->shape.elems, tiles) }
		                              : (struct isa_shape){ 1, o->shape.rows, o->shape.cols };
		if (when == ISA_TILE && k == 0)
			d->why = full[k].plan.why;
	}
}

/* What is streamed tile by tile: a product's weights, attention's keys and values, the large operands of the rest. */
bool map_streams(const struct mapper *m, const struct op *o, uint32_t i)
{
	const struct op_operand *x = operand(m, o, i);
	uint32_t nth = 0;
	uint64_t most = 0;

	for (uint32_t k = 0; k < o->n_operands; k++) {
		if (k < i && !operand(m, o, k)->write)
			nth++;
		if (operand(m, o, k)->touched > most)
			most = operand(m, o, k)->touched;
	}
	switch (o->kind) {
	case OP_GEMM:
		return !x->write && nth == 1;
	case OP_ATTENTION:
		return !x->write && (nth == 1 || nth == 2);
	case OP_REDUCE:
	case OP_SOFTMAX:
	case OP_NORM:
	case OP_TOPK:
	case OP_SORT:
	case OP_SCAN:
		return x->touched * 8 >= most &&
		       (!x->write || o->kind == OP_SOFTMAX || o->kind == OP_NORM || o->kind == OP_SCAN);
	default:
		return x->touched * 8 >= most;
	}
}

static bool in_tiles(const struct mapper *m, const struct op *o, uint32_t i, enum cuts cuts)
{
	return cuts == CUT_ALL || (cuts != CUT_NONE && map_streams(m, o, i)) || (cuts == CUT_DEEP && i == 0);
}

/* Loads and stores of one member. */
static void moves(const struct mapper *m, struct map_draft *d, uint32_t first, uint32_t end, const struct op *o,
                  enum cuts cuts, bool stores)
{
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = operand(m, o, i);

		if (x->write != stores || x->touched == 0)
			continue;
		if (!stores && (written_in(m, first, o->id, x->tensor) || loaded(d, x)))
			continue;
		/* An intermediate that nobody outside reads never leaves the fusion buffer. */
		if (stores && read_in(m, o->id + 1, end, x->tensor) && m->last_read[x->tensor] < end)
			continue;
		move(m, d, o, x, in_tiles(m, o, i, cuts) ? ISA_TILE : stores ? ISA_POST : ISA_PRE);
	}
}

static uint64_t sum_bytes(const struct map_draft *d, enum isa_code code, enum isa_when when)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (d->insn[i].code == code && d->insn[i].when == when)
			n += d->insn[i].bytes;
	return n;
}

static ps_t sum_math(const struct map_draft *d, enum isa_when when)
{
	ps_t t = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (d->insn[i].code != ISA_LOAD && d->insn[i].code != ISA_STORE && d->insn[i].when == when)
			t += d->insn[i].span;
	return t;
}

static ps_t move_time(const struct mapper *m, uint64_t bytes)
{
	return bytes ? m->mem_latency + clock_transfer(bytes, m->mem_rate) : 0;
}

/* Closed form of a command: what the mapper compares tiles and fusions by. */
static ps_t predict(const struct mapper *m, const struct map_draft *d, uint64_t slot, uint64_t tiles, ps_t tile_math)
{
	ps_t pre = move_time(m, sum_bytes(d, ISA_LOAD, ISA_PRE)), tile = 0, t;

	if (tiles) {
		ps_t bytes = clock_transfer(slot, m->mem_rate);
		uint64_t at_once = ps_min(m->c->dma.stages, m->c->dma.outstanding);
		ps_t pace;

		/* Tiles in flight are as many as stages, descriptors and SRAM allow. */
		at_once = slot ? ps_max(1, ps_min(at_once, (m->sram - d->fixed_bytes) / slot)) : at_once;
		pace = ps_max(bytes, (2 * m->mem_latency + bytes) / at_once); /* Little's law */

		tile = m->mem_latency + bytes;
		t = ps_max(pre, tile) + sum_math(d, ISA_PRE) + (tiles - 1) * ps_max(pace, tile_math) + tile_math;
		if (sum_bytes(d, ISA_STORE, ISA_TILE))
			t += move_time(m, slot / 2);
	} else {
		t = pre + sum_math(d, ISA_PRE);
	}
	return t + sum_math(d, ISA_POST) + move_time(m, sum_bytes(d, ISA_STORE, ISA_POST));
}

static uint64_t max_tiles_of(const struct op *o, enum cuts cuts)
{
	switch (o->kind) {
	case OP_GEMM:
		if (cuts == CUT_DEEP)
			return o->shape.k;
		return (o->shape.batch ? o->shape.batch : 1) * o->shape.n;
	case OP_ATTENTION:
		return (o->shape.batch ? o->shape.batch : 1) * (o->shape.kv_heads ? o->shape.kv_heads : 1) *
		       o->shape.kv_len;
	case OP_SORT:
	case OP_TOPK:
		return o->shape.rows ? o->shape.rows : 1; /* a row is sorted in one piece */
	default:
		return MAX_TILES;
	}
}

static uint64_t grain_of(const struct mapper *m, int unit)
{
	const struct unit_ops *u = unit_table[unit];

	return u->grain && m->unit[unit].cfg->units ? u->grain(&m->unit[unit]) : 0;
}

/* Rows of a product that a unit computes at a time: a tile of one row more would take twice as long. Those of the
 * fastest unit first, then the others'. */
static int granules(const struct mapper *m, const struct op *main, uint64_t out[UNIT_COUNT])
{
	struct map_math x[2];
	int n = 1;

	out[0] = 1;
	if (!is_product(main->kind))
		return n;
	map_math(m, main, 1, false, x);
	if (grain_of(m, x[0].unit))
		out[0] = grain_of(m, x[0].unit);
	for (int i = 0; i < UNIT_COUNT; i++)
		if (i != (int)x[0].unit && grain_of(m, i))
			out[n++] = grain_of(m, i);
	return n;
}

/* What is to be cut into tiles: bytes that stream, into how many parts at the most, and room for one of two. */
struct cut {
	uint64_t stream, max_tiles, row_bytes, room;
};

/* The trip count: tiles of dma.tile, or TILES_WANTED pieces where that is more, so that loads hide behind math; fewer
 * only where pieces would be tiny, more only where SRAM does not hold two tiles. It does not look at rates or
 * latencies: a faster part does not change the tiling of a unit, so it cannot make a run slower by way of it. */
static uint64_t trips(const struct mapper *m, const struct cut *x, bool product, uint64_t grain)
{
	uint64_t rows,
		tiles = ps_max(ps_min(TILES_WANTED, x->stream / MIN_TILE_BYTES + 1), div_up(x->stream, m->c->dma.tile));

	if (x->stream > tiles * x->room)
		tiles = x->room ? div_up(x->stream, x->room) : x->stream;
	if (tiles > x->max_tiles)
		tiles = x->max_tiles;
	if (!product)
		return tiles;
	/* Whole granules a tile: rounded up where that leaves enough tiles to overlap and two fit, else down. */
	rows = round_up(div_up(x->max_tiles, tiles), grain);
	if (div_up(x->max_tiles, rows) * 2 < ps_min(tiles, TILES_WANTED) || x->row_bytes * rows > x->room)
		rows = ps_min(div_up(x->max_tiles, tiles), x->room / x->row_bytes) / grain * grain;
	return rows ? div_up(x->max_tiles, rows) : tiles;
}

/* False: not even one tile fits. */
static bool cut_into(const struct mapper *m, struct map_draft *d, const struct op *main, const struct cut *x,
                     enum cuts cuts, uint64_t tiles)
{
	struct map_math math[2];
	ps_t each = 0;

	if (div_up(x->stream, tiles) > m->sram - d->fixed_bytes)
		return false;
	d->tiles = (uint32_t)tiles;
	d->slot_bytes = 0;
	for (uint32_t i = 0; i < d->n; i++) {
		struct isa_insn *y = &d->insn[i];

		if (y->when == ISA_TILE) {
			y->tile_bytes = div_up(y->bytes, tiles);
			d->slot_bytes += y->tile_bytes;
		}
	}
	if (d->slot_bytes > m->sram - d->fixed_bytes)
		return false;
	for (int k = tile_math(m, main, cuts, tiles, false, math); k > 0; k--)
		each += math[k - 1].plan.span;
	d->predicted = predict(m, d, d->slot_bytes, tiles, each);
	return true;
}

static bool choose_tiles(const struct mapper *m, struct map_draft *d, const struct op *main, enum cuts cuts)
{
	const uint64_t stream = sum_bytes(d, ISA_LOAD, ISA_TILE) + sum_bytes(d, ISA_STORE, ISA_TILE),
		       max_tiles = max_tiles_of(main, cuts);
	const bool product = is_product(main->kind) && cuts != CUT_DEEP;
	const struct cut x = { stream, max_tiles, ps_max(1, div_up(stream, max_tiles)),
		               (m->sram - d->fixed_bytes) / 2 };
	uint64_t grains[UNIT_COUNT], best = 0;
	ps_t predicted = 0;

	if (d->fixed_bytes >= m->sram)
		return d->fixed_bytes == m->sram && stream == 0;
	for (int n = granules(m, main, grains), i = 0; i < n; i++) {
		uint64_t tiles = trips(m, &x, product, grains[i]);

		/* The fastest unit's, unless the other's are clearly better: as good a machine would have those. */
		if (tiles != best && cut_into(m, d, main, &x, cuts, tiles) &&
		    (!best || d->predicted < predicted - predicted / CLEARLY)) {
			best = tiles;
			predicted = d->predicted;
		}
	}
	if (!best || !cut_into(m, d, main, &x, cuts, best))
		return false;
	math(m, d, main, cuts, ISA_TILE, best);
	return true;
}

static uint64_t intermediates(const struct mapper *m, uint32_t first, uint32_t end)
{
	uint64_t n = 0;

	for (uint32_t i = first; i < end; i++)
		for (uint32_t k = 0; k < m->s->ops[i].n_operands; k++) {
			const struct op_operand *x = operand(m, &m->s->ops[i], k);

			if (x->write && read_in(m, i + 1, end, x->tensor))
				n += x->touched;
		}
	return n;
}

static bool draft(const struct mapper *m, uint32_t first, uint32_t n, const struct op *main, enum cuts cuts,
                  const struct map_block *b, struct map_draft *d)
{
	uint32_t end = first + n;

	d->n = 0;
	d->tiles = 0;
	d->overflow = false;
	d->why = n > 1 ? "chain in the fusion engine" : "moved by the DMA";
	if (n > 1) {
		struct isa_insn *i = add(d);

		i->code = ISA_FUSED_BEGIN;
		i->when = ISA_PRE;
		i->unit = RES_FUSION;
		i->op = first;
		i->span = i->span_last = m->c->fusion.setup;
	}
	for (uint32_t k = first; k < end; k++) {
		const struct op *o = main && k == main->id ? main : &m->s->ops[k];

		moves(m, d, first, end, o, o == main ? cuts : CUT_NONE, false);
		if (o != main)
			math(m, d, o, CUT_NONE, main && k < main->id ? ISA_PRE : ISA_POST, 1);
	}
	for (uint32_t k = first; k < end; k++) {
		const struct op *o = main && k == main->id ? main : &m->s->ops[k];

		moves(m, d, first, end, o, o == main ? cuts : CUT_NONE, true);
	}
	if (b)
		map_block_moves(m, main, b, d);
	d->fixed_bytes = sum_bytes(d, ISA_LOAD, ISA_PRE) + sum_bytes(d, ISA_STORE, ISA_POST) +
	                 (n > 1 ? intermediates(m, first, end) : 0);
	if (main)
		return choose_tiles(m, d, main, cuts) && !d->overflow;
	d->slot_bytes = 0;
	d->predicted = predict(m, d, 0, 0, 0);
	return d->fixed_bytes <= m->sram && !d->overflow;
}

bool map_group(const struct mapper *m, uint32_t first, uint32_t n, struct map_draft *d)
{
	const struct op *main = NULL;

	for (uint32_t k = first; k < first + n && !main; k++)
		if ((n == 1 && m->s->ops[k].kind != OP_HOST_SYNC) || is_product(m->s->ops[k].kind))
			main = &m->s->ops[k];
	if (draft(m, first, n, main, CUT_STREAMS, NULL, d))
		return true;
	/* A sum over an inner dimension makes almost as much as it reads, a sort more, and what the host reads need not
	 * be in SRAM at once: all of it is cut then. */
	return n == 1 && !is_product(m->s->ops[first].kind) && draft(m, first, 1, &m->s->ops[first], CUT_ALL, NULL, d);
}

bool map_block(const struct mapper *m, uint32_t op, enum map_cut cut, uint64_t blocks, uint64_t k, struct map_draft *d)
{
	struct op part = m->s->ops[op];
	struct map_block b;

	if (!map_block_take(&part, cut, blocks, k, &b))
		return false;
	return draft(m, op, 1, &part, cut == MAP_CUT_DEEP ? CUT_DEEP : CUT_STREAMS, &b, d);
}
