/* map_attention.c - attention done the way a table names (the column `algorithm`), whatever would be fastest.
 *
 *     per_head      a grid over batch and KV heads, and in each step over the group's query heads: K and V of a KV head
 *                   come once, Q and O tile by tile; scores never leave the chip. Under mapping.policy copy_first operands
 *                   that exceed SRAM come and go in blocks of heads, copied whole, which nothing overlaps.
 *     grouped       a grid over KV heads and blocks of attention.queries: each block takes the keys that it may see past
 *                   all query heads of its group, in tiles of dma.tile, and reads them anew.
 *     materialised  scores of all heads are written. They stay on chip (one loop over heads) where half of SRAM holds them,
 *                   or mapping.stream under copy_first; else product, softmax and product are commands of their own and
 *                   scores pass memory. On a TPU v6e 25 MiB of scores stay (768 heads of 128 x 128, 120 of 328 x 328) and
 *                   39 MiB leave (192 of 328 x 328), whatever the operands take: a room of 25 to 39 MiB does as well. With
 *                   attention.compact, where the batch fills a register's places better than keys or a head's size do,
 *                   operands lie batch by batch: copies of their own, through memory, lay them out before and after.
 *     flash         with attention.cores: a grid over query heads and blocks of attention.queries, of which so many cores do
 *                   one, and all cores as many as they can side by side (a wave). Keys come tile by tile; blocks of a head
 *                   that are done together want the same. A prompt of a model is done so, too: it is what the machine's
 *                   library does, whoever asks.
 * The others (split_kv, mla, none), a flash one without attention.cores and a grouped one without attention.queries stream
 * keys past all queries, as the mapper chooses (map_tile.c). But for flash only rows of a table are done by name: what a GPU's
 * kernel was says nothing of an NPU.
 *
 * In a step the two products of a head share the arrays, the softmax has the vector unit, and K and V leave SRAM a row a
 * cycle for one array a core (per_head): the slowest of them paces the loop. What the kernel waits for beside that is
 * attention.* (machine_attention.h). Under a causal mask what no query of a block sees is left out, of scores in memory, too:
 * blocks are attention.queries (grouped) or as tall as an array (map_mask.c). Where the machine's software computes all of it
 * (attention.masked), grouped alone leaves out. All blocks count as the mean one.
 * A wave of the grid that is not full takes as long as a full one. Two products and a softmax overlap as far as
 * attention.overlap says, and where matrix and vector units share no memory scores and sums pass between them at
 * attention.handover, on the cores' ports, as keys do.
 * Leaves out: masks other than causal; lengths that differ within a batch; page tables. */
#include "arch/npu/partition.h"
#include "sim/map/map_int.h"

enum { Q, K, V, O, SCRATCH, OPERANDS };
#define HELD_BUFFERS  2
#define ROWS          512 /* of queries that are computed at once, so that products overlap with softmax */
#define LESS_IN_PLACE 2   /* steps that a softmax saves where all scores are there: no running maximum, no rescaling */

struct attn {
	const struct mapper *m;
	const struct op *op;
	const struct attention_cfg *c;
	const struct op_operand *io[OPERANDS];
	uint64_t bytes[OPERANDS];
	uint64_t heads, group; /* KV heads of the batch, query heads each */
	uint64_t q, keys, dim, v_dim;
	bool skips; /* what a mask hides, whatever the algorithm */
};

static uint64_t at_least_1(uint64_t n)
{
	return n ? n : 1;
}

/* Q, K, V in, O out; room for scores where they may be written; and nothing else. */
static bool operands(struct attn *a)
{
	uint32_t reads = 0;

	for (uint32_t i = 0; i < a->op->n_operands; i++) {
		const struct op_operand *x = &a->m->s->operands[a->op->first_operand + i];
		const uint32_t which = !x->write ? reads++ : x->touched ? O : SCRATCH;

		if ((!x->write && which > V) || a->io[which])
			return false;
		a->io[which] = x;
		a->bytes[which] = map_stored_bytes(a->m, x->tensor, x->touched);
	}
	for (int i = Q; i <= O; i++)
		if (!a->io[i] || !a->bytes[i])
			return false;
	return a->op->algorithm != OP_ATTN_MATERIALISED || a->io[SCRATCH];
}

/* A prompt's, where the machine's library does that in blocks. */
static bool in_blocks(const struct attn *a)
{
	return a->c->cores && a->op->algorithm == OP_ATTN_FLASH && (a->op->listed || a->q > 1);
}

