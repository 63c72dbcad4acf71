#include "validate/tests/synth.h"

#include <string.h>

#include "validate/tests/tablebed.h"

#define MAX_OPS      1024
#define MAX_TENSORS  2048
#define MAX_OPERANDS 4096

struct maker {
	struct arena *a;
	struct op_stream *s;
	uint64_t at;
	uint32_t last_writer[MAX_TENSORS];
};

static uint32_t tensor(struct maker *m, enum op_role role, uint64_t elems, uint32_t instances, int32_t route)
{
	struct op_tensor *t = &m->s->tensors[m->s->n_tensors];
	uint32_t id = (uint32_t)m->s->n_tensors++;

	t->name = arena_printf(m->a, "t%u", id);
	t->role = role;
	t->dtype = DT_BF16;
	t->bytes = elems * 2;
	t->addr = m->at;
	t->instances = instances;
	t->stride = round_up(t->bytes, 512);
	t->layer = -1;
	t->route = route;
	t->external = role != OP_ACTIVATION;
	m->at += t->stride * instances;
	m->last_writer[id] = UINT32_MAX;
	return id;
}

static void use(struct maker *m, struct op *o, uint32_t t, bool write, uint32_t slot)
{
	struct op_operand *x = &m->s->operands[m->s->n_operands++];

	*x = (struct op_operand){ .tensor = t,
		                  .write = write,
		                  .bytes = m->s->tensors[t].bytes,
		                  .touched = m->s->tensors[t].bytes,
		                  .slot = slot };
	o->n_operands++;
	if (m->last_writer[t] != UINT32_MAX) {
		uint32_t d = m->last_writer[t];
		bool have = false;

		for (uint32_t i = 0; i < o->n_deps; i++)
			have |= m->s->deps[o->first_dep + i] == d;
		if (!have && d != o->id) {
			m->s->deps[m->s->n_deps++] = d;
			o->n_deps++;
		}
	}
	if (write)
		m->last_writer[t] = o->id;
}

static struct op *op(struct maker *m, enum op_kind kind, uint64_t elems)
{
	struct op *o = &m->s->ops[m->s->n_ops];

	*o = (struct op){ .id = (uint32_t)m->s->n_ops,
		          .kind = kind,
		          .name = op_kind_name(kind),
		          .family = "synth",
		          .rule = "synth",
		          .layer = -1,
		          .dtype = DT_BF16,
		          .out_dtype = DT_BF16,
		          .acc_dtype = DT_FP32,
		          .cost = OP_COST_ALU,
		          .fn = "",
		          .first_operand = (uint32_t)m->s->n_operands,
		          .first_dep = (uint32_t)m->s->n_deps,
		          .routed_by = -1,
		          .measured_ns = 2000 };
	o->shape.elems = elems;
	o->shape.arity = 1;
	m->s->n_ops++;
	return o;
}

static uint32_t gemv(struct maker *m, uint32_t in, uint64_t k, uint64_t n, uint32_t w, uint32_t slot, int32_t route)
{
	struct op *o = op(m, OP_GEMM, 0);
	uint32_t out = tensor(m, OP_ACTIVATION, n, 1, -1);

	o->shape = (struct op_shape){ .batch = 1, .m = 1, .n = n, .k = k };
	o->routed_by = route;
	use(m, o, in, false, 0);
	use(m, o, w, false, slot);
	use(m, o, out, true, 0);
	return out;
}

static uint32_t map1(struct maker *m, const char *fn, enum op_cost cost, uint64_t n, uint32_t x, uint32_t y)
{
	struct op *o = op(m, OP_ELEMENTWISE, n);
	uint32_t out = tensor(m, OP_ACTIVATION, n, 1, -1);

	o->fn = fn;
	o->cost = cost;
	o->shape.arity = y == UINT32_MAX ? 1 : 2;
	use(m, o, x, false, 0);
	if (y != UINT32_MAX)
		use(m, o, y, false, 0);
	use(m, o, out, true, 0);
	return out;
}

