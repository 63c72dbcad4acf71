/* ascend_csv.c - the types of task that CANN names, and their tensors. */
#include "traces/read/ascend_csv.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/str.h"
#include "traces/read/columns.h"
#include "traces/read/shaped.h"
#include "traces/text/decimal.h"

#define TIME_LIMIT (INT64_C(1) << 61)

enum column {
	NAME,
	TYPE,
	START,
	DURATION,
	DEVICE,
	STREAM,
	STEP,
	IN_SHAPES,
	IN_TYPES,
	IN_FORMATS,
	OUT_SHAPES,
	OUT_TYPES,
	OUT_FORMATS,
	N_COLUMNS
};

/* As kernel_details.csv has them, and as op_summary.csv does. */
static const char *const spelt[N_COLUMNS][3] = {
	[NAME] = { "Name", "Op Name" },
	[TYPE] = { "Type", "OP Type" },
	[START] = { "Start Time(us)", "Task Start Time(us)" },
	[DURATION] = { "Duration(us)", "Task Duration(us)" },
	[DEVICE] = { "Device_id", "Device ID" },
	[STREAM] = { "Stream ID" },
	[STEP] = { "Step Id", "Step ID" },
	[IN_SHAPES] = { "Input Shapes" },
	[IN_TYPES] = { "Input Data Types" },
	[IN_FORMATS] = { "Input Formats" },
	[OUT_SHAPES] = { "Output Shapes" },
	[OUT_TYPES] = { "Output Data Types" },
	[OUT_FORMATS] = { "Output Formats" },
};

struct reader {
	size_t at[N_COLUMNS];
	int64_t rows, base_ns;
	struct {
		int64_t id, from_ns, to_ns;
		bool open;
	} step;
};

/* --- the header --------------------------------------------------------------------------------------------------- */

bool ascend_csv_is_header(const char *line, size_t n)
{
	static const char *const names[] = { "Duration(us)", "Input Shapes", "Input Data Types", NULL };
	static const char *const bare[] = { "Accelerator Core", "Duration(us)", NULL }; /* level 0 has no shapes */

	return columns_has(line, n, names) || columns_has(line, n, bare);
}

static bool is_header(void *arg, const char *line, size_t n)
{
	(void)arg;
	return ascend_csv_is_header(line, n);
}

static int read_header(void *arg, const struct columns *c, struct err *e)
{
	struct reader *r = arg;

	for (int k = 0; k < N_COLUMNS; k++) {
		r->at[k] = COLUMNS_NONE;
		for (int i = 0; i < 2 && spelt[k][i] && r->at[k] == COLUMNS_NONE; i++)
			r->at[k] = columns_find(c, spelt[k][i]);
		if (r->at[k] != COLUMNS_NONE || (k > DURATION && k != IN_SHAPES && k != IN_TYPES))
			continue;
		err_set(e, ERR_IO, "the table has no column '%s'%s", spelt[k][0],
		        k == IN_SHAPES || k == IN_TYPES
		                ? ": times alone cannot be replayed; profile with record_shapes=True"
		                  " and profiler_level Level1"
		                : "");
		return columns_fault(c, COLUMNS_NONE, e);
	}
	return 0;
}

/* --- what a task is ----------------------------------------------------------------------------------------------- */