static bool attn_of(const struct mapper *m, const struct op *o, struct attn *a)
{
	const struct op_shape *s = &o->shape;

	*a = (struct attn){ .m = m, .op = o, .c = &m->c->attention };
	a->heads = at_least_1(s->batch) * at_least_1(s->kv_heads);
	a->group = at_least_1(s->heads / at_least_1(s->kv_heads));
	a->q = s->q_len, a->keys = s->kv_len;
	a->dim = s->head_dim, a->v_dim = s->v_dim ? s->v_dim : s->head_dim;
	a->skips = map_mask_skips(m, o);
	return o->kind == OP_ATTENTION && (o->listed || in_blocks(a)) && a->q && a->keys && a->dim && operands(a);
}

/* --- moves -------------------------------------------------------------------------------------------------------- */

/* An operand tile by tile: `one` of `of` parts at a time, how far a round of each loop goes on, and through which it stays. */
struct tiled {
	uint64_t one, of;
	uint32_t step[ISA_LOOPS];
	uint8_t stays;
};

static void tile(struct map_candidate *d, struct isa_insn *i, const struct tiled *t)
{
	i->tile_bytes = map_rows_bytes(i->bytes, t->one, t->of);
	i->stays = t->stays;
	for (int l = 0; l < ISA_LOOPS; l++)
		i->step[l] = t->step[l];
	if (t->stays)
		d->fixed_bytes += HELD_BUFFERS * i->tile_bytes;
	else
		d->slot_bytes += i->tile_bytes;
}

static struct isa_insn *map_attention_move(const struct attn *a, struct map_candidate *d, int which,
                                           const struct tiled *t)
{
	struct isa_insn *i = map_move(a->m, d, a->op, a->io[which], ISA_TILE);

	tile(d, i, t);
	return i;
}

static struct map_math map_attention_product(const struct attn *a, uint64_t m, uint64_t n, uint64_t k, bool in_part)
{
	struct unit_job j = map_job(a->m, a->op);

	j.m = m, j.n = n, j.k = k;
	j.in_part = in_part;
	return map_fastest(a->m, &j);
}

/* Keys that a query is multiplied with, in the mean. */
static uint64_t keys_seen(const struct attn *a)
{
	const enum unit unit = map_attention_product(a, a->q, a->keys, a->dim, false).unit;

	return a->skips ? div_up(map_mask_pairs(&a->op->shape, map_mask_side(a->m, unit)), a->q) : a->keys;
}

static uint64_t scores_bytes(const struct attn *a)
{
	return map_rows_bytes(a->m->s->tensors[a->io[SCRATCH]->tensor].bytes, keys_seen(a), a->keys);
}

static void move_scores(const struct attn *a, struct map_candidate *d, bool store, const struct tiled *t)
{
	struct isa_insn *i = map_move(a->m, d, a->op, a->io[SCRATCH], ISA_TILE);

	i->code = store ? ISA_STORE : ISA_LOAD;
	i->src = store ? ISA_SRAM : ISA_MEM;
	i->dst = store ? ISA_MEM : ISA_SRAM;
	i->bytes = scores_bytes(a);
	tile(d, i, t);
}

/* As often as rows of a head are longer in memory once they fill whole registers, in millionths. */
#define WHOLE     1000000
#define MOST_PADS (16 * WHOLE) /* instructions that one operand may take */
static uint64_t padded(uint64_t n, uint64_t to)
{
	return round_up(n, to) * WHOLE / n;
}

/* Operands lie with the batch in a register's places, where that wastes the least of them; only of what is told apart from the
 * heads. Products want rows of a head's size there. */
static bool relaid(const struct attn *a)
{
	const uint64_t places = a->c->keys, batch = padded(at_least_1(a->op->shape.batch), places),
		       rows = padded(ps_min(a->dim, a->v_dim), places);

	return a->c->compact && batch < rows && batch < padded(a->keys, places) && batch < padded(a->q, places) &&
	       rows <= MOST_PADS;
}

static uint64_t row_of(const struct attn *a, int which)
{
	return which == V || which == O ? a->v_dim : a->dim;
}

/* A move again, for what rows of whole registers take beyond their values. */
static void pad(struct map_candidate *d, const struct isa_insn *first, uint64_t times)
{
	const struct isa_insn one = *first;

	for (times -= WHOLE; times; times -= ps_min(times, WHOLE)) {
		struct isa_insn *i = map_add(d);
		const uint64_t part = ps_min(times, WHOLE);

		*i = one;
		i->bytes = map_rows_bytes(one.bytes, part, WHOLE);
		i->tile_bytes = map_rows_bytes(one.tile_bytes, part, WHOLE);
		d->slot_bytes += i->tile_bytes;
	}
}

static uint64_t all_bytes(const struct attn *a)
{
	return a->bytes[Q] + a->bytes[K] + a->bytes[V] + a->bytes[O];
}

