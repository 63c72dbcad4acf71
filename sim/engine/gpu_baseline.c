#include "sim/engine/gpu_baseline.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "arch/gpu/gpu_geometry.h"
#include "arch/machine/machine_gpu.h"
#include "sim/base/hash.h"
#include "sim/base/path.h"
#include "traces/trace.h"

/* A kernel of the fused step: an op's launches, with the bytes of its chain. */
struct fused {
	uint32_t op;     /* of the stream */
	uint32_t kind;   /* of the distinct ones: ops that are laid out alike */
	uint32_t like;   /* the first that also moves alike: takes the same time */
	uint32_t others; /* launches since its kernel last ran, no more than the device tells apart */
	uint64_t fresh;
	struct gpu_mem mem;
};

struct work {
	const struct op_stream *s;
	const struct gpu *g;
	const struct kernels *k;
	struct arena *a;
	struct fuse_group *groups;
	size_t n_groups;
	struct fused *v;
	size_t n;
	uint32_t *distinct; /* fused kernels that stand for those like them */
	size_t n_distinct;
};

/* --- what a chain moves ---------------------------------------------------------------------------------------------- */

struct residency {
	uint64_t *last;  /* by tensor: bytes that had gone through the L2 when it was last touched, plus 1; 0: never */
	uint32_t *group; /* by tensor: the group that touched it last, plus 1 */
	uint32_t *last_read; /* by tensor: one past the op that reads it last */
	bool *written;
	uint64_t through, size;
};

static int residency_new(struct residency *r, const struct work *w, struct err *e)
{
	const struct op_stream *s = w->s;
	const size_t n = s->n_tensors + 1;

	*r = (struct residency){ .last = arena_array(w->a, n, sizeof *r->last),
		                 .group = arena_array(w->a, n, sizeof *r->group),
		                 .last_read = arena_array(w->a, n, sizeof *r->last_read),
		                 .written = arena_array(w->a, n, sizeof *r->written),
		                 .size = w->g->l2 };
	if (!r->last || !r->group || !r->last_read || !r->written)
		return err_set(e, ERR_NOMEM, "out of memory for %zu tensors", s->n_tensors);
	for (size_t i = 0; i < s->n_ops; i++)
		for (uint32_t k = 0; k < s->ops[i].n_operands; k++) {
			const struct op_operand *x = &s->operands[s->ops[i].first_operand + k];

			if (!x->write)
				r->last_read[x->tensor] = (uint32_t)i + 1;
		}
	return 0;
}

/* All experts of a layer are there, or each pick is a miss. */
static bool found(const struct residency *r, const struct op_tensor *t, uint32_t tensor, uint64_t bytes)
{
	const uint64_t since = r->last[tensor] ? r->through - (r->last[tensor] - 1) : UINT64_MAX;
	const uint64_t all = t->instances > 1 ? t->stride * t->instances : bytes;

	return since < r->size && all < r->size - since;
}

static void touch(struct residency *r, const struct op_stream *s, const struct op_operand *x, struct fused *f)
{
	const struct op_tensor *t = &s->tensors[x->tensor];
	const uint64_t bytes = x->touched < x->bytes ? x->touched : x->bytes;
	const bool hit = found(r, t, x->tensor, bytes);

	if (x->write) {
		f->mem.write += bytes;
		f->mem.write_back += bytes > r->size / 2 ? bytes : 0;
	} else {
		f->mem.read += bytes;
		f->mem.read_hit += hit ? bytes : 0;
		if (r->written[x->tensor] && bytes > f->fresh)
			f->fresh = bytes;
	}
	r->through += hit ? 0 : bytes;
	r->last[x->tensor] = r->through + 1;
	r->written[x->tensor] = x->write;
}

/* Written and read within the chain alone, or read before by it. */
static bool inside(const struct residency *r, const struct op_stream *s, const struct fuse_group *g, uint32_t at,
                   const struct op_operand *x)
{
	const struct op_tensor *t = &s->tensors[x->tensor];

	if (g->n == 1)
		return false;
	if (x->write)
		return t->role == OP_ACTIVATION && r->last_read[x->tensor] > g->first &&
		       r->last_read[x->tensor] <= g->first + g->n;
	return r->group[x->tensor] == at + 1;
}