static uint32_t rows(struct maker *m, enum op_kind kind, uint64_t r, uint64_t c, uint32_t x, uint64_t out_elems)
{
	struct op *o = op(m, kind, 0);
	uint32_t out = tensor(m, OP_ACTIVATION, out_elems, 1, -1);

	o->shape = (struct op_shape){ .rows = r, .cols = c, .top = kind == OP_TOPK ? out_elems : 0 };
	use(m, o, x, false, 0);
	use(m, o, out, true, 0);
	return out;
}

static uint32_t append(struct maker *m, uint64_t heads, uint64_t len, uint64_t d, uint32_t row)
{
	struct op *o = op(m, OP_CONCAT, heads * (len + 1) * d);
	uint32_t old = tensor(m, OP_KV, heads * len * d, 1, -1), out = tensor(m, OP_KV, heads * (len + 1) * d, 1, -1);

	m->s->tensors[out].external = false;
	o->shape.arity = 2;
	use(m, o, old, false, 0);
	use(m, o, row, false, 0);
	use(m, o, out, true, 0);
	return out;
}

static uint32_t attend(struct maker *m, uint64_t heads, uint64_t len, uint64_t d, uint32_t q, uint32_t k, uint32_t v)
{
	struct op *o = op(m, OP_ATTENTION, 0);
	uint32_t out = tensor(m, OP_ACTIVATION, heads * d, 1, -1);

	o->shape = (struct op_shape){
		.batch = 1, .heads = heads, .kv_heads = heads, .q_len = 1, .kv_len = len, .head_dim = d, .v_dim = d
	};
	use(m, o, q, false, 0);
	use(m, o, k, false, 0);
	use(m, o, v, false, 0);
	use(m, o, out, true, 0);
	return out;
}

static uint32_t experts(struct maker *m, uint32_t x, uint64_t hidden, uint64_t inner, uint32_t n, uint32_t top)
{
	int32_t r = (int32_t)m->s->n_routes++;
	uint32_t score = gemv(m, x, hidden, n, tensor(m, OP_WEIGHT, hidden * n, 1, -1), 0, -1);
	uint32_t picks = rows(m, OP_TOPK, 1, n, rows(m, OP_SOFTMAX, 1, n, score, n), top);
	uint32_t up = tensor(m, OP_WEIGHT, hidden * inner, n, r), down = tensor(m, OP_WEIGHT, hidden * inner, n, r),
		 sum = x;
	struct op *sync = op(m, OP_HOST_SYNC, 0);

	use(m, sync, picks, false, 0);
	m->s->routes[r] = (struct op_route){
		.experts = n, .top = top, .layer = -1, .topk_op = sync->id - 1, .sync_op = sync->id
	};
	for (uint32_t k = 0; k < top; k++) {
		uint32_t h = map1(m, "silu", OP_COST_ACT, inner, gemv(m, x, hidden, inner, up, k, r), UINT32_MAX);

		sum = map1(m, "add", OP_COST_ALU, hidden, sum, gemv(m, h, inner, hidden, down, k, r));
	}
	return sum;
}

static struct op_stream *empty(struct arena *a)
{
	struct op_stream *s = arena_alloc(a, sizeof *s);

	s->source = s->digest = "synth";
	s->ops = arena_array(a, MAX_OPS, sizeof *s->ops);
	s->tensors = arena_array(a, MAX_TENSORS, sizeof *s->tensors);
	s->operands = arena_array(a, MAX_OPERANDS, sizeof *s->operands);
	s->deps = arena_array(a, MAX_OPERANDS, sizeof *s->deps);
	s->routes = arena_array(a, 64, sizeof *s->routes);
	s->wall_ns = -1;
	return s;
}

struct op_stream *synth_products(struct arena *a, uint64_t m, uint64_t k, const uint64_t *n, uint32_t count, bool chain)
{
	struct maker mk = { .a = a, .s = empty(a), .at = 4096 };
	uint32_t x = tensor(&mk, OP_CONSTANT, m * k, 1, -1);

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t w = tensor(&mk, OP_WEIGHT, n[i] * k, 1, -1);
		struct op *o = op(&mk, OP_GEMM, 0);
		uint32_t y;

