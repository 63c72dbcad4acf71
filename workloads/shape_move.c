/* shape_move.c - shapes of what moves and orders data: copies, fills, concats, indexed reads and writes, sorts. */
#include <stdlib.h>
#include <string.h>

#include "workloads/shape_int.h"

#define SECTOR 32 /* bytes; what a GPU reads at least */

/* A plain buffer of bytes, where the framework op does not say what they are. */
static struct shape_io *raw_out(struct reading *r, uint64_t bytes)
{
	return rd_out(r, DT_INT8, &bytes, 1);
}

static struct shape_io *raw_in(struct reading *r, uint64_t bytes)
{
	struct trace_arg a = { .dtype = "signed char", .scalar = "", .ndims = 1, .list = -1 };

	if (bytes > SHAPE_MAX_ELEMS) {
		rd_refuse(r, "a copy of more than 2^48 bytes");
		return NULL;
	}
	a.dims[0] = (int64_t)bytes;
	return rd_in(r, &a, SHAPE_DATA);
}

/* --- copies and fills ------------------------------------------------------------------------------------------ */

/* Results of a copy: a tensor of its own, or a part of one that is there when the destination is a view with holes. */
static int copy_to(struct reading *r, const struct trace_arg *to)
{
	struct shape_io *dst = rd_in(r, to, SHAPE_TARGET), *out;
	struct shape_io copy;

	if (!dst)
		return -1;
	copy = *dst;
	if (dst->elems < dst->extent) {
		if (!(out = rd_alias(r, r->s->n_in - 1)))
			return -1;
		dst->elems = 0;
		return 0;
	}
	r->s->n_in--;
	if (!(out = rd_out(r, copy.dtype, copy.dims, copy.ndims)))
		return -1;
	memcpy(out->strides, copy.strides, sizeof out->strides);
	out->dense = copy.dense;
	return 0;
}

uint32_t rd_apart(const struct shape_io *src, const struct shape_io *dst)
{
	uint64_t met[32], size = dtype_bits(src->dtype) / 8, strides[TRACE_MAX_DIMS] = { 0 };
	const int lead = dst->ndims - src->ndims; /* dims that `src` has not are broadcast, as those of 1 */
	uint32_t n = 0;
	bool together = true;

	if (!src->strides_known || !dst->strides_known || src->ndims < 1 || lead < 0 || !size)
		return 0;
	for (int i = lead; i < dst->ndims; i++)
		strides[i] = src->dims[i - lead] > 1 ? src->strides[i - lead] : 0;
	for (int i = 0; i < dst->ndims; i++)
		if (dst->dims[i] > 1 && dst->strides[i] == 1)
			together = strides[i] <= 1;
	if (together)
		return 0;
	for (uint64_t e = 0; e < 32 && e < dst->elems; e++) {
		uint64_t at = 0;
		uint32_t k = 0;

		for (int i = 0; i < dst->ndims; i++)
			if (dst->dims[i] > 1 && dst->strides[i])
				at += e / dst->strides[i] % dst->dims[i] * strides[i];
		at = at * size / SECTOR;
		while (k < n && met[k] != at)
			k++;
		if (k == n)
			met[n++] = at;
	}
	return n;
}

/* Of a dim that `io` has not, or has once, nothing moves. */
static uint64_t stride_at(const struct shape_io *io, const struct shape_io *out, int dim)
{
	const int at = dim - (out->ndims - io->ndims);

	return at < 0 || io->dims[at] <= 1 ? 0 : io->strides[at];
}

uint32_t rd_walked(const struct shape *s, const struct shape_io *out)
{
	int order[TRACE_MAX_DIMS], n = 0;
	uint32_t left = 1;

	for (int d = 0; d < out->ndims; d++) { /* by the result's strides, the innermost first */
		int at = n++;

		if (out->dims[d] <= 1) {
			n--;
			continue;
		}
		for (; at > 0 && out->strides[order[at - 1]] > out->strides[d]; at--)
			order[at] = order[at - 1];
		order[at] = d;
	}
	for (int i = 1; i < n; i++) {
		const int inner = order[i - 1], outer = order[i];
		bool joins = out->strides[outer] == out->strides[inner] * out->dims[inner];

		for (uint32_t k = 0; k < s->n_in && joins; k++)
			if (s->in[k].ndims <= out->ndims)
				joins = stride_at(&s->in[k], out, outer) ==
				        stride_at(&s->in[k], out, inner) * out->dims[inner];
		left += !joins;
	}
	return left;
}

