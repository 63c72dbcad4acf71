#include "arch/npu/partition.h"
#include "sim/map/map_int.h"

/* Of N:M sparse values those that are there, with their scales, and the place of each. */
static uint64_t thinned(const struct map_format *f, uint32_t bits, uint64_t values)
{
	const uint64_t kept = div_up(values * f->sparse.keep, f->sparse.of),
		       group = ps_max(1, (uint64_t)f->group * f->sparse.keep / f->sparse.of);

	return (f->quant ? quant_bytes((enum quant)f->quant, kept, group) : div_up(kept * bits, 8)) +
	       div_up(kept * log2_up(f->sparse.of), 8);
}

uint64_t map_narrowed(const struct op_tensor *t, const struct map_format *f, uint64_t bytes)
{
	const uint32_t bits = dtype_bits(t->dtype);

	if (!f || !bits)
		return bytes;
	if (f->sparse.of)
		return thinned(f, bits, bytes * 8 / bits);
	return f->quant ? quant_bytes((enum quant)f->quant, bytes * 8 / bits, f->group) : bytes;
}

uint64_t map_stored_bytes(const struct mapper *m, uint32_t tensor, uint64_t bytes)
{
	return map_narrowed(&m->s->tensors[tensor], &m->format[tensor], bytes);
}

/* Format of the values that a product streams, its weights or keys and values: as they are stored. */
static enum dtype weight_dtype(const struct mapper *m, const struct op *o)
{
	enum dtype d = o->dtype;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const uint32_t t = m->s->operands[o->first_operand + i].tensor;
		const enum quant q = (enum quant)m->format[t].quant;
		const enum dtype stored = q ? quant_dtype(q) : m->s->tensors[t].dtype;

		if (map_streams(m, o, i) && dtype_bits(stored) && dtype_bits(stored) < dtype_bits(d))
			d = stored;
	}
	return d;
}

/* The sparsity of the weights that a product streams. */
static struct sparsity sparsity_of(const struct mapper *m, const struct op *o)
{
	for (uint32_t i = 0; m->sparse.of && o->kind == OP_GEMM && i < o->n_operands; i++)
		if (map_streams(m, o, i))
			return m->format[m->s->operands[o->first_operand + i].tensor].sparse;
	return (struct sparsity){ 0, 0 };
}

/* Format in which a product takes its activations. */
static enum dtype with_dtype(const struct mapper *m, const struct op *o)
{
	const enum dtype want = quant_dtype((enum quant)m->c->activations.quant);

	return want && dtype_bits(want) < dtype_bits(o->dtype) ? want : o->dtype;
}

static bool can(const struct mapper *m, int unit, const struct unit_job *j, struct unit_plan *out)
{
	return m->unit[unit].cfg->units && partition_plan(unit_table[unit], &m->unit[unit], j, m->spread, out);
}

/* Products that were asked for, and the answers: a search asks for the same tiles again and again. */
#define ASKED 256 /* must be a power of two */
struct map_asked {
	struct {
		uint64_t m, n, k, formats; /* formats 0: nothing here */
		struct map_math best;
	} at[ASKED];
};

struct map_asked *map_asked_new(struct arena *a)
{
	return arena_alloc(a, sizeof(struct map_asked));
}

struct map_math map_fastest(const struct mapper *m, const struct unit_job *j)
{
	const int only = j->work != UNIT_PRODUCT ? -1 : j->held ? (int)j->held - 1 : (int)m->c->mapping.unit - 1;
	struct map_math best = { .plan.span = PS_NEVER };
	struct unit_plan p;

	if (only >= 0 && can(m, only, j, &p))
		return (struct map_math){ (enum unit)only, p };
	for (int last_resort = 0; last_resort < 2 && best.plan.span == PS_NEVER; last_resort++)
		for (int i = 0; i < UNIT_COUNT; i++)
			if (unit_table[i]->last_resort == last_resort && can(m, i, j, &p) &&
			    (best.plan.span == PS_NEVER || p.span + p.exchange < best.plan.span + best.plan.exchange))
				best = (struct map_math){ (enum unit)i, p };
	return best;
}

/* Where a unit of last resort multiplies as fast as memory delivers: the compiler's choice by `copy_first`, as nothing has
 * to be held in arrays first; and where it is done before `best`, its last result too. */