		o->shape = (struct op_shape){ .batch = 1, .m = m, .n = n[i], .k = k };
		use(&mk, o, x, false, 0);
		use(&mk, o, w, false, 0);
		use(&mk, o, y = tensor(&mk, OP_ACTIVATION, m * n[i], 1, -1), true, 0);
		x = chain ? y : x;
	}
	mk.s->addr_end = mk.at;
	return mk.s;
}

struct op_stream *synth_product(struct arena *a, uint64_t m, uint64_t n, uint64_t k)
{
	return synth_products(a, m, k, &n, 1, false);
}

uint64_t synth_size(struct rng *r, uint64_t least, int doublings)
{
	const uint64_t n = least << rng_below(r, (uint64_t)doublings);

	return n + rng_below(r, n); /* odd sizes too */
}

struct op_stream *synth_op(struct rng *r, struct arena *a)
{
	struct maker m = { .a = a, .s = empty(a), .at = 4096 };
	const uint64_t sort = rng_below(r, 10), rows_ = synth_size(r, 1, 10), cols = synth_size(r, 64, 6);

	if (sort < 6)
		return synth_product(a, synth_size(r, 1, 11), synth_size(r, 64, 6), synth_size(r, 64, 6));
	if (sort < 8) {
		const uint64_t heads = synth_size(r, 1, 5), len = synth_size(r, 32, 7), d = 32 << rng_below(r, 3);

		attend(&m, heads, len, d, tensor(&m, OP_CONSTANT, heads * d, 1, -1),
		       tensor(&m, OP_KV, heads * len * d, 1, -1), tensor(&m, OP_KV, heads * len * d, 1, -1));
	} else if (sort < 9) {
		const enum op_kind kind = rng_below(r, 2) ? OP_SOFTMAX : OP_REDUCE;

		rows(&m, kind, rows_, cols, tensor(&m, OP_CONSTANT, rows_ * cols, 1, -1),
		     kind == OP_SOFTMAX ? rows_ * cols : rows_);
	} else {
		map1(&m, "mul", OP_COST_ALU, rows_ * cols, tensor(&m, OP_CONSTANT, rows_ * cols, 1, -1),
		     tensor(&m, OP_CONSTANT, rows_ * cols, 1, -1));
	}
	m.s->addr_end = m.at;
	return m.s;
}

struct op_stream *synth_step(struct rng *r, struct arena *a, int layers, bool with_experts)
{
	struct maker m = { .a = a, .at = 4096 };
	uint64_t hidden = 64 * (1 + rng_below(r, 16)), heads = 1 + rng_below(r, 8), d = 32 * (1 + rng_below(r, 4));
	uint64_t len = 16 + rng_below(r, 512), inner = 64 * (1 + rng_below(r, 40)), vocab = 1000 + rng_below(r, 20000);
	uint32_t x;

