#include "sim/accuracy/energy_int.h"

#include <stdlib.h>
#include <string.h>

#include "arch/machine/machine_gpu.h"
#include "sim/base/hash.h"
#include "traces/text/csv.h"

#define COPIES       64
#define COPIES_BYTES UINT64_C(300000000) /* so many bytes of copies in turn, validate/cuda/energy_torch.py */
#define MANY         3                   /* times the L2: nothing of it is found again */
#define OPERANDS     4

/* --- rows ---------------------------------------------------------------------------------------------------- */

enum column { KIND, SHAPE, WATTS, US, MHZ, OPS, BYTES, COLUMNS };
static const char *const names[COLUMNS] = { "kind", "shape", "watts", "us", "sm_mhz", "work_ops", "work_bytes" };
#define NEEDED MHZ /* those before it */

/* An operand of one iteration: how many copies take turns, and whether it is written. */
struct moved {
	uint64_t bytes, copies;
	bool write;
};

struct reader {
	struct csv *csv;
	const char *name;
	int at[COLUMNS];
	const struct machine_cfg *m;
	struct gpu gpu;
	const struct kernels *k;
	struct gpu_traffic *traffic;
	struct arena *a;
	struct energy_cases *out;
	/* The case in hand. */
	struct op op;
	struct op_stream stream;
	struct moved moved[OPERANDS];
	size_t n_moved;
	struct op_operand operands[OPERANDS]; /* as the stream has them */
	struct op_tensor tensors[OPERANDS];
	struct gpu_mem mem;
	bool live;
};

static const char *energy_text(const struct reader *r, enum column c)
{
	return r->at[c] < 0 ? "" : csv_field(r->csv, (size_t)r->at[c]);
}

static int energy_refuse(const struct reader *r, const char *what, const char *value, struct err *e)
{
	return err_set(e, ERR_IO, "%s:%llu: %s '%.80s'", r->name, (unsigned long long)csv_line(r->csv), what, value);
}

static int energy_header(struct reader *r, struct err *e)
{
	int rc = csv_row(r->csv, e);

	if (rc <= 0)
		return rc < 0 ? -1 : err_set(e, ERR_IO, "%s: is empty: a header is due", r->name);
	for (int c = 0; c < COLUMNS; c++) {
		r->at[c] = -1;
		for (size_t i = 0; i < csv_count(r->csv); i++)
			if (strcmp(csv_field(r->csv, i), names[c]) == 0)
				r->at[c] = (int)i;
		if (c < NEEDED && r->at[c] < 0)
			return err_set(e, ERR_IO, "%s:1: no column '%s': this is no table of measured energy", r->name,
			               names[c]);
	}
	return r->at[US] < 0 ? err_set(e, ERR_IO, "%s:1: no column 'us': this is no table of measured energy", r->name)
	                     : 0;
}

/* A number of a cell, not negative; an empty cell is 0. */
static int energy_real(const struct reader *r, enum column c, double most, double *out, struct err *e)
{
	const char *s = energy_text(r, c);
	char *end;

	*out = 0;
	if (!*s)
		return 0;
	*out = strtod(s, &end);
	if (end == s || *end || !(*out >= 0) || *out > most)
		return err_set(e, ERR_IO, "%s:%llu: '%s' is '%.40s', not a number from 0 to %g", r->name,
		               (unsigned long long)csv_line(r->csv), names[c], s, most);
	return 0;
}

/* "M=1,N=2048": the value of a key; 0 where it is not there. */
static int shape(const struct reader *r, const char *key, uint64_t most, uint64_t *out, struct err *e)
{
	const size_t n = strlen(key);

	*out = 0;
	for (const char *s = energy_text(r, SHAPE); s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
		char *end;

		if (strncmp(s, key, n) != 0 || s[n] != '=')
			continue;
		*out = strtoull(s + n + 1, &end, 10);
		if (s[n + 1] == '-' || end == s + n + 1 || (*end && *end != ',') || *out > most)
			return energy_refuse(r, "no whole number, or too large, in", energy_text(r, SHAPE), e);
	}
	return 0;
}

static int shapes(const struct reader *r, const char *const *keys, uint64_t *const *out, uint64_t most, struct err *e)
{
	for (size_t i = 0; keys[i]; i++) {
		if (shape(r, keys[i], most, out[i], e) < 0)
			return -1;
		if (!*out[i])
			return err_set(e, ERR_IO, "%s:%llu: no '%s=' in the shape '%.60s'", r->name,
			               (unsigned long long)csv_line(r->csv), keys[i], energy_text(r, SHAPE));
	}
	return 0;
}

