/* op_text.c - what a person calls an op: its kind's text with its sizes put in. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/str.h"
#include "workloads/op.h"

/* Cut off where there is no more room. */
struct writing {
	char *to;
	size_t left;
};

#define ADD(w, ...) advance(w, snprintf((w)->to, (w)->left, __VA_ARGS__))

static void advance(struct writing *w, int n)
{
	const size_t took = n < 0 ? 0 : (size_t)n < w->left ? (size_t)n : w->left - 1;

	w->to += took;
	w->left -= took;
}

static void op_text_product(const struct op *o, struct writing *w)
{
	const struct op_shape *s = &o->shape;

	if (s->batch > 1)
		ADD(w, "bmm %" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64, s->batch, s->m, s->k, s->n);
	else if (s->m == 1)
		ADD(w, "gemv %" PRIu64 "x%" PRIu64, s->k, s->n);
	else
		ADD(w, "%s %" PRIu64 "x%" PRIu64 "x%" PRIu64, strcmp(o->family, "conv") == 0 ? "conv" : "gemm", s->m,
		    s->k, s->n);
}

static void op_text_attention(const struct op *o, struct writing *w)
{
	const struct op_shape *s = &o->shape;

	ADD(w, "%s %" PRIu64 "x%" PRIu64 " kv %" PRIu64, op_kind_name(o->kind), s->heads, s->head_dim, s->kv_len);
	if (s->q_len > 1)
		ADD(w, " q %" PRIu64, s->q_len);
	if (s->batch > 1)
		ADD(w, " batch %" PRIu64, s->batch);
}

/* --- what may stand in a text --------------------------------------------------------------------------------------- */

static void put_what(const struct op *o, struct writing *w)
{
	ADD(w, "%s", o->fn && *o->fn ? o->fn : op_kind_name(o->kind));
}

static void put_elems(const struct op *o, struct writing *w)
{
	ADD(w, "%" PRIu64, o->shape.elems);
}

/* One row alone has no rows. */
static void put_rows(const struct op *o, struct writing *w)
{
	if (o->shape.rows > 1)
		ADD(w, "%" PRIu64 "x", o->shape.rows);
	ADD(w, "%" PRIu64, o->shape.cols);
}

static void put_top(const struct op *o, struct writing *w)
{
	ADD(w, "%" PRIu64, o->shape.top);
}

static void put_dtype(const struct op *o, struct writing *w)
{
	ADD(w, "%s", dtype_name(o->dtype));
}

static void put_out(const struct op *o, struct writing *w)
{
	ADD(w, "%s", dtype_name(o->out_dtype));
}

static void put_bytes(const struct op *o, struct writing *w)
{
	ADD(w, "%" PRIu64, dtype_bytes(o->dtype, o->shape.elems));
}

static const struct {
	const char *word;
	void (*put)(const struct op *o, struct writing *w);
} words[] = {
	{ "{what}", put_what },   { "{elems}", put_elems }, { "{rows}", put_rows },   { "{top}", put_top },
	{ "{dtype}", put_dtype }, { "{out}", put_out },     { "{bytes}", put_bytes },
};
#define WORDS (sizeof words / sizeof *words)

static void fill_in(const char *text, const struct op *o, struct writing *w)
{
	while (*text) {
		size_t n = strcspn(text, "{"), i = 0;

		ADD(w, "%.*s", (int)n, text);
		text += n;
		while (*text && i < WORDS && !str_prefix(text, words[i].word))
			i++;
		if (*text && i < WORDS) {
			words[i].put(o, w);
			text += strlen(words[i].word);
		} else if (*text) {
			ADD(w, "%c", *text++);
		}
	}
}

static bool writes_kv(const struct op_stream *s, const struct op *o)
{
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = &s->operands[o->first_operand + i];

		if (x->write && s->tensors[x->tensor].role == OP_KV)
			return true;
	}
	return false;
}

void op_text(const struct op_stream *s, const struct op *o, char *to, size_t size)
{
	const struct op_traits *t = &op_traits[o->kind];
	struct writing w = { to, size };

	if (t->text)
		fill_in(t->text_kv && writes_kv(s, o) ? t->text_kv : t->text, o, &w);
	else if (t->dims == OP_DIMS_PRODUCT)
		op_text_product(o, &w);
	else if (t->dims == OP_DIMS_ATTENTION)
		op_text_attention(o, &w);
	else
		fill_in(t->dims == OP_DIMS_ROWS ? "{what} {rows}" : "{what} {elems}", o, &w);
}
