/* listed.c - the kinds of rows, their cells, and the row as a framework op. What a row's operands are: listed_shape.c. */
#include "workloads/listed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/str.h"
#include "workloads/listed_int.h"

#define BIT(c)        (UINT32_C(1) << LISTED_##c)
#define PASSES_MOST   16
#define SIZE_MAX_BITS 40 /* a size's; what sizes make together is bounded by SHAPE_MAX_ELEMS and SHAPE_MAX_MACS */

/* --- what a row may name ------------------------------------------------------------------------------------------ */

#define COLUMN(id, name) [LISTED_##id] = #name,
static const char *const columns[LISTED_COUNT] = { LISTED_COLUMNS(COLUMN) };

#define ALWAYS \
	(BIT(OP) | BIT(NAME) | BIT(DTYPE) | BIT(BATCH) | BIT(MEASURED_US) | BIT(MEASURED_UJ) | BIT(MEASURED_MHZ) | \
	 BIT(RESIDENT))
#define SIZES \
	(BIT(M) | BIT(N) | BIT(K) | BIT(BATCH) | BIT(HEADS) | BIT(KV_HEADS) | BIT(Q_LEN) | BIT(KV_LEN) | \
	 BIT(HEAD_DIM) | BIT(V_DIM) | BIT(CAUSAL) | BIT(ROWS) | BIT(COLS) | BIT(ELEMENTS) | BIT(PASSES))
#define ROWS_COLS (BIT(ROWS) | BIT(COLS))

/* Of what a row needs: either the elements or rows and cols. */
#define ELEMS BIT(ELEMENTS)