static bool energy_has(const char *kind, const char *part)
{
	const size_t n = strlen(part);

	for (const char *s = kind; s; s = strchr(s, '_') ? strchr(s, '_') + 1 : NULL)
		if (strncmp(s, part, n) == 0 && (s[n] == '_' || !s[n]))
			return true;
	return false;
}

static enum dtype type_of(const char *kind, enum dtype otherwise)
{
	return energy_has(kind, "bf16")   ? DT_BF16
	       : energy_has(kind, "fp16") ? DT_FP16
	       : energy_has(kind, "fp8")  ? DT_FP8
	       : energy_has(kind, "fp32") ? DT_FP32
	                                  : otherwise;
}

/* --- what the L2 makes of an iteration --------------------------------------------------------------------------- */

static uint64_t copies_of(uint64_t bytes)
{
	const uint64_t n = div_up(COPIES_BYTES, bytes ? bytes : 1);

	return n < COPIES ? n : COPIES;
}

static void moves(struct reader *r, uint64_t bytes, uint64_t copies, bool write)
{
	r->tensors[r->n_moved] = (struct op_tensor){ .name = "", .role = OP_ACTIVATION, .bytes = bytes };
	r->operands[r->n_moved] =
		(struct op_operand){ .tensor = (uint32_t)r->n_moved, .write = write, .bytes = bytes, .touched = bytes };
	r->moved[r->n_moved++] = (struct moved){ bytes, copies, write };
	r->op.n_operands = (uint32_t)r->n_moved;
}

static int iteration(struct reader *r, uint64_t nth, struct gpu_mem *m, struct err *e)
{
	uint64_t at = 0;

	for (size_t i = 0; i < r->n_moved; i++) {
		const struct moved *x = &r->moved[i];
		const uint64_t apart = round_up(x->bytes, 4096);

		if (gpu_traffic_move(r->traffic, at + nth % x->copies * apart, x->bytes, x->write, m, e) < 0)
			return -1;
		at += apart * x->copies;
	}
	return 0;
}

/* Copies beyond some times the L2 change nothing. The second round counts, its mean. */
static int energy_settle(struct reader *r, struct err *e)
{
	const uint64_t l2 = r->m->mem.l2.size;
	uint64_t bytes = 0, rounds = 1;

	memset(&r->mem, 0, sizeof r->mem);
	for (size_t i = 0; i < r->n_moved; i++)
		bytes += r->moved[i].bytes;
	if (bytes > MANY * l2) {
		for (size_t i = 0; i < r->n_moved; i++)
			*(r->moved[i].write ? &r->mem.write : &r->mem.read) += r->moved[i].bytes;
		r->mem.write_back = r->mem.write;
		return 0;
	}
	for (size_t i = 0; i < r->n_moved; i++) {
		const uint64_t most = MANY * l2 / (r->moved[i].bytes ? r->moved[i].bytes : 1) + 1;

		r->moved[i].copies = r->moved[i].copies < most ? r->moved[i].copies : most;
		rounds = r->moved[i].copies > rounds ? r->moved[i].copies : rounds;
	}
	gpu_traffic_forget(r->traffic);
	for (uint64_t i = 0; i < 2 * rounds; i++) {
		if (i == rounds)
			memset(&r->mem, 0, sizeof r->mem);
		if (iteration(r, i, &r->mem, e) < 0)
			return -1;
	}
	r->mem.read /= rounds;
	r->mem.read_hit /= rounds;
	r->mem.write /= rounds;
	r->mem.write_back /= rounds;
	return 0;
}

/* --- kinds ------------------------------------------------------------------------------------------------------- */

typedef int case_fn(struct reader *r, const char *kind, struct energy_case *c, struct err *e);

/* Bytes as the L2 has them once the case has gone round, then the launches. */
static int counted(struct reader *r, struct energy_case *c, struct err *e)
{
	struct energy_count n = { .g = &r->gpu, .k = r->k, .s = &r->stream, .op = &r->op, .live = r->live };

	if (energy_settle(r, e) < 0)
		return -1;
	n.mem = r->mem;
	energy_count_op(&n);
	c->work = n.work;
	c->kernels = n.kernels;
	return 0;
}