int rd_copy(struct reading *r)
{
	const struct trace_arg *to = rd_tensor(r, 0), *from = rd_tensor(r, 1);
	struct shape_io *src = rd_in(r, from, SHAPE_DATA);

	if (!src || !to || copy_to(r, to) < 0)
		return -1;
	r->s->s.apart = rd_apart(&r->s->in[0], &r->s->out[0]);
	r->s->s.walked = rd_walked(r->s, &r->s->out[0]);
	r->s->s.elems = r->s->out[0].elems;
	r->s->s.arity = 1;
	return 0;
}

int rd_fill(struct reading *r)
{
	const struct trace_arg *to = rd_nth(r, 0);
	struct shape_io *x = rd_in(r, to, SHAPE_DATA);

	if (!x)
		return -1;
	r->s->s.elems = x->elems;
	r->s->n_in = 0;
	return rd_out(r, x->dtype, x->dims, x->ndims) ? 0 : -1;
}

static bool number_at(const struct reading *r, int32_t pos, double *v)
{
	const char *p = rd_scalar(r, pos);
	char *end;

	*v = strtod(p, &end);
	return end != p;
}

/* `arange(start, end, step, out)`: the trace has the result before it was resized, so its length is in the numbers. */
int rd_arange(struct reading *r)
{
	const struct trace_arg *out = rd_nth(r, 0);
	double start = 0, end = 0, step = 1, x;
	uint64_t n;

	if (number_at(r, 1, &x)) {
		end = x;
		number_at(r, 0, &start);
		number_at(r, 2, &step);
	} else if (!number_at(r, 0, &end)) {
		return rd_refuse(r, "the range's ends are not in the trace");
	}
	x = step != 0 ? (end - start) / step : -1;
	if (!(x > 0) || x > (double)SHAPE_MAX_ELEMS)
		return rd_refuse(r, "the range is empty or too long");
	n = (uint64_t)x;
	n += (double)n < x;
	r->s->s.elems = n;
	return rd_out(r, out ? dtype_from_framework(out->dtype) : DT_INT64, &n, 1) ? 0 : -1;
}

static uint64_t arg_bytes(const struct trace_arg *a)
{
	uint64_t n = 1;

	if (!a || a->ndims < 0)
		return UINT64_MAX;
	for (int32_t i = 0; i < a->ndims; i++)
		if (a->dims[i] < 0 || __builtin_mul_overflow(n, (uint64_t)a->dims[i], &n) || n > SHAPE_MAX_ELEMS)
			return UINT64_MAX;
	return dtype_bytes(dtype_from_framework(a->dtype), n);
}

/* The framework op's own tensors where their bytes agree with the copy's, else a buffer of that many bytes. */
int rd_memcpy(struct reading *r)
{
	uint64_t bytes = r->l->bytes < 0 ? UINT64_MAX : (uint64_t)r->l->bytes;
	const struct trace_arg *to = NULL, *from = NULL;
	bool reads = r->l->dir != TRACE_COPY_HTOD && r->l->dir != TRACE_COPY_HTOH;
	bool writes = r->l->dir != TRACE_COPY_DTOH && r->l->dir != TRACE_COPY_HTOH;
	struct shape_io *in = NULL;

	if (bytes == UINT64_MAX)
		return rd_refuse(r, "the copy's bytes are not in the trace");
	if (r->op) {
		bool two = strcmp(r->name, "copy") == 0 || strcmp(r->name, "_copy_from") == 0;

		to = two ? rd_tensor(r, 0) : NULL;
		from = two ? rd_tensor(r, 1) : rd_nth(r, 0);
	}
	if (reads && !(in = arg_bytes(from) == bytes ? rd_in(r, from, SHAPE_DATA) : raw_in(r, bytes)))
		return -1;
	r->s->s.elems = in ? in->elems : bytes;
	if (!writes)
		return 0;
	if (arg_bytes(to) == bytes) {
		if (copy_to(r, to) < 0)
			return -1;
		r->s->s.elems = r->s->out[0].elems;
		return 0;
	}
	return raw_out(r, bytes) ? 0 : -1;
}

int rd_memset(struct reading *r)
{
	if (r->l->bytes < 0)
		return rd_refuse(r, "the set's bytes are not in the trace");
	if (r->op && arg_bytes(rd_nth(r, 0)) == (uint64_t)r->l->bytes)
		return rd_fill(r);
	r->s->s.elems = (uint64_t)r->l->bytes;
	return raw_out(r, (uint64_t)r->l->bytes) ? 0 : -1;
}

