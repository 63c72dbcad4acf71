/* stages.c - attention by its queries and keys, the stretches around it, and each stage under the roofline. */
#include "sim/profile/stages.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/lower/lower.h"

#define MODELS      16 /* kinds of heads in one trace */
#define FEW_QUERIES 16 /* a step that checks guessed tokens has some, too */

const char *stage_name(enum stage s)
{
	static const char *const names[STAGES] = { "vision", "prefill", "decode", "other" };

	return names[s];
}

enum stage stage_of_text(const char *text)
{
	static const struct {
		const char *word;
		enum stage is;
	} words[] = {
		{ "vision", STAGE_VISION }, { "visual", STAGE_VISION },   { "image", STAGE_VISION },
		{ "vit", STAGE_VISION },    { "prefill", STAGE_PREFILL }, { "prompt", STAGE_PREFILL },
		{ "decode", STAGE_DECODE }, { "decoding", STAGE_DECODE },
	};
	enum stage found = STAGE_OTHER;

	for (const char *p = text; *p;) {
		size_t n = 0;

		while (isalpha((unsigned char)p[n]) &&
		       (n == 0 || !isupper((unsigned char)p[n]) || isupper((unsigned char)p[n - 1])))
			n++;
		for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
			if (strlen(words[i].word) != n || strncasecmp(words[i].word, p, n) != 0)
				continue;
			if (found != STAGE_OTHER && found != words[i].is)
				return STAGE_OTHER;
			found = words[i].is;
		}
		p += n ? n : 1;
	}
	return found;
}

/* A launch in order of the host's calls, with what annotations say of it. */
struct item {
	const struct trace_launch *l;
	const struct trace_range *outer; /* the outermost annotation around its call; NULL: none */
	enum stage named, is;            /* STAGE_OTHER: no annotation tells */
	bool begins;                     /* a pass */
	uint32_t op;                     /* of the stream; UINT32_MAX: none */
};
struct build {
	const struct trace *t;
	struct arena *a;
	struct item *v; /* by call */
	size_t n;
	struct op_stream s;
	size_t *first;                  /* by op: its first item */
	struct op_shape models[MODELS]; /* attention that is known to be causal: the first with its heads */
	size_t n_models;
	struct stages *out;
};

static int64_t call_of(const struct trace_launch *l)
{
	return l->host_start_ns < 0 ? l->start_ns : l->host_start_ns;
}

static int64_t end_of(const struct trace_launch *l)
{
	return l->dur_ns > INT64_MAX - l->start_ns ? INT64_MAX : l->start_ns + l->dur_ns;
}

static int by_call(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	const int64_t p = call_of(a->l), q = call_of(b->l);

	if (p != q)
		return p < q ? -1 : 1;
	return a->l->id < b->l->id ? -1 : a->l->id > b->l->id;
}

/* --- annotations ------------------------------------------------------------------------------------------- */

static bool is_in(const struct trace_range *r, int64_t at)
{
	return at >= r->start_ns && at - r->start_ns < r->dur_ns;
}

/* Ranges come in order of start, longer ones first. Those that tell a stage and are open lie on a stack. */
static int name_items(struct build *b, struct err *e)
{
	const struct trace *t = b->t;
	const struct trace_range **open = arena_array(b->a, t->n_ranges + 1, sizeof *open), *outer = NULL;
	enum stage *told = arena_array(b->a, t->n_ranges + 1, sizeof *told);
	size_t r = 0, depth = 0;

	if (!open || !told)
		return err_nomem(e, "for the stages");
	for (size_t i = 0; i < b->n; i++) {
		const int64_t at = call_of(b->v[i].l);

		for (; r < t->n_ranges && t->ranges[r].start_ns <= at; r++) {
			const enum stage is = stage_of_text(t->ranges[r].name);

			if (is_in(&t->ranges[r], at) && (!outer || !is_in(outer, at)))
				outer = &t->ranges[r];
			if (is == STAGE_OTHER)
				continue;
			told[depth] = is;
			open[depth++] = &t->ranges[r];
		}
		while (depth && !is_in(open[depth - 1], at))
			depth--;
		b->v[i].outer = outer && is_in(outer, at) ? outer : NULL;
		b->v[i].named = depth ? told[depth - 1] : STAGE_OTHER;
	}
	return 0;
}

