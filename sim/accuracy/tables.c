#include "sim/accuracy/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/gpu/gpu_geometry.h"
#include "arch/machine/machine_gpu.h"
#include "sim/accuracy/picks.h"
#include "sim/base/hash.h"
#include "traces/text/csv.h"
#include "traces/text/decimal.h"
#include "workloads/experts.h"

#define COPIES 6                   /* of weights, and calls in a graph */
#define MANY   3                   /* times the L2: nothing of it is found again */
#define NODE   (380 * PS_NS)       /* a node of a graph of a process that has captured many (arch/gpu/host.c) */
#define PAGE   (UINT64_C(2) << 20) /* of device memory */
#define PAGES  UINT64_C(32768)
/* Of one row of fp8 on data-centre Blackwell, whatever its size: 14 to 21 us of 19 rows of a GB200, 13 of 15 of a B200, which
 * no other format has; one row in twelve of more than one has as much. Of the benchmark, it seems: no kernel is known. */
#define STALL (15 * PS_US)
#define OPS   12 /* at most, of a row */
#define PLAN  8  /* numbers of a sequence that a planning kernel moves */

/* --- rows ---------------------------------------------------------------------------------------------------- */

enum column {
	GPU,
	KERNEL,
	DTYPE,
	M,
	N,
	K,
	KV_DTYPE,
	BATCH,
	HEADS,
	KV_HEADS,
	DIM,
	WINDOW,
	KV_LEN,
	QUERIES,
	PAST,
	TOKENS,
	HIDDEN,
	INTER,
	TOP,
	EXPERTS,
	SHARED_BY,
	SPREAD_OVER,
	PICKS,
	SHAPE,
	SOURCE,
	TIME,
	COLUMNS
};

static const char *const names[COLUMNS] = {
	"gpu",         "kernel",         "dtype",        "m",         "n",
	"k",           "kv_cache_dtype", "batch_size",   "num_heads", "num_key_value_heads",
	"head_dim",    "window_size",    "kv_len",       "isl",       "step",
	"num_tokens",  "hidden_size",    "inter_size",   "topk",      "num_experts",
	"moe_tp_size", "moe_ep_size",    "distribution", "shape",     "source",
	"time_us",
};
/* What the benchmark's own files call a column. */
static const char *const also[COLUMNS] = { [KERNEL] = "kernel_source", [TIME] = "us", [DTYPE] = "moe_dtype" };

struct table {
	struct csv *csv;
	const char *name;
	int at[COLUMNS]; /* -1: not in this table */
	const struct machine_cfg *m;
	struct gpu gpu;
	const struct kernels *k;
	const struct tables_opts *o;
	struct tables_stats *st;
	struct cases *out;
	struct arena *a;
	struct gpu_traffic *traffic;
	size_t room, op_room, launch_room;
	struct {
		uint64_t bytes, small, copies, hit;
	} last; /* what was found of weights of that size */
};

static const char *tables_text(const struct table *t, enum column c)
{
	return t->at[c] < 0 ? "" : csv_field(t->csv, (size_t)t->at[c]);
}

static int tables_refuse(const struct table *t, const char *what, const char *value, struct err *e)
{
	return err_set(e, ERR_IO, "%s:%llu: %s '%s'", t->name, (unsigned long long)csv_line(t->csv), what, value);
}

static int tables_number(const struct table *t, enum column c, uint64_t most, uint64_t *out, struct err *e)
{
	const char *s = tables_text(t, c);
	char *end;

	*out = strtoull(s, &end, 10);
	if (end == s || *end || *s == '-' || *out > most)
		return err_set(e, ERR_IO, "%s:%llu: '%s' is '%s', not a whole number up to %llu", t->name,
		               (unsigned long long)csv_line(t->csv), names[c], s, (unsigned long long)most);
	return 0;
}

static int tables_header(struct table *t, struct err *e)
{
	static const enum column products[] = { GPU, KERNEL, DTYPE, M, N, K, TIME },
				 attention[] = { GPU, KERNEL, KV_DTYPE, BATCH, HEADS, KV_HEADS, DIM, KV_LEN, TIME },
				 prompts[] = { KERNEL, KV_DTYPE, BATCH, HEADS, KV_HEADS, DIM, QUERIES, TIME },
				 experts[] = { KERNEL,  DTYPE,     TOKENS,      HIDDEN, INTER, TOP,
		                               EXPERTS, SHARED_BY, SPREAD_OVER, PICKS,  TIME },
				 collection[] = { GPU, KERNEL, SHAPE, DTYPE, SOURCE, TIME };
	const enum column *must = products;
	size_t n = sizeof products / sizeof *products;
	int rc = csv_row(t->csv, e);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(e, ERR_IO, "%s: is empty: a header is due", t->name);
	for (int c = 0; c < COLUMNS; c++) {
		t->at[c] = -1;
		for (size_t i = 0; i < csv_count(t->csv); i++)
			if (strcmp(csv_field(t->csv, i), names[c]) == 0 ||
			    (also[c] && strcmp(csv_field(t->csv, i), also[c]) == 0))
				t->at[c] = (int)i;
	}
	if (t->at[KV_LEN] >= 0)
		must = attention, n = sizeof attention / sizeof *attention;
	else if (t->at[QUERIES] >= 0)
		must = prompts, n = sizeof prompts / sizeof *prompts;
	else if (t->at[EXPERTS] >= 0)
		must = experts, n = sizeof experts / sizeof *experts;
	else if (t->at[SHAPE] >= 0)
		must = collection, n = sizeof collection / sizeof *collection;
	for (size_t i = 0; i < n; i++)
		if (t->at[must[i]] < 0)
			return err_set(e, ERR_IO, "%s:1: no column '%s': this is no table of kernel times", t->name,
			               names[must[i]]);
	return 0;
}