/* --- concat ------------------------------------------------------------------------------------------------------ */

/* A list's members have no type of their own in a trace; the kernel's name has their size, or their type. */
static enum dtype concat_dtype(const char *kernel, bool *guess)
{
	static const enum dtype by_size[] = { [1] = DT_INT8, [2] = DT_BF16, [4] = DT_FP32, [8] = DT_INT64 };
	const char *p = strstr(kernel, "OpaqueType<");
	char word[24];
	size_t n;

	*guess = true;
	if (p) {
		p += strcspn(p, "0123456789");
		return *p > '0' && *p <= '8' ? by_size[*p - '0'] : DT_NONE;
	}
	if (!(p = strstr(kernel, "CatArrayBatchedCopy")) || !(p = strchr(p, '<')))
		return DT_NONE;
	n = strcspn(++p, ",>");
	if (n >= sizeof word)
		return DT_NONE;
	memcpy(word, p, n);
	word[n] = '\0';
	*guess = false;
	return dtype_from_framework(word);
}

int rd_concat(struct reading *r)
{
	bool stack = strcmp(r->name, "stack") == 0, guess;
	enum dtype from_kernel = concat_dtype(r->l->name, &guess);
	uint64_t dims[TRACE_MAX_DIMS], along = 0;
	const struct shape_io *first = NULL, *largest = NULL;
	int64_t dim = 0;
	uint32_t axis = 0;
	int32_t nd;

	rd_int(r, 1, &dim);
	if (r->op->n_args >= TRACE_MAX_ARGS && r->op->args[r->op->n_args - 1].list >= 0)
		return rd_refuse(r, "a list of more members than the trace keeps");
	for (uint32_t i = 0; i < r->op->n_args; i++) {
		const struct trace_arg *a = &r->op->args[i];
		struct shape_io *io;

		if (a->pos != 0 || a->ndims < 0 || (a->ndims == 1 && a->dims[0] == 0))
			continue;
		if (!(io = rd_in(r, a, SHAPE_DATA)))
			return -1;
		if (io->dtype == DT_NONE)
			io->dtype = from_kernel, io->dtype_guess = guess;
		if (io->dtype == DT_NONE)
			return rd_refuse(r, "the type of a list's members is not in the trace");
		if (!first) {
			first = io;
			if (rd_dim(r, dim, io->ndims + stack, &axis) < 0)
				return -1;
		}
		if (io->ndims != first->ndims)
			return rd_refuse(r, "a concat's members differ in rank");
		for (int32_t d = 0; d < io->ndims; d++)
			if (((uint32_t)d != axis || stack) && io->dims[d] != first->dims[d])
				return rd_refuse(r, "a concat's members do not fit together");
		if (along > SHAPE_MAX_ELEMS)
			return rd_refuse(r, "a tensor has more than 2^48 elements");
		if (!largest || io->elems > largest->elems)
			largest = io;
		along += stack ? 1 : io->dims[axis];
	}
	if (!first)
		return rd_refuse(r, "a concat without members");
	nd = first->ndims + stack;
	if (nd > TRACE_MAX_DIMS)
		return rd_refuse(r, "too many dims");
	for (int32_t d = 0, from = 0; d < nd; d++)
		dims[d] = (uint32_t)d == axis ? along : first->dims[from], from += !((uint32_t)d == axis && stack);
	if (!stack && r->s->n_in > 1 && first->ndims >= 3 && first->dims[axis] > along - first->dims[axis])
		r->s->in[0].use = SHAPE_GROWS;
	r->s->s.arity = r->s->n_in;
	r->s->s.strided = !largest->dense;
	r->s->strided_said = true;
	if (!rd_out(r, first->dtype, dims, nd))
		return -1;
	r->s->out[0].dtype_guess = first->dtype_guess;
	r->s->s.elems = r->s->out[0].elems;
	return 0;
}

/* --- indexed reads and writes ------------------------------------------------------------------------------------- */