/* KV heads that move together: an even part of them, in tiles of dma.tile where each has so many bytes. */
static uint64_t heads_together(const struct attn *a, uint64_t bytes)
{
	uint64_t n = ps_min(a->heads, a->m->c->dma.tile / at_least_1(bytes));

	while (n > 1 && a->heads % n)
		n--;
	return at_least_1(n);
}

/* --- math --------------------------------------------------------------------------------------------------------- */

/* Math of a tile; nothing that takes no time. */
static void map_attention_put(const struct attn *a, struct map_candidate *d, enum res unit, const struct unit_plan *p,
                              uint8_t stays)
{
	struct isa_insn *i;

	if (!p->span)
		return;
	i = map_add(d);
	i->code = (uint8_t)p->code;
	i->when = ISA_TILE;
	i->unit = (uint8_t)unit;
	i->src = i->dst = ISA_SRAM;
	i->dtype = (uint8_t)a->op->dtype;
	i->op = a->op->id;
	i->span = i->span_last = p->span;
	i->latency = p->latency;
	i->work = i->work_last = p->work;
	i->stays = stays;
}

/* The first of a tile: it synchronises itself, so the engine's own wait between tiles (dma.sync) is not. */
static void put_wait(const struct attn *a, struct map_candidate *d, enum res unit, ps_t span, uint8_t stays)
{
	map_attention_put(a, d, unit, &(struct unit_plan){ .span = at_least_1(span), .code = ISA_SYNC }, stays);
}

enum { SCORES = 1, VALUES = 2 };

/* Rows of queries against keys: `times` heads, one of the two products or both. */
struct work_piece {
	int which;
	uint64_t times, rows, keys;
	bool in_part; /* arrays load what is used of them */
	ps_t least;   /* it takes */
};

/* The unit that multiplies queries and keys. */
static enum res arrays(const struct attn *a)
{
	return unit_table[map_attention_product(a, a->q, a->keys, a->dim, false).unit]->res;
}

/* A product on one array of one core; false: the unit cannot. */
static bool on_one_array(const struct attn *a, enum unit unit, uint64_t m, uint64_t n, uint64_t k, bool in_part,
                         struct unit_plan *out)
{
	struct unit_env one = a->m->unit[unit];
	union unit_cfg cfg = *one.cfg;
	struct unit_job j = map_job(a->m, a->op);

	cfg.units = one.cores = 1;
	one.cfg = &cfg;
	j.m = m, j.n = n, j.k = k;
	j.in_part = in_part;
	return unit_table[unit]->plan(&one, &j, out);
}

/* Several heads: one after the other on all arrays, or each on one. */
static struct map_math product_times(const struct attn *a, const struct work_piece *w, uint64_t n, uint64_t k)
{
	struct map_math x = map_attention_product(a, w->rows, n, k, w->in_part);
	struct unit_plan p;

	x.plan.span *= w->times;
	x.plan.work *= w->times;
	if (w->times > 1 && on_one_array(a, x.unit, w->rows, n, k, w->in_part, &p))
		x.plan.span = ps_min(x.plan.span, p.span * div_up(w->times, unit_arrays(&a->m->unit[x.unit])));
	return x;
}

/* The arrays go on from tile to tile: what fills them is the kernel's wait (attention.head), or hidden. */
static void put_products(const struct attn *a, struct map_candidate *d, const struct work_piece *w)
{
	const struct map_math qk = product_times(a, w, w->keys, a->dim), pv = product_times(a, w, a->v_dim, w->keys);
	struct unit_plan p = w->which & SCORES ? qk.plan : pv.plan;
	struct map_math narrow;

	if (w->which == (SCORES | VALUES)) {
		p.span += pv.plan.span;
		p.work += pv.plan.work;
	}
	p.span = ps_max(p.span, w->least);
	p.latency = 0;
	if (map_dequant(a->m, a->op, qk.unit, w->times * w->keys * (a->dim + a->v_dim), &narrow))
		map_attention_put(a, d, unit_table[narrow.unit]->res, &narrow.plan, 0);
	map_attention_put(a, d, unit_table[qk.unit]->res, &p, 0);
	d->why = p.why;
}

/* Steps of every score on the vector unit, and `more` of its time. */
static void put_softmax(const struct attn *a, struct map_candidate *d, const struct work_piece *w, uint32_t steps,
                        ps_t more)
{
	struct unit_job j = { .work = UNIT_MAP,
		              .elems = w->times * round_up(w->rows, a->c->rows) * round_up(w->keys, a->c->keys),
		              .alu = steps ? steps : 1,
		              .sfu = 1 };
	struct map_math x = map_fastest(a->m, &j);

	x.plan.span += more;
	map_attention_put(a, d, unit_table[x.unit]->res, &x.plan, 0);
}

