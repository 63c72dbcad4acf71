#include "sim/engine/gpu_l2_form.h"

#include "sim/base/hash.h"
#include "sim/engine/analytic_sample.h"

#define CANDIDATES 64                   /* periods that are tried: ops alike that stand between two layers' */
#define HEAD       3                    /* periods at the beginning that are moved */
#define TAIL       3                    /* and at the end; the first of them finds what it would not have found */
#define SMALL      (UINT64_C(32) << 10) /* bytes: of more, chunks enough lie in the sample */
#define PIECE      256
#define TURNS      4 /* capacities that those left out move at least */

/* --- what repeats -------------------------------------------------------------------------------------------------- */

/* All that decides what an op moves and how long it takes, but where it lies. */
static uint64_t alike_hash(const struct op_stream *s, const struct op *o)
{
	const uint64_t v[] = { o->kind,   o->dtype,     o->out_dtype,  o->acc_dtype,  o->cost,
		               o->reduce, o->algorithm, o->n_launches, o->n_operands, o->routed_by >= 0 };
	uint64_t h = hash_bytes(hash_str(HASH_INIT, o->rule), v, sizeof v);

	h = hash_bytes(h, &o->shape, sizeof o->shape);
	for (uint32_t i = 0; i < o->n_launches; i++) {
		const struct op_launch *l = &s->launches[o->first_launch + i];

		h = hash_bytes(hash_str(h, l->name), l->grid, sizeof l->grid);
		h = hash_bytes(h, l->block, sizeof l->block);
	}
	for (uint32_t k = 0; k < o->n_operands; k++) {
		const struct op_operand *x = &s->operands[o->first_operand + k];
		const struct op_tensor *t = &s->tensors[x->tensor];

		h = hash_u64(hash_u64(h, x->touched < x->bytes ? x->touched : x->bytes), x->write);
		h = hash_u64(hash_u64(h, t->instances), t->role);
	}
	return h;
}

/* As far as ops are as those a period before and behind them. */
static struct gpu_l2_form_repeats stretch(const uint64_t *hash, uint32_t n, uint32_t at, uint32_t period)
{
	uint32_t from = at, to = at;

	while (from && hash[from - 1] == hash[from - 1 + period])
		from--;
	while (to + period < n && hash[to] == hash[to + period])
		to++;
	return (struct gpu_l2_form_repeats){ from, period, (to + period - from) / period };
}

struct gpu_l2_form_repeats gpu_l2_form_repeats(const struct op_stream *s, struct arena *a, struct err *e)
{
	const uint32_t n = (uint32_t)s->n_ops, mid = n / 2;
	uint64_t *hash = arena_array(a, n + 1, sizeof *hash);
	struct gpu_l2_form_repeats best = { 0, 1, 0 };
	int tried = 0;

	if (!hash) {
		err_nomem(e, "for what repeats");
		return best;
	}
	for (uint32_t i = 0; i < n; i++)
		hash[i] = alike_hash(s, &s->ops[i]);
	/* The middle op's like is a period further on, though not always the next one. */
	for (uint32_t i = mid + 1; i < n && tried < CANDIDATES; i++) {
		struct gpu_l2_form_repeats r;

		if (hash[i] != hash[mid])
			continue;
		tried++;
		r = stretch(hash, n, mid, i - mid);
		if ((uint64_t)r.times * r.period > (uint64_t)best.times * best.period && r.times > HEAD + TAIL)
			best = r;
	}
	return best;
}

/* --- the memory ----------------------------------------------------------------------------------------------------- */

/* Ranges of few chunks, which mostly lie in no set of the sample: by how much has come in since they were touched. */
struct piece {
	uint64_t at, through; /* plus 1; 0: free */
};

struct level {
	struct sample *sample;
	uint64_t capacity, through; /* bytes; those that came in so far */
	uint64_t *larger;           /* by tensor: `through` plus 1 when a larger range of it was touched; 0: never */
	struct piece *pieces;
	uint64_t mask;
};

static struct piece *piece_of(struct level *l, uint64_t at)
{
	uint64_t i = hash_mix(at) & l->mask;

	while (l->pieces[i].at && l->pieces[i].at != at + 1)
		i = (i + 1) & l->mask;
	l->pieces[i].at = at + 1;
	return &l->pieces[i];
}

static bool lately(const struct level *l, uint64_t through)
{
	return through && l->through - (through - 1) < l->capacity;
}

/* A larger range of the same tensor may have brought it, too. */
static uint64_t touch_small(struct level *l, const struct gpu_range *r)
{
	const uint64_t first = r->addr / PIECE, after = (r->addr + r->bytes - 1) / PIECE + 1;
	uint64_t found = 0, hit;

	for (uint64_t at = first; at < after; at++) {
		struct piece *p = piece_of(l, at);

		found += lately(l, p->through);
		p->through = l->through + 1;
	}
	hit = lately(l, l->larger[r->tensor]) ? r->bytes : r->bytes * found / (after - first);
	l->through += r->bytes - hit;
	return hit;
}

