/* scale.c - shapes, tensors and operands of a step at another batch and context; launches are in scale_launch.c. */
#include "sim/build/scale.h"

#include <inttypes.h>
#include <string.h>

#include "sim/base/hash.h"
#include "sim/build/scale_int.h"
#include "workloads/place.h"

/* --- what it was ------------------------------------------------------------------------------------------------------ */

static int attended(const struct op *o, struct scale_step *was, struct err *e)
{
	const struct op_shape *x = &o->shape;

	if (x->q_len != 1)
		return err_set(e, ERR_CONFIG,
		               "'%s' has %" PRIu64
		               " queries a sequence: only a decode step can be asked at another batch or"
		               " context",
		               o->name, x->q_len);
	if (!x->batch || !x->kv_len)
		return err_set(e, ERR_CONFIG, "'%s' does not say its batch and context", o->name);
	if (was->batch && (was->batch != x->batch || was->context + 1 != x->kv_len))
		return err_set(
			e, ERR_CONFIG,
			"its attention looks at %" PRIu64 " and at %" PRIu64 " tokens of %" PRIu64 " and %" PRIu64
			" sequences: which of them another batch or context changes is not known (windows are not"
			" described)",
			was->context + 1, x->kv_len, was->batch, x->batch);
	*was = (struct scale_step){ x->batch, x->kv_len - 1, 0 };
	return 0;
}

static int what_it_was(const struct op_stream *s, struct scale_step *was, struct err *e)
{
	*was = (struct scale_step){ 0, 0, 0 };
	for (size_t i = 0; i < s->n_ops; i++) {
		const struct op *o = &s->ops[i];

		if (o->listed)
			return err_set(e, ERR_CONFIG,
			               "a table of ops says its rows itself: '--batch' and '--context' are for"
			               " decode steps that were measured");
		if (o->kind == OP_OPAQUE)
			return err_set(
				e, ERR_CONFIG,
				"op %u ('%s') is known by its time alone, and that cannot be asked at another batch or"
				" context",
				o->id, o->name);
		if (o->kind == OP_ATTENTION && attended(o, was, e) < 0)
			return -1;
	}
	if (!was->batch)
		return err_set(
			e, ERR_CONFIG,
			"no attention is known in it, so its batch and context are not: give the '--range' of a decode"
			" step");
	return 0;
}

/* --- amounts ------------------------------------------------------------------------------------------------------------ */

static struct scale_ratio batches(const struct scaling *x)
{
	return (struct scale_ratio){ x->to.batch, x->was.batch };
}

/* n of what there was in what there is. */
static uint64_t scale_times(struct scaling *x, struct scale_ratio r, uint64_t n)
{
	uint64_t v;

	if (__builtin_mul_overflow(n, r.to, &v) || v % r.was || v > UINT64_C(1) << 56) {
		x->bad = true;
		return 0;
	}
	return v / r.was;
}

/* --- caches ------------------------------------------------------------------------------------------------------------- */

/* Bytes of a token of one sequence in each cache: attention says it, and what writes a cache has it of that. */
static void rows_of_attention(struct scaling *x, const struct op *o)
{
	const struct op_shape *s = &o->shape;
	int n = 0;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *p = &x->s->operands[o->first_operand + i];
		const struct op_tensor *t = &x->s->tensors[p->tensor];

		if (p->write || t->role != OP_KV || n == 2)
			continue;
		x->row[p->tensor] = dtype_bytes(t->dtype, s->kv_heads * (n && s->v_dim ? s->v_dim : s->head_dim));
		n++;
	}
}

static void rows_of_writer(struct scaling *x, const struct op *o)
{
	uint64_t row = 0;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *p = &x->s->operands[o->first_operand + i];

		if (p->write && x->row[p->tensor])
			row = x->row[p->tensor];
	}
	for (uint32_t i = 0; row && i < o->n_operands; i++) {
		const struct op_operand *p = &x->s->operands[o->first_operand + i];

		if (x->s->tensors[p->tensor].role == OP_KV && !x->row[p->tensor])
			x->row[p->tensor] = row;
	}
}