/* What bounds a query head of a group, where K and V of the group stream past one array a core that holds what they are
 * multiplied with, and come no faster than memory brings them. */
static ps_t fed(const struct attn *a)
{
	const uint64_t rows = div_up(2 * keys_seen(a), a->m->c->cores),
		       bytes = (a->bytes[Q] + a->bytes[K] + a->bytes[V]) / a->heads;
	struct unit_plan p = { .span = 0 };

	on_one_array(a, map_attention_product(a, rows, 1, a->dim, true).unit, rows, 1, a->dim, true, &p);
	return ps_max(p.span, clock_transfer(bytes, a->m->dram_rate)) / a->group;
}

/* --- the whole of a part ------------------------------------------------------------------------------------------ */

/* Whether SRAM holds two tiles of it. */
static bool map_attention_finish(const struct attn *a, struct map_candidate *d, uint64_t n0, uint64_t n1, uint64_t n2)
{
	struct map_flow f = { .slot = d->slot_bytes, .held = d->fixed_bytes };

	if (n0 * n1 * n2 > UINT32_MAX >> 8)
		return false;
	d->trips[0] = (uint32_t)n0, d->trips[1] = (uint32_t)n1, d->trips[2] = (uint32_t)n2;
	d->tiles = d->trips[0] * d->trips[1] * d->trips[2];
	f.tiles = d->tiles;
	for (uint32_t i = 0; i < d->n; i++) {
		const struct isa_insn *x = &d->insn[i];

		if (isa_is_move(x)) {
			*(x->when == ISA_PRE    ? &f.pre_bytes
			  : x->when == ISA_POST ? &f.post_bytes
			                        : &f.near_bytes) +=
				x->when == ISA_TILE ? (uint64_t)map_moved(d, x) : x->bytes;
			f.first_bytes += x->when == ISA_TILE && x->code == ISA_LOAD ? x->tile_bytes : 0;
		} else if (x->when == ISA_TILE) {
			f.math = ps_max(f.math, x->span);
		}
	}
	f.far_bytes = f.near_bytes;
	d->predicted = map_predict(a->m, &f);
	return !d->overflow && d->fixed_bytes + 2 * d->slot_bytes <= a->m->sram;
}

/* Some heads' operands together, each of them in blocks of rows; or of one head keys in so many tiles, where SRAM does not
 * hold all of it. */
struct by_head {
	uint64_t together, rows, tiles;
	bool there; /* operands are on chip when it begins */
};

/* What a head is paced by: its wait once, then piece by piece. */
static void map_attention_put_head(const struct attn *a, const struct by_head *h, struct map_candidate *d)
{
	const uint64_t pieces = div_up(a->q, h->rows) * h->tiles;
	const ps_t least = fed(a), wait = a->c->head + a->c->step / a->group;
	const struct work_piece w = { .which = SCORES | VALUES,
		                      .times = 1,
		                      .rows = h->rows,
		                      .keys = div_up(keys_seen(a), h->tiles),
		                      .in_part = true,
		                      .least = (least > wait ? least - wait : 0) / pieces };

	put_wait(a, d, arrays(a), wait, 1 << 2);
	put_products(a, d, &w);
	put_softmax(a, d, &w, a->c->softmax, 0);
}

static bool heads_tiled(const struct attn *a, const struct by_head *h, struct map_candidate *d)
{
	const uint32_t g = (uint32_t)a->group, t = (uint32_t)h->tiles;
	const uint64_t n = a->heads / h->together;
	const struct tiled whole = { 1, n, { 1, 0, 0 }, 1 << 1 | 1 << 2 },
			   kv = { 1, a->heads * h->tiles, { t, 0, 1 }, 0 },
			   qo = { 1, a->heads * g, { g, 1, 0 }, 1 << 2 },
			   out = { 1, a->heads * g, { (uint32_t)h->together * g, 1, 0 }, 1 << 2 };

	*d = (struct map_candidate){ .n = 0 };
	for (int i = Q; i <= V; i++) {
		struct isa_insn *x = map_attention_move(a, d, i, h->tiles == 1 ? &whole : i == Q ? &qo : &kv);

		x->bytes = h->there ? 0 : x->bytes;
	}
	map_attention_put_head(a, h, d);
	map_attention_move(a, d, O, h->tiles == 1 ? &out : &qo);
	return h->tiles == 1 ? map_attention_finish(a, d, n, h->together * g, div_up(a->q, h->rows))
	                     : map_attention_finish(a, d, a->heads, g, t);
}

/* --- per_head ----------------------------------------------------------------------------------------------------- */