static bool by_lanes(const struct mapper *m, const struct unit_job *j, bool waits, const struct map_math *best,
                     struct map_math *out)
{
	const enum dtype with = j->with ? j->with : j->dtype;
	const uint64_t bytes = dtype_bytes(j->dtype, j->n * j->k) + dtype_bytes(with, j->m * (j->n + j->k));
	const ps_t least = best->plan.span == PS_NEVER ? PS_NEVER : best->plan.span + best->plan.latency;

	for (int i = 0; i < UNIT_COUNT; i++) {
		out->unit = (enum unit)i;
		if (!unit_table[i]->last_resort || !can(m, i, j, &out->plan))
			continue;
		if (out->plan.span + out->plan.latency <= least ||
		    (waits && out->plan.span <= clock_transfer(bytes, m->dram_rate)))
			return true;
	}
	return false;
}

/* `waits`: for weights from memory. */
static struct map_math best_product(const struct mapper *m, const struct unit_job *j, bool waits)
{
	const struct map_math best = map_fastest(m, j);
	struct map_math lanes;

	if (!m->c->mapping.unit && m->c->mapping.policy == MAPPING_COPY_FIRST && by_lanes(m, j, waits, &best, &lanes))
		return lanes;
	return best;
}

static struct map_math best_for(const struct mapper *m, const struct unit_job *j, bool waits)
{
	const uint64_t cut = map_split_key(&j->stationary_split) * 0x9e3779b97f4a7c15,
		       kind = (uint64_t)waits << 63 | (uint64_t)j->of << 32 | (uint64_t)j->keep << 24 |
	                      (uint64_t)j->held << 16 | (uint64_t)j->dtype << 8 | (uint64_t)j->with << 1,
		       formats = (kind ^ cut) | 1,
		       h = ((j->m * 0x9e3779b97f4a7c15 ^ j->n) * 0x9e3779b97f4a7c15 ^ j->k) * 0x9e3779b97f4a7c15 +
	                   formats;
	const uint32_t i = (uint32_t)(h >> 32) & (ASKED - 1);

	if (m->asked->at[i].formats != formats || m->asked->at[i].m != j->m || m->asked->at[i].n != j->n ||
	    m->asked->at[i].k != j->k) {
		m->asked->at[i].m = j->m, m->asked->at[i].n = j->n, m->asked->at[i].k = j->k;
		m->asked->at[i].formats = formats;
		m->asked->at[i].best = best_product(m, j, waits);
	}
	return m->asked->at[i].best;
}

struct unit_job map_job(const struct mapper *m, const struct op *o)
{
	const struct sparsity s = sparsity_of(m, o);

	return (struct unit_job){ .work = UNIT_PRODUCT,
		                  .dtype = weight_dtype(m, o),
		                  .with = with_dtype(m, o),
		                  .m = o->shape.m,
		                  .n = o->shape.n,
		                  .k = o->shape.k,
		                  .passes = o->shape.passes,
		                  .keep = s.keep,
		                  .of = s.of,
		                  .held = map_stationary_unit(m, o),
		                  .stationary_split = map_stationary_split(m, o) };
}

/* Whether a product's weights come from memory: at a start with operands on chip those that do not lie there. */
static bool waits_for(const struct mapper *m, const struct op *o)
{
	for (uint32_t i = 0; i < o->n_operands && m->start == MAP_RESIDENT; i++)
		if (map_streams(m, o, i))
			return !m->resident[map_operand(m, o, i)->tensor];
	return true;
}

struct map_math map_best(const struct mapper *m, const struct unit_job *j)
{
	return j->work == UNIT_PRODUCT ? best_product(m, j, true) : map_fastest(m, j);
}

struct map_math map_product(const struct mapper *m, const struct op *o, uint64_t vectors, uint64_t rows, uint64_t cols)
{
	struct unit_job j = map_job(m, o);
	const bool waits = waits_for(m, o);

	j.m = vectors, j.n = rows, j.k = cols;
	return best_for(m, &j, waits);
}

int map_products(const struct mapper *m, const struct op *o, uint64_t vectors, uint64_t rows, uint64_t cols, int only,
                 const struct partition_limits *limits, struct map_math out[MAP_PARTITIONS])
{
	struct unit_job j = map_job(m, o);
	int n = 0;

	j.m = vectors, j.n = rows, j.k = cols;
	for (int i = 0; i < UNIT_COUNT && n + PARTITION_WAYS <= MAP_PARTITIONS; i++) {
		struct unit_plan p[PARTITION_WAYS];
		int ways;

		if (!m->unit[i].cfg->units || (only < 0 ? unit_table[i]->last_resort : i != only))
			continue;
		ways = partition_ways(unit_table[i], &m->unit[i], &j, limits, m->spread, p);
		for (int k = 0; k < ways; k++)
			out[n++] = (struct map_math){ (enum unit)i, p[k] };
	}
	return n;
}

