/* tt_csv.c - the ops that a report of tt-metal names, and their tensors. */
#include "traces/read/tt_csv.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/str.h"
#include "traces/read/columns.h"
#include "traces/read/shaped.h"
#include "traces/text/decimal.h"

#define AXES      4                                   /* W, Z, Y, X */
#define MOST_TIME (INT64_C(1000000000) * 86400 * 365) /* a year, of all rows together */

struct tensor_columns {
	size_t dims[AXES], type, memory;
};

struct reader {
	size_t code, type, device, attributes, kernel, firmware, gap;
	struct tensor_columns in[SHAPED_INPUTS], out;
	uint32_t n_in;
	int64_t rows, now_ns;
	struct trace_range post; /* the signpost that is open */
	struct str post_name;
};

/* --- the header --------------------------------------------------------------------------------------------------- */

bool tt_csv_is_header(const char *line, size_t n)
{
	static const char *const names[] = { "OP CODE", "OP TYPE", "DEVICE ", NULL };

	return columns_has(line, n, names);
}

static bool is_header(void *arg, const char *line, size_t n)
{
	(void)arg;
	return tt_csv_is_header(line, n);
}

/* False: the table has no such tensor. */
static bool find_tensor(const struct columns *c, const char *which, struct tensor_columns *t)
{
	static const char axes[AXES] = { 'W', 'Z', 'Y', 'X' };
	char name[48];

	for (int i = 0; i < AXES; i++) {
		snprintf(name, sizeof name, "%s_%c_PAD[LOGICAL]", which, axes[i]);
		t->dims[i] = columns_find(c, name);
		snprintf(name, sizeof name, "%s_%c", which, axes[i]);
		if (t->dims[i] == COLUMNS_NONE)
			t->dims[i] = columns_find(c, name);
		if (t->dims[i] == COLUMNS_NONE)
			return false;
	}
	snprintf(name, sizeof name, "%s_DATATYPE", which);
	t->type = columns_find(c, name);
	snprintf(name, sizeof name, "%s_MEMORY", which);
	t->memory = columns_find(c, name);
	return true;
}

static int tt_csv_read_header(void *arg, const struct columns *c, struct err *e)
{
	struct reader *r = arg;
	char name[16];

	r->code = columns_find(c, "OP CODE");
	r->type = columns_find(c, "OP TYPE");
	r->device = columns_find(c, "DEVICE ID");
	r->attributes = columns_find(c, "ATTRIBUTES");
	r->kernel = columns_find(c, "DEVICE KERNEL DURATION [ns]");
	r->firmware = columns_find(c, "DEVICE FW DURATION [ns]");
	r->gap = columns_find(c, "OP TO OP LATENCY [ns]");
	if (r->code == COLUMNS_NONE || r->type == COLUMNS_NONE ||
	    (r->kernel == COLUMNS_NONE && r->firmware == COLUMNS_NONE)) {
		err_set(e, ERR_IO,
		        "the report has no column '%s': was the device profiled (TT_METAL_DEVICE_PROFILER=1)?",
		        r->code == COLUMNS_NONE   ? "OP CODE"
		        : r->type == COLUMNS_NONE ? "OP TYPE"
		                                  : "DEVICE KERNEL DURATION [ns]");
		return columns_fault(c, COLUMNS_NONE, e);
	}
	for (; r->n_in < SHAPED_INPUTS; r->n_in++) {
		snprintf(name, sizeof name, "INPUT_%u", r->n_in);
		if (!find_tensor(c, name, &r->in[r->n_in]))
			break;
	}
	if (!find_tensor(c, "OUTPUT_0", &r->out))
		r->out.dims[0] = COLUMNS_NONE;
	if (r->n_in)
		return 0;
	err_set(e, ERR_IO,
	        "the report has no shapes (no columns 'INPUT_0_W_PAD[LOGICAL]', ...): times alone cannot be replayed");
	return columns_fault(c, COLUMNS_NONE, e);
}

/* --- what an op is ------------------------------------------------------------------------------------------------ */

/* By how a code begins, without namespaces; the first that fits. A name that ends in ':' gets its function from the
 * attributes. NULL: no op of a table. */
