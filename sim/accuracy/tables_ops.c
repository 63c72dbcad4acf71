/* tables_ops.c - a row's ops, their launches, what their bytes find in the L2, and the sample that they are. */
#include <string.h>

#include "arch/gpu/gpu_geometry.h"
#include "sim/accuracy/tables_int.h"
#include "sim/base/hash.h"
#include "traces/text/decimal.h"

#define MANY  3                   /* times the L2: nothing of it is found again */
#define NODE  (380 * PS_NS)       /* a node of a graph of a process that has captured many (arch/gpu/host.c) */
#define PAGE  (UINT64_C(2) << 20) /* of device memory */
#define PAGES UINT64_C(32768)

/* --- ops ----------------------------------------------------------------------------------------------------- */

uint32_t tables_tensor(struct op_stream *s, const char *name, enum op_role role, enum dtype d, uint64_t bytes,
                       bool external)
{
	struct op_tensor *x = &s->tensors[s->n_tensors];

	*x = (struct op_tensor){ .name = name,
		                 .role = role,
		                 .dtype = d,
		                 .bytes = bytes,
		                 .addr = s->addr_end,
		                 .instances = 1,
		                 .layer = -1,
		                 .route = -1,
		                 .external = external };
	s->addr_end = round_up(s->addr_end + bytes, 4096);
	return (uint32_t)s->n_tensors++;
}

void tables_operand(struct op_stream *s, struct op *o, uint32_t t, bool write)
{
	uint64_t bytes = s->tensors[t].bytes;

	s->operands[s->n_operands++] =
		(struct op_operand){ .tensor = t, .write = write, .bytes = bytes, .touched = bytes };
	o->n_operands++;
}

struct op *tables_add_op(struct op_stream *s, enum op_kind kind, const char *name, const char *family, enum dtype d)
{
	struct op *o = &s->ops[s->n_ops];

	*o = (struct op){ .id = (uint32_t)s->n_ops,
		          .kind = kind,
		          .name = name,
		          .family = family,
		          .rule = "table",
		          .layer = -1,
		          .dtype = d,
		          .out_dtype = DT_BF16,
		          .acc_dtype = DT_FP32,
		          .fn = "",
		          .first_operand = (uint32_t)s->n_operands,
		          .first_launch = (uint32_t)s->n_launches,
		          .routed_by = -1 };
	s->n_ops++;
	return o;
}

bool tables_lay_out(struct table *t, struct op *o)
{
	struct op_stream *s = &t->out->stream;
	struct geometry x;

	if (!gpu_geometry_of(&t->gpu, t->k, s, o, &x))
		return false;
	o->n_launches = x.n;
	for (uint32_t i = 0; i < x.n; i++) {
		s->launches[s->n_launches] = x.at[i];
		t->out->work.launches[s->n_launches] = (struct gpu_launch){ .stream = s,
			                                                    .op = o,
			                                                    .at = &s->launches[s->n_launches],
			                                                    .kernel = x.kernel[i],
			                                                    .nth = i,
			                                                    .count = x.n };
		s->n_launches++;
	}
	t->out->work.n = s->n_launches;
	return true;
}

/* --- what is found in the L2 --------------------------------------------------------------------------------- */

/* Memory is mapped by pages, which lie where the allocator put them: sets of an L2 fill unevenly. */
static int move_pages(struct table *t, uint64_t at, uint64_t bytes, struct gpu_mem *m, struct err *e)
{
	for (uint64_t done = 0; done < bytes; done += PAGE) {
		uint64_t n = bytes - done < PAGE ? bytes - done : PAGE;

		if (gpu_traffic_move(t->traffic, hash_mix(HASH_INIT + (at + done) / PAGE) % PAGES * PAGE, n, false, m,
		                     e) < 0)
			return -1;
	}
	return 0;
}

/* Of `bytes` that are read once each turn, `copies` of them in turn, each beside `small` bytes that all turns share. */
static int found(struct table *t, uint64_t bytes, uint64_t small, uint64_t copies, uint64_t *hit, struct err *e)
{
	uint64_t apart = round_up(bytes, PAGE);
	struct gpu_mem m = { 0 }, other = { 0 };

	*hit = 0;
	if (bytes > MANY * t->m->mem.l2.size / copies)
		return 0;
	if (t->last.bytes == bytes && t->last.small == small && t->last.copies == copies)
		return *hit = t->last.hit, 0;
	gpu_traffic_forget(t->traffic);
	for (uint64_t i = 0; i < 2 * copies; i++) {
		if (i == copies) /* the second round counts */
			memset(&m, 0, sizeof m);
		if (move_pages(t, i % copies * apart, bytes, &m, e) < 0 ||
		    move_pages(t, copies * apart, small, &other, e) < 0)
			return -1;
	}
	t->last.bytes = bytes;
	t->last.small = small;
	t->last.copies = copies;
	*hit = t->last.hit = m.read_hit / copies;
	return 0;
}