static void gpu_baseline_move(struct residency *r, const struct work *w, uint32_t at, struct fused *f)
{
	const struct fuse_group *g = &w->groups[at];

	f->mem = (struct gpu_mem){ .read = 0 };
	f->fresh = 0;
	for (uint32_t i = g->first; i < g->first + g->n; i++)
		for (uint32_t k = 0; k < w->s->ops[i].n_operands; k++) {
			const struct op_operand *x = &w->s->operands[w->s->ops[i].first_operand + k];

			if (!inside(r, w->s, g, at, x))
				touch(r, w->s, x, f);
			r->group[x->tensor] = at + 1;
		}
}

/* --- the chains ------------------------------------------------------------------------------------------------------ */

static uint64_t gpu_baseline_bytes_of(const struct op_stream *s, const struct op *o)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < o->n_operands; k++)
		n += s->operands[o->first_operand + k].touched;
	return n;
}

/* The op whose kernel does the chain. */
static uint32_t head_of(const struct op_stream *s, const struct fuse_group *g)
{
	uint32_t head = g->first;

	for (uint32_t i = g->first; i < g->first + g->n; i++) {
		if (op_is_product(s->ops[i].kind))
			return i;
		if (gpu_baseline_bytes_of(s, &s->ops[i]) > gpu_baseline_bytes_of(s, &s->ops[head]))
			head = i;
	}
	return head;
}

/* Twice: what the first time leaves in the L2 is what the second finds. */
static int chains(struct work *w, struct err *e)
{
	struct residency r;

	if (!(w->v = arena_array(w->a, w->n_groups + 1, sizeof *w->v)) || residency_new(&r, w, e) < 0)
		return err_nomem(e->kind ? NULL : e, "for the fused step");
	for (int pass = 0; pass < 2; pass++) {
		memset(r.group, 0, (w->s->n_tensors + 1) * sizeof *r.group);
		w->n = 0;
		for (uint32_t i = 0; i < w->n_groups; i++) {
			struct fused *f = &w->v[w->n];

			if (w->s->ops[w->groups[i].first].kind == OP_OPAQUE)
				continue;
			*f = (struct fused){ .op = head_of(w->s, &w->groups[i]) };
			gpu_baseline_move(&r, w, i, f);
			w->n++;
		}
	}
	return 0;
}

/* --- kernels that are alike -------------------------------------------------------------------------------------------- */

struct seen {
	uint64_t hash;
	uint32_t at; /* plus 1; 0: free */
};

static struct seen *slot_of(struct seen *table, uint64_t mask, uint64_t hash)
{
	uint64_t i = hash_mix(hash) & mask;

	while (table[i].at && table[i].hash != hash)
		i = (i + 1) & mask;
	table[i].hash = hash;
	return &table[i];
}

static uint64_t name_hash(const struct op_stream *s, const struct op *o)
{
	return o->n_launches ? hash_str(HASH_INIT, s->launches[o->first_launch].name) : hash_str(HASH_INIT, o->name);
}

static uint64_t kind_hash(const struct work *w, const struct fused *f, uint64_t name)
{
	const struct op *o = &w->s->ops[f->op];
	const uint64_t v[] = { o->kind, o->dtype,  o->out_dtype, o->acc_dtype,
		               o->cost, o->reduce, o->algorithm, o->n_launches };
	uint64_t h = hash_bytes(hash_str(name, o->rule), v, sizeof v);

	h = hash_bytes(h, &o->shape, sizeof o->shape);
	for (uint32_t i = 0; i < o->n_launches; i++) {
		const struct op_launch *l = &w->s->launches[o->first_launch + i];

		h = hash_bytes(h, l->grid, sizeof l->grid);
		h = hash_bytes(h, l->block, sizeof l->block);
		h = hash_u64(hash_u64(h, l->registers), l->smem_static + l->smem_dynamic);
	}
	return h;
}

static uint64_t like_hash(const struct fused *f)
{
	const uint64_t v[] = { f->kind,         f->others,    f->fresh,         f->mem.read,
		               f->mem.read_hit, f->mem.write, f->mem.write_back };

	return hash_bytes(HASH_INIT, v, sizeof v);
}