static const struct code {
	const char *begins, *op;
	enum shaped_of of;
} codes[] = {
	{ "Matmul", "gemm", SHAPED_FIRST },
	{ "BinaryNg", "elementwise:", SHAPED_RESULT },
	{ "Binary", "elementwise:", SHAPED_RESULT },
	{ "EltwiseBinary", "elementwise:", SHAPED_RESULT },
	{ "Unary", "elementwise:", SHAPED_RESULT },
	{ "EltwiseUnary", "elementwise:", SHAPED_RESULT },
	{ "Ternary", "elementwise:where", SHAPED_RESULT },
	{ "Where", "elementwise:where", SHAPED_RESULT },
	{ "LayerNormPre", NULL, SHAPED_FIRST }, /* a part of a norm that spans devices */
	{ "LayerNormPost", NULL, SHAPED_FIRST },
	{ "LayerNorm", "norm:", SHAPED_FIRST },
	{ "RMSNorm", "norm:rms_norm", SHAPED_FIRST },
	{ "Softmax", "softmax", SHAPED_FIRST },
	{ "ScaleMaskSoftmax", "softmax", SHAPED_FIRST },
	{ "ReduceScatter", NULL, SHAPED_FIRST },
	{ "Reduce", "reduce:", SHAPED_FIRST },
	{ "ArgMax", "reduce:argmax", SHAPED_FIRST },
	{ "TopK", "topk", SHAPED_FIRST },
	{ "Sort", "sort", SHAPED_FIRST },
	{ "Accumulation", "scan", SHAPED_FIRST },
	{ "CumSum", "scan", SHAPED_FIRST },
	{ "Embedding", "embed", SHAPED_RESULT },
	{ "Gather", "gather", SHAPED_RESULT },
	{ "Concat", "concat", SHAPED_RESULT },
	{ "Typecast", "convert", SHAPED_FIRST },
	{ "RotaryEmbedding", "rope", SHAPED_FIRST },
	{ "UpdateCache", "copy", SHAPED_SECOND },
	{ "FillCache", "copy", SHAPED_SECOND },
	{ "PagedUpdateCache", "copy", SHAPED_SECOND },
	{ "PagedFillCache", "copy", SHAPED_SECOND },
	{ "NlpCreate", "copy", SHAPED_FIRST },
	{ "NLPCreate", "copy", SHAPED_FIRST },
	{ "CreateQKVHeads", "copy", SHAPED_FIRST },
	{ "Split", "copy", SHAPED_FIRST },
	{ "NlpConcat", "copy", SHAPED_RESULT },
	{ "NLPConcat", "copy", SHAPED_RESULT },
	{ "Slice", "copy", SHAPED_RESULT },
	{ "Copy", "copy", SHAPED_RESULT },
	{ "Clone", "copy", SHAPED_RESULT },
	{ "Transpose", "copy", SHAPED_RESULT },
	{ "Permute", "copy", SHAPED_RESULT },
	{ "Reshape", "copy", SHAPED_RESULT },
	{ "Tilize", "copy", SHAPED_RESULT },
	{ "Untilize", "copy", SHAPED_RESULT },
	{ "InterleavedToSharded", "copy", SHAPED_RESULT },
	{ "ShardedToInterleaved", "copy", SHAPED_RESULT },
	{ "Reshard", "copy", SHAPED_RESULT },
	{ "Move", "copy", SHAPED_RESULT },
	{ "Pad", "copy", SHAPED_RESULT },
	{ "Fold", "copy", SHAPED_RESULT },
	{ "Repeat", "copy", SHAPED_RESULT },
	{ "ScaledDotProductAttentionDecode", NULL, SHAPED_FIRST },
	{ "ScaledDotProductAttentionGQADecode", NULL, SHAPED_FIRST },
	{ "SDPADecode", NULL, SHAPED_FIRST },
	{ "ScaledDotProductAttention", "attention", SHAPED_FIRST },
	{ "SDPA", "attention", SHAPED_FIRST },
};

/* "ttnn::operations::matmul::MatmulDeviceOperation", "ttnn.matmul": the part behind the last mark. */
static const char *bare(const char *code)
{
	const char *p = code;

	for (const char *q = code; *q && *q != '('; q++)
		if (*q == ':' || *q == '.')
			p = q + 1;
	return p;
}

static bool begins(const char *text, const char *with)
{
	while (*with && tolower((unsigned char)*text) == tolower((unsigned char)*with))
		text++, with++;
	return *with == '\0';
}

static const struct code *code_of(const char *text)
{
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (begins(bare(text), codes[i].begins))
			return &codes[i];
	return NULL;
}