int tables_move_beside(struct table *t, struct op *o, uint64_t large, uint64_t copies, uint64_t all, struct err *e)
{
	const struct op_stream *s = &t->out->stream;
	struct gpu_mem m = { 0 };
	uint64_t hit, small;

	for (uint32_t i = 0; i < o->n_operands; i++) {
		const struct op_operand *x = &s->operands[o->first_operand + i];

		*(x->write ? &m.write : &m.read) += x->touched;
	}
	small = m.read - large;
	if (large && found(t, all, small + m.write, copies, &hit, e) < 0)
		return -1;
	m.read_hit = (large ? (uint64_t)((double)hit / (double)all * (double)large) : 0) +
	             (all + small + m.write < t->m->mem.l2.size ? small : 0);
	m.write_back = all + small + m.write < t->m->mem.l2.size ? 0 : m.write;
	for (uint32_t i = 0; i < o->n_launches; i++) {
		struct gpu_launch *l = &t->out->work.launches[o->first_launch + i];

		if (l->kernel.moves == KERNEL_MOVES_ALL || l->kernel.moves == KERNEL_MOVES_READS)
			l->mem.read = m.read, l->mem.read_hit = m.read_hit;
		if (l->kernel.moves == KERNEL_MOVES_ALL || l->kernel.moves == KERNEL_MOVES_WRITES)
			l->mem.write = m.write, l->mem.write_back = m.write_back;
	}
	return 0;
}

int tables_move(struct table *t, struct op *o, uint64_t large, uint64_t copies, struct err *e)
{
	return tables_move_beside(t, o, large, copies, large, e);
}

/* --- samples ------------------------------------------------------------------------------------------------- */

int tables_time(const struct table *t, uint64_t *ns, struct err *e)
{
	int64_t v;

	if (decimal_scaled(tables_text(t, TIME), strlen(tables_text(t, TIME)), DECIMAL_US_TO_NS, &v) < 0 || v <= 0)
		return tables_refuse(t, "'time_us' is no time:", tables_text(t, TIME), e);
	*ns = (uint64_t)v;
	return 0;
}

int tables_grow(struct table *t, struct err *e)
{
	struct cases *c = t->out;
	struct op_stream *s = &c->stream;

	/* Rows are counted before they are read: all arrays have their size. */
	if (c->n + 1 > t->room || s->n_ops + TABLES_OPS > t->op_room || s->n_launches + TABLES_OPS + 1 > t->launch_room)
		return err_set(e, ERR_IO, "%s: grew while it was read", t->name);
	return 0;
}

/* What stands between the launches from `first` on and those before them: cuBLAS's own kernels for Hopper are launched ahead of the
 * end of the one before (programmatic dependent launch). What that saves on Blackwell is in its product.setup. */
static uint64_t gaps(const struct table *t, uint32_t first)
{
	const struct host_cfg *h = &t->m->gpu.host;
	const uint32_t c = t->m->gpu.sm.capability;
	uint64_t nodes = 0;

	for (size_t i = first; i < t->out->stream.n_launches; i++)
		nodes += c < 90 || c >= 100 || strncmp(t->out->stream.launches[i].name, "nvjet", 5) != 0;
	return nodes * (NODE > h->record ? NODE - h->record : 0);
}

void tables_add_sample(struct table *t, const char *name, const char *cls, uint32_t first_op, uint64_t ns,
                       uint64_t calls)
{
	struct cases *c = t->out;
	struct sample *x = &c->v[c->n++];
	const struct op *first = &c->stream.ops[first_op];

	*x = (struct sample){ .name = name,
		              .cls = cls,
		              .group = arena_strdup(t->a, tables_text(t, GPU)),
		              .measured_ns = ns,
		              .low_ns = ns,
		              .high_ns = ns,
		              .reps = 1,
		              .first_op = first_op,
		              .n_ops = (uint32_t)c->stream.n_ops - first_op,
		              .launch = UINT32_MAX,
		              .split = SAMPLE_HELD_OUT,
		              .hash = hash_str(HASH_INIT, name),
		              .before = TABLES_BEFORE * calls,
		              .around = t->m->gpu.host.graph_launch / calls + gaps(t, first->first_launch) };
}