static int move(void *arg, const struct gpu_range *r, struct gpu_mem *m, struct err *e)
{
	struct level *l = arg;
	struct residency_found f = { .hit = 0 };

	(void)e;
	if (r->bytes && r->bytes <= SMALL) {
		f.hit = touch_small(l, r);
	} else if (r->bytes) {
		f = sample_touch(l->sample, MEM_ACTIVATION, r->addr, r->bytes,
		                 r->write ? RESIDENCY_WRITE : RESIDENCY_READ);
		l->through += r->bytes - f.hit;
		l->larger[r->tensor] = l->through + 1;
	}
	*(r->write ? &m->write : &m->read) += r->bytes;
	m->read_hit += r->write ? 0 : f.hit;
	m->write_back += f.evicted;
	return 0;
}

static int level_up(struct level *l, const struct l2_cfg *c, const struct op_stream *s, struct arena *a, struct err *e)
{
	uint64_t n = 1;

	for (size_t i = 0; i < s->n_operands; i++) {
		const uint64_t bytes =
			s->operands[i].touched < s->operands[i].bytes ? s->operands[i].touched : s->operands[i].bytes;
		const struct op_tensor *t = &s->tensors[s->operands[i].tensor];

		if (bytes <= SMALL)
			n += (bytes / PIECE + 2) * (t->instances ? t->instances : 1);
	}
	for (l->mask = 15; l->mask < 2 * n;)
		l->mask = 2 * l->mask + 1;
	/* Every reader but the home's own has a copy of what it reads. */
	l->capacity = c->size * c->partitions / (2 * c->partitions - 1);
	if (!(l->pieces = arena_array(a, l->mask + 1, sizeof *l->pieces)) ||
	    !(l->larger = arena_array(a, s->n_tensors + 1, sizeof *l->larger)))
		return err_nomem(e, "for small ranges");
	return (l->sample = sample_new(c, e)) ? 0 : -1;
}

/* Without an L2 all goes to DRAM. */
static int pass_by(void *arg, const struct gpu_range *r, struct gpu_mem *m, struct err *e)
{
	(void)arg;
	(void)e;
	*(r->write ? &m->write : &m->read) += r->bytes;
	m->write_back += r->write ? r->bytes : 0;
	return 0;
}

struct form {
	struct gpu_work *w;
	struct level level; /* its sample NULL: there is no L2 */
	struct gpu_l2_form_repeats r;
	uint32_t skip_from, skip_to; /* ops that are not moved */
};

static int move_ops(struct form *f, uint32_t from, uint32_t to, uint32_t pass, struct err *e)
{
	for (uint32_t i = from; i < to; i++)
		if (gpu_work_move_by(f->w, i, pass, f->level.sample ? move : pass_by, &f->level, e) < 0)
			return -1;
	return 0;
}

/* Ops [from, to) find what those of the last period before them found. */
static void repeat(const struct form *f, uint32_t from, uint32_t to)
{
	const struct op *ops = f->w->stream->ops;

	for (uint32_t i = from; i < to; i++)
		for (uint32_t n = 0; n < ops[i].n_launches; n++)
			f->w->launches[ops[i].first_launch + n].mem =
				f->w->launches[ops[i - f->r.period].first_launch + n].mem;
}

static uint64_t bytes_of(const struct op_stream *s, uint32_t from, uint32_t to)
{
	uint64_t n = 0;

	for (uint32_t i = from; i < to; i++)
		for (uint32_t k = 0; k < s->ops[i].n_operands; k++) {
			const struct op_operand *x = &s->operands[s->ops[i].first_operand + k];

			n += x->touched < x->bytes ? x->touched : x->bytes;
		}
	return n;
}

static int find_skip(struct form *f, uint64_t capacity, struct arena *a, struct err *e)
{
	const struct op_stream *s = f->w->stream;

	f->r = gpu_l2_form_repeats(s, a, e);
	if (e->kind)
		return -1;
	if (f->r.times <= HEAD + TAIL)
		return 0;
	f->skip_from = f->r.first + HEAD * f->r.period;
	f->skip_to = f->r.first + (f->r.times - TAIL) * f->r.period;
	if (bytes_of(s, f->skip_from, f->skip_to) / TURNS < capacity)
		f->skip_from = f->skip_to = 0;
	return 0;
}

int gpu_l2_form(struct gpu_work *w, const struct l2_cfg *l2, bool warm, struct arena *a, struct err *e)
{
	struct form f = { .w = w };
	int rc = 0;

	if (find_skip(&f, l2->size, a, e) < 0 || (l2->size && level_up(&f.level, l2, w->stream, a, e) < 0))
		return -1;
	for (uint32_t pass = warm ? 0 : 1; pass < 2 && rc == 0; pass++)
		rc = move_ops(&f, 0, f.skip_from, pass, e) < 0 ||
		                     move_ops(&f, f.skip_to, (uint32_t)w->stream->n_ops, pass, e) < 0
		             ? -1
		             : 0;
	/* The first of the last periods was moved to fill the L2: what it found there is not its own. */
	if (rc == 0 && f.skip_to)
		repeat(&f, f.skip_from, f.skip_to + f.r.period);
	sample_free(f.level.sample);
	return rc;
}