int rd_gather(struct reading *r)
{
	bool lookup = strcmp(r->name, "embedding") == 0 || strcmp(r->name, "_embedding_bag") == 0;
	bool select = lookup || strcmp(r->name, "index_select") == 0;
	struct shape_io *table = rd_in(r, rd_nth(r, 0), SHAPE_ROWS), *index = NULL;
	uint64_t dims[TRACE_MAX_DIMS], picked = 1, row;
	int64_t dim = 0;
	uint32_t axis = 0;
	int32_t nd = 0;

	if (!table || !(index = rd_in(r, rd_nth(r, 1), SHAPE_INDEX)))
		return -1;
	if (table->ndims < 1 || !table->elems)
		return rd_refuse(r, "the table has no rows");
	if (!lookup)
		rd_int(r, 1, &dim);
	if (rd_dim(r, dim, table->ndims, &axis) < 0)
		return -1;
	if (select) { /* index dims stand where the picked dim stood */
		for (int32_t d = 0; d < table->ndims; d++) {
			if ((uint32_t)d != axis) {
				dims[nd++] = table->dims[d];
				continue;
			}
			if (table->ndims - 1 + index->ndims > TRACE_MAX_DIMS)
				return rd_refuse(r, "too many dims");
			for (int32_t i = 0; i < index->ndims; i++)
				dims[nd++] = index->dims[i];
			if (!index->ndims && !lookup)
				dims[nd++] = 1;
		}
		row = table->elems / table->dims[axis];
		if (rd_mul(r, row, index->elems, &picked) < 0)
			return -1;
	} else { /* one element for each position */
		nd = index->ndims;
		memcpy(dims, index->dims, sizeof dims);
		for (int32_t d = 0; d < nd; d++)
			picked *= index->dims[d];
	}
	if (!rd_out(r, table->dtype, dims, nd))
		return -1;
	table->elems = picked < table->extent ? picked : table->extent;
	r->s->s.elems = r->s->out[0].elems;
	return 0;
}

/* `x[i]`: the positions are a list the trace does not show, so how many there are is found in the stream. What the
 * launch's grid says is kept as an estimate: a CTA a row where rows are gathered whole, else 512 elements a CTA. */
int rd_index(struct reading *r)
{
	struct shape_io *table = rd_in(r, rd_nth(r, 0), SHAPE_ROWS), *index;
	struct trace_arg none = { .dtype = "long int", .scalar = "", .ndims = 0, .list = -1 };
	const struct trace_arg *given = rd_nth(r, 1);
	uint64_t row;

	if (!table)
		return -1;
	if (table->ndims < 1 || !table->elems)
		return rd_refuse(r, "the table has no rows");
	if (!(index = rd_in(r, &none, SHAPE_INDEX)))
		return -1;
	index->ndims = -1;
	row = table->elems / table->dims[0];
	if (given && rd_nth(r, 2) == NULL && given->ndims > 0) { /* one list, which this trace shows */
		r->s->s.elems = 1;
		for (int32_t i = 0; i < given->ndims; i++)
			if (given->dims[i] < 0 ||
			    rd_mul(r, r->s->s.elems, (uint64_t)given->dims[i], &r->s->s.elems) < 0)
				return rd_refuse(r, "a dim is negative");
	} else if (strstr(r->l->name, "vectorized_gather"))
		r->s->s.elems = r->l->grid[0];
	else
		r->s->s.elems = r->l->grid[0] * UINT64_C(512) / (row ? row : 1);
	r->s->open_index = true;
	r->s->open_estimate = r->s->s.elems != 0;
	return 0;
}

int rd_scatter(struct reading *r)
{
	static const char *const adds[] = { "scatter_add", "index_add", "scatter_reduce", "index_reduce", NULL };
	static const char *const puts[] = { "index_put", "_index_put_impl", "masked_scatter", NULL };
	bool accumulate = rd_name_is(r, adds) || (rd_name_is(r, puts) && rd_true(r, 3));
	struct shape_io *self = rd_in(r, rd_nth(r, 0), SHAPE_TARGET), *index = NULL, *src = NULL, *out;
	const struct trace_arg *a;
	uint64_t n = 0, cap;

	if (!self)
		return -1;
	for (uint32_t i = 1; (a = rd_nth(r, i)); i++) {
		enum dtype d = dtype_from_framework(a->dtype);

		if (a->ndims == 0)
			continue;
		/* integers scattered into integers: the first is the index, unless the positions are a hidden list */
		if (!index && rd_promote(d, DT_INT64) == DT_INT64 && (d != self->dtype || !rd_name_is(r, puts)))
			index = rd_in(r, a, SHAPE_INDEX);
		else if (!src)
			src = rd_in(r, a, SHAPE_DATA);
	}
	if (r->why)
		return -1;
	if (src)
		n = src->elems;
	else if (index)
		n = index->elems;
	else
		return rd_refuse(r, "what is scattered is not in the trace");
	if (!index) { /* the list of positions is not in the trace */
		struct trace_arg none = { .dtype = "long int", .scalar = "", .ndims = 0, .list = -1 };

		if (!(index = rd_in(r, &none, SHAPE_INDEX)))
			return -1;
		index->ndims = -1;
		index->elems = src->ndims ? src->dims[0] : 1;
	}
	cap = self->extent;
	self->elems = accumulate ? (n < cap ? n : cap) : 0;
	if (!(out = rd_alias(r, 0)))
		return -1;
	out->elems = n < cap ? n : cap;
	if (!r->in_place)
		self->elems = cap; /* the result is a copy first */
	r->s->s.elems = n;
	return 0;
}