/* By a type without its version ("MatMulV3", "GatherV2D"). */
static const struct type {
	const char *name, *op;
	enum shaped_of of;
} kinds[] = {
	{ "MatMul", "gemm", SHAPED_FIRST },
	{ "MatMulCommon", "gemm", SHAPED_FIRST },
	{ "BatchMatMul", "gemm", SHAPED_FIRST },
	{ "TransposeBatchMatMul", "gemm", SHAPED_FIRST },
	{ "QuantBatchMatmul", "gemm", SHAPED_FIRST },
	{ "WeightQuantBatchMatmul", "gemm", SHAPED_FIRST },
	{ "FlashAttentionScore", "attention", SHAPED_FIRST },
	{ "Add", "elementwise:add", SHAPED_RESULT },
	{ "Adds", "elementwise:add", SHAPED_RESULT },
	{ "Axpy", "elementwise:add", SHAPED_RESULT },
	{ "Sub", "elementwise:sub", SHAPED_RESULT },
	{ "Mul", "elementwise:mul", SHAPED_RESULT },
	{ "Muls", "elementwise:mul", SHAPED_RESULT },
	{ "Div", "elementwise:div", SHAPED_RESULT },
	{ "RealDiv", "elementwise:div", SHAPED_RESULT },
	{ "Maximum", "elementwise:max", SHAPED_RESULT },
	{ "Minimum", "elementwise:min", SHAPED_RESULT },
	{ "Select", "elementwise:where", SHAPED_RESULT },
	{ "Neg", "elementwise:neg", SHAPED_RESULT },
	{ "Abs", "elementwise:abs", SHAPED_RESULT },
	{ "Relu", "elementwise:relu", SHAPED_RESULT },
	{ "Exp", "elementwise:exp", SHAPED_RESULT },
	{ "Log", "elementwise:log", SHAPED_RESULT },
	{ "Sqrt", "elementwise:sqrt", SHAPED_RESULT },
	{ "Rsqrt", "elementwise:rsqrt", SHAPED_RESULT },
	{ "Sin", "elementwise:sin", SHAPED_RESULT },
	{ "Cos", "elementwise:cos", SHAPED_RESULT },
	{ "Tanh", "elementwise:tanh", SHAPED_RESULT },
	{ "Pow", "elementwise:pow", SHAPED_RESULT },
	{ "Sigmoid", "elementwise:sigmoid", SHAPED_RESULT },
	{ "Swish", "elementwise:silu", SHAPED_RESULT },
	{ "Silu", "elementwise:silu", SHAPED_RESULT },
	{ "Gelu", "elementwise:gelu", SHAPED_RESULT },
	{ "FastGelu", "elementwise:gelu", SHAPED_RESULT },
	{ "SwiGlu", "elementwise:silu_and_mul", SHAPED_RESULT },
	{ "GeGlu", "elementwise:gelu_and_mul", SHAPED_RESULT },
	{ "Cast", "convert", SHAPED_FIRST },
	{ "Softmax", "softmax", SHAPED_FIRST },
	{ "RmsNorm", "norm:rms_norm", SHAPED_FIRST },
	{ "AddRmsNorm", "norm:rms_norm", SHAPED_FIRST },
	{ "LayerNorm", "norm:layer_norm", SHAPED_FIRST },
	{ "AddLayerNorm", "norm:layer_norm", SHAPED_FIRST },
	{ "ReduceSum", "reduce:sum", SHAPED_FIRST },
	{ "ReduceMean", "reduce:mean", SHAPED_FIRST },
	{ "ReduceMax", "reduce:max", SHAPED_FIRST },
	{ "ArgMax", "reduce:argmax", SHAPED_FIRST },
	{ "TopK", "topk", SHAPED_FIRST },
	{ "Sort", "sort", SHAPED_FIRST },
	{ "Cumsum", "scan", SHAPED_FIRST },
	{ "Gather", "embed", SHAPED_RESULT },
	{ "Embedding", "embed", SHAPED_RESULT },
	{ "RotaryMul", "rope", SHAPED_FIRST },
	{ "RotaryPositionEmbedding", "rope", SHAPED_FIRST },
	{ "Concat", "concat", SHAPED_RESULT },
	{ "Transpose", "copy", SHAPED_RESULT },
	{ "TransData", "copy", SHAPED_RESULT },
	{ "TensorMove", "copy", SHAPED_RESULT },
	{ "ViewCopy", "copy", SHAPED_RESULT },
	{ "Slice", "copy", SHAPED_RESULT },
	{ "StridedSlice", "copy", SHAPED_RESULT },
	{ "AsStrided", "copy", SHAPED_RESULT },
	{ "Tile", "copy", SHAPED_RESULT },
	{ "BroadcastTo", "copy", SHAPED_RESULT },
	{ "Pad", "copy", SHAPED_RESULT },
	{ "Split", "copy", SHAPED_FIRST },
	{ "SplitV", "copy", SHAPED_FIRST },
};

/* Without "V2", "D" and digits behind the name. */
static size_t bare_length(const char *type)
{
	size_t n = strlen(type);

	if (n > 2 && type[n - 1] == 'D' && (type[n - 2] < 'A' || type[n - 2] > 'Z'))
		n--;
	while (n > 1 && type[n - 1] >= '0' && type[n - 1] <= '9')
		n--;
	return n > 1 && type[n - 1] == 'V' && type[n] >= '0' && type[n] <= '9' ? n - 1 : n;
}

static const struct type *kind_of(const char *type)
{
	const size_t whole = strlen(type), bare = bare_length(type);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const size_t n = strlen(kinds[i].name);

		if ((n == whole || n == bare) && memcmp(kinds[i].name, type, n) == 0)
			return &kinds[i];
	}
	return NULL;
}

/* --- its tensors -------------------------------------------------------------------------------------------------- */