struct map_math map_product_as(const struct mapper *m, const struct op *o, const struct map_math *full,
                               uint64_t vectors, uint64_t rows, uint64_t cols)
{
	struct unit_job j = map_job(m, o);
	struct map_math x = *full;

	j.m = vectors, j.n = rows, j.k = cols;
	partition_as(unit_table[x.unit], &m->unit[x.unit], &j, &full->plan.split, m->spread, &x.plan);
	return x;
}

/* So many columns; of a last tile on the unit of a full one, and cut as that. */
static struct map_math columns(const struct mapper *m, const struct op *o, uint64_t vectors, uint64_t rows,
                               uint64_t full_rows, uint64_t cols)
{
	const struct map_math full = map_product(m, o, vectors, full_rows, cols);

	return rows == full_rows ? full : map_product_as(m, o, &full, vectors, rows, cols);
}

bool map_dequant(const struct mapper *m, const struct op *o, enum unit by, uint64_t values, struct map_math *out)
{
	const enum dtype d = weight_dtype(m, o), with = with_dtype(m, o);
	const struct unit_ops *u = unit_table[by];
	const struct sparsity s = sparsity_of(m, o);

	values = s.of ? div_up(values * s.keep, s.of) : values;
	if (dtype_bits(d) >= dtype_bits(with) || (u->native && u->native(&m->unit[by], d, with)))
		return false;
	*out = map_fastest(m, &(struct unit_job){ .work = UNIT_DEQUANT, .dtype = d, .with = with, .elems = values });
	return true;
}

bool map_convert(const struct mapper *m, const struct op *o, uint64_t values, struct map_math *out)
{
	if (with_dtype(m, o) == o->dtype)
		return false;
	*out = map_fastest(m, &(struct unit_job){ .work = UNIT_MAP,
	                                          .elems = values,
	                                          .alu = 2, /* the largest of a group, a multiply */
	                                          .convert = 1,
	                                          .bytes = dtype_bytes(o->dtype, values) +
	                                                   dtype_bytes(with_dtype(m, o), values) });
	return true;
}

static uint64_t map_math_share(uint64_t total, uint64_t parts, bool last)
{
	uint64_t one = div_up(total, parts);

	if (!last)
		return one;
	/* The last part takes what is left; never nothing, so that every tile has a time. */
	return total > one * (parts - 1) ? total - one * (parts - 1) : 1;
}

static int job_map(const struct mapper *m, const struct op *o, uint64_t parts, bool last, struct map_math *x)
{
	const uint64_t n = map_math_share(o->shape.elems ? o->shape.elems : 1, parts, last);
	struct unit_job j = { .work = UNIT_MAP, .elems = n, .convert = op_traits[o->kind].converts };

	j.bytes = n * (dtype_bits(o->dtype) * (o->shape.arity ? o->shape.arity : 1) + dtype_bits(o->out_dtype)) / 8;
	j.divides = o->cost == OP_COST_DIV;
	j.piece = o->cost == OP_COST_ACT ? UNIT_ACT : UNIT_ANY;
	work_cost(o->cost, o->shape.arity, &j.alu, &j.sfu);
	*x = map_fastest(m, &j);
	return 1;
}

#define PIECE(id, name, work, job, piece, ...) [OP_##id] = UNIT_##piece,
static const enum unit_piece pieces[OP_KINDS] = { OP_KIND_ROWS(PIECE) };
#undef PIECE

static struct unit_job map_math_rows_of(const struct op *o, uint64_t parts, bool last)
{
	struct unit_job j = { .rows = o->shape.rows ? o->shape.rows : 1, .cols = o->shape.cols ? o->shape.cols : 1 };

	/* Tiles cut rows while there are enough, then columns. */
	if (j.rows >= parts)
		j.rows = map_math_share(j.rows, parts, last);
	else
		j.cols = div_up(map_math_share(j.rows * j.cols, parts, last), j.rows);
	return j;
}