/* Counts of values: histc(x, bins, ...), bincount(x, weights, minlength). Of the latter the least that it may give. */
int rd_histogram(struct reading *r)
{
	const bool counts = strcmp(r->name, "bincount") == 0;
	struct shape_io *x = rd_in(r, rd_nth(r, 0), SHAPE_DATA);
	uint64_t dims[1];
	int64_t bins = 0;

	if (!x)
		return -1;
	if (!rd_int(r, counts ? 2 : 1, &bins) && !counts)
		bins = 100; /* the framework's */
	if (bins < 0)
		return rd_refuse(r, "a histogram of fewer than no bins");
	dims[0] = bins ? (uint64_t)bins : 1;
	r->s->s.elems = x->elems;
	return rd_out(r, counts ? DT_INT64 : x->dtype, dims, 1) ? 0 : -1;
}

/* `reshape_and_cache(key, value, key_cache, value_cache, slots)`. */
int rd_cache_write(struct reading *r)
{
	struct shape_io *k = rd_in(r, rd_nth(r, 0), SHAPE_DATA), *v = k ? rd_in(r, rd_nth(r, 1), SHAPE_DATA) : NULL;

	if (!v)
		return -1;
	for (uint32_t i = 0; i < 2; i++) {
		struct shape_io *cache = rd_in(r, rd_nth(r, 2 + i), SHAPE_CACHE), *out;

		if (!cache || !(out = rd_alias(r, 2 + i)))
			return -1;
		out->elems = r->s->in[i].elems < cache->extent ? r->s->in[i].elems : cache->extent;
		cache->use = SHAPE_TARGET;
		cache->elems = 0;
	}
	r->s->s.elems = k->elems + v->elems;
	if (rd_nth(r, 4) && rd_nth(r, 4)->ndims > 0 && !rd_in(r, rd_nth(r, 4), SHAPE_INDEX))
		return -1;
	return 0;
}

/* --- ordering ----------------------------------------------------------------------------------------------------- */

/* Rows along the dim given as the first whole number among the arguments from `pos` on. */
static int shape_move_rows_of(struct reading *r, const struct shape_io *x, int32_t pos)
{
	int64_t dim = -1;
	uint32_t axis = 0;
	uint64_t all = 1;

	for (int32_t p = pos; p < pos + 3; p++)
		if (rd_int(r, p, &dim))
			break;
	if (x->ndims && rd_dim(r, dim, x->ndims, &axis) < 0)
		return -1;
	for (int32_t i = 0; i < x->ndims; i++)
		all *= x->dims[i];
	if (!all)
		return rd_refuse(r, "the operand is empty");
	r->s->s.cols = x->ndims ? x->dims[axis] : 1;
	r->s->s.rows = all / r->s->s.cols;
	return (int)axis;
}

/* `_moe_C::topk_softmax(weights, picks, ..., scores)`: what it makes comes first, of as many columns as are picked. */
static int picks_of_scores(struct reading *r)
{
	const struct trace_arg *a, *to = rd_nth(r, 0), *scores = NULL;
	struct shape_io *x;
	uint64_t dims[2];

	for (uint32_t i = 1; (a = rd_nth(r, i)); i++)
		scores = a->ndims == 2 ? a : scores;
	if (!to || to->ndims != 2 || !scores || !(x = rd_in(r, scores, SHAPE_DATA)))
		return rd_refuse(r, "a router's scores and picks are not in the trace");
	r->s->s.rows = dims[0] = x->dims[0];
	r->s->s.cols = x->dims[1];
	if (to->dims[0] != scores->dims[0] || to->dims[1] < 1 || (uint64_t)to->dims[1] > x->dims[1] || !x->elems)
		return rd_refuse(r, "a top-k's k is missing or more than there are");
	r->s->s.top = dims[1] = (uint64_t)to->dims[1];
	return rd_out(r, dtype_from_framework(to->dtype), dims, 2) && rd_out(r, DT_INT32, dims, 2) ? 0 : -1;
}