/* The word behind "BinaryOpType::" in lower case; false: there is none. */
static bool word_behind(const char *attributes, const char *mark, char *out, size_t cap)
{
	const char *p = strstr(attributes, mark);
	size_t n = 0;

	if (!p)
		return false;
	for (p += strlen(mark); n + 1 < cap && (isalnum((unsigned char)*p) || *p == '_'); p++)
		out[n++] = (char)tolower((unsigned char)*p);
	out[n] = '\0';
	return n > 0;
}

/* The functions that tt-metal names otherwise. */
static const char *const functions[][2] = {
	{ "subtract", "sub" }, { "multiply", "mul" }, { "divide", "div" }, { "maximum", "max" },
	{ "minimum", "min" },  { "power", "pow" },    { "sum", "add" },    { "clamp_tss", "clamp" },
};

/* "mul" with a SILU on an operand is a gate. */
static void elementwise(const char *attributes, char *op, size_t cap)
{
	struct listed x = { 0 };
	char f[24] = "";

	if (!word_behind(attributes, "BinaryOpType::", f, sizeof f))
		word_behind(attributes, "UnaryOpType::", f, sizeof f);
	else if (strcmp(f, "mul") == 0 && strstr(attributes, "UnaryOpType::SILU"))
		snprintf(f, sizeof f, "silu_and_mul");
	else if (strcmp(f, "mul") == 0 && strstr(attributes, "UnaryOpType::GELU"))
		snprintf(f, sizeof f, "gelu_and_mul");
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strcmp(functions[i][0], f) == 0)
			snprintf(f, sizeof f, "%s", functions[i][1]);
	snprintf(op, cap, "elementwise:%s", f);
	if (listed_cell(&x, LISTED_OP, op, NULL) < 0)
		snprintf(op, cap, "elementwise");
}

/* False: no op of a table. */
static bool name_op(const struct code *k, const char *attributes, char *op, size_t cap)
{
	char f[24];

	if (!k || !k->op)
		return false;
	snprintf(op, cap, "%s", k->op);
	if (strcmp(k->op, "elementwise:") == 0)
		elementwise(attributes, op, cap);
	else if (strcmp(k->op, "norm:") == 0)
		snprintf(op, cap, strstr(attributes, "RMSNORM") ? "norm:rms_norm" : "norm:layer_norm");
	else if (strcmp(k->op, "reduce:") == 0)
		snprintf(op, cap, "reduce:%s", word_behind(attributes, "ReduceOpMath::", f, sizeof f) ? f : "sum");
	return true;
}

/* --- its tensors -------------------------------------------------------------------------------------------------- */

/* "32[1]": what is in brackets, else the number; 0: there is none, -1 wrong. */
static int dim(const char *text, uint64_t *out)
{
	const char *open = strchr(text, '['), *p = open ? open + 1 : text;
	const size_t n = open ? strcspn(p, "]") : strlen(p);
	int64_t v;

	*out = 0;
	if (n == 0)
		return open ? -1 : 0;
	if (decimal_scaled(p, n, 0, &v) != 0 || v < 0)
		return -1;
	*out = (uint64_t)v;
	return 0;
}

static int read_tensor(const struct columns *c, const struct tensor_columns *k, struct shaped_tensor *t, struct err *e)
{
	const char *type = columns_text(c, k->type);

	*t = (struct shaped_tensor){ .ndims = AXES,
		                     .type = shaped_type(type, strlen(type)),
		                     .resident = strstr(columns_text(c, k->memory), "_L1_") != NULL };
	for (int i = 0; i < AXES; i++) {
		const char *text = columns_text(c, k->dims[i]);

		if (dim(text, &t->dims[i]) < 0) {
			err_set(e, ERR_IO, "'%.40s' is no size of a tensor", text);
			return columns_fault(c, k->dims[i], e);
		}
		if (t->dims[i] == 0)
			t->ndims = 0;
	}
	return 0;
}

/* q, k and v are [batch, heads, length, head_dim]. */
static bool is_attention(struct shaped *s, const char *attributes)
{
	const struct shaped_tensor *q = &s->in[0], *k = &s->in[1];

	if (s->n_in < 3 || !q->ndims || !k->ndims || k->dims[3] != q->dims[3])
		return false;
	s->size[LISTED_BATCH] = q->dims[0];
	s->size[LISTED_HEADS] = q->dims[1];
	s->size[LISTED_Q_LEN] = q->dims[2];
	s->size[LISTED_HEAD_DIM] = q->dims[3];
	s->size[LISTED_KV_HEADS] = k->dims[1];
	s->size[LISTED_KV_LEN] = k->dims[2];
	s->size[LISTED_CAUSAL] = strstr(attributes, "'is_causal': 'true'") || strstr(attributes, "'is_causal': '1'");
	return true;
}