static enum dtype dtype_of(const char *s)
{
	return strcmp(s, "bfloat16") == 0 || strcmp(s, "bf16") == 0 ? DT_BF16
	       : strcmp(s, "float16") == 0                          ? DT_FP16
	       : strcmp(s, "fp8") == 0                              ? DT_FP8
	       : strcmp(s, "nvfp4") == 0                            ? DT_FP4
	                                                            : DT_NONE;
}

/* --- ops ----------------------------------------------------------------------------------------------------- */

static uint32_t tables_tensor(struct op_stream *s, const char *name, enum op_role role, enum dtype d, uint64_t bytes,
                              bool external)
{
	struct op_tensor *x = &s->tensors[s->n_tensors];

	*x = (struct op_tensor){ .name = name,
		                 .role = role,
		                 .dtype = d,
		                 .bytes = bytes,
		                 .addr = s->addr_end,
		                 .instances = 1,
		                 .layer = -1,
		                 .route = -1,
		                 .external = external };
	s->addr_end = round_up(s->addr_end + bytes, 4096);
	return (uint32_t)s->n_tensors++;
}

static void operand(struct op_stream *s, struct op *o, uint32_t t, bool write)
{
	uint64_t bytes = s->tensors[t].bytes;

	s->operands[s->n_operands++] =
		(struct op_operand){ .tensor = t, .write = write, .bytes = bytes, .touched = bytes };
	o->n_operands++;
}

static struct op *tables_add_op(struct op_stream *s, enum op_kind kind, const char *name, const char *family,
                                enum dtype d)
{
	struct op *o = &s->ops[s->n_ops];

	*o = (struct op){ .id = (uint32_t)s->n_ops,
		          .kind = kind,
		          .name = name,
		          .family = family,
		          .rule = "table",
		          .layer = -1,
		          .dtype = d,
		          .out_dtype = DT_BF16,
		          .acc_dtype = DT_FP32,
		          .fn = "",
		          .first_operand = (uint32_t)s->n_operands,
		          .first_launch = (uint32_t)s->n_launches,
		          .routed_by = -1 };
	s->n_ops++;
	return o;
}

/* The op's launches by the library's rules; what their bytes are is told by the caller. */
static bool lay_out(struct table *t, struct op *o)
{
	struct op_stream *s = &t->out->stream;
	struct geometry x;

	if (!gpu_geometry_of(&t->gpu, t->k, s, o, &x))
		return false;
	o->n_launches = x.n;
	for (uint32_t i = 0; i < x.n; i++) {
		s->launches[s->n_launches] = x.at[i];
		t->out->work.launches[s->n_launches] = (struct gpu_launch){ .stream = s,
			                                                    .op = o,
			                                                    .at = &s->launches[s->n_launches],
			                                                    .kernel = x.kernel[i],
			                                                    .nth = i,
			                                                    .count = x.n };
		s->n_launches++;
	}
	t->out->work.n = s->n_launches;
	return true;
}

/* --- what is found in the L2 --------------------------------------------------------------------------------- */

/* Memory is mapped by pages, which lie where the allocator put them: sets of an L2 fill unevenly. */
static int move_pages(struct table *t, uint64_t at, uint64_t bytes, struct gpu_mem *m, struct err *e)
{
	for (uint64_t done = 0; done < bytes; done += PAGE) {
		uint64_t n = bytes - done < PAGE ? bytes - done : PAGE;

		if (gpu_traffic_move(t->traffic, hash_mix(HASH_INIT + (at + done) / PAGE) % PAGES * PAGE, n, false, m,
		                     e) < 0)
			return -1;
	}
	return 0;
}

/* Of `bytes` that are read once each turn, `copies` of them in turn, each beside `small` bytes that all turns share. */
static int found(struct table *t, uint64_t bytes, uint64_t small, uint64_t copies, uint64_t *hit, struct err *e)
{
	uint64_t apart = round_up(bytes, PAGE);
	struct gpu_mem m = { 0 }, other = { 0 };

	*hit = 0;
	if (bytes > MANY * t->m->mem.l2.size / copies)
		return 0;
	if (t->last.bytes == bytes && t->last.small == small && t->last.copies == copies)
		return *hit = t->last.hit, 0;
	gpu_traffic_forget(t->traffic);
	for (uint64_t i = 0; i < 2 * copies; i++) {
		if (i == copies) /* the second round counts */
			memset(&m, 0, sizeof m);
		if (move_pages(t, i % copies * apart, bytes, &m, e) < 0 ||
		    move_pages(t, copies * apart, small, &other, e) < 0)
			return -1;
	}
	t->last.bytes = bytes;
	t->last.small = small;
	t->last.copies = copies;
	*hit = t->last.hit = m.read_hit / copies;
	return 0;
}

/* Weights (or keys and values), a part of `all` that is read once a turn, as the L2 has them; tokens and results were there a call ago, and are still if a call's
 * bytes leave them room. */
static int tables_move_beside(struct table *t, struct op *o, uint64_t large, uint64_t copies, uint64_t all,
                              struct err *e)
{
	const struct op_stream *s = &t->out->stream;
	struct gpu_mem m = { 0 };
	uint64_t hit, small;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = &s->operands[o->first_operand + i];