/* --- ops --------------------------------------------------------------------------------------------------- */

static bool has_ops(const struct trace *t)
{
	for (size_t i = 0; i < t->n_launches; i++)
		if (t->launches[i].op)
			return true;
	return false;
}

struct id {
	int64_t id;
	uint32_t op;
};

static int by_id(const void *x, const void *y)
{
	const struct id *a = x, *b = y;

	return a->id < b->id ? -1 : a->id > b->id;
}

/* To each item its op, and to each op its first item. */
static int join_ops(struct build *b, struct err *e)
{
	struct id *ids = arena_array(b->a, b->s.n_launches + 1, sizeof *ids);

	b->first = arena_array(b->a, b->s.n_ops + 1, sizeof *b->first);
	if (!ids || !b->first)
		return err_nomem(e, "for the stages");
	for (uint32_t i = 0; i < b->s.n_ops; i++) {
		b->first[i] = SIZE_MAX;
		for (uint32_t k = 0; k < b->s.ops[i].n_launches; k++) {
			const uint32_t at = b->s.ops[i].first_launch + k;

			ids[at] = (struct id){ b->s.launches[at].trace_id, i };
		}
	}
	qsort(ids, b->s.n_launches, sizeof *ids, by_id);
	for (size_t i = 0; i < b->n; i++) {
		const struct id want = { b->v[i].l->id, 0 };
		const struct id *at = bsearch(&want, ids, b->s.n_launches, sizeof *ids, by_id);

		b->v[i].op = at ? at->op : UINT32_MAX;
		if (at && b->first[at->op] == SIZE_MAX)
			b->first[at->op] = i;
	}
	return 0;
}

/* Told by queries and keys alone; STAGE_OTHER: as many queries as keys, and no word of a causal mask. */
static enum stage first_guess(const struct op_shape *x)
{
	if (x->q_len <= FEW_QUERIES && x->kv_len > 2 * x->q_len)
		return STAGE_DECODE;
	return x->causal || x->kv_len > x->q_len || x->kv_heads < x->heads ? STAGE_PREFILL : STAGE_OTHER;
}

static bool same_heads(const struct op_shape *a, const struct op_shape *b)
{
	return a->heads == b->heads && a->kv_heads == b->kv_heads && a->head_dim == b->head_dim;
}

static bool is_model(const struct build *b, const struct op_shape *x)
{
	for (size_t i = 0; i < b->n_models; i++)
		if (same_heads(&b->models[i], x))
			return true;
	return false;
}

static void find_models(struct build *b)
{
	for (size_t i = 0; i < b->s.n_ops; i++) {
		const struct op *x = &b->s.ops[i];

		if (x->kind == OP_ATTENTION && first_guess(&x->shape) != STAGE_OTHER && b->n_models < MODELS &&
		    !is_model(b, &x->shape))
			b->models[b->n_models++] = x->shape;
	}
}

static enum stage stage_of_attention(const struct build *b, const struct op *o)
{
	const enum stage is = first_guess(&o->shape);

	if (is != STAGE_OTHER)
		return is;
	return is_model(b, &o->shape) ? STAGE_PREFILL : STAGE_VISION;
}

/* The lookup of a table's rows: tokens, or places. */
static bool is_lookup(const struct build *b, const struct item *x)
{
	if (x->op != UINT32_MAX && b->s.ops[x->op].kind == OP_EMBED)
		return true;
	for (const struct trace_op *o = x->l->op; o; o = o->up)
		if (strcmp(o->name, "aten::embedding") == 0)
			return true;
	return false;
}

/* Where the later of two attentions' stretch begins, of the items from `from` to `to` (its own); *apart: for a reason that makes two
 * passes even of one stage. */