/* Twice round for what lies between two launches of a kernel, as the second step finds the code that the first left. */
static void count_others(struct work *w, struct seen *table, uint64_t mask, const uint64_t *names)
{
	uint32_t at = 0;

	for (size_t i = 0; i < 2 * w->n; i++) {
		struct fused *f = &w->v[i % w->n];
		struct seen *x = slot_of(table, mask, names[i % w->n]);

		at += w->s->ops[f->op].n_launches ? w->s->ops[f->op].n_launches : 1;
		f->others = x->at ? at - x->at - 1 : UINT32_MAX;
		if (f->others > w->g->c->code)
			f->others = (uint32_t)w->g->c->code;
		x->at = at;
	}
}

static int sort_out(struct work *w, struct err *e)
{
	uint64_t *names = arena_array(w->a, w->n + 1, sizeof *names), mask = 15;
	struct seen *table, *kinds, *likes;

	while (mask < 4 * w->n)
		mask = 2 * mask + 1;
	table = arena_array(w->a, mask + 1, sizeof *table);
	kinds = arena_array(w->a, mask + 1, sizeof *kinds);
	likes = arena_array(w->a, mask + 1, sizeof *likes);
	w->distinct = arena_array(w->a, w->n + 1, sizeof *w->distinct);
	if (!names || !table || !kinds || !likes || !w->distinct)
		return err_nomem(e, "for the fused step");
	for (size_t i = 0; i < w->n; i++)
		names[i] = name_hash(w->s, &w->s->ops[w->v[i].op]);
	count_others(w, table, mask, names);
	for (uint32_t i = 0; i < w->n; i++) {
		struct seen *x = slot_of(kinds, mask, kind_hash(w, &w->v[i], names[i]));

		if (!x->at) {
			w->distinct[w->n_distinct++] = i;
			x->at = (uint32_t)w->n_distinct;
		}
		w->v[i].kind = x->at - 1;
		x = slot_of(likes, mask, like_hash(&w->v[i]));
		if (!x->at)
			x->at = i + 1;
		w->v[i].like = x->at - 1;
	}
	return 0;
}

/* --- their times ------------------------------------------------------------------------------------------------------- */

/* The distinct kernels as a stream of their own. */
static int gpu_baseline_stream_of(const struct work *w, struct op_stream *out, struct err *e)
{
	*out = *w->s;
	if (!(out->ops = arena_array(w->a, w->n_distinct + 1, sizeof *out->ops)))
		return err_nomem(e, "for the fused step");
	out->n_ops = w->n_distinct;
	for (size_t i = 0; i < w->n_distinct; i++) {
		out->ops[i] = w->s->ops[w->v[w->distinct[i]].op];
		out->ops[i].id = (uint32_t)i;
	}
	return 0;
}

/* What of the chain's bytes a launch of its head moves; a second one finds in the L2 what the first fetched. */
static void gpu_baseline_give(struct gpu_launch *l, const struct fused *f, bool first)
{
	l->others = f->others;
	l->mem = (struct gpu_mem){ .read = 0 };
	if (l->kernel.moves == KERNEL_MOVES_ALL || l->kernel.moves == KERNEL_MOVES_READS) {
		l->mem.read = f->mem.read;
		l->mem.read_hit = first ? f->mem.read_hit : f->mem.read;
	}
	if (l->kernel.moves == KERNEL_MOVES_ALL || l->kernel.moves == KERNEL_MOVES_WRITES) {
		l->mem.write = f->mem.write;
		l->mem.write_back = first ? f->mem.write_back : 0;
	}
}

static void time_op(const struct work *w, struct gpu_work *x, const struct op *o, const struct fused *f, ps_t *took)
{
	bool first = true;

	for (uint32_t n = 0; n < o->n_launches; n++)
		x->launches[o->first_launch + n].fresh = 0;
	gpu_work_fresh(x, o, f->fresh);
	for (uint32_t n = 0; n < o->n_launches; n++) {
		struct gpu_launch *l = &x->launches[o->first_launch + n];

		gpu_baseline_give(l, f, first);
		first &= l->kernel.moves == KERNEL_MOVES_NONE;
		took[n] = gpu_time(w->g, l).total;
	}
}

/* All launches of the step in their order, and the wall time of a graph of them. */
static int add_up(const struct work *w, struct gpu_work *x, const struct op_stream *s, const struct host_cfg *host,
                  struct gpu_baseline *out, struct err *e)
{
	struct op all = { .kind = OP_COPY };
	const struct op_stream one = { .ops = &all, .n_ops = 1 };
	uint32_t *first = arena_array(w->a, w->n + 1, sizeof *first);
	ps_t *each;

