/* shaped.c - from tensors to the cells of a row. */
#include "traces/read/shaped.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/str.h"
#include "workloads/shape.h"

#define TICK 2 /* ns of host time an op: an order, no more */

/* --- formats ------------------------------------------------------------------------------------------------------ */

static const char *const types[][2] = {
	{ "bfloat16", "bf16" },
	{ "bf16", "bf16" },
	{ "dt_bf16", "bf16" },
	{ "float16", "fp16" },
	{ "f16", "fp16" },
	{ "float", "fp32" },
	{ "float32", "fp32" },
	{ "f32", "fp32" },
	{ "float64", "fp64" },
	{ "double", "fp64" },
	{ "f64", "fp64" },
	{ "bfloat8_b", "bfp8_b" },
	{ "bfloat4_b", "bfp4_b" },
	{ "f8e4m3fn", "fp8_e4m3" },
	{ "float8_e4m3fn", "fp8_e4m3" },
	{ "f8e5m2", "fp8_e5m2" },
	{ "float8_e5m2", "fp8_e5m2" },
	{ "int4", "int4" },
	{ "s4", "int4" },
	{ "u4", "int4" },
	{ "int8", "int8" },
	{ "s8", "int8" },
	{ "uint8", "int8" },
	{ "u8", "int8" },
	{ "int16", "int16" },
	{ "s16", "int16" },
	{ "uint16", "int16" },
	{ "u16", "int16" },
	{ "int32", "int32" },
	{ "s32", "int32" },
	{ "uint32", "int32" },
	{ "u32", "int32" },
	{ "int64", "int64" },
	{ "s64", "int64" },
	{ "uint64", "int64" },
	{ "u64", "int64" },
	{ "bool", "bool" },
	{ "pred", "bool" },
};

const char *shaped_type(const char *text, size_t n)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		size_t k = 0;

		while (k < n && types[i][0][k] == tolower((unsigned char)text[k]))
			k++;
		if (k == n && n > 0 && types[i][0][k] == '\0')
			return types[i][1];
	}
	return NULL;
}

/* --- sizes -------------------------------------------------------------------------------------------------------- */

static uint64_t shaped_product(const uint64_t *v, uint32_t n)
{
	uint64_t all = 1;

	for (uint32_t i = 0; i < n; i++)
		if (v[i] == 0 || __builtin_mul_overflow(all, v[i], &all) || all > SHAPE_MAX_ELEMS)
			return 0;
	return all;
}

uint64_t shaped_values(const struct shaped_tensor *t)
{
	return t->ndims ? shaped_product(t->dims, t->ndims) : 0;
}

/* The last but `back` dimension, 1 in front of the first. */
static uint64_t last(const struct shaped_tensor *t, uint32_t back)
{
	return back < t->ndims ? t->dims[t->ndims - 1 - back] : 1;
}

/* What stands before the last two. */
static uint64_t leading(const struct shaped_tensor *t)
{
	return t->ndims > 2 ? shaped_product(t->dims, t->ndims - 2) : 1;
}

static uint64_t shaped_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

/* rows x cols values, or as many as they have in tiles. */
static bool shaped_holds(uint64_t values, uint64_t batch, uint64_t rows, uint64_t cols)
{
	static const uint64_t tiles[] = { 1, 16, 32 };

	for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
		const uint64_t v[] = { batch, shaped_up(rows, tiles[i]), shaped_up(cols, tiles[i]) };

		if (shaped_product(v, 3) == values)
			return true;
	}
	return false;
}

struct sizes {
	uint64_t m, n, k, batch;
};

static bool of_operands(const struct shaped_tensor *a, const struct shaped_tensor *b, struct sizes *z)
{
	z->k = last(a, 0);
	z->n = last(b, 1) == z->k ? last(b, 0) : last(b, 1);
	if (last(b, 1) != z->k && last(b, 0) != z->k)
		return false;
	z->batch = leading(b);
	z->m = leading(b) > 1 ? last(a, 1) : shaped_values(a) / z->k;
	return true;
}

static bool of_result(const struct shaped_tensor *a, const struct shaped_tensor *b, const struct shaped_tensor *c,
                      struct sizes *z)
{
	const uint64_t values = shaped_values(c), left = shaped_values(a);

	z->n = last(c, 0);
	z->batch = leading(b);
	if (!z->batch || !z->n || values % (z->batch * z->n))
		return false;
	z->m = values / z->batch / z->n;
	/* The left operand may be padded: then its own last dimension is k, or that before it. */
	z->k = left / (z->batch * z->m);
	if (z->k && left % (z->batch * z->m) == 0 && shaped_holds(shaped_values(b), z->batch, z->k, z->n))
		return true;
	for (uint32_t back = 0; back < 2; back++)
		if ((z->k = last(a, back)) && shaped_holds(shaped_values(b), z->batch, z->k, z->n) &&
		    shaped_holds(left, z->batch, z->m, z->k))
			return true;
	return false;
}

/* A product's right operand has its own batch, or one for all. */
static bool fill_product(const struct shaped *s, uint64_t v[LISTED_COUNT])
{
	const struct shaped_tensor *a = &s->in[0], *b = &s->in[1];
	struct sizes z;

	if (v[LISTED_M] && v[LISTED_N] && v[LISTED_K])
		return true;
	if (s->n_in < 2 || !shaped_values(a) || !shaped_values(b))
		return false;
	if (!(shaped_values(&s->out) ? of_result(a, b, &s->out, &z) : of_operands(a, b, &z)))
		return false;
	v[LISTED_M] = z.m, v[LISTED_N] = z.n, v[LISTED_K] = z.k, v[LISTED_BATCH] = z.batch;
	return true;
}

