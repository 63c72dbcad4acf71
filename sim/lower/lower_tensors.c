/* lower_tensors.c - from operands' types and dims to tensors: who made what an op reads, and what nobody made. */
#include <string.h>

#include "sim/base/hash.h"
#include "sim/lower/lower_int.h"

/* What one op's inputs turned out to be. */
struct refs {
	uint32_t val[SHAPE_MAX_IN]; /* NO_VAL: external */
	uint32_t tensor[SHAPE_MAX_IN];
	uint64_t row[SHAPE_MAX_IN]; /* first element, where a slice's place is known */
};

static bool is_int(enum dtype d)
{
	return d == DT_INT64 || d == DT_INT32 || d == DT_INT16;
}

static uint32_t new_tensor(struct lowering *w, enum op_role role, enum dtype dtype, uint64_t elems, bool external)
{
	uint32_t at = (uint32_t)w->out->n_tensors++;

	w->out->tensors[at] = (struct op_tensor){ .role = role,
		                                  .dtype = dtype,
		                                  .bytes = dtype_bytes(dtype, elems),
		                                  .instances = 1,
		                                  .layer = -1,
		                                  .route = -1,
		                                  .inferred = true,
		                                  .external = external };
	return at;
}

/* --- what nobody made --------------------------------------------------------------------------------------------- */

static struct ext_slot *slot(struct ext_slot *exts, uint32_t n, uint64_t key)
{
	uint32_t at = (uint32_t)hash_mix(key) & (n - 1);

	while (exts[at].used && exts[at].key != key)
		at = (at + 1) & (n - 1);
	return &exts[at];
}

/* NULL only when memory is out. The pointer is good until the next call. */
static struct ext_slot *ext_slot(struct lowering *w, uint64_t key)
{
	struct ext_slot *x;

	if (2 * w->used_exts >= w->n_exts) {
		uint32_t n = w->n_exts ? 2 * w->n_exts : 256;
		struct ext_slot *more = arena_array(w->a, n, sizeof *more);

		if (!more) {
			lower_nomem(w);
			return NULL;
		}
		for (uint32_t i = 0; i < w->n_exts; i++)
			if (w->exts[i].used)
				*slot(more, n, w->exts[i].key) = w->exts[i];
		w->exts = more;
		w->n_exts = n;
	}
	x = slot(w->exts, w->n_exts, key);
	if (!x->used) {
		*x = (struct ext_slot){ key, NO_TENSOR, 0, 0, true };
		w->used_exts++;
	}
	return x;
}

static uint64_t io_key(const struct shape_io *io, enum op_role role)
{
	uint64_t h = hash_u64(hash_u64(HASH_INIT, role), (uint64_t)io->dtype * 16 + (uint64_t)io->use);

	for (int32_t i = 0; i < io->ndims; i++)
		h = hash_u64(h, io->dims[i]);
	return h;
}

/* The n-th external of its kind in this step, which is the n-th of every step where steps are alike, or the weights that its op
 * has in common with others. NO_TENSOR only when memory is out. */
static uint32_t external(struct lowering *w, const struct lop *o, const struct shape_io *io, enum op_role role)
{
	const uint64_t common = io->use == SHAPE_RIGHT && o->main->op ? o->main->op->weights : 0;
	struct ext_slot *x;
	uint64_t key;

	if (!common && !w->steps_share)
		return new_tensor(w, role, io->dtype, io->extent, true);
	key = io_key(io, role);
	if (!(x = ext_slot(w, common ? hash_u64(key, common) : key)))
		return NO_TENSOR;
	if (x->step != o->step)
		x->step = o->step, x->count = 0;
	if (!common && !(x = ext_slot(w, hash_u64(key, ++x->count))))
		return NO_TENSOR;
	if (x->tensor == NO_TENSOR)
		x->tensor = new_tensor(w, role, io->dtype, io->extent, true);
	return x->tensor;
}

/* A table that is the same for every layer: known by its dims and by what made the operand beside it, so that the
 * cosines, beside a product, and the sines, beside a concat, are two. */