		*(x->write ? &m.write : &m.read) += x->touched;
	}
	small = m.read - large;
	if (large && found(t, all, small + m.write, copies, &hit, e) < 0)
		return -1;
	m.read_hit = (large ? (uint64_t)((double)hit / (double)all * (double)large) : 0) +
	             (all + small + m.write < t->m->mem.l2.size ? small : 0);
	m.write_back = all + small + m.write < t->m->mem.l2.size ? 0 : m.write;
	for (uint32_t i = 0; i < o->n_launches; i++) {
		struct gpu_launch *l = &t->out->work.launches[o->first_launch + i];

		if (l->kernel.moves == KERNEL_MOVES_ALL || l->kernel.moves == KERNEL_MOVES_READS)
			l->mem.read = m.read, l->mem.read_hit = m.read_hit;
		if (l->kernel.moves == KERNEL_MOVES_ALL || l->kernel.moves == KERNEL_MOVES_WRITES)
			l->mem.write = m.write, l->mem.write_back = m.write_back;
	}
	return 0;
}

static int tables_move(struct table *t, struct op *o, uint64_t large, uint64_t copies, struct err *e)
{
	return tables_move_beside(t, o, large, copies, large, e);
}

/* --- samples ------------------------------------------------------------------------------------------------- */

static int time_ns(const struct table *t, uint64_t *ns, struct err *e)
{
	int64_t v;

	if (decimal_scaled(tables_text(t, TIME), strlen(tables_text(t, TIME)), DECIMAL_US_TO_NS, &v) < 0 || v <= 0)
		return tables_refuse(t, "'time_us' is no time:", tables_text(t, TIME), e);
	*ns = (uint64_t)v;
	return 0;
}

static int tables_grow(struct table *t, struct err *e)
{
	struct cases *c = t->out;
	struct op_stream *s = &c->stream;

	/* Rows are counted before they are read: all arrays have their size. */
	if (c->n + 1 > t->room || s->n_ops + OPS > t->op_room || s->n_launches + OPS + 1 > t->launch_room)
		return err_set(e, ERR_IO, "%s: grew while it was read", t->name);
	return 0;
}

static void add_sample(struct table *t, const char *name, const char *cls, uint32_t first_op, uint64_t ns,
                       uint64_t calls)
{
	struct cases *c = t->out;
	struct sample *x = &c->v[c->n++];
	const struct op *first = &c->stream.ops[first_op];
	const struct host_cfg *h = &t->m->gpu.host;
	uint64_t nodes = c->stream.n_launches - first->first_launch;

	*x = (struct sample){ .name = name,
		              .cls = cls,
		              .group = arena_strdup(t->a, tables_text(t, GPU)),
		              .measured_ns = ns,
		              .low_ns = ns,
		              .high_ns = ns,
		              .reps = 1,
		              .first_op = first_op,
		              .n_ops = (uint32_t)c->stream.n_ops - first_op,
		              .launch = UINT32_MAX,
		              .split = SAMPLE_HELD_OUT,
		              .hash = hash_str(HASH_INIT, name),
		              .around = h->graph_launch / calls + nodes * (NODE > h->record ? NODE - h->record : 0) };
}

/* Takes back what a row without a rule has added. */
static int tables_drop(struct table *t, size_t ops, size_t operands, size_t tensors, size_t launches)
{
	struct op_stream *s = &t->out->stream;

	s->n_ops = ops;
	s->n_operands = operands;
	s->n_tensors = tensors;
	s->n_launches = t->out->work.n = launches;
	t->st->no_rule++;
	return 0;
}

/* A kernel that reads so many bytes and writes so many. */
static int tables_pass(struct table *t, const char *name, const char *cls, uint64_t from, uint64_t to, bool strided,
                       struct err *e)
{
	struct op_stream *s = &t->out->stream;
	struct op *o = tables_add_op(s, OP_COPY, name, cls, DT_BF16);

	o->shape.elems = div_up(from > to ? from : to, 2);
	o->shape.strided = strided;
	operand(s, o, tables_tensor(s, "from", OP_ACTIVATION, DT_BF16, from, true), false);
	operand(s, o, tables_tensor(s, "to", OP_ACTIVATION, DT_BF16, to, true), true);
	lay_out(t, o);
	return tables_move(t, o, 0, 1, e);
}

static int tables_copy(struct table *t, const char *name, const char *cls, uint64_t elems, bool strided, struct err *e)
{
	return tables_pass(t, name, cls, 2 * elems, 2 * elems, strided, e);
}

/* nvfp4 has a scale of 8 bits for 16 values. */
static uint64_t stored(enum dtype d, uint64_t values)
{
	return dtype_bytes(d, values) + (d == DT_FP4 ? values / 16 : 0);
}

