#include "arch/mem/cache_lru.h"
#include "arch/mem/cache_tags_int.h"

/* How many chunks from *p on have its tag and lie in its block of sets. */
static uint64_t alike(const struct cache_tags *t, const struct cache_place *p)
{
	uint64_t end = (p->set / BLOCK + 1) * BLOCK;

	end = end < t->sets ? end : t->sets;
	return (p->set < p->skew && p->skew < end ? p->skew : end) - p->set;
}

/* Chunks that left a block of sets, counted by tag: mostly they have one. */
struct left {
	uint64_t tag;
	uint32_t n;
};

static inline void count_left(const struct cache_tags *t, uint64_t set, struct left *l, uint64_t tag)
{
	if (tag != l->tag) {
		if (l->tag)
			*held_of(t, set, l->tag) -= l->n;
		*l = (struct left){ .tag = tag };
	}
	l->n++;
}

/* Of n sets from *p on, of a stream under lru, the first ones in which it pushes out what an earlier stream brought:
 * whole clean chunks of tag `old`. Nothing else of a set has to be looked at, and what is the same for all of them is
 * read once, since the compiler cannot know that writing a set leaves it as it is. */
static uint64_t turn_sets(const struct cache_tags *t, struct cache_place *p, uint64_t n, const struct part *part,
                          const struct cache_chunk *fresh, uint64_t old)
{
	const uint64_t sets = t->sets, first = part->first, valid = fresh->valid;
	const unsigned char mark = sig(fresh->tag);
	const size_t stride = t->meta_bytes, at = part->at;
	const uint32_t ways = part->ways;
	unsigned char *meta = t->meta + p->set * stride;
	struct cache_chunk *chunk = entry(t, p->set, 0);
	uint64_t i = 0, way = p->way;

	for (; i < n; i++, meta += stride, chunk++) {
		uint64_t last = first + cache_lru_last(meta + at, ways);
		struct cache_chunk *c = chunk + last * sets;

		if (c->tag != old || c->valid != valid || c->dirty)
			break;
		cache_lru_turn(meta + at, ways);
		meta[last] = mark;
		*c = *fresh;
		way = last;
	}
	p->way = (uint32_t)way;
	return i;
}

/* One chunk of a stream. */
static void stream_one(struct cache_tags *t, struct cache_place *p, const struct part *part,
                       const struct cache_chunk *fresh, struct left *left, struct cache_pushed *out)
{
	struct cache_chunk *c = make_room(t, part, p, sig(p->tag));

	count_left(t, p->set, left, c->tag);
	if (c->dirty) {
		out->old = *c;
		out->old_set = p->set;
	} else {
		out->sectors += (uint32_t)__builtin_popcountll(c->valid);
	}
	*c = *fresh;
}

/* Of n chunks that are alike, how many at first are not here. */
static uint64_t absent_alike(const struct cache_tags *t, struct cache_place p, uint64_t n)
{
	const uint64_t from = p.set;

	if (*held_of(t, p.set, p.tag))
		for (uint64_t end = from + n; p.set < end; p.set++)
			if (find(t, p) < t->ways)
				return p.set - from;
	return n;
}

/* The chunks of a stream that are alike, and not here. */
static uint64_t stream_alike(struct cache_tags *t, struct cache_place *p, uint64_t n, const struct part *part,
                             const struct cache_chunk *as, struct cache_pushed *out)
{
	uint32_t *held = held_of(t, p->set, p->tag);
	const struct cache_chunk fresh = { p->tag, as->valid, as->dirty, as->fill, as->copy };
	const uint64_t full = (uint32_t)__builtin_popcountll(as->valid);
	struct cache_place at = *p;
	struct left left = { TAG_NONE, 0 };
	bool turns = t->policy == &cache_lru;

	for (uint64_t k; at.set < p->set + n && !out->old.dirty; at.set++) {
		if (turns && left.tag) {
			k = turn_sets(t, &at, p->set + n - at.set, part, &fresh, left.tag);
			left.n += (uint32_t)k;
			out->sectors += k * full;
			if ((at.set += k) == p->set + n)
				break;
		}
		stream_one(t, &at, part, &fresh, &left, out);
	}
	count_left(t, p->set, &left, TAG_NONE);
	*held += (uint32_t)(at.set - p->set);
	p->way = at.way;
	return at.set - p->set;
}

uint64_t cache_tags_stream(struct cache_tags *t, struct cache_place *p, uint64_t n, uint8_t cls,
                           const struct cache_chunk *as, struct cache_pushed *out)
{
	const struct part *part = part_for(t, cls);
	uint64_t done = 0, k, came;

	*out = (struct cache_pushed){ .sectors = 0 };
	if (cls == MEM_WEIGHT && t->part[PIN].ways)
		return 0; /* which of them are pinned, each set decides */
	t->use.cls = cls;
	do {
		k = ps_min(alike(t, p), n - done);
		came = stream_alike(t, p, absent_alike(t, *p, k), part, as, out);
		done += came;
		pass(t, p, came);
	} while (came == k && done < n && !out->old.dirty);
	return done;
}

uint64_t cache_tags_absent(const struct cache_tags *t, struct cache_place *p, uint64_t n)
{
	uint64_t done = 0, k, absent;

	do {
		k = ps_min(alike(t, p), n - done);
		absent = absent_alike(t, *p, k);
		pass(t, p, absent);
		done += absent;
	} while (absent == k && done < n);
	return done;
}

/* Whether the fill that may still bring some of a chunk is over, or waited for already. */
static bool fill_known(struct cache_chunk *c, struct cache_fills *f)
{
	if (c->fill == f->over)
		c->fill = 0;
	f->met = c->fill == f->waited ? 0 : c->fill;
	return !f->met;
}

/* Of n chunks that are alike. */
static uint64_t reuse_alike(struct cache_tags *t, struct cache_place *p, uint64_t n, uint64_t mask,
                            struct cache_fills *f)
{
	const bool lru = t->policy == &cache_lru;
	const uint64_t from = p->set, end = from + n;
	struct cache_place at = *p;

	for (; at.set < end; at.set++) {
		struct cache_chunk *c = locate(t, &at);
		const struct part *part;
		uint8_t *state;

		if (!c || mask & ~c->valid || (c->fill && !fill_known(c, f)))
			break;
		part = part_of(t, at.way);
		state = state_of(t, at.set, part);
		if (part == &t->part[PIN])
			continue;
		if (lru) {
			cache_lru_use(state, part->ways, at.way - part->first);
		} else {
			t->use.set = at.set;
			t->policy->hit(state, part->ways, at.way - part->first, &t->use);
		}
	}
	p->way = at.way;
	return at.set - from;
}

uint64_t cache_tags_reuse(struct cache_tags *t, struct cache_place *p, uint64_t n, uint64_t mask, struct cache_fills *f)
{
	uint64_t done = 0, k, used;

	f->met = 0;
	t->use.reused = true;
	do {
		k = ps_min(alike(t, p), n - done);
		used = reuse_alike(t, p, k, mask, f);
		pass(t, p, used);
		done += used;
	} while (used == k && done < n);
	return done;
}