static uint32_t table(struct lowering *w, const struct shape_io *io, const struct refs *refs, const struct lop *o)
{
	uint64_t key = hash_str(io_key(io, OP_CONSTANT), o->rule->name);
	struct ext_slot *x;

	for (uint32_t i = 0; i < o->n_in; i++)
		if (&o->in[i] != io && refs->val[i] != NO_VAL)
			key = hash_u64(key, (uint64_t)w->vals[refs->val[i]].kind + 1);
	if (!(x = ext_slot(w, key)))
		return NO_TENSOR;
	if (x->tensor == NO_TENSOR)
		x->tensor = new_tensor(w, OP_CONSTANT, io->dtype, io->extent, true);
	return x->tensor;
}

static enum op_role external_role(const struct shape_io *io)
{
	switch (io->use) {
	case SHAPE_RIGHT:
	case SHAPE_PARAM:
		return OP_WEIGHT;
	case SHAPE_TABLE:
		return OP_CONSTANT;
	case SHAPE_CACHE:
	case SHAPE_GROWS:
		return OP_KV;
	case SHAPE_INDEX:
		return OP_INDEX;
	case SHAPE_ROWS:
		return is_int(io->dtype) ? OP_INDEX : io->ndims == 2 ? OP_WEIGHT : OP_ACTIVATION;
	case SHAPE_TARGET:
		return io->ndims >= 4 ? OP_KV : OP_ACTIVATION;
	case SHAPE_DATA:
	case SHAPE_LEFT:
		break;
	}
	return is_int(io->dtype) ? OP_INDEX : OP_ACTIVATION;
}

static int make_external(struct lowering *w, uint32_t op, uint32_t i, struct refs *refs)
{
	const struct lop *o = &w->lops[op];
	const struct shape_io *io = &o->in[i];
	enum op_role role = external_role(io);

	if (io->use == SHAPE_TARGET && io->elems == 0 && role != OP_KV) {
		refs->tensor[i] = new_tensor(w, role, io->dtype, io->extent, false); /* memory nobody wrote yet */
		return 0;
	}
	refs->tensor[i] = io->use == SHAPE_TABLE ? table(w, io, refs, o) : external(w, o, io, role);
	if (refs->tensor[i] == NO_TENSOR)
		return -1;
	if (role == OP_ACTIVATION || role == OP_INDEX || role == OP_KV) {
		if ((refs->val[i] = lower_val_add(w, io, refs->tensor[i], NO_OP)) == NO_VAL)
			return -1;
		w->vals[refs->val[i]].residual = role == OP_ACTIVATION;
	}
	return 0;
}

/* --- which value an input is -------------------------------------------------------------------------------------- */

static uint32_t pick_input(struct lowering *w, uint32_t op, uint32_t i, const struct refs *refs)
{
	struct lop *o = &w->lops[op];
	struct shape_io *io = &o->in[i];
	struct pick p = { io, refs->val, o->n_in, op, o->rule, false };
	struct shape_io whole;
	uint32_t v;

	switch (io->use) {
	case SHAPE_LEFT:
		return lower_pick_left(w, &p);
	case SHAPE_RIGHT:
		return lower_pick_weight(w, &p);
	case SHAPE_PARAM:
		return lower_pick_exact(w, &p);
	case SHAPE_GROWS:
		return lower_pick_kv(w, &p);
	case SHAPE_INDEX:
		if (io->ndims < 0) {
			v = lower_pick_positions(w, op, io->elems);
			if (v == NO_VAL)
				io->ndims = 1, io->dims[0] = io->extent = io->elems;
			return v;
		}
		break;
	case SHAPE_TARGET:
		return lower_pick_target(w, &p);
	case SHAPE_DATA:
		p.residual_add = o->rule->kind == OP_ELEMENTWISE && o->n_in > 1 && strcmp(o->rule->fn, "add") == 0;
		break;
	case SHAPE_ROWS: /* the whole table, whatever is picked of it */
		whole = *io;
		whole.elems = io->extent;
		p.io = &whole;
		break;
	case SHAPE_TABLE:
	case SHAPE_CACHE:
		break;
	}
	return lower_pick(w, &p);
}

static bool ordered(const struct shape_io *io)
{
	return io->use == SHAPE_DATA || io->use == SHAPE_CACHE;
}