static int product_row(struct table *t, const char *type, uint64_t m, uint64_t n, uint64_t k, struct err *e)
{
	struct op_stream *s = &t->out->stream;
	size_t ops = s->n_ops, operands = s->n_operands, tensors = s->n_tensors, launches = s->n_launches;
	enum dtype d = dtype_of(type);
	uint64_t ns, weights = stored(d, n * k);
	uint64_t copies = d == DT_FP4 ? 1 : COPIES;
	const uint32_t capability = t->gpu.cfg->sm.capability;
	const bool stalls = m == 1 && d == DT_FP8 && capability >= 100 && capability < 110;
	const char *cls = arena_printf(t->a, "gemm %s%s", type, m == 1 ? ", 1 row" : "");
	const char *name = arena_printf(t->a, "%s M=%llu N=%llu K=%llu", type, (unsigned long long)m,
	                                (unsigned long long)n, (unsigned long long)k);
	uint32_t x, y;
	struct op *o;

	if (time_ns(t, &ns, e) < 0 || tables_grow(t, e) < 0)
		return -1;
	if (d == DT_NONE)
		return tables_refuse(t, "unknown type", type, e);
	x = tables_tensor(s, "x", OP_ACTIVATION, DT_BF16, 2 * m * k, true);
	if (d != DT_BF16 && d != DT_FP16) { /* the tokens are quantised first */
		y = tables_tensor(s, "quantised", OP_ACTIVATION, d, stored(d, m * k), false);
		o = tables_add_op(s, OP_CONVERT, name, cls, DT_BF16);
		o->out_dtype = d;
		o->shape.elems = m * k;
		o->shape.arity = 1;
		operand(s, o, x, false);
		operand(s, o, y, true);
		if (!lay_out(t, o))
			return tables_drop(t, ops, operands, tensors, launches);
		if (tables_move(t, o, 0, 1, e) < 0)
			return -1;
		/* What runs beside one row and no other is not known: as long as a copy (one of four rows shows it), or longer. */
		if (m == 1 && d == DT_FP8 && !stalls && tables_copy(t, name, cls, k, false, e) < 0)
			return -1;
		x = y;
	}
	o = tables_add_op(s, OP_GEMM, name, cls, d);
	o->shape = (struct op_shape){ .batch = 1, .m = m, .n = n, .k = k };
	operand(s, o, x, false);
	operand(s, o, tables_tensor(s, "w", OP_WEIGHT, d, weights, true), false);
	operand(s, o, tables_tensor(s, "y", OP_ACTIVATION, DT_BF16, 2 * m * n, false), true);
	if (!lay_out(t, o))
		return tables_drop(t, ops, operands, tensors, launches);
	if (tables_move(t, o, weights, copies, e) < 0)
		return -1;
	add_sample(t, name, cls, (uint32_t)ops, ns, copies);
	if (stalls)
		t->out->v[t->out->n - 1].around += STALL;
	t->st->read++;
	return 0;
}

/* The benchmark names the engine's backend. */
static enum op_library library_of(const char *kernel)
{
	static const struct {
		const char *kernel;
		enum op_library library;
	} backends[] = {
		{ "vllm_flash_attn_fa4", OP_LIBRARY_FLASH3 },
		{ "vllm_flash_attn_fa3", OP_LIBRARY_FLASH3 },
		{ "vllm_flash_attn_fa2", OP_LIBRARY_FLASH2 },
		{ "vllm_flash_attn", OP_LIBRARY_FLASH2 },
		{ "vllm_flashinfer_fidecode", OP_LIBRARY_FLASHINFER },
		{ "vllm_flashinfer_fiprefill", OP_LIBRARY_FLASHINFER },
		{ "vllm_flashinfer_trtllmdecode", OP_LIBRARY_TRTLLM },
		{ "vllm_triton_attn", OP_LIBRARY_TRITON },
	};

	for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
		if (strcmp(kernel, backends[i].kernel) == 0)
			return backends[i].library;
	return OP_LIBRARY_ANY;
}

static int attention_row(struct table *t, const char *kernel, const char *kv_type, const struct op_shape *shape,
                         uint64_t window, struct err *e)
{
	struct op_stream *s = &t->out->stream;
	size_t ops = s->n_ops, operands = s->n_operands, tensors = s->n_tensors, launches = s->n_launches;
	enum dtype d = dtype_of(kv_type);
	uint64_t ns, kv, rows = shape->batch, q = 2 * rows * shape->q_len * shape->heads * shape->head_dim;
	const bool prompt = shape->q_len > 1;
	const char *cls = arena_printf(t->a, "attention %s%s", kernel, prompt ? ", prompts" : "");
	const char *queries = prompt ? arena_printf(t->a, " q=%llu", (unsigned long long)shape->q_len) : "";
	const char *name = arena_printf(t->a, "B=%llu h=%llu kv_h=%llu d=%llu%s kv=%llu%s", (unsigned long long)rows,
	                                (unsigned long long)shape->heads, (unsigned long long)shape->kv_heads,
	                                (unsigned long long)shape->head_dim, queries, (unsigned long long)shape->kv_len,
	                                window ? " window" : "");
	/* Queries of heads that share keys become rows of a tile: a copy there and back, but where the strides say it.
	 */
	const bool flash = strncmp(kernel, "vllm_flash_attn", 15) == 0;
	const enum op_library library = library_of(kernel);
	const bool regroups = library == OP_LIBRARY_FLASH2 && !window && !prompt && shape->heads > shape->kv_heads &&
	                      shape->kv_heads > 1 && rows > 1;
	struct op *o;

	if (time_ns(t, &ns, e) < 0 || tables_grow(t, e) < 0)
		return -1;
	if (d == DT_NONE)
		return tables_refuse(t, "unknown type", kv_type, e);
	if (((strcmp(kernel, "vllm_flash_attn") == 0 || prompt) &&
	     tables_copy(t, name, cls, 2 * rows * shape->q_len * shape->kv_heads * shape->head_dim, prompt, e) < 0) ||
	    (library == OP_LIBRARY_FLASH3 && tables_copy(t, name, cls, PLAN * rows, true, e) < 0) ||
	    (regroups && tables_copy(t, name, cls, q / 2, true, e) < 0))
		return -1;
	o = tables_add_op(s, OP_ATTENTION, name, cls, d);
	o->shape = *shape;
	if (window && window < shape->kv_len) {
		o->shape.window = window;
		if (!prompt)
			o->shape.kv_len = window;
	}
	o->shape.paged = true;
	o->algorithm = flash ? OP_ATTN_FLASH : OP_ATTN_SPLIT_KV;
	o->library = library;
	if (library == OP_LIBRARY_FLASH2 && window) /* then heads stay apart */
		o->shape.kv_heads = o->shape.heads;
	kv = 2 * dtype_bytes(d, rows * shape->kv_heads * shape->head_dim * o->shape.kv_len);
	operand(s, o, tables_tensor(s, "q", OP_ACTIVATION, DT_BF16, q, true), false);
	operand(s, o, tables_tensor(s, "kv", OP_KV, d, kv, true), false);
	operand(s, o, tables_tensor(s, "out", OP_ACTIVATION, DT_BF16, q, false), true);
	if (!lay_out(t, o))
		return tables_drop(t, ops, operands, tensors, launches);
	if (tables_move(t, o, kv, 1, e) < 0 || (regroups && tables_copy(t, name, cls, q / 2, true, e) < 0))
		return -1;
	add_sample(t, name, cls, (uint32_t)ops, ns, 1);
	t->st->read++;
	return 0;
}