static void rows_of_caches(struct scaling *x)
{
	for (size_t i = x->s->n_ops; i-- > 0;) {
		if (x->s->ops[i].kind == OP_ATTENTION)
			rows_of_attention(x, &x->s->ops[i]);
		else
			rows_of_writer(x, &x->s->ops[i]);
	}
}

static int scale_cache(struct scaling *x, uint32_t tensor, struct err *e)
{
	struct op_tensor *t = &x->s->tensors[tensor];
	const uint64_t token = x->row[tensor] * x->was.batch, len = token ? t->bytes / token : 0;

	if (!token || t->bytes % token || !len)
		return err_set(e, ERR_CONFIG,
		               "cache '%s' of %" PRIu64 " bytes is no whole number of tokens of %" PRIu64 " sequences",
		               t->name, t->bytes, x->was.batch);
	if (len + x->to.context < x->was.context)
		return err_set(e, ERR_CONFIG, "cache '%s' has %" PRIu64 " tokens, fewer than the context loses",
		               t->name, len);
	t->bytes = x->row[tensor] * x->to.batch * (len + x->to.context - x->was.context);
	return 0;
}

/* --- tensors and operands ----------------------------------------------------------------------------------------------- */

static int scale_tensors(struct scaling *x, struct err *e)
{
	for (uint32_t i = 0; i < x->s->n_tensors; i++) {
		struct op_tensor *t = &x->s->tensors[i];

		if (t->role == OP_KV && scale_cache(x, i, e) < 0)
			return -1;
		if (t->role == OP_ACTIVATION || t->role == OP_INDEX)
			t->bytes = scale_times(x, x->of_tensor[i], t->bytes);
		if (x->bad)
			return err_set(e, ERR_CONFIG,
			               "the %" PRIu64 " bytes of '%s' are not those of %" PRIu64 " equal sequences",
			               x->from->tensors[i].bytes, t->name, x->was.batch);
	}
	return 0;
}

/* A part of a cache is this step's own rows, or it is all of what is looked at. */
static int scale_cache_part(struct scaling *x, const struct op *o, struct op_operand *p, struct err *e)
{
	const struct op_tensor *was = &x->from->tensors[p->tensor], *t = &x->s->tensors[p->tensor];
	const uint64_t token = x->row[p->tensor] * x->was.batch;

	if (p->offset == 0 && p->bytes == was->bytes && p->touched == was->bytes) {
		p->bytes = p->touched = t->bytes;
		return 0;
	}
	if (p->touched == token) {
		p->touched = x->row[p->tensor] * x->to.batch;
		p->bytes = t->bytes;
		p->offset = 0;
		return 0;
	}
	if (p->offset == 0 && token && p->touched % token == 0 && p->touched / token + x->to.context > x->was.context) {
		p->touched = x->row[p->tensor] * x->to.batch * (p->touched / token + x->to.context - x->was.context);
		p->bytes = t->bytes;
		return 0;
	}
	return err_set(e, ERR_CONFIG, "op %u ('%s') touches a part of cache '%s' that is no whole tokens", o->id,
	               o->name, t->name);
}

/* An embedding's rows, one a token; any other weight is read as it was. */
static void rows_of_table(struct scaling *x, const struct op *o, struct op_operand *p)
{
	const uint64_t all = x->s->tensors[p->tensor].bytes - p->offset;
	uint64_t more;

	if (op_traits[o->kind].indexed != OP_INDEXED_READ || p->touched >= all)
		return;
	more = scale_times(x, batches(x), p->touched);
	p->touched = more < all ? more : all;
	p->bytes = p->bytes > p->touched ? p->bytes : p->touched;
}