	for (size_t i = 0; i < w->n; i++)
		out->kernels += s->ops[w->v[i].kind].n_launches;
	if (!first || !(each = arena_array(w->a, out->kernels + 1, sizeof *each)))
		return err_nomem(e, "for the fused step");
	for (size_t i = 0; i < w->n; i++) {
		const struct fused *f = &w->v[i];
		const struct op *o = &s->ops[f->kind];

		first[i] = all.n_launches;
		if (f->like == i)
			time_op(w, x, o, f, &each[first[i]]);
		else
			memcpy(&each[first[i]], &each[first[f->like]], o->n_launches * sizeof *each);
		all.n_launches += o->n_launches;
		for (uint32_t k = 0; k < o->n_launches; k++)
			out->op_ps[f->op] += each[first[i] + k];
		out->kernels_ps += out->op_ps[f->op];
		out->least_ps = i ? ps_min(out->least_ps, out->op_ps[f->op]) : out->op_ps[f->op];
	}
	out->graph_ps = host_wall(host, &one, each).graph;
	return 0;
}

static int gpu_baseline_times(struct work *w, const struct machine_conf *gpu, struct gpu_baseline *out, struct err *e)
{
	struct op_stream some, x;
	struct gpu_work launches;
	int rc;

	if (gpu_baseline_stream_of(w, &some, e) < 0)
		return -1;
	x = some;
	rc = gpu_geometry_foreign(w->g, w->s) ? gpu_geometry_work(w->g, w->k, &some, w->a, &x, &launches, e)
	                                      : gpu_work_make(&some, w->k, w->a, &launches, e);
	return rc < 0 ? -1 : add_up(w, &launches, &x, &gpu->cfg.gpu.host, out, e);
}

int gpu_baseline_run(const struct op_stream *s, const struct machine_conf *gpu, const struct kernels *k,
                     const struct fuse_patterns *patterns, struct arena *a, struct gpu_baseline *out, struct err *e)
{
	const struct fusion_cfg any = { .enabled = patterns != NULL, .max_ops = UINT32_MAX, .buffer = UINT64_MAX };
	const struct gpu g = machine_gpu(&gpu->cfg);
	struct work w = { .s = s, .g = &g, .k = k, .a = a };

	*out = (struct gpu_baseline){ .op_ps = arena_array(a, s->n_ops + 1, sizeof *out->op_ps) };
	if (!out->op_ps)
		return err_nomem(e, "for the fused step");
	if (fuse_stream(s, &any, patterns, a, &w.groups, &w.n_groups, e) < 0 || chains(&w, e) < 0 ||
	    sort_out(&w, e) < 0)
		return -1;
	out->joined = s->n_ops - w.n_groups;
	return w.n ? gpu_baseline_times(&w, gpu, out, e) : 0;
}

/* --- which device ---------------------------------------------------------------------------------------------------- */

/* From each word on, words that begin with a digit without a gap: "rtx5090"; others with a dash: "rtx-pro-6000". */
static bool try_from(const struct source *from, const char *word, char *path, unsigned size)
{
	char dashed[64], plain[64], file[96];
	size_t d = 0, p = 0;

	for (const char *c = word; *c && d + 2 < sizeof dashed; c++) {
		const bool in = isalnum((unsigned char)*c) != 0;

		if (in) {
			dashed[d++] = plain[p++] = (char)tolower((unsigned char)*c);
		} else if (d && dashed[d - 1] != '-') {
			dashed[d++] = '-';
		}
		if (in && isalnum((unsigned char)c[1]))
			continue;
		dashed[d] = plain[p] = '\0';
		for (int i = 0; in && i < 2; i++) {
			snprintf(file, sizeof file, "configs/gpu/%s.yaml", i ? plain : dashed);
			if (source_find(from, file, path, size))
				return true;
		}
	}
	return false;
}

int gpu_baseline_config_from(const struct source *from, const char *device, char *path, unsigned size)
{
	for (const char *c = device; c && *c; c++)
		if (isalnum((unsigned char)*c) && (c == device || !isalnum((unsigned char)c[-1])) &&
		    try_from(from, c, path, size))
			return 0;
	return -1;
}

int gpu_baseline_config(const char *device, char *path, unsigned size)
{
	return gpu_baseline_config_from(&path_source, device, path, size);
}
