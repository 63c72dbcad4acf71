#include "sim/accuracy/tables_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/gpu/gpu_geometry.h"
#include "arch/machine/machine_gpu.h"
#include "sim/base/hash.h"

#define COPIES 6 /* of weights, and calls in a graph */
/* Of one row of fp8 on data-centre Blackwell, whatever its size: 14 to 21 us of 19 rows of a GB200, 13 of 15 of a B200, which
 * no other format has; one row in twelve of more than one has as much. Of the benchmark, it seems: no kernel is known. */
#define STALL (15 * PS_US)
#define PLAN  8 /* numbers of a sequence that a planning kernel moves */

/* --- rows ---------------------------------------------------------------------------------------------------- */

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

const char *tables_text(const struct table *t, enum column c)
{
	return t->at[c] < 0 ? "" : csv_field(t->csv, (size_t)t->at[c]);
}

int tables_refuse(const struct table *t, const char *what, const char *value, struct err *e)
{
	return err_set(e, ERR_IO, "%s:%llu: %s '%s'", t->name, (unsigned long long)csv_line(t->csv), what, value);
}

int tables_number(const struct table *t, enum column c, uint64_t most, uint64_t *out, struct err *e)
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

/* --- products and attention ------------------------------------------------------------------------------------ */

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

	if (tables_time(t, &ns, e) < 0 || tables_grow(t, e) < 0)
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
		o->shape.rows = m;
		tables_operand(s, o, x, false);
		tables_operand(s, o, y, true);
		if (!tables_lay_out(t, o))
			return tables_drop(t, ops, operands, tensors, launches);
		if (tables_move(t, o, 0, 1, e) < 0)
			return -1;
		/* One row is quantised otherwise: by kernels whose time does not go with k, a copy's longer (whole grids of an L40S and an
		 * RTX PRO 6000, there all rows, here every second one), or longer still. */
		if (m == 1 && d == DT_FP8 && !stalls && tables_copy(t, name, cls, k, false, e) < 0)
			return -1;
		x = y;
	}
	o = tables_add_op(s, OP_GEMM, name, cls, d);
	o->shape = (struct op_shape){ .batch = 1, .m = m, .n = n, .k = k };
	tables_operand(s, o, x, false);
	tables_operand(s, o, tables_tensor(s, "w", OP_WEIGHT, d, weights, true), false);
	tables_operand(s, o, tables_tensor(s, "y", OP_ACTIVATION, DT_BF16, 2 * m * n, false), true);
	if (!tables_lay_out(t, o))
		return tables_drop(t, ops, operands, tensors, launches);
	if (tables_move(t, o, weights, copies, e) < 0)
		return -1;
	tables_add_sample(t, name, cls, (uint32_t)ops, ns, copies);
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

	if (tables_time(t, &ns, e) < 0 || tables_grow(t, e) < 0)
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
	tables_operand(s, o, tables_tensor(s, "q", OP_ACTIVATION, DT_BF16, q, true), false);
	tables_operand(s, o, tables_tensor(s, "kv", OP_KV, d, kv, true), false);
	tables_operand(s, o, tables_tensor(s, "out", OP_ACTIVATION, DT_BF16, q, false), true);
	if (!tables_lay_out(t, o))
		return tables_drop(t, ops, operands, tensors, launches);
	if (tables_move(t, o, kv, 1, e) < 0 || (regroups && tables_copy(t, name, cls, q / 2, true, e) < 0))
		return -1;
	tables_add_sample(t, name, cls, (uint32_t)ops, ns, 1);
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
		return tables_experts_row(t, e);
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
	t.op_room = TABLES_OPS * t.room;
	t.launch_room = (TABLES_OPS + 1) * t.room + 4;
	s->source = t.name;
	s->ops = arena_array(a, t.op_room, sizeof *s->ops);
	s->tensors = arena_array(a, 2 * (TABLES_OPS + 1) * t.room, sizeof *s->tensors);
	s->operands = arena_array(a, 2 * (TABLES_OPS + 1) * t.room, sizeof *s->operands);
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
		rc = cases_time_capped(out, &t.gpu, e);
out:
	gpu_traffic_free(t.traffic);
	csv_free(t.csv);
	return rc;
}