#define ROW(n, f, k, fn, c, r, arity, needs, may) \
	{ \
		n, { f, fn, OP_##k, OP_COST_##c, OP_RED_##r }, arity, needs, may \
	}
#define MAP(function, c, arity) \
	ROW("elementwise:" function, "elementwise", ELEMENTWISE, function, c, SUM, arity, ELEMS, ROWS_COLS)
#define NORM(n, function) ROW(n, "norm", NORM, function, MOVE, SUM, 1, ROWS_COLS, ELEMS | BIT(WEIGHT_DTYPE))
#define RED(n, how)       ROW(n, "reduce", REDUCE, "", MOVE, how, 1, ROWS_COLS, ELEMS)
#define MOVES(n, k)       ROW(n, n, k, "", MOVE, SUM, 1, ELEMS, ROWS_COLS)
#define PICKS(n, k, may)  ROW(n, n, k, "", MOVE, SUM, 1, ROWS_COLS, ELEMS | may)

/* A name without function is the commonest of its kind. */
/* clang-format off */
static const struct listed_kind kinds[] = {
	ROW("gemm", "gemm", GEMM, "", MOVE, SUM, 0, BIT(M) | BIT(N) | BIT(K), BIT(WEIGHT_DTYPE) | BIT(PASSES)),
	ROW("gemv", "gemv", GEMM, "", MOVE, SUM, 0, BIT(N) | BIT(K), BIT(M) | BIT(WEIGHT_DTYPE) | BIT(PASSES)),
	ROW("attention", "attention", ATTENTION, "", MOVE, SUM, 0, BIT(HEADS) | BIT(Q_LEN) | BIT(KV_LEN) | BIT(HEAD_DIM),
	    BIT(KV_HEADS) | BIT(V_DIM) | BIT(CAUSAL) | BIT(ALGORITHM) | BIT(WEIGHT_DTYPE)),
	ROW("elementwise", "elementwise", ELEMENTWISE, "", ALU, SUM, 1, ELEMS, ROWS_COLS),
	MAP("add", ALU, 2), MAP("sub", ALU, 2), MAP("mul", ALU, 2), MAP("max", ALU, 2), MAP("min", ALU, 2),
	MAP("where", ALU, 3), MAP("neg", ALU, 1), MAP("abs", ALU, 1), MAP("relu", ALU, 1), MAP("clamp", ALU, 1),
	MAP("div", DIV, 2), MAP("exp", SFU, 1), MAP("log", SFU, 1), MAP("sqrt", SFU, 1), MAP("rsqrt", SFU, 1),
	MAP("sin", SFU, 1), MAP("cos", SFU, 1), MAP("tanh", SFU, 1), MAP("pow", SFU, 1),
	MAP("sigmoid", ACT, 1), MAP("silu", ACT, 1), MAP("gelu", ACT, 1), MAP("silu_and_mul", ACT, 2),
	MAP("gelu_and_mul", ACT, 2),
	ROW("softmax", "softmax", SOFTMAX, "", MOVE, SUM, 1, ROWS_COLS, ELEMS),
	NORM("norm", "rms_norm"), NORM("norm:rms_norm", "rms_norm"), NORM("norm:layer_norm", "layer_norm"),
	RED("reduce", SUM), RED("reduce:sum", SUM), RED("reduce:mean", MEAN), RED("reduce:max", MAX),
	RED("reduce:argmax", ARGMAX), RED("reduce:norm", NORM),
	ROW("topk", "topk", TOPK, "", MOVE, SUM, 1, ROWS_COLS | BIT(K), ELEMS),
	ROW("sort", "sort", SORT, "", MOVE, SUM, 1, ROWS_COLS, ELEMS), ROW("scan", "scan", SCAN, "", MOVE, SUM, 1, ROWS_COLS, ELEMS),
	MOVES("copy", COPY), MOVES("rope", ROPE),
	ROW("concat", "concat", CONCAT, "", MOVE, SUM, 2, ELEMS, ROWS_COLS),
	PICKS("gather", GATHER, 0), PICKS("scatter", SCATTER, 0), PICKS("embed", EMBED, BIT(WEIGHT_DTYPE)),
	ROW("convert", "convert", CONVERT, "convert", MOVE, SUM, 1, ELEMS, ROWS_COLS),
};
/* clang-format on */
#define KINDS       (sizeof kinds / sizeof *kinds)
#define GEMM_ROW    (&kinds[0])
#define GEMV_ROW    (&kinds[1])
#define CONVERT_ROW (&kinds[KINDS - 1])

#define CONVERT_TO "convert:"

/* What others call them. */
static const char *const elsewhere[][2] = {
	{ "matmul", "gemm" },           { "mm", "gemm" },          { "bmm", "gemm" },
	{ "linear", "gemm" },           { "sdpa", "attention" },   { "mha", "attention" },
	{ "rmsnorm", "norm:rms_norm" }, { "cast", "convert:..." }, { "layernorm", "norm:layer_norm" },
	{ "quantize", "convert:..." },  { "cat", "concat" },       { "embedding", "embed" },
};

#define STORED(name, dtype) \
	{ \
#name, DT_##dtype, QUANT_AS_TRACED \
	}
#define SCALED(name, dtype, quant) \
	{ \
#name, DT_##dtype, QUANT_##quant \
	}
/* clang-format off */
static const struct listed_type types[] = {
	STORED(bf16, BF16), STORED(fp16, FP16), STORED(fp32, FP32), STORED(tf32, TF32), STORED(fp64, FP64),
	SCALED(fp8, FP8, FP8), SCALED(fp8_e4m3, FP8, FP8_E4M3), SCALED(fp8_e5m2, FP8, FP8_E5M2), SCALED(int8, INT8, INT8),
	SCALED(int4, INT4, INT4), SCALED(fp4, FP4, FP4), SCALED(nvfp4, FP4, NVFP4), SCALED(mxfp4, FP4, MXFP4),
	SCALED(bfp8_b, FP8, BFP8_B), SCALED(bfp4_b, FP4, BFP4_B),
	STORED(int16, INT16), STORED(int32, INT32), STORED(int64, INT64), STORED(bool, BOOL),
	/* as others write them */
	STORED(bfloat16, BF16), STORED(float16, FP16), STORED(half, FP16), STORED(float32, FP32), STORED(float, FP32),
	STORED(float64, FP64), SCALED(e4m3, FP8, FP8_E4M3), SCALED(e5m2, FP8, FP8_E5M2),
	SCALED(bfloat8_b, FP8, BFP8_B), SCALED(bfloat4_b, FP4, BFP4_B), SCALED(float8_e4m3fn, FP8, FP8_E4M3), SCALED(float8_e5m2, FP8, FP8_E5M2),
};
/* clang-format on */
#define TYPES (sizeof types / sizeof *types)

static const struct listed_type index_type = STORED(int64, INT64);

const struct listed_type *listed_index_type(void)
{
	return &index_type;
}

const struct listed_type *listed_bf16(void)
{
	return &types[0];
}

const char *listed_column_name(enum listed_column c)
{
	return (unsigned)c < LISTED_COUNT ? columns[c] : "?";
}

bool listed_is_size(enum listed_column c)
{
	return SIZES >> c & 1;
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

static const struct listed_type *type_named(const char *text)
{
	for (size_t i = 0; i < TYPES; i++)
		if (strcmp(types[i].name, text) == 0)
			return &types[i];
	return NULL;
}

static int listed_unknown(const char *what, const char *text, const char *near, const char *all, struct err *e)
{
	return near ? err_set(e, ERR_IO, "unknown %s '%.40s': the nearest is '%s'", what, text, near)
	            : err_set(e, ERR_IO, "unknown %s '%.40s': it is one of %s", what, text, all);
}

static int type_cell(const char *text, const struct listed_type **out, struct err *e)
{
	const char *names[TYPES];

	for (size_t i = 0; i < TYPES; i++)
		names[i] = types[i].name;
	*out = type_named(text);
	return *out ? 0
	            : listed_unknown("format", text, str_nearest(text, names, TYPES),
	                             "bf16, fp16, fp32, fp8_e4m3, fp8_e5m2, int8, int4, nvfp4, mxfp4, bfp8_b, ...", e);
}

static const struct listed_kind *kind_named(const char *text, const struct listed_type **to)
{
	*to = NULL;
	if (str_prefix(text, CONVERT_TO)) {
		*to = type_named(text + strlen(CONVERT_TO));
		return *to ? CONVERT_ROW : NULL;
	}
	for (size_t i = 0; i + 1 < KINDS; i++)
		if (strcmp(kinds[i].op, text) == 0)
			return &kinds[i];
	return NULL;
}

/* A function without its kind, or a word of others; NULL: neither. */
static const char *called_here(const char *text)
{
	for (size_t i = 0; i < KINDS; i++) {
		const char *colon = strchr(kinds[i].op, ':');

		if (colon && strcmp(colon + 1, text) == 0)
			return kinds[i].op;
	}
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
		if (strcmp(elsewhere[i][0], text) == 0)
			return elsewhere[i][1];
	return NULL;
}

static int unknown_op(const char *text, struct err *e)
{
	const char *names[KINDS], *here = called_here(text);

	if (here)
		return err_set(e, ERR_IO, "unknown op '%.40s': here it is '%s'", text, here);
	for (size_t i = 0; i < KINDS; i++)
		names[i] = kinds[i].op;
	return listed_unknown("op", text, str_nearest(text, names, KINDS),
	                      "gemm, gemv, attention, elementwise:add, softmax, norm, reduce, copy, convert:fp8, ...",
	                      e);
}

static int op_cell(struct listed *x, const char *text, struct err *e)
{
	for (int k = 0; k < OP_KINDS; k++)
		if (op_traits[k].unlisted && str_prefix(text, op_traits[k].name))
			return err_set(e, ERR_IO, "'%s' is no op of a table: %s", op_traits[k].name,
			               op_traits[k].unlisted);
	if (strcmp(text, "convert") == 0)
		return err_set(e, ERR_IO, "'convert' says to which format: 'convert:fp8'");
	if (str_prefix(text, CONVERT_TO) && type_cell(text + strlen(CONVERT_TO), &x->to, e) < 0)
		return -1;
	x->kind = kind_named(text, &x->to);
	return x->kind ? 0 : unknown_op(text, e);
}

static int size_cell(struct listed *x, enum listed_column c, const char *text, struct err *e)
{
	const size_t n = strlen(text), digits = strspn(text, "0123456789");
	const uint64_t most = UINT64_C(1) << SIZE_MAX_BITS;

	if (c == LISTED_CAUSAL) {
		x->v[c] = strcmp(text, "1") == 0 || strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;
		return x->v[c] || strcmp(text, "0") == 0 || strcmp(text, "false") == 0 || strcmp(text, "no") == 0
		               ? 0
		               : err_set(e, ERR_IO, "'%s' is 0 or 1, not '%.40s'", columns[c], text);
	}
	if (*text == '-' && n > 1 && strspn(text + 1, "0123456789.") == n - 1)
		return err_set(e, ERR_IO, "'%s' is negative: %.40s", columns[c], text);
	if (digits != n)
		return err_set(e, ERR_IO, "'%s' is a whole number, not '%.40s'", columns[c], text);
	x->v[c] = n > 15 ? most + 1 : strtoull(text, NULL, 10);
	if (x->v[c] == 0)
		return err_set(e, ERR_IO, "'%s' is 0: sizes begin at 1", columns[c]);
	if (x->v[c] > most)
		return err_set(e, ERR_IO, "'%s' is %.40s, more than 2^%d", columns[c], text, SIZE_MAX_BITS);
	return 0;
}

static int algorithm_cell(struct listed *x, const char *text, struct err *e)
{
	const char *names[OP_ATTNS];

	for (int i = 0; i < OP_ATTNS; i++) {
		names[i] = i == OP_ATTN_ANY ? NULL : op_attn_name((enum op_attn)i);
		if (names[i] && strcmp(names[i], text) == 0) {
			x->algorithm = (enum op_attn)i;
			return 0;
		}
	}
	return listed_unknown("algorithm", text, str_nearest(text, names, OP_ATTNS),
	                      "flash, split_kv, materialised, mla, per_head, grouped", e);
}

static int resident_cell(struct listed *x, const char *text, struct err *e)
{
	static const char *const names[] = { "in", "weights", "out" };
	size_t n;

	for (const char *p = text; *p; p += n + (p[n] == '+')) {
		size_t i = 0;

		n = strcspn(p, "+");
		while (i < LISTED_PLACES && (strlen(names[i]) != n || strncmp(p, names[i], n) != 0))
			i++;
		if (i == LISTED_PLACES || (p[n] && !p[n + 1]))
			return err_set(e, ERR_IO,
			               "'%s' is operands that lie on chip: 'in', 'weights', 'out', several with '+' "
			               "between, not '%.40s'",
			               columns[LISTED_RESIDENT], text);
		x->resident |= 1u << i;
	}
	return 0;
}

/* "0.1234", "12": what stands in a table, no sign, no exponent. */
static int amount_cell(enum listed_column c, const char *text, struct err *e)
{
	const size_t n = strlen(text), whole = strspn(text, "0123456789"), point = text[whole] == '.';

	if (n > 20 || whole == 0 || whole + point + strspn(text + whole + point, "0123456789") != n ||
	    strspn(text, "0.") == n)
		return err_set(e, ERR_IO, "'%s' is a number above 0, not '%.40s'", columns[c], text);
	return 0;
}

int listed_cell(struct listed *x, enum listed_column c, const char *text, struct err *e)
{
	int rc = 0;

	if (!*text)
		return 0;
	x->given |= UINT32_C(1) << c;
	if (listed_is_size(c))
		return size_cell(x, c, text, e);
	switch (c) {
	case LISTED_OP:
		return op_cell(x, text, e);
	case LISTED_DTYPE:
		return type_cell(text, &x->type, e);
	case LISTED_WEIGHT_DTYPE:
		return type_cell(text, &x->weights, e);
	case LISTED_ALGORITHM:
		return algorithm_cell(x, text, e);
	case LISTED_MEASURED_UJ:
	case LISTED_MEASURED_MHZ:
		rc = amount_cell(c, text, e);
		break;
	case LISTED_RESIDENT:
		rc = resident_cell(x, text, e);
		break;
	default:
		break;
	}
	x->text[c] = text;
	return rc;
}

/* --- the row as a whole ------------------------------------------------------------------------------------------- */

/* "m, n, k, batch": the sizes that a kind has. */
static void add_columns(uint32_t which, struct str *to)
{
	for (int c = 0; c < LISTED_COUNT; c++)
		if (which >> c & 1)
			str_addf(to, "%s%s", to->len ? ", " : "", columns[c]);
}

static enum listed_column first_of(uint32_t which)
{
	int c = 0;

	while (c + 1 < LISTED_COUNT && !(which >> c & 1))
		c++;
	return (enum listed_column)c;
}

static int misplaced(const struct listed *x, enum listed_column c, struct err *e)
{
	struct str all = STR_INIT;

	add_columns((x->kind->needs | x->kind->may | BIT(BATCH)) & ~BIT(WEIGHT_DTYPE) & ~BIT(ALGORITHM), &all);
	err_set(e, ERR_IO, "'%s' does not belong to '%s', which has %s", columns[c], x->kind->op, str_c(&all));
	str_free(&all);
	return -1;
}

static int check_columns(const struct listed *x, enum listed_column *at, struct err *e)
{
	const struct listed_kind *k = x->kind;
	const bool grid = k->needs == ELEMS && !(x->given & ELEMS);
	const uint32_t needs = grid ? ROWS_COLS : k->needs, missing = needs & ~x->given,
		       alien = x->given & ~(ALWAYS | k->needs | k->may);

	if (alien && !(alien == BIT(WEIGHT_DTYPE) && x->weights == x->type)) {
		*at = first_of(alien);
		return misplaced(x, *at, e);
	}
	if (missing && grid && missing == ROWS_COLS)
		return err_set(e, ERR_IO, "'%s' needs 'elements', or 'rows' and 'cols'", k->op);
	if (missing)
		return err_set(e, ERR_IO, "'%s' needs '%s'", k->op, columns[first_of(missing)]);
	return 0;
}

static void defaults(struct listed *x)
{
	static const enum listed_column one[] = { LISTED_M, LISTED_BATCH, LISTED_ROWS };

	for (size_t i = 0; i < sizeof one / sizeof *one; i++)
		if (!x->v[one[i]])
			x->v[one[i]] = 1;
	if (!x->v[LISTED_KV_HEADS])
		x->v[LISTED_KV_HEADS] = x->algorithm == OP_ATTN_MLA ? 1 : x->v[LISTED_HEADS];
	if (!x->v[LISTED_V_DIM])
		x->v[LISTED_V_DIM] = x->v[LISTED_HEAD_DIM];
	if (!x->type)
		x->type = &types[0];
	if (!x->weights)
		x->weights = x->type;
}

static int check_sizes(struct listed *x, enum listed_column *at, struct err *e)
{
	const uint64_t *v = x->v;
	const uint32_t all = ROWS_COLS | BIT(ELEMENTS);

	if (x->kind->is.kind == OP_ATTENTION && v[LISTED_HEADS] % v[LISTED_KV_HEADS]) {
		*at = LISTED_KV_HEADS;
		return err_set(e, ERR_IO, "'heads' (%llu) is no multiple of 'kv_heads' (%llu)",
		               (unsigned long long)v[LISTED_HEADS], (unsigned long long)v[LISTED_KV_HEADS]);
	}
	if (x->algorithm == OP_ATTN_MLA && (v[LISTED_KV_HEADS] != 1 || v[LISTED_V_DIM] > v[LISTED_HEAD_DIM])) {
		*at = v[LISTED_KV_HEADS] != 1 ? LISTED_KV_HEADS : LISTED_V_DIM;
		return err_set(e, ERR_IO,
		               v[LISTED_KV_HEADS] != 1 ? "attention over a latent ('mla') has one KV head, not %llu"
		                                       : "values of a latent ('mla') are a part of its keys: 'v_dim' is"
		                                         " %llu, more than 'head_dim'",
		               (unsigned long long)v[*at]);
	}
	if (x->kind == GEMV_ROW && v[LISTED_M] != 1) {
		*at = LISTED_M;
		return err_set(e, ERR_IO, "a 'gemv' has one row, not %llu: this is a 'gemm'",
		               (unsigned long long)v[LISTED_M]);
	}
	if (v[LISTED_PASSES] > PASSES_MOST) {
		*at = LISTED_PASSES;
		return err_set(e, ERR_IO, "'passes' is %llu: a product takes %d at the most",
		               (unsigned long long)v[LISTED_PASSES], PASSES_MOST);
	}
	if (x->kind->is.kind == OP_TOPK && v[LISTED_K] > v[LISTED_COLS]) {
		*at = LISTED_K;
		return err_set(e, ERR_IO, "'k' (%llu) is more than 'cols' (%llu)", (unsigned long long)v[LISTED_K],
		               (unsigned long long)v[LISTED_COLS]);
	}
	/* 2^80 at the most, so it may wrap: what is too large is refused behind this. */
	if ((x->given & all) == all && v[LISTED_ELEMENTS] != v[LISTED_ROWS] * v[LISTED_COLS]) {
		*at = LISTED_ELEMENTS;
		return err_set(e, ERR_IO, "'elements' (%llu) is not 'rows' times 'cols' (%llu x %llu)",
		               (unsigned long long)v[LISTED_ELEMENTS], (unsigned long long)v[LISTED_ROWS],
		               (unsigned long long)v[LISTED_COLS]);
	}
	return listed_fits(x)
	               ? 0
	               : err_set(e, ERR_IO,
	                         "a tensor of this '%s' has more than 2^48 values, or its products more than 2^62"
	                         " multiply-adds",
	                         x->kind->op);
}

int listed_finish(struct listed *x, enum listed_column *at, struct err *e)
{
	*at = LISTED_OP;
	if (!x->kind)
		return err_set(e, ERR_IO, "the row names no op");
	if (check_columns(x, at, e) < 0)
		return -1;
	defaults(x);
	return check_sizes(x, at, e);
}

/* --- as a framework op -------------------------------------------------------------------------------------------- */

const char *listed_op_name(const struct listed *x)
{
	return x->kind->op;
}

bool listed_needs(const struct listed *x, enum listed_column c)
{
	return x->kind->needs >> c & 1;
}

bool listed_takes(const struct listed *x, enum listed_column c)
{
	return (ALWAYS | x->kind->needs | x->kind->may) >> c & 1;
}

uint32_t listed_operands(const struct listed *x)
{
	return x->kind->arity;
}

void listed_kind_name(const struct op *o, char *to, size_t size)
{
	const char *kind = op_kind_name(o->kind), *variant = op_variant_name(o);
	const size_t n = strlen(kind);
	bool known = op_traits[o->kind].variant == OP_VARIANT_FORMAT;

	for (size_t i = 0; i < KINDS && !known; i++)
		known = kinds[i].is.kind == o->kind && str_prefix(kinds[i].op, kind) && kinds[i].op[n] == ':' &&
		        strcmp(kinds[i].op + n + 1, variant) == 0;
	snprintf(to, size, "%s%s%s", kind, known ? ":" : "", known ? variant : "");
}

static struct trace_arg *add_arg(struct listed_room *room, uint32_t *n, enum listed_column c)
{
	struct trace_arg *a = &room->args[(*n)++];

	*a = (struct trace_arg){ .dtype = "", .scalar = "", .ndims = -1, .list = -1, .pos = (int32_t)c };
	return a;
}

/* Numbers are scalars; words go where a type's name goes, which is never private. */
void listed_to_op(const struct listed *x, struct listed_room *room, struct trace_op *out)
{
	uint32_t n = 0;

	snprintf(room->name, sizeof room->name, LISTED_SPACE "%s%s%s", x->kind->op, x->to ? ":" : "",
	         x->to ? x->to->name : "");
	for (int c = 0; c < LISTED_COUNT; c++) {
		if (!(x->given >> c & 1) || c == LISTED_OP || c == LISTED_NAME || c == LISTED_MEASURED_US)
			continue;
		if (listed_is_size((enum listed_column)c)) {
			snprintf(room->digits[c], sizeof room->digits[c], "%llu", (unsigned long long)x->v[c]);
			add_arg(room, &n, (enum listed_column)c)->scalar = room->digits[c];
		} else if (c == LISTED_DTYPE || c == LISTED_WEIGHT_DTYPE) {
			add_arg(room, &n, (enum listed_column)c)->dtype =
				(c == LISTED_DTYPE ? x->type : x->weights)->name;
		} else if (c == LISTED_ALGORITHM) {
			add_arg(room, &n, LISTED_ALGORITHM)->dtype = op_attn_name(x->algorithm);
		} else {
			add_arg(room, &n, (enum listed_column)c)->scalar = x->text[c];
		}
	}
	*out = (struct trace_op){ .name = room->name, .sequence = -1, .n_args = n, .args = room->args };
}

bool listed_is(const struct trace_launch *l)
{
	return l->op && str_prefix(l->op->name, LISTED_SPACE);
}

int listed_of_op(const struct trace_op *o, struct listed *out)
{
	enum listed_column at;
	int rc = 0;

	*out = (struct listed){ .algorithm = OP_ATTN_ANY };
	if (!str_prefix(o->name, LISTED_SPACE) || !(out->kind = kind_named(o->name + strlen(LISTED_SPACE), &out->to)))
		return -1;
	for (uint32_t i = 0; i < o->n_args && rc == 0; i++) {
		const struct trace_arg *a = &o->args[i];
		const bool word = a->pos == LISTED_DTYPE || a->pos == LISTED_WEIGHT_DTYPE || a->pos == LISTED_ALGORITHM;

		if (a->pos <= LISTED_NAME || a->pos >= LISTED_COUNT)
			return -1;
		rc = listed_cell(out, (enum listed_column)a->pos, word ? a->dtype : a->scalar, NULL);
	}
	return rc < 0 || listed_finish(out, &at, NULL) < 0 ? -1 : 0;
}

/* A size that an op was stored with; 0: none. */
static uint64_t listed_size_of(const struct trace_op *o, enum listed_column c)
{
	for (uint32_t i = 0; i < o->n_args; i++)
		if (o->args[i].pos == (int32_t)c)
			return strtoull(o->args[i].scalar, NULL, 10);
	return 0;
}

size_t listed_meanings(void)
{
	return KINDS;
}

const struct listed_meaning *listed_meaning(size_t i)
{
	return &kinds[i].is;
}

int listed_meaning_of(const struct trace_launch *l)
{
	const struct listed_type *to;
	const struct listed_kind *k = listed_is(l) ? kind_named(l->op->name + strlen(LISTED_SPACE), &to) : NULL;

	if (k == GEMM_ROW && listed_size_of(l->op, LISTED_M) == 1)
		k = GEMV_ROW; /* as rule tables tell products apart */
	return k ? (int)(k - kinds) : -1;
}