static int gemm(struct reader *r, const char *kind, struct energy_case *c, struct err *e)
{
	static const char *const keys[] = { "M", "N", "K", NULL };
	struct op_shape *s = &r->op.shape;
	const enum dtype d = type_of(kind, DT_NONE);
	uint64_t weights;

	if (d == DT_NONE)
		return energy_refuse(r, "no type that is known in the kind", kind, e);
	if (shapes(r, keys, (uint64_t *const[]){ &s->m, &s->n, &s->k }, 1 << 20, e) < 0)
		return -1;
	s->batch = 1;
	r->op.kind = OP_GEMM;
	r->op.dtype = d;
	r->op.out_dtype = d == DT_FP8 ? DT_BF16 : d;
	weights = dtype_bytes(d, s->n * s->k);
	moves(r, dtype_bytes(d, s->m * s->k), 1, false);
	moves(r, weights, energy_has(kind, "hot") ? 1 : copies_of(weights), false);
	moves(r, dtype_bytes(r->op.out_dtype, s->m * s->n), 1, true);
	r->live = !energy_has(kind, "zeros");
	c->cls = s->m == 1 ? "product, 1 row" : energy_has(kind, "zeros") ? "product of zeros" : "product";
	return counted(r, c, e);
}

static const struct each {
	const char *op;
	enum op_kind kind;
	unsigned reads;
	bool own; /* it writes into copies of its own, not into what the allocator gives */
} eaches[] = {
	{ "silu", OP_ELEMENTWISE, 1, false }, { "exp", OP_ELEMENTWISE, 1, false }, { "add", OP_ELEMENTWISE, 2, false },
	{ "copy", OP_COPY, 1, false },        { "fill", OP_ELEMENTWISE, 0, true }, { "cast", OP_CONVERT, 1, false },
};

static int elementwise(struct reader *r, const char *kind, struct energy_case *c, struct err *e)
{
	static const char *const keys[] = { "n", NULL };
	struct op_shape *s = &r->op.shape;
	const struct each *f = NULL;
	uint64_t bytes, copies;

	for (size_t i = 0; i < sizeof eaches / sizeof *eaches; i++)
		if (energy_has(kind, eaches[i].op))
			f = &eaches[i];
	if (!f)
		return energy_refuse(r, "no operator that is known in the kind", kind, e);
	if (shapes(r, keys, (uint64_t *const[]){ &s->elems }, UINT64_C(1) << 34, e) < 0)
		return -1;
	r->op.kind = f->kind;
	r->op.fn = f->op;
	r->op.dtype = r->op.out_dtype = type_of(kind, DT_FP32);
	if (r->op.kind == OP_CONVERT)
		r->op.out_dtype = r->op.dtype == DT_FP32 ? DT_BF16 : DT_FP32;
	bytes = dtype_bytes(r->op.dtype, s->elems);
	copies = energy_has(kind, "hot") ? 1 : copies_of(2 * bytes);
	if (f->reads)
		moves(r, bytes, copies, false);
	if (f->reads > 1) /* the second operand is always the same */
		moves(r, bytes, 1, false);
	moves(r, dtype_bytes(r->op.out_dtype, s->elems), f->own || energy_has(kind, "own") ? copies : 1, true);
	r->live = f->reads != 0;
	c->cls = "elementwise";
	return counted(r, c, e);
}

static const struct row_op {
	const char *op;
	enum op_kind kind;
	bool writes; /* as much as it reads */
} row_ops[] = { { "sum", OP_REDUCE, false },
	        { "softmax", OP_SOFTMAX, true },
	        { "rmsnorm", OP_NORM, true },
	        { "topk", OP_TOPK, false },
	        { "sort", OP_SORT, true } };

static int energy_own_rows(struct reader *r, const char *kind, struct energy_case *c, struct err *e)
{
	static const char *const keys[] = { "rows", "cols", NULL };
	struct op_shape *s = &r->op.shape;
	const struct row_op *f = NULL;
	uint64_t bytes;

	for (size_t i = 0; i < sizeof row_ops / sizeof *row_ops; i++)
		if (energy_has(kind, row_ops[i].op))
			f = &row_ops[i];
	if (!f)
		return energy_refuse(r, "no operator that is known in the kind", kind, e);
	if (shapes(r, keys, (uint64_t *const[]){ &s->rows, &s->cols }, 1 << 24, e) < 0)
		return -1;
	r->op.kind = f->kind;
	r->op.dtype = r->op.out_dtype = type_of(kind, DT_FP32);
	bytes = dtype_bytes(r->op.dtype, s->rows * s->cols);
	moves(r, bytes, copies_of(bytes), false);
	if (f->kind == OP_NORM)
		moves(r, dtype_bytes(r->op.dtype, s->cols), 1, false);
	moves(r, f->writes ? bytes : dtype_bytes(r->op.dtype, s->rows), 1, true);
	c->cls = "rows";
	return counted(r, c, e);
}