static int scale_operand(struct scaling *x, const struct op *o, struct op_operand *p, struct err *e)
{
	const struct op_tensor *was = &x->from->tensors[p->tensor], *t = &x->s->tensors[p->tensor];

	if (t->role == OP_KV)
		return scale_cache_part(x, o, p, e);
	if (t->role == OP_WEIGHT || t->role == OP_CONSTANT) {
		rows_of_table(x, o, p);
		return 0;
	}
	if (x->final[p - x->s->operands])
		return p->bytes <= t->bytes && p->offset <= t->bytes - p->bytes
		               ? 0
		               : err_set(e, ERR_CONFIG, "op %u ('%s') reads rows that '%s' has not", o->id, o->name,
		                         t->name);
	/* A view of some columns: the rows that come or go are as far apart as those that are there. */
	p->bytes = p->bytes + t->bytes - was->bytes;
	p->touched = scale_times(x, x->of_tensor[p->tensor], p->touched);
	if (x->bad || p->touched > p->bytes || p->bytes > t->bytes || p->offset > t->bytes - p->bytes)
		return err_set(e, ERR_CONFIG, "what op %u ('%s') touches of '%s' is not the same of each sequence",
		               o->id, o->name, t->name);
	return 0;
}

/* --- ops ---------------------------------------------------------------------------------------------------------------- */

/* Weights, or what was made of weights alone. */
static bool has_weights(const struct scaling *x, const struct op *o)
{
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *p = &x->s->operands[o->first_operand + i];
		const struct scale_ratio r = x->of_tensor[p->tensor];

		if (x->s->tensors[p->tensor].role == OP_WEIGHT ||
		    (!p->write && scale_stays(r) && !scale_stays(x->of_op[o->id].by)))
			return true;
	}
	return false;
}

/* Elements that a cache is written with: all of it, or what is new. */
static bool moves_cache(const struct scaling *x, const struct op *o, uint64_t *elems)
{
	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *p = &x->s->operands[o->first_operand + i];
		const struct op_tensor *t = &x->s->tensors[p->tensor];

		if (!p->write || t->role != OP_KV)
			continue;
		*elems = p->touched * 8 / dtype_bits(t->dtype);
		return true;
	}
	return false;
}

static int scale_op(struct scaling *x, struct op *o, struct err *e)
{
	const struct scale_op how = x->of_op[o->id];
	const enum op_dims dims = op_traits[o->kind].dims;
	struct op_shape *s = &o->shape;
	uint64_t elems;

	if (dims == OP_DIMS_ATTENTION) {
		s->batch = x->to.batch;
		s->kv_len = x->to.context + 1;
	} else if (dims == OP_DIMS_PRODUCT) {
		if (has_weights(x, o))
			s->m = scale_times(x, how.by, s->m);
		else
			s->batch = scale_times(x, how.by, s->batch ? s->batch : 1);
	} else if (s->elems && moves_cache(x, o, &elems)) {
		s->elems = elems;
	} else {
		s->elems = scale_times(x, how.by, s->elems);
		if (how.cols)
			s->cols = scale_times(x, how.by, s->cols);
		else
			s->rows = scale_times(x, how.by, s->rows);
	}
	if (o->kind == OP_SOFTMAX && s->cols == x->was.context + 1 && x->to.context != x->was.context)
		return err_set(e, ERR_CONFIG, "op %u ('%s') is attention written out: its context cannot be changed",
		               o->id, o->name);
	if (x->bad)
		return err_set(e, ERR_CONFIG, "op %u ('%s') does not do the same for each of %" PRIu64 " sequences",
		               o->id, o->name, x->was.batch);
	o->measured_ns = o->measured_fj = o->measured_khz = 0;
	return 0;
}

static int scale_ops(struct scaling *x, struct err *e)
{
	for (size_t i = 0; i < x->s->n_ops; i++) {
		struct op *o = &x->s->ops[i];

		for (uint32_t k = 0; k < o->n_operands; k++)
			if (scale_operand(x, o, &x->s->operands[o->first_operand + k], e) < 0)
				return -1;
		if (scale_op(x, o, e) < 0)
			return -1;
	}
	return 0;
}

/* --- the whole ---------------------------------------------------------------------------------------------------------- */

static void *scale_copy(struct arena *a, const void *v, size_t n, size_t size)
{
	void *to = arena_array(a, n ? n : 1, size);

	if (to && n)
		memcpy(to, v, n * size);
	return to;
}