int rd_topk(struct reading *r)
{
	static const char *const engines[] = { "topk_softmax", "topk_sigmoid", NULL };
	struct shape_io *x = rd_name_is(r, engines) ? NULL : rd_in(r, rd_nth(r, 0), SHAPE_DATA);
	uint64_t dims[TRACE_MAX_DIMS];
	int64_t k;
	int axis;

	if (rd_name_is(r, engines))
		return picks_of_scores(r);
	if (!x || (axis = shape_move_rows_of(r, x, 2)) < 0)
		return -1;
	if (!rd_int(r, 1, &k) || k < 1 || (uint64_t)k > r->s->s.cols)
		return rd_refuse(r, "a top-k's k is missing or more than there are");
	r->s->s.top = (uint64_t)k;
	memcpy(dims, x->dims, sizeof dims);
	if (x->ndims)
		dims[axis] = (uint64_t)k;
	return rd_out(r, x->dtype, dims, x->ndims) && rd_out(r, DT_INT64, dims, x->ndims) ? 0 : -1;
}

/* In-place kernels sort two buffers that copies before them filled: the keys, and their positions. */
int rd_sort(struct reading *r)
{
	static const char *const picks[] = { "moe_align_block_size", "sgl_moe_align_block_size", NULL };
	struct shape_io *x = rd_in(r, rd_nth(r, 0), SHAPE_DATA), *pos;

	if (x && rd_name_is(r, picks)) { /* all picks of all tokens, by their experts */
		r->s->s.rows = 1;
		r->s->s.cols = x->elems;
		return !x->elems                                ? rd_refuse(r, "the operand is empty")
		       : rd_out(r, x->dtype, x->dims, x->ndims) ? 0
		                                                : -1;
	}
	if (!x || shape_move_rows_of(r, x, 1) < 0)
		return -1;
	if (!strstr(r->l->name, "InPlace"))
		return rd_out(r, x->dtype, x->dims, x->ndims) && rd_out(r, DT_INT64, x->dims, x->ndims) ? 0 : -1;
	if (!(pos = rd_in(r, rd_nth(r, 0), SHAPE_DATA)))
		return -1;
	pos->dtype = DT_INT64;
	return rd_alias(r, 0) && rd_alias(r, 1) ? 0 : -1;
}

int rd_scan(struct reading *r)
{
	struct shape_io *x = rd_in(r, rd_nth(r, 0), SHAPE_DATA);

	if (!x || shape_move_rows_of(r, x, 1) < 0)
		return -1;
	return rd_out(r, x->dtype == DT_BOOL || x->dtype == DT_INT32 ? DT_INT64 : x->dtype, x->dims, x->ndims) ? 0 : -1;
}

/* How many are found is not in the trace; the result has room for all. */
int rd_nonzero(struct reading *r)
{
	struct shape_io *x = rd_in(r, rd_nth(r, 0), SHAPE_DATA);
	uint64_t dims[2];

	if (!x)
		return -1;
	r->s->s.rows = 1;
	r->s->s.cols = dims[0] = x->elems;
	dims[1] = x->ndims > 1 ? (uint64_t)x->ndims : 1;
	return rd_out(r, DT_INT64, dims, 2) ? 0 : -1;
}

#define CHIPS_MOST 65536

int rd_collective(struct reading *r)
{
	const struct trace_arg *a;
	uint64_t n = 0;
	int64_t chips;

	for (uint32_t i = 0; (a = rd_nth(r, i)) && i < SHAPE_MAX_OUT; i++) {
		struct shape_io *x = rd_in(r, a, SHAPE_DATA);

		if (!x || !rd_alias(r, i))
			return -1;
		n += x->elems;
	}
	r->s->s.elems = n;
	/* Of those that say so themselves (traces/read/kineto_event.c). */
	if (strcmp(r->name, "record_param_comms") == 0 && rd_int(r, 1, &chips) && chips > 1 && chips <= CHIPS_MOST)
		r->s->s.peers = (uint32_t)chips;
	return n ? 0 : rd_refuse(r, "a collective without tensors");
}