static int energy_attention(struct reader *r, const char *kind, struct energy_case *c, struct err *e)
{
	static const char *const keys[] = { "b", "h", "hk", "lq", "lk", "d", NULL };
	struct op_shape *s = &r->op.shape;
	uint64_t kv, causal;

	if (shapes(r, keys,
	           (uint64_t *const[]){ &s->batch, &s->heads, &s->kv_heads, &s->q_len, &s->kv_len, &s->head_dim },
	           1 << 20, e) < 0 ||
	    shape(r, "causal", 1, &causal, e) < 0)
		return -1;
	s->v_dim = s->head_dim;
	s->causal = causal;
	r->op.kind = OP_ATTENTION;
	r->op.dtype = r->op.out_dtype = type_of(kind, DT_BF16);
	r->op.algorithm = s->q_len > 64 ? OP_ATTN_FLASH : OP_ATTN_SPLIT_KV;
	kv = 2 * dtype_bytes(r->op.dtype, s->batch * s->kv_heads * s->kv_len * s->head_dim);
	moves(r, dtype_bytes(r->op.dtype, s->batch * s->heads * s->q_len * s->head_dim), 1, false);
	moves(r, kv, !energy_has(kind, "turns") ? 1 : copies_of(kv) < 16 ? copies_of(kv) : 16, false);
	moves(r, dtype_bytes(r->op.dtype, s->batch * s->heads * s->q_len * s->head_dim), 1, true);
	c->cls = s->q_len > 64 ? "attention of many queries" : "attention";
	return counted(r, c, e);
}

/* --- microbenchmarks: their work is told, or what their time holds of a known chain --------------------------------- */

#define CHAIN 4 /* cycles of a multiply-add that waits for the one before */

static int micro(struct reader *r, const char *kind, struct energy_case *c, struct err *e)
{
	double ops, bytes;
	uint64_t mib, warps, blocks;

	if (energy_real(r, OPS, 1e18, &ops, e) < 0 || energy_real(r, BYTES, 1e18, &bytes, e) < 0 ||
	    shape(r, "mib", 1 << 20, &mib, e) < 0 || shape(r, "warps", 64, &warps, e) < 0 ||
	    shape(r, "blocks", 64, &blocks, e) < 0)
		return -1;
	c->cls = "microbenchmark";
	c->work.sms = strcmp(kind, "idle") == 0 ? 0 : energy_has(kind, "thread") ? 1 : r->gpu.sms;
	if (energy_has(kind, "read")) {
		const uint64_t n = (uint64_t)bytes, near = (mib << 20) / 2 * 3 <= r->m->mem.l2.size ? n : 0;
		const struct gpu_mem m = { .read = n, .read_hit = near };

		/* An SM's part that its L1 keeps does not come from the L2. */
		const bool l1 = !energy_has(kind, "cg") && (mib << 20) / r->gpu.sms <= r->m->gpu.rows.l1 / 3;

		gpu_activity_bytes(&c->work, &m, DT_FP32, true);
		gpu_activity_read(&c->work, l1 ? 0 : n, DT_FP32);
		ops += (double)n / 4; /* a load of 16 bytes, and three instructions to use and count them */
		c->kernels = 1;
	} else if (energy_has(kind, "spin") && ops <= 0) {
		const uint64_t threads = c->work.sms == 1 ? 1 : 32 * c->work.sms;

		ops = c->us * (double)(c->clock ? c->clock : r->gpu.top) / 1e3 / CHAIN * (double)threads;
	}
	if (energy_has(kind, "sfu"))
		c->work.n[GPU_EVENT_sfu] += (uint64_t)ops;
	if (energy_has(kind, "smem"))
		c->work.n[GPU_EVENT_shared] += (uint64_t)bytes;
	c->work.n[GPU_EVENT_instruction] += (uint64_t)ops;
	c->kernels = c->work.sms ? 1 : 0;
	return 0;
}

/* --- steps --------------------------------------------------------------------------------------------------------- */

/* The text behind "model=" up to the comma. */
static void model_name(const struct reader *r, char *out, size_t size)
{
	const char *s = strstr(energy_text(r, SHAPE), "model=");
	size_t n = s ? strcspn(s + 6, ",") : 0;

	n = n < size ? n : size - 1;
	memcpy(out, s ? s + 6 : "", n);
	out[n] = '\0';
}