/* Operands of one type, dims and layout were found newest first; they are meant in the order they were made. */
static void order_alike(const struct lop *o, struct refs *refs)
{
	for (uint32_t i = 0; i < o->n_in; i++)
		for (uint32_t j = i + 1; j < o->n_in; j++) {
			const struct shape_io *a = &o->in[i], *b = &o->in[j];
			uint32_t t = refs->val[i];

			if (t == NO_VAL || refs->val[j] == NO_VAL || refs->val[j] >= t || !ordered(a) || !ordered(b) ||
			    a->dtype != b->dtype || a->ndims != b->ndims ||
			    memcmp(a->dims, b->dims, (size_t)a->ndims * sizeof *a->dims) != 0 ||
			    memcmp(a->strides, b->strides, (size_t)a->ndims * sizeof *a->strides) != 0)
				continue;
			refs->val[i] = refs->val[j];
			refs->val[j] = t;
		}
}

/* Members of a concat have a size and no type: the type that values of such members have, else the stream's own. */
static void settle_dtype(struct lowering *w, struct lop *o)
{
	static const enum dtype others[3][2] = { { DT_BF16, DT_FP16 }, { DT_FP32, DT_INT32 }, { DT_INT64, DT_FP64 } };
	enum dtype found = DT_NONE;
	uint64_t bytes;

	if (!o->n_in || !o->in[0].dtype_guess)
		return;
	for (int s = 0; s < 3; s++)
		for (int k = 0; k < 2 && o->in[0].dtype == others[s][0]; k++)
			for (uint32_t i = 0; i < o->n_in && found == DT_NONE; i++)
				if (lower_known(w, others[s][k], o->in[i].elems) ||
				    lower_known(w, others[s][k], o->in[i].extent))
					found = others[s][k];
	bytes = dtype_bytes(o->in[0].dtype, 1);
	if (found == DT_NONE && bytes < 9)
		found = w->last_of_size[bytes];
	if (found == DT_NONE)
		return;
	for (uint32_t i = 0; i < o->n_in + o->n_out; i++) /* outputs lie behind the inputs */
		o->in[i].dtype = found;
	o->dtype = o->out_dtype = found;
}

/* An indexed read whose positions are a hidden list: as many as the newest positions nobody used, or as the launch's
 * grid says. */
static int settle_index(struct lowering *w, uint32_t op)
{
	struct lop *o = &w->lops[op];
	struct shape sh = { .n_in = 2 };
	uint64_t n = o->open_estimate ? o->s.elems : 0;
	uint32_t v = lower_pick_positions(w, op, n);

	if (v == NO_VAL && n)
		v = lower_pick_positions(w, op, 0);
	if (!n || (v != NO_VAL && w->vals[v].elems < n))
		n = v != NO_VAL ? w->vals[v].elems : 1;
	memcpy(sh.in, o->in, 2 * sizeof *o->in);
	if (shape_close_index(&sh, n) < 0)
		return -1;
	memcpy(o->in, sh.in, 2 * sizeof *o->in);
	o->out[0] = sh.out[0];
	o->s.elems = sh.s.elems;
	return 0;
}

static void promote_source(struct lowering *w, uint32_t val)
{
	const struct op *made = &w->out->ops[w->vals[val].producer];

	for (uint32_t i = 0; i < made->n_operands; i++) {
		struct op_tensor *t = &w->out->tensors[w->out->operands[made->first_operand + i].tensor];

		if (t->external && t->role == OP_ACTIVATION)
			t->role = OP_WEIGHT;
	}
}

/* --- routed products ---------------------------------------------------------------------------------------------- */

static struct region *region_of(struct lowering *w, uint32_t op)
{
	while (w->region < w->n_regions && w->regions[w->region].last <= op) {
		w->shared_in = w->regions[w->region].input;
		w->region++;
	}
	return w->region < w->n_regions && op > w->regions[w->region].topk ? &w->regions[w->region] : NULL;
}

static int routed_right(struct lowering *w, uint32_t op, struct region *r, struct refs *refs)
{
	const struct lop *o = &w->lops[op];
	uint32_t *t = &r->weights[o->place];

	if (*t == NO_TENSOR) {
		struct op_tensor *x;

		if ((*t = external(w, o, &o->in[1], OP_WEIGHT)) == NO_TENSOR)
			return -1;
		x = &w->out->tensors[*t];
		x->instances = (uint32_t)r->experts;
		x->route = o->region;
	}
	refs->tensor[1] = *t;
	return 0;
}