/* A part of an operand, [from, from + n) of all KV heads. */
static void copy_of(const struct attn *a, struct map_candidate *d, int which, uint64_t from, uint64_t n)
{
	struct isa_insn *i = map_move(a->m, d, a->op, a->io[which], which == O ? ISA_POST : ISA_PRE);

	i->offset += i->bytes / a->heads * from;
	i->bytes = i->bytes / a->heads * n;
	d->fixed_bytes += i->bytes;
}

/* Under copy_first, KV heads that are copied on chip together; all: they are there. */
static uint64_t copied(const struct attn *a)
{
	const uint64_t all = all_bytes(a), most = a->m->sram / at_least_1(all / a->heads + 1);

	if (all <= a->m->sram || a->bytes[Q] + a->bytes[O] <= a->m->sram / 2 || !most)
		return a->heads;
	return div_up(a->heads, div_up(a->heads, most));
}

static bool in_copies(const struct attn *a, uint64_t each, uint64_t k, struct map_candidate *d)
{
	const uint64_t from = k * each, n = from < a->heads ? ps_min(each, a->heads - from) : 0;
	const struct by_head h = { n, ps_min(a->q, ROWS), 1, true };

	*d = (struct map_candidate){ .n = 0 };
	for (int i = Q; n && i <= V; i++)
		copy_of(a, d, i, from, n);
	map_attention_put_head(a, &h, d);
	if (n)
		copy_of(a, d, O, from, n);
	return n && map_attention_finish(a, d, n, a->group, div_up(a->q, h.rows));
}

static bool per_head(const struct attn *a, uint64_t k, struct map_candidate *d)
{
	const bool copy = a->m->c->mapping.policy == MAPPING_COPY_FIRST;
	struct by_head h = { heads_together(a, all_bytes(a) / a->heads), ps_min(a->q, ROWS), 1,
		             copy && all_bytes(a) <= a->m->sram };

	if (copy && copied(a) < a->heads)
		return in_copies(a, copied(a), k, d);
	if (k || heads_tiled(a, &h, d))
		return !k;
	for (h.together = 1, h.rows = a->q; h.tiles <= a->keys; h.tiles *= 2)
		if (heads_tiled(a, &h, d))
			return true;
	return false;
}

/* --- grouped ------------------------------------------------------------------------------------------------------ */

/* Of the blocks of queries, the keys that one sees in the mean. */
static uint64_t keys_of_block(const struct attn *a, uint64_t block, uint64_t blocks)
{
	uint64_t sum = 0;

	if (!a->op->shape.causal || a->keys < a->q)
		return a->keys;
	for (uint64_t i = 1; i <= blocks; i++)
		sum += ps_min(a->keys, a->keys - a->q + i * block);
	return div_up(sum, blocks);
}

static uint64_t power_of_2(uint64_t n)
{
	return UINT64_C(1) << log2_up(n);
}

/* Query rows of a block as the arrays take them: heads in a power of two, rows in whole registers where they are many. */
static uint64_t block_rows(const struct attn *a, uint64_t block)
{
	const uint64_t rows = block * power_of_2(a->group);

	return block > 1 ? round_up(rows, a->c->keys) : rows;
}

static ps_t unpacked(const struct attn *a, uint64_t keys)
{
	const struct unit_job j = { .work = UNIT_MAP, .elems = keys * (a->dim + a->v_dim), .alu = a->c->unpack };

	return a->c->unpack ? map_fastest(a->m, &j).plan.span : 0;
}

/* Blocks of queries of some heads whose keys come together, or of one whose keys come in tiles. */
static bool grouped_tiled(const struct attn *a, uint64_t block, uint64_t together, uint64_t tiles,
                          struct map_candidate *d)
{
	const uint64_t blocks = div_up(a->q, block), seen = keys_of_block(a, block, blocks), keys = div_up(seen, tiles),
		       apart = at_least_1(a->keys / keys), n = a->heads / together,
		       moves = block * (power_of_2(a->group) == a->group ? 1 : a->group);
	const struct tiled kv = { together * keys, a->heads * a->keys, { (uint32_t)apart, 0, tiles > 1 }, 0 },
			   qo = { 1, n * blocks, { (uint32_t)blocks, 1, 0 }, 1 << 2 };
	const struct work_piece w = { SCORES | VALUES, together, block_rows(a, block), round_up(keys, a->c->keys),
		                      false,           0 };

	*d = (struct map_candidate){ .n = 0 };
	if (a->c->start) {
		put_wait(a, d, RES_VECTOR, a->c->start, 0);
		d->insn[0].when = ISA_PRE;
	}
	map_attention_move(a, d, Q, &qo);
	map_attention_move(a, d, K, &kv);
	map_attention_move(a, d, V, &kv);
	put_wait(a, d, RES_VECTOR, together * (a->c->step + moves * a->c->move), 1 << 2);
	put_softmax(a, d, &w, (a->c->softmax + 1) / 2, together * unpacked(a, w.keys));
	put_products(a, d, &w);
	map_attention_move(a, d, O, &qo);
	return map_attention_finish(a, d, n, blocks, tiles);
}