static size_t begin_of(const struct build *b, size_t from, size_t to, bool *apart)
{
	const struct op_shape *x = &b->s.ops[b->v[to].op].shape;
	const uint64_t rows = (x->batch ? x->batch : 1) * x->q_len;

	*apart = true;
	for (size_t i = from + 1; i <= to; i++)
		if (b->v[i].outer != b->v[i - 1].outer && b->v[i].outer == b->v[to].outer)
			return i;
	for (size_t i = from + 1; i < to; i++)
		if (is_lookup(b, &b->v[i]))
			return i;
	*apart = false;
	for (size_t i = to; i > from + 1; i--) {
		const struct item *before = &b->v[i - 1];
		const struct op *o = before->op == UINT32_MAX ? NULL : &b->s.ops[before->op];

		if (o && o->kind == OP_GEMM && o->shape.m * (o->shape.batch ? o->shape.batch : 1) != rows)
			return i;
	}
	return from + 1;
}

/* One look at an attention: its row has what queries and keys there are. */
static void count_attention(struct stage_row *r, const struct op_shape *x)
{
	r->q_min = r->q_min && r->q_min < x->q_len ? r->q_min : x->q_len;
	r->q_max = r->q_max > x->q_len ? r->q_max : x->q_len;
	r->kv_max = r->kv_max > x->kv_len ? r->kv_max : x->kv_len;
	r->batch = r->batch > x->batch ? r->batch : x->batch;
}

/* Stretches from attention to attention; what is before the first and behind the last goes with them. */
static void find_stretches(struct build *b)
{
	enum stage is = STAGE_OTHER;
	size_t last = SIZE_MAX, done = 0; /* the attention before; items that have a stage */

	find_models(b);
	for (size_t i = 0; i < b->n; i++) {
		const struct op *o = b->v[i].op == UINT32_MAX ? NULL : &b->s.ops[b->v[i].op];
		enum stage now;
		bool apart = true;
		size_t from = 0;

		if (!o || o->kind != OP_ATTENTION || b->first[b->v[i].op] != i)
			continue;
		now = stage_of_attention(b, o);
		if (last != SIZE_MAX)
			from = begin_of(b, last, i, &apart);
		if (now == is && !apart)
			from = i;
		for (; done < from; done++)
			b->v[done].is = is;
		b->v[from].begins = b->v[from].begins || now != is || apart;
		is = now;
		last = i;
	}
	for (; done < b->n; done++)
		b->v[done].is = is;
}

/* What annotations tell stands; a pass then begins where one begins. */
static void apply_names(struct build *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct item *x = &b->v[i];

		if (x->named != STAGE_OTHER)
			x->is = x->named;
		if (i == 0 || b->v[i - 1].is != x->is)
			x->begins = true;
		else if (x->named != STAGE_OTHER || b->v[i - 1].named != STAGE_OTHER)
			x->begins = x->outer != b->v[i - 1].outer;
	}
}

/* --- sums -------------------------------------------------------------------------------------------------- */

static void add_kernel(struct stage_sum *s, const struct bound_kernel *k, const struct roof *r)
{
	s->kernels += k->count;
	s->ns += k->ns;
	for (int i = 0; i < ROOF_CLASSES; i++)
		s->class_ns[i] += k->class_ns[i];
	if (!k->known)
		return;
	s->known += k->known;
	s->known_ns += (uint64_t)((double)k->ns * (double)k->known / (double)k->count);
	s->time += k->time;
	s->bytes += k->bytes;
	s->flops += k->flops;
	s->roof += fmax(k->bytes / r->effective, k->flops > 0 ? k->flops / r->flops[k->pipe] : 0);
}

static int stages_by_time(const void *x, const void *y)
{
	const struct stage_family *a = x, *b = y;

	return a->sum.ns != b->sum.ns ? (a->sum.ns > b->sum.ns ? -1 : 1) : strcmp(a->name, b->name);
}

