/* build_table.c - a stream as a table of ops: CSV, a line an op, that begins with `op,`. A row has the cells that its kind
 * takes, and no others. Order is the program's. What a table cannot say is left out: which op waits for which, which expert,
 * strides, the host's reads; values of attention narrower than its queries (MLA) are as wide. */
#include <inttypes.h>
#include <string.h>

#include "sim/build/build.h"
#include "workloads/listed.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct cells {
	char op[48];
	uint64_t m, n, k, batch, heads, kv_heads, q_len, kv_len, head_dim, v_dim, rows, cols, elems;
	const char *causal, *algorithm, *weights;
};

/* Format of what a product multiplies by, or attention looks at, where it is not the operands'. */
static const char *stored_as(const struct op_stream *s, const struct op *o)
{
	const enum op_role role = op_traits[o->kind].operands[1].is;

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

static void build_table_attention(const struct op_stream *s, const struct op *o, struct cells *c)
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
	const struct op_traits *t = &op_traits[o->kind];
	const struct op_shape *x = &o->shape;
	struct cells c = { .batch = x->batch > 1 ? x->batch : 0, .causal = "", .algorithm = "", .weights = "" };

	listed_kind_name(o, c.op, sizeof c.op);
	if (t->dims == OP_DIMS_PRODUCT) {
		c.m = x->m, c.n = x->n, c.k = x->k;
		c.weights = stored_as(s, o);
	} else if (t->dims == OP_DIMS_ATTENTION) {
		build_table_attention(s, o, &c);
	} else if (t->indexed) {
		c.rows = indexed(s, o);
		c.cols = x->elems / c.rows;
	} else if (t->dims == OP_DIMS_ROWS) {
		c.rows = x->rows;
		c.cols = x->cols;
		c.k = x->top;
	} else {
		c.elems = x->elems;
	}
	return c;
}

static void build_table_number(struct str *out, uint64_t v)
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

static void build_table_row(const struct op_stream *s, const struct op *o, struct str *out)
{
	const struct cells c = cells_of(s, o);
	const uint64_t before[] = {
		c.m, c.n, c.k, c.batch, c.heads, c.kv_heads, c.q_len, c.kv_len, c.head_dim, c.v_dim
	};

	str_add(out, c.op);
	str_addc(out, ',');
	str_add_cell(out, o->name);
	for (size_t i = 0; i < COUNT(before); i++)
		build_table_number(out, before[i]);
	word(out, c.causal);
	word(out, c.algorithm);
	build_table_number(out, c.rows);
	build_table_number(out, c.cols);
	build_table_number(out, c.elems);
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
		if (!op_traits[s->ops[i].kind].unlisted)
			build_table_row(s, &s->ops[i], out);
}