static bool grouped(const struct attn *a, uint64_t k, struct map_candidate *d)
{
	const uint64_t block = ps_min(a->q, a->c->queries), bytes = (a->bytes[K] + a->bytes[V]) / a->heads,
		       seen = map_rows_bytes(bytes, keys_of_block(a, block, div_up(a->q, block)), a->keys);
	uint64_t tiles = at_least_1(div_up(seen, a->m->c->dma.tile));

	if (k == 0 && tiles == 1 && grouped_tiled(a, block, heads_together(a, bytes), 1, d))
		return true;
	for (; k == 0 && tiles <= a->keys; tiles *= 2)
		if (grouped_tiled(a, block, 1, tiles, d))
			return true;
	return false;
}

/* --- flash, in blocks --------------------------------------------------------------------------------------------- */

/* The grid of a kernel that does so many blocks of queries side by side: `together` KV heads at a time, whose blocks take
 * `turns` rounds of the cores; `waves` is what all of them would take in a row. */
struct grid {
	uint32_t cores; /* of a block */
	uint64_t rows, seen, at_once, blocks, together, rounds, turns, waves;
};

static struct grid grid_of(const struct attn *a)
{
	const uint64_t rows = ps_min(a->q, a->c->queries ? a->c->queries : a->q),
		       of_head = div_up(a->q, rows) * a->group, most = at_least_1(a->m->c->cores / a->c->cores);
	struct grid g = { .cores = (uint32_t)ps_min(a->c->cores, a->m->c->cores), .rows = rows, .seen = a->keys };

	if (a->skips)
		g.seen = keys_of_block(a, rows, div_up(a->q, rows));
	g.seen = round_up(g.seen, a->c->keys);
	g.blocks = a->heads * of_head;
	g.at_once = ps_min(most, g.blocks);
	g.together = div_up(g.at_once, of_head);
	g.rounds = div_up(a->heads, g.together);
	g.turns = div_up(g.together * of_head, g.at_once);
	g.waves = div_up(g.blocks, g.at_once);
	return g;
}

/* Of the cores that do a block. */
static struct unit_plan on_cores_of(const struct attn *a, const struct grid *g, const struct unit_job *j,
                                    enum unit *unit)
{
	const struct map_math all = map_fastest(a->m, j);
	struct unit_env some = a->m->unit[all.unit];
	struct unit_plan p;

	some.cores = g->cores;
	*unit = all.unit;
	return partition_plan(unit_table[all.unit], &some, j, NULL, &p) ? p : all.plan;
}

/* Rounds of the grid that share the waves. */
static ps_t in_round(const struct grid *g, ps_t span)
{
	return (ps_t)((double)span * (double)g->waves / (double)(g->rounds * g->turns)) + 1;
}

static uint64_t work_in_round(const struct grid *g, uint64_t work)
{
	return div_up(work * g->blocks, g->rounds * g->turns);
}

static struct unit_plan block_products(const struct attn *a, const struct grid *g, uint64_t keys, enum unit *unit)
{
	struct unit_job j = map_job(a->m, a->op);
	struct unit_plan qk, pv;

	j.m = g->rows, j.n = a->v_dim, j.k = keys;
	pv = on_cores_of(a, g, &j, unit);
	j.n = keys, j.k = a->dim;
	qk = on_cores_of(a, g, &j, unit);
	qk.span = (ps_t)((double)(qk.span + qk.exchange + pv.span + pv.exchange) * 1e6 / a->c->efficiency);
	qk.work += pv.work;
	qk.latency = 0;
	return qk;
}

/* Scores of 32 bits to the vector units, weights of 16 bits back, and sums of values of attention.keys each to where they are
 * scaled: the same bytes leave a core's units as come to them, on ways of their own. */
static ps_t handed(const struct attn *a, const struct grid *g, uint64_t keys)
{
	const uint64_t scores = g->rows * keys, sums = div_up(g->rows * a->v_dim * keys, a->c->keys),
		       bytes = div_up(6 * scores + 4 * sums, g->cores);

	return a->c->handover ? clock_span(div_up(bytes, a->c->handover), a->m->c->clock) : 0;
}

/* What products and softmax of a tile take, one after the other as far as software does not overlap them: the slower of
 * them paces the loop, and longer then. */