	m.s = empty(a);
	x = map1(&m, "mul", OP_COST_ALU, hidden, tensor(&m, OP_CONSTANT, hidden, 1, -1), UINT32_MAX);
	for (int l = 0; l < layers; l++) {
		uint32_t n = map1(&m, "mul", OP_COST_ALU, hidden, x, rows(&m, OP_REDUCE, 1, hidden, x, 1)), q, k, v, o;

		q = gemv(&m, n, hidden, heads * d, tensor(&m, OP_WEIGHT, hidden * heads * d, 1, -1), 0, -1);
		k = gemv(&m, n, hidden, heads * d, tensor(&m, OP_WEIGHT, hidden * heads * d, 1, -1), 0, -1);
		v = gemv(&m, n, hidden, heads * d, tensor(&m, OP_WEIGHT, hidden * heads * d, 1, -1), 0, -1);
		k = append(&m, heads, len, d, k);
		v = append(&m, heads, len, d, v);
		o = attend(&m, heads, len + 1, d, q, k, v);
		o = gemv(&m, o, heads * d, hidden, tensor(&m, OP_WEIGHT, hidden * heads * d, 1, -1), 0, -1);
		x = map1(&m, "add", OP_COST_ALU, hidden, x, o);
		if (with_experts) {
			x = experts(&m, x, hidden, inner, 8, 2);
			continue;
		}
		o = gemv(&m, x, hidden, inner, tensor(&m, OP_WEIGHT, hidden * inner, 1, -1), 0, -1);
		o = map1(&m, "silu", OP_COST_ACT, inner, o, UINT32_MAX);
		o = gemv(&m, o, inner, hidden, tensor(&m, OP_WEIGHT, hidden * inner, 1, -1), 0, -1);
		x = map1(&m, "add", OP_COST_ALU, hidden, x, o);
	}
	x = gemv(&m, x, hidden, vocab, tensor(&m, OP_WEIGHT, hidden * vocab, 1, -1), 0, -1);
	rows(&m, OP_REDUCE, 1, vocab, x, 1);
	m.s->addr_end = m.at;
	return m.s;
}

static const char *pick(struct rng *r, const char *const *v, size_t n)
{
	return v[rng_below(r, n)];
}

/* The first, which is ideal, three times as often as any other. */
static const char *network(struct rng *r)
{
	const struct words w = networks();
	const uint64_t i = rng_below(r, w.n + 2);

	return w.v[i < 2 ? 0 : i - 2];
}

void synth_machine(struct rng *r, struct str *y)
{
	static const char *const kinds[] = { "hbm2-2000", "hbm3-6400", "gddr6-14000", "lpddr5-6400", "ddr5-6400" };
	static const char *const l2[] = { "0", "256 KiB", "1 MiB", "8 MiB", "64 MiB" };
	static const char *const kv[] = { "0", "0", "256 KiB", "4 MiB" };
	static const char *const clocks[] = { "700 MHz", "1 GHz", "1.3 GHz" };
	static const char *const flags[] = { "false", "true" };

	str_addf(y, "name: synth\nclock: %s\ncores: %d\n", pick(r, clocks, 3), 1 << rng_below(r, 6));
	str_addf(y,
	         "dispatch: {latency: %d ns, interval: %d ns, queue: %d, batch: %d, dynamic: %s, host: 5 us, launch: 1 "
	         "us}\n",
	         (int)rng_below(r, 500), (int)rng_below(r, 60), 1 + (int)rng_below(r, 32), 1 + (int)rng_below(r, 8),
	         pick(r, flags, 2));
	str_addf(y, "dma: {stages: %d, outstanding: %d}\n", 2 + (int)rng_below(r, 7), 4 + (int)rng_below(r, 32));
	str_addf(y, "sram: {size: %d KiB}\n", 64 << rng_below(r, 4));
	str_addf(y, "gemv: {units: %d, lanes: %d}\n", (int)rng_below(r, 5), 8 << rng_below(r, 3));
	str_addf(y, "matrix: {units: %d, rows: %d, cols: %d}\n", (int)rng_below(r, 2), 8 << rng_below(r, 3),
	         8 << rng_below(r, 4));
	str_addf(y, "fusion: {enabled: %s, buffer: %d KiB}\n", pick(r, flags, 2), 16 << rng_below(r, 4));
	str_addf(y, "kv_buffer: {size: %s}\n", pick(r, kv, 4));
	str_addf(y, "l2: {size: %s}\n", pick(r, l2, 5));
	str_addf(y, "dram: {kind: %s, channels: %d}\n", pick(r, kinds, 5), 1 << rng_below(r, 5));
	str_addf(y, "noc: {kind: %s", network(r));
	str_addf(y, ", multicast: %s", pick(r, flags, 2));
	str_addf(y, ", reduce: %s, port: %d B}\n", pick(r, flags, 2), 32 << rng_below(r, 3));
}