/* What the reader named; of older versions without results the first operand. */
static const struct shaped_tensor *said_by(const struct shaped *s)
{
	const uint32_t in = s->of == SHAPED_SECOND;

	if (s->of == SHAPED_RESULT && (s->out.ndims || !s->n_in))
		return &s->out;
	return in < s->n_in ? &s->in[in] : &s->out;
}

static bool fill_rows(const struct shaped *s, uint64_t v[LISTED_COUNT])
{
	const struct shaped_tensor *t = said_by(s);
	const uint64_t values = shaped_values(t);

	if (v[LISTED_ROWS] && v[LISTED_COLS])
		return true;
	if (!values)
		return false;
	v[LISTED_COLS] = last(t, 0);
	v[LISTED_ROWS] = values / v[LISTED_COLS];
	return true;
}

static bool fill_elements(const struct shaped *s, uint64_t v[LISTED_COUNT])
{
	if (!v[LISTED_ELEMENTS])
		v[LISTED_ELEMENTS] = shaped_values(said_by(s));
	return v[LISTED_ELEMENTS] != 0;
}

/* --- the row ------------------------------------------------------------------------------------------------------ */

static bool shaped_cell(struct listed *x, enum listed_column c, uint64_t v)
{
	char digits[24];

	if (!v)
		return true;
	snprintf(digits, sizeof digits, "%llu", (unsigned long long)v);
	return listed_cell(x, c, digits, NULL) == 0;
}

/* A second operand that is a row, a column or one value. */
static bool is_broadcast(const struct shaped *s, uint64_t elements)
{
	for (uint32_t i = 0; i < 2 && i < s->n_in; i++)
		if (shaped_values(&s->in[i]) < elements)
			return true;
	return s->n_in < 2;
}

static bool name_op(const struct shaped *s, uint64_t elements, struct listed *x)
{
	const char *op = s->op;
	char name[40];

	if (strcmp(op, "convert") == 0) {
		if (!s->out.type)
			return false;
		snprintf(name, sizeof name, "convert:%s", s->out.type);
		op = name;
	}
	if (listed_cell(x, LISTED_OP, op, NULL) < 0)
		return false;
	if (str_prefix(op, "elementwise:") && !s->size[LISTED_ELEMENTS] && listed_operands(x) == 2 && s->n_in > 0 &&
	    is_broadcast(s, elements) && !str_prefix(op + strlen("elementwise:"), "silu_and") &&
	    !str_prefix(op + strlen("elementwise:"), "gelu_and"))
		return listed_cell(x, LISTED_OP, "elementwise", NULL) == 0;
	return true;
}

static bool name_types(const struct shaped *s, struct listed *x)
{
	const struct shaped_tensor *t = s->n_in ? said_by(s) : &s->out;

	if (!t->type || listed_cell(x, LISTED_DTYPE, t->type, NULL) < 0)
		return false;
	if (!listed_takes(x, LISTED_WEIGHT_DTYPE) || s->n_in < 2)
		return true;
	t = &s->in[1];
	/* A table of rows stands before its indices or behind them. */
	if (s->of == SHAPED_RESULT && last(t, 0) != last(&s->out, 0))
		t = &s->in[0];
	return !t->type || listed_cell(x, LISTED_WEIGHT_DTYPE, t->type, NULL) == 0;
}

/* Where operands lie, if the profiler tells. */
static bool name_places(const struct shaped *s, struct listed *x)
{
	static const char *const names[1 << LISTED_PLACES] = { "",    "in",     "weights",     "in+weights",
		                                               "out", "in+out", "weights+out", "in+weights+out" };
	unsigned which = s->out.resident ? 1u << LISTED_OUT : 0;

	for (uint32_t i = 0; i < s->n_in; i++)
		if (s->in[i].resident)
			which |= i && listed_takes(x, LISTED_WEIGHT_DTYPE) ? 1u << LISTED_WEIGHTS : 1u << LISTED_IN;
	return listed_cell(x, LISTED_RESIDENT, names[which], NULL) == 0;
}

/* False: it is no row of a table. */
static bool shaped_row_of(const struct shaped *s, struct listed *x)
{
	enum listed_column at;
	uint64_t v[LISTED_COUNT];

	*x = (struct listed){ .algorithm = OP_ATTN_ANY };
	if (!s->op)
		return false;
	memcpy(v, s->size, sizeof v);
	if (!name_op(s, shaped_values(&s->out) ? shaped_values(&s->out) : shaped_values(&s->in[0]), x))
		return false;
	if (listed_needs(x, LISTED_N)       ? !fill_product(s, v)
	    : listed_needs(x, LISTED_HEADS) ? !v[LISTED_HEADS]
	    : listed_needs(x, LISTED_ROWS)  ? !fill_rows(s, v)
	                                    : !fill_elements(s, v))
		return false;
	for (int c = 0; c < LISTED_COUNT; c++)
		if (listed_is_size((enum listed_column)c) && !shaped_cell(x, (enum listed_column)c, v[c]))
			return false;
	return name_types(s, x) && name_places(s, x) && listed_finish(x, &at, NULL) == 0;
}

int shaped_put(struct tracedb *db, const struct shaped *s, const struct trace_launch *l, int64_t id, struct err *e)
{
	struct listed_room room;
	struct listed x;
	struct trace_op o;
	const bool known = shaped_row_of(s, &x);

	if (known) {
		listed_to_op(&x, &room, &o);
		o.start_ns = id * TICK;
		o.dur_ns = TICK - 1;
		if (tracedb_put_op(db, &o, id, e) < 0)
			return -1;
	}
	return tracedb_put_launch(db, l, known ? id : 0, e) < 0 ? -1 : !known;
}