/* --- experts -------------------------------------------------------------------------------------------------- */

#define MARLIN "marlin_experts"
#define CALLS  5 /* of uneven picks in a graph, each with its own */

/* What a row does not say of the model that has such experts: their router and whether they have a gate. Sources: DeepSeek-V3's
 * config.json (n_group, topk_group); those of Nemotron 3 (mlp_hidden_act relu2: one matrix up, no gate; the largest's
 * experts work on a latent of 2048). */
static const struct engine_model {
	uint64_t hidden, inter, top, experts;
	uint32_t groups, kept;
	bool plain; /* no gate */
} models[] = {
	{ 7168, 2048, 8, 256, 8, 4, false },
	{ 2688, 1856, 6, 128, 0, 0, true },
	{ 2048, 5120, 22, 512, 0, 0, true },
};

static struct engine_model engine_model_of(uint64_t hidden, uint64_t inter, uint64_t top, uint64_t experts)
{
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (models[i].hidden == hidden && models[i].inter == inter && models[i].top == top &&
		    models[i].experts == experts)
			return models[i];
	return (struct engine_model){ .hidden = hidden, .inter = inter, .top = top, .experts = experts };
}

/* The kernel of experts that are not laid out as vLLM's Triton kernel lays them; NULL: that one. FlashInfer's of CUTLASS run
 * warp-wide instructions for a type on some devices. */
static const char *experts_kernel(const struct table *t)
{
	static const struct {
		const char *library, *type;
		uint32_t from, to; /* capabilities */
		const char *kernel;
	} of[] = {
		{ "flashinfer_cutlass", "fp8", 90, 99, "cutlass_experts_widened" },
		{ "flashinfer_cutlass", "fp8_block", 90, 99, "cutlass_experts_block" },
		{ "flashinfer_cutlass", "fp8", 89, 89, "cutlass_experts_fp8" },
		{ "flashinfer_cutlass", "fp8", 120, 129, "cutlass_experts_fp8" },
		{ "flashinfer_cutlass", "bfloat16", 80, 89, "cutlass_experts_bf16" },
		{ "flashinfer_cutlass", "bfloat16", 120, 129, "cutlass_experts_bf16" },
		{ "flashinfer_cutlass", "nvfp4", 120, 129, "cutlass_experts_fp4" },
		{ "marlin", "", 90, 99, MARLIN "_hopper" },
		{ "marlin", "", 80, 129, MARLIN },
		{ "oaitriton", "", 80, 129, "ogs_experts" },
	};
	const uint32_t capability = t->gpu.cfg->sm.capability;

	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		if (strstr(tables_text(t, KERNEL), of[i].library) &&
		    (!*of[i].type || strcmp(of[i].type, tables_text(t, DTYPE)) == 0) && capability >= of[i].from &&
		    capability <= of[i].to)
			return of[i].kernel;
	return NULL;
}

/* Rows of a tile of Marlin's experts (vllm/model_executor/layers/fused_moe/fused_marlin_moe.py): the least that leaves a tenth. */
static uint32_t marlin_rows(uint64_t picks, uint64_t experts)
{
	static const uint32_t rows[] = { 8, 16, 32, 48, 64 };
	size_t i = 0;

	while (i + 1 < sizeof rows / sizeof *rows && picks * 10 >= 9 * experts * rows[i])
		i++;
	return rows[i];
}

/* 4-bit weights have a scale of a byte for 16 or two. */
static uint64_t experts_bytes(uint64_t experts, uint64_t weights, uint32_t bits)
{
	return experts * weights * bits / 8 + (bits == 4 ? experts * weights / 16 : 0);
}

/* Uneven calls pick other experts each time: how many times one call's the calls of a graph read. */
static uint64_t experts_copies(uint64_t hit, uint64_t experts, double alpha)
{
	const double missed = 1 - (double)hit / (double)experts;

	return alpha > 0 ? (uint64_t)((1 - pow(missed, CALLS)) * (double)experts / (double)hit + 0.5) : 1;
}

struct experts_asked {
	uint64_t tokens, picks, experts; /* picks of all chips; experts of this one */
	uint64_t weights, copies;        /* of an expert, all; times a graph's calls read what one reads */
	const struct picks *of;
	bool block; /* 8 bits with scales of blocks */
};

/* One of the two grouped products: each expert's rows times its weights. vLLM's Triton kernel lays out the rows of all chips and
 * clears those of the others (fused_moe.py, write_zeros_to_output). */
static int grouped(struct table *t, const char *name, const char *cls, enum dtype d, uint32_t bits,
                   struct experts_asked x, uint64_t n, uint64_t k, struct err *e)
{
	struct op_stream *s = &t->out->stream;
	struct op *o = tables_add_op(s, OP_GEMM, name, cls, d);
	const char *own = experts_kernel(t);
	const bool clears = !own && strstr(tables_text(t, KERNEL), "triton");
	const uint64_t *rows = x.of->own;
	const uint32_t hit = x.of->n_own;
	struct experts_tile tile = x.block ? experts_tile_of_blocks(x.tokens) : experts_tile_of(x.tokens);
	struct kernel kernel;
	uint64_t all = 0, tiles = 0, idle = 0, weights = experts_bytes(hit, n * k, bits);