static int sum_kernels(struct stage_row *r, const struct bound *b, struct arena *a, struct err *e)
{
	if (!(r->families = arena_array(a, b->n_kernels + 1, sizeof *r->families)))
		return err_nomem(e, "for the stages");
	for (size_t i = 0; i < b->n_kernels; i++) {
		const struct bound_kernel *k = &b->kernels[i];
		size_t f = 0;

		while (f < r->n_families && strcmp(r->families[f].name, k->family) != 0)
			f++;
		if (f == r->n_families)
			r->families[r->n_families++].name = k->family;
		add_kernel(&r->families[f].sum, k, &b->roof);
		add_kernel(&r->sum, k, &b->roof);
	}
	qsort(r->families, r->n_families, sizeof *r->families, stages_by_time);
	return 0;
}

/* A pass's span ends where the last of it does. */
static void sum_passes(struct stage_row *r, const struct build *b, enum stage is)
{
	int64_t from = 0, to = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct trace_launch *l = b->v[i].l;

		if (b->v[i].is != is)
			continue;
		r->launches++;
		r->named += b->v[i].named != STAGE_OTHER;
		r->copy_ns += l->kind == TRACE_KERNEL ? 0 : (uint64_t)l->dur_ns;
		if (b->v[i].begins || r->passes == 0) {
			r->passes++;
			r->span_ns += (uint64_t)(to - from);
			from = to = l->start_ns;
		}
		from = l->start_ns < from ? l->start_ns : from;
		to = end_of(l) > to ? end_of(l) : to;
		if (b->v[i].op != UINT32_MAX && b->first[b->v[i].op] == i && b->s.ops[b->v[i].op].kind == OP_ATTENTION)
			count_attention(r, &b->s.ops[b->v[i].op].shape);
	}
	r->span_ns += (uint64_t)(to - from);
}

static int by_start(const void *x, const void *y)
{
	const struct trace_launch *a = x, *b = y;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static int sum_stage(struct build *b, const struct bound_criteria *by, enum stage is, struct err *e)
{
	struct stage_row *r = &b->out->row[is];
	struct trace part = *b->t;
	struct bound sums;
	size_t n = 0;

	sum_passes(r, b, is);
	if (!r->launches)
		return 0;
	if (!(part.launches = arena_array(b->a, r->launches, sizeof *part.launches)))
		return err_nomem(e, "for the stages");
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].is == is)
			part.launches[n++] = *b->v[i].l;
	part.n_launches = n;
	part.n_stats = 0;
	qsort(part.launches, n, sizeof *part.launches, by_start);
	if (bound_trace(&part, by, b->a, &sums, e) < 0 || sum_kernels(r, &sums, b->a, e) < 0)
		return -1;
	b->out->ns += r->sum.ns;
	b->out->copy_ns += r->copy_ns;
	return 0;
}

enum roof_class stage_class(const struct stage_sum *s)
{
	enum roof_class c = ROOF_UNKNOWN;

	for (int i = 0; i < ROOF_CLASSES; i++)
		if (s->class_ns[i] > s->class_ns[c])
			c = (enum roof_class)i;
	return c;
}

int stages_of(const struct trace *t, const struct bound_criteria *by, struct arena *a, struct stages *out,
              struct err *e)
{
	struct build b = { .t = t, .a = a, .n = t->n_launches, .out = out };
	struct lower_stats st;

	memset(out, 0, sizeof *out);
	out->roof = *by->roof;
	if (!(b.v = arena_array(a, b.n + 1, sizeof *b.v)))
		return err_nomem(e, "for the stages");
	for (size_t i = 0; i < b.n; i++)
		b.v[i] = (struct item){
			.l = &t->launches[i], .named = STAGE_OTHER, .is = STAGE_OTHER, .op = UINT32_MAX
		};
	qsort(b.v, b.n, sizeof *b.v, by_call);
	if (name_items(&b, e) < 0)
		return -1;
	if (has_ops(t) && lower_trace(t, by->rules, a, &b.s, &st, e) < 0)
		return -1;
	if (join_ops(&b, e) < 0)
		return -1;
	find_stretches(&b);
	apply_names(&b);
	for (int i = 0; i < STAGES; i++)
		if (sum_stage(&b, by, (enum stage)i, e) < 0)
			return -1;
	return 0;
}