/* The i-th of a list, without quotes and blanks around the list or the item. */
static const char *item(const char *list, uint32_t i, size_t *n)
{
	const char *p = list + strspn(list, "\" \t");

	for (; i > 0; i--) {
		p += strcspn(p, ";");
		if (!*p) {
			*n = 0;
			return p;
		}
		p++;
	}
	p += strspn(p, " \t");
	*n = strcspn(p, ";\"");
	while (*n > 0 && (p[*n - 1] == ' ' || p[*n - 1] == '\t'))
		--*n;
	return p;
}

static uint32_t items(const char *list)
{
	uint32_t n = 1;

	for (const char *p = list; *p; p++)
		n += *p == ';';
	return *list && strcmp(list, "N/A") != 0 ? n : 0;
}

static bool is(const char *p, size_t n, const char *word)
{
	return n == strlen(word) && memcmp(p, word, n) == 0;
}

/* "128,4096" -> 2 dimensions. False: it is no list of sizes. */
static bool read_dims(const char *p, size_t n, struct shaped_tensor *t)
{
	while (n > 0) {
		const char *comma = memchr(p, ',', n);
		const size_t len = comma ? (size_t)(comma - p) : n;
		int64_t v;

		if (t->ndims == TRACE_MAX_DIMS || decimal_scaled(p, len, 0, &v) != 0 || v < 0)
			return false;
		t->dims[t->ndims++] = (uint64_t)v;
		n -= len + (comma != NULL);
		p += len + (comma != NULL);
	}
	return true;
}

/* [.., cols / 16, rows / 16, 16, 16] -> [.., rows, cols]; a 32 where values are of 8 bits. */
static void from_nz(struct shaped_tensor *t)
{
	uint64_t *d = t->ndims >= 4 ? &t->dims[t->ndims - 4] : NULL, rows, cols;

	if (!d || __builtin_mul_overflow(d[1], d[2], &rows) || __builtin_mul_overflow(d[0], d[3], &cols))
		return;
	d[0] = rows, d[1] = cols;
	t->ndims -= 2;
}

static int read_tensor(const struct reader *r, const struct columns *c, enum column shapes, uint32_t i,
                       struct shaped_tensor *t, struct err *e)
{
	size_t n, types, form;
	const char *p = item(columns_text(c, r->at[shapes]), i, &n);
	const char *type = item(columns_text(c, r->at[shapes + 1]), i, &types);
	const char *format = item(columns_text(c, r->at[shapes + 2]), i, &form);

	*t = (struct shaped_tensor){ .type = shaped_type(type, types) };
	if (is(p, n, "N/A"))
		return 0;
	if (!read_dims(p, n, t)) {
		err_set(e, ERR_IO, "'%.*s' are no sizes of a tensor", (int)(n < 60 ? n : 60), p);
		return columns_fault(c, r->at[shapes], e);
	}
	if (is(format, form, "FRACTAL_NZ") || is(format, form, "FRACTAL_NZ_C0_32"))
		from_nz(t);
	return 0;
}

/* The first result, of the sums' maxima, is [batch, heads, queries, 8]. */
static bool is_attention(struct shaped *s)
{
	const struct shaped_tensor *max = &s->out, *q = &s->in[0], *k = &s->in[1];
	const uint64_t all = shaped_values(q), keys = shaped_values(k);
	uint64_t b, heads, queries, dim, kv;

	if (max->ndims != 4 || s->n_in < 3 || !all || !keys || !shaped_values(max) || q->ndims != k->ndims)
		return false;
	b = max->dims[0], heads = max->dims[1], queries = max->dims[2];
	if (all % (b * heads * queries))
		return false;
	dim = all / (b * heads * queries);
	/* BNSD or BSND; BSH and SBH have heads and values in one. */
	if (q->ndims == 4)
		kv = q->dims[1] == heads && q->dims[2] == queries ? k->dims[1] : k->dims[2];
	else
		kv = q->ndims == 3 && k->dims[2] % dim == 0 ? k->dims[2] / dim : 0;
	if (!kv || keys % b || keys / b % kv || keys / b / kv % dim)
		return false;
	s->size[LISTED_BATCH] = b, s->size[LISTED_HEADS] = heads, s->size[LISTED_Q_LEN] = queries;
	s->size[LISTED_HEAD_DIM] = dim, s->size[LISTED_KV_HEADS] = kv, s->size[LISTED_KV_LEN] = keys / b / kv / dim;
	for (uint32_t i = 3; i < s->n_in; i++)
		s->size[LISTED_CAUSAL] |= s->in[i].ndims == 2 && s->in[i].dims[0] == 2048 && s->in[i].dims[1] == 2048;
	return true;
}