static void put_block(const struct attn *a, const struct grid *g, uint64_t keys, struct map_candidate *d)
{
	const struct unit_job scores = {
		.work = UNIT_MAP, .elems = round_up(g->rows, a->c->rows) * keys, .alu = a->c->softmax, .sfu = 1
	};
	const double overlap = a->c->overlap / 1e6;
	enum unit arrays_of, lanes_of;
	struct unit_plan products = block_products(a, g, keys, &arrays_of),
			 softmax = on_cores_of(a, g, &scores, &lanes_of),
			 sent = { .span = in_round(g, handed(a, g, keys)), .code = ISA_SEND },
			 *less = products.span < softmax.span ? &products : &softmax,
			 *more = less == &products ? &softmax : &products;
	struct map_math narrow;

	more->span = in_round(g, more->span + (ps_t)((double)less->span * (1 - overlap)));
	less->span = in_round(g, less->span);
	products.work = work_in_round(g, products.work);
	softmax.work = work_in_round(g, softmax.work);
	softmax.latency = 0;
	if (map_dequant(a->m, a->op, arrays_of, g->together * keys * (a->dim + a->v_dim), &narrow))
		map_attention_put(a, d, unit_table[narrow.unit]->res, &narrow.plan, 0);
	map_attention_put(a, d, unit_table[arrays_of]->res, &products, 0);
	if (a->c->handover)
		map_attention_put(a, d, RES_NOC, &sent, 0);
	map_attention_put(a, d, unit_table[lanes_of]->res, &softmax, 0);
	d->why = "blocks of queries";
}

/* Keys of the heads at hand go to all cores that have a block of them: those that blocks see in the mean, all where one turn
 * does all blocks of a head. */
static void move_keys(const struct attn *a, const struct grid *g, int which, uint64_t tiles, struct map_candidate *d)
{
	const uint64_t copies = div_up(g->at_once, g->together), rounds = g->rounds * tiles,
		       seen = g->turns > 1 ? ps_min(g->seen, a->keys) : a->keys;
	const struct tiled t = { 1, rounds, { (uint32_t)tiles, 0, tiles > 1 }, 0 };
	struct isa_insn *i = map_move(a->m, d, a->op, a->io[which], ISA_TILE);

	i->bytes = map_rows_bytes(i->bytes, seen, a->keys);
	i->copies = copies > 1 ? (uint32_t)copies : 0;
	tile(d, i, &t);
	d->slot_bytes += (copies - 1) * i->tile_bytes;
}

static bool blocks_tiled(const struct attn *a, const struct grid *g, uint64_t tiles, struct map_candidate *d)
{
	const uint64_t keys = div_up(g->seen, tiles);
	const struct tiled qo = { 1, g->rounds * g->turns, { (uint32_t)g->turns, 1, 0 }, 1 << 2 };

	*d = (struct map_candidate){ .n = 0 };
	if (a->c->start) {
		put_wait(a, d, RES_VECTOR, a->c->start, 0);
		d->insn[0].when = ISA_PRE;
	}
	map_attention_move(a, d, Q, &qo);
	move_keys(a, g, K, tiles, d);
	move_keys(a, g, V, tiles, d);
	put_wait(a, d, arrays(a), a->c->step ? in_round(g, a->c->step) : 0, 1 << 2);
	put_block(a, g, keys, d);
	map_attention_move(a, d, O, &qo);
	return map_attention_finish(a, d, g->rounds, g->turns, tiles);
}

/* Tiles of dma.tile, as all cores have them, or of what SRAM holds twice. */
static bool blocks(const struct attn *a, uint64_t k, struct map_candidate *d)
{
	const struct grid g = grid_of(a);
	const uint64_t key = (a->bytes[K] + a->bytes[V]) / (a->heads * a->keys);

	if (k)
		return false;
	for (uint64_t tiles = at_least_1(div_up(g.seen * key * g.at_once, a->m->c->dma.tile)); tiles <= g.seen;
	     tiles *= 2)
		if (blocks_tiled(a, &g, tiles, d))
			return true;
	return g.seen && blocks_tiled(a, &g, g.seen, d);
}

/* --- materialised ------------------------------------------------------------------------------------------------- */

/* An operand as products want it: in rows of whole registers, where that is not how it lies. */
static void move_rows(const struct attn *a, struct map_candidate *d, int which, const struct tiled *t)
{
	const struct isa_insn *i = map_attention_move(a, d, which, t);

	if (relaid(a))
		pad(d, i, padded(row_of(a, which), a->c->keys));
}

/* Some heads at a time: product, softmax and product of them one after the other, or as three commands between which
 * scores come and go. */