	kernel = kernels_match(t->k, own ? own : "fused_moe_kernel", o->rule);
	if (own && strncmp(own, MARLIN, sizeof MARLIN - 1) == 0)
		kernel.tile_n = marlin_rows(x.picks, x.experts);
	if (own)
		tile = (struct experts_tile){ .rows = kernel.tile_n, .outputs = kernel.tile_m, .threads = 256 };
	for (uint32_t i = 0; i < hit; i++) {
		all += rows[i];
		tiles += div_up(rows[i], tile.rows);
	}
	for (uint32_t i = 0; clears && i < x.of->n_others; i++)
		idle += div_up(x.of->others[i], tile.rows);
	o->shape = (struct op_shape){ .batch = hit, .m = div_up(all, hit), .n = n, .k = k, .strided = true };
	operand(s, o, tables_tensor(s, "x", OP_ACTIVATION, d, dtype_bytes(d, all * k), true), false);
	operand(s, o, tables_tensor(s, "w", OP_WEIGHT, d, weights, true), false);
	operand(s, o, tables_tensor(s, "y", OP_ACTIVATION, DT_BF16, 2 * (clears ? x.picks : all) * n, false), true);
	if (d == DT_FP4 && !own) {
		if (!lay_out(t, o))
			return 1;
	} else {
		struct op_launch *l = &s->launches[s->n_launches];

		*l = (struct op_launch){ .trace_id = -1,
			                 .name = own ? own : "fused_moe_kernel",
			                 .waits_for = -1,
			                 .registers = own ? 168 : 128 };
		l->grid[0] = (uint32_t)(tiles * div_up(n, tile.outputs));
		l->grid[1] = l->grid[2] = l->block[1] = l->block[2] = l->cluster[0] = l->cluster[1] = l->cluster[2] = 1;
		l->block[0] = tile.threads;
		t->out->work.launches[s->n_launches] = (struct gpu_launch){ .stream = s,
			                                                    .op = o,
			                                                    .at = l,
			                                                    .kernel = kernel,
			                                                    .count = 1,
			                                                    .idle = idle * div_up(n, tile.outputs) };
		o->n_launches = 1;
		t->out->work.n = ++s->n_launches;
	}
	return tables_move_beside(t, o, weights, x.copies, experts_bytes(hit, x.weights, bits), e);
}

/* 0: even. 1 would divide by nothing. */
static int spread_of(const char *s, double *alpha)
{
	char *end;

	*alpha = 0;
	if (strcmp(s, "balanced") == 0)
		return 0;
	if (strncmp(s, "power_law_", 10) != 0)
		return -1;
	*alpha = strtod(s + 10, &end);
	return end != s + 10 && !*end && *alpha > 0 && *alpha < 8 && fabs(*alpha - 1) > 1e-6 ? 0 : -1;
}

struct experts_layer {
	const char *name, *cls;
	struct experts_asked asked;
	enum dtype math;
	uint32_t bits, quantised; /* of a weight; of a quantised token, 0: none is */
	uint64_t hidden, inter, up, picks, all, chips;
};

/* The router; where each expert's rows begin, whose a tile is and what is padded (CUTLASS: rows, pointers and strides), but no
 * more than a fill where every pick has a tile of its own, and one more that looks up whose experts are this chip's
 * (fused_moe.py, moe_align_block_size.py); tokens are quantised, CUTLASS's copied to their experts' rows. */
static int experts_before(struct table *t, const struct experts_layer *l, struct err *e)
{
	const bool own = experts_kernel(t) != NULL,
		   cutlass = strstr(tables_text(t, KERNEL), "flashinfer_cutlass") != NULL;
	const uint64_t tokens = l->asked.tokens, rows = 2 * l->picks;
	const bool apart = !own && l->chips == 1 && 4 * l->asked.picks <= l->all;
	const int aligns = cutlass ? 3 : apart ? 1 : 2 + (l->chips > 1);

	if (tables_pass(t, l->name, l->cls, 2 * tokens * l->all, 8 * l->asked.picks, true, e) < 0)
		return -1;
	for (int i = 0; i < aligns; i++)
		if (tables_pass(t, l->name, l->cls, rows, rows, true, e) < 0)
			return -1;
	if (l->quantised && tables_pass(t, l->name, l->cls, 2 * tokens * l->hidden,
	                                tokens * l->hidden * l->quantised / 8, false, e) < 0)
		return -1;
	return cutlass ? tables_pass(t, l->name, l->cls, l->picks * l->hidden * (l->quantised ? l->quantised : 16) / 8,
	                             l->picks * l->hidden * (l->quantised ? l->quantised : 16) / 8, false, e)
	               : 0;
}

/* Up, activation, down, the sum over a token's picks, and a copy of that (topk_weight_and_reduce.py). Triton's quantises in a
 * kernel of its own what CUTLASS's activation does. */
static int experts_products(struct table *t, const struct experts_layer *l, struct err *e)
{
	const bool cutlass = strstr(tables_text(t, KERNEL), "flashinfer_cutlass") != NULL;
	const uint64_t tokens = l->asked.tokens, half = l->picks * l->inter, out = 2 * tokens * l->hidden;
	int rc = grouped(t, l->name, l->cls, l->math, l->bits, l->asked, l->up, l->hidden, e);

	if (rc)
		return rc;
	if (tables_pass(t, l->name, l->cls, 2 * l->picks * l->up,
	                cutlass && l->quantised ? half * l->quantised / 8 : 2 * half, false, e) < 0 ||
	    (!cutlass && l->quantised &&
	     tables_pass(t, l->name, l->cls, 2 * half, half * l->quantised / 8, false, e) < 0))
		return -1;
	if ((rc = grouped(t, l->name, l->cls, l->math, l->bits, l->asked, l->hidden, l->inter, e)))
		return rc;
	return tables_pass(t, l->name, l->cls, 2 * l->picks * l->hidden, out, false, e) < 0 ||
	                       tables_pass(t, l->name, l->cls, out, out, false, e) < 0
	               ? -1
	               : 0;
}