static int read_task(const struct reader *r, const struct columns *c, struct shaped *s, struct err *e)
{
	const struct type *k = kind_of(columns_text(c, r->at[TYPE]));
	const uint32_t n = items(columns_text(c, r->at[IN_SHAPES]));

	*s = (struct shaped){ .of = k ? k->of : SHAPED_FIRST };
	s->n_in = n < SHAPED_INPUTS ? n : SHAPED_INPUTS;
	for (uint32_t i = 0; i < s->n_in; i++)
		if (read_tensor(r, c, IN_SHAPES, i, &s->in[i], e) < 0)
			return -1;
	if (items(columns_text(c, r->at[OUT_SHAPES])) && read_tensor(r, c, OUT_SHAPES, 0, &s->out, e) < 0)
		return -1;
	if (k && (strcmp(k->op, "attention") != 0 || is_attention(s)))
		s->op = k->op;
	if (k && strcmp(k->op, "topk") == 0 && s->out.ndims)
		s->size[LISTED_K] = s->out.dims[s->out.ndims - 1];
	return 0;
}

/* --- the rows ----------------------------------------------------------------------------------------------------- */

static int end_step(struct reader *r, const struct columns *c, struct err *e)
{
	char name[40];
	struct trace_range range = { name, r->step.from_ns, r->step.to_ns - r->step.from_ns, 0, 0 };

	if (!r->step.open || range.dur_ns <= 0)
		return 0;
	snprintf(name, sizeof name, "step_%lld", (long long)r->step.id);
	return tracedb_put_range(c->db, &range, false, e);
}

static int add_to_step(struct reader *r, const struct columns *c, const struct trace_launch *l, struct err *e)
{
	const int64_t end = l->start_ns + l->dur_ns;
	int64_t id;

	if (!*columns_text(c, r->at[STEP]))
		return 0;
	if (columns_number(c, r->at[STEP], "Step Id", 0, 0, &id, e) < 0)
		return -1;
	if (!r->step.open || id != r->step.id) {
		if (end_step(r, c, e) < 0)
			return -1;
		r->step.open = true;
		r->step.id = id, r->step.from_ns = l->start_ns, r->step.to_ns = end;
	}
	if (l->start_ns < r->step.from_ns)
		r->step.from_ns = l->start_ns;
	if (end > r->step.to_ns)
		r->step.to_ns = end;
	return 0;
}

static int read_row(void *arg, const struct columns *c, struct err *e)
{
	struct reader *r = arg;
	struct trace_launch l = { .kind = TRACE_KERNEL, .bytes = -1, .host_start_ns = -1, .host_dur_ns = -1 };
	struct shaped s;

	if (columns_number(c, r->at[START], "Start Time(us)", DECIMAL_US_TO_NS, 0, &l.start_ns, e) < 0 ||
	    columns_number(c, r->at[DURATION], "Duration(us)", DECIMAL_US_TO_NS, 0, &l.dur_ns, e) < 0)
		return -1;
	if (l.dur_ns > TIME_LIMIT - l.start_ns) {
		err_set(e, ERR_IO, "a time out of range");
		return columns_fault(c, r->at[DURATION], e);
	}
	if (*columns_text(c, r->at[DEVICE]) && columns_number(c, r->at[DEVICE], "Device_id", 0, 0, &l.device, e) < 0)
		return -1;
	if (*columns_text(c, r->at[STREAM]) && columns_number(c, r->at[STREAM], "Stream ID", 0, 0, &l.stream, e) < 0)
		return -1;
	if (r->rows == 0)
		r->base_ns = l.start_ns;
	l.start_ns -= r->base_ns;
	l.name = columns_text(c, r->at[NAME]);
	if (add_to_step(r, c, &l, e) < 0 || read_task(r, c, &s, e) < 0)
		return -1;
	return shaped_put(c->db, &s, &l, ++r->rows, e) < 0 ? -1 : 0;
}

static int read_end(void *arg, const struct columns *c, struct err *e)
{
	return end_step(arg, c, e);
}

int ascend_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                      struct trace_import_stats *st, struct err *e)
{
	static const struct columns_table table = {
		"ascend",  "table of an Ascend NPU's tasks (a header with Type, Duration(us), Input Shapes, ...)",
		is_header, read_header,
		read_row,  read_end
	};
	struct reader r = { .rows = 0 };

	return columns_import(&table, &r, db, in, progress, arg, st, e);
}