/* A value of the operand's type whose rows are k long. */
static bool ends_in(const struct val *v, const struct shape_io *io, uint64_t k)
{
	return v->io->dtype == io->dtype && v->io->ndims > 0 && v->io->dims[v->io->ndims - 1] == k;
}

/* A slot's products read that slot's rows of the gathered tokens, unless something newer has their very size. */
static void routed_left(struct lowering *w, uint32_t op, struct region *r, struct refs *refs)
{
	const struct lop *o = &w->lops[op];
	const struct val *g = r->gathered != NO_VAL ? &w->vals[r->gathered] : NULL;
	const struct val *v = refs->val[0] != NO_VAL ? &w->vals[refs->val[0]] : NULL;

	if (o->place == 0)
		r->slot_row = r->rows, r->rows += o->s.m;
	if (!g || !ends_in(g, &o->in[0], o->s.k) || g->elems < o->in[0].elems)
		return;
	if (v && v->producer != NO_OP && v->producer > g->producer && v->elems == o->in[0].elems)
		return;
	refs->val[0] = r->gathered;
	refs->row[0] = r->slot_row * o->s.k;
	if (refs->row[0] + o->in[0].elems > g->elems)
		refs->row[0] = g->elems - o->in[0].elems;
}

/* A grouped product's matrices are of one tensor, that of a router's experts. */
static int grouped_inputs(struct lowering *w, uint32_t op, struct refs *refs)
{
	const struct lop *o = &w->lops[op];
	struct op_tensor *t;

	refs->val[0] = pick_input(w, op, 0, refs);
	if ((refs->tensor[1] = external(w, o, &o->in[1], OP_WEIGHT)) == NO_TENSOR)
		return -1;
	t = &w->out->tensors[refs->tensor[1]];
	t->instances = o->groups;
	t->route = t->route < 0 ? o->route : t->route;
	return 0;
}

static int product_inputs(struct lowering *w, uint32_t op, struct refs *refs)
{
	struct lop *o = &w->lops[op];
	bool batched = o->in[0].ndims > 2 && o->in[1].ndims > 2;

	if (o->route >= 0)
		return grouped_inputs(w, op, refs);

	if (batched) /* operands of attention in the open: neither is a weight */
		o->in[0].use = SHAPE_DATA, o->in[1].use = SHAPE_CACHE;
	for (uint32_t i = 0; i < o->n_in; i++)
		refs->val[i] = pick_input(w, op, i, refs);
	if (batched) {
		o->in[0].use = SHAPE_LEFT, o->in[1].use = SHAPE_RIGHT;
		return 0;
	}
	if (o->region >= 0) {
		struct region *r = &w->regions[o->region];

		routed_left(w, op, r, refs);
		refs->val[1] = NO_VAL;
		if (routed_right(w, op, r, refs) < 0)
			return -1;
	} else if (w->shared_in != NO_VAL) {
		const struct val *s = &w->vals[w->shared_in];

		if (!s->superseded && s->elems == o->in[0].elems && ends_in(s, &o->in[0], o->s.k))
			refs->val[0] = w->shared_in;
	}
	if (refs->val[1] != NO_VAL)
		promote_source(w, refs->val[1]);
	return 0;
}

/* --- operands ----------------------------------------------------------------------------------------------------- */

static void put_operand(struct lowering *w, uint32_t op, uint32_t tensor, bool write, uint64_t offset, uint64_t bytes,
                        uint64_t touched)
{
	struct op_operand *x = &w->out->operands[w->out->n_operands++];
	uint64_t whole = w->out->tensors[tensor].bytes;

	if (bytes > whole)
		bytes = whole;
	if (offset > whole - bytes)
		offset = whole - bytes;
	*x = (struct op_operand){ .tensor = tensor,
		                  .write = write,
		                  .offset = offset,
		                  .bytes = bytes,
		                  .touched = touched < bytes ? touched : bytes };
	if (w->lops[op].region >= 0 && w->out->tensors[tensor].route >= 0)
		x->slot = w->lops[op].slot;
	w->out->ops[op].n_operands++;
}