static int energy_own_step(struct reader *r, const char *kind, struct energy_case *c, struct err *e)
{
	char model[64];
	struct energy_step s = { .model = model, .live = !r->m->gpu.power.constant };
	int rc;

	(void)kind;
	model_name(r, model, sizeof model);
	if (shape(r, "batch", 4096, &s.batch, e) < 0 || shape(r, "context", 1 << 20, &s.context, e) < 0)
		return -1;
	if (!s.batch || !s.context)
		return energy_refuse(r, "no 'batch=' or no 'context=' in the shape", energy_text(r, SHAPE), e);
	c->cls = "step";
	rc = energy_step(r->m, r->k, &s, r->traffic, r->a, c, e);
	if (rc == 1)
		r->out->left_out++;
	return rc < 0 ? err_add(e, "%s:%llu: a step of '%s'", r->name, (unsigned long long)csv_line(r->csv), model)
	              : rc;
}

static const struct {
	const char *prefix;
	case_fn *make;
} kinds[] = { { "gemm", gemm },  { "ew", elementwise }, { "row", energy_own_rows }, { "attention", energy_attention },
	      { "read", micro }, { "ffma", micro },     { "sfu", micro },           { "smem", micro },
	      { "spin", micro }, { "idle", micro },     { "step", energy_own_step } };

static case_fn *kind_of(const char *kind)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const size_t n = strlen(kinds[i].prefix);

		if (strncmp(kind, kinds[i].prefix, n) == 0 && (kind[n] == '_' || !kind[n]))
			return kinds[i].make;
	}
	return NULL;
}

/* --- a file -------------------------------------------------------------------------------------------------- */

static int energy_own_row(struct reader *r, struct err *e)
{
	struct energy_case *c = &r->out->v[r->out->n];
	const char *kind = energy_text(r, KIND);
	case_fn *make = kind_of(kind);
	double mhz;
	int rc;

	if (!*kind && csv_count(r->csv) <= 1)
		return 0;
	if (!make) {
		r->out->left_out++;
		return 0;
	}
	*c = (struct energy_case){ .name = arena_printf(r->a, "%s %s", kind, energy_text(r, SHAPE)) };
	if (energy_real(r, WATTS, 1e5, &c->watts, e) < 0 || energy_real(r, US, 1e9, &c->us, e) < 0 ||
	    energy_real(r, MHZ, 1e5, &mhz, e) < 0)
		return -1;
	if (c->watts <= 0)
		return energy_refuse(r, "'watts' is no power:", energy_text(r, WATTS), e);
	if (c->us <= 0 && strcmp(kind, "idle") != 0)
		return energy_refuse(r, "'us' is no time:", energy_text(r, US), e);
	c->time = c->us > 0 ? (ps_t)(c->us * 1e6 + 0.5) : 1000 * PS_MS;
	c->clock = (uint64_t)(mhz * 1e3 + 0.5);
	c->measured = (uint64_t)(c->watts * (double)c->time * 1e3 + 0.5); /* W ps are 1e-12 J */
	memset(&r->op, 0, sizeof r->op);
	memset(&r->mem, 0, sizeof r->mem);
	r->n_moved = 0;
	r->live = true;
	r->op.fn = "";
	r->op.acc_dtype = DT_FP32;
	if ((rc = make(r, kind, c, e)) != 0)
		return rc < 0 ? -1 : 0;
	c->hash = hash_mix(hash_str(hash_str(HASH_INIT, kind), energy_text(r, SHAPE)));
	c->split = c->hash % 5 < 2 ? SAMPLE_HELD_OUT : SAMPLE_FITTED;
	r->out->n++;
	return 0;
}

int energy_read(struct input *in, const struct machine_cfg *m, const struct kernels *k, struct arena *a,
                struct energy_cases *out, struct err *e)
{
	struct reader r = { .name = input_name(in), .m = m, .gpu = machine_gpu(m), .k = k, .a = a, .out = out };
	size_t n;
	int rc = -1;

	memset(out, 0, sizeof *out);
	if (!(out->path = arena_strdup(a, r.name)))
		return err_set(e, ERR_NOMEM, "out of memory for a name");
	if (csv_count_rows(in, &n, e) < 0)
		return -1;
	if (!(out->v = arena_array(a, n + 1, sizeof *out->v)))
		return err_set(e, ERR_NOMEM, "out of memory for %zu rows", n);
	r.stream.ops = &r.op;
	r.stream.n_ops = 1;
	r.stream.operands = r.operands;
	r.stream.n_operands = r.stream.n_tensors = OPERANDS;
	r.stream.tensors = r.tensors;
	if (!(r.csv = csv_new(in, e)) || !(r.traffic = gpu_traffic_new(&m->mem, m->clock, e)) ||
	    energy_header(&r, e) < 0)
		goto out;
	while ((rc = csv_row(r.csv, e)) > 0)
		if (energy_own_row(&r, e) < 0) {
			rc = -1;
			goto out;
		}
out:
	gpu_traffic_free(r.traffic);
	csv_free(r.csv);
	return rc;
}