static int job_rows(const struct mapper *m, const struct op *o, uint64_t parts, bool last, struct map_math *x)
{
	const struct op_traits *t = &op_traits[o->kind];
	struct unit_job j = map_math_rows_of(o, parts, last);

	j.work = UNIT_REDUCE;
	j.passes = t->passes;
	j.sfu = t->exp;
	j.piece = pieces[o->kind];
	j.bytes = j.rows * j.cols * dtype_bits(o->dtype) / 8;
	*x = map_fastest(m, &j);
	return 1;
}

static int job_sort(const struct mapper *m, const struct op *o, uint64_t parts, bool last, struct map_math *x)
{
	struct unit_job j = map_math_rows_of(o, parts, last);

	j.work = UNIT_SORT;
	j.top = !op_traits[o->kind].reduces ? 0 : o->shape.top ? o->shape.top : 1;
	*x = map_fastest(m, &j);
	return 1;
}

/* Scores of a tile: running maximum, exponential, sum; one row a query head. */
static struct map_math online_softmax(const struct mapper *m, uint64_t rows, uint64_t queries, uint64_t keys,
                                      uint64_t heads)
{
	struct map_math x = map_fastest(m, &(struct unit_job){ .work = UNIT_REDUCE,
	                                                       .piece = UNIT_SOFTMAX,
	                                                       .rows = rows,
	                                                       .cols = div_up(keys, heads),
	                                                       .passes = 2,
	                                                       .sfu = 1 });

	x.plan.code = ISA_SFU;
	x.plan.work = queries * keys * 3;
	x.plan.why = "online softmax";
	return x;
}

/* Keys and values of a tile against all queries of their head that see them: scores, softmax, and what narrow ones cost before. */
static int map_math_attention(const struct mapper *m, const struct op *o, uint64_t keys, uint64_t full,
                              struct map_math *out)
{
	const struct op_shape *s = &o->shape;
	const uint64_t batch = s->batch ? s->batch : 1, kv_heads = s->kv_heads ? s->kv_heads : 1,
		       group = s->heads / kv_heads ? s->heads / kv_heads : 1, vdim = s->v_dim ? s->v_dim : s->head_dim;
	struct map_math pv;
	int n = 0;

	out[n] = columns(m, o, s->q_len * group, keys, full, s->head_dim);
	pv = columns(m, o, s->q_len * group, keys, full, vdim);
	out[n].plan.span += pv.plan.span;
	out[n].plan.latency += pv.plan.latency; /* its partial sums are of keys: added up once, at the end */
	out[n++].plan.work += pv.plan.work;
	out[n++] = online_softmax(m, s->q_len * group * batch * kv_heads, s->q_len * group, keys, batch * kv_heads);
	for (int i = 0; i < n; i++)
		map_mask(m, o, out[0].unit, &out[i].plan);
	return n + map_dequant(m, o, out[0].unit, keys * (s->head_dim + vdim), &out[n]);
}

static int job_product(const struct mapper *m, const struct op *o, uint64_t parts, bool last, struct map_math *out)
{
	const struct op_shape *s = &o->shape;
	const uint64_t all = (s->batch ? s->batch : 1) * s->n, n = map_math_share(all, parts, last);

	out[0] = columns(m, o, s->m, n, map_math_share(all, parts, false), s->k);
	return 1 + (!map_stationary_unit(m, o) && map_dequant(m, o, out[0].unit, n * s->k, &out[1]));
}

static int job_attention(const struct mapper *m, const struct op *o, uint64_t parts, bool last, struct map_math *out)
{
	const struct op_shape *s = &o->shape;
	const uint64_t all = (s->batch ? s->batch : 1) * (s->kv_heads ? s->kv_heads : 1) * s->kv_len;

	return map_math_attention(m, o, map_math_share(all, parts, last), map_math_share(all, parts, false), out);
}

/* Moved by the DMA alone, or not simulated. */
static int job_none(const struct mapper *m, const struct op *o, uint64_t parts, bool last, struct map_math *out)
{
	(void)m, (void)o, (void)parts, (void)last, (void)out;
	return 0;
}

#define JOB(id, name, work, job, ...) [OP_##id] = job_##job,
static int (*const jobs[OP_KINDS])(const struct mapper *m, const struct op *o, uint64_t parts, bool last,
                                   struct map_math *out) = { OP_KIND_ROWS(JOB) };
#undef JOB

int map_math(const struct mapper *m, const struct op *o, uint64_t parts, bool last, struct map_math out[MAP_MATHS])
{
	return jobs[o->kind](m, o, parts, last, out);
}