static void read_operand(struct lowering *w, uint32_t op, uint32_t i, const struct refs *refs)
{
	const struct shape_io *io = &w->lops[op].in[i];
	uint64_t touched = dtype_bytes(io->dtype, io->elems), whole = dtype_bytes(io->dtype, io->extent);
	uint64_t span = io->elems, offset = 0;

	if (io->use == SHAPE_TARGET && !io->elems)
		return; /* only written */
	if (io->use == SHAPE_ROWS) {
		uint64_t row = io->ndims && io->dims[0] ? io->extent / io->dims[0] : 0;

		span = io->extent;
		if (row && io->elems <= row) {
			span = row; /* which row is not in the trace; one stands for it */
			offset = dtype_bytes(io->dtype, io->dims[0] / 3 * row);
		}
	} else if (io->elems < io->extent || !io->dense) {
		span = 1;
		for (int32_t d = 0; d < io->ndims; d++)
			span += io->dims[d] ? (io->dims[d] - 1) * io->strides[d] : 0;
		if (span > io->extent)
			span = io->extent;
	}
	if (refs->row[i])
		offset = dtype_bytes(io->dtype, refs->row[i]);
	if (touched > whole)
		touched = whole;
	put_operand(w, op, refs->tensor[i], false, offset, dtype_bytes(io->dtype, span), touched);
	/* Each group that is used is an operand. */
	for (uint32_t s = 1; w->lops[op].route >= 0 && i == 1 && s < w->lops[op].s.batch; s++) {
		put_operand(w, op, refs->tensor[i], false, offset, dtype_bytes(io->dtype, span), touched);
		w->out->operands[w->out->n_operands - 1].slot = s;
	}
}

static bool sums_alike(const struct lop *o, const struct shape_io *out)
{
	if (o->n_in < 2 || strcmp(o->rule->fn, "add") != 0)
		return false;
	for (uint32_t i = 0; i < o->n_in; i++)
		if (o->in[i].ndims != out->ndims ||
		    memcmp(o->in[i].dims, out->dims, (size_t)out->ndims * sizeof *out->dims) != 0)
			return false;
	return true;
}

static int write_outputs(struct lowering *w, uint32_t op, const struct refs *refs)
{
	struct lop *o = &w->lops[op];
	enum op_kind kind = w->out->ops[op].kind;
	struct region *r = region_of(w, op);

	for (uint32_t i = 0; i < o->n_out; i++) {
		const struct shape_io *io = &o->out[i];
		uint32_t t, v;

		if (io->alias >= 0) {
			t = refs->tensor[io->alias];
			if (refs->val[io->alias] != NO_VAL)
				lower_val_drop(w, refs->val[io->alias]);
		} else {
			bool kv = kind == OP_CONCAT && w->out->tensors[refs->tensor[0]].role == OP_KV;
			enum op_role role = kv ? OP_KV : is_int(io->dtype) ? OP_INDEX : OP_ACTIVATION;

			t = new_tensor(w, role, io->dtype, io->elems, false);
		}
		put_operand(w, op, t, true, 0, w->out->tensors[t].bytes, dtype_bytes(io->dtype, io->elems));
		if ((v = lower_val_add(w, io, t, op)) == NO_VAL)
			return -1;
		w->vals[v].temporary = o->rule->temporary;
		w->vals[v].residual = kind == OP_EMBED || (kind == OP_ELEMENTWISE && sums_alike(o, io));
		w->vals[v].left = kind == OP_GEMM ? refs->tensor[0] : NO_TENSOR;
		w->vals[v].from_external =
			op_traits[kind].pointwise && o->n_in && w->out->tensors[refs->tensor[0]].external;
		if (kind == OP_GATHER && r && !is_int(io->dtype))
			r->input = refs->val[0], r->gathered = v;
	}
	return 0;
}

/* The op's sizes cannot be: it is carried. */
static void make_opaque(struct lop *o, struct op *x)
{
	o->opaque = true;
	o->why = "a tensor has more than 2^48 elements";
	*x = (struct op){ .id = x->id,
		          .kind = OP_OPAQUE,
		          .name = "",
		          .fn = "",
		          .family = x->family,
		          .rule = x->rule,
		          .layer = -1,
		          .routed_by = -1,
		          .first_operand = x->first_operand,
		          .first_launch = x->first_launch,
		          .n_launches = x->n_launches };
}