static bool heads_at_once(const struct attn *a, bool through_memory, uint64_t k, struct map_candidate *d)
{
	const uint64_t bytes = all_bytes(a) + (through_memory ? 2 * scores_bytes(a) : 0),
		       together = heads_together(a, bytes / a->heads / (through_memory ? 2 : 1)),
		       n = a->heads / together;
	const uint32_t steps = a->c->softmax > LESS_IN_PLACE ? a->c->softmax - LESS_IN_PLACE : 1;
	const bool first = !through_memory || k == 0, last = !through_memory || k == 2,
		   soft = !through_memory || k == 1;
	const struct tiled t = { 1, n, { 1, 0, 0 }, 0 };
	const struct work_piece w = {
		(first ? SCORES : 0) | (last ? VALUES : 0), together * a->group, a->q, keys_seen(a), false, 0
	};

	*d = (struct map_candidate){ .why = "softmax" };
	if (first)
		move_rows(a, d, Q, &t), move_rows(a, d, K, &t);
	else
		move_scores(a, d, false, &t);
	if (last)
		move_rows(a, d, V, &t);
	put_wait(a, d, w.which ? arrays(a) : RES_VECTOR, 0, 0);
	if (w.which)
		put_products(a, d, &w);
	if (soft)
		put_softmax(a, d, &w, steps, 0);
	if (last)
		move_rows(a, d, O, &t);
	else
		move_scores(a, d, true, &t);
	return map_attention_finish(a, d, n, 1, 1);
}

/* A copy of an operand there or back: as it lies in memory on one side, in rows of whole registers on the other. */
static void copy_rows(const struct attn *a, struct map_candidate *d, int which, const struct tiled *t)
{
	const uint64_t rows = padded(row_of(a, which), a->c->keys);

	for (int store = 0; store < 2; store++) {
		struct isa_insn *i = map_attention_move(a, d, which, t);

		i->code = store ? ISA_STORE : ISA_LOAD;
		i->src = store ? ISA_SRAM : ISA_MEM;
		i->dst = store ? ISA_MEM : ISA_SRAM;
		if (store == (which != O))
			pad(d, i, rows);
	}
}

/* Q, K and V into rows, or the result out of them; a step of the vector unit for each place. */
static bool copies(const struct attn *a, bool back, struct map_candidate *d)
{
	const uint64_t together = heads_together(a, all_bytes(a) / a->heads), n = a->heads / together;
	const struct tiled t = { 1, n, { 1, 0, 0 }, 0 };
	struct unit_job j = { .work = UNIT_MAP, .alu = 1 };
	struct map_math x;

	*d = (struct map_candidate){ .why = "copies" };
	for (int i = back ? O : Q; i <= (back ? O : V); i++) {
		copy_rows(a, d, i, &t);
		j.elems +=
			together * (i == Q || i == O ? a->group * a->q : a->keys) * round_up(row_of(a, i), a->c->keys);
	}
	put_wait(a, d, RES_VECTOR, 0, 0);
	x = map_fastest(a->m, &j);
	map_attention_put(a, d, unit_table[x.unit]->res, &x.plan, 0);
	return map_attention_finish(a, d, n, 1, 1);
}

static bool in_parts(const struct attn *a, bool through_memory, uint64_t k, struct map_candidate *d)
{
	for (uint64_t part = 2; k == 0 && through_memory && part; part--) /* all of it, or none */
		if (!heads_at_once(a, true, part, d))
			return false;
	return k <= (through_memory ? 2 : 0) && heads_at_once(a, through_memory, k, d);
}

static bool materialised(const struct attn *a, uint64_t k, struct map_candidate *d)
{
	const struct mapping_cfg *c = &a->m->c->mapping;
	const uint64_t room = c->policy == MAPPING_COPY_FIRST ? ps_min(c->stream, a->m->sram) : a->m->sram / 2;
	const bool through_memory = scores_bytes(a) > room;
	const uint64_t parts = through_memory ? 3 : 1;

	if (!relaid(a))
		return in_parts(a, through_memory, k, d);
	if (k == 0 && !(in_parts(a, through_memory, 0, d) && copies(a, true, d)))
		return false;
	if (k == 0 || k == parts + 1)
		return copies(a, k != 0, d);
	return in_parts(a, through_memory, k - 1, d);
}

bool map_attention(const struct mapper *m, const struct op *o, uint64_t k, struct map_candidate *d)
{
	struct attn a;

	if (!attn_of(m, o, &a))
		return false;
	switch (o->algorithm) {
	case OP_ATTN_PER_HEAD:
		return per_head(&a, k, d);
	case OP_ATTN_GROUPED:
		return a.c->queries && grouped(&a, k, d);
	case OP_ATTN_MATERIALISED:
		return materialised(&a, k, d);
	case OP_ATTN_FLASH:
		return in_blocks(&a) && blocks(&a, k, d);
	default:
		return false;
	}
}
