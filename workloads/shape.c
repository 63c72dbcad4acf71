/* shape.c - the table of shape readers, and one launch read by one of them. */
#include "workloads/shape.h"

#include <string.h>

#include "workloads/shape_int.h"

/* X(name in a rule's `shape:`, whether it looks at the framework op's arguments). */
/* clang-format off */
#define READER_ROWS(X) \
	X(product, true)   X(grouped, true)    X(attention, true)   X(convolution, true) X(softmax, true)    X(norm, true) \
	X(norm_out, true)  X(add_norm, true)    X(reduce, true)      X(elementwise, true) X(out_first, true) \
	X(fused, true)     X(rope, true)        X(copy, true)        X(fill, true)       X(arange, true) \
	X(concat, true)    X(gather, true)      X(index, true)       X(scatter, true)    X(topk, true) \
	X(sort, true)      X(scan, true)        X(nonzero, true)     X(cache_write, true) X(collective, true) \
	X(histogram, true) X(memcpy, false)     X(memset, false)
/* clang-format on */

#define AS_ROW(name, needs)  { #name, rd_##name, needs },
#define AS_NAME(name, needs) #name,
static const struct {
	const char *name;
	shape_reader *read;
	bool needs_op;
} readers[] = { READER_ROWS(AS_ROW) };
#define READERS (sizeof readers / sizeof *readers)

int shape_find(const char *name)
{
	for (size_t i = 0; i < READERS; i++)
		if (strcmp(readers[i].name, name) == 0)
			return (int)i;
	return -1;
}

const char *const *shape_names(size_t *n)
{
	static const char *const names[] = { READER_ROWS(AS_NAME) NULL };

	*n = READERS;
	return names;
}

/* "aten::add_" is add, in place; "aten::__and__" and "aten::_softmax" keep their underscores. */
static void split_name(struct reading *r, const char *name)
{
	const char *colon = strrchr(name, ':'), *base = colon ? colon + 1 : name;
	size_t n = strlen(base);

	if (n > 1 && base[n - 1] == '_' && base[n - 2] != '_')
		r->in_place = true, n--;
	if (n >= sizeof r->name)
		n = sizeof r->name - 1;
	memcpy(r->name, base, n);
	r->name[n] = '\0';
}

static void reset(struct shape *s)
{
	s->s = (struct op_shape){ 0 };
	s->dtype = s->out_dtype = s->acc_dtype = DT_NONE;
	s->open_groups = s->open_index = s->open_estimate = s->strided_said = false;
	s->n_in = s->n_out = 0;
}

int shape_read(int reader, const struct trace_launch *l, struct shape *out, const char **why)
{
	struct reading r = { .l = l, .op = l->op, .s = out };

	reset(out);
	if (reader < 0 || (size_t)reader >= READERS) {
		*why = "the rule has no shape reader";
		return -1;
	}
	if (readers[reader].needs_op && !l->op) {
		*why = "no framework op launched it";
		return -1;
	}
	if (l->op)
		split_name(&r, l->op->name);
	if (readers[reader].read(&r) < 0 || r.why) {
		*why = r.why ? r.why : "the framework op's arguments do not say its shape";
		reset(out);
		return -1;
	}
	if (out->dtype == DT_NONE && out->n_in)
		out->dtype = out->in[0].dtype;
	if (out->out_dtype == DT_NONE)
		out->out_dtype = out->n_out ? out->out[0].dtype : out->dtype;
	if (out->dtype == DT_NONE)
		out->dtype = out->out_dtype;
	if (out->acc_dtype == DT_NONE)
		out->acc_dtype = dtype_accumulates(out->dtype);
	for (uint32_t i = 0; i < out->n_in && !out->strided_said; i++)
		out->s.strided = out->s.strided || (!out->in[i].dense && out->in[i].ndims >= 0);
	return 0;
}

int shape_close_index(struct shape *s, uint64_t n)
{
	struct reading r = { .s = s };
	struct shape_io *table = &s->in[0], *index = &s->in[1];
	uint64_t dims[TRACE_MAX_DIMS], elems;

	memcpy(dims, table->dims, sizeof dims);
	dims[0] = n;
	s->n_out = 0;
	if (!rd_out(&r, table->dtype, dims, table->ndims))
		return -1;
	elems = s->out[0].elems;
	index->ndims = 1;
	index->dims[0] = index->elems = index->extent = n;
	index->strides[0] = 1;
	index->dense = true;
	table->elems = elems;
	s->s.elems = elems;
	s->open_index = false;
	return 0;
}

void shape_close_groups(struct op_shape *s, uint64_t hit)
{
	hit = hit > s->batch ? s->batch : hit;
	hit = hit > s->m ? s->m : hit;
	hit = hit ? hit : 1;
	s->batch = hit;
	s->m = (s->m + hit - 1) / hit;
}

uint64_t shape_product_rows(const struct trace_launch *l)
{
	struct shape s;
	const char *why;

	return l->op && shape_read(shape_find("product"), l, &s, &why) == 0 ? s.s.m : 0;
}

bool shape_converts(const struct trace_launch *l)
{
	enum dtype first = DT_NONE;

	for (uint32_t i = 0; l->op && i < l->op->n_args; i++) {
		const struct trace_arg *a = &l->op->args[i];
		enum dtype d = a->ndims >= 0 ? dtype_from_framework(a->dtype) : DT_NONE;

		if (d == DT_NONE)
			continue;
		if (first != DT_NONE && d != first)
			return true;
		first = d;
	}
	return false;
}