/* Everything follows the batch, where no experts' ops are others. */
static int plainly(struct scaling *x, struct err *e)
{
	const struct op_stream *f = x->from;

	x->of_tensor = arena_array(x->a, f->n_tensors + 1, sizeof *x->of_tensor);
	x->of_op = arena_array(x->a, f->n_ops + 1, sizeof *x->of_op);
	x->final = arena_array(x->a, f->n_operands + 1, sizeof *x->final);
	if (!x->of_tensor || !x->of_op || !x->final)
		return err_nomem(e, "for the ops of another batch");
	memset(x->final, 0, (f->n_operands + 1) * sizeof *x->final);
	for (size_t i = 0; i < f->n_tensors; i++)
		x->of_tensor[i] = batches(x);
	for (size_t i = 0; i < f->n_ops; i++)
		x->of_op[i] = (struct scale_op){ .by = batches(x) };
	return 0;
}

static int tables(struct scaling *x, struct err *e)
{
	const struct op_stream *f = x->from;
	struct op_stream *s = x->s;

	*s = *f;
	s->ops = scale_copy(x->a, f->ops, f->n_ops, sizeof *s->ops);
	s->tensors = scale_copy(x->a, f->tensors, f->n_tensors, sizeof *s->tensors);
	s->operands = scale_copy(x->a, f->operands, f->n_operands, sizeof *s->operands);
	s->launches = scale_copy(x->a, f->launches, f->n_launches, sizeof *s->launches);
	x->row = arena_array(x->a, f->n_tensors + 1, sizeof *x->row);
	if (!s->ops || !s->tensors || !s->operands || !s->launches || !x->row)
		return err_nomem(e, "for the ops of another batch");
	memset(x->row, 0, (f->n_tensors + 1) * sizeof *x->row);
	s->deps = NULL;
	s->n_deps = 0;
	s->measured_ns = s->kernel_ns = s->opaque_ns = 0;
	s->wall_ns = -1;
	return 0;
}

/* What did not change is called what it was called. */
static void kept_names(struct scaling *x)
{
	for (size_t i = 0; i < x->s->n_ops; i++)
		if (memcmp(&x->s->ops[i].shape, &x->from->ops[i].shape, sizeof x->s->ops[i].shape) == 0)
			x->s->ops[i].name = x->from->ops[i].name;
}

static int digest(struct scaling *x, struct err *e)
{
	char hash[17];
	uint64_t h = hash_str(HASH_INIT, x->from->digest ? x->from->digest : "");

	h = hash_u64(hash_u64(h, x->to.batch), x->to.context);
	hash_hex(x->to.skew ? hash_u64(h, x->to.skew) : h, hash);
	x->s->digest = arena_printf(x->a, "scaled:%s", hash);
	return x->s->digest ? 0 : err_nomem(e, "for the ops of another batch");
}

int scale_stream(const struct op_stream *from, struct scale_step to, struct arena *a, struct op_stream *out,
                 struct scale_step *was, struct err *e)
{
	struct scaling x = { .from = from, .s = out, .a = a };
	struct builder b = { .a = a, .e = e, .s = out, .layer = -1 };

	if (what_it_was(from, was, e) < 0)
		return -1;
	x.was = *was;
	x.to = (struct scale_step){ to.batch ? to.batch : was->batch, to.context ? to.context : was->context, to.skew };
	if (to.skew && (!from->n_routes || x.to.batch == was->batch))
		return err_set(e, ERR_CONFIG,
		               from->n_routes ? "'--skew' is how a batch other than the measured one picks its experts"
		                              : "the step picks no experts, for option '--skew'");
	if ((from->n_routes && x.to.batch != was->batch ? scale_experts(&x, e) : plainly(&x, e)) < 0 ||
	    tables(&x, e) < 0)
		return -1;
	rows_of_caches(&x);
	if (scale_tensors(&x, e) < 0 || scale_ops(&x, e) < 0)
		return -1;
	scale_launches(&x);
	if (b_names(&b) < 0 || place_stream(out, ERR_CONFIG, a, e) < 0)
		return -1;
	kept_names(&x);
	return digest(&x, e);
}
