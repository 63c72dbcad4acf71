/* build_table.c - a stream as a table of ops: CSV, a line an op, that begins with `op,`. A row has the cells that its kind
 * takes, and no others. Order is the program's. What a table cannot say is left out: which op waits for which, which expert,
 * strides, the host's reads; values of attention narrower than its queries (MLA) are as wide. */
#include <inttypes.h>
#include <string.h>

#include "sim/build/build.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct cells {
	char op[48];
	uint64_t m, n, k, batch, heads, kv_heads, q_len, kv_len, head_dim, v_dim, rows, cols, elems;
	const char *causal, *algorithm, *weights;
};

/* Format of what a product multiplies by, or attention looks at, where it is not the operands'. */
static const char *stored_as(const struct op_stream *s, const struct op *o)
{
	const enum op_role role = o->kind == OP_GEMM ? OP_WEIGHT : OP_KV;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = &s->operands[o->first_operand + i];
		const struct op_tensor *t = &s->tensors[x->tensor];

		if (!x->write && t->role == role && t->dtype != o->dtype)
			return t->quant ? quant_name(t->quant) : dtype_name(t->dtype);
	}
	return "";
}

/* Rows that an index names; one where there is none. */
static uint64_t indexed(const struct op_stream *s, const struct op *o)
{
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = &s->operands[o->first_operand + i];
		const struct op_tensor *t = &s->tensors[x->tensor];
		const uint64_t n = dtype_bits(t->dtype) ? t->bytes * 8 / dtype_bits(t->dtype) : 0;

		if (!x->write && t->role == OP_INDEX && n && o->shape.elems % n == 0)
			return n;
	}
	return 1;
}

/* Functions that a table has a name for; others cost what an addition does. */
static bool known_function(const char *fn)
{
	static const char *const names[] = { "add",  "mul", "neg",     "div",  "rsqrt", "sin",         "cos",
		                             "tanh", "pow", "sigmoid", "silu", "gelu",  "silu_and_mul" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (strcmp(fn, names[i]) == 0)
			return true;
	return false;
}

static void name_op(const struct op *o, char *to, size_t size)
{
	const char *kind = op_kind_name(o->kind);
	struct str s = STR_INIT;

	str_add(&s, kind);
	if (o->kind == OP_CONVERT)
		str_addf(&s, ":%s", dtype_name(o->out_dtype));
	else if (o->kind == OP_REDUCE)
		str_addf(&s, ":%s", op_reduce_name(o->reduce));
	else if (o->kind == OP_NORM || (o->kind == OP_ELEMENTWISE && known_function(o->fn)))
		str_addf(&s, ":%s", o->fn);
	strncpy(to, str_c(&s), size - 1);
	to[size - 1] = '\0';
	str_free(&s);
}

static void attention(const struct op_stream *s, const struct op *o, struct cells *c)
{
	const struct op_shape *x = &o->shape;

	c->heads = x->heads;
	c->kv_heads = x->kv_heads;
	c->q_len = x->q_len;
	c->kv_len = x->kv_len;
	c->head_dim = x->head_dim;
	c->causal = x->causal ? "1" : "0";
	c->algorithm = op_attn_name(o->algorithm);
	c->v_dim = x->v_dim == x->head_dim ? 0 : x->v_dim;
	c->weights = stored_as(s, o);
}

static struct cells cells_of(const struct op_stream *s, const struct op *o)
{
	const struct op_shape *x = &o->shape;
	struct cells c = { .batch = x->batch > 1 ? x->batch : 0, .causal = "", .algorithm = "", .weights = "" };

	name_op(o, c.op, sizeof c.op);
	if (o->kind == OP_GEMM) {
		c.m = x->m, c.n = x->n, c.k = x->k;
		c.weights = stored_as(s, o);
	} else if (o->kind == OP_ATTENTION) {
		attention(s, o, &c);
	} else if (o->kind == OP_GATHER || o->kind == OP_SCATTER || o->kind == OP_EMBED) {
		c.rows = indexed(s, o);
		c.cols = x->elems / c.rows;
	} else if (x->rows) {
		c.rows = x->rows;
		c.cols = x->cols;
		c.k = o->kind == OP_TOPK ? x->top : 0;
	} else {
		c.elems = x->elems;
	}
	return c;
}

static void number(struct str *out, uint64_t v)
{
	str_addc(out, ',');
	if (v)
		str_addf(out, "%" PRIu64, v);
}

static void word(struct str *out, const char *w)
{
	str_addc(out, ',');
	str_add(out, w);
}

static void row(const struct op_stream *s, const struct op *o, struct str *out)
{
	const struct cells c = cells_of(s, o);
	const uint64_t before[] = {
		c.m, c.n, c.k, c.batch, c.heads, c.kv_heads, c.q_len, c.kv_len, c.head_dim, c.v_dim
	};

	str_add(out, c.op);
	str_addc(out, ',');
	str_add_cell(out, o->name);
	for (size_t i = 0; i < COUNT(before); i++)
		number(out, before[i]);
	word(out, c.causal);
	word(out, c.algorithm);
	number(out, c.rows);
	number(out, c.cols);
	number(out, c.elems);
	word(out, dtype_name(o->dtype));
	word(out, c.weights);
	str_addc(out, '\n');
}

void build_table(const struct op_stream *s, struct str *out)
{
	str_add(out,
	        "op,name,m,n,k,batch,heads,kv_heads,q_len,kv_len,head_dim,v_dim,causal,algorithm,rows,cols,elements,dtype,"
	        "weight_dtype\n");
	for (size_t i = 0; i < s->n_ops; i++)
		if (s->ops[i].kind != OP_HOST_SYNC)
			row(s, &s->ops[i], out);
}