static int find_inputs(struct lowering *w, uint32_t op, struct refs *refs)
{
	struct lop *o = &w->lops[op];

	if (w->out->ops[op].kind == OP_GEMM && o->n_in > 1 && o->in[0].use == SHAPE_LEFT)
		return product_inputs(w, op, refs);
	for (uint32_t i = o->n_in; i-- > 0;) /* targets last: what is written into them is no target */
		if (o->in[i].use != SHAPE_TARGET)
			refs->val[i] = pick_input(w, op, i, refs);
	for (uint32_t i = 0; i < o->n_in; i++)
		if (o->in[i].use == SHAPE_TARGET)
			refs->val[i] = pick_input(w, op, i, refs);
	order_alike(o, refs);
	return 0;
}

static int lower_op(struct lowering *w, uint32_t op)
{
	struct lop *o = &w->lops[op];
	struct op *x = &w->out->ops[op];
	struct refs refs;

	x->first_operand = (uint32_t)w->out->n_operands;
	(void)region_of(w, op);
	if (o->opaque)
		return 0;
	x->routed_by =
		o->route >= 0
			? o->route
			: o->region; /* also where its weights are no expert's: it stands behind the host's read */
	if (o->listed)
		return lower_listed(w, op);
	memset(refs.row, 0, sizeof refs.row);
	for (uint32_t i = 0; i < SHAPE_MAX_IN; i++)
		refs.val[i] = refs.tensor[i] = NO_VAL;
	settle_dtype(w, o);
	if (o->open_index && settle_index(w, op) < 0) {
		make_opaque(o, x);
		return 0;
	}
	if (find_inputs(w, op, &refs) < 0)
		return -1;
	for (uint32_t i = 0; i < o->n_in; i++) {
		if (refs.val[i] != NO_VAL)
			refs.tensor[i] = w->vals[refs.val[i]].tensor;
		else if (refs.tensor[i] == NO_TENSOR && make_external(w, op, i, &refs) < 0)
			return -1;
		read_operand(w, op, i, &refs);
	}
	for (uint32_t i = 0; i < o->n_in; i++)
		if (refs.val[i] != NO_VAL && o->in[i].elems)
			lower_val_read(w, refs.val[i], op);
	x->shape = o->s;
	x->dtype = o->dtype, x->out_dtype = o->out_dtype;
	if (write_outputs(w, op, &refs) < 0)
		return -1;
	for (uint32_t i = 0; i < o->n_in; i++)
		if (o->in[i].dtype == DT_BF16 || o->in[i].dtype == DT_FP16 || o->in[i].dtype == DT_FP32 ||
		    o->in[i].dtype == DT_FP64)
			w->last_of_size[dtype_bytes(o->in[i].dtype, 1)] = o->in[i].dtype;
	if (lower_ends_part(x))
		w->shared_in = NO_VAL;
	return 0;
}

/* Benchmark cases have nothing in common, whatever the sizes of their tensors. */
static void forget(struct lowering *w)
{
	w->buckets = NULL;
	w->n_buckets = w->used_buckets = 0;
	w->exts = NULL;
	w->n_exts = w->used_exts = 0;
	w->ints = w->shared_in = NO_VAL;
}

int lower_tensors(struct lowering *w)
{
	struct op_stream *s = w->out;
	uint64_t ios = 1;

	for (uint32_t i = 0; i < w->n; i++) {
		ios += w->lops[i].listed ? w->lops[i].listed->n : w->lops[i].n_in + w->lops[i].n_out;
		ios += w->lops[i].groups; /* each may be an operand */
	}
	if (ios > UINT32_MAX / 16)
		return err_set(w->e, ERR_IO, "%llu operands are more than one op stream holds",
		               (unsigned long long)ios);
	s->tensors = arena_array(w->a, ios, sizeof *s->tensors);
	s->operands = arena_array(w->a, ios, sizeof *s->operands);
	w->vals = arena_array(w->a, ios, sizeof *w->vals);
	if (!s->tensors || !s->operands || !w->vals)
		return lower_nomem(w);
	for (uint32_t i = 0; i < w->n; i++) {
		if (i && w->lops[i].step != w->lops[i - 1].step && w->cases)
			forget(w);
		if (lower_op(w, i) < 0)
			return -1;
	}
	return 0;
}