static int experts_row(struct table *t, struct err *e)
{
	static const struct {
		const char *name;
		enum dtype math;
		uint32_t bits;
	} types[] = { { "bfloat16", DT_BF16, 16 }, { "fp8", DT_FP8, 8 },      { "fp8_block", DT_FP8, 8 },
		      { "nvfp4", DT_FP4, 4 },      { "int4_wo", DT_BF16, 4 }, { "w4a16_mxfp4", DT_BF16, 4 } };
	struct op_stream *s = &t->out->stream;
	size_t ops = s->n_ops, operands = s->n_operands, tensors = s->n_tensors, launches = s->n_launches, y = 0;
	const char *type = tables_text(t, DTYPE), *spread = tables_text(t, PICKS), *cls, *name;
	uint64_t tokens, hidden, inter, top, experts, tp, ep, ns;
	const bool own = strstr(tables_text(t, KERNEL), "flashinfer_cutlass") != NULL;
	struct experts_layer l;
	struct experts_asked asked;
	struct engine_model model;
	struct picks_asked q;
	struct picks of;
	uint64_t picks;
	double alpha;
	int rc;

	while (y < sizeof types / sizeof *types && strcmp(types[y].name, type) != 0)
		y++;
	if (y == sizeof types / sizeof *types)
		return tables_refuse(t, "unknown type", type, e);
	if (tables_number(t, TOKENS, 1 << 20, &tokens, e) < 0 || tables_number(t, HIDDEN, 1 << 20, &hidden, e) < 0 ||
	    tables_number(t, INTER, 1 << 20, &inter, e) < 0 || tables_number(t, TOP, PICKS_EXPERTS, &top, e) < 0 ||
	    tables_number(t, EXPERTS, PICKS_EXPERTS, &experts, e) < 0 ||
	    tables_number(t, SHARED_BY, 1 << 10, &tp, e) < 0 ||
	    tables_number(t, SPREAD_OVER, PICKS_EXPERTS, &ep, e) < 0 || time_ns(t, &ns, e) < 0 || tables_grow(t, e) < 0)
		return -1;
	if (!tokens || !top || !tp || !ep || experts < ep || experts < top || inter < tp)
		return tables_refuse(t, "not so many experts:", tables_text(t, EXPERTS), e);
	cls = arena_printf(t->a, "experts %s, %s", tables_text(t, KERNEL), type);
	name = arena_printf(t->a, "%llu tokens, %llu of %llu experts %llux%llu, tp %llu ep %llu %s",
	                    (unsigned long long)tokens, (unsigned long long)top, (unsigned long long)experts,
	                    (unsigned long long)hidden, (unsigned long long)inter, (unsigned long long)tp,
	                    (unsigned long long)ep, spread);
	if (spread_of(spread, &alpha) < 0)
		return tables_refuse(t, "no distribution of picks: 'balanced' or 'power_law_1.2', not", spread, e);
	model = engine_model_of(hidden, inter, top, experts);
	q = (struct picks_asked){ .tokens = tokens,
		                  .top = (uint32_t)top,
		                  .experts = (uint32_t)experts,
		                  .chips = (uint32_t)ep,
		                  .groups = model.groups,
		                  .kept = model.kept,
		                  .alpha = alpha };
	if (!picks_draw(&q, &of))
		return err_set(e, ERR_NOMEM, "out of memory for %llu tokens", (unsigned long long)tokens);
	inter /= tp;
	/* Triton's other kernels have rows for every pick, whichever chip it is on; CUTLASS's for its own. */
	picks = own ? 0 : tokens * top;
	for (uint32_t i = 0; own && i < of.n_own; i++)
		picks += of.own[i];
	asked = (struct experts_asked){ .tokens = tokens,
		                        .picks = tokens * top,
		                        .experts = experts / ep,
		                        .weights = (model.plain ? 2 : 3) * hidden * inter,
		                        .copies = experts_copies(of.n_own, experts / ep, alpha),
		                        .of = &of,
		                        .block = strcmp(type, "fp8_block") == 0 };
	l = (struct experts_layer){ .name = name,
		                    .cls = cls,
		                    .asked = asked,
		                    .math = types[y].math,
		                    .bits = types[y].bits,
		                    .hidden = hidden,
		                    .inter = inter,
		                    .up = model.plain ? inter : 2 * inter,
		                    .picks = picks,
		                    .all = experts,
		                    .chips = ep,
		                    .quantised = types[y].math == DT_BF16 ? 0 : types[y].bits };
	if ((rc = experts_before(t, &l, e)) < 0 || (rc = experts_products(t, &l, e)) < 0)
		return -1;
	if (rc > 0)
		return tables_drop(t, ops, operands, tensors, launches);
	add_sample(t, name, cls, (uint32_t)ops, ns, alpha > 0 ? CALLS : 1);
	t->st->read++;
	return 0;
}