int tables_drop(struct table *t, size_t ops, size_t operands, size_t tensors, size_t launches)
{
	struct op_stream *s = &t->out->stream;

	s->n_ops = ops;
	s->n_operands = operands;
	s->n_tensors = tensors;
	s->n_launches = t->out->work.n = launches;
	t->st->no_rule++;
	return 0;
}

int tables_pass(struct table *t, const char *name, const char *cls, uint64_t from, uint64_t to, bool strided,
                struct err *e)
{
	struct op_stream *s = &t->out->stream;
	struct op *o = tables_add_op(s, OP_COPY, name, cls, DT_BF16);

	o->shape.elems = div_up(from > to ? from : to, 2);
	o->shape.strided = strided;
	tables_operand(s, o, tables_tensor(s, "from", OP_ACTIVATION, DT_BF16, from, true), false);
	tables_operand(s, o, tables_tensor(s, "to", OP_ACTIVATION, DT_BF16, to, true), true);
	tables_lay_out(t, o);
	return tables_move(t, o, 0, 1, e);
}

struct op_launch *tables_launch(struct table *t, struct op *o, const char *name, const struct kernel *k, uint64_t ctas,
                                uint32_t threads, uint32_t registers)
{
	struct op_stream *s = &t->out->stream;
	struct op_launch *l = &s->launches[s->n_launches];

	*l = (struct op_launch){ .trace_id = -1, .name = name, .waits_for = -1, .registers = registers };
	l->grid[0] = (uint32_t)ctas;
	l->grid[1] = l->grid[2] = l->block[1] = l->block[2] = l->cluster[0] = l->cluster[1] = l->cluster[2] = 1;
	l->block[0] = threads;
	t->out->work.launches[s->n_launches] =
		(struct gpu_launch){ .stream = s, .op = o, .at = l, .kernel = *k, .count = 1 };
	o->n_launches = 1;
	t->out->work.n = ++s->n_launches;
	return l;
}

/* A kernel beside the products, by its name. */
static int small_kernel(struct table *t, struct op *o, const char *name, uint64_t ctas, uint32_t threads, struct err *e)
{
	const struct kernel k = kernels_match(t->k, name, o->rule);

	tables_launch(t, o, name, &k, ctas, threads, 32);
	return tables_move(t, o, 0, 1, e);
}

/* PyTorch's fill of 16-bit elements: eight a thread. */
int tables_clear(struct table *t, const char *name, const char *cls, uint64_t bytes, struct err *e)
{
	struct op *o = tables_add_op(&t->out->stream, OP_COPY, name, cls, DT_BF16);

	o->shape.elems = div_up(bytes, 2);
	tables_operand(&t->out->stream, o, tables_tensor(&t->out->stream, "to", OP_ACTIVATION, DT_BF16, bytes, true),
	               true);
	return small_kernel(t, o,
	                    "void at::native::vectorized_elementwise_kernel<8, at::native::FillFunctor<c10::BFloat16>>",
	                    div_up(bytes, UINT64_C(2) * 8 * 128), 128, e);
}

int tables_route(struct table *t, const char *name, const char *cls, uint64_t tokens, uint64_t experts, uint64_t picks,
                 struct err *e)
{
	struct op *o = tables_add_op(&t->out->stream, OP_TOPK, name, cls, DT_FP32);

	o->shape = (struct op_shape){ .rows = tokens, .cols = experts, .top = picks / tokens };
	tables_operand(&t->out->stream, o,
	               tables_tensor(&t->out->stream, "from", OP_ACTIVATION, DT_FP32, 4 * tokens * experts, true),
	               false);
	tables_operand(&t->out->stream, o,
	               tables_tensor(&t->out->stream, "to", OP_ACTIVATION, DT_FP32, 8 * picks, true), true);
	return small_kernel(t, o, "grouped_topk_fused_kernel", tokens, 32, e);
}

int tables_copy(struct table *t, const char *name, const char *cls, uint64_t elems, bool strided, struct err *e)
{
	return tables_pass(t, name, cls, 2 * elems, 2 * elems, strided, e);
}