static int read_op(const struct reader *r, const struct columns *c, struct shaped *s, char *op, size_t cap,
                   struct err *e)
{
	const char *attributes = columns_text(c, r->attributes);
	const struct code *k = code_of(columns_text(c, r->code));

	*s = (struct shaped){ .of = k ? k->of : SHAPED_FIRST };
	for (uint32_t i = 0; i < r->n_in; i++) {
		if (read_tensor(c, &r->in[i], &s->in[i], e) < 0)
			return -1;
		if (s->in[i].ndims)
			s->n_in = i + 1;
	}
	if (r->out.dims[0] != COLUMNS_NONE && read_tensor(c, &r->out, &s->out, e) < 0)
		return -1;
	if (!name_op(k, attributes, op, cap) || (strcmp(op, "attention") == 0 && !is_attention(s, attributes)))
		return 0;
	s->op = op;
	if (strcmp(op, "topk") == 0)
		s->size[LISTED_K] = s->out.ndims ? s->out.dims[3] : 0;
	return 0;
}

/* --- the rows ----------------------------------------------------------------------------------------------------- */

static int end_post(struct reader *r, const struct columns *c, struct err *e)
{
	if (!r->post_name.len)
		return 0;
	r->post.name = str_c(&r->post_name);
	r->post.dur_ns = r->now_ns - r->post.start_ns;
	return r->post.dur_ns > 0 ? tracedb_put_range(c->db, &r->post, false, e) : 0;
}

static int begin_post(struct reader *r, const struct columns *c, struct err *e)
{
	if (end_post(r, c, e) < 0)
		return -1;
	str_clear(&r->post_name);
	str_add(&r->post_name, columns_text(c, r->code));
	r->post = (struct trace_range){ .start_ns = r->now_ns };
	return r->post_name.failed ? err_nomem(e, NULL) : 0;
}

static int tt_csv_read_row(void *arg, const struct columns *c, struct err *e)
{
	struct reader *r = arg;
	const char *type = columns_text(c, r->type);
	const size_t time = *columns_text(c, r->kernel) ? r->kernel : r->firmware;
	struct trace_launch l = { .kind = TRACE_KERNEL, .bytes = -1, .host_start_ns = -1, .host_dur_ns = -1 };
	struct shaped s;
	char op[40];
	int64_t gap = 0;

	if (strcmp(type, "signpost") == 0)
		return begin_post(r, c, e);
	if (!strstr(type, "device") || !*columns_text(c, time))
		return 0; /* of the host */
	if (columns_number(c, time, "DEVICE KERNEL DURATION [ns]", 0, 0, &l.dur_ns, e) < 0 ||
	    (*columns_text(c, r->gap) &&
	     columns_number(c, r->gap, "OP TO OP LATENCY [ns]", 0, INT64_MIN, &gap, e) < 0) ||
	    (*columns_text(c, r->device) && columns_number(c, r->device, "DEVICE ID", 0, 0, &l.device, e) < 0) ||
	    read_op(r, c, &s, op, sizeof op, e) < 0)
		return -1;
	if (gap < 0 || !r->rows)
		gap = 0;
	if (l.dur_ns > MOST_TIME || gap > MOST_TIME || r->now_ns > MOST_TIME - l.dur_ns - gap) {
		err_set(e, ERR_IO, "all rows together are more than a year");
		return columns_fault(c, time, e);
	}
	l.name = columns_text(c, r->code);
	l.start_ns = r->now_ns + gap;
	r->now_ns = l.start_ns + l.dur_ns;
	return shaped_put(c->db, &s, &l, ++r->rows, e) < 0 ? -1 : 0;
}

static int read_end(void *arg, const struct columns *c, struct err *e)
{
	return end_post(arg, c, e);
}

int tt_csv_import(struct tracedb *db, struct input *in, input_progress *progress, void *arg,
                  struct trace_import_stats *st, struct err *e)
{
	static const struct columns_table table = {
		"tt-metal",      "ops report of tt-metal (a header with OP CODE, OP TYPE, ...)",
		is_header,       tt_csv_read_header,
		tt_csv_read_row, read_end
	};
	struct reader r = { .post_name = STR_INIT };
	const int rc = columns_import(&table, &r, db, in, progress, arg, st, e);

	str_free(&r.post_name);
	return rc;
}