/* "M=1 N=512 K=2048" or "B=8 kv=1024 h32 kv8 d128" */
static int collected(struct table *t, struct err *e)
{
	const char *kernel = tables_text(t, KERNEL), *shape = tables_text(t, SHAPE);
	unsigned long long m, n, k, b, kv, h, kvh, d;

	if (!strstr(tables_text(t, SOURCE), "aiconfigurator"))
		return 0;
	if (strncmp(kernel, "GEMM ", 5) == 0 && sscanf(shape, "M=%llu N=%llu K=%llu", &m, &n, &k) == 3) {
		if (strcmp(tables_text(t, DTYPE), "fp8_block") == 0)
			return t->st->host_bound++, 0;
		return product_row(t, tables_text(t, DTYPE), m, n, k, e);
	}
	if (strncmp(kernel, "decode attention ", 17) == 0 &&
	    sscanf(shape, "B=%llu kv=%llu h%llu kv%llu d%llu", &b, &kv, &h, &kvh, &d) == 5) {
		struct op_shape s = {
			.batch = b, .heads = h, .kv_heads = kvh, .q_len = 1, .kv_len = kv, .head_dim = d, .v_dim = d
		};

		return attention_row(t, arena_strdup(t->a, kernel + 17), tables_text(t, DTYPE), &s, 0, e);
	}
	return 0;
}

static int tables_row(struct table *t, struct err *e)
{
	uint64_t h = HASH_INIT;

	t->st->rows++;
	for (size_t i = 0; i + 1 < csv_count(t->csv); i++) /* the time is last, and not what decides */
		h = hash_str(h, csv_field(t->csv, i));
	if (t->o->gpu && strcmp(tables_text(t, GPU), t->o->gpu) != 0)
		return 0;
	if (t->o->every > 1 && (hash_mix(h) % t->o->every != 0) != t->o->others)
		return 0;
	if (t->at[SHAPE] >= 0)
		return collected(t, e);
	if (t->at[EXPERTS] >= 0)
		return experts_row(t, e);
	if (t->at[KV_LEN] >= 0 || t->at[QUERIES] >= 0) {
		struct op_shape s = { .q_len = 1 };
		uint64_t window = 0, past = 0;

		if (tables_number(t, BATCH, 1 << 20, &s.batch, e) < 0 ||
		    tables_number(t, HEADS, 1 << 16, &s.heads, e) < 0 ||
		    tables_number(t, KV_HEADS, 1 << 16, &s.kv_heads, e) < 0 ||
		    tables_number(t, DIM, 1 << 16, &s.head_dim, e) < 0 ||
		    (t->at[KV_LEN] >= 0 && tables_number(t, KV_LEN, 1 << 28, &s.kv_len, e) < 0) ||
		    (t->at[QUERIES] >= 0 && tables_number(t, QUERIES, 1 << 24, &s.q_len, e) < 0) ||
		    (t->at[PAST] >= 0 && tables_number(t, PAST, 1 << 24, &past, e) < 0) ||
		    (t->at[WINDOW] >= 0 && tables_number(t, WINDOW, 1 << 28, &window, e) < 0))
			return -1;
		if (t->at[QUERIES] >= 0)
			s.kv_len = past + s.q_len;
		s.causal = s.q_len > 1;
		s.v_dim = s.head_dim;
		return attention_row(t, arena_strdup(t->a, tables_text(t, KERNEL)), tables_text(t, KV_DTYPE), &s,
		                     window, e);
	} else {
		uint64_t m, n, k;

		if (strcmp(tables_text(t, DTYPE), "fp8_block") == 0)
			return t->st->host_bound++, 0;
		if (tables_number(t, M, 1 << 24, &m, e) < 0 || tables_number(t, N, 1 << 24, &n, e) < 0 ||
		    tables_number(t, K, 1 << 24, &k, e) < 0)
			return -1;
		return product_row(t, arena_strdup(t->a, tables_text(t, DTYPE)), m, n, k, e);
	}
}

/* --- a file -------------------------------------------------------------------------------------------------- */

int tables_read(struct input *in, const struct tables_device *d, const struct tables_opts *o, struct arena *a,
                struct cases *out, struct tables_stats *st, struct err *e)
{
	const struct machine_cfg *m = d->machine;
	struct table t = { .name = input_name(in),
		           .m = m,
		           .gpu = machine_gpu(m),
		           .k = d->kernels,
		           .o = o,
		           .st = st,
		           .out = out,
		           .a = a };
	struct op_stream *s = &out->stream;
	size_t n;
	int rc = -1;

	memset(out, 0, sizeof *out);
	memset(st, 0, sizeof *st);
	if (csv_count_rows(in, &n, e) < 0)
		return -1;
	out->arena = a;
	out->path = t.name;
	out->of_cases = true;
	t.room = n + 1;
	t.op_room = OPS * t.room;
	t.launch_room = (OPS + 1) * t.room + 4;
	s->source = t.name;
	s->ops = arena_array(a, t.op_room, sizeof *s->ops);
	s->tensors = arena_array(a, 2 * (OPS + 1) * t.room, sizeof *s->tensors);
	s->operands = arena_array(a, 2 * (OPS + 1) * t.room, sizeof *s->operands);
	s->launches = arena_array(a, t.launch_room, sizeof *s->launches);
	out->work.stream = s;
	out->work.launches = arena_array(a, t.launch_room, sizeof *out->work.launches);
	out->v = arena_array(a, t.room, sizeof *out->v);
	if (!s->ops || !s->tensors || !s->operands || !s->launches || !out->work.launches || !out->v)
		return err_set(e, ERR_NOMEM, "out of memory for %zu rows", n);
	if (!(t.csv = csv_new(in, e)) || !(t.traffic = gpu_traffic_new(&m->mem, m->clock, e)) ||
	    tables_header(&t, e) < 0)
		goto out;
	while ((rc = csv_row(t.csv, e)) > 0)
		if (tables_row(&t, e) < 0) {
			rc = -1;
			goto out;
		}
	if (rc == 0)
		cases_time(out, &t.gpu);
out:
	gpu_traffic_free(t.traffic);
	csv_free(t.csv);
	return rc;
}
